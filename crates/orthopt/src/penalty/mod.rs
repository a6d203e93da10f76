//! Separable nonsmooth terms h(X) = Σ h(Xᵢⱼ), one per file.
//!
//! A new penalty is one file that implements [`Nonsmooth`] and [`PairPenalty`] and one line in
//! the list at the bottom of this file, from which [`AnyPenalty`] and the registry are made.

mod box_bounds;
mod capped_l1;
mod elastic_net;
mod l0;
mod l1;
mod mcp;
mod none;
mod nonneg;
mod scad;

pub use box_bounds::BoxBounds;
pub use capped_l1::CappedL1;
pub use elastic_net::ElasticNet;
pub use l0::L0;
pub use l1::L1;
pub use mcp::Mcp;
pub use none::NoPenalty;
pub use nonneg::Nonneg;
pub use scad::Scad;

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::linalg::plane::PairMove;
use crate::linalg::simd::Simd;
use crate::nonsmooth::Nonsmooth;
use crate::options::Constant;
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;

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

/// Shape parameters that users have set: `penalty-constant` (`mcp-gamma`, `scad-a`) to value.
pub type Shape = BTreeMap<String, f64>;

/// The shape parameters of one penalty while it is made: a name gives what was set, else the
/// default; NaN for one that is chosen from λ.
type Lookup<'a> = &'a dyn Fn(&str) -> f64;

/// What the registry says of a penalty.
#[derive(Clone, Copy, Debug)]
pub struct PenaltyInfo {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its shape parameters; users may set them as `NAME-CONSTANT`.
    pub shape: &'static [Constant],
    /// Makes it from λ, shape parameters at their defaults.
    pub make: fn(f64) -> Result<AnyPenalty>,
    /// Makes it from λ and the shape parameters that were set.
    pub make_shaped: fn(f64, &Shape) -> Result<AnyPenalty>,
}

/// Looks a penalty up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn find_penalty(name: &str) -> Result<&'static PenaltyInfo> {
    PENALTIES.iter().find(|p| p.name == name).ok_or_else(|| Error::UnknownName {
        kind: "penalty",
        name: name.into(),
        known: PENALTIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
    })
}

macro_rules! penalties {
    ($($variant:ident($type:ty), $name:literal, $doc:literal, $shape:expr, $make:expr;)*) => {
        /// Any penalty of the library, chosen at run time.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyPenalty {
            $(#[doc = $doc] $variant($type),)*
        }

        /// All penalties: name, one line, shape parameters, constructors.
        pub const PENALTIES: &[PenaltyInfo] = &[
            $(PenaltyInfo {
                name: $name,
                doc: $doc,
                shape: $shape,
                make: |lambda| shaped($make, $name, $shape, lambda, &Shape::new()).map(AnyPenalty::$variant),
                make_shaped: |lambda, set| shaped($make, $name, $shape, lambda, set).map(AnyPenalty::$variant),
            },)*
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
            fn bend(&self, x: f64) -> f64 { match self { $(Self::$variant(h) => h.bend(x),)* } }
            fn weak_convexity(&self) -> Option<f64> { match self { $(Self::$variant(h) => h.weak_convexity(),)* } }
            fn lipschitz(&self) -> f64 { match self { $(Self::$variant(h) => h.lipschitz(),)* } }
            fn kinks(&self) -> &[f64] { match self { $(Self::$variant(h) => h.kinks(),)* } }
            fn is_zero(&self) -> bool { match self { $(Self::$variant(h) => h.is_zero(),)* } }
            fn is_convex(&self) -> bool { match self { $(Self::$variant(h) => h.is_convex(),)* } }
            fn requires_nonneg(&self) -> bool { match self { $(Self::$variant(h) => h.requires_nonneg(),)* } }
            fn promotes_sparsity(&self) -> bool { match self { $(Self::$variant(h) => h.promotes_sparsity(),)* } }
        }

        impl PairPenalty for AnyPenalty {
            #[inline(always)]
            fn search_in<S: Simd>(&self, simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
                match self { $(Self::$variant(h) => h.search_in(simd, m, scratch),)* }
            }
            fn plain_search(&self, m: &PairModel<'_>) -> Option<PairMove> {
                match self { $(Self::$variant(h) => h.plain_search(m),)* }
            }
        }
    };
}

/// A penalty from its constructor, λ and what users have set of its shape parameters.
fn shaped<T>(
    make: fn(f64, Lookup<'_>) -> Result<T>,
    name: &str,
    shape: &[Constant],
    lambda: f64,
    set: &Shape,
) -> Result<T> {
    let default = |key: &str| shape.iter().find(|c| c.name == key).and_then(|c| c.default);
    make(lambda, &|key| {
        set.get(&format!("{name}-{key}")).copied().or_else(|| default(key)).unwrap_or(f64::NAN)
    })
}

penalties! {
    None(NoPenalty), "none", "h = 0: plain PCA, the leading eigenspace", &[], |_, _| Ok(NoPenalty);
    L0(L0), "l0", "lambda * number of nonzero entries", &[], |lambda, _| L0::new(lambda);
    L1(L1), "l1", "lambda * sum of absolute values", &[], |lambda, _| L1::new(lambda);
    Nonneg(Nonneg), "nonneg", "every entry >= 0 (no lambda)", &[], |_, _| Ok(Nonneg);
    Mcp(Mcp), "mcp", "lambda |x| - x^2 / (2 gamma), constant from gamma lambda on", mcp::SHAPE, mcp::make;
    Scad(Scad), "scad", "lambda |x| up to lambda, constant from a lambda on", scad::SHAPE, scad::make;
    CappedL1(CappedL1), "capped-l1", "lambda * min(|x|, cap)", capped_l1::SHAPE, capped_l1::make;
    ElasticNet(ElasticNet), "elastic-net", "lambda * (|x| + eta / 2 x^2)", elastic_net::SHAPE, elastic_net::make;
    Box(BoxBounds), "box", "every entry in [lower, upper] (no lambda)", box_bounds::SHAPE, box_bounds::make;
}
