//! Composite problems that users name: PCA with a penalty that needs g or A.

use std::collections::BTreeMap;

use faer::Mat;
use faer::sparse::SparseColMatRef;

use crate::concave::{AnyConcave, CappedExcess, Concave, LargestK, NoConcave};
use crate::error::{Error, Result};
use crate::family::{Kind, ProblemInfo, find_problem};
use crate::linear_map::{AnyMap, Composition, Differences, Identity, LinearMap};
use crate::penalty::{AnyPenalty, Shape, find_penalty};
use crate::problem::{CompositeProblem, PcaData, Problem, Storage, covariance_model};
use crate::smooth::{AnySmooth, Quadratic, Smooth};

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

impl CompositeProblem {
    /// The PCA problem called `name` of the data, with g and A where its penalty has them: one of
    /// the kinds [`Kind::Pca`], [`Kind::Composite`] and [`Kind::DataFit`] of
    /// [`PROBLEMS`](crate::family::PROBLEMS).
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
        let info = find_problem(name)?;
        check_before_work(info, (data.ncols(), rank), lambda, options)?;
        Self::assemble(info, model(info, data, options.storage)?, rank, lambda, options)
    }

    /// The problem of an f that [`model`] has made.
    pub(crate) fn assemble(
        info: &ProblemInfo,
        f: AnySmooth,
        rank: usize,
        lambda: f64,
        options: &CompositeOptions,
    ) -> Result<Self> {
        let Parts { g, h, a } = Parts::new(info, lambda, (f.nrows(), rank), options)?;
        // 1/(2m)‖XXᵀD − D‖² = ½ tr C/m − ½ tr(XᵀCX)/m on the manifold (docs/mathematics.md, section 10, C18)
        let fit = info.kind == Kind::DataFit;
        let constant = if fit { -0.5 * f.diagonal().iter().sum::<f64>() } else { 0.0 };
        Ok(Problem::new(f, h, rank)?.minus(g)?.through(a)?.with_constant(constant))
    }
}

/// What is wrong with rank, λ, k, shape or map, found without looking at the data.
///
/// # Errors
/// As [`CompositeProblem::pca`].
pub(crate) fn check_before_work(
    info: &ProblemInfo,
    (n, r): (usize, usize),
    lambda: f64,
    options: &CompositeOptions,
) -> Result<()> {
    if r == 0 || r > n {
        return Err(Error::Rank { rank: r, columns: n });
    }
    Parts::new(info, lambda, (n, r), options).map(drop)
}

/// f of a problem: −½ tr(XᵀCX), or the same of C/m where the problem says so.
///
/// # Errors
/// Data that are not finite, a C that is not symmetric.
pub(crate) fn model(info: &ProblemInfo, data: &PcaData<'_>, storage: Storage) -> Result<AnySmooth> {
    match (info.kind, data) {
        (Kind::DataFit, PcaData::Dense(a) | PcaData::Centred(a, _)) => per_sample(data, a.nrows(), storage),
        (Kind::DataFit, PcaData::Sparse(a, _)) => per_sample(data, a.nrows(), storage),
        // C itself: whatever it is divided by is in it already
        (Kind::DataFit | Kind::Pca | Kind::Composite, _) => covariance_model(data, storage),
        _ => Err(Error::Incompatible(format!("{} is no PCA problem", info.name))),
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
        PcaData::Gram(_) | PcaData::SparseGram(_) => covariance_model(data, storage),
    }
}

/// g, h and A of a penalty.
struct Parts {
    g: AnyConcave,
    h: AnyPenalty,
    a: AnyMap,
}

impl Parts {
    /// The parts for X of this size.
    fn new(
        info: &ProblemInfo,
        lambda: f64,
        size: (usize, usize),
        options: &CompositeOptions,
    ) -> Result<Self> {
        let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
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
        if let Some(map) = &options.map {
            a = if a.is_identity() {
                map.clone()
            } else {
                AnyMap::Composition(Composition::new(a, map.clone()))
            };
        }
        g.check(size.0, size.1)?;
        a.output(size)?;
        Ok(Self { g, h, a })
    }
}

/// The cap of capped ℓ1, shared with the penalty of that name.
fn cap(shape: &BTreeMap<String, f64>) -> f64 {
    let default = find_penalty("capped-l1").ok().and_then(|p| p.shape[0].default);
    shape.get("capped-l1-cap").copied().or(default).unwrap_or(f64::NAN)
}
