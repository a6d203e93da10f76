//! Columns with known supports, some of which meet: their orthogonality, by the dual of
//! Σ xⱼxⱼᵀ ⪯ I (docs/mathematics.md, section 14).

use super::certified::{OUTWARD, gamma, sum_of_largest};
use super::certified::{spectral, trace_of_semidefinite};
use super::covariance::principal;
use super::fantope::clipping;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;

/// Iterations, at most.
const ITERATIONS: usize = 60;

/// A bound of ½ Σ xⱼᵀCxⱼ over orthonormal xⱼ with support in Sⱼ, `sets`: for every W ⪰ 0,
/// tr W + Σ λ₁((½C − W) on Sⱼ). W = 0 forgets orthogonality, the excess of ½C over its r-th eigenvalue is the
/// bound of Ky Fan; ADMM continues from there until the bound is at the cutoff.
///
/// The bound, and its W.
pub(super) fn fixed_supports(c: &RowMat, sets: &[Vec<usize>], cutoff: f64) -> Option<(f64, RowMat)> {
    let blocks: Vec<RowMat> = sets.iter().map(|set| principal(c, set)).collect();
    let zero = RowMat::zeros(c.nrows(), c.nrows());
    let mut best = (proved(&blocks, &zero, 0.0, sets)?, zero);
    let disjoint = (0..sets.len()).all(|j| sets[..j].iter().all(|s| s.iter().all(|i| !sets[j].contains(i))));
    if disjoint || best.0 <= cutoff {
        return Some(best);
    }
    let mut split = Splitting::new(c, sets)?;
    for _ in 0..ITERATIONS {
        let (w, trace) = (&split.w, split.trace);
        if split.estimate(&blocks)? < best.0 {
            let found = proved(&blocks, w, trace, sets)?;
            if found < best.0 {
                best = (found, w.clone());
            }
        }
        if best.0 <= cutoff {
            break;
        }
        split.step(&blocks)?;
    }
    Some(best)
}

/// tr W + Σ λ₁, rounded up, for a W from [`spectral`] with this trace. The terms cancel where λ₁ < 0, so the rounding
/// of their sum is measured by their absolute values.
fn proved(blocks: &[RowMat], w: &RowMat, trace: f64, sets: &[Vec<usize>]) -> Option<f64> {
    let trace = trace_of_semidefinite(w, trace);
    let (mut sum, mut size) = (trace, trace.abs());
    for (block, set) in blocks.iter().zip(sets) {
        let value = sum_of_largest(block, &principal(w, set), 1, f64::NEG_INFINITY)?;
        (sum, size) = (sum + value, size + value.abs());
    }
    Some(sum + OUTWARD * gamma(sets.len() + 2) * size)
}

/// max Σ ⟨½C, Yⱼ⟩ over Yⱼ ⪰ 0 on Sⱼ with trace 1 and Σ Yⱼ + S = I, S ⪰ 0; W is the multiplier.
struct Splitting<'a> {
    sets: &'a [Vec<usize>],
    y: Vec<RowMat>,
    s: RowMat,
    w: RowMat,
    trace: f64,
    rho: f64,
}

impl<'a> Splitting<'a> {
    fn new(c: &RowMat, sets: &'a [Vec<usize>]) -> Option<Self> {
        let m = c.nrows();
        let (values, vectors) = symmetric_eigenpairs(c)?;
        let level = values[(sets.len() - 1).min(m - 1)];
        let excess = |v: f64| 0.5 * (v - level).max(0.0);
        let weights: Vec<f64> = values.iter().map(|v| excess(*v)).collect();
        let (w, trace) = spectral(&vectors, &weights);
        let y = sets.iter().map(|set| RowMat::zeros(set.len(), set.len())).collect();
        let rho = 0.5 * values[0].abs().max(f64::MIN_POSITIVE);
        Some(Self { sets, y, s: RowMat::from_fn(m, m, |i, j| f64::from(u8::from(i == j))), w, trace, rho })
    }

    /// The bound of W, not proved.
    fn estimate(&self, blocks: &[RowMat]) -> Option<f64> {
        let mut sum: f64 = (0..self.w.nrows()).map(|i| self.w.get(i, i)).sum();
        for (block, set) in blocks.iter().zip(self.sets) {
            let m = RowMat::from_fn(set.len(), set.len(), |i, j| {
                0.5 * block.get(i, j) - self.w.get(set[i], set[j])
            });
            sum += symmetric_eigenpairs(&m)?.0[0];
        }
        Some(sum)
    }

