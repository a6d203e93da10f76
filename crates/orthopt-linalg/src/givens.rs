//! Factors an orthogonal matrix into plane rotations and at most one reflection
//! (OBCD paper, Theorem 3.1; first version, Listing 1).

use faer::MatRef;

use super::RowMat;
use crate::error::{Error, Result};
use crate::plane::{Branch, PairMove};

/// One factor: the identity except for the 2×2 block `rot` or `ref` on rows `i < j`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivensFactor {
    /// First row of the plane.
    pub i: usize,
    /// Second row of the plane.
    pub j: usize,
    /// The 2×2 orthogonal block acting on rows (i, j).
    pub block: PairMove,
}

/// Largest ‖DᵀD − I‖ entry accepted as orthogonal.
const TOLERANCE: f64 = 1e-10;

/// Writes D ∈ O(n) as a product `F_1 F_2 ⋯ F_m` of exactly m = n(n−1)/2 factors, each a
/// rotation of two rows except possibly the last, which is a reflection when det D = −1.
///
/// Column by column, every entry below the diagonal is rotated into the diagonal one; taking
/// the nonnegative length there makes the diagonal positive, so what remains in the end is a
/// 2×2 orthogonal block, itself the last factor. Cost O(n³).
///
/// # Errors
/// [`Error::NotOrthonormal`] when D is not square with DᵀD = I to 1e-10, or is the 1×1 matrix
/// −1, which is no product of plane factors.
///
/// # Examples
/// A reflection of the plane is a single factor:
/// ```
/// use orthopt::constraint::givens_factors;
///
/// let s = 1.0 / 5f64.sqrt();
/// let d = faer::mat![[2.0 * s, s], [s, -2.0 * s]];
/// let factors = givens_factors(d.as_ref())?;
/// assert_eq!(factors.len(), 1);
/// # Ok::<(), orthopt::Error>(())
/// ```
pub fn givens_factors(d: MatRef<'_, f64>) -> Result<Vec<GivensFactor>> {
    let n = d.nrows();
    let error = orthogonality_error(d);
    if d.ncols() != n || error.is_nan() || error > TOLERANCE || (n == 1 && d[(0, 0)] < 0.0) {
        return Err(Error::NotOrthonormal {
            what: "the matrix to factor".into(),
            error,
            tolerance: TOLERANCE,
        });
    }
    let mut work = RowMat::from_mat(d);
    let mut factors = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    for j in 0..n.saturating_sub(2) {
        for i in (j + 1..n).rev() {
            let (top, low) = (work.get(j, j), work.get(i, j));
            let h = top.hypot(low);
            let (c, s) = if h > 0.0 { (top / h, low / h) } else { (1.0, 0.0) };
            for k in j..n {
                let (a, b) = (work.get(j, k), work.get(i, k));
                work.set(j, k, c * a + s * b);
                work.set(i, k, c * b - s * a);
            }
            work.set(i, j, 0.0);
            factors.push(GivensFactor { i: j, j: i, block: PairMove::new(Branch::Rotation, c, -s) });
        }
    }
    if n >= 2 {
        let (i, j) = (n - 2, n - 1);
        let (v11, v12, v22) = (work.get(i, i), work.get(i, j), work.get(j, j));
        let det = v11 * v22 - v12 * work.get(j, i);
        let block = if det > 0.0 {
            PairMove::new(Branch::Rotation, v11, v12)
        } else {
            PairMove::new(Branch::Reflection, -v11, v12)
        };
        factors.push(GivensFactor { i, j, block });
    }
    Ok(factors)
}

/// Multiplies the factors out again: F_1 F_2 ⋯ F_m (n × n). Cost O(n³).
pub fn multiply_factors(n: usize, factors: &[GivensFactor]) -> RowMat {
    let mut out = RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
    for f in factors.iter().rev() {
        let v = f.block.matrix();
        for k in 0..n {
            let (a, b) = (out.get(f.i, k), out.get(f.j, k));
            out.set(f.i, k, v[0][0] * a + v[0][1] * b);
            out.set(f.j, k, v[1][0] * a + v[1][1] * b);
        }
    }
    out
}

fn orthogonality_error(d: MatRef<'_, f64>) -> f64 {
    let gram = d.transpose() * d;
    let mut worst = 0.0f64;
    for j in 0..gram.ncols() {
        for i in 0..gram.nrows() {
            let e = (gram[(i, j)] - f64::from(u8::from(i == j))).abs();
            if e.is_nan() {
                return e;
            }
            worst = worst.max(e);
        }
    }
    worst
}
