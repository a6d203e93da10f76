//! Images of X that GS-JOBCD keeps for f = ½tr(XᵀMXN), so that a pair costs O(n).
//!
//! With (Y, A, B) = (X, M, N) for pairs of rows and (Xᵀ, N, M) for pairs of columns, f = ½tr(AS),
//! S = YBYᵀ, and [∇f̃(Y)Yᵀ]_BB = A(B, :)S(:, B).
//!
//! * [`Image::Full`] keeps S. A pair needs four inner products (none where A = I), a move turns two
//!   rows of Y and two rows and columns of S.
//! * [`Image::Half`], for A = I and B = KKᵀ, keeps F = YK instead, S = FFᵀ: three inner products
//!   and two more rows to turn, all of them contiguous.

use crate::jpair::JMove;
use orthopt_core::smooth::{JQuadratic, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::kernels::{dot, pair_products};
use orthopt_linalg::products::{multiply, product};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// The rows that move, and what is kept of them.
#[derive(Clone, Debug)]
pub(super) enum Image {
    Full { y: RowMat, s: RowMat, columns: bool },
    Half { y: RowMat, f: RowMat },
}

/// One block of A, S and W = AS.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub w: [[f64; 2]; 2], // [∇f̃(Y)Yᵀ]_BB
    pub a: [f64; 3],      // A₁₁, A₁₂, A₂₂
    pub s: [f64; 3],      // S₁₁, S₁₂, S₂₂
}

impl Image {
    /// For X; `columns` keeps its transpose. Cost up to 4n³ flops.
    pub fn new(q: &JQuadratic, x: &RowMat, columns: bool, half: bool) -> Self {
        let y = if columns { transpose(x) } else { x.clone() };
        let n = y.nrows();
        let mut image = match (half && columns, q.factor()) {
            (true, Some(_)) => Self::Half { y, f: RowMat::zeros(n, n) },
            _ => Self::Full { y, s: RowMat::zeros(n, n), columns },
        };
        image.refresh(q);
        image
    }

    /// S or F afresh from Y.
    pub fn refresh(&mut self, q: &JQuadratic) {
        match self {
            Self::Half { y, f } => {
                if let Some(k) = q.factor() {
                    product(f, false, 1.0, y.as_mat(), k.as_mat());
                }
            }
            Self::Full { y, s, columns } => {
                let b = if *columns { Some(q.m()) } else { q.n() };
                let by = match b {
                    None => y.clone(),
                    Some(b) => multiply(y.as_mat(), b.as_mat()),
                };
                product(s, false, 1.0, by.as_mat(), y.as_mat().transpose());
                // rows are read for columns, so S must be symmetric to the bit
                for i in 0..s.nrows() {
                    (0..i).for_each(|j| s.set(j, i, s.get(i, j)));
                }
            }
        }
    }

    /// Y.
    pub fn y(&self) -> &RowMat {
        match self {
            Self::Full { y, .. } | Self::Half { y, .. } => y,
        }
    }

    /// Y, to be repaired; [`Self::refresh`] must follow.
    pub fn y_mut(&mut self) -> &mut RowMat {
        match self {
            Self::Full { y, .. } | Self::Half { y, .. } => y,
        }
    }

    pub fn columns(&self) -> bool {
        matches!(self, Self::Half { .. } | Self::Full { columns: true, .. })
    }

    /// X.
    pub fn x(&self) -> RowMat {
        if self.columns() { transpose(self.y()) } else { self.y().clone() }
    }

    /// f(X).
    pub fn value(&self, q: &JQuadratic) -> f64 {
        match self {
            Self::Half { f, .. } => 0.5 * f.inner(f),
            Self::Full { s, columns, .. } => match Self::a(q, *columns) {
                None => 0.5 * (0..s.nrows()).map(|i| s.get(i, i)).sum::<f64>(),
                Some(a) => 0.5 * a.inner(s),
            },
        }
    }

    /// ½Σ|Wᵢᵢ|, a size of f that does not cancel.
    pub fn size(&self, q: &JQuadratic) -> f64 {
        match self {
            Self::Half { .. } => self.value(q),
            Self::Full { s, columns, .. } => {
                let diagonal = |i: usize| match Self::a(q, *columns) {
                    None => s.get(i, i),
                    Some(a) => a.row(i).iter().zip(s.row(i)).map(|(x, y)| x * y).sum(),
                };
                0.5 * (0..s.nrows()).map(|i| diagonal(i).abs()).sum::<f64>()
            }
        }
    }

