//! The smooth part f(X), one storage per file.
//!
//! OBCD sees f through [`Quadratic`]: rows of the gradient, the curvature of a block of rows,
//! and a cheap update after those rows change. How the gradient is kept is the model's
//! business: its [`Quadratic::Image`] is Y = MX for a dense matrix and R = AX for M = −AᵀA.

mod centring;
mod gram_dense;
mod gram_sparse;
pub mod nonlinear_eig;
mod quadratic;
pub(crate) mod tilted;

pub use centring::Centring;
pub use centring::for_each;
pub use gram_dense::DenseGram;
pub use gram_sparse::SparseGram;
pub use nonlinear_eig::NonlinearEig;
pub use quadratic::{DenseQuadratic, QuadraticImage};

use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::krylov::{Operator, leading};
use crate::linalg::lanczos::largest_magnitude;
use crate::linalg::simd::Simd;

/// A smooth function of X (n × r).
pub trait Smooth: Send + Sync {
    /// Number of rows n of X.
    fn nrows(&self) -> usize;

    /// Number of columns of X, where f fixes it (a linear term does).
    fn ncols(&self) -> Option<usize> {
        None
    }

    /// f(X).
    fn value(&self, x: &RowMat) -> f64;

    /// G ← ∇f(X) (n × r).
    fn gradient(&self, x: &RowMat, g: &mut RowMat);

    /// G ← ∇f(X), and f(X): one pass over the data where f is quadratic.
    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.gradient(x, g);
        self.value(x)
    }

    /// An upper bound of the Lipschitz constant of ∇f (Frobenius norm).
    fn lipschitz(&self) -> f64;

    /// Whether f is concave. Then a linearisation majorises f and ς = 0 serves in (9).
    fn is_concave(&self) -> bool;
}

/// A smooth function that row-block methods can work with: quadratic in every block of rows,
/// f(X⁺) = f(X) + ⟨X⁺−X, ∇f(X)⟩ + ½ tr((X⁺−X)ᵀ M (X⁺−X)).
pub trait Quadratic: Smooth {
    /// What is kept of X to make gradient rows cheap.
    type Image: Clone + Send + Sync;

    /// The image of X from scratch. Cost of a full gradient.
    fn image(&self, x: &RowMat) -> Self::Image;

    /// Row i of ∇f(X), either a slice of the image or computed into `buf` (length r). `x` is the X
    /// that the image belongs to.
    fn gradient_row<'a>(
        &'a self,
        image: &'a Self::Image,
        x: &RowMat,
        i: usize,
        buf: &'a mut [f64],
    ) -> &'a [f64];

    /// Mᵢⱼ.
    fn curvature(&self, i: usize, j: usize) -> f64;

    /// K = M_BB for the rows `rows`, k × k.
    fn curvature_block(&self, rows: &[usize]) -> RowMat {
        let mut k = RowMat::zeros(rows.len(), rows.len());
        for (p, i) in rows.iter().enumerate() {
            for (q, j) in rows.iter().enumerate().take(p + 1) {
                let v = self.curvature(*i, *j);
                k.set(p, q, v);
                k.set(q, p, v);
            }
        }
        k
    }

    /// K of the rows i and j: Mᵢᵢ, Mᵢⱼ, Mⱼⱼ. `pivot` is the one of the two that the caller keeps while
    /// it goes through partners, so that storages of sparse data can unpack its column once.
    #[inline(always)]
    fn pair_curvature(&self, (i, j): (usize, usize), _pivot: usize, _unpacked: &mut Unpacked) -> [f64; 3] {
        [self.curvature(i, i), self.curvature(i, j), self.curvature(j, j)]
    }

    /// Brings the image up to date after rows i and j of X changed by `di` and `dj`.
    /// `simd` is the token of the kernel it is called from.
    fn move_pair<S: Simd>(
        &self,
        simd: S,
        image: &mut Self::Image,
        i: usize,
        j: usize,
        di: &[f64],
        dj: &[f64],
    );

    /// The same for a block: row `rows[k]` changed by row k of `delta`.
    fn move_block(&self, image: &mut Self::Image, rows: &[usize], delta: &RowMat);

    /// f(X) from X and its image. Cost O(nr) or O(mr).
    fn value_at(&self, image: &Self::Image, x: &RowMat) -> f64;

    /// Diagonal of M, the scores of the coordinates as starting points (−Cᵢᵢ).
    fn diagonal(&self) -> Vec<f64> {
        (0..self.nrows()).map(|i| self.curvature(i, i)).collect()
    }

    /// M·V for n × k V, used for spectral starting points. Cost of a gradient.
    fn apply(&self, v: &RowMat) -> RowMat;

    /// Whether the image holds the gradient, so that a row of it costs nothing. If not, rows that
    /// have been computed are reused until X moves.
    fn keeps_gradient(&self, _image: &Self::Image) -> bool {
        true
    }

    /// Changes the way gradients are kept if `usage` says that another one is clearly cheaper;
    /// whether it did.
    fn rebalance(&self, _image: &mut Self::Image, _x: &RowMat, _usage: Usage) -> bool {
        false
    }

    /// How gradients are kept and why, in words, for reports.
    fn bookkeeping(&self, image: &Self::Image) -> String;
}

