//! Facts about the reading of a table, and their description in words.

use std::fmt::{self, Write};

use super::note::Note;
use super::options::Columns;
use crate::text::{printable, show};

/// Kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Numbers with something beside them: a unit, a per cent sign, stars, a deviation.
    Marked,
    /// True and false, which are 1 and 0.
    Logical,
    /// Days or times.
    Date,
    /// Text.
    Text,
    /// Nothing at all.
    Empty,
}

impl Kind {
    /// True if the cells are no numbers whatever is done to them.
    pub(crate) fn is_words(self) -> bool {
        matches!(self, Self::Text | Self::Date)
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Marked => "number with a mark",
            Self::Logical => "true or false",
            Self::Date => "date",
            Self::Text => "text",
            Self::Empty => "empty",
        }
    }
}

/// Source of names, labels or weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The first line of the table.
    FirstLine,
    /// A first column without a name.
    FirstColumn,
    /// A column, by its name or its number.
    Column(String),
    /// A file of their own, or the file of the data.
    File(String),
}

impl Source {
    /// The column or the file, without words around it.
    pub fn word(&self) -> &str {
        match self {
            Self::FirstLine => "first line",
            Self::FirstColumn => "first column",
            Self::Column(word) | Self::File(word) => word,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstLine => f.write_str("the first line"),
            Self::FirstColumn => f.write_str("the first column"),
            Self::Column(name) => write!(f, "column {}", show(name.as_bytes())),
            Self::File(path) => f.write_str(&printable(path)),
        }
    }
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, or its number.
    pub name: String,
    /// Kind of its cells.
    pub kind: Kind,
    /// Why it is no variable, where it is none: `names of the rows`, `text`, `as asked`, ...
    pub left_out: Option<&'static str>,
}

/// Facts about the reading of a table, from its options or from its own decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HowRead {
    /// Source of the names of the variables; `None` if there are none.
    pub header: Option<Source>,
    /// Source of the names of the rows.
    pub row_names: Option<Source>,
    /// Source of the labels of the rows.
    pub labels: Option<Source>,
    /// Source of the weights of the rows.
    pub weights: Option<Source>,
    /// Every column of the file, where it is a table.
    pub columns: Vec<Column>,
    /// Rows of the file are variables.
    pub transposed: bool,
    /// The sheet of a spreadsheet.
    pub sheet: Option<String>,
    /// Names that occur more than once in the file, and were made distinct.
    pub repeated: Vec<String>,
    /// Form of the text if it is not the usual one: encoding, marks of numbers.
    pub style: Vec<String>,
    /// Lines of words below the names.
    pub(crate) units: usize,
    /// Names of rows that are no samples.
    pub(crate) rows_left_out: Vec<String>,
    /// Rows of the file, those that are left out too.
    pub(crate) rows: usize,
    /// Listed rows that exist, as they are listed.
    pub(crate) rows_found: Vec<String>,
    /// Options that say how the numbers are written, with their values.
    pub(crate) marks: Vec<(&'static str, String)>,
    /// Doubtful readings, with the option for each.
    pub notes: Vec<Note>,
}

/// Names of a first column whose rows are measured in samples that stand in columns.
const MEASURED: [&str; 12] = [
    "gene",
    "genes",
    "gene_id",
    "gene_name",
    "geneid",
    "gene id",
    "gene symbol",
    "gensymbol",
    "ensembl_id",
    "transcript",
    "protein",
    "taxon",
];

/// Columns that a sentence names.
const NAMED: usize = 8;

impl HowRead {
    /// That rows named as genes are may be the variables.
    pub(crate) fn note_of_genes(&self) -> Option<Note> {
        let Some(Source::Column(word)) = &self.row_names else { return None };
        MEASURED.iter().any(|name| word.eq_ignore_ascii_case(name)).then(|| {
            let note = format!("rows are named by column {} and are samples here; ", show(word.as_bytes()));
            Note::from(note).set("transpose", "true").text(" takes the rows as variables")
        })
    }

