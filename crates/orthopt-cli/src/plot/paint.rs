//! Draws the description of a picture.

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::strokes::Stroke;
use super::{Area, COLOURS, Drawn, FONT, GRID, INK, LINE, PALE, PictureSize, letters, rgb};
use crate::picture::axis::Axis;
use crate::picture::chart::{Chart, Colour, Mark, PALETTE, Panel, Scale, Side};
use crate::picture::{cut, place};
use crate::text::filled;

/// Text with its left end, middle or right end at a point, centred vertically.
const LEFT: Pos = Pos { h_pos: HPos::Left, v_pos: VPos::Center };
const MIDDLE: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
const RIGHT: Pos = Pos { h_pos: HPos::Right, v_pos: VPos::Center };
const GREY: RGBColor = RGBColor(120, 120, 120);
const LEADER: RGBColor = RGBColor(110, 110, 110);
/// A subtitle that is longer than the room by less is written smaller.
const SHRUNK: f64 = 1.2;
/// Height of the frame of a narrow picture, in letters: room for the name of axis y.
const FRAME: f64 = 16.0;
/// A picture of less width, in letters, is narrow: its legend is above.
const NARROW: f64 = 40.0;
/// Share of the width that a legend beside the picture has at most.
const BESIDE: f64 = 0.4;

type Point = (i32, i32);

/// A number of units as the backend counts.
fn units(x: f64) -> i32 {
    x.clamp(-1e8, 1e8).round() as i32
}

/// Units that a text of this size takes, roughly.
fn width_of(text: &str, size: i32) -> i32 {
    units(0.56 * f64::from(size) * text.chars().count() as f64)
}

/// Sizes in units of the picture, all from the size of its letters.
#[derive(Clone, Copy)]
struct Sizes(i32);

impl Sizes {
    /// A share of the size of letters.
    fn of(self, share: f64) -> i32 {
        units(share * f64::from(self.0))
    }

    /// Height of title and subtitle in a picture of this width.
    fn titles(self, chart: &Chart, wide: i32) -> i32 {
        let lines = self.subtitle(chart, wide).len() as i32;
        self.of(4.15) + (lines - 1).max(0) * LINE * self.0 / 14
    }

    /// Lines of the subtitle.
    fn subtitle(self, chart: &Chart, wide: i32) -> Vec<String> {
        let room = letters(self.0, wide as u32);
        // a little smaller rather than a second line
        let fits = chart.subtitle.chars().count() as f64 <= SHRUNK * room;
        filled(&chart.subtitle, if fits { usize::MAX } else { room as usize })
    }

    /// Height of a line of bars or of cells.
    fn row(self, panel: &Panel) -> i32 {
        let cells = panel.marks.iter().any(|mark| matches!(mark, Mark::Cells { .. }));
        self.of(if cells { 1.3 } else { 1.55 })
    }

    /// Width of an entry of a legend.
    fn entry(self, name: &str) -> i32 {
        width_of(name, self.0) + self.of(5.2)
    }

    /// Smallest width of a panel.
    fn column(self, panel: &Panel) -> i32 {
        match panel.x.names.len() {
            0 => self.of(8.2),
            columns => columns as i32 * self.of(4.7),
        }
    }
}

/// Width and height in units: what was asked for, and as many lines of names and panels as there are.
/// Both are even, so that the picture has a whole number of pixels.
pub fn size(chart: &Chart, look: PictureSize) -> (u32, u32) {
    let (sizes, wide) = (Sizes(2 * look.font as i32), 2 * look.width as i32);
    let Some(first) = chart.panels.first() else { return even(wide, wide / 2) };
    if first.y.names.is_empty() {
        let usual = units(if first.square { 0.85 } else { 0.625 } * f64::from(wide));
        if wide >= sizes.of(NARROW) {
            return even(wide, usual);
        }
        // a frame of its own height below the lines above it
        let around = Layout::around(chart, sizes, (wide, 0));
        let frame = if first.square { around.right - around.left } else { sizes.of(FRAME) };
        return even(wide, around.top + frame - around.bottom);
    }
    let frame = Layout::around(chart, sizes, (wide, 0));
    let least = chart.panels.iter().map(|panel| sizes.column(panel)).sum::<i32>();
    let wide = wide.max(frame.left + least + (wide - frame.right));
    let rows = first.y.names.len().max(1) as i32 * sizes.row(first);
    even(wide, frame.top + rows - frame.bottom) // the layout has a height of 0
}

