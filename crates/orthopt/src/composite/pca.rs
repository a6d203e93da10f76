//! Composite problems that users name: PCA with a penalty that needs g or A.

use std::collections::BTreeMap;

use faer::Mat;
use faer::sparse::SparseColMatRef;

use super::Composite;
use crate::concave::{AnyConcave, CappedExcess, LargestK, NoConcave};
use crate::error::{Error, Result};
use crate::linear_map::{AnyMap, Differences, Identity};
use crate::nonsmooth::{AnyPenalty, Shape, find_penalty};
use crate::problem::{PcaData, Storage, covariance_model};
use crate::smooth::{AnySmooth, BlockModel, Smooth};

/// What the registry says of a composite problem.
#[derive(Clone, Copy, Debug)]
pub struct CompositeInfo {
    /// The name users type.
    pub name: &'static str,
    /// Its penalty, one of [`COMPOSITE_PENALTIES`].
    pub penalty: &'static str,
    /// f = 1/(2m)‖XXᵀD − D‖² with D = Aᵀ, m samples, instead of −½ tr(XᵀCX), C = AᵀA.
    pub per_sample: bool,
    /// One line of documentation.
    pub doc: &'static str,
}

/// All composite problems of the library.
pub const COMPOSITES: &[CompositeInfo] = &[
    CompositeInfo {
        name: "dc-pca",
        penalty: "l1-largest-k",
        per_sample: true,
        doc: "k-sparse PCA: min 1/(2m) ||XX'D - D||^2 + lambda (||X||_1 - the k largest |X_ij|), X'X = I",
    },
    CompositeInfo {
        name: "mcp-pca",
        penalty: "mcp",
        per_sample: false,
        doc: "sparse PCA with mcp: min -1/2 <X, CX> + h(X), X'X = I",
    },
    CompositeInfo {
        name: "scad-pca",
        penalty: "scad",
        per_sample: false,
        doc: "sparse PCA with scad: min -1/2 <X, CX> + h(X), X'X = I",
    },
    CompositeInfo {
        name: "capped-l1-pca",
        penalty: "capped-l1",
        per_sample: false,
        doc: "sparse PCA with capped l1: min -1/2 <X, CX> + lambda sum min(|X_ij|, cap), X'X = I",
    },
    CompositeInfo {
        name: "fused-pca",
        penalty: "fused-l1",
        per_sample: false,
        doc: "piecewise constant PCA: min -1/2 <X, CX> + lambda sum |X_i+1,j - X_ij|, X'X = I",
    },
];

/// Penalties of composite problems, with one line each.
pub const COMPOSITE_PENALTIES: &[(&str, &str)] = &[
    ("l1-largest-k", "lambda * (sum of absolute values - the k largest of them)"),
    ("l1", "lambda * sum of absolute values"),
    ("mcp", "minimax concave penalty"),
    ("scad", "smoothly clipped absolute deviation"),
    ("capped-l1", "lambda * sum min(|x|, cap), as l1 minus what is above the cap"),
    ("elastic-net", "lambda * (sum of absolute values + eta / 2 sum of squares)"),
    ("fused-l1", "lambda * sum of absolute differences of neighbouring rows"),
    ("none", "no penalty"),
];

/// Looks a composite problem up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn find_composite(name: &str) -> Result<&'static CompositeInfo> {
    COMPOSITES.iter().find(|p| p.name == name).ok_or_else(|| Error::UnknownName {
        kind: "composite problem",
        name: name.into(),
        known: COMPOSITES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
    })
}

/// k where none is given: 5 % of the entries of X, rounded up, and at least one per column.
pub fn default_k(n: usize, r: usize) -> usize {
    (n * r).div_ceil(20).max(r)
}

/// What may be said of a composite problem beyond its name, data, rank and λ.
#[derive(Clone, Debug, Default)]
pub struct CompositeOptions {
    /// One of [`COMPOSITE_PENALTIES`] instead of the penalty of the problem.
    pub penalty: Option<String>,
    /// k of `l1-largest-k`; [`default_k`] unless given.
    pub k: Option<usize>,
    /// A linear map inside the penalty, after that of the penalty itself.
    pub map: Option<AnyMap>,
    /// Shape parameters of the penalty.
    pub shape: Shape,
    /// How f keeps the data.
    pub storage: Storage,
}

