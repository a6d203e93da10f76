//! Exchange of nonzeros under a limit of cardinality: min −½ tr(XᵀCX) + λ‖X‖₀ over XᵀX = I and limits on nonzeros
//! (docs/mathematics.md, section 17).
//!
//! ```text
//! repeat   one component after the other, the others fixed: the leading eigenvector of C on its rows,
//!          orthogonal to the others, and the first exchange of an entry that lowers F
//!          all components together on their supports, where supports meet
//!          two components: a row changes hands, or a nonzero of the total does
//! until    none of them lowers F
//! ```
//!
//! Exchanges are ordered by an estimate from below, the larger eigenvalue of C on the plane of what stays and of
//! what enters, and the first ones solved exactly. Every X is feasible to rounding and F never rises. Nothing
//! n × n is formed: C on the rows of a component, and a product with C for each exchange that is made.
//!
//! If variables are selected for all components together, X is the r leading eigenvectors of C[R, R], and rows of R are
//! exchanged. They enter and leave where λ, the price of one, makes that worth it.
//!
//! Cost per iteration, a component of s entries: up to min(2000/s, 30) eigenproblems of s × s, some thousand entries of
//! C, and O(n).

mod between;
pub mod component;
pub(crate) mod point;
pub(crate) mod polish;
mod rounding;
mod rows;
mod scan;

use crate::problem::CardinalityProblem;
use between::Pairs;
use orthopt_core::constraint::stiefel;
use orthopt_core::objective::lowers;
use orthopt_core::problem::Cardinality;
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Current, Details, Ending, Pass, Solver, Status, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::error::Result;
use point::Point;
pub use polish::tangent;
pub use rounding::rounded;
pub use rounding::{disjoint, sequential};
pub use scan::entrants;

/// Entry of the registry.
pub const INFO: SolverInfo<CardinalityProblem> = SolverInfo {
    name: "exchange",
    doc: "exchanges nonzeros within and between components, each solved exactly on its support",
    constants: &[],
    shared: &[],
    handles: &|_| true,
    scope: "problems with limits on nonzeros (nonzeros, total-nonzeros, variables)",
    make: &|_| Ok(AnySolver::new(Exchange)),
};

/// The solver; there is no chance in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchange;

/// State of the solver.
#[derive(Clone, Debug)]
pub struct State {
    at: Point,
    objective: f64,
    next: usize,          // component, r when all had their turn, then the components of pairs
    changed: bool,        // in this round
    made: (u64, f64),     // exchanges and F when it began
    pairs: Option<Pairs>, // of this X
    exchanges: u64,
    ended: Option<(Status, &'static str)>,
}

/// The least decrease, relative to the size of F, for which all components together are examined again.
const WORTH: f64 = 1e-10;
/// Why it ends.
const DONE: (Status, &str) = (Status::Converged, "no exchange of nonzeros that was tried lowers F");

impl<F: Quadratic> Solver<CardinalityProblem<F>> for Exchange {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &CardinalityProblem<F>, x0: RowMat) -> Result<State> {
        p.check(&x0, "the starting point X")?;
        let at = Point::new(&p.f, x0);
        let objective = at.objective(|x| p.price(x));
        let made = (0, objective);
        Ok(State { at, objective, next: 0, changed: false, made, pairs: None, exchanges: 0, ended: None })
    }

    fn step(&self, p: &CardinalityProblem<F>, st: &mut State) -> Step {
        let mut pass = None;
        if st.ended.is_none() {
            let in_round = st.next;
            let changed = match p.limits() {
                Cardinality::Rows(most) => st.exchange_row(p, *most),
                _ => st.exchange_entry(p),
            };
            st.exchanges += u64::from(changed);
            if changed {
                st.objective = st.at.objective(|x| p.price(x));
            }
            pass = (in_round == p.rank()).then(|| st.round()).flatten();
        }
        Step { pass, ..Step::ended(st.ended) }
    }

    fn current<'a>(&self, _: &CardinalityProblem<F>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.x, st.objective)
    }

    fn finish(&self, p: &CardinalityProblem<F>, st: State) -> Ending {
        let mut details = Details::default();
        details.set("exchanges", st.exchanges);
        let mut x = st.at.x.clone();
        stiefel::repair_on_support(&mut x);
        let kept = !p.requires_nonneg() || x.data().iter().all(|v| *v >= 0.0);
        Ending::new(if kept { x } else { st.at.x }, details)
    }
}

impl State {
    /// One turn of a component, of all together after the last one, or of a component with each other one; whether F fell.
    fn exchange_entry<F: Quadratic>(&mut self, p: &CardinalityProblem<F>) -> bool {
        let r = p.rank();
        if self.next < r {
            let k = self.next;
            let change = scan::improve(p, &self.at, k);
            if let Some(change) = &change {
                self.at.replace(&p.f, k, &change.rows, &change.v);
            }
            // a component continues as long as it gains
            self.next += usize::from(change.is_none());
            self.changed |= change.is_some();
            return change.is_some();
        }
        if self.next == r {
            let changed = std::mem::take(&mut self.changed);
            let polished = self.at.overlaps() && self.polish(p);
            if changed || polished {
                self.next = 0;
                return true;
            }
        }
        let k = self.next - r;
        let pairs = self.pairs.take().unwrap_or_else(|| Pairs::new(p, &self.at));
        if pairs.improve(p, &mut self.at, k) {
            self.next = 0;
        } else if k + 1 < r {
            (self.next, self.pairs) = (self.next + 1, Some(pairs));
        } else {
            self.end();
        }
        self.next == 0
    }

    /// The round of all components that has ended, if any of them changed.
    fn round(&mut self) -> Option<Pass> {
        let before = std::mem::replace(&mut self.made, (self.exchanges, self.objective));
        let pairs = self.exchanges - before.0;
        let decrease = before.1 - self.objective;
        (pairs > 0).then_some(Pass { pairs, decrease, max_decrease: decrease, covers_all: false })
    }

    /// Nothing lowers F, unless it was not looked for to the end.
    fn end(&mut self) {
        self.ended = (!is_over()).then_some(DONE);
    }

    fn polish<F: Quadratic>(&mut self, p: &CardinalityProblem<F>) -> bool {
        let mut x = self.at.x.clone();
        if !polish::polish(&p.f, &mut x) || !p.limits().allows(&x) {
            return false;
        }
        // what CX has gathered of rounding goes, too
        let at = Point::new(&p.f, x);
        let better = lowers(at.objective(|x| p.price(x)), self.objective, at.scale, WORTH);
        if better {
            self.at = at;
        }
        better
    }

    fn exchange_row<F: Quadratic>(&mut self, p: &CardinalityProblem<F>, most: usize) -> bool {
        let Some(x) = rows::improve(p, &self.at, most) else {
            self.end();
            return false;
        };
        self.at = Point::new(&p.f, x);
        true
    }
}
