//! J-orthogonal matrices and golden files.

use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt_core::constraint::j_orthogonal::random;
pub use orthopt_linalg::products::times;
use rand::RngExt;
use serde_json::Value;

use super::rng;

/// Numbers of a JSON array.
pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// A matrix of a golden file, a list of rows.
pub fn matrix(v: &Value) -> RowMat {
    let rows: Vec<Vec<f64>> = v.as_array().expect("rows").iter().map(numbers).collect();
    RowMat::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, j| rows[i][j])
}

/// The cases of a golden file.
pub fn golden(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

/// n signs in random order, p of them ones.
pub fn shuffled(p: usize, n: usize, seed: u64) -> Signature {
    let mut rng = rng(seed);
    let mut signs: Vec<f64> = (0..n).map(|i| if i < p { 1.0 } else { -1.0 }).collect();
    for i in (1..n).rev() {
        signs.swap(i, rng.random_range(0..=i));
    }
    Signature::from_signs(&signs).unwrap()
}

/// A random J-orthogonal matrix with ‖X‖ ≤ e.
pub fn feasible(j: &Signature, seed: u64) -> RowMat {
    random(j, 1.0, &mut rng(seed)).unwrap()
}

/// Largest difference of two matrices.
pub fn difference(a: &RowMat, b: &RowMat) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    a.data().iter().zip(b.data()).fold(0.0, |e, (x, y)| e.max((x - y).abs()))
}

/// Largest relative difference of two lists of numbers, relative to the largest of them.
pub fn relative(a: &RowMat, b: &RowMat) -> f64 {
    difference(a, b) / b.data().iter().fold(1e-300, |m: f64, v| m.max(v.abs()))
}
