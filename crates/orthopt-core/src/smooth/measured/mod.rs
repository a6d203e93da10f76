//! −½ times a measure of what components explain (docs/mathematics.md, section 19): smooth parts beside −½ tr(XᵀCX).

mod beside;
mod covariance;
mod gains;
mod root;
mod scores;
mod small;

use std::sync::OnceLock;

use super::{Quadratic, Smooth};
use crate::options::choices;
pub use covariance::Covariance;
pub use gains::Gains;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::products::{cross, gram, product};
use orthopt_linalg::unit::unit_of;
use root::indefinite;
pub use root::{Root, is_indefinite};
pub use scores::{Measures, Scores};
pub use small::Small;

choices! {
    /// Measure that components maximise.
    #[derive(Default)]
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
    /// Order in which components are found.
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
/// | explained | tr(S⁻¹W) = ‖P_T A‖², scores that are combinations of others left out | 2(C²X − CXS⁻¹W)S⁻¹ |
///
/// For XᵀX = I: adjusted ≤ variance ≤ explained ≤ the sum of the r largest eigenvalues of C, which PCA attains in all of them.
/// Values and gradients come from the scores themselves, by a root of C that is made once (n³/3; the data where they are there),
/// so that they have all digits where S is singular. Cost of a value: a product with the root and O(mr²); of a gradient: one to
/// three products more. Of an f of more than 1024 variables without data they come from S and W.
#[derive(Clone, Debug)]
pub struct Measured<F = super::AnySmooth> {
    f: F,
    measure: Measure,
    given: bool,
    covariance: OnceLock<Covariance>, // for searches
    root: OnceLock<Option<Root>>,
}

impl<F: Quadratic> Measured<F> {
    /// The measure of C where `f` is −½ tr(XᵀCX), C positive semidefinite. Cost n³/3 where f does not say that C is.
    ///
    /// # Errors
    /// An f with a linear term; a C with negative eigenvalues, for which only variance means something.
    pub fn new(f: F, measure: Measure) -> Result<Self> {
        if f.ncols().is_some() {
            return Err(Error::Incompatible(
                format!("{} variance is for an f without a linear term", measure.name()).into(),
            ));
        }
        if measure != Measure::Variance {
            check_semidefinite(&f, measure)?;
        }
        Ok(Self::of(f, measure, None))
    }

    /// The measure of a C that is known to be positive semidefinite, with its root if that is known.
    #[doc(hidden)]
    pub fn of(f: F, measure: Measure, root: Option<Root>) -> Self {
        let root = root.map_or_else(OnceLock::new, |root| OnceLock::from(Some(root)));
        Self { f, measure, given: false, covariance: OnceLock::new(), root }
    }

    /// This function with adjusted variance in the order of the columns of X if `given`, else in the order of the
    /// variances of their scores.
    #[must_use]
    #[doc(hidden)]
    pub fn in_given_order(self, given: bool) -> Self {
        Self { given, ..self }
    }

    /// −½ tr(XᵀCX).
    pub fn quadratic(&self) -> &F {
        &self.f
    }

    /// The measure.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// C as a search examines it, made once.
    #[doc(hidden)]
    pub fn covariance(&self) -> &Covariance {
        self.covariance.get_or_init(|| Covariance::new(&self.f, self.measure == Measure::Explained))
    }

    /// True if adjusted variance has the order of the columns.
    #[doc(hidden)]
    pub fn is_in_given_order(&self) -> bool {
        self.given
    }

    /// The root of C, made once; `None` for variance, which has no need of it, and where C has many variables and no data.
    fn root(&self) -> Option<&Root> {
        if self.measure == Measure::Variance {
            return None; // C may be indefinite
        }
        self.root.get_or_init(|| Root::of(&self.f, usize::MAX)).as_ref()
    }

    /// Makes what values and searches need, before any of them.
    #[doc(hidden)]
    pub fn prepare(&self) {
        self.covariance();
        self.root();
    }

    /// The measures of X, where there is a root of C.
    #[doc(hidden)]
    pub fn measures(&self, x: &RowMat) -> Option<Measures> {
        Some(Scores::new(self.root()?, x).measures())
    }

    /// The order in which adjusted variance takes the columns of X.
    #[doc(hidden)]
    pub fn order_of(&self, x: &RowMat) -> Vec<usize> {
        match self.root() {
            Some(root) => Scores::new(root, x).order(),
            None => Small::new(x.ncols(), false).ordered(self.image(x).1.data()),
        }
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
        match self.root() {
            Some(root) => Scores::new(root, x).value(self.measure, self.given),
            None => self.by_products(x, None),
        }
    }

    /// The measure, and −∇f where it is asked for, from S and W.
    fn by_products(&self, x: &RowMat, g: Option<&mut RowMat>) -> f64 {
        let (mut m, s) = self.image(x);
        if self.measure == Measure::Variance {
            if let Some(g) = g {
                *g = m;
            }
            return (0..s.nrows()).map(|k| s.get(k, k)).sum();
        }
        // in a unit of a power of two, as W has squares of it
        let diagonal: Vec<f64> = self.f.diagonal().iter().map(|v| -v).collect();
        let unit = unit_of(&diagonal);
        m.data_mut().iter_mut().for_each(|v| *v /= unit);
        let s: Vec<f64> = s.data().iter().map(|v| v / unit).collect();
        let w = if self.measure == Measure::Explained { gram(&m) } else { RowMat::zeros(0, 0) };
        let sizes = sizes(&diagonal, unit, x);
        let mut small = Small::new(x.ncols(), self.given);
        // all that there is, which rounding may exceed
        let trace: f64 = diagonal.iter().map(|v| v / unit).sum();
        let Some(g) = g else {
            return unit * small.value(self.measure, (&s, w.data()), &sizes).min(trace);
        };
        let (value, q, p) = small.weights(self.measure, (&s, w.data()), &sizes);
        product(g, false, 1.0, m.as_mat(), q.as_mat());
        if let Some(p) = p {
            let mut second = self.f.apply(&m); // −C²X
            second.data_mut().iter_mut().for_each(|v| *v = -*v / unit);
            product(g, true, 1.0, second.as_mat(), p.as_mat());
        }
        g.data_mut().iter_mut().for_each(|v| *v *= unit);
        unit * value.min(trace)
    }
}

impl Measured {
    /// The measure on some of the variables, which sees no others.
    #[doc(hidden)]
    pub fn on_variables(&self, variables: &[usize]) -> Self {
        let root = self.root().map(|root| root.on_variables(variables));
        Self::of(self.f.on_variables(variables), self.measure, root)
    }
}

/// (Σᵢ |xᵢⱼ|√Cᵢᵢ)² of the columns of X, C in a unit.
fn sizes(diagonal: &[f64], unit: f64, x: &RowMat) -> Vec<f64> {
    let own = |k: usize, i: usize| x.get(i, k).abs() * (diagonal[i].max(0.0) / unit).sqrt();
    (0..x.ncols()).map(|k| (0..x.nrows()).map(|i| own(k, i)).sum::<f64>().powi(2)).collect()
}

/// All that is known of these measures needs C ⪰ 0: with a negative eigenvalue some of them have no largest value.
fn check_semidefinite(f: &impl Quadratic, measure: Measure) -> Result<()> {
    let Some((least, most)) = indefinite(f) else { return Ok(()) };
    let share = if most > 0.0 {
        format!("the smallest eigenvalue is {:.3e} of the largest", least / most)
    } else {
        "no eigenvalue is positive".into()
    };
    let what = format!(
        "{} variance is for a C that is a matrix of variances, without negative eigenvalues, and C is indefinite ({share}): ",
        measure.name()
    );
    Err(Error::Incompatible(
        Message::from(what)
            .option("nearest")
            .text(" takes the nearest matrix that is one, and variance takes any C"),
    ))
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
        let value = match self.root() {
            Some(root) => {
                let (value, half) = Scores::new(root, x).value_and_gradient(self.measure, self.given);
                *g = half;
                value
            }
            None => self.by_products(x, Some(g)),
        };
        g.data_mut().iter_mut().for_each(|v| *v = -*v);
        -0.5 * value
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }
}
