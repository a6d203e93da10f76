//! Exchange of nonzeros for uncorrelated components: min −½ tr(XᵀCX) + λ‖X‖₀ over unit columns with xⱼᵀCxₖ = 0 and
//! limits on nonzeros (docs/mathematics.md, section 18).
//!
//! ```text
//! repeat   one component after the other, the others fixed: the leading eigenvector of C on its rows,
//!          uncorrelated with the others, and the first exchange of an entry that lowers F
//!          two components: the first anew without regard to the second, then the second
//!          all components together on their supports
//! until    none of them lowers F
//! ```
//!
//! Every X is feasible to rounding and F never rises. Nothing n × n is formed.
//!
//! Cost per iteration, a component of s entries: up to 24 eigenproblems of s × s, a product of C with r − 1 columns.

mod component;
mod point;
mod supports;
mod together;

use super::exchange::component::{block, leading};
use crate::problem::MeasuredProblem;
use orthopt_core::objective::{lowers, price_of_nonzeros};
use orthopt_core::problem::support;
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Current, Details, Ending, Solver, Status, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::error::{Error, Result};
use point::Point;
pub use supports::rounded;
pub use together::criticality;

/// Entry of the registry.
pub const INFO: SolverInfo<MeasuredProblem> = SolverInfo {
    name: "uncorrelated-exchange",
    doc: "exchanges nonzeros of uncorrelated components, each solved exactly on its support",
    constants: &[],
    shared: &[],
    handles: &MeasuredProblem::takes_one_by_one,
    scope: "uncorrelated components",
    make: &|_| Ok(AnySolver::new(UncorrelatedExchange)),
};

/// The solver; there is no chance in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct UncorrelatedExchange;

/// State of the solver.
#[derive(Clone, Debug)]
pub struct State {
    at: Point,
    objective: f64,
    next: usize,   // component, r when all had their turn
    changed: bool, // in this round
    exchanges: u64,
    ended: Option<(Status, &'static str)>,
}

/// The least decrease, relative to the size of F, for which two or all components together are taken up.
const WORTH: f64 = 1e-10;
/// Why it ends.
const DONE: (Status, &str) = (Status::Converged, "no exchange of nonzeros that was tried lowers F");

impl<F: Quadratic> Solver<MeasuredProblem<F>> for UncorrelatedExchange {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &MeasuredProblem<F>, x0: RowMat) -> Result<State> {
        if !p.takes_one_by_one() {
            return Err(Error::Incompatible(format!("solver {} is for {}", INFO.name, INFO.scope).into()));
        }
        p.check(&x0, "the starting point X")?;
        let at = Point::new(p.f.quadratic(), x0);
        let objective = at.objective(|x| price_of_nonzeros(p.lambda(), x));
        Ok(State { at, objective, next: 0, changed: false, exchanges: 0, ended: None })
    }

    fn step(&self, p: &MeasuredProblem<F>, st: &mut State) -> Step {
        if st.ended.is_none() {
            let changed = st.turn(p);
            st.exchanges += u64::from(changed);
            if changed {
                st.objective = st.at.objective(|x| price_of_nonzeros(p.lambda(), x));
            }
        }
        Step::ended(st.ended)
    }

    fn current<'a>(&self, _: &MeasuredProblem<F>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.x, st.objective)
    }

    fn finish(&self, _: &MeasuredProblem<F>, st: State) -> Ending {
        let mut details = Details::default();
        details.set("exchanges", st.exchanges);
        Ending::new(st.at.x, details)
    }
}

impl State {
    /// One turn of a component, or of several after the last one; whether F fell.
    fn turn<F: Quadratic>(&mut self, p: &MeasuredProblem<F>) -> bool {
        if self.next < p.rank() {
            let k = self.next;
            let change = component::improve(p, &self.at, k);
            if let Some(change) = &change {
                self.at.replace(p.f.quadratic(), k, &change.rows, &change.v);
            }
            self.next += 1;
            self.changed |= change.is_some();
            return change.is_some();
        }
        let changed = std::mem::take(&mut self.changed);
        let several = self.together(p) || (!changed && self.in_pairs(p));
        if changed || several {
            self.next = 0;
        } else {
            // unless it was not looked for to the end
            self.ended = (!is_over()).then_some(DONE);
        }
        several
    }

    fn together<F: Quadratic>(&mut self, p: &MeasuredProblem<F>) -> bool {
        together::polish(p.f.quadratic(), &self.at.x)
            .is_some_and(|x| self.take(p, Point::new(p.f.quadratic(), x)))
    }

    /// Every ordered pair: the first component as if the second were not there, then the second.
    fn in_pairs<F: Quadratic>(&mut self, p: &MeasuredProblem<F>) -> bool {
        let r = p.rank();
        for first in 0..r {
            for second in (0..r).filter(|j| *j != first) {
                if is_over() {
                    return false;
                }
                if let Some(at) = self.pair(p, first, second)
                    && self.take(p, at)
                {
                    return true;
                }
            }
        }
        false
    }

    fn pair<F: Quadratic>(&self, p: &MeasuredProblem<F>, first: usize, second: usize) -> Option<Point> {
        let mut at = self.at.clone();
        for (k, skip) in [(first, vec![first, second]), (second, vec![second])] {
            let rows = support(&at.x, k);
            let (_, v) = leading(&block(p.f.quadratic(), &rows), &at.images_on(&rows, &skip), None, false)?;
            at.replace(p.f.quadratic(), k, &rows, &v);
        }
        // entries of both
        for k in [second, first] {
            if let Some(change) = component::improve(p, &at, k) {
                at.replace(p.f.quadratic(), k, &change.rows, &change.v);
            }
        }
        Some(at)
    }

    fn take<F: Quadratic>(&mut self, p: &MeasuredProblem<F>, at: Point) -> bool {
        let better =
            lowers(at.objective(|x| price_of_nonzeros(p.lambda(), x)), self.objective, at.scale, WORTH);
        if better {
            self.at = at;
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseQuadratic, Measure, Measured};

    #[test]
    fn only_problems_with_a_direction_left_to_every_component_are_taken() {
        let m = faer::Mat::from_fn(4, 4, |i, j| if i == j { -2.0 - i as f64 } else { 0.0 });
        let x = RowMat::from_fn(4, 2, |i, k| f64::from(u8::from(i == k)));
        let takes = |measure, limits, between| {
            let f = Measured::new(DenseQuadratic::new(m.as_ref()).unwrap(), measure).unwrap();
            let p = MeasuredProblem::new(f, 2, limits, 0.0, between).unwrap();
            match UncorrelatedExchange.init(&p, x.clone()) {
                Ok(_) => true,
                Err(error) if error.to_string().contains("is for uncorrelated components") => false,
                Err(error) => panic!("{error}"),
            }
        };
        let (each, tied) = (|s: usize| Cardinality::Components(vec![s; 2]), Between::Uncorrelated);
        assert!(takes(Measure::Variance, each(2), tied) && takes(Measure::Variance, each(4), tied));
        assert!(!takes(Measure::Variance, each(1), tied));
        assert!(!takes(Measure::Variance, Cardinality::Total(4), tied));
        assert!(!takes(Measure::Adjusted, each(2), tied));
        assert!(!takes(Measure::Variance, each(2), Between::Orthogonal));
        assert!(!takes(Measure::Variance, each(2), Between::Both));
    }
}
