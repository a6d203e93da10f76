//! A proof that can be cited: one file with the claim, the problem, X and all numbers that prove the bound, and its check
//! (docs/bounds.md).
//!
//! The check shares nothing with what makes a proof: it makes the lists of supports anew, evaluates the multipliers of the file and
//! proves eigenvalues by factorisations of its own. It does not search.

mod boxes;
pub(crate) mod branched;
mod certain;
pub(crate) mod certificate;
mod duals;
mod lists;
mod made;
mod supports;

use serde::{Deserialize, Serialize};

use super::types::Kind;
use certificate::{
    Branch, Branched, Cell, Certificate, Cut, Leaf, Lists, Multipliers, Node, PartWeights, Relaxed, Rows,
    Split, Step, Way, Weights,
};
pub use made::Proved;
use orthopt_core::problem::Cardinality;
use orthopt_core::smooth::Measure;
use orthopt_core::solve::claim::{Claim, Elsewhere, PROVED, Point, Proof};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// Version of the format.
const SCHEMA: u32 = 1;
/// Largest relative difference between a number of the file and the one that its proof gives.
const DIGITS: f64 = 1e-9;
/// Largest relative difference of sums over C, which other programs add up in another order.
const SUMS: f64 = 1e-10;
/// ‖X'X − I‖ of an X that is feasible to rounding.
const FEASIBLE: f64 = 1e-12;

/// A proof of a lower bound of F as a file (JSON) has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProofFile {
    /// Version of the format.
    pub(crate) schema: u32,
    /// The program and its version.
    pub version: String,
    /// The claim, in one sentence.
    pub claim: String,
    /// The problem.
    pub problem: Statement,
    /// Source of the data and their preparation.
    pub data: Prepared,
    /// Sums over C, which distinguish other data.
    pub(crate) table: Sums,
    /// X, n × r.
    #[serde(rename = "X")]
    pub(crate) x: Rows,
    /// F of X.
    pub objective: f64,
    /// No feasible X has an F below this.
    pub bound: f64,
    /// (F − bound)/|F|.
    pub gap: Option<f64>,
    /// `optimal` or `supports`, as in reports.
    pub proof: Option<String>,
    /// No feasible X with other supports has an F below this, where that is proved.
    pub elsewhere: Option<f64>,
    /// The numbers that prove it.
    pub(crate) certificate: Certificate,
}

/// The problem: minimise F(X) = −½ φ(X) + λ · (number of nonzeros, or of variables if these are limited), X'X = I.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Statement {
    /// Name of the problem.
    pub name: String,
    /// φ: `variance`, `adjusted` or `polar`.
    pub measure: String,
    /// r.
    pub rank: usize,
    /// λ.
    pub lambda: f64,
    /// True if X ≥ 0.
    pub nonnegative: bool,
    /// The limit of nonzeros.
    pub limits: Option<Limits>,
    /// At most so many in one component, where a total is limited.
    pub max_nonzeros: Option<usize>,
}

/// A limit of nonzeros, by the name of its option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limits {
    /// In each component.
    #[serde(rename = "nonzeros")]
    Nonzeros(Vec<usize>),
    /// In all components together.
    #[serde(rename = "total-nonzeros")]
    Total(usize),
    /// Variables for all components together.
    #[serde(rename = "variables")]
    Variables(usize),
}

/// Source of the data and their preparation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepared {
    /// Source of the data.
    pub source: String,
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// True if it is C itself.
    pub gram: bool,
    /// Column means were subtracted.
    pub centered: bool,
    /// Scaling of the columns.
    pub scale: String,
    /// Everything was divided by √(m − 1).
    pub covariance: bool,
    /// Entries that were missing.
    pub missing: usize,
}

/// tr C, ‖C‖ and Σ Cᵢⱼ cos i cos j with i and j from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sums {
    /// tr C.
    pub trace: f64,
    /// ‖C‖_F.
    pub norm: f64,
    /// Σ Cᵢⱼ cos i cos j.
    pub cosines: f64,
}

/// Claims that a file proves for the data and the problem of its reader.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CheckedProof {
    /// The program that wrote it, and its version.
    pub version: String,
    /// The claim, in one sentence.
    pub claim: String,
    /// `optimal` or `supports`, as in reports.
    pub proof: Option<String>,
    /// F of the X of the file.
    pub objective: f64,
    /// No feasible X has an F below this.
    pub bound: f64,
    /// (F − bound)/|F|.
    pub gap: Option<f64>,
    /// No feasible X with other supports has an F below this, where that is proved.
    pub elsewhere: Option<f64>,
}

