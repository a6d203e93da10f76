//! One component on given rows, orthogonal to the others: max xᵀCx over unit x on S with x ⊥ xⱼ for all j ≠ k,
//! the leading eigenvector of C\[S, S\] on the complement of the xⱼ on S.

use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::kernels::{axpy, inner};
use orthopt_linalg::work::count;

/// Up to so many rows all eigenpairs are computed.
const DENSE: usize = 40;
/// Steps of a Lanczos run and the number of runs, above.
const STEPS: usize = 14;
const RUNS: usize = 4;
/// Fixed cost of an evaluation, in units of work.
const OVERHEAD: usize = 150_000;
/// A vector that has lost so much of its length to others lies in their span.
const SPANNED: f64 = 1e-13;
/// |⟨x, xⱼ⟩| that is rounding.
const ORTHOGONAL: f64 = 2e-14;
/// Steps of the projected power method, and the change at which it ends.
const POWER: usize = 300;
const STILL: f64 = 1e-15;
/// Entries below are rounding of zero.
const NOTHING: f64 = 1e-14;

/// C\[S, S\].
pub fn block(f: &impl Quadratic, rows: &[usize]) -> RowMat {
    let mut c = f.curvature_block(rows);
    c.data_mut().iter_mut().for_each(|v| *v = -*v);
    count(rows.len() * rows.len() * 8);
    c
}

/// Columns j ≠ k of X on the rows, those that are not zero there.
pub(crate) fn others(x: &RowMat, rows: &[usize], skip: &[usize]) -> Vec<Vec<f64>> {
    let column = |j: usize| rows.iter().map(|i| x.get(*i, j)).collect::<Vec<_>>();
    (0..x.ncols()).filter(|j| !skip.contains(j)).map(column).filter(|v| v.iter().any(|e| *e != 0.0)).collect()
}

/// xᵀCx and x, the maximiser on the rows whose C\[S, S\] is `c`, orthogonal to the vectors `against` and, where
/// `nonneg`, a nonnegative x that no power step improves. `warm` is where iterations begin; xᵀCx is never
/// below that of a `warm` that is orthogonal to `against`. `None` where no direction is left.
pub(crate) fn leading(
    c: &RowMat,
    against: &[Vec<f64>],
    warm: Option<&[f64]>,
    nonneg: bool,
) -> Option<(f64, Vec<f64>)> {
    let s = c.nrows();
    count(OVERHEAD);
    let basis = orthonormal(against, s)?;
    if nonneg {
        return if basis.is_empty() { nonnegative(c, warm) } else { None };
    }
    let mut x = match warm {
        _ if s <= DENSE => from_eigenpairs(c, &basis)?,
        Some(v) => lanczos(c, &basis, v)?,
        None => lanczos(c, &basis, &longest_row(c))?,
    };
    for _ in 0..2 {
        project(&mut x, &basis);
        normalise(&mut x)?;
    }
    let apart = against.iter().all(|v| inner(v, &x).abs() <= ORTHOGONAL);
    x.iter_mut().filter(|v| v.abs() <= NOTHING).for_each(|v| *v = 0.0);
    apart.then(|| (form(c, &x), x))
}

/// An orthonormal basis of the span; `None` if it is all of ℝˢ.
pub fn orthonormal(vectors: &[Vec<f64>], s: usize) -> Option<Vec<Vec<f64>>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for v in vectors {
        let (mut w, before) = (v.clone(), inner(v, v).sqrt());
        for _ in 0..2 {
            project(&mut w, &basis);
        }
        if inner(&w, &w).sqrt() > SPANNED * before && normalise(&mut w).is_some() {
            basis.push(w);
        }
    }
    (basis.len() < s).then_some(basis)
}

/// x without its part in the span of an orthonormal basis.
pub fn project(x: &mut [f64], basis: &[Vec<f64>]) {
    for q in basis {
        let c = inner(x, q);
        axpy(-c, q, x);
    }
}

pub(crate) fn normalise(x: &mut [f64]) -> Option<()> {
    let length = inner(x, x).sqrt();
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    x.iter_mut().for_each(|v| *v /= length);
    Some(())
}

fn times(c: &RowMat, x: &[f64]) -> Vec<f64> {
    count(x.len() * x.len());
    (0..x.len()).map(|i| inner(c.row(i), x)).collect()
}

fn form(c: &RowMat, x: &[f64]) -> f64 {
    inner(&times(c, x), x)
}

