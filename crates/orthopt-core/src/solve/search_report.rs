//! Report of a search.

use crate::options::Given;

/// One arm of a race, as far as it went.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ArmReport {
    /// The solvers, joined with `+`.
    pub solver: String,
    /// The start.
    pub start: String,
    /// The highest level it reached.
    pub level: u32,
    /// The seed of its best run.
    pub seed: u64,
    /// The constants of the solvers in its best run that are not their defaults.
    pub constants: Given,
    /// The level of its best run.
    pub best_level: u32,
    /// Runs.
    pub runs: u64,
    /// Lowest F.
    pub objective: f64,
    /// Work of all its runs, in multiplications of a product.
    pub work: u64,
    /// Seconds since the start and lowest F, wherever it fell.
    pub curve: Vec<(f64, f64)>,
}

/// One kind of move of the local search.
#[derive(Clone, Debug, serde::Serialize)]
pub struct MoveReport {
    /// Its name.
    pub name: String,
    /// Tasks.
    pub tried: u64,
    /// Tasks that lowered F.
    pub won: u64,
    /// Decrease of F by them.
    pub decrease: f64,
    /// Their work.
    pub work: u64,
}

/// Everything a search did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SearchReport {
    /// The arms, in the order in which they began.
    pub arms: Vec<ArmReport>,
    /// The moves.
    pub moves: Vec<MoveReport>,
    /// Index of the arm from whose point the moves lead to X.
    pub winner: usize,
    /// Work of everything.
    pub work: u64,
    /// Work of the race.
    pub race: u64,
    /// The effort, if it decided the end.
    pub effort: &'static str,
    /// Number of candidates and perturbations since the last gain that counts for the effort.
    pub tries: u32,
    /// Work and lowest F wherever it fell, with one thread.
    #[serde(skip)]
    pub curve: Vec<(u64, f64)>,
    /// The variables that took part, where that is not all of them from the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<VariablesReport>,
}

impl SearchReport {
    /// F times a power of two.
    #[doc(hidden)]
    pub fn times(&mut self, unit: f64) {
        for arm in &mut self.arms {
            arm.objective *= unit;
            arm.curve.iter_mut().for_each(|(_, f)| *f *= unit);
        }
        self.moves.iter_mut().for_each(|kind| kind.decrease *= unit);
        self.curve.iter_mut().for_each(|(_, f)| *f *= unit);
    }
}

/// The variables of a search on some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct VariablesReport {
    /// Number of variables that took part in the end.
    pub searched: usize,
    /// Number of all variables.
    pub of: usize,
    /// Number of searches, each with more variables than the one before.
    pub rounds: u64,
    /// True if none of the other variables lowers F at X.
    pub checked: bool,
}
