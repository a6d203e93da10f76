//! Pictures of loadings, samples and variance.

use std::path::Path;

use super::{Found, to_file};
use crate::picture::{biplot, loadings, scores, variance};

pub fn write_loadings(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write(&loadings::picture(found.report)?, path)
}

pub fn write_scores(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write(&scores::picture(found.report, found.scores()?)?, path)
}

pub fn write_biplot(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write(&biplot(found.report, found.scores()?)?, path)
}

pub fn write_variance(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write(&variance::picture(found.report)?, path)
}

fn write(picture: &str, path: &Path) -> anyhow::Result<()> {
    to_file(path, |out| out.write_all(picture.as_bytes()))
}
