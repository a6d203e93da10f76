//! Options of posing a problem, as users give them.

use std::sync::Arc;

use crate::family::Between;
use crate::family::cardinality::Limit;
use crate::family::composite_pca::needs_parts;
use crate::family::posed::default_rank;
use crate::family::rank::{RankRule, Scree};
use crate::family::{Kind, LinearInput, ProblemInfo, Wanted};
use orthopt_core::linear_map::AnyMap;
use orthopt_core::penalty::Shape;
use orthopt_core::problem::Storage;
use orthopt_core::smooth::{Measure, Order, Placement};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;

/// Options of posing a problem; `None` is chosen.
#[derive(Clone, Debug, Default)]
pub struct PoseOptions {
    /// r.
    pub rank: Option<usize>,
    /// The rule for r, instead of a number.
    pub rank_rule: Option<RankRule>,
    /// Number of rows behind C, where the data are C itself; for the rule.
    pub samples: Option<usize>,
    /// True if the eigenvalues are requested for a picture.
    pub show_scree: bool,
    /// Title of pictures, in place of one that says the numbers of components and variables.
    pub title: Option<String>,
    /// The eigenvalues, once they are known ([`with_rank`](Self::with_rank)).
    pub scree: Option<Arc<Scree>>,
    /// λ.
    pub lambda: Option<f64>,
    /// λ as a share of the mean of the r largest Cᵢᵢ, which scales with the data as λ must.
    pub lambda_share: Option<f64>,
    /// λ as a share of the largest useful one, for the penalties `l0` and `l1`.
    pub relative_lambda: Option<f64>,
    /// How f keeps the data.
    pub storage: Storage,
    /// Another penalty than the problem's own, for PCA problems.
    pub penalty: Option<String>,
    /// Shape parameters of penalties: `penalty-constant` to value.
    pub shape: Shape,
    /// k of the penalty `l1-largest-k`.
    pub k: Option<usize>,
    /// A linear map inside the penalty, for PCA problems.
    pub map: Option<AnyMap>,
    /// J: the number of leading ones, or a list of signs ([`Signature::parse`](orthopt_core::constraint::j_orthogonal::Signature::parse)).
    pub signature: Option<String>,
    /// R of C + R·tr(C)/n·I, for `hyperbolic-eig`.
    pub ridge: f64,
    /// The papers' objective with the other sign, which has no lower bound.
    pub reproduction: bool,
    /// Distances to match (m × m), for `probe`; Euclidean ones of the samples if not given.
    pub distances: Option<RowMat>,
    /// Radius of the ultrahyperbolic space, for `probe`.
    pub radius: Option<f64>,
    /// Where φ stands in `probe`.
    pub placement: Placement,
    /// E of ⟨E, X⟩ (n × r), for `nonlinear-eig`, and for `procrustes` of C itself.
    pub linear: Option<LinearInput>,
    /// B of ‖AX − B‖ (m × r), for `procrustes`.
    pub target: Option<RowMat>,
    /// Diagonal of D of tr(XᵀCXD), for `brockett`.
    pub component_weights: Option<Vec<f64>>,
    /// A limit on nonzeros, for `l0-pca`, `nonneg-pca` and `pca`: λ is then 0 unless given.
    pub limit: Option<Limit>,
    /// Relation between two components, for `l0-pca` and `pca`.
    pub between: Between,
    /// Measure to maximise, for `l0-pca` and `pca`; [`measure`](Self::measure) has the default.
    pub maximise: Option<Measure>,
    /// How they are found.
    pub order: Order,
    /// Least number of nonzeros of a component where a total is limited.
    pub min_nonzeros: Option<usize>,
    /// Largest number of nonzeros of a component where a total is limited.
    pub max_nonzeros: Option<usize>,
    /// Bytes that the problem may take; any number if `None`.
    pub max_memory: Option<u64>,
    /// Factor for printing numbers with the unit of λ, of data that were divided by a power of two.
    #[doc(hidden)]
    pub unit: Option<f64>,
}

impl PoseOptions {
    /// The options beside samples that are centred: the rows of the target are, too, as no rotation of centred rows meets another
    /// mean.
    #[must_use]
    pub fn centred(mut self) -> Self {
        if let Some(b) = &mut self.target {
            let rows = b.nrows();
            for k in 0..b.ncols() {
                let first = if rows > 0 { b.get(0, k) } else { 0.0 }; // far means would cost digits
                let mean = first + (0..rows).map(|i| b.get(i, k) - first).sum::<f64>() / rows as f64;
                (0..rows).for_each(|i| b.row_mut(i)[k] -= mean);
            }
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
        let counted = matches!(self.limit, Some(Limit::Nonzeros(_) | Limit::Total(_) | Limit::Knee));
        let takes = info.kind == Kind::Pca
            && matches!(self.penalty.as_deref().unwrap_or(info.penalty), "l0" | "none")
            && self.map.is_none();
        let measure = self.maximise.unwrap_or(match self.between {
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
        let listed = self.limit.as_ref().and_then(Limit::rank);
        let weights = self.component_weights.as_ref().map(Vec::len);
        self.rank.or(listed).or(weights).unwrap_or(default_rank(n)).min(n)
    }

    /// True if components are found by a `measure` of what they explain, or their scores are uncorrelated.
    pub(super) fn is_measured(&self, measure: Measure) -> bool {
        let shared = self.min_nonzeros.is_some() || self.max_nonzeros.is_some();
        measure != Measure::Variance || self.order != Order::Joint || self.between.is_uncorrelated() || shared
    }

    /// What a problem with the penalty `l0` gets from those who say neither λ nor a count and leave solver and
    /// start open: as many nonzeros as [`Knee`](super::Knee) says. λ for `l0` without a number of its own is
    /// useless on much data: thousands of nonzeros, or one.
    #[must_use]
    pub fn or_counts(mut self, info: &ProblemInfo, wanted: &Wanted) -> Self {
        let share = self.lambda_share.or(self.relative_lambda);
        let weighed = self.lambda.is_some() || share.is_some() || self.limit.is_some();
        let l0 = info.kind == Kind::Pca && self.penalty.as_deref().unwrap_or(info.penalty) == "l0";
        if l0 && !weighed && self.map.is_none() && wanted.leaves_method_open() {
            self.limit = Some(Limit::Knee);
        }
        self
    }
}

/// A share of the largest useful λ goes with nothing that has no such λ.
pub(super) fn check_relative(info: &ProblemInfo, options: &PoseOptions) -> Result<()> {
    let relative = Message::about("relative-lambda");
    let with = |option: &'static str| relative.clone().text(" cannot be combined with ").option(option);
    let problem = match options.relative_lambda {
        None => return Ok(()),
        Some(_) if options.lambda.is_some() => with("lambda"),
        Some(_) if options.limit.is_some() => with(options.limit.as_ref().map_or("nonzeros", Limit::option)),
        Some(_) if info.kind != Kind::Pca || needs_composite(options) => {
            relative.text(" is for l0-pca and l1-pca without a linear map")
        }
        Some(_) => return Ok(()),
    };
    Err(Error::Incompatible(problem))
}

/// Whether the penalty or the map asks for f − g + h∘A.
pub(super) fn needs_composite(options: &PoseOptions) -> bool {
    options.map.is_some() || options.penalty.as_deref().is_some_and(needs_parts)
}
