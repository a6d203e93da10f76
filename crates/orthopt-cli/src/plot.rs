//! Pictures as SVG.

mod paint;
mod strokes;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::picture::chart::{Chart, Colour, PALETTE};

/// Width of a picture and size of its letters in pixels. Drawings have twice as many units, because plotters rounds to whole ones.
#[derive(Clone, Copy, Debug)]
pub struct PictureSize {
    pub width: u32,
    pub font: u32,
}

impl Default for PictureSize {
    fn default() -> Self {
        Self { width: 800, font: 14 }
    }
}

/// Size of drawings that no description has.
#[cfg(feature = "papers")]
const SIZE: (u32, u32) = (1600, 1000);
pub const FONT: &str = "sans-serif";
/// Colours of curves.
pub const COLOURS: [RGBColor; 6] = {
    let (mut colours, mut k) = ([BLACK; 6], 0);
    while k < 6 {
        colours[k] = rgb(PALETTE.curves[k]);
        k += 1;
    }
    colours
};

const fn rgb((r, g, b): Colour) -> RGBColor {
    RGBColor(r, g, b)
}

pub const GRID: RGBColor = RGBColor(222, 222, 222);
/// Words and frames on coloured cells: dark and light on any page, unlike black and white.
pub const INK: RGBColor = RGBColor(26, 26, 26);
pub const PALE: RGBColor = RGBColor(254, 254, 254);
/// Colours of a light page, and those in their place on a dark one: words and lines, what lies behind words, the grid, greys,
/// and blues that are too dark.
const ON_DARK: [(&str, &str); 7] = [
    ("#000000", "#E6E6E6"),
    ("#FFFFFF", "#16181B"),
    ("#DEDEDE", "#43474D"),
    ("#6E6E6E", "#A0A4AA"),
    ("#787878", "#A0A4AA"),
    ("#0072B2", "#4AA3DF"),
    ("#005A96", "#4AA3DF"),
];

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The picture of a description.
///
/// # Errors
/// The drawing fails.
pub fn picture(chart: &Chart, look: PictureSize) -> anyhow::Result<String> {
    let drawn = svg_of(paint::size(chart, look), |root| paint::paint(root, chart, look))?;
    Ok(for_readers(&drawn, Some((&chart.title, &chart.subtitle))))
}

/// A picture of the usual size.
///
/// # Errors
/// The drawing fails.
#[cfg(feature = "papers")]
pub fn svg(draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    Ok(for_readers(&svg_of(SIZE, draw)?, None))
}

/// A picture drawn on `units`, shown with half as many pixels.
///
/// # Errors
/// The drawing fails.
fn svg_of(units: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, units).into_drawing_area();
        // closed when all is drawn: panels share one picture
        let drawn = draw(&root).and_then(|()| Ok(root.present()?));
        drawn.map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    }
    let size = |(width, height): (u32, u32)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(svg.replacen(&size(units), &size((units.0 / 2, units.1 / 2)), 1))
}

/// The picture with title and description for screen readers, which are its first two texts where none are given, and with colours
/// for dark pages.
fn for_readers(svg: &str, given: Option<(&str, &str)>) -> String {
    let Some((start, rest)) = svg.split_once(">\n") else { return svg.into() };
    let texts =
        rest.split("<text ").skip(1).filter_map(|text| Some(text.split_once(">\n")?.1.split_once('\n')?.0));
    let escaped = |text: &str| maud::html! { (text) }.into_string();
    let words: Vec<String> = match given {
        Some((title, description)) => vec![escaped(title), escaped(description)],
        None => texts.take(2).map(String::from).collect(),
    };
    let words: String =
        ["title", "desc"].iter().zip(words).map(|(e, t)| format!("<{e}>{t}</{e}>\n")).collect();
    let dark: String = ON_DARK
        .iter()
        .map(|(light, dark)| {
            format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
        })
        .collect();
    let style = format!("<style>@media (prefers-color-scheme:dark){{{dark}}}</style>\n");
    format!("{start} role=\"img\">\n{words}{style}{rest}")
}

/// Pictures below each other as one.
///
/// # Errors
/// The drawing fails.
#[cfg(feature = "papers")]
pub fn stacked(all: &[Chart]) -> anyhow::Result<String> {
    let look = PictureSize::default();
    let sizes = || all.iter().map(|chart| paint::size(chart, look));
    let (wide, high) = (sizes().map(|size| size.0).max().unwrap_or(0), sizes().map(|size| size.1).sum());
    let drawn = svg_of((wide, high), |root| {
        let mut rest = root.clone();
        for (chart, (_, high)) in all.iter().zip(sizes()) {
            let (area, below) = rest.split_vertically(high);
            paint::paint(&area, chart, look)?;
            rest = below;
        }
        Ok(())
    })?;
    Ok(for_readers(&drawn, None))
}

