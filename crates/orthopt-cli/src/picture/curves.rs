//! F against time: of a run with the arms of its search, of several runs, and beside a lower bound.

use orthopt::bound::Bound;
use orthopt::report::{Global, Report, Task};
use serde::Deserialize;

use super::axis::Axis;
use super::chart::{About, Chart, Mark, Panel};
use crate::global::gap;
use crate::text;

/// A curve: seconds and F in order of time.
#[derive(Clone, Debug, Deserialize)]
pub struct Curve {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

/// Name of the axis of time.
pub const TIME: &str = "seconds in the solver";

/// Number of arms of a search that have a line of their own in the legend, those with the lowest F.
const ARMS: usize = 5;

/// F against time, above the lowest F of all where there are several curves.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Convergence {
    pub about: About,
    /// Curves of runs; of a search its best point.
    pub runs: Vec<Curve>,
    /// Curves of the arms of a search.
    pub arms: Vec<Curve>,
    pub remark: String,
}

impl Convergence {
    /// Of one run.
    pub fn of(report: &Report) -> Self {
        let s = &report.solution;
        let remark = format!(
            "F = {} with {} after {}",
            text::number(s.objective.total, 7),
            text::count(s.nnz as u64, "nonzero"),
            text::duration(s.seconds)
        );
        let arms = s.search.iter().flat_map(|search| &search.arms).map(|arm| Curve {
            label: format!("{} from {}", arm.solver, arm.start),
            points: arm.curve.clone(),
        });
        let arms: Vec<Curve> = arms.collect();
        let mut run = curve(report);
        if !arms.is_empty() {
            run.label = BEST.into();
        }
        Self { about: About::task(&report.task), runs: vec![run], arms, remark }
    }

    /// Of several runs, the first of which names the task.
    pub fn of_all(reports: &[Report]) -> Option<Self> {
        let best = reports
            .iter()
            .min_by(|a, b| a.solution.objective.total.total_cmp(&b.solution.objective.total))?;
        let lowest = text::number(best.solution.objective.total, 7);
        Some(Self {
            about: About::task(&best.task),
            runs: reports.iter().map(curve).collect(),
            arms: Vec::new(),
            remark: format!("lowest F = {lowest} by {}", best.solver),
        })
    }

    pub fn chart(&self) -> Chart {
        let lowest = |curve: &Curve| curve.points.iter().fold(f64::INFINITY, |low, p| low.min(p.1));
        let mut arms: Vec<&Curve> = self.arms.iter().filter(|arm| !arm.points.is_empty()).collect();
        arms.sort_by(|a, b| lowest(a).total_cmp(&lowest(b)));
        let named = arms.len().min(ARMS);
        let all: Vec<&Curve> = self.runs.iter().chain(arms.iter().copied()).collect();
        let (points, x, y) = placed(&all, TIME, "F");
        let own = self.runs.len() + named;
        let rest = all.len() - own;
        let marks = points.into_iter().enumerate().map(|(i, points)| Mark::Line {
            name: match () {
                () if all.len() == 1 || i > own => String::new(),
                () if i < own => all[i].label.clone(),
                () => text::count(rest as u64, "other arm"),
            },
            look: (i < own).then_some(i),
            points,
            steps: true,
            dots: false,
            errors: Vec::new(),
        });
        // the best point lies on what it came from
        let mut marks: Vec<Mark> = marks.collect();
        let behind = marks.split_off(own);
        self.about.chart("Convergence", &self.remark, Panel::new(x, y, [behind, marks].concat()))
    }
}

/// Name of the best point of a search.
const BEST: &str = "best of all";

fn curve(report: &Report) -> Curve {
    let s = &report.solution;
    let points = s.trace.points().iter().map(|p| (p.seconds, p.objective));
    // to the end of the run, which found nothing better after its last point
    let last = s.trace.points().last().map_or(s.objective.total, |p| p.objective);
    let end = s.trace.points().last().map_or(s.seconds, |p| s.seconds.max(p.seconds));
    Curve { label: report.solver.clone(), points: points.chain([(end, last)]).collect() }
}

/// The places of curves with their axes: above the lowest value of all, which itself lies on the lower end of a logarithmic axis,
/// where there are several curves with different values.
fn placed(lines: &[&Curve], x: &str, y: &str) -> (Vec<Vec<(f64, f64)>>, Axis, Axis) {
    let own = || lines.iter().map(|curve| curve.points.clone()).collect::<Vec<_>>();
    let values = || lines.iter().flat_map(|c| &c.points).map(|p| p.1).filter(|f| f.is_finite());
    let lowest = values().fold(f64::INFINITY, f64::min);
    let rounding = 1e-9 * lowest.abs(); // what counts as no decrease
    let above = || values().map(|f| f - lowest).filter(|gap| *gap > rounding);
    let (least, most) = (above().fold(f64::INFINITY, f64::min), above().fold(0.0, f64::max));
    if lines.len() < 2 || most <= 0.0 {
        let points = own();
        let (time, value) = (Axis::of_times(&points), Axis::of_values(&points));
        return (from_its_start(points, &time), time.called(x), value.called(y));
    }
    let floor = 0.5 * least;
    let moved =
        |points: Vec<(f64, f64)>| points.into_iter().map(|p| (p.0, (p.1 - lowest).max(floor))).collect();
    let points: Vec<Vec<(f64, f64)>> = own().into_iter().map(moved).collect();
    let time = Axis::of_times(&points).called(x);
    (
        from_its_start(points, &time),
        time,
        Axis::logarithmic(floor..1.3 * most).called(&format!("{y} minus the lowest {y}")),
    )
}

