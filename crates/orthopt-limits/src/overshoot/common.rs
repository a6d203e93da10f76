//! Columns that share their rows, where XᵀX = I and XᵀCX is diagonal (docs/mathematics.md, section 19): the columns of a group are
//! the leading eigenvectors of C on the rows of the group, in the complement of the other columns and of their images. All columns
//! in one group are what `variables` selects; columns on supports of their own are groups of one.
//!
//! Exchanges of single entries do not lead there: a column that has one row alone with another one cannot be orthogonal to it.

use super::support_model::{Point, STAYING, SupportModel, WORTH, mask_of};
use crate::exchange::component::leading_few;
use orthopt_core::problem::{Between, support};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::{ascending, descending_to, largest_first};

/// Sets of rows that are all examined; where there are more, rows are exchanged.
const ENUMERATED: f64 = 3000.0;
/// Rows that may enter in the place of another one, where not all are tried.
const ENTERING: usize = 16;
/// Entries of a column from which on its rows stay as they are: an eigenproblem costs their number cubed.
const LONG: usize = 64;
/// Components from which on not all ways to divide them into groups are tried.
const MANY: usize = 5;
/// Rounds over the groups, each with the others fixed.
const ROUNDS: usize = 4;
/// An image below this share of its length, or of the largest variance, is rounding.
const NOTHING: f64 = 1e-13;

/// Columns and the rows they share.
type Group = (Vec<usize>, usize);

/// X under way, with CX.
struct Columns<'g, 'a, F> {
    model: &'g SupportModel<'a, F>,
    x: RowMat,
    image: RowMat,
}

impl<'g, 'a, F: Quadratic> Columns<'g, 'a, F> {
    fn new(model: &'g SupportModel<'a, F>, x: RowMat) -> Self {
        let image = model.cov.times(model.f(), &x);
        Self { model, x, image }
    }

    /// Vectors that columns on some rows must be orthogonal to: the other columns there, and their images.
    fn against(&self, group: &[usize], rows: &[usize]) -> Vec<Vec<f64>> {
        let (n, r) = self.model.shape();
        let length = |v: &[f64]| v.iter().map(|e| e * e).sum::<f64>().sqrt();
        let mut out = Vec::new();
        for j in (0..r).filter(|j| !group.contains(j)) {
            for (m, least) in [(&self.x, 0.0), (&self.image, self.model.cov.scale(1))] {
                let whole = length(&(0..n).map(|i| m.get(i, j)).collect::<Vec<_>>());
                let part: Vec<f64> = rows.iter().map(|i| m.get(*i, j)).collect();
                if whole > NOTHING * least && length(&part) > NOTHING * whole {
                    out.push(part.into_iter().map(|v| v / whole).collect());
                }
            }
        }
        out
    }

    /// The columns of a group with the largest variances on some rows, and their worth.
    fn best_on(&self, group: &[usize], rows: &[usize]) -> Option<(f64, RowMat)> {
        let c = self.model.cov.block(self.model.f(), rows)?;
        let (variance, v) = leading_few(&c, &self.against(group, rows), group.len())?;
        if !self.is_explained(group) {
            return Some((variance, v));
        }
        let mut x = RowMat::zeros(self.x.nrows(), group.len());
        rows.iter().enumerate().for_each(|(a, i)| x.row_mut(*i).copy_from_slice(v.row(a)));
        Some((self.model.value(&x), v))
    }

    /// True if the worth of a group is what its scores explain: of all columns together, as that is no sum over columns.
    fn is_explained(&self, group: &[usize]) -> bool {
        self.model.squares() && group.len() == self.x.ncols()
    }

