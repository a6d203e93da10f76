//! Dot products and row updates on slices. They vectorise inside a kernel run by
//! [`super::simd::dispatch`]; those that take the token are parts of a kernel, `inner`, `sum_abs` and
//! `add_weighted_rows` are whole ones, the others are plain loops that the compiler vectorises for the instruction set
//! of their caller.

use super::simd::{PAD, Simd, V, WithSimd, dispatch};

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

/// Numbers from which on a sum is added up in several parts, which a processor adds at the same time.
const LONG_SUM: usize = 32;

/// Σ aₖbₖwₖ.
pub fn weighted_inner(a: &[f64], b: &[f64], w: &[f64]) -> f64 {
    const PARTS: usize = 8;
    let term = |((a, b), w): ((&f64, &f64), &f64)| a * b * w;
    if a.len() < LONG_SUM {
        return a.iter().zip(b).zip(w).map(term).sum();
    }
    let mut sums = [0.0; PARTS];
    let parts = a.chunks(PARTS).zip(b.chunks(PARTS)).zip(w.chunks(PARTS));
    for ((a, b), w) in parts {
        sums.iter_mut().zip(a.iter().zip(b).zip(w)).for_each(|(sum, terms)| *sum += term(terms));
    }
    sums.iter().sum()
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

/// ‖a − b‖², in 32 running sums; a plain loop.
#[inline(always)]
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0f64; 32];
    let (left, right) = (a.chunks_exact(32), b.chunks_exact(32));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| (x - y).powi(2)).sum();
    for (x, y) in left.zip(right) {
        for k in 0..32 {
            sums[k] += (x[k] - y[k]) * (x[k] - y[k]);
        }
    }
    sums.iter().sum::<f64>() + rest
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

/// `out += Σₗ wₗ·(the out.len() numbers of data from startₗ on)`, term(l) = (wₗ, startₗ) for l < terms: the rows of a
/// row-major matrix with weights. The sums stay in registers, in an order fixed by the instruction set. Cost 2·terms·len
/// flops.
pub fn add_weighted_rows(terms: usize, term: impl Fn(usize) -> (f64, usize), data: &[f64], out: &mut [f64]) {
    struct Sum<'a, T> {
        terms: usize,
        term: T,
        data: &'a [f64],
        out: &'a mut [f64],
    }
    impl<T: Fn(usize) -> (f64, usize)> WithSimd for Sum<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (r, lanes) = (self.out.len(), V::<S>::LANES);
            let mut at = 0;
            while at < r {
                let len = (r - at).min(WIDTH * lanes);
                let (terms, data) = ((self.terms, &self.term), (self.data, at));
                let out = &mut self.out[at..at + len];
                match len.div_ceil(lanes) {
                    1 => weighted_columns::<S, 1>(simd, terms, data, out),
                    2 => weighted_columns::<S, 2>(simd, terms, data, out),
                    _ => weighted_columns::<S, WIDTH>(simd, terms, data, out),
                }
                at += len;
            }
        }
    }
    dispatch(Sum { terms, term, data, out });
}

/// Number of rows that [`weighted_columns`] adds at once, enough to hide the latency of an addition, and vectors of
/// each: as many as sixteen registers hold.
const AT_ONCE: usize = 4;
const WIDTH: usize = 3;

/// [`add_weighted_rows`] for the columns from `at` on, at most N vectors of them. May read
/// beyond a row inside `data`; those numbers are in lanes that are not written.
#[inline(always)]
fn weighted_columns<S: Simd, const N: usize>(
    simd: S,
    (terms, term): (usize, &impl Fn(usize) -> (f64, usize)),
    (data, at): (&[f64], usize),
    out: &mut [f64],
) {
    let (lanes, len) = (V::<S>::LANES, out.len());
    let mut sums = [[V::splat(simd, 0.0); N]; AT_ONCE];
    let data = &data[at.min(data.len())..];
    let mut l = 0;
    while l + AT_ONCE <= terms {
        let next: [(f64, usize); AT_ONCE] = [term(l), term(l + 1), term(l + 2), term(l + 3)];
        for k in 0..AT_ONCE {
            add_weighted(simd, next[k], (data, len), &mut sums[k]);
        }
        l += AT_ONCE;
    }
    while l < terms {
        add_weighted(simd, term(l), (data, len), &mut sums[0]);
        l += 1;
    }
    let mut total = [0.0; WIDTH * PAD];
    for k in 0..N {
        ((sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k])).store(&mut total, k * lanes);
    }
    out.iter_mut().zip(total).for_each(|(o, t)| *o += t);
}

/// `sum += weight·row`, N vectors, or `len` numbers where the data end.
#[inline(always)]
fn add_weighted<S: Simd, const N: usize>(
    simd: S,
    (weight, start): (f64, usize),
    (data, len): (&[f64], usize),
    sum: &mut [V<S>; N],
) {
    let (weight, lanes) = (V::splat(simd, weight), V::<S>::LANES);
    if let Some(row) = data.get(start..start + N * lanes) {
        for k in 0..N {
            sum[k] = weight.mul_add(V::load(simd, row, k * lanes), sum[k]);
        }
    } else {
        let row = &data[start..start + len];
        for k in 0..N {
            sum[k] = weight.mul_add(V::load_partial(simd, row, k * lanes), sum[k]);
        }
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

/// True if every entry is exactly zero.
#[inline(always)]
pub fn is_zero(v: &[f64]) -> bool {
    v.iter().all(|x| *x == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_rows_are_the_sum_of_rows() {
        for (m, r) in [(1, 1), (3, 4), (7, 8), (5, 10), (13, 16), (9, 17), (6, 37), (0, 3)] {
            let data: Vec<f64> = (0..m * r).map(|k| ((7 * k) % 23) as f64 - 11.0).collect();
            let weight = |l: usize| (5 * l % 7) as f64 - 3.0;
            // backwards: the last row of the data comes first
            let term = |l: usize| (weight(l), (m - 1 - l) * r);
            let mut out: Vec<f64> = (0..r).map(|k| k as f64).collect();
            let mut slow = out.clone();
            for l in 0..m {
                let row = &data[(m - 1 - l) * r..(m - l) * r];
                axpy(weight(l), row, &mut slow);
            }
            add_weighted_rows(m, term, &data, &mut out);
            assert_eq!(out, slow, "{m} x {r}, whole numbers: no rounding");
        }
    }
}
