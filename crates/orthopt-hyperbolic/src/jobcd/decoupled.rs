//! State of X that J-JOBCD keeps if pairs of columns decouple.

use std::sync::OnceLock;

use super::pairing::BlockTournament;
use orthopt_core::constraint::j_orthogonal::{self, Signature};
use orthopt_core::smooth::JQuadratic;
use orthopt_core::solve::Pass;
use orthopt_linalg::RowMat;
use orthopt_linalg::products::product;

/// ‖XᵀJX − J‖_F above which X is repaired.
pub(super) const DRIFT: f64 = 1e-10;

/// The sums of a pass that begins.
pub(super) const EMPTY: Pass = Pass { pairs: 0, decrease: 0.0, max_decrease: 0.0, covers_all: true };

/// State of rounds of decoupled columns.
#[derive(Clone, Debug)]
pub(super) struct Decoupled {
    pub y: RowMat,           // Xᵀ
    pub f: RowMat,           // YK, f = ½‖YK‖²
    pub x: OnceLock<RowMat>, // Xᵗ, once somebody asks for it
    pub tournament: BlockTournament,
    pub pass: Pass,
    pub aligned: u64,
    pub align: bool,
}

impl Decoupled {
    /// Drift control, as in GS-JOBCD.
    pub fn refresh(&mut self, j: &Signature, q: &JQuadratic, objective: &mut f64, repairs: &mut u64) {
        if j_orthogonal::residual(&self.y, j).norm() > DRIFT && j_orthogonal::repair(&mut self.y, j).is_some()
        {
            *repairs += 1;
        }
        if let Some(k) = q.factor() {
            product(&mut self.f, false, 1.0, self.y.as_mat(), k.as_mat());
        }
        let fresh = 0.5 * self.f.inner(&self.f);
        if fresh < *objective || fresh > *objective * (1.0 + 1e-9) {
            *objective = fresh;
        }
    }
}
