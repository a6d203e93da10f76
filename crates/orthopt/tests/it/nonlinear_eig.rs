//! The nonlinear eigenvalue problem: the model against dense twins, and the two pairwise solvers.

use crate::common::Steps;
use crate::common::nonlinear::{chain, gram_of, grid, models, random_point};
use crate::common::*;
use faer::Mat;
use orthopt::Error;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::family::Effort;
use orthopt::family::NONLINEAR_EIG_SOLVERS as SOLVERS;
use orthopt::family::{Family, Request};
use orthopt::penalty::NoPenalty;
use orthopt::problem::NonlinearEigProblem;
use orthopt::smooth::{HessianVector, NonlinearEig, Smooth};
use orthopt::solve::{MaxIterations, Solution, Solver, Stationary, Status, Stop, Stopping, run};
use orthopt::solvers::NonlinearObcd;
use orthopt::solvers::SolverOptions;
use orthopt::solvers::obcd::CircleSearch;
use orthopt::solvers::obcd::{ObcdOptions, WorkingSet};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;
use orthopt_core::smooth::central_difference;
use proptest::prelude::*;
use rand::RngExt;

#[test]
fn gradient_is_the_derivative_on_a_log_log_slope() {
    for (name, f) in models(3) {
        let (x, d) = (gaussian_rows(12, 3, 3), gaussian_rows(12, 3, 4));
        let mut g = RowMat::zeros(12, 3);
        f.gradient(&x, &mut g);
        let error = |t: f64| {
            let moved = RowMat::from_fn(12, 3, |i, k| x.get(i, k) + t * d.get(i, k));
            (f.value(&moved) - f.value(&x) - t * g.inner(&d)).abs()
        };
        let slope = (error(1e-2) / error(1e-3)).log10();
        assert!((slope - 2.0).abs() <= 0.2, "{name}: the Taylor error falls with the power {slope}");
        let mut again = RowMat::zeros(12, 3);
        let value = f.value_and_gradient(&x, &mut again);
        assert!(again == g && (value - f.value(&x)).abs() <= 1e-13 * value.abs());
    }
}

/// Products with the Hessian beside central differences of the gradient, of every model; trust-region ends where lbfgs does.
#[test]
fn hessian_is_the_derivative_of_the_gradient() {
    for (name, f) in models(3) {
        let (x, d) = (gaussian_rows(12, 3, 3), gaussian_rows(12, 3, 4));
        let (exact, near) = (f.hessian_vector(&x, &d), central_difference(&f, &x, &d));
        let apart = RowMat::from_fn(12, 3, |i, k| exact.get(i, k) - near.get(i, k)).norm();
        assert!(f.has_hessian() && apart <= 1e-8 * exact.norm(), "{name}: {apart} of {}", exact.norm());
    }
    let p = problem(NonlinearEig::laplacian_1d(30, 10.0).unwrap(), 3);
    let stopping = Stopping { max_iters: Some(2000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let [newton, other] = ["trust-region", "lbfgs"].map(|solver| {
        let start = Some(Start::named("eigen"));
        let wanted =
            Request { solver: Some(solver.into()), init: start.map(Into::into), ..Default::default() };
        p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, Some(0), &Cancel::never(), &mut []).unwrap()
    });
    assert!(matches!(newton.status, Status::Converged), "{:?}", newton.message);
    let (f, g) = (newton.objective.total, other.objective.total);
    assert!((f - g).abs() <= 1e-9 * g.abs(), "{f} and {g}");
}

#[test]
fn laplacians_are_their_dense_twins() {
    let cases = [
        (NonlinearEig::laplacian_1d(17, 2.0).unwrap(), chain(17)),
        (NonlinearEig::laplacian_1d(1, 2.0).unwrap(), chain(1)),
        (NonlinearEig::laplacian_2d(5, 4, 2.0).unwrap(), grid(5, 4)),
        (NonlinearEig::laplacian_2d(1, 6, 2.0).unwrap(), {
            let mut c = chain(6);
            (0..6).for_each(|i| c[(i, i)] = 4.0);
            c
        }),
    ];
    for (fast, c) in cases {
        let (n, r) = (c.nrows(), c.nrows().min(3));
        let slow = NonlinearEig::dense(c.as_ref(), 2.0).unwrap();
        let x = gaussian_rows(n, r, 6);
        assert!((fast.value(&x) - slow.value(&x)).abs() <= 1e-11 * slow.value(&x).abs());
        let (mut a, mut b) = (RowMat::zeros(n, r), RowMat::zeros(n, r));
        fast.gradient(&x, &mut a);
        slow.gradient(&x, &mut b);
        a.data().iter().zip(b.data()).for_each(|(a, b)| assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs())));
        for i in 0..n {
            for j in 0..n {
                assert_eq!(fast.curvature(i, j), c[(i, j)]);
                assert!(
                    (fast.inverse(i, j) - slow.inverse(i, j)).abs()
                        <= 1e-11 * (1.0 + slow.inverse(i, j).abs())
                );
            }
        }
        let (u, v) = (fast.lowest_eigenvectors(r), slow.lowest_eigenvectors(r));
        assert!(stiefel::feasibility(&u) <= 1e-12);
        let energy = |x: &RowMat| NonlinearEig::dense(c.as_ref(), 0.0).unwrap().value(x);
        assert!((energy(&u) - energy(&v)).abs() <= 1e-12 * (1.0 + energy(&v)));
    }
}

