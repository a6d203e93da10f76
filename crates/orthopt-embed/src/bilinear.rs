//! The scorers `bilinear` and `complex`: a score that is an inner product, all entities as candidates of every question.
//!
//! ```text
//! bilinear   z(h, r, t) = c_r·⟨R_r x_h, x_t⟩_J,   R_rᵀJR_r = J,   x ∈ ℝⁿ
//! complex    z(h, r, t) = Re Σ_k w_rk·x_hk·conj(x_tk)                      (ComplEx; n/2 complex numbers)
//! ```
//!
//! A question (h, r, ?) stands for all facts of train that answer it, m of them. Its loss is the cross-entropy between
//! the softmax over all entities and the uniform distribution on its answers, and the loss of a batch is the mean with
//! the weights √m. To it comes the penalty
//!
//! ```text
//! λ·(|x_h|₃³ + |r|₃³ + mean of |x_t|₃³ over the answers)
//! ```
//!
//! (N3; Lacroix et al., 2018), |x|₃³ = Σ |x_k|³ over the planes k that Givens rotations turn (over the complex
//! numbers), |r|₃³ = Σ σᵢ³ over the singular values of c_r R_r (Σ |w_rk|³ of `complex`).

use orthopt::RowMat;
use orthopt_linalg::elementary::exp;
use orthopt_linalg::products::multiply;
use orthopt_linalg::simd::dispatch;
use rayon::prelude::*;

use crate::chunk::{Asked, View, runs};
use crate::graph::Answers;
use crate::manifold::{Space, norm2};
use crate::relation::Turn;

/// The mean loss of some questions and its gradient.
#[derive(Clone, Debug)]
pub struct Mean {
    /// The mean of the cross-entropies, without the penalty.
    pub loss: f64,
    /// With respect to all entities, with that of the penalty, E × n.
    pub entities: RowMat,
    /// The relations that occur, each with the gradient with respect to its coordinates and to ln c.
    pub relations: Vec<(u32, Vec<f64>, f64)>,
}

/// Adds the gradient of `weight`·Σ |x_k|³ over the planes of a row.
fn add_cubes(space: Space, x: &[f64], weight: f64, g: &mut [f64]) {
    let (plus, minus) = x.split_at(space.p);
    let (g_plus, g_minus) = g.split_at_mut(space.p);
    for (x, g) in plus.chunks(2).zip(g_plus.chunks_mut(2)).chain(minus.chunks(2).zip(g_minus.chunks_mut(2))) {
        let length = norm2(x).sqrt();
        g.iter_mut().zip(x).for_each(|(g, x)| *g += 3.0 * weight * length * x);
    }
}

/// Cross-entropy between the softmax of a row of scores and the uniform distribution on `answers`; scores become its
/// derivatives times `weight`.
#[inline(always)]
fn cross_entropy(z: &mut [f64], answers: &[u32], weight: f64) -> f64 {
    let share = 1.0 / answers.len() as f64;
    let own = answers.iter().map(|a| z[*a as usize]).sum::<f64>() * share;
    let mut tops = [f64::NEG_INFINITY; 8];
    for block in z.chunks(8) {
        tops.iter_mut().zip(block).for_each(|(top, z)| *top = if *z > *top { *z } else { *top });
    }
    let top = tops.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let mut sums = [0.0; 8];
    for block in z.chunks_mut(8) {
        for (sum, z) in sums.iter_mut().zip(block) {
            *z = exp(*z - top);
            *sum += *z;
        }
    }
    let total: f64 = sums.iter().sum();
    z.iter_mut().for_each(|z| *z *= weight / total);
    answers.iter().for_each(|a| z[*a as usize] -= weight * share);
    total.ln() + top - own
}

/// Questions with the same relation, one after another.
struct Run<'a> {
    asked: &'a [Asked],
    turn: Turn,
    factor: f64,
}

