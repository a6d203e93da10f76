use super::{Quadratic, Smooth, Unpacked, Usage};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::simd::Simd;

/// f(X) + ⟨E, X⟩ for another model f, borrowed: majorise-linearise methods change E again and
/// again, and the image of f stays valid when they do.
#[derive(Clone, Copy, Debug)]
pub struct Tilted<'b, F> {
    /// f.
    pub f: &'b F,
    /// The linear term.
    pub e: &'b RowMat,
}

impl<F: Quadratic> Smooth for Tilted<'_, F> {
    fn nrows(&self) -> usize {
        self.f.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.e.ncols())
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.f.value(x) + self.e.inner(x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.f.gradient(x, g);
        axpy(1.0, self.e.data(), g.data_mut());
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }

    fn lipschitz(&self) -> Option<f64> {
        self.f.lipschitz()
    }

    fn step_curvature(&self, columns: usize) -> Option<f64> {
        self.f.step_curvature(columns)
    }

    fn is_concave(&self) -> bool {
        self.f.is_concave()
    }

    fn is_quadratic(&self) -> bool {
        self.f.is_quadratic()
    }
}

impl<F: Quadratic> Quadratic for Tilted<'_, F> {
    type Image = F::Image;

    fn image(&self, x: &RowMat) -> F::Image {
        self.f.image(x)
    }

    #[inline(always)]
    fn gradient_row<'a>(
        &'a self,
        image: &'a F::Image,
        x: &RowMat,
        i: usize,
        buf: &'a mut [f64],
    ) -> &'a [f64] {
        if self.f.keeps_gradient(image) {
            // the row is a slice of the image and needs no buffer
            let row = self.f.gradient_row(image, x, i, &mut []);
            buf.copy_from_slice(row);
        } else {
            self.f.gradient_row(image, x, i, buf);
        }
        axpy(1.0, self.e.row(i), buf);
        buf
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        self.f.curvature(i, j)
    }

    #[inline(always)]
    fn pair_curvature(&self, pair: (usize, usize), pivot: usize, unpacked: &mut Unpacked) -> [f64; 3] {
        self.f.pair_curvature(pair, pivot, unpacked)
    }

    fn curvature_block(&self, rows: &[usize]) -> RowMat {
        self.f.curvature_block(rows)
    }

    #[inline(always)]
    fn move_pair<S: Simd>(&self, simd: S, image: &mut F::Image, i: usize, j: usize, di: &[f64], dj: &[f64]) {
        self.f.move_pair(simd, image, i, j, di, dj);
    }

    fn move_block(&self, image: &mut F::Image, rows: &[usize], delta: &RowMat) {
        self.f.move_block(image, rows, delta);
    }

    fn value_at(&self, image: &F::Image, x: &RowMat) -> f64 {
        self.f.value_at(image, x) + self.e.inner(x)
    }

    fn column_weights(&self) -> Option<&[f64]> {
        self.f.column_weights()
    }

    fn diagonal(&self) -> Vec<f64> {
        self.f.diagonal()
    }

    fn apply(&self, v: &RowMat) -> RowMat {
        self.f.apply(v)
    }

    fn apply_few(&self, vectors: &[Vec<(usize, f64)>]) -> RowMat {
        self.f.apply_few(vectors)
    }

    fn keeps_gradient(&self, image: &F::Image) -> bool {
        self.f.keeps_gradient(image)
    }

    fn rebalance(&self, image: &mut F::Image, x: &RowMat, usage: Usage) -> bool {
        self.f.rebalance(image, x, usage)
    }

    fn bookkeeping(&self, image: &F::Image) -> String {
        self.f.bookkeeping(image)
    }
}
