//! Plots as SVG: convergence, F against time with one curve per run, and what other figures share.

use std::ops::Range;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// One run.
#[derive(Clone, Debug)]
pub struct Curve {
    pub label: String,
    /// Seconds and F, in order of time.
    pub points: Vec<(f64, f64)>,
}

/// Drawn at twice the size it is shown at: plotters rounds to whole units.
pub const SIZE: (u32, u32) = (1600, 1000);
pub const FONT: &str = "sans-serif";
/// Okabe and Ito's colours, told apart by colour-blind readers too.
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];
pub const GRID: RGBColor = RGBColor(222, 222, 222);
/// From this ratio of times on, the time axis is logarithmic.
const LOG_FROM: f64 = 20.0;

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A picture of the size that all have.
///
/// # Errors
/// The drawing fails.
pub fn svg(draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    svg_of(SIZE, draw)
}

/// A picture that is drawn on so many units, shown at half as many pixels.
///
/// # Errors
/// The drawing fails.
pub fn svg_of(units: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, units).into_drawing_area();
        draw(&root).map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    }
    let size = |(width, height): (u32, u32)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(svg.replacen(&size(units), &size((units.0 / 2, units.1 / 2)), 1))
}

/// Draws the curves; a legend appears when there are several.
///
/// # Errors
/// The drawing fails.
pub fn convergence(title: &str, subtitle: &str, lines: &[Curve]) -> anyhow::Result<String> {
    curves(title, subtitle, ["seconds in the solver", "F"], lines)
}

/// The same with other names of the axes.
///
/// # Errors
/// The drawing fails.
pub fn curves(title: &str, subtitle: &str, axes: [&str; 2], lines: &[Curve]) -> anyhow::Result<String> {
    svg(|root| draw(root, title, subtitle, axes, lines))
}

fn draw(root: &Area<'_>, title: &str, subtitle: &str, [x, y]: [&str; 2], curves: &[Curve]) -> Drawn {
    let below = titled(root, title, subtitle)?;

    let (time, value) = (Axis::of_times(curves), Axis::of_values(curves));
    let (time_labels, value_labels) = (time.labels(), value.labels());
    let seconds = if time.log { format!("{x} (log scale)") } else { x.into() };
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
        .x_desc(seconds)
        .y_desc(y)
        .x_label_formatter(&time_labels)
        .y_label_formatter(&value_labels)
        .draw()?;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let style = colour.stroke_width(4);
        let line = chart.draw_series(LineSeries::new(steps(&curve.points), style))?;
        if curves.len() > 1 {
            line.label(&curve.label).legend(move |(x, y)| PathElement::new([(x, y), (x + 40, y)], style));
        }
        let last = curve.points.last().copied();
        chart.draw_series(last.map(|point| Circle::new(point, 8, colour.filled())))?;
    }
    if curves.len() > 1 {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .legend_area_size(48)
            .label_font((FONT, 28))
            .background_style(WHITE.mix(0.9))
            .border_style(GRID)
            .draw()?;
    }
    Ok(root.present()?)
}

/// White, with two lines above; returns the rest.
///
/// # Errors
/// The drawing fails.
pub fn titled<'a>(
    root: &Area<'a>,
    title: &str,
    subtitle: &str,
) -> Result<Area<'a>, Box<dyn std::error::Error>> {
    root.fill(&WHITE)?;
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

/// F holds until it is known to be lower, so the curve goes in steps.
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

/// A linear or logarithmic axis with its ticks.
#[derive(Clone, Debug)]
pub struct Axis {
    range: Range<f64>,
    log: bool,
    pub ticks: Vec<f64>,
    minor: Vec<f64>,
    step: f64, // between ticks, where linear
}

impl Axis {
    /// All times. The first point of a run is its start; only then does time pass.
    fn of_times(curves: &[Curve]) -> Self {
        let all = || curves.iter().flat_map(|c| &c.points).map(|p| p.0).filter(|t| *t > 0.0);
        let (first, last) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        if first >= last {
            let only = if last > 0.0 { last } else { 1.0 };
            return Self::linear(0.0..1.1 * only);
        }
        if last / first >= LOG_FROM {
            Self::logarithmic(first..1.1 * last)
        } else {
            Self::linear(0.0..1.05 * last)
        }
    }

    fn of_values(curves: &[Curve]) -> Self {
        let all = || curves.iter().flat_map(|c| &c.points).map(|p| p.1).filter(|f| f.is_finite());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return Self::linear(0.0..1.0); // nothing finite
        }
        let least = 1e-6 * low.abs().max(high.abs()); // a flat curve needs room too
        let room = 0.05 * (high - low).max(least).max(1e-300);
        Self::linear(low - room..high + room)
    }

    /// With about seven ticks at round numbers.
    pub fn linear(range: Range<f64>) -> Self {
        let rough = (range.end - range.start) / 7.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let first = (range.start / step).ceil();
        let count = ((range.end / step).floor() - first).clamp(0.0, 20.0) as i32;
        let ticks = (0..=count).map(|k| (first + f64::from(k)) * step).collect();
        Self { range, log: false, ticks, minor: Vec::new(), step }
    }

    fn logarithmic(range: Range<f64>) -> Self {
        let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
        let within = |values: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|d| values.iter().map(move |m| m * 10f64.powi(d)));
            all.filter(|v| range.contains(v)).collect()
        };
        let tens = within(&[1.0]);
        let ticks = if tens.len() >= 3 { tens } else { within(&[1.0, 2.0, 5.0]) };
        Self { log: true, ticks, minor: within(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]), step: 0.0, range }
    }

    /// Labels with as many digits as tell neighbours apart.
    pub fn labels(&self) -> impl Fn(&f64) -> String + use<> {
        let largest = self.ticks.iter().fold(0.0, |a: f64, t| a.max(t.abs()));
        let (log, step) = (self.log, self.step);
        move |value| {
            if log {
                return format!("{}", crate::text::rounded(*value, 3));
            }
            if *value == 0.0 || step <= 0.0 {
                return "0".into();
            }
            if (1e-4..1e6).contains(&largest) {
                let decimals = (-step.log10().floor()).max(0.0) as usize;
                return format!("{value:.decimals$}");
            }
            let digits = (largest / step).log10().ceil().clamp(0.0, 12.0) as usize;
            format!("{value:.digits$e}")
        }
    }

    /// 0 at the lower end, 1 at the upper one.
    pub fn place(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        if self.log {
            (value.max(start) / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = self.place(*value).clamp(-1.0, 2.0);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { self.minor.clone() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
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
    fn several_curves_get_a_legend() {
        let curve = |label: &str| Curve { label: label.into(), points: vec![(0.1, 1.0), (9.0, 0.0)] };
        let svg = convergence("t", "s", &[curve("first"), curve("second")]).unwrap();
        assert!(svg.contains("first") && svg.contains("second"));
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Axis::linear(-0.3..4.1).ticks, [0.0, 1.0, 2.0, 3.0, 4.0]);
        let axis = Axis::logarithmic(3e-4..2.0);
        assert_eq!(axis.ticks.len(), 4);
        assert_eq!((axis.labels())(&axis.ticks[0]), "0.001");
    }
}
