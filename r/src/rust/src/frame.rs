//! Data frames by the rules of files, and what is said of matrices, as the command says it of files.

use extendr_api::prelude::*;
use orthopt::message::Message;
use orthopt_data::{FrameCells, FrameColumn, Note, NotePart, TableOptions};
use orthopt_data::{framed, is_triangular, remark_on_c, remark_on_samples};

use crate::failure::{Failure, worded};
use crate::view;

/// Name of a frame in errors.
const UNNAMED: &str = "x";

/// A note of the readers, with options as R has them.
fn told(note: &Note) -> String {
    let message = note.parts().iter().fold(Message::default(), |message, part| match part {
        NotePart::Text(text) => message.text(text.clone()),
        NotePart::Option { name: "gram", .. } => message.option("covmat"),
        NotePart::Option { name: "nearest", .. } => message.text("Matrix::nearPD"),
        NotePart::Option { name, value: None } => message.option(*name),
        NotePart::Option { name, value: Some(value) } => message.set(name, value.clone()),
    });
    worded(&message)
}

/// What the readers refuse.
fn refused(error: &orthopt_data::DataError) -> Failure {
    Failure::Bridge(error.worded(|name, value| match value {
        None => name.replace('-', "_"),
        Some(value) => format!("{} = \"{value}\"", name.replace('-', "_")),
    }))
}

/// Variables and samples of a frame: columns of doubles and of strings, `NULL` for others, and names of rows or `NULL`.
pub fn arranged(
    names: Vec<String>,
    cells: &List,
    rows: usize,
    index: Option<Vec<String>>,
    options: &List,
) -> Result<Robj, Failure> {
    let mut table = TableOptions::default();
    for (option, value) in options.iter() {
        let value = value.as_str().unwrap_or_default();
        table.set(&option.replace('_', "-"), value).map_err(|error| refused(&error))?;
    }
    let values: Vec<Robj> = cells.values().collect();
    let cells = values.iter().map(|cells| match (cells.as_real_slice(), cells.as_string_vector()) {
        (Some(values), _) => FrameCells::Numbers(values),
        (None, Some(words)) => FrameCells::Words(words),
        (None, None) => FrameCells::Other,
    });
    let columns: Vec<FrameColumn<'_>> =
        names.into_iter().zip(cells).map(|(name, cells)| FrameColumn { name, cells }).collect();
    let found = framed(&columns, rows, index.as_deref(), &table, UNNAMED).map_err(|error| refused(&error))?;
    let places = |of: &[usize]| of.iter().map(|at| *at as i32 + 1).collect::<Vec<i32>>();
    let at: Vec<i32> = found.numbers.iter().map(|(at, _)| *at as i32 + 1).collect();
    let numbers = List::from_values(found.numbers.into_iter().map(|(_, values)| values));
    let notes: Vec<String> = found.how.notes.iter().map(told).collect();
    Ok(list!(
        columns = places(&found.columns),
        rows = places(&found.rows),
        at = at,
        numbers = numbers,
        notes = notes
    )
    .into())
}

/// Notes on samples, or on C itself.
pub fn remarks(x: &RMatrix<f64>, gram: bool) -> Vec<String> {
    let a = view(x);
    let remark = if gram { remark_on_c(a) } else { remark_on_samples(a, "x[-nrow(x), ]") };
    remark.iter().map(told).collect()
}

/// Whether one triangle of C is empty.
pub fn has_one_triangle(x: &RMatrix<f64>) -> bool {
    is_triangular(view(x))
}
