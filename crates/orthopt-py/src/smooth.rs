//! A smooth function that is a Python callable: `fun(X) -> (f, G)`, with `hess(X, D) -> H` where there is one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthopt::Error;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::message::Message;
use orthopt::smooth::{FiniteSum, HessianVector, Smooth, TwoSided, estimate_lipschitz};
use orthopt::solve::{Event, Observer};
use orthopt_core::smooth::central_difference;
use orthopt_run::family::in_unit::far_unit;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::broken::Broken;
use crate::errors::Failure;
use crate::input::copied;
use crate::result::array;
use crate::supervise::Now;

/// Evaluations that are remembered: solvers ask for f and ∇f of the same X separately.
const REMEMBERED: usize = 3;

/// Relative difference of f and the mean of its components, which sums of different order may have.
const SUM: f64 = 1e-6;

/// The callable. It runs in the thread that called `minimize`; its first exception ends the run
/// (every later value is NaN) and is raised afterwards. Ctrl-C inside it asks the run to end.
#[derive(Clone)]
pub struct Callable(Arc<Inner>);

struct Inner {
    fun: Py<PyAny>,
    hess: Option<Py<PyAny>>,          // ∇²f(X)[D], a float64 array
    sums: Option<(Py<PyAny>, usize)>, // the mean of sampled components, and how many there are
    convert: Py<PyAny>,               // what `fun` returns to a float and a float64 array, or an error
    shape: (usize, usize),
    lipschitz: Mutex<Lipschitz>,
    unit: OnceLock<f64>,                     // power of two that f and ∇f are divided by
    scale: Mutex<Option<f64>>,               // found at the first X that is asked about
    seen: Mutex<Vec<(RowMat, f64, RowMat)>>, // the last evaluations, newest last
    raised: Mutex<Option<PyErr>>,
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

impl Callable {
    /// The callable on matrices of this shape, with products with its Hessian and L if the user knows them.
    pub fn new(
        fun: Py<PyAny>,
        hess: Option<Py<PyAny>>,
        sums: Option<(Py<PyAny>, usize)>,
        convert: Py<PyAny>,
        shape: (usize, usize),
        lipschitz: Option<f64>,
    ) -> Self {
        Self(Arc::new(Inner {
            fun,
            hess,
            sums,
            convert,
            shape,
            lipschitz: Mutex::new(lipschitz.map_or(Lipschitz::Unknown, Lipschitz::Known)),
            unit: OnceLock::new(),
            scale: Mutex::new(None),
            seen: Mutex::default(),
            raised: Mutex::default(),
            broken: Mutex::default(),
            cancel: Cancel::never(),
            evaluations: AtomicU64::new(0),
        }))
    }

    /// The power of two that f and ∇f are divided by from here on, in which they are numbers whose squares are numbers: 1 unless
    /// they are far from 1 at this X.
    pub fn settle_unit(&self, x: &RowMat) -> f64 {
        if let Some(unit) = self.0.unit.get() {
            return *unit;
        }
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let f = self.evaluate(x, &mut g);
        let unit = far_unit(g.data().iter().fold(f.abs(), |most, v| most.max(v.abs())));
        for (_, f, g) in lock(&self.0.seen).iter_mut() {
            *f /= unit;
            g.data_mut().iter_mut().for_each(|v| *v /= unit);
        }
        if let Lipschitz::Known(l) = &mut *lock(&self.0.lipschitz) {
            *l /= unit;
        }
        *self.0.unit.get_or_init(|| unit)
    }

    /// What f and ∇f are multiplied by to be those of the user.
    pub fn unit(&self) -> f64 {
        self.0.unit.get().copied().unwrap_or(1.0)
    }

    /// f(X), and G ← ∇f(X).
    pub fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        if let Some((_, f, gradient)) = lock(&self.0.seen).iter().rev().find(|seen| seen.0 == *x) {
            g.data_mut().copy_from_slice(gradient.data());
            return *f;
        }
        let Some(f) = self.call(x, g) else {
            g.data_mut().fill(f64::NAN);
            return f64::NAN;
        };
        lock(&self.0.broken).note(f, g);
        self.remember(x, f, g);
        f
    }

