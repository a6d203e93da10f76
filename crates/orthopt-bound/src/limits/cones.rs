//! Projections onto the sets of the relaxation (docs/bounds-limits.md, section 4): the capped simplex of the shares z,
//! the cone of absolute values, the cone of a row.

use orthopt_linalg::RowMat;
use orthopt_linalg::order::sort_numbers_down;

/// Halvings of an interval, at most: more than the digits of a number.
const HALVINGS: usize = 70;
/// Steps of a root finder that doubles the correct digits, or nearly so, in each.
const STEPS: usize = 60;

/// The point of {0 ≤ z ≤ 1, Σ z = q over the entries that are not forced} nearest to v; forced entries are 1. With
/// `fewer`, Σ z ≤ q.
pub fn capped_simplex(v: &[f64], forced: &[bool], q: usize, fewer: bool, z: &mut [f64]) {
    let free = |i: &usize| !forced[*i];
    let count = (0..v.len()).filter(free).count();
    z.fill(1.0);
    if fewer {
        (0..v.len()).filter(free).for_each(|i| z[i] = v[i].clamp(0.0, 1.0));
        if (0..v.len()).filter(free).map(|i| z[i]).sum::<f64>() <= q as f64 {
            return;
        }
    } else if q >= count {
        return;
    }
    if q == 0 {
        (0..v.len()).filter(free).for_each(|i| z[i] = 0.0);
        return;
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in (0..v.len()).filter(free) {
        (low, high) = (low.min(v[i] - 1.0), high.max(v[i]));
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let sum: f64 = (0..v.len()).filter(free).map(|i| (v[i] - middle).clamp(0.0, 1.0)).sum();
        if sum > q as f64 { low = middle } else { high = middle }
    }
    let shift = 0.5 * (low + high);
    (0..v.len()).filter(free).for_each(|i| z[i] = (v[i] - shift).clamp(0.0, 1.0));
}

/// Replaces (T, z) by the nearest point of {Σ aᵢaⱼ|Tᵢⱼ| ≤ κ Σ aᵢ²zᵢ}, entries of z weighing ω: T is soft-thresholded
/// at ηaᵢaⱼ and z grows by ηκaᵢ²/ω; with `nonneg` T ≥ 0 as well, which makes negative entries 0. Returns η, the root of a decreasing convex piecewise linear function, which
/// Newton's method meets from below after a few steps.
pub fn project_absolute(
    t: &mut RowMat,
    z: &mut [f64],
    a: &[f64],
    (kappa, omega): (f64, f64),
    nonneg: bool,
) -> f64 {
    let n = a.len();
    if nonneg {
        t.data_mut().iter_mut().for_each(|v| *v = v.max(0.0));
    }
    let mut eta = 0.0;
    for step in 0..STEPS {
        let (mut excess, mut slope) = (0.0, 0.0);
        for i in 0..n {
            let square = a[i] * a[i];
            excess -= kappa * square * (z[i] + eta * kappa * square / omega);
            slope += (kappa * square).powi(2) / omega;
            let row = t.row(i);
            for (value, other) in row.iter().zip(a) {
                let weight = a[i] * other;
                let left = value.abs() - eta * weight;
                if left > 0.0 {
                    excess += weight * left;
                    slope += weight * weight;
                }
            }
        }
        if step == 0 && excess <= 0.0 {
            return 0.0;
        }
        let more = excess / slope;
        eta += more;
        if more <= 1e-14 * eta {
            break;
        }
    }
    for i in 0..n {
        z[i] += eta * kappa * a[i] * a[i] / omega;
        let scale = eta * a[i];
        for (value, other) in t.row_mut(i).iter_mut().zip(a) {
            *value = (value.abs() - scale * other).max(0.0).copysign(*value);
        }
    }
    eta
}

/// The cone {(t, s, ζ) : ‖t‖² ≤ c·sζ, s, ζ ≥ 0} of a row, ‖·‖ the norm whose unit ball is the convex hull of the vectors with
/// k nonzeros and length 1 (the k-support norm), and its polar {(u, p, q) : cN(u) ≤ 4pq, p, q ≤ 0}, N(u) the sum of
/// the k largest uⱼ².
#[derive(Debug, Default)]
pub struct RowCone {
    sorted: Vec<f64>,  // |uⱼ|, the largest first
    sums: Vec<f64>,    // of the first of them
    squares: Vec<f64>, // of the first of their squares
}

/// Entries of the prox: |uⱼ| ← max(θ|uⱼ|, min(|uⱼ|, τ)), and N = θ² · `size`.
#[derive(Clone, Copy, Debug)]
struct Shrunk {
    theta: f64,
    tau: f64,
    size: f64,
}

impl RowCone {
    /// Replaces u by its part of the projection of (u, p, q) onto the polar cone; returns those of p and q.
    ///
    /// With the multiplier e of cN(u) ≤ 4pq, u is the prox of (ec/4)N, p − q = (p⁰ − q⁰)/(1 + e) and
    /// p + q = (p⁰ + q⁰)/(1 − e), so that e is the root of (1 − e)√((p − q)² + cN(u)) + p⁰ + q⁰, which falls. It lies
    /// in (0, 1) if p⁰ + q⁰ ≤ 0; otherwise 1/e does.
    pub fn polar(&mut self, u: &mut [f64], (p, q): (f64, f64), k: usize, c: f64) -> (f64, f64) {
        self.sort(u);
        let (sum, difference) = (p + q, p - q);
        let all = self.squares[k.min(u.len())];
        if sum + (difference * difference + c * all).sqrt() <= 0.0 {
            return (p, q); // it is in the polar cone
        }
        let inverse = sum > 0.0;
        // the prox at x (e, or 1/e), p − q, √((p − q)² + cN) and the function whose root x is, over x for 1/e
        let at = |x: f64| {
            let half = 0.5 * c;
            if inverse {
                let shrunk = self.shrunk(x / (x + half), k);
                let apart = difference / (1.0 + x);
                let root = (apart * apart + c * shrunk.size / (x + half).powi(2)).sqrt();
                (shrunk, x * apart, x * root, (1.0 - x) * root - sum)
            } else {
                let shrunk = self.shrunk(1.0 / (1.0 + x * half), k);
                let apart = difference / (1.0 + x);
                let root = (apart * apart + c * shrunk.theta.powi(2) * shrunk.size).sqrt();
                (shrunk, apart, root, (1.0 - x) * root + sum)
            }
        };
        if inverse && at(0.0).3 <= 0.0 {
            u.fill(0.0); // it is in the cone itself
            return (0.0, 0.0);
        }
        let (shrunk, apart, root, _) = falling_root(at);
        for v in u.iter_mut() {
            let size = v.abs();
            *v = (shrunk.theta * size).max(size.min(shrunk.tau)).copysign(*v);
        }
        (0.5 * (apart - root), -0.5 * (apart + root))
    }

    fn sort(&mut self, u: &[f64]) {
        self.sorted.clear();
        self.sorted.extend(u.iter().map(|v| v.abs()));
        sort_numbers_down(&mut self.sorted);
        for (sums, power) in [(&mut self.sums, 1), (&mut self.squares, 2)] {
            sums.clear();
            sums.push(0.0);
            let mut sum = 0.0;
            for v in &self.sorted {
                sum += v.powi(power);
                sums.push(sum);
            }
        }
    }

    /// The prox of ½ηN at the sorted vector, θ = 1/(1 + η) from 0 to 1. Its first a entries are θv, those up to b are τ, the
    /// others stay; with σ = τ/θ, v_a ≥ σ > v_{a+1}, v_b > θσ ≥ v_{b+1} and the weights of N, which are 1 on the
    /// first a, sum to k.
    fn shrunk(&self, theta: f64, k: usize) -> Shrunk {
        let v = &self.sorted;
        let n = v.len();
        if k >= n || v[k - 1] == 0.0 {
            return Shrunk { theta, tau: 0.0, size: self.squares[n] };
        }
        if theta >= 1.0 {
            return Shrunk { theta: 1.0, tau: v[k - 1], size: self.squares[k] };
        }
        let mut b = k;
        let mut a = v[..k].partition_point(|x| theta * x >= v[k - 1]);
        let sigma = loop {
            let rest = (k - a) as f64 * (1.0 - theta) + (b - a) as f64 * theta;
            let sigma = (self.sums[b] - self.sums[a]) / rest;
            if b < n && (a + 1 >= k || v[b] > theta * v[a]) {
                if theta * sigma >= v[b] {
                    break sigma;
                }
                b += 1;
            } else if a + 1 >= k || sigma >= v[a] {
                break sigma;
            } else {
                a += 1;
            }
        };
        Shrunk { theta, tau: theta * sigma, size: self.squares[a] + (k - a) as f64 * sigma * sigma }
    }
}

/// The root in [0, 1] of the last of the numbers that `at` returns, positive at 0 and negative at 1, by the Illinois variant
/// of the secant method; all that `at` returns there.
fn falling_root<A, B, C>(at: impl Fn(f64) -> (A, B, C, f64)) -> (A, B, C, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    let (mut above, mut below) = (at(low).3, at(high).3);
    let mut side = 0;
    let mut found = at(0.5);
    let scale = above.abs().max(below.abs());
    for step in 0..STEPS {
        let secant = (low * below - high * above) / (below - above);
        let x = if step > 0 && secant > low && secant < high { secant } else { 0.5 * (low + high) };
        found = at(x);
        if found.3 > 0.0 {
            (low, above) = (x, found.3);
            below *= if side == 1 { 0.5 } else { 1.0 };
            side = 1;
        } else {
            (high, below) = (x, found.3);
            above *= if side == -1 { 0.5 } else { 1.0 };
            side = -1;
        }
        if found.3.abs() <= 1e-14 * scale || high - low <= 1e-15 * high {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn numbers(rng: &mut Pcg64, n: usize, size: f64) -> Vec<f64> {
        (0..n)
            .map(|_| match rng.random_range(0..6) {
                0 => 0.0,
                1 => size, // ties
                _ => size * (2.0 * rng.random::<f64>() - 1.0),
            })
            .collect()
    }

    /// Sum of the k largest squares, slowly.
    fn largest(u: &[f64], k: usize) -> f64 {
        let mut squares: Vec<f64> = u.iter().map(|v| v * v).collect();
        sort_numbers_down(&mut squares);
        squares.iter().take(k).sum()
    }

    /// The square of the k-support norm by its formula: the largest entries alone, the rest by their sum.
    fn support_norm(t: &[f64], k: usize) -> f64 {
        let mut v: Vec<f64> = t.iter().map(|v| v.abs()).collect();
        sort_numbers_down(&mut v);
        if k >= v.len() {
            return v.iter().map(|v| v * v).sum();
        }
        // the formula is the maximum over the split of 2⟨t, u⟩ − N(u), so that wrong splits give less or are not allowed
        let of = |alone: usize| {
            let rest: f64 = v[alone..].iter().sum();
            let share = rest / (k - alone) as f64;
            let fits = (alone == 0 || v[alone - 1] >= share - 1e-12) && share >= v[alone] - 1e-12;
            fits.then(|| v[..alone].iter().map(|v| v * v).sum::<f64>() + rest * share)
        };
        (0..k).find_map(of).unwrap()
    }

    /// A projection onto a cone and the one onto its polar are orthogonal and sum to the point (Moreau); nothing else does.
    #[test]
    fn the_row_cone_and_its_polar_split_every_point() {
        let mut rng = Pcg64::seed_from_u64(7);
        let mut cone = RowCone::default();
        let mut kinds = [0; 3];
        for case in 0..4000 {
            let n = rng.random_range(1..9);
            let k = rng.random_range(1..=n + 1);
            let c = [1.0, 0.5, 3.0, 10.0][case % 4];
            let size = [1.0, 1e-3, 10.0][case % 3];
            let u = numbers(&mut rng, n, size);
            let mut pair = numbers(&mut rng, 2, 1.0);
            if case % 7 == 0 {
                pair[1] = -pair[0]; // e = 1
            }
            let (p0, q0) = (pair[0], pair[1]);
            let mut polar = u.clone();
            let (p, q) = cone.polar(&mut polar, (p0, q0), k, c);
            let tolerance = 1e-10 * (1.0 + size * size);
            assert!(p <= tolerance && q <= tolerance, "{p} {q}");
            assert!(c * largest(&polar, k) <= 4.0 * p * q + tolerance, "{u:?} {p0} {q0} {k} {c}");
            let t: Vec<f64> = u.iter().zip(&polar).map(|(a, b)| a - b).collect();
            let (s, zeta) = (p0 - p, q0 - q);
            assert!(s >= -tolerance && zeta >= -tolerance, "{s} {zeta}");
            let norm = support_norm(&t, k);
            assert!(norm <= c * s * zeta + tolerance, "{u:?} {p0} {q0} {k} {c}: {norm} {s} {zeta}");
            let inner: f64 = t.iter().zip(&polar).map(|(a, b)| a * b).sum();
            assert!((inner + s * p + zeta * q).abs() <= tolerance, "{u:?} {p0} {q0} {k} {c}: {inner}");
            kinds[if p == p0 && q == q0 {
                0
            } else if p == 0.0 && q == 0.0 {
                1
            } else {
                2
            }] += 1;
        }
        assert!(kinds.iter().all(|count| *count > 50), "{kinds:?}");
    }

    #[test]
    fn the_prox_has_weights_that_sum_to_k() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut cone = RowCone::default();
        for case in 0..2000 {
            let n = rng.random_range(2..10);
            let k = rng.random_range(1..n);
            let u = numbers(&mut rng, n, 1.0);
            cone.sort(&u);
            let eta = [0.01, 0.3, 2.0, 100.0][case % 4];
            let shrunk = cone.shrunk(1.0 / (1.0 + eta), k);
            let out: Vec<f64> =
                cone.sorted.iter().map(|v| (shrunk.theta * v).max(v.min(shrunk.tau))).collect();
            // u⁰ − u = ηwu with 0 ≤ w ≤ 1, w = 1 above and 0 below the k-th largest |u|, Σ w ≤ k
            let mut weights = 0.0;
            for (v, x) in cone.sorted.iter().zip(&out) {
                let w = if *x > 0.0 { (v - x) / (eta * x) } else { 0.0 };
                assert!((-1e-9..=1.0 + 1e-9).contains(&w), "{w}");
                weights += w;
                assert!(*x <= shrunk.tau + 1e-12 || shrunk.tau == 0.0 || w > 1.0 - 1e-9);
                assert!(*x >= shrunk.tau - 1e-12 || w < 1e-9);
            }
            let positive = cone.sorted.iter().filter(|v| **v > 0.0).count();
            assert!(
                (weights - k.min(positive) as f64).abs() <= 1e-8 * k as f64 * (1.0 + 1.0 / eta),
                "{weights} {k}"
            );
            let size = shrunk.theta.powi(2) * shrunk.size;
            assert!((size - largest(&out, k)).abs() <= 1e-12 * size + 1e-15);
        }
    }

    #[test]
    fn the_cone_of_absolute_values_and_its_polar_split_every_point() {
        let mut rng = Pcg64::seed_from_u64(5);
        for case in 0..400 {
            let n = rng.random_range(1..6);
            let (kappa, omega) = ([1.0, 1.4][case % 2], [1.0, 0.04, 0.5][case % 3]);
            let t0 = RowMat::from_vec(n, n, numbers(&mut rng, n * n, 1.0)).unwrap();
            let z0 = numbers(&mut rng, n, 2.0);
            let a: Vec<f64> = (0..n).map(|_| 0.1 + rng.random::<f64>()).collect();
            let (mut t, mut z) = (t0.clone(), z0.clone());
            let eta = project_absolute(&mut t, &mut z, &a, (kappa, omega), false);
            let mut inside = 0.0;
            let mut inner = 0.0;
            for i in 0..n {
                inside -= kappa * a[i] * a[i] * z[i];
                inner += omega * z[i] * (z0[i] - z[i]);
                // the polar part is η(aᵢaⱼ·sign, −κa²/ω) or less off the support
                assert!((omega * (z[i] - z0[i]) - eta * kappa * a[i] * a[i]).abs() <= 1e-12);
                for j in 0..n {
                    inside += a[i] * a[j] * t.get(i, j).abs();
                    let cut = t0.get(i, j) - t.get(i, j);
                    inner += t.get(i, j) * cut;
                    assert!(cut.abs() <= eta * a[i] * a[j] + 1e-12);
                }
            }
            assert!(inside <= 1e-10 && inner.abs() <= 1e-10, "{inside} {inner}");
        }
    }

    /// X ≥ 0: the same cone with T ≥ 0 for points that are cut off at 0 first.
    #[test]
    fn without_signs_what_is_negative_is_cut_off() {
        let mut rng = Pcg64::seed_from_u64(6);
        for _ in 0..100 {
            let n = rng.random_range(1..5);
            let t0 = RowMat::from_vec(n, n, numbers(&mut rng, n * n, 1.0)).unwrap();
            let z0 = numbers(&mut rng, n, 1.0);
            let a: Vec<f64> = (0..n).map(|_| 0.1 + rng.random::<f64>()).collect();
            let mut cut = t0.clone();
            cut.data_mut().iter_mut().for_each(|v| *v = v.max(0.0));
            let (mut t, mut z) = (t0, z0.clone());
            project_absolute(&mut t, &mut z, &a, (1.0, 0.3), true);
            let mut known = z0;
            project_absolute(&mut cut, &mut known, &a, (1.0, 0.3), false);
            assert_eq!((t.data(), &z), (cut.data(), &known));
            assert!(t.data().iter().all(|v| *v >= 0.0));
        }
    }

    #[test]
    fn the_capped_simplex_has_a_common_shift() {
        let mut rng = Pcg64::seed_from_u64(9);
        for _ in 0..500 {
            let n = rng.random_range(1..9);
            let v = numbers(&mut rng, n, 3.0);
            let forced: Vec<bool> = (0..n).map(|_| rng.random_range(0..4) == 0).collect();
            let free: Vec<usize> = (0..n).filter(|i| !forced[*i]).collect();
            let q = rng.random_range(0..=free.len() + 1);
            let mut z = vec![0.0; n];
            capped_simplex(&v, &forced, q, true, &mut z);
            let clipped = |i: &usize| v[*i].clamp(0.0, 1.0);
            let fits = free.iter().map(clipped).sum::<f64>() <= q as f64;
            let few = z.clone();
            capped_simplex(&v, &forced, q, false, &mut z);
            // with fewer allowed the nearest point is that of the box, or has q
            let close = |i: &usize| (few[*i] - if fits { clipped(i) } else { z[*i] }).abs() <= 1e-12;
            assert!(free.iter().all(close), "{few:?} {z:?}");
            assert!((0..n).all(|i| !forced[i] || z[i] == 1.0));
            let sum: f64 = free.iter().map(|i| z[*i]).sum();
            assert!((sum - q.min(free.len()) as f64).abs() <= 1e-12, "{sum} {q}");
            if q > 0 && q < free.len() {
                // what is moved down is not moved less than what stays below 1
                let shift = |i: &usize| v[*i] - z[*i];
                let inner: Vec<f64> =
                    free.iter().filter(|i| z[**i] > 0.0 && z[**i] < 1.0).map(shift).collect();
                let most = free.iter().filter(|i| z[**i] > 0.0).map(shift).fold(f64::INFINITY, f64::min);
                let least = free.iter().filter(|i| z[**i] < 1.0).map(shift).fold(f64::NEG_INFINITY, f64::max);
                assert!(inner.iter().all(|s| (s - inner[0]).abs() <= 1e-12) && most >= least - 1e-12);
            }
        }
    }
}