    /// The rows that are worth most of those `allowed`, as many as the group may have, and the columns there: all sets of rows are tried where these
    /// are few; else those with the largest variances, and the rows of `from`, and exchanges from there.
    fn best(
        &self,
        (group, size): &Group,
        from: &[usize],
        allowed: &[bool],
    ) -> Option<(f64, Vec<usize>, RowMat)> {
        let free: Vec<usize> = (0..allowed.len()).filter(|i| allowed[*i]).collect();
        let size = (*size).min(free.len());
        let mut best: Option<(f64, Vec<usize>, RowMat)> = None;
        let mut offer = |rows: Vec<usize>| {
            if let Some((value, v)) = self.best_on(group, &rows)
                && best.as_ref().is_none_or(|b| self.model.raises(value, b.0, WORTH))
            {
                best = Some((value, rows, v));
            }
        };
        if sets(free.len(), size) <= ENUMERATED {
            let mut chosen: Vec<usize> = (0..size).collect();
            loop {
                offer(chosen.iter().map(|a| free[*a]).collect());
                let Some(at) = (0..size).rev().find(|p| chosen[*p] < free.len() - size + p) else { break };
                if self.model.is_over() {
                    break;
                }
                chosen[at] += 1;
                (at + 1..size).for_each(|p| chosen[p] = chosen[p - 1] + 1);
            }
            return best;
        }
        let by_variance = descending_to(free.len(), &|a| self.model.cov.diagonal(free[a]));
        offer(by_variance.into_iter().take(size).map(|a| free[a]).collect());
        if from.len() == size && from.iter().all(|i| allowed[*i]) {
            offer(from.to_vec());
        }
        let mut at = best?;
        while size <= LONG && !self.model.is_over() {
            let Some(next) = self.exchanged(group, &at, &free) else { break };
            at = next; // higher each time by more than rounding
        }
        Some(at)
    }

    /// The first exchange of a row for another one that raises the worth.
    fn exchanged(
        &self,
        group: &[usize],
        (value, rows, v): &(f64, Vec<usize>, RowMat),
        free: &[usize],
    ) -> Option<(f64, Vec<usize>, RowMat)> {
        let mut y = RowMat::zeros(self.x.nrows(), group.len());
        rows.iter().enumerate().for_each(|(a, i)| y.row_mut(*i).copy_from_slice(v.row(a)));
        let image = self.model.cov.times(self.model.f(), &y);
        let square = |row: &[f64]| row.iter().map(|e| e * e).sum::<f64>();
        let outside = free.iter().filter(|i| !rows.contains(i));
        let mut pulls: Vec<(f64, usize)> = outside.map(|i| (square(image.row(*i)), *i)).collect();
        largest_first(&mut pulls);
        pulls.truncate(ENTERING);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        ascending(&mut order, &|a| square(v.row(a)));
        for a in order {
            for (_, enter) in &pulls {
                if self.model.is_over() {
                    return None;
                }
                let mut next = rows.clone();
                next[a] = *enter;
                next.sort_unstable();
                if let Some((reached, v)) = self.best_on(group, &next)
                    && self.model.raises(reached, *value, WORTH)
                {
                    return Some((reached, next, v));
                }
            }
        }
        None
    }

    /// The columns of a group become `v` on the rows.
    fn replace(&mut self, group: &[usize], rows: &[usize], v: &RowMat) {
        for (c, k) in group.iter().enumerate() {
            (0..self.x.nrows()).for_each(|i| self.x.set(i, *k, 0.0));
            rows.iter().enumerate().for_each(|(a, i)| self.x.set(*i, *k, v.get(a, c)));
        }
        self.image = self.model.cov.times(self.model.f(), &self.x);
    }

    /// The worth of a group: its variances, or what it explains.
    fn worth(&self, group: &[usize]) -> f64 {
        if self.is_explained(group) {
            return self.model.value(&self.x);
        }
        let one =
            |k: usize| (0..self.x.nrows()).map(|i| self.x.get(i, k) * self.image.get(i, k)).sum::<f64>();
        group.iter().map(|k| one(*k)).sum()
    }

    /// Each group once more with the others fixed, until none of them gains; whether one has.
    fn rounds(&mut self, groups: &[Group]) -> bool {
        let all = vec![true; self.x.nrows()];
        let mut any = false;
        for _ in 0..ROUNDS {
            let mut gained = false;
            for group in groups {
                if self.model.is_over() {
                    return any || gained;
                }
                let rows = support(&self.x, group.0[0]);
                let (found, own) = (self.best(group, &rows, &all), self.worth(&group.0));
                if let Some((_, rows, v)) = found.filter(|f| self.model.raises(f.0, own, WORTH)) {
                    self.replace(&group.0, &rows, &v);
                    gained = true;
                }
            }
            any |= gained;
            if !gained {
                break;
            }
        }
        any
    }
}

