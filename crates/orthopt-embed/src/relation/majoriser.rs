//! The step of J-JOBCD for one relation: a random round of disjoint pairs of rows, each pair the global minimiser
//! of its majoriser, with backtracking on the constant s.

use orthopt::RowMat;
use orthopt::constraint::j_orthogonal::Signature;
use orthopt::jpair::{JMove, JPair};
use orthopt::linalg::products::product;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// The constant s of a relation, carried from step to step (docs/mathematics.md, section 9, C10: there is no
/// global one for this loss).
#[derive(Clone, Debug, PartialEq)]
pub struct Majoriser {
    /// s: the pair (i, j) minimises ⟨V − I, W⟩ + ½s‖(V − I)R(B, :)‖²_F + ½θ‖V − I‖²_F.
    pub s: f64,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The loss after it.
    pub value: f64,
    /// Whether R moved.
    pub moved: bool,
    /// How often the loss was computed.
    pub trials: usize,
}

/// θ of the paper's subproblem.
const THETA: f64 = 1e-6;
/// |μ| of one step.
const CAP: f64 = 0.5;
/// A step must lower the loss by this much of Σ‖V − I‖²_F.
const DECREASE: f64 = 1e-4;
const DOUBLINGS: usize = 40;
const SMALLEST: f64 = 1e-8;

impl Default for Majoriser {
    fn default() -> Self {
        Self { s: 1.0 }
    }
}

impl Majoriser {
    /// Moves R, which has the loss `before` and the gradient `g` (or an estimate of it); `value` is the loss at
    /// another R. Where no s up to 2⁴⁰ times the present one lowers the loss enough, R stays.
    ///
    /// Cost 2n³ flops, n/2 subproblems and a loss for every trial (1 to 3 mostly).
    pub fn step(
        &mut self,
        j: &Signature,
        r: &mut RowMat,
        g: &RowMat,
        before: f64,
        rng: &mut Pcg64,
        mut value: impl FnMut(&RowMat) -> f64,
    ) -> Outcome {
        let n = j.len();
        let mut rows: Vec<usize> = (0..n).collect();
        rows.shuffle(rng);
        let mut w = RowMat::zeros(n, n);
        product(&mut w, false, 1.0, g.as_mat(), r.as_mat().transpose());
        for trial in 1..=DOUBLINGS {
            let mut moved = r.clone();
            let mut distance = 0.0;
            for pair in rows.chunks_exact(2) {
                let (i, k) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                if let Some(v) = self.pair(j, r, &w, i, k) {
                    distance += v.distance_squared();
                    let (above, below) = moved.data_mut().split_at_mut(k * n);
                    v.apply(&mut above[i * n..(i + 1) * n], &mut below[..n]);
                }
            }
            if distance == 0.0 {
                return Outcome { value: before, moved: false, trials: trial - 1 };
            }
            let after = value(&moved);
            if after <= before - DECREASE * distance {
                *r = moved;
                self.s = (self.s / 1.5).max(SMALLEST);
                return Outcome { value: after, moved: true, trials: trial };
            }
            self.s *= 2.0;
        }
        self.s = 1.0; // a kink: another pairing next time, from the start
        Outcome { value: before, moved: false, trials: DOUBLINGS }
    }

    fn pair(&self, j: &Signature, r: &RowMat, w: &RowMat, i: usize, k: usize) -> Option<JMove> {
        let inner = |a: usize, b: usize| r.row(a).iter().zip(r.row(b)).map(|(x, y)| x * y).sum();
        let of_rows = [inner(i, i), inner(i, k), inner(k, k)];
        let w = [[w.get(i, i), w.get(i, k)], [w.get(k, i), w.get(k, k)]];
        JPair::metric(w, self.s, of_rows, THETA).solve_within(j.mixed(i, k), CAP).step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::{Form, Group, Relation};
    use rand::SeedableRng;

    /// f = ½‖R − T‖² for a T on the group: every accepted step lowers f, and R gets to T.
    #[test]
    fn steps_are_monotone_feasible_and_end_at_the_target() {
        let group = Group::new(Form::Full, 3, 5).unwrap();
        let mut rng = Pcg64::seed_from_u64(5);
        let (Relation::Full(mut r), Relation::Full(target)) =
            (group.random(0.3, &mut rng), group.random(0.3, &mut rng))
        else {
            unreachable!()
        };
        let difference = |r: &RowMat| RowMat::from_fn(5, 5, |a, b| r.get(a, b) - target.get(a, b));
        let value = |r: &RowMat| 0.5 * difference(r).norm().powi(2);
        let (mut majoriser, mut f) = (Majoriser::default(), value(&r));
        for _ in 0..400 {
            let g = difference(&r);
            let outcome = majoriser.step(&group.j, &mut r, &g, f, &mut rng, value);
            assert!(outcome.value <= f && outcome.value == value(&r).min(outcome.value));
            f = outcome.value;
        }
        assert!(f < 1e-6, "{f}");
        assert!(group.residual(&r) < 1e-12);
    }
}
