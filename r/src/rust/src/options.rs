//! What R hands over. R fills in every field and has checked their types.

use extendr_api::Robj;
use extendr_api::deserializer::from_robj;
use orthopt::certify::Scope;
use orthopt::family::{Kind, Limit, PROBLEMS, PoseOptions, Wanted};
use orthopt::family::{check_solvers, find_constant, parse_constants};
use orthopt::linalg::RowMat;
use orthopt::search::Effort;
use orthopt::solve::Stopping;
use orthopt::solvers::AUTO;
use orthopt::start::Start;
use orthopt::{Error, Result};
use serde::Deserialize;

use crate::failure::Failure;

/// Options as they come; `None` is chosen.
#[derive(Debug, Deserialize)]
pub struct Options {
    pub gram: bool,
    pub centered: bool,
    ncomp: Option<usize>,
    lambda: Option<f64>,
    relative_lambda: Option<f64>,
    penalty: String,
    nonneg: bool,
    knee: bool,
    nonzeros: Option<Vec<usize>>,
    total_nonzeros: Option<usize>,
    variables: Option<usize>,
    solver: String,
    init: Option<String>,
    effort: Option<String>,
    seed: u64,
    restarts: Option<u64>,
    threads: Option<usize>,
    max_iters: Option<u64>,
    time_limit: Option<f64>,
    tol: f64,
    certify: u64,
    certify_all: bool,
    bound: Option<f64>,
    constant_names: Vec<String>,
    constant_values: Vec<String>,
}

/// The same as the library takes it.
#[derive(Clone, Debug)]
pub struct Request {
    pub pose: PoseOptions,
    pub wanted: Wanted,
    pub stopping: Stopping,
    pub restarts: Option<u64>,
    pub threads: Option<usize>,
    pub scope: Option<Scope>,
    /// Seconds for a bound.
    pub bound: Option<f64>,
}

impl Options {
    /// Reads the list.
    ///
    /// # Errors
    /// A field that is missing or of another type.
    pub fn read(list: &Robj) -> std::result::Result<Self, Failure> {
        Ok(from_robj(list)?)
    }

    /// The name of the problem whose penalty was asked for.
    ///
    /// # Errors
    /// No such penalty; another penalty than none together with `nonneg`.
    pub fn problem(&self) -> Result<&'static str> {
        if !matches!(self.penalty.as_str(), "l0" | "none") && self.nonneg {
            let text = format!("nonneg goes with the penalties l0 and none, and penalty is {}", self.penalty);
            return Err(Error::Incompatible(text.into()));
        }
        let name = if self.nonneg { "nonneg" } else { self.penalty.as_str() };
        let found = offered().find(|problem| problem.penalty == name);
        found.map(|problem| problem.name).ok_or_else(|| Error::UnknownName {
            kind: "penalty",
            name: name.into(),
            known: penalties().join(", "),
        })
    }

    /// Everything for the library; X⁰ comes as a matrix of its own.
    ///
    /// # Errors
    /// A value out of range, a name that does not exist.
    pub fn request(&self, init: Option<RowMat>) -> Result<Request> {
        let names = self.constant_names.iter().map(String::as_str);
        let constants = parse_constants(names.zip(self.constant_values.iter().cloned()))?;
        let solver = (self.solver != AUTO.0).then(|| self.solver.clone());
        solver.as_deref().map_or(Ok(()), check_solvers)?;
        let pose = PoseOptions {
            rank: self.ncomp,
            lambda: self.lambda,
            relative_lambda: self.relative_lambda,
            shape: constants.clone().filtered(is_shape),
            limit: self.limit()?,
            ..PoseOptions::default()
        };
        let wanted = Wanted {
            solver,
            start: init.map(Start::Given).or_else(|| self.init.as_deref().map(Start::named)),
            tol: Some(self.tol),
            seed: self.seed,
            constants: constants.filtered(|name| !is_shape(name)),
            effort: self.effort.as_deref().map(Effort::parse).transpose()?,
            ..Wanted::default()
        };
        let stopping = Stopping {
            max_iters: self.max_iters,
            time_limit: self.time_limit,
            tol: self.tol,
            min_decrease: 0.0,
        };
        let (restarts, threads, bound) = (self.restarts, self.threads, self.bound);
        Ok(Request { pose, wanted, stopping, restarts, threads, scope: self.scope(), bound })
    }

    fn limit(&self) -> Result<Option<Limit>> {
        let given = [
            self.knee.then_some(Limit::Knee),
            self.nonzeros.clone().map(Limit::Nonzeros),
            self.total_nonzeros.map(Limit::Total),
            self.variables.map(Limit::Variables),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(_), Some(_)) => {
                let text = "give one of nonzeros, total_nonzeros and variables, not several";
                Err(Error::Incompatible(text.into()))
            }
            (one, _) => Ok(one),
        }
    }

    fn scope(&self) -> Option<Scope> {
        match (self.certify_all, self.certify) {
            (true, _) => Some(Scope::All),
            (false, 0) => None,
            (false, pairs) => Some(Scope::Sample { pairs, seed: self.seed }),
        }
    }
}

/// The problems of PCA with XᵀX = I: one for each penalty.
fn offered() -> impl Iterator<Item = &'static orthopt::family::ProblemInfo> {
    PROBLEMS.iter().filter(|problem| problem.kind == Kind::Pca)
}

/// The penalties that users name; X ≥ 0 has an argument of its own.
fn penalties() -> Vec<&'static str> {
    offered().map(|problem| problem.penalty).filter(|name| *name != "nonneg").collect()
}

/// An option of the library as an argument in R.
pub fn r_name(option: &str) -> String {
    match option {
        "rank" => "ncomp".into(),
        "scale" => "scale.".into(),
        "gram" => "covmat".into(),
        "certify-sample" => "certify".into(),
        other => other.replace('-', "_"),
    }
}

/// Whether the constant belongs to a penalty.
fn is_shape(name: &str) -> bool {
    find_constant(name).is_ok_and(|c| c.of_penalty)
}
