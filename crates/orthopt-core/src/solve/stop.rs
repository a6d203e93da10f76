//! Stopping criteria: each can explain itself, and they compose.

use super::Status;
use crate::objective::size;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::long::rest_of;

/// A finished pass of a solver over its working sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Pairs tried in it.
    pub pairs: u64,
    /// Decrease of F over the whole pass.
    pub decrease: f64,
    /// Largest decrease that one pair made or offered.
    pub max_decrease: f64,
    /// True if every pair that can move was tried (a random sample does not tell).
    pub covers_all: bool,
}

/// Facts that a criterion examines.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Iterations so far.
    pub iteration: u64,
    /// Seconds so far.
    pub seconds: f64,
    /// F now, as the solver tracks it.
    pub objective: f64,
    /// The scale of F ([`Evaluate::scale`](crate::objective::Evaluate::scale)) at the start of the run.
    pub scale: f64,
    /// The pass that ended with this step, if one did.
    pub pass: Option<Pass>,
    /// The solver's own measure of stationarity, if it has one.
    pub residual: Option<f64>,
}

impl Progress {
    /// This progress with F multiplied by `unit`, a power of two.
    #[doc(hidden)]
    pub fn times(self, unit: f64) -> Self {
        let pass = self.pass.map(|pass| Pass {
            decrease: unit * pass.decrease,
            max_decrease: unit * pass.max_decrease,
            ..pass
        });
        Self { objective: unit * self.objective, scale: unit * self.scale, pass, ..self }
    }

    /// Unit of tolerances of F: its scale plus |F|.
    pub fn size(&self) -> f64 {
        size(self.scale, self.objective)
    }
}

/// Why a run stops.
#[derive(Clone, Debug, PartialEq)]
pub struct StopReason {
    /// The status it ends with.
    pub status: Status,
    /// A sentence for the user.
    pub message: String,
}

pub(super) fn interrupted() -> StopReason {
    StopReason { status: Status::Interrupted, message: "interrupted; this is the best point so far".into() }
}

/// Reason of a run whose F is not finite.
pub fn numerical_error() -> StopReason {
    StopReason {
        status: Status::NumericalError,
        message: "F became NaN or infinite: check the scale of the data".into(),
    }
}

/// The end of a run whose last X is off the constraint by more than rounding.
pub(super) fn off_the_constraint() -> StopReason {
    StopReason {
        status: Status::NumericalError,
        message: "X has left the constraint: try another solver".into(),
    }
}

pub(super) fn out_of_time() -> StopReason {
    // without a number: what is left of the user's limit after the setting up is not what the user asked for
    StopReason { status: Status::TimeLimit, message: "reached the time limit".into() }
}

pub(super) fn out_of_iterations(limit: u64) -> StopReason {
    StopReason { status: Status::MaxIters, message: format!("reached the limit of {limit} iterations") }
}

pub(super) fn out_of_work() -> StopReason {
    StopReason { status: Status::Stalled, message: "reached its limit of work".into() }
}

/// A stopping criterion.
pub trait Stop {
    /// The reason to stop now, or `None` to continue.
    fn check(&mut self, p: &Progress) -> Option<StopReason>;

    /// The seconds after which it stops whatever has been reached, if it does: runs begin their end before.
    fn time_limit(&self) -> Option<f64> {
        None
    }

    /// Stops when `self` or `other` does; `self` is asked first.
    fn or<B: Stop>(self, other: B) -> Or<Self, B>
    where
        Self: Sized,
    {
        Or(self, other)
    }

    /// Stops when both do at the same step, with the reason of `self`.
    fn and<B: Stop>(self, other: B) -> And<Self, B>
    where
        Self: Sized,
    {
        And(self, other)
    }
}

impl<S: Stop + ?Sized> Stop for &mut S {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        (**self).check(p)
    }

    fn time_limit(&self) -> Option<f64> {
        (**self).time_limit()
    }
}

impl Stop for Box<dyn Stop + '_> {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        (**self).check(p)
    }

    fn time_limit(&self) -> Option<f64> {
        (**self).time_limit()
    }
}

/// See [`Stop::or`].
#[derive(Clone, Copy, Debug)]
pub struct Or<A, B>(A, B);

impl<A, B> Or<A, B> {
    pub(super) fn new(first: A, second: B) -> Self {
        Self(first, second)
    }
}

impl<A: Stop, B: Stop> Stop for Or<A, B> {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        self.0.check(p).or_else(|| self.1.check(p))
    }

    fn time_limit(&self) -> Option<f64> {
        match (self.0.time_limit(), self.1.time_limit()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// See [`Stop::and`].
#[derive(Clone, Copy, Debug)]
pub struct And<A, B>(A, B);

impl<A: Stop, B: Stop> Stop for And<A, B> {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        let (a, b) = (self.0.check(p), self.1.check(p));
        b.and(a)
    }
}

/// Stops after so many iterations; `None` never stops.
#[derive(Clone, Copy, Debug)]
pub struct MaxIterations(pub Option<u64>);

impl Stop for MaxIterations {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        let limit = self.0?;
        (p.iteration >= limit).then(|| out_of_iterations(limit))
    }
}

