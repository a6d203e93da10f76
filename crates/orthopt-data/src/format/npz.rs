//! NumPy archives: zip files of `.npy` arrays, from `numpy.savez` or `scipy.sparse.save_npz`.

use std::io::{self, Write};

use faer::MatRef;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::dataset::{DataSet, Matrix, Role};
use crate::error::DataError;
use crate::format::npz_archive::Archive;
use crate::format::{LoadOptions, npy, npy_header, npz_sparse};
use crate::input::Input;
use crate::stream::{Chunks, Whole};

pub(super) fn read(input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    let mut archive = Archive::open(input)?;
    let source = archive.name().to_string();
    if npz_sparse::is_sparse(&archive) {
        let mut data = DataSet::new(npz_sparse::read(&mut archive)?, source);
        data.labels = archive.labels(&data, "data");
        return Ok(data);
    }
    let name = archive.data_name()?;
    let matrix = archive.array(&name)?.into_matrix();
    let matrix = matrix.map_err(|problem| archive.error_in(&name, &problem))?;
    let mut data = DataSet::new(matrix, source);
    if archive.has(ACCUMULATOR) {
        data.role = Role::Gram; // X is C of the rows that were added up
    }
    data.labels = archive.labels(&data, &name);
    Ok(data)
}

/// The name of the bytes of an accumulator.
const ACCUMULATOR: &str = "accumulator";

/// Archives are read from their ends, so the whole is held.
pub(super) fn chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let data = read(input, options)?;
    if data.role == Role::Gram {
        let problem = "it holds C and not samples, so there are no rows to read".into();
        return Err(DataError::File { path: data.source, problem });
    }
    Ok(Box::new(Whole::new(data)))
}

/// The bytes of the accumulator, where there is one.
pub(super) fn accumulator(input: Input) -> Result<Option<Vec<u8>>, DataError> {
    let mut archive = Archive::open(input)?;
    if archive.has(ACCUMULATOR) { archive.bytes(ACCUMULATOR).map(Some) } else { Ok(None) }
}

/// C as `X`, and the bytes of its accumulator.
pub(super) fn write_accumulator(c: MatRef<'_, f64>, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    start(&mut zip, "X", CompressionMethod::Stored)?;
    npy::write_matrix(c, &mut zip)?;
    start(&mut zip, ACCUMULATOR, CompressionMethod::Stored)?;
    zip.write_all(&npy_header::with_type("|u1", &format!("({},)", bytes.len())))?;
    zip.write_all(bytes)?;
    zip.finish()?.into_inner().flush()
}

pub(super) fn write(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    match &data.matrix {
        Matrix::Dense(_) => {
            start(&mut zip, "X", CompressionMethod::Stored)?;
            npy::write(data, &mut zip)?;
        }
        Matrix::Sparse(sparse) => {
            for (name, bytes) in npz_sparse::arrays(sparse) {
                start(&mut zip, name, CompressionMethod::Deflated)?;
                zip.write_all(&bytes)?;
            }
        }
    }
    // scipy.sparse.load_npz ignores further arrays, so labels can travel with either kind.
    if let Some(labels) = &data.labels {
        start(&mut zip, "y", CompressionMethod::Stored)?;
        zip.write_all(&npy_header::with_type("<f8", &format!("({},)", labels.len())))?;
        npy::write_values(labels.iter().copied(), &mut zip)?;
    }
    zip.finish()?.into_inner().flush()
}

/// An array of an archive.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum NpzArray<'a> {
    /// A dense matrix.
    Matrix(MatRef<'a, f64>),
    /// A number, as an array without dimensions.
    Number(f64),
    /// Words, as an array without dimensions.
    Text(&'a str),
}

/// Arrays under names of their own.
pub(super) fn write_arrays(arrays: &[(&str, NpzArray<'_>)], out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    for (name, array) in arrays {
        start(&mut zip, name, CompressionMethod::Stored)?;
        match array {
            NpzArray::Matrix(matrix) => npy::write_matrix(*matrix, &mut zip)?,
            NpzArray::Number(value) => {
                zip.write_all(&npy_header::with_type("<f8", "()"))?;
                npy::write_values(std::iter::once(*value), &mut zip)?;
            }
            NpzArray::Text(text) => {
                // NumPy's strings have four bytes for each character, and at least one character
                zip.write_all(&npy_header::with_type(&format!("<U{}", text.chars().count().max(1)), "()"))?;
                let padding = if text.is_empty() { Some('\0') } else { None };
                for letter in text.chars().chain(padding) {
                    zip.write_all(&u32::from(letter).to_le_bytes())?;
                }
            }
        }
    }
    zip.finish()?.into_inner().flush()
}

fn start(
    zip: &mut ZipWriter<StreamWriter<&mut dyn Write>>,
    name: &str,
    method: CompressionMethod,
) -> io::Result<()> {
    // The sizes are not known yet, so every entry is allowed to exceed 4 GB. Without a time stamp
    // of its own the same data gives the same file.
    let options = SimpleFileOptions::default().compression_method(method).large_file(true);
    Ok(zip.start_file(format!("{name}.npy"), options)?)
}
