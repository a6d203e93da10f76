//! aC + bS + cC² + dCS + eS² with C = cosh μ, S = sinh μ over all μ.
//!
//! In u = e^μ > 0 it is A₂u² + A₁u + A₀ + B₁/u + B₂/u², and u³ times its derivative in u is the
//! quartic 2A₂u⁴ + A₁u³ − B₁u − 2B₂, whose positive roots are all stationary points (the
//! quartic in tanh μ of the paper loses all digits for large |μ|). The coefficients of
//! u² and u tell what happens as μ → ∞, those of 1/u² and 1/u as μ → −∞.

use super::near::Near;
use super::{Coefficients, ComponentMin, Ending};

/// A₂u² + A₁u + A₀ + B₁/u + B₂/u².
#[derive(Clone, Copy, Debug)]
struct Laurent {
    a2: f64,
    a1: f64,
    a0: f64,
    b1: f64,
    b2: f64,
}

/// Up to four numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Few {
    list: [f64; 6],
    len: usize,
}

impl Few {
    /// The numbers.
    pub fn as_slice(&self) -> &[f64] {
        &self.list[..self.len]
    }

    fn push(&mut self, x: f64) {
        if self.len < self.list.len() {
            self.list[self.len] = x;
            self.len += 1;
        }
    }
}

/// Behaviour of the function towards an end.
enum End {
    Up,
    Down,
    Flat,
}

impl Laurent {
    fn new(k: &Coefficients) -> Self {
        // sums that are zero up to rounding are zero: they decide what happens at the ends
        let clean = |sum: f64, size: f64| if sum.abs() <= 4.0 * f64::EPSILON * size { 0.0 } else { sum };
        let (size2, size1) = (k.c.abs() + k.d.abs() + k.e.abs(), k.a.abs() + k.b.abs());
        Self {
            a2: 0.25 * clean(k.c + k.e + k.d, size2),
            b2: 0.25 * clean(k.c + k.e - k.d, size2),
            a1: 0.5 * clean(k.a + k.b, size1),
            b1: 0.5 * clean(k.a - k.b, size1),
            a0: 0.5 * (k.c - k.e),
        }
    }

    fn value(&self, mu: f64) -> f64 {
        let u = mu.exp();
        (self.a2 * u + self.a1) * u + self.a0 + (self.b1 + self.b2 / u) / u
    }

    /// φ′(μ) and φ″(μ).
    fn derivatives(&self, mu: f64) -> (f64, f64) {
        let u = mu.exp();
        let (up2, up1, down1, down2) = (self.a2 * u * u, self.a1 * u, self.b1 / u, self.b2 / u / u);
        (2.0 * (up2 - down2) + up1 - down1, 4.0 * (up2 + down2) + up1 + down1)
    }

    fn end(x2: f64, x1: f64) -> End {
        match (x2, x1) {
            (x2, _) if x2 > 0.0 => End::Up,
            (x2, _) if x2 < 0.0 => End::Down,
            (_, x1) if x1 > 0.0 => End::Up,
            (_, x1) if x1 < 0.0 => End::Down,
            _ => End::Flat,
        }
    }

    fn is_constant(&self) -> bool {
        self.a2 == 0.0 && self.a1 == 0.0 && self.b1 == 0.0 && self.b2 == 0.0
    }

    /// The stationary points μ.
    fn stationary(&self) -> Few {
        let mut out = Few::default();
        if self.is_constant() {
            return out;
        }
        if self.a1 == 0.0 && self.b1 == 0.0 {
            if self.a2 * self.b2 > 0.0 {
                out.push(0.25 * (self.b2 / self.a2).ln());
            }
            return out;
        }
        // u = κv with κ = (B₂/A₂)^¼ keeps powers of v within range
        let ratio = if self.a2 != 0.0 && self.b2 != 0.0 { (self.b2 / self.a2).abs() } else { 1.0 };
        let kappa = ratio.sqrt().sqrt();
        let quartic = [
            -2.0 * self.b2 / kappa / kappa,
            -self.b1 / kappa,
            0.0,
            self.a1 * kappa,
            2.0 * self.a2 * kappa * kappa,
        ];
        for v in positive_roots(&quartic).as_slice() {
            out.push((kappa * v).ln());
        }
        out
    }
}

