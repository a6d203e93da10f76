//! What the first lines of a table decide: which of them are names, how numbers are written, and what each column is.
//!
//! The first line is a header when one of its fields is text (other than a row of numbers and text like those below it),
//! when its first field is empty, or when it holds numbers that count or climb, which rows below do not. The first
//! column names the rows when it is text, when its header is empty (pandas, R's `write.csv`) or one name short (R's
//! `write.table`), when it counts, or when it is unique and called like an identifier. When the only text of the first
//! line is in a first column of text, the line could be either a row or a header with numbers as names: then it is a
//! header if its first field is a word such as `name` or if the numbers count or climb, and refused otherwise, because a
//! row lost silently is worse than a question.

use std::collections::HashSet;

use csv::ByteRecord;

use super::how::{Column, HowRead, Kind, LABELS, ROW_NAMES, Source, WEIGHTS};
use super::note::Note;
use super::number::{Cell, Evidence, Found, Marks, decoded, is_number, measured};
use super::options::{Columns, Header, RowNames, TableOptions, one_column};
use crate::error::DataError;
use crate::text::show;

/// First fields of a line of names.
const CORNER: [&str; 6] = ["row", "name", "id", "index", "sample", "variable"];

/// Names of columns that tell rows apart.
const IDENTIFIERS: [&str; 24] = [
    "id",
    "ids",
    "index",
    "row",
    "rows",
    "rowname",
    "rownames",
    "row.names",
    "row_names",
    "row_name",
    "rowid",
    "name",
    "names",
    "date",
    "case",
    "caseid",
    "obs",
    "no",
    "no.",
    "nr",
    "nr.",
    "#",
    "key",
    "uuid",
];

/// Columns of text that a message lists.
const LISTED: usize = 8;

/// Rows from which on a first column that counts is no chance.
const COUNTED: usize = 5;

/// Rows from which on a first line that climbs far away from all of them is no chance.
const FAR: usize = 3;

/// Columns from which on a first line that climbs is no chance, though not evenly.
const CLIMBING: usize = 8;

/// A line with its fields.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) line: u64,
    pub(crate) fields: ByteRecord,
}

impl Head {
    fn field(&self, at: usize) -> &[u8] {
        self.fields.get(at).unwrap_or_default()
    }
}

/// What a field of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Number,
    RowName,
    Label,
    Weight,
    /// Left out.
    Skip,
    /// Left out because nothing is in it.
    Empty,
}

/// A table as it will be read.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// What each field is.
    pub(crate) roles: Vec<Role>,
    /// The line that says how many fields there are.
    pub(crate) line: u64,
    /// Whether the first line holds names.
    pub(crate) header: bool,
    /// Names of all columns of the file, where it has some.
    all_names: Option<Vec<String>>,
    /// Names of the variables, where there are some.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) marks: Marks,
    /// The first row name, where it is text and so makes all of them names.
    pub(crate) text: Option<String>,
    pub(crate) how: HowRead,
}

/// What is wrong with a table: in the line read last, in another one, or in a cell.
#[derive(Debug)]
pub(crate) enum Problem {
    Here(String),
    Elsewhere(u64, String),
    Advice(Option<u64>, Note),
    NotFinite { row: usize, column: usize, value: f64 },
    Missing { row: usize, column: usize, name: String, text: String },
}

impl Problem {
    /// As an error of the file at `path`, where `line` was read.
    pub(crate) fn at(self, path: &str, line: u64) -> DataError {
        let path = path.to_string();
        match self {
            Self::Here(problem) => DataError::Line { path, line, problem },
            Self::Elsewhere(line, problem) => DataError::Line { path, line, problem },
            Self::Advice(at, problem) => {
                DataError::Table { place: format!("{path}:{}", at.unwrap_or(line)), problem }
            }
            Self::NotFinite { row, column, value } => {
                DataError::NotFinite { place: format!("{path}:{line}"), row, column, value }
            }
            Self::Missing { row, column, name, text } => {
                DataError::Missing { place: format!("{path}:{line}"), row, column, name, text }
            }
        }
    }
}

