//! The symmetric matrix C of the nonlinear eigenvalue problem and its pseudoinverse C†.

use std::f64::consts::PI;
use std::sync::OnceLock;

use faer::MatRef;
use faer::sparse::SparseColMatRef;

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::kernels::{axpy, axpy2, inner};
use orthopt_linalg::order::ascending_to;
use orthopt_linalg::products::{multiply, product};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};
use orthopt_linalg::small::symmetric_eigen;

/// C with everything that is needed of it and of C†.
#[derive(Clone, Debug)]
pub(super) enum Operator {
    Dense(Dense),
    Chain(Chain),
    Grid(Grid),
}

/// A dense C and C†, from an eigendecomposition.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    c: RowMat,
    inverse: RowMat, // C†
    norms: [f64; 2], // ‖C‖₂ and ‖C†‖₂
    nullity: usize,  // eigenvalues that count as zero
    values: Vec<f64>,
    vectors: RowMat,
}

/// Largest side of a grid, whose sines are kept.
pub(super) const SIDE_LIMIT: usize = 8192;
/// Largest n of a grid for methods that need the entries of C† (2 GB).
const INVERSE_LIMIT: usize = 16384;
/// Eigenvalues below this times the largest count as zero in C†.
const SINGULAR: f64 = 1e-10;

impl Dense {
    fn new(c: MatRef<'_, f64>) -> Result<Self> {
        let n = c.nrows();
        let c = RowMat::from_fn(n, n, |i, j| 0.5 * (c[(i, j)] + c[(j, i)]));
        let (values, vectors) =
            symmetric_eigen(&c).ok_or(Error::Factorisation("the eigenvalue decomposition of C"))?;
        let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let counts = |v: f64| v.abs() > SINGULAR * largest;
        let invert = |v: f64| if counts(v) { 1.0 / v } else { 0.0 };
        let nullity = values.iter().filter(|v| !counts(**v)).count();
        let scaled = RowMat::from_fn(n, n, |i, k| vectors.get(i, k) * invert(values[k]));
        let inverse = multiply(scaled.as_mat(), vectors.as_mat().transpose());
        let smallest = values.iter().fold(0.0f64, |m, v| m.max(invert(*v).abs()));
        Ok(Self { c, inverse, norms: [largest, smallest], nullity, values, vectors })
    }
}

/// The 1-D Laplacian L = tridiag(−1, 2, −1), n × n, times a unit: LX costs O(nr), L⁻¹ρ O(n) by elimination.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    unit: f64,
    inverse_pivots: Vec<f64>, // of the elimination (Thomas algorithm), (i+1)/(i+2) from i = 0
}

impl Chain {
    fn new(n: usize, unit: f64) -> Self {
        Self { unit, inverse_pivots: (0..n).map(|i| (i + 1) as f64 / (i + 2) as f64).collect() }
    }

    fn n(&self) -> usize {
        self.inverse_pivots.len()
    }

    /// y ← L⁻¹ρ.
    fn solve(&self, rho: &[f64], y: &mut [f64]) {
        let n = self.n();
        y.copy_from_slice(rho);
        (1..n).for_each(|i| y[i] += y[i - 1] * self.inverse_pivots[i - 1]);
        for i in (0..n).rev() {
            let next = if i + 1 < n { y[i + 1] } else { 0.0 };
            y[i] = (y[i] + next) * self.inverse_pivots[i];
        }
        y.iter_mut().for_each(|v| *v /= self.unit);
    }

    /// (L⁻¹)ᵢⱼ = i(n + 1 − j)/(n + 1) for i ≤ j counted from 1.
    fn inverse(&self, i: usize, j: usize) -> f64 {
        let (low, high, n) = (i.min(j) + 1, i.max(j) + 1, self.n() + 1);
        low as f64 * (n - high) as f64 / n as f64 / self.unit
    }
}

/// The 2-D Laplacian of a p × q grid, L_p ⊗ I + I ⊗ L_q, times a unit; rows of the grid one after the other:
/// LX costs O(nr), L⁻¹ρ O(n(p + q)) in the bases of sines.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    unit: f64,
    p: usize,
    q: usize,
    sines_p: RowMat, // orthonormal eigenvectors of L_p, symmetric
    sines_q: RowMat,
    inverse: OnceLock<RowMat>, // L⁻¹ for methods that need its entries
}

