//! May the work continue? One clock, one deadline and one flag for everything that takes its time.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::work::so_far;

/// A flag that ends work when it is set, a deadline, and the clock of both. Clones share all three. Work asks
/// [`Cancel::is_over`] between two steps, ends soon after the answer is yes, and returns what it has.
#[derive(Clone)]
pub struct Cancel(Arc<Inner>);

struct Inner {
    begun: Instant,
    flag: AtomicBool,
    limit: Option<f64>,            // seconds
    work: Option<(ThreadId, u64)>, // of this thread, and its count at the end
    grace: Duration,
    since: OnceLock<Instant>, // when the work above was first found to be over
    asked: Option<Asked>,
    above: Option<Cancel>,
}

type Asked = Box<dyn Fn() -> bool + Send + Sync>;

thread_local! {
    static WAITING: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

impl Cancel {
    fn new(above: Option<Self>, limit: Option<f64>, grace: Duration, asked: Option<Asked>) -> Self {
        let (begun, flag, since) = (Instant::now(), AtomicBool::new(false), OnceLock::new());
        Self(Arc::new(Inner { begun, flag, limit, work: None, grace, since, asked, above }))
    }

    /// Without a deadline.
    pub fn never() -> Self {
        Self::new(None, None, Duration::ZERO, None)
    }

    /// Set as soon as `asked` says so: for flags that live elsewhere, such as the signals of another language.
    pub fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self::new(None, None, Duration::ZERO, Some(Box::new(asked)))
    }

    /// A part of the work with a flag and a clock of its own, which starts now, and so many seconds. It is over as well
    /// where the whole is.
    #[must_use]
    pub fn within(&self, seconds: Option<f64>) -> Self {
        Self::new(Some(self.clone()), seconds, Duration::ZERO, None)
    }

    /// A part of the work that is late, too, once this thread has done so much ([`work`](crate::work)).
    #[must_use]
    #[doc(hidden)]
    pub fn within_work(&self, most: Option<u64>) -> Self {
        let (begun, flag, since) = (Instant::now(), AtomicBool::new(false), OnceLock::new());
        let work = most.map(|most| (std::thread::current().id(), so_far().saturating_add(most)));
        let above = Some(self.clone());
        Self(Arc::new(Inner {
            begun,
            flag,
            limit: None,
            work,
            grace: Duration::ZERO,
            since,
            asked: None,
            above,
        }))
    }

    /// An extra that continues for so long after the whole is found to be over.
    #[must_use]
    pub fn with_grace(&self, grace: Duration) -> Self {
        Self::new(Some(self.clone()), None, grace, None)
    }

    /// Runs `f`, within which steps on this thread that are long and cannot be divided, such as the decomposition of a large
    /// matrix, are left as soon as this is over; they fail then.
    pub fn during<R>(&self, f: impl FnOnce() -> R) -> R {
        inherit(Some(self.clone()), f)
    }

    /// The innermost one that this thread works [`during`](Self::during).
    #[doc(hidden)]
    pub fn current() -> Option<Self> {
        WAITING.with_borrow(Clone::clone)
    }

    /// Sets the flag.
    pub fn cancel(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
    }

    /// Is the flag set?
    pub fn is_cancelled(&self) -> bool {
        let own = self.0.flag.load(Ordering::Relaxed) || self.0.asked.as_ref().is_some_and(|asked| asked());
        own || self.above(Self::is_cancelled)
    }

    /// Has the deadline passed?
    pub fn is_late(&self) -> bool {
        self.left() == Some(0.0) || self.has_worked() || self.above(Self::is_late)
    }

    /// Has this thread done all of its work?
    fn has_worked(&self) -> bool {
        self.0.work.is_some_and(|(thread, end)| so_far() >= end && thread == std::thread::current().id())
    }

    /// Must the work end, for either reason?
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || self.is_late()
    }

    /// Does this hold of the whole, and has the grace since then passed?
    fn above(&self, holds: impl Fn(&Self) -> bool) -> bool {
        let Inner { above, grace, since, .. } = &*self.0;
        above.as_ref().is_some_and(holds)
            && (grace.is_zero() || since.get_or_init(Instant::now).elapsed() >= *grace)
    }

    /// Seconds since it was made.
    pub fn seconds(&self) -> f64 {
        self.0.begun.elapsed().as_secs_f64()
    }

    /// Seconds that the work may take.
    pub fn limit(&self) -> Option<f64> {
        self.0.limit
    }

    /// Seconds until the deadline, 0 after it.
    pub fn left(&self) -> Option<f64> {
        self.0.limit.map(|limit| (limit - self.seconds()).max(0.0))
    }
}

