//! The linear map A in h(A(X)): identity, selections, differences, a matrix from the left, functions, and
//! compositions. A takes an n × r matrix to a p × s matrix on which h acts entry by entry.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

use faer::MatRef;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::krylov::{Operator, leading};
use orthopt_linalg::products::{cross, times};

/// A linear map of n × r matrices.
pub trait LinearMap: Clone + fmt::Debug + Send + Sync {
    /// Rows and columns of A(X) for an X with `input` rows and columns.
    ///
    /// # Errors
    /// The map does not fit such an X.
    fn output(&self, input: (usize, usize)) -> Result<(usize, usize)>;

    /// A(X).
    fn apply(&self, x: &RowMat) -> RowMat;

    /// Aᵀ(Y), with `input` rows and columns: ⟨A(X), Y⟩ = ⟨X, Aᵀ(Y)⟩.
    fn adjoint(&self, y: &RowMat, input: (usize, usize)) -> RowMat;

    /// Ā ≥ max ‖A(V)‖_F / ‖V‖_F over the V with `input` rows and columns.
    fn norm(&self, input: (usize, usize)) -> f64;

    /// True if A(X) = X, which some methods ask for.
    fn is_identity(&self) -> bool {
        false
    }

    /// B where A(X) = BX with a B that is at hand, and square.
    fn square(&self) -> Option<&RowMat> {
        None
    }
}

/// A(X) = X.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Identity;

impl LinearMap for Identity {
    fn output(&self, input: (usize, usize)) -> Result<(usize, usize)> {
        Ok(input)
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        x.clone()
    }

    fn adjoint(&self, y: &RowMat, _input: (usize, usize)) -> RowMat {
        y.clone()
    }

    fn norm(&self, _input: (usize, usize)) -> f64 {
        1.0
    }

    fn is_identity(&self) -> bool {
        true
    }
}

/// Some rows, or some columns, of X.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    indices: Vec<usize>,
    columns: bool,
}

impl Selection {
    /// The rows with these numbers (from 0), in this order.
    ///
    /// # Errors
    /// No number, or one twice.
    pub fn rows(indices: Vec<usize>) -> Result<Self> {
        Self::new(indices, false)
    }

    /// The columns with these numbers (from 0), in this order.
    ///
    /// # Errors
    /// No number, or one twice.
    pub fn columns(indices: Vec<usize>) -> Result<Self> {
        Self::new(indices, true)
    }

    fn new(indices: Vec<usize>, columns: bool) -> Result<Self> {
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        if indices.is_empty() || sorted.windows(2).any(|w| w[0] == w[1]) {
            let what = if columns { "columns" } else { "rows" };
            return Err(Error::Incompatible(
                format!("a selection of {what} needs at least one, each once").into(),
            ));
        }
        Ok(Self { indices, columns })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.columns { "column" } else { "row" };
        let plural = if self.indices.len() == 1 { "" } else { "s" };
        write!(f, "{} {what}{plural}", self.indices.len())
    }
}

impl LinearMap for Selection {
    fn output(&self, (n, r): (usize, usize)) -> Result<(usize, usize)> {
        let (what, size) = if self.columns { ("column", r) } else { ("row", n) };
        if let Some(i) = self.indices.iter().find(|i| **i >= size) {
            return Err(Error::Incompatible(
                format!("the linear map selects {what} {} (counted from 1), but X is {n} x {r}", i + 1)
                    .into(),
            ));
        }
        Ok(if self.columns { (n, self.indices.len()) } else { (self.indices.len(), r) })
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        let k = &self.indices;
        if self.columns {
            RowMat::from_fn(x.nrows(), k.len(), |i, j| x.get(i, k[j]))
        } else {
            RowMat::from_fn(k.len(), x.ncols(), |i, j| x.get(k[i], j))
        }
    }

    fn adjoint(&self, y: &RowMat, (n, r): (usize, usize)) -> RowMat {
        let mut x = RowMat::zeros(n, r);
        for i in 0..y.nrows() {
            for j in 0..y.ncols() {
                let (row, column) = if self.columns { (i, self.indices[j]) } else { (self.indices[i], j) };
                x.set(row, column, y.get(i, j));
            }
        }
        x
    }

    fn norm(&self, _input: (usize, usize)) -> f64 {
        1.0
    }
}

/// A(X)ᵢ = Xᵢ₊₁ − Xᵢ, differences of neighbouring rows: a sparse A(X) is a piecewise constant X.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Differences;

