//! The status converged holds: recomputed from X for every solver of every problem, whatever the solver
//! measures itself.

use crate::common::{gaussian, gaussian_rows};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::composite::{Composite, criticality};
use orthopt::concave::Concave;
use orthopt::family::{AnyProblem, Family, Kind, PROBLEMS, Request, pose};
use orthopt::linear_map::{AnyMap, LinearMap};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::PcaData;
use orthopt::smooth::Smooth;
use orthopt::solve::{Solution, Status, Stopping};
use orthopt_core::constraint::stiefel;

const STOPPING: Stopping = Stopping { max_iters: Some(1500), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
/// Tolerance of measures of criticality for `tol` = 1e-9.
const CRITICAL: f64 = 1e-6;
/// Claim of a pass over all pairs.
const PASS: &str = "block-2 stationary";

/// Runs every solver that handles the problem; `relative` is the criticality of what it returned. How many were
/// called converged, and how many of them keep an entry next to zero.
fn all_converged<P: Family>(
    what: &str,
    p: &P,
    seed: u64,
    relative: impl Fn(&P, &Solution) -> f64,
) -> [usize; 2] {
    let (mut count, mut dusty) = (0, 0);
    for info in p.solvers().iter().filter(|info| (info.handles)(p)) {
        let wanted = Request { solver: Some(info.name.into()), seed: Some(seed), ..Default::default() };
        let plan = p.plan(&wanted).unwrap();
        let s = match plan.run(p, &wanted, &STOPPING, Some(0), &Cancel::never(), &mut []) {
            Ok(s) => s,
            Err(error) => panic!("{what}, {}: {error}", info.name),
        };
        if s.status != Status::Converged {
            continue;
        }
        count += 1;
        let what = format!("{what}, {}, seed {seed}: {}", info.name, s.message);
        if s.message.starts_with(PASS) {
            // its statement is on pairs, where they can be solved
            if let Some(found) = p.block_stationarity(&s.x, Scope::All, &Cancel::never()) {
                let limit = STOPPING.tolerance(s.scale, s.objective.total);
                assert!(found.max_decrease <= 1.01 * limit, "{what}: {:e}", found.max_decrease);
            }
            continue;
        }
        let found = relative(p, &s);
        assert!(found <= CRITICAL, "{what}: {found:e}");
        if p.asks_for_zeros() {
            // what is left cannot go: where two columns share two rows, say, a single one is none
            dusty += usize::from(s.x.data().iter().any(|v| *v != 0.0 && v.abs() <= 1e-6));
            assert!(p.cleaned(&s.x).is_none(), "{what}: entries next to zero are left");
            assert_eq!(s.nnz, s.x.data().iter().filter(|v| **v != 0.0).count(), "{what}");
        }
    }
    [count, dusty]
}

/// The criticality of X over the scale of f plus ‖∇f − ξ‖, with the zeros that X has; where A is not the identity and A(X)
/// has none that are exact, or Crit of the OADMM paper relative to its parts.
fn of_composite<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    s: &Solution,
) -> f64 {
    let (n, r) = p.shape();
    let mut g = p.gradient(&s.x);
    let mut xi = RowMat::zeros(n, r);
    p.g.subgradient(&s.x, &mut xi);
    g.data_mut().iter_mut().zip(xi.data()).for_each(|(g, xi)| *g -= xi);
    let scale = s.scale + g.norm();
    let of_x = criticality(p, &s.x, &Cancel::never()).unwrap() / scale;
    if p.a.is_identity() {
        return of_x;
    }
    let crit = s.splitting.and_then(|s| s.crit);
    crit.map_or(of_x, |[primal, dual, tangent]| {
        of_x.min((primal / (1.0 + p.a.apply(&s.x).norm())).max((dual + tangent) / scale))
    })
}

