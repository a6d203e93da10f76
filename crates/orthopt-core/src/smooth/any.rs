//! The f of problems posed at run time: any storage of a quadratic f, any f of XᵀJX = J.

use super::sparse_rows::SCATTERED;
use super::{
    DenseGram, DenseQuadratic, FiniteSum, Halves, HessianVector, JQuadratic, Probe, Quadratic, Smooth,
    SparseGram, TwoSided, Unpacked, Usage,
};
use orthopt_linalg::RowMat;
use orthopt_linalg::simd::Simd;

/// Row i of ∇f(X) if the image belongs to another storage.
#[cold]
#[inline(never)]
fn foreign_row<'a>(f: &AnySmooth, x: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    f.gradient(x, &mut g);
    buf.copy_from_slice(g.row(i));
    buf
}

/// VD for the weights of columns of f.
fn weighed(f: &impl Quadratic, mut v: RowMat) -> RowMat {
    if let Some(d) = f.column_weights() {
        let rows = v.data_mut().chunks_exact_mut(d.len());
        rows.for_each(|row| row.iter_mut().zip(d).for_each(|(v, d)| *v *= d));
    }
    v
}

macro_rules! any_smooth {
    ($($variant:ident($type:ty), $doc:literal;)*) => {
        /// Any smooth part of the library, chosen at run time.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnySmooth { $(#[doc = $doc] $variant($type),)* }

        /// The image of [`AnySmooth`]. If it belongs to another storage, results are computed
        /// from X.
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
            fn scale(&self, x: &RowMat) -> f64 { match self { $(Self::$variant(f) => f.scale(x),)* } }
            fn lipschitz(&self) -> Option<f64> { match self { $(Self::$variant(f) => f.lipschitz(),)* } }
            fn step_curvature(&self, columns: usize) -> Option<f64> {
                match self { $(Self::$variant(f) => f.step_curvature(columns),)* }
            }
            fn is_concave(&self) -> bool { match self { $(Self::$variant(f) => f.is_concave(),)* } }
            fn is_quadratic(&self) -> bool { match self { $(Self::$variant(f) => f.is_quadratic(),)* } }
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
                    _ => foreign_row(self, x, i, buf),
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
                    _ => {}
                }
            }
            fn curvature_block(&self, rows: &[usize]) -> RowMat {
                match self { $(Self::$variant(f) => f.curvature_block(rows),)* }
            }
            fn column_weights(&self) -> Option<&[f64]> { match self { $(Self::$variant(f) => f.column_weights(),)* } }
            fn norm(&self) -> f64 { match self { $(Self::$variant(f) => f.norm(),)* } }
            fn column(&self, i: usize) -> Vec<f64> { match self { $(Self::$variant(f) => f.column(i),)* } }
            fn diagonal(&self) -> Vec<f64> { match self { $(Self::$variant(f) => f.diagonal(),)* } }
            fn move_block(&self, image: &mut AnyImage, rows: &[usize], delta: &RowMat) {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.move_block(y, rows, delta),)*
                    _ => {}
                }
            }
            fn value_at(&self, image: &AnyImage, x: &RowMat) -> f64 {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.value_at(y, x),)*
                    _ => self.value(x),
                }
            }
            fn apply(&self, v: &RowMat) -> RowMat { match self { $(Self::$variant(f) => f.apply(v),)* } }
            fn apply_few(&self, v: &[Vec<(usize, f64)>]) -> RowMat {
                match self { $(Self::$variant(f) => f.apply_few(v),)* }
            }
            fn factor(&self) -> Option<&RowMat> { match self { $(Self::$variant(f) => f.factor(),)* } }
            fn halves(&self) -> Halves<'_> { match self { $(Self::$variant(f) => f.halves(),)* } }
            fn keeps_gradient(&self, image: &AnyImage) -> bool {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.keeps_gradient(y),)*
                    _ => false,
                }
            }
            fn rebalance(&self, image: &mut AnyImage, x: &RowMat, usage: Usage) -> bool {
                match (self, &mut *image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.rebalance(y, x, usage),)*
                    _ => {
                        *image = self.image(x);
                        true
                    }
                }
            }
            fn pair_work(&self, image: &AnyImage) -> (usize, usize) {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.pair_work(y),)*
                    _ => (0, 0),
                }
            }
            fn bookkeeping(&self, image: &AnyImage) -> String {
                match (self, image) {
                    $((Self::$variant(f), AnyImage::$variant(y)) => f.bookkeeping(y),)*
                    _ => "none: the image is of another storage".into(),
                }
            }
        }

        /// MD, column by column times the weights of columns.
        impl HessianVector for AnySmooth {
            fn hessian_vector(&self, _: &RowMat, d: &RowMat) -> RowMat { weighed(self, self.apply(d)) }
            fn has_hessian(&self) -> bool { true }
        }

        $(
            /// MD, column by column times the weights of columns.
            impl HessianVector for $type {
                fn hessian_vector(&self, _: &RowMat, d: &RowMat) -> RowMat { weighed(self, self.apply(d)) }
                fn has_hessian(&self) -> bool { true }
            }
        )*
    };
}

