//! Random data: one file per generator, and one line in the registry below.
//!
//! The numbers come from `rand_pcg::Pcg64`, seeded with SEED (1 unless given), so that a
//! specification gives the same bits every time. Each generator states its order of drawing.

mod laplace;
mod randn;
mod sparse_randn;
mod spiked;
mod zht;

use std::str::FromStr;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::memory::Budget;

/// One generator: what it is called and how to run it.
pub(crate) struct Generator {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&mut Arguments<'_>) -> Result<DataSet, DataError>,
}

// A longer name goes before a shorter one that it starts with.
#[rustfmt::skip]
const GENERATORS: &[Generator] = &[
    Generator { name: "randn", usage: "randn:M:N[:SEED]", run: randn::generate,
        about: "M x N independent standard normal numbers; dense" },
    Generator { name: "sparse-randn", usage: "sparse-randn:M:N:NNZ[:SEED]", run: sparse_randn::generate,
        about: "M x N with NNZ standard normal numbers at random positions; sparse" },
    Generator { name: "spiked:zht", usage: "spiked:zht[:M[:SEED]]", run: zht::generate,
        about: "M samples (1000) of the three-factor example of Zou, Hastie and Tibshirani (2006), 10 variables" },
    Generator { name: "spiked", usage: "spiked:M:N:R:NNZ[:SNR[:SEED]]", run: spiked::generate,
        about: "M samples of N variables: R orthonormal components with NNZ entries each, and noise (SNR 20)" },
    Generator { name: "laplace", usage: "laplace:N", run: laplace::chain,
        about: "C itself: the Laplacian of a chain of N points, tridiag(-1, 2, -1); sparse" },
    Generator { name: "laplace2", usage: "laplace2:P:Q", run: laplace::grid,
        about: "C itself: the Laplacian of a P x Q grid, five-point stencil; sparse" },
];

/// The generators: the form to type as `DATA`, and one line about each.
pub fn generators() -> Vec<(String, &'static str)> {
    GENERATORS.iter().map(|generator| (generator.usage.to_string(), generator.about)).collect()
}

/// The generator that a specification names, if any.
pub(crate) fn find(spec: &str) -> Option<&'static Generator> {
    GENERATORS.iter().find(|generator| {
        spec.strip_prefix(generator.name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

/// Runs the generator that [`find`] gave for the same specification.
pub(crate) fn run(
    generator: &'static Generator,
    spec: &str,
    max_memory: Option<u64>,
) -> Result<DataSet, DataError> {
    let rest = &spec[generator.name.len()..];
    let fields = if rest.is_empty() { Vec::new() } else { rest[1..].split(':').collect() };
    let (fields, used) = (fields.into_iter(), Vec::new());
    (generator.run)(&mut Arguments { generator, spec, fields, used, max_memory })
}

/// The numbers after the name of a generator, taken from left to right.
pub(crate) struct Arguments<'a> {
    generator: &'static Generator,
    spec: &'a str,
    fields: std::vec::IntoIter<&'a str>,
    used: Vec<String>,
    max_memory: Option<u64>,
}

impl Arguments<'_> {
    /// A required whole number of at least 1.
    fn count(&mut self, name: &str) -> Result<usize, DataError> {
        match self.take(name, "a whole number")? {
            Some(0) => Err(self.error(format!("{name} must be at least 1"))),
            Some(count) => Ok(count),
            None => Err(self.error(format!("{name} is missing"))),
        }
    }

    /// A whole number of at least 1 that may be left out.
    fn count_or(&mut self, name: &str, default: usize) -> Result<usize, DataError> {
        if self.fields.as_slice().is_empty() {
            self.used.push(default.to_string());
            return Ok(default);
        }
        self.count(name)
    }

    /// A finite number above zero that may be left out.
    fn positive_or(&mut self, name: &str, default: f64) -> Result<f64, DataError> {
        match self.take(name, "a number")? {
            None => {
                self.used.push(default.to_string());
                Ok(default)
            }
            Some(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
            Some(_) => Err(self.error(format!("{name} must be a positive number"))),
        }
    }

    /// The seed, which comes last: a generator of random numbers.
    fn seeded(&mut self) -> Result<Random, DataError> {
        let seed = match self.take::<u64>("SEED", "a whole number")? {
            Some(seed) => seed,
            None => {
                self.used.push("1".into());
                1
            }
        };
        self.nothing_more()?;
        Ok(Random(Pcg64::seed_from_u64(seed)))
    }

    /// An error if there are fields left.
    fn nothing_more(&mut self) -> Result<(), DataError> {
        match self.fields.next() {
            Some(extra) => Err(self.error(format!("`{extra}` at the end is not expected"))),
            None => Ok(()),
        }
    }

    fn take<T: FromStr>(&mut self, name: &str, kind: &str) -> Result<Option<T>, DataError> {
        let Some(field) = self.fields.next() else {
            return Ok(None);
        };
        self.used.push(field.into());
        match field.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(self.error(format!("{name} is `{field}`, which is not {kind}"))),
        }
    }

    fn error(&self, problem: impl Into<String>) -> DataError {
        let expected = self.generator.usage.into();
        DataError::Spec { spec: self.spec.into(), problem: problem.into(), expected }
    }

    /// Memory limit of the data.
    fn budget(&self) -> Budget {
        Budget::new(self.source(), self.max_memory)
    }

    /// The specification with everything that was left out filled in.
    fn source(&self) -> String {
        format!("{}:{}", self.generator.name, self.used.join(":"))
    }
}

/// The random numbers of one data set.
struct Random(Pcg64);

impl Random {
    fn normal(&mut self) -> f64 {
        self.0.sample(StandardNormal)
    }

    /// Uniform in 0..below. Through u64, so that 32-bit machines draw the same.
    fn below(&mut self, below: usize) -> usize {
        self.0.random_range(0..below as u64) as usize
    }

    fn sign(&mut self) -> f64 {
        if self.0.random() { 1.0 } else { -1.0 }
    }
}
