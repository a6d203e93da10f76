//! Sparse principal components of a table: two groups of variables that vary together, and noise.
//!
//! ```sh
//! cargo run -p orthopt --example sparse_pca
//! ```

use orthopt::prelude::*;

/// Runs the example.
pub fn main() -> Result<()> {
    // 200 samples of 10 variables: 1 to 3 follow one signal, 6 to 9 another one
    let wave = |i: usize, f: f64| (i as f64 * f).sin();
    let samples = Matrix::from_fn(200, 10, |i, j| {
        let signal = match j {
            0..3 => 3.0 * wave(i, 0.7),
            5..9 => 2.0 * wave(i, 1.9),
            _ => 0.0,
        };
        signal + 0.1 * wave(i * (j + 2), 0.31)
    });

    let found = SparsePca::l0(&samples).components(2).lambda(20.0).center().certify().fit()?;

    for k in 0..2 {
        let used: Vec<_> = (0..10).filter(|i| found.x().get(*i, k) != 0.0).map(|i| i + 1).collect();
        println!("component {}: variables {used:?}", k + 1);
    }
    let explained = found.explained_variance.as_ref().map_or(0.0, |e| 100.0 * e.total);
    println!("{explained:.1} % of the variance with {} nonzeros of 20", found.solution.nnz);
    println!("X'X = I to {:.0e}; block-2 stationary: {}", found.solution.feasibility, found.is_certified());
    assert!(found.is_certified() && found.nonzeros() == [3, 4] && explained > 90.0);
    Ok(())
}
