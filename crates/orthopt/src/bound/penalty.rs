//! Convex substitute of h in the relaxation: the prox of its primal form, and the dual
//! matrices Z that are feasible for it.

use super::certified::{OUTWARD, gamma};
use crate::linalg::RowMat;

/// A convex penalty p(Y) with p(XXᵀ) ≤ h(X) for every feasible X, through its dual: all Z with
/// ⟨Z, XXᵀ⟩ ≤ h(X) + constant(Z).
pub(super) trait Penalty {
    /// T ← argmin p(T) + ρ/2·‖T − G‖², in the place of G.
    fn shrink(&self, g: &mut RowMat, rho: f64);

    /// The lower triangle of Z becomes one of a dual matrix, its diagonal the best there is; what the
    /// bound has to add to the sum of eigenvalues of ½C − Z, rounded up.
    fn allow(&self, z: &mut RowMat) -> f64;

    /// Changes multipliers of the penalty that are not entries of Z, given a T of the iteration.
    fn adapt(&mut self, _t: &RowMat) {}
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

/// λ‖X‖₀ where row i of X has from `low` to `high` nonzeros. For a ≥ 0 and a unit vector u with support
/// S, (Σaᵢ|uᵢ|)² ≤ Σ_S aᵢ²; so Z with |Zᵢⱼ| ≤ aᵢaⱼ costs Σᵢ max (aᵢ² − λ)cᵢ over low ≤ cᵢ ≤ high.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub lambda: f64,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    pub weights: Vec<f64>,         // a
    pub columns: Option<Vec<u32>>, // in which a row may have nonzeros; rows without a common one have Yᵢⱼ = 0
}

impl Rows {
    pub fn new(lambda: f64, low: Vec<f64>, high: Vec<f64>) -> Self {
        let weights = vec![lambda.sqrt(); low.len()];
        Self { lambda, low, high, weights, columns: None }
    }

    /// True if Yᵢⱼ vanishes, so that Zᵢⱼ is free.
    fn apart(&self, i: usize, j: usize) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns[i] & columns[j] == 0)
    }

    /// cᵢ = (|T|a)ᵢ/aᵢ: how many nonzeros the relaxation spends on each row.
    pub fn counts(&self, t: &RowMat) -> Vec<f64> {
        let a = &self.weights;
        (0..t.nrows())
            .map(|i| {
                t.row(i).iter().zip(a).map(|(v, w)| v.abs() * w).sum::<f64>() / a[i].max(f64::MIN_POSITIVE)
            })
            .collect()
    }
}

impl Rows {
    /// Σᵢ max (aᵢ² − λ)cᵢ over low ≤ cᵢ ≤ high, rounded up.
    ///
    /// With S = Σ(aᵢ² + λ)·highᵢ: a term takes three operations, so it errs by at most γ₃(aᵢ² + λ)·highᵢ, also where
    /// rounding decides the sign of aᵢ² − λ. The n terms, whose absolute values come to at most (1 + γ₃)S, are added in
    /// n − 1 operations more: the sum errs by γₙ₊₂S, however much of it cancels. S is itself computed, and the slack is
    /// added: two more operations and the factor `OUTWARD`. The last summand is for numbers that are not normal.
    fn cost(&self) -> f64 {
        let (mut sum, mut size, mut entries) = (0.0, 0.0, 0.0);
        for ((a, low), high) in self.weights.iter().zip(&self.low).zip(&self.high) {
            let price = a * a - self.lambda;
            sum += price * if price > 0.0 { high } else { low };
            size += (a * a + self.lambda) * high;
            entries += high;
        }
        sum + (OUTWARD * gamma(self.weights.len() + 4) * size + f64::MIN_POSITIVE * entries)
    }
}

impl Penalty for Rows {
    fn shrink(&self, g: &mut RowMat, rho: f64) {
        let a = &self.weights;
        for i in 0..g.nrows() {
            let scale = a[i] / rho;
            for (j, (v, w)) in g.row_mut(i).iter_mut().zip(a).enumerate() {
                let threshold = if self.apart(i, j) { f64::INFINITY } else { scale * w };
                *v -= v.clamp(-threshold, threshold);
            }
        }
    }

    fn allow(&self, z: &mut RowMat) -> f64 {
        let a = &self.weights;
        for i in 0..z.nrows() {
            for (j, (v, w)) in z.row_mut(i).iter_mut().zip(a).enumerate() {
                let level = a[i] * w * (1.0 - 4.0 * f64::EPSILON);
                if !self.apart(i, j) {
                    *v = v.clamp(-level, level);
                }
            }
            z.set(i, i, a[i] * a[i] * (1.0 - 4.0 * f64::EPSILON));
        }
        self.cost()
    }

