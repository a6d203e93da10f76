//! Several files as one table, chunk by chunk.

use std::path::{Path, PathBuf};

use super::{Chunk, Chunks};
use crate::error::DataError;
use crate::format::{LoadOptions, open_chunks};
use crate::gram::check_names;
use crate::missing::Missing;

/// How far reading has come.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The file that is read.
    pub file: &'a Path,
    /// Rows so far, of all files.
    pub rows: u64,
    /// Bytes so far, of all files.
    pub bytes: u64,
    /// Bytes of all files together.
    pub total: u64,
}

/// Rows of files with the same columns, one after the other.
pub struct Parts<'a> {
    files: &'a [PathBuf],
    options: &'a LoadOptions,
    open: Option<Box<dyn Chunks>>,
    begun: usize, // files
    columns: Option<usize>,
    grows: bool,
    names: Option<Vec<String>>,
    rows: u64,
    before: u64, // bytes of files that are done
    total: u64,
    /// Values that were missing, with whose rows nothing was done.
    pub missing: usize,
}

impl<'a> Parts<'a> {
    /// Files, generators or tables. Nothing is opened yet.
    ///
    /// # Errors
    /// Missing values that are to be filled in, which takes all rows at once.
    pub fn new(files: &'a [PathBuf], options: &'a LoadOptions) -> Result<Self, DataError> {
        if matches!(options.missing, Missing::Mean | Missing::Em) {
            let path = files.first().map_or(String::new(), |file| file.display().to_string());
            let problem =
                "missing values cannot be filled in when rows are read part by part; drop the rows that have them".into();
            return Err(DataError::File { path, problem });
        }
        let total = files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        let (open, columns, names) = (None, None, None);
        Ok(Self {
            files,
            options,
            open,
            begun: 0,
            columns,
            grows: false,
            names,
            rows: 0,
            before: 0,
            total,
            missing: 0,
        })
    }

    /// The next rows, with about `numbers` numbers; `None` at the end of the last file.
    ///
    /// # Errors
    /// As from [`read_file`](crate::read_file), and a column that is missing from one of the files.
    pub fn next_chunk(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        loop {
            let Some(open) = &mut self.open else {
                let Some(file) = self.files.get(self.begun) else { return Ok(None) };
                self.open = Some(open_chunks(file, self.options)?);
                self.begun += 1;
                continue;
            };
            let Some(mut chunk) = open.next(numbers)? else {
                self.before += open.bytes();
                self.open = None;
                continue;
            };
            let (names, grows) = (open.names(), open.grows());
            let place = self.files[self.begun - 1].display().to_string();
            self.rows += chunk.rows().len() as u64;
            if self.options.missing == Missing::Drop {
                self.missing += chunk.complete();
            }
            chunk.check(&place)?;
            return self.fitted(chunk, names, grows, &place).map(Some);
        }
    }

    /// The chunk as wide as those before; only formats that do not state their width may change it.
    fn fitted(
        &mut self,
        chunk: Chunk,
        names: Option<Vec<String>>,
        grows: bool,
        place: &str,
    ) -> Result<Chunk, DataError> {
        if let (Some(expected), Some(found)) = (&self.names, &names) {
            check_names(expected, found, place)?;
        }
        self.names = self.names.take().or(names);
        self.grows |= grows;
        let found = chunk.rows().columns();
        let expected = *self.columns.get_or_insert(found);
        if found > expected && grows {
            self.columns = Some(found);
            return Ok(chunk);
        }
        if found != expected && !(grows && found < expected) {
            return Err(DataError::Width { place: place.into(), found, expected });
        }
        Ok(chunk.widened(expected))
    }

    /// Names of the columns, where the files read so far have some.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// How far it is.
    pub fn step(&self) -> Step<'_> {
        let file = self.files.get(self.begun.saturating_sub(1)).map_or(Path::new(""), PathBuf::as_path);
        let bytes = self.before + self.open.as_ref().map_or(0, |open| open.bytes());
        Step { file, rows: self.rows, bytes, total: self.total }
    }
}

impl std::fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("files", &self.files).field("rows", &self.rows).finish_non_exhaustive()
    }
}
