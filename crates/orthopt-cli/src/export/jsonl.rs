//! The convergence curve as one JSON object per line.

use std::path::Path;

use super::to_file;
use orthopt::report::Report;

pub fn write(report: &Report, path: &Path) -> anyhow::Result<()> {
    to_file(path, |out| {
        for point in report.solution.trace.points() {
            writeln!(out, "{}", serde_json::to_string(point)?)?;
        }
        Ok(())
    })
}
