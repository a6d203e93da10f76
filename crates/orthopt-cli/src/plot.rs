//! Plots as SVG: convergence, F against time with one curve per run, and common parts of figures.

mod axis;
mod strokes;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use axis::Axis;
use strokes::Stroke;

/// One run.
#[derive(Clone, Debug)]
pub struct Curve {
    pub label: String,
    /// Seconds and F, in order of time.
    pub points: Vec<(f64, f64)>,
}

/// Size of drawings, twice the displayed size, because plotters rounds to whole units.
pub const SIZE: (u32, u32) = (1600, 1000);
pub const FONT: &str = "sans-serif";
/// Okabe and Ito's colours, which colour-blind readers can distinguish.
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];
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

/// A picture of the size that all have.
///
/// # Errors
/// The drawing fails.
pub fn svg(draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    svg_of(SIZE, draw)
}

/// A picture drawn on `units`, shown with half as many pixels.
///
/// # Errors
/// The drawing fails.
pub fn svg_of(units: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, units).into_drawing_area();
        // closed when all is drawn: panels share one picture
        let drawn = draw(&root).and_then(|()| Ok(root.present()?));
        drawn.map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    }
    let size = |(width, height): (u32, u32)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(for_readers(&svg.replacen(&size(units), &size((units.0 / 2, units.1 / 2)), 1)))
}

/// The picture with its first two texts as title and description for screen readers, and with colours for dark pages.
fn for_readers(svg: &str) -> String {
    let Some((start, rest)) = svg.split_once(">\n") else { return svg.into() };
    let mut texts =
        rest.split("<text ").skip(1).filter_map(|text| Some(text.split_once(">\n")?.1.split_once('\n')?.0));
    let mut named =
        |element: &str| texts.next().map_or(String::new(), |t| format!("<{element}>{t}</{element}>\n"));
    let dark: String = ON_DARK
        .iter()
        .map(|(light, dark)| {
            format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
        })
        .collect();
    let style = format!("<style>@media (prefers-color-scheme:dark){{{dark}}}</style>\n");
    format!("{start} role=\"img\">\n{}{}{style}{rest}", named("title"), named("desc"))
}

/// Draws F of one run, or of several above the lowest F of all, on a logarithmic axis.
///
/// # Errors
/// The drawing fails.
pub fn convergence(title: &str, subtitle: &str, lines: &[Curve]) -> anyhow::Result<String> {
    match above_lowest(lines) {
        Some((above, value)) => {
            let axes = [TIME, "F minus the lowest F"];
            svg(|root| draw(root, title, subtitle, axes, (&above, value)))
        }
        None => curves(title, subtitle, [TIME, "F"], lines),
    }
}

/// Draws curves with named axes, and a legend for several curves.
///
/// # Errors
/// The drawing fails.
pub fn curves(title: &str, subtitle: &str, axes: [&str; 2], lines: &[Curve]) -> anyhow::Result<String> {
    svg(|root| draw(root, title, subtitle, axes, (lines, Axis::of_values(lines))))
}

/// A picture of curves among others.
#[cfg(feature = "papers")]
#[derive(Clone, Debug)]
pub struct Panel {
    pub title: String,
    pub subtitle: String,
    pub axes: [String; 2],
    pub curves: Vec<Curve>,
}

/// Draws several pictures of curves below each other.
///
/// # Errors
/// The drawing fails.
#[cfg(feature = "papers")]
pub fn panels(all: &[Panel]) -> anyhow::Result<String> {
    svg_of((SIZE.0, SIZE.1 * all.len().max(1) as u32), |root| {
        for (area, panel) in root.split_evenly((all.len().max(1), 1)).iter().zip(all) {
            let axes = [panel.axes[0].as_str(), panel.axes[1].as_str()];
            let curves = (&panel.curves[..], Axis::of_values(&panel.curves));
            draw(area, &panel.title, &panel.subtitle, axes, curves)?;
        }
        Ok(())
    })
}

/// Axis of convergence plots.
pub const TIME: &str = "seconds in the solver";

/// Curves above the lowest value of all, which itself lies on the lower end of the axis; empty
/// for one curve, or if all have the same value.
fn above_lowest(lines: &[Curve]) -> Option<(Vec<Curve>, Axis)> {
    let values = || lines.iter().flat_map(|c| &c.points).map(|p| p.1).filter(|f| f.is_finite());
    let lowest = values().fold(f64::INFINITY, f64::min);
    let rounding = 1e-9 * lowest.abs(); // what counts as no decrease
    let above = || values().map(|f| f - lowest).filter(|gap| *gap > rounding);
    let (least, most) = (above().fold(f64::INFINITY, f64::min), above().fold(0.0, f64::max));
    if lines.len() < 2 || most <= 0.0 {
        return None;
    }
    let floor = 0.5 * least;
    let place = |p: &(f64, f64)| (p.0, (p.1 - lowest).max(floor));
    let moved = |c: &Curve| Curve { label: c.label.clone(), points: c.points.iter().map(place).collect() };
    Some((lines.iter().map(moved).collect(), Axis::logarithmic(floor..1.3 * most)))
}

