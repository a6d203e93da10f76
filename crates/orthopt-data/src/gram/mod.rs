//! C = AᵀA and the sums of the columns of rows that come in chunks.
//!
//! [`GramAccumulator`] keeps count, sums and C of all rows so far (the lower triangle, packed) in one of two ways.
//!
//! **Compensated** ([`Summation::Compensated`], the default): of every entry a the distance d = a − s from a number s
//! is kept, near the mean of the column where that is more than 4 standard deviations from 0, and 0 elsewhere. Blocks
//! of at most 512 rows of d are multiplied in f64 and added to pairs of f64 with the rounding errors kept (two-sum). s
//! may change from chunk to chunk, and differ between accumulators that are merged: the sums are moved in pairs of f64
//! (Chan, Golub and LeVeque 1983). So a mean costs no digits: for centred columns |C'ⱼₖ − Cⱼₖ| ≤ √(bⱼ·bₖ) with
//! bⱼ = 1560·2⁻⁵³·Σd², of all d as they were added ([`GramAccumulator::rounding`]), however many rows there are, and
//! in practice some 2⁻⁵³·√512·Σd². A column that is not constant and whose centred square is not ten times bⱼ is an
//! error. Columns whose squares would overflow or underflow are kept in units of a power of two. For a given chunking
//! and machine the result has the same bits for any number of threads. Cost per row: n² flops (half a matrix product).
//! Memory: 16 bytes for each of n²/2 entries.
//!
//! **Reproducible** ([`Summation::Reproducible`]): the sums are *exact*, so that chunking, order and merging cannot
//! change them, and C is rounded once when it is asked for (|C' − C| ≤ 2⁻⁵³·|C|, bit for bit the same from dense and
//! sparse chunks, on any machine). Entries of a block are cut into slices of 22 bits relative to the largest of their
//! column (Ozaki, Ogita, Oishi and Rump 2012: products of slices by GEMM have no rounding errors; mixed ones by
//! Karatsuba's trick); what lies below the third slice of the few entries that are much smaller goes one by one. The
//! products are added to integers of four words (Kulisch's idea), of more where a column needs them. Entries are
//! taken as multiples of 2⁻¹⁶⁰ up to 2¹⁶⁰ (7·10⁻⁴⁹ to 1.5·10⁴⁸); a column that is all smaller than 10⁻²⁸ is an error
//! when it would have lost digits, one that is larger is an error at once. Cost per row: 6 half products for numbers
//! with all 53 bits, 3 for single precision, 1 for whole numbers up to 2²¹. Memory: 32 bytes for each of n²/2 entries.
//!
//! A column of ones (of √w with weights) in front of the others makes sums and count entries of the same triangle. The
//! smallest and the largest value of each column are kept too: a column is constant where they are the same, and its
//! centred row and column of C are zeros.

mod block;
mod bytes;
mod compensated;
mod exact;
mod finish;
mod frame;
#[cfg(test)]
mod fuzz;
mod pair;
mod rows;
mod slices;
mod wide;

use faer::{Mat, MatRef};

use crate::error::DataError;
use crate::memory::Budget;
use block::{Block, height, rows_of_block, triangle};
use compensated::Compensated;
use exact::{Exact, LARGEST};
use frame::Frame;
use pair::{Pair, plus, scaled, times};

pub(crate) use frame::Range;
pub use rows::{Rows, SparseRows};

/// Arithmetic of the sums; see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summation {
    /// Fast, with the same bits for the same chunks.
    #[default]
    Compensated,
    /// Exact, with the same bits for the same rows.
    Reproducible,
}

/// Relative error in the square of a column after the mean is subtracted from exact sums, rounded to pairs of f64;
/// with weights, whose products with the entries are rounded, too.
const EXACT: f64 = 1.0 / (1_u128 << 98) as f64;

