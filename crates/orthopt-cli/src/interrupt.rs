//! Ctrl-C, SIGTERM and SIGHUP: the first asks the run to end and to hand over what it has, the
//! second ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

static ASKED: AtomicBool = AtomicBool::new(false);

/// What an interrupted program still spends on extras.
const PATIENCE: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(20);

/// From now on, interruptions set [`asked`]. Before that nothing is lost by ending at once.
pub fn install() -> anyhow::Result<()> {
    let handler = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).context("cannot install the handler for Ctrl-C")
}

/// Set once an interruption has come.
pub fn asked() -> &'static AtomicBool {
    &ASKED
}

/// The result of `work`, or `None` when an interruption comes first and `work` is not done
/// shortly after. It then goes on in its thread until the program ends.
pub fn unless_interrupted<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = channel();
    let thread = thread::spawn(move || send.send(work()));
    let mut since = None;
    loop {
        match receive.recv_timeout(POLL) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(_) => return None,
            },
            Err(RecvTimeoutError::Timeout) if ASKED.load(Ordering::Relaxed) => {
                if since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
                    return None;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
