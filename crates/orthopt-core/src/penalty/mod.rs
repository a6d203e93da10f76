//! Nonsmooth terms h(X), sums over the entries or the rows of X, one per file.
//!
//! A new penalty is one file that implements [`Nonsmooth`] and [`PairPenalty`] and one line in
//! the list at the bottom of this file, from which [`AnyPenalty`] and the registry are made.

mod box_bounds;
mod capped_l1;
mod elastic_net;
mod l0;
mod l1;
mod l21;
mod mcp;
mod none;
mod nonneg;
mod scad;

pub use box_bounds::BoxBounds;
pub use box_bounds::BoxShape;
pub use capped_l1::CappedL1;
pub use capped_l1::CappedL1Shape;
pub use elastic_net::ElasticNet;
pub use elastic_net::ElasticNetShape;
pub use l0::L0;
pub use l1::L1;
pub use l21::L21;
pub use mcp::Mcp;
pub use mcp::McpShape;
pub use none::NoPenalty;
pub use nonneg::Nonneg;
pub use scad::Scad;
pub use scad::ScadShape;

use crate::nonsmooth::Nonsmooth;
use crate::options::{Constant, Constants, Given, constants};
use crate::pair::PairModel;
pub use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::penalty::Search;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch, outlined};

/// λ, if it is a finite number >= 0.
///
/// # Errors
/// [`Error::InvalidOption`] for `lambda`.
#[doc(hidden)]
pub fn checked_lambda(lambda: f64) -> Result<f64> {
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

/// Methods of [`Nonsmooth`] that a penalty takes from its field `pieces`: all but the prox and the constants of h.
macro_rules! in_pieces {
    () => {
        #[inline(always)]
        fn entry(&self, x: f64) -> f64 {
            self.pieces.entry(x)
        }

        fn affine(&self, x: f64) -> Option<(f64, f64)> {
            Some(self.pieces.affine(x))
        }

        fn bend(&self, x: f64) -> f64 {
            self.pieces.bend(x)
        }

        fn subdifferential(&self, x: f64) -> (f64, f64) {
            self.pieces.subdifferential(x)
        }

        fn kinks(&self) -> &[f64] {
            self.pieces.kinks()
        }

        fn turning_price(&self, x: &[f64]) -> Option<f64> {
            Some(self.value(x))
        }

        fn promotes_sparsity(&self) -> bool {
            true
        }
    };
}

/// The pair search of a penalty with a field `pieces`.
macro_rules! pairs_in_pieces {
    ($penalty:ty) => {
        impl $crate::pair::PairPenalty for $penalty {
            #[inline(always)]
            fn search_in<S: orthopt_linalg::simd::Simd>(
                &self,
                _simd: S,
                m: &$crate::pair::PairModel<'_>,
                scratch: &mut $crate::pair::fold::Scratch,
            ) -> Option<orthopt_linalg::plane::PairMove> {
                self.pieces.search(m, scratch)
            }
        }
    };
}

use {in_pieces, pairs_in_pieces};

/// Shape parameters that users have set: `penalty-constant` (`mcp-gamma`, `scad-a`) to value.
pub type Shape = Given;

constants! {
    /// Shape of penalties without shape parameters.
    pub struct NoShape {}
}

/// Entry of the registry for a penalty.
#[derive(Clone, Copy, Debug)]
pub struct PenaltyInfo {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its shape parameters; users may set them as `NAME-CONSTANT`.
    pub shape: &'static [Constant],
    /// λ by default, as a share of the mean of the r largest Cᵢᵢ; `None` if λ does not apply.
    pub lambda_share: Option<f64>,
    /// Makes it from λ, shape parameters at their defaults.
    pub make: fn(f64) -> Result<AnyPenalty>,
    /// Makes it from λ and the shape parameters that were set.
    pub make_shaped: fn(f64, &Shape) -> Result<AnyPenalty>,
}

impl PenaltyInfo {
    /// True if λ applies.
    pub fn has_lambda(&self) -> bool {
        self.lambda_share.is_some()
    }
}

/// Default share. This one and those of single penalties are chosen on small tables and
/// spiked data, where they leave about 3 to 20 variables per component.
pub const LAMBDA_SHARE: f64 = 0.5;

/// Looks a penalty up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the known names.
pub fn find_penalty(name: &str) -> Result<&'static PenaltyInfo> {
    PENALTIES.iter().find(|p| p.name == name).ok_or_else(|| Error::UnknownName {
        kind: "penalty",
        name: name.into(),
        known: PENALTIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
    })
}

