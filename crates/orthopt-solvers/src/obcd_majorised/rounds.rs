//! A round: disjoint pairs or blocks of rows moved at once, and what F makes of it.

use super::all_rows::settle;
use crate::obcd::{ObcdOptions, block_round, jacobi_round};
use crate::pair_descent::{Demand, PairOracle, Tried, Upkeep, row_products, stationarity_score};
use crate::prelude::*;
use crate::support::descent::Pace;
use orthopt_core::objective::size;
use orthopt_core::pair::PairPenalty;
use orthopt_core::pair::movable::Movable;
use orthopt_core::pair::rows::PairStep;
use orthopt_core::pair::step::{Damping, PairWork, Shape};
use orthopt_core::smooth::majoriser::Majoriser;
use orthopt_linalg::kernels::inner;

/// Share of what the majoriser promised that F must fall by.
const SHARE: f64 = 0.1;
/// L is divided by this after a round that was taken at once.
const RELAX: f64 = 1.5;
/// Trials of a round, each with an L of at least twice the last.
const TRIALS: u32 = 60;
/// f is known up to so much of its size.
pub(crate) const ROUNDING: f64 = 1e-13;
/// Decreases below so much of the size of f are nothing but rounding of X.
pub(crate) const NOTHING: f64 = 1e-17;
/// Moves between two gradients that are computed anew from a repaired X, if it needs repair.
pub(crate) const LOOK: u64 = 500;
/// Moves between two gradients that are computed anew whether or not X needs repair.
pub(crate) const REFRESH: u64 = 100_000;
/// ‖XᵀX − I‖_F above which X is repaired on its support.
pub(crate) const DRIFT: f64 = 5e-14;

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
pub(super) struct Iterate {
    pub x: RowMat,  // Xᵗ
    g: RowMat,      // ∇f(Xᵗ)
    pub f: f64,     // f(Xᵗ)
    next: RowMat,   // X⁺ of a trial; Xᵗ between rounds
    next_g: RowMat, // ∇f(X⁺)
    pub l: f64,     // L
    pub scale: f64, // of f
    pub rows: Movable,
    work: PairWork,
    pub gradients: u64,
    pub refused: u64, // trials
    pub repairs: u64,
    alive: bool, // since the last pass something moved, or was left alone because of the tolerance only
    done: bool,  // a whole pass had nothing to offer but rounding
    pace: Pace,  // of steps of all rows
    pub settled: u64, // such steps that lowered F
}

impl Iterate {
    pub fn new<F: Smooth>(f: &F, x: RowMat) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = f.value_and_gradient(&x, &mut g);
        let r = x.ncols();
        let guess = f.step_curvature(x.ncols()).unwrap_or(f64::INFINITY).min(g.norm() / x.norm());
        Self {
            next: x.clone(),
            next_g: g.clone(),
            f: value,
            l: if f.is_concave() { 0.0 } else { guess.max(f64::MIN_POSITIVE) },
            rows: Movable::new(&x),
            scale: f.scale(&x),
            work: PairWork::new(x.ncols()),
            gradients: 1,
            refused: 0,
            repairs: 0,
            alive: false,
            done: false,
            pace: Pace { step: x.norm() / g.norm().max(f64::MIN_POSITIVE), lambda: RowMat::zeros(r, r) },
            settled: 0,
            g,
            x,
        }
    }

    /// A step of all rows from where a pass ended, with as many gradients as a pass of disjoint pairs has. The criticality of X before it,
    /// and F(X) after it where that is lower.
    pub fn settle<F: Smooth, H: PairPenalty>(&mut self, p: &Problem<Stiefel, F, H>) -> (f64, Option<f64>) {
        let (n, before) = (self.x.nrows(), self.f + p.h.value(self.x.data()));
        let done = settle(p, (&self.x, &self.g, self.scale), n, &mut self.pace);
        self.gradients += done.gradients;
        let Some(x) = done.x else { return (done.criticality, None) };
        self.gradients += 1;
        let value = p.f.value_and_gradient(&x, &mut self.next_g);
        let objective = value + p.h.value(x.data());
        let is_lower = before - objective > NOTHING * self.size();
        if !is_lower {
            return (done.criticality, None);
        }
        std::mem::swap(&mut self.g, &mut self.next_g);
        self.f = value;
        self.next.data_mut().copy_from_slice(x.data());
        self.rows = Movable::new(&x);
        self.x = x;
        (self.alive, self.done) = (true, false);
        self.settled += 1;
        (done.criticality, Some(objective))
    }

    /// A size of f that does not cancel.
    fn size(&self) -> f64 {
        self.f.abs() + self.g.norm() * self.x.norm()
    }

    /// ‖G − XGᵀX‖_F relative to the scale of f plus ‖G‖, where h = 0.
    pub fn smooth_criticality(&self) -> f64 {
        stiefel::tangent(&self.x, &self.g).norm() / (self.scale + self.g.norm()).max(f64::MIN_POSITIVE)
    }
}

