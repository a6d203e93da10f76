//! The slow, obvious twin of the pair searches: all breakpoints, and a dense grid with golden
//! section between them, for any separable penalty. The oracle of the tests; cost O(r²·grid).

use super::PairModel;
use super::circle::Trig;
use crate::nonsmooth::Nonsmooth;
use orthopt_linalg::plane::{Branch, PairMove};
use orthopt_linalg::work::count;

/// Grid points per smooth piece.
const GRID: usize = 48;
/// Cost of an objective in units of work: an angle, and every entry.
const ANGLE: usize = 200;
const ENTRY: usize = 20;
/// An entry counts as zero at a breakpoint when it is below this times |x| + |y|.
const ZERO: f64 = 1e-12;

/// A minimum found by the slow search.
#[derive(Clone, Copy, Debug)]
pub struct SlowMin {
    /// q(V) = ⟨V, P⟩ + ½ tr(VᵀKVW) + h(VZ); infinite when no V is feasible.
    pub value: f64,
    /// The move that attains the minimum.
    pub step: PairMove,
}

/// Global minimum of the pair problem by brute force.
pub fn minimise(m: &PairModel<'_>, h: &impl Nonsmooth) -> SlowMin {
    let [rot, refl] = m.circles();
    let neg = |v: &[f64]| v.iter().map(|x| -x).collect::<Vec<_>>();
    // rot(θ)Z has entries c·z1 + s·z2 and c·z2 − s·z1; ref(θ)Z −c·z1 + s·z2 and c·z2 + s·z1
    let branches = [
        (Branch::Rotation, rot, [m.z1.to_vec(), m.z2.to_vec()].concat(), [m.z2.to_vec(), neg(m.z1)].concat()),
        (
            Branch::Reflection,
            refl,
            [neg(m.z1), m.z2.to_vec()].concat(),
            [m.z2.to_vec(), m.z1.to_vec()].concat(),
        ),
    ];
    let mut best = SlowMin { value: f64::INFINITY, step: PairMove::IDENTITY };
    for (branch, p, x, y) in branches {
        let (value, theta) = minimise_angle(&p, &x, &y, h);
        if value < best.value {
            best = SlowMin { value, step: PairMove { branch, c: theta.cos(), s: theta.sin() } };
        }
    }
    best.value += m.constant();
    best
}

/// Global minimum over θ of p(θ) + Σ h(cos θ·xᵢ + sin θ·yᵢ) for arbitrary x, y ∈ ℝᵈ:
/// `(value, θ)`, the value infinite when h is infinite everywhere.
pub fn minimise_angle(p: &Trig, x: &[f64], y: &[f64], h: &impl Nonsmooth) -> (f64, f64) {
    let objective = |theta: f64| -> f64 {
        let (s, c) = theta.sin_cos();
        let penalty: f64 = x
            .iter()
            .zip(y)
            .map(|(&xi, &yi)| {
                let v = c * xi + s * yi;
                h.entry(if v.abs() <= ZERO * (xi.abs() + yi.abs()) { 0.0 } else { v })
            })
            .sum();
        p.value(c, s) + penalty
    };
    let cuts = breakpoints(x, y, h);
    // a search that divides its work must know what this takes
    count(2 * GRID * cuts.len() * (ANGLE + ENTRY * x.len()));
    let mut best = (f64::INFINITY, 0.0);
    let mut offer = |theta: f64| {
        let v = objective(theta);
        if v < best.0 {
            best = (v, theta);
        }
    };
    cuts.iter().for_each(|t| offer(*t));
    for i in 0..cuts.len() {
        let lo = cuts[i];
        let hi = if i + 1 < cuts.len() { cuts[i + 1] } else { cuts[0] + std::f64::consts::TAU };
        let at = |k: usize| lo + (hi - lo) * (k as f64 + 0.5) / GRID as f64;
        let values: Vec<f64> = (0..GRID).map(|k| objective(at(k))).collect();
        for k in 0..GRID {
            let left = if k == 0 { f64::INFINITY } else { values[k - 1] };
            let right = if k + 1 == GRID { f64::INFINITY } else { values[k + 1] };
            if values[k].is_finite() && values[k] <= left && values[k] <= right {
                let a = if k == 0 { lo } else { at(k - 1) };
                let b = if k + 1 == GRID { hi } else { at(k + 1) };
                offer(golden_section(&objective, a, b));
            }
        }
    }
    best
}

/// Sorted angles in [−π, π) where some entry passes a kink of h, with ±π/2, 0 and −π added so
/// that no piece is longer than a quarter turn.
fn breakpoints(x: &[f64], y: &[f64], h: &impl Nonsmooth) -> Vec<f64> {
    use std::f64::consts::{FRAC_PI_2, PI, TAU};
    let mut cuts = vec![-PI, -FRAC_PI_2, 0.0, FRAC_PI_2];
    for (&xi, &yi) in x.iter().zip(y) {
        let rho = xi.hypot(yi);
        if rho == 0.0 {
            continue;
        }
        let phi = yi.atan2(xi);
        for &kink in h.kinks() {
            if kink.abs() <= rho {
                let d = (kink / rho).acos();
                cuts.extend([phi + d, phi - d]);
            }
        }
    }
    for t in &mut cuts {
        *t = (*t + PI).rem_euclid(TAU) - PI;
    }
    cuts.sort_by(f64::total_cmp);
    cuts
}

fn golden_section(f: &impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut c, mut d) = (b - RATIO * (b - a), a + RATIO * (b - a));
    let (mut fc, mut fd) = (f(c), f(d));
    for _ in 0..70 {
        if fc < fd {
            (b, d, fd) = (d, c, fc);
            c = b - RATIO * (b - a);
            fc = f(c);
        } else {
            (a, c, fc) = (c, d, fd);
            d = a + RATIO * (b - a);
            fd = f(d);
        }
    }
    if fc < fd { c } else { d }
}
