//! The one loop around every solver: clock, NaN check, stopping, observers, solution.

mod any;
mod confirmed;
mod driver;
mod observer;
mod pace;
mod punctual;
mod search_report;
mod solution;
mod solver;
mod stop;
mod trace;

pub(crate) use any::named;
pub use any::{AnySolver, ErasedSolver, Running};
pub use confirmed::Confirmed;
pub(crate) use confirmed::{believed, of_another, succeeds};
pub use driver::{Chain, RunOptions, run, run_restarts};
pub use observer::{Event, Observer};
pub(crate) use pace::{Kept, Looks, Pace};
pub use search_report::{ArmReport, MoveReport, SearchReport};
pub use solution::{Ending, Raw, Setting, Settings, Solution, Splitting, Stage, Status, settings_of};
pub use solver::{Pass, Solver, Step, StepInfo};
pub(crate) use stop::Fading;
pub use stop::{
    And, Critical, Fades, MaxIterations, Or, Progress, RelativeDecrease, Stationary, Stop, StopReason,
    Stopping, TimeLimit,
};
pub use trace::{Trace, TracePoint};