#[test]
fn sparse_laplacians_are_recognised_and_nothing_else() {
    let sparse_of = |c: &Mat<f64>| sparse(c);
    let keeps = |c: &Mat<f64>| NonlinearEig::sparse(sparse_of(c).as_ref(), 2.0).unwrap().bookkeeping();
    assert_eq!(keeps(&chain(7)), "1-D Laplacian, tridiagonal");
    assert_eq!(keeps(&chain(1)), "1-D Laplacian, tridiagonal");
    for (p, q) in [(3, 4), (4, 3), (2, 2), (5, 1)] {
        assert_eq!(keeps(&grid(p, q)), format!("2-D Laplacian of a {p} x {q} grid"));
    }
    let dense = "dense C, C† by an eigendecomposition";
    for (i, j, v) in [(0, 0, 2.5), (3, 3, 0.0), (5, 5, 3.0)] {
        for mut c in [chain(12), grid(3, 4)] {
            c[(i, j)] = v;
            assert_eq!(keeps(&c), dense);
        }
    }
    for (i, j, v) in [(1, 2, -2.0), (0, 7, 1.0), (3, 4, -1.0)] {
        let mut c = grid(3, 4); // entries 3 and 4 are in different rows of the grid
        (c[(i, j)], c[(j, i)]) = (v, v);
        assert_eq!(keeps(&c), dense);
    }
    // the same f either way
    let mut c = grid(3, 4);
    c[(0, 0)] = 5.0;
    let (a, b) = (NonlinearEig::sparse(sparse_of(&c).as_ref(), 2.0), NonlinearEig::dense(c.as_ref(), 2.0));
    let x = gaussian_rows(12, 3, 2);
    assert_eq!(a.unwrap().value(&x), b.unwrap().value(&x));
    let mut skew = chain(4);
    skew[(0, 1)] = 1.0;
    assert!(matches!(NonlinearEig::sparse(sparse_of(&skew).as_ref(), 1.0), Err(Error::NotSymmetric { .. })));
    let wide = gaussian(3, 4, 1);
    assert!(matches!(NonlinearEig::sparse(sparse_of(&wide).as_ref(), 1.0), Err(Error::Shape { .. })));
    assert!(NonlinearEig::laplacian_2d(1, 9000, 1.0).is_err());
}

