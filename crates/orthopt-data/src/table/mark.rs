//! Cells that are numbers with something beside them: a unit, a per cent sign, a currency, stars, letters, a deviation,
//! a limit. Tables of papers and spreadsheets are full of them.

use super::number::{Marks, decoded, is_hard_space, is_number};
use crate::text::show;

/// Text beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Unit,
    PerCent,
    Currency,
    /// Stars and daggers of significance.
    Stars,
    /// Letters of groups that do not differ: `19.2 ab`.
    Letters,
    /// A second number: `19.2 ± 0.3`, `19.2 (0.3)`.
    Deviation,
    /// Brackets around the number, which are a minus sign in accounts.
    Brackets,
    /// `<0.2`.
    Limit,
}

impl Mark {
    /// True if the number is the value whatever stands beside it.
    pub(crate) fn is_value(self) -> bool {
        !matches!(self, Self::Brackets | Self::Limit)
    }
}

/// A number with something beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) mark: Mark,
    /// `the unit \`kg\``, `a per cent sign`, `a currency`.
    pub(crate) what: String,
    /// Text beside the number.
    pub(crate) beside: String,
    /// Digits and letters stand without a space between them, as in codes.
    pub(crate) glued: bool,
    number: String,
}

impl Measured {
    /// The number as it is written.
    pub(crate) fn number(&self) -> &[u8] {
        self.number.as_bytes()
    }

    /// The number, in the marks of a table.
    pub(crate) fn value(&self, marks: &Marks) -> Option<f64> {
        marks.number(self.number.as_bytes())
    }
}

const CURRENCIES: [char; 8] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₺'];
const CODES: [&str; 10] = ["EUR", "USD", "GBP", "CHF", "JPY", "CNY", "SEK", "NOK", "DKK", "PLN"];
const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];

/// A cell that is a number with something beside it, and no number alone.
pub(crate) fn measured(field: &[u8]) -> Option<Measured> {
    if !field.iter().any(u8::is_ascii_digit) || is_number(field) {
        return None;
    }
    let text = decoded(field);
    let text = text.trim();
    let found = |mark, what: &str, beside: &str, number: &str| {
        is_number(number.trim().as_bytes()).then(|| Measured {
            mark,
            what: what.into(),
            beside: beside.into(),
            glued: false,
            number: number.trim().into(),
        })
    };
    if let Some(rest) = text.strip_prefix(['<', '>', '≤', '≥', '~']) {
        return found(Mark::Limit, "a limit", &text[..text.len() - rest.len()], rest.trim_start_matches('='));
    }
    if let Some(rest) = text.strip_prefix(['\'', '\u{2019}']) {
        return found(Mark::Unit, "an apostrophe in front", "'", rest); // text of a spreadsheet
    }
    let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    if let Some(inside) = inside {
        return found(Mark::Brackets, "brackets", "()", inside);
    }
    let unsigned = text.trim_start_matches(['-', '+', '\u{2212}']).trim_start();
    let sign = text[..text.len() - unsigned.len()].trim();
    let letter = unsigned.chars().next().filter(|c| CURRENCIES.contains(c));
    let letter = letter.map(|c| &unsigned[..c.len_utf8()]);
    let code = || CODES.iter().copied().find(|code| unsigned.starts_with(code));
    if let Some(currency) = letter.or_else(code) {
        let number = format!("{sign}{}", unsigned[currency.len()..].trim());
        return found(Mark::Currency, "a currency", currency, &number);
    }
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | ' ') || is_hard_space(c);
    let end = unsigned.find(|c: char| !is_part(c))?;
    let (digits, rest) = (unsigned[..end].trim(), unsigned[end..].trim());
    let glued = unsigned[..end].ends_with(|c: char| c.is_ascii_digit());
    let number = format!("{sign}{digits}");
    match rest {
        "%" | "\u{2030}" => return found(Mark::PerCent, "a per cent sign", rest, &number),
        _ if rest.chars().all(|c| "*†‡§".contains(c)) => {
            return found(Mark::Stars, "stars of significance", rest, &number);
        }
        _ if CODES.contains(&rest) || rest.starts_with(CURRENCIES) => {
            return found(Mark::Currency, "a currency", rest, &number);
        }
        _ => {}
    }
    if let Some(second) = second_number(rest) {
        return found(Mark::Deviation, "a second number", second, &number);
    }
    let is_group = |c: char| ('a'..='h').contains(&c);
    if digits.contains(['.', ',']) && rest.chars().count() <= 4 && rest.chars().all(is_group) {
        return found(Mark::Letters, "letters", rest, &number);
    }
    if !is_unit(rest) || (glued && is_code(digits, rest)) {
        return None;
    }
    let unit = found(Mark::Unit, &format!("the unit {}", show(rest.as_bytes())), rest, &number);
    unit.map(|unit| Measured { glued, ..unit })
}

