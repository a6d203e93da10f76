//! The progress bar: iteration, F and feasibility on stderr, only on a terminal.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use orthopt::bound;
use orthopt::message::Message;
use orthopt::solve::{self, Event, Observer};
use orthopt_data::stream::Step;
use orthopt_data::{printable, show_bytes};

use crate::text;
use crate::wording::said;
use orthopt::solve::Stopping;

const REFRESH: Duration = Duration::from_millis(100);

/// A bar that shows the progress of a run and the steps before and after it.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    stopping: Stopping,
    feasibility: f64,
    shown: Instant,
    began: Instant,
    before: Before,
}

/// Seconds before a run: of reading, and of making the problem and the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    pub reading: f64,
    pub setting_up: f64,
}

impl Progress {
    /// Draws nothing if `quiet`, or if stderr is not a terminal. No colours are used, so
    /// NO_COLOR holds.
    pub fn new(quiet: bool, stopping: Stopping) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_style(style("{spinner} {wide_msg}"));
        if visible {
            bar.enable_steady_tick(REFRESH);
        }
        let (began, before) = (Instant::now(), Before::default());
        Self { bar, quiet, stopping, feasibility: 0.0, shown: began, began, before }
    }

    /// The data have been read, and a problem is made of them.
    pub fn has_read(&mut self) {
        self.before.reading = self.began.elapsed().as_secs_f64();
        self.stage("setting up the problem");
    }

    /// Seconds before the run began.
    pub fn before(&self) -> Before {
        self.before
    }

    /// Says what is being done.
    pub fn stage(&self, what: impl Into<String>) {
        self.bar.set_style(style("{spinner} {wide_msg}"));
        self.bar.set_message(printable(&what.into()));
    }

    /// Says how far reading is.
    pub fn reading(&self, step: Step<'_>) {
        let share = match step.total {
            0 => String::new(),
            total => format!(", {} of {}", show_bytes(step.bytes), show_bytes(total)),
        };
        self.stage(format!("reading {}: {} rows{share}", step.file.display(), text::grouped(step.rows)));
    }

    /// From now on a run is watched.
    pub fn run_begins(&mut self) {
        self.before.setting_up = self.began.elapsed().as_secs_f64() - self.before.reading;
        if self.stopping.max_iters.is_some() || self.stopping.time_limit.is_some() {
            self.bar.set_length(1000);
            self.bar.set_style(style("{spinner} {elapsed} [{bar:10}] {prefix}{wide_msg}"));
        } else {
            self.bar.set_style(style("{spinner} {elapsed} {prefix}{wide_msg}"));
        }
        self.bar.reset();
        self.bar.set_message("");
    }

    /// Progress of several runs, with the number of the run.
    pub fn points(&self) -> Points {
        Points(self.bar.clone())
    }

    /// Writes a note above the bar, unless `quiet`.
    pub fn note(&self, message: &Message) {
        if !self.quiet {
            self.suspend(|| crate::failure::say("note", &said(message)));
        }
    }

    /// Does something with the bar out of the way.
    pub fn suspend<T>(&self, action: impl FnOnce() -> T) -> T {
        self.bar.suspend(action)
    }

    /// After an epoch of training, or another step of seconds.
    pub fn epoch(&self, what: &str, done: u64, seconds: f64) {
        self.bar.set_position((1000.0 * self.share_of(done, seconds)) as u64);
        self.bar.set_message(printable(what));
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&mut self, p: &solve::Progress) {
        self.bar.set_position((1000.0 * self.share(p)) as u64);
        self.bar.set_message(format!(
            "iteration {}  F {}  feasibility {:.0e}",
            text::grouped(p.iteration),
            text::number(p.objective, 9),
            self.feasibility,
        ));
        self.shown = Instant::now();
    }

    /// Share of the limits that is used up.
    fn share(&self, p: &solve::Progress) -> f64 {
        self.share_of(p.iteration, p.seconds)
    }

    fn share_of(&self, iteration: u64, seconds: f64) -> f64 {
        let of = |part: f64, limit: f64| (part / limit.max(1e-9)).min(1.0);
        let iterations = self.stopping.max_iters.map_or(0.0, |n| of(iteration as f64, n as f64));
        let time = self.stopping.time_limit.map_or(0.0, |s| of(seconds, s));
        iterations.max(time)
    }
}

/// Number of the run among several, in front of its text.
#[derive(Debug)]
pub struct Points(ProgressBar);

impl Points {
    /// Run `i` (counted from 0) of `of`.
    pub fn show(&self, what: &str, i: usize, of: usize) {
        self.0.set_prefix(format!("{what}, point {} of {of}  ", i + 1));
    }

    /// The question that is asked.
    pub fn asks(&self, question: &str) {
        self.0.set_prefix(format!("{question}  "));
    }
}

/// The bar of a bound: incumbent, bound, gap and nodes.
#[derive(Debug)]
pub struct BoundBar<'a> {
    progress: &'a Progress,
    limit: f64,
    shown: Mutex<Instant>,
}

impl<'a> BoundBar<'a> {
    /// Takes the bar over; `limit` in seconds.
    pub fn new(progress: &'a Progress, limit: f64) -> Self {
        progress.bar.set_length(1000);
        progress.bar.set_style(style("{spinner} {elapsed} [{bar:10}] {wide_msg}"));
        progress.bar.reset();
        progress.bar.set_message("bounding");
        Self { progress, limit, shown: Mutex::new(Instant::now()) }
    }

    /// Shows the progress; called often, from any thread.
    pub fn show(&self, now: &bound::Progress) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() < REFRESH || self.progress.bar.is_hidden() {
            return;
        }
        *shown = Instant::now();
        let incumbent = now.incumbent.map_or("none".into(), |f| text::number(f, 9));
        let gap = now.incumbent.map_or(f64::INFINITY, |f| 100.0 * (f - now.bound) / f.abs());
        let gap = if gap.is_finite() { format!("{} %", text::number(gap, 3)) } else { "unknown".into() };
        self.progress.bar.set_position((1000.0 * (now.seconds / self.limit.max(1e-9)).min(1.0)) as u64);
        self.progress.bar.set_message(format!(
            "F {incumbent}  bound {}  gap {gap}  {} ({} open)",
            text::number(now.bound, 9),
            text::count(now.nodes, "node"),
            text::grouped(now.open),
        ));
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::Trace(point, _) => self.feasibility = point.feasibility,
            Event::Step(progress)
                if progress.objective.is_finite()
                    && self.shown.elapsed() >= REFRESH
                    && !self.bar.is_hidden() =>
            {
                self.show(progress);
            }
            _ => {}
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .progress_chars("=> ")
}
