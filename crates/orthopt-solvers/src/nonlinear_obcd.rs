//! OBCD for the nonlinear eigenvalue problem: pairs of rows, f of degree 4 along each circle
//! (OBCD, first version, Algorithm 1, sections 7.2 and 9.5).
//!
//! `obcd` takes the global minimum over both circles, `obcd-approx` the fifth-order iteration from
//! θ = 0 on each ([`orthopt_core::pair::nonlinear`]). Both lower f by at least α/2‖V − I‖² in every move. The
//! algorithm is `PairDescent`; a pass of `obcd-approx` in which nothing moves shows
//! that its own iteration finds nothing.
//!
//! `obcd` with blocks of more rows, Jacobi rounds or the diagonal model is [`MajorisedObcd`], which does them for any
//! smooth f. The fifth-order iteration of any smooth f, from its values and gradients, is in `obcd_approx`. Here f is a polynomial of degree 4
//! along circles whose coefficients come cheaply from a few rows and entries.
//!
//! Cost per pair O(r); an accepted move adds the update of CX and C†ρ: O(r + n) for Laplacians, O(nr)
//! for a dense C.

use super::pair_descent::{
    self, Candidates, Demand, PairDescent, PairOracle, Schedule, Tried, Upkeep, WorkingSet,
    stationarity_score,
};
use crate::obcd::{self, ObcdOptions};
use crate::obcd_approx;
use crate::obcd_majorised::MajorisedObcd;
use crate::prelude::*;
use orthopt_core::composite::relative_criticality;
use orthopt_core::objective::size;
use orthopt_core::pair::movable::Movable;
use orthopt_core::pair::nonlinear::{CircleSearch, Work, apply, solve_pair};
use orthopt_core::pair::step::Model;
use orthopt_core::problem::NonlinearEigProblem;
use orthopt_core::smooth::NonlinearEig;
use orthopt_core::smooth::nonlinear_eig::Image;
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::info::{Make, SolverInfo, SolverOptions};

const SCOPE: &str =
    "nonlinear eigenvalue problems, but not on a grid of more than 16384 points: it needs the entries of C^+";

/// Entry of the registry for `obcd`.
const INFO: SolverInfo<NonlinearEigProblem> = SolverInfo {
    name: "obcd",
    doc: "pairs of rows, the global minimum over both circles of every pair; feasible and monotone",
    constants: &[],
    shared: ObcdOptions::LIST,
    handles: &|p| p.f.has_inverse(),
    scope: SCOPE,
    make: &|o| made(INFO.name, CircleSearch::Exact, o),
};

/// Entry of the registry for `obcd-approx`.
const APPROX: SolverInfo<NonlinearEigProblem> = SolverInfo {
    name: obcd_approx::INFO.name,
    doc: "pairs of rows, the fifth-order iteration of the first version of the OBCD paper, from rows and entries of the data",
    constants: &[],
    shared: obcd_approx::INFO.shared,
    handles: &|p| p.f.has_inverse(),
    scope: SCOPE,
    make: &|o| made(APPROX.name, CircleSearch::FifthOrder, o),
};

/// The presets of `obcd` for quadratic f, by the same names; rounds of pairs and blocks are those of any smooth f.
const fn preset(
    of: &'static SolverInfo,
    doc: &'static str,
    make: &'static Make<NonlinearEigProblem>,
) -> SolverInfo<NonlinearEigProblem> {
    SolverInfo { name: of.name, doc, shared: of.shared, make, ..INFO }
}

