use super::{Nonsmooth, PairPenalty};
use crate::pair::lanes::{self, Scratch};
use crate::pair::{PairModel, PairMove};

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

    fn prox(&self, v: f64, _mu: f64) -> f64 {
        v
    }

    fn subdifferential(&self, _x: f64) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn kinks(&self) -> &[f64] {
        &[]
    }
}

impl PairPenalty for NoPenalty {
    #[inline(always)]
    fn search(&self, m: &PairModel<'_>, _scratch: &mut Scratch) -> Option<PairMove> {
        lanes::search_none(m)
    }
}
