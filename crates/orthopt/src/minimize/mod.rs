//! Minimisation of a function of the caller's own over XᵀX = I or XᵀJX = J: one text for all front ends.
//!
//! A front end gives values and gradients as a [`Callback`], and the options as a [`OwnRun`]; [`minimize`] chooses the solver where
//! none is named, makes the starts, ends where two of them agree, and measures criticality where that is asked for.

mod broken;
mod function;
mod hyperbolic;
mod starts;
mod zeros;

pub use function::{Callback, Function};

use rand_pcg::Pcg64;

use self::broken::judged;
use self::starts::{Further, Starts, best_of, is_even, partition, start_rng};
use self::zeros::with_zeros;
use orthopt_core::certify::criticality_while;
use orthopt_core::composite::criticality;
use orthopt_core::concave::Concave;
use orthopt_core::constraint::{Constraint, Stiefel};
use orthopt_core::linear_map::LinearMap;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::objective::Evaluate;
use orthopt_core::options::checked;
use orthopt_core::penalty::{AnyPenalty, find_penalty};
use orthopt_core::problem::Problem;
use orthopt_core::smooth::{HessianVector, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_run::family::in_unit::shape as shape_in_unit;
use orthopt_run::family::{
    CallOptions, Case, CompositeOptions, Request, Run, check_constants, check_solvers, composite_parts,
    needs_parts, penalty_called,
};
use orthopt_run::report::assessment::in_time;
use orthopt_run::request::{Front, OPTIONS};

use orthopt_core::solve::{
    AnySolver, Chain, Observer, RunOptions, Solution, Status, Stopping, Times, run_restarts,
};
use orthopt_run::solvers::obcd::WorkingSet;
use orthopt_run::solvers::{SolverInfo, general_pairwise, splitting};

/// min f(X) + h(X) with the user's f.
type Own = Problem<Stiefel, Function, AnyPenalty>;

/// The default for products with the Hessian.
const SECOND_ORDER: &str = "trust-region";

/// The default without a penalty, for penalties that are convex and finite, and for the others.
const DEFAULTS: [&str; 3] = ["lbfgs", "irpg", "ladmm"];

/// The default for f − g + h∘A, and where h is convex, g = 0 and A a square matrix.
const COMPOSITE_DEFAULTS: [&str; 2] = ["oadmm", "rada-rgd"];

/// The names of the constraints.
pub const CONSTRAINTS: [&str; 2] = ["stiefel", "j-orthogonal"];

/// Function, start and options of a minimisation.
pub struct OwnRun<'a> {
    /// f.
    pub f: Function,
    /// X⁰; random ones where it is not given.
    pub x0: Option<RowMat>,
    /// One of [`CONSTRAINTS`].
    pub constraint: &'a str,
    /// The options.
    pub request: &'a Request,
    /// The options that are given.
    pub given: &'a CallOptions,
    /// The front end whose names errors have.
    pub front: Front,
}

/// Result of a minimisation.
#[derive(Debug)]
pub struct OwnResult {
    /// X with the results of the run.
    pub solution: Solution,
    /// The first-order measure of X, where it is asked for and there was time for it.
    pub criticality: Option<f64>,
}

/// Checks L of ∇f.
///
/// # Errors
/// It is not above 0.
pub fn checked_lipschitz(lipschitz: f64) -> Result<f64> {
    checked("lipschitz", lipschitz, "a number > 0", |v| v > 0.0)
}

/// Minimises. The callback and the observers are called on this thread.
///
/// # Errors
/// Options that do not apply; a start that does not fit; an f that is no number where the run begins; errors of the solvers, which
/// may be those of a callback that failed.
pub fn minimize(call: &OwnRun<'_>, observers: &mut [&mut dyn Observer]) -> Result<OwnResult> {
    let found = match call.constraint {
        "stiefel" if call.f.components() > 1 => {
            let why =
                " does not apply to X'X = I: it is for the solver vr-j-jobcd and X'JX = J; leave it out";
            return Err(Error::Incompatible(Message::about("sample").text(why)));
        }
        "stiefel" => call.stiefel(observers)?,
        "j-orthogonal" => call.hyperbolic(observers)?,
        other => {
            let (kind, known) = ("constraint", CONSTRAINTS.join(", "));
            return Err(Error::UnknownName { kind, name: other.into(), known });
        }
    };
    Ok(OwnResult { solution: judged(&call.f, found.solution)?, ..found })
}

