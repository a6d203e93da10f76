//! Directions z in sample space and the scores Aᵀz of all variables.
//!
//! If C is all that is available (or all that is requested, as it has fewer rows than A), z = Av is stored as v: inner
//! products are those of C, and Aᵀz = Cv. No factor of C is needed.

use orthopt_core::smooth::{Entries, Halves, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::kernels::{add_weighted_rows, inner};
use orthopt_linalg::parallel::for_each_chunk;
use orthopt_linalg::products::{multiply, product};
use orthopt_linalg::unit::power_of_two;
use orthopt_linalg::work::count;

/// The square of a length below this share of what it comes from is rounding.
const NOTHING: f64 = 1e-12;
/// An eigenvalue of a Gram matrix below this share of the largest is rounding.
const LOST: f64 = 1e-13;
/// One below this share of the largest has lost half of its digits: the root is taken twice.
const POOR: f64 = 1e-4;

/// Unit vectors z, or zero ones of components without a variable, as rows: samples, or coefficients v of z = Av. And Aᵀz.
#[derive(Clone, Debug)]
pub(super) struct Directions {
    pub z: RowMat,
    pub y: RowMat,
}

impl Directions {
    pub fn empty() -> Self {
        Self { z: RowMat::zeros(0, 0), y: RowMat::zeros(0, 0) }
    }

    pub fn len(&self) -> usize {
        self.y.nrows()
    }

    /// All but some of them.
    pub fn without(&self, dropped: &[usize]) -> Self {
        let kept: Vec<usize> = (0..self.len()).filter(|k| !dropped.contains(k)).collect();
        Self { z: rows(&self.z, &kept), y: rows(&self.y, &kept) }
    }

    /// One of them.
    pub fn one(&self, k: usize) -> Self {
        Self { z: rows(&self.z, &[k]), y: rows(&self.y, &[k]) }
    }

    pub fn push(&mut self, other: &Self) {
        for (own, other) in [(&mut self.z, &other.z), (&mut self.y, &other.y)] {
            let data = [own.data(), other.data()].concat();
            let count = own.nrows() + other.nrows();
            if let Some(both) = RowMat::from_vec(count, other.ncols(), data) {
                *own = both;
            }
        }
    }

    /// Direction l at place `own[l]` of r; zeros where there is none.
    pub fn arranged(&self, own: &[usize], r: usize) -> Self {
        let place = |from: &RowMat| {
            let mut to = RowMat::zeros(r, from.ncols());
            own.iter().enumerate().for_each(|(l, k)| to.row_mut(*k).copy_from_slice(from.row(l)));
            to
        };
        Self { z: place(&self.z), y: place(&self.y) }
    }

    /// Direction k of another set.
    pub fn copy(&mut self, k: usize, from: &Self) {
        self.z.row_mut(k).copy_from_slice(from.z.row(k));
        self.y.row_mut(k).copy_from_slice(from.y.row(k));
    }
}

fn rows(m: &RowMat, which: &[usize]) -> RowMat {
    let mut out = RowMat::zeros(which.len(), m.ncols());
    which.iter().enumerate().for_each(|(to, from)| out.row_mut(to).copy_from_slice(m.row(*from)));
    out
}

/// Representation of directions.
#[derive(Debug)]
pub(super) struct Space<'a, F: Quadratic> {
    pub f: &'a F,
    halves: Halves<'a>,
    /// Divisor of C, if C is all that is available: then another unit changes no bit, though lengths are roots of its
    /// entries.
    pub unit: f64,
}

/// Vectors that are not yet directions: their scores are known where z is kept as v.
struct Raw {
    z: RowMat,
    y: Option<RowMat>,
}

impl Raw {
    /// The other side of an inner product.
    fn dual(&self) -> &RowMat {
        self.y.as_ref().unwrap_or(&self.z)
    }

    fn each(&mut self, change: impl Fn(&mut RowMat)) {
        change(&mut self.z);
        self.y.iter_mut().for_each(change);
    }

    /// ⟨zₖ, z_l⟩.
    fn gram(&self) -> RowMat {
        outer(&self.z, self.dual()).symmetric_part()
    }
}

/// ZYᵀ.
fn outer(z: &RowMat, y: &RowMat) -> RowMat {
    multiply(z.as_mat(), y.as_mat().transpose())
}

impl<'a, F: Quadratic> Space<'a, F> {
    pub fn new(f: &'a F) -> Self {
        let halves = f.halves();
        let largest = |d: Vec<f64>| d.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let unit = match halves {
            Halves::Samples(_) => 1.0,
            _ => power_of_two(largest(f.diagonal())),
        };
        Self { f, halves, unit }
    }

    /// Work of the scores of one direction.
    pub fn work(&self) -> usize {
        let n = self.f.nrows();
        match self.halves {
            Halves::Samples(data) => data.work(),
            // of the few variables that it mixes
            Halves::Matrix(_) => n * n.div_ceil(8),
            Halves::Unknown => n * n,
        }
    }

