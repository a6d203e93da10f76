//! Dot products and row updates on slices, written so that they vectorise when inlined into a
//! dispatched function (see [`crate::linalg::f8::dispatch`]).

use super::f8::F8;

/// ⟨a, b⟩ with a fixed summation order (eight partial sums), so the value is the same on every
/// call and for every thread count. Cost 2·len flops.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut acc = F8::ZERO;
    let (ca, ra) = a.as_chunks::<8>();
    let (cb, rb) = b.as_chunks::<8>();
    for (x, y) in ca.iter().zip(cb) {
        acc = F8(*x).mul_add(F8(*y), acc);
    }
    let mut tail = 0.0;
    for (x, y) in ra.iter().zip(rb) {
        tail = x.mul_add(*y, tail);
    }
    sum_lanes(acc) + tail
}

#[inline(always)]
fn sum_lanes(v: F8) -> f64 {
    let v = v.0;
    ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
}

/// The seven inner products of a pair of rows: `[g1·z1, g1·z2, g2·z1, g2·z2, z1·z1, z1·z2,
/// z2·z2]`, that is `G_B Zᵀ` and `ZZᵀ` in one pass over the four rows. Cost 14·len flops.
#[inline(always)]
pub fn pair_products(g1: &[f64], g2: &[f64], z1: &[f64], z2: &[f64]) -> [f64; 7] {
    let r = z1.len();
    let (g1, g2, z2) = (&g1[..r], &g2[..r], &z2[..r]);
    let mut acc = [F8::ZERO; 7];
    let full = r / 8 * 8;
    let mut o = 0;
    while o < full {
        let load = |v: &[f64]| -> F8 {
            let mut out = [0.0; 8];
            out.copy_from_slice(&v[o..o + 8]);
            F8(out)
        };
        let (a, b, x, y) = (load(g1), load(g2), load(z1), load(z2));
        acc[0] = a.mul_add(x, acc[0]);
        acc[1] = a.mul_add(y, acc[1]);
        acc[2] = b.mul_add(x, acc[2]);
        acc[3] = b.mul_add(y, acc[3]);
        acc[4] = x.mul_add(x, acc[4]);
        acc[5] = x.mul_add(y, acc[5]);
        acc[6] = y.mul_add(y, acc[6]);
        o += 8;
    }
    let mut out = [0.0; 7];
    for (s, v) in out.iter_mut().zip(acc) {
        *s = sum_lanes(v);
    }
    for k in full..r {
        let (a, b, x, y) = (g1[k], g2[k], z1[k], z2[k]);
        out[0] = a.mul_add(x, out[0]);
        out[1] = a.mul_add(y, out[1]);
        out[2] = b.mul_add(x, out[2]);
        out[3] = b.mul_add(y, out[3]);
        out[4] = x.mul_add(x, out[4]);
        out[5] = x.mul_add(y, out[5]);
        out[6] = y.mul_add(y, out[6]);
    }
    out
}

/// `y += c·x`.
#[inline(always)]
pub fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    for (yi, xi) in y.iter_mut().zip(x) {
        *yi = c.mul_add(*xi, *yi);
    }
}

/// `y += c1·x1 + c2·x2`.
#[inline(always)]
pub fn axpy2(c1: f64, x1: &[f64], c2: f64, x2: &[f64], y: &mut [f64]) {
    let n = y.len();
    let (x1, x2) = (&x1[..n], &x2[..n]);
    for k in 0..n {
        y[k] = c1.mul_add(x1[k], c2.mul_add(x2[k], y[k]));
    }
}

/// Whether every entry is exactly zero.
#[inline(always)]
pub fn is_zero(v: &[f64]) -> bool {
    v.iter().all(|x| *x == 0.0)
}
