//! Recognition of formats by their first bytes.

use crate::table::is_number;
use crate::text::{parse_f64, parse_usize, tokens};

/// Separator of the fields of a table, from its first line; any white space if `None`. It is the `usual` separator if
/// the line has it outside of quotes, else another one that it has. Spreadsheets of half of Europe write `.csv` files
/// with `;`.
pub(crate) fn delimiter(line: &[u8], usual: Option<u8>) -> Option<u8> {
    let bare = without_quoted(line);
    let count = |byte: u8| bare.iter().filter(|b| **b == byte).count();
    let (commas, semicolons) = (count(b','), count(b';'));
    let number = |field: &[u8]| is_number(field.trim_ascii());
    let by_semicolon = semicolons > commas || (semicolons > 0 && bare.split(|b| *b == b';').all(number));
    if usual != Some(b'\t') && count(b'\t') == 0 && by_semicolon {
        return Some(b';');
    }
    // numbers with decimal commas between white space
    let words = || tokens(&bare);
    if usual.is_none() && commas > 0 && words().count() > 1 && words().all(number) {
        return None;
    }
    let order = [usual, Some(b'\t'), Some(b','), Some(b'|')];
    match order.into_iter().flatten().find(|byte| count(*byte) > 0) {
        None if usual == Some(b'\t') && by_semicolon => Some(b';'),
        None => usual,
        found => found,
    }
}

/// True if lines without any other separator hold several words each, equally many, of which most are numbers below the first.
pub(crate) fn is_spaced(lines: &[(u64, Vec<u8>)]) -> bool {
    let mut counts = lines.iter().map(|(_, text)| tokens(text).count());
    let Some(width) = counts.next().filter(|width| *width > 1) else { return false };
    let numbers = |text: &[u8]| 2 * tokens(text).filter(|word| is_number(word)).count() >= width;
    lines.len() > 1 && counts.all(|count| count == width) && lines[1..].iter().all(|(_, text)| numbers(text))
}

fn without_quoted(line: &[u8]) -> Vec<u8> {
    line.split(|byte| *byte == b'"').step_by(2).flatten().copied().collect()
}

/// First bytes of files that are no plain text.
const BEGINNINGS: [(&[u8], &str); 7] = [
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"%%MatrixMarket", "mtx"),
    (b"MATLAB ", "mat"),
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
        let of = |line: &str, usual| delimiter(line.as_bytes(), usual);
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
        assert_eq!(of("1,5 2,25 3", None), None);
        assert_eq!(of("a|b", csv), Some(b'|'));
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
