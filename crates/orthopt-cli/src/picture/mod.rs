//! Pictures of a result: loadings, scores, variance, eigenvalues. One picture per file; common parts are
//! in [`crate::plot`].

mod biplot;
mod heat;
pub mod loadings;
pub mod path;
mod scatter;
pub mod scores;
pub mod scree;
pub mod stability;
pub mod variance;

pub use biplot::biplot;

use plotters::prelude::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Text with its left end, middle or right end at a point, centred vertically.
const LEFT: Pos = Pos { h_pos: HPos::Left, v_pos: VPos::Center };
const MIDDLE: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
const RIGHT: Pos = Pos { h_pos: HPos::Right, v_pos: VPos::Center };

/// Two colours that differ in grey too: the first is darker.
const DARK: RGBColor = RGBColor(0, 90, 150);
const LIGHT: RGBColor = RGBColor(245, 180, 90);

/// `name`, cut to `most` characters.
fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.into();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A number of units as the backend counts.
fn units(x: f64) -> i32 {
    x.round() as i32
}

/// Units that a text of this size takes, roughly.
fn width_of(text: &str, size: i32) -> i32 {
    units(0.56 * f64::from(size) * text.chars().count() as f64)
}
