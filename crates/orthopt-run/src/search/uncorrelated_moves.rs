//! Moves from good points to others with uncorrelated components: each gives supports, X solved on them.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::Tuning;
use super::cardinality_moves::{Anew, Shake, by_rank};
use super::moves::{Perturbation, taken_out};
use orthopt_core::problem::{Cardinality, support};
use orthopt_core::smooth::Quadratic;
use orthopt_limits::exchange::component::{orthonormal, project};
use orthopt_limits::problem::MeasuredProblem;
use orthopt_limits::uncorrelated::rounded;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::{ascending_to, descending};

const T: Tuning = Tuning::DEFAULT;

impl<F: Quadratic> Perturbation<MeasuredProblem<F>> for Shake {
    fn name(&self) -> &'static str {
        "nonzeros exchanged"
    }

    fn point(&self, p: &MeasuredProblem<F>, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        let mut x = best[rng.random_range(0..best.len().min(3))].clone();
        let scores = p.f.quadratic().apply(&x); // −CX
        let filled = x.data().iter().filter(|v| **v != 0.0).count() as f64;
        let count = (T.shake * filled).max(1.0).powf(rng.random::<f64>()).round() as usize;
        for _ in 0..count.max(1) {
            let k = rng.random_range(0..p.rank());
            let inside = support(&x, k);
            let out = *inside.get(rng.random_range(0..inside.len().max(1)))?;
            let mut outside: Vec<usize> = (0..p.nrows()).filter(|i| x.get(*i, k) == 0.0).collect();
            descending(&mut outside, &|i| scores.get(i, k).abs());
            let enter = *outside.get(by_rank(outside.len(), rng))?;
            x.set(enter, k, x.get(out, k).abs().max(0.1));
            x.set(out, k, 0.0);
        }
        rounded(p, &x)
    }
}

impl<F: Quadratic> Perturbation<MeasuredProblem<F>> for Anew {
    fn name(&self) -> &'static str {
        "components solved anew"
    }

    fn point(
        &self,
        p: &MeasuredProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        cancel: &Cancel,
    ) -> Option<RowMat> {
        let mut x = best[rng.random_range(0..best.len().min(3))].clone();
        for k in taken_out(&mut x, rng) {
            let v = component_by_power(p, &x, p.most(k), (&mut *rng, cancel))?;
            v.iter().enumerate().for_each(|(i, e)| x.set(i, k, *e));
        }
        rounded(p, &x)
    }
}

/// Products.
const POWERS: usize = 12;

/// A vector with `size` entries by truncated power iterations from a row of large variance, the images of the columns
/// of `x` taken out of every product: what the component will nearly be uncorrelated with. The number of entries
/// falls by half until it is there (Yuan and Zhang 2013).
pub(crate) fn component_by_power<F: Quadratic>(
    p: &MeasuredProblem<F>,
    x: &RowMat,
    size: usize,
    (rng, cancel): (&mut Pcg64, &Cancel),
) -> Option<Vec<f64>> {
    let n = p.nrows();
    let images = p.f.quadratic().apply(x);
    let columns = (0..x.ncols()).map(|k| (0..n).map(|i| images.get(i, k)).collect::<Vec<_>>());
    let columns: Vec<Vec<f64>> = columns.filter(|c| c.iter().any(|e| *e != 0.0)).collect();
    let basis = orthonormal(&columns, n)?;
    let diagonal = p.f.quadratic().diagonal(); // −Cᵢᵢ
    let order = ascending_to(n, &|i| diagonal[i]);
    let first = *order.get(by_rank(n, rng))?;
    let mut v = RowMat::from_fn(n, 1, |i, _| f64::from(u8::from(i == first)));
    let mut most = n as f64;
    for _ in 0..POWERS {
        if cancel.is_over() {
            return None;
        }
        let mut w = p.f.quadratic().apply(&v);
        project(w.data_mut(), &basis);
        most = (0.5 * most).max(size as f64);
        Cardinality::Components(vec![most as usize]).truncate(&mut w);
        let length = w.norm();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        v = RowMat::from_fn(n, 1, |i, _| -w.get(i, 0) / length);
    }
    Cardinality::Components(vec![size]).truncate(&mut v);
    Some(v.data().to_vec())
}
