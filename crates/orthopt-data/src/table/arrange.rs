//! Changes of a table after its numbers are read: columns of formats without text are selected, names, labels and
//! weights come from files, rows and columns change places.

use faer::Mat;

use super::how::{Column, Kind, LABELS, ROW_NAMES, Source, WEIGHTS};
use super::layout::unique_names;
use super::look;
use super::note::Note;
use super::number::Marks;
use super::options::{RowNames, TableOptions, one_column};
use crate::dataset::{DataSet, Matrix, Role};
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::names::{is_file, read_column};
use crate::sparse::Columns;
use crate::stream::Chunk;
use crate::text::{show, write_number};

/// Columns of numbers that are selected: what each of a file's columns is.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    kept: Vec<usize>,
    at: Vec<Option<usize>>,
    row_names: Option<usize>,
    labels: Option<usize>,
    weights: Option<usize>,
    names: Option<Vec<String>>,
    columns: Vec<Column>,
    /// Marks of missing values.
    marks: Marks,
}

impl Arrangement {
    /// The columns of a file of numbers, of which there are `width`, perhaps with names; `None` where all stay.
    pub(crate) fn of(
        place: &str,
        width: usize,
        names: Option<Vec<String>>,
        options: &TableOptions,
    ) -> Result<Option<Self>, DataError> {
        let problem = |option: &'static str, error: String| DataError::Table {
            place: place.into(),
            problem: Note::about(option).text(format!(": {error}")),
        };
        let marks = Marks::default().with_missing(&options.na);
        let of_file = |word: &Option<String>| word.as_ref().is_none_or(|word| is_file(word));
        if !options.selects()
            && of_file(&options.labels)
            && of_file(&options.weights)
            && !marks.has_missing_numbers()
        {
            return Ok(None);
        }
        let names = match &options.names {
            // those of a file count all columns, or the ones that are left
            Some(file) => Some(read_column(file)?).filter(|read| read.len() == width).or(names),
            None => names,
        };
        let known = names.as_deref().unwrap_or_default();
        let is_text = vec![false; width];
        let one = |option: &'static str, word: &Option<String>| {
            let word = word.as_ref().filter(|word| !is_file(word));
            word.map(|word| one_column(word, known, width).map_err(|error| problem(option, error)))
                .transpose()
        };
        let labels = one("labels", &options.labels)?;
        let weights = one("weights", &options.weights)?;
        let row_names = match &options.row_names {
            RowNames::Column(word) => one("row-names", &Some(word.clone()))?,
            _ => None,
        };
        let list = |option, list: &Option<super::Columns>| {
            let found = list.as_ref().map(|list| list.of(known, &is_text));
            found.transpose().map_err(|error| problem(option, error))
        };
        let (wanted, dropped) = (list("columns", &options.columns)?, list("drop", &options.drop)?);
        let why = |at: usize| match Some(at) {
            at if at == row_names => Some(ROW_NAMES),
            at if at == labels => Some(LABELS),
            at if at == weights => Some(WEIGHTS),
            _ if wanted.as_ref().is_some_and(|w| !w[at]) || dropped.as_ref().is_some_and(|d| d[at]) => {
                Some("as asked")
            }
            _ => None,
        };
        let name = |at: usize| known.get(at).cloned().unwrap_or_else(|| (at + 1).to_string());
        let columns: Vec<Column> =
            (0..width).map(|at| Column { name: name(at), kind: Kind::Number, left_out: why(at) }).collect();
        let kept: Vec<usize> = (0..width).filter(|at| columns[*at].left_out.is_none()).collect();
        if kept.is_empty() {
            return Err(DataError::Empty { place: place.into(), rows: 0, columns: 0 });
        }
        let mut at = vec![None; width];
        kept.iter().enumerate().for_each(|(k, j)| at[*j] = Some(k));
        Ok(Some(Self { kept, at, row_names, labels, weights, names, columns, marks }))
    }

    /// Number of columns, left out or not.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Names of the columns that are left.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        self.names.as_ref().map(|names| self.kept.iter().map(|j| names[*j].clone()).collect())
    }

    /// The columns of the chunk that are left, and its weights.
    pub(crate) fn chunk(&self, chunk: &Chunk, place: &str) -> Result<Chunk, DataError> {
        let selected = chunk.selected(&self.kept, &self.at);
        let selected = match self.marks.has_missing_numbers() {
            true => selected.mapped(|v| if self.marks.is_missing_number(v) { f64::NAN } else { v }),
            false => selected,
        };
        Ok(match self.weights {
            Some(j) => selected.weighted(checked_weights(chunk.column(j), place)?),
            None => selected,
        })
    }

    fn apply(self, data: DataSet) -> Result<DataSet, DataError> {
        let column = |j: usize| -> Vec<f64> {
            match &data.matrix {
                Matrix::Dense(a) => a.col_as_slice(j).to_vec(),
                Matrix::Sparse(a) => {
                    let mut column = vec![0.0; a.nrows()];
                    a.row_idx_of_col(j).zip(a.val_of_col(j)).for_each(|(i, v)| column[i] = *v);
                    column
                }
            }
        };
        let words = |j: usize| column(j).into_iter().map(in_words).collect::<Vec<_>>();
        let (row_names, groups) = (self.row_names.map(words), self.labels.map(words));
        let weights = self.weights.map(|j| checked_weights(column(j), &data.source)).transpose()?;
        let named = |j: Option<usize>| j.map(|j| Source::Column(self.columns[j].name.clone()));
        let (by_row_names, by_labels, by_weights) =
            (named(self.row_names), named(self.labels), named(self.weights));
        let whole = self.kept.len() == data.matrix.ncols();
        let names = self.names();
        let data = DataSet { names: self.names.clone(), ..data };
        let mut data = if whole { data } else { data.selected(&self.kept) };
        data.names = names;
        data.how.columns = self.columns;
        data.how.row_names = by_row_names.or(data.how.row_names);
        data.how.labels = by_labels.or(data.how.labels);
        data.how.weights = by_weights.or(data.how.weights);
        data.row_names = row_names.or(data.row_names);
        data.groups = groups.or(data.groups);
        data.weights = weights.or(data.weights);
        if let (Matrix::Dense(a), true) = (&mut data.matrix, self.marks.has_missing_numbers()) {
            for j in 0..a.ncols() {
                let missing = a.col_as_slice_mut(j).iter_mut().filter(|v| self.marks.is_missing_number(**v));
                missing.for_each(|value| *value = f64::NAN);
            }
        }
        Ok(data)
    }
}

