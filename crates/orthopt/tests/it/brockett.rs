//! `brockett`: closed forms, pairs of rows against all angles, planted components in their order, and what is refused.

use crate::common::first_order::polar;
use crate::common::{gaussian, gaussian_rows, normal, rng};
use faer::{Mat, Side};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::{BlockScope, Scope, block_k_stationarity, block_stationarity};
use orthopt::family::{AnyProblem, Family, Limit, Posed, Request, find_problem, pose};
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt::start::Start;

fn posed(data: &PcaData<'_>, options: &Request) -> orthopt::Result<Posed> {
    pose(find_problem("brockett").unwrap(), data, options)
}

/// Of C itself.
fn of(c: &Mat<f64>, weights: &[f64], change: impl FnOnce(&mut Request)) -> PcaProblem {
    let mut options = Request { component_weights: Some(weights.to_vec()), ..Default::default() };
    change(&mut options);
    match posed(&PcaData::Gram(c.as_ref()), &options).unwrap().problem {
        AnyProblem::Pca(p) => p,
        _ => panic!("f with weights, and h"),
    }
}

fn solved(p: &PcaProblem, solver: Option<&str>, seed: u64) -> Solution {
    solved_within(None, p, solver, seed)
}

fn solved_within(max_iters: Option<u64>, p: &PcaProblem, solver: Option<&str>, seed: u64) -> Solution {
    let start = solver.filter(|s| *s != "spectral").map(|_| Start::Random);
    let wanted = Request {
        solver: solver.map(Into::into),
        init: start.map(Into::into),
        seed: Some(seed),
        ..Default::default()
    };
    let stopping = Stopping { max_iters, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, solver.map(|_| 2), &Cancel::never(), &mut []).unwrap()
}

fn symmetric(n: usize, seed: u64) -> Mat<f64> {
    let b = gaussian(n, n, seed);
    Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)])
}

/// −½ tr(XᵀCXD), sum by sum.
fn slow_f(c: &Mat<f64>, d: &[f64], x: &RowMat) -> f64 {
    let n = c.nrows();
    let quadratic = |k: usize| -> f64 {
        (0..n).map(|i| (0..n).map(|j| x.get(i, k) * c[(i, j)] * x.get(j, k)).sum::<f64>()).sum()
    };
    d.iter().enumerate().map(|(k, d)| -0.5 * d * quadratic(k)).sum()
}

/// The least of all assignments of eigenvalues to weights, tried one by one.
fn least_assignment(values: &[f64], d: &[f64]) -> f64 {
    fn go(values: &[f64], taken: &mut [bool], d: &[f64]) -> f64 {
        let [first, rest @ ..] = d else { return 0.0 };
        let mut least = f64::INFINITY;
        for e in 0..values.len() {
            if !taken[e] {
                taken[e] = true;
                least = least.min(-0.5 * first * values[e] + go(values, taken, rest));
                taken[e] = false;
            }
        }
        least
    }
    go(values, &mut vec![false; values.len()], d)
}

/// Whatever the signs of weights and eigenvalues, the default is the least of all assignments, and no start of another method finds less;
/// columns are the eigenvectors themselves where the weights differ.
#[test]
fn eigenvectors_have_their_weights() {
    for (seed, d) in [
        vec![3.0, 2.0, 1.0],
        vec![1.0, 3.0, 2.0],
        vec![-1.0, 2.0, -3.0],
        vec![-3.0, -2.0, -1.0],
        vec![0.5, 0.0, -0.25],
        vec![2.0],
        vec![1.0, 1.0, 1.0],
        vec![5.0, 3.0, 1.0, -1.0, -2.0, -4.0],
    ]
    .into_iter()
    .enumerate()
    {
        let c = symmetric(6, seed as u64);
        let eigen = c.self_adjoint_eigen(Side::Lower).unwrap();
        let values: Vec<f64> = (0..6).map(|k| eigen.S()[k]).collect();
        let least = least_assignment(&values, &d);
        let p = of(&c, &d, |_| ());
        let found = solved(&p, None, 1);
        let (f, size) = (found.objective.total, d.iter().map(|d| d.abs()).sum::<f64>() * c.norm_l2());
        assert!(matches!(found.status, Status::Converged | Status::Optimal), "{d:?}: {:?}", found.message);
        assert!((f - least).abs() <= 1e-12 * size, "{d:?}: {f} and {least}");
        assert!((f - slow_f(&c, &d, &found.x)).abs() <= 1e-12 * size, "{d:?}");
        assert!((p.known_optimum().unwrap() - least).abs() <= 1e-12 * size, "{d:?}");
        for solver in ["lbfgs", "obcd", "trust-region"] {
            let other = solved(&p, Some(solver), seed as u64).objective.total;
            assert!(other >= least - 1e-10 * size, "{d:?}: {solver} finds {other}, less than {least}");
        }
        if seed < 4 {
            for k in 0..d.len() {
                let dots =
                    (0..6).map(|e| (0..6).map(|i| eigen.U()[(i, e)] * found.x.get(i, k)).sum::<f64>().abs());
                let most = dots.fold(0.0, f64::max);
                assert!(most > 1.0 - 1e-10, "{d:?}: column {k} is no eigenvector, {most}");
            }
        }
    }
}

