//! Sets of patterns of a row of X, as words of 64 bits: bit p stands for the columns in the binary digits of p.

/// The patterns of `set` for which a condition holds.
pub(super) fn only(set: u64, holds: impl Fn(u32) -> bool) -> u64 {
    (0..64u32).filter(|p| set >> p & 1 == 1 && holds(*p)).fold(0, |out, p| out | 1 << p)
}

/// The columns in any of the patterns.
pub(super) fn columns(set: u64) -> u32 {
    (0..64u32).filter(|p| set >> p & 1 == 1).fold(0, |all, p| all | p)
}

/// The fewest and the most nonzeros.
pub(super) fn counts(set: u64) -> (u32, u32) {
    let of = (0..64u32).filter(|p| set >> p & 1 == 1).map(u32::count_ones);
    of.fold((u32::MAX, 0), |(low, high), c| (low.min(c), high.max(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_patterns_of_two_columns() {
        let all = 0b1111; // none, 0, 1, both
        assert_eq!((columns(all), counts(all)), (0b11, (0, 2)));
        let few = only(all, |p| p.count_ones() < 2);
        assert_eq!((few, columns(few), counts(few)), (0b111, 0b11, (0, 1)));
        assert_eq!(counts(only(all, |p| p & 1 == 1)), (1, 2));
        assert_eq!((columns(1), only(all, |_| false)), (0, 0));
    }
}
