//! Variance explained against nonzeros.

use serde::Deserialize;

use super::axis::Axis;
use super::chart::{About, Chart, Mark, Panel};

/// A measure along the path: nonzeros and per cent of its points.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Standard errors in per cent, if there are any.
    pub errors: Vec<f64>,
}

/// Measures, which have the same points, one of which may be chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Path {
    pub about: About,
    pub lines: Vec<Line>,
    pub chosen: Option<usize>,
    pub remark: String,
}

impl Path {
    pub fn chart(&self) -> Chart {
        let ends = self.lines.iter().flat_map(|line| {
            let error = |i: usize| line.errors.get(i).copied().unwrap_or(0.0);
            line.points.iter().enumerate().flat_map(move |(i, p)| [p.1 - error(i), p.1 + error(i)])
        });
        let (low, high) = ends
            .filter(|v| v.is_finite())
            .fold((0.0, 1e-3), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        let counts = self.lines.iter().flat_map(|line| &line.points).map(|p| p.0);
        let right = counts.fold(1.0, f64::max);
        let mut marks: Vec<Mark> = Vec::new();
        for (look, line) in self.lines.iter().enumerate() {
            let known = |i: &usize| line.points[*i].1.is_finite();
            let kept: Vec<usize> = (0..line.points.len()).filter(known).collect();
            marks.push(Mark::Line {
                name: if self.lines.len() > 1 { line.name.clone() } else { String::new() },
                look: Some(look),
                points: kept.iter().map(|i| line.points[*i]).collect(),
                steps: false,
                dots: true,
                errors: kept.iter().filter_map(|i| line.errors.get(*i).copied()).collect(),
            });
        }
        let ring = self.chosen.and_then(|i| self.lines.first()?.points.get(i).copied());
        let ring = ring.filter(|at| at.1.is_finite());
        let name =
            if ring.is_some() { "nonzeros of X (the ring is the chosen point)" } else { "nonzeros of X" };
        marks.extend(ring.map(|at| Mark::Ring { at }));
        let share = match &self.lines[..] {
            [only] if !only.name.is_empty() => format!("% of the variance, {}", only.name),
            _ => "% of the variance".into(),
        };
        let x = Axis::whole(0.0..1.05 * right).called(name);
        let y = Axis::linear(1.05 * low..low + 1.05 * (high - low)).called(&share);
        self.about.chart("Variance explained by nonzeros", &self.remark, Panel::new(x, y, marks))
    }
}
