//! The k = 2 subproblem of OBCD, solved globally: one angle.
//!
//! For two rows Z (2 × r) of X, minimise over V ∈ O(2)
//!
//! ```text
//! q(V) = ⟨V, P⟩ + ½ tr(Vᵀ K V W) + h(V Z),      W = Z Zᵀ
//! ```
//!
//! (OBCD paper, Problem (3) and Lemma 2.3). O(2) is two circles, `rot(θ) = [c s; −s c]` and
//! `ref(θ) = [−c s; s c]`; on each the smooth part is a trigonometric polynomial of degree 2
//! ([`circle::Trig`]). A penalty solves the problem in [`PairPenalty::search`], usually through
//! one of the engines here:
//!
//! * [`l0_search`], [`l1_search`]: penalties that ignore signs share one curve among eight smooth
//!   polynomials ([`fold`]);
//! * [`pieces`]: penalties that ignore signs and are quadratic between kinks (mcp, scad, capped ℓ1);
//! * [`box_search`]: entries between bounds;
//! * [`arc`]: global minimum of a trigonometric polynomial on an arc, by branch and bound;
//! * [`nonlinear`], [`trig4`]: f of degree 4 along each circle (nonlinear eigenvalues), h = 0;
//! * [`plain`]: the breakpoint search of the papers, scalar and O(r²);
//! * [`slow`]: the slow, obvious twin for any separable penalty, the oracle of the tests.
//!
//! [`PairPenalty::search`]: crate::pair::PairPenalty::search

pub mod arc;
pub mod box_search;
pub mod circle;
pub mod cursor;
mod cut;
pub mod fold;
pub mod l0_search;
pub mod l1_search;
pub mod movable;
pub mod nonlinear;
pub mod options;
pub mod penalty;
pub mod pieces;
pub mod plain;
pub mod row_set;
pub mod rows;
pub mod slow;
pub mod step;
pub mod trig4;
pub mod working_set;

use circle::Trig;
use orthopt_linalg::kernels::pair_products;
use orthopt_linalg::plane::{Branch, PairMove};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};
pub use penalty::PairPenalty;

/// W₁₁, W₁₂, W₂₂ outside a kernel.
struct Products<'a>(&'a [f64], &'a [f64]);

impl WithSimd for Products<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 3] {
        let [_, _, _, _, w11, w12, w22] = pair_products(simd, self.0, self.1, self.0, self.1);
        [w11, w12, w22]
    }
}

/// W of an f with weights of columns, ZDZᵀ.
#[cold]
#[inline(never)]
pub fn weighted_products(d: &[f64], z1: &[f64], z2: &[f64]) -> [f64; 3] {
    let of = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(d).map(|((a, b), d)| a * b * d).sum();
    [of(z1, z1), of(z1, z2), of(z2, z2)]
}

/// Data of one subproblem.
#[derive(Clone, Copy, Debug)]
pub struct PairModel<'a> {
    /// P = G_B Zᵀ − K W − αI (2 × 2).
    pub p: [[f64; 2]; 2],
    /// K₁₁, K₁₂, K₂₂ of the symmetric curvature K = M_BB (zero for the diagonal model (9)).
    pub k: [f64; 3],
    /// W₁₁, W₁₂, W₂₂ of W = Z Zᵀ, or Z D Zᵀ of ½ tr(XᵀMXD).
    pub w: [f64; 3],
    /// First row of Z.
    pub z1: &'a [f64],
    /// Second row of Z.
    pub z2: &'a [f64],
}

impl<'a> PairModel<'a> {
    /// The model of the rows `z1, z2` with gradient rows `g1, g2` and curvature `k`:
    /// the exact choice (8) of Q. `shift` is α, or ς + α with the diagonal choice (9) and
    /// `k = 0`. Cost 14·r flops.
    #[inline(always)]
    pub fn new<S: Simd>(
        simd: S,
        (g1, g2): (&[f64], &[f64]),
        k: [f64; 3],
        shift: f64,
        (z1, z2): (&'a [f64], &'a [f64]),
    ) -> Self {
        Self::weighted(simd, (g1, g2), k, shift, (z1, z2), None)
    }

    /// The model of the rows `z1, z2` for an f with weights `d` of the columns; otherwise as [`PairModel::new`].
    #[inline(always)]
    #[doc(hidden)]
    pub fn weighted<S: Simd>(
        simd: S,
        (g1, g2): (&[f64], &[f64]),
        k: [f64; 3],
        shift: f64,
        (z1, z2): (&'a [f64], &'a [f64]),
        d: Option<&[f64]>,
    ) -> Self {
        let [g11, g12, g21, g22, w11, w12, w22] = pair_products(simd, g1, g2, z1, z2);
        let [w11, w12, w22] = d.map_or([w11, w12, w22], |d| weighted_products(d, z1, z2));
        let p = [
            [g11 - k[0] * w11 - k[1] * w12 - shift, g12 - k[0] * w12 - k[1] * w22],
            [g21 - k[1] * w11 - k[2] * w12, g22 - k[1] * w12 - k[2] * w22 - shift],
        ];
        Self { p, k, w: [w11, w12, w22], z1, z2 }
    }

    /// The model ⟨V, P⟩ + h(V Z) without curvature.
    pub fn linear(p: [[f64; 2]; 2], z1: &'a [f64], z2: &'a [f64]) -> Self {
        Self::with_curvature(p, [0.0; 3], z1, z2)
    }

    /// The model with P given as it is.
    pub fn with_curvature(p: [[f64; 2]; 2], k: [f64; 3], z1: &'a [f64], z2: &'a [f64]) -> Self {
        let w = dispatch(Products(z1, z2));
        Self { p, k, w, z1, z2 }
    }

    /// The smooth part on the two circles, `[rot, ref]`, up to the constant ¼ tr(K) tr(W)
    /// (docs/mathematics.md, section 2).
    #[inline(always)]
    pub fn circles(&self) -> [Trig; 2] {
        let p = &self.p;
        let (dk, dw) = (0.5 * (self.k[0] - self.k[2]), 0.5 * (self.w[0] - self.w[2]));
        let (k12, w12) = (self.k[1], self.w[1]);
        [
            Trig {
                a: p[0][0] + p[1][1],
                b: p[0][1] - p[1][0],
                a2: dk * dw + k12 * w12,
                b2: dk * w12 - k12 * dw,
            },
            Trig {
                a: p[1][1] - p[0][0],
                b: p[0][1] + p[1][0],
                a2: dk * dw - k12 * w12,
                b2: -dk * w12 - k12 * dw,
            },
        ]
    }

    /// The constant ¼ tr(K) tr(W) that [`Self::circles`] leaves out.
    pub fn constant(&self) -> f64 {
        0.25 * (self.k[0] + self.k[2]) * (self.w[0] + self.w[2])
    }

    /// Decrease of the smooth part, p(I) − p(V), without cancellation for V near I.
    #[inline(always)]
    pub fn smooth_decrease(&self, v: &PairMove) -> f64 {
        let [rot, refl] = self.circles();
        match v.branch {
            Branch::Rotation => rot.decrease_from_zero(v.c, v.s),
            Branch::Reflection => rot.at_zero() - refl.value(v.c, v.s),
        }
    }
}
