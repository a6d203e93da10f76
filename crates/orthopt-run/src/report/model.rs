//! Data for applying components to other rows, as part of the object of a run.

use serde::Serialize;

use super::Report;
use orthopt_core::problem::nonzero_rows;
use orthopt_linalg::RowMat;

/// X with the names and units of its variables: scores of a row a are ((a − means) / scales)·X.
#[derive(Clone, Debug, Serialize)]
pub struct Model<'a> {
    nonzeros_per_component: Vec<usize>,
    /// The variables that any component uses.
    variables: Vec<String>,
    names: Option<&'a [String]>,
    means: Option<&'a [f64]>,
    scales: Option<&'a [f64]>,
    x: Vec<&'a [f64]>,
}

impl Report {
    /// The model; its fields are a contract, in addition to those of [`Report::object`].
    pub fn model(&self) -> Model<'_> {
        let (x, data) = (self.x(), &self.task.data);
        Model {
            nonzeros_per_component: self.nonzeros(),
            variables: used(x).into_iter().map(|i| data.variable(i)).collect(),
            names: data.names.as_deref(),
            means: data.means.as_deref(),
            scales: data.scales.as_deref(),
            x: (0..x.nrows()).map(|i| x.row(i)).collect(),
        }
    }
}

/// The rows of X with an entry that is not zero.
pub fn used(x: &RowMat) -> Vec<usize> {
    nonzero_rows(x)
}
