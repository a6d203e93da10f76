//! NumPy archives: zip files of `.npy` arrays, from `numpy.savez` or `scipy.sparse.save_npz`.

use std::io::{self, Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::dataset::{DataSet, Matrix};
use crate::error::DataError;
use crate::format::npy::Array;
use crate::format::npy_header::{self, ArrayError};
use crate::format::{LoadOptions, npy, npz_sparse};
use crate::input::Input;
use crate::text::show;

/// The arrays that are taken for the data when there are several.
const DATA_NAMES: [&str; 3] = ["X", "data", "arr_0"];
/// The arrays that are taken for labels.
const LABEL_NAMES: [&str; 2] = ["y", "labels"];

pub(super) fn read(input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    let mut archive = Archive::open(input)?;
    let source = archive.input.name().to_string();
    if npz_sparse::is_sparse(&archive) {
        let mut data = DataSet::new(npz_sparse::read(&mut archive)?, source);
        data.labels = archive.labels(&data, "data");
        return Ok(data);
    }
    let name = archive.data_name()?;
    let matrix = archive.array(&name)?.into_matrix();
    let matrix = matrix.map_err(|problem| archive.error_in(&name, &problem))?;
    let mut data = DataSet::new(matrix, source);
    data.labels = archive.labels(&data, &name);
    Ok(data)
}

/// An open archive and the names of its arrays.
pub(super) struct Archive {
    input: Input,
    zip: ZipArchive<Cursor<Vec<u8>>>,
    names: Vec<String>,
}

impl Archive {
    fn open(mut input: Input) -> Result<Self, DataError> {
        // A zip file is read from its end, which a decompressor cannot do: the compressed bytes
        // are kept in memory.
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|error| input.read_error(error))?;
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
            input.file_error(format!("it is truncated, or not an .npz (zip) file at all ({error})"))
        })?;
        let names = zip.file_names().filter_map(Result::ok);
        let names = names.filter_map(|name| Some(name.strip_suffix(".npy")?.to_string())).collect();
        Ok(Self { input, zip, names })
    }

    pub(super) fn name(&self) -> &str {
        self.input.name()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> DataError {
        self.input.file_error(problem)
    }

    pub(super) fn error_in(&self, name: &str, problem: &str) -> DataError {
        self.error(format!("array {}: {problem}", show(name.as_bytes())))
    }

    fn data_name(&self) -> Result<String, DataError> {
        if let Some(name) = DATA_NAMES.iter().find(|name| self.has(name)) {
            return Ok((*name).to_string());
        }
        match self.names.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(self.error("the archive holds no array (.npy)")),
            several => {
                let shown: Vec<_> = several.iter().take(8).map(|name| show(name.as_bytes())).collect();
                Err(self.error(format!(
                    "the archive holds {} arrays ({}); name the data X, data or arr_0, or save it alone",
                    several.len(),
                    shown.join(", ")
                )))
            }
        }
    }

    /// The labels of the archive, if it has some that fit. Others (text, or another number of
    /// rows) are passed over: nothing depends on them.
    fn labels(&mut self, data: &DataSet, data_name: &str) -> Option<Vec<f64>> {
        let name = LABEL_NAMES.into_iter().find(|name| self.has(name) && *name != data_name)?;
        let labels = self.array(name).ok()?;
        let fit = labels.shape == [data.matrix.nrows()];
        (fit && labels.values.iter().all(|label| label.is_finite())).then_some(labels.values)
    }

    /// Reads an array; sizes claimed in the archive are not believed.
    pub(super) fn array(&mut self, name: &str) -> Result<Array, DataError> {
        self.entry(name, |entry| Array::read(entry, None))
    }

    /// Reads an array of one short string, such as the `format` of a sparse matrix.
    pub(super) fn string(&mut self, name: &str) -> Result<String, DataError> {
        self.entry(name, |entry| {
            npy_header::read(entry)?;
            let mut bytes = Vec::new();
            entry.take(64).read_to_end(&mut bytes)?;
            // One byte per character (`|S3`) or four (`<U3`): the zeros are padding either way.
            bytes.retain(|byte| *byte != 0);
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })
    }

    fn entry<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T, ArrayError>,
    ) -> Result<T, DataError> {
        let result = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(mut entry) => read(&mut entry).map_err(|error| match error {
                ArrayError::Read(error) => format!("the archive is truncated or corrupt ({error})"),
                ArrayError::Content(problem) => problem,
            }),
            Err(ZipError::FileNotFound) => Err("it is missing from the archive".into()),
            Err(error) => Err(error.to_string()),
        };
        result.map_err(|problem| self.error_in(name, &problem))
    }
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