    /// The directions of Aw for vectors w: normalised, or the orthonormal ones nearest to them, after what they have of `apart`, which
    /// are orthonormal, is taken away. Those of nothing are zero.
    pub fn directions(&self, w: &[Entries], apart: Option<&Directions>, orthonormal: bool) -> Directions {
        let mut raw = self.raw(w);
        if let Some(others) = apart.filter(|others| others.len() > 0) {
            self.take_away(&mut raw, others);
        }
        if orthonormal {
            nearest(&mut raw)
        } else {
            normalise(&mut raw)
        }
        let y = raw.y.take().unwrap_or_else(|| match self.halves {
            Halves::Samples(data) => data.scores(&raw.z),
            _ => self.products(&entries_of_rows(&raw.z)),
        });
        Directions { z: raw.z, y }
    }

    /// Aw, in a unit in which squares neither overflow nor underflow.
    fn raw(&self, w: &[Entries]) -> Raw {
        let largest = w.iter().flatten().fold(0.0f64, |m, e| m.max(e.1.abs()));
        let unit = power_of_two(largest);
        let w: Vec<Entries> = w.iter().map(|w| w.iter().map(|(i, v)| (*i, v / unit)).collect()).collect();
        if let Halves::Samples(data) = self.halves {
            return Raw { z: data.mixtures(&w), y: None };
        }
        let mut z = RowMat::zeros(w.len(), self.f.nrows());
        for (k, w) in w.iter().enumerate() {
            w.iter().for_each(|(i, v)| z.set(k, *i, z.get(k, *i) + v));
        }
        Raw { z, y: Some(self.products(&w)) }
    }

    /// (CW)ᵀ, in the unit.
    fn products(&self, w: &[Entries]) -> RowMat {
        let mut y = self.multiplied(w);
        y.data_mut().iter_mut().for_each(|v| *v /= -self.unit);
        y
    }

    /// −(CW)ᵀ.
    fn multiplied(&self, w: &[Entries]) -> RowMat {
        let n = self.f.nrows();
        let Halves::Matrix(m) = self.halves else { return self.f.apply_few(w) };
        count(w.iter().map(Vec::len).sum::<usize>() * n);
        let mut y = RowMat::zeros(w.len(), n);
        for_each_chunk(y.data_mut(), n, &|_, k, row| {
            add_weighted_rows(w[k].len(), |l| (w[k][l].1, w[k][l].0 * n), m.data(), row);
        });
        y
    }

    fn take_away(&self, raw: &mut Raw, others: &Directions) {
        let before = squares(raw);
        let shared = match &raw.y {
            Some(y) => outer(y, &others.z),
            None => outer(&raw.z, &others.z),
        };
        product(&mut raw.z, true, -1.0, shared.as_mat(), others.z.as_mat());
        if let Some(y) = &mut raw.y {
            product(y, true, -1.0, shared.as_mat(), others.y.as_mat());
        }
        let after = squares(raw);
        for k in (0..after.len()).filter(|k| after[*k] <= NOTHING * before[*k]) {
            raw.each(|m| m.row_mut(k).fill(0.0));
        }
    }
}

fn entries_of_rows(z: &RowMat) -> Vec<Entries> {
    let of = |k: usize| z.row(k).iter().copied().enumerate().filter(|e| e.1 != 0.0).collect();
    (0..z.nrows()).map(of).collect()
}

/// ‖zₖ‖².
fn squares(raw: &Raw) -> Vec<f64> {
    (0..raw.z.nrows()).map(|k| inner(raw.z.row(k), raw.dual().row(k))).collect()
}

fn normalise(raw: &mut Raw) {
    for (k, square) in squares(raw).into_iter().enumerate() {
        let length = square.sqrt();
        let scale = if length > 0.0 && length.is_finite() { length.recip() } else { 0.0 };
        raw.each(|m| match scale > 0.0 && scale.is_finite() {
            true => m.row_mut(k).iter_mut().for_each(|v| *v /= length),
            false => m.row_mut(k).fill(0.0),
        });
    }
}

/// Z ← (ZZᵀ)^{−1/2}Z, on the space of its rows: the polar factor, a contraction where Z has lost rank. Among contractions none has a larger
/// inner product with Z, which is all that an alternation needs.
fn nearest(raw: &mut Raw) {
    let Some(poor) = whiten(raw, LOST) else { return raw.each(|m| m.data_mut().fill(0.0)) };
    if poor {
        whiten(raw, 0.25);
    }
}

/// One root; whether it has lost digits. `None` where there is nothing.
fn whiten(raw: &mut Raw, cut: f64) -> Option<bool> {
    let g = raw.gram();
    let (values, vectors) = symmetric_eigenpairs(&g)?;
    let largest = *values.first().filter(|v| **v > 0.0)?;
    let kept = values.iter().take_while(|v| **v > cut * largest).count();
    let r = g.nrows();
    let divided = RowMat::from_fn(r, kept, |a, k| vectors.get(a, k) / values[k].sqrt());
    let mut root = RowMat::zeros(r, r);
    for a in 0..r {
        for b in 0..=a {
            let sum = inner(divided.row(a), &vectors.row(b)[..kept]);
            root.set(a, b, sum);
            root.set(b, a, sum);
        }
    }
    raw.each(|m| {
        let out = multiply(root.as_mat(), m.as_mat());
        *m = out;
    });
    Some(kept > 0 && values[kept - 1] < POOR * largest)
}
