//! `minimize`: f is a Python callable, the constraint XᵀX = I or XᵀJX = J.

use numpy::PyReadonlyArray2;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::criticality_while;
use orthopt::composite::criticality;
use orthopt::constraint::{Constraint, Stiefel};
use orthopt::family::{
    Case, CompositeOptions, GivenOptions, check_constants, composite_parts, needs_parts, penalty_called,
};
use orthopt::linear_map::{AnyMap, FunctionMap};
use orthopt::message::Message;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{AnyPenalty, find_penalty};
use orthopt::problem::Problem;
use orthopt::request::Settled;
use orthopt::smooth::HessianVector;
use orthopt::solve::{Solution, Status, Stopping};
use orthopt::solvers::{general_pairwise, splitting};
use orthopt::{Error, Result};
use orthopt_run::family::in_unit::shape as shape_in_unit;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::begun::{Begun, stages, start_rng};
use crate::broken::judged;
use crate::errors::Failure;
use crate::hyperbolic;
use crate::input::copied;
use crate::options::Request;
use crate::result::put_solution;
use crate::smooth::Callable;

/// min f(X) + h(X) with the user's f.
type Custom = Problem<Stiefel, Callable, AnyPenalty>;

/// The default for products with the Hessian.
const SECOND_ORDER: &str = "trust-region";

/// The default without a penalty, for penalties that are convex and finite, and for the others.
const DEFAULTS: [&str; 3] = ["lbfgs", "irpg", "ladmm"];

/// The default for f − g + h∘A.
const COMPOSITE_DEFAULT: &str = "oadmm";

/// Minimises. `x0` is X⁰ or its shape; returns a dictionary.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by one Python function that names them
pub fn minimize<'py>(
    py: Python<'py>,
    fun: Py<PyAny>,
    hess: Option<Py<PyAny>>,
    convert: Py<PyAny>,
    x0: Option<PyReadonlyArray2<'py, f64>>,
    shape: (usize, usize),
    constraint: &str,
    lipschitz: Option<f64>,
    sums: Option<(Py<PyAny>, usize)>,
    mut options: Request,
    map: Option<(Py<PyAny>, Py<PyAny>)>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let lipschitz = lipschitz.map(|l| {
        orthopt::options::checked("lipschitz", l, "a number > 0", |v| v > 0.0).map_err(Failure::from)
    });
    if sums.is_some() && constraint == "stiefel" {
        let why = " does not apply to X'X = I: it is for the solver vr-j-jobcd and X'JX = J; leave it out";
        return Err(Failure::from(Error::Incompatible(Message::about("sample").text(why))).into());
    }
    let f = Callable::new(fun, hess, sums, convert, shape, lipschitz.transpose()?);
    let x0 = x0.as_ref().map(copied).transpose()?;
    if let Some((apply, adjoint)) = map {
        let (here, back) = (f.clone(), f.clone());
        let made = py.detach(|| {
            FunctionMap::new(shape, move |x| here.matrix(&apply, x), move |y| back.matrix(&adjoint, y))
        });
        if let Some(error) = f.raised() {
            return Err(error);
        }
        options.settled.pose.map = Some(AnyMap::Functions(made.map_err(Failure::from)?));
    }
    let begun = Begun { f: f.clone(), x0, shape, callback };
    let (solution, criticality) = match constraint {
        "stiefel" => stiefel_run(py, &begun, &options)?,
        "j-orthogonal" => hyperbolic::run(py, &begun, &options)?,
        _ => {
            let (kind, known) = ("constraint", "stiefel, j-orthogonal".into());
            return Err(Failure::from(Error::UnknownName { kind, name: constraint.into(), known }).into());
        }
    };
    if let Some(error) = f.raised() {
        return Err(error);
    }
    let solution = py.detach(|| judged(&f, solution))?;
    let out = PyDict::new(py);
    put_solution(&out, &solution)?;
    out.set_item("problem", constraint)?;
    out.set_item("rank", shape.1)?;
    out.set_item("lam", options.settled.pose.lambda)?;
    out.set_item("criticality", criticality)?;
    out.set_item("evaluations", f.evaluations())?;
    Ok(out)
}

