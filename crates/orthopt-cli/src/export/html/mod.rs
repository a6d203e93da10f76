//! A result as one self-contained page: summary, loadings, variance, convergence, bound, settings,
//! and the command that repeats it.

pub mod explored;
pub mod markup;
mod sections;

use std::path::Path;

use super::{Found, to_file};
use markup::Page;

/// Writes the page.
pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let page = page(found)?;
    to_file(path, |out| out.write_all(page.as_bytes()))
}

fn page(found: &Found<'_>) -> anyhow::Result<String> {
    let report = found.report;
    let mut page = Page::new(&report.task.title);
    sections::summary(&mut page, report);
    sections::loadings(&mut page, report)?;
    sections::variance(&mut page, report)?;
    sections::stability(&mut page, report)?;
    sections::samples(&mut page, found)?;
    sections::variables(&mut page, found)?;
    sections::convergence(&mut page, report)?;
    sections::certainty(&mut page, report, true);
    sections::settings(&mut page, report);
    sections::repeat(&mut page, report);
    Ok(page.end())
}
