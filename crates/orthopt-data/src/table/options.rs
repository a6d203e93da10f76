//! Options of a table. Every front end gives them as text, which is parsed here alone.

use super::note::Note;
use crate::error::DataError;
use crate::text::show;

/// Rule that decides if the first line holds the names of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// The line decides: text, numbers that count or climb, an empty first cell.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is the first row.
    No,
    /// So many lines do, whose words are joined.
    Lines(usize),
}

/// Which rows are no samples, beside those that a person names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DropRows {
    /// Rows of totals, means and the like, by their names or because they are the sum or the mean of the others; counters
    /// that begin with `__`; rows with nothing but a name.
    #[default]
    Auto,
    /// None: every row is a sample.
    None,
    /// Those, and the ones of these names or numbers.
    Listed(Vec<String>),
    /// Those, and the ones of these names where they are there, as they were in another table.
    AsElsewhere(Vec<String>),
}

impl DropRows {
    /// The words of a list that mean the row of this number and name.
    pub(crate) fn listed(&self, row: usize, name: &str) -> Vec<String> {
        let (Self::Listed(words) | Self::AsElsewhere(words)) = self else { return Vec::new() };
        let number = row.to_string();
        words.iter().filter(|word| **word == name || **word == number).cloned().collect()
    }

    /// True if there is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::Listed(_) | Self::AsElsewhere(_))
    }

    /// All listed rows were found.
    pub(crate) fn check(&self, found: &[String], place: &str) -> Result<(), DataError> {
        let Self::Listed(words) = self else { return Ok(()) };
        let Some(word) = words.iter().find(|word| !found.contains(word)) else { return Ok(()) };
        let problem =
            format!(": there is no row {}; rows are named, or numbered from 1", show(word.as_bytes()));
        Err(DataError::Table { place: place.into(), problem: Note::about("drop-rows").text(problem) })
    }
}

/// Which column names the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowNames {
    /// The first one, where it is text, has no name, counts, or is unique and called like an identifier.
    #[default]
    Auto,
    /// None: every column is a variable.
    None,
    /// This one, by its name or its number.
    Column(String),
}

/// Options of reading a table. Those that are not given are decided by the table.
///
/// ```
/// use orthopt_data::{LoadOptions, TableOptions};
///
/// let mut table = TableOptions::default();
/// table.set("drop", "Species,7-9")?;
/// table.set("na", "-999,<LOD")?;
/// assert!(table.set("header", "perhaps").is_err());
/// let options = LoadOptions { table, ..LoadOptions::default() };
/// # Ok::<(), orthopt_data::DataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// Rule that decides if the first line holds names.
    pub header: Header,
    /// The columns to read; all others are left out.
    pub columns: Option<Columns>,
    /// Columns to leave out.
    pub drop: Option<Columns>,
    /// All columns of text are left out, whatever `drop` says.
    pub drop_text: bool,
    /// Names of variables that are known to be in the table: no such column names the rows, and numbers are no names where
    /// these are words.
    pub needed: Vec<String>,
    /// Which column names the rows.
    pub row_names: RowNames,
    /// Which rows are left out.
    pub drop_rows: DropRows,
    /// Lines in front of the table.
    pub skip: usize,
    /// Lines of words below the names (units, questions), at most; as many as there seem to be if `None`.
    pub units: Option<usize>,
    /// Rows at its end that are none of it.
    pub footer: usize,
    /// Columns of numbers with something beside them (`5 kg`, `5*`) that is taken off.
    pub strip: Option<Columns>,
    /// A column with labels of the rows, or a file with one per line.
    pub labels: Option<String>,
    /// A column with weights of the rows, or a file with one per line.
    pub weights: Option<String>,
    /// True if rows are variables; a folder of single cells decides by itself.
    pub transpose: Option<bool>,
    /// Cells that stand for a missing value, beside `NA` and the like.
    pub na: Vec<String>,
    /// Decimal mark: `.` or `,`.
    pub decimal: Option<u8>,
    /// Mark between groups of three digits.
    pub thousands: Option<char>,
    /// The sheet of a spreadsheet, by its name or its number.
    pub sheet: Option<String>,
    /// A file with names of the columns, with the column of it that holds them: `FILE` or `FILE:COLUMN`.
    pub names: Option<String>,
    /// The table is a frame in memory, whose pictures have labels of their own.
    #[doc(hidden)]
    pub frame: bool,
    /// And its rows have names of their own.
    #[doc(hidden)]
    pub indexed: bool,
    /// The table is a part of one, behind so many rows.
    #[doc(hidden)]
    pub part: Option<usize>,
    /// C given as it is is replaced by the nearest matrix with the same diagonal that is positive semidefinite.
    pub nearest: bool,
}

