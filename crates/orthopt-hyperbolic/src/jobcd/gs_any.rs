//! GS-JOBCD for any smooth f (JOBCD paper, Algorithm 1 with Q = L_f(ZZᵀ ⊗ I₂) + θI): one pair of rows a step, from a
//! gradient of f. It is a round of J-JOBCD with one pair, and finds s ≤ L_f in the same way, by backtracking: a step is
//! made where f falls by ½θ‖V − I‖² and a share of what the model promises.
//!
//! ∇f is kept until X moves, so a pass that finds nothing costs O(n) a pair; a step costs a gradient.

use super::jacobi::{ARMIJO, DOUBLINGS, RELAX};
use super::rounds::{pair_data, solve};
use super::{beyond_limit, has_drifted, not_below_rounding, relative_stationarity, row_norm, upkeep};
use crate::jpair::JMove;
use orthopt_core::constraint::{JOrthogonal, j_orthogonal};
use orthopt_core::objective::size;
use orthopt_core::pair::movable::Movable;
use orthopt_solvers::pair_descent::{Demand, PairOracle, Tried, Upkeep, WorkingSet};
use orthopt_solvers::prelude::*;

/// f creeps where it has not fallen by this share of its size during three quarters of all gradients, at least so many:
/// pairs that meet at a kink of f leave each other steps that get ever smaller.
const CREEP: (f64, u64) = (1e-5, 10_000);

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
pub(super) struct Iterate {
    pub x: RowMat,  // Xᵗ
    g: RowMat,      // ∇f(Xᵗ)
    next_g: RowMat, // that of a trial
    pub f: f64,     // f(Xᵗ)
    pub rows: Movable,
    s: f64,     // s of the metric
    cap: f64,   // L_f, or infinity
    theta: f64, // θ in the unit of ∇f(X)Xᵀ
    scale: f64, // of f
    size: f64,  // the largest ½‖∇f‖‖X‖ seen, a size of f that does not cancel
    gradients: u64,
    refused: u64,       // trials
    fallen: (f64, u64), // f and the gradients made where it last fell by more than creeping
    repairs: u64,
    limited: bool, // ‖X‖ has reached the limit
    alive: bool,   // since the last pass X moved, or was left alone because of the tolerance only
    done: bool,    // a whole pass had nothing to offer but rounding
}

impl Iterate {
    pub fn new<F: Smooth>(f: &F, x: RowMat, theta: f64) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = f.value_and_gradient(&x, &mut g);
        let cap = f.lipschitz().unwrap_or(f64::INFINITY);
        let guess = g.norm() / x.norm().max(1.0);
        let mut at = Self {
            next_g: g.clone(),
            f: value,
            rows: Movable::always(x.nrows()),
            s: guess.min(cap).max(f64::MIN_POSITIVE),
            cap,
            theta: 0.0,
            scale: f.scale(&x),
            size: 0.0,
            gradients: 1,
            refused: 0,
            repairs: 0,
            fallen: (value, 1),
            limited: false,
            alive: false,
            done: false,
            g,
            x,
        };
        at.measure(theta);
        at
    }

    /// θ and the size of f at a new X.
    fn measure(&mut self, theta: f64) {
        let size = self.g.norm() * self.x.norm();
        self.theta = theta * size / self.x.nrows().max(1) as f64;
        self.size = self.size.max(0.5 * size);
    }

    /// max |Ω| relative to the largest |W|, from ∇f(Xᵗ).
    pub fn stationarity<F: Smooth>(&self, p: &Problem<JOrthogonal, F>) -> f64 {
        relative_stationarity(p, &self.x, &self.g, &mut 0.0)
    }

    /// Counters of a run.
    pub fn report(&self, details: &mut Details, components: u64, steps: u64) {
        details.set("s_at_end", self.s);
        details.set("gradients", self.gradients);
        details.set("trials_refused", self.refused);
        details.set("repairs", self.repairs);
        details.set("component_gradients", components * self.gradients);
        let each = (components * self.gradients) as f64 / steps.max(1) as f64;
        details.set("component_gradients_per_iteration", each);
    }
}

/// The pairs of rows of X.
pub(super) struct GradientPairs<'a, F> {
    pub theta: f64,      // relative to the mean curvature
    pub mu_max: f64,     // of a step, where f may be unbounded
    pub norm_limit: f64, // of a row, likewise
    pub rule: WorkingSet,
    pub p: &'a Problem<JOrthogonal, F>,
    pub at: &'a mut Iterate,
}

/// Step of a pair, and the decrease that its model predicts.
struct Promise {
    step: Option<JMove>,
    decrease: f64, // of the model
}

