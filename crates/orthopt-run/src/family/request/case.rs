//! Facts of a call, and which option applies to which problem, data, solver and call.
//!
//! A front end gathers the names of the options that the user gave (a value that is the default counts as not given)
//! and checks them against a [`Case`], which grows as more is known: the call and the problem, then the data, then the
//! solvers that run. What does not apply is refused with the reason, never ignored. [`pose`](crate::family::pose)
//! checks what it is given by itself.

use super::Of;
use crate::family::catalogue::penalty_called;
use crate::family::{AnyProblem, Family, Kind, Limit, Plan, ProblemInfo, RankRule, Request, find_problem};
use orthopt_core::problem::Between;
use orthopt_core::smooth::Measure;
use orthopt_core::solve::info::{SolverInfo, find_solvers};
use orthopt_linalg::error::Result;
use orthopt_solvers::obcd::WorkingSet;

/// A call of a front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// `solve`, and the estimators.
    Solve,
    /// `compare`.
    Compare,
    /// `path`.
    Path,
    /// `bound`, which first searches for an X.
    Bound,
    /// `bound` of an X that is given: no solver runs.
    BoundOfX,
    /// `certify`, of an X that is given.
    Certify,
    /// `explore`, which chooses problem and limits.
    Explore,
    /// `minimize`, of a function of the user's own.
    Minimize,
}

impl Call {
    /// The call of this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Solve,
            Self::Compare,
            Self::Path,
            Self::Bound,
            Self::BoundOfX,
            Self::Certify,
            Self::Explore,
            Self::Minimize,
        ];
        all.into_iter().find(|call| call.name() == name)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solve => "solve",
            Self::Compare => "compare",
            Self::Path => "path",
            Self::Bound => "bound",
            Self::BoundOfX => "bound of an X that is given",
            Self::Certify => "certify",
            Self::Explore => "explore",
            Self::Minimize => "minimize",
        }
    }
}

/// A call with the names of the options that were given. What does not apply is refused.
#[derive(Clone, Debug)]
pub struct CallOptions {
    call: Call,
    names: Vec<String>,
}

impl CallOptions {
    /// Names of options of a call.
    pub fn new(call: Call, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { call, names: names.into_iter().map(Into::into).collect() }
    }

    /// The same with further names.
    #[must_use]
    pub fn and(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// The same without some names.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.names.retain(|name| !names.contains(&name.as_str()));
        self
    }

    /// The call.
    pub fn call(&self) -> Call {
        self.call
    }

    /// True if this option was given.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|given| given == name)
    }

    /// Refuses what does not apply in this case.
    ///
    /// # Errors
    /// [`Error::Incompatible`](orthopt_linalg::Error::Incompatible) with the reason.
    pub fn check(&self, case: Case) -> Result<()> {
        case.in_call(self.call).check(self.names.iter().map(String::as_str))
    }
}

/// Facts of a call. Facts that are `None` are not known yet: options that depend on them are not judged.
#[derive(Clone, Debug)]
pub struct Case {
    /// The call.
    pub(super) call: Option<Call>,
    /// Whether the data are C itself, without sums of rows beside it.
    pub(super) gram: Option<bool>,
    /// The solvers that run.
    pub(super) run: Option<Run>,
    /// Whether the check of an X draws random pairs or blocks, in [`Call::Certify`].
    pub(super) draws: Option<bool>,
    problem: String,
    pub(super) kind: Option<Kind>, // `None`: a function of the user's own
    pub(super) is_j: bool,
    pub(super) penalty: String,
    pub(super) mapped: bool,
    pub(super) limited: bool,
    pub(super) auto: bool, // the rank is that of the data
    uncorrelated: bool,
    limit: Option<&'static str>, // the option that limits nonzeros
    measured: bool,              // another measure than the variance is asked for
}

impl Case {
    /// The problem with what is asked of it.
    pub fn new(info: &ProblemInfo, options: &Request) -> Self {
        Self {
            call: None,
            gram: None,
            run: None,
            draws: None,
            problem: info.name.into(),
            kind: Some(info.kind),
            is_j: matches!(info.kind, Kind::HyperbolicEig | Kind::Probe),
            penalty: options.penalty.as_deref().unwrap_or(info.penalty).into(),
            mapped: options.map.is_some(),
            limited: options.limit().is_some(),
            auto: options.rank_rule() == Some(RankRule::Auto),
            uncorrelated: options.between() == Between::Uncorrelated,
            limit: options.limit().as_ref().map(Limit::option),
            measured: options.maximise.is_some_and(|measure| measure != Measure::Variance),
        }
    }

