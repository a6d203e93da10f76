//! The manifold {X : supp(X) ⊆ S, XᵀX = I} of orthonormal matrices with a fixed pattern S.
//!
//! Its tangent space at X is {D : supp(D) ⊆ S, XᵀD + DᵀX = 0}, and its normal space consists of
//! the matrices P_S(XΛ) with symmetric Λ, P_S keeping the entries of S. Both the projection onto
//! the one and the way back to the manifold along the other are linear systems in Λ,
//!
//! ```text
//! N(Λ) = sym(Xᵀ P_S(XΛ)) = B
//! ```
//!
//! with at most r(r+1)/2 unknowns. N is the identity where S is everything. In general it is
//! positive semidefinite and its null space holds the Λₖₗ of columns with disjoint supports, for
//! which nothing is asked, so conjugate gradients with the diagonal of N as preconditioner solve
//! it in some ten steps of O(r·nnz(X)) flops.
//!
//! The plain iteration Z ← Z − ½P_S(Z(ZᵀZ − I)) takes N for the identity (docs/mathematics.md, section 12).
//! It converges quadratically only where S is everything; columns that overlap in few entries
//! make it linear and slow. With N it is Newton's method.

use std::ops::Range;

use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::{axpy, is_zero};
use orthopt_linalg::parallel::map;
use orthopt_linalg::products::{cross, multiply};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};
use orthopt_linalg::work::count;

/// Rows of X per parallel task: a constant, so that sums do not depend on the number of threads.
const PANEL: usize = 256;
/// Conjugate gradient steps at most; a system that needs more is nearly singular, and the point
/// is not worth the time.
const CG_STEPS: usize = 30;
/// Newton steps at most on the way back to the manifold.
const NEWTON_STEPS: usize = 12;

/// Work of a multiplication of an entry of S with a row of Λ, which a product of whole matrices does faster.
const ENTRY: usize = 4;
/// Share of all entries from which on such products are faster.
const DENSE: f64 = 0.2;

/// A pattern S of entries of an n × r matrix, by rows.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    rows: Vec<usize>,  // rows with an entry in S
    start: Vec<usize>, // where the columns of rows[p] begin in `cols`
    cols: Vec<u32>,
    mask: RowMat, // 1 on S, rows[p] as row p
}

/// Symmetric matrices as full r × r ones.
type Symmetric = RowMat;

impl Pattern {
    /// The support of X.
    pub fn of(x: &RowMat) -> Self {
        let rows: Vec<usize> = (0..x.nrows()).filter(|i| !is_zero(x.row(*i))).collect();
        let (mut start, mut cols) = (vec![0], Vec::new());
        for i in &rows {
            cols.extend((0..x.ncols() as u32).filter(|k| x.get(*i, *k as usize) != 0.0));
            start.push(cols.len());
        }
        let mask =
            RowMat::from_fn(rows.len(), x.ncols(), |p, k| f64::from(u8::from(x.get(rows[p], k) != 0.0)));
        Self { rows, start, cols, mask }
    }

    /// Rows with an entry in S, in increasing order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// P_S(D), in place.
    pub fn restrict(&self, d: &mut RowMat) {
        let mut place = 0;
        for i in 0..d.nrows() {
            if self.rows.get(place) == Some(&i) {
                d.row_mut(i).iter_mut().zip(self.mask.row(place)).for_each(|(v, m)| *v *= m);
                place += 1;
            } else {
                d.row_mut(i).fill(0.0);
            }
        }
    }

    /// sym(Xᵀ P_S(T)): by products of whole matrices where S is a good part of all entries, else entry by
    /// entry, panels of rows in parallel, summed in order.
    fn project(&self, x: &RowMat, t: Rows<'_>) -> Symmetric {
        let r = x.ncols();
        if let Rows::Times(lambda) = t
            && self.is_dense(x)
        {
            let mut t = multiply(x.as_mat(), lambda.as_mat());
            self.restrict(&mut t);
            return cross(x, &t).symmetric_part();
        }
        let products = if let Rows::Times(_) = t { 2 } else { 1 };
        count(products * ENTRY * self.cols.len() * r);
        let panels = self.rows.len().div_ceil(PANEL);
        let parts: Vec<RowMat> = map(panels, 1, |c| {
            let range = c * PANEL..((c + 1) * PANEL).min(self.rows.len());
            dispatch(Panel { pattern: self, x, t, range })
        });
        let mut sum = RowMat::zeros(r, r);
        for part in parts {
            axpy(1.0, part.data(), sum.data_mut());
        }
        sum.symmetric_part()
    }

