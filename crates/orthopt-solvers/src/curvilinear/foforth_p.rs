//! FOForth-P: gradient projection (Gao, Liu, Chen & Yuan 2018).

use super::{Curve, Curvilinear, Iterate, preset};
use crate::prelude::*;
use orthopt_linalg::small::polar;

/// Gradient projection: X(τ) = the nearest orthonormal matrix to X − τ(G − XΛ).
#[derive(Clone, Copy, Debug)]
pub struct FoforthP;

impl Curve for FoforthP {
    const INFO: Preset<Curvilinear<Self>> =
        preset("foforth-p", "gradient projection and multiplier correction (Gao et al.)");
    const CORRECTS: bool = true;
    type Prepared = ();

    fn prepare(_at: &Iterate) {}

    fn point(at: &Iterate, _prepared: &(), tau: f64) -> Option<RowMat> {
        polar(&at.lagrangian_step(tau))
    }
}
