//! Writing to stdout. A closed reader (`| head`) counts as success.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use orthopt_data::printable;

/// Writes `text` to stdout at once.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes a line to stdout, whatever names are in it.
pub fn print_line(text: &str) -> anyhow::Result<()> {
    print(&format!("{}\n", printable(text)))
}

/// Writes `bytes` to stdout at once.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    told(io::stdout().lock().write_all(bytes))
}

/// Result of writing text to stdout; a broken pipe counts as success.
pub fn told(written: io::Result<()>) -> anyhow::Result<()> {
    match written.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to stdout"),
    }
}
