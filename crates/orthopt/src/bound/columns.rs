//! The relaxation with a matrix Yₖ of its own for every column, where it is known which rows a column must and
//! which it can have (docs/mathematics.md, section 14): max Σ ½⟨C, Yₖ⟩ − p(Yₖ), Yₖ ⪰ 0 on the rows of column k,
//! tr Yₖ = 1, Σ Yₖ ⪯ I, by ADMM on Yₖ = Tₖ and Σ Yₖ + S = I.

use super::certified::{OUTWARD, gamma, sum_of_largest};
use super::fantope::clipping;
use super::penalty::{Penalty, Rows};
use super::types::Watch;
use crate::linalg::RowMat;
use crate::linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use crate::linalg::products::product;

/// Iterations between two looks at the bound, and looks, at most.
const CHECK: usize = 10;
const LOOKS: usize = 20;
/// Looks before it may end, and the share of the way to the cutoff that one must bring.
const PATIENCE: usize = 2;
const SHARE: f64 = 0.05;

/// Decisions about a column: its possible rows and its required rows.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub rows: Vec<usize>,
    pub forced: Vec<bool>,
}

/// Dual point of all columns: a W ⪰ 0 and a Zₖ for each column prove
/// tr W + Σ λ₁((½C − W) on the rows of k − Zₖ) + costs.
#[derive(Clone, Debug)]
struct Dual {
    w: RowMat,
    trace: f64, // of W, as it was built, rounded up
    z: Vec<RowMat>,
    costs: f64,
    size: f64, // Σ |cost| over the columns
}

/// Where a run ended.
#[derive(Debug)]
pub(super) struct Stored {
    rho: f64,
    w: Vec<f32>, // lower triangles over all rows
    parts: Vec<StoredPart>,
}

#[derive(Debug)]
struct StoredPart {
    t: Vec<f32>,
    u: Vec<f32>,
    weights: Vec<f32>,
}

/// The place of an entry in a lower triangle.
fn triangular(i: usize, j: usize) -> usize {
    let (a, b) = (i.max(j), i.min(j));
    a * (a + 1) / 2 + b
}

/// One run.
pub(super) struct ByColumns<'a> {
    c: &'a RowMat,
    rho: f64,
    parts: Vec<Part<'a>>,
    s: RowMat,
    w: RowMat,
    trace: f64,
}

struct Part<'a> {
    rows: &'a [usize],
    c: RowMat,
    penalty: Rows,
    y: RowMat,
    t: RowMat,
    u: RowMat,
}

