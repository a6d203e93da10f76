//! From a problem's name and data to the problem, with defaults for what is left open: the one
//! place where the command line and other languages pose problems.

use std::borrow::Cow;

use super::Request;
use super::in_time::in_time;
use super::in_unit::{Divided, Unit};
use super::posed::{Posed, default_rank, rank_or_default};
use super::problem_options::{check_relative, needs_composite};
use super::request::Input;
use super::{AnyProblem, brockett, memory, procrustes, samples};
use crate::family::Between;
use crate::family::cardinality::{Limit, pose_cardinality, simplest};
use crate::family::catalogue::{check_constants, penalty_called};
use crate::family::composite_pca::{assemble, check_before_work, counted_in, model, split};
use crate::family::lambda::{default_lambda, relative_lambda};
use crate::family::measured::pose_measured;
use crate::family::pca::problem_of;
use crate::family::request::{Case, Of};
use crate::family::statement::statement;
use crate::family::{CompositeOptions, Kind, ProblemInfo, default_k};
use orthopt_core::constraint::j_orthogonal::Signature;
use orthopt_core::penalty::find_penalty;
use orthopt_core::problem::{JProblem, NonlinearEigProblem, PcaData, covariance, scatter};
use orthopt_core::smooth::{Measure, NonlinearEig, Order, euclidean_distances};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::sort_numbers_down;

/// Poses the problem.
///
/// # Errors
/// A bad rank or λ; an option that does not apply to the problem or the data; data that are not what they should be,
/// or so large that C overflows; a decomposition that is cancelled ([`Cancel::during`](orthopt_linalg::cancel::Cancel::during)).
pub fn pose(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    in_time(match Unit::of(info, data, options) {
        Some(unit) => {
            let near = Divided::by(&unit, data);
            posed(info, &near.data(), &unit.options(options))
                .and_then(|posed| unit.posed(posed, &near.data()))
        }
        None => posed(info, data, options),
    })
}

fn posed(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    check_constants(&options.shape(), &[options.penalty.as_deref().unwrap_or(info.penalty)])?;
    check_relative(info, options)?;
    let by_rule = options.rank_rule().is_some();
    let options = &*options.with_rank(info, data)?;
    let rank = match info.kind {
        Kind::HyperbolicEig | Kind::Probe => data.ncols(),
        _ => options.components(data.ncols()),
    };
    let gram = matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_));
    Case::new(info, options).of_gram(gram).check(options.given_of(&[Of::Problem]))?;
    let options = &match options.lambda_share {
        Some(share) => Cow::Owned(Request {
            lambda: Some(share_of_mean(data, options.rank(), share)),
            lambda_share: None,
            ..options.clone()
        }),
        None => Cow::Borrowed(options),
    };
    memory::check(info, data, rank, options)?;
    let single = of_one(info, options, rank);
    let options = single.as_ref().unwrap_or(options);
    let simple = simplest(options, rank, data.ncols());
    let options = simple.as_ref().unwrap_or(options);
    // where every X is allowed the leading eigenvectors are best in every measure
    let excludes = |limit: &Limit| limit.of(rank).is_none_or(|limits| limits.excludes(data.ncols(), rank));
    let plain = options.maximise.is_none()
        && options.lambda.is_none()
        && !options.limit().as_ref().is_some_and(excludes);
    let measure = if plain { Measure::Variance } else { options.measure(info, rank) };
    let mut posed = match info.kind {
        _ if options.is_measured(measure) => pose_measured(info, data, options, measure),
        _ if options.limit().is_some() => pose_cardinality(info, data, options),
        Kind::Pca if !needs_composite(options) => pose_pca(info, data, options),
        Kind::Pca | Kind::Composite | Kind::DataFit => pose_composite(info, data, options),
        Kind::HyperbolicEig | Kind::Probe => pose_j(info, data, options),
        Kind::NonlinearEig => pose_nonlinear(info, data, options),
        Kind::Procrustes => procrustes::pose(info, data, options),
        Kind::Brockett => brockett::pose(info, data, options),
        Kind::Samples(loss) => samples::pose(info, loss, data, options),
    }?;
    let of_variances = matches!(info.kind, Kind::Pca | Kind::Composite | Kind::DataFit);
    if of_variances && varies_nowhere(data) {
        posed.notes.push(CONSTANT.into());
    }
    if options.maximise.is_none() && measure == Measure::Adjusted {
        let why = "adjusted variance is maximised, what each component adds to those before it (";
        posed.reasons.push(Message::from(why).option("maximise").text(")"));
    }
    if let Some(scree) = options.scree.as_ref().filter(|_| by_rule) {
        posed.reasons.insert(0, scree.reason.clone().into());
    } else if by_rule {
        let why = " auto: the time was over before the eigenvalues of the data were known";
        posed.reasons.insert(0, Message::about("rank").text(why));
    }
    posed.scree.clone_from(&options.scree);
    posed.title = options.title.clone().unwrap_or_else(|| in_words(&posed, options, data.ncols()));
    Ok(posed)
}

