//! The two-row subproblem of the nonlinear eigenvalue problem.
//!
//! Along a circle of O(2) the two rows Z of X become V Z. CX and E enter as for any quadratic, with a
//! trigonometric polynomial of degree 2 ([`PairModel::circles`]). ρᵢ + ρⱼ does not change, and with
//! W = ZZᵀ, d = (W₁₁ − W₂₂)/2
//!
//! ```text
//! ρᵢ(θ) − ρᵢ = u(θ) − d,   ρⱼ(θ) − ρⱼ = d − u(θ),   u(θ) = d cos 2θ ± W₁₂ sin 2θ  (+ rot, − ref)
//! λ/4·(ρᵀC†ρ)(θ) = const + λ/2·(σᵢ − σⱼ)(u − d) + λ/4·κ(u − d)²
//! σ = C†ρ,  κ = (C†)ᵢᵢ − 2(C†)ᵢⱼ + (C†)ⱼⱼ
//! ```
//!
//! so p has degree 4 exactly. Its coefficients of degree 3 are zero.

use super::trig4::Trig4;
use crate::pair::PairModel;
use crate::smooth::NonlinearEig;
use crate::smooth::nonlinear_eig::Image;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::plane::{Branch, PairMove};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// Method for the minimum along a circle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CircleSearch {
    /// The global minimum over both circles.
    #[default]
    Exact,
    /// The fifth-order iteration from θ = 0 on both circles (OBCD-Approx).
    FifthOrder,
}

/// A move of a pair and its decrease of f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGain {
    /// The decrease of f, evaluated from the change of the rows.
    pub decrease: f64,
    /// The move.
    pub step: PairMove,
}

/// Buffers of the pair step.
#[derive(Clone, Debug)]
pub struct Work {
    /// The first row of VZ.
    pub new1: Vec<f64>, // rows of VZ
    /// The second row of VZ.
    pub new2: Vec<f64>,
    d1: Vec<f64>, // their change
    d2: Vec<f64>,
}

impl Work {
    /// Room for rows of r entries.
    pub fn new(r: usize) -> Self {
        let row = || vec![0.0; r];
        Self { d1: row(), d2: row(), new1: row(), new2: row() }
    }
}

/// The objective over a pair of rows, up to a constant.
#[derive(Clone, Copy, Debug)]
pub struct PairObjective<'a> {
    quadratic: PairModel<'a>, // CX + E over the pair, shift α
    lambda: f64,              // λ
    tilt: f64,                // σᵢ − σⱼ
    bend: f64,                // κ
}

impl<'a> PairObjective<'a> {
    /// f over the rows i and j of X with the proximal term α/2‖V − I‖² (a constant apart).
    /// Cost O(r).
    pub fn new(f: &NonlinearEig, x: &'a RowMat, image: &Image, (i, j): (usize, usize), alpha: f64) -> Self {
        let (g1, g2) = (image.linear_row(i), image.linear_row(j));
        let k = [f.curvature(i, i), f.curvature(i, j), f.curvature(j, j)];
        let model = Model { g: (g1, g2), k, alpha, z: (x.row(i), x.row(j)) };
        Self {
            quadratic: dispatch(model),
            lambda: f.lambda(),
            tilt: image.potential()[i] - image.potential()[j],
            bend: f.inverse(i, i) - 2.0 * f.inverse(i, j) + f.inverse(j, j),
        }
    }

    /// The nine coefficients on the two circles, `[rot, ref]`.
    pub fn circles(&self) -> [Trig4; 2] {
        let [w11, w12, w22] = self.quadratic.w;
        let d = 0.5 * (w11 - w22);
        let quadratic = self.quadratic.circles();
        let circle = |branch: usize| {
            let p = quadratic[branch];
            let w = if branch == 0 { w12 } else { -w12 };
            // λ/2·tilt·(u − d) + λ/4·κ(u² − 2du + d²), u = d cos 2θ + w sin 2θ
            let linear = 0.5 * self.lambda * (self.tilt - self.bend * d);
            let square = 0.25 * self.lambda * self.bend;
            Trig4 {
                c0: self.quadratic.constant() - 0.5 * self.lambda * self.tilt * d
                    + square * (d * d + 0.5 * (d * d + w * w)),
                a: [p.a, p.a2 + linear * d, 0.0, 0.5 * square * (d * d - w * w)],
                b: [p.b, p.b2 + linear * w, 0.0, square * d * w],
            }
        };
        [circle(0), circle(1)]
    }

