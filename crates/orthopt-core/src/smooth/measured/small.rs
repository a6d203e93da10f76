//! The measures as functions of S = XᵀCX and W = XᵀC²X (r × r), for searches: values, and weights of the gradient.

use super::Measure;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::inherit;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::kernels::{axpy, weighted_inner};
use orthopt_linalg::products::multiply;
use orthopt_linalg::unit::power_of_two;

/// A pivot of S below this share of what the entry of S was added up from is rounding: that score is a combination of others.
/// Above it a pivot has six digits, and so has what is divided by it: enough for a search, and F is computed from the scores.
pub(super) const DEPENDENT: f64 = 1e-9;
/// Variances whose relative difference is at most this are equal.
pub(super) const EQUAL: f64 = 1e-12;
/// An eigenvalue of S counts as at least this share of tr S where it is divided by.
const SMALLEST: f64 = 1e-12;

/// Which pivot comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pivots {
    Order,     // the next in the order
    Variances, // of equal variances, after the first one, that of which most is left
    Largest,   // the one of which most is left, as a share of its size
}

/// Half of the matrix V[(VᵀEV)ₐᵦ/(σₐ + σᵦ)]Vᵀ of the gradient of polar variance, E = 2Diag(S^{1/2}), from the diagonal of
/// S^{1/2} = V Diag(σ)Vᵀ.
pub(super) fn half_of_polar(root: &[f64], sigma: &[f64], v: &RowMat) -> RowMat {
    let r = root.len();
    let size: f64 = sigma.iter().map(|s| s * s).sum();
    let least = (SMALLEST * size).max(f64::MIN_POSITIVE).sqrt();
    let weighted = RowMat::from_fn(r, r, |j, b| 2.0 * root[j] * v.get(j, b));
    let sums = multiply(v.as_mat().transpose(), weighted.as_mat());
    let inner = RowMat::from_fn(r, r, |a, b| sums.get(a, b) / (sigma[a].max(least) + sigma[b].max(least)));
    multiply(multiply(v.as_mat(), inner.as_mat()).as_mat(), v.as_mat().transpose())
}

/// Workspace for r × r matrices, which are slices by rows.
#[derive(Clone, Debug)]
pub struct Small {
    r: usize,
    given: bool,       // pivots in the order of the columns
    order: Vec<usize>, // of the pivots
    l: Vec<f64>,       // unit lower L of S = L·Diag(d)·Lᵀ in this order
    d: Vec<f64>,       // 0 where a pivot is rounding; that column of L is zero
    z: Vec<f64>,       // workspace
    a: Vec<f64>,       // eigenvalues on the diagonal
    v: Vec<f64>,       // eigenvectors as columns
}

impl Small {
    /// For r columns. Adjusted variance has its order from the variances of scores, or, where `given`, from the columns.
    pub fn new(r: usize, given: bool) -> Self {
        let square = || vec![0.0; r * r];
        Self {
            r,
            given,
            order: (0..r).collect(),
            l: square(),
            d: vec![0.0; r],
            z: square(),
            a: square(),
            v: square(),
        }
    }

    /// The measure of S and W; W is examined for [`Measure::Explained`] only. `sizes` are (Σᵢ |xᵢⱼ|√Cᵢᵢ)² of the columns, what
    /// the diagonal of S was added up from. Cost O(r³).
    pub fn value(&mut self, measure: Measure, (s, w): (&[f64], &[f64]), sizes: &[f64]) -> f64 {
        let r = self.r;
        match measure {
            Measure::Variance => (0..r).map(|j| s[j * r + j]).sum(),
            Measure::Adjusted => {
                self.factor(s, sizes);
                (0..r).map(|j| self.d[j]).sum()
            }
            Measure::Polar => {
                let unit = self.root(s);
                unit * self.z[..r].iter().map(|root| root * root).sum::<f64>()
            }
            Measure::Explained => {
                self.order.iter_mut().enumerate().for_each(|(k, o)| *o = k);
                self.eliminate(s, sizes, Pivots::Largest);
                self.quotient(w)
            }
        }
    }

