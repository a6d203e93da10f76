//! Components in their order: −½ tr(XᵀCXD) + h(X) with a diagonal D of weights (Brockett 1991; OBCD, first version, footnote 1), as
//! [`PcaProblem`]s whose f has weights of columns, so that pairs of rows are solved as those of PCA are.

use super::lambda::default_lambda;
use super::portfolio::raced;
use super::posed::{Posed, rank_or_default};
use super::{AnyProblem, Kind, Plan, ProblemInfo, Request, penalty_called};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::objective::size;
use orthopt_core::penalty::{AnyPenalty, find_penalty};
use orthopt_core::problem::{PcaData, PcaProblem, Storage, by_variance, covariance_model};
use orthopt_core::smooth::{AnySmooth, Quadratic};
use orthopt_core::solve::{Solution, Status};
use orthopt_core::start::{Start, round_to_partition};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::descending_to;
use orthopt_solvers::spectral;

/// Entry of the registry.
pub(super) const INFO: ProblemInfo = ProblemInfo {
    name: "brockett",
    kind: Kind::Brockett,
    penalty: "none",
    uses_lambda: false,
    doc: "components in their order: min -1/2 tr(X'CXD) + h(X), X'X = I, D a diagonal of weights; eigenvectors where h = 0",
};

/// Name of the start that examines D.
pub(super) const ORDERED: (&str, &str) =
    ("ordered", "brockett: eigenvectors of C, the leading one for the largest weight");

/// True if columns have weights in f.
pub(super) fn is_weighted(p: &PcaProblem) -> bool {
    p.f.column_weights().is_some()
}

/// The columns of X with the larger variances xₖᵀCxₖ where the larger weights are. `None` if it is long and cancelled.
fn by_weight(f: &AnySmooth, x: &RowMat) -> Option<RowMat> {
    let (d, by_size) = (f.column_weights()?, by_variance(f, x)?);
    let order = descending_to(d.len(), &|k| d[k]);
    let mut place = vec![0; d.len()];
    order.iter().enumerate().for_each(|(at, k)| place[*k] = at);
    Some(RowMat::from_fn(by_size.nrows(), d.len(), |i, k| by_size.get(i, place[k])))
}

/// The solution without h, or a partition near it where entries have to be nonnegative: C is decomposed whole where there are negative
/// weights. The first coordinates if it is long and cancelled.
///
/// # Errors
/// An f without weights of columns.
pub(super) fn ordered(p: &PcaProblem, cancel: &Cancel) -> Result<RowMat> {
    let Some(d) = p.f.column_weights() else {
        return Err(Error::Incompatible("the start ordered is for components with weights: brockett".into()));
    };
    let first = RowMat::from_fn(p.nrows(), p.rank(), |i, k| f64::from(u8::from(i == k)));
    let x = if d.iter().any(|d| *d < 0.0) {
        match cancel.during(|| spectral::ordered(&p.f, &first)) {
            Some(x) => x,
            None if cancel.is_over() => first,
            None => return Err(Error::Factorisation("the eigenvalue decomposition")),
        }
    } else {
        let x = Start::Pca.point_while(&p.f, p.rank(), (false, 0), cancel)?;
        by_weight(&p.f, &x).unwrap_or(x)
    };
    Ok(if p.h.requires_nonneg() { round_to_partition(&x) } else { x })
}

/// Solvers that suit h, and where they begin.
fn table(h: &AnyPenalty) -> &'static [(&'static str, &'static str)] {
    match h {
        h if h.row_weight().is_some() => {
            &[("irpg", "ordered"), ("ladmm+irpg", "ordered"), ("irpg", "random"), ("ladmm+irpg", "random")]
        }
        h if h.requires_nonneg() => &[
            ("ladmm+obcd", "ordered"),
            ("ladmm+obcd", "coordinates"),
            ("ladmm+obcd", "partition"),
            ("obcd", "ordered"),
            ("obcd", "partition"),
        ],
        h if h.is_convex() => &[
            ("irpg+obcd", "ordered"),
            ("ladmm+irpg+obcd", "ordered"),
            ("irpg+obcd", "varimax"),
            ("irpg+obcd", "random"),
            ("obcd", "ordered"),
            ("obcd", "coordinates"),
        ],
        _ => &[
            ("ladmm+obcd", "ordered"),
            ("ladmm+obcd", "varimax"),
            ("obcd", "coordinates"),
            ("ladmm+obcd", "random"),
            ("obcd", "ordered"),
        ],
    }
}

