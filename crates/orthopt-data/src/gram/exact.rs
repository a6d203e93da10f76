//! Sums of products without any error: integers of a few words, in units that every column has for itself.
//!
//! Entry (j, k) is an integer times 2^(bⱼ + bₖ). bⱼ is at most the exponent of the last bit of any entry of column j,
//! with some room; where a later entry needs a smaller one, or more words, all sums are shifted, without loss.

use rayon::prelude::*;

use super::block::{Block, panels, shares, triangle};
use super::rows::SparseRows;
use super::slices::{BITS, Rest, Slices, above, parts};
use super::wide;

/// Entries are at most 2^LARGEST, and multiples of 2^SMALLEST: others are rounded to one. Both keep the integers
/// below 14 words, whatever comes.
pub(super) const LARGEST: i32 = 160;
pub(super) const SMALLEST: i32 = -160;

/// A column whose entries have been rounded has 53 good bits if its largest entry is at least 2^GOOD.
const GOOD: i32 = SMALLEST + 64;

/// Bits that the number of rows may add.
pub(super) const COUNT: i32 = 42;

/// Bits of room below the last bit when a unit is chosen, so that shifts are rare.
const ROOM: i32 = 16;

/// Properties of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scale {
    /// bⱼ and h with |a| ≤ 2^h for all entries; `None` as long as they are zeros.
    pub(super) range: Option<(i32, i32)>,
    /// True if an entry was rounded to a multiple of 2^SMALLEST.
    pub(super) rounded: bool,
}

/// The integers of the lower triangle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exact {
    pub(super) scales: Vec<Scale>,
    /// Words of an integer.
    pub(super) width: usize,
    pub(super) words: Vec<u64>,
}

impl Exact {
    pub(super) fn new(columns: usize) -> Self {
        let width = WIDTH;
        Self { scales: vec![Scale::default(); columns], width, words: vec![0; width * triangle(columns)] }
    }

    pub(super) fn widen(&mut self, columns: usize) {
        self.scales.resize(columns, Scale::default());
        self.words.resize(self.width * triangle(columns), 0);
    }

    pub(super) fn add_block(&mut self, block: &mut Block) {
        self.round(&mut block.values, |at| at / block.rows);
        let slices = Slices::of(block);
        let mut ranges: Vec<_> =
            slices.tops.iter().map(|top| top.map(|top| (slices.unit(top), top))).collect();
        for rest in &slices.rests {
            let low = parts(rest.value).1;
            ranges[rest.column] = ranges[rest.column].map(|(unit, top)| (unit.min(low), top));
        }
        self.make_room(&ranges);
        let (factors, width, columns) = (slices.factors(), self.width, self.scales.len());
        // 2^shift is what the product of the last slices of two columns counts in their sum
        let shift = |j: usize| Some((slices.unit(slices.tops[j]?) - self.scales[j].range?.0) as usize);
        let shifts: Vec<Option<usize>> = (0..columns).map(shift).collect();
        panels(&mut self.words, columns, width).par_iter_mut().for_each_init(Vec::new, |products, panel| {
            let (from, to) = (panel.from, panel.to);
            factors.products(from, to, products);
            for j in from..to {
                let Some(shift) = shifts[j] else { continue };
                let (products, row) = (&products[(j - from) * to..], panel.row(j, width));
                let stride = (to - from) * to;
                match slices.count {
                    1 => add_row::<1>(row, width, products, stride, shift, &shifts),
                    2 => add_row::<2>(row, width, products, stride, shift, &shifts),
                    3 => add_row::<3>(row, width, products, stride, shift, &shifts),
                    4 => add_row::<4>(row, width, products, stride, shift, &shifts),
                    5 => add_row::<5>(row, width, products, stride, shift, &shifts),
                    _ => add_row::<6>(row, width, products, stride, shift, &shifts),
                }
            }
        });
        self.add_rests(block, &slices.rests);
    }

    /// Remainder of the slices: of a·b − q·q' for a = q + ρ and b = q' + ρ' it is ρ·b + q·ρ'. After its turn an entry
    /// is q, so that every pair of rests is counted once.
    fn add_rests(&mut self, block: &mut Block, rests: &[Rest]) {
        for &Rest { row, column, value } in rests {
            let at = column * block.rows + row;
            let (whole, rest) = (block.values[at], parts(value));
            let left = whole - value; // exact: the leading bits of `whole`
            for k in 0..block.columns {
                let other = block.values[k * block.rows + row];
                self.add_product(column, k, rest, parts(other));
            }
            self.add_product(column, column, rest, parts(left));
            block.values[at] = left;
        }
    }