fn stiefel_run(py: Python<'_>, begun: &Begun, request: &Request) -> PyResult<(Solution, Option<f64>)> {
    let Request { settled: asked, given, .. } = request;
    let Settled { pose, wanted, stopping, restarts, certify: scope, .. } = asked;
    let penalty = pose.penalty.as_deref().unwrap_or("none");
    let case = Case::of_function(false, penalty, pose.map.is_some());
    given.check(case.clone()).map_err(Failure::from)?;
    if pose.map.is_some() || needs_parts(penalty) {
        return composite_run(py, begun, request, (given, &case));
    }
    let run = || -> std::result::Result<_, Failure> {
        let made = |unit: f64| -> Result<AnyPenalty> {
            let lambda = options_lambda(penalty, pose.lambda)? / unit;
            (find_penalty(penalty)?.make_shaped)(lambda, &shape_in_unit(&pose.shape, unit))
        };
        let nonneg = made(1.0)?.requires_nonneg();
        let unit = settled(begun, nonneg, wanted.seed)?;
        let h = made(unit)?;
        let default = match h.is_convex() && !h.requires_nonneg() {
            true if begun.f.has_hessian() => SECOND_ORDER,
            true if penalty == "none" => DEFAULTS[0],
            true => DEFAULTS[1],
            false => DEFAULTS[2],
        };
        check_constants(&pose.shape, &[penalty])?;
        let (n, r) = begun.shape;
        let problem: Custom = Problem::new(begun.f.clone(), h, r)?;
        let stages = stages(general_pairwise(), &problem, default, wanted, (given, &case))?;
        let mut rng = start_rng(wanted.seed);
        let x0 = match &begun.x0 {
            Some(x) => x.clone(),
            None if problem.h.requires_nonneg() => partition(n, r, &mut rng),
            None => problem.constraint.random(&mut rng),
        };
        problem.constraint.check(&x0, "the starting point X")?;
        check_sign(&problem, &x0)?;
        let elsewhere = problem.constraint.random(&mut rng);
        let both = n == r && !problem.h.requires_nonneg();
        let both = both && !(problem.h.is_even() && is_even(&begun.f, &elsewhere));
        begun.f.estimate_lipschitz_at(&x0, elsewhere);
        let further = Further::of(*restarts, begun.x0.is_some());
        let random = |rng: &mut Pcg64| match problem.h.requires_nonneg() {
            true => partition(n, r, rng),
            false => problem.constraint.random(rng),
        };
        let starts = Starts::new(x0, both, |rng| random(rng), &mut rng);
        let mut solution = best_of(starts, further, stopping, |x0, stopping| {
            begun.run(&problem, stages.clone(), x0, wanted, stopping)
        })?;
        solution.settings.extend(begun.f.known_lipschitz().map(|l| ("lipschitz".into(), l.into())));
        let measured = scope.filter(|_| solution.status != Status::Interrupted);
        let measure = |clock: &Cancel| criticality_while(&problem, &solution.x, clock);
        let critical = measured.and_then(|_| begun.check_in_time(&solution, stopping, measure));
        Ok((solution.times(unit), critical.map(|size| unit * size)))
    };
    Ok(py.detach(run)?)
}

/// The unit of f, found where the first run begins.
fn settled(begun: &Begun, nonneg: bool, seed: u64) -> Result<f64> {
    let ((n, r), mut rng) = (begun.shape, start_rng(seed));
    let constraint = Stiefel::new(n, r)?;
    let x0 = match &begun.x0 {
        Some(x) => x.clone(),
        None if nonneg => partition(n, r, &mut rng),
        None => constraint.random(&mut rng),
    };
    constraint.check(&x0, "the starting point X")?;
    Ok(begun.f.settle_unit(&x0))
}

/// Starts after the first.
#[derive(Clone, Copy, Debug)]
enum Further {
    /// So many random ones.
    Count(u64),
    /// Random ones until two starts have come to the lowest F, but no more than [`MOST_STARTS`] in all.
    UntilAgreed,
}

impl Further {
    /// The starts that follow from a number of `restarts`, if there is one, and from whether a start is given.
    fn of(restarts: Option<u64>, given: bool) -> Self {
        match restarts {
            Some(count) => Self::Count(count),
            None if given => Self::Count(0),
            None => Self::UntilAgreed,
        }
    }
}

/// The largest number of starts of those who give none and no number.
const MOST_STARTS: usize = 10;
/// The F of two runs are the same up to this share of their size.
const SAME: f64 = 1e-6;

