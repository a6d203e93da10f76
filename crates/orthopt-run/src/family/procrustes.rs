//! Orthogonal Procrustes problems, with a penalty or without: −½⟨X, CX⟩ + ⟨E, X⟩ + h(X) as [`PcaProblem`]s whose f has a linear
//! term, so that pairs of rows are solved as those of PCA are.

use super::lambda::linear_lambda;
use super::portfolio::raced;
use super::posed::Posed;
use super::{AnyProblem, Kind, LinearInput, Plan, ProblemInfo, Request, penalty_called};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::penalty::{AnyPenalty, find_penalty};
use orthopt_core::problem::{PcaData, PcaProblem, scatter};
use orthopt_core::smooth::{AnySmooth, DenseQuadratic, Quadratic, Smooth};
use orthopt_core::start::round_to_partition;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::products::product;

/// Entry of the registry.
pub(super) const INFO: ProblemInfo = ProblemInfo {
    name: "procrustes",
    kind: Kind::Procrustes,
    penalty: "none",
    uses_lambda: false,
    doc: "Procrustes: min 1/2 ||AX - B||^2 + h(X), X'X = I, B the target; of C itself 1/2 <X, CX> + <E, X>",
};

/// Name of the start that examines E.
pub(super) const POLAR: (&str, &str) = ("polar", "procrustes: the orthonormal matrix nearest to A'B (to -E)");

/// The orthonormal matrix nearest to −E.
///
/// # Errors
/// An f without a linear term.
pub(super) fn polar(p: &PcaProblem) -> Result<RowMat> {
    if !is_linear(p) {
        return Err(Error::Incompatible("the start polar is for an f with a linear term: procrustes".into()));
    }
    let zero = RowMat::zeros(p.nrows(), p.rank());
    let mut e = p.gradient(&zero);
    e.data_mut().iter_mut().for_each(|v| *v = -*v);
    if p.h.requires_nonneg() {
        return Ok(round_to_partition(&e));
    }
    let mut x = zero;
    match nearest(&e, &mut x) {
        true => Ok(x),
        false => Err(Error::Factorisation("the polar factor of the linear term")),
    }
}

/// True if f has a linear term.
pub(super) fn is_linear(p: &PcaProblem) -> bool {
    p.f.ncols().is_some() && p.f.column_weights().is_none()
}

/// Solvers that suit h, one after the other, and where they begin.
fn arms(h: &AnyPenalty) -> (&'static [&'static str], &'static [&'static str]) {
    const EVERYWHERE: &[&str] = &["polar", "random", "identity"];
    match h {
        AnyPenalty::None(_) => (&["lbfgs+obcd", "optm-cayley+obcd"], EVERYWHERE),
        h if h.row_weight().is_some() => (&["irpg", "ladmm+irpg"], EVERYWHERE),
        h if h.requires_nonneg() => (&["ladmm+obcd", "obcd"], &["polar", "partition"]),
        h if h.is_convex() => (&["irpg+obcd", "ladmm+irpg+obcd", "obcd"], EVERYWHERE),
        _ => (&["ladmm+obcd", "obcd"], EVERYWHERE),
    }
}

/// A race of solvers from the polar factor and from elsewhere, ended by pairs of rows, which also change between the two halves
/// of O(n).
pub(super) fn plan(problem: &PcaProblem, request: &Request) -> Result<Plan<PcaProblem>> {
    let (solvers, starts) = arms(&problem.h);
    let table: Vec<(&str, &str)> =
        starts.iter().flat_map(|start| solvers.iter().map(move |solver| (*solver, *start))).collect();
    raced(problem, &table, POLAR.0, request)
}

/// M, E and the constant: of samples A and a target B, or of C and E as they are.
fn terms(data: &PcaData<'_>, options: &Request) -> Result<(RowMat, LinearInput, f64)> {
    let m = scatter(data, 0.0)?;
    match (data.samples(), options.target(), options.linear()) {
        (Some(samples), Some(b), None) => {
            if b.nrows() != samples {
                return Err(Error::Shape {
                    what: "the target B".into(),
                    rows: b.nrows(),
                    cols: b.ncols(),
                    expected_rows: samples,
                    expected_cols: b.ncols(),
                });
            }
            if let Some((i, k)) = b.find_non_finite() {
                return Err(Error::NotFinite { what: "the target B".into(), row: i + 1, col: k + 1 });
            }
            let mut e = RowMat::zeros(data.ncols(), b.ncols());
            product(&mut e, false, -1.0, data.variables()?.as_mat(), b.as_mat());
            Ok((m, LinearInput::Given(e), 0.5 * b.inner(b)))
        }
        (None, None, Some(e)) => Ok((m, e.clone(), 0.0)),
        (Some(_), ..) => Err(Error::Incompatible(
            Message::from(
                "procrustes of samples A needs B of ||AX - B||, one row for each sample, and no E: ",
            )
            .option("target"),
        )),
        (None, ..) => Err(Error::Incompatible(
            Message::from("procrustes of C itself needs E of 1/2 <X, CX> + <E, X>, and no B: ")
                .option("linear"),
        )),
    }
}

/// Poses the problem.
pub(super) fn pose(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    let mut reasons = Vec::new();
    let n = data.ncols();
    let (m, e, constant) = terms(data, options)?;
    let rank = match (&e, options.rank()) {
        (LinearInput::Given(e), None) => e.ncols(),
        (_, rank) => rank.unwrap_or_else(|| super::posed::default_rank(n)),
    };
    if rank == 0 || rank > n {
        return Err(Error::Rank { rank, columns: n });
    }
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    let penalty = find_penalty(name)?;
    if name != info.penalty {
        reasons.push(
            format!("penalty {name} instead of {}: {}", info.penalty, penalty_called(name)?.doc).into(),
        );
    }
    let e = e.matrix(n, rank);
    let lambda = penalty.lambda_share.map(|share| {
        options.lambda.unwrap_or_else(|| linear_lambda(&m, &e, share, options.unit(), &mut reasons))
    });
    let h = (penalty.make_shaped)(lambda.unwrap_or(0.0), &options.shape())?;
    if let AnyPenalty::Box(bounds) = &h {
        bounds.check_shape(n, rank)?;
    }
    let f = DenseQuadratic::new(m.as_mat())?.with_linear(e)?.with_constant(constant);
    let problem = AnyProblem::Pca(PcaProblem::new(AnySmooth::Dense(f), h, rank)?);
    let statement = super::statement::statement(info, options);
    Ok(Posed { lambda, ..Posed::new(info, statement, problem, rank, reasons) })
}
