//! An upper bound of a sum of eigenvalues that holds in floating point (docs/mathematics.md,
//! section 14).

use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::cholesky::cholesky;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::products::{gram, multiply, product};
use orthopt_linalg::sequential;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;
/// The shift begins at this share of the residual of approximate eigenpairs: what they miss is quadratic in it.
const RESIDUAL: f64 = 1e-3;
/// Above this n the factorisation is that of faer.
const BLOCKED: usize = 320;
/// Covers the rounding of the error terms themselves.
pub(super) const OUTWARD: f64 = 1.01;

/// γₖ = ku/(1 − ku): the relative error of k operations in a row.
pub(super) fn gamma(k: usize) -> f64 {
    let ku = k as f64 * U;
    ku / (1.0 - ku)
}

/// A number that is certainly not below the sum of the r largest eigenvalues of (½C − Z) ⊕ D for
/// the symmetric C and Z as stored and any diagonal D with entries up to `floor`. `None` where
/// nothing could be verified (entries that are not finite).
///
/// With θ, eigenvectors V and w = (λ − θ)₊, P = V diag(w) Vᵀ is positive semidefinite as it stands,
/// whatever V is; if also A = θI − ½C + Z + P ⪰ 0, the sum is at most rθ + tr P (Ky Fan). A ⪰ −cI is
/// proved by a Cholesky factorisation that runs to its end. Cost that of all eigenpairs.
pub(super) fn sum_of_largest(c: &RowMat, z: &RowMat, r: usize, floor: f64) -> Option<f64> {
    let m = difference(c, z);
    let (values, vectors) = symmetric_eigenpairs(&m)?;
    from_pairs(c, z, m, r, floor, (&values, &vectors))
}

/// A number that no eigenvalue of the symmetric `m` differs by more than from the value at its place in `values`, both in
/// descending order, for any square `vectors` V; small where these are eigenpairs to rounding.
///
/// With R = MV − VD, E = VᵀV − I and the orthogonal polar factor Q of V, ‖Q − V‖ ≤ ‖E‖_F, so
/// M − QDQᵀ = (R + M(Q − V) − (Q − V)D)Qᵀ has a norm up to ‖R‖_F + ‖E‖_F(‖M‖_F + max |d|): Weyl. R and E are computed
/// by sums of n + 2 operations at most, whose rounding is added. Cost 3n³ flops.
pub(super) fn eigenvalue_error(m: &RowMat, values: &[f64], vectors: &RowMat) -> f64 {
    let n = m.nrows();
    let mut r = multiply(m.as_mat(), vectors.as_mat());
    for i in 0..n {
        r.row_mut(i).iter_mut().zip(vectors.row(i)).zip(values).for_each(|((r, v), d)| *r -= v * d);
    }
    let mut e = gram(vectors);
    (0..n).for_each(|i| e.set(i, i, e.get(i, i) - 1.0));
    let (size, length) = (m.norm(), vectors.norm());
    let size = size + values.iter().fold(0.0f64, |most, d| most.max(d.abs()));
    let rounding = OUTWARD * gamma(n + 3);
    let residual = r.norm() + rounding * size * length;
    let defect = e.norm() + rounding * (length * length + (n as f64).sqrt());
    OUTWARD * (residual + defect * size) + f64::MIN_POSITIVE
}

/// ½C − Z as computed.
pub(super) fn difference(c: &RowMat, z: &RowMat) -> RowMat {
    let n = c.nrows();
    RowMat::from_fn(n, n, |i, j| 0.5 * c.get(i, j) - z.get(i, j))
}

