//! Files opened: batches of rows, whatever the file.

use std::fmt::Display;
use std::io::{BufReader, Cursor, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;

use crate::error::DataError;
use crate::input::Input;
use crate::memory::Budget;
use crate::text::said;

/// Rows of a batch of Parquet, which are made at once.
const BATCH: usize = 1024;

/// The batches of a file.
pub(super) struct Batches {
    reader: Box<dyn RecordBatchReader>,
    /// Columns, and what programs say of them.
    pub(super) schema: SchemaRef,
    /// Memory that reading may take.
    pub(super) budget: Budget,
    /// Number of rows that the file states.
    pub(super) rows: Option<usize>,
    size: u64,
    begun: usize,
    all: Option<usize>, // batches
}

impl Batches {
    /// The next one, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        self.begun += 1;
        read(&self.budget, || self.reader.next().transpose())
    }

    /// Bytes of the file read so far, as far as batches are alike.
    pub(super) fn bytes(&self) -> u64 {
        let share = self.all.map_or(0.0, |all| self.begun as f64 / all.max(1) as f64);
        (self.size as f64 * share.min(1.0)) as u64
    }
}

pub(super) fn parquet(mut input: Input) -> Result<Batches, DataError> {
    if !input.peek()?.starts_with(b"PAR1") {
        return Err(input.file_error("it is not a Parquet file: it does not begin with `PAR1`"));
    }
    match input.file() {
        Some(file) => parquet_in(file, &input),
        None => parquet_in(Bytes::from(input.read_rest()?), &input),
    }
}

fn parquet_in<T: ChunkReader + 'static>(bytes: T, input: &Input) -> Result<Batches, DataError> {
    let budget = input.budget().clone();
    let size = input.size().unwrap_or(0); // that of a compressed file is not known
    let builder = read(&budget, || ParquetRecordBatchReaderBuilder::try_new(bytes))?;
    let schema = builder.schema().clone(); // that of the reader knows less
    let rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let reader = Box::new(read(&budget, || builder.with_batch_size(BATCH).build())?);
    Ok(Batches { reader, schema, budget, rows: Some(rows), size, begun: 0, all: Some(rows.div_ceil(BATCH)) })
}

pub(super) fn ipc(mut input: Input) -> Result<Batches, DataError> {
    let start = input.peek()?;
    if start.starts_with(b"FEA1") {
        return Err(input.file_error(
            "it is a Feather file of version 1; write it again with a newer pyarrow, which writes version 2",
        ));
    }
    if start.starts_with(b"ARROW1") {
        return match input.file() {
            Some(file) => ipc_in(BufReader::new(file), &input),
            None => ipc_in(Cursor::new(input.read_rest()?), &input),
        };
    }
    if !start.starts_with(&[0xff; 4]) {
        return Err(
            input.file_error("it is not an Arrow IPC (Feather) file: it does not begin with `ARROW1`")
        );
    }
    let (budget, size) = (input.budget().clone(), input.size().unwrap_or(0));
    let reader = read(&budget, || StreamReader::try_new(input, None))?;
    let schema = reader.schema();
    Ok(Batches { reader: Box::new(reader), schema, budget, rows: None, size, begun: 0, all: None })
}

fn ipc_in<R: Read + Seek + 'static>(bytes: R, input: &Input) -> Result<Batches, DataError> {
    let (budget, size) = (input.budget().clone(), input.size().unwrap_or(0));
    let reader = read(&budget, || FileReader::try_new(bytes, None))?;
    let (all, schema) = (Some(reader.num_batches()), reader.schema());
    Ok(Batches { reader: Box::new(reader), schema, budget, rows: None, size, begun: 0, all })
}

/// Runs a read of a library. Its readers stop with an assertion at some damaged bytes, which is an error like others
/// here; after it no more is read from them.
fn read<T, E: Display>(budget: &Budget, work: impl FnOnce() -> Result<T, E>) -> Result<T, DataError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| broken(budget, &error)),
        Err(_) => Err(broken(budget, &"its parts contradict each other")),
    }
}

/// Error for a file in which the readers of bytes find something wrong.
pub(super) fn broken(budget: &Budget, error: &dyn Display) -> DataError {
    let problem = format!(
        "it is truncated or damaged, or has a form that is not supported ({}); write it again",
        said(error)
    );
    DataError::File { path: budget.place().into(), problem }
}
