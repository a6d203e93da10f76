//! Multipliers for the bound by the alternating direction method of multipliers (docs/bounds-limits.md, section 4).
//!
//! Block A: Y (a projection of rank m, relaxed) and z (shares of the rows), for each part, and t where parts are coupled. Block B:
//! copies in the cones, and V_p = Y_p with Σ V_p ⪯ Diag(t). Of a copy T and its scaled multiplier L, block A
//! needs T − L = Y + L⁻ − 2L only, and block B needs L.

use super::super::certified::spectral;
use super::super::fantope::Fantope;
use super::cones::{RowCone, capped_simplex, project_absolute};
use super::dual::{Dual, Joint, Multipliers, Part, PartDual, Problem, blocks_of, union_of};
use super::state::{JointState, PartState, State};
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::work::count;

/// Penalty parameter, for data whose maximum is about 1 for each column. Bounds change little from 0.3 to 3.
const RHO: f64 = 1.0;
/// Iterations between two checks of the bound.
const CHECK: usize = 10;
/// Steps for the multiplier of t ≤ Σ z in each iteration; it is kept between them.
const INNER: usize = 6;
/// Above this n the clock is checked after every iteration.
const SLOW: usize = 160;
/// Above this n it ends with the checks that were made.
const LARGE: usize = 500;
/// The smallest d: N/(4d) must not overflow.
const SMALLEST: f64 = 1e-12;
/// The smallest weight a, where their squares are 1 on average, and of a share in its update.
const FLOOR: f64 = 1e-3;

/// Limits of the length of a run.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub iterations: usize,
    /// Checks among which the bound must come nearer to the cutoff by `share` of what is missing.
    pub patience: usize,
    pub share: f64,
    /// Rounds of running and of leaving out what the bound decides.
    pub rounds: usize,
}

/// Coupling between the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// One column: nothing.
    None,
    /// One part with several columns: Y ⪯ Diag(z).
    Shared,
    /// Several parts: Σ Y_p ⪯ Diag(t), t ≤ min(1, Σ z_p).
    Columns,
}

impl Coupling {
    pub fn of(problem: &Problem, parts: usize) -> Self {
        match (parts, problem.rank) {
            (1, 1) => Self::None,
            (1, _) => Self::Shared,
            _ => Self::Columns,
        }
    }
}

/// A proved bound and the multipliers that prove it.
#[derive(Debug)]
pub struct Proved {
    pub most: f64,
    pub dual: Dual,
}

/// One run.
pub struct Splitting<'a> {
    problem: &'a Problem,
    parts: &'a [Part],
    coupling: Coupling,
    blocks: Vec<RowMat>,
    state: State,
    runs: Vec<Run>,
    places: Vec<Vec<usize>>, // of the rows of each part among all
    t: Vec<f64>,
    w: Option<(RowMat, f64)>,
    measure: Vec<Fantope>,
    /// True if the multipliers are requested, not only what they prove.
    pub keeps: bool,
}

/// Data of a part beside its state.
#[derive(Default)]
struct Run {
    z: Vec<f64>,
    y: Option<RowMat>,
    t: Option<RowMat>,
    project: Fantope,
    cone: RowCone,
}

impl<'a> Splitting<'a> {
    /// From the state of a run with the same rows, or from none.
    pub fn new(problem: &'a Problem, parts: &'a [Part], state: Option<State>) -> Self {
        let coupling = Coupling::of(problem, parts.len());
        let state = state.unwrap_or_else(|| State::start(parts, problem, coupling));
        let union = union_of(parts);
        let place = |i: &usize| union.binary_search(i).unwrap_or(0);
        let places = parts.iter().map(|part| part.rows.iter().map(place).collect()).collect();
        Self {
            problem,
            parts,
            coupling,
            blocks: blocks_of(&problem.c, parts),
            state,
            runs: parts.iter().map(|part| Run { z: vec![0.0; part.rows.len()], ..Run::default() }).collect(),
            places,
            t: vec![0.0; union.len()],
            w: None,
            measure: vec![Fantope::default(); parts.len()],
            keeps: false,
        }
    }

