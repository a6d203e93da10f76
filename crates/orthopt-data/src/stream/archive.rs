//! Accumulators in `.npz` files: C as `X`, for other programs, and the sums for more rows.

use std::path::Path;

use crate::error::DataError;
use crate::format::{accumulator_bytes, write_with_accumulator};
use crate::gram::GramAccumulator;

/// Writes an accumulator to an `.npz` file: `X` is C of the rows as they are (n × n, for `--gram` and
/// `numpy.load`), `accumulator` holds the bytes of [`GramAccumulator::to_bytes`].
///
/// # Errors
/// [`DataError::Io`] when the file cannot be written; a reproducible accumulator that lost digits.
pub fn write_accumulator(path: &Path, sums: &GramAccumulator) -> Result<(), DataError> {
    let c = sums.gram()?;
    write_with_accumulator(path, c.as_ref(), &sums.to_bytes())
}

/// The accumulator in an `.npz` file; `None` where it is no such file or has none.
///
/// # Errors
/// A file that cannot be read, or an accumulator that is broken.
pub fn read_accumulator(path: &Path, max_memory: Option<u64>) -> Result<Option<GramAccumulator>, DataError> {
    let npz = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
    if !npz || !path.is_file() {
        return Ok(None);
    }
    let place = path.display().to_string();
    let bytes = accumulator_bytes(path, max_memory)?;
    bytes.map(|bytes| GramAccumulator::from_bytes(&bytes, &place)).transpose()
}