/// A race of solvers from the ordered eigenvectors and from elsewhere, ended by pairs of rows.
pub(super) fn plan(problem: &PcaProblem, request: &Request) -> Result<Plan<PcaProblem>> {
    raced(problem, table(&problem.h), ORDERED.0, request)
}

/// Gives the columns with the larger variances xₖᵀCxₖ the larger weights, which lowers f and leaves any h that treats columns alike;
/// X stays as it is where F would rise, as bounds of single entries may make it. What a solver says of its own X it does not say of this one.
pub(super) fn order(problem: &PcaProblem, solution: &mut Solution) {
    let Some(x) = by_weight(&problem.f, &solution.x) else { return };
    let objective = problem.objective(&x);
    let rounding = 1e-12 * size(solution.scale, objective.total);
    if solution.objective.total - objective.total > rounding {
        solution.feasibility = problem.feasibility(&x);
        (solution.x, solution.objective) = (x, objective);
        if matches!(solution.status, Status::Converged) {
            solution.status = Status::Stalled;
            solution.message = "components in the order of their weights have a lower F than the end of the run: continue from this X".into();
        }
    }
}

/// 2(r + 1 − k)/(r + 1) for k = 1, ..., r: falling evenly, with mean 1, so that λ is of the size that it has in PCA.
fn falling(rank: usize) -> Vec<f64> {
    let r = rank as f64;
    (0..rank).map(|k| 2.0 * (r - k as f64) / (r + 1.0)).collect()
}

/// D, and the number of components.
fn weights(data: &PcaData<'_>, options: &Request, reasons: &mut Vec<Message>) -> Result<(Vec<f64>, usize)> {
    let Some(weights) = &options.component_weights else {
        let rank = rank_or_default(data, options, reasons);
        let why = " 2(r + 1 - k)/(r + 1) for component k: falling evenly, with mean 1";
        reasons.push(Message::about("component-weights").text(why));
        return Ok((falling(rank), rank));
    };
    let rank = options.rank().unwrap_or(weights.len());
    if rank != weights.len() {
        let text = format!(" has {} numbers for {rank} components: give one for each", weights.len());
        return Err(Error::Incompatible(Message::about("component-weights").text(text)));
    }
    Ok((weights.clone(), rank))
}

/// Poses the problem.
pub(super) fn pose(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    let mut reasons = Vec::new();
    let (weights, rank) = weights(data, options, &mut reasons)?;
    if rank == 0 || rank > data.ncols() {
        return Err(Error::Rank { rank, columns: data.ncols() }); // before any work
    }
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    let penalty = find_penalty(name)?;
    if name != info.penalty {
        reasons.push(
            format!("penalty {name} instead of {}: {}", info.penalty, penalty_called(name)?.doc).into(),
        );
    }
    let f = match covariance_model(data, Storage::Dense)? {
        AnySmooth::Dense(f) => AnySmooth::Dense(f.with_column_weights(weights)?),
        _ => return Err(Error::Factorisation("C = A'A of the samples")),
    };
    let lambda = penalty.lambda_share.map(|share| {
        options.lambda.unwrap_or_else(|| default_lambda(&f, rank, share, options.unit(), &mut reasons))
    });
    let h = (penalty.make_shaped)(lambda.unwrap_or(0.0), &options.shape())?;
    if let AnyPenalty::Box(bounds) = &h {
        bounds.check_shape(data.ncols(), rank)?;
    }
    let statement = super::statement::statement(info, options);
    Ok(Posed {
        lambda,
        ..Posed::new(info, statement, AnyProblem::Pca(PcaProblem::new(f, h, rank)?), rank, reasons)
    })
}
