//! PNG and PDF in a build without the feature `pictures`: the error with its remedy.

use std::path::Path;

use anyhow::bail;

use crate::failure::usage;

const WHY: &str = "this build draws .svg only: build it with the feature `pictures` (`cargo install --locked --path \
                   crates/orthopt-cli --features pictures`), or let the name end in .svg";

pub fn check(option: &str, path: &Path) -> anyhow::Result<()> {
    Err(usage(format!("{option} {}: {WHY}", path.display())))
}

pub fn png(_: &str) -> anyhow::Result<Vec<u8>> {
    bail!(WHY)
}

pub use png as pdf;
