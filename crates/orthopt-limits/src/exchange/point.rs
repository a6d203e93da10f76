//! A feasible X with CX, and its components for a search that exchanges their entries.

use super::component::{block, others};
use crate::problem::CardinalityProblem;
use orthopt_core::objective::lowers;
use orthopt_core::problem::{Cardinality, support};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::descending_to;
use orthopt_linalg::work::count;

/// A decrease that is more than rounding, relative to the size of F.
const LEAST: f64 = 1e-11;

/// X, CX, the diagonal of C and the scale of F.
#[derive(Clone, Debug)]
pub struct Point {
    pub x: RowMat,
    pub cx: RowMat,
    pub diagonal: Vec<f64>,
    pub scale: f64,
    users: Vec<usize>, // components that have each row
}

impl Point {
    pub fn new<F: Quadratic>(f: &F, x: RowMat) -> Self {
        let diagonal = f.diagonal().iter().map(|v| -v).collect();
        let mut cx = f.apply(&x);
        cx.data_mut().iter_mut().for_each(|v| *v = -*v);
        let users = (0..x.nrows()).map(|i| x.row(i).iter().filter(|v| **v != 0.0).count()).collect();
        Self { scale: f.scale(&x), x, cx, diagonal, users }
    }

    /// True if components that had these variances and so many nonzeros at this price, before and after, lower F by more than
    /// rounding.
    pub fn gains(&self, before: (f64, f64), after: (f64, f64), price: f64) -> bool {
        let part = |(variance, nonzeros): (f64, f64)| -0.5 * variance + price * nonzeros;
        lowers(part(after), part(before), self.scale, LEAST)
    }

    /// F from CX, where nonzeros cost so much.
    pub fn objective(&self, price: impl FnOnce(&RowMat) -> f64) -> f64 {
        -0.5 * self.x.inner(&self.cx) + price(&self.x)
    }

    /// Component k becomes `v` on `rows`.
    pub fn replace<F: Quadratic>(&mut self, f: &F, k: usize, rows: &[usize], v: &[f64]) {
        let n = self.x.nrows();
        for i in 0..n {
            self.users[i] -= usize::from(self.x.get(i, k) != 0.0);
            self.x.set(i, k, 0.0);
        }
        for (i, value) in rows.iter().zip(v) {
            self.users[*i] += usize::from(*value != 0.0);
            self.x.set(*i, k, *value);
        }
        let image = f.apply(&RowMat::from_fn(n, 1, |i, _| self.x.get(i, k)));
        (0..n).for_each(|i| self.cx.set(i, k, -image.get(i, 0)));
    }

    /// True if row i is zero.
    pub fn is_free(&self, i: usize) -> bool {
        self.users[i] == 0
    }

    /// True if two components share a row.
    pub fn overlaps(&self) -> bool {
        self.users.iter().any(|users| *users > 1)
    }

    /// Number of further nonzeros that component k may have.
    pub fn room<F: Quadratic>(&self, p: &CardinalityProblem<F>, k: usize) -> usize {
        match p.limits() {
            Cardinality::Components(list) => list[k].saturating_sub(support(&self.x, k).len()),
            Cardinality::Total(s) => s.saturating_sub(self.x.data().iter().filter(|v| **v != 0.0).count()),
            Cardinality::Rows(_) => 0,
        }
    }
}

/// A component: its rows, entries, C on its rows, and what is left of its variance without one of them.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub k: usize,
    pub rows: Vec<usize>,
    pub v: Vec<f64>,
    pub c: RowMat,
    pub variance: f64,
    without: Vec<f64>, // yᵀCy of y = x without an entry, of length 1
    length: Vec<f64>,  // of x without that entry
    meets: Vec<bool>,  // which components share a row with it
}

