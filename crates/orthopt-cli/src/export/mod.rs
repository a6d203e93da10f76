//! Files made of a result: one format per file of this folder and one line in [`FORMATS`].

mod csv;
pub mod html;
pub mod json;
mod jsonl;
mod loadings;
mod npy;
pub mod picture;
pub mod pictures;
mod scores;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::usage;
use crate::plot::PictureSize;
use crate::rows::Shown;
use crate::text;
use orthopt::report::Report;

/// Sources of the contents of files.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The run.
    pub report: &'a Report,
    /// Samples and variables, if a file needs them.
    pub shown: Option<&'a Shown>,
    /// Size of pictures.
    pub look: PictureSize,
}

/// Kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    X,
    Loadings,
    SortedLoadings,
    Scores,
    Trace,
    Plot,
    PlotLoadings,
    PlotScores,
    PlotBiplot,
    PlotCorrelations,
    PlotVariance,
    PlotScree,
    PlotStability,
    Report,
}

impl What {
    /// The option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            Self::X => "--save-x",
            Self::Loadings => "--save-loadings",
            Self::SortedLoadings => "--save-sorted-loadings",
            Self::Scores => "--save-scores",
            Self::Trace => "--trace",
            Self::Plot => "--plot",
            Self::PlotLoadings => "--plot-loadings",
            Self::PlotScores => "--plot-scores",
            Self::PlotBiplot => "--plot-biplot",
            Self::PlotCorrelations => "--plot-correlations",
            Self::PlotVariance => "--plot-variance",
            Self::PlotScree => "--plot-scree",
            Self::PlotStability => "--plot-stability",
            Self::Report => "--report",
        }
    }

    /// True if it shows samples.
    fn needs_rows(self) -> bool {
        matches!(self, Self::Scores | Self::PlotScores | Self::PlotBiplot)
    }

    /// True if it shows variables or samples of one result: files of `solve` alone.
    fn is_of_solve(self) -> bool {
        !matches!(self, Self::X | Self::Trace | Self::Plot)
    }
}

struct Format {
    what: What,
    endings: &'static [&'static str],
    write: fn(&Found<'_>, &Path) -> anyhow::Result<()>,
}

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    Format { what: What::X, endings: &[".npy", ".npy.gz"], write: npy::write_x },
    Format { what: What::X, endings: &[".csv", ".csv.gz"], write: loadings::write_x },
    Format { what: What::Loadings, endings: TABLES, write: loadings::write },
    Format { what: What::SortedLoadings, endings: TABLES, write: loadings::write_sorted },
    Format { what: What::Scores, endings: TABLES, write: scores::write },
    Format { what: What::Scores, endings: &[".npy", ".npy.gz"], write: npy::write_scores },
    Format { what: What::Trace, endings: &[".csv"], write: csv::write },
    Format { what: What::Trace, endings: &[".jsonl"], write: jsonl::write },
    Format { what: What::Plot, endings: picture::ENDINGS, write: pictures::write_convergence },
    Format { what: What::PlotLoadings, endings: picture::ENDINGS, write: pictures::write_loadings },
    Format { what: What::PlotScores, endings: picture::ENDINGS, write: pictures::write_scores },
    Format { what: What::PlotBiplot, endings: picture::ENDINGS, write: pictures::write_biplot },
    Format { what: What::PlotCorrelations, endings: picture::ENDINGS, write: pictures::write_correlations },
    Format { what: What::PlotVariance, endings: picture::ENDINGS, write: pictures::write_variance },
    Format { what: What::PlotScree, endings: picture::ENDINGS, write: pictures::write_scree },
    Format { what: What::PlotStability, endings: picture::ENDINGS, write: pictures::write_stability },
    Format { what: What::Report, endings: &[".html", ".htm"], write: html::write },
];

/// Tables with names of rows and columns.
pub const TABLES: &[&str] = &[".csv", ".csv.gz", ".tsv", ".tsv.gz"];

/// A file to be written when there is a result.
#[derive(Clone, Debug)]
pub struct Output {
    what: What,
    path: PathBuf,
}

impl Output {
    /// # Errors
    /// An extension that is not a format of `what`.
    pub fn new(what: What, path: &Path) -> anyhow::Result<Self> {
        let output = Self { what, path: path.into() };
        match output.format() {
            Some(format) if format.endings == picture::ENDINGS => {
                picture::check(what.option(), path).map(|()| output)
            }
            Some(_) => Ok(output),
            None => {
                let endings = FORMATS.iter().filter(|f| f.what == what).flat_map(|f| f.endings);
                Err(unknown(what.option(), path, &endings.copied().collect::<Vec<_>>()))
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, found: &Found<'_>) -> anyhow::Result<()> {
        match self.format() {
            Some(format) => (format.write)(found, &self.path),
            None => Ok(()), // excluded by `new`
        }
    }

    /// True if it is the page with the whole result.
    pub fn is_page(&self) -> bool {
        self.what == What::Report
    }

    /// True if it contains what halves of the rows say, where they are asked for.
    pub fn shows_stability(&self) -> bool {
        matches!(self.what, What::Loadings | What::SortedLoadings | What::PlotStability | What::Report)
    }

    /// True if it shows samples, so that the data must be samples and be kept until it is written.
    pub fn needs_rows(&self) -> bool {
        self.what.needs_rows()
    }

    /// An error for commands other than `solve` that cannot write this file.
    ///
    /// # Errors
    /// It is a file of `solve` alone.
    pub fn check_is_for(&self, command: &str) -> anyhow::Result<()> {
        if !self.what.is_of_solve() {
            return Ok(());
        }
        let why = "it is an option of solve, which starts from an X given by --init";
        Err(usage(format!("{command} does not write {}: {why}", self.what.option())))
    }

    /// True if it shows the data beside X: samples, or correlations of the variables.
    pub fn needs_data(&self) -> bool {
        self.needs_rows() || matches!(self.what, What::PlotCorrelations | What::Report)
    }

    /// The option that asks for it.
    pub fn option(&self) -> &'static str {
        self.what.option()
    }

    /// True if it is a plot.
    pub fn is_plot(&self) -> bool {
        self.what == What::Plot
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Option<&'static Format> {
        FORMATS.iter().find(|f| f.what == self.what && has_ending(&self.path, f.endings))
    }
}

/// True if a file has one of these endings, in letters of any size.
fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

fn unknown(option: &str, path: &Path, endings: &[&str]) -> anyhow::Error {
    usage(format!("{option} {}: the name must end in {}", path.display(), text::either(endings)))
}

/// A file of an option that writes one kind.
///
/// # Errors
/// Another ending of its name.
pub fn check_ending(option: &str, path: &Path, endings: &[&str]) -> anyhow::Result<()> {
    if has_ending(path, endings) { Ok(()) } else { Err(unknown(option, path, endings)) }
}

/// Lets `body` write the file; either the whole file is written or none. Where that fails it is written into the folder of
/// temporary files, and the error says so.
pub fn to_file(path: &Path, body: impl FnMut(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    Ok(orthopt_data::write_or_rescue(path, body)?)
}
