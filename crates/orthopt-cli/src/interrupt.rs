//! Signals. SIGXFSZ and SIGABRT end no program without a word: files beyond a limit of the system are errors of writing, and
//! memory that it refuses is an exit with 1 after the line of the runtime that says so.
//!
//! Ctrl-C, SIGTERM and SIGHUP: before a run has a result, they end the program at once.
//! During a run the first asks the run to end with its best point, and the second ends the program.

use std::io::{IsTerminal, Write};
#[cfg(unix)]
use std::sync::Arc;
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

/// Longest time for which an interrupted program may be silent.
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
    ctrlc::set_handler(handler).context("cannot install the handler for Ctrl-C")?;
    limits_are_errors().context("cannot install the handlers for limits of the system")
}

/// A write beyond the limit of file sizes fails as one to a full disk does, and memory that the system refuses ends the
/// program with 1.
#[cfg(unix)]
fn limits_are_errors() -> std::io::Result<()> {
    use signal_hook::consts::{SIGABRT, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};

    register(SIGXFSZ, Arc::default())?;
    register_conditional_shutdown(SIGABRT, 1, Arc::new(AtomicBool::new(true))).map(drop)
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn limits_are_errors() -> std::io::Result<()> {
    Ok(())
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