#[test]
fn a_grid_too_large_for_pairs_has_the_smooth_solvers() {
    let p = problem(NonlinearEig::laplacian_2d(130, 130, 1.0).unwrap(), 2);
    let fits: Vec<&str> = SOLVERS.iter().filter(|s| (s.handles)(&p)).map(|s| s.name).collect();
    assert_eq!(
        fits,
        ["lbfgs", "optm-qr", "optm-cayley", "foforth-gr", "foforth-p", "foforth-qr", "trust-region"]
    );
    assert!(p.block_stationarity(&p.start("random", 1).unwrap(), Scope::All, &Cancel::never()).is_none());
}

#[test]
fn a_singular_c_gets_its_pseudoinverse() {
    let c = gram_of(4, 9, 7);
    let f = NonlinearEig::dense(c.as_ref(), 1.0).unwrap();
    let inverse = Mat::from_fn(9, 9, |i, j| f.inverse(i, j));
    let near = |a: &Mat<f64>, b: &Mat<f64>| (a - b).norm_l2() <= 1e-9 * b.norm_l2();
    assert!(near(&(&c * &inverse * &c), &c));
    assert!(near(&(&inverse * &c * &inverse), &inverse));
}

#[test]
fn the_image_follows_the_moves() {
    for (name, f) in models(3) {
        let mut x = random_point(12, 3, 9);
        let mut image = f.image(&x);
        let mut numbers = rng(10);
        for _ in 0..50 {
            let i = numbers.random_range(0..12);
            let delta: Vec<f64> = (0..3).map(|_| normal(&mut numbers)).collect();
            x.row_mut(i).iter_mut().zip(&delta).for_each(|(x, d)| *x += d);
            let row = x.row(i).to_vec();
            f.move_row(&mut image, i, &delta, &row);
        }
        let (kept, fresh) = (f.value_at(&image, &x), f.value(&x));
        assert!((kept - fresh).abs() <= 1e-11 * fresh.abs(), "{name}: {kept} {fresh}");
        let (mut row, mut g) = (vec![0.0; 3], RowMat::zeros(12, 3));
        f.gradient(&x, &mut g);
        f.gradient_row(&image, &x, 5, &mut row);
        row.iter().zip(g.row(5)).for_each(|(a, b)| assert!((a - b).abs() <= 1e-10 * g.norm(), "{name}"));
    }
}

fn problem(f: NonlinearEig, r: usize) -> NonlinearEigProblem {
    NonlinearEigProblem::new(f, NoPenalty, r).unwrap()
}

fn obcd(
    p: &NonlinearEigProblem,
    search: CircleSearch,
    options: ObcdOptions,
    tol: f64,
    most: u64,
) -> Solution {
    let solver = NonlinearObcd::new(search, ObcdOptions { tol, ..options }).unwrap();
    let mut stop = Stationary { tol }.or(MaxIterations(Some(most)));
    run(p, &solver, p.start("random", 1).unwrap(), limits(most, 0), &mut stop, &mut []).unwrap()
}

#[test]
fn pairs_end_block_2_stationary_and_critical() {
    for (name, f) in models(3) {
        let p = problem(f, 3);
        for search in [CircleSearch::Exact, CircleSearch::FifthOrder] {
            let s = obcd(&p, search, ObcdOptions::default(), 1e-12, 3_000_000);
            assert_eq!(s.status, Status::Converged, "{name} {search:?}: {}", s.message);
            assert!(s.feasibility <= 1e-12);
            let scale = 1.0 + s.objective.total.abs();
            assert!(
                p.criticality(&s.x, &Cancel::never()).unwrap() <= 1e-4 * scale,
                "{name} {search:?}: {:e}",
                p.criticality(&s.x, &Cancel::never()).unwrap()
            );
            if search == CircleSearch::Exact {
                let certificate = p.block_stationarity(&s.x, Scope::All, &Cancel::never()).unwrap();
                assert!(certificate.holds(1e-11 * scale), "{name}: {certificate:?}");
                let sample = p
                    .block_stationarity(&s.x, Scope::Sample { pairs: 40, seed: 3 }, &Cancel::never())
                    .unwrap();
                assert!(sample.pairs_checked == 40 && sample.max_decrease <= certificate.max_decrease);
            }
        }
    }
}

