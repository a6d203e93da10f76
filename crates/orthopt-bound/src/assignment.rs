//! Branching on which column a row of X ≥ 0 belongs to.
//!
//! Columns of a nonnegative orthonormal X have disjoint supports, so every row can be given to one of
//! them; rows of different columns have Yᵢⱼ = 0.

use std::sync::Arc;

use super::admm::{Admm, Point};
use super::certified::{OUTWARD, gamma};
use super::covariance::Covariance;
use super::penalty::Nonnegative;
use super::rounding::disjoint_supports;
use super::tree::{Branching, Evaluated, lower};
use super::types::Watch;
use orthopt_linalg::RowMat;

/// The problem.
#[derive(Debug)]
pub(super) struct AssignmentBranching<'a> {
    pub cov: &'a Covariance,
    pub r: usize,
}

/// Some rows are given to columns.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    block: Vec<Option<usize>>,
    next: Option<usize>, // the row to give away next
    start: Option<Arc<Packed>>,
}

/// T and U in single precision, their lower triangles.
#[derive(Debug)]
struct Packed {
    lower: Vec<(f32, f32)>,
    rho: f64,
}

impl AssignmentBranching<'_> {
    /// No row is given.
    pub fn root(&self) -> Assignment {
        let c = &self.cov.c;
        let n = c.nrows();
        let next = (0..n).fold(0, |best, i| if c.get(i, i) > c.get(best, best) { i } else { best });
        Assignment { block: vec![None; n], next: (self.r > 1).then_some(next), start: None }
    }

    /// The open row that is torn most between itself and the given rows of different columns.
    fn choose(&self, node: &Assignment, t: &RowMat) -> Option<usize> {
        let used = node.block.iter().flatten().max().map_or(0, |b| b + 1);
        let mut best: Option<(f64, usize)> = None;
        for i in (0..node.block.len()).filter(|i| node.block[*i].is_none()) {
            let mut pull = vec![0.0; used + 1];
            for (j, v) in t.row(i).iter().enumerate() {
                pull[node.block[j].unwrap_or(used)] += v.abs();
            }
            let largest = pull.iter().fold(0.0f64, |m, v| m.max(*v));
            let score = pull.iter().sum::<f64>() - largest + 1e-3 * t.get(i, i);
            if best.is_none_or(|b| score > b.0) {
                best = Some((score, i));
            }
        }
        best.map(|b| b.1)
    }

    /// With all rows given away: one relaxation per column.
    fn apart(&self, node: &Assignment, cutoff: f64, over: &dyn Fn() -> bool) -> f64 {
        let (mut sum, mut size) = (0.0, 0.0);
        for k in 0..self.r {
            let rows: Vec<usize> = (0..node.block.len()).filter(|i| node.block[*i] == Some(k)).collect();
            if rows.is_empty() {
                return f64::NEG_INFINITY;
            }
            let block = self.cov.block(&rows);
            let mut admm = Admm::new(&block, 1, f64::NEG_INFINITY, Nonnegative::default(), None);
            let most = lower(&mut admm, cutoff / self.r as f64, over);
            (sum, size) = (sum + most, size + most.abs());
        }
        sum + OUTWARD * gamma(self.r + 2) * size
    }
}

impl Branching for AssignmentBranching<'_> {
    type Node = Assignment;

    fn children(&self, node: &Assignment) -> Vec<Assignment> {
        let Some(row) = node.next else { return Vec::new() };
        // columns without a row are alike: one of them is enough
        let used = node.block.iter().flatten().max().map_or(0, |b| b + 1);
        (0..(used + 1).min(self.r))
            .map(|k| {
                let mut child = node.clone();
                child.block[row] = Some(k);
                child
            })
            .collect()
    }

    fn evaluate(
        &self,
        mut node: Assignment,
        cutoff: f64,
        watch: &Watch<'_>,
        spent: &dyn Fn() -> bool,
    ) -> Evaluated<Assignment> {
        let over = || watch.is_over() || spent();
        let n = node.block.len();
        let start = node.start.as_ref().map(|packed| {
            let at = |i: usize, j: usize| packed.lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
            let (t, u) = (
                RowMat::from_fn(n, n, |i, j| f64::from(at(i, j).0)),
                RowMat::from_fn(n, n, |i, j| f64::from(at(i, j).1)),
            );
            Point { t, u, rho: packed.rho }
        });
        let penalty = Nonnegative { block: Some(node.block.clone()) };
        let mut admm = Admm::new(&self.cov.c, self.r, f64::NEG_INFINITY, penalty, start);
        let mut most = lower(&mut admm, cutoff, &over);
        node.next = self.choose(&node, &admm.point.t);
        if node.next.is_none() && most > cutoff {
            most = most.min(self.apart(&node, cutoff, &over));
        }
        let Point { t, u, rho } = &admm.point;
        let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let lower = pairs.map(|(i, j)| (t.get(i, j) as f32, u.get(i, j) as f32)).collect();
        node.start = Some(Arc::new(Packed { lower, rho: *rho }));
        let final_ = node.next.is_none();
        Evaluated { sets: disjoint_supports(t, self.r), node, most, final_ }
    }
}
