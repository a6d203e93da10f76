//! The accumulator as bytes and back: a mark, a version, a checksum, and then little-endian numbers.

use super::block::triangle;
use super::compensated::Compensated;
use super::exact::{COUNT, Exact, LARGEST, SMALLEST, Scale};
use super::{GramAccumulator, Summation, Sums};
use crate::error::DataError;

const MARK: &[u8; 8] = b"ORTHGRAM";
const VERSION: u32 = 1;

/// Mark, version, checksum.
pub(super) const HEAD: usize = 8 + 4 + 8;

/// Most words that an integer of exact sums can need.
const WIDEST: u64 = ((2 * (LARGEST - SMALLEST + 160) + COUNT + 2) as u64).div_ceil(64);

impl GramAccumulator {
    /// All there is, for a file or another machine: [`from_bytes`](Self::from_bytes) gives the same accumulator.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(HEAD + 64 + self.bytes()));
        let names = self.names.as_ref().map_or(0, |names| names.len() as u64 + 1);
        let kind = u64::from(self.is_reproducible());
        [kind, self.columns as u64, self.rows, self.chunks, names].iter().for_each(|v| out.number(*v));
        for name in self.names.iter().flatten() {
            out.number(name.len() as u64);
            out.0.extend(name.as_bytes());
        }
        match &self.sums {
            Sums::Compensated(sums) => {
                sums.sums.as_flattened().iter().for_each(|v| out.number(v.to_bits()));
            }
            Sums::Exact(sums) => {
                out.number(sums.width as u64);
                for scale in &sums.scales {
                    let (base, top) = scale.range.unwrap_or((0, 0));
                    let flags = u64::from(scale.range.is_some()) | u64::from(scale.rounded) << 1;
                    [flags, i64::from(base) as u64, i64::from(top) as u64]
                        .iter()
                        .for_each(|v| out.number(*v));
                }
                sums.words.iter().for_each(|v| out.number(*v));
            }
        }
        let mut bytes = MARK.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(checksum(&out.0).to_le_bytes());
        bytes.append(&mut out.0);
        bytes
    }

    /// The accumulator that [`to_bytes`](Self::to_bytes) wrote; `place` names it in errors.
    ///
    /// # Errors
    /// [`DataError::File`] for bytes that are no accumulator, of another version, cut off or changed.
    pub fn from_bytes(bytes: &[u8], place: &str) -> Result<Self, DataError> {
        let broken = |problem: &str| DataError::File { path: place.into(), problem: problem.into() };
        let (head, body) =
            bytes.split_at_checked(HEAD).ok_or_else(|| broken("it is no accumulator: too short"))?;
        if &head[..8] != MARK {
            return Err(broken("it is no accumulator of `data gram` or GramAccumulator.to_bytes"));
        }
        let mut head = Reader(&head[8..]);
        if head.half() != Some(VERSION) {
            return Err(broken("it was written by another version, with a format that is not known here"));
        }
        if head.number() != Some(checksum(body)) {
            return Err(broken("the accumulator is cut off or corrupt (its checksum is another one)"));
        }
        read(&mut Reader(body), place)?.ok_or_else(|| broken("the accumulator contradicts itself"))
    }
}

/// `None` where the numbers do not fit together.
fn read(from: &mut Reader<'_>, place: &str) -> Result<Option<GramAccumulator>, DataError> {
    let Some([kind, columns, rows, chunks, names]) = from.numbers() else { return Ok(None) };
    let how = match kind {
        0 => Summation::Compensated,
        1 => Summation::Reproducible,
        _ => return Ok(None),
    };
    // no size is believed before the bytes for it are there
    let entries =
        usize::try_from(columns).ok().filter(|n| *n > 0 && *n < 1 << 31).map(|n| (n, triangle(n + 1)));
    let Some((columns, entries)) = entries.filter(|(_, entries)| from.0.len() / 16 >= *entries) else {
        return Ok(None);
    };
    if names > 0 && names != columns as u64 + 1 {
        return Ok(None);
    }
    let names = (names > 0).then(|| (0..columns).map(|_| from.text()).collect::<Option<Vec<_>>>());
    let names = match names {
        Some(None) => return Ok(None),
        Some(names) => names,
        None => None,
    };
    let mut made =
        GramAccumulator { names, rows, chunks, ..GramAccumulator::new(columns, how, place, None)? };
    let read = match &mut made.sums {
        Sums::Compensated(sums) => compensated(from, sums, entries),
        Sums::Exact(sums) => exact(from, sums, entries),
    };
    Ok(read.filter(|()| from.0.is_empty()).map(|()| made))
}

fn compensated(from: &mut Reader<'_>, sums: &mut Compensated, entries: usize) -> Option<()> {
    (from.0.len() == 16 * entries).then_some(())?;
    for value in sums.sums.as_flattened_mut() {
        *value = f64::from_bits(from.number()?);
    }
    Some(())
}

fn exact(from: &mut Reader<'_>, sums: &mut Exact, entries: usize) -> Option<()> {
    let width = from.number().filter(|width| (1..=WIDEST).contains(width))? as usize;
    let mut longest = 0;
    for scale in &mut sums.scales {
        let [flags, base, top] = from.numbers()?.map(|v| v as i64);
        let within = |v: i64| (i64::from(SMALLEST) - 160..=i64::from(LARGEST) + 2).contains(&v);
        if flags > 3 || !within(base) || !within(top) || base > top {
            return None;
        }
        let range = (flags & 1 == 1).then_some((base as i32, top as i32));
        *scale = Scale { range, rounded: flags & 2 == 2 };
        longest = longest.max(range.map_or(0, |(base, top)| top - base));
    }
    // what follows would otherwise carry out of the words
    if 64 * width < (2 * longest + COUNT + 2) as usize || from.0.len() != 8 * width * entries {
        return None;
    }
    sums.width = width;
    sums.words = (0..width * entries).map(|_| from.number()).collect::<Option<Vec<_>>>()?;
    Some(())
}

/// A running product of 32-bit words: any changed, missing or moved word shows.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let (mut a, mut b) = (bytes.len() as u64, 1_u64);
    for word in words.iter().map(|word| u32::from_le_bytes(*word)).chain(rest.iter().map(|v| u32::from(*v))) {
        a = a.wrapping_add(u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        b = b.rotate_left(5) ^ a;
    }
    b
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, v: u64) {
        self.0.extend(v.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn half(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn numbers<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(numbers)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}