impl TableOptions {
    /// Sets an option from its text.
    ///
    /// # Errors
    /// A text that is no value of it, or no such option.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), DataError> {
        let wrong = |expected: &str| DataError::Option {
            option: name.into(),
            value: value.into(),
            expected: expected.into(),
        };
        let flag = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong("true or false")),
        };
        match name {
            "header" => {
                self.header = match value {
                    "auto" => Header::Auto,
                    "yes" => Header::Yes,
                    "no" => Header::No,
                    lines => match lines.parse::<usize>() {
                        Ok(count @ 1..=9) => Header::Lines(count),
                        _ => return Err(wrong("auto, yes, no or a number of lines from 1 to 9")),
                    },
                }
            }
            "columns" => self.columns = Some(Columns::parse(value).ok_or_else(|| wrong(LIST))?),
            "drop" => self.drop = Some(Columns::parse(value).ok_or_else(|| wrong(LIST))?),
            "row-names" => {
                self.row_names = match value {
                    "auto" => RowNames::Auto,
                    "none" => RowNames::None,
                    "" => return Err(wrong("auto, none or a column by its name or number")),
                    column => RowNames::Column(column.into()),
                }
            }
            "drop-rows" => {
                self.drop_rows = match value {
                    "auto" | "total" => DropRows::Auto,
                    "none" => DropRows::None,
                    list => DropRows::Listed(
                        words(list).ok_or_else(|| wrong("auto, none or rows by their names or numbers"))?,
                    ),
                }
            }
            "skip" => self.skip = value.parse().map_err(|_| wrong("a number of lines"))?,
            "footer" => self.footer = value.parse().map_err(|_| wrong("a number of rows"))?,
            "units" => self.units = Some(value.parse().map_err(|_| wrong("a number of lines"))?),
            "left-out" => {
                self.drop_rows =
                    DropRows::AsElsewhere(words(value).ok_or_else(|| wrong("rows by their names"))?);
            }
            "strip" => self.strip = Some(Columns::parse(value).ok_or_else(|| wrong(LIST))?),
            "layout" => self.read_layout(value)?,
            "labels" => self.labels = Some(value.into()),
            "weights" => self.weights = Some(value.into()),
            "transpose" => self.transpose = Some(flag()?),
            "na" => {
                self.na = words(value).ok_or_else(|| wrong("cells separated by commas, as in -999,<LOD"))?
            }
            "decimal" => {
                self.decimal = match value {
                    "." => Some(b'.'),
                    "," => Some(b','),
                    _ => return Err(wrong("`.` or `,`")),
                }
            }
            "thousands" => {
                self.thousands = match value {
                    "." | "," | "'" | "\u{2019}" | " " => value.chars().next(),
                    "space" => Some(' '),
                    "none" => Some(NO_THOUSANDS),
                    _ => return Err(wrong("`.`, `,`, `'`, space or none")),
                }
            }
            "sheet" => self.sheet = Some(value.into()),
            "names" => self.names = Some(value.into()),
            "nearest" => self.nearest = flag()?,
            _ => return Err(wrong("an option of tables")),
        }
        Ok(())
    }

    /// Takes the layout of another table ([`HowRead::layout`](super::HowRead::layout)) from a JSON file: a result of `solve`, or
    /// an object of options and their values.
    fn read_layout(&mut self, path: &str) -> Result<(), DataError> {
        let problem = |problem: String| DataError::File { path: path.into(), problem };
        let text = std::fs::read_to_string(path)
            .map_err(|error| problem(format!("the layout cannot be read: {error}")))?;
        let json: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| problem(format!("the layout is no JSON: {}", crate::text::said(&error))))?;
        let found = [json.pointer("/data/layout"), json.pointer("/layout"), Some(&json)];
        let object = found.into_iter().flatten().find_map(serde_json::Value::as_object);
        let pairs = object.filter(|object| object.values().all(serde_json::Value::is_string));
        let pairs = pairs.ok_or_else(|| {
            problem("it holds no layout: give a result of `orthopt solve ... --json FILE`".into())
        })?;
        for (name, value) in pairs.iter().filter(|(name, _)| *name != "layout") {
            self.set(name, value.as_str().unwrap_or_default())?;
        }
        Ok(())
    }

    /// The marks of numbers and the codes of missing values of another table, where nothing else is said.
    #[must_use]
    pub fn with_marks_of(mut self, layout: &[(String, String)]) -> Self {
        let value = |name: &str| layout.iter().find(|(known, _)| known == name).map(|pair| pair.1.as_str());
        let said = self.decimal.is_some() || self.thousands.is_some();
        let wanted = [
            ("decimal", !said),
            ("thousands", !said),
            ("na", self.na.is_empty()),
            ("strip", self.strip.is_none()),
        ];
        for (name, open) in wanted {
            if let Some(text) = value(name).filter(|_| open) {
                let _ = self.set(name, text); // what is no value says nothing
            }
        }
        self
    }

    /// The columns that `columns` and `drop` leave, by their places, of columns with these names.
    ///
    /// # Errors
    /// A word that means no column.
    pub fn chosen(&self, names: &[String], is_text: &[bool], place: &str) -> Result<Vec<usize>, DataError> {
        let list = |option: &'static str, list: &Option<Columns>| {
            let meant = list.as_ref().map(|list| list.of(names, is_text)).transpose();
            let problem = |error: String| Note::about(option).text(format!(": {error}"));
            meant.map_err(|error| DataError::Table { place: place.into(), problem: problem(error) })
        };
        let (wanted, dropped) = (list("columns", &self.columns)?, list("drop", &self.drop)?);
        let stays = |at: &usize| {
            wanted.as_ref().is_none_or(|wanted| wanted[*at])
                && dropped.as_ref().is_none_or(|dropped| !dropped[*at])
        };
        Ok((0..is_text.len()).filter(stays).collect())
    }

    /// True if all columns of text are to be left out.
    pub(super) fn drops_text(&self) -> bool {
        self.drop.as_ref().is_some_and(|list| list.0.iter().any(|word| word == TEXT))
    }

    /// True if an option is given that needs a table with names, cells of text or several columns.
    pub(crate) fn selects(&self) -> bool {
        self.columns.is_some() || self.drop.is_some() || matches!(self.row_names, RowNames::Column(_))
    }
}

