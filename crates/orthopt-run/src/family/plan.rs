//! From what the user wants to solvers, options and starting points: what is left open is chosen
//! from the penalty and the data, and the choice is explained.

use crate::family::catalogue::{check_constants, find_constant, solvers_of};
use crate::family::narrow::narrowed;
use crate::family::signs::orient;
use crate::family::{AnyProblem, Family, Request};
use crate::search::{ALL_WORK, Effort, IS_MINIMUM, Portfolio, Settings, Tuning, search};
use crate::solvers::AUTO;
use orthopt_bound::{Bound, PROVED, Proof, is_met, work_of_all_supports};
use orthopt_core::pair::options::JobcdOptions;
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_core::solve::{
    AnySolver, Chain, Observer, RunOptions, Solution, Status, StopReason, Stopping, Times, numerical_error,
    run_restarts,
};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, moment};
use orthopt_linalg::error::Result;
use orthopt_linalg::message::Message;
use orthopt_linalg::parallel::alone;
use orthopt_linalg::work::so_far;
use orthopt_solvers::obcd::{ObcdOptions, WorkingSet};

/// Tasks that a search with little work is made of, at least.
const TASKS: u64 = 8;

impl Request {
    /// The same with so much work for each search: none of its tasks takes much of that. A solver that is named continues to its end.
    #[doc(hidden)]
    pub fn with_work(&self, most: u64) -> Self {
        if self.solver.is_some() {
            return self.clone();
        }
        let Tuning { longest, longest_of_measures, before, on_proof, .. } = self.tuning;
        let share = most / TASKS;
        let tuning = Tuning {
            longest: longest.min(share),
            longest_of_measures: longest_of_measures.min(share),
            before: before.min((on_proof * most as f64) as u64),
            ..self.tuning
        };
        Self { work: Some(most), tuning, ..self.clone() }
    }

    /// True if solver and start are left to the library, and no option of a solver is set.
    pub(crate) fn leaves_method_open(&self) -> bool {
        self.init.is_none() && self.leaves_solver_open()
    }

    /// The same of the solver alone.
    pub(super) fn leaves_solver_open(&self) -> bool {
        let set = self.solver.is_some() || self.side.is_some();
        !set && !self.asks_for_pairs() && self.solver_constants().is_empty()
    }

    /// True if an option of the methods on pairs of rows is set.
    pub(super) fn asks_for_pairs(&self) -> bool {
        let one = self.working_set.is_some() || self.block.is_some() || self.model.is_some();
        one || self.alpha.is_some() || self.candidates.is_some() || self.jacobi == Some(true)
    }

    /// The options of solvers; those not given have their defaults.
    pub fn options(&self) -> SolverOptions {
        let defaults = ObcdOptions::DEFAULT;
        let obcd = ObcdOptions {
            working_set: self.working_set.unwrap_or(defaults.working_set),
            block: self.block.unwrap_or(defaults.block),
            model: self.model.unwrap_or(defaults.model),
            alpha: self.alpha.unwrap_or(defaults.alpha),
            candidates: self.candidates,
            jacobi: self.jacobi == Some(true),
            tol: self.tol.unwrap_or(defaults.tol),
            seed: self.seed(),
            ..defaults
        };
        let jobcd = JobcdOptions {
            working_set: self.working_set,
            model: obcd.model,
            side: self.side.unwrap_or_default(),
            candidates: self.candidates,
        };
        SolverOptions { seed: self.seed(), obcd, jobcd, constants: self.solver_constants() }
    }

    /// The same for one of several runs: `name`, or what the library chooses for `auto`, without the
    /// constants that belong to the other runs of `all` only.
    #[must_use]
    pub fn one_of(&self, name: &str, all: &[String]) -> Self {
        let runs = |chain: &str, option: &str| {
            find_constant(option).is_ok_and(|c| chain.split('+').any(|solver| solver == c.owner))
        };
        let kept = |option: &str| runs(name, option) || !all.iter().any(|other| runs(other, option));
        let solver = (name != AUTO.0).then(|| name.to_string());
        Self { solver, constants: self.constants.filtered(kept), ..self.clone() }
    }
}

