//! The objective of the nonlinear eigenvalue problem.

mod operator;

use faer::MatRef;
use faer::sparse::SparseColMatRef;

use super::quadratic::check_symmetric;
use super::{HessianVector, LinearTerm, Scale, Smooth};
use operator::{Operator, SIDE_LIMIT};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::kernels::{axpy, dot, inner};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// f(X) = ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ with ρ = diag(XXᵀ), ρᵢ = ‖xᵢ‖², and a symmetric C (n × n)
/// (OBCD, first version, problem (4); Wen & Yin 2013, section 4.4).
///
/// ∇f(X) = CX + E + λ Diag(C†ρ) X. (The paper's section 9.5 writes A for C.)
///
/// Storage: a Laplacian costs O(nr) per gradient and keeps O(n) numbers (p² + q² on a grid); a
/// dense C costs 2n²r flops and keeps C, C† and its eigenvectors.
#[derive(Clone, Debug)]
pub struct NonlinearEig {
    c: Operator,
    lambda: f64, // λ
    e: LinearTerm,
    scale: Scale, // of ½⟨X, CX⟩
}

/// Largest n for which a sparse C is made dense: its eigendecomposition takes minutes there.
const DENSE_LIMIT: usize = 8192;

impl NonlinearEig {
    /// A dense symmetric C; where it is singular C† is its pseudoinverse, eigenvalues below 1e-10 of
    /// the largest counting as zero. Cost of an eigendecomposition, once.
    ///
    /// # Errors
    /// C not square, not finite, not symmetric; λ not finite; an eigenvalue routine that fails.
    pub fn dense(c: MatRef<'_, f64>, lambda: f64) -> Result<Self> {
        check_symmetric("the matrix C", c)?;
        Self::with(Operator::dense(c)?, lambda)
    }

    /// A sparse symmetric C. The Laplacians of a chain and of a grid (see below) are recognised by
    /// their entries and stay sparse; any other C is made dense, as for [`NonlinearEig::dense`].
    ///
    /// # Errors
    /// As [`NonlinearEig::dense`]; a C that would be too large as a dense matrix.
    pub fn sparse(c: SparseColMatRef<'_, usize, f64>, lambda: f64) -> Result<Self> {
        if let Some(laplacian) = Operator::laplacian(c) {
            return Self::with(laplacian, lambda);
        }
        if c.nrows().max(c.ncols()) > DENSE_LIMIT {
            return Err(Error::Incompatible(format!(
                "C is {} x {} and no Laplacian of a chain or a grid: C^+ would be kept as a dense matrix, which is done up to n = {DENSE_LIMIT}",
                c.nrows(),
                c.ncols()
            ).into()));
        }
        Self::dense(c.to_dense().as_ref(), lambda)
    }

    /// The 1-D Laplacian, C = tridiag(−1, 2, −1) with n rows.
    ///
    /// # Errors
    /// n = 0 or λ not finite.
    pub fn laplacian_1d(n: usize, lambda: f64) -> Result<Self> {
        positive("the size of the Laplacian", n)?;
        Self::with(Operator::chain(n), lambda)
    }

    /// The 2-D Laplacian of a p × q grid (five-point stencil), n = pq.
    ///
    /// # Errors
    /// A side of 0 or above 8192, or λ not finite.
    pub fn laplacian_2d(p: usize, q: usize, lambda: f64) -> Result<Self> {
        positive("a side of the grid", p.min(q))?;
        if p.max(q) > SIDE_LIMIT {
            return Err(Error::InvalidOption {
                option: "a side of the grid".into(),
                value: p.max(q).to_string(),
                expected: format!("at most {SIDE_LIMIT}"),
            });
        }
        Self::with(Operator::grid(p, q), lambda)
    }

    fn with(c: Operator, lambda: f64) -> Result<Self> {
        if !lambda.is_finite() {
            return Err(Error::InvalidOption {
                option: "lambda".into(),
                value: lambda.to_string(),
                expected: "a finite number".into(),
            });
        }
        let scale = Scale::new((0..c.n()).map(|i| c.entry(i, i)), c.norms()[0]);
        Ok(Self { c, lambda, e: LinearTerm::default(), scale })
    }

