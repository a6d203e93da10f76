//! Scree: the eigenvalues of C beside those of noise, and the number of components.

use orthopt::family::Scree;
use orthopt::report::Report;
use plotters::prelude::*;

use super::{LEFT, MIDDLE, RIGHT, below, title, units};
use crate::plot::{Area, Axis, COLOURS, Drawn, FONT, GRID, SIZE, svg, titled};

/// The picture.
///
/// # Errors
/// No eigenvalues are known; the drawing fails.
pub fn picture(report: &Report) -> anyhow::Result<String> {
    let Some(scree) = report.task.scree.as_deref() else {
        anyhow::bail!("{} has no eigenvalues to draw", report.task.problem.name);
    };
    let title = title("Eigenvalues of C", &report.task);
    let subtitle = match (scree.rule, scree.share) {
        (_, Some(share)) => {
            format!("{} components explain {:.0} % of the variance in PCA", scree.rank, 100.0 * share)
        }
        ("none", _) => "C itself does not say how much of it is noise".into(),
        _ if scree.reason.contains("no eigenvalue") => "no eigenvalue exceeds those of noise".into(),
        _ => format!(
            "{} above the 95th percentile of noise",
            crate::text::count(scree.rank as u64, "eigenvalue")
        ),
    };
    svg(|root| draw(root, (&title, &below(&report.task, &subtitle)), scree, report.task.rank))
}

const TOP: i32 = 70;
const BOTTOM: i32 = SIZE.1 as i32 - 116 - 110;
const SIDE: i32 = 150;
const END: i32 = SIZE.0 as i32 - 40;
/// Numbers below the axis that there is room for.
const NUMBERED: usize = 20;

fn draw(root: &Area<'_>, (title, subtitle): (&str, &str), scree: &Scree, chosen: usize) -> Drawn {
    let area = titled(root, title, subtitle)?;
    let style = |size: i32| (FONT, size).into_text_style(root);
    let most = scree.eigenvalues.iter().chain(&scree.reference).fold(1e-6, |most: f64, v| most.max(*v));
    let axis = Axis::linear(0.0..108.0 * most);
    let labels = axis.labels();
    let count = scree.eigenvalues.len().max(1);
    let slot = f64::from(END - SIDE) / count as f64;
    let place = |k: usize| SIDE + units((k as f64 + 0.5) * slot);
    let height = |share: f64| BOTTOM - units(share / (1.08 * most) * f64::from(BOTTOM - TOP));
    for tick in &axis.ticks {
        let y = height(tick / 100.0);
        area.draw(&PathElement::new([(SIDE, y), (END, y)], GRID.stroke_width(2)))?;
        area.draw_text(&labels(tick), &style(28).pos(RIGHT), (SIDE - 14, y))?;
    }
    // the components that are kept lie left of a line
    if chosen < count {
        let x = SIDE + units(chosen as f64 * slot);
        for y in (TOP..BOTTOM).step_by(24) {
            area.draw(&PathElement::new([(x, y), (x, (y + 12).min(BOTTOM))], BLACK.stroke_width(2)))?;
        }
        area.draw_text(&format!("r = {chosen}"), &style(28).pos(LEFT), (x + 12, TOP + 70))?;
    }
    let line = |values: &[f64]| -> Vec<(i32, i32)> {
        values.iter().enumerate().map(|(k, v)| (place(k), height(*v))).collect()
    };
    let (own, noise) = (line(&scree.eigenvalues), line(&scree.reference));
    area.draw(&PathElement::new(noise.clone(), COLOURS[1].stroke_width(3)))?;
    for (x, y) in noise {
        area.draw(&Rectangle::new([(x - 8, y - 8), (x + 8, y + 8)], COLOURS[1].filled()))?;
    }
    area.draw(&PathElement::new(own.clone(), COLOURS[0].stroke_width(4)))?;
    for centre in own {
        area.draw(&Circle::new(centre, 10, COLOURS[0].filled()))?;
    }
    let step = count.div_ceil(NUMBERED);
    for k in (0..count).filter(|k| step == 1 || (k + 1) % step == 0 || *k == 0) {
        area.draw_text(&(k + 1).to_string(), &style(28).pos(MIDDLE), (place(k), BOTTOM + 28))?;
    }
    area.draw(&PathElement::new([(SIDE, TOP), (SIDE, BOTTOM), (END, BOTTOM)], BLACK.stroke_width(2)))?;
    let upright = style(30).transform(FontTransform::Rotate270).pos(MIDDLE);
    area.draw_text("% of the variance", &upright, (36, (TOP + BOTTOM) / 2))?;
    area.draw_text("component of PCA", &style(30).pos(MIDDLE), ((SIDE + END) / 2, BOTTOM + 74))?;
    let mut legend = vec![(COLOURS[0], "eigenvalue of C")];
    if !scree.reference.is_empty() {
        legend.push((COLOURS[1], "95th percentile of noise"));
    }
    let mut left = SIDE + 20;
    for (round, (colour, words)) in legend.into_iter().enumerate() {
        let (x, y) = (left + 16, 26);
        if round == 0 {
            area.draw(&Circle::new((x, y), 10, colour.filled()))?;
        } else {
            area.draw(&Rectangle::new([(x - 8, y - 8), (x + 8, y + 8)], colour.filled()))?;
        }
        area.draw_text(words, &style(28).pos(LEFT), (left + 44, y))?;
        left += 44 + super::width_of(words, 28) + 60;
    }
    Ok(root.present()?)
}