/// The workspace of [`Quadratic::pair_curvature`]: a sparse column of the data, unpacked.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    asked: Option<usize>, // the last pivot; one that comes twice in a row is unpacked
    variable: Option<usize>,
    column: Vec<f64>, // zero but for the entries of the variable's column
}

/// What a method has lately asked of the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Pairs of gradient rows read.
    pub pairs: u64,
    /// Pairs of rows of X that moved.
    pub moves: u64,
    /// Rows of X that are not zero.
    pub nonzero_rows: usize,
}

/// The linear term E of f, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinearTerm(pub(crate) Option<RowMat>);

impl LinearTerm {
    pub(crate) fn checked(e: RowMat, n: usize) -> Result<Self> {
        if e.nrows() != n {
            return Err(Error::Shape {
                what: "the linear term E".into(),
                rows: e.nrows(),
                cols: e.ncols(),
                expected_rows: n,
                expected_cols: e.ncols(),
            });
        }
        match e.find_non_finite() {
            Some((i, j)) => {
                Err(Error::NotFinite { what: "the linear term E".into(), row: i + 1, col: j + 1 })
            }
            None => Ok(Self(Some(e))),
        }
    }

    pub(crate) fn ncols(&self) -> Option<usize> {
        self.0.as_ref().map(RowMat::ncols)
    }

    pub(crate) fn inner(&self, x: &RowMat) -> f64 {
        self.0.as_ref().map_or(0.0, |e| e.inner(x))
    }

    /// out += E, row `i`.
    #[inline(always)]
    pub(crate) fn add_row(&self, i: usize, out: &mut [f64]) {
        if let Some(e) = &self.0 {
            for (o, v) in out.iter_mut().zip(e.row(i)) {
                *o += v;
            }
        }
    }

    pub(crate) fn add(&self, out: &mut RowMat) {
        if let Some(e) = &self.0 {
            for (o, v) in out.data_mut().iter_mut().zip(e.data()) {
                *o += v;
            }
        }
    }
}

/// ‖M‖₂ up to one part in a million above its leading eigenvalue, never above `cap`, a bound that
/// is known anyway.
pub(crate) fn spectral_norm(n: usize, cap: f64, apply: impl Fn(&RowMat) -> RowMat + Sync) -> f64 {
    let value = largest_magnitude(n, &apply).or_else(|| {
        let (values, _) = leading(&Operator { n, apply: &apply }, 1).ok()?;
        Some(values[0].abs()).filter(|v| v.is_finite())
    });
    value.map_or(cap, |v| (1.000_001 * v).min(cap))
}

