//! GS-JOBCD and J-JOBCD on an objective without a lower bound.

use crate::common::jobcd::{definite, options, solver};
use crate::common::{gaussian, limits};
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::{JProblem, covariance};
use orthopt_core::constraint::j_orthogonal::spectral_norm;

use orthopt::problem::PcaData;
use orthopt::solve::{MaxIterations, Solution, Status, run};
use orthopt::solvers::SolverOptions;
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::WorkingSet;
use orthopt::solvers::{JobcdOptions, Side};

fn unbounded(p: &JProblem, name: &str, o: &SolverOptions) -> Solution {
    let s = solver(p, name, o);
    let x0 = p.start("random", 1).unwrap();
    run(p, &s, x0, limits(200_000, 0), &mut MaxIterations(Some(200_000)), &mut []).unwrap()
}

/// The papers' objective has no lower bound, and every solver says so in finite numbers.
#[test]
fn the_reproduction_mode_is_unbounded() {
    for (n, p) in [(2, 1), (7, 3), (20, 10)] {
        let a = gaussian(2 * n, n, 3);
        let c = covariance(&PcaData::Dense(a.as_ref()), 0.0).unwrap();
        let problem = JProblem::reproduction(c.as_mat(), Signature::leading(p, n).unwrap()).unwrap();
        assert!(problem.is_reproduction() && problem.optimum().is_none());
        let start = problem.value(&problem.start("random", 1).unwrap());
        for (name, which) in [("gs-jobcd", Side::Rows), ("gs-jobcd", Side::Columns), ("j-jobcd", Side::Rows)]
        {
            for model in [Model::Exact, Model::Diagonal] {
                for working_set in [WorkingSet::Cyclic, WorkingSet::Random] {
                    let o = options(
                        JobcdOptions {
                            model,
                            side: which,
                            working_set: Some(working_set),
                            ..Default::default()
                        },
                        &[],
                    );
                    let s = unbounded(&problem, name, &o);
                    let what = format!("n {n}, {name}, {which:?}, {model:?}: {}", s.message);
                    assert_eq!(s.status, Status::Unbounded, "{what}");
                    assert!(s.message.contains("no lower bound"), "{what}");
                    assert!(s.x.find_non_finite().is_none() && s.objective.total.is_finite(), "{what}");
                    assert!(s.objective.total < 100.0 * start, "{what}: {}", s.objective.total);
                    let norm = spectral_norm(&s.x);
                    assert!((1e3..1e6).contains(&norm), "{what}: {norm}");
                    assert!(s.feasibility <= 100.0 * f64::EPSILON * norm * norm, "{what}: {}", s.feasibility);
                    assert!(s.trace.points().iter().all(|t| t.objective.is_finite()));
                }
            }
        }
    }
}

#[test]
fn the_limit_of_the_norm_is_the_users() {
    let c = definite(6, 0.0, 1);
    let problem = JProblem::reproduction(c.as_mat(), Signature::leading(3, 6).unwrap()).unwrap();
    let o = options(JobcdOptions::default(), &[("gs-jobcd-norm-limit", 20.0)]);
    let s = unbounded(&problem, "gs-jobcd", &o);
    let norm = spectral_norm(&s.x);
    assert!(s.status == Status::Unbounded && (10.0..400.0).contains(&norm), "{norm}");
}
