//! Spreadsheets in a build without the feature `spreadsheet`: what to do instead.

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::stream::Chunks;

pub(super) fn read(input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    Err(absent(&input))
}

pub(super) fn chunks(input: Input, _: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Err(absent(&input))
}

fn absent(input: &Input) -> DataError {
    input.file_error(
        "this build reads no spreadsheets: save the sheet as CSV (UTF-8), or build with the feature `spreadsheet` \
         (`cargo install --locked --path crates/orthopt-cli --features spreadsheet`)",
    )
}
