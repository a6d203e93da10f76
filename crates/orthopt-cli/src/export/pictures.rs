//! Pictures of loadings, samples, variance and eigenvalues.

use std::path::Path;

use super::Found;
use super::picture::write;
use crate::picture::{biplot, loadings, scores, scree, stability, variance};

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

pub fn write_scree(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write(&scree::picture(found.report)?, path)
}

pub fn write_stability(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write(&stability::picture(found.report, found.stability()?)?, path)
}
