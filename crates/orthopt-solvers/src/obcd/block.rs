//! Steps (S2) to (S4) for k > 2 rows, several disjoint blocks at a time.
//!
//! With h = 0 and the diagonal model, or M = cI, a block is solved at once by a polar factor (OBCD paper,
//! Lemma 2.3(b)). Otherwise its k rows, their gradient rows and their k × k curvature are
//! copied out and its pairs are swept (a local solution with K(V) ≤ K(I), Remark 2.4), each
//! move costing 4kr flops; one matrix product then brings the image up to date.
//!
//! The blocks of a round are solved in parallel from the same X. What they gain together is
//! known exactly, because f is quadratic: the sum of their own gains minus the cross terms
//! tr(Δ_aᵀ M_ab Δ_b). They are accepted in order, each only if it still lowers F by
//! α/2‖Δ_b‖² after the cross terms with those before it, so F falls as in the sequential method,
//! and X does not depend on the number of threads.

use crate::pair_descent::Tried;
use orthopt_core::pair::PairPenalty;
use orthopt_core::pair::rows::PairStep;
use orthopt_core::pair::step::Model;
use orthopt_core::pair::step::{PairWork, Shape};
use orthopt_core::smooth::{DenseQuadratic, HessianVector, Quadratic, QuadraticImage, Smooth, gradient_row};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::{inner, is_zero};
use orthopt_linalg::parallel::{map, map_with};
use orthopt_linalg::products::{multiply, product};
use orthopt_linalg::sequential::svd;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};
use orthopt_linalg::work::{count, counted};

/// A block that has been solved but not yet written back.
struct Solved<'a> {
    rows: &'a [usize],
    z: RowMat,     // its new rows
    delta: RowMat, // their change
    done: Tried,
}

/// Solves disjoint blocks in parallel and applies those that lower F together; pairs that lower
/// it by no more than `least` are left alone.
#[allow(clippy::too_many_arguments)]
pub(crate) fn block_round<F: Quadratic, H: PairPenalty>(
    f: &F,
    h: &H,
    shape: Shape,
    least: f64,
    x: &mut RowMat,
    image: &mut F::Image,
    blocks: &[Vec<usize>],
) -> Tried {
    let r = x.ncols();
    // work is counted on the thread that asked for it
    let solve = |buffers: &mut PairWork, b: usize| {
        counted(|| solve_block(f, h, (shape, least), x, image, &blocks[b], buffers))
    };
    let solved: Vec<(Solved<'_>, u64)> = map_with(blocks.len(), 1, || PairWork::new(r), solve);
    count(solved.iter().map(|s| s.1).sum::<u64>() as usize);
    let mut total = Tried::default();
    for (block, _) in &solved {
        total.pairs += block.done.pairs;
        // also what a refused block offered: a pass that certifies must have seen it
        total.max_decrease = total.max_decrease.max(block.done.max_decrease);
    }
    let moved: Vec<&Solved<'_>> = solved.iter().map(|s| &s.0).filter(|b| b.done.moves > 0).collect();
    let against = |b: usize| moved[..b].iter().map(|a| cross_term(f, a, moved[b])).collect();
    let crosses: Vec<Vec<f64>> = map(moved.len(), 1, |b| counted(|| against(b)).0);
    let mut taken: Vec<usize> = Vec::with_capacity(moved.len());
    for (b, block) in moved.iter().enumerate() {
        let cross: f64 = taken.iter().map(|a| crosses[b][*a]).sum();
        let decrease = block.done.decrease - cross;
        let proximal = 0.5 * shape.alpha * block.delta.inner(&block.delta);
        if decrease > 0.0 && (cross <= 0.0 || decrease >= proximal) {
            total.moves += block.done.moves;
            total.decrease += decrease;
            taken.push(b);
        }
    }
    let accepted: Vec<&Solved<'_>> = taken.into_iter().map(|b| moved[b]).collect();
    if !accepted.is_empty() {
        let (rows, delta) = stacked(&accepted, r);
        f.move_block(image, &rows, &delta);
        for block in accepted {
            block.rows.iter().enumerate().for_each(|(k, i)| x.row_mut(*i).copy_from_slice(block.z.row(k)));
        }
    }
    total
}

/// The rows of all blocks and their changes.
fn stacked(blocks: &[&Solved<'_>], r: usize) -> (Vec<usize>, RowMat) {
    let (mut rows, mut delta) = (Vec::new(), Vec::new());
    for block in blocks {
        rows.extend_from_slice(block.rows);
        delta.extend_from_slice(block.delta.data());
    }
    let delta = RowMat::from_vec(rows.len(), r, delta).unwrap_or_else(|| RowMat::zeros(0, r));
    (rows, delta)
}

/// tr(Δ_aᵀ M_ab Δ_b), with the weights of columns tr(Δ_aᵀ M_ab Δ_b D).
fn cross_term<F: Quadratic>(f: &F, a: &Solved<'_>, b: &Solved<'_>) -> f64 {
    let m = RowMat::from_fn(a.rows.len(), b.rows.len(), |p, q| f.curvature(a.rows[p], b.rows[q]));
    let mb = multiply(m.as_mat(), b.delta.as_mat());
    match f.column_weights() {
        None => a.delta.inner(&mb),
        Some(d) => inner(&inner_of_columns(&a.delta, &mb), d),
    }
}

/// ⟨aₖ, bₖ⟩ of every column.
fn inner_of_columns(a: &RowMat, b: &RowMat) -> Vec<f64> {
    (0..a.ncols()).map(|k| (0..a.nrows()).map(|i| a.get(i, k) * b.get(i, k)).sum()).collect()
}

fn solve_block<'a, F: Quadratic, H: PairPenalty>(
    f: &F,
    h: &H,
    (shape, least): (Shape, f64),
    x: &RowMat,
    image: &F::Image,
    rows: &'a [usize],
    work: &mut PairWork,
) -> Solved<'a> {
    let r = x.ncols();
    let old = RowMat::from_fn(rows.len(), r, |k, c| x.get(rows[k], c));
    let mut z = old.clone();
    let mut done = Tried::default();
    if !is_zero(old.data()) {
        let mut g = RowMat::zeros(rows.len(), r);
        for (k, i) in rows.iter().enumerate() {
            g.row_mut(k).copy_from_slice(gradient_row(f, image, x, *i, &mut work.g1));
        }
        let local = DenseQuadratic::block(f.curvature_block(rows), f);
        let isotropic = f.isotropic();
        let at_once = h.kinks().is_empty() && (shape.model == Model::Diagonal || isotropic.is_some());
        if at_once {
            done = polar_step((&local, isotropic), shape, least, &mut z, &g);
        }
        // gains that are nothing beside the rounding of a polar factor are left to pairs
        if !at_once || isotropic.is_some() && done.moves == 0 {
            let image = &mut QuadraticImage::Kept(g);
            done =
                dispatch(Sweep(PairStep { f: &local, h, shape, x: &mut z, image, work, cache: None, least }));
        }
    }
    let delta = RowMat::from_fn(rows.len(), r, |k, c| z.get(k, c) - old.get(k, c));
    Solved { rows, z, delta, done }
}

