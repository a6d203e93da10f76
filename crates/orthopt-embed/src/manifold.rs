//! Points of the ultrahyperbolic manifold U = {x ∈ ℝⁿ : Σ_{i ≤ p} xᵢ² − Σ_{i > p} xᵢ² = −α²} as images of free
//! parameters (JOBCD paper, App. F.1, the double projection).
//!
//! ```text
//! φ(s, t) = (s, √(α² + |s|²) · t/|t|),   s ∈ ℝᵖ, t ∈ ℝ^q, t ≠ 0
//! ```
//!
//! With q = 0 there is no such manifold: the points are those of ℝᵖ themselves, and φ is the identity.

use crate::error::{Error, Result};

/// p, q and α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// Coordinates with J = 1.
    pub p: usize,
    /// Coordinates with J = −1; 0 is Euclidean space, 1 hyperbolic.
    pub q: usize,
    /// The radius of curvature.
    pub alpha: f64,
}

/// |t| below which it has no direction; e₁ takes its place.
const NO_DIRECTION: f64 = 1e-12;

impl Space {
    /// A space of `dim` coordinates, the first `p` of them with J = 1.
    ///
    /// # Errors
    /// [`Error::Option`]: no coordinates, p above their number, α that is not a finite number above 0.
    pub fn new(dim: usize, p: usize, alpha: f64) -> Result<Self> {
        if dim == 0 {
            return Err(Error::option("dim", dim, "at least 1"));
        }
        if p > dim {
            return Err(Error::option("signature", p, format!("at most the dimension, {dim}")));
        }
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(Error::option("alpha", alpha, "a finite number > 0"));
        }
        Ok(Self { p, q: dim - p, alpha })
    }

    /// n = p + q.
    pub fn dim(&self) -> usize {
        self.p + self.q
    }

    /// φ: the point of the parameters `u`, both of length n.
    #[inline(always)]
    pub fn point(&self, u: &[f64], point: &mut [f64]) {
        point.copy_from_slice(u);
        if self.q == 0 {
            return;
        }
        let (s, t) = u.split_at(self.p);
        let radius = (self.alpha * self.alpha + norm2(s)).sqrt();
        let length = norm2(t).sqrt();
        if length < NO_DIRECTION {
            point[self.p..].fill(0.0);
            point[self.p] = radius;
        } else {
            point[self.p..].iter_mut().for_each(|x| *x *= radius / length);
        }
    }

    /// The gradient with respect to the parameters `u` from that with respect to the point, in place
    /// (`g` of length n).
    #[inline(always)]
    pub fn pull_back(&self, u: &[f64], g: &mut [f64]) {
        if self.q == 0 {
            return;
        }
        let (s, t) = u.split_at(self.p);
        let (g_s, g_t) = g.split_at_mut(self.p);
        let radius = (self.alpha * self.alpha + norm2(s)).sqrt();
        let length = norm2(t).sqrt();
        let theta = |i: usize| match length < NO_DIRECTION {
            true => f64::from(u8::from(i == 0)),
            false => t[i] / length,
        };
        let along: f64 = g_t.iter().enumerate().map(|(i, g)| g * theta(i)).sum();
        g_s.iter_mut().zip(s).for_each(|(g, s)| *g += s / radius * along);
        let scale = if length < NO_DIRECTION { 0.0 } else { radius / length };
        g_t.iter_mut().enumerate().for_each(|(i, g)| *g = scale * (*g - theta(i) * along));
    }

    /// Moves a point to U of another radius: s stays, t keeps its direction and gets the length √(radius² + |s|²).
    #[inline(always)]
    pub(crate) fn bend(&self, radius: f64, x: &mut [f64]) {
        let (s, t) = x.split_at_mut(self.p);
        let space2 = norm2(s);
        let ratio = (radius * radius + space2).sqrt() / (self.alpha * self.alpha + space2).sqrt();
        t.iter_mut().for_each(|t| *t *= ratio);
    }

    /// The gradient with respect to the point `x` of this space from that with respect to the moved one, in place;
    /// returns the derivative with respect to the radius.
    #[inline(always)]
    pub(crate) fn bend_back(&self, radius: f64, x: &[f64], g: &mut [f64]) -> f64 {
        let (s, t) = x.split_at(self.p);
        let (g_s, g_t) = g.split_at_mut(self.p);
        let space2 = norm2(s);
        let (new, old) = ((radius * radius + space2).sqrt(), (self.alpha * self.alpha + space2).sqrt());
        let along: f64 = g_t.iter().zip(t).map(|(g, t)| g * t).sum();
        let of_space = along * (1.0 / (new * old) - new / (old * old * old));
        g_s.iter_mut().zip(s).for_each(|(g, s)| *g += of_space * s);
        g_t.iter_mut().for_each(|g| *g *= new / old);
        along * radius / (new * old)
    }

    /// Adds the gradient of λ/2·|s|² with respect to the parameters.
    #[inline(always)]
    pub fn shrink(&self, u: &[f64], lambda: f64, g: &mut [f64]) {
        g.iter_mut().zip(u).take(self.p).for_each(|(g, s)| *g += lambda * s);
    }

    /// x ← Jx.
    pub fn flip(&self, x: &mut [f64]) {
        x[self.p..].iter_mut().for_each(|x| *x = -*x);
    }
}

