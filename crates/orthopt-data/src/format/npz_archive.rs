//! An open NumPy archive and its arrays.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::npy::Array;
use crate::format::npy_header::{self, ArrayError};
use crate::input::Input;
use crate::memory::Budget;
use crate::text::{said, show};

/// The arrays that are taken for the data when there are several.
const DATA_NAMES: [&str; 3] = ["X", "data", "arr_0"];
/// The arrays that are taken for labels.
const LABEL_NAMES: [&str; 2] = ["y", "labels"];

/// An open archive and the names of its arrays.
pub(super) struct Archive {
    input: Input,
    zip: ZipArchive<Cursor<Vec<u8>>>,
    names: Vec<String>,
}

impl Archive {
    pub(super) fn open(mut input: Input) -> Result<Self, DataError> {
        // A zip file is read from its end, which a decompressor cannot do: the compressed bytes
        // are kept in memory.
        if !input.peek()?.starts_with(b"PK") {
            return Err(input.file_error("it is not an .npz (zip) file"));
        }
        let bytes = input.read_rest()?;
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
            input.file_error(format!("it is truncated or not an .npz (zip) file ({})", said(&error)))
        })?;
        let names = zip.file_names().filter_map(Result::ok);
        let names = names.filter_map(|name| Some(name.strip_suffix(".npy")?.to_string())).collect();
        Ok(Self { input, zip, names })
    }

    pub(super) fn name(&self) -> &str {
        self.input.name()
    }

    pub(super) fn budget(&self) -> &Budget {
        self.input.budget()
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

    pub(super) fn data_name(&self) -> Result<String, DataError> {
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
    pub(super) fn labels(&mut self, data: &DataSet, data_name: &str) -> Option<Vec<f64>> {
        let name = LABEL_NAMES.into_iter().find(|name| self.has(name) && *name != data_name)?;
        let labels = self.array(name).ok()?;
        let fit = labels.shape == [data.matrix.nrows()];
        (fit && labels.values.iter().all(|label| label.is_finite())).then_some(labels.values)
    }

    /// Reads an array; sizes claimed in the archive are not believed.
    pub(super) fn array(&mut self, name: &str) -> Result<Array, DataError> {
        let budget = self.budget().clone();
        self.entry(name, |entry| Array::read(entry, None, &budget))
    }

    /// Reads an array of bytes as it is.
    pub(super) fn bytes(&mut self, name: &str) -> Result<Vec<u8>, DataError> {
        const STEP: u64 = 1 << 24;
        let budget = self.budget().clone();
        self.entry(name, |entry| {
            npy_header::read(entry)?;
            let mut bytes = Vec::new();
            while (&mut *entry).take(STEP).read_to_end(&mut bytes)? > 0 {
                budget.check(bytes.capacity())?;
            }
            Ok(bytes)
        })
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
            Ok(mut entry) => match read(&mut entry) {
                Ok(array) => Ok(array),
                Err(ArrayError::Read(error)) => {
                    Err(format!("the archive is truncated or corrupt ({})", said(&error)))
                }
                Err(ArrayError::Content(problem)) => Err(problem),
                Err(ArrayError::Memory(error)) => return Err(error),
            },
            Err(ZipError::FileNotFound) => Err("it is missing from the archive".into()),
            Err(error) => Err(said(&error)),
        };
        result.map_err(|problem| self.error_in(name, &problem))
    }
}
