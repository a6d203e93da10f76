//! The varimax rotation (Kaiser 1958).

use super::RowMat;
use super::products::{cross, product};
use super::sequential::svd;
use super::simd::dispatch;
use crate::cancel::is_over;

/// Maximum number of rotations.
const MOST: usize = 200;
/// Relative growth of the criterion at which it ends.
const ENOUGH: f64 = 1e-10;

/// VR with the orthogonal R (r × r) of a local maximum of Σₖ (Σᵢ yᵢₖ⁴ − (Σᵢ yᵢₖ²)²/n), Y = VR, for V with
/// orthonormal columns: few large entries in each. By polar factors of the gradient, which never lower
/// the convex Σ yᵢₖ⁴; cost 4nr² per rotation.
pub fn varimax(v: &RowMat) -> RowMat {
    varimax_until(v, ENOUGH)
}

/// [`varimax`] until the criterion grows by less than the share `enough` in a rotation.
pub fn varimax_until(v: &RowMat, enough: f64) -> RowMat {
    let r = v.ncols();
    let (mut y, mut before) = (v.clone(), 0.0);
    let mut cubes = v.clone();
    for _ in 0..MOST {
        if is_over() {
            break;
        }
        // columns of Y have the norms of V's: what varimax subtracts is constant
        let out = cubes.data_mut();
        dispatch(|| {
            for (c, y) in out.iter_mut().zip(y.data()) {
                *c = y * y * y;
            }
        });
        let Some(found) = svd(cross(v, &cubes).as_mat(), false) else { break };
        let criterion: f64 = found.sigma.iter().sum();
        if !criterion.is_finite() || criterion <= before * (1.0 + enough) {
            break;
        }
        before = criterion;
        let mut turn = RowMat::zeros(r, r);
        let u = RowMat::from_mat(found.u.as_ref());
        product(&mut turn, false, 1.0, u.as_mat(), found.v.transpose());
        product(&mut y, false, 1.0, v.as_mat(), turn.as_mat());
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feasibility;

    #[test]
    fn finds_disjoint_columns_again() {
        // two disjoint unit columns, turned by an angle
        let (n, angle) = (8, 0.6f64);
        let plain = RowMat::from_fn(n, 2, |i, k| if i / 4 == k { 0.5 } else { 0.0 });
        let (s, c) = angle.sin_cos();
        let turned = RowMat::from_fn(n, 2, |i, k| {
            let (a, b) = (plain.get(i, 0), plain.get(i, 1));
            if k == 0 { c * a + s * b } else { c * b - s * a }
        });
        let y = varimax(&turned);
        assert!(feasibility(&y) <= 1e-12);
        let small = y.data().iter().filter(|v| v.abs() < 1e-3).count();
        assert_eq!(small, n, "{y:?}");
    }

    #[test]
    fn one_column_stays() {
        let v = RowMat::from_fn(4, 1, |_, _| 0.5);
        assert_eq!(varimax(&v).data().iter().map(|v| v.abs()).sum::<f64>(), 2.0);
    }
}
