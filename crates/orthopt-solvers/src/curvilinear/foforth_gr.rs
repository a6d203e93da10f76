//! FOForth-GR: gradient reflection (Gao, Liu, Chen & Yuan 2018).

use super::{Curve, Curvilinear, Iterate, polished, preset};
use crate::prelude::*;
use orthopt_linalg::cholesky::{cholesky, solve};
use orthopt_linalg::products::{cross, gram, multiply, product};
use orthopt_linalg::small::spectral_function;

/// Gradient reflection: X(τ) = (2P − I)X, P the projector onto the range of V = X − τ/2·(G − XΛ), that is
/// −X + 2V(VᵀV)†VᵀX; see
/// [`Iterate::lagrangian_step`] for Λ.
///
/// The reflection goes twice as far as V: X(τ) = X − τ(I − XXᵀ)G + O(τ²) with the half. Without it
/// the steps of Barzilai and Borwein, 1/curvature, land on the mirror image of X for ever.
#[derive(Clone, Copy, Debug)]
pub struct FoforthGr;

impl Curve for FoforthGr {
    const INFO: Preset<Curvilinear<Self>> =
        preset("foforth-gr", "gradient reflection and multiplier correction (Gao et al.)");
    const CORRECTS: bool = true;
    type Prepared = ();

    fn prepare(_at: &Iterate) {}

    fn point(at: &Iterate, _prepared: &(), tau: f64) -> Option<RowMat> {
        let v = at.lagrangian_step(0.5 * tau);
        let (vv, vx) = (gram(&v), cross(&v, &at.x));
        let c = match cholesky(&vv) {
            Some(l) => solve(&l, &vx),
            None => {
                let largest = vv.norm();
                let inverse = spectral_function(&vv, |w| if w > 1e-14 * largest { 1.0 / w } else { 0.0 })?;
                multiply(inverse.as_mat(), vx.as_mat())
            }
        };
        let mut x = at.x.clone();
        x.data_mut().iter_mut().for_each(|v| *v = -*v);
        product(&mut x, true, 2.0, v.as_mat(), c.as_mat());
        polished(&x)
    }
}
