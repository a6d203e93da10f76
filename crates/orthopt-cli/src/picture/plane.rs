//! Samples and variables in the plane of two components: scores as points, loadings or correlations as arrows.

use std::collections::BTreeMap;

use faer::MatRef;
use orthopt::report::{Report, used};
use serde::Deserialize;

use super::axis::Axis;
use super::chart::{About, Chart, Mark, Panel};
use super::cut;
use crate::rows::Rows;
use crate::text;

/// Maximum number of points; more points hide each other and make very large files.
const POINTS: usize = 4000;
/// Maximum number of groups with distinct marks.
const GROUPS: usize = 12;
/// Maximum number of arrows unless another one is given: those with the largest loadings are drawn.
const ARROWS: usize = 16;
/// The longest arrow reaches so far, as a share of the distance from 0 to the farthest sample.
const REACH: f64 = 0.9;
/// Room around the marks, as a share of the range: names of arrows stand beyond their tips.
const ROOM: f64 = 0.06;
const ROOM_FOR_NAMES: f64 = 0.12;
/// Correlations above 1 by more are no rounding.
const ROUNDING: f64 = 1e-6;
/// Half of the width of the circle of correlations, which has names around it.
const CIRCLE: f64 = 1.25;

/// Samples, variables or both.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Plane {
    pub about: About,
    /// Scores of the two components; the second may be the number of the sample.
    pub points: Vec<(f64, f64)>,
    pub labels: Option<Vec<String>>,
    /// The two components, counted from 0; one of one.
    pub components: Vec<usize>,
    /// The share of the variance of each.
    pub shares: Vec<f64>,
    /// Loadings of the variables in the two components, or their correlations with the scores.
    pub arrows: Vec<(f64, f64)>,
    pub names: Vec<String>,
    /// Number of arrows.
    pub top: Option<usize>,
}

impl Plane {
    /// The samples of a report.
    pub fn of(report: &Report, rows: &Rows) -> Self {
        let (m, r) = rows.scores.shape();
        let second = |i: usize| if r > 1 { rows.scores[(i, 1)] } else { (i + 1) as f64 };
        let components: Vec<usize> = (0..r.min(2)).collect();
        let explained = report.explained_variance.as_ref();
        Self {
            about: About::task(&report.task),
            points: (0..m).map(|i| (rows.scores[(i, 0)], second(i))).collect(),
            labels: rows.labels.clone(),
            shares: explained.map_or(Vec::new(), |e| components.iter().map(|k| e.adjusted[*k]).collect()),
            components,
            ..Self::default()
        }
    }

    /// This picture with the variables.
    #[must_use]
    pub fn with_variables(mut self, report: &Report) -> Self {
        let x = report.x();
        for i in used(x) {
            self.arrows.push((x.get(i, 0), x.get(i, 1)));
            self.names.push(report.task.data.variable(i));
        }
        self
    }

    /// Variables by their correlations with the scores of two components.
    ///
    /// # Errors
    /// One component; correlations above 1, which a C that is not positive semidefinite has.
    pub fn of_variables(report: &Report, correlations: MatRef<'_, f64>) -> anyhow::Result<Self> {
        if correlations.ncols() < 2 {
            anyhow::bail!("the circle of correlations needs two components");
        }
        let arrows: Vec<(f64, f64)> =
            (0..correlations.nrows()).map(|i| (correlations[(i, 0)], correlations[(i, 1)])).collect();
        if let Some(i) = arrows.iter().position(|arrow| arrow.0.abs().max(arrow.1.abs()) > 1.0 + ROUNDING) {
            let name = report.task.data.variable(i);
            anyhow::bail!(
                "C is not positive semidefinite: {name} has a correlation above 1 with a score; --nearest repairs C"
            );
        }
        Ok(Self {
            about: About::task(&report.task),
            names: (0..arrows.len()).map(|i| report.task.data.variable(i)).collect(),
            arrows,
            components: vec![0, 1],
            ..Self::default()
        })
    }

    /// Samples alone.
    pub fn scores(&self) -> Chart {
        let (marks, shown, remark) = self.samples();
        let [x, y] = ranges(&shown, ROOM);
        let panel = Panel::new(x.called(&self.axis(0)), y.called(&self.axis(1)), marks);
        Chart { hidden: self.left_out(), ..self.about.chart("Scores", &remark, panel) }
    }

    /// Samples and variables.
    pub fn biplot(&self) -> Chart {
        let (mut marks, mut shown, remark) = self.samples();
        let size = |p: &(f64, f64)| p.0.abs().max(p.1.abs());
        let longest = |points: &[(f64, f64)]| points.iter().map(size).fold(0.0, f64::max);
        let (mut tips, names, all) = self.chosen();
        // one scale for both directions
        let unit = REACH * longest(&shown).max(f64::MIN_POSITIVE) / longest(&tips).max(f64::MIN_POSITIVE);
        tips.iter_mut().for_each(|tip| *tip = (unit * tip.0, unit * tip.1));
        shown.extend(&tips);
        let few = if tips.len() < all { format!("{} of {all}", tips.len()) } else { all.to_string() };
        let remark = format!("{remark}; loadings of {few} variables as arrows, on a scale of their own");
        let [x, y] = ranges(&shown, ROOM_FOR_NAMES);
        let hidden =
            [self.left_out(), if tips.len() < all { format!("{few} variables") } else { String::new() }];
        marks.push(Mark::Arrows { tips, names });
        let panel = Panel::new(x.called(&self.axis(0)), y.called(&self.axis(1)), marks);
        Chart { hidden: joined(&hidden), ..self.about.chart("Biplot", &remark, panel) }
    }

