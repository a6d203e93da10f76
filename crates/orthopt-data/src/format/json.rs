//! Tables in JSON: records (`[{"a": 1}, ...]`), one record a line, rows (`[[1, 2], ...]`), and columns (`{"a": [1, 2]}`, as
//! pandas writes them); names, rows and names of rows apart (`{"columns": [...], "data": [[...]]}`). Cells become the text that a table in text has, so that the same rules hold.

use csv::ByteRecord;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::rows::of_records;
use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::{LoadOptions, with_missing_rows};
use crate::input::Input;
use crate::stream::{Chunks, Whole};
use crate::table::{Head, arranged};
use crate::text::said;

pub(super) fn chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let options = with_missing_rows(options);
    Ok(Box::new(Whole::arranged(arranged(read(input, &options)?, &options)?)))
}

pub(super) fn read(mut input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    let bytes = input.read_rest()?;
    input.budget().check(8 * bytes.len())?; // values, and text again
    let broken = |error: serde_json::Error| input.file_error(format!("it is no JSON: {}", said(&error)));
    let values: Result<Vec<Ordered>, _> = serde_json::Deserializer::from_slice(&bytes).into_iter().collect();
    let records = match &values.map_err(broken)?[..] {
        [Ordered::List(rows)] => rows_of(rows),
        [Ordered::Object(parts)] if list(parts, "data").is_some() => rows_apart(parts),
        [Ordered::Object(columns)] if columns.iter().all(|(_, column)| column.is_column()) => {
            columns_of(columns)
        }
        lines => rows_of(lines),
    };
    let records = records.ok_or_else(|| {
        input.file_error(
            "it holds no table: records such as [{\"a\": 1}, {\"a\": 2}], one a line, or lists of equal length are one",
        )
    })?;
    let place = input.name().to_string();
    of_records(records, &place, &input, options, |_| {})
}

/// A value of JSON, with the order of names in objects.
enum Ordered {
    List(Vec<Ordered>),
    Object(Vec<(String, Ordered)>),
    Plain(Value),
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Ordered::Object(entries))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Ordered::List(values))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Plain(Value::Null))
    }
}

impl Ordered {
    /// True if it holds the cells of a column.
    fn is_column(&self) -> bool {
        match self {
            Self::List(cells) => cells.iter().all(|cell| matches!(cell, Self::Plain(_))),
            Self::Object(cells) => cells.iter().all(|(_, cell)| matches!(cell, Self::Plain(_))),
            Self::Plain(_) => false,
        }
    }

    /// As the text of a cell; what is nested is a word.
    fn text(&self) -> String {
        match self {
            Self::Plain(Value::Null) => String::new(),
            Self::Plain(Value::String(text)) => text.trim().into(),
            Self::Plain(value) => value.to_string(),
            Self::List(_) => "[...]".into(),
            Self::Object(_) => "{...}".into(),
        }
    }
}

/// A row by its number, from 0 where names come first.
fn head(row: usize, cells: impl IntoIterator<Item = String>) -> Head {
    let cells: Vec<String> = cells.into_iter().collect();
    Head { line: row as u64 + 1, fields: ByteRecord::from(cells), quoted: false }
}

/// A list by its name.
fn list<'a>(parts: &'a [(String, Ordered)], wanted: &str) -> Option<&'a Vec<Ordered>> {
    let found = parts.iter().find(|(name, _)| name == wanted);
    found
        .and_then(|(_, list)| if let Ordered::List(list) = list { Some(list) } else { None })
        .filter(|list| wanted != "data" || list.iter().any(|row| !matches!(row, Ordered::Plain(_))))
}

/// Rows beside the names of their columns, and their own names where there are some.
fn rows_apart(parts: &[(String, Ordered)]) -> Option<Vec<Head>> {
    let data = list(parts, "data")?;
    let Some(names) = list(parts, "columns") else { return rows_of(data) };
    let index = list(parts, "index").filter(|index| index.len() == data.len());
    let row = |i: usize, name: String, cells: &[Ordered]| {
        head(i, index.map(|_| name).into_iter().chain(cells.iter().map(Ordered::text)))
    };
    let mut rows = vec![row(0, String::new(), names)];
    for (i, cells) in data.iter().enumerate() {
        let Ordered::List(cells) = cells else { return None };
        rows.push(row(i + 1, index.map_or_else(String::new, |index| index[i].text()), cells));
    }
    Some(rows)
}

/// Records or lists, of which each is a row.
fn rows_of(rows: &[Ordered]) -> Option<Vec<Head>> {
    if let Some(lists) = rows
        .iter()
        .map(|row| if let Ordered::List(cells) = row { Some(cells) } else { None })
        .collect::<Option<Vec<_>>>()
    {
        let lists = lists.iter().enumerate();
        return Some(lists.map(|(i, cells)| head(i, cells.iter().map(Ordered::text))).collect());
    }
    let mut names: Vec<&str> = Vec::new();
    let mut place = std::collections::HashMap::new();
    let mut records = Vec::new();
    for row in rows {
        let Ordered::Object(cells) = row else { return None };
        let mut texts = vec![String::new(); names.len()];
        for (name, cell) in cells {
            let at = *place.entry(name.as_str()).or_insert_with(|| {
                names.push(name);
                texts.push(String::new());
                names.len() - 1
            });
            texts[at] = cell.text();
        }
        records.push(texts);
    }
    let width = names.len();
    let line_of_names = head(0, names.iter().map(|name| name.to_string()));
    let records = records.into_iter().enumerate().map(|(i, mut texts)| {
        texts.resize(width, String::new());
        head(i + 1, texts)
    });
    Some(std::iter::once(line_of_names).chain(records).collect())
}

/// Columns with their names.
fn columns_of(columns: &[(String, Ordered)]) -> Option<Vec<Head>> {
    let cells = |column: &Ordered| -> Vec<String> {
        match column {
            Ordered::List(cells) => cells.iter().map(Ordered::text).collect(),
            Ordered::Object(cells) => cells.iter().map(|(_, cell)| cell.text()).collect(),
            Ordered::Plain(_) => Vec::new(),
        }
    };
    let texts: Vec<Vec<String>> = columns.iter().map(|(_, column)| cells(column)).collect();
    let rows = texts.first()?.len();
    if texts.iter().any(|column| column.len() != rows) {
        return None;
    }
    let names = head(0, columns.iter().map(|(name, _)| name.clone()));
    let row = |i: usize| head(i + 1, texts.iter().map(|column| column[i].clone()));
    Some(std::iter::once(names).chain((0..rows).map(row)).collect())
}
