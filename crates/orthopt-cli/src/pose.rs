//! Construction of the problem from the options, with remarks on the data.

use orthopt::cancel::Cancel;
use orthopt::family;
use orthopt::family::{Kind, Named, PoseOptions, Posed, ProblemInfo};
use orthopt::message::Message;
use orthopt::objective::Evaluate;
use orthopt::objective::REPORT_ZERO;
use orthopt::report::{Assessment, DataFacts};

use crate::failure::say;
use crate::input::Input;

/// Share of tr C from which on a note mentions means that are not subtracted.
/// Poses the problem until the `clock` is over; the caller may keep or drop the rest of the data.
///
/// # Errors
/// A bad rank or λ; data that are not what they should be; too little time.
pub fn pose(
    info: &'static ProblemInfo,
    input: &Input,
    options: &PoseOptions,
    clock: &Cancel,
) -> anyhow::Result<(Posed, DataFacts)> {
    let mut posed = clock.during(|| family::pose(info, &input.pca(), &input.told(options)))?;
    if !matches!(info.kind, Kind::Probe | Kind::Procrustes) {
        posed.notes.extend(input.remark_on_means());
    }
    posed.notes.extend(input.notes.iter().cloned());
    if input.info.missing > 0 {
        let count = crate::text::count(input.info.missing as u64, "missing value");
        posed
            .notes
            .push(Message::from(format!("{count} in the data, treated as ")).option("missing").text(" says"));
    }
    Ok((posed, input.info.clone()))
}

/// Note for an X that is checked with a default λ: `solve` without λ and solver chooses a
/// number of nonzeros instead.
pub fn remark_on_counts(info: &ProblemInfo, options: &PoseOptions) -> Option<Message> {
    let own = options.penalty.is_none() && options.lambda.is_none() && options.limit.is_none();
    let remark = "X is checked with the default lambda; an X that solve found without --lambda \
                  has at most K nonzeros in each component: check it with --nonzeros K";
    (own && info.name == "l0-pca").then(|| remark.to_string().into())
}

/// Note for problems that reward zeros: tiny entries of another program's X count as nonzero.
pub fn remark_on_tiny_entries(found: &Assessment, problem: &Named) {
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