/// The Krylov path: of many variables the first eigenvectors are columns of X in the order of the default weights.
#[test]
fn many_variables() {
    let a = Mat::from_fn(160, 120, |i, j| {
        gaussian(160, 120, 5)[(i, j)] * (1.0 + 9.0 * f64::from(u8::from(j < 4)))
    });
    let options = Request { rank: Some(3.into()), ..Default::default() };
    let AnyProblem::Pca(p) = posed(&PcaData::Dense(a.as_ref()), &options).unwrap().problem else { panic!() };
    let c = a.transpose() * &a;
    let eigen = c.self_adjoint_eigen(Side::Lower).unwrap();
    let found = solved(&p, None, 1);
    let least: f64 = [1.5, 1.0, 0.5].iter().enumerate().map(|(k, d)| -0.5 * d * eigen.S()[119 - k]).sum();
    assert!((found.objective.total - least).abs() <= 1e-11 * least.abs());
    for k in 0..3 {
        let dot: f64 = (0..120).map(|i| eigen.U()[(i, 119 - k)] * found.x.get(i, k)).sum();
        assert!(dot.abs() > 1.0 - 1e-9, "column {k}: {dot}");
    }
    let explained = p.explained_variance(&found.x).unwrap();
    let share: f64 =
        (0..3).map(|k| eigen.S()[119 - k]).sum::<f64>() / (0..120).map(|k| eigen.S()[k]).sum::<f64>();
    assert!((explained.total - share).abs() <= 1e-9, "{} and {share}", explained.total);
}

/// The decrease that all pairs of rows offer is that of a fine grid of both circles, with the angles at which an entry vanishes:
/// F itself is evaluated there, for weights of both signs.
#[test]
fn pairs_are_their_slow_twin() {
    let (n, c) = (5, symmetric(5, 3));
    for d in [vec![3.0, 1.0], vec![2.0, -1.0], vec![-1.0, -0.5]] {
        for (penalty, lambda) in [("none", 0.0), ("l0", 0.6), ("l1", 0.7), ("mcp", 0.9), ("nonneg", 0.0)] {
            let p = of(&c, &d, |o| {
                o.penalty = Some(penalty.into());
                o.lambda = (lambda > 0.0).then_some(lambda);
            });
            for seed in 0..3 {
                let mut x = polar(&gaussian_rows(n, 2, 20 + seed));
                if penalty == "nonneg" {
                    let group = |i: usize| (i + seed as usize) % 2;
                    let size = |k: usize| (0..n).filter(|i| group(*i) == k).count() as f64;
                    x = RowMat::from_fn(
                        n,
                        2,
                        |i, k| if group(i) == k { size(k).sqrt().recip() } else { 0.0 },
                    );
                } else if seed == 2 {
                    x = RowMat::from_fn(n, 2, |i, k| f64::from(u8::from(i == 2 * k + 1)));
                }
                let found = block_stationarity(&p, &x, Scope::All).max_decrease;
                let before = p.objective(&x).total;
                let mut best = 0.0f64;
                for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
                    let mut angles: Vec<f64> =
                        (0..6000).map(|step| f64::from(step) * std::f64::consts::TAU / 6000.0).collect();
                    for k in 0..2 {
                        for (a, b) in [(x.get(i, k), x.get(j, k)), (-x.get(i, k), x.get(j, k))] {
                            let zero = b.atan2(a);
                            angles.extend((0..4).map(|q| zero + f64::from(q) * std::f64::consts::FRAC_PI_2));
                        }
                    }
                    for angle in angles {
                        let (s, c) = angle.sin_cos();
                        for v in [[c, s, -s, c], [-c, s, s, c]] {
                            let mut y = x.clone();
                            for k in 0..2 {
                                let (a, b) = (x.get(i, k), x.get(j, k));
                                let snap = |v: f64| if v.abs() <= 1e-13 { 0.0 } else { v };
                                y.set(i, k, snap(v[0] * a + v[1] * b));
                                y.set(j, k, snap(v[2] * a + v[3] * b));
                            }
                            if penalty != "nonneg" || y.data().iter().all(|v| *v >= 0.0) {
                                best = best.max(before - p.objective(&y).total);
                            }
                        }
                    }
                }
                let what = format!("{d:?}, {penalty}, seed {seed}: {found} and {best} of the grid");
                assert!(found >= best - 1e-10 && found <= best + 1e-4 * (1.0 + best), "{what}");
            }
        }
    }
}

