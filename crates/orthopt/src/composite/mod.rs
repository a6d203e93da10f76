//! Composite problems: min F(X) = f(X) − g(X) + h(A(X)) subject to XᵀX = I (OADMM paper,
//! Problem (1)), with a smooth f, a convex g, a linear map A and a nonsmooth h that acts entry by
//! entry.
//!
//! Splitting methods see a problem through [`Terms`], which problems without g and A offer too.

mod criticality;

pub(crate) use criticality::distance;
pub use criticality::{CritParts, crit_parts, criticality};

use crate::concave::{AnyConcave, Concave, NoConcave};
use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linear_map::{AnyMap, Identity, LinearMap};
use crate::nonsmooth::Nonsmooth;
use crate::objective::{Evaluate, Objective};
use crate::penalty::AnyPenalty;
use crate::problem::{PcaProblem, Problem};
use crate::smooth::{AnySmooth, Smooth};

/// A problem min f − g + h∘A over n × r matrices with orthonormal columns.
pub trait Terms: Evaluate + Send + Sync + 'static {
    /// The smooth part, up to a constant.
    fn f(&self) -> &AnySmooth;

    /// The part that is subtracted.
    fn g(&self) -> &AnyConcave {
        &NO_CONCAVE
    }

    /// The nonsmooth part.
    fn h(&self) -> &AnyPenalty;

    /// The linear map in the nonsmooth part.
    fn map(&self) -> &AnyMap {
        &IDENTITY
    }

    /// Rows n and columns r of X.
    fn size(&self) -> (usize, usize);
}

static NO_CONCAVE: AnyConcave = AnyConcave::None(NoConcave);
static IDENTITY: AnyMap = AnyMap::Identity(Identity);

impl Terms for PcaProblem {
    fn f(&self) -> &AnySmooth {
        &self.f
    }

    fn h(&self) -> &AnyPenalty {
        &self.h
    }

    fn size(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }
}

/// min f(X) + constant − g(X) + h(A(X)) over X ∈ St(n, r).
#[derive(Clone, Debug)]
pub struct Composite {
    /// The smooth part f.
    pub f: AnySmooth,
    /// Added to f: data terms have one.
    pub constant: f64,
    /// The concave part is −g.
    pub g: AnyConcave,
    /// The nonsmooth part h.
    pub h: AnyPenalty,
    /// The linear map A.
    pub a: AnyMap,
    pub(crate) rank: usize,
}

impl Composite {
    /// The problem of its parts, n the number of rows f is made for.
    ///
    /// # Errors
    /// [`Error::Rank`] unless 1 ≤ r ≤ n; a map or a g that does not fit n × r matrices (k > nr).
    pub fn new(f: AnySmooth, g: AnyConcave, h: AnyPenalty, a: AnyMap, rank: usize) -> Result<Self> {
        let p = Problem::new(f, h, rank)?; // the checks of f and r
        let size = (p.nrows(), rank);
        g.check(size.0, size.1)?;
        a.output(size)?;
        Ok(Self { f: p.f, constant: 0.0, g, h: p.h, a, rank })
    }

    /// The same with `constant` added to F.
    pub fn with_constant(mut self, constant: f64) -> Self {
        self.constant = constant;
        self
    }

    /// Number of rows n of X.
    pub fn nrows(&self) -> usize {
        self.f.nrows()
    }

    /// Number of columns r of X.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// h(A(X)) by `h` of a slice of entries.
    fn penalty(&self, x: &RowMat, h: impl Fn(&[f64]) -> f64) -> f64 {
        if self.a.is_identity() { h(x.data()) } else { h(self.a.apply(x).data()) }
    }
}

impl Terms for Composite {
    fn f(&self) -> &AnySmooth {
        &self.f
    }

    fn g(&self) -> &AnyConcave {
        &self.g
    }

    fn h(&self) -> &AnyPenalty {
        &self.h
    }

    fn map(&self) -> &AnyMap {
        &self.a
    }

    fn size(&self) -> (usize, usize) {
        (self.nrows(), self.rank)
    }
}

impl Evaluate for Composite {
    fn value(&self, x: &RowMat) -> f64 {
        self.f.value(x) + self.constant - self.g.value(x) + self.penalty(x, |v| self.h.value(v))
    }

    /// `nonsmooth` is h(A(X)) − g(X).
    fn objective(&self, x: &RowMat) -> Objective {
        let smooth = self.f.value(x) + self.constant;
        let nonsmooth = self.penalty(x, |v| self.h.reported_value(v)) - self.g.value(x);
        Objective { total: smooth + nonsmooth, smooth, nonsmooth }
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        stiefel::feasibility(x)
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        (self.a.is_identity() && self.h.requires_nonneg())
            .then(|| x.data().iter().map(|v| v.min(0.0).powi(2)).sum::<f64>().sqrt())
    }
}

/// Checks that a problem suits the splitting methods: h weakly convex and Lipschitz.
///
/// # Errors
/// [`Error::Incompatible`] with what to use instead.
pub(crate) fn check_splitting(p: &impl Terms) -> Result<()> {
    if suits_splitting(p) {
        return Ok(());
    }
    Err(Error::Incompatible(
        "splitting methods need a weakly convex h with a Lipschitz constant (l1, mcp, scad, elastic-net, none; \
         capped-l1 in its form h - g): for others use obcd"
            .into(),
    ))
}

/// Whether h is weakly convex and Lipschitz.
pub(crate) fn suits_splitting(p: &impl Terms) -> bool {
    p.h().weak_convexity().is_some() && p.h().lipschitz().is_finite()
}
