//! L-BFGS for a smooth function of a vector, with steps that only have to lower it: multipliers may be any numbers.

use std::collections::VecDeque;

use orthopt_linalg::kernels::{axpy, inner as dot};

/// Pairs that are kept.
const MEMORY: usize = 20;
/// Share of the slope that a step has to bring, and trials of a step.
const DECREASE: f64 = 1e-4;
const TRIALS: usize = 25;
/// It ends where a step brings less than this share of |f|, so many times in a row.
const LITTLE: f64 = 1e-13;
const TIRED: usize = 3;

/// Lowers f(z) from `z` by so many steps at most; `f` writes its gradient. Ends where `over`.
pub fn lowered(
    mut z: Vec<f64>,
    steps: usize,
    over: &dyn Fn() -> bool,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Vec<f64> {
    let mut g = vec![0.0; z.len()];
    let mut value = f(&z, &mut g);
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::new();
    let mut tired = 0;
    for _ in 0..steps {
        if over() || !value.is_finite() {
            break;
        }
        let mut d = direction(&g, &pairs);
        let mut slope = dot(&d, &g);
        if slope >= 0.0 {
            pairs.clear();
            d = direction(&g, &pairs);
            slope = dot(&d, &g);
        }
        if slope.is_nan() || slope >= 0.0 {
            break;
        }
        let mut t = if pairs.is_empty() { (0.1 * length(&z) / length(&d)).max(1e-3) } else { 1.0 };
        let (mut next, mut there) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let mut found = None;
        for _ in 0..TRIALS {
            next.iter_mut().zip(&z).zip(&d).for_each(|((n, z), d)| *n = z + t * d);
            let now = f(&next, &mut there);
            if now.is_finite() && now <= value + DECREASE * t * slope {
                found = Some(now);
                break;
            }
            // the minimiser of the parabola through both ends
            let curve = now - value - t * slope;
            let least = if curve > 0.0 { -0.5 * slope * t * t / curve } else { 0.0 };
            t = if least.is_finite() { least.clamp(0.1 * t, 0.5 * t) } else { 0.1 * t };
        }
        let Some(now) = found else {
            if pairs.is_empty() {
                break;
            }
            pairs.clear();
            continue;
        };
        let s: Vec<f64> = next.iter().zip(&z).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = there.iter().zip(&g).map(|(a, b)| a - b).collect();
        let curvature = dot(&s, &y);
        if curvature > 1e-12 * length(&s) * length(&y) {
            pairs.push_back((s, y, 1.0 / curvature));
        }
        if pairs.len() > MEMORY {
            pairs.pop_front();
        }
        tired = if value - now <= LITTLE * now.abs() { tired + 1 } else { 0 };
        (z, g, value) = (next, there, now);
        if tired >= TIRED {
            break;
        }
    }
    z
}

/// −Hg by two loops over the pairs.
fn direction(g: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q: Vec<f64> = g.iter().map(|v| -v).collect();
    let mut kept = Vec::with_capacity(pairs.len());
    for (s, y, rho) in pairs.iter().rev() {
        let alpha = rho * dot(s, &q);
        axpy(-alpha, y, &mut q);
        kept.push(alpha);
    }
    if let Some((_, y, rho)) = pairs.back() {
        let gamma = 1.0 / (rho * dot(y, y));
        q.iter_mut().for_each(|v| *v *= gamma);
    }
    for ((s, y, rho), alpha) in pairs.iter().zip(kept.into_iter().rev()) {
        let beta = rho * dot(y, &q);
        axpy(alpha - beta, s, &mut q);
    }
    q
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_valley() {
        let f = |z: &[f64], g: &mut [f64]| {
            let (a, b) = (z[1] - z[0] * z[0], 1.0 - z[0]);
            (g[0], g[1]) = (-400.0 * z[0] * a - 2.0 * b, 200.0 * a);
            100.0 * a * a + b * b
        };
        let z = lowered(vec![-1.2, 1.0], 200, &|| false, f);
        assert!((z[0] - 1.0).abs() < 1e-5 && (z[1] - 1.0).abs() < 1e-5, "{z:?}");
        assert_eq!(lowered(vec![-1.2, 1.0], 200, &|| true, f), [-1.2, 1.0]);
        let broken = lowered(vec![1.0], 10, &|| false, |_, g| {
            g[0] = f64::NAN;
            f64::NAN
        });
        assert_eq!(broken, [1.0]);
    }
}
