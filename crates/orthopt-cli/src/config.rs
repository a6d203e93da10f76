//! Config files: TOML with the long option names as keys, overridden by what is typed.

#[cfg(test)]
mod fuzz;

use std::path::Path;

use anyhow::Context;
use orthopt::request::{Front, Request, similar};
use orthopt_data::printable;

use crate::failure::usage;
use crate::input::short_text;

/// Options as typed, with the rest from the config file.
///
/// # Errors
/// A file that cannot be read, is not TOML, or has a key or value that is no option.
pub fn merge(typed: Request, path: &Path) -> anyhow::Result<Request> {
    let text =
        short_text(path).with_context(|| format!("cannot read the config file `{}`", path.display()))?;
    let file = parse(&text, &path.display().to_string())?;
    Ok(overlay(typed, file))
}

/// The options as a config file.
pub fn print(options: &Request) -> anyhow::Result<String> {
    toml::to_string(options).map_err(|error| usage(format!("cannot be written as TOML: {error}")))
}

fn parse(text: &str, name: &str) -> anyhow::Result<Request> {
    toml::from_str(text).map_err(|error| {
        let message = cut(&in_words(error.message()), 3000);
        let Some(span) = error.span() else {
            return usage(format!("{name}: {message}"));
        };
        let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
        match key_of_line(text, line) {
            Some(key) if !message.contains(key) => {
                usage(format!("{name}:{line}: {}: {message}", cut(key, 60)))
            }
            _ => usage(format!("{name}:{line}: {message}")),
        }
    })
}

/// Foreign text for a message: printable, and not the whole of a long line.
fn cut(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    printable(&short) + if short.len() < text.len() { "..." } else { "" }
}

/// The key that a line sets, for messages that do not name it.
fn key_of_line(text: &str, line: usize) -> Option<&str> {
    let (key, _) = text.lines().nth(line - 1)?.split_once('=')?;
    Some(key.trim())
}

/// Names of Rust types mean nothing to the user.
fn in_words(message: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("unknown field", "no option is called"),
        ("expected one of", "there are"),
    ];
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    if let Some((name, near)) = unknown.map(|(name, _)| (name, similar(name, Front::Command)))
        && !near.is_empty()
    {
        return format!("no option is called `{name}`, did you mean `{}`?", near.join("` or `"));
    }
    words.iter().fold(message.to_string(), |text, (from, to)| text.replace(from, to))
}

fn overlay(typed: Request, mut file: Request) -> Request {
    // DATA and --gram exclude each other: a typed one replaces either.
    if typed.data.is_some() || typed.gram.is_some() {
        (file.data, file.gram, file.more) = (None, None, None);
    }
    typed.over(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_options_win() {
        let file = parse("rank = 2\nlambda = 1\ngram = 'C.npy'\ncenter = true", "f").unwrap();
        let typed = Request {
            rank: Some(4.into()),
            data: Some("a.csv".into()),
            center: Some(false),
            ..Default::default()
        };
        let merged = overlay(typed, file);
        assert_eq!((merged.rank, merged.lambda), (Some(4.into()), Some(1.0)));
        assert_eq!((merged.data.as_deref(), merged.gram), (Some(Path::new("a.csv")), None));
        assert_eq!(merged.center, Some(false));
    }

    #[test]
    fn errors_name_file_line_and_key() {
        let message = |text: &str| parse(text, "run.toml").unwrap_err().to_string();
        let unknown = message("rank = 2\nlamda = 1.0\n");
        assert!(
            unknown.starts_with("run.toml:2: no option is called `lamda`, did you mean `lambda`"),
            "{unknown}"
        );
        let unknown = message("rank = 2\nwithout-likeness = 1.0\n");
        assert!(unknown.contains("`without-likeness`, there are `problem`, "), "{unknown}");
        let kind = message("\n\nthreads = 'three'\n");
        assert!(kind.starts_with("run.toml:3: threads: invalid type: string \"three\", expected"), "{kind}");
        let kind = message("\n\nrank = 'three'\n");
        assert!(kind.starts_with("run.toml:3: rank: three is given, expected a whole number"), "{kind}");
        assert!(message("rank 3").starts_with("run.toml:1: "));
    }

    #[test]
    fn what_is_printed_can_be_read() {
        let options = Request {
            problem: Some("l0-pca".into()),
            tol: Some(1e-9),
            seed: Some(7),
            json: Some("out.json".into()),
            ..Default::default()
        };
        let text = print(&options).unwrap();
        assert!(text.contains("tol = 1e-9") || text.contains("tol = 0.000000001"), "{text}");
        assert_eq!(print(&parse(&text, "f").unwrap()).unwrap(), text);
    }
}
