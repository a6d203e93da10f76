//! The structural probe (JOBCD paper, Section 6): find X such that distances in ultrahyperbolic
//! space match a given table.
//!
//! ```text
//! f(X) = (1/m²) Σ_{i≠j} (T_ij − d(q_i, q_j))²,     Q = φ(DX),     XᵀJX = J
//! ```
//!
//! As printed, Q = φ(D)X, and ⟨qᵢ, qⱼ⟩_J = φ(dᵢ)ᵀXJXᵀφ(dⱼ) = φ(dᵢ)ᵀJφ(dⱼ): f does not depend on
//! X (docs/mathematics.md, section 9, C12). With X applied first f depends on X. The printed form stays as
//! [`Placement::Printed`], whose constant value checks that X is feasible.
//!
//! f is the mean over i of fᵢ = (1/m) Σⱼ (T_ij − d_ij)²: a finite sum, for VR-J-JOBCD.

use faer::MatRef;

use super::geodesic::{distance, project, pull_back};
use super::{FiniteSum, HessianVector, Smooth};
use crate::constraint::j_orthogonal::Signature;
use crate::options::choices;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::parallel::{for_each_chunk, map, map_items};
use orthopt_linalg::products::{cross, multiply, product};
use orthopt_linalg::simd::{PAD, Simd, WithSimd, dispatch};
use orthopt_linalg::work::{count, counted};

choices! {
    /// Position of φ in Q: it acts after X or before it.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Placement as "placement", PLACEMENTS {
        /// Q = φ(DX): X acts first.
        #[default]
        After = "after", "phi(DX): X acts first";
        /// Q = φ(D)X, as printed: f does not depend on a feasible X.
        Printed = "before", "phi(D)X, as the paper prints it: F is the same for every feasible X, a free check that X is";
    }
}

/// The structural probe of m points. A gradient costs 4m²n + 4mn² flops and m² distances; the
/// m × m inner products are made tile by tile and never kept.
#[derive(Clone, Debug)]
pub struct Probe {
    d: RowMat, // D (m × n); with the printed placement φ(D)
    t: RowMat, // T (m × m), symmetric
    j: Signature,
    alpha: f64, // α
    placement: Placement,
    scale: f64,
}

/// Rows of a tile.
const TILE: usize = 64;
/// Components of a sample that are treated at once.
const SAMPLE: usize = 256;

impl Probe {
    /// The probe of the rows of D (m × n) and the distances T (m × m) with radius α.
    ///
    /// # Errors
    /// Shapes that do not agree, entries that are not finite, T not symmetric, α ≤ 0, a signature
    /// without minus ones (there is no such space).
    pub fn new(
        d: MatRef<'_, f64>,
        t: RowMat,
        j: Signature,
        alpha: f64,
        placement: Placement,
    ) -> Result<Self> {
        let (m, n) = (d.nrows(), j.len());
        let shape = |what: &str, rows, cols, expected_rows, expected_cols| {
            Err(Error::Shape { what: what.into(), rows, cols, expected_rows, expected_cols })
        };
        if d.ncols() != n {
            return shape("the data matrix D", m, d.ncols(), m, n);
        }
        if (t.nrows(), t.ncols()) != (m, m) {
            return shape("the table of distances T", t.nrows(), t.ncols(), m, m);
        }
        let d = RowMat::from_mat(d);
        for (what, matrix) in [("the data matrix D", &d), ("the table of distances T", &t)] {
            if let Some((row, col)) = matrix.find_non_finite() {
                return Err(Error::NotFinite { what: what.into(), row: row + 1, col: col + 1 });
            }
        }
        let largest = t.data().iter().fold(0.0f64, |a, v| a.max(v.abs()));
        for row in 0..m {
            for col in row + 1..m {
                let (upper, lower) = (t.get(row, col), t.get(col, row));
                if (upper - lower).abs() > 1e-8 * largest {
                    let what = "the table of distances T".into();
                    return Err(Error::NotSymmetric { what, row: row + 1, col: col + 1, upper, lower });
                }
            }
        }
        let invalid = |option: &str, value: String, expected: &str| {
            Err(Error::InvalidOption { option: option.into(), value, expected: expected.into() })
        };
        if !(alpha > 0.0 && alpha.is_finite()) {
            return invalid("alpha", alpha.to_string(), "a finite radius > 0 (papers: 1)");
        }
        if j.minus().is_empty() {
            return invalid("signature", j.describe(), "at least one minus one for the probe");
        }
        let d = if placement == Placement::Printed { project(&d, &j, alpha) } else { d };
        let squares: f64 = t.data().iter().map(|v| v * v).sum();
        let scale = squares / (m * m).max(1) as f64;
        Ok(Self { d, t, j, alpha, placement, scale })
    }