    fn add_product(&mut self, j: usize, k: usize, a: (i64, i32), b: (i64, i32)) {
        let (Some((base, _)), Some((other, _))) = (self.scales[j].range, self.scales[k].range) else {
            return;
        };
        let at = (triangle(j.max(k)) + j.min(k)) * self.width;
        add_parts(&mut self.words[at..at + self.width], a, b, base + other);
    }

    pub(super) fn add_sparse(&mut self, rows: &SparseRows<'_>, roots: &[f64]) {
        let mut scaled: Vec<f64> =
            (0..rows.len()).flat_map(|i| rows.row(i).1.iter().map(move |v| v * roots[i])).collect();
        let mut roots = roots.to_vec();
        self.round(&mut roots, |_| 0);
        self.round(&mut scaled, |at| rows.index(at) + 1);
        let mut ranges = vec![None; self.scales.len()];
        let mut look = |j: usize, v: f64| {
            if v != 0.0 {
                let (low, top) = ranges[j].unwrap_or((i32::MAX, i32::MIN));
                ranges[j] = Some((low.min(parts(v).1), top.max(above(v))));
            }
        };
        roots.iter().for_each(|root| look(0, *root));
        scaled.iter().enumerate().for_each(|(at, v)| look(rows.index(at) + 1, *v));
        self.make_room(&ranges);
        let width = self.width;
        let bases: Vec<i32> =
            self.scales.iter().map(|scale| scale.range.map_or(0, |range| range.0)).collect();
        let split: Vec<(i64, i32)> = scaled.into_iter().map(parts).collect();
        let roots: Vec<(i64, i32)> = roots.into_iter().map(parts).collect();
        let ones =
            |sums: &mut [u64]| roots.iter().for_each(|root| add_parts(sums, *root, *root, 2 * bases[0]));
        rows.fill_triangle(&mut self.words, width, ones, |sums, i, before| {
            let (indices, split) = (&rows.row(i).0[..=before], &split[rows.range(i)]);
            let base = bases[indices[before] + 1];
            add_parts(&mut sums[..width], split[before], roots[i], base + bases[0]);
            for (k, part) in indices.iter().zip(split) {
                let at = (k + 1) * width;
                add_parts(&mut sums[at..at + width], split[before], *part, base + bases[k + 1]);
            }
        });
    }

    /// Rounds entries to multiples of 2^SMALLEST, and remembers the columns where that changed something.
    fn round(&mut self, values: &mut [f64], column: impl Fn(usize) -> usize) {
        let exact = wide::power_of_two(SMALLEST + 53); // larger ones are multiples
        for (at, value) in values.iter_mut().enumerate().filter(|(_, v)| v.abs() < exact && **v != 0.0) {
            let unit = wide::power_of_two(-SMALLEST);
            let multiple = (*value * unit).round_ties_even() / unit;
            self.scales[column(at)].rounded |= multiple != *value;
            *value = multiple;
        }
    }

    /// Lets columns have entries up to 2^h in multiples of 2^l, for `Some((l, h))`.
    fn make_room(&mut self, ranges: &[Option<(i32, i32)>]) {
        let mut shifts = vec![0; self.scales.len()];
        for (j, range) in ranges.iter().enumerate() {
            let (Some((low, top)), scale) = (*range, &mut self.scales[j]) else { continue };
            let (base, known) = scale.range.unwrap_or((low - ROOM, top));
            let new = if low < base { low - ROOM } else { base };
            shifts[j] = (base - new) as usize;
            scale.range = Some((new, known.max(top)));
        }
        self.widen_words();
        if shifts.iter().all(|shift| *shift == 0) {
            return;
        }
        let width = self.width;
        shares(&mut self.words, shifts.len(), width).par_iter_mut().for_each(|panel| {
            for j in panel.from..panel.to {
                for (entry, shift) in panel.row(j, width).chunks_exact_mut(width).zip(&shifts) {
                    wide::shift_left(entry, shifts[j] + shift);
                }
            }
        });
    }

