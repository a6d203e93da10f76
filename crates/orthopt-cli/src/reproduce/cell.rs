//! One method on one cell of a table, run as `solve` would, and its record.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use orthopt::family::{Call, CallOptions};
use orthopt::report::Report;
use orthopt::solve::Status;
use orthopt::solvers::AUTO;
use orthopt_run::report::assessment::check_in_time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::export::to_file;
use crate::failure::say;
use crate::input::{Input, short_text};
use crate::interrupt;
use crate::options::Typed;
use crate::pose::pose;
use crate::progress::Progress;
use crate::run;
use crate::settings::Settings;
use crate::text;
use orthopt_papers::datasets::{Available, Preparation};
use orthopt_papers::item::{Item, Method, Plan};

/// One data set, lambda, rank and signature of an item.
#[derive(Clone, Debug)]
pub struct Cell {
    pub item: &'static Item,
    pub plan: Plan,
    pub dataset: String,
    pub data: Available,
    pub lambda: Option<f64>,
    pub rank: Option<usize>,
    /// p/n of the signature.
    pub share: Option<f64>,
    /// Seconds for a method, and for each part of a chain.
    pub seconds: f64,
    /// A limit that makes short runs repeatable.
    pub max_iters: Option<u64>,
}

/// Result of a method on a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub item: String,
    pub dataset: String,
    pub stand_in: Option<String>,
    pub rows: usize,
    pub cols: usize,
    pub lambda: Option<f64>,
    pub rank: Option<usize>,
    #[serde(default)]
    pub share: Option<f64>,
    pub time_limit: f64,
    pub max_iters: Option<u64>,
    pub method: String,
    /// The options of `orthopt solve` that run it again.
    pub options: Vec<String>,
    pub status: String,
    pub objective: f64,
    pub feasibility: f64,
    pub nnz: usize,
    pub criticality: Option<f64>,
    /// F and feasibility of the method's own iterate, where it is feasible in the limit only.
    pub raw_objective: Option<f64>,
    pub raw_feasibility: Option<f64>,
    pub seconds: f64,
    pub threads: usize,
    pub version: String,
    /// Seconds and F.
    pub curve: Vec<(f64, f64)>,
}

/// The options of `solve` as a command of their own.
#[derive(Parser)]
pub(super) struct Line {
    #[command(flatten)]
    options: Typed,
}

impl Line {
    /// Settings of a solve; λ, counts and start are those of the cell.
    pub(super) fn settings(&self) -> anyhow::Result<Settings> {
        let mut options = self.options.0.clone();
        let given = CallOptions::new(Call::Solve, options.given());
        let mut settings = Settings::resolve(given, &mut options)?;
        settings.job.chooses_counts = false;
        Ok(settings)
    }
}

impl Cell {
    /// Label of the cell within its item.
    pub fn label(&self) -> String {
        let mut words = vec![self.dataset.clone()];
        words.extend(self.lambda.map(|v| format!("lambda {}", text::exact(v))));
        words.extend(self.rank.map(|r| format!("r {r}")));
        words.extend(self.share.map(|share| format!("p {} n", text::exact(share))));
        words.join(", ")
    }

    /// The file that keeps the record of a method.
    pub fn file(&self, folder: &Path, method: &Method) -> PathBuf {
        self.record_file(folder, method.name)
    }

    /// The file that keeps something of this cell.
    pub(super) fn record_file(&self, folder: &Path, what: &str) -> PathBuf {
        let plain = |s: &str| s.replace(['/', '+', '(', ')', ' '], "-").to_lowercase();
        let mut name = vec![plain(&self.dataset)];
        name.extend(self.lambda.map(|v| format!("l{}", text::exact(v))));
        name.extend(self.rank.map(|r| format!("r{r}")));
        name.extend(self.share.map(|share| format!("p{}", text::exact(share))));
        name.push(format!("t{}", text::exact(self.seconds)));
        name.extend(self.max_iters.map(|n| format!("i{n}")));
        name.push(plain(what));
        let item = self.plan.records.unwrap_or(self.item.name);
        folder.join("records").join(plain(item)).join(name.join("_") + ".json")
    }

    /// The options of `solve` for a method. `auto` chooses its own start, and makes more while
    /// there is time; the others start once, where the paper does.
    pub(super) fn options(&self, method: &Method) -> Vec<String> {
        let mut words: Vec<String> = vec![self.plan.problem.into(), self.data.data.clone()];
        let mut add = |option: &str, value: String| words.extend([option.to_string(), value]);
        if let Some(lambda) = self.lambda {
            add("--lambda", text::exact(lambda));
        }
        if let Some(rank) = self.rank {
            add("--rank", rank.to_string());
        }
        if let Some(share) = self.share {
            add("--signature", text::exact(share));
        }
        let parts = method.solver.split('+').count() as f64;
        add("--time-limit", text::exact(parts * self.seconds));
        if let Some(n) = self.max_iters {
            add("--max-iters", n.to_string());
        }
        if method.solver != AUTO.0 {
            add("--solver", method.solver.into());
            add("--init", method.start.unwrap_or(self.plan.start).into());
            add("--restarts", "0".into());
        }
        words.extend(self.plan.options.iter().chain(method.options).map(|s| (*s).into()));
        words.extend(self.preparation().words());
        words
    }

