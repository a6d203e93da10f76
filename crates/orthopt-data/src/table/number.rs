//! Numbers as people write them: what separates decimals and groups digits, what stands for a missing value, and cells
//! that are numbers with a unit.

use super::mark::measured;
use super::options::NO_THOUSANDS;
use crate::text::parse_f64;

/// Cells without a value, in letters of any size: those of R, pandas, SAS, SPSS, Eurostat and the World Bank, and the errors
/// of spreadsheets.
pub(crate) const MISSING: [&str; 17] = [
    ":", "..", "NA", "N/A", "#N/A", "NaN", "null", "\\N", "none", "?", ".", "#DIV/0!", "#VALUE!", "#REF!",
    "#NUM!", "#NAME?", "#NULL!",
];

/// Marks in the numbers of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Marks {
    /// Between whole numbers and decimals, `.` or `,`.
    pub(crate) decimal: u8,
    /// Between groups of three digits; apostrophes and hard spaces always may be.
    pub(crate) thousands: Option<char>,
    words: Vec<Vec<u8>>, // cells that stand for a missing value
    numbers: Vec<f64>,   // the same as numbers
}

impl Default for Marks {
    fn default() -> Self {
        Self { decimal: b'.', thousands: None, words: Vec::new(), numbers: Vec::new() }
    }
}

/// Content of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Missing,
    Text,
}

impl Marks {
    /// These marks.
    pub(crate) fn new(decimal: u8, thousands: Option<char>) -> Self {
        Self { decimal, thousands, ..Self::default() }
    }

    /// These marks with cells that stand for a missing value; those that are numbers do so in any spelling.
    pub(crate) fn with_missing(mut self, na: &[String]) -> Self {
        self.words = na.iter().map(|word| word.as_bytes().to_vec()).collect(); // words, or beginnings with *
        self.numbers = na.iter().filter_map(|word| self.number(word.as_bytes())).collect();
        self
    }

    /// A cell.
    pub(crate) fn cell(&self, field: &[u8]) -> Cell {
        if let Some(value) = self.number(field) {
            return match self.is_missing_number(value) || value.is_nan() {
                true => Cell::Missing,
                false => Cell::Number(value),
            };
        }
        match field.is_empty()
            || is_spelled_missing(field)
            || self.words.iter().any(|word| stands_for(word, field))
        {
            true => Cell::Missing,
            false => Cell::Text,
        }
    }

    /// True if a number stands for a missing value.
    pub(crate) fn is_missing_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }

    /// True if any number stands for a missing value.
    pub(crate) fn has_missing_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// A number.
    #[inline]
    pub(crate) fn number(&self, field: &[u8]) -> Option<f64> {
        if self.decimal == b'.' {
            return parse_f64(field).or_else(|| self.written(field));
        }
        match field.iter().any(|byte| matches!(byte, b'.' | b',')) {
            true => self.written(field),
            false => parse_f64(field).or_else(|| self.written(field)),
        }
    }

    /// A number with groups of digits, a decimal comma, a minus sign of typesetters, an exponent of Fortran (`1.5D-01`), or
    /// spaces of typesetters around it.
    #[cold]
    fn written(&self, field: &[u8]) -> Option<f64> {
        if !field.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let decoded = decoded(field);
        let text = decoded.trim_matches(is_space);
        let mut plain = String::with_capacity(text.len());
        let unsigned = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => {
                plain.push('-');
                rest
            }
            None => text.strip_prefix('+').unwrap_or(text),
        };
        let decimal = char::from(self.decimal);
        let (mantissa, exponent) = split_exponent(unsigned, decimal);
        let (whole, decimals) = match mantissa.split_once(decimal) {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (mantissa, None),
        };
        plain.push_str(&ungrouped(whole, |mark| self.groups(mark))?);
        if let Some(decimals) = decimals {
            if !decimals.chars().all(|c| c.is_ascii_digit()) || (whole.is_empty() && decimals.is_empty()) {
                return None;
            }
            plain.push('.');
            plain.push_str(decimals);
        }
        plain.push_str(&exponent.replace(['d', 'D'], "e"));
        parse_f64(plain.as_bytes())
    }

    /// True if a character may group digits.
    fn groups(&self, mark: char) -> bool {
        match self.thousands {
            Some(NO_THOUSANDS) => false,
            Some(given) => {
                mark == given
                    || (given == '\'' && mark == '\u{2019}')
                    || (given == ' ' && is_hard_space(mark))
            }
            None => {
                is_hard_space(mark)
                    || matches!(mark, '\'' | '\u{2019}')
                    // only tables with decimal commas are known to come from where this is usual
                    || (self.decimal == b',' && matches!(mark, '.' | ' '))
            }
        }
    }
}

