//! `solve`, `bound`, `certify` and `list`: the stages of a job.

use orthopt::RowMat;
use orthopt::bound::{Options as Limits, Progress as BoundProgress};
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::family::{Call, Family, Kind, all_constants};
use orthopt::job::{Job, PosedJob};
use orthopt::message::Message;
use orthopt::registry::LISTS;
use orthopt::report::{Assessment, BoundObject, CheckObject, DataFacts};
use orthopt::request::{Front, OPTIONS};
use orthopt::solve::Status;
use orthopt::{Error, threads};
use orthopt_foreign::{Borrowed, Preparation};
use orthopt_run::report::assessment::check_in_time;
use serde_json::{Value, json};

use crate::options::Stated;
use crate::outcome::{Failure, Found, word};
use crate::watch::{Caller, Progress, watched};

/// Data, and names of their variables.
#[derive(Clone, Debug)]
pub struct Data<'a> {
    pub matrix: Borrowed<'a>,
    pub names: Option<Vec<String>>,
}

/// Where an X of the caller comes from.
const GIVEN: &str = "X that was given";

/// Seconds of a bound where nothing is said.
const BOUND_SECONDS: f64 = 60.0;

/// Finds X.
///
/// # Errors
/// Options, data; errors of the solvers.
pub fn solve(problem: &str, data: &Data<'_>, stated: Stated, caller: &dyn Caller) -> Result<Found, Failure> {
    let options = stated.read(Call::Solve, &[])?;
    let job = options.job(problem)?;
    watched(caller, |shared| {
        let (cancel, mut seen) = (&shared.cancel, shared);
        let pool = threads::pool(job.request.threads)?;
        let limit = job.request.time_limit;
        let posed = pool.install(|| pose(job, data, &options.how, |cancel| cancel.within(limit), cancel))?;
        let run = pool.install(|| posed.plan())?;
        let mut report = threads::on(&pool, run.searches(), || posed.run(&run, cancel, &mut [&mut seen]))?;
        let request = &posed.job.request;
        let mut broken = None;
        pool.install(|| {
            if request.scope().is_some() && report.solution.status != Status::Interrupted {
                posed.check(&mut report, (cancel, cancel), |_| ());
            }
            if let Some(seconds) = request.bound.filter(|_| !cancel.is_cancelled()) {
                broken = posed.bound(&mut report, (seconds, false), cancel, &|_| ()).err();
            }
        });
        let facts = &report.task.data;
        let mut found = Found::of(&report.object(word), None)?
            .with("certified", report.is_certified())
            .with("names", &facts.names)
            .with("means", &facts.means)
            .with("scales", &facts.scales);
        if let Some(error) = broken {
            found = found.with("broken", error.message().worded(word)); // X stays
        }
        Ok(Found { x: Some(report.solution.x), ..found })
    })
}

/// A lower bound of F, and the gap of X, or of an X that is searched for first.
///
/// # Errors
/// Options, data, an X that is not feasible; a problem without a bound.
pub fn bound(
    problem: &str,
    data: &Data<'_>,
    x: Option<RowMat>,
    mut stated: Stated,
    caller: &dyn Caller,
) -> Result<Found, Failure> {
    let seconds = stated.take("time_limit", 0.0, "a finite number >= 0")?.unwrap_or(BOUND_SECONDS);
    let nodes = stated.take("nodes", 0.0, "a whole number >= 0")?.map_or(u64::MAX, |nodes| nodes as u64);
    let (call, own): (_, &[&str]) = match (&x, nodes) {
        (Some(_), _) => (Call::BoundOfX, &[]),
        (None, u64::MAX) => (Call::Bound, &[]),
        (None, _) => (Call::Bound, &["nodes"]),
    };
    let options = stated.read(call, own)?;
    let mut job = options.job(problem)?;
    job.request.search_before_a_bound(seconds);
    of_given(&mut job, x.as_ref())?;
    watched(caller, |shared| {
        let (cancel, mut seen) = (&shared.cancel, shared);
        let pool = threads::pool(job.request.threads)?;
        let clock = cancel.within(Some(seconds));
        let posed = pool.install(|| pose(job, data, &options.how, |_| clock.clone(), cancel))?;
        let (x, incumbent) = match x {
            Some(x) => {
                posed.check_x(false)?;
                (pool.install(|| Assessment::repaired(&posed.problem, x, "X", 0.0))?.x, GIVEN.into())
            }
            None => {
                let run = pool.install(|| posed.plan())?;
                let report =
                    threads::on(&pool, run.searches(), || posed.run(&run, cancel, &mut [&mut seen]))?;
                let words = format!("{} from {}", report.solver, report.start);
                (report.solution.x, words)
            }
        };
        let memory = posed.job.request.memory();
        let limits = Limits { seconds: clock.left(), nodes, memory, ..Limits::default() };
        let show = |now: &BoundProgress| {
            let objective = now.incumbent.unwrap_or(f64::INFINITY);
            let BoundProgress { seconds, bound, nodes: iterations, .. } = *now;
            shared.show(Progress { seconds, objective, bound, iterations });
        };
        let found = pool.install(|| posed.problem.lower_bound(Some(&x), &limits, cancel, &show))?;
        let incumbent = if found.x.is_some() { "found while computing the bound".into() } else { incumbent };
        let object = BoundObject::new(&posed.task, &found, incumbent, word);
        Found::of(&object, Some(found.x.clone().unwrap_or(x)))
    })
}