impl LinearMap for Differences {
    fn output(&self, (n, r): (usize, usize)) -> Result<(usize, usize)> {
        if n < 2 {
            return Err(Error::Incompatible(
                format!("differences of rows need 2 rows, but X is {n} x {r}").into(),
            ));
        }
        Ok((n - 1, r))
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        RowMat::from_fn(x.nrows().saturating_sub(1), x.ncols(), |i, j| x.get(i + 1, j) - x.get(i, j))
    }

    fn adjoint(&self, y: &RowMat, (n, r): (usize, usize)) -> RowMat {
        RowMat::from_fn(n, r, |i, j| {
            let from_above = if i > 0 { y.get(i - 1, j) } else { 0.0 };
            let from_below = if i < y.nrows() { y.get(i, j) } else { 0.0 };
            from_above - from_below
        })
    }

    /// The largest singular value of the difference matrix, 2 cos(π/2n).
    fn norm(&self, (n, _): (usize, usize)) -> f64 {
        2.0 * (PI / (2.0 * n as f64)).cos()
    }
}

/// A(X) = BX for a dense B (p × n).
#[derive(Clone, Debug, PartialEq)]
pub struct LeftMatrix {
    b: RowMat,
    norm: f64, // ‖B‖₂
}

impl LeftMatrix {
    /// The map of a matrix B. Copies it and finds its norm.
    ///
    /// # Errors
    /// An empty B, or an entry that is not finite.
    pub fn new(b: MatRef<'_, f64>) -> Result<Self> {
        let b = RowMat::from_mat(b);
        if b.data().is_empty() {
            return Err(Error::Incompatible("the matrix of the linear map is empty".into()));
        }
        if let Some((i, j)) = b.find_non_finite() {
            let what = "the matrix of the linear map".into();
            return Err(Error::NotFinite { what, row: i + 1, col: j + 1 });
        }
        let apply = |v: &RowMat| cross(&b, &times(&b, v));
        let norm = spectral(b.ncols(), &apply).min(b.norm());
        Ok(Self { b, norm })
    }

    /// Rows of B.
    pub fn nrows(&self) -> usize {
        self.b.nrows()
    }

    /// Columns of B.
    pub fn ncols(&self) -> usize {
        self.b.ncols()
    }
}

/// √λ_max of a positive semidefinite operator, rounded up by one part in a million; infinite if the
/// eigenvalue routine fails.
fn spectral(n: usize, apply: &(dyn Fn(&RowMat) -> RowMat + Sync)) -> f64 {
    match leading(&Operator { n, apply }, 1) {
        Ok((values, _)) if values[0].is_finite() => 1.000_001 * values[0].abs().sqrt(),
        _ => f64::INFINITY,
    }
}

impl LinearMap for LeftMatrix {
    fn output(&self, (n, r): (usize, usize)) -> Result<(usize, usize)> {
        let (rows, cols) = (self.b.nrows(), self.b.ncols());
        if cols != n {
            return Err(Error::Shape {
                what: "the matrix of the linear map".into(),
                rows,
                cols,
                expected_rows: rows,
                expected_cols: n,
            });
        }
        Ok((rows, r))
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        times(&self.b, x)
    }

    fn adjoint(&self, y: &RowMat, _input: (usize, usize)) -> RowMat {
        cross(&self.b, y)
    }

    fn norm(&self, _input: (usize, usize)) -> f64 {
        self.norm
    }

    fn square(&self) -> Option<&RowMat> {
        (self.b.nrows() == self.b.ncols()).then_some(&self.b)
    }
}

/// A function of a matrix.
type MatrixFunction = dyn Fn(&RowMat) -> RowMat + Send + Sync;

/// Relative difference of ⟨A(X), Y⟩ and ⟨X, Aᵀ(Y)⟩ up to which two functions are a map and its adjoint.
const ADJOINT: f64 = 1e-6;

/// A map given by two functions, A and its adjoint.
#[derive(Clone)]
pub struct FunctionMap {
    apply: Arc<MatrixFunction>,
    adjoint: Arc<MatrixFunction>,
    input: (usize, usize),
    output: (usize, usize),
    norm: f64, // ‖A‖₂
}

