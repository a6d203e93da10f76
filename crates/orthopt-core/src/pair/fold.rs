//! Columns of Z folded into the first quadrant, and what is shared by the searches that use
//! them.
//!
//! Penalties that ignore signs are unchanged when the two rows of V Z are negated or swapped,
//! and O(2) is the eight signed 2×2 permutations times {rot(θ): 0 ≤ θ < π/2}. So h(θ) and its
//! breakpoints on [0, π/2) are found once and serve eight smooth polynomials (`Lanes`) that
//! differ in signs and order of (a, b, a2, b2) only (docs/mathematics.md, section 2).
//!
//! No angle is ever computed: a column becomes (u, v) with u, v ≥ 0 by swaps and signs, its
//! direction (u, v)/ρ is the breakpoint, and s − c grows with the angle. All of this runs over
//! whole vectors of columns without branches.

use super::circle::Trig;
use super::cut::Cut;
use orthopt_linalg::plane::{Branch, PairMove, SNAP};
use orthopt_linalg::simd::{Simd, V, padded};

/// Work space of the pair searches, grown once and reused: a search allocates nothing.
/// Arrays are padded to whole vectors.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) x: Vec<f64>, // nonzero columns of Z, first row
    pub(super) y: Vec<f64>,
    pub(super) u: Vec<f64>, // folded into the first quadrant
    pub(super) v: Vec<f64>,
    pub(super) c: Vec<f64>, // direction of the breakpoint
    pub(super) s: Vec<f64>,
    pub(super) f: Vec<f64>, // values at the breakpoints
    pub(super) sorted: Curve,
    pub(super) cuts: Vec<Cut>,        // breakpoints of other penalties
    pub(super) arcs: Vec<(f64, f64)>, // arcs where an entry leaves a box
}

/// The penalty curve of ℓ1: points 0 (θ = 0), 1..=n (the breakpoints in order) and n+1 (θ = π/2),
/// each with its direction (c, s), h there, and h(θ) = ha cos θ + hb sin θ up to the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    pub u: Vec<f64>,
    pub v: Vec<f64>,
    pub c: Vec<f64>,
    pub s: Vec<f64>,
    pub h: Vec<f64>,
    pub ha: Vec<f64>,
    pub hb: Vec<f64>,
    pub rank: Vec<f64>,
    pub taken: Vec<u32>,
}

impl Curve {
    pub fn new(r: usize) -> Self {
        // one vector more, as intervals load their right ends from one place further
        let a = || vec![0.0; padded(r + 2) + 8];
        Self { u: a(), v: a(), c: a(), s: a(), h: a(), ha: a(), hb: a(), rank: a(), taken: vec![0; r + 2] }
    }
}

/// Number of nonzero columns of Z, and of those with exactly one nonzero entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Count {
    pub nonzero: usize,
    pub single: usize,
}

impl Scratch {
    /// Work space for rows of length `r`.
    pub fn new(r: usize) -> Self {
        let a = || vec![0.0; padded(r + 2)];
        Self {
            x: a(),
            y: a(),
            u: a(),
            v: a(),
            c: a(),
            s: a(),
            f: a(),
            sorted: Curve::new(r),
            cuts: Vec::new(),
            arcs: Vec::new(),
        }
    }

    /// Copies the nonzero columns of Z, packed, zeros behind them.
    #[inline(always)]
    pub(super) fn pack<S: Simd>(&mut self, simd: S, z1: &[f64], z2: &[f64]) -> Count {
        let r = z1.len();
        let z2 = &z2[..r];
        let zero = V::splat(simd, 0.0);
        let (mut nonzero, mut both) = (0, 0);
        let mut at = 0;
        while at < r {
            let (a, b) = (V::load_partial(simd, z1, at).abs(), V::load_partial(simd, z2, at).abs());
            nonzero += zero.less(a.max(b)).bits().count_ones() as usize;
            both += zero.less(a.min(b)).bits().count_ones() as usize;
            at += V::<S>::LANES;
        }
        let end = padded(nonzero);
        if nonzero == r {
            self.x[..r].copy_from_slice(z1);
            self.y[..r].copy_from_slice(z2);
            self.x[r..end].fill(0.0);
            self.y[r..end].fill(0.0);
        } else {
            let mut k = 0;
            for l in 0..r {
                if z1[l] != 0.0 || z2[l] != 0.0 {
                    (self.x[k], self.y[k]) = (z1[l], z2[l]);
                    k += 1;
                }
            }
            self.x[k..end].fill(0.0);
            self.y[k..end].fill(0.0);
        }
        Count { nonzero, single: nonzero - both }
    }

