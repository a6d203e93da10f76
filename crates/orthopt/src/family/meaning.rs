//! Which option means something for which problem, data, solver and call: the one table that the command, Python and R
//! ask. What means nothing is refused with the reason, never ignored.
//!
//! A front end gathers the names of the options that the user gave (a value that is the default counts as not given)
//! and checks them against a [`Case`], which grows as more is known: the call and the problem, then the data, then the
//! solvers that run. [`pose`](super::pose) checks what it is given by itself.

use super::catalogue::penalty_called;
use super::composite_pca::split;
use super::uncorrelated::Between;
use super::{Family, Kind, Limit, Plan, PoseOptions, ProblemInfo, Wanted};
use crate::error::{Error, Result};
use crate::message::Message;
use crate::problem::Storage;
use crate::smooth::Placement;
use crate::solvers::obcd::WorkingSet;
use crate::solvers::{SolverInfo, find_solvers};

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
    /// `minimize`, of a function of the user's own.
    Minimize,
}

impl Call {
    /// The call in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Solve => "solve",
            Self::Compare => "compare",
            Self::Path => "path",
            Self::Bound => "bound",
            Self::BoundOfX => "bound of an X that is given",
            Self::Certify => "certify",
            Self::Minimize => "minimize",
        }
    }
}

/// What is known of a call. Facts that are `None` are not known yet: options that depend on them are not judged.
#[derive(Clone, Debug)]
pub struct Case {
    /// The call.
    call: Option<Call>,
    /// Whether the data are C itself, without sums of rows beside it.
    gram: Option<bool>,
    /// The solvers that run.
    run: Option<Run>,
    /// Whether the check of an X draws random pairs or blocks, in [`Call::Certify`].
    draws: Option<bool>,
    problem: String,
    kind: Option<Kind>, // `None`: a function of the user's own
    is_j: bool,
    penalty: String,
    mapped: bool,
    limited: bool,
    uncorrelated: bool,
}

impl Case {
    /// The problem with what is asked of it.
    pub fn new(info: &ProblemInfo, options: &PoseOptions) -> Self {
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
            limited: options.limit.is_some(),
            uncorrelated: options.between == Between::Uncorrelated,
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
            uncorrelated: false,
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

    /// Refuses the first of the options `given` that means nothing here.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with what the option is for; [`Error::UnknownName`] for a name that the table lacks.
    pub fn check<'o>(&self, given: impl IntoIterator<Item = &'o str>) -> Result<()> {
        given.into_iter().try_for_each(|option| self.check_one(option))
    }

    fn check_one(&self, option: &str) -> Result<()> {
        let Some(meaning) = MEANINGS.iter().find(|m| m.option == option) else {
            return Err(Error::UnknownName { kind: "option", name: option.into(), known: names() });
        };
        let refused = |subject: String, scope: &'static str| {
            let why = format!(" means nothing to {subject}: it is for {scope}; leave it out");
            Err(Error::Incompatible(Message::about(meaning.option).text(why)))
        };
        if let Some(call) = self.call.filter(|call| !meaning.calls.contains(call)) {
            let calls: Vec<_> = meaning.calls.iter().map(|c| c.name()).collect();
            let why =
                format!(" means nothing to {}: it is for {}; leave it out", call.name(), calls.join(", "));
            return Err(Error::Incompatible(Message::about(meaning.option).text(why)));
        }
        match (meaning.means)(self) {
            Some(false) => refused(self.subject(meaning.of), meaning.scope),
            _ => Ok(()),
        }
    }

    /// What an option of this kind means nothing to.
    fn subject(&self, of: Of) -> String {
        match of {
            Of::Data => "C itself".into(),
            Of::Problem => self.statement(),
            Of::Run => match &self.run {
                Some(run) => format!("{} for {}", run.names, self.statement()),
                None => self.statement(),
            },
        }
    }

    /// The problem with what makes it differ from the one of this name.
    fn statement(&self) -> String {
        let own = super::find_problem(&self.problem).is_ok_and(|info| info.penalty == self.penalty);
        let mut text = self.problem.clone();
        if !own && !self.is_j {
            text += &format!(" with the penalty {}", self.penalty);
        }
        for (is, words) in [
            (self.mapped, " with a linear map"),
            (self.limited, " with a limit of nonzeros"),
            (self.uncorrelated, " with uncorrelated components"),
        ] {
            text += if is { words } else { "" };
        }
        text
    }

    /// −½⟨X, CX⟩ with a penalty, of data or of C.
    fn is_pca(&self) -> bool {
        matches!(self.kind, Some(Kind::Pca | Kind::Composite | Kind::DataFit))
    }

    fn is(&self, kind: Kind) -> bool {
        self.kind == Some(kind)
    }

    /// Whether a penalty stands in F whose weight λ is.
    fn has_lambda(&self) -> bool {
        let limits = self.limited || self.uncorrelated;
        // a penalty that there is not is told by whoever makes it
        let weighed = penalty_called(&self.penalty).map_or(true, |p| p.lambda_share.is_some());
        match self.kind {
            Some(Kind::NonlinearEig) => true,
            _ if self.is_j => false,
            _ if limits => self.penalty == "l0",
            _ => weighed,
        }
    }

    fn takes_limits(&self) -> bool {
        self.is(Kind::Pca) && !self.mapped && matches!(self.penalty.as_str(), "l0" | "none" | "nonneg")
    }
}

