//! The arguments of the command, as the user has typed them.

use std::ffi::OsString;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the words of the command line, the first of which is the program.
pub fn keep(words: Vec<OsString>) -> &'static [OsString] {
    WORDS.get_or_init(|| words)
}

/// The arguments, without the program.
pub fn arguments() -> impl Iterator<Item = String> {
    WORDS.get().into_iter().flatten().skip(1).map(|word| word.to_string_lossy().into_owned())
}
