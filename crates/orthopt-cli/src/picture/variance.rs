//! Variance explained: of each component alone and beyond those before it, and of all so far.

use orthopt::report::Report;
use serde::Deserialize;

use super::axis::Axis;
use super::chart::{About, Chart, Mark, Panel, Side};

/// Bars have numbers where there are at most so many components, and all components have a name at the axis.
const NUMBERED: usize = 10;

/// Shares of the variance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Variance {
    pub about: About,
    pub alone: Vec<f64>,
    pub adjusted: Vec<f64>,
    pub remark: String,
}

impl Variance {
    /// # Errors
    /// Components explain no variance.
    pub fn of(report: &Report) -> anyhow::Result<Self> {
        let Some(e) = &report.explained_variance else {
            anyhow::bail!(
                "{} has no variance to explain, so there is no picture of it",
                report.task.problem.name
            );
        };
        let remark = format!(
            "together {:.1} %{}, explained by regression on the scores {:.1} %",
            100.0 * e.total,
            report.pca_share.map_or(String::new(), |share| format!(" (PCA {:.1} %)", 100.0 * share)),
            100.0 * e.predicted
        );
        let (alone, adjusted) = (e.ratio.clone(), e.adjusted.clone());
        Ok(Self { about: About::task(&report.task), alone, adjusted, remark })
    }

    pub fn chart(&self) -> Chart {
        let r = self.alone.len();
        let bars = |shares: &[f64], name: &str, dark: bool, left: f64| {
            let corners = shares
                .iter()
                .enumerate()
                .map(|(k, v)| [k as f64 + left, 0.0, k as f64 + left + 0.36, 100.0 * v]);
            Mark::Bars { name: name.into(), dark, corners: corners.collect() }
        };
        let mut sum = 0.0;
        let so_far = self.adjusted.iter().enumerate().map(|(k, v)| {
            sum += 100.0 * v;
            (k as f64, sum)
        });
        let so_far: Vec<(f64, f64)> = so_far.collect();
        let all = self.alone.iter().map(|v| 100.0 * v).chain(so_far.iter().map(|p| p.1));
        let most = all.fold(1e-4, f64::max);
        let mut marks = vec![
            bars(&self.alone, "own", false, -0.36),
            bars(&self.adjusted, "added to those before it", true, 0.0),
        ];
        if r > 1 {
            marks.push(Mark::Line {
                name: "together".into(),
                look: Some(1),
                points: so_far,
                steps: false,
                dots: true,
                errors: Vec::new(),
            });
        }
        if r <= NUMBERED {
            for (shares, place) in [(&self.alone, -0.18), (&self.adjusted, 0.18)] {
                marks.extend(shares.iter().enumerate().map(|(k, v)| Mark::Words {
                    at: (k as f64 + place, 100.0 * v),
                    text: format!("{:.1}", 100.0 * v),
                    side: Side::Above,
                }));
            }
        }
        let step = r.div_ceil(2 * NUMBERED).max(1);
        let names = (0..r).map(|k| if k % step == 0 { format!("PC{}", k + 1) } else { String::new() });
        let x = Axis::of_names(names.collect()).called("component");
        let y = Axis::linear(0.0..1.08 * most).called("% of the variance");
        self.about.chart("Variance explained", &self.remark, Panel::new(x, y, marks))
    }
}
