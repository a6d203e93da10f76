//! RiAL and RADA-RGD: where they end, beside ManIAL and known optima, and that their steps are what they say.

use crate::common::Steps;
use crate::common::composite::{KINDS, composite};
use crate::common::{gaussian_rows, problem};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::composite::criticality;
use orthopt::family::{Family, Request};
use orthopt::problem::CompositeProblem;
use orthopt::smooth::Smooth;
use orthopt::solve::{RunOptions, Setting, Solution, Solver, Status, Stopping};
use orthopt::solvers::COMPOSITE_SOLVERS;
use orthopt::solvers::{SolverOptions, find_solvers};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel::orthonormalise;
use orthopt_solvers::composite::rada::Rada;

const NAMES: [&str; 2] = ["rial", "rada-rgd"];

/// A run from a random start that ends by itself.
fn end<P: Family>(p: &P, name: &str, seed: u64, tol: f64) -> Solution {
    let start = Some(Start::named("random"));
    let wanted = Request {
        solver: Some(name.into()),
        init: start.map(Into::into),
        seed: Some(seed),
        ..Default::default()
    };
    let stopping = Stopping { max_iters: Some(100_000), time_limit: None, tol, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

/// Criticality over 1 + ‖∇f‖.
fn relative(p: &CompositeProblem, x: &RowMat) -> f64 {
    criticality(p, x, &Cancel::never()).unwrap() / (1.0 + p.gradient(x).norm())
}

#[test]
fn plain_pca_ends_at_the_optimum() {
    for name in NAMES {
        for seed in 0..3 {
            let p = problem("pca", 0.0, 20, 3, seed);
            let known = p.known_optimum().unwrap();
            let s = end(&p, name, seed, 1e-9);
            assert_eq!(s.status, Status::Converged, "{name} {seed}");
            assert!((s.objective.total - known).abs() <= 1e-6 * known.abs(), "{name} {seed}: {known} {s:?}");
        }
    }
}

#[test]
fn every_run_ends_by_itself_and_what_it_says_is_true() {
    for name in NAMES {
        let mut converged = 0;
        for kind in KINDS {
            let p = composite(kind, 14, 2, 1.0, 7);
            let begin = p.value(&p.start("random", 1).unwrap());
            let s = end(&p, name, 1, 1e-8);
            let what = format!("{name} {kind:?}: {:?} after {}", s.status, s.iterations);
            assert!(matches!(s.status, Status::Converged | Status::Stalled), "{what}");
            assert!(s.feasibility <= 1e-12 && s.objective.total < begin, "{what}");
            if s.status == Status::Converged {
                converged += 1;
                // as for all splitting methods: the criticality of X, or Crit(X, y, z) of the OADMM paper
                let part = |name: &str| match s.settings.get(name) {
                    Some(Setting::Real(value)) => *value,
                    other => panic!("{name}: {other:?}"),
                };
                let crit = part("crit_primal") + part("crit_dual") + part("crit_tangent");
                let (relative, of_paper) = (relative(&p, &s.x), crit / (1.0 + p.gradient(&s.x).norm()));
                assert!(relative.min(of_paper) <= 1e-4, "{what}: {relative}, Crit {of_paper}");
            }
        }
        assert!(converged >= 2, "{name} converged on {converged} of {} kinds", KINDS.len());
    }
}

/// With one component and a small λ there is one basin, and all methods end in it.
#[test]
fn they_agree_with_manial_where_there_is_one_basin() {
    for seed in 0..4 {
        let p = composite(("dc-pca", Some("l1")), 16, 1, 0.02, seed);
        let manial = end(&p, "manial", seed, 1e-8).objective.total;
        for name in NAMES {
            let f = end(&p, name, seed, 1e-8).objective.total;
            assert!((f - manial).abs() <= 1e-4 * (1.0 + manial.abs()), "{name} {seed}: {f}, ManIAL {manial}");
        }
    }
}

/// One step of descent and one in Y against the method written out for ℓ1, where the prox is a projection:
/// Y = clamp((X + βY_k)/(λ + β)) and Φ comes from Y itself.
#[test]
fn the_steps_of_rada_are_the_papers() {
    let (n, r, mu) = (9, 2, 0.7);
    let p = composite(("dc-pca", Some("l1")), n, r, mu, 3);
    let x0 = orthonormalise(&gaussian_rows(n, r, 5));
    let (beta1, epsilon) = (40.0, 1e-3);
    let solver = Rada { steps: 1, beta1: Some(beta1), epsilon, ..Rada::DEFAULT };
    let mut st = solver.init(&p, x0.clone()).unwrap();
    let lambda = epsilon / (2.0 * mu * ((n * r) as f64).sqrt());
    let (mut x, mut y) = (x0, RowMat::zeros(n, r));
    for k in 1..=6 {
        let beta = beta1 / f64::from(k).powf(1.5);
        let argmax = |x: &RowMat| {
            RowMat::from_fn(n, r, |i, c| {
                ((x.get(i, c) + beta * y.get(i, c)) / (lambda + beta)).clamp(-mu, mu)
            })
        };
        let phi = |x: &RowMat| {
            let best = argmax(x);
            let away = RowMat::from_fn(n, r, |i, c| best.get(i, c) - y.get(i, c));
            p.f.value(x) + x.inner(&best) - 0.5 * lambda * best.inner(&best) - 0.5 * beta * away.inner(&away)
        };
        // the gradient of Φ is ∇f + Y: a step of the solver lies on −Proj_T of it, and may raise Φ by 2R²β
        let before = phi(&x);
        solver.steps(&p, &mut st, 1);
        let next = solver.point(&p, &st).clone();
        let mut g = argmax(&x);
        let mut grad_f = RowMat::zeros(n, r);
        p.f.gradient(&x, &mut grad_f);
        g.data_mut().iter_mut().zip(grad_f.data()).for_each(|(g, f)| *g += f);
        let tangent = orthopt_core::constraint::stiefel::tangent(&x, &g);
        let slack = 2.0 * mu * mu * (n * r) as f64 * beta;
        assert!(phi(&next) <= before + slack + 1e-12, "{k}");
        assert!(next.inner(&tangent) < x.inner(&tangent), "{k}: not along the negative gradient");
        y = argmax(&next);
        x = next;
        let shown = solver.settings(&p, &st);
        let Some(Setting::Real(now)) = shown.get("beta") else { panic!("{shown:?}") };
        let falls = beta1 / f64::from(k + 1).powf(1.5);
        assert!(
            *now <= falls * (1.0 + 1e-12) && *now >= 0.9f64.powi(k) * falls * (1.0 - 1e-12),
            "{k}: {now}"
        );
        if *now < falls * 0.999 {
            break; // the weight shrank because y was not near enough: the rest follows another β
        }
    }
}

/// The dual step of RiAL leaves z in the subdifferential, however long the run.
#[test]
fn multipliers_of_rial_stay_bounded() {
    let p = composite(("dc-pca", Some("l1")), 12, 2, 0.5, 2);
    let info = find_solvers(COMPOSITE_SOLVERS, "rial").unwrap()[0];
    let solver = info.build(&p, &SolverOptions::default()).unwrap();
    let x0 = p.start("random", 2).unwrap();
    let mut stop = orthopt::solve::MaxIterations(Some(3000));
    let options = RunOptions { max_iterations: Some(3000), ..Default::default() };
    let s = orthopt::solve::run(&p, &solver, x0, options, &mut stop, &mut []).unwrap();
    // Crit(X, y, z) has dist(∂h(y), z): zero up to rounding, which σ multiplies
    let Some(Setting::Real(dual)) = s.settings.get("crit_dual") else { panic!("{:?}", s.settings) };
    assert!(*dual <= 1e-5, "{dual}");
}
