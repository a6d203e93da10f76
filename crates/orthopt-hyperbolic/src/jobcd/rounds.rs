//! Rounds of disjoint pairs, solved in parallel. What a pair does depends on its own rows alone, so
//! the result does not depend on the number of threads.
//!
//! [`pair_data`], [`solve`] and [`moved`] are a step of J-JOBCD; crates with an f of their own take them from here.

use super::image::gram_of;
use super::pairing::Group;
use crate::jpair::{JMove, JPair, jacobi};
use orthopt_core::constraint::j_orthogonal::Signature;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::pair_products;
use orthopt_linalg::parallel::{map, map_items};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// Numbers that one task reads and writes at least.
const TASK: usize = 16_384;

/// Pairs per task.
fn per_task(n: usize) -> usize {
    (TASK / n.max(1)).max(1)
}

/// Data of the models of a pair, at one X and gradient.
#[derive(Clone, Copy, Debug)]
pub struct PairData {
    i: usize,
    j: usize,
    w: [[f64; 2]; 2], // [G Xᵀ]_BB
    gram: [f64; 3],   // ZZᵀ
}

struct Products<'a>(&'a RowMat, &'a RowMat, usize, usize);

impl WithSimd for Products<'_> {
    type Output = [f64; 7];
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 7] {
        let Self(x, g, i, j) = self;
        pair_products(simd, g.row(i), g.row(j), x.row(i), x.row(j))
    }
}

/// [G Xᵀ]_BB and ZZᵀ of every pair. Cost 14n flops each.
pub fn pair_data(x: &RowMat, g: &RowMat, pairs: &[(usize, usize)]) -> Vec<PairData> {
    let data = |(i, j): &(usize, usize)| {
        let [w11, w12, w21, w22, z11, z12, z22] = dispatch(Products(x, g, *i, *j));
        PairData { i: *i, j: *j, w: [[w11, w12], [w21, w22]], gram: [z11, z12, z22] }
    };
    map(pairs.len(), per_task(x.ncols()), |k| data(&pairs[k]))
}

/// The moves of a round and what their models promise.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Moves {
    /// Pairs of rows and their 2 × 2 blocks V.
    pub list: Vec<(usize, usize, JMove)>,
    /// The sum of what the models fall by.
    pub predicted: f64,
}

/// Minimises ⟨V − I, W⟩ + ½s‖(V − I)Z‖² + ½θ‖V − I‖² (docs/mathematics.md, section 9, C10) for every pair, boosts
/// within |μ| ≤ `limit`.
pub fn solve(data: &[PairData], j: &Signature, s: f64, theta: f64, limit: Option<f64>) -> Moves {
    let one = |p: &PairData| {
        let (model, mixed) = (JPair::metric(p.w, s, p.gram, theta), j.mixed(p.i, p.j));
        let found = match limit {
            None => model.solve(mixed),
            Some(limit) => model.solve_within(mixed, limit),
        };
        found.step.map(|v| (p.i, p.j, v, found.decrease))
    };
    let found = map(data.len(), 32, |k| one(&data[k]));
    let mut out = Moves::default();
    for (i, j, v, decrease) in found.into_iter().flatten() {
        out.list.push((i, j, v));
        out.predicted += decrease;
    }
    out
}

/// X with all moves made. Cost O(n²).
pub fn moved(x: &RowMat, moves: &[(usize, usize, JMove)]) -> RowMat {
    let mut out = x.clone();
    let n = x.ncols();
    let mut rows: Vec<Option<&mut [f64]>> = out.data_mut().chunks_mut(n.max(1)).map(Some).collect();
    let mut work: Vec<_> =
        moves.iter().filter_map(|(i, j, v)| Some((rows[*i].take()?, rows[*j].take()?, v))).collect();
    map_items(work.chunks_mut(per_task(n)).collect(), 1, |_, some| {
        some.iter_mut().for_each(|(a, b, v)| v.apply_wide(a, b));
    });
    out
}

