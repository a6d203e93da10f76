//! Recognition of formats by their first bytes.

use super::delimited::is_text;
use crate::text::{parse_f64, parse_usize, tokens};

/// How the fields of a table are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Between fields; any white space if `None`.
    pub(super) delimiter: Option<u8>,
    /// Numbers may be written `1,5`: where `;` separates, commas do not.
    pub(super) decimal_comma: bool,
}

impl Style {
    /// The style of a table from its first line: the `usual` separator if the line has it outside of
    /// quotes, else another one that it has. Spreadsheets of half of Europe write `.csv` files with `;`.
    pub(super) fn of(line: &[u8], usual: Option<u8>) -> Self {
        let bare = without_quoted(line);
        let count = |byte: u8| bare.iter().filter(|b| **b == byte).count();
        let semicolon = Self { delimiter: Some(b';'), decimal_comma: true };
        let (commas, semicolons) = (count(b','), count(b';'));
        let number = |field: &[u8]| comma_number(field.trim_ascii()).is_some();
        let by_semicolon = semicolons > commas || (semicolons > 0 && bare.split(|b| *b == b';').all(number));
        if usual != Some(b'\t') && count(b'\t') == 0 && by_semicolon {
            return semicolon;
        }
        let order = [usual, Some(b'\t'), Some(b',')];
        let found = order.into_iter().flatten().find(|byte| count(*byte) > 0);
        match (found, usual) {
            (Some(byte), _) => Self { delimiter: Some(byte), decimal_comma: false },
            (None, Some(b'\t')) if by_semicolon => semicolon,
            (None, usual) => Self { delimiter: usual, decimal_comma: false },
        }
    }

    /// Neither a number in this style nor the absence of one.
    pub(super) fn is_text(self, field: &[u8]) -> bool {
        is_text(field) && self.number(field).is_none()
    }

    /// A number in this style.
    pub(super) fn number(self, field: &[u8]) -> Option<f64> {
        parse_f64(field).or_else(|| comma_number(field).filter(|_| self.decimal_comma))
    }
}

/// `1,5` as 1.5; other numbers as they are.
fn comma_number(field: &[u8]) -> Option<f64> {
    let commas = field.iter().filter(|byte| **byte == b',').count();
    if commas == 0 {
        return parse_f64(field);
    }
    let plain: Vec<u8> = field.iter().map(|byte| if *byte == b',' { b'.' } else { *byte }).collect();
    parse_f64(&plain).filter(|_| commas == 1 && !field.contains(&b'.'))
}

fn without_quoted(line: &[u8]) -> Vec<u8> {
    line.split(|byte| *byte == b'"').step_by(2).flatten().copied().collect()
}

/// How files that are no plain text begin.
const BEGINNINGS: [(&[u8], &str); 6] = [
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"%%MatrixMarket", "mtx"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"), // a stream of Arrow IPC
];

/// The extension of the format that these first bytes of a file belong to; `txt` for any table.
pub(super) fn extension(start: &[u8]) -> &'static str {
    for (magic, extension) in BEGINNINGS {
        if start.starts_with(magic) {
            return extension;
        }
    }
    let mut lines = start.split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    let mut fields = tokens(first);
    let label = fields.next().is_some_and(|field| parse_f64(field).is_some());
    let entry = |field: &[u8]| {
        let colon = field.iter().position(|byte| *byte == b':');
        colon.is_some_and(|at| parse_usize(&field[..at]).is_some())
    };
    let mut rest = fields.peekable();
    if label && rest.peek().is_some() && rest.all(entry) { "svm" } else { "txt" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found() {
        let of = |line: &str, usual| Style::of(line.as_bytes(), usual).delimiter;
        let csv = Some(b',');
        assert_eq!(of("a,b", csv), csv);
        assert_eq!(of("a;b", csv), Some(b';'));
        assert_eq!(of("1,5;2,5;3", csv), Some(b';'));
        assert_eq!(of("a;x,b;y", csv), Some(b';'));
        assert_eq!(of("a;x,b,c", csv), csv);
        assert_eq!(of("\"a;b;c\",d", csv), csv);
        assert_eq!(of("a\tb", csv), Some(b'\t'));
        assert_eq!(of("5", csv), csv);
        assert_eq!(of("a,b\tc", Some(b'\t')), Some(b'\t'));
        assert_eq!(of("\"a\" \"b\"", None), None);
        assert_eq!(of("a,b c", None), csv);
    }

    #[test]
    fn a_comma_is_decimal_only_where_it_does_not_separate() {
        let semicolon = Style { delimiter: Some(b';'), decimal_comma: true };
        assert_eq!(semicolon.number(b"-1,25e2"), Some(-125.0));
        assert_eq!(semicolon.number(b"1.5"), Some(1.5));
        assert_eq!((semicolon.number(b"1,000,000"), semicolon.number(b"1.000,5")), (None, None));
        let tab = Style { delimiter: Some(b'\t'), decimal_comma: false };
        assert_eq!(tab.number(b"1,250"), None); // a thousand?
    }

    #[test]
    fn formats_are_found() {
        assert_eq!(extension(b"\x93NUMPY\x01\x00"), "npy");
        assert_eq!(extension(b"PAR1\x15\x04"), "parquet");
        assert_eq!((extension(b"ARROW1\0\0"), extension(b"\xff\xff\xff\xff\x10\0")), ("arrow", "arrow"));
        assert_eq!(extension(b"%%MatrixMarket matrix array real general\n"), "mtx");
        assert_eq!(extension(b"# c\n+1 3:0.5 7:1\n-1 2:2\n"), "svm");
        for table in ["1 2\n", "a,b\n", "", "1\n", "x 1:2\n"] {
            assert_eq!(extension(table.as_bytes()), "txt", "{table}");
        }
    }
}
