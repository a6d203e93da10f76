//! C and C² as a search examines them: products with sparse X, blocks on a few rows, diagonals; in units of a power of two.

use super::super::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::is_zero;
use orthopt_linalg::parallel::map;
use orthopt_linalg::products::{add_rows_product, gram, is_sparse, product, sparse_product};
use orthopt_linalg::unit::power_of_two;
use orthopt_linalg::work::count;

/// Number of variables up to which C, and C² where it is examined, are kept as dense matrices: 32 MB each.
const KEPT: usize = 2048;
/// Columns that are multiplied at once where C² has no dense matrix.
const PANEL: usize = 64;

/// C divided by a power of two near its largest entry, so that nothing depends on the unit of the data.
#[derive(Clone, Debug)]
pub struct Covariance {
    unit: f64,
    diagonal: Vec<f64>,
    squares: Option<Vec<f64>>, // diagonal of C²
    c: Option<RowMat>,
    c2: Option<RowMat>,
}

impl Covariance {
    /// C where `f` is −½ tr(XᵀCX); C² only where `squares` says so. Cost n²m, or n³ with C².
    pub fn new(f: &impl Quadratic, squares: bool) -> Self {
        let n = f.nrows();
        let diagonal: Vec<f64> = f.diagonal().iter().map(|v| -v).collect();
        let unit = power_of_two(diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs())));
        let diagonal = diagonal.iter().map(|v| v / unit).collect();
        let c = (n <= KEPT).then(|| {
            count(8 * n * n);
            let columns = map(n, 8, |i| f.column(i));
            RowMat::from_fn(n, n, |i, j| -columns[i.min(j)][i.max(j)] / unit)
        });
        let c2 = c.as_ref().filter(|_| squares).map(gram);
        let squares = squares.then(|| match &c2 {
            Some(c2) => (0..n).map(|i| c2.get(i, i)).collect(),
            None => Self::squares_of_columns(f, unit),
        });
        Self { unit, diagonal, squares, c, c2 }
    }

    /// Of a matrix that is C in units of its own, positive semidefinite.
    pub fn of_matrix(c: RowMat, squares: bool) -> Self {
        let diagonal = (0..c.nrows()).map(|i| c.get(i, i)).collect();
        let c2 = squares.then(|| gram(&c));
        let squares = c2.as_ref().map(|c2| (0..c2.nrows()).map(|i| c2.get(i, i)).collect());
        Self { unit: 1.0, diagonal, squares, c: Some(c), c2 }
    }

    /// C, where it is kept.
    pub fn matrix(&self) -> Option<&RowMat> {
        self.c.as_ref()
    }

    fn squares_of_columns(f: &impl Quadratic, unit: f64) -> Vec<f64> {
        let n = f.nrows();
        let mut out = Vec::with_capacity(n);
        for start in (0..n).step_by(PANEL) {
            let few: Vec<_> = (start..n.min(start + PANEL)).map(|i| vec![(i, 1.0)]).collect();
            let columns = f.apply_few(&few);
            out.extend(
                (0..few.len()).map(|k| columns.row(k).iter().map(|v| (v / unit).powi(2)).sum::<f64>()),
            );
        }
        out
    }

    /// Divisor of C.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Cᵢᵢ.
    pub fn diagonal(&self, i: usize) -> f64 {
        self.diagonal[i]
    }

    /// √Cᵢᵢ.
    pub fn deviation(&self, i: usize) -> f64 {
        self.diagonal[i].max(0.0).sqrt()
    }

    /// (C²)ᵢᵢ, 0 where C² is not examined.
    pub fn square(&self, i: usize) -> f64 {
        self.squares.as_ref().map_or(0.0, |squares| squares[i])
    }

    /// Σᵢ |xᵢⱼ|√Cᵢᵢ of each column of X, whose square the entries of XᵀCX are added up from.
    pub fn sizes(&self, x: &RowMat) -> Vec<f64> {
        let mut out = vec![0.0; x.ncols()];
        for i in (0..x.nrows()).filter(|i| !is_zero(x.row(*i))) {
            let deviation = self.deviation(i);
            out.iter_mut().zip(x.row(i)).for_each(|(size, v)| *size += v.abs() * deviation);
        }
        out
    }

    /// The scale of the variance of this number of components: the largest Cᵢᵢ for each.
    pub fn scale(&self, components: usize) -> f64 {
        components as f64 * self.diagonal.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
    }

    /// CX. Cost n times the entries of the nonzero rows of X where C is kept, or n times those of X where they are few.
    pub fn times(&self, f: &impl Quadratic, x: &RowMat) -> RowMat {
        self.multiplied(f, self.c.as_ref(), x)
    }

    /// C²X, for M = CX.
    pub fn twice(&self, f: &impl Quadratic, x: &RowMat, m: &RowMat) -> RowMat {
        match &self.c2 {
            Some(c2) => self.multiplied(f, Some(c2), x),
            None => self.multiplied(f, None, m),
        }
    }

    fn multiplied(&self, f: &impl Quadratic, matrix: Option<&RowMat>, x: &RowMat) -> RowMat {
        match matrix {
            Some(matrix) => {
                let rows: Vec<usize> = (0..x.nrows()).filter(|i| !is_zero(x.row(*i))).collect();
                let entries = x.data().iter().filter(|v| **v != 0.0).count();
                if is_sparse(entries, rows.len(), x.ncols()) {
                    return sparse_product(matrix, x);
                }
                let part = RowMat::from_fn(rows.len(), x.ncols(), |a, k| x.get(rows[a], k));
                let mut out = RowMat::zeros(x.nrows(), x.ncols());
                add_rows_product(&mut out, matrix, &rows, &part);
                out
            }
            None => {
                let mut out = f.apply(x);
                out.data_mut().iter_mut().for_each(|v| *v = -*v / self.unit);
                out
            }
        }
    }

    /// C², where it is kept.
    pub fn square_matrix(&self) -> Option<&RowMat> {
        self.c2.as_ref()
    }

    /// C on some rows and columns, where there are few enough to keep it.
    pub fn block(&self, f: &impl Quadratic, rows: &[usize]) -> Option<RowMat> {
        match &self.c {
            Some(c) => Some(part(c, rows)),
            None => (rows.len() <= KEPT).then(|| block(f, rows, self.unit)),
        }
    }

    /// C² on some rows and columns, likewise.
    pub fn square_block(&self, f: &impl Quadratic, rows: &[usize]) -> Option<RowMat> {
        match &self.c2 {
            Some(c2) => Some(part(c2, rows)),
            None if rows.len() <= KEPT => {
                let few: Vec<_> = rows.iter().map(|i| vec![(*i, 1.0)]).collect();
                let mut columns = f.apply_few(&few);
                columns.data_mut().iter_mut().for_each(|v| *v /= self.unit);
                let mut out = RowMat::zeros(rows.len(), rows.len());
                let transposed = columns.as_mat().transpose();
                product(&mut out, false, 1.0, columns.as_mat(), transposed);
                Some(out.symmetric_part())
            }
            None => None,
        }
    }
}

fn block(f: &impl Quadratic, rows: &[usize], unit: f64) -> RowMat {
    let mut c = f.curvature_block(rows);
    c.data_mut().iter_mut().for_each(|v| *v = -*v / unit);
    c
}

fn part(c: &RowMat, rows: &[usize]) -> RowMat {
    RowMat::from_fn(rows.len(), rows.len(), |a, b| c.get(rows[a], rows[b]))
}
