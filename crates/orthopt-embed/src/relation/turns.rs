//! All pairs of rows of a J-orthogonal matrix as coordinates of small steps: R ← Π V(θᵢⱼ) R with circular or
//! hyperbolic 2 × 2 blocks V, in rounds of disjoint pairs. R stays on the group whatever the angles are.

use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt_hyperbolic::jobcd::Tournament;
use orthopt_linalg::products::multiply;
use orthopt_linalg::simd::dispatch;

/// The pairs of n rows, in rounds of a tournament.
#[derive(Clone, Debug)]
pub struct Turns {
    n: usize,
    pairs: Vec<(usize, usize)>,
    signs: Vec<f64>, // of each pair: -1 for rotations, 1 for boosts
}

/// Angles of one step stay below.
const CAP: f64 = 0.5;

impl Turns {
    /// All pairs of rows of the group of J: n(n − 1)/2.
    pub fn new(j: &Signature) -> Self {
        let mut rounds = Tournament::new(j.len());
        let pairs: Vec<_> = (0..rounds.rounds()).flat_map(|_| rounds.next_round().0).collect();
        let signs = pairs.iter().map(|(a, b)| if j.mixed(*a, *b) { 1.0 } else { -1.0 }).collect();
        Self { n: j.len(), pairs, signs }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// True if there is no pair: n < 2.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// For each pair, true if it is turned by a boost.
    pub fn boosts(&self) -> impl Iterator<Item = bool> + '_ {
        self.signs.iter().map(|sign| *sign > 0.0)
    }

    /// The derivative along every pair at V = I, from G = ∂L/∂R: Wᵢⱼ − Wⱼᵢ for rows of the same sign, Wᵢⱼ + Wⱼᵢ for
    /// others, W = GRᵀ (JOBCD paper, App. F.2). Cost 2n³ flops.
    pub fn slopes(&self, g: &RowMat, r: &RowMat) -> Vec<f64> {
        let w = multiply(g.as_mat(), r.as_mat().transpose());
        let slope = |((i, j), sign): (&(usize, usize), &f64)| w.get(*i, *j) + sign * w.get(*j, *i);
        self.pairs.iter().zip(&self.signs).map(slope).collect()
    }

    /// Turns the rows of R by the angles, cut to ±0.5, which are used up. Cost 3n³ flops.
    pub fn apply(&self, angles: &mut [f64], r: &mut RowMat) {
        let n = self.n;
        let mut less_one = vec![0.0; angles.len()]; // C - 1
        dispatch(|| {
            for ((c, angle), sign) in less_one.iter_mut().zip(angles.iter_mut()).zip(&self.signs) {
                (*c, *angle) = plane(angle.clamp(-CAP, CAP), *sign);
            }
            for ((((i, j), sign), c), s) in self.pairs.iter().zip(&self.signs).zip(&less_one).zip(&*angles) {
                let (above, below) = r.data_mut().split_at_mut(j * n);
                for (x, y) in above[i * n..(i + 1) * n].iter_mut().zip(&mut below[..n]) {
                    let (u, v) = (*x, *y);
                    *x += c * u + s * v;
                    *y += c * v + sign * s * u;
                }
            }
        });
    }
}

/// (cosh x − 1, sinh x) for the sign 1, (cos x − 1, sin x) for −1, |x| ≤ 0.5: Taylor's series, whose rest is below
/// rounding. (The standard functions, one call after another, took longer than turning the rows.)
#[inline(always)]
fn plane(x: f64, sign: f64) -> (f64, f64) {
    let z = sign * x * x;
    let (mut c, mut s) = (1.0, 1.0);
    for k in [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        c = 1.0 + c * z / ((2.0 * k + 1.0) * (2.0 * k + 2.0));
        s = 1.0 + s * z / ((2.0 * k) * (2.0 * k + 1.0));
    }
    (0.5 * sign * x * x * c, x * s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_those_of_the_standard_library() {
        for k in -50..=50 {
            let x = 0.01 * f64::from(k);
            for (sign, expected) in [
                (1.0, (2.0 * (0.5 * x).sinh().powi(2), x.sinh())),
                (-1.0, (-2.0 * (0.5 * x).sin().powi(2), x.sin())),
            ] {
                let (c, s) = plane(x, sign);
                assert!((c - expected.0).abs() <= 4e-16 * expected.0.abs(), "{x} {sign}: {c} {}", expected.0);
                assert!((s - expected.1).abs() <= 4e-16 * expected.1.abs(), "{x} {sign}: {s} {}", expected.1);
            }
        }
    }

    #[test]
    fn every_pair_occurs_once() {
        for n in [0, 1, 2, 5, 8] {
            let turns = Turns::new(&Signature::leading(n / 2, n).unwrap());
            let mut pairs = turns.pairs.clone();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(
                (pairs.len(), turns.len()),
                (n * n.saturating_sub(1) / 2, n * n.saturating_sub(1) / 2)
            );
            assert_eq!(turns.is_empty(), n < 2);
        }
    }
}
