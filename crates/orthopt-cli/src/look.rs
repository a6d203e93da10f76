//! Summary of a table: missing values, constant or repeated columns, and the command that analyses it.

use std::collections::HashMap;
use std::path::Path;

use orthopt_data::{DataSet, Matrix, Role, printable};
use serde::Serialize;

use crate::table::aligned;
use crate::text;
use crate::wording::typed;

/// Columns of which all pairs are compared, and rows that are.
const COMPARED: (usize, usize) = (500, 2000);

/// Columns that are correlated by more than this are nearly the same.
const NEARLY: f64 = 0.9995;

/// Facts of the columns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TableSummary {
    /// Cells without a value, and columns that have some.
    missing: usize,
    columns_with_missing: usize,
    /// Columns with one value.
    constant: Vec<String>,
    /// Columns that are the same as one before.
    duplicates: Vec<[String; 2]>,
    /// Columns that are nearly so, up to a factor and a shift; none are searched for among many columns.
    near_duplicates: Vec<[String; 2]>,
    /// The most that the mean of a column is from 0, in standard deviations.
    largest_mean: Option<f64>,
    /// The smallest and the largest standard deviation.
    deviations: Option<[f64; 2]>,
    /// Command that analyses the table.
    pub command: String,
}

/// A column of numbers, examined once.
struct Seen {
    missing: usize,
    mean: f64,
    deviation: f64,
}

impl TableSummary {
    /// Of data whose missing values are NaN.
    pub fn of(data: &DataSet, source: &Path) -> Self {
        let names = Names(data);
        let columns: Vec<Seen> = (0..data.matrix.ncols()).map(|j| Seen::of(&data.matrix, j)).collect();
        let missing = columns.iter().map(|c| c.missing).sum();
        let rows = data.matrix.nrows();
        let constant: Vec<usize> =
            (0..columns.len()).filter(|j| columns[*j].deviation == 0.0 && rows > 1).collect();
        let varies = || columns.iter().filter(|c| c.deviation > 0.0);
        let largest_mean = varies().map(|c| c.mean.abs() / c.deviation).reduce(f64::max);
        let deviations = varies().map(|c| c.deviation);
        let deviations =
            deviations.clone().reduce(f64::min).zip(deviations.reduce(f64::max)).map(|(l, h)| [l, h]);
        let (duplicates, near) = repeated(&data.matrix, &columns, &constant);
        let pairs =
            |pairs: Vec<(usize, usize)>| pairs.into_iter().map(|(i, j)| [names.of(i), names.of(j)]).collect();
        Self {
            missing,
            columns_with_missing: columns.iter().filter(|c| c.missing > 0).count(),
            command: command(data, source, missing > 0, deviations),
            constant: constant.iter().map(|j| names.of(*j)).collect(),
            duplicates: pairs(duplicates),
            near_duplicates: pairs(near),
            largest_mean,
            deviations,
        }
    }

    /// Labelled lines.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        const SHOWN: usize = 5;
        let listed = |words: Vec<String>| {
            let more = words.len().saturating_sub(SHOWN);
            let shown = words.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
            match more {
                _ if shown.is_empty() => "none".into(),
                0 => shown,
                more => format!("{shown} and {more} more"),
            }
        };
        let pairs = |pairs: &[[String; 2]]| listed(pairs.iter().map(|[a, b]| format!("{b} = {a}")).collect());
        let mut lines = vec![
            (
                "missing",
                match self.missing {
                    0 => "none".into(),
                    count => format!(
                        "{} in {}",
                        text::count(count as u64, "cell"),
                        text::count(self.columns_with_missing as u64, "column")
                    ),
                },
            ),
            ("constant", listed(self.constant.clone())),
            ("duplicated", pairs(&self.duplicates)),
        ];
        if !self.near_duplicates.is_empty() {
            let near = self.near_duplicates.iter().map(|[a, b]| format!("{b} ~ {a}")).collect();
            lines.push(("nearly so", listed(near)));
        }
        if let (Some(mean), Some([low, high])) = (self.largest_mean, self.deviations) {
            lines.push(("means", format!("up to {} standard deviations from 0", text::number(mean, 3))));
            lines.push(("deviations", format!("{} to {}", text::number(low, 4), text::number(high, 4))));
        }
        lines
    }
}

/// Names of columns, or their numbers.
struct Names<'d>(&'d DataSet);

impl Names<'_> {
    fn of(&self, j: usize) -> String {
        self.0.names.as_ref().map_or_else(|| format!("x{}", j + 1), |names| printable(&names[j]))
    }
}

impl Seen {
    fn of(matrix: &Matrix, j: usize) -> Self {
        let stored: Vec<f64> = match matrix {
            Matrix::Dense(a) => a.col_as_slice(j).to_vec(),
            Matrix::Sparse(a) => a.val_of_col(j).to_vec(),
        };
        let zeros = (matrix.nrows() - stored.len()) as f64;
        let there: Vec<f64> = stored.iter().copied().filter(|value| !value.is_nan()).collect();
        let count = there.len() as f64 + zeros;
        let mean = there.iter().sum::<f64>() / count;
        let (least, most) =
            there.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(*v), m.max(*v)));
        let constant = there.is_empty() || (least == most && (zeros == 0.0 || least == 0.0));
        let squares = there.iter().map(|v| (v - mean).powi(2)).sum::<f64>() + zeros * mean * mean;
        let deviation = if constant { 0.0 } else { (squares / (count - 1.0).max(1.0)).sqrt() };
        Self { missing: stored.len() - there.len(), mean, deviation }
    }
}

