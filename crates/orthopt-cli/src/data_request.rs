//! Which DATA, how they are read and prepared, and what reports say of the way they were read.

use std::path::{Path, PathBuf};

use orthopt::family::{Kind, find_problem};
use orthopt::report::TableFacts;
use orthopt::request::{Request, Size};
use orthopt_data::{HowRead, LoadOptions, Missing, Prepare, Scale, Source, Summation, TableOptions};

use crate::failure::usage;
use crate::table_options;

/// From this size on, tables and arrays are read part by part by default.
const LARGE: u64 = 1_000_000_000;

/// Which data, and what to do with them first.
#[derive(Clone, Debug)]
pub struct DataRequest {
    /// DATA, or the file of `--gram`.
    pub source: PathBuf,
    /// True if it is C itself by `--gram`.
    pub gram: bool,
    /// True if a sparse C stays sparse.
    pub keep_sparse: bool,
    pub missing: Missing,
    /// Bytes that reading may take.
    pub max_memory: Option<Size>,
    /// Options of reading tables.
    pub table: TableOptions,
    pub prepare: Prepare,
    /// Rows part by part.
    pub stream: Stream,
}

impl DataRequest {
    pub fn new(options: &Request) -> anyhow::Result<Self> {
        let (source, gram) = one_source(options.data.as_deref(), options.gram_file())?;
        Ok(Self {
            source,
            gram,
            keep_sparse: keeps_sparse(options.problem.as_deref()),
            missing: missing(options.missing.as_deref())?,
            max_memory: options.max_memory,
            table: table_options::of(options)?,
            prepare: prepare(options)?,
            stream: Stream::new(options)?,
        })
    }

    /// Options of reading the data.
    pub fn load(&self) -> LoadOptions {
        LoadOptions {
            missing: self.missing,
            max_memory: self.max_memory.map(|size| size.0),
            gram: self.gram,
            table: self.table.clone(),
            ..LoadOptions::default()
        }
    }
}

/// Treatment of missing values; a config file may hold any text.
pub fn missing(name: Option<&str>) -> anyhow::Result<Missing> {
    let Some(name) = name else { return Ok(Missing::default()) };
    let known = || Missing::NAMES.iter().map(|name| name.0).collect::<Vec<_>>().join(", ");
    Missing::parse(name).ok_or_else(|| {
        orthopt::Error::InvalidOption { option: "missing".into(), value: name.into(), expected: known() }
            .into()
    })
}

/// True if the problem can make use of a sparse C.
fn keeps_sparse(problem: Option<&str>) -> bool {
    problem.is_some_and(|name| find_problem(name).is_ok_and(|info| info.kind == Kind::NonlinearEig))
}

/// DATA or the file of `--gram`, and which of the two it is.
fn one_source(data: Option<&Path>, gram: Option<&Path>) -> anyhow::Result<(PathBuf, bool)> {
    match (data, gram) {
        (Some(data), None) => Ok((data.into(), false)),
        (None, Some(gram)) => Ok((gram.into(), true)),
        (None, None) => {
            Err(usage("DATA is missing: a file, randn:M:N or builtin:NAME (or --gram FILE for C itself)"))
        }
        (Some(_), Some(_)) => Err(usage("give DATA or --gram, not both")),
    }
}

/// Preparation of the data.
///
/// # Errors
/// A scaling that there is not.
fn prepare(options: &Request) -> anyhow::Result<Prepare> {
    let scale = match options.scale.as_deref() {
        None => Scale::None,
        Some(text) => Scale::parse(text).ok_or_else(|| orthopt::Error::InvalidOption {
            option: "scale".into(),
            value: text.into(),
            expected: Scale::EXPECTED.into(),
        })?,
    };
    Ok(Prepare::of(options.center, scale, options.covariance, options.features))
}

/// The request.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Part by part or not; open if nothing is said.
    pub wanted: Option<bool>,
    pub how: Summation,
    pub screen: Option<usize>,
    /// Files besides DATA.
    pub more: Vec<PathBuf>,
    /// True if a file that is to be written shows the rows.
    needs_rows: bool,
}

impl Stream {
    /// # Errors
    /// Options that exclude each other.
    pub fn new(options: &Request) -> anyhow::Result<Self> {
        let more = options.more.clone().unwrap_or_default();
        let several = !more.is_empty();
        if options.stream == Some(false) && (several || options.screen.is_some()) {
            let what = if several { "several files are read" } else { "with --screen rows are read" };
            return Err(usage(format!("--stream=false: {what} part by part")));
        }
        if options.gram.is_some() && (options.stream == Some(true) || options.screen.is_some()) {
            return Err(usage("--gram gives C itself: there are no rows to read part by part"));
        }
        let of_rows = options.labels.as_deref().is_some_and(|labels| Path::new(labels).exists());
        if of_rows && (options.stream == Some(true) || several) {
            return Err(usage(
                "--labels are for pictures of rows, but rows that are read part by part are not kept",
            ));
        }
        if options.screen.is_some() && options.data.as_deref() == Some(Path::new("-")) {
            return Err(usage(
                "--screen reads the rows twice, which standard input does not allow; use a file",
            ));
        }
        let how = match options.reproducible {
            Some(true) => Summation::Reproducible,
            _ => Summation::Compensated,
        };
        let rows = [&options.save_scores, &options.plot_scores, &options.plot_biplot, &options.report];
        let needs_rows = rows.iter().any(|path| path.is_some()) || options.labels.is_some();
        let asked = several || options.screen.is_some() || options.reproducible == Some(true);
        let wanted = options.stream.or(asked.then_some(true));
        Ok(Self { wanted, how, screen: options.screen, more, needs_rows })
    }

    /// True if files of these sizes are to come part by part without being asked.
    pub fn suits(&self, bytes: u64, missing: Missing) -> bool {
        bytes >= LARGE && !self.needs_rows && matches!(missing, Missing::Error | Missing::Drop)
    }
}

/// Facts about the reading of a table, for reports.
pub fn facts(how: &HowRead, read: String) -> TableFacts {
    let word = |source: &Option<Source>| source.as_ref().map(|source| source.word().to_string());
    let first_line = [&how.header, &how.row_names].iter().any(|source| **source == Some(Source::FirstLine));
    TableFacts {
        header: first_line,
        row_names: word(&how.row_names),
        dropped: how.dropped().map(|(name, _)| name.to_string()).collect(),
        transposed: how.transposed,
        weights: word(&how.weights),
        layout: how.layout().into_iter().map(|(name, value)| (name.into(), value)).collect(),
        read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_come_part_by_part_where_nothing_needs_their_rows() {
        let plain = Stream::new(&Request::default()).unwrap();
        assert!(plain.suits(LARGE, Missing::Error) && plain.suits(LARGE, Missing::Drop));
        assert!(!plain.suits(LARGE - 1, Missing::Error) && !plain.suits(LARGE, Missing::Mean));
        let scores = Request { save_scores: Some("s.csv".into()), ..Request::default() };
        assert!(!Stream::new(&scores).unwrap().suits(LARGE, Missing::Error));
        let several = Request { more: Some(vec!["b.csv".into()]), stream: Some(false), ..Default::default() };
        assert!(Stream::new(&several).is_err());
    }
}
