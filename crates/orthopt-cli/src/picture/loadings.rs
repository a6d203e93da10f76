//! Loadings: bars by component, or a heat map of many variables; and how often each is not zero in halves of the rows.

use orthopt::objective::REPORT_ZERO;
use orthopt::report::{Report, Stability as Halves};
use serde::Deserialize;

use super::axis::Axis;
use super::chart::{About, Cell, Chart, Mark, PALETTE, Panel, Scale, Side};
use super::cut;
use crate::text;

/// More variables than this, or more components than [`PANELS`], make a heat map.
const BARS: usize = 20;
const PANELS: usize = 8;
/// Maximum number of variables unless another one is given, those with the largest loadings.
const MOST: usize = 60;
/// Characters of a name.
const LONGEST: usize = 28;
/// The longest bar reaches so far, as a share of the half of a panel.
const REACH: f64 = 0.8;

/// Form of a picture of loadings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Bar,
    Heatmap,
}

/// Loadings of components, each a list of the loadings of all variables.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Loadings {
    pub about: About,
    pub components: Vec<Vec<f64>>,
    pub names: Vec<String>,
    /// The share of the variance of each component.
    pub shares: Vec<f64>,
    /// Number of variables that are drawn.
    pub top: Option<usize>,
    /// Chosen by the number of variables unless given.
    pub form: Option<Form>,
}

impl Loadings {
    pub fn of(report: &Report) -> Self {
        let x = report.x();
        Self {
            about: About::task(&report.task),
            components: columns(report),
            names: (0..x.nrows()).map(|i| report.task.data.variable(i)).collect(),
            shares: report.explained_variance.as_ref().map_or(Vec::new(), |e| e.adjusted.clone()),
            ..Self::default()
        }
    }

    pub fn chart(&self) -> Chart {
        let size = |i: usize| self.components.iter().fold(0.0, |most: f64, own| most.max(own[i].abs()));
        let all: Vec<usize> = (0..self.names.len()).filter(|i| size(*i) > REPORT_ZERO).collect();
        let shown = largest(&all, &size, self.top.unwrap_or(MOST));
        let (hidden, remark) = match shown.len() < all.len() {
            true => {
                let few = format!("the {} largest of {}", shown.len(), all.len());
                (format!("{few} variables"), format!("{few} variables with nonzero loadings"))
            }
            false => {
                let n = text::count(self.names.len() as u64, "variable");
                (String::new(), format!("{} of {n} with nonzero loadings", all.len()))
            }
        };
        let many = all.len() > BARS || self.components.len() > PANELS;
        let form = self.form.unwrap_or(if many { Form::Heatmap } else { Form::Bar });
        let limit = all.iter().fold(0.0, |limit: f64, i| limit.max(size(*i)));
        let (title, subtitle) = (self.about.title("Loadings"), self.about.below(&remark));
        let panels = match form {
            Form::Bar => self.bars(&shown, limit),
            Form::Heatmap => {
                let headings = (0..self.components.len()).map(|k| self.heading(k)).collect();
                let scale = Scale::of("loading", limit.max(1e-300), true);
                vec![heat((&self.components, &shown), &self.names, headings, None, scale)]
            }
        };
        Chart { title, subtitle, hidden, panels, palette: PALETTE }
    }

    /// Its number and its share of the variance.
    fn heading(&self, k: usize) -> String {
        let share = self.shares.get(k).map_or(String::new(), |share| format!(" ({:.1} %)", 100.0 * share));
        format!("PC{}{share}", k + 1)
    }

    /// A panel for each component, a row for each variable, the same for all.
    fn bars(&self, shown: &[usize], limit: f64) -> Vec<Panel> {
        let end = limit.max(1e-3) / REACH;
        let panel = |(k, own): (usize, &Vec<f64>)| {
            let of_sign = |positive: bool| {
                let rows = shown.iter().enumerate().filter(|(_, i)| own[**i].abs() > REPORT_ZERO);
                let rows = rows.filter(|(_, i)| (own[**i] > 0.0) == positive);
                let corners = rows.map(|(row, i)| {
                    let (v, y) = (own[*i], row as f64);
                    [v.min(0.0), y - 0.32, v.max(0.0), y + 0.32]
                });
                Mark::Bars { name: String::new(), dark: positive, corners: corners.collect() }
            };
            let rows = shown.iter().enumerate().filter(|(_, i)| own[**i].abs() > REPORT_ZERO);
            // the number beyond 0, where no bar is
            let numbers = rows.map(|(row, i)| Mark::Words {
                at: (0.0, row as f64),
                text: format!("{:.2}", own[*i]),
                side: if own[*i] > 0.0 { Side::Left } else { Side::Right },
            });
            let marks = [of_sign(true), of_sign(false)].into_iter().chain(numbers).collect();
            let names = shown.iter().map(|i| cut(&self.names[*i], LONGEST)).collect();
            let x = Axis::symmetric(end, limit.max(1e-3)).called("loading");
            Panel { heading: self.heading(k), ..Panel::new(x, Axis::of_names(names), marks) }
        };
        self.components.iter().enumerate().map(panel).collect()
    }
}

