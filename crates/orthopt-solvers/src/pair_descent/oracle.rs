//! Interface of a problem for block coordinate descent.

use orthopt_core::pair::movable::Movable;
use orthopt_core::solve::Status;

/// A problem at the current X: it knows what a pair of rows offers, and moves it.
pub trait PairOracle {
    /// The pairs that can move.
    fn rows(&self) -> &Movable;

    /// Steps (S2) to (S4) for the rows i < j: the global minimiser of their model, made if it lowers F as
    /// demanded.
    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried;

    /// Steps (S2) to (S4) for disjoint blocks of rows: by default for their pairs, one after the other.
    fn try_blocks(&mut self, blocks: &[Vec<usize>], demand: Demand) -> Tried {
        let mut sum = Tried::default();
        for block in blocks {
            for (p, i) in block.iter().enumerate() {
                for j in &block[p + 1..] {
                    sum.add(&self.try_pair(*i.min(j), *i.max(j), demand));
                }
            }
        }
        sum
    }

    /// Steps (S2) to (S4) for disjoint pairs.
    fn try_matching(&mut self, pairs: &[(usize, usize)], demand: Demand) -> Tried {
        let mut sum = Tried::default();
        pairs.iter().for_each(|(i, j)| sum.add(&self.try_pair(*i, *j, demand)));
        sum
    }

    /// Score of each pair by the current greedy rule; larger is better.
    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64>;

    /// Narrows the zero rows down to those that are worth a try at the current X, for the rule that asks for it.
    fn narrow(&mut self) {}

    /// The size of F, the unit of tolerances.
    fn size(&self, objective: f64) -> f64;

    /// Pairs among which the tolerance of passes is shared out; 1 gives all of it to every pair.
    fn shares(&self) -> f64 {
        1.0
    }

    /// When drift is controlled.
    fn upkeep(&self) -> Upkeep;

    /// True if X has left the constraint by more than rounding.
    fn has_drifted(&self) -> bool;

    /// Repairs X if it has drifted, computes the image afresh from it, and returns F(X).
    fn refresh(&mut self) -> f64;

    /// A whole pass has ended, and `found` pairs that offer more than the tolerance, or none.
    fn after_pass(&mut self, _found: bool) {}

    /// Status and reason if there is nothing more to do, else `None`.
    fn ended(&self, _objective: f64) -> Option<(Status, &'static str)> {
        None
    }
}

/// Least decrease of F by a move.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Α: at least α/2‖V − I‖².
    pub alpha: f64,
    /// And more than this.
    pub least: f64,
}

/// Result of a working set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried {
    /// Pairs tried.
    pub pairs: u64,
    /// Pairs moved.
    pub moves: u64,
    /// Moves that leave F as it is, so that other pairs gain.
    pub level: u64,
    /// Of F.
    pub decrease: f64,
    /// The largest that a pair offered, taken or not.
    pub max_decrease: f64,
}

impl Tried {
    /// One pair that offered a decrease; `taken` is what it made of it, if it moved.
    #[inline]
    pub fn pair(offered: f64, taken: Option<f64>) -> Self {
        Self {
            pairs: 1,
            moves: u64::from(taken.is_some()),
            level: 0,
            decrease: taken.unwrap_or(0.0),
            max_decrease: offered,
        }
    }

    /// With another working set.
    pub fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.moves += other.moves;
        self.level += other.level;
        self.decrease += other.decrease;
        self.max_decrease = self.max_decrease.max(other.max_decrease);
    }
}

/// When drift is controlled.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    /// Moves between two refreshes of the image.
    pub refresh: u64,
    /// Moves between two checks of the feasibility of X.
    pub look: u64,
    /// Not within a round or pass: it costs as much as one.
    pub between_passes: bool,
}
