//! A file opened for writing, compressed when its name ends in `.gz`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::DataError;
use crate::input::is_named_gzip;

/// Creates the file, lets `body` write into it, and reports any failure, including one that only
/// shows when the last bytes leave the buffer (a full disk).
pub(crate) fn write_to(
    path: &Path,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    create_and_write(path, body).map_err(|error| DataError::Io {
        action: "write",
        path: path.display().to_string(),
        error,
    })
}

fn create_and_write(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, File::create(path)?);
    if is_named_gzip(path) {
        // The encoder looks at every write; a buffer in front spares it the single numbers.
        let encoder = GzEncoder::new(&mut file, Compression::default());
        let mut buffered = BufWriter::with_capacity(1 << 16, encoder);
        body(&mut buffered)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    } else {
        body(&mut file)?;
    }
    file.flush()
}
