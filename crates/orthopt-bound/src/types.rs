//! Request, limits and result of a bound.

use std::sync::{Mutex, PoisonError};

use orthopt_core::constraint::stiefel;
use orthopt_core::problem::{Cardinality, nonzero_rows};
pub use orthopt_core::solve::bound::{Bound, End, Method, Progress, Relaxation};
use orthopt_core::solve::claim::PROVED;
use orthopt_core::start::repaired;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result, bytes_in_words};
use orthopt_linalg::message::Message;

/// The problem min F(X) = −½ tr(XᵀCX) + h(X) over XᵀX = I_r whose minimum is bounded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// h = λ‖X‖₀. λ = 0 is plain PCA.
    L0 {
        /// λ ≥ 0.
        lambda: f64,
    },
    /// h = λ‖X‖₀ and ‖X‖₀ ≤ K.
    Total {
        /// K, at least r.
        nonzeros: usize,
        /// λ ≥ 0.
        lambda: f64,
    },
    /// h = λ‖X‖₀ and ‖xⱼ‖₀ ≤ kⱼ.
    Counts {
        /// kⱼ ≥ 1, one for each of the r columns.
        nonzeros: Vec<usize>,
        /// λ ≥ 0.
        lambda: f64,
    },
    /// h = λ‖X‖₂,₀, the price of rows that are not zero, and at most s of them.
    Rows {
        /// s, at least r.
        rows: usize,
        /// λ ≥ 0.
        lambda: f64,
    },
    /// X ≥ 0, h = 0.
    Nonnegative,
    /// X ≥ 0 with the limit and the λ of another kind.
    NonnegativeLimited(Box<Self>),
    /// h = λ‖X‖₁. A weak bound; the better the incumbent, the better it is.
    L1 {
        /// λ ≥ 0.
        lambda: f64,
    },
}

impl Kind {
    /// λ, 0 for X ≥ 0.
    pub(super) fn lambda(&self) -> f64 {
        match self {
            Self::L0 { lambda }
            | Self::L1 { lambda }
            | Self::Total { lambda, .. }
            | Self::Rows { lambda, .. }
            | Self::Counts { lambda, .. } => *lambda,
            Self::Nonnegative => 0.0,
            Self::NonnegativeLimited(limited) => limited.lambda(),
        }
    }

    /// The kind without signs, whose minimum is not larger.
    pub(super) fn unsigned(&self) -> &Self {
        match self {
            Self::NonnegativeLimited(limited) => limited,
            _ => self,
        }
    }

    /// True if X ≥ 0.
    pub(super) fn nonneg(&self) -> bool {
        matches!(self, Self::Nonnegative | Self::NonnegativeLimited(_))
    }

    /// The limit on nonzeros, where there is one.
    fn limit(&self) -> Option<Cardinality> {
        match self {
            Self::Total { nonzeros, .. } => Some(Cardinality::Total(*nonzeros)),
            Self::Counts { nonzeros, .. } => Some(Cardinality::Components(nonzeros.clone())),
            Self::Rows { rows, .. } => Some(Cardinality::Rows(*rows)),
            Self::NonnegativeLimited(limited) => limited.limit(),
            Self::L0 { .. } | Self::Nonnegative | Self::L1 { .. } => None,
        }
    }

    /// h(X), exact zeros counting as zeros.
    pub(super) fn penalty(&self, x: &RowMat) -> f64 {
        match self {
            Self::Rows { lambda, .. } => lambda * nonzero_rows(x).len() as f64,
            Self::L1 { lambda } => lambda * x.data().iter().map(|v| v.abs()).sum::<f64>(),
            Self::Nonnegative => 0.0,
            Self::NonnegativeLimited(limited) => limited.penalty(x),
            Self::L0 { lambda } | Self::Total { lambda, .. } | Self::Counts { lambda, .. } => {
                lambda * x.data().iter().filter(|v| **v != 0.0).count() as f64
            }
        }
    }

    /// X as it is compared with the bound: feasible to 1e-6 as it is given, and to rounding as it comes back.
    ///
    /// # Errors
    /// Error if X is invalid, or has no orthonormal matrix near it on its support.
    pub(super) fn repaired(&self, x: &RowMat, n: usize, r: usize) -> Result<RowMat> {
        const WHAT: &str = "the incumbent X";
        stiefel::check(x, n, r, WHAT)?;
        if let Some(limit) = self.limit().filter(|limit| !limit.allows(x)) {
            return Err(Error::Incompatible(
                format!("{WHAT} has more nonzeros than allowed: {}", limit.words()).into(),
            ));
        }
        repaired(x, n, r, self.nonneg(), WHAT)
    }
}

