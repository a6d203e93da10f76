//! The clean end of a run.

use super::oracle::DRIFT;
use crate::constraint::Stiefel;
use crate::constraint::stiefel;
use crate::linalg::RowMat;
use crate::objective::{REPORT_ZERO, size};
use crate::pair::PairPenalty;
use crate::problem::Problem;
use crate::smooth::Smooth;

/// X without dust, and repaired where it has left the manifold by more than rounding.
pub(crate) fn clean<F: Smooth, H: PairPenalty>(p: &Problem<Stiefel, F, H>, x: RowMat) -> RowMat {
    let mut x = drop_dust(p, x);
    if stiefel::feasibility(&x) > DRIFT {
        stiefel::repair_on_support(&mut x);
    }
    x
}

/// Entries up to this are tried as zeros all together, then fewer of them; the last are rounding.
const LIMITS: [f64; 5] = [REPORT_ZERO, 1e-7, 1e-8, 1e-9, ROUNDING];
/// Entries of the size of rounding.
const ROUNDING: f64 = 1e-10;

/// Small entries on their way to a kink at zero: a pair makes one entry zero exactly, but its rotation moves the
/// others of its two rows, so that many at once get there in the limit only, and passes leave alone what is
/// within their tolerance. Sets them to zero together, restores XᵀX = I on the support that is left, and
/// keeps the result if F is no higher.
fn drop_dust<F: Smooth, H: PairPenalty>(p: &Problem<Stiefel, F, H>, x: RowMat) -> RowMat {
    if !p.h.promotes_sparsity() {
        return x;
    }
    let exact = |x: &RowMat| p.f.value(x) + p.h.value(x.data());
    let before = exact(&x);
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
        let error = stiefel::repair_on_support(&mut clean);
        // dropping rounding errors may cost rounding errors
        let slack = if limit <= ROUNDING { 1e-11 * size(p.f.scale(&x), before) } else { 0.0 };
        if error <= DRIFT && exact(&clean) <= before + slack {
            return clean;
        }
    }
    x
}