macro_rules! any_smooth {
    ($($variant:ident($type:ty), $doc:literal;)*) => {
        /// Any smooth part of the library, chosen at run time.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnySmooth { $(#[doc = $doc] $variant($type),)* }

        /// The image of [`AnySmooth`].
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyImage { $(#[doc = $doc] $variant(<$type as Quadratic>::Image),)* }

        impl Smooth for AnySmooth {
            fn nrows(&self) -> usize { match self { $(Self::$variant(f) => f.nrows(),)* } }
            fn ncols(&self) -> Option<usize> { match self { $(Self::$variant(f) => f.ncols(),)* } }
            fn value(&self, x: &RowMat) -> f64 { match self { $(Self::$variant(f) => f.value(x),)* } }
            fn gradient(&self, x: &RowMat, g: &mut RowMat) { match self { $(Self::$variant(f) => f.gradient(x, g),)* } }
            fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
                match self { $(Self::$variant(f) => f.value_and_gradient(x, g),)* }
            }
            fn lipschitz(&self) -> f64 { match self { $(Self::$variant(f) => f.lipschitz(),)* } }
            fn is_concave(&self) -> bool { match self { $(Self::$variant(f) => f.is_concave(),)* } }
        }

        impl Quadratic for AnySmooth {
            type Image = AnyImage;
            fn image(&self, x: &RowMat) -> AnyImage {
                match self { $(Self::$variant(f) => AnyImage::$variant(f.image(x)),)* }
            }
            #[inline(always)]
            fn gradient_row<'a>(&'a self, image: &'a AnyImage, x: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.gradient_row(y, x, i, buf),)*
                    _ => unreachable!("image of another storage"),
                }
            }
            #[inline(always)]
            fn curvature(&self, i: usize, j: usize) -> f64 { match self { $(Self::$variant(f) => f.curvature(i, j),)* } }
            #[inline(always)]
            fn pair_curvature(&self, pair: (usize, usize), pivot: usize, unpacked: &mut Unpacked) -> [f64; 3] {
                match self { $(Self::$variant(f) => f.pair_curvature(pair, pivot, unpacked),)* }
            }
            #[inline(always)]
            fn move_pair<S: Simd>(&self, simd: S, image: &mut AnyImage, i: usize, j: usize, di: &[f64], dj: &[f64]) {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.move_pair(simd, y, i, j, di, dj),)*
                    _ => unreachable!("image of another storage"),
                }
            }
            fn curvature_block(&self, rows: &[usize]) -> RowMat {
                match self { $(Self::$variant(f) => f.curvature_block(rows),)* }
            }
            fn diagonal(&self) -> Vec<f64> { match self { $(Self::$variant(f) => f.diagonal(),)* } }
            fn move_block(&self, image: &mut AnyImage, rows: &[usize], delta: &RowMat) {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.move_block(y, rows, delta),)*
                    _ => unreachable!("image of another storage"),
                }
            }
            fn value_at(&self, image: &AnyImage, x: &RowMat) -> f64 {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.value_at(y, x),)*
                    _ => unreachable!("image of another storage"),
                }
            }
            fn apply(&self, v: &RowMat) -> RowMat { match self { $(Self::$variant(f) => f.apply(v),)* } }
            fn keeps_gradient(&self, image: &AnyImage) -> bool {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.keeps_gradient(y),)*
                    _ => unreachable!("image of another storage"),
                }
            }
            fn rebalance(&self, image: &mut AnyImage, x: &RowMat, usage: Usage) -> bool {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.rebalance(y, x, usage),)*
                    _ => unreachable!("image of another storage"),
                }
            }
            fn bookkeeping(&self, image: &AnyImage) -> String {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.bookkeeping(y),)*
                    _ => unreachable!("image of another storage"),
                }
            }
        }
    };
}

any_smooth! {
    Dense(DenseQuadratic), "Dense symmetric M.";
    DenseGram(DenseGram), "M = −AᵀA with dense A.";
    SparseGram(SparseGram), "M = −AᵀA with sparse A.";
}