fn columns(report: &Report) -> Vec<Vec<f64>> {
    let x = report.x();
    (0..x.ncols()).map(|k| (0..x.nrows()).map(|i| x.get(i, k)).collect()).collect()
}

/// In their order, those that are largest.
fn largest(all: &[usize], size: &dyn Fn(usize) -> f64, most: usize) -> Vec<usize> {
    let mut order = all.to_vec();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    order.truncate(most);
    order.sort_unstable();
    order
}

/// A line for each variable, a column for each component; cells that `framed` does not have as 0 have a frame.
fn heat(
    (columns, shown): (&[Vec<f64>], &[usize]),
    names: &[String],
    headings: Vec<String>,
    framed: Option<&[Vec<f64>]>,
    scale: Scale,
) -> Panel {
    let cell = |k: usize, row: usize| {
        let (i, value) = (shown[row], columns[k][shown[row]]);
        Cell {
            at: (k, row),
            value,
            text: if value.abs() > REPORT_ZERO { format!("{value:.2}") } else { String::new() },
            framed: framed.is_some_and(|framed| framed[k][i] != 0.0),
        }
    };
    let cells = (0..columns.len()).flat_map(|k| (0..shown.len()).map(move |row| (k, row)));
    let marks = vec![Mark::Cells { cells: cells.map(|(k, row)| cell(k, row)).collect(), scale }];
    let names = shown.iter().map(|i| cut(&names[*i], LONGEST)).collect();
    Panel::new(Axis::of_names(headings).called("component"), Axis::of_names(names), marks)
}

/// Frequency with which each loading is not zero in halves of the rows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Stability {
    pub about: About,
    /// For each component the share of the halves, by variable.
    pub frequency: Vec<Vec<f64>>,
    /// Loadings of all rows.
    pub components: Vec<Vec<f64>>,
    pub names: Vec<String>,
    /// Mean cosine between a component and those of the halves.
    pub cosine: Vec<f64>,
    /// Number of pairs of halves.
    pub pairs: usize,
    /// Number of variables that are drawn.
    pub top: Option<usize>,
}

impl Stability {
    pub fn of(report: &Report, found: &Halves) -> Self {
        let share = &found.frequency;
        let own = |k: usize| (0..share.nrows()).map(|i| share.get(i, k)).collect();
        Self {
            about: About::task(&report.task),
            frequency: (0..share.ncols()).map(own).collect(),
            components: columns(report),
            names: (0..share.nrows()).map(|i| report.task.data.variable(i)).collect(),
            cosine: found.cosine.clone(),
            pairs: found.pairs,
            top: None,
        }
    }

    pub fn chart(&self) -> Chart {
        let often = |i: usize| self.frequency.iter().fold(0.0, |most: f64, own| most.max(own[i]));
        let all: Vec<usize> = (0..self.names.len()).filter(|i| often(*i) > 0.0).collect();
        let shown = largest(&all, &often, self.top.unwrap_or(MOST));
        let (hidden, few) = match shown.len() < all.len() {
            true => {
                let few = format!("{} of {} variables", shown.len(), all.len());
                (few.clone(), few)
            }
            false => (
                String::new(),
                format!("{} of {}", all.len(), text::count(self.names.len() as u64, "variable")),
            ),
        };
        let halves = format!("share of {} halves with a nonzero loading", 2 * self.pairs);
        let remark = format!("{halves}; frames: components; {few}");
        let headings =
            self.cosine.iter().enumerate().map(|(k, cosine)| format!("PC{} (cosine {cosine:.2})", k + 1));
        let scale = Scale::of(&halves, 1.0, false);
        let columns = (&self.frequency[..], &shown[..]);
        let panel = heat(columns, &self.names, headings.collect(), Some(&self.components), scale);
        Chart { hidden, ..self.about.chart("Stability", &remark, panel) }
    }
}
