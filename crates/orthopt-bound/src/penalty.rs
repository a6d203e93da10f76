//! Convex substitute of h in the relaxation: the prox of its primal form, and the dual
//! matrices Z that are feasible for it.

use super::certified::{OUTWARD, gamma};
use orthopt_linalg::RowMat;

/// A convex penalty p(Y) with p(XXᵀ) ≤ h(X) for every feasible X, through its dual: all Z with
/// ⟨Z, XXᵀ⟩ ≤ h(X) + constant(Z).
pub(super) trait Penalty {
    /// T ← argmin p(T) + ρ/2·‖T − G‖², in the place of G.
    fn shrink(&self, g: &mut RowMat, rho: f64);

    /// The lower triangle of Z becomes one of a dual matrix, its diagonal the best there is; what the
    /// bound has to add to the sum of eigenvalues of ½C − Z, rounded up.
    fn allow(&self, z: &mut RowMat) -> f64;
}

/// λ‖X‖₀ with ‖X‖₀ ≤ K: λ‖Y‖₁,₁ with ‖Y‖₁,₁ ≤ K; Z has |Zᵢⱼ| ≤ λ + μ and costs μK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries {
    pub lambda: f64,
    pub budget: Option<f64>, // K
}

impl Penalty for Entries {
    fn shrink(&self, g: &mut RowMat, rho: f64) {
        let mut threshold = self.lambda / rho;
        if let Some(budget) = self.budget {
            threshold = threshold.max(ball_threshold(g.data(), budget));
        }
        for v in g.data_mut() {
            *v -= v.clamp(-threshold, threshold);
        }
    }

    fn allow(&self, z: &mut RowMat) -> f64 {
        let mut level = self.lambda;
        if self.budget.is_some() {
            level = z.data().iter().fold(level, |m, v| m.max(v.abs()));
        }
        for i in 0..z.nrows() {
            z.row_mut(i).iter_mut().for_each(|v| *v = v.clamp(-level, level));
            z.set(i, i, level); // Yᵢᵢ ≥ 0
        }
        self.budget.map_or(0.0, |k| (level - self.lambda).max(0.0) * k * (1.0 + OUTWARD * gamma(4)))
    }
}

/// The threshold τ ≥ 0 with Σ(|g| − τ)₊ = K, 0 if ‖g‖₁ ≤ K: Michelot's iteration, which ends after
/// finitely many passes.
fn ball_threshold(g: &[f64], budget: f64) -> f64 {
    let mut threshold = 0.0f64;
    loop {
        let (mut sum, mut count) = (0.0, 0usize);
        for v in g {
            if v.abs() > threshold {
                sum += v.abs();
                count += 1;
            }
        }
        let next = if count == 0 { threshold } else { ((sum - budget) / count as f64).max(threshold) };
        if next <= threshold * (1.0 + 1e-14) {
            return next;
        }
        threshold = next;
    }
}

/// X ≥ 0: Y ≥ 0 entrywise, Z ≤ 0. Entries (i, j) with `apart` are known to vanish: Z is free there.
#[derive(Clone, Debug, Default)]
pub(super) struct Nonnegative {
    pub block: Option<Vec<Option<usize>>>, // the component that a row is given to, if any
}

impl Nonnegative {
    fn apart(&self, i: usize, j: usize) -> bool {
        let Some(block) = &self.block else { return false };
        matches!((block[i], block[j]), (Some(a), Some(b)) if a != b)
    }
}

impl Penalty for Nonnegative {
    fn shrink(&self, g: &mut RowMat, _rho: f64) {
        g.data_mut().iter_mut().for_each(|v| *v = v.max(0.0));
        if self.block.is_some() {
            for i in 0..g.nrows() {
                (0..g.ncols()).filter(|j| self.apart(i, *j)).for_each(|j| g.set(i, j, 0.0));
            }
        }
    }

    fn allow(&self, z: &mut RowMat) -> f64 {
        for i in 0..z.nrows() {
            for (j, v) in z.row_mut(i).iter_mut().enumerate() {
                if !self.apart(i, j) {
                    *v = v.min(0.0);
                }
            }
            z.set(i, i, 0.0);
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ball_threshold_by_bisection() {
        let g: Vec<f64> = (0..40).map(|k| ((k * k) as f64 * 0.3).sin()).collect();
        let spent = |t: f64| g.iter().map(|v| (v.abs() - t).max(0.0)).sum::<f64>();
        for budget in [0.5, 3.0, 12.0] {
            assert!((spent(ball_threshold(&g, budget)) - budget).abs() <= 1e-12);
        }
        assert_eq!(ball_threshold(&g, 100.0), 0.0);
    }
}
