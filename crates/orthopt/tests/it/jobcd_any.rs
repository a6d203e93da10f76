//! JOBCD for any smooth f: the probe, and an f of a user who knows values, gradients and samples.

use crate::common::Steps;
use crate::common::jobcd::{definite, options, probe, solver};
use crate::common::jorth::{difference, feasible, shuffled, times};
use crate::common::{gaussian, limits};
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt::constraint::{Constraint, JOrthogonal};
use orthopt::family::{Family, Request};
use orthopt::problem::{JProblem, Problem};
use orthopt::smooth::{FiniteSum, HessianVector, JQuadratic, Placement, Smooth, TwoSided};
use orthopt::solve::{
    AnySolver, Critical, MaxIterations, Setting, Solution, Solver, Stationary, Status, Stop, run,
};
use orthopt::solvers::obcd::WorkingSet;
use orthopt::solvers::{JobcdOptions, SolverInfo};
use orthopt::start::Start;
use orthopt_core::constraint::j_orthogonal::feasibility;
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_core::smooth::two_sided::hyperbolic_minimum;
use orthopt_hyperbolic::jobcd::{GS_JOBCD, J_JOBCD, VR_J_JOBCD};
use orthopt_linalg::factor::transpose;
use orthopt_solvers::entry;

/// f(X) = (1/2N) Σᵢ ‖aᵢᵀX‖² of a user, the rows of A times √2: hyperbolic-eig as a sum over samples, which says
/// nothing of being a quadratic.
struct Samples(RowMat);

fn gs_jobcd<F: TwoSided + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    entry!(GS_JOBCD)
}

fn j_jobcd<F: TwoSided + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    entry!(J_JOBCD)
}

fn vr_j_jobcd<F: FiniteSum + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    entry!(VR_J_JOBCD)
}

impl Samples {
    /// ∇ and value of the mean over some samples, each by itself.
    fn mean(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        *g = RowMat::zeros(x.nrows(), x.ncols());
        let (mut value, weight) = (0.0, 1.0 / sample.len() as f64);
        for i in sample {
            let a = RowMat::from_fn(1, x.nrows(), |_, k| self.0.get(*i, k));
            let ax = times(&a, x);
            value += 0.5 * weight * ax.inner(&ax);
            for k in 0..x.nrows() {
                let row = g.row_mut(k).iter_mut().zip(ax.row(0));
                row.for_each(|(g, v)| *g += weight * a.get(0, k) * v);
            }
        }
        value
    }

    fn all(&self) -> Vec<usize> {
        (0..self.0.nrows()).collect()
    }
}

impl Smooth for Samples {
    fn nrows(&self) -> usize {
        self.0.ncols()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.mean(&self.all(), x, &mut RowMat::zeros(0, 0))
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.mean(&self.all(), x, g);
    }
    fn components(&self) -> usize {
        self.0.nrows()
    }
    fn is_coercive(&self) -> bool {
        true
    }
}

impl FiniteSum for Samples {
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        self.mean(sample, x, g)
    }
}

impl TwoSided for Samples {}

impl HessianVector for Samples {}

/// The problem and its minimum, Σ|λᵢ(JC)|.
fn samples(n: usize, p: usize) -> (Problem<JOrthogonal, Samples>, f64) {
    let j = shuffled(p, n, 3);
    let a = gaussian(4 * n, n, 5);
    let f = Samples(RowMat::from_fn(4 * n, n, |i, k| 2f64.sqrt() * a[(i, k)]));
    let m = times(&transpose(&f.0), &f.0);
    let c = RowMat::from_fn(n, n, |i, k| 0.5 * (m.get(i, k) + m.get(k, i)) * 0.5 / (4 * n) as f64);
    let best = hyperbolic_minimum(c.as_mat(), &j).unwrap();
    (Problem::with_signature(f, j).unwrap(), best)
}

