//! Lines of text files for readers outside of this crate: gzip, limits of memory and errors with file and
//! line as for every other file.

use std::path::Path;

use crate::error::DataError;
use crate::input::Input;

/// A text file, plain or gzipped, read line by line.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.txt");
/// std::fs::write(&path, "one\n\ntwo\r\n")?;
/// let mut lines = orthopt_data::Lines::open(&path, None)?;
/// assert_eq!(lines.next_line()?, Some(&b"one"[..]));
/// assert_eq!(lines.next_line()?, Some(&b""[..]));
/// assert_eq!(lines.next_line()?, Some(&b"two"[..]));
/// assert!(lines.next_line()?.is_none());
/// assert!(lines.error("what is wrong").to_string().ends_with("a.txt:3: what is wrong"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lines {
    input: Input,
    line: Vec<u8>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("place", &self.input.place()).finish_non_exhaustive()
    }
}

impl Lines {
    /// Opens a file, or standard input for `-`; what is made of it may take `max_memory` bytes, nine tenths of what is free otherwise.
    ///
    /// # Errors
    /// [`DataError`]: no such file, not readable, empty.
    pub fn open(path: &Path, max_memory: Option<u64>) -> Result<Self, DataError> {
        let opened = if path == Path::new("-") { Input::stdin() } else { Input::open(path) };
        let input = opened.map_err(|error| match error {
            DataError::NotFound { path, .. } => DataError::File { path, problem: "no such file".into() },
            other => other,
        })?;
        Ok(Self { input: input.within(max_memory), line: Vec::new() })
    }

    /// The next line without its end, `None` after the last one.
    ///
    /// # Errors
    /// [`DataError`]: the file cannot be read on, or it is no text.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, DataError> {
        if !self.input.next_line(&mut self.line)? {
            return Ok(None);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// An error in the line read last.
    pub fn error(&self, problem: impl Into<String>) -> DataError {
        self.input.line_error(problem)
    }

    /// An error of the file as a whole.
    pub fn file_error(&self, problem: impl Into<String>) -> DataError {
        self.input.file_error(problem)
    }

    /// An error where `bytes` are more than may be taken.
    ///
    /// # Errors
    /// [`DataError::Memory`].
    pub fn check_memory(&self, bytes: usize) -> Result<(), DataError> {
        self.input.budget().check(bytes)
    }
}
