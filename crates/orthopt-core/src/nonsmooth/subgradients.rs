//! ∂h(X) as a set of matrices to project onto.

use super::Nonsmooth;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::inner;

/// ∂h(X).
pub enum Subgradients {
    /// An interval for every entry.
    Intervals(Vec<(f64, f64)>),
    /// A ball for every row: its centre, and its radius.
    Balls(RowMat, Vec<f64>),
}

impl Subgradients {
    /// Those at X; entries, or rows of a length, up to `zero` count as zeros.
    #[doc(hidden)]
    pub fn of(h: &impl Nonsmooth, x: &RowMat, zero: f64) -> Self {
        let Some(lambda) = h.row_weight() else {
            let at = |v: &f64| h.subdifferential(if v.abs() <= zero { 0.0 } else { *v });
            return Self::Intervals(x.data().iter().map(at).collect());
        };
        let (mut centres, mut radii) = (x.clone(), Vec::with_capacity(x.nrows()));
        for i in 0..x.nrows() {
            let size = inner(x.row(i), x.row(i)).sqrt();
            let is_zero = size <= zero;
            radii.push(if is_zero { lambda } else { 0.0 });
            centres.row_mut(i).iter_mut().for_each(|v| *v = if is_zero { 0.0 } else { lambda * (*v / size) });
        }
        Self::Balls(centres, radii)
    }

    /// True if there is one only.
    #[doc(hidden)]
    pub fn is_single(&self) -> bool {
        match self {
            Self::Intervals(bounds) => bounds.iter().all(|(lo, hi)| lo == hi),
            Self::Balls(_, radii) => radii.iter().all(|radius| *radius == 0.0),
        }
    }

    /// Z ← the one nearest to Z.
    #[doc(hidden)]
    pub fn nearest(&self, z: &mut RowMat) {
        match self {
            Self::Intervals(bounds) => {
                z.data_mut().iter_mut().zip(bounds).for_each(|(v, (lo, hi))| *v = v.clamp(*lo, *hi));
            }
            Self::Balls(centres, radii) => {
                for (i, radius) in radii.iter().enumerate() {
                    if *radius == 0.0 {
                        z.row_mut(i).copy_from_slice(centres.row(i));
                        continue;
                    }
                    // the centre of the ball of a zero row is zero
                    let size = inner(z.row(i), z.row(i)).sqrt();
                    if size > *radius {
                        z.row_mut(i).iter_mut().for_each(|v| *v *= radius / size);
                    }
                }
            }
        }
    }
}