/// Count, sums and C = AᵀA of rows that are added chunk by chunk.
///
/// ```
/// use orthopt_data::{GramAccumulator, Rows, Summation};
///
/// let rows = faer::mat![[1.0, 2.0], [0.1, 0.0], [3.0, -1.0]];
/// let mut all = GramAccumulator::new(2, Summation::Reproducible, "the data", None)?;
/// all.add(Rows::Dense(rows.as_ref()), None)?;
/// let mut parts = all.empty()?;
/// parts.add(Rows::Dense(rows.as_ref().subrows(2, 1)), None)?;
/// let mut others = all.empty()?;
/// others.add(Rows::Dense(rows.as_ref().subrows(0, 2)), None)?;
/// parts.merge(&others)?;
/// assert_eq!((parts.rows(), parts.gram()?), (3, all.gram()?));
/// # Ok::<(), orthopt_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GramAccumulator {
    columns: usize,
    rows: u64,
    chunks: u64,
    names: Option<Vec<String>>,
    place: String,
    ranges: Vec<Range>,
    sums: Sums,
}

#[derive(Clone, Debug)]
enum Sums {
    Compensated(Compensated),
    Exact(Exact),
}

impl GramAccumulator {
    /// No rows of n columns. `place` names the data in errors; `max_memory` bytes may be taken, nine tenths of what
    /// is free if not given.
    ///
    /// # Errors
    /// [`DataError::Memory`] with what is needed, before any of it is taken; [`DataError::Empty`] for no columns.
    pub fn new(
        columns: usize,
        how: Summation,
        place: &str,
        max_memory: Option<u64>,
    ) -> Result<Self, DataError> {
        if columns == 0 {
            return Err(DataError::Empty { place: place.into(), rows: 0, columns });
        }
        let budget = Budget::new(format!("{place}: the sums of {columns} columns"), max_memory);
        budget.check(Self::needed(columns, how))?;
        let sums = match how {
            Summation::Compensated => Sums::Compensated(Compensated::new(columns + 1)),
            Summation::Reproducible => Sums::Exact(Exact::new(columns + 1)),
        };
        let ranges = vec![Range::EMPTY; columns];
        Ok(Self { columns, rows: 0, chunks: 0, names: None, place: place.into(), ranges, sums })
    }

    /// Bytes for the sums of `columns` columns, and for blocks of rows and their products.
    pub fn needed(columns: usize, how: Summation) -> usize {
        // the usual three slices are six factors
        let (entry, copies, products) = match how {
            Summation::Compensated => (16, 1, 1),
            Summation::Reproducible => (8 * exact::WIDTH, 8, 6),
        };
        let size = columns.saturating_add(1);
        let rows = rows_of_block(size) * copies + height(size) * products * rayon::current_num_threads();
        let work = size.saturating_mul(8 * rows);
        (size.saturating_mul(size + 1) / 2).saturating_mul(entry).saturating_add(work)
    }

    /// An accumulator like this one, without rows.
    ///
    /// # Errors
    /// Memory does not suffice.
    pub fn empty(&self) -> Result<Self, DataError> {
        let how = if self.is_reproducible() { Summation::Reproducible } else { Summation::Compensated };
        Ok(Self { names: self.names.clone(), ..Self::new(self.columns, how, &self.place, None)? })
    }

    /// Adds a chunk of rows, row i as often as `weights[i]` says (any number of at least 0). With weights, rows are
    /// multiplied by their roots, rounded.
    ///
    /// Cost: see the [module](self); m·nnz²/2 steps where less than 15 % of the entries of sparse rows are there.
    ///
    /// # Errors
    /// Nothing is added where the chunk has another number of columns, an entry is NaN or infinite (named by chunk
    /// and row), or weights are not as many as rows, or negative.
    pub fn add(&mut self, rows: Rows<'_>, weights: Option<&[f64]>) -> Result<(), DataError> {
        let place = format!("{}, chunk {}", self.place, self.chunks.saturating_add(1));
        if rows.columns() != self.columns {
            let (found, expected) = (rows.columns(), self.columns);
            return Err(DataError::Width { place, found, expected });
        }
        let most = if self.is_reproducible() { wide::power_of_two(LARGEST) } else { f64::MAX };
        let roots = roots(weights, rows.len(), &place)?;
        rows.check(&roots, most, &place)?;
        self.add_checked(rows, &roots);
        self.rows = self.rows.saturating_add(rows.len() as u64);
        self.chunks = self.chunks.saturating_add(1);
        Ok(())
    }

