//! The measures of X from the scores T = RX themselves, C = RᵀR: what F, its gradient and the table of shares are.
//!
//! T is factored by Gram and Schmidt, each score made orthogonal twice, T = Q Diag(√d)Lᵀ. A score whose part beside those
//! before it is below √ε of the size of R is a combination of them and counts for nothing, so that what is explained,
//! ‖RᵀQ‖² of orthonormal Q, is at most the sum of the largest eigenvalues of C whatever rounding does.

use faer::Mat;

use super::Measure;
use super::root::Root;
use super::small::{Small, half_of_polar};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::inherit;
use orthopt_linalg::kernels::{axpy, inner};
use orthopt_linalg::products::{gram, multiply, product};
use orthopt_linalg::sequential::{Svd, svd, triangle};

/// Scores, as rows, and what they come from.
pub struct Scores<'a> {
    root: &'a Root,
    t: RowMat,         // Tᵀ, r × q
    lengths: Vec<f64>, // of the columns of X
}

/// In which order scores are made orthogonal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pivots {
    Given,     // that of the columns
    Variances, // that of adjusted variance
    Largest,   // what is left of a score is largest
}

/// T = Q Diag(√d)Lᵀ in some order of the columns of T.
struct Factor {
    order: Vec<usize>,
    l: Vec<f64>, // unit lower, by rows in this order
    d: Vec<f64>, // 0 for scores that are combinations of those before them
    q: RowMat,   // Qᵀ; rows of zeros where d is 0
}

/// All measures in the unit of C.
pub struct Measures {
    /// Own variance of each score.
    pub own: Vec<f64>,
    /// Variance that each one adds to those before it.
    pub adjusted: Vec<f64>,
    /// The measures.
    pub polar: f64,
    /// Variance explained by a regression.
    pub explained: f64,
    /// XᵀCX.
    pub products: RowMat,
}

impl<'a> Scores<'a> {
    /// Of X.
    pub fn new(root: &'a Root, x: &RowMat) -> Self {
        let lengths = (0..x.ncols()).map(|k| (0..x.nrows()).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt());
        Self { root, t: root.scores(x), lengths: lengths.collect() }
    }

    fn products(&self) -> RowMat {
        let r = self.t.nrows();
        RowMat::from_fn(r, r, |i, k| inner(self.t.row(i), self.t.row(k)))
    }

    /// A measure; adjusted variance in the order of the columns where `given`.
    pub fn value(&self, measure: Measure, given: bool) -> f64 {
        self.root.unit() * self.in_unit(measure, given)
    }

    fn in_unit(&self, measure: Measure, given: bool) -> f64 {
        match measure {
            Measure::Variance => self.t.inner(&self.t),
            Measure::Adjusted => self.factor(adjusted_by(given)).d.iter().sum(),
            Measure::Polar => self.polar().map_or(f64::NAN, |(root, _)| squares(&diagonal(&root))),
            Measure::Explained => {
                let z = self.root.spread(&self.factor(Pivots::Largest).q);
                z.inner(&z)
            }
        }
    }

    /// A measure and half of its gradient; adjusted variance in the order of the columns where `given`.
    pub fn value_and_gradient(&self, measure: Measure, given: bool) -> (f64, RowMat) {
        let r = self.t.nrows();
        let unit = self.root.unit();
        let (value, mut g) = match measure {
            Measure::Variance => (self.in_unit(measure, given), self.root.spread(&self.t)),
            Measure::Adjusted => {
                // RᵀTUUᵀ for U = L⁻ᵀ, TU = Q Diag(√d)
                let factor = self.factor(adjusted_by(given));
                let u = factor.inverse();
                let columns = RowMat::from_fn(r, r, |j, a| factor.d[j].sqrt() * u[j * r + a]);
                let z = self.root.spread(&factor.q);
                (factor.d.iter().sum(), factor.back(&z, &columns))
            }
            Measure::Polar => {
                let Some((root, svd)) = self.polar() else {
                    return (f64::NAN, RowMat::from_fn(self.root.variables(), r, |_, _| f64::NAN));
                };
                let q =
                    half_of_polar(&diagonal(&root), &svd.sigma, &RowMat::from_fn(r, r, |a, k| svd.v[(a, k)]));
                let m = self.root.spread(&self.t);
                let g = multiply(m.as_mat(), q.as_mat());
                (squares(&diagonal(&root)), g)
            }
            Measure::Explained => {
                // with Z = RᵀQ: (RᵀRZ − ZZᵀZ)B, B = Diag(d)^{-1/2}Uᵀ
                let factor = self.factor(Pivots::Largest);
                let u = factor.inverse();
                let z = self.root.spread(&factor.q);
                let mut left = self.root.spread(&self.root.gather(&z));
                product(&mut left, true, -1.0, z.as_mat(), gram(&z).as_mat());
                let scaled = |j: usize| if factor.d[j] > 0.0 { 1.0 / factor.d[j].sqrt() } else { 0.0 };
                let b = RowMat::from_fn(r, r, |j, a| scaled(j) * u[j * r + a]);
                (z.inner(&z), factor.back(&left, &b))
            }
        };
        g.data_mut().iter_mut().for_each(|v| *v *= unit);
        (unit * value, g)
    }

