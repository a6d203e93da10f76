//! A run in a thread of its own that never touches R.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use faer::Mat;
use orthopt::cancel::Cancel;
use orthopt::explore::{self, Exploration, explore};
use orthopt::job::{Job, PosedJob};
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{DataFacts, Report};
use orthopt::solve::Status;
use orthopt::stability::Watch;
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

/// What a thread returns.
pub enum Came {
    /// Of a solve.
    Solved(Box<Found>),
    /// Of an exploration.
    Explored(Box<Exploration>),
}

type Outcome = Result<Came, Failure>;

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
    /// Solves; halves are taken of the samples where they are asked for, and the proof of the bound is kept if `proof`.
    pub fn solving(posed: PosedJob, samples: Option<Mat<f64>>, proof: bool) -> Self {
        Self::start(move |cancel| {
            solve(&posed, samples, proof, cancel).map(|found| Came::Solved(Box::new(found)))
        })
    }

    /// Explores A, or C itself where `gram`.
    pub fn exploring(job: Job, a: Mat<f64>, gram: bool, facts: DataFacts) -> Self {
        Self::start(move |cancel| {
            let data = if gram { PcaData::Gram(a.as_ref()) } else { PcaData::Dense(a.as_ref()) };
            let found = threads::pool(job.request.threads)?.install(|| {
                let mut watch = explore::Watch { cancel, observers: &mut [], stage: &mut |_| () };
                explore(&data, &facts, &job.request, &mut watch)
            })?;
            Ok(Came::Explored(Box::new(found)))
        })
    }

    /// Starts the thread.
    fn start(work: impl FnOnce(&Cancel) -> Outcome + Send + 'static) -> Self {
        let cancel = Cancel::never();
        let (send, receive) = channel();
        let seen = cancel.clone();
        thread::spawn(move || tell(&send, || work(&seen)));
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

/// The stages of a solve.
fn solve(
    posed: &PosedJob,
    samples: Option<Mat<f64>>,
    proof: bool,
    cancel: &Cancel,
) -> Result<Found, Failure> {
    let request = &posed.job.request;
    let pool = threads::pool(request.threads)?;
    if proof {
        posed.problem.statement(posed.task.problem.name)?; // what no file could prove says so before any work
    }
    let run = pool.install(|| posed.plan())?;
    let mut report = threads::on(&pool, run.searches(), || posed.run(&run, cancel, &mut []))?;
    pool.install(|| {
        if request.scope().is_some() && report.solution.status != Status::Interrupted {
            posed.check(&mut report, (cancel, cancel), |_| ());
        }
        if let Some(a) = samples {
            let watch = Watch { cancel, done: &|_, _| () };
            posed.halves(&mut report, &PcaData::Dense(a.as_ref()), &watch)?;
        }
        let mut found = Found { report, notes: Vec::new(), broken: None, proof_file: None };
        if let Some(seconds) = request.bound.filter(|_| !cancel.is_cancelled()) {
            prove(posed, &mut found, (seconds, proof), cancel);
        }
        Ok(found)
    })
}

/// Adds the bound, and the file with its proof; X stays what it is.
fn prove(posed: &PosedJob, found: &mut Found, (seconds, keeps): (f64, bool), cancel: &Cancel) {
    let report = &mut found.report;
    match posed.bound(report, (seconds, keeps), cancel, &|_| ()) {
        Ok(bound) => {
            if let (Some(_), Some(better)) = (&bound.x, bound.objective) {
                let text = format!("a better X, F = {better}, was found while computing the bound; more ");
                found.notes.push(Message::from(text).option("effort").text(" finds it"));
            }
            if keeps {
                let proved = (&bound, report.x());
                let (name, data) = (posed.task.problem.name, posed.task.data.prepared());
                match posed.problem.proof_file(name, proved, data, cancel) {
                    Ok(file) => found.proof_file = Some(file.text()),
                    Err(error) => found.notes.push(error.message()),
                }
            }
        }
        Err(error) => found.broken = Some(error.into()),
    }
}