fn draw(
    root: &Area<'_>,
    title: &str,
    subtitle: &str,
    [x, y]: [&str; 2],
    (curves, value): (&[Curve], Axis),
) -> Drawn {
    let below = titled(root, title, subtitle)?;
    let (below, legend) = match curves.len() {
        0 | 1 => (below, None),
        _ => {
            let (left, right) = below.split_horizontally(SIZE.0 as i32 - strokes::legend_width(curves));
            (left, Some(right))
        }
    };

    let time = Axis::of_times(curves);
    let (time_labels, value_labels) = (time.labels(), value.labels());
    let named = |name: &str, axis: &Axis| match axis.log {
        true => format!("{name} (log scale)"),
        false => name.to_string(),
    };
    let (x, y) = (named(x, &time), named(y, &value));
    let mut chart = ChartBuilder::on(&below)
        .margin(24)
        .margin_right(56)
        .x_label_area_size(96)
        .y_label_area_size(70 + 17 * widest(&value.ticks, &value_labels))
        .build_cartesian_2d(time, value)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(2))
        .light_line_style(GRID.stroke_width(1))
        .axis_style(BLACK.stroke_width(2))
        .label_style((FONT, 28))
        .axis_desc_style((FONT, 30))
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&time_labels)
        .y_label_formatter(&value_labels)
        .draw()?;
    for (i, curve) in curves.iter().enumerate() {
        let stroke = Stroke::of(i);
        let line = steps(&curve.points);
        match stroke.dash {
            None => chart.draw_series(LineSeries::new(line, stroke.style()))?,
            Some((on, off)) => chart.draw_series(DashedLineSeries::new(line, on, off, stroke.style()))?,
        };
        if let Some(last) = curve.points.last() {
            chart.plotting_area().draw(&stroke.marker(*last))?;
        }
    }
    if let Some(area) = legend {
        strokes::legend(&area, curves)?;
    }
    Ok(())
}

/// Two lines above; returns the rest.
///
/// # Errors
/// The drawing fails.
pub fn titled<'a>(
    root: &Area<'a>,
    title: &str,
    subtitle: &str,
) -> Result<Area<'a>, Box<dyn std::error::Error>> {
    let centre = Pos::new(HPos::Center, VPos::Center);
    let text = |size: i32| (FONT, size).into_text_style(root).pos(centre);
    let width = root.dim_in_pixel().0;
    let middle = width as i32 / 2;
    root.draw_text(title, &text(fitting(title, 38, width)), (middle, 44))?;
    root.draw_text(subtitle, &text(fitting(subtitle, 28, width)), (middle, 92))?;
    Ok(root.split_vertically(TITLES).1)
}

/// Height of the two lines.
pub const TITLES: u32 = 116;

/// A font size at which `text` fits the width.
fn fitting(text: &str, size: i32, width: u32) -> i32 {
    let room = 1.7 * f64::from(width) / text.chars().count().max(1) as f64;
    size.min(room as i32)
}

fn widest(ticks: &[f64], label: &dyn Fn(&f64) -> String) -> i32 {
    ticks.iter().map(|tick| label(tick).len()).max().unwrap_or(0) as i32
}

/// The curve is a step function, because F is constant between improvements.
fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if let Some(last) = out.last().copied() {
            out.push((point.0, last.1));
        }
        out.push(*point);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(points: Vec<(f64, f64)>) -> String {
        let curve = Curve { label: "obcd".into(), points };
        convergence("title", "subtitle", &[curve]).unwrap()
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
            let svg = picture(points);
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
        let svg = picture(vec![(0.1, 1.0), (9.0, 0.0)]);
        let (head, drawn) = svg.split_once("</style>").unwrap();
        assert!(head.contains(" role=\"img\">\n<title>title</title>\n<desc>subtitle</desc>\n"), "{head}");
        assert!(
            head.contains("(prefers-color-scheme:dark)") && head.contains("[fill=\"#000000\"]{fill:#E6E6E6}")
        );
        assert!(!drawn.contains("height=\"1000\""), "a background hides the page");
        let (fills, strokes) =
            (drawn.matches("fill=\"#000000\"").count(), drawn.matches("stroke=\"#000000\"").count());
        assert!(fills > 3 && strokes > 1, "{fills} {strokes}");
    }

    #[test]
    fn panels_are_one_picture() {
        let curve = |label: &str| Curve { label: label.into(), points: vec![(0.1, 1.0), (9.0, 0.0)] };
        let panel = |title: &str| Panel {
            title: title.into(),
            subtitle: "s".into(),
            axes: ["seconds", "loss"].map(String::from),
            curves: vec![curve("first"), curve("second")],
        };
        let svg = panels(&[panel("above"), panel("below")]).unwrap();
        assert!(
            svg.starts_with("<svg width=\"800\" height=\"1000\" viewBox=\"0 0 1600 2000\""),
            "{}",
            &svg[..80]
        );
        assert_eq!(svg.matches("</svg>").count(), 1);
        assert!(svg.contains("above") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.find("below").unwrap() > svg.find("above").unwrap());
    }

    #[test]
    fn several_curves_get_a_legend() {
        let curve = |label: &str| Curve { label: label.into(), points: vec![(0.1, 1.0), (9.0, 0.0)] };
        let svg = convergence("t", "s", &[curve("first"), curve("second")]).unwrap();
        assert!(svg.contains("first") && svg.contains("second"));
        assert!(svg.contains("F minus the lowest F (log scale)"), "{svg}");
        // the same F: nothing to tell apart
        let svg = convergence("t", "s", &[curve("first"), curve("first")]).unwrap();
        assert!(svg.contains("log scale"));
        let flat = |label: &str| Curve { label: label.into(), points: vec![(0.1, 1.0), (9.0, 1.0)] };
        assert!(!convergence("t", "s", &[flat("a"), flat("b")]).unwrap().contains("lowest"));
    }

    #[test]
    fn many_curves_differ_without_colour() {
        let looks = |i: usize| (Stroke::of(i).dash, Stroke::of(i).shape);
        let all: std::collections::BTreeSet<_> = (0..16).map(looks).collect();
        assert_eq!(all.len(), 16);
    }
}
