//! Set-up of the minimisation of a user's function, for any constraint.

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{Case, GivenOptions, Run, Wanted, check_constants, check_solvers};
use orthopt::objective::Evaluate;
use orthopt::solve::{AnySolver, Chain, Observer, RunOptions, Solution, Stopping, run_restarts};
use orthopt::solvers::SolverInfo;
use orthopt::solvers::obcd::WorkingSet;
use orthopt::{Error, Result};
use orthopt_run::report::assessment::in_time;
use pyo3::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::errors::Failure;
use crate::smooth::{Between, Callable};

/// f and X⁰.
pub struct Begun {
    pub f: Callable,
    pub x0: Option<RowMat>,
    pub shape: (usize, usize),
    pub callback: Option<Py<PyAny>>,
}

impl Begun {
    /// The exception of the callable, which explains every other failure.
    fn failure(&self, error: Error) -> Failure {
        self.f.raised().map_or(Failure::Library(error), Failure::Python)
    }

    /// One start of a chain of solvers.
    ///
    /// # Errors
    /// Errors of the solvers; exceptions of the callable.
    pub fn run<P: Evaluate + 'static>(
        &self,
        problem: &P,
        stages: Vec<AnySolver<P>>,
        x0: RowMat,
        wanted: &Wanted,
        stopping: &Stopping,
    ) -> std::result::Result<Solution, Failure> {
        let options = RunOptions {
            max_iterations: stopping.max_iters,
            seed: wanted.seed,
            stage_seconds: stopping.time_limit.map(|limit| limit / stages.len() as f64),
            cancel: self.f.cancel().clone(),
            ..RunOptions::default()
        };
        let mut stop = stopping.criteria();
        let mut between = Between::new(&self.f, self.callback.as_ref());
        let observers: &mut [&mut dyn Observer] = &mut [&mut between];
        let chain = |_| Ok(Chain { stages: stages.clone(), x0: x0.clone() });
        run_restarts(problem, chain, options, &mut stop, observers).map_err(|error| self.failure(error))
    }

    /// Measures X of a run in what that has left of its limit and a moment; `None` where a call of f takes longer.
    pub fn check_in_time(
        &self,
        found: &Solution,
        stopping: &Stopping,
        measure: impl FnOnce(&Cancel) -> Option<f64>,
    ) -> Option<f64> {
        let cancel = self.f.attended();
        let call = found.seconds / self.f.evaluations().max(1) as f64;
        in_time((stopping.time_limit, found.seconds), (&cancel, &cancel), |clock| {
            clock.left().is_none_or(|left| call <= left).then(|| measure(clock)).flatten()
        })
    }
}

/// The solvers that `wanted` names, from those whose needs a callable meets.
pub fn stages<P>(
    list: &'static [SolverInfo<P>],
    problem: &P,
    default: &str,
    wanted: &Wanted,
    (given, case): (&GivenOptions, &Case),
) -> Result<Vec<AnySolver<P>>> {
    let find = |name: &str| {
        match list.iter().find(|info| info.name == name) {
        Some(info) => Ok(info),
        None => Err(Error::Incompatible(
            format!(
                "solver {name} does not fit this f and penalty, or needs more than values and gradients; available are \
                 {}",
                list.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
            )
            .into(),
        )),
    }
    };
    let names: Vec<&str> = wanted.solver.as_deref().unwrap_or(default).split('+').collect();
    check_solvers(&names.join("+"))?;
    check_constants(&wanted.constants, &names)?;
    let infos = names.into_iter().map(find).collect::<Result<Vec<_>>>()?;
    let greedy = matches!(wanted.working_set, Some(WorkingSet::GreedySv | WorkingSet::GreedyOr));
    given.check(case.clone().run_by(Run::of_solvers(&infos, greedy)))?;
    infos.into_iter().map(|info| info.build(problem, &wanted.options())).collect()
}

/// Where random starts come from, as for the problems with a name.
pub fn start_rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed ^ 0x5354_4152_545f_5830)
}
