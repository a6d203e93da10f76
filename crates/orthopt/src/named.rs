//! From a problem's name and data to the problem, with defaults for what is left open: the one
//! place where the command line and other languages pose problems.

use crate::error::{Error, Result};
use crate::nonsmooth::PENALTIES;
use crate::problem::{AnyProblem, PcaData, ProblemInfo, Storage};
use crate::smooth::BlockModel;
use crate::solvers::{Constant, SOLVERS};

/// A problem of any family.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Named {
    /// min −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca(AnyProblem),
}

/// Runs the same code on a [`Named`] problem of any family:
/// `with_family!(named, problem => expression)`.
#[macro_export]
macro_rules! with_family {
    ($named:expr, $problem:ident => $body:expr) => {
        match $named {
            $crate::named::Named::Pca($problem) => $body,
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
    let (mut reasons, mut notes) = (Vec::new(), Vec::new());
    let rank = options.rank.unwrap_or_else(|| {
        let rank = DEFAULT_RANK.min(data.ncols());
        reasons.push(format!("rank {rank}: {DEFAULT_RANK}, or all columns if there are fewer"));
        rank
    });
    let given = options.lambda.unwrap_or(0.0);
    let mut problem = AnyProblem::pca(info.name, data, rank, given, options.storage)?;
    check_range(&problem)?;
    let lambda = match (info.uses_lambda, options.lambda) {
        (true, Some(lambda)) => Some(lambda),
        (true, None) => {
            let (lambda, share) = default_lambda(&problem, info);
            reasons.push(format!(
                "lambda {lambda}: {share} of the mean of the {rank} largest C_ii; a larger one gives fewer nonzeros"
            ));
            if let Some(penalty) = PENALTIES.iter().find(|p| p.name == info.penalty) {
                problem.h = (penalty.make)(lambda)?;
            }
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

/// The squares of very large data overflow.
fn check_range(problem: &AnyProblem) -> Result<()> {
    match problem.f.diagonal().iter().position(|m| !m.is_finite()) {
        None => Ok(()),
        Some(i) => Err(Error::Overflow { column: i + 1 }),
    }
}

/// λ to three digits, and its share of the mean of the r largest Cᵢᵢ. It scales with C, as λ must.
fn default_lambda(problem: &AnyProblem, info: &ProblemInfo) -> (f64, f64) {
    let mut variances: Vec<f64> = problem.f.diagonal().iter().map(|m| -m).collect();
    variances.sort_by(|a, b| b.total_cmp(a));
    let rank = problem.rank();
    let mean = variances[..rank].iter().sum::<f64>() / rank as f64;
    let share = LAMBDA_SHARES.iter().find(|s| s.0 == info.penalty).map_or(OTHER_SHARE, |s| s.1);
    (three_digits(share * mean.max(0.0)), share)
}

/// `value` to three significant digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Every solver of every family with its line of documentation, each name once.
pub fn all_solvers() -> Vec<(&'static str, &'static str, &'static [Constant])> {
    let mut all: Vec<(&str, &str, &[Constant])> = Vec::new();
    let lists = [SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect::<Vec<_>>()];
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
