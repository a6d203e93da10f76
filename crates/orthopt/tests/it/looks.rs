//! Which leader of a search runs first.

use std::sync::{Arc, Mutex};

use orthopt::error::Error;
use orthopt::family::Family;
use orthopt::linalg::RowMat;
use orthopt::problem::PcaProblem;
use orthopt::search::{Arm, Effort, Origin, Part, Portfolio, Settings, Task, search};
use orthopt::solve::Stopping;
use orthopt::solvers::obcd::Obcd;

use crate::common::problem;

/// Arms and levels in the order in which their tasks were made.
type Order = Arc<Mutex<Vec<(usize, u32)>>>;

/// An arm that makes hardly a step from X⁰; without one it has no place in the problem.
fn arm(k: usize, x0: Option<RowMat>, order: &Order) -> Arm<PcaProblem> {
    let order = Arc::clone(order);
    let task = move |_: &PcaProblem, level: u32, seed: u64| {
        order.lock().unwrap().push((k, level));
        let solver = Box::new(Obcd::seeded(seed));
        let part = Part { solver, most: Some(1), share: 1, again: None, patient: false, hands_on: None };
        let none = || Error::NoPlace { start: "none", why: "a test".into(), instead: "identity" };
        let x0 = x0.clone();
        let x0 = Origin::Start(Box::new(move |_: &PcaProblem, _| x0.clone().ok_or_else(none)));
        Ok(Task { parts: vec![part], x0 })
    };
    Arm {
        solver: "obcd".into(),
        start: k.to_string(),
        random: false,
        task: Box::new(task),
        constants: Box::new(|_| Default::default()),
    }
}

/// The order of a search with two leaders and a look at the arms 1 and 3, of which 3 begins at the better point.
fn order_with(first: Option<RowMat>) -> Vec<(usize, u32)> {
    let p = problem("l0-pca", 2.0, 30, 8, 2);
    let start = |name: &str| p.start(name, 0).unwrap();
    let (worse, better) = (start("identity"), start("coordinates"));
    assert!(p.objective(&better).total < p.objective(&worse).total);
    let order = Order::default();
    let starts = [first, Some(worse.clone()), Some(worse), Some(better)];
    let arms = starts.into_iter().enumerate().map(|(k, x0)| arm(k, x0, &order)).collect();
    let portfolio = Portfolio {
        arms,
        leaders: 2,
        quick: Vec::new(),
        looks: vec![1, 3],
        moves: Vec::new(),
        run: 1,
        polish: 1,
        settle: None,
    };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let settings = Settings { seed: 1, effort: Some(Effort::Quick), stopping, bound: None };
    search(&p, &portfolio, settings, &mut []).unwrap();
    let order = order.lock().unwrap();
    order.clone()
}

#[test]
fn where_the_first_leader_has_no_place_the_best_of_the_looks_comes_first() {
    let order = order_with(None);
    assert_eq!(order[..5], [(0, 2), (1, 0), (3, 0), (3, 2), (1, 2)], "{order:?}");
    // what has been looked at is not looked at again
    assert_eq!(order.iter().filter(|place| **place == (3, 0)).count(), 1, "{order:?}");
}

#[test]
fn where_it_has_one_nothing_is_looked_at() {
    let x = problem("l0-pca", 2.0, 30, 8, 2).start("identity", 0).unwrap();
    let order = order_with(Some(x));
    assert_eq!(order[..2], [(0, 2), (1, 2)], "{order:?}");
    assert!(!order.contains(&(1, 0)), "{order:?}");
}
