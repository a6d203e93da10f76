//! Layers of plane rotations and boosts: the relations of UltraE's public code.

use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt_hyperbolic::jpair::Component;
use orthopt_hyperbolic::jpair::JMove;

/// R = blkdiag(G(u₁), G(u₂)) · H(μ) · blkdiag(G(v₁), G(v₂)), where G(θ) turns rows (0, 1), (2, 3), … by the angles
/// θ, and H(μ) boosts rows i and p + i. J has its ones first.
#[derive(Clone, Debug, PartialEq)]
pub struct Givens {
    /// Angles of the first layer to act (v), of pairs of the first p rows and of the other q.
    pub first: Vec<f64>,
    /// μ, min(p, q) numbers.
    pub boosts: Vec<f64>,
    /// Angles of the last layer (u).
    pub last: Vec<f64>,
}

impl Givens {
    /// Number of angles and boosts.
    pub fn coordinates(p: usize, q: usize) -> usize {
        2 * (p / 2 + q / 2) + p.min(q)
    }

    /// R = I.
    pub fn identity(p: usize, q: usize) -> Self {
        let layer = vec![0.0; p / 2 + q / 2];
        Self { first: layer.clone(), boosts: vec![0.0; p.min(q)], last: layer }
    }

    /// The factors of R, the first to act first.
    fn moves(&self, j: &Signature) -> Vec<(usize, usize, Component, f64)> {
        let (p, q) = (j.plus().len(), j.minus().len());
        let pairs = (0..p / 2).map(|k| 2 * k).chain((0..q / 2).map(|k| p + 2 * k));
        let pairs: Vec<usize> = pairs.collect();
        let layer = |angles: &[f64]| {
            let turned = pairs.iter().zip(angles).map(|(i, a)| (*i, i + 1, Component::Rotation, *a));
            turned.collect::<Vec<_>>()
        };
        let boosts = self.boosts.iter().enumerate().map(|(i, mu)| (i, p + i, Component::BOOSTS[0], *mu));
        layer(&self.first).into_iter().chain(boosts).chain(layer(&self.last)).collect()
    }

    /// R. Cost O(n²).
    pub fn compose(&self, j: &Signature) -> RowMat {
        let n = j.len();
        let mut r = RowMat::from_fn(n, n, |a, b| f64::from(u8::from(a == b)));
        for (i, k, component, angle) in self.moves(j) {
            turn(&mut r, i, k, &JMove::at(component, angle));
        }
        r
    }

    /// The derivative along every coordinate from G = ∂L/∂R, in the order first, boosts, last. With R = BVA, of
    /// which V is one of the factors, it is ⟨V′, BᵀGAᵀ⟩: G is turned back factor by factor. Cost O(n²).
    pub fn gradient(&self, j: &Signature, g: &RowMat) -> Vec<f64> {
        let (mut back, mut before) = (g.clone(), self.compose(j)); // B^T G, and V A
        let moves = self.moves(j);
        let mut out = vec![0.0; moves.len()];
        for (c, (i, k, component, angle)) in moves.iter().enumerate().rev() {
            // V' is V times the generator: <V' A, B^T G> over rows i and k, V A known
            let (a, b) = (before.row(*i), before.row(*k));
            let cross = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let (to_i, to_k) = (cross(b, back.row(*i)), cross(a, back.row(*k)));
            let rotation = *component == Component::Rotation;
            out[c] = if rotation { to_i - to_k } else { to_i + to_k };
            let inverse = JMove::at(*component, -angle);
            turn(&mut before, *i, *k, &inverse);
            // V^T is its inverse for rotations, itself for boosts
            turn(&mut back, *i, *k, &if rotation { inverse } else { JMove::at(*component, *angle) });
        }
        out
    }

    /// Adds a step to angles and boosts.
    pub fn advance(&mut self, step: &[f64]) {
        let all = self.first.iter_mut().chain(&mut self.boosts).chain(&mut self.last);
        all.zip(step).for_each(|(x, s)| *x += s);
        self.boosts.iter_mut().for_each(|mu| *mu = mu.clamp(-super::MU_CAP, super::MU_CAP));
    }
}

fn turn(m: &mut RowMat, i: usize, k: usize, v: &JMove) {
    let n = m.ncols();
    let (above, below) = m.data_mut().split_at_mut(k * n);
    v.apply(&mut above[i * n..(i + 1) * n], &mut below[..n]);
}