    pub fn into_state(self) -> State {
        self.state
    }

    /// The shares of the rows of each part, from 0 to 1.
    pub fn shares(&self) -> Vec<Vec<f64>> {
        self.runs.iter().map(|run| run.z.clone()).collect()
    }

    /// Iterates until the bound is at the cutoff or comes no nearer to it.
    pub fn lower(&mut self, cutoff: f64, effort: Effort, over: &dyn Fn() -> bool) -> Option<Proved> {
        let mut history: Vec<f64> = Vec::new();
        let mut best: Option<(f64, Dual)> = None;
        for iteration in 1..=effort.iterations {
            if self.t.len() > LARGE && over() {
                break; // a check takes as long as many a step
            }
            self.step()?;
            let late = self.t.len() > SLOW && over();
            if late && self.t.len() > LARGE {
                break;
            }
            if !iteration.is_multiple_of(CHECK) && !late {
                continue;
            }
            let dual = self.dual();
            if let Some(now) = dual.estimate(self.problem, self.parts, &self.blocks, &mut self.measure)
                && best.as_ref().is_none_or(|b| now < b.0)
            {
                best = Some((now, dual));
            }
            self.adapt();
            let now = best.as_ref().map_or(f64::INFINITY, |b| b.0);
            let looks = history.len();
            let stalled = looks >= 2 * effort.patience
                && history[looks - effort.patience] - now <= effort.share * (now - cutoff);
            history.push(now);
            // a little below, as the proved bound is a little above
            if now + 1e-12 * now.abs() <= cutoff || stalled || late || over() {
                break;
            }
        }
        let dual = best?.1;
        let most = dual.proved(self.problem, self.parts, &self.blocks)?;
        Some(Proved { most, dual })
    }

    fn step(&mut self) -> Option<()> {
        count(self.parts.iter().map(|part| projections(part.rows.len())).sum());
        self.choose_shares();
        let (problem, coupling) = (self.problem, self.coupling);
        let (weight, off) = match coupling {
            Coupling::None => (3.0, 1.0),
            _ => (4.0, 2.0 - coupled(self.problem, self.parts).1),
        };
        for (p, part) in self.parts.iter().enumerate() {
            let (run, state) = (&mut self.runs[p], &mut self.state.parts[p]);
            // Y ← projection of the mean of the copies and of ½C/ρ
            let mut g = std::mem::replace(&mut state.pull, RowMat::zeros(0, 0));
            let data = 0.5 / (weight * RHO);
            g.data_mut().iter_mut().zip(self.blocks[p].data()).for_each(|(g, c)| *g = *g / weight + data * c);
            let y = run.project.project(&g, problem.rank)?;
            state.pull = copies(&y, run, state, part, problem, off);
            run.y = Some(y);
        }
        if coupling != Coupling::None {
            self.couple()?;
        }
        Some(())
    }

