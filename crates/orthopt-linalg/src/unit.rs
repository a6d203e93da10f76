//! Powers of two near a number, which numbers are divided by without rounding.

/// The power of two at or below |v|, within the range whose inverse is a normal number; 1 where v is zero or not finite.
/// Within that range that of v·2ᵏ is 2ᵏ times that of v.
pub fn power_of_two(v: f64) -> f64 {
    const SUBNORMAL: i32 = 54;
    let size = v.abs();
    if size == 0.0 || !size.is_finite() {
        return 1.0;
    }
    let exponent = |size: f64| (size.to_bits() >> 52) as i32 - 1023;
    let power =
        if size.is_normal() { exponent(size) } else { exponent(size * 2f64.powi(SUBNORMAL)) - SUBNORMAL };
    2f64.powi(power.clamp(-1000, 1000))
}

/// That of the largest entry in absolute value.
pub fn unit_of(entries: &[f64]) -> f64 {
    power_of_two(entries.iter().fold(0.0f64, |m, v| m.max(v.abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_at_or_below() {
        let two = |k: i32| 2f64.powi(k);
        let cases = [(0.0, 1.0), (1.0, 1.0), (3.0, 2.0), (-0.3, 0.25), (1e300, two(996)), (f64::NAN, 1.0)];
        for (v, p) in cases {
            assert_eq!(power_of_two(v), p, "{v}");
        }
        assert_eq!((power_of_two(5e-324), power_of_two(f64::MAX)), (two(-1000), two(1000)));
        for below in [1.0f64.next_down(), two(20).next_down(), two(-400).next_down()] {
            assert!(power_of_two(below) <= below && below < 2.0 * power_of_two(below), "{below}");
        }
    }
}
