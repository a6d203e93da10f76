//! Data that are probably of another kind: a covariance matrix given as samples; C with one triangle, or with negative eigenvalues.

use faer::{Mat, MatRef, Side};

use super::how::{LABELS, ROW_NAMES, WEIGHTS};
use super::note::Note;
use super::options::{DropRows, TableOptions};
use super::total::Totals;
use crate::dataset::{DataSet, Matrix, Role};
use crate::error::DataError;
use crate::nearest;

/// Variables from which on no eigenvalue is searched for: the factorisation that tells costs n³/3.
const LARGE: usize = 4000;

/// Entries of a symmetric table may differ by this share of the largest, as rounded numbers do.
const SYMMETRIC: f64 = 1e-9;

/// A table of samples that looks like a covariance or correlation matrix, or like distances.
/// The last row is the one of number `rows` in the file, unless that was left out.
pub(super) fn like_gram(data: &DataSet, options: &TableOptions, rows: usize) -> Option<Note> {
    let Matrix::Dense(a) = &data.matrix else { return None };
    let same_names = data.names.is_some() && data.names == data.row_names;
    let like = resembling(a.as_ref(), same_names, &data.source);
    // the rows of a table have been examined
    let is_seen = (data.how.rows > 0 && !data.how.transposed)
        || data.weights.is_some()
        || !options.drop_rows.listed(rows, "").is_empty();
    if like.is_some() || options.drop_rows == DropRows::None || is_seen {
        return like;
    }
    let note = ending_with_total(a.as_ref())?;
    let named = data.how.columns.iter().rev().find(|column| column.left_out.is_none());
    let note = match data.how.transposed {
        true => note.set("drop", named.map_or_else(|| rows.to_string(), |column| column.name.clone())),
        false => note.set("drop-rows", rows.to_string()),
    };
    Some(note.text(" leaves it out"))
}

/// Note on samples in memory that look like C or end with a row of totals; `others` is the text for all rows but the
/// last.
pub fn remark_on_samples(a: MatRef<'_, f64>, others: &'static str) -> Option<Note> {
    let total = || Some(ending_with_total(a)?.text(others).text(" leaves it out"));
    resembling(a, false, "true").or_else(total)
}

/// That a last row is the sum or the mean of all others. Columns are added up as long as they say so.
fn ending_with_total(a: MatRef<'_, f64>) -> Option<Note> {
    let (rows, last) = (a.nrows(), a.nrows().checked_sub(1)?);
    let agrees = |columns: std::ops::Range<usize>| {
        let mut totals = Totals::default();
        for i in 0..last {
            let row: Vec<f64> = columns.clone().map(|j| a[(i, j)]).collect();
            totals.add(&row, row.len());
        }
        let row: Vec<f64> = columns.map(|j| a[(last, j)]).collect();
        totals.of(&row)
    };
    // a few columns are enough to see that it is none
    const FEW: usize = 4;
    if a.ncols() > FEW {
        agrees(0..FEW)?;
    }
    let why = agrees(0..a.ncols())?;
    Some(format!("row {rows}, the last one, is {why} of the others and is read as a sample; ").into())
}

