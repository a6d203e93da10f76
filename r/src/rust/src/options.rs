//! What R hands over, as the table of options reads it.

use extendr_api::prelude::*;
use orthopt::family::{Call, CallOptions, Kind as Problems, PROBLEMS, ProblemInfo};
use orthopt::job::Job;
use orthopt::request::{Entry, Front, Kind, OPTIONS, Request, Written};
use orthopt::{Error, Result};

use crate::copied;
use crate::failure::Failure;

/// Options without R in them.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the matrix is C itself.
    pub gram: bool,
    /// Whether the proof of a bound is kept.
    pub proof: bool,
    /// The problem of the penalty, and the options.
    pub job: Job,
}

impl Options {
    /// Reads the list for a call: `gram`, `penalty`, `nonneg` and `proof`, and `names` and `values` of the options of the table.
    ///
    /// # Errors
    /// A field that is missing or of another type; a value out of range, a name that does not exist.
    pub fn read(list: &Robj, call: Call) -> std::result::Result<Self, Failure> {
        let problem = problem_of(list)?;
        let request = request(list)?;
        let given = CallOptions::new(call, request.given());
        let job = Job::new(problem, request.checked()?, given);
        Ok(Self { gram: flag(list, "gram")?, proof: flag(list, "proof")?, job })
    }
}

/// A field that is true or false.
///
/// # Errors
/// It is missing, or something else.
pub fn flag(list: &Robj, name: &str) -> std::result::Result<bool, Failure> {
    list.dollar(name)?.as_bool().ok_or_else(|| broken(name))
}

/// The problem of the fields `penalty` and `nonneg`.
///
/// # Errors
/// A field that is missing; no such problem.
pub fn problem_of(list: &Robj) -> std::result::Result<&'static ProblemInfo, Failure> {
    let penalty = list.dollar("penalty")?;
    let penalty = penalty.as_str().ok_or_else(|| broken("penalty"))?;
    Ok(problem(penalty, flag(list, "nonneg")?)?)
}

/// The options of the fields `names` and `values`.
///
/// # Errors
/// A field that is missing or of another type; a name that does not exist.
pub fn request(list: &Robj) -> std::result::Result<Request, Failure> {
    let names = list.dollar("names")?.as_string_vector().ok_or_else(|| broken("names"))?;
    let values = list.dollar("values")?.as_list().ok_or_else(|| broken("values"))?;
    let mut request = Request::of(Front::R);
    for (name, value) in names.iter().zip(values.values()) {
        request.set(name, written(&value).ok_or_else(|| broken(name))?)?;
    }
    Ok(request)
}

fn broken(name: &str) -> Failure {
    Failure::Bridge(format!("{name} has a value that no option has"))
}

/// A value of R, if it is one that options have.
fn written(value: &Robj) -> Option<Written> {
    if let Ok(matrix) = RMatrix::<f64>::try_from(value) {
        return Some(Written::Matrix(copied(&matrix).into()));
    }
    if let Some(list) = value.as_list() {
        return list.values().map(|one| written(&one)).collect::<Option<_>>().map(Written::List);
    }
    let flag = value.as_bool().map(Written::Flag);
    let text = || value.as_str().map(|text| Written::Text(text.into()));
    flag.or_else(text).or_else(|| value.as_real().or(value.as_integer().map(f64::from)).map(Written::Number))
}

/// The problem whose penalty was asked for.
fn problem(penalty: &str, nonneg: bool) -> Result<&'static ProblemInfo> {
    if !matches!(penalty, "l0" | "none") && nonneg {
        let text = format!("nonneg needs the penalty l0 or none, but penalty is {penalty}");
        return Err(Error::Incompatible(text.into()));
    }
    let name = if nonneg { "nonneg" } else { penalty };
    let found = offered().find(|problem| problem.penalty == name);
    found.ok_or_else(|| Error::UnknownName {
        kind: "penalty",
        name: name.into(),
        known: penalties().join(", "),
    })
}

/// The problems of PCA with XᵀX = I: one for each penalty.
fn offered() -> impl Iterator<Item = &'static ProblemInfo> {
    PROBLEMS.iter().filter(|problem| problem.kind == Problems::Pca)
}

/// The penalties that users name; X ≥ 0 has an argument of its own.
fn penalties() -> Vec<&'static str> {
    offered().map(|problem| problem.penalty).filter(|name| *name != "nonneg").collect()
}

/// The options of R, each with what its values are checked for; those of one name are one.
pub fn described() -> List {
    let here: Vec<&Entry> = OPTIONS.iter().filter(|entry| entry.lacked_by(Front::R).is_none()).collect();
    let mut names: Vec<String> = here.iter().map(|entry| entry.name_in(Front::R)).collect();
    names.dedup();
    List::from_values(names.iter().map(|name| {
        let of_name = || here.iter().filter(|entry| entry.name_in(Front::R) == *name);
        let last = of_name().next_back();
        let kind = match last.map(|entry| entry.kind) {
            Some(Kind::Flag) => "flag",
            Some(Kind::Whole) => "whole",
            Some(Kind::Number) => "number",
            Some(Kind::Counts) => "counts",
            Some(Kind::Rank) => "rank",
            _ => "text",
        };
        let logical = of_name().any(|entry| entry.kind == Kind::Flag || !entry.alone.is_empty());
        let matrix = of_name().any(|entry| entry.matrix.is_some());
        let least = last.and_then(|entry| entry.least).unwrap_or(0.0);
        list!(name = name.as_str(), kind = kind, least = least, logical = logical, matrix = matrix)
    }))
}
