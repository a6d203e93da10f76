//! The one loop around every solver: clock, NaN check, stopping, observers, solution.

mod driver;
mod observer;
mod solution;
mod stop;
mod trace;

pub use driver::{Pass, RunOptions, Solver, StepInfo, run, run_restarts};
pub use observer::{Event, Interrupt, Observer};
pub use solution::{Certificate, Setting, Settings, Solution, Status};
pub use stop::{MaxIterations, Progress, RelativeDecrease, Stationary, Stop, StopReason, TimeLimit};
pub use trace::{Trace, TracePoint};
