//! Projection onto the Fantope {Y : 0 ⪯ Y ⪯ I, tr Y = r}, the convex hull of all XXᵀ.

use orthopt_core::constraint::stiefel::orthonormalise;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use orthopt_linalg::order::sort_numbers;
use orthopt_linalg::products::{cross, multiply, product};

/// Up to this n all eigenpairs are computed; above, the leading ones by a warm-started iteration.
const DENSE: usize = 160;
/// Up to this n all eigenvalues are computed if values alone are requested; see [`DENSE`].
const DENSE_VALUES: usize = 320;
/// Vectors kept beyond those that the projection needs.
const SPARE: usize = 8;

/// The projection, with the eigenvectors of the last matrix as the start for the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Fantope {
    basis: Option<RowMat>, // n × k, orthonormal
}

impl Fantope {
    /// The point of the Fantope nearest to the symmetric `b`: V diag(clip(w − θ, 0, 1)) Vᵀ, θ such that
    /// the trace is r. Above n = 160 it is approximate, which the bound does not mind. `None` where `b`
    /// is not finite.
    pub fn project(&mut self, b: &RowMat, r: usize) -> Option<RowMat> {
        let n = b.nrows();
        let (values, vectors) = if n <= DENSE { symmetric_eigenpairs(b)? } else { self.leading(b, r)? };
        let shift = clipping(&values, r);
        let weights: Vec<f64> = values.iter().map(|w| (w - shift).clamp(0.0, 1.0)).collect();
        let count = weights.iter().take_while(|g| **g > 0.0).count();
        let mut y = RowMat::zeros(n, n);
        let half = RowMat::from_fn(n, count, |i, k| vectors.get(i, k) * weights[k].sqrt());
        product(&mut y, false, 1.0, half.as_mat(), half.as_mat().transpose());
        Some(y)
    }

    /// Sum of the r largest eigenvalues of `b`: exact to rounding up to n = 320, above from below (Ritz
    /// values), so it says which of two matrices is better but bounds nothing.
    pub fn sum_of_largest(&mut self, b: &RowMat, r: usize) -> Option<f64> {
        let sum = |values: &[f64]| values.iter().take(r).sum::<f64>();
        if b.nrows() <= DENSE_VALUES {
            return Some(sum(&symmetric_eigenvalues(b)?));
        }
        // a sum that is too small would pass for a good bound: steps until it rises no more
        let mut before = sum(&self.leading(b, r)?.0);
        for _ in 0..20 {
            let now = sum(&self.leading(b, r)?.0);
            if now - before <= 1e-7 * now.abs() {
                return Some(now);
            }
            before = now;
        }
        Some(before)
    }

    /// Approximations of at least r leading eigenpairs of `b`; all of them up to n = 320.
    pub fn leading_pairs(&mut self, b: &RowMat, r: usize) -> Option<(Vec<f64>, RowMat)> {
        if b.nrows() <= DENSE_VALUES {
            return symmetric_eigenpairs(b);
        }
        self.sum_of_largest(b, r)?; // steps until it rises no more
        self.leading(b, r)
    }

    /// Leading Ritz pairs, at least as many as have a value above the threshold of the projection.
    fn leading(&mut self, b: &RowMat, r: usize) -> Option<(Vec<f64>, RowMat)> {
        let n = b.nrows();
        let mut size = self.basis.as_ref().map_or(2 * r + SPARE, RowMat::ncols);
        if self.basis.is_none() && 3 * size < n {
            self.basis = Some(start(n, size));
            for _ in 0..4 {
                self.ritz(b)?;
            }
        }
        loop {
            if 3 * size >= n {
                let (values, vectors) = symmetric_eigenpairs(b)?;
                self.basis = self.kept(&values, &vectors, r);
                return Some((values, vectors));
            }
            let values = self.ritz(b)?;
            let above = values.iter().take_while(|w| **w > clipping(&values, r)).count();
            let basis = self.basis.as_ref()?;
            if above < size {
                let vectors = basis.clone();
                self.basis = self.kept(&values, &vectors, r);
                return Some((values, vectors));
            }
            // every value counts: there may be more of them
            let fresh = start(n, 2 * size);
            let wide =
                RowMat::from_fn(n, 2 * size, |i, k| if k < size { basis.get(i, k) } else { fresh.get(i, k) });
            self.basis = Some(orthonormalise(&wide));
            size *= 2;
            if 3 * size < n {
                self.ritz(b)?;
            }
        }
    }

