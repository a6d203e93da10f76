//! All components together on fixed supports: the part of the Stiefel manifold where X keeps its zeros.

use super::component::block;
use orthopt_core::constraint::stiefel;
use orthopt_core::problem::nonzero_rows;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::masked_system::MaskedSystem;
use orthopt_linalg::products::{cross, multiply};
use orthopt_linalg::work::count;

/// Steps, at most, and the share of the variance that one must bring.
const STEPS: usize = 40;
const LEAST: f64 = 1e-9;
/// Fixed cost of a step, in units of work.
const OVERHEAD: usize = 300_000;
/// Up to so many rows C is formed on them.
const FORMED: usize = 400;
/// ‖XᵀX − I‖_F that a step may leave.
const FEASIBLE: f64 = 1e-12;

/// P ∘ (CX + XΛ) for the Λ that makes it tangent, the negative Riemannian gradient of f on the zeros of X.
pub fn tangent(x: &RowMat, cx: &RowMat) -> RowMat {
    let (n, r) = (x.nrows(), x.ncols());
    let masked =
        |v: &RowMat| RowMat::from_fn(n, r, |i, k| if x.get(i, k) != 0.0 { v.get(i, k) } else { 0.0 });
    let mut d = masked(cx);
    let mut system = MaskedSystem::new(n, r);
    for (p, v) in system.mask().iter_mut().zip(x.data()) {
        *p = f64::from(u8::from(*v != 0.0));
    }
    for _ in 0..2 {
        // the second time for the digits that regularisation takes
        let m = cross(x, &d);
        let e = m.symmetric_part();
        let lambda = system.solve(x, &e, 0.0);
        let xl = multiply(x.as_mat(), lambda.as_mat());
        let xl = masked(&xl);
        d.data_mut().iter_mut().zip(xl.data()).for_each(|(a, b)| *a += b);
    }
    d
}

/// Lowers −½ tr(XᵀCX) by steps along the gradient, each repaired on the support, until they bring nothing;
/// whether it did.
pub(super) fn polish<F: Quadratic>(f: &F, x: &mut RowMat) -> bool {
    let rows = nonzero_rows(x);
    let r = x.ncols();
    let c = (rows.len() <= FORMED).then(|| block(f, &rows));
    let times = |y: &RowMat| match &c {
        Some(c) => multiply(c.as_mat(), y.as_mat()),
        None => {
            let mut full = RowMat::zeros(f.nrows(), r);
            rows.iter().enumerate().for_each(|(a, i)| full.row_mut(*i).copy_from_slice(y.row(a)));
            let image = f.apply(&full);
            RowMat::from_fn(rows.len(), r, |a, k| -image.get(rows[a], k))
        }
    };
    let y = RowMat::from_fn(rows.len(), r, |a, k| x.get(rows[a], k));
    let image = times(&y);
    let first = y.inner(&image);
    let restored = |mut next: RowMat| {
        count(OVERHEAD);
        (stiefel::repair_on_support(&mut next) <= FEASIBLE).then(|| {
            let image = times(&next);
            (next, image)
        })
    };
    let Some((y, value)) = climb((y, image), &|y, image| Some(tangent(y, image)), &restored, (STEPS, LEAST))
    else {
        return false;
    };
    if value - first <= LEAST * value.abs() {
        return false;
    }
    rows.iter().enumerate().for_each(|(a, i)| x.row_mut(*i).copy_from_slice(y.row(a)));
    true
}

/// Raises ⟨Y, image of Y⟩ by steps along a direction, each `restored` (with its image) to the constraints, until they
/// bring less than the share `least`, at most `steps`. `None` where there is no direction.
pub(crate) fn climb(
    (mut y, mut image): (RowMat, RowMat),
    direction: &dyn Fn(&RowMat, &RowMat) -> Option<RowMat>,
    restored: &dyn Fn(RowMat) -> Option<(RowMat, RowMat)>,
    (steps, least): (usize, f64),
) -> Option<(RowMat, f64)> {
    let mut value = y.inner(&image);
    let mut step = 1.0 / (value.abs() / y.ncols() as f64).max(f64::MIN_POSITIVE);
    for _ in 0..steps {
        let d = direction(&y, &image)?;
        let before = value;
        for _ in 0..8 {
            let mut next = y.clone();
            next.data_mut().iter_mut().zip(d.data()).for_each(|(a, b)| *a += step * b);
            if let Some((next, after)) = restored(next) {
                let reached = next.inner(&after);
                if reached > value {
                    (y, image, value) = (next, after, reached);
                    step *= 1.6;
                    break;
                }
            }
            step *= 0.3;
        }
        if value - before <= least * value.abs() {
            break;
        }
    }
    Some((y, value))
}