/// Stops after so many seconds; `None` never stops.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit(pub Option<f64>);

impl Stop for TimeLimit {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        let limit = self.0?;
        (p.seconds >= limit).then(out_of_time)
    }

    fn time_limit(&self) -> Option<f64> {
        self.0
    }
}

/// Stops as converged when a whole pass over everything that can move found no decrease above
/// `tol` times the size of F, its scale plus |F|, and moved nothing.
#[derive(Clone, Copy, Debug)]
pub struct Stationary {
    /// Tolerance relative to the scale of F plus |F|.
    pub tol: f64,
}

impl Stop for Stationary {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        let pass = p.pass.filter(|pass| pass.covers_all)?;
        let limit = self.tol * p.size();
        // a pass that moved something has not checked the X it ended with
        (pass.decrease == 0.0 && pass.max_decrease <= limit).then(|| StopReason {
            status: Status::Converged,
            message: format!(
                "block-2 stationary: a whole pass over all {} pairs that can move found no decrease above {:.0e} times \
                 the size of F",
                pass.pairs, self.tol
            ),
        })
    }
}

/// Stops as converged when the solver's own measure of stationarity is small; never for solvers
/// that have none.
#[derive(Clone, Copy, Debug)]
pub struct Critical {
    /// Tolerance of the measure, which is relative.
    pub tol: f64,
}

impl Stop for Critical {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        let residual = p.residual?;
        (residual <= self.tol).then(|| StopReason {
            status: Status::Converged,
            message: format!("critical: the relative stationarity measure of the method is {residual:.1e}"),
        })
    }
}

/// Stops as stalled when a pass lowers F by less than `tol` times its scale plus |F|; `tol` = 0 never stops.
#[derive(Clone, Copy, Debug)]
pub struct RelativeDecrease {
    /// Tolerance relative to the scale of F plus |F|.
    pub tol: f64,
}

impl Stop for RelativeDecrease {
    fn check(&mut self, p: &Progress) -> Option<StopReason> {
        let pass = p.pass?;
        let limit = self.tol * p.size();
        (pass.decrease < limit).then(|| StopReason {
            status: Status::Stalled,
            message: format!(
                "a pass of {} pairs lowered F by {:.1e} times its size only",
                pass.pairs,
                pass.decrease / p.size()
            ),
        })
    }
}

/// Rule by which a run ends if F no longer falls, and the length that is too long for a run without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stagnation {
    /// Never.
    Never,
    /// Yes; half a million iterations are too long.
    Iterations,
    /// Yes; so are 5,000 iterations of 3·10¹⁰ multiplications together, for methods that creep where an iteration is dear.
    Work,
}

/// Stops as stalled when neither F nor the measure of stationarity has fallen any more for three quarters of all iterations, and
/// where they have become too many: the end of methods that have neither passes nor a measure of stationarity that gets
/// small.
#[derive(Clone, Copy, Debug)]
pub struct Fading {
    lowest: f64,
    residual: f64,      // the smallest
    since: u64,         // the iteration of the last decrease that counts
    began: Option<u64>, // the iteration at the first check
    most: (u64, u64),   // iterations, whatever their work; work, after enough iterations
    quiet: (u64, u64), // no end before so many iterations, nor before so many times those that brought something
    by_f: bool,        // only F counts
}

/// No run is called fading before so many iterations, nor before four times those that brought something.
const QUIET: (u64, u64) = (10_000, 4);
/// Least decrease of F, relative to its scale plus |F|.
const FALL: f64 = 1e-5;
/// The most iterations of a run without a limit.
const MOST: u64 = 500_000;
/// The most work of one, and the iterations that it may take in any case.
pub(super) const MOST_WORK: (u64, u64) = (30_000_000_000, 5_000);

impl Fading {
    /// Before the first iteration of a run, `limited` if it has a limit.
    #[doc(hidden)]
    pub fn new(stagnation: Stagnation, limited: bool) -> Option<Self> {
        let most = match stagnation {
            Stagnation::Never => return None,
            _ if limited => (u64::MAX, u64::MAX),
            Stagnation::Iterations => (MOST, u64::MAX),
            Stagnation::Work => (MOST, MOST_WORK.0),
        };
        let (lowest, residual) = (f64::INFINITY, f64::INFINITY);
        Some(Self { lowest, residual, since: 0, began: None, most, quiet: QUIET, by_f: false })
    }

    /// Of a run from whose best point another solver continues: it ends where F has not fallen for half of the iterations, but
    /// not before so many of them. How critical its iterates are is no matter then.
    #[doc(hidden)]
    pub fn handed_on(self, first: u64) -> Self {
        Self { quiet: (first, 2), by_f: true, ..self }
    }