impl Layout {
    /// The layout of a table from its first lines, of which there is at least one. `by_semicolon` says whether `;` or
    /// white space separates its fields.
    pub(crate) fn of(head: &[Head], by_semicolon: bool, options: &TableOptions) -> Result<Self, Problem> {
        let (marks, found) = marks(head, by_semicolon, options)?;
        let mut how = HowRead::default();
        how.style.extend((marks.decimal == b',').then(|| "decimal commas".to_string()));
        if let Some(mark) = marks.thousands.filter(|_| options.thousands.is_none()) {
            how.style.push(format!("thousands marked by {}", show(mark.to_string().as_bytes())));
        }
        if found.doubt {
            let (reading, other) = if marks.decimal == b'.' { ("decimals", ",") } else { ("decimals", ".") };
            let note = Note::from(format!(
                "numbers such as 10{}484 are read as {reading}; ",
                char::from(marks.decimal)
            ));
            how.notes.push(note.set("decimal", other).text(" reads them as thousands"));
        }
        let header = is_header(head, &marks, options, &mut how.notes)?;
        let rows = &head[usize::from(header)..];
        let mut table = Table { head, rows, header, marks: &marks, names: None, short: false };
        table.name_columns()?;
        table.refuse_second_header()?;
        let layout = table.columns(options, &mut how)?;
        let Table { names: all_names, .. } = table;
        how.header = all_names.as_ref().map(|_| Source::FirstLine);
        let (roles, text) = layout;
        let kept = |names: &Vec<String>| -> Vec<String> {
            names
                .iter()
                .zip(&roles)
                .filter(|(_, role)| **role == Role::Number)
                .map(|(n, _)| n.clone())
                .collect()
        };
        let names = all_names.as_ref().map(kept);
        Ok(Self { roles, line: head[0].line, header, all_names, names, marks, text, how })
    }

    /// Number of variables.
    pub(crate) fn columns(&self) -> usize {
        self.roles.iter().filter(|role| **role == Role::Number).count()
    }

    /// Whether some column has this role.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// The name of a column of the file in brackets, where it has one.
    pub(crate) fn name_of(&self, at: usize) -> String {
        bracketed(self.all_names.as_deref(), at)
    }

    /// What there is to say of a cell that is no number.
    pub(crate) fn bad_cell(&self, at: usize, field: &[u8]) -> Note {
        let (column, name) = (at + 1, self.name_of(at));
        let begin = format!("{} in column {column}{name} is not a number", show(field));
        let reference = self.all_names.as_deref().map_or_else(|| column.to_string(), |_| reference(self, at));
        if let Some(found) = measured(field) {
            let note = Note::from(format!(
                "{} in column {column}{name} is a number with {}: take it out of the cells, or ",
                show(field),
                found.what
            ));
            return note.set("drop", reference).text(" leaves the column out");
        }
        if field.iter().any(|byte| b";\t".contains(byte)) {
            return Note::from(format!("{begin}; the first line has another separator"));
        }
        let has = |byte: u8| field.iter().filter(|b| **b == byte).count() == 1;
        let other = if self.marks.decimal == b'.' { b',' } else { b'.' };
        if has(other) && is_number(field) {
            let known = if other == b',' { "point" } else { "comma" };
            let note = format!("{begin}: other cells have a decimal {known}; ");
            return Note::from(note)
                .option("decimal")
                .text(" and ")
                .option("thousands")
                .text(" say what the marks are");
        }
        let value = decoded(field);
        if !is_typed(&value) {
            return Note::from(format!("{begin}; if the column holds text, ")).set("drop", reference);
        }
        Note::from(format!("{begin}; if it stands for a missing value, say "))
            .set("na", Columns::listed([value.as_str()]))
            .text(", and if the column holds text, ")
            .set("drop", reference)
    }
}

/// How an option names a column: by its name, else by its number.
fn reference(layout: &Layout, at: usize) -> String {
    option_word(layout.all_names.as_deref(), at)
}

/// Whether someone would type a word as the value of an option.
fn is_typed(word: &str) -> bool {
    const LONGEST: usize = 60;
    !word.chars().any(char::is_control) && word.chars().nth(LONGEST).is_none()
}

