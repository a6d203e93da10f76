//! Sums of products of blocks, each block in f64 and the blocks together in pairs of f64, of entries that are kept as
//! distances from a number near their mean.

use rayon::prelude::*;

use super::block::{Block, panels, shares, triangle};
use super::frame::{Frame, Range};
use super::pair::{Pair, less, plus, scaled, times, two_sum};
use super::rows::{Rows, SparseRows};

/// Roundings of an entry of C, in units of 2⁻⁵³ of Σ|d||d'| of the distances d: 512 for the products of a block, two
/// for each d and its root of a weight, and some for what is added in pairs. Three times that with the means taken
/// off, as the sums of the d have the same error.
const ROUNDINGS: f64 = 3.0 * 520.0;

/// hi + lo of every entry of the lower triangle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compensated {
    /// Of each column, that of the column of ones first.
    pub(super) frames: Vec<Frame>,
    /// The sum of squares of what was added of each column, in its frame at that time: what rounding errors are
    /// relative to.
    pub(super) added: Vec<f64>,
    pub(super) sums: Vec<[f64; 2]>,
}

impl Compensated {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            frames: vec![Frame::default(); columns],
            added: vec![0.0; columns],
            sums: vec![[0.0; 2]; triangle(columns)],
        }
    }

    pub(super) fn widen(&mut self, columns: usize) {
        self.frames.resize(columns, Frame::default());
        self.added.resize(columns, 0.0);
        self.sums.resize(triangle(columns), [0.0; 2]);
    }

    /// Chooses frames that suit these rows and all before. Where the mean of a column is far from its shift, in
    /// standard deviations, the sums move to another one.
    pub(super) fn make_room(&mut self, rows: &Rows<'_>, roots: &[f64], ranges: &[Range]) {
        let (before, coming) = (self.entry(0, 0).0, roots.iter().map(|root| root * root).sum::<f64>());
        let moments = match coming > before {
            true => rows.moments(roots, ranges, coming), // those of the heavier part
            false => (1..self.frames.len()).map(|j| self.moments(j)).collect(),
        };
        let frame = |(j, (mean, spread)): (usize, (f64, f64))| {
            let frame = self.frames[j + 1];
            let shift = if before + coming > 0.0 { frame.shift_for(mean, spread) } else { frame.shift };
            let way = if before > 0.0 { (frame.shift - shift).abs() } else { 0.0 };
            Frame { shift, ..frame }.with_room(shift.abs()).with_room(way).with_room_for(ranges[j])
        };
        let frames: Vec<Frame> = moments.into_iter().enumerate().map(frame).collect();
        self.move_to(&[&[Frame::default()][..], &frames].concat());
    }

    /// Mean and standard deviation of a column so far.
    fn moments(&self, j: usize) -> (f64, f64) {
        let (frame, weight) = (self.frames[j], self.entry(0, 0).0);
        let sum = self.entry(j, 0);
        let left = less(self.entry(j, j), times(sum, sum), weight).max(0.0);
        (frame.shift + sum.0 / weight / frame.factor(), (left / weight).sqrt() / frame.factor())
    }

    fn move_to(&mut self, frames: &[Frame]) {
        if self.frames == frames {
            return;
        }
        let way = Move::new(self, frames);
        let columns = self.frames.len();
        shares(&mut self.sums, columns, 1).par_iter_mut().for_each(|panel| {
            for j in panel.from..panel.to {
                for (k, sum) in panel.row(j, 1).iter_mut().enumerate() {
                    let (hi, lo) = way.entry(j, k, *sum);
                    *sum = [hi, lo];
                }
            }
        });
        self.added.iter_mut().zip(&way.factors).for_each(|(added, factor)| *added *= factor * factor);
        self.frames = frames.to_vec();
    }

    pub(super) fn add_block(&mut self, block: &Block) {
        let (factors, columns) = (block.factors(), self.frames.len());
        panels(&mut self.sums, columns, 1).par_iter_mut().for_each_init(Vec::new, |products, panel| {
            let (from, to) = (panel.from, panel.to);
            factors.products(from, to, products);
            for j in from..to {
                let products = &products[(j - from) * to..];
                panel.row(j, 1).iter_mut().zip(products).for_each(|(sum, v)| add(sum, *v));
            }
        });
        for (added, column) in self.added.iter_mut().zip(block.values.chunks_exact(block.rows)) {
            *added += column.iter().map(|v| v * v).sum::<f64>();
        }
    }

    /// Rows in the frames of their columns, each product rounded once.
    pub(super) fn add_sparse(&mut self, rows: &SparseRows<'_>, roots: &[f64]) {
        if self.frames.iter().any(|frame| !frame.is_plain()) {
            let (starts, indices, values) = rows.framed(&self.frames[1..]);
            return self.add_framed(&SparseRows::trusted(rows.columns(), &starts, &indices, &values), roots);
        }
        self.add_framed(rows, roots);
    }

    fn add_framed(&mut self, rows: &SparseRows<'_>, roots: &[f64]) {
        let scaled: Vec<f64> =
            (0..rows.len()).flat_map(|i| rows.row(i).1.iter().map(move |v| v * roots[i])).collect();
        let ones = |sums: &mut [[f64; 2]]| roots.iter().for_each(|root| add(&mut sums[0], root * root));
        rows.fill_triangle(&mut self.sums, 1, ones, |sums, i, before| {
            let (first, sums) = sums.split_at_mut(1);
            let (indices, scaled) = (&rows.row(i).0[..=before], &scaled[rows.range(i)]);
            add(&mut first[0], scaled[before] * roots[i]);
            indices.iter().zip(scaled).for_each(|(k, v)| add(&mut sums[*k], scaled[before] * v));
        });
        Rows::Sparse(*rows).visit(|i, j, v| self.added[j + 1] += (roots[i] * v).powi(2));
    }

    /// In the shifts of whichever has more weight.
    pub(super) fn merge(&mut self, other: &Self) {
        let heavier = if other.entry(0, 0).0 > self.entry(0, 0).0 { other } else { &*self };
        let frame = |j: usize| {
            let (mine, its) = (self.frames[j], other.frames[j]);
            let shift = heavier.frames[j].shift;
            let way = (mine.shift - shift).abs().max((its.shift - shift).abs());
            Frame { shift, unit: mine.unit.max(its.unit) }.with_room(way)
        };
        let frames: Vec<Frame> = (0..self.frames.len()).map(frame).collect();
        self.move_to(&frames);
        let way = (other.frames != frames).then(|| Move::new(other, &frames));
        let columns = self.frames.len();
        shares(&mut self.sums, columns, 1).par_iter_mut().for_each(|panel| {
            for j in panel.from..panel.to {
                for (k, sum) in panel.row(j, 1).iter_mut().enumerate() {
                    let its = other.sums[triangle(j) + k];
                    let (hi, lo) = way.as_ref().map_or(its.into(), |way| way.entry(j, k, its));
                    add(sum, hi);
                    add(sum, lo);
                }
            }
        });
        for (j, added) in self.added.iter_mut().enumerate() {
            *added += other.added[j] * way.as_ref().map_or(1.0, |way| way.factors[j].powi(2));
        }
    }

    /// The entry, in the frames of its columns.
    pub(super) fn entry(&self, j: usize, k: usize) -> Pair {
        let [hi, lo] = self.sums[triangle(j.max(k)) + j.min(k)];
        two_sum(hi, lo)
    }

    /// Bound of the difference between the square of the entry, with the means subtracted, and that of exact sums, for
    /// j = k. For other entries it is the root of the product of two.
    pub(super) fn rounding(&self, j: usize) -> f64 {
        ROUNDINGS * f64::EPSILON / 2.0 * self.added[j]
    }
}

