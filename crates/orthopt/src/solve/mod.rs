//! The one loop around every solver: budget, NaN check, stopping, observers, solution.

mod any;
mod budget;
pub(crate) mod claim;
mod confirmed;
mod driver;
mod executor;
pub(crate) mod info;
mod observer;
mod search_report;
mod solution;
mod solver;
mod stop;
mod trace;

pub use any::{AnySolver, Running};
pub(crate) use budget::{Allowance, Budget, Further};
pub use confirmed::Confirmed;
pub(crate) use confirmed::{of_another, succeeds};
pub use driver::{Chain, RunOptions, run, run_restarts};
pub(crate) use executor::{Executor, Finished, Monitor, is_lower};
pub(crate) use observer::Times;
pub use observer::{Event, Observer};
pub use search_report::{ArmReport, MoveReport, SearchReport, VariablesReport};
pub use solution::{Details, Ending, Raw, Setting, Settings, Solution, Splitting, Stage, Status};
pub use solver::{Current, Profile, Solver, Step, advance};
pub use stop::{
    And, Critical, Fades, MaxIterations, Or, Pass, Progress, RelativeDecrease, Stationary, Stop, StopReason,
    Stopping, TimeLimit,
};
pub(crate) use stop::{Fading, numerical_error};
pub use trace::{Trace, TracePoint};