    /// Adds the linear term ⟨E, X⟩.
    ///
    /// # Errors
    /// E has another number of rows than C or is not finite.
    pub fn with_linear(mut self, e: RowMat) -> Result<Self> {
        self.e = LinearTerm::checked(e, self.c.n())?;
        Ok(self)
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Cᵢⱼ.
    pub fn curvature(&self, i: usize, j: usize) -> f64 {
        self.c.entry(i, j)
    }

    /// (C†)ᵢⱼ.
    pub fn inverse(&self, i: usize, j: usize) -> f64 {
        self.c.inverse(i, j)
    }

    /// True if there is a linear term.
    #[doc(hidden)]
    pub fn has_linear(&self) -> bool {
        self.e.ncols().is_some()
    }

    /// True if methods that need the entries of C† can be used: always, but for a grid of more than
    /// 16384 points.
    #[doc(hidden)]
    pub fn has_inverse(&self) -> bool {
        self.c.has_inverse()
    }

    /// The number of eigenvalues of a dense C that count as zero in C†.
    #[doc(hidden)]
    pub fn nullity(&self) -> Option<usize> {
        self.c.nullity()
    }

    /// Description of the representation of C.
    pub fn bookkeeping(&self) -> String {
        self.c.describe()
    }

    /// The eigenvectors of C for its r ≤ n smallest eigenvalues.
    pub fn lowest_eigenvectors(&self, r: usize) -> RowMat {
        self.c.lowest(r)
    }

    /// Image of X: CX + E, ρ and C†ρ. Cost of a gradient.
    pub fn image(&self, x: &RowMat) -> Image {
        let mut linear = RowMat::zeros(x.nrows(), x.ncols());
        self.c.apply(x, &mut linear);
        self.e.add(&mut linear);
        let rho: Vec<f64> = (0..x.nrows()).map(|i| square(x.row(i))).collect();
        let mut sigma = vec![0.0; rho.len()];
        self.c.solve(&rho, &mut sigma);
        Image { linear, rho, sigma }
    }

    /// f(X) from X and its image. Cost O(nr).
    pub fn value_at(&self, image: &Image, x: &RowMat) -> f64 {
        0.5 * (x.inner(&image.linear) + self.e.inner(x))
            + 0.25 * self.lambda * inner(&image.rho, &image.sigma)
    }

    /// Row i of ∇f(X). Cost O(r).
    pub fn gradient_row(&self, image: &Image, x: &RowMat, i: usize, out: &mut [f64]) {
        out.copy_from_slice(image.linear.row(i));
        axpy(self.lambda * image.sigma[i], x.row(i), out);
    }

    /// gᵢ·xᵢ, gᵢ·xⱼ, gⱼ·xᵢ, gⱼ·xⱼ, xᵢ·xᵢ, xᵢ·xⱼ and xⱼ·xⱼ of every pair, G = ∇f(X), which is what greedy rules go by. Cost O(r) a pair.
    #[doc(hidden)]
    pub fn products(&self, image: &Image, x: &RowMat, pairs: &[(usize, usize)]) -> Vec<[f64; 7]> {
        dispatch(Products { f: self, image, x, pairs })
    }

    /// Brings the image up to date after row i of X changed by `delta` to `row`.
    /// Cost O(r) for Laplacians, 2nr flops for a dense C, and O(n) for C†ρ.
    pub fn move_row(&self, image: &mut Image, i: usize, delta: &[f64], row: &[f64]) {
        self.c.move_row(&mut image.linear, i, delta);
        let rho = square(row);
        self.c.add_inverse_column(i, rho - image.rho[i], &mut image.sigma);
        image.rho[i] = rho;
    }

    /// Brings the image up to date after rows i and j of X changed, in one pass over CX and C†ρ.
    #[doc(hidden)]
    pub fn move_pair(
        &self,
        image: &mut Image,
        (i, j): (usize, usize),
        (di, dj): (&[f64], &[f64]),
        (xi, xj): (&[f64], &[f64]),
    ) {
        self.c.move_pair(&mut image.linear, (i, j), (di, dj));
        let rho = (square(xi), square(xj));
        let by = (rho.0 - image.rho[i], rho.1 - image.rho[j]);
        self.c.add_inverse_columns((i, j), by, &mut image.sigma);
        (image.rho[i], image.rho[j]) = rho;
    }
}

/// [`NonlinearEig::products`] as a kernel.
struct Products<'a> {
    f: &'a NonlinearEig,
    image: &'a Image,
    x: &'a RowMat,
    pairs: &'a [(usize, usize)],
}

