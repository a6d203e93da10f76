//! Samples in the plane of the first two components.

use orthopt::report::Report;

use super::scatter::{Plane, Points};
use super::{below, title};
use crate::plot::{SIZE, svg, titled};
use crate::rows::Rows;

/// The picture.
///
/// # Errors
/// The drawing fails.
pub fn picture(report: &Report, rows: &Rows) -> anyhow::Result<String> {
    let points = Points::of(rows, (0, 1));
    let plane = Plane::of(&points.places, SIZE.0 as i32 - 30 - points.legend());
    let title = title("Scores", &report.task);
    let second = if rows.scores.ncols() > 1 { axis(report, 1) } else { "sample".into() };
    svg(|root| {
        let area = titled(root, &title, &below(&report.task, &points.remark))?;
        plane.draw(&area, (&axis(report, 0), &second))?;
        points.draw(&area, &plane)?;
        Ok(root.present()?)
    })
}

/// The name of a component with its share of the variance.
pub(super) fn axis(report: &Report, k: usize) -> String {
    let explained = report.explained_variance.as_ref();
    let share =
        explained.map_or(String::new(), |e| format!(", {:.1} % of the variance", 100.0 * e.adjusted[k]));
    format!("score on PC{}{share}", k + 1)
}
