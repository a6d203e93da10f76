//! File formats: one file each, and one line in the registry below.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(not(feature = "parquet"))]
#[path = "arrow_absent.rs"]
mod arrow;
mod delimited;
mod foreign;
pub(crate) mod guess;
mod json;
mod libsvm;
mod mat;
mod matrix_market;
mod matrix_market_rows;
mod npy;
mod npy_header;
mod npz;
mod npz_archive;
mod npz_sparse;
mod rows;
mod single_cell;
#[cfg(feature = "spreadsheet")]
mod spreadsheet;
#[cfg(not(feature = "spreadsheet"))]
#[path = "spreadsheet_absent.rs"]
mod spreadsheet;
mod table;

use std::io::{self, Write};
use std::path::Path;

use faer::{Mat, MatRef};

use crate::dataset::{DataSet, Role};
use crate::error::DataError;
use crate::input::{Input, uncompressed};
use crate::missing::Missing;
use crate::output;
use crate::stream::{Chunks, Whole};
use crate::table::{TableOptions, arranged};

/// Options of reading a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Treatment of missing values: cells such as `NA` in tables, NaN in dense arrays.
    pub missing: Missing,
    /// Number of columns of a LIBSVM file, which does not state it: columns beyond the largest
    /// index are empty, and an index beyond this number is an error. Without it the largest
    /// index decides. The other formats state their width and ignore this; to select leading
    /// columns use [`Prepare::features`](crate::Prepare::features).
    pub features: Option<usize>,
    /// The matrix is C itself.
    pub gram: bool,
    /// Options of tables: columns, names, labels, weights, marks of numbers.
    pub table: TableOptions,
    /// Bytes of memory that reading may take; nine tenths of what is free unless given. It is checked while
    /// reading, so that a small file that holds very much costs little.
    pub max_memory: Option<u64>,
}

type ReadFn = fn(Input, &LoadOptions) -> Result<DataSet, DataError>;
type ChunksFn = fn(Input, &LoadOptions) -> Result<Box<dyn Chunks>, DataError>;
type WriteFn = fn(&DataSet, &mut dyn Write) -> io::Result<()>;

struct Format {
    extensions: &'static [&'static str],
    about: &'static str,
    read: ReadFn,
    /// Reads the file part by part.
    chunks: ChunksFn,
    /// `None` for what is read only.
    write: Option<WriteFn>,
}

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    Format { extensions: &["svm", "libsvm"], read: libsvm::read, chunks: libsvm::chunks, write: Some(libsvm::write),
        about: "LIBSVM text, `label index:value ...`, indices from 1; sparse" },
    Format { extensions: &["mtx"], read: matrix_market::read, chunks: matrix_market_rows::chunks, write: Some(matrix_market::write),
        about: "Matrix Market, coordinate (sparse) or array (dense)" },
    Format { extensions: &["npy"], read: npy::read, chunks: npy::chunks, write: Some(npy::write),
        about: "NumPy array; dense" },
    Format { extensions: &["npz"], read: npz::read, chunks: npz::chunks, write: Some(npz::write),
        about: "NumPy archive: the array X, data, arr_0 or the only one, or scipy.sparse.save_npz" },
    Format { extensions: &["mat"], read: mat::read, chunks: mat::chunks, write: None,
        about: "MATLAB file (not version 7.3): the numeric matrix X, data, fea, A or the only one, full or sparse; read only" },
    Format { extensions: &["csv"], read: delimited::read_csv, chunks: delimited::csv_chunks, write: Some(delimited::write_csv),
        about: "values separated by commas or ;, with or without names of columns and rows (as written by R and \
                pandas); dense" },
    Format { extensions: &["tsv"], read: delimited::read_tsv, chunks: delimited::tsv_chunks, write: Some(delimited::write_tsv),
        about: "values separated by tabs, otherwise as .csv" },
    Format { extensions: &["parquet"], read: arrow::read_parquet, chunks: arrow::parquet_chunks, write: None,
        about: "Parquet table, with names of columns and rows as .csv; read only, by builds with the feature `parquet`; dense" },
    Format { extensions: &["arrow", "feather"], read: arrow::read_ipc, chunks: arrow::ipc_chunks, write: None,
        about: "Arrow IPC table (Feather version 2), otherwise as .parquet" },
    Format { extensions: &["xlsx", "xls", "xlsb", "ods"], read: spreadsheet::read, chunks: spreadsheet::chunks, write: None,
        about: "sheet of a spreadsheet, otherwise as .csv; read only" },
    Format { extensions: &["json", "jsonl", "ndjson"], read: json::read, chunks: json::chunks, write: None,
        about: "records of JSON, all in a list or one a line, or columns, otherwise as .csv; read only" },
    Format { extensions: &["txt", "dat", "data", "tab", "asc", "prn", "raw", "gct"], read: delimited::read_txt, chunks: delimited::txt_chunks, write: Some(delimited::write_tsv),
        about: "a table whose separator (tab, ;, comma or spaces) is detected, otherwise as .csv" },
];

