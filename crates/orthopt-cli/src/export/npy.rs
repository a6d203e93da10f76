//! X as a NumPy array.

use std::path::Path;

use orthopt::report::Report;

pub fn write(report: &Report, path: &Path) -> anyhow::Result<()> {
    Ok(orthopt_data::write_npy(path, report.solution.x.as_mat())?)
}