    /// The best move that the search finds, `None` where that is V = I.
    pub fn search(&self, search: CircleSearch) -> Option<PairMove> {
        let circles = self.circles();
        let mut best = (circles[0].value(0.0), None);
        for (branch, p) in [Branch::Rotation, Branch::Reflection].into_iter().zip(&circles) {
            let theta = match search {
                CircleSearch::Exact => p.minimiser(),
                CircleSearch::FifthOrder => p.fifth_order(0.0),
            };
            let value = p.value(theta);
            if value < best.0 {
                best = (value, Some(PairMove::new(branch, theta.cos(), theta.sin())));
            }
        }
        best.1.filter(|v| *v != PairMove::IDENTITY)
    }

    /// f(X) − f(X⁺) for the move whose rows VZ are given, from differences, so that it is
    /// accurate for tiny moves too.
    fn decrease(&self, (g1, g2): (&[f64], &[f64]), (new1, new2): (&[f64], &[f64]), rho: [f64; 2]) -> f64 {
        let (z1, z2) = (self.quadratic.z1, self.quadratic.z2);
        let k = self.quadratic.k;
        let mut sum = [0.0; 6]; // ⟨G,Δ⟩, Δ₁·Δ₁, Δ₁·Δ₂, Δ₂·Δ₂, δᵢ, δⱼ
        for c in 0..z1.len() {
            let (d1, d2) = (new1[c] - z1[c], new2[c] - z2[c]);
            sum[0] += g1[c] * d1 + g2[c] * d2;
            sum[1] += d1 * d1;
            sum[2] += d1 * d2;
            sum[3] += d2 * d2;
            sum[4] += d1 * (new1[c] + z1[c]);
            sum[5] += d2 * (new2[c] + z2[c]);
        }
        let quadratic = sum[0] + 0.5 * (k[0] * sum[1] + 2.0 * k[1] * sum[2] + k[2] * sum[3]);
        let [sigma1, sigma2] = rho;
        // δⱼ = −δᵢ up to rounding
        let change = 0.5 * (sum[4] - sum[5]);
        let potential = 0.5 * (sigma1 - sigma2) * change + 0.25 * self.bend * change * change;
        -(quadratic + self.lambda * potential)
    }
}

/// The quadratic part as a kernel.
struct Model<'a, 'b> {
    g: (&'b [f64], &'b [f64]),
    k: [f64; 3],
    alpha: f64,
    z: (&'a [f64], &'a [f64]),
}

impl<'a> WithSimd for Model<'a, '_> {
    type Output = PairModel<'a>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> PairModel<'a> {
        PairModel::new(simd, self.g, self.k, self.alpha, self.z)
    }
}

/// The move of rows i and j, its rows left in `work`: the best one without the proximal term if it
/// lowers f by α/2‖V − I‖², else the best one with it, if that does. Also the decrease that the
/// former offers.
pub fn solve_pair(
    f: &NonlinearEig,
    x: &RowMat,
    image: &Image,
    (i, j): (usize, usize),
    alpha: f64,
    search: CircleSearch,
    work: &mut Work,
) -> (f64, Option<PairGain>) {
    let mut offered = 0.0f64;
    for weight in [0.0, alpha] {
        let Work { new1, new2, .. } = &mut *work;
        let pair = PairObjective::new(f, x, image, (i, j), weight);
        let Some(step) = pair.search(search) else { break };
        step.apply(x.row(i), x.row(j), new1, new2);
        let sigma = [image.potential()[i], image.potential()[j]];
        let decrease = pair.decrease((image.linear_row(i), image.linear_row(j)), (new1, new2), sigma);
        if weight == 0.0 {
            offered = decrease.max(0.0);
        }
        if decrease <= 0.0 {
            break;
        }
        if decrease >= alpha * step.half_dist_sq() {
            return (offered, Some(PairGain { decrease, step }));
        }
    }
    (offered, None)
}

/// Makes the move in X and its image.
pub fn apply(f: &NonlinearEig, x: &mut RowMat, image: &mut Image, (i, j): (usize, usize), work: &mut Work) {
    let Work { d1, d2, new1, new2 } = work;
    for (d, new, row) in [(&mut *d1, &*new1, i), (&mut *d2, &*new2, j)] {
        d.copy_from_slice(new);
        axpy(-1.0, x.row(row), d);
    }
    f.move_pair(image, (i, j), (d1, d2), (new1, new2));
    x.row_mut(i).copy_from_slice(new1);
    x.row_mut(j).copy_from_slice(new2);
}
