//! Files made of a result: one format per file of this folder and one line in [`FORMATS`].

mod csv;
pub mod json;
mod jsonl;
mod npy;
pub mod svg;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::failure::usage;
use orthopt::report::Report;

/// What of a result goes into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    X,
    Trace,
    Plot,
}

impl What {
    /// The option that asks for it.
    fn option(self) -> &'static str {
        match self {
            Self::X => "--save-x",
            Self::Trace => "--trace",
            Self::Plot => "--plot",
        }
    }
}

struct Format {
    what: What,
    endings: &'static [&'static str],
    write: fn(&Report, &Path) -> anyhow::Result<()>,
}

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    Format { what: What::X, endings: &[".npy", ".npy.gz"], write: npy::write },
    Format { what: What::Trace, endings: &[".csv"], write: csv::write },
    Format { what: What::Trace, endings: &[".jsonl"], write: jsonl::write },
    Format { what: What::Plot, endings: &[".svg"], write: svg::write },
];

/// A file to be written when there is a result.
#[derive(Clone, Debug)]
pub struct Output {
    what: What,
    path: PathBuf,
}

impl Output {
    /// # Errors
    /// An ending of the file name that is no format of `what`.
    pub fn new(what: What, path: &Path) -> anyhow::Result<Self> {
        let output = Self { what, path: path.into() };
        match output.format() {
            Some(_) => Ok(output),
            None => {
                let endings = FORMATS.iter().filter(|f| f.what == what).flat_map(|f| f.endings);
                let known: Vec<_> = endings.copied().collect();
                Err(usage(format!(
                    "{} {}: the name must end in {}",
                    what.option(),
                    path.display(),
                    known.join(" or ")
                )))
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, report: &Report) -> anyhow::Result<()> {
        match self.format() {
            Some(format) => (format.write)(report, &self.path),
            None => Ok(()), // excluded by `new`
        }
    }

    /// Whether it is a plot.
    pub fn is_plot(&self) -> bool {
        self.what == What::Plot
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Option<&'static Format> {
        let name = self.path.to_string_lossy().to_lowercase();
        FORMATS.iter().find(|f| f.what == self.what && f.endings.iter().any(|e| name.ends_with(e)))
    }
}

/// Creates `path` and lets `body` write into it.
pub fn to_file(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        body(&mut out)?;
        out.flush()
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}
