//! Sparse components that maximise a measure of what they explain: min −½ φ(X) + λ‖X‖₀ over limits of nonzeros and XᵀX = I,
//! XᵀCX diagonal with unit columns, or both.

use orthopt_core::constraint::{Constraint, Stiefel};
use orthopt_core::objective::{Evaluate, Objective, count_nonzeros, with_price, without_dust};
use orthopt_core::penalty::checked_lambda;
use orthopt_core::problem::{Between, Cardinality, support};
use orthopt_core::smooth::{AnySmooth, Measure, Measured, Order, Quadratic, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::products::cross;

/// Numbers of nonzeros, of a total, that one component may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Share {
    /// At least so many.
    pub min: usize,
    /// At most so many.
    pub max: usize,
}

/// min −½ φ(X) + λ‖X‖₀ over n × r matrices X with limits of nonzeros and what [`Between`] says; φ is the measure of `f`.
///
/// Components whose scores are uncorrelated, xⱼᵀCxₖ = 0, are in general not orthogonal. Without a limit (sₖ = n, λ = 0) the
/// solution for variance is PCA: for Y = C^½X = UD, UᵀU = I, the variance dₖ² = 1/(uₖᵀC⁻¹uₖ) is at most uₖᵀCuₖ (Jensen), and the
/// sum of these at most that of the r largest eigenvalues.
#[derive(Clone, Debug)]
pub struct MeasuredProblem<F = AnySmooth> {
    /// −½ φ(X).
    pub f: Measured<F>,
    rank: usize,
    limits: Cardinality,
    share: Share,
    lambda: f64,
    between: Between,
    order: Order,
}

/// A correlation of scores, and a violation of XᵀX = I, that a given X may have.
const GIVEN: f64 = 1e-6;
/// A correlation of scores, and a violation of XᵀX = I, that a returned X may have: rounding.
const ROUNDING: f64 = 1e-12;
/// Entries below this are no digit of a column of length 1, and the share of F that they may take along.
const SPECK: (f64, f64) = (1e-13, 1e-11);
/// A tenth of what a point without them may be off the constraints, unless it is off by more with them.
const CLEAN: f64 = 1e-11;
/// Product of two standard deviations that counts as none, as a share of the scale of f.
const NO_VARIANCE: f64 = 1e-6;

impl MeasuredProblem {
    /// This problem on some of the variables; its measure counts these only.
    ///
    /// # Errors
    /// Limits that do not fit so few variables.
    #[doc(hidden)]
    pub fn on_variables(&self, variables: &[usize]) -> Result<Self> {
        let part = Self::new(
            self.f.on_variables(variables),
            self.rank,
            self.limits.clone(),
            self.lambda,
            self.between,
        )?;
        // limits that differ here may be the same there
        let f = part.f.in_given_order(self.f.is_in_given_order());
        Ok(Self { f, share: Share { max: self.share.max.min(variables.len()), ..self.share }, ..part })
    }
}

impl<F: Quadratic> MeasuredProblem<F> {
    /// The problem for r components that are found together. Adjusted variance takes them in the order of their variances, or of
    /// the list where limits of components differ.
    ///
    /// # Errors
    /// A rank, λ or limit out of range; limits of rows, for which adjusted and polar variance are the variance.
    pub fn new(
        f: Measured<F>,
        rank: usize,
        limits: Cardinality,
        lambda: f64,
        between: Between,
    ) -> Result<Self> {
        let n = f.nrows();
        Stiefel::new(n, rank)?;
        checked_lambda(lambda)?;
        let limits = limits.checked(n, rank)?;
        if matches!(limits, Cardinality::Rows(_)) {
            let (other, why) = match between {
                Between::Orthogonal => (
                    "maximise",
                    "components on common variables are eigenvectors, whose adjusted and polar variance is the variance, \
                     and explained variance has no such limit here",
                ),
                _ => (
                    "constraint",
                    "components on common variables are eigenvectors, so they are already orthogonal and uncorrelated",
                ),
            };
            let message = Message::about("variables").text(" and ").option(other);
            let message = message.text(format!(" exclude each other: {why}; leave ")).option(other);
            return Err(Error::Incompatible(message.text(" out")));
        }
        // a list of limits that differ is one of components in this order
        let given = matches!(&limits, Cardinality::Components(list) if list.iter().any(|s| *s != list[0]));
        let f = f.in_given_order(given);
        Ok(Self { f, rank, limits, share: Share { min: 1, max: n }, lambda, between, order: Order::Joint })
    }

