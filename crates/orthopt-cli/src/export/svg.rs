//! The convergence curve as a picture.

use std::path::Path;

use super::to_file;
use crate::plot::{Curve, convergence};
use crate::text;
use orthopt::report::Report;

pub fn write(report: &Report, path: &Path) -> anyhow::Result<()> {
    let picture = picture(report)?;
    to_file(path, |out| out.write_all(picture.as_bytes()))
}

/// The curves of a comparison.
pub fn write_all(reports: &[Report], path: &Path) -> anyhow::Result<()> {
    let Some(best) =
        reports.iter().min_by(|a, b| a.solution.objective.total.total_cmp(&b.solution.objective.total))
    else {
        return Ok(());
    };
    let s = &best.solution;
    let subtitle = format!("lowest F = {} by {}", text::number(s.objective.total, 7), best.solver);
    let curves: Vec<Curve> = reports.iter().map(curve).collect();
    let picture = convergence(&title(best), &subtitle, &curves)?;
    to_file(path, |out| out.write_all(picture.as_bytes()))
}

fn title(report: &Report) -> String {
    let task = &report.task;
    let title = format!("{}, {}, r = {}", task.problem.name, short_name(&task.data.source), task.rank);
    let lambda = task.lambda.map_or(String::new(), |lambda| format!(", lambda = {}", text::exact(lambda)));
    title + &lambda
}

fn curve(report: &Report) -> Curve {
    let points = report.solution.trace.points().iter().map(|p| (p.seconds, p.objective));
    Curve { label: report.solver.clone(), points: points.collect() }
}

fn picture(report: &Report) -> anyhow::Result<String> {
    let s = &report.solution;
    let subtitle = format!(
        "F = {} with {} after {}",
        text::number(s.objective.total, 7),
        text::count(s.nnz as u64, "nonzero"),
        text::duration(s.seconds)
    );
    let mut curves = vec![curve(report)];
    if let Some(search) = &s.search {
        curves[0].label = "best of all".into();
        let mut arms: Vec<_> = search.arms.iter().filter(|arm| !arm.curve.is_empty()).collect();
        arms.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let shown = arms.iter().take(ARMS);
        curves.extend(shown.map(|arm| Curve {
            label: format!("{} from {}", arm.solver, arm.start),
            points: arm.curve.clone(),
        }));
    }
    convergence(&title(report), &subtitle, &curves)
}

/// Arms of a search that are drawn beside its best point, those of lowest F.
const ARMS: usize = 5;

/// A file without its folders; other sources are names already.
fn short_name(source: &str) -> &str {
    Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or(source)
}