macro_rules! penalties {
    ($($variant:ident($type:ty), $name:literal, $doc:literal, $shape:ty, $lambda:expr, $make:expr;)*) => {
        /// Any penalty of the library, chosen at run time.
        #[derive(Clone, Debug)]
        pub enum AnyPenalty {
            $(#[doc = $doc] $variant($type),)*
        }

        /// All penalties: name, one line, shape parameters, share of λ, constructors.
        pub static PENALTIES: &[PenaltyInfo] = &[
            $(PenaltyInfo {
                name: $name,
                doc: $doc,
                shape: <$shape>::LIST,
                lambda_share: $lambda,
                make: |lambda| <$shape>::DEFAULT.checked($name).and_then(|s| { let make: fn(f64, $shape) -> Result<$type> = $make; make(lambda, s) }).map(AnyPenalty::$variant),
                make_shaped: |lambda, set| {
                    let shape = <$shape>::DEFAULT.with($name, <$shape>::LIST, set)?;
                    { let make: fn(f64, $shape) -> Result<$type> = $make; make(lambda, shape) }.map(AnyPenalty::$variant)
                },
            },)*
        ];

        impl Nonsmooth for AnyPenalty {
            fn row_weight(&self) -> Option<f64> { match self { $(Self::$variant(h) => h.row_weight(),)* } }
            #[inline(always)]
            fn entry(&self, x: f64) -> f64 { match self { $(Self::$variant(h) => h.entry(x),)* } }
            #[inline(always)]
            fn value(&self, x: &[f64]) -> f64 { match self { $(Self::$variant(h) => h.value(x),)* } }
            fn prox(&self, v: f64, mu: f64) -> f64 { match self { $(Self::$variant(h) => h.prox(v, mu),)* } }
            fn prox_all(&self, v: &mut [f64], mu: f64) { match self { $(Self::$variant(h) => h.prox_all(v, mu),)* } }
            fn subdifferential(&self, x: f64) -> (f64, f64) { match self { $(Self::$variant(h) => h.subdifferential(x),)* } }
            fn affine(&self, x: f64) -> Option<(f64, f64)> { match self { $(Self::$variant(h) => h.affine(x),)* } }
            fn bend(&self, x: f64) -> f64 { match self { $(Self::$variant(h) => h.bend(x),)* } }
            fn weak_convexity(&self) -> Option<f64> { match self { $(Self::$variant(h) => h.weak_convexity(),)* } }
            fn lipschitz(&self) -> f64 { match self { $(Self::$variant(h) => h.lipschitz(),)* } }
            fn kinks(&self) -> &[f64] { match self { $(Self::$variant(h) => h.kinks(),)* } }
            fn is_zero(&self) -> bool { match self { $(Self::$variant(h) => h.is_zero(),)* } }
            fn is_convex(&self) -> bool { match self { $(Self::$variant(h) => h.is_convex(),)* } }
            fn requires_nonneg(&self) -> bool { match self { $(Self::$variant(h) => h.requires_nonneg(),)* } }
            fn is_even(&self) -> bool { match self { $(Self::$variant(h) => h.is_even(),)* } }
            fn turning_price(&self, x: &[f64]) -> Option<f64> { match self { $(Self::$variant(h) => h.turning_price(x),)* } }
            fn promotes_sparsity(&self) -> bool { match self { $(Self::$variant(h) => h.promotes_sparsity(),)* } }
        }

        impl PairPenalty for AnyPenalty {
            #[inline(always)]
            fn search_in<S: Simd>(&self, simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
                outlined(simd, AnySearch(self, m, scratch))
            }
            // not inherited: compiled here, once, and not in every crate that calls it
            fn search(&self, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> { dispatch(Search(self, m, scratch)) }
            fn plain_search(&self, m: &PairModel<'_>) -> Option<PairMove> {
                match self { $(Self::$variant(h) => h.plain_search(m),)* }
            }
        }

        /// The searches of all penalties as one kernel.
        struct AnySearch<'a, 'b>(&'a AnyPenalty, &'a PairModel<'b>, &'a mut Scratch);

        impl WithSimd for AnySearch<'_, '_> {
            type Output = Option<PairMove>;

            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> Option<PairMove> {
                let Self(h, m, scratch) = self;
                match h { $(AnyPenalty::$variant(h) => h.search_in(simd, m, scratch),)* }
            }
        }
    };
}

penalties! {
    None(NoPenalty), "none", "h = 0: plain PCA, the leading eigenspace", NoShape, None, |_, _| Ok(NoPenalty);
    L0(L0), "l0", "lambda * number of nonzero entries", NoShape, Some(0.05), |lambda, _| L0::new(lambda);
    L1(L1), "l1", "lambda * sum of absolute values", NoShape, Some(LAMBDA_SHARE), |lambda, _| L1::new(lambda);
    L21(L21), "l21", "lambda * sum of the lengths of the rows of X: few variables in all components", NoShape, Some(LAMBDA_SHARE), |lambda, _| L21::new(lambda);
    Nonneg(Nonneg), "nonneg", "every entry >= 0 (no lambda)", NoShape, None, |_, _| Ok(Nonneg);
    Mcp(Mcp), "mcp", "lambda |x| - x^2 / (2 gamma), constant from gamma lambda on", McpShape, Some(LAMBDA_SHARE), Mcp::shaped;
    Scad(Scad), "scad", "lambda |x| up to lambda/s, constant from a lambda/s on, s = 2 a lambda unless set", ScadShape, Some(LAMBDA_SHARE), Scad::shaped;
    CappedL1(CappedL1), "capped-l1", "lambda * min(|x|, cap)", CappedL1Shape, Some(LAMBDA_SHARE), CappedL1::shaped;
    ElasticNet(ElasticNet), "elastic-net", "lambda * (|x| + eta / 2 x^2)", ElasticNetShape, Some(LAMBDA_SHARE), ElasticNet::shaped;
    Box(BoxBounds), "box", "every entry in [lower, upper] (no lambda)", BoxShape, None, |_, shape| BoxBounds::shaped(shape);
}

#[cfg(test)]
mod tests;
