//! The accumulator as bytes and back: a mark, a version, a checksum, and then little-endian numbers.

use super::block::triangle;
use super::compensated::Compensated;
use super::exact::{COUNT, Exact, LARGEST, SMALLEST, Scale};
use super::frame::{Frame, LARGEST_UNIT, Range};
use super::{GramAccumulator, Summation, Sums};
use crate::error::DataError;

const MARK: &[u8; 8] = b"ORTHGRAM";
const VERSION: u32 = 2;

/// Without ranges of columns, and with sums of entries as they are.
const WITHOUT_FRAMES: u32 = 1;

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
        for range in &self.ranges {
            out.number(range.low.to_bits());
            out.number(range.high.to_bits());
        }
        match &self.sums {
            Sums::Compensated(sums) => {
                for (frame, added) in sums.frames.iter().zip(&sums.added) {
                    let unit = frame.unit.map_or(0, |unit| i64::from(unit + LARGEST_UNIT + 1));
                    [frame.shift.to_bits(), unit as u64, added.to_bits()].iter().for_each(|v| out.number(*v));
                }
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
        let (head, body) = bytes
            .split_at_checked(HEAD)
            .ok_or_else(|| broken("it is not an accumulator: it is too short"))?;
        if &head[..8] != MARK {
            return Err(broken("it is not an accumulator of `data gram` or GramAccumulator.to_bytes"));
        }
        let mut head = Reader(&head[8..]);
        let version = head.half().filter(|version| [WITHOUT_FRAMES, VERSION].contains(version));
        let Some(version) = version else {
            return Err(broken(
                "it was written by another version, in a format that this version cannot read",
            ));
        };
        if head.number() != Some(checksum(body)) {
            return Err(broken("the accumulator is truncated or corrupt (its checksum does not match)"));
        }
        read(&mut Reader(body), version, place)?
            .ok_or_else(|| broken("the accumulator is corrupt (its parts contradict each other)"))
    }
}

/// `None` where the numbers do not fit together.
fn read(from: &mut Reader<'_>, version: u32, place: &str) -> Result<Option<GramAccumulator>, DataError> {
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
    if version == WITHOUT_FRAMES {
        made.ranges.fill(Range::UNKNOWN);
    } else if made.ranges.iter_mut().any(|range| from.range().map(|found| *range = found).is_none()) {
        return Ok(None);
    }
    let read = match &mut made.sums {
        Sums::Compensated(sums) => compensated(from, version, sums, entries),
        Sums::Exact(sums) => exact(from, sums, entries),
    };
    Ok(read.filter(|()| from.0.is_empty()).map(|()| made))
}

