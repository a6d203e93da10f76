//! Descriptions of solvers, their construction, and its options.

use crate::options::{Constant, Constants, Given};
use crate::pair::options::{JobcdOptions, ObcdOptions};
use crate::problem::PcaProblem;
use crate::solve::AnySolver;
use orthopt_linalg::error::{Error, Result};

/// Entry of the registry for a solver of problems of type `P`.
pub struct SolverInfo<P: 'static = PcaProblem> {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its constants; users may set them as `NAME-CONSTANT`.
    pub constants: &'static [Constant],
    /// Those of the options that methods on pairs of rows share (`working-set`, `alpha`, ...) that it
    /// examines.
    pub shared: &'static [Constant],
    /// True if it can solve the problem.
    pub handles: &'static (dyn Fn(&P) -> bool + Sync),
    /// Scope, as the end of "... is for".
    pub scope: &'static str,
    /// Makes it.
    pub make: &'static Make<P>,
}

/// Makes a solver with options.
pub type Make<P> = dyn Fn(&SolverOptions) -> Result<AnySolver<P>> + Sync;

impl<P> std::fmt::Debug for SolverInfo<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SolverInfo({})", self.name)
    }
}

// derived, these would ask P to be Copy
impl<P> Clone for SolverInfo<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for SolverInfo<P> {}

impl<P: 'static> SolverInfo<P> {
    /// The solver, or why it does not fit `problem`.
    ///
    /// # Errors
    /// [`Error::Incompatible`] and what is wrong with the constants.
    pub fn build(&self, problem: &P, options: &SolverOptions) -> Result<AnySolver<P>> {
        if !(self.handles)(problem) {
            return Err(Error::Incompatible(format!("solver {} is for {}", self.name, self.scope).into()));
        }
        Ok((self.make)(options)?.named(self.name))
    }

    /// This entry for problems that contain a P, which `part` returns. It lives as long as the program.
    #[doc(hidden)]
    pub fn lifted<Q: 'static>(&'static self, part: fn(&Q) -> &P) -> SolverInfo<Q> {
        let Self { name, doc, constants, shared, scope, .. } = *self;
        SolverInfo {
            name,
            doc,
            constants,
            shared,
            handles: Box::leak(Box::new(move |problem: &Q| (self.handles)(part(problem)))),
            scope,
            make: Box::leak(Box::new(move |options: &SolverOptions| Ok((self.make)(options)?.lifted(part)))),
        }
    }

    /// `defaults` with the constants that were set for this solver.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn configured<C: Constants>(&self, defaults: C, options: &SolverOptions) -> Result<C> {
        defaults.with(self.name, self.constants, &options.constants)
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
    pub jobcd: JobcdOptions,
    /// Constants that users have set: `solver-constant` to value.
    pub constants: Given,
}

/// Lists one after the other; N is the sum of their lengths.
pub const fn join<P, const N: usize>(lists: &[&[SolverInfo<P>]]) -> [SolverInfo<P>; N] {
    let mut all = [lists[0][0]; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut k = 0;
        while k < lists[list].len() {
            all[at] = lists[list][k];
            (at, k) = (at + 1, k + 1);
        }
        list += 1;
    }
    assert!(at == N, "N is the sum of the lengths");
    all
}

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
