//! Steps (S2) to (S4) for k > 2 rows.
//!
//! With h = 0 and the diagonal model the block is solved at once by a polar factor (OBCD paper,
//! Lemma 2.3(b)). Otherwise its k rows, their gradient rows and their k × k curvature are
//! copied out and its pairs are swept (a local solution with K(V) ≤ K(I), Remark 2.4), each
//! move costing 4kr flops; one rank-k product then brings the image up to date.

use super::step::{PairStep, PairWork, Shape};
use super::{Model, RowMat};
use crate::linalg::kernels::is_zero;
use crate::linalg::products::product;
use crate::linalg::sequential::sequential;
use crate::linalg::simd::{Simd, WithSimd, dispatch};
use crate::nonsmooth::PairPenalty;
use crate::smooth::{BlockModel, Quadratic};

/// What a block step did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockDone {
    pub pairs: u64,
    pub moves: u64,
    pub decrease: f64,
    pub max_decrease: f64,
}

pub(crate) fn block_step<F: BlockModel, H: PairPenalty>(
    f: &F,
    h: &H,
    shape: Shape,
    x: &mut RowMat,
    image: &mut F::Image,
    work: &mut PairWork,
    rows: &[usize],
) -> BlockDone {
    let r = x.ncols();
    let old = RowMat::from_fn(rows.len(), r, |k, c| x.get(rows[k], c));
    if is_zero(old.data()) {
        return BlockDone::default();
    }
    let mut g = RowMat::zeros(rows.len(), r);
    for (k, i) in rows.iter().enumerate() {
        let row = f.gradient_row(image, *i, &mut work.g1);
        g.row_mut(k).copy_from_slice(row);
    }
    let local = Quadratic::block(f.curvature_block(rows), shape.concave);
    let mut z = old.clone();
    let smooth_only = h.kinks().is_empty() && shape.model == Model::Diagonal;
    let done = if smooth_only {
        polar_step(&local, shape, &mut z, &g)
    } else {
        let step = PairStep { f: &local, h, shape, x: &mut z, image: &mut g, work };
        dispatch(Sweep(step))
    };
    if done.moves > 0 {
        let delta = RowMat::from_fn(rows.len(), r, |k, c| z.get(k, c) - old.get(k, c));
        f.move_block(image, rows, &delta);
        rows.iter().enumerate().for_each(|(k, i)| x.row_mut(*i).copy_from_slice(z.row(k)));
    }
    done
}

/// One sweep over all pairs of a block. Sweeping on until nothing improves spends its pairs on
/// settling rows among themselves that the next blocks unsettle: on randn:500:1000, l1, it took
/// four times as long to the same F.
struct Sweep<'a, H>(PairStep<'a, Quadratic, H>);

impl<H: PairPenalty> WithSimd for Sweep<'_, H> {
    type Output = BlockDone;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> BlockDone {
        let mut step = self.0;
        let k = step.x.nrows();
        let mut done = BlockDone::default();
        for p in 0..k {
            for q in p + 1..k {
                let decrease = step.run_in(simd, p, q);
                done.pairs += 1;
                if decrease > 0.0 {
                    done.moves += 1;
                    done.decrease += decrease;
                    done.max_decrease = done.max_decrease.max(decrease);
                }
            }
        }
        done
    }
}

/// V = the nearest orthogonal matrix to (ς + α)I − G_B Zᵀ, by an SVD of size k.
fn polar_step(local: &Quadratic, shape: Shape, z: &mut RowMat, g: &RowMat) -> BlockDone {
    let k = z.nrows();
    let stay = BlockDone { pairs: (k * (k - 1) / 2) as u64, ..Default::default() };
    let damping = if shape.concave { 0.0 } else { block_bound(local, z) };
    let mut target = RowMat::from_fn(k, k, |i, j| if i == j { damping + shape.alpha } else { 0.0 });
    product(&mut target, true, -1.0, g.as_mat(), z.as_mat().transpose());
    let Ok(svd) = sequential(|| target.as_mat().svd()) else {
        return stay;
    };
    let v = svd.U() * svd.V().transpose();
    let mut new = RowMat::zeros(k, z.ncols());
    product(&mut new, false, 1.0, v.as_ref(), z.as_mat());
    let delta = RowMat::from_fn(k, z.ncols(), |i, c| new.get(i, c) - z.get(i, c));
    let decrease = -(g.inner(&delta) + 0.5 * delta.inner(&local.apply(&delta)));
    // ½‖V − I‖²_F
    let half_dist_sq: f64 = 0.5
        * (0..k)
            .flat_map(|i| (0..k).map(move |j| (i, j)))
            .map(|(i, j)| (v[(i, j)] - f64::from(u8::from(i == j))).powi(2))
            .sum::<f64>();
    if decrease > 0.0 && decrease >= shape.alpha * half_dist_sq {
        *z = new;
        BlockDone { moves: 1, decrease, max_decrease: decrease, ..stay }
    } else {
        stay
    }
}

/// ς ≥ λ_max(ZZᵀ)·λ_max(K)₊ by Frobenius norms.
fn block_bound(local: &Quadratic, z: &RowMat) -> f64 {
    let k = z.nrows();
    let curvature: f64 =
        (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).map(|(i, j)| local.curvature(i, j).powi(2)).sum();
    z.inner(z) * curvature.sqrt()
}
