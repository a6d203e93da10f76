//! A recomputed criticality before a run is called converged.

use super::{Progress, Status, Stop, StopReason};

/// Examination of the X that a solver would return, made where its own measure of stationarity is small: that measure
/// may be small because steps or a smoothing are.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Confirmed {
    /// Distance of that X from being critical, computed from X and the problem alone, relative so that 1e-6 is small.
    pub criticality: f64,
    /// Why the run ends although that is not small: more steps would hardly lower F.
    pub ends: Option<&'static str>,
}

impl Confirmed {
    /// A run that continues until X is critical.
    pub fn new(criticality: f64) -> Self {
        Self { criticality, ends: None }
    }

    /// This result with a reason to end as stalled.
    pub fn or_ends(self, why: Option<&'static str>) -> Self {
        Self { ends: why, ..self }
    }
}

/// Relative criticality up to which a solver that has nothing more to do is believed.
const CRITICAL: f64 = 1e-6;

/// `found`, unless it is a `converged` that does not hold: then what `stop` says of the criticality of X
/// instead of the solver's own measure, or nothing.
pub fn believed(
    found: Option<StopReason>,
    p: &Progress,
    stop: &mut dyn Stop,
    ended: bool,
    confirmed: impl FnOnce() -> Option<Confirmed>,
) -> Option<StopReason> {
    let reason = match found {
        Some(reason) if reason.status == Status::Converged => reason,
        other => return other,
    };
    // a pass that has nothing left to offer cannot continue
    let exhausted = p.pass.is_some_and(|pass| pass.max_decrease <= 0.0);
    let Some(Confirmed { criticality, ends }) = confirmed().filter(|_| !exhausted) else {
        return Some(reason);
    };
    let anew = format!("recomputed criticality of X: {criticality:.1e}");
    let converged = StopReason { message: format!("{}; {anew}", reason.message), ..reason };
    let stalled = |why| StopReason { status: Status::Stalled, message: format!("{why} ({anew})") };
    if ended {
        let why = "the step to take is zero up to rounding, though X is not critical";
        return Some(if criticality <= CRITICAL { converged } else { stalled(why) });
    }
    if p.pass.is_some() && criticality <= CRITICAL {
        return Some(converged); // what pairs still gain there is lost in the rounding of F
    }
    match stop.check(&Progress { pass: None, residual: Some(criticality), ..*p }) {
        Some(again) if again.status == Status::Converged => Some(converged),
        Some(again) => Some(again),
        None => ends.map(stalled),
    }
}

/// `reason` where the X that is returned is not the one it was given for, but that of `whose`: what was found critical is
/// another point.
pub fn of_another(reason: StopReason, whose: &str) -> StopReason {
    let status = if reason.status == Status::Converged { Status::Stalled } else { reason.status };
    StopReason { status, message: format!("{}; the best X is that of {whose}", reason.message) }
}

/// Largest increase of F, relative to |F|, with which the point that was found critical counts as the best one:
/// rounding.
const TIE: f64 = 1e-12;

/// True if a later point with this F and status takes the place of one with F = `best`.
pub fn succeeds((objective, status): (f64, Status), best: f64) -> bool {
    let slack = if status == Status::Converged { TIE * best.abs() } else { 0.0 };
    objective <= best + slack
}

#[cfg(test)]
mod tests {
    use super::super::{Critical, MaxIterations};
    use super::*;

    fn at(residual: f64) -> Progress {
        Progress {
            iteration: 7,
            seconds: 0.0,
            objective: 1.0,
            scale: 1.0,
            pass: None,
            residual: Some(residual),
        }
    }

    fn status(
        criticality: f64,
        ends: Option<&'static str>,
        ended: bool,
        most: Option<u64>,
    ) -> Option<Status> {
        let mut stop = Critical { tol: 1e-6 }.or(MaxIterations(most));
        let p = at(1e-8);
        let found = stop.check(&p);
        let second = || Some(Confirmed::new(criticality).or_ends(ends));
        believed(found, &p, &mut stop, ended, second).map(|reason| reason.status)
    }

    #[test]
    fn a_small_measure_is_not_enough() {
        assert_eq!(status(1e-7, None, false, None), Some(Status::Converged));
        assert_eq!(status(1e-3, None, false, None), None);
        assert_eq!(status(1e-3, None, false, Some(7)), Some(Status::MaxIters));
        assert_eq!(status(1e-3, Some("as far as it goes"), false, None), Some(Status::Stalled));
        assert_eq!(status(1e-3, None, true, None), Some(Status::Stalled));
        assert_eq!(status(1e-7, None, true, None), Some(Status::Converged));
        let mut stop = Critical { tol: 1e-6 };
        let found = stop.check(&at(1e-8));
        assert!(believed(found, &at(1e-8), &mut stop, false, || None).is_some());
        assert!(believed(None, &at(1e-3), &mut stop, false, || unreachable!("not asked")).is_none());
    }

    #[test]
    fn convergence_is_that_of_the_x_that_is_returned() {
        let reason = |status| StopReason { status, message: "why".into() };
        let other = of_another(reason(Status::Converged), "madmm");
        assert_eq!(
            (other.status, other.message.as_str()),
            (Status::Stalled, "why; the best X is that of madmm")
        );
        assert_eq!(of_another(reason(Status::MaxIters), "spm").status, Status::MaxIters);
        assert!(
            succeeds((-1.0, Status::MaxIters), -1.0) && !succeeds((-1.0 + 1e-13, Status::MaxIters), -1.0)
        );
        assert!(
            succeeds((-1.0 + 1e-13, Status::Converged), -1.0) && !succeeds((-0.999, Status::Converged), -1.0)
        );
    }
}
