//! Integers of several words in two's complement, lowest word first: the sums that nothing is lost of.
//!
//! Nothing here checks for overflow; [`super::exact`] keeps every number wide enough.

/// Adds v·2^shift.
#[inline]
pub(super) fn add_shifted(words: &mut [u64], v: i128, shift: usize) {
    let (at, bits) = (shift / 64, shift % 64);
    let sign = (v >> 127) as u64; // 0 or all ones
    let low = (v as u128) << bits;
    let high = if bits == 0 { sign } else { (v >> (128 - bits)) as u64 };
    let parts = [low as u64, (low >> 64) as u64, high];
    if let Ok(words) = <&mut [u64; 4]>::try_from(&mut *words) {
        let [a, b, c] = parts;
        return add_four(words, [[a, b, c, sign], [0, a, b, c], [0, 0, a, b], [0, 0, 0, a]][at]);
    }
    let mut carry = 0;
    for (k, word) in words[at..].iter_mut().enumerate() {
        let part = if k < 3 { parts[k] } else { sign };
        let (sum, first) = word.overflowing_add(part);
        let (sum, second) = sum.overflowing_add(carry);
        *word = sum;
        carry = u64::from(first | second);
    }
}

/// The usual width, without a loop.
#[inline]
fn add_four(words: &mut [u64; 4], parts: [u64; 4]) {
    let wide = |word: u64, part: u64, carry: u128| u128::from(word) + u128::from(part) + carry;
    let first = wide(words[0], parts[0], 0);
    let second = wide(words[1], parts[1], first >> 64);
    let third = wide(words[2], parts[2], second >> 64);
    let fourth = wide(words[3], parts[3], third >> 64);
    *words = [first as u64, second as u64, third as u64, fourth as u64];
}

/// Adds another number of the same width, shifted to the left.
pub(super) fn add(words: &mut [u64], other: &[u64], shift: usize) {
    let mut shifted = other.to_vec();
    shift_left(&mut shifted, shift);
    let mut carry = 0;
    for (word, part) in words.iter_mut().zip(shifted) {
        let (sum, first) = word.overflowing_add(part);
        let (sum, second) = sum.overflowing_add(carry);
        *word = sum;
        carry = u64::from(first | second);
    }
}

/// Multiplies with 2^shift.
pub(super) fn shift_left(words: &mut [u64], shift: usize) {
    let (by, bits) = (shift / 64, shift % 64);
    for k in (0..words.len()).rev() {
        let at = |k: usize| if k >= by { words[k - by] } else { 0 };
        let below = if k > 0 { at(k - 1) } else { 0 };
        words[k] = if bits == 0 { at(k) } else { (at(k) << bits) | (below >> (64 - bits)) };
    }
}

/// The sign as the word that continues the number to the left: 0 or all ones.
pub(super) fn sign(words: &[u64]) -> u64 {
    words.last().map_or(0, |word| ((*word as i64) >> 63) as u64)
}

/// The number times 2^exponent as hi + lo: hi is the number rounded to nearest (ties to even), lo what is left,
/// rounded in the same way.
pub(super) fn rounded(words: &[u64], exponent: i32) -> (f64, f64) {
    let mut rest = words.to_vec();
    let mut next = || {
        let (mantissa, shift) = leading(&rest);
        add_shifted(&mut rest, -i128::from(mantissa), shift);
        mantissa as f64 * power_of_two(exponent + shift as i32)
    };
    (next(), next())
}

/// The 53 leading bits, rounded to nearest with ties to even, and where they stand.
fn leading(words: &[u64]) -> (i64, usize) {
    let negative = sign(words) != 0;
    let mut size = words.to_vec();
    if negative {
        negate(&mut size);
    }
    let Some(top) = size.iter().rposition(|word| *word != 0) else { return (0, 0) };
    let length = 64 * (top + 1) - size[top].leading_zeros() as usize;
    let shift = length.saturating_sub(53);
    let bit = |at: usize| (size[at / 64] >> (at % 64)) & 1;
    let (word, bits) = (shift / 64, shift % 64);
    let above = size.get(word + 1).filter(|_| bits > 0).map_or(0, |w| w << (64 - bits));
    let mut mantissa = ((size[word] >> bits) | above) & ((1 << 53) - 1);
    if shift > 0 && bit(shift - 1) == 1 {
        let below = shift - 1;
        let (whole, part) = (below / 64, below % 64);
        let sticky = size[..whole].iter().any(|w| *w != 0) || size[whole] & ((1 << part) - 1) != 0;
        mantissa += u64::from(sticky || mantissa & 1 == 1);
    }
    (if negative { -(mantissa as i64) } else { mantissa as i64 }, shift)
}

fn negate(words: &mut [u64]) {
    let mut carry = true;
    for word in words {
        let (sum, over) = (!*word).overflowing_add(u64::from(carry));
        (*word, carry) = (sum, over);
    }
}

/// 2^exponent where that is a normal number, as all exponents here are.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[(i128, usize)], words: usize) -> Vec<u64> {
        let mut sum = vec![0; words];
        parts.iter().for_each(|(v, shift)| add_shifted(&mut sum, *v, *shift));
        sum
    }

    #[test]
    fn sums_carry_and_borrow_across_words() {
        assert_eq!(of(&[(i128::from(u64::MAX), 0), (1, 0)], 3), [0, 1, 0]);
        assert_eq!(of(&[(-1, 0)], 3), [u64::MAX; 3]);
        assert_eq!(of(&[(1, 130), (-1, 0)], 3), [u64::MAX, u64::MAX, 3]);
        assert_eq!(of(&[(1, 130), (-1, 130)], 3), [0; 3]);
        assert_eq!(of(&[(-5, 70), (5, 70), (7, 64)], 3), [0, 7, 0]);
        for shift in [0, 5, 64, 100, 128, 190, 192, 250] {
            let parts = [((1 << 100) - 7, shift), (-3, 70), (-(1 << 90), shift)];
            assert_eq!(of(&parts, 4), of(&parts, 6)[..4], "{shift}"); // without and with a loop
        }
        let mut left = of(&[(-3, 5)], 3);
        shift_left(&mut left, 67);
        assert_eq!(left, of(&[(-3, 72)], 3));
        let mut sum = of(&[(9, 3)], 3);
        add(&mut sum, &of(&[(-9, 0)], 3), 3);
        assert_eq!(sum, [0; 3]);
    }

    #[test]
    fn rounding_is_to_nearest_with_ties_to_even() {
        let two = |e: i32| 2f64.powi(e);
        for (parts, expected) in [
            (vec![(0, 0)], (0.0, 0.0)),
            (vec![(1, 100), (1, 0)], (two(100), 1.0)),
            (vec![(1, 53), (1, 0)], (two(53), 1.0)), // a tie, down to even
            (vec![(1, 53), (3, 0)], (two(53) + 4.0, -1.0)), // a tie, up to even
            (vec![(-1, 53), (-3, 0)], (-two(53) - 4.0, 1.0)),
            (vec![(1, 117), (1, 64), (1, 0)], (two(117) + two(65), 1.0 - two(64))),
            (vec![((1 << 54) - 1, 60)], (two(114), -two(60))), // the mantissa overflows
        ] {
            let (hi, lo) = rounded(&of(&parts, 4), 0);
            assert_eq!(hi, expected.0, "{parts:?}");
            assert!((lo - expected.1).abs() <= expected.1.abs() * two(-53), "{parts:?}: {lo}");
        }
        assert_eq!(rounded(&of(&[(3, 0)], 1), -320).0, 3.0 * two(-320));
    }
}
