//! The parts of the method against slow, obvious twins.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::descent::{Objective, Pace};
use super::pattern::Pattern;
use super::penalty::{Continuation, Outcome};
use super::revise::Batch;
use super::{Phase, Support, SupportOptions};
use orthopt_core::constraint::stiefel;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::penalty::{AnyPenalty, L0, L1};
use orthopt_core::problem::PcaProblem;
use orthopt_core::smooth::{AnySmooth, DenseQuadratic};
use orthopt_core::solve::Solver;
use orthopt_linalg::small::spectral_function;
use orthopt_linalg::{RowMat, work};

fn gaussian(n: usize, r: usize, seed: u64) -> RowMat {
    let mut rng = Pcg64::seed_from_u64(seed);
    RowMat::from_fn(n, r, |_, _| rng.sample(rand_distr::StandardNormal))
}

/// A point of the manifold of a random pattern with a share `density` of all entries.
fn sparse_point(n: usize, r: usize, density: f64, seed: u64) -> RowMat {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut x = gaussian(n, r, seed + 1);
    x.data_mut().iter_mut().for_each(|v| *v = if rng.random::<f64>() < density { *v } else { 0.0 });
    (0..r).for_each(|k| x.set(k, k, 3.0)); // no column is empty
    let pattern = Pattern::of(&x);
    let mut unit = x.clone();
    unit.data_mut().iter_mut().for_each(|v| *v /= (n as f64 * density).sqrt());
    let error = pattern.restore(&mut unit, &pattern.diagonal(&x), 1e-14);
    assert!(error <= 1e-13, "{error:e}");
    unit
}

/// The entries of X that are not zero.
fn support(x: &RowMat) -> Vec<(usize, usize)> {
    (0..x.nrows())
        .flat_map(|i| (0..x.ncols()).map(move |k| (i, k)))
        .filter(|(i, k)| x.get(*i, *k) != 0.0)
        .collect()
}

/// D − Aᵀ(AAᵀ)⁺AD on the support, one row of A for every equation x_a·d_b + x_b·d_a = 0.
fn slow_tangent(x: &RowMat, d: &RowMat) -> RowMat {
    let (s, r) = (support(x), x.ncols());
    let pairs: Vec<(usize, usize)> = (0..r).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
    let a = RowMat::from_fn(pairs.len(), s.len(), |e, j| {
        let ((a, b), (i, k)) = (pairs[e], s[j]);
        let one = |from: usize, to: usize| if k == to { x.get(i, from) } else { 0.0 };
        one(a, b) + one(b, a)
    });
    let product = |p: usize, q: usize| a.row(p).iter().zip(a.row(q)).map(|(u, v)| u * v).sum();
    let aat = RowMat::from_fn(pairs.len(), pairs.len(), product);
    let inverse = spectral_function(&aat, |w| if w > 1e-10 { 1.0 / w } else { 0.0 }).unwrap();
    let ad: Vec<f64> = (0..pairs.len())
        .map(|e| s.iter().enumerate().map(|(j, (i, k))| a.get(e, j) * d.get(*i, *k)).sum())
        .collect();
    let mut out = RowMat::zeros(x.nrows(), r);
    for (j, (i, k)) in s.iter().enumerate() {
        let normal: f64 = (0..pairs.len())
            .map(|e| a.get(e, j) * (0..pairs.len()).map(|q| inverse.get(e, q) * ad[q]).sum::<f64>())
            .sum();
        out.set(*i, *k, d.get(*i, *k) - normal);
    }
    out
}

