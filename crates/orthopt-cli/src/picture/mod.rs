//! Pictures of a result: loadings, scores, variance, eigenvalues. One picture per file; common parts are
//! in [`crate::plot`].

mod biplot;
mod drawing;
mod heat;
pub mod loadings;
pub mod path;
mod scatter;
pub mod scores;
pub mod scree;
pub mod stability;
pub mod variance;

pub use biplot::biplot;

use std::path::Path;

use orthopt::report::Task;
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::text;

/// Text with its left end, middle or right end at a point, centred vertically.
const LEFT: Pos = Pos { h_pos: HPos::Left, v_pos: VPos::Center };
const MIDDLE: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
const RIGHT: Pos = Pos { h_pos: HPos::Right, v_pos: VPos::Center };

/// Two colours that differ in grey too: the first is darker.
const DARK: RGBColor = RGBColor(0, 90, 150);
const LIGHT: RGBColor = RGBColor(245, 180, 90);

/// Title of a picture: its kind, and what was found in words.
pub fn title(kind: &str, task: &Task) -> String {
    format!("{kind}, {}", task.title)
}

/// Line below a title: the problem, the data and λ, and a remark.
pub fn below(task: &Task, remark: &str) -> String {
    let lambda = task.lambda.map_or(String::new(), |lambda| format!(", lambda = {}", text::exact(lambda)));
    format!("{}, {}{lambda}: {remark}", task.problem.name, short_name(&task.data.source))
}

/// A file without its folders; other sources unchanged.
fn short_name(source: &str) -> &str {
    Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or(source)
}

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
