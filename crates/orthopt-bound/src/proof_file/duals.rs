//! Bound of variance that Z of the relaxation proves (docs/bounds.md).

use super::certain::{peak, rounding, sum_of_largest};
use super::{Limits, Refusal, Relaxed, Rows, Statement, matrix, refused};
use orthopt_linalg::RowMat;

/// Largest error of sums, as a share of the size of their terms.
const OFF: f64 = 1e-12;

pub fn of_variance(problem: &Statement) -> Result<(), Refusal> {
    // adjusted and polar variance are at most the variance, so F is at least that of variance
    match problem.measure.as_str() {
        "variance" | "adjusted" | "polar" => Ok(()),
        other => refused(format!("there is no proof of {other} variance")),
    }
}

pub fn symmetric(rows: &Rows, n: usize, what: &str) -> Result<RowMat, Refusal> {
    match matrix(rows, n, Some(n)) {
        Some(m) if (0..n).all(|i| (0..i).all(|j| m.get(i, j) == m.get(j, i))) => Ok(m),
        Some(_) => refused(format!("{what} is not symmetric")),
        None => refused(format!("{what} is no {n} x {n} matrix of finite numbers")),
    }
}

/// ½C − Z, and what an entry is off by.
pub fn less(c: &RowMat, z: &RowMat) -> (RowMat, f64) {
    let m = RowMat::from_fn(c.nrows(), c.nrows(), |i, j| 0.5 * c.get(i, j) - z.get(i, j)).symmetric_part();
    (m, rounding(3) * (peak(c) + peak(z)))
}

/// F ≥ −Σ_r(½C − Z) − μK, where h(X) ≥ λ'‖XX'‖₁,₁, ‖XX'‖₁,₁ ≤ K and |Zᵢⱼ| ≤ λ' + μ.
pub fn relaxation(problem: &Statement, relaxed: &Relaxed, c: &RowMat) -> Result<f64, Refusal> {
    of_variance(problem)?;
    let r = problem.rank;
    let z = symmetric(&relaxed.z, c.nrows(), "Z")?;
    let root = (r as f64).sqrt();
    let (weight, budget) = match &problem.limits {
        None => (problem.lambda, None),
        Some(Limits::Nonzeros(list)) => (problem.lambda, Some(list.iter().sum::<usize>() as f64)),
        Some(Limits::Total(total)) => (problem.lambda, Some(*total as f64)),
        Some(Limits::Variables(s)) => (problem.lambda / root, Some(*s as f64 * root)),
    };
    let mut beyond = 0.0;
    if problem.nonnegative && problem.limits.is_none() && problem.lambda == 0.0 {
        if z.data().iter().any(|v| *v > 0.0) {
            return refused("Z has a positive entry");
        }
    } else {
        // λ' as its reader writes it
        beyond = (peak(&z) - weight * (1.0 + 4.0 * f64::EPSILON)).max(0.0);
    }
    let paid = match (beyond > 0.0, budget) {
        (false, _) => 0.0,
        (true, Some(budget)) => beyond * budget,
        (true, None) => return refused("an entry of Z is larger than lambda"),
    };
    let (m, off) = less(c, &z);
    let Some(sum) = sum_of_largest(&m, r, off) else { return refused("an eigenvalue is not finite") };
    Ok(-(sum + paid) - OFF * (sum.abs() + paid))
}