/// From sums in some frames to sums of the same rows in others: with a − s' = (a − s) + t, and S the sum of the a − s,
/// Σ(a − s')(b − u') = Σ(a − s)(b − u) + t·S(b) + v·S(a) + m·t·v (Chan, Golub and LeVeque 1983), in pairs of f64.
struct Move {
    steps: Vec<Pair>,
    factors: Vec<f64>,
    sums: Vec<Pair>,
    weight: Pair,
}

impl Move {
    fn new(from: &Compensated, to: &[Frame]) -> Self {
        let all = || from.frames.iter().zip(to);
        let factor = |(from, to): (&Frame, &Frame)| match from.unit {
            Some(unit) if Some(unit) != to.unit => from_exponent(unit - to.exponent()),
            _ => 1.0,
        };
        let factors: Vec<f64> = all().map(factor).collect();
        let step = |(from, to): (&Frame, &Frame)| scaled(two_sum(from.shift, -to.shift), to.factor());
        let sums = (0..to.len()).map(|j| scaled(from.entry(j, 0), factors[j])).collect();
        Self { steps: all().map(step).collect(), factors, sums, weight: from.entry(0, 0) }
    }

    fn entry(&self, j: usize, k: usize, sum: [f64; 2]) -> Pair {
        let entry = scaled(scaled(sum.into(), self.factors[j]), self.factors[k]);
        let (t, v) = (self.steps[j], self.steps[k]);
        if t.0 == 0.0 && v.0 == 0.0 {
            return entry;
        }
        let mixed = plus(times(t, self.sums[k]), times(v, self.sums[j]));
        plus(plus(two_sum(entry.0, entry.1), mixed), times(self.weight, times(t, v)))
    }
}