any_smooth! {
    Dense(DenseQuadratic), "Dense symmetric M.";
    DenseGram(DenseGram), "M = −AᵀA with dense A.";
    SparseGram(SparseGram), "M = −AᵀA with sparse A.";
}

impl AnySmooth {
    /// The quadratic form of some of the variables alone: f of X with zero rows elsewhere, without a linear term. With their
    /// part of the data if cancelled.
    #[doc(hidden)]
    pub fn on_variables(&self, variables: &[usize]) -> Self {
        let multiplied = |m: RowMat| Self::Dense(DenseQuadratic::from_negative_gram(m));
        match self {
            Self::Dense(f) => Self::Dense(f.on_variables(variables)),
            Self::DenseGram(f) if variables.len() > 2 * f.samples() => {
                Self::DenseGram(f.on_variables(variables))
            }
            Self::DenseGram(f) => {
                let found = f.negative_gram(variables).map(multiplied);
                found.unwrap_or_else(|| Self::DenseGram(f.on_variables(variables)))
            }
            Self::SparseGram(f) if variables.len().pow(2) > 2 * SCATTERED * f.entries(variables) => {
                Self::SparseGram(f.on_variables(variables))
            }
            Self::SparseGram(f) => {
                let found = f.negative_gram(variables).map(multiplied);
                found.unwrap_or_else(|| Self::SparseGram(f.on_variables(variables)))
            }
        }
    }
}

/// Any f of the library for problems with XᵀJX = J.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum JFunction {
    /// ½tr(XᵀMXN).
    Quadratic(JQuadratic),
    /// The structural probe.
    Probe(Probe),
}

impl JFunction {
    /// f where it is ½tr(XᵀMXN).
    pub fn quadratic(&self) -> Option<&JQuadratic> {
        match self {
            Self::Quadratic(q) => Some(q),
            Self::Probe(_) => None,
        }
    }

    fn as_dyn(&self) -> &dyn Smooth {
        match self {
            Self::Quadratic(q) => q,
            Self::Probe(p) => p,
        }
    }
}

impl Smooth for JFunction {
    fn nrows(&self) -> usize {
        self.as_dyn().nrows()
    }

    fn ncols(&self) -> Option<usize> {
        self.as_dyn().ncols()
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.as_dyn().value(x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.as_dyn().gradient(x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.as_dyn().value_and_gradient(x, g)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.as_dyn().scale(x)
    }

    fn lipschitz(&self) -> Option<f64> {
        self.as_dyn().lipschitz()
    }

    fn is_quadratic(&self) -> bool {
        self.as_dyn().is_quadratic()
    }

    fn components(&self) -> usize {
        self.as_dyn().components()
    }

    fn is_coercive(&self) -> bool {
        self.as_dyn().is_coercive()
    }

    fn is_bounded_below(&self) -> bool {
        self.as_dyn().is_bounded_below()
    }
}

impl TwoSided for JFunction {
    fn two_sided(&self) -> Option<&JQuadratic> {
        self.quadratic()
    }
}

impl HessianVector for JFunction {
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        match self {
            Self::Quadratic(q) => q.hessian_vector(x, d),
            Self::Probe(p) => p.hessian_vector(x, d),
        }
    }

    fn has_hessian(&self) -> bool {
        match self {
            Self::Quadratic(q) => q.has_hessian(),
            Self::Probe(p) => p.has_hessian(),
        }
    }
}

/// An f that is not a sum counts as a sum with one component.
impl FiniteSum for JFunction {
    fn sample_gradient(&self, sample: &[usize], x: &RowMat, g: &mut RowMat) -> f64 {
        match self {
            Self::Quadratic(q) => q.value_and_gradient(x, g),
            Self::Probe(p) => p.sample_gradient(sample, x, g),
        }
    }
}
