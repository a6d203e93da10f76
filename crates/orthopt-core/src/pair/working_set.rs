//! Working sets, and the rules that choose one.

use crate::options::declare::Typed;
use crate::options::{Kind, Value, choices};
use crate::pair::cursor::Next;

choices! {
    /// Rule for choosing the rows of a step.
    #[non_exhaustive]
    pub enum WorkingSet as "working set", WORKING_SETS {
        /// Uniformly among the pairs that can move (OBCD-R).
        Random = "random", "uniform over the pairs that can move";
        /// Uniformly among the pairs of nonzero rows and those of them with a zero row whose gradient is large; passes too,
        /// until one over all pairs is due.
        Active = "active", "uniform over the pairs with nonzero rows or large gradients";
        /// All pairs that can move, in order.
        Cyclic = "cyclic", "all pairs that can move, in order";
        /// The pair of largest stationarity violation, S = XGᵀ − GXᵀ (OBCD-SV).
        GreedySv = "greedy-sv", "largest stationarity violation among sampled pairs";
        /// The pair of largest objective reduction of a linear model (OBCD-OR).
        GreedyOr = "greedy-or", "largest model reduction among sampled pairs";
    }
}

impl WorkingSet {
    /// True if it goes by scores.
    #[doc(hidden)]
    pub fn is_greedy(self) -> bool {
        matches!(self, Self::GreedySv | Self::GreedyOr)
    }
}

/// Number of pairs that a greedy rule scores per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// A random sample of so many pairs (papers: min(n, 200)).
    Sample(usize),
    /// All pairs; O(n²r) per move.
    All,
}

impl Candidates {
    /// As users give it.
    #[doc(hidden)]
    pub const fn value(self) -> Value {
        match self {
            Self::Sample(pairs) => Value::Whole(pairs as u64),
            Self::All => Value::Name("all"),
        }
    }

    /// Those of the papers where none are `given`.
    #[doc(hidden)]
    pub fn or_default(given: Option<Self>, n: usize) -> Self {
        given.map_or(Self::Sample(n.min(200)), |given| given.within(n))
    }

    /// All, where a sample would be larger than the n(n − 1)/2 pairs of n rows.
    #[must_use]
    pub fn within(self, n: usize) -> Self {
        match self {
            Self::Sample(count) if count > pairs(n) => Self::All,
            fits => fits,
        }
    }
}

/// Pairs of n rows.
pub fn pairs(n: usize) -> usize {
    n.saturating_mul(n.saturating_sub(1)) / 2
}

impl Typed for Candidates {
    const KIND: Kind = Kind::WholeOr(&["all"]);

    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Whole(pairs) => pairs.try_into().ok().map(Self::Sample),
            Value::Name(_) => Some(Self::All),
            _ => None,
        }
    }
}

/// A working set.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Two rows.
    Pair(usize, usize),
    /// Rows of several blocks.
    Blocks(Vec<Vec<usize>>),
    /// Pairs without a row in common.
    Matching(Vec<(usize, usize)>),
}

impl Rows {
    /// Blocks of two rows as disjoint pairs; what has one row only has none.
    pub fn into_matching(self) -> Self {
        let Self::Blocks(blocks) = self else { return self };
        let pair = |b: Vec<usize>| (b.len() == 2).then(|| (b[0].min(b[1]), b[0].max(b[1])));
        Self::Matching(blocks.into_iter().filter_map(pair).collect())
    }
}

impl From<Next> for Rows {
    fn from(next: Next) -> Self {
        match next {
            Next::Pair(i, j) => Self::Pair(i, j),
            Next::Blocks(blocks) => Self::Blocks(blocks),
        }
    }
}
