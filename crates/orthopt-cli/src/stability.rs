//! Halves of the rows beside a run: how sure its components are.

use orthopt::job::PosedJob;
use orthopt::report::{Report, Stability};
use orthopt::stability::Watch;

use crate::export::Found;
use crate::input::Input;
use crate::progress::Progress;
use crate::summary::Summary;
use crate::{interrupt, text};

/// Share of the halves below which a loading of a component is named as one that they seldom have.
const SELDOM: f64 = 0.5;

/// Solves the pairs of halves that are asked for, and adds what they say to the report.
///
/// # Errors
/// Those of the library.
pub fn halves(
    posed: &PosedJob,
    report: &mut Report,
    input: &Input,
    progress: &Progress,
) -> anyhow::Result<()> {
    let show = |done: usize, all: usize| progress.stage(format!("halves of the rows: {done} of {all} pairs"));
    show(0, posed.job.request.stability.unwrap_or(0));
    let watch = Watch { cancel: interrupt::cancel(), done: &show };
    Ok(posed.halves(report, &input.pca(), &watch)?)
}

impl Found<'_> {
    /// Stability over halves of the rows.
    ///
    /// # Errors
    /// No pair of them was complete.
    pub fn stability(&self) -> anyhow::Result<&Stability> {
        let found = self.report.stability.as_ref();
        found.ok_or_else(|| {
            anyhow::anyhow!("no pair of halves of the rows was complete: there is nothing to draw")
        })
    }
}

impl Summary {
    /// Stability of the components over halves of the rows, `top` variables of each.
    pub fn stability(&mut self, report: &Report, top: usize) {
        let Some(found) = &report.stability else {
            return self.line("stability", "unknown: no pair of halves of the rows was complete");
        };
        self.gap();
        self.line(
            "stability",
            &format!("{} of halves of the rows{}", text::count(found.pairs as u64, "pair"), missing(found)),
        );
        let is_few = found.pairs < Stability::FEW;
        let often = if is_few { 1.0 } else { Stability::THRESHOLD };
        let what = match is_few {
            true => format!("each of the {} halves; fewer than half of them", 2 * found.pairs),
            false => {
                format!("at least {:.0} % of the halves; less than {:.0} %", 100.0 * often, 100.0 * SELDOM)
            }
        };
        self.sentence(&format!("component  cosine  nonzero in {what}"));
        let x = report.x();
        for k in 0..x.ncols() {
            let share = |i: usize| found.frequency.get(i, k);
            let listed = |chosen: &dyn Fn(usize) -> bool| {
                let mut order: Vec<usize> = (0..x.nrows()).filter(|i| chosen(*i)).collect();
                order.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
                let more = order.len().saturating_sub(top);
                let shown = order.iter().take(top);
                let name = |i: &usize| match report.task.data.variable(*i) {
                    name if is_few => name,
                    name => format!("{name} {:.2}", share(*i)),
                };
                shown.map(name).chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>()
            };
            let (sure, unsure) =
                (listed(&|i| share(i) >= often), listed(&|i| x.get(i, k) != 0.0 && share(i) < SELDOM));
            self.hanging(&format!("{:>9}  {:>6.3}  ", k + 1, found.cosine[k]), sure, "none");
            if !unsure.is_empty() {
                self.hanging(&format!("{:19}less:  ", ""), unsure, "");
            }
        }
        if is_few {
            return;
        }
        let expected = found.expected_false(often);
        let most = expected.iter().fold(0.0, |most: f64, number| most.max(*number));
        self.sentence(&format!(
            "At most {} variables of a component are expected at {:.0} % that are no likelier in a half than the average one.",
            text::number(most, 2),
            100.0 * often
        ));
    }
}

/// Text about the other pairs: those that were not complete, and those that failed.
fn missing(found: &Stability) -> String {
    let late = found.requested - found.pairs - found.failed;
    let mut said = String::new();
    if late > 0 {
        said += &format!("; {late} more were not complete when they were ended");
    }
    if found.failed > 0 {
        said += &format!("; {} more have a half without a solution", found.failed);
    }
    if found.limited > 0 {
        said += &format!(
            "; a longer limit of time may find better components of {} of the {} halves",
            found.limited,
            2 * found.pairs
        );
    }
    said
}
