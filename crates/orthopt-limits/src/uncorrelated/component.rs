//! One component anew, the others fixed: max xᵀCx over unit x on S with xᵀCxⱼ = 0 for all j ≠ k, S its rows or these
//! after an entry has entered, left or been exchanged.

use super::point::Point;
use crate::exchange::component::{block, leading};
use crate::problem::MeasuredProblem;
use orthopt_core::problem::support;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::kernels::inner;
use orthopt_linalg::order::{ascending_to, descending};
use orthopt_linalg::small::spectral_function;
use orthopt_linalg::work::count;

/// Entries that may enter are compared by an estimate; so many are tried.
const TRIED: (usize, usize, usize) = (1500, 4, 24);
/// Entries that may leave for one that enters.
const OUTS: usize = 2;
/// Eigenvalues of V_SᵀV_S below this share of the largest are rounding.
const RANK: f64 = 1e-12;

/// A component that lowers F.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub rows: Vec<usize>,
    pub v: Vec<f64>,
}

/// A change of component k that lowers F: the component solved anew on its rows, the cheapest entry removed, or the
/// first entry, in the order of the estimates, whose entrance lowers it.
pub(super) fn improve<F: Quadratic>(p: &MeasuredProblem<F>, at: &Point, k: usize) -> Option<Change> {
    let rows = support(&at.x, k);
    let now = Now {
        p,
        at,
        k,
        variance: at.variance(k),
        nonzeros: rows.len(),
        c: block(p.f.quadratic(), &rows),
        rows,
    };
    let own = now.on(&now.rows, &now.c)?;
    if let Some(change) = now.accepted(&now.rows, &own) {
        return Some(change);
    }
    if p.lambda() > 0.0
        && let Some(change) = now.without_one()
    {
        return Some(change);
    }
    let most = (TRIED.0 / now.rows.len().max(1)).clamp(TRIED.1, TRIED.2);
    now.entering().into_iter().take(most).take_while(|_| !is_over()).find_map(|i| now.with(i))
}

/// A component as it is.
struct Now<'a, F> {
    p: &'a MeasuredProblem<F>,
    at: &'a Point,
    k: usize,
    rows: Vec<usize>,
    c: RowMat, // C[S, S]
    variance: f64,
    nonzeros: usize,
}

/// xᵀCx and x on some rows.
type Solved = (f64, Vec<f64>);