/// The minimum over all μ; values on the component of I are computed through `near` and added to
/// `base` where that is more exact.
pub(crate) fn minimise(k: &Coefficients, near: Option<&Near>, base: f64) -> ComponentMin {
    let l = Laurent::new(k);
    if l.is_constant() {
        return ComponentMin { ending: Ending::Attained, value: k.a + k.c, angle: Some(0.0) };
    }
    let (right, left) = (Laurent::end(l.a2, l.a1), Laurent::end(l.b2, l.b1));
    if matches!(right, End::Down) || matches!(left, End::Down) {
        return ComponentMin { ending: Ending::Unbounded, value: f64::NEG_INFINITY, angle: None };
    }
    let mut best = ComponentMin { ending: Ending::Attained, value: f64::INFINITY, angle: None };
    for mu in stationary(k, near).as_slice() {
        let value = match near {
            Some(near) if mu.abs() < 1.0 => {
                let half = (0.5 * mu).sinh();
                base + near.value(2.0 * half * half, mu.sinh())
            }
            _ => l.value(*mu),
        };
        if value < best.value {
            best = ComponentMin { value, angle: Some(*mu), ..best };
        }
    }
    let flat = matches!(right, End::Flat) || matches!(left, End::Flat);
    if flat && l.a0 < best.value {
        best = ComponentMin { ending: Ending::NotAttained, value: l.a0, ..best };
    }
    best
}

/// Lower bound of the function, −∞ if none is known: its two halves
/// A₂u² + A₁u and B₁/u + B₂/u² minimised apart.
pub(crate) fn lower_bound(k: &Coefficients) -> f64 {
    let l = Laurent::new(k);
    if l.a2 <= 0.0 || l.b2 <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let half = |x2: f64, x1: f64| 0.25 * x1.min(0.0).powi(2) / x2;
    l.a0 - half(l.a2, l.a1) - half(l.b2, l.b1)
}

/// All stationary points μ, polished by Newton's method, through `near` where it holds.
pub(crate) fn stationary(k: &Coefficients, near: Option<&Near>) -> Few {
    let l = Laurent::new(k);
    let mut out = l.stationary();
    for mu in &mut out.list[..out.len] {
        for _ in 0..3 {
            let (mut slope, bend) = l.derivatives(*mu);
            if let Some(near) = near.filter(|_| mu.abs() < 1.0) {
                let half = (0.5 * *mu).sinh();
                slope = near.slope(2.0 * half * half, mu.sinh(), 1.0);
            }
            let step = slope / bend;
            if bend > 0.0 && step.abs() <= 1e-3 {
                *mu -= step;
            }
        }
    }
    out
}

/// The roots u > 0 of Σ coefᵢuⁱ where it changes sign, ascending. Between the sign changes of its
/// derivative a polynomial is monotone, so brackets come from the derivatives, lowest degree
/// first; no formula of Ferrari is needed.
fn positive_roots(coef: &[f64; 5]) -> Few {
    let mut splits = Few::default();
    for order in (0..4).rev() {
        let mut poly = *coef;
        for _ in 0..order {
            for i in 0..4 {
                poly[i] = poly[i + 1] * (i + 1) as f64;
            }
            poly[4] = 0.0;
        }
        splits = roots_between(&poly, splits.as_slice());
    }
    splits
}

/// One root in every interval between the `splits` at whose ends the polynomial differs in sign.
fn roots_between(poly: &[f64; 5], splits: &[f64]) -> Few {
    let mut out = Few::default();
    let Some((low, high)) = root_bounds(poly) else { return out };
    let mut lo = low;
    for hi in splits.iter().copied().filter(|s| *s > low && *s < high).chain([high]) {
        let (at_lo, at_hi) = (eval(poly, lo), eval(poly, hi));
        if at_lo == 0.0 {
            // a root that is also a split: the sign changes there only if it is not a touch
        } else if at_lo * at_hi < 0.0 {
            out.push(bracketed_root(poly, lo, hi));
        } else if at_hi == 0.0 && hi < high {
            out.push(hi);
        }
        lo = hi;
    }
    out
}

