//! Samples as points: axes, groups, and remarks on data that are not shown.

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::ShapeStyle;

use super::{LEFT, MIDDLE, RIGHT, cut, units, width_of};
use crate::plot::{Area, Axis, COLOURS, Drawn, FONT, GRID, SIZE};
use crate::rows::Rows;

/// Maximum number of points; more points hide each other and make very large files.
const POINTS: usize = 4000;
/// Maximum number of groups with distinct marks.
const GROUPS: usize = 12;
const TEXT: i32 = 26;

/// A plane in units of the picture.
pub(super) struct Plane {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) frame: [(i32, i32); 2], // upper left, lower right
}

impl Plane {
    /// The plane of all points, 0 in it.
    pub(super) fn of(points: &[(f64, f64)], right: i32) -> Self {
        let range = |value: fn(&(f64, f64)) -> f64| {
            let (low, high) =
                points.iter().map(value).fold((0.0, 0.0), |(l, h): (f64, f64), v| (l.min(v), h.max(v)));
            let room = 0.06 * (high - low).max(1e-12 * high.abs().max(low.abs())).max(1e-300);
            low - room..high + room
        };
        let frame = [(170, 20), (right, SIZE.1 as i32 - 116 - 116)];
        Self { x: Axis::linear(range(|p| p.0)), y: Axis::linear(range(|p| p.1)), frame }
    }

    pub(super) fn at(&self, (x, y): (f64, f64)) -> (i32, i32) {
        let [(left, top), (right, bottom)] = self.frame;
        let across = self.x.place(x) * f64::from(right - left);
        let up = self.y.place(y) * f64::from(bottom - top);
        (left + units(across), bottom - units(up))
    }

    /// Grid, ticks and names of the axes.
    pub(super) fn draw(&self, area: &Area<'_>, (across, up): (&str, &str)) -> Drawn {
        let style = |size: i32| (FONT, size).into_text_style(area);
        let [(left, top), (right, bottom)] = self.frame;
        let (x_labels, y_labels) = (self.x.labels(), self.y.labels());
        for tick in &self.x.ticks {
            let x = self.at((*tick, 0.0)).0;
            area.draw(&PathElement::new([(x, top), (x, bottom)], GRID.stroke_width(2)))?;
            area.draw_text(&x_labels(tick), &style(TEXT).pos(MIDDLE), (x, bottom + 26))?;
        }
        for tick in &self.y.ticks {
            let y = self.at((0.0, *tick)).1;
            area.draw(&PathElement::new([(left, y), (right, y)], GRID.stroke_width(2)))?;
            area.draw_text(&y_labels(tick), &style(TEXT).pos(RIGHT), (left - 14, y))?;
        }
        let zero = self.at((0.0, 0.0));
        let grey = RGBColor(120, 120, 120);
        area.draw(&PathElement::new([(zero.0, top), (zero.0, bottom)], grey.stroke_width(2)))?;
        area.draw(&PathElement::new([(left, zero.1), (right, zero.1)], grey.stroke_width(2)))?;
        area.draw(&Rectangle::new([(left, top), (right, bottom)], BLACK.stroke_width(2)))?;
        area.draw_text(across, &style(30).pos(MIDDLE), ((left + right) / 2, bottom + 78))?;
        let upright = style(30).transform(FontTransform::Rotate270).pos(MIDDLE);
        area.draw_text(up, &upright, (40, (top + bottom) / 2))?;
        Ok(())
    }
}

/// Points with the group of each.
pub(super) struct Points {
    pub(super) places: Vec<(f64, f64)>,
    groups: Vec<usize>,
    /// Names of the groups; none where there is a single one.
    names: Vec<String>,
    /// Remark about content that is not shown.
    pub(super) remark: String,
}