/// Starting points without end: each with its mirror image, in the other half of O(n), where X is square.
struct Starts<'a, R> {
    next: Vec<RowMat>,
    both: bool,
    random: R,
    rng: &'a mut Pcg64,
}

impl<'a, R: FnMut(&mut Pcg64) -> RowMat> Starts<'a, R> {
    fn new(first: RowMat, both: bool, random: R, rng: &'a mut Pcg64) -> Self {
        let mut starts = Self { next: Vec::new(), both, random, rng };
        starts.push(first);
        starts
    }

    fn push(&mut self, x: RowMat) {
        self.next.extend(self.both.then(|| mirrored(&x)));
        self.next.push(x);
    }
}

/// X with the sign of the last column changed: in the other half of O(n) where X is square.
fn mirrored(x: &RowMat) -> RowMat {
    let last = x.ncols() - 1;
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| if k == last { -x.get(i, k) } else { x.get(i, k) })
}

/// Rounding errors of f and ∇f, relative to their size.
const ROUNDING: f64 = 1e-12;

/// True if a random X and its mirror image have the same f and mirrored gradients: then so have all others, and both halves
/// of O(n) the same minima.
fn is_even(f: &Callable, x: &RowMat) -> bool {
    let (mut g, mut of_image) = (RowMat::zeros(x.nrows(), x.ncols()), RowMat::zeros(x.nrows(), x.ncols()));
    let here = f.evaluate(x, &mut g);
    let there = f.evaluate(&mirrored(x), &mut of_image);
    let image = mirrored(&g);
    let apart = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| image.get(i, k) - of_image.get(i, k)).norm();
    (here - there).abs() <= ROUNDING * here.abs() && apart <= ROUNDING * g.norm()
}

impl<R: FnMut(&mut Pcg64) -> RowMat> Iterator for Starts<'_, R> {
    type Item = RowMat;

    fn next(&mut self) -> Option<RowMat> {
        if self.next.is_empty() {
            let x = (self.random)(self.rng);
            self.push(x);
        }
        self.next.pop()
    }
}

/// The lowest F of runs from these starts, under one limit of time.
fn best_of<R: FnMut(&mut Pcg64) -> RowMat>(
    starts: Starts<'_, R>,
    further: Further,
    stopping: &Stopping,
    mut run: impl FnMut(RowMat, &Stopping) -> std::result::Result<Solution, Failure>,
) -> std::result::Result<Solution, Failure> {
    let halves = if starts.both { 2 } else { 1 };
    let mut best: Option<(usize, Solution)> = None;
    let mut interrupted = None; // how the run ended, also where an earlier start is the best
    let (mut values, mut seconds, mut iterations) = (Vec::new(), 0.0, 0);
    for x0 in starts {
        let limit = stopping.time_limit.map(|limit| (limit - seconds).max(0.0));
        let found = match run(x0, &Stopping { time_limit: limit, ..*stopping }) {
            Ok(found) => found,
            Err(failure) if best.is_none() => return Err(failure),
            Err(_) => break, // what is found already stays; exceptions of f are raised by the caller
        };
        seconds += found.seconds;
        iterations += found.iterations;
        let (f, size, ended) = (found.objective.total, found.scale, found.status);
        interrupted = (ended == Status::Interrupted).then(|| (ended, found.message.clone()));
        values.push(f);
        if best.as_ref().is_none_or(|(_, best)| f < best.objective.total) {
            best = Some((values.len() - 1, found));
        }
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let agreed = values.iter().filter(|v| **v <= lowest + SAME * (size + lowest.abs())).count();
        let enough = match further {
            Further::Count(count) => values.len() as u64 >= halves * (1 + count),
            Further::UntilAgreed => agreed >= 2 || values.len() >= MOST_STARTS,
        };
        if enough || !matches!(ended, Status::Converged | Status::Stalled) {
            break;
        }
    }
    let Some((at, mut best)) = best else {
        return Err(Error::Incompatible("there is no start".into()).into());
    };
    if let Some((status, message)) = interrupted {
        (best.status, best.message) = (status, message);
    }
    if values.len() > 1 {
        let lowest = best.objective.total;
        let near = SAME * (best.scale + lowest.abs());
        let agreed = values.iter().filter(|v| **v <= lowest + near).count();
        best.message = format!(
            "{} (the best of {} starts, of which {agreed} came to this F)",
            best.message,
            values.len()
        );
        best.settings.insert("starts_at_best".into(), (agreed as u64).into());
    }
    best.settings.insert("starts".into(), (values.len() as u64).into());
    best.settings.insert("best_start".into(), (at as u64).into());
    (best.starts, best.best_start) = (values.len() as u64, at as u64);
    (best.seconds, best.iterations) = (seconds, iterations);
    Ok(best)
}

