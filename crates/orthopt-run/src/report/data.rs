//! Facts about the data for reports.

use std::collections::BTreeMap;

use serde::Serialize;

use orthopt_bound::Prepared;

use orthopt_core::problem::PcaData;
use orthopt_core::smooth::for_each;

/// Role of the matrix of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A: rows are samples, C = AᵀA.
    #[default]
    Samples,
    /// C itself.
    Gram,
}

/// Facts about the reading of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TableFacts {
    /// The first line of the file holds names.
    pub header: bool,
    /// The column or file that names the rows.
    pub row_names: Option<String>,
    /// Columns that are left out.
    pub dropped: Vec<String>,
    /// Rows of the file are variables.
    pub transposed: bool,
    /// The column or file with weights of the rows.
    pub weights: Option<String>,
    /// The options by which another table is read as this one was, with their values.
    pub layout: BTreeMap<String, String>,
    /// One sentence of all that.
    pub read: String,
}

/// Facts about the data of a run for reports.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DataFacts {
    /// Source of the data; generators with all parameters filled in.
    pub source: String,
    /// Rows of the matrix: samples, or n for C itself.
    pub rows: usize,
    /// Columns of the matrix: variables.
    pub cols: usize,
    /// Entries that are not zero (of sparse data to be centred: before centring).
    pub nnz: usize,
    /// Role of the matrix.
    pub role: Role,
    /// Column means were subtracted.
    pub centered: bool,
    /// Columns were scaled.
    pub scaled: bool,
    /// Scaling of the columns: `none`, `unit`, `std` or a factor.
    pub scale: String,
    /// Everything was divided by √(m − 1), so that C is the covariance matrix of centred columns.
    pub covariance: bool,
    /// Entries that were missing and have been filled in, or dropped with their rows.
    pub missing: usize,
    /// Roots of the weights of the rows, which the rows have been multiplied with.
    #[serde(skip)]
    pub roots: Option<Vec<f64>>,
    /// Facts about the reading of the table that the data come from.
    #[serde(flatten)]
    pub table: Option<TableFacts>,
    /// Names of the variables, where the data have them.
    #[serde(skip)]
    pub names: Option<Vec<String>>,
    /// Means of the raw columns, where they were subtracted.
    #[serde(skip)]
    pub means: Option<Vec<f64>>,
    /// Divisors of the columns, if they were scaled.
    #[serde(skip)]
    pub scales: Option<Vec<f64>>,
}

impl DataFacts {
    /// Description of the data in a proof file.
    pub fn prepared(&self) -> Prepared {
        Prepared {
            source: self.source.clone(),
            rows: self.rows,
            cols: self.cols,
            gram: self.role == Role::Gram,
            centered: self.centered,
            scale: self.scale.clone(),
            covariance: self.covariance,
            missing: self.missing,
        }
    }

    /// Facts that follow from the data, without their preparation.
    pub fn of(data: &PcaData<'_>) -> Self {
        let count = |values: &[f64]| values.iter().filter(|v| **v != 0.0).count();
        let (rows, nnz) = match data {
            PcaData::Dense(a) | PcaData::Centred(a, _) | PcaData::Gram(a) => {
                let mut nnz = 0;
                for_each(*a, |_, _, v| nnz += usize::from(v != 0.0));
                (a.nrows(), nnz)
            }
            PcaData::Sparse(a, _) | PcaData::SparseGram(a) => (a.nrows(), count(a.val())),
        };
        Self {
            rows,
            cols: data.ncols(),
            nnz,
            role: match data {
                PcaData::Gram(_) | PcaData::SparseGram(_) => Role::Gram,
                _ => Role::Samples,
            },
            centered: matches!(data, PcaData::Centred(..) | PcaData::Sparse(_, Some(_))),
            ..Self::default()
        }
    }

    /// The name of variable `i`, or its number from 1 as `x17`.
    pub fn variable(&self, i: usize) -> String {
        match &self.names {
            Some(names) if i < names.len() => names[i].clone(),
            _ => format!("x{}", i + 1),
        }
    }

    /// True if xᵀCx is a variance: C is a covariance matrix if columns are centred, and is
    /// taken as one if C is given.
    pub fn has_variances(&self) -> bool {
        self.centered || self.role == Role::Gram
    }
}
