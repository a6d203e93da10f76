//! Descent on {X : supp(X) ⊆ S, XᵀX = I}: gradient steps along the tangent space with
//! Barzilai-Borwein lengths, each followed by the way back to the manifold.

use std::cell::Cell;

use super::pattern::Pattern;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::smooth::{Quadratic, Smooth, gradient_row};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::parallel::for_each_chunk;
use orthopt_linalg::work::count;

/// Values and rows of the gradient of f, from an image of X that a descent keeps.
pub(crate) trait Imaged {
    /// Image of X.
    type Image: Clone;

    /// The image of X. Cost of a gradient.
    fn kept(&self, x: &RowMat) -> Self::Image;

    /// f(X).
    fn kept_value(&self, image: &Self::Image, x: &RowMat) -> f64;

    /// The rows `rows` of ∇f(X), zero elsewhere.
    fn kept_gradient(&self, image: &Self::Image, x: &RowMat, rows: &[usize]) -> RowMat;
}

impl<F: Quadratic> Imaged for F {
    type Image = F::Image;

    fn kept(&self, x: &RowMat) -> F::Image {
        self.image(x)
    }

    fn kept_value(&self, image: &F::Image, x: &RowMat) -> f64 {
        self.value_at(image, x)
    }

    fn kept_gradient(&self, image: &F::Image, x: &RowMat, rows: &[usize]) -> RowMat {
        let (n, r) = (x.nrows(), x.ncols());
        let mut g = RowMat::zeros(n, r);
        count(rows.len() * self.pair_work(image).0 / 2);
        if self.keeps_gradient(image) {
            let mut buffer = vec![0.0; r];
            for i in rows {
                g.row_mut(*i).copy_from_slice(gradient_row(self, image, x, *i, &mut buffer));
            }
        } else {
            let mut wanted = vec![false; n];
            rows.iter().for_each(|i| wanted[*i] = true);
            for_each_chunk(g.data_mut(), r, &|buffer, i, row| {
                if wanted[i] {
                    buffer.resize(r, 0.0);
                    row.copy_from_slice(gradient_row(self, image, x, i, buffer));
                }
            });
        }
        g
    }
}

/// An f of which only values and gradients are known: f(X) and ∇f(X) are kept.
#[derive(Debug)]
pub(crate) struct ByGradient<'a, F> {
    pub f: &'a F,
    pub gradients: Cell<u64>, // evaluations of f and ∇f
}

impl<F: Smooth> Imaged for ByGradient<'_, F> {
    type Image = (f64, RowMat);

    fn kept(&self, x: &RowMat) -> (f64, RowMat) {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        self.gradients.set(self.gradients.get() + 1);
        (self.f.value_and_gradient(x, &mut g), g)
    }

    fn kept_value(&self, image: &(f64, RowMat), _: &RowMat) -> f64 {
        image.0
    }

    fn kept_gradient(&self, image: &(f64, RowMat), x: &RowMat, rows: &[usize]) -> RowMat {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        rows.iter().for_each(|i| g.row_mut(*i).copy_from_slice(image.1.row(*i)));
        g
    }
}

/// F = f + κh, the objective of the moment (κ = 1 is the user's).
#[derive(Debug)]
pub(crate) struct Objective<'a, F, H> {
    pub f: &'a F,
    pub h: &'a H,
    pub kappa: f64, // κ
    pub loose: f64, // ‖XᵀX − I‖_F up to which points between steps are taken
}

impl<F, H> Clone for Objective<'_, F, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, H> Copy for Objective<'_, F, H> {}

/// A point with what is known of F there.
#[derive(Clone, Debug)]
pub(crate) struct Point<I> {
    pub x: RowMat,
    pub(super) image: I, // of X, from which rows of ∇f come
    smooth: f64,
    penalty: f64, // h(X)
}

/// Usual value of it: F is off by no more than its product with Λ.
pub(crate) const LOOSE: f64 = 1e-9;
/// Largest ‖XᵀX − I‖_F of a point that is kept.
const TIGHT: f64 = 2e-14;
/// Accuracy of the tangent projection, relative; the rest is undone on the way back.
const TANGENT: f64 = 1e-4;
/// Number of earlier values that the nonmonotone rule compares with.
const MEMORY: usize = 4;
/// Sufficient decrease, shrinking factor and trials of the line search.
const ARMIJO: f64 = 1e-4;
const SHRINK: f64 = 0.3;
const TRIALS: u32 = 12;

impl<I: Clone> Point<I> {
    /// X restored to rounding; F, which was right up to 1e-9 times Λ, is left as it is. `None` if
    /// the pattern does not admit it.
    pub fn tightened(&self) -> Option<Self> {
        let mut x = self.x.clone();
        let pattern = Pattern::of(&x);
        let diagonal = pattern.diagonal(&x);
        let tol = TIGHT * (x.ncols() as f64).sqrt();
        (pattern.restore(&mut x, &diagonal, tol) <= 5.0 * tol).then(|| Self { x, ..self.clone() })
    }
}

impl<I> Point<I> {
    /// F(X) of the user, κ = 1.
    pub fn value(&self) -> f64 {
        self.smooth + self.penalty
    }
}

/// Step length and multiplier of a descent, kept from one descent to the next: they change little.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    pub step: f64,      // Barzilai-Borwein length
    pub lambda: RowMat, // Λ of the tangent projection
}

