//! Jacobi rounds (OBCD paper, Appendix C.4): n/2 disjoint pairs at once with the diagonal model.
//!
//! For X⁺ that differs from X by a move of every pair, ‖X⁺ − X‖²_H ≤ λ_max(H)₊ Σ ‖Z_i‖²_sp
//! ‖V_i − I‖², so with ς_i = λ_max(H)₊‖Z_i‖²_sp the sum of the pairs' models majorises F. For a
//! concave f ς = 0 serves: a linearisation is enough. Pairs are solved in parallel, then one
//! matrix product brings the image up to date. X does not depend on the number of threads.
//!
//! If M is a multiple of the identity, as that of a majoriser of any smooth f, pairs do not interact: the model of each
//! is exact for any move of the others.

use crate::pair_descent::Tried;
use orthopt_core::pair::PairPenalty;
use orthopt_core::pair::step::{Pair, PairWork, Shape, apply_clean, solve_pair};
use orthopt_core::smooth::{GradientRow, Quadratic, gradient_row};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::is_zero;
use orthopt_linalg::parallel::map_with;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch, outlined};

/// Pairs one task solves.
const CHUNK: usize = 32;

/// Moves that one task found: rows and their new values.
#[derive(Default)]
struct Found {
    rows: Vec<usize>,
    z: Vec<f64>,
    offered: f64, // the largest decrease that a pair offered, taken or not
}

/// One round over the disjoint pairs `pairs`; those that offer no more than `least` are left alone. F falls by at
/// least α/2 Σ‖V_i − I‖².
pub(crate) fn jacobi_round<F: Quadratic, H: PairPenalty>(
    f: &F,
    h: &H,
    (shape, least): (Shape, f64),
    x: &mut RowMat,
    image: &mut F::Image,
    pairs: &[(usize, usize)],
) -> Tried {
    let r = x.ncols();
    let chunks: Vec<&[(usize, usize)]> = pairs.chunks(CHUNK).collect();
    let task = |work: &mut PairWork, k: usize| {
        dispatch(Task { f, h, shape, least, x, image, work, pairs: chunks[k] })
    };
    let Found { rows, z, offered } = together(map_with(chunks.len(), 1, || PairWork::new(r), task));
    let mut done = Tried { pairs: pairs.len() as u64, max_decrease: offered, ..Default::default() };
    if rows.is_empty() {
        return done;
    }
    let z = RowMat::from_vec(rows.len(), r, z).unwrap_or_else(|| RowMat::zeros(0, r));
    let (h_before, g_before) = (h_of(h, x, &rows), gradient_rows(f, image, x, &rows));
    let delta = RowMat::from_fn(rows.len(), r, |k, c| z.get(k, c) - x.get(rows[k], c));
    f.move_block(image, &rows, &delta);
    rows.iter().enumerate().for_each(|(k, i)| x.row_mut(*i).copy_from_slice(z.row(k)));
    done.moves = rows.len() as u64 / 2;
    // f is quadratic: f(X) − f(X⁺) = −½⟨Δ, ∇f(X) + ∇f(X⁺)⟩, without cancellation
    let smooth = -0.5 * (delta.inner(&g_before) + delta.inner(&gradient_rows(f, image, x, &rows)));
    done.decrease = smooth + h_before - h_of(h, x, &rows);
    done.max_decrease = offered.max(done.decrease);
    done
}

/// Results of all tasks, in their order.
fn together(found: Vec<Found>) -> Found {
    let mut all = Found::default();
    for one in found {
        all.rows.extend(one.rows);
        all.z.extend(one.z);
        all.offered = all.offered.max(one.offered);
    }
    all
}

fn gradient_rows<F: Quadratic>(f: &F, image: &F::Image, x: &RowMat, rows: &[usize]) -> RowMat {
    let r = x.ncols();
    let mut buf = vec![0.0; r];
    let mut g = RowMat::zeros(rows.len(), r);
    for (k, i) in rows.iter().enumerate() {
        g.row_mut(k).copy_from_slice(gradient_row(f, image, x, *i, &mut buf));
    }
    g
}

fn h_of<H: PairPenalty>(h: &H, x: &RowMat, rows: &[usize]) -> f64 {
    rows.iter().map(|i| h.value(x.row(*i))).sum()
}

struct Task<'a, F: Quadratic, H> {
    f: &'a F,
    h: &'a H,
    shape: Shape,
    least: f64,
    x: &'a RowMat,
    image: &'a F::Image,
    work: &'a mut PairWork,
    pairs: &'a [(usize, usize)],
}

impl<F: Quadratic, H: PairPenalty> WithSimd for Task<'_, F, H> {
    type Output = Found;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Found {
        let mut found = Found::default();
        let r = self.x.ncols();
        // no curvature, of which weights of columns would be part: the model is all that is known when others move too
        let k = self.f.isotropic().map_or([0.0; 3], |c| [c, 0.0, c]);
        for &(i, j) in self.pairs {
            let (z1, z2) = (self.x.row(i), self.x.row(j));
            if is_zero(z1) && is_zero(z2) {
                continue;
            }
            let PairWork { scratch, g1, g2, new1, new2, .. } = &mut *self.work;
            let Self { f, image, x, .. } = self;
            let gi = outlined(simd, GradientRow { f, image, x, i, buf: g1 });
            let gj = outlined(simd, GradientRow { f, image, x, i: j, buf: g2 });
            let pair = Pair { k, d: None, g: (gi, gj), z: (z1, z2) };
            let solved = solve_pair(simd, self.h, self.shape, pair, (scratch, new1, new2));
            found.offered = found.offered.max(solved.offered);
            if let Some(step) = solved.step.filter(|_| solved.decrease > self.least) {
                apply_clean(self.h, &step, (z1, z2), new1, new2);
                found.rows.extend([i, j]);
                found.z.extend_from_slice(&new1[..r]);
                found.z.extend_from_slice(&new2[..r]);
            }
        }
        found
    }
}
