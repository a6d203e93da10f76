//! DATA: loaded, checked, prepared, and what reports say of it.

use std::path::Path;

use anyhow::Context;
use orthopt::family::{Kind, find_problem};
use orthopt::linalg::RowMat;
use orthopt::problem::PcaData;
use orthopt::report::{self, DataFacts};
use orthopt_data::{LoadOptions, Matrix, Prepare, Role, Scale};

use crate::failure::usage;
use crate::options::SolveOptions;

/// Which data, and what to do with them first.
#[derive(Clone, Debug)]
pub struct DataRequest {
    /// DATA, or the file of `--gram`.
    pub source: String,
    /// Whether it is C itself by `--gram`.
    pub gram: bool,
    /// Whether a sparse C stays sparse.
    pub keep_sparse: bool,
    pub prepare: Prepare,
}

impl DataRequest {
    pub fn new(options: &SolveOptions) -> anyhow::Result<Self> {
        let (source, gram) = one_source(options.data.as_deref(), options.gram.as_deref())?;
        let prepare = prepare(options.center, options.scale.as_deref(), options.features)?;
        Ok(Self { source, gram, keep_sparse: keeps_sparse(options.problem.as_deref()), prepare })
    }
}

/// Whether the problem can make use of a sparse C.
pub fn keeps_sparse(problem: Option<&str>) -> bool {
    problem.is_some_and(|name| find_problem(name).is_ok_and(|info| info.kind == Kind::NonlinearEig))
}

/// DATA or the file of `--gram`, and which of the two it is.
pub fn one_source(data: Option<&str>, gram: Option<&str>) -> anyhow::Result<(String, bool)> {
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
pub fn prepare(
    center: Option<bool>,
    scale: Option<&str>,
    features: Option<usize>,
) -> anyhow::Result<Prepare> {
    let invalid = |text: &str| orthopt::Error::InvalidOption {
        option: "scale".into(),
        value: text.into(),
        expected: Scale::EXPECTED.into(),
    };
    Ok(Prepare {
        center: center.unwrap_or(false),
        scale: match scale {
            None => Scale::None,
            Some(text) => Scale::parse(text).ok_or_else(|| invalid(text))?,
        },
        features,
    })
}

/// Data as a problem takes them.
#[derive(Debug)]
pub struct Input {
    pub info: DataFacts,
    matrix: Matrix,
    means: Option<Vec<f64>>, // to subtract from sparse data
}

impl Input {
    /// Loads and prepares; C itself is made dense and checked, unless it may stay sparse, when the
    /// problem checks it.
    ///
    /// # Errors
    /// Data that cannot be read or are invalid (exit code 1), a preparation that does not fit (2).
    pub fn load(request: &DataRequest) -> anyhow::Result<Self> {
        if request.gram && !request.source.contains(':') {
            check_exists("--gram", Path::new(&request.source))?;
        }
        let mut data = orthopt_data::load(&request.source, &LoadOptions::default())?;
        if request.gram {
            data.role = Role::Gram;
        }
        let is_gram = data.role == Role::Gram;
        if is_gram && !(request.keep_sparse && data.matrix.is_sparse()) {
            let dense = data.matrix.try_to_dense(&data.source)?;
            orthopt_data::check_symmetric(&dense).with_context(|| data.source.clone())?;
            data.matrix = dense.into();
        }
        let (data, means) = request.prepare.apply_to(data)?;
        let info = DataFacts {
            rows: data.matrix.nrows(),
            cols: data.matrix.ncols(),
            nnz: data.matrix.nnz(),
            role: if is_gram { report::Role::Gram } else { report::Role::Samples },
            centered: request.prepare.center,
            scaled: request.prepare.scale != Scale::None,
            source: data.source,
            names: data.names,
        };
        Ok(Self { info, matrix: data.matrix, means })
    }

    /// The data as the library takes them.
    pub fn pca(&self) -> PcaData<'_> {
        match &self.matrix {
            Matrix::Dense(c) if self.info.role == report::Role::Gram => PcaData::Gram(c.as_ref()),
            Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
            Matrix::Sparse(c) if self.info.role == report::Role::Gram => PcaData::SparseGram(c.as_ref()),
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
        (self.info.role == report::Role::Samples && !self.info.centered).then(|| self.matrix.column_means())
    }
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

/// A missing file, without the list of what DATA can be.
fn check_exists(option: &str, path: &Path) -> anyhow::Result<()> {
    std::fs::metadata(path).map(drop).with_context(|| format!("{option}: cannot read `{}`", path.display()))
}
