//! Style of curves: a colour, dashes and a mark at the end.

use plotters::element::{Circle, DynElement, EmptyElement, IntoDynElement, Polygon};
use plotters::prelude::*;

use super::COLOURS;

/// On and off along a line, in units of the picture; nothing is a solid line.
const DASHES: [Option<(i32, i32)>; 4] = [None, Some((28, 12)), Some((7, 9)), Some((52, 14))];
/// Size of a mark.
const MARK: i32 = 9;

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