impl<F: Smooth> GradientPairs<'_, F> {
    /// Steps (S2) and (S3).
    fn promise(&self, i: usize, j: usize) -> Promise {
        let (at, p) = (&*self.at, self.p);
        let limit = (!p.is_bounded()).then_some(self.mu_max);
        let data = pair_data(&at.x, &at.g, &[(i, j)]);
        let moves = solve(&data, p.signature(), at.s, at.theta, limit);
        Promise { step: moves.list.first().map(|m| m.2), decrease: moves.predicted }
    }

    /// Decreases of f up to this are rounding.
    fn rounding(&self) -> f64 {
        f64::EPSILON * self.at.f.abs()
    }

    /// Step (S4), if f falls enough: its decrease.
    fn make(&mut self, i: usize, j: usize, v: &JMove, promised: f64) -> Option<f64> {
        let at = &mut *self.at;
        let old = [at.x.row(i).to_vec(), at.x.row(j).to_vec()];
        let (z1, z2) = at.x.two_rows_mut(i, j);
        v.apply_wide(z1, z2);
        let value = self.p.f.value_and_gradient(&at.x, &mut at.next_g);
        at.gradients += 1;
        let least = ARMIJO * promised + 0.5 * at.theta * v.distance_squared();
        // with s = L_f the majoriser guarantees the decrease, but for rounding
        let rounding = if at.s >= at.cap { 1e-14 * at.f.abs() } else { 0.0 };
        if value <= at.f - least + rounding {
            std::mem::swap(&mut at.g, &mut at.next_g);
            let decrease = (at.f - value).max(0.0);
            at.f = value;
            at.measure(self.theta);
            if value < at.fallen.0 - CREEP.0 * size(at.scale, value) {
                at.fallen = (value, at.gradients);
            }
            return Some(decrease);
        }
        at.x.row_mut(i).copy_from_slice(&old[0]);
        at.x.row_mut(j).copy_from_slice(&old[1]);
        at.refused += 1;
        None
    }
}

impl<F: Smooth> PairOracle for GradientPairs<'_, F> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        let (first, mut offered) = (self.at.s, 0.0);
        for trial in 0..DOUBLINGS {
            let Promise { step, decrease } = self.promise(i, j);
            offered = decrease; // of the s that the pair is left with
            let rounding = self.rounding();
            let Some(v) = step.filter(|_| decrease > demand.least.max(rounding)) else {
                self.at.alive |= decrease > rounding;
                return Tried::pair(offered, None);
            };
            if let Some(taken) = self.make(i, j, &v, decrease) {
                let at = &mut *self.at;
                at.s = if trial == 0 { (at.s / RELAX).max(f64::MIN_POSITIVE) } else { at.s };
                at.alive = true;
                let reach = row_norm(at.x.row(i)).max(row_norm(at.x.row(j)));
                at.limited |= !self.p.is_bounded() && reach > self.norm_limit;
                return Tried::pair(offered, Some(taken));
            }
            if self.at.s >= self.at.cap {
                break;
            }
            self.at.s = (2.0 * self.at.s).min(self.at.cap);
        }
        self.at.s = first; // a kink of f: another pair may pass by it
        Tried::pair(offered, None)
    }

    /// The decrease of the model, or |Ωᵢⱼ|.
    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        if self.rule == WorkingSet::GreedyOr {
            return pairs.iter().map(|(i, j)| self.promise(*i, *j).decrease).collect();
        }
        let (at, signs) = (&*self.at, self.p.signature());
        let w = |i: usize, j: usize| -> f64 { at.g.row(i).iter().zip(at.x.row(j)).map(|(a, b)| a * b).sum() };
        let violation = |&(i, j): &(usize, usize)| {
            let other = if signs.mixed(i, j) { w(j, i) } else { -w(j, i) };
            (w(i, j) + other).abs()
        };
        pairs.iter().map(violation).collect()
    }

    fn size(&self, objective: f64) -> f64 {
        not_below_rounding(objective, self.at.size)
    }

    fn shares(&self) -> f64 {
        (self.at.rows.pairs() as f64).max(1.0)
    }

    fn upkeep(&self) -> Upkeep {
        upkeep(&self.at.rows)
    }

    fn has_drifted(&self) -> bool {
        has_drifted(&self.at.x, self.p.signature())
    }

    fn refresh(&mut self) -> f64 {
        let (drifted, at) = (self.has_drifted(), &mut *self.at);
        if drifted && j_orthogonal::repair(&mut at.x, self.p.signature()).is_some() {
            at.repairs += 1;
        }
        at.f = self.p.f.value_and_gradient(&at.x, &mut at.g);
        at.gradients += 1;
        at.measure(self.theta);
        at.f
    }

    fn after_pass(&mut self, _: bool) {
        self.at.done = !std::mem::replace(&mut self.at.alive, false);
    }

    fn ended(&self, objective: f64) -> Option<(Status, &'static str)> {
        if self.at.limited || !objective.is_finite() {
            return Some(beyond_limit(&self.p.f));
        }
        if self.at.gradients >= CREEP.1 && self.at.gradients / 4 >= self.at.fallen.1 {
            return Some((Status::Stalled, "pairs of rows lower f by negligible amounts"));
        }
        self.at.done.then_some((Status::Stalled, "no pair of rows lowers f"))
    }
}
