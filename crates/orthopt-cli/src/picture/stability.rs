//! How often each loading is not zero in halves of the rows, as a heat map; the loadings of the components have a frame.

use orthopt::report::{Report, Stability};

use super::drawing::{Drawing, MOST, cut_names};
use super::heat;
use super::{below, title};
use crate::text;

/// The picture.
///
/// # Errors
/// The drawing fails.
pub fn picture(report: &Report, found: &Stability) -> anyhow::Result<String> {
    let n = found.frequency.nrows();
    let often = |i: usize| found.frequency.row(i).iter().fold(0.0, |most: f64, share| most.max(*share));
    let mut variables: Vec<usize> = (0..n).filter(|i| often(*i) > 0.0).collect();
    let all = variables.len();
    if all > MOST {
        variables.sort_by(|a, b| often(*b).total_cmp(&often(*a)));
        variables.truncate(MOST);
        variables.sort_unstable();
    }
    let shown = match variables.len() < all {
        true => format!("{MOST} of {all} variables"),
        false => format!("{all} of {}", text::count(n as u64, "variable")),
    };
    let drawing = Drawing {
        names: cut_names(report, &variables),
        title: title("Stability", &report.task),
        subtitle: below(
            &report.task,
            &format!(
                "share of {} halves with a nonzero loading; frames: components; {shown}",
                2 * found.pairs
            ),
        ),
        variables,
        report,
    };
    let heading = |k: usize| format!("PC{} (cosine {:.2})", k + 1, found.cosine[k]);
    heat::picture(&drawing, &found.frequency, Some(report.x()), &heading)
}
