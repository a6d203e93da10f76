//! The points of a path and the problem at each of them.

use orthopt_core::penalty::find_penalty;
use orthopt_core::problem::{Cardinality, PcaData};
use orthopt_limits::problem::CardinalityProblem;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::sort_numbers_down;
use orthopt_run::family::{AnyProblem, Between, Kind, Limit, Posed, ProblemInfo, Request, pose};

use super::PathRequest;

/// Parameter that changes along a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Along {
    /// Nonzeros allowed in each component.
    Counts(Vec<usize>),
    /// λ.
    Lambdas(Vec<f64>),
}

/// Default counts, up to the number of variables.
pub const DEFAULT_COUNTS: &[usize] = &[1, 2, 3, 5, 7, 10, 14, 20, 30];
/// Number of default λ, each half of the previous one, from this share of the largest useful λ on.
const DEFAULT_LAMBDAS: i32 = 9;
const LARGEST: f64 = 0.8;

impl Along {
    /// The points that are `given`, with counts up to the number of variables, or the default ones.
    ///
    /// # Errors
    /// Those of [`of_default`](Self::of_default).
    pub fn of(
        given: Option<Self>,
        info: &'static ProblemInfo,
        options: &Request,
        data: &PcaData<'_>,
    ) -> Result<Self> {
        match given {
            Some(Self::Counts(list)) => {
                Ok(Self::Counts(list.into_iter().map(|k| k.min(data.ncols())).collect()).ordered())
            }
            Some(along) => Ok(along.ordered()),
            None => Self::of_default(info, options, data),
        }
    }

    /// Default points: counts if the problem takes them, else decreasing λ.
    ///
    /// # Errors
    /// A penalty whose largest useful λ is not known, bad data.
    pub fn of_default(info: &'static ProblemInfo, options: &Request, data: &PcaData<'_>) -> Result<Self> {
        let name = options.penalty.as_deref().unwrap_or(info.penalty);
        if info.kind != Kind::Pca || matches!(name, "l0" | "none" | "nonneg") {
            let counts = DEFAULT_COUNTS.iter().copied().filter(|k| *k <= data.ncols());
            return Ok(Self::Counts(counts.collect()));
        }
        if name != "l1" {
            return Err(Error::Incompatible(
                Message::from(format!("the largest useful lambda of {name} is not known: give "))
                    .option("lambdas"),
            ));
        }
        let options = Request { relative_lambda: Some(LARGEST), ..options.clone() };
        let most = pose(info, data, &options)?.lambda.unwrap_or(0.0);
        Ok(Self::Lambdas((0..DEFAULT_LAMBDAS).map(|k| most * 0.5f64.powi(k)).collect()))
    }

    /// Points.
    pub fn len(&self) -> usize {
        match self {
            Self::Counts(list) => list.len(),
            Self::Lambdas(list) => list.len(),
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In the order of a path: sparse points first, each once.
    #[must_use]
    pub fn ordered(self) -> Self {
        match self {
            Self::Counts(mut list) => {
                list.sort_unstable();
                list.dedup();
                Self::Counts(list)
            }
            Self::Lambdas(mut list) => {
                sort_numbers_down(&mut list);
                list.dedup();
                Self::Lambdas(list)
            }
        }
    }

    /// Name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counts(_) => "nonzeros",
            Self::Lambdas(_) => "lambda",
        }
    }

    /// The count or λ of point i.
    pub fn at(&self, i: usize) -> f64 {
        match self {
            Self::Counts(list) => list[i] as f64,
            Self::Lambdas(list) => list[i],
        }
    }

    /// Number of leading points with one nonzero in each component, at most `most`.
    pub(super) fn singles(&self, most: usize) -> usize {
        match self {
            Self::Counts(list) => list.iter().filter(|k| **k == 1).count().min(most),
            Self::Lambdas(_) => 0,
        }
    }

    /// Options of the problem for the first point.
    pub(super) fn first(&self, options: &Request) -> Request {
        let options = options.clone();
        match self {
            Self::Counts(list) => options.with_limit(Some(Limit::Nonzeros(vec![list[0]]))),
            Self::Lambdas(list) => {
                Request { lambda: Some(list[0]), relative_lambda: None, ..options }.with_limit(None)
            }
        }
    }