/// Bound as in [`sum_of_largest`] from approximations of at least r leading eigenpairs of `m` = ½C − Z. It holds for
/// any approximations, and is closer for better ones. Cost n³/3 flops for each of a few factorisations. `None` as well
/// if n is large and the work is cancelled.
pub(super) fn from_pairs(
    c: &RowMat,
    z: &RowMat,
    m: RowMat,
    r: usize,
    floor: f64,
    (values, vectors): (&[f64], &RowMat),
) -> Option<f64> {
    let n = c.nrows();
    let theta = values[r - 1].max(floor);
    let k = values.iter().take_while(|w| **w > theta).count();
    let (p, trace, absolute) = positive_part(&values[..k], vectors, theta);
    // A without θI, and what rounding may have made of it
    let mut a = RowMat::from_fn(n, n, |i, j| p.get(i, j) - m.get(i, j));
    let entries = c.norm() * 0.5 + z.norm() + absolute;
    let diagonal: f64 = (0..n).map(|i| a.get(i, i).abs()).sum();
    let residual = if values.len() < n { RESIDUAL * residual(&m, &values[..k.max(r)], vectors) } else { 0.0 };
    let mut shift = 0.0f64;
    for _ in 0..80 {
        if n > BLOCKED && is_over() {
            return None;
        }
        let level = theta + shift;
        let error = OUTWARD * gamma(k + 6) * (entries + (n as f64).sqrt() * level.abs());
        let verified = OUTWARD * gamma(n + 2) * (diagonal + n as f64 * level.abs()) + f64::MIN_POSITIVE;
        if shift > 0.0 {
            let before: Vec<f64> = (0..n).map(|i| a.get(i, i)).collect();
            (0..n).for_each(|i| a.set(i, i, before[i] + level));
            if factorises(&a) {
                let sum = r as f64 * level + trace;
                let slack = r as f64 * (error + verified) + 4.0 * U * (r as f64 * level.abs() + trace);
                return Some(sum + OUTWARD * slack).filter(|v| v.is_finite());
            }
            (0..n).for_each(|i| a.set(i, i, before[i]));
            shift *= 4.0;
        } else {
            shift = (2.0 * (error + verified)).max(residual);
        }
    }
    None
}

/// True if a Cholesky factorisation runs to its end; in blocks where n is large, which sums in another order.
fn factorises(a: &RowMat) -> bool {
    if a.nrows() <= BLOCKED { cholesky(a).is_some() } else { sequential::cholesky(a.as_mat()).is_some() }
}

/// ‖MV − V diag(w)‖_F.
fn residual(m: &RowMat, values: &[f64], vectors: &RowMat) -> f64 {
    let (n, k) = (m.nrows(), values.len());
    let v = RowMat::from_fn(n, k, |i, c| vectors.get(i, c));
    let image = multiply(m.as_mat(), v.as_mat());
    let squares =
        (0..n).map(|i| (0..k).map(|c| (image.get(i, c) - values[c] * v.get(i, c)).powi(2)).sum::<f64>());
    squares.sum::<f64>().sqrt()
}