    /// This problem with so many nonzeros in each component, if a total is limited.
    ///
    /// # Errors
    /// Numbers that no X meets.
    pub fn shared(mut self, share: Share) -> Result<Self> {
        let Cardinality::Total(total) = self.limits else {
            return Err(Error::Incompatible(
                "a least and a largest number of nonzeros in a component are for a limit of all components together".into(),
            ));
        };
        let max = share.max.min(self.nrows());
        if share.min == 0 || share.min > max || share.min * self.rank > total {
            return Err(Error::InvalidOption {
                option: "min-nonzeros".into(),
                value: share.min.to_string(),
                expected: format!(
                    "from 1 to {}: {} components have {total} nonzeros together, and at most {max} each",
                    max.min(total / self.rank),
                    self.rank
                ),
            });
        }
        self.share = Share { min: share.min, max };
        Ok(self)
    }

    /// This problem with components one after the other: each adds as much to those before it as its number of nonzeros
    /// permits, and adjusted variance has this order.
    ///
    /// # Errors
    /// A total, which one after the other would take; a λ; a measure or a constraint that is of all components together.
    #[doc(hidden)]
    pub fn in_sequence(mut self) -> Result<Self> {
        let refused = |what: &str| Err(Error::Incompatible(format!("order sequential is for {what}").into()));
        if !matches!(self.limits, Cardinality::Components(_)) || self.lambda > 0.0 {
            return refused("a number of nonzeros for each component and no lambda");
        }
        if self.between != Between::Orthogonal {
            return refused("orthogonal components");
        }
        if self.f.measure() == Measure::Polar {
            return refused("variance, adjusted and explained: polar is of all components together");
        }
        self.order = Order::Sequential;
        Ok(self.in_its_order())
    }

    /// Components one after the other have an order, whatever their limits are.
    fn in_its_order(self) -> Self {
        let given = self.f.is_in_given_order() || self.order == Order::Sequential;
        Self { f: self.f.in_given_order(given), ..self }
    }

    /// This problem with other limits and another λ.
    ///
    /// # Errors
    /// As [`MeasuredProblem::new`].
    #[doc(hidden)]
    pub fn limited(self, limits: Cardinality, lambda: f64) -> Result<Self> {
        let order = self.order;
        let new = Self::new(self.f, self.rank, limits, lambda, self.between)?;
        Ok(Self { order, ..new }.in_its_order())
    }

    /// n.
    pub fn nrows(&self) -> usize {
        self.f.nrows()
    }

    /// r.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The limits.
    pub fn limits(&self) -> &Cardinality {
        &self.limits
    }