fn even(wide: i32, high: i32) -> (u32, u32) {
    ((wide as u32).next_multiple_of(2), (high as u32).next_multiple_of(2))
}

/// The frame of all panels.
struct Layout {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
    legend: Legend,
}

/// Position of the legend.
#[derive(PartialEq)]
enum Legend {
    None,
    /// In so many rows.
    Above(i32),
    Beside,
}

impl Layout {
    fn around(chart: &Chart, sizes: Sizes, (wide, high): (i32, i32)) -> Self {
        let Some(first) = chart.panels.first() else {
            return Self {
                left: 0,
                top: sizes.titles(chart, wide),
                right: wide,
                bottom: high,
                legend: Legend::None,
            };
        };
        let ticks = labels(&first.y).into_iter().map(|label| width_of(&label.1, sizes.0)).max().unwrap_or(0);
        let name = if first.y.name.is_empty() { sizes.of(0.6) } else { sizes.of(2.2) };
        let left = name + ticks + sizes.of(1.0);
        let scale = scale(first);
        let beside = if scale.is_some() { sizes.of(5.5) } else { sizes.of(1.5) };
        let headings = first.x.names.iter().any(|_| first.y.names.len() > 1 && scale.is_some())
            || chart.panels.iter().any(|panel| !panel.heading.is_empty());
        let mut top = sizes.titles(chart, wide) + sizes.of(if headings { 2.0 } else { 0.7 });
        let named: Vec<&str> = entries(first).into_iter().map(|(_, name)| name).collect();
        let widths = named.iter().map(|name| sizes.entry(name));
        let mut right = wide - beside;
        let (mut rows, mut x) = (1, left);
        for width in widths.clone() {
            if x > left && x + width > right {
                (rows, x) = (rows + 1, left);
            }
            x += width;
        }
        let legend = match () {
            () if named.is_empty() => Legend::None,
            () if rows == 1 || wide < sizes.of(NARROW) => Legend::Above(rows),
            () => Legend::Beside,
        };
        match legend {
            Legend::None => {}
            Legend::Above(rows) => top += rows * sizes.of(ROW),
            Legend::Beside => right -= widths.max().unwrap_or(0).min(units(BESIDE * f64::from(wide))),
        }
        let under = if scale.is_some() { 2.2 } else { 3.9 };
        Self { left, top, right, bottom: high - sizes.of(under), legend }
    }
}

/// Marks that the legend names, curves without a colour last.
fn entries(panel: &Panel) -> Vec<(&Mark, &str)> {
    fn named(mark: &Mark) -> Option<&str> {
        match mark {
            Mark::Line { name, .. } | Mark::Points { name, .. } | Mark::Bars { name, .. } => {
                (!name.is_empty()).then_some(name)
            }
            _ => None,
        }
    }
    let mut all: Vec<(&Mark, &str)> =
        panel.marks.iter().filter_map(|mark| Some((mark, named(mark)?))).collect();
    all.sort_by_key(|(mark, _)| matches!(mark, Mark::Line { look: None, .. }));
    all
}

/// The colours of cells, where there are any.
fn scale(panel: &Panel) -> Option<&Scale> {
    panel.marks.iter().find_map(|mark| if let Mark::Cells { scale, .. } = mark { Some(scale) } else { None })
}

/// Ticks with what is written at them.
fn labels(axis: &Axis) -> Vec<(f64, String)> {
    let number = axis.labels();
    let label =
        |(k, tick): (usize, &f64)| (*tick, axis.names.get(k).cloned().unwrap_or_else(|| number(tick)));
    axis.ticks.iter().enumerate().map(label).collect()
}

