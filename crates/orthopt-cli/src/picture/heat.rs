//! Numbers of variables and components as a heat map with the numbers in its cells, which distinguish signs in grey.

use orthopt::RowMat;
use orthopt::objective::REPORT_ZERO;
use plotters::prelude::*;

use super::drawing::Drawing;
use super::{MIDDLE, RIGHT};
use crate::plot::{Drawn, FONT, GRID, INK, PALE, TITLES, svg_of, titled};

const TEXT: i32 = 24;
const ROW: i32 = 34;
const TOP: i32 = 56;

/// From −1 over 0 to 1: purple, white, orange (PuOr of ColorBrewer, safe for the colour-blind). Only 0 has the colour of the page.
fn colour(share: f64) -> RGBColor {
    if share == 0.0 {
        return WHITE;
    }
    let (r, g, b) = if share < 0.0 { (84.0, 39.0, 136.0) } else { (200.0, 90.0, 6.0) };
    let mix = |end: f64| (255.0 + (end - 255.0) * share.abs().min(1.0).powf(0.8)).round().min(254.0) as u8;
    RGBColor(mix(r), mix(g), mix(b))
}

/// The picture of `values`; the cells where `marked` is not zero have a frame.
///
/// # Errors
/// The drawing fails.
pub(super) fn picture(
    drawing: &Drawing<'_>,
    values: &RowMat,
    marked: Option<&RowMat>,
    heading: &dyn Fn(usize) -> String,
) -> anyhow::Result<String> {
    let r = values.ncols() as i32;
    let (margin, rows) = (drawing.margin(), drawing.variables.len().max(1) as i32);
    let cell = ((1200 - margin) / r).clamp(130, 220);
    let width = (margin + r * cell + 60).max(900);
    let height = TITLES as i32 + TOP + rows * ROW + 60;
    svg_of((width as u32, height as u32), |root| {
        let area = titled(root, &drawing.title, &drawing.subtitle)?;
        let style = |size: i32| (FONT, size).into_text_style(root);
        for k in 0..r as usize {
            let centre = margin + k as i32 * cell + cell / 2;
            area.draw_text(&heading(k), &style(TEXT).pos(MIDDLE), (centre, TOP - 24))?;
        }
        for (row, name) in drawing.names.iter().enumerate() {
            let y = TOP + row as i32 * ROW + ROW / 2;
            area.draw_text(name, &style(TEXT).pos(RIGHT), (margin - 16, y))?;
        }
        cells(drawing, (values, marked), (margin, cell), &area, &|size| style(size))?;
        area.draw_text(
            "component",
            &style(TEXT + 2).pos(MIDDLE),
            (margin + r * cell / 2, TOP + rows * ROW + 32),
        )?;
        Ok(root.present()?)
    })
}

fn cells<'a>(
    drawing: &Drawing<'_>,
    (x, marked): (&RowMat, Option<&RowMat>),
    (margin, cell): (i32, i32),
    area: &crate::plot::Area<'_>,
    style: &dyn Fn(i32) -> TextStyle<'a>,
) -> Drawn {
    let limit = x.data().iter().fold(0.0, |limit: f64, v| limit.max(v.abs())).max(1e-300);
    for (row, &i) in drawing.variables.iter().enumerate() {
        for k in 0..x.ncols() {
            let (value, left, y) = (x.get(i, k), margin + k as i32 * cell, TOP + row as i32 * ROW);
            let corners = [(left, y), (left + cell, y + ROW)];
            let share = value / limit;
            area.draw(&Rectangle::new(corners, colour(share).filled()))?;
            area.draw(&Rectangle::new(corners, GRID.stroke_width(1)))?;
            if value.abs() > REPORT_ZERO {
                let ink = if share.abs() > 0.55 { PALE } else { INK };
                let number = format!("{value:.2}");
                let middle = (left + cell / 2, y + ROW / 2);
                area.draw_text(&number, &style(TEXT - 2).color(&ink).pos(MIDDLE), middle)?;
            }
            if marked.is_some_and(|marked| marked.get(i, k) != 0.0) {
                let inside = [(left + 2, y + 2), (left + cell - 2, y + ROW - 2)];
                area.draw(&Rectangle::new(inside, INK.stroke_width(3)))?;
            }
        }
    }
    Ok(())
}
