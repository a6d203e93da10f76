//! The clean end of a run.

use super::oracle::DRIFT;
use crate::constraint::Stiefel;
use crate::constraint::stiefel;
use crate::linalg::RowMat;
use crate::objective::REPORT_ZERO;
use crate::pair::PairPenalty;
use crate::problem::Problem;
use crate::smooth::Quadratic;

/// X without dust, and repaired where it has left the manifold by more than rounding.
pub(super) fn clean<F: Quadratic, H: PairPenalty>(p: &Problem<Stiefel, F, H>, x: RowMat) -> RowMat {
    let mut x = drop_dust(p, x);
    if stiefel::feasibility(&x) > DRIFT {
        stiefel::repair_on_support(&mut x);
    }
    x
}

/// Entries that are rounding (or, for ℓ0, that reports do not count, |x| ≤ 1e-6): sets them to
/// zero, restores XᵀX = I on the support that is left, and keeps the result if F is no higher.
fn drop_dust<F: Quadratic, H: PairPenalty>(p: &Problem<Stiefel, F, H>, mut x: RowMat) -> RowMat {
    if !p.h.promotes_sparsity() {
        return x;
    }
    let exact = |x: &RowMat| p.f.value(x) + p.h.value(x.data());
    for limit in [1e-10, REPORT_ZERO] {
        if limit == REPORT_ZERO && p.h.value(x.data()) == p.h.reported_value(x.data()) {
            break;
        }
        let mut clean = x.clone();
        let dust = |v: &&mut f64| **v != 0.0 && v.abs() <= limit;
        let dropped = clean.data_mut().iter_mut().filter(dust).map(|v| *v = 0.0).count();
        if dropped == 0 {
            continue;
        }
        let error = stiefel::repair_on_support(&mut clean);
        let before = exact(&x);
        // dropping rounding errors may cost rounding errors
        let slack = if limit < REPORT_ZERO { 1e-11 * (1.0 + before.abs()) } else { 0.0 };
        if error <= DRIFT && exact(&clean) <= before + slack {
            x = clean;
        }
    }
    x
}