/// Seconds over a limit that what follows the work may take: half of those that every limit may be exceeded by.
pub fn moment(limit: f64) -> f64 {
    0.05 * limit
}

/// True if the work of this thread is cancelled.
pub fn is_over() -> bool {
    Cancel::current().is_some_and(|cancel| cancel.is_over())
}

/// Runs `f` for another thread that waits for it: `waiting` is its [`Cancel::current`].
pub fn inherit<R>(waiting: Option<Cancel>, f: impl FnOnce() -> R) -> R {
    struct Before(Option<Cancel>);
    impl Drop for Before {
        fn drop(&mut self) {
            WAITING.set(self.0.take());
        }
    }
    let _before = Before(WAITING.replace(waiting));
    f()
}

impl Default for Cancel {
    fn default() -> Self {
        Self::never()
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cancel(set: {}, limit: {:?} s)", self.0.flag.load(Ordering::Relaxed), self.0.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::count;

    #[test]
    fn a_part_is_over_where_the_whole_is() {
        let whole = Cancel::never();
        let (part, other) = (whole.within(None), whole.within(Some(1e9)));
        part.cancel();
        assert!(part.is_over() && !whole.is_over() && !other.is_over());
        whole.clone().cancel();
        assert!(other.is_cancelled() && !other.is_late() && other.is_over());
    }

    #[test]
    fn so_much_work_of_this_thread_and_of_no_other() {
        let whole = Cancel::never();
        let part = whole.within_work(Some(10));
        count(9);
        assert!(!part.is_over());
        count(1);
        assert!(part.is_late() && !part.is_cancelled() && !whole.is_over());
        let elsewhere = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    count(100);
                    part.is_over()
                })
                .join()
        });
        assert!(!elsewhere.unwrap());
        assert!(!whole.within_work(None).is_over());
    }

    #[test]
    fn the_deadline_is_that_of_the_clock() {
        let late = Cancel::never().within(Some(0.0));
        assert!(late.is_late() && late.is_over() && !late.is_cancelled() && late.left() == Some(0.0));
        let part = late.within(None);
        assert!(part.is_late() && part.limit().is_none() && part.left().is_none());
        let soon = Cancel::never().within(Some(3600.0));
        assert!(!soon.is_late() && soon.left() < Some(3600.0) && soon.seconds() < 3600.0);
    }

    #[test]
    fn grace_counts_from_when_the_end_is_seen() {
        let whole = Cancel::never();
        let (extra, none) = (whole.with_grace(Duration::from_secs(3600)), whole.with_grace(Duration::ZERO));
        whole.cancel();
        assert!(!extra.is_over() && none.is_over());
        let extra = whole.with_grace(Duration::from_millis(1));
        assert!(!extra.is_over());
        std::thread::sleep(Duration::from_millis(2));
        assert!(extra.is_over());
    }

    #[test]
    fn the_innermost_is_current_and_loops_inherit_it() {
        assert!(Cancel::current().is_none());
        let (outer, inner) = (Cancel::never(), Cancel::never());
        inner.cancel();
        let is_over = || Cancel::current().map(|cancel| cancel.is_over());
        outer.during(|| {
            assert_eq!(is_over(), Some(false));
            inner.during(|| {
                assert!(crate::parallel::map(64, 1, |_| is_over()).iter().all(|v| *v == Some(true)));
            });
            assert_eq!(is_over(), Some(false));
        });
        assert!(Cancel::current().is_none());
    }

    #[test]
    fn a_flag_elsewhere_is_asked() {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let part = Cancel::when(move || seen.load(Ordering::Relaxed)).within(None);
        assert!(!part.is_over());
        flag.store(true, Ordering::Relaxed);
        assert!(part.is_over());
    }
}