/// True if a cell is a word for a missing value, or begins as one that ends with `*` (`<*`).
fn stands_for(word: &[u8], field: &[u8]) -> bool {
    word == field
        || word
            .split_last()
            .is_some_and(|(last, begin)| *last == b'*' && !begin.is_empty() && field.starts_with(begin))
}

/// The mantissa and the exponent of a number; the D of Fortran stands behind a mantissa with a decimal mark.
fn split_exponent(unsigned: &str, decimal: char) -> (&str, &str) {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match unsigned.find(['e', 'E', 'd', 'D']) {
        Some(at) if unsigned[at..].starts_with(['e', 'E']) => unsigned.split_at(at),
        Some(at)
            if unsigned[..at].contains(decimal)
                && digits(unsigned[at + 1..].trim_start_matches(['+', '-'])) =>
        {
            unsigned.split_at(at)
        }
        _ => (unsigned, ""),
    }
}

/// White space, with what no one sees.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}')
}

pub(super) fn is_hard_space(mark: char) -> bool {
    matches!(mark, '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Digits in groups of three with the same mark between, without the marks; nothing of nothing.
fn ungrouped(whole: &str, groups: impl Fn(char) -> bool) -> Option<String> {
    if whole.bytes().all(|b| b.is_ascii_digit()) {
        return Some(whole.into());
    }
    let mark = whole.chars().find(|c| !c.is_ascii_digit()).filter(|mark| groups(*mark))?;
    let mut parts = whole.split(mark);
    let first = parts.next()?;
    let mut plain = first.to_string();
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !(1..=3).contains(&first.len()) || !digits(first) {
        return None;
    }
    for part in parts {
        if part.len() != 3 || !digits(part) {
            return None;
        }
        plain.push_str(part);
    }
    Some(plain)
}

/// A cell that says that there is no value.
pub(crate) fn is_spelled_missing(field: &[u8]) -> bool {
    MISSING.iter().any(|word| field.eq_ignore_ascii_case(word.as_bytes()))
}

/// True if a cell is a number in any way of writing it.
pub(crate) fn is_number(field: &[u8]) -> bool {
    [b'.', b','].iter().any(|decimal| {
        let thousands = Some(if *decimal == b'.' { ',' } else { '.' });
        Marks::new(*decimal, None).number(field).is_some()
            || Marks::new(*decimal, thousands).number(field).is_some()
    })
}

/// Text in UTF-8, else in Windows-1252, of which Latin-1 is a part.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|byte| windows_1252(*byte)).collect(),
    }
}

fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Evidence of the cells of a table about its marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Cells in which a comma can only separate decimals, only group digits, or either.
    comma: Uses,
    /// Cells in which a dot can only separate decimals, only group digits, or either.
    dot: Uses,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    decimal: bool,
    groups: bool,
    either: bool,
}

impl Evidence {
    /// Examines a cell.
    pub(crate) fn see(&mut self, field: &[u8]) {
        let count = |byte: u8| field.iter().filter(|b| **b == byte).count();
        let (commas, dots) = (count(b','), count(b'.'));
        if commas + dots == 0 {
            return;
        }
        if !is_number(field) {
            // a number with something beside it has marks too
            measured(field).iter().for_each(|found| self.see(found.number()));
            return;
        }
        let end = field.iter().position(|byte| b"eE".contains(byte)).unwrap_or(field.len());
        let last = field[..end].iter().rposition(|byte| b",.".contains(byte));
        match (commas, dots) {
            (0, 1) => self.dot.one(&field[..end], b'.'),
            (1, 0) => self.comma.one(&field[..end], b','),
            (0, _) => self.dot.groups = true,
            (_, 0) => self.comma.groups = true,
            _ if last.is_some_and(|at| field[at] == b',') => {
                (self.comma.decimal, self.dot.groups) = (true, true);
            }
            _ => (self.dot.decimal, self.comma.groups) = (true, true),
        }
    }

    /// True if some number has a mark.
    pub(crate) fn is_there(self) -> bool {
        self != Self::default()
    }

    /// The marks of a table whose columns `delimiter` separates (white space if `None`).
    pub(crate) fn marks(self, delimiter: Option<u8>) -> Found {
        let point = Found { decimal: b'.', thousands: None, doubt: false };
        let comma = Found { decimal: b',', thousands: None, doubt: false };
        let by_semicolon = matches!(delimiter, Some(b';') | None);
        let (for_comma, for_point) =
            (self.comma.decimal || self.dot.groups, self.dot.decimal || self.comma.groups);
        match (for_comma, for_point) {
            (true, false) => comma,
            (false, true) if self.comma.groups || self.comma.either => {
                Found { thousands: Some(','), ..point }
            }
            (false, true) | (true, true) => point,
            (false, false) if self.comma.either && by_semicolon => Found { doubt: true, ..comma },
            // in quotes, as commas separate the columns, and three digits behind each
            (false, false) if self.comma.either && delimiter == Some(b',') => {
                Found { thousands: Some(','), doubt: true, ..point }
            }
            (false, false) => {
                Found { doubt: (self.dot.either && by_semicolon) || self.comma.either, ..point }
            }
        }
    }
}

