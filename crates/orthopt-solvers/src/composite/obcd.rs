//! OBCD for f − g + h: block coordinate descent on a majorant.
//!
//! ```text
//! repeat
//!   ξ ∈ ∂g(X)
//!   a round of OBCD on f − ⟨ξ, ·⟩ + h, from X
//! ```
//!
//! −g(X⁺) ≤ −g(X) − ⟨ξ, X⁺ − X⟩, so F never rises; with g = 0 it is plain OBCD, step for step.
//! It ends after a whole pass that moves nothing and leaves ξ as it was. This is block-2 stationarity of the majorant
//! at X, and so of F itself where g is differentiable.
//!
//! Cost: that of OBCD, and O(nr) for every new ξ.

use crate::obcd::{self, Obcd, ObcdOptions};
use crate::prelude::*;
use orthopt_core::pair::PairPenalty;
use orthopt_core::smooth::Quadratic;
use orthopt_core::smooth::tilted::Tilted;

/// Entry of the registry.
pub const INFO: Preset<DcObcd> = Preset {
    name: "obcd",
    doc: "block coordinate descent on rows with -g linearised; feasible and monotone",
    constants: &[],
    shared: ObcdOptions::LIST,
    domain: Domain {
        penalties: Penalties::OfEntries,
        words: "problems without a linear map, and every penalty but l21",
    },
    make: |_, o| Ok(DcObcd { inner: Obcd::new(ObcdOptions { seed: o.seed, ..o.obcd.clone() })? }),
};

/// True if A is the identity and h a sum over entries.
pub fn suits<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(p: &Composite<F, H, G, A>) -> bool {
    p.a.is_identity() && INFO.domain.takes(&p.h)
}

/// The solver.
#[derive(Clone, Debug)]
pub struct DcObcd {
    inner: Obcd,
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State<I> {
    inner: obcd::State<I>,
    tilt: RowMat, // −ξ
    offset: f64,  // F = tracked value of the majorant + offset at the point of ξ, above F elsewhere
    left: u64,    // working sets before the next ξ
    rounds: u64,  // ξ that were computed
    changed: u64, // those that differed from the one before
}

type Majorant<'a, F, H> = Problem<Stiefel, Tilted<'a, F>, H>;

/// f − ⟨ξ, ·⟩ + h.
fn majorant<'a, F: Quadratic, H: PairPenalty, G: Concave, A: LinearMap>(
    p: &'a Composite<F, H, G, A>,
    tilt: &'a RowMat,
) -> Result<Majorant<'a, F, H>> {
    Problem::new(Tilted { f: &p.f, e: tilt }, p.h.clone(), p.rank())
}

/// −ξ at X.
fn tilt<F: Quadratic, H: PairPenalty, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
) -> RowMat {
    let mut xi = RowMat::zeros(x.nrows(), x.ncols());
    p.g.subgradient(x, &mut xi);
    xi.data_mut().iter_mut().for_each(|v| *v = 0.0 - *v);
    xi
}

/// constant − g(X) + ⟨ξ, X⟩.
fn offset<F: Quadratic, H: PairPenalty, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    tilt: &RowMat,
    x: &RowMat,
) -> f64 {
    p.constant - p.g.value(x) - tilt.inner(x)
}

impl<F: Quadratic, H: PairPenalty, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for DcObcd {
    type State = State<F::Image>;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, _: &Composite<F, H, G, A>) -> Behaviour {
        Behaviour::fading(Stagnation::Never)
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<Self::State> {
        if !p.a.is_identity() {
            return Err(INFO.domain.refusal(INFO.name));
        }
        let tilt = tilt(p, &x0);
        let offset = offset(p, &tilt, &x0);
        let inner = self.inner.init(&majorant(p, &tilt)?, x0)?;
        Ok(State { inner, tilt, offset, left: p.nrows() as u64, rounds: 1, changed: 0 })
    }

    /// One of OBCD; between two ξ there are rounds of them.
    fn step(&self, p: &Composite<F, H, G, A>, st: &mut Self::State) -> Step {
        // the size was checked when the state was made
        let Ok(q) = majorant(p, &st.tilt) else { return Step::default() };
        let mut pass = self.inner.step(&q, &mut st.inner).pass;
        st.left = st.left.saturating_sub(1);
        if !p.g.is_zero() && (st.left == 0 || pass.is_some()) {
            let new = linearise(p, st);
            if let Some(pass) = &mut pass {
                pass.covers_all &= !new; // what the pass checked is another function now
            }
        }
        Step::passed(pass)
    }

    fn current<'a>(&self, _: &Composite<F, H, G, A>, st: &'a Self::State) -> Current<'a> {
        Current::new(st.inner.x(), st.inner.objective() + st.offset)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: Self::State) -> Ending {
        let x = st.inner.x().clone();
        let mut ending = match majorant(p, &st.tilt) {
            Ok(q) => self.inner.finish(&q, st.inner),
            Err(_) => Ending::new(x, Details::default()),
        };
        ending.details.set("linearisations", st.rounds);
        ending.details.set("linearisations_changed", st.changed);
        ending
    }
}

/// A new ξ at the current X; whether it differs from the old one.
fn linearise<F: Quadratic, H: PairPenalty, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    st: &mut State<F::Image>,
) -> bool {
    st.left = p.nrows() as u64;
    st.rounds += 1;
    let new = tilt(p, st.inner.x());
    if new == st.tilt {
        return false;
    }
    st.changed += 1;
    let x = st.inner.x();
    // the majorant at X in the new units; ⟨ξ, X⟩ is all that changed
    let objective = st.inner.objective() + new.inner(x) - st.tilt.inner(x);
    st.offset = offset(p, &new, x);
    st.tilt = new;
    st.inner.retarget(objective);
    true
}
