//! Loadings: bars by component, or a heat map for many variables.

use orthopt::report::{Report, used};
use plotters::prelude::*;

use super::drawing::{Drawing, MOST, TEXT, cut_names};
use super::{DARK, LEFT, LIGHT, MIDDLE, RIGHT, below, heat, title, units};
use crate::plot::{Area, Drawn, FONT, GRID, TITLES, svg_of, titled};
use crate::text;

/// More variables than this, or more components than [`PANELS`], make a heat map.
const BARS: usize = 20;
const PANELS: usize = 8;
const ROW: i32 = 44;

/// The picture.
///
/// # Errors
/// The drawing fails.
pub fn picture(report: &Report) -> anyhow::Result<String> {
    let x = report.x();
    let all = used(x);
    let many = all.len() > BARS || x.ncols() > PANELS;
    let variables = if all.len() > MOST { largest(report, &all) } else { all.clone() };
    let shown = match variables.len() < all.len() {
        true => format!("the {MOST} largest of {} variables with nonzero loadings", all.len()),
        false => {
            format!("{} of {} with nonzero loadings", all.len(), text::count(x.nrows() as u64, "variable"))
        }
    };
    let drawing = Drawing {
        names: cut_names(report, &variables),
        title: title("Loadings", &report.task),
        subtitle: below(&report.task, &shown),
        variables,
        report,
    };
    let heading = |k: usize| drawing.heading(k);
    if many { heat::picture(&drawing, report.x(), None, &heading) } else { bars(&drawing) }
}

/// In the order of the data, those whose largest loading is largest.
fn largest(report: &Report, all: &[usize]) -> Vec<usize> {
    let x = report.x();
    let size = |i: &usize| x.row(*i).iter().fold(0.0, |size: f64, v| size.max(v.abs()));
    let mut order = all.to_vec();
    order.sort_by(|a, b| size(b).total_cmp(&size(a)));
    order.truncate(MOST);
    order.sort_unstable();
    order
}

/// One panel for each component, a row for each variable, the same for all.
fn bars(drawing: &Drawing<'_>) -> anyhow::Result<String> {
    let r = drawing.report.x().ncols() as i32;
    let (margin, rows) = (drawing.margin(), drawing.variables.len().max(1) as i32);
    let panel = ((1560 - margin) / r).clamp(230, 620);
    let height = TITLES as i32 + 56 + rows * ROW + 110;
    let width = margin + r * panel + 40;
    svg_of((width as u32, height as u32), |root| draw(root, drawing, (margin, panel)))
}

fn draw(root: &Area<'_>, drawing: &Drawing<'_>, (margin, panel): (i32, i32)) -> Drawn {
    let area = titled(root, &drawing.title, &drawing.subtitle)?;
    let x = drawing.report.x();
    let limit = x.data().iter().fold(0.0, |limit: f64, v| limit.max(v.abs())).max(1e-3);
    let (top, rows) = (56, drawing.variables.len() as i32);
    let bottom = top + rows * ROW;
    let style = |size: i32| (FONT, size).into_text_style(root);
    for (row, name) in drawing.names.iter().enumerate() {
        let y = top + row as i32 * ROW + ROW / 2;
        area.draw_text(name, &style(TEXT).pos(RIGHT), (margin - 16, y))?;
    }
    for k in 0..x.ncols() {
        let left = margin + k as i32 * panel;
        let half = f64::from(panel) / 2.0 - 22.0;
        let centre = left + panel / 2;
        let at = |value: f64| centre + units(value / limit * half * 0.82);
        area.draw_text(&drawing.heading(k), &style(TEXT + 2).pos(MIDDLE), (centre, top - 28))?;
        let frame = [(left + 8, top), (left + panel - 8, bottom)];
        area.draw(&Rectangle::new(frame, GRID.stroke_width(2)))?;
        for (row, &i) in drawing.variables.iter().enumerate() {
            let (value, y) = (x.get(i, k), top + row as i32 * ROW);
            if value.abs() <= orthopt::objective::REPORT_ZERO {
                continue;
            }
            let colour = if value > 0.0 { DARK } else { LIGHT };
            let bar = [(at(0.0), y + 8), (at(value), y + ROW - 8)];
            area.draw(&Rectangle::new(bar, colour.filled()))?;
            area.draw(&Rectangle::new(bar, BLACK.stroke_width(1)))?;
            // the number beyond the zero line, where no bar is
            let (end, pos) = if value > 0.0 { (at(0.0) - 8, RIGHT) } else { (at(0.0) + 8, LEFT) };
            let number = format!("{value:.2}");
            area.draw_text(&number, &style(TEXT - 4).pos(pos), (end, y + ROW / 2))?;
        }
        area.draw(&PathElement::new([(at(0.0), top), (at(0.0), bottom)], BLACK.stroke_width(2)))?;
        for value in [-limit, 0.0, limit] {
            let label = if value == 0.0 { "0".into() } else { format!("{value:.2}") };
            area.draw_text(&label, &style(TEXT - 4).pos(MIDDLE), (at(value), bottom + 24))?;
        }
    }
    let middle = margin + (x.ncols() as i32 * panel) / 2;
    area.draw_text("loading", &style(TEXT + 2).pos(MIDDLE), (middle, bottom + 68))?;
    Ok(root.present()?)
}
