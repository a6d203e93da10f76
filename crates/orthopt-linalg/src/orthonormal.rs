//! The nearest matrix with orthonormal columns, for methods that need it at every iteration.

use super::RowMat;
use super::products::{gram, product};
use super::sequential::{qr, svd};
use super::small::spectral_function;
use super::work::count;

/// Further work per entry of an iteration with an orthonormalisation, in multiplications of a product.
const PASSES: usize = 30;
/// Fixed cost for any size of the matrices.
const ITERATION: usize = 40_000;

/// G^{−1/2} of a symmetric positive definite G (r × r); `None` where G is not that, or too ill
/// conditioned for its root to have digits.
///
/// Near a multiple of I (the Gram matrix of a retracted tangent step) by the coupled
/// Newton–Schulz iteration, a dozen r × r products; otherwise by the eigendecomposition.
pub fn inverse_root(g: &RowMat) -> Option<RowMat> {
    let r = g.nrows();
    let mean = (0..r).map(|k| g.get(k, k)).sum::<f64>() / r as f64;
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    match newton_schulz(g, mean) {
        Some(z) => Some(z),
        None => {
            let least = 1e-9 * mean;
            let root = spectral_function(g, |w| if w > least { 1.0 / w.sqrt() } else { f64::NAN })?;
            root.find_non_finite().is_none().then_some(root)
        }
    }
}

/// Z → (G/c)^{−1/2}, then scaled by c^{−1/2}; `None` unless ‖G/c − I‖_F ≤ ½.
fn newton_schulz(g: &RowMat, c: f64) -> Option<RowMat> {
    let r = g.nrows();
    let mut y = g.clone();
    y.data_mut().iter_mut().for_each(|v| *v /= c);
    let mut error = distance_to_identity(&y);
    if error.is_nan() || error > 0.5 {
        return None;
    }
    let mut z = RowMat::from_fn(r, r, |i, j| f64::from(u8::from(i == j)));
    let (mut w, mut next) = (RowMat::zeros(r, r), RowMat::zeros(r, r));
    loop {
        // W = (3I − ZY)/2, Y ← YW, Z ← WZ
        product(&mut w, false, -0.5, z.as_mat(), y.as_mat());
        (0..r).for_each(|k| w.set(k, k, w.get(k, k) + 1.5));
        product(&mut next, false, 1.0, y.as_mat(), w.as_mat());
        std::mem::swap(&mut y, &mut next);
        product(&mut next, false, 1.0, w.as_mat(), z.as_mat());
        std::mem::swap(&mut z, &mut next);
        // ZY → I quadratically: once it was within 1e-8, this step has made it exact
        if error <= 1e-8 {
            break;
        }
        product(&mut w, false, 1.0, z.as_mat(), y.as_mat());
        error = distance_to_identity(&w);
    }
    let scale = 1.0 / c.sqrt();
    z.data_mut().iter_mut().for_each(|v| *v *= scale);
    Some(z)
}

fn distance_to_identity(m: &RowMat) -> f64 {
    let mut sum = 0.0;
    for i in 0..m.nrows() {
        for (j, v) in m.row(i).iter().enumerate() {
            sum += (v - f64::from(u8::from(i == j))).powi(2);
        }
    }
    sum.sqrt()
}

/// out ← Y(YᵀY)^{−1/2}, the polar factor of Y (n × r): the nearest matrix with orthonormal
/// columns. If Y is rank deficient, the maximiser of ⟨Y, X⟩ is not unique, and one of them is returned. `false`, and
/// `out` untouched, where Y is not finite.
///
/// Cost 4nr² flops near feasibility, twice that or a thin SVD elsewhere.
pub fn nearest(y: &RowMat, out: &mut RowMat) -> bool {
    count(ITERATION + PASSES * y.data().len());
    let g = gram(y);
    if let Some(root) = inverse_root(&g) {
        product(out, false, 1.0, y.as_mat(), root.as_mat());
        // squaring loses digits of an ill-conditioned Y, a second pass restores them
        let again = gram(out);
        if distance_to_identity(&again) <= 1e-13 {
            return true;
        }
        if let Some(root) = inverse_root(&again) {
            let once = out.clone();
            product(out, false, 1.0, once.as_mat(), root.as_mat());
            if distance_to_identity(&gram(out)) <= 1e-12 {
                return true;
            }
        }
    }
    nearest_by_svd(y, out)
}

fn nearest_by_svd(y: &RowMat, out: &mut RowMat) -> bool {
    if y.find_non_finite().is_some() {
        return false;
    }
    let Some(svd) = svd(y.as_mat(), true) else { return false };
    product(out, false, 1.0, svd.u.as_ref(), svd.v.transpose());
    out.find_non_finite().is_none()
}

/// The Q factor of X (n × r) by Householder QR, columns signed so that R has a positive
/// diagonal. Cost 4nr² flops.
pub fn orthonormalise(x: &RowMat) -> RowMat {
    let (q, diagonal) = qr(x.as_mat());
    let mut q = RowMat::from_mat(q.as_ref());
    for k in 0..x.ncols() {
        if diagonal[k] < 0.0 {
            (0..x.nrows()).for_each(|i| q.set(i, k, -q.get(i, k)));
        }
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feasibility;

    fn sample(n: usize, r: usize, spread: f64) -> RowMat {
        RowMat::from_fn(n, r, |i, k| spread.powi(k as i32) * ((i * (k + 2)) as f64 * 0.7 + k as f64).sin())
    }

    fn apart(a: &RowMat, b: &RowMat) -> f64 {
        a.data().iter().zip(b.data()).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
    }

    #[test]
    fn agrees_with_the_svd() {
        for (n, r, spread) in [(1, 1, 1.0), (40, 5, 1.0), (40, 5, 0.1), (30, 4, 1e-3), (6, 6, 0.9)] {
            let y = sample(n, r, spread);
            let (mut fast, mut slow) = (RowMat::zeros(n, r), RowMat::zeros(n, r));
            assert!(nearest(&y, &mut fast) && nearest_by_svd(&y, &mut slow));
            assert!(feasibility(&fast) <= 1e-12, "{n} {r}: {:e}", feasibility(&fast));
            assert!(apart(&fast, &slow) <= 1e-12 / spread.powi(r as i32), "{n} {r}");
        }
    }

    #[test]
    fn newton_schulz_agrees_with_the_eigendecomposition() {
        for size in [0.0, 1e-9, 1e-3, 0.05] {
            let d = sample(9, 4, 1.0);
            let mut g = gram(&d);
            g.data_mut().iter_mut().for_each(|v| *v *= size);
            (0..4).for_each(|k| g.set(k, k, g.get(k, k) + 1.0));
            let (fast, slow) =
                (newton_schulz(&g, 1.0).unwrap(), spectral_function(&g, |w| 1.0 / w.sqrt()).unwrap());
            assert!(apart(&fast, &slow) <= 1e-14, "{size}: {:e}", apart(&fast, &slow));
        }
    }

    #[test]
    fn lost_rank_and_broken_numbers() {
        let mut out = RowMat::zeros(4, 2);
        for y in [RowMat::zeros(4, 2), RowMat::from_fn(4, 2, |i, _| i as f64)] {
            assert!(nearest(&y, &mut out) && feasibility(&out) <= 1e-12);
        }
        assert!(!nearest(&RowMat::from_fn(4, 2, |_, _| f64::NAN), &mut out));
    }
}