impl WithSimd for Products<'_> {
    type Output = Vec<[f64; 7]>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<[f64; 7]> {
        let Self { f, image: Image { linear, rho, sigma }, x, pairs } = self;
        let mut out = Vec::with_capacity(pairs.len());
        for &(i, j) in pairs {
            let (xi, xj, li, lj) = (x.row(i), x.row(j), linear.row(i), linear.row(j));
            let (si, sj, w) = (f.lambda * sigma[i], f.lambda * sigma[j], dot(simd, xi, xj));
            out.push([
                dot(simd, li, xi) + si * rho[i],
                dot(simd, li, xj) + si * w,
                dot(simd, lj, xi) + sj * w,
                dot(simd, lj, xj) + sj * rho[j],
                rho[i],
                w,
                rho[j],
            ]);
        }
        out
    }
}

/// CX + E, ρ and C†ρ of a point X.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    linear: RowMat,  // CX + E
    rho: Vec<f64>,   // ρ
    sigma: Vec<f64>, // C†ρ
}

impl Image {
    /// Row i of CX + E, the part of the gradient that is linear in X.
    #[doc(hidden)]
    pub fn linear_row(&self, i: usize) -> &[f64] {
        self.linear.row(i)
    }

    /// C†ρ.
    pub fn potential(&self) -> &[f64] {
        &self.sigma
    }
}

impl Smooth for NonlinearEig {
    fn nrows(&self) -> usize {
        self.c.n()
    }

    fn ncols(&self) -> Option<usize> {
        self.e.ncols()
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.value_at(&self.image(x), x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.value_and_gradient(x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        let image = self.image(x);
        (0..x.nrows()).for_each(|i| self.gradient_row(&image, x, i, g.row_mut(i)));
        self.value_at(&image, x)
    }

    /// That of ½⟨X, CX⟩ with ‖C‖₂ in the place of the largest |Cᵢⱼ|, and of the linear term. λ, in the unit of the square of f,
    /// raises |f| where it counts.
    fn scale(&self, x: &RowMat) -> f64 {
        self.scale.of(x.ncols()) + self.e.scale()
    }

    /// ‖C‖ + |λ|·‖C†‖(√n + 2): a bound for X with ‖X‖₂ ≤ 1, where ‖ρ‖ ≤ √n.
    fn lipschitz(&self) -> Option<f64> {
        let [norm, inverse] = self.c.norms();
        Some(norm + self.lambda.abs() * inverse * ((self.c.n() as f64).sqrt() + 2.0))
    }
}

/// CD + λ Diag(C†ρ) D + 2λ Diag(C†(xᵢ·dᵢ)) X. Cost of a gradient, and of a product with C†.
impl HessianVector for NonlinearEig {
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        let n = x.nrows();
        let potential = |of: &dyn Fn(usize) -> f64| {
            let mut sigma = vec![0.0; n];
            self.c.solve(&(0..n).map(of).collect::<Vec<_>>(), &mut sigma);
            sigma
        };
        let sigma = potential(&|i| square(x.row(i)));
        let change = potential(&|i| 2.0 * inner(x.row(i), d.row(i)));
        let mut out = RowMat::zeros(n, d.ncols());
        self.c.apply(d, &mut out);
        for i in 0..n {
            axpy(self.lambda * sigma[i], d.row(i), out.row_mut(i));
            axpy(self.lambda * change[i], x.row(i), out.row_mut(i));
        }
        out
    }

    fn has_hessian(&self) -> bool {
        true
    }
}

fn square(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum()
}

fn positive(option: &str, n: usize) -> Result<()> {
    if n > 0 {
        return Ok(());
    }
    Err(Error::InvalidOption { option: option.into(), value: "0".into(), expected: "at least 1".into() })
}
