//! Composite problems that users name: PCA with a penalty that needs g or A.

use faer::Mat;
use faer::sparse::SparseColMatRef;

use crate::family::{Kind, ProblemInfo, find_problem};
use orthopt_core::concave::{AnyConcave, CappedExcess, Concave, LargestK, NoConcave, Through};
use orthopt_core::linear_map::{AnyMap, Composition, Differences, Identity, LinearMap};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constant, Constants};
use orthopt_core::penalty::{AnyPenalty, CappedL1Shape, L1, LAMBDA_SHARE, PENALTIES, PenaltyInfo, Shape};
use orthopt_core::problem::{CompositeProblem, PcaData, Problem, Storage, covariance_model};
use orthopt_core::smooth::{AnySmooth, Quadratic, Smooth};
use orthopt_linalg::error::{Error, Result};

/// A penalty that enters f − g + h∘A otherwise than as h.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its shape parameters.
    pub shape: &'static [Constant],
    /// See [`PenaltyInfo::lambda_share`](orthopt_core::penalty::PenaltyInfo::lambda_share).
    pub lambda_share: Option<f64>,
    /// True if it has a k.
    pub has_k: bool,
    /// Its parts for λ, the shape that was set, and k.
    parts: fn(f64, &Shape, usize) -> Result<Parts>,
}

/// The penalties with parts of their own. All others enter as h, if they are weakly convex and Lipschitz.
pub const SPLITS: &[Split] = &[
    Split {
        name: "l1-largest-k",
        doc: "lambda * (sum of absolute values - the k largest of them)",
        shape: &[],
        lambda_share: Some(2.0),
        has_k: true,
        parts: |lambda, _, k| {
            let g = AnyConcave::LargestK(LargestK::new(lambda, k)?);
            Ok(Parts { g, ..Parts::of(l1(lambda)?) })
        },
    },
    Split {
        name: "capped-l1",
        doc: "lambda * min(|x|, cap), as l1 minus what is above the cap",
        shape: CappedL1Shape::LIST,
        lambda_share: Some(LAMBDA_SHARE),
        has_k: false,
        parts: |lambda, set, _| {
            let shape = CappedL1Shape::DEFAULT.with("capped-l1", CappedL1Shape::LIST, set)?;
            let g = AnyConcave::CappedExcess(CappedExcess::new(lambda, shape.cap)?);
            Ok(Parts { g, ..Parts::of(l1(lambda)?) })
        },
    },
    Split {
        name: "fused-l1",
        doc: "lambda * sum of absolute differences of neighbouring rows",
        shape: &[],
        lambda_share: Some(LAMBDA_SHARE),
        has_k: false,
        parts: |lambda, _, _| Ok(Parts { a: AnyMap::Differences(Differences), ..Parts::of(l1(lambda)?) }),
    },
];

/// λ‖·‖₁.
fn l1(lambda: f64) -> Result<AnyPenalty> {
    L1::new(lambda).map(AnyPenalty::L1)
}

/// True if the penalty called `name` has parts of its own.
pub(crate) fn split(name: &str) -> Option<&'static Split> {
    SPLITS.iter().find(|split| split.name == name)
}

/// True if a plain penalty can be the h of f − g + h∘A.
fn enters_as_h(penalty: &PenaltyInfo) -> bool {
    (penalty.make)(1.0).is_ok_and(|h| h.weak_convexity().is_some() && h.lipschitz().is_finite())
}

/// Names of the penalties of composite problems.
fn known() -> String {
    let plain = PENALTIES.iter().filter(|p| enters_as_h(p)).map(|p| p.name);
    SPLITS.iter().map(|s| s.name).chain(plain).collect::<Vec<_>>().join(", ")
}

/// k where none is given: 5 % of the entries of X (or of A(X) with a map), rounded up, and at least one per
/// column.
pub(crate) fn default_k(n: usize, r: usize) -> usize {
    (n * r).div_ceil(20).max(r)
}

/// Options of a composite problem in addition to name, data, rank and λ.
#[derive(Clone, Debug, Default)]
pub struct CompositeOptions {
    /// Another penalty than that of the problem.
    pub penalty: Option<String>,
    /// k of `l1-largest-k`; 5 % of the entries unless given.
    pub k: Option<usize>,
    /// A linear map inside the penalty, which is then all of it at A(X): (h − g)(A(X)), and its own map
    /// after this one.
    pub map: Option<AnyMap>,
    /// Shape parameters of the penalty.
    pub shape: Shape,
    /// How f keeps the data.
    pub storage: Storage,
}

