//! The largest eigenvalue in magnitude of a symmetric operator, by the Lanczos iteration.

use super::RowMat;
use super::kernels::{axpy, inner};
use super::small::symmetric_eigen;

/// Steps after which the iteration is given up.
const MOST: usize = 400;
/// Residual of the leading Ritz pair, relative to its value, at which it counts as converged.
const TOLERANCE: f64 = 1e-7;

/// |λ|max of the symmetric n × n operator `apply` (on n × 1 matrices): the leading Ritz value
/// plus its residual, an upper bound as soon as the pair belongs to the leading eigenvector.
/// `None` where the operator gives numbers that are not finite or the iteration does not converge.
///
/// k steps from a fixed start, each orthogonalised against all before it: k products and 4nk²
/// flops. An operator of rank m ends after m + 1 steps.
pub fn largest_magnitude(n: usize, apply: impl Fn(&RowMat) -> RowMat) -> Option<f64> {
    let mut basis: Vec<RowMat> = vec![start(n)];
    let (mut diagonal, mut off) = (Vec::new(), Vec::new()); // T, tridiagonal
    let (mut scale, mut due) = (0.0f64, 2);
    for k in 0..MOST.min(n) {
        let mut w = apply(&basis[k]);
        diagonal.push(inner(w.data(), basis[k].data()));
        // twice is enough (Kahan): the second pass removes what rounding left of the first
        for v in basis.iter().chain(&basis) {
            let c = inner(w.data(), v.data());
            axpy(-c, v.data(), w.data_mut());
        }
        let beta = w.norm();
        if !beta.is_finite() {
            return None;
        }
        scale = scale.max(diagonal[k].abs()).max(beta);
        let invariant = beta <= 1e-14 * scale || k + 1 == n;
        if invariant || k + 1 == due {
            let (value, last) = leading_ritz(&diagonal, &off)?;
            let residual = if invariant { 0.0 } else { beta * last };
            if residual <= TOLERANCE * value {
                return Some(value + residual);
            }
            due = (due + 4).max(due + due / 3);
        }
        off.push(beta);
        w.data_mut().iter_mut().for_each(|x| *x /= beta);
        basis.push(w);
    }
    None
}

/// A unit vector without symmetries: a multiplicative congruence in every entry.
fn start(n: usize) -> RowMat {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut v = RowMat::from_fn(n, 1, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    });
    let length = v.norm();
    if length > 0.0 {
        v.data_mut().iter_mut().for_each(|x| *x /= length);
    }
    v
}

/// |θ| of the eigenvalue of T that is largest in magnitude, and the last entry of its vector.
fn leading_ritz(diagonal: &[f64], off: &[f64]) -> Option<(f64, f64)> {
    let k = diagonal.len();
    let t = RowMat::from_fn(k, k, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    let (values, vectors) = symmetric_eigen(&t)?;
    let best = if values[0].abs() > values[k - 1].abs() { 0 } else { k - 1 };
    Some((values[best].abs(), vectors.get(k - 1, best).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagonal(values: Vec<f64>) -> Option<f64> {
        largest_magnitude(values.len(), |v| RowMat::from_fn(values.len(), 1, |i, _| values[i] * v.get(i, 0)))
    }

    #[test]
    fn finds_the_larger_end_of_the_spectrum() {
        let n = 300;
        for (low, high) in [(-2.0, 1.0), (-1.0, 1.3), (0.0, 5.0), (-4.0, -1.0)] {
            let values = (0..n).map(|i| low + (high - low) * i as f64 / (n - 1) as f64).collect();
            let (found, known) = (diagonal(values).unwrap(), f64::max(-low, high));
            assert!(found >= known * (1.0 - 1e-14) && found <= known * (1.0 + 1e-6), "{found} for {known}");
        }
    }

    #[test]
    fn ends_early_where_it_can() {
        assert_eq!(diagonal(vec![0.0; 5]), Some(0.0));
        assert!((diagonal(vec![3.0; 50]).unwrap() - 3.0).abs() <= 1e-14);
        assert_eq!(diagonal(vec![-7.0]), Some(7.0));
        assert_eq!(diagonal(vec![f64::NAN; 4]), None);
    }
}