pub use npz::NpzArray;
pub use rows::{FrameCells, FrameColumn, Framed, framed};
pub use table::{Table, write_table};

/// The file formats: extensions and one line about each.
pub fn formats() -> Vec<(String, &'static str)> {
    FORMATS.iter().map(|format| (dotted(format.extensions), format.about)).collect()
}

/// All extensions, for messages.
pub(crate) fn known_extensions() -> String {
    extensions(|_| true)
}

fn extensions(wanted: impl Fn(&Format) -> bool) -> String {
    let wanted = FORMATS.iter().filter(|format| wanted(format));
    wanted.map(|format| dotted(format.extensions)).collect::<Vec<_>>().join(", ")
}

/// Reads a data file; the extension decides the format, of names that have none that is known the first bytes. Compression
/// is recognised by itself.
///
/// # Errors
/// [`DataError`] when there is no such file, when it cannot be read or understood, when it holds
/// no rows or no columns, or when a value is NaN or infinite.
pub fn read_file(path: &Path, options: &LoadOptions) -> Result<DataSet, DataError> {
    let cells = single_cell::Companions::of(path)?;
    let path = cells.as_ref().map_or(path, |cells| &cells.matrix);
    let (input, format) = opened(path, options.max_memory)?;
    // a triangle of C may be empty
    let missing = if options.gram { Missing::Keep } else { options.missing };
    let data = (format.read)(input, &LoadOptions { missing, ..options.clone() })?;
    let data = match cells {
        Some(cells) => cells.named(data)?,
        None => data,
    };
    finished(data, options)
}

/// A file that is open, and its format; of an archive with one table that of the table.
fn opened(path: &Path, max_memory: Option<u64>) -> Result<(Input, &'static Format), DataError> {
    let format = format_of(path);
    // A missing file is the likelier mistake than a wrong extension, so it is named first.
    let input = Input::open(path)
        .map_err(|error| error.with_known(|| format!("DATA can be a file ({})", known_extensions())))?;
    let mut input = input.within(max_memory);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip")) {
        let inside = input.unpacked(|name| format_of(Path::new(name)).is_ok())?;
        let format = format_of(Path::new(&inside))?;
        return Ok((input, format));
    }
    let format = or_recognised(format, &mut input)?;
    Ok((input, format))
}

/// Reads a data set from standard input, whose first bytes tell the format.
///
/// # Errors
/// As [`read_file`].
pub fn read_stdin(options: &LoadOptions) -> Result<DataSet, DataError> {
    let mut input = Input::stdin()?.within(options.max_memory);
    let format = guessed(input.peek()?);
    let missing = if options.gram { Missing::Keep } else { options.missing };
    finished((format.read)(input, &LoadOptions { missing, ..options.clone() })?, options)
}

/// The format of a name, or the one that the first bytes cannot be mistaken for.
fn or_recognised(
    format: Result<&'static Format, DataError>,
    input: &mut Input,
) -> Result<&'static Format, DataError> {
    match format {
        Err(unknown @ DataError::UnknownFormat { .. }) => {
            let found = guessed(input.peek()?);
            if found.extensions.contains(&"txt") { Err(unknown) } else { Ok(found) }
        }
        known => known,
    }
}

/// The format that bytes look like.
fn guessed(start: &[u8]) -> &'static Format {
    let found = guess::extension(start);
    let fits = |format: &&Format| format.extensions.contains(&found);
    FORMATS.iter().find(fits).unwrap_or(&FORMATS[FORMATS.len() - 1])
}

/// Chunks of `DATA`. Generators and tables, which are small or generated whole, are loaded first.
pub(crate) fn open_chunks(path: &Path, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    if path == Path::new("-") {
        let mut input = Input::stdin()?.within(options.max_memory);
        let format = guessed(input.peek()?);
        return (format.chunks)(input, options);
    }
    let whole = options.table.transpose == Some(true) || single_cell::Companions::of(path)?.is_some();
    if path.is_file() && !whole {
        let (input, format) = opened(path, options.max_memory)?;
        return (format.chunks)(input, options);
    }
    let data = crate::load(path, &with_missing_rows(options))?;
    if data.role == Role::Gram {
        let problem = "it is C itself and not samples, so there are no rows to add up".into();
        return Err(DataError::File { path: data.source, problem });
    }
    Ok(Box::new(Whole::arranged(data)))
}