/// Draws the picture on all of `area`.
///
/// # Errors
/// The drawing fails.
pub fn paint(area: &Area<'_>, chart: &Chart, look: PictureSize) -> Drawn {
    let (wide, high) = area.dim_in_pixel();
    let sizes = Sizes(2 * look.font as i32);
    super::titles(area, &chart.title, &sizes.subtitle(chart, wide as i32), look)?;
    let layout = Layout::around(chart, sizes, (wide as i32, high as i32));
    let spare = match chart.panels.first() {
        Some(first) if first.square => layout.right - layout.left - (layout.bottom - layout.top),
        _ => 0,
    };
    let area = &area.clone().shrink((spare.max(0) / 2, 0), (wide, high));
    let count = chart.panels.len().max(1) as i32;
    let (step, gap) = ((layout.right - layout.left) / count, if count > 1 { sizes.of(0.3) } else { 0 });
    for (k, panel) in chart.panels.iter().enumerate() {
        let left = layout.left + k as i32 * step;
        let mut frame = [(left + gap, layout.top), (left + step - gap, layout.bottom)];
        if panel.square {
            let side = (frame[1].0 - frame[0].0).min(frame[1].1 - frame[0].1);
            frame = [frame[0], (frame[0].0 + side, frame[0].1 + side)];
        }
        Painter { area, sizes, panel, frame }.draw(k == 0)?;
    }
    if let Some(first) = chart.panels.first() {
        legend(area, sizes, first, &layout)?;
        let middle = (layout.left + layout.right) / 2;
        let under = layout.bottom + sizes.of(if scale(first).is_some() { 1.2 } else { 2.8 });
        // one name below all panels
        let middle = if first.square { layout.left + (layout.bottom - layout.top) / 2 } else { middle };
        area.draw_text(&first.x.name, &style(area, sizes.of(1.07)).pos(MIDDLE), (middle, under))?;
    }
    Ok(())
}

fn style<'a>(area: &Area<'_>, size: i32) -> TextStyle<'a> {
    (FONT, size).into_text_style(area)
}

/// One panel.
struct Painter<'a, 'b> {
    area: &'a Area<'b>,
    sizes: Sizes,
    panel: &'a Panel,
    frame: [Point; 2],
}

impl Painter<'_, '_> {
    fn x(&self, value: f64) -> i32 {
        let [(left, _), (right, _)] = self.frame;
        left + units(self.panel.x.place(value).clamp(-1.0, 2.0) * f64::from(right - left))
    }

    /// Names go down, numbers up.
    fn y(&self, value: f64) -> i32 {
        let [(_, top), (_, bottom)] = self.frame;
        let share = self.panel.y.place(value).clamp(-1.0, 2.0) * f64::from(bottom - top);
        if self.panel.y.names.is_empty() { bottom - units(share) } else { top + units(share) }
    }

    fn at(&self, (x, y): (f64, f64)) -> Point {
        (self.x(x), self.y(y))
    }

    fn text(&self, words: &str, size: i32, pos: Pos, at: Point) -> Drawn {
        Ok(self.area.draw_text(words, &style(self.area, size).pos(pos), at)?)
    }

    fn line(&self, points: &[Point], style: ShapeStyle) -> Drawn {
        Ok(self.area.draw(&PathElement::new(points.to_vec(), style))?)
    }

    /// The panel; the first one has the names of axis y.
    fn draw(&self, first: bool) -> Drawn {
        self.grid()?;
        if first {
            self.left_axis()?;
        }
        self.bottom_axis()?;
        self.panel.marks.iter().try_for_each(|mark| self.mark(mark))?;
        let frame = if self.panel.y.names.is_empty() { BLACK } else { GRID };
        Ok(self.area.draw(&Rectangle::new(self.frame, frame.stroke_width(2)))?)
    }