/// Points before the first time of a logarithmic axis lie on its start.
fn from_its_start(mut curves: Vec<Vec<(f64, f64)>>, time: &Axis) -> Vec<Vec<(f64, f64)>> {
    curves.iter_mut().flatten().for_each(|point| point.0 = point.0.max(time.range.start));
    curves
}

/// Curves as they are, with named axes.
pub fn plain([x, y]: [&str; 2], lines: &[Curve]) -> Panel {
    let points: Vec<Vec<(f64, f64)>> = lines.iter().map(|curve| curve.points.clone()).collect();
    let (time, value) = (Axis::of_times(&points).called(x), Axis::of_values(&points).called(y));
    let points = from_its_start(points, &time);
    let marks = lines.iter().zip(points).enumerate().map(|(i, (curve, points))| Mark::Line {
        name: if lines.len() > 1 { curve.label.clone() } else { String::new() },
        look: Some(i),
        points,
        steps: true,
        dots: false,
        errors: Vec::new(),
    });
    Panel::new(time, value, marks.collect())
}

/// F of the run and of branch and bound, and the lower bound, against time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Bounds {
    pub about: About,
    /// The lowest F so far.
    pub above: Vec<(f64, f64)>,
    /// The bound so far.
    pub below: Vec<(f64, f64)>,
    pub remark: String,
}

impl Bounds {
    pub fn of(task: &Task, report: Option<&Report>, found: &Bound) -> Self {
        let begun = report.map_or(0.0, |report| report.solution.seconds);
        let run = report.iter().flat_map(|report| report.solution.trace.points());
        let mut above: Vec<(f64, f64)> = run.map(|p| (p.seconds, p.objective)).collect();
        above.extend(found.trace.iter().filter_map(|p| Some((begun + p.seconds, p.incumbent?))));
        let facts = Global::of(found);
        let remark = match facts.objective {
            Some(f) => format!("F = {}, gap {}", text::number(f, 7), gap(&facts)),
            None => format!("F >= {}", text::number(found.value, 7)),
        };
        let below = found.trace.iter().map(|p| (begun + p.seconds, p.bound)).collect();
        Self { about: About::task(task), above, below, remark }
    }

    pub fn chart(&self) -> Chart {
        let curve =
            |label: &str, points: &[(f64, f64)]| Curve { label: label.into(), points: points.to_vec() };
        let both = [curve("F", &self.above), curve("bound", &self.below)];
        self.about.chart("Bounds", &self.remark, plain([TIME, "F"], &both))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(label: &str, points: Vec<(f64, f64)>) -> Curve {
        Curve { label: label.into(), points }
    }

    fn names(chart: &Chart) -> Vec<&str> {
        let marks = &chart.panels[0].marks;
        marks
            .iter()
            .filter_map(|mark| if let Mark::Line { name, .. } = mark { Some(name.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn several_curves_are_drawn_above_the_lowest() {
        let falls = |label: &str| curve(label, vec![(0.1, 1.0), (9.0, 0.0)]);
        let runs = vec![falls("first"), falls("second")];
        let chart = Convergence { runs, ..Default::default() }.chart();
        assert_eq!(names(&chart), ["first", "second"]);
        assert_eq!(chart.panels[0].y.name, "F minus the lowest F (log scale)");
        // the same F: nothing to tell apart
        let flat = |label: &str| curve(label, vec![(0.1, 1.0), (9.0, 1.0)]);
        let chart = Convergence { runs: vec![flat("a"), flat("b")], ..Default::default() }.chart();
        assert_eq!(chart.panels[0].y.name, "F");
    }

    #[test]
    fn every_arm_is_drawn_and_the_best_have_names() {
        let arms =
            (0..9).map(|k| curve(&format!("arm {k}"), vec![(0.1, f64::from(k)), (0.2, f64::from(k) - 1.0)]));
        let runs = vec![curve(BEST, vec![(0.1, 0.0), (0.3, -1.0)])];
        let chart = Convergence { runs, arms: arms.collect(), ..Default::default() }.chart();
        let drawn = names(&chart);
        assert_eq!(drawn.len(), 10);
        let named: Vec<_> = drawn.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(named, ["4 other arms", BEST, "arm 0", "arm 1", "arm 2", "arm 3", "arm 4"]);
    }
}
