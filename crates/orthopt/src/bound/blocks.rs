//! Bound B: disjoint blocks of variables, by a dynamic programme over all subsets (docs/mathematics.md,
//! section 14).

use std::sync::atomic::{AtomicBool, Ordering};

use super::types::Watch;
use crate::linalg::RowMat;
use crate::linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use crate::linalg::parallel::for_each_chunk;

/// The most variables: 3ⁿ pairs of a set and its subset.
pub(super) const MOST: usize = 18;
/// Sets of one task.
const TASK: usize = 64;
/// Added to a computed sum of eigenvalues of ½C_SS, relative to ‖½C_SS‖_F: far above what
/// tridiagonalisation and QR iterations lose on matrices up to 18 × 18.
const ROUNDING: f64 = 1e-11;

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

    /// value(S, b), rounded up.
    pub fn value(&self, set: u32, b: usize, lambda: f64) -> f64 {
        let sum = self.sums[set as usize * self.r + b - 1];
        sum - lambda * (set.count_ones() as usize + 2 * (b - 1)) as f64
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
        // the clock is looked at once a task: a set takes microseconds
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
    let rounding = ROUNDING * block.norm();
    let values = if cover == Cover::Nonnegative {
        match symmetric_eigenpairs(&block) {
            Some((values, vectors)) if mixed_signs(&values, &vectors, rounding) => return out,
            other => other.map(|pairs| pairs.0),
        }
    } else {
        symmetric_eigenvalues(&block)
    };
    let Some(values) = values else { return vec![f64::INFINITY; r] };
    let mut sum = 0.0;
    for b in 0..r.min(s) {
        sum += values[b];
        out[b] = sum + (b + 1) as f64 * rounding;
    }
    out
}

/// Whether the leading eigenvector certainly has entries of both signs. Then the largest xᵀC_SSx over
/// x ≥ 0 is at a smaller support: a positive x that is no leading eigenvector can be improved.
fn mixed_signs(values: &[f64], vectors: &RowMat, rounding: f64) -> bool {
    let distance = values[0] - values.get(1).copied().unwrap_or(NONE);
    let error = 1e3 * rounding / distance; // of the vector: residual over gap
    if error.is_nan() || error > 1e-3 {
        return false;
    }
    let (mut least, mut most) = (0.0f64, 0.0f64);
    (0..vectors.nrows()).for_each(|i| {
        least = least.min(vectors.get(i, 0));
        most = most.max(vectors.get(i, 0));
    });
    least < -error - 1e-9 && most > error + 1e-9
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
    let (m, r, full) = (subsets.m, subsets.r, (1usize << subsets.m) - 1);
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
                    out[mask] = out[mask].max(out[mask & !lowest]); // a row that nobody uses
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
    let most = table[r][full];
    let rounding = (4 * r * m) as f64 * f64::EPSILON * (most.abs() + lambda * (3 * m) as f64);
    let sets =
        if cover == Cover::Meeting { Vec::new() } else { trace_back(subsets, lambda, forced, &single) };
    Some(Blocks { most: most + rounding, sets })
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
        crate::linalg::products::gram(&a)
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
