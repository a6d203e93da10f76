//! Problems of data far from 1, posed for the data divided by a power of two: no square on the way leaves the range of numbers.
//!
//! The division changes no digit, so X is what it is for the same data in any other unit. What has the unit of F is
//! multiplied back where it leaves the problem: F and its parts, λ, bounds, decreases, what observers are shown.

use faer::Mat;
use faer::sparse::{SparseColMat, SparseColMatRef, SymbolicSparseColMat};

use super::named::AnyProblem;
use super::posed::Posed;
use super::{Kind, LinearInput, ProblemInfo, Request};
use orthopt_core::options::Value;
use orthopt_core::penalty::Shape;
use orthopt_core::problem::{PcaData, SMALLEST};
use orthopt_core::smooth::{Centring, Loss, for_each};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::unit::power_of_two;

/// C whose largest entry is from 1/FAR to FAR is taken as it is: sixth powers of its entries are numbers.
const FAR: f64 = 3.402_823_669_209_385e38; // 2¹²⁸

/// The powers of two that data, and numbers with the unit of F or of λ, are divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(hidden)]
pub struct Unit {
    data: f64,
    of_f: f64,
    of_lambda: f64,
}

impl Unit {
    /// Of data that are far from 1, where numbers with the unit of F are numbers in either unit; `None` of all others, and of
    /// problems whose F is not a power of the data times another F.
    pub fn of(info: &ProblemInfo, data: &PcaData<'_>, options: &Request) -> Option<Self> {
        let unit = far(data)?;
        let given = matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_));
        let of_c = if given { unit } else { unit * unit };
        let drawn = matches!(options.linear(), Some(LinearInput::Normal(_)));
        let of_f = match info.kind {
            Kind::Probe => return None,
            _ if drawn => return None,
            Kind::Samples(Loss::Ica) => 1.0,
            Kind::Samples(Loss::RobustSubspace) => unit,
            Kind::Samples(Loss::Dictionary) => of_c * of_c,
            _ => of_c,
        };
        // (λ/4) ρᵀC⁺ρ beside ½⟨X, CX⟩
        let of_lambda = if info.kind == Kind::NonlinearEig { of_f * of_f } else { of_f };
        (of_f.is_normal() && of_lambda.is_normal()).then_some(Self { data: unit, of_f, of_lambda })
    }

    /// The options of the problem for the data divided by the unit.
    pub fn options(&self, options: &Request) -> Request {
        let divided = |a: &RowMat, unit| RowMat::from_fn(a.nrows(), a.ncols(), |i, k| a.get(i, k) / unit);
        let linear = options.linear().map(|linear| match linear {
            LinearInput::Given(e) => LinearInput::Given(divided(e, self.of_f)),
            drawn => drawn.clone(),
        });
        Request {
            lambda: options.lambda.map(|lambda| lambda / self.of_lambda),
            constants: shape(&options.constants, self.of_lambda),
            target: options.target().map(|b| divided(b, self.data)).map(Into::into),
            linear: linear.map(Into::into),
            unit: Some(options.unit() * self.of_lambda),
            ..options.clone()
        }
    }

    /// A problem posed with the data divided by the unit, as one of the data themselves.
    ///
    /// # Errors
    /// C of the data overflows, or has no digits left.
    pub fn posed(&self, posed: Posed, near: &PcaData<'_>) -> Result<Posed> {
        if near.samples().is_some() && self.of_f == self.data * self.data {
            let squares = near.squares();
            let largest = squares.iter().copied().fold(0.0, f64::max);
            if let Some(i) = squares.iter().position(|v| !(v * self.of_f).is_finite()) {
                return Err(Error::Overflow { column: i + 1 });
            }
            if largest * self.of_f < SMALLEST {
                return Err(Error::Underflow);
            }
        }
        Ok(self.back(posed))
    }

    /// The same of a problem whose data have been examined.
    pub fn back(&self, mut posed: Posed) -> Posed {
        let lambda = posed.lambda.map(|lambda| lambda * self.of_lambda);
        if !posed.reasons.iter().any(|reason| *reason == self.reason()) {
            posed.reasons.push(self.reason());
        }
        let problem = AnyProblem::InUnit(Box::new(InUnit { near: posed.problem, unit: *self }));
        Posed { problem, lambda, ..posed }
    }

    fn reason(&self) -> Message {
        format!(
            "numbers far from 1: the problem is solved for the data divided by 2^{}, which changes no digit; constants of \
             solvers are for these",
            self.data.log2()
        )
        .into()
    }

    /// λ in the unit of the problem inside.
    pub fn lambda(&self, lambda: f64) -> f64 {
        lambda / self.of_lambda
    }
}

/// Constants of penalties that are a slope over |x| or its inverse; |x| ≤ 1 has no unit.
pub fn shape(shape: &Shape, unit: f64) -> Shape {
    let divided = |(name, value): (&str, Value)| {
        let value = match (name, value.number()) {
            ("scad-weight", Some(v)) => Value::Number(v / unit),
            ("mcp-gamma", Some(v)) => Value::Number(v * unit),
            _ => value,
        };
        (name.to_string(), value)
    };
    shape.iter().map(divided).collect()
}

