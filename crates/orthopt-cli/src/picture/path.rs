//! Variance explained against nonzeros.

use plotters::prelude::*;

use super::{LEFT, MIDDLE, RIGHT, units};
use crate::plot::{Area, Axis, COLOURS, Drawn, FONT, GRID, SIZE, svg, titled};

/// A line: its name, and nonzeros and per cent of its points.
pub type Line = (&'static str, Vec<(f64, f64)>);

/// The picture; every line has the same points, of which one is chosen.
///
/// # Errors
/// The drawing fails.
pub fn picture(title: &str, subtitle: &str, lines: &[Line], chosen: usize) -> anyhow::Result<String> {
    svg(|root| draw(root, (title, subtitle), lines, chosen))
}

const TOP: i32 = 40;
const BOTTOM: i32 = SIZE.1 as i32 - 116 - 110;
const SIDE: i32 = 150;
const END: i32 = SIZE.0 as i32 - 250; // names of the lines are to the right of their ends
const NAME: i32 = 28;

fn draw(root: &Area<'_>, (title, subtitle): (&str, &str), lines: &[Line], chosen: usize) -> Drawn {
    let area = titled(root, title, subtitle)?;
    let style = |size: i32| (FONT, size).into_text_style(root);
    let all = || lines.iter().flat_map(|line| line.1.iter().copied());
    let least = all().fold(0.0, |l: f64, p| l.min(p.1));
    let most = all().fold(1e-3, |m: f64, p| m.max(p.1));
    let values = Axis::linear(1.05 * least..1.05 * most);
    let right = all().fold(1.0, |m: f64, p| m.max(p.0));
    let counts = Axis::linear(0.0..right);
    let y = |v: f64| BOTTOM - units((v - 1.05 * least) / (1.05 * (most - least)) * f64::from(BOTTOM - TOP));
    let x = |v: f64| SIDE + units(v / right * f64::from(END - SIDE));
    let label = values.labels();
    for tick in &values.ticks {
        area.draw(&PathElement::new([(SIDE, y(*tick)), (END, y(*tick))], GRID.stroke_width(2)))?;
        area.draw_text(&label(tick), &style(28).pos(RIGHT), (SIDE - 14, y(*tick)))?;
    }
    let label = counts.labels();
    for tick in counts.ticks.iter().filter(|t| t.fract() == 0.0) {
        area.draw(&PathElement::new([(x(*tick), BOTTOM), (x(*tick), BOTTOM + 10)], BLACK.stroke_width(2)))?;
        area.draw_text(&label(tick), &style(28).pos(MIDDLE), (x(*tick), BOTTOM + 32))?;
    }
    area.draw(&PathElement::new([(SIDE, TOP), (SIDE, BOTTOM), (END, BOTTOM)], BLACK.stroke_width(2)))?;
    let mut names: Vec<(i32, usize)> = Vec::new();
    for (k, (_, points)) in lines.iter().enumerate() {
        let places: Vec<_> = points.iter().filter(|p| p.1.is_finite()).map(|p| (x(p.0), y(p.1))).collect();
        let colour = COLOURS[k % COLOURS.len()];
        area.draw(&PathElement::new(places.clone(), colour.stroke_width(4)))?;
        for place in &places {
            marker(&area, k, *place, colour)?;
        }
        names.extend(places.last().map(|p| (p.1, k)));
    }
    if let Some(point) = lines.first().and_then(|line| line.1.get(chosen)).filter(|p| p.1.is_finite()) {
        area.draw(&Circle::new((x(point.0), y(point.1)), 20, BLACK.stroke_width(4)))?;
    }
    names.sort_unstable();
    let mut free = i32::MIN;
    for (place, k) in names {
        let place = place.max(free);
        area.draw_text(
            lines[k].0,
            &style(NAME).color(&COLOURS[k % COLOURS.len()]).pos(LEFT),
            (END + 24, place),
        )?;
        free = place + NAME + 6;
    }
    let upright = style(30).transform(FontTransform::Rotate270).pos(MIDDLE);
    area.draw_text("% of the variance", &upright, (36, (TOP + BOTTOM) / 2))?;
    area.draw_text(
        "nonzeros of X (the ring is the chosen point)",
        &style(30).pos(MIDDLE),
        ((SIDE + END) / 2, BOTTOM + 80),
    )?;
    Ok(root.present()?)
}

/// Shape of the points of a line, which distinguishes lines without colour.
fn marker(area: &Area<'_>, k: usize, (x, y): (i32, i32), colour: RGBColor) -> Drawn {
    match k % 4 {
        0 => area.draw(&Circle::new((x, y), 8, colour.filled()))?,
        1 => area.draw(&Rectangle::new([(x - 7, y - 7), (x + 7, y + 7)], colour.filled()))?,
        2 => area.draw(&TriangleMarker::new((x, y), 11, colour.filled()))?,
        _ => area.draw(&Cross::new((x, y), 8, colour.stroke_width(4)))?,
    }
    Ok(())
}