impl Composite {
    /// The problem called `name` (see [`COMPOSITES`]) of the data.
    ///
    /// # Errors
    /// An unknown name, a bad rank, λ, k or shape parameter, a map that does not fit, data that
    /// are not finite, a C that is not symmetric.
    pub fn pca(
        name: &str,
        data: &PcaData<'_>,
        rank: usize,
        lambda: f64,
        options: &CompositeOptions,
    ) -> Result<Self> {
        let info = find_composite(name)?;
        let (rows, columns) = shape(data);
        if rank == 0 || rank > columns {
            return Err(Error::Rank { rank, columns }); // before any work
        }
        let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
        let parts = Parts::new(penalty, lambda, (columns, rank), options)?;
        let a = match &options.map {
            Some(map) => match parts.a {
                AnyMap::Identity(_) => map.clone(),
                own => AnyMap::Composition(crate::linear_map::Composition::new(own, map.clone())),
            },
            None => parts.a,
        };
        let f = match info.per_sample {
            true => per_sample(data, rows, options.storage)?,
            false => covariance_model(data, options.storage)?,
        };
        // 1/(2m)‖XXᵀD − D‖² = ½ tr C/m − ½ tr(XᵀCX)/m on the manifold [C18]
        let constant = if info.per_sample { -0.5 * f.diagonal().iter().sum::<f64>() } else { 0.0 };
        debug_assert_eq!(f.nrows(), columns);
        Ok(Self::new(f, parts.g, parts.h, a, rank)?.with_constant(constant))
    }
}

fn shape(data: &PcaData<'_>) -> (usize, usize) {
    match data {
        PcaData::Dense(a) | PcaData::Centred(a, _) => (a.nrows(), a.ncols()),
        PcaData::Sparse(a, _) => (a.nrows(), a.ncols()),
        PcaData::Gram(c) => (1, c.ncols()), // C itself: whatever it is divided by is in it already
    }
}

/// −½ tr(XᵀCX)/m: the model of A/√m.
fn per_sample(data: &PcaData<'_>, rows: usize, storage: Storage) -> Result<AnySmooth> {
    let scale = 1.0 / (rows.max(1) as f64).sqrt();
    match data {
        PcaData::Dense(a) => {
            let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| scale * a[(i, j)]);
            covariance_model(&PcaData::Dense(scaled.as_ref()), storage)
        }
        PcaData::Centred(a, centring) => {
            per_sample(&PcaData::Dense(centring.copy(*a).as_ref()), rows, storage)
        }
        PcaData::Sparse(a, means) => {
            let values: Vec<f64> = a.val().iter().map(|v| scale * v).collect();
            let scaled = SparseColMatRef::new(a.symbolic(), &values);
            let means = means.as_ref().map(|m| m.iter().map(|v| scale * v).collect());
            covariance_model(&PcaData::Sparse(scaled, means), storage)
        }
        PcaData::Gram(_) => covariance_model(data, storage),
    }
}

/// g, h and A of a penalty.
struct Parts {
    g: AnyConcave,
    h: AnyPenalty,
    a: AnyMap,
}

impl Parts {
    fn new(penalty: &str, lambda: f64, size: (usize, usize), options: &CompositeOptions) -> Result<Self> {
        let make = |name: &str| (find_penalty(name)?.make_shaped)(lambda, &options.shape);
        let (mut g, mut a) = (AnyConcave::None(NoConcave), AnyMap::Identity(Identity));
        let h = match penalty {
            "l1-largest-k" => {
                let k = options.k.unwrap_or_else(|| default_k(size.0, size.1));
                g = AnyConcave::LargestK(LargestK::new(lambda, k)?);
                make("l1")?
            }
            "capped-l1" => {
                g = AnyConcave::CappedExcess(CappedExcess::new(lambda, cap(&options.shape))?);
                make("l1")?
            }
            "fused-l1" => {
                a = AnyMap::Differences(Differences);
                make("l1")?
            }
            name if COMPOSITE_PENALTIES.iter().any(|p| p.0 == name) => make(name)?,
            name => {
                return Err(Error::UnknownName {
                    kind: "penalty of composite problems",
                    name: name.into(),
                    known: COMPOSITE_PENALTIES.iter().map(|p| p.0).collect::<Vec<_>>().join(", "),
                });
            }
        };
        Ok(Self { g, h, a })
    }
}

/// The cap of capped ℓ1, shared with the penalty of that name.
fn cap(shape: &BTreeMap<String, f64>) -> f64 {
    let default = find_penalty("capped-l1").ok().and_then(|p| p.shape[0].default);
    shape.get("capped-l1-cap").copied().or(default).unwrap_or(f64::NAN)
}
