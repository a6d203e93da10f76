//! What users name: sparse PCA, nonnegative PCA, plain PCA, assembled from a smooth part and a
//! penalty.

mod data;
mod variance;

use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::nonsmooth::Nonsmooth;
use crate::objective::{Evaluate, Objective};
use crate::penalty::AnyPenalty;
use crate::smooth::{AnySmooth, Smooth};

pub use data::{PcaData, Storage, covariance_model};
pub(crate) use variance::by_variance;
pub use variance::{ExplainedVariance, explained_variance};

/// min F(X) = f(X) + h(X) over X ∈ St(n, r).
#[derive(Clone, Debug)]
pub struct Problem<F, H> {
    /// The smooth part f.
    pub f: F,
    /// The nonsmooth part h.
    pub h: H,
    rank: usize,
}

/// The problem with parts chosen at run time.
pub type PcaProblem = Problem<AnySmooth, AnyPenalty>;

impl<F: Smooth, H: Nonsmooth> Evaluate for Problem<F, H> {
    fn value(&self, x: &RowMat) -> f64 {
        self.value(x)
    }

    fn objective(&self, x: &RowMat) -> Objective {
        self.objective(x)
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        self.feasibility(x)
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.nonneg_violation(x)
    }
}

impl<F: Smooth, H: Nonsmooth> Problem<F, H> {
    /// min f + h over St(n, r), n the number of rows f is made for.
    ///
    /// # Errors
    /// [`Error::Rank`] unless 1 ≤ r ≤ n.
    pub fn new(f: F, h: H, rank: usize) -> Result<Self> {
        if rank == 0 || rank > f.nrows() {
            return Err(Error::Rank { rank, columns: f.nrows() });
        }
        if let Some(cols) = f.ncols().filter(|c| *c != rank) {
            return Err(Error::Shape {
                what: "the linear term E".into(),
                rows: f.nrows(),
                cols,
                expected_rows: f.nrows(),
                expected_cols: rank,
            });
        }
        Ok(Self { f, h, rank })
    }

    /// Number of rows n of X.
    pub fn nrows(&self) -> usize {
        self.f.nrows()
    }

    /// Number of columns r of X.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// F(X) with exact zeros: the value the algorithms lower. Cost of a gradient.
    pub fn value(&self, x: &RowMat) -> f64 {
        self.f.value(x) + self.h.value(x.data())
    }

    /// F(X) and its parts as reported (|x| > 1e-6 counts as nonzero). Cost of a gradient.
    pub fn objective(&self, x: &RowMat) -> Objective {
        let (smooth, nonsmooth) = (self.f.value(x), self.h.reported_value(x.data()));
        Objective { total: smooth + nonsmooth, smooth, nonsmooth }
    }

    /// ‖XᵀX − I‖_F.
    pub fn feasibility(&self, x: &RowMat) -> f64 {
        stiefel::feasibility(x)
    }

    /// ‖min(0, X)‖_F where X must be nonnegative.
    pub fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.h.requires_nonneg().then(|| x.data().iter().map(|v| v.min(0.0).powi(2)).sum::<f64>().sqrt())
    }
}
