//! How many threads are sensible.

/// Threads for somebody who asks for `wanted`: at most four for every core, or 64 where that is more. Further ones
/// would only take memory, and thousands of them the machine.
pub fn sensible(wanted: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    wanted.min((4 * cores).max(64))
}

#[cfg(test)]
mod tests {
    #[test]
    fn few_stay_and_many_are_cut() {
        assert_eq!([1, 2, 64].map(super::sensible), [1, 2, 64]);
        assert!(super::sensible(1_000_000) < 100_000);
    }
}
