//! A run in a thread of its own that never touches R.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use faer::Mat;
use orthopt::bound::Options as Limits;
use orthopt::cancel::Cancel;
use orthopt::family::{Call, Case, Family, Named, Plan, Posed, Run};
use orthopt::internal::check_in_time;
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{Report, Task};
use orthopt::request::Settled;
use orthopt::solve::Status;
use orthopt::stability::{Request, Watch, of_halves, of_run, stability};
use orthopt::threads;

use crate::failure::Failure;

/// What came of a run.
pub struct Found {
    pub report: Report,
    /// What the user should know and the report does not say.
    pub notes: Vec<Message>,
    /// Why there is no bound although one was asked for.
    pub broken: Option<Failure>,
    /// The text of a proof, where it is kept.
    pub proof_file: Option<String>,
}

type Outcome = Result<Found, Failure>;

/// The handle that R holds. Without it nobody waits any more, and the run ends.
pub struct Running {
    cancel: Cancel,
    outcome: Mutex<Option<Outcome>>,
    receive: Mutex<Receiver<Outcome>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    /// Starts the thread; halves are taken of the samples where they are asked for. The clock began when the data were there.
    pub fn start(
        posed: Posed,
        task: Task,
        settled: Settled,
        given: Vec<&'static str>,
        (samples, clock): (Option<Mat<f64>>, Cancel),
        proof: bool,
    ) -> Self {
        let cancel = Cancel::never();
        let (send, receive) = channel();
        let seen = cancel.clone();
        thread::spawn(move || {
            tell(&send, || solve(posed, &task, (settled, &given), (samples, &clock), proof, &seen))
        });
        Self { cancel, outcome: Mutex::new(None), receive: Mutex::new(receive) }
    }

    /// Asks the run to end.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for `seconds` at most; whether the run has ended.
    pub fn wait(&self, seconds: f64) -> bool {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if outcome.is_none() {
            let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            let receive = self.receive.lock().unwrap_or_else(PoisonError::into_inner);
            *outcome = receive.recv_timeout(time).ok();
        }
        outcome.is_some()
    }

    /// What came of it, once.
    ///
    /// # Errors
    /// What the run says; nothing is there any more, or yet.
    pub fn take(&self) -> Outcome {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        outcome.unwrap_or_else(|| Err(Failure::Bridge("the run has not ended".into())))
    }
}

/// Sends what `work` returns. Nobody may be listening any more.
fn tell(send: &Sender<Outcome>, work: impl FnOnce() -> Outcome) {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(broken(&*panic)));
    let _ = send.send(outcome);
}

fn broken(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    Failure::Bridge(format!("the run failed, which is a defect of orthopt: {text}"))
}

fn solve(
    posed: Posed,
    task: &Task,
    (mut settled, given): (Settled, &[&'static str]),
    (samples, clock): (Option<Mat<f64>>, &Cancel),
    proof: bool,
    cancel: &Cancel,
) -> Outcome {
    let pool = threads::pool(settled.threads)?;
    if proof {
        posed.problem.statement(task.problem.name)?; // what no file could prove says so before any work
    }
    let plan = planned(&posed.problem, &pool, task, (&settled, given), clock)?;
    settled.stopping = settled.stopping.after(clock);
    let problem = &posed.problem;
    let mut found = threads::on(&pool, plan.portfolio.is_some(), || {
        carried_out(problem, &plan, task, (&settled, proof), cancel)
    })?;
    if let (Some(pairs), Some(a)) = (settled.stability, samples) {
        let Settled { pose, wanted, stopping, .. } = &settled;
        let stopping = of_halves(*stopping, found.report.solution.seconds);
        let request = Request::of(task, pose, wanted, stopping, pairs);
        let (data, watch) = (PcaData::Dense(a.as_ref()), Watch { cancel, done: &|_, _| () });
        let x = found.report.x().clone();
        found.report.stability = pool.install(|| stability(&data, &task.data, &x, &request, &watch))?;
    }
    Ok(found)
}

/// The plan of a run, with the options checked that the plan says something about.
fn planned(
    problem: &Named,
    pool: &threads::Pool,
    task: &Task,
    (settled, given): (&Settled, &[&'static str]),
    clock: &Cancel,
) -> Result<Plan, Failure> {
    let Settled { wanted, stopping, restarts, bound, .. } = settled;
    if bound.is_some() {
        problem.bounded()?; // before any work
    }
    let mut plan = pool.install(|| clock.during(|| problem.plan(wanted)))?;
    let case = Case::new(task.problem, &settled.pose).in_call(Call::Solve);
    case.run_by(Run::of(problem, &plan, *restarts)).check(given.iter().copied())?;
    plan.reasons.extend(plan.restart_reason(problem, wanted, stopping, *restarts));
    Ok(plan)
}

/// One run as the command line makes it, bit for bit; then what costs more.
fn carried_out(
    problem: &Named,
    plan: &Plan,
    task: &Task,
    (settled, proof): (&Settled, bool),
    cancel: &Cancel,
) -> Outcome {
    let Settled { wanted, stopping, restarts, certify: scope, bound, .. } = settled;
    let of_x = if settled.stability.is_some() { of_run(*stopping) } else { *stopping };
    let solution = plan.run(problem, wanted, &of_x, *restarts, cancel, &mut [])?;
    let report = Report::new(task, problem, plan, wanted, *stopping, solution)?;
    let mut found = Found { report, notes: Vec::new(), broken: None, proof_file: None };
    if scope.is_some() && found.report.solution.status != Status::Interrupted {
        let spent = (stopping.time_limit, found.report.solution.seconds);
        let wanted = (found.report.x(), *scope);
        found.report.checks = check_in_time(problem, wanted, spent, (cancel, cancel), |_| ());
    }
    if let Some(seconds) = bound.filter(|_| !cancel.is_cancelled()) {
        prove((problem, task), &mut found, (seconds, proof), cancel);
    }
    Ok(found)
}

/// Adds the bound, and the file with its proof; X stays what it is.
fn prove(
    (problem, task): (&Named, &Task),
    found: &mut Found,
    (seconds, keeps): (f64, bool),
    cancel: &Cancel,
) {
    let report = &mut found.report;
    let limits = Limits { seconds: Some(seconds), nodes: u64::MAX, keeps, ..Limits::default() };
    match problem.lower_bound(Some(report.x()), &limits, cancel, &|_| ()) {
        Ok(bound) => {
            if let (Some(_), Some(better)) = (&bound.x, bound.objective) {
                let text = format!("a better X, F = {better}, was found while computing the bound; more ");
                found.notes.push(Message::from(text).option("effort").text(" finds it"));
            }
            if let Err(error) = report.bound_by(&bound) {
                found.broken = Some(error.into());
            } else if keeps {
                let proved = (&bound, report.x());
                match problem.proof_file(task.problem.name, proved, task.data.prepared(), cancel) {
                    Ok(file) => found.proof_file = Some(file.text()),
                    Err(error) => found.notes.push(error.message()),
                }
            }
        }
        Err(error) => found.broken = Some(error.into()),
    }
}
