//! The search for the best point: a race of solvers and starts, then a local search from its winner.
//!
//! ```text
//! candidates  each one (solvers one after the other, a start) runs once, coarse and quick, moves from the best points beside them
//! search      repeat: a move from the elite points, or the better half of the candidates again, twice as patiently (successive
//!             halving), whichever kind has had the least work
//!             until the last doubling of the work was not worth it
//! settle      pairs of rows from the best point until none lowers F
//! ```
//!
//! The course of a search depends on the seed and the problem only. Work is counted (`linalg::work`), not timed; some
//! tasks are in flight together, and their results are used in the order of their work (`jobs.rs`). A limit of time
//! only cuts the search off, so a longer run is the continuation of a shorter one, and the same seed gives the same X
//! for any number of threads.

pub(crate) mod cardinality_moves;
pub(crate) mod clustered;
mod control;
mod ended;
mod ending;
mod engine;
mod jobs;
pub mod k_components;
mod lifted;
pub(crate) mod measured_moves;
pub(crate) mod moves;
mod outcome;
mod pool;
mod race;
mod steps;
mod task;
mod tuning;
mod turns;
pub(crate) mod uncorrelated_moves;
mod watcher;

pub(crate) use engine::{ALL_WORK, IS_MINIMUM};
pub use engine::{Settings, search};
pub use task::{MakeStart, Phase, Task, at};
pub use tuning::{PARTS, Tuning};

use std::sync::Arc;

use orthopt_core::options::{Given, choices};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use rand_pcg::Pcg64;

choices! {
    /// Rule by which a search ends by itself.
    #[derive(Default)]
    pub enum Effort as "effort", EFFORTS {
        /// Until a doubling of the work lowers F by less than 1e-2 of |F|; after .3 s of one thread that share grows with the time.
        Quick = "quick", "ends when the last doubling of the work lowered F by less than 1e-2 of |F|; after .3 s of one thread the share grows with the time";
        /// By less than 1e-3; the share grows after 1 s.
        #[default]
        Normal = "normal", "by less than 1e-3; the share grows after 1 s";
        /// By less than 1e-5; the share grows after 10 s.
        Thorough = "thorough", "by less than 1e-5; the share grows after 10 s";
    }
}

impl Effort {
    /// Decrease of F, times |F|, that is worth a doubling of a little work.
    pub(crate) fn worth(self) -> f64 {
        [1e-2, 1e-3, 1e-5][self as usize]
    }

    /// Decrease of F, times |F|, that is worth a doubling of this work: from [`little`](Self::little) on it grows with
    /// the work.
    pub(crate) fn worth_at(self, work: u64) -> f64 {
        self.worth() * (work as f64 / self.little() as f64).max(1.0)
    }

    /// Number of candidates and perturbations without such a decrease before the end: at least, and where together they cost less
    /// than [`little`](Self::little).
    pub(crate) fn tries(self) -> (u32, u32) {
        [(1, 50), (3, 150), (12, 600)][self as usize]
    }

    /// Work of some quarter of a second, a second and ten seconds of one thread.
    pub(crate) fn little(self) -> u64 {
        [1_000_000_000, 3_000_000_000, 30_000_000_000][self as usize]
    }
}

/// Solvers one after the other and where they begin, at several levels of patience.
pub struct Arm<P> {
    /// The solvers, joined with `+`.
    pub solver: String,
    /// The start.
    pub start: String,
    /// True if the start has chance in it, so that another seed gives another one.
    pub random: bool,
    /// True if there is no chance in a run and patience changes nothing but its limit of work: one that has ended would end there again,
    /// and one that was cut off continues.
    pub continues: bool,
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

    /// The point to which the move leads from the best points (lowest F first, never empty); `None` if it does not
    /// apply. It is made on the thread of its task and its work counts as that of the task. A long one may end early,
    /// without a point, if cancelled.
    fn point(&self, problem: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat>;

    /// The solvers that continue from there.
    fn phases(&self, problem: &P, rng: &mut Pcg64) -> Vec<Phase<P>>;
}

/// Arms, moves and settings of a search.
pub struct Portfolio<P> {
    /// Arms, the one that most often does well first.
    pub arms: Vec<Arm<P>>,
    /// Moves of the local search.
    pub moves: Vec<Arc<dyn Move<P>>>,
    /// Work of an arm at level 0, roughly.
    pub run: u64,
    /// Work of a move, roughly.
    pub polish: u64,
    /// The solver that polishes the best point with a seed, if there is one.
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
