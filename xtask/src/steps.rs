//! Steps one after the other, with the seconds each of them took.

use std::time::{Duration, Instant};

use anyhow::Context;

/// Finished steps.
#[derive(Default)]
pub struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs a step, or says which one failed and what had passed.
    pub fn run(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        eprintln!("== {name}");
        let began = Instant::now();
        step().with_context(|| {
            let passed: Vec<_> = self.done.iter().map(|(name, _)| *name).collect();
            let passed = if passed.is_empty() { "nothing".into() } else { passed.join(", ") };
            format!("step {name}, after {passed} had passed")
        })?;
        self.done.push((name, began.elapsed()));
        Ok(())
    }

    /// The table of seconds and a closing line.
    pub fn finish(&self) {
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        for (name, time) in &self.done {
            println!("{name:>10} {:7.1} s", time.as_secs_f64());
        }
        println!("xtask: all {} steps passed in {:.1} s", self.done.len(), total.as_secs_f64());
    }
}
