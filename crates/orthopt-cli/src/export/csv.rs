//! The convergence curve as comma separated values.

use std::path::Path;

use super::{Found, to_file};

pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    to_file(path, |out| {
        writeln!(out, "seconds,iteration,objective,feasibility,nnz")?;
        for p in found.report.solution.trace.points() {
            writeln!(out, "{:.6},{},{},{:e},{}", p.seconds, p.iteration, p.objective, p.feasibility, p.nnz)?;
        }
        Ok(())
    })
}
