//! Numbers as unevaluated sums hi + lo of two f64, about 106 bits.

/// hi + lo.
pub(crate) type Pair = (f64, f64);

/// a + b as the rounded sum and what it lacks (Knuth's two-sum).
#[inline]
pub(crate) fn two_sum(a: f64, b: f64) -> Pair {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// a·b as the rounded product and what it lacks (Dekker's, for processors without fused multiply-add).
pub(super) fn two_product(a: f64, b: f64) -> Pair {
    let split = |v: f64| {
        let shifted = 134_217_729.0 * v; // 2²⁷ + 1
        let high = shifted - (shifted - v);
        (high, v - high)
    };
    let (product, (a1, a0), (b1, b0)) = (a * b, split(a), split(b));
    (product, ((a1 * b1 - product) + a1 * b0 + a0 * b1) + a0 * b0)
}

/// a·b.
pub(super) fn times(a: Pair, b: Pair) -> Pair {
    let (high, low) = two_product(a.0, b.0);
    two_sum(high, low + (a.0 * b.1 + a.1 * b.0))
}

/// a + b, also where they cancel.
pub(super) fn plus(a: Pair, b: Pair) -> Pair {
    let (high, low) = two_sum(a.0, b.0);
    let (more, rest) = two_sum(a.1, b.1);
    let (high, low) = two_sum(high, low + more);
    two_sum(high, low + rest)
}

/// a·v for a power of two v.
pub(super) fn scaled(a: Pair, v: f64) -> Pair {
    (a.0 * v, a.1 * v)
}

/// a − b/m, rounded once at the end but for a share of about 2⁻¹⁰⁰ of a.
pub(super) fn less(a: Pair, b: Pair, m: f64) -> f64 {
    let quotient = b.0 / m;
    let (whole, part) = two_product(quotient, m);
    let rest = ((b.0 - whole) - part) + b.1;
    let (high, low) = two_sum(a.0, -quotient);
    high + (low + (a.1 - rest / m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_f64_loses_is_kept() {
        let (large, small) = (1e16, 0.3);
        let sum = plus((large, small), (-large, 1e-20));
        assert_eq!(sum, (0.3, 1e-20));
        let (large, small) = (2_f64.powi(53), 0.25);
        let square = times((large, small), (large, small)); // 2¹⁰⁶ + 2⁵² + 2⁻⁴
        assert_eq!(square, (2_f64.powi(106), 2_f64.powi(52)));
        assert_eq!(less(square, (2_f64.powi(106), 0.0), 1.0), 2_f64.powi(52));
        assert_eq!(scaled((3.0, 1e-20), 0.5), (1.5, 5e-21));
    }
}
