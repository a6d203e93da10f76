//! Distances in the ultrahyperbolic space ⟨q, q⟩_J = −α².

use crate::constraint::j_orthogonal::Signature;
use orthopt_linalg::RowMat;
use orthopt_linalg::elementary::{acos_positive, acosh_1p};

/// d = α·acosh|k| for |k| ≥ 1, α·acos|k| otherwise, k = ⟨qᵢ, qⱼ⟩_J/α²; and d′(k).
///
/// d has an infinite slope at |k| = 1 and a kink at 0: there d′ := 0. `rounding` is the
/// rounding error of k near 1 (docs/mathematics.md, section 9).
#[inline(always)]
pub fn distance(k: f64, alpha: f64, rounding: f64) -> (f64, f64) {
    let (size, sign) = (k.abs(), if k == 0.0 { 0.0 } else { k.signum() });
    let over = size - 1.0;
    let root = (over.abs() * (size + 1.0)).sqrt(); // √|k² − 1|
    let slope = if over.abs() <= rounding { 0.0 } else { sign * alpha / root };
    // both sides of 1 without a branch, for loops over many k
    let far = acosh_1p(over.max(0.0));
    let near = acos_positive(size.min(1.0));
    if over >= 0.0 { (alpha * far, slope) } else { (alpha * near, -slope) }
}

/// The double projection φ(s, t) = (s, √(α² + |s|²)·t/|t|) of every row of U, s its entries with
/// Jᵢᵢ = 1 and t those with Jᵢᵢ = −1: a point with ⟨q, q⟩_J = −α².
pub fn project(u: &RowMat, j: &Signature, alpha: f64) -> RowMat {
    let mut q = u.clone();
    for i in 0..u.nrows() {
        let (_, w, t) = lengths(u.row(i), j, alpha);
        let row = q.row_mut(i);
        match t {
            Some(t) => j.minus().iter().for_each(|k| row[*k] *= w / t),
            None => j.minus().iter().enumerate().for_each(|(k, c)| row[*c] = if k == 0 { w } else { 0.0 }),
        }
    }
    q
}

/// Below this share of α the direction of t is rounding; the first axis is used instead.
const TINY: f64 = 1e-12;

/// |s|², √(α² + |s|²) and |t|, the last one `None` where it is too small to have a direction.
fn lengths(u: &[f64], j: &Signature, alpha: f64) -> (f64, f64, Option<f64>) {
    let s2: f64 = j.plus().iter().map(|k| u[*k] * u[*k]).sum();
    let t = j.minus().iter().map(|k| u[*k] * u[*k]).sum::<f64>().sqrt();
    (s2, (alpha * alpha + s2).sqrt(), (t >= TINY * alpha).then_some(t))
}

/// G ← the gradient with respect to U, given in G the gradient with respect to φ(U).
pub fn pull_back(u: &RowMat, j: &Signature, alpha: f64, g: &mut RowMat) {
    for i in 0..u.nrows() {
        let (row, out) = (u.row(i), g.row_mut(i));
        let (_, w, t) = lengths(row, j, alpha);
        let Some(t) = t else {
            // φ does not depend on the direction of t here
            let along = j.minus().first().map_or(0.0, |k| out[*k]);
            j.plus().iter().for_each(|k| out[*k] += row[*k] / w * along);
            j.minus().iter().for_each(|k| out[*k] = 0.0);
            continue;
        };
        let along: f64 = j.minus().iter().map(|k| row[*k] / t * out[*k]).sum(); // t̂·g_t
        j.plus().iter().for_each(|k| out[*k] += row[*k] / w * along);
        j.minus().iter().for_each(|k| out[*k] = w / t * (out[*k] - row[*k] / t * along));
    }
}
