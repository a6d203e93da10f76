//! The largest eigenvalues of a symmetric operator C with their eigenvectors: block Krylov iteration
//! with thick restarts.
//!
//! ```text
//! V = [B]                                      B: n × b, orthonormal
//! repeat
//!   Y = CB;  H = VᵀY;  Y ← Y − VH;  Y = QR     T(:, B) = H, T = VᵀCV
//!   TS = SΘ, θ₁ ≥ θ₂ ≥ ...                     residual of (VS)ₖ: ‖R·S(B, k)‖
//!   if V is full: V ← V·S(:, 1..keep), T ← Θ   the residuals of all of them lie in span Q
//!   B = Q made orthogonal to V once more;  V ← [V, B]
//! ```
//!
//! Golub and Underwood's block Lanczos method with the restarts of Wu and Simon (2000). As every new
//! block is made orthogonal to all of V, T is computed and not assumed to be banded, and nothing is
//! lost by rounding. A block of b columns sees eigenvalues of multiplicity b; a single vector sees one
//! copy of each.

use super::RowMat;
use super::cholesky::cholesky_qr;
use super::eigen::symmetric_eigenpairs;
use super::products::{cross_of, product};
use super::sequential::qr;

/// Length of a column of Q before scaling, relative to ‖T‖, below which it is rounding.
const NOISE: f64 = 1e-13;
/// Number of first steps without a test of convergence.
const BLIND: usize = 3;

/// State of the iteration.
#[derive(Clone, Debug)]
pub struct BlockKrylov {
    wanted: usize, // r
    keep: usize,
    v: RowMat,    // n × most, columns 0..size are V
    t: RowMat,    // most × most, VᵀCV of the columns before `block`, and of those done
    block: usize, // B = V(:, block..size)
    size: usize,  // columns of V
    steps: usize,
    next: Option<RowMat>, // Q of the last step
    ritz: Option<Ritz>,
    scale: f64, // the largest |θ| so far
}

/// Θ, descending, and S.
#[derive(Clone, Debug)]
struct Ritz {
    values: Vec<f64>,
    vectors: RowMat,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// Nothing yet.
    Nothing,
    /// ‖CX − XΘ‖_F of the r leading Ritz vectors X, relative to the largest |θ|.
    Residual(f64),
    /// A number that is not finite, or an eigenvalue routine that did not converge.
    Broken,
}

/// Maximum number of columns of V for r eigenvectors by blocks of b: many steps between
/// restarts for narrow blocks, few if V would be large.
pub fn most_columns(n: usize, b: usize) -> usize {
    let blocks = match b {
        0..=10 => 10,
        11..=32 => 7,
        _ => 4,
    };
    n.min((blocks * b).max(32))
}

impl BlockKrylov {
    /// The iteration for the r leading eigenvectors from a first block with orthonormal columns
    /// (n × b, b ≥ r).
    pub fn new(first: &RowMat, r: usize) -> Self {
        let (n, b) = (first.nrows(), first.ncols());
        let most = most_columns(n, b);
        let mut v = RowMat::zeros(n, most);
        put(&mut v, 0, first);
        Self {
            wanted: r,
            keep: (r + b).min(most.saturating_sub(b)).max(r),
            v,
            t: RowMat::zeros(most, most),
            block: 0,
            size: b,
            steps: 0,
            next: None,
            ritz: None,
            scale: 0.0,
        }
    }

    /// One step. `apply` is B ↦ CB. Cost a product and 8n·b·(columns of V) flops.
    pub fn step(&mut self, apply: impl Fn(&RowMat) -> RowMat) -> Found {
        self.extend();
        let b = self.size - self.block;
        let mut y = apply(&columns(&self.v, self.block, self.size));
        let h = self.project_out(&mut y);
        self.store(&h);
        if y.find_non_finite().is_some() || h.find_non_finite().is_some() {
            return Found::Broken;
        }
        self.scale = self.scale.max(h.data().iter().fold(0.0f64, |m, x| m.max(x.abs())));
        let (q, r) = factor(&y);
        let kept: Vec<usize> = (0..b).filter(|k| r.get(*k, *k).abs() > NOISE * self.scale).collect();
        let room = self.v.nrows() - self.size;
        let exhausted = kept.is_empty() || room == 0;
        self.next = Some(RowMat::from_fn(q.nrows(), kept.len().min(room), |i, k| q.get(i, kept[k])));
        self.steps += 1;
        if self.steps < BLIND && !exhausted && self.fits() {
            return Found::Nothing;
        }
        let Some((values, vectors)) = symmetric_eigenpairs(&leading_block(&self.t, self.size)) else {
            return Found::Broken;
        };
        let residual = if exhausted { 0.0 } else { residual(&r, &vectors, (self.block, self.wanted)) };
        let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let residual = if largest > 0.0 { residual / largest } else { 0.0 };
        self.ritz = Some(Ritz { values, vectors });
        Found::Residual(residual)
    }

