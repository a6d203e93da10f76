//! An exploration as one page: the answers first, then what they rest on.

use std::path::Path;

use super::markup::{Cell, Page};
use super::sections::{self, percent};
use crate::explored::{ExplorationSummary, FEWER};
use crate::export::{Found, to_file};
use crate::path_report;
use crate::picture::scree::Scree;
use crate::plot::PictureSize;
use crate::summary::describe;
use crate::text;
use crate::wording::said;

/// Writes the page.
///
/// # Errors
/// It cannot be drawn or written.
pub fn write(told: &ExplorationSummary<'_>, path: &Path) -> anyhow::Result<()> {
    let page = page(told)?;
    to_file(path, |out| out.write_all(page.as_bytes()))
}

/// The page.
///
/// # Errors
/// A picture cannot be drawn.
fn page(told: &ExplorationSummary<'_>) -> anyhow::Result<String> {
    let (found, report) = (told.found, &told.found.report);
    let task = &report.task;
    let found_there = || format!("{} in {}", text::count(task.rank as u64, "component"), task.data.source);
    let mut page = Page::new(&told.title().map_or_else(found_there, String::from));
    page.lead(&describe(&task.data));
    if let Some(table) = &task.data.table {
        page.small(&format!("Read as: {}", table.read));
    }
    for (question, answers) in found.said() {
        page.question(
            &format!("{}?", text::capital(question)),
            answers.iter().map(|answer| text::capital(&said(answer))),
        );
    }
    sections::notes(&mut page, report);
    sections::loadings(&mut page, report)?;
    sections::variance(&mut page, report)?;
    sections::stability(&mut page, report)?;
    fewer(&mut page, told);
    if task.scree.is_some() {
        page.section("scree", "Eigenvalues");
        page.figure(&Scree::of(report)?.chart(), "the eigenvalues of C beside those of noise")?;
    }
    counts(&mut page, told)?;
    let shown = Found { report, shown: Some(&told.shown), look: PictureSize::default() };
    sections::samples(&mut page, &shown)?;
    sections::variables(&mut page, &shown)?;
    sections::certainty(&mut page, report, false);
    commands(&mut page, told);
    Ok(page.end())
}

/// The components with as many variables as halves of the rows agree on.
fn fewer(page: &mut Page, told: &ExplorationSummary<'_>) {
    let Some(fewer) = &told.found.fewer else { return };
    let Some(explained) = &fewer.report.explained_variance else { return };
    page.section("fewer", FEWER);
    let pca =
        fewer.report.pca_share.map(|share| format!("; PCA with as many components: {}", percent(share)));
    page.facts([
        ("nonzeros", fewer.nonzeros.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        ("together", percent(explained.total) + &pca.unwrap_or_default()),
        ("explained by regression", percent(explained.predicted)),
    ]);
    sections::table(page, &fewer.report);
}

fn counts(page: &mut Page, told: &ExplorationSummary<'_>) -> anyhow::Result<()> {
    let found = told.found;
    page.section("sparse", "Variance against the number of variables");
    let of_path = path_report::PathSummary::new(&found.along, &found.path, None);
    page.figure(&path_report::chart(&of_path), "the variance explained against the number of nonzeros")?;
    let head = ["variables in each component", "together", "projected", "explained by regression"];
    let number = |share: Option<f64>| Cell::Number(share.map_or(String::new(), percent));
    let rows = found.path.points.iter().enumerate().map(|(i, point)| {
        let explained = point.report.explained_variance.as_ref();
        let chosen = if i == found.path.knee { " (chosen)" } else { "" };
        vec![
            Cell::Head(format!("{}{chosen}", point.at)),
            number(explained.map(|e| e.total)),
            number(explained.map(|e| e.projected)),
            number(explained.map(|e| e.predicted)),
        ]
    });
    page.table(&head.map(String::from), rows.collect::<Vec<_>>());
    Ok(())
}

fn commands(page: &mut Page, told: &ExplorationSummary<'_>) {
    page.section("repeat", "To repeat a step");
    for step in &told.found.steps {
        let ended = if step.limited { ", ended by its share of the time limit" } else { "" };
        page.small(&format!("{}: {}{ended}", text::capital(step.question), text::duration(step.seconds)));
        page.code(&told.command(step));
    }
    page.small(&format!("orthopt {}", env!("CARGO_PKG_VERSION")));
}