/// A code with the words that explain it: `1 Disagree`, `2 = no`, `-9: refused`.
pub(crate) fn answer(field: &[u8]) -> Option<(i32, &str)> {
    const LONGEST: usize = 3;
    let text = std::str::from_utf8(field).ok()?.trim();
    let end = text.char_indices().position(|(at, c)| !(c.is_ascii_digit() || (at == 0 && c == '-')))?;
    let (code, rest) = text.split_at(end);
    let word = rest.trim_start_matches([' ', '=', ':', '.', ')', '-', '\u{2013}']);
    let begins =
        word.starts_with(char::is_alphabetic) && word.chars().nth(1).is_some_and(char::is_alphabetic);
    (word.len() < rest.len() && begins && code.len() <= LONGEST).then(|| Some((code.parse().ok()?, word)))?
}

/// Separator between a number and a second one: `± 0.3`, `(0.3)`.
fn second_number(rest: &str) -> Option<&'static str> {
    let number = |text: &str| is_number(text.trim().trim_end_matches('%').as_bytes());
    let signed = ["±", "+/-", "+-"].iter().find_map(|sign| rest.strip_prefix(sign));
    if signed.is_some_and(number) {
        return Some("±");
    }
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
    number(inside.trim_start_matches(['±', '<', '='])).then_some("()")
}

fn is_unit(rest: &str) -> bool {
    const LONGEST: usize = 12;
    let first = |c: char| c.is_alphabetic() || c == '°';
    let digits = rest.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    rest.starts_with(first)
        && rest.chars().count() <= LONGEST
        && digits < 3 // years
        && rest.chars().all(|c| c.is_alphanumeric() || "°/^²³·*-%. ".contains(c))
}

/// `00M`, `1st`, `3A4`: letters and digits in turn, or zeros in front.
fn is_code(digits: &str, rest: &str) -> bool {
    let zeros = digits.len() > 1 && digits.bytes().all(|b| b.is_ascii_digit()) && digits.starts_with('0');
    let mixed = rest.ends_with(|c: char| c.is_ascii_digit())
        && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    zeros || mixed || ORDINALS.contains(&rest)
}

/// A day or a time of day, with digits between separators.
pub(crate) fn is_date(field: &[u8]) -> bool {
    const WORDS: &[u8] = b"TZAPMGUC amp+-/.:";
    let digits = field.iter().filter(|b| b.is_ascii_digit()).count();
    let separators = field.iter().filter(|b| b"-/:.".contains(b)).count();
    digits >= 4
        && separators >= 2
        && field[0].is_ascii_digit()
        && field.iter().all(|b| b.is_ascii_digit() || WORDS.contains(b))
        && !is_number(field)
}

/// True and false as programs write them.
pub(crate) fn truth(field: &[u8]) -> Option<f64> {
    match field {
        _ if field.eq_ignore_ascii_case(b"true") => Some(1.0),
        _ if field.eq_ignore_ascii_case(b"false") => Some(0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_mark() {
        let of = |text: &str| {
            let found = measured(text.as_bytes())?;
            let value = found.value(&Marks::default());
            Some((found.mark, found.beside, value))
        };
        for (text, mark, beside, value) in [
            ("70 kg", Mark::Unit, "kg", Some(70.0)),
            ("12.5%", Mark::PerCent, "%", Some(12.5)),
            ("-45 %", Mark::PerCent, "%", Some(-45.0)),
            ("-$1200.50", Mark::Currency, "$", Some(-1200.5)),
            ("12 €", Mark::Currency, "€", Some(12.0)),
            ("EUR 5", Mark::Currency, "EUR", Some(5.0)),
            ("3,5 mg/l", Mark::Unit, "mg/l", None),
            ("37°C", Mark::Unit, "°C", Some(37.0)),
            ("19.2*", Mark::Stars, "*", Some(19.2)),
            ("19.2 ab", Mark::Letters, "ab", Some(19.2)),
            ("19.2±0.2", Mark::Deviation, "±", Some(19.2)),
            ("19.2 (0.3)", Mark::Deviation, "()", Some(19.2)),
            ("(19.2)", Mark::Brackets, "()", Some(19.2)),
            ("<0.2", Mark::Limit, "<", Some(0.2)),
        ] {
            assert_eq!(of(text), Some((mark, beside.into(), value)), "{text}");
        }
        for text in [
            "kg",
            "Alabama",
            "12",
            "A 12",
            "1:2",
            "2026-01-01",
            "12 monkeys in the zoo",
            "",
            "00M",
            "1A3",
            "3 May 2020",
            "1st",
            "<LOD",
            "1.5D-01",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn days_and_times() {
        for date in ["2020-01-01T00:00:00Z", "14.08.2020", "2021/03/01 9:00:00 AM GMT+1"] {
            assert!(is_date(date.as_bytes()), "{date}");
        }
        for other in ["1.5", "a-b-c", "2020", "-1", "1.234.567"] {
            assert!(!is_date(other.as_bytes()), "{other}");
        }
    }
}
