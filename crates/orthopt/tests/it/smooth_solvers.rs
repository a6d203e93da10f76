//! OptM and FOForth: the curves against their definitions, the same minimum for all, and plain PCA.

use crate::common::Steps;
use crate::common::*;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::Family;
use orthopt::family::NONLINEAR_EIG_SOLVERS as NONLINEAR;
use orthopt::penalty::NoPenalty;
use orthopt::problem::NonlinearEigProblem;
use orthopt::problem::{PcaData, Problem, Storage};
use orthopt::smooth::{DenseQuadratic, NonlinearEig, Quadratic, Smooth};
use orthopt::solve::{Critical, MaxIterations, Solution, Solver, Status, Stop, run};
use orthopt::solvers::{SOLVERS, SolverInfo, SolverOptions};
use orthopt::{Error, solve::RunOptions};
use orthopt_core::constraint::stiefel;
use orthopt_linalg::products::cross;
use orthopt_linalg::products::product;
use orthopt_linalg::small::symmetric_eigen;
use orthopt_solvers::curvilinear::Curve;
use orthopt_solvers::curvilinear::CurveOptions;
use orthopt_solvers::curvilinear::Curvilinear;
use orthopt_solvers::curvilinear::Iterate;
use orthopt_solvers::curvilinear::foforth_gr::FoforthGr;
use orthopt_solvers::curvilinear::foforth_p::FoforthP;
use orthopt_solvers::curvilinear::foforth_qr::FoforthQr;
use orthopt_solvers::curvilinear::optm_cayley::Cayley;
use orthopt_solvers::curvilinear::optm_qr::Qr;
use proptest::prelude::*;

const NAMES: [&str; 5] = ["optm-qr", "optm-cayley", "foforth-gr", "foforth-p", "foforth-qr"];