    fn grid(&self) -> Drawn {
        let [(left, top), (right, bottom)] = self.frame;
        let (x, y) = (&self.panel.x, &self.panel.y);
        let across = |value: f64| [(left, self.y(value)), (right, self.y(value))];
        let up = |value: f64| [(self.x(value), top), (self.x(value), bottom)];
        if y.names.is_empty() {
            y.minor.iter().try_for_each(|tick| self.line(&across(*tick), GRID.stroke_width(1)))?;
            y.ticks.iter().try_for_each(|tick| self.line(&across(*tick), GRID.stroke_width(2)))?;
        }
        if x.names.is_empty() && y.names.is_empty() {
            x.minor.iter().try_for_each(|tick| self.line(&up(*tick), GRID.stroke_width(1)))?;
            x.ticks.iter().try_for_each(|tick| self.line(&up(*tick), GRID.stroke_width(2)))?;
        }
        // 0 of both axes where numbers have both signs
        let inside = |axis: &Axis| !axis.log && axis.names.is_empty() && axis.range.start < 0.0;
        if inside(x) && axis_has_zero(x) {
            self.line(&up(0.0), GREY.stroke_width(2))?;
        }
        if inside(y) && axis_has_zero(y) {
            self.line(&across(0.0), GREY.stroke_width(2))?;
        }
        Ok(())
    }

    fn left_axis(&self) -> Drawn {
        let (sizes, [(left, top), (_, bottom)]) = (self.sizes, self.frame);
        for (tick, label) in labels(&self.panel.y) {
            self.text(&label, sizes.0, RIGHT, (left - sizes.of(0.5), self.y(tick)))?;
        }
        let upright = style(self.area, sizes.of(1.07)).transform(FontTransform::Rotate270).pos(MIDDLE);
        Ok(self.area.draw_text(&self.panel.y.name, &upright, (sizes.of(1.2), (top + bottom) / 2))?)
    }

    fn bottom_axis(&self) -> Drawn {
        let (sizes, [(left, top), (right, bottom)]) = (self.sizes, self.frame);
        let heading = self.panel.heading.as_str();
        if !heading.is_empty() {
            self.text(
                &self.fitting(heading, right - left),
                sizes.0,
                MIDDLE,
                ((left + right) / 2, top - sizes.of(0.95)),
            )?;
        }
        let above = scale(self.panel).is_some();
        let ticks = labels(&self.panel.x);
        let room = (right - left) / ticks.len().max(1) as i32;
        for (tick, label) in ticks {
            let y = if above { top - sizes.of(0.95) } else { bottom + sizes.of(0.95) };
            let label = if above { self.fitting(&label, room) } else { label };
            self.text(&label, sizes.of(0.95), MIDDLE, (self.x(tick), y))?;
        }
        Ok(())
    }

    /// Words without the remark in parentheses where there is no room for it.
    fn fitting(&self, words: &str, room: i32) -> String {
        let short = || words.split(" (").next().unwrap_or_default().to_string();
        if width_of(words, self.sizes.0) <= room { words.into() } else { short() }
    }

    fn mark(&self, mark: &Mark) -> Drawn {
        match mark {
            Mark::Line { look, points, steps, dots, errors, .. } => {
                self.curve(*look, points, (*steps, *dots), errors)
            }
            Mark::Points { look, points, .. } => {
                let size = self.sizes.of(if points.len() > 1500 { 0.18 } else { 0.28 });
                points.iter().try_for_each(|point| dot(self.area, self.at(*point), *look, size))
            }
            Mark::Bars { dark, corners, .. } => corners.iter().try_for_each(|[x0, y0, x1, y1]| {
                bar(self.area, [self.at((*x0, *y0)), self.at((*x1, *y1))], *dark)
            }),
            Mark::Words { at, text, side } => {
                let (x, y) = self.at(*at);
                let gap = self.sizes.of(0.3);
                let (pos, place) = match side {
                    Side::Right => (LEFT, (x + gap, y)),
                    Side::Left => (RIGHT, (x - gap, y)),
                    Side::Above => (MIDDLE, (x, y - self.sizes.of(0.6))),
                };
                self.text(text, self.sizes.of(0.8), pos, place)
            }
            Mark::Cells { cells, scale } => {
                for cell in cells {
                    self.cell(
                        (cell.at.0 as f64, cell.at.1 as f64),
                        cell.value,
                        scale,
                        &cell.text,
                        cell.framed,
                    )?;
                }
                self.colour_bar(scale)
            }
            Mark::Rule { x, text } => {
                let [(_, top), (_, bottom)] = self.frame;
                let x = self.x(*x);
                for y in (top..bottom).step_by(24) {
                    self.line(&[(x, y), (x, (y + 12).min(bottom))], BLACK.stroke_width(2))?;
                }
                // on the side that has room
                let (wide, gap) = (width_of(text, self.sizes.0), self.sizes.of(0.4));
                let right = x + gap + wide < self.frame[1].0;
                let (pos, x) = if right { (LEFT, x + gap) } else { (RIGHT, x - gap) };
                self.text(text, self.sizes.0, pos, (x, top + self.sizes.0))
            }
            Mark::Ring { at } => {
                Ok(self.area.draw(&Circle::new(self.at(*at), self.sizes.of(0.7), BLACK.stroke_width(4)))?)
            }
            Mark::Arrows { tips, names } => self.arrows(tips, names),
        }
    }

