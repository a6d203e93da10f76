//! Functions in Python: `fun(X) -> (f, G)`, with `hess(X, D) -> H` and a mean of sampled components where there are some.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::minimize::Callback;
use orthopt::solve::{Event, Observer};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::input::copied;
use crate::result::array;
use crate::supervise::Now;

/// The functions. They run in the thread that called `minimize`; their first exception ends the run
/// (no function is called after it) and is raised afterwards. Ctrl-C inside them asks the run to end.
pub struct Functions {
    pub fun: Py<PyAny>,
    /// ∇²f(X)[D], a float64 array.
    pub hess: Option<Py<PyAny>>,
    /// The mean of sampled components, and how many there are.
    pub sums: Option<(Py<PyAny>, usize)>,
    /// What `fun` returns to a float and a float64 array, or an error.
    pub convert: Py<PyAny>,
    pub shape: (usize, usize),
    /// Set when the run is to end.
    pub cancel: Cancel,
    pub raised: Mutex<Option<PyErr>>,
}

/// A poisoned lock guards nothing here that a panic could have left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Functions {
    /// The exception of a function, if one raised it.
    pub fn raised(&self) -> Option<PyErr> {
        lock(&self.raised).take()
    }

    /// Answer of Python to `ask`; `None` after an exception.
    fn asked<T>(&self, mut ask: impl FnMut(Python<'_>) -> PyResult<T>) -> Option<T> {
        if lock(&self.raised).is_some() {
            return None;
        }
        Python::attach(|py| {
            let mut found = ask(py);
            if let Err(error) = &found
                && error.is_instance_of::<PyKeyboardInterrupt>(py)
            {
                // the run ends after this step, for which the value is still needed
                self.cancel.cancel();
                found = ask(py);
            }
            found.map_err(|error| *lock(&self.raised) = Some(error)).ok()
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

    /// The value and the gradient in an answer.
    fn read<'py>(&self, py: Python<'py>, answer: Bound<'py, PyAny>, g: &mut RowMat) -> PyResult<f64> {
        // what NumPy users return needs no conversion
        if let Ok((f, gradient)) = answer.extract::<(f64, PyReadonlyArray2<'_, f64>)>()
            && let Ok(values) = gradient.as_slice()
            && gradient.is_c_contiguous()
            && gradient.shape() == [self.shape.0, self.shape.1]
        {
            g.data_mut().copy_from_slice(values);
            return Ok(f);
        }
        let converted = self.convert.bind(py).call1((answer, self.shape))?;
        let (f, gradient): (f64, PyReadonlyArray2<'_, f64>) = converted.extract()?;
        g.data_mut().copy_from_slice(copied(&gradient)?.data());
        Ok(f)
    }
}

impl Callback for Functions {
    fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> Option<f64> {
        self.asked(|py| {
            let answer = self.fun.bind(py).call1((array(py, x)?,))?;
            self.read(py, answer, g)
        })
    }

    fn has_hessian(&self) -> bool {
        self.hess.is_some()
    }

    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> Option<RowMat> {
        let hess = self.hess.as_ref()?;
        self.asked(|py| {
            let answer = hess.bind(py).call1((array(py, x)?, array(py, d)?))?;
            copied(&answer.extract::<PyReadonlyArray2<'_, f64>>()?)
        })
    }

    fn components(&self) -> usize {
        self.sums.as_ref().map_or(1, |sums| sums.1)
    }

    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> Option<f64> {
        let (mean, _) = self.sums.as_ref()?;
        self.asked(|py| {
            let which = PyArray1::from_iter(py, sample.iter().map(|i| *i as i64));
            let answer = mean.bind(py).call1((array(py, x)?, which))?;
            self.read(py, answer, g)
        })
    }

    /// Looks for Ctrl-C.
    fn is_interrupted(&self) -> bool {
        let checked = Python::attach(|py| {
            py.check_signals()
                .map_err(|error| (!error.is_instance_of::<PyKeyboardInterrupt>(py)).then_some(error))
        });
        let interrupted = checked.is_err();
        if let Err(Some(error)) = checked {
            *lock(&self.raised) = Some(error);
        }
        interrupted
    }
}

/// Looks for Ctrl-C and calls back between steps, in the thread that called `minimize`.
pub struct Between<'a> {
    functions: &'a Functions,
    callback: Option<Py<PyAny>>,
    now: Now,
    looked: Instant,
    called: Instant,
}

impl<'a> Between<'a> {
    pub fn new(functions: &'a Functions, callback: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { functions, callback, now: Now::default(), looked: now, called: now }
    }

    /// Looks for Ctrl-C and calls back.
    fn look_up(&mut self) {
        if self.functions.is_interrupted() {
            return self.functions.cancel.cancel();
        }
        let due = self.called.elapsed() >= Duration::from_millis(100);
        let Some(callback) = self.callback.as_ref().filter(|_| due) else { return };
        self.called = Instant::now();
        let enough = Python::attach(|py| {
            self.now.call(callback.bind(py)).unwrap_or_else(|error| {
                *lock(&self.functions.raised) = Some(error);
                true
            })
        });
        if enough {
            self.functions.cancel.cancel();
        }
    }
}

impl Observer for Between<'_> {
    fn observe(&mut self, event: Event<'_>) {
        self.now.note(event);
        if !self.functions.cancel.is_cancelled() && self.looked.elapsed() >= Duration::from_millis(20) {
            self.look_up();
            self.looked = Instant::now();
        }
    }
}
