//! The slow, obvious twin: a dense grid in the angle on every component, refined by golden
//! section, with q evaluated from its definition. The oracle of the tests.

use super::{Component, JMove, JPair};

/// Points per component.
const GRID: usize = 4000;

/// The lowest ½vec(V)ᵀQ vec(V) + ⟨V, P⟩ found over |μ| ≤ `limit` (all θ for rows of the same
/// sign): value, component and angle.
pub fn minimise(model: &JPair, mixed: bool, limit: f64) -> (f64, Component, f64) {
    let (components, limit): (&[Component], f64) = if mixed {
        (&Component::BOOSTS, limit)
    } else {
        (&[Component::Rotation, Component::Reflection], std::f64::consts::PI)
    };
    let mut best = (f64::INFINITY, components[0], 0.0);
    for component in components {
        let at = |angle: f64| value(model, *component, angle);
        let place = |k: usize| -limit + 2.0 * limit * k as f64 / GRID as f64;
        let grid: Vec<f64> = (0..=GRID).map(|k| at(place(k))).collect();
        for k in 0..=GRID {
            let (left, right) = (k.saturating_sub(1), (k + 1).min(GRID));
            if grid[k] <= grid[left] && grid[k] <= grid[right] {
                let angle = golden_section(&at, place(left), place(right));
                for (value, angle) in [(at(angle), angle), (grid[k], place(k))] {
                    if value < best.0 {
                        best = (value, *component, angle);
                    }
                }
            }
        }
    }
    best
}

/// ½vec(V)ᵀQ vec(V) + ⟨V, P⟩ by its definition.
pub fn value(model: &JPair, component: Component, angle: f64) -> f64 {
    let (v, p) = (JMove::at(component, angle).matrix(), model.p());
    let vec = [v[0][0], v[1][0], v[0][1], v[1][1]];
    let mut sum = 0.0;
    for i in 0..4 {
        for k in 0..4 {
            sum += 0.5 * vec[i] * model.q[i][k] * vec[k];
        }
    }
    for i in 0..2 {
        for k in 0..2 {
            sum += v[i][k] * p[i][k];
        }
    }
    sum
}

fn golden_section(f: &impl Fn(f64) -> f64, mut lo: f64, mut hi: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..80 {
        let (a, b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
        if f(a) <= f(b) { hi = b } else { lo = a }
    }
    0.5 * (lo + hi)
}