fn check(name: &str, data: &PcaData<'_>, options: &Request, seed: u64) -> [usize; 2] {
    let info = PROBLEMS.iter().find(|info| info.name == name).unwrap();
    let posed = pose(info, data, options).unwrap();
    let what = format!("{name} {:?}", options.map.is_some());
    match &posed.problem {
        AnyProblem::Pca(p) => all_converged(&what, p, seed, of_composite),
        AnyProblem::Composite(p) => all_converged(&what, p, seed, of_composite),
        AnyProblem::NonlinearEig(p) => all_converged(&what, p, seed, of_composite),
        AnyProblem::Samples(p) => all_converged(&what, p, seed, of_composite),
        AnyProblem::JOrthogonal(p) => all_converged(&what, p, seed, |p, s| {
            let scale = 1.0 + p.gradient(&s.x).norm() * s.x.norm();
            p.criticality(&s.x, &Cancel::never()).unwrap() / scale
        }),
        _ => panic!("{name}: a family that this test does not know"),
    }
}

#[test]
fn every_solver_of_every_problem() {
    let (mut count, mut dusty) = (0, 0);
    let mut add = |[more, next_to_zero]: [usize; 2]| (count, dusty) = (count + more, dusty + next_to_zero);
    for seed in 0..3 {
        // more samples than variables, and fewer
        let data = [gaussian(20, 7, seed), gaussian(4, 8, 50 + seed)];
        for a in data.iter().skip(usize::from(seed == 2)) {
            let data = PcaData::Dense(a.as_ref());
            for info in PROBLEMS {
                let square = matches!(info.kind, Kind::HyperbolicEig | Kind::Probe);
                let rank = (!square).then_some(2);
                let ridge = if info.kind == Kind::HyperbolicEig { 0.1 } else { 0.0 };
                if info.name == "ica" && a.nrows() < a.ncols() {
                    continue; // refused: its covariance is singular
                }
                let target = (info.kind == Kind::Procrustes).then(|| gaussian_rows(a.nrows(), 2, 70 + seed));
                let options = Request {
                    rank: rank.map(Into::into),
                    ridge: Some(ridge),
                    target: target.map(Into::into),
                    ..Default::default()
                };
                add(check(info.name, &data, &options, seed));
                let pca = matches!(info.kind, Kind::Pca | Kind::Composite | Kind::DataFit);
                if pca && seed == 0 && !["l0", "nonneg"].contains(&info.penalty) {
                    let map = AnyMap::parse("differences").ok();
                    add(check(info.name, &data, &Request { map: map.map(Into::into), ..options }, seed));
                }
            }
        }
    }
    assert!(count > 100, "only {count} runs were called converged");
    assert!(50 * dusty <= count, "{dusty} of {count} runs keep entries next to zero");
}

/// Entries on their way to a kink at zero are zeros in what is returned: next to them X is far from critical, and X on the
/// support that is left has a lower F.
#[test]
fn what_converges_keeps_nothing_next_to_zero() {
    let (mut count, mut dusty) = (0, 0);
    for seed in 0..2 {
        let data = gaussian(60, 30, 100 + seed);
        let data = PcaData::Dense(data.as_ref());
        for (problem, penalty) in [
            ("l1-pca", "l1"),
            ("l1-pca", "mcp"),
            ("l1-pca", "scad"),
            ("l1-pca", "elastic-net"),
            ("dc-pca", "l1-largest-k"),
            ("capped-l1-pca", "capped-l1"),
        ] {
            let penalty = Some(penalty.to_string());
            let options = Request { rank: Some(4.into()), penalty, ..Default::default() };
            let [more, next_to_zero] = check(problem, &data, &options, seed);
            (count, dusty) = (count + more, dusty + next_to_zero);
        }
    }
    assert!(
        count > 60 && dusty == 0,
        "{count} runs were called converged, {dusty} keep entries next to zero"
    );
}

