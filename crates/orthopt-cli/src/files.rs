//! Checks of the files of a command: no file is written twice, and no input is overwritten.

use std::fs;
use std::path::{Path, PathBuf};

use orthopt::request::{FileUse, OPTIONS, Request, Written};
use orthopt_data::{check_writable, written_file};

use crate::failure::usage;

/// The files that options name, checked before work begins.
#[derive(Debug, Default)]
pub struct Files {
    read: Vec<Named>,
    written: Vec<Named>,
    outputs: Vec<PathBuf>,
}

/// A file, with the option that names it.
#[derive(Debug)]
struct Named {
    option: String,
    typed: PathBuf,
    file: PathBuf, // without links
}

impl Files {
    /// The files of the options.
    pub fn of(request: &Request) -> Self {
        let mut files = Self::default();
        for entry in OPTIONS.iter().filter(|entry| entry.file != FileUse::None) {
            let option = if entry.positional { "DATA".into() } else { format!("--{}", entry.name) };
            let places = match entry.get(request) {
                Some(Written::List(list)) => list,
                one => Vec::from_iter(one),
            };
            for place in places.iter().filter_map(Written::path) {
                files = match entry.file {
                    FileUse::Written => files.writes(&option, Some(&place)),
                    _ => files.reads(&option, Some(&place)),
                };
            }
        }
        files
    }

    /// Adds an input if it is a file; names of generators and tables are not.
    pub fn reads(mut self, option: &str, path: Option<&Path>) -> Self {
        let file = path.filter(|path| path.is_file()).and_then(|path| fs::canonicalize(path).ok());
        self.read.extend(path.zip(file).map(|(typed, file)| Named {
            option: option.into(),
            typed: typed.into(),
            file,
        }));
        self
    }

    /// A file to write; `-` is stdout.
    pub fn writes(mut self, option: &str, path: Option<&Path>) -> Self {
        let path = path.filter(|path| *path != Path::new("-"));
        self.outputs.extend(path.map(PathBuf::from));
        let file = path.and_then(written_file);
        self.written.extend(path.zip(file).map(|(typed, file)| Named {
            option: option.into(),
            typed: typed.into(),
            file,
        }));
        self
    }

    /// # Errors
    /// Two names of one file, of which one is written; a file that cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        for (k, output) in self.written.iter().enumerate() {
            let name = output.typed.display();
            if let Some(input) = self.read.iter().find(|input| input.file == output.file) {
                return Err(usage(format!(
                    "{} {name} is the file that {} reads: inputs are not overwritten; give another name",
                    output.option, input.option
                )));
            }
            if let Some(other) = self.written[..k].iter().find(|other| other.file == output.file) {
                return Err(usage(format!(
                    "{} and {} both write {name}: give each a file of its own",
                    other.option, output.option
                )));
            }
        }
        self.outputs.iter().try_for_each(|path| Ok(check_writable(path)?))
    }
}
