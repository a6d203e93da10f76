//! More components than groups of rows: the next one lies on the rows of one group, orthogonal to those of that group, where it has the most
//! variance that the components before it leave.

use super::ground::{Ground, Point, mask_of};
use crate::exchange::component::leading;
use orthopt_core::problem::support;
use orthopt_core::smooth::{Measure, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::{axpy, inner};
use orthopt_linalg::order::descending_to;
use orthopt_linalg::work::count;

/// Variance left below this share of the largest is rounding: it explains nothing that others do not.
const NOTHING: f64 = 1e-12;

/// Rows of a group, what is left of C on them, and the directions there.
struct Group {
    rows: Vec<usize>,
    left: RowMat,
    directions: Vec<Vec<f64>>,
}

impl Group {
    /// The direction with the most variance left that is orthogonal to those there.
    fn next(&self) -> Option<(f64, Vec<f64>)> {
        let has_room = self.directions.len() < self.rows.len();
        has_room.then(|| leading(&self.left, &self.directions, None, false))?
    }
}

/// r components on the supports of the columns of `groups`, which share no row. `None` where these have no room for so many, C cannot be
/// looked at, or time runs out.
pub fn shared<F: Quadratic>(ground: &Ground<'_, F>, groups: &RowMat) -> Option<Point> {
    let x = placed(ground, groups)?;
    let (mask, value) = (mask_of(&x), ground.value(&x));
    ground.filled(Point { x, mask, value })
}

/// The same before what the limits leave is used.
fn placed<F: Quadratic>(ground: &Ground<'_, F>, groups: &RowMat) -> Option<RowMat> {
    let (n, r) = ground.shape();
    let mut all = Vec::new();
    for g in 0..groups.ncols() {
        let rows = support(groups, g);
        let left = ground.block(&rows)?;
        all.push(Group { rows, left, directions: Vec::new() });
    }
    let mut promised: Vec<_> = all.iter().map(Group::next).collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut whitened: Vec<Vec<f64>> = Vec::new(); // scores of the components in C: what they leave is C − Σ zzᵀ
    for _ in 0..r {
        if ground.is_over() {
            return None;
        }
        let open = (0..all.len()).filter(|g| promised[*g].is_some());
        let most = |g: &usize| promised[*g].as_ref().map_or(0.0, |p| p.0);
        let g = open.max_by(|a, b| most(a).total_cmp(&most(b)).then(b.cmp(a)))?;
        let (variance, direction) = promised[g].take()?;
        let mut x = RowMat::zeros(n, 1);
        all[g].rows.iter().zip(&direction).for_each(|(i, v)| x.set(*i, 0, *v));
        all[g].directions.push(direction);
        columns.push(x.data().to_vec());
        let leaves_more = ground.measure != Measure::Variance && variance > NOTHING * ground.cov.scale(1);
        if leaves_more {
            let mut z = ground.cov.times(ground.f(), &x).data().to_vec();
            count(2 * n * whitened.len());
            for other in &whitened {
                axpy(-inner(other, x.data()), other, &mut z);
            }
            z.iter_mut().for_each(|v| *v /= variance.sqrt());
            for group in &mut all {
                let own: Vec<f64> = group.rows.iter().map(|i| z[*i]).collect();
                own.iter().enumerate().for_each(|(a, v)| axpy(-v, &own, group.left.row_mut(a)));
            }
            whitened.push(z);
            promised = all.iter().map(Group::next).collect();
        } else {
            promised[g] = all[g].next();
        }
    }
    // those of most nonzeros where the limits have room for most
    let shares = ground.limits().shares(r);
    let places = descending_to(r, &|k| shares[k] as f64);
    let size = |c: usize| columns[c].iter().filter(|v| **v != 0.0).count() as f64;
    let order = descending_to(r, &size);
    let mut x = RowMat::zeros(n, r);
    for (c, k) in order.into_iter().zip(places) {
        columns[c].iter().enumerate().for_each(|(i, v)| x.set(i, k, *v));
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::starts::left;
    use super::*;
    use crate::exchange::component::others;
    use crate::problem::MeasuredProblem;
    use orthopt_core::constraint::stiefel;
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseGram, Measured};

    const N: usize = 9;
    const SIZE: usize = 3;

    /// Samples of all ranks: random, columns that come twice, rank 2, a column of zeros.
    fn samples(kind: u64, seed: u64, unit: f64) -> RowMat {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let a = RowMat::from_fn(12, N, |_, _| rng.random_range(-1.0..1.0));
        let b = RowMat::from_fn(2, N, |_, _| rng.random_range(-1.0..1.0));
        RowMat::from_fn(12, N, |i, j| {
            let one = a.get(i, if kind == 1 { j % 4 } else { j });
            let two = a.get(i, 0) * b.get(0, j) + a.get(i, 1) * b.get(1, j);
            unit * if kind == 2 { two } else { one * f64::from(u8::from(kind != 3 || j != 2)) }
        })
    }

    fn problem(a: &RowMat, measure: Measure, rank: usize) -> MeasuredProblem<DenseGram> {
        let f = Measured::new(DenseGram::new(a.to_mat().as_ref()), measure).unwrap();
        let limits = Cardinality::Components(vec![SIZE; rank]);
        MeasuredProblem::new(f, rank, limits, 0.0, Between::Orthogonal).unwrap()
    }

    /// Three rows in each of so many groups.
    fn groups(count: usize) -> RowMat {
        RowMat::from_fn(N, count, |i, g| f64::from(u8::from(i / SIZE == g)) / (SIZE as f64).sqrt())
    }

    /// The slow twin forms what is left of C as a whole matrix before each component, and examines every group: none has more variance than the
    /// component that was taken. X is on the constraints and within the limits.
    #[test]
    fn every_component_is_the_best_on_any_group() {
        for seed in 0..24u64 {
            let measure = [Measure::Adjusted, Measure::Polar, Measure::Variance][seed as usize % 3];
            let rank = 4 + seed as usize % 4;
            let p = problem(&samples(seed % 4, seed, 1.0), measure, rank);
            let ground = Ground::of(&p);
            let x = placed(&ground, &groups(3)).unwrap();
            assert!(stiefel::feasibility(&x) <= 1e-12, "{seed}");
            assert!(p.check(&x, "X").is_ok(), "{seed}");
            let filled = shared(&ground, &groups(3)).unwrap();
            assert!(
                p.check(&filled.x, "X").is_ok() && filled.value >= ground.value(&x) * (1.0 - 1e-12),
                "{seed}"
            );
            let all: Vec<usize> = (0..N).collect();
            let columns: Vec<Vec<f64>> = (0..rank).map(|k| (0..N).map(|i| x.get(i, k)).collect()).collect();
            let (mut taken, mut open): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..rank).collect());
            while !open.is_empty() {
                let before = RowMat::from_fn(N, taken.len(), |i, j| columns[taken[j]][i]);
                let whole = ground.block(&all).unwrap();
                let rest =
                    if measure == Measure::Variance { whole } else { left(&ground, whole, &all, &before) };
                let variance = |k: &usize| -> f64 {
                    (0..N).map(|i| columns[*k][i] * inner(rest.row(i), &columns[*k])).sum()
                };
                // columns stand where the limits have room for them: the next one is that of most variance
                let k = open.iter().copied().max_by(|a, b| variance(a).total_cmp(&variance(b))).unwrap();
                let own = variance(&k);
                open.retain(|other| *other != k);
                taken.push(k);
                for g in 0..3 {
                    let rows: Vec<usize> = (g * SIZE..(g + 1) * SIZE).collect();
                    let against = others(&before, &rows, &[]);
                    if against.len() < SIZE {
                        let part = RowMat::from_fn(SIZE, SIZE, |a, b| rest.get(rows[a], rows[b]));
                        let (most, _) = leading(&part, &against, None, false).unwrap();
                        let scale = ground.cov.scale(1);
                        assert!(
                            most <= own + 1e-9 * scale,
                            "{seed}, component {k}, group {g}: {most}, {own}"
                        );
                    }
                }
            }
        }
    }

    /// Data times a power of two have the same bits of X; one group of three rows has no room for four components, nor two for seven.
    #[test]
    fn it_is_the_same_in_any_unit_and_none_without_room() {
        for seed in 0..8u64 {
            let at = |unit: f64, rank: usize, count: usize| {
                let p = problem(&samples(seed % 4, seed, unit), Measure::Adjusted, rank);
                shared(&Ground::of(&p), &groups(count)).map(|at| at.x)
            };
            let one = at(1.0, 6, 3);
            assert!(one.is_some());
            for unit in [2f64.powi(-200), 2f64.powi(200)] {
                assert_eq!(one, at(unit, 6, 3), "{seed}");
            }
            assert!(at(1.0, 3, 1).is_some() && at(1.0, 4, 1).is_none() && at(1.0, 7, 2).is_none());
        }
    }

    /// Where components may have more nonzeros than there are rows left, one after the other finds them on rows that others use.
    #[test]
    fn one_by_one_goes_on_where_rows_are_used_up() {
        for seed in 0..12u64 {
            let measure = [Measure::Adjusted, Measure::Variance][seed as usize % 2];
            let p = problem(&samples(seed % 4, seed, 1.0), measure, 7);
            let x = super::super::one_by_one(&Ground::of(&p)).unwrap();
            assert!(p.check(&x, "X").is_ok(), "{seed}");
            assert!(stiefel::feasibility(&x) <= 1e-12, "{seed}");
        }
    }
}
