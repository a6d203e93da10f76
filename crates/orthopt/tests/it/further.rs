//! A polish that was cut off while F fell continues where the search does, before its moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orthopt::Error;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::Effort;
use orthopt::family::Family;
use orthopt::problem::PcaProblem;
use orthopt::solve::AnySolver;
use orthopt::solve::{Solution, Stopping};
use orthopt::solvers::obcd::Obcd;
use orthopt_run::search::Arm;
use orthopt_run::search::MakeStart;
use orthopt_run::search::MakeTask;
use orthopt_run::search::Move;
use orthopt_run::search::Phase;
use orthopt_run::search::Portfolio;
use orthopt_run::search::Settings;
use orthopt_run::search::Task;
use orthopt_run::search::at;
use orthopt_run::search::search;
use rand_pcg::Pcg64;

use crate::common::problem;

/// A move that does not apply anywhere.
struct Nowhere;

impl Move<PcaProblem> for Nowhere {
    fn name(&self) -> &'static str {
        "nowhere"
    }

    fn point(&self, _: &PcaProblem, _: &[RowMat], _: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        None
    }

    fn phases(&self, _: &PcaProblem, _: &mut Pcg64) -> Vec<Phase<PcaProblem>> {
        Vec::new()
    }
}

/// OBCD with that much work at first.
fn phase(most: u64, again: Option<f64>) -> Phase<PcaProblem> {
    Phase {
        solver: AnySolver::new(Obcd::seeded(1)),
        most: Some(most),
        share: 1,
        again,
        patient: false,
        hands_on: None,
    }
}

/// An arm of OBCD from X⁰.
fn arm(x0: RowMat, again: Option<f64>) -> Arm<PcaProblem> {
    Arm {
        solver: "obcd".into(),
        start: "a point".into(),
        random: false,
        continues: false,
        task: Box::new(move |_, _, _| Ok(Task { phases: vec![phase(3_000_000, again)], x0: at(x0.clone()) })),
        constants: Box::new(|_| Default::default()),
    }
}

fn sixty() -> PcaProblem {
    problem("l0-pca", 2.0, 60, 40, 3)
}

/// A search with these arms, the first of which leads; how often the best point was polished, and what was found.
fn searched(p: &PcaProblem, arms: Vec<Arm<PcaProblem>>) -> (usize, Solution) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let settle: MakeTask<PcaProblem> = Box::new(move |p, _, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        let x0 = at(RowMat::zeros(p.shape().0, p.shape().1));
        Ok(Task { phases: vec![phase(1, None)], x0 })
    });
    let portfolio = Portfolio {
        arms,
        moves: vec![Arc::new(Nowhere)],
        run: 1,
        polish: 1,
        settle: Some(settle),
        tuning: Default::default(),
    };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let settings =
        Settings { seed: 1, effort: Some(Effort::Quick), stopping, work: None, before: 0, bound: None };
    let found = search(p, &portfolio, settings, &Cancel::never(), &mut []).unwrap();
    (count.load(Ordering::Relaxed), found)
}

#[test]
fn a_polish_that_was_cut_off_goes_on() {
    let p = sixty();
    let polished = |again| searched(&p, vec![arm(p.start("identity", 0).unwrap(), again)]);
    // to settle the best point in the end is once
    let (times, alone) = polished(None);
    assert_eq!((times, alone.stages.len()), (1, 2));
    let (times, found) = polished(Some(1e-3));
    assert!(times > 1, "{times}");
    assert_eq!(found.stages.len(), times + 1, "what it was made of");
    assert!(found.stages.windows(2).all(|s| s[1].objective <= s[0].objective));
    assert!(found.objective.total < found.stages[0].objective);
}