    /// The measure with Q and P such that its gradient is 2(CXQ + C²XP); P is `None` where it is zero.
    pub fn weights(
        &mut self,
        measure: Measure,
        (s, w): (&[f64], &[f64]),
        sizes: &[f64],
    ) -> (f64, RowMat, Option<RowMat>) {
        let r = self.r;
        let value = self.value(measure, (s, w), sizes);
        let identity = || RowMat::from_fn(r, r, |a, b| f64::from(u8::from(a == b)));
        match measure {
            Measure::Variance => (value, identity(), None),
            Measure::Adjusted => {
                // UUᵀ for U = L⁻ᵀ, the unit upper triangular U with least tr UᵀSU
                (value, self.rows_squared(&self.inverse_factor(), |_| 1.0), None)
            }
            Measure::Polar => {
                // of degree 0 in S, so that the unit of `root` does not matter
                let sigma: Vec<f64> = (0..r).map(|j| self.a[j * (r + 1)].max(0.0).sqrt()).collect();
                let v = RowMat::from_fn(r, r, |a, k| self.v[a * r + k]);
                let q = half_of_polar(&self.z[..r], &sigma, &v);
                (value, q, None)
            }
            Measure::Explained => {
                // S⁻¹ on the columns whose pivots count
                let reciprocal = |j: usize| if self.d[j] > 0.0 { 1.0 / self.d[j] } else { 0.0 };
                let p = self.rows_squared(&self.inverse_factor(), reciprocal);
                let w = RowMat::from_fn(r, r, |a, b| -w[a * r + b]);
                let q = multiply(multiply(p.as_mat(), w.as_mat()).as_mat(), p.as_mat());
                (value, q, Some(p))
            }
        }
    }

