//! Output of a path: table, CSV, JSON, picture.

use std::path::Path as FilePath;

use orthopt::path::{Along, By, Path, Point, Validation};
use orthopt::report::{DataFacts, SCHEMA};
use serde::Serialize;

use crate::export::json::Solved;
use crate::export::to_file;
use crate::picture::chart::{About, Chart};
use crate::picture::path::{self, Line};
use crate::plot::{PictureSize, picture};
use crate::summary::{Summary, describe};
use crate::table::aligned;
use crate::{global, text};

/// A path, which point was chosen, and why.
pub struct PathSummary<'a> {
    pub path: &'a Path,
    along: &'a Along,
    validation: Option<Validation>,
    by: Option<By>,
    /// The point.
    pub chosen: usize,
}

impl<'a> PathSummary<'a> {
    pub fn new(along: &'a Along, path: &'a Path, validation: Option<(Validation, By)>) -> Self {
        let (validation, by) = validation.filter(|(v, _)| v.chosen < path.points.len()).unzip();
        let chosen = validation.as_ref().map_or(path.knee, |v| v.chosen);
        Self { path, along, validation, by, chosen }
    }

    /// The rule that chose the point.
    fn rule(&self) -> &'static str {
        if self.validation.is_some() { "cross-validation" } else { "knee" }
    }

    pub fn object(&self) -> Object<'_> {
        let first = &self.path.points[0].report;
        Object {
            schema: SCHEMA,
            problem: first.task.problem.name,
            data: &first.task.data,
            rank: first.task.rank,
            along: self.along.name(),
            chosen: self.chosen,
            rule: self.rule(),
            knee: self.path.knee,
            validation: self.validation.as_ref(),
            validated_by: self.by,
            interrupted: self.path.interrupted,
            points: self.path.points.iter().map(Of::point).collect(),
        }
    }
}

/// The object of `--json`.
#[derive(Serialize)]
pub struct Object<'a> {
    schema: u32,
    problem: &'static str,
    data: &'a DataFacts,
    rank: usize,
    along: &'static str,
    chosen: usize, // counted from 0
    rule: &'static str,
    knee: usize,
    validation: Option<&'a Validation>,
    validated_by: Option<By>,
    interrupted: bool,
    points: Vec<Of<'a>>,
}

/// A point: its place, the origin of its X, and the output of `solve`.
#[derive(Serialize)]
struct Of<'a> {
    at: f64,
    from: Option<usize>,
    #[serde(flatten)]
    solved: Solved<'a>,
}

impl<'a> Of<'a> {
    fn point(point: &'a Point) -> Self {
        Self { at: point.at, from: point.from, solved: Solved::of(&point.report) }
    }
}

/// Text of the table.
pub fn summary(told: &PathSummary<'_>, top: usize) -> String {
    let points = &told.path.points;
    let (mut summary, first) = (Summary::default(), &points[0].report);
    let along = told.along.name();
    let at = text::exact(text::rounded(points[told.chosen].at, 6));
    let rule = match &told.validation {
        Some(_) => "the sparsest point within one standard error of the best held-out variance",
        None => "the knee of the variance against nonzeros",
    };
    summary.line("chosen", &format!("{along} {at}, {rule}"));
    summary.gap();
    let chosen = &points[told.chosen].report;
    if let Some(explained) = &chosen.explained_variance {
        summary.components(chosen, explained, top);
        summary.gap();
    }
    let mut rows = vec![header(told)];
    rows.extend((0..points.len()).map(|i| row(told, i)));
    aligned(&rows).iter().for_each(|line| summary.sentence(line));
    summary.gap();
    if let Some(by) = told.by {
        summary.sentence(match by {
            By::Rows => "held out: share of the variance of the held-out rows, mean and standard error over the folds.",
            By::Cells => {
                "held out: share of the variance of the held-out cells that the others of their row predict, mean and \
                 standard error over the folds."
            }
        });
    }
    summary.line("data", &describe(&first.task.data));
    summary.table(&first.task.data);
    let task = &first.task;
    summary.line("problem", &format!("{}, rank {}: {}", task.problem.name, task.rank, task.problem.doc));
    summary.line("path", &format!("{} of {}", text::count(points.len() as u64, "point"), told.along.len()));
    summary.take()
}

fn header(told: &PathSummary<'_>) -> Vec<String> {
    let mut cells = vec!["", told.along.name(), "F", "nonzeros of X", "together"];
    cells.extend(maximised(told));
    if told.validation.is_some() {
        cells.extend(["held out", "error"]);
    }
    if told.path.points.iter().any(|p| p.report.global.is_some()) {
        cells.extend(["bound", "gap"]);
    }
    cells.extend(["seconds", "ended"]);
    cells.into_iter().map(String::from).collect()
}