impl<'a> ByColumns<'a> {
    /// From the dual `z` and the weights of the relaxation without columns.
    pub fn new(
        c: &'a RowMat,
        columns: &'a [Column],
        lambda: f64,
        (z, weights, rho): (&RowMat, &[f64], f64),
    ) -> Option<Self> {
        let n = c.nrows();
        let m = RowMat::from_fn(n, n, |i, j| 0.5 * c.get(i, j) - z.get(i, j));
        let (values, vectors) = symmetric_eigenpairs(&m)?;
        let level = values[columns.len() - 1];
        let excess: Vec<f64> = values.iter().map(|v| (v - level).max(0.0)).collect();
        let (w, trace) = spectral(&vectors, &excess);
        let part = |column: &'a Column| {
            let (rows, k) = (&column.rows[..], column.rows.len());
            let low = column.forced.iter().map(|f| f64::from(u8::from(*f))).collect();
            let mut penalty = Rows::new(lambda, low, vec![1.0; k]);
            penalty.weights = rows.iter().map(|i| weights[*i]).collect();
            let u = RowMat::from_fn(k, k, |a, b| z.get(rows[a], rows[b]) / rho);
            let (y, t) = (RowMat::zeros(k, k), RowMat::zeros(k, k));
            Part { rows, c: principal(c, rows), penalty, y, t, u }
        };
        let parts = columns.iter().map(part).collect();
        Some(Self { c, rho, parts, s: RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j))), w, trace })
    }

    /// From where the run of a similar node ended; `place` says which rows of that one these are.
    pub fn resume(c: &'a RowMat, columns: &'a [Column], lambda: f64, place: &[usize], from: &Stored) -> Self {
        let (n, rho) = (c.nrows(), from.rho);
        let at = |list: &[f32], i: usize, j: usize| f64::from(list[triangular(place[i], place[j])]);
        let part = |(column, stored): (&'a Column, &StoredPart)| {
            let (rows, k) = (&column.rows[..], column.rows.len());
            let low = column.forced.iter().map(|f| f64::from(u8::from(*f))).collect();
            let mut penalty = Rows::new(lambda, low, vec![1.0; k]);
            penalty.weights = rows.iter().map(|i| f64::from(stored.weights[place[*i]])).collect();
            let t = RowMat::from_fn(k, k, |a, b| at(&stored.t, rows[a], rows[b]));
            let u = RowMat::from_fn(k, k, |a, b| at(&stored.u, rows[a], rows[b]));
            Part { rows, c: principal(c, rows), penalty, y: t.clone(), t, u }
        };
        let parts: Vec<Part<'a>> = columns.iter().zip(&from.parts).map(part).collect();
        let w = RowMat::from_fn(n, n, |i, j| at(&from.w, i, j));
        let mut run = Self { c, rho, parts, s: RowMat::zeros(n, n), w, trace: 0.0 };
        run.s = run.rest(usize::MAX); // I − Σ Tₖ
        run
    }

    /// Enough to go on from, in single precision: there are many of them. `place` as for `resume`, among `n`.
    pub fn store(&self, place: &[usize], n: usize) -> Stored {
        let size = n * (n + 1) / 2;
        let mut w = vec![0.0; size];
        for i in 0..place.len() {
            (0..=i).for_each(|j| w[triangular(place[i], place[j])] = self.w.get(i, j) as f32);
        }
        let part = |part: &Part<'_>| {
            let neutral = part.penalty.lambda.sqrt() as f32;
            let (mut t, mut u, mut weights) = (vec![0.0; size], vec![0.0; size], vec![neutral; n]);
            for (a, i) in part.rows.iter().enumerate() {
                weights[place[*i]] = part.penalty.weights[a] as f32;
                for (b, j) in part.rows.iter().enumerate().take(a + 1) {
                    let k = triangular(place[*i], place[*j]);
                    (t[k], u[k]) = (part.t.get(a, b) as f32, part.u.get(a, b) as f32);
                }
            }
            StoredPart { t, u, weights }
        };
        Stored { rho: self.rho, w, parts: self.parts.iter().map(part).collect() }
    }

    /// How many nonzeros the relaxation spends on the rows of each column, from 0 to 1.
    pub fn shares(&self) -> Vec<Vec<f64>> {
        self.parts.iter().map(|part| part.penalty.counts(&part.t)).collect()
    }

    /// Σ Tₖ.
    pub fn together(&self) -> RowMat {
        let n = self.c.nrows();
        let mut sum = RowMat::zeros(n, n);
        for part in &self.parts {
            for (a, i) in part.rows.iter().enumerate() {
                let (row, t) = (sum.row_mut(*i), part.t.row(a));
                part.rows.iter().zip(t).for_each(|(j, t)| row[*j] += t);
            }
        }
        sum
    }

    /// Iterates until the bound is at the cutoff or comes no nearer to it; the proved bound.
    pub fn lower(&mut self, cutoff: f64, watch: &Watch<'_>) -> Option<f64> {
        let mut history = Vec::new();
        let mut best: Option<(f64, Dual)> = None;
        for look in 0..LOOKS {
            for _ in 0..CHECK {
                self.step()?;
            }
            let dual = self.dual();
            let now = self.estimate(&dual)?;
            if best.as_ref().is_none_or(|b| now < b.0) {
                best = Some((now, dual));
            }
            self.parts.iter_mut().for_each(|part| part.penalty.adapt(&part.t));
            let now = best.as_ref().map_or(now, |b| b.0);
            history.push(now);
            let stalled = look >= PATIENCE && history[look - PATIENCE] - now <= SHARE * (now - cutoff);
            if now + 1e-12 * now.abs() <= cutoff || stalled || watch.is_over() {
                break;
            }
        }
        self.proved(&best?.1)
    }

    fn dual(&self) -> Dual {
        let (mut costs, mut size) = (0.0, 0.0);
        let of = |part: &Part<'_>| {
            let mut z = part.u.clone();
            z.data_mut().iter_mut().for_each(|v| *v *= self.rho);
            let cost = part.penalty.allow(&mut z);
            (costs, size) = (costs + cost, size + cost.abs());
            for i in 0..z.nrows() {
                (0..i).for_each(|j| z.set(j, i, z.get(i, j)));
            }
            z
        };
        let z = self.parts.iter().map(of).collect();
        Dual { w: self.w.clone(), trace: self.trace, z, costs, size }
    }

    /// ½C − W − Zₖ on the rows of column k, or W + Zₖ.
    fn subtracted(part: &Part<'_>, w: &RowMat, z: &RowMat) -> RowMat {
        let k = part.rows.len();
        RowMat::from_fn(k, k, |a, b| w.get(part.rows[a], part.rows[b]) + z.get(a, b))
    }

    fn estimate(&self, dual: &Dual) -> Option<f64> {
        let mut sum: f64 = dual.costs + (0..self.c.nrows()).map(|i| dual.w.get(i, i)).sum::<f64>();
        for (part, z) in self.parts.iter().zip(&dual.z) {
            let mut m = Self::subtracted(part, &dual.w, z);
            m.data_mut().iter_mut().zip(part.c.data()).for_each(|(m, c)| *m = 0.5 * c - *m);
            sum += symmetric_eigenvalues(&m)?.first()?;
        }
        Some(sum)
    }

    /// The bound of a dual, rounded up: what is added is measured by the sum of the absolute values of the terms, which
    /// may cancel where C is indefinite or costs are negative.
    fn proved(&self, dual: &Dual) -> Option<f64> {
        let trace = trace_of_semidefinite(&dual.w, dual.trace);
        let mut sum = dual.costs + trace;
        let mut size = dual.size + trace;
        for (part, z) in self.parts.iter().zip(&dual.z) {
            let both = Self::subtracted(part, &dual.w, z);
            let value = sum_of_largest(&part.c, &both, 1, f64::NEG_INFINITY)?;
            sum += value + OUTWARD * gamma(1) * both.norm(); // W + Zₖ was rounded
            size += value.abs();
        }
        Some(sum + OUTWARD * gamma(2 * self.parts.len() + 8) * size)
    }

    /// I − S − Σ Yⱼ over j ≠ k.
    fn rest(&self, k: usize) -> RowMat {
        let n = self.s.nrows();
        let mut rest = RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - self.s.get(i, j));
        for (_, part) in self.parts.iter().enumerate().filter(|(j, _)| *j != k) {
            for (a, i) in part.rows.iter().enumerate() {
                let (row, y) = (rest.row_mut(*i), part.y.row(a));
                part.rows.iter().zip(y).for_each(|(j, y)| row[*j] -= y);
            }
        }
        rest
    }

    fn step(&mut self) -> Option<()> {
        let (rho, n) = (self.rho, self.c.nrows());
        for k in 0..self.parts.len() {
            let rest = self.rest(k);
            let (w, part) = (&self.w, &mut self.parts[k]);
            let (rows, size) = (part.rows, part.rows.len());
            let g = RowMat::from_fn(size, size, |a, b| {
                let (i, j) = (rows[a], rows[b]);
                let pull = (0.5 * part.c.get(a, b) - w.get(i, j)) / rho;
                0.5 * (rest.get(i, j) + part.t.get(a, b) - part.u.get(a, b) + pull)
            });
            let (values, vectors) = symmetric_eigenpairs(&g)?;
            let shift = clipping(&values, 1);
            let weights: Vec<f64> = values.iter().map(|v| (v - shift).clamp(0.0, 1.0)).collect();
            part.y = spectral(&vectors, &weights).0;
            part.u.data_mut().iter_mut().zip(part.y.data()).for_each(|(u, y)| *u += y);
            part.t = part.u.clone();
            part.penalty.shrink(&mut part.t, rho);
            part.u.data_mut().iter_mut().zip(part.t.data()).for_each(|(u, t)| *u -= t);
        }
        // S ← positive part of I − Σ Yₖ − W/ρ, W ← ρ times its negative part
        self.s = RowMat::zeros(n, n);
        let mut g = self.rest(usize::MAX);
        g.data_mut().iter_mut().zip(self.w.data()).for_each(|(g, w)| *g -= w / rho);
        let (values, vectors) = symmetric_eigenpairs(&g)?;
        let (s, w): (Vec<f64>, Vec<f64>) = values.iter().map(|v| (v.max(0.0), rho * (-v).max(0.0))).unzip();
        self.s = spectral(&vectors, &s).0;
        (self.w, self.trace) = spectral(&vectors, &w);
        Some(())
    }
}