/// f − g + h∘A: a penalty with parts of its own, or one behind a linear map.
fn composite_run(
    py: Python<'_>,
    begun: &Begun,
    request: &Request,
    (given, case): (&GivenOptions, &Case),
) -> PyResult<(Solution, Option<f64>)> {
    let Settled { pose, wanted, stopping, restarts, certify: scope, .. } = &request.settled;
    let penalty = pose.penalty.as_deref().unwrap_or("none");
    let run = || -> std::result::Result<_, Failure> {
        check_constants(&pose.shape, &[penalty])?;
        let (n, r) = begun.shape;
        let unit = settled(begun, false, wanted.seed)?;
        let shape = shape_in_unit(&pose.shape, unit);
        let parts =
            CompositeOptions { k: pose.k, map: pose.map.clone(), shape, ..CompositeOptions::default() };
        let lambda = options_lambda(penalty, pose.lambda)? / unit;
        let (g, h, a) = composite_parts(penalty, lambda, (n, r), &parts)?;
        let problem = Problem::new(begun.f.clone(), h, r)?.minus(g)?.through(a)?;
        let stages = stages(splitting(), &problem, COMPOSITE_DEFAULT, wanted, (given, case))?;
        let mut rng = start_rng(wanted.seed);
        let x0 = begun.x0.clone().unwrap_or_else(|| problem.constraint.random(&mut rng));
        problem.constraint.check(&x0, "the starting point X")?;
        let elsewhere = problem.constraint.random(&mut rng);
        let both = n == r && !(problem.h.is_even() && is_even(&begun.f, &elsewhere));
        begun.f.estimate_lipschitz_at(&x0, elsewhere);
        let further = Further::of(*restarts, begun.x0.is_some());
        let starts = Starts::new(x0, both, |rng| problem.constraint.random(rng), &mut rng);
        let mut solution = best_of(starts, further, stopping, |x0, stopping| {
            begun.run(&problem, stages.clone(), x0, wanted, stopping)
        })?;
        solution.settings.extend(begun.f.known_lipschitz().map(|l| ("lipschitz".into(), l.into())));
        let measured = scope.filter(|_| solution.status != Status::Interrupted);
        let measure = |clock: &Cancel| criticality(&problem, &solution.x, clock);
        let critical = measured.and_then(|_| begun.check_in_time(&solution, stopping, measure));
        Ok((solution.times(unit), critical.map(|size| unit * size)))
    };
    Ok(py.detach(run)?)
}

/// λ of those who give a penalty: there are no data to choose it from.
fn options_lambda(penalty: &str, lambda: Option<f64>) -> Result<f64> {
    if penalty_called(penalty)?.lambda_share.is_none() {
        return Ok(lambda.unwrap_or(0.0));
    }
    lambda.ok_or_else(|| Error::InvalidOption {
        option: "lam".into(),
        value: "not given".into(),
        expected: format!("a number >= 0, the weight of the penalty {penalty}"),
    })
}

/// A random nonnegative X⁰: the rows, shuffled, are dealt out to the columns.
fn partition(n: usize, r: usize, rng: &mut Pcg64) -> RowMat {
    let mut rows: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        rows.swap(i, rng.random_range(0..=i));
    }
    let mut x = RowMat::zeros(n, r);
    for (k, row) in rows.iter().enumerate() {
        let column = k % r;
        let size = (n - column).div_ceil(r); // rows that this column gets
        x.set(*row, column, 1.0 / (size as f64).sqrt());
    }
    x
}

/// A start that must be nonnegative and is not.
fn check_sign(problem: &Custom, x: &RowMat) -> Result<()> {
    let negative = x.data().iter().position(|v| *v < 0.0).filter(|_| problem.h.requires_nonneg());
    match negative {
        None => Ok(()),
        Some(k) => Err(Error::Negative {
            what: "the starting point X".into(),
            row: k / x.ncols() + 1,
            col: k % x.ncols() + 1,
            value: x.data()[k],
        }),
    }
}
