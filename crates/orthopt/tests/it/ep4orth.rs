//! EP4Orth+: feasible, critical at its end, below methods that decide early whose a variable is.

use crate::common::*;
use orthopt::problem::PcaProblem;
use orthopt::solve::{MaxIterations, Solution, Stationary, Status, Stop, run};
use orthopt::solvers::{SOLVERS, SolverOptions, find_solvers};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;
use orthopt_solvers::ep4orth::Ep4Orth;

fn nonneg(m: usize, n: usize, r: usize) -> PcaProblem {
    on_data("nonneg-pca", 0.0, &gaussian(m, n, 23), r)
}

fn from(p: &PcaProblem, start: &Start, solver: &Ep4Orth, most: u64) -> Solution {
    let x0 = start.point(&p.f, p.rank(), true, 3).unwrap();
    let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(most)));
    run(p, solver, x0, limits(most, 0), &mut stop, &mut []).unwrap()
}

#[test]
fn ends_feasible_and_critical_from_every_start() {
    let p = nonneg(60, 40, 6);
    for start in [Start::Identity, Start::Coordinates, Start::Pca, Start::Partition] {
        let found = from(&p, &start, &Ep4Orth::DEFAULT, 100_000);
        assert_eq!(found.status, Status::Converged, "{start:?}: {}", found.message);
        assert!(found.feasibility <= 1e-12 && found.x.data().iter().all(|v| *v >= 0.0), "{start:?}");
        assert!((stiefel::feasibility(&found.x) - found.feasibility).abs() < 1e-15);
        let c = orthopt::certify::criticality(&p, &found.x);
        assert!(c <= 1e-6 * (1.0 + found.objective.total.abs()), "{start:?}: {c}");
    }
}

/// Many components compete for variables: what is decided late is decided better.
#[test]
fn ends_below_ladmm_where_there_are_many_components() {
    let (mut lower, mut all) = (0, 0);
    for (m, n, r) in [(100, 150, 15), (60, 200, 12)] {
        let p = nonneg(m, n, r);
        let options = SolverOptions::default();
        let ladmm = find_solvers(SOLVERS, "ladmm").unwrap()[0].build(&p, &options).unwrap();
        for start in [Start::Coordinates, Start::Pca] {
            let x0 = start.point(&p.f, r, true, 3).unwrap();
            let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(5000)));
            let theirs = run(&p, &ladmm, x0, limits(5000, 0), &mut stop, &mut []).unwrap();
            let ours = from(&p, &start, &Ep4Orth::DEFAULT, 100_000);
            let (ours, theirs) = (ours.objective.total, theirs.objective.total);
            assert!(ours < theirs + 0.01 * theirs.abs(), "{m} {n} {r} {start:?}: {ours}, LADMM {theirs}");
            lower += usize::from(ours < theirs);
            all += 1;
        }
    }
    assert!(lower > all / 2, "below LADMM {lower} times of {all}");
}

#[test]
fn is_for_nonnegative_x_only() {
    let p = on_data("l1-pca", 1.0, &gaussian(10, 8, 1), 2);
    let info = find_solvers(SOLVERS, "ep4orth").unwrap()[0];
    let said = info.build(&p, &SolverOptions::default()).err().unwrap().to_string();
    assert!(said.contains("nonneg-pca"), "{said}");
}
