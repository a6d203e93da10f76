//! Elementary functions without branches, so that loops over them become vector instructions. Relative
//! errors are a few units of rounding; coefficients of ln and asin are those of fdlibm (Sun, 1993).

use std::f64::consts::{FRAC_PI_2, LOG2_E};

const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5·2⁵²: added to a number below 2⁵¹ it rounds that number to an integer, in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// eˣ, x cut to [−708, 709].
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-708.0, 709.0);
    let t = x * LOG2_E + ROUND;
    let k = t - ROUND;
    let r = (x - k * LN2_HI) - k * LN2_LO; // |r| <= ln(2)/2
    let mut sum = 1.0 / 479_001_600.0; // Taylor, 1/12!
    for c in [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + c;
    }
    sum * f64::from_bits(t.to_bits().wrapping_add(1023) << 52)
}

/// ln x for a normal x > 0.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    // the exponent as a number: its bits in the mantissa of 2^52, less that and the bias
    let exponent = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - 4_503_599_627_371_519.0;
    let m = f64::from_bits((bits & MANTISSA) | 0x3ff0_0000_0000_0000);
    let high = m > std::f64::consts::SQRT_2;
    let m = if high { 0.5 * m } else { m };
    let k = if high { exponent + 1.0 } else { exponent };
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = 1.479_819_860_511_658_6e-1;
    for c in [
        1.531_383_769_920_937_3e-1,
        1.818_357_216_161_805e-1,
        2.222_219_843_214_978_4e-1,
        2.857_142_874_366_239e-1,
        3.999_999_999_940_942e-1,
        6.666_666_666_666_735e-1,
    ] {
        r = r * z + c;
    }
    let half = 0.5 * f * f;
    k * LN2_HI - ((half - (s * (half + r * z) + k * LN2_LO)) - f)
}

/// ln(1 + w) for w ≥ 0, accurate for small w.
#[inline(always)]
pub fn ln_1p(w: f64) -> f64 {
    let x = 1.0 + w;
    ln(x) + (w - (x - 1.0)) / x // the second term is what rounding 1 + w has lost
}

/// arcosh(1 + u) for u ≥ 0.
#[inline(always)]
pub fn acosh_1p(u: f64) -> f64 {
    ln_1p(u + (u * (u + 2.0)).sqrt())
}

/// arccos x for 0 ≤ x ≤ 1.
#[inline(always)]
pub fn acos_positive(x: f64) -> f64 {
    let near = x > 0.5;
    let z = if near { 0.5 * (1.0 - x) } else { x * x };
    let s = if near { z.sqrt() } else { x };
    let p = z
        * (1.666_666_666_666_666_6e-1
            + z * (-3.255_658_186_224_009e-1
                + z * (2.012_125_321_348_629_3e-1
                    + z * (-4.005_553_450_067_941e-2
                        + z * (7.915_349_942_898_145e-4 + z * 3.479_331_075_960_212e-5)))));
    let q = 1.0
        + z * (-2.403_394_911_734_414
            + z * (2.020_945_760_233_505_7 + z * (-6.882_839_716_054_533e-1 + z * 7.703_815_055_590_194e-2)));
    let asin = s + s * (p / q);
    if near { 2.0 * asin } else { FRAC_PI_2 - asin }
}

/// arccos x for |x| ≤ 1.
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let positive = acos_positive(x.abs().min(1.0));
    if x < 0.0 { 2.0 * FRAC_PI_2 - positive } else { positive }
}

/// ln(1 + eᶻ).
#[inline(always)]
pub fn softplus(z: f64) -> f64 {
    z.max(0.0) + ln_1p(exp(-z.abs()))
}

/// 1/(1 + e⁻ᶻ).
#[inline(always)]
pub fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + exp(-z))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64, what: &str) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{what}: {a:e} is not {b:e}");
    }

    #[test]
    fn they_are_those_of_the_standard_library() {
        for k in 0..4000 {
            let t = f64::from(k) / 4000.0;
            let x = 1400.0 * (t - 0.5);
            close(exp(x), x.exp(), 3e-15, "exp");
            let y = (80.0 * (t - 0.5)).exp();
            assert!((ln(y) - y.ln()).abs() <= 4e-16 * y.ln().abs().max(1e-300), "ln {y}");
            close(ln_1p(y), y.ln_1p(), 4e-15, "ln_1p");
            close(acosh_1p(y), (y + (y * (y + 2.0)).sqrt()).ln_1p(), 4e-15, "acosh");
            close(acos(2.0 * t - 1.0), (2.0 * t - 1.0).acos(), 4e-15, "acos");
            let z = 100.0 * (t - 0.5);
            close(sigmoid(z), 1.0 / (1.0 + (-z).exp()), 4e-15, "sigmoid");
            close(softplus(z), z.max(0.0) + (-z.abs()).exp().ln_1p(), 4e-15, "softplus");
        }
        assert_eq!((exp(0.0), ln(1.0), acos(1.0)), (1.0, 0.0, 0.0));
        assert_eq!((acos(-1.5), ln_1p(0.0)), (std::f64::consts::PI, 0.0));
        assert!(exp(-1e9) < 1e-300 && exp(1e9) > 1e300);
    }
}