    /// True if products of whole matrices are the faster way.
    fn is_dense(&self, x: &RowMat) -> bool {
        self.cols.len() as f64 >= DENSE * (x.nrows() * x.ncols()) as f64
    }

    /// t ← row rows[p] of P_S(XΛ).
    #[inline(always)]
    fn row_times(&self, x: &RowMat, p: usize, lambda: &Symmetric, t: &mut [f64]) {
        t.fill(0.0);
        let row = x.row(self.rows[p]);
        for l in &self.cols[self.start[p]..self.start[p + 1]] {
            axpy(row[*l as usize], lambda.row(*l as usize), t);
        }
        t.iter_mut().zip(self.mask.row(p)).for_each(|(v, m)| *v *= m);
    }

    /// The diagonal of N, the preconditioner of [`Self::solve`]: sym Σᵢ (xᵢ²)ᵀ maskᵢ.
    pub fn diagonal(&self, x: &RowMat) -> Symmetric {
        let mut squares = x.clone();
        squares.data_mut().iter_mut().for_each(|v| *v *= *v);
        self.project(&squares, Rows::Mask)
    }

    /// Conjugate gradients for N(Λ) + εΛ = (1 + ε)B from the Λ given, until the residual is `tol`;
    /// ε = 0 is the system itself. Zeros of the diagonal are columns with disjoint supports: their
    /// Λₖₗ stays as it is.
    fn solve(
        &self,
        x: &RowMat,
        diagonal: &Symmetric,
        b: &Symmetric,
        (tol, eps): (f64, f64),
        lambda: &mut Symmetric,
    ) {
        let precondition = |m: &Symmetric| {
            let mut z = m.clone();
            let inverse = |v: f64, d: f64| if d + eps > 1e-12 { v / (d + eps) } else { 0.0 };
            z.data_mut().iter_mut().zip(diagonal.data()).for_each(|(v, d)| *v = inverse(*v, *d));
            z
        };
        let mut residual = self.project(x, Rows::Times(lambda));
        axpy(eps, lambda.data(), residual.data_mut());
        residual.data_mut().iter_mut().zip(b.data()).for_each(|(n, b)| *n = (1.0 + eps) * b - *n);
        let mut direction = precondition(&residual);
        let mut rz = residual.inner(&direction);
        for _ in 0..CG_STEPS {
            if residual.norm() <= tol || rz <= 0.0 {
                break;
            }
            let mut image = self.project(x, Rows::Times(&direction));
            axpy(eps, direction.data(), image.data_mut());
            let bend = direction.inner(&image);
            if bend <= 0.0 || bend.is_nan() {
                break; // nothing but rounding is left
            }
            let step = rz / bend;
            axpy(step, direction.data(), lambda.data_mut());
            axpy(-step, image.data(), residual.data_mut());
            let z = precondition(&residual);
            let next = residual.inner(&z);
            let weight = next / rz;
            rz = next;
            direction.data_mut().iter_mut().zip(z.data()).for_each(|(d, z)| *d = z + weight * *d);
        }
    }

    /// D ← the projection of D onto the tangent space at X, D − P_S(XΛ), to the relative accuracy
    /// `tol`. `lambda` is a guess of the multipliers Λ and becomes them.
    pub fn tangent(
        &self,
        x: &RowMat,
        diagonal: &Symmetric,
        tol: f64,
        d: &mut RowMat,
        lambda: &mut Symmetric,
    ) {
        self.restrict(d);
        self.multipliers(x, diagonal, (tol, 0.0), d, lambda);
        self.subtract(x, lambda, d);
    }

    /// Λ of the gradient D at X. With ε > 0 those of columns that hardly overlap, which the
    /// gradient on S does not tell, are drawn towards sym(XᵀD), their values where S is everything.
    pub fn multipliers(
        &self,
        x: &RowMat,
        diagonal: &Symmetric,
        (tol, eps): (f64, f64),
        d: &RowMat,
        lambda: &mut Symmetric,
    ) {
        let b = self.project(x, Rows::Of(d));
        self.solve(x, diagonal, &b, (tol * b.norm(), eps), lambda);
    }