/// See `preset`.
const OBCD_R: SolverInfo<NonlinearEigProblem> = preset(&obcd::OBCD_R, obcd::OBCD_R.doc, &|o| {
    with(OBCD_R.name, o, |p| p.working_set = WorkingSet::Random)
});
/// See `preset`.
const OBCD_C: SolverInfo<NonlinearEigProblem> = preset(&obcd::OBCD_C, obcd::OBCD_C.doc, &|o| {
    with(OBCD_C.name, o, |p| p.working_set = WorkingSet::Cyclic)
});
/// See `preset`.
const OBCD_SV: SolverInfo<NonlinearEigProblem> = preset(&obcd::OBCD_SV, obcd::OBCD_SV.doc, &|o| {
    with(OBCD_SV.name, o, |p| p.working_set = WorkingSet::GreedySv)
});
/// See `preset`.
const OBCD_OR: SolverInfo<NonlinearEigProblem> = preset(&obcd::OBCD_OR, obcd::OBCD_OR.doc, &|o| {
    with(OBCD_OR.name, o, |p| p.working_set = WorkingSet::GreedyOr)
});
/// See `preset`.
const OBCD_BLOCK: SolverInfo<NonlinearEigProblem> = preset(
    &obcd::OBCD_BLOCK,
    "OBCD with blocks of rows, a gradient a round: 32 rows, or the block size",
    &|o| with(OBCD_BLOCK.name, o, |p| p.block = if p.block > 2 { p.block } else { obcd::BLOCK }),
);
/// See `preset`.
const OBCD_JACOBI: SolverInfo<NonlinearEigProblem> =
    preset(&obcd::OBCD_JACOBI, "OBCD with rounds of n/2 disjoint pairs, a gradient a round", &|o| {
        with(OBCD_JACOBI.name, o, |p| p.jacobi = true)
    });

/// All of them.
pub const SOLVERS: [SolverInfo<NonlinearEigProblem>; 8] =
    [INFO, APPROX, OBCD_R, OBCD_C, OBCD_SV, OBCD_OR, OBCD_BLOCK, OBCD_JACOBI];

/// With options that a preset fixes.
fn with(
    name: &'static str,
    o: &SolverOptions,
    fix: fn(&mut ObcdOptions),
) -> Result<AnySolver<NonlinearEigProblem>> {
    let mut o = o.clone();
    fix(&mut o.obcd);
    made(name, CircleSearch::Exact, &o)
}

/// Pairs with the exact model by themselves, all else by a majoriser.
fn made(
    name: &'static str,
    search: CircleSearch,
    o: &SolverOptions,
) -> Result<AnySolver<NonlinearEigProblem>> {
    let options = ObcdOptions { name, seed: o.seed, ..o.obcd.clone() };
    let pairs = options.block == 2 && !options.jacobi && options.model == Model::Exact;
    if search == CircleSearch::Exact && !pairs {
        return Ok(AnySolver::new(MajorisedObcd::new(options)?));
    }
    Ok(AnySolver::new(NonlinearObcd::new(search, options)?))
}

/// The solver.
#[derive(Clone, Debug)]
pub struct NonlinearObcd {
    search: CircleSearch,
    options: ObcdOptions,
}

/// Accepted moves between two refreshes of CX and C†ρ from X.
const REFRESH: u64 = 20_000;
/// ‖XᵀX − I‖_F above which X is repaired.
const DRIFT: f64 = 3e-13;

impl NonlinearObcd {
    /// The method with checked options: pairs only, the exact model.
    ///
    /// # Errors
    /// Options out of range, or that ask for what there is not: [`MajorisedObcd`] has the rest.
    pub fn new(search: CircleSearch, options: ObcdOptions) -> Result<Self> {
        obcd::Obcd::new(options.clone())?;
        let name = if search == CircleSearch::Exact { "obcd" } else { "obcd-approx" };
        let refuse = |what: &str| {
            Err(Error::Incompatible(
                format!("{name} works on pairs of rows here and has no {what}; the solver obcd has").into(),
            ))
        };
        if options.block != 2 {
            return refuse("blocks of more rows (block must be 2)");
        }
        if options.jacobi {
            return refuse("Jacobi rounds");
        }
        if options.model != Model::Exact {
            return refuse("diagonal model");
        }
        Ok(Self { search, options })
    }
}

/// State of the method.
#[derive(Clone, Debug)]
pub struct State {
    at: Iterate,                  // Xᵗ and its image
    descent: pair_descent::State, // f(Xᵗ), α and the working sets
}

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
struct Iterate {
    x: RowMat,    // Xᵗ
    image: Image, // CX, ρ, C†ρ
    rows: Movable,
    work: Work,
    scale: f64,     // of f
    lipschitz: f64, // L_f of WSS-OR
}

impl Solver<NonlinearEigProblem> for NonlinearObcd {
    type State = State;

