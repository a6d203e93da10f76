//! Branching on which columns of X have a nonzero in which row, for λ‖X‖₀.
//!
//! The pattern of a row is the set of columns in which it has a nonzero. A node allows every row some
//! patterns, so it knows how many nonzeros the row may have, and which rows never meet in a column. Two
//! orthogonal columns whose supports meet share two rows at least, so the root splits into the X with disjoint
//! supports (a much tighter relaxation) and, for every pair of rows, those where these are the first two that
//! two columns share.

use std::sync::Arc;

use super::admm::{Admm, Point};
use super::blocks::{Cover, Subsets, best_blocks};
use super::certified::{OUTWARD, gamma};
use super::columns::{ByColumns, Column, Stored};
use super::covariance::Covariance;
use super::fixed::fixed_supports;
use super::pattern_set::{columns, counts, only};
use super::penalty::Rows;
use super::rounding::disjoint_supports;
use super::tree::{Branching, Evaluated, lower};
use super::types::Watch;
use crate::linalg::RowMat;

/// The most columns: a set of patterns is a word of 64 bits.
pub(super) const COLUMNS: usize = 6;
/// Up to so many rows with at most one nonzero each are solved exactly.
const EXACT: usize = 11;

/// The problem.
#[derive(Debug)]
pub(super) struct PatternBranching<'a> {
    pub cov: &'a Covariance,
    pub r: usize,
    pub lambda: f64,       // scaled
    pub disjoint: f64,     // −F of all X with disjoint supports is at most this
    pub meeting: f64,      // −F of all X with supports that meet is at most this
    pub order: Vec<usize>, // rows, those first that are likely to have several nonzeros
}

/// The patterns that each row may have: bit p stands for the columns in the binary digits of p.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    allowed: Vec<u64>,
    used: usize, // the columns from here on are alike
    split: Split,
    start: Option<Arc<Packed>>, // where the relaxation of the parent ended
}

/// How a node is split next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Split {
    /// Into disjoint supports and the first row that columns 0 and 1 share.
    Supports,
    /// By the second row that they share, behind this place of the order.
    Second(usize),
    /// Row `0` has no nonzero in column `1`, or one; `used` stands for all columns that are alike.
    Entry(usize, usize),
    /// Not yet known.
    Open,
}

/// Where the relaxation of a node ended, over all rows, in single precision: there are many of them.
#[derive(Debug)]
enum Packed {
    /// T, U and the weights of the relaxation of all columns together.
    Together { lower: Vec<(f32, f32)>, weights: Vec<f32>, rho: f64 },
    /// The same of one with a matrix for every column.
    Apart(Stored),
}

const SHARED: u32 = 0b11; // columns 0 and 1