type Pairs = Vec<(usize, usize)>;

/// Columns that are the same, and nearly the same, as one before.
fn repeated(matrix: &Matrix, columns: &[Seen], constant: &[usize]) -> (Pairs, Pairs) {
    let Matrix::Dense(a) = matrix else { return (Vec::new(), Vec::new()) };
    let (most, rows) = (COMPARED.0, a.nrows().min(COMPARED.1));
    let varies: Vec<usize> = (0..columns.len()).filter(|j| !constant.contains(j)).collect();
    let mut same = Vec::new();
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    for &j in &varies {
        let bits = a.col_as_slice(j).iter().map(|v| v.to_bits()).collect();
        match first.get(&bits) {
            Some(i) => same.push((*i, j)),
            None => drop(first.insert(bits, j)),
        }
    }
    let mut near = Vec::new();
    let unique: Vec<usize> =
        varies.into_iter().filter(|j| !same.iter().any(|(_, other)| other == j)).collect();
    if unique.len() <= most {
        let column = |j: usize| &a.col_as_slice(j)[..rows];
        for (k, &j) in unique.iter().enumerate() {
            near.extend(
                unique[..k]
                    .iter()
                    .filter(|i| correlation(column(**i), column(j)).abs() > NEARLY)
                    .map(|i| (*i, j)),
            );
        }
    }
    (same, near)
}

/// Of the rows in which both have a value; 0 of fewer than three.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let both: Vec<(f64, f64)> =
        a.iter().zip(b).map(|(a, b)| (*a, *b)).filter(|(a, b)| !a.is_nan() && !b.is_nan()).collect();
    let count = both.len() as f64;
    let (ma, mb) =
        (both.iter().map(|p| p.0).sum::<f64>() / count, both.iter().map(|p| p.1).sum::<f64>() / count);
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in &both {
        (aa, bb, ab) = (aa + (a - ma).powi(2), bb + (b - mb).powi(2), ab + (a - ma) * (b - mb));
    }
    if both.len() < 3 || aa * bb == 0.0 { 0.0 } else { ab / (aa * bb).sqrt() }
}

/// A command that analyses the table, with missing values filled and units made comparable.
fn command(data: &DataSet, source: &Path, missing: bool, deviations: Option<[f64; 2]>) -> String {
    let file = typed("", Some(&source.display().to_string()));
    let file = file.trim_start_matches("-- ");
    let like_gram = data.how.notes.iter().any(|note| note.to_string().contains("option `gram`"));
    let mut words = vec!["orthopt solve l0-pca".to_string()];
    if data.role == Role::Gram || like_gram {
        words.push(format!("--gram {file}"));
    } else {
        words.push(file.into());
        if missing {
            words.push("--missing em".into());
        }
        let different = deviations.is_some_and(|[low, high]| high > 2.0 * low);
        words.push(if different && !data.matrix.is_sparse() { "--scale std" } else { "--center" }.into());
    }
    words.push(format!("-r {}", data.matrix.ncols().min(3)));
    words.join(" ")
}

/// The first rows and columns as they were read.
pub fn first_rows(data: &DataSet) -> Vec<String> {
    const ROWS: usize = 5;
    const COLUMNS: usize = 8;
    const WIDTH: usize = 14;
    let (rows, columns) = (data.matrix.nrows(), data.matrix.ncols());
    let short = |name: &str| {
        let name = printable(name);
        if name.chars().count() > WIDTH {
            name.chars().take(WIDTH - 1).chain(['\u{2026}']).collect()
        } else {
            name
        }
    };
    let shown = columns.min(COLUMNS);
    let mut header: Vec<String> = vec![String::new()];
    header.extend((0..shown).map(|j| short(&Names(data).of(j))));
    let value = |i: usize, j: usize| match &data.matrix {
        Matrix::Dense(a) => a[(i, j)],
        Matrix::Sparse(a) => a.get(i, j).copied().unwrap_or(0.0),
    };
    let mut table = vec![header];
    for i in 0..rows.min(ROWS) {
        let name = data.row_names.as_ref().map_or_else(|| (i + 1).to_string(), |names| short(&names[i]));
        let cell = |j: usize| if value(i, j).is_nan() { "NA".into() } else { text::number(value(i, j), 6) };
        table.push([name].into_iter().chain((0..shown).map(cell)).collect());
    }
    if columns > shown {
        let more = format!("... {} more columns", columns - shown);
        table
            .iter_mut()
            .enumerate()
            .for_each(|(i, row)| row.push(if i == 0 { more.clone() } else { String::new() }));
    }
    aligned(&table)
}
