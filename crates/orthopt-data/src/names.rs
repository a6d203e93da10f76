//! Names from a separate file: vocabularies of text matrices, labels of rows.

use std::path::Path;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::input::Input;

/// The lines of a text file (also `.gz`), without white space around them and without quotes; blank
/// lines at the end do not count. A single line is split at its commas or tabs.
///
/// # Errors
/// The file cannot be read, or has no line.
pub fn read_names(path: &Path) -> Result<Vec<String>, DataError> {
    let mut input = Input::open(path).map_err(|error| error.with_known(|| "a text file".into()))?;
    let (mut names, mut line) = (Vec::new(), Vec::new());
    while input.next_line(&mut line)? {
        names.push(plain(&String::from_utf8_lossy(&line)));
    }
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    match &names[..] {
        [] => Err(input.file_error("it has no names; one per line is expected")),
        [only] => Ok(only.split([',', '\t']).map(plain).collect()),
        _ => Ok(names),
    }
}

fn plain(text: &str) -> String {
    text.trim().trim_matches('"').into()
}

impl DataSet {
    /// The data set with other names of its columns.
    ///
    /// # Errors
    /// Their number is not that of the columns; `place` is where they come from.
    pub fn named(mut self, names: Vec<String>, place: &str) -> Result<Self, DataError> {
        let columns = self.matrix.ncols();
        if names.len() != columns {
            let problem = format!(
                "{} names for the {columns} columns of {}; one per line is expected, in the order of the columns",
                names.len(),
                self.source
            );
            return Err(DataError::File { path: place.into(), problem });
        }
        self.names = Some(names);
        Ok(self)
    }
}
