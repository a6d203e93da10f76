//! Distances between two points, which are subtracted in the score of a triple.
//!
//! | name | distance | source |
//! |---|---|---|
//! | `geodesic` | d², d = α·arcosh\|k\| for \|k\| ≥ 1, α·arccos\|k\| below, k = ⟨x, y⟩_J/α² | JOBCD paper, App. F.1 |
//! | `split` | min(τ_x, τ_y)·(arccos⟨t̂_x, t̂_y⟩ + \|ŝ_x − ŝ_y\|), τ = \|t\|, t̂ = t/τ, ŝ = s/τ | UltraE's public code |
//! | `euclidean` | \|x − y\|² | q = 0 |
//!
//! `split` is an arc of the time part plus a straight line in the space part rescaled to the same radius; the
//! public code computes it in both directions, which differ by the factor τ_x/τ_y alone, and takes the smaller
//! one. It is not squared there, and boosts change it: it is no distance of the group's geometry, and questions for the
//! head need relations of their own.
//!
//! Distances come in blocks: b points against m, one or two matrix products and a pass over b·m numbers.

use orthopt::RowMat;
use orthopt_linalg::elementary::acos;
use orthopt_linalg::elementary::acos_positive;
use orthopt_linalg::elementary::acosh_1p;
use orthopt_linalg::products::{multiply, product};
use orthopt_linalg::simd::dispatch;
use serde::{Deserialize, Serialize};

use crate::manifold::{Space, norm2};

/// The distance of a score, see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Distance {
    /// d² of the paper; with q = 0 the square of the Euclidean distance.
    Geodesic,
    /// That of UltraE's public code.
    Split,
}

/// Points prepared for distances: m × n coordinates (of `split`: divided by τ), and a number for each.
#[derive(Clone, Debug)]
pub struct Points {
    x: RowMat,
    size: Vec<f64>,   // of split: tau; euclidean: |x|^2
    space2: Vec<f64>, // of split: |s/tau|^2
}

impl Points {
    /// The coordinates, m × n.
    pub(crate) fn coordinates(&self) -> &RowMat {
        &self.x
    }
}

/// Values of b × m pairs and their derivatives with respect to the products of coordinates.
#[derive(Clone, Debug)]
pub struct Block {
    /// Distances to subtract from the scores, b × m.
    pub value: RowMat,
    slope: RowMat,   // with respect to <x, y>_J, of split to <t, t>
    slope_s: RowMat, // of split, with respect to <s, s>
}

/// Distance of |k| from 1 below which rounding decides on which side it is.
const SEAM: f64 = 1e-12;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Curved,
    Split,
    Straight,
}

/// Distances in a space.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The space.
    pub space: Space,
    /// Which distance.
    pub distance: Distance,
}

impl Metric {
    fn kind(&self) -> Kind {
        match self.distance {
            _ if self.space.q == 0 => Kind::Straight,
            Distance::Geodesic => Kind::Curved,
            Distance::Split => Kind::Split,
        }
    }

    /// Prepares points, the rows of x (m × n). Cost O(mn).
    pub fn points(&self, mut x: RowMat) -> Points {
        let (m, p) = (x.nrows(), self.space.p);
        let (mut size, mut space2) = (Vec::new(), Vec::new());
        match self.kind() {
            Kind::Curved => {}
            Kind::Straight => size = (0..m).map(|i| norm2(x.row(i))).collect(),
            Kind::Split => {
                for i in 0..m {
                    let tau = norm2(&x.row(i)[p..]).sqrt();
                    x.row_mut(i).iter_mut().for_each(|v| *v /= tau);
                    size.push(tau);
                    space2.push(norm2(&x.row(i)[..p]));
                }
            }
        }
        Points { x, size, space2 }
    }

    /// All distances between a (b points) and c (m points). Cost 2bmn flops and a pass over bm numbers.
    pub fn block(&self, a: &Points, c: &Points) -> Block {
        let (b, m, p) = (a.x.nrows(), c.x.nrows(), self.space.p);
        let mut products = RowMat::zeros(b, m);
        let mut block =
            Block { value: RowMat::zeros(b, m), slope: RowMat::zeros(0, 0), slope_s: RowMat::zeros(0, 0) };
        let (q, split) = (self.space.q, self.kind() == Kind::Split);
        if split {
            let part = |x: &Points, from: usize, len: usize| x.x.as_mat().subcols(from, len).to_owned();
            product(&mut products, false, 1.0, part(a, p, q).as_ref(), part(c, p, q).as_ref().transpose());
            let spaces = multiply(part(a, 0, p).as_ref(), part(c, 0, p).as_ref().transpose());
            block.slope_s = spaces;
        } else {
            product(&mut products, false, 1.0, self.flipped(a).as_mat(), c.x.as_mat().transpose());
        }
        for i in 0..b {
            let row = Row { value: block.value.row_mut(i), slope: products.row_mut(i) };
            match self.kind() {
                Kind::Curved => self.curved(row, a.norm(i)),
                Kind::Straight => straight(row, a.size[i], &c.size),
                Kind::Split => split_row(row, block.slope_s.row_mut(i), (a.size[i], a.space2[i]), c),
            }
        }
        block.slope = products;
        block
    }