    /// z, and t ≤ min(1, Σ z).
    fn choose_shares(&mut self) {
        let problem = self.problem;
        let (price, fewer) = (problem.lambda / RHO, problem.exact());
        let State { parts: states, joint } = &mut self.state;
        match joint {
            None => {
                let (part, state) = (&self.parts[0], &states[0]);
                let price = price / (2.0 * weight_of(problem, part));
                let v: Vec<f64> = state.shares.iter().map(|v| 0.5 * v - price).collect();
                capped_simplex(&v, &part.forced, part.open(), fewer, &mut self.runs[0].z);
            }
            Some(joint) if self.coupling == Coupling::Shared => {
                let (part, state) = (&self.parts[0], &states[0]);
                let (omega, (omega_t, _)) = (weight_of(problem, part), coupled(self.problem, self.parts));
                let mean = |(v, t): (&f64, &f64)| (omega * v + omega_t * t - price) / (2.0 * omega + omega_t);
                let v: Vec<f64> = state.shares.iter().zip(&joint.pull).map(mean).collect();
                capped_simplex(&v, &part.forced, part.open(), fewer, &mut self.runs[0].z);
                self.t.clone_from(&self.runs[0].z);
            }
            Some(joint) => {
                let omega_t = coupled(self.problem, self.parts).0;
                let largest = self.parts.iter().map(|part| weight_of(problem, part)).fold(0.0, f64::max);
                let length = 1.0 / (1.0 / omega_t + self.parts.len() as f64 / (2.0 * largest));
                let n = self.t.len();
                let mut sums = vec![0.0; n];
                for inner in 0..INNER {
                    sums.fill(0.0);
                    for (p, part) in self.parts.iter().enumerate() {
                        let (places, twice) = (&self.places[p], 2.0 * weight_of(problem, part));
                        let pulls = states[p].shares.iter().zip(places);
                        let v: Vec<f64> =
                            pulls.map(|(v, i)| 0.5 * v + (joint.pi[*i] - price) / twice).collect();
                        capped_simplex(&v, &part.forced, part.open(), fewer, &mut self.runs[p].z);
                        places.iter().zip(&self.runs[p].z).for_each(|(i, z)| sums[*i] += z);
                    }
                    for i in 0..n {
                        let t = (joint.pull[i] - joint.pi[i] / omega_t).min(1.0);
                        if inner + 1 < INNER {
                            joint.pi[i] = (joint.pi[i] + length * (t - sums[i])).max(0.0);
                        }
                        self.t[i] = t.min(sums[i]);
                    }
                }
            }
        }
    }

    /// V_p = Y_p with Σ V_p ⪯ Diag(t): what is above goes to a positive semidefinite G, shared by the copies.
    fn couple(&mut self) -> Option<()> {
        let (omega, h) = coupled(self.problem, self.parts);
        let count = self.parts.len() as f64;
        let State { parts: states, joint } = &mut self.state;
        let joint = joint.as_mut()?;
        let n = self.t.len();
        let scaled = |g: f64, diagonal: bool| if diagonal { h * g / count } else { g / count };
        let mut rest = RowMat::zeros(n, n);
        for (run, places) in self.runs.iter().zip(&self.places) {
            let y = run.y.as_ref()?;
            for (a, i) in places.iter().enumerate() {
                let row = rest.row_mut(*i);
                for (b, j) in places.iter().enumerate() {
                    row[*j] -= y.get(a, b);
                }
            }
        }
        // every part has a copy of all entries, which is 0 outside its rows
        for i in 0..n {
            for (j, v) in rest.row_mut(i).iter_mut().enumerate() {
                *v -= if i == j { h * joint.g.get(i, j) } else { joint.g.get(i, j) };
            }
            rest.set(i, i, rest.get(i, i) + self.t[i] + joint.m[i]);
        }
        let (values, vectors) = symmetric_eigenpairs(&rest)?;
        let above: Vec<f64> = values.iter().map(|v| (-v).max(0.0)).collect();
        let (g, trace) = spectral(&vectors, &above);
        for ((run, state), places) in self.runs.iter().zip(states).zip(&self.places) {
            let y = run.y.as_ref()?;
            for (a, i) in places.iter().enumerate() {
                let row = state.pull.row_mut(a);
                for (b, j) in places.iter().enumerate() {
                    let (before, now) = (scaled(joint.g.get(*i, *j), i == j), scaled(g.get(*i, *j), i == j));
                    let copy = y.get(a, b) + before - 2.0 * now;
                    row[b] += if i == j { copy } else { h * copy };
                }
            }
        }
        for i in 0..n {
            let up = scaled(g.get(i, i), true) / omega;
            joint.pull[i] = self.t[i] + joint.m[i] + 2.0 * up;
            joint.m[i] = -up;
        }
        let factor = RHO * h / count;
        let mut w = g.clone();
        w.data_mut().iter_mut().for_each(|v| *v *= factor);
        self.w = Some((w, factor * trace));
        joint.g = g;
        Some(())
    }

