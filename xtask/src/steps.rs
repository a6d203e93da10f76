//! Steps one after the other or side by side, with the seconds each of them took.

use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

/// Finished steps.
pub struct Steps {
    began: Instant,
    done: Vec<(&'static str, Duration)>,
}

/// A step: name, and what is to be done.
pub type Step<'a> = (&'static str, &'a (dyn Fn() -> anyhow::Result<()> + Sync));

impl Steps {
    /// None.
    pub fn new() -> Self {
        Self { began: Instant::now(), done: Vec::new() }
    }

    /// Runs a step, or says which one failed and what had passed.
    pub fn run(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        eprintln!("== {name}");
        let began = Instant::now();
        self.ended(name, step(), began.elapsed())
    }

    /// Runs two steps side by side, each of which keeps one processor busy. Both come to their ends.
    pub fn run_both(&mut self, (name, step): Step<'_>, (other, beside): Step<'_>) -> anyhow::Result<()> {
        eprintln!("== {name} and {other}");
        let timed = |step: &dyn Fn() -> anyhow::Result<()>| {
            let began = Instant::now();
            (step(), began.elapsed())
        };
        let (one, two) = thread::scope(|scope| {
            let two = scope.spawn(|| timed(beside));
            (timed(step), two.join())
        });
        let (result, time) = two.unwrap_or_else(|panic| resume_unwind(panic));
        self.ended(name, one.0, one.1)?;
        self.ended(other, result, time)
    }

    fn ended(
        &mut self,
        name: &'static str,
        result: anyhow::Result<()>,
        time: Duration,
    ) -> anyhow::Result<()> {
        result.with_context(|| {
            let passed: Vec<_> = self.done.iter().map(|(name, _)| *name).collect();
            let passed = if passed.is_empty() { "nothing".into() } else { passed.join(", ") };
            format!("step {name}, after {passed} had passed")
        })?;
        self.done.push((name, time));
        Ok(())
    }

    /// The table of seconds and a closing line.
    pub fn finish(&self) {
        let total = self.began.elapsed();
        for (name, time) in &self.done {
            println!("{name:>10} {:7.1} s", time.as_secs_f64());
        }
        println!("xtask: all {} steps passed in {:.1} s", self.done.len(), total.as_secs_f64());
    }
}
