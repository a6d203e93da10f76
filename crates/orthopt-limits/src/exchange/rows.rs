//! Variables selected for all components together: the r leading eigenvectors of C[R, R], and rows of R exchanged, which
//! cost λ each.

use super::component::block;
use super::point::Point;
use crate::problem::CardinalityProblem;
use orthopt_core::constraint::stiefel;
use orthopt_core::problem::nonzero_rows;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use orthopt_linalg::order::{ascending, best_first, largest_first, least_first};
use orthopt_linalg::products::{cross, multiply, product};

/// Up to so many rows all eigenpairs are computed.
const DENSE: usize = 64;
/// Block power steps above.
const STEPS: usize = 8;
/// Rows that may leave and rows that may enter are compared with each other; so many pairs are solved.
const OUTS: usize = 8;
const INS: usize = 12;
const EXACT: usize = 16;
/// Rows that are solved for at once where λ decides on their number.
const ROOM: usize = 1000;

/// The sum of the r leading eigenvalues of C[R, R] and their vectors (|R| × r), at least as good as `warm`.
fn leading(c: &RowMat, r: usize, warm: Option<&RowMat>) -> Option<(f64, RowMat)> {
    if c.nrows() <= DENSE || warm.is_none() {
        let (values, vectors) = symmetric_eigenpairs(c)?;
        let v = RowMat::from_fn(c.nrows(), r, |i, k| vectors.get(i, k));
        return Some((values[..r].iter().sum(), v));
    }
    let mut v = stiefel::orthonormalise(warm?);
    for _ in 0..STEPS {
        let w = multiply(c.as_mat(), v.as_mat());
        v = stiefel::orthonormalise(&w);
    }
    let mut w = multiply(c.as_mat(), v.as_mat());
    let (values, turn) = symmetric_eigenpairs(&cross(&v, &w))?;
    product(&mut w, false, 1.0, v.as_mat(), turn.as_mat());
    Some((values.iter().sum(), w))
}

/// The best X (n × r) on these rows, r at least, and its variance.
pub(super) fn best_on<F: Quadratic>(
    p: &CardinalityProblem<F>,
    rows: &[usize],
    warm: Option<&RowMat>,
) -> Option<(f64, RowMat)> {
    let c = block(&p.f, rows);
    let (variance, mut v) = leading(&c, p.rank(), warm)?;
    stiefel::repair_on_support(&mut v);
    let mut x = RowMat::zeros(p.nrows(), p.rank());
    rows.iter().enumerate().for_each(|(a, i)| x.row_mut(*i).copy_from_slice(v.row(a)));
    x.find_non_finite().is_none().then_some((variance, x))
}

/// `rows` filled up to `most` with those of largest variance.
pub(super) fn filled<F: Quadratic>(
    p: &CardinalityProblem<F>,
    mut rows: Vec<usize>,
    most: usize,
) -> Vec<usize> {
    let diagonal = p.f.diagonal();
    let mut order: Vec<usize> = (0..p.nrows()).filter(|i| !rows.contains(i)).collect();
    ascending(&mut order, &|i| diagonal[i]);
    rows.extend(order.into_iter().take(most.saturating_sub(rows.len())));
    rows.truncate(most);
    rows.sort_unstable();
    rows
}

/// The rows that leave and enter, and what that is worth in tr(XᵀCX), roughly.
type Change = (f64, Option<usize>, Option<usize>);

/// A better X than that of the point: a row exchanged for another, one added, one left out.
pub(super) fn improve<F: Quadratic>(p: &CardinalityProblem<F>, at: &Point, most: usize) -> Option<RowMat> {
    let (x, cx) = (&at.x, &at.cx);
    let (rows, r) = (nonzero_rows(x), p.rank());
    let variance = x.inner(cx);
    let all = changes(p, (x, cx), &rows, most).into_iter().take(EXACT);
    all.take_while(|_| !is_over()).find_map(|(_, out, enter)| {
        let mut next: Vec<usize> = rows.iter().copied().filter(|i| Some(*i) != out).collect();
        next.extend(enter);
        next.sort_unstable();
        let warm = RowMat::from_fn(next.len(), r, |a, k| {
            if Some(next[a]) == enter { cx.get(next[a], k) * r as f64 / variance } else { x.get(next[a], k) }
        });
        let (reached, x) = best_on(p, &next, Some(&warm))?;
        at.gains((variance, rows.len() as f64), (reached, next.len() as f64), p.lambda()).then_some(x)
    })
}