    /// The options by which another table is read as this one was, with their values.
    pub fn layout(&self) -> Vec<(&'static str, String)> {
        let mut layout = self.marks.clone();
        if self.columns.is_empty() {
            return layout;
        }
        layout.push(("header", if self.header.is_some() { "yes" } else { "no" }.into()));
        match &self.row_names {
            None => layout.push(("row-names", "none".into())),
            Some(Source::Column(word)) => layout.push(("row-names", word.clone())),
            Some(_) => {}
        }
        layout.push(("columns", self.variables()));
        if self.transposed {
            layout.push(("transpose", "true".into()));
        }
        if self.header.is_some() {
            layout.push(("units", self.units.to_string()));
        }
        if !self.rows_left_out.is_empty() {
            layout.push(("left-out", Columns::listed(self.rows_left_out.iter().map(String::as_str))));
        }
        layout
    }

    /// With what is known since, of the same file or of another part.
    pub(crate) fn with_end_of(mut self, later: &Self) -> Self {
        fn add<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
            more.iter().for_each(|one| {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            });
        }
        add(&mut self.notes, &later.notes);
        add(&mut self.style, &later.style);
        add(&mut self.rows_left_out, &later.rows_left_out);
        add(&mut self.rows_found, &later.rows_found);
        self
    }

    /// A list of the columns that are variables.
    pub(crate) fn variables(&self) -> String {
        Columns::listed(self.columns.iter().filter(|c| c.left_out.is_none()).map(|c| c.name.as_str()))
    }

    /// Columns that are left out, with the reason.
    pub fn dropped(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let other = |why: &&'static str| !matches!(*why, ROW_NAMES | LABELS | WEIGHTS);
        self.columns.iter().filter_map(move |c| Some((c.name.as_str(), c.left_out.filter(other)?)))
    }

    /// One sentence: size, names, what is left out.
    pub fn sentence(&self, rows: usize, columns: usize, gram: bool) -> String {
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let mut text = match gram {
            true => format!("C itself of {columns} variable{}", s(columns)),
            false => format!("{rows} sample{} \u{d7} {columns} variable{}", s(rows), s(columns)),
        };
        let name = |column: &str| show(column.as_bytes());
        if self.transposed {
            text += "; transposed (rows of the file are variables)";
        }
        if let Some(sheet) = &self.sheet {
            let _ = write!(text, "; sheet {}", name(sheet));
        }
        match &self.header {
            Some(from) => {
                let _ = write!(text, "; names from {from}");
            }
            None => text += "; no names",
        }
        for (what, source) in [
            ("rows named by ", &self.row_names),
            ("labelled by ", &self.labels),
            ("weighted by ", &self.weights),
        ] {
            if let Some(source) = source {
                let _ = write!(text, "; {what}{source}");
            }
        }
        let mut dropped: Vec<(&'static str, Vec<&str>)> = Vec::new();
        for (column, why) in self.dropped() {
            match dropped.iter_mut().find(|(known, _)| *known == why) {
                Some((_, columns)) => columns.push(column),
                None => dropped.push((why, vec![column])),
            }
        }
        for (at, (why, columns)) in dropped.iter().enumerate() {
            let shown: Vec<String> = columns.iter().take(NAMED).map(|column| name(column)).collect();
            let more = match columns.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let begin = if at == 0 { "; dropped: " } else { ", " };
            let _ = write!(text, "{begin}{}{more} ({why})", shown.join(", "));
        }
        for style in &self.style {
            let _ = write!(text, "; {style}");
        }
        text
    }
}

/// Reasons why a column is no variable that are no loss.
pub(crate) const ROW_NAMES: &str = "names of the rows";
pub(crate) const LABELS: &str = "labels";
pub(crate) const WEIGHTS: &str = "weights";
