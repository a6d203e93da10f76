//! The search for the best point: the same for any number of threads, never worse for more work, and at or
//! below what it is made of.

use faer::Mat;
use orthopt::cancel::Cancel;
use orthopt::family::{Between, Effort, Family, Limit, Request, find_problem, pose};
use orthopt::options::Given;
use orthopt::penalty::{AnyPenalty, BoxBounds};
use orthopt::problem::{Cardinality, CardinalityProblem, PcaData, PcaProblem};
use orthopt::smooth::Measure;
use orthopt::solve::{
    Chain, Event, Observer, RunOptions, SearchReport, Solution, Status, Stopping, run_restarts,
};
use orthopt_core::constraint::stiefel::feasibility;
use orthopt_run::search::PARTS;
use orthopt_run::search::Settings;
use orthopt_run::search::Tuning;
use orthopt_run::search::search;
use rand::SeedableRng;

use crate::common::problem;

const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

fn auto(p: &PcaProblem, seed: u64, stopping: Stopping, effort: Option<Effort>) -> Solution {
    let wanted = Request { seed: Some(seed), effort, ..Default::default() };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

const PROBLEMS: [(&str, f64); 3] = [("l0-pca", 2.0), ("l1-pca", 3.0), ("nonneg-pca", 0.0)];

#[test]
fn the_number_of_threads_changes_nothing() {
    for (name, lambda) in PROBLEMS {
        let p = problem(name, lambda, 30, 4, 3);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| auto(&p, 5, STOPPING, Some(Effort::Quick)))
        };
        // from a thread of the pool, which performs tasks as well, and from outside
        let one = with(1);
        for other in [with(3), auto(&p, 5, STOPPING, Some(Effort::Quick))] {
            assert_eq!(one.x, other.x, "{name}");
            let (a, b) = (one.search.as_ref().unwrap(), other.search.unwrap());
            assert_eq!((a.work, a.race, a.winner), (b.work, b.race, b.winner), "{name}");
            assert_eq!(one.iterations, other.iterations, "{name}");
        }
    }
}

/// Methods that raise a penalty have no sparse point until they end, and on large problems that takes long: a run that is
/// cut off before returns what a quick start found.
#[test]
fn there_is_a_sparse_point_from_the_first_moment_on() {
    for name in ["l0-pca", "l1-pca"] {
        let p = problem(name, 50.0, 60, 20, 4);
        let sparse = p.objective(&p.start("coordinates", 0).unwrap()).total;
        let cut_off = auto(&p, 1, Stopping { max_iters: Some(1), ..STOPPING }, None);
        assert!(cut_off.objective.total <= sparse, "{name}: {} {sparse}", cut_off.objective.total);
    }
}

#[test]
fn more_work_is_never_worse() {
    for (name, lambda) in PROBLEMS {
        let p = problem(name, lambda, 24, 3, 1);
        let mut before = f64::INFINITY;
        for most in [10, 100, 1_000, 3_000, 10_000, 50_000] {
            let s = auto(&p, 2, Stopping { max_iters: Some(most), ..STOPPING }, None);
            let f = s.objective.total;
            assert!(s.iterations <= most, "{name}: {} of {most}", s.iterations);
            assert!(
                f <= before + 1e-9 * (1.0 + f.abs()),
                "{name}: {f} after {before} with {most} iterations"
            );
            assert!(feasibility(&s.x) <= 1e-10);
            before = f;
        }
        let efforts = [Effort::Quick, Effort::Normal];
        let all = efforts.map(|effort| auto(&p, 2, STOPPING, Some(effort)).objective.total);
        assert!(all[1] <= all[0] + 1e-9 * all[0].abs(), "{all:?}");
    }
}

