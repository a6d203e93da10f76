//! A problem of any family, and the names that all families have.

use super::{COMPOSITE_PENALTIES, nonlinear_eig};
use crate::error::{Error, Result};
use crate::options::Constant;
use crate::penalty::PENALTIES;
use crate::problem::{CompositeProblem, JProblem, NonlinearEigProblem, PcaProblem};
use crate::solvers::composite::COMPOSITE_SOLVERS;
use crate::solvers::{J_SOLVERS, SOLVERS};

/// A problem of any family.
///
/// Exhaustive on purpose: what `with_family!` does not list does not compile.
#[derive(Clone, Debug)]
pub enum Named {
    /// min −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca(PcaProblem),
    /// min f(X) − g(X) + h(A(X)), XᵀX = I.
    Composite(CompositeProblem),
    /// min f(X), XᵀJX = J.
    JOrthogonal(JProblem),
    /// min ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ, XᵀX = I.
    NonlinearEig(NonlinearEigProblem),
}

/// Runs the same code on a [`Named`] problem of any family:
/// `with_family!(named, problem => expression)`.
#[macro_export]
macro_rules! with_family {
    ($named:expr, $problem:ident => $body:expr) => {
        match $named {
            $crate::family::Named::Pca($problem) => $body,
            $crate::family::Named::Composite($problem) => $body,
            $crate::family::Named::JOrthogonal($problem) => $body,
            $crate::family::Named::NonlinearEig($problem) => $body,
        }
    };
}

/// Every solver of every family with its line of documentation, each name once.
pub fn all_solvers() -> Vec<(&'static str, &'static str, &'static [Constant])> {
    let mut all: Vec<(&str, &str, &[Constant])> = Vec::new();
    let lists = [
        SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect::<Vec<_>>(),
        COMPOSITE_SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect(),
        J_SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect(),
        nonlinear_eig::SOLVERS.iter().map(|s| (s.name, s.doc, s.constants)).collect(),
    ];
    for solver in lists.into_iter().flatten() {
        if all.iter().all(|known| known.0 != solver.0) {
            all.push(solver);
        }
    }
    all
}

/// Every penalty with its line of documentation, those with g or A at the end.
pub fn all_penalties() -> Vec<(&'static str, &'static str)> {
    let plain = PENALTIES.iter().map(|p| (p.name, p.doc));
    let own = COMPOSITE_PENALTIES.iter().filter(|p| PENALTIES.iter().all(|known| known.name != p.0));
    plain.chain(own.copied()).collect()
}

/// Checks that every name of a chain `a+b` is a solver of some family.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn check_solvers(names: &str) -> Result<()> {
    let all = all_solvers();
    match names.split('+').find(|name| all.iter().all(|s| s.0 != *name)) {
        None => Ok(()),
        Some(name) => Err(Error::UnknownName {
            kind: "solver",
            name: name.into(),
            known: all.iter().map(|s| s.0).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Every shape parameter of every penalty: penalty and parameter.
pub fn all_shapes() -> impl Iterator<Item = (&'static str, &'static Constant)> {
    PENALTIES.iter().flat_map(|p| p.shape.iter().map(move |c| (p.name, c)))
}