/// P = V diag(w − θ) Vᵀ, its trace rounded up, and a bound of ‖|V| diag(w − θ) |V|ᵀ‖_F.
fn positive_part(values: &[f64], vectors: &RowMat, theta: f64) -> (RowMat, f64, f64) {
    let (n, k) = (vectors.nrows(), values.len());
    let mut p = RowMat::zeros(n, n);
    if k == 0 {
        return (p, 0.0, 0.0);
    }
    let v = RowMat::from_fn(n, k, |i, c| vectors.get(i, c));
    let weighted = RowMat::from_fn(n, k, |i, c| v.get(i, c) * (values[c] - theta));
    product(&mut p, false, 1.0, weighted.as_mat(), v.as_mat().transpose());
    let trace: f64 =
        (0..k).map(|c| (values[c] - theta) * (0..n).map(|i| v.get(i, c).powi(2)).sum::<f64>()).sum();
    let up = trace * (1.0 + OUTWARD * gamma(n + k + 4));
    (p, up, up)
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

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_linalg::eigen::symmetric_eigenvalues;

    /// Values and vectors that are only near the eigenpairs: every eigenvalue is within the error of its place.
    #[test]
    fn eigenvalue_errors_hold_for_any_vectors() {
        for n in [1usize, 2, 7, 18] {
            let m = RowMat::from_fn(n, n, |i, j| ((i * j + i + j) as f64 * 0.37).cos());
            let (exact, vectors) = symmetric_eigenpairs(&m).unwrap();
            for (noise, close) in [(0.0, 1e-12), (1e-9, 1e-6), (1e-3, 1.0), (1.0, f64::INFINITY)] {
                let bad =
                    RowMat::from_fn(n, n, |i, k| vectors.get(i, k) + noise * ((3 * i + 5 * k) as f64).sin());
                let values: Vec<f64> =
                    exact.iter().enumerate().map(|(k, v)| v + noise * (k as f64).cos()).collect();
                let error = eigenvalue_error(&m, &values, &bad);
                let off = exact.iter().zip(&values).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
                assert!(off < error && error <= close * (n * n) as f64, "{n} {noise}: {off:e} {error:e}");
            }
        }
    }

    /// Approximate eigenpairs give a bound that holds, and one that is close where they are good.
    #[test]
    fn approximate_pairs_prove_a_bound_too() {
        let (n, r) = (340, 3);
        let c = RowMat::from_fn(n, n, |i, j| {
            ((i * j + i + j) as f64 * 0.37).cos() + 4.0 * f64::from(u8::from(i == j && i % 7 == 0))
        });
        let z = RowMat::from_fn(n, n, |i, j| 0.1 * ((i + j) as f64).sin());
        let m = difference(&c, &z);
        let (values, vectors) = symmetric_eigenpairs(&m).unwrap();
        let sum: f64 = values[..r].iter().sum();
        for (noise, close) in [(0.0, 1e-9), (1e-6, 1e-6), (1e-2, 1.0)] {
            let rough = RowMat::from_fn(n, 8, |i, k| vectors.get(i, k) + noise * ((i * 8 + k) as f64).sin());
            let rough = orthopt_core::constraint::stiefel::orthonormalise(&rough);
            let ritz: Vec<f64> = (0..8)
                .map(|k| {
                    let column = RowMat::from_fn(n, 1, |i, _| rough.get(i, k));
                    let image = multiply(m.as_mat(), column.as_mat());
                    image.data().iter().zip(column.data()).map(|(a, b)| a * b).sum()
                })
                .collect();
            let proved = from_pairs(&c, &z, m.clone(), r, f64::NEG_INFINITY, (&ritz, &rough)).unwrap();
            assert!(proved > sum && proved - sum <= close * sum.abs(), "{noise}: {:e}", proved - sum);
        }
    }

    #[test]
    fn is_above_the_sum_and_close() {
        for n in [1usize, 2, 5, 13, 60, 200] {
            let c = RowMat::from_fn(n, n, |i, j| ((i * j + i + j) as f64 * 0.37).cos() * 2.0);
            let z = RowMat::from_fn(n, n, |i, j| 0.1 * ((i + j) as f64).sin());
            let m = RowMat::from_fn(n, n, |i, j| 0.5 * c.get(i, j) - z.get(i, j));
            let values = symmetric_eigenvalues(&m).unwrap();
            for r in [1, 2, n / 2, n].into_iter().filter(|r| (1..=n).contains(r)) {
                let sum: f64 = values[..r].iter().sum();
                let proved = sum_of_largest(&c, &z, r, f64::NEG_INFINITY).unwrap();
                let close = 1e-14 * (r * n * n) as f64 * (1.0 + m.norm());
                assert!(proved > sum && proved - sum <= close, "{n} {r}: {:e}", proved - sum);
                let floored = sum_of_largest(&c, &z, r, 1e3).unwrap();
                assert!(floored >= 1e3 * r as f64);
            }
        }
        let zero = RowMat::zeros(3, 3);
        let proved = sum_of_largest(&zero, &zero, 2, f64::NEG_INFINITY).unwrap();
        assert!((0.0..1e-300).contains(&proved), "{proved:e}");
        assert!(sum_of_largest(&RowMat::from_fn(2, 2, |_, _| f64::NAN), &zero, 1, 0.0).is_none());
    }
}
