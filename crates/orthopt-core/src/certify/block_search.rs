//! Decrease of F by one block of k rows: min over V ∈ O(k) of the exact model, by sweeps of pairs from many V.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use crate::constraint::stiefel;
use crate::pair::PairPenalty;
use crate::pair::rows::PairStep;
use crate::pair::step::{PairWork, Shape};
use crate::smooth::{DenseQuadratic, QuadraticImage};
use orthopt_linalg::RowMat;
use orthopt_linalg::plane::{Branch, PairMove};
use orthopt_linalg::products::{multiply, product};

/// Maximum number of sweeps over the pairs of a block from one start; only ties need many.
const MOST_SWEEPS: u32 = 200;

/// F over the rows of one block, the others fixed: q(V) − q(I) as a function of VZ.
pub(super) struct Block<'a, H> {
    pub h: &'a H,
    pub k: DenseQuadratic, // K = M_BB
    pub z: RowMat,         // Z = X_B
    pub g: RowMat,         // ∇f(X)_B
    /// Decreases up to this are rounding.
    pub noise: f64,
}

/// The best that was found for a block.
pub(super) struct Found {
    pub decrease: f64, // of F; 0 where nothing lower than I was found
    pub z: RowMat,     // VZ
}

impl<H: PairPenalty> Block<'_, H> {
    /// The lowest point of sweeps from V = I and from `starts` other V. For k = 2 the first one is the global
    /// minimum; for k > 2 it is a lower estimate of the decrease by the block.
    pub fn search(&self, starts: u32, rng: &mut Pcg64, work: &mut PairWork) -> Found {
        let mut best = self.descend(self.z.clone(), work);
        let others = if self.z.nrows() > 2 { starts } else { 0 };
        for kind in 0..others {
            let Some(from) = self.start(kind, rng) else { continue };
            let found = self.descend(from, work);
            if found.decrease > best.decrease + self.noise {
                best = found;
            }
        }
        best
    }

    /// Another starting VZ; `None` if h does not allow it.
    ///
    /// If h makes zeros, a path from one pattern of zeros to another has a higher F in
    /// between. So a third of the starts is uniform over O(k), a third makes one entry zero by a rotation of two rows
    /// at any cost, and a third permutes the rows and changes their signs.
    fn start(&self, kind: u32, rng: &mut Pcg64) -> Option<RowMat> {
        let from = match kind % 3 {
            _ if self.h.requires_nonneg() => self.redistributed(rng),
            0 => self.turned(rng),
            1 => self.one_entry_less(rng)?,
            _ => self.permuted(rng),
        };
        self.h.value(from.data()).is_finite().then_some(from)
    }

    /// VZ for a V that is uniform over O(k).
    fn turned(&self, rng: &mut Pcg64) -> RowMat {
        let (k, _r) = (self.z.nrows(), self.z.ncols());
        multiply(stiefel::random(k, k, rng).as_mat(), self.z.as_mat())
    }

    /// One nonzero entry of Z made zero by a rotation of its row with another one.
    fn one_entry_less(&self, rng: &mut Pcg64) -> Option<RowMat> {
        let (k, r) = (self.z.nrows(), self.z.ncols());
        let nonzero: Vec<usize> = (0..k * r).filter(|at| self.z.data()[*at] != 0.0).collect();
        let at = *nonzero.get(rng.random_range(0..nonzero.len().max(1)))?;
        let (p, c) = (at / r, at % r);
        let q = (p + rng.random_range(1..k)) % k;
        let (a, b) = (self.z.get(p, c), self.z.get(q, c));
        let rho = a.hypot(b);
        let mut out = self.z.clone();
        let (mut first, mut second) = (vec![0.0; r], vec![0.0; r]);
        PairMove::new(Branch::Rotation, b / rho, -a / rho).apply(
            self.z.row(p),
            self.z.row(q),
            &mut first,
            &mut second,
        );
        out.row_mut(p).copy_from_slice(&first);
        out.row_mut(q).copy_from_slice(&second);
        Some(out)
    }

    /// The rows in another order, some with the opposite sign.
    fn permuted(&self, rng: &mut Pcg64) -> RowMat {
        let mut order: Vec<usize> = (0..self.z.nrows()).collect();
        order.shuffle(rng);
        let signs: Vec<f64> = order.iter().map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
        RowMat::from_fn(order.len(), self.z.ncols(), |i, c| signs[i] * self.z.get(order[i], c))
    }

    /// For X ≥ 0, where columns have disjoint rows: the rows assigned to the columns anew,
    /// and the length of each column of Z distributed among its rows at random. ZᵀZ stays, so this is a VZ with V ∈
    /// O(k).
    fn redistributed(&self, rng: &mut Pcg64) -> RowMat {
        let (k, r) = (self.z.nrows(), self.z.ncols());
        let lengths: Vec<f64> =
            (0..r).map(|c| (0..k).map(|i| self.z.get(i, c).powi(2)).sum::<f64>().sqrt()).collect();
        let columns: Vec<usize> = (0..r).filter(|c| lengths[*c] > 0.0).collect();
        let mut rows: Vec<usize> = (0..k).collect();
        rows.shuffle(rng);
        let mut out = RowMat::zeros(k, r);
        for (place, i) in rows.into_iter().enumerate() {
            // a row for every column first, then one column or none for each row that is left
            let owner = columns.get(place).or_else(|| columns.get(rng.random_range(0..=columns.len())));
            let share: f64 = StandardNormal.sample(rng);
            if let Some(c) = owner {
                out.set(i, *c, share.abs());
            }
        }
        for c in columns {
            let sum = (0..k).map(|i| out.get(i, c).powi(2)).sum::<f64>().sqrt();
            (0..k).for_each(|i| out.set(i, c, out.get(i, c) * lengths[c] / sum));
        }
        out
    }

    /// Sweeps of globally solved pairs from `z` on, until none of them lowers F.
    fn descend(&self, mut z: RowMat, work: &mut PairWork) -> Found {
        let mut g = self.g.clone();
        let moved = self.change(&z);
        product(&mut g, true, 1.0, self.k.matrix().as_mat(), self.k.times_weights(&moved).as_mat());
        let mut image = QuadraticImage::Kept(g);
        let mut step = PairStep {
            f: &self.k,
            h: self.h,
            shape: Shape::exact(&self.k),
            x: &mut z,
            image: &mut image,
            work,
            cache: None,
            least: self.noise,
        };
        let k = self.z.nrows();
        for _ in 0..MOST_SWEEPS {
            let mut moves = 0;
            for (p, q) in (0..k).flat_map(|p| (p + 1..k).map(move |q| (p, q))) {
                moves += u32::from(step.run(p, q).decrease > 0.0);
            }
            if moves == 0 {
                break;
            }
        }
        Found { decrease: self.decrease(&z).max(0.0), z }
    }

    /// VZ − Z.
    fn change(&self, z: &RowMat) -> RowMat {
        RowMat::from_fn(z.nrows(), z.ncols(), |i, c| z.get(i, c) - self.z.get(i, c))
    }

    /// F(X) − F(X⁺), from differences.
    fn decrease(&self, z: &RowMat) -> f64 {
        let moved = self.change(z);
        let bent = multiply(self.k.matrix().as_mat(), self.k.times_weights(&moved).as_mat());
        self.h.value(self.z.data()) - self.h.value(z.data()) - moved.inner(&self.g) - 0.5 * moved.inner(&bent)
    }
}
