//! Uncorrelated components that exist one after the other for every C: starts, and what the search is made of.

use std::sync::Arc;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::measured;
use super::portfolio::{cost_of_gradient, race};
use crate::search::cardinality_moves::{Anew, Shake};
use crate::search::measured_moves::Rotate;
use crate::search::moves::{Polish, Polished};
use crate::search::uncorrelated_moves::component_by_power;
use crate::search::{Portfolio, Tuning};
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::info::SolverOptions;
use orthopt_core::start::Start;
use orthopt_limits::overshoot::Overshoot;
use orthopt_limits::problem::MeasuredProblem;
use orthopt_limits::uncorrelated::{UncorrelatedExchange, rounded};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};

/// Starting points, the default first.
pub(super) const STARTS: &[(&str, &str)] = &[
    (
        "deflation",
        "components one after the other by truncated power iterations, uncorrelated with those before",
    ),
    ("pca", "the r leading eigenvectors of C, the largest entries kept"),
    ("varimax", "eigenvectors rotated towards few large entries, the largest kept"),
    ("coordinates", "the r variables with the largest variance: entries enter one by one"),
    ("random", "the largest entries of a random orthonormal matrix"),
    measured::PRUNED,
    measured::APART,
];

/// Solvers and starts: neither solver is the better one on all data. No data set went into it.
const ARMS: &[(&str, &str)] = &[
    (NAME, "deflation"),
    (OVER, "pruned"),
    (OVER, "apart"),
    (NAME, "varimax"),
    (OVER, "varimax"),
    (NAME, "coordinates"),
];
const NAME: &str = "uncorrelated-exchange";
const OVER: &str = measured::NAME;

/// The starting point called `name`.
pub(super) fn start(p: &MeasuredProblem, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
    let (f, r) = (p.f.quadratic(), p.rank());
    let feasible = |start: &'static str| {
        let why = || "no X with X'CX diagonal was found from it".to_string();
        let found = measured::named_start(p, start, seed, cancel)?;
        found.ok_or_else(|| Error::NoPlace { start, why: why(), instead: STARTS[0].0 })
    };
    let guide = match name {
        "pruned" => return feasible("pruned"),
        "apart" => return feasible("apart"),
        // there are no components to take away where C = 0: coordinates are uncorrelated then
        "deflation" => {
            deflation(p, seed, cancel).or_else(|| Start::Coordinates.point(f, r, false, seed).ok())
        }
        _ => Some(Start::parse(name)?.point_while(f, r, (false, seed), cancel)?),
    };
    guide.and_then(|guide| rounded(p, &guide)).ok_or_else(|| {
        Error::Incompatible("the data are zero or not finite: there is no component to find".into())
    })
}

/// Parts of the search for the best point.
pub(super) fn portfolio(
    p: &MeasuredProblem,
    options: &SolverOptions,
    start: Option<&Start>,
    tuning: Tuning,
) -> Result<Portfolio<MeasuredProblem>> {
    // before any task, which would count it as work of its own; where C is not kept exchanges alone take little
    let overshoots = p.f.covariance().matrix().is_some();
    let gradient = cost_of_gradient(p.f.quadratic(), (p.nrows(), p.rank()));
    let mut table = ARMS.to_vec();
    table.retain(|(solver, _)| overshoots || *solver != OVER);
    let mut all = race(p, &table, options, start, (gradient, Some(NAME)), tuning)?;
    all.polish = tuning.polish_at(gradient);
    let polish = Polish { solver: Arc::new(|_| AnySolver::new(UncorrelatedExchange)), most: all.polish };
    all.moves = vec![Arc::new(Polished(Shake, polish.clone())), Arc::new(Polished(Anew, polish.clone()))];
    if overshoots {
        let polish = Polish { solver: Arc::new(|_| AnySolver::new(Overshoot)), ..polish };
        all.moves.push(Arc::new(Polished(Rotate, polish)));
    }
    Ok(all)
}

/// Components one after the other from rows of large variance.
fn deflation(p: &MeasuredProblem, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x554e_434f);
    let mut x = RowMat::zeros(p.nrows(), p.rank());
    for k in 0..p.rank() {
        let v = component_by_power(p, &x, p.most(k), (&mut rng, cancel))?;
        v.iter().enumerate().for_each(|(i, e)| x.set(i, k, *e));
    }
    Some(x)
}
