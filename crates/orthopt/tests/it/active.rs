//! OBCD with zero rows narrowed down to those with a large gradient.

use crate::common::obcd::{TOL, walk};
use crate::common::{problem, solve_from};
use orthopt::RowMat;
use orthopt::certify::{Scope, block_stationarity};
use orthopt::objective::size;
use orthopt::solve::{Setting, Status};
use orthopt::solvers::obcd::{ObcdOptions, WorkingSet};

/// Few nonzero rows among many.
fn sparse_start(n: usize, r: usize, shift: usize) -> RowMat {
    RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == shift + 7 * k)))
}

fn active(seed: u64) -> ObcdOptions {
    ObcdOptions { working_set: WorkingSet::Active, seed, ..ObcdOptions::DEFAULT }
}

/// The end is block-2 stationary over all pairs, not only over those that were near: the certificate examines every one.
#[test]
fn what_was_narrowed_out_is_looked_at_in_the_end() {
    for (name, lambda) in [("l0-pca", 14.0), ("l0-pca", 6.0), ("l1-pca", 30.0)] {
        for seed in 0..2 {
            let p = problem(name, lambda, 420, 3, 70 + seed);
            let x0 = sparse_start(420, 3, seed as usize);
            let s = solve_from(&p, x0, &active(seed), 1e-9, 30_000_000);
            assert_eq!(s.status, Status::Converged, "{name}: {}", s.message);
            let certificate = block_stationarity(&p, &s.x, Scope::All);
            let limit = 1e-9 * size(s.scale, s.objective.total);
            assert!(certificate.holds(limit), "{name} {lambda}: {certificate:?}");
        }
    }
}

/// Every iteration keeps X feasible and F tracked, and lowers F as much as a move must.
#[test]
fn feasible_and_monotone() {
    let p = problem("l0-pca", 30.0, 260, 2, 5);
    walk("active", &p, &active(1), &sparse_start(260, 2, 3));
}

/// Fewer pairs than where all are drawn from, for a point as good: what the narrowing is for.
#[test]
fn fewer_pairs() {
    let pairs = |working_set, seed| {
        let p = problem("l0-pca", 14.0, 900, 3, 90 + seed);
        let o = ObcdOptions { working_set, seed, ..ObcdOptions::DEFAULT };
        let s = solve_from(&p, sparse_start(900, 3, 0), &o, TOL, 100_000_000);
        assert_eq!(s.status, Status::Converged);
        let Some(Setting::Int(pairs)) = s.settings.get("pairs") else { panic!("pairs are counted") };
        (*pairs as f64, s.objective.total)
    };
    let (mut near, mut all, mut excess) = (0.0, 0.0, 0.0);
    for seed in 0..4 {
        let (a, b) = (pairs(WorkingSet::Active, seed), pairs(WorkingSet::Random, seed));
        (near, all) = (near + a.0, all + b.0);
        excess += (a.1 - b.1) / b.1.abs() / 4.0;
    }
    assert!(near < 0.7 * all, "{near} of {all} pairs");
    assert!(excess < 0.05, "F higher by {excess} of |F| on average");
}