    /// A function of the user's own with XᵀX = I, or with XᵀJX = J.
    pub fn of_function(is_j: bool, penalty: &str, mapped: bool) -> Self {
        Self {
            call: Some(Call::Minimize),
            gram: None,
            run: None,
            draws: None,
            problem: if is_j { "f over X'JX = J" } else { "f over X'X = I" }.into(),
            kind: None,
            is_j,
            penalty: penalty.into(),
            mapped,
            limited: false,
            auto: false,
            uncorrelated: false,
            limit: None,
            measured: false,
        }
    }

    /// The same in this call.
    #[must_use]
    pub fn in_call(self, call: Call) -> Self {
        Self { call: Some(call), ..self }
    }

    /// The same with data that are C itself, or samples.
    #[must_use]
    pub fn of_gram(self, gram: bool) -> Self {
        Self { gram: Some(gram), ..self }
    }

    /// The same with these solvers.
    #[must_use]
    pub fn run_by(self, run: Run) -> Self {
        Self { run: Some(run), ..self }
    }

    /// The same of an X that is given, whether its check draws random pairs or blocks.
    #[must_use]
    pub fn drawing(self, draws: bool) -> Self {
        Self { draws: Some(draws), ..self }
    }

    /// Subject of a refusal of an option of this kind.
    pub(super) fn subject(&self, of: Of) -> String {
        match of {
            Of::Data if self.is(Kind::Procrustes) => self.statement(),
            Of::Data => if self.gram == Some(false) { "samples" } else { "C itself" }.into(),
            Of::Problem => self.statement(),
            Of::Run => match &self.run {
                Some(run) => format!("{} for {}", run.names, self.statement()),
                None => self.statement(),
            },
        }
    }

    /// The options that make the problem another one than that of its name.
    pub(super) fn choices(&self) -> Vec<&'static str> {
        let limit = self.limit.filter(|_| self.limited);
        let made = [
            self.has_other_penalty().then_some("penalty"),
            self.mapped.then_some("map"),
            limit,
            self.uncorrelated.then_some("constraint"),
        ];
        made.into_iter().flatten().collect()
    }

    /// The same without one of these options; without any other it is the same.
    #[must_use]
    pub(super) fn without(&self, option: &str) -> Self {
        let mut case = self.clone();
        match option {
            "penalty" => case.penalty = self.own_penalty().into(),
            "map" => case.mapped = false,
            "constraint" => case.uncorrelated = false,
            _ if self.limit == Some(option) => case.limited = false,
            _ => {}
        }
        case
    }

    /// The same with an option that another one needs: a limit on nonzeros, or a rank of auto.
    #[must_use]
    pub(super) fn with(&self, option: &str) -> Self {
        Self {
            limited: self.limited || option != "rank",
            auto: self.auto || option == "rank",
            ..self.clone()
        }
    }

    /// The same with the other kind of data, where the kind is known.
    #[must_use]
    pub(super) fn of_other_data(&self) -> Self {
        Self { gram: self.gram.map(|gram| !gram), ..self.clone() }
    }

    fn own_penalty(&self) -> &'static str {
        find_problem(&self.problem).map_or("none", |info| info.penalty)
    }

    fn has_other_penalty(&self) -> bool {
        !self.is_j && self.penalty != self.own_penalty()
    }

    /// The problem with what makes it differ from the one of this name.
    fn statement(&self) -> String {
        let mut text = self.problem.clone();
        if self.has_other_penalty() {
            text += &format!(" with the penalty {}", self.penalty);
        }
        for (is, words) in [
            (self.mapped, " with a linear map"),
            (self.limited, " with a limit on nonzeros"),
            (self.uncorrelated, " with uncorrelated components"),
        ] {
            text += if is { words } else { "" };
        }
        text
    }

    /// Whether the data are samples, where that is known.
    pub(super) fn of_samples(&self) -> Option<bool> {
        self.gram.map(|gram| !gram)
    }

    /// −½⟨X, CX⟩ with a penalty, of data or of C.
    pub(super) fn is_pca(&self) -> bool {
        matches!(self.kind, Some(Kind::Pca | Kind::Composite | Kind::DataFit))
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind == Some(kind)
    }

    /// True if a penalty stands in F whose weight λ is.
    pub(super) fn has_lambda(&self) -> bool {
        let limits = self.limited || self.uncorrelated;
        // its constructor reports a penalty that does not exist
        let weighed = penalty_called(&self.penalty).map_or(true, |p| p.lambda_share.is_some());
        match self.kind {
            Some(Kind::NonlinearEig) => true,
            _ if self.is_j => false,
            _ if limits => self.penalty == "l0",
            _ => weighed,
        }
    }

    /// True if components may maximise another measure than the variance.
    pub(super) fn takes_measures(&self) -> bool {
        self.takes_limits() && self.penalty != "nonneg"
    }

    /// True if components may maximise what they are asked to; the variance is what all of PCA maximise.
    pub(super) fn takes_its_measure(&self) -> bool {
        self.takes_measures() || (self.is_pca() && !self.measured)
    }

    pub(super) fn takes_limits(&self) -> bool {
        self.is(Kind::Pca) && !self.mapped && matches!(self.penalty.as_str(), "l0" | "none" | "nonneg")
    }
}

