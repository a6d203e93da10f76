//! Decisions from the first lines of a table, or from all of them if the others contradict: which lines are names, the
//! marks of numbers, and the kind of each column.
//!
//! The first line is a header when one of its fields is text (other than a row of numbers and text like those below it),
//! when its first field is empty, when it alone is quoted, or when it holds numbers that count or climb, which rows below do
//! not ([`header`](super::super::header)). The first column names the rows when it is text, when its header is empty (pandas, R's
//! `write.csv`) or one name short (R's `write.table`), when it counts, or when it is unique and called like an identifier;
//! otherwise the first column of text without repeats does. When the only text of the first line is in a first column of
//! text, the line could be either a row or a header with numbers as names: then it is a header if its first field is a word
//! such as `name` or if the numbers count or climb, and refused otherwise, because a row lost silently is worse than a
//! question. Other columns of text are no variables.

mod words;

use std::collections::HashSet;

use csv::ByteRecord;

use crate::error::DataError;
use crate::table::header::{is_header, joined, lines_of_words};
use crate::table::how::{Column, HowRead, Kind, LABELS, ROW_NAMES, Source, WEIGHTS};
use crate::table::kind::{Tally, is_identifier};
use crate::table::note::Note;
use crate::table::number::{Cell, Evidence, Found, Marks, decoded, is_number};
use crate::table::options::{Columns, Header, RowNames, TableOptions, one_column};
use crate::text::show;

/// Columns of text that a message lists.
const LISTED: usize = 8;

/// Rows from which on a first column that counts is no chance.
const COUNTED: usize = 5;

/// Rows at the end of a table that may be none of it.
pub(crate) const LAST_ROWS: usize = 8;

/// The first six columns of what PLINK writes with `--recode A`.
const PLINK: [&str; 6] = ["FID", "IID", "PAT", "MAT", "SEX", "PHENOTYPE"];

/// A line with its fields.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) line: u64,
    pub(crate) fields: ByteRecord,
    /// All of its fields stand in quotes.
    pub(crate) quoted: bool,
}

impl Head {
    pub(super) fn field(&self, at: usize) -> &[u8] {
        self.fields.get(at).unwrap_or_default()
    }
}

/// Kind of a field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Number,
    /// A number with something beside it that is taken off.
    Marked,
    /// 1 or 0.
    Logical,
    RowName,
    Label,
    Weight,
    /// Left out.
    Skip,
    /// Left out, and words that may say what the row is.
    Word,
    /// Left out because nothing is in it.
    Empty,
}

/// Reason from the first lines for which a column is no variable. If not all lines have been examined, the others have
/// to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assumed {
    /// Whole numbers that name rows, or only tell them apart, do not repeat.
    DifferentNumbers,
    /// Numbers count the rows.
    Counting,
    /// Most cells are words.
    Words,
}

/// A table as it will be read.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Kind of each field.
    pub(crate) roles: Vec<Role>,
    /// The line that says how many fields there are.
    pub(crate) line: u64,
    /// Number of the first lines that are no rows.
    pub(crate) above: usize,
    /// Text beside the numbers of each column; `None` if it may be any.
    pub(crate) beside: Vec<Option<String>>,
    /// Names of all columns of the file, where it has some.
    all_names: Option<Vec<String>>,
    /// Names of the variables, where there are some.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) marks: Marks,
    /// The first row name, where it is text and so makes all of them names.
    pub(crate) text: Option<String>,
    /// That numbers may be meant otherwise, as long as no number shows how.
    pub(crate) doubt: Option<Note>,
    pub(crate) assumed: Vec<(usize, Assumed)>,
    pub(crate) how: HowRead,
}

/// Error in a table: in the line read last, in another one, or in a cell.
#[derive(Debug)]
pub(crate) enum Problem {
    Here(String),
    Elsewhere(u64, String),
    Advice(Option<u64>, Note),
    NotFinite { row: usize, column: usize, value: f64 },
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
        }
    }
}

