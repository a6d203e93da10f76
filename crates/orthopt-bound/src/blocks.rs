//! Bound B: disjoint blocks of variables, by a dynamic programme over all subsets (docs/mathematics.md,
//! section 14).

use std::sync::atomic::{AtomicBool, Ordering};

use super::certified::{OUTWARD, eigenvalue_error, gamma};
use super::types::Watch;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::parallel::for_each_chunk;

/// The most variables: 3ⁿ pairs of a set and its subset.
pub(super) const MOST: usize = 18;
/// Sets of one task.
const TASK: usize = 64;

/// Work of the programme for r columns of m variables, roughly: a decomposition for each set, and the pairs of a set and its subset.
pub fn work(m: usize, r: usize) -> u64 {
    if m > MOST {
        return u64::MAX;
    }
    40_000 * (1 << m) + 10 * (r * r) as u64 * 3u64.pow(m as u32)
}

/// Which X the programme covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// λ‖X‖₀, columns with pairwise disjoint supports.
    Disjoint,
    /// λ‖X‖₀, at least two columns whose supports meet.
    Meeting,
    /// X ≥ 0, whose supports are disjoint; λ = 0.
    Nonnegative,
}

/// The value of the programme, an upper bound, and its blocks (a set of variables each).
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    pub most: f64,
    pub sets: Vec<u32>,
}

const NONE: f64 = f64::NEG_INFINITY;

/// value(S, b), what b columns on the rows S give: from the r leading eigenvalues of every C_SS.
#[derive(Debug)]
pub(super) struct Subsets {
    m: usize,
    r: usize,
    sums: Vec<f64>, // r of them for every set: sums of 1, 2, ..., r eigenvalues of ½C_SS, rounded up
}

impl Subsets {
    /// All 2ᵐ submatrices of `c` (m × m); `None` if the watch ended it.
    pub fn new(c: &RowMat, r: usize, cover: Cover, watch: Option<&Watch<'_>>) -> Option<Self> {
        let m = c.nrows();
        let mut all = vec![0.0; r << m];
        let complete =
            fill(&mut all, r, watch, &|mask, out| out.copy_from_slice(&sums(c, mask as u32, r, cover)));
        complete.then_some(Self { m, r, sums: all })
    }

    /// value(S, b), rounded to nearest: [`best_blocks`] makes good what that loses.
    fn value(&self, set: u32, b: usize, lambda: f64) -> f64 {
        let sum = self.sums[set as usize * self.r + b - 1];
        sum - lambda * (set.count_ones() as usize + 2 * (b - 1)) as f64
    }

    /// Rounding error of a sum of up to r values: a value takes two operations and r − 1 more add them up, and no
    /// value exceeds the largest sum of eigenvalues and the largest price together.
    fn rounding(&self, lambda: f64) -> f64 {
        let sum = self.sums.iter().filter(|v| v.is_finite()).fold(0.0f64, |most, v| most.max(v.abs()));
        let price = lambda * (self.m + 2 * self.r) as f64;
        OUTWARD * gamma(self.r + 2) * self.r as f64 * (sum + price)
    }
}

/// Fills a table with `width` numbers for every set of variables; `false` where the watch ended it before all of
/// them were there.
fn fill(
    table: &mut [f64],
    width: usize,
    watch: Option<&Watch<'_>>,
    of: &(dyn Fn(usize, &mut [f64]) + Sync),
) -> bool {
    let complete = AtomicBool::new(true);
    for_each_chunk(table, TASK * width, &|_, task, some| {
        // the clock is checked once a task: a set takes microseconds
        if watch.is_some_and(Watch::is_over) {
            complete.store(false, Ordering::Relaxed);
        }
        if complete.load(Ordering::Relaxed) {
            some.chunks_mut(width).zip(TASK * task..).for_each(|(out, mask)| of(mask, out));
        }
    });
    complete.into_inner()
}

fn sums(c: &RowMat, mask: u32, r: usize, cover: Cover) -> Vec<f64> {
    let rows: Vec<usize> = (0..c.nrows()).filter(|i| mask >> i & 1 == 1).collect();
    let s = rows.len();
    let mut out = vec![NONE; r];
    if s == 0 {
        return out;
    }
    let block = RowMat::from_fn(s, s, |i, j| 0.5 * c.get(rows[i], rows[j]));
    let Some((values, vectors)) = symmetric_eigenpairs(&block) else { return vec![f64::INFINITY; r] };
    let error = eigenvalue_error(&block, &values, &vectors);
    if cover == Cover::Nonnegative && mixed_signs(&values, &vectors, error) {
        return out;
    }
    let (mut sum, mut size) = (0.0, 0.0);
    for b in 0..r.min(s) {
        (sum, size) = (sum + values[b], size + values[b].abs());
        out[b] = sum + OUTWARD * ((b + 1) as f64 * error + gamma(b + 2) * size);
    }
    out
}

