//! Options of training, with defaults.

use serde::{Deserialize, Serialize};

use crate::distance::Distance;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::moments::Optimiser;
use crate::own::PerRelation;
use crate::relation::Form;

/// Update rule of the relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// All coordinates at once by the optimiser's step, its moments kept along them.
    Adaptive,
    /// J-JOBCD (JOBCD paper, Algorithm 2): a round of disjoint pairs of rows, each minimised, with backtracking.
    JJobcd,
    /// VR-J-JOBCD: the same with the variance-reduced estimator of the gradient.
    VrJJobcd,
}

/// Score of a triple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scorer {
    /// −c·d²(R e_h, e_t) + b_h + b_t + δ, entities on U.
    Ultrae,
    /// c·⟨R x_h, x_t⟩_J, entities anywhere in ℝⁿ ([`bilinear`](crate::bilinear)).
    #[default]
    Bilinear,
    /// Re Σ w_k x_hk conj(x_tk), the baseline ComplEx, whose relations are not J-orthogonal.
    Complex,
}

impl Scorer {
    /// The signature of this dimension unless one is chosen.
    pub fn signature(self, dim: usize) -> usize {
        match self {
            Self::Ultrae => dim.saturating_sub(1),
            Self::Bilinear => dim / 2,
            Self::Complex => dim,
        }
    }
}

/// Schedule of the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schedule {
    /// It does not.
    Constant,
    /// To nothing at the last epoch.
    Linear,
    /// Along a quarter of a cosine's period, to nothing at the last epoch.
    Cosine,
}

/// Known facts that are not negatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoNegatives {
    /// Those of train.
    Train,
    /// Those of train, valid and test: the protocol of UltraE's public code. It reveals test
    /// facts to training, and its results are not comparable with others.
    All,
}

/// Treatment of questions about entities that are in no fact of train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unknown {
    /// They rank behind all other candidates.
    Last,
    /// They are left out.
    LeaveOut,
    /// They rank where their random embedding is.
    Scored,
}

/// The model and its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Options {
    /// The score of a triple.
    #[serde(default = "of_old_files")]
    pub scorer: Scorer,
    /// Coordinates of a point, n.
    pub dim: usize,
    /// Number of coordinates with J = 1, p; p = n is Euclidean space, p = n − 1 hyperbolic.
    pub signature: usize,
    /// The radius of curvature α.
    pub alpha: f64,
    /// The margin δ.
    pub margin: f64,
    /// The distance of a score.
    pub distance: Distance,
    /// The form of the relations.
    pub relations: Form,
    /// Numbers that each relation has of its own beside its matrix.
    #[serde(default)]
    pub per_relation: Vec<PerRelation>,
    /// Update rule of the relations.
    pub rule: Rule,
    /// Separate relations for the question (?, r, t).
    pub reciprocal: bool,
    /// The loss.
    pub loss: Loss,
    /// Steps of entities and, with the adaptive rule and without `relation_optimiser`, of relations.
    pub optimiser: Optimiser,
    /// Optimiser of relations with the adaptive rule, if it differs from that of entities.
    #[serde(default)]
    pub relation_optimiser: Option<Optimiser>,
    /// Learning rate of entities and biases.
    pub lr: f64,
    /// Learning rate of relations.
    pub relation_lr: f64,
    /// λ of the penalty λ/2·|s|² on the space part s of every entity that a batch mentions, beside the mean loss of its
    /// triples; |s| = α·sinh(d/α) in hyperbolic space, d from the point where all begin.
    #[serde(default)]
    pub decay: f64,
    /// λ of the penalty N3 of the scorers `bilinear` and `complex`.
    #[serde(default)]
    pub n3: f64,
    /// Schedule of both rates.
    pub schedule: Schedule,
    /// Maximum number of epochs; [`Options::NO_END`] (`null` in JSON) means no maximum, with a time limit.
    #[serde(with = "endless")]
    pub epochs: usize,
    /// Triples of a batch; with `bilinear` and `complex` questions, each with all its answers.
    pub batch: usize,
    /// Number of negatives per question; a triple is two questions.
    pub negatives: usize,
    /// Questions that share their negatives.
    pub share: usize,
    /// Negatives among the entities that the relation has on that side in train.
    pub type_constrained: bool,
    /// Facts that are not negatives.
    pub no_negatives: NoNegatives,
    /// Epochs between two evaluations on valid.
    pub evaluate_every: usize,
    /// Evaluations without a better MRR after which training ends; 0 is never. `None` is never too where the number of
    /// epochs is given, and a quarter of the time limit ([`Trainer::run`](crate::Trainer::run)) where it is not.
    pub patience: Option<usize>,
    /// Treatment of questions about entities that are not in train.
    pub unknown: Unknown,
    /// Spread of the entities' first parameters.
    pub init: f64,
    /// Spread of the relations' first angles, in radians, of Givens rotations in units of π.
    pub relation_init: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(Scorer::default())
    }
}

