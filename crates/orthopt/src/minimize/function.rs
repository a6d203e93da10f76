//! A smooth function of the caller's own, as solvers see it.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::broken::Broken;
use orthopt_core::smooth::{
    FiniteSum, HessianVector, Smooth, TwoSided, central_difference, estimate_lipschitz,
};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_run::family::in_unit::far_unit;

/// Evaluations that are remembered: solvers ask for f and ∇f of the same X separately.
const REMEMBERED: usize = 3;

/// Relative difference of f and the mean of its components, which sums of different order may have.
const SUM: f64 = 1e-6;

/// Functions of another language. They are called on the thread that called [`minimize`](super::minimize). `None` says that a
/// function failed; its caller knows why, is not to be called again, and the run ends.
pub trait Callback: Send + Sync {
    /// f(X), and G ← ∇f(X).
    fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> Option<f64>;

    /// True if there is a product with the Hessian.
    fn has_hessian(&self) -> bool {
        false
    }

    /// The derivative of ∇f at X along D.
    fn hessian_vector(&self, _x: &RowMat, _d: &RowMat) -> Option<RowMat> {
        None
    }

    /// Number of functions whose mean f is.
    fn components(&self) -> usize {
        1
    }

    /// The mean of the functions with these numbers (from 0), and G ← the mean of their gradients.
    fn sample_gradient(&self, _sample: &[usize], x: &RowMat, g: &mut RowMat) -> Option<f64> {
        self.evaluate(x, g)
    }

    /// True if the run is to end; asked between steps.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// A [`Callback`] with what is known of its f. Clones share all.
#[derive(Clone)]
pub struct Function(Arc<Inner>);

struct Inner {
    callback: Arc<dyn Callback>,
    shape: (usize, usize),
    lipschitz: Mutex<Lipschitz>,
    unit: OnceLock<f64>,                     // power of two that f and ∇f are divided by
    scale: Mutex<Option<f64>>,               // found at the first X that is asked about
    seen: Mutex<Vec<(RowMat, f64, RowMat)>>, // the last evaluations, newest last
    broken: Mutex<Broken>,
    cancel: Cancel,
    evaluations: AtomicU64,
}

/// L of ∇f.
#[derive(Default)]
enum Lipschitz {
    /// Not known, and nowhere to estimate it.
    #[default]
    Unknown,
    /// Estimated at this X from this direction on by the first solver that asks.
    From(RowMat, RowMat),
    /// The user's, or the estimate.
    Known(f64),
}

/// A poisoned lock guards nothing here that a panic could have left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Function {
    /// f on matrices of this shape, with L of ∇f if it is known; `cancel` ends the run.
    pub fn new(
        callback: Arc<dyn Callback>,
        shape: (usize, usize),
        lipschitz: Option<f64>,
        cancel: Cancel,
    ) -> Self {
        Self(Arc::new(Inner {
            callback,
            shape,
            lipschitz: Mutex::new(lipschitz.map_or(Lipschitz::Unknown, Lipschitz::Known)),
            unit: OnceLock::new(),
            scale: Mutex::new(None),
            seen: Mutex::default(),
            broken: Mutex::default(),
            cancel,
            evaluations: AtomicU64::new(0),
        }))
    }

    /// Rows and columns of X.
    pub fn shape(&self) -> (usize, usize) {
        self.0.shape
    }

    /// The power of two that f and ∇f are divided by from here on, in which they are numbers whose squares are numbers: 1 unless
    /// they are far from 1 at this X.
    pub(super) fn settle_unit(&self, x: &RowMat) -> f64 {
        if let Some(unit) = self.0.unit.get() {
            return *unit;
        }
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let f = self.evaluate(x, &mut g);
        let unit = far_unit(g.data().iter().fold(f.abs(), |most, v| most.max(v.abs())));
        for (_, f, g) in lock(&self.0.seen).iter_mut() {
            *f /= unit;
            divide(g, unit);
        }
        if let Lipschitz::Known(l) = &mut *lock(&self.0.lipschitz) {
            *l /= unit;
        }
        *self.0.unit.get_or_init(|| unit)
    }

    /// Factor from f and ∇f of the run to those of the user.
    pub(super) fn unit(&self) -> f64 {
        self.0.unit.get().copied().unwrap_or(1.0)
    }