/// f(X) − f(X⁺), from the values or, where these say no more than rounding, from the gradients at both ends, −½⟨∇f(X) + ∇f(X⁺), X⁺ − X⟩:
/// exact for a quadratic f, and for any other on a short way; on a long one they need not agree with the values.
pub(crate) fn fall(values: f64, gradients: f64, rounding: f64, is_quadratic: bool) -> f64 {
    let agree = values.abs() <= rounding && (gradients - values).abs() <= 2.0 * rounding;
    if agree || is_quadratic { gradients } else { values }
}

/// Disjoint rows that one round moves.
#[derive(Clone, Copy)]
enum Round<'a> {
    Pair(usize, usize),
    Pairs(&'a [(usize, usize)]),
    Blocks(&'a [Vec<usize>]),
}

impl Round<'_> {
    fn rows(self) -> Vec<usize> {
        match self {
            Self::Pair(i, j) => vec![i, j],
            Self::Pairs(pairs) => pairs.iter().flat_map(|(i, j)| [*i, *j]).collect(),
            Self::Blocks(blocks) => blocks.concat(),
        }
    }
}

/// The working sets of X.
pub(super) struct Sets<'a, F, H> {
    pub p: &'a Problem<Stiefel, F, H>,
    pub options: &'a ObcdOptions,
    pub at: &'a mut Iterate,
}