/// The arms alone with their defaults, one start each: the search is not above any.
#[test]
fn no_arm_alone_ends_lower() {
    for (name, lambda) in PROBLEMS {
        for seed in 0..2 {
            let p = problem(name, lambda, 24, 3, 20 + seed);
            let found = auto(&p, seed, STOPPING, None);
            assert!(matches!(found.status, Status::Converged | Status::Stalled), "{}", found.message);
            let plan = p.plan(&Request::default()).unwrap();
            for arm in &plan.portfolio.as_ref().unwrap().arms {
                let wanted = Request {
                    solver: Some(arm.solver.clone()),
                    constants: Given::new(),
                    seed: Some(seed),
                    ..Default::default()
                };
                let alone = p.plan(&wanted).unwrap();
                let x0 = p.start(&arm.start, seed).unwrap();
                let start = |k| alone.start(&p, k).map(|chain| Chain { x0: x0.clone(), ..chain });
                let options = RunOptions { max_iterations: Some(300_000), ..Default::default() };
                let s = run_restarts(&p, start, options, &mut STOPPING.criteria(), &mut []).unwrap();
                let (ours, theirs) = (found.objective.total, s.objective.total);
                let what = format!("{name} seed {seed}: {ours} above {theirs} of {arm:?}");
                assert!(ours <= theirs + 1e-3 * theirs.abs(), "{what}");
            }
        }
    }
}

#[test]
fn observers_see_a_best_f_that_never_jumps_back_and_may_end_it() {
    struct Watch {
        last: f64,
        steps: usize,
        most: usize,
        cancel: Cancel,
    }
    impl Observer for Watch {
        fn observe(&mut self, event: Event<'_>) {
            if let Event::Step(p) = event {
                assert!(p.objective <= self.last, "{} after {}", p.objective, self.last);
                (self.last, self.steps) = (p.objective, self.steps + 1);
            }
            if self.steps >= self.most {
                self.cancel.cancel();
            }
        }
    }
    let p = problem("l0-pca", 2.0, 30, 4, 3);
    let wanted = Request::default();
    let plan = p.plan(&wanted).unwrap();
    for most in [1, 20, usize::MAX] {
        let cancel = Cancel::never();
        let mut watch = Watch { last: f64::INFINITY, steps: 0, most, cancel: cancel.clone() };
        let s = plan.run(&p, &wanted, &STOPPING, None, &cancel, &mut [&mut watch]).unwrap();
        assert_eq!(s.status == Status::Interrupted, most < usize::MAX, "{most}: {}", s.message);
        assert!(feasibility(&s.x) <= 1e-10, "{most}: {:e}", feasibility(&s.x));
        // F of the result is computed anew; F on the way is tracked pair by pair, and drifts by rounding
        let seen = watch.last + 1e-9 * (1.0 + watch.last.abs());
        assert!(s.objective.total <= seen, "{most}: {} after {}", s.objective.total, watch.last);
        let falls = s.trace.points().windows(2).all(|w| w[1].objective < w[0].objective);
        assert!(falls && !s.trace.points().is_empty());
    }
}

#[test]
fn it_ends_where_f_meets_its_bound() {
    let p = problem("l0-pca", 2.0, 12, 2, 1);
    let free = auto(&p, 1, STOPPING, Some(Effort::Thorough));
    let plan = p.plan(&Request::default()).unwrap();
    let bound = Some(free.objective.total);
    let settings = Settings {
        seed: 1,
        effort: Some(Effort::Thorough),
        stopping: STOPPING,
        work: None,
        before: 0,
        bound,
    };
    let s = search(&p, plan.portfolio.as_ref().unwrap(), settings, &Cancel::never(), &mut []).unwrap();
    assert_eq!(s.status, Status::Optimal, "{}", s.message);
    assert!(s.message.starts_with("F is the global minimum"), "{}", s.message);
    assert!(s.search.unwrap().work < free.search.unwrap().work);
    // a loose tolerance is no proof
    let stopping = Stopping { tol: 1e-2, min_decrease: 1e-2, ..STOPPING };
    let bound = bound.map(|bound| bound - 1e-6 * bound.abs());
    let settings = Settings { stopping, bound, ..settings };
    let s = search(&p, plan.portfolio.as_ref().unwrap(), settings, &Cancel::never(), &mut []).unwrap();
    assert_ne!(s.status, Status::Optimal, "{}", s.message);
}