    /// The multipliers of this iteration.
    fn dual(&self) -> Dual {
        let joint = self.w.as_ref().zip(self.state.joint.as_ref()).map(|((w, trace), joint)| {
            let most = |i: usize| w.get(i, i).max(0.0);
            let pi = (0..w.nrows()).map(|i| match self.coupling {
                Coupling::Columns => (RHO * joint.pi[i]).max(0.0).min(most(i)),
                _ => most(i),
            });
            Joint { pi: pi.collect(), w: w.clone(), trace: *trace, places: self.places.clone() }
        });
        let part = |p: usize| {
            let (part, state) = (&self.parts[p], &self.state.parts[p]);
            let scaled = |m: &RowMat| {
                let mut m = m.clone();
                m.data_mut().iter_mut().for_each(|v| *v *= RHO);
                m
            };
            let squares = RHO * weight_of(self.problem, part) / self.problem.kappa(part.k);
            let mut multipliers = Multipliers {
                z: scaled(&state.l1),
                squares: state.m1.iter().map(|m| squares * (-m).max(0.0)).collect(),
                u: scaled(&state.l2),
                d: state.l.iter().map(|l| (-RHO * l).max(SMALLEST)).collect(),
            };
            let pi: Option<Vec<f64>> =
                joint.as_ref().map(|joint| self.places[p].iter().map(|i| joint.pi[*i]).collect());
            let dual = PartDual::new(self.problem, part, &mut multipliers, pi.as_deref());
            (dual, self.keeps.then_some(multipliers))
        };
        let (parts, given): (Vec<PartDual>, Vec<Option<Multipliers>>) =
            (0..self.parts.len()).map(part).unzip();
        let dual = Dual { parts, joint, given: given.into_iter().flatten().collect() };
        if self.coupling == Coupling::Columns { dual.with_or_without_pi(self.parts) } else { dual }
    }

    /// The weights a of the cone of absolute values: at its critical a, (|T|a)ᵢ = κaᵢzᵢ.
    fn adapt(&mut self) {
        for (p, part) in self.parts.iter().enumerate() {
            let (run, a) = (&self.runs[p], &mut self.state.parts[p].a);
            let Some(t) = &run.t else { continue };
            let kappa = self.problem.kappa(part.k);
            let n = a.len();
            let image: Vec<f64> =
                (0..n).map(|i| t.row(i).iter().zip(a.iter()).map(|(t, a)| t.abs() * a).sum()).collect();
            for i in 0..n {
                let ratio = image[i] / (a[i] * (kappa * run.z[i]).max(FLOOR));
                a[i] *= ratio.clamp(0.25, 4.0).powf(0.25);
            }
            let mean = (a.iter().map(|v| v * v).sum::<f64>() / n as f64).sqrt();
            a.iter_mut().for_each(|v| *v = (*v / mean).max(FLOOR));
        }
    }
}