fn distance(a: &RowMat, b: &RowMat) -> f64 {
    a.data().iter().zip(b.data()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn fast_tangent(x: &RowMat, d: &RowMat) -> RowMat {
    let pattern = Pattern::of(x);
    let (mut out, mut lambda) = (d.clone(), RowMat::zeros(x.ncols(), x.ncols()));
    pattern.tangent(x, &pattern.diagonal(x), 1e-14, &mut out, &mut lambda);
    out
}

#[test]
fn tangent_projection_is_that_of_the_slow_twin() {
    for (n, r, density, seed) in
        [(30, 4, 0.5, 1), (40, 6, 0.3, 2), (12, 3, 0.9, 3), (300, 5, 0.1, 4), (8, 1, 0.5, 5)]
    {
        let (x, d) = (sparse_point(n, r, density, seed), gaussian(n, r, seed + 9));
        let (fast, slow) = (fast_tangent(&x, &d), slow_tangent(&x, &d));
        assert!(distance(&fast, &slow) <= 1e-9 * d.norm(), "{n} {r} {density}: {:e}", distance(&fast, &slow));
        assert!(fast.data().iter().zip(x.data()).all(|(v, x)| *x != 0.0 || *v == 0.0));
    }
}

#[test]
fn on_a_full_pattern_it_is_the_tangent_space_of_the_manifold() {
    let x = stiefel::orthonormalise(&gaussian(20, 5, 1));
    let d = gaussian(20, 5, 2);
    assert!(distance(&fast_tangent(&x, &d), &stiefel::tangent(&x, &d)) <= 1e-13 * d.norm());
}

#[test]
fn columns_without_a_common_row_ask_for_nothing() {
    // block columns: only their lengths are constrained, the system for Λ is singular
    let x = RowMat::from_fn(12, 3, |i, k| if i / 4 == k { 0.5 } else { 0.0 });
    let d = gaussian(12, 3, 3);
    assert!(distance(&fast_tangent(&x, &d), &slow_tangent(&x, &d)) <= 1e-13 * d.norm());
}

/// Linear systems count as work, with either way of multiplying: limits of work depend on it.
#[test]
fn systems_count_as_work() {
    for density in [0.1, 0.6] {
        let (x, d) = (sparse_point(200, 6, density, 41), gaussian(200, 6, 42));
        let ((), work) = work::counted(|| drop(fast_tangent(&x, &d)));
        // the right-hand side, the first residual and a step of conjugate gradients at the least, and the end
        let least = 4 * support(&x).len() * 6;
        assert!(work >= least as u64, "{density}: {work} {least}");
    }
}

#[test]
fn restoring_is_quadratic_where_the_plain_iteration_is_slow() {
    let x = sparse_point(80, 8, 0.3, 7);
    let mut near = x.clone();
    let noise = gaussian(80, 8, 8);
    near.data_mut()
        .iter_mut()
        .zip(noise.data())
        .filter(|(v, _)| **v != 0.0)
        .for_each(|(v, e)| *v += 0.02 * e);
    let pattern = Pattern::of(&near);
    let mut fast = near.clone();
    let error = pattern.restore(&mut fast, &pattern.diagonal(&near), 1e-13);
    assert!(error <= 1e-13 && stiefel::feasibility(&fast) <= 2e-13);
    assert_eq!(support(&fast), support(&near));
    // X ← X − ½X(XᵀX − I) on the support, as often as Newton's method may at most
    let mut plain = near.clone();
    for _ in 0..12 {
        let mut e = orthopt_linalg::products::gram(&plain);
        (0..8).for_each(|k| e.set(k, k, e.get(k, k) - 1.0));
        let mut step = RowMat::zeros(80, 8);
        orthopt_linalg::products::product(&mut step, false, 0.5, plain.as_mat(), e.as_mat());
        let entries = plain.data_mut().iter_mut().zip(step.data());
        entries.filter(|(v, _)| **v != 0.0).for_each(|(v, s)| *v -= s);
    }
    assert!(stiefel::feasibility(&plain) > 1e-8, "{:e}", stiefel::feasibility(&plain));
}

#[test]
fn a_pattern_without_orthonormal_matrices_is_reported() {
    let mut z = RowMat::from_fn(5, 2, |i, _| f64::from(u8::from(i == 2))); // two columns, one common row
    let pattern = Pattern::of(&z);
    let diagonal = pattern.diagonal(&z);
    assert!(pattern.restore(&mut z, &diagonal, 1e-12) > 0.1);
}

/// −½xᵀCx with a C of rank 30 in 20 variables.
fn quadratic(n: usize) -> (DenseQuadratic, RowMat) {
    let a = gaussian(30, n, 11);
    let c = orthopt_linalg::products::gram(&a);
    (DenseQuadratic::negative(c.as_mat()).unwrap(), c)
}

#[test]
fn the_gain_of_an_entry_is_exact_for_one_column() {
    let (f, c) = quadratic(20);
    let h = L0::new(2.0).unwrap();
    let objective = Objective { f: &f, h: &h, kappa: 1.0, loose: super::descent::LOOSE };
    // the leading eigenvector of C on six rows
    let rows = [1, 4, 7, 8, 13, 17];
    let block = RowMat::from_fn(6, 6, |p, q| c.get(rows[p], rows[q]));
    let (_, vectors) = orthopt_linalg::small::symmetric_eigen(&block).unwrap();
    let mut x = RowMat::zeros(20, 1);
    rows.iter().enumerate().for_each(|(p, i)| x.set(*i, 0, vectors.get(p, 5)));
    let point = objective.at(x.clone());
    let diagonal: Vec<f64> = (0..20).map(|i| -c.get(i, i)).collect();
    let mut pace = Pace { step: 1e-3, lambda: RowMat::zeros(1, 1) };
    let moves = objective.moves(&point, &diagonal, &mut pace);
    let added: Vec<_> = moves.iter().filter(|m| x.get(m.row, 0) == 0.0 && m.value.abs() < 0.7).collect();
    assert!(added.len() >= 2, "an example in which nothing moves is none");
    for m in added {
        // F of cos θ x + sin θ e_i over a grid of angles
        let value = |t: f64| {
            let mut z = x.clone();
            z.data_mut().iter_mut().for_each(|v| *v *= t.cos());
            z.set(m.row, 0, t.sin());
            objective.at(z).value()
        };
        let best = (1..20_000)
            .map(|k| value(f64::from(k) * std::f64::consts::PI / 20_000.0))
            .fold(f64::INFINITY, f64::min);
        let gain = point.value() - best;
        assert!((gain - m.gain).abs() <= 1e-4 * (1.0 + gain), "row {}: {gain} promised {}", m.row, m.gain);
    }
}

#[test]
fn descent_and_revision_never_raise_f_and_stay_feasible() {
    fn check(h: impl Nonsmooth, density: f64) {
        let (f, c) = quadratic(40);
        let objective = Objective { f: &f, h: &h, kappa: 1.0, loose: super::descent::LOOSE };
        let diagonal: Vec<f64> = (0..40).map(|i| -c.get(i, i)).collect();
        let mut point = objective.at(sparse_point(40, 4, density, 21));
        let (mut pace, mut batch) = (Pace { step: 1e-3, lambda: RowMat::zeros(4, 4) }, Batch::default());
        let mut last = objective.of(&point);
        let first = last;
        for round in 0..30 {
            if round % 3 == 0 {
                objective.descend(&mut point, 10, 1e-8, &mut pace);
            } else {
                objective.revise(&mut point, &diagonal, &mut batch, &mut pace);
                batch = Batch::default();
            }
            assert!(
                objective.of(&point) <= last + 1e-12 * last.abs(),
                "round {round}: {last} {}",
                objective.of(&point)
            );
            last = objective.of(&point);
            let tight = point.tightened().expect("a pattern that admits XᵀX = I");
            assert!(stiefel::feasibility(&tight.x) <= 2e-13);
            assert_eq!(support(&tight.x), support(&point.x));
        }
        assert!(last < first - 0.05 * first.abs(), "{first} to {last}");
    }
    check(L0::new(0.5).unwrap(), 0.3);
    check(L1::new(2.0).unwrap(), 0.8);
}

/// With many components no support on the way may admit XᵀX = I: it continues from what X and its copy lead to otherwise,
/// not from X⁰ with all its entries.
#[test]
fn a_continuation_without_an_orthonormal_copy_ends_at_a_sparse_point() {
    let (n, r) = (60, 50);
    let p =
        PcaProblem::new(AnySmooth::Dense(quadratic(n).0), AnyPenalty::L0(L0::new(0.5).unwrap()), r).unwrap();
    for seed in [31, 32, 33] {
        let x0 = stiefel::orthonormalise(&gaussian(n, r, seed));
        let objective = Objective { f: &p.f, h: &p.h, kappa: 1.0, loose: super::descent::LOOSE };
        let options = SupportOptions::DEFAULT;
        let mut path = Continuation::new(objective, x0.clone(), options.rho0, options.growth);
        let end = loop {
            match path.step(objective) {
                Outcome::Going => {}
                end => break end,
            }
        };
        assert!(matches!(end, Outcome::Lost), "an example of what this is about");
        let solver = Support::new(options).unwrap();
        let mut state = solver.init(&p, x0).unwrap();
        let before = state.best.value();
        while matches!(state.phase, Phase::Continue(_)) {
            solver.step(&p, &mut state);
        }
        let nonzeros = support(&state.current.x).len();
        assert!(nonzeros <= n * r / 4, "{nonzeros} of {}", n * r);
        let after = state.best.value();
        assert!(after < before - 0.1 * before.abs(), "{before} {after}");
        assert!(stiefel::feasibility(&state.best.x) <= 1e-12);
    }
}
