//! Entry of the registry for a solver, whatever the types of the terms of F.

use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constant, Constants};
use orthopt_core::solve::info::SolverOptions;
use orthopt_linalg::error::{Error, Result};

/// A solver with a choice of constants under a name of its own; `entries!` makes an entry of a list of it.
pub struct Preset<S: 'static> {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its constants; users may set them as `NAME-CONSTANT`.
    pub constants: &'static [Constant],
    /// The options of pair methods that it uses.
    pub shared: &'static [Constant],
    /// Scope of the solver.
    pub domain: Domain,
    /// Makes it.
    pub make: fn(&Self, &SolverOptions) -> Result<S>,
}

impl<S: Constants + Default> Preset<S> {
    /// A solver that is its constants, with their defaults.
    pub const fn new(name: &'static str, doc: &'static str, domain: Domain) -> Self {
        let make = |preset: &Self, o: &SolverOptions| preset.configured(S::default(), o);
        Self { name, doc, constants: S::LIST, shared: &[], domain, make }
    }
}

impl<S> Preset<S> {
    /// `defaults` with the constants that were set for this solver.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn configured<C: Constants>(&self, defaults: C, o: &SolverOptions) -> Result<C> {
        defaults.with(self.name, self.constants, &o.constants)
    }

    /// Refuses an h that the solver does not take, for solvers made without the registry.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with what it is for.
    pub fn check(&self, h: &impl Nonsmooth) -> Result<()> {
        self.domain.check(self.name, h)
    }
}

/// Scope of a solver.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// The h that it takes.
    pub penalties: Penalties,
    /// The problems, as the end of "... is for".
    pub words: &'static str,
}

/// A class of h.
#[derive(Clone, Copy, Debug)]
pub enum Penalties {
    /// Every h.
    All,
    /// h = 0.
    None,
    /// Functions of single entries.
    OfEntries,
    /// Convex and finite everywhere, which methods on the tangent space need.
    FiniteConvex,
    /// The indicator of X ≥ 0.
    Nonnegative,
    /// Weakly convex and Lipschitz, which splitting methods need.
    Lipschitz,
}

impl Domain {
    /// Every problem.
    pub const EVERY: Self = Self { penalties: Penalties::All, words: "every problem" };

    /// Problems without a penalty.
    pub const SMOOTH: Self = Self { penalties: Penalties::None, words: "problems without a penalty (pca)" };

    /// Problems of methods that project onto or retract from the tangent space.
    pub const FINITE_CONVEX: Self = Self {
        penalties: Penalties::FiniteConvex,
        words: "convex penalties that are finite everywhere (l1-pca, pca); for l0-pca and nonneg-pca use obcd, ladmm, spm or soc",
    };

    /// Problems of splitting methods.
    pub const SPLITTING: Self = Self {
        penalties: Penalties::Lipschitz,
        words: "a weakly convex penalty with a Lipschitz constant (l1, mcp, scad, elastic-net, none)",
    };

    /// True if h is one that it takes.
    pub fn takes(&self, h: &impl Nonsmooth) -> bool {
        match self.penalties {
            Penalties::All => true,
            Penalties::None => h.is_zero(),
            Penalties::OfEntries => h.row_weight().is_none(),
            Penalties::FiniteConvex => h.is_convex() && !h.requires_nonneg(),
            Penalties::Nonnegative => h.requires_nonneg() && h.entry(1.0) == 0.0,
            Penalties::Lipschitz => h.weak_convexity().is_some() && h.lipschitz().is_finite(),
        }
    }

    /// Refuses an h that the solver `name` does not take.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with what it is for.
    pub fn check(&self, name: &str, h: &impl Nonsmooth) -> Result<()> {
        if self.takes(h) { Ok(()) } else { Err(self.refusal(name)) }
    }

    /// Error for a problem that the solver `name` does not take.
    pub fn refusal(&self, name: &str) -> Error {
        Error::Incompatible(format!("solver {name} is for {}", self.words).into())
    }
}

/// The entry of a preset in a list of solvers; a problem is one for it if its h is in its domain, or as a second argument says.
#[macro_export]
macro_rules! entry {
    ($preset:expr) => {
        $crate::entry!($preset, |p| $preset.domain.takes(&p.h))
    };
    ($preset:expr, $handles:expr) => {
        $crate::preset::SolverInfo {
            name: $preset.name,
            doc: $preset.doc,
            constants: $preset.constants,
            shared: $preset.shared,
            handles: &$handles,
            scope: $preset.domain.words,
            make: &|o| Ok($crate::preset::AnySolver::new(($preset.make)(&$preset, o)?)),
        }
    };
}

/// The entries of some presets.
#[macro_export]
macro_rules! entries {
    ($($preset:expr),+ $(,)?) => {
        [$($crate::entry!($preset)),+]
    };
}

#[doc(hidden)]
pub use orthopt_core::solve::{AnySolver, info::SolverInfo};