    /// The order of the pivots, L by rows and d of S = L·Diag(d)·Lᵀ.
    pub fn factors(mut self, s: &[f64], sizes: &[f64]) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
        self.factor(s, sizes);
        (self.order, self.l, self.d)
    }

    /// The order of the scores with these products.
    pub fn ordered(mut self, s: &[f64]) -> Vec<usize> {
        let sizes: Vec<f64> = (0..self.r).map(|k| s[k * (self.r + 1)]).collect();
        self.factor(s, &sizes);
        self.order
    }

    /// L and d of S = L·Diag(d)·Lᵀ. Of scores with equal variances the first is the one from which d adds up to most, and
    /// each later one adds most to those before it.
    fn factor(&mut self, s: &[f64], sizes: &[f64]) {
        let r = self.r;
        self.order.iter_mut().enumerate().for_each(|(k, o)| *o = k);
        if self.given {
            return self.eliminate(s, sizes, Pivots::Order);
        }
        let size = |k: usize| s[k * (r + 1)];
        // few numbers, nearly in order: insertion, and the first of equal ones stays the first
        for k in 1..r {
            let mut at = k;
            while at > 0 && size(self.order[at]) > size(self.order[at - 1]) {
                self.order.swap(at, at - 1);
                at -= 1;
            }
        }
        let least = self.order.first().map_or(0.0, |first| size(*first) * (1.0 - EQUAL));
        let equal = (0..r).take_while(|k| size(self.order[*k]) >= least).count();
        if equal < 2 {
            return self.eliminate(s, sizes, Pivots::Variances);
        }
        let sorted = self.order.clone();
        let mut from = |first: usize| {
            self.order.copy_from_slice(&sorted);
            self.order[..=first].rotate_right(1);
            self.eliminate(s, sizes, Pivots::Variances);
            self.d.iter().sum::<f64>()
        };
        let (mut best, mut most) = (0, from(0));
        for first in 1..equal {
            let sum = from(first);
            if sum > most * (1.0 + EQUAL) {
                (best, most) = (first, sum);
            }
        }
        from(best);
    }

    /// L and d of S = L·Diag(d)·Lᵀ in the order of the pivots, of which the next one may be exchanged for a later one.
    fn eliminate(&mut self, s: &[f64], sizes: &[f64], pivots: Pivots) {
        let r = self.r;
        let Self { order, l, d, .. } = self;
        for j in 0..r {
            let left = |i: usize, order: &[usize], l: &[f64], d: &[f64]| {
                let row = &l[i * r..i * r + j];
                s[order[i] * (r + 1)] - weighted_inner(row, row, d)
            };
            let mut best = j;
            match pivots {
                Pivots::Order => {}
                Pivots::Variances if j == 0 => {}
                Pivots::Variances => {
                    let least = s[order[j] * (r + 1)] * (1.0 - EQUAL);
                    for i in (j + 1..r).take_while(|i| s[order[*i] * (r + 1)] >= least) {
                        if left(i, order, l, d) > left(best, order, l, d) * (1.0 + EQUAL) {
                            best = i;
                        }
                    }
                }
                Pivots::Largest => {
                    let mut most = f64::NEG_INFINITY;
                    for i in j..r {
                        let share = left(i, order, l, d) / sizes[order[i]];
                        if share > most {
                            (best, most) = (i, share);
                        }
                    }
                }
            }
            if best != j {
                order.swap(j, best);
                (0..j).for_each(|k| l.swap(j * r + k, best * r + k));
            }
            let pivot = left(j, order, l, d);
            d[j] = if pivot > DEPENDENT * sizes[order[j]] { pivot } else { 0.0 };
            l[j * r + j] = 1.0;
            for i in j + 1..r {
                let sum = weighted_inner(&l[i * r..i * r + j], &l[j * r..j * r + j], d);
                let entry = s[order[i] * r + order[j]] - sum;
                l[i * r + j] = if d[j] > 0.0 { entry / d[j] } else { 0.0 };
            }
        }
    }

    /// tr(S⁻¹W) over the columns whose pivots count.
    fn quotient(&mut self, w: &[f64]) -> f64 {
        let r = self.r;
        let Self { order, l, d, z, .. } = self;
        // Z = L⁻¹W in the order of the pivots
        for a in 0..r {
            let (above, row) = z.split_at_mut(a * r);
            let row = &mut row[..r];
            row.fill(0.0);
            above.chunks_exact(r).zip(&l[a * r..]).for_each(|(z, l)| axpy(*l, z, row));
            (0..r).for_each(|c| row[c] = w[order[a] * r + order[c]] - row[c]);
        }
        let mut total = 0.0;
        for c in 0..r {
            // row c of Z·L⁻ᵀ up to its diagonal
            for a in 0..=c {
                let sum: f64 = (0..a).map(|b| l[a * r + b] * z[c * r + b]).sum();
                z[c * r + a] -= sum;
            }
            if d[c] > 0.0 {
                total += z[c * r + c] / d[c];
            }
        }
        total
    }

    /// L⁻¹ by rows.
    fn inverse_factor(&self) -> Vec<f64> {
        let (r, l) = (self.r, &self.l);
        let mut u = vec![0.0; r * r];
        for a in 0..r {
            let (above, row) = u.split_at_mut(a * r);
            for b in 0..a {
                axpy(l[a * r + b], &above[b * r..=b * (r + 1)], &mut row[..=b]);
            }
            row[..a].iter_mut().for_each(|v| *v = -*v);
            row[a] = 1.0;
        }
        u
    }

    /// Σⱼ wⱼuⱼuⱼᵀ of the rows of a lower triangular matrix in the order of the pivots.
    fn rows_squared(&self, u: &[f64], w: impl Fn(usize) -> f64) -> RowMat {
        let r = self.r;
        let mut sum = vec![0.0; r * r]; // its lower triangle
        for j in 0..r {
            let row = &u[j * r..=j * (r + 1)];
            for a in 0..=j {
                axpy(w(j) * row[a], &row[..=a], &mut sum[a * r..=a * (r + 1)]);
            }
        }
        let mut q = RowMat::zeros(r, r);
        for a in 0..r {
            for b in 0..r {
                q.set(self.order[a], self.order[b], sum[a.max(b) * r + a.min(b)]);
            }
        }
        q
    }

    /// The diagonal of S^{1/2} in the first r places of `z`, eigenvalues and eigenvectors of S in `a` and `v`, all of S divided
    /// by the power of two that is returned: square roots of data scaled by an odd one have other bits.
    fn root(&mut self, s: &[f64]) -> f64 {
        let r = self.r;
        let unit = power_of_two((0..r).map(|j| s[j * (r + 1)]).sum());
        self.a.iter_mut().zip(s).for_each(|(a, s)| *a = s / unit);
        diagonalise(r, &mut self.a, &mut self.v);
        // d is free here: it belongs to the other factorisation
        self.d.iter_mut().enumerate().for_each(|(k, d)| *d = self.a[k * (r + 1)].max(0.0).sqrt());
        for (j, row) in self.v.chunks_exact(r).enumerate() {
            self.z[j] = row.iter().zip(&self.d).map(|(v, root)| v * root * v).sum();
        }
        unit
    }
}