    /// Correlations of the variables with the scores, in the unit circle.
    pub fn correlations(&self) -> Chart {
        let (tips, names, all) = self.chosen();
        let few = if tips.len() < all { format!("{} of {all} variables", tips.len()) } else { String::new() };
        let remark = if few.is_empty() { text::count(all as u64, "variable") } else { few.clone() };
        let turn = |k: u32| f64::from(k).to_radians().sin_cos();
        let circle = Mark::Line {
            name: String::new(),
            look: None,
            points: (0..=360).map(|k| (turn(k).1, turn(k).0)).collect(),
            steps: false,
            dots: false,
            errors: Vec::new(),
        };
        let axis = |k: usize| {
            let component = self.components.get(k).map_or(k, |c| *c) + 1;
            Axis::linear(-CIRCLE..CIRCLE).called(&format!("correlation with PC{component}"))
        };
        let marks = vec![circle, Mark::Arrows { tips, names }];
        let panel = Panel { square: true, ..Panel::new(axis(0), axis(1), marks) };
        Chart { hidden: few, ..self.about.chart("Correlations", &remark, panel) }
    }

    /// The longest arrows, longest first, their names, and the number of variables in the plane.
    fn chosen(&self) -> (Vec<(f64, f64)>, Vec<String>, usize) {
        let length = |i: &usize| self.arrows[*i].0.hypot(self.arrows[*i].1);
        let mut order: Vec<usize> = (0..self.arrows.len()).filter(|i| length(i) > 0.0).collect();
        order.sort_by(|a, b| length(b).total_cmp(&length(a)));
        let all = order.len();
        order.truncate(self.top.unwrap_or(ARROWS));
        let names = order.iter().map(|i| cut(&self.names[*i], 24)).collect();
        (order.iter().map(|i| self.arrows[*i]).collect(), names, all)
    }

    /// The name of a component with its share of the variance.
    fn axis(&self, k: usize) -> String {
        let Some(component) = self.components.get(k) else { return "sample".into() };
        let share =
            self.shares.get(k).map_or(String::new(), |s| format!(", {:.1} % of the variance", 100.0 * s));
        format!("score on PC{}{share}", component + 1)
    }

    /// Every `step`-th sample is drawn.
    fn step(&self) -> usize {
        self.points.len().div_ceil(POINTS).max(1)
    }

    fn left_out(&self) -> String {
        let m = self.points.len();
        if self.step() == 1 { String::new() } else { format!("{} of {m} samples", m.div_ceil(self.step())) }
    }

    /// The samples as marks, their places, and a remark about them.
    fn samples(&self) -> (Vec<Mark>, Vec<(f64, f64)>, String) {
        let shown: Vec<usize> = (0..self.points.len()).step_by(self.step()).collect();
        let places: Vec<_> = shown.iter().map(|i| self.points[*i]).collect();
        let mut remark = match self.step() {
            1 => text::count(self.points.len() as u64, "sample"),
            _ => self.left_out(),
        };
        let one = |points: Vec<(f64, f64)>| vec![Mark::Points { name: String::new(), look: 0, points }];
        let Some(labels) = &self.labels else { return (one(places.clone()), places, remark) };
        let mut groups: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for i in &shown {
            groups.entry(&labels[*i]).or_default().push(self.points[*i]);
        }
        let mut groups: Vec<(&str, Vec<(f64, f64)>)> = groups.into_iter().collect();
        let number = |name: &str| name.parse::<f64>().unwrap_or(f64::NAN);
        if groups.iter().all(|(name, _)| number(name).is_finite()) {
            groups.sort_by(|a, b| number(a.0).total_cmp(&number(b.0))); // 2 before 10
        }
        if groups.len() > GROUPS {
            remark += &format!("; labels not shown (more than {GROUPS} different ones)");
            return (one(places.clone()), places, remark);
        }
        let named = groups.into_iter().enumerate();
        let marks = named.map(|(look, (name, points))| Mark::Points { name: cut(name, 20), look, points });
        (marks.collect(), places, remark)
    }
}

/// Axes for all marks, 0 in them.
fn ranges(points: &[(f64, f64)], room: f64) -> [Axis; 2] {
    let range = |value: fn(&(f64, f64)) -> f64| {
        let all = points.iter().map(value);
        let (low, high) = all.fold((0.0, 0.0), |(l, h): (f64, f64), v| (l.min(v), h.max(v)));
        let room = room * (high - low).max(1e-12 * high.abs().max(low.abs())).max(1e-300);
        Axis::linear(low - room..high + room)
    };
    [range(|p| p.0), range(|p| p.1)]
}

fn joined(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}