/// Result of a round of the decoupled pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HalfRound {
    pub pairs: u64,
    pub decrease: f64,
    pub max_decrease: f64,
    pub aligned: u64,
}

impl HalfRound {
    fn plus(self, one: &Self) -> Self {
        Self {
            pairs: self.pairs + one.pairs,
            decrease: self.decrease + one.decrease,
            max_decrease: self.max_decrease.max(one.max_decrease),
            aligned: self.aligned + one.aligned,
        }
    }
}

/// Rule for the decoupled pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfRule {
    /// True if pairs of the same sign are aligned.
    pub align: bool,
    /// |S₁₂| relative to √(S₁₁S₂₂) up to which they count as aligned.
    pub aligned: f64,
    /// Decreases of f that are left alone.
    pub least: f64,
}

/// The rows of a group of Y and F.
struct Task<'a> {
    group: &'a Group,
    y: Vec<&'a mut [f64]>,
    f: Vec<&'a mut [f64]>,
}

/// One round for f = ½‖F‖² with F = YK: the pairs of every group, one after the other, in closed
/// form from their own two rows of F. Cost 22n flops a pair.
pub(super) fn half_round(
    y: &mut RowMat,
    f: &mut RowMat,
    groups: &[Group],
    j: &Signature,
    rule: HalfRule,
) -> HalfRound {
    let n = y.ncols();
    let mut y_rows: Vec<Option<&mut [f64]>> = y.data_mut().chunks_mut(n.max(1)).map(Some).collect();
    let mut f_rows: Vec<Option<&mut [f64]>> = f.data_mut().chunks_mut(n.max(1)).map(Some).collect();
    let work: Vec<Task<'_>> = groups
        .iter()
        .map(|group| Task {
            group,
            y: group.rows.iter().filter_map(|i| y_rows.get_mut(*i)?.take()).collect(),
            f: group.rows.iter().filter_map(|i| f_rows.get_mut(*i)?.take()).collect(),
        })
        .collect();
    let pairs = groups.first().map_or(1, |g| g.pairs.len().max(1));
    let least = (per_task(2 * n) / pairs).max(1);
    let found = map_items(work, least, |_, mut task| turn_group(&mut task, j, rule));
    found.iter().fold(HalfRound::default(), HalfRound::plus)
}

fn turn_group(task: &mut Task<'_>, j: &Signature, rule: HalfRule) -> HalfRound {
    let mut sum = HalfRound::default();
    for (a, b) in &task.group.pairs {
        let mixed = j.mixed(task.group.rows[*a], task.group.rows[*b]);
        if let (Some((y1, y2)), Some((f1, f2))) = (two(&mut task.y, *a, *b), two(&mut task.f, *a, *b)) {
            sum = sum.plus(&turn(mixed, [y1, y2], [f1, f2], rule));
        }
    }
    sum
}

/// Entries a < b, both writable.
fn two<'s>(rows: &'s mut [&mut [f64]], a: usize, b: usize) -> Option<(&'s mut [f64], &'s mut [f64])> {
    let (head, tail) = rows.split_at_mut_checked(b)?;
    Some((&mut **head.get_mut(a)?, &mut **tail.first_mut()?))
}

/// One pair.
fn turn(mixed: bool, y: [&mut [f64]; 2], f: [&mut [f64]; 2], rule: HalfRule) -> HalfRound {
    let ([y1, y2], [f1, f2]) = (y, f);
    let s = gram_of(f1, f2);
    let mut done = HalfRound { pairs: 1, ..Default::default() };
    let v = if mixed {
        let Some((v, decrease)) = jacobi::hyperbolic(s) else { return done };
        done.max_decrease = decrease;
        if decrease <= rule.least {
            return done;
        }
        done.decrease = decrease;
        v
    } else {
        if !rule.align || s[1].abs() <= rule.aligned * (s[0] * s[2]).sqrt() {
            return done;
        }
        done.aligned = 1;
        jacobi::circular(s)
    };
    v.apply_wide(y1, y2);
    v.apply_wide(f1, f2);
    done
}