    /// U = DX and Q.
    fn embed(&self, x: &RowMat) -> (RowMat, RowMat) {
        let u = multiply(self.d.as_mat(), x.as_mat());
        let q = match self.placement {
            Placement::After => project(&u, &self.j, self.alpha),
            Placement::Printed => u.clone(),
        };
        (u, q)
    }

    /// ∇f(X) from the gradient with respect to Q.
    fn to_x(&self, u: &RowMat, mut gq: RowMat, g: &mut RowMat) {
        if self.placement == Placement::After {
            pull_back(u, &self.j, self.alpha, &mut gq);
        }
        *g = cross(&self.d, &gq);
    }

    /// Replaces k = ⟨qᵢ, qⱼ⟩_J/α² in `row` (over all j) by −2(T_ij − d_ij)d′(k), and returns
    /// Σⱼ (T_ij − d_ij)².
    fn weights(&self, i: usize, norms: &[f64], row: &mut [f64]) -> f64 {
        // k = 1 up to rounding for the point itself, where d′ is not defined
        let (before, after) = row.split_at_mut(i);
        let (own, after) = after.split_first_mut().expect("the point itself is one of them");
        *own = 0.0;
        let (t, size) = (self.t.row(i), norms[i] / (self.alpha * self.alpha));
        let part = |row, t, norms| dispatch(Misfits { row, t, norms, size, alpha: self.alpha });
        part(before, &t[..i], &norms[..i]) + part(after, &t[i + 1..], &norms[i + 1..])
    }

    /// Tile after tile of rows, in parallel, the sums in order: Σᵢⱼ (T_ij − d_ij)² and, if `gq` is
    /// given, the gradient of f with respect to Q.
    fn tiles(&self, q: &RowMat, gq: Option<&mut RowMat>) -> f64 {
        let (m, n) = (q.nrows(), q.ncols());
        let (norms, qj) = (row_norms(q), self.j.times_right(q));
        let scale = 1.0 / (self.alpha * self.alpha);
        // T and K are symmetric, so both roles of a point give the same: twice one of them
        let weight = 2.0 * scale / (m as f64 * m as f64);
        // what a tile counts is counted by the thread that asks for all of them
        let one = |at: usize, out: Option<&mut [f64]>| {
            let rows = TILE.min(m - at);
            let mut k = RowMat::zeros(rows, m);
            product(&mut k, false, scale, qj.as_mat().subrows(at, rows), q.as_mat().transpose());
            let mut sum = 0.0;
            for i in 0..rows {
                sum += self.weights(at + i, &norms, k.row_mut(i));
            }
            count(DISTANCE * rows * m);
            if let Some(out) = out {
                let mut part = RowMat::zeros(rows, n);
                product(&mut part, false, weight, k.as_mat(), qj.as_mat());
                out.copy_from_slice(part.data());
            }
            sum
        };
        let tile = |at: usize, out: Option<&mut [f64]>| counted(|| one(at, out));
        let sums: Vec<(f64, u64)> = match gq {
            None => map(m.div_ceil(TILE), 1, |p| tile(p * TILE, None)),
            Some(gq) => {
                let parts = gq.data_mut().chunks_mut(TILE * n).collect();
                map_items(parts, 1, |p, part| tile(p * TILE, Some(part)))
            }
        };
        count(sums.iter().map(|s| s.1 as usize).sum());
        sums.iter().map(|s| s.0).sum()
    }

    /// The rows `sample` against all points: adds the gradient of `weight`·Σ (T_ij − d_ij)² with
    /// respect to Q to `gq` and returns that sum.
    fn sampled(&self, sample: &[usize], q: &RowMat, weight: f64, gq: &mut RowMat) -> f64 {
        let (m, n, b) = (q.nrows(), q.ncols(), sample.len());
        let (norms, qj) = (row_norms(q), self.j.times_right(q));
        let scale = 1.0 / (self.alpha * self.alpha);
        let chosen = RowMat::from_fn(b, n, |i, k| qj.get(sample[i], k));
        let mut k = RowMat::zeros(b, m);
        product(&mut k, false, scale, chosen.as_mat(), q.as_mat().transpose());
        let rows = k.data_mut().chunks_mut(m.max(1)).collect();
        let sums = map_items(rows, 1, |k, row| self.weights(sample[k], &norms, row));
        count(DISTANCE * b * m);
        // the sampled points as partners of all, and all as partners of the sampled points
        product(gq, true, weight * scale, k.as_mat().transpose(), chosen.as_mat());
        let mut own = RowMat::zeros(b, n);
        product(&mut own, false, weight * scale, k.as_mat(), qj.as_mat());
        for (i, row) in sample.iter().enumerate() {
            gq.row_mut(*row).iter_mut().zip(own.row(i)).for_each(|(g, v)| *g += v);
        }
        sums.iter().sum()
    }
}

