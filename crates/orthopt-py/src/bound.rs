//! `bound`: how far can the best X be from the minimum?

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray2};
use orthopt::RowMat;
use orthopt::bound::{
    Bound as Lower, Dual, LimitDual, Options as Limits, Prepared, Progress, ProofFile, Show,
};
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Family};
use orthopt::job::PosedJob;
use orthopt::report::{Assessment, Global};
use orthopt::solve::Stopping;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, worded};
use crate::input::{Given, copied};
use crate::options::Options;
use crate::result::{array, put_task};
use crate::solve::pose_for;
use crate::supervise::follow;
use crate::threads;

/// Limits on the work of a bound.
#[derive(Clone, Copy, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Effort {
    seconds: f64,
    nodes: Option<u64>,
    dual: bool,
    proof: bool,
    over: bool, // whether the call was interrupted before: what there is at once is all
}

/// A bound of a problem, or of a problem and an X; returns a dictionary. Ctrl-C ends it with the best bound so
/// far, and so does a callback that returns true.
#[pyfunction]
pub fn bound<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    x: Option<PyReadonlyArray2<'py, f64>>,
    options: Options,
    effort: Effort,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let x = x.map(|x| copied(&x)).transpose()?;
    let rank = x.as_ref().map(RowMat::ncols);
    let job = options.job(problem).map_err(Failure::from)?;
    let (posed, _, clock) = pose_for(py, job, &data, &options, rank)?;
    let PosedJob { job, task, problem, .. } = posed;
    let request = job.request;
    let whole = Stopping { time_limit: Some(effort.seconds), ..request.stopping() };
    let effort = Effort { seconds: whole.after(&clock).time_limit.unwrap_or(effort.seconds), ..effort };
    let out = PyDict::new(py);
    put_task(&out, &task)?;
    out.set_item("title", &task.title)?;
    out.set_item("notes", worded(&task.notes))?;
    let about = (task.problem.name, task.data.prepared());
    work(py, &out, problem, (x, about), request.threads, (effort, request.memory()), callback.as_ref())?;
    Ok(out)
}

/// Bound with its proof, and the matrices for checking it.
struct Proved {
    bound: Lower,
    dual: Option<(Dual, Option<LimitDual>)>,
    file: Option<ProofFile>,
}

fn work(
    py: Python<'_>,
    out: &Bound<'_, PyDict>,
    problem: AnyProblem,
    (x, about): (Option<RowMat>, (&'static str, Prepared)),
    threads: Option<usize>,
    (effort, memory): (Effort, Option<u64>),
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let latest = Arc::new(Mutex::new(None));
    let look = || {
        let now: Option<Progress> = *latest.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(callback), Some(now)) = (callback, now) else { return Ok(false) };
        let objective = now.incumbent.unwrap_or(f64::INFINITY);
        callback.call1((now.seconds, objective, now.bound, now.iterations, now.nodes, now.open))?.is_truthy()
    };
    let shown = Arc::clone(&latest);
    let Proved { bound, dual, file } = follow(py, look, move |watch| -> Result<_, Failure> {
        let show = |now: &Progress| *shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(*now);
        threads::pool(threads)?
            .install(|| prove(&problem, (x, about), (effort, memory), watch.cancel(), &show))
    })??;
    let facts = Global::of(&bound);
    out.set_item("bound", facts.bound)?;
    out.set_item("objective", facts.objective)?;
    out.set_item("gap", facts.gap)?;
    out.set_item("proof", facts.proof)?;
    out.set_item("status", facts.status)?;
    out.set_item("method", facts.method)?;
    out.set_item("iterations", facts.iterations)?;
    out.set_item("nodes", facts.nodes)?;
    out.set_item("open", facts.open)?;
    out.set_item("seconds", facts.seconds)?;
    out.set_item("X", bound.x.as_ref().map(|x| array(py, x)).transpose()?)?;
    out.set_item("relaxation", bound.relaxation.bound)?;
    out.set_item("dual", dual.as_ref().map(|dual| arrays(py, dual)).transpose()?)?;
    out.set_item("proof_file", file.as_ref().map(ProofFile::text))?;
    let trace = PyDict::new(py);
    let column = |value: fn(&Progress) -> f64| PyArray1::from_iter(py, bound.trace.iter().map(value));
    trace.set_item("seconds", column(|p| p.seconds))?;
    trace.set_item("bound", column(|p| p.bound))?;
    trace.set_item("objective", column(|p| p.incumbent.unwrap_or(f64::INFINITY)))?;
    trace.set_item("nodes", column(|p| p.nodes as f64))?;
    out.set_item("trace", trace)
}

fn prove(
    problem: &AnyProblem,
    (x, (name, data)): (Option<RowMat>, (&'static str, Prepared)),
    (effort, memory): (Effort, Option<u64>),
    cancel: &Cancel,
    show: Show<'_>,
) -> Result<Proved, Failure> {
    if effort.over {
        cancel.cancel();
    }
    let x = x.map(|x| Assessment::repaired(problem, x, "X", 0.0)).transpose()?.map(|found| found.x);
    let options = Limits {
        seconds: Some(effort.seconds),
        nodes: effort.nodes.unwrap_or(u64::MAX),
        memory,
        keeps: effort.proof,
        ..Limits::default()
    };
    if effort.proof {
        problem.statement(name)?; // what no file could prove says so before any work
    }
    let bound = problem.lower_bound(x.as_ref(), &options, cancel, show)?;
    let file = match (effort.proof, &x) {
        (true, Some(x)) => Some(problem.proof_file(name, (&bound, x), data, cancel)?),
        _ => None,
    };
    let dual = effort.dual.then(|| -> Result<_, Failure> {
        let limits = problem.limit_dual(bound.objective, cancel)?;
        Ok((problem.dual(&bound)?, limits))
    });
    let dual = dual.transpose()?;
    Ok(Proved { bound, dual, file })
}

/// The arrays and numbers that `--save-dual` writes, under the same names.
fn arrays<'py>(py: Python<'py>, (dual, limits): &(Dual, Option<LimitDual>)) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("C", array(py, &dual.c)?)?;
    out.set_item("Z", array(py, &dual.z)?)?;
    out.set_item("method", dual.method.name())?;
    for (name, value) in dual.numbers() {
        out.set_item(name, value)?;
    }
    if let Some(limits) = limits {
        for (name, matrix) in limits.arrays() {
            out.set_item(name, array(py, matrix)?)?;
        }
        out.set_item("root", limits.bound)?;
    }
    Ok(out)
}