/// Why a file proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(String);

fn refused<T>(why: impl Into<String>) -> std::result::Result<T, Refusal> {
    Err(Refusal(why.into()))
}

impl From<Refusal> for Error {
    fn from(Refusal(why): Refusal) -> Self {
        Self::Incompatible(format!("the file proves nothing: {why}").into())
    }
}

/// Rows as a matrix with so many rows, and columns where they are known; `None` for another shape or a value that is not finite.
fn matrix(rows: &Rows, count: usize, columns: Option<usize>) -> Option<RowMat> {
    let width = columns.or_else(|| rows.first().map(Vec::len))?;
    let fits = rows.len() == count && rows.iter().all(|row| row.len() == width);
    let m = fits.then(|| RowMat::from_fn(count, width, |i, j| rows[i][j]))?;
    (width > 0 && m.find_non_finite().is_none()).then_some(m)
}

impl Sums {
    /// Those of C.
    pub fn of(c: &RowMat) -> Self {
        let n = c.nrows();
        let cosines: Vec<f64> = (1..=n).map(|i| (i as f64).cos()).collect();
        let row = |i: usize| c.row(i).iter().zip(&cosines).map(|(c, w)| c * w).sum::<f64>() * cosines[i];
        Self { trace: (0..n).map(|i| c.get(i, i)).sum(), norm: c.norm(), cosines: (0..n).map(row).sum() }
    }

    fn is_near(&self, other: &Self) -> bool {
        let scale = SUMS * self.norm.abs().max(self.trace.abs());
        let near = |a: f64, b: f64| (a - b).abs() <= scale;
        near(self.trace, other.trace) && near(self.norm, other.norm) && near(self.cosines, other.cosines)
    }
}

impl Statement {
    /// Of a problem by its kind of bound.
    #[doc(hidden)]
    pub fn of(
        name: &str,
        measure: Measure,
        rank: usize,
        kind: &Kind,
        (unit, most): (f64, Option<usize>),
    ) -> Result<Self> {
        let limits = match kind.unsigned() {
            Kind::L0 { .. } | Kind::Nonnegative => None,
            Kind::Counts { nonzeros, .. } => Some(Limits::Nonzeros(nonzeros.clone())),
            Kind::Total { nonzeros, .. } => Some(Limits::Total(*nonzeros)),
            Kind::Rows { rows, .. } => Some(Limits::Variables(*rows)),
            _ => {
                return Err(Error::Incompatible(
                    "there is no proof to cite for l1: its multipliers hold for the F of this X only".into(),
                ));
            }
        };
        Ok(Self {
            name: name.into(),
            measure: measure.name().into(),
            rank,
            lambda: kind.lambda() * unit,
            nonnegative: kind.nonneg(),
            limits,
            max_nonzeros: most,
        })
    }

    /// First difference from another statement, in words.
    fn differs(&self, other: &Self) -> Option<String> {
        let limit =
            |s: &Self| s.limits.as_ref().map_or("no limit of nonzeros".into(), |l| l.cardinality().words());
        let share = |s: &Self| {
            s.max_nonzeros.map_or("any number in one component".into(), |k| format!("{k} in one component"))
        };
        let sign = |s: &Self| if s.nonnegative { "X >= 0" } else { "X of both signs" };
        let told = |what: &str, own: String, asked: String| {
            (own != asked).then(|| format!("it is of {what}{own}, and {asked} is asked for"))
        };
        told("the problem ", self.name.clone(), other.name.clone())
            .or_else(|| told("the measure ", self.measure.clone(), other.measure.clone()))
            .or_else(|| told("rank ", self.rank.to_string(), other.rank.to_string()))
            .or_else(|| told("lambda ", self.lambda.to_string(), other.lambda.to_string()))
            .or_else(|| told("", sign(self).into(), sign(other).into()))
            .or_else(|| told("", limit(self), limit(other)))
            .or_else(|| told("at most ", share(self), share(other)))
    }

    /// True if the first component is the one with the largest variance.
    fn own_order(&self) -> bool {
        let differ =
            matches!(&self.limits, Some(Limits::Nonzeros(list)) if list.iter().any(|k| *k != list[0]));
        self.measure == Measure::Adjusted.name() && !differ
    }