/// Eigenvalue k (from 0) of the n × n 1-D Laplacian.
fn eigenvalue(n: usize, k: usize) -> f64 {
    4.0 * (0.5 * PI * (k + 1) as f64 / (n + 1) as f64).sin().powi(2)
}

/// Entry i of its unit eigenvector k; they form a symmetric matrix.
fn sine(n: usize, i: usize, k: usize) -> f64 {
    // the argument modulo 2π in whole numbers, so that large n lose no digits
    let angle = PI * (((i + 1) * (k + 1)) % (2 * (n + 1))) as f64 / (n + 1) as f64;
    (2.0 / (n + 1) as f64).sqrt() * angle.sin()
}

fn sines(n: usize) -> RowMat {
    RowMat::from_fn(n, n, |i, k| sine(n, i, k))
}

impl Grid {
    fn new(p: usize, q: usize, unit: f64) -> Self {
        Self { unit, p, q, sines_p: sines(p), sines_q: sines(q), inverse: OnceLock::new() }
    }

    /// y ← L⁻¹ρ = S_p((S_p R S_q) ∘ 1/(λ + μ))S_q with R the grid of ρ.
    fn solve(&self, rho: &[f64], y: &mut [f64]) {
        let (p, q) = (self.p, self.q);
        let grid = RowMat::from_fn(p, q, |a, b| rho[a * q + b]);
        let both = |m: &RowMat| {
            let (mut left, mut out) = (RowMat::zeros(p, q), RowMat::zeros(p, q));
            product(&mut left, false, 1.0, self.sines_p.as_mat(), m.as_mat());
            product(&mut out, false, 1.0, left.as_mat(), self.sines_q.as_mat());
            out
        };
        let mut spectral = both(&grid);
        for a in 0..p {
            for b in 0..q {
                spectral.set(a, b, spectral.get(a, b) / (eigenvalue(p, a) + eigenvalue(q, b)) / self.unit);
            }
        }
        y.copy_from_slice(both(&spectral).data());
    }

    /// L⁻¹, formed at the first call. Cost O(n²(p + q)), n² numbers.
    fn inverse(&self) -> &RowMat {
        self.inverse.get_or_init(|| {
            let n = self.p * self.q;
            let mut out = RowMat::zeros(n, n);
            let mut unit = vec![0.0; n];
            for i in 0..n {
                unit[i] = 1.0;
                self.solve(&unit, out.row_mut(i));
                unit[i] = 0.0;
            }
            out
        })
    }
}

/// CX ← CX + C(:, i)·Δᵢ + C(:, j)·Δⱼ as a kernel.
struct MovePair<'a> {
    c: (&'a [f64], &'a [f64]),
    by: (&'a [f64], &'a [f64]),
    cx: &'a mut RowMat,
}

impl WithSimd for MovePair<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { c: (ci, cj), by: (di, dj), cx } = self;
        for (l, (a, b)) in ci.iter().zip(cj).enumerate() {
            axpy2(simd, *a, di, *b, dj, cx.row_mut(l)); // rows of C are columns
        }
    }
}

impl Operator {
    /// A symmetric C given by its entries. Cost of an eigendecomposition, 3n² numbers.
    pub fn dense(c: MatRef<'_, f64>) -> Result<Self> {
        Dense::new(c).map(Self::Dense)
    }

    pub fn chain(n: usize) -> Self {
        Self::Chain(Chain::new(n, 1.0))
    }

    pub fn grid(p: usize, q: usize) -> Self {
        Self::Grid(Grid::new(p, q, 1.0))
    }

    /// The Laplacian of a chain or grid, times a positive number, with exactly the entries of C, if there is one. Cost of a
    /// pass over C.
    pub fn laplacian(c: SparseColMatRef<'_, usize, f64>) -> Option<Self> {
        let n = c.nrows();
        if n == 0 || c.ncols() != n {
            return None;
        }
        let column = |j: usize| c.row_idx_of_col(j).zip(c.val_of_col(j)).filter(|e| *e.1 != 0.0);
        let diagonal = column(0).find(|e| e.0 == 0).map_or(0.0, |e| *e.1);
        // a single point has no neighbour, and is a chain
        let unit = column(0).find(|e| e.0 != 0).map_or(0.5 * diagonal, |e| -*e.1);
        if !(unit > 0.0 && unit.is_finite()) {
            return None;
        }
        // the last neighbour of the first point is the one below it
        let q = column(0).map(|e| e.0).max().unwrap_or(0).max(1);
        let guess = if diagonal == 2.0 * unit {
            Self::Chain(Chain::new(n, unit))
        } else if diagonal == 4.0 * unit && n.is_multiple_of(q) && q.max(n / q) <= SIDE_LIMIT {
            Self::Grid(Grid::new(n / q, q, unit))
        } else {
            return None;
        };
        let same = (0..n).all(|j| {
            let expected = 1 + guess.neighbours(j).count();
            column(j).count() == expected && column(j).all(|(i, v)| *v == guess.entry(i, j))
        });
        same.then_some(guess)
    }

