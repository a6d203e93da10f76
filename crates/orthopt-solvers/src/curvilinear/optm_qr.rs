//! OptM-QR: curvilinear search along the QR retraction (Wen & Yin 2013).

use super::{Curve, Curvilinear, Iterate, preset};
use crate::prelude::*;
use orthopt_linalg::cholesky::cholesky_qr;

/// X(τ) = the Q factor of X − τD.
///
/// D is tangent, so (X − τD)ᵀ(X − τD) = I + τ²DᵀD is well conditioned for all sensible τ, and the
/// factor comes from a Cholesky factorisation of that r × r matrix; from Householder where it is not.
#[derive(Clone, Copy, Debug)]
pub struct Qr;

/// The Q factor of a matrix that is usually close to orthonormal.
pub(super) fn q_factor(z: &RowMat) -> Option<RowMat> {
    let q = cholesky_qr(z).unwrap_or_else(|| stiefel::orthonormalise(z));
    q.find_non_finite().is_none().then_some(q)
}

impl Curve for Qr {
    const INFO: Preset<Curvilinear<Self>> =
        preset("optm-qr", "gradient steps with the QR retraction, Barzilai-Borwein, nonmonotone (Wen-Yin)");
    const CORRECTS: bool = false;
    type Prepared = ();

    fn prepare(_at: &Iterate) {}

    fn point(at: &Iterate, _prepared: &(), tau: f64) -> Option<RowMat> {
        q_factor(&at.moved(&at.d, tau))
    }
}
