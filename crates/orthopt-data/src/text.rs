//! Small pieces shared by the readers and writers of text formats.

use std::fmt::Display;
use std::io::{self, Write};

/// The fields of a line that is separated by any white space.
pub(crate) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

/// A number in any form that Rust reads, including `nan` and `inf`, which callers reject with
/// their position.
pub(crate) fn parse_f64(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// A whole number of at least 0, digits only. `None` also when it does not fit.
pub(crate) fn parse_usize(token: &[u8]) -> Option<usize> {
    if token.is_empty() {
        return None;
    }
    token.iter().try_fold(0_usize, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(usize::from(digit))
    })
}

/// A piece of input for a message: in backquotes, cut to a readable length.
pub(crate) fn show(token: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(token);
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}

/// Foreign text (names of files and columns, words of a file) as it may be shown on a terminal, in one line:
/// control characters, and those that turn the direction of writing, are spelled out.
///
/// ```
/// assert_eq!(orthopt_data::printable("a\u{1b}[31m\tb\n"), "a\\u{1b}[31m\\tb\\n");
/// ```
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(c.escape_unicode());
            }
            c if c.is_control() => shown.extend(c.escape_debug()),
            c => shown.push(c),
        }
    }
    shown
}

/// Message of a library about a file, in one line and cut to a readable length: its words can repeat any part of the
/// file.
pub(crate) fn said(error: &dyn Display) -> String {
    const LONGEST: usize = 300;
    let words = error.to_string();
    let mut short: String = words.chars().take(LONGEST).collect();
    if words.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    printable(&short)
}

/// Writes a number so that reading it back gives the same bits, in the shorter of the two
/// notations (`0.001`, `1e300`).
pub(crate) fn write_number(out: &mut dyn Write, value: f64) -> io::Result<()> {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_libraries_are_short_and_in_one_line() {
        assert_eq!(said(&"a part is missing"), "a part is missing");
        assert_eq!(said(&"no\nsheet\u{1b}"), "no\\nsheet\\u{1b}");
        let long = said(&format!("unknown kind {}", "é".repeat(5000)));
        assert!(
            long.starts_with("unknown kind é") && long.ends_with("é...") && long.chars().count() == 303,
            "{long}"
        );
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(parse_usize(b"0"), Some(0));
        assert_eq!(parse_usize(b"1204"), Some(1204));
        for bad in ["", "-1", "+1", "1.0", "a", "1 ", "99999999999999999999999"] {
            assert_eq!(parse_usize(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn tokens_skip_all_white_space() {
        let found: Vec<_> = tokens(b" \t1  2:3\t\r\n").collect();
        assert_eq!(found, [b"1".as_slice(), b"2:3"]);
    }

    #[test]
    fn shown_text_is_short_and_printable() {
        assert_eq!(show(b"ab\x00"), "`ab\\0`");
        assert_eq!(show(&[b'x'; 100]), format!("`{}...`", "x".repeat(40)));
    }

    #[test]
    fn numbers_are_written_short() {
        let written = |value| {
            let mut out = Vec::new();
            write_number(&mut out, value).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(3.0), "3");
        assert_eq!(written(-0.0), "-0");
        assert_eq!(written(0.1), "0.1");
        assert_eq!(written(1e300), "1e300");
        assert_eq!(written(5e-324), "5e-324");
    }
}