/// True if every leading eigenvector certainly has entries of both signs. Then the largest xᵀC_SSx over
/// x ≥ 0 is at a smaller support: a positive x that is no leading eigenvector can be improved.
///
/// With Q and D of [`eigenvalue_error`], ‖M − QDQᵀ‖ ≤ `error`: a leading eigenvector x of M has sin ∠(x, q₁) ≤ 2·error/gap,
/// the gap that of D (Davis and Kahan), so ±x is within 2√2·error/gap of q₁. The first column of V is within
/// ‖E‖ ≤ error/max |d| ≤ 2·error/gap of q₁. Both together are less than 5·error/gap.
fn mixed_signs(values: &[f64], vectors: &RowMat, error: f64) -> bool {
    let Some(next) = values.get(1) else { return false };
    let distance = 5.0 * error / (values[0] - next); // no number, or infinite, where the gap is 0
    let first = |i: usize| vectors.get(i, 0);
    let rows = 0..vectors.nrows();
    rows.clone().any(|i| first(i) < -distance) && rows.clone().any(|i| first(i) > distance)
}

/// max Σ value(S_t, b_t) over disjoint S_t with Σ b_t = r that cover the rows `forced`; `None` if the
/// watch ended it. Cost 3ᵐ·r²/2 operations.
pub(super) fn best_blocks(
    subsets: &Subsets,
    lambda: f64,
    forced: u32,
    cover: Cover,
    watch: Option<&Watch<'_>>,
) -> Option<Blocks> {
    let (r, full) = (subsets.r, (1usize << subsets.m) - 1);
    let most_columns = if cover == Cover::Meeting { r } else { 1 };
    // best[k][mask]: k columns on some of the rows of the mask; `single` with all b_t = 1
    let nothing = |mask: usize| if mask as u32 & forced == 0 { 0.0 } else { NONE };
    let base: Vec<f64> = (0..=full).map(nothing).collect();
    let mut single = vec![base.clone()];
    let mut multi = vec![vec![NONE; full + 1]];
    for k in 1..=r {
        let level = |table: &[Vec<f64>], meeting: bool| -> Option<Vec<f64>> {
            let one = |mask: usize| {
                with_lowest(subsets, lambda, mask, k, |rest, b| {
                    if b > most_columns || (b > 1 && !meeting) {
                        NONE
                    } else if meeting && b > 1 {
                        multi[k - b][rest].max(single[k - b][rest])
                    } else {
                        table[k - b][rest]
                    }
                })
                .0
            };
            let mut out = vec![0.0; full + 1];
            if !fill(&mut out, 1, watch, &|mask, out| out[0] = one(mask)) {
                return None;
            }
            for mask in 1..=full {
                let lowest = mask & mask.wrapping_neg();
                if forced as usize & lowest == 0 {
                    out[mask] = out[mask].max(out[mask & !lowest]); // a row that no support uses
                }
            }
            Some(out)
        };
        let next = level(&single, false)?;
        let met = if cover == Cover::Meeting { level(&multi, true)? } else { Vec::new() };
        single.push(next);
        multi.push(met);
    }
    let table = if cover == Cover::Meeting { &multi } else { &single };
    let most = table[r][full] + subsets.rounding(lambda);
    let sets =
        if cover == Cover::Meeting { Vec::new() } else { trace_back(subsets, lambda, forced, &single) };
    Some(Blocks { most, sets })
}

/// The best block that contains the lowest row of the mask, and its rows.
fn with_lowest(
    subsets: &Subsets,
    lambda: f64,
    mask: usize,
    k: usize,
    rest: impl Fn(usize, usize) -> f64,
) -> (f64, usize) {
    let lowest = mask & mask.wrapping_neg();
    let others = mask & !lowest;
    let mut best = (NONE, 0);
    if mask == 0 {
        return best;
    }
    let mut part = others;
    loop {
        let set = part | lowest;
        for b in 1..=k {
            let left = rest(mask & !set, b);
            if left > NONE {
                let value = subsets.value(set as u32, b, lambda) + left;
                if value > best.0 {
                    best = (value, set);
                }
            }
        }
        if part == 0 {
            return best;
        }
        part = (part - 1) & others;
    }
}

