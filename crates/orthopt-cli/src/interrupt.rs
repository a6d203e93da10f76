//! Ctrl-C, SIGTERM and SIGHUP: the first asks the run to end and to hand over what it has, the
//! second ends the program at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

static ASKED: AtomicBool = AtomicBool::new(false);

/// What an interrupted program still spends on extras.
const PATIENCE: Duration = Duration::from_millis(500);

/// From now on, interruptions set [`asked`]. Before that nothing is lost by ending at once.
pub fn install() -> anyhow::Result<()> {
    let handler = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).context("cannot install the handler for Ctrl-C")?;
    tracing::info!("Ctrl-C ends the run with the best point so far");
    Ok(())
}

/// Set once an interruption has come.
pub fn asked() -> &'static AtomicBool {
    &ASKED
}

/// Whether an extra may go on, to be asked all the time: until an interruption comes, and for a moment longer,
/// in which small problems are done.
pub fn patience() -> impl Fn() -> bool + Sync {
    let since = OnceLock::new();
    move || !ASKED.load(Ordering::Relaxed) || since.get_or_init(Instant::now).elapsed() < PATIENCE
}