/// A column in the value of an option: the number of one whose name no one would type.
fn option_word(names: Option<&[String]>, at: usize) -> String {
    let word = column_word(names, at);
    if is_typed(&word) { word } else { (at + 1).to_string() }
}

fn column_word(names: Option<&[String]>, at: usize) -> String {
    let named = names.map(|names| names[at].as_str());
    let only = |name: &str| {
        !name.trim().is_empty() && names.is_some_and(|n| n.iter().filter(|o| *o == name).count() == 1)
    };
    match named {
        Some(name) if only(name) => name.into(),
        _ => (at + 1).to_string(),
    }
}

fn bracketed(names: Option<&[String]>, at: usize) -> String {
    let name = names.and_then(|names| names.get(at)).filter(|name| !name.is_empty());
    name.map_or(String::new(), |name| format!(" ({})", show(name.as_bytes())))
}

/// The marks of numbers, as they are given or as the first lines have them.
fn marks(head: &[Head], by_semicolon: bool, options: &TableOptions) -> Result<(Marks, Found), Problem> {
    let mut evidence = Evidence::default();
    head.iter().flat_map(|row| &row.fields).for_each(|field| evidence.see(field));
    let mut found = evidence.marks(by_semicolon);
    if let Some(decimal) = options.decimal {
        let other = if decimal == b'.' { ',' } else { '.' };
        found = Found { decimal, thousands: Some(other), doubt: false };
    }
    if let Some(thousands) = options.thousands {
        if options.decimal.is_none() && (thousands == ',' || thousands == '.') {
            found.decimal = if thousands == ',' { b'.' } else { b',' };
        }
        found = Found { thousands: Some(thousands), doubt: false, ..found };
    }
    if found.thousands == Some(char::from(found.decimal)) {
        let note = Note::from("decimals and thousands have the same mark: ").option("decimal").text(" and ");
        return Err(Problem::Advice(None, note.option("thousands").text(" must differ")));
    }
    let marks = Marks::new(found.decimal, found.thousands);
    Ok((marks.with_missing(&options.na), found))
}

/// Numbers of a line from a field on; `None` where one is none.
fn numbers(row: &Head, from: usize, marks: &Marks) -> Option<Vec<f64>> {
    let number = |field| match marks.cell(field) {
        Cell::Number(value) => Some(value),
        _ => None,
    };
    row.fields.iter().skip(from).map(number).collect()
}

/// Whether numbers have the same distance from each other, which is not 0.
fn is_even(values: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-6;
    let [first, .., last] = values else { return false };
    let step = (last - first) / (values.len() - 1) as f64;
    step != 0.0 && values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= ROUNDING * step.abs())
}

fn is_monotone(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1]) || values.windows(2).all(|pair| pair[0] > pair[1])
}

/// What a first line of numbers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Names.
    Names,
    /// A row that counts, so that it might be names.
    Doubtful,
    Row,
}

/// What a line of numbers above these rows is, from their field `from` on; `beside_text` says whether it has a word in
/// front, which headers have more often than not.
fn line_of_numbers(first: &[f64], rows: &[Head], from: usize, beside_text: bool, marks: &Marks) -> Line {
    const LOOKED_AT: usize = 20;
    let count = first.len();
    let rows: Vec<Vec<f64>> =
        rows.iter().take(LOOKED_AT).filter_map(|row| numbers(row, from, marks)).collect();
    let counts = is_even(first) && (first[0] == 0.0 || first[0] == 1.0) && first[1] - first[0] == 1.0;
    let alike = |same: fn(&[f64]) -> bool| rows.iter().any(|row| same(row));
    // whether the line lies where the rows lie, column by column
    let column = |j: usize| rows.iter().filter_map(move |row| row.get(j));
    let range = |j: usize| {
        column(j).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h): (f64, f64), v| (l.min(*v), h.max(*v)))
    };
    // years above measurements: each value farther from the rows than they lie apart
    let is_far = |j: usize| {
        let (low, high) = range(j);
        (low - first[j]).max(first[j] - high) > high - low
    };
    let far = rows.len() >= FAR && is_monotone(first) && (0..count).all(is_far);
    let lies_within = |j: usize| {
        let (low, high) = range(j);
        let column = || column(j);
        let whole = first[j].fract() == 0.0 && column().all(|v| v.fract() != 0.0);
        (low..=high).contains(&first[j]) && !whole
    };
    let strange = 2 * (0..count).filter(|j| lies_within(*j)).count() < count;
    match count {
        _ if rows.is_empty() => Line::Row,
        0 | 1 => Line::Row,
        _ if beside_text
            && rows.len() > 1
            && is_even(first)
            && strange
            && (count == 2 || !alike(is_even)) =>
        {
            Line::Names
        }
        2 if counts && first[0] == 0.0 && rows.len() >= 3 => {
            if strange {
                Line::Names
            } else {
                Line::Doubtful
            }
        }
        2 => Line::Row,
        _ if far => Line::Names,
        _ if counts => {
            if alike(is_even) {
                Line::Row
            } else {
                Line::Names
            }
        }
        3 => Line::Row,
        _ if is_even(first) && strange => {
            if alike(is_even) {
                Line::Row
            } else {
                Line::Names
            }
        }
        CLIMBING.. if is_monotone(first) && !alike(is_monotone) => Line::Names,
        _ => Line::Row,
    }
}