impl<F: Quadratic> Now<'_, F> {
    /// The best component on `rows`, C on them given.
    fn on(&self, rows: &[usize], c: &RowMat) -> Option<Solved> {
        leading(c, &self.at.images_on(rows, &[self.k]), None, false)
    }

    fn accepted(&self, rows: &[usize], found: &Solved) -> Option<Change> {
        let nonzeros = found.1.iter().filter(|e| **e != 0.0).count() as f64;
        let before = (self.variance, self.nonzeros as f64);
        let lowers = self.at.gains(before, (found.0, nonzeros), self.p.lambda());
        lowers.then(|| Change { rows: rows.to_vec(), v: found.1.clone() })
    }

    /// C on the rows and one more.
    fn grown(&self, i: usize) -> (Vec<usize>, RowMat) {
        let s = self.rows.len();
        count(32 * s);
        let rows = [&self.rows[..], &[i]].concat();
        let c = RowMat::from_fn(s + 1, s + 1, |a, b| match (a < s, b < s) {
            (true, true) => self.c.get(a, b),
            _ => -self.p.f.quadratic().curvature(rows[a], rows[b]),
        });
        (rows, c)
    }

    /// Row i enters, and where there is no room one of the smallest entries leaves.
    fn with(&self, i: usize) -> Option<Change> {
        let (rows, c) = self.grown(i);
        let found = self.on(&rows, &c)?;
        if rows.len() <= self.p.most(self.k) {
            return self.accepted(&rows, &found);
        }
        if !self.at.gains((self.variance, 0.0), (found.0, 0.0), 0.0) {
            return None; // nor with an entry less
        }
        let order = ascending_to(rows.len(), &|a| found.1[a].abs());
        let outs = order.into_iter().take(OUTS + 1).filter(|a| rows[*a] != i).take(OUTS);
        outs.into_iter().find_map(|out| self.left(&rows, &c, out))
    }

    fn left(&self, rows: &[usize], c: &RowMat, out: usize) -> Option<Change> {
        let kept: Vec<usize> = (0..rows.len()).filter(|a| *a != out).collect();
        let fewer: Vec<usize> = kept.iter().map(|a| rows[*a]).collect();
        let c = RowMat::from_fn(kept.len(), kept.len(), |a, b| c.get(kept[a], kept[b]));
        let found = self.on(&fewer, &c)?;
        self.accepted(&fewer, &found)
    }

    /// The smallest entries leave, one at a time, where λ makes it worth it.
    fn without_one(&self) -> Option<Change> {
        let order = ascending_to(self.rows.len(), &|a| self.at.x.get(self.rows[a], self.k).abs());
        order.into_iter().take(OUTS).find_map(|out| self.left(&self.rows, &self.c, out))
    }

    /// Rows that the component does not have, in the order of an estimate from below of xᵀCx with them: the larger
    /// eigenvalue of C on the plane of x and of d = eᵢ − V_S w, w = (V_SᵀV_S)⁺Vᵢ, V the images CXⱼ of the others. d is
    /// uncorrelated with them and orthogonal to x. Cost of a product of C with r − 1 columns.
    fn entering(&self) -> Vec<usize> {
        let (n, s) = (self.at.x.nrows(), self.rows.len());
        let v = self.at.images_on(&self.rows, &[self.k]); // V_S, a vector for each column
        let others = self.at.others(&self.rows, &[self.k]);
        let sizes: Vec<f64> = others.iter().map(|j| self.at.size(*j)).collect();
        let q = v.len();
        let gram = RowMat::from_fn(q, q, |a, b| inner(&v[a], &v[b]));
        let most = (0..q).fold(0.0f64, |m, a| m.max(gram.get(a, a)));
        let invert = |e: f64| if e > RANK * most { 1.0 / e } else { 0.0 };
        let inverse = if q == 0 { Some(RowMat::zeros(0, 0)) } else { spectral_function(&gram, invert) };
        let Some(inverse) = inverse else { return Vec::new() };
        let mut spread = RowMat::zeros(n, q.max(1));
        for (a, column) in v.iter().enumerate() {
            self.rows.iter().zip(column).for_each(|(i, e)| spread.set(*i, a, *e));
        }
        let m = self.p.f.quadratic().apply(&spread); // −C·V_S
        let inside = |a: usize, b: usize| -> f64 { (0..s).map(|e| v[a][e] * -m.get(self.rows[e], b)).sum() };
        let h = RowMat::from_fn(q, q, inside); // V_SᵀCV_S
        let own: Vec<f64> = self.rows.iter().map(|i| self.at.cx.get(*i, self.k)).collect();
        let t: Vec<f64> = v.iter().map(|column| inner(column, &own)).collect(); // V_SᵀCx
        count(n * (4 * q * q + 16));
        let estimate = |i: usize| -> f64 {
            let vi: Vec<f64> = others.iter().zip(&sizes).map(|(j, s)| self.at.cx.get(i, *j) / s).collect();
            let times = |a: &RowMat, x: &[f64]| -> Vec<f64> { (0..q).map(|b| inner(a.row(b), x)).collect() };
            let w = times(&inverse, &vi);
            let length = 1.0 + inner(&w, &times(&gram, &w));
            let image: f64 = (0..q).map(|a| -m.get(i, a) * w[a]).sum();
            let dd = (self.at.diagonal[i] - 2.0 * image + inner(&w, &times(&h, &w))) / length;
            let xd = (self.at.cx.get(i, self.k) - inner(&t, &w)) / length.sqrt();
            0.5 * (self.variance + dd) + (0.5 * (self.variance - dd)).hypot(xd)
        };
        let mut outside: Vec<usize> = (0..n).filter(|i| self.at.x.get(*i, self.k) == 0.0).collect();
        descending(&mut outside, &estimate);
        outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncorrelated::supports::on_supports;
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseQuadratic, Measure, Measured};

    /// The slow twin: the component solved exactly on its rows and each other row.
    #[test]
    fn estimates_are_from_below() {
        let a = faer::Mat::from_fn(30, 12, |i, j| ((i * i + 5 * i * j + 3 * j) as f64 * 0.37).sin());
        let m = faer::Mat::from_fn(12, 12, |i, j| -(0..30).map(|s| a[(s, i)] * a[(s, j)]).sum::<f64>());
        let f = Measured::new(DenseQuadratic::new(m.as_ref()).unwrap(), Measure::Variance).unwrap();
        let limits = Cardinality::Components(vec![4; 3]);
        let p = MeasuredProblem::new(f, 3, limits, 0.0, Between::Uncorrelated).unwrap();
        let guide = RowMat::from_fn(12, 3, |i, k| if i / 4 == k { 1.0 } else { 0.0 });
        let at = Point::new(p.f.quadratic(), on_supports(&p, &guide).unwrap());
        assert!(orthopt_core::objective::Evaluate::feasibility(&p, &at.x) < 1e-12);
        for k in 0..3 {
            let rows = support(&at.x, k);
            let c = block(p.f.quadratic(), &rows);
            let now = Now { p: &p, at: &at, k, variance: at.variance(k), nonzeros: rows.len(), c, rows };
            let order = now.entering();
            assert_eq!(order.len(), 12 - now.rows.len());
            let exact = |i: usize| {
                let (rows, c) = now.grown(i);
                now.on(&rows, &c).unwrap().0
            };
            assert!(order.iter().all(|i| exact(*i) >= now.variance - 1e-12));
            // the first is among the better half
            let better = order.iter().filter(|i| exact(**i) > exact(order[0])).count();
            assert!(better <= order.len() / 2, "{better} of {}", order.len());
        }
    }
}