/// Limits, precision and start of a bound.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seconds for everything.
    pub seconds: Option<f64>,
    /// Iterations of a relaxation, at most.
    pub iterations: u64,
    /// A relaxation ends when 200 iterations lowered its bound by less than this, relatively.
    pub tolerance: f64,
    /// Nodes of branch and bound, at most; 0 does not branch.
    pub nodes: u64,
    /// Work (`linalg::work`), at most.
    pub work: Option<u64>,
    /// The largest number of variables that the relaxation takes after screening. Memory is about 100
    /// times its square in bytes.
    pub variables: usize,
    /// Bytes that matrices of the variables left may take; any number if `None`.
    pub memory: Option<u64>,
    /// Gap, relative to |F|, at which F counts as proved.
    pub gap: f64,
    /// A relaxation of a similar problem over the same variables, to begin from.
    pub warm: Option<Relaxation>,
    /// True if the parts of a proof over lists of supports are kept, for a [`ProofFile`](super::ProofFile).
    pub keeps: bool,
}

/// Limit of the number of variables of matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    variables: usize,
    memory: Option<u64>,
    each: f64, // bytes for every entry of C
}

impl Room {
    /// `variables` at most, and as many as there is memory for with so many bytes for each of their pairs.
    pub fn new(variables: usize, options: &Options, each: f64) -> Self {
        Self { variables, memory: options.memory, each }
    }

    /// Examines a matrix before it is allocated: `left` of n variables and perhaps more.
    ///
    /// # Errors
    /// More variables or more memory than is allowed.
    pub fn check(&self, n: usize, left: usize) -> Result<()> {
        let bytes = self.each * (left as f64).powi(2);
        if left > self.variables {
            return Err(Error::Incompatible(
                format!(
                    "no bound: at least {left} of the {n} variables can have nonzero rows, and the relaxation keeps \
                     dense matrices of that size (about {:.1} GB); the limit is {} variables: choose a larger lambda, \
                     fewer variables or more memory",
                    bytes / 1e9,
                    self.variables
                )
                .into(),
            ));
        }
        match self.memory.filter(|most| bytes > *most as f64) {
            None => Ok(()),
            Some(most) => Err(Error::Memory {
                what: format!("the bound of F over {left} of {n} variables"),
                bytes: bytes as u64,
                allowed: format!("{} are allowed", bytes_in_words(most as f64)),
                advice: Message::from("take fewer columns (").option("features").text(")"),
            }),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seconds: None,
            iterations: 20_000,
            tolerance: 1e-6,
            nodes: 0,
            work: None,
            variables: 3000,
            memory: None,
            gap: PROVED,
            warm: None,
            keeps: false,
        }
    }
}

/// Called at least about every 0.1 seconds of work where n allows it (an iteration is never cut in
/// two); `false` ends the computation with the best bound so far.
pub type Show<'a> = &'a (dyn Fn(&Progress) + Sync);

/// The clock of a bound, what may cancel it, and what has been shown.
pub(super) struct Watch<'a> {
    cancel: Cancel,
    show: Show<'a>,
    seen: Mutex<Seen>,
}

/// Progress last shown to the watch.
#[derive(Debug)]
struct Seen {
    last: Progress,
    trace: Vec<Progress>,
}

impl<'a> Watch<'a> {
    pub fn new(cancel: Cancel, show: Show<'a>) -> Self {
        let last = Progress {
            iterations: 0,
            nodes: 0,
            open: 0,
            bound: f64::NEG_INFINITY,
            incumbent: None,
            seconds: 0.0,
        };
        Self { cancel, show, seen: Mutex::new(Seen { last, trace: Vec::new() }) }
    }

    /// A watch with the same clock, for a part of the computation whose progress says nothing of the whole.
    pub fn quiet(&self) -> Watch<'static> {
        Watch::new(self.cancel.clone(), &|_| ())
    }

    /// The values shown last.
    pub fn last(&self) -> Progress {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).last
    }

    pub fn seconds(&self) -> f64 {
        self.cancel.seconds()
    }

    /// The reason to stop now, if there is one.
    pub fn ask(&self, mut progress: Progress) -> Option<End> {
        progress.seconds = self.seconds();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).note(progress);
        (self.show)(&progress);
        if self.cancel.is_cancelled() {
            return Some(End::Interrupted);
        }
        self.cancel.is_late().then_some(End::Time)
    }

    /// The end by time where so many seconds are more than what is left: for work that has to be done after the end.
    pub fn has_less_than(&self, seconds: f64) -> Option<End> {
        self.cancel.left().is_some_and(|left| left < seconds).then_some(End::Time)
    }

    /// True if the computation should stop; asked from within a piece of work that has no news.
    pub fn is_over(&self) -> bool {
        self.ask(self.last()).is_some()
    }

    /// Course of bound and incumbent up to their values at the end.
    pub fn trace(&self, bound: f64, incumbent: Option<f64>) -> Vec<Progress> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let end = Progress { bound, incumbent, seconds: self.seconds(), ..seen.last };
        let mut trace = std::mem::take(&mut seen.trace);
        trace.push(end);
        trace
    }
}

impl Seen {
    fn note(&mut self, now: Progress) {
        let changed = |before: &Progress| now.bound != before.bound || now.incumbent != before.incumbent;
        let late = |before: &Progress| now.seconds >= 1.01 * before.seconds + 1e-3;
        if now.bound.is_finite() && self.trace.last().is_none_or(|before| changed(before) && late(before)) {
            self.trace.push(now);
        }
        self.last = now;
    }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watch({:?})", self.cancel)
    }
}
