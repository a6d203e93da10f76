//! Samples and variables in one plane: scores as points, loadings as arrows.

use orthopt::report::{Report, used};
use plotters::prelude::*;

use super::scatter::{Plane, Points};
use super::scores::axis;
use super::{MIDDLE, below, cut, title, units, width_of};
use crate::plot::{Area, Drawn, FONT, SIZE, svg, titled};
use crate::rows::Rows;

/// Maximum number of arrows: those with the largest loadings are drawn.
const ARROWS: usize = 16;
const TEXT: i32 = 24;
/// Length of the longest arrow, as a share of the distance from 0 to the nearest edge.
const REACH: f64 = 0.78;

/// The picture.
///
/// # Errors
/// The drawing fails; a single component makes no plane.
pub fn biplot(report: &Report, rows: &Rows) -> anyhow::Result<String> {
    if rows.scores.ncols() < 2 {
        anyhow::bail!("a biplot needs two components");
    }
    let points = Points::of(rows, (0, 1));
    let plane = Plane::of(&points.places, SIZE.0 as i32 - 30 - points.legend());
    let title = title("Biplot", &report.task);
    let (arrows, all) = arrows(report);
    let few = if arrows.len() < all { format!("{} of {all}", arrows.len()) } else { all.to_string() };
    let subtitle =
        format!("{}; loadings of {few} variables as arrows, on a scale of their own", points.remark);
    svg(|root| {
        let area = titled(root, &title, &below(&report.task, &subtitle))?;
        plane.draw(&area, (&axis(report, 0), &axis(report, 1)))?;
        points.draw(&area, &plane)?;
        draw(&area, &plane, &arrows)?;
        Ok(root.present()?)
    })
}

struct Arrow {
    name: String,
    loading: (f64, f64),
}

/// The longest arrows, longest first, and the number of variables in the plane.
fn arrows(report: &Report) -> (Vec<Arrow>, usize) {
    let (x, data) = (report.x(), &report.task.data);
    let arrow = |i: usize| Arrow { name: cut(&data.variable(i), 18), loading: (x.get(i, 0), x.get(i, 1)) };
    let length = |a: &Arrow| a.loading.0.hypot(a.loading.1);
    let mut arrows: Vec<Arrow> = used(x).into_iter().map(arrow).filter(|a| length(a) > 1e-6).collect();
    arrows.sort_by(|a, b| length(b).total_cmp(&length(a)));
    let all = arrows.len();
    arrows.truncate(ARROWS);
    (arrows, all)
}

fn draw(area: &Area<'_>, plane: &Plane, arrows: &[Arrow]) -> Drawn {
    let zero = plane.at((0.0, 0.0));
    let [(left, top), (right, bottom)] = plane.frame;
    // one scale for both directions, in units of the picture, so that angles mean what they show
    let room =
        |value: f64, low: i32, high: i32| f64::from(if value < 0.0 { low } else { high }) / value.abs();
    let scale = arrows.iter().map(|arrow| {
        let (a, b) = arrow.loading;
        room(a, zero.0 - left, right - zero.0).min(room(b, bottom - zero.1, zero.1 - top))
    });
    let scale = REACH * scale.fold(f64::INFINITY, f64::min);
    let mut taken: Vec<[(i32, i32); 2]> = Vec::new();
    for arrow in arrows {
        let (a, b) = arrow.loading;
        let tip = (zero.0 + units(scale * a), zero.1 - units(scale * b));
        head(area, zero, tip)?;
        let place = free(&arrow.name, zero, tip, plane.frame, &taken);
        taken.push(place);
        let [(x0, y0), (x1, y1)] = place;
        let middle = ((x0 + x1) / 2, (y0 + y1) / 2);
        let grey = RGBColor(110, 110, 110);
        if (middle.1 - tip.1).abs() > 40 {
            area.draw(&PathElement::new([tip, middle], grey.stroke_width(1)))?;
        }
        area.draw(&Rectangle::new(place, WHITE.mix(0.85).filled()))?;
        area.draw_text(&arrow.name, &(FONT, TEXT).into_text_style(area).pos(MIDDLE), middle)?;
    }
    Ok(())
}

fn head(area: &Area<'_>, (x0, y0): (i32, i32), (x1, y1): (i32, i32)) -> Drawn {
    let style = BLACK.stroke_width(3);
    area.draw(&PathElement::new([(x0, y0), (x1, y1)], style))?;
    let angle = f64::from(y1 - y0).atan2(f64::from(x1 - x0));
    let wing = |turn: f64| (x1 - units(18.0 * (angle + turn).cos()), y1 - units(18.0 * (angle + turn).sin()));
    Ok(area.draw(&Polygon::new(vec![(x1, y1), wing(0.4), wing(-0.4)], BLACK.filled()))?)
}

/// A box for the name beyond the tip, moved up or down so that names do not overlap.
fn free(
    name: &str,
    zero: (i32, i32),
    tip: (i32, i32),
    [(left, top), (right, bottom)]: [(i32, i32); 2],
    taken: &[[(i32, i32); 2]],
) -> [(i32, i32); 2] {
    let (half, high) = (width_of(name, TEXT) / 2 + 4, TEXT / 2 + 2);
    let (dx, dy) = (f64::from(tip.0 - zero.0), f64::from(tip.1 - zero.1));
    let length = dx.hypot(dy).max(1.0);
    let x = tip.0 + units(dx / length * f64::from(half + 8));
    let y = tip.1 + units(dy / length * f64::from(high + 8));
    let at = |shift: i32| {
        let x = x.clamp(left + half + 2, (right - half - 2).max(left + half + 2));
        let y = (y + shift).clamp(top + high + 2, bottom - high - 2);
        [(x - half, y - high), (x + half, y + high)]
    };
    let overlaps = |a: &[(i32, i32); 2], b: &[(i32, i32); 2]| {
        a[0].0 < b[1].0 && b[0].0 < a[1].0 && a[0].1 < b[1].1 && b[0].1 < a[1].1
    };
    let steps = (0..40).map(|k| (k + 1) / 2 * (2 * high + 2) * if k % 2 == 0 { 1 } else { -1 });
    let mut places = steps.map(at);
    places.find(|place| !taken.iter().any(|other| overlaps(place, other))).unwrap_or_else(|| at(0))
}
