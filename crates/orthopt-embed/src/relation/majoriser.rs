//! The step of J-JOBCD for one relation: a random round of disjoint pairs of rows, each pair the global minimiser
//! of its majoriser, with backtracking on the constant s.

use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt_hyperbolic::jobcd::matching;
use orthopt_hyperbolic::jobcd::rounds::moved;
use orthopt_hyperbolic::jobcd::rounds::pair_data;
use orthopt_hyperbolic::jobcd::rounds::solve;
use rand_pcg::Pcg64;

/// The constant s of a relation, carried from step to step (docs/mathematics.md, section 9, C10: there is no
/// global one for this loss).
#[derive(Clone, Debug, PartialEq)]
pub struct Majoriser {
    /// s: the pair (i, j) minimises ⟨V − I, W⟩ + ½s‖(V − I)R(B, :)‖²_F + ½θ‖V − I‖²_F.
    pub s: f64,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The loss after it.
    pub value: f64,
    /// True if R moved.
    pub moved: bool,
    /// Number of times that the loss was computed.
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
    /// Cost 7n² flops for the models; n/2 subproblems, O(n²) to move and a loss for every trial (1 to 3 mostly).
    pub fn step(
        &mut self,
        j: &Signature,
        r: &mut RowMat,
        g: &RowMat,
        before: f64,
        rng: &mut Pcg64,
        mut value: impl FnMut(&RowMat) -> f64,
    ) -> Outcome {
        let data = pair_data(r, g, &matching(j.len(), rng));
        for trial in 1..=DOUBLINGS {
            let moves = solve(&data, j, self.s, THETA, Some(CAP));
            let distance: f64 = moves.list.iter().map(|(_, _, v)| v.distance_squared()).sum();
            if distance == 0.0 {
                return Outcome { value: before, moved: false, trials: trial - 1 };
            }
            let next = moved(r, &moves.list);
            let after = value(&next);
            if after <= before - DECREASE * distance {
                *r = next;
                self.s = (self.s / 1.5).max(SMALLEST);
                return Outcome { value: after, moved: true, trials: trial };
            }
            self.s *= 2.0;
        }
        self.s = 1.0; // a kink: another pairing next time, from the start
        Outcome { value: before, moved: false, trials: DOUBLINGS }
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
