//! The two-row subproblem of JOBCD, solved globally: one angle, circular or hyperbolic.
//!
//! For two rows B of a J-orthogonal X, W = [∇f(X)Xᵀ]_BB and a symmetric Q (4 × 4, vec stacks
//! columns), minimise over V with VᵀJ_BBV = J_BB
//!
//! ```text
//! q(V) = ⟨V − I, W⟩ + ½ vec(V − I)ᵀ Q vec(V − I)
//! ```
//!
//! (JOBCD paper, Problem (5); docs/mathematics.md, section 9). The set of V has
//!
//! * for rows of different sign the four components V = [[e₁C, e₁S], [e₂S, e₂C]] with C = cosh μ,
//!   S = sinh μ and signs e₁, e₂ ([`hyperbolic`]). It is unbounded: q may have no minimum,
//!   which [`Ending`] reports;
//! * for rows of the same sign the rotations [[C, S], [−S, C]] and the reflections [[C, S],
//!   [S, −C]] with C = cos θ, S = sin θ ([`circular`]).
//!
//! On each component q = aC + bS + cC² + dCS + eS² + constant. Near V = I everything is computed
//! from c₁ = C − 1 without cancellation. [`slow`] is the obvious twin, the oracle of the tests;
//! [`jacobi`] the closed form for f = ½tr(V S Vᵀ).

pub mod circular;
pub mod hyperbolic;
pub mod jacobi;
pub mod slow;

mod model;
mod near;
pub mod offers;
mod step;

pub use model::JPair;
pub use step::{Component, JMove};

/// Kind of a minimum over one component, or over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// There is a minimiser.
    Attained,
    /// No lower bound.
    Unbounded,
    /// The infimum is finite and is approached as |μ| → ∞ only.
    NotAttained,
}

/// aC + bS + cC² + dCS + eS².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// Of C.
    pub a: f64,
    /// Of S.
    pub b: f64,
    /// Of C².
    pub c: f64,
    /// Of CS.
    pub d: f64,
    /// Of S².
    pub e: f64,
}

impl Coefficients {
    /// The value at (C, S).
    #[inline(always)]
    pub fn at(&self, c: f64, s: f64) -> f64 {
        self.a * c + self.b * s + c * (self.c * c + self.d * s) + self.e * s * s
    }

    /// Sum of the magnitudes: the unit of rounding.
    #[inline(always)]
    pub fn scale(&self) -> f64 {
        self.a.abs() + self.b.abs() + self.c.abs() + self.d.abs() + self.e.abs()
    }
}

/// The minimum over one component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComponentMin {
    /// Kind of the minimum.
    pub ending: Ending,
    /// The minimum, or the infimum that is not attained; −∞ where there is none.
    pub value: f64,
    /// The angle of the lowest stationary point, if there is one.
    pub angle: Option<f64>,
}

/// The minimum over all V.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JPairMin {
    /// Kind of the minimum.
    pub ending: Ending,
    /// The minimiser; where the minimum is not attained the lowest stationary point. `None`
    /// if that is V = I, or if there is no lower bound.
    pub step: Option<JMove>,
    /// q(I) − q(V) = −q(V) ≥ 0 at that V.
    pub decrease: f64,
}