/// All three of JOBCD take an f from outside by `info`, and the feasible ones that are monotone end at its minimum.
#[test]
fn a_users_finite_sum() {
    let (p, best) = samples(7, 3);
    let x0 = p.constraint.random(&mut crate::common::rng(2));
    let o = options(JobcdOptions::default(), &[]);
    let gap = |name: &str, solver: AnySolver<_>, most: u64| {
        let mut stop = Stationary { tol: 1e-11 }.or(Critical { tol: 1e-7 }).or(MaxIterations(Some(most)));
        let s = run(&p, &solver, x0.clone(), limits(most, 5), &mut stop, &mut []).unwrap();
        assert!(s.feasibility <= 1e-11 && s.solver == name, "{name}: {:e}", s.feasibility);
        (s.objective.total - best) / best
    };
    let gs = gap("gs-jobcd", gs_jobcd().build(&p, &o).unwrap(), 100_000);
    let j = gap("j-jobcd", j_jobcd().build(&p, &o).unwrap(), 20_000);
    let vr = gap("vr-j-jobcd", vr_j_jobcd().build(&p, &o).unwrap(), 4_000);
    assert!((-1e-10..=1e-8).contains(&gs) && (-1e-10..=1e-8).contains(&j), "{gs:e} {j:e}");
    assert!((-1e-10..=1e-2).contains(&vr), "{vr:e}, from {:e}", (p.value(&x0) - best) / best);
}

/// A quadratic that does not say that it is one.
struct Wrapped(JQuadratic);

impl Smooth for Wrapped {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.0.value(x)
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.0.gradient(x, g);
    }
    fn is_coercive(&self) -> bool {
        true
    }
}

impl TwoSided for Wrapped {}

/// With every rule the limit is that of GS-JOBCD on the quadratic itself, and its end is confirmed.
#[test]
fn a_wrapped_quadratic_ends_where_the_quadratic_does() {
    for (n, plus) in [(6, 3), (9, 2), (5, 5)] {
        let (c, j) = (definite(n, 0.1, 2), shuffled(plus, n, 4));
        let known = hyperbolic_minimum(c.as_mat(), &j).unwrap();
        let f = Wrapped(JQuadratic::hyperbolic_eig(c.as_mat()).unwrap());
        let p = Problem::with_signature(f, j.clone()).unwrap();
        let x0 = feasible(&j, 6);
        for rule in [WorkingSet::Random, WorkingSet::Cyclic, WorkingSet::GreedySv, WorkingSet::GreedyOr] {
            let o = options(JobcdOptions { working_set: Some(rule), ..Default::default() }, &[]);
            let solver = gs_jobcd().build(&p, &o).unwrap();
            let mut stop = Stationary { tol: 1e-12 }.or(MaxIterations(Some(400_000)));
            let s = run(&p, &solver, x0.clone(), limits(400_000, 5), &mut stop, &mut []).unwrap();
            let gap = (s.objective.total - known) / known;
            assert!((-1e-11..=1e-8).contains(&gap), "n {n}, {rule:?}: {gap:e}, {}", s.message);
            assert_eq!(s.status, Status::Converged, "n {n}, {rule:?}: {}", s.message);
            assert!(n == plus || s.message.contains("recomputed criticality of X"), "{}", s.message);
        }
    }
}

/// Every step lowers f of the probe by what Algorithm 1 asks for, and stays on the group.
#[test]
fn every_step_on_the_probe_lowers_f() {
    let p = probe(60, 6, Placement::After);
    let x0 = p.start("random", 1).unwrap();
    let start = p.value(&x0);
    for rule in [WorkingSet::Random, WorkingSet::Cyclic, WorkingSet::GreedySv, WorkingSet::GreedyOr] {
        let o = options(JobcdOptions { working_set: Some(rule), ..Default::default() }, &[]);
        let s = solver(&p, "gs-jobcd", &o);
        let mut st = s.init(&p, x0.clone()).unwrap();
        let (mut f, mut x, mut moved) = (start, x0.clone(), 0);
        for _ in 0..300 {
            let info = s.steps(&p, &mut st, 1);
            let now = s.point(&p, &st);
            let rows: Vec<usize> = (0..6).filter(|i| now.row(*i) != x.row(*i)).collect();
            assert!(rows.is_empty() || rows.len() == 2, "{rule:?}: rows {rows:?} moved");
            assert!(info.objective < f || rows.is_empty() && info.objective == f, "{rule:?}: {f}");
            let norm = spectral_norm(now);
            assert!(feasibility(now, p.signature()) <= 100.0 * f64::EPSILON * norm * norm);
            assert!((p.value(now) - info.objective).abs() <= 1e-11 * f);
            moved += usize::from(!rows.is_empty());
            (f, x) = (info.objective, now.clone());
        }
        assert!(moved > 50 && f < 0.9 * start, "{rule:?}: {moved} moves to {f} from {start}");
        let settings = s.settings(&p, &st);
        let Setting::Int(gradients) = settings["gradients"] else { panic!("no count") };
        assert!(gradients <= 2 * 300 + 40 && gradients > moved as u64, "{gradients} for {moved}");
    }
}

