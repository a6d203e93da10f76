//! Hyperbolic eigenvalues: min tr(XᵀCX) over XᵀJX = J, whose minimum is known in closed form.
//!
//! ```sh
//! cargo run -p orthopt --example j_orthogonal
//! ```

use orthopt::cancel::Cancel;
use orthopt::constraint::Signature;
use orthopt::family::Request;
use orthopt::prelude::*;
use orthopt::problem::JProblem;

/// Runs the example.
pub fn main() -> Result<()> {
    // C of order 12, positive definite; J has 7 ones and then 5 minus ones
    let c = faer::Mat::from_fn(12, 12, |i, j| {
        let (i, j) = (i.min(j) as f64, i.max(j) as f64);
        0.1 * (i + 0.3 * j).sin() * (1.0 + i) / (1.0 + j) + if i == j { 2.0 + i } else { 0.0 }
    });
    let problem = JProblem::hyperbolic_eig(c.as_ref(), Signature::leading(7, 12)?)?;

    // the first solver of the family from its first start, until no pair of rows lowers F
    let plan = problem.plan(&Request { seed: Some(1), ..Request::default() })?;
    let stopping = Stopping { max_iters: Some(10_000_000), time_limit: None, tol: 1e-10, min_decrease: 0.0 };
    let solution = plan.run(&problem, &Request::default(), &stopping, Some(0), &Cancel::never(), &mut [])?;

    let f = solution.objective.total;
    println!("{} by {}: {}", solution.status.name(), solution.solver, solution.message);
    println!("F = {f:.10}, mean |X'JX - J| = {:.0e}", solution.feasibility);
    if let Some(optimum) = problem.known_optimum() {
        println!("above the minimum by {:.0e} of it", (f - optimum) / optimum.abs());
        assert!((f - optimum).abs() <= 1e-8 * optimum.abs());
    }
    Ok(())
}
