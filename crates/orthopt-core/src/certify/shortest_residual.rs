//! The shortest residual over a convex set, for measures of criticality.

use crate::nonsmooth::Subgradients;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;

/// Iterations at most.
const MOST: usize = 3000;
/// Number of iterations without a relative decrease of 1e-7 after which it ends.
const QUIET: usize = 20;

/// The z of `set` with the least ‖e(z)‖_F for an affine e, and that norm: a convex quadratic, solved by projected gradients with momentum and
/// restart. `descent` is the gradient Lᵀe of ½‖e‖² (L the linear part of e) over ‖L‖², from e. Cost of both an iteration. `None` as soon
/// as it is cancelled, which is asked in every iteration, or after `most` iterations that were not enough.
pub fn shortest_residual(
    mut z: RowMat,
    set: &Subgradients,
    (residual, descent): (impl Fn(&RowMat) -> RowMat, impl Fn(&RowMat) -> RowMat),
    (cancel, most): (&Cancel, usize),
) -> Option<(f64, RowMat)> {
    set.nearest(&mut z);
    let mut e = residual(&z);
    let mut best = e.norm();
    if set.is_single() {
        return Some((best, z)); // nothing to choose
    }
    let scale = best.max(f64::MIN_POSITIVE);
    let (mut previous, mut momentum, mut quiet) = (z.clone(), 1.0f64, 0);
    for iteration in 0..MOST {
        if iteration == most || cancel.is_over() {
            return None;
        }
        let mut next = z.clone();
        next.data_mut().iter_mut().zip(descent(&e).data()).for_each(|(v, g)| *v -= g);
        set.nearest(&mut next);
        let reached = residual(&next).norm();
        quiet = if best - reached <= 1e-7 * scale.min(best) { quiet + 1 } else { 0 };
        if reached <= best {
            best = reached;
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let weight = (momentum - 1.0) / grown;
            momentum = grown;
            z = next.clone();
            z.data_mut().iter_mut().zip(previous.data()).for_each(|(v, p)| *v += weight * (*v - p));
            set.nearest(&mut z);
            previous = next;
        } else {
            (z, momentum) = (previous.clone(), 1.0); // overshot: restart from the best point
        }
        e = residual(&z);
        if quiet >= QUIET || best <= 1e-15 * scale {
            break;
        }
    }
    Some((best, previous))
}
