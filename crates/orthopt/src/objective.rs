//! What is said of an X without knowing how it was found: F and its parts, feasibility, nonzeros.

use crate::linalg::RowMat;

/// Entries above this in absolute value are counted as nonzero in reports (the papers'
/// convention). The algorithms themselves mean == 0.0 by zero.
pub const REPORT_ZERO: f64 = 1e-6;

/// F(X) and its parts, with the papers' convention for ℓ0 (|x| > 1e-6 counts as nonzero).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Objective {
    /// F = f + h.
    pub total: f64,
    /// f(X).
    pub smooth: f64,
    /// h(X).
    pub nonsmooth: f64,
}

impl Objective {
    /// Of an X that is not finite.
    pub(crate) const NAN: Self = Self { total: f64::NAN, smooth: f64::NAN, nonsmooth: f64::NAN };
}

/// What the driver asks of a problem, whatever its terms and its constraint are.
pub trait Evaluate {
    /// F(X) with exact zeros, as the algorithms mean it.
    fn value(&self, x: &RowMat) -> f64;

    /// F(X) and its parts as reported.
    fn objective(&self, x: &RowMat) -> Objective;

    /// Both of them, for problems that need not evaluate f twice.
    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        (self.value(x), self.objective(x))
    }

    /// The scale of F at X: the size that the data give it, that of f ([`Smooth::scale`](crate::smooth::Smooth::scale)).
    /// Tolerances of F are relative to it plus |F|.
    fn scale(&self, x: &RowMat) -> f64;

    /// How far X is from the constraint: ‖XᵀX − I‖_F, or the mean of |XᵀJX − J|.
    fn feasibility(&self, x: &RowMat) -> f64;

    /// ‖min(0, X)‖_F where X must be nonnegative.
    fn nonneg_violation(&self, _x: &RowMat) -> Option<f64> {
        None
    }
}

/// What tolerances of F are relative to, where F is `objective` and its [scale](Evaluate::scale) is `scale`: their sum. It has
/// the unit of F, and is not small where F is a small difference of large numbers.
pub fn size(scale: f64, objective: f64) -> f64 {
    scale + objective.abs()
}

/// Entries with |x| > 1e-6 (the papers' convention).
pub fn count_nonzeros(x: &RowMat) -> usize {
    x.data().iter().filter(|v| v.abs() > REPORT_ZERO).count()
}

/// λ times the entries that are not exactly zero; 0 where λ is.
pub(crate) fn price_of_nonzeros(lambda: f64, x: &RowMat) -> f64 {
    if lambda > 0.0 { lambda * x.data().iter().filter(|v| **v != 0.0).count() as f64 } else { 0.0 }
}

/// The parts of F = f + λ times what is counted.
pub(crate) fn with_price(smooth: f64, lambda: f64, count: impl FnOnce() -> usize) -> Objective {
    let nonsmooth = if lambda > 0.0 { lambda * count() as f64 } else { 0.0 };
    Objective { total: smooth + nonsmooth, smooth, nonsmooth }
}
