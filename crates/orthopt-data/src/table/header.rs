//! Which of the first lines hold names, and which stand around the table: titles, units, headers of loggers.

use std::collections::HashSet;

use super::layout::{Head, Problem};
use super::note::Note;
use super::number::{Cell, Marks, decoded};
use super::options::{Header, TableOptions};

/// First fields of a line of names.
const CORNER: [&str; 6] = ["row", "name", "id", "index", "sample", "variable"];

/// Rows from which on a first line that climbs far away from all of them is no chance.
const FAR: usize = 3;

/// Columns from which on a first line that climbs is no chance, though not evenly.
const CLIMBING: usize = 8;

/// Numbers of the fields at these places; NaN where a value is missing, `None` where one is no number.
fn numbers(row: &Head, places: &[usize], marks: &Marks) -> Option<Vec<f64>> {
    let number = |at: &usize| match marks.cell(row.field(*at)) {
        Cell::Number(value) => Some(value),
        Cell::Missing => Some(f64::NAN),
        Cell::Text => None,
    };
    places.iter().map(number).collect()
}

/// True if numbers have the same distance from each other, which is not 0.
pub(super) fn is_even(values: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-6;
    let [first, .., last] = values else { return false };
    let step = (last - first) / (values.len() - 1) as f64;
    step != 0.0 && values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= ROUNDING * step.abs())
}

fn is_monotone(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1]) || values.windows(2).all(|pair| pair[0] > pair[1])
}

/// True if numbers are years that go up or down.
fn are_years(values: &[f64]) -> bool {
    is_monotone(values) && values.iter().all(|v| v.fract() == 0.0 && (1500.0..=2200.0).contains(v))
}

/// Kind of a first line of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Names.
    Names,
    /// A row that counts, so that it might be names.
    Doubtful,
    Row,
}