pub(super) fn principal(c: &RowMat, set: &[usize]) -> RowMat {
    RowMat::from_fn(set.len(), set.len(), |i, j| c.get(set[i], set[j]))
}

/// tr (W + δI), rounded up, for a W that was computed as V diag(d) Vᵀ with d ≥ 0 and Σ dₖ‖vₖ‖² ≤ `trace`: with δ above
/// the rounding of that product W + δI is positive semidefinite, whatever V is.
pub(super) fn trace_of_semidefinite(w: &RowMat, trace: f64) -> f64 {
    let n = w.nrows();
    let rounding = OUTWARD * gamma(n + 4) * trace; // δ, and that of the sum of the diagonal
    let diagonal: f64 = (0..n).map(|i| w.get(i, i)).sum();
    diagonal + (n as f64 + 2.0) * rounding
}

/// V diag(d) Vᵀ and Σ dₖ‖vₖ‖², rounded up, for d ≥ 0.
pub(super) fn spectral(vectors: &RowMat, weights: &[f64]) -> (RowMat, f64) {
    let n = vectors.nrows();
    let kept: Vec<usize> = (0..weights.len()).filter(|k| weights[*k] > 0.0).collect();
    let mut out = RowMat::zeros(n, n);
    let square = |k: &usize| weights[*k] * (0..n).map(|i| vectors.get(i, *k).powi(2)).sum::<f64>();
    let trace: f64 = kept.iter().map(square).sum();
    if !kept.is_empty() {
        let v = RowMat::from_fn(n, kept.len(), |i, k| vectors.get(i, kept[k]));
        let weighted = RowMat::from_fn(n, kept.len(), |i, k| v.get(i, k) * weights[kept[k]]);
        product(&mut out, false, 1.0, weighted.as_mat(), v.as_mat().transpose());
        // a product of two matrices need not be symmetric to the last digit
        for i in 0..n {
            (0..i).for_each(|j| out.set(j, i, out.get(i, j)));
        }
    }
    (out, trace * (1.0 + OUTWARD * gamma(n + kept.len() + 4)))
}