impl<F: Smooth, H: PairPenalty> Sets<'_, F, H> {
    /// Steps (S2) to (S4): trials with growing L until F falls enough.
    fn round(&mut self, round: Round<'_>, demand: Demand) -> Tried {
        let (first, mut rows) = (self.at.l, None);
        for trial in 0..TRIALS {
            let tried = self.minimise(round, demand);
            if tried.moves == 0 {
                self.at.alive |= tried.max_decrease > NOTHING * self.at.size();
                return tried;
            }
            let rows = rows.get_or_insert_with(|| round.rows());
            if tried.decrease <= NOTHING * self.at.size() {
                self.withdraw(rows);
                return Tried { moves: 0, decrease: 0.0, ..tried };
            }
            if let Some(decrease) = self.judge(rows, tried.decrease) {
                self.at.l = if trial == 0 { (self.at.l / RELAX).max(self.floor()) } else { self.at.l };
                self.at.alive = true;
                return Tried { decrease, ..tried };
            }
            self.withdraw(rows);
            self.at.refused += 1;
        }
        // a kink of f, or its rounding: others may pass by it
        self.at.l = first;
        Tried { pairs: 1, ..Tried::default() }
    }

    /// L is 0 for concave f alone.
    fn floor(&self) -> f64 {
        if self.p.f.is_concave() { 0.0 } else { f64::MIN_POSITIVE }
    }

    /// Step (S3): minimises m + h over every working set, in `next`.
    fn minimise(&mut self, round: Round<'_>, demand: Demand) -> Tried {
        let Iterate { x, g, next, l, work, .. } = &mut *self.at;
        let (model, h) = (Majoriser { g, x, l: *l }, &self.p.h);
        let ObcdOptions { model: kind, search, .. } = *self.options;
        // F must fall by SHARE of what m does, and that be α/2‖V − I‖²
        let alpha = demand.alpha / SHARE;
        let shape = Shape { model: kind, alpha, damping: Damping::of(&model), search };
        match round {
            Round::Pair(i, j) => {
                let mut step = PairStep {
                    f: &model,
                    h,
                    shape,
                    x: next,
                    image: &mut (),
                    work,
                    cache: None,
                    least: demand.least,
                };
                let found = step.run(i, j);
                Tried::pair(found.offered, (found.decrease > 0.0).then_some(found.decrease))
            }
            Round::Pairs(pairs) => jacobi_round(&model, h, (shape, demand.least), next, &mut (), pairs),
            Round::Blocks(blocks) => block_round(&model, h, shape, demand.least, next, &mut (), blocks),
        }
    }

    /// Step (S4): the decrease of F if that is enough of what was `promised`, and X⁺ is then the new X. Otherwise L
    /// is raised: to the curvature of f on the way to X⁺, and at least twofold.
    fn judge(&mut self, rows: &[usize], promised: f64) -> Option<f64> {
        let (p, at) = (self.p, &mut *self.at);
        let value = p.f.value_and_gradient(&at.next, &mut at.next_g);
        at.gradients += 1;
        let (mut before, mut after, mut square, mut penalty) = (0.0, 0.0, 0.0, 0.0);
        for i in rows {
            let (old, new) = (at.x.row(*i), at.next.row(*i));
            let d: Vec<f64> = new.iter().zip(old).map(|(a, b)| a - b).collect();
            before += inner(at.g.row(*i), &d);
            after += inner(at.next_g.row(*i), &d);
            square += inner(&d, &d);
            penalty += p.h.value(old) - p.h.value(new);
        }
        let smooth = fall(at.f - value, -0.5 * (before + after), ROUNDING * at.size(), p.f.is_quadratic());
        let decrease = smooth + penalty;
        if decrease >= SHARE * promised && value.is_finite() {
            rows.iter().for_each(|i| {
                at.x.row_mut(*i).copy_from_slice(at.next.row(*i));
                at.rows.update(*i, &at.x);
            });
            std::mem::swap(&mut at.g, &mut at.next_g);
            at.f = value;
            return Some(decrease);
        }
        let met = -2.0 * (smooth + before) / square;
        at.l = (2.0 * at.l).max(f64::MIN_POSITIVE).max(if met.is_finite() { met } else { 0.0 });
        None
    }

    /// X⁺ is X again.
    fn withdraw(&mut self, rows: &[usize]) {
        let Iterate { x, next, .. } = &mut *self.at;
        rows.iter().for_each(|i| next.row_mut(*i).copy_from_slice(x.row(*i)));
    }
}

