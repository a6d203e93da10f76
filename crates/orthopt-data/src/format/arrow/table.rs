//! Batches on their way into a matrix, all of them or some rows at a time.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use faer::Mat;

use super::layout::Layout;
use super::open::{Batches, broken};
use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::format::rows::samples_of;
use crate::memory::Budget;
use crate::missing::Missing;
use crate::stream::{Chunk, Chunks};
use crate::table::{HowRead, Marks, checked_weights, is_identifier};
use crate::text::show;

/// A table that is read.
pub(super) struct Table {
    batches: Batches,
    layout: Layout,
    missing: Missing,
    options: LoadOptions,
    marks: Marks,                 // what stands for a missing value
    pending: Option<RecordBatch>, // rows that nobody wanted so far
    done: usize,                  // rows that have been given away
    columns: Vec<Vec<f64>>,
    row_names: Vec<String>,
    groups: Vec<String>,
    weights: Vec<f64>,
}

/// Rows that decide whether a column only tells them apart, as in tables of text, and the fewest that do.
const LOOKED_AT: usize = 200;
const COUNTED: usize = 5;

impl Table {
    pub(super) fn new(mut batches: Batches, options: &LoadOptions) -> Result<Self, DataError> {
        let pending = batches.next()?;
        let is_index = |at: usize| pending.as_ref().is_some_and(|batch| tells_rows_apart(batch, at));
        let place = batches.budget.place().to_string();
        let layout = Layout::of(&batches.schema, &options.table, &place, is_index)?;
        let columns = vec![Vec::new(); layout.numbers.len()];
        if columns.is_empty() || batches.rows == Some(0) {
            let (rows, columns) = (batches.rows.unwrap_or(0), columns.len());
            return Err(DataError::Empty { place, rows, columns });
        }
        let (row_names, groups, weights) = (Vec::new(), Vec::new(), Vec::new());
        let marks = Marks::default().with_missing(&options.table.na);
        let missing = options.missing;
        Ok(Self {
            batches,
            layout,
            missing,
            options: options.clone(),
            marks,
            pending,
            done: 0,
            columns,
            row_names,
            groups,
            weights,
        })
    }

    /// The table as a whole.
    pub(super) fn into_data(mut self) -> Result<DataSet, DataError> {
        if let Some(rows) = self.batches.rows {
            // the columns, and once more as a matrix
            self.batches.budget.check(rows.saturating_mul(16 * self.columns.len()))?;
        }
        self.fill(usize::MAX)?;
        let mut data = DataSet::new(self.matrix()?, self.batches.budget.place());
        data.row_names = self.layout.row_names.map(|_| self.row_names);
        data.groups = self.layout.labels.map(|_| self.groups);
        data.weights = self.layout.weights.map(|_| self.weights);
        data.names = Some(self.layout.names);
        data.how = self.layout.how;
        samples_of(data, &self.options)
    }

    fn rows(&self) -> usize {
        self.columns[0].len()
    }

    /// Reads on until there are so many rows, or no more.
    fn fill(&mut self, rows: usize) -> Result<(), DataError> {
        while self.rows() < rows {
            let next = match self.pending.take() {
                Some(batch) => Some(batch),
                None => self.batches.next()?,
            };
            let Some(batch) = next else { return Ok(()) };
            let wanted = (rows - self.rows()).min(batch.num_rows());
            self.push(&batch.slice(0, wanted))?;
            let left = batch.num_rows() - wanted;
            self.pending = (left > 0).then(|| batch.slice(wanted, left));
        }
        Ok(())
    }

    /// The rows that have been read, which are given away.
    fn matrix(&mut self) -> Result<Mat<f64>, DataError> {
        let (rows, columns) = (self.rows(), self.columns.len());
        if rows + self.done == 0 {
            return Err(DataError::Empty { place: self.batches.budget.place().into(), rows, columns });
        }
        let values: Vec<Vec<f64>> = self.columns.iter_mut().map(std::mem::take).collect();
        self.done += rows;
        Ok(Mat::from_fn(rows, columns, |i, j| values[j][i]))
    }