#[test]
fn all_working_sets_reach_a_critical_point() {
    let p = problem(NonlinearEig::laplacian_1d(20, 5.0).unwrap(), 4);
    for working_set in [WorkingSet::Random, WorkingSet::Cyclic, WorkingSet::GreedySv, WorkingSet::GreedyOr] {
        let options = ObcdOptions { working_set, ..Default::default() };
        let s = obcd(&p, CircleSearch::Exact, options, 1e-11, 3_000_000);
        assert_eq!(s.status, Status::Converged, "{working_set:?}: {}", s.message);
        assert!(
            p.criticality(&s.x, &Cancel::never()).unwrap() <= 1e-3,
            "{working_set:?}: {:e}",
            p.criticality(&s.x, &Cancel::never()).unwrap()
        );
    }
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn every_move_lowers_f_and_keeps_x_orthonormal(seed in 0u64..1000, which in 0usize..5, approx: bool) {
        let (name, f) = models(3).swap_remove(which);
        let p = problem(f, 3);
        let search = if approx { CircleSearch::FifthOrder } else { CircleSearch::Exact };
        let solver = NonlinearObcd::new(search, ObcdOptions { seed, ..Default::default() }).unwrap();
        let mut state = solver.init(&p, random_point(12, 3, seed)).unwrap();
        let mut last = f64::INFINITY;
        for _ in 0..2000 {
            let info = solver.steps(&p, &mut state, 1);
            prop_assert!(info.objective <= last);
            last = info.objective;
        }
        let x = solver.finish(&p, state).x;
        prop_assert!(stiefel::feasibility(&x) <= 1e-12);
        prop_assert!((p.value(&x) - last).abs() <= 1e-9 * (1.0 + last.abs()), "{name}: {} {last}", p.value(&x));
    }
}

#[test]
fn pairs_and_a_smooth_solver_agree() {
    let p = problem(NonlinearEig::laplacian_1d(16, 10.0).unwrap(), 3);
    let s = obcd(&p, CircleSearch::Exact, ObcdOptions::default(), 1e-13, 4_000_000);
    let smooth =
        SOLVERS.iter().find(|s| s.name == "optm-qr").unwrap().build(&p, &SolverOptions::default()).unwrap();
    let mut stop = MaxIterations(Some(500));
    let t = run(&p, &smooth, p.start("random", 1).unwrap(), limits(500, 0), &mut stop, &mut []).unwrap();
    let (a, b) = (s.objective.total, t.objective.total);
    assert!((a - b).abs() <= 1e-8 * b.abs(), "{a} {b}");
}

#[test]
fn starts_are_feasible_and_known_by_name() {
    for f in [
        NonlinearEig::laplacian_1d(9, 1.0),
        NonlinearEig::laplacian_2d(3, 3, 1.0),
        NonlinearEig::dense(gram_of(9, 9, 1).as_ref(), 1.0),
    ] {
        let p = problem(f.unwrap(), 4);
        for (name, _) in p.recipe().starts {
            let x = p.start(name, 5).unwrap();
            assert!((x.nrows(), x.ncols()) == p.shape() && p.feasibility(&x) <= 1e-12, "{name}");
            assert!(p.check(&x, "X").is_ok());
        }
        assert_ne!(p.start("random", 1).unwrap(), p.start("random", 2).unwrap());
        assert!(matches!(p.start("partition", 0), Err(Error::UnknownName { .. })));
    }
}

