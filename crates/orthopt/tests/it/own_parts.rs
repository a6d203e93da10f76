//! Solvers on an f, h, g and A that the library does not know.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

#[path = "../../examples/any_smooth.rs"]
mod any_smooth;
#[path = "../../examples/own_composite.rs"]
mod own_composite;
#[path = "../../examples/own_penalty.rs"]
mod own_penalty;
#[path = "../../examples/own_smooth.rs"]
mod own_smooth;

use crate::common::quartic::Quartic;
use crate::common::{gaussian, gaussian_rows, rng, sparse};
use orthopt::RowMat;
use orthopt::certify::criticality;
use orthopt::constraint::Signature;
use orthopt::constraint::{Constraint, JOrthogonal, Stiefel};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{L1, NoPenalty, Nonneg};
use orthopt::problem::Problem;
use orthopt::smooth::{AnySmooth, DenseGram, DenseQuadratic, JQuadratic, Quadratic, Smooth, SparseGram};
use orthopt::solve::{MaxIterations, RunOptions, Stationary, Stop, run};
use orthopt::solvers::obcd::{Obcd, ObcdOptions, WorkingSet};
use orthopt::solvers::{SolverInfo, SolverOptions, general};
use orthopt_core::constraint::stiefel;
use orthopt_core::smooth::two_sided::hyperbolic_optimum;
use orthopt_hyperbolic::jobcd::GS_JOBCD;

#[test]
fn the_examples_run() {
    own_smooth::main().unwrap();
    any_smooth::main().unwrap();
    own_penalty::main().unwrap();
    own_composite::main().unwrap();
}

fn start(n: usize, r: usize, seed: u64) -> RowMat {
    stiefel::random(n, r, &mut rng(seed))
}

/// Every solver that asks for no more than values and gradients lowers F of a quartic f, and those that
/// claim to converge end critical.
#[test]
fn all_general_solvers_take_any_f() {
    let quartic = Quartic((0..14).map(|i| f64::from(i % 5)).collect());
    let x0 = start(14, 3, 5);
    let none = Problem::new(quartic.clone(), NoPenalty, 3).unwrap();
    let l1 = Problem::new(quartic, L1::new(0.1).unwrap(), 3).unwrap();
    let (mut smooth, mut tried, mut critical) = (0, 0, 0);
    let most =
        || Stationary { tol: 1e-8 }.or(orthopt::solve::Critical { tol: 1e-7 }).or(MaxIterations(Some(6000)));
    for info in general::<Quartic, NoPenalty>() {
        // some are for X >= 0 only
        let Ok(solver) = info.build(&none, &SolverOptions::default()) else { continue };
        smooth += 1;
        let found = run(&none, &solver, x0.clone(), RunOptions::default(), &mut most(), &mut []).unwrap();
        assert!(found.objective.total < none.value(&x0) - 0.1, "{}: {}", info.name, found.objective.total);
        assert!(found.feasibility <= 1e-11, "{}", info.name);
        critical += usize::from(criticality(&none, &found.x) <= 1e-4);
    }
    for info in general::<Quartic, L1>() {
        let Ok(solver) = info.build(&l1, &SolverOptions::default()) else { continue };
        let found = run(&l1, &solver, x0.clone(), RunOptions::default(), &mut most(), &mut []).unwrap();
        assert!(found.objective.total < l1.value(&x0) - 0.1, "{}: {}", info.name, found.objective.total);
        assert!(found.feasibility <= 1e-11, "{}", info.name);
        tried += 1;
    }
    assert_eq!((tried, smooth, general::<Quartic, NoPenalty>().len()), (20, 26, 27));
    assert!(critical >= 13, "{critical} of 26 end critical");
}

/// A quartic that is NaN from some evaluation on.
struct Breaking(Quartic, AtomicU64);

impl Breaking {
    fn spoil(&self, v: &mut f64) {
        if self.1.fetch_sub(1, Ordering::Relaxed) <= 1 {
            self.1.store(1, Ordering::Relaxed);
            *v = f64::NAN;
        }
    }
}

impl Smooth for Breaking {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        let mut value = self.0.value(x);
        self.spoil(&mut value);
        value
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.0.gradient(x, g);
        g.data_mut().iter_mut().take(1).for_each(|v| self.spoil(v));
    }
}

