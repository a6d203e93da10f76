//! LADMM that ends where X and its sparse copy agree, arms that do so, and a default λ that leaves something to find.

use orthopt::cancel::Cancel;
use orthopt::family::{Family, Request, find_problem, pose};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{MaxIterations, RunOptions, Solution, Status, run};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;
use orthopt_solvers::ladmm::Ladmm;

use crate::common::first_order::wide;
use crate::common::{exact_objective, gaussian};

fn ladmm(p: &PcaProblem, near: f64) -> Solution {
    let start = if p.h.requires_nonneg() { Start::Partition } else { Start::Random };
    let x0 = start.point(&p.f, p.rank(), p.h.requires_nonneg(), 3).unwrap();
    let solver = Ladmm { near, ..Ladmm::DEFAULT };
    run(p, &solver, x0, RunOptions::default(), &mut MaxIterations(Some(20_000)), &mut []).unwrap()
}

/// It ends before it converges, at a feasible point that is as good to a percent, and the later the nearer X and Y are to be.
#[test]
fn what_has_met_ends_near_its_end() {
    for (name, lambda) in [("l1-pca", 0.1), ("l0-pca", 0.01), ("nonneg-pca", 0.0)] {
        let p = wide(name, lambda, 60, 90, 4, 5);
        let (whole, near, nearer) = (ladmm(&p, 0.0), ladmm(&p, 1e-3), ladmm(&p, 1e-4));
        assert!(near.feasibility <= 1e-12 && near.status == Status::Stalled, "{name}: {}", near.message);
        assert!(near.message.contains("sparse copy agree"), "{name}: {}", near.message);
        assert!(near.iterations <= nearer.iterations && nearer.iterations <= whole.iterations, "{name}");
        assert!(
            4 * near.iterations <= 3 * whole.iterations,
            "{name}: {} of {}",
            near.iterations,
            whole.iterations
        );
        let (found, end) = (exact_objective(&p, &near.x), exact_objective(&p, &whole.x));
        assert!((found - end).abs() <= 1e-2 * end.abs(), "{name}: {found} beside {end}");
        assert!(stiefel::feasibility(&near.x) <= 1e-12);
    }
}

/// From X⁰ = Y⁰ nothing has been decided yet: the first iterations do not count.
#[test]
fn a_start_has_not_met_anything() {
    let p = wide("l1-pca", 0.1, 60, 90, 4, 5);
    assert!(ladmm(&p, 1e9).iterations >= 30);
}

/// Variables without structure: half of their variance as λ leaves single ones, half of the largest covariance does not.
#[test]
fn the_default_lambda_leaves_something_to_find() {
    let a = gaussian(60, 90, 9);
    let (posed, p) = default_l1(&a);
    let mean = 0.5 * 60.0;
    assert!(posed.1.contains("would leave one variable per component"), "{}", posed.1);
    assert!(posed.0 < 0.6 * mean, "{}", posed.0);
    let found = p.plan(&Request::default()).unwrap();
    let stopping =
        orthopt::solve::Stopping { max_iters: Some(3000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let found = found.run(&p, &Request::default(), &stopping, None, &Cancel::never(), &mut []).unwrap();
    assert!(found.nnz > 3 * p.rank(), "{} nonzeros", found.nnz);

    // variables that go together: as before
    let common = gaussian(60, 1, 10);
    let b = faer::Mat::from_fn(60, 20, |i, j| common[(i, 0)] + 0.3 * a[(i, j)]);
    let (posed, _) = default_l1(&b);
    assert!(posed.1.contains("of the mean of the"), "{}", posed.1);
}

/// λ and why, and the problem.
fn default_l1(a: &faer::Mat<f64>) -> ((f64, String), PcaProblem) {
    let options = Request { rank: Some(3.into()), ..Default::default() };
    let posed = pose(find_problem("l1-pca").unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
    let why =
        posed.reasons.iter().map(ToString::to_string).find(|r| r.contains("lambda")).unwrap_or_default();
    let orthopt::family::AnyProblem::Pca(p) = posed.problem else { panic!("a PCA problem") };
    ((posed.lambda.unwrap(), why), p)
}
