//! Watches a run and ends it: the first hundred thousand iterations, or F that is low enough.
//!
//! ```sh
//! cargo run -p orthopt --example observer
//! ```

use orthopt::prelude::*;

/// Runs the example.
pub fn main() -> Result<()> {
    let samples =
        Matrix::from_fn(300, 40, |i, j| ((i * 7 + j * 3) as f64).sin() + ((i * j) as f64 * 0.01).cos());
    let enough = -0.9 * samples.data().iter().map(|v| 0.5 * v * v).sum::<f64>();

    let cancel = Cancel::never();
    let (mut points, mut lowest) = (0, f64::INFINITY);
    let mut watch = |event: Event<'_>| match event {
        Event::Step(p) if p.objective <= enough || p.iteration >= 100_000 => cancel.cancel(),
        Event::Trace(point, x) => {
            (points, lowest) = (points + 1, point.objective);
            println!("{:>8} iterations  F {:.6}  {} x {}", point.iteration, lowest, x.nrows(), x.ncols());
        }
        _ => {}
    };
    let found =
        SparsePca::l1(&samples).components(3).lambda(0.1).cancel(&cancel).fit_watched(&mut [&mut watch])?;

    println!("{}: {}", found.solution.status.name(), found.solution.message);
    // the X of a run that was ended is the best one it had
    assert!(points >= 2 && (found.solution.objective.total - lowest).abs() <= 1e-9 * lowest.abs());
    Ok(())
}
