//! Output of an exploration: text, JSON and a page. All say the same: the answers of [`Exploration::said`], the numbers
//! they rest on, and the commands that repeat the steps.

use orthopt::explore::{Exploration, HOW_SURE, Step, WHICH};
use orthopt::report::SCHEMA;
use orthopt::request::{Group, OPTIONS, Request, Written};
use serde::Serialize;

use crate::export::json::Solved;
use crate::input::Input;
use crate::rows::Shown;
use crate::summary::{Summary, describe};
use crate::text;
use crate::wording::said;

/// An exploration with what its data were called.
pub struct ExplorationSummary<'a> {
    pub found: &'a Exploration,
    pub shown: Shown,
    typed: &'a Request,
}

impl<'a> ExplorationSummary<'a> {
    pub fn new(found: &'a Exploration, typed: &'a Request, input: &Input) -> Self {
        Self { found, shown: input.shown(found.report.x()), typed }
    }

    /// The title that was given.
    pub fn title(&self) -> Option<&str> {
        self.typed.title.as_deref()
    }

    /// The command that repeats a step.
    pub fn command(&self, step: &Step) -> String {
        let mut words =
            vec!["orthopt".to_string(), step.call.name().into(), self.found.report.task.problem.name.into()];
        let (mut files, mut options) = (Vec::new(), Vec::new());
        for entry in OPTIONS.iter().filter(|entry| matches!(entry.group, Group::Data | Group::Table)) {
            let Some(value) = entry.get(self.typed) else { continue };
            match value {
                Written::List(all) if entry.positional => files.extend(all.iter().map(ToString::to_string)),
                value if entry.positional => files.insert(0, path(&value)),
                value => options.extend([format!("--{}", entry.name), path(&value)]),
            }
        }
        let data = &self.found.report.task.data;
        if self.typed.scale.is_none() && data.scaled {
            options.extend(["--scale".into(), data.scale.clone()]);
        }
        for (name, value) in &step.options {
            options.extend([format!("--{name}"), value.clone()]);
        }
        words.extend(files.into_iter().chain(options).map(|word| text::shell_word(&word)));
        words.join(" ")
    }

    /// The object of `--json`.
    pub fn object(&self) -> Object<'_> {
        let points = self.found.path.points.iter().map(|point| {
            let explained = point.report.explained_variance.as_ref();
            Counted {
                nonzeros: point.at as usize,
                objective: point.report.solution.objective.total,
                maximised: point.maximised(),
                projected: point.variance(),
                adjusted: explained.map(|explained| explained.total),
            }
        });
        let answers = self.found.said();
        Object {
            schema: SCHEMA,
            answers: answers
                .iter()
                .map(|(question, all)| (*question, all.iter().map(said).collect()))
                .collect(),
            nonzeros: self.found.count(),
            bends: self.found.path.bends,
            path: points.collect(),
            most_possible: self.found.most_possible(),
            steps: self.found.steps.iter().map(|step| Repeated::of(self, step)).collect(),
            interrupted: self.found.interrupted,
            solution: Solved::of(&self.found.report),
            fewer: self
                .found
                .fewer
                .as_ref()
                .map(|fewer| Agreed { nonzeros: &fewer.nonzeros, solution: Solved::of(&fewer.report) }),
        }
    }
}

/// A path is written as it is typed.
fn path(value: &Written) -> String {
    match value {
        Written::Path(path) => path.display().to_string(),
        value => value.to_string(),
    }
}

/// The object of `--json`.
#[derive(Serialize)]
pub struct Object<'a> {
    schema: u32,
    answers: Vec<(&'static str, Vec<String>)>,
    nonzeros: usize, // in each component
    bends: bool,
    path: Vec<Counted>,
    most_possible: Option<f64>,
    steps: Vec<Repeated>,
    interrupted: bool,
    solution: Solved<'a>,
    fewer: Option<Agreed<'a>>,
}

/// Components with as many variables as halves of the rows agree on.
#[derive(Serialize)]
struct Agreed<'a> {
    nonzeros: &'a [usize],
    solution: Solved<'a>,
}

/// A point of the path.
#[derive(Serialize)]
struct Counted {
    nonzeros: usize,
    objective: f64,
    maximised: f64,
    projected: f64,
    adjusted: Option<f64>,
}

/// A step and its command.
#[derive(Serialize)]
struct Repeated {
    question: &'static str,
    command: String,
    seconds: f64,
    limited: bool,
}

impl Repeated {
    fn of(told: &ExplorationSummary<'_>, step: &Step) -> Self {
        Self {
            question: step.question,
            command: told.command(step),
            seconds: step.seconds,
            limited: step.limited,
        }
    }
}

/// The text.
pub fn summary(told: &ExplorationSummary<'_>, top: usize) -> String {
    let (mut summary, report) = (Summary::default(), &told.found.report);
    summary.line("data", &describe(&report.task.data));
    summary.table(&report.task.data);
    summary.gap();
    for (question, answers) in told.found.said() {
        summary.sentence(&format!("{}?", text::capital(question)));
        for answer in answers {
            for line in text::filled(&said(&answer), LINE) {
                summary.sentence(&format!("  {line}"));
            }
        }
        let (title, shown) = match question {
            WHICH => ("", Some(report)),
            HOW_SURE => (FEWER, told.found.fewer.as_ref().map(|fewer| &fewer.report)),
            _ => continue,
        };
        let Some((report, explained)) =
            shown.and_then(|shown| Some((shown, shown.explained_variance.as_ref()?)))
        else {
            continue;
        };
        summary.gap();
        if !title.is_empty() {
            summary.sentence(&format!("{title}:"));
        }
        summary.components(report, explained, top);
        summary.gap();
    }
    summary.gap();
    summary.sentence("Each step alone:");
    for step in &told.found.steps {
        summary.sentence(&format!("  {}", told.command(step)));
    }
    summary.take()
}

/// Title of the second components.
pub const FEWER: &str = "With as many variables as halves of the rows agree on";
/// Characters of a line.
const LINE: usize = 96;
