//! Evaluation of an X: F and its parts, feasibility, nonzeros.

use crate::constraint::stiefel::has_unit_columns;
use orthopt_linalg::{RowMat, work};

/// Entries of a unit column up to this in absolute value are tiny: they are tried as zeros where a run ends
/// ([`Evaluate::cleaned`]), counted as zeros of an iterate that is not feasible (the papers' convention), and left
/// out of pictures. Nonzeros and F of an X count every entry that is not 0.0.
pub const REPORT_ZERO: f64 = 1e-6;

/// F(X) and its parts.
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
    #[doc(hidden)]
    pub const NAN: Self = Self { total: f64::NAN, smooth: f64::NAN, nonsmooth: f64::NAN };

    /// F times a power of two.
    #[doc(hidden)]
    pub fn times(self, unit: f64) -> Self {
        let Self { total, smooth, nonsmooth } = self;
        Self { total: unit * total, smooth: unit * smooth, nonsmooth: unit * nonsmooth }
    }
}

/// Requirements of the driver on a problem with any terms and constraint.
pub trait Evaluate {
    /// F(X).
    fn value(&self, x: &RowMat) -> f64;

    /// F(X) and its parts.
    fn objective(&self, x: &RowMat) -> Objective;

    /// F and its parts in one evaluation of f.
    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        (self.value(x), self.objective(x))
    }

    /// The scale of F at X: the size that the data give it, that of f ([`Smooth::scale`](crate::smooth::Smooth::scale)).
    /// Tolerances of F are relative to it plus |F|.
    fn scale(&self, x: &RowMat) -> f64;

    /// Violation of the constraint: ‖XᵀX − I‖_F, or the mean of |XᵀJX − J|.
    fn feasibility(&self, x: &RowMat) -> f64;

    /// False for an X that is plainly not feasible: not finite, or with columns of another length than 1 where the
    /// constraint asks for that. An X that has left the constraint may have any F, so nothing that is kept of a run is
    /// without it. Cost O(nr).
    fn is_sized(&self, x: &RowMat) -> bool {
        has_unit_columns(x)
    }

    /// ‖min(0, X)‖_F where X must be nonnegative.
    fn nonneg_violation(&self, _x: &RowMat) -> Option<f64> {
        None
    }

    /// True if F or a limit rewards zeros of X, so that entries near zero matter.
    fn asks_for_zeros(&self) -> bool {
        false
    }

    /// X with entries up to [`REPORT_ZERO`] at zero and the constraint restored on the entries that are left, where h
    /// or a limit asks for zeros and F does not rise beyond rounding; `None` if there is
    /// nothing to change. Every run ends with it, so that reported numbers are those of the returned X.
    fn cleaned(&self, _x: &RowMat) -> Option<RowMat> {
        None
    }
}

/// Size of F that tolerances are relative to: |`objective`| plus its [scale](Evaluate::scale) `scale`. It has
/// the unit of F, and is not small where F is a small difference of large numbers.
pub fn size(scale: f64, objective: f64) -> f64 {
    scale + objective.abs()
}

/// True if `new` lies below `old` by more than the share `least` of the [`size`] of F there. Every step that is taken because F
/// falls asks this, never how the two compare: where F, or the part of it that a step changes, is rounding alone, a decrease that is
/// measured by F itself may be found for ever.
pub fn lowers(new: f64, old: f64, scale: f64, least: f64) -> bool {
    old - new > least * size(scale, new)
}

/// Violation of the constraint from which X has left it, relative to 1 + ‖X‖²; rounding is far below it.
const OFF: f64 = 1e-6;

/// Is X a point of the constraint, up to rounding? It is no work that limits count.
pub fn is_point<P: Evaluate + ?Sized>(problem: &P, x: &RowMat) -> bool {
    let most = OFF * (1.0 + x.norm().powi(2));
    problem.is_sized(x) && work::counted(|| problem.feasibility(x)).0 <= most
}

/// Number of entries that are not zero.
pub fn count_nonzeros(x: &RowMat) -> usize {
    x.data().iter().filter(|v| **v != 0.0).count()
}

/// Number of entries that are not zero and at most [`REPORT_ZERO`].
pub fn count_tiny(x: &RowMat) -> usize {
    x.data().iter().filter(|v| **v != 0.0 && v.abs() <= REPORT_ZERO).count()
}

