//! Constraints, one per file: feasibility, tangent space, random points, repair.
//!
//! A method for one constraint set names it in its bounds, `Problem<Stiefel, F, H>`, and uses
//! its particular structure; the evaluation of any X goes through [`Constraint`].

pub mod j_orthogonal;
mod repair;
pub mod stiefel;

use rand_pcg::Pcg64;

pub use j_orthogonal::{HyperbolicQr, JOrthogonal, Signature, hyperbolic_qr, polar as indefinite_polar};
pub use orthopt_linalg::givens::{GivensFactor, givens_factors};
pub use stiefel::Stiefel;

use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;

/// A set of matrices of one shape that X must lie in.
pub trait Constraint: Clone + std::fmt::Debug + Send + Sync {
    /// Rows and columns of X.
    fn shape(&self) -> (usize, usize);

    /// Distance of X from the set, in the measure of reports.
    fn feasibility(&self, x: &RowMat) -> f64;

    /// False for an X that is plainly not of the set: not finite, or of the wrong size. Cost O(nr).
    fn is_sized(&self, x: &RowMat) -> bool {
        x.find_non_finite().is_none()
    }

    /// Checks a given X, called `what` in messages: shape, finite, feasible to 1e-6.
    ///
    /// # Errors
    /// Error if X is infeasible, with the measured error.
    fn check(&self, x: &RowMat, what: &str) -> Result<()>;

    /// Removes the drift of rounding from a nearly feasible X, and returns the remaining
    /// residual in the Frobenius norm. It is large if X is too far from the set to be repaired, and X is then
    /// unchanged.
    fn repair(&self, x: &mut RowMat) -> f64;

    /// A random point.
    fn random(&self, rng: &mut Pcg64) -> RowMat;

    /// The orthogonal projection of D onto the tangent space at X.
    fn tangent(&self, x: &RowMat, d: &RowMat) -> RowMat;
}
