//! OptM-Cayley: curvilinear search along the Cayley transform (Wen & Yin 2013).

use crate::prelude::*;
use faer::Mat;

use super::{Curve, Curvilinear, Iterate, polished, preset};
use orthopt_linalg::products::{gram, multiply, product};
use orthopt_linalg::sequential::lu_solve;
use orthopt_linalg::unit::unit_of;

/// The Cayley curve X(τ) = (I + τ/2·W)⁻¹(I − τ/2·W)X with the skew W = GXᵀ − XGᵀ
/// (Wen & Yin 2013, Lemma 3).
///
/// W = UVᵀ with U = [G, X], V = [X, −G], so for 2r < n the 2r × 2r form is used,
/// X(τ) = X − τU(I + τ/2·VᵀU)⁻¹VᵀX (Lemma 4); VᵀU and VᵀX consist of XᵀX, A = XᵀG and GᵀG. G is divided by a power of
/// two near its size there, and τ multiplied by it, so that the pivots of that system do not depend on the unit of f. For
/// 2r ≥ n the n × n system is solved.
#[derive(Clone, Copy, Debug)]
pub struct Cayley;

/// VᵀU and VᵀX, or W and X.
#[derive(Debug)]
pub enum Prepared {
    /// 2r < n.
    LowRank {
        /// VᵀU (2r × 2r).
        vu: Mat<f64>,
        /// VᵀX (2r × r).
        vx: Mat<f64>,
        /// Divisor of G in them.
        unit: f64,
    },
    /// W (n × n).
    Full(Mat<f64>),
}

impl Curve for Cayley {
    const INFO: Preset<Curvilinear<Self>> = preset(
        "optm-cayley",
        "gradient steps along the Cayley transform, Barzilai-Borwein, nonmonotone (Wen-Yin)",
    );
    const CORRECTS: bool = false;
    type Prepared = Prepared;

    fn prepare(at: &Iterate) -> Prepared {
        let (n, r) = (at.x.nrows(), at.x.ncols());
        if 2 * r >= n {
            let w = multiply(at.g.as_mat(), at.x.as_mat().transpose());
            return Prepared::Full(Mat::from_fn(n, n, |i, j| w.get(i, j) - w.get(j, i)));
        }
        let unit = unit_of(at.g.data());
        let (xx, gg, a) = (gram(&at.x), gram(&at.g), &at.a);
        // [XᵀG  XᵀX; −GᵀG  −GᵀX] and [XᵀX; −GᵀX]
        let vu = Mat::from_fn(2 * r, 2 * r, |i, j| match (i < r, j < r) {
            (true, true) => a.get(i, j) / unit,
            (true, false) => xx.get(i, j - r),
            (false, true) => -gg.get(i - r, j) / unit / unit,
            (false, false) => -a.get(j - r, i - r) / unit,
        });
        let vx = Mat::from_fn(2 * r, r, |i, j| if i < r { xx.get(i, j) } else { -a.get(j, i - r) / unit });
        Prepared::LowRank { vu, vx, unit }
    }

    fn point(at: &Iterate, prepared: &Prepared, tau: f64) -> Option<RowMat> {
        let half = 0.5 * tau;
        let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
        let x = match prepared {
            Prepared::LowRank { vu, vx, unit } => {
                let (k, r) = (vu.nrows(), vx.ncols());
                let system = Mat::from_fn(k, k, |i, j| identity(i, j) + half * unit * vu[(i, j)]);
                let c = lu_solve(system.as_ref(), vx.as_ref());
                let mut x = at.x.clone();
                product(&mut x, true, -tau, at.g.as_mat(), c.as_ref().subrows(0, r));
                product(&mut x, true, -tau * unit, at.x.as_mat(), c.as_ref().subrows(r, r));
                x
            }
            Prepared::Full(w) => {
                let n = w.nrows();
                let system = Mat::from_fn(n, n, |i, j| identity(i, j) + half * w[(i, j)]);
                let mut right = at.x.clone();
                product(&mut right, true, -half, w.as_ref(), at.x.as_mat());
                RowMat::from_mat(lu_solve(system.as_ref(), right.as_mat()).as_ref())
            }
        };
        polished(&x)
    }
}
