//! The penalty curve of [`super::pieces`] on an interval, and the breakpoints where it changes.

use super::circle::Trig;
use crate::nonsmooth::Piece;

/// A trigonometric polynomial of degree 2 with its constant: h on one interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    pub constant: f64,
    pub p: Trig,
}

impl Curve {
    /// The piece at x = a cos θ + b sin θ ≥ 0: x² = ½(a²+b²) + ½(a²−b²) cos 2θ + ab sin 2θ.
    #[inline(always)]
    pub fn entry(piece: &Piece, a: f64, b: f64) -> Self {
        let q = 0.25 * piece.bend;
        Self {
            constant: piece.constant + q * (a * a + b * b),
            p: Trig {
                a: piece.slope * a,
                b: piece.slope * b,
                a2: q * (a - b) * (a + b),
                b2: 2.0 * q * (a * b),
            },
        }
    }

    #[inline(always)]
    pub fn add(&mut self, o: &Self) {
        self.constant += o.constant;
        self.p.a += o.p.a;
        self.p.b += o.p.b;
        self.p.a2 += o.p.a2;
        self.p.b2 += o.p.b2;
    }

    #[inline(always)]
    pub fn minus(mut self, o: &Self) -> Self {
        let o = Self { constant: -o.constant, p: Trig { a: -o.p.a, b: -o.p.b, a2: -o.p.a2, b2: -o.p.b2 } };
        self.add(&o);
        self
    }

    #[inline(always)]
    pub fn value(&self, c: f64, s: f64) -> f64 {
        self.constant + self.p.value(c, s)
    }
}

/// A breakpoint in the first quadrant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub key: f64, // s − c, which grows with the angle
    pub c: f64,
    pub s: f64,
    pub change: Curve,
}

impl Cut {
    /// At a direction inside the quadrant up to rounding.
    #[inline(always)]
    pub fn new((c, s): (f64, f64), change: Curve) -> Self {
        let (c, s) = (c.max(0.0), s.max(0.0));
        Self { key: s - c, c, s, change }
    }
}
