//! Several files as one table, chunk by chunk.

use std::path::{Path, PathBuf};

use super::{Chunk, Chunks};
use crate::error::DataError;
use crate::format::{LoadOptions, open_chunks};
use crate::gram::check_names;
use crate::missing::Missing;
use crate::table::{Arrangement, HowRead, Note, RowNames, Source, unique_names, weights_of_file};

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
    chosen: Option<Arrangement>, // columns of a file that does not select them by itself
    fresh: bool,                 // nothing of the open file has been read
    weights: Option<Vec<f64>>,   // of all rows of all files, from a file of their own
    how: Option<HowRead>,
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
            chosen: None,
            fresh: true,
            weights: weights_of_file(&options.table)?,
            how: None,
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
                self.open = Some(open_chunks(file, &self.like_the_first())?);
                self.begun += 1;
                self.fresh = true;
                continue;
            };
            let Some(mut chunk) = open.next(numbers)? else {
                self.before += open.bytes();
                self.how = self.how.take().map(|how| how.with_notes_of(open.how()));
                self.open = None;
                continue;
            };
            let (mut names, grows) = (open.names(), open.grows());
            let (file, selects) = (&self.files[self.begun - 1], open.how().cloned());
            let place = file.display().to_string();
            let columns = chunk.rows().columns();
            // of a file that does not state its width there may be more columns to choose
            let wider = grows && self.chosen.as_ref().is_some_and(|chosen| chosen.width() < columns);
            if std::mem::take(&mut self.fresh) || wider {
                self.chosen = match &selects {
                    Some(_) => None,
                    None => Arrangement::of(&place, columns, names.clone(), &self.options.table)?,
                };
                if self.how.is_none() {
                    self.how = Some(selects.unwrap_or_default());
                }
            }
            if let Some(chosen) = &self.chosen {
                names = chosen.names().or(names);
                chunk = chosen.chunk(&chunk, &place)?;
            }
            if let Some(names) = &mut names {
                let repeated = unique_names(names);
                self.how.iter_mut().for_each(|how| how.repeated.clone_from(&repeated));
            }
            if let Some(all) = &self.weights {
                let from = self.rows as usize;
                let own = all.get(from..from + chunk.rows().len()).ok_or_else(|| self.too_few(all.len()))?;
                chunk = chunk.weighted(own.to_vec());
            }
            self.rows += chunk.rows().len() as u64;
            if self.options.missing == Missing::Drop {
                self.missing += chunk.complete();
            }
            chunk.check(&place)?;
            return self.fitted(chunk, names, grows, &place).map(Some);
        }
    }

    /// How to read a file after the first one: with the same variables, names of rows and marks of numbers, whatever few
    /// rows of it look like.
    fn like_the_first(&self) -> LoadOptions {
        let mut options = self.options.clone();
        let Some(how) = &self.how else { return options };
        let layout: Vec<(String, String)> =
            how.layout().into_iter().map(|(name, v)| (name.into(), v)).collect();
        options.table = options.table.with_marks_of(&layout);
        if how.columns.is_empty() {
            return options;
        }
        if options.table.row_names == RowNames::Auto {
            options.table.row_names = match &how.row_names {
                None => RowNames::None,
                Some(Source::Column(word)) => RowNames::Column(word.clone()),
                _ => RowNames::Auto,
            };
        }
        // a part without a header is told from one with other columns by its names alone
        if how.header.is_some() && options.table.columns.is_none() && options.table.drop.is_none() {
            options.table.needed = self.names.clone().unwrap_or_default();
        }
        options
    }

    /// More rows than weights.
    fn too_few(&self, weights: usize) -> DataError {
        let place = self.files[self.begun - 1].display().to_string();
        let text = format!(
            ": {weights} weights are fewer than there are rows; one a line is expected, in the order of the rows"
        );
        DataError::Table { place, problem: Note::about("weights").text(text) }
    }

    /// How the first file was read; known with the first chunk.
    pub fn how(&self) -> Option<&HowRead> {
        self.how.as_ref()
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