/// The problem of one component, which has no other one to be uncorrelated with, or to come after.
fn of_one(info: &ProblemInfo, options: &Request, rank: usize) -> Option<Request> {
    let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
    let takes = info.kind == Kind::Pca && matches!(penalty, "l0" | "none") && options.map().is_none();
    let tied = options.between().is_uncorrelated() || options.order.unwrap_or_default() == Order::Sequential;
    (takes && rank == 1 && options.limit().is_some() && tied).then(|| Request {
        constraint: Some(Between::Orthogonal),
        order: Some(Order::Joint),
        ..options.clone()
    })
}

/// `3 sparse components of 13 variables`.
fn in_words(posed: &Posed, options: &Request, n: usize) -> String {
    let (info, r) = (posed.info, posed.rank);
    let many = |n: usize| if n == 1 { "" } else { "s" };
    let limited = posed.limits.is_some() || posed.lambda.is_some_and(|lambda| lambda > 0.0);
    let nonneg = options.penalty.as_deref().unwrap_or(info.penalty) == "nonneg";
    let kind = match info.kind {
        Kind::Pca if options.map().is_some() => "penalised",
        Kind::Pca if nonneg && limited => "sparse nonnegative",
        Kind::Pca if nonneg => "nonnegative",
        Kind::Pca if limited => "sparse",
        Kind::Pca => "principal",
        Kind::Composite | Kind::DataFit => "penalised",
        Kind::HyperbolicEig
        | Kind::Probe
        | Kind::NonlinearEig
        | Kind::Procrustes
        | Kind::Brockett
        | Kind::Samples(_) => {
            return format!("{} of {n} variable{}, r = {r}", info.name, many(n));
        }
    };
    format!("{r} {kind} component{} of {n} variable{}", many(r), many(n))
}

const CONSTANT: &str = "every column is constant, or every entry of C is zero: there is no variance, all X have the same, and components say nothing";

/// True if C is zero.
fn varies_nowhere(data: &PcaData<'_>) -> bool {
    let is_zero = |a: faer::MatRef<'_, f64>| (0..a.ncols()).all(|j| (0..a.nrows()).all(|i| a[(i, j)] == 0.0));
    match data {
        PcaData::Dense(a) | PcaData::Gram(a) => is_zero(*a),
        PcaData::Centred(a, _) => (0..a.ncols()).all(|j| (1..a.nrows()).all(|i| a[(i, j)] == a[(0, j)])),
        data => data.squares().iter().all(|square| *square == 0.0),
    }
}

/// λ as a share of the mean of the r largest Cᵢᵢ.
fn share_of_mean(data: &PcaData<'_>, rank: Option<usize>, share: f64) -> f64 {
    let mut squares = data.squares();
    sort_numbers_down(&mut squares);
    let rank = rank.unwrap_or(default_rank(squares.len())).clamp(1, squares.len().max(1));
    share * squares.iter().take(rank).sum::<f64>() / rank as f64
}

fn pose_pca(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    let mut reasons = Vec::new();
    let rank = rank_or_default(data, options, &mut reasons);
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    let penalty = find_penalty(name)?;
    if options.penalty.is_some() && name != info.penalty {
        reasons.push(format!("penalty {name} instead of {}: {}", info.penalty, penalty.doc).into());
    }
    let given = options.lambda.unwrap_or(0.0);
    let mut problem = problem_of(
        data,
        rank,
        (penalty.make_shaped)(given, &options.shape())?,
        options.storage.unwrap_or_default(),
    )?;
    let lambda = match (penalty.lambda_share, options.lambda) {
        _ if options.relative_lambda.is_some() => {
            let share = options.relative_lambda.unwrap_or(0.0);
            let lambda = relative_lambda(&problem.f, name, share, options.unit(), &mut reasons)?;
            problem.h = (penalty.make_shaped)(lambda, &options.shape())?;
            Some(lambda)
        }
        (Some(_), Some(lambda)) => Some(lambda),
        (Some(share), None) => {
            let lambda = default_lambda(&problem.f, rank, share, options.unit(), &mut reasons);
            problem.h = (penalty.make_shaped)(lambda, &options.shape())?;
            Some(lambda)
        }
        (None, _) => None,
    };
    let (statement, problem, notes) = (statement(info, options), AnyProblem::Pca(problem), Vec::new());
    Ok(Posed { lambda, notes, ..Posed::new(info, statement, problem, rank, reasons) })
}