    fn a(q: &JQuadratic, columns: bool) -> Option<&RowMat> {
        if columns { q.n() } else { Some(q.m()) }
    }

    /// The blocks of rows i and j. Cost at most 14n flops.
    #[inline]
    pub fn block(&self, q: &JQuadratic, i: usize, j: usize) -> Block {
        match self {
            Self::Half { f, .. } => {
                let s = gram_of(f.row(i), f.row(j));
                Block { w: [[s[0], s[1]], [s[1], s[2]]], a: [1.0, 0.0, 1.0], s }
            }
            Self::Full { s, columns, .. } => {
                let block = [s.get(i, i), s.get(i, j), s.get(j, j)];
                match Self::a(q, *columns) {
                    None => {
                        let w = [[block[0], block[1]], [block[1], block[2]]];
                        Block { w, a: [1.0, 0.0, 1.0], s: block }
                    }
                    Some(a) => {
                        let w = cross_of((a.row(i), a.row(j)), (s.row(i), s.row(j)));
                        Block { w, a: [a.get(i, i), a.get(i, j), a.get(j, j)], s: block }
                    }
                }
            }
        }
    }

    /// [Y Yᵀ]_BB.
    pub fn gram(&self, i: usize, j: usize) -> [f64; 3] {
        gram_of(self.y().row(i), self.y().row(j))
    }

    /// Y(B, :) ← V Y(B, :) for i < j. Cost O(n).
    #[inline]
    pub fn turn(&mut self, i: usize, j: usize, v: &JMove) {
        match self {
            Self::Half { y, f } => {
                let (y1, y2) = y.two_rows_mut(i, j);
                v.apply_wide(y1, y2);
                let (f1, f2) = f.two_rows_mut(i, j);
                v.apply_wide(f1, f2);
            }
            Self::Full { y, s, .. } => {
                let (y1, y2) = y.two_rows_mut(i, j);
                v.apply_wide(y1, y2);
                let [s11, s12, s22] = v.congruence([s.get(i, i), s.get(i, j), s.get(j, j)]);
                let (s1, s2) = s.two_rows_mut(i, j);
                v.apply_wide(s1, s2);
                // the columns are the rows
                for k in 0..s.nrows() {
                    let (a, b) = (s.get(i, k), s.get(j, k));
                    s.set(k, i, a);
                    s.set(k, j, b);
                }
                s.set(i, i, s11);
                s.set(i, j, s12);
                s.set(j, i, s12);
                s.set(j, j, s22);
            }
        }
    }

    /// Largest norm of the rows i and j of Y.
    pub fn reach(&self, i: usize, j: usize) -> f64 {
        super::row_norm(self.y().row(i)).max(super::row_norm(self.y().row(j)))
    }

    /// A bound L of the curvature of f̃ along rows: L·ZZᵀ ⊗ I₂ majorises.
    pub fn curvature(q: &JQuadratic) -> f64 {
        q.lipschitz().unwrap_or(f64::INFINITY)
    }
}

/// `[u·u, u·v, v·v]`.
#[inline]
pub(super) fn gram_of(u: &[f64], v: &[f64]) -> [f64; 3] {
    struct Gram<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Gram<'_> {
        type Output = [f64; 3];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [f64; 3] {
            [dot(simd, self.0, self.0), dot(simd, self.0, self.1), dot(simd, self.1, self.1)]
        }
    }
    dispatch(Gram(u, v))
}

/// The products of two pairs of rows.
#[inline]
fn cross_of(g: (&[f64], &[f64]), z: (&[f64], &[f64])) -> [[f64; 2]; 2] {
    struct Cross<'a>((&'a [f64], &'a [f64]), (&'a [f64], &'a [f64]));
    impl WithSimd for Cross<'_> {
        type Output = [[f64; 2]; 2];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [[f64; 2]; 2] {
            let [a, b, c, d, ..] = pair_products(simd, self.0.0, self.0.1, self.1.0, self.1.1);
            [[a, b], [c, d]]
        }
    }
    dispatch(Cross(g, z))
}