/// Cost of a distance, in multiplications of a large product.
const DISTANCE: usize = 50;

/// k of many points → −2(T − d)d′(k); Σ(T − d)².
struct Misfits<'a> {
    row: &'a mut [f64],
    t: &'a [f64],
    norms: &'a [f64],
    size: f64, // |qᵢ|/α²
    alpha: f64,
}

impl WithSimd for Misfits<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { row, t, norms, size, alpha } = self;
        let mut sums = [0.0; PAD]; // eight at a time, so that it is vector instructions
        let mut rows = row.chunks_exact_mut(PAD);
        let (mut ts, mut sizes) = (t.chunks_exact(PAD), norms.chunks_exact(PAD));
        for ((row, t), norms) in (&mut rows).zip(&mut ts).zip(&mut sizes) {
            for l in 0..PAD {
                sums[l] += misfit(&mut row[l], t[l], norms[l] * size, alpha);
            }
        }
        let rest = rows.into_remainder().iter_mut().zip(ts.remainder()).zip(sizes.remainder());
        rest.for_each(|((k, t), norm)| sums[0] += misfit(k, *t, norm * size, alpha));
        sums.iter().sum()
    }
}

/// k → −2(T − d)d′(k), where |qᵢ||qⱼ|/α² bounds the rounding error of k near ±1; (T − d)².
#[inline(always)]
fn misfit(k: &mut f64, t: f64, size: f64, alpha: f64) -> f64 {
    let (d, slope) = distance(*k, alpha, 1e-12 * size.max(1.0));
    let r = t - d;
    *k = -2.0 * r * slope;
    r * r
}

fn row_norms(q: &RowMat) -> Vec<f64> {
    (0..q.nrows()).map(|i| q.row(i).iter().map(|v| v * v).sum::<f64>().sqrt()).collect()
}

impl Smooth for Probe {
    fn nrows(&self) -> usize {
        self.j.len()
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.j.len())
    }

    fn value(&self, x: &RowMat) -> f64 {
        let m = self.d.nrows() as f64;
        self.tiles(&self.embed(x).1, None) / (m * m)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.value_and_gradient(x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        let (m, (u, q)) = (self.d.nrows() as f64, self.embed(x));
        let mut gq = RowMat::zeros(q.nrows(), q.ncols());
        let sum = self.tiles(&q, Some(&mut gq));
        self.to_x(&u, gq, g);
        sum / (m * m)
    }

    /// The mean of T_ij², f of distances that are all zero.
    fn scale(&self, _: &RowMat) -> f64 {
        self.scale
    }

    fn components(&self) -> usize {
        self.d.nrows()
    }

    /// A sum of squares.
    fn is_bounded_below(&self) -> bool {
        true
    }
}

impl HessianVector for Probe {}

impl FiniteSum for Probe {
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        let (u, q) = self.embed(x);
        let weight = 1.0 / (self.d.nrows() as f64 * sample.len().max(1) as f64);
        let mut gq = RowMat::zeros(q.nrows(), q.ncols());
        let mut sum = 0.0;
        for part in sample.chunks(SAMPLE) {
            sum += self.sampled(part, &q, weight, &mut gq);
        }
        self.to_x(&u, gq, g);
        weight * sum
    }
}

/// The table of Euclidean distances of the rows of D, as T. Cost m²n flops.
pub fn euclidean_distances(d: MatRef<'_, f64>) -> RowMat {
    let rows = RowMat::from_mat(d);
    let m = rows.nrows();
    let mut t = RowMat::zeros(m, m);
    for_each_chunk(t.data_mut(), m, &|_, i, out| {
        for (j, v) in out.iter_mut().enumerate() {
            let (a, b) = (rows.row(i), rows.row(j));
            *v = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        }
    });
    t
}