    /// Folds the first `n` packed columns: u, v ≥ 0 and the direction (c, s) = (u, v)/ρ.
    /// Padding becomes u = v = c = s = 0.
    #[inline(always)]
    pub(super) fn fold<S: Simd>(&mut self, simd: S, n: usize) {
        let (zero, snap, tiny, one) = (
            V::splat(simd, 0.0),
            V::splat(simd, SNAP),
            V::splat(simd, f64::MIN_POSITIVE),
            V::splat(simd, 1.0),
        );
        let mut at = 0;
        while at < n {
            let (x, y) = (V::load(simd, &self.x, at), V::load(simd, &self.y, at));
            let (ax, ay) = (x.abs(), y.abs());
            // Same signs: first quadrant. Opposite signs: a quarter turn later.
            let same = zero.at_most(x * y);
            let (p, q) = (same.select(ax, ay), same.select(ay, ax));
            // An angle of π/2 is the angle 0 of the next quarter.
            let late = p.at_most(snap * q);
            let u = late.select(q, p);
            let v = late.or(q.at_most(snap * p)).select(zero, q);
            u.store(&mut self.u, at);
            v.store(&mut self.v, at);
            // squares of entries below 1e-140 underflow: such columns are scaled up first
            let length = u + v;
            let small = zero.less(length).and(length.less(V::splat(simd, 1e-140)));
            let up = if small.bits() == 0 { one } else { small.select(V::splat(simd, 1e200), one) };
            let (u, v) = (u * up, v * up);
            let inverse = one / u.mul_add(u, v * v).max(tiny).sqrt();
            (u * inverse).store(&mut self.c, at);
            (v * inverse).store(&mut self.s, at);
            at += V::<S>::LANES;
        }
    }
}

/// Eight smooth polynomials from two: lanes 0–3 are rot(θ + mπ/2), lanes 4–7
/// diag(−1, 1)·rot(θ + mπ/2), m = 0..3.
///
/// A quarter turn maps (a, b, a2, b2) to (b, −a, −a2, −b2). With x = a c + b s, w = b c − a s,
/// y = a2 cos 2θ + b2 sin 2θ and z = 2(b2 cos 2θ − a2 sin 2θ) the four values of a base are
/// x + y, w − y, −x + y, −w − y and their slopes w + z, −x − z, −w + z, x − z.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    bases: [Trig; 2],
}

impl Lanes {
    #[inline(always)]
    pub fn new([rot, refl]: &[Trig; 2]) -> Self {
        // diag(−1, 1)·rot(θ) = ref(−θ)
        let mirrored = Trig { a: refl.a, b: -refl.b, a2: refl.a2, b2: -refl.b2 };
        Self { bases: [*rot, mirrored] }
    }

    /// x, w, y, z of base `b` at the directions (c, s).
    #[inline(always)]
    pub fn parts<S: Simd>(&self, simd: S, b: usize, c: V<S>, s: V<S>) -> [V<S>; 4] {
        let p = &self.bases[b];
        let (c2, s2) = ((c - s) * (c + s), (s + s) * c);
        let x = V::splat(simd, p.a).mul_add(c, V::splat(simd, p.b) * s);
        let w = V::splat(simd, p.b).mul_add(c, V::splat(simd, -p.a) * s);
        let y = V::splat(simd, p.a2).mul_add(c2, V::splat(simd, p.b2) * s2);
        let z = V::splat(simd, 2.0 * p.b2).mul_add(c2, V::splat(simd, -2.0 * p.a2) * s2);
        [x, w, y, z]
    }