impl FunctionMap {
    /// The map of X with `input` rows and columns to A(X), with its adjoint. Finds ‖A‖₂ with some tens of evaluations of both.
    ///
    /// # Errors
    /// A(X) or Aᵀ(Y) has other sizes for other X, is not finite, or is not linear; Aᵀ is not the adjoint of A.
    pub fn new(
        input: (usize, usize),
        apply: impl Fn(&RowMat) -> RowMat + Send + Sync + 'static,
        adjoint: impl Fn(&RowMat) -> RowMat + Send + Sync + 'static,
    ) -> Result<Self> {
        let (apply, adjoint) = (Arc::new(apply), Arc::new(adjoint));
        let mut rng = Pcg64::seed_from_u64(0);
        let mut gaussian = |(n, r)| RowMat::from_fn(n, r, |_, _| rng.sample(StandardNormal));
        let (x, other) = (gaussian(input), gaussian(input));
        let of_x = apply(&x);
        let output = (of_x.nrows(), of_x.ncols());
        let y = gaussian(output);
        let (back, of_other) = (adjoint(&y), apply(&other));
        let sum = apply(&RowMat::from_fn(input.0, input.1, |i, k| x.get(i, k) - 2.0 * other.get(i, k)));
        for (what, found, expected) in
            [("A(X)", &of_other, output), ("A(X)", &sum, output), ("the adjoint of A", &back, input)]
        {
            let (rows, cols) = (found.nrows(), found.ncols());
            if (rows, cols) != expected {
                let what = format!("what the function for {what} returned");
                let (expected_rows, expected_cols) = expected;
                return Err(Error::Shape { what, rows, cols, expected_rows, expected_cols });
            }
        }
        for (what, found) in [("A(X)", &of_x), ("the adjoint of A", &back)] {
            if let Some((i, j)) = found.find_non_finite() {
                let what = format!("what the function for {what} returned");
                return Err(Error::NotFinite { what, row: i + 1, col: j + 1 });
            }
        }
        let apart = RowMat::from_fn(output.0, output.1, |i, k| {
            sum.get(i, k) - (of_x.get(i, k) - 2.0 * of_other.get(i, k))
        });
        // false where an entry is NaN
        let is_linear = apart.norm() <= ADJOINT * (of_x.norm() + of_other.norm());
        if !is_linear {
            return Err(Error::Incompatible("the map is not linear: A(X - 2Y) is not A(X) - 2A(Y)".into()));
        }
        let (one, two) = (of_x.inner(&y), x.inner(&back));
        let is_adjoint = (one - two).abs() <= ADJOINT * (of_x.norm() * y.norm()).max(x.norm() * back.norm());
        if !is_adjoint {
            let text = format!(
                "the second function of the map is not the adjoint of the first: <A(X), Y> is {one:.6e} and <X, A'(Y)> is \
                 {two:.6e} for a random X and Y"
            );
            return Err(Error::Incompatible(text.into()));
        }
        let map = Self { apply, adjoint, input, output, norm: f64::NAN };
        let (n, r) = input;
        let square = |v: &RowMat| {
            let mut out = RowMat::zeros(n * r, v.ncols());
            for k in 0..v.ncols() {
                let x = RowMat::from_fn(n, r, |i, j| v.get(i * r + j, k));
                let image = map.adjoint(&map.apply(&x), input);
                image.data().iter().enumerate().for_each(|(i, value)| out.set(i, k, *value));
            }
            out
        };
        let norm = spectral(n * r, &square);
        Ok(Self { norm, ..map })
    }

    /// Rows and columns of A(X).
    pub fn shape(&self) -> (usize, usize) {
        self.output
    }
}

/// The matrix, or NaN where a function has returned one of another size.
fn of_size(found: RowMat, (rows, columns): (usize, usize)) -> RowMat {
    match (found.nrows(), found.ncols()) == (rows, columns) {
        true => found,
        false => RowMat::from_fn(rows, columns, |_, _| f64::NAN),
    }
}

impl fmt::Debug for FunctionMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionMap({:?} to {:?}, norm {})", self.input, self.output, self.norm)
    }
}

impl LinearMap for FunctionMap {
    fn output(&self, input: (usize, usize)) -> Result<(usize, usize)> {
        if input == self.input {
            return Ok(self.output);
        }
        let ((rows, cols), (expected_rows, expected_cols)) = (input, self.input);
        let what = "what the linear map is applied to".into();
        Err(Error::Shape { what, rows, cols, expected_rows, expected_cols })
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        of_size((self.apply)(x), self.output)
    }

    fn adjoint(&self, y: &RowMat, _input: (usize, usize)) -> RowMat {
        of_size((self.adjoint)(y), self.input)
    }

    fn norm(&self, _input: (usize, usize)) -> f64 {
        self.norm
    }
}

/// One map after another.
#[derive(Clone, Debug)]
pub struct Composition {
    outer: Box<AnyMap>,
    inner: Box<AnyMap>,
}

impl Composition {
    /// A(X) = outer(inner(X)).
    pub fn new(outer: AnyMap, inner: AnyMap) -> Self {
        Self { outer: Box::new(outer), inner: Box::new(inner) }
    }

    /// The map that comes last.
    pub fn outer(&self) -> &AnyMap {
        &self.outer
    }

