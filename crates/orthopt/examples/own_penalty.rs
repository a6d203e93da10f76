//! A penalty of your own: its prox serves the first-order methods, and OBCD finds the best move of two
//! rows by the slow default search, which any separable h inherits.
//!
//! ```sh
//! cargo run -p orthopt --example own_penalty
//! ```

use orthopt::certify::{Scope, block_stationarity, criticality};
use orthopt::constraint::{Constraint, Stiefel};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::PairPenalty;
use orthopt::problem::Problem;
use orthopt::smooth::DenseQuadratic;
use orthopt::solve::{Critical, RunOptions, Stationary, Stop, run};
use orthopt::solvers::ManPg;
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// h(x) = up·max(x, 0) + down·max(−x, 0): negative entries cost something else than positive ones.
#[derive(Clone, Debug)]
struct Lopsided {
    up: f64,
    down: f64,
}

impl Nonsmooth for Lopsided {
    fn entry(&self, x: f64) -> f64 {
        if x > 0.0 { self.up * x } else { -self.down * x }
    }
    fn prox(&self, v: f64, mu: f64) -> f64 {
        (v - mu * self.up).max(0.0) + (v + mu * self.down).min(0.0)
    }
    fn subdifferential(&self, x: f64) -> (f64, f64) {
        (if x > 0.0 { self.up } else { -self.down }, if x < 0.0 { -self.down } else { self.up })
    }
    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0) // convex
    }
    fn lipschitz(&self) -> f64 {
        self.up.max(self.down)
    }
    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        Some((0.0, if x > 0.0 { self.up } else { -self.down }))
    }
    fn promotes_sparsity(&self) -> bool {
        true
    }
}

impl PairPenalty for Lopsided {}

/// Runs the example and checks its result.
pub fn main() -> orthopt::Result<()> {
    let c = faer::Mat::from_fn(8, 8, |i, j| (-0.1 * (i as f64 - j as f64).powi(2)).exp());
    let f = DenseQuadratic::negative(c.as_ref())?;
    let problem = Problem::new(f, Lopsided { up: 0.05, down: 0.4 }, 2)?;
    let x0 = problem.constraint.random(&mut Pcg64::seed_from_u64(1));
    let options = RunOptions { max_iterations: Some(100_000), ..Default::default() };
    let mut stop = Stationary { tol: 1e-9 }.or(Critical { tol: 1e-9 });

    let manpg = run(&problem, &ManPg::ADAPTIVE, x0.clone(), options.clone(), &mut stop, &mut [])?;
    println!(
        "manpg-ada: F = {:.6}, criticality {:.0e}",
        manpg.objective.total,
        criticality(&problem, &manpg.x)
    );
    assert!(criticality(&problem, &manpg.x) < 1e-5);

    let obcd = Obcd::new(ObcdOptions::default())?;
    let obcd = run::<Problem<Stiefel, _, _>, _>(&problem, &obcd, manpg.x, options, &mut stop, &mut [])?;
    let certificate = block_stationarity(&problem, &obcd.x, Scope::All);
    println!("obcd from there: F = {:.6}, no pair lowers it by {:.0e}", obcd.objective.total, 1e-8);
    assert!(obcd.objective.total <= manpg.objective.total + 1e-12 && certificate.holds(1e-8));
    Ok(())
}
