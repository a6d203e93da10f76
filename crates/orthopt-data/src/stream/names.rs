//! Patterns of file names: `*` for any letters and `?` for one, in any part of a path.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::DataError;

/// Files of a list of names and patterns, the matches of a pattern in order.
///
/// # Errors
/// A pattern without a match.
pub fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, DataError> {
    let mut found = Vec::new();
    for path in named {
        if path.exists() || !is_pattern(path.as_os_str()) {
            found.push(path.clone());
            continue;
        }
        let fitting = expand(path);
        if fitting.is_empty() {
            let known =
                "DATA can be a pattern that matches files, such as part-*.csv; this one matches none".into();
            return Err(DataError::NotFound { path: path.display().to_string(), known });
        }
        found.extend(fitting);
    }
    Ok(found)
}

fn is_pattern(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().any(|byte| b"*?".contains(byte))
}

fn expand(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        found = match part {
            Component::Normal(name) if is_pattern(name) => {
                found.iter().flat_map(|folder| fitting(folder, name)).collect()
            }
            other => found.into_iter().map(|folder| folder.join(other)).collect(),
        };
    }
    found.retain(|path| path.exists());
    found
}

fn fitting(folder: &Path, pattern: &OsStr) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(here).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.retain(|name| fits(pattern.as_encoded_bytes(), name.as_encoded_bytes()));
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// Goes back to the last `*` where letters differ: time in the product of the lengths at most.
pub(crate) fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == b'?' || *letter == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("part-*.csv", "part-07.csv", true),
            ("part-*.csv", "part-07.csv.gz", false),
            ("*.csv*", "a.csv.gz", true),
            ("p?rt", "part", true),
            ("p?rt", "prt", false),
            ("*a*b", "xaxaxb", true),
            ("*", "", true),
            ("a*", "ba", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
