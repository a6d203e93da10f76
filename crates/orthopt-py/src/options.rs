//! Keyword arguments of `solve` and its relatives. The Python side fills in every key.

use std::collections::BTreeMap;

use numpy::PyReadonlyArray2;
use orthopt::Error;
use orthopt::certify::Scope;
use orthopt::family::{Between, Limit, LinearInput};
use orthopt::family::{Call, Case, Wanted};
use orthopt::family::{PoseOptions, all_constants, check_solvers, find_constant, parse_constants};
use orthopt::linear_map::{AnyMap, LeftMatrix};
use orthopt::options::{Given, checked};
use orthopt::pair::step::Model;
use orthopt::problem::Storage;
use orthopt::search::Effort;
use orthopt::smooth::Placement;
use orthopt::solve::Stopping;
use orthopt::solvers::AUTO;
use orthopt::solvers::jobcd::Side;
use orthopt::solvers::obcd::{Candidates, WorkingSet};
use orthopt::start::Start;
use orthopt_data::{Missing, Prepare, Scale};
use pyo3::prelude::*;

use crate::input::{Preparation, copied};

/// What users can set, as it comes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options<'py> {
    pub rank: Option<usize>,
    pub lam: Option<f64>,
    pub lam_share: Option<f64>,
    pub relative_lam: Option<f64>,
    pub penalty: Option<String>,
    pub k: Option<usize>,
    pub map: Option<Map<'py>>,
    pub gram: bool,
    pub center: Option<bool>,
    pub scale: String,
    pub covariance: Option<bool>,
    pub missing: String,
    pub features: Option<usize>,
    pub storage: String,
    pub signature: Option<String>,
    pub ridge: f64,
    pub reproduction: bool,
    pub distances: Option<PyReadonlyArray2<'py, f64>>,
    pub radius: Option<f64>,
    pub linear: Option<Linear<'py>>,
    pub nonzeros: Option<Counts>,
    pub total_nonzeros: Option<usize>,
    pub variables: Option<usize>,
    pub constraint: String,
    pub solver: String,
    pub init: Option<Init<'py>>,
    pub working_set: Option<String>,
    pub block: Option<usize>,
    pub model: Option<String>,
    pub side: Option<String>,
    pub placement: Option<String>,
    pub alpha: Option<f64>,
    pub candidates: Option<String>,
    pub jacobi: bool,
    pub restarts: Option<u64>,
    pub effort: Option<String>,
    pub seed: u64,
    pub threads: Option<usize>,
    pub max_iters: Option<u64>,
    pub time_limit: Option<f64>,
    pub tol: f64,
    pub min_decrease: f64,
    pub certify: u64,
    pub certify_all: bool,
    pub constants: BTreeMap<String, Constant>,
    /// The call, and the arguments that differ from their defaults.
    pub call: String,
    pub given: Vec<String>,
}

/// A number of nonzeros for each component, or a word.
#[derive(Clone, Debug, FromPyObject)]
pub enum Counts {
    /// `auto`.
    Named(String),
    /// One for all components, or one for each.
    Given(Vec<usize>),
}

impl Counts {
    fn limit(&self) -> Result<Limit, Error> {
        match self {
            Self::Given(list) => Ok(Limit::Nonzeros(list.clone())),
            Self::Named(name) if name == "auto" => Ok(Limit::Knee),
            Self::Named(name) => {
                Err(invalid("nonzeros", name, "a whole number, a list of them, or \"auto\""))
            }
        }
    }
}

/// The value of a constant as Python has it.
#[derive(Clone, Debug, FromPyObject)]
pub enum Constant {
    /// True or False.
    Flag(bool),
    /// An int.
    Whole(i64),
    /// A float.
    Number(f64),
    /// A word.
    Text(String),
}

impl Constant {
    fn text(&self) -> String {
        match self {
            Self::Flag(v) => v.to_string(),
            Self::Whole(v) => v.to_string(),
            Self::Number(v) => v.to_string(),
            Self::Text(v) => v.clone(),
        }
    }
}

/// A starting point by name or as it is.
#[derive(FromPyObject)]
pub enum Init<'py> {
    /// Its name.
    Named(String),
    /// X⁰.
    Given(PyReadonlyArray2<'py, f64>),
}

/// A linear map by name, or the matrix B of A(X) = BX.
#[derive(FromPyObject)]
pub enum Map<'py> {
    /// Its name.
    Named(String),
    /// B.
    Left(PyReadonlyArray2<'py, f64>),
}

