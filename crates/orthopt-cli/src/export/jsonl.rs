//! The convergence curve as one JSON object per line.

use std::path::Path;

use super::{Found, to_file};

pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    to_file(path, |out| {
        for point in found.report.solution.trace.points() {
            writeln!(out, "{}", serde_json::to_string(point)?)?;
        }
        Ok(())
    })
}
