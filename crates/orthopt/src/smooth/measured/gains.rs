//! Exact values of a measure after one entry of X leaves or enters, from r × r matrices: O(r³) a candidate.

use super::{Covariance, Measure, Small};
use crate::linalg::RowMat;
use crate::linalg::products::{cross, product};
use crate::linalg::work::count;
use crate::smooth::Quadratic;

/// Angles at which a new entry is tried: first over this range, then as many around the best of them. Entries of loadings
/// that matter lie between .02 and .96.
const ANGLES: usize = 6;
const RANGE: (f64, f64) = (0.02, 1.3);
/// Operations for polar variance, in units of r³.
const EIGENVALUES: usize = 60;
/// The least angle of the second round.
const LEAST: f64 = 0.005;

/// X with what candidates are computed from: M = CX, N = C²X, S = XᵀM, W = XᵀN; N and W for explained variance only.
#[derive(Debug)]
pub(crate) struct Gains<'a> {
    cov: &'a Covariance,
    measure: Measure,
    small: Small,
    m: RowMat,
    n: Option<RowMat>,
    s: RowMat,
    w: RowMat,
    trial_s: Vec<f64>,
    trial_w: Vec<f64>,
}

impl<'a> Gains<'a> {
    /// Of X, whose adjusted variance has the order of its columns where `given`. Cost of two products with C.
    pub fn new(
        (f, cov): (&impl Quadratic, &'a Covariance),
        x: &RowMat,
        (measure, given): (Measure, bool),
    ) -> Self {
        let r = x.ncols();
        let m = cov.times(f, x);
        let s = cross(x, &m).symmetric_part();
        let n = (measure == Measure::Explained).then(|| cov.twice(f, x, &m));
        let w = n.as_ref().map_or_else(|| RowMat::zeros(r, r), |n| cross(x, n).symmetric_part());
        let trial = vec![0.0; r * r];
        Self { cov, measure, small: Small::new(r, given), m, n, s, w, trial_s: trial.clone(), trial_w: trial }
    }

    /// The measure of X.
    pub fn value(&mut self) -> f64 {
        self.small.value(self.measure, self.s.data(), self.w.data())
    }

    /// Half of the gradient of the measure.
    pub fn gradient(&mut self) -> RowMat {
        let (_, q, p) = self.small.weights(self.measure, self.s.data(), self.w.data());
        let mut g = RowMat::zeros(self.m.nrows(), self.m.ncols());
        product(&mut g, false, 1.0, self.m.as_mat(), q.as_mat());
        if let (Some(n), Some(p)) = (&self.n, p) {
            product(&mut g, true, 1.0, n.as_mat(), p.as_mat());
        }
        g
    }

    /// The measure where entry (i, j), which is `x`, leaves and column j gets its length back; `None` where it is all there is.
    pub fn without(&mut self, (i, j): (usize, usize), x: f64) -> Option<f64> {
        let left = 1.0 - x * x;
        // cos θ xⱼ + sin θ eᵢ with tan θ = −x leaves a zero at i; divided by its length, √(1 − x²)/√(1 + x²)
        (left > 1e-14).then(|| self.moved((i, j), 1.0 / left.sqrt(), -x / left.sqrt()))
    }

    /// The measure where column j becomes a·xⱼ + b·eᵢ.
    fn moved(&mut self, entry: (usize, usize), a: f64, b: f64) -> f64 {
        self.moved_by(self.measure, entry, a, b)
    }

    fn moved_by(&mut self, measure: Measure, (i, j): (usize, usize), a: f64, b: f64) -> f64 {
        let r = self.s.ncols();
        let flops = if measure == Measure::Polar { EIGENVALUES } else { 4 };
        count(flops * r * r * r + 100);
        let moved = |s: &RowMat, m: &RowMat, own: f64, out: &mut [f64]| {
            out.copy_from_slice(s.data());
            for k in (0..r).filter(|k| *k != j) {
                let v = a * s.get(k, j) + b * m.get(i, k);
                out[k * r + j] = v;
                out[j * r + k] = v;
            }
            out[j * r + j] = a * a * s.get(j, j) + 2.0 * a * b * m.get(i, j) + b * b * own;
        };
        moved(&self.s, &self.m, self.cov.diagonal(i), &mut self.trial_s);
        if let Some(n) = &self.n {
            moved(&self.w, n, self.cov.square(i), &mut self.trial_w);
        }
        self.small.value(measure, &self.trial_s, &self.trial_w)
    }

    /// The largest measure over a dozen angles between xⱼ and eᵢ in the direction of the gradient `g` at (i, j), and the
    /// entry beside xⱼ that leads there.
    pub fn with(&mut self, (i, j): (usize, usize), g: f64) -> (f64, f64) {
        let sign = if g < 0.0 { -1.0 } else { 1.0 };
        let (mut best, mut angle) = (f64::NEG_INFINITY, RANGE.0);
        let (mut low, mut high) = RANGE;
        // polar variance is largest near the angle where adjusted variance is, which needs no eigenvalues
        let guide = if self.measure == Measure::Polar { Measure::Adjusted } else { self.measure };
        for _ in 0..2 {
            let step = (high - low) / (ANGLES - 1) as f64;
            for t in 0..ANGLES {
                let theta = low + step * t as f64;
                let (sin, cos) = theta.sin_cos();
                let value = self.moved_by(guide, (i, j), cos, sign * sin);
                if value > best {
                    (best, angle) = (value, theta);
                }
            }
            (low, high) = ((angle - step).max(LEAST), angle + step);
        }
        if guide != self.measure {
            let (sin, cos) = angle.sin_cos();
            best = self.moved((i, j), cos, sign * sin);
        }
        (best, sign * angle.tan())
    }
}