fn in_words(value: f64) -> String {
    let mut bytes = Vec::new();
    let _ = write_number(&mut bytes, value); // a vector takes everything
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The data as the options ask: columns selected, rows and columns exchanged if needed, names made distinct.
pub(crate) fn arranged(data: DataSet, load: &LoadOptions) -> Result<DataSet, DataError> {
    let options = &load.table;
    let mut data = data;
    if data.how.header.is_none() && data.names.is_some() {
        data.how.header = Some(Source::File("the file".into()));
    }
    if data.how.columns.is_empty()
        && let Some(chosen) = Arrangement::of(&data.source, data.matrix.ncols(), data.names.clone(), options)?
    {
        data = chosen.apply(data)?;
    }
    // of a table the rows have been examined
    let flip = options.transpose.unwrap_or(data.how.transposed);
    let last = if flip { data.matrix.ncols() } else { data.matrix.nrows() };
    if data.how.rows == 0 && options.drop_rows.is_list() {
        data = without_listed(data, options)?;
    }
    if load.gram || data.role == Role::Gram {
        data = look::of_gram(data, options.nearest)?;
    } else if options.nearest {
        let problem = Note::about("nearest").text(" is for C itself, and these are samples; leave it out");
        return Err(DataError::Table { place: data.source, problem });
    }
    data.how.transposed = flip;
    if flip {
        data = transposed(data)?;
    }
    if let Some(file) = &options.names {
        data = named_by(data, file)?;
    }
    if let Some(file) = options.labels.as_ref().filter(|_| data.how.labels.is_none()) {
        data.groups = Some(of_rows(&data, "labels", file)?);
        data.how.labels = Some(Source::File(file.clone()));
    }
    if let Some(file) = options.weights.as_ref().filter(|_| data.how.weights.is_none()) {
        data.weights = Some(numbers_of(&of_rows(&data, "weights", file)?, file)?);
        data.how.weights = Some(Source::File(file.clone()));
    }
    if let Some(names) = &mut data.names {
        let before = names.clone();
        data.how.repeated = unique_names(names);
        if let Some(name) = data.how.repeated.first() {
            let count = before.iter().filter(|other| *other == name).count();
            let others = data.how.repeated.len() - 1;
            let more = if others == 0 { String::new() } else { format!(" and {others} more") };
            let name = show(name.as_bytes());
            let note = format!(
                "the name {name}{more} occurs {count} times: appended numbers distinguish the columns"
            );
            data.how.notes.push(note.into());
        }
    }
    data = without_weightless(data)?;
    if data.role == Role::Samples {
        let remark = look::like_gram(&data, options, last);
        data.how.notes.extend(remark);
    }
    Ok(data)
}

/// Without the rows listed by numbers or names.
fn without_listed(data: DataSet, options: &TableOptions) -> Result<DataSet, DataError> {
    let (mut kept, mut found) = (Vec::new(), Vec::new());
    for i in 0..data.matrix.nrows() {
        let name = data.row_names.as_ref().map_or("", |names| names[i].as_str());
        let words = options.drop_rows.listed(i + 1, name);
        if words.is_empty() {
            kept.push(i);
        }
        found.extend(words);
    }
    if options.part.is_none() {
        options.drop_rows.check(&found, &data.source)?;
    }
    if kept.is_empty() {
        let columns = data.matrix.ncols();
        return Err(DataError::Empty { place: data.source, rows: 0, columns });
    }
    Ok(if found.is_empty() { data } else { data.with_rows(&kept) })
}

impl DataSet {
    /// C itself that is in memory, examined as a file is: an empty triangle is that of the other, and what negative
    /// eigenvalues mean is said, or they are taken away.
    ///
    /// # Errors
    /// A hole in C; `nearest` where it does not apply.
    pub fn as_gram(self, nearest: bool) -> Result<Self, DataError> {
        look::of_gram(self, nearest)
    }

    /// The data set with a weight for each row; rows of weight 0 are left out.
    ///
    /// # Errors
    /// Not one finite number of at least 0 for each row, none above 0, or C itself.
    pub fn weighted(mut self, weights: Vec<f64>) -> Result<Self, DataError> {
        let (count, rows) = (weights.len(), self.matrix.nrows());
        if count != rows {
            let problem = Note::about("weights").text(format!(": {count} weights for {rows} rows"));
            return Err(DataError::Table { place: self.source, problem });
        }
        self.weights = Some(checked_weights(weights, &self.source)?);
        without_weightless(self)
    }
}

/// Rows of weight 0 are no rows.
fn without_weightless(mut data: DataSet) -> Result<DataSet, DataError> {
    let Some(weights) = &data.weights else { return Ok(data) };
    if data.role == Role::Gram {
        let problem =
            Note::about("weights").text(" are of samples, and the data are C itself; leave them out");
        return Err(DataError::Table { place: data.source, problem });
    }
    let kept: Vec<usize> = (0..weights.len()).filter(|i| weights[*i] > 0.0).collect();
    if kept.len() == weights.len() {
        return Ok(data);
    }
    if kept.is_empty() {
        let problem =
            Note::about("weights").text(": all weights are zero; a row counts as often as its weight says");
        return Err(DataError::Table { place: data.source, problem });
    }
    let left = weights.len() - kept.len();
    let s = if left == 1 { "" } else { "s" };
    data.how.style.push(format!("{left} row{s} of weight 0 left out"));
    Ok(data.with_rows(&kept))
}

fn transposed(mut data: DataSet) -> Result<DataSet, DataError> {
    for (option, column) in [("labels", &data.groups.is_some()), ("weights", &data.weights.is_some())] {
        if *column {
            let problem = Note::about(option)
                .text(": a column of the file is a sample when ")
                .option("transpose")
                .text(" is given; give a file with one per line");
            return Err(DataError::Table { place: data.source, problem });
        }
    }
    data.matrix = match &data.matrix {
        Matrix::Dense(a) => Mat::from_fn(a.ncols(), a.nrows(), |i, j| a[(j, i)]).into(),
        Matrix::Sparse(a) => {
            let rows = a.to_row_major().map_err(|error| DataError::File {
                path: data.source.clone(),
                problem: format!("{error:?}"),
            })?;
            let mut columns = Columns::new(a.ncols(), a.compute_nnz());
            for i in 0..a.nrows() {
                rows.col_idx_of_row(i).zip(rows.val_of_row(i)).for_each(|(j, v)| columns.push(j, *v));
                columns.end_column();
            }
            columns.finish().into()
        }
    };
    std::mem::swap(&mut data.names, &mut data.row_names);
    let how = &mut data.how;
    std::mem::swap(&mut how.header, &mut how.row_names);
    (data.labels, data.truth) = (None, None);
    Ok(data)
}

/// Names from a file: of the columns that are left, or of all that there were.
fn named_by(mut data: DataSet, file: &str) -> Result<DataSet, DataError> {
    let mut names = read_column(file)?;
    let (rows, columns) = (data.matrix.nrows(), data.matrix.ncols());
    let candidates =
        || data.how.columns.iter().filter(|c| !matches!(c.left_out, Some(ROW_NAMES | LABELS | WEIGHTS)));
    if names.len() != columns && names.len() == candidates().count() && !data.how.transposed {
        let kept = candidates().map(|column| column.left_out.is_none());
        names = names.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(name, _)| name).collect();
    }
    if names.len() != columns && names.len() == rows {
        let note = format!(
            "{} names for the {columns} columns of {}, which has {rows} rows; ",
            names.len(),
            data.source
        );
        let note = Note::from(note).set("transpose", "true").text(" takes its rows as variables");
        return Err(DataError::Table { place: file.into(), problem: note });
    }
    data = data.named(names, file)?;
    data.how.header = Some(Source::File(file.into()));
    Ok(data)
}