/// Eigenvalues on the diagonal of `a` and eigenvectors as columns of `v`; 0 where `a` has none.
fn diagonalise(r: usize, a: &mut [f64], v: &mut [f64]) {
    let s = RowMat::from_fn(r, r, |i, j| a[i * r + j]);
    a.fill(0.0);
    // a value is returned in any case
    if let Some((values, vectors)) = inherit(None, || symmetric_eigenpairs(&s)) {
        v.copy_from_slice(vectors.data());
        (0..r).for_each(|k| a[k * (r + 1)] = values[k]);
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Correlations of r scores.
    fn correlations(r: usize, seed: u64) -> Vec<f64> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let a = RowMat::from_fn(r + 3, r, |_, _| rng.random_range(-1.0..1.0));
        let product = |i: usize, k: usize| -> f64 { (0..r + 3).map(|m| a.get(m, i) * a.get(m, k)).sum() };
        let entry = |i: usize, k: usize| product(i, k) / (product(i, i) * product(k, k)).sqrt();
        (0..r * r).map(|e| entry(e / r, e % r)).collect()
    }

    /// The products of some of the scores, in another order.
    fn permuted(s: &[f64], order: &[usize]) -> Vec<f64> {
        let (all, r) = (s.len().isqrt(), order.len());
        (0..r * r).map(|e| s[order[e / r] * all + order[e % r]]).collect()
    }

    /// Adjusted variance of scores taken in the order of their columns.
    fn in_order(s: &[f64], order: &[usize]) -> f64 {
        let (s, ones) = (permuted(s, order), vec![1.0; order.len()]);
        Small::new(order.len(), true).value(Measure::Adjusted, (&s, &[]), &ones)
    }

    /// V is orthogonal and V Diag(λ)Vᵀ is S, for scores that repeat and scores without variance too; and 0 where S is not finite.
    #[test]
    fn eigenvalues_and_eigenvectors_give_the_matrix_back() {
        for (seed, r) in [(1, 1), (2, 2), (3, 7), (4, 40), (5, 120)] {
            let plain = correlations(r, seed);
            let repeated = permuted(&plain, &(0..r).map(|k| k / 2).collect::<Vec<_>>());
            let constant: Vec<f64> =
                (0..r * r).map(|e| if e / r == 0 || e % r == 0 { 0.0 } else { plain[e] }).collect();
            for s in [plain, repeated, constant] {
                let (mut a, mut v) = (s.clone(), vec![0.0; r * r]);
                diagonalise(r, &mut a, &mut v);
                for (i, j) in (0..r).flat_map(|i| (0..r).map(move |j| (i, j))) {
                    let back: f64 = (0..r).map(|k| v[i * r + k] * a[k * (r + 1)] * v[j * r + k]).sum();
                    let own: f64 = (0..r).map(|k| v[i * r + k] * v[j * r + k]).sum();
                    assert!((back - s[i * r + j]).abs() < 1e-11, "{r}: {i}, {j}");
                    assert!((own - f64::from(u8::from(i == j))).abs() < 1e-12, "{r}: {i}, {j}");
                }
            }
        }
        let value = Small::new(2, false).value(Measure::Polar, (&[f64::NAN; 4], &[]), &[1.0; 2]);
        assert!(value.is_nan() || value <= 0.0, "{value}");
    }

    #[test]
    fn equal_variances_are_taken_in_the_same_order_whatever_that_of_the_columns() {
        for seed in 0..40 {
            let r = 2 + (seed % 4) as usize;
            let s = correlations(r, seed);
            let ones = vec![1.0; r];
            let value = Small::new(r, false).value(Measure::Adjusted, (&s, &[]), &ones);
            let turned: Vec<usize> = (0..r).map(|k| (k + 1) % r).collect();
            let back: Vec<usize> = (0..r).rev().collect();
            for order in [turned, back] {
                let s = permuted(&s, &order);
                let other = Small::new(r, false).value(Measure::Adjusted, (&s, &[]), &ones);
                assert!((value - other).abs() <= 1e-12 * value, "{seed}: {value} {other}");
            }
            // from each first score on, the one that adds most: none of them has more
            for first in 0..r {
                let mut order = vec![first];
                while order.len() < r {
                    let added = |k: &usize| {
                        let so_far: Vec<usize> = order.iter().copied().chain([*k]).collect();
                        in_order(&s, &so_far)
                    };
                    let next = (0..r)
                        .filter(|k| !order.contains(k))
                        .max_by(|a, b| added(a).total_cmp(&added(b)))
                        .unwrap();
                    order.push(next);
                }
                assert!(value >= in_order(&s, &order) * (1.0 - 1e-12), "{seed} {order:?}");
            }
        }
    }
}