    fn curve(
        &self,
        look: Option<usize>,
        points: &[(f64, f64)],
        (steps, dots): (bool, bool),
        errors: &[f64],
    ) -> Drawn {
        let finite: Vec<(f64, f64)> =
            points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
        let line: Vec<Point> =
            (if steps { stairs(&finite) } else { finite.clone() }).into_iter().map(|p| self.at(p)).collect();
        let Some(look) = look else {
            return self.line(&line, GREY.stroke_width(1));
        };
        let stroke = Stroke::of(look);
        dashed(self.area, &line, &stroke)?;
        for (point, error) in finite.iter().zip(errors) {
            let (low, high) = (self.at((point.0, point.1 - error)), self.at((point.0, point.1 + error)));
            let cap = self.sizes.of(0.25);
            self.line(&[low, high], stroke.style())?;
            for end in [low, high] {
                self.line(&[(end.0 - cap, end.1), (end.0 + cap, end.1)], stroke.style())?;
            }
        }
        let first = if dots { 0 } else { finite.len().saturating_sub(1) };
        finite[first.min(finite.len())..]
            .iter()
            .try_for_each(|p| Ok(self.area.draw(&stroke.marker(self.at(*p)))?))
    }

    fn cell(&self, (x, y): (f64, f64), value: f64, scale: &Scale, text: &str, framed: bool) -> Drawn {
        let corners = [self.at((x - 0.5, y - 0.5)), self.at((x + 0.5, y + 0.5))];
        let colour = scale.colour(value);
        self.area.draw(&Rectangle::new(corners, rgb(colour).filled()))?;
        self.area.draw(&Rectangle::new(corners, GRID.stroke_width(1)))?;
        if !text.is_empty() {
            let ink = if is_dark(colour) { PALE } else { INK };
            let size = style(self.area, self.sizes.of(0.8)).color(&ink).pos(MIDDLE);
            self.area.draw_text(text, &size, self.at((x, y)))?;
        }
        if framed {
            let inside = [(corners[0].0 + 2, corners[0].1 + 2), (corners[1].0 - 2, corners[1].1 - 2)];
            self.area.draw(&Rectangle::new(inside, INK.stroke_width(3)))?;
        }
        Ok(())
    }

    /// Right of the frame: colours from low to high with three numbers, and what they are.
    fn colour_bar(&self, scale: &Scale) -> Drawn {
        let (sizes, [(_, top), (right, bottom)]) = (self.sizes, self.frame);
        let bottom = bottom.max(top + sizes.of(3.0)); // of a picture of one line
        let (left, wide) = (right + sizes.of(0.7), sizes.of(0.7));
        let (count, high) = (scale.colours.len(), f64::from(bottom - top));
        let y = |k: usize| bottom - units(high * k as f64 / count as f64);
        for (k, colour) in scale.colours.iter().enumerate() {
            let part = [(left, y(k + 1)), (left + wide, y(k))];
            self.area.draw(&Rectangle::new(part, rgb(*colour).filled()))?;
        }
        self.area.draw(&Rectangle::new([(left, top), (left + wide, bottom)], GRID.stroke_width(2)))?;
        let ends =
            [(scale.high, top), (0.5 * (scale.low + scale.high), (top + bottom) / 2), (scale.low, bottom)];
        for (value, y) in ends {
            let half = sizes.of(0.4);
            let y = y.clamp(top + half, bottom - half);
            let label = if value == 0.0 { "0".into() } else { format!("{value:.2}") };
            self.text(&label, sizes.of(0.8), LEFT, (left + wide + sizes.of(0.25), y))?;
        }
        Ok(())
    }