/// A limit of work is kept to what is in flight, means the same for any number of threads, and more of it is no worse.
#[test]
fn a_limit_of_work_is_kept() {
    let p = problem("l0-pca", 2.0, 30, 4, 3);
    let plan = p.plan(&Request::default()).unwrap();
    let of = |work: u64| {
        let effort = Some(Effort::Thorough);
        let settings =
            Settings { seed: 1, effort, stopping: STOPPING, work: Some(work), before: 0, bound: None };
        search(&p, plan.portfolio.as_ref().unwrap(), settings, &Cancel::never(), &mut []).unwrap()
    };
    let mut lowest = f64::INFINITY;
    for most in [1, 10_000_000, 100_000_000] {
        let (one, other) = (
            orthopt::threads::pool(Some(1)).unwrap().install(|| of(most)),
            orthopt::threads::pool(Some(3)).unwrap().install(|| of(most)),
        );
        assert_eq!(one.x, other.x, "{most}");
        assert_eq!(one.status, Status::Stalled, "{}", one.message);
        assert!(one.message.contains("has done all the work it may do"), "{}", one.message);
        assert!(feasibility(&one.x) <= 1e-10);
        assert!(one.objective.total <= lowest, "{most}: {} {lowest}", one.objective.total);
        lowest = one.objective.total;
    }
}

/// Every move has a place here, and what it gives is feasible.
#[test]
fn moves_lead_to_feasible_points() {
    for (name, lambda) in [("l0-pca", 2.0), ("l1-pca", 0.5), ("nonneg-pca", 0.0)] {
        let p = problem(name, lambda, 30, 3, 5);
        let plan = p.plan(&Request::default()).unwrap();
        let portfolio = plan.portfolio.as_ref().unwrap();
        let best: Vec<_> = (0..4).map(|seed| p.start(p.recipe().default_start, seed).unwrap()).collect();
        let best: Vec<_> = best
            .into_iter()
            .chain(p.start("k-components", 1).or_else(|_| p.start("coordinates", 1)).ok())
            .rev()
            .collect();
        let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
        for movement in &portfolio.moves {
            let mut found = 0;
            for _ in 0..10 {
                let Some(x) = movement.point(&p, &best, &mut rng, &Cancel::never()) else { continue };
                found += 1;
                let what = format!("{name}: {}", movement.name());
                assert!(feasibility(&x) <= 1e-10, "{what}: {:e}", feasibility(&x));
                assert!(p.objective(&x).total.is_finite(), "{what}");
            }
            assert!(found > 0, "{name}: {}", movement.name());
        }
        let names: Vec<_> = portfolio.moves.iter().map(|m| m.name()).collect();
        assert_eq!(name != "l1-pca", names.contains(&"components dropped and grown"), "{names:?}");
    }
}

#[test]
fn a_problem_without_a_feasible_start_ends_and_says_so() {
    let mut p = problem("l1-pca", 1.0, 12, 2, 3);
    // no column of length 1 has entries of at most 0.1
    p.h = AnyPenalty::Box(BoxBounds::new(-0.1, 0.1).unwrap());
    let wanted = Request::default();
    let message = p
        .plan(&wanted)
        .unwrap()
        .run(&p, &wanted, &STOPPING, None, &Cancel::never(), &mut [])
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("infeasible: no 12 x 2 X with X'X = I has all entries in [-0.1, 0.1]"),
        "{message}"
    );
}

/// Starts without chance are made once for all arms; another seed must still give another start where there is
/// chance in it.
fn starts_follow_their_seed<P: Family>(p: &P) {
    let plan = p.plan(&Request::default()).unwrap();
    let mut with_chance = 0;
    for arm in &plan.portfolio.as_ref().unwrap().arms {
        let start = |seed| ((arm.task)(p, 0, seed).unwrap().x0)(p, &Cancel::never()).unwrap();
        let (one, same, other) = (start(1), start(1), start(2));
        assert_eq!(one, same, "{arm:?}");
        // k-components may find one X from many seeds
        assert!(one == other || arm.random, "{arm:?}");
        assert!(one != other || !arm.random || arm.start == "k-components", "{arm:?}");
        with_chance += u32::from(arm.random);
    }
    let has_moves =
        plan.portfolio.as_ref().unwrap().moves.iter().any(|m| m.name() == "penalty lowered and raised");
    assert!(with_chance > 0 || has_moves);
}