fn info<P>(list: &'static [SolverInfo<P>], name: &str) -> &'static SolverInfo<P> {
    list.iter().find(|s| s.name == name).unwrap()
}

/// G − XGᵀX.
fn gradient_of(f: &impl Smooth, x: &RowMat) -> RowMat {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    f.gradient(x, &mut g);
    let gtx = cross(&g, x);
    let mut d = g;
    product(&mut d, true, -1.0, x.as_mat(), gtx.as_mat());
    d
}

fn minimise(p: &NonlinearEigProblem, name: &str, x0: RowMat, tol: f64, most: u64) -> Solution {
    let solver = info(NONLINEAR, name).build(p, &SolverOptions::default()).unwrap();
    let mut stop = Critical { tol }.or(MaxIterations(Some(most)));
    run(p, &solver, x0, limits(most, 0), &mut stop, &mut []).unwrap()
}

#[test]
fn all_reach_the_same_minimum_on_the_laplacian() {
    for (n, r, alpha) in [(60, 5, 1.0), (100, 8, 10.0), (80, 4, 100.0)] {
        let p = Problem::new(NonlinearEig::laplacian_1d(n, alpha).unwrap(), NoPenalty, r).unwrap();
        let x0 = p.start("random", 2).unwrap();
        let found: Vec<Solution> =
            NAMES.iter().map(|name| minimise(&p, name, x0.clone(), 1e-11, 5000)).collect();
        let lowest = found.iter().map(|s| s.objective.total).fold(f64::INFINITY, f64::min);
        for (name, s) in NAMES.iter().zip(&found) {
            let value = s.objective.total;
            assert!((value - lowest).abs() <= 1e-8 * lowest.abs(), "{name}, alpha {alpha}: {value} {lowest}");
            let gradient = gradient_of(&p.f, &s.x).norm();
            assert!(gradient <= 1e-6, "{name}, alpha {alpha}: gradient {gradient:e}");
            assert!(s.feasibility <= 1e-12);
            assert_eq!(s.solver, *name);
        }
    }
}

#[test]
fn grids_and_dense_matrices_and_linear_terms_end_critical() {
    let c = gaussian(30, 20, 3);
    let models = [
        NonlinearEig::laplacian_2d(5, 6, 5.0).unwrap(),
        NonlinearEig::laplacian_1d(30, 5.0).unwrap().with_linear(gaussian_rows(30, 4, 4)).unwrap(),
        NonlinearEig::dense((c.transpose() * &c).as_ref(), 1.0)
            .unwrap()
            .with_linear(gaussian_rows(20, 4, 5))
            .unwrap(),
    ];
    for (k, f) in models.into_iter().enumerate() {
        let p = Problem::new(f, NoPenalty, 4).unwrap();
        for name in NAMES {
            let s = minimise(&p, name, p.start("random", 3).unwrap(), 1e-9, 20_000);
            assert_eq!(s.status, Status::Converged, "{name} on model {k}: {}", s.message);
            assert!(
                p.criticality(&s.x, &Cancel::never()).unwrap() <= 1e-6 * (1.0 + s.objective.total.abs()),
                "{name} on model {k}"
            );
            let corrects = s.settings.get("correction");
            assert_eq!(corrects.is_some(), name.starts_with("foforth"));
            if let Some(corrects) = corrects {
                assert_eq!(*corrects, (k > 0).into(), "the correction needs a linear term");
            }
        }
    }
}

#[test]
fn plain_pca_ends_at_half_the_sum_of_the_leading_eigenvalues() {
    let a = gaussian(50, 30, 7);
    let thin = thinned(50, 30, 0.3, 8);
    let thin = sparse(&thin);
    let data = [
        (PcaData::Dense(a.as_ref()), Storage::Dense),
        (PcaData::Dense(a.as_ref()), Storage::Gram),
        (PcaData::Sparse(thin.as_ref(), None), Storage::Gram),
        (PcaData::Sparse(thin.as_ref(), Some(means(&thin))), Storage::Gram),
    ];
    for (data, storage) in &data {
        let p = orthopt::family::pca_problem("pca", data, 4, 0.0, *storage).unwrap();
        let m = p.f.apply(&RowMat::from_fn(30, 30, |i, j| f64::from(u8::from(i == j))));
        let (values, _) = symmetric_eigen(&m).unwrap();
        let best = 0.5 * values[..4].iter().sum::<f64>(); // of M = −C, ascending
        for name in NAMES {
            let solver = info(SOLVERS, name).build(&p, &SolverOptions::default()).unwrap();
            let mut stop = Critical { tol: 1e-9 }.or(MaxIterations(Some(5000)));
            let s =
                run(&p, &solver, p.start("random", 1).unwrap(), limits(5000, 0), &mut stop, &mut []).unwrap();
            assert_eq!(s.status, Status::Converged, "{name}: {}", s.message);
            assert!(
                (s.objective.total - best).abs() <= 1e-10 * best.abs(),
                "{name}: {} {best}",
                s.objective.total
            );
        }
    }
}

/// The span of coordinates can be invariant under C; methods with full gradients never leave it.
#[test]
fn the_default_start_of_plain_pca_is_no_saddle_point() {
    let c = faer::Mat::from_fn(12, 12, |i, j| if i == j { (i + 1) as f64 } else { 0.0 });
    let p = orthopt::family::pca_problem("pca", &PcaData::Gram(c.as_ref()), 3, 0.0, Storage::Auto).unwrap();
    let reached = |start: &str, name: &str| {
        let solver = info(SOLVERS, name).build(&p, &SolverOptions::default()).unwrap();
        let mut stop = Critical { tol: 1e-9 }.or(MaxIterations(Some(5000)));
        let x0 = p.start(start, 1).unwrap();
        run(&p, &solver, x0, limits(5000, 0), &mut stop, &mut []).unwrap().objective.total
    };
    for name in NAMES {
        assert_eq!(reached("identity", name), -3.0, "{name}: 1 + 2 + 3, halved");
        let f = reached(p.recipe().default_start, name);
        assert!((f + 16.5).abs() <= 1e-10, "{name}: {f}, not 12 + 11 + 10, halved");
    }
}

fn quadratic(n: usize, r: usize, seed: u64) -> DenseQuadratic {
    let m = gaussian(n, n, seed);
    DenseQuadratic::new((&m + m.transpose()).as_ref())
        .unwrap()
        .with_linear(gaussian_rows(n, r, seed + 1))
        .unwrap()
}

/// (X(τ) − X)/τ → −`velocity`, and X(τ) stays on the manifold for large τ too.
fn check_curve<C: Curve>(velocity: impl Fn(&Iterate) -> RowMat) {
    for (n, r, seed) in [(12, 3, 1), (5, 4, 2), (4, 4, 3), (9, 1, 4)] {
        let f = quadratic(n, r, seed);
        let at = Iterate::new(&f, stiefel::random(n, r, &mut rng(seed)));
        let prepared = C::prepare(&at);
        let v = velocity(&at);
        let error = |tau: f64| {
            let x = C::point(&at, &prepared, tau).unwrap();
            assert!(stiefel::feasibility(&x) <= 1e-13, "{} {n} {r}", C::INFO.name);
            let change =
                x.data().iter().zip(at.x.data()).zip(v.data()).map(|((x, o), v)| (x - o + tau * v).powi(2));
            change.sum::<f64>().sqrt()
        };
        // second order in τ, unless the curve is a straight line up to rounding
        let (one, ten) = (error(1e-4), error(1e-3));
        assert!(ten <= 1e-12 || (ten / one).log10() > 1.8, "{} {n} {r}: {one:e} {ten:e}", C::INFO.name);
        for tau in [0.1, 10.0, 1e4] {
            let x = C::point(&at, &prepared, tau).unwrap();
            assert!(
                stiefel::feasibility(&x) <= 1e-11,
                "{} at {tau}: {:e}",
                C::INFO.name,
                stiefel::feasibility(&x)
            );
        }
    }
}

#[test]
fn curves_start_along_their_directions() {
    let canonical = |at: &Iterate| at.d.clone();
    let tangent = |at: &Iterate| stiefel::tangent(&at.x, &at.g);
    let normal_part = |at: &Iterate| {
        let mut out = at.g.clone();
        product(&mut out, true, -1.0, at.x.as_mat(), at.a.as_mat());
        out
    };
    check_curve::<Qr>(canonical); // XᵀD is skew, so R = I + O(τ²)
    check_curve::<FoforthQr>(canonical);
    check_curve::<Cayley>(canonical);
    check_curve::<FoforthP>(tangent);
    check_curve::<FoforthGr>(normal_part);
}

#[test]
fn the_low_rank_cayley_form_is_the_transform_itself() {
    for (n, r) in [(11, 3), (9, 4), (7, 1)] {
        let f = quadratic(n, r, 6);
        let at = Iterate::new(&f, stiefel::random(n, r, &mut rng(8)));
        let tau = 0.3;
        let fast = Cayley::point(&at, &Cayley::prepare(&at), tau).unwrap();
        // (I + τ/2 W)⁻¹(I − τ/2 W)X with W = GXᵀ − XGᵀ
        let (x, g) = (at.x.to_mat(), at.g.to_mat());
        let w = &g * x.transpose() - &x * g.transpose();
        let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
        let plus = faer::Mat::from_fn(n, n, |i, j| unit(i, j) + 0.5 * tau * w[(i, j)]);
        let minus = faer::Mat::from_fn(n, n, |i, j| unit(i, j) - 0.5 * tau * w[(i, j)]);
        // plus · fast = minus · x
        let gap = &plus * fast.to_mat() - &minus * &x;
        assert!(gap.norm_l2() <= 1e-12 * (1.0 + w.norm_l2()), "{n} {r}: {:e}", gap.norm_l2());
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// Feasible at every iterate, f as reported, monotone where γ = 0, and the correction leaves
    /// XᵀE symmetric and negative semidefinite.
    #[test]
    fn iterates_keep_what_is_promised(seed in 0u64..1000, n in 2usize..20, r in 1usize..6, which in 0usize..5, monotone: bool) {
        fn check<C: Curve>(n: usize, r: usize, seed: u64, monotone: bool) -> Result<(), TestCaseError> {
            let e = gaussian_rows(n, r, seed + 1);
            let p = Problem::new(quadratic(n, r, seed), NoPenalty, r).unwrap();
            let gamma = if monotone { 0.0 } else { 0.85 };
            let solver = Curvilinear::<C>::new(CurveOptions { gamma, ..Default::default() }).unwrap();
            let mut state = solver.init(&p, stiefel::random(n, r, &mut rng(seed))).unwrap();
            let mut last = f64::INFINITY;
            for _ in 0..60 {
                let info = solver.steps(&p, &mut state, 1);
                let x = solver.point(&p, &state);
                prop_assert!(stiefel::feasibility(x) <= 1e-12);
                prop_assert!((p.value(x) - info.objective).abs() <= 1e-12 * (1.0 + info.objective.abs()));
                prop_assert!(!monotone || info.objective <= last + 1e-12 * (1.0 + last.abs()));
                last = info.objective;
                if info.ended.is_some() {
                    break;
                }
                if C::CORRECTS {
                    let s = cross(x, &e);
                    for k in 0..r {
                        prop_assert!(s.get(k, k) <= 1e-10 * e.norm());
                        (0..k).for_each(|l| assert!((s.get(k, l) - s.get(l, k)).abs() <= 1e-10 * e.norm()));
                    }
                }
            }
            let x = solver.finish(&p, state).x;
            prop_assert!(stiefel::feasibility(&x) <= 1e-12 && p.value(&x) <= last + 1e-10 * (1.0 + last.abs()));
            Ok(())
        }
        let r = r.min(n);
        match which {
            0 => check::<Qr>(n, r, seed, monotone)?,
            1 => check::<Cayley>(n, r, seed, monotone)?,
            2 => check::<FoforthGr>(n, r, seed, monotone)?,
            3 => check::<FoforthP>(n, r, seed, monotone)?,
            _ => check::<FoforthQr>(n, r, seed, monotone)?,
        }
    }
}

#[test]
fn does_not_depend_on_steps_or_threads() {
    let p = Problem::new(NonlinearEig::laplacian_1d(300, 10.0).unwrap(), NoPenalty, 12).unwrap();
    for name in NAMES {
        let go = |budget: u64| {
            let solver = info(NONLINEAR, name).build(&p, &SolverOptions::default()).unwrap();
            let mut state = solver.init(&p, p.start("random", 4).unwrap()).unwrap();
            let mut made = 0;
            while made < 40 {
                made += solver.steps(&p, &mut state, budget.min(40 - made)).iterations;
            }
            solver.finish(&p, state).x
        };
        let one = go(1);
        assert_eq!(one, go(7), "{name}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(one, pool.install(|| go(40)), "{name}");
    }
}

#[test]
fn a_critical_start_ends_at_once_and_a_zero_objective_too() {
    let zero =
        Problem::new(DenseQuadratic::new(faer::Mat::<f64>::zeros(6, 6).as_ref()).unwrap(), NoPenalty, 2)
            .unwrap();
    let solver = Curvilinear::<Qr>::new(CurveOptions::default()).unwrap();
    let x0 = stiefel::random(6, 2, &mut rng(1));
    let mut stop = MaxIterations(Some(10));
    let s = run(&zero, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut []).unwrap();
    assert_eq!(s.status, Status::Converged);
    assert_eq!(s.objective.total, 0.0);
}

#[test]
fn penalties_and_bad_constants_are_refused() {
    for name in NAMES {
        for problem_name in ["l0-pca", "l1-pca", "nonneg-pca"] {
            let p = problem(problem_name, 1.0, 6, 2, 1);
            let error = info(SOLVERS, name).build(&p, &SolverOptions::default()).err().unwrap();
            assert_eq!(error.to_string(), format!("solver {name} is for problems without a penalty (pca)"));
        }
        let mut options = SolverOptions::default();
        options.constants.insert(format!("{name}-eta"), 1.0);
        let error = info(SOLVERS, name).build(&problem("pca", 0.0, 6, 2, 1), &options).err().unwrap();
        assert!(matches!(error, Error::InvalidOption { option, .. } if option == format!("{name}-eta")));
    }
    let l1 = problem("l1-pca", 1.0, 6, 2, 1);
    let solver = Curvilinear::<Cayley>::new(CurveOptions::default()).unwrap();
    let x0 = stiefel::random(6, 2, &mut rng(1));
    assert!(matches!(solver.init(&l1, x0).err(), Some(Error::Incompatible(_))));
}