/// Whether the first line holds names.
fn is_header(
    head: &[Head],
    marks: &Marks,
    options: &TableOptions,
    notes: &mut Vec<Note>,
) -> Result<bool, Problem> {
    match options.header {
        Header::Yes => return Ok(true),
        Header::No => return Ok(false),
        Header::Auto => {}
    }
    let (first, rows) = (&head[0], &head[1..]);
    let text = |row: &Head, at: usize| marks.cell(row.field(at)) == Cell::Text;
    let width = first.fields.len();
    let begins = |from: usize| {
        let shown: Vec<String> = first.fields.iter().skip(from).take(3).map(decoded).collect();
        format!("{}{}", shown.join(", "), if width > from + 3 { ", ..." } else { "" })
    };
    let told = |notes: &mut Vec<Note>, from: usize| {
        let note = format!("the first line ({}) is read as the names of the columns; ", begins(from));
        notes.push(Note::from(note).set("header", "no").text(" reads it as a sample"));
    };
    let taken = |notes: &mut Vec<Note>| {
        let note = format!("the first line ({}) is read as a sample; ", begins(0));
        notes.push(Note::from(note).set("header", "yes").text(" reads it as the names of the columns"));
    };
    if (0..width).any(|at| text(first, at)) {
        let alike = rows.first().is_some_and(|row| row.fields.len() == width);
        // columns of numbers below a line that has numbers there, and text where the rows have text
        let is_row = alike
            && (0..width).all(|at| {
                let below = || rows.iter().take(5).any(|row| text(row, at));
                marks.cell(first.field(at)) == Cell::Missing || text(first, at) == below()
            })
            && (0..width).any(|at| matches!(marks.cell(first.field(at)), Cell::Number(_)));
        if !is_row {
            return Ok(true);
        }
        let only_first = text(first, 0) && (1..width).all(|at| !text(first, at));
        let is_corner = CORNER.iter().any(|word| first.field(0).eq_ignore_ascii_case(word.as_bytes()));
        let from = usize::from(text(first, 0));
        let line = numbers(first, from, marks).map(|v| line_of_numbers(&v, rows, from, only_first, marks));
        return match line {
            _ if only_first && is_corner => Ok(true),
            Some(Line::Names) => {
                told(notes, from);
                Ok(true)
            }
            _ if only_first => {
                let note =
                    Note::from(AMBIGUOUS).set("header", "yes").text(" (names) or ").set("header", "no");
                Err(Problem::Advice(Some(first.line), note.text(" (a row)")))
            }
            _ => {
                taken(notes);
                Ok(false)
            }
        };
    }
    let empty = |row: &Head| row.field(0).is_empty();
    let full = |from: usize| first.fields.iter().skip(from).all(|field| !field.is_empty());
    let same_width = |count: usize| rows.iter().take(2).all(|row| row.fields.len() == count);
    if width > 1 && empty(first) && full(1) && rows.first().is_some_and(|row| !empty(row)) {
        return Ok(true); // pandas and R leave the corner empty
    }
    if rows.len() > 1 && same_width(width + 1) && full(0) {
        return Ok(true); // R's write.table leaves it out
    }
    // where names are known that are words, numbers are none of them
    let is_word = |name: &String| marks.cell(name.as_bytes()) == Cell::Text;
    if !options.needed.is_empty() && options.needed.iter().all(is_word) {
        return Ok(false);
    }
    let line =
        numbers(first, 0, marks).map_or(Line::Row, |values| line_of_numbers(&values, rows, 0, false, marks));
    match line {
        Line::Names => told(notes, 0),
        Line::Doubtful => taken(notes),
        Line::Row => {}
    }
    Ok(line == Line::Names)
}

