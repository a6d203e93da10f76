//! Limits of memory for data, by default from the free memory of the machine.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::DataError;

/// Default limit as a share of the free memory.
const SHARE: f64 = 0.9;

/// Bytes that are free for this program: of the machine, or of the group of processes it may be confined
/// to. `None` where the system does not say.
pub fn available_memory() -> Option<u64> {
    [of_machine(), of_group()].into_iter().flatten().min()
}

/// Bytes of [`allow_memory`].
static ALLOWED: AtomicU64 = AtomicU64::new(u64::MAX);

/// Limits what is read from now on without a limit of its own, in the whole process: a program has one limit, whichever
/// file it reads.
pub fn allow_memory(bytes: u64) {
    ALLOWED.store(bytes, Ordering::Relaxed);
}

/// Default limit of memory: nine tenths of the free memory, or no limit if that is
/// not known; and at most what [`allow_memory`] says.
pub fn default_memory() -> u64 {
    let free = available_memory().map_or(u64::MAX, |free| (SHARE * free as f64) as u64);
    free.min(ALLOWED.load(Ordering::Relaxed))
}

fn of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Containers have less than the machine.
fn of_group() -> Option<u64> {
    const VERSIONS: [[&str; 2]; 2] = [
        ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"],
        ["/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"],
    ];
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    VERSIONS.iter().find_map(|[most, used]| Some(number(most)?.saturating_sub(number(used)?)))
}

/// Number of bytes in words: `512 MB`, `3.2 GB`.
pub fn show_bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e6 => format!("{:.0} kB", (b / 1e3).ceil()),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// Memory limit of reading, with the name of the source.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    place: String,
    most: u64,
}

impl Budget {
    /// `most` bytes, or what the machine has.
    pub(crate) fn new(place: impl Into<String>, most: Option<u64>) -> Self {
        Self { place: place.into(), most: most.unwrap_or_else(default_memory) }
    }

    /// An error where `bytes` are more than there are; to be asked before they are taken.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), DataError> {
        if bytes as u64 <= self.most {
            return Ok(());
        }
        let (needed, allowed) = (show_bytes(bytes as u64), show_bytes(self.most));
        Err(DataError::Memory { place: self.place.clone(), needed, allowed })
    }

    /// Name of the source.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_kept_and_explained() {
        let budget = Budget::new("a.csv", Some(5_000_000));
        assert!(budget.check(5_000_000).is_ok());
        let error = budget.check(6_000_000_000).unwrap_err().to_string();
        assert!(
            error.starts_with("a.csv: at least 6.0 GB of memory are needed, and 5 MB are allowed"),
            "{error}"
        );
        assert!(Budget::new("", None).check(1).is_ok());
        assert_eq!(show_bytes(1200), "2 kB");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_machine_says_what_is_free() {
        let free = available_memory().unwrap();
        assert!(free > 1 << 20 && default_memory() <= free);
    }
}