/// Every kind of working set and model ends at the closed form, with weights of both signs and of one.
#[test]
fn every_obcd_finds_the_minimum() {
    let c = symmetric(12, 7);
    for d in [vec![3.0, 2.0, 1.0], vec![2.0, -1.0, 0.5]] {
        let p = of(&c, &d, |_| ());
        let least = p.known_optimum().unwrap();
        for solver in ["obcd", "obcd-c", "obcd-sv", "obcd-or", "obcd-block", "obcd-jacobi", "obcd-majorised"]
        {
            let found = solved(&p, Some(solver), 3);
            let f = found.objective.total;
            assert!(
                (f - least).abs() <= 1e-6 * least.abs(),
                "{d:?}, {solver}: {f} and {least}, {}",
                found.message
            );
        }
        let wanted = |model| Request {
            solver: Some("obcd".into()),
            model: Some(model),
            block: Some(4),
            ..Default::default()
        };
        for model in [orthopt::solvers::obcd::Model::Exact, orthopt::solvers::obcd::Model::Diagonal] {
            let stopping =
                Stopping { max_iters: Some(20_000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
            let plan = p.plan(&wanted(model)).unwrap();
            let found = plan.run(&p, &wanted(model), &stopping, Some(0), &Cancel::never(), &mut []).unwrap();
            let f = found.objective.total;
            assert!(
                (f - slow_f(&c, &d, &found.x)).abs() <= 1e-10 * least.abs(),
                "{d:?}, {model:?}: F is not that of X"
            );
            assert!(f <= least + 1e-3 * least.abs(), "{d:?}, {model:?}: {f} and {least}");
        }
    }
}

/// Components planted in an order, with noise: found with their zeros, the one of the largest variance where the largest weight is.
/// An X with two columns exchanged is refused by pairs and by blocks of three rows.
#[test]
fn planted_components_are_found_in_their_order() {
    let truth = RowMat::from_fn(12, 3, |i, k| if i / 3 == k { 3f64.sqrt().recip() } else { 0.0 });
    let mut noise = rng(4);
    let scores = gaussian(400, 3, 6);
    let a = Mat::from_fn(400, 12, |s, i| {
        let signal: f64 = (0..3).map(|k| [4.0, 3.0, 2.0][k] * scores[(s, k)] * truth.get(i, k)).sum();
        signal + 0.3 * normal(&mut noise)
    });
    let data = PcaData::Dense(a.as_ref());
    for (penalty, lambda, weights, place) in [
        ("l1", Some(250.0), None, [0, 1, 2]),
        ("l0", Some(15.0), None, [0, 1, 2]),
        ("l0", None, None, [0, 1, 2]),
        ("l0", None, Some(vec![1.0, 3.0, 2.0]), [2, 0, 1]),
        ("nonneg", None, Some(vec![4.0, 1.0, 2.0]), [0, 2, 1]),
        ("l21", Some(250.0), None, [0, 1, 2]),
    ] {
        let options = Request {
            rank: Some(3.into()),
            penalty: Some(penalty.into()),
            lambda,
            component_weights: weights,
            ..Default::default()
        };
        let Posed { problem: AnyProblem::Pca(p), lambda, .. } = posed(&data, &options).unwrap() else {
            panic!()
        };
        let found = solved(&p, None, 0);
        for k in 0..3 {
            let dot: f64 = (0..12).map(|i| found.x.get(i, k) * truth.get(i, place[k])).sum();
            assert!(dot.abs() > 0.99, "{penalty}, {lambda:?}: column {k}, {dot}");
            for i in (0..12).filter(|_| penalty != "l21" && penalty != "nonneg") {
                let planted = truth.get(i, place[k]) != 0.0;
                assert_eq!(found.x.get(i, k) != 0.0, planted, "{penalty}, {lambda:?}: entry {i}, {k}");
            }
        }
        let wrong = RowMat::from_fn(12, 3, |i, k| found.x.get(i, [1, 0, 2][k]));
        assert!(p.objective(&wrong).total > found.objective.total + 1e-3 * found.scale, "{penalty}");
        let offered =
            |x: &RowMat| p.block_stationarity(x, Scope::All, &Cancel::never()).map(|c| c.max_decrease);
        match (offered(&found.x), offered(&wrong)) {
            (None, None) => assert_eq!(penalty, "l21"),
            (Some(right), _) => assert!(right <= 1e-6 * found.scale, "{penalty}: {right}"),
            _ => unreachable!(),
        }
    }
    // without a penalty eigenvectors in a wrong order are critical, and pairs see that they are no minimum
    let c = symmetric(8, 2);
    let p = of(&c, &[3.0, 2.0, 1.0], |_| ());
    let found = solved(&p, None, 0);
    let wrong = RowMat::from_fn(8, 3, |i, k| found.x.get(i, 2 - k));
    let [right, off] = [&found.x, &wrong].map(|x| block_stationarity(&p, x, Scope::All));
    assert!(right.holds(1e-10 * found.scale), "{right:?}");
    assert!(off.max_decrease > 1e-3 * found.scale, "{off:?}");
    assert!(p.criticality(&wrong, &Cancel::never()).unwrap() <= 1e-9 * found.scale);
    let scope = BlockScope { rows: 3, samples: 50, starts: 2, seed: 1, tolerance: 1e-9 };
    let [right, off] = [&found.x, &wrong].map(|x| block_k_stationarity(&p, x, &scope, &Cancel::never()));
    assert!(
        right.max_decrease <= 1e-9 * found.scale && off.max_decrease > 1e-3 * found.scale,
        "{right:?}, {off:?}"
    );
    let gain = found.objective.total;
    assert!(off.max_decrease <= p.objective(&wrong).total - gain + 1e-9, "more than there is to gain");
}

/// One component with the default weight is PCA.
#[test]
fn one_component_is_pca() {
    let a = gaussian(30, 9, 2);
    let data = PcaData::Dense(a.as_ref());
    let options = Request { rank: Some(1.into()), penalty: Some("l1".into()), ..Default::default() };
    let [ordered, plain] = ["brockett", "l1-pca"].map(|name| {
        let posed = pose(find_problem(name).unwrap(), &data, &options).unwrap();
        let AnyProblem::Pca(p) = posed.problem else { panic!() };
        (posed.lambda, solved(&p, None, 0).objective.total)
    });
    assert_eq!(ordered.0, plain.0);
    assert!((ordered.1 - plain.1).abs() <= 1e-8 * plain.1.abs(), "{ordered:?} and {plain:?}");
}

/// Data times 2ᵏ, and weights times 2ᵏ, with the default λ: the same bits.
#[test]
fn the_unit_means_nothing() {
    let a = gaussian(30, 8, 1);
    for penalty in ["none", "l1", "l0", "nonneg", "l21"] {
        for weights in [vec![3.0, 2.0, 1.0], vec![2.0, -1.0]] {
            let at = |s: f64, t: f64| {
                let scaled = Mat::from_fn(30, 8, |i, j| s * a[(i, j)]);
                let options = Request {
                    component_weights: Some(weights.iter().map(|d| t * d).collect()),
                    penalty: Some(penalty.into()),
                    ..Default::default()
                };
                let posed = posed(&PcaData::Dense(scaled.as_ref()), &options).unwrap();
                let AnyProblem::Pca(p) = posed.problem else { panic!() };
                let found = solved_within(Some(300), &p, None, 3);
                let lambda = posed.lambda.map(|l| l / (s * s * t));
                (found.x.data().iter().map(|v| (v + 0.0).to_bits()).collect::<Vec<_>>(), found.status, lambda)
            };
            let one = at(1.0, 1.0);
            for (s, t) in [(2f64.powi(40), 1.0), (2f64.powi(-40), 1.0), (1.0, 2f64.powi(30)), (0.5, 4.0)] {
                assert_eq!(at(s, t), one, "{penalty}, {weights:?}, data times {s}, weights times {t}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let a = gaussian(25, 8, 1);
    let refused = |change: &dyn Fn(&mut Request)| {
        let mut options = Request { component_weights: Some(vec![2.0, 1.0]), ..Default::default() };
        change(&mut options);
        posed(&PcaData::Dense(a.as_ref()), &options).unwrap_err().to_string()
    };
    assert!(refused(&|o| o.rank = Some(3.into())).contains("2 numbers for 3 components"));
    assert!(refused(&|o| o.component_weights = Some(vec![1.0; 9])).contains('9'));
    assert!(refused(&|o| o.component_weights = Some(vec![0.0, 0.0])).contains("all 0"));
    assert!(refused(&|o| o.component_weights = Some(vec![1.0, f64::INFINITY])).contains("weights"));
    assert!(refused(&|o| o.lambda = Some(1.0)).contains("lambda"));
    assert!(refused(&|o| o.set_limit(Some(Limit::Total(3)))).contains("total-nonzeros"));
    let info = find_problem("pca").unwrap();
    let options = Request { component_weights: Some(vec![1.0]), ..Default::default() };
    let error = pose(info, &PcaData::Dense(a.as_ref()), &options).unwrap_err().to_string();
    assert!(error.contains("component-weights") && error.contains("brockett"), "{error}");
    let c = Mat::<f64>::identity(4, 4);
    let p = of(&c, &[2.0, 1.0], |o| (o.penalty, o.lambda) = (Some("l1".into()), Some(0.1)));
    assert!(p.bounded().unwrap_err().to_string().contains("weights"));
}
