//! An f of which only values and gradients are known, with a penalty of the library: pairs and blocks of rows on a
//! majoriser, one gradient a round.
//!
//! ```sh
//! cargo run -p orthopt --example any_smooth
//! ```

use orthopt::RowMat;
use orthopt::certify::criticality;
use orthopt::penalty::L1;
use orthopt::problem::Problem;
use orthopt::smooth::Smooth;
use orthopt::solve::{Critical, RunOptions, Status, run};
use orthopt::solvers::obcd::ObcdOptions;
use orthopt::solvers::{SolverOptions, pairwise};

/// f(X) = ½ Σᵢ ‖xᵢ − xᵢ₊₁‖² + (κ/4) Σᵢ ‖xᵢ‖⁴, particles on a ring that repel each other: of degree 4, and neither
/// convex on XᵀX = I nor concave.
struct Particles {
    n: usize,
    repulsion: f64, // κ
}

impl Smooth for Particles {
    fn nrows(&self) -> usize {
        self.n
    }
    fn value(&self, x: &RowMat) -> f64 {
        let step = |i: usize| {
            (x.row(i).iter().zip(x.row((i + 1) % self.n)).map(|(a, b)| (a - b).powi(2))).sum::<f64>()
        };
        let kinetic: f64 = (0..self.n).map(step).map(|v| 0.5 * v).sum();
        kinetic + (0..self.n).map(|i| 0.25 * self.repulsion * density(x, i).powi(2)).sum::<f64>()
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        for i in 0..self.n {
            let (before, after) = (x.row((i + self.n - 1) % self.n), x.row((i + 1) % self.n));
            let own = 2.0 + self.repulsion * density(x, i);
            let row = g.row_mut(i).iter_mut().enumerate();
            row.for_each(|(k, g)| *g = own * x.get(i, k) - before[k] - after[k]);
        }
    }
}

/// ‖xᵢ‖².
fn density(x: &RowMat, i: usize) -> f64 {
    x.row(i).iter().map(|v| v * v).sum()
}

/// Runs the example and checks its result.
pub fn main() -> orthopt::Result<()> {
    let problem = Problem::new(Particles { n: 16, repulsion: 8.0 }, L1::new(0.05)?, 3)?;
    // three columns with disjoint supports
    let x0 = RowMat::from_fn(16, 3, |i, k| if i % 3 == k { 1.0 / ((18 - k) / 3) as f64 } else { 0.0 });
    let x0 = RowMat::from_fn(16, 3, |i, k| x0.get(i, k).sqrt());
    for (what, block) in [("pairs", 2), ("blocks of 6 rows", 6)] {
        let options = ObcdOptions { block, ..ObcdOptions::default() };
        let solver = pairwise()[0].build(&problem, &SolverOptions { obcd: options, ..Default::default() })?;
        let mut stop = Critical { tol: 1e-6 };
        let found = run(&problem, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut [])?;
        let (f, from, critical) =
            (found.objective.total, problem.value(&x0), criticality(&problem, &found.x));
        println!("{what}: F = {f:.6} from {from:.6}, criticality {critical:.0e}, {}", found.message);
        assert!(f < from - 0.1 && found.feasibility < 1e-13);
        assert!(matches!(found.status, Status::Converged | Status::Stalled));
    }
    Ok(())
}
