//! OBCD on the penalties with kinks away from zero: feasible and monotone at every step, block-2
//! stationary at the end.

use crate::common::obcd::{check_end, options, walk};
use crate::common::{gaussian, normal, rng};
use orthopt::penalty::{Shape, find_penalty};
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage, covariance_model};
use orthopt::solvers::obcd::Model;
use orthopt_core::constraint::stiefel;

fn problem(name: &str, lambda: f64, set: &Shape, n: usize, r: usize, seed: u64) -> PcaProblem {
    let a = gaussian(2 * n, n, seed);
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
    Problem::new(f, (find_penalty(name).unwrap().make_shaped)(lambda, set).unwrap(), r).unwrap()
}

#[test]
fn every_penalty_ends_block_stationary() {
    let none = Shape::new();
    let weight: Shape = [("scad-weight".into(), 20.0)].into();
    let cases =
        [("mcp", 4.0, &none), ("scad", 4.0, &weight), ("capped-l1", 5.0, &none), ("elastic-net", 3.0, &none)];
    for (name, lambda, set) in cases {
        for (rule, block, model) in [(0, 2, Model::Exact), (1, 2, Model::Diagonal), (0, 4, Model::Exact)] {
            let what = format!("{name} rule {rule} block {block}");
            let p = problem(name, lambda, set, 12, 3, 7);
            let x0 = stiefel::random(12, 3, &mut rng(3));
            let x = walk(&what, &p, &options(rule, block, model, 5), &x0);
            check_end(&what, &p, model, &x);
        }
    }
}

/// Entries stay in the box, down to the last move.
#[test]
fn the_box_is_never_left() {
    let set: Shape = [("box-lower".into(), -0.6), ("box-upper".into(), 0.6)].into();
    let p = problem("box", 0.0, &set, 10, 2, 9);
    let mut rng = rng(1);
    // a feasible start: entries of the first try are small enough
    let x0 = (0..100)
        .map(|_| stiefel::orthonormalise(&orthopt::RowMat::from_fn(10, 2, |_, _| normal(&mut rng))))
        .find(|x| x.data().iter().all(|v| v.abs() <= 0.6))
        .unwrap();
    let x = walk("box", &p, &options(0, 2, Model::Exact, 5), &x0);
    check_end("box", &p, Model::Exact, &x);
    let largest = x.data().iter().fold(0.0f64, |a, v| a.max(v.abs()));
    assert!(largest <= 0.6 + 1e-9 && largest > 0.599, "{largest}"); // the bound is active
}