/// The sum of xᵀCx of so many orthonormal columns, the leading eigenvectors of C in the complement of the vectors `against`, and these
/// columns. `None` where there are fewer directions.
pub fn leading_few(c: &RowMat, against: &[Vec<f64>], columns: usize) -> Option<(f64, RowMat)> {
    let s = c.nrows();
    count(OVERHEAD + 20 * s * s * s);
    let basis = if against.is_empty() { Vec::new() } else { orthonormal(against, s)? };
    if s < columns + basis.len() {
        return None;
    }
    let (_, vectors) = symmetric_eigenpairs(&compressed(c, &basis))?;
    let mut x = RowMat::zeros(s, columns);
    for k in 0..columns {
        let mut v: Vec<f64> = (0..s).map(|i| vectors.get(i, k)).collect();
        for _ in 0..2 {
            project(&mut v, &basis);
            normalise(&mut v)?;
        }
        v.iter_mut().filter(|e| e.abs() <= NOTHING).for_each(|e| *e = 0.0);
        (0..s).for_each(|i| x.set(i, k, v[i]));
    }
    let variance = |k: usize| form(c, &(0..s).map(|i| x.get(i, k)).collect::<Vec<_>>());
    Some(((0..columns).map(variance).sum(), x))
}

/// The first of them.
fn from_eigenpairs(c: &RowMat, basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    let (_, vectors) = symmetric_eigenpairs(&compressed(c, basis))?;
    Some((0..c.nrows()).map(|i| vectors.get(i, 0)).collect())
}

/// PCP − σQQᵀ, whose leading eigenvectors are in the complement of Q.
fn compressed(c: &RowMat, basis: &[Vec<f64>]) -> RowMat {
    let s = c.nrows();
    let mut m = c.clone();
    if !basis.is_empty() {
        let sigma = 4.0 * c.norm().max(f64::MIN_POSITIVE);
        let images: Vec<Vec<f64>> = basis.iter().map(|q| times(c, q)).collect();
        let b = basis.len();
        let small = RowMat::from_fn(b, b, |a, b| inner(&basis[a], &images[b]));
        count(s * s * b * b / 4 + b * b * s);
        for i in 0..s {
            for j in 0..s {
                let mut v = c.get(i, j);
                for (a, q) in basis.iter().enumerate() {
                    v -= q[i] * images[a][j] + images[a][i] * q[j] + sigma * q[i] * q[j];
                    for (b, w) in basis.iter().enumerate() {
                        v += q[i] * small.get(a, b) * w[j];
                    }
                }
                m.set(i, j, v);
            }
        }
    }
    m
}

fn longest_row(c: &RowMat) -> Vec<f64> {
    let best = (0..c.nrows()).fold(0, |b, i| if c.get(i, i) > c.get(b, b) { i } else { b });
    let mut v = c.row(best).to_vec();
    v[best] += c.get(best, best).abs().max(f64::MIN_POSITIVE);
    v
}

/// Leading Ritz vectors of short Lanczos runs, each from the last one.
fn lanczos(c: &RowMat, basis: &[Vec<f64>], warm: &[f64]) -> Option<Vec<f64>> {
    let mut x = warm.to_vec();
    project(&mut x, basis);
    if normalise(&mut x).is_none() {
        x = longest_row(c);
        project(&mut x, basis);
        normalise(&mut x)?;
    }
    let mut last = f64::NEG_INFINITY;
    for _ in 0..RUNS {
        let value;
        (value, x) = ritz(c, basis, x, STEPS)?;
        if value - last <= 1e-13 * value.abs() {
            break;
        }
        last = value;
    }
    Some(x)
}

/// The largest Ritz value and its vector of a Lanczos run from a unit x in the complement of `basis`. Cost O(steps·(s + b)·s)
/// for b vectors in the basis.
pub(crate) fn ritz(c: &RowMat, basis: &[Vec<f64>], x: Vec<f64>, steps: usize) -> Option<(f64, Vec<f64>)> {
    let (mut q, mut images) = (vec![x], Vec::<Vec<f64>>::new());
    while images.len() < steps {
        let mut w = times(c, &q[q.len() - 1]);
        project(&mut w, basis);
        images.push(w.clone());
        let before = inner(&w, &w).sqrt();
        for _ in 0..2 {
            project(&mut w, &q);
            project(&mut w, basis);
        }
        if q.len() == steps || inner(&w, &w).sqrt() <= 1e-12 * before || normalise(&mut w).is_none() {
            break;
        }
        q.push(w);
    }
    let k = images.len();
    let t = RowMat::from_fn(k, k, |a, b| 0.5 * (inner(&q[a], &images[b]) + inner(&q[b], &images[a])));
    let (values, vectors) = symmetric_eigenpairs(&t)?;
    let on = |i: usize| (0..k).map(|a| vectors.get(a, 0) * q[a][i]).sum();
    Some((values[0], (0..c.nrows()).map(on).collect()))
}