/// 2^exponent, 0 below normal numbers.
fn from_exponent(exponent: i32) -> f64 {
    if exponent < -1022 { 0.0 } else { super::wide::power_of_two(exponent.min(1023)) }
}

/// Adds with the rounding error kept.
#[inline]
fn add(sum: &mut [f64; 2], v: f64) {
    let (hi, error) = two_sum(sum[0], v);
    *sum = [hi, sum[1] + error];
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows in compressed form: starts, columns and values.
    type Csr = (Vec<usize>, Vec<usize>, Vec<f64>);

    /// Sparse rows whose columns have very different numbers of nonzeros, as words and genes have.
    fn rows(columns: usize) -> impl Strategy<Value = Csr> {
        let entry = (0.0..1.0_f64, -3.0..3.0_f64, -20..20_i32);
        let row = prop::collection::vec(entry, columns);
        prop::collection::vec(row, 1..30).prop_map(move |rows| {
            let mut csr: Csr = (vec![0], vec![], vec![]);
            for row in rows {
                for (j, (chance, v, e)) in row.into_iter().enumerate() {
                    if chance < 2.0 / (2.0 + j as f64) {
                        csr.1.push(j);
                        csr.2.push(v * f64::from(e).exp2());
                    }
                }
                csr.0.push(csr.1.len());
            }
            csr
        })
    }

    /// The slow twin of [`Compensated::add_framed`]: pair by pair of entries, row after row.
    fn slowly(sums: &mut Compensated, rows: &SparseRows<'_>, roots: &[f64]) {
        for (i, root) in roots.iter().enumerate() {
            let (indices, values) = rows.row(i);
            add(&mut sums.sums[0], root * root);
            for (t, j) in indices.iter().enumerate() {
                let scaled = values[t] * root;
                add(&mut sums.sums[triangle(j + 1)], scaled * root);
                for (k, v) in indices[..=t].iter().zip(values) {
                    add(&mut sums.sums[triangle(j + 1) + k + 1], scaled * (v * root));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn sparse_rows_are_added_in_their_order(
            (n, chunks) in prop_oneof![Just(90), Just(400)].prop_flat_map(|n| {
                (Just(n), prop::collection::vec(rows(n), 1..4))
            }),
            weights in prop::collection::vec(0.0..3.0_f64, 30),
            threads in 1_usize..4,
        ) {
            // 400 columns are more than stay in the cache
            let (mut fast, mut slow) = (Compensated::new(n + 1), Compensated::new(n + 1));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (starts, indices, values) in &chunks {
                let rows = SparseRows::new(n, starts, indices, values).unwrap();
                pool.install(|| fast.add_framed(&rows, &weights[..rows.len()]));
                slowly(&mut slow, &rows, &weights[..rows.len()]);
            }
            prop_assert_eq!(fast.sums, slow.sums);
        }
    }
}
