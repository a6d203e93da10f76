//! The description of a picture: its words, and marks in the units of the data. [`crate::plot::paint`] draws it as SVG, and the
//! package for Python with matplotlib.

use orthopt::report::Task;
use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::{shades, short_name};
use crate::text;

/// A colour: red, green, blue.
pub type Colour = (u8, u8, u8);

/// Colours of curves and groups, and of two kinds of bars.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Palette {
    pub curves: [Colour; 6],
    pub dark: Colour,
    pub light: Colour,
}

/// Okabe and Ito's colours, which colour-blind readers can distinguish. The two of bars differ in grey too.
pub const PALETTE: Palette = Palette {
    curves: [(0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (230, 159, 0)],
    dark: (0, 90, 150),
    light: (245, 180, 90),
};

/// A picture.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// Text about what is not shown for want of room; empty if nothing is.
    pub hidden: String,
    /// Beside each other, with one axis y for all.
    pub panels: Vec<Panel>,
    pub palette: Palette,
}

/// Two axes and what is drawn between them.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    pub heading: String,
    pub x: Axis,
    pub y: Axis,
    pub marks: Vec<Mark>,
    /// One unit has the same length in both directions.
    pub square: bool,
}

/// Marks of a chart. Those with a name are in the legend; `look` is the number of a colour and a shape.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Mark {
    /// A curve; grey if `look` is `None`.
    Line {
        name: String,
        look: Option<usize>,
        points: Vec<(f64, f64)>,
        /// Constant up to the next point.
        steps: bool,
        /// A dot at every point, in place of one at the last.
        dots: bool,
        /// Half of the lengths of bars through the points, if any.
        errors: Vec<f64>,
    },
    /// Points of a group.
    Points { name: String, look: usize, points: Vec<(f64, f64)> },
    /// Boxes by their corners x0, y0, x1, y1, in one of two colours.
    Bars { name: String, dark: bool, corners: Vec<[f64; 4]> },
    /// Words at a point, which they are right, left of or above.
    Words { at: (f64, f64), text: String, side: Side },
    /// Unit squares around points in colours of their values.
    Cells { cells: Vec<Cell>, scale: Scale },
    /// A dashed line from bottom to top, with words.
    Rule { x: f64, text: String },
    /// A ring around a point.
    Ring { at: (f64, f64) },
    /// Arrows from 0, with names beyond their tips.
    Arrows { tips: Vec<(f64, f64)>, names: Vec<String> },
}

/// Position of words.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Right,
    Left,
    Above,
}

/// A cell of a heat map.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub at: (usize, usize),
    pub value: f64,
    pub text: String,
    /// It has a frame.
    pub framed: bool,
}

/// Colours of cells, from `low` to `high` at equal steps.
#[derive(Clone, Debug, Serialize)]
pub struct Scale {
    pub name: String,
    pub low: f64,
    pub high: f64,
    pub colours: Vec<Colour>,
}

impl Scale {
    /// From −`limit` to `limit`, or from 0 where nothing is negative.
    pub fn of(name: &str, limit: f64, signed: bool) -> Self {
        let (low, high) = (if signed { -limit } else { 0.0 }, limit);
        Self { name: name.into(), low, high, colours: shades::all(signed) }
    }

    /// Colour of a value.
    pub fn colour(&self, value: f64) -> Colour {
        let steps = (self.colours.len() - 1) as f64;
        let share = (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
        self.colours[(share.clamp(0.0, 1.0) * steps).round() as usize]
    }
}

/// Begin of title and subtitle.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    /// The whole title, if it was given.
    pub title: Option<String>,
    /// The result, in words.
    pub found: String,
    /// Problem, data and λ.
    pub of: String,
}

impl About {
    pub fn task(task: &Task) -> Self {
        let lambda =
            task.lambda.map_or(String::new(), |lambda| format!(", lambda = {}", text::exact(lambda)));
        let of = format!("{}, {}{lambda}", task.problem.name, short_name(&task.data.source));
        Self { title: None, found: task.title.clone(), of }
    }

    /// Title of a picture: its kind, and what was found in words.
    pub fn title(&self, kind: &str) -> String {
        match &self.title {
            Some(title) => title.clone(),
            None if self.found.is_empty() => kind.into(),
            None => format!("{kind}, {}", self.found),
        }
    }

    /// Line below a title.
    pub fn below(&self, remark: &str) -> String {
        if self.of.is_empty() { remark.into() } else { format!("{}: {remark}", self.of) }
    }

    /// A picture of one panel.
    pub fn chart(&self, kind: &str, remark: &str, panel: Panel) -> Chart {
        let (title, subtitle) = (self.title(kind), self.below(remark));
        Chart { title, subtitle, hidden: String::new(), panels: vec![panel], palette: PALETTE }
    }
}

impl Panel {
    pub fn new(x: Axis, y: Axis, marks: Vec<Mark>) -> Self {
        Self { heading: String::new(), x, y, marks, square: false }
    }
}
