//! Sources that `DATA` can name: a file, a generator with its numbers, or a built-in table.

use std::fs;
use std::path::Path;

use orthopt_linalg::error::nearest_name;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::{LoadOptions, finished, known_extensions, read_file, read_stdin};
use crate::text::printable;
use crate::{builtin, generate};

/// Loads what a `DATA` argument names: a file, `randn:M:N[:SEED]` and the other
/// [`generators`](crate::generators), `builtin:NAME`, or `-` for standard input.
///
/// A generator is recognised by its name up to the first colon; anything that is neither a
/// generator nor `builtin:` is a path.
///
/// # Errors
/// [`DataError`] as from [`read_file`], or [`DataError::Spec`] with the form that was expected.
pub fn load(spec: impl AsRef<Path>, options: &LoadOptions) -> Result<DataSet, DataError> {
    let path = spec.as_ref();
    // A name that is no text can only be that of a file.
    let spec = path.to_str().unwrap_or_default();
    if let Some(name) = spec.strip_prefix("builtin:") {
        return builtin::load(spec, name, options);
    }
    if spec == "-" {
        return read_stdin(options);
    }
    match generate::find(spec) {
        // A file that happens to be called `randn` is still a file.
        Some(generator) if spec.contains(':') || !Path::new(spec).exists() => {
            finished(generate::run(generator, spec, options.max_memory)?, options)
        }
        _ => read_file(path, options).map_err(|error| error.with_known(|| known_instead(path))),
    }
}

/// Names to suggest instead of a missing file: one of a similar name in its folder, or all that [`load`] understands.
fn known_instead(path: &Path) -> String {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let asked = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let has_other_case = |name: &&String| name.eq_ignore_ascii_case(&asked);
    let near = names.iter().find(has_other_case).map(String::as_str);
    match near.or_else(|| nearest_name(&asked, names.iter().map(String::as_str))) {
        Some(near) => format!("did you mean `{}`?", printable(&path.with_file_name(near).to_string_lossy())),
        None => format!("DATA can be {}", everything_known()),
    }
}

/// Everything that [`load`] understands.
fn everything_known() -> String {
    let generators: Vec<_> = generate::generators().into_iter().map(|(usage, _)| usage).collect();
    let builtins: Vec<_> = builtin::builtins().into_iter().map(|(name, _)| name).collect();
    format!(
        "an existing file ({}, each also .gz, .bz2, .xz), - for standard input, {} or {}",
        known_extensions(),
        generators.join(", "),
        builtins.join(", ")
    )
}