/// One sweep over all pairs of a block. Sweeping on until nothing improves spends its pairs on
/// settling rows among themselves that the next blocks unsettle: on randn:500:1000, l1, it took
/// four times as long to the same F.
struct Sweep<'a, H>(PairStep<'a, DenseQuadratic, H>);

impl<H: PairPenalty> WithSimd for Sweep<'_, H> {
    type Output = Tried;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Tried {
        let mut step = self.0;
        let k = step.x.nrows();
        let mut done = Tried::default();
        for p in 0..k {
            for q in p + 1..k {
                let pair = step.run_in(simd, p, q);
                done.pairs += 1;
                done.max_decrease = done.max_decrease.max(pair.offered);
                if pair.decrease > 0.0 {
                    done.moves += 1;
                    done.decrease += pair.decrease;
                }
            }
        }
        done
    }
}

/// V = the nearest orthogonal matrix to (ς + α)I − G_B Zᵀ, or to cZZᵀ + αI − G_B Zᵀ with the exact model of M = cI,
/// by an SVD of size k.
fn polar_step(
    (local, isotropic): (&DenseQuadratic, Option<f64>),
    shape: Shape,
    least: f64,
    z: &mut RowMat,
    g: &RowMat,
) -> Tried {
    let k = z.nrows();
    let stay = Tried { pairs: (k * (k - 1) / 2) as u64, ..Default::default() };
    let exact = isotropic.filter(|_| shape.model == Model::Exact);
    let damping = match isotropic {
        _ if exact.is_some() || local.is_concave() => 0.0,
        Some(c) => c * z.inner(z).min(1.0), // rows of X: ‖ZZᵀ‖ ≤ 1
        None => block_bound(local, z),
    };
    let mut target = RowMat::from_fn(k, k, |i, j| if i == j { damping + shape.alpha } else { 0.0 });
    if let Some(c) = exact {
        product(&mut target, true, c, z.as_mat(), z.as_mat().transpose());
    }
    product(&mut target, true, -1.0, g.as_mat(), z.as_mat().transpose());
    let Some(svd) = svd(target.as_mat(), false) else {
        return stay;
    };
    let v = svd.u * svd.v.transpose();
    let new = multiply(v.as_ref(), z.as_mat());
    let delta = RowMat::from_fn(k, z.ncols(), |i, c| new.get(i, c) - z.get(i, c));
    let decrease = -(g.inner(&delta) + 0.5 * delta.inner(&local.hessian_vector(z, &delta)));
    // ½‖V − I‖²_F
    let half_dist_sq: f64 = 0.5
        * (0..k)
            .flat_map(|i| (0..k).map(move |j| (i, j)))
            .map(|(i, j)| (v[(i, j)] - f64::from(u8::from(i == j))).powi(2))
            .sum::<f64>();
    // gains below this are rounding of the products and the SVD
    let noise = 1e-13 * g.norm() * z.norm();
    if decrease > least.max(noise) && decrease >= shape.alpha * half_dist_sq {
        *z = new;
        Tried { moves: 1, decrease, max_decrease: decrease, ..stay }
    } else {
        Tried { max_decrease: if decrease > noise { decrease } else { 0.0 }, ..stay }
    }
}

/// ς ≥ λ_max(ZDZᵀ ⊗ K)₊ by Frobenius norms.
fn block_bound(local: &DenseQuadratic, z: &RowMat) -> f64 {
    let k = z.nrows();
    let curvature: f64 =
        (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).map(|(i, j)| local.curvature(i, j).powi(2)).sum();
    let most = local.column_weights().map_or(1.0, |d| d.iter().fold(0.0, |most: f64, d| most.max(d.abs())));
    z.inner(z) * curvature.sqrt() * most
}