/// The solvers that run, and what becomes of their X.
#[derive(Clone, Debug)]
pub struct Run {
    /// Their names.
    names: String,
    /// The options of methods on pairs of rows that any of them looks at.
    shared: Vec<&'static str>,
    /// Whether one of them chooses among candidates.
    greedy: bool,
    /// Whether a search chooses solvers and starts.
    searches: bool,
    /// Whether pairs of rows of X can be checked.
    pairs: bool,
    /// Whether a bound branches.
    branches: bool,
}

impl Run {
    /// One run: its plan, and the number of further starts if there is one.
    pub fn of<P: Family>(problem: &P, plan: &Plan<P>, restarts: Option<u64>) -> Self {
        let searches = plan.portfolio.is_some() && restarts.is_none();
        let mut solvers: Vec<&'static SolverInfo<P>> = plan.solvers.clone();
        if let Some(portfolio) = plan.portfolio.as_ref().filter(|_| searches) {
            let arms = portfolio.arms.iter().filter_map(|arm| find_solvers(P::solvers(), &arm.solver).ok());
            solvers.extend(arms.flatten());
        }
        let looks_at = |s: &SolverInfo<P>, option: &str| s.shared.iter().any(|c| c.name == option);
        // a preset that has candidates and no rule to choose has a greedy one
        let preset = |s: &&SolverInfo<P>| looks_at(s, "candidates") && !looks_at(s, "working-set");
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
    pub fn none<P: Family>(problem: &P) -> Self {
        Self {
            names: "an X that is given".into(),
            shared: Vec::new(),
            greedy: false,
            searches: false,
            pairs: problem.has_pairs(),
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

    /// Whether the Lipschitz constant of ∇f is the unit of the steps of a solver.
    fn has_steps(&self) -> bool {
        self.names.split('+').any(|name| !WITHOUT_STEPS.contains(&name))
    }

    fn looks_at(&self, option: &str) -> bool {
        self.shared.contains(&option)
    }
}

/// Solvers that find their steps by themselves.
const WITHOUT_STEPS: &[&str] = &["csdm", "j-lbfgs", "vr-j-jobcd"];

/// What decides whether an option means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Data,
    Problem,
    Run,
}

/// An option, and when it means something.
#[derive(Debug)]
pub struct Meaning {
    /// Its name; words are joined by hyphens.
    pub option: &'static str,
    /// The calls that it means something to.
    pub calls: &'static [Call],
    /// What it is for, as the end of "it is for ...".
    pub scope: &'static str,
    of: Of,
    means: fn(&Case) -> Option<bool>,
}

/// Calls that take data.
const DATA: &[Call] = &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Certify];
/// Calls that take a penalty or a constraint.
const ALL: &[Call] =
    &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Certify, Call::Minimize];