    fn add_checked(&mut self, rows: Rows<'_>, roots: &[f64]) {
        let ranges = rows.ranges(roots);
        if let Sums::Compensated(sums) = &mut self.sums {
            sums.make_room(&rows, roots, &ranges);
        }
        self.ranges.iter_mut().zip(ranges).for_each(|(range, other)| range.join(other));
        match (&mut self.sums, rows) {
            (Sums::Compensated(sums), Rows::Sparse(sparse)) if !rows.are_dense() => {
                sums.add_sparse(&sparse, roots);
            }
            (Sums::Exact(sums), Rows::Sparse(sparse)) if !rows.are_dense() => sums.add_sparse(&sparse, roots),
            (sums, rows) => {
                let (size, columns) = (rows_of_block(self.columns + 1), self.columns + 1);
                let plain = vec![Frame::default(); self.columns];
                for from in (0..rows.len()).step_by(size) {
                    let mut block = Block::new(size.min(rows.len() - from), columns);
                    match sums {
                        Sums::Compensated(sums) => {
                            rows.fill(from, roots, &sums.frames[1..], &mut block);
                            sums.add_block(&block);
                        }
                        Sums::Exact(sums) => {
                            rows.fill(from, roots, &plain, &mut block);
                            sums.add_block(&mut block);
                        }
                    }
                }
            }
        }
    }

    /// Adds all rows of another accumulator.
    ///
    /// # Errors
    /// Other columns, or another way of summation.
    pub fn merge(&mut self, other: &Self) -> Result<(), DataError> {
        if self.columns != other.columns {
            let (place, expected) = (other.place.clone(), self.columns);
            return Err(DataError::Width { place, found: other.columns, expected });
        }
        if let (Some(names), Some(others)) = (&self.names, &other.names) {
            check_names(names, others, &other.place)?;
        }
        match (&mut self.sums, &other.sums) {
            (Sums::Compensated(sums), Sums::Compensated(others)) => sums.merge(others),
            (Sums::Exact(sums), Sums::Exact(others)) => sums.merge(others),
            _ => {
                let problem =
                    "one accumulator is reproducible and the other is not; make both of one kind".into();
                return Err(DataError::File { path: other.place.clone(), problem });
            }
        }
        self.ranges.iter_mut().zip(&other.ranges).for_each(|(range, other)| range.join(*other));
        // counts of bytes from elsewhere may be anything
        self.rows = self.rows.saturating_add(other.rows);
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.names = self.names.take().or_else(|| other.names.clone());
        Ok(())
    }

    /// Columns of zeros for all rows so far, behind the others.
    ///
    /// # Errors
    /// Memory does not suffice.
    pub fn widen(&mut self, columns: usize, max_memory: Option<u64>) -> Result<(), DataError> {
        if columns <= self.columns {
            return Ok(());
        }
        let how = if self.is_reproducible() { Summation::Reproducible } else { Summation::Compensated };
        let budget = Budget::new(format!("{}: the sums of {columns} columns", self.place), max_memory);
        budget.check(Self::needed(columns, how))?;
        match &mut self.sums {
            Sums::Compensated(sums) => sums.widen(columns + 1),
            Sums::Exact(sums) => sums.widen(columns + 1),
        }
        let zeros = if self.rows > 0 { Range { low: 0.0, high: 0.0 } } else { Range::EMPTY };
        self.ranges.resize(columns, zeros);
        self.columns = columns;
        self.names = None;
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of columns n.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// True if the sums are exact.
    pub fn is_reproducible(&self) -> bool {
        matches!(self.sums, Sums::Exact(_))
    }

    /// The sum of the weights: the number of rows where there are none.
    pub fn weight(&self) -> f64 {
        self.entry(0, 0).0
    }

    /// The (weighted) sum of each column.
    pub fn sums(&self) -> Vec<f64> {
        let weight = self.entry(0, 0);
        let sum = |j: usize| {
            let frame = self.frame(j);
            let about = scaled(self.entry(j + 1, 0), frame.factor().recip());
            plus(about, times(weight, (frame.shift, 0.0))).0
        };
        (0..self.columns).map(sum).collect()
    }

    /// C = AᵀA, n × n, of the rows as they are.
    ///
    /// # Errors
    /// A column of a reproducible accumulator is so small that digits were lost; the square of a column overflows or
    /// underflows.
    pub fn gram(&self) -> Result<Mat<f64>, DataError> {
        let all: Vec<usize> = (0..self.columns).collect();
        Ok(self.prepared(&crate::prepare::Prepare::default(), &all)?.0)
    }

    /// Names of the columns, where they are known.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The accumulator with names for its columns.
    ///
    /// # Errors
    /// Not one for each column.
    pub fn named(self, names: Vec<String>) -> Result<Self, DataError> {
        if names.len() != self.columns {
            let problem = format!("{} names for {} columns", names.len(), self.columns);
            return Err(DataError::File { path: self.place, problem });
        }
        Ok(Self { names: Some(names), ..self })
    }

    /// The accumulator with another name of the data in errors.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { place: place.into(), ..self }
    }

