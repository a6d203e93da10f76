//! Largest eigenvalues of many small symmetric matrices, row by row in slices: rotations for a number, a Cholesky
//! factorisation for a proof.

use super::super::certified::gamma;
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// Sweeps of rotations; a matrix of a few rows needs fewer than ten.
const SWEEPS: usize = 30;
/// A rotation of an entry below this share of the diagonal changes no digit.
const SMALL: f64 = 1e-18;
/// A sweep whose rotations are all smaller is the last: what it leaves is of the size of their squares.
const LAST: f64 = 1e-8;

/// Buffers for matrices of k rows.
#[derive(Clone, Debug)]
pub struct Kernel {
    k: usize,
    /// The matrix, which [`leading`](Self::leading) overwrites.
    pub b: Vec<f64>,
    l: Vec<f64>,
}

/// Matrices whose rotations are computed side by side.
pub const LANES: usize = 8;
/// A number of each of them.
pub type Lane = [f64; LANES];

/// Buffers for [`LANES`] matrices of k rows.
#[derive(Clone, Debug)]
pub struct Kernels {
    k: usize,
    /// The matrices, which [`leading`](Self::leading) overwrites.
    pub b: Vec<Lane>,
    /// Eigenvectors of the last call of [`leading`](Self::leading).
    pub x: Vec<Lane>,
    v: Vec<Lane>,
}

impl Kernel {
    pub fn new(k: usize) -> Self {
        Self { k, b: vec![0.0; k * k], l: vec![0.0; k * k] }
    }

    /// tI − B ⪰ −eI by a factorisation that completes, e = [`Kernel::error`] of the size of B and t.
    pub fn is_below(&mut self, t: f64) -> bool {
        let (k, b, l) = (self.k, &self.b, &mut self.l);
        for i in 0..k {
            for j in 0..=i {
                let dot: f64 = l[i * k..i * k + j].iter().zip(&l[j * k..j * k + j]).map(|(a, b)| a * b).sum();
                let sum = if i == j { t - b[i * k + i] } else { -b[i * k + j] } - dot;
                if i > j {
                    l[i * k + j] = sum / l[j * k + j];
                } else if sum > 0.0 {
                    l[i * k + i] = sum.sqrt();
                } else {
                    return false; // NaN as well
                }
            }
        }
        true
    }

    /// Bound of e in tI − B ⪰ −eI if a factorisation of tI − B completes and |t| + max |Bᵢᵢ| ≤ `size`: the backward
    /// error is at most γₖ₊₁ times the trace.
    pub fn error(k: usize, size: f64) -> f64 {
        1.01 * gamma(k + 3) * k as f64 * size
    }

    /// The largest eigenvalue of B, to rounding.
    pub fn leading(&self) -> f64 {
        let mut alone = Kernels::new(self.k);
        alone.set(0, &self.b);
        alone.leading()[0]
    }
}

impl Kernels {
    pub fn new(k: usize) -> Self {
        let square = || vec![[0.0; LANES]; k * k];
        Self { k, b: square(), x: vec![[0.0; LANES]; k], v: square() }
    }

    /// Takes a matrix into a lane.
    pub fn set(&mut self, lane: usize, b: &[f64]) {
        self.b.iter_mut().zip(b).for_each(|(to, b)| to[lane] = *b);
    }

    /// The largest eigenvalue of each matrix, to rounding, and its eigenvector in `x`; cyclic rotations, about 20k³ flops for each.
    pub fn leading(&mut self) -> Lane {
        let (k, b, v) = (self.k, &mut self.b, &mut self.v);
        v.fill([0.0; LANES]);
        (0..k).for_each(|i| v[i * (k + 1)] = [1.0; LANES]);
        dispatch(Rotations { b, v, k });
        let mut values = [0.0; LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            let own = |i: usize| self.b[i * (k + 1)][lane];
            let most = (0..k).fold(0, |m, i| if own(i) > own(m) { i } else { m });
            (0..k).for_each(|i| self.x[i][lane] = self.v[i * k + most][lane]);
            *value = own(most);
        }
        values
    }
}

/// Rotations of matrices to diagonal ones, and of `v`.
struct Rotations<'a> {
    b: &'a mut [Lane],
    v: &'a mut [Lane],
    k: usize,
}

impl WithSimd for Rotations<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { b, v, k } = self;
        for _ in 0..SWEEPS {
            let mut rotated = false;
            for p in 0..k {
                for q in p + 1..k {
                    rotated |= rotate(b, v, k, (p, q));
                }
            }
            if !rotated {
                break;
            }
        }
    }
}