    /// In words: which X.
    fn words(&self, n: usize) -> String {
        let sign = if self.nonnegative { ", X >= 0" } else { "" };
        let words = |limits: &Limits| limits.cardinality().words().replacen(" in ", " nonzeros in ", 1);
        let limit = self.limits.as_ref().map(|limits| format!(", {}", words(limits)));
        let share = self.max_nonzeros.map(|k| format!(", at most {k} in one component"));
        let r = self.rank;
        format!(
            "{n} x {r} matrices X with X'X = I{sign}{}{}",
            limit.unwrap_or_default(),
            share.unwrap_or_default()
        )
    }

    /// F in words.
    fn function(&self) -> String {
        let of_measure = match self.measure.as_str() {
            "variance" => "F = -tr(X'CX)/2".to_string(),
            other => format!("F = -({other} variance)/2"),
        };
        match (self.lambda, &self.limits) {
            (0.0, _) => of_measure,
            (lambda, Some(Limits::Variables(_))) => format!("{of_measure} + {lambda} for each variable"),
            (lambda, _) => format!("{of_measure} + {lambda} for each nonzero"),
        }
    }
}

impl Limits {
    /// As the library has them.
    pub(crate) fn cardinality(&self) -> Cardinality {
        match self {
            Self::Nonzeros(list) => Cardinality::Components(list.clone()),
            Self::Total(s) => Cardinality::Total(*s),
            Self::Variables(s) => Cardinality::Rows(*s),
        }
    }
}

/// Claim that the numbers of a file prove about its X.
struct Verdict {
    claim: Claim,
    objective: f64,
    elsewhere: Option<f64>,
}

impl Verdict {
    /// One sentence.
    fn sentence(&self, problem: &Statement, n: usize) -> String {
        let (of, f) = (problem.words(n), problem.function());
        let (objective, bound) = (digits(self.objective, false), digits(self.claim.bound, true));
        match (self.claim.proof, self.elsewhere) {
            (Some(Proof::Optimal), _) => {
                format!(
                    "Of all {of}, none has {f} below {bound}, and the X given has {objective}: it is optimal."
                )
            }
            (Some(Proof::Supports), Some(elsewhere)) => format!(
                "Of all {of}, those with nonzeros in other places than the X given have {f} of at least {}, those with nonzeros in the same \
                 places at least {bound}, and the X given has {objective}: no other choice of variables is better.",
                digits(elsewhere, true)
            ),
            _ => format!("Of all {of}, none has {f} below {bound}, and the X given has {objective}."),
        }
    }
}

/// Ten digits, to nearest or downwards.
fn digits(x: f64, down: bool) -> String {
    let exponent = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    let x = if down { x - 0.5 * 10f64.powi(exponent - 9) } else { x };
    if (-4..9).contains(&exponent) { format!("{x:.*}", (9 - exponent) as usize) } else { format!("{x:.9e}") }
}