    /// Checks that the path can be computed.
    pub(super) fn check(&self, request: &PathRequest) -> Result<()> {
        let name = request.options.penalty.as_deref().unwrap_or(request.problem.penalty);
        let wrong = |option: &str, value: String, expected: &str| {
            Err(Error::InvalidOption { option: option.into(), value, expected: expected.into() })
        };
        if request.options.between() != Between::Orthogonal {
            let why = " is for a single point: a path has orthogonal components";
            return Err(Error::Incompatible(Message::about("constraint").text(why)));
        }
        match self {
            _ if self.is_empty() => wrong("counts", "none".into(), "at least one number"),
            Self::Counts(list) if list[0] == 0 => wrong("counts", "0".into(), "at least 1"),
            Self::Lambdas(list) if list.iter().any(|l| !(*l >= 0.0 && l.is_finite())) => {
                wrong("lambdas", "not all finite and >= 0".into(), "finite numbers >= 0")
            }
            _ if self.clone().ordered() != *self => {
                wrong("counts", "in another order".into(), "increasing counts, or decreasing lambdas")
            }
            Self::Lambdas(_) => {
                let pca = request.problem.kind == Kind::Pca && request.options.map.is_none();
                let weighed = find_penalty(name).is_ok_and(|p| p.lambda_share.is_some());
                if pca && weighed {
                    return Ok(());
                }
                Err(Error::Incompatible(
                    Message::about("lambdas")
                        .text(format!(" is for PCA with a penalty that has a lambda, not for {name}")),
                ))
            }
            Self::Counts(_) => Ok(()), // `pose` says which problems take counts
        }
    }

    /// The problem at point i; the data go with it.
    pub(super) fn to(&self, i: usize, posed: Posed, request: &PathRequest) -> Result<Posed> {
        let Posed { problem, rank, lambda, limits, .. } = posed;
        if let AnyProblem::InUnit(far) = problem {
            let (near, unit) = far.into_parts();
            let along = match self {
                Self::Counts(list) => Self::Counts(list.clone()),
                Self::Lambdas(list) => {
                    Self::Lambdas(list.iter().map(|lambda| unit.lambda(*lambda)).collect())
                }
            };
            let lambda = lambda.map(|lambda| unit.lambda(lambda));
            let request = PathRequest { options: unit.options(&request.options), ..request.clone() };
            let posed = along.to(i, Posed { problem: near, lambda, limits, ..posed }, &request)?;
            return Ok(unit.back(posed));
        }
        let (problem, lambda, limits) = match (self, problem) {
            (Self::Counts(list), AnyProblem::Cardinality(old)) => {
                let counts = Cardinality::Components(vec![list[i]; rank]);
                let (weight, nonneg) = (old.lambda(), old.requires_nonneg());
                let new = CardinalityProblem::new(old.f, rank, counts, weight, nonneg)?;
                let limits = Some(new.limits().clone());
                (AnyProblem::Cardinality(new), lambda, limits)
            }
            (Self::Counts(list), AnyProblem::Measured(old)) => {
                let weight = old.lambda();
                let new = old.limited(Cardinality::Components(vec![list[i]; rank]), weight)?;
                let limits = Some(new.limits().clone());
                (AnyProblem::Measured(new), lambda, limits)
            }
            (Self::Lambdas(list), AnyProblem::Measured(old)) => {
                let limits = old.limits().clone();
                (AnyProblem::Measured(old.limited(limits.clone(), list[i])?), Some(list[i]), Some(limits))
            }
            (Self::Lambdas(list), AnyProblem::Pca(mut problem)) => {
                let name = request.options.penalty.as_deref().unwrap_or(request.problem.penalty);
                problem.h = (find_penalty(name)?.make_shaped)(list[i], &request.options.shape())?;
                (AnyProblem::Pca(problem), Some(list[i]), None)
            }
            (_, problem) => (problem, lambda, limits),
        };
        Ok(Posed { problem, lambda, limits, ..posed })
    }
}