const AMBIGUOUS: &str = "this line could be column names or the first row: only its first field is \
     text, as in every row; add a line of column names, write `name` as its first field, or say ";

/// The first lines of a table on their way to a layout.
struct Table<'h> {
    head: &'h [Head],
    rows: &'h [Head],
    header: bool,
    marks: &'h Marks,
    names: Option<Vec<String>>,
    /// The header has one name less than there are columns.
    short: bool,
}

impl Table<'_> {
    fn width(&self) -> usize {
        self.names.as_ref().map_or_else(|| self.head[0].fields.len(), Vec::len)
    }

    /// Names of all columns; R leaves out the name of the column of row names, or leaves it empty.
    fn name_columns(&mut self) -> Result<(), Problem> {
        if !self.header {
            return Ok(());
        }
        let mut names: Vec<String> = self.head[0].fields.iter().map(decoded).collect();
        if let Some(row) = self.rows.first() {
            self.short = names.len() + 1 == row.fields.len();
            if self.short {
                names.insert(0, String::new());
            }
            if names.len() != row.fields.len() {
                return Err(Problem::Elsewhere(
                    row.line,
                    ragged(row.fields.len(), names.len(), self.head[0].line),
                ));
            }
        }
        self.names = Some(names);
        Ok(())
    }

    /// A second line of names, or one of units: words above numbers in all columns that hold numbers.
    fn refuse_second_header(&self) -> Result<(), Problem> {
        let Some((second, below)) = self.rows.split_first().filter(|_| self.header) else { return Ok(()) };
        let is_number = |row: &Head, at: usize| matches!(self.marks.cell(row.field(at)), Cell::Number(_));
        let is_text = |at: &usize| self.marks.cell(second.field(*at)) == Cell::Text;
        let above: Vec<usize> =
            (0..self.width()).filter(|at| below.iter().any(|row| is_number(row, *at))).collect();
        let names = |at: &usize| is_text(at) || second.field(*at).is_empty();
        if !(above.iter().any(is_text) && above.iter().all(names)) {
            return Ok(());
        }
        let problem = "this line has words in every column that holds numbers below: it looks like a second line of \
                       names, or like units; join it with the first line, or remove it";
        Err(Problem::Elsewhere(second.line, problem.into()))
    }

    fn name(&self, at: usize) -> &str {
        self.names.as_ref().map_or("", |names| names[at].as_str())
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = Cell> {
        self.rows.iter().map(move |row| self.marks.cell(row.field(at)))
    }

    fn kind(&self, at: usize) -> Kind {
        let (mut text, mut numbers) = (0, 0);
        for cell in self.cells(at) {
            match cell {
                Cell::Text => text += 1,
                Cell::Number(_) => numbers += 1,
                Cell::Missing => {}
            }
        }
        let nothing = || self.rows.iter().all(|row| row.field(at).is_empty());
        match () {
            () if text > numbers => Kind::Text,
            () if text + numbers == 0
                && !self.rows.is_empty()
                && self.name(at).trim().is_empty()
                && nothing() =>
            {
                Kind::Empty
            }
            () => Kind::Number,
        }
    }

    /// What each column is, and the first row name where text makes names of all.
    fn columns(
        &self,
        options: &TableOptions,
        how: &mut HowRead,
    ) -> Result<(Vec<Role>, Option<String>), Problem> {
        let width = self.width();
        let kinds: Vec<Kind> = (0..width).map(|at| self.kind(at)).collect();
        let is_text: Vec<bool> = kinds.iter().map(|kind| *kind == Kind::Text).collect();
        let names = self.names.as_deref();
        let known = names.unwrap_or_default();
        let asked = |option: &'static str, error: String| {
            Problem::Advice(None, Note::about(option).text(format!(": {error}")))
        };
        let list = |option, list: &Option<Columns>| {
            let found = list.as_ref().map(|list| list.of(known, &is_text));
            found.transpose().map_err(|error| asked(option, error))
        };
        let (wanted, dropped) = (list("columns", &options.columns)?, list("drop", &options.drop)?);
        let mut roles: Vec<Role> =
            kinds.iter().map(|k| if *k == Kind::Empty { Role::Empty } else { Role::Number }).collect();
        let mut why: Vec<Option<&'static str>> =
            kinds.iter().map(|k| (*k == Kind::Empty).then_some("empty")).collect();
        let mut give = |at: usize, role: Role, reason: &'static str| {
            roles[at] = role;
            why[at] = Some(reason);
        };
        let mut taken = vec![false; width];
        for (option, word, role, reason) in [
            ("labels", &options.labels, Role::Label, LABELS),
            ("weights", &options.weights, Role::Weight, WEIGHTS),
        ] {
            let Some(word) = word else { continue };
            match one_column(word, known, width) {
                Ok(at) => {
                    let place = Some(Source::Column(column_word(names, at)));
                    *(if role == Role::Label { &mut how.labels } else { &mut how.weights }) = place;
                    give(at, role, reason);
                    taken[at] = true;
                }
                Err(_) if std::path::Path::new(word).exists() => {}
                Err(error) => return Err(asked(option, format!("{error}, and no file of this name"))),
            }
        }
        let free = |at: usize| !taken[at] && dropped.as_ref().is_none_or(|dropped| !dropped[at]);
        let row_names = match &options.row_names {
            RowNames::None => None,
            RowNames::Column(word) => {
                Some((one_column(word, known, width).map_err(|error| asked("row-names", error))?, false))
            }
            RowNames::Auto => {
                let first =
                    (0..width).find(|at| kinds[*at] != Kind::Empty).filter(|at| width > 1 && free(*at));
                let variable =
                    |at: &usize| !is_text[*at] && wanted.as_ref().is_some_and(|wanted| wanted[*at]);
                first
                    .filter(|at| !variable(at) && !options.needed.iter().any(|name| name == self.name(*at)))
                    .map(|at| self.names_rows(at, kinds[at], how))
                    .transpose()?
                    .flatten()
            }
        };
        // further levels of the names of rows, as pandas writes them
        let unnamed = |at: &usize| names.is_some() && self.name(*at).is_empty() && free(*at);
        let first =
            row_names.filter(|(at, _)| options.row_names == RowNames::Auto && !self.short && unnamed(at));
        let levels: Vec<usize> =
            first.map_or(Vec::new(), |(at, _)| (at + 1..width).take_while(unnamed).collect());
        let mut text = None;
        if let Some((at, strict)) = row_names {
            give(at, Role::RowName, ROW_NAMES);
            taken[at] = true;
            let word = column_word(names, at);
            how.row_names = Some(match self.short || self.name(at).trim().is_empty() {
                true if at == 0 => Source::FirstColumn,
                _ => Source::Column(word),
            });
            text = strict.then(|| self.rows.first().map(|row| decoded(row.field(at)))).flatten();
        }
        for at in levels {
            give(at, Role::Skip, "no name, beside the names of the rows");
            taken[at] = true;
        }
        for at in (0..width).filter(|at| !taken[*at]) {
            let out = wanted.as_ref().map_or(options.drop_text && is_text[at], |wanted| !wanted[at]);
            if out || dropped.as_ref().is_some_and(|dropped| dropped[at]) {
                give(at, Role::Skip, if is_text[at] { "text" } else { "as asked" });
            }
        }
        self.refuse_text(&roles, &is_text)?;
        how.columns = (0..width)
            .map(|at| Column { name: column_word(names, at), kind: kinds[at], left_out: why[at] })
            .collect();
        Ok((roles, text))
    }

    /// Whether a first column names the rows, and whether it does so because it is text.
    fn names_rows(&self, at: usize, kind: Kind, how: &mut HowRead) -> Result<Option<(usize, bool)>, Problem> {
        let name = self.name(at).trim();
        if self.header && (self.short || name.is_empty()) {
            return Ok(Some((at, false)));
        }
        let identifier = self.header && is_identifier(name);
        if kind == Kind::Text {
            self.refuse_marks(at)?;
            self.refuse_units(at, identifier)?;
            self.note_repeats(at, identifier, how);
            return Ok(Some((at, !identifier)));
        }
        // a first row of text alone decides too
        let first_is_text = self.rows.first().is_some_and(|row| self.marks.cell(row.field(at)) == Cell::Text);
        if first_is_text {
            return Ok(Some((at, !identifier)));
        }
        let values: Option<Vec<f64>> = self
            .cells(at)
            .map(|cell| if let Cell::Number(value) = cell { Some(value) } else { None })
            .collect();
        let Some(values) = values.filter(|values| values.len() > 1) else { return Ok(None) };
        let counts = values.len() >= COUNTED
            && values[0].fract() == 0.0
            && values.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        let unique = || values.iter().map(|v| v.to_bits()).collect::<HashSet<_>>().len() == values.len();
        if !(counts || identifier && unique()) {
            return Ok(None);
        }
        let why = if counts { "counts the rows" } else { "tells the rows apart" };
        let shown: Vec<String> = self.rows.iter().take(3).map(|row| decoded(row.field(at))).collect();
        let column = option_word(self.names.as_deref(), at);
        let note = format!(
            "column {} ({}, ...) {why}: it names them and is no variable; ",
            show(column.as_bytes()),
            shown.join(", ")
        );
        how.notes.push(Note::from(note).set("row-names", "none").text(" takes it as one"));
        Ok(Some((at, false)))
    }

    /// Names of rows that repeat may be groups.
    fn note_repeats(&self, at: usize, identifier: bool, how: &mut HowRead) {
        let mut seen = HashSet::new();
        let repeated = self.rows.iter().map(|row| row.field(at)).find(|name| !seen.insert(*name));
        let Some(name) = repeated.filter(|_| self.header && !identifier) else { return };
        let word = option_word(self.names.as_deref(), at);
        let note = format!(
            "the rows are named by column {}, in which {} repeats; ",
            show(word.as_bytes()),
            show(name)
        );
        let note = Note::from(note).set("labels", word.clone()).text(" takes it as groups, ");
        how.notes.push(note.set("drop", word).text(" leaves it out"));
    }

    /// A column of numbers in other marks than the rest is none of text.
    fn refuse_marks(&self, at: usize) -> Result<(), Problem> {
        let cells = || self.rows.iter().filter(|row| self.marks.cell(row.field(at)) != Cell::Missing);
        let Some(row) = cells().next().filter(|_| cells().all(|row| is_number(row.field(at)))) else {
            return Ok(());
        };
        let known = if self.marks.decimal == b'.' { "point" } else { "comma" };
        let note = Note::from(format!(
            "{} in column {}{} is not a number: other cells have a decimal {known}; ",
            show(row.field(at)),
            at + 1,
            bracketed(self.names.as_deref(), at)
        ));
        let note = note.option("decimal").text(" and ").option("thousands").text(" say what the marks are");
        Err(Problem::Advice(Some(row.line), note))
    }

    /// A first column of numbers with the same unit beside them is none of names.
    fn refuse_units(&self, at: usize, identifier: bool) -> Result<(), Problem> {
        if identifier || !self.header {
            return Ok(());
        }
        let cells = || self.rows.iter().filter(|row| !row.field(at).is_empty());
        let mut found = cells().map(|row| measured(row.field(at)));
        let Some(Some(first)) = found.next() else { return Ok(()) };
        if !found.all(|other| other.is_some_and(|other| other.beside == first.beside)) {
            return Ok(());
        }
        let row = &self.rows[0];
        let word = option_word(self.names.as_deref(), at);
        let note = Note::from(format!(
            "{} in column {}{} is a number with {}: take it out of the cells; ",
            show(row.field(at)),
            at + 1,
            bracketed(self.names.as_deref(), at),
            first.what
        ));
        let note = note.set("drop", word.clone()).text(" leaves the column out, ").set("row-names", word);
        Err(Problem::Advice(Some(row.line), note.text(" makes it the names of the rows")))
    }

    /// Columns of text among the variables.
    fn refuse_text(&self, roles: &[Role], is_text: &[bool]) -> Result<(), Problem> {
        let texts: Vec<usize> =
            (0..roles.len()).filter(|at| roles[*at] == Role::Number && is_text[*at]).collect();
        let Some(at) = texts.first().copied() else { return Ok(()) };
        let row = self.rows.iter().find(|row| self.marks.cell(row.field(at)) == Cell::Text);
        let Some(row) = row else { return Ok(()) };
        let names = self.names.as_deref();
        self.refuse_marks(at)?;
        let begin = format!("{} in column {}{}", show(row.field(at)), at + 1, bracketed(names, at));
        if row.field(at).iter().any(|byte| b";\t".contains(byte)) {
            let note = format!("{begin} is not a number; the first line has another separator");
            return Err(Problem::Advice(Some(row.line), note.into()));
        }
        let words: Vec<String> = texts.iter().map(|at| option_word(names, *at)).collect();
        let listed = Columns::listed(words.iter().map(String::as_str));
        if let Some(found) = measured(row.field(at)) {
            let note = format!("{begin} is a number with {}: take it out of the cells, or ", found.what);
            let (left_out, then) = match texts.len() {
                1 => (listed, " leaves the column out".into()),
                2..=LISTED => (listed, " leaves these columns out".into()),
                count => ("text".into(), format!(" leaves the {count} columns out that are not all numbers")),
            };
            let note = Note::from(note).set("drop", left_out).text(then);
            return Err(Problem::Advice(Some(row.line), note));
        }
        let more = match texts.len() {
            1 => String::new(),
            2 => ", and so in one more column".into(),
            count => format!(", and so in {} more columns", count - 1),
        };
        let note = Note::from(format!("{begin} is not a number{more}: columns of text are left out by "));
        let note = if texts.len() > LISTED { note } else { note.set("drop", listed).text(" (or ") };
        let note = note
            .set("drop", "text")
            .text(if texts.len() > LISTED { " and label the rows by " } else { ") and label the rows by " })
            .set("labels", words[0].clone());
        Err(Problem::Advice(Some(row.line), note))
    }
}

