//! Pictures of a result.

use std::path::Path;

use orthopt::bound::Bound;
use orthopt::report::{Report, Task};

use super::Found;
use super::picture::write;
use crate::picture::chart::Chart;
use crate::picture::curves::{Bounds, Convergence};
use crate::picture::loadings::{Loadings, Stability};
use crate::picture::plane::Plane;
use crate::picture::scree::Scree;
use crate::picture::variance::Variance;
use crate::plot::{PictureSize, picture};

fn drawn(found: &Found<'_>, chart: &Chart, path: &Path) -> anyhow::Result<()> {
    write(&picture(chart, found.look)?, path)
}

pub fn write_convergence(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    drawn(found, &Convergence::of(found.report).chart(), path)
}

pub fn write_loadings(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    drawn(found, &Loadings::of(found.report).chart(), path)
}

pub fn write_scores(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    drawn(found, &Plane::of(found.report, found.scores()?).scores(), path)
}

pub fn write_biplot(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let rows = found.scores()?;
    if rows.scores.ncols() < 2 {
        anyhow::bail!("a biplot needs two components");
    }
    drawn(found, &Plane::of(found.report, rows).with_variables(found.report).biplot(), path)
}

pub fn write_correlations(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let shown = found.shown.ok_or_else(|| anyhow::anyhow!("the data were not kept"))?;
    drawn(found, &Plane::of_variables(found.report, shown.correlations.as_ref())?.correlations(), path)
}

pub fn write_variance(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    drawn(found, &Variance::of(found.report)?.chart(), path)
}

pub fn write_scree(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    drawn(found, &Scree::of(found.report)?.chart(), path)
}

pub fn write_stability(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    drawn(found, &Stability::of(found.report, found.stability()?).chart(), path)
}

/// The curves of a comparison.
///
/// # Errors
/// The file cannot be written.
pub fn write_all(reports: &[Report], path: &Path, look: PictureSize) -> anyhow::Result<()> {
    let Some(shown) = Convergence::of_all(reports) else { return Ok(()) };
    write(&picture(&shown.chart(), look)?, path)
}

/// F of the run and of branch and bound, and the lower bound, against time.
///
/// # Errors
/// The file cannot be written.
pub fn write_bound(
    (task, report): (&Task, Option<&Report>),
    found: &Bound,
    path: &Path,
    look: PictureSize,
) -> anyhow::Result<()> {
    write(&picture(&Bounds::of(task, report, found).chart(), look)?, path)
}