    /// True if the entries of C† are available or fit into memory.
    pub fn has_inverse(&self) -> bool {
        match self {
            Self::Dense(_) | Self::Chain(_) => true,
            Self::Grid(g) => g.p * g.q <= INVERSE_LIMIT,
        }
    }

    /// The number of eigenvalues that count as zero, where the decomposition is known.
    pub fn nullity(&self) -> Option<usize> {
        match self {
            Self::Dense(d) => Some(d.nullity),
            Self::Chain(_) | Self::Grid(_) => Some(0),
        }
    }

    /// n.
    pub fn n(&self) -> usize {
        match self {
            Self::Dense(d) => d.c.nrows(),
            Self::Chain(c) => c.n(),
            Self::Grid(g) => g.p * g.q,
        }
    }

    pub fn describe(&self) -> String {
        match self {
            Self::Dense(_) => "dense C, C† by an eigendecomposition".into(),
            Self::Chain(_) => "1-D Laplacian, tridiagonal".into(),
            Self::Grid(g) => format!("2-D Laplacian of a {} x {} grid", g.p, g.q),
        }
    }

    /// Cᵢⱼ.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Dense(d) => d.c.get(i, j),
            _ if i == j => self.weights(i),
            _ => -(self.neighbours(i).filter(|k| *k == j).count() as f64) * self.unit(),
        }
    }

    /// The diagonal entry of a Laplacian.
    fn weights(&self, i: usize) -> f64 {
        match self {
            Self::Dense(d) => d.c.get(i, i),
            Self::Chain(c) => 2.0 * c.unit,
            Self::Grid(g) => 4.0 * g.unit,
        }
    }

    /// −Cᵢⱼ of neighbours i and j of a Laplacian.
    fn unit(&self) -> f64 {
        match self {
            Self::Dense(_) => 1.0,
            Self::Chain(c) => c.unit,
            Self::Grid(g) => g.unit,
        }
    }

    /// The rows j ≠ i with Cᵢⱼ ≠ 0 of a Laplacian.
    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> {
        let n = self.n();
        let sides: [Option<usize>; 4] = match self {
            Self::Dense(_) => [None; 4],
            Self::Chain(_) => [i.checked_sub(1), Some(i + 1).filter(|j| *j < n), None, None],
            Self::Grid(g) => [
                i.checked_sub(g.q),
                Some(i + g.q).filter(|j| *j < n),
                i.checked_sub(1).filter(|_| !i.is_multiple_of(g.q)),
                Some(i + 1).filter(|j| !j.is_multiple_of(g.q)),
            ],
        };
        sides.into_iter().flatten()
    }

    /// out ← CX. Cost O(nr) for Laplacians, 2n²r flops for a dense C.
    pub fn apply(&self, x: &RowMat, out: &mut RowMat) {
        if let Self::Dense(d) = self {
            product(out, false, 1.0, d.c.as_mat(), x.as_mat());
            return;
        }
        for i in 0..x.nrows() {
            self.apply_row(i, x, out.row_mut(i));
        }
    }

    /// out ← row i of CX.
    pub fn apply_row(&self, i: usize, x: &RowMat, out: &mut [f64]) {
        match self {
            Self::Dense(d) => {
                out.fill(0.0);
                d.c.row(i).iter().enumerate().for_each(|(j, c)| axpy(*c, x.row(j), out));
            }
            _ => {
                let weight = self.weights(i);
                out.iter_mut().zip(x.row(i)).for_each(|(o, v)| *o = weight * v);
                self.neighbours(i).for_each(|j| axpy(-self.unit(), x.row(j), out));
            }
        }
    }

    /// CX ← CX + C(:, i)·Δ after row i of X changed by Δ.
    pub fn move_row(&self, cx: &mut RowMat, i: usize, delta: &[f64]) {
        match self {
            Self::Dense(d) => {
                for (l, c) in d.c.row(i).iter().enumerate() {
                    axpy(*c, delta, cx.row_mut(l)); // a row of C is a column
                }
            }
            _ => {
                axpy(self.weights(i), delta, cx.row_mut(i));
                self.neighbours(i).for_each(|j| axpy(-self.unit(), delta, cx.row_mut(j)));
            }
        }
    }

    /// Brings CX up to date after rows i and j of X changed by `di` and `dj`.
    pub fn move_pair(&self, cx: &mut RowMat, (i, j): (usize, usize), (di, dj): (&[f64], &[f64])) {
        match self {
            Self::Dense(d) => dispatch(MovePair { c: (d.c.row(i), d.c.row(j)), by: (di, dj), cx }),
            _ => {
                self.move_row(cx, i, di);
                self.move_row(cx, j, dj);
            }
        }
    }

    /// y ← C†ρ.
    pub fn solve(&self, rho: &[f64], y: &mut [f64]) {
        match self {
            Self::Dense(d) => y.iter_mut().enumerate().for_each(|(i, y)| *y = inner(d.inverse.row(i), rho)),
            Self::Chain(c) => c.solve(rho, y),
            Self::Grid(g) => g.solve(rho, y),
        }
    }

    /// (C†)ᵢⱼ.
    pub fn inverse(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Dense(d) => d.inverse.get(i, j),
            Self::Chain(c) => c.inverse(i, j),
            Self::Grid(g) => g.inverse().get(i, j),
        }
    }

    /// y ← y + c·C†(:, i). Cost O(n).
    pub fn add_inverse_column(&self, i: usize, c: f64, y: &mut [f64]) {
        match self {
            Self::Dense(d) => axpy(c, d.inverse.row(i), y),
            Self::Chain(chain) => y.iter_mut().enumerate().for_each(|(j, y)| *y += c * chain.inverse(i, j)),
            Self::Grid(g) => axpy(c, g.inverse().row(i), y),
        }
    }

    /// y ← y + a·C†(:, i) + b·C†(:, j). Cost O(n).
    pub fn add_inverse_columns(&self, (i, j): (usize, usize), (a, b): (f64, f64), y: &mut [f64]) {
        let stored = match self {
            Self::Dense(d) => &d.inverse,
            Self::Grid(g) => g.inverse(),
            Self::Chain(_) => {
                self.add_inverse_column(i, a, y);
                self.add_inverse_column(j, b, y);
                return;
            }
        };
        let (ci, cj) = (stored.row(i), stored.row(j));
        dispatch(|| y.iter_mut().zip(ci).zip(cj).for_each(|((y, ci), cj)| *y += a * ci + b * cj));
    }

    /// ‖C‖₂ and ‖C†‖₂.
    pub fn norms(&self) -> [f64; 2] {
        let n = self.n();
        match self {
            Self::Dense(d) => d.norms,
            Self::Chain(c) => [eigenvalue(n, n - 1) * c.unit, 1.0 / eigenvalue(n, 0) / c.unit],
            Self::Grid(g) => [
                (eigenvalue(g.p, g.p - 1) + eigenvalue(g.q, g.q - 1)) * g.unit,
                1.0 / (eigenvalue(g.p, 0) + eigenvalue(g.q, 0)) / g.unit,
            ],
        }
    }

    /// The eigenvectors of C for its r smallest eigenvalues (n × r).
    pub fn lowest(&self, r: usize) -> RowMat {
        match self {
            Self::Dense(d) => {
                debug_assert!(d.values.is_sorted());
                RowMat::from_fn(self.n(), r, |i, k| d.vectors.get(i, k))
            }
            Self::Chain(c) => RowMat::from_fn(c.n(), r, |i, k| sine(c.n(), i, k)),
            Self::Grid(g) => {
                let order = ascending_to(g.p * g.q, &|e| eigenvalue(g.p, e / g.q) + eigenvalue(g.q, e % g.q));
                RowMat::from_fn(self.n(), r, |i, k| {
                    let (a, b) = (order[k] / g.q, order[k] % g.q);
                    g.sines_p.get(i / g.q, a) * g.sines_q.get(i % g.q, b)
                })
            }
        }
    }
}