    /// f(X), and G ← ∇f(X).
    pub(super) fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        if let Some((_, f, gradient)) = lock(&self.0.seen).iter().rev().find(|seen| seen.0 == *x) {
            g.data_mut().copy_from_slice(gradient.data());
            return *f;
        }
        self.0.evaluations.fetch_add(1, Ordering::Relaxed);
        let Some(f) = self.0.callback.evaluate(x, g) else { return nothing(g) };
        let f = self.in_unit(f, g);
        lock(&self.0.broken).note(f, g);
        self.remember(x, f, g);
        f
    }

    /// An answer of the callback in the unit of the run.
    fn in_unit(&self, f: f64, g: &mut RowMat) -> f64 {
        divide(g, self.unit());
        f / self.unit()
    }

    /// The value of the callback that is not a number.
    pub(super) fn broken(&self) -> Broken {
        *lock(&self.0.broken)
    }

    /// Memory of the oldest evaluation is used again.
    fn remember(&self, x: &RowMat, f: f64, g: &RowMat) {
        let mut seen = lock(&self.0.seen);
        if seen.len() < REMEMBERED {
            return seen.push((x.clone(), f, g.clone()));
        }
        let mut oldest = seen.remove(0);
        oldest.0.data_mut().copy_from_slice(x.data());
        oldest.2.data_mut().copy_from_slice(g.data());
        oldest.1 = f;
        seen.push(oldest);
    }

    /// Sets the point at which L is estimated if a solver asks for it and the user does not know it. L is the unit of
    /// steps, which the methods adapt.
    pub(super) fn estimate_lipschitz_at(&self, x0: &RowMat, direction: RowMat) {
        let mut lipschitz = lock(&self.0.lipschitz);
        if matches!(*lipschitz, Lipschitz::Unknown) {
            *lipschitz = Lipschitz::From(x0.clone(), direction);
        }
    }

    /// L, if a solver has asked for it or the user knows it.
    pub(super) fn known_lipschitz(&self) -> Option<f64> {
        match *lock(&self.0.lipschitz) {
            Lipschitz::Known(l) => Some(l * self.unit()),
            _ => None,
        }
    }

    /// Checks that the mean of all components is f, at this X.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn check_sum(&self, x: &RowMat) -> Result<()> {
        let all: Vec<usize> = (0..self.components()).collect();
        let (mut g, mut of_all) = (RowMat::zeros(x.nrows(), x.ncols()), RowMat::zeros(x.nrows(), x.ncols()));
        let f = self.evaluate(x, &mut g);
        let mean = self.sample_gradient(&all, x, &mut of_all);
        let difference = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| g.get(i, k) - of_all.get(i, k)).norm();
        let close = (f - mean).abs() <= SUM * (1.0 + f.abs()) && difference <= SUM * (1.0 + g.norm());
        if close || !f.is_finite() {
            return Ok(()); // the solver says what is wrong with an f that is no number
        }
        let text = format!(
            " of all {} components is {mean} at the starting point, with a gradient that differs from that of fun by \
             {difference:.1e}, and fun is {f}: f must be the mean of its components",
            all.len()
        );
        Err(Error::Incompatible(Message::about("sample").text(text)))
    }

    /// Set when the run is to end.
    pub(super) fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// Set when the run is to end; the callback is asked each time, on the thread that called `minimize`.
    pub(super) fn attended(&self) -> Cancel {
        let f = self.clone();
        Cancel::when(move || {
            if f.0.callback.is_interrupted() {
                f.0.cancel.cancel();
            }
            f.0.cancel.is_cancelled()
        })
    }

    /// Number of calls of the callback for values of f.
    pub fn evaluations(&self) -> u64 {
        self.0.evaluations.load(Ordering::Relaxed)
    }
}

fn divide(g: &mut RowMat, unit: f64) {
    if unit != 1.0 {
        g.data_mut().iter_mut().for_each(|v| *v /= unit);
    }
}

fn nothing(g: &mut RowMat) -> f64 {
    g.data_mut().fill(f64::NAN);
    f64::NAN
}

impl Smooth for Function {
    fn nrows(&self) -> usize {
        self.0.shape.0
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.0.shape.1)
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.evaluate(x, &mut RowMat::zeros(x.nrows(), x.ncols()))
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.evaluate(x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.evaluate(x, g)
    }

    /// Found once: the callback is asked where a run begins, and never again for this.
    fn scale(&self, x: &RowMat) -> f64 {
        let known = *lock(&self.0.scale);
        known.unwrap_or_else(|| {
            let mut g = RowMat::zeros(x.nrows(), x.ncols());
            let size = self.evaluate(x, &mut g).abs() + g.norm();
            let size = if size.is_finite() { size } else { 0.0 };
            *lock(&self.0.scale) = Some(size);
            size
        })
    }

    fn components(&self) -> usize {
        self.0.callback.components()
    }

    fn lipschitz(&self) -> Option<f64> {
        let asked = mem::take(&mut *lock(&self.0.lipschitz)); // the estimate evaluates f, with nothing locked
        let known = match asked {
            Lipschitz::Unknown => return None,
            Lipschitz::From(x0, direction) => estimate_lipschitz(self, &x0, &direction),
            Lipschitz::Known(l) => l,
        };
        *lock(&self.0.lipschitz) = Lipschitz::Known(known);
        Some(known)
    }
}

impl FiniteSum for Function {
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        if self.components() == 1 {
            return self.evaluate(x, g);
        }
        self.0.evaluations.fetch_add(1, Ordering::Relaxed);
        match self.0.callback.sample_gradient(sample, x, g) {
            Some(f) => self.in_unit(f, g),
            None => nothing(g),
        }
    }
}

impl HessianVector for Function {
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        if !self.has_hessian() {
            return central_difference(self, x, d);
        }
        match self.0.callback.hessian_vector(x, d) {
            Some(mut product) => {
                divide(&mut product, self.unit());
                product
            }
            None => RowMat::from_fn(x.nrows(), x.ncols(), |_, _| f64::NAN),
        }
    }

    fn has_hessian(&self) -> bool {
        self.0.callback.has_hessian()
    }
}

impl TwoSided for Function {}
