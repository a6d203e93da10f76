//! Components one after the other: each is the best on what those before it leave of C, orthogonal to them.

use super::starts::left;
use super::support_model::SupportModel;
use crate::exchange::component::{leading, normalise, orthonormal, others, project, ritz};
use orthopt_core::constraint::stiefel;
use orthopt_core::objective::lowers;
use orthopt_core::smooth::{Measure, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::factor::{cholesky, transpose};
use orthopt_linalg::kernels::{axpy, inner};
use orthopt_linalg::order::{ascending, best_first, largest_first};
use orthopt_linalg::products::{gram, product};
use orthopt_linalg::small::symmetric_eigen;
use orthopt_linalg::work::count;

/// Rows that a component may choose from, those with the most variance left: of a component of explained variance, whose
/// eigenproblems are generalised, fewer.
const ROWS: usize = 2048;
const FEW_ROWS: usize = 400;
/// Share of the rows too many that leave at a time.
const AT_ONCE: f64 = 0.1;
/// Sets of rows, the best of those examined, that are improved by exchanges.
const EXCHANGED: usize = 2;
/// Rows that are tried in the place of each.
const ENTERING: usize = 8;
/// Steps of a Lanczos run from the loadings before rows left or one was exchanged.
const STEPS: usize = 3;
/// Least gain of an exchange, as a share of the size of the value.
const WORTH: f64 = 1e-10;
/// Added to the diagonal of the covariance that explained variance divides by, as a share of its trace.
const RIDGE: f64 = 1e-11;

/// Value of a component, its rows and its entries there.
type Chosen = (f64, Vec<usize>, Vec<f64>);

/// Part of C that earlier components leave, on the rows that the next one may choose from.
struct Left {
    rows: Vec<usize>,
    r: RowMat,          // R = C − CY(YᵀCY)⁺YᵀC
    r2: Option<RowMat>, // R² on these rows, for explained variance
    by_steps: bool,     // few Lanczos steps decide which rows leave and which exchanges are computed
    scale: f64,         // of the value of a component
    cancel: Cancel,
}

/// Column k of X, the best one with `size` nonzeros beside the columns before it; `None` where no direction is left.
pub(super) fn component<F: Quadratic>(
    model: &SupportModel<'_, F>,
    x: &RowMat,
    k: usize,
    size: usize,
) -> Option<Vec<f64>> {
    let (n, _) = model.shape();
    let before = RowMat::from_fn(n, k, |i, j| x.get(i, j));
    let left = Left::of(model, &before, if model.squares() { FEW_ROWS } else { ROWS })?;
    let all: Vec<usize> = (0..left.rows.len()).collect();
    let is_free = |a: &usize| before.row(left.rows[*a]).iter().all(|v| *v == 0.0);
    let free: Vec<usize> = all.iter().copied().filter(is_free).collect();
    // where components have used up most rows, a direction is left on those of one of them
    let on = |j: usize| all.iter().copied().filter(|a| before.get(left.rows[*a], j) != 0.0).collect();
    let mut sets: Vec<Vec<usize>> = (0..k).map(on).collect();
    sets.sort_unstable();
    sets.dedup();
    sets.extend([all.clone(), free]);
    let mut found: Vec<Chosen> = Vec::new();
    for allowed in sets {
        found.extend(left.pruned(&before, allowed, size));
    }
    let mut best: Option<Chosen> = None;
    for mut at in best_first(found, |at| at.0).into_iter().take(EXCHANGED) {
        while let Some(next) = left.exchanged(&before, &at.1, &at.2, at.0) {
            at = next; // higher each time by more than rounding
        }
        best =
            [best, Some(at)].into_iter().flatten().reduce(|best, at| if at.0 > best.0 { at } else { best });
    }
    let (_, rows, v) = best?;
    let mut out = vec![0.0; n];
    rows.iter().zip(&v).for_each(|(a, v)| out[left.rows[*a]] = *v);
    Some(out)
}

/// All components one after the other; `None` where there is no direction left for one, or time runs out.
pub fn one_by_one<F: Quadratic>(model: &SupportModel<'_, F>) -> Option<RowMat> {
    let (n, r) = model.shape();
    let mut x = RowMat::zeros(n, r);
    for (k, size) in model.limits().shares(r).into_iter().enumerate() {
        let v = if model.is_over() { None } else { component(model, &x, k, size) };
        v?.iter().enumerate().for_each(|(i, v)| x.set(i, k, *v));
    }
    stiefel::repair_on_support(&mut x);
    Some(x)
}

impl Left {
    fn of<F: Quadratic>(model: &SupportModel<'_, F>, before: &RowMat, most: usize) -> Option<Self> {
        let (n, _) = model.shape();
        let mut by_variance: Vec<(f64, usize)> = (0..n).map(|i| (model.cov.diagonal(i), i)).collect();
        largest_first(&mut by_variance);
        by_variance.truncate(most);
        let mut rows: Vec<usize> = by_variance.into_iter().map(|(_, i)| i).collect();
        rows.sort_unstable();
        let c = model.block(&rows)?;
        // variance counts what components share for each of them
        let r = if model.measure == Measure::Variance { c } else { left(model, c, &rows, before) };
        let r2 = model.squares().then(|| gram(&r));
        Some(Self {
            rows,
            r,
            by_steps: r2.is_none(),
            r2,
            scale: model.cov.scale(1),
            cancel: model.cancel().clone(),
        })
    }

    /// Backward from the rows that are `allowed` to `size` of them.
    fn pruned(&self, before: &RowMat, allowed: Vec<usize>, size: usize) -> Option<Chosen> {
        let mut rows = allowed;
        if rows.is_empty() {
            return None;
        }
        let (mut value, mut v) = self.best(before, &rows)?;
        while rows.len() > size {
            if self.cancel.is_over() {
                return None;
            }
            let leave = ((AT_ONCE * (rows.len() - size) as f64) as usize).max(1);
            let mut order: Vec<(f64, usize)> = v.iter().enumerate().map(|(p, v)| (v.abs(), p)).collect();
            largest_first(&mut order);
            order.truncate(rows.len() - leave);
            let mut kept: Vec<usize> = order.into_iter().map(|(_, p)| p).collect();
            kept.sort_unstable();
            let warm: Vec<f64> = kept.iter().map(|p| v[*p]).collect();
            rows = kept.into_iter().map(|p| rows[p]).collect();
            let near = match self.by_steps && rows.len() > size {
                true => self.near(before, &rows, &self.block(&self.r, &rows), &warm),
                false => None,
            };
            (value, v) = match near {
                Some(([_, value], v)) => (value, v),
                None => self.best(before, &rows)?,
            };
        }
        Some((value, rows, v))
    }

    /// The first exchange of a row for one with a large gradient that raises the value, rows with small loadings first.
    fn exchanged(&self, before: &RowMat, rows: &[usize], v: &[f64], value: f64) -> Option<Chosen> {
        let matrix = self.r2.as_ref().unwrap_or(&self.r);
        let mut g = vec![0.0; self.rows.len()];
        rows.iter().zip(v).for_each(|(a, v)| axpy(*v, matrix.row(*a), &mut g));
        let mut outside: Vec<(f64, usize)> =
            (0..g.len()).filter(|a| !rows.contains(a)).map(|a| (g[a].abs(), a)).collect();
        largest_first(&mut outside);
        outside.truncate(ENTERING);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        ascending(&mut order, &|p| v[p].abs());
        let raises = |w: f64| lowers(-w, -value, self.scale, WORTH);
        let mut block = self.block(&self.r, rows);
        for p in order {
            for (_, enter) in &outside {
                if self.cancel.is_over() {
                    return None;
                }
                let mut next = rows.to_vec();
                next[p] = *enter;
                if self.by_steps {
                    self.exchange_in(&mut block, &next, p);
                    let mut warm = v.to_vec();
                    warm[p] = 0.0;
                    warm[p] = if value > 0.0 { inner(block.row(p), &warm) / value } else { 1.0 };
                    // more steps may gain as much again as the first ones did
                    let near = self.near(before, &next, &block, &warm);
                    if near.is_some_and(|([first, last], _)| !raises(2.0 * last - first)) {
                        continue;
                    }
                }
                next.sort_unstable();
                if let Some((w, v)) = self.best(before, &next).filter(|b| raises(b.0)) {
                    return Some((w, next, v));
                }
            }
            self.exchange_in(&mut block, rows, p);
        }
        None
    }

    fn block(&self, m: &RowMat, rows: &[usize]) -> RowMat {
        RowMat::from_fn(rows.len(), rows.len(), |a, b| m.get(rows[a], rows[b]))
    }

    /// Row and column p of the block of R on `rows`.
    fn exchange_in(&self, block: &mut RowMat, rows: &[usize], p: usize) {
        for (q, a) in rows.iter().enumerate() {
            let v = self.r.get(rows[p], *a);
            block.set(p, q, v);
            block.set(q, p, v);
        }
    }

    /// A component from few Lanczos steps that begin with `warm`, orthogonal to those before: the values of `warm` and of the result, and
    /// the result.
    fn near(
        &self,
        before: &RowMat,
        rows: &[usize],
        block: &RowMat,
        warm: &[f64],
    ) -> Option<([f64; 2], Vec<f64>)> {
        let basis = orthonormal(&self.against(before, rows), rows.len())?;
        let mut x = warm.to_vec();
        for _ in 0..2 {
            project(&mut x, &basis);
            normalise(&mut x)?;
        }
        count(rows.len() * (2 * basis.len() * basis.len() + STEPS * (rows.len() + 8 * basis.len())));
        let image: Vec<f64> = (0..x.len()).map(|i| inner(block.row(i), &x)).collect();
        let first = inner(&image, &x);
        let (last, v) = ritz(block, &basis, x, STEPS)?;
        Some(([first, last], v))
    }

    fn against(&self, before: &RowMat, rows: &[usize]) -> Vec<Vec<f64>> {
        others(before, &rows.iter().map(|a| self.rows[*a]).collect::<Vec<_>>(), &[])
    }

    /// The best component on some rows, orthogonal to those before it.
    fn best(&self, before: &RowMat, rows: &[usize]) -> Option<(f64, Vec<f64>)> {
        let (block, against) = (self.block(&self.r, rows), self.against(before, rows));
        match &self.r2 {
            None => leading(&block, &against, None, false),
            Some(r2) => quotient(&self.block(r2, rows), &block, &against),
        }
    }
}

/// The largest xᵀBx / xᵀAx over x orthogonal to the vectors `against`, and x of length 1. Cost O(s³).
fn quotient(b: &RowMat, a: &RowMat, against: &[Vec<f64>]) -> Option<(f64, Vec<f64>)> {
    let s = a.nrows();
    count(20 * s * s * s + 50_000);
    let basis = orthonormal(against, s)?;
    if basis.len() >= s {
        return None;
    }
    let trace: f64 = (0..s).map(|i| a.get(i, i)).sum();
    if trace.is_nan() || trace <= 0.0 {
        return None;
    }
    // both on the complement of the basis; on the basis A is tr A and B is 0, so that no maximiser is there
    let mut projector = RowMat::from_fn(s, s, |i, j| f64::from(u8::from(i == j)));
    for q in &basis {
        (0..s).for_each(|i| axpy(-q[i], q, projector.row_mut(i)));
    }
    let on = |m: &RowMat| {
        let (mut half, mut out) = (RowMat::zeros(s, s), RowMat::zeros(s, s));
        product(&mut half, false, 1.0, projector.as_mat(), m.as_mat());
        product(&mut out, false, 1.0, half.as_mat(), projector.as_mat());
        out.symmetric_part()
    };
    let (mut a, b) = (on(a), on(b));
    for i in 0..s {
        for j in 0..s {
            let off: f64 = basis.iter().map(|q| q[i] * q[j]).sum();
            a.set(i, j, a.get(i, j) + trace * off + if i == j { RIDGE * trace } else { 0.0 });
        }
    }
    let l = cholesky(&a)?;
    // L⁻¹BL⁻ᵀ by two triangular solves
    let solve = |m: &RowMat| {
        let mut y = m.clone();
        for i in 0..s {
            for j in 0..i {
                let (factor, row) = (l.get(i, j), y.row(j).to_vec());
                axpy(-factor, &row, y.row_mut(i));
            }
            let pivot = l.get(i, i);
            y.row_mut(i).iter_mut().for_each(|v| *v /= pivot);
        }
        y
    };
    let (values, u) = symmetric_eigen(&solve(&transpose(&solve(&b))).symmetric_part())?;
    let mut x: Vec<f64> = (0..s).map(|i| u.get(i, s - 1)).collect();
    for i in (0..s).rev() {
        let sum: f64 = (i + 1..s).map(|j| l.get(j, i) * x[j]).sum();
        x[i] = (x[i] - sum) / l.get(i, i);
    }
    for q in &basis {
        let along: f64 = q.iter().zip(&x).map(|(q, x)| q * x).sum();
        axpy(-along, q, &mut x);
    }
    let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    (length > 0.0 && length.is_finite()).then(|| (values[s - 1], x.iter().map(|v| v / length).collect()))
}

#[cfg(test)]
mod tests {
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseGram, Measured};
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::problem::MeasuredProblem;

    const N: usize = 60;
    const SIZE: usize = 9;

    /// Samples of all ranks: random, columns that come twice, rank 5, two columns of zeros, a few factors.
    fn samples(kind: u64, seed: u64, unit: f64) -> RowMat {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let a = RowMat::from_fn(80, N, |_, _| rng.random_range(-1.0..1.0));
        let b = RowMat::from_fn(5, N, |_, _| rng.random_range(-1.0f64..1.0).powi(3));
        RowMat::from_fn(80, N, |i, j| {
            let low: f64 = (0..5).map(|l| a.get(i, l) * b.get(l, j)).sum();
            unit * match kind {
                1 => a.get(i, j % 30),
                2 => low,
                3 if j > 57 => 0.0,
                4 => 3.0 * low + 0.5 * a.get(i, j),
                _ => a.get(i, j),
            }
        })
    }

    fn problem(a: &RowMat, measure: Measure) -> MeasuredProblem<DenseGram> {
        let f = Measured::new(DenseGram::new(a.to_mat().as_ref()), measure).unwrap();
        let limits = Cardinality::Components(vec![SIZE; 8]);
        MeasuredProblem::new(f, 8, limits, 0.0, Between::Orthogonal).unwrap()
    }

    /// Components by exact eigenvectors alone are the slow twin: as good, and orthogonal to those before them.
    #[test]
    fn few_lanczos_steps_lead_to_components_as_good_as_eigenvectors_do() {
        let (mut fast, mut slow) = (0.0, 0.0);
        for seed in 0..20u64 {
            let measure = [Measure::Adjusted, Measure::Variance][seed as usize % 2];
            let p = problem(&samples(seed % 5, seed, 1.0), measure);
            let model = SupportModel::of(&p);
            let mut x = RowMat::zeros(N, 8);
            for k in 0..5 {
                let before = RowMat::from_fn(N, k, |i, j| x.get(i, j));
                let mut left = Left::of(&model, &before, ROWS).unwrap();
                let climbed = |left: &Left| {
                    let mut at = left.pruned(&before, (0..N).collect(), SIZE).unwrap();
                    while let Some(next) = left.exchanged(&before, &at.1, &at.2, at.0) {
                        assert!(next.0 > at.0);
                        at = next;
                    }
                    at
                };
                let (value, rows, v) = climbed(&left);
                left.by_steps = false;
                slow += climbed(&left).0 / left.scale;
                fast += value / left.scale;
                // its value is that of its loadings, and no eigenvector on its rows is better
                assert!((left.best(&before, &rows).unwrap().0 - value).abs() <= 1e-10 * left.scale, "{seed}");
                assert_eq!(rows.len(), SIZE);
                rows.iter().zip(&v).for_each(|(a, v)| x.set(left.rows[*a], k, *v));
                for j in 0..k {
                    let along: f64 = (0..N).map(|i| x.get(i, j) * x.get(i, k)).sum();
                    assert!(along.abs() <= 1e-13, "{seed}: {along}");
                }
            }
        }
        assert!((fast / slow - 1.0).abs() < 2e-3, "{fast} and {slow}");
    }

    /// What few steps find is never above the eigenvector, and not below where they begin.
    #[test]
    fn few_lanczos_steps_are_between_where_they_begin_and_the_eigenvector() {
        for seed in 0..20u64 {
            let p = problem(&samples(seed % 5, seed, 1.0), Measure::Adjusted);
            let model = SupportModel::of(&p);
            let before = one_by_one(&model).unwrap();
            let before = RowMat::from_fn(N, 3, |i, k| before.get(i, k));
            let left = Left::of(&model, &before, ROWS).unwrap();
            let rows: Vec<usize> = (0..N).filter(|i| (i + seed as usize).is_multiple_of(4)).collect();
            let (most, _) = left.best(&before, &rows).unwrap();
            let warm: Vec<f64> = (0..rows.len()).map(|i| 1.0 + i as f64).collect();
            let ([first, last], v) = left.near(&before, &rows, &left.block(&left.r, &rows), &warm).unwrap();
            let rounding = 1e-12 * left.scale;
            assert!(first <= last + rounding && last <= most + rounding, "{seed}: {first} {last} {most}");
            assert!((inner(&v, &v) - 1.0).abs() < 1e-12);
        }
    }

    /// Data times a power of two have components of the same bits.
    #[test]
    fn components_are_the_same_in_any_unit() {
        for seed in 0..5u64 {
            let at = |unit: f64| {
                let p = problem(&samples(seed, seed, unit), Measure::Adjusted);
                one_by_one(&SupportModel::of(&p))
            };
            let one = at(1.0);
            assert!(one.is_some() || seed == 2, "{seed}");
            for unit in [2f64.powi(-200), 2f64.powi(200)] {
                assert_eq!(one, at(unit), "{seed}");
            }
        }
    }
}
