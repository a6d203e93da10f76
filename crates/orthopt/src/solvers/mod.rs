//! Algorithms, one per file or folder, and the list of them.
//!
//! A new solver is one file that implements [`Solver`](crate::solve::Solver), says what it is in
//! a `SolverInfo`, and has one line in [`SOLVERS`].

pub mod composite;
pub mod curvilinear;
pub mod irpg;
pub mod j_baselines;
pub mod jobcd;
pub mod ladmm;
pub mod manpg;
pub mod nonlinear_obcd;
pub mod oadmm;
pub mod obcd;
pub mod proximal;
pub mod rsubgrad;
pub mod slpg;
pub mod soc;
pub mod spm;
pub mod support;

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::j_problem::JProblem;
use crate::options::Constant;
use crate::problem::PcaProblem;
use crate::solve::AnySolver;
use obcd::ObcdOptions;

/// What the registry says of a solver for problems of type `P`.
#[derive(Clone, Copy, Debug)]
pub struct SolverInfo<P: 'static = PcaProblem> {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its constants; users may set them as `NAME-CONSTANT`.
    pub constants: &'static [Constant],
    /// Whether it can solve the problem.
    pub handles: fn(&P) -> bool,
    /// What it can solve, as the end of "... is for".
    pub scope: &'static str,
    /// Makes it.
    pub make: fn(&SolverOptions) -> Result<AnySolver<P>>,
}

impl<P> SolverInfo<P> {
    /// The solver, or why it does not fit `problem`.
    ///
    /// # Errors
    /// [`Error::Incompatible`] and what is wrong with the constants.
    pub fn build(&self, problem: &P, options: &SolverOptions) -> Result<AnySolver<P>> {
        if !(self.handles)(problem) {
            return Err(Error::Incompatible(format!("solver {} is for {}", self.name, self.scope)));
        }
        (self.make)(options)
    }
}

/// Options of all solvers.
#[derive(Clone, Debug, Default)]
pub struct SolverOptions {
    /// Seed of all random choices.
    pub seed: u64,
    /// Options of OBCD (its seed is taken from above).
    pub obcd: ObcdOptions,
    /// Choices of the solvers for XᵀJX = J.
    pub jobcd: jobcd::JobcdOptions,
    /// Constants that users have set: `solver-constant` to value.
    pub constants: BTreeMap<String, f64>,
}

impl SolverOptions {
    /// The constant `name` of a solver: what the user has set, or else its default.
    pub fn constant<P>(&self, info: &SolverInfo<P>, name: &str) -> Option<f64> {
        let default = || info.constants.iter().find(|c| c.name == name).and_then(|c| c.default);
        self.constants.get(&format!("{}-{name}", info.name)).copied().or_else(default)
    }

    /// The same for a constant that has a default.
    pub fn value<P>(&self, info: &SolverInfo<P>, name: &str) -> f64 {
        self.constant(info, name).unwrap_or(f64::NAN)
    }
}

/// The name that lets the library choose (see [`crate::family`]).
pub const AUTO: (&str, &str) =
    ("auto", "chooses solver, working set and start from the penalty and the data, and says so");

/// All solvers of the problems with XᵀX = I.
pub const SOLVERS: &[SolverInfo] = &[
    obcd::INFO,
    obcd::OBCD_R,
    obcd::OBCD_C,
    obcd::OBCD_SV,
    obcd::OBCD_OR,
    obcd::OBCD_BLOCK,
    obcd::OBCD_JACOBI,
    manpg::INFO,
    manpg::INFO_ADA,
    irpg::INFO,
    slpg::INFO,
    rsubgrad::INFO,
    ladmm::INFO,
    spm::INFO,
    soc::INFO,
    support::INFO,
    curvilinear::optm_qr::INFO,
    curvilinear::optm_cayley::INFO,
    curvilinear::foforth_gr::INFO,
    curvilinear::foforth_p::INFO,
    curvilinear::foforth_qr::INFO,
    oadmm::fast(),
    oadmm::euclidean(),
    oadmm::riemannian(),
    composite::radmm::info(),
    composite::spgm::euclidean(),
    composite::spgm::riemannian(),
    composite::subgrad::info(),
    composite::madmm::info(),
    composite::manial::info(),
];

/// All solvers of the problems with XᵀJX = J.
pub const J_SOLVERS: &[SolverInfo<JProblem>] = &[
    jobcd::GS_JOBCD,
    jobcd::J_JOBCD,
    jobcd::VR_J_JOBCD,
    j_baselines::J_ADMM,
    j_baselines::UMCM,
    j_baselines::CSDM,
];

/// Looks solvers up by names joined with `+`, a chain.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn find_solvers<P>(list: &'static [SolverInfo<P>], names: &str) -> Result<Vec<&'static SolverInfo<P>>> {
    let find = |name: &str| {
        list.iter().find(|s| s.name == name).ok_or_else(|| Error::UnknownName {
            kind: "solver",
            name: name.into(),
            known: list.iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
        })
    };
    names.split('+').map(find).collect()
}