    /// As many words as the ranges of the columns ask for.
    fn widen_words(&mut self) {
        let longest = self.scales.iter().filter_map(|scale| scale.range).map(|(base, top)| top - base).max();
        let width = ((2 * longest.unwrap_or(0) + COUNT + 2) as usize).div_ceil(64);
        if width <= self.width {
            return;
        }
        let (old, entries) = (self.width, triangle(self.scales.len()));
        self.words.resize(width * entries, 0);
        for entry in (0..entries).rev() {
            let sign = wide::sign(&self.words[entry * old..(entry + 1) * old]);
            self.words.copy_within(entry * old..(entry + 1) * old, entry * width);
            self.words[entry * width + old..(entry + 1) * width].fill(sign);
        }
        self.width = width;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let ranges: Vec<_> = other.scales.iter().map(|scale| scale.range).collect();
        self.make_room(&ranges);
        for (scale, other) in self.scales.iter_mut().zip(&other.scales) {
            scale.rounded |= other.rounded;
        }
        let shift = |j: usize| match (self.scales[j].range, other.scales[j].range) {
            (Some((base, _)), Some((its, _))) => (its - base) as usize,
            _ => 0,
        };
        let shifts: Vec<usize> = (0..self.scales.len()).map(shift).collect();
        let mut entry = vec![0; self.width];
        for j in 0..shifts.len() {
            for k in 0..=j {
                let at = triangle(j) + k;
                let its = &other.words[at * other.width..(at + 1) * other.width];
                let common = other.width.min(self.width); // words beyond are signs
                entry.fill(wide::sign(its));
                entry[..common].copy_from_slice(&its[..common]);
                let mine = &mut self.words[at * self.width..(at + 1) * self.width];
                wide::add(mine, &entry, shifts[j] + shifts[k]);
            }
        }
    }

    /// The entry rounded to nearest, and what that leaves.
    pub(super) fn entry(&self, j: usize, k: usize) -> (f64, f64) {
        let (Some((base, _)), Some((other, _))) = (self.scales[j].range, self.scales[k].range) else {
            return (0.0, 0.0);
        };
        let at = (triangle(j.max(k)) + j.min(k)) * self.width;
        wide::rounded(&self.words[at..at + self.width], base + other)
    }

    /// The first column that is too small for what was rounded away of it.
    pub(super) fn lost(&self) -> Option<usize> {
        self.scales.iter().position(|s| s.rounded && s.range.is_none_or(|(_, top)| top < GOOD))
    }
}

/// Words of an integer to begin with: enough for entries of similar size and 2⁴⁰ rows.
pub(super) const WIDTH: usize = 4;

/// Adds the product of two numbers to the integer in units of 2^base.
#[inline]
fn add_parts(words: &mut [u64], a: (i64, i32), b: (i64, i32), base: i32) {
    let product = i128::from(a.0) * i128::from(b.0);
    if product != 0 {
        wide::add_shifted(words, product, (a.1 + b.1 - base) as usize);
    }
}

/// Adds row j of the products of slices; `stride` is that from the product of one factor to the next.
fn add_row<const SLICES: usize>(
    row: &mut [u64],
    width: usize,
    products: &[f64],
    stride: usize,
    shift: usize,
    shifts: &[Option<usize>],
) {
    for (k, (entry, other)) in row.chunks_exact_mut(width).zip(shifts).enumerate() {
        let Some(other) = other else { continue };
        // sums of products of slices p and q by p + q, highest first
        let mut bins = [0_i64; 12];
        let product = |factor: usize| products[factor * stride + k] as i64;
        let mut pair = SLICES;
        for p in 0..SLICES {
            bins[2 * p] += product(p);
            for q in p + 1..SLICES {
                bins[p + q] += product(pair) - product(p) - product(q);
                pair += 1;
            }
        }
        // four bins of 22 bits and their carries fit 128 bits
        let last = 2 * SLICES - 1;
        for (group, end) in (0..last).rev().step_by(4).enumerate() {
            let bins = &bins[(end + 1).saturating_sub(4)..=end];
            let sum = bins.iter().fold(0_i128, |sum, bin| (sum << BITS) + i128::from(*bin));
            if sum != 0 {
                wide::add_shifted(entry, sum, shift + other + 4 * BITS as usize * group);
            }
        }
    }
}