/// The eigenvector where it has one sign; else the best end of x ← (Cx + τx)₊ from its positive and its
/// negative part and from `warm`. τ makes the form convex, so that every step raises it.
fn nonnegative(c: &RowMat, warm: Option<&[f64]>) -> Option<(f64, Vec<f64>)> {
    let v = match c.nrows() <= DENSE {
        true => from_eigenpairs(c, &[])?,
        false => lanczos(c, &[], warm.unwrap_or(&longest_row(c)))?,
    };
    let lowest = (0..c.nrows())
        .map(|i| c.row(i).iter().map(|a| -a.abs()).sum::<f64>() + c.get(i, i).abs() + c.get(i, i));
    let tau = lowest.fold(0.0f64, |t, l| t.max(-l)).min(c.norm());
    let part = |sign: f64| v.iter().map(|e| (sign * e).max(0.0)).collect::<Vec<_>>();
    let starts = [Some(part(1.0)), Some(part(-1.0)), warm.map(<[f64]>::to_vec)];
    let mut best: Option<(f64, Vec<f64>)> = None;
    for mut x in starts.into_iter().flatten() {
        x.iter_mut().for_each(|e| *e = e.max(0.0));
        if normalise(&mut x).is_none() {
            continue;
        }
        // for a positive semidefinite C no shift is needed, and one slows it down: tried first
        for shift in [0.0, tau] {
            x = powers(c, x, shift);
        }
        x.iter_mut().filter(|e| **e <= NOTHING).for_each(|e| *e = 0.0);
        normalise(&mut x)?;
        let value = form(c, &x);
        if best.as_ref().is_none_or(|b| value > b.0) {
            best = Some((value, x));
        }
    }
    best
}

fn powers(c: &RowMat, mut x: Vec<f64>, shift: f64) -> Vec<f64> {
    let mut value = form(c, &x);
    for _ in 0..POWER {
        let image = times(c, &x);
        let mut next: Vec<f64> = image.iter().zip(&x).map(|(w, v)| (w + shift * v).max(0.0)).collect();
        if normalise(&mut next).is_none() {
            break;
        }
        let after = form(c, &next);
        if after.is_nan() || after - value <= STILL * value.abs() {
            if after > value {
                x = next;
            }
            break;
        }
        (x, value) = (next, after);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize) -> RowMat {
        let a = RowMat::from_fn(2 * n, n, |i, j| ((i * i + 3 * j * i + 7 * j) as f64 * 0.61).sin());
        orthopt_linalg::products::gram(&a)
    }

    #[test]
    fn small_and_large_agree_and_are_orthogonal() {
        for n in [6, 30] {
            let c = sample(n);
            let against: Vec<Vec<f64>> =
                (0..3).map(|k| (0..n).map(|i| ((i * (k + 2) + k) as f64).cos()).collect()).collect();
            let (value, x) = leading(&c, &against, None, false).unwrap();
            assert!(against.iter().all(|v| inner(v, &x).abs() <= 1e-13));
            let slow = lanczos(&c, &orthonormal(&against, n).unwrap(), &longest_row(&c)).unwrap();
            assert!((form(&c, &slow) - value).abs() <= 1e-9 * value, "{n}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_span_that_is_everything() {
        let c = sample(2);
        let against = vec![vec![1.0, 0.0], vec![1.0, 1.0]];
        assert!(leading(&c, &against, None, false).is_none());
        assert!(leading(&c, &against[..1], None, false).is_some());
    }

    #[test]
    fn a_nonnegative_component_is_no_worse_than_a_grid() {
        let c = RowMat::from_fn(3, 3, |i, j| [[2.0, -1.0, 0.4], [-1.0, 1.8, 0.5], [0.4, 0.5, 1.0]][i][j]);
        let (value, x) = leading(&c, &[], None, true).unwrap();
        assert!(x.iter().all(|v| *v >= 0.0));
        for a in 0..50 {
            for b in 0..50 {
                let (p, q) = (
                    a as f64 / 49.0 * std::f64::consts::FRAC_PI_2,
                    b as f64 / 49.0 * std::f64::consts::FRAC_PI_2,
                );
                let y = [p.cos(), p.sin() * q.cos(), p.sin() * q.sin()];
                assert!(form(&c, &y) <= value + 1e-9);
            }
        }
    }
}