    /// What the callable has returned that is no number.
    pub fn broken(&self) -> Broken {
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

    /// `None` after an exception.
    fn call(&self, x: &RowMat, g: &mut RowMat) -> Option<f64> {
        self.asked(|py| self.ask(py, x, g))
    }

    /// Answer of Python to `ask`; `None` after an exception.
    fn asked<T>(&self, mut ask: impl FnMut(Python<'_>) -> PyResult<T>) -> Option<T> {
        if lock(&self.0.raised).is_some() {
            return None;
        }
        Python::attach(|py| {
            let mut found = ask(py);
            if let Err(error) = &found
                && error.is_instance_of::<PyKeyboardInterrupt>(py)
            {
                // the run ends after this step, for which the value is still needed
                self.0.cancel.cancel();
                found = ask(py);
            }
            found.map_err(|error| *lock(&self.0.raised) = Some(error)).ok()
        })
    }

    /// What another function of the user returns for X; NaN after an exception, which ends the run as one of `fun` does.
    pub fn matrix(&self, function: &Py<PyAny>, x: &RowMat) -> RowMat {
        let found = self.asked(|py| {
            let answer = function.bind(py).call1((array(py, x)?,))?;
            copied(&answer.extract::<PyReadonlyArray2<'_, f64>>()?)
        });
        found.unwrap_or_else(|| RowMat::from_fn(x.nrows(), x.ncols(), |_, _| f64::NAN))
    }

    fn ask(&self, py: Python<'_>, x: &RowMat, g: &mut RowMat) -> PyResult<f64> {
        self.0.evaluations.fetch_add(1, Ordering::Relaxed);
        let answer = self.0.fun.bind(py).call1((array(py, x)?,))?;
        self.read(py, answer, g)
    }

    /// The value and the gradient in an answer, in the unit of the run.
    fn read<'py>(&self, py: Python<'py>, answer: Bound<'py, PyAny>, g: &mut RowMat) -> PyResult<f64> {
        let (f, unit) = (self.read_own(py, answer, g)?, self.unit());
        if unit != 1.0 {
            g.data_mut().iter_mut().for_each(|v| *v /= unit);
        }
        Ok(f / unit)
    }

    fn read_own<'py>(&self, py: Python<'py>, answer: Bound<'py, PyAny>, g: &mut RowMat) -> PyResult<f64> {
        // what NumPy users return needs no conversion
        if let Ok((f, gradient)) = answer.extract::<(f64, PyReadonlyArray2<'_, f64>)>()
            && let Ok(values) = gradient.as_slice()
            && gradient.is_c_contiguous()
            && gradient.shape() == [self.0.shape.0, self.0.shape.1]
        {
            g.data_mut().copy_from_slice(values);
            return Ok(f);
        }
        let converted = self.0.convert.bind(py).call1((answer, self.0.shape))?;
        let (f, gradient): (f64, PyReadonlyArray2<'_, f64>) = converted.extract()?;
        g.data_mut().copy_from_slice(copied(&gradient)?.data());
        Ok(f)
    }

    /// Where L is estimated if a solver asks for it and the user does not know it: the unit of steps, which the methods adapt.
    pub fn estimate_lipschitz_at(&self, x0: &RowMat, direction: RowMat) {
        let mut lipschitz = lock(&self.0.lipschitz);
        if matches!(*lipschitz, Lipschitz::Unknown) {
            *lipschitz = Lipschitz::From(x0.clone(), direction);
        }
    }

    /// L, if a solver has asked for it or the user knows it.
    pub fn known_lipschitz(&self) -> Option<f64> {
        match *lock(&self.0.lipschitz) {
            Lipschitz::Known(l) => Some(l * self.unit()),
            _ => None,
        }
    }

    /// Checks that the mean of all components is f, at this X.
    ///
    /// # Errors
    /// It is not; an exception of a callable.
    pub fn check_sum(&self, x: &RowMat) -> Result<(), Failure> {
        let all: Vec<usize> = (0..self.components()).collect();
        let (mut g, mut of_all) = (RowMat::zeros(x.nrows(), x.ncols()), RowMat::zeros(x.nrows(), x.ncols()));
        let f = self.evaluate(x, &mut g);
        let mean = self.sample_gradient(&all, x, &mut of_all);
        if let Some(error) = self.raised() {
            return Err(Failure::Python(error));
        }
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
        Err(Failure::Library(Error::Incompatible(Message::about("sample").text(text))))
    }

    /// The exception of the callable, if it raised one.
    pub fn raised(&self) -> Option<PyErr> {
        lock(&self.0.raised).take()
    }

    /// Set when the run is to end.
    pub fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// The same, looking for Ctrl-C each time it is asked: in the thread that called `minimize`.
    pub fn attended(&self) -> Cancel {
        let f = self.clone();
        Cancel::when(move || f.look_for_signals())
    }

    /// Looks for Ctrl-C; whether the run is to end.
    fn look_for_signals(&self) -> bool {
        let checked = Python::attach(|py| {
            py.check_signals()
                .map_err(|error| (!error.is_instance_of::<PyKeyboardInterrupt>(py)).then_some(error))
        });
        if let Err(error) = checked {
            self.0.cancel.cancel();
            if let Some(error) = error {
                *lock(&self.0.raised) = Some(error);
            }
        }
        self.0.cancel.is_cancelled()
    }

    /// How often the callable was called.
    pub fn evaluations(&self) -> u64 {
        self.0.evaluations.load(Ordering::Relaxed)
    }
}

impl Smooth for Callable {
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

    /// Found once: the callable is asked where a run begins, and never again for this.
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
        self.0.sums.as_ref().map_or(1, |sums| sums.1)
    }

    fn lipschitz(&self) -> Option<f64> {
        let asked = std::mem::take(&mut *lock(&self.0.lipschitz)); // the estimate evaluates f, with nothing locked
        let known = match asked {
            Lipschitz::Unknown => return None,
            Lipschitz::From(x0, direction) => estimate_lipschitz(self, &x0, &direction),
            Lipschitz::Known(l) => l,
        };
        *lock(&self.0.lipschitz) = Lipschitz::Known(known);
        Some(known)
    }
}

impl FiniteSum for Callable {
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        let Some((mean, _)) = &self.0.sums else { return self.evaluate(x, g) };
        let found = self.asked(|py| {
            self.0.evaluations.fetch_add(1, Ordering::Relaxed);
            let which = PyArray1::from_iter(py, sample.iter().map(|i| *i as i64));
            let answer = mean.bind(py).call1((array(py, x)?, which))?;
            self.read(py, answer, g)
        });
        found.unwrap_or_else(|| {
            g.data_mut().fill(f64::NAN);
            f64::NAN
        })
    }
}

impl HessianVector for Callable {
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        let Some(hess) = &self.0.hess else { return central_difference(self, x, d) };
        let found = self.asked(|py| {
            let answer = hess.bind(py).call1((array(py, x)?, array(py, d)?))?;
            let mut product = copied(&answer.extract::<PyReadonlyArray2<'_, f64>>()?)?;
            let unit = self.unit();
            product.data_mut().iter_mut().for_each(|v| *v /= unit);
            Ok(product)
        });
        found.unwrap_or_else(|| RowMat::from_fn(x.nrows(), x.ncols(), |_, _| f64::NAN))
    }

