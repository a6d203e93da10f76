//! Variance explained: of each component alone and beyond those before it.

use orthopt::report::Report;
use plotters::prelude::*;

use super::{DARK, LEFT, LIGHT, MIDDLE, RIGHT, below, title, units};
use crate::plot::{Area, Axis, Drawn, FONT, GRID, SIZE, svg, titled};

/// The picture; none if components explain no variance.
///
/// # Errors
/// The drawing fails.
pub fn picture(report: &Report) -> anyhow::Result<String> {
    let Some(e) = &report.explained_variance else {
        anyhow::bail!(
            "{} has no variance to explain, so there is no picture of it",
            report.task.problem.name
        );
    };
    let title = title("Variance explained", &report.task);
    let subtitle = format!(
        "together: adjusted {:.1} %, projected {:.1} %, predicted {:.1} %",
        100.0 * e.total,
        100.0 * e.projected,
        100.0 * e.predicted
    );
    svg(|root| draw(root, (&title, &below(&report.task, &subtitle)), &e.ratio, &e.adjusted))
}

const TOP: i32 = 70;
const BOTTOM: i32 = SIZE.1 as i32 - 116 - 110;
const SIDE: i32 = 150;
const END: i32 = SIZE.0 as i32 - 40;

fn draw(root: &Area<'_>, (title, subtitle): (&str, &str), alone: &[f64], added: &[f64]) -> Drawn {
    let area = titled(root, title, subtitle)?;
    let style = |size: i32| (FONT, size).into_text_style(root);
    let most = alone.iter().chain(added).fold(0.0, |most: f64, v| most.max(*v)).max(1e-6);
    let axis = Axis::linear(0.0..108.0 * most);
    let labels = axis.labels();
    let height = |percent: f64| BOTTOM - units(percent / (108.0 * most) * f64::from(BOTTOM - TOP));
    for tick in &axis.ticks {
        let y = height(*tick);
        area.draw(&PathElement::new([(SIDE, y), (END, y)], GRID.stroke_width(2)))?;
        area.draw_text(&labels(tick), &style(28).pos(RIGHT), (SIDE - 14, y))?;
    }
    let slot = f64::from(END - SIDE) / alone.len() as f64;
    let numbers = slot > 130.0;
    for (k, values) in alone.iter().zip(added).enumerate() {
        let centre = SIDE + units((k as f64 + 0.5) * slot);
        let wide = units((slot * 0.36).min(130.0));
        let bars = [(*values.0, centre - wide, LIGHT), (*values.1, centre, DARK)];
        for (value, left, colour) in bars {
            let corners = [(left, height(100.0 * value)), (left + wide, BOTTOM)];
            area.draw(&Rectangle::new(corners, colour.filled()))?;
            area.draw(&Rectangle::new(corners, BLACK.stroke_width(1)))?;
            if numbers {
                let above = (left + wide / 2, height(100.0 * value) - 18);
                area.draw_text(&format!("{:.1}", 100.0 * value), &style(24).pos(MIDDLE), above)?;
            }
        }
        if numbers || k % 5 == 4 || k == 0 {
            area.draw_text(&format!("PC{}", k + 1), &style(28).pos(MIDDLE), (centre, BOTTOM + 28))?;
        }
    }
    area.draw(&PathElement::new([(SIDE, TOP), (SIDE, BOTTOM), (END, BOTTOM)], BLACK.stroke_width(2)))?;
    let upright = style(30).transform(FontTransform::Rotate270).pos(MIDDLE);
    area.draw_text("% of the variance", &upright, (36, (TOP + BOTTOM) / 2))?;
    area.draw_text("component", &style(30).pos(MIDDLE), ((SIDE + END) / 2, BOTTOM + 74))?;
    let legend = [(LIGHT, "alone"), (DARK, "beyond the components before it (adjusted)")];
    let mut left = SIDE + 20;
    for (colour, words) in legend {
        let corners = [(left, 10), (left + 32, 42)];
        area.draw(&Rectangle::new(corners, colour.filled()))?;
        area.draw(&Rectangle::new(corners, BLACK.stroke_width(1)))?;
        area.draw_text(words, &style(28).pos(LEFT), (left + 44, 26))?;
        left += 44 + super::width_of(words, 28) + 60;
    }
    Ok(root.present()?)
}
