//! One problem, one plan, one run: shared by `solve` and `compare`.

use orthopt::family::Family;
use orthopt::family::{Begin, Plan, Wanted};
use orthopt::options::{Given, Value};
use orthopt::solve::{Interrupt, Observer, Setting, Solution, run_restarts};
use orthopt::solvers::obcd::WorkingSet;

use crate::input::{check_rows, read_x};
use crate::interrupt;
use crate::progress::Progress;
use crate::report::{Checks, Report};
use crate::settings::{Init, Settings};

/// What the run is part of, for the report.
#[derive(Clone, Debug)]
pub struct Task {
    pub problem: &'static orthopt::family::ProblemInfo,
    pub data: crate::input::DataInfo,
    pub rank: usize,
    pub lambda: Option<f64>,
    pub k: Option<usize>,
    pub reasons: Vec<String>,
}

/// Solvers and starts for `problem`: what was typed, and the choices of the library for the rest.
///
/// # Errors
/// A start that cannot be read or does not fit; solvers that do not fit.
pub fn plan<P: Family>(settings: &Settings, wanted: &Wanted, problem: &P) -> anyhow::Result<Plan<P>> {
    let start = match &settings.init {
        None => None,
        Some(Init::Named(start)) => Some(Begin::Named(start.clone())),
        Some(Init::File(path)) => {
            let x = read_x("--init", path)?;
            check_rows("--init", &x, problem.shape().0)?;
            Some(Begin::Given(x))
        }
    };
    let wanted = Wanted { start, ..wanted.clone() };
    let mut plan = problem.plan(&wanted)?;
    plan.reasons.extend(plan.restart_reason(problem, &wanted, &settings.stopping, settings.restarts));
    Ok(plan)
}

/// Options that were given and do nothing.
pub fn unused<P: Family>(wanted: &Wanted, plan: &Plan<P>) -> Vec<String> {
    let rule = plan.options.obcd.working_set;
    let greedy = matches!(rule, WorkingSet::GreedySv | WorkingSet::GreedyOr);
    let names: Vec<_> = plan.solvers.iter().map(|s| s.name).collect();
    let mut notes = Vec::new();
    let given = [
        ("working-set", wanted.working_set.is_some()),
        ("block", wanted.block.is_some()),
        ("model", wanted.model.is_some()),
        ("alpha", wanted.alpha.is_some()),
        ("candidates", wanted.candidates.is_some()),
        ("side", wanted.side.is_some()),
        ("jacobi", wanted.jacobi),
    ];
    let meant = |option: &str| plan.solvers.iter().any(|s| s.shared.iter().any(|c| c.name == option));
    let idle: Vec<_> =
        given.iter().filter(|(o, set)| *set && !meant(o)).map(|(o, _)| format!("--{o}")).collect();
    if !idle.is_empty() {
        let verb = if idle.len() == 1 { "means" } else { "mean" };
        notes.push(format!("{} {verb} nothing to {}", idle.join(", "), names.join("+")));
    }
    if wanted.candidates.is_some() && meant("candidates") && !greedy {
        let rule = wanted.working_set.map_or("the default rule", WorkingSet::name);
        notes.push(format!("--candidates is for the greedy working sets; {rule} ignores it"));
    }
    notes
}

/// Runs the plan and reports; checks come later.
///
/// # Errors
/// What [`run_restarts`] finds wrong.
pub fn minimise<P: Family>(
    settings: &Settings,
    wanted: &Wanted,
    problem: &P,
    plan: &Plan<P>,
    task: &Task,
    progress: &mut Progress,
) -> anyhow::Result<Report> {
    let options = plan.run_options(problem, wanted, &settings.stopping, settings.restarts);
    let mut stop = settings.stopping.criteria();
    let mut interrupted = Interrupt(interrupt::asked());
    let observers: &mut [&mut dyn Observer] = &mut [progress, &mut interrupted];
    let mut solution = run_restarts(problem, |k| plan.start(problem, k), options, &mut stop, observers)?;
    let constants = constants(plan, &solution);
    moved(wanted, &constants).iter().for_each(|note| progress.note(note));
    problem.order_components(&mut solution);
    solution.solver = plan.solvers.iter().map(|s| s.name).collect::<Vec<_>>().join("+");
    Ok(Report {
        problem: task.problem,
        data: task.data.clone(),
        rank: task.rank,
        lambda: task.lambda,
        k: task.k,
        constants,
        start: best_start(plan, &solution),
        reasons: [task.reasons.clone(), plan.reasons.clone()].concat(),
        stopping: settings.stopping,
        threads: rayon::current_num_threads(),
        measures: (problem.feasibility_name(), problem.criticality_name()),
        relative_feasibility: problem.relative_feasibility(&solution.x),
        optimum: problem.known_optimum(),
        explained: problem.explained_variance(&solution.x),
        solution,
        checks: Checks::default(),
    })
}

/// The constants of the solvers that ran, `solver-constant` to value: what the solver reports,
/// else what was set, else the default; nothing where the solver chose it and does not say.
fn constants<P: Family>(plan: &Plan<P>, solution: &Solution) -> Given {
    let mut all = Given::new();
    for solver in &plan.solvers {
        for constant in solver.constants {
            let (option, key) =
                (format!("{}-{}", solver.name, constant.name), constant.name.replace('-', "_"));
            let reported =
                [&key, &format!("{}.{key}", solver.name)].into_iter().find_map(|key| {
                    match solution.settings.get(key) {
                        Some(Setting::Real(value)) => Some(Value::Number(*value)),
                        Some(Setting::Int(value)) => Some(Value::Whole(*value)),
                        Some(Setting::Bool(value)) => Some(Value::Flag(*value)),
                        _ => None,
                    }
                });
            let set = plan.options.constants.get(&option).unwrap_or(constant.default);
            let value = reported.unwrap_or(set);
            if value != Value::Auto {
                all.insert(option, value);
            }
        }
    }
    all
}

/// Constants that are not in force as typed: a weakly convex penalty bounds β from below and μ
/// from above. Zero is not a value but asks for one.
fn moved(wanted: &Wanted, in_force: &Given) -> Vec<String> {
    let number =
        |(name, value): (&str, Value)| Some((name.to_string(), value.number().filter(|v| *v != 0.0)?));
    let typed = wanted.constants.iter().filter_map(number);
    typed
        .filter_map(|(name, typed)| {
            let used = in_force.get(&name).and_then(Value::number)?;
            let used = Some(used).filter(|used| (used - typed).abs() > 1e-12 * typed.abs())?;
            let (what, done) = if used > typed { ("small", "raised") } else { ("large", "lowered") };
            Some(format!(
                "--{name} {typed} is too {what} for a penalty that is weakly convex only: {done} to {used}, where its prox is single-valued"
            ))
        })
        .collect()
}

/// Name of the starting point that led to the best X.
fn best_start<P: Family>(plan: &Plan<P>, solution: &Solution) -> String {
    let best = match solution.settings.get("best_start") {
        Some(Setting::Int(k)) => *k,
        _ => 0,
    };
    plan.start_name(best).into()
}

/// Criticality, where it is wanted, and block stationarity, where that is.
pub fn check<P: Family>(settings: &Settings, problem: &P, report: &mut Report, progress: &Progress) {
    let x = &report.solution.x;
    progress.stage("measuring criticality");
    report.checks.measure_criticality(problem, x);
    if let Some(scope) = settings.certify {
        progress.stage("checking pairs of rows");
        report.checks.certify(problem, x, scope);
    }
}