    /// Preparation of the data by the item, with the paper's number of variables if it specifies one.
    fn preparation(&self) -> Preparation {
        let own = self.plan.columns.iter().find(|(name, _)| *name == self.dataset).map(|(_, n)| *n);
        let plan = self.plan.preparation;
        Preparation { features: own.or(plan.features), ..plan }.and(self.data.preparation)
    }

    /// True if the record of a method is of this cell as it is now: the same options, the data wherever
    /// they are.
    pub fn fits(&self, method: &Method, record: &Record) -> bool {
        let apart = |words: &[String]| -> Vec<String> {
            words.iter().enumerate().filter(|(k, _)| *k != 1).map(|(_, w)| w.clone()).collect()
        };
        apart(&record.options) == apart(&self.options(method))
    }

    /// Runs a method.
    ///
    /// # Errors
    /// The data cannot be read, or the method does not fit the problem.
    pub fn run(&self, method: &Method, progress: &mut Progress) -> anyhow::Result<Record> {
        let words = self.options(method);
        let line = Line::try_parse_from(std::iter::once("solve").chain(words.iter().map(String::as_str)))?;
        let report = line
            .settings()
            .and_then(|settings| solve(settings, progress))
            .with_context(|| format!("orthopt solve {}", words.join(" ")))?;
        Ok(self.record(method, words, &report))
    }

    fn record(&self, method: &Method, options: Vec<String>, report: &Report) -> Record {
        let s = &report.solution;
        Record {
            item: self.item.name.into(),
            dataset: self.dataset.clone(),
            stand_in: self.data.likeness.remark().map(Into::into),
            rows: report.task.data.rows,
            cols: report.task.data.cols,
            lambda: self.lambda,
            rank: self.rank,
            share: self.share,
            time_limit: self.seconds,
            max_iters: self.max_iters,
            method: method.name.into(),
            options,
            status: s.status.name().into(),
            objective: s.objective.total,
            feasibility: s.feasibility,
            nnz: s.nnz,
            criticality: report.checks.criticality,
            raw_objective: s.raw.map(|r| r.objective),
            raw_feasibility: s.raw.map(|r| r.feasibility),
            seconds: s.seconds,
            threads: report.threads,
            version: env!("CARGO_PKG_VERSION").into(),
            curve: s.trace.points().iter().map(|p| (p.seconds, p.objective)).collect(),
        }
    }
}

fn solve(settings: Settings, progress: &mut Progress) -> anyhow::Result<Report> {
    let input = Input::load(&settings.data)?;
    let posed = pose(settings.job, &input, interrupt::cancel())?;
    let request = &posed.job.request;
    // the limit of a cell is that of its solver
    let mut runs = posed.plans([(request.clone(), request.restarts)])?;
    let Some(run) = runs.pop() else { anyhow::bail!("no run") };
    let mut report = run::minimise(&posed, &run, progress)?;
    if report.solution.status != Status::Interrupted {
        let cancels = (interrupt::cancel(), &interrupt::patience());
        let what = (report.x(), request.scope());
        report.checks =
            check_in_time(&posed.problem, what, (None, 0.0), cancels, |what| progress.stage(what));
    }
    Ok(report)
}

impl Record {
    /// The record in a file, `None` if there is no readable one.
    pub fn read(path: &Path) -> Option<Self> {
        read_record(path)
    }

    /// Writes the record; either the whole file is written or none.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_record(self, path)
    }
}

/// The field of a record with the CRC-32 of all others.
const CHECKSUM: &str = "checksum";

fn checksum(record: &Value) -> String {
    format!("{:08x}", crc32fast::hash(record.to_string().as_bytes()))
}

/// The record in a file; `None` if there is no readable one. A record with another checksum
/// is damaged or was edited: it is ignored, with a note.
pub(super) fn read_record<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = short_text(path).ok()?;
    let mut record: Value = serde_json::from_str(&text).ok()?;
    let kept = record.as_object_mut()?.remove(CHECKSUM);
    if kept.as_ref().and_then(Value::as_str) != Some(&checksum(&record)) {
        let place = path.display();
        say(
            "note",
            &format!(
                "{place}: the record is damaged or was edited (its checksum is wrong): it is made again"
            ),
        );
        return None;
    }
    serde_json::from_value(record).ok()
}

/// Writes a record to its file.
///
/// # Errors
/// It cannot be written.
pub(super) fn write_record(record: &impl Serialize, path: &Path) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    }
    let mut record = serde_json::to_value(record)?;
    let sum = checksum(&record);
    record[CHECKSUM] = sum.into();
    to_file(path, |out| out.write_all(record.to_string().as_bytes()))
}