impl Uses {
    /// A number with one mark: three digits behind it and one to three in front may be a group.
    fn one(&mut self, field: &[u8], mark: u8) {
        let at = field.iter().position(|byte| *byte == mark).unwrap_or(0);
        let whole: Vec<u8> = field[..at].iter().copied().filter(|b| !b"+-".contains(b)).collect();
        let group = field.len() - at - 1 == 3 && (1..=3).contains(&whole.len()) && whole[0] != b'0';
        if group { self.either = true } else { self.decimal = true }
    }
}

/// Marks that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) decimal: u8,
    pub(crate) thousands: Option<char>,
    /// Numbers such as 10.484 may be thousands as well as decimals.
    pub(crate) doubt: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_the_marks_of_the_table() {
        let comma = Marks::new(b',', None);
        for (text, value) in [
            ("-1,25e2", Some(-125.0)),
            ("10.484", Some(10484.0)),
            ("10.484,50", Some(10484.5)),
            ("1.234.567", Some(1_234_567.0)),
            ("1 234,5", Some(1234.5)),
            ("7", Some(7.0)),
            ("1.5", None),
            ("1,000,000", None),
            ("10.48", None),
            (",5", Some(0.5)),
            (",", None),
        ] {
            assert_eq!(comma.number(text.as_bytes()), value, "{text}");
        }
        let point = Marks::new(b'.', Some(','));
        assert_eq!(point.number(b"1,234.5"), Some(1234.5));
        assert_eq!(point.number(b"12,34"), None);
        assert_eq!(Marks::new(b'.', None).number(b"1,234"), None);
        assert_eq!(Marks::new(b'.', None).number("1\u{a0}234.5".as_bytes()), Some(1234.5));
        assert_eq!(Marks::new(b'.', None).number(b"1'234'567"), Some(1_234_567.0));
        assert_eq!(Marks::new(b'.', None).number("\u{2212}1.5".as_bytes()), Some(-1.5));
        assert_eq!(Marks::new(b'.', None).number(b"1 234"), None);
        assert_eq!(Marks::new(b',', Some(NO_THOUSANDS)).number(b"10.484"), None);
        for (text, value) in
            [("9.5D-01", Some(0.95)), ("-1.d2", Some(-100.0)), ("19.2\u{a0}", Some(19.2)), ("1D3", None)]
        {
            assert_eq!(Marks::default().number(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn marks_are_found() {
        let found = |cells: &[&str], delimiter| {
            let mut evidence = Evidence::default();
            cells.iter().for_each(|cell| evidence.see(cell.as_bytes()));
            let Found { decimal, thousands, doubt } = evidence.marks(Some(delimiter));
            (char::from(decimal), thousands, doubt)
        };
        assert_eq!(found(&["13,91", "10.484"], b';'), (',', None, false));
        assert_eq!(found(&["1", "2.5", "1e-3"], b';'), ('.', None, false));
        assert_eq!(found(&["1,234", "2.5"], b','), ('.', Some(','), false));
        assert_eq!(found(&["1,234.5"], b','), ('.', Some(','), false));
        assert_eq!(found(&["10.484", "3.100"], b';'), ('.', None, true));
        assert_eq!(found(&["10.484", "3.100"], b','), ('.', None, false));
        assert_eq!(found(&["1,250"], b';'), (',', None, true));
        assert_eq!(found(&["1,250"], b','), ('.', Some(','), true));
        assert_eq!(found(&["1,250"], b'\t'), ('.', None, true));
        assert_eq!(found(&["0,250"], b','), (',', None, false));
        assert_eq!(found(&["a,b", "x.y.z"], b';'), ('.', None, false));
    }

    #[test]
    fn missing_values() {
        let marks = Marks::default().with_missing(&["-999".into(), "<LOD".into()]);
        assert_eq!(marks.cell(b"-999.0"), Cell::Missing);
        assert_eq!(marks.cell(b"<LOD"), Cell::Missing);
        assert_eq!(marks.cell(b"na"), Cell::Missing);
        assert_eq!(marks.cell(b""), Cell::Missing);
        assert_eq!(marks.cell(b"-998"), Cell::Number(-998.0));
        assert_eq!(marks.cell(b"low"), Cell::Text);
    }

    #[test]
    fn latin_1() {
        assert_eq!(decoded(b"H\xf6he \x80"), "Höhe €");
        assert_eq!(decoded("Höhe".as_bytes()), "Höhe");
    }
}
