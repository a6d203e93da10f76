//! Ctrl-C, SIGTERM and SIGHUP: before a run has a result, they end the program at once.
//! During a run the first asks the run to end with its best point, and the second ends the program.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use orthopt::cancel::Cancel;

use crate::failure::say;

static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::never);
static SOMETHING_TO_LOSE: AtomicBool = AtomicBool::new(false);

static FIRST: OnceLock<Instant> = OnceLock::new();

/// Signals that come so soon after each other are one: a signal to a process is often sent to its group as well.
const SAME: Duration = Duration::from_millis(300);

/// How long an interrupted program may be silent.
const SILENCE: Duration = Duration::from_secs(3);

/// Time for extra work after an interruption.
const PATIENCE: Duration = Duration::from_millis(200);

/// Installs the handler of interruptions.
///
/// # Errors
/// The system refuses a handler.
pub fn listen() -> anyhow::Result<()> {
    let handler = || {
        if !SOMETHING_TO_LOSE.load(Ordering::Relaxed) {
            end_at_once("interrupted before there was a result");
        }
        let first = FIRST.get_or_init(Instant::now);
        if CANCEL.is_cancelled() {
            if first.elapsed() < SAME {
                return;
            }
            end_at_once("interrupted again: ended without a result");
        }
        CANCEL.cancel();
        let _ = std::thread::Builder::new().spawn(explain_waiting); // without it there is only silence
    };
    ctrlc::set_handler(handler).context("cannot install the handler for Ctrl-C")
}

/// Makes interruptions set [`cancel`] in place of ending the program.
pub fn keep_results() {
    SOMETHING_TO_LOSE.store(true, Ordering::Relaxed);
    tracing::info!("Ctrl-C ends the run with the best point so far");
}

/// Tells the user that the signal has arrived, as a step that cannot be divided may take long.
fn explain_waiting() {
    std::thread::sleep(SILENCE);
    say(
        "note",
        "interrupted: the result follows after the current step; interrupt again to end at once without a result",
    );
}

fn end_at_once(why: &str) {
    if std::io::stderr().is_terminal() {
        let _ = writeln!(std::io::stderr()); // below what the bar and the terminal have written
    }
    say("error", why);
    orthopt_data::remove_unfinished();
    std::process::exit(130);
}

/// Set once an interruption has come.
pub fn cancel() -> &'static Cancel {
    &CANCEL
}

/// Has one come?
pub fn asked() -> bool {
    CANCEL.is_cancelled()
}

/// For extras: set a moment after an interruption, in which small problems are done.
pub fn patience() -> Cancel {
    CANCEL.with_grace(PATIENCE)
}
