//! Separable nonsmooth terms h(X) = Σ h(Xᵢⱼ), one per file.
//!
//! A new penalty is one file that implements [`Nonsmooth`] and [`PairPenalty`] and one line in
//! the list at the bottom of this file, from which [`AnyPenalty`] and the registry are made.

mod l0;
mod l1;
mod none;
mod nonneg;

pub use l0::L0;
pub use l1::L1;
pub use none::NoPenalty;
pub use nonneg::Nonneg;

use crate::error::{Error, Result};
use crate::linalg::simd::{Simd, WithSimd, dispatch};
use crate::pair::fold::Scratch;
use crate::pair::{PairModel, PairMove, slow};

/// Entries above this in absolute value are counted as nonzero in reports (the papers'
/// convention). The algorithms themselves mean == 0.0 by zero.
pub const REPORT_ZERO: f64 = 1e-6;

/// A separable nonsmooth term.
pub trait Nonsmooth: Clone + std::fmt::Debug + Send + Sync {
    /// h of one entry; +∞ outside the domain.
    fn entry(&self, x: f64) -> f64;

    /// Σ h(xₖ), the sum over a row or a whole matrix.
    #[inline(always)]
    fn value(&self, x: &[f64]) -> f64 {
        x.iter().map(|v| self.entry(*v)).sum()
    }

    /// What reports call h(X): [`Nonsmooth::value`], except that ℓ0 counts |x| > 1e-6.
    fn reported_value(&self, x: &[f64]) -> f64 {
        self.value(x)
    }

    /// A minimiser of (x − v)²/(2μ) + h(x), μ > 0.
    fn prox(&self, v: f64, mu: f64) -> f64;

    /// [`Nonsmooth::prox`] of every entry, in place.
    fn prox_all(&self, v: &mut [f64], mu: f64) {
        v.iter_mut().for_each(|x| *x = self.prox(*x, mu));
    }

    /// The limiting subdifferential ∂h(x) as an interval [lo, hi] (possibly unbounded).
    fn subdifferential(&self, x: f64) -> (f64, f64);

    /// dist(−g, ∂h(x)): how far the entry x with gradient g is from being stationary.
    fn distance_to_stationarity(&self, x: f64, g: f64) -> f64 {
        let (lo, hi) = self.subdifferential(x);
        (lo + g).max(-g - hi).max(0.0)
    }

    /// (α, β) with h(t) = α + βt for t near x, where h is affine there (x not a kink).
    fn affine(&self, _x: f64) -> Option<(f64, f64)> {
        None
    }

    /// The points where h is not smooth.
    fn kinks(&self) -> &[f64] {
        &[0.0]
    }

    /// Whether h is convex, with prox and ∂h as they are for convex functions.
    fn is_convex(&self) -> bool {
        false
    }

    /// Whether X must be nonnegative entry by entry.
    fn requires_nonneg(&self) -> bool {
        false
    }

    /// Whether h rewards exact zeros (and a coordinate start makes sense).
    fn promotes_sparsity(&self) -> bool {
        false
    }
}

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
        (best.value < identity - 1e-12 * (1.0 + identity.abs())).then_some(best.step)
    }

    /// [`PairPenalty::search_in`] with the widest instruction set of this machine.
    fn search(&self, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        dispatch(Search(self, m, scratch))
    }
}

struct Search<'a, 'b, H>(&'a H, &'a PairModel<'b>, &'a mut Scratch);

impl<H: PairPenalty> WithSimd for Search<'_, '_, H> {
    type Output = Option<PairMove>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<PairMove> {
        self.0.search_in(simd, self.1, self.2)
    }
}

fn checked_lambda(lambda: f64) -> Result<f64> {
    if lambda.is_finite() && lambda >= 0.0 {
        Ok(lambda)
    } else {
        Err(Error::InvalidOption {
            option: "lambda".into(),
            value: lambda.to_string(),
            expected: "a finite number >= 0".into(),
        })
    }
}

/// What the registry says of a penalty.
#[derive(Clone, Copy, Debug)]
pub struct PenaltyInfo {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Makes it from λ.
    pub make: fn(f64) -> Result<AnyPenalty>,
}

macro_rules! penalties {
    ($($variant:ident($type:ty), $name:literal, $doc:literal, $make:expr;)*) => {
        /// Any penalty of the library, chosen at run time.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyPenalty {
            $(#[doc = $doc] $variant($type),)*
        }

        /// All penalties: name, one line, constructor.
        pub const PENALTIES: &[PenaltyInfo] = &[
            $(PenaltyInfo { name: $name, doc: $doc, make: |lambda| {
                let make: fn(f64) -> Result<$type> = $make;
                make(lambda).map(AnyPenalty::$variant)
            } },)*
        ];

        impl Nonsmooth for AnyPenalty {
            #[inline(always)]
            fn entry(&self, x: f64) -> f64 { match self { $(Self::$variant(h) => h.entry(x),)* } }
            #[inline(always)]
            fn value(&self, x: &[f64]) -> f64 { match self { $(Self::$variant(h) => h.value(x),)* } }
            fn reported_value(&self, x: &[f64]) -> f64 { match self { $(Self::$variant(h) => h.reported_value(x),)* } }
            fn prox(&self, v: f64, mu: f64) -> f64 { match self { $(Self::$variant(h) => h.prox(v, mu),)* } }
            fn prox_all(&self, v: &mut [f64], mu: f64) { match self { $(Self::$variant(h) => h.prox_all(v, mu),)* } }
            fn subdifferential(&self, x: f64) -> (f64, f64) { match self { $(Self::$variant(h) => h.subdifferential(x),)* } }
            fn affine(&self, x: f64) -> Option<(f64, f64)> { match self { $(Self::$variant(h) => h.affine(x),)* } }
            fn kinks(&self) -> &[f64] { match self { $(Self::$variant(h) => h.kinks(),)* } }
            fn is_convex(&self) -> bool { match self { $(Self::$variant(h) => h.is_convex(),)* } }
            fn requires_nonneg(&self) -> bool { match self { $(Self::$variant(h) => h.requires_nonneg(),)* } }
            fn promotes_sparsity(&self) -> bool { match self { $(Self::$variant(h) => h.promotes_sparsity(),)* } }
        }

        impl PairPenalty for AnyPenalty {
            #[inline(always)]
            fn search_in<S: Simd>(&self, simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
                match self { $(Self::$variant(h) => h.search_in(simd, m, scratch),)* }
            }
        }
    };
}

penalties! {
    None(NoPenalty), "none", "h = 0: plain PCA, the leading eigenspace", |_| Ok(NoPenalty);
    L0(L0), "l0", "lambda * number of nonzero entries", L0::new;
    L1(L1), "l1", "lambda * sum of absolute values", L1::new;
    Nonneg(Nonneg), "nonneg", "every entry >= 0 (no lambda)", |_| Ok(Nonneg);
}
