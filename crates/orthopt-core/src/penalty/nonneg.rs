use crate::nonsmooth::Nonsmooth;
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::arc;
use crate::pair::circle::{Trig, hypot};
use crate::pair::fold::Scratch;
use crate::pair::l0_search::search_none;
use orthopt_linalg::plane::{Branch, PairMove, SNAP};
use orthopt_linalg::simd::Simd;

/// h = indicator of x ≥ 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nonneg;

impl Nonsmooth for Nonneg {
    #[inline(always)]
    fn entry(&self, x: f64) -> f64 {
        if x >= 0.0 { 0.0 } else { f64::INFINITY }
    }

    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        (x >= 0.0).then_some((0.0, 0.0))
    }

    fn prox(&self, v: f64, _mu: f64) -> f64 {
        v.max(0.0)
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        // the normal cone of [0, ∞)
        if x > 0.0 { (0.0, 0.0) } else { (f64::NEG_INFINITY, 0.0) }
    }

    fn requires_nonneg(&self) -> bool {
        true
    }

    fn is_even(&self) -> bool {
        false
    }
}

impl PairPenalty for Nonneg {
    /// From a nonnegative Z all columns lie in the first quadrant, at angles φₖ. rot(θ) keeps
    /// them there for θ ∈ [max φ − π/2, min φ], ref(θ) for θ ∈ [π/2 − min φ, π − max φ]: two
    /// arcs of the same width π/2 + min φ − max φ. On each the candidates are its two ends and
    /// the minima inside (docs/mathematics.md, section 2). Cost O(r).
    #[inline(always)]
    fn search_in<S: Simd>(&self, _simd: S, m: &PairModel<'_>, _scratch: &mut Scratch) -> Option<PairMove> {
        let Some((lo, hi)) = extreme_directions(m.z1, m.z2) else {
            return search_none(m); // Z = 0 is feasible whatever V is
        };
        let circles = m.circles();
        let eps = 8.0 * f64::EPSILON * circles[0].scale().max(circles[1].scale());
        // width of both arcs: cos Δ = sin(max φ − min φ), sin Δ = cos(max φ − min φ)
        let (sin_gap, cos_gap) = (hi.1 * lo.0 - hi.0 * lo.1, hi.0 * lo.0 + hi.1 * lo.1);
        let (cos, sin) = if cos_gap <= SNAP { (1.0, 0.0) } else { (sin_gap, cos_gap) };
        let t = sin / (1.0 + cos);
        let starts = [(hi.1, -hi.0), (lo.1, lo.0)];
        let mut best = (circles[0].at_zero(), None);
        for ((branch, p), start) in
            [Branch::Rotation, Branch::Reflection].into_iter().zip(&circles).zip(starts)
        {
            if p.lower_bound() >= best.0 - eps {
                continue;
            }
            best = search_arc(best, branch, p, start, (t, cos, sin), eps);
        }
        best.1
    }
}

type Best = (f64, Option<PairMove>);

#[inline(always)]
fn search_arc(
    best: Best,
    branch: Branch,
    p: &Trig,
    start: (f64, f64),
    arc: (f64, f64, f64),
    eps: f64,
) -> Best {
    let (mut value, mut found) = best;
    let local = p.shifted(start.0, start.1);
    let (t, cos, sin) = arc;
    let mut offer = |c: f64, s: f64, v: f64| {
        if v < value - eps {
            value = v;
            let dir = (start.0 * c - start.1 * s, start.1 * c + start.0 * s);
            found = Some(PairMove::new(branch, dir.0, dir.1));
        }
        value
    };
    offer(1.0, 0.0, local.at_zero());
    let upper = offer(cos, sin, local.value(cos, sin));
    if t > 0.0
        && let Some(inside) = arc::minimise(&local, t, upper, eps)
    {
        offer(inside.c, inside.s, inside.value);
    }
    (value, found)
}

/// Unit directions of the columns of Z with the smallest and the largest angle.
#[inline(always)]
fn extreme_directions(z1: &[f64], z2: &[f64]) -> Option<((f64, f64), (f64, f64))> {
    let (mut lo, mut hi) = ((0.0, 0.0), (0.0, 0.0));
    let (mut lo_key, mut hi_key) = (f64::INFINITY, f64::NEG_INFINITY);
    for (&u, &v) in z1.iter().zip(z2) {
        let sum = u + v;
        if sum == 0.0 {
            continue;
        }
        let key = v / sum; // increasing in the angle
        if key < lo_key {
            (lo_key, lo) = (key, (u, v));
        }
        if key > hi_key {
            (hi_key, hi) = (key, (u, v));
        }
    }
    (hi_key >= lo_key).then(|| (unit(lo), unit(hi)))
}

#[inline(always)]
fn unit((u, v): (f64, f64)) -> (f64, f64) {
    let sum = 1.0 / (u + v); // first, as squares of tiny entries underflow
    let (u, v) = (u * sum, v * sum);
    let scale = 1.0 / hypot(u, v);
    (u * scale, v * scale)
}