/// Solvers with all their options, starting points in the order they should be tried, and the
/// reasons. It is run with the problem that it was made for.
#[derive(Debug)]
pub struct Plan<P: Family = AnyProblem> {
    /// Solvers, one after the other.
    pub solvers: Vec<&'static SolverInfo<P>>,
    /// Their options for the first start.
    pub options: SolverOptions,
    /// Starting points; further starts go round in this list.
    pub starts: Vec<Start>,
    /// One sentence per choice that was made for the user.
    pub reasons: Vec<Message>,
    /// True if the library chose the solvers.
    pub chosen: bool,
    /// Arms and moves of a search, if the library chose the solvers and local solutions differ.
    pub portfolio: Option<Portfolio<P>>,
    /// A lower bound of F over all feasible X, where one is known: a search ends when F meets it.
    pub lower_bound: Option<f64>,
}

impl<P: Family> Plan<P> {
    /// The choices of `request` with the defaults of the papers for the rest: the solvers it names, or
    /// the first of the family that can solve the problem, from the start it names, or the first of the family.
    ///
    /// # Errors
    /// Unknown names, solvers that do not fit the problem, options out of range.
    pub(crate) fn by_default(problem: &P, request: &Request) -> Result<Self> {
        let mut reasons = Vec::new();
        let solvers = match &request.solver {
            Some(names) => solvers_of(problem.solvers(), names)?,
            None => {
                let first: Vec<_> =
                    problem.solvers().iter().filter(|s| (s.handles)(problem)).take(1).collect();
                reasons.extend(first.iter().map(|s| Message::from(format!("solver {}: {}", s.name, s.doc))));
                first
            }
        };
        let start = request.start().cloned().unwrap_or_else(|| Start::named(problem.recipe().default_start));
        Self {
            solvers,
            options: request.options(),
            starts: vec![start],
            reasons,
            chosen: request.solver.is_none(),
            portfolio: None,
            lower_bound: None,
        }
        .checked(problem)
    }

    /// The plan, if its solvers can be made for the problem.
    pub(super) fn checked(self, problem: &P) -> Result<Self> {
        let names: Vec<_> = self.solvers.iter().map(|s| s.name).collect();
        check_constants(&self.options.constants, &names)?;
        for solver in &self.solvers {
            solver.build(problem, &self.options)?;
        }
        Ok(self)
    }

    /// Solvers and X⁰ of start k = 0, 1, ... for [`orthopt_core::solve::run_restarts`]: the starting
    /// points in turn, every start with a seed of its own. A rule without chance in it would
    /// find the same point again, so once all starting points have been tried it gives way to
    /// random pairs; and of a chain that the library chose the last solver runs alone then, as the
    /// others have little chance in them.
    ///
    /// # Errors
    /// Whatever is wrong with the starting point.
    pub fn start(&self, problem: &P, k: u64) -> Result<Chain<AnySolver<P>>> {
        let begin = &self.starts[self.place(k)];
        let seed = self.options.seed.wrapping_add(k);
        let x0 = problem.start_at(begin, seed, &Cancel::current().unwrap_or_default())?;
        let mut options = SolverOptions { seed, ..self.options.clone() };
        let again = k >= self.starts.len() as u64;
        if again {
            if options.obcd.working_set == WorkingSet::Cyclic {
                options.obcd.working_set = WorkingSet::Random;
            }
            if matches!(options.jobcd.working_set, None | Some(WorkingSet::Cyclic)) {
                options.jobcd.working_set = Some(WorkingSet::Random);
            }
        }
        let left_out = if again && self.chosen { self.solvers.len().saturating_sub(1) } else { 0 };
        let stages =
            self.solvers[left_out..].iter().map(|s| s.build(problem, &options)).collect::<Result<_>>()?;
        Ok(Chain { stages, x0 })
    }