impl Options {
    /// The defaults with a scorer.
    pub fn of(scorer: Scorer) -> Self {
        let ultrae = Self {
            scorer: Scorer::Ultrae,
            dim: 32,
            signature: 31,
            alpha: 1.0,
            margin: 0.0,
            distance: Distance::Geodesic,
            relations: Form::Full,
            per_relation: vec![PerRelation::Scale],
            rule: Rule::Adaptive,
            reciprocal: true,
            loss: Loss::Softplus,
            optimiser: Optimiser::Adagrad,
            relation_optimiser: None,
            lr: 0.3,
            relation_lr: 0.03,
            decay: 0.0,
            n3: 0.0,
            schedule: Schedule::Constant,
            epochs: 100,
            batch: 300,
            negatives: 64,
            share: 16,
            type_constrained: false,
            no_negatives: NoNegatives::Train,
            evaluate_every: 5,
            patience: None,
            unknown: Unknown::Last,
            init: 1e-3,
            relation_init: 1.0,
            seed: 0,
        };
        let products = Self {
            scorer,
            dim: 256,
            signature: scorer.signature(256),
            relations: Form::Givens,
            lr: 0.2,
            relation_lr: 0.2,
            n3: 0.01,
            batch: 64,
            ..ultrae.clone()
        };
        match scorer {
            Scorer::Ultrae => ultrae,
            Scorer::Bilinear => products,
            Scorer::Complex => {
                Self { relations: Form::Complex, per_relation: Vec::new(), relation_init: 1e-3, ..products }
            }
        }
    }
}

/// The scorer of files that name none.
fn of_old_files() -> Scorer {
    Scorer::Ultrae
}

/// A number of epochs that may have no end, as JSON: `null` where it has none.
mod endless {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Options;

    pub fn serialize<S: Serializer>(epochs: &usize, to: S) -> Result<S::Ok, S::Error> {
        Some(*epochs).filter(|n| *n != Options::NO_END).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
        Option::<usize>::deserialize(from).map(|epochs| epochs.unwrap_or(Options::NO_END))
    }
}

impl Options {
    /// Number of epochs without a maximum, for runs that a time limit ends.
    pub const NO_END: usize = usize::MAX;

    /// Learning rates. The default depends on the optimiser (Adam's is a hundredth of
    /// Adagrad's); that of relations is a tenth of it.
    pub fn set_rates(&mut self, lr: Option<f64>, relation_lr: Option<f64>) {
        let of_optimiser = match self.optimiser {
            Optimiser::Adam => 0.01,
            Optimiser::Adagrad => 1.0,
        };
        let defaults = Self::of(self.scorer);
        self.lr = lr.unwrap_or(of_optimiser * defaults.lr);
        self.relation_lr = relation_lr.unwrap_or(defaults.relation_lr / defaults.lr * self.lr);
    }

    /// A rule of the relations. Rules that move matrices alone leave relations without other numbers.
    pub fn set_rule(&mut self, rule: Rule) {
        self.rule = rule;
        if rule != Rule::Adaptive {
            self.per_relation.clear();
        }
    }

    /// True if relations have this number of their own.
    pub fn has(&self, what: PerRelation) -> bool {
        self.per_relation.contains(&what)
    }

    /// Optimiser of the relations with the adaptive rule.
    pub(crate) fn of_relations(&self) -> Optimiser {
        self.relation_optimiser.unwrap_or(self.optimiser)
    }

