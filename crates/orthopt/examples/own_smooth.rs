//! An f of your own. ManPG asks for its value and gradient; OBCD for the capability `Quadratic`: rows of
//! the gradient and entries of M.
//!
//! ```sh
//! cargo run -p orthopt --example own_smooth
//! ```

use orthopt::RowMat;
use orthopt::certify::{Scope, block_stationarity};
use orthopt::penalty::L1;
use orthopt::problem::Problem;
use orthopt::smooth::Simd;
use orthopt::smooth::{Quadratic, Smooth};
use orthopt::solve::{AnySolver, RunOptions, Stationary, run};
use orthopt::solvers::ManPg;
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::leading_eigenvectors;

/// f(X) = ½ Σᵢ ‖xᵢ − xᵢ₊₁‖², the rows on a ring: M is tridiag(−1, 2, −1) with two corners.
struct Ring {
    n: usize,
}

impl Smooth for Ring {
    fn nrows(&self) -> usize {
        self.n
    }
    fn value(&self, x: &RowMat) -> f64 {
        0.5 * x.inner(&self.apply(x))
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        (0..self.n).for_each(|i| {
            self.gradient_row(&(), x, i, g.row_mut(i));
        });
    }
    fn is_quadratic(&self) -> bool {
        true
    }
}

impl Quadratic for Ring {
    type Image = (); // nothing is kept: a row of the gradient comes from its neighbours

    fn image(&self, _x: &RowMat) {}
    fn gradient_row<'a>(&'a self, _: &'a (), x: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
        let (before, after) = (x.row((i + self.n - 1) % self.n), x.row((i + 1) % self.n));
        buf.iter_mut().enumerate().for_each(|(k, g)| *g = 2.0 * x.get(i, k) - before[k] - after[k]);
        buf
    }
    fn curvature(&self, i: usize, j: usize) -> f64 {
        let apart = (i + self.n - j) % self.n;
        if apart == 0 { 2.0 } else { -f64::from(u8::from(apart == 1 || apart == self.n - 1)) }
    }
    fn move_pair<S: Simd>(&self, _: S, _: &mut (), _: usize, _: usize, _: &[f64], _: &[f64]) {}
    fn apply(&self, v: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(v.nrows(), v.ncols());
        self.gradient(v, &mut out);
        out
    }
}

/// Runs the example and checks its result.
pub fn main() -> orthopt::Result<()> {
    let problem = Problem::new(Ring { n: 12 }, L1::new(0.1)?, 3)?;
    let x0 = leading_eigenvectors(&problem.f, 3)?;
    let solvers: [AnySolver<_>; 2] =
        [AnySolver::new(ManPg::FIXED), AnySolver::new(Obcd::new(ObcdOptions::default())?)];
    for solver in solvers {
        let mut stop = Stationary { tol: 1e-9 };
        let found = run(&problem, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut [])?;
        let (f, from) = (found.objective.total, problem.value(&x0));
        let certificate = block_stationarity(&problem, &found.x, Scope::All);
        println!("{}: F = {f:.6} from {from:.6}, pairs offer {:.0e}", found.solver, certificate.max_decrease);
        assert!(f < from - 0.1 && found.feasibility < 1e-11);
        assert!(found.solver != "obcd" || certificate.holds(1e-8));
    }
    Ok(())
}