    /// The map that comes first.
    pub fn inner(&self) -> &AnyMap {
        &self.inner
    }

    /// Shape of the image of the inner map, for an input that [`LinearMap::output`] has accepted.
    fn between(&self, input: (usize, usize)) -> (usize, usize) {
        self.inner.output(input).unwrap_or(input)
    }
}

impl LinearMap for Composition {
    fn output(&self, input: (usize, usize)) -> Result<(usize, usize)> {
        self.outer.output(self.inner.output(input)?)
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        self.outer.apply(&self.inner.apply(x))
    }

    fn adjoint(&self, y: &RowMat, input: (usize, usize)) -> RowMat {
        self.inner.adjoint(&self.outer.adjoint(y, self.between(input)), input)
    }

    /// √λ_max(AᵀA), and never more than the product of the two norms.
    fn norm(&self, input: (usize, usize)) -> f64 {
        let (n, r) = input;
        let apply = |v: &RowMat| {
            let mut out = RowMat::zeros(n * r, v.ncols());
            for k in 0..v.ncols() {
                let x = RowMat::from_fn(n, r, |i, j| v.get(i * r + j, k));
                let ata = self.adjoint(&self.apply(&x), input);
                ata.data().iter().enumerate().for_each(|(i, a)| out.set(i, k, *a));
            }
            out
        };
        spectral(n * r, &apply).min(self.inner.norm(input) * self.outer.norm(self.between(input)))
    }
}

/// Longest list that [`AnyMap::parse`] takes.
const MAX_LIST: usize = 10_000_000;

/// `1-3,7` as 0, 1, 2, 6.
fn parse_list(text: &str, list: &str) -> Result<Vec<usize>> {
    let bad = || Error::InvalidOption {
        option: "map".into(),
        value: text.into(),
        expected: "numbers from 1 and ranges of them, as in rows:1-10,15".into(),
    };
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|v| *v > 0).ok_or_else(bad);
    let mut indices = Vec::new();
    for part in list.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if first > last || last - first >= MAX_LIST {
            return Err(bad());
        }
        indices.extend(first - 1..last);
    }
    Ok(indices)
}

macro_rules! linear_maps {
    ($($variant:ident($type:ty), $doc:literal;)*) => {
        /// Any linear map of the library, chosen at run time.
        #[derive(Clone, Debug)]
        pub enum AnyMap { $(#[doc = $doc] $variant($type),)* }

        impl LinearMap for AnyMap {
            fn output(&self, input: (usize, usize)) -> Result<(usize, usize)> { match self { $(Self::$variant(a) => a.output(input),)* } }
            fn apply(&self, x: &RowMat) -> RowMat { match self { $(Self::$variant(a) => a.apply(x),)* } }
            fn adjoint(&self, y: &RowMat, input: (usize, usize)) -> RowMat { match self { $(Self::$variant(a) => a.adjoint(y, input),)* } }
            fn norm(&self, input: (usize, usize)) -> f64 { match self { $(Self::$variant(a) => a.norm(input),)* } }
            fn is_identity(&self) -> bool { match self { $(Self::$variant(a) => a.is_identity(),)* } }
            fn square(&self) -> Option<&RowMat> { match self { $(Self::$variant(a) => a.square(),)* } }
        }
    };
}

linear_maps! {
    Identity(Identity), "A(X) = X.";
    Selection(Selection), "Some rows or columns of X.";
    Differences(Differences), "Differences of neighbouring rows.";
    Left(LeftMatrix), "BX.";
    Functions(FunctionMap), "A map given by two functions.";
    Composition(Composition), "One map after another.";
}

/// Names that [`AnyMap::parse`] reads, with one line each.
pub const MAPS: &[(&str, &str)] = &[
    ("identity", "A(X) = X"),
    ("differences", "A(X) = X_i+1 - X_i, differences of neighbouring rows"),
    ("rows:LIST", "some rows of X, as rows:1-10,15 (counted from 1)"),
    ("columns:LIST", "some columns of X, as columns:1,3 (counted from 1)"),
];

impl AnyMap {
    /// The map of one of the words in `MAPS`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the known words; an invalid list.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "identity" => Ok(Self::Identity(Identity)),
            None if text == "differences" => Ok(Self::Differences(Differences)),
            Some(("rows", list)) => Selection::rows(parse_list(text, list)?).map(Self::Selection),
            Some(("columns", list)) => Selection::columns(parse_list(text, list)?).map(Self::Selection),
            _ => Err(Error::UnknownName {
                kind: "linear map",
                name: text.into(),
                known: MAPS.iter().map(|m| m.0).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}
