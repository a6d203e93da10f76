use crate::nonsmooth::Nonsmooth;
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::l0_search::search_none;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::Simd;

/// h = 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NoPenalty;

impl Nonsmooth for NoPenalty {
    #[inline(always)]
    fn entry(&self, _x: f64) -> f64 {
        0.0
    }

    #[inline(always)]
    fn value(&self, _x: &[f64]) -> f64 {
        0.0
    }

    fn affine(&self, _x: f64) -> Option<(f64, f64)> {
        Some((0.0, 0.0))
    }

    fn prox(&self, v: f64, _mu: f64) -> f64 {
        v
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn lipschitz(&self) -> f64 {
        0.0
    }

    fn prox_all(&self, _v: &mut [f64], _mu: f64) {}

    fn subdifferential(&self, _x: f64) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn kinks(&self) -> &[f64] {
        &[]
    }

    fn is_zero(&self) -> bool {
        true
    }
}

impl PairPenalty for NoPenalty {
    #[inline(always)]
    fn search_in<S: Simd>(&self, _simd: S, m: &PairModel<'_>, _scratch: &mut Scratch) -> Option<PairMove> {
        search_none(m)
    }
}
