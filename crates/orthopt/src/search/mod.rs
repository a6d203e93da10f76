//! The search for the best point: a race of solvers and starts, then a local search from its winner.
//!
//! ```text
//! race     every arm (solvers one after the other, a start) runs at level 0: coarse and quick
//!          repeat: the better half runs at the next level, twice as patiently, until two are left
//! search   repeat: a task from the best points, by a move that has paid
//!          (a fresh start of a winner, entries exchanged, components solved anew, ...)
//!          until a doubling of the work, or a long stretch of it, has brought too little often enough
//! settle   pairs of rows from the best point until none lowers F
//! ```
//!
//! What is done depends on the seed and the problem only: work is counted (`linalg::work`), not
//! timed, some tasks are in flight together, and their ends are taken in in the order of their work
//! (`flight.rs`). A limit of time only cuts the search off, so a longer run is the continuation of a
//! shorter one, and the same seed gives the same X for any number of threads.

mod bandit;
pub(crate) mod cardinality_moves;
mod control;
mod ending;
mod engine;
mod flight;
mod grow;
mod lifted;
pub(crate) mod measured_moves;
pub(crate) mod moves;
mod outcome;
mod pool;
mod priced;
mod race;
mod steps;
mod task;
mod tuning;
pub(crate) mod uncorrelated_moves;
mod watcher;

pub use engine::{Settings, search};
pub use grow::grown_components;
pub use pool::{pool_is_drawn, pooled};
pub use priced::{POOLED, priced, priced_has_chance};
pub use task::{MakeStart, Part, Task, at};
pub use tuning::{PARTS, Tuning};

use std::sync::Arc;

use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::options::Given;
use rand_pcg::Pcg64;

/// How long a search goes on by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// One doubling of the work that brings nothing ends it.
    Quick,
    /// Two.
    #[default]
    Normal,
    /// Four.
    Thorough,
}

/// Names of the efforts with one line each.
pub const EFFORTS: &[(&str, &str)] = &[
    ("quick", "ends after one doubling of the work that lowers F by less than 1e-4 of |F|"),
    ("normal", "ends after two such doublings"),
    ("thorough", "ends after four such doublings"),
];

impl Effort {
    /// The effort called `name`.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn parse(name: &str) -> Result<Self> {
        let all = [Self::Quick, Self::Normal, Self::Thorough];
        all.into_iter().find(|effort| effort.name() == name).ok_or_else(|| Error::UnknownName {
            kind: "effort",
            name: name.into(),
            known: EFFORTS.iter().map(|e| e.0).collect::<Vec<_>>().join(", "),
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        EFFORTS[self as usize].0
    }

    /// The least work of a search that no bound ends, where doublings count from this work.
    pub(crate) fn least_work(self, from: u64) -> u64 {
        from << self.patience()
    }

    /// Doublings that must bring nothing.
    fn patience(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Normal => 2,
            Self::Thorough => 4,
        }
    }
}

/// Solvers one after the other and where they begin, at several levels of patience.
pub struct Arm<P> {
    /// The solvers, joined with `+`.
    pub solver: String,
    /// The start.
    pub start: String,
    /// Whether the start has chance in it, so that another seed gives another one.
    pub random: bool,
    /// The task at a level (0, 1, ...: each about twice as patient) with a seed.
    pub task: MakeTask<P>,
    /// The constants of the solvers at a level that are not their defaults.
    pub constants: Box<dyn Fn(u32) -> Given + Send + Sync>,
}

/// Makes the task of an arm: at a level, with a seed. X⁰ is made where the task is performed.
pub type MakeTask<P> = Box<dyn Fn(&P, u32, u64) -> Result<Task<P>> + Send + Sync>;

impl<P> std::fmt::Debug for Arm<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Arm({} from {})", self.solver, self.start)
    }
}

/// A way from good points to a new one.
pub trait Move<P>: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Where it leads from the best points (lowest F first, never empty); `None` where it has no place. Made on
    /// the thread of its task, whose work it counts as; one that takes its time may end early, without a
    /// point, where nobody waits any more.
    fn point(&self, problem: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat>;

    /// The solvers that go on from there.
    fn parts(&self, problem: &P, rng: &mut Pcg64) -> Vec<Part<P>>;
}

/// What a search is made of.
pub struct Portfolio<P> {
    /// Arms, the one that most often does well first.
    pub arms: Vec<Arm<P>>,
    /// How many of them run first, as patiently as they would be run alone.
    pub leaders: usize,
    /// The arms that soon are at a point worth having, and the work that each may do before all others.
    pub quick: Vec<(usize, u64)>,
    /// Leaders run two by two where this is given, and the best point is searched from for as long after every two; others of a
    /// solver whose runs have ended above the best point by more than this times |F| wait for the race of all arms.
    pub hopeless: Option<f64>,
    /// Arms that run at level 0 after the first leader, or do the work of that over a number: the best of them comes next.
    pub looks: Vec<(usize, u64)>,
    /// Arms that get a glance after the first one, where a run takes seconds: those not far behind run next.
    pub glances: Vec<usize>,
    /// Moves of the local search.
    pub moves: Vec<Arc<dyn Move<P>>>,
    /// Work of an arm at level 0, roughly.
    pub run: u64,
    /// Work of a move, roughly.
    pub polish: u64,
    /// Level of the least patient of the arms that the local search runs from fresh starts.
    pub freshest: u32,
    /// The solver that settles the best point with a seed, where there is one.
    pub settle: Option<MakeTask<P>>,
    /// Constants and parts.
    pub tuning: Tuning,
}

impl<P> std::fmt::Debug for Portfolio<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moves: Vec<_> = self.moves.iter().map(|m| m.name()).collect();
        write!(f, "Portfolio({:?}, {moves:?})", self.arms)
    }
}
