//! −½ times a measure of what components explain (docs/mathematics.md, section 19): smooth parts beside −½ tr(XᵀCX).

mod covariance;
mod gains;
mod small;

use std::sync::OnceLock;

use super::{Quadratic, Smooth};
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::products::{cross, gram, product};
use crate::options::choices;
pub(crate) use covariance::Covariance;
pub(crate) use gains::Gains;
pub(crate) use small::Small;

choices! {
    /// What components maximise.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Measure as "measure", MEASURES {
        /// tr S.
        #[default]
        Variance = "variance", "variance of the scores, tr X'CX: what components share counts once for each of them";
        /// Σ Rⱼⱼ² of the scores T = QR.
        Adjusted = "adjusted", "variance of each score that those before it do not have: none repeats another";
        /// Σ ((S^{1/2})ⱼⱼ)².
        Polar = "polar", "variance of the orthonormal scores nearest to the scores: the same without an order";
        /// tr(S⁻¹W).
        Explained = "explained", "variance of all variables that a regression on the scores gives back";
    }
}

choices! {
    /// How components are found.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Order as "order", ORDERS {
        /// All together.
        #[default]
        Joint = "joint", "all components together: the most for so many of them";
        /// One after the other.
        Sequential = "sequential", "each component the best one beside those before it: r components are the first of r + 1";
    }
}

/// f(X) = −½ φ(X) for a measure φ of what the scores T = AX explain, C = AᵀA, S = XᵀCX = TᵀT, W = XᵀC²X:
///
/// | measure | φ | ∇φ |
/// |---|---|---|
/// | variance | tr S | 2CX |
/// | adjusted | Σ Rⱼⱼ², T = QR, scores in the order of their variances (Zou, Hastie and Tibshirani 2006) | 2CXUUᵀ, U = unit upper triangular, UᵀSU diagonal |
/// | polar | Σ ((S^{1/2})ⱼⱼ)² (the polar member of Chavent and Chavent, arXiv 1705.00461) | 2CX·V[(VᵀEV)ₐᵦ/(σₐ + σᵦ)]Vᵀ, S^{1/2} = VDiag(σ)Vᵀ, E = 2Diag(S^{1/2}) |
/// | explained | tr(S⁻¹W), scores that are combinations of others left out | 2(C²X − CXS⁻¹W)S⁻¹ |
///
/// For XᵀX = I: adjusted ≤ variance ≤ explained ≤ the sum of the r largest eigenvalues of C, which PCA attains in all of them.
/// Cost of a value: a product with C and O(nr² + r³); of a gradient: the same, and a second product for explained variance.
#[derive(Clone, Debug)]
pub struct Measured<F = super::AnySmooth> {
    f: F,
    measure: Measure,
    given: bool,
    covariance: OnceLock<Covariance>, // for searches
}

impl<F: Quadratic> Measured<F> {
    /// The measure of C where `f` is −½ tr(XᵀCX), C positive semidefinite.
    ///
    /// # Errors
    /// An f with a linear term.
    pub fn new(f: F, measure: Measure) -> Result<Self> {
        if f.ncols().is_some() {
            return Err(Error::Incompatible(
                format!("{} variance is for an f without a linear term", measure.name()).into(),
            ));
        }
        Ok(Self { f, measure, given: false, covariance: OnceLock::new() })
    }

    /// The same with adjusted variance in the order of the columns of X, not of the variances of their scores.
    #[must_use]
    pub(crate) fn in_given_order(self) -> Self {
        Self { given: true, ..self }
    }

    /// −½ tr(XᵀCX).
    pub fn quadratic(&self) -> &F {
        &self.f
    }

    /// The measure.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// C as a search looks at it, made once.
    pub(crate) fn covariance(&self) -> &Covariance {
        self.covariance.get_or_init(|| Covariance::new(&self.f, self.measure == Measure::Explained))
    }

    /// Whether adjusted variance has the order of the columns.
    pub(crate) fn is_in_given_order(&self) -> bool {
        self.given
    }

    /// CX and S.
    fn image(&self, x: &RowMat) -> (RowMat, RowMat) {
        let mut m = self.f.apply(x);
        m.data_mut().iter_mut().for_each(|v| *v = -*v);
        let s = cross(x, &m).symmetric_part();
        (m, s)
    }

    /// The measure itself, −2f(X).
    pub fn explained(&self, x: &RowMat) -> f64 {
        let (m, s) = self.image(x);
        let w = if self.measure == Measure::Explained { gram(&m) } else { RowMat::zeros(0, 0) };
        Small::new(x.ncols(), self.given).value(self.measure, s.data(), w.data())
    }
}

impl<F: Quadratic> Smooth for Measured<F> {
    fn nrows(&self) -> usize {
        self.f.nrows()
    }

    fn value(&self, x: &RowMat) -> f64 {
        -0.5 * self.explained(x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.value_and_gradient(x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        let (m, s) = self.image(x);
        let w = if self.measure == Measure::Explained { gram(&m) } else { RowMat::zeros(0, 0) };
        let mut small = Small::new(x.ncols(), self.given);
        let (value, q, p) = small.weights(self.measure, s.data(), w.data());
        product(g, false, -1.0, m.as_mat(), q.as_mat());
        if let Some(p) = p {
            // M = −C: two products with it give C²X
            let second = self.f.apply(&m);
            product(g, true, 1.0, second.as_mat(), p.as_mat());
        }
        -0.5 * value
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }
}