impl<F: Imaged, H: Nonsmooth> Objective<'_, F, H> {
    /// F_κ.
    pub fn of(&self, point: &Point<F::Image>) -> f64 {
        point.smooth + self.kappa * point.penalty
    }

    /// X with f and h there. Cost of an image.
    pub fn at(&self, x: RowMat) -> Point<F::Image> {
        let image = self.f.kept(&x);
        Point { smooth: self.f.kept_value(&image, &x), penalty: self.h.value(x.data()), image, x }
    }

    /// The rows `rows` of ∇f(X), zero elsewhere.
    pub fn gradient(&self, point: &Point<F::Image>, rows: &[usize]) -> RowMat {
        self.f.kept_gradient(&point.image, &point.x, rows)
    }

    /// The derivative of κh at the entries that are not zero, added to `g`.
    pub fn add_slope(&self, x: &RowMat, g: &mut RowMat) {
        for (v, x) in g.data_mut().iter_mut().zip(x.data()) {
            if *x != 0.0 {
                let (lo, hi) = self.h.subdifferential(*x);
                // ±∞ or an interval away from zero: no derivative to speak of
                *v += if lo == hi { self.kappa * lo } else { 0.0 };
            }
        }
    }

    /// D ← the Riemannian gradient at a point with pattern S.
    fn direction(
        &self,
        point: &Point<F::Image>,
        pattern: &Pattern,
        diagonal: &RowMat,
        pace: &mut Pace,
    ) -> RowMat {
        let mut d = self.gradient(point, pattern.rows());
        self.add_slope(&point.x, &mut d);
        pattern.tangent(&point.x, diagonal, TANGENT, &mut d, &mut pace.lambda);
        d
    }

    /// At most `steps` gradient steps from `point`, nonmonotone; the best point met is kept, and is
    /// never above the first. Entries of a penalty with a kink at 0 that would change their sign
    /// are set to zero and leave the pattern. Stops early where ‖D‖ ≤ `tol`·‖∇f‖.
    pub fn descend(&self, point: &mut Point<F::Image>, steps: usize, tol: f64, pace: &mut Pace) {
        let mut pattern = Pattern::of(&point.x);
        let mut diagonal = pattern.diagonal(&point.x);
        let mut d = self.direction(point, &pattern, &diagonal, pace);
        let mut now = point.clone();
        let mut recent = vec![self.of(point)];
        for k in 0..steps {
            let slope = d.inner(&d);
            let scale = pace.lambda.norm();
            if slope.sqrt() <= tol * scale {
                break;
            }
            let ceiling = recent.iter().rev().take(MEMORY).copied().fold(f64::NEG_INFINITY, f64::max);
            let Some((next, dropped)) = self.line_search(&now, &d, &pattern, &diagonal, ceiling, pace) else {
                break;
            };
            if dropped {
                pattern = Pattern::of(&next.x);
                diagonal = pattern.diagonal(&next.x);
            }
            let d_next = self.direction(&next, &pattern, &diagonal, pace);
            pace.step = barzilai_borwein(&now.x, &next.x, &d, &d_next, k % 2 == 0, pace.step);
            (now, d) = (next, d_next);
            recent.push(self.of(&now));
            if self.of(&now) < self.of(point) {
                *point = now.clone();
            }
        }
    }

    /// X − tD back on the manifold, t shrinking until F_κ ≤ ceiling − σt‖D‖². `None` when it does not.
    pub(crate) fn line_search(
        &self,
        now: &Point<F::Image>,
        d: &RowMat,
        pattern: &Pattern,
        diagonal: &RowMat,
        ceiling: f64,
        pace: &mut Pace,
    ) -> Option<(Point<F::Image>, bool)> {
        let slope = d.inner(d);
        for _ in 0..TRIALS {
            let mut z = now.x.clone();
            axpy(-pace.step, d.data(), z.data_mut());
            let dropped = self.clip(&now.x, &mut z);
            let error = if dropped {
                let pattern = Pattern::of(&z);
                let diagonal = pattern.diagonal(&z);
                pattern.restore(&mut z, &diagonal, self.loose)
            } else {
                pattern.restore(&mut z, diagonal, self.loose)
            };
            if error <= self.loose {
                let next = self.at(z);
                if self.of(&next) <= ceiling - ARMIJO * pace.step * slope {
                    return Some((next, dropped));
                }
            }
            pace.step *= SHRINK;
        }
        None
    }

    /// Zeros for entries that change their sign where h has a kink at zero.
    fn clip(&self, x: &RowMat, z: &mut RowMat) -> bool {
        let mut dropped = false;
        for (z, x) in z.data_mut().iter_mut().zip(x.data()) {
            if *x * *z < 0.0 && (self.h.requires_nonneg() || self.h.subdifferential(*x) != (0.0, 0.0)) {
                *z = 0.0;
                dropped = true;
            }
        }
        dropped
    }
}

/// ⟨s,s⟩/|⟨s,y⟩| or |⟨s,y⟩|/⟨y,y⟩ in turn, within a factor of a hundred of the step before.
fn barzilai_borwein(x: &RowMat, x_next: &RowMat, d: &RowMat, d_next: &RowMat, long: bool, last: f64) -> f64 {
    let (mut ss, mut sy, mut yy) = (0.0, 0.0, 0.0);
    let entries = x.data().iter().zip(x_next.data()).zip(d.data().iter().zip(d_next.data()));
    for ((x, x_next), (d, d_next)) in entries {
        let (s, y) = (x_next - x, d_next - d);
        (ss, sy, yy) = (ss + s * s, sy + s * y, yy + y * y);
    }
    let step = if long { ss / sy.abs() } else { sy.abs() / yy };
    if step.is_finite() && step > 0.0 { step.clamp(0.01 * last, 100.0 * last) } else { last }
}
