//! The options of `embed`.

use std::str::FromStr;

use clap::ValueEnum;
use orthopt_embed::{
    Distance, Form, Loss, NoNegatives, Optimiser, Options, PerRelation, Rule, Schedule, Scorer, Unknown,
};

use crate::failure::usage;

/// Names of the command for values of the library: one line each.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $target:ident { $($(#[$help:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, ValueEnum)]
        pub enum $name { $($(#[$help])* $variant),+ }

        impl From<$name> for $target {
            fn from(name: $name) -> Self {
                match name { $($name::$variant => Self::$variant),+ }
            }
        }
    };
}

names! {
    ScorerName for Scorer {
        /// Distance between R e_h and e_t in ultrahyperbolic space (UltraE)
        Ultrae,
        /// Inner product of R x_h and x_t with the signs of J, R Givens rotations and boosts
        Bilinear,
        /// ComplEx: products of complex numbers, no J-orthogonal relations; a baseline
        Complex,
    }
}
names! {
    DistanceName for Distance {
        /// The square of the geodesic distance (the papers)
        Geodesic,
        /// An arc of the time part plus a line in the space part, not squared (UltraE's public code)
        Split,
    }
}
names! {
    FormName for Form {
        /// Any J-orthogonal matrix, moved along pairs of its rows
        Full,
        /// Factors of the hyperbolic CS decomposition (CSDM)
        Cs,
        /// Two layers of Givens rotations and boosts between (UltraE's public code)
        Givens,
    }
}
/// Numbers of a relation beside its matrix.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PerRelationName {
    /// A factor of the score
    Scale,
    /// The radius of curvature
    Curvature,
    /// Nothing
    None,
}

impl PerRelationName {
    fn number(self) -> Option<PerRelation> {
        match self {
            Self::Scale => Some(PerRelation::Scale),
            Self::Curvature => Some(PerRelation::Curvature),
            Self::None => None,
        }
    }
}

names! {
    RuleName for Rule {
        /// All coordinates at once, by the steps of --optimiser
        Adaptive,
        /// J-JOBCD: disjoint pairs of rows, each minimised, with backtracking
        JJobcd,
        /// VR-J-JOBCD: the same with variance-reduced gradients
        VrJJobcd,
    }
}
names! {
    LossName for Loss {
        /// Answer against negatives: -ln of its share
        CrossEntropy,
        /// Each triple for itself: ln(1 + exp(-z)) and ln(1 + exp(z)) (the papers)
        Softplus,
    }
}
names! {
    OptimiserName for Optimiser { Adagrad, Adam }
}
names! {
    ScheduleName for Schedule { Constant, Linear, Cosine }
}
names! {
    NoNegativesName for NoNegatives {
        /// Facts of train are not negatives
        Train,
        /// Nor facts of valid and test, which leaks them into training (the protocol of UltraE's public code)
        All,
    }
}
names! {
    UnknownName for Unknown {
        /// Behind all other candidates
        Last,
        /// Not at all
        LeaveOut,
        /// Where their random embedding is
        Scored,
    }
}

/// A signature, or a race among some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    Auto,
    Ones(usize),
}

impl FromStr for Signature {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::Ones).map_err(|_| "expected a whole number, or auto"),
        }
    }
}

/// Heading of the options that the other scorers refuse.
const ULTRAE: &str = "Of the scorer ultrae";

/// The model and its training, with the defaults of the library.
#[derive(Debug, clap::Args)]
pub struct Choices {
    /// Score of a triple [default: bilinear]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    scorer: Option<ScorerName>,
    /// Coordinates of an entity [default: 256; ultrae: 32]
    #[arg(short, long, value_name = "D", help_heading = "Model")]
    dim: Option<usize>,
    /// Number of coordinates with J = 1, or auto: a race on --valid [default: half of D; ultrae: D - 1; complex: all
    /// of D]
    #[arg(long, value_name = "P", help_heading = "Model")]
    signature: Option<Signature>,
    /// Radius of curvature [default: 1]
    #[arg(long, value_name = "ALPHA", help_heading = ULTRAE)]
    alpha: Option<f64>,
    /// Margin of the scores [default: 0]
    #[arg(long, value_name = "DELTA", help_heading = ULTRAE, allow_hyphen_values = true)]
    margin: Option<f64>,
    /// Distance of the scores [default: geodesic]
    #[arg(long, value_name = "NAME", help_heading = ULTRAE)]
    distance: Option<DistanceName>,
    /// Form of the relations [default: givens; ultrae: full]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    relations: Option<FormName>,
    /// Numbers of a relation beside its matrix [default: scale; complex: none]
    #[arg(long, value_name = "NAMES", help_heading = "Model", value_delimiter = ',')]
    per_relation: Option<Vec<PerRelationName>>,
    /// One relation for both directions, used with its inverse
    #[arg(long, help_heading = ULTRAE)]
    no_reciprocal: bool,