/// The options for chunks: rows with missing values are dropped, and counted, by the consumer.
fn with_missing_rows(options: &LoadOptions) -> LoadOptions {
    let missing = if options.missing == Missing::Drop { Missing::Keep } else { options.missing };
    LoadOptions { missing, ..options.clone() }
}

/// The bytes of the accumulator in an archive that has one.
pub(crate) fn accumulator_bytes(path: &Path, max_memory: Option<u64>) -> Result<Option<Vec<u8>>, DataError> {
    npz::accumulator(Input::open(path)?.within(max_memory))
}

/// An archive with C and its accumulator.
pub(crate) fn write_with_accumulator(
    path: &Path,
    c: MatRef<'_, f64>,
    accumulator: &[u8],
) -> Result<(), DataError> {
    output::write_to(path, |out| npz::write_accumulator(c, accumulator, out))
}

/// Missing values seen to, and everything else checked.
pub(crate) fn finished(data: DataSet, options: &LoadOptions) -> Result<DataSet, DataError> {
    let data = arranged(data, options)?;
    match options.missing {
        Missing::Keep => Ok(data),
        how => how.apply(data)?.checked(),
    }
}

/// Writes a data set; the extension decides the format, and a final `.gz` compresses.
///
/// A sparse matrix stays sparse in `.svm`, `.mtx` and `.npz` and is written out in full in
/// `.npy`, `.csv` and `.tsv` (row by row, without a dense copy in memory). Column names are kept
/// by `.csv` and `.tsv`, labels by `.svm` and `.npz`; what a format cannot hold is left out.
/// Values come back from every format with the same bits (except that sparse formats turn -0
/// into 0).
///
/// # Errors
/// [`DataError::UnknownFormat`], or [`DataError::Io`] when the file cannot be written.
pub fn write_file(path: &Path, data: &DataSet) -> Result<(), DataError> {
    let format = format_of(path)?;
    let write = format.write.ok_or_else(|| DataError::UnknownFormat {
        path: path.display().to_string(),
        problem: format!("files of {} are read and not written", dotted(format.extensions)),
        known: extensions(|format| format.write.is_some()),
    })?;
    output::write_to(path, |out| write(data, out))
}

/// Reads a dense matrix such as X; in spite of the name from any format, usually `.npy`.
/// A one-dimensional array is a single column.
///
/// # Errors
/// As [`read_file`], and [`DataError::TooLarge`] for a sparse file that is too large when dense.
pub fn read_dense_npy(path: &Path) -> Result<Mat<f64>, DataError> {
    let data = read_file(path, &LoadOptions::default())?;
    match data.matrix {
        crate::Matrix::Dense(dense) => Ok(dense),
        sparse => sparse.try_to_dense(&data.source),
    }
}

/// Writes a matrix as a NumPy array (float64, C order), whatever the extension; a final `.gz`
/// compresses.
///
/// # Errors
/// [`DataError::Io`] when the file cannot be written.
pub fn write_npy(path: &Path, matrix: MatRef<'_, f64>) -> Result<(), DataError> {
    output::write_to(path, |out| npy::write_matrix(matrix, out))
}

/// Writes a NumPy archive (`.npz`) of arrays, each under its name.
///
/// # Errors
/// The file cannot be written.
pub fn write_npz(path: &Path, arrays: &[(&str, NpzArray<'_>)]) -> Result<(), DataError> {
    output::write_to(path, |out| npz::write_arrays(arrays, out))
}

/// Reads a table that is part of the program.
pub(crate) fn read_builtin_csv(
    name: &str,
    text: &'static str,
    options: &LoadOptions,
) -> Result<DataSet, DataError> {
    finished(delimited::read_csv(Input::from_bytes(name, text.as_bytes()), options)?, options)
}

fn format_of(path: &Path) -> Result<&'static Format, DataError> {
    let extension =
        uncompressed(path).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let found = extension
        .as_deref()
        .and_then(|extension| FORMATS.iter().find(|format| format.extensions.contains(&extension)));
    if let (None, Some(foreign)) = (found, extension.as_deref().and_then(foreign::find)) {
        return Err(foreign.error(path));
    }
    found.ok_or_else(|| DataError::UnknownFormat {
        path: path.display().to_string(),
        problem: match extension {
            Some(extension) => format!("the extension .{extension} is not that of a known format"),
            None => "the name has no extension to tell the format".into(),
        },
        known: known_extensions(),
    })
}

fn dotted(extensions: &[&str]) -> String {
    extensions.iter().map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
}