/// E of the nonlinear eigenvalue problem: `randn[:SEED]`, or as it is.
#[derive(FromPyObject)]
pub enum Linear<'py> {
    /// Normal numbers.
    Named(String),
    /// E.
    Given(PyReadonlyArray2<'py, f64>),
}

impl Linear<'_> {
    fn parse(&self) -> PyResult<LinearInput> {
        match self {
            Self::Named(name) => {
                let term = LinearInput::parse(name).unwrap_or_else(|| {
                    Err(Error::InvalidOption {
                        option: "linear".into(),
                        value: name.clone(),
                        expected: "an n x r array or randn[:SEED]".into(),
                    })
                });
                Ok(term.map_err(crate::errors::Failure::from)?)
            }
            Self::Given(e) => copied(e).map(LinearInput::Given),
        }
    }
}

impl Map<'_> {
    fn parse(&self) -> PyResult<AnyMap> {
        let map = match self {
            Self::Named(name) => AnyMap::parse(name),
            Self::Left(b) => LeftMatrix::new(copied(b)?.as_mat()).map(AnyMap::Left),
        };
        Ok(map.map_err(crate::errors::Failure::from)?)
    }
}

/// A call with the options that were given, as the library names them. What means nothing is refused.
#[derive(Clone, Debug)]
pub struct Asked {
    call: Call,
    given: Vec<String>,
}

impl Asked {
    /// Refuses what means nothing in this case.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with the reason.
    pub fn check(&self, case: Case) -> Result<(), Error> {
        case.in_call(self.call).check(self.given.iter().map(String::as_str))
    }

    /// Whether this option was given.
    pub fn has(&self, option: &str) -> bool {
        self.given.iter().any(|given| given == option)
    }

    /// Whether an X is given and no solver runs.
    pub fn is_of_x(&self) -> bool {
        matches!(self.call, Call::BoundOfX | Call::Certify)
    }
}

