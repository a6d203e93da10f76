//! X as a table.

use std::path::Path;

use faer::{Mat, MatRef};
use orthopt_data::{DataSet, Table, write_file, write_table};

use super::Found;
use crate::rows::component_names;

/// One row for each variable, with its name; what halves of the rows say of its loadings stands beside these.
pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let all: Vec<usize> = (0..found.report.x().nrows()).collect();
    write_rows(found, &all, path)
}

/// Writes the rows of [`write()`] with those of each component together: the ones that load most on the first by size,
/// then those of the second, and so on. Variables of no component are last.
pub fn write_sorted(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    write_rows(found, &by_component(found.report.x().as_mat()), path)
}

fn by_component(x: MatRef<'_, f64>) -> Vec<usize> {
    let size = |i: usize, k: usize| x[(i, k)].abs();
    let component = |i: usize| {
        let largest = (0..x.ncols()).reduce(|best, k| if size(i, k) > size(i, best) { k } else { best });
        largest.filter(|k| size(i, *k) > 0.0).map_or((x.ncols(), 0.0), |k| (k, size(i, k)))
    };
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    order.sort_by(|i, j| {
        let ((first, a), (second, b)) = (component(*i), component(*j));
        first.cmp(&second).then(b.total_cmp(&a))
    });
    order
}

fn write_rows(found: &Found<'_>, order: &[usize], path: &Path) -> anyhow::Result<()> {
    let (x, data) = (found.report.x().as_mat(), &found.report.task.data);
    let variables: Vec<String> = order.iter().map(|i| data.variable(*i)).collect();
    let mut names = component_names(x.ncols());
    let mut columns = vec![x];
    if let Some(stability) = &found.report.stability {
        let more = [("frequency", &stability.frequency), ("low", &stability.low), ("high", &stability.high)];
        for (what, values) in more {
            names.extend(component_names(x.ncols()).iter().map(|name| format!("{name}_{what}")));
            columns.push(values.as_mat());
        }
    }
    let values =
        Mat::from_fn(x.nrows(), names.len(), |i, k| columns[k / x.ncols()][(order[i], k % x.ncols())]);
    let table =
        Table { corner: "variable", row_names: Some(&variables), names: &names, values: values.as_ref() };
    Ok(write_table(path, &table)?)
}

/// Numbers alone, which `--init` and `--x` read.
pub fn write_x(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    let x: Mat<f64> = found.report.x().as_mat().to_owned();
    Ok(write_file(path, &DataSet::new(x, "X"))?)
}