/// One word for each row, from a file.
fn of_rows(data: &DataSet, option: &'static str, file: &str) -> Result<Vec<String>, DataError> {
    let mut words = read_column(file).map_err(|error| match error {
        DataError::NotFound { .. } if data.how.columns.is_empty() => error,
        DataError::NotFound { path, .. } => DataError::Table {
            place: data.source.clone(),
            problem: Note::about(option)
                .text(format!(": there is no column {} and no file of this name", show(path.as_bytes()))),
        },
        other => other,
    })?;
    let (rows, columns) = (data.matrix.nrows(), data.matrix.ncols());
    // a line above weights that is none
    if words.len() == rows + 1
        && option == "weights"
        && Marks::default().number(words[0].as_bytes()).is_none()
    {
        words.remove(0);
    }
    if words.len() == rows {
        return Ok(words);
    }
    let count = words.len();
    let note = Note::about(option)
        .text(format!(" {file}: {count} {option} for the {rows} rows of {}; one per line is expected, in the order of the rows", data.source));
    let note = match count == columns && !data.how.transposed {
        true => note
            .text(format!(" (there are {columns} columns: "))
            .set("transpose", "true")
            .text(" takes its rows as variables)"),
        false => note,
    };
    Err(DataError::Table { place: data.source.clone(), problem: note })
}

