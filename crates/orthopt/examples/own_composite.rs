//! A concave part and a linear map of your own, with OADMM.
//!
//! ```sh
//! cargo run -p orthopt --example own_composite
//! ```

use orthopt::RowMat;
use orthopt::concave::Concave;
use orthopt::constraint::Constraint;
use orthopt::linear_map::LinearMap;
use orthopt::penalty::L1;
use orthopt::problem::Problem;
use orthopt::smooth::DenseQuadratic;
use orthopt::solve::{RunOptions, Stationary, run};
use orthopt::solvers::{Oadmm, OadmmOptions};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// g(X) = λ Σ max |xᵢₖ| over the columns k: the largest entry of every component is free.
#[derive(Clone, Debug)]
struct Peaks(f64);

impl Peaks {
    fn peak(x: &RowMat, k: usize) -> usize {
        (0..x.nrows()).fold(0, |best, i| if x.get(i, k).abs() > x.get(best, k).abs() { i } else { best })
    }
}

impl Concave for Peaks {
    fn value(&self, x: &RowMat) -> f64 {
        (0..x.ncols()).map(|k| self.0 * x.get(Self::peak(x, k), k).abs()).sum()
    }
    fn subgradient(&self, x: &RowMat, xi: &mut RowMat) {
        xi.data_mut().fill(0.0);
        (0..x.ncols())
            .map(|k| (Self::peak(x, k), k))
            .for_each(|(i, k)| xi.set(i, k, self.0 * x.get(i, k).signum()));
    }
}

/// A(X)ᵢ = xᵢ − xᵢ₊₁ with the rows on a ring, so A is n × r to n × r and Aᵀ goes the other way round.
#[derive(Clone, Debug)]
struct Around;

impl LinearMap for Around {
    fn output(&self, input: (usize, usize)) -> orthopt::Result<(usize, usize)> {
        Ok(input)
    }
    fn apply(&self, x: &RowMat) -> RowMat {
        RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k) - x.get((i + 1) % x.nrows(), k))
    }
    fn adjoint(&self, y: &RowMat, (n, r): (usize, usize)) -> RowMat {
        RowMat::from_fn(n, r, |i, k| y.get(i, k) - y.get((i + n - 1) % n, k))
    }
    fn norm(&self, _input: (usize, usize)) -> f64 {
        2.0
    }
}

/// Runs the example and checks its result.
pub fn main() -> orthopt::Result<()> {
    // blocks of 6 rows, of which the last two weigh most: piecewise constant components
    let c = faer::Mat::from_fn(30, 30, |i, j| ((i / 6) as f64 + 1.0) * f64::from(u8::from(i / 6 == j / 6)));
    let planted = RowMat::from_fn(30, 2, |i, k| f64::from(u8::from(i / 6 == 4 - k)) / 6f64.sqrt());
    let f = DenseQuadratic::negative(c.as_ref())?;
    let problem = Problem::new(f, L1::new(0.5)?, 2)?.minus(Peaks(0.2))?.through(Around)?;
    let x0 = problem.constraint.random(&mut Pcg64::seed_from_u64(3));

    let oadmm = Oadmm::new(OadmmOptions::FAST)?;
    let options = RunOptions { max_iterations: Some(20_000), ..Default::default() };
    let mut stop = Stationary { tol: 1e-7 };
    let (from, best) = (problem.value(&x0), problem.value(&planted));
    let found = run(&problem, &oadmm, x0, options, &mut stop, &mut [])?;
    println!("oadmm: F = {:.4} from {from:.4}; the planted blocks have {best:.4}", found.objective.total);
    assert!(found.feasibility < 1e-11 && found.objective.total < best + 1e-2);
    Ok(())
}