impl PatternBranching<'_> {
    /// All X.
    pub fn root(&self) -> Patterns {
        let all = if self.r == COLUMNS { u64::MAX } else { (1 << (1u32 << self.r)) - 1 };
        let split = if self.r == 1 { Split::Entry(self.order[0], 0) } else { Split::Supports };
        Patterns { allowed: vec![all; self.cov.c.nrows()], used: 0, split, start: None }
    }

    /// The entry of X that is most in doubt, with at most one column in use; `None` where all patterns are known.
    fn choose(&self, node: &Patterns, rows: &[usize], t: &RowMat, weights: &[f64]) -> Option<Split> {
        let mut best: Option<(f64, usize, usize)> = None;
        for (p, i) in rows.iter().enumerate() {
            if node.allowed[*i].count_ones() < 2 {
                continue;
            }
            // what ties the row to the columns: to those in use, and to none of them
            let mut pull = vec![0.0; node.used + 1];
            for (q, j) in rows.iter().enumerate() {
                let size = t.get(p, q).abs() * weights[q] / weights[p].max(f64::MIN_POSITIVE);
                let known = node.allowed[*j].count_ones() == 1;
                if known && columns(node.allowed[*j]) & 1 == 1 && node.used > 0 && p != q {
                    pull[0] += size;
                } else {
                    pull[node.used] += size;
                }
            }
            let total: f64 = pull.iter().sum();
            let (low, high) = counts(node.allowed[*i]);
            let at = total.floor().clamp(f64::from(low), f64::from(high.max(low + 1) - 1));
            let in_doubt = (total - at).min(at + 1.0 - total).max(0.0);
            let largest = pull.iter().fold(0.0f64, |m, v| m.max(*v));
            let score = in_doubt + (total - largest) + 1e-1 * total;
            let entry = (0..=node.used)
                .filter(|k| !self.decided(node, *i, *k))
                .max_by(|a, b| pull[*a].total_cmp(&pull[*b]).then(b.cmp(a)));
            if let Some(entry) = entry
                && best.is_none_or(|b| score > b.0)
            {
                best = Some((score, *i, entry));
            }
        }
        best.map(|(_, row, entry)| Split::Entry(row, entry))
    }

    /// True if the patterns of row i agree on column k, or on the columns that are alike.
    fn decided(&self, node: &Patterns, i: usize, k: usize) -> bool {
        let (without, with) = self.halves(node, i, k);
        without == 0 || with == 0
    }

    /// The patterns of row i without and with column k. With k = used: in none of the columns that are alike, or
    /// in the first of them and perhaps in others.
    fn halves(&self, node: &Patterns, i: usize, k: usize) -> (u64, u64) {
        let set = node.allowed[i];
        let mask = if k == node.used { !0u32 << k } else { 1 << k };
        (only(set, |p| p & mask == 0), only(set, |p| p >> k & 1 == 1))
    }

    fn exact(&self, node: &Patterns, rows: &[usize]) -> Option<(f64, Vec<Vec<usize>>)> {
        let block = self.cov.block(rows);
        let subsets = Subsets::new(&block, self.r, Cover::Disjoint, None)?;
        let in_use = |k: &usize| counts(node.allowed[rows[*k]]).0 > 0;
        let forced = (0..rows.len()).filter(in_use).fold(0u32, |m, k| m | 1 << k);
        let found = best_blocks(&subsets, self.lambda, forced, Cover::Disjoint, None)?;
        let set = |s: &u32| (0..rows.len()).filter(|k| s >> k & 1 == 1).map(|k| rows[k]).collect();
        Some((found.most, found.sets.iter().map(set).collect()))
    }

    /// All patterns are known: the columns on their supports.
    fn last(&self, node: Patterns, most: f64, cutoff: f64) -> Evaluated<Patterns> {
        let done = |node, most, sets| Evaluated { node, most, final_: true, sets };
        let in_column = |k: usize| -> Vec<usize> {
            (0..node.allowed.len()).filter(|i| columns(node.allowed[*i]) >> k & 1 == 1).collect()
        };
        let sets: Vec<Vec<usize>> = (0..self.r).map(in_column).collect();
        let shared = |a: &[usize], b: &[usize]| a.iter().filter(|i| b.contains(i)).count();
        let mut meets = false;
        for (k, a) in sets.iter().enumerate() {
            if a.is_empty() || sets[..k].iter().any(|b| shared(a, b) == 1) {
                return done(node, f64::NEG_INFINITY, None);
            }
            meets |= sets[..k].iter().any(|b| shared(a, b) > 0);
        }
        let rows: Vec<usize> = (0..node.allowed.len()).filter(|i| columns(node.allowed[*i]) > 0).collect();
        let place = |i: &usize| rows.iter().position(|row| row == i);
        let local: Vec<Vec<usize>> = sets.iter().map(|s| s.iter().filter_map(place).collect()).collect();
        let cost = self.lambda * sets.iter().map(Vec::len).sum::<usize>() as f64;
        let sum = fixed_supports(&self.cov.block(&rows), &local, cutoff + cost);
        let value = sum.map_or(f64::INFINITY, |sum| sum - cost + OUTWARD * gamma(4) * (sum.abs() + cost));
        done(node, most.min(value), (!meets).then_some(sets))
    }

    /// Decisions about the columns.
    fn columns(&self, node: &Patterns, rows: &[usize]) -> Vec<Column> {
        let column = |k: usize| {
            let can = |p: &usize| columns(node.allowed[rows[*p]]) >> k & 1 == 1;
            let inside: Vec<usize> = (0..rows.len()).filter(can).collect();
            let must = |p: &usize| only(node.allowed[rows[*p]], |q| q >> k & 1 == 0) == 0;
            Column { forced: inside.iter().map(must).collect(), rows: inside }
        };
        (0..self.r).map(column).collect()
    }

    /// The entry whose share of a nonzero is farthest from 0 and 1.
    fn choose_entry(
        &self,
        node: &Patterns,
        rows: &[usize],
        all: &[Column],
        shares: &[Vec<f64>],
    ) -> Option<Split> {
        let mut best: Option<(f64, usize, usize)> = None;
        let mut size = vec![vec![0.0; rows.len()]; node.used + 1];
        for (k, (column, shares)) in all.iter().zip(shares).enumerate() {
            column.rows.iter().zip(shares).for_each(|(p, c)| size[k.min(node.used)][*p] += c);
        }
        for (k, sizes) in size.iter().enumerate() {
            for (p, c) in sizes.iter().enumerate().filter(|(p, _)| !self.decided(node, rows[*p], k)) {
                let score = c.min(1.0 - c).max(0.0) + 1e-1 * c;
                if best.is_none_or(|b| score > b.0) {
                    best = Some((score, rows[p], k));
                }
            }
        }
        best.map(|(_, row, entry)| Split::Entry(row, entry))
    }

    /// The relaxation with a matrix for every column, from that of the parent or of all columns together.
    fn apart(
        &self,
        mut node: Patterns,
        rows: &[usize],
        together: Option<(&Admm<'_, Rows>, f64)>,
        cap: f64,
        (cutoff, watch): (f64, &Watch<'_>),
    ) -> Evaluated<Patterns> {
        let (block, all) = (self.cov.block(rows), self.columns(&node, rows));
        let mut most = together.map_or(cap, |t| t.1.min(cap));
        let run = match (node.start.as_deref(), together) {
            (Some(Packed::Apart(from)), None) => {
                Some(ByColumns::resume(&block, &all, self.lambda, rows, from))
            }
            (_, Some((admm, _))) => {
                let start = (&admm.best().z, &admm.penalty.weights[..], admm.point.rho);
                ByColumns::new(&block, &all, self.lambda, start)
            }
            _ => None,
        };
        let Some(mut run) = run else {
            return Evaluated { node, most, final_: true, sets: None };
        };
        most = run.lower(cutoff, watch).map_or(most, |found| most.min(found));
        if most <= cutoff {
            return Evaluated { node, most, final_: true, sets: None };
        }
        if node.split == Split::Open {
            match self.choose_entry(&node, rows, &all, &run.shares()) {
                Some(split) => node.split = split,
                None => return self.last(node, most, cutoff),
            }
        }
        node.start = Some(Arc::new(Packed::Apart(run.store(rows, self.cov.c.nrows()))));
        let sets = self.candidate(&node, rows, &block, &run.together());
        Evaluated { node, most, final_: false, sets }
    }

    /// Disjoint supports near a solution of the relaxation, where supports may be disjoint.
    fn candidate(
        &self,
        node: &Patterns,
        rows: &[usize],
        block: &RowMat,
        t: &RowMat,
    ) -> Option<Vec<Vec<usize>>> {
        let meets = rows.iter().any(|i| counts(node.allowed[*i]).0 > 1);
        let sets = if meets { None } else { disjoint_supports(block, t, self.r, self.lambda) }?;
        Some(sets.iter().map(|s| s.iter().map(|k| rows[*k]).collect()).collect())
    }

    fn start(&self, node: &Patterns, rows: &[usize], penalty: &mut Rows) -> Option<Point> {
        let Some(Packed::Together { lower, weights, rho }) = node.start.as_deref() else { return None };
        let at = |i: usize, j: usize| {
            let (a, b) = (rows[i].max(rows[j]), rows[i].min(rows[j]));
            lower[a * (a + 1) / 2 + b]
        };
        let m = rows.len();
        rows.iter().enumerate().for_each(|(k, i)| penalty.weights[k] = f64::from(weights[*i]));
        Some(Point {
            t: RowMat::from_fn(m, m, |i, j| f64::from(at(i, j).0)),
            u: RowMat::from_fn(m, m, |i, j| f64::from(at(i, j).1)),
            rho: *rho,
        })
    }

    fn pack(&self, rows: &[usize], admm: &Admm<'_, Rows>) -> Packed {
        let n = self.cov.c.nrows();
        let mut lower = vec![(0.0, 0.0); n * (n + 1) / 2];
        let mut weights = vec![self.lambda.sqrt() as f32; n];
        let Point { t, u, rho } = &admm.point;
        for (p, i) in rows.iter().enumerate() {
            weights[*i] = admm.penalty.weights[p] as f32;
            for (q, j) in rows.iter().enumerate().take(p + 1) {
                lower[i * (i + 1) / 2 + j] = (t.get(p, q) as f32, u.get(p, q) as f32);
            }
        }
        Packed::Together { lower, weights, rho: *rho }
    }
}

impl Branching for PatternBranching<'_> {
    type Node = Patterns;

    fn children(&self, node: &Patterns) -> Vec<Patterns> {
        let with = |change: &dyn Fn(&mut Patterns)| {
            let mut child = Patterns { split: Split::Open, ..node.clone() };
            change(&mut child);
            child
        };
        let n = self.order.len();
        match node.split {
            Split::Supports => {
                let few = |child: &mut Patterns, rows: &[usize]| {
                    rows.iter()
                        .for_each(|i| child.allowed[*i] = only(child.allowed[*i], |p| p.count_ones() < 2));
                };
                let disjoint = with(&|child| few(child, &self.order));
                let first = |place: usize| {
                    with(&|child| {
                        few(child, &self.order[..place]);
                        let row = self.order[place];
                        child.allowed[row] = only(child.allowed[row], |p| p & SHARED == SHARED);
                        (child.used, child.split) = (2, Split::Second(place));
                    })
                };
                std::iter::once(disjoint).chain((0..n - 1).map(first)).collect()
            }
            Split::Second(first) => {
                let second = |place: usize| {
                    with(&|child| {
                        for i in &self.order[first + 1..place] {
                            child.allowed[*i] = only(child.allowed[*i], |p| p & SHARED != SHARED);
                        }
                        let row = self.order[place];
                        child.allowed[row] = only(child.allowed[row], |p| p & SHARED == SHARED);
                    })
                };
                (first + 1..n).map(second).collect()
            }
            Split::Entry(i, k) => {
                let (without, set) = self.halves(node, i, k);
                let absent = with(&|child| child.allowed[i] = without);
                let present = with(&|child| {
                    child.allowed[i] = set;
                    child.used = child.used.max(k + 1);
                });
                vec![absent, present]
            }
            Split::Open => Vec::new(),
        }
    }

    fn evaluate(&self, mut node: Patterns, cutoff: f64, watch: &Watch<'_>) -> Evaluated<Patterns> {
        let rows: Vec<usize> = (0..node.allowed.len()).filter(|i| columns(node.allowed[*i]) > 0).collect();
        let done = |node, most, sets| Evaluated { node, most, final_: true, sets };
        let covered = node.allowed.iter().fold(0, |all, set| all | columns(*set));
        if rows.len() < self.r || covered != (1 << self.r) - 1 || node.allowed.contains(&0) {
            return done(node, f64::NEG_INFINITY, None);
        }
        let range: Vec<(u32, u32)> = rows.iter().map(|i| counts(node.allowed[*i])).collect();
        let meets = range.iter().any(|c| c.0 > 1);
        let single = range.iter().all(|c| c.1 <= 1);
        let cap = if meets {
            self.meeting
        } else if single {
            self.disjoint
        } else {
            f64::INFINITY
        };
        if cap <= cutoff {
            return done(node, cap, None);
        }
        if single
            && rows.len() <= EXACT
            && let Some((most, sets)) = self.exact(&node, &rows)
        {
            return done(node, most, (!sets.is_empty()).then_some(sets));
        }
        if node.split == Split::Open && rows.iter().all(|i| node.allowed[*i].count_ones() == 1) {
            return self.last(node, cap, cutoff);
        }
        let limits = (cutoff, watch);
        if matches!(node.start.as_deref(), Some(Packed::Apart(_))) {
            return self.apart(node, &rows, None, cap, limits);
        }
        let take = |end: fn(&(u32, u32)) -> u32| range.iter().map(|c| f64::from(end(c))).collect();
        let mut penalty = Rows::new(self.lambda, take(|c| c.0), take(|c| c.1));
        penalty.columns = Some(rows.iter().map(|i| columns(node.allowed[*i])).collect());
        let start = self.start(&node, &rows, &mut penalty);
        let block = self.cov.block(&rows);
        let mut admm = Admm::new(&block, self.r, f64::NEG_INFINITY, penalty, start);
        let most = lower(&mut admm, cutoff, watch).min(cap);
        if most <= cutoff {
            return done(node, most, None);
        }
        if node.used > 1 {
            return self.apart(node, &rows, Some((&admm, most)), cap, limits);
        }
        if node.split == Split::Open {
            match self.choose(&node, &rows, &admm.point.t, &admm.penalty.weights) {
                Some(split) => node.split = split,
                None => return self.last(node, most, cutoff),
            }
        }
        node.start = Some(Arc::new(self.pack(&rows, &admm)));
        let sets = self.candidate(&node, &rows, &block, &admm.point.t);
        Evaluated { node, most, final_: false, sets }
    }
}
