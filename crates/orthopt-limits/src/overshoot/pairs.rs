//! A component takes two rows of another one. Two columns that meet in one row are not orthogonal; in two rows they can be, and there is one
//! direction for it.

use super::ground::{ENTERING, GROWING, Ground, Point, STAYING, WORTH};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::best_first;
use orthopt_linalg::work::count;

/// Pairs of rows whose own variance is computed, those with the largest slope.
const CANDIDATES: usize = 64;

/// What component `k` may take of the rows of another one: cos θ·xₖ + sin θ·u, u orthogonal to all columns.
#[derive(Clone, Copy, Debug)]
struct Taken {
    k: usize,
    rows: [usize; 2],
    u: [f64; 2],
    slope: f64, // half of the derivative at θ = 0
}

/// What that would gain if the value were quadratic, and at which θ.
#[derive(Clone, Copy, Debug)]
struct Promise {
    gain: f64,
    angle: f64,
    pair: Taken,
}

impl<F: Quadratic> Ground<'_, F> {
    /// The first of a few points that is better where a component takes two rows of another one that it shares none with, those first that
    /// promise most; what it has too many then leaves.
    pub(super) fn paired(&self, at: &Point) -> Option<Point> {
        let r = self.rank();
        if r < 2 || !self.between().is_orthogonal() || self.between().is_uncorrelated() {
            return None;
        }
        let gradient = self.gains(&at.x).gradient();
        let steepest =
            best_first(self.pairs(at, &gradient), |pair| pair.slope.abs()).into_iter().take(CANDIDATES);
        let promised = steepest.filter_map(|pair| self.promised(at, &gradient, pair)).collect();
        let promising = best_first(promised, |promise: &Promise| promise.gain);
        let better = |next: &Point| self.raises(self.worth(next), self.worth(at), WORTH);
        for Promise { pair: Taken { k, rows, u, .. }, angle, .. } in promising.into_iter().take(ENTERING) {
            if self.is_over() {
                break;
            }
            let (mut x, mut mask) = (at.x.clone(), at.mask.clone());
            let (sin, cos) = angle.sin_cos();
            (0..x.nrows()).for_each(|i| x.set(i, k, cos * x.get(i, k)));
            for (i, u) in rows.into_iter().zip(u) {
                x.set(i, k, sin * u);
                mask[i * r + k] = true;
            }
            let wide = self.polish(&x, &mask, GROWING);
            let next = wide.and_then(|wide| self.filled(self.prune(wide)?)).filter(better);
            if let Some(next) = next {
                return self.polish(&next.x, &next.mask, STAYING).filter(better);
            }
        }
        None
    }

    /// The two rows of every other component that component k has the largest slope towards, for all k, by that.
    fn pairs(&self, at: &Point, gradient: &RowMat) -> Vec<Taken> {
        let (n, r) = self.shape();
        // rows that one component alone uses
        let mut own: Vec<Vec<usize>> = vec![Vec::new(); r];
        for i in 0..n {
            let row = &at.mask[i * r..(i + 1) * r];
            if let (1, Some(l)) =
                (row.iter().filter(|free| **free).count(), row.iter().position(|free| *free))
            {
                own[l].push(i);
            }
        }
        let meet = self.meet(&at.mask);
        let shares = self.limits().shares(r);
        let mut all = Vec::new();
        for l in 0..r {
            count(r * own[l].len().pow(2));
            for k in (0..r).filter(|k| *k != l && !meet[*k * r + l] && shares[*k] > 1) {
                let mut best: Option<Taken> = None;
                for (a, i) in own[l].iter().enumerate() {
                    for j in &own[l][..a] {
                        let (xi, xj) = (at.x.get(*i, l), at.x.get(*j, l));
                        let length = xi.hypot(xj);
                        if length == 0.0 {
                            continue;
                        }
                        let u = [xj / length, -xi / length];
                        let slope = gradient.get(*i, k) * u[0] + gradient.get(*j, k) * u[1];
                        if best.is_none_or(|best| slope.abs() > best.slope.abs()) {
                            best = Some(Taken { k, rows: [*i, *j], u, slope });
                        }
                    }
                }
                all.extend(best);
            }
        }
        all
    }

    /// What a pair of rows promises; `None` where C cannot be looked at.
    fn promised(&self, at: &Point, gradient: &RowMat, pair: Taken) -> Option<Promise> {
        let Taken { k, mut rows, mut u, slope } = pair;
        if rows[0] > rows[1] {
            (rows, u) = ([rows[1], rows[0]], [u[1], u[0]]);
        }
        let c = self.cov.block(self.f(), &rows)?;
        let variance =
            u[0] * u[0] * c.get(0, 0) + 2.0 * u[0] * u[1] * c.get(0, 1) + u[1] * u[1] * c.get(1, 1);
        let has: f64 = (0..at.x.nrows()).map(|i| at.x.get(i, k) * gradient.get(i, k)).sum();
        let half = 0.5 * (variance - has);
        let gain = half + half.hypot(slope);
        // the leading eigenvector of [has, slope; slope, variance]
        Some(Promise { gain, angle: gain.atan2(slope), pair })
    }
}