    /// Bytes that the table takes with one more batch: the numbers, once more as a matrix, names, and the batch.
    fn bytes(&self, batch: &RecordBatch) -> usize {
        let numbers: usize = self.columns.iter().map(|column| column.capacity() + column.len()).sum();
        let names = size_of::<String>() * self.row_names.capacity();
        8 * (numbers + 2 * batch.num_rows() * self.columns.len()) + names + batch.get_array_memory_size()
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<(), DataError> {
        self.batches.budget.check(self.bytes(batch))?;
        let before = self.rows();
        let mut first_wrong: Option<(usize, usize)> = None;
        for (k, at) in self.layout.numbers.iter().enumerate() {
            let cells = arrow_cast::cast(batch.column(*at), &DataType::Float64);
            let cells = cells.map_err(|error| broken(&self.batches.budget, &error))?;
            let cells = cells.as_primitive::<Float64Type>();
            let marks = &self.marks;
            let value =
                |cell: Option<f64>| cell.filter(|value| !marks.is_missing_number(*value)).unwrap_or(f64::NAN);
            self.columns[k].extend(cells.iter().map(value));
            let welcome =
                |value: f64| value.is_finite() || (value.is_nan() && self.missing != Missing::Error);
            let wrong = self.columns[k][before..].iter().position(|value| !welcome(*value));
            first_wrong = first_wrong.into_iter().chain(wrong.map(|i| (i, k))).min();
        }
        if let Some((i, k)) = first_wrong {
            return Err(self.wrong(before, i, k, batch));
        }
        if let Some(at) = self.layout.row_names {
            words(batch.column(at), &self.batches.budget, &mut self.row_names)?;
        }
        if let Some(at) = self.layout.labels {
            words(batch.column(at), &self.batches.budget, &mut self.groups)?;
        }
        if let Some(at) = self.layout.weights {
            let cells = arrow_cast::cast(batch.column(at), &DataType::Float64);
            let cells = cells.map_err(|error| broken(&self.batches.budget, &error))?;
            let cells = cells.as_primitive::<Float64Type>().iter().map(|cell| cell.unwrap_or(f64::NAN));
            self.weights.extend(checked_weights(cells.collect(), self.batches.budget.place())?);
        }
        Ok(())
    }

    /// A cell, counted in the batch, that is no number.
    fn wrong(&self, before: usize, i: usize, k: usize, batch: &RecordBatch) -> DataError {
        let place = self.batches.budget.place().into();
        let (row, column, value) = (self.done + before + i + 1, k + 1, self.columns[k][before + i]);
        if !value.is_nan() {
            return DataError::NotFinite { place, row, column, value };
        }
        let name = format!(" ({})", show(self.layout.names[k].as_bytes()));
        let null = batch.column(self.layout.numbers[k]).logical_nulls().is_some_and(|nulls| nulls.is_null(i));
        let text = if null { "null" } else { "`NaN`" }.into();
        DataError::Missing { place, row, column, name, text }
    }
}

/// Words as they are written; one that is null is empty.
fn words(cells: &ArrayRef, budget: &Budget, into: &mut Vec<String>) -> Result<(), DataError> {
    let formats = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(cells, &formats);
    let formatter = formatter.map_err(|error| broken(budget, &error))?;
    for i in 0..cells.len() {
        let word = formatter.value(i).try_to_string();
        into.push(word.map_err(|error| broken(budget, &error))?);
    }
    Ok(())
}

/// Whether whole numbers under the name of an identifier are all different.
fn tells_rows_apart(batch: &RecordBatch, at: usize) -> bool {
    let (schema, column) = (batch.schema(), batch.column(at));
    let rows = column.len().min(LOOKED_AT);
    if rows < COUNTED
        || !is_identifier(schema.field(at).name().trim())
        || !schema.field(at).data_type().is_numeric()
    {
        return false;
    }
    let Ok(cells) = arrow_cast::cast(&column.slice(0, rows), &DataType::Float64) else { return false };
    let values: Vec<f64> =
        cells.as_primitive::<Float64Type>().iter().map(|cell| cell.unwrap_or(f64::NAN)).collect();
    let different: HashSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    different.len() == rows && values.iter().all(|value| value.fract() == 0.0)
}

impl Chunks for Table {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        let first = self.done;
        self.fill((numbers / self.columns.len()).max(1))?;
        self.row_names.clear();
        self.groups.clear();
        if self.rows() == 0 && first > 0 {
            return Ok(None);
        }
        let weights = std::mem::take(&mut self.weights);
        let chunk = Chunk::new(first, self.matrix()?);
        Ok(Some(if self.layout.weights.is_some() { chunk.weighted(weights) } else { chunk }))
    }

    fn how(&self) -> Option<&HowRead> {
        Some(&self.layout.how)
    }

    fn names(&self) -> Option<Vec<String>> {
        Some(self.layout.names.clone())
    }

    fn bytes(&self) -> u64 {
        self.batches.bytes()
    }
}
