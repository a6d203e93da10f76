//! Eight f64 lanes as a plain array.
//!
//! The operations are loops over `[f64; 8]` that compile to one AVX-512 (or two AVX2)
//! instructions when they are inlined into a function dispatched by [`dispatch`]. One source
//! serves every instruction set; nothing here is `unsafe`.

use std::ops::{Add, Mul, Neg, Sub};

/// Runs `op` with the widest instruction set this machine has, chosen at run time.
///
/// `op` must be an `#[inline(always)]` closure and everything it calls `#[inline(always)]`,
/// otherwise it is compiled for the baseline instruction set. (`FnMut`, because calling an
/// `FnMut` closure through `FnOnce` goes through a shim that is never inlined.)
#[inline(always)]
pub fn dispatch<R>(op: impl FnMut() -> R) -> R {
    pulp::Arch::new().dispatch(Inlined(op))
}

struct Inlined<F>(F);

impl<R, F: FnMut() -> R> pulp::NullaryFnOnce for Inlined<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}

/// Eight double-precision lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct F8(pub [f64; 8]);

impl F8 {
    /// All lanes zero.
    pub const ZERO: Self = Self([0.0; 8]);

    /// All lanes equal to `v`.
    #[inline(always)]
    pub fn splat(v: f64) -> Self {
        Self([v; 8])
    }

    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = [0.0; 8];
        for l in 0..8 {
            out[l] = f(self.0[l], o.0[l]);
        }
        Self(out)
    }

    /// `self * m + a`, fused.
    #[inline(always)]
    pub fn mul_add(self, m: Self, a: Self) -> Self {
        let mut out = [0.0; 8];
        for l in 0..8 {
            out[l] = self.0[l].mul_add(m.0[l], a.0[l]);
        }
        Self(out)
    }

    /// Lane-wise minimum (neither operand may be NaN).
    #[inline(always)]
    pub fn min(self, o: Self) -> Self {
        self.zip(o, |a, b| if a < b { a } else { b })
    }

    /// Lane-wise maximum (neither operand may be NaN).
    #[inline(always)]
    pub fn max(self, o: Self) -> Self {
        self.zip(o, |a, b| if a > b { a } else { b })
    }

    /// Smallest lane.
    #[inline(always)]
    pub fn min_lane(self) -> f64 {
        let mut m = self.0[0];
        for l in 1..8 {
            if self.0[l] < m {
                m = self.0[l];
            }
        }
        m
    }

    /// Bit `l` is set where lane `l` of `self` is below lane `l` of `o`.
    #[inline(always)]
    pub fn below(self, o: Self) -> u32 {
        let mut bits = 0;
        for l in 0..8 {
            bits |= u32::from(self.0[l] < o.0[l]) << l;
        }
        bits
    }
}

impl Add for F8 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, |a, b| a + b)
    }
}

impl Sub for F8 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, |a, b| a - b)
    }
}

impl Mul for F8 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.zip(o, |a, b| a * b)
    }
}

impl Neg for F8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let mut out = [0.0; 8];
        for l in 0..8 {
            out[l] = -self.0[l];
        }
        Self(out)
    }
}