impl ProofFile {
    /// A file from its text.
    ///
    /// # Errors
    /// It is no proof; the place of the text that says so.
    pub fn of_text(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| {
            Error::Incompatible(
                format!("it is not a file that `orthopt bound ... --proof` wrote: {error}").into(),
            )
        })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("numbers, words and lists of them are text")
    }

    /// The claim, if the numbers of the file prove it for the C and the problem of the reader.
    ///
    /// # Errors
    /// A file of other data or of another problem; numbers that prove nothing, or another claim; which, and why.
    #[doc(hidden)]
    pub fn check(&self, c: &RowMat, problem: &Statement) -> Result<CheckedProof> {
        let other =
            |what: String| Error::Incompatible(format!("the file proves nothing here: {what}").into());
        if self.schema != SCHEMA {
            return Err(other(format!("its format is {}, and this program reads {SCHEMA}", self.schema)));
        }
        if let Some(what) = self.problem.differs(problem) {
            return Err(other(what));
        }
        if self.x.len() != c.nrows() || !self.table.is_near(&Sums::of(c)) {
            return Err(other(
                "it is of another table, or of one that was centred, scaled or weighted in another way"
                    .into(),
            ));
        }
        let verdict = self.verdict(c)?;
        let near = |a: f64, b: f64| (a - b).abs() <= DIGITS * b.abs();
        let both = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= DIGITS,
            (a, b) => a.is_none() && b.is_none(),
        };
        let found = verdict.claim;
        let wrong = if !near(self.bound, found.bound) {
            Some(format!("its numbers prove the bound {}, not {}", found.bound, self.bound))
        } else if !both(self.gap, found.gap) {
            Some("the gap is another one".into())
        } else if self.proof.as_deref() != found.proof.map(Proof::name) {
            let name = found.proof.map_or("nothing of this X", Proof::name);
            Some(format!("its numbers prove {name}"))
        } else if !self
            .elsewhere
            .zip(verdict.elsewhere)
            .map_or(self.elsewhere == verdict.elsewhere, |(a, b)| near(a, b))
        {
            Some("the bound of other choices of variables is another one".into())
        } else {
            // the sentence has the numbers of the file, which the proof has to their digits
            let said = Verdict {
                claim: Claim { bound: self.bound, ..found },
                objective: self.objective,
                elsewhere: self.elsewhere,
            };
            (said.sentence(&self.problem, c.nrows()) != self.claim)
                .then(|| "the sentence says something else".into())
        };
        match wrong {
            Some(what) => Err(Refusal(what).into()),
            None => Ok(CheckedProof {
                version: self.version.clone(),
                claim: self.claim.clone(),
                proof: self.proof.clone(),
                objective: self.objective,
                bound: self.bound,
                gap: self.gap,
                elsewhere: self.elsewhere,
            }),
        }
    }

    /// The claim that the numbers prove for C.
    fn verdict(&self, c: &RowMat) -> Result<Verdict> {
        let x = self.checked_x(c)?;
        let (most, elsewhere) = match &self.certificate {
            Certificate::Supports(lists) => supports::most(self, lists, c, &x)?,
            Certificate::Relaxation(relaxed) => (-duals::relaxation(&self.problem, relaxed, c)?, None),
            Certificate::Tree(tree) => (branched::most(&self.problem, tree, c)?, None),
        };
        let size = c.norm() + self.problem.lambda * self.problem.rank as f64;
        let tolerance =
            if self.problem.measure == Measure::Variance.name() { PROVED } else { supports::TOLERANCE };
        let point = Point { objective: self.objective, feasibility: 0.0 };
        let claim = Claim::new(-most, Some(point), size, tolerance)?;
        let claim = claim.with(elsewhere.as_ref(), &x, point, tolerance);
        Ok(Verdict { claim, objective: self.objective, elsewhere: elsewhere.map(|other| other.bound) })
    }

    /// X, which is feasible and has the F of the file.
    fn checked_x(&self, c: &RowMat) -> std::result::Result<RowMat, Refusal> {
        let (n, r) = (c.nrows(), self.problem.rank);
        let Some(x) = matrix(&self.x, n, Some(r)) else {
            return refused(format!("X is no {n} x {r} matrix of finite numbers"));
        };
        let square = certain::cross(&x, &x);
        let bent = RowMat::from_fn(r, r, |i, j| square.get(i, j) - f64::from(u8::from(i == j))).norm();
        let signed = self.problem.nonnegative && x.data().iter().any(|v| *v < 0.0);
        let exceeds = |limits: &Limits| !limits.cardinality().allows(&x);
        let in_one = |k: usize| (0..n).filter(|i| x.get(*i, k) != 0.0).count();
        let many = self.problem.max_nonzeros.is_some_and(|most| (0..r).any(|k| in_one(k) > most));
        if bent.is_nan() || bent > FEASIBLE * r as f64 {
            return refused("X'X is not I");
        }
        if signed || many || self.problem.limits.as_ref().is_some_and(exceeds) {
            return refused("X is not one of the X of the problem");
        }
        let f = supports::objective(&self.problem, c, &x)?;
        match (f - self.objective).abs() <= DIGITS * f.abs() {
            true => Ok(x),
            false => refused(format!("X has F = {f}, not {}", self.objective)),
        }
    }
}

/// F of X, and half of its variance.
pub(crate) fn plain_objective(problem: &Statement, c: &RowMat, x: &RowMat) -> Option<(f64, f64)> {
    let free = Statement { lambda: 0.0, ..problem.clone() };
    Some((supports::objective(problem, c, x).ok()?, -supports::objective(&free, c, x).ok()?))
}

/// No X with other supports than these has an F below this.
type OfOthers = Option<Elsewhere>;
