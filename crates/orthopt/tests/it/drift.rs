//! Hundreds of thousands of accepted moves in one run: X stays on the manifold, F as tracked
//! stays F, and the image stays that of X.

use crate::common::Steps;
use crate::common::obcd::absolute;
use crate::common::{exact_objective, iterate, sparse, thinned, usual_start};
use orthopt::RowMat;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::solve::{Setting, Solver};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt_core::constraint::stiefel;

/// Runs until so many moves were accepted (α large: short moves that continue), looking at X and
/// F all the time; returns the last X.
fn long_run(what: &str, p: &PcaProblem, options: &ObcdOptions, wanted: u64) -> RowMat {
    let solver = Obcd::new(options.clone()).unwrap();
    let mut state = solver.init(p, usual_start(p, 1)).unwrap();
    let (mut last, mut looks) = (f64::INFINITY, 0);
    loop {
        let info = solver.steps(p, &mut state, 1000);
        assert!(info.objective <= last, "{what}: F rose from {last} to {}", info.objective);
        last = info.objective;
        looks += 1;
        let x = iterate(&solver, p, &state);
        let feasibility = stiefel::feasibility(x);
        assert!(
            feasibility <= 1e-12,
            "{what}: feasibility {feasibility:e} after {:?} moves",
            moves(&solver, p, &state)
        );
        let fresh = exact_objective(p, x);
        assert!((fresh - last).abs() <= 1e-10 * (1.0 + fresh.abs()), "{what}: F {fresh}, tracked {last}");
        if moves(&solver, p, &state) >= wanted {
            break;
        }
        assert!(looks < 20_000, "{what}: {} moves only", moves(&solver, p, &state));
    }
    let x = solver.finish(p, state).x;
    assert!(stiefel::feasibility(&x) <= 1e-13 * (x.ncols() as f64), "{what}");
    // zeros made exact in the end may lower F
    let end = exact_objective(p, &x);
    assert!(end <= last + 1e-10 * (1.0 + last.abs()), "{what}: F {end} after finishing, {last} before");
    if p.h.requires_nonneg() {
        assert!(x.data().iter().all(|v| *v >= 0.0), "{what}");
    }
    x
}

fn moves(solver: &Obcd, p: &PcaProblem, state: &<Obcd as Solver<PcaProblem>>::State) -> u64 {
    match solver.settings(p, state).get("moves") {
        Some(Setting::Int(moves)) => *moves,
        other => panic!("the number of moves is {other:?}"),
    }
}

#[test]
fn three_hundred_thousand_moves() {
    let a = thinned(90, 60, 0.5, 1);
    let p = crate::common::on_data("l1-pca", 0.5, &a, 10);
    let options = ObcdOptions { alpha: absolute(&p, 300.0), ..Default::default() };
    long_run("l1", &p, &options, 300_000);
}

/// Few rows take the same number of moves many times more often each.
#[test]
fn three_hundred_thousand_moves_of_few_rows() {
    let a = thinned(40, 16, 0.7, 4);
    let p = crate::common::on_data("l1-pca", 0.5, &a, 3);
    let options = ObcdOptions { alpha: absolute(&p, 3e3), ..Default::default() };
    long_run("l1, 16 rows", &p, &options, 300_000);
}

#[test]
fn every_storage_and_block_size() {
    let a = thinned(50, 24, 0.4, 2);
    let s = sparse(&a);
    let means: Vec<f64> = (0..24).map(|j| a.col(j).sum() / 50.0).collect();
    let dense = PcaData::Dense(a.as_ref());
    let rows = PcaData::Sparse(s.as_ref(), None);
    let centred = PcaData::Sparse(s.as_ref(), Some(means));
    for (what, data, storage) in [
        ("quadratic", &dense, Storage::Dense),
        ("dense gram", &dense, Storage::Gram),
        ("sparse gram", &rows, Storage::Gram),
        ("centred", &centred, Storage::Gram),
    ] {
        let p = orthopt::family::pca_problem("l1-pca", data, 4, 0.3, storage).unwrap();
        for block in [2, 6] {
            let options = ObcdOptions { alpha: absolute(&p, 100.0), block, ..Default::default() };
            long_run(&format!("{what}, block {block}"), &p, &options, 60_000);
        }
    }
}

/// Without a penalty the largest steps that can continue: rotations inside a flat eigenspace are
/// refused, so this ends early unless α keeps it slow.
#[test]
fn plain_pca_with_short_steps() {
    let a = thinned(70, 40, 1.0, 3);
    let p = crate::common::on_data("pca", 0.0, &a, 6);
    let options = ObcdOptions { alpha: absolute(&p, 2e3), ..Default::default() };
    long_run("pca", &p, &options, 100_000);
}
