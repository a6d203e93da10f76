//! Several files as one table, chunk by chunk.

use std::path::{Path, PathBuf};

use super::{Chunk, Chunks, place};
use crate::error::DataError;
use crate::format::{LoadOptions, open_chunks};
use crate::gram::check_names;
use crate::missing::Missing;
use crate::table::{Arrangement, HowRead, Note, RowNames, Source, unique_names, weights_of_file};

/// Progress of reading.
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
    plain: bool,                 // it has numbers alone, and neither selects columns nor leaves out rows
    weights: Option<Vec<f64>>,   // of all rows of all files, from a file of their own
    how: Option<HowRead>,
    begun: usize, // files
    columns: Option<usize>,
    grows: bool,
    names: Option<Vec<String>>,
    rows: u64,
    counted: usize,     // rows of files that are done, those that are left out too
    width: usize,       // columns of the open file so far
    of_file: usize,     // rows of the open one, where it does not count them by itself
    found: Vec<String>, // rows that somebody lists, and that are there
    before: u64,        // bytes of files that are done
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
            plain: false,
            weights: weights_of_file(&options.table)?,
            how: None,
            begun: 0,
            columns,
            grows: false,
            names,
            rows: 0,
            counted: 0,
            width: 0,
            of_file: 0,
            found: Vec::new(),
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
                let Some(file) = self.files.get(self.begun) else {
                    return self
                        .options
                        .table
                        .drop_rows
                        .check(&self.found, &place(self.files))
                        .map(|()| None);
                };
                self.open = Some(open_chunks(file, &self.like_the_first())?);
                self.begun += 1;
                self.fresh = true;
                continue;
            };
            let Some(mut chunk) = open.next(numbers)? else {
                self.before += open.bytes();
                self.end_file()?;
                continue;
            };
            let file = &self.files[self.begun - 1];
            let (place, columns, grows) = (file.display().to_string(), chunk.rows().columns(), open.grows());
            self.width = columns;
            // of a file that does not state its width there may be more columns to choose
            let wider = grows && self.chosen.as_ref().is_some_and(|chosen| chosen.width() < columns);
            if self.fresh || wider {
                self.decide(columns, &place)?;
            }
            if let Some(chosen) = &self.chosen {
                chunk = chosen.chunk(&chunk, &place)?;
            }
            if self.plain {
                self.of_file = chunk.first + chunk.rows().len();
                if self.options.table.drop_rows.is_list() {
                    chunk = self.without_listed(&chunk);
                }
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
            return self.fitted(chunk, grows, &place).map(Some);
        }
    }

    /// Decides names and columns, once for a file and not for each chunk, as they may be many. For a file whose width
    /// grows it decides for twice the columns, so that this is rare.
    fn decide(&mut self, columns: usize, place: &str) -> Result<(), DataError> {
        let Some(open) = &self.open else { return Ok(()) };
        let (mut names, how) = (open.names(), open.how());
        let width = match &self.chosen {
            Some(chosen) if !self.fresh => columns.max(2 * chosen.width()),
            _ => columns,
        };
        self.plain = how.is_none();
        self.chosen = match how {
            Some(_) => None,
            None => Arrangement::of(place, width, names.clone(), &self.options.table)?,
        };
        self.fresh = false;
        let how = self.how.get_or_insert_with(|| how.cloned().unwrap_or_default());
        if let Some(chosen) = &self.chosen {
            names = chosen.names().or(names);
        }
        if let Some(names) = &mut names {
            how.repeated = unique_names(names);
        }
        if let (Some(expected), Some(found)) = (&self.names, &names) {
            check_names(expected, found, place)?;
        }
        self.names = self.names.take().or(names);
        Ok(())
    }

    /// Adds the facts that are known at the end of a file.
    fn end_file(&mut self) -> Result<(), DataError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if let Some(end) = open.how() {
            self.counted += end.rows;
            self.found.extend_from_slice(&end.rows_found);
            self.how = self.how.take().map(|how| how.with_end_of(end));
        }
        self.counted += std::mem::take(&mut self.of_file);
        if self.chosen.as_ref().is_some_and(|chosen| chosen.width() > self.width) {
            let place = self.files[self.begun - 1].display().to_string();
            Arrangement::of(&place, self.width, open.names(), &self.options.table)?; // or columns are not there
        }
        Ok(())
    }

    /// Options for a file after the first one: with the same variables, names of rows and marks of numbers, even if its
    /// few rows suggest others.
    fn like_the_first(&self) -> LoadOptions {
        let mut options = self.options.clone();
        options.table.part = Some(self.counted);
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
        // only the names distinguish a part without a header from one with other columns
        if how.header.is_some() && options.table.columns.is_none() && options.table.drop.is_none() {
            options.table.needed = self.names.clone().unwrap_or_default();
        }
        options
    }

    /// The rows of a file without names of rows, if none is listed by its number.
    fn without_listed(&mut self, chunk: &Chunk) -> Chunk {
        let before = self.counted + chunk.first;
        let mut kept = Vec::new();
        for i in 0..chunk.rows().len() {
            let found = self.options.table.drop_rows.listed(before + i + 1, "");
            if found.is_empty() {
                kept.push(i);
            }
            self.found.extend(found);
        }
        chunk.with_rows(&kept)
    }

    /// More rows than weights.
    fn too_few(&self, weights: usize) -> DataError {
        let place = self.files[self.begun - 1].display().to_string();
        let text = format!(
            ": {weights} weights are fewer than there are rows; one a line is expected, in the order of the rows"
        );
        DataError::Table { place, problem: Note::about("weights").text(text) }
    }

    /// Facts about the reading of the first file; known with the first chunk.
    pub fn how(&self) -> Option<&HowRead> {
        self.how.as_ref()
    }

    /// The chunk as wide as those before; only formats that do not state their width may change it.
    fn fitted(&mut self, chunk: Chunk, grows: bool, place: &str) -> Result<Chunk, DataError> {
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

    /// Progress of reading so far.
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use faer::Mat;

    use super::*;
    use crate::sparse::Triplets;

    /// A file of one row a chunk that counts how often it is asked for its columns, which may grow.
    struct Asked {
        how: Option<HowRead>,
        next: usize,
        grows: bool,
        times: Rc<Cell<usize>>,
    }

    impl Chunks for Asked {
        fn next(&mut self, _: usize) -> Result<Option<Chunk>, DataError> {
            let first = self.next;
            self.next += 1;
            let mut entries = Triplets::default();
            entries.push(first, first, 1.0);
            Ok((first < 1000).then(|| match self.grows {
                true => Chunk::sparse(first, 1, first + 1, entries),
                false => Chunk::new(first, Mat::zeros(1, 3)),
            }))
        }

        fn names(&self) -> Option<Vec<String>> {
            self.times.set(self.times.get() + 1);
            None
        }

        fn how(&self) -> Option<&HowRead> {
            self.times.set(self.times.get() + 1);
            self.how.as_ref()
        }

        fn bytes(&self) -> u64 {
            0
        }

        fn grows(&self) -> bool {
            self.grows
        }
    }

    /// Work in proportion to the number of columns is not done for every chunk.
    #[test]
    fn columns_are_decided_once_and_not_for_every_chunk() {
        let files = [PathBuf::from("a.svm")];
        for (how, grows, most) in
            [(Some(HowRead::default()), false, 4), (None, false, 4), (None, true, 2 * 11 + 3)]
        {
            let times = Rc::new(Cell::new(0));
            let mut options = LoadOptions::default();
            options.table.set("drop", "1").unwrap();
            let open = Asked { how, next: usize::from(grows), grows, times: Rc::clone(&times) };
            let mut parts = Parts::new(&files, &options).unwrap();
            parts.open = Some(Box::new(open));
            parts.begun = 1;
            let mut columns = 0;
            while let Some(chunk) = parts.next_chunk(1).unwrap() {
                assert!(chunk.rows().columns() >= columns);
                columns = chunk.rows().columns();
            }
            assert!(times.get() <= most, "{} times", times.get());
            assert_eq!(
                columns,
                if grows {
                    999
                } else if parts.plain {
                    2
                } else {
                    3
                }
            );
        }
    }
}
