//! `solve` and `compare`.

use std::sync::Arc;

use numpy::PyArray1;
use orthopt::Error;
use orthopt::cancel::Cancel;
use orthopt::family;
use orthopt::family::Effort;
use orthopt::family::{Call, Case, Family, Named, Run, find_problem};
use orthopt::family::{Kind, Plan, Wanted};
use orthopt::family::{PoseOptions, Posed};
use orthopt::internal::check_in_time;
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{DataFacts, Report, Task};
use orthopt::solvers::AUTO;
use orthopt::start::Start;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::Failure;
use crate::input::{About, Given};
use crate::options::Request;
use crate::result::{described, put_report};
use crate::supervise::{Told, Watch, supervise};
use crate::threads;

/// Finds X. Returns a dictionary.
#[pyfunction]
pub fn solve<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Request,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut request = options;
    if request.asked.call == Call::Bound {
        request.wanted.effort.get_or_insert(Effort::Normal); // within its share of the time it ends by itself where it can
    }
    let (posed, about, clock) = posed(py, problem, &data, &request, true)?;
    let head = Head { task: Task::new(&posed, about.facts.clone()), about };
    let problem = posed.problem;
    let problem = Arc::new(problem);
    check_runs(py, &head, &problem, &request, &[(request.wanted.clone(), request.restarts)], &clock)?;
    one(py, &head, problem, request, &clock, callback.as_ref())
}

/// The same for several solvers from the same start; the list of their dictionaries, shorter if
/// interrupted.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    solvers: Vec<String>,
    options: Request,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let request = options;
    let known = |name: &&String| name.as_str() != AUTO.0;
    solvers.iter().filter(known).try_for_each(|name| family::check_solvers(name)).map_err(Failure::from)?;
    let (posed, about, _) = posed(py, problem, &data, &request, solvers.is_empty())?; // each solver has the limit
    let head = Head { task: Task::new(&posed, about.facts.clone()), about };
    several(py, &head, posed.problem, &solvers, request, callback.as_ref())
}

/// Eigenvalues of the data beside those of noise, and the number of components by the rule.
#[pyfunction]
pub fn scree<'py>(py: Python<'py>, data: Given<'py>, options: Request) -> PyResult<Bound<'py, PyDict>> {
    let info = find_problem("pca").map_err(Failure::from)?;
    let view = data.borrow()?;
    let Request { pose, threads, asked, how, .. } = options;
    let pose = PoseOptions { show_scree: true, ..pose };
    let found = py.detach(|| -> Result<_, Failure> {
        threads::pool(threads)?.install(|| {
            view.with(info, &how, |data, _| {
                asked.check(Case::new(info, &pose).of_gram(is_gram(data)))?;
                Ok(pose.with_rank(info, data)?.scree.clone())
            })
        })
    });
    let (found, _) = found?;
    found.map_or_else(|| Ok(PyDict::new(py)), |scree| described(py, &scree))
}

/// Entries that all runs of a call share.
struct Head {
    task: Task,
    about: About,
}

/// Poses the problem without the GIL; with `counts`, a number of nonzeros is chosen where nothing says how sparse
/// X is to be. The clock began when the data were read.
fn posed(
    py: Python<'_>,
    problem: &str,
    data: &Given<'_>,
    request: &Request,
    counts: bool,
) -> PyResult<(Posed, About, Cancel)> {
    let info = find_problem(problem).map_err(Failure::from)?;
    let view = data.borrow()?;
    let Request { pose, wanted, threads, asked, how, .. } = request;
    let threads = *threads;
    let made = py.detach(|| -> Result<_, Failure> {
        threads::pool(threads)?.install(|| {
            view.with(info, how, |data, about| {
                asked.check(Case::new(info, pose).of_gram(is_gram(data)))?;
                let pose = if counts { pose.clone().or_counts(info, wanted) } else { pose.clone() };
                let pose = if about.facts.centered { pose.centred() } else { pose };
                let clock = Cancel::never().within(request.stopping.time_limit);
                let mut posed = clock.during(|| family::pose(info, data, &pose))?;
                if info.kind != Kind::Probe {
                    posed.notes.extend(about.notes.iter().cloned());
                }
                Ok((posed, clock))
            })
        })
    });
    let ((posed, clock), about) = made?;
    py.check_signals()?; // nothing is lost yet
    Ok((posed, about, clock))
}

/// True if the data are C itself.
pub fn is_gram(data: &PcaData<'_>) -> bool {
    matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_))
}

/// Refuses options that mean nothing to any of these runs, and a bound where there is none.
fn check_runs(
    py: Python<'_>,
    head: &Head,
    problem: &Named,
    request: &Request,
    runs: &[(Wanted, Option<u64>)],
    clock: &Cancel,
) -> PyResult<()> {
    let check = || -> Result<(), Failure> {
        if request.asked.has("bound") {
            problem.bounded()?; // before any work
        }
        let run = |(wanted, restarts): &(Wanted, Option<u64>)| -> Result<Run, Error> {
            Ok(Run::of(problem, &problem.plan(wanted)?, *restarts))
        };
        let runs = runs.iter().map(run).collect::<Result<Vec<_>, _>>()?;
        let case = Case::new(head.task.problem, &request.pose);
        let run = runs.into_iter().reduce(Run::and).unwrap_or_else(|| Run::none(problem));
        Ok(request.asked.check(case.run_by(run))?)
    };
    let checked = py.detach(|| threads::pool(request.threads)?.install(|| clock.during(check)));
    Ok(checked?)
}

