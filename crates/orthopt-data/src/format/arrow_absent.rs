//! Parquet and Arrow files in a build without the feature `parquet`: what to do instead.

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::stream::Chunks;

pub(super) use read as read_ipc;
pub(super) use read as read_parquet;
pub(super) use {chunks as ipc_chunks, chunks as parquet_chunks};

pub(super) fn read(input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    Err(absent(&input))
}

pub(super) fn chunks(input: Input, _: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Err(absent(&input))
}

fn absent(input: &Input) -> DataError {
    input.file_error(
        "this build does not read Parquet and Arrow files: build it with the feature `parquet` (`cargo install --locked \
         --path crates/orthopt-cli --features parquet`), convert the file to .csv or .npy, or solve in Python, which \
         reads it with pyarrow or polars",
    )
}
