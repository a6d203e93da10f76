//! Which zero rows are worth a try: those with a large gradient.
//!
//! If X has s nonzero rows of n, then n − s of n pairs drawn at random join a nonzero row with a zero one, and hardly
//! any of them lowers F. Moving x_jk away from 0 by ε lowers f by about ε|G_jk| − ½ε²d_k, where d_k = −x_kᵀg_k is the
//! cost of the unit length of x_k. So the row offers at most about max over k of G_jk²/(2d_k). The rows that offer the
//! most are near; they are determined anew before every round, at the cost of one gradient.

use super::oracle::Iterate;
use orthopt_core::constraint::Stiefel;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::problem::Problem;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::order::select_largest;
use orthopt_linalg::work::count;

/// Zero rows that are near: as many as there are nonzero ones, but not fewer than this.
const LEAST: usize = 64;
/// Zero rows are narrowed down if there are more than this many times the near ones.
const WORTH: usize = 2;
/// The least d_k, relative to the largest.
const FLAT: f64 = 1e-6;

impl<I> Iterate<I> {
    /// Zero rows near the nonzero ones, where there are many others.
    pub fn narrow<F: Quadratic<Image = I>, H: Nonsmooth>(&mut self, p: &Problem<Stiefel, F, H>) {
        let (n, s) = (self.x.nrows(), self.rows.count());
        let most = s.max(LEAST);
        if s + WORTH * most >= n {
            self.rows.narrow(None);
            return;
        }
        let weights = self.weights(p);
        let mut offers: Vec<(f64, usize)> = Vec::with_capacity(n - s);
        for j in 0..n {
            if self.rows.contains(j) {
                continue;
            }
            let g = self.gradient_row(&p.f, j);
            let offer = g.iter().zip(&weights).map(|(g, w)| pull(&p.h, *g).powi(2) * w).fold(0.0, f64::max);
            offers.push((offer, j));
        }
        count((n + s) * p.f.pair_work(&self.image).0 / 2);
        select_largest(&mut offers, most);
        let mut near: Vec<usize> =
            offers.into_iter().filter(|(offer, _)| *offer > 0.0).map(|(_, j)| j).collect();
        near.sort_unstable();
        self.rows.narrow(Some(&near));
    }

    /// 1/d_k.
    fn weights<F: Quadratic<Image = I>, H: Nonsmooth>(&mut self, p: &Problem<Stiefel, F, H>) -> Vec<f64> {
        let mut d = vec![0.0; self.x.ncols()];
        for i in self.rows.sorted() {
            let g = self.gradient_row(&p.f, i).to_vec();
            d.iter_mut().zip(self.x.row(i)).zip(g).for_each(|((d, x), g)| *d -= x * g);
        }
        let least = FLAT * d.iter().fold(0.0f64, |a, d| a.max(d.abs())).max(f64::MIN_POSITIVE);
        d.iter().map(|d| 1.0 / d.abs().max(least)).collect()
    }
}

/// Size of the gradient that draws an entry away from 0, if its gradient of f is g. ℓ0 lets every entry be where it is
/// and counts the same wherever it goes.
fn pull(h: &impl Nonsmooth, g: f64) -> f64 {
    match h.subdifferential(0.0) {
        (f64::NEG_INFINITY, f64::INFINITY) => g.abs(),
        _ => h.distance_to_stationarity(0.0, g),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obcd::ObcdOptions;
    use orthopt_core::penalty::{AnyPenalty, L0, L1, Nonneg};
    use orthopt_core::smooth::{DenseQuadratic, Smooth};
    use orthopt_linalg::RowMat;

    /// Near are the zero rows of the largest offers, found here from the whole gradient; none where hardly any row would
    /// be left out.
    #[test]
    fn rows_near_are_those_that_offer_the_most() {
        let (n, r) = (300, 2);
        let a = RowMat::from_fn(40, n, |i, j| ((3 * i + 7 * j + i * j) as f64).sin());
        let c = a.to_mat().transpose() * a.to_mat();
        let x = RowMat::from_fn(n, r, |i, k| if i % 100 == k { 1.0 / 3f64.sqrt() } else { 0.0 });
        let penalties: [AnyPenalty; 3] = [
            AnyPenalty::L0(L0::new(1.0).unwrap()),
            AnyPenalty::L1(L1::new(6.0).unwrap()),
            AnyPenalty::Nonneg(Nonneg),
        ];
        for h in penalties {
            let p = Problem::new(DenseQuadratic::negative(c.as_ref()).unwrap(), h, r).unwrap();
            let mut at = Iterate::new(&p.f, &ObcdOptions::DEFAULT, x.clone());
            at.narrow(&p);
            let mut g = RowMat::zeros(n, r);
            p.f.gradient(&x, &mut g);
            let d = |k: usize| -(0..n).map(|i| x.get(i, k) * g.get(i, k)).sum::<f64>();
            let offer = |j: usize| {
                let of = |k: usize| pull(&p.h, g.get(j, k)).powi(2) / d(k);
                of(0).max(of(1))
            };
            let mut zero: Vec<usize> = (0..n).filter(|j| j % 100 >= r && offer(*j) > 0.0).collect();
            zero.sort_by(|i, j| offer(*j).total_cmp(&offer(*i)));
            zero.truncate(LEAST);
            let s = 6;
            assert!(zero.len() > 10 && at.rows.is_narrowed());
            assert_eq!(at.rows.near_pairs(), (s * (s - 1) / 2 + s * zero.len()) as u64);
            let mut rows: Vec<usize> = (0..n).filter(|j| j % 100 < r).chain(zero).collect();
            rows.sort_unstable();
            assert_eq!(at.rows.universe(), Some(rows));
        }
        let p =
            Problem::new(DenseQuadratic::negative(c.as_ref()).unwrap(), L0::new(1.0).unwrap(), r).unwrap();
        let dense = RowMat::from_fn(n, r, |i, k| if i % 2 == k { 1.0 } else { 0.0 });
        let mut at = Iterate::new(&p.f, &ObcdOptions::DEFAULT, dense);
        at.narrow(&p);
        assert!(!at.rows.is_narrowed());
    }
}