fn one<'py>(
    py: Python<'py>,
    head: &Head,
    problem: Arc<Named>,
    mut request: Request,
    clock: &Cancel,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = py.detach(|| -> Result<_, Failure> {
        threads::pool(request.threads)?.install(|| {
            let Request { wanted, stopping, restarts, .. } = &request;
            let mut plan = clock.during(|| problem.plan(wanted))?;
            plan.reasons.extend(plan.restart_reason(&problem, wanted, stopping, *restarts));
            Ok(plan)
        })
    })?;
    request.stopping = request.stopping.after(clock);
    let left = request.stopping.time_limit;
    let task = head.task.clone();
    let report = supervise(py, callback, move |watch, send| {
        let pool = match threads::pool(request.threads) {
            Ok(pool) => pool,
            Err(error) => return drop(send.send(Told::Solved(Err(error)))),
        };
        threads::on(&pool, plan.portfolio.is_some(), || {
            let solved = run(&problem, &plan, &task, &request, watch);
            let found = solved.as_ref().ok();
            let found = found.map(|report| (report.solution.x.clone(), (left, report.solution.seconds)));
            // nobody listens any more if the caller was interrupted by an exception
            let _ = send.send(Told::Solved(solved.map(Box::new)));
            let cancel = watch.cancel();
            if let (Some((x, spent)), true) = (found, request.scope.is_some() && !cancel.is_cancelled()) {
                let wanted = (&x, request.scope);
                let checks = check_in_time(&problem, wanted, spent, (cancel, cancel), |_| {});
                let _ = send.send(Told::Checked(checks));
            }
        });
    })?;
    let out = PyDict::new(py);
    put_report(&out, &report)?;
    put_units(&out, &head.about, &head.task.data)?;
    Ok(out)
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

fn several<'py>(
    py: Python<'py>,
    head: &Head,
    problem: Named,
    solvers: &[String],
    request: Request,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let all =
        || problem.solvers().iter().filter(|s| (s.handles)(&problem)).map(|s| s.name.to_string()).collect();
    let names: Vec<String> = if solvers.is_empty() { all() } else { solvers.to_vec() };
    let begin = request.wanted.start.clone();
    let wanted = |name: &String| Wanted { start: begin.clone(), ..request.wanted.one_of(name, &names) };
    let searches = |name: &String| name == AUTO.0;
    let restarts = |name: &String| request.restarts.filter(|n| *n > 0 || !searches(name));
    let runs: Vec<_> = names.iter().map(|name| (wanted(name), restarts(name))).collect();
    check_runs(py, head, &problem, &request, &runs, &Cancel::never())?;
    let start = begin.clone().unwrap_or_else(|| Start::named(problem.default_start()));
    let problem = Arc::new(problem);
    let results = PyList::empty(py);
    for name in &names {
        // auto searches, from starts of its own
        let (start, restarts) = match name == AUTO.0 {
            true => (begin.clone(), request.restarts.filter(|n| *n > 0)),
            false => (Some(start.clone()), request.restarts),
        };
        let wanted = Wanted { start, ..request.wanted.one_of(name, &names) };
        let request = Request { wanted, restarts, ..request.clone() };
        let clock = Cancel::never().within(request.stopping.time_limit);
        let out = one(py, head, Arc::clone(&problem), request, &clock, callback)?;
        out.set_item("solver", name)?;
        results.append(&out)?;
        if out.get_item("status")?.is_some_and(|s| s.eq("interrupted").unwrap_or(false)) {
            break; // what is finished is reported
        }
    }
    Ok(results)
}

/// One run as the command line makes it, bit for bit.
fn run(problem: &Named, plan: &Plan, task: &Task, request: &Request, watch: &Watch) -> Result<Report, Error> {
    let Request { wanted, stopping, restarts, .. } = request;
    let mut watch = watch.clone();
    let cancel = watch.cancel().clone();
    let solution = plan.run(problem, wanted, stopping, *restarts, &cancel, &mut [&mut watch])?;
    Report::new(task, problem, plan, wanted, *stopping, solution)
}

/// Poses a problem for other calls that take the same options; `counts` as for [`posed`].
pub fn pose_for(
    py: Python<'_>,
    problem: &str,
    data: &Given<'_>,
    request: &mut Request,
    rank: Option<usize>,
    counts: bool,
) -> PyResult<(Posed, About, Cancel)> {
    request.pose.rank = rank.or(request.pose.rank);
    let (posed, about, clock) = posed(py, problem, data, request, counts)?;
    let solvers = request.wanted.constants.iter().next().map(|(name, _)| name.to_string());
    if let Some(name) = solvers.filter(|_| request.asked.is_of_x()) {
        let why = " is an option of a solver, but no solver runs when X is given; leave it out";
        return Err(Failure::from(Error::Incompatible(Message::about(name).text(why))).into());
    }
    Ok((posed, about, clock))
}

/// Refuses options that mean nothing to an X that is given.
///
/// # Errors
/// One of them.
pub fn check_x(request: &Request, task: &Task, problem: &Named) -> Result<(), Failure> {
    let draws = request.asked.has("certify-sample");
    let case = Case::new(task.problem, &request.pose).run_by(Run::none(problem)).drawing(draws);
    Ok(request.asked.check(case)?)
}