fn pose_composite(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    let mut reasons = Vec::new();
    let rank = rank_or_default(data, options, &mut reasons);
    let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
    let has_k = split(penalty).is_some_and(|split| split.has_k);
    let (p, s) = counted_in(options.map(), (data.ncols(), rank))?;
    let k = has_k.then(|| options.k.unwrap_or_else(|| default_k(p, s)));
    let composite = CompositeOptions {
        penalty: options.penalty.clone(),
        k,
        map: options.map().cloned(),
        shape: options.shape().clone(),
        storage: options.storage.unwrap_or_default(),
    };
    check_before_work(info, (data.ncols(), rank), options.lambda.unwrap_or(0.0), &composite)?;
    let entry = penalty_called(penalty)?;
    if penalty != info.penalty {
        reasons.push(format!("penalty {penalty} instead of {}: {}", info.penalty, entry.doc).into());
    }
    if let (Some(k), None) = (k, options.k) {
        let (entries, of) = (p * s, if options.map().is_some() { "A(X)" } else { "X" });
        reasons.push(
            Message::from(format!(
                "k {k}: 5 % of the {entries} entries of {of}, and one per component at least ("
            ))
            .option("k")
            .text(")"),
        );
    }
    let f = model(info, data, options.storage.unwrap_or_default())?;
    let lambda = match (entry.lambda_share, options.lambda) {
        (None, _) => None,
        (Some(_), Some(lambda)) => Some(lambda),
        (Some(share), None) => Some(default_lambda(&f, rank, share, options.unit(), &mut reasons)),
    };
    let problem = assemble(info, f, rank, lambda.unwrap_or(0.0), &composite)?;
    let (statement, problem, notes) = (statement(info, options), AnyProblem::Composite(problem), Vec::new());
    Ok(Posed { lambda, k, notes, ..Posed::new(info, statement, problem, rank, reasons) })
}

/// C is AᵀA of samples, or what is given as C. One with the entries of a Laplacian is not made dense.
fn pose_nonlinear(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    let mut reasons = Vec::new();
    let rank = rank_or_default(data, options, &mut reasons);
    if rank == 0 || rank > data.ncols() {
        return Err(Error::Rank { rank, columns: data.ncols() }); // before any work
    }
    let lambda = options.lambda.unwrap_or_else(|| {
        reasons.push(Message::from("lambda 1 (").option("lambda").text(")"));
        1.0 / options.unit()
    });
    let mut f = match data {
        PcaData::Gram(c) => NonlinearEig::dense(*c, lambda)?,
        PcaData::SparseGram(c) => NonlinearEig::sparse(*c, lambda)?,
        samples => NonlinearEig::dense(scatter(samples, 0.0)?.as_mat(), lambda)?,
    };
    if let Some(e) = options.linear() {
        f = f.with_linear(e.matrix(data.ncols(), rank))?;
    }
    if let Some(zeros) = f.nullity().filter(|zeros| *zeros > 0) {
        reasons.push(format!("C has {zeros} zero eigenvalues: C^+ is its pseudoinverse").into());
    }
    let problem = NonlinearEigProblem::new(f, orthopt_core::penalty::NoPenalty, rank)?;
    let problem = AnyProblem::NonlinearEig(problem);
    let statement = statement(info, options);
    Ok(Posed { lambda: Some(lambda), ..Posed::new(info, statement, problem, rank, reasons) })
}

fn pose_j(info: &'static ProblemInfo, data: &PcaData<'_>, options: &Request) -> Result<Posed> {
    let n = data.ncols();
    let mut reasons = Vec::new();
    if let Some(rank) = options.rank().filter(|r| *r != n) {
        return Err(Error::InvalidOption {
            option: "rank".into(),
            value: rank.to_string(),
            expected: format!("{n}, or no rank: X of {} is square", info.name),
        });
    }
    let signature = match &options.signature {
        Some(text) => Signature::parse(text, n)?,
        None => {
            let p = n.div_ceil(2);
            reasons
                .push(format!("signature {p}: ones for half of the {n} variables, then minus ones").into());
            Signature::leading(p, n)?
        }
    };
    let problem = match info.kind {
        Kind::Probe => pose_probe(data, signature, options, &mut reasons)?,
        _ if options.reproduction == Some(true) => {
            JProblem::reproduction(scatter(data, options.ridge.unwrap_or_default())?.as_mat(), signature)?
        }
        _ => JProblem::hyperbolic_eig(
            covariance(data, options.ridge.unwrap_or_default())?.as_mat(),
            signature,
        )?,
    };
    Ok(Posed::new(info, statement(info, options), AnyProblem::JOrthogonal(problem), n, reasons))
}

fn pose_probe(
    data: &PcaData<'_>,
    signature: Signature,
    options: &Request,
    reasons: &mut Vec<Message>,
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
        PcaData::Gram(_) | PcaData::SparseGram(_) => {
            return Err(Error::Incompatible(
                Message::from("probe needs samples, not C: give DATA instead of ").option("gram"),
            ));
        }
    };
    let radius = options.radius.unwrap_or_else(|| {
        reasons.push(Message::from("radius 1 (").option("radius").text(")"));
        1.0
    });
    let t = match options.distances.as_ref().and_then(Input::value) {
        Some(t) => t.clone(),
        None => {
            reasons.push(
                Message::from("distances: the Euclidean ones of the samples (").option("distances").text(")"),
            );
            euclidean_distances(dense.as_ref())
        }
    };
    JProblem::probe(dense.as_ref(), t, signature, radius, options.placement.unwrap_or_default())
}