impl Role {
    /// Default role of a column of this kind.
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Empty => Self::Empty,
            Kind::Logical => Self::Logical,
            _ => Self::Number,
        }
    }

    /// True if the column is a variable.
    pub(crate) fn is_variable(self) -> bool {
        matches!(self, Self::Number | Self::Marked | Self::Logical)
    }
}

impl Layout {
    /// The layout of a table from its first lines, of which there is at least one. `delimiter` separates its fields, white space
    /// if `None`.
    pub(crate) fn of(head: &[Head], delimiter: Option<u8>, options: &TableOptions) -> Result<Self, Problem> {
        let mut evidence = Evidence::default();
        head.iter().flat_map(|row| &row.fields).for_each(|field| evidence.see(field));
        let (marks, found) = marks(evidence, delimiter, options)?;
        let mut how = HowRead::default();
        how.style.extend((marks.decimal == b',').then(|| "decimal commas".to_string()));
        if let Some(mark) = marks.thousands.filter(|_| options.thousands.is_none()) {
            how.style.push(format!("thousands marked by {}", show(mark.to_string().as_bytes())));
        }
        how.marks = said_of_marks(evidence, found, options);
        let header = is_header(head, &marks, options, &mut how.notes)?;
        let lines = match options.header {
            Header::Lines(count) => count.min(head.len()),
            _ => usize::from(header),
        };
        let names = match &head[..lines] {
            [] => None,
            [only] => Some(only.fields.iter().map(decoded).collect()),
            several => Some(joined(several)),
        };
        let mut table = Table {
            head,
            rows: &head[lines..],
            marks: &marks,
            delimiter,
            names,
            short: false,
            frame: options.frame,
        };
        table.name_columns()?;
        let words = match &table.names {
            Some(names) if lines == 1 => lines_of_words(names, table.rows, &marks, options.units)?,
            _ => 0,
        };
        how.units = words;
        if words > 0 {
            how.notes.extend(table.note_of_groups(words).filter(|_| options.transpose.is_none()));
            table.rows = &table.rows[words..];
            let s = if words == 1 { "" } else { "s" };
            how.style.push(format!("{words} line{s} of words below the names (units) left out"));
        }
        let Columned { roles, beside, text, assumed } = table.columns(options, &mut how)?;
        let all_names = table.names;
        how.header = all_names.as_ref().map(|_| Source::FirstLine);
        let kept = |names: &Vec<String>| -> Vec<String> {
            names.iter().zip(&roles).filter(|(_, role)| role.is_variable()).map(|(n, _)| n.clone()).collect()
        };
        let names = all_names.as_ref().map(kept);
        Ok(Self {
            roles,
            line: head[0].line,
            above: lines + words,
            beside,
            all_names,
            names,
            marks,
            text,
            doubt: found.doubt.then(|| in_doubt(found)),
            assumed,
            how,
        })
    }

    /// Columns of numbers alone, which have these names.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_numbers(names: Vec<String>, how: HowRead) -> Self {
        Self {
            roles: vec![Role::Number; names.len()],
            line: 0,
            above: 0,
            beside: vec![None; names.len()],
            all_names: Some(names.clone()),
            names: Some(names),
            marks: Marks::default(),
            text: None,
            doubt: None,
            assumed: Vec::new(),
            how,
        }
    }

    /// Number of variables.
    pub(crate) fn columns(&self) -> usize {
        self.roles.iter().filter(|role| role.is_variable()).count()
    }

    /// The name of a column of the file in brackets, where it has one.
    pub(crate) fn name_of(&self, at: usize) -> String {
        bracketed(self.all_names.as_deref(), at)
    }

    /// Reference to a column in an option: its name, else its number.
    pub(crate) fn reference(&self, at: usize) -> String {
        option_word(self.all_names.as_deref(), at)
    }

    /// The column that names the rows, for an option.
    pub(crate) fn first_reference(&self) -> String {
        let at = self.roles.iter().position(|role| *role == Role::RowName).unwrap_or(0);
        self.reference(at)
    }

    /// True if numbers with marks say what these are.
    pub(super) fn has_marks(&self) -> bool {
        self.how.marks.iter().any(|(name, _)| *name == "decimal")
    }

    /// True if a cell stands in the first column of the file.
    pub(super) fn may_name_rows(&self, at: usize) -> bool {
        at == 0 && self.roles.len() > 1
    }
}