/// The changes of X that promise most, best first.
fn changes<F: Quadratic>(
    p: &CardinalityProblem<F>,
    (x, cx): (&RowMat, &RowMat),
    rows: &[usize],
    most: usize,
) -> Vec<Change> {
    let r = p.rank();
    let variance = x.inner(cx);
    let diagonal = p.f.diagonal();
    let price = 2.0 * p.lambda();
    let part = |i: usize| x.row(i).iter().zip(cx.row(i)).map(|(a, b)| a * b).sum::<f64>();
    let mut outs: Vec<(f64, usize)> = rows.iter().map(|i| (part(*i), *i)).collect();
    least_first(&mut outs);
    outs.truncate(if rows.len() < most && price == 0.0 { 0 } else { OUTS });
    let inside = cross(x, cx);
    let gain = |i: usize| {
        let entry = |a: usize, b: usize| match (a == r, b == r) {
            (true, true) => -diagonal[i],
            (true, false) => cx.get(i, b),
            (false, true) => cx.get(i, a),
            (false, false) => inside.get(a, b),
        };
        let values = symmetric_eigenvalues(&RowMat::from_fn(r + 1, r + 1, entry));
        values.map_or(0.0, |v| v[..r].iter().sum::<f64>() - variance)
    };
    // the length of the row of CX comes first, what it is worth second
    let length = |i: usize| cx.row(i).iter().map(|v| v * v).sum::<f64>();
    let mut ins: Vec<(f64, usize)> =
        (0..p.nrows()).filter(|i| x.row(*i).iter().all(|v| *v == 0.0)).map(|i| (length(i), i)).collect();
    largest_first(&mut ins);
    let mut ins: Vec<(f64, usize)> = ins.into_iter().take(8 * INS).map(|(_, i)| (gain(i), i)).collect();
    largest_first(&mut ins);
    ins.truncate(INS);
    let mut all: Vec<Change> = Vec::new();
    for (won, i) in &ins {
        if rows.len() < most {
            all.push((won - price, None, Some(*i)));
        }
        all.extend(outs.iter().map(|(lost, o)| (won - lost, Some(*o), Some(*i))));
    }
    if price > 0.0 && rows.len() > r {
        all.extend(outs.iter().map(|(lost, o)| (price - lost, Some(*o), None)));
    }
    best_first(all, |change| change.0)
}

/// The rows that a guide means, r at least and at most so many: those that are not zero where some are; else those whose
/// share of tr(XᵀCX) is more than their price.
pub(super) fn worthwhile<F: Quadratic>(p: &CardinalityProblem<F>, guide: &RowMat, most: usize) -> Vec<usize> {
    let meant = nonzero_rows(guide);
    if meant.len() < p.nrows().min(most + 1) {
        let least = meant.len().max(p.rank());
        return filled(p, meant, least);
    }
    let x = stiefel::orthonormalise(guide);
    let cx = p.f.apply(&x);
    let part = |i: usize| -x.row(i).iter().zip(cx.row(i)).map(|(a, b)| a * b).sum::<f64>();
    let mut order: Vec<(f64, usize)> = (0..p.nrows()).map(|i| (part(i), i)).collect();
    largest_first(&mut order);
    let worth = order.iter().take(most.min(ROOM)).filter(|(part, _)| *part > 2.0 * p.lambda()).count();
    let mut rows: Vec<usize> = order[..worth.max(p.rank())].iter().map(|o| o.1).collect();
    rows.sort_unstable();
    rows
}