    fn arrows(&self, tips: &[(f64, f64)], names: &[String]) -> Drawn {
        let [(left, top), (right, bottom)] = self.frame;
        let zero = self.at((0.0, 0.0));
        let tips: Vec<Point> = tips.iter().map(|tip| self.at(*tip)).collect();
        tips.iter().try_for_each(|tip| self.arrow(zero, *tip))?;
        let size = self.sizes.of(0.86);
        let real = |p: Point| (f64::from(p.0), f64::from(p.1));
        let widths = names.iter().map(|name| (f64::from(width_of(name, size) + 8), f64::from(size + 4)));
        let frame = [left + 2, top + 2, right - 2, bottom - 2].map(f64::from);
        let ends: Vec<_> = tips.iter().map(|tip| real(*tip)).collect();
        let boxes = place::names(real(zero), &ends, &widths.collect::<Vec<_>>(), frame, 8.0);
        for ((name, tip), place) in names.iter().zip(tips).zip(boxes) {
            let [x0, y0, x1, y1] = place.map(units);
            let middle = ((x0 + x1) / 2, (y0 + y1) / 2);
            if (middle.1 - tip.1).abs() > 2 * size {
                self.line(&[tip, middle], LEADER.stroke_width(1))?;
            }
            self.area.draw(&Rectangle::new([(x0, y0), (x1, y1)], WHITE.mix(0.85).filled()))?;
            self.text(name, size, MIDDLE, middle)?;
        }
        Ok(())
    }

    fn arrow(&self, (x0, y0): Point, (x1, y1): Point) -> Drawn {
        self.line(&[(x0, y0), (x1, y1)], BLACK.stroke_width(3))?;
        let angle = f64::from(y1 - y0).atan2(f64::from(x1 - x0));
        let wing =
            |turn: f64| (x1 - units(18.0 * (angle + turn).cos()), y1 - units(18.0 * (angle + turn).sin()));
        Ok(self.area.draw(&Polygon::new(vec![(x1, y1), wing(0.4), wing(-0.4)], BLACK.filled()))?)
    }
}

fn axis_has_zero(axis: &Axis) -> bool {
    axis.range.start <= 0.0 && 0.0 <= axis.range.end
}

/// True if pale letters are easier to read on a colour than dark ones (relative luminance of sRGB, weights of Rec. 709).
fn is_dark((r, g, b): Colour) -> bool {
    0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b) < 128.0
}

/// The curve is a step function, because F is constant between improvements.
fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if let Some(last) = out.last().copied() {
            out.push((point.0, last.1));
        }
        out.push(*point);
    }
    out
}

fn dashed(area: &Area<'_>, line: &[Point], stroke: &Stroke) -> Drawn {
    let Some((on, off)) = stroke.dash else {
        return Ok(area.draw(&PathElement::new(line.to_vec(), stroke.style()))?);
    };
    Ok(area.draw(&DashedPathElement::new(line.iter().copied(), on, off, stroke.style()))?)
}

/// Height of a row of the legend, in letters.
const ROW: f64 = 1.6;