    /// How a run of the plan goes: as many starts as `restarts` says, or else as many as the time limit
    /// has room for, or else one for each starting point and, with the solver left open, more for
    /// the effort that is worth it ([`Recipe::auto_effort`](super::Recipe::auto_effort)). Stages of a chain share the time.
    pub fn run_options(
        &self,
        problem: &P,
        request: &Request,
        stopping: &Stopping,
        restarts: Option<u64>,
    ) -> RunOptions {
        let further = match stopping.time_limit {
            Some(_) if problem.recipe().has_local_solutions => u64::MAX,
            _ => self.starts.len() as u64 - 1,
        };
        RunOptions {
            max_iterations: stopping.max_iters,
            seed: request.seed(),
            restarts: restarts.unwrap_or(further),
            effort: effort(problem, request, stopping, restarts),
            stage_seconds: stopping.time_limit.map(|limit| limit / self.solvers.len() as f64),
            cancel: Cancel::never(),
        }
    }

    /// Runs the plan until `stopping` or `cancel` says so; components come in the order of the
    /// problem, the largest loading of each positive where F does not mind. Of so many components that this takes long they come
    /// as the run leaves them where the time is over.
    ///
    /// # Errors
    /// What [`run_restarts`] finds wrong.
    pub fn run(
        &self,
        problem: &P,
        request: &Request,
        stopping: &Stopping,
        restarts: Option<u64>,
        cancel: &Cancel,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Solution> {
        let mut solution = match problem.in_unit() {
            Some((near, unit)) => {
                let observers = &mut Times { unit, observers };
                let bound = self.lower_bound.map(|bound| bound / unit);
                let found =
                    self.run_with(bound, near, (request, restarts), stopping, cancel, &mut [observers])?;
                found.times(unit)
            }
            None => {
                let bound = self.lower_bound;
                self.run_with(bound, problem, (request, restarts), stopping, cancel, observers)?
            }
        };
        if !solution.objective.total.is_finite() && solution.status != Status::Unbounded {
            let StopReason { status, message } = numerical_error();
            (solution.status, solution.message) = (status, message);
        }
        Ok(solution)
    }

    /// [`run`](Self::run) with a lower bound of F.
    fn run_with(
        &self,
        bound: Option<f64>,
        problem: &P,
        (request, restarts): (&Request, Option<u64>),
        stopping: &Stopping,
        cancel: &Cancel,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Solution> {
        let closing = cancel.within(stopping.time_limit.map(|limit| limit + moment(limit)));
        let mut solution = match self.search_settings(request, stopping, restarts) {
            Some((portfolio, settings)) => {
                let settings = Settings { bound, ..settings };
                proved_or_searched(problem, (portfolio, request), settings, cancel, observers)?
            }
            None => {
                let options = self.run_options(problem, request, stopping, restarts);
                // a polish beside searches that have so much work is what a task of theirs is
                let most = request.work.filter(|_| request.solver.is_some()).map(|most| most / TASKS);
                let options = RunOptions { cancel: cancel.within_work(most), ..options };
                let mut stop = stopping.criteria();
                let run = || run_restarts(problem, |k| self.start(problem, k), options, &mut stop, observers);
                // work is counted by thread: the same for any number of them
                let mut solution = if most.is_some() { alone(run) } else { run() }?;
                if most.is_some() && solution.status == Status::TimeLimit && !cancel.is_late() {
                    (solution.status, solution.message) = (Status::Stalled, ALL_WORK.into());
                }
                if self.chosen && !problem.recipe().has_local_solutions {
                    state_minimum(problem, request, stopping, &mut solution, cancel);
                }
                solution
            }
        };
        // whatever X comes from, a proof or a start where time was over: entries that are rounding are zeros
        if let Some(x) = problem.cleaned(&solution.x) {
            solution.take(problem, x);
        }
        closing.during(|| {
            problem.order_components(&mut solution);
            orient(problem, &mut solution);
        });
        Ok(solution)
    }

    /// Settings of the search of the plan; `None` if the solvers or the number of starts are given.
    fn search_settings(
        &self,
        request: &Request,
        stopping: &Stopping,
        restarts: Option<u64>,
    ) -> Option<(&Portfolio<P>, Settings)> {
        let portfolio = self.portfolio.as_ref().filter(|_| restarts.is_none())?;
        let limited = stopping.time_limit.is_some() || stopping.max_iters.is_some();
        let effort = request.effort.or((!limited).then_some(Effort::Normal));
        let (seed, stopping) = (request.seed(), *stopping);
        Some((
            portfolio,
            Settings { seed, effort, work: request.work, before: 0, stopping, bound: self.lower_bound },
        ))
    }

    /// Names of the solvers, joined by `+`.
    pub fn names(&self) -> String {
        self.solvers.iter().map(|s| s.name).collect::<Vec<_>>().join("+")
    }

    /// What [`Plan::run_options`] decides about further starts, in a sentence.
    pub fn restart_reason(
        &self,
        problem: &P,
        request: &Request,
        stopping: &Stopping,
        restarts: Option<u64>,
    ) -> Option<Message> {
        if !problem.recipe().has_local_solutions || restarts.is_some() {
            return None; // one start is as good as many, or their number is given
        }
        if let Some((portfolio, settings)) = self.search_settings(request, stopping, restarts) {
            return Some(search_reason(portfolio.arms.len(), settings.effort));
        }
        if stopping.time_limit.is_some() {
            let sentence = "restarts with other seeds until the time limit; the best X is returned (";
            return Some(Message::from(sentence).set("restarts", "0").text(": one start)"));
        }
        let effort = effort(problem, request, stopping, restarts) / 1_000_000;
        let names = self.starts.iter().map(Start::name).collect::<Vec<_>>().join(", ");
        let alone = match self.solvers.last() {
            Some(last) if self.chosen && self.solvers.len() > 1 => format!(" of {} alone", last.name),
            _ => String::new(),
        };
        (effort > 0).then(|| {
            Message::from(format!(
                "one run each from {names}, and further runs{alone} below {effort} million iterations and 3e10 \
                 multiplications; the best X is returned ("
            ))
            .option("restarts")
            .text(")")
        })
    }

    /// Name of the starting point of start k.
    pub fn start_name(&self, k: u64) -> &str {
        self.starts[self.place(k)].name()
    }

    /// Which of the starting points start k has.
    fn place(&self, k: u64) -> usize {
        (k % self.starts.len() as u64) as usize
    }
}

/// The search, which ends at the minimum where little work proves it. Where that has not been tried, or the search took much, X may
/// be proved afterwards: proofs have half of its work in all, those of one component and of few variables at least [`Tuning::before`]. (A quarter proves too little: one
/// component of colon, 2,000 variables, 10 nonzeros, needs more than 8e9 after a search of 27e9.)
fn proved_or_searched<P: Family>(
    problem: &P,
    (portfolio, request): (&Portfolio<P>, &Request),
    mut settings: Settings,
    cancel: &Cancel,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    let clock = cancel.within(None);
    let limit = settings.stopping.time_limit;
    let Tuning { on_proof, before, .. } = request.tuning;
    let left = || limit.map(|limit| (limit - clock.seconds()).max(0.0));
    let proves = settings.bound.is_none() && settings.stopping.max_iters.is_none();
    let mut proof = None;
    let begun = so_far();
    if proves {
        proof = problem.proved_with(None, before, &cancel.within(limit.map(|limit| on_proof * limit)));
    }
    let spent = so_far() - begun;
    settings.bound = settings.bound.or(proof.as_ref().map(target));
    settings.stopping.time_limit = left();
    let some =
        settings.bound.is_none().then(|| narrowed(problem, request, settings, cancel, observers)).flatten();
    let mut solution = some.unwrap_or_else(|| search(problem, portfolio, settings, cancel, observers))?;
    let took = solution.search.as_ref().map_or(0, |search| search.work);
    let (n, r) = problem.shape();
    let is_small = r == 1 || work_of_all_supports(n, r) <= before;
    let least = if is_small { before } else { 0 };
    let after = ((2.0 * on_proof * took as f64) as u64).max(least).saturating_sub(spent);
    let rest = cancel.within(left());
    if proves && proof.is_none() && after > 0 && !rest.is_over() {
        proof = problem.proved_with(Some(&solution.x), after, &rest);
    }
    if let Some(proof) = proof {
        // both are 0 where C is, and no bound is met to a share of that
        let lower = |x: &&RowMat| problem.objective(x).total < solution.objective.total;
        let above = !is_met(solution.objective.total, target(&proof));
        if let Some(x) = proof.x.as_ref().filter(lower).filter(|_| above) {
            solution.take(problem, x.clone());
        }
        state_proof(problem, &mut solution, proof);
    }
    solution.seconds = clock.seconds();
    Ok(solution)
}

/// F that a search for what is proved ends at: the bound, or the F of the X with the supports that are proved.
fn target(proof: &Bound) -> f64 {
    match proof.gap {
        Some(gap) if gap > PROVED => proof.objective.unwrap_or(proof.value),
        _ => proof.value,
    }
}

/// Says what is proved of the X of a search. Of an X that is as good on other supports the X of the proof is taken.
fn state_proof<P: Family>(problem: &P, solution: &mut Solution, proof: Bound) {
    let claimed = |solution: &Solution| proof.beside_x(solution.point(), &solution.x).ok();
    let mut claim = claimed(solution).filter(|claim| claim.proof.is_some());
    if let (None, Some(x)) = (&claim, &proof.x) {
        solution.take(problem, x.clone());
        claim = claimed(solution);
    }
    let is_equal = claim.as_ref().and_then(|claim| claim.gap).is_some_and(|gap| gap <= PROVED);
    (solution.status, solution.message) = match claim.and_then(|claim| claim.proof) {
        Some(Proof::Supports) => (Status::Converged, ARE_SUPPORTS.into()),
        Some(Proof::Optimal) if is_equal => (Status::Optimal, IS_MINIMUM.into()),
        Some(Proof::Optimal) => {
            let share = proof.tolerance;
            (Status::Optimal, format!("no feasible X has an F lower by more than {share:.0e} of it"))
        }
        None if solution.status == Status::Optimal => (Status::Stalled, ABOVE.into()),
        None => (solution.status, std::mem::take(&mut solution.message)),
    };
    solution.proof = Some(Box::new(proof));
}

/// What is said of an X whose supports are proved, and of one that is not what was to be proved.
const ARE_SUPPORTS: &str = "no other choice of variables has a lower F";
const ABOVE: &str = "F of X is above its lower bound";

/// Says of a run that cannot end at another local minimum that its X is the global one, where little work proves it.
fn state_minimum<P: Family>(
    problem: &P,
    request: &Request,
    stopping: &Stopping,
    solution: &mut Solution,
    cancel: &Cancel,
) {
    let work = request.tuning.before;
    let left = stopping.time_limit.map(|limit| (limit - solution.seconds).max(0.0));
    let rest = cancel.within(left);
    if solution.status != Status::Converged || rest.is_over() {
        return;
    }
    if let Some(proof) = problem.proved_with(Some(&solution.x), work, &rest) {
        solution.status = Status::Optimal;
        solution.message = IS_MINIMUM.into();
        solution.proof = Some(Box::new(proof));
    }
}

/// Description of a search in a sentence.
fn search_reason(arms: usize, effort: Option<Effort>) -> Message {
    let race = format!("race of {arms} arms (solvers and starts), then local search from the best, ");
    match effort {
        Some(effort) => Message::from(format!("{race}{} effort (", effort.name())).option("effort").text(")"),
        None => Message::from(race + "until the limit"),
    }
}

/// Iterations for further starts, if their number is not given.
fn effort<P: Family>(problem: &P, request: &Request, stopping: &Stopping, restarts: Option<u64>) -> u64 {
    let open = request.solver.is_none() && restarts.is_none() && stopping.time_limit.is_none();
    let recipe = problem.recipe();
    if open && recipe.has_local_solutions { recipe.auto_effort } else { 0 }
}