/// Kind of a line of numbers above these rows, in the columns `places`. `beside_text` is true if it has a word beside
/// them that no row has, which is more frequent in headers.
fn line_of_numbers(first: &[f64], rows: &[Head], places: &[usize], beside_text: bool, marks: &Marks) -> Line {
    const LOOKED_AT: usize = 20;
    let count = first.len();
    let rows: Vec<Vec<f64>> = rows
        .iter()
        .take(LOOKED_AT)
        .filter_map(|row| numbers(row, places, marks))
        .filter(|row| row.iter().any(|v| !v.is_nan()))
        .collect();
    let counts = is_even(first) && (first[0] == 0.0 || first[0] == 1.0) && first[1] - first[0] == 1.0;
    let alike = |same: fn(&[f64]) -> bool| rows.iter().any(|row| same(row));
    // whether the line lies where the rows lie, column by column
    let column = |j: usize| rows.iter().filter_map(move |row| row.get(j)).filter(|v| !v.is_nan());
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
        _ if beside_text && count > 0 && are_years(first) && strange && !alike(are_years) => Line::Names,
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

/// True if a first line is quoted where no other line is, though it need not be.
fn is_quoted_alone(first: &Head, rows: &[Head]) -> bool {
    let needs = |field: &[u8]| field.iter().any(|byte| b",;\t".contains(byte));
    first.quoted && !rows.is_empty() && rows.iter().all(|row| !row.quoted) && !first.fields.iter().any(needs)
}

/// True if the first line holds names.
pub(super) fn is_header(
    head: &[Head],
    marks: &Marks,
    options: &TableOptions,
    notes: &mut Vec<Note>,
) -> Result<bool, Problem> {
    match options.header {
        Header::Yes | Header::Lines(_) => return Ok(true),
        Header::No => return Ok(false),
        Header::Auto => {}
    }
    let (first, rows) = (&head[0], &head[1..]);
    if is_quoted_alone(first, rows) {
        return Ok(true);
    }
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
        let places: Vec<usize> =
            (0..width).filter(|at| matches!(marks.cell(first.field(*at)), Cell::Number(_))).collect();
        let is_new = |at: usize| rows.iter().all(|row| row.field(at) != first.field(at));
        let beside_text = only_first || (0..width).filter(|at| text(first, *at)).all(is_new);
        let line = numbers(first, &places, marks)
            .map(|values| line_of_numbers(&values, rows, &places, beside_text, marks));
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
    let last_is_empty = || rows.iter().all(|row| row.field(width).is_empty());
    if rows.len() > 1 && same_width(width + 1) && full(0) && !last_is_empty() {
        return Ok(true); // R's write.table leaves it out
    }
    // where names are known that are words, numbers are none of them
    let is_word = |name: &String| marks.cell(name.as_bytes()) == Cell::Text;
    if !options.needed.is_empty() && options.needed.iter().all(is_word) {
        return Ok(false);
    }
    let places: Vec<usize> = (0..width).collect();
    let line = match numbers(first, &places, marks) {
        Some(values) if values.iter().all(|v| !v.is_nan()) => {
            line_of_numbers(&values, rows, &places, false, marks)
        }
        _ => Line::Row,
    };
    match line {
        Line::Names => told(notes, 0),
        Line::Doubtful => taken(notes),
        Line::Row => {}
    }
    Ok(line == Line::Names)
}

const AMBIGUOUS: &str = "this line could be column names or the first row: only its first field is \
     text, as in every row; add a line of column names, write `name` as its first field, or say ";

/// The names that several lines give together: the words above each other. A name of an upper line holds for the columns
/// behind it that have none.
pub(super) fn joined(lines: &[Head]) -> Vec<String> {
    let width = lines.iter().map(|line| line.fields.len()).max().unwrap_or(0);
    let mut above = vec![String::new(); lines.len()];
    let mut names = Vec::with_capacity(width);
    for at in 0..width {
        let mut words: Vec<String> = Vec::new();
        for (k, line) in lines.iter().enumerate() {
            let word = decoded(line.field(at));
            let is_last = k + 1 == lines.len();
            if !word.is_empty() || is_last {
                above[k] = word;
            }
            if !above[k].is_empty() && words.last() != Some(&above[k]) {
                words.push(above[k].clone());
            }
        }
        names.push(words.join(" "));
    }
    names
}

/// Lines below the names that hold no samples: units, questions, kinds of values. They have words in every column that holds
/// numbers below.
///
/// # Errors
/// Names that repeat, which such a line may tell apart.
pub(super) fn lines_of_words(
    names: &[String],
    rows: &[Head],
    marks: &Marks,
    most: Option<usize>,
) -> Result<usize, Problem> {
    const MOST: usize = 3;
    let most = most.unwrap_or(MOST);
    let is_number = |row: &Head, at: usize| matches!(marks.cell(row.field(at)), Cell::Number(_));
    let mut count = 0;
    while count < most {
        let Some((line, below)) = rows[count..].split_first() else { break };
        let is_text = |at: &usize| marks.cell(line.field(*at)) == Cell::Text;
        let with_numbers = (0..names.len()).filter(|at| below.iter().any(|row| is_number(row, *at)));
        let above: Vec<usize> = with_numbers.collect();
        let is_word = |at: &usize| {
            (is_text(at) && super::mark::measured(line.field(*at)).is_none()) || line.field(*at).is_empty()
        };
        if !(above.iter().any(is_text) && above.iter().all(is_word)) {
            break;
        }
        let known: HashSet<&String> = above.iter().map(|at| &names[*at]).collect();
        if count == 0 && known.len() < above.len() {
            let note = "this line has words in every column that holds numbers below, and the names above it repeat: it looks \
                        like a second line of names; ";
            let note = Note::from(note).set("header", "2").text(" joins the two");
            return Err(Problem::Advice(Some(line.line), note));
        }
        count += 1;
    }
    Ok(count)
}

/// Lines in front of a table: with one field that is filled, as titles are written in spreadsheets, or with another number of
/// fields than the lines from the header on, as instruments write.
pub(crate) fn titles(head: &[Head]) -> usize {
    const LONGEST: usize = 40;
    let filled = |row: &Head| row.fields.iter().filter(|field| !field.is_empty()).count();
    let count = head.iter().take_while(|row| filled(row) <= 1).count();
    let is_table = |rest: &[Head]| {
        rest.len() > 1 && rest[0].fields.len() > 2 && filled(&rest[0]) > 2 && filled(&rest[1]) > 2
    };
    if head.get(count..).is_some_and(is_table) && head[count].fields.len() == head[count + 1].fields.len() {
        return count;
    }
    // an environment line of loggers, whatever its width
    if head.len() > 2 && (head[0].field(0) == b"TOA5" || head[0].field(0) == b"TOB1") {
        return 1;
    }
    let Some(last) = head.last() else { return 0 };
    let width = last.fields.len();
    let begin = head.iter().rposition(|row| row.fields.len() != width).map_or(0, |at| at + 1);
    let text = |row: &Head| row.fields.iter().any(|f| Marks::default().cell(f) == Cell::Text);
    let number = |row: &Head| row.fields.iter().any(|f| Marks::default().number(f).is_some());
    let apart = |row: &Head| row.fields.len().abs_diff(width) > 1 || (width > 2 && row.fields.len() == 1);
    let is_named = head.get(begin).is_some_and(text) && head[begin..].iter().skip(1).any(number);
    let fits = (1..=LONGEST).contains(&begin) && width > 1 && head.len() - begin > 2 && is_named;
    if fits && head[..begin].iter().all(apart) {
        return begin;
    }
    let is_table = head.get(count..).is_some_and(is_table);
    if is_table { count } else { 0 }
}
