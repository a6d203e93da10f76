//! Matrices as NumPy arrays.

use std::path::Path;

use super::Found;

/// X.
pub fn write_x(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    Ok(orthopt_data::write_npy(path, found.report.solution.x.as_mat())?)
}

/// The scores.
pub fn write_scores(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    Ok(orthopt_data::write_npy(path, found.scores()?.scores.as_ref())?)
}