#[test]
fn another_seed_is_another_start_where_there_is_chance() {
    for (name, lambda) in PROBLEMS {
        starts_follow_their_seed(&problem(name, lambda, 40, 3, 5));
    }
    let f = problem("l0-pca", 1.0, 40, 3, 5).f;
    let limits = Cardinality::Components(vec![4; 3]);
    starts_follow_their_seed(&CardinalityProblem::new(f, 3, limits, 0.0, false).unwrap());
}

/// What the ablation of the benches rests on: with one thread a limit of work ends the search soon after it, F by work is recorded
/// as it falls and is the same every time, and a part that is left out is not there.
#[test]
fn work_is_limited_and_parts_can_be_left_out() {
    const LIMIT: u64 = 100_000_000;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (name, lambda) in PROBLEMS {
        let p = problem(name, lambda, 30, 4, 3);
        let run = |without: &'static [&'static str]| {
            let tuning = Tuning { without, max_work: Some(LIMIT), ..Tuning::DEFAULT };
            let wanted = Request { seed: Some(5), tuning, ..Default::default() };
            let stopping = Stopping { time_limit: Some(1e6), ..STOPPING };
            let plan = p.plan(&wanted).unwrap();
            let s = pool.install(|| plan.run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []));
            s.unwrap().search.unwrap()
        };
        let (all, again, less) = (run(&[]), run(&[]), run(&["components of two points", "coordinates"]));
        assert_eq!(all.curve, again.curve, "{name}");
        assert!(all.curve.windows(2).all(|w| w[0].0 <= w[1].0 && w[1].1 < w[0].1), "{name}: {:?}", all.curve);
        assert!((LIMIT..2 * LIMIT).contains(&all.work), "{name}: {}", all.work);
        let parts = |report: &SearchReport| {
            let moved = report.moves.iter().any(|m| m.name == "components of two points");
            (moved, report.arms.iter().any(|arm| arm.start == "coordinates"))
        };
        assert_eq!((parts(&all), parts(&less)), ((true, true), (false, false)), "{name}");
    }
}

/// Whatever the problem, a move of its search that is left out is not made, and the others are.
#[test]
fn every_move_of_every_problem_can_be_left_out() {
    let a = Mat::from_fn(40, 12, |i, j| ((7 * i + 5 * j * j + i * j) % 23) as f64 - 11.0);
    let posed = |name: &str, limit, maximise, between| {
        let options =
            Request { rank: Some(3.into()), maximise, constraint: Some(between), ..Default::default() }
                .with_limit(limit);
        pose(find_problem(name).unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap().problem
    };
    let each = || Some(Limit::Nonzeros(vec![4]));
    for p in [
        posed("l0-pca", each(), Some(Measure::Adjusted), Between::Orthogonal),
        posed("l0-pca", each(), Some(Measure::Polar), Between::Orthogonal),
        posed("l0-pca", each(), Some(Measure::Variance), Between::Orthogonal),
        posed("l0-pca", each(), Some(Measure::Variance), Between::Uncorrelated),
        posed("nonneg-pca", None, None, Between::Orthogonal),
    ] {
        let moves = |without: &'static [&'static str]| -> Vec<String> {
            let tuning = Tuning { without, max_work: Some(30_000_000), ..Tuning::DEFAULT };
            let wanted = Request { tuning, effort: Some(Effort::Quick), ..Default::default() };
            let s = p.plan(&wanted).unwrap().run(&p, &wanted, &STOPPING, None, &Cancel::never(), &mut []);
            s.unwrap().search.unwrap().moves.iter().map(|m| m.name.to_string()).collect()
        };
        let all = moves(&[]);
        assert!(all.len() >= 3, "{all:?}");
        for name in all.iter().filter(|name| *name != "candidate again") {
            assert!(PARTS.iter().any(|part| part.name == name.as_str()), "{name} is no part");
            let without: &'static [&'static str] = vec![&*name.clone().leak()].leak();
            let expected: Vec<_> = all.iter().filter(|other| *other != name).cloned().collect();
            assert_eq!(moves(without), expected);
        }
    }
}