/// Title and lines of the subtitle, as large as they fit.
fn titles(root: &Area<'_>, title: &str, subtitle: &[String], look: PictureSize) -> Drawn {
    let centre = Pos::new(HPos::Center, VPos::Center);
    let text = |size: i32| (FONT, size).into_text_style(root).pos(centre);
    let (width, font) = (root.dim_in_pixel().0, 2 * look.font as i32);
    let (middle, large) = (width as i32 / 2, font * 19 / 14);
    root.draw_text(title, &text(fitting(title, large, width)), (middle, font * 22 / 14))?;
    for (k, line) in subtitle.iter().enumerate() {
        root.draw_text(
            line,
            &text(fitting(line, font, width)),
            (middle, font * (46 + LINE * k as i32) / 14),
        )?;
    }
    Ok(())
}

/// Fourteen times the distance of two lines over the size of letters.
const LINE: i32 = 18;

/// Letters of this size that a line has room for.
fn letters(size: i32, width: u32) -> f64 {
    1.7 * f64::from(width) / f64::from(size)
}

/// A font size at which `text` fits the width.
fn fitting(text: &str, size: i32, width: u32) -> i32 {
    let room = letters(text.chars().count().max(1) as i32, width);
    size.min(room as i32).max(8)
}

#[cfg(test)]
mod tests {
    use super::strokes::Stroke;
    use super::*;
    use crate::picture::curves::{Convergence, Curve};

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let runs = vec![Curve { label: "obcd".into(), points }];
        let remark = "subtitle".into();
        let about = crate::picture::chart::About { title: Some("title".into()), ..Default::default() };
        Convergence { about, runs, remark, ..Default::default() }.chart()
    }

    fn drawn(points: Vec<(f64, f64)>) -> String {
        picture(&chart(points), PictureSize::default()).unwrap()
    }

    #[test]
    fn draws_whatever_a_run_can_give() {
        for points in [
            vec![],
            vec![(0.0, 1.0)],
            vec![(1e-6, -3.0), (2e-6, -3.0)],
            vec![(1e-6, 5e12), (1e-3, 0.0), (1e3, -7e12)],
            vec![(1e-5, 1e-9), (2.0, -1e-9)],
            vec![(0.1, f64::INFINITY), (0.2, f64::NAN)],
            vec![(0.1, 0.0), (0.2, 0.0)],
        ] {
            let svg = drawn(points);
            assert!(
                svg.starts_with("<svg width=\"800\" height=\"500\" viewBox=\"0 0 1600 1000\""),
                "{}",
                &svg[..80]
            );
            assert!(svg.trim_end().ends_with("</svg>"));
            assert!(svg.contains("subtitle") && !svg.contains("NaN"));
        }
    }

    #[test]
    fn pictures_say_what_they_are_and_suit_dark_pages() {
        let svg = drawn(vec![(0.1, 1.0), (9.0, 0.0)]);
        let (head, drawn) = svg.split_once("</style>").unwrap();
        assert!(head.contains(" role=\"img\">\n<title>title</title>\n<desc>subtitle</desc>\n"), "{head}");
        assert!(
            head.contains("(prefers-color-scheme:dark)") && head.contains("[fill=\"#000000\"]{fill:#E6E6E6}")
        );
        assert!(!drawn.contains("height=\"1000\""), "a background hides the page");
        let (fills, strokes) =
            (drawn.matches("fill=\"#000000\"").count(), drawn.matches("stroke=\"#000000\"").count());
        assert!(fills > 3 && strokes >= 1, "{fills} {strokes}");
    }

    #[test]
    fn width_and_letters_are_those_that_are_asked_for() {
        let chart = chart(vec![(0.1, 1.0), (9.0, 0.0)]);
        let small = picture(&chart, PictureSize { width: 400, font: 10 }).unwrap();
        assert!(small.starts_with("<svg width=\"400\" height=\"250\" viewBox=\"0 0 800 500\""));
        let letters =
            |svg: &str, size: u32| svg.contains(&format!("font-size=\"{}\"", f64::from(size) / 1.24));
        let large = picture(&chart, PictureSize { width: 400, font: 20 }).unwrap();
        assert!(letters(&small, 20) && !letters(&small, 40) && letters(&large, 40), "{small} {large}");
    }

    #[cfg(feature = "papers")]
    #[test]
    fn pictures_below_each_other_are_one() {
        let all = [chart(vec![(0.1, 1.0), (9.0, 0.0)]), chart(vec![(0.1, 2.0), (9.0, 0.0)])];
        let svg = stacked(&all).unwrap();
        assert!(svg.starts_with("<svg width=\"800\" height=\"1000\" viewBox=\"0 0 1600 2000\""));
        assert_eq!(svg.matches("</svg>").count(), 1);
    }

    #[test]
    fn many_curves_differ_without_colour() {
        let looks = |i: usize| (Stroke::of(i).dash, Stroke::of(i).shape);
        let all: std::collections::BTreeSet<_> = (0..16).map(looks).collect();
        assert_eq!(all.len(), 16);
    }
}