    /// Raises aᵢ where the relaxation spends more than `high` on a row and lowers it where it spends
    /// less than `low`; in between aᵢ² is λ, which the sum is not charged for.
    fn adapt(&mut self, t: &RowMat) {
        let counts = self.counts(t);
        let neutral = self.lambda.sqrt();
        for (i, a) in self.weights.iter_mut().enumerate() {
            let step = |limit: f64| (counts[i] / limit).clamp(0.25, 4.0).sqrt();
            let (low, high) = (self.low[i], self.high[i]);
            *a = if low == high {
                *a * step(high)
            } else if counts[i] > high || *a > neutral {
                (*a * step(high)).max(neutral)
            } else if low > 0.0 && (counts[i] < low || *a < neutral) {
                (*a * step(low)).min(neutral)
            } else {
                neutral
            }
            .clamp(1e-4 * neutral, 1e4 * neutral);
        }
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

    /// A sum of two doubles, exact but for 2⁻¹⁰⁰ of it.
    #[derive(Clone, Copy)]
    struct Twice(f64, f64);

    impl Twice {
        fn add(self, v: f64) -> Self {
            let sum = self.0 + v;
            let part = sum - self.0;
            let low = self.1 + ((self.0 - (sum - part)) + (v - part));
            let high = sum + low;
            Self(high, low - (high - sum))
        }

        fn is_above(self, v: f64) -> bool {
            let rest = self.add(-v);
            rest.0 > 0.0 || (rest.0 == 0.0 && rest.1 > 0.0)
        }
    }

    /// Σ max {(aᵢ² − λ)c} over c ∈ {low, high}, without rounding.
    fn exact_cost(rows: &Rows) -> Twice {
        let mut sum = Twice(0.0, 0.0);
        for ((a, low), high) in rows.weights.iter().zip(&rows.low).zip(&rows.high) {
            let square = a * a;
            let low_part = a.mul_add(*a, -square);
            let price = Twice(square, 0.0).add(-rows.lambda).add(low_part);
            let c = if price.is_above(0.0) { high } else { low };
            sum = sum.add(price.0 * c).add(price.1 * c); // c is 0, 1 or 2
        }
        sum
    }

    /// Each summand is a little less than half a unit in the last place of the sum, so that every addition loses it; or
    /// summands cancel.
    #[test]
    fn the_cost_of_rows_is_rounded_up() {
        for n in [1usize, 2, 44, 46, 100, 400] {
            let half = 0.49 * f64::EPSILON;
            let lost = |i: usize| if i == 0 { 1.0 } else { half.sqrt() };
            let spread = |i: usize| 10f64.powf(2.0 * ((i * i) as f64 * 0.7).sin());
            let near = |i: usize| 0.3f64.sqrt() * (1.0 + (i % 5) as f64 * f64::EPSILON - 2.0 * f64::EPSILON);
            let cancel = |i: usize| if i.is_multiple_of(2) { 0.1 } else { 0.3f64.sqrt() * 1.29 };
            let cases: [(&dyn Fn(usize) -> f64, f64); 4] =
                [(&lost, 1e-40), (&spread, 0.3), (&near, 0.3), (&cancel, 0.3)];
            for (case, (weight, lambda)) in cases.into_iter().enumerate() {
                for low in [0.0, 1.0, 2.0] {
                    let mut rows = Rows::new(lambda, vec![low; n], vec![2.0; n]);
                    rows.weights = (0..n).map(weight).collect();
                    let mut z = RowMat::zeros(n, n);
                    let (found, exact) = (rows.allow(&mut z), exact_cost(&rows));
                    assert!(!exact.is_above(found), "{case} {n} {low}: {found} < {}", exact.0);
                    let size: f64 = rows.weights.iter().map(|a| 2.0 * (a * a + lambda)).sum();
                    assert!(found - exact.0 <= 1e-12 * size, "{case} {n} {low}: {found} {}", exact.0);
                }
            }
        }
    }

    /// ⟨Z, XXᵀ⟩ ≤ λ‖X‖₀ + constant for X whose rows have as many nonzeros as they may.
    #[test]
    fn duals_of_counted_rows_are_below_the_penalty() {
        let (lambda, n) = (0.3, 4);
        let mut rows = Rows::new(lambda, vec![0.0, 1.0, 0.0, 2.0], vec![1.0, 1.0, 2.0, 2.0]);
        rows.weights = vec![0.9, 0.2, 0.6, 0.4];
        let mut z = RowMat::from_fn(n, n, |i, j| 5.0 * ((i + j) as f64).cos());
        let constant = rows.allow(&mut z);
        let h = 0.5f64.sqrt();
        for x in [
            [[0.0, 0.0], [h, 0.0], [0.0, h], [h, h]],
            [[0.6, 0.0], [0.48, 0.0], [0.0, 0.6], [0.64, 0.8]],
            [[0.0, 0.6], [0.6, 0.0], [0.0, 0.0], [0.8, -0.8]],
        ] {
            let (mut inner, mut nonzeros) = (0.0, 0);
            for i in 0..n {
                nonzeros += x[i].iter().filter(|v| **v != 0.0).count();
                for j in 0..n {
                    inner += z.get(i.max(j), i.min(j)) * (x[i][0] * x[j][0] + x[i][1] * x[j][1]);
                }
            }
            assert!(inner <= lambda * nonzeros as f64 + constant, "{x:?}");
        }
    }
}