/// Kind of point that X is.
///
/// # Errors
/// Options, data, an X that is not feasible.
pub fn certify(
    problem: &str,
    data: &Data<'_>,
    x: RowMat,
    stated: Stated,
    caller: &dyn Caller,
) -> Result<Found, Failure> {
    let options = stated.read(Call::Certify, &[])?;
    let mut job = options.job(problem)?;
    of_given(&mut job, Some(&x))?;
    watched(caller, |shared| {
        let cancel = &shared.cancel;
        let pool = threads::pool(job.request.threads)?;
        pool.install(|| {
            let posed = pose(job, data, &options.how, Cancel::clone, cancel)?;
            posed.check_x(options.given.has("certify-sample"))?;
            let request = &posed.job.request;
            let found = Assessment::new(&posed.problem, x, "X", request.stopping().tol)?;
            let scope = request.scope().unwrap_or(Scope::All);
            let what = (&found.x, Some(scope));
            let checks = check_in_time(&posed.problem, what, (None, 0.0), (cancel, cancel), |_| ());
            let mut object = CheckObject::new(&posed.task, &found, &checks, None, word);
            object.x = GIVEN.into();
            let found_object = Found::of(&object, None)?;
            Ok(Found { x: Some(found.x), ..found_object })
        })
    })
}

/// The rank is that of the X that is given, and no solver runs.
fn of_given(job: &mut Job, x: Option<&RowMat>) -> Result<(), Error> {
    let Some(x) = x else { return Ok(()) };
    if let Some((name, _)) = job.request.solver_constants().iter().next() {
        let why = " is an option of a solver, but no solver runs when X is given; leave it out";
        return Err(Error::Incompatible(Message::about(name.to_string()).text(why)));
    }
    let columns = x.ncols();
    if job.request.rank.is_some_and(|rank| rank != columns.into()) {
        let why = format!(": X has {columns} columns; leave the rank out");
        return Err(Error::Incompatible(Message::about("rank").text(why)));
    }
    job.request.rank = Some(columns.into());
    Ok(())
}

/// Sets up the problem; `clock` is made when the data are there.
fn pose(
    job: Job,
    data: &Data<'_>,
    how: &Preparation,
    clock: impl FnOnce(&Cancel) -> Cancel,
    cancel: &Cancel,
) -> Result<PosedJob, Failure> {
    let info = job.problem;
    let posed = data.matrix.with(info, how, |pca, about| -> Result<PosedJob, Failure> {
        let notes = if info.kind == Kind::Probe { Vec::new() } else { about.notes.clone() };
        let mut facts: DataFacts = about.facts.clone();
        facts.means = about.means.clone();
        if let Some(names) = &data.names {
            facts.names = Some(names.iter().take(pca.ncols()).cloned().collect());
        }
        Ok(job.pose(pca, facts, notes, &clock(cancel))?)
    });
    Ok(posed?.0)
}

/// A list of names: those of the registry, `options` and `constants`.
///
/// # Errors
/// There is no such list.
pub fn list(name: &str) -> Result<Found, Failure> {
    let entry = |name: &str, doc: &str| json!({"name": name, "doc": doc});
    let entries: Vec<Value> = match name {
        "options" => {
            let here =
                OPTIONS.iter().filter(|option| option.lacked_by(Front::C).is_none() && !option.positional);
            here.map(|option| entry(&option.name_in(Front::C), &option.help())).collect()
        }
        "constants" => {
            all_constants().iter().map(|c| entry(&c.option.replace('-', "_"), &c.constant.line())).collect()
        }
        _ => match LISTS.iter().find(|list| list.0 == name) {
            Some(list) => (list.1)().into_iter().map(|(name, doc)| entry(name, doc)).collect(),
            None => {
                let known = LISTS.iter().map(|list| list.0).chain(["options", "constants"]);
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(Error::UnknownName { kind: "list", name: name.into(), known }.into());
            }
        },
    };
    Found::of(&entries, None)
}
