//! Model of `transform`: the JSON of `solve`.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, bail};
use orthopt::linalg::RowMat;
use orthopt_data::{DataSet, Role};
use serde::Deserialize;

/// X with the names and units of its variables.
#[derive(Debug)]
pub struct Model {
    pub x: RowMat,
    pub names: Option<Vec<String>>,
    pub means: Option<Vec<f64>>,
    pub scales: Option<Vec<f64>>,
}

/// The fields of the file that matter.
#[derive(Deserialize)]
struct Fields {
    x: Option<Vec<Vec<f64>>>,
    names: Option<Vec<String>>,
    means: Option<Vec<f64>>,
    scales: Option<Vec<f64>>,
}

impl Model {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// It cannot be read, is no JSON of `solve`, or does not fit together.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let place = || path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read the model `{}`", place()))?;
        let fields: Fields = serde_json::from_reader(BufReader::new(file))
            .with_context(|| format!("{}: not a result of solve", place()))?;
        Self::of(fields).with_context(place)
    }

    fn of(fields: Fields) -> anyhow::Result<Self> {
        let Fields { x, names, means, scales } = fields;
        let Some(x) = x.filter(|x| x.first().is_some_and(|row| !row.is_empty())) else {
            bail!("it holds no x: write the model with orthopt solve ... --json FILE");
        };
        let (n, r) = (x.len(), x[0].len());
        if let Some(i) = x.iter().position(|row| row.len() != r) {
            bail!("row {} of x has {} numbers where the first row has {r}", i + 1, x[i].len());
        }
        let lengths = [
            ("names", names.as_ref().map(Vec::len)),
            ("means", means.as_ref().map(Vec::len)),
            ("scales", scales.as_ref().map(Vec::len)),
        ];
        for (field, length) in lengths {
            if let Some(length) = length.filter(|length| *length != n) {
                bail!("{field} has {length} entries for the {n} rows of x");
            }
        }
        if let Some(j) = scales.iter().flatten().position(|scale| *scale == 0.0) {
            bail!("entry {} of scales is 0: scales must not be 0", j + 1);
        }
        let x = RowMat::from_fn(n, r, |i, k| x[i][k]);
        Ok(Self { x, names, means, scales })
    }

    /// The columns of the model, found by name or by position.
    ///
    /// # Errors
    /// Columns that are not there; data that are C itself.
    pub fn columns_of(&self, data: DataSet) -> anyhow::Result<DataSet> {
        if data.role == Role::Gram {
            bail!("{} is C itself: there are no rows to transform", data.source);
        }
        let n = self.x.nrows();
        if let (Some(wanted), Some(there)) = (&self.names, &data.names)
            && wanted != there
        {
            let at: HashMap<&str, usize> =
                there.iter().enumerate().rev().map(|(j, name)| (name.as_str(), j)).collect();
            let found: Vec<Option<usize>> =
                wanted.iter().map(|name| at.get(name.as_str()).copied()).collect();
            let absent: Vec<&str> = wanted
                .iter()
                .zip(&found)
                .filter(|(_, at)| at.is_none())
                .map(|(name, _)| name.as_str())
                .collect();
            if let Some(first) = absent.first() {
                let others =
                    if absent.len() > 1 { format!(" and {} more", absent.len() - 1) } else { String::new() };
                bail!("{} has no column `{first}`{others}, which the model needs", data.source);
            }
            return Ok(data.selected(&found.into_iter().flatten().collect::<Vec<_>>()));
        }
        if data.matrix.ncols() != n {
            bail!("{} has {} columns, the model {n} variables", data.source, data.matrix.ncols());
        }
        Ok(data)
    }
}
