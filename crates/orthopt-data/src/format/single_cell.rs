//! Folders of 10x Genomics: `matrix.mtx` with genes in rows, `features.tsv` (or `genes.tsv`) and `barcodes.tsv`.

use std::path::{Path, PathBuf};

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::names::read_names;
use crate::table::Source;

/// The files that belong to a matrix of single cells.
#[derive(Clone, Debug)]
pub(super) struct Companions {
    pub(super) matrix: PathBuf,
    features: PathBuf,
    barcodes: PathBuf,
}

const MATRIX: &str = "matrix.mtx";
const FEATURES: [&str; 2] = ["features.tsv", "genes.tsv"];
const BARCODES: &str = "barcodes.tsv";

impl Companions {
    /// Those of a folder, or of a matrix whose name ends in `matrix.mtx`; `None` of any other file.
    ///
    /// # Errors
    /// A folder that has no such files.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, DataError> {
        if path.is_dir() {
            let found = there(path, MATRIX).and_then(|matrix| Self::beside(&matrix));
            return found.map(Some).ok_or_else(|| DataError::File {
                path: path.display().to_string(),
                problem: format!(
                    "this is a folder without {MATRIX}, features.tsv (or genes.tsv) and {BARCODES}; name a file in it"
                ),
            });
        }
        Ok(Self::beside(path))
    }

    fn beside(matrix: &Path) -> Option<Self> {
        let name = matrix.file_name()?.to_str()?;
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        let prefix = plain.strip_suffix(MATRIX)?; // of a sample, in collections of several
        let folder = matrix.parent()?;
        let named = |name: &str| there(folder, &format!("{prefix}{name}"));
        let features = FEATURES.iter().find_map(|name| named(name))?;
        Some(Self { matrix: matrix.into(), features, barcodes: named(BARCODES)? })
    }

    /// The matrix with the names of its genes and cells, to be transposed where genes are rows.
    pub(super) fn named(&self, mut data: DataSet) -> Result<DataSet, DataError> {
        let (features, barcodes) = (read_names(&self.features)?, read_names(&self.barcodes)?);
        let (rows, columns) = (data.matrix.nrows(), data.matrix.ncols());
        match (features.len(), barcodes.len()) {
            (f, b) if f == rows && b == columns => {
                data.row_names = Some(features);
                data.names = Some(barcodes);
                data.how.row_names = Some(Source::File(self.features.display().to_string()));
                data.how.header = Some(Source::File(self.barcodes.display().to_string()));
                data.how.transposed = true;
            }
            (f, b) if f == columns && b == rows => {
                data.names = Some(features);
                data.row_names = Some(barcodes);
                data.how.header = Some(Source::File(self.features.display().to_string()));
                data.how.row_names = Some(Source::File(self.barcodes.display().to_string()));
            }
            // files that belong to something else
            _ => {}
        }
        Ok(data)
    }
}

/// The file of this name in a folder, compressed or not.
fn there(folder: &Path, name: &str) -> Option<PathBuf> {
    [name.to_string(), format!("{name}.gz")].iter().map(|name| folder.join(name)).find(|path| path.is_file())
}