/// Says that no character groups digits.
pub(crate) const NO_THOUSANDS: char = '\0';

/// Means all columns of text.
const TEXT: &str = "text";

const LIST: &str = "columns separated by commas: names, numbers, ranges such as 5-9, patterns such as gene*";

/// A list of columns as it is typed: names, numbers from 1, ranges of either, patterns with `*` and `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(pub(super) Vec<String>);

impl Columns {
    /// The words of a list; a word with a comma stands in double quotes. `None` where one is empty.
    pub fn parse(text: &str) -> Option<Self> {
        words(text).map(Self)
    }

    /// A list of these columns, as [`parse`](Self::parse) reads it.
    pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
        let quoted = |name: &str| match name.contains([',', '"']) || name.trim() != name {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name.into(),
        };
        names.into_iter().map(quoted).collect::<Vec<_>>().join(",")
    }

    /// These columns; `None` where there are none.
    pub(crate) fn of_names(names: Vec<&str>) -> Option<Self> {
        (!names.is_empty()).then(|| Self(names.into_iter().map(String::from).collect()))
    }

    /// The words but for `text`; `None` where there are no others.
    pub(super) fn without_text(&self) -> Option<Self> {
        let others: Vec<String> = self.0.iter().filter(|word| *word != TEXT).cloned().collect();
        (!others.is_empty()).then_some(Self(others))
    }

    /// For each column, true if it is meant. `names` are those of all columns; `is_text` is true for those that hold
    /// text.
    ///
    /// # Errors
    /// A word that means no column, in words.
    pub(crate) fn of(&self, names: &[String], is_text: &[bool]) -> Result<Vec<bool>, String> {
        let mut meant = vec![false; is_text.len()];
        for word in &self.0 {
            match places(word, names, is_text.len()) {
                Some(found) => found.into_iter().for_each(|at| meant[at] = true),
                None if word == TEXT => meant.iter_mut().zip(is_text).for_each(|(m, text)| *m |= text),
                None => return Err(no_column(word, names, is_text.len())),
            }
        }
        Ok(meant)
    }
}

/// The place of one column, by its name or its number.
///
/// # Errors
/// There is none, or several of this name.
pub(crate) fn one_column(word: &str, names: &[String], width: usize) -> Result<usize, String> {
    match places(word, names, width).as_deref() {
        Some(&[at]) => Ok(at),
        Some(several) if several.len() > 1 => {
            Err(format!("{} means {} columns; one is expected", show(word.as_bytes()), several.len()))
        }
        _ => Err(no_column(word, names, width)),
    }
}