fn trace_back(subsets: &Subsets, lambda: f64, forced: u32, single: &[Vec<f64>]) -> Vec<u32> {
    let (mut sets, mut mask) = (Vec::new(), (1usize << subsets.m) - 1);
    let mut k = single.len() - 1;
    while k > 0 && mask != 0 {
        let lowest = mask & mask.wrapping_neg();
        if forced as usize & lowest == 0 && single[k][mask & !lowest] >= single[k][mask] {
            mask &= !lowest;
            continue;
        }
        let (value, set) =
            with_lowest(subsets, lambda, mask, k, |rest, b| if b == 1 { single[k - 1][rest] } else { NONE });
        if value == NONE {
            return Vec::new();
        }
        sets.push(set as u32);
        (mask, k) = (mask & !set, k - 1);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covariance(m: usize) -> RowMat {
        let a = RowMat::from_fn(m + 2, m, |i, j| ((i * i + 3 * j * i + 7 * j) as f64 * 0.61).sin());
        orthopt_linalg::products::gram(&a)
    }

    /// Every assignment of rows to one of r blocks or none, one by one.
    fn slow(subsets: &Subsets, lambda: f64, forced: u32) -> f64 {
        let (m, r) = (subsets.m, subsets.r);
        let mut best = NONE;
        for code in 0..(r + 1).pow(m as u32) {
            let (mut sets, mut left) = (vec![0u32; r + 1], code);
            (0..m).for_each(|i| {
                sets[left % (r + 1)] |= 1 << i;
                left /= r + 1;
            });
            if sets[0] & forced == 0 && sets[1..].iter().all(|s| *s != 0) {
                best = best.max(sets[1..].iter().map(|s| subsets.value(*s, 1, lambda)).sum());
            }
        }
        best
    }

    #[test]
    fn finds_the_best_disjoint_blocks() {
        let c = covariance(6);
        for (r, lambda, forced) in [(1, 0.1, 0), (2, 0.3, 0), (3, 0.05, 0b10010), (2, 1.0, 0b101)] {
            let subsets = Subsets::new(&c, r, Cover::Disjoint, None).unwrap();
            let found = best_blocks(&subsets, lambda, forced, Cover::Disjoint, None).unwrap();
            let known = slow(&subsets, lambda, forced);
            assert!((found.most - known).abs() <= 1e-10, "{} {known}", found.most);
            let value: f64 = found.sets.iter().map(|s| subsets.value(*s, 1, lambda)).sum();
            assert!(found.sets.len() == r && (value - known).abs() <= 1e-10);
            assert!(found.sets.iter().fold(0, |all, s| all | s) & forced == forced);
        }
    }

    /// The matrix of a path has the eigenvalues 2cos(kπ/(s + 1)): its sums are above them, by rounding only.
    #[test]
    fn sums_are_proved_and_close() {
        let m = 12;
        let c = RowMat::from_fn(m, m, |i, j| f64::from(u8::from(i.abs_diff(j) == 1)) * 2.0);
        for s in 2..=m {
            let found = sums(&c, (1u32 << s) - 1, 4, Cover::Disjoint);
            let mut sum = 0.0;
            for (b, found) in found.iter().enumerate().take(s) {
                sum += 2.0 * ((b + 1) as f64 * std::f64::consts::PI / (s + 1) as f64).cos();
                let above = found - sum;
                assert!(above > -1e-15 && above <= 1e-12 * (b + 1) as f64, "{s} {b}: {above:e}");
            }
        }
    }

    /// A set is left out for X ≥ 0 only where its leading eigenvector has two signs.
    #[test]
    fn signs_of_close_eigenvalues_are_not_known() {
        let mixed = |c: [[f64; 2]; 2]| {
            let m = RowMat::from_fn(2, 2, |i, j| c[i][j]);
            let (values, vectors) = symmetric_eigenpairs(&m).unwrap();
            mixed_signs(&values, &vectors, eigenvalue_error(&m, &values, &vectors))
        };
        assert!(mixed([[1.0, -0.5], [-0.5, 1.0]]) && !mixed([[1.0, 0.5], [0.5, 1.0]]));
        assert!(!mixed([[1.0, 0.0], [0.0, 1.0]]) && !mixed([[0.0; 2]; 2]));
        assert!(!mixed([[1.0, -1e-16], [-1e-16, 1.0]]), "a gap of the size of rounding");
        assert!(!mixed([[1.0, -1e-17], [-1e-17, 0.5]]), "an entry that may be 0");
    }

    #[test]
    fn meeting_blocks_pay_for_every_further_column() {
        let c = covariance(5);
        let subsets = Subsets::new(&c, 3, Cover::Meeting, None).unwrap();
        let found = best_blocks(&subsets, 0.1, 0, Cover::Meeting, None).unwrap().most;
        // one block of three columns, or one of two and one of one
        let mut known = NONE;
        for s in 1..32u32 {
            known = known.max(subsets.value(s, 3, 0.1));
            for t in (1..32u32).filter(|t| t & s == 0) {
                known = known.max(subsets.value(s, 2, 0.1) + subsets.value(t, 1, 0.1));
            }
        }
        assert!((found - known).abs() <= 1e-10, "{found} {known}");
    }
}
