//! Vectors of f64 with operators, over pulp's run-time choice of instruction set.
//!
//! A kernel is a struct that implements [`WithSimd`]; [`dispatch`] runs it with the widest
//! instruction set of the machine. Everything a kernel calls takes the token `S` along and is
//! `#[inline(always)]`, otherwise it would be compiled for the baseline. What is large and called from
//! several kernels is a kernel itself, run by [`outlined`]: it exists once per instruction set.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::LazyLock;

use pulp::Arch;
pub use pulp::{Scalar, Simd, WithSimd};

/// The environment variable that limits the instruction set, for tests, and its values.
pub const LIMIT: (&str, &[&str]) = ("ORTHOPT_SIMD", &["scalar", "avx2", "avx512"]);

/// The widest instruction set of this machine up to the limit; read once.
static WIDEST: LazyLock<Arch> = LazyLock::new(|| up_to(std::env::var(LIMIT.0).ok().as_deref()));

fn up_to(limit: Option<&str>) -> Arch {
    match limit {
        Some("scalar") => Arch::Scalar,
        #[cfg(target_arch = "x86_64")]
        Some("avx2") => pulp::x86::V3::try_new().map_or(Arch::Scalar, Arch::V3),
        _ => Arch::new(),
    }
}

/// Arrays that kernels read as vectors are padded to a multiple of this many numbers, which
/// every vector length divides.
pub const PAD: usize = 8;

/// `n` rounded up to whole vectors of eight.
#[inline(always)]
pub fn padded(n: usize) -> usize {
    n.div_ceil(PAD) * PAD
}

/// Runs a kernel with the widest instruction set of this machine, or up to that of [`LIMIT`].
#[inline(always)]
pub fn dispatch<K: WithSimd>(kernel: K) -> K::Output {
    match *WIDEST {
        // most machines have no use for it: once, not at every call
        Arch::Scalar => outlined(Scalar, kernel),
        arch => arch.dispatch(kernel),
    }
}

/// Runs a kernel inside another one, as a function of its own: two calls, a few nanoseconds.
///
/// `vectorize` alone would not do: it is `#[inline]`, and every codegen unit would have a copy.
#[inline(never)]
pub fn outlined<S: Simd, K: WithSimd>(simd: S, kernel: K) -> K::Output {
    simd.vectorize(kernel)
}

/// A vector of `S::F64_LANES` numbers.
#[derive(Clone, Copy, Debug)]
pub struct V<S: Simd> {
    simd: S,
    v: S::f64s,
}

/// One yes or no per lane.
#[derive(Clone, Copy, Debug)]
pub struct Mask<S: Simd> {
    simd: S,
    m: S::m64s,
}

impl<S: Simd> V<S> {
    /// Lanes per vector.
    pub const LANES: usize = S::F64_LANES;

    /// All lanes equal to `x`.
    #[inline(always)]
    pub fn splat(simd: S, x: f64) -> Self {
        Self { simd, v: simd.splat_f64s(x) }
    }

    /// The lanes `data[at..at + LANES]`.
    #[inline(always)]
    pub fn load(simd: S, data: &[f64], at: usize) -> Self {
        let (head, _) = S::as_simd_f64s(&data[at..at + S::F64_LANES]);
        Self { simd, v: head[0] }
    }

    /// The lanes `data[at..]`, zeros where the slice ends.
    #[inline(always)]
    pub fn load_partial(simd: S, data: &[f64], at: usize) -> Self {
        if at + S::F64_LANES <= data.len() {
            Self::load(simd, data, at)
        } else {
            Self { simd, v: simd.partial_load_f64s(&data[at.min(data.len())..]) }
        }
    }

    /// Writes the lanes to `data[at..at + LANES]`.
    #[inline(always)]
    pub fn store(self, data: &mut [f64], at: usize) {
        let (head, _) = S::as_mut_simd_f64s(&mut data[at..at + S::F64_LANES]);
        head[0] = self.v;
    }

    /// `self · m + a`, fused where the machine does that.
    #[inline(always)]
    pub fn mul_add(self, m: Self, a: Self) -> Self {
        Self { simd: self.simd, v: self.simd.mul_add_e_f64s(self.v, m.v, a.v) }
    }

    /// Lane-wise minimum.
    #[inline(always)]
    pub fn min(self, o: Self) -> Self {
        Self { simd: self.simd, v: self.simd.min_f64s(self.v, o.v) }
    }

    /// Lane-wise maximum.
    #[inline(always)]
    pub fn max(self, o: Self) -> Self {
        Self { simd: self.simd, v: self.simd.max_f64s(self.v, o.v) }
    }

    /// Lane-wise absolute value.
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self { simd: self.simd, v: self.simd.abs_f64s(self.v) }
    }

    /// Lane-wise square root.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self { simd: self.simd, v: self.simd.sqrt_f64s(self.v) }
    }

    /// Sum of the lanes.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        self.simd.reduce_sum_f64s(self.v)
    }

    /// Smallest lane.
    #[inline(always)]
    pub fn lowest(self) -> f64 {
        self.simd.reduce_min_f64s(self.v)
    }

    /// Lanes where `self < o`.
    #[inline(always)]
    pub fn less(self, o: Self) -> Mask<S> {
        Mask { simd: self.simd, m: self.simd.less_than_f64s(self.v, o.v) }
    }

    /// Lanes where `self ≤ o`.
    #[inline(always)]
    pub fn at_most(self, o: Self) -> Mask<S> {
        Mask { simd: self.simd, m: self.simd.less_than_or_equal_f64s(self.v, o.v) }
    }
}

impl<S: Simd> Mask<S> {
    /// `yes` where the mask is set, `no` elsewhere.
    #[inline(always)]
    pub fn select(self, yes: V<S>, no: V<S>) -> V<S> {
        V { simd: self.simd, v: self.simd.select_f64s(self.m, yes.v, no.v) }
    }

    /// Lanes set in both.
    #[inline(always)]
    pub fn and(self, o: Self) -> Self {
        Self { simd: self.simd, m: self.simd.and_m64s(self.m, o.m) }
    }

    /// Lanes set in either.
    #[inline(always)]
    pub fn or(self, o: Self) -> Self {
        Self { simd: self.simd, m: self.simd.or_m64s(self.m, o.m) }
    }

    /// Bit `l` is set where lane `l` is.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        if const { size_of::<S::m64s>() == 1 } {
            // AVX-512: the mask register itself
            let byte: u8 = pulp::bytemuck::cast(self.m);
            return u32::from(byte) & ((1u32 << S::F64_LANES) - 1);
        }
        let flags = self.select(V::splat(self.simd, 1.0), V::splat(self.simd, 0.0));
        let mut lanes = [0.0; PAD];
        flags.store(&mut lanes, 0);
        let mut bits = 0;
        for (l, x) in lanes.iter().enumerate().take(S::F64_LANES) {
            bits |= u32::from(*x != 0.0) << l;
        }
        bits
    }
}

impl<S: Simd> Add for V<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { simd: self.simd, v: self.simd.add_f64s(self.v, o.v) }
    }
}

impl<S: Simd> Sub for V<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { simd: self.simd, v: self.simd.sub_f64s(self.v, o.v) }
    }
}

impl<S: Simd> Mul for V<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self { simd: self.simd, v: self.simd.mul_f64s(self.v, o.v) }
    }
}

impl<S: Simd> Div for V<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        Self { simd: self.simd, v: self.simd.div_f64s(self.v, o.v) }
    }
}

impl<S: Simd> Neg for V<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { simd: self.simd, v: self.simd.neg_f64s(self.v) }
    }
}
