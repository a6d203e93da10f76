//! Dot products and row updates on slices. They vectorise inside a kernel run by
//! [`super::simd::dispatch`]; `dot` and `pair_products` take the token, the others are plain
//! loops that the compiler vectorises for the instruction set of their caller.

use super::simd::{Simd, V, WithSimd, dispatch};

/// ⟨a, b⟩ with a summation order fixed by the instruction set, so the value is the same on
/// every call and for every thread count. Cost 2·len flops.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let zero = V::splat(simd, 0.0);
    let (mut s0, mut s1) = (zero, zero);
    let lanes = V::<S>::LANES;
    let b = &b[..a.len()];
    let mut at = 0;
    while at + 2 * lanes <= a.len() {
        s0 = V::load(simd, a, at).mul_add(V::load(simd, b, at), s0);
        s1 = V::load(simd, a, at + lanes).mul_add(V::load(simd, b, at + lanes), s1);
        at += 2 * lanes;
    }
    while at < a.len() {
        s0 = V::load_partial(simd, a, at).mul_add(V::load_partial(simd, b, at), s0);
        at += lanes;
    }
    (s0 + s1).sum()
}

/// ⟨a, b⟩, dispatched. For long vectors; inside kernels use [`dot`].
pub fn inner(a: &[f64], b: &[f64]) -> f64 {
    struct Inner<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Inner<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            dot(simd, self.0, self.1)
        }
    }
    dispatch(Inner(a, b))
}

/// Σ|xₖ|, dispatched; 32 running sums in a fixed order.
pub fn sum_abs(x: &[f64]) -> f64 {
    dispatch(|| {
        let mut sums = [0.0f64; 32];
        let blocks = x.chunks_exact(32);
        let rest: f64 = blocks.remainder().iter().map(|v| v.abs()).sum();
        for block in blocks {
            for (s, v) in sums.iter_mut().zip(block) {
                *s += v.abs();
            }
        }
        sums.iter().sum::<f64>() + rest
    })
}

/// The seven inner products of a pair of rows: `[g1·z1, g1·z2, g2·z1, g2·z2, z1·z1, z1·z2,
/// z2·z2]`, that is `G_B Zᵀ` and `ZZᵀ` in one pass over the four rows. Cost 14·len flops.
#[inline(always)]
pub fn pair_products<S: Simd>(simd: S, g1: &[f64], g2: &[f64], z1: &[f64], z2: &[f64]) -> [f64; 7] {
    let r = z1.len();
    let (g1, g2, z2) = (&g1[..r], &g2[..r], &z2[..r]);
    let mut acc = [V::splat(simd, 0.0); 7];
    let mut at = 0;
    while at < r {
        let (a, b) = (V::load_partial(simd, g1, at), V::load_partial(simd, g2, at));
        let (x, y) = (V::load_partial(simd, z1, at), V::load_partial(simd, z2, at));
        acc[0] = a.mul_add(x, acc[0]);
        acc[1] = a.mul_add(y, acc[1]);
        acc[2] = b.mul_add(x, acc[2]);
        acc[3] = b.mul_add(y, acc[3]);
        acc[4] = x.mul_add(x, acc[4]);
        acc[5] = x.mul_add(y, acc[5]);
        acc[6] = y.mul_add(y, acc[6]);
        at += V::<S>::LANES;
    }
    let mut out = [0.0; 7];
    for k in 0..7 {
        out[k] = acc[k].sum();
    }
    out
}

/// `y += c·x`.
#[inline(always)]
pub fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    for (yi, xi) in y.iter_mut().zip(x) {
        *yi += c * *xi;
    }
}

/// `y += c1·x1 + c2·x2`.
#[inline(always)]
pub fn axpy2<S: Simd>(simd: S, c1: f64, x1: &[f64], c2: f64, x2: &[f64], y: &mut [f64]) {
    let n = y.len();
    let (x1, x2) = (&x1[..n], &x2[..n]);
    let (v1, v2) = (V::splat(simd, c1), V::splat(simd, c2));
    let lanes = V::<S>::LANES;
    let mut at = 0;
    while at + lanes <= n {
        let sum = v2.mul_add(V::load(simd, x2, at), V::load(simd, y, at));
        v1.mul_add(V::load(simd, x1, at), sum).store(y, at);
        at += lanes;
    }
    while at < n {
        y[at] += c1 * x1[at] + c2 * x2[at];
        at += 1;
    }
}

/// Whether every entry is exactly zero.
#[inline(always)]
pub fn is_zero(v: &[f64]) -> bool {
    v.iter().all(|x| *x == 0.0)
}