/// One rotation of each matrix; false where all rotations are small.
#[inline(always)]
fn rotate(b: &mut [Lane], v: &mut [Lane], k: usize, (p, q): (usize, usize)) -> bool {
    let (app, aqq, apq) = (b[p * k + p], b[q * k + q], b[p * k + q]);
    let (mut c, mut s, mut left) = ([1.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (mut some, mut large) = ([0u64; LANES], [0u64; LANES]);
    for l in 0..LANES {
        let theta = (aqq[l] - app[l]) / (2.0 * apq[l]);
        let t = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
        // not where the entry is no number
        let counts = apq[l].abs() > SMALL * (app[l].abs() + aqq[l].abs());
        let t = if counts { t } else { 0.0 };
        left[l] = if counts { 0.0 } else { apq[l] };
        c[l] = 1.0 / (t * t + 1.0).sqrt();
        s[l] = t * c[l];
        some[l] = u64::from(counts);
        large[l] = u64::from(t.abs() > LAST);
    }
    if some.iter().sum::<u64>() == 0 {
        return false;
    }
    for i in 0..k {
        turn(b, (i * k + p, i * k + q), &c, &s);
    }
    for i in 0..k {
        turn(b, (p * k + i, q * k + i), &c, &s);
        turn(v, (i * k + p, i * k + q), &c, &s);
    }
    (b[p * k + q], b[q * k + p]) = (left, left);
    large.iter().sum::<u64>() > 0
}

/// (x, y) ← (cx − sy, sx + cy).
#[inline(always)]
fn turn(m: &mut [Lane], (p, q): (usize, usize), c: &Lane, s: &Lane) {
    let (x, y) = (m[p], m[q]);
    for l in 0..LANES {
        m[p][l] = c[l] * x[l] - s[l] * y[l];
        m[q][l] = s[l] * x[l] + c[l] * y[l];
    }
}

/// `to` ← to − UV' of matrices side by side, by rows of U and V of `p` numbers; the upper half too.
pub struct Subtracted<'a> {
    pub to: &'a mut [Lane],
    pub u: &'a [Lane],
    pub v: &'a [Lane],
    pub p: usize,
}

impl WithSimd for Subtracted<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { to, u, v, p } = self;
        let k = u.len() / p;
        for a in 0..k {
            for b in 0..=a {
                let mut entry = to[a * k + b];
                for (u, v) in u[a * p..(a + 1) * p].iter().zip(&v[b * p..(b + 1) * p]) {
                    for l in 0..LANES {
                        entry[l] -= u[l] * v[l];
                    }
                }
                (to[a * k + b], to[b * k + a]) = (entry, entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_linalg::RowMat;
    use orthopt_linalg::eigen::symmetric_eigenvalues;

    /// Random, diagonal, zero, of rank one, with repeated eigenvalues, and far from 1 side by side: each lane is what it is alone.
    #[test]
    fn agrees_with_the_general_routine() {
        for k in 1..9 {
            for seed in 0..50 {
                let of = |lane: usize| {
                    let wave =
                        |i: usize, j: usize| (((i + 1) * (j + 1) * (seed + lane + 1)) as f64 * 0.7).sin();
                    let m = RowMat::from_fn(k, k, |i, j| match lane {
                        1 => f64::from(u8::from(i == j)) * wave(i, i),
                        2 => 0.0,
                        3 => wave(i, 0) * wave(j, 0),
                        4 => 1.0 - 2.0 * f64::from(u8::from(i == j)),
                        5 => 2f64.powi(400) * wave(i, j),
                        6 => 2f64.powi(-400) * wave(i, j),
                        _ => wave(i, j),
                    });
                    m.symmetric_part()
                };
                let mut kernels = Kernels::new(k);
                (0..LANES).for_each(|lane| kernels.set(lane, of(lane).data()));
                let values = kernels.leading();
                for lane in 0..LANES {
                    let (m, value) = (of(lane), values[lane]);
                    let exact = symmetric_eigenvalues(&m).unwrap()[0];
                    let mut kernel = Kernel::new(k);
                    kernel.b.copy_from_slice(m.data());
                    assert_eq!(kernel.leading().to_bits(), value.to_bits());
                    let size = 2.0 * m.norm();
                    if lane < 5 {
                        assert!(kernel.is_below(exact + Kernel::error(k, size) + 1e-13));
                        assert!(!kernel.is_below(exact - 1e-12 * (1.0 + size)));
                    }
                    assert!((value - exact).abs() <= 1e-13 * size, "{k} {seed} {lane}: {value} {exact}");
                    let x: Vec<f64> = kernels.x.iter().map(|x| x[lane]).collect();
                    assert!((x.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
                    for i in 0..k {
                        let image: f64 = (0..k).map(|j| m.get(i, j) * x[j]).sum();
                        assert!((image - value * x[i]).abs() <= 1e-12 * size);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_is_never_below() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut kernel = Kernel::new(2);
            kernel.b.copy_from_slice(&[bad, 0.0, 0.0, 1.0]);
            assert!(!kernel.is_below(9.0) && !Kernel::new(2).is_below(f64::NAN));
        }
    }
}
