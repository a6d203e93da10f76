//! Starting points X⁰ ∈ St(n, r) (docs/mathematics.md, section 11).

mod in_box;

use rand::RngExt;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::constraint::stiefel;
use crate::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::block_krylov::{BlockKrylov, Found};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::krylov::{Operator, leading};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::ascending_to;
use orthopt_linalg::varimax::varimax;

pub use in_box::in_box;

/// A starting point X⁰: how to choose it, or the point itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// The first r columns of I_n.
    Identity,
    /// The r coordinates with the largest Cᵢᵢ = −Mᵢᵢ.
    Coordinates,
    /// The r leading eigenvectors of C = −M. For nonnegative problems each variable is given
    /// to the component where its loading is largest in absolute value.
    Pca,
    /// The r leading eigenvectors, rotated among themselves towards few large entries each (varimax).
    Varimax,
    /// Q of a Gaussian matrix. Not feasible for nonnegative problems.
    Random,
    /// A random partition of the variables into r nonempty groups Gₖ, X(Gₖ, k) = 1/√|Gₖ|.
    Partition,
    /// One that a problem has besides these, by its name.
    Named(String),
    /// A point of the user's own.
    Given(RowMat),
}

/// Names of the starting points users can type, with one line each; a file name is accepted too.
pub const STARTS: &[(&str, &str)] = &[
    ("identity", "the first r columns of the identity"),
    ("coordinates", "the r variables with the largest variance"),
    ("pca", "the r leading eigenvectors of C (nonnegative problems: rounded to a partition)"),
    ("varimax", "the same eigenvectors rotated towards few large entries in each component"),
    ("random", "Q of a Gaussian matrix"),
    ("partition", "a random partition of the variables, one group per component"),
];

/// The error for a name that is none of these starting points.
pub fn unknown(name: &str, starts: &[(&str, &str)]) -> Error {
    let known = starts.iter().map(|s| s.0).collect::<Vec<_>>().join(", ");
    Error::UnknownName { kind: "starting point", name: name.into(), known: known + ", or a .npy file" }
}

impl Start {
    /// Parses one of [`STARTS`].
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn parse(name: &str) -> Result<Self> {
        match Self::named(name) {
            Self::Named(_) => Err(unknown(name, STARTS)),
            start => Ok(start),
        }
    }

    /// The start called `name`, of [`STARTS`] or of a problem; whether a problem has it shows when its point is asked
    /// for.
    pub fn named(name: &str) -> Self {
        match name {
            "identity" => Self::Identity,
            "coordinates" => Self::Coordinates,
            "pca" => Self::Pca,
            "varimax" => Self::Varimax,
            "random" => Self::Random,
            "partition" => Self::Partition,
            _ => Self::Named(name.into()),
        }
    }

    /// Its name, or `file`.
    pub fn name(&self) -> &str {
        match self {
            Self::Identity => "identity",
            Self::Coordinates => "coordinates",
            Self::Pca => "pca",
            Self::Varimax => "varimax",
            Self::Random => "random",
            Self::Partition => "partition",
            Self::Named(name) => name,
            Self::Given(_) => "file",
        }
    }

    /// The point X⁰ (n × r) for the smooth part `f`; `nonneg` asks for X⁰ ≥ 0.
    ///
    /// # Errors
    /// A start that cannot be nonnegative, a given X of the wrong shape, not orthonormal to
    /// 1e-6, or negative; an eigenvalue routine that fails.
    pub fn point(&self, f: &impl Quadratic, r: usize, nonneg: bool, seed: u64) -> Result<RowMat> {
        self.point_while(f, r, (nonneg, seed), &Cancel::never())
    }

    /// The point X⁰ as in [`Start::point`]. If `cancel` is set, eigenvectors stay what they are.
    #[doc(hidden)]
    pub fn point_while(
        &self,
        f: &impl Quadratic,
        r: usize,
        (nonneg, seed): (bool, u64),
        cancel: &Cancel,
    ) -> Result<RowMat> {
        let n = f.nrows();
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x5354_4152_545f_5830);
        let coordinate = |order: &[usize]| RowMat::from_fn(n, r, |i, k| f64::from(u8::from(order[k] == i)));
        Ok(match self {
            Self::Identity => coordinate(&(0..r).collect::<Vec<_>>()),
            Self::Coordinates => {
                let diagonal = f.diagonal();
                coordinate(&ascending_to(n, &|i| diagonal[i]))
            }
            Self::Pca => {
                let v = eigenvectors_while(f, r, cancel)?;
                if nonneg { round_to_partition(&v) } else { v }
            }
            Self::Varimax => {
                let v = eigenvectors_while(f, r, cancel)?;
                let v = cancel.during(|| varimax(&v));
                if nonneg { round_to_partition(&v) } else { v }
            }
            Self::Random if nonneg => {
                return Err(Error::Incompatible(Message::default().set("init", "random").text(
                    " is not nonnegative: use partition, pca, coordinates or identity for nonneg-pca",
                )));
            }
            Self::Random => stiefel::random(n, r, &mut rng),
            Self::Partition => partition(n, r, &mut rng),
            Self::Named(name) => return Err(unknown(name, STARTS)),
            Self::Given(x) => given(x, n, r, nonneg)?,
        })
    }
}