impl Points {
    /// Components `a` and `b` of the samples; an even selection of the samples if there are too many.
    pub(super) fn of(rows: &Rows, (a, b): (usize, usize)) -> Self {
        let (m, r) = rows.scores.shape();
        let step = m.div_ceil(POINTS).max(1);
        let shown: Vec<usize> = (0..m).step_by(step).collect();
        let second = |i: usize| if b < r { rows.scores[(i, b)] } else { (i + 1) as f64 };
        let places = shown.iter().map(|i| (rows.scores[(*i, a)], second(*i))).collect();
        let mut remark = format!("{} of {m} samples", shown.len());
        if step == 1 {
            remark = crate::text::count(m as u64, "sample");
        }
        let (groups, names) = match &rows.labels {
            None => (vec![0; shown.len()], Vec::new()),
            Some(labels) => match grouped(labels, &shown) {
                Some(found) => found,
                None => {
                    remark += &format!("; labels not shown (more than {GROUPS} different ones)");
                    (vec![0; shown.len()], Vec::new())
                }
            },
        };
        Self { places, groups, names, remark }
    }

    /// Width of the column of names on the right, 0 without groups.
    pub(super) fn legend(&self) -> i32 {
        let widest = self.names.iter().map(|name| width_of(name, TEXT)).max();
        widest.map_or(0, |width| width + 80)
    }

    pub(super) fn draw(&self, area: &Area<'_>, plane: &Plane) -> Drawn {
        let size = if self.places.len() > 1500 { 5 } else { 8 };
        for (place, group) in self.places.iter().zip(&self.groups) {
            mark(area, plane.at(*place), *group, size)?;
        }
        let style = (FONT, TEXT).into_text_style(area);
        for (group, name) in self.names.iter().enumerate() {
            let (left, y) = (plane.frame[1].0 + 40, plane.frame[0].1 + 30 + 42 * group as i32);
            mark(area, (left, y), group, 10)?;
            area.draw_text(name, &style.pos(LEFT), (left + 28, y))?;
        }
        Ok(())
    }
}

/// The group of each sample and the names of the groups, in order; none if there are too many.
fn grouped(labels: &[String], shown: &[usize]) -> Option<(Vec<usize>, Vec<String>)> {
    let mut names: BTreeMap<&str, usize> = labels.iter().map(|label| (label.as_str(), 0)).collect();
    if names.len() > GROUPS {
        return None;
    }
    names.values_mut().enumerate().for_each(|(k, at)| *at = k);
    let groups = shown.iter().map(|i| names[labels[*i].as_str()]).collect();
    let names = names.keys().map(|name| cut(name, 20)).collect();
    Some((groups, names))
}

/// Colour and shape of a group: either alone distinguishes six groups.
fn mark(area: &Area<'_>, (x, y): (i32, i32), group: usize, size: i32) -> Drawn {
    let colour = COLOURS[group % COLOURS.len()];
    let line = colour.stroke_width(4);
    let filled: ShapeStyle = if group < COLOURS.len() { colour.filled() } else { line };
    let (s, t) = (size, units(1.3 * f64::from(size)));
    match group % 6 {
        0 => area.draw(&Circle::new((x, y), s, filled))?,
        1 => polygon(area, &[(x, y - t), (x - t, y + s), (x + t, y + s)], filled, group)?,
        2 => area.draw(&Rectangle::new([(x - s, y - s), (x + s, y + s)], filled))?,
        3 => cross(area, (x, y), (s, s), line)?,
        4 => polygon(area, &[(x, y - t), (x - t, y), (x, y + t), (x + t, y)], filled, group)?,
        _ => {
            area.draw(&PathElement::new([(x - t, y), (x + t, y)], line))?;
            area.draw(&PathElement::new([(x, y - t), (x, y + t)], line))?;
        }
    }
    Ok(())
}

fn cross(area: &Area<'_>, (x, y): (i32, i32), (s, t): (i32, i32), line: ShapeStyle) -> Drawn {
    area.draw(&PathElement::new([(x - s, y - t), (x + s, y + t)], line))?;
    Ok(area.draw(&PathElement::new([(x - s, y + t), (x + s, y - t)], line))?)
}

fn polygon(area: &Area<'_>, corners: &[(i32, i32)], style: ShapeStyle, group: usize) -> Drawn {
    if group < COLOURS.len() {
        return Ok(area.draw(&Polygon::new(corners.to_vec(), style))?);
    }
    let closed = corners.iter().chain(corners.first()).copied().collect::<Vec<_>>();
    Ok(area.draw(&PathElement::new(closed, style))?)
}
