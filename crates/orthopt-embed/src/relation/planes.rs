//! Relations that act on one plane after another: O(n) for a point, without a matrix.

use orthopt::RowMat;
use orthopt::constraint::Signature;

use super::{Givens, Group, Relation};

/// A relation with the cosines and sines of its angles.
pub(crate) enum Turn {
    /// Layers of Givens rotations, boosts between them.
    Layers { p: usize, first: Vec<(f64, f64)>, boosts: Vec<(f64, f64)>, last: Vec<(f64, f64)> },
    /// Products with complex numbers.
    Complex(Vec<f64>),
}

/// The first of the two coordinates of every rotation.
fn pairs(p: usize, n: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..p / 2).map(|k| 2 * k).chain((0..(n - p) / 2).map(move |k| p + 2 * k))
}

/// Rotates pairs of neighbours.
fn rotate(p: usize, layer: &[(f64, f64)], x: &mut [f64]) {
    for (i, (c, s)) in pairs(p, x.len()).zip(layer) {
        let (a, b) = (x[i], x[i + 1]);
        (x[i], x[i + 1]) = (c * a + s * b, c * b - s * a);
    }
}

/// Takes a layer back: y and its gradient become those before it; adds the slopes of its angles.
fn rotate_back(p: usize, layer: &[(f64, f64)], y: &mut [f64], g: &mut [f64], slopes: &mut [f64]) {
    for ((i, (c, s)), slope) in pairs(p, y.len()).zip(layer).zip(slopes) {
        *slope += g[i] * y[i + 1] - g[i + 1] * y[i];
        for x in [&mut *y, &mut *g] {
            let (a, b) = (x[i], x[i + 1]);
            (x[i], x[i + 1]) = (c * a - s * b, c * b + s * a);
        }
    }
}

impl Turn {
    fn layers(givens: &Givens, p: usize) -> Self {
        let circular = |angles: &[f64]| {
            let both = angles.iter().map(|a| a.sin_cos());
            both.map(|(s, c)| (c, s)).collect()
        };
        let boosts = givens.boosts.iter().map(|mu| {
            let (up, down) = (mu.exp(), (-mu).exp());
            (0.5 * (up + down), 0.5 * (up - down))
        });
        let boosts = boosts.collect();
        Self::Layers { p, first: circular(&givens.first), boosts, last: circular(&givens.last) }
    }

    /// x ← R x. Cost O(n).
    pub fn forward(&self, x: &mut [f64]) {
        match self {
            Self::Layers { p, first, boosts, last } => {
                rotate(*p, first, x);
                let (plus, minus) = x.split_at_mut(*p);
                for ((a, b), (c, s)) in plus.iter_mut().zip(minus).zip(boosts) {
                    (*a, *b) = (c * *a + s * *b, s * *a + c * *b);
                }
                rotate(*p, last, x);
            }
            Self::Complex(w) => {
                for (x, w) in x.chunks_exact_mut(2).zip(w.chunks_exact(2)) {
                    (x[0], x[1]) = (w[0] * x[0] - w[1] * x[1], w[0] * x[1] + w[1] * x[0]);
                }
            }
        }
    }

    /// From the gradient with respect to y = R x to that with respect to x, in place; adds that with respect to the
    /// coordinates of R to `slopes`. y is overwritten. Cost O(n).
    pub fn back(&self, x: &[f64], y: &mut [f64], g: &mut [f64], slopes: &mut [f64]) {
        match self {
            Self::Layers { p, first, boosts, last } => {
                let (of_first, rest) = slopes.split_at_mut(first.len());
                let (of_boosts, of_last) = rest.split_at_mut(boosts.len());
                rotate_back(*p, last, y, g, of_last);
                let ((y_plus, y_minus), (g_plus, g_minus)) = (y.split_at_mut(*p), g.split_at_mut(*p));
                let rows = y_plus.iter_mut().zip(y_minus).zip(g_plus.iter_mut().zip(g_minus));
                for ((((a, b), (ga, gb)), (c, s)), slope) in rows.zip(boosts).zip(of_boosts) {
                    *slope += *ga * *b + *gb * *a;
                    (*a, *b) = (c * *a - s * *b, c * *b - s * *a); // the inverse
                    (*ga, *gb) = (c * *ga + s * *gb, s * *ga + c * *gb); // the transpose
                }
                rotate_back(*p, first, y, g, of_first);
            }
            Self::Complex(w) => {
                let planes = x.chunks_exact(2).zip(w.chunks_exact(2));
                let rows = g.chunks_exact_mut(2).zip(slopes.chunks_exact_mut(2));
                for ((x, w), (g, slope)) in planes.zip(rows) {
                    slope[0] += g[0] * x[0] + g[1] * x[1];
                    slope[1] += g[1] * x[0] - g[0] * x[1];
                    (g[0], g[1]) = (w[0] * g[0] + w[1] * g[1], w[0] * g[1] - w[1] * g[0]);
                }
            }
        }
    }