    /// # Errors
    /// [`Error::Option`]: a value outside its range, or incompatible values.
    pub fn check(&self) -> Result<()> {
        crate::Space::new(self.dim, self.signature, self.alpha)?;
        let at_least_one = [
            ("batch", self.batch),
            ("negatives", self.negatives),
            ("share", self.share),
            ("eval-every", self.evaluate_every),
        ];
        for (name, value) in at_least_one {
            if value == 0 {
                return Err(Error::option(name, value, "at least 1"));
            }
        }
        let positive = [("lr", self.lr), ("relation-lr", self.relation_lr), ("init", self.init)];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::option(name, value, "a finite number > 0"));
            }
        }
        for (name, value) in [("margin", self.margin), ("relation-init", self.relation_init)] {
            if !value.is_finite() {
                return Err(Error::option(name, value, "a finite number"));
            }
        }
        if !(self.decay >= 0.0 && self.decay.is_finite()) {
            return Err(Error::option("decay", self.decay, "a finite number >= 0"));
        }
        self.check_scorer()?;
        if self.epochs == Self::NO_END && self.schedule != Schedule::Constant {
            let expected =
                "constant, because rates fall until the last epoch and the number of epochs is not given";
            let name = if self.schedule == Schedule::Linear { "linear" } else { "cosine" };
            return Err(Error::option("schedule", name, expected));
        }
        if self.rule != Rule::Adaptive && self.relation_optimiser.is_some() {
            return Err(Error::option(
                "relation-optimiser",
                "given",
                "no value with this rule, which has no optimiser; leave it out",
            ));
        }
        if self.rule != Rule::Adaptive && self.relations != Form::Full {
            return Err(Error::option(
                "rule",
                "j-jobcd",
                "the relations full, which are moved along pairs of rows",
            ));
        }
        if self.rule != Rule::Adaptive && !self.per_relation.is_empty() {
            return Err(Error::option(
                "per-relation",
                "given",
                "no value with this rule, which moves matrices alone; leave it out",
            ));
        }
        if self.has(PerRelation::Curvature)
            && (self.signature == self.dim || self.distance != Distance::Geodesic)
        {
            return Err(Error::option(
                "per-relation",
                "curvature",
                "the geodesic distance and a signature below the dimension, because others have no radius",
            ));
        }
        if self.distance == Distance::Split && self.signature == 0 {
            return Err(Error::option(
                "distance",
                "split",
                "a signature of at least 1, because this distance has a space part",
            ));
        }
        if self.distance == Distance::Split && !self.reciprocal {
            // d(R x, y) is not d(x, R^-1 y): boosts change tau
            return Err(Error::option(
                "distance",
                "split",
                "relations for both directions, because this distance is not invariant",
            ));
        }
        Ok(())
    }

    /// Options of the other scorers have their defaults.
    fn check_scorer(&self) -> Result<()> {
        if !(self.n3 >= 0.0 && self.n3.is_finite()) {
            return Err(Error::option("n3", self.n3, "a finite number >= 0"));
        }
        let base = Self::of(self.scorer);
        let (others, which) = match self.scorer {
            Scorer::Ultrae => (
                vec![("n3", self.n3 != base.n3), ("relations", self.relations == Form::Complex)],
                "--scorer bilinear and complex",
            ),
            Scorer::Bilinear | Scorer::Complex => (
                vec![
                    ("alpha", self.alpha != base.alpha),
                    ("margin", self.margin != base.margin),
                    ("distance", self.distance != base.distance),
                    ("relations", self.relations != base.relations),
                    ("rule", self.rule != base.rule),
                    ("no-reciprocal", !self.reciprocal),
                    ("loss", self.loss != base.loss),
                    ("decay", self.decay != base.decay),
                    ("negatives", self.negatives != base.negatives),
                    ("share", self.share != base.share),
                    ("type-constrained", self.type_constrained),
                    ("no-negatives", self.no_negatives != base.no_negatives),
                ],
                "--scorer ultrae",
            ),
        };
        if let Some((name, _)) = others.iter().find(|(_, differs)| *differs) {
            return Err(Error::option(
                name,
                "given",
                format!("no value, because it is for {which}; leave it out"),
            ));
        }
        if self.scorer != Scorer::Ultrae && self.per_relation.iter().any(|what| !base.has(*what)) {
            let expected = "scale or nothing with --scorer bilinear, nothing with complex";
            return Err(Error::option("per-relation", "given", expected));
        }
        if self.scorer == Scorer::Complex && (self.dim % 2 == 1 || self.signature != self.dim) {
            return Err(Error::option(
                "signature",
                self.signature,
                format!("the dimension, {}, which is even: complex numbers have no other J", self.dim),
            ));
        }
        Ok(())
    }

    /// The factor of learning rates in an epoch, counted from 0.
    pub(crate) fn rate(&self, epoch: usize) -> f64 {
        let done = epoch as f64 / self.epochs.max(1) as f64;
        match self.schedule {
            Schedule::Constant => 1.0,
            Schedule::Linear => 1.0 - done,
            Schedule::Cosine => (done * std::f64::consts::FRAC_PI_2).cos(),
        }
    }
}