impl OwnRun<'_> {
    fn penalty(&self) -> &str {
        self.request.penalty.as_deref().unwrap_or("none")
    }

    fn stiefel(&self, observers: &mut [&mut dyn Observer]) -> Result<OwnResult> {
        let request = self.request;
        let penalty = self.penalty();
        let case = Case::of_function(false, penalty, request.map.is_some());
        self.given.check(case.clone())?;
        if request.map.is_some() || needs_parts(penalty) {
            return self.composite(&case, observers);
        }
        let made = |unit: f64| -> Result<AnyPenalty> {
            let lambda = self.weight(penalty)? / unit;
            (find_penalty(penalty)?.make_shaped)(lambda, &shape_in_unit(&request.shape(), unit))
        };
        let nonneg = made(1.0)?.requires_nonneg();
        let unit = self.settle_unit(nonneg)?;
        let h = made(unit)?;
        let default = match h.is_convex() && !h.requires_nonneg() {
            true if self.f.has_hessian() => SECOND_ORDER,
            true if penalty == "none" => DEFAULTS[0],
            true => DEFAULTS[1],
            false => DEFAULTS[2],
        };
        check_constants(&request.shape(), &[penalty])?;
        let (n, r) = self.f.shape();
        let problem: Own = Problem::new(self.f.clone(), h, r)?;
        let stages = self.stages(general_pairwise(), &problem, default, &case)?;
        let mut rng = start_rng(request.seed());
        let random = |rng: &mut Pcg64| match problem.h.requires_nonneg() {
            true => partition(n, r, rng),
            false => problem.constraint.random(rng),
        };
        let x0 = self.x0.clone().unwrap_or_else(|| random(&mut rng));
        problem.constraint.check(&x0, "the starting point X")?;
        check_sign(&problem, &x0)?;
        let elsewhere = problem.constraint.random(&mut rng);
        let both = n == r && !problem.h.requires_nonneg();
        let both = both && !(problem.h.is_even() && is_even(&self.f, &elsewhere));
        self.f.estimate_lipschitz_at(&x0, elsewhere);
        let starts = Starts::new(x0, both, random, &mut rng);
        let solution = self.best(starts, |x0, stopping| {
            self.run(&problem, stages.clone(), x0, stopping, (unit, observers))
        })?;
        let measure = |clock: &Cancel| criticality_while(&problem, &solution.x, clock);
        let critical = self.checked(&solution, measure);
        Ok(in_unit(solution, critical, unit))
    }

    /// f − g + h∘A: a penalty with parts of its own, or one behind a linear map.
    fn composite(&self, case: &Case, observers: &mut [&mut dyn Observer]) -> Result<OwnResult> {
        let request = self.request;
        let penalty = self.penalty();
        check_constants(&request.shape(), &[penalty])?;
        let (n, r) = self.f.shape();
        let unit = self.settle_unit(false)?;
        let shape = shape_in_unit(&request.shape(), unit);
        let parts = CompositeOptions {
            k: request.k,
            map: request.map().cloned(),
            shape,
            ..CompositeOptions::default()
        };
        let lambda = self.weight(penalty)? / unit;
        let (g, h, a) = composite_parts(penalty, lambda, (n, r), &parts)?;
        let problem = Problem::new(self.f.clone(), h, r)?.minus(g)?.through(a)?;
        let plain = problem.h.is_convex() && problem.g.is_zero() && problem.a.square().is_some();
        let stages = self.stages(splitting(), &problem, COMPOSITE_DEFAULTS[usize::from(plain)], case)?;
        let mut rng = start_rng(request.seed());
        let x0 = self.x0.clone().unwrap_or_else(|| problem.constraint.random(&mut rng));
        problem.constraint.check(&x0, "the starting point X")?;
        let elsewhere = problem.constraint.random(&mut rng);
        let both = n == r && !(problem.h.is_even() && is_even(&self.f, &elsewhere));
        self.f.estimate_lipschitz_at(&x0, elsewhere);
        let starts = Starts::new(x0, both, |rng| problem.constraint.random(rng), &mut rng);
        let mut solution = self.best(starts, |x0, stopping| {
            self.run(&problem, stages.clone(), x0, stopping, (unit, observers))
        })?;
        let b = problem.a.square().filter(|_| problem.h.promotes_sparsity());
        let x = b.and_then(|b| {
            self.afterwards(&solution, |_, has_time| {
                with_zeros(b, &solution.x, |x| problem.objective(x), has_time)
            })
        });
        if let Some(x) = x {
            solution.take(&problem, x);
        }
        let measure = |clock: &Cancel| criticality(&problem, &solution.x, clock);
        let critical = self.checked(&solution, measure);
        Ok(in_unit(solution, critical, unit))
    }

    /// λ of those who give a penalty: there are no data to choose it from.
    fn weight(&self, penalty: &str) -> Result<f64> {
        let lambda = self.request.lambda;
        if penalty_called(penalty)?.lambda_share.is_none() {
            return Ok(lambda.unwrap_or(0.0));
        }
        let name = OPTIONS.iter().find(|entry| entry.name == "lambda").map(|entry| entry.name_in(self.front));
        lambda.ok_or_else(|| Error::InvalidOption {
            option: name.unwrap_or_default(),
            value: "not given".into(),
            expected: format!("a number >= 0, the weight of the penalty {penalty}"),
        })
    }

    /// The unit of f, found where the first run begins.
    fn settle_unit(&self, nonneg: bool) -> Result<f64> {
        let ((n, r), mut rng) = (self.f.shape(), start_rng(self.request.seed()));
        let constraint = Stiefel::new(n, r)?;
        let x0 = match &self.x0 {
            Some(x) => x.clone(),
            None if nonneg => partition(n, r, &mut rng),
            None => constraint.random(&mut rng),
        };
        constraint.check(&x0, "the starting point X")?;
        Ok(self.f.settle_unit(&x0))
    }

    /// The solvers that are requested, from those whose needs a function of the user's own meets.
    fn stages<P>(
        &self,
        list: &'static [SolverInfo<P>],
        problem: &P,
        default: &str,
        case: &Case,
    ) -> Result<Vec<AnySolver<P>>> {
        let wanted = self.request;
        let find = |name: &str| {
            list.iter().find(|info| info.name == name).ok_or_else(|| {
                let available = list.iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
                Error::Incompatible(
                    format!(
                        "solver {name} does not fit this f and penalty, or needs more than values and gradients; \
                         available are {available}"
                    )
                    .into(),
                )
            })
        };
        let names: Vec<&str> = wanted.solver.as_deref().unwrap_or(default).split('+').collect();
        check_solvers(&names.join("+"))?;
        check_constants(&wanted.solver_constants(), &names)?;
        let infos = names.into_iter().map(find).collect::<Result<Vec<_>>>()?;
        let greedy = matches!(wanted.working_set, Some(WorkingSet::GreedySv | WorkingSet::GreedyOr));
        self.given.check(case.clone().run_by(Run::of_solvers(&infos, greedy)))?;
        infos.into_iter().map(|info| info.build(problem, &wanted.options())).collect()
    }

    /// One start of a chain of solvers.
    fn run<P: Evaluate + 'static>(
        &self,
        problem: &P,
        stages: Vec<AnySolver<P>>,
        x0: RowMat,
        stopping: &Stopping,
        (unit, observers): (f64, &mut [&mut dyn Observer]),
    ) -> Result<Solution> {
        let seed = self.request.seed();
        let options = RunOptions {
            max_iterations: stopping.max_iters,
            seed,
            stage_seconds: stopping.time_limit.map(|limit| limit / stages.len() as f64),
            cancel: self.f.cancel().clone(),
            ..RunOptions::default()
        };
        let mut stop = stopping.criteria();
        let chain = |_| Ok(Chain { stages: stages.clone(), x0: x0.clone() });
        run_restarts(problem, chain, options, &mut stop, &mut [&mut Times { unit, observers }])
    }

    fn best<R: FnMut(&mut Pcg64) -> RowMat>(
        &self,
        starts: Starts<'_, R>,
        run: impl FnMut(RowMat, &Stopping) -> Result<Solution>,
    ) -> Result<Solution> {
        let further = Further::of(self.request.restarts, self.x0.is_some());
        let mut solution = best_of(starts, further, &self.request.stopping(), run)?;
        solution.settings.extend(self.f.known_lipschitz().map(|l| ("lipschitz".into(), l.into())));
        Ok(solution)
    }

    /// Measures X of a run, if that is asked for, in what it has left of its limit and a moment; `None` where a call of f takes longer.
    fn checked(&self, found: &Solution, measure: impl FnOnce(&Cancel) -> Option<f64>) -> Option<f64> {
        self.request.scope()?;
        self.afterwards(found, |clock, _| measure(clock))
    }

    /// Runs `f` in what a run has left of its limit and a moment; its second argument says whether there is time for a call of the
    /// function. `None` where there is none from the beginning.
    fn afterwards<R>(
        &self,
        found: &Solution,
        f: impl FnOnce(&Cancel, &dyn Fn() -> bool) -> Option<R>,
    ) -> Option<R> {
        if found.status == Status::Interrupted {
            return None;
        }
        let cancel = self.f.attended();
        let call = found.seconds / self.f.evaluations().max(1) as f64;
        in_time((self.request.time_limit, found.seconds), (&cancel, &cancel), |clock| {
            let has_time = || !clock.is_over() && clock.left().is_none_or(|left| call <= left);
            if has_time() { f(clock, &has_time) } else { None }
        })
    }
}

fn in_unit(solution: Solution, critical: Option<f64>, unit: f64) -> OwnResult {
    OwnResult { solution: solution.times(unit), criticality: critical.map(|size| unit * size) }
}

/// A start that must be nonnegative and is not.
fn check_sign(problem: &Own, x: &RowMat) -> Result<()> {
    let negative = x.data().iter().position(|v| *v < 0.0).filter(|_| problem.h.requires_nonneg());
    match negative {
        None => Ok(()),
        Some(k) => Err(Error::Negative {
            what: "the starting point X".into(),
            row: k / x.ncols() + 1,
            col: k % x.ncols() + 1,
            value: x.data()[k],
        }),
    }
}