/// The solvers that run, and what becomes of their X.
#[derive(Clone, Debug)]
pub struct Run {
    /// Their names.
    names: String,
    /// The options of methods on pairs of rows that any of them examines.
    shared: Vec<&'static str>,
    /// True if one of them chooses among candidates.
    pub(super) greedy: bool,
    /// True if a search chooses solvers and starts.
    pub(super) searches: bool,
    /// True if pairs of rows of X can be checked.
    pub(super) pairs: bool,
    /// True if a bound branches.
    pub(super) branches: bool,
}

impl Run {
    /// One run: its plan, and the number of further starts if there is one.
    pub fn of(problem: &AnyProblem, plan: &Plan, restarts: Option<u64>) -> Self {
        let searches = plan.portfolio.is_some() && restarts.is_none();
        let mut solvers: Vec<&'static SolverInfo<AnyProblem>> = plan.solvers.clone();
        if let Some(portfolio) = plan.portfolio.as_ref().filter(|_| searches) {
            let arms =
                portfolio.arms.iter().filter_map(|arm| find_solvers(problem.solvers(), &arm.solver).ok());
            solvers.extend(arms.flatten());
        }
        let looks_at = |s: &SolverInfo<AnyProblem>, option: &str| s.shared.iter().any(|c| c.name == option);
        // a preset that has candidates and no rule to choose has a greedy one
        let preset = |s: &&SolverInfo<AnyProblem>| looks_at(s, "candidates") && !looks_at(s, "working-set");
        let rule = plan.options.obcd.working_set;
        let greedy =
            matches!(rule, WorkingSet::GreedySv | WorkingSet::GreedyOr) || solvers.iter().any(preset);
        Self {
            names: if searches { "the search".into() } else { plan.names() },
            shared: solvers.iter().flat_map(|s| s.shared).map(|c| c.name).collect(),
            greedy,
            searches,
            ..Self::none(problem)
        }
    }

    /// No solver at all: X is given.
    pub fn none(problem: &AnyProblem) -> Self {
        Self {
            names: "an X that is given".into(),
            shared: Vec::new(),
            greedy: false,
            searches: false,
            pairs: problem.recipe().has_pairs,
            branches: problem.branches(),
        }
    }

    /// Solvers of a function of the user's own.
    pub fn of_solvers<P>(solvers: &[&'static SolverInfo<P>], greedy: bool) -> Self {
        let names: Vec<_> = solvers.iter().map(|s| s.name).collect();
        Self {
            names: names.join("+"),
            shared: solvers.iter().flat_map(|s| s.shared).map(|c| c.name).collect(),
            greedy,
            searches: false,
            pairs: true,
            branches: false,
        }
    }

    /// Both runs: what means something to one of them means something.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if self.names != other.names {
            self.names += &format!(", {}", other.names);
        }
        self.shared.extend(other.shared);
        self.greedy |= other.greedy;
        self.searches |= other.searches;
        self
    }

    /// True if the Lipschitz constant of ∇f is the unit of the steps of a solver.
    pub(super) fn has_steps(&self) -> bool {
        self.names.split('+').any(|name| !WITHOUT_STEPS.contains(&name))
    }

    pub(super) fn looks_at(&self, option: &str) -> bool {
        self.shared.contains(&option)
    }
}