fn given(x: &RowMat, n: usize, r: usize, nonneg: bool) -> Result<RowMat> {
    repaired(x, n, r, nonneg, "the starting point X")
}

/// An X from outside, called `what` in errors, with XᵀX = I to rounding; its zeros stay.
///
/// # Errors
/// As [`stiefel::check`]; a negative entry where there must be none; no orthonormal matrix near X on its support.
pub fn repaired(x: &RowMat, n: usize, r: usize, nonneg: bool, what: &str) -> Result<RowMat> {
    stiefel::check(x, n, r, what)?;
    if nonneg && let Some(k) = x.data().iter().position(|v| *v < 0.0) {
        return Err(Error::Negative {
            what: what.into(),
            row: k / r + 1,
            col: k % r + 1,
            value: x.data()[k],
        });
    }
    let mut x = x.clone();
    let mut error = stiefel::repair_on_support(&mut x);
    // where two columns overlap in tiny entries the repair takes these away, some by more than there
    // is; those leave the support, so this ends
    while nonneg && x.data().iter().any(|v| *v < 0.0) {
        x.data_mut().iter_mut().for_each(|v| *v = v.max(0.0));
        error = stiefel::repair_on_support(&mut x);
    }
    if error > 1e-12 {
        return Err(Error::NotOrthonormal { what: what.into(), error, tolerance: 1e-12 });
    }
    Ok(x)
}

/// Uniform assignment of rows to groups, one row of every group fixed first so that none is
/// empty.
fn partition(n: usize, r: usize, rng: &mut Pcg64) -> RowMat {
    let mut rows: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        rows.swap(i, rng.random_range(0..=i));
    }
    let mut group = vec![0; n];
    for (k, row) in rows.iter().enumerate() {
        group[*row] = if k < r { k } else { rng.random_range(0..r) };
    }
    from_groups(&group, r)
}

fn from_groups(group: &[usize], r: usize) -> RowMat {
    let mut size = vec![0usize; r];
    group.iter().for_each(|k| size[*k] += 1);
    RowMat::from_fn(group.len(), r, |i, k| if group[i] == k { 1.0 / (size[k] as f64).sqrt() } else { 0.0 })
}

/// A nonnegative orthonormal matrix near V: row i keeps the entry where |Vᵢₖ| is largest, signs
/// of a column by its heavier half, entries of the lighter half dropped; columns left empty get
/// the heaviest variables not used.
pub fn round_to_partition(v: &RowMat) -> RowMat {
    let (n, r) = (v.nrows(), v.ncols());
    let mut sign = vec![1.0; r];
    for (k, s) in sign.iter_mut().enumerate() {
        let (mut plus, mut minus) = (0.0, 0.0);
        for i in 0..n {
            let x = v.get(i, k);
            if x > 0.0 { plus += x * x } else { minus += x * x }
        }
        *s = if plus >= minus { 1.0 } else { -1.0 };
    }
    largest_of_rows(&RowMat::from_fn(n, r, |i, k| (sign[k] * v.get(i, k)).max(0.0)))
}

/// An orthonormal matrix near V with columns that share no row: every row keeps its largest entry, columns have unit
/// length; empty columns get a row of a column with several.
pub fn largest_of_rows(v: &RowMat) -> RowMat {
    let (n, r) = (v.nrows(), v.ncols());
    let mut x = RowMat::zeros(n, r);
    let (mut owner, mut size) = (vec![None; n], vec![0usize; r]);
    for i in 0..n {
        let row = v.row(i);
        let best = (0..r).max_by(|a, b| row[*a].abs().total_cmp(&row[*b].abs()));
        owner[i] = best.filter(|k| row[*k] != 0.0);
        if let Some(k) = owner[i] {
            x.set(i, k, row[k]);
            size[k] += 1;
        }
    }
    // n ≥ r, so there is one; those before `next` cannot be spared, and that does not change
    let mut next = 0;
    for k in (0..r).filter(|k| !owner.contains(&Some(*k))).collect::<Vec<_>>() {
        while let Some(Some(l)) = owner.get(next)
            && size[*l] < 2
        {
            next += 1;
        }
        if let Some(before) = owner.get_mut(next) {
            if let Some(l) = before.replace(k) {
                size[l] -= 1;
            }
            size[k] = 1;
            x.row_mut(next).fill(0.0);
            x.set(next, k, 1.0);
        }
    }
    for k in 0..r {
        let norm = (0..n).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt();
        (0..n).for_each(|i| x.set(i, k, x.get(i, k) / norm));
    }
    x
}