    /// Nonzeros that a component may have where a total is limited.
    pub fn share(&self) -> Share {
        self.share
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Relation between two components.
    pub fn between(&self) -> Between {
        self.between
    }

    /// Order in which components are found.
    pub fn order(&self) -> Order {
        self.order
    }

    /// True if components exist one after the other for every C, the fewest nonzeros first: variance of uncorrelated components of
    /// whose numbers of nonzeros, sorted, the j-th is at least j, as j − 1 equations need j nonzeros.
    pub fn takes_one_by_one(&self) -> bool {
        let Cardinality::Components(list) = &self.limits else { return false };
        let mut sorted = list.clone();
        sorted.sort_unstable();
        let uncorrelated = self.between == Between::Uncorrelated && self.f.measure() == Measure::Variance;
        uncorrelated && sorted.into_iter().enumerate().all(|(before, most)| most > before)
    }

    /// Largest number of nonzeros of component k.
    pub fn most(&self, k: usize) -> usize {
        match &self.limits {
            Cardinality::Components(list) => list[k],
            Cardinality::Total(_) | Cardinality::Rows(_) => self.share.max,
        }
    }

    /// X without entries that are no digit of a column of length 1, where it is no less feasible and no worse for that: scores with
    /// hardly any variance have correlations that see them. `None` where there are none, or they are needed.
    fn without_specks(&self, x: &RowMat) -> Option<RowMat> {
        let mut clean = x.clone();
        let is_speck = |v: &&mut f64| **v != 0.0 && v.abs() <= SPECK.0;
        if clean.data_mut().iter_mut().filter(is_speck).map(|v| *v = 0.0).count() == 0 {
            return None;
        }
        let near = self.feasibility(&clean) <= 10.0 * self.feasibility(x).max(CLEAN);
        let (before, after) = (self.value(x), self.value(&clean));
        let has_least = (0..x.ncols()).all(|k| support(&clean, k).len() >= self.share.min.max(1));
        (near && has_least && after <= before + SPECK.1 * before.abs()).then_some(clean)
    }

    /// Checks a given X: shape, finite, feasible to 1e-6, within the limits.
    ///
    /// # Errors
    /// The fault of X, with the measured numbers.
    pub fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        let wrong = |why: String| Err(Error::Incompatible(format!("{what} {why}").into()));
        if self.between.is_orthogonal() {
            Stiefel::new(self.nrows(), self.rank)?.check(x, what)?;
        }
        check_numbers(x, what, (self.nrows(), self.rank))?;
        let off = self.feasibility(x);
        if off.is_nan() || off > GIVEN {
            let columns = if self.between.is_orthogonal() { "orthonormal" } else { "unit" };
            return wrong(format!(
                "does not have uncorrelated scores and {columns} columns: lengths and correlations deviate by {off:.3e}, and \
                 {GIVEN:e} is allowed"
            ));
        }
        if !self.allows(x) {
            let counts: Vec<_> = (0..x.ncols()).map(|k| support(x, k).len().to_string()).collect();
            return wrong(format!(
                "has {} nonzeros in its components: {} are allowed",
                counts.join(", "),
                self.limits.words()
            ));
        }
        Ok(())
    }

    /// True if X keeps the limits.
    pub fn allows(&self, x: &RowMat) -> bool {
        let fits = |k: usize| (self.share.min..=self.share.max).contains(&support(x, k).len());
        self.limits.allows(x) && (0..x.ncols()).all(fits)
    }
}

impl<F: Quadratic> Evaluate for MeasuredProblem<F> {
    fn value(&self, x: &RowMat) -> f64 {
        self.objective(x).total
    }

    fn objective(&self, x: &RowMat) -> Objective {
        let smooth = if self.takes_one_by_one() { self.f.quadratic().value(x) } else { self.f.value(x) };
        with_price(smooth, self.lambda, || count_nonzeros(x))
    }

    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        let objective = self.objective(x);
        (objective.total, objective)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }

    fn asks_for_zeros(&self) -> bool {
        true
    }

    fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        let most = self.feasibility(x).max(ROUNDING);
        let restore = |x: &mut RowMat| {
            if !self.allows(x) {
                return f64::INFINITY;
            }
            if self.between == Between::Orthogonal {
                return orthopt_core::constraint::stiefel::repair_on_support(x);
            }
            scale_columns(x);
            if self.feasibility(x) <= most { 0.0 } else { f64::INFINITY }
        };
        let clean = without_dust(x, |x| self.objective(x), restore);
        self.without_specks(clean.as_ref().unwrap_or(x)).or(clean)
    }

    /// ‖XᵀX − I‖_F, of its diagonal only where loadings need not be orthogonal, with the correlations of scores where these
    /// must be zero: the root of the sum of the squares.
    fn feasibility(&self, x: &RowMat) -> f64 {
        let r = x.ncols();
        // lengths alone where a search of components one by one counts its work
        let g = match self.takes_one_by_one() {
            true => RowMat::from_fn(r, r, |j, k| if j == k { square_of_length(x, k) } else { 0.0 }),
            false => cross(x, x),
        };
        let mut sum = 0.0;
        for j in 0..r {
            for k in (0..r).filter(|k| *k == j || self.between.is_orthogonal()) {
                sum += (g.get(j, k) - f64::from(u8::from(j == k))).powi(2);
            }
        }
        if self.between.is_uncorrelated() {
            let f = self.f.quadratic();
            sum += squares_of_correlations(&cross(x, &f.apply(x)), NO_VARIANCE * f.scale(x));
        }
        sum.sqrt()
    }
}

