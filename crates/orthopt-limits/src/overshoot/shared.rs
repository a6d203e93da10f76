//! More components than groups of rows: the next one lies on the rows of one group, orthogonal to those of that group, where it has the most
//! variance that the components before it leave. Rows change their group while that raises the measure. Components on more rows than they may
//! have are pruned: where r·k > n they explain more than those on k rows, as orthogonal columns on common rows can have zeros of their own.

use super::starts::left;
use super::support_model::{GROWING, Point, SupportModel, WORTH, mask_of};
use crate::exchange::component::{leading, leading_few, others};
use orthopt_core::problem::support;
use orthopt_core::smooth::{Measure, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::{axpy, inner};
use orthopt_linalg::order::{descending_to, largest_first};
use orthopt_linalg::products::cross;
use orthopt_linalg::small::spectral_function;
use orthopt_linalg::work::count;

/// Variance left below this share of the largest is rounding: it explains nothing that others do not.
const NOTHING: f64 = 1e-12;

/// Rows of a group, what is left of C on them, and the directions there.
struct Group {
    rows: Vec<usize>,
    left: RowMat, // once the scores of so many components are out of it
    out: usize,
    directions: Vec<Vec<f64>>,
    next: Option<(f64, Vec<f64>)>, // the one with the most variance left, when there were so many scores and directions
    of: Option<(usize, usize)>,
}

impl Group {
    fn of<F: Quadratic>(model: &SupportModel<'_, F>, rows: Vec<usize>) -> Option<Self> {
        let left = model.block(&rows)?;
        let next = Some((f64::INFINITY, Vec::new()));
        Some(Self { rows, left, out: 0, directions: Vec::new(), next, of: None })
    }

    /// True if `next` is exact beside these scores. Otherwise its variance is a bound, as the part of C that is left
    /// only falls.
    fn is_known(&self, scores: &[Vec<f64>]) -> bool {
        self.of == Some((scores.len(), self.directions.len()))
    }

    /// Finds the direction with the most variance left beside these scores that is orthogonal to those there.
    fn find(&mut self, scores: &[Vec<f64>]) {
        for z in &scores[self.out..] {
            let own: Vec<f64> = self.rows.iter().map(|i| z[*i]).collect();
            own.iter().enumerate().for_each(|(a, v)| axpy(-v, &own, self.left.row_mut(a)));
        }
        self.out = scores.len();
        let has_room = self.directions.len() < self.rows.len();
        self.next = if has_room { leading(&self.left, &self.directions, None, false) } else { None };
        self.of = Some((scores.len(), self.directions.len()));
    }
}

/// r components on groups of rows that begin as the supports of the columns of `groups`, which share no row; components may have all rows of
/// their group. `None` where there is no room for so many, C cannot be looked at, or time runs out.
pub fn on_groups<F: Quadratic>(model: &SupportModel<'_, F>, groups: &RowMat) -> Option<Point> {
    let (mut x, mut place) = placed(model, groups)?;
    let mut value = model.value(&x);
    while let Some((y, of_y)) =
        reassigned(model, &x, &place, groups).and_then(|groups| placed(model, &groups))
    {
        let reached = model.value(&y);
        if !model.raises(reached, value, WORTH) {
            break;
        }
        (x, place, value) = (y, of_y, reached); // higher each time by more than rounding
    }
    let mask = mask_of(&x);
    Some(Point { x, mask, value })
}

/// The point within the limits.
pub fn fitted<F: Quadratic>(model: &SupportModel<'_, F>, at: Point) -> Option<Point> {
    if model.fits(&at) {
        return model.filled(at);
    }
    let at = model.polish(&at.x, &at.mask, GROWING)?;
    model.filled(model.prune(at)?)
}

/// Some components of X found anew on some rows, beside the others: the directions there of the most variance that these leave.
pub fn anew<F: Quadratic>(
    model: &SupportModel<'_, F>,
    x: &RowMat,
    columns: &[usize],
    rows: &[usize],
) -> Option<Point> {
    let (n, r) = model.shape();
    let mut rest = x.clone();
    (0..n).for_each(|i| columns.iter().for_each(|k| rest.set(i, *k, 0.0)));
    let c = model.block(rows)?;
    let c = if model.measure == Measure::Variance { c } else { left(model, c, rows, &rest) };
    let (_, v) = leading_few(&c, &others(&rest, rows, &[]), columns.len())?;
    let mut mask = mask_of(&rest);
    for (a, i) in rows.iter().enumerate() {
        for (b, k) in columns.iter().enumerate() {
            rest.set(*i, *k, v.get(a, b));
            mask[i * r + k] = true;
        }
    }
    model.filled(model.prune(model.polish(&rest, &mask, GROWING)?)?)
}

/// Components on these groups as in [`on_groups`], and the group of each column.
fn placed<F: Quadratic>(model: &SupportModel<'_, F>, groups: &RowMat) -> Option<(RowMat, Vec<usize>)> {
    let (n, r) = model.shape();
    let mut all: Vec<Group> =
        (0..groups.ncols()).map(|g| Group::of(model, support(groups, g))).collect::<Option<_>>()?;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut owners: Vec<usize> = Vec::new();
    let mut scores: Vec<Vec<f64>> = Vec::new(); // of the components, whitened, in C: what they leave is C − Σ zzᵀ
    for _ in 0..r {
        let g = loop {
            let open = (0..all.len()).filter(|g| all[*g].next.is_some());
            let most = |g: &usize| all[*g].next.as_ref().map_or(0.0, |next| next.0);
            let g = open.max_by(|a, b| most(a).total_cmp(&most(b)).then(b.cmp(a)))?;
            if all[g].is_known(&scores) {
                break g;
            }
            if model.is_over() {
                return None;
            }
            all[g].find(&scores);
        };
        let (variance, direction) = all[g].next.clone()?;
        let mut x = RowMat::zeros(n, 1);
        all[g].rows.iter().zip(&direction).for_each(|(i, v)| x.set(*i, 0, *v));
        all[g].directions.push(direction);
        columns.push(x.data().to_vec());
        owners.push(g);
        if model.measure != Measure::Variance && variance > NOTHING * model.cov.scale(1) {
            let mut z = model.cov.times(model.f(), &x).data().to_vec();
            count(2 * n * scores.len());
            for other in &scores {
                axpy(-inner(other, x.data()), other, &mut z);
            }
            z.iter_mut().for_each(|v| *v /= variance.sqrt());
            scores.push(z);
        }
    }
    // those of most nonzeros where the limits have room for most
    let shares = model.limits().shares(r);
    let places = descending_to(r, &|k| shares[k] as f64);
    let size = |c: usize| columns[c].iter().filter(|v| **v != 0.0).count() as f64;
    let order = descending_to(r, &size);
    let mut x = RowMat::zeros(n, r);
    let mut place = vec![0; r];
    for (c, k) in order.into_iter().zip(places) {
        columns[c].iter().enumerate().for_each(|(i, v)| x.set(i, k, *v));
        place[k] = owners[c];
    }
    Some((x, place))
}

/// As large groups of the rows, each in the one whose scores explain most of its variance by regression, those of most first. `place` is the
/// group of each column of X. `None` if time runs out.
fn reassigned<F: Quadratic>(
    model: &SupportModel<'_, F>,
    x: &RowMat,
    place: &[usize],
    groups: &RowMat,
) -> Option<RowMat> {
    let (n, r) = model.shape();
    let image = model.cov.times(model.f(), x);
    let all = groups.ncols();
    let mut gains: Vec<(f64, usize)> = Vec::with_capacity(n * all);
    for g in 0..all {
        let own: Vec<usize> = (0..r).filter(|k| place[*k] == g).collect();
        let of = |m: &RowMat| RowMat::from_fn(n, own.len(), |i, k| m.get(i, own[k]));
        let m = of(&image);
        let s = cross(&of(x), &m).symmetric_part();
        let largest = (0..s.nrows()).fold(0.0f64, |a, k| a.max(s.get(k, k)));
        let inverse = |w: f64| if w > NOTHING * largest { 1.0 / w } else { 0.0 };
        let inverse = spectral_function(&s, inverse).filter(|_| !model.is_over())?;
        count(n * own.len() * own.len());
        let explained = |v: &[f64]| (0..v.len()).map(|k| v[k] * inner(inverse.row(k), v)).sum::<f64>();
        gains.extend((0..n).map(|i| (explained(m.row(i)), i * all + g)));
    }
    largest_first(&mut gains);
    let mut room: Vec<usize> = (0..all).map(|g| support(groups, g).len()).collect();
    let mut used = vec![false; n];
    let mut out = RowMat::zeros(n, all);
    for (i, g) in gains.into_iter().map(|(_, e)| (e / all, e % all)) {
        if !used[i] && room[g] > 0 {
            (used[i], room[g]) = (true, room[g] - 1);
            out.set(i, g, 1.0);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
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
            let model = SupportModel::of(&p);
            let (x, _) = placed(&model, &groups(3)).unwrap();
            assert!(stiefel::feasibility(&x) <= 1e-12, "{seed}");
            assert!(p.check(&x, "X").is_ok(), "{seed}");
            let filled = fitted(&model, on_groups(&model, &groups(3)).unwrap()).unwrap();
            assert!(
                p.check(&filled.x, "X").is_ok() && filled.value >= model.value(&x) * (1.0 - 1e-12),
                "{seed}"
            );
            let all: Vec<usize> = (0..N).collect();
            let columns: Vec<Vec<f64>> = (0..rank).map(|k| (0..N).map(|i| x.get(i, k)).collect()).collect();
            let (mut taken, mut open): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..rank).collect());
            while !open.is_empty() {
                let before = RowMat::from_fn(N, taken.len(), |i, j| columns[taken[j]][i]);
                let whole = model.block(&all).unwrap();
                let rest =
                    if measure == Measure::Variance { whole } else { left(&model, whole, &all, &before) };
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
                        let scale = model.cov.scale(1);
                        assert!(
                            most <= own + 1e-9 * scale,
                            "{seed}, component {k}, group {g}: {most}, {own}"
                        );
                    }
                }
            }
        }
    }

    /// Variance of each variable that a regression on the scores of some columns explains, from the part of C that they
    /// leave, as a whole matrix.
    fn explained(model: &SupportModel<'_, DenseGram>, x: &RowMat) -> Vec<f64> {
        let all: Vec<usize> = (0..N).collect();
        let whole = model.block(&all).unwrap();
        let rest = left(model, whole.clone(), &all, x);
        (0..N).map(|i| whole.get(i, i) - rest.get(i, i)).collect()
    }

    /// The slow twin takes the pair of a row and a group with the most explained variance, again and again.
    #[test]
    fn rows_go_to_the_group_that_explains_most_of_them() {
        for seed in 0..24u64 {
            let p = problem(&samples(seed % 4, seed, 1.0), Measure::Adjusted, 5);
            let model = SupportModel::of(&p);
            let (x, place) = placed(&model, &groups(3)).unwrap();
            let gains: Vec<Vec<f64>> = (0..3)
                .map(|g| {
                    let own: Vec<usize> = (0..5).filter(|k| place[*k] == g).collect();
                    explained(&model, &RowMat::from_fn(N, own.len(), |i, k| x.get(i, own[k])))
                })
                .collect();
            let (mut room, mut slow) = ([SIZE; 3], [usize::MAX; N]);
            let mut total = 0.0;
            for _ in 0..N {
                let pairs = (0..N).flat_map(|i| (0..3).map(move |g| (i, g)));
                let open = pairs.filter(|(i, g)| slow[*i] == usize::MAX && room[*g] > 0);
                let (i, g) = open.max_by(|a, b| gains[a.1][a.0].total_cmp(&gains[b.1][b.0])).unwrap();
                (slow[i], room[g]) = (g, room[g] - 1);
                total += gains[g][i];
            }
            let found = reassigned(&model, &x, &place, &groups(3)).unwrap();
            let own = (0..3).flat_map(|g| support(&found, g).into_iter().map(move |i| (i, g)));
            assert!((0..3).all(|g| support(&found, g).len() == SIZE), "{seed}");
            assert!(
                found.data().chunks(3).all(|row| row.iter().filter(|v| **v != 0.0).count() == 1),
                "{seed}"
            );
            let fast: f64 = own.map(|(i, g)| gains[g][i]).sum();
            assert!((fast - total).abs() <= 1e-9 * total.abs().max(1e-9), "{seed}: {fast} and {total}");
            let (begun, ended) = (model.value(&x), on_groups(&model, &groups(3)).unwrap());
            assert!(ended.value >= begun * (1.0 - 1e-12), "{seed}: {begun} and {}", ended.value);
            assert!(stiefel::feasibility(&ended.x) <= 1e-12, "{seed}");
        }
    }

    /// Components on wider rows than they may have are pruned to the limits, and those found anew on their own rows have no less variance.
    #[test]
    fn wide_components_and_those_found_anew_keep_to_the_limits() {
        let (mut narrow, mut others) = (0, 0);
        let wide = RowMat::from_fn(N, 2, |i, g| f64::from(u8::from(i < 8 && i / 4 == g)) / 2.0);
        for seed in 0..24u64 {
            let measure = [Measure::Adjusted, Measure::Polar, Measure::Variance][seed as usize % 3];
            let p = problem(&samples(seed % 4, seed, 1.0), measure, 4);
            let model = SupportModel::of(&p);
            let is_right = |at: &Point| p.check(&at.x, "X").is_ok() && stiefel::feasibility(&at.x) <= 1e-12;
            let on = on_groups(&model, &wide).unwrap();
            assert!(on.counts().iter().any(|count| *count > SIZE) || seed % 4 != 0, "{seed}");
            if let Some(at) = fitted(&model, on) {
                assert!(is_right(&at), "{seed}");
                narrow += 1;
            }
            let at = fitted(&model, on_groups(&model, &groups(3)).unwrap()).unwrap();
            for columns in [vec![0], vec![1, 3], vec![0, 2, 3]] {
                let rows: Vec<usize> =
                    (0..N).filter(|i| columns.iter().any(|k| at.x.get(*i, *k) != 0.0)).collect();
                let Some(found) = anew(&model, &at.x, &columns, &rows) else { continue };
                assert!(is_right(&found), "{seed}, {columns:?}");
                others += 1;
                if measure == Measure::Variance && columns.len() == 1 {
                    assert!(
                        found.value >= at.value * (1.0 - 1e-9),
                        "{seed}: {} and {}",
                        found.value,
                        at.value
                    );
                }
            }
        }
        assert!(narrow >= 12 && others >= 48, "{narrow} and {others}");
    }

    /// Data times a power of two have the same bits of X; one group of three rows has no room for four components, nor two for seven.
    #[test]
    fn it_is_the_same_in_any_unit_and_none_without_room() {
        for seed in 0..8u64 {
            let at = |unit: f64, rank: usize, count: usize| {
                let p = problem(&samples(seed % 4, seed, unit), Measure::Adjusted, rank);
                {
                    let model = SupportModel::of(&p);
                    on_groups(&model, &groups(count)).and_then(|at| fitted(&model, at)).map(|at| at.x)
                }
            };
            let one = at(1.0, 6, 3);
            assert!(one.is_some());
            for unit in [2f64.powi(-200), 2f64.powi(200)] {
                assert_eq!(one, at(unit, 6, 3), "{seed}");
            }
            assert!(at(1.0, 3, 1).is_some() && at(1.0, 4, 1).is_none() && at(1.0, 7, 2).is_none());
        }
    }

    /// If components may have more nonzeros than there are rows left, the search for one after the other takes rows
    /// that others use.
    #[test]
    fn one_by_one_goes_on_where_rows_are_used_up() {
        for seed in 0..12u64 {
            let measure = [Measure::Adjusted, Measure::Variance][seed as usize % 2];
            let p = problem(&samples(seed % 4, seed, 1.0), measure, 7);
            let x = super::super::one_by_one(&SupportModel::of(&p)).unwrap();
            assert!(p.check(&x, "X").is_ok(), "{seed}");
            assert!(stiefel::feasibility(&x) <= 1e-12, "{seed}");
        }
    }
}