/// True if someone would type a word as the value of an option.
pub(super) fn is_typed(word: &str) -> bool {
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
fn marks(
    evidence: Evidence,
    delimiter: Option<u8>,
    options: &TableOptions,
) -> Result<(Marks, Found), Problem> {
    let mut found = evidence.marks(delimiter);
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

/// That numbers may be meant otherwise.
fn in_doubt(found: Found) -> Note {
    let (mark, other, reading, meaning) = match (found.decimal, found.thousands) {
        (b'.', Some(_)) => (',', ",", "thousands", "decimals"),
        (b'.', None) => ('.', ",", "decimals", "thousands"),
        _ => (',', ".", "decimals", "thousands"),
    };
    let note = Note::from(format!("numbers such as 10{mark}484 are read as {reading}; "));
    note.set("decimal", other).text(format!(" reads them as {meaning}"))
}

/// The options that say how the numbers are written, where the table or a person has said so.
fn said_of_marks(evidence: Evidence, found: Found, options: &TableOptions) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    if options.decimal.is_some() || evidence.is_there() {
        said.push(("decimal", char::from(found.decimal).to_string()));
    }
    if let Some(mark) = found.thousands {
        let word = match mark {
            crate::table::options::NO_THOUSANDS => "none".into(),
            ' ' => "space".into(),
            mark => mark.to_string(),
        };
        said.push(("thousands", word));
    }
    if !options.na.is_empty() {
        said.push(("na", Columns::listed(options.na.iter().map(String::as_str))));
    }
    said
}

/// Kinds of the columns of a table.
struct Columned {
    roles: Vec<Role>,
    beside: Vec<Option<String>>,
    /// The first row name, where it makes names of all.
    text: Option<String>,
    assumed: Vec<(usize, Assumed)>,
}

/// The first lines of a table on their way to a layout.
struct Table<'h> {
    head: &'h [Head],
    rows: &'h [Head],
    marks: &'h Marks,
    delimiter: Option<u8>,
    names: Option<Vec<String>>,
    /// The header has one name less than there are columns.
    short: bool,
    frame: bool,
}