impl<F: Smooth, H: PairPenalty> PairOracle for Sets<'_, F, H> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        self.round(Round::Pair(i, j), demand)
    }

    fn try_blocks(&mut self, blocks: &[Vec<usize>], demand: Demand) -> Tried {
        self.round(Round::Blocks(blocks), demand)
    }

    fn try_matching(&mut self, pairs: &[(usize, usize)], demand: Demand) -> Tried {
        self.round(Round::Pairs(pairs), demand)
    }

    /// |S| with G = ∇f + a subgradient of h: 0 at kinks.
    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let ObcdOptions { working_set, alpha, .. } = *self.options;
        let (at, h) = (&*self.at, &self.p.h);
        let alpha = alpha * at.scale;
        let row = |i: usize| -> Vec<f64> {
            let slope = |v: f64| Some(h.subdifferential(v)).filter(|(lo, hi)| lo == hi).map_or(0.0, |s| s.0);
            at.g.row(i).iter().zip(at.x.row(i)).map(|(g, x)| g + slope(*x)).collect()
        };
        let score = |&(i, j): &(usize, usize)| {
            let (gi, gj, xi, xj) = (row(i), row(j), at.x.row(i), at.x.row(j));
            stationarity_score(working_set, alpha, at.l, row_products([&gi, &gj, xi, xj]))
        };
        pairs.iter().map(score).collect()
    }

    fn size(&self, objective: f64) -> f64 {
        size(self.at.scale, objective)
    }

    fn upkeep(&self) -> Upkeep {
        Upkeep { refresh: REFRESH, look: LOOK, between_passes: false }
    }

    fn has_drifted(&self) -> bool {
        stiefel::feasibility(&self.at.x) > DRIFT
    }

    fn refresh(&mut self) -> f64 {
        let (drifted, p, at) = (self.has_drifted(), self.p, &mut *self.at);
        if drifted {
            stiefel::repair_on_support(&mut at.x);
            at.repairs += 1;
        }
        at.next.data_mut().copy_from_slice(at.x.data());
        at.f = p.f.value_and_gradient(&at.x, &mut at.g);
        at.gradients += 1;
        at.f + p.h.value(at.x.data())
    }

    fn after_pass(&mut self, _: bool) {
        self.at.done = !std::mem::replace(&mut self.at.alive, false);
    }

    fn ended(&self, _: f64) -> Option<(Status, &'static str)> {
        let why = "a pass over all pairs finds no decrease beyond rounding";
        self.at.done.then_some((Status::Converged, why))
    }
}

#[cfg(test)]
mod tests {
    use crate::obcd::{block_round, jacobi_round};
    use orthopt_core::constraint::stiefel;
    use orthopt_core::nonsmooth::Nonsmooth;
    use orthopt_core::pair::PairPenalty;
    use orthopt_core::pair::step::{Damping, Model, Shape};
    use orthopt_core::penalty::{L1, NoPenalty};
    use orthopt_core::smooth::majoriser::Majoriser;
    use orthopt_core::smooth::{Quadratic, Smooth};
    use orthopt_linalg::RowMat;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn shape(model: &Majoriser<'_>, kind: Model) -> Shape {
        Shape { model: kind, alpha: 1e-9, damping: Damping::of(model), search: Default::default() }
    }

    /// m + h of two rows of Y, by its definition.
    fn by_definition(m: &Majoriser<'_>, h: &impl Nonsmooth, rows: [usize; 2], y: [&[f64]; 2]) -> f64 {
        let mut sum = 0.0;
        for (row, new) in rows.into_iter().zip(y) {
            for k in 0..new.len() {
                let d = new[k] - m.x.get(row, k);
                sum += m.g.get(row, k) * d + 0.5 * m.l * d * d + h.entry(new[k]) - h.entry(m.x.get(row, k));
            }
        }
        sum
    }

    /// Minimum over all rotations and reflections of a fine grid.
    fn slowest(m: &Majoriser<'_>, h: &impl Nonsmooth, rows: [usize; 2]) -> f64 {
        let (a, b, mut least) = (m.x.row(rows[0]), m.x.row(rows[1]), f64::INFINITY);
        for step in 0..40_000 {
            let (s, c) = (f64::from(step) * std::f64::consts::TAU / 40_000.0).sin_cos();
            for v in [[c, s, -s, c], [-c, s, s, c]] {
                let turned = |p: f64, q: f64| a.iter().zip(b).map(|(x, y)| p * x + q * y).collect::<Vec<_>>();
                let (first, second) = (turned(v[0], v[1]), turned(v[2], v[3]));
                least = least.min(by_definition(m, h, rows, [&first, &second]));
            }
        }
        least
    }