impl View<'_> {
    fn runs<'a>(&self, asked: &'a [Asked]) -> Vec<Run<'a>> {
        let run = |(_, asked): (usize, &'a [Asked])| {
            let matrix = asked[0].matrix as usize;
            let (turn, factor) = (self.group.turn(&self.relations[matrix]), self.own[matrix].scale.exp());
            Run { asked, turn, factor }
        };
        runs(asked).map(run).collect()
    }

    /// c·J·R x for every question (b × n), whose inner products with entities are their scores. O(n) each.
    fn images(&self, runs: &[Run<'_>]) -> RowMat {
        let questions = runs.iter().flat_map(|run| run.asked.iter().map(move |asked| (run, asked)));
        let space = self.metric.space;
        let mut out = RowMat::zeros(runs.iter().map(|run| run.asked.len()).sum(), self.points.ncols());
        for (i, (run, asked)) in questions.enumerate() {
            let row = out.row_mut(i);
            row.copy_from_slice(self.points.row(asked.question.known as usize));
            run.turn.forward(row);
            row[..space.p].iter_mut().for_each(|x| *x *= run.factor);
            row[space.p..].iter_mut().for_each(|x| *x *= -run.factor);
        }
        out
    }

    /// The scores of entities whose points are given, b × m. Cost 2bmn flops.
    pub(crate) fn products(&self, asked: &[Asked], points: &RowMat) -> RowMat {
        multiply(self.images(&self.runs(asked)).as_mat(), points.as_mat().transpose())
    }

    /// The mean over questions with all their answers. Cost 6bEn flops, b questions, E entities. Questions with the same
    /// matrix stand together. The same for any number of threads.
    pub fn mean(&self, asked: &[Asked], answers: &Answers, lambda: f64) -> Mean {
        let (points, _n) = (self.points, self.points.ncols());
        let runs = self.runs(asked);
        let images = self.images(&runs);
        let mut z = multiply(images.as_mat(), points.as_mat().transpose());
        let found: Vec<&[u32]> = asked.iter().map(|a| answers.to(&a.question)).collect();
        let mut weights: Vec<f64> = found.iter().map(|found| (found.len() as f64).sqrt()).collect();
        let all = weights.iter().sum::<f64>();
        weights.iter_mut().for_each(|w| *w /= all);
        let rows = z.data_mut().par_chunks_mut(points.nrows()).zip(&found).zip(&weights);
        let losses: Vec<f64> =
            rows.map(|((z, found), w)| w * dispatch(|| cross_entropy(z, found, *w))).collect();
        let mut entities = multiply(z.as_mat().transpose(), images.as_mat());
        let mut back = multiply(z.as_mat(), points.as_mat());
        let relations = self.relations_back(&runs, &weights, lambda, &images, &mut back);
        let space = self.metric.space;
        for (i, asked) in asked.iter().enumerate() {
            let (known, weight) = (asked.question.known as usize, lambda * weights[i]);
            entities.row_mut(known).iter_mut().zip(back.row(i)).for_each(|(g, b)| *g += b);
            if lambda > 0.0 {
                add_cubes(space, points.row(known), weight, entities.row_mut(known));
                for answer in found[i] {
                    let (answer, weight) = (*answer as usize, weight / found[i].len() as f64);
                    add_cubes(space, points.row(answer), weight, entities.row_mut(answer));
                }
            }
        }
        Mean { loss: losses.iter().sum(), entities, relations }
    }

    /// From the gradient with respect to c·J·R x to that with respect to x, in place, and to relations, of whose penalty
    /// every question adds its weight times `lambda`.
    fn relations_back(
        &self,
        runs: &[Run<'_>],
        mut weights: &[f64],
        lambda: f64,
        images: &RowMat,
        back: &mut RowMat,
    ) -> Vec<(u32, Vec<f64>, f64)> {
        let (n, space) = (images.ncols(), self.metric.space);
        let (mut rest, mut images) = (back.data_mut(), images.data());
        let mut parts = Vec::with_capacity(runs.len());
        for run in runs {
            let b = run.asked.len();
            let (part, left) = std::mem::take(&mut rest).split_at_mut(b * n);
            parts.push((run, part, &images[..b * n], &weights[..b]));
            (rest, images, weights) = (left, &images[b * n..], &weights[b..]);
        }
        let one = |(run, back, images, weights): (&Run<'_>, &mut [f64], &[f64], &[f64])| {
            let (mut slopes, mut to_factor) = (vec![0.0; self.group.coordinates()], 0.0);
            let mut y = vec![0.0; n];
            for ((asked, g), image) in run.asked.iter().zip(back.chunks_mut(n)).zip(images.chunks(n)) {
                to_factor += image.iter().zip(&*g).map(|(y, g)| y * g).sum::<f64>();
                y.iter_mut().zip(image).for_each(|(y, image)| *y = image / run.factor);
                space.flip(&mut y);
                g[..space.p].iter_mut().for_each(|g| *g *= run.factor);
                g[space.p..].iter_mut().for_each(|g| *g *= -run.factor);
                run.turn.back(self.points.row(asked.question.known as usize), &mut y, g, &mut slopes);
            }
            let weight = lambda * weights.iter().sum::<f64>();
            to_factor += run.turn.add_cubes(n, run.factor, weight, &mut slopes);
            (run.asked[0].matrix, slopes, to_factor)
        };
        parts.into_par_iter().map(one).collect()
    }
}
