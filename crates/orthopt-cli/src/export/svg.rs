//! The convergence curve as a picture.

use std::path::Path;

use super::Found;
use crate::global::gap;
use crate::picture::{below, title};
use crate::plot::{Curve, TIME, convergence, curves};
use crate::text;
use orthopt::bound::Bound;
use orthopt::report::{Global, Report, Task};

pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    super::picture::write(&picture(found.report)?, path)
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
    let picture = convergence(&title("Convergence", &best.task), &below(&best.task, &subtitle), &curves)?;
    super::picture::write(&picture, path)
}

/// F of the run and of branch and bound, and the lower bound, against time.
pub fn write_bound(task: &Task, report: Option<&Report>, found: &Bound, path: &Path) -> anyhow::Result<()> {
    let begun = report.map_or(0.0, |report| report.solution.seconds);
    let run = report.iter().flat_map(|report| report.solution.trace.points());
    let mut above: Vec<(f64, f64)> = run.map(|p| (p.seconds, p.objective)).collect();
    above.extend(found.trace.iter().filter_map(|p| Some((begun + p.seconds, p.incumbent?))));
    let bounds = found.trace.iter().map(|p| (begun + p.seconds, p.bound)).collect();
    let facts = Global::of(found);
    let subtitle = match facts.objective {
        Some(f) => format!("F = {}, gap {}", text::number(f, 7), gap(&facts)),
        None => format!("F >= {}", text::number(found.value, 7)),
    };
    let both = [Curve { label: "F".into(), points: above }, Curve { label: "bound".into(), points: bounds }];
    let picture = curves(&title("Bounds", task), &below(task, &subtitle), [TIME, "F"], &both)?;
    super::picture::write(&picture, path)
}

fn curve(report: &Report) -> Curve {
    let s = &report.solution;
    let points = s.trace.points().iter().map(|p| (p.seconds, p.objective));
    // to the end of the run, which found nothing better after its last point
    let end = s.trace.points().last().map(|p| (s.seconds.max(p.seconds), p.objective));
    Curve { label: report.solver.clone(), points: points.chain(end).collect() }
}

/// F against time.
pub fn picture(report: &Report) -> anyhow::Result<String> {
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
    convergence(&title("Convergence", &report.task), &below(&report.task, &subtitle), &curves)
}

/// Number of arms of a search that are drawn next to its best point, those with the lowest F.
const ARMS: usize = 5;