    /// I − S − Σ Yₖ over k ≠ j.
    fn rest(&self, j: usize) -> RowMat {
        let m = self.s.nrows();
        let mut rest = RowMat::from_fn(m, m, |a, b| f64::from(u8::from(a == b)) - self.s.get(a, b));
        for (k, (y, set)) in self.y.iter().zip(self.sets).enumerate() {
            if k != j {
                for (a, i) in set.iter().enumerate() {
                    for (b, l) in set.iter().enumerate() {
                        rest.set(*i, *l, rest.get(*i, *l) - y.get(a, b));
                    }
                }
            }
        }
        rest
    }

    fn step(&mut self, blocks: &[RowMat]) -> Option<()> {
        let rho = self.rho;
        for (j, block) in blocks.iter().enumerate() {
            let (rest, set) = (self.rest(j), &self.sets[j]);
            let g = RowMat::from_fn(set.len(), set.len(), |a, b| {
                rest.get(set[a], set[b]) + (0.5 * block.get(a, b) - self.w.get(set[a], set[b])) / rho
            });
            let (values, vectors) = symmetric_eigenpairs(&g)?;
            let shift = clipping(&values, 1);
            let weights: Vec<f64> = values.iter().map(|v| (v - shift).clamp(0.0, 1.0)).collect();
            self.y[j] = spectral(&vectors, &weights).0;
        }
        // S ← positive part of G, W ← ρ times its negative part
        let m = self.s.nrows();
        self.s = RowMat::zeros(m, m);
        let free = self.rest(usize::MAX);
        self.s = RowMat::zeros(m, m);
        let g = RowMat::from_fn(m, m, |a, b| free.get(a, b) - self.w.get(a, b) / rho);
        let (values, vectors) = symmetric_eigenpairs(&g)?;
        let positive: Vec<f64> = values.iter().map(|v| v.max(0.0)).collect();
        let negative: Vec<f64> = values.iter().map(|v| rho * (-v).max(0.0)).collect();
        self.s = spectral(&vectors, &positive).0;
        (self.w, self.trace) = spectral(&vectors, &negative);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::constraint::stiefel::orthonormalise;

    /// Orthonormal columns on supports that share rows 2 and 3, on a grid of angles.
    #[test]
    fn holds_for_columns_that_meet_and_is_tighter_than_both_parts() {
        let a = RowMat::from_fn(9, 6, |i, j| ((i * i + 3 * j * i + 7 * j) as f64 * 0.61).sin());
        let c = orthopt_linalg::products::gram(&a);
        let sets = [vec![0, 1, 2, 3], vec![2, 3, 4, 5]];
        let bound = fixed_supports(&c, &sets, f64::NEG_INFINITY).unwrap().0;
        let apart: f64 =
            sets.iter().map(|s| 0.5 * symmetric_eigenpairs(&principal(&c, s)).unwrap().0[0]).sum();
        let together: f64 = symmetric_eigenpairs(&c).unwrap().0[..2].iter().map(|v| 0.5 * v).sum();
        assert!(bound < apart && bound < together, "{bound} {apart} {together}");
        let mut best = 0.0f64;
        for k in 0..4000 {
            let g = |i: usize, j: usize| (((k * 37 + i * 11 + j * 5) % 1009) as f64 * 1.7).sin();
            // the second column is orthogonal to the first on the rows that they share
            let x = orthonormalise(&RowMat::from_fn(6, 1, |i, _| if i < 4 { g(i, 0) } else { 0.0 }));
            let mut y: Vec<f64> = (0..6).map(|i| if i > 1 { g(i, 1) } else { 0.0 }).collect();
            let (p, q) = (x.get(2, 0), x.get(3, 0));
            let dot = (p * y[2] + q * y[3]) / (p * p + q * q).max(1e-300);
            (y[2], y[3]) = (y[2] - dot * p, y[3] - dot * q);
            let length = y.iter().map(|v| v * v).sum::<f64>().sqrt();
            let form = |v: &dyn Fn(usize) -> f64| -> f64 {
                (0..6)
                    .flat_map(|i| (0..6).map(move |j| (i, j)))
                    .map(|(i, j)| 0.5 * v(i) * c.get(i, j) * v(j))
                    .sum()
            };
            best = best.max(form(&|i| x.get(i, 0)) + form(&|i| y[i] / length));
        }
        assert!(best <= bound && best > 0.7 * bound, "{best} {bound}");
    }
}
