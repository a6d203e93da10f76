//! The convergence curve as a picture.

use std::path::Path;

use super::to_file;
use crate::plot::{Curve, convergence};
use crate::report::Report;
use crate::text;

pub fn write(report: &Report, path: &Path) -> anyhow::Result<()> {
    let picture = picture(report)?;
    to_file(path, |out| out.write_all(picture.as_bytes()))
}

fn picture(report: &Report) -> anyhow::Result<String> {
    let s = &report.solution;
    let mut title =
        format!("{}, {}, r = {}", report.problem.name, short_name(&report.data.source), report.rank);
    if let Some(lambda) = report.lambda {
        title += &format!(", lambda = {}", text::exact(lambda));
    }
    let subtitle = format!(
        "F = {} with {} after {}",
        text::number(s.objective.total, 7),
        text::count(s.nnz as u64, "nonzero"),
        text::duration(s.seconds)
    );
    let points = s.trace.points().iter().map(|p| (p.seconds, p.objective));
    let curve = Curve { label: s.solver.clone(), points: points.collect() };
    convergence(&title, &subtitle, &[curve])
}

/// A file without its folders; other sources are names already.
fn short_name(source: &str) -> &str {
    Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or(source)
}
