//! Results as JSON; the fields are those of [`orthopt::report`].

use std::path::Path;

use serde::Serialize;

use super::to_file;
use crate::output;

/// Writes `value` to the file, or to stdout for `-`.
pub fn write(value: &impl Serialize, path: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    if path == Path::new("-") {
        return output::print(&text);
    }
    to_file(path, |out| out.write_all(text.as_bytes()))
}
