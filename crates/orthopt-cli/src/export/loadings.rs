//! X as a table.

use std::path::Path;

use faer::Mat;
use orthopt_data::{DataSet, Table, write_file, write_table};

use super::Found;
use crate::rows::component_names;

/// One row for each variable, with its name.
pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let (x, data) = (found.report.x(), &found.report.task.data);
    let variables: Vec<String> = (0..x.nrows()).map(|i| data.variable(i)).collect();
    let names = component_names(x.ncols());
    let values = x.as_mat();
    Ok(write_table(path, &Table { corner: "variable", row_names: Some(&variables), names: &names, values })?)
}

/// Numbers alone, which `--init` and `--x` read.
pub fn write_x(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let x: Mat<f64> = found.report.x().as_mat().to_owned();
    Ok(write_file(path, &DataSet::new(x, "X"))?)
}