/// Lines, marks and names: in rows above the frame, or one below the other beside it, those without room counted.
fn legend(area: &Area<'_>, sizes: Sizes, panel: &Panel, layout: &Layout) -> Drawn {
    let all = entries(panel);
    let row = sizes.of(1.55);
    let rows = match layout.legend {
        Legend::Beside => (((layout.bottom - layout.top) / row - 1).max(1)) as usize,
        _ => all.len(),
    };
    let (mut x, mut y) = match layout.legend {
        Legend::Beside => (layout.right + sizes.of(1.0), layout.top + row / 2),
        Legend::Above(rows) => (layout.left, layout.top - sizes.of(1.1) - (rows - 1) * sizes.of(ROW)),
        Legend::None => return Ok(()),
    };
    let room = area.dim_in_pixel().0 as i32 - layout.right - sizes.of(5.2);
    let letters = |width: i32| (f64::from(width) / (0.56 * f64::from(sizes.0))).max(4.0) as usize;
    for (mark, name) in all.iter().take(rows) {
        if layout.legend != Legend::Beside && x > layout.left && x + sizes.entry(name) > layout.right {
            (x, y) = (layout.left, y + sizes.of(ROW));
        }
        let end = sample(area, sizes, mark, (x, y))?;
        let beside = layout.legend == Legend::Beside;
        let name = if beside { cut(name, letters(room)) } else { (*name).into() };
        area.draw_text(&name, &style(area, sizes.of(0.93)).pos(LEFT), (end + sizes.of(0.6), y))?;
        match layout.legend {
            Legend::Beside => y += row,
            _ => x += sizes.entry(&name),
        }
    }
    if all.len() > rows {
        let more = format!("and {} more", all.len() - rows);
        area.draw_text(&more, &style(area, sizes.of(0.93)).pos(LEFT), (x, y))?;
    }
    Ok(())
}

/// A mark as the legend shows it; returns its right end.
fn sample(
    area: &Area<'_>,
    sizes: Sizes,
    mark: &Mark,
    (x, y): Point,
) -> Result<i32, Box<dyn std::error::Error>> {
    let end = x + sizes.of(2.7);
    match mark {
        Mark::Line { look: Some(look), .. } => {
            let stroke = Stroke::of(*look);
            dashed(area, &[(x, y), (end, y)], &stroke)?;
            area.draw(&stroke.marker((end, y)))?;
            Ok(end)
        }
        Mark::Points { look, .. } => {
            let at = x + sizes.of(0.5);
            dot(area, (at, y), *look, sizes.of(0.32))?;
            Ok(at)
        }
        Mark::Bars { dark, .. } => {
            let half = sizes.of(0.45);
            bar(area, [(x, y - half), (x + 2 * half, y + half)], *dark)?;
            Ok(x + 2 * half)
        }
        _ => {
            area.draw(&PathElement::new([(x, y), (end, y)], GREY.stroke_width(1)))?;
            Ok(end)
        }
    }
}

fn bar(area: &Area<'_>, corners: [Point; 2], dark: bool) -> Drawn {
    let colour = rgb(if dark { PALETTE.dark } else { PALETTE.light });
    area.draw(&Rectangle::new(corners, colour.filled()))?;
    Ok(area.draw(&Rectangle::new(corners, BLACK.stroke_width(1)))?)
}

/// Colour and shape of a group: either alone distinguishes six groups.
fn dot(area: &Area<'_>, (x, y): Point, group: usize, size: i32) -> Drawn {
    let colour = COLOURS[group % COLOURS.len()];
    let line = colour.stroke_width(4);
    let filled: ShapeStyle = if group < COLOURS.len() { colour.filled() } else { line };
    let (s, t) = (size, units(1.3 * f64::from(size)));
    let path = |points: &[Point]| -> Drawn { Ok(area.draw(&PathElement::new(points.to_vec(), line))?) };
    let polygon = |corners: &[Point]| -> Drawn {
        if group < COLOURS.len() {
            return Ok(area.draw(&Polygon::new(corners.to_vec(), filled))?);
        }
        path(&corners.iter().chain(corners.first()).copied().collect::<Vec<_>>())
    };
    match group % 6 {
        0 => Ok(area.draw(&Circle::new((x, y), s, filled))?),
        1 => polygon(&[(x, y - t), (x - t, y + s), (x + t, y + s)]),
        2 => Ok(area.draw(&Rectangle::new([(x - s, y - s), (x + s, y + s)], filled))?),
        3 => {
            path(&[(x - s, y - s), (x + s, y + s)])?;
            path(&[(x - s, y + s), (x + s, y - s)])
        }
        4 => polygon(&[(x, y - t), (x - t, y), (x, y + t), (x + t, y)]),
        _ => {
            path(&[(x - t, y), (x + t, y)])?;
            path(&[(x, y - t), (x, y + t)])
        }
    }
}