/// A step is a round of J-JOBCD where there is one pair.
#[test]
fn a_step_is_a_round_of_one_pair() {
    let j = Signature::leading(1, 2).unwrap();
    let c = definite(2, 0.1, 3);
    let p =
        Problem::with_signature(Wrapped(JQuadratic::hyperbolic_eig(c.as_mat()).unwrap()), j.clone()).unwrap();
    let x0 = feasible(&j, 3);
    let o = options(JobcdOptions::default(), &[]);
    let (gs, j) = (gs_jobcd().build(&p, &o).unwrap(), j_jobcd().build(&p, &o).unwrap());
    let ends: Vec<RowMat> = [gs, j]
        .iter()
        .map(|s| {
            let mut st = s.init(&p, x0.clone()).unwrap();
            s.steps(&p, &mut st, 1);
            s.finish(&p, st).x
        })
        .collect();
    assert!(difference(&ends[0], &ends[1]) <= 1e-14 && difference(&ends[0], &x0) > 1e-6);
}

fn to_the_end(p: &JProblem, x0: RowMat) -> Solution {
    let s = solver(p, "gs-jobcd", &options(JobcdOptions::default(), &[]));
    let mut stop = Stationary { tol: 1e-9 }.or(Critical { tol: 1e-6 });
    run(p, &s, x0, limits(200_000, 5), &mut stop, &mut []).unwrap()
}

/// f of the printed probe is constant on the group: the run ends by itself, and f is what it was at every start. This
/// is a free check of X'JX = J.
#[test]
fn the_printed_probe_is_constant_and_the_run_ends() {
    let p = probe(40, 6, Placement::Printed);
    let start = p.value(&p.start("identity", 0).unwrap());
    for seed in 1..4 {
        let s = to_the_end(&p, p.start("random", seed).unwrap());
        assert!((s.objective.total - start).abs() <= 1e-11 * start, "{} {start}", s.objective.total);
        assert!(matches!(s.status, Status::Stalled | Status::Converged), "{:?}: {}", s.status, s.message);
        assert!(s.iterations < 200_000);
    }
    let mut off = p.start("random", 1).unwrap();
    off.set(0, 0, off.get(0, 0) + 0.1);
    assert!((p.value(&off) - start).abs() > 1e-6 * start, "an X that is not feasible shows");
}

/// The kinks of the probe do not keep a run going for ever.
#[test]
fn a_run_on_the_probe_ends_by_itself() {
    let p = probe(12, 4, Placement::After);
    let s = to_the_end(&p, p.start("random", 2).unwrap());
    assert!(matches!(s.status, Status::Stalled | Status::Converged), "{:?}: {}", s.status, s.message);
    assert!(s.objective.total < p.value(&p.start("random", 2).unwrap()));
}

/// A probe whose solver is left open is raced for; with an option of JOBCD it has rounds.
#[test]
fn the_default_of_the_probe() {
    let p = probe(12, 4, Placement::After);
    let named = |wanted: Request| p.plan(&wanted).unwrap().names();
    assert_eq!(named(Request::default()), "j-jobcd+j-lbfgs");
    assert_eq!(named(Request { working_set: Some(WorkingSet::Cyclic), ..Default::default() }), "j-jobcd");
    let start = Some(Start::named("identity"));
    assert_eq!(named(Request { init: start.map(Into::into), ..Default::default() }), "j-jobcd+j-lbfgs");
    assert_eq!(named(Request { solver: Some("gs-jobcd".into()), ..Default::default() }), "gs-jobcd");
}
