//! OBCD made one step at a time, and what must hold at every step and at the end.

use crate::common::Steps;
use orthopt::RowMat;
use orthopt::certify::{Scope, block_stationarity, criticality};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::objective::Evaluate;
use orthopt::penalty::PairPenalty;
use orthopt::problem::PcaProblem;
use orthopt::smooth::{Quadratic, Smooth};
use orthopt::solve::{Progress, Solver, Stationary, Stop};
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::{Candidates, Obcd, ObcdOptions, WorkingSet};
use orthopt_core::constraint::stiefel;
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;

use super::pair::linear_part;
use super::{exact_objective, iterate};

/// Every rule, with numbers of candidates where it takes them.
pub const RULES: [(WorkingSet, Option<Candidates>); 8] = [
    (WorkingSet::Random, None),
    (WorkingSet::Cyclic, None),
    (WorkingSet::GreedySv, None),
    (WorkingSet::GreedySv, Some(Candidates::Sample(5))),
    (WorkingSet::GreedySv, Some(Candidates::All)),
    (WorkingSet::GreedyOr, None),
    (WorkingSet::GreedyOr, Some(Candidates::All)),
    (WorkingSet::Active, None),
];

/// The option for an α of this size, which is relative to the scale of F.
pub fn absolute(p: &PcaProblem, alpha: f64) -> f64 {
    alpha / p.scale(&RowMat::zeros(p.nrows(), p.rank()))
}

/// Tolerance that runs stop at.
pub const TOL: f64 = 1e-10;

/// Options of rule number `rule`.
pub fn options(rule: usize, block: usize, model: Model, seed: u64) -> ObcdOptions {
    let (working_set, candidates) = RULES[rule];
    ObcdOptions { working_set, candidates, block, model, seed, ..Default::default() }
}

fn squared_distance(a: &RowMat, b: &RowMat) -> f64 {
    a.data().iter().zip(b.data()).map(|(x, y)| (x - y).powi(2)).sum()
}

/// Runs one iteration at a time, checking each, until the solver is stationary to TOL.
pub fn walk(what: &str, p: &PcaProblem, options: &ObcdOptions, x0: &RowMat) -> RowMat {
    let solver = Obcd::new(options.clone()).unwrap();
    let mut state = solver.init(p, x0.clone()).unwrap();
    let (mut x, mut value) = (x0.clone(), exact_objective(p, x0));
    for iteration in 1..=1_000_000 {
        let info = solver.steps(p, &mut state, 1);
        assert_eq!(info.iterations, 1, "{what}");
        let next = iterate(&solver, p, &state);
        let moved = squared_distance(&x, next);
        if moved > 0.0 {
            // α in force: lowered where it alone stands in the way of the last decreases
            let alpha = match solver.settings(p, &state).get("alpha_at_end") {
                Some(orthopt::solve::Setting::Real(alpha)) => *alpha,
                _ => options.alpha,
            };
            let fresh = exact_objective(p, next);
            let rounding = 1e-13 * (1.0 + value.abs());
            assert!(
                value - fresh >= 0.5 * alpha * p.scale(&x) * moved - rounding,
                "{what}: F went from {value} by {} for a move of {moved:e}",
                value - fresh
            );
            assert!((fresh - info.objective).abs() <= 1e-11 * (1.0 + fresh.abs()), "{what}: tracked F");
            assert!(stiefel::feasibility(next) <= 1e-12, "{what}: {}", stiefel::feasibility(next));
            if p.h.requires_nonneg() {
                assert!(next.data().iter().all(|v| *v >= 0.0), "{what}: negative entry");
            }
            (x, value) = (next.clone(), fresh);
        }
        let progress = Progress {
            iteration,
            seconds: 0.0,
            objective: info.objective,
            scale: p.scale(&x),
            pass: info.pass,
            residual: None,
        };
        if (Stationary { tol: TOL }).check(&progress).is_some() {
            return solver.finish(p, state).x;
        }
    }
    panic!("{what}: not stationary after 1,000,000 iterations");
}

/// The largest decrease that the model of any pair offers: what a solver that uses this model
/// must have brought to nothing.
fn largest_offer(p: &PcaProblem, model: Model, alpha: f64, x: &RowMat) -> f64 {
    let (n, r) = (x.nrows(), x.ncols());
    let mut g = RowMat::zeros(n, r);
    p.f.gradient(x, &mut g);
    let (mut scratch, mut largest) = (Scratch::new(r), 0.0f64);
    for i in 0..n {
        for j in i + 1..n {
            let (z1, z2) = (x.row(i), x.row(j));
            let curvature = [p.f.curvature(i, i), p.f.curvature(i, j), p.f.curvature(j, j)];
            let (k, shift) = match model {
                Model::Exact => (curvature, alpha),
                Model::Diagonal if p.f.is_concave() => ([0.0; 3], alpha),
                Model::Diagonal => ([0.0; 3], alpha + bound(curvature, z1, z2)),
            };
            let linear = linear_part((g.row(i), g.row(j)), k, shift, (z1, z2));
            let m = PairModel::with_curvature(linear, k, z1, z2);
            if let Some(step) = p.h.search(&m, &mut scratch) {
                let (mut n1, mut n2) = (z1.to_vec(), z2.to_vec());
                step.apply(z1, z2, &mut n1, &mut n2);
                let change = p.h.value(&n1) + p.h.value(&n2) - p.h.value(z1) - p.h.value(z2);
                largest = largest.max(m.smooth_decrease(&step) - change);
            }
        }
    }
    largest
}

/// ς ≥ λ_max(W ⊗ K)₊.
fn bound(k: [f64; 3], z1: &[f64], z2: &[f64]) -> f64 {
    let top = |a: f64, b: f64, c: f64| 0.5 * (a + c + ((a - c).powi(2) + 4.0 * b * b).sqrt());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    top(dot(z1, z1), dot(z1, z2), dot(z2, z2)) * top(k[0], k[1], k[2]).max(0.0)
}

/// No pair offers anything, by the model of the solver and, for the exact model, by F itself;
/// without a penalty the point is critical (with one, pairs of rows do not imply it).
pub fn check_end(what: &str, p: &PcaProblem, model: Model, x: &RowMat) {
    let scale = 1.0 + exact_objective(p, x).abs();
    let offer = largest_offer(p, model, 1e-5 * p.scale(x), x);
    // X still moved, by less than the tolerance, during the pass that ended the run; what a
    // run may call converged is the business of `converged_means_certified`
    assert!(offer <= 100.0 * TOL * scale, "{what}: a pair still offers {offer:e}");
    if model == Model::Exact {
        let certificate = block_stationarity(p, x, Scope::All);
        assert!(certificate.holds(100.0 * TOL * scale), "{what}: {certificate:?}");
    }
    if p.h.kinks().is_empty() {
        let violation = criticality(p, x);
        assert!(violation <= 2e-3 * scale, "{what}: criticality {violation:e}");
    }
    assert!(stiefel::feasibility(x) <= 1e-12, "{what}");
}