/// A problem of any family for data divided by a power of two.
#[derive(Clone, Debug)]
pub struct InUnit {
    pub(super) near: AnyProblem,
    unit: Unit,
}

impl InUnit {
    /// Factor of F of `near`.
    pub(super) fn of_f(&self) -> f64 {
        self.unit.of_f
    }

    /// `near`, and the unit that it is posed in.
    #[doc(hidden)]
    pub fn into_parts(self) -> (AnyProblem, Unit) {
        (self.near, self.unit)
    }
}

/// The power of two at or below a size of F or C that is far from 1, and 1 for all others.
pub fn far_unit(size: f64) -> f64 {
    let unit = power_of_two(size);
    if (1.0 / FAR..=FAR).contains(&unit) { 1.0 } else { unit }
}

/// The power of two that data are divided by, where they are far from 1.
fn far(data: &PcaData<'_>) -> Option<f64> {
    let given = matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_));
    let (unit, most) = match given {
        // a power of four: the root of C has a unit, too
        true => (power_of_two(largest(data).sqrt()).powi(2), FAR),
        false => (power_of_two(largest(data)), FAR.sqrt()),
    };
    (!(1.0 / most..=most).contains(&unit)).then_some(unit)
}

/// The largest |entry| of samples as they are centred, or of C.
fn largest(data: &PcaData<'_>) -> f64 {
    let mut most = 0.0f64;
    let of = |values: &[f64]| values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    match data {
        PcaData::Dense(a) | PcaData::Gram(a) => for_each(*a, |_, _, v| most = most.max(v.abs())),
        PcaData::Centred(a, centring) => {
            for_each(*a, |_, j, v| most = most.max(centring.apply(j, v).abs()));
        }
        PcaData::Sparse(a, None) | PcaData::SparseGram(a) => most = of(a.val()),
        PcaData::Sparse(a, Some(means)) => {
            for (j, mean) in means.iter().enumerate().take(a.ncols()) {
                let values = a.val_of_col(j);
                let stored = values.iter().fold(0.0f64, |most, v| most.max((v - mean).abs()));
                most = most.max(stored).max(if values.len() < a.nrows() { mean.abs() } else { 0.0 });
            }
        }
    }
    most
}

/// Data divided by a power of two.
#[derive(Debug)]
pub(crate) enum Divided {
    Dense(Mat<f64>, Option<Centring>),
    Sparse(SparseColMat<usize, f64>, Option<Vec<f64>>),
    Gram(Mat<f64>),
    SparseGram(SparseColMat<usize, f64>),
}

impl Divided {
    /// Data in the unit of a problem.
    pub fn by(unit: &Unit, data: &PcaData<'_>) -> Self {
        Self::new(data, unit.data)
    }

    /// Data that are far from 1, near it; `None` of all others.
    pub fn near(data: &PcaData<'_>) -> Option<Self> {
        far(data).map(|unit| Self::new(data, unit))
    }

    fn new(data: &PcaData<'_>, unit: f64) -> Self {
        let dense = |a: faer::MatRef<'_, f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / unit);
        match data {
            PcaData::Dense(a) => Self::Dense(dense(*a), None),
            PcaData::Centred(a, _) => {
                let a = dense(*a);
                let centring = Centring::of(a.as_ref());
                Self::Dense(a, Some(centring))
            }
            PcaData::Sparse(a, means) => {
                let means = means.as_ref().map(|means| means.iter().map(|v| v / unit).collect());
                Self::Sparse(sparse(*a, unit), means)
            }
            PcaData::Gram(c) => Self::Gram(dense(*c)),
            PcaData::SparseGram(c) => Self::SparseGram(sparse(*c, unit)),
        }
    }

    /// As data of a problem.
    pub fn data(&self) -> PcaData<'_> {
        match self {
            Self::Dense(a, None) => PcaData::Dense(a.as_ref()),
            Self::Dense(a, Some(centring)) => PcaData::Centred(a.as_ref(), centring.clone()),
            Self::Sparse(a, means) => PcaData::Sparse(a.as_ref(), means.clone()),
            Self::Gram(c) => PcaData::Gram(c.as_ref()),
            Self::SparseGram(c) => PcaData::SparseGram(c.as_ref()),
        }
    }
}

fn sparse(a: SparseColMatRef<'_, usize, f64>, unit: f64) -> SparseColMat<usize, f64> {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..a.ncols() {
        rows.extend(a.row_idx_of_col(j));
        values.extend(a.val_of_col(j).iter().map(|v| v / unit));
        starts.push(rows.len());
    }
    SparseColMat::new(SymbolicSparseColMat::new_checked(a.nrows(), a.ncols(), starts, None, rows), values)
}
