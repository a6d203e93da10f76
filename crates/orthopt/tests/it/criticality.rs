//! Criticality, the distance of zero to the subdifferential, against slow references.

use crate::common::{exact_objective, gradient, problem, rng, solve, usual_start};
use faer::Mat;
use orthopt::RowMat;
use orthopt::certify::criticality;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::PcaProblem;
use orthopt::solve::Status;
use orthopt_core::constraint::stiefel;
use rand::RngExt;

/// T(G) = G − XGᵀX, entry by entry.
fn operator(x: &RowMat, g: &RowMat) -> RowMat {
    let (n, r) = (x.nrows(), x.ncols());
    let gtx = RowMat::from_fn(r, r, |b, j| (0..n).map(|a| g.get(a, b) * x.get(a, j)).sum());
    RowMat::from_fn(n, r, |i, j| g.get(i, j) - (0..r).map(|b| x.get(i, b) * gtx.get(b, j)).sum::<f64>())
}

/// Smallest ‖T(∇f + D)‖ over lo ≤ D ≤ hi by enumeration: every entry with lo < hi is at its
/// lower bound, at its upper bound, or free (least squares); the best feasible choice is exact.
fn by_enumeration(p: &PcaProblem, x: &RowMat) -> f64 {
    let bounds: Vec<(f64, f64)> = x.data().iter().map(|v| p.h.subdifferential(*v)).collect();
    let open: Vec<usize> = (0..bounds.len()).filter(|k| bounds[*k].0 < bounds[*k].1).collect();
    let g = gradient(p, x);
    let unit = |k: usize| RowMat::from_fn(x.nrows(), x.ncols(), |i, j| f64::from(i * x.ncols() + j == k));
    let columns: Vec<RowMat> = open.iter().map(|k| operator(x, &unit(*k))).collect();
    let mut best = f64::INFINITY;
    for code in 0..3usize.pow(open.len() as u32) {
        let (mut fixed, mut free) = (g.clone(), Vec::new());
        for (k, (lo, hi)) in bounds.iter().enumerate() {
            let digit = open.iter().position(|o| *o == k).map(|q| code / 3usize.pow(q as u32) % 3);
            let value = match digit {
                None => *lo,
                Some(0) => *lo,
                Some(1) => *hi,
                Some(_) => {
                    free.push(k);
                    0.0
                }
            };
            fixed.data_mut()[k] += value;
        }
        if fixed.find_non_finite().is_some() {
            continue; // a bound that is not there
        }
        let target = operator(x, &fixed);
        let chosen: Vec<&RowMat> =
            free.iter().map(|k| &columns[open.iter().position(|o| o == k).unwrap()]).collect();
        if let Some((d, residual)) = least_squares(&chosen, &target)
            && free.iter().zip(&d).all(|(k, v)| *v >= bounds[*k].0 - 1e-9 && *v <= bounds[*k].1 + 1e-9)
        {
            best = best.min(residual);
        }
    }
    best
}

/// min ‖Σ dₖ·columnₖ + target‖ of smallest norm, by a singular value decomposition.
fn least_squares(columns: &[&RowMat], target: &RowMat) -> Option<(Vec<f64>, f64)> {
    if columns.is_empty() {
        return Some((vec![], target.norm()));
    }
    let rows = target.data().len();
    let a = Mat::from_fn(rows, columns.len(), |i, k| columns[k].data()[i]);
    let svd = a.thin_svd().ok()?;
    let s = svd.S().column_vector();
    let mut d = Mat::<f64>::zeros(columns.len(), 1);
    for k in 0..columns.len().min(rows) {
        if s[k] > 1e-10 {
            let along: f64 = (0..rows).map(|i| svd.U()[(i, k)] * target.data()[i]).sum();
            for q in 0..columns.len() {
                d[(q, 0)] -= svd.V()[(q, k)] * along / s[k];
            }
        }
    }
    let left = &a * &d;
    let norm = (0..rows).map(|i| (left[(i, 0)] + target.data()[i]).powi(2)).sum::<f64>().sqrt();
    Some(((0..columns.len()).map(|q| d[(q, 0)]).collect(), norm))
}

/// The same by very many projected gradient steps with momentum: the best G and ‖T(G)‖.
fn by_projected_gradient(p: &PcaProblem, x: &RowMat, steps: usize) -> (RowMat, f64) {
    let g = gradient(p, x);
    let bounds: Vec<(f64, f64)> = x.data().iter().map(|v| p.h.subdifferential(*v)).collect();
    let clamp = |k: usize, v: f64| v.clamp(bounds[k].0, bounds[k].1);
    let entries =
        |f: &dyn Fn(usize) -> f64| RowMat::from_fn(x.nrows(), x.ncols(), |i, j| f(i * x.ncols() + j));
    let sum = |d: &RowMat| entries(&|k| g.data()[k] + d.data()[k]);
    let mut d = entries(&|k| clamp(k, -g.data()[k]));
    let mut best = (sum(&d), operator(x, &sum(&d)).norm());
    let (mut y, mut weight) = (d.clone(), 1.0f64);
    for _ in 0..steps {
        let descent = operator(x, &operator(x, &sum(&y)));
        let next = entries(&|k| clamp(k, y.data()[k] - 0.25 * descent.data()[k]));
        let reached = operator(x, &sum(&next)).norm();
        if reached < best.1 {
            best = (sum(&next), reached);
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * weight * weight).sqrt());
            let ahead = (weight - 1.0) / grown;
            y = entries(&|k| next.data()[k] + ahead * (next.data()[k] - d.data()[k]));
            weight = grown;
        } else {
            (y, weight) = (next.clone(), 1.0);
        }
        d = next;
    }
    best
}

