//! Changes to valid files, of the kinds that damage, haste and malice make: bytes, spans, lines, numbers, binary words.

use std::ops::Range;

use rand::RngExt;
use rand_pcg::Pcg64;

/// Numbers at the edges of what types hold, and words that only look like numbers.
const NUMBERS: [&str; 30] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "255",
    "65536",
    "16777217",
    "2147483647",
    "4294967295",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e308",
    "-1e308",
    "1e309",
    "5e-324",
    "1e-400",
    "nan",
    "inf",
    "-inf",
    "",
    "0x10",
    "1.5",
    "1e3",
    "+7",
    "1_000",
];

/// Bytes that separate, quote, begin or end something in one of the formats, and bytes that are not text.
const PIECES: [&[u8]; 34] = [
    b",",
    b";",
    b"\t",
    b" ",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\"",
    b"\"\"",
    b"'",
    b":",
    b"#",
    b"%",
    b"%%",
    b"-",
    b"=",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"\\",
    b"\0",
    b"\x1b[31m",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xc3",
    "\u{202e}".as_bytes(),
    "\u{85}".as_bytes(),
    b"NA",
    b"symmetric",
    b"True",
];

/// Words of binary files.
const WORDS: [u64; 12] = [
    0,
    1,
    u64::MAX,
    i64::MAX as u64,
    1 << 63,
    1 << 31,
    u32::MAX as u64,
    1 << 60,
    f64::NAN.to_bits(),
    f64::INFINITY.to_bits(),
    f64::MAX.to_bits(),
    f64::MIN_POSITIVE.to_bits(),
];

/// Inputs grow by repetition, but not without end.
const LONGEST: usize = 1 << 16;

/// One to five changes to `bytes`; pieces of `other` may come in.
pub fn mutated(rng: &mut Pcg64, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.random_range(1..=5) {
        change(rng, &mut bytes, other);
        bytes.truncate(LONGEST);
    }
    bytes
}

fn change(rng: &mut Pcg64, bytes: &mut Vec<u8>, other: &[u8]) {
    match rng.random_range(0..14) {
        0 => flip(rng, bytes),
        1 => drop(bytes.drain(span(rng, bytes.len(), 64))),
        2 => repeat(rng, bytes, span),
        3 => swap(rng, bytes, span),
        4 => drop(bytes.drain(line(rng, bytes))),
        5 => {
            let range = line(rng, bytes);
            repeat(rng, bytes, |_, _, _| range.clone());
        }
        6 => bytes.truncate(rng.random_range(0..=bytes.len())),
        7 => word(rng, bytes),
        8 => drop(bytes.splice(span(rng, bytes.len(), 8), pick(rng, &PIECES).iter().copied())),
        9 => {
            let piece = other[span(rng, other.len(), 200)].to_vec();
            drop(bytes.splice(span(rng, bytes.len(), 20), piece));
        }
        // what readers are about
        _ => number(rng, bytes),
    }
}

/// One of them.
pub fn pick<T: Copy>(rng: &mut Pcg64, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

/// A range of at most `most` bytes; small ones are as likely as large ones.
fn span(rng: &mut Pcg64, length: usize, most: usize) -> Range<usize> {
    let from = rng.random_range(0..=length);
    let bits = rng.random_range(0..=most.ilog2());
    from..(from + rng.random_range(0..=1_usize << bits)).min(length)
}

/// A line with its end.
fn line(rng: &mut Pcg64, bytes: &[u8]) -> Range<usize> {
    let at = rng.random_range(0..=bytes.len());
    let from = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |k| k + 1);
    let to = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |k| at + k + 1);
    from..to
}

fn flip(rng: &mut Pcg64, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = rng.random_range(0..bytes.len());
        bytes[at] ^= if rng.random() { 1 << rng.random_range(0..8) } else { rng.random() };
    }
}

/// A part once more, or many times.
fn repeat(rng: &mut Pcg64, bytes: &mut Vec<u8>, range: impl Fn(&mut Pcg64, usize, usize) -> Range<usize>) {
    let piece = bytes[range(rng, bytes.len(), 64)].to_vec();
    let times: usize = pick(rng, &[1, 1, 1, 2, 10, 300]);
    let at = rng.random_range(0..=bytes.len());
    drop(bytes.splice(at..at, piece.repeat(times)));
}

/// Two parts change places.
fn swap(rng: &mut Pcg64, bytes: &mut Vec<u8>, range: impl Fn(&mut Pcg64, usize, usize) -> Range<usize>) {
    let (a, b) = (range(rng, bytes.len(), 64), range(rng, bytes.len(), 64));
    let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
    if a.end <= b.start {
        let (first, second) = (bytes[a.clone()].to_vec(), bytes[b.clone()].to_vec());
        drop(bytes.splice(b, first));
        drop(bytes.splice(a, second));
    }
}

/// 2, 4 or 8 bytes become a number that is extreme, or near the one that was there.
fn word(rng: &mut Pcg64, bytes: &mut [u8]) {
    let size = pick(rng, &[2, 4, 8, 8]);
    if bytes.len() < size {
        return;
    }
    let at = rng.random_range(0..=bytes.len() - size);
    let at = if rng.random() { at } else { at / size * size };
    let mut old = [0; 8];
    old[..size].copy_from_slice(&bytes[at..at + size]);
    let near = u64::from_le_bytes(old).wrapping_add(pick(rng, &[1, 2, u64::MAX]));
    let new = if rng.random() { near } else { pick(rng, &WORDS) };
    bytes[at..at + size].copy_from_slice(&new.to_le_bytes()[..size]);
}

/// A number in the text becomes another: an extreme one, or one near it, as counts in headers may be.
fn number(rng: &mut Pcg64, bytes: &mut Vec<u8>) {
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&k| bytes[k].is_ascii_digit() && (k == 0 || !bytes[k - 1].is_ascii_digit()))
        .collect();
    if starts.is_empty() {
        return flip(rng, bytes);
    }
    let from = pick(rng, &starts);
    let to = bytes[from..].iter().position(|b| !b.is_ascii_digit()).map_or(bytes.len(), |k| from + k);
    let old = std::str::from_utf8(&bytes[from..to]).ok().and_then(|text| text.parse::<u64>().ok());
    let new = match old {
        Some(old) if rng.random() => {
            let near = [old.wrapping_add(1), old.wrapping_sub(1), old.wrapping_mul(2), old.wrapping_mul(10)];
            pick(rng, &near).to_string()
        }
        _ => pick(rng, &NUMBERS).into(),
    };
    drop(bytes.splice(from..to, new.into_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_seeds_differ() {
        let file = b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
        let made = |seed| mutated(&mut Pcg64::seed_from_u64(seed), file, b"1 2 3\n");
        let all: std::collections::BTreeSet<_> = (0..200).map(made).collect();
        assert!((0..200).all(|seed| all.contains(&made(seed))));
        assert!(all.len() > 150, "{}", all.len());
        assert!(all.iter().all(|bytes| bytes.len() <= LONGEST));
    }

    #[test]
    fn nothing_is_too_short() {
        for seed in 0..2000 {
            mutated(&mut Pcg64::seed_from_u64(seed), b"", b"");
            mutated(&mut Pcg64::seed_from_u64(seed), b"7", b"\n");
        }
    }
}