/// `gram` is what the option of this name would be given.
fn resembling(a: MatRef<'_, f64>, same_names: bool, gram: &str) -> Option<Note> {
    let n = a.ncols();
    if a.nrows() != n || n < 3 || a[(0, n - 1)].is_nan() {
        return None;
    }
    let entries = || (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
    let largest = entries().map(|at| a[at].abs()).fold(0.0, f64::max);
    let same = |x: f64, y: f64| (x - y).abs() <= SYMMETRIC * largest;
    if largest == 0.0 || !entries().all(|(i, j)| same(a[(i, j)], a[(j, i)])) {
        return None;
    }
    let why = if same_names { "symmetric, with the same names for rows and columns" } else { "symmetric" };
    if (0..n).all(|i| a[(i, i)] == 0.0) {
        let kind = if entries().all(|at| a[at] >= 0.0) { "distances" } else { "differences" };
        let note = format!(
            "the table is {why} and has zeros on its diagonal: it looks like {kind} (or a graph) between {n} objects \
             and is read as samples"
        );
        return Some(note.into());
    }
    let bounded = entries().all(|(i, j)| a[(i, j)].powi(2) <= a[(i, i)] * a[(j, j)] * (1.0 + SYMMETRIC));
    bounded.then(|| {
        let constant = (0..n).all(|i| same(a[(i, i)], a[(0, 0)]));
        let kind = if constant { "correlation" } else { "covariance" };
        let note = format!("the table is {why}: it looks like a {kind} matrix and is read as samples; ");
        Note::from(note).set("gram", gram).text(" takes it as C itself")
    })
}

/// C itself: rows follow the columns that are left, an empty triangle is that of the other, and what negative eigenvalues
/// mean is said or done.
pub(super) fn of_gram(mut data: DataSet, nearest: bool) -> Result<DataSet, DataError> {
    let other = |why: Option<&'static str>| !matches!(why, Some(ROW_NAMES | LABELS | WEIGHTS | "empty"));
    let columns = data.how.columns.iter().filter(|column| other(column.left_out));
    let kept: Vec<bool> = columns.map(|column| column.left_out.is_none()).collect();
    if kept.len() == data.matrix.nrows() && kept.iter().any(|kept| !kept) {
        let kept: Vec<usize> = (0..kept.len()).filter(|i| kept[*i]).collect();
        data = data.with_rows(&kept);
    }
    data.role = Role::Gram;
    let source = data.source.clone();
    if let Matrix::Dense(c) = &mut data.matrix
        && c.nrows() == c.ncols()
    {
        data.how.notes.extend(complete(c));
        let holes =
            (0..c.ncols()).find_map(|j| c.col_as_slice(j).iter().position(|v| v.is_nan()).map(|i| (i, j)));
        if let Some((i, j)) = holes {
            let problem =
                format!("entry ({}, {}) of C is missing; compute C without missing values", i + 1, j + 1);
            return Err(DataError::File { path: source, problem });
        }
    }
    if nearest {
        return made_nearest(data);
    }
    if let Matrix::Dense(c) = &data.matrix {
        let remark = remark_on_c(c.as_ref());
        data.how.notes.extend(remark);
    }
    Ok(data)
}

/// That C has negative eigenvalues.
pub fn remark_on_c(c: MatRef<'_, f64>) -> Option<Note> {
    let (lowest, trace) = lowest_eigenvalue(c)?;
    let share = 100.0 * lowest.abs() / trace.abs().max(f64::MIN_POSITIVE);
    let note = format!(
        "C is indefinite: its smallest eigenvalue is {lowest:.4} ({share:.1} % of the trace), so it is no matrix of \
         variances (correlations by pairs of variables are such), and percentages may add up to more than 100 %; "
    );
    Some(Note::from(note).option("nearest").text(" takes the nearest matrix that is one"))
}

/// The triangle of C that is empty where the other is not: whether it is the lower one.
fn empty_triangle(c: MatRef<'_, f64>) -> Option<bool> {
    let n = c.ncols();
    let empty = |lower: bool| {
        n > 1
            && (0..n).all(|j| {
                (0..j).all(|i| {
                    let value = if lower { c[(j, i)] } else { c[(i, j)] };
                    value == 0.0 || value.is_nan()
                })
            })
    };
    let (lower, upper) = (empty(true), empty(false));
    (lower != upper).then_some(lower) // both, of a diagonal matrix, or none
}

/// True if one triangle of C is empty.
pub fn is_triangular(c: MatRef<'_, f64>) -> bool {
    c.nrows() == c.ncols() && empty_triangle(c).is_some()
}

/// C with the triangle that is empty filled by the other one.
fn complete(c: &mut Mat<f64>) -> Option<Note> {
    let lower = empty_triangle(c.as_ref())?;
    for j in 0..c.ncols() {
        for i in 0..j {
            if lower { c[(j, i)] = c[(i, j)] } else { c[(i, j)] = c[(j, i)] }
        }
    }
    let used = if lower { "upper" } else { "lower" };
    Some(format!("the table is triangular: its {used} triangle is used for both").into())
}

/// The smallest eigenvalue of C and its trace, where that is below what rounding explains.
fn lowest_eigenvalue(c: MatRef<'_, f64>) -> Option<(f64, f64)> {
    let n = c.ncols();
    if c.nrows() != n || n > LARGE || !is_usable(c) {
        return None;
    }
    let size = (0..n).map(|i| c[(i, i)].abs()).fold(0.0, f64::max);
    // rounded to 3 digits, a correlation matrix with an eigenvalue of 0 has one of about this size
    let slack = 1e-9 * size * n as f64;
    let shifted = Mat::from_fn(n, n, |i, j| c[(i, j)] + if i == j { slack } else { 0.0 });
    if shifted.llt(Side::Lower).is_ok() {
        return None;
    }
    let eigenvalues = c.self_adjoint_eigenvalues(Side::Lower).ok()?;
    let lowest = eigenvalues.into_iter().fold(f64::INFINITY, f64::min);
    let trace = (0..n).map(|i| c[(i, i)]).sum();
    (lowest < -slack).then_some((lowest, trace))
}

/// True if C is finite and symmetric; other checks report what is not.
fn is_usable(c: MatRef<'_, f64>) -> bool {
    let finite = (0..c.ncols()).all(|j| (0..c.nrows()).all(|i| c[(i, j)].is_finite()));
    finite && crate::check_symmetric(c).is_ok()
}

fn made_nearest(mut data: DataSet) -> Result<DataSet, DataError> {
    let problem = |problem: &str| DataError::Table {
        place: data.source.clone(),
        problem: Note::about("nearest").text(format!(": {problem}")),
    };
    let Matrix::Dense(c) = &data.matrix else {
        return Err(problem("a sparse C is taken as it is"));
    };
    crate::check_symmetric(c.as_ref())?;
    let found = nearest::correlation(c)
        .ok_or_else(|| problem("a diagonal entry of C is not positive, or it did not converge"))?;
    let note = format!(
        "C is replaced by the nearest matrix with the same diagonal that is positive semidefinite (Higham's method, {} \
         steps): an entry changes by {:.3} at most",
        found.steps, found.largest_change
    );
    data.how.notes.push(note.into());
    data.matrix = found.matrix.into();
    Ok(data)
}