/// Block B of a part: the copies in the cones; what block A needs of them, and of the proximal term `off` that makes the
/// weights off the diagonal those on it.
fn copies(
    y: &RowMat,
    run: &mut Run,
    state: &mut PartState,
    part: &Part,
    problem: &Problem,
    off: f64,
) -> RowMat {
    let (n, kappa, nonneg) = (part.rows.len(), problem.kappa(part.k), problem.nonneg);
    let omega = weight_of(problem, part);
    // |T| ⪯ κ Diag(z), by its weights a
    let mut before = state.l1.clone();
    before.data_mut().iter_mut().zip(y.data()).for_each(|(l, y)| *l += y);
    let mut t = before.clone();
    let mut z: Vec<f64> = run.z.iter().zip(&state.m1).map(|(z, m)| z + m).collect();
    let z_before = z.clone();
    project_absolute(&mut t, &mut z, &state.a, (kappa, omega), nonneg);
    let mut pull = RowMat::zeros(n, n);
    for (k, pull) in pull.data_mut().iter_mut().enumerate() {
        let (v, t) = (before.data()[k], t.data()[k]);
        *pull = 2.0 * t - v + off * y.data()[k];
        state.l1.data_mut()[k] = v - t;
    }
    for i in 0..n {
        state.m1[i] = z_before[i] - z[i];
        state.shares[i] = 2.0 * z[i] - z_before[i];
    }
    run.t = Some(t);
    // the rows
    let root = omega.sqrt();
    let mut u = vec![0.0; n];
    for i in 0..n {
        let row = state.l2.row_mut(i);
        row.iter_mut().zip(y.row(i)).for_each(|(l, y)| *l += y);
        u.copy_from_slice(row);
        if nonneg {
            u.iter_mut().for_each(|u| *u = u.max(0.0));
        }
        let (p0, q0) = (y.get(i, i) + state.l[i], run.z[i] + state.m2[i]);
        let (p, q) = run.cone.polar(&mut u, (p0, q0 * root), part.k, 1.0 / root);
        for (j, (l, u)) in row.iter_mut().zip(&u).enumerate() {
            // for X ≥ 0 what is negative has a copy 0
            let now = if nonneg && *l < 0.0 { *l } else { *u };
            let half = 0.5 * (*l - 2.0 * now);
            pull.set(i, j, pull.get(i, j) + half);
            pull.set(j, i, pull.get(j, i) + half);
            *l = now;
        }
        // the diagonal has a copy more, and no proximal term
        pull.set(i, i, pull.get(i, i) + p0 - 2.0 * p - off * y.get(i, i));
        state.l[i] = p;
        state.m2[i] = q / root;
        state.shares[i] += q0 - 2.0 * state.m2[i];
    }
    pull
}

/// Work of an iteration for n rows beyond the eigenvectors.
pub fn projections(n: usize) -> usize {
    400 * n * n
}

/// ω, the weight of the copies of z: entries of z are about k times those of Y.
fn weight_of(problem: &Problem, part: &Part) -> f64 {
    1.0 / (part.k.min(problem.usual) as f64).powi(2)
}

/// The weight of the copy of t, and h, that of the copies V off the diagonal, for which the projection is that of a matrix.
fn coupled(problem: &Problem, parts: &[Part]) -> (f64, f64) {
    let count = parts.len() as f64;
    let omega = count / parts.iter().map(|part| part.k.min(problem.usual) as f64).sum::<f64>();
    (omega, count * omega / (count * omega + 1.0))
}

impl State {
    /// Y = I/n, nothing in the multipliers.
    fn start(parts: &[Part], &Problem { rank, usual, .. }: &Problem, coupling: Coupling) -> Self {
        let union = union_of(parts);
        let mut sums = vec![0.0; union.len()];
        let one = |part: &Part| {
            let n = part.rows.len();
            let free = (n - part.must()).max(1) as f64;
            let open = part.open().min(usual.saturating_sub(part.must())) as f64;
            let share = |forced: &bool| if *forced { 1.0 } else { open / free };
            let z: Vec<f64> = part.forced.iter().map(share).collect();
            part.rows.iter().zip(&z).for_each(|(i, z)| sums[union.binary_search(i).unwrap_or(0)] += z);
            let diagonal = if coupling == Coupling::None { 0.0 } else { rank as f64 / n as f64 };
            PartState {
                rows: part.rows.clone(),
                pull: RowMat::from_fn(n, n, |i, j| if i == j { diagonal } else { 0.0 }),
                l1: RowMat::zeros(n, n),
                l2: RowMat::zeros(n, n),
                l: vec![0.0; n],
                shares: z.iter().map(|z| 2.0 * z).collect(),
                m1: vec![0.0; n],
                m2: vec![0.0; n],
                a: vec![1.0; n],
            }
        };
        let parts = parts.iter().map(one).collect();
        let n = union.len();
        let joint = (coupling != Coupling::None).then(|| JointState {
            rows: union,
            pull: sums.iter().map(|s| s.min(1.0)).collect(),
            m: vec![0.0; n],
            pi: vec![0.0; n],
            g: RowMat::zeros(n, n),
        });
        Self { parts, joint }
    }
}