/// |x|².
#[inline(always)]
pub(crate) fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_on_the_manifold_and_gradients_are_those_of_differences() {
        for (n, p, alpha) in [(5, 3, 1.0), (4, 0, 0.7), (4, 3, 2.0), (3, 3, 1.0)] {
            let space = Space::new(n, p, alpha).unwrap();
            let u: Vec<f64> = (0..n).map(|i| ((3 * i + 1) as f64).sin() + 0.2).collect();
            let weights: Vec<f64> = (0..n).map(|i| ((i * i) as f64).cos()).collect();
            let value = |u: &[f64]| {
                let mut x = vec![0.0; n];
                space.point(u, &mut x);
                let penalty = 0.35 * norm2(&x[..p]);
                x.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>() + penalty
            };
            let mut x = vec![0.0; n];
            space.point(&u, &mut x);
            if p < n {
                let form = norm2(&x[..p]) - norm2(&x[p..]);
                assert!((form + alpha * alpha).abs() < 1e-14 * norm2(&x), "{form}");
            }
            let mut g = weights.clone();
            space.pull_back(&u, &mut g);
            space.shrink(&u, 0.7, &mut g);
            for i in 0..n {
                let at =
                    |h: f64| value(&(0..n).map(|k| u[k] + if k == i { h } else { 0.0 }).collect::<Vec<_>>());
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((difference - g[i]).abs() < 1e-9, "{n} {p} {i}: {difference} {}", g[i]);
            }
        }
    }

    /// Moved points lie on U of the other radius; derivatives of ⟨w, ·⟩ by the point and by both radii.
    #[test]
    fn points_on_another_radius() {
        for (n, p) in [(5, 3), (4, 0), (4, 3)] {
            let (space, radius) = (Space::new(n, p, 0.8).unwrap(), 1.9);
            let u: Vec<f64> = (0..n).map(|i| ((3 * i + 1) as f64).sin() + 0.2).collect();
            let weights: Vec<f64> = (0..n).map(|i| ((i * i) as f64).cos()).collect();
            let dot = |x: &[f64]| x.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>();
            let mut x = vec![0.0; n];
            space.point(&u, &mut x);
            let bent = |x: &[f64], radius: f64| {
                let mut x = x.to_vec();
                space.bend(radius, &mut x);
                x
            };
            let y = bent(&x, radius);
            assert!((norm2(&y[p..]) - norm2(&y[..p]) - radius * radius).abs() < 1e-14 * norm2(&y));
            assert_eq!(bent(&x, space.alpha), x);
            let mut g = weights.clone();
            let by_radius = space.bend_back(radius, &x, &mut g);
            let difference = |f: &dyn Fn(f64) -> f64| (f(1e-5) - f(-1e-5)) / 2e-5;
            assert!((difference(&|h| dot(&bent(&x, radius + h))) - by_radius).abs() < 1e-9);
            for i in 0..n {
                let at = |h: f64| {
                    let moved: Vec<f64> = (0..n).map(|k| x[k] + if k == i { h } else { 0.0 }).collect();
                    dot(&bent(&moved, radius))
                };
                assert!((difference(&at) - g[i]).abs() < 1e-9, "{n} {p} {i}");
            }
        }
    }

    #[test]
    fn a_vanishing_t_has_a_direction_all_the_same() {
        let space = Space::new(3, 1, 1.0).unwrap();
        let mut x = [0.0; 3];
        space.point(&[2.0, 0.0, 0.0], &mut x);
        assert_eq!(x, [2.0, 5f64.sqrt(), 0.0]);
    }
}
