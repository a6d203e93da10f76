//! DATA: loaded, checked, prepared, and what reports say of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use orthopt::family::{Kind, find_problem};
use orthopt::linalg::RowMat;
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{self, DataFacts};
use orthopt::request::{Request, Size};
use orthopt_data::stream::Step;
use orthopt_data::{DataSet, LoadOptions, Matrix, Missing, Prepare, Role, Scale, Units, read_names};

use crate::failure::usage;
use crate::rows::Rows;
use crate::streamed::{self, Stream, Streamed};
use crate::text;

/// Which data, and what to do with them first.
#[derive(Clone, Debug)]
pub struct DataRequest {
    /// DATA, or the file of `--gram`.
    pub source: PathBuf,
    /// Whether it is C itself by `--gram`.
    pub gram: bool,
    /// Whether a sparse C stays sparse.
    pub keep_sparse: bool,
    pub missing: Missing,
    /// Bytes that reading may take.
    pub max_memory: Option<Size>,
    /// Files with names of the columns and labels of the rows.
    pub names: Option<PathBuf>,
    pub labels: Option<PathBuf>,
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
            names: options.names.clone(),
            labels: options.labels.clone(),
            prepare: prepare(options)?,
            stream: Stream::new(options)?,
        })
    }
}

/// What is done with missing values; a config file may say anything.
pub fn missing(name: Option<&str>) -> anyhow::Result<Missing> {
    let Some(name) = name else { return Ok(Missing::default()) };
    let known = || Missing::NAMES.iter().map(|name| name.0).collect::<Vec<_>>().join(", ");
    Missing::parse(name).ok_or_else(|| {
        orthopt::Error::InvalidOption { option: "missing".into(), value: name.into(), expected: known() }
            .into()
    })
}

/// Whether the problem can make use of a sparse C.
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

/// How the data are prepared.
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

/// Data as a problem takes them.
#[derive(Debug)]
pub struct Input {
    pub info: DataFacts,
    matrix: Matrix,
    means: Option<Vec<f64>>, // to subtract from sparse data
    shrunk: f64,             // what the matrix was divided by for a covariance, besides its units
    row_names: Option<Vec<String>>,
    labels: Option<Vec<String>>,
    is_gram: bool,
    /// What there is to say of the way they came.
    pub notes: Vec<Message>,
}

impl Input {
    /// Loads and prepares; C itself is made dense and checked, unless it may stay sparse, when the
    /// problem checks it.
    ///
    /// # Errors
    /// Data that cannot be read or are invalid (exit code 1), a preparation that does not fit (2).
    pub fn load(request: &DataRequest) -> anyhow::Result<Self> {
        Self::watched(request, &mut |_| {})
    }