/// The columns that a word means: a name, else a number, a range, a pattern.
fn places(word: &str, names: &[String], width: usize) -> Option<Vec<usize>> {
    let called = |word: &str| -> Vec<usize> { (0..names.len()).filter(|at| names[*at] == word).collect() };
    let exact = called(word);
    if !exact.is_empty() {
        return Some(exact);
    }
    let numbered = |word: &str| word.parse::<usize>().ok().filter(|n| (1..=width).contains(n)).map(|n| n - 1);
    if let Some(at) = numbered(word) {
        return Some(vec![at]);
    }
    let end = |word: &str, open: usize| match word {
        "" => Some(open),
        _ => called(word).first().copied().or_else(|| numbered(word)),
    };
    for (at, _) in word.match_indices(['-', ':']).filter(|_| word.len() > 1 && width > 0) {
        if let (Some(from), Some(to)) = (end(&word[..at], 0), end(&word[at + 1..], width - 1))
            && from <= to
        {
            return Some((from..=to).collect());
        }
    }
    let pattern = word.contains(['*', '?']);
    let fits = |at: &usize| crate::stream::fits(word.as_bytes(), names[*at].as_bytes());
    let fitting: Vec<usize> = (0..names.len()).filter(|at| pattern && fits(at)).collect();
    (!fitting.is_empty()).then_some(fitting)
}

fn no_column(word: &str, names: &[String], width: usize) -> String {
    const SHOWN: usize = 12;
    let near = names.iter().find(|name| name.eq_ignore_ascii_case(word));
    let more = if names.len() > SHOWN { format!(", ... ({width} in all)") } else { String::new() };
    let there = match near {
        Some(name) => format!("did you mean {}?", show(name.as_bytes())),
        None if names.is_empty() => format!("the columns have no names and are numbered from 1 to {width}"),
        None => {
            let shown: Vec<String> = names.iter().take(SHOWN).map(|name| show(name.as_bytes())).collect();
            format!("there are {}{more}", shown.join(", "))
        }
    };
    format!("there is no column {}; {there}", show(word.as_bytes()))
}

/// Words between commas, each perhaps in double quotes. `None` where one is empty or a quote does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quoted, mut was_quoted) = (Vec::new(), String::new(), false, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                word.push('"');
            }
            '"' if quoted || word.trim().is_empty() => {
                quoted = !quoted;
                was_quoted = true;
            }
            ',' if !quoted => words.push((std::mem::take(&mut word), std::mem::take(&mut was_quoted))),
            letter => word.push(letter),
        }
    }
    words.push((word, was_quoted));
    let word = |(word, quoted): (String, bool)| if quoted { word } else { word.trim().into() };
    let words: Vec<String> = words.into_iter().map(word).collect();
    (!quoted && words.iter().all(|word| !word.is_empty())).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_columns() {
        let names = ["id", "a", "b", "gene1", "gene2", "x,y", "5-6", "text"].map(String::from);
        let is_text = [true, false, false, false, false, false, false, false];
        let of = |list: &str| {
            let meant = Columns::parse(list).unwrap().of(&names, &is_text)?;
            Ok::<_, String>((0..names.len()).filter(|at| meant[*at]).collect::<Vec<_>>())
        };
        assert_eq!(of("a, b").unwrap(), [1, 2]);
        assert_eq!(of("2-3,\"x,y\"").unwrap(), [1, 2, 5]);
        assert_eq!(of("5-6").unwrap(), [6]); // a name before a range
        assert_eq!(of("gene*").unwrap(), [3, 4]);
        assert_eq!(of("a-gene1,7-").unwrap(), [1, 2, 3, 6, 7]);
        assert_eq!(of("text").unwrap(), [7]); // a name before the word
        assert!(of("A").unwrap_err().contains("did you mean `a`?"));
        assert!(of("9").unwrap_err().starts_with("there is no column `9`; there are `id`, `a`"));
        for list in ["", "a,,b", ",", "\"a"] {
            assert!(Columns::parse(list).is_none(), "{list}");
        }
        assert_eq!(Columns::listed(["a", "x,y"]), "a,\"x,y\"");
        assert_eq!(one_column("3", &names, 8), Ok(2));
        assert!(one_column("gene*", &names, 8).unwrap_err().contains("means 2 columns"));
    }
}