/// Refuses an X, called `what`, of another shape than n × r, or with a number that is not finite.
fn check_numbers(x: &RowMat, what: &str, (expected_rows, expected_cols): (usize, usize)) -> Result<()> {
    let (rows, cols) = (x.nrows(), x.ncols());
    if (rows, cols) != (expected_rows, expected_cols) {
        return Err(Error::Shape { what: what.into(), rows, cols, expected_rows, expected_cols });
    }
    x.find_non_finite().map_or(Ok(()), |(row, col)| {
        let at = format!("{what} is not finite in row {}, column {}", row + 1, col + 1);
        Err(Error::Incompatible(at.into()))
    })
}

/// Divides columns by their lengths.
fn scale_columns(x: &mut RowMat) {
    for k in 0..x.ncols() {
        let length = square_of_length(x, k).sqrt();
        (0..x.nrows()).for_each(|i| x.set(i, k, x.get(i, k) / length));
    }
}

fn square_of_length(x: &RowMat, k: usize) -> f64 {
    (0..x.nrows()).map(|i| x.get(i, k).powi(2)).sum()
}

/// Σ_{j≠k} of the squared correlations of scores whose products are ±`s`, where the product of two standard deviations counts as
/// `none` at least: components without variance have only rounding in common with others, and with each other.
fn squares_of_correlations(s: &RowMat, none: f64) -> f64 {
    let r = s.nrows();
    let mut sum = 0.0;
    for k in 0..r {
        for j in (0..r).filter(|j| *j != k) {
            let (own, other) = (s.get(j, j).abs(), s.get(k, k).abs());
            let size = (own.sqrt() * other.sqrt()).max(none).max(f64::MIN_POSITIVE);
            sum += (0.5 * (s.get(j, k) + s.get(k, j)) / size).powi(2);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::smooth::DenseQuadratic;

    fn problem(nonzeros: Vec<usize>, between: Between) -> Result<MeasuredProblem<DenseQuadratic>> {
        let m = faer::Mat::from_fn(4, 4, |i, j| if i == j { -2.0 - i as f64 } else { -0.5 });
        let f = Measured::new(DenseQuadratic::new(m.as_ref())?, Measure::Variance)?;
        MeasuredProblem::new(f, nonzeros.len(), Cardinality::Components(nonzeros), 0.0, between)
    }

    #[test]
    fn counts_that_leave_a_direction_to_every_component() {
        let one_by_one = |list, between| problem(list, between).map(|p| p.takes_one_by_one());
        for list in [vec![3, 3, 3], vec![2, 1, 3], vec![1, 2], vec![4]] {
            assert!(one_by_one(list.clone(), Between::Uncorrelated).unwrap(), "{list:?}");
            assert!(!one_by_one(list.clone(), Between::Orthogonal).unwrap(), "{list:?}");
            assert!(!one_by_one(list, Between::Both).unwrap());
        }
        for list in [vec![2, 2, 2], vec![1, 1]] {
            assert!(!one_by_one(list.clone(), Between::Uncorrelated).unwrap(), "{list:?}");
        }
        for list in [vec![0], vec![], vec![4; 5]] {
            assert!(one_by_one(list.clone(), Between::Uncorrelated).is_err(), "{list:?}");
        }
    }

    #[test]
    fn correlations_and_lengths_are_measured() {
        let p = problem(vec![2, 2], Between::Uncorrelated).unwrap();
        let x = RowMat::from_fn(4, 2, |i, k| if i == k { 1.0 } else { 0.0 });
        let expected = 0.5 / 6f64.sqrt();
        assert!((p.feasibility(&x) - 2f64.sqrt() * expected).abs() < 1e-15);
        assert!(p.check(&x, "X").unwrap_err().to_string().contains("correlations deviate by"));
        // x₂ ⊥ Cx₁ = (2, 0.5, 0.5, 0.5)
        let y = RowMat::from_fn(4, 2, |i, k| match (i, k) {
            (0, 0) => 1.0,
            (1, 1) => 0.5f64.sqrt(),
            (2, 1) => -0.5f64.sqrt(),
            _ => 0.0,
        });
        assert!(p.feasibility(&y) < 1e-15 && p.check(&y, "X").is_ok());
        let more = RowMat::from_fn(4, 2, |i, k| if k == 0 { 0.5 } else { y.get(i, 1) });
        assert!(p.check(&more, "X").is_err());
    }
}