#[inline(always)]
fn eval(p: &[f64; 5], u: f64) -> f64 {
    (((p[4] * u + p[3]) * u + p[2]) * u + p[1]) * u + p[0]
}

#[inline(always)]
fn eval_slope(p: &[f64; 5], u: f64) -> f64 {
    ((4.0 * p[4] * u + 3.0 * p[3]) * u + 2.0 * p[2]) * u + p[1]
}

/// Bounds of all positive roots (Fujiwara's, and its mirror image); `None` where all
/// coefficients have one sign.
fn root_bounds(p: &[f64; 5]) -> Option<(f64, f64)> {
    let high = p.iter().rposition(|c| *c != 0.0)?;
    let low = p.iter().position(|c| *c != 0.0)?;
    let sign = p[high] > 0.0;
    if p.iter().all(|c| *c == 0.0 || (*c > 0.0) == sign) {
        return None;
    }
    let root = |x: f64, k: usize| match k {
        1 => x,
        2 => x.sqrt(),
        3 => x.cbrt(),
        _ => x.sqrt().sqrt(),
    };
    let (mut upper, mut lower) = (0.0f64, 0.0f64);
    for k in low..=high {
        if k < high {
            upper = upper.max(root((p[k] / p[high]).abs(), high - k));
        }
        if k > low {
            lower = lower.max(root((p[k] / p[low]).abs(), k - low));
        }
    }
    Some((0.5 / lower * (1.0 - 1e-12), 2.0 * upper * (1.0 + 1e-12)))
}

/// The root in (lo, hi), by Newton steps in ln u that fall back to the geometric mean.
fn bracketed_root(p: &[f64; 5], mut lo: f64, mut hi: f64) -> f64 {
    let rising = eval(p, hi) > 0.0;
    let mut u = (lo * hi).sqrt();
    for _ in 0..200 {
        let value = eval(p, u);
        if value == 0.0 {
            return u;
        }
        if (value > 0.0) == rising {
            hi = u
        } else {
            lo = u
        }
        if hi <= lo * (1.0 + 4.0 * f64::EPSILON) {
            break;
        }
        let next = u * (-value / (u * eval_slope(p, u))).clamp(-3.0, 3.0).exp();
        let next = if next > lo && next < hi { next } else { (lo * hi).sqrt() };
        if (next - u).abs() <= 2.0 * f64::EPSILON * u {
            return next;
        }
        u = next;
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_known_polynomials() {
        let expanded = |roots: &[f64]| {
            let mut p = [0.0; 5];
            p[0] = 1.0;
            for (k, r) in roots.iter().enumerate() {
                for i in (0..=k + 1).rev() {
                    p[i] = if i > 0 { p[i - 1] } else { 0.0 } - r * p[i];
                }
            }
            p
        };
        for roots in [
            vec![1.0, 2.0, 3.0, 4.0],
            vec![-1.0, -2.0, 0.5, 3.0],
            vec![1e-6, 1.0, 1e6],
            vec![1e-9, 2e-9, 5.0],
            vec![2.0],
            vec![-1.0, -2.0],
            vec![3.0, 3.0, 5.0], // touches at 3
            vec![2.0, 2.0, 2.0, 5.0],
        ] {
            let found = positive_roots(&expanded(&roots));
            let times = |r: f64| roots.iter().filter(|x| **x == r).count();
            // where the sign changes; a point that is only touched may be found or not
            for root in roots.iter().copied().filter(|r| *r > 0.0 && times(*r) % 2 == 1) {
                let exact = if times(root) == 1 { 1e-12 } else { 1e-4 };
                let near = found.as_slice().iter().any(|u| (u - root).abs() <= exact * root);
                assert!(near, "{roots:?}: {root} not in {found:?}");
            }
            for u in found.as_slice() {
                assert!(roots.iter().any(|r| (u - r).abs() <= 1e-4 * r), "{roots:?}: {u} is no root");
            }
        }
        assert_eq!(positive_roots(&[0.0; 5]).len, 0);
        assert_eq!(positive_roots(&[1.0, 0.0, 2.0, 0.0, 1.0]).len, 0);
    }
}
