//! Which working set is next (step (S1)): rounds by a rule, whole passes, and what they came to.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::greedy::Greedy;
use super::oracle::{PairOracle, Tried};
use orthopt_core::pair::cursor::Cursor;
use orthopt_core::pair::movable::{Movable, matching};
use orthopt_core::pair::working_set::{Candidates, Rows, WorkingSet};
use orthopt_core::solve::Pass;

/// Disjoint blocks solved in parallel from the same X: at least so many, and small blocks up to so
/// many rows, for a round to be worth sharing out. X does not depend on the number of threads.
const ROUND_BLOCKS: usize = 4;
const ROUND_ROWS: usize = 256;

/// Blocks of `k` rows in a round.
fn blocks_at_once(k: usize) -> usize {
    (ROUND_ROWS / k.max(1)).max(ROUND_BLOCKS)
}

/// Round or pass that is under way.
#[derive(Clone, Debug)]
enum Phase {
    /// A round: working sets by the rule, so many left.
    Round { left: u64 },
    /// A pass: over all pairs that can move, or those near.
    Pass(Cursor),
}

/// Round or pass that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A round.
    Round,
    /// A pass over the pairs that are not narrowed out.
    Near,
    /// A pass over all pairs that can move.
    Pass,
}

/// Which working set is next.
#[derive(Clone, Debug)]
pub struct Schedule {
    rule: WorkingSet,
    k: usize,         // rows of a working set
    matchings: bool,  // rounds are of matchings of all rows
    tournament: bool, // and so are passes
    at_once: usize,   // blocks of k rows in a working set
    phase: Phase,
    whole: bool, // the pass is over all pairs that can move
    since: u64,  // pairs tried since the last of these
    greedy: Greedy,
    rng: Pcg64,
    sum: Tried,    // of the round or pass under way
    decrease: f64, // of F as it is tracked, in the same
    /// Largest offer of a pair that passes ignore, relative to the size of F.
    pub tol: f64,
    /// Pairs tried.
    pub pairs: u64,
    /// Pairs moved.
    pub moves: u64,
    /// Whole passes.
    pub passes: u64,
    /// `moves` at the last refresh of the image.
    pub refreshed: u64,
    /// `moves` at the last check of feasibility.
    pub looked: u64,
}

impl Schedule {
    /// Pairs by `rule`, from the beginning of a round.
    pub fn new(rule: WorkingSet, candidates: Candidates, tol: f64, seed: u64, rows: &Movable) -> Self {
        Self::of_blocks(rule, candidates, (2, false), tol, seed, rows)
    }

    /// Working sets of k rows, or `matchings` of all rows.
    pub fn of_blocks(
        rule: WorkingSet,
        candidates: Candidates,
        (k, matchings): (usize, bool),
        tol: f64,
        seed: u64,
        rows: &Movable,
    ) -> Self {
        let mut schedule = Self {
            rule,
            k,
            matchings,
            tournament: false,
            at_once: blocks_at_once(k),
            phase: Phase::Round { left: 0 },
            whole: false,
            since: 0,
            greedy: Greedy::new(candidates),
            rng: Pcg64::seed_from_u64(seed),
            sum: Tried::default(),
            decrease: 0.0,
            tol,
            pairs: 0,
            moves: 0,
            passes: 0,
            refreshed: 0,
            looked: 0,
        };
        schedule.begin(Turn::Round, rows);
        schedule
    }

    /// This schedule for working sets that cost one gradient each, whatever their size: with all rows in the blocks of
    /// a round or pass, or in `matchings`.
    pub fn of_all_rows(self, matchings: bool, rows: &Movable) -> Self {
        let k = if matchings { 2 } else { self.k };
        let at_once = (rows.nrows() / k.max(1)).max(1);
        let mut schedule = Self { k, at_once, matchings, tournament: matchings, ..self };
        schedule.begin(Turn::Round, rows);
        schedule
    }

    /// True if zero rows are narrowed down to those near.
    pub fn narrows(&self) -> bool {
        self.rule == WorkingSet::Active && self.k == 2 && !self.matchings
    }

    /// k, at most n.
    pub fn block(&self) -> usize {
        self.k
    }

    /// The candidates of the greedy rule, where that is in force.
    pub fn candidates(&self) -> Option<Candidates> {
        self.rule.is_greedy().then(|| self.greedy.candidates())
    }

