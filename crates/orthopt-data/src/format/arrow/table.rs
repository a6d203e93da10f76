//! Batches on their way into a matrix, all of them or some rows at a time.

use std::collections::HashSet;

use super::layout::Layout;
use super::open::{Batches, broken};
use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::format::rows::{Rows, Words};
use crate::memory::Budget;
use crate::stream::{Chunk, Chunks};
use crate::table::{self, HowRead, Marks, checked_weights, is_identifier};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

/// A table that is read.
pub(super) struct Table {
    batches: Batches,
    layout: Layout,
    marks: Marks,                 // what stands for a missing value
    pending: Option<RecordBatch>, // rows that were not requested so far
    rows: Rows,
    ended: bool,    // no batch is left
    finished: bool, // and the last rows have been given away
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
        if layout.numbers.is_empty() || batches.rows == Some(0) {
            let (rows, columns) = (batches.rows.unwrap_or(0), layout.numbers.len());
            return Err(DataError::Empty { place, rows, columns });
        }
        let marks = Marks::default().with_missing(&options.table.na);
        let of_rows = table::Layout::of_numbers(layout.names.clone(), layout.how.clone());
        let rows = Rows::new(Some(of_rows), options);
        Ok(Self { batches, layout, marks, pending, rows, ended: false, finished: false })
    }

    /// The table as a whole.
    pub(super) fn into_data(mut self) -> Result<DataSet, DataError> {
        if let Some(rows) = self.batches.rows {
            // the numbers, and once more as a matrix
            self.batches.budget.check(rows.saturating_mul(16 * self.layout.numbers.len()))?;
        }
        self.fill(usize::MAX)?;
        self.rows.into_data(self.batches.budget.place()).map_err(|(error, _)| error)
    }

    /// Reads so many more rows, or all that there are.
    fn fill(&mut self, mut rows: usize) -> Result<(), DataError> {
        while rows > 0 {
            let next = match self.pending.take() {
                Some(batch) => Some(batch),
                None => self.batches.next()?,
            };
            let Some(batch) = next else {
                self.ended = true;
                return Ok(());
            };
            let wanted = rows.min(batch.num_rows());
            self.push(&batch.slice(0, wanted))?;
            rows -= wanted;
            let left = batch.num_rows() - wanted;
            self.pending = (left > 0).then(|| batch.slice(wanted, left));
        }
        Ok(())
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<(), DataError> {
        let (rows, budget) = (batch.num_rows(), &self.batches.budget);
        let needed = 16 * rows * self.layout.numbers.len() + batch.get_array_memory_size();
        budget.check(self.rows.bytes() + needed)?;
        let numbers = |at: &usize| -> Result<Vec<f64>, DataError> {
            let cells = arrow_cast::cast(batch.column(*at), &DataType::Float64);
            let cells = cells.map_err(|error| broken(budget, &error))?;
            Ok(cells.as_primitive::<Float64Type>().iter().map(|cell| cell.unwrap_or(f64::NAN)).collect())
        };
        let mut columns: Vec<Vec<f64>> = self.layout.numbers.iter().map(numbers).collect::<Result<_, _>>()?;
        let missing = columns.iter_mut().flatten().filter(|value| self.marks.is_missing_number(**value));
        missing.for_each(|value| *value = f64::NAN);
        let weights = self.layout.weights.as_ref().map(numbers).transpose()?;
        let weights = weights.map(|all| checked_weights(all, budget.place())).transpose()?;
        let words_of = |at: Option<usize>| at.map(|at| words(batch.column(at), budget)).transpose();
        let mut names = words_of(self.layout.row_names)?.map(Vec::into_iter);
        let mut groups = words_of(self.layout.labels)?.map(Vec::into_iter);
        let others: Vec<ArrayRef> = self
            .layout
            .words
            .iter()
            .map(|at| arrow_cast::cast(batch.column(*at), &DataType::Utf8))
            .collect::<Result<_, _>>()
            .map_err(|error| broken(budget, &error))?;
        let others: Vec<&StringArray> = others.iter().map(|column| column.as_string()).collect();
        let mut row = vec![0.0; columns.len()];
        for i in 0..rows {
            row.iter_mut().zip(&columns).for_each(|(value, column)| *value = column[i]);
            if let Some(k) = row.iter().position(|value| value.is_infinite()) {
                let (place, row, value) = (budget.place().into(), self.rows.count() + 1, row[k]);
                return Err(DataError::NotFinite { place, row, column: k + 1, value });
            }
            let words = Words {
                name: names.as_mut().and_then(Iterator::next),
                group: groups.as_mut().and_then(Iterator::next),
                weight: weights.as_ref().map(|weights| weights[i]),
                others: others.iter().filter(|c| c.is_valid(i)).map(|c| c.value(i)).collect(),
            };
            let is_null = |k: usize| {
                let nulls = batch.column(self.layout.numbers[k]).logical_nulls();
                nulls.is_some_and(|nulls| nulls.is_null(i))
            };
            self.rows.push_numbers(&row, words, |k| if is_null(k) { "null" } else { "`NaN`" }.into());
        }
        Ok(())
    }
}

/// Words as they are written; one that is null is empty.
fn words(cells: &ArrayRef, budget: &Budget) -> Result<Vec<String>, DataError> {
    let formats = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(cells, &formats);
    let formatter = formatter.map_err(|error| broken(budget, &error))?;
    let word = |i: usize| formatter.value(i).try_to_string().map_err(|error| broken(budget, &error));
    (0..cells.len()).map(word).collect()
}

/// True if whole numbers under the name of an identifier are all different.
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
        let rows = (numbers / self.layout.numbers.len()).max(1);
        loop {
            if self.finished {
                return Ok(None);
            }
            self.fill(rows)?;
            self.finished = self.ended;
            let chunk = self.rows.chunk(self.ended, self.batches.budget.place())?;
            if chunk.is_some() {
                return Ok(chunk);
            }
        }
    }

    fn how(&self) -> Option<&HowRead> {
        self.rows.layout.as_ref().map(|layout| &layout.how)
    }

    fn names(&self) -> Option<Vec<String>> {
        Some(self.layout.names.clone())
    }

    fn bytes(&self) -> u64 {
        self.batches.bytes()
    }
}
