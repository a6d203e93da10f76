//! `solve` and `compare`.

use std::sync::Arc;

use numpy::PyArray1;
use orthopt::Error;
use orthopt::cancel::Cancel;
use orthopt::family;
use orthopt::family::{Call, Effort, Kind};
use orthopt::job::{Job, PlannedRun, PosedJob};
use orthopt::message::Message;
use orthopt::report::{DataFacts, Report};
use orthopt::solvers::AUTO;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{Failure, worded};
use crate::input::{About, Given};
use crate::options::Options;
use crate::result::{described, put_report};
use crate::supervise::{Found, Watch, supervise};
use crate::threads;

/// Finds X. Returns a dictionary.
#[pyfunction]
pub fn solve<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Options,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut job = options.job(problem).map_err(Failure::from)?;
    if job.given.call() == Call::Bound {
        job.request.effort.get_or_insert(Effort::Normal); // within its share of the time it ends by itself where it can
    }
    let (posed, about, _) = posed(py, job, &data, &options)?;
    let run = apart(py, &posed, || Ok(posed.plan()?))?;
    Ok(one(py, &Arc::new(posed), run, &about, callback.as_ref())?)
}

/// The same for several solvers from the same start; the list of their dictionaries, shorter if
/// interrupted.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    solvers: Vec<String>,
    options: Options,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut job = options.job(problem).map_err(Failure::from)?;
    let known = |name: &&String| name.as_str() != AUTO.0;
    solvers.iter().filter(known).try_for_each(|name| family::check_solvers(name)).map_err(Failure::from)?;
    job.chooses_counts = solvers.is_empty();
    let (posed, about, _) = posed(py, job, &data, &options)?;
    let runs = apart(py, &posed, || Ok(posed.rivals(&solvers)?))?;
    let posed = Arc::new(posed);
    let results = PyList::empty(py);
    for (name, run) in runs {
        let out = match one(py, &posed, run, &about, callback.as_ref()) {
            // an arm that the search chose, not the user
            Err(Failure::Library(_)) if solvers.is_empty() && !results.is_empty() => continue,
            found => found?,
        };
        out.set_item("solver", name)?;
        results.append(&out)?;
        if out.get_item("status")?.is_some_and(|s| s.eq("interrupted").unwrap_or(false)) {
            break; // what is finished is reported
        }
    }
    Ok(results)
}

/// Eigenvalues of the data beside those of noise, and the number of components by the rule.
#[pyfunction]
pub fn scree<'py>(py: Python<'py>, data: Given<'py>, options: Options) -> PyResult<Bound<'py, PyDict>> {
    let view = data.borrow()?;
    let mut job = options.job("pca").map_err(Failure::from)?;
    job.request.show_scree = true;
    let (threads, how) = (job.request.threads, &options.how);
    let found = py.detach(|| -> Result<_, Failure> {
        threads::pool(threads)?.install(|| {
            view.with(job.problem, how, |data, about| {
                job.check_data(data, &about.facts)?;
                Ok(job.request.with_rank(job.problem, data)?.scree.clone())
            })
        })
    });
    let (found, _) = found?;
    found.map_or_else(|| Ok(PyDict::new(py)), |scree| described(py, &scree))
}

/// Sets up the problem without the GIL. The clock began when the data were there.
fn posed(
    py: Python<'_>,
    job: Job,
    data: &Given<'_>,
    request: &Options,
) -> PyResult<(PosedJob, About, Cancel)> {
    let view = data.borrow()?;
    let (info, threads) = (job.problem, job.request.threads);
    let made = py.detach(|| -> Result<_, Failure> {
        threads::pool(threads)?.install(|| {
            view.with(info, &request.how, |data, about| {
                let clock = Cancel::never().within(job.request.time_limit);
                let notes = if info.kind == Kind::Probe { Vec::new() } else { about.notes.clone() };
                let posed = job.pose(data, about.facts.clone(), notes, &clock)?;
                Ok((posed, clock))
            })
        })
    });
    let ((posed, clock), about) = made?;
    py.check_signals()?; // nothing is lost yet
    Ok((posed, about, clock))
}