    /// Step (S1).
    pub fn choose<O: PairOracle>(&mut self, oracle: &mut O) -> Option<Rows> {
        let k = self.k;
        match &mut self.phase {
            Phase::Pass(cursor) if self.tournament => {
                cursor.next(oracle.rows(), usize::MAX).map(|round| Rows::from(round).into_matching())
            }
            Phase::Pass(cursor) => cursor.next(oracle.rows(), self.at_once).map(Rows::from),
            Phase::Round { .. } if self.matchings => {
                Some(Rows::Matching(matching(oracle.rows().nrows(), &mut self.rng)))
            }
            Phase::Round { .. } if self.rule.is_greedy() => self.greedy.choose(k, oracle, &mut self.rng),
            Phase::Round { .. } if k > 2 => {
                Some(Rows::Blocks(oracle.rows().random_blocks(k, self.at_once, &mut self.rng)))
            }
            Phase::Round { .. } => oracle.rows().random_pair(&mut self.rng).map(|(i, j)| Rows::Pair(i, j)),
        }
    }

    /// Takes in what came of a working set.
    #[inline]
    pub fn book(&mut self, tried: &Tried, decrease: f64) {
        self.pairs += tried.pairs;
        self.since += tried.pairs;
        self.moves += tried.moves;
        self.sum.add(tried);
        self.decrease += decrease;
        if tried.moves > 0 {
            self.greedy.forget();
        }
        if let Phase::Round { left } = &mut self.phase {
            *left = left.saturating_sub(1);
        }
    }

    /// F has changed from outside: scores are stale.
    pub fn forget(&mut self) {
        self.greedy.forget();
    }

    /// True if a pass is under way.
    #[inline]
    pub fn in_pass(&self) -> bool {
        matches!(self.phase, Phase::Pass(_))
    }

    /// True if that pass is over all pairs that can move.
    pub fn in_whole_pass(&self) -> bool {
        self.in_pass() && self.whole
    }

    /// True if as many pairs have been tried since the last pass over all pairs as there are.
    pub fn is_whole_pass_due(&self, rows: &Movable) -> bool {
        self.since >= rows.pairs()
    }

    /// True if the round or pass is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        match &self.phase {
            Phase::Round { left } => *left == 0 || self.greedy.is_exhausted(),
            Phase::Pass(cursor) => cursor.is_done(),
        }
    }

    /// True if a slow round is to be followed by a whole pass. A round by scores is short, and brings more for a pair than a pass: the pass has
    /// to wait until as many pairs have been tried as it has itself.
    pub fn may_pass(&self, rows: &Movable) -> bool {
        !self.rule.is_greedy() || self.in_pass() || self.is_whole_pass_due(rows)
    }

    /// True if the round ended because the best pairs kept failing.
    pub fn is_exhausted(&self) -> bool {
        self.greedy.is_exhausted()
    }

    /// Ends the round or pass and returns its sums.
    pub fn end(&mut self) -> Pass {
        let (sum, whole) = (std::mem::take(&mut self.sum), self.in_whole_pass());
        if whole {
            self.passes += 1;
            self.since = 0;
        }
        Pass {
            pairs: sum.pairs,
            decrease: std::mem::take(&mut self.decrease),
            max_decrease: sum.max_decrease,
            // moves along a level set of F change what other pairs offer
            covers_all: whole && sum.level == 0,
        }
    }

    /// Begins a pass, or a round by the rule.
    pub fn begin(&mut self, next: Turn, rows: &Movable) {
        self.greedy.forget();
        let cycles = self.rule == WorkingSet::Cyclic && (self.tournament || !self.matchings);
        self.whole = next != Turn::Near || !rows.is_narrowed();
        self.phase = match next {
            Turn::Round if !cycles => Phase::Round { left: self.round(rows) },
            Turn::Near => Phase::Pass(Cursor::near(rows)),
            _ if self.tournament => Phase::Pass(Cursor::of_matchings(rows)),
            _ => Phase::Pass(Cursor::new(rows, self.k)),
        };
    }

    /// Working sets of a round: as many as there are pairs that can be drawn (a block of k rows counts
    /// for its pairs).
    fn round(&self, rows: &Movable) -> u64 {
        let (n, k) = (rows.nrows() as u64, self.k as u64);
        let inside = (k * k.saturating_sub(1) / 2).max(1);
        // a greedy step examines many pairs, so its rounds are shorter
        let pairs = if self.rule.is_greedy() { n } else { rows.near_pairs() };
        let at_once = if self.matchings {
            (n / 2).max(1)
        } else if k > 2 && !self.rule.is_greedy() {
            inside * self.at_once as u64
        } else {
            inside
        };
        pairs.div_ceil(at_once).max(1)
    }
}