/// Name of the measure that was maximised, where it is another than what components have together.
fn maximised(told: &PathSummary<'_>) -> Option<&'static str> {
    let report = &told.path.points[0].report;
    match report.explained_variance.as_ref()?.maximised {
        "adjusted" => None,
        "variance" | "polar" if report.task.rank == 1 => None, // the same of one component
        "variance" => Some("projected"),
        other => Some(other),
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn row(told: &PathSummary<'_>, i: usize) -> Vec<String> {
    let point = &told.path.points[i];
    let s = &point.report.solution;
    let explained = point.report.explained_variance.as_ref();
    let mut cells = vec![
        if i == told.chosen { "*".into() } else { String::new() },
        text::exact(text::rounded(point.at, 6)),
        text::number(s.objective.total, 8),
        point.report.nonzeros().iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
        explained.map_or("-".into(), |v| percent(v.total)),
    ];
    cells.extend(maximised(told).map(|_| percent(point.maximised())));
    if let Some(v) = &told.validation {
        cells.extend([percent(v.mean[i]), percent(v.error[i])]);
    }
    if told.path.points.iter().any(|p| p.report.global.is_some()) {
        let bound = point.report.global.as_ref();
        cells.push(bound.map_or("-".into(), |b| text::number(b.bound, 8)));
        cells.push(bound.map_or("-".into(), short_gap));
    }
    cells.push(format!("{:.2}", s.seconds));
    let from = point.from.map(|j| format!(", from {}", text::exact(text::rounded(told.along.at(j), 6))));
    cells.push(format!("{}{}", s.status.name(), from.unwrap_or_default()));
    cells
}

fn short_gap(bound: &orthopt::report::Global) -> String {
    match bound.proof {
        Some("supports") => {
            format!("{} %, supports proved", text::number(100.0 * bound.gap.unwrap_or_default(), 2))
        }
        Some(_) => "0, proved".into(),
        None => global::gap(bound).replace(" of |F|", ""),
    }
}

/// The table as CSV, shares as shares.
///
/// # Errors
/// The file cannot be written.
pub fn write_table(told: &PathSummary<'_>, path: &FilePath) -> anyhow::Result<()> {
    let rank = told.path.points[0].report.task.rank;
    let mut columns = vec![told.along.name().to_string(), "objective".into()];
    columns.push(if told.along.name() == "nonzeros" { "nonzeros_of_x" } else { "nonzeros" }.into());
    columns.extend((1..=rank).map(|k| format!("nonzeros_{k}")));
    let rest = [
        "projected",
        "adjusted",
        "predicted",
        "held_out",
        "held_out_error",
        "bound",
        "gap",
        "feasibility",
        "seconds",
        "chosen",
    ];
    columns.extend(rest.map(String::from));
    let cells = |i: usize| -> Vec<String> {
        let point = &told.path.points[i];
        let (report, number) = (&point.report, |x: Option<f64>| x.map_or(String::new(), |x| x.to_string()));
        let (explained, bound) = (report.explained_variance.as_ref(), report.global.as_ref());
        let held = told.validation.as_ref();
        let mut cells =
            vec![point.at.to_string(), report.solution.objective.total.to_string(), point.nnz().to_string()];
        cells.extend(report.nonzeros().iter().map(usize::to_string));
        cells.extend([
            number(explained.map(|v| v.projected)),
            number(explained.map(|v| v.total)),
            number(explained.map(|v| v.predicted)),
            number(held.map(|v| v.mean[i])),
            number(held.map(|v| v.error[i])),
            number(bound.map(|b| b.bound)),
            number(bound.and_then(|b| b.gap)),
            report.solution.feasibility.to_string(),
            report.solution.seconds.to_string(),
            u8::from(i == told.chosen).to_string(),
        ]);
        cells
    };
    to_file(path, |out| {
        writeln!(out, "{}", columns.join(","))?;
        (0..told.path.points.len()).try_for_each(|i| writeln!(out, "{}", cells(i).join(",")))
    })
}

/// Variance explained against nonzeros, the chosen point marked.
///
/// # Errors
/// The file cannot be written.
pub fn write_picture(told: &PathSummary<'_>, path: &FilePath, look: PictureSize) -> anyhow::Result<()> {
    crate::export::picture::write(&picture(&chart(told), look)?, path)
}

/// The picture.
pub fn chart(told: &PathSummary<'_>) -> Chart {
    let points = &told.path.points;
    let of = |name: &str, f: &dyn Fn(usize) -> f64| -> Line {
        let points = (0..points.len()).map(|i| (points[i].nnz() as f64, 100.0 * f(i))).collect();
        Line { name: name.into(), points, errors: Vec::new() }
    };
    let together = |i: usize| points[i].report.explained_variance.as_ref().map_or(f64::NAN, |v| v.total);
    let mut lines = vec![of("together", &together)];
    lines.extend(maximised(told).map(|name| of(name, &|i| points[i].maximised())));
    if let Some(v) = &told.validation {
        let errors = v.error.iter().map(|error| 100.0 * error).collect();
        lines.push(Line { errors, ..of("held out", &|i| v.mean[i]) });
    }
    if points.iter().all(|point| point.variance_bound().is_some()) {
        lines.push(of("bound", &|i| points[i].variance_bound().unwrap_or(f64::NAN)));
    }
    let at = text::exact(text::rounded(points[told.chosen].at, 6));
    let remark = format!("chosen by {}: {} {at}", told.rule(), told.along.name());
    let about = About::task(&points[0].report.task);
    path::Path { about, lines, chosen: Some(told.chosen), remark }.chart()
}
