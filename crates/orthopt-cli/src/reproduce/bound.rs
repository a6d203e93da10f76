//! A global bound of a cell, and its record.

use std::path::{Path, PathBuf};

use clap::Parser;
use orthopt::bound::{Claim, PROVED, Point};
use orthopt::report::Global;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Line, read_record, write_record};
use crate::global::{self, Effort};
use crate::input::Input;
use crate::pose::pose;
use crate::progress::Progress;

/// Lower bound of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LowerBound {
    /// No feasible X has an F below this.
    pub bound: f64,
    pub status: String,
    pub method: String,
    pub seconds: f64,
}

impl LowerBound {
    /// Claim of the bound about the F of a feasible point.
    ///
    /// # Errors
    /// F is below the bound.
    pub fn beside(&self, f: f64) -> orthopt::Result<Claim> {
        Claim::new(self.bound, Some(Point { objective: f, feasibility: 0.0 }), f.abs(), PROVED)
    }

    /// The record in a file, `None` if there is no readable one.
    pub fn read(path: &Path) -> Option<Self> {
        read_record(path)
    }

    /// Keeps the record.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_record(self, path)
    }
}

impl Cell {
    /// The file that keeps the bound.
    pub fn bound_file(&self, folder: &Path, seconds: f64) -> PathBuf {
        self.record_file(folder, &format!("bound{}", crate::text::exact(seconds)))
    }

    /// Bounds F over all feasible X of the cell.
    ///
    /// # Errors
    /// There is no bound; the data cannot be read.
    pub fn lower_bound(&self, seconds: f64, progress: &Progress) -> anyhow::Result<LowerBound> {
        let Some(method) = self.plan.methods.first() else { anyhow::bail!("the item has no method") };
        let words = self.options(method);
        let line = Line::try_parse_from(std::iter::once("solve").chain(words.iter().map(String::as_str)))?;
        let settings = line.settings()?;
        let input = Input::load(&settings.data)?;
        let posed = pose(settings.job, &input, crate::interrupt::cancel())?;
        let memory = posed.job.request.memory();
        let effort = Effort { seconds, nodes: None, memory, keeps: false };
        let found = global::bound(&posed.problem, None, effort, progress)?;
        let facts = Global::of(&found);
        Ok(LowerBound {
            bound: facts.bound,
            status: facts.status.into(),
            method: facts.method.into(),
            seconds: facts.seconds,
        })
    }
}