    /// The same; `watch` is told how far it is with rows that come part by part.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn watched(request: &DataRequest, watch: &mut dyn FnMut(Step<'_>)) -> anyhow::Result<Self> {
        match streamed::read(request, watch)? {
            Some(sums) => Self::of_sums(request, sums),
            None => Self::whole(request),
        }
    }

    /// C of rows that came part by part.
    fn of_sums(request: &DataRequest, read: Streamed) -> anyhow::Result<Self> {
        let Streamed { mut info, c, kept, columns, notes } = read;
        if let Some(path) = &request.names {
            let names = lines("--names", path)?;
            info.names = Some(streamed::kept_names(names, kept.as_deref(), columns, path)?);
        }
        let (matrix, shrunk) = (c.into(), 1.0);
        Ok(Self { info, matrix, means: None, shrunk, row_names: None, labels: None, is_gram: true, notes })
    }

    fn whole(request: &DataRequest) -> anyhow::Result<Self> {
        if request.gram && !request.source.to_string_lossy().contains(':') {
            check_exists("--gram", &request.source)?;
        }
        let max_memory = request.max_memory.map(|size| size.0);
        let options = LoadOptions { missing: request.missing, max_memory, ..LoadOptions::default() };
        let mut data = orthopt_data::load(&request.source, &options)?;
        if request.gram && data.missing > 0 {
            return Err(usage("--missing is for samples: compute C without missing values"));
        }
        if let Some(path) = &request.names {
            data = data.named(lines("--names", path)?, &path.display().to_string())?;
        }
        let labels = labels(request.labels.as_deref(), &data)?;
        if request.gram {
            data.role = Role::Gram;
        }
        let is_gram = data.role == Role::Gram;
        if is_gram && !(request.keep_sparse && data.matrix.is_sparse()) {
            let dense = data.matrix.try_to_dense(&data.source)?;
            orthopt_data::check_symmetric(&dense).with_context(|| data.source.clone())?;
            data.matrix = dense.into();
        }
        let (data, means, Units { means: centre, scales, shrunk }) = request.prepare.apply_to(data)?;
        let info = DataFacts {
            rows: data.matrix.nrows(),
            cols: data.matrix.ncols(),
            nnz: data.matrix.nnz(),
            role: if is_gram { report::Role::Gram } else { report::Role::Samples },
            centered: request.prepare.center,
            scaled: request.prepare.scale != Scale::None,
            scale: request.prepare.scale.to_string(),
            covariance: request.prepare.covariance,
            missing: data.missing,
            source: data.source,
            names: data.names,
            means: centre,
            scales,
        };
        let (matrix, row_names) = (data.matrix, data.row_names);
        let (shrunk, notes) = (shrunk.unwrap_or(1.0), Vec::new());
        Ok(Self { info, matrix, means, shrunk, row_names, labels, is_gram, notes })
    }

    /// Whether the samples are there, and not C alone.
    pub fn has_rows(&self) -> bool {
        !self.is_gram
    }

    /// The samples as components see them.
    pub fn rows(&self, x: &RowMat) -> Rows {
        let scores = crate::rows::scores(&self.matrix, self.means.as_deref(), self.shrunk, x);
        Rows { scores, names: self.row_names.clone(), labels: self.labels.clone() }
    }

    /// The data as the library takes them.
    pub fn pca(&self) -> PcaData<'_> {
        match &self.matrix {
            Matrix::Dense(c) if self.is_gram => PcaData::Gram(c.as_ref()),
            Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
            Matrix::Sparse(c) if self.is_gram => PcaData::SparseGram(c.as_ref()),
            Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), self.means.clone()),
        }
    }

    /// Sum of the squares of all entries: tr C of samples.
    pub fn sum_of_squares(&self) -> f64 {
        match &self.matrix {
            Matrix::Dense(a) => a.squared_norm_l2(),
            Matrix::Sparse(a) => a.val().iter().map(|v| v * v).sum(),
        }
    }

    /// The column means of samples that were not centred.
    pub fn means_left_in(&self) -> Option<Vec<f64>> {
        (self.has_rows() && !self.info.centered).then(|| self.matrix.column_means())
    }
}

/// The lines of the file that `option` names.
fn lines(option: &str, path: &Path) -> anyhow::Result<Vec<String>> {
    check_exists(option, path)?;
    read_names(path).context(option.to_string())
}

/// A label for each row, from a file or from the data themselves.
fn labels(path: Option<&Path>, data: &DataSet) -> anyhow::Result<Option<Vec<String>>> {
    let Some(path) = path else {
        let own = data.labels.as_ref().filter(|labels| labels.len() == data.matrix.nrows());
        return Ok(own.map(|labels| labels.iter().map(|label| text::exact(*label)).collect()));
    };
    let (labels, rows) = (lines("--labels", path)?, data.matrix.nrows());
    if labels.len() != rows {
        anyhow::bail!(
            "--labels {}: {} labels for the {rows} rows of {}; one per line is expected, in the order of the rows",
            path.display(),
            labels.len(),
            data.source
        );
    }
    Ok(Some(labels))
}

/// Reads an n × r matrix X from a file; `option` names it in errors.
///
/// # Errors
/// A file that cannot be read or understood.
pub fn read_x(option: &str, path: &Path) -> anyhow::Result<RowMat> {
    check_exists(option, path)?;
    let x = orthopt_data::read_dense_npy(path).context(option.to_string())?;
    Ok(RowMat::from_mat(x.as_ref()))
}

/// A matrix that looks like X' gets a hint; components are rows elsewhere.
///
/// # Errors
/// X is not n × r for some r ≤ n.
pub fn check_rows(option: &str, x: &RowMat, n: usize) -> anyhow::Result<()> {
    if x.nrows() == n {
        return Ok(());
    }
    let hint = if x.ncols() == n {
        "; it looks transposed: variables are rows of X, components are columns"
    } else {
        ""
    };
    anyhow::bail!(
        "{option}: X is {} x {}, but the data have {n} columns, so X must have {n} rows{hint}",
        x.nrows(),
        x.ncols()
    )
}

/// A config file or a file of signs. What has no end (`/dev/zero`) is neither.
pub fn short_text(path: &Path) -> io::Result<String> {
    const LONGEST: u64 = 1 << 24;
    let mut text = String::new();
    let read = File::open(path)?.take(LONGEST).read_to_string(&mut text)?;
    if read as u64 == LONGEST {
        return Err(io::Error::other("it is larger than 16 MB, the limit for such a file"));
    }
    Ok(text)
}

/// A missing file, without the list of what DATA can be.
fn check_exists(option: &str, path: &Path) -> anyhow::Result<()> {
    std::fs::metadata(path).map(drop).with_context(|| format!("{option}: cannot read `{}`", path.display()))
}
