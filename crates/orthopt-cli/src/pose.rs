//! Construction of the problem from the options, with remarks on the data.

use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Kind};
use orthopt::job::{Job, PosedJob};
use orthopt::message::Message;
use orthopt::objective::Evaluate;
use orthopt::objective::REPORT_ZERO;
use orthopt::report::Assessment;

use crate::failure::say;
use crate::input::Input;

/// Sets up the problem until the `clock` is over; the caller may keep or drop the rest of the data.
///
/// # Errors
/// Those of [`Job::pose`].
pub fn pose(job: Job, input: &Input, clock: &Cancel) -> anyhow::Result<PosedJob> {
    let mut notes = Vec::new();
    if !matches!(job.problem.kind, Kind::Probe | Kind::Procrustes) {
        notes.extend(input.remark_on_means());
    }
    notes.extend(input.notes.iter().cloned());
    if input.info.missing > 0 {
        let count = crate::text::count(input.info.missing as u64, "missing value");
        notes
            .push(Message::from(format!("{count} in the data, treated as ")).option("missing").text(" says"));
    }
    Ok(job.pose(&input.pca(), input.info.clone(), notes, clock)?)
}

/// Note for an X that is checked with a default λ: `solve` without λ and solver chooses a
/// number of nonzeros instead.
pub fn remark_on_counts(job: &Job) -> Option<Message> {
    let (info, options) = (job.problem, &job.request);
    let own = options.penalty.is_none() && options.lambda.is_none() && options.limit().is_none();
    let remark = "X is checked with the default lambda; an X that solve found without --lambda \
                  has at most K nonzeros in each component: check it with --nonzeros K";
    (own && info.name == "l0-pca").then(|| remark.to_string().into())
}

/// Note for problems that reward zeros: tiny entries of another program's X count as nonzero.
pub fn remark_on_tiny_entries(found: &Assessment, problem: &AnyProblem) {
    if found.tiny > 0 && problem.asks_for_zeros() {
        let (entries, them) = match found.tiny {
            1 => ("1 entry of X is".to_string(), "it"),
            tiny => (format!("{tiny} entries of X are"), "them"),
        };
        say(
            "note",
            &format!(
                "{entries} not zero but at most {REPORT_ZERO:e} in absolute value: F, nonzeros, criticality and \
                 certificate count {them} as nonzero"
            ),
        );
    }
}
