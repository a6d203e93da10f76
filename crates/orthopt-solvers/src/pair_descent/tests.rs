//! The engine on a problem that is easy to see through: min F = Σ i·vᵢ over the orders of v, where a pair
//! i < j offers to swap. Where no pair offers anything, v is in descending order.

use super::*;
use orthopt_core::pair::movable::Movable;
use orthopt_core::solve::Status;

struct Swaps {
    v: Vec<f64>,
    rows: Movable,
    tried: Vec<(usize, usize)>,
    upkeep: Upkeep,
    drift: f64, // what F seems to be besides what it is, until refreshed
    refreshes: u64,
    limit: f64, // ends below this F
}

const NEVER: Upkeep = Upkeep { refresh: u64::MAX / 2, look: u64::MAX / 2, between_passes: false };

impl Swaps {
    fn new(n: usize) -> Self {
        let v = (0..n).map(|i| ((7 * i + 3) % n) as f64).collect();
        let limit = f64::NEG_INFINITY;
        Self { v, rows: Movable::always(n), tried: vec![], upkeep: NEVER, drift: 0.0, refreshes: 0, limit }
    }

    fn value(&self) -> f64 {
        self.v.iter().enumerate().map(|(i, v)| i as f64 * v).sum()
    }

    fn is_sorted(&self) -> bool {
        self.v.windows(2).all(|w| w[0] >= w[1])
    }
}

impl PairOracle for &mut Swaps {
    fn rows(&self) -> &Movable {
        &self.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        assert!(i < j);
        self.tried.push((i, j));
        let offered = ((j - i) as f64 * (self.v[j] - self.v[i])).max(0.0);
        if offered <= demand.least || offered < demand.alpha {
            return Tried::pair(offered, None);
        }
        self.v.swap(i, j);
        Tried::pair(offered, Some(offered))
    }

    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        pairs.iter().map(|(i, j)| (j - i) as f64 * (self.v[*j] - self.v[*i])).collect()
    }

    fn size(&self, objective: f64) -> f64 {
        1.0 + objective.abs()
    }

    fn upkeep(&self) -> Upkeep {
        self.upkeep
    }

    fn has_drifted(&self) -> bool {
        self.drift != 0.0
    }

    fn refresh(&mut self) -> f64 {
        self.refreshes += 1;
        self.drift = 0.0;
        self.value()
    }

    fn ended(&self, objective: f64) -> Option<(Status, &'static str)> {
        (objective < self.limit).then_some((Status::Unbounded, "below the limit"))
    }
}

fn state(p: &Swaps, rule: WorkingSet, how: (usize, bool), (alpha, tol): (f64, f64)) -> State {
    let schedule = Schedule::of_blocks(rule, Candidates::Sample(9), how, tol, 1, &p.rows);
    State { objective: p.value() + p.drift, alpha, schedule }
}

/// Iterations, at most so many, until one has something to say.
fn run(mut descent: PairDescent<'_, &mut Swaps>, budget: u64) -> Step {
    let mut step = descent.iterate();
    for _ in 1..budget {
        if step.pass.is_some() || step.ended.is_some() {
            break;
        }
        step = descent.iterate();
    }
    step
}

/// Runs to a pass that covers all pairs, moves nothing and finds no more than `limit`; all passes.
fn settle(p: &mut Swaps, state: &mut State, limit: f64) -> Vec<Pass> {
    let mut passes = Vec::new();
    while passes.len() < 1000 {
        let info = run(PairDescent { oracle: &mut *p, state: &mut *state }, 1_000_000);
        let pass = info.pass.expect("a round or pass ends");
        passes.push(pass);
        if pass.covers_all && pass.decrease == 0.0 && pass.max_decrease <= limit {
            return passes;
        }
    }
    panic!("no end");
}

#[test]
fn every_schedule_ends_where_no_pair_offers_anything() {
    for (_, rule, _) in WORKING_SETS {
        for how in [(2, false), (5, false), (2, true)] {
            for n in [1, 2, 10, 23] {
                let mut p = Swaps::new(n);
                let mut st = state(&p, *rule, (how.0.min(n), how.1), (1e-5, 1e-9));
                let passes = settle(&mut p, &mut st, 0.0);
                let what = format!("{rule:?} {how:?} {n}");
                assert!(p.is_sorted() && st.objective == p.value(), "{what}: {:?}", p.v);
                let last = passes.last().expect("one pass at least");
                assert_eq!(st.schedule.pairs, p.tried.len() as u64, "{what}");
                // the last pass has met every pair
                let met = &p.tried[p.tried.len() - last.pairs as usize..];
                assert!((0..n).all(|i| (i + 1..n).all(|j| met.contains(&(i, j)))), "{what}");
            }
        }
    }
}

/// Passes leave alone what is within the tolerance, and α refuses what goes far for little; both give way
/// where nothing stops them.
#[test]
fn tolerance_and_alpha_give_way() {
    for (alpha, tol) in [(1e-5, 10.0), (1e4, 0.0), (1e4, 10.0)] {
        let mut p = Swaps::new(12);
        let before = p.v.clone();
        let mut st = state(&p, WorkingSet::Cyclic, (2, false), (alpha, tol));
        settle(&mut p, &mut st, f64::INFINITY);
        assert_eq!(p.v, before, "the first pass moves nothing");
        settle(&mut p, &mut st, 0.0);
        assert!(p.is_sorted() && (st.alpha < alpha) == (alpha > 1.0) && st.schedule.tol <= tol);
    }
}

/// A tracked F that is too low by rounding is kept; one that is wrong is replaced, and only when it is time.
#[test]
fn drift_is_controlled_on_time() {
    for (between_passes, drift) in [(false, 5.0), (true, 5.0), (false, -1e-12)] {
        let mut p =
            Swaps { upkeep: Upkeep { refresh: 1000, look: 4, between_passes }, drift, ..Swaps::new(20) };
        let mut st = state(&p, WorkingSet::Cyclic, (2, false), (1e-5, 1e-9));
        while st.schedule.moves < 3 {
            run(PairDescent { oracle: &mut p, state: &mut st }, 1);
        }
        assert_eq!(p.refreshes, 0);
        while st.schedule.moves < 4 {
            run(PairDescent { oracle: &mut p, state: &mut st }, 1);
        }
        assert_eq!(p.refreshes, u64::from(!between_passes));
        settle(&mut p, &mut st, 0.0);
        assert_eq!(p.refreshes, 1, "there was drift once");
        let rounding = drift.abs() < 1e-9;
        assert!(if rounding { st.objective <= p.value() } else { st.objective == p.value() });
    }
}

#[test]
fn an_oracle_can_end_the_run() {
    let mut p = Swaps { limit: Swaps::new(12).value() - 20.0, ..Swaps::new(12) };
    let mut st = state(&p, WorkingSet::Random, (2, false), (1e-5, 1e-9));
    let info = loop {
        let info = run(PairDescent { oracle: &mut p, state: &mut st }, 10);
        if info.ended.is_some() {
            break info;
        }
    };
    let (objective, pairs) = (st.objective, st.schedule.pairs);
    assert!(objective < p.limit && !p.is_sorted());
    let after = run(PairDescent { oracle: &mut p, state: &mut st }, 10);
    assert!(after.ended == info.ended && st.objective == objective && st.schedule.pairs == pairs);
}