    /// The reason to stop now, after so much work, or `None` to continue.
    #[doc(hidden)]
    pub fn check(&mut self, p: &Progress, work: u64) -> Option<StopReason> {
        let began = *self.began.get_or_insert(p.iteration);
        let made = p.iteration - began;
        if p.objective < self.lowest - FALL * p.size() || self.lowest.is_infinite() {
            (self.lowest, self.since) = (p.objective, made);
        }
        if let Some(residual) = p.residual.filter(|residual| !self.by_f && *residual < 0.5 * self.residual) {
            (self.residual, self.since) = (residual, made);
        }
        let why = if made >= self.quiet.0 && made / self.quiet.1 >= self.since {
            let (last, measure) =
                (made - self.since, if self.by_f { "" } else { ", nor the stationarity measure to a half," });
            format!(
                "F has not fallen by {FALL:.0e} times its size{measure} in the last {last} of {made} iterations"
            )
        } else if made >= self.most.0 || (work >= self.most.1 && made >= MOST_WORK.1) {
            format!("F still falls after {made} iterations, the default limit")
        } else {
            return None;
        };
        Some(StopReason { status: Status::Stalled, message: why })
    }
}

/// When a run ends, as users set it: the criteria of the command line and of Python in one.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Stopping {
    /// Iterations.
    pub max_iters: Option<u64>,
    /// Seconds.
    pub time_limit: Option<f64>,
    /// Decreases of F within `tol` times its scale plus |F| count as none; measures of stationarity within 1000 `tol`.
    pub tol: f64,
    /// A pass that lowers F by less than this times its scale plus |F| ends the run.
    pub min_decrease: f64,
}

impl Stopping {
    /// The criteria; convergence is asked about first.
    pub fn criteria(&self) -> impl Stop + use<> {
        Stationary { tol: self.tol }
            .or(Critical { tol: 1e3 * self.tol })
            .or(MaxIterations(self.max_iters))
            .or(TimeLimit(self.time_limit))
            .or(RelativeDecrease { tol: self.min_decrease })
    }

    /// With what is left of the time limit on the clock that began when the data were there, where anybody would notice: the
    /// limit is of setting up the problem, too.
    #[must_use]
    pub fn after(self, clock: &Cancel) -> Self {
        Self { time_limit: self.time_limit.map(|limit| rest_of(limit, clock.seconds())), ..self }
    }

    /// The decrease of F that counts as none where F is `objective` and its scale is `scale`.
    pub fn tolerance(&self, scale: f64, objective: f64) -> f64 {
        self.tol * size(scale, objective)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iteration at which a run ends whose F is `course` of the iterations, each of so much work.
    fn end(stagnation: Stagnation, limited: bool, work: u64, course: impl Fn(u64) -> f64) -> Option<u64> {
        let mut fading = Fading::new(stagnation, limited)?;
        (0..1_000_000).find(|k| {
            let p = Progress {
                iteration: *k,
                seconds: 0.0,
                objective: course(*k),
                scale: 1.0,
                pass: None,
                residual: None,
            };
            fading.check(&p, k * work).is_some()
        })
    }

    #[test]
    fn runs_without_a_limit_end() {
        let falling = |k: u64| -((1 + k) as f64).sqrt();
        let dear = MOST_WORK.0 / 100;
        assert_eq!(end(Stagnation::Never, false, dear, falling), None);
        assert_eq!(end(Stagnation::Iterations, false, dear, falling), Some(MOST));
        assert_eq!(end(Stagnation::Work, false, 1, falling), Some(MOST));
        assert_eq!(end(Stagnation::Work, false, MOST_WORK.0 / 20_000, falling), Some(20_000));
        assert_eq!(end(Stagnation::Work, false, dear, falling), Some(MOST_WORK.1));
        assert_eq!(
            end(Stagnation::Work, true, dear, falling),
            None,
            "a limit of the user's own counts instead"
        );
        for stagnation in [Stagnation::Iterations, Stagnation::Work] {
            assert_eq!(
                end(stagnation, true, dear, |_| -1.0),
                Some(QUIET.0),
                "what no longer falls ends in any case"
            );
        }
    }

    /// A run from which another solver continues ends after half of its iterations without a decrease, whatever its
    /// measure does. It does not end before F could have fallen.
    #[test]
    fn what_is_handed_on_ends_soon() {
        let end = |first: u64, last_fall: u64| {
            let mut fading = Fading::new(Stagnation::Iterations, true)?.handed_on(first);
            (0..100_000).find(|k| {
                let objective = -(*k.min(&last_fall) as f64);
                let residual = Some(0.5f64.powi(*k as i32));
                let p = Progress { iteration: *k, seconds: 0.0, objective, scale: 1.0, pass: None, residual };
                fading.check(&p, 0).is_some()
            })
        };
        assert_eq!(end(800, 13), Some(800));
        assert_eq!(end(800, 600), Some(1200));
        assert_eq!(end(200, 600), Some(1200));
    }
}
