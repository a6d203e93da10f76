//! The result of a run, as the summary and the exporters read it.

use orthopt::certify::Certificate;
use orthopt::certify::Scope;
use orthopt::family::{Family, ProblemInfo};
use orthopt::linalg::RowMat;
use orthopt::objective::REPORT_ZERO;
use orthopt::options::Given;
use orthopt::problem::ExplainedVariance;
use orthopt::solve::{Setting, Solution};

use crate::input::DataInfo;
use crate::interrupt::patience;
use orthopt::solve::Stopping;

/// Everything there is to say of a run.
#[derive(Debug)]
pub struct Report {
    pub problem: &'static ProblemInfo,
    pub data: DataInfo,
    pub rank: usize,
    pub lambda: Option<f64>,
    /// k of `l1-largest-k`.
    pub k: Option<usize>,
    /// Constants of the solvers in force, `solver-constant` to value.
    pub constants: Given,
    /// The starting points tried, in order.
    pub start: String,
    /// Why what was left open was chosen as it was.
    pub reasons: Vec<String>,
    pub stopping: Stopping,
    pub threads: usize,
    pub solution: Solution,
    /// What the feasibility and criticality of the problem are, in words.
    pub measures: (&'static str, &'static str),
    /// Feasibility divided by ||X||^2, where that is not bounded.
    pub relative_feasibility: Option<f64>,
    /// The minimum of F, where it is known in closed form.
    pub optimum: Option<f64>,
    /// Where it means something.
    pub explained: Option<ExplainedVariance>,
    pub checks: Checks,
}

/// F at the two points a splitting method ends with, and what else it says of them.
#[derive(Clone, Debug)]
pub struct Splitting {
    /// F(X).
    pub x: f64,
    /// F(polar(y̌)), where y̌ has full rank and A = I.
    pub sparse: Option<f64>,
    /// Which one was returned.
    pub returned: String,
    /// μ‖z‖, what smoothing leaves between X and y̌.
    pub mu_norm_z: Option<f64>,
    /// The three terms of Crit at (X, y̌, z).
    pub crit: Option<[f64; 3]>,
}

impl Report {
    /// What the last splitting method of the chain reports.
    pub fn splitting(&self) -> Option<Splitting> {
        let settings = &self.solution.settings;
        let prefix = settings.keys().rev().find_map(|key| key.strip_suffix("objective_x"))?;
        let real = |name: &str| match settings.get(&format!("{prefix}{name}")) {
            Some(Setting::Real(value)) => Some(*value),
            _ => None,
        };
        let returned = match settings.get(&format!("{prefix}returned")) {
            Some(Setting::Text(name)) => name.clone(),
            _ => "X".into(),
        };
        let crit = [real("crit_primal"), real("crit_dual"), real("crit_tangent")];
        Some(Splitting {
            x: real("objective_x")?,
            sparse: real("objective_sparse"),
            returned,
            mu_norm_z: real("mu_norm_z"),
            crit: match crit {
                [Some(a), Some(b), Some(c)] => Some([a, b, c]),
                _ => None,
            },
        })
    }

    /// Nonzeros of each component.
    pub fn nonzeros(&self) -> Vec<usize> {
        nonzeros(&self.solution.x)
    }
}

/// Nonzeros of each column, by the papers' convention.
pub fn nonzeros(x: &RowMat) -> Vec<usize> {
    let mut counts = vec![0; x.ncols()];
    for i in 0..x.nrows() {
        for (count, value) in counts.iter_mut().zip(x.row(i)) {
            *count += usize::from(value.abs() > REPORT_ZERO);
        }
    }
    counts
}

/// What kind of point X is. `None` is not asked for, or interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checks {
    pub criticality: Option<f64>,
    pub certificate: Option<Certificate>,
}

impl Checks {
    /// Criticality of X.
    pub fn measure_criticality<P: Family>(&mut self, problem: &P, x: &RowMat) {
        self.criticality = problem.criticality(x, &patience());
    }

    /// Block-2 stationarity of X; after an interruption, of the pairs that were checked by then.
    pub fn certify<P: Family>(&mut self, problem: &P, x: &RowMat, scope: Scope) {
        self.certificate = problem.block_stationarity(x, scope, &patience());
    }
}