/// The solvers that ran with a penalty.
fn broken_runs<H: Nonsmooth + Copy + 'static>(h: H, x0: &RowMat) -> BTreeSet<&'static str> {
    let mut ran = BTreeSet::new();
    for (info, after) in general::<Breaking, H>().iter().flat_map(|i| [1, 2, 12, 31].map(|k| (i, k))) {
        let f = Breaking(Quartic((0..9).map(f64::from).collect()), AtomicU64::new(after));
        let p = Problem::new(f, h, 2).unwrap();
        let Ok(solver) = info.build(&p, &SolverOptions::default()) else { continue };
        let mut stop = MaxIterations(Some(3000));
        let found = run(&p, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut []).unwrap();
        assert!(found.x.find_non_finite().is_none(), "{} {after}", info.name);
        assert!(found.feasibility <= 1e-6, "{} {after}: {:e}", info.name, found.feasibility);
        ran.insert(info.name);
    }
    ran
}

/// Whatever an f does, a run ends, and with a finite feasible X.
#[test]
fn an_f_that_breaks_ends_the_run() {
    let mut ran = broken_runs(NoPenalty, &start(9, 2, 1));
    let halves = RowMat::from_fn(9, 2, |i, k| match (i < 4, k == 0) {
        (true, true) => 0.5,
        (false, false) => 0.2f64.sqrt(),
        _ => 0.0,
    });
    ran.extend(broken_runs(Nonneg, &halves));
    let all: BTreeSet<_> = general::<Breaking, NoPenalty>().iter().map(|info| info.name).collect();
    assert_eq!(ran, all);
}

/// −½ tr(XᵀCX) with no more than a `Quadratic` must have, and the scale of C, by which α and tolerances are measured: with
/// another one local solutions differ.
struct Bare(DenseQuadratic);

impl Smooth for Bare {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.0.value(x)
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.0.gradient(x, g);
    }
    fn scale(&self, x: &RowMat) -> f64 {
        self.0.scale(x)
    }
}

impl Quadratic for Bare {
    type Image = RowMat; // X itself, so that every way of moving it is seen

    fn image(&self, x: &RowMat) -> RowMat {
        x.clone()
    }
    fn gradient_row<'a>(&'a self, kept: &'a RowMat, x: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
        let off = kept.data().iter().zip(x.data()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off <= 1e-12, "the image follows X: {off:e}");
        let row = self.0.apply(kept);
        buf.copy_from_slice(row.row(i));
        buf
    }
    fn curvature(&self, i: usize, j: usize) -> f64 {
        self.0.curvature(i, j)
    }
    fn move_pair<S: orthopt_linalg::simd::Simd>(
        &self,
        _simd: S,
        kept: &mut RowMat,
        i: usize,
        j: usize,
        di: &[f64],
        dj: &[f64],
    ) {
        kept.row_mut(i).iter_mut().zip(di).for_each(|(x, d)| *x += d);
        kept.row_mut(j).iter_mut().zip(dj).for_each(|(x, d)| *x += d);
    }
    fn apply(&self, v: &RowMat) -> RowMat {
        self.0.apply(v)
    }
}

#[test]
fn obcd_takes_any_quadratic_in_all_its_forms() {
    let a = gaussian(30, 9, 3);
    let c = a.transpose() * &a;
    let model = || DenseQuadratic::negative(c.as_ref()).unwrap();
    let own = Problem::new(Bare(model()), L1::new(3.0).unwrap(), 3).unwrap();
    let theirs = Problem::new(model(), L1::new(3.0).unwrap(), 3).unwrap();
    let forms = [
        ObcdOptions::default(),
        ObcdOptions { block: 5, ..Default::default() },
        ObcdOptions { jacobi: true, ..Default::default() },
        ObcdOptions { working_set: WorkingSet::GreedyOr, ..Default::default() },
    ];
    for options in forms {
        let obcd = Obcd::new(options.clone()).unwrap();
        let x0 = start(9, 3, 8);
        let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(100_000)));
        let ours = run(&own, &obcd, x0.clone(), RunOptions::default(), &mut stop, &mut []).unwrap();
        let known = run(&theirs, &obcd, x0, RunOptions::default(), &mut stop, &mut []).unwrap();
        let (f, g) = (ours.objective.total, known.objective.total);
        assert!((f - g).abs() <= 1e-6 * g.abs(), "{options:?}: {f} {g}");
    }
}