impl Table<'_> {
    fn width(&self) -> usize {
        self.names.as_ref().map_or_else(|| self.head[0].fields.len(), Vec::len)
    }

    /// Names of all columns; R leaves out the name of the column of row names, or leaves it empty. A separator may end every
    /// line, or every line but the first.
    fn name_columns(&mut self) -> Result<(), Problem> {
        let (Some(names), Some(row)) = (&mut self.names, self.rows.first()) else { return Ok(()) };
        let width = row.fields.len();
        while names.len() > width && names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        let rest_is_empty = || {
            let full = self.rows.iter().filter(|row| row.fields.len() == width);
            full.clone().all(|row| row.fields.iter().skip(names.len()).all(<[u8]>::is_empty))
        };
        if names.len() < width && rest_is_empty() {
            names.resize(width, String::new());
        }
        self.short = names.len() + 1 == width;
        if self.short {
            names.insert(0, String::new());
        }
        if names.len() != width {
            return Err(Problem::Elsewhere(row.line, ragged(width, names.len(), self.head[0].line)));
        }
        Ok(())
    }

    fn name(&self, at: usize) -> &str {
        self.names.as_ref().map_or("", |names| names[at].as_str())
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = Cell> {
        self.rows.iter().map(move |row| self.marks.cell(row.field(at)))
    }

    fn tally(&self, at: usize) -> Tally {
        let mut tally = Tally::default();
        self.rows.iter().for_each(|row| tally.see(row.field(at), self.marks, self.delimiter));
        tally
    }

    fn kind(&self, at: usize, tally: &Tally) -> Kind {
        let nothing = || self.rows.iter().all(|row| row.field(at).is_empty());
        let no_name = || self.name(at).trim().is_empty() && !self.rows.is_empty() && nothing();
        match tally.count() {
            0 if self.rows.len() > 1 || no_name() => Kind::Empty,
            _ => tally.kind(),
        }
    }

    /// Kind of each column.
    fn columns(&self, options: &TableOptions, how: &mut HowRead) -> Result<Columned, Problem> {
        let width = self.width();
        let tallies: Vec<Tally> = (0..width).map(|at| self.tally(at)).collect();
        let kinds: Vec<Kind> = tallies.iter().enumerate().map(|(at, tally)| self.kind(at, tally)).collect();
        let is_text: Vec<bool> = kinds.iter().map(|kind| kind.is_words()).collect();
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
        let stripped = list("strip", &options.strip)?;
        let mut roles: Vec<Role> = kinds.iter().map(|kind| Role::of(*kind)).collect();
        let mut why: Vec<Option<&'static str>> = vec![None; width];
        for at in (0..width).filter(|at| kinds[*at] == Kind::Empty) {
            let named = !self.name(at).trim().is_empty();
            let is_wanted = wanted.as_ref().is_some_and(|wanted| wanted[at]);
            if named && (is_wanted || options.needed.iter().any(|name| name == self.name(at))) {
                roles[at] = Role::Number;
            } else {
                why[at] = Some("empty");
            }
        }
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
        let is_plink = known.starts_with(&PLINK.map(String::from)) && options.row_names == RowNames::Auto;
        if is_plink && wanted.is_none() {
            for at in [0, 2, 3, 4, 5] {
                if taken[at] {
                    continue;
                }
                give(at, Role::Skip, "bookkeeping of PLINK");
                taken[at] = true;
            }
        }
        // `text` leaves out words, and words that name the rows are none of them
        let named = list("drop", &options.drop.as_ref().and_then(Columns::without_text))?;
        let drops_by_name = |at: usize| named.as_ref().is_some_and(|named| named[at]);
        let free = |at: usize| !taken[at] && !drops_by_name(at);
        let variable = |at: usize| !is_text[at] && wanted.as_ref().is_some_and(|wanted| wanted[at]);
        let needed = |at: usize| options.needed.iter().any(|name| name == self.name(at));
        let row_names = match &options.row_names {
            RowNames::None => None,
            RowNames::Column(word) => {
                Some((one_column(word, known, width).map_err(|error| asked("row-names", error))?, false))
            }
            RowNames::Auto if options.indexed => None,
            RowNames::Auto if is_plink && wanted.is_none() => Some((1, false)),
            RowNames::Auto => {
                let may = |at: &usize| width > 1 && free(*at) && !variable(*at) && !needed(*at);
                let first = (0..width).find(|at| kinds[*at] != Kind::Empty).filter(may);
                let unique = |at: &usize| kinds[*at].is_words() && may(at) && self.is_unique(*at);
                let found = match first
                    .filter(|at| !(is_text[*at] && names.is_some() && !self.is_unique(*at)))
                {
                    Some(at) => self.names_rows(at, kinds[at], stripped.as_ref().is_some_and(|s| s[at]), how),
                    None => None,
                };
                let other = || (0..width).find(unique).map(|at| (at, false));
                match found.or_else(other) {
                    None if !options.drops_text() => {
                        first.and_then(|at| self.names_rows(at, kinds[at], false, how))
                    }
                    found => found,
                }
            }
        };
        // further levels of the names of rows, as pandas writes them
        let unnamed = |at: &usize| names.is_some() && self.name(*at).is_empty() && free(*at);
        let first =
            row_names.filter(|(at, _)| options.row_names == RowNames::Auto && !self.short && unnamed(at));
        let levels: Vec<usize> =
            first.map_or(Vec::new(), |(at, _)| (at + 1..width).take_while(unnamed).collect());
        let mut text = None;
        let mut assumed = Vec::new();
        if let Some((at, strict)) = row_names {
            assumed.extend(self.assumed_of_names(at, kinds[at], options));
            give(at, Role::RowName, ROW_NAMES);
            taken[at] = true;
            let word = column_word(names, at);
            how.row_names = Some(match self.short || self.name(at).trim().is_empty() {
                true if at == 0 => Source::FirstColumn,
                _ => Source::Column(word),
            });
            text = strict.then(|| self.rows.first().map(|row| decoded(row.field(at)))).flatten();
        }
        for at in levels.into_iter().filter(|at| kinds[*at] != Kind::Empty) {
            give(at, Role::Skip, "no name, beside the names of the rows");
            taken[at] = true;
        }
        for at in 0..width {
            if taken[at] {
                continue;
            }
            let out = wanted.as_ref().map_or(is_text[at], |wanted| !wanted[at]);
            if out || dropped.as_ref().is_some_and(|dropped| dropped[at]) {
                give(
                    at,
                    if is_text[at] { Role::Word } else { Role::Skip },
                    if is_text[at] { "text" } else { "as asked" },
                );
                let by_itself = kinds[at] == Kind::Text && wanted.is_none() && !drops_by_name(at);
                assumed.extend(by_itself.then_some((at, Assumed::Words)));
                taken[at] = true;
            }
        }
        let auto = options.row_names == RowNames::Auto;
        for at in (usize::from(!options.indexed)..width).filter(|at| !taken[*at] && auto && !variable(*at)) {
            if kinds[at] == Kind::Number && self.tells_rows_apart(at) && !needed(at) {
                give(at, Role::Skip, "tells the rows apart");
                assumed.push((at, Assumed::DifferentNumbers));
                how.notes.push(self.note_of_index(at));
            }
        }
        let beside = self.marked(&mut roles, &tallies, stripped.as_deref(), row_names.is_none(), how);
        self.refuse_text(&roles, &is_text)?;
        how.columns = (0..width)
            .map(|at| Column { name: column_word(names, at), kind: kinds[at], left_out: why[at] })
            .collect();
        if !roles.iter().any(|role| role.is_variable()) && is_text.contains(&true) {
            return Err(self.refuse_words(&kinds));
        }
        if !options.drop_text && wanted.is_none() && !options.drops_text() {
            how.notes.extend(self.note_of_words(&roles, &kinds, options.frame));
        }
        Ok(Columned { roles, beside, text, assumed })
    }

    /// Columns of numbers with the same thing beside each, and those that are asked for, which are read without it.
    fn marked(
        &self,
        roles: &mut [Role],
        tallies: &[Tally],
        stripped: Option<&[bool]>,
        first_is_open: bool,
        how: &mut HowRead,
    ) -> Vec<Option<String>> {
        let mut beside = vec![None; roles.len()];
        let mut off = Vec::new();
        let mut said: Vec<(String, Vec<String>)> = Vec::new(); // what is left out, and of which columns
        let mut say = |what: String, word: &str| match said.iter_mut().find(|known| known.0 == what) {
            Some((_, words)) => words.push(show(word.as_bytes())),
            None => said.push((what, vec![show(word.as_bytes())])),
        };
        for at in 0..roles.len() {
            if roles[at] != Role::Number {
                continue;
            }
            if stripped.is_some_and(|stripped| stripped[at]) {
                roles[at] = Role::Marked;
                let word = option_word(self.names.as_deref(), at);
                say("the text beside its numbers".into(), &word);
                off.push(word);
                continue;
            }
            // what stands first may be meant as names
            let open = !(at == 0 && first_is_open && roles.len() > 1);
            if let Some(answers) = tallies[at].answers() {
                roles[at] = Role::Marked;
                let word = option_word(self.names.as_deref(), at);
                say(format!("the words beside its codes ({answers})"), &word);
                off.push(word);
                continue;
            }
            if let Some(what) = tallies[at].beside().filter(|_| open) {
                roles[at] = Role::Marked;
                let word = option_word(self.names.as_deref(), at);
                say(format!("its {}", show(what.as_bytes())), &word);
                off.push(word);
                beside[at] = Some(what);
            }
        }
        how.style
            .extend(said.into_iter().map(|(what, words)| format!("{} without {what}", words.join(", "))));
        if !off.is_empty() {
            how.marks.push(("strip", Columns::listed(off.iter().map(String::as_str))));
        }
        beside
    }

    /// True if no two cells of a column are the same, and none is empty.
    fn is_unique(&self, at: usize) -> bool {
        let mut seen = HashSet::new();
        self.rows.len() > 1
            && self.rows.iter().all(|row| !row.field(at).is_empty() && seen.insert(row.field(at)))
    }

    /// True if whole numbers under the name of an identifier are all different.
    fn tells_rows_apart(&self, at: usize) -> bool {
        let are_whole = |values: Vec<f64>| {
            values.len() >= COUNTED
                && values.iter().all(|value| value.fract() == 0.0)
                && are_different(&values)
        };
        self.names.is_some()
            && is_identifier(self.name(at).trim())
            && self.numbers_in_front(at).is_some_and(are_whole)
    }

    /// The numbers of a column, which only the last rows may lack: totals, notes.
    fn numbers_in_front(&self, at: usize) -> Option<Vec<f64>> {
        let number = |cell: Cell| if let Cell::Number(value) = cell { Some(value) } else { None };
        let values: Vec<f64> = self.cells(at).map_while(number).collect();
        let mut rest = self.cells(at).skip(values.len());
        let few = self.rows.len() - values.len() <= LAST_ROWS.min(values.len());
        (few && rest.all(|cell| number(cell).is_none())).then_some(values)
    }

    /// Assumption about numbers that name the rows, if it is not given. None for words: as names of rows they change no
    /// variable.
    fn assumed_of_names(&self, at: usize, kind: Kind, options: &TableOptions) -> Option<(usize, Assumed)> {
        let said = options.row_names != RowNames::Auto || self.short;
        let unnamed = self.names.is_some() && self.name(at).trim().is_empty();
        if said || unnamed || kind != Kind::Number {
            return None;
        }
        let is_id = is_identifier(self.name(at).trim());
        Some((at, if is_id { Assumed::DifferentNumbers } else { Assumed::Counting }))
    }

    /// True if a first column names the rows, and whether it does so because it is text.
    fn names_rows(&self, at: usize, kind: Kind, stripped: bool, how: &mut HowRead) -> Option<(usize, bool)> {
        let name = self.name(at).trim();
        let header = self.names.is_some();
        if header && (self.short || name.is_empty()) {
            return Some((at, false));
        }
        let identifier = header && is_identifier(name);
        if kind.is_words() {
            self.note_repeats(at, identifier, self.frame, how);
            return Some((at, false));
        }
        if stripped || (kind == Kind::Marked && !identifier) || kind == Kind::Logical {
            return None;
        }
        // a first row of text alone decides too, unless it is a number in other marks
        let first = self.rows.first().map(|row| row.field(at)).unwrap_or_default();
        if kind == Kind::Marked || (self.marks.cell(first) == Cell::Text && !is_number(first)) {
            return Some((at, !identifier));
        }
        let values = self.numbers_in_front(at);
        let values = values.filter(|values| values.len() > 1)?;
        let axis = self.note_of_axis(at, &values).filter(|note| !how.notes.contains(note));
        how.notes.extend(axis);
        let counts = values.len() >= COUNTED
            && values[0].fract() == 0.0
            && values.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        if !(counts || identifier && are_different(&values)) {
            return None;
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
        Some((at, false))
    }
}

fn are_different(values: &[f64]) -> bool {
    values.iter().map(|value| value.to_bits()).collect::<HashSet<_>>().len() == values.len()
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
}