fn numbers_of(words: &[String], place: &str) -> Result<Vec<f64>, DataError> {
    let marks = Marks::default();
    let numbers: Vec<f64> =
        words.iter().map(|word| marks.number(word.as_bytes()).unwrap_or(f64::NAN)).collect();
    checked_weights(numbers, place)
}

/// Weights, all finite and at least 0.
pub(crate) fn checked_weights(weights: Vec<f64>, place: &str) -> Result<Vec<f64>, DataError> {
    match weights.iter().position(|w| !(0.0..=f64::MAX).contains(w)) {
        None => Ok(weights),
        Some(i) => {
            let problem =
                format!("the weight of row {} is {}; weights are finite and at least 0", i + 1, weights[i]);
            Err(DataError::File { path: place.into(), problem })
        }
    }
}

/// The weights in the file that an option names, for rows that come part by part; `None` where they are a column.
pub(crate) fn weights_of_file(options: &TableOptions) -> Result<Option<Vec<f64>>, DataError> {
    let Some(file) = options.weights.as_ref().filter(|word| is_file(word)) else { return Ok(None) };
    let words = read_column(file)?;
    let first_is_name = words.first().is_some_and(|word| Marks::default().number(word.as_bytes()).is_none());
    numbers_of(&words[usize::from(first_is_name)..], file).map(Some)
}