/// Solvers that find their steps by themselves.
const WITHOUT_STEPS: &[&str] = &[
    "csdm",
    "j-lbfgs",
    "vr-j-jobcd",
    "lbfgs",
    "optm-qr",
    "optm-cayley",
    "foforth-gr",
    "foforth-p",
    "foforth-qr",
    "trust-region",
];

#[cfg(test)]
mod tests {
    use super::super::OPTIONS;
    use super::super::table::ARGUMENTS;
    use super::*;
    use crate::family::PROBLEMS;
    use orthopt_linalg::error::Error;

    fn means(case: &Case, option: &str) -> bool {
        case.check([option]).is_ok()
    }

    #[test]
    fn every_option_is_declared_once() {
        let all: Vec<_> = OPTIONS.iter().chain(ARGUMENTS).collect();
        for (k, entry) in all.iter().enumerate() {
            assert!(all[..k].iter().all(|other| other.name != entry.name), "{}", entry.name);
            assert!(!entry.calls.is_empty() && !entry.scope.is_empty(), "{}", entry.name);
            assert!(entry.excludes.iter().all(|name| all.iter().any(|e| e.name == *name)), "{}", entry.name);
        }
    }

    /// Every option of the statement means something to some problem, and those that not all take are refused by name.
    #[test]
    fn options_of_some_problems_are_refused_by_the_others() {
        let of_all = ["rank", "lambda-share"];
        for option in
            ["lambda", "penalty", "k", "map", "signature", "ridge", "linear", "target", "radius", "nonzeros"]
        {
            let takes: Vec<_> = PROBLEMS
                .iter()
                .filter(|info| means(&Case::new(info, &Request::default()), option))
                .map(|info| info.name)
                .collect();
            assert!(!takes.is_empty() && takes.len() < PROBLEMS.len(), "{option}: {takes:?}");
            let other = PROBLEMS.iter().find(|info| !takes.contains(&info.name)).unwrap();
            let case = Case::new(other, &Request::default());
            let error = case.check([option]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{option}`")) && error.contains(other.name), "{error}");
        }
        for option in of_all {
            assert!(OPTIONS.iter().any(|entry| entry.name == option));
        }
        let l0 = Case::new(&PROBLEMS[0], &Request::default());
        assert!(matches!(l0.check(["nonsense"]), Err(Error::UnknownName { .. })));
    }

    #[test]
    fn lambda_beside_limits_is_that_of_l0() {
        let limited = |penalty: &str| {
            Request { penalty: Some(penalty.into()), ..Request::default() }.with_limit(Some(Limit::Total(3)))
        };
        let info = &PROBLEMS[0];
        assert!(means(&Case::new(info, &limited("l0")), "lambda"));
        assert!(!means(&Case::new(info, &limited("none")), "lambda"));
        let open = Request { constraint: Some(Between::Uncorrelated), ..limited("none") };
        assert!(!means(&Case::new(info, &open), "lambda"));
    }

    #[test]
    fn calls_take_what_they_use() {
        let case = Case::new(&PROBLEMS[0], &Request::default());
        let call = |call| case.clone().in_call(call);
        assert!(means(&call(Call::Bound), "solver") && !means(&call(Call::BoundOfX), "solver"));
        assert!(means(&call(Call::Solve), "restarts") && !means(&call(Call::Path), "restarts"));
        assert!(!means(&call(Call::Certify), "max-iters"));
        let own = Case::of_function(false, "l1", true);
        assert!(means(&own, "map") && means(&own, "lambda") && !means(&own, "signature"));
        let own = Case::of_function(true, "none", false);
        assert!(!means(&own, "map") && !means(&own, "lambda") && means(&own, "signature"));
        assert!(!means(&own, "center") && !means(&own, "nonzeros") && !means(&own, "threads"));
    }
}
