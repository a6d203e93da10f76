//! Formatting of numbers and lines.

/// `x` with `digits` significant digits, in exponent form if that is shorter.
pub fn number(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let exponent = x.abs().log10().floor() as i32;
    if (-4..9).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        format!("{x:.decimals$}")
    } else {
        format!("{x:.*e}", digits - 1)
    }
}

/// The minimum that is known, and how far F lies above it, as a share of it.
pub fn optimum(known: f64, above: f64) -> String {
    let known = number(known, 10);
    match above.abs() <= 4.0 * f64::EPSILON {
        true => format!("{known}, known in closed form; F equals it"),
        false => format!("{known}, known in closed form; F exceeds it by {above:.1e} of it"),
    }
}

/// `x` with all its digits, in exponent form where it would be long otherwise.
pub fn exact(x: f64) -> String {
    if x == 0.0 || (1e-5..1e12).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// `x` rounded to `digits` significant digits.
pub fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

/// 1234567 as `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 pair`, `2 pairs`.
pub fn count(n: u64, singular: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {singular}{plural}", grouped(n))
}

/// `a`, `a or b`, `a, b or c`.
pub fn either(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `250 us`, `3.1 ms`, `12.34 s` or `2 min 5 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 9.5e-4 => format!("{:.0} us", 1e6 * s),
        s if s < 0.9995 => format!("{:.1} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.2} s"),
        s => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
    }
}

/// `items` joined by two spaces, broken into lines of at most `width` characters.
pub fn wrap(items: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    joined(items, "  ", width)
}

/// A sentence broken into lines of at most `width` characters.
pub fn filled(sentence: &str, width: usize) -> Vec<String> {
    joined(sentence.split(' ').map(String::from), " ", width)
}

fn joined(items: impl IntoIterator<Item = String>, between: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.chars().count() + between.len() + item.chars().count() <= width => {
                line.push_str(between);
                line.push_str(&item);
            }
            _ => lines.push(item),
        }
    }
    lines
}

/// A word quoted for a POSIX shell.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// With a capital.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(shell_word("randn:5:3"), "randn:5:3");
        assert_eq!(shell_word("my data.csv"), "'my data.csv'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn an_optimum_that_is_met_is_no_excess() {
        assert_eq!(optimum(-2.5, 0.0), "-2.500000000, known in closed form; F equals it");
        assert_eq!(optimum(-2.5, 1.5e-9), "-2.500000000, known in closed form; F exceeds it by 1.5e-9 of it");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(-1.2345678912, 6), "-1.23457");
        assert_eq!(number(-12345.678, 10), "-12345.67800");
        assert_eq!(number(1.5e-7, 3), "1.50e-7");
        assert_eq!(number(2.5e12, 3), "2.50e12");
        assert_eq!(number(0.0, 3), "0");
        assert_eq!((exact(0.05), exact(-2.5e300)), ("0.05".into(), "-2.5e300".into()));
        assert_eq!(rounded(0.123456, 3), 0.123);
        assert_eq!(rounded(0.0, 3), 0.0);
        assert_eq!((grouped(7), grouped(1234567)), ("7".into(), "1,234,567".into()));
        assert_eq!((count(1, "pair"), count(1000, "pair")), ("1 pair".into(), "1,000 pairs".into()));
        assert_eq!((duration(0.0031), duration(125.9)), ("3.1 ms".into(), "2 min 5 s".into()));
    }

    #[test]
    fn lists_end_with_or() {
        assert_eq!((either(&[".a"]), either(&[".a", ".b"])), (".a".into(), ".a or .b".into()));
        assert_eq!(either(&[".svg", ".png", ".pdf"]), ".svg, .png or .pdf");
    }

    #[test]
    fn lines_are_broken_between_items() {
        let items = ["aaa", "bbb", "ccc"].map(String::from);
        assert_eq!(wrap(items, 8), ["aaa  bbb", "ccc"]);
        assert!(wrap([], 8).is_empty());
    }
}
