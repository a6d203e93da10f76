//! A step of all rows at once, where pairs have nothing left and X is not critical (docs/mathematics.md, section 6).
//!
//! Every pair of rows may be stationary with a subgradient of its own. With the shortest of all subgradients of F along the
//! manifold, E = Proj_T(∇f(X) + z), −E is a direction along which F falls at the rate ‖E‖². An entry at zero stays there
//! unless its z is at an end of ∂h(0) and −E points away from it; such entries join the support, and F is lowered on
//! {X : supp X ⊆ S, XᵀX = I}.

use std::cell::Cell;

use crate::prelude::*;
use crate::support::descent::{ByGradient, Objective, Pace};
use crate::support::pattern::Pattern;
use orthopt_core::composite::{MOST, shortest_subgradient};
use orthopt_linalg::cancel::Cancel;

/// Entries of E beside the largest one below which an entry at zero stays there: E is known to so many digits.
const OPEN: f64 = 1e-4;
/// ‖XᵀX − I‖_F of points between steps: decreases of F by less than its product with the multipliers are not seen.
const TIGHT: f64 = 1e-13;
/// ‖D‖ beside the multipliers at which a descent on a support ends.
const FLAT: f64 = 1e-9;

/// Result of the step.
pub(super) struct Settled {
    pub criticality: f64, // ‖E‖, relative to the scale of f plus ‖∇f(X)‖; infinite where it took too long
    pub x: Option<RowMat>, // a point with a lower F
    pub gradients: u64,
}

/// The step from X with gradient G: at most `steps` gradient steps on the support that E leads to.
pub(super) fn settle<F: Smooth, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    (x, g, scale): (&RowMat, &RowMat, f64),
    steps: usize,
    pace: &mut Pace,
) -> Settled {
    // a step too short to be seen is no step to begin with
    pace.step = x.norm() / g.norm().max(f64::MIN_POSITIVE);
    let f = ByGradient { f: &p.f, gradients: Cell::new(1) };
    let Some((norm, z, e)) = shortest_subgradient(p, x, &Cancel::never(), MOST) else {
        return Settled { criticality: f64::INFINITY, x: None, gradients: 1 };
    };
    let criticality = norm / (scale + g.norm()).max(f64::MIN_POSITIVE);
    let d = on_support(&p.h, (x, &z, &e));
    let reached = (d.norm() > 0.0).then(|| {
        let objective = Objective { f: &f, h: &p.h, kappa: 1.0, loose: TIGHT };
        let mut point = objective.at(x.clone());
        let before = objective.of(&point);
        let support = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k).abs() + d.get(i, k).abs());
        let pattern = Pattern::of(&support);
        let diagonal = pattern.diagonal(x);
        if let Some((next, _)) = objective.line_search(&point, &d, &pattern, &diagonal, before, pace) {
            point = next;
            objective.descend(&mut point, steps, FLAT, pace);
        }
        (objective.of(&point) < before).then(|| point.tightened()).flatten().map(|point| point.x)
    });
    Settled { criticality, x: reached.flatten(), gradients: f.gradients.get() }
}

/// E on the support of X and where an entry leaves zero, zero elsewhere.
fn on_support<H: Nonsmooth>(h: &H, (x, z, e): (&RowMat, &RowMat, &RowMat)) -> RowMat {
    let largest = e.data().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| {
        let (z, e) = (z.get(i, k), e.get(i, k));
        let leaves = || {
            let (lo, hi) = h.subdifferential(0.0);
            e.abs() > OPEN * largest && (z >= hi && e < 0.0 || z <= lo && e > 0.0)
        };
        if x.get(i, k) != 0.0 || leaves() { e } else { 0.0 }
    })
}