/// An image of another storage is as good as none.
#[test]
fn a_foreign_image_does_no_harm() {
    let a = gaussian(12, 6, 1);
    let c = a.transpose() * &a;
    let all = [
        AnySmooth::Dense(DenseQuadratic::negative(c.as_ref()).unwrap()),
        AnySmooth::DenseGram(DenseGram::new(a.as_ref())),
        AnySmooth::SparseGram(SparseGram::new(sparse(&a).as_ref(), None).unwrap()),
    ];
    let x = gaussian_rows(6, 2, 4);
    for (own, f) in all.iter().enumerate() {
        for (other, from) in all.iter().enumerate() {
            let mut image = from.image(&x);
            let mut g = RowMat::zeros(6, 2);
            f.gradient(&x, &mut g);
            let mut buf = [0.0; 2];
            let row = f.gradient_row(&image, &x, 3, &mut buf).to_vec();
            assert!(row.iter().zip(g.row(3)).all(|(a, b)| (a - b).abs() <= 1e-10), "{own} {other}");
            assert!((f.value_at(&image, &x) - f.value(&x)).abs() <= 1e-9);
            f.move_block(&mut image, &[1, 2], &RowMat::zeros(2, 2));
            assert!(!f.bookkeeping(&image).is_empty());
        }
    }
}

fn difference(a: &RowMat, b: &RowMat) -> f64 {
    a.data().iter().zip(b.data()).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// Tangent projections are idempotent and leave an error that is orthogonal to every tangent vector;
/// random points are feasible, and repair takes small errors off them.
fn check_constraint<C: Constraint>(c: &C, seed: u64) {
    let (n, r) = c.shape();
    let x = c.random(&mut rng(seed));
    c.check(&x, "X").unwrap();
    let (d, e) = (gaussian_rows(n, r, seed), gaussian_rows(n, r, seed + 50));
    let (pd, pe) = (c.tangent(&x, &d), c.tangent(&x, &e));
    assert!(difference(&c.tangent(&x, &pd), &pd) <= 1e-10 * (1.0 + pd.norm()));
    let error = RowMat::from_fn(n, r, |i, k| d.get(i, k) - pd.get(i, k));
    assert!(error.inner(&pe).abs() <= 1e-9 * (1.0 + error.norm() * pe.norm()));
    // along a tangent vector feasibility is lost to second order only
    let moved = |t: f64| RowMat::from_fn(n, r, |i, k| x.get(i, k) + t * pd.get(i, k) / pd.norm());
    assert!(c.feasibility(&moved(1e-4)) <= 1e-6);
    let mut near = moved(1e-4);
    assert!(c.repair(&mut near) <= 1e-12 && c.feasibility(&near) <= 1e-12);
    assert!(c.check(&RowMat::zeros(n, r), "X").is_err() && c.check(&RowMat::zeros(n + 1, r), "X").is_err());
}

#[test]
fn constraints_keep_their_word() {
    for seed in 0..5 {
        check_constraint(&Stiefel::new(7, 3).unwrap(), seed);
        for p in [0, 2, 6] {
            check_constraint(&JOrthogonal::new(Signature::leading(p, 6).unwrap()), seed);
        }
    }
    assert!(Stiefel::new(3, 4).is_err() && Stiefel::new(3, 0).is_err());
}

/// Pairs of rows of XᵀJX = J for an f that is ½tr(XᵀMX) itself, not in the enum of the registry.
#[test]
fn gs_jobcd_takes_what_is_two_sided() {
    let c = RowMat::from_fn(6, 6, |i, k| if i == k { 3.0 } else { 1.0 / (1 + i + k) as f64 });
    let j = Signature::leading(3, 6).unwrap();
    let f = JQuadratic::hyperbolic_eig(c.as_mat()).unwrap();
    let p = Problem::with_signature(f, j.clone()).unwrap();
    let info: SolverInfo<Problem<JOrthogonal, JQuadratic>> = orthopt_solvers::entry!(GS_JOBCD);
    let solver = info.build(&p, &SolverOptions::default()).unwrap();
    let x0 = p.constraint.random(&mut rng(3));
    let mut stop = Stationary { tol: 1e-10 };
    let found = run(&p, &solver, x0, RunOptions::default(), &mut stop, &mut []).unwrap();
    let (known, _) = hyperbolic_optimum(c.as_mat(), &j).unwrap();
    assert!((found.objective.total - known).abs() <= 1e-8 * known, "{} {known}", found.objective.total);
}