/// Calls in which a solver runs.
const RUNS: &[Call] = &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::Minimize];

const fn of(
    option: &'static str,
    calls: &'static [Call],
    of: Of,
    scope: &'static str,
    means: fn(&Case) -> Option<bool>,
) -> Meaning {
    Meaning { option, calls, scope, of, means }
}

/// An option that means something wherever the call takes it.
const fn always(option: &'static str, calls: &'static [Call]) -> Meaning {
    Meaning { option, calls, scope: "every problem", of: Of::Problem, means: |_| Some(true) }
}

/// An option of samples.
const fn of_samples(option: &'static str, calls: &'static [Call]) -> Meaning {
    Meaning { option, calls, scope: "samples", of: Of::Data, means: |case| case.gram.map(|gram| !gram) }
}

/// An option that methods on pairs of rows share.
macro_rules! shared {
    ($option:literal) => {
        Meaning {
            option: $option,
            calls: RUNS,
            scope: "methods on pairs of rows that look at it (`orthopt list solver NAME` shows the options of each)",
            of: Of::Run,
            means: |case| case.run.as_ref().map(|run| run.looks_at($option)),
        }
    };
}

/// The table. A value that means something may still be refused for itself, by whoever reads it.
pub const MEANINGS: &[Meaning] = &[
    // data
    always("gram", DATA),
    always("more", DATA),
    of_samples("center", DATA),
    of_samples("scale", DATA),
    of_samples("covariance", DATA),
    of_samples("missing", DATA),
    always("names", &[Call::Solve, Call::Path]),
    of_samples("labels", DATA),
    always("features", DATA),
    of_samples("stream", DATA),
    of_samples("reproducible", DATA),
    of_samples("screen", DATA),
    of_samples("cv", &[Call::Path]),
    always("max-memory", DATA),
    of("storage", DATA, Of::Problem, "samples of a problem with f = -1/2 <X, CX>", |case| {
        if case.is_pca() { case.gram.map(|gram| !gram) } else { Some(false) }
    }),
    // the problem
    always("rank", &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX]),
    of("lambda", ALL, Of::Problem, "a penalty with a weight, and nonlinear-eig", |case| {
        Some(case.has_lambda())
    }),
    of("lambda-share", DATA, Of::Problem, "PCA problems with a penalty that has a weight", |case| {
        Some(case.is_pca() && case.has_lambda())
    }),
    of("relative-lambda", DATA, Of::Problem, "the penalties l0 and l1 without a linear map", |case| {
        Some(case.is(Kind::Pca) && !case.mapped && matches!(case.penalty.as_str(), "l0" | "l1"))
    }),
    of("nonzeros", DATA, Of::Problem, LIMITS, |case| Some(case.takes_limits())),
    of("total-nonzeros", DATA, Of::Problem, LIMITS, |case| Some(case.takes_limits())),
    of("variables", DATA, Of::Problem, LIMITS, |case| Some(case.takes_limits())),
    of("constraint", ALL, Of::Problem, "l0-pca and pca with a number of nonzeros", |case| {
        Some(case.kind.is_none() || (case.takes_limits() && case.penalty != "nonneg"))
    }),
    of("penalty", ALL, Of::Problem, "PCA problems and functions of your own with X'X = I", |case| {
        Some(case.is_pca() || (case.kind.is_none() && !case.is_j))
    }),
    of("k", ALL, Of::Problem, "the penalty l1-largest-k, which dc-pca has", |case| {
        Some(!case.is_j && !case.limited && split(&case.penalty).is_some_and(|split| split.has_k))
    }),
    of("map", ALL, Of::Problem, "PCA problems and functions of your own with X'X = I", |case| {
        Some((case.is_pca() && !case.limited) || (case.kind.is_none() && !case.is_j))
    }),
    of("signature", ALL, Of::Problem, "problems with X'JX = J", |case| Some(case.is_j)),
    of("ridge", DATA, Of::Problem, "hyperbolic-eig", |case| Some(case.is(Kind::HyperbolicEig))),
    of("reproduction", DATA, Of::Problem, "hyperbolic-eig", |case| Some(case.is(Kind::HyperbolicEig))),
    of("distances", DATA, Of::Problem, "probe", |case| Some(case.is(Kind::Probe))),
    of("radius", DATA, Of::Problem, "probe", |case| Some(case.is(Kind::Probe))),
    of("placement", DATA, Of::Problem, "probe", |case| Some(case.is(Kind::Probe))),
    of("linear", DATA, Of::Problem, "nonlinear-eig", |case| Some(case.is(Kind::NonlinearEig))),
    // solver and start
    always("solver", &[Call::Solve, Call::Path, Call::Bound, Call::Minimize]),
    always("solvers", &[Call::Compare]),
    always("init", &[Call::Solve, Call::Compare, Call::Bound]),
    of("effort", &[Call::Solve, Call::Compare, Call::Path, Call::Bound], Of::Run, SEARCH, |case| {
        case.run.as_ref().map(|run| run.searches)
    }),
    always("restarts", &[Call::Solve, Call::Compare, Call::Bound, Call::Minimize]),
    of(
        "seed",
        &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::Certify, Call::Minimize],
        Of::Run,
        SEED,
        |case| {
            if case.call == Some(Call::Certify) { case.draws } else { Some(true) }
        },
    ),
    always("threads", DATA),
    always("max-iters", RUNS),
    always(
        "time-limit",
        &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Minimize],
    ),
    always("tol", &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::Certify, Call::Minimize]),
    always("min-decrease", RUNS),
    of("lipschitz", &[Call::Minimize], Of::Run, "solvers whose steps it is the unit of", |case| {
        case.run.as_ref().map(Run::has_steps)
    }),
    shared!("working-set"),
    shared!("block"),
    shared!("model"),
    shared!("alpha"),
    of("candidates", RUNS, Of::Run, "the greedy working sets (greedy-sv, greedy-or)", |case| {
        case.run.as_ref().map(|run| run.looks_at("candidates") && run.greedy)
    }),
    shared!("side"),
    shared!("jacobi"),
    // what is said of X
    // where there are no pairs to check it measures criticality
    // without pairs of rows solve still says how critical X is
    of("certify", &[Call::Solve, Call::Compare, Call::Minimize], Of::Problem, PAIRS, |case| {
        if case.call == Some(Call::Compare) { case.run.as_ref().map(|run| run.pairs) } else { Some(true) }
    }),
    of("certify-sample", &[Call::Solve, Call::Compare, Call::Certify], Of::Problem, PAIRS, |case| {
        case.run.as_ref().map(|run| run.pairs)
    }),
    // a problem without a bound says why (`Family::bounded`)
    always("bound", &[Call::Solve, Call::Path]),
    of("nodes", &[Call::Bound, Call::BoundOfX], Of::Problem, NODES, |case| {
        case.run.as_ref().map(|run| run.branches)
    }),
    // files and words
    of("top", &[Call::Solve, Call::Path], Of::Problem, "PCA problems, whose components are shown", |case| {
        Some(case.is_pca())
    }),
    always("json", DATA),
    always("trace", &[Call::Solve]),
    always("save-x", DATA),
    always("save-loadings", &[Call::Solve, Call::Path]),
    of_samples("save-scores", &[Call::Solve, Call::Path]),
    always("plot", &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX]),
    always("plot-loadings", &[Call::Solve, Call::Path]),
    of_samples("plot-scores", &[Call::Solve, Call::Path]),
    of_samples("plot-biplot", &[Call::Solve, Call::Path]),
    always("plot-variance", &[Call::Solve, Call::Path]),
    always("report", &[Call::Solve, Call::Path]),
    always("quiet", DATA),
];

