//! A polish that was cut off while F fell goes on where the search does, before its moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orthopt::family::Family;
use orthopt::linalg::RowMat;
use orthopt::problem::PcaProblem;
use orthopt::search::{Arm, Effort, GoOn, MakeTask, Move, Origin, Part, Portfolio, Settings, Task, search};
use orthopt::solve::{Solution, Stopping};
use orthopt::solvers::obcd::Obcd;
use rand_pcg::Pcg64;

use crate::common::problem;

/// A move that has no place anywhere.
struct Nowhere;

impl Move<PcaProblem> for Nowhere {
    fn name(&self) -> &'static str {
        "nowhere"
    }

    fn point(&self, _: &PcaProblem, _: &[RowMat], _: &mut Pcg64, _: &GoOn<'_>) -> Option<RowMat> {
        None
    }

    fn parts(&self, _: &PcaProblem, _: &mut Pcg64) -> Vec<Part<PcaProblem>> {
        Vec::new()
    }
}

/// OBCD with that much work at first.
fn part(most: u64, again: Option<f64>) -> Part<PcaProblem> {
    Part {
        solver: Box::new(Obcd::seeded(1)),
        most: Some(most),
        share: 1,
        again,
        patient: false,
        hands_on: None,
    }
}

/// A search with one arm that is cut off soon; how often the best point was polished, and what was found.
fn polished(again: Option<f64>) -> (usize, Solution) {
    let p = problem("l0-pca", 2.0, 60, 40, 3);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let settle: MakeTask<PcaProblem> = Box::new(move |p, _, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        let x0 = Origin::Point(RowMat::zeros(p.shape().0, p.shape().1));
        Ok(Task { parts: vec![part(1, None)], x0 })
    });
    let x0 = p.start("identity", 0).unwrap();
    let arm = Arm {
        solver: "obcd".into(),
        start: "identity".into(),
        random: false,
        task: Box::new(move |_, _, _| {
            Ok(Task { parts: vec![part(3_000_000, again)], x0: Origin::Point(x0.clone()) })
        }),
        constants: Box::new(|_| Default::default()),
    };
    let portfolio = Portfolio {
        arms: vec![arm],
        leaders: 1,
        hopeless: None,
        quick: Vec::new(),
        looks: Vec::new(),
        glances: Vec::new(),
        moves: vec![Arc::new(Nowhere)],
        run: 1,
        polish: 1,
        freshest: 0,
        settle: Some(settle),
    };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let settings = Settings { seed: 1, effort: Some(Effort::Quick), stopping, bound: None };
    let found = search(&p, &portfolio, settings, &mut []).unwrap();
    (count.load(Ordering::Relaxed), found)
}

#[test]
fn a_polish_that_was_cut_off_goes_on() {
    // to settle the best point in the end is once
    let (times, alone) = polished(None);
    assert_eq!((times, alone.stages.len()), (1, 2));
    let (times, found) = polished(Some(1e-3));
    assert!(times > 1, "{times}");
    assert_eq!(found.stages.len(), times + 1, "what it was made of");
    assert!(found.stages.windows(2).all(|s| s[1].objective <= s[0].objective));
    assert!(found.objective.total < found.stages[0].objective);
}