/// Whether a column of this name tells rows apart.
pub(crate) fn is_identifier(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    IDENTIFIERS.contains(&lower.as_str())
        || lower.starts_with("unnamed: ")
        || ["_id", ".id", " id", "-id"].iter().any(|end| lower.ends_with(end))
        || (name.len() > 2 && name.ends_with("ID"))
}

pub(crate) fn ragged(found: usize, expected: usize, line: u64) -> String {
    let s = if found == 1 { "" } else { "s" };
    format!("{found} field{s} where line {line} has {expected}; every line needs the same number")
}

/// Tells names apart that stand more than once, as pandas does: `b`, `b.1`. Returns those that did.
pub(crate) fn unique_names(names: &mut [String]) -> Vec<String> {
    let named = || names.iter().filter(|name| !name.is_empty());
    let known: HashSet<String> = named().cloned().collect();
    let mut repeated = Vec::new();
    if known.len() == named().count() {
        return repeated;
    }
    let mut seen: HashSet<String> = HashSet::new();
    for name in names.iter_mut().filter(|name| !name.is_empty()) {
        if seen.insert(name.clone()) {
            continue;
        }
        if !repeated.contains(name) {
            repeated.push(name.clone());
        }
        let numbered =
            (1..).map(|k| format!("{name}.{k}")).find(|new| !known.contains(new) && !seen.contains(new));
        if let Some(new) = numbered {
            seen.insert(new.clone());
            *name = new;
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_told_apart() {
        let mut names = ["a", "b", "b", "", "b.1", "b", ""].map(String::from);
        let repeated = unique_names(&mut names);
        assert_eq!(names, ["a", "b", "b.2", "", "b.1", "b.3", ""]);
        assert_eq!(repeated, ["b"]);
    }

    #[test]
    fn identifiers() {
        for name in ["id", "Unnamed: 0", "rownames", "patient_id", "SampleID", "Date", "#"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["acid", "grid", "width", "x", ""] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
