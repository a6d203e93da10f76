//! Config files: TOML with the long option names as keys, overridden by what is typed.

#[cfg(test)]
mod fuzz;

use std::path::Path;

use anyhow::Context;
use orthopt_data::printable;
use toml::Table;

use crate::failure::usage;
use crate::input::short_text;
use crate::options::SolveOptions;

/// What is typed, with the rest from the config file.
///
/// # Errors
/// A file that cannot be read, is not TOML, or has a key or value that is no option.
pub fn merge(typed: &SolveOptions, path: &Path) -> anyhow::Result<SolveOptions> {
    let text =
        short_text(path).with_context(|| format!("cannot read the config file `{}`", path.display()))?;
    let file = parse(&text, &path.display().to_string())?;
    overlay(typed, file)
}

/// The options as a config file.
pub fn print(options: &SolveOptions) -> anyhow::Result<String> {
    toml::to_string(options).map_err(|error| usage(format!("cannot be written as TOML: {error}")))
}

fn parse(text: &str, name: &str) -> anyhow::Result<SolveOptions> {
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
    words.iter().fold(message.to_string(), |text, (from, to)| text.replace(from, to))
}

fn overlay(typed: &SolveOptions, mut file: SolveOptions) -> anyhow::Result<SolveOptions> {
    // DATA and --gram exclude each other: a typed one replaces either.
    if typed.data.is_some() || typed.gram.is_some() {
        (file.data, file.gram) = (None, None);
        file.more.clear();
    }
    let table = |options: &SolveOptions| {
        Table::try_from(options).map_err(|error| usage(format!("with --config: {error}")))
    };
    // names of files need not be text, which TOML is
    let (data, gram) = (typed.data.clone().or(file.data.take()), typed.gram.clone().or(file.gram.take()));
    let more = if typed.more.is_empty() { std::mem::take(&mut file.more) } else { typed.more.clone() };
    let typed = &SolveOptions { data: None, more: Vec::new(), gram: None, ..typed.clone() };
    let mut constants = file.constants.clone();
    constants.0.extend(typed.constants.0.clone());
    let mut merged = table(&file)?;
    merged.extend(table(typed)?); // options not given are not in the table
    let merged: SolveOptions = merged.try_into()?;
    Ok(SolveOptions { data, more, gram, constants, ..merged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_options_win() {
        let file = parse("rank = 2\nlambda = 1\ngram = 'C.npy'\ncenter = true", "f").unwrap();
        let typed = SolveOptions {
            rank: Some(4),
            data: Some("a.csv".into()),
            center: Some(false),
            ..Default::default()
        };
        let merged = overlay(&typed, file).unwrap();
        assert_eq!((merged.rank, merged.lambda), (Some(4), Some(1.0)));
        assert_eq!((merged.data.as_deref(), merged.gram), (Some(Path::new("a.csv")), None));
        assert_eq!(merged.center, Some(false));
    }

    #[test]
    fn errors_name_file_line_and_key() {
        let message = |text: &str| parse(text, "run.toml").unwrap_err().to_string();
        let unknown = message("rank = 2\nlamda = 1.0\n");
        assert!(
            unknown.starts_with("run.toml:2: no option is called `lamda`, there are `problem`, "),
            "{unknown}"
        );
        let kind = message("\n\nrank = 'three'\n");
        assert!(kind.starts_with("run.toml:3: rank: invalid type: string \"three\", expected"), "{kind}");
        assert!(message("rank 3").starts_with("run.toml:1: "));
    }

    #[test]
    fn what_is_printed_can_be_read() {
        let options = SolveOptions {
            problem: Some("l0-pca".into()),
            tol: Some(1e-9),
            seed: Some(7),
            json: Some("out.json".into()),
            ..Default::default()
        };
        let text = print(&options).unwrap();
        assert!(text.contains("tol = 1e-9") || text.contains("tol = 0.000000001"), "{text}");
        assert_eq!(parse(&text, "f").unwrap(), options);
    }
}
