//! JOBCD: block coordinate descent for min f(X), XᵀJX = J (JOBCD paper; docs/mathematics.md, section 9).
//!
//! ```text
//! GS-JOBCD (Algorithm 1)                          gs.rs, image.rs
//!   (S1) choose two rows B
//!   (S2) choose Q: exact, or the majoriser L_f(ZZᵀ ⊗ I₂) + θI
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
//! whose rate falls with the condition of C. [`Side::Auto`] takes columns there and rows (the
//! paper) elsewhere.

mod decoupled;
mod gs;
mod image;
mod jacobi;
mod pairing;
mod rounds;
mod vr;

use super::{SolverInfo, SolverOptions};
use super::{obcd::Candidates, obcd::WorkingSet};
use crate::constraint::JOrthogonal;
use crate::constraint::j_orthogonal::max_abs;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::products::product;
use crate::options::checked;
use crate::pair::step::Model;
use crate::problem::{JProblem, Problem};
use crate::smooth::Smooth;

pub use gs::{GsJobcd, INFO as GS_JOBCD};
pub use jacobi::{INFO as J_JOBCD, JJobcd, info as j_jobcd};
pub use vr::{INFO as VR_J_JOBCD, VrJJobcd, info as vr_j_jobcd};

/// Which pairs a step turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Columns where that decouples the pairs (`hyperbolic-eig`), rows elsewhere.
    #[default]
    Auto,
    /// Pairs of rows of X, as in the paper.
    Rows,
    /// Pairs of columns of X: the paper's algorithm on the transposed problem.
    Columns,
}

/// Names of the sides, with one line each.
pub const SIDES: &[(&str, Side, &str)] = &[
    ("auto", Side::Auto, "columns where that decouples the pairs (hyperbolic-eig), rows elsewhere"),
    ("rows", Side::Rows, "pairs of rows of X, as in the paper"),
    ("columns", Side::Columns, "pairs of columns of X: the same algorithm on the transposed problem"),
];

impl Side {
    /// Parses one of [`SIDES`].
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn parse(name: &str) -> Result<Self> {
        SIDES.iter().find(|s| s.0 == name).map(|s| s.1).ok_or_else(|| Error::UnknownName {
            kind: "side",
            name: name.into(),
            known: SIDES.iter().map(|s| s.0).collect::<Vec<_>>().join(", "),
        })
    }

    /// Its name in [`SIDES`].
    pub fn name(self) -> &'static str {
        SIDES.iter().find(|s| s.1 == self).map_or("?", |s| s.0)
    }
}

/// Choices of JOBCD that are not numbers; numbers are constants of the solvers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobcdOptions {
    /// Rule for the pair of a step (GS), or for the pairs of a round (J: random or cyclic, where a
    /// cyclic pass of n − 1 rounds meets all pairs once). By default cyclic, but random rounds of
    /// rows, as in the paper.
    pub working_set: Option<WorkingSet>,
    /// Choice of Q in GS-JOBCD. (Rounds have the exact Q for decoupled columns, the metric of rows
    /// elsewhere.)
    pub model: Model,
    /// Rows or columns of X.
    pub side: Side,
    /// Pairs that the greedy rules of GS-JOBCD look at; `None` is min(n, 200).
    pub candidates: Option<Candidates>,
}

/// What stops a run whose f has no lower bound.
pub(crate) const UNBOUNDED: &str = "f has no lower bound here: boosts of two rows lower it without end. Stopped where \
     ||X|| reached the limit, beyond which rounding, eps*||X||^2, would leave nothing of X'JX = J; X is the \
     last point before that";

/// Largest row norm of X, or infinity where it is not a number.
fn largest_row(x: &RowMat) -> f64 {
    (0..x.nrows()).fold(0.0, |m: f64, i| m.max(row_norm(x.row(i))))
}

fn row_norm(row: &[f64]) -> f64 {
    let square: f64 = row.iter().map(|v| v * v).sum();
    if square.is_finite() { square.sqrt() } else { f64::INFINITY }
}

/// The constant `name` of a solver, checked.
fn constant(
    info: &SolverInfo<JProblem>,
    options: &SolverOptions,
    name: &str,
    expected: &str,
    accepted: impl Fn(f64) -> bool,
) -> Result<f64> {
    checked(&format!("{}-{name}", info.name), options.value(info, name), expected, accepted)
}

/// Rows i < j of a matrix, both writable.
fn two_rows(m: &mut RowMat, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
    let n = m.ncols();
    let (head, tail) = m.data_mut().split_at_mut(j * n);
    (&mut head[i * n..(i + 1) * n], &mut tail[..n])
}

/// max |Ω| relative to the largest |W| seen so far, W = GXᵀ, Ω = JW − (JW)ᵀ.
pub(crate) fn relative_stationarity<F: Smooth>(
    p: &Problem<JOrthogonal, F>,
    x: &RowMat,
    g: &RowMat,
    scale: &mut f64,
) -> f64 {
    let n = p.order();
    let mut w = RowMat::zeros(n, n);
    product(&mut w, false, 1.0, g.as_mat(), x.as_mat().transpose());
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
