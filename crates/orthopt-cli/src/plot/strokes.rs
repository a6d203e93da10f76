//! Style of curves: a colour, dashes and a mark at the end, and a legend next to the plot.

use plotters::element::{Circle, DynElement, EmptyElement, IntoDynElement, PathElement, Polygon, Text};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, COLOURS, Curve, Drawn, FONT};

/// On and off along a line, in units of the picture; nothing is a solid line.
const DASHES: [Option<(i32, i32)>; 4] = [None, Some((28, 12)), Some((7, 9)), Some((52, 14))];
/// Size of a mark.
const MARK: i32 = 9;
/// A row of the legend, a line in it, and its text.
const ROW: i32 = 44;
const LINE: i32 = 96;
const LETTERS: i32 = 26;

/// The mark at the end of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    Disc,
    Triangle,
    Square,
    Ring,
}

const SHAPES: [Shape; 4] = [Shape::Disc, Shape::Triangle, Shape::Square, Shape::Ring];

/// Style of a curve: sixteen curves differ in dashes or marks, and neighbours in both.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    colour: RGBColor,
    pub dash: Option<(i32, i32)>,
    pub shape: Shape,
}

impl Stroke {
    /// Of curve i.
    pub fn of(i: usize) -> Self {
        let (dash, shape) = (DASHES[i % 4], SHAPES[(i + i / 4) % 4]);
        Self { colour: COLOURS[i % COLOURS.len()], dash, shape }
    }

    pub fn style(&self) -> ShapeStyle {
        self.colour.stroke_width(4)
    }

    /// The mark at a point.
    pub fn marker<'a, 'b: 'a, C: Clone + 'a>(&self, at: C) -> DynElement<'a, SVGBackend<'b>, C> {
        let (filled, m) = (self.colour.filled(), MARK);
        let polygon = |corners: Vec<(i32, i32)>| Polygon::new(corners, filled);
        match self.shape {
            Shape::Disc => (EmptyElement::at(at) + Circle::new((0, 0), m, filled)).into_dyn(),
            Shape::Ring => (EmptyElement::at(at) + Circle::new((0, 0), m, self.style())).into_dyn(),
            Shape::Triangle => (EmptyElement::at(at)
                + polygon(vec![(0, -m - 2), (m + 1, m - 1), (-m - 1, m - 1)]))
            .into_dyn(),
            Shape::Square => {
                (EmptyElement::at(at) + polygon(vec![(-m, -m), (m, -m), (m, m), (-m, m)])).into_dyn()
            }
        }
    }
}

/// Width of the legend.
pub fn legend_width(curves: &[Curve]) -> i32 {
    let longest = curves.iter().map(|c| c.label.chars().count()).max().unwrap_or(0) as i32;
    (LINE + 48 + LETTERS * 11 * longest / 20).min(640)
}

/// Lines, marks and names, one below the other; those that have no room are counted.
///
/// # Errors
/// The drawing fails.
pub fn legend(area: &Area<'_>, curves: &[Curve]) -> Drawn {
    let rows = ((area.dim_in_pixel().1 as i32 - 2 * ROW) / ROW).max(1) as usize;
    let text = (FONT, LETTERS).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
    for (i, curve) in curves.iter().take(rows).enumerate() {
        let (stroke, y) = (Stroke::of(i), ROW + ROW * i as i32);
        let (on, off) = stroke.dash.unwrap_or((LINE, 0));
        for from in (0..LINE).step_by((on + off) as usize) {
            let to = (from + on).min(LINE);
            area.draw(&PathElement::new(vec![(from, y), (to, y)], stroke.style()))?;
        }
        area.draw(&stroke.marker((LINE, y)))?;
        area.draw(&Text::new(curve.label.clone(), (LINE + 22, y), text.clone()))?;
    }
    if curves.len() > rows {
        let more = format!("and {} more", curves.len() - rows);
        area.draw(&Text::new(more, (0, ROW + ROW * rows as i32), text))?;
    }
    Ok(())
}
