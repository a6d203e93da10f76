//! The solver of docs/adding-a-penalty.md, in a list of its own: `crates/orthopt/tests/it/walkthrough.rs` compares this with the page.

mod prox_project;

use orthopt_core::penalty::{AnyPenalty, L0, L1};
use orthopt_core::problem::PcaProblem;
use orthopt_core::smooth::{AnySmooth, DenseQuadratic};
use orthopt_core::solve::Solver;
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_linalg::RowMat;

#[rustfmt::skip]
static SOLVERS: &[SolverInfo] = &crate::entries![
    prox_project::INFO,
];

#[test]
fn it_lowers_f_on_the_manifold() {
    let (n, r) = (9, 2);
    let c = RowMat::from_fn(n, n, |i, k| f64::from(u8::from(i == k)) * (1.0 + i as f64)).to_mat();
    let f = AnySmooth::Dense(DenseQuadratic::negative(c.as_ref()).unwrap());
    let x0 = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)));
    let p = PcaProblem::new(f.clone(), AnyPenalty::L1(L1::new(0.3).unwrap()), r).unwrap();
    let solver = SOLVERS[0].build(&p, &SolverOptions::default()).unwrap();
    let mut state = solver.init(&p, x0.clone()).unwrap();
    for _ in 0..50 {
        solver.step(&p, &mut state);
    }
    let found = solver.finish(&p, state);
    assert!(p.value(&found.x) <= p.value(&x0) && p.feasibility(&found.x) < 1e-12);
    // l0 is not convex
    let p = PcaProblem::new(f, AnyPenalty::L0(L0::new(0.3).unwrap()), r).unwrap();
    let refused = SOLVERS[0].build(&p, &SolverOptions::default()).err().unwrap();
    assert!(refused.to_string().contains("solver prox-project is for convex penalties"), "{refused}");
}