    fn round_is_its_slow_twin<H: PairPenalty>(h: &H, seed: u64) {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let (x, g) = (stiefel::random(9, 3, rng), stiefel::random(9, 3, rng));
        let model = Majoriser { g: &g, x: &x, l: 0.7 };
        let (pairs, mut y) = ([(0, 5), (1, 8), (2, 3), (4, 6)], x.clone());
        let done = jacobi_round(&model, h, (shape(&model, Model::Exact), 0.0), &mut y, &mut (), &pairs);
        let mut sum = 0.0;
        for (i, j) in pairs {
            let (fast, slow) =
                (by_definition(&model, h, [i, j], [y.row(i), y.row(j)]), slowest(&model, h, [i, j]));
            assert!(fast <= slow + 1e-12 && slow <= fast + 1e-3, "rows {i}, {j}: {fast} {slow}");
            sum += fast;
        }
        assert!((done.decrease + sum).abs() <= 1e-12 && sum < -0.1 && y.row(7) == x.row(7));
        assert!((model.value(&y) + h.value(y.data()) - h.value(x.data()) - sum).abs() <= 1e-12);
        // what offers no more than `least` is left alone, and said
        let mut still = x.clone();
        let least = done.max_decrease;
        let none = jacobi_round(&model, h, (shape(&model, Model::Exact), least), &mut still, &mut (), &pairs);
        assert!(still == x && none.moves == 0 && none.max_decrease > 0.0 && none.max_decrease <= least);
    }

    #[test]
    fn a_round_minimises_every_pair() {
        for seed in 0..3 {
            round_is_its_slow_twin(&NoPenalty, seed);
            round_is_its_slow_twin(&L1::new(0.1).expect("a weight"), seed);
        }
    }

    /// Without h a block is solved globally: no other V is lower, and the diagonal model (9) takes shorter steps.
    #[test]
    fn a_block_is_minimised_at_once() {
        let rng = &mut Pcg64::seed_from_u64(4);
        let (x, g) = (stiefel::random(9, 4, rng), stiefel::random(9, 4, rng));
        let model = Majoriser { g: &g, x: &x, l: 0.7 };
        let blocks = [vec![0, 3, 5, 8], vec![1, 2, 7]];
        let reached = |kind: Model| {
            let mut y = x.clone();
            let done = block_round(&model, &NoPenalty, shape(&model, kind), 0.0, &mut y, &mut (), &blocks);
            assert!((done.decrease + model.value(&y)).abs() <= 1e-12 && done.moves == 2);
            assert!(stiefel::feasibility(&y) <= 1e-14 && y.row(4) == x.row(4));
            model.value(&y)
        };
        let (exact, diagonal) = (reached(Model::Exact), reached(Model::Diagonal));
        assert!(exact < diagonal && diagonal < 0.0, "{exact} {diagonal}");
        for _ in 0..300 {
            let mut y = x.clone();
            for block in &blocks {
                let v = stiefel::random(block.len(), block.len(), rng);
                for (p, i) in block.iter().enumerate() {
                    for k in 0..4 {
                        let row = block.iter().enumerate().map(|(q, j)| v.get(p, q) * x.get(*j, k));
                        y.set(*i, k, row.sum());
                    }
                }
            }
            assert!(model.value(&y) >= exact, "{} {exact}", model.value(&y));
        }
    }

    #[test]
    fn gradient_and_curvature_are_those_of_the_value() {
        let rng = &mut Pcg64::seed_from_u64(6);
        let [x, g, y] = [(); 3].map(|()| stiefel::random(5, 2, rng));
        let model = Majoriser { g: &g, x: &x, l: 1.5 };
        let mut at = RowMat::zeros(5, 2);
        model.gradient(&y, &mut at);
        for i in 0..5 {
            for k in 0..2 {
                let moved = |t: f64| {
                    let mut z = y.clone();
                    z.set(i, k, z.get(i, k) + t);
                    model.value(&z)
                };
                let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                assert!((slope - at.get(i, k)).abs() <= 1e-10);
                let bend = (moved(1e-2) - 2.0 * moved(0.0) + moved(-1e-2)) / 1e-4;
                assert!(
                    (bend - model.curvature(i, i)).abs() <= 1e-9 && model.curvature(i, (i + 1) % 5) == 0.0
                );
            }
        }
        assert_eq!(model.apply(&y).get(2, 1), 1.5 * y.get(2, 1));
        assert!(!model.is_concave() && Majoriser { l: 0.0, ..model }.is_concave());
    }
}
