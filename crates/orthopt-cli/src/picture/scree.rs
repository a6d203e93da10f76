//! Scree: the eigenvalues of C beside those of noise, and the number of components.

use orthopt::report::Report;
use serde::Deserialize;

use super::axis::Axis;
use super::chart::{About, Chart, Mark, Panel};
use crate::text;

/// Eigenvalues as shares of their sum.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Scree {
    pub about: About,
    pub eigenvalues: Vec<f64>,
    /// Those of noise.
    pub reference: Vec<f64>,
    /// Number of components by the rule.
    pub rank: usize,
    pub rule: String,
    pub share: Option<f64>,
    pub reason: String,
    /// Number of components that were found.
    pub kept: usize,
}

impl Scree {
    /// # Errors
    /// No eigenvalues are known.
    pub fn of(report: &Report) -> anyhow::Result<Self> {
        let Some(scree) = report.task.scree.as_deref() else {
            anyhow::bail!("{} has no eigenvalues to draw", report.task.problem.name);
        };
        Ok(Self {
            about: About::task(&report.task),
            eigenvalues: scree.eigenvalues.clone(),
            reference: scree.reference.clone(),
            rank: scree.rank,
            rule: scree.rule.into(),
            share: scree.share,
            reason: scree.reason.to_string(),
            kept: report.task.rank,
        })
    }

    pub fn chart(&self) -> Chart {
        let remark = match (self.rule.as_str(), self.share) {
            (_, Some(share)) => {
                format!("{} components explain {:.0} % of the variance in PCA", self.rank, 100.0 * share)
            }
            ("none", _) => "C itself does not say how much of it is noise".into(),
            _ if self.reason.contains("no eigenvalue") => "no eigenvalue exceeds those of noise".into(),
            _ => {
                format!("{} above the 95th percentile of noise", text::count(self.rank as u64, "eigenvalue"))
            }
        };
        let count = self.eigenvalues.len().max(1);
        let most = self.eigenvalues.iter().chain(&self.reference).fold(1e-6, |most: f64, v| most.max(*v));
        let line = |name: &str, look: usize, values: &[f64]| Mark::Line {
            name: name.into(),
            look: Some(look),
            points: values.iter().enumerate().map(|(k, v)| ((k + 1) as f64, 100.0 * v)).collect(),
            steps: false,
            dots: true,
            errors: Vec::new(),
        };
        let mut marks = vec![line("eigenvalue of C", 0, &self.eigenvalues)];
        if !self.reference.is_empty() {
            marks.push(line("95th percentile of noise", 1, &self.reference));
        }
        // the components that are kept lie left of a line
        if self.kept < count {
            marks.push(Mark::Rule { x: self.kept as f64 + 0.5, text: format!("r = {}", self.kept) });
        }
        let x = Axis::whole(0.5..count as f64 + 0.5).called("component of PCA");
        let y = Axis::linear(0.0..108.0 * most).called("% of the variance");
        self.about.chart("Eigenvalues of C", &remark, Panel::new(x, y, marks))
    }
}
