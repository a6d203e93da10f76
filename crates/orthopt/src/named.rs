//! From a problem's name and data to the problem, with defaults for what is left open: the one
//! place where the command line and other languages pose problems.

use crate::constraint::j_orthogonal::Signature;
use crate::error::{Error, Result};
use crate::j_problem::{JProblem, Placement, covariance, euclidean_distances};
use crate::linalg::RowMat;
use crate::nonsmooth::{PENALTIES, Shape, find_penalty};
use crate::problem::{AnyProblem, Kind, PcaData, ProblemInfo, Storage};
use crate::smooth::BlockModel;
use crate::solvers::{Constant, J_SOLVERS, SOLVERS};

/// A problem of any family.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Named {
    /// min −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca(AnyProblem),
    /// min f(X), XᵀJX = J.
    JOrthogonal(JProblem),
}

/// Runs the same code on a [`Named`] problem of any family:
/// `with_family!(named, problem => expression)`.
#[macro_export]
macro_rules! with_family {
    ($named:expr, $problem:ident => $body:expr) => {
        match $named {
            $crate::named::Named::Pca($problem) => $body,
            $crate::named::Named::JOrthogonal($problem) => $body,
            #[allow(unreachable_patterns)]
            _ => unreachable!("every family has a line above"),
        }
    };
}

/// What a problem needs besides its data; `None` is chosen.
#[derive(Clone, Debug, Default)]
pub struct PoseOptions {
    /// r.
    pub rank: Option<usize>,
    /// λ.
    pub lambda: Option<f64>,
    /// How f keeps the data.
    pub storage: Storage,
    /// Another penalty than the problem's own, for PCA problems.
    pub penalty: Option<String>,
    /// Shape parameters of penalties: `penalty-constant` to value.
    pub shape: Shape,
    /// J: the number of leading ones, or a list of signs ([`Signature::parse`]).
    pub signature: Option<String>,
    /// R of C + R·tr(C)/n·I, for `hyperbolic-eig`.
    pub ridge: f64,
    /// The papers' objective with the other sign, which has no lower bound.
    pub reproduction: bool,
    /// Distances to match (m × m), for `probe`; Euclidean ones of the samples if not given.
    pub distances: Option<RowMat>,
    /// Radius of the ultrahyperbolic space, for `probe`.
    pub radius: Option<f64>,
}

/// A problem with what was chosen for the user.
#[derive(Clone, Debug)]
pub struct Posed {
    /// What the registry says of it.
    pub info: &'static ProblemInfo,
    /// The problem.
    pub problem: Named,
    /// r.
    pub rank: usize,
    /// λ, where the problem has one.
    pub lambda: Option<f64>,
    /// One sentence per choice that was made for the user.
    pub reasons: Vec<String>,
    /// What was given and does nothing.
    pub notes: Vec<String>,
}

/// The smallest of this and n is the rank of those who do not give one.
pub const DEFAULT_RANK: usize = 5;
/// λ by default, by penalty, as a share of the mean of the r largest Cᵢᵢ. Found by trial on
/// small tables and spiked data, where it leaves some 3 to 20 variables per component.
const LAMBDA_SHARES: &[(&str, f64)] = &[("l0", 0.05), ("l1", 0.5)];
const OTHER_SHARE: f64 = 0.5;

/// Poses the problem.
///
/// # Errors
/// A bad rank or λ; data that are not what they should be, or so large that C overflows.
pub fn pose(info: &'static ProblemInfo, data: &PcaData<'_>, options: &PoseOptions) -> Result<Posed> {
    let posed = match info.kind {
        Kind::Pca => pose_pca(info, data, options)?,
        Kind::HyperbolicEig | Kind::Probe => pose_j(info, data, options)?,
    };
    let notes = [unused(info, options), posed.notes.clone()].concat();
    Ok(Posed { notes, ..posed })
}

/// What was given and means nothing to this kind of problem.
fn unused(info: &ProblemInfo, options: &PoseOptions) -> Vec<String> {
    let hyperbolic = info.kind == Kind::HyperbolicEig;
    let probe = info.kind == Kind::Probe;
    let given = [
        ("--penalty", options.penalty.is_some(), info.kind == Kind::Pca),
        ("--signature", options.signature.is_some(), hyperbolic || probe),
        ("--ridge", options.ridge != 0.0, hyperbolic),
        ("--reproduction", options.reproduction, hyperbolic),
        ("--distances", options.distances.is_some(), probe),
        ("--radius", options.radius.is_some(), probe),
    ];
    let idle = given.iter().filter(|(_, set, meant)| *set && !*meant);
    idle.map(|(name, ..)| format!("{name} means nothing to {}; it is ignored", info.name)).collect()
}

fn pose_pca(info: &'static ProblemInfo, data: &PcaData<'_>, options: &PoseOptions) -> Result<Posed> {
    let (mut reasons, mut notes) = (Vec::new(), Vec::new());
    let rank = options.rank.unwrap_or_else(|| {
        let rank = DEFAULT_RANK.min(data.ncols());
        reasons.push(format!("rank {rank}: {DEFAULT_RANK}, or all columns if there are fewer"));
        rank
    });
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    let penalty = find_penalty(name)?;
    if options.penalty.is_some() && name != info.penalty {
        reasons.push(format!("penalty {name} instead of {}: {}", info.penalty, penalty.doc));
    }
    let given = options.lambda.unwrap_or(0.0);
    let mut problem = AnyProblem::pca(info.name, data, rank, 0.0, options.storage)?;
    problem.h = (penalty.make_shaped)(given, &options.shape)?;
    check_range(&problem)?;
    let uses_lambda = !matches!(name, "none" | "nonneg" | "box");
    let lambda = match (uses_lambda, options.lambda) {
        (true, Some(lambda)) => Some(lambda),
        (true, None) => {
            let (lambda, share) = default_lambda(&problem, name);
            reasons.push(format!(
                "lambda {lambda}: {share} of the mean of the {rank} largest C_ii; a larger one gives fewer nonzeros"
            ));
            problem.h = (penalty.make_shaped)(lambda, &options.shape)?;
            Some(lambda)
        }
        (false, Some(_)) => {
            notes.push(format!("{} has no lambda; it is ignored", info.name));
            None
        }
        (false, None) => None,
    };
    Ok(Posed { info, problem: Named::Pca(problem), rank, lambda, reasons, notes })
}