fn compensated(from: &mut Reader<'_>, version: u32, sums: &mut Compensated, entries: usize) -> Option<()> {
    let columns = sums.frames.len();
    if version != WITHOUT_FRAMES {
        for j in 0..columns {
            let [shift, unit, added] = from.numbers()?;
            let (shift, added) = (f64::from_bits(shift), f64::from_bits(added));
            let unit = u16::try_from(unit).ok().filter(|unit| i32::from(*unit) <= 2 * LARGEST_UNIT + 1)?;
            let unit = (unit > 0).then(|| i32::from(unit) - LARGEST_UNIT - 1);
            let frame = Frame { shift, unit };
            // entries are multiplied by what is in the first column
            if !shift.is_finite() || added.is_nan() || added < 0.0 || (j == 0 && !frame.is_plain()) {
                return None;
            }
            (sums.frames[j], sums.added[j]) = (frame, added);
        }
    }
    (from.0.len() == 16 * entries).then_some(())?;
    for value in sums.sums.as_flattened_mut() {
        *value = f64::from_bits(from.number()?);
    }
    if version == WITHOUT_FRAMES {
        for j in 0..columns {
            sums.added[j] = sums.entry(j, j).0.max(0.0);
            sums.frames[j] = Frame { shift: 0.0, unit: Some(0) };
        }
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

    fn range(&mut self) -> Option<Range> {
        let [low, high] = self.numbers()?.map(f64::from_bits);
        let range = Range { low, high };
        let fits = low <= high || range == Range::EMPTY;
        fits.then_some(range)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::gram::pair::two_sum;
    use crate::prepare::{Prepare, Scale};

    const CENTRED: Prepare = Prepare { center: true, scale: Scale::None, covariance: false, features: None };

    /// The first column at a mean, the second constant.
    fn rows(mean: f64, constant: f64) -> Mat<f64> {
        Mat::from_fn(60, 2, |i, j| if j == 0 { mean + (i % 5) as f64 } else { constant })
    }

    fn sealed(version: u32, body: &[u8]) -> Vec<u8> {
        [&MARK[..], &version.to_le_bytes(), &checksum(body).to_le_bytes(), body].concat()
    }

    /// Sums of rows as they are.
    fn first_version(a: &Mat<f64>, how: Summation) -> Vec<u8> {
        let (m, n) = a.shape();
        if how == Summation::Reproducible {
            let mut made = GramAccumulator::new(n, how, "a", None).unwrap();
            made.add(a.as_ref().into(), None).unwrap();
            let mut body = made.to_bytes().split_off(HEAD);
            body.drain(40..40 + 16 * n);
            return sealed(WITHOUT_FRAMES, &body);
        }
        let mut out = Writer(Vec::new());
        [0, n as u64, m as u64, 1, 0].iter().for_each(|v| out.number(*v));
        let value = |i: usize, j: usize| if j == 0 { 1.0 } else { a[(i, j - 1)] };
        for (j, k) in (0..=n).flat_map(|j| (0..=j).map(move |k| (j, k))) {
            let (mut hi, mut lo) = (0.0, 0.0);
            for i in 0..m {
                let (sum, rest) = two_sum(hi, value(i, j) * value(i, k));
                (hi, lo) = (sum, lo + rest);
            }
            [hi, lo].iter().for_each(|v| out.number(v.to_bits()));
        }
        sealed(WITHOUT_FRAMES, &out.0)
    }

    #[test]
    fn the_first_version_is_read_as_far_as_it_has_digits() {
        let read = |bytes: &[u8]| GramAccumulator::from_bytes(bytes, "c.npz").unwrap();
        for how in [Summation::Compensated, Summation::Reproducible] {
            let a = rows(1e3, 0.0);
            let mut found = read(&first_version(&a, how));
            let c = found.prepared(&CENTRED, &[0, 1]).unwrap().0;
            assert!((c[(0, 0)] - 120.0).abs() < 1e-6, "{how:?} {}", c[(0, 0)]);
            assert_eq!((c[(0, 1)], c[(1, 1)]), (0.0, 0.0));
            // more rows of either version
            found.merge(&read(&first_version(&a, how))).unwrap();
            let mut new = found.empty().unwrap();
            new.add(a.as_ref().into(), None).unwrap();
            new.merge(&found).unwrap();
            new.add(a.as_ref().into(), None).unwrap();
            assert!((new.prepared(&CENTRED, &[0]).unwrap().0[(0, 0)] - 480.0).abs() < 1e-5);
            let again = GramAccumulator::from_bytes(&new.to_bytes(), "b").unwrap();
            assert_eq!(again.to_bytes(), new.to_bytes());
        }
        let exact = read(&first_version(&rows(1e7, 7.3), Summation::Reproducible));
        let c = exact.prepared(&CENTRED, &[0, 1]).unwrap().0;
        assert!((c[(0, 0)] - 120.0).abs() < 1e-12 && c[(0, 1)] == 0.0 && c[(1, 1)] == 0.0);
        // where the digits are lost, rows that come later do not bring them back
        let mut lost = read(&first_version(&rows(1e8, 0.0), Summation::Compensated));
        lost.add(rows(1e8, 0.0).as_ref().into(), None).unwrap();
        let lost = lost.named(vec!["height".into(), "other".into()]).unwrap();
        let error = lost.prepared(&CENTRED, &[1, 0]).unwrap_err().to_string();
        assert!(error.starts_with("c.npz: column 1 (`height`) has the mean 100000002 and a"), "{error}");
        assert!(lost.prepared(&CENTRED, &[1]).is_ok() && lost.gram().is_ok());
    }
}