/// The PCA problem called `name` of the data, with g and A where its penalty has them: one of
/// the kinds [`Kind::Pca`], [`Kind::Composite`] and [`Kind::DataFit`] of
/// [`PROBLEMS`](crate::family::PROBLEMS).
///
/// # Errors
/// An unknown name, a bad rank, λ, k or shape parameter, a map that does not fit, data that
/// are not finite, a C that is not symmetric.
pub fn composite_problem(
    name: &str,
    data: &PcaData<'_>,
    rank: usize,
    lambda: f64,
    options: &CompositeOptions,
) -> Result<CompositeProblem> {
    let info = find_problem(name)?;
    check_before_work(info, (data.ncols(), rank), lambda, options)?;
    assemble(info, model(info, data, options.storage)?, rank, lambda, options)
}

/// The problem of an f that [`model`] has made.
pub(crate) fn assemble(
    info: &ProblemInfo,
    f: AnySmooth,
    rank: usize,
    lambda: f64,
    options: &CompositeOptions,
) -> Result<CompositeProblem> {
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    let Parts { g, h, a } = Parts::new(name, lambda, (f.nrows(), rank), options)?;
    // 1/(2m)‖XXᵀD − D‖² = ½ tr C/m − ½ tr(XᵀCX)/m on the manifold (docs/mathematics.md, section 10, C18)
    let fit = info.kind == Kind::DataFit;
    let constant = if fit { -0.5 * f.diagonal().iter().sum::<f64>() } else { 0.0 };
    Ok(Problem::new(f, h, rank)?.minus(g)?.through(a)?.with_constant(constant))
}

/// Checks rank, λ, k, shape and map without the data.
///
/// # Errors
/// As [`composite_problem`].
pub(crate) fn check_before_work(
    info: &ProblemInfo,
    (n, r): (usize, usize),
    lambda: f64,
    options: &CompositeOptions,
) -> Result<()> {
    if r == 0 || r > n {
        return Err(Error::Rank { rank: r, columns: n });
    }
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    Parts::new(name, lambda, (n, r), options).map(drop)
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
        _ => Err(Error::Incompatible(format!("{} is not a PCA problem", info.name).into())),
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

/// g, h and A of the penalty called `name` with weight λ for X of this size, for an f of one's own: as in
/// [`composite_problem`], with a map and k where `options` have them.
///
/// # Errors
/// A penalty that is none of composite problems, a bad λ, k or shape parameter, a map that does not fit.
pub fn composite_parts(
    name: &str,
    lambda: f64,
    size: (usize, usize),
    options: &CompositeOptions,
) -> Result<(AnyConcave, AnyPenalty, AnyMap)> {
    let Parts { g, h, a } = Parts::new(name, lambda, size, options)?;
    Ok((g, h, a))
}

/// True if the penalty called `name` enters f − g + h∘A otherwise than as h.
pub fn needs_parts(name: &str) -> bool {
    split(name).is_some() && PENALTIES.iter().all(|p| p.name != name)
}

/// g, h and A of a penalty.
struct Parts {
    g: AnyConcave,
    h: AnyPenalty,
    a: AnyMap,
}

impl Parts {
    /// h alone.
    fn of(h: AnyPenalty) -> Self {
        Self { g: AnyConcave::None(NoConcave), h, a: AnyMap::Identity(Identity) }
    }

    /// The parts for X of this size.
    fn new(name: &str, lambda: f64, size: (usize, usize), options: &CompositeOptions) -> Result<Self> {
        let plain = || PENALTIES.iter().find(|p| p.name == name && enters_as_h(p));
        let mut parts = match (split(name), plain()) {
            (Some(split), _) => {
                let (p, s) = counted_in(options.map.as_ref(), size)?;
                let k = options.k.unwrap_or_else(|| default_k(p, s));
                (split.parts)(lambda, &options.shape, k)?
            }
            (None, Some(plain)) => Self::of((plain.make_shaped)(lambda, &options.shape)?),
            (None, None) => {
                let kind = "penalty of composite problems";
                return Err(Error::UnknownName { kind, name: name.into(), known: known() });
            }
        };
        if let Some(map) = options.map.as_ref().filter(|map| !map.is_identity()) {
            parts = parts.through(map);
        }
        parts.g.check(size.0, size.1)?;
        parts.a.output(size)?;
        Ok(parts)
    }

    /// The parts of (h∘A − g)(B(X)) for a map B.
    fn through(self, b: &AnyMap) -> Self {
        let Self { g, h, a } = self;
        let g = if g.is_zero() { g } else { AnyConcave::Through(Box::new(Through::new(g, b.clone()))) };
        let identity = a.is_identity();
        let a = if identity { b.clone() } else { AnyMap::Composition(Composition::new(a, b.clone())) };
        Self { g, h, a }
    }
}

/// Rows and columns of the matrix that a penalty examines, of which k is a part: A(X).
///
/// # Errors
/// A map that does not fit X.
pub(crate) fn counted_in(map: Option<&AnyMap>, size: (usize, usize)) -> Result<(usize, usize)> {
    map.map_or(Ok(size), |map| map.output(size))
}
