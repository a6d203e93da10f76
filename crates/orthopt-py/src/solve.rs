//! `solve` and `compare`.

use std::sync::Arc;

use orthopt::Error;
use orthopt::certify::Scope;
use orthopt::family;
use orthopt::family::{Begin, Plan, Wanted};
use orthopt::family::{Family, ProblemInfo, find_problem};
use orthopt::family::{PoseOptions, Posed};
use orthopt::solve::{Observer, Setting, Solution, Stopping, run_restarts};
use orthopt::solvers::AUTO;
use orthopt::with_family;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{Failure, pythonic};
use crate::input::{About, Given};
use crate::options::Options;
use crate::result::{Checks, put_checks, put_solution};
use crate::supervise::{Report, Watch, supervise};
use crate::threads;

/// Finds X. `options` has every key of [`Options`]; returns a dictionary.
#[pyfunction]
pub fn solve<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Options<'py>,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut request = Request::new(&options)?;
    let (posed, about) = posed(py, problem, &data, &options, &mut request)?;
    let Posed { info, problem, rank, lambda, reasons, notes, .. } = posed;
    let head = Head { info, rank, lambda, reasons, notes, about };
    with_family!(problem, problem => one(py, &head, Arc::new(problem), request, callback.as_ref()))
}

/// The same for several solvers from the same start; the list of their dictionaries, shorter if
/// interrupted.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    solvers: Vec<String>,
    options: Options<'py>,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut request = Request::new(&options)?;
    let known = |name: &&String| name.as_str() != AUTO.0;
    solvers.iter().filter(known).try_for_each(|name| family::check_solvers(name)).map_err(Failure::from)?;
    let (posed, about) = posed(py, problem, &data, &options, &mut request)?;
    let Posed { info, problem, rank, lambda, reasons, notes, .. } = posed;
    let head = Head { info, rank, lambda, reasons, notes, about };
    with_family!(problem, problem => several(py, &head, problem, &solvers, request, callback.as_ref()))
}

/// What is the same for all runs of a call.
struct Head {
    info: &'static ProblemInfo,
    rank: usize,
    lambda: Option<f64>,
    reasons: Vec<String>,
    notes: Vec<String>,
    about: About,
}

/// Options without Python in them.
#[derive(Clone)]
struct Request {
    pose: PoseOptions,
    wanted: Wanted,
    stopping: Stopping,
    restarts: Option<u64>,
    threads: Option<usize>,
    scope: Option<Scope>,
}

impl Request {
    fn new(options: &Options<'_>) -> PyResult<Self> {
        let pose = options.pose()?;
        let start = options.start()?;
        let wanted = options.wanted(start).map_err(Failure::from)?;
        let stopping = options.stopping().map_err(Failure::from)?;
        let (restarts, threads, scope) = (options.restarts, options.threads, options.scope());
        Ok(Self { pose, wanted, stopping, restarts, threads, scope })
    }
}

/// Poses the problem without the GIL.
fn posed(
    py: Python<'_>,
    problem: &str,
    data: &Given<'_>,
    options: &Options<'_>,
    request: &mut Request,
) -> PyResult<(Posed, About)> {
    let info = find_problem(problem).map_err(Failure::from)?;
    let how = options.preparation().map_err(Failure::from)?;
    let view = data.borrow()?;
    let share = options.lam_share;
    let pose = &mut request.pose;
    let threads = request.threads;
    let made = py.detach(|| -> Result<_, Failure> {
        threads::pool(threads)?.install(|| {
            view.with(info, &how, |data, about| {
                pose.lambda = scaled_lambda(info, share, pose, about).or(pose.lambda);
                Ok(family::pose(info, data, pose)?)
            })
        })
    });
    let made = made?;
    py.check_signals()?; // nothing is lost yet
    Ok(made)
}

/// λ as a share of the mean of the r largest Cᵢᵢ, which scales with the data as λ must.
fn scaled_lambda(info: &ProblemInfo, share: Option<f64>, pose: &PoseOptions, about: &About) -> Option<f64> {
    let name = pose.penalty.as_deref().unwrap_or(info.penalty);
    let has_lambda = family::penalty_called(name).is_ok_and(|penalty| penalty.lambda_share.is_some());
    let share = share.filter(|_| has_lambda)?;
    let mut squares = about.squares.clone();
    squares.sort_by(|a, b| b.total_cmp(a));
    let rank = pose.rank.unwrap_or(family::DEFAULT_RANK).clamp(1, squares.len().max(1));
    Some(share * squares.iter().take(rank).sum::<f64>() / rank as f64)
}

