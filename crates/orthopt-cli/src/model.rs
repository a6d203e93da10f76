//! Model of `transform`: the JSON of `solve`.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use orthopt::RowMat;
use orthopt_data::{DataSet, Role, default_memory, show_bytes};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// X with the names and units of its variables.
#[derive(Debug)]
pub struct Model {
    pub x: RowMat,
    pub names: Option<Vec<String>>,
    pub means: Option<Vec<f64>>,
    pub scales: Option<Vec<f64>>,
    /// Options with which its table was read, and their values.
    pub layout: Vec<(String, String)>,
}

/// The schema of `solve --json` that this program reads.
const SCHEMA: u64 = 1;
/// The largest deviation of X'X from what its constraint says: results are feasible to 1e-12, and files may hold them
/// with seven digits.
const TOLERANCE: f64 = 1e-5;

/// Facts about the table of the model.
#[derive(Default, Deserialize)]
struct Table {
    #[serde(default)]
    layout: std::collections::BTreeMap<String, String>,
}

/// The fields of the file that matter.
#[derive(Deserialize)]
struct Fields {
    schema: Option<u64>,
    problem: Option<String>,
    solver: Option<String>,
    x: Option<Vec<Vec<f64>>>,
    names: Option<Vec<String>>,
    means: Option<Vec<f64>>,
    scales: Option<Vec<f64>>,
    data: Option<Table>,
    checksum: Option<String>,
}

/// CRC-32 of what `transform` takes from a result: what was changed since it was written is found.
pub fn checksum(
    names: Option<&[String]>,
    means: Option<&[f64]>,
    scales: Option<&[f64]>,
    x: &RowMat,
) -> serde_json::Result<String> {
    struct Sum(crc32fast::Hasher);
    impl Write for Sum {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sum = Sum(crc32fast::Hasher::new());
    serde_json::to_writer(&mut sum, &(names, means, scales, x.nrows(), x.ncols()))?;
    // their bits: the digits of millions of numbers would take as long as writing them
    x.data().iter().for_each(|v| sum.0.update(&v.to_le_bytes()));
    Ok(format!("{:08x}", sum.0.finalize()))
}

/// [`Fields`] of an object, and of nothing else that could be taken for them.
#[derive(Deserialize)]
struct Object(#[serde(deserialize_with = "only_an_object")] Fields);

fn only_an_object<'de, D: Deserializer<'de>>(from: D) -> Result<Fields, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Fields;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fields, A::Error> {
            Fields::deserialize(MapAccessDeserializer::new(map))
        }
    }
    from.deserialize_any(Entries)
}

/// JSON whose values may take so much memory: a value follows a comma or a bracket.
struct Budgeted<R> {
    inner: R,
    taken: u64,
    most: u64,
}

/// Bytes that a value takes besides its text, in lists that grow by doubling: names take most.
const VALUE: u64 = 3 * size_of::<String>() as u64;

impl<R: Read> Read for Budgeted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let values = buffer[..read].iter().filter(|byte| matches!(byte, b',' | b'[')).count();
        self.taken += read as u64 + VALUE * values as u64;
        if self.taken <= self.most {
            return Ok(read);
        }
        let allowed = show_bytes(self.most);
        Err(io::Error::other(format!(
            "more memory is needed than the {allowed} that are allowed (--max-memory)"
        )))
    }
}

impl Model {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// It cannot be read, is not a JSON of `solve`, or is inconsistent.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let place = || path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read the model `{}`", place()))?;
        let read = Budgeted { inner: BufReader::new(file), taken: 0, most: default_memory() };
        let Object(fields) =
            serde_json::from_reader(read).with_context(|| format!("{}: not a result of solve", place()))?;
        Self::of(fields).with_context(place)
    }

    fn of(fields: Fields) -> anyhow::Result<Self> {
        let Fields { schema, problem, solver, x, names, means, scales, data, checksum: kept } = fields;
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
        match schema {
            Some(SCHEMA) => {}
            Some(other) => bail!(
                "schema {other} is of another version of orthopt, which reads schema {SCHEMA}: make the model again"
            ),
            None => bail!("it holds no schema: write the model with orthopt solve ... --json FILE"),
        }
        if let Some(j) = scales.iter().flatten().position(|scale| !(scale.is_normal() && *scale > 0.0)) {
            let scale = scales.iter().flatten().nth(j).copied().unwrap_or(f64::NAN);
            bail!(
                "entry {} of scales is {scale:e}: scales are positive numbers that can be divided by",
                j + 1
            );
        }
        let x = RowMat::from_fn(n, r, |i, k| x[i][k]);
        let sum = checksum(names.as_deref(), means.as_deref(), scales.as_deref(), &x)?;
        if kept.is_some_and(|kept| kept != sum) {
            bail!(
                "it is damaged or was edited (its checksum is wrong): make the model again, or leave the field checksum out"
            );
        }
        let is_j = problem.is_some_and(|name| matches!(name.as_str(), "hyperbolic-eig" | "probe"));
        if !is_j {
            check_columns(&x, solver.is_some_and(|name| name.starts_with("uncorrelated")))?;
        }
        let layout = data.unwrap_or_default().layout.into_iter().collect();
        Ok(Self { x, names, means, scales, layout })
    }

    /// The columns of the model, found by name or by position.
    ///
    /// # Errors
    /// Missing columns; data that are C itself.
    pub fn columns_of(&self, data: DataSet) -> anyhow::Result<DataSet> {
        if data.role == Role::Gram {
            bail!("{} is C itself: there are no rows to transform", data.source);
        }
        let n = self.x.nrows();
        // repeated names were made distinct by their order, which is not that of other tables
        if let (Some(_), Some(name)) = (&self.names, data.how.repeated.first()) {
            bail!(
                "{} has several columns `{name}`, and columns are found by their names: give each a name of its own",
                data.source
            );
        }
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

/// Columns have length 1 and, but for uncorrelated scores, are orthogonal.
fn check_columns(x: &RowMat, uncorrelated: bool) -> anyhow::Result<()> {
    for k in 0..x.ncols() {
        for l in 0..=k {
            let product: f64 = (0..x.nrows()).map(|i| x.get(i, k) * x.get(i, l)).sum();
            let wanted = f64::from(u8::from(k == l));
            let close = (product - wanted).abs() <= TOLERANCE; // false where it is no number
            if (k == l || !uncorrelated) && !close {
                let (k, l) = (k + 1, l + 1);
                bail!(
                    "columns {l} and {k} of x have the inner product {product:e} where a result of solve has {wanted}: the file was \
                     changed or is damaged, make the model again"
                );
            }
        }
    }
    Ok(())
}
