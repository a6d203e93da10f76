//! What Z of the relaxation, and multipliers of limits of nonzeros, prove of variance (docs/bounds.md, docs/bounds-limits.md).

use super::certain::{largest, peak, rounding, sum_of_largest};
use super::{Limited, LimitedWay, Limits, Refusal, Relaxed, Rows, Statement, matrix, refused};
use orthopt_linalg::RowMat;

/// What sums may be off by, of the size of their terms.
const OFF: f64 = 1e-12;

fn of_variance(problem: &Statement) -> Result<(), Refusal> {
    // adjusted and polar variance are at most the variance, so F is at least that of variance
    match problem.measure.as_str() {
        "variance" | "adjusted" | "polar" => Ok(()),
        other => refused(format!("there is no proof of {other} variance")),
    }
}

fn symmetric(rows: &Rows, n: usize, what: &str) -> Result<RowMat, Refusal> {
    match matrix(rows, n, Some(n)) {
        Some(m) if (0..n).all(|i| (0..i).all(|j| m.get(i, j) == m.get(j, i))) => Ok(m),
        Some(_) => refused(format!("{what} is not symmetric")),
        None => refused(format!("{what} is no {n} x {n} matrix of finite numbers")),
    }
}

/// ½C − Z, and what an entry is off by.
fn less(c: &RowMat, z: &RowMat) -> (RowMat, f64) {
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
        // λ' as whoever reads it writes it
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

/// The bound of the multipliers of docs/bounds-limits.md, section 1, with nothing known of the supports.
pub fn limits(problem: &Statement, limited: &Limited, c: &RowMat) -> Result<f64, Refusal> {
    of_variance(problem)?;
    let (n, r) = (c.nrows(), problem.rank);
    let stated = match &problem.limits {
        Some(Limits::Nonzeros(list)) => vec![list.iter().map(|k| *k.min(&n)).collect::<Vec<_>>()],
        Some(Limits::Variables(s)) => vec![vec![*s.min(&n)]],
        Some(Limits::Total(total)) => divided(*total, r, n),
        None => return refused("the problem has no limit of nonzeros"),
    };
    let sorted = |list: &Vec<usize>| {
        let mut list = list.clone();
        list.sort_unstable();
        list
    };
    let (mut asked, mut given): (Vec<_>, Vec<_>) =
        (stated.iter().map(sorted).collect(), limited.ways.iter().map(|way| sorted(&way.counts)).collect());
    asked.sort();
    given.sort();
    if asked != given {
        return refused("nonzeros are not given to the components in all ways that the limit allows");
    }
    let mut most = f64::NEG_INFINITY;
    for way in &limited.ways {
        most = most.max(of_way(problem, way, c)?);
    }
    Ok(-most - OFF * most.abs())
}

/// All ways to divide a total into r parts from 1 to n, in ascending order.
fn divided(total: usize, r: usize, n: usize) -> Vec<Vec<usize>> {
    let total = total.min(r * n);
    let mut all = vec![Vec::new()];
    for j in 0..r {
        let longer = |list: &Vec<usize>| {
            let (least, used) = (list.last().copied().unwrap_or(1), list.iter().sum::<usize>());
            let left = total.saturating_sub(used);
            let range =
                if j + 1 == r { left.max(least)..=left.min(n) } else { least..=(left / (r - j)).min(n) };
            range.map(|k| [list.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn of_way(problem: &Statement, way: &LimitedWay, c: &RowMat) -> Result<f64, Refusal> {
    let (n, parts) = (c.nrows(), way.counts.len());
    let m = problem.rank / parts.max(1);
    let sizes = [way.z.len(), way.u.len(), way.d.len(), way.a.len()];
    if parts == 0 || m * parts != problem.rank || sizes.iter().any(|size| *size != parts) {
        return refused("a way has not the multipliers of all of its parts");
    }
    // nothing stands for zero
    let joint = if way.w.is_empty() { None } else { Some(symmetric(&way.w, n, "W")?) };
    let w = joint.unwrap_or_else(|| RowMat::zeros(n, n));
    let pi = if way.pi.is_empty() { vec![0.0; n] } else { way.pi.clone() };
    if pi.len() != n || !(0..n).all(|i| pi[i] >= 0.0 && pi[i] <= w.get(i, i)) {
        return refused("pi is not between 0 and the diagonal of W");
    }
    let negative = RowMat::from_fn(n, n, |i, j| -w.get(i, j));
    let Some(below) = largest(&negative, 0.0) else { return refused("an eigenvalue is not finite") };
    let mut sum: f64 = (0..n).map(|i| w.get(i, i) - pi[i]).sum::<f64>() + n as f64 * below.max(0.0);
    let mut size = w.norm() * n as f64;
    for part in 0..parts {
        let k = way.counts[part];
        let (z, u) = (symmetric(&way.z[part], n, "Z")?, matrix(&way.u[part], n, Some(n)));
        let (Some(u), d, a) = (u, &way.d[part], &way.a[part]) else {
            return refused("U is no square matrix");
        };
        if d.len() != n
            || a.len() != n
            || !d.iter().all(|d| *d > 0.0 && d.is_finite())
            || !a.iter().all(|a| *a >= 0.0)
        {
            return refused("d or a of a part is not positive");
        }
        let sign = |v: f64| if problem.nonnegative { v.max(0.0) } else { v.abs() };
        let large = |i: usize, j: usize| sign(z.get(i, j)) > a[i] * a[j] * (1.0 + 1e-14);
        if (0..n).any(|i| (0..n).any(|j| large(i, j))) {
            return refused("Z of a part is larger than a allows");
        }
        let (of_m, of_k) = (m as f64, k as f64);
        let kappa = (of_m + (of_m * (of_k - 1.0) * (of_k - of_m)).max(0.0).sqrt()) / of_k;
        let mut costs: Vec<f64> = (0..n)
            .map(|i| {
                let mut others: Vec<f64> =
                    (0..n).filter(|j| *j != i).map(|j| sign(u.get(i, j)).powi(2)).collect();
                others.sort_by(|a, b| b.total_cmp(a));
                let large: f64 = sign(u.get(i, i)).powi(2) + others.iter().take(k - 1).sum::<f64>();
                (kappa * a[i] * a[i] + large / (4.0 * d[i]) + pi[i] - problem.lambda).max(0.0)
            })
            .collect();
        costs.sort_by(|a, b| b.total_cmp(a));
        let paid: f64 = costs.iter().take(k).sum();
        let taken = RowMat::from_fn(n, n, |i, j| {
            let diagonal = if i == j { d[i] } else { 0.0 };
            w.get(i, j) + z.get(i, j) + 0.5 * (u.get(i, j) + u.get(j, i)) - diagonal
        });
        let (left, _) = less(c, &taken.symmetric_part());
        let off = rounding(8)
            * (peak(c) + peak(&w) + peak(&z) + peak(&u) + d.iter().fold(0.0, |a: f64, d| a.max(*d)));
        let Some(found) = sum_of_largest(&left, m, off) else {
            return refused("an eigenvalue is not finite");
        };
        size += found.abs() + paid + problem.lambda * of_k;
        sum += found + paid;
    }
    Ok(sum + rounding(4 * n + 64) * size)
}
