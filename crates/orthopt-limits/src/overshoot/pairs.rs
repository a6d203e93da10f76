//! A component takes two rows of another one. Two columns that meet in one row are not orthogonal; in two rows they can be, and there is one
//! direction for it.

use super::support_model::{ENTERING, GROWING, Point, STAYING, SupportModel, WORTH};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::best_first;
use orthopt_linalg::work::count;

/// Pairs of rows whose own variance is computed, those with the largest slope.
const CANDIDATES: usize = 64;

/// Direction that component `k` may take from two rows of another one: cos θ·xₖ + sin θ·u, u orthogonal to all columns.
#[derive(Clone, Copy, Debug)]
struct Taken {
    k: usize,
    rows: [usize; 2],
    u: [f64; 2],
    slope: f64, // half of the derivative at θ = 0
}

/// Gain of that direction if the value were quadratic, and the angle θ that attains it.
#[derive(Clone, Copy, Debug)]
struct Promise {
    gain: f64,
    angle: f64,
    pair: Taken,
}

impl<F: Quadratic> SupportModel<'_, F> {
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
        let better =
            |next: &Point| self.raises(self.worth(next), self.worth(at), WORTH) && self.meets(&next.x);
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

    /// Gain that a pair of rows promises; `None` if entries of C are not available.
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

#[cfg(test)]
mod tests {
    use orthopt_core::constraint::stiefel;
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseGram, Measure, Measured};
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::overshoot::support_model::{LAST, mask_of};
    use crate::problem::MeasuredProblem;

    const N: usize = 6;

    /// Samples of all ranks: random, columns that come twice, rank 2, a column of zeros.
    fn samples(kind: u64, seed: u64, unit: f64) -> RowMat {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let a = RowMat::from_fn(9, N, |_, _| rng.random_range(-1.0..1.0));
        let b = RowMat::from_fn(2, N, |_, _| rng.random_range(-1.0..1.0));
        RowMat::from_fn(9, N, |i, j| {
            let one = a.get(i, if kind == 1 { j % 3 } else { j });
            let two = a.get(i, 0) * b.get(0, j) + a.get(i, 1) * b.get(1, j);
            unit * if kind == 2 { two } else { one * f64::from(u8::from(kind != 3 || j != 2)) }
        })
    }

    fn problem(a: &RowMat, measure: Measure, nonzeros: usize) -> MeasuredProblem<DenseGram> {
        let f = Measured::new(DenseGram::new(a.to_mat().as_ref()), measure).unwrap();
        MeasuredProblem::new(f, 2, Cardinality::Components(vec![nonzeros; 2]), 0.0, Between::Orthogonal)
            .unwrap()
    }

    /// Two columns on rows 0 to 3, two each.
    fn apart() -> RowMat {
        RowMat::from_fn(N, 2, |i, k| if i / 2 == k && i < 4 { [0.6, 0.8][i % 2] } else { 0.0 })
    }

    /// Every pair of rows of every column, polished, is the slow twin: where one is better by much, a pair is found; what is found is
    /// on the constraints, within the limits and better.
    #[test]
    fn a_pair_is_found_where_one_helps() {
        let mut found = 0;
        for seed in 0..40u64 {
            let a = samples(seed % 4, seed, 1.0);
            let p = problem(&a, [Measure::Adjusted, Measure::Polar, Measure::Variance][seed as usize % 3], 4);
            let model = SupportModel::of(&p);
            let at = model.polish(&apart(), &mask_of(&apart()), LAST).unwrap();
            let better = |x: &Point| model.raises(x.value, at.value, 1e-3);
            let all = (0..2).filter_map(|k| {
                let mut mask = at.mask.clone();
                [2 * (1 - k), 2 * (1 - k) + 1].iter().for_each(|i| mask[i * 2 + k] = true);
                let mut x = at.x.clone();
                // a little of the direction that is orthogonal to the other column
                let (i, j, l) = (2 * (1 - k), 2 * (1 - k) + 1, 1 - k);
                let (xi, xj) = (x.get(i, l), x.get(j, l));
                x.set(i, k, 0.3 * xj);
                x.set(j, k, -0.3 * xi);
                model.polish(&x, &mask, LAST)
            });
            let helps = all.into_iter().any(|x| better(&x));
            let pair = model.paired(&at);
            if let Some(pair) = &pair {
                assert!(model.raises(pair.value, at.value, 1e-10), "{seed}");
                assert!(stiefel::feasibility(&pair.x) <= 1e-12, "{seed}");
                assert!(pair.counts().iter().all(|count| *count <= 4), "{seed}");
                found += 1;
            }
            assert!(!helps || pair.is_some(), "{seed}: a pair of rows helps, and none was found");
        }
        assert!(found >= 10, "{found} of 40: the test compares too little");
    }

    /// Data times a power of two have the same bits of X, and no pair is where the limits leave no room for two rows.
    #[test]
    fn pairs_are_the_same_in_any_unit_and_none_without_room() {
        for seed in 0..8u64 {
            let at = |unit: f64| {
                let p = problem(&samples(seed % 4, seed, unit), Measure::Adjusted, 4);
                let model = SupportModel::of(&p);
                let at = model.polish(&apart(), &mask_of(&apart()), STAYING).unwrap();
                model.paired(&at).map(|at| at.x)
            };
            let one = at(1.0);
            for unit in [2f64.powi(-200), 2f64.powi(200)] {
                assert_eq!(one, at(unit), "{seed}");
            }
            let p = problem(&samples(seed % 4, seed, 1.0), Measure::Adjusted, 1);
            let model = SupportModel::of(&p);
            let single = RowMat::from_fn(N, 2, |i, k| f64::from(u8::from(i == k)));
            let at = model.polish(&single, &mask_of(&single), STAYING).unwrap();
            assert!(model.paired(&at).is_none());
        }
    }
}