/// The eigenvectors of C = −M for its r largest eigenvalues (n × r), each with a positive sum
/// of cubes so that signs are reproducible.
///
/// # Errors
/// The eigenvalue routine does not converge.
pub fn leading_eigenvectors(f: &impl Quadratic, r: usize) -> Result<RowMat> {
    eigenvectors_while(f, r, &Cancel::never())
}

/// [`leading_eigenvectors`] of f that `cancel` can end.
pub fn eigenvectors_while(f: &impl Quadratic, r: usize, cancel: &Cancel) -> Result<RowMat> {
    let found = if f.nrows() > DENSE.max(4 * r) { by_krylov(f, r, cancel) } else { None };
    let v = match found {
        Some(v) => v,
        None => match cancel.during(|| by_magnitude(f, r)) {
            // the coordinates of largest variance are what there is without a decomposition
            Err(Error::Factorisation(_)) if cancel.is_over() => {
                let (diagonal, mut v) = (f.diagonal(), RowMat::zeros(f.nrows(), r));
                let order = ascending_to(f.nrows(), &|i| diagonal[i]);
                (0..r).for_each(|k| v.set(order[k], k, 1.0));
                return Ok(v);
            }
            found => found?,
        },
    };
    // re-orthonormalised: also a basis that has not fully converged is a feasible start
    let mut v = stiefel::orthonormalise(&v);
    if v.find_non_finite().is_some() {
        return Err(Error::Factorisation("the partial eigenvalue decomposition"));
    }
    stiefel::repair_on_support(&mut v);
    for k in 0..r {
        let skew: f64 = (0..v.nrows()).map(|i| v.get(i, k).powi(3)).sum();
        if skew < 0.0 {
            (0..v.nrows()).for_each(|i| v.set(i, k, -v.get(i, k)));
        }
    }
    Ok(v)
}

/// Up to this n all eigenvectors are computed.
const DENSE: usize = 128;
/// ‖CX − XΘ‖_F relative to the largest |θ| at which the eigenvectors are good enough for a start.
const GOOD: f64 = 1e-10;
/// Block steps after which the eigenvalues are too close to each other for the iteration.
const MOST_STEPS: usize = 1000;

/// By block Krylov iteration from a random block, as far as it has come when `cancel` says so; `None` where
/// it does not come to an end.
fn by_krylov(f: &impl Quadratic, r: usize, cancel: &Cancel) -> Option<RowMat> {
    let mut rng = Pcg64::seed_from_u64(0x4b72_796c_6f76);
    let mut krylov = BlockKrylov::new(&stiefel::random(f.nrows(), r, &mut rng), r);
    let times = |b: &RowMat| {
        let mut y = f.apply(b);
        y.data_mut().iter_mut().for_each(|y| *y = -*y);
        y
    };
    for _ in 0..MOST_STEPS {
        match krylov.step(times) {
            Found::Residual(residual) if residual <= GOOD || cancel.is_over() => {
                return krylov.leading().map(|l| l.1);
            }
            Found::Broken => return None,
            _ => {}
        }
    }
    None
}

/// As those of largest magnitude of σI − M, with σ > 0 where C may be indefinite.
fn by_magnitude(f: &impl Quadratic, r: usize) -> Result<RowMat> {
    let shift = if f.is_concave() { 0.0 } else { f.norm() };
    let apply = |v: &RowMat| {
        let mut y = f.apply(v);
        y.data_mut().iter_mut().zip(v.data()).for_each(|(y, v)| *y = shift * v - *y);
        y
    };
    Ok(leading(&Operator { n: f.nrows(), apply: &apply }, r)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::stiefel::feasibility;

    /// Whatever V is, the columns are orthonormal, share no row, and rows keep their largest entry.
    #[test]
    fn rows_keep_their_largest_entry() {
        let wild = |i: usize, k: usize| ((i * 7 + k * 13 + 3) as f64).sin();
        for (n, r) in [(1, 1), (5, 5), (9, 4), (40, 12)] {
            let dense = RowMat::from_fn(n, r, wild);
            let x = largest_of_rows(&dense);
            // all in one column, in one row, nothing at all
            let one = RowMat::from_fn(n, r, |i, k| if k == 0 { wild(i, k) } else { 0.0 });
            let row = RowMat::from_fn(n, r, |i, k| if i == n - 1 { wild(i, k) } else { 0.0 });
            for x in
                [&x, &largest_of_rows(&one), &largest_of_rows(&row), &largest_of_rows(&RowMat::zeros(n, r))]
            {
                assert!(feasibility(x) <= 1e-14, "{n} {r}: {:e}", feasibility(x));
                assert!((0..n).all(|i| x.row(i).iter().filter(|v| **v != 0.0).count() <= 1), "{n} {r}");
            }
            let largest = |i: usize| dense.row(i).iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let moved = (0..n)
                .filter(|i| (0..r).any(|k| x.get(*i, k) != 0.0 && dense.get(*i, k).abs() < largest(*i)));
            assert!(moved.count() < r, "{n} {r}"); // rows that were given to an empty column
        }
    }
}