    /// All of them, adjusted variance in the order of the columns.
    pub fn measures(&self) -> Measures {
        let unit = self.root.unit();
        let factor = self.factor(Pivots::Given);
        let products = self.products();
        let own = (0..self.t.nrows()).map(|k| unit * products.get(k, k)).collect();
        let scaled = RowMat::from_fn(products.nrows(), products.ncols(), |i, k| unit * products.get(i, k));
        Measures {
            own,
            adjusted: factor.d.iter().map(|d| unit * d).collect(),
            polar: self.value(Measure::Polar, false),
            explained: self.value(Measure::Explained, false),
            products: scaled,
        }
    }

    /// The order in which adjusted variance takes the columns.
    pub fn order(&self) -> Vec<usize> {
        Small::new(self.t.nrows(), false).ordered(self.products().data())
    }

    /// S^{1/2} and the decomposition of T it comes from; `None` where the routine does not converge.
    fn polar(&self) -> Option<(RowMat, Svd)> {
        let (r, q) = (self.t.nrows(), self.t.ncols());
        let square = match q > r {
            true => triangle(self.t.as_mat().transpose()),
            false => Mat::from_fn(r, r, |i, k| if i < q { self.t.get(k, i) } else { 0.0 }),
        };
        // it is computed to the end, as a value needs it
        let found = inherit(None, || svd(square.as_ref(), true))?;
        let entry = |i: usize, j: usize| {
            found.sigma.iter().enumerate().map(|(k, s)| found.v[(i, k)] * s * found.v[(j, k)]).sum()
        };
        Some((RowMat::from_fn(r, r, entry), found))
    }

    fn factor(&self, pivots: Pivots) -> Factor {
        let r = self.t.nrows();
        let mut order: Vec<usize> = if pivots == Pivots::Variances { self.order() } else { (0..r).collect() };
        let least = self.root.rounding();
        let mut left = RowMat::from_fn(r, self.t.ncols(), |a, i| self.t.get(order[a], i));
        let (mut l, mut d): (Vec<f64>, Vec<f64>) = (vec![0.0; r * r], vec![0.0; r]);
        for j in 0..r {
            if pivots == Pivots::Largest {
                let size = |a: usize| inner(left.row(a), left.row(a)) / self.lengths[order[a]].powi(2);
                let best = (j + 1..r).fold(j, |b, a| if size(a) > size(b) { a } else { b });
                if best != j {
                    order.swap(j, best);
                    swap_rows(&mut left, j, best);
                    (0..j).for_each(|k| l.swap(j * r + k, best * r + k));
                }
            }
            l[j * r + j] = 1.0;
            // what was made orthogonal step by step is so to the last digit after another time
            let (done, rest) = left.data_mut().split_at_mut(j * self.t.ncols());
            let (own, rest) = rest.split_at_mut(self.t.ncols());
            for (k, q) in done.chunks_exact(own.len().max(1)).enumerate().filter(|(k, _)| d[*k] > 0.0) {
                let along = inner(q, own);
                axpy(-along, q, own);
                l[j * r + k] += along / d[k].sqrt();
            }
            let pivot = inner(own, own);
            if pivot <= least * self.lengths[order[j]].powi(2) {
                own.fill(0.0);
                continue;
            }
            d[j] = pivot;
            let size = pivot.sqrt();
            own.iter_mut().for_each(|v| *v /= size);
            for (a, row) in rest.chunks_exact_mut(own.len()).enumerate() {
                let along = inner(own, row);
                axpy(-along, own, row);
                l[(j + 1 + a) * r + j] = along / size;
            }
        }
        Factor { order, l, d, q: left }
    }
}

fn adjusted_by(given: bool) -> Pivots {
    if given { Pivots::Given } else { Pivots::Variances }
}

impl Factor {
    /// L⁻¹ by rows, where scores that are combinations of others stand alone.
    fn inverse(&self) -> Vec<f64> {
        let (r, l) = (self.d.len(), &self.l);
        let mut u = vec![0.0; r * r];
        for a in 0..r {
            u[a * r + a] = 1.0;
            for c in 0..a {
                u[a * r + c] = -(c..a).map(|b| l[a * r + b] * u[b * r + c]).sum::<f64>();
            }
        }
        u
    }

    /// ZB with its columns at their places in X.
    fn back(&self, z: &RowMat, b: &RowMat) -> RowMat {
        let product_of = multiply(z.as_mat(), b.as_mat());
        let mut out = RowMat::zeros(z.nrows(), b.ncols());
        for i in 0..z.nrows() {
            self.order.iter().enumerate().for_each(|(a, k)| out.set(i, *k, product_of.get(i, a)));
        }
        out
    }
}

fn swap_rows(a: &mut RowMat, i: usize, j: usize) {
    let width = a.ncols();
    let (above, below) = a.data_mut().split_at_mut(i.max(j) * width);
    above[i.min(j) * width..][..width].swap_with_slice(&mut below[..width]);
}

fn diagonal(a: &RowMat) -> Vec<f64> {
    (0..a.nrows()).map(|k| a.get(k, k)).collect()
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}
