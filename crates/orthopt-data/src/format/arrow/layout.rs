//! What the columns of a table are: numbers, or the names of the rows.

use arrow_schema::{DataType, Field, Schema};

use crate::text::show;

/// Columns by their place in the file.
#[derive(Debug)]
pub(super) struct Layout {
    /// The names of the rows.
    pub(super) row_names: Option<usize>,
    /// The numbers.
    pub(super) numbers: Vec<usize>,
    /// Names of the columns of numbers.
    pub(super) names: Vec<String>,
}

impl Layout {
    /// The layout of a table, or the first column that is neither.
    pub(super) fn of(schema: &Schema) -> Result<Self, String> {
        let fields = schema.fields();
        let row_names = index_of_pandas(schema).or_else(|| first_names_rows(schema).then_some(0));
        let numbers: Vec<usize> = (0..fields.len()).filter(|at| Some(*at) != row_names).collect();
        for at in &numbers {
            let field = &fields[*at];
            if !is_number(field.data_type()) {
                return Err(no_number(*at, field));
            }
        }
        let names = numbers.iter().map(|at| fields[*at].name().clone()).collect();
        Ok(Self { row_names, numbers, names })
    }
}

/// Whether a first column of text, of dates or without a name stands beside others.
fn first_names_rows(schema: &Schema) -> bool {
    let first = schema.fields().first().filter(|_| schema.fields().len() > 1);
    first.is_some_and(|field| {
        is_text(field.data_type()) || (field.name().trim().is_empty() && is_number(field.data_type()))
    })
}

/// The column that pandas keeps its index in, which stands behind the others; it says so in the schema. The usual
/// index, which counts from 0, is no column, and what several columns are together names no row.
fn index_of_pandas(schema: &Schema) -> Option<usize> {
    let described: serde_json::Value = serde_json::from_str(schema.metadata().get("pandas")?).ok()?;
    let [index] = described["index_columns"].as_array()?.as_slice() else { return None };
    let at = schema.index_of(index.as_str()?).ok()?;
    let data_type = schema.field(at).data_type();
    (schema.fields().len() > 1 && (is_text(data_type) || is_number(data_type))).then_some(at)
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || matches!(data_type, DataType::Boolean | DataType::Null)
}

/// What has the form of a name when it is written: text, one of several texts, points in time.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        _ => {
            data_type.is_string() || (data_type.is_temporal() && !matches!(data_type, DataType::Duration(_)))
        }
    }
}

fn no_number(at: usize, field: &Field) -> String {
    let holds = if is_text(field.data_type()) { "text or times" } else { "values" };
    format!(
        "column {} ({}) holds {holds} of type {} and not numbers; leave it out or convert it \
         to numbers (names of rows go in the first column)",
        at + 1,
        show(field.name().as_bytes()),
        field.data_type()
    )
}