/// With a large λ the smoothed problem is next to constant at first, so that its gradient is small anywhere.
#[test]
fn smoothing_does_not_pass_for_convergence() {
    let mut a = gaussian(60, 40, 1);
    let (rows, cols) = (a.nrows(), a.ncols());
    for j in 0..cols {
        let norm = (0..rows).map(|i| a[(i, j)] * a[(i, j)]).sum::<f64>().sqrt();
        (0..rows).for_each(|i| a[(i, j)] *= (rows as f64).sqrt() / norm);
    }
    let options = Request { rank: Some(6.into()), lambda: Some(50.0), k: Some(40), ..Default::default() };
    let info = PROBLEMS.iter().find(|info| info.name == "dc-pca").unwrap();
    let posed = pose(info, &PcaData::Dense(a.as_ref()), &options).unwrap();
    let AnyProblem::Composite(p) = &posed.problem else { panic!("dc-pca has a g") };
    for name in ["spgm-ep", "spgm-rr", "oadmm-ep", "oadmm-rr"] {
        let wanted = Request { solver: Some(name.into()), seed: Some(1), ..Default::default() };
        let stopping = Stopping { max_iters: Some(3000), ..STOPPING };
        let plan = p.plan(&wanted).unwrap();
        let s = plan.run(p, &wanted, &stopping, Some(0), &Cancel::never(), &mut []).unwrap();
        assert!(s.iterations > 100, "{name}: {} after {} iterations", s.message, s.iterations);
        assert!(s.status != Status::Converged || of_composite(p, &s) <= CRITICAL, "{name}: {}", s.message);
        assert!(stiefel::feasibility(&s.x) <= 1e-12, "{name}");
    }
}

/// f of a singular C is close to 0 at its minimum: |f| is no measure there, its scale is.
#[test]
fn a_singular_c_is_solved_to_the_same_f_by_pairs_and_by_gradients() {
    let a = gaussian(3, 8, 4);
    let info = PROBLEMS.iter().find(|info| info.kind == Kind::NonlinearEig).unwrap();
    let options = Request { rank: Some(2.into()), ..Default::default() };
    let posed = pose(info, &PcaData::Dense(a.as_ref()), &options).unwrap();
    let AnyProblem::NonlinearEig(p) = &posed.problem else { panic!("nonlinear-eig is a family of its own") };
    let mut reached = Vec::new();
    for name in ["obcd", "foforth-gr"] {
        let wanted = Request { solver: Some(name.into()), seed: Some(1), ..Default::default() };
        let stopping = Stopping { max_iters: Some(2_000_000), ..STOPPING };
        let s =
            p.plan(&wanted).unwrap().run(p, &wanted, &stopping, Some(0), &Cancel::never(), &mut []).unwrap();
        let found = of_composite(p, &s);
        assert!(s.status == Status::Converged && found <= CRITICAL, "{name}: {} {found:e}", s.message);
        reached.push(s.objective.total);
    }
    let scale = p.f.scale(&p.start("random", 1).unwrap());
    assert!((reached[0] - reached[1]).abs() <= 1e-9 * scale, "{reached:?} {scale}");
}

/// With X >= 0 columns have rows of their own, and each is the leading eigenvector of C there: to all digits, so that other sums of the
/// same C give the same X.
#[test]
fn nonnegative_components_have_all_digits() {
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    for (m, n, r) in [(15, 30, 5), (40, 8, 2), (20, 60, 3)] {
        let a = gaussian(m, n, 1);
        let options = Request { rank: Some(r.into()), ..Request::default() };
        let info = PROBLEMS.iter().find(|info| info.name == "nonneg-pca").unwrap();
        let p = pose(info, &PcaData::Dense(a.as_ref()), &options).unwrap().problem;
        for seed in 0..3 {
            let wanted = Request { seed: Some(seed), ..Request::default() };
            let plan = p.plan(&wanted).unwrap();
            let x = plan.run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap().x;
            for k in 0..r {
                let rows: Vec<usize> = (0..n).filter(|i| x.get(*i, k) != 0.0).collect();
                let image = |i: usize| -> f64 {
                    let entry =
                        |j: &usize| (0..m).map(|s| a[(s, i)] * a[(s, *j)]).sum::<f64>() * x.get(*j, k);
                    rows.iter().map(entry).sum()
                };
                let images: Vec<f64> = rows.iter().map(|i| image(*i)).collect();
                let value: f64 = rows.iter().zip(&images).map(|(i, v)| x.get(*i, k) * v).sum();
                let off = rows
                    .iter()
                    .zip(&images)
                    .fold(0.0, |most: f64, (i, v)| most.max((v - value * x.get(*i, k)).abs()));
                assert!(off <= 1e-12 * value, "{n} variables, seed {seed}, component {k}: {:e}", off / value);
            }
        }
    }
}
