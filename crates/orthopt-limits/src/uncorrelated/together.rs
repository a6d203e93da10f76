//! All components together on their supports, where single ones can no longer move: the manifold of unit columns with
//! uncorrelated scores that keep their zeros.

use crate::exchange::component::block;
use crate::exchange::polish::climb;
use orthopt_core::problem::{nonzero_rows, support};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::solve_definite;
use orthopt_linalg::kernels::inner;
use orthopt_linalg::products::multiply;
use orthopt_linalg::work::count;

/// Steps, at most, and the share of the variance that one must bring.
const STEPS: usize = 60;
const LEAST: f64 = 1e-10;
/// Steps of Gauss and Newton back to the constraints, and what they may leave.
const RESTORE: usize = 12;
const FEASIBLE: f64 = 2e-14;
/// So many equations are solved together, and C is formed on so many rows.
const EQUATIONS: usize = 500;
const ROWS: usize = 600;
/// Added to the normal equations, so that they are definite where constraints depend on each other.
const RIDGE: f64 = 1e-13;

/// X on the rows that any component has.
struct Packed {
    rows: Vec<usize>,
    c: RowMat,
    supports: Vec<Vec<usize>>, // places in `rows`
}

/// The gradient of one equation: pieces of it by component, on its support.
type Gradient = Vec<(usize, Vec<f64>)>;

impl Packed {
    fn new<F: Quadratic>(f: &F, x: &RowMat) -> Option<(Self, RowMat)> {
        let (rows, r) = (nonzero_rows(x), x.ncols());
        if rows.len() > ROWS || r * (r + 1) / 2 > EQUATIONS {
            return None;
        }
        let y = RowMat::from_fn(rows.len(), r, |a, k| x.get(rows[a], k));
        let supports = (0..r).map(|k| support(&y, k)).collect();
        Some((Self { c: block(f, &rows), rows, supports }, y))
    }

    fn image(&self, y: &RowMat) -> RowMat {
        let out = multiply(self.c.as_mat(), y.as_mat());
        count(y.nrows() * y.nrows() * y.ncols());
        out
    }

    fn on(&self, m: &RowMat, column: usize, k: usize) -> Vec<f64> {
        self.supports[k].iter().map(|a| m.get(*a, column)).collect()
    }

    /// Residuals of (‖yₖ‖² − 1)/2 = 0 and yⱼᵀCyₖ/(‖Cyⱼ‖ + ‖Cyₖ‖) = 0 with their gradients.
    fn equations(&self, y: &RowMat, image: &RowMat) -> (Vec<f64>, Vec<Gradient>) {
        let r = y.ncols();
        let (mut residuals, mut gradients) = (Vec::new(), Vec::new());
        let size: Vec<f64> = (0..r).map(|k| inner(&column(image, k), &column(image, k)).sqrt()).collect();
        for k in 0..r {
            let own = self.on(y, k, k);
            residuals.push(0.5 * (inner(&own, &own) - 1.0));
            gradients.push(vec![(k, own)]);
            for j in 0..k {
                let scale = 1.0 / (size[j] + size[k]).max(f64::MIN_POSITIVE);
                let piece = |of: usize, on: usize| -> Vec<f64> {
                    self.on(image, of, on).into_iter().map(|v| scale * v).collect()
                };
                let (of_k, of_j) = (piece(k, j), piece(j, k));
                residuals.push(inner(&self.on(y, j, j), &of_k));
                gradients.push(vec![(j, of_k), (k, of_j)]);
            }
        }
        (residuals, gradients)
    }

    /// y − Jᵀ(JJᵀ)⁻¹b for the gradients J.
    fn corrected(&self, y: &RowMat, gradients: &[Gradient], b: &[f64]) -> Option<RowMat> {
        let q = gradients.len();
        let common = |a: &Gradient, b: &Gradient| -> f64 {
            a.iter().flat_map(|p| b.iter().filter(|o| o.0 == p.0).map(|o| inner(&p.1, &o.1))).sum()
        };
        let mut normal = RowMat::zeros(q, q);
        for a in 0..q {
            for b in 0..=a {
                let v = common(&gradients[a], &gradients[b]) + if a == b { RIDGE } else { 0.0 };
                normal.set(a, b, v);
                normal.set(b, a, v);
            }
        }
        count(q * q * (q + 40));
        let multipliers = solve_definite(&normal, &RowMat::from_fn(q, 1, |a, _| b[a]))?;
        let mut out = y.clone();
        for (a, gradient) in gradients.iter().enumerate() {
            for (k, piece) in gradient {
                let places = self.supports[*k].iter().zip(piece);
                places.for_each(|(e, g)| out.set(*e, *k, out.get(*e, *k) - multipliers.get(a, 0) * g));
            }
        }
        Some(out)
    }

    /// Back to the constraints.
    fn restored(&self, mut y: RowMat) -> Option<(RowMat, RowMat)> {
        for _ in 0..RESTORE {
            let image = self.image(&y);
            let (residuals, gradients) = self.equations(&y, &image);
            if residuals.iter().all(|e| e.abs() <= FEASIBLE) {
                return Some((y, image));
            }
            y = self.corrected(&y, &gradients, &residuals)?;
            y.find_non_finite().is_none().then_some(())?;
        }
        None
    }

    /// The gradient CX of ½tr(XᵀCX) on the supports, without its part along the gradients of the constraints.
    fn tangent(&self, y: &RowMat, image: &RowMat) -> Option<RowMat> {
        let mut d = RowMat::zeros(y.nrows(), y.ncols());
        for (k, places) in self.supports.iter().enumerate() {
            places.iter().for_each(|a| d.set(*a, k, image.get(*a, k)));
        }
        let (_, gradients) = self.equations(y, image);
        let along = |d: &RowMat| -> Vec<f64> {
            gradients
                .iter()
                .map(|g| g.iter().map(|(k, piece)| inner(&self.on(d, *k, *k), piece)).sum())
                .collect()
        };
        for _ in 0..2 {
            // the second time for the digits that the ridge takes
            d = self.corrected(&d, &gradients, &along(&d))?;
        }
        Some(d)
    }
}

fn column(m: &RowMat, k: usize) -> Vec<f64> {
    (0..m.nrows()).map(|i| m.get(i, k)).collect()
}

/// ‖gradient along the constraints and the zeros of X‖, in the units of C.
pub fn criticality<F: Quadratic>(f: &F, x: &RowMat) -> Option<f64> {
    let (packed, y) = Packed::new(f, x)?;
    packed.tangent(&y, &packed.image(&y)).map(|d| d.norm())
}

/// Raises tr(XᵀCX) by steps along the gradient on the supports, each brought back to the constraints, until they
/// bring nothing; whether they did.
pub(super) fn polish<F: Quadratic>(f: &F, x: &RowMat) -> Option<RowMat> {
    let (packed, y) = Packed::new(f, x)?;
    let from = packed.restored(y)?;
    let first = x.inner(&{
        let mut minus = f.apply(x);
        minus.data_mut().iter_mut().for_each(|v| *v = -*v);
        minus
    });
    let (y, value) =
        climb(from, &|y, image| packed.tangent(y, image), &|y| packed.restored(y), (STEPS, LEAST))?;
    if value - first <= LEAST * value.abs() {
        return None;
    }
    let mut out = RowMat::zeros(x.nrows(), x.ncols());
    packed.rows.iter().enumerate().for_each(|(a, i)| out.row_mut(*i).copy_from_slice(y.row(a)));
    Some(out)
}
