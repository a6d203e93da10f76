//! What JOBCD and its rivals ask of f, and the f there are.

use std::sync::Arc;

use super::{JQuadratic, Probe};
use crate::linalg::RowMat;

/// A smooth function of an n × n matrix, for minimisation over the J-orthogonal group. Implement
/// it for an f of your own and hand it to [`JProblem::custom`](super::JProblem::custom).
pub trait JSmooth: Send + Sync {
    /// n.
    fn order(&self) -> usize;

    /// f(X).
    fn value(&self, x: &RowMat) -> f64;

    /// G ← ∇f(X) (n × n), and f(X).
    fn gradient(&self, x: &RowMat, g: &mut RowMat) -> f64;

    /// An upper bound of the Lipschitz constant of ∇f (Frobenius norm), if there is one. Without
    /// it, steps are found by backtracking.
    fn lipschitz(&self) -> Option<f64> {
        None
    }

    /// The derivative of ∇f at X along D, used by UMCM. By default central differences of the gradient.
    fn hessian(&self, x: &RowMat, d: &RowMat) -> RowMat {
        let size = d.norm();
        if size == 0.0 {
            return RowMat::zeros(x.nrows(), x.ncols());
        }
        let h = 6e-6 * (1.0 + x.norm()) / size; // eps^(1/3): truncation and rounding in balance
        let at = |t: f64| {
            let moved = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k) + t * d.get(i, k));
            let mut g = RowMat::zeros(x.nrows(), x.ncols());
            self.gradient(&moved, &mut g);
            g
        };
        let (plus, minus) = (at(h), at(-h));
        RowMat::from_fn(x.nrows(), x.ncols(), |i, k| (plus.get(i, k) - minus.get(i, k)) / (2.0 * h))
    }

    /// N for f = (1/N) Σ fᵢ; 1 where f is no sum.
    fn components(&self) -> usize {
        1
    }

    /// G ← the mean of ∇fᵢ(X) over the components in `sample` (0 ≤ i < N), and the mean of fᵢ(X).
    fn sample_gradient(&self, _sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        self.gradient(x, g)
    }
}

/// Any f of the library, or one of the user's own.
#[derive(Clone)]
#[non_exhaustive]
pub enum JFunction {
    /// ½tr(XᵀMXN).
    Quadratic(JQuadratic),
    /// The structural probe.
    Probe(Probe),
    /// The user's own.
    Custom(Arc<dyn JSmooth>),
}

impl std::fmt::Debug for JFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Quadratic(q) => q.fmt(f),
            Self::Probe(p) => p.fmt(f),
            Self::Custom(c) => write!(f, "Custom(n = {})", c.order()),
        }
    }
}

impl JFunction {
    fn as_dyn(&self) -> &dyn JSmooth {
        match self {
            Self::Quadratic(q) => q,
            Self::Probe(p) => p,
            Self::Custom(c) => &**c,
        }
    }

    /// f where it is ½tr(XᵀMXN).
    pub fn quadratic(&self) -> Option<&JQuadratic> {
        match self {
            Self::Quadratic(q) => Some(q),
            _ => None,
        }
    }
}

impl JSmooth for JFunction {
    fn order(&self) -> usize {
        self.as_dyn().order()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.as_dyn().value(x)
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.as_dyn().gradient(x, g)
    }
    fn lipschitz(&self) -> Option<f64> {
        self.as_dyn().lipschitz()
    }
    fn hessian(&self, x: &RowMat, d: &RowMat) -> RowMat {
        self.as_dyn().hessian(x, d)
    }
    fn components(&self) -> usize {
        self.as_dyn().components()
    }
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        self.as_dyn().sample_gradient(sample, x, g)
    }
}
