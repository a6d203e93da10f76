//! Tables in Parquet and Arrow IPC (Feather) files: columns of numbers with their names, which come in batches of
//! rows. The rules are those of tables in text: a first column of text names the rows, what is null or NaN is a missing
//! value.

mod layout;
mod open;
mod table;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::stream::Chunks;
use table::Table;

pub(super) fn read_parquet(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    Table::new(open::parquet(input)?, options)?.into_data()
}

pub(super) fn parquet_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Ok(Box::new(Table::new(open::parquet(input)?, options)?))
}

pub(super) fn read_ipc(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    Table::new(open::ipc(input)?, options)?.into_data()
}

pub(super) fn ipc_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Ok(Box::new(Table::new(open::ipc(input)?, options)?))
}
