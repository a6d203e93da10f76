//! Sources that `DATA` can name: a file, a generator with its numbers, or a built-in table.

use std::path::Path;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::{LoadOptions, finished, known_extensions, read_file, read_stdin};
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
        _ => read_file(path, options).map_err(|error| error.with_known(everything_known)),
    }
}

/// Everything that [`load`] understands, for the message about a missing file.
fn everything_known() -> String {
    let generators: Vec<_> = generate::generators().into_iter().map(|(usage, _)| usage).collect();
    let builtins: Vec<_> = builtin::builtins().into_iter().map(|(name, _)| name).collect();
    format!(
        "an existing file ({}, each also .gz), - for standard input, {} or {}",
        known_extensions(),
        generators.join(", "),
        builtins.join(", ")
    )
}