impl View {
    pub fn new<F: Quadratic>(p: &CardinalityProblem<F>, at: &Point, k: usize) -> Self {
        let rows = support(&at.x, k);
        let v: Vec<f64> = rows.iter().map(|i| at.x.get(*i, k)).collect();
        let variance: f64 = rows.iter().zip(&v).map(|(i, x)| x * at.cx.get(*i, k)).sum();
        let length: Vec<f64> = v.iter().map(|x| (1.0 - x * x).max(0.0).sqrt()).collect();
        let rest = |a: usize| {
            let (i, x) = (rows[a], v[a]);
            let left = variance - 2.0 * x * at.cx.get(i, k) + x * x * at.diagonal[i];
            if length[a] > 1e-6 { left / (length[a] * length[a]) } else { f64::NEG_INFINITY }
        };
        let without = (0..rows.len()).map(rest).collect();
        let c = block(&p.f, &rows);
        let meets = (0..at.x.ncols()).map(|j| rows.iter().any(|i| at.x.get(*i, j) != 0.0)).collect();
        Self { k, rows, v, c, variance, without, length, meets }
    }

    /// Entries in the order of what the component loses without them, the least first.
    pub fn cheapest(&self) -> Vec<usize> {
        descending_to(self.rows.len(), &|a| self.without[a])
    }

    /// xᵀCx that can be had at least, where nothing has to be orthogonal, when entry `out` leaves and row `enter`
    /// comes: the larger eigenvalue of C on the plane of what is left and of e_i.
    pub fn estimate<F: Quadratic>(
        &self,
        p: &CardinalityProblem<F>,
        at: &Point,
        out: Option<usize>,
        enter: Option<usize>,
    ) -> f64 {
        let Some(i) = enter else { return out.map_or(self.variance, |a| self.without[a]) };
        let out = out.map(|a| {
            count(32);
            (a, p.f.curvature(self.rows[a], i))
        });
        self.entering(p, at, out, i)
    }

    /// [`View::estimate`] for a row `i` that enters. Of the entry that leaves, its row of M = −C at `i` is given.
    pub fn entering<F: Quadratic>(
        &self,
        p: &CardinalityProblem<F>,
        at: &Point,
        out: Option<(usize, f64)>,
        i: usize,
    ) -> f64 {
        let rest = out.map_or(self.variance, |(a, _)| self.without[a]);
        let own = at.diagonal[i];
        if rest == f64::NEG_INFINITY {
            return own;
        }
        let cx = at.cx.get(i, self.k);
        let off = out.map_or(cx, |(a, m)| (cx + self.v[a] * m) / self.length[a]);
        if p.requires_nonneg() && off <= 0.0 {
            return rest.max(own);
        }
        0.5 * (rest + own) + (0.5 * (rest - own)).hypot(off)
    }

    /// C on the rows after an exchange, the rows, and where iterations begin.
    pub fn exchanged<F: Quadratic>(
        &self,
        p: &CardinalityProblem<F>,
        at: &Point,
        out: Option<usize>,
        enter: Option<usize>,
    ) -> (RowMat, Vec<usize>, Vec<f64>) {
        let kept: Vec<usize> = (0..self.rows.len()).filter(|a| Some(*a) != out).collect();
        let mut rows: Vec<usize> = kept.iter().map(|a| self.rows[*a]).collect();
        let mut warm: Vec<f64> = kept.iter().map(|a| self.v[*a]).collect();
        let (s, t) = (rows.len(), rows.len() + usize::from(enter.is_some()));
        let mut c =
            RowMat::from_fn(t, t, |a, b| if a < s && b < s { self.c.get(kept[a], kept[b]) } else { 0.0 });
        if let Some(i) = enter {
            for (a, row) in rows.iter().enumerate() {
                let value = -p.f.curvature(*row, i);
                c.set(a, s, value);
                c.set(s, a, value);
            }
            count(32 * s);
            c.set(s, s, at.diagonal[i]);
            rows.push(i);
            warm.push(at.cx.get(i, self.k) / self.variance.abs().max(f64::MIN_POSITIVE));
        }
        (c, rows, warm)
    }

    /// True if the component shares a row with every other one that has row i, so that an entry there need
    /// not be zero.
    pub fn can_share(&self, at: &Point, i: usize) -> bool {
        (0..at.x.ncols()).all(|j| j == self.k || at.x.get(i, j) == 0.0 || self.meets[j])
    }
}

/// Columns of `x` on `rows` that a new component in the place of those in `skip` must be orthogonal to.
pub(super) fn against(x: &RowMat, rows: &[usize], skip: &[usize]) -> Vec<Vec<f64>> {
    others(x, rows, skip)
}