/// Binomial coefficient.
fn sets(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |product, j| product * (n - j) as f64 / (j + 1) as f64)
}

/// The point on groups of columns, `allowed` rows first, one group after the other, then each with the others fixed. `None` where the
/// groups before one leave no room for it.
pub fn grouped<F: Quadratic>(
    model: &SupportModel<'_, F>,
    groups: &[Vec<usize>],
    allowed: &[bool],
) -> Option<Point> {
    let (n, r) = model.shape();
    let shares = model.limits().shares(r);
    let size = |group: &Vec<usize>| group.iter().map(|k| shares[*k]).min().unwrap_or(0);
    let groups: Vec<Group> = groups.iter().map(|group| (group.clone(), size(group).min(n))).collect();
    let mut at = Columns::new(model, RowMat::zeros(n, r));
    for group in &groups {
        let found = at.best(group, &[], allowed).or_else(|| at.best(group, &[], &vec![true; n]));
        let (_, rows, v) = found?;
        at.replace(&group.0, &rows, &v);
    }
    at.rounds(&groups);
    settled(model, &at.x)
}

/// On the constraints to rounding, with what the limits leave used.
fn settled<F: Quadratic>(model: &SupportModel<'_, F>, x: &RowMat) -> Option<Point> {
    let mask: Vec<bool> = mask_of(x);
    model.filled(model.polish(x, &mask, STAYING)?)
}

/// The best point on groups of columns, those with the most nonzeros first, for all ways to divide a few columns.
pub fn common<F: Quadratic>(model: &SupportModel<'_, F>) -> Option<Point> {
    let (n, r) = model.shape();
    let shares = model.limits().shares(r);
    let order = descending_to(r, &|k| shares[k] as f64);
    let mut best: Option<Point> = None;
    for sizes in divisions(r) {
        if model.is_over() {
            break;
        }
        let mut columns = order.iter().copied();
        let groups: Vec<Vec<usize>> =
            sizes.iter().map(|size| columns.by_ref().take(*size).collect()).collect();
        let found = grouped(model, &groups, &vec![true; n]);
        if let Some(at) = found
            .filter(|at| best.as_ref().is_none_or(|b| model.raises(model.worth(at), model.worth(b), WORTH)))
        {
            best = Some(at);
        }
    }
    best
}

/// Sizes of groups one after the other: all ways where there are few columns, else one group, halves, one and the others, and single
/// columns.
fn divisions(r: usize) -> Vec<Vec<usize>> {
    if r > MANY {
        return vec![vec![r], vec![r / 2, r - r / 2], vec![r - 1, 1], vec![1, r - 1], vec![1; r]];
    }
    // between two columns a group ends, or it does not
    let of = |cuts: usize| {
        let mut sizes = vec![1];
        for k in 1..r {
            if cuts >> (k - 1) & 1 == 1 {
                sizes.push(1);
            } else if let Some(last) = sizes.last_mut() {
                *last += 1;
            }
        }
        sizes
    };
    (0..1usize << (r - 1)).map(of).collect()
}

/// The groups of columns with the same rows, each better with the others fixed; `None` where none is.
pub(super) fn regrouped<F: Quadratic>(model: &SupportModel<'_, F>, at: &Point) -> Option<Point> {
    if model.between() != Between::Both {
        return None;
    }
    let (_, r) = model.shape();
    let rows: Vec<Vec<usize>> = (0..r).map(|k| support(&at.x, k)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for k in (0..r).filter(|k| !rows[..*k].contains(&rows[*k])) {
        groups.push(((k..r).filter(|j| rows[*j] == rows[k]).collect(), rows[k].len()));
    }
    let mut columns = Columns::new(model, at.x.clone());
    if !columns.rounds(&groups) {
        return None;
    }
    settled(model, &columns.x)
}