    /// Adds to `da` and `dc` the gradient of Σ weightᵢⱼ·valueᵢⱼ with respect to the points (as they were before
    /// they were prepared). Cost 4bmn flops.
    pub fn pull_back(
        &self,
        block: &Block,
        weights: &RowMat,
        a: &Points,
        c: &Points,
        da: &mut RowMat,
        dc: &mut RowMat,
    ) {
        let weighted = |slope: &RowMat| {
            let mut out = weights.clone();
            let pairs = out.data_mut().iter_mut().zip(slope.data());
            pairs.for_each(|(w, s)| *w *= s);
            out
        };
        let slope = weighted(&block.slope);
        match self.kind() {
            Kind::Curved => {
                product(da, true, 1.0, slope.as_mat(), self.flipped(c).as_mat());
                product(dc, true, 1.0, slope.as_mat().transpose(), self.flipped(a).as_mat());
            }
            Kind::Straight => {
                product(da, true, 1.0, slope.as_mat(), c.x.as_mat());
                product(dc, true, 1.0, slope.as_mat().transpose(), a.x.as_mat());
                let (rows, cols) = sums(weights);
                add_scaled(da, &a.x, &rows, 2.0);
                add_scaled(dc, &c.x, &cols, 2.0);
            }
            Kind::Split => {
                let mut to_a = RowMat::zeros(a.x.nrows(), a.x.ncols());
                let mut to_c = RowMat::zeros(c.x.nrows(), c.x.ncols());
                let slope_s = weighted(&block.slope_s);
                self.split_products([&slope, &slope_s], a, c, &mut to_a, false);
                self.split_products([&slope, &slope_s], c, a, &mut to_c, true);
                // |s_a - s_c|^2 has |s_a|^2 and |s_c|^2 at half of minus the slope of <s_a, s_c>
                let (rows, cols) = sums(&slope_s);
                self.unscale(a, &mut to_a, &rows, &self.radial(block, weights, a, c, false), da);
                self.unscale(c, &mut to_c, &cols, &self.radial(block, weights, a, c, true), dc);
            }
        }
    }

    /// AJ.
    fn flipped(&self, a: &Points) -> RowMat {
        let mut out = a.x.clone();
        if self.kind() == Kind::Curved {
            (0..out.nrows()).for_each(|i| self.space.flip(out.row_mut(i)));
        }
        out
    }

    /// d² from ⟨x, y⟩_J, and its derivative. Where q = 1, |k| ≥ 1 but for rounding.
    fn curved(&self, row: Row<'_>, size: f64) {
        let alpha2 = self.space.alpha * self.space.alpha;
        let seam = SEAM * (size * size / alpha2).clamp(1.0, 1e3);
        let circular = self.space.q > 1;
        dispatch(|| {
            let Row { value, slope } = row;
            for (value, slope) in value.iter_mut().zip(slope.iter_mut()) {
                let k = *slope / alpha2;
                let a = k.abs();
                let u = a - 1.0;
                let root = (u.abs() * (a + 1.0)).sqrt();
                let mut angle = acosh_1p(u.max(0.0));
                let mut sign = 1.0;
                if circular && u < 0.0 {
                    angle = acos_positive(a);
                    sign = -1.0;
                }
                *value = alpha2 * angle * angle;
                let ratio = if u.abs() <= seam { 0.0 } else { angle / root };
                *slope = if k < 0.0 { -2.0 } else { 2.0 } * sign * ratio;
            }
        });
    }