    /// D ← D − P_S(XΛ).
    fn subtract(&self, x: &RowMat, lambda: &Symmetric, d: &mut RowMat) {
        count(ENTRY * self.cols.len() * x.ncols());
        dispatch(Subtract { pattern: self, x, lambda, d });
    }

    /// Newton's method for ZᵀZ = I along P_S(ZΛ), after columns have been given unit length: no
    /// entry outside S is touched. Returns ‖ZᵀZ − I‖_F, which is above `tol` where S (or the way
    /// there) does not admit it. `diagonal` may be that of a point nearby.
    pub fn restore(&self, z: &mut RowMat, diagonal: &Symmetric, tol: f64) -> f64 {
        let r = z.ncols();
        normalise(z);
        let mut before = f64::INFINITY;
        for _ in 0..NEWTON_STEPS {
            let mut e = self.project(z, Rows::Of(z));
            (0..r).for_each(|k| e.set(k, k, e.get(k, k) - 1.0));
            let error = if e.find_non_finite().is_some() { f64::INFINITY } else { e.norm() };
            // inexact Newton steps lose a digit or two at a time; less than that goes nowhere
            if error <= tol || error == f64::INFINITY || error > 0.7 * before {
                return error;
            }
            before = error;
            e.data_mut().iter_mut().for_each(|v| *v *= 0.5);
            let mut lambda = RowMat::zeros(r, r);
            let tol = error * (0.1 * error).clamp(1e-4, 0.03);
            self.solve(z, diagonal, &e, (tol, 0.0), &mut lambda);
            let at = z.clone();
            self.subtract(&at, &lambda, z);
        }
        before
    }
}

/// Columns of unit length: the part of ZᵀZ = I that costs nothing.
fn normalise(z: &mut RowMat) {
    let mut squares = vec![0.0; z.ncols()];
    for i in 0..z.nrows() {
        squares.iter_mut().zip(z.row(i)).for_each(|(s, v)| *s += v * v);
    }
    squares.iter_mut().for_each(|s| *s = if *s > 0.0 { 1.0 / s.sqrt() } else { 1.0 });
    for i in 0..z.nrows() {
        z.row_mut(i).iter_mut().zip(&squares).for_each(|(v, s)| *v *= s);
    }
}

/// The rows of the matrix T of a projection.
#[derive(Clone, Copy)]
enum Rows<'a> {
    /// T = XΛ.
    Times(&'a Symmetric),
    /// T itself.
    Of(&'a RowMat),
    /// Ones on S.
    Mask,
}

/// The sum Σ xᵢᵀ P_S(tᵢ) over one panel of rows, as a kernel.
struct Panel<'a> {
    pattern: &'a Pattern,
    x: &'a RowMat,
    t: Rows<'a>,
    range: Range<usize>,
}

impl WithSimd for Panel<'_> {
    type Output = RowMat;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> RowMat {
        let (pattern, r) = (self.pattern, self.x.ncols());
        let mut out = RowMat::zeros(r, r);
        let mut buffer = vec![0.0; r];
        for p in self.range {
            let (i, mask) = (pattern.rows[p], pattern.mask.row(p));
            let t = match self.t {
                Rows::Mask => mask,
                Rows::Of(t) => {
                    buffer.iter_mut().zip(t.row(i)).zip(mask).for_each(|((b, t), m)| *b = t * m);
                    &buffer
                }
                Rows::Times(lambda) => {
                    pattern.row_times(self.x, p, lambda, &mut buffer);
                    &buffer
                }
            };
            for a in &pattern.cols[pattern.start[p]..pattern.start[p + 1]] {
                axpy(self.x.get(i, *a as usize), t, out.row_mut(*a as usize));
            }
        }
        out
    }
}

/// D ← D − P_S(XΛ), as a kernel.
struct Subtract<'a> {
    pattern: &'a Pattern,
    x: &'a RowMat,
    lambda: &'a Symmetric,
    d: &'a mut RowMat,
}

impl WithSimd for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let mut t = vec![0.0; self.x.ncols()];
        for (p, i) in self.pattern.rows.iter().enumerate() {
            self.pattern.row_times(self.x, p, self.lambda, &mut t);
            axpy(-1.0, &t, self.d.row_mut(*i));
        }
    }
}
