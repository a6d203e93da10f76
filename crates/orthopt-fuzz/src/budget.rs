//! Number of inputs that are tried.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_pcg::Pcg64;

/// A fuzz run of seconds, not of cases.
const SECONDS: &str = "ORTHOPT_FUZZ_SECONDS";
/// The first seed.
const SEED: &str = "ORTHOPT_FUZZ_SEED";
/// In a run of seconds no input may take longer, ...
const SLOWEST: Duration = Duration::from_secs(10);
/// ... and the process no more memory.
const MEMORY: u64 = 500_000_000;

/// Tries inputs, each with a generator of its own: `cases` of them, or as many as `ORTHOPT_FUZZ_SECONDS` allows. Then
/// says in a line of standard output what was tried; the process is expected to have no other tests.
///
/// # Panics
/// A variable is no number; and in a run of seconds, where an input takes more than 10 s or the process more than
/// 500 MB. (Tests without that run beside others, so they examine neither.)
pub fn run(target: &str, cases: u64, mut try_one: impl FnMut(&mut Pcg64)) {
    let seconds = variable(SECONDS);
    let first = variable(SEED).unwrap_or(0);
    let (began, mut slowest, mut tried) = (Instant::now(), (Duration::ZERO, 0), 0);
    let more = |tried: u64| match seconds {
        Some(seconds) => began.elapsed() < Duration::from_secs(seconds),
        None => tried < cases,
    };
    while more(tried) {
        let seed = first.wrapping_add(tried);
        let _named = Named { target, seed };
        let start = Instant::now();
        try_one(&mut Pcg64::seed_from_u64(seed));
        slowest = slowest.max((start.elapsed(), seed));
        if seconds.is_some() {
            assert!(slowest.0 <= SLOWEST, "seed {}: {:.1} s", slowest.1, slowest.0.as_secs_f64());
        }
        tried += 1;
    }
    if seconds.is_some() {
        let peak = peak_memory();
        let (ms, mb) = (slowest.0.as_secs_f64() * 1e3, peak.unwrap_or(0) as f64 / 1e6);
        println!("fuzz: {target} inputs {tried} slowest_ms {ms:.1} peak_mb {mb:.0}");
        assert!(peak.is_none_or(|bytes| bytes <= MEMORY), "{target}: {mb:.0} MB");
    }
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text}: expected a whole number")))
}

/// The most memory that this process has had, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Names the input that is tried, should it fail.
struct Named<'a> {
    target: &'a str,
    seed: u64,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("fuzz: {} fails; {SEED}={} begins with the input that does", self.target, self.seed);
        }
    }
}
