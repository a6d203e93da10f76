//! DATA: loaded, checked, prepared, and what reports say of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use orthopt::RowMat;
use orthopt::family;
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{self, DataFacts};
use orthopt_data::stream::Step;
use orthopt_data::{Matrix, Role, Scale, Units};

use crate::data_request::{DataRequest, facts};
use crate::rows::{Rows, Shown, correlations, correlations_of_c, scores};
use crate::streamed::{self, Streamed};
use crate::{text, wording};

/// Data as a problem takes them.
#[derive(Debug)]
pub struct Input {
    pub info: DataFacts,
    matrix: Matrix,
    means: Option<Vec<f64>>, // to subtract from sparse data
    shrunk: f64,             // what the matrix was divided by for a covariance, besides its units
    row_names: Option<Vec<String>>,
    labels: Option<Vec<String>>,
    weights: Option<Vec<f64>>, // of the rows, whose roots they have been multiplied with
    is_gram: bool,
    /// Remarks on the reading of the data.
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

    /// [`load`](Self::load) with a function `watch` that receives the progress for rows that are read part by part.
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
        if let Some(path) = &request.table.names {
            let names = read_names_of(path)?;
            info.names = Some(streamed::kept_names(names, kept.as_deref(), columns, Path::new(path))?);
        }
        let (matrix, shrunk) = (c.into(), 1.0);
        let (row_names, labels, weights) = (None, None, None);
        Ok(Self { info, matrix, means: None, shrunk, row_names, labels, weights, is_gram: true, notes })
    }

    fn whole(request: &DataRequest) -> anyhow::Result<Self> {
        if request.gram && !request.source.to_string_lossy().contains(':') {
            check_exists("--gram", &request.source)?;
        }
        if let Some(file) = request.table.names.as_ref().filter(|file| !file.contains(':')) {
            check_exists("--names", Path::new(file))?;
        }
        let mut data = orthopt_data::load(&request.source, &request.load())?;
        let own = data.labels.as_ref().filter(|labels| labels.len() == data.matrix.nrows());
        let own = own.map(|labels| labels.iter().map(|label| text::exact(*label)).collect());
        let labels = data.groups.take().or(own);
        let is_gram = data.role == Role::Gram;
        if is_gram && !(request.keep_sparse && data.matrix.is_sparse()) {
            let dense = data.matrix.try_to_dense(&data.source)?;
            orthopt_data::check_symmetric(dense.as_ref()).with_context(|| data.source.clone())?;
            data.matrix = dense.into();
        }
        let notes: Vec<Message> = data.how.notes.iter().map(wording::message).collect();
        let table = facts(&data.how, data.sentence());
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
            roots: data.weights.as_ref().map(|all| all.iter().map(|w| w.sqrt()).collect()),
            // numbers that are drawn are read from nowhere
            table: (!is_drawn(&request.source)).then_some(table),
        };
        let (matrix, row_names, weights) = (data.matrix, data.row_names, data.weights);
        Ok(Self {
            info,
            matrix,
            means,
            shrunk: shrunk.unwrap_or(1.0),
            row_names,
            labels,
            weights,
            is_gram,
            notes,
        })
    }

    /// True if the samples are there, and not C alone.
    pub fn has_rows(&self) -> bool {
        !self.is_gram
    }

    /// Data beside X that files show.
    pub fn shown(&self, x: &RowMat) -> Shown {
        if self.is_gram {
            let plane = RowMat::from_fn(x.nrows(), x.ncols().min(2), |i, k| x.get(i, k));
            return Shown { rows: None, correlations: correlations_of_c(&self.matrix, &plane) };
        }
        let mut scores = scores(&self.matrix, self.means.as_deref(), self.shrunk, x);
        let roots: Option<Vec<f64>> = self.weights.as_ref().map(|all| all.iter().map(|w| w.sqrt()).collect());
        let plane = scores.subcols(0, x.ncols().min(2));
        let correlations = correlations(&self.matrix, plane, roots.as_deref());
        for (i, root) in roots.iter().flatten().enumerate() {
            scores.row_mut(i).iter_mut().for_each(|score| *score /= root);
        }
        let rows = Rows { scores, names: self.row_names.clone(), labels: self.labels.clone() };
        Shown { rows: Some(rows), correlations }
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

    /// A note for samples that are not centred though they ought to be.
    pub fn remark_on_means(&self) -> Option<Message> {
        if !self.has_rows() || self.info.centered {
            return None;
        }
        let roots: Option<Vec<f64>> = self.weights.as_ref().map(|all| all.iter().map(|w| w.sqrt()).collect());
        family::remark_on_means(&self.pca(), roots.as_deref())
    }
}

/// Names in a file, for rows that come part by part.
fn read_names_of(file: &str) -> anyhow::Result<Vec<String>> {
    if !file.contains(':') {
        check_exists("--names", Path::new(file))?;
    }
    orthopt_data::read_column(file).context("--names")
}

/// True if DATA is a generator or a built-in table.
fn is_drawn(source: &Path) -> bool {
    let name = source.to_string_lossy();
    !source.exists() && name.contains(':')
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