impl Options<'_> {
    /// The call and what was given.
    pub fn asked(&self) -> Asked {
        let call = match self.call.as_str() {
            "compare" => Call::Compare,
            "path" => Call::Path,
            "bound" => Call::Bound,
            "bound of X" => Call::BoundOfX,
            "certify" => Call::Certify,
            "minimize" => Call::Minimize,
            _ => Call::Solve,
        };
        let name = |given: &String| match given.as_str() {
            "lam" => "lambda".into(),
            "lam_share" => "lambda-share".into(),
            "relative_lam" => "relative-lambda".into(),
            other => other.replace('_', "-"),
        };
        Asked { call, given: self.given.iter().map(name).collect() }
    }

    /// What the problem needs besides its data.
    ///
    /// # Errors
    /// A value out of range.
    pub fn pose(&self) -> PyResult<PoseOptions> {
        Ok(self.checked_pose().map_err(crate::errors::Failure::from)?).and_then(|pose| {
            Ok(PoseOptions {
                distances: self.distances.as_ref().map(copied).transpose()?,
                linear: self.linear.as_ref().map(Linear::parse).transpose()?,
                map: self.map.as_ref().map(Map::parse).transpose()?,
                ..pose
            })
        })
    }

    fn checked_pose(&self) -> Result<PoseOptions, Error> {
        self.lam.map_or(Ok(0.0), |v| at_least_zero("lam", v))?;
        if let Some(share) = self.lam_share {
            at_least_zero("lam_share", share)?;
        }
        Ok(PoseOptions {
            rank: self.rank,
            lambda: self.lam,
            relative_lambda: self.relative_lam,
            storage: Storage::parse(&self.storage)?,
            penalty: self.penalty.clone(),
            shape: self.constants()?.filtered(is_shape),
            signature: self.signature.clone(),
            ridge: at_least_zero("ridge", self.ridge)?,
            reproduction: self.reproduction,
            k: self.k,
            map: None,
            distances: None,
            radius: self.radius,
            placement: self.placement.as_deref().map(Placement::parse).transpose()?.unwrap_or_default(),
            linear: None,
            limit: self.limit()?,
            between: Between::parse(&self.constraint)?,
            max_memory: Some(orthopt_data::default_memory()),
        })
    }

    /// The limit of nonzeros.
    fn limit(&self) -> Result<Option<Limit>, Error> {
        let given = [
            self.nonzeros.as_ref().map(Counts::limit).transpose()?,
            self.total_nonzeros.map(Limit::Total),
            self.variables.map(Limit::Variables),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(_), Some(_)) => Err(Error::Incompatible(
                "give one of nonzeros, total_nonzeros and variables, not several".into(),
            )),
            (one, _) => Ok(one),
        }
    }

    /// What is done to the data.
    ///
    /// # Errors
    /// An unknown scaling.
    pub fn preparation(&self) -> Result<Preparation, Error> {
        let scale =
            Scale::parse(&self.scale).ok_or_else(|| invalid("scale", &self.scale, Scale::EXPECTED))?;
        let missing = Missing::parse(&self.missing)
            .ok_or_else(|| invalid("missing", &self.missing, "error, mean, drop or em"))?;
        let prepare = Prepare::of(self.center, scale, self.covariance, self.features);
        Ok(Preparation { gram: self.gram, missing, prepare })
    }

    /// What the user has fixed about the solver.
    ///
    /// # Errors
    /// A value out of range, a name that does not exist.
    pub fn wanted(&self, start: Option<Start>) -> Result<Wanted, Error> {
        let solver = (self.solver != AUTO.0).then(|| self.solver.clone());
        solver.as_deref().map_or(Ok(()), check_solvers)?;
        let candidates = match self.candidates.as_deref() {
            None => None,
            Some("all") => Some(Candidates::All),
            Some(text) => {
                let number =
                    text.parse().map_err(|_| invalid("candidates", text, "a number of pairs, or all"));
                Some(Candidates::Sample(number?))
            }
        };
        Ok(Wanted {
            solver,
            start,
            working_set: self.working_set.as_deref().map(WorkingSet::parse).transpose()?,
            block: self.block,
            model: self.model.as_deref().map(Model::parse).transpose()?,
            side: self.side.as_deref().map(Side::parse).transpose()?,
            alpha: self.alpha,
            candidates,
            tol: Some(self.tol),
            jacobi: self.jacobi,
            seed: self.seed,
            constants: self.constants()?.filtered(|name| !is_shape(name)),
            effort: self.effort.as_deref().map(Effort::parse).transpose()?,
        })
    }

    /// The starting point, if one was given.
    ///
    /// # Errors
    /// An array that is not contiguous.
    pub fn start(&self) -> PyResult<Option<Start>> {
        Ok(match &self.init {
            None => None,
            Some(Init::Named(name)) => Some(Start::named(&name)),
            Some(Init::Given(x)) => Some(Start::Given(copied(x)?)),
        })
    }

    /// When to stop.
    ///
    /// # Errors
    /// A value out of range.
    pub fn stopping(&self) -> Result<Stopping, Error> {
        if self.max_iters == Some(0) {
            return Err(invalid("max_iters", "0", "a whole number >= 1"));
        }
        Ok(Stopping {
            max_iters: self.max_iters,
            time_limit: self.time_limit.map(|s| at_least_zero("time_limit", s)).transpose()?,
            tol: at_least_zero("tol", self.tol)?,
            min_decrease: at_least_zero("min_decrease", self.min_decrease)?,
        })
    }

    /// Which pairs of rows are checked afterwards.
    pub fn scope(&self) -> Option<Scope> {
        match (self.certify_all, self.certify) {
            (true, _) => Some(Scope::All),
            (false, 0) => None,
            (false, pairs) => Some(Scope::Sample { pairs, seed: self.seed }),
        }
    }

    /// The constants of solvers and penalties: whatever is no other option.
    fn constants(&self) -> Result<Given, Error> {
        let owners = all_constants();
        let owned = |key: &str| owners.iter().any(|c| key.starts_with(&c.owner.replace('-', "_")));
        if let Some(key) = self.constants.keys().find(|key| !owned(key)) {
            return Err(Error::UnknownName {
                kind: "option",
                name: key.clone(),
                known: "the arguments of this function, and SOLVER_CONSTANT for every constant in \
                        orthopt.constants()"
                    .into(),
            });
        }
        parse_constants(self.constants.iter().map(|(key, value)| (key.as_str(), value.text())))
    }
}

/// Whether the constant belongs to a penalty.
fn is_shape(name: &str) -> bool {
    find_constant(name).is_ok_and(|c| c.of_penalty)
}

fn at_least_zero(option: &str, value: f64) -> Result<f64, Error> {
    checked(option, value, "a finite number >= 0", |v| v >= 0.0)
}

fn invalid(option: &str, value: &str, expected: &str) -> Error {
    Error::InvalidOption { option: option.into(), value: value.into(), expected: expected.into() }
}