/// `f` without the GIL, with the threads of the job.
fn apart<T: Send>(
    py: Python<'_>,
    posed: &PosedJob,
    f: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    Ok(py.detach(|| threads::pool(posed.job.request.threads)?.install(f))?)
}

fn one<'py>(
    py: Python<'py>,
    posed: &Arc<PosedJob>,
    run: PlannedRun,
    about: &About,
    callback: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyDict>, Failure> {
    let work = Arc::clone(posed);
    let (found, interrupted) = supervise(py, callback, move |watch, send| {
        let pool = match threads::pool(work.job.request.threads) {
            Ok(pool) => pool,
            Err(error) => return drop(send.send(Err(error))),
        };
        // no one receives it if the caller was interrupted by an exception
        solved(&work, &run, &pool, watch, &|found| drop(send.send(found)));
    })?;
    let out = PyDict::new(py);
    put_report(&out, &found.report)?;
    put_units(&out, about, &posed.task.data)?;
    out.set_item("interrupted", interrupted)?;
    let broken = found.broken.as_ref().map(Error::message);
    out.set_item("broken", worded(broken.as_slice()))?;
    Ok(out)
}

/// The stages of a solve; what is found is sent after each, so that nothing is lost where the next one is interrupted.
fn solved(
    posed: &PosedJob,
    run: &PlannedRun,
    pool: &threads::Pool,
    watch: &Watch,
    send: &(dyn Fn(Result<Found, Error>) + Sync),
) {
    let (cancel, of_run) = (watch.cancel(), watch.run());
    let found = threads::on(pool, run.searches(), || posed.run(run, of_run, &mut [&mut watch.clone()]));
    let mut report = match found {
        Ok(report) => report,
        Err(error) => return send(Err(error)),
    };
    let found = |report: &Report, broken| Ok(Found { report: report.clone(), broken });
    send(found(&report, None));
    if posed.job.request.scope().is_some() && !of_run.is_cancelled() {
        pool.install(|| posed.check(&mut report, (cancel, cancel), |_| {}));
        send(found(&report, None));
    }
    if let Some(seconds) = posed.job.request.bound.filter(|_| !cancel.is_cancelled()) {
        let bound = || posed.bound(&mut report, (seconds, false), cancel, &|_| ());
        let broken = pool.install(bound).err();
        send(found(&report, broken));
    }
}

/// Adds what scores of other rows need: means and scales of the columns.
///
/// # Errors
/// Memory.
pub fn put_units(out: &Bound<'_, PyDict>, about: &About, facts: &DataFacts) -> PyResult<()> {
    let py = out.py();
    out.set_item("means", about.means.as_ref().map(|m| PyArray1::from_slice(py, m)))?;
    out.set_item("scales", facts.scales.as_ref().map(|s| PyArray1::from_slice(py, s)))?;
    out.set_item("trace_of_c", about.squares.iter().sum::<f64>())
}

/// Sets up a problem for an X that is given, or for a check of a proof.
///
/// # Errors
/// Those of the data and of the options.
pub fn pose_for(
    py: Python<'_>,
    mut job: Job,
    data: &Given<'_>,
    request: &Options,
    rank: Option<usize>,
) -> PyResult<(PosedJob, About, Cancel)> {
    if let (Some(rank), None) = (rank, job.request.rank_rule()) {
        job.request.rank = Some(rank.into());
    }
    let of_x = matches!(job.given.call(), Call::BoundOfX | Call::Certify);
    let constant = job.request.solver_constants().iter().next().map(|(name, _)| name.to_string());
    let draws = job.given.has("certify-sample");
    let (posed, about, clock) = posed(py, job, data, request)?;
    if let Some(name) = constant.filter(|_| of_x) {
        let why = " is an option of a solver, but no solver runs when X is given; leave it out";
        return Err(Failure::from(Error::Incompatible(Message::about(name).text(why))).into());
    }
    posed.check_x(draws).map_err(Failure::from)?;
    Ok((posed, about, clock))
}