#[test]
fn bad_input_says_what_and_where() {
    let skew = Mat::from_fn(3, 3, |i, j| i as f64 - j as f64);
    assert!(matches!(NonlinearEig::dense(skew.as_ref(), 1.0), Err(Error::NotSymmetric { .. })));
    let mut holes = chain(3);
    holes[(1, 1)] = f64::NAN;
    assert!(matches!(NonlinearEig::dense(holes.as_ref(), 1.0), Err(Error::NotFinite { row: 2, col: 2, .. })));
    assert!(matches!(NonlinearEig::dense(gaussian(3, 4, 1).as_ref(), 1.0), Err(Error::Shape { .. })));
    assert!(matches!(NonlinearEig::laplacian_1d(0, 1.0), Err(Error::InvalidOption { .. })));
    assert!(matches!(NonlinearEig::laplacian_2d(4, 0, 1.0), Err(Error::InvalidOption { .. })));
    assert!(matches!(NonlinearEig::laplacian_1d(4, f64::NAN), Err(Error::InvalidOption { .. })));
    let f = NonlinearEig::laplacian_1d(4, 1.0).unwrap();
    assert!(matches!(f.clone().with_linear(gaussian_rows(5, 2, 1)), Err(Error::Shape { .. })));
    assert!(matches!(NonlinearEigProblem::new(f.clone(), NoPenalty, 5), Err(Error::Rank { .. })));
    let linear = f.with_linear(gaussian_rows(4, 2, 1)).unwrap();
    assert!(matches!(NonlinearEigProblem::new(linear, NoPenalty, 3), Err(Error::Shape { .. })));
    for options in [
        ObcdOptions { block: 4, ..Default::default() },
        ObcdOptions { jacobi: true, ..Default::default() },
        ObcdOptions { alpha: 0.0, ..Default::default() },
    ] {
        assert!(NonlinearObcd::new(CircleSearch::Exact, options).is_err());
    }
}

/// One smooth method from random points and from eigenvectors, pairs behind it where they are cheap.
#[test]
fn a_race_of_starts_where_the_method_is_left_open() {
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let p = problem(NonlinearEig::laplacian_1d(130, 10.0).unwrap(), 3);
    let plan = p.plan(&Request::default()).unwrap();
    assert_eq!((plan.names().as_str(), plan.starts.len()), ("optm-qr", 2));
    let s = plan.run(&p, &Request::default(), &stopping, None, &Cancel::never(), &mut []).unwrap();
    assert_eq!(s.status, Status::Converged, "{}", s.message);
    let lowest: f64 = ["random", "eigen"]
        .map(|name| {
            let start = Some(Start::named(name));
            let wanted = Request { init: start.map(Into::into), ..Default::default() };
            let plan = p.plan(&wanted).unwrap();
            assert_eq!(plan.starts.len(), 1);
            plan.run(&p, &wanted, &stopping, Some(0), &Cancel::never(), &mut []).unwrap().objective.total
        })
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    assert!(s.objective.total <= lowest + 1e-8 * lowest.abs(), "{} {lowest}", s.objective.total);
    let small = problem(NonlinearEig::laplacian_1d(60, 10.0).unwrap(), 3);
    assert_eq!(small.plan(&Request::default()).unwrap().names(), "optm-qr+obcd");
}

/// F has many local minima: the default is no higher than thirty starts of any method, more effort is no higher than
/// less, and threads decide nothing.
#[test]
fn the_default_searches() {
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let c = orthopt_data::load("builtin:pitprops", &Default::default()).unwrap().matrix.to_dense();
    let p = problem(NonlinearEig::dense(c.as_ref(), 10.0).unwrap(), 4);
    let of = |effort| {
        let wanted = Request { effort, ..Default::default() };
        p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
    };
    let quick = of(Some(Effort::Quick));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| of(Some(Effort::Quick))).x, quick.x, "threads decide nothing");
    let found = of(None);
    let (f, less) = (found.objective.total, quick.objective.total);
    assert!(found.starts > 10 && f <= less + 1e-9 * less.abs(), "{} starts: {f} and {less}", found.starts);
    let wanted = Request { solver: Some("foforth-gr".into()), ..Default::default() };
    let many =
        p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, Some(30), &Cancel::never(), &mut []).unwrap();
    let best = many.objective.total;
    assert!(f <= best + 1e-6 * best.abs(), "{f}, and {best} from 31 starts of foforth-gr");
}