    /// One step on span[V, BV − VΛ]: V becomes its leading Ritz vectors; their values. `None` if cancelled.
    fn ritz(&mut self, b: &RowMat) -> Option<Vec<f64>> {
        if is_over() {
            return None;
        }
        let v = self.basis.as_ref()?;
        let (n, k) = (v.nrows(), v.ncols());
        let mut image = multiply(b.as_mat(), v.as_mat());
        let inner = cross(v, &image);
        product(&mut image, true, -1.0, v.as_mat(), inner.as_mat());
        let length: Vec<f64> =
            (0..k).map(|c| (0..n).map(|i| image.get(i, c).powi(2)).sum::<f64>().sqrt().max(1e-300)).collect();
        let both =
            RowMat::from_fn(
                n,
                2 * k,
                |i, c| {
                    if c < k { v.get(i, c) } else { image.get(i, c - k) / length[c - k] }
                },
            );
        let q = orthonormalise(&both);
        let bq = multiply(b.as_mat(), q.as_mat());
        let (mut values, small) = symmetric_eigenpairs(&cross(&q, &bq))?;
        values.truncate(k);
        let next = multiply(q.as_mat(), small.as_mat().subcols(0, k));
        self.basis = Some(next);
        Some(values)
    }

    /// The vectors worth keeping: those above the threshold and a few more.
    fn kept(&self, values: &[f64], vectors: &RowMat, r: usize) -> Option<RowMat> {
        let shift = clipping(values, r);
        let above = values.iter().take_while(|w| **w > shift).count();
        let size = (above + SPARE).max(r + SPARE).min(values.len());
        Some(RowMat::from_fn(vectors.nrows(), size, |i, k| vectors.get(i, k)))
    }
}

/// θ with Σ clip(wₖ − θ, 0, 1) = r, for descending w; the sum is piecewise linear in θ.
pub(super) fn clipping(w: &[f64], r: usize) -> f64 {
    let sum = |theta: f64| w.iter().map(|v| (v - theta).clamp(0.0, 1.0)).sum::<f64>();
    let mut points: Vec<f64> = w.iter().flat_map(|v| [*v, *v - 1.0]).collect();
    sort_numbers(&mut points);
    let target = r.min(w.len()) as f64;
    let (mut low, mut high) = (0, points.len() - 1); // sum(low) ≥ target ≥ sum(high)
    while high - low > 1 {
        let middle = (low + high) / 2;
        if sum(points[middle]) >= target { low = middle } else { high = middle }
    }
    let (above, below) = (sum(points[low]), sum(points[high]));
    if above > below {
        points[low] + (above - target).max(0.0) / (above - below) * (points[high] - points[low])
    } else {
        points[low]
    }
}

/// An orthonormal start without symmetries.
fn start(n: usize, k: usize) -> RowMat {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    orthonormalise(&RowMat::from_fn(n, k, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(n: usize, seed: f64) -> RowMat {
        RowMat::from_fn(n, n, |i, j| {
            ((i * j) as f64 * seed).sin() / (1.0 + (i + j) as f64)
                + 3.0 * f64::from(u8::from(i == j && i < 9))
        })
    }

    #[test]
    fn clipping_gives_the_trace() {
        for (w, r) in [
            (vec![5.0, 4.0, 1.0, 0.0], 2),
            (vec![0.3, 0.2, 0.1, 0.0], 1),
            (vec![1.0, 1.0, 1.0], 3),
            (vec![2.0; 5], 2),
            (vec![0.0; 4], 3),
        ] {
            let theta = clipping(&w, r);
            let sum: f64 = w.iter().map(|v| (v - theta).clamp(0.0, 1.0)).sum();
            assert!((sum - r as f64).abs() <= 1e-12, "{w:?}: {sum}");
        }
    }

    #[test]
    fn a_large_matrix_is_left_where_nobody_waits() {
        let over = orthopt_linalg::cancel::Cancel::never();
        over.cancel();
        let (small, large) = (symmetric(40, 0.37), symmetric(400, 0.37));
        let mut fantope = Fantope::default();
        assert!(over.during(|| fantope.sum_of_largest(&small, 3)).is_some());
        assert!(over.during(|| fantope.sum_of_largest(&large, 3)).is_none());
        assert!(fantope.sum_of_largest(&large, 3).is_some());
    }

    #[test]
    fn partial_projection_converges_to_the_dense_one() {
        let (n, r) = (220, 4);
        let b = symmetric(n, 0.37);
        let (values, vectors) = symmetric_eigenpairs(&b).unwrap();
        let shift = clipping(&values, r);
        let slow = RowMat::from_fn(n, n, |i, j| {
            (0..n).map(|k| (values[k] - shift).clamp(0.0, 1.0) * vectors.get(i, k) * vectors.get(j, k)).sum()
        });
        let mut fantope = Fantope::default();
        let mut fast = fantope.project(&b, r).unwrap();
        for _ in 0..60 {
            fast = fantope.project(&b, r).unwrap();
        }
        let error = fast.data().iter().zip(slow.data()).fold(0.0f64, |e, (a, b)| e.max((a - b).abs()));
        assert!(error <= 1e-8, "{error:e}");
        let sum = fantope.sum_of_largest(&b, r).unwrap();
        assert!((sum - values[..r].iter().sum::<f64>()).abs() <= 1e-8);
    }
}
