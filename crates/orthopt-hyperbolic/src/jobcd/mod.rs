//! JOBCD: block coordinate descent for min f(X), XᵀJX = J (JOBCD paper; docs/mathematics.md, section 9).
//!
//! ```text
//! GS-JOBCD (Algorithm 1)                          gs.rs, image.rs
//!   (S1) choose two rows B
//!   (S2) choose Q: exact, or the majoriser L_f(ZZᵀ ⊗ I₂) + θI   (any f: gs_any.rs)
//!   (S3) V ← a global minimiser of ⟨V − I, [∇f(X)Xᵀ]_BB⟩ + ½‖V − I‖²_Q, VᵀJ_BBV = J_BB
//!   (S4) X(B, :) ← V X(B, :)
//! J-JOBCD: the same for n/2 disjoint pairs at once   jacobi.rs, rounds.rs
//! VR-J-JOBCD (Algorithm 2): with a PAGE estimator     vr.rs
//! ```
//!
//! **Rows or columns.** The group is closed under transposition, so Y = Xᵀ with f̃(Y) = f(Yᵀ) is a
//! problem of the same kind, and Algorithm 1 on it turns pairs of columns of X. For f = ½tr(XᵀMXN)
//! both are ½tr(A S), S = YBYᵀ, with (Y, A, B) = (X, M, N) for rows and (Xᵀ, N, M) for columns, and
//! a step costs O(n). For `hyperbolic-eig` A = I on the column side: the pairs decouple, rounds of
//! disjoint pairs are exact, and Algorithm 1 becomes the J-Jacobi eigenvalue method, which
//! converges quadratically ([`crate::jpair::jacobi`]); on the row side it is coordinate descent,
//! whose rate falls with the condition of C. [`Side::Auto`](orthopt_core::pair::options::Side::Auto) takes columns there and rows (the
//! paper) elsewhere.

mod decoupled;
mod gs;
mod gs_any;
mod image;
mod jacobi;
mod pairing;
pub mod rounds;
mod vr;

use orthopt_core::constraint::j_orthogonal::{self, max_abs};
use orthopt_core::constraint::{JOrthogonal, Signature};
use orthopt_core::pair::movable::Movable;
use orthopt_linalg::products::multiply;
use orthopt_solvers::pair_descent::Upkeep;
use orthopt_solvers::prelude::*;

pub use gs::INFO as GS_JOBCD;
pub use jacobi::INFO as J_JOBCD;
pub use pairing::{Tournament, matching};
pub use vr::INFO as VR_J_JOBCD;

/// Status and message of a run whose ‖X‖ has reached the limit.
pub(crate) fn beyond_limit<F: Smooth>(f: &F) -> (Status, &'static str) {
    if f.is_bounded_below() { (Status::Stalled, FAR) } else { (Status::Unbounded, UNBOUNDED) }
}

/// Message for an f that is bounded below.
const FAR: &str = "||X|| reached its limit, beyond which rounding errors of size eps*||X||^2 \
     violate X'JX = J; f still falls along growing boosts";
/// Message for an f that may have no lower bound.
pub(crate) const UNBOUNDED: &str = "f has no lower bound here: boosts of two rows lower it without end. Stopped where \
                                    ||X|| reached its limit, beyond which rounding errors of size eps*||X||^2 violate \
                                    X'JX = J; X is the last point before that";

/// Passes between two checks of feasibility, each of which costs two thirds of a pass or less.
const CHECK: u64 = 4;
/// ‖XᵀJX − J‖_F above which X is repaired.
const DRIFT: f64 = 1e-10;

/// When X is examined.
fn upkeep(rows: &Movable) -> Upkeep {
    let moves = CHECK * rows.pairs().max(1);
    Upkeep { refresh: moves, look: moves, between_passes: true }
}

/// True if X needs repair.
fn has_drifted(x: &RowMat, j: &Signature) -> bool {
    j_orthogonal::residual(x, j).norm() > DRIFT
}

/// |f|, but not less than rounding leaves of it: `size` is one of f that does not cancel.
fn not_below_rounding(objective: f64, size: f64) -> f64 {
    objective.abs().max(1e-6 * size)
}

/// Largest row norm of X, or infinity where it is not a number.
pub(crate) fn largest_row(x: &RowMat) -> f64 {
    (0..x.nrows()).fold(0.0, |m: f64, i| m.max(row_norm(x.row(i))))
}

fn row_norm(row: &[f64]) -> f64 {
    let square: f64 = row.iter().map(|v| v * v).sum();
    if square.is_finite() { square.sqrt() } else { f64::INFINITY }
}

/// max |Ω| relative to the largest |W| seen so far, W = GXᵀ, Ω = JW − (JW)ᵀ.
pub(crate) fn relative_stationarity<F: Smooth>(
    p: &Problem<JOrthogonal, F>,
    x: &RowMat,
    g: &RowMat,
    scale: &mut f64,
) -> f64 {
    let n = p.order();
    let w = multiply(g.as_mat(), x.as_mat().transpose());
    *scale = scale.max(max_abs(&w));
    let j = p.signature();
    let mut most = 0.0f64;
    for a in 0..n {
        for b in 0..a {
            most = most.max((j.sign(a) * w.get(a, b) - j.sign(b) * w.get(b, a)).abs());
        }
    }
    if most == 0.0 { 0.0 } else { most / scale.max(f64::MIN_POSITIVE) }
}
