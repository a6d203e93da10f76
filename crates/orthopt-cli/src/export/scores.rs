//! The scores of the samples as a table.

use std::path::Path;

use super::Found;
use crate::rows::Rows;

pub fn write(found: &Found<'_>, path: &Path) -> anyhow::Result<()> {
    found.scores()?.write(path)
}

impl Found<'_> {
    /// The samples.
    ///
    /// # Errors
    /// They were not kept.
    pub fn scores(&self) -> anyhow::Result<&Rows> {
        self.shown
            .and_then(|shown| shown.rows.as_ref())
            .ok_or_else(|| anyhow::anyhow!("the samples were not kept"))
    }
}
