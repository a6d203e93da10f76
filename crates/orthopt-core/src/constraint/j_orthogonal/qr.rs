//! The hyperbolic QR factorisation.

use faer::MatRef;

use super::Signature;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// A = QR with QᵀJQ = S.
#[derive(Clone, Debug, PartialEq)]
pub struct HyperbolicQr {
    /// Q (n × r), columns of a J-orthogonal matrix.
    pub q: RowMat,
    /// R (r × r), upper triangular with a positive diagonal.
    pub r: RowMat,
    /// The diagonal of S, signs of J in some order.
    pub signs: Vec<f64>,
}

/// Sizes of the two numbers of a hyperbolic rotation that are equal up to rounding.
const EQUAL: f64 = 16.0 * f64::EPSILON;

/// The hyperbolic QR factorisation of A (n × r, r ≤ n): A = QR and QᵀJQ = S, a diagonal of signs. It exists where no leading
/// principal minor of AᵀJA vanishes, and is then unique, with S the signs of the ratios of these minors; RᵀSR = AᵀJA. With
/// J = I it is the QR factorisation.
///
/// Column by column, rotations bring what is left of a column into one row with J = 1 and one with J = −1, and a hyperbolic rotation into
/// the larger of the two. Rounding errors are relative to ‖Q‖², which has no bound. Cost O(n²r).
///
/// # Errors
/// More columns than rows, entries that are not finite, a J of another order; a minor that vanishes, with its column.
///
/// # Examples
/// ```
/// use orthopt::constraint::{Signature, hyperbolic_qr};
///
/// let a = faer::mat![[3.0, 1.0], [1.0, 2.0], [2.0, 1.0]];
/// let j = Signature::leading(2, 3)?; // 1, 1, −1
/// let found = hyperbolic_qr(a.as_ref(), &j)?;
/// // A'JA has the leading minors 6 and 15, both positive
/// assert_eq!(found.signs, [1.0, 1.0]);
/// assert!((found.r.get(0, 0) - 6f64.sqrt()).abs() < 1e-14 && found.r.get(1, 0) == 0.0);
/// let back: f64 = (0..2).map(|k| found.q.get(1, k) * found.r.get(k, 1)).sum();
/// assert!((back - 2.0).abs() < 1e-13);
/// # Ok::<(), orthopt::Error>(())
/// ```
pub fn hyperbolic_qr(a: MatRef<'_, f64>, j: &Signature) -> Result<HyperbolicQr> {
    let (n, r) = (a.nrows(), a.ncols());
    let what = || "the matrix A".to_string();
    if r > n || n != j.len() {
        let (expected_rows, expected_cols) = (j.len(), r.min(j.len()));
        return Err(Error::Shape { what: what(), rows: n, cols: r, expected_rows, expected_cols });
    }
    let mut w = RowMat::from_mat(a);
    if let Some((i, k)) = w.find_non_finite() {
        return Err(Error::NotFinite { what: what(), row: i + 1, col: k + 1 });
    }
    let mut p = RowMat::from_fn(n, n, |i, k| f64::from(u8::from(i == k))); // W = PA
    let mut left: Vec<usize> = (0..n).collect();
    let mut pivots = Vec::with_capacity(r);
    for k in 0..r {
        let mut ends = [None, None]; // what the column has left in rows with J = 1 and J = −1
        for i in &left {
            let end = &mut ends[usize::from(j.sign(*i) < 0.0)];
            let Some(into) = *end else {
                *end = Some(*i);
                continue;
            };
            let (x, y) = (w.get(into, k), w.get(*i, k));
            let length = x.hypot(y);
            if y != 0.0 {
                turn([&mut w, &mut p], (into, *i), [[x / length, y / length], [-y / length, x / length]]);
                w.set(*i, k, 0.0);
            }
        }
        let size = |end: Option<usize>| end.map_or(0.0, |i| w.get(i, k).abs());
        let (plus, minus) = (size(ends[0]), size(ends[1]));
        let (into, other, small, large) =
            if plus > minus { (ends[0], ends[1], minus, plus) } else { (ends[1], ends[0], plus, minus) };
        let Some(into) = into.filter(|_| large - small > EQUAL * large) else {
            let text = format!(
                "there is no hyperbolic QR factorisation: the leading minor of order {} of A'JA vanishes",
                k + 1
            );
            return Err(Error::Incompatible(text.into()));
        };
        if let Some(other) = other.filter(|_| small > 0.0) {
            let t = w.get(other, k) / w.get(into, k);
            let c = 1.0 / ((1.0 - t) * (1.0 + t)).sqrt();
            turn([&mut w, &mut p], (into, other), [[c, -c * t], [-c * t, c]]);
            w.set(other, k, 0.0);
        }
        if w.get(into, k) < 0.0 {
            for m in [&mut w, &mut p] {
                m.row_mut(into).iter_mut().for_each(|v| *v = -*v);
            }
        }
        left.retain(|i| *i != into);
        pivots.push(into);
    }
    // P⁻¹ = JPᵀJ
    let q = RowMat::from_fn(n, r, |i, k| j.sign(i) * p.get(pivots[k], i) * j.sign(pivots[k]));
    let triangle = RowMat::from_fn(r, r, |k, l| if l >= k { w.get(pivots[k], l) } else { 0.0 });
    Ok(HyperbolicQr { q, r: triangle, signs: pivots.iter().map(|i| j.sign(*i)).collect() })
}

/// Rows i and j of every matrix become their combinations.
fn turn(all: [&mut RowMat; 2], (i, j): (usize, usize), v: [[f64; 2]; 2]) {
    for m in all {
        for k in 0..m.ncols() {
            let (a, b) = (m.get(i, k), m.get(j, k));
            m.set(i, k, v[0][0] * a + v[0][1] * b);
            m.set(j, k, v[1][0] * a + v[1][1] * b);
        }
    }
}
