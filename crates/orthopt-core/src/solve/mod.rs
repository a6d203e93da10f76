//! The one loop around every solver: budget, NaN check, stopping, observers, solution.

mod any;
pub mod bound;
mod budget;
pub mod claim;
mod confirmed;
mod driver;
pub mod dual;
mod executor;
pub mod info;
mod observer;
pub mod proof_record;
mod search_report;
mod solution;
mod solver;
mod stop;
mod trace;

pub use any::{AnySolver, Running};
pub use budget::{Allowance, Budget, Further};
pub use confirmed::Confirmed;
pub use confirmed::{of_another, succeeds};
pub use driver::{Chain, RunOptions, run, run_restarts};
pub use executor::{Executor, Finished, Monitor, is_lower};
pub use observer::Times;
pub use observer::{Event, Observer};
pub use search_report::{ArmReport, MoveReport, SearchReport, VariablesReport};
pub use solution::{Details, Ending, Raw, Setting, Settings, Solution, Splitting, Stage, Status};
pub use solver::{Behaviour, Current, Solver, Step, advance};
pub use stop::{
    And, Critical, MaxIterations, Or, Pass, Progress, RelativeDecrease, Stagnation, Stationary, Stop,
    StopReason, Stopping, TimeLimit,
};
pub use stop::{Fading, numerical_error};
pub use trace::{Trace, TracePoint};
