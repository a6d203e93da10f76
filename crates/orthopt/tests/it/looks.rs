//! Which leader of a search runs first.

use std::sync::{Arc, Mutex};

use orthopt::Error;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::Effort;
use orthopt::family::Family;
use orthopt::internal::search::{Arm, MakeStart, Part, Portfolio, Settings, Task, search};
use orthopt::problem::PcaProblem;
use orthopt::solve::AnySolver;
use orthopt::solve::Stopping;
use orthopt::solvers::obcd::Obcd;

use crate::common::problem;

/// Arms and levels in the order in which their tasks were made.
type Order = Arc<Mutex<Vec<(usize, u32)>>>;

/// An arm that makes hardly a step from X⁰; without one it has no place in the problem. All but the first are of one solver.
fn arm(k: usize, x0: Option<RowMat>, order: &Order) -> Arm<PcaProblem> {
    let order = Arc::clone(order);
    let task = move |_: &PcaProblem, level: u32, seed: u64| {
        order.lock().unwrap().push((k, level));
        let solver = AnySolver::new(Obcd::seeded(seed));
        let part = Part { solver, most: Some(1), share: 1, again: None, patient: false, hands_on: None };
        let none = || Error::NoPlace { start: "none", why: "a test".into(), instead: "identity" };
        let x0 = x0.clone();
        let x0: MakeStart<PcaProblem> = Box::new(move |_, _| x0.clone().ok_or_else(none));
        Ok(Task { parts: vec![part], x0 })
    };
    Arm {
        solver: if k == 0 { "first" } else { "obcd" }.into(),
        start: k.to_string(),
        random: false,
        task: Box::new(task),
        constants: Box::new(|_| Default::default()),
    }
}

/// The order of a search with arms that begin at these points: three leaders and a look at the arms 1 and 3.
fn order_with(starts: [Option<&RowMat>; 5], hopeless: Option<f64>) -> Vec<(usize, u32)> {
    order_of(starts, hopeless, (vec![1, 3], Vec::new()), None)
}

/// The same with looks and glances of one's own; arm 4 may get a quick look first, as a start of arm 3's.
fn order_of(
    starts: [Option<&RowMat>; 5],
    hopeless: Option<f64>,
    (looks, glances): (Vec<usize>, Vec<usize>),
    quick: Option<u64>,
) -> Vec<(usize, u32)> {
    let p = problem("l0-pca", 2.0, 30, 8, 2);
    let order = Order::default();
    let mut arms: Vec<_> =
        starts.into_iter().enumerate().map(|(k, x0)| arm(k, x0.cloned(), &order)).collect();
    if quick.is_some() {
        arms[4].start = arms[3].start.clone();
    }
    let portfolio = Portfolio {
        arms,
        leaders: 3,
        hopeless,
        quick: quick.into_iter().map(|most| (4, most)).collect(),
        looks: looks.into_iter().map(|k| (k, 1)).collect(),
        glances,
        moves: Vec::new(),
        run: 1,
        polish: 1,
        freshest: 0,
        settle: None,
        tuning: Default::default(),
    };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let settings = Settings { seed: 1, effort: Some(Effort::Quick), stopping, bound: None };
    search(&p, &portfolio, settings, &Cancel::never(), &mut []).unwrap();
    let order = order.lock().unwrap();
    order.clone()
}

/// A point, and a better one.
fn points() -> (RowMat, RowMat) {
    let p = problem("l0-pca", 2.0, 30, 8, 2);
    let (worse, better) = (p.start("identity", 0).unwrap(), p.start("coordinates", 0).unwrap());
    let [f, lower] = [&worse, &better].map(|x| p.objective(x).total);
    assert!(lower < f - 0.02 * lower.abs(), "{f} {lower}");
    (worse, better)
}

#[test]
fn the_best_of_the_looks_comes_after_the_first_leader() {
    let (worse, better) = points();
    let (w, b) = (Some(&worse), Some(&better));
    let order = order_with([w, w, w, b, w], None);
    assert_eq!(order[..6], [(0, 2), (1, 0), (3, 0), (3, 2), (1, 2), (2, 2)], "{order:?}");
    // what has been looked at is not looked at again
    assert_eq!(order.iter().filter(|place| **place == (3, 0)).count(), 1, "{order:?}");
}

