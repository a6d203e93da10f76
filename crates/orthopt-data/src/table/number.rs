//! Numbers as people write them: what separates decimals and groups digits, what stands for a missing value, and cells
//! that are numbers with a unit.

use super::options::NO_THOUSANDS;
use crate::text::parse_f64;

/// Cells without a value, in letters of any size: those of R, pandas, SAS and SPSS, and the errors of spreadsheets.
pub(crate) const MISSING: [&str; 14] = [
    "NA", "N/A", "#N/A", "NaN", "null", "none", "?", ".", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
    "#NULL!",
];

/// How the numbers of a table are written.
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

/// What a cell holds.
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

    /// The same with cells that stand for a missing value; those that are numbers do so however they are written.
    pub(crate) fn with_missing(mut self, na: &[String]) -> Self {
        self.words = na.iter().map(|word| word.as_bytes().to_vec()).collect();
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
        match field.is_empty() || is_spelled_missing(field) || self.words.iter().any(|word| word == field) {
            true => Cell::Missing,
            false => Cell::Text,
        }
    }

    /// Whether a number stands for a missing value.
    pub(crate) fn is_missing_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }

    /// Whether any number stands for a missing value.
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

    /// A number with groups of digits, a decimal comma, or a minus sign of typesetters.
    #[cold]
    fn written(&self, field: &[u8]) -> Option<f64> {
        if !field.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let text = decoded(field);
        let mut plain = String::with_capacity(text.len());
        let unsigned = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => {
                plain.push('-');
                rest
            }
            None => text.strip_prefix('+').unwrap_or(&text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => unsigned.split_at(at),
            None => (unsigned, ""),
        };
        let decimal = char::from(self.decimal);
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
        plain.push_str(exponent);
        parse_f64(plain.as_bytes())
    }

    /// Whether a character may group digits.
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

fn is_hard_space(mark: char) -> bool {
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

/// Whether a cell is a number in any way of writing it.
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

/// What the cells of a table say of its marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Cells in which a comma can only separate decimals, only group digits, or either.
    comma: Uses,
    /// The same of dots.
    dot: Uses,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    decimal: bool,
    groups: bool,
    either: bool,
}

impl Evidence {
    /// Looks at a cell.
    pub(crate) fn see(&mut self, field: &[u8]) {
        let count = |byte: u8| field.iter().filter(|b| **b == byte).count();
        let (commas, dots) = (count(b','), count(b'.'));
        if commas + dots == 0 || !is_number(field) {
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

    /// The marks of a table whose columns `by_semicolon` (or white space) separates, or tabs or commas; `None` for numbers that may be either.
    pub(crate) fn marks(self, by_semicolon: bool) -> Found {
        let point = Found { decimal: b'.', thousands: None, doubt: false };
        let comma = Found { decimal: b',', thousands: None, doubt: false };
        let (for_comma, for_point) =
            (self.comma.decimal || self.dot.groups, self.dot.decimal || self.comma.groups);
        match (for_comma, for_point) {
            (true, false) => comma,
            (false, true) if self.comma.groups || self.comma.either => {
                Found { thousands: Some(','), ..point }
            }
            (false, true) | (true, true) => point,
            (false, false) if self.comma.either && by_semicolon => Found { doubt: true, ..comma },
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

/// A number with something beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// `the unit \`kg\``, `a per cent sign`, `a currency`.
    pub(crate) what: String,
    /// What stands beside the number.
    pub(crate) beside: String,
}

const CURRENCIES: [char; 8] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₺'];
const CODES: [&str; 10] = ["EUR", "USD", "GBP", "CHF", "JPY", "CNY", "SEK", "NOK", "DKK", "PLN"];

/// A cell that is a number with a unit, a currency or a per cent sign.
pub(crate) fn measured(field: &[u8]) -> Option<Measured> {
    const LONGEST: usize = 12;
    let text = decoded(field);
    let text = text.trim();
    let found = |what: String, beside: &str| Some(Measured { what, beside: beside.into() });
    let unsigned = text.trim_start_matches(['-', '+', '\u{2212}']).trim_start();
    let currency = CODES
        .iter()
        .copied()
        .chain(unsigned.chars().next().filter(|c| CURRENCIES.contains(c)).map(|_| ""))
        .find_map(|code| match code {
            "" => unsigned.chars().next().map(|c| &unsigned[..c.len_utf8()]),
            code => unsigned.starts_with(code).then(|| &unsigned[..code.len()]),
        });
    if let Some(sign) = currency {
        let rest = unsigned[sign.len()..].trim();
        return is_number(rest.as_bytes()).then(|| found("a currency".into(), sign)).flatten();
    }
    let end = unsigned
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | ' ') || is_hard_space(c)))?;
    let (number, rest) = (unsigned[..end].trim(), unsigned[end..].trim());
    if number.is_empty() || !is_number(number.as_bytes()) || rest.chars().count() > LONGEST {
        return None;
    }
    let first = rest.chars().next()?;
    match rest {
        "%" | "\u{2030}" => found("a per cent sign".into(), rest),
        _ if CURRENCIES.contains(&first) || CODES.contains(&rest) => found("a currency".into(), rest),
        _ if !(first.is_alphabetic() || first == '°') => None,
        _ if !rest.chars().all(|c| c.is_alphanumeric() || "°/^²³·*-%. ".contains(c)) => None,
        _ => found(format!("the unit {}", crate::text::show(rest.as_bytes())), rest),
    }
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
    }

    #[test]
    fn marks_are_found() {
        let found = |cells: &[&str], by_semicolon| {
            let mut evidence = Evidence::default();
            cells.iter().for_each(|cell| evidence.see(cell.as_bytes()));
            let Found { decimal, thousands, doubt } = evidence.marks(by_semicolon);
            (char::from(decimal), thousands, doubt)
        };
        assert_eq!(found(&["13,91", "10.484"], true), (',', None, false));
        assert_eq!(found(&["1", "2.5", "1e-3"], true), ('.', None, false));
        assert_eq!(found(&["1,234", "2.5"], false), ('.', Some(','), false));
        assert_eq!(found(&["1,234.5"], false), ('.', Some(','), false));
        assert_eq!(found(&["10.484", "3.100"], true), ('.', None, true));
        assert_eq!(found(&["10.484", "3.100"], false), ('.', None, false));
        assert_eq!(found(&["1,250"], true), (',', None, true));
        assert_eq!(found(&["1,250"], false), ('.', None, true));
        assert_eq!(found(&["0,250"], false), (',', None, false));
        assert_eq!(found(&["a,b", "x.y.z"], true), ('.', None, false));
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
    fn numbers_with_a_unit() {
        let of = |text: &str| measured(text.as_bytes()).map(|found| found.beside);
        for (text, beside) in [
            ("70 kg", "kg"),
            ("12.5%", "%"),
            ("45 %", "%"),
            ("$1,200.50", "$"),
            ("12 €", "€"),
            ("EUR 5", "EUR"),
            ("3,5 mg/l", "mg/l"),
            ("37°C", "°C"),
        ] {
            assert_eq!(of(text).as_deref(), Some(beside), "{text}");
        }
        for text in ["kg", "Alabama", "12", "A 12", "1:2", "2026-01-01", "12 monkeys in the zoo", ""] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn latin_1() {
        assert_eq!(decoded(b"H\xf6he \x80"), "Höhe €");
        assert_eq!(decoded("Höhe".as_bytes()), "Höhe");
    }
}
