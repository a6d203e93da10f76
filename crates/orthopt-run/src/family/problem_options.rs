//! Options of posing a problem, as users give them.

use crate::family::Between;
use crate::family::cardinality::Limit;
use crate::family::composite_pca::needs_parts;
use crate::family::posed::default_rank;
use crate::family::{Kind, ProblemInfo, Request};
use orthopt_core::smooth::{Measure, Order};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;

impl Request {
    /// The options beside samples that are centred: the rows of the target are, too, as no rotation of centred rows meets another
    /// mean.
    #[must_use]
    pub fn centred(mut self) -> Self {
        if let Some(mut b) = self.target().cloned() {
            let rows = b.nrows();
            for k in 0..b.ncols() {
                let first = if rows > 0 { b.get(0, k) } else { 0.0 }; // far means would cost digits
                let mean = first + (0..rows).map(|i| b.get(i, k) - first).sum::<f64>() / rows as f64;
                (0..rows).for_each(|i| b.row_mut(i)[k] -= mean);
            }
            self.target = Some(b.into());
        }
        self
    }

    /// Factor for printing numbers with the unit of λ.
    pub(super) fn unit(&self) -> f64 {
        self.unit.unwrap_or(1.0)
    }

    /// Measure that r components maximise, for every front end.
    ///
    /// | | where nothing is said |
    /// |---|---|
    /// | a number of nonzeros, given or chosen: in each component, or in all together | adjusted variance |
    /// | λ, or neither λ nor a number | variance: the objective of the papers |
    /// | X ≥ 0 with a number of nonzeros | variance: there is no other measure of such X |
    /// | variables of all components together; uncorrelated scores | variance, and adjusted variance is the same |
    ///
    /// One component has one variance: adjusted and polar are the same, and are posed as such, for which more can be proved.
    pub fn measure(&self, info: &ProblemInfo, rank: usize) -> Measure {
        let counted = matches!(self.limit(), Some(Limit::Nonzeros(_) | Limit::Total(_) | Limit::Knee));
        let takes = info.kind == Kind::Pca
            && matches!(self.penalty.as_deref().unwrap_or(info.penalty), "l0" | "none")
            && self.map().is_none();
        let measure = self.maximise.unwrap_or(match self.between() {
            Between::Orthogonal if counted && takes => Measure::Adjusted,
            _ => Measure::Variance,
        });
        match measure {
            Measure::Adjusted | Measure::Polar if rank == 1 && takes => Measure::Variance,
            measure => measure,
        }
    }

    /// Number of components of n variables: the one that is given, or that of a list of limits or weights, or the default.
    pub(super) fn components(&self, n: usize) -> usize {
        let listed = self.limit().as_ref().and_then(Limit::rank);
        let weights = self.component_weights.as_ref().map(Vec::len);
        self.rank().or(listed).or(weights).unwrap_or(default_rank(n)).min(n)
    }

    /// True if components are found by a `measure` of what they explain, or their scores are uncorrelated.
    pub(super) fn is_measured(&self, measure: Measure) -> bool {
        let shared = self.min_nonzeros.is_some() || self.max_nonzeros.is_some();
        measure != Measure::Variance
            || self.order.unwrap_or_default() != Order::Joint
            || self.between().is_uncorrelated()
            || shared
    }

    /// What a problem with the penalty `l0` gets from those who say neither λ nor a count and leave solver and
    /// start open: as many nonzeros as [`Knee`](super::Knee) says. λ for `l0` without a number of its own is
    /// useless on much data: thousands of nonzeros, or one.
    #[must_use]
    pub fn or_counts(self, info: &ProblemInfo) -> Self {
        let share = self.lambda_share.or(self.relative_lambda);
        let weighed = self.lambda.is_some() || share.is_some() || self.limit().is_some();
        let l0 = info.kind == Kind::Pca && self.penalty.as_deref().unwrap_or(info.penalty) == "l0";
        if l0 && !weighed && self.map().is_none() && self.leaves_method_open() {
            return self.with_limit(Some(Limit::Knee));
        }
        self
    }
}

/// A share of the largest useful λ goes with nothing that has no such λ.
pub(super) fn check_relative(info: &ProblemInfo, options: &Request) -> Result<()> {
    let relative = Message::about("relative-lambda");
    let with = |option: &'static str| relative.clone().text(" cannot be combined with ").option(option);
    let problem = match options.relative_lambda {
        None => return Ok(()),
        Some(_) if options.lambda.is_some() => with("lambda"),
        Some(_) if options.limit().is_some() => {
            with(options.limit().as_ref().map_or("nonzeros", Limit::option))
        }
        Some(_) if info.kind != Kind::Pca || needs_composite(options) => {
            relative.text(" is for l0-pca and l1-pca without a linear map")
        }
        Some(_) => return Ok(()),
    };
    Err(Error::Incompatible(problem))
}

/// Whether the penalty or the map asks for f − g + h∘A.
pub(super) fn needs_composite(options: &Request) -> bool {
    options.map().is_some() || options.penalty.as_deref().is_some_and(needs_parts)
}
