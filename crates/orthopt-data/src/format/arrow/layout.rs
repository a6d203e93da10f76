//! Roles of the columns of a table: numbers, names of the rows, labels, weights, or no variables.

use arrow_schema::{DataType, Schema};

use crate::error::DataError;
use crate::table::{
    Column, HowRead, Kind, LABELS, Note, ROW_NAMES, RowNames, Source, TableOptions, WEIGHTS, one_column,
};
use crate::text::show;

/// Columns by their place in the file.
#[derive(Debug)]
pub(super) struct Layout {
    /// The names of the rows.
    pub(super) row_names: Option<usize>,
    pub(super) labels: Option<usize>,
    pub(super) weights: Option<usize>,
    /// Words that are left out, and may say what a row is.
    pub(super) words: Vec<usize>,
    /// The numbers.
    pub(super) numbers: Vec<usize>,
    /// Names of the columns of numbers.
    pub(super) names: Vec<String>,
    pub(super) how: HowRead,
}

impl Layout {
    /// The layout of a table. Columns without numbers are left out; `is_index` says of one whether it only tells the rows
    /// apart.
    pub(super) fn of(
        schema: &Schema,
        options: &TableOptions,
        place: &str,
        is_index: impl Fn(usize) -> bool,
    ) -> Result<Self, DataError> {
        let fields = schema.fields();
        let width = fields.len();
        let all: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let kinds: Vec<Kind> = fields.iter().map(|field| kind(field.data_type())).collect();
        let is_text: Vec<bool> = kinds.iter().map(|kind| *kind != Kind::Number).collect();
        let one = |option: &'static str, word: &Option<String>| {
            let word = word.as_ref().filter(|word| !std::path::Path::new(word).exists());
            let found = word.map(|word| one_column(word, &all, width)).transpose();
            found.map_err(|error| DataError::Table {
                place: place.into(),
                problem: Note::about(option).text(format!(": {error}")),
            })
        };
        let (labels, weights) = (one("labels", &options.labels)?, one("weights", &options.weights)?);
        let taken = |at: usize| Some(at) == labels || Some(at) == weights;
        let chosen = options.chosen(&all, &is_text, place)?;
        let mut is_chosen = vec![false; width];
        chosen.into_iter().for_each(|at| is_chosen[at] = true);
        let is_chosen = |at: usize| is_chosen[at];
        let row_names = match &options.row_names {
            RowNames::Column(word) => one("row-names", &Some(word.clone()))?,
            RowNames::None => None,
            RowNames::Auto => {
                let first = width > 1 && first_names_rows(schema) && !taken(0);
                index_of_pandas(schema).or_else(|| first.then_some(0))
            }
        };
        let wanted = |at: usize| options.columns.is_some() && is_chosen(at);
        let auto = options.row_names == RowNames::Auto;
        let why = |at: usize| match Some(at) {
            at if at == labels => Some(LABELS),
            at if at == weights => Some(WEIGHTS),
            at if at == row_names => Some(ROW_NAMES),
            _ if kinds[at] == Kind::Text && !wanted(at) => Some("text"),
            _ if kinds[at] == Kind::Empty && !wanted(at) => Some("neither numbers nor text"),
            _ if !is_chosen(at) => Some("as asked"),
            _ if auto && !wanted(at) && !options.needed.contains(&all[at]) && is_index(at) => {
                Some("tells the rows apart")
            }
            _ => None,
        };
        let left_out: Vec<Option<&'static str>> = (0..width).map(why).collect();
        let numbers: Vec<usize> = (0..width).filter(|at| left_out[*at].is_none()).collect();
        for at in &numbers {
            if is_text[*at] {
                return Err(DataError::File { path: place.into(), problem: no_number(*at, schema) });
            }
        }
        let named = |at: Option<usize>| at.map(|at| Source::Column(all[at].clone()));
        let mut how = HowRead {
            header: Some(Source::File("the file".into())),
            row_names: named(row_names),
            labels: named(labels),
            weights: named(weights),
            ..HowRead::default()
        };
        for at in (0..width).filter(|at| left_out[*at] == Some("tells the rows apart")) {
            let note =
                format!("column {} tells the rows apart and is no variable; ", show(all[at].as_bytes()));
            how.notes.push(Note::from(note).set("row-names", "none").text(" takes it as one"));
        }
        let columns = all.iter().zip(&kinds).zip(&left_out);
        how.columns = columns
            .map(|((name, kind), why)| Column { name: name.clone(), kind: *kind, left_out: *why })
            .collect();
        let names = numbers.iter().map(|at| all[*at].clone()).collect();
        let is_word = |at: &usize| is_words(fields[*at].data_type()) && !taken(*at) && Some(*at) != row_names;
        let words = (0..width).filter(is_word).collect();
        Ok(Self { row_names, labels, weights, words, numbers, names, how })
    }
}

/// True if there are several columns and the first one holds text or dates, or is numeric without a name.
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

/// Numbers, text, or values that are neither, such as lists.
fn kind(data_type: &DataType) -> Kind {
    match data_type {
        number if is_number(number) => Kind::Number,
        text if is_text(text) => Kind::Text,
        _ => Kind::Empty,
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || matches!(data_type, DataType::Boolean | DataType::Null)
}

/// Text, or one of several texts.
fn is_words(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_words(values),
        _ => data_type.is_string(),
    }
}

/// True if a column has the form of names when it is written: text, one of several texts, points in time.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        _ => {
            data_type.is_string() || (data_type.is_temporal() && !matches!(data_type, DataType::Duration(_)))
        }
    }
}

fn no_number(at: usize, schema: &Schema) -> String {
    let field = schema.field(at);
    let holds = if is_text(field.data_type()) { "text or times" } else { "values" };
    format!(
        "column {} ({}) holds {holds} of type {} and not numbers; leave it out or convert it to numbers",
        at + 1,
        show(field.name().as_bytes()),
        field.data_type()
    )
}
