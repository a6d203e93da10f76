//! The compiled half of the Python package: data in, results out as dictionaries, everything
//! that can be said in Python is said there (`python/orthopt`).
//!
//! While a solver runs, it runs in a thread of its own that never touches Python, and the
//! calling thread waits without the GIL, checks for Ctrl-C and feeds callbacks ([`supervise`]).
//! The exception is [`minimize`], whose f is Python.

mod bound;
mod certify;
mod check_proof;
mod command;
mod errors;
mod explore;
mod factor;
mod gram;
mod input;
mod knowledge;
mod logging;
mod minimize;
mod options;
mod path;
mod picture;
mod registry;
mod result;
mod smooth;
mod solve;
mod stability;
mod supervise;

use orthopt::threads;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native module `orthopt._orthopt`.
#[pymodule]
mod _orthopt {
    #[pymodule_export]
    use super::bound::bound;
    #[pymodule_export]
    use super::certify::certify;
    #[pymodule_export]
    use super::check_proof::check_proof;
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::explore::explore;
    #[pymodule_export]
    use super::factor::{givens_factors, hyperbolic_qr, indefinite_polar};
    #[pymodule_export]
    use super::gram::PyGram;
    #[pymodule_export]
    use super::input::framed;
    #[pymodule_export]
    use super::knowledge::{PyKnowledge, knowledge_options, read_knowledge, train_knowledge};
    #[pymodule_export]
    use super::logging::install_logging;
    #[pymodule_export]
    use super::minimize::minimize;
    #[pymodule_export]
    use super::options::options;
    #[pymodule_export]
    use super::path::{judged_fold, path, validation};
    #[pymodule_export]
    use super::picture::{chart, names_beside};
    #[pymodule_export]
    use super::registry::{constants, registry};
    #[pymodule_export]
    use super::solve::{compare, scree, solve};
    #[pymodule_export]
    use super::stability::stability;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