fn pose_j(info: &'static ProblemInfo, data: &PcaData<'_>, options: &PoseOptions) -> Result<Posed> {
    let n = data.ncols();
    let mut reasons = Vec::new();
    if let Some(rank) = options.rank.filter(|r| *r != n) {
        return Err(Error::InvalidOption {
            option: "rank".into(),
            value: rank.to_string(),
            expected: format!("{n}, or nothing: X of {} is square", info.name),
        });
    }
    let signature = match &options.signature {
        Some(text) => Signature::parse(text, n)?,
        None => {
            let p = n.div_ceil(2);
            reasons.push(format!("signature {p}: half of the {n} variables, then minus ones"));
            Signature::leading(p, n)?
        }
    };
    let mut notes: Vec<String> = Vec::new();
    if options.lambda.is_some() {
        notes.push(format!("{} has no lambda; it is ignored", info.name));
    }
    let problem = if info.kind == Kind::Probe {
        pose_probe(data, signature, options, &mut reasons)?
    } else {
        let c = covariance(data, options.ridge)?;
        if options.reproduction {
            JProblem::reproduction(c.as_mat(), signature)?
        } else {
            JProblem::hyperbolic_eig(c.as_mat(), signature)?
        }
    };
    Ok(Posed { info, problem: Named::JOrthogonal(problem), rank: n, lambda: None, reasons, notes })
}

fn pose_probe(
    data: &PcaData<'_>,
    signature: Signature,
    options: &PoseOptions,
    reasons: &mut Vec<String>,
) -> Result<JProblem> {
    let dense = match data {
        PcaData::Dense(d) => d.to_owned(),
        PcaData::Centred(d, centring) => centring.copy(*d),
        PcaData::Sparse(d, None) => d.to_dense(),
        PcaData::Sparse(d, Some(means)) => {
            let mut dense = d.to_dense();
            for j in 0..dense.ncols() {
                (0..dense.nrows()).for_each(|i| dense[(i, j)] -= means[j]);
            }
            dense
        }
        PcaData::Gram(_) => {
            return Err(Error::Incompatible(
                "probe needs samples, not C: give DATA instead of --gram".into(),
            ));
        }
    };
    let radius = options.radius.unwrap_or_else(|| {
        reasons.push("radius 1 (--radius)".into());
        1.0
    });
    let t = match &options.distances {
        Some(t) => t.clone(),
        None => {
            reasons.push("distances: the Euclidean ones of the samples (--distances FILE)".into());
            euclidean_distances(dense.as_ref())
        }
    };
    JProblem::probe(dense.as_ref(), t, signature, radius, Placement::After)
}

/// The squares of very large data overflow.
fn check_range(problem: &AnyProblem) -> Result<()> {
    match problem.f.diagonal().iter().position(|m| !m.is_finite()) {
        None => Ok(()),
        Some(i) => Err(Error::Overflow { column: i + 1 }),
    }
}

/// λ to three digits, and its share of the mean of the r largest Cᵢᵢ. It scales with C, as λ must.
fn default_lambda(problem: &AnyProblem, penalty: &str) -> (f64, f64) {
    let mut variances: Vec<f64> = problem.f.diagonal().iter().map(|m| -m).collect();
    variances.sort_by(|a, b| b.total_cmp(a));
    let rank = problem.rank();
    let mean = variances[..rank].iter().sum::<f64>() / rank as f64;
    let share = LAMBDA_SHARES.iter().find(|s| s.0 == penalty).map_or(OTHER_SHARE, |s| s.1);
    (three_digits(share * mean.max(0.0)), share)
}

/// `value` to three significant digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Every solver of every family with its line of documentation, each name once.
pub fn all_solvers() -> Vec<(&'static str, &'static str, &'static [Constant])> {
    let mut all: Vec<(&str, &str, &[Constant])> = Vec::new();
    let lists = [
        SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect::<Vec<_>>(),
        J_SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect(),
    ];
    for solver in lists.into_iter().flatten() {
        if all.iter().all(|known| known.0 != solver.0) {
            all.push(solver);
        }
    }
    all
}

/// Checks that every name of a chain `a+b` is a solver of some family.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn check_solvers(names: &str) -> Result<()> {
    let all = all_solvers();
    match names.split('+').find(|name| all.iter().all(|s| s.0 != *name)) {
        None => Ok(()),
        Some(name) => Err(Error::UnknownName {
            kind: "solver",
            name: name.into(),
            known: all.iter().map(|s| s.0).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Every shape parameter of every penalty: penalty and parameter.
pub fn all_shapes() -> impl Iterator<Item = (&'static str, &'static Constant)> {
    PENALTIES.iter().flat_map(|p| p.shape.iter().map(move |c| (p.name, c)))
}