#[test]
fn a_polish_that_cannot_reach_the_best_point_ends() {
    let p = sixty();
    let start = p.start("identity", 0).unwrap();
    // OBCD to its end, and the same from the start with as much work again while F falls at all
    let good = searched(&p, vec![arm(start.clone(), Some(1e-9))]).1.x;
    let work = |first: &RowMat| {
        // at level 0 only, so that its work is that of one run
        let mut second = arm(start.clone(), Some(1e-9));
        let made = second.task;
        let none = || Error::NoPlace { start: "a point", why: "a test".into(), instead: "identity" };
        second.task =
            Box::new(move |p, level, seed| if level == 0 { made(p, level, seed) } else { Err(none()) });
        // two run side by side, and the third one is measured by what they have found
        let found = searched(&p, vec![arm(first.clone(), None), arm(first.clone(), None), second]).1;
        let report = found.search.unwrap().arms.swap_remove(2);
        assert_eq!(report.runs, 1);
        report.work
    };
    // beside a point that it may come to, and beside one far below
    let (near, far) = (work(&start), work(&good));
    assert!(2 * far < near, "{far} {near}");
}

/// Without chance in it a run that has ended is not run again, and one that was cut off continues where it was.
#[test]
fn what_has_no_chance_in_it_is_not_run_twice() {
    let p = sixty();
    let raced = |most: Option<u64>, continues: bool| {
        let (start, count) = (p.start("identity", 0).unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        let task: MakeTask<PcaProblem> = Box::new(move |_, _, _| {
            let (x, counted) = (start.clone(), Arc::clone(&counted));
            let x0: MakeStart<PcaProblem> = Box::new(move |_, _| {
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(x.clone())
            });
            Ok(Task { phases: vec![Phase { most, patient: true, ..phase(1, None) }], x0 })
        });
        let own = Arm { task, continues, ..arm(p.start("identity", 0).unwrap(), None) };
        let found = searched(&p, vec![own]).1;
        let report = found.search.unwrap().arms.swap_remove(0);
        (count.load(Ordering::Relaxed), report.runs, report.objective)
    };
    let (starts, runs, end) = raced(None, false);
    assert!(starts > 1 && runs > 1, "{starts} and {runs}: the test compares nothing");
    assert_eq!(raced(None, true), (1, 1, end));
    let (starts, runs, again) = raced(Some(3_000_000), false);
    assert!(starts > 1 && starts as u64 == runs);
    let (starts, runs, further) = raced(Some(3_000_000), true);
    assert_eq!(starts, 1);
    assert!(runs > 1 && further < again && further >= end, "{runs}: {end}, {further}, {again}");
}

/// A start that finds no X before the end has a moment more, and then the error says that there was no time.
#[test]
fn without_an_x_in_time_the_error_asks_for_more_of_it() {
    let p = sixty();
    let endless = || -> MakeStart<PcaProblem> {
        Box::new(|_, cancel: &Cancel| {
            while !cancel.is_over() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            Err(Error::Incompatible("no X".into()))
        })
    };
    let task = move |_: &PcaProblem, _, _| Ok(Task { phases: vec![phase(1, None)], x0: endless() });
    let own = Arm { task: Box::new(task), ..arm(p.start("identity", 0).unwrap(), None) };
    let portfolio = Portfolio {
        arms: vec![own],
        moves: vec![],
        run: 1,
        polish: 1,
        settle: None,
        tuning: Default::default(),
    };
    let stopping = Stopping { max_iters: None, time_limit: Some(0.01), tol: 1e-9, min_decrease: 0.0 };
    let settings = Settings { seed: 1, effort: None, stopping, work: None, before: 0, bound: None };
    let error = search(&p, &portfolio, settings, &Cancel::never(), &mut []).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("in the time that there was: allow more"), "{words}");
    // Ctrl-C is no lack of time
    let stopping = Stopping { time_limit: None, ..stopping };
    let settings = Settings { seed: 1, effort: None, stopping, work: None, before: 0, bound: None };
    let interrupted = Cancel::never();
    interrupted.cancel();
    let words = search(&p, &portfolio, settings, &interrupted, &mut []).unwrap_err().to_string();
    assert!(words.starts_with("interrupted before an X") && !words.contains("time"), "{words}");
}