const LIMITS: &str = "l0-pca, nonneg-pca and pca without a linear map";
const SEARCH: &str =
    "the search, which runs where solver and number of starts are left open and local solutions differ";
const SEED: &str = "checks of random pairs or blocks";
const PAIRS: &str =
    "problems whose pairs of rows can be solved globally: no limit of nonzeros, concave part or linear map";
const NODES: &str = "branch and bound: l0-pca with a lambda or limits of nonzeros, and nonneg-pca without limits, up to 400 variables";

fn names() -> String {
    MEANINGS.iter().map(|m| m.option).collect::<Vec<_>>().join(", ")
}

impl PoseOptions {
    /// Names of the options that differ from their defaults.
    pub fn given(&self) -> Vec<&'static str> {
        let given = [
            ("rank", self.rank.is_some()),
            ("lambda", self.lambda.is_some()),
            ("relative-lambda", self.relative_lambda.is_some()),
            ("storage", self.storage != Storage::default()),
            ("penalty", self.penalty.is_some()),
            ("k", self.k.is_some()),
            ("map", self.map.is_some()),
            ("signature", self.signature.is_some()),
            ("ridge", self.ridge != 0.0),
            ("reproduction", self.reproduction),
            ("distances", self.distances.is_some()),
            ("radius", self.radius.is_some()),
            ("placement", self.placement != Placement::default()),
            ("linear", self.linear.is_some()),
            ("constraint", self.between != Between::default()),
        ];
        let given = given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option);
        given.chain(self.limit.as_ref().map(Limit::option)).collect()
    }
}