    /// Bound of the difference between the square Cⱼⱼ of each column, with its mean subtracted, and that of sums
    /// without rounding. For two columns it is the root of the product. 2⁻⁵²·|Cⱼₖ| for the rounding of the result comes
    /// on top.
    pub fn rounding(&self) -> Vec<f64> {
        let back = |j: usize| self.frame(j).factor().recip();
        (0..self.columns).map(|j| self.rounding_of(j) * back(j) * back(j)).collect()
    }

    /// Bound as in [`rounding`](Self::rounding), in the units of the column.
    fn rounding_of(&self, j: usize) -> f64 {
        match &self.sums {
            Sums::Compensated(sums) => sums.rounding(j + 1),
            Sums::Exact(sums) => EXACT * sums.entry(j + 1, j + 1).0,
        }
    }

    /// Coordinates in which column j is summed: those of the data if sums are exact.
    fn frame(&self, j: usize) -> Frame {
        match &self.sums {
            Sums::Compensated(sums) => sums.frames[j + 1],
            Sums::Exact(_) => Frame::default(),
        }
    }

    fn entry(&self, j: usize, k: usize) -> Pair {
        match &self.sums {
            Sums::Compensated(sums) => sums.entry(j, k),
            Sums::Exact(sums) => sums.entry(j, k),
        }
    }

    fn bytes(&self) -> usize {
        let entries = triangle(self.columns + 1);
        match &self.sums {
            Sums::Compensated(_) => 16 * entries,
            Sums::Exact(sums) => 8 * sums.width * entries + 24 * (self.columns + 1),
        }
    }

    fn check_sizes(&self) -> Result<(), DataError> {
        let Sums::Exact(sums) = &self.sums else { return Ok(()) };
        let Some(column) = sums.lost() else { return Ok(()) };
        let problem = format!(
            "column {column} is so small that reproducible sums lose digits of it (they keep multiples of 2^-160); \
             scale it"
        );
        Err(DataError::TooLarge { place: self.place.clone(), problem })
    }
}

/// √w for each row.
fn roots(weights: Option<&[f64]>, rows: usize, place: &str) -> Result<Vec<f64>, DataError> {
    let Some(weights) = weights else { return Ok(vec![1.0; rows]) };
    let problem = if weights.len() != rows {
        format!("{} weights for {rows} rows", weights.len())
    } else if let Some(i) = weights.iter().position(|w| !(0.0..=f64::MAX).contains(w)) {
        format!("the weight of row {} is {}; weights are finite and at least 0", i + 1, weights[i])
    } else {
        return Ok(weights.iter().map(|w| w.sqrt()).collect());
    };
    Err(DataError::File { path: place.into(), problem })
}

/// The first column that is missing among others, or stands elsewhere, as an error.
pub(crate) fn check_names(names: &[String], others: &[String], place: &str) -> Result<(), DataError> {
    let Some(at) = (0..names.len().max(others.len())).find(|at| names.get(*at) != others.get(*at)) else {
        return Ok(());
    };
    let shown = |name: &String| crate::text::show(name.as_bytes());
    let problem = match (names.get(at), others.get(at)) {
        (Some(name), _) if !others.contains(name) => format!("column {} is missing", shown(name)),
        (Some(name), Some(_)) => format!("column {} is not column {}, as before", shown(name), at + 1),
        (_, other) => format!("column {} is new", other.map_or(String::new(), shown)),
    };
    let advice = "all parts need the same columns in the same order";
    Err(DataError::File { path: place.into(), problem: format!("{problem}; {advice}") })
}

/// A matrix as rows.
impl<'a> From<MatRef<'a, f64>> for Rows<'a> {
    fn from(matrix: MatRef<'a, f64>) -> Self {
        Self::Dense(matrix)
    }
}
