//! Solvers chosen at run time: one type for all of them.

use std::sync::Arc;

use super::{Behaviour, Confirmed, Current, Ending, Solver, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;

/// A solver whose type is not known before the program runs. It is itself a [`Solver`].
pub struct AnySolver<P> {
    name: &'static str,
    profile: Arc<dyn Fn(&P) -> Behaviour + Send + Sync>,
    init: Arc<Init<P>>,
}

type Init<P> = dyn Fn(&P, RowMat) -> Result<Box<dyn Running<P>>> + Send + Sync;

/// A solver with its state: the part of [`Solver`] that needs one.
pub trait Running<P>: Send {
    /// See [`Solver::step`].
    fn step(&mut self, problem: &P) -> Step;
    /// See [`Solver::current`].
    fn current(&self, problem: &P) -> Current<'_>;
    /// See [`Solver::confirmed`].
    fn confirmed(&self, problem: &P) -> Option<Confirmed>;
    /// See [`Solver::finish`].
    fn finish(self: Box<Self>, problem: &P) -> Ending;
    /// Copy of the solver with its state.
    fn copied(&self) -> Box<dyn Running<P>>;
}

struct Run<S, T>(Arc<S>, T);

impl<P: 'static, S, T> Running<P> for Run<S, T>
where
    S: Solver<P, State = T> + Send + Sync + 'static,
    T: Clone + Send + 'static,
{
    fn step(&mut self, problem: &P) -> Step {
        self.0.step(problem, &mut self.1)
    }

    fn current(&self, problem: &P) -> Current<'_> {
        self.0.current(problem, &self.1)
    }

    fn confirmed(&self, problem: &P) -> Option<Confirmed> {
        self.0.confirmed(problem, &self.1)
    }

    fn finish(self: Box<Self>, problem: &P) -> Ending {
        self.0.finish(problem, self.1)
    }

    fn copied(&self) -> Box<dyn Running<P>> {
        Box::new(Self(Arc::clone(&self.0), self.1.clone()))
    }
}

impl<P> Clone for Box<dyn Running<P>> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}

impl<P: 'static> AnySolver<P> {
    /// `solver`.
    pub fn new<S>(solver: S) -> Self
    where
        S: Solver<P, State: Clone + Send + 'static> + Send + Sync + 'static,
    {
        let (name, solver) = (solver.name(), Arc::new(solver));
        let other = Arc::clone(&solver);
        let init: Arc<Init<P>> = Arc::new(move |problem, x0| {
            let state = solver.init(problem, x0)?;
            Ok(Box::new(Run(Arc::clone(&solver), state)))
        });
        Self { name, profile: Arc::new(move |problem| other.behaviour(problem)), init }
    }

    /// This solver under the name of the preset that it was made by.
    #[must_use]
    #[doc(hidden)]
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// A state for problems that hold one of the solver's.
struct Lifted<P, Q> {
    state: Box<dyn Running<P>>,
    part: fn(&Q) -> &P,
}

impl<P: 'static, Q: 'static> Running<Q> for Lifted<P, Q> {
    fn step(&mut self, problem: &Q) -> Step {
        self.state.step((self.part)(problem))
    }

    fn current(&self, problem: &Q) -> Current<'_> {
        self.state.current((self.part)(problem))
    }

    fn confirmed(&self, problem: &Q) -> Option<Confirmed> {
        self.state.confirmed((self.part)(problem))
    }

    fn finish(self: Box<Self>, problem: &Q) -> Ending {
        self.state.finish((self.part)(problem))
    }

    fn copied(&self) -> Box<dyn Running<Q>> {
        Box::new(Self { state: self.state.copied(), part: self.part })
    }
}

impl<P: 'static> AnySolver<P> {
    /// The solver for problems that hold one of its own, which `part` gives.
    #[doc(hidden)]
    pub fn lifted<Q: 'static>(self, part: fn(&Q) -> &P) -> AnySolver<Q> {
        let Self { name, profile, init } = self;
        let init: Arc<Init<Q>> = Arc::new(move |problem, x0| {
            let state = init(part(problem), x0)?;
            Ok(Box::new(Lifted { state, part }))
        });
        AnySolver { name, profile: Arc::new(move |problem| profile(part(problem))), init }
    }
}

impl<P> Clone for AnySolver<P> {
    fn clone(&self) -> Self {
        let Self { name, profile, init } = self;
        Self { name, profile: Arc::clone(profile), init: Arc::clone(init) }
    }
}

impl<P> Solver<P> for AnySolver<P> {
    type State = Box<dyn Running<P>>;

    fn name(&self) -> &'static str {
        self.name
    }

    fn behaviour(&self, problem: &P) -> Behaviour {
        (self.profile)(problem)
    }

    fn init(&self, problem: &P, x0: RowMat) -> Result<Self::State> {
        (self.init)(problem, x0)
    }

    fn step(&self, problem: &P, state: &mut Self::State) -> Step {
        (**state).step(problem)
    }

    fn current<'a>(&self, problem: &P, state: &'a Self::State) -> Current<'a> {
        (**state).current(problem)
    }

    fn confirmed(&self, problem: &P, state: &Self::State) -> Option<Confirmed> {
        (**state).confirmed(problem)
    }

    fn finish(&self, problem: &P, state: Self::State) -> Ending {
        state.finish(problem)
    }
}