    fn name(&self) -> &'static str {
        match self.search {
            CircleSearch::Exact => self.options.name,
            CircleSearch::FifthOrder => APPROX.name,
        }
    }

    fn behaviour(&self, _: &NonlinearEigProblem) -> Behaviour {
        Behaviour::fading(Stagnation::Never)
    }

    fn init(&self, p: &NonlinearEigProblem, mut x: RowMat) -> Result<State> {
        stiefel::check(&x, p.nrows(), p.rank(), "the starting point X")?;
        stiefel::repair_on_support(&mut x);
        let (o, image, rows) = (&self.options, p.f.image(&x), Movable::new(&x));
        let candidates = Candidates::or_default(o.candidates, x.nrows());
        let scale = p.f.scale(&x);
        let descent = pair_descent::State {
            objective: p.f.value_at(&image, &x),
            alpha: o.alpha * scale,
            schedule: Schedule::new(o.working_set, candidates, o.tol, o.seed, &rows),
        };
        let greedy = o.working_set == WorkingSet::GreedyOr;
        let lipschitz = p.f.lipschitz().filter(|_| greedy).unwrap_or(0.0);
        Ok(State { at: Iterate { work: Work::new(x.ncols()), x, image, rows, scale, lipschitz }, descent })
    }

    fn step(&self, p: &NonlinearEigProblem, st: &mut State) -> Step {
        let oracle = CirclePairs { f: &p.f, solver: self, at: &mut st.at };
        PairDescent { oracle, state: &mut st.descent }.iterate()
    }

    fn current<'a>(&self, _: &NonlinearEigProblem, st: &'a State) -> Current<'a> {
        Current::new(&st.at.x, st.descent.objective)
    }

    /// f of a singular C may be close to 0 where it has a minimum: decreases that are nothing beside the scale of f
    /// are then much beside f, and a pass that leaves them alone is no end.
    fn confirmed(&self, p: &NonlinearEigProblem, st: &State) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &st.at.x)))
    }

    fn finish(&self, p: &NonlinearEigProblem, st: State) -> Ending {
        let mut details = Details::default();
        details.set("working_set", self.options.working_set.name());
        details.set("alpha", self.options.alpha);
        details.set("gradient", p.f.bookkeeping());
        details.set("pairs", st.descent.schedule.pairs);
        details.set("moves", st.descent.schedule.moves);
        let mut x = st.at.x;
        if stiefel::feasibility(&x) > DRIFT {
            stiefel::repair_on_support(&mut x);
        }
        Ending::new(x, details)
    }
}

/// The pairs of rows of X.
struct CirclePairs<'a> {
    f: &'a NonlinearEig,
    solver: &'a NonlinearObcd,
    at: &'a mut Iterate,
}

impl PairOracle for CirclePairs<'_> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        let Iterate { x, image, rows, work, .. } = &mut *self.at;
        let (offered, gain) = solve_pair(self.f, x, image, (i, j), demand.alpha, self.solver.search, work);
        let taken = gain.map(|g| g.decrease).filter(|decrease| *decrease > demand.least);
        if taken.is_some() {
            apply(self.f, x, image, (i, j), work);
            rows.update(i, x);
            rows.update(j, x);
        }
        Tried::pair(offered, taken)
    }

    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let (f, Iterate { x, image, lipschitz, scale, .. }) = (self.f, &*self.at);
        let ObcdOptions { working_set, alpha, .. } = self.solver.options;
        let score = |products: [f64; 7]| stationarity_score(working_set, alpha * scale, *lipschitz, products);
        f.products(image, x, pairs).into_iter().map(score).collect()
    }

    fn size(&self, objective: f64) -> f64 {
        size(self.at.scale, objective)
    }

    fn upkeep(&self) -> Upkeep {
        Upkeep { refresh: REFRESH, look: REFRESH, between_passes: false }
    }

    fn has_drifted(&self) -> bool {
        stiefel::feasibility(&self.at.x) > DRIFT
    }

    fn refresh(&mut self) -> f64 {
        if self.has_drifted() {
            stiefel::repair_on_support(&mut self.at.x);
        }
        self.at.image = self.f.image(&self.at.x);
        self.f.value_at(&self.at.image, &self.at.x)
    }
}