/// X with tiny entries set to zero: the papers count nonzeros of infeasible iterates in this way.
pub fn without_tiny(x: &RowMat) -> RowMat {
    let mut x = x.clone();
    x.data_mut().iter_mut().filter(|v| v.abs() <= REPORT_ZERO).for_each(|v| *v = 0.0);
    x
}

/// Sizes up to which entries are tried as zeros all together, from the largest; the last are rounding.
const LIMITS: [f64; 5] = [REPORT_ZERO, 1e-7, 1e-8, 1e-9, ROUNDING];
/// Size of entries that are rounding, and the rise of F allowed when they are set to zero, relative to the sizes of f
/// and h.
const ROUNDING: f64 = 1e-10;
const RISE: f64 = 1e-11;
/// Rounding errors of F, relative to the sizes of f and h.
const NOISE: f64 = 1e-14;
/// Largest violation of the constraint of the result.
const FEASIBLE: f64 = 3e-13;

/// [`Evaluate::cleaned`] for an F that rewards zeros; `restore` brings X back to the constraint without
/// changing a zero and returns the remaining violation.
///
/// Small entries are on their way to a kink at zero: a pair of rows makes one entry zero exactly, but its rotation moves
/// the others of its two rows, and methods with gradients get there in the limit only. All entries of a size go at once,
/// and smaller ones alone where F would rise; again, as the constraint restored may bring others there.
pub fn without_dust(
    x: &RowMat,
    objective: impl Fn(&RowMat) -> Objective,
    restore: impl Fn(&mut RowMat) -> f64,
) -> Option<RowMat> {
    let mut clean = dust_off(x, &objective, &restore)?;
    // every round has more zeros than the one before
    while let Some(next) = dust_off(&clean, &objective, &restore) {
        clean = next;
    }
    Some(clean)
}

fn dust_off(
    x: &RowMat,
    objective: &dyn Fn(&RowMat) -> Objective,
    restore: &dyn Fn(&mut RowMat) -> f64,
) -> Option<RowMat> {
    if count_tiny(x) == 0 {
        return None;
    }
    let before = objective(x);
    let size = before.smooth.abs() + before.nonsmooth.abs();
    let mut last = 0; // entries that the limit before dropped
    for limit in LIMITS {
        let mut clean = x.clone();
        let dust = |v: &&mut f64| **v != 0.0 && v.abs() <= limit;
        let dropped = clean.data_mut().iter_mut().filter(dust).map(|v| *v = 0.0).count();
        if dropped == 0 {
            break;
        }
        if dropped == last && limit > ROUNDING {
            continue;
        }
        last = dropped;
        let error = restore(&mut clean);
        let slack = if limit <= ROUNDING { RISE } else { NOISE } * size;
        if error <= FEASIBLE && objective(&clean).total <= before.total + slack {
            return Some(clean);
        }
    }
    None
}

/// λ times the entries that are not zero; 0 where λ is.
pub fn price_of_nonzeros(lambda: f64, x: &RowMat) -> f64 {
    if lambda > 0.0 { lambda * count_nonzeros(x) as f64 } else { 0.0 }
}

/// The parts of F = f + λ times what is counted.
pub fn with_price(smooth: f64, lambda: f64, count: impl FnOnce() -> usize) -> Objective {
    let nonsmooth = if lambda > 0.0 { lambda * count() as f64 } else { 0.0 };
    Objective { total: smooth + nonsmooth, smooth, nonsmooth }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decrease_counts_above_the_rounding_of_the_data() {
        assert!(lowers(-1.0 - 1e-9, -1.0, 1.0, 1e-10) && !lowers(-1.0 - 1e-11, -1.0, 1.0, 1e-10));
        // F itself is rounding: a third more of it is none
        assert!(!lowers(-4e-17, -3e-17, 1.0, 1e-11) && !lowers(-4e-17, 3e-17, 1.0, 1e-11));
        for unit in [2f64.powi(-300), 2f64.powi(300)] {
            assert!(lowers(-2.0 * unit, -unit, unit, 1e-9) && !lowers(-unit, -unit, unit, 1e-9));
        }
        assert!(!lowers(f64::NAN, -1.0, 1.0, 1e-9) && !lowers(0.0, 0.0, 0.0, 1e-9));
        assert!(lowers(-1.0, f64::INFINITY, 1.0, 0.0));
    }
}