/// Entries that are zero but for rounding set to zero, and feasible again.
fn cleaned(mut x: RowMat) -> RowMat {
    x.data_mut().iter_mut().for_each(|v| *v = if v.abs() < 1e-9 { 0.0 } else { *v });
    assert!(stiefel::repair_on_support(&mut x) < 1e-13);
    x
}

/// A feasible X with some zeros: columns of disjoint or overlapping support.
fn sparse_point(n: usize, r: usize, nonneg: bool, seed: u64) -> RowMat {
    let mut rng = rng(seed);
    let mut x = RowMat::from_fn(n, r, |i, j| {
        let value: f64 = rng.random_range(0.2..1.0);
        let keep = i % r == j || (!nonneg && i < 3);
        if keep { value } else { 0.0 }
    });
    if !nonneg {
        x.data_mut().iter_mut().for_each(|v| *v *= if rng.random() { 1.0 } else { -1.0 });
        x = stiefel::orthonormalise(&x);
        // QR fills in below the diagonal only where supports overlap
        x.data_mut().iter_mut().for_each(|v| *v = if v.abs() < 1e-14 { 0.0 } else { *v });
    } else {
        for j in 0..r {
            let norm = (0..n).map(|i| x.get(i, j).powi(2)).sum::<f64>().sqrt();
            (0..n).for_each(|i| x.set(i, j, x.get(i, j) / norm));
        }
    }
    x
}

#[test]
fn criticality_against_enumeration() {
    for (name, lambda) in [("l0-pca", 2.0), ("l1-pca", 1.5), ("l1-pca", 0.05), ("nonneg-pca", 0.0)] {
        for seed in 0..4 {
            let p = problem(name, lambda, 7, 2, seed);
            let nonneg = p.h.requires_nonneg();
            let mut points = vec![sparse_point(7, 2, nonneg, seed), usual_start(&p, seed)];
            points.push(solve(&p, seed, 1e-11).x);
            for x in points {
                if x.data().iter().filter(|v| **v == 0.0).count() > 8 {
                    continue; // too many choices to enumerate
                }
                let (found, reference) = (criticality(&p, &x), by_enumeration(&p, &x));
                let scale = gradient(&p, &x).norm();
                assert!(found >= reference - 1e-9 * scale, "{name} {seed}: {found} below {reference}");
                assert!(found <= reference + 1e-5 * scale, "{name} {seed}: {found}, enumeration {reference}");
            }
        }
    }
}

#[test]
fn criticality_against_long_projected_gradients() {
    for (name, lambda) in [("l0-pca", 2.0), ("l1-pca", 1.5), ("nonneg-pca", 0.0)] {
        for seed in 0..3 {
            let p = problem(name, lambda, 16, 3, seed);
            for x in [usual_start(&p, seed), cleaned(solve(&p, seed, 1e-11).x)] {
                let (found, (_, reference)) = (criticality(&p, &x), by_projected_gradient(&p, &x, 20_000));
                let scale = gradient(&p, &x).norm();
                assert!(
                    (found - reference).abs() <= 1e-5 * scale,
                    "{name} {seed}: {found}, slow {reference}"
                );
            }
        }
    }
}

#[test]
fn criticality_without_a_penalty_is_the_norm_of_the_violation() {
    let p = problem("pca", 0.0, 15, 4, 3);
    for seed in 0..5 {
        let x = stiefel::random(15, 4, &mut rng(seed));
        let reference = operator(&x, &gradient(&p, &x)).norm();
        assert!((criticality(&p, &x) - reference).abs() <= 1e-12 * reference);
    }
    let end = solve(&p, 1, 1e-14).x;
    assert!(criticality(&p, &end) < 1e-4);
}

/// Where criticality is not zero F does fall, also at points that no pair of rows can improve:
/// D = −T(T(G)) has the slope −‖T(G)‖² for the best subgradient G.
#[test]
fn a_positive_criticality_is_a_way_down() {
    let mut positive = 0;
    for (name, lambda) in [("l0-pca", 2.0), ("l1-pca", 1.5)] {
        for seed in 0..4 {
            let p = problem(name, lambda, 16, 3, 41 + seed);
            let solution = solve(&p, seed, 1e-12);
            assert_eq!(solution.status, Status::Converged);
            // exact zeros: a tiny entry has one subgradient only and hides the others
            let x = cleaned(solution.x);
            let (g, slope) = by_projected_gradient(&p, &x, 20_000);
            if slope < 0.05 {
                continue;
            }
            positive += 1;
            let d = operator(&x, &operator(&x, &g));
            let t = 1e-5 / (1.0 + d.norm());
            let mut moved = RowMat::from_fn(16, 3, |i, j| {
                // ℓ0: D vanishes where X does, up to the accuracy of G
                if name == "l0-pca" && x.get(i, j) == 0.0 { 0.0 } else { x.get(i, j) - t * d.get(i, j) }
            });
            if name == "l0-pca" {
                assert!(stiefel::repair_on_support(&mut moved) < 1e-12);
            } else {
                moved = stiefel::orthonormalise(&moved);
            }
            let fall = exact_objective(&p, &x) - exact_objective(&p, &moved);
            assert!(fall >= 0.5 * t * slope * slope, "{name} {seed}: {fall:e} for a slope of {slope}");
        }
    }
    assert!(positive >= 3, "{positive} points that only pairs find stationary");
}
