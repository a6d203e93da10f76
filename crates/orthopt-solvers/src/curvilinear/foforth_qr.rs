//! FOForth-QR: QR retraction (Gao, Liu, Chen & Yuan 2018).

use super::optm_qr::q_factor;
use super::{Curve, Curvilinear, Iterate, preset};
use crate::prelude::*;

/// X(τ) = the Q factor of X − τD.
#[derive(Clone, Copy, Debug)]
pub struct FoforthQr;

impl Curve for FoforthQr {
    const INFO: Preset<Curvilinear<Self>> =
        preset("foforth-qr", "QR retraction and multiplier correction (Gao et al.)");
    const CORRECTS: bool = true;
    type Prepared = ();

    fn prepare(_at: &Iterate) {}

    fn point(at: &Iterate, _prepared: &(), tau: f64) -> Option<RowMat> {
        q_factor(&at.moved(&at.d, tau))
    }
}