    /// Update rule of the relations [default: adaptive]
    #[arg(long, value_name = "NAME", help_heading = ULTRAE)]
    rule: Option<RuleName>,
    /// Loss [default: softplus]
    #[arg(long, value_name = "NAME", help_heading = ULTRAE)]
    loss: Option<LossName>,
    /// Steps of entities, biases and, with the adaptive rule, relations [default: adagrad]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    optimiser: Option<OptimiserName>,
    /// Steps of relations with the adaptive rule [default: those of --optimiser]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    relation_optimiser: Option<OptimiserName>,
    /// Learning rate of entities [default: 0.2; ultrae: 0.3; adam: a hundredth of it]
    #[arg(long, value_name = "RATE", help_heading = "Training")]
    lr: Option<f64>,
    /// Learning rate of relations [default: as --lr; ultrae: a tenth]
    #[arg(long, value_name = "RATE", help_heading = "Training")]
    relation_lr: Option<f64>,
    /// Penalty LAMBDA/2 |s|^2, s the part with J = 1 [default: 0]
    #[arg(long, value_name = "LAMBDA", help_heading = ULTRAE)]
    decay: Option<f64>,
    /// Penalty N3 of bilinear and complex [default: 0.01; ultrae: 0]
    #[arg(long, value_name = "LAMBDA", help_heading = "Training")]
    n3: Option<f64>,
    /// Schedule of the learning rates until the last epoch [default: constant]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    schedule: Option<ScheduleName>,
    /// Maximum number of epochs [default: 100; with --time-limit no limit]
    #[arg(long, value_name = "N", help_heading = "Training")]
    epochs: Option<usize>,
    /// Questions per step, of ultrae triples [default: 64; ultrae: 300]
    #[arg(long, value_name = "N", help_heading = "Training")]
    batch: Option<usize>,
    /// Negatives per question; a triple is two questions [default: 64]
    #[arg(long, value_name = "K", help_heading = ULTRAE)]
    negatives: Option<usize>,
    /// Questions that share their negatives; 1: no sharing [default: 16]
    #[arg(long, value_name = "N", help_heading = ULTRAE)]
    share: Option<usize>,
    /// Negatives only from entities that the relation has on that side
    #[arg(long, help_heading = ULTRAE)]
    type_constrained: bool,
    /// Facts that are never negatives [default: train]
    #[arg(long, value_name = "PARTS", help_heading = ULTRAE)]
    no_negatives: Option<NoNegativesName>,
    /// Spread of the first entities [default: 0.001]
    #[arg(long, value_name = "SIZE", help_heading = "Training")]
    init: Option<f64>,
    /// Spread of the first angles of relations, in radians, of givens in units of pi [default: 1; complex: 0.001]
    #[arg(long, value_name = "SIZE", help_heading = "Training")]
    relation_init: Option<f64>,
    /// Seed of all random numbers [default: 0]
    #[arg(long, value_name = "N", help_heading = "Training")]
    seed: Option<u64>,

    /// Epochs between evaluations on valid [default: 5]
    #[arg(long, value_name = "N", help_heading = "Evaluation")]
    eval_every: Option<usize>,
    /// Stop after so many evaluations without a better MRR; 0: never [default: never; with --time-limit alone a
    /// quarter of it]
    #[arg(long, value_name = "N", help_heading = "Evaluation")]
    patience: Option<usize>,
    /// Rank of entities that are not in train [default: last]
    #[arg(long, value_name = "HOW", help_heading = "Evaluation")]
    unknown: Option<UnknownName>,
}

fn set<T>(slot: &mut T, value: Option<impl Into<T>>) {
    if let Some(value) = value {
        *slot = value.into();
    }
}

impl Choices {
    /// The options of the library; `timed` if a time limit ends the run.
    pub fn options(&self, timed: bool) -> Options {
        let mut o = Options::of(self.scorer.map_or_else(Scorer::default, Into::into));
        o.set_rates(None, None);
        self.put(&mut o);
        self.again(&mut o, timed);
        o
    }

    /// A signature, if one was given.
    pub fn signature(&self) -> Option<Signature> {
        self.signature
    }