    fn has_hessian(&self) -> bool {
        self.0.hess.is_some()
    }
}

impl TwoSided for Callable {}

/// Looks for Ctrl-C and calls back between steps, in the thread that called `minimize`.
pub struct Between<'a> {
    f: &'a Callable,
    callback: Option<&'a Py<PyAny>>,
    now: Now,
    looked: Instant,
    called: Instant,
}

impl<'a> Between<'a> {
    pub fn new(f: &'a Callable, callback: Option<&'a Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { f, callback, now: Now::default(), looked: now, called: now }
    }

    /// Looks for Ctrl-C and calls back.
    fn look_up(&mut self) {
        if self.f.look_for_signals() {
            return;
        }
        let Some(callback) = self.callback.filter(|_| self.called.elapsed() >= Duration::from_millis(100))
        else {
            return;
        };
        self.called = Instant::now();
        let enough = Python::attach(|py| {
            self.now.call(callback.bind(py)).unwrap_or_else(|error| {
                *lock(&self.f.0.raised) = Some(error);
                true
            })
        });
        if enough {
            self.f.0.cancel.cancel();
        }
    }
}

impl Observer for Between<'_> {
    fn observe(&mut self, event: Event<'_>) {
        self.now.note(event);
        if matches!(event, Event::Step(_)) {
            self.now.objective *= self.f.unit();
        }
        if !self.f.0.cancel.is_cancelled() && self.looked.elapsed() >= Duration::from_millis(20) {
            self.look_up();
            self.looked = Instant::now();
        }
    }
}
