//! Blocks of rows as integers of 22 bits times powers of two, which f64 multiplies and adds without error.
//!
//! A column with |a| ≤ 2^h is a = 2^(h + 1 − 22)·(q₀ + q₁·2⁻²² + q₂·2⁻⁴⁴ + ...), |q| ≤ 2²¹ by rounding to nearest.
//! Products of two such integers are below 2⁴², sums of 512 of them below 2⁵¹. With s slices a column keeps
//! 22·s bits below its largest entry. Mixed products come from (Qₚ + Qₛ)ᵀ(Qₚ + Qₛ) − QₚᵀQₚ − QₛᵀQₛ, symmetric as
//! the rest (Karatsuba's trick), so that s slices cost s(s + 1)/2 products of half a matrix each.

use rayon::prelude::*;

use super::block::{Block, Factors};
use super::wide::power_of_two;

/// Bits of a slice.
pub(super) const BITS: i32 = 22;

/// Most slices of a block.
const MOST: usize = 6;

/// Seconds (in any unit) of one product of two entries in GEMM, against one alone in wide integers.
const IN_GEMM: f64 = 0.02;
const ALONE: f64 = 6.0;

/// The exponent h with |v| < 2^h of a normal number.
#[inline]
pub(super) fn above(v: f64) -> i32 {
    ((v.to_bits() >> 52) & 0x7ff) as i32 - 1022
}

/// v = m·2^e with m odd (or 0).
#[inline]
pub(super) fn parts(v: f64) -> (i64, i32) {
    if v == 0.0 {
        return (0, 0);
    }
    let mantissa = ((v.to_bits() & ((1 << 52) - 1)) | (1 << 52)) as i64;
    let zeros = mantissa.trailing_zeros();
    let odd = mantissa >> zeros;
    (if v < 0.0 { -odd } else { odd }, above(v) - 53 + zeros as i32)
}

/// Part of an entry below its last slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) value: f64,
}

/// A block as integers.
#[derive(Debug)]
pub(super) struct Slices {
    /// Slices of each entry.
    pub(super) count: usize,
    rows: usize,
    values: Vec<f64>,
    /// h of each column; `None` for zeros.
    pub(super) tops: Vec<Option<i32>>,
    /// Entries that are not the sum of their slices.
    pub(super) rests: Vec<Rest>,
}

impl Slices {
    /// Cuts a block; its values are at most 2^±160 or 0.
    pub(super) fn of(block: &Block) -> Self {
        let rows = block.rows;
        let needs_of: Vec<SliceNeeds> = block.values.par_chunks(rows).map(SliceNeeds::at).collect();
        let count = cheapest(&needs_of, block);
        let factors = count * (count + 1) / 2;
        let mut values = vec![0.0; factors * block.values.len()];
        let columns = values.par_chunks_mut(factors * rows).zip(block.values.par_chunks(rows));
        let rests = columns.zip(&needs_of).enumerate().flat_map_iter(|(column, ((out, values), needs))| {
            needs.top.map_or(Vec::new(), |top| cut(values, top, count, column, out))
        });
        let rests = rests.collect();
        Self { count, rows, values, tops: needs_of.iter().map(|needs| needs.top).collect(), rests }
    }

    /// The exponent of the last bit of the last slice.
    pub(super) fn unit(&self, top: i32) -> i32 {
        top + 1 - BITS * self.count as i32
    }

    /// The slices, and sums of any two of them.
    pub(super) fn factors(&self) -> Factors<'_> {
        Factors { rows: self.rows, count: self.count * (self.count + 1) / 2, values: &self.values }
    }
}

/// Scale of a column, and the number of its entries that need more slices.
struct SliceNeeds {
    top: Option<i32>,
    entries: [usize; MOST], // entries that need more than k + 1 slices
}

impl SliceNeeds {
    fn at(column: &[f64]) -> Self {
        let largest = column.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
        let mut needs = Self { top: (largest > 0.0).then(|| above(largest)), entries: [0; MOST] };
        let Some(top) = needs.top else { return needs };
        for v in column.iter().filter(|v| **v != 0.0) {
            let length = top + 1 - parts(*v).1;
            let slices = (length.max(1) as usize).div_ceil(BITS as usize);
            needs.entries[..MOST.min(slices - 1)].iter_mut().for_each(|count| *count += 1);
        }
        needs
    }
}

/// The number of slices with the least work. Whatever it is, the sum is the same.
fn cheapest(needs_of: &[SliceNeeds], block: &Block) -> usize {
    let entries = block.values.len() as f64;
    let cost = |slices: usize| {
        let rests: usize = needs_of.iter().map(|needs| needs.entries[slices - 1]).sum();
        (slices * (slices + 1) / 2) as f64 * entries * IN_GEMM + rests as f64 * ALONE
    };
    (1..=MOST).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(MOST)
}

/// Slices of a column and sums of two of them into `out`; returns what is left.
fn cut(column: &[f64], top: i32, count: usize, at: usize, out: &mut [f64]) -> Vec<Rest> {
    // adding it rounds numbers below 2⁵¹ to whole ones, ties to even
    const WHOLE: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²
    let rows = column.len();
    let (scale, next) = (power_of_two(BITS - 1 - top), power_of_two(BITS));
    let mut left: Vec<f64> = column.iter().map(|v| v * scale).collect();
    for slice in 0..count {
        for (left, out) in left.iter_mut().zip(&mut out[slice * rows..(slice + 1) * rows]) {
            *out = (*left + WHOLE) - WHOLE;
            *left = (*left - *out) * next;
        }
    }
    let (slices, sums) = out.split_at_mut(count * rows);
    let pairs = (0..count).flat_map(|p| (p + 1..count).map(move |q| (p, q)));
    for ((p, q), sum) in pairs.zip(sums.chunks_exact_mut(rows)) {
        let (first, second) = (&slices[p * rows..], &slices[q * rows..]);
        sum.iter_mut().zip(first).zip(second).for_each(|((sum, a), b)| *sum = a + b);
    }
    let unit = power_of_two(top + 1 - BITS * (count as i32 + 1));
    let rest = |(row, left): (usize, &f64)| Rest { row, column: at, value: left * unit };
    left.iter().enumerate().filter(|(_, left)| **left != 0.0).map(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_and_rests_make_up_the_entries() {
        let values = vec![1.0, -0.3, 1e-9, 0.0, 3.999, 1.5e-30, -2.75, 0.1, 7.0, 8.0, 0.0, -1.0];
        let block = Block { rows: 4, columns: 3, values };
        let slices = Slices::of(&block);
        let factors = slices.count * (slices.count + 1) / 2;
        for (at, value) in block.values.iter().enumerate() {
            let (row, column) = (at % 4, at / 4);
            let top = slices.tops[column].unwrap();
            let slice = |k: usize| slices.values[(column * factors + k) * 4 + row];
            let mut sum = 0.0;
            for k in (0..slices.count).rev() {
                assert!(slice(k).abs() <= power_of_two(BITS - 1) && slice(k).fract() == 0.0);
                sum += slice(k) * power_of_two(top + 1 - BITS * (k as i32 + 1));
            }
            let rest = slices.rests.iter().find(|rest| (rest.row, rest.column) == (row, column));
            assert_eq!(sum + rest.map_or(0.0, |rest| rest.value), *value);
        }
        assert_eq!(parts(-12.0), (-3, 2));
        assert_eq!((above(1.0), above(0.75), above(-4.0)), (1, 0, 3));
    }
}
