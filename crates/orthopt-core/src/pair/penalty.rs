//! Trait of penalties for which pairs of rows can be solved globally.

use super::fold::Scratch;
use super::{PairModel, plain, slow};
use crate::nonsmooth::Nonsmooth;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// A penalty for which the k = 2 subproblem of OBCD can be solved.
pub trait PairPenalty: Nonsmooth {
    /// The global minimiser V ∈ O(2) of the subproblem, or `None` when V = I is one up to
    /// rounding. Penalties without a fast method of their own inherit the slow twin.
    ///
    /// Called inside a kernel with its token; [`PairPenalty::search`] is the same from outside.
    #[inline(always)]
    fn search_in<S: Simd>(&self, _simd: S, m: &PairModel<'_>, _scratch: &mut Scratch) -> Option<PairMove> {
        let best = slow::minimise(m, self);
        let identity = m.circles()[0].at_zero() + m.constant() + self.value(m.z1) + self.value(m.z2);
        let [rot, refl] = m.circles();
        let size = rot.scale().max(refl.scale()) + m.constant().abs() + (identity - m.constant()).abs();
        (best.value < identity - 1e-12 * size).then_some(best.step)
    }

    /// The papers' search ([`plain::search`]), for comparison.
    fn plain_search(&self, m: &PairModel<'_>) -> Option<PairMove> {
        plain::search(m, self)
    }

    /// [`PairPenalty::search_in`] with the widest instruction set of this machine.
    fn search(&self, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        dispatch(Search(self, m, scratch))
    }
}

/// A search as a kernel.
pub struct Search<'a, 'b, H>(
    #[doc(hidden)] pub &'a H,
    #[doc(hidden)] pub &'a PairModel<'b>,
    #[doc(hidden)] pub &'a mut Scratch,
);

impl<H: PairPenalty> WithSimd for Search<'_, '_, H> {
    type Output = Option<PairMove>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<PairMove> {
        self.0.search_in(simd, self.1, self.2)
    }
}