fn one<'py, P: Family>(
    py: Python<'py>,
    head: &Head,
    problem: Arc<P>,
    request: Request,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (plan, reasons) = py.detach(|| -> Result<_, Failure> {
        threads::pool(request.threads)?.install(|| {
            let Request { wanted, stopping, restarts, .. } = &request;
            let plan = problem.plan(wanted)?;
            let mut reasons = plan.reasons.clone();
            reasons.extend(plan.restart_reason(&problem, wanted, stopping, *restarts));
            Ok((plan, reasons))
        })
    })?;
    let names = plan.solvers.iter().map(|s| s.name).collect::<Vec<_>>().join("+");
    let starts: Vec<String> = plan.starts.iter().map(|s| s.name().into()).collect();
    let measures = (problem.feasibility_name(), problem.criticality_name());
    let tol = request.stopping.tol;
    let (mut solution, checks) = supervise(py, callback, move |watch, send| {
        let pool = match threads::pool(request.threads) {
            Ok(pool) => pool,
            Err(error) => return drop(send.send(Report::Solved(Err(error)))),
        };
        pool.install(|| {
            let solved = run(&*problem, &plan, &request, watch);
            let x = solved.as_ref().ok().map(|s| s.x.clone());
            // nobody listens any more if the caller was interrupted by an exception
            let _ = send.send(Report::Solved(solved.map(Box::new)));
            if let Some(x) = x {
                let checks = Checks::of(&*problem, &x, request.scope, &|| watch.keep_going());
                let _ = send.send(Report::Checked(Box::new(checks)));
            }
        });
    })?;
    solution.solver = names;
    let out = head.dictionary(py, &reasons)?;
    put_solution(&out, &solution)?;
    put_checks(&out, &checks)?;
    out.set_item("start", starts.get(best_start(&solution) % starts.len().max(1)))?;
    out.set_item("measures", measures)?;
    out.set_item("tolerance", tol * (1.0 + solution.objective.total.abs()))?;
    Ok(out)
}

fn several<'py, P: Family>(
    py: Python<'py>,
    head: &Head,
    problem: P,
    solvers: &[String],
    request: Request,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let all = || P::solvers().iter().filter(|s| (s.handles)(&problem)).map(|s| s.name.to_string()).collect();
    let names: Vec<String> = if solvers.is_empty() { all() } else { solvers.to_vec() };
    let begin = request.wanted.start.clone();
    let start = begin.unwrap_or_else(|| Begin::Named(problem.default_start().into()));
    let problem = Arc::new(problem);
    let results = PyList::empty(py);
    for name in &names {
        let wanted = Wanted { start: Some(start.clone()), ..request.wanted.one_of(name, &names) };
        let out = one(py, head, Arc::clone(&problem), Request { wanted, ..request.clone() }, callback)?;
        out.set_item("solver", name)?;
        results.append(&out)?;
        if out.get_item("status")?.is_some_and(|s| s.eq("interrupted").unwrap_or(false)) {
            break; // what is finished is reported
        }
    }
    Ok(results)
}

impl Head {
    fn dictionary<'py>(&self, py: Python<'py>, reasons: &[String]) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        let reasons: Vec<String> = self.reasons.iter().chain(reasons).map(|r| pythonic(r)).collect();
        let notes: Vec<String> = self.notes.iter().map(|n| pythonic(n)).collect();
        out.set_item("problem", self.info.name)?;
        out.set_item("rank", self.rank)?;
        out.set_item("lam", self.lambda)?;
        out.set_item("reasons", reasons)?;
        out.set_item("notes", notes)?;
        out.set_item("data_shape", (self.about.rows, self.about.cols))?;
        out.set_item("means", self.about.means.as_ref().map(|m| numpy::PyArray1::from_slice(py, m)))?;
        out.set_item("trace_of_c", self.about.squares.iter().sum::<f64>())?;
        out.set_item("feature_names", &self.about.names)?;
        out.set_item("source", &self.about.source)?;
        Ok(out)
    }
}

/// One run as the command line makes it, bit for bit.
fn run<P: Family>(problem: &P, plan: &Plan<P>, request: &Request, watch: &Watch) -> Result<Solution, Error> {
    let options = plan.run_options(problem, &request.wanted, &request.stopping, request.restarts);
    let mut stop = request.stopping.criteria();
    let mut watch = watch.clone();
    let observers: &mut [&mut dyn Observer] = &mut [&mut watch];
    let mut solution = run_restarts(problem, |k| plan.start(problem, k), options, &mut stop, observers)?;
    problem.order_components(&mut solution);
    Ok(solution)
}

fn best_start(solution: &Solution) -> usize {
    match solution.settings.get("best_start") {
        Some(Setting::Int(k)) => *k as usize,
        _ => 0,
    }
}

/// Poses a problem for other calls that take the same options.
pub fn pose_for(
    py: Python<'_>,
    problem: &str,
    data: &Given<'_>,
    options: &Options<'_>,
    rank: usize,
) -> PyResult<(Posed, Option<usize>, Option<Scope>)> {
    let mut request = Request::new(options)?;
    request.pose.rank = Some(rank);
    let (posed, _) = posed(py, problem, data, options, &mut request)?;
    Ok((posed, request.threads, request.scope))
}