    /// Products of slopes with the other side's coordinates: the time part of the first, the space part of the
    /// second.
    fn split_products(
        &self,
        [t, s]: [&RowMat; 2],
        _of: &Points,
        other: &Points,
        out: &mut RowMat,
        transposed: bool,
    ) {
        let (p, q) = (self.space.p, self.space.q);
        for (slope, from, len) in [(s, 0, p), (t, p, q)] {
            let coordinates = other.x.as_mat().subcols(from, len).to_owned();
            let slope = if transposed { slope.as_mat().transpose() } else { slope.as_mat() };
            let part = multiply(slope, coordinates.as_ref());
            for i in 0..out.nrows() {
                out.row_mut(i)[from..from + len].copy_from_slice(part.row(i));
            }
        }
    }

    /// The derivative of `split` with respect to the τ of each point: the distance in units of the smaller τ goes
    /// to the point that has it.
    fn radial(&self, block: &Block, weights: &RowMat, a: &Points, c: &Points, of_c: bool) -> Vec<f64> {
        let mut out = vec![0.0; if of_c { c.size.len() } else { a.size.len() }];
        for (i, tau) in a.size.iter().enumerate() {
            for (j, other) in c.size.iter().enumerate() {
                let smaller = tau.min(*other);
                let share = if tau == other { 0.5 } else { f64::from(u8::from((tau < other) != of_c)) };
                out[if of_c { j } else { i }] += share * weights.get(i, j) * block.value.get(i, j) / smaller;
            }
        }
        out
    }

    /// From the gradient with respect to x/τ and τ to that with respect to x.
    fn unscale(&self, of: &Points, scaled: &mut RowMat, spaces: &[f64], radial: &[f64], out: &mut RowMat) {
        let p = self.space.p;
        for i in 0..scaled.nrows() {
            let (x, tau) = (of.x.row(i), of.size[i]);
            let g = scaled.row_mut(i);
            g[..p].iter_mut().zip(x).for_each(|(g, x)| *g -= spaces[i] * x);
            let along: f64 = g.iter().zip(x).map(|(g, x)| g * x).sum();
            let to_tau = radial[i] - along / tau;
            for (k, out) in out.row_mut(i).iter_mut().enumerate() {
                *out += g[k] / tau + if k < p { 0.0 } else { to_tau * x[k] };
            }
        }
    }
}

impl Points {
    fn norm(&self, i: usize) -> f64 {
        norm2(self.x.row(i)).sqrt()
    }
}

/// Of a block: values to fill in, and products that become slopes.
struct Row<'a> {
    value: &'a mut [f64],
    slope: &'a mut [f64],
}

/// |x − y|² from ⟨x, y⟩ and the squares.
fn straight(row: Row<'_>, of_a: f64, of_c: &[f64]) {
    let Row { value, slope } = row;
    for ((value, slope), of_c) in value.iter_mut().zip(slope).zip(of_c) {
        *value = (of_a + of_c - 2.0 * *slope).max(0.0);
        *slope = -2.0;
    }
}

/// The distance of the public code from ⟨t̂, t̂⟩ (which becomes its slope) and ⟨ŝ, ŝ⟩ (likewise).
fn split_row(row: Row<'_>, spaces: &mut [f64], (tau, space2): (f64, f64), c: &Points) {
    dispatch(|| {
        let Row { value, slope } = row;
        let of_c = c.size.iter().zip(&c.space2);
        for (((value, slope), spaces), (tau_c, space2_c)) in value.iter_mut().zip(slope).zip(spaces).zip(of_c)
        {
            let smaller = tau.min(*tau_c);
            let cosine = slope.clamp(-1.0, 1.0);
            let squared = space2 + space2_c - 2.0 * *spaces;
            let line = squared.max(0.0).sqrt();
            *value = smaller * (acos(cosine) + line);
            let sine = ((1.0 - cosine) * (1.0 + cosine)).sqrt();
            // arcs and lines of no length have no direction
            *slope = if sine <= 1e-8 { 0.0 } else { -smaller / sine };
            *spaces = if line <= 1e-8 { 0.0 } else { -smaller / line };
        }
    });
}

/// Of rows and of columns.
fn sums(m: &RowMat) -> (Vec<f64>, Vec<f64>) {
    let (mut rows, mut cols) = (vec![0.0; m.nrows()], vec![0.0; m.ncols()]);
    for i in 0..m.nrows() {
        for (j, v) in m.row(i).iter().enumerate() {
            rows[i] += v;
            cols[j] += v;
        }
    }
    (rows, cols)
}

fn add_scaled(out: &mut RowMat, x: &RowMat, weights: &[f64], factor: f64) {
    for i in 0..out.nrows() {
        let weight = factor * weights[i];
        out.row_mut(i).iter_mut().zip(x.row(i)).for_each(|(o, x)| *o += weight * x);
    }
}
