//! `randn:M:N[:SEED]`: independent standard normal entries, drawn row by row.

use crate::dataset::{DataSet, zeros};
use crate::error::DataError;
use crate::generate::Arguments;

pub(super) fn generate(arguments: &mut Arguments<'_>) -> Result<DataSet, DataError> {
    let (rows, cols) = (arguments.count("M")?, arguments.count("N")?);
    let mut random = arguments.seeded()?;
    let mut matrix = zeros(&arguments.budget(), rows, cols)?;
    for i in 0..rows {
        for j in 0..cols {
            matrix[(i, j)] = random.normal();
        }
    }
    Ok(DataSet::new(matrix, arguments.source()))
}
