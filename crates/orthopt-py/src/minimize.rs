//! `minimize`: f is a Python callable, the constraint XᵀX = I or XᵀJX = J.

use numpy::PyReadonlyArray2;
use orthopt::certify::criticality_while;
use orthopt::composite::criticality;
use orthopt::constraint::{Constraint, Stiefel};
use orthopt::family::{
    Case, CompositeOptions, check_constants, composite_parts, needs_parts, penalty_called,
};
use orthopt::linalg::RowMat;
use orthopt::message::Message;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{AnyPenalty, find_penalty};
use orthopt::problem::Problem;
use orthopt::smooth::Smooth;
use orthopt::solve::{Solution, Status};
use orthopt::solvers::{general_pairwise, splitting};
use orthopt::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::begun::{Begun, stages, start_rng};
use crate::errors::Failure;
use crate::hyperbolic;
use crate::input::copied;
use crate::options::{Asked, Options};
use crate::result::put_solution;
use crate::smooth::Callable;

/// min f(X) + h(X) with the user's f.
type Custom = Problem<Stiefel, Callable, AnyPenalty>;

/// The default for penalties that are convex and finite, and for the others.
const DEFAULTS: (&str, &str) = ("irpg", "ladmm");

/// The default for f − g + h∘A.
const COMPOSITE_DEFAULT: &str = "oadmm";

/// Minimises. `options` has every key of [`Options`]; `x0` is X⁰ or its shape; returns a dictionary.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by one Python function that names them
pub fn minimize<'py>(
    py: Python<'py>,
    fun: Py<PyAny>,
    convert: Py<PyAny>,
    x0: Option<PyReadonlyArray2<'py, f64>>,
    shape: (usize, usize),
    constraint: &str,
    lipschitz: Option<f64>,
    sums: Option<(Py<PyAny>, usize)>,
    options: Options<'py>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let lipschitz = lipschitz.map(|l| {
        orthopt::options::checked("lipschitz", l, "a number > 0", |v| v > 0.0).map_err(Failure::from)
    });
    if sums.is_some() && constraint == "stiefel" {
        let why = " means nothing to X'X = I: it is for the solver vr-j-jobcd and X'JX = J; leave it out";
        return Err(Failure::from(Error::Incompatible(Message::about("sample").text(why))).into());
    }
    let f = Callable::new(fun, sums, convert, shape, lipschitz.transpose()?);
    let x0 = x0.as_ref().map(copied).transpose()?;
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
    let out = PyDict::new(py);
    put_solution(&out, &solution)?;
    out.set_item("problem", constraint)?;
    out.set_item("rank", shape.1)?;
    out.set_item("lam", options.lam)?;
    out.set_item("criticality", criticality)?;
    out.set_item("evaluations", f.evaluations())?;
    Ok(out)
}

fn stiefel_run(py: Python<'_>, begun: &Begun, options: &Options<'_>) -> PyResult<(Solution, Option<f64>)> {
    let pose = options.pose()?;
    let stopping = options.stopping().map_err(Failure::from)?;
    let wanted = options.wanted(None).map_err(Failure::from)?;
    let penalty = options.penalty.as_deref().unwrap_or("none");
    let (scope, asked) = (options.scope(), options.asked());
    let case = Case::of_function(false, penalty, pose.map.is_some());
    asked.check(case.clone()).map_err(Failure::from)?;
    if pose.map.is_some() || needs_parts(penalty) {
        return composite_run(py, begun, options, (&asked, &case));
    }
    let run = || -> std::result::Result<_, Failure> {
        let h = (find_penalty(penalty)?.make_shaped)(options_lambda(penalty, pose.lambda)?, &pose.shape)?;
        let general = h.is_convex() && !h.requires_nonneg();
        let default = if general { DEFAULTS.0 } else { DEFAULTS.1 };
        check_constants(&pose.shape, &[penalty])?;
        let (n, r) = begun.shape;
        let problem: Custom = Problem::new(begun.f.clone(), h, r)?;
        let stages = stages(general_pairwise(), &problem, default, &wanted, (&asked, &case))?;
        let mut rng = start_rng(wanted.seed);
        let x0 = match &begun.x0 {
            Some(x) => x.clone(),
            None if problem.h.requires_nonneg() => partition(n, r, &mut rng),
            None => problem.constraint.random(&mut rng),
        };
        problem.constraint.check(&x0, "the starting point X")?;
        check_sign(&problem, &x0)?;
        begun.f.estimate_lipschitz(&x0, &problem.constraint.random(&mut rng));
        let mut solution = begun.run(&problem, stages, x0, &wanted, &stopping)?;
        solution.settings.insert("lipschitz".into(), begun.f.lipschitz().unwrap_or(f64::NAN).into());
        let measured = scope.filter(|_| solution.status != Status::Interrupted);
        let critical = measured.and_then(|_| criticality_while(&problem, &solution.x, &begun.f.attended()));
        Ok((solution, critical))
    };
    Ok(py.detach(run)?)
}

/// f − g + h∘A: a penalty with parts of its own, or one behind a linear map.
fn composite_run(
    py: Python<'_>,
    begun: &Begun,
    options: &Options<'_>,
    (asked, case): (&Asked, &Case),
) -> PyResult<(Solution, Option<f64>)> {
    let pose = options.pose()?;
    let stopping = options.stopping().map_err(Failure::from)?;
    let wanted = options.wanted(None).map_err(Failure::from)?;
    let penalty = options.penalty.as_deref().unwrap_or("none");
    let scope = options.scope();
    let run = || -> std::result::Result<_, Failure> {
        check_constants(&pose.shape, &[penalty])?;
        let (n, r) = begun.shape;
        let shape = pose.shape.clone();
        let parts =
            CompositeOptions { k: pose.k, map: pose.map.clone(), shape, ..CompositeOptions::default() };
        let lambda = options_lambda(penalty, pose.lambda)?;
        let (g, h, a) = composite_parts(penalty, lambda, (n, r), &parts)?;
        let problem = Problem::new(begun.f.clone(), h, r)?.minus(g)?.through(a)?;
        let stages = stages(splitting(), &problem, COMPOSITE_DEFAULT, &wanted, (asked, case))?;
        let mut rng = start_rng(wanted.seed);
        let x0 = begun.x0.clone().unwrap_or_else(|| problem.constraint.random(&mut rng));
        problem.constraint.check(&x0, "the starting point X")?;
        begun.f.estimate_lipschitz(&x0, &problem.constraint.random(&mut rng));
        let mut solution = begun.run(&problem, stages, x0, &wanted, &stopping)?;
        solution.settings.insert("lipschitz".into(), begun.f.lipschitz().unwrap_or(f64::NAN).into());
        let measured = scope.filter(|_| solution.status != Status::Interrupted);
        let critical = measured.and_then(|_| criticality(&problem, &solution.x, &begun.f.attended()));
        Ok((solution, critical))
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