#[test]
fn where_the_first_leader_has_no_place_the_best_of_the_looks_comes_first() {
    let (worse, better) = points();
    let (w, b) = (Some(&worse), Some(&better));
    let order = order_with([None, w, w, b, w], None);
    assert_eq!(order[..6], [(0, 2), (1, 0), (3, 0), (3, 2), (1, 2), (2, 2)], "{order:?}");
    assert_eq!(order.iter().filter(|place| place.0 == 0).count(), 1, "once is enough: {order:?}");
}

#[test]
fn leaders_whose_solver_ends_far_above_the_best_wait() {
    let (worse, better) = points();
    let (w, b) = (Some(&worse), Some(&better));
    // the first solver is at the better point, and the run of the other one from 1 at the worse
    let starts = [b, w, w, w, w];
    let order = order_with(starts, Some(0.01));
    assert_eq!(order[..5], [(0, 2), (1, 0), (3, 0), (1, 2), (2, 0)], "2 runs with the others: {order:?}");
    let order = order_with(starts, Some(10.0));
    assert_eq!(order[..5], [(0, 2), (1, 0), (3, 0), (1, 2), (2, 2)], "not so far above: {order:?}");
    // the better end of a solver's runs counts
    let order = order_with([b, w, w, b, w], Some(0.01));
    assert_eq!(order[..6], [(0, 2), (1, 0), (3, 0), (3, 2), (1, 2), (2, 2)], "{order:?}");
}

#[test]
fn arms_not_far_behind_at_a_glance_run_before_the_other_leaders() {
    let (worse, better) = points();
    let (w, b) = (Some(&worse), Some(&better));
    // 3 is no worse than the first arm
    let order = order_of([w, w, w, b, w], None, (Vec::new(), vec![3]), None);
    assert_eq!(order[..5], [(0, 2), (3, 0), (3, 1), (1, 2), (2, 2)], "{order:?}");
    // it is far behind, and has its turn with the others
    let order = order_of([b, w, w, w, w], None, (Vec::new(), vec![3]), None);
    assert_eq!(order[..4], [(0, 2), (3, 0), (1, 2), (2, 2)], "{order:?}");
    // a quick look from its start is far behind, or is not
    let order = order_of([b, w, w, b, w], None, (Vec::new(), vec![3]), Some(1));
    assert_eq!(order[..4], [(4, 0), (0, 2), (1, 2), (2, 2)], "{order:?}");
    let order = order_of([b, w, w, b, b], None, (Vec::new(), vec![3]), Some(1));
    assert_eq!(order[..6], [(4, 0), (0, 2), (3, 0), (3, 1), (1, 2), (2, 2)], "{order:?}");
}

#[test]
fn after_a_glance_one_start_does_not_tell_that_a_solver_is_hopeless() {
    let (worse, better) = points();
    let (w, b) = (Some(&worse), Some(&better));
    // 3 is ahead; 1 and 2 are of its solver, which the first arm is not
    let glanced = |hopeless| order_of([b, w, w, w, w], Some(hopeless), (Vec::new(), vec![3]), None);
    // 1 runs, and 2 although 1 has ended far above: only then are there two
    assert_eq!(glanced(0.01)[..4], [(0, 2), (3, 0), (1, 2), (2, 2)], "{:?}", glanced(0.01));
    // without glances it waits
    let order = order_of([b, w, w, w, w], Some(0.01), (Vec::new(), Vec::new()), None);
    assert_eq!(order[..2], [(0, 2), (1, 2)], "{order:?}");
    assert!(!order.contains(&(2, 2)), "{order:?}");
}

#[test]
fn glances_are_the_same_on_any_number_of_threads() {
    let (worse, better) = points();
    let (w, b) = (Some(&worse), Some(&better));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| order_of([w, w, b, b, w], None, (Vec::new(), vec![3, 4]), Some(1)))
    };
    let one = on(1);
    assert!(one.contains(&(3, 1)), "{one:?}");
    assert_eq!(one, on(2));
}