    /// Those of the model and its training, over what `o` has.
    fn put(&self, o: &mut Options) {
        set(&mut o.scorer, self.scorer);
        set(&mut o.dim, self.dim);
        match self.signature {
            Some(Signature::Ones(ones)) => o.signature = ones,
            _ if self.dim.is_some() => o.signature = o.scorer.signature(o.dim),
            _ => {}
        }
        set(&mut o.alpha, self.alpha);
        set(&mut o.margin, self.margin);
        set(&mut o.distance, self.distance);
        set(&mut o.relations, self.relations);
        o.reciprocal &= !self.no_reciprocal;
        self.rule.into_iter().for_each(|rule| o.set_rule(rule.into()));
        if let Some(names) = &self.per_relation {
            o.per_relation = names.iter().filter_map(|name| name.number()).collect();
        }
        set(&mut o.loss, self.loss);
        set(&mut o.optimiser, self.optimiser);
        o.relation_optimiser = self.relation_optimiser.map(Into::into).or(o.relation_optimiser);
        if self.lr.is_some() || self.relation_lr.is_some() || self.optimiser.is_some() {
            o.set_rates(self.lr, self.relation_lr);
        }
        set(&mut o.decay, self.decay);
        set(&mut o.n3, self.n3);
        set(&mut o.schedule, self.schedule);
        set(&mut o.batch, self.batch);
        set(&mut o.negatives, self.negatives);
        set(&mut o.share, self.share);
        o.type_constrained |= self.type_constrained;
        set(&mut o.no_negatives, self.no_negatives);
        set(&mut o.init, self.init);
        set(&mut o.relation_init, self.relation_init);
        set(&mut o.seed, self.seed);
        set(&mut o.unknown, self.unknown);
    }

    /// Name of the first given option that differs from the checkpoint, whose options are used.
    pub fn other_than(&self, checkpoint: &Options) -> Option<String> {
        let mut typed = checkpoint.clone();
        self.put(&mut typed);
        if !matches!(self.signature, Some(Signature::Ones(_))) {
            typed.signature = checkpoint.signature; // the winner of its race, or the default of that run
        }
        let json = |options: &Options| serde_json::to_value(options).unwrap_or_default();
        let (typed, has) = (json(&typed), json(checkpoint));
        let names = typed.as_object()?.keys();
        names.into_iter().find(|name| typed[*name] != has[*name]).map(|name| name.replace('_', "-"))
    }

    /// Error for options that do not apply without another option or a file.
    ///
    /// # Errors
    /// One of them.
    pub fn check(&self, valid: bool, test: bool, saved: bool) -> anyhow::Result<()> {
        let rule = self.rule.map_or(Rule::Adaptive, Into::into);
        let idle = [
            (
                "signature auto",
                self.signature == Some(Signature::Auto) && !valid,
                "a race on --valid, which is not given",
            ),
            ("eval-every", self.eval_every.is_some() && !valid, "evaluations on --valid, which is not given"),
            ("patience", self.patience.is_some() && !valid, "evaluations on --valid, which is not given"),
            (
                "unknown",
                self.unknown.is_some() && !valid && !test && !saved,
                "the ranking of --valid and --test, which are not given",
            ),
            (
                "no-negatives",
                self.no_negatives.is_some() && !valid && !test,
                "facts of --valid and --test, which are not given",
            ),
            (
                "relation-lr",
                self.relation_lr.is_some() && rule != Rule::Adaptive,
                "--rule adaptive (the other rules minimise over pairs of rows)",
            ),
            (
                "relation-optimiser",
                self.relation_optimiser.is_some() && rule != Rule::Adaptive,
                "--rule adaptive (the other rules minimise over pairs of rows)",
            ),
        ];
        match idle.iter().find(|(_, idle, _)| *idle) {
            Some((name, _, of)) => {
                Err(usage(format!("--{name} does not apply here: it is for {of}; leave it out")))
            }
            None => Ok(()),
        }
    }

    /// Options that a continued run may change; with a time limit and no number of epochs, epochs are unlimited.
    pub fn again(&self, o: &mut Options, timed: bool) {
        set(&mut o.epochs, self.epochs.or(timed.then_some(Options::NO_END)));
        set(&mut o.evaluate_every, self.eval_every);
        o.patience = self.patience.or(o.patience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command};

    /// The help tells the defaults that the library has.
    #[test]
    fn help_tells_the_defaults_of_the_library() {
        let of = |scorer: Scorer| serde_json::to_value(Options::of(scorer)).unwrap();
        let all = [
            ("", of(Scorer::default())),
            ("ultrae: ", of(Scorer::Ultrae)),
            ("complex: ", of(Scorer::Complex)),
        ];
        let command = Choices::augment_args(Command::new("embed"));
        let mut compared = 0;
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let Some((_, said)) = help.split_once("[default: ") else { continue };
            let name = arg.get_id().as_str().replace("eval_every", "evaluate_every");
            for part in said.trim_end_matches(']').split("; ") {
                let scorer = all.iter().rev().find_map(|(prefix, of)| Some((part.strip_prefix(prefix)?, of)));
                let Some((said, defaults)) = scorer else { continue };
                if said.contains(' ') {
                    continue; // a rule, in words
                }
                match &defaults[&name] {
                    serde_json::Value::String(value) => assert_eq!(said, value, "--{name}"),
                    value => assert_eq!(said.parse::<f64>().ok(), value.as_f64(), "--{name}"),
                }
                compared += 1;
            }
        }
        assert!(compared >= 25, "{compared}");
    }
}