impl Wanted {
    /// Names of the options of solvers and of the search that are set.
    pub fn given(&self) -> Vec<&'static str> {
        let given = [
            ("working-set", self.working_set.is_some()),
            ("block", self.block.is_some()),
            ("model", self.model.is_some()),
            ("alpha", self.alpha.is_some()),
            ("candidates", self.candidates.is_some()),
            ("side", self.side.is_some()),
            ("jacobi", self.jacobi),
            ("effort", self.effort.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::PROBLEMS;

    fn means(case: &Case, option: &str) -> bool {
        case.check([option]).is_ok()
    }

    #[test]
    fn every_option_stands_once() {
        for (k, meaning) in MEANINGS.iter().enumerate() {
            assert!(MEANINGS[..k].iter().all(|other| other.option != meaning.option), "{}", meaning.option);
            assert!(!meaning.calls.is_empty() && !meaning.scope.is_empty(), "{}", meaning.option);
        }
    }

    /// Every option of the statement means something to some problem, and those that not all take are refused by name.
    #[test]
    fn options_of_some_problems_are_refused_by_the_others() {
        let of_all = ["rank", "lambda-share"];
        for option in ["lambda", "penalty", "k", "map", "signature", "ridge", "linear", "radius", "nonzeros"]
        {
            let takes: Vec<_> = PROBLEMS
                .iter()
                .filter(|info| means(&Case::new(info, &PoseOptions::default()), option))
                .map(|info| info.name)
                .collect();
            assert!(!takes.is_empty() && takes.len() < PROBLEMS.len(), "{option}: {takes:?}");
            let other = PROBLEMS.iter().find(|info| !takes.contains(&info.name)).unwrap();
            let case = Case::new(other, &PoseOptions::default());
            let error = case.check([option]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{option}`")) && error.contains(other.name), "{error}");
        }
        for option in of_all {
            assert!(MEANINGS.iter().any(|m| m.option == option));
        }
        let l0 = Case::new(&PROBLEMS[0], &PoseOptions::default());
        assert!(matches!(l0.check(["nonsense"]), Err(Error::UnknownName { .. })));
    }

    #[test]
    fn lambda_beside_limits_is_that_of_l0() {
        let limited = |penalty: &str| PoseOptions {
            penalty: Some(penalty.into()),
            limit: Some(Limit::Total(3)),
            ..PoseOptions::default()
        };
        let info = &PROBLEMS[0];
        assert!(means(&Case::new(info, &limited("l0")), "lambda"));
        assert!(!means(&Case::new(info, &limited("none")), "lambda"));
        let open = PoseOptions { between: Between::Uncorrelated, ..limited("none") };
        assert!(!means(&Case::new(info, &open), "lambda"));
    }

    #[test]
    fn calls_take_what_they_use() {
        let case = Case::new(&PROBLEMS[0], &PoseOptions::default());
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