    /// Lowest of the eight polynomials at the directions (c, s).
    #[inline(always)]
    pub fn lowest<S: Simd>(&self, simd: S, c: V<S>, s: V<S>) -> V<S> {
        let [x, w, y, _] = self.parts(simd, 0, c, s);
        let [x1, w1, y1, _] = self.parts(simd, 1, c, s);
        let (even, odd) = ((y - x.abs()).min(y1 - x1.abs()), (y + w.abs()).max(y1 + w1.abs()));
        even.min(-odd)
    }

    /// Lane `l` as a polynomial.
    #[inline(always)]
    pub fn lane(&self, l: usize) -> Trig {
        let Trig { a, b, a2, b2 } = self.bases[l / 4];
        match l % 4 {
            0 => Trig { a, b, a2, b2 },
            1 => Trig { a: b, b: -a, a2: -a2, b2: -b2 },
            2 => Trig { a: -a, b: -b, a2, b2 },
            _ => Trig { a: -b, b: a, a2: -a2, b2: -b2 },
        }
    }

    /// The lowest lane at one direction, and its value.
    #[inline(always)]
    pub fn lowest_lane(&self, c: f64, s: f64) -> (usize, f64) {
        let (c2, s2) = ((c - s) * (c + s), 2.0 * s * c);
        let mut best = (0, f64::INFINITY);
        for (b, p) in self.bases.iter().enumerate() {
            let (x, w, y) = (p.a * c + p.b * s, p.b * c - p.a * s, p.a2 * c2 + p.b2 * s2);
            let even = (4 * b + if x <= 0.0 { 0 } else { 2 }, y - x.abs());
            let odd = (4 * b + if w <= 0.0 { 1 } else { 3 }, -y - w.abs());
            let low = if odd.1 < even.1 { odd } else { even };
            if low.1 < best.1 {
                best = low;
            }
        }
        best
    }
}

/// The element of O(2) that lane `l` stands for at the direction (c, s).
#[inline(always)]
pub(super) fn lane_move(l: usize, c: f64, s: f64) -> PairMove {
    let (c, s) = match l & 3 {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    };
    if l < 4 { PairMove::new(Branch::Rotation, c, s) } else { PairMove::new(Branch::Reflection, c, -s) }
}

/// Best candidate so far.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub value: f64,
    pub found: Option<PairMove>,
}

/// Differences below this are rounding: a few units in the last place of the largest terms.
#[inline(always)]
pub(super) fn noise([rot, refl]: &[Trig; 2], h: f64) -> f64 {
    8.0 * f64::EPSILON * (rot.scale().max(refl.scale()) + h)
}

/// Offers the minimisers of the two circles where the penalty has the constant value `h`: the
/// circle with the lower bound first, the other only if its bound can still win.
#[inline(always)]
pub(super) fn offer_smooth(best: &mut Best, circles: &[Trig; 2], h: f64, eps: f64) {
    let norms = [circles[0].norms(), circles[1].norms()];
    // either circle can have the lower bound: an index instead of a branch that would be mispredicted
    let first = usize::from(norms[1].0 + norms[1].1 > norms[0].0 + norms[0].1);
    offer_circle(best, circles, norms, first, h, eps);
    offer_circle(best, circles, norms, 1 - first, h, eps);
}

#[inline(always)]
fn offer_circle(best: &mut Best, circles: &[Trig; 2], norms: [(f64, f64); 2], k: usize, h: f64, eps: f64) {
    if h - norms[k].0 - norms[k].1 < best.value - eps {
        let circle = circles[k];
        let (c, s) = circle.minimiser_given(norms[k]);
        let value = circle.value(c, s) + h;
        if value < best.value - eps {
            let branch = if k == 0 { Branch::Rotation } else { Branch::Reflection };
            *best = Best { value, found: Some(PairMove::new(branch, c, s)) };
        }
    }
}