    /// The r leading Ritz vectors (n × r, orthonormal to rounding), best first, and their values; `None`
    /// before there are any. Cost 2n·r·(columns of V) flops.
    pub fn leading(&self) -> Option<(Vec<f64>, RowMat)> {
        let ritz = self.ritz.as_ref()?;
        Some((ritz.values[..self.wanted].to_vec(), self.vectors(ritz, self.wanted)))
    }

    /// Their Σθₖ, once there are any.
    pub fn trace(&self) -> Option<f64> {
        self.ritz.as_ref().map(|ritz| ritz.values[..self.wanted].iter().sum())
    }

    /// True if V is full: the next step begins with a restart.
    pub fn is_full(&self) -> bool {
        !self.fits()
    }

    /// True if the next block has room in V.
    fn fits(&self) -> bool {
        self.next.as_ref().is_none_or(|q| self.size + q.ncols() <= self.v.ncols())
    }

    /// V(:, 1..size)·S(:, 1..k).
    fn vectors(&self, ritz: &Ritz, k: usize) -> RowMat {
        let mut x = RowMat::zeros(self.v.nrows(), k);
        let rows = ritz.vectors.nrows(); // those of V when they were found
        let (v, s) = (self.v.as_mat().subcols(0, rows), ritz.vectors.as_mat().subcols(0, k));
        product(&mut x, false, 1.0, v, s);
        x
    }

    /// Adds the Q of the last step to V, after a restart where V is full.
    fn extend(&mut self) {
        let Some(mut q) = self.next.take() else { return };
        if self.size + q.ncols() > self.v.ncols()
            && let Some(mut ritz) = self.ritz.take()
        {
            let keep = self.keep.min(self.size);
            let x = self.vectors(&ritz, keep);
            put(&mut self.v, 0, &x);
            self.t.data_mut().fill(0.0);
            (0..keep).for_each(|k| self.t.set(k, k, ritz.values[k]));
            ritz.vectors = RowMat::from_fn(keep, keep, |i, k| f64::from(u8::from(i == k)));
            (self.size, self.ritz) = (keep, Some(ritz));
        }
        self.project_out(&mut q);
        let q = cholesky_qr(&q).unwrap_or_else(|| factor(&q).0);
        put(&mut self.v, self.size, &q);
        (self.block, self.size) = (self.size, self.size + q.ncols());
    }

    /// Y ← Y − V(VᵀY); VᵀY.
    fn project_out(&self, y: &mut RowMat) -> RowMat {
        let v = self.v.as_mat().subcols(0, self.size);
        let h = cross_of(v, y.as_mat());
        product(y, true, -1.0, v, h.as_mat());
        h
    }

    /// T(:, B) = H and its mirror image.
    fn store(&mut self, h: &RowMat) {
        for i in 0..self.size {
            for k in self.block..self.size {
                let mirrored =
                    if i >= self.block { h.get(k, i - self.block) } else { h.get(i, k - self.block) };
                let value = 0.5 * (h.get(i, k - self.block) + mirrored);
                self.t.set(i, k, value);
                self.t.set(k, i, value);
            }
        }
    }
}

/// ‖R·S(B, 1..r)‖_F.
fn residual(r: &RowMat, s: &RowMat, (block, wanted): (usize, usize)) -> f64 {
    let mut out = RowMat::zeros(r.nrows(), wanted);
    let of_block = s.as_mat().submatrix(block, 0, r.ncols(), wanted);
    product(&mut out, false, 1.0, r.as_mat(), of_block);
    out.norm()
}

/// Y = QR (n × b, n ≥ b; where n < b the first n columns of Q count).
fn factor(y: &RowMat) -> (RowMat, RowMat) {
    let (q, _) = qr(y.as_mat());
    let q = RowMat::from_mat(q.as_ref());
    let r = cross_of(q.as_mat(), y.as_mat());
    (q, r)
}

fn columns(v: &RowMat, from: usize, to: usize) -> RowMat {
    let mut out = RowMat::zeros(v.nrows(), to - from);
    (0..v.nrows()).for_each(|i| out.row_mut(i).copy_from_slice(&v.row(i)[from..to]));
    out
}

fn put(v: &mut RowMat, from: usize, columns: &RowMat) {
    let to = from + columns.ncols();
    (0..v.nrows()).for_each(|i| v.row_mut(i)[from..to].copy_from_slice(columns.row(i)));
}

fn leading_block(t: &RowMat, size: usize) -> RowMat {
    RowMat::from_fn(size, size, |i, k| t.get(i, k))
}
