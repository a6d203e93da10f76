//! A problem of any family.

use super::NonlinearEigProblem;
use crate::composite::Composite;
use crate::j_problem::JProblem;
use crate::problem::AnyProblem;

/// A problem of any family.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Named {
    /// min −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca(AnyProblem),
    /// min f(X) − g(X) + h(A(X)), XᵀX = I.
    Composite(Composite),
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
            #[allow(unreachable_patterns)]
            _ => unreachable!("every family has a line above"),
        }
    };
}