    /// Adds the gradient of `weight`·Σ σᵢ³, σᵢ the singular values of c·R (for complex numbers w: of Σ |w|³), to
    /// `slopes`; returns the derivative with respect to ln c.
    pub fn add_cubes(&self, n: usize, factor: f64, weight: f64, slopes: &mut [f64]) -> f64 {
        match self {
            Self::Layers { first, boosts, .. } => {
                let cube = weight * factor.powi(3);
                let mut sum = (n - 2 * boosts.len()) as f64;
                for ((c, s), slope) in boosts.iter().zip(&mut slopes[first.len()..]) {
                    let (up, down) = ((c + s).powi(3), (c - s).powi(3));
                    *slope += 3.0 * cube * (up - down);
                    sum += up + down;
                }
                3.0 * cube * sum
            }
            Self::Complex(w) => {
                for (w, slope) in w.chunks_exact(2).zip(slopes.chunks_exact_mut(2)) {
                    let length = w[0].hypot(w[1]);
                    slope.iter_mut().zip(w).for_each(|(s, w)| *s += 3.0 * weight * length * w);
                }
                0.0
            }
        }
    }
}

impl Group {
    /// A relation that acts on planes, prepared for many points.
    pub(crate) fn turn(&self, relation: &Relation) -> Turn {
        match relation {
            Relation::Givens(givens) => Turn::layers(givens, self.j.plus().len()),
            Relation::Complex(w) => Turn::Complex(w.clone()),
            // no relation of a scorer that asks for this: models check it
            Relation::Full(_) | Relation::Cs(_) => Turn::Complex(vec![f64::NAN; self.j.len()]),
        }
    }
}

/// max |RᵀJR − J| in O(n): R has blocks of at most four rows, those of a pair with J = 1 and of the boosted pair with
/// J = −1, whose columns are found for all blocks together.
pub(super) fn residual(givens: &Givens, j: &Signature) -> f64 {
    let (n, p) = (j.len(), j.plus().len());
    let turn = Turn::layers(givens, p);
    let place = |i: usize| if i < p { (i / 2, i % 2, 1.0) } else { ((i - p) / 2, 2 + (i - p) % 2, -1.0) };
    let columns = [0, 1, 2, 3].map(|c| {
        let mut x: Vec<f64> = (0..n).map(|i| f64::from(u8::from(place(i).1 == c))).collect();
        turn.forward(&mut x);
        x
    });
    let mut worst = vec![[[0.0; 4]; 4]; n.div_ceil(2)];
    for i in 0..n {
        let (block, c, sign) = place(i);
        worst[block][c][c] -= sign;
        for a in 0..4 {
            (0..4).for_each(|b| worst[block][a][b] += sign * columns[a][i] * columns[b][i]);
        }
    }
    let larger = |m: f64, v: &f64| if v.is_nan() { f64::INFINITY } else { m.max(v.abs()) };
    worst.iter().flatten().flatten().fold(0.0, larger)
}

/// R as a matrix, column by column.
pub(super) fn matrix(turn: &Turn, n: usize) -> RowMat {
    let column = |k: usize| {
        let mut x: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == k))).collect();
        turn.forward(&mut x);
        x
    };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    RowMat::from_fn(n, n, |i, k| columns[k][i])
}

/// The gradient with respect to complex numbers from that with respect to their matrix.
pub(super) fn complex_gradient(n: usize, g: &RowMat) -> Vec<f64> {
    let part = |k: usize| match k % 2 {
        0 => g.get(k, k) + g.get(k + 1, k + 1),
        _ => g.get(k, k - 1) - g.get(k - 1, k),
    };
    (0..n).map(part).collect()
}
