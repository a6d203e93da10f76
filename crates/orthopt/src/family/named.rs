//! A problem of any family.

use crate::problem::{
    CardinalityProblem, CompositeProblem, JProblem, MeasuredProblem, NonlinearEigProblem, PcaProblem,
    SampleProblem, UncorrelatedProblem,
};

/// A problem of any family.
///
/// Exhaustive on purpose: what `with_family!` does not list does not compile.
#[derive(Clone, Debug)]
pub enum Named {
    /// min −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca(PcaProblem),
    /// min −½⟨X, CX⟩ + λ‖X‖₀, XᵀX = I and a limit on nonzeros.
    Cardinality(CardinalityProblem),
    /// min −½⟨X, CX⟩ + λ‖X‖₀, unit columns, XᵀCX diagonal and a limit on nonzeros.
    Uncorrelated(UncorrelatedProblem),
    /// min −½ φ(X) + λ‖X‖₀ for a measure φ of what components explain and limits of nonzeros.
    Measured(MeasuredProblem),
    /// min f(X) − g(X) + h(A(X)), XᵀX = I.
    Composite(CompositeProblem),
    /// min f(X), XᵀJX = J.
    JOrthogonal(JProblem),
    /// min ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ, XᵀX = I.
    NonlinearEig(NonlinearEigProblem),
    /// min f(AX), XᵀX = I.
    Samples(SampleProblem),
}

/// Runs the same code on a [`Named`] problem of any family:
/// `with_family!(named, problem => expression)`.
#[macro_export]
macro_rules! with_family {
    ($named:expr, $problem:ident => $body:expr) => {
        match $named {
            $crate::family::Named::Pca($problem) => $body,
            $crate::family::Named::Cardinality($problem) => $body,
            $crate::family::Named::Uncorrelated($problem) => $body,
            $crate::family::Named::Measured($problem) => $body,
            $crate::family::Named::Composite($problem) => $body,
            $crate::family::Named::JOrthogonal($problem) => $body,
            $crate::family::Named::NonlinearEig($problem) => $body,
            $crate::family::Named::Samples($problem) => $body,
        }
    };
}
