//! Matrix Market: a banner, comments (`%`), a line of sizes, then one entry per line; positions
//! count from 1.
//!
//! `coordinate` files give sparse matrices, `array` files (column by column) dense ones. Of a
//! symmetric or skew-symmetric matrix one triangle is stored. The standard asks for the lower
//! one; files with only the upper one exist and are read too, files that mix both are refused,
//! because entries given twice would be counted twice.

use std::io::{self, Write};

use faer::Mat;

use crate::dataset::{DataSet, Matrix};
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::sparse::{Triplets, check_size};
use crate::text::{parse_f64, parse_usize, show, tokens, write_number};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

struct Banner {
    coordinate: bool,
    pattern: bool,
    symmetry: Symmetry,
}

/// Banner and sizes.
pub(super) struct Header {
    banner: Banner,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Entries declared, of coordinate files.
    pub(super) entries: usize,
}

impl Header {
    pub(super) fn is_general_coordinate(&self) -> bool {
        self.banner.coordinate && self.banner.symmetry == Symmetry::General
    }

    pub(super) fn pattern(&self) -> bool {
        self.banner.pattern
    }
}

pub(super) fn read(mut input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    let header = header(&mut input)?;
    let matrix = read_after(&mut input, &header)?;
    Ok(DataSet::new(matrix, input.name()))
}

/// Reads what stands in front of the entries.
pub(super) fn header(input: &mut Input) -> Result<Header, DataError> {
    let mut line = Vec::new();
    if !input.next_line(&mut line)? {
        return Err(input.file_error("the file is empty"));
    }
    let banner = parse_banner(&line).map_err(|problem| input.line_error(problem))?;
    if !next_content(input, &mut line)? {
        return Err(input.file_error("the line of sizes is missing; the file is truncated"));
    }
    let sizes: Option<Vec<usize>> = tokens(&line).map(parse_usize).collect();
    if let Some(&[rows, columns] | &[rows, columns, _]) = sizes.as_deref()
        && (rows == 0 || columns == 0)
    {
        return Err(DataError::Empty { place: input.place(), rows, columns });
    }
    let (rows, columns, entries) = match (banner.coordinate, sizes.as_deref()) {
        (true, Some(&[rows, columns, entries])) => (rows, columns, entries),
        (false, Some(&[rows, columns])) => (rows, columns, 0),
        (coordinate, _) => {
            let expected = if coordinate { "rows columns entries" } else { "rows columns" };
            let found = show(line.trim_ascii());
            return Err(input.line_error(format!("expected the sizes `{expected}`, found {found}")));
        }
    };
    check_square(input, &banner, rows, columns)?;
    Ok(Header { banner, rows, columns, entries })
}

/// Reads the entries.
pub(super) fn read_after(input: &mut Input, header: &Header) -> Result<Matrix, DataError> {
    let Header { banner, rows, columns, entries } = header;
    Ok(match banner.coordinate {
        true => read_coordinate(input, banner, *rows, *columns, *entries)?.into(),
        false => read_array(input, banner, *rows, *columns)?.into(),
    })
}

fn parse_banner(line: &[u8]) -> Result<Banner, String> {
    let text = String::from_utf8_lossy(line).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let &["%%matrixmarket", "matrix", layout, field, symmetry] = words.as_slice() else {
        return Err(format!(
            "expected `%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric`, \
             found {}",
            show(line.trim_ascii())
        ));
    };
    let unsupported = |word: &str, known: &str| {
        Err(format!("{} matrices are not supported, only {known}; convert the file", show(word.as_bytes())))
    };
    let coordinate = match layout {
        "coordinate" => true,
        "array" => false,
        other => return unsupported(other, "coordinate and array"),
    };
    let pattern = match field {
        "real" | "integer" | "double" => false,
        "pattern" if coordinate => true,
        "pattern" => return unsupported("array pattern", "coordinate pattern"),
        other => return unsupported(other, "real, integer and pattern"),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        other => return unsupported(other, "general, symmetric and skew-symmetric"),
    };
    Ok(Banner { coordinate, pattern, symmetry })
}

/// Skips comments and blank lines.
pub(super) fn next_content(input: &mut Input, line: &mut Vec<u8>) -> Result<bool, DataError> {
    while input.next_line(line)? {
        let content = line.trim_ascii_start();
        if !content.is_empty() && content[0] != b'%' {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_square(input: &Input, banner: &Banner, rows: usize, cols: usize) -> Result<(), DataError> {
    if banner.symmetry == Symmetry::General || rows == cols {
        return Ok(());
    }
    Err(input.line_error(format!("a symmetric matrix must be square, not {rows} x {cols}")))
}

fn read_coordinate(
    input: &mut Input,
    banner: &Banner,
    rows: usize,
    cols: usize,
    declared: usize,
) -> Result<faer::sparse::SparseColMat<usize, f64>, DataError> {
    let mut entries = Triplets::with_declared(declared);
    let mut triangle = Triangle { symmetry: banner.symmetry, lower: None };
    let mut line = Vec::new();
    let mut found = 0;
    while next_content(input, &mut line)? {
        if found == declared {
            return Err(input.line_error(format!("more than the {declared} entries declared")));
        }
        found += 1;
        let parsed = parse_entry(&line, banner.pattern, rows, cols);
        let (row, col, value) = parsed.map_err(|problem| input.line_error(problem))?;
        check_finite(input, row, col, value)?;
        triangle.check(row, col, value).map_err(|problem| input.line_error(problem))?;
        entries.push(row, col, value);
        input.budget().check(entries.bytes())?;
        if row != col {
            match banner.symmetry {
                Symmetry::General => {}
                Symmetry::Symmetric => entries.push(col, row, value),
                Symmetry::Skew => entries.push(col, row, -value),
            }
        }
    }
    if found < declared {
        return Err(input.file_error(format!(
            "{declared} entries are declared but there are only {found}; the file is truncated"
        )));
    }
    check_size(input.budget(), rows, cols, entries.len())?;
    Ok(entries.into_matrix(rows, cols))
}

pub(super) fn parse_entry(
    line: &[u8],
    pattern: bool,
    rows: usize,
    cols: usize,
) -> Result<(usize, usize, f64), String> {
    let expected = if pattern { "row column" } else { "row column value" };
    let malformed = || format!("expected `{expected}`, found {}", show(line.trim_ascii()));
    let mut fields = tokens(line);
    let row = fields.next().and_then(parse_usize).ok_or_else(malformed)?;
    let col = fields.next().and_then(parse_usize).ok_or_else(malformed)?;
    let value = match fields.next() {
        None if pattern => 1.0,
        Some(field) if !pattern => {
            parse_f64(field).ok_or_else(|| format!("the value {} is not a number", show(field)))?
        }
        _ => return Err(malformed()),
    };
    if fields.next().is_some() {
        return Err(malformed());
    }
    if row == 0 || row > rows || col == 0 || col > cols {
        return Err(format!(
            "position ({row}, {col}) is outside the {rows} x {cols} matrix; positions are counted from 1"
        ));
    }
    Ok((row - 1, col - 1, value))
}

/// Which triangle of a symmetric matrix the file stores, from its first entry off the diagonal.
struct Triangle {
    symmetry: Symmetry,
    lower: Option<bool>,
}

impl Triangle {
    fn check(&mut self, row: usize, col: usize, value: f64) -> Result<(), String> {
        if self.symmetry == Symmetry::General {
            return Ok(());
        }
        if row == col {
            if self.symmetry == Symmetry::Skew && value != 0.0 {
                return Err("a skew-symmetric matrix has zeros on its diagonal".into());
            }
            return Ok(());
        }
        if *self.lower.get_or_insert(row > col) != (row > col) {
            return Err(format!(
                "entry ({}, {}) is not in the triangle of earlier entries; a symmetric file \
                 stores one triangle (or declare it general)",
                row + 1,
                col + 1
            ));
        }
        Ok(())
    }
}

fn read_array(input: &mut Input, banner: &Banner, rows: usize, cols: usize) -> Result<Mat<f64>, DataError> {
    let declared = match banner.symmetry {
        Symmetry::General => rows.checked_mul(cols),
        Symmetry::Symmetric => rows.checked_add(1).and_then(|next| rows.checked_mul(next)),
        Symmetry::Skew => rows.checked_mul(rows.saturating_sub(1)),
    };
    let declared = declared.map(|n| if banner.symmetry == Symmetry::General { n } else { n / 2 });
    let declared =
        declared.ok_or_else(|| input.line_error(format!("a {rows} x {cols} matrix is too large")))?;
    let mut values = Vec::with_capacity(declared.min(1 << 16));
    let mut line = Vec::new();
    while next_content(input, &mut line)? {
        input.budget().check(8 * (values.capacity() + values.len()))?;
        for field in tokens(&line) {
            if values.len() == declared {
                return Err(input.line_error(format!("more than the {declared} values declared")));
            }
            let value = parse_f64(field)
                .ok_or_else(|| input.line_error(format!("the value {} is not a number", show(field))))?;
            if !value.is_finite() {
                let (row, col) = array_position(banner.symmetry, rows, values.len());
                check_finite(input, row, col, value)?;
            }
            values.push(value);
        }
    }
    if values.len() < declared {
        return Err(input.file_error(format!(
            "{declared} values are declared but there are only {}; the file is truncated",
            values.len()
        )));
    }
    Ok(unfold(banner.symmetry, rows, cols, &values))
}

/// Row and column of the value number `at` of an array file.
fn array_position(symmetry: Symmetry, rows: usize, at: usize) -> (usize, usize) {
    let first = |col| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric => col,
        Symmetry::Skew => col + 1,
    };
    let (mut col, mut left) = (0, at);
    while left >= rows - first(col) {
        left -= rows - first(col);
        col += 1;
    }
    (first(col) + left, col)
}

fn unfold(symmetry: Symmetry, rows: usize, cols: usize, values: &[f64]) -> Mat<f64> {
    if symmetry == Symmetry::General {
        return Mat::from_fn(rows, cols, |i, j| values[i + j * rows]);
    }
    let mut matrix = Mat::zeros(rows, cols);
    let (first, sign) = if symmetry == Symmetry::Skew { (1, -1.0) } else { (0, 1.0) };
    let mut next = values.iter();
    for j in 0..cols {
        for i in j + first..rows {
            let value = next.next().copied().unwrap_or_default();
            matrix[(j, i)] = sign * value;
            matrix[(i, j)] = value;
        }
    }
    matrix
}

pub(super) fn check_finite(input: &Input, row: usize, col: usize, value: f64) -> Result<(), DataError> {
    if value.is_finite() {
        return Ok(());
    }
    let (row, column) = (row + 1, col + 1);
    Err(DataError::NotFinite { place: input.place(), row, column, value })
}

pub(super) fn write(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    let (rows, cols) = (data.matrix.nrows(), data.matrix.ncols());
    match &data.matrix {
        Matrix::Dense(dense) => {
            writeln!(out, "%%MatrixMarket matrix array real general\n{rows} {cols}")?;
            for value in (0..cols).flat_map(|j| dense.col_as_slice(j)) {
                write_number(out, *value)?;
                writeln!(out)?;
            }
        }
        Matrix::Sparse(sparse) => {
            let entries = data.matrix.nnz();
            writeln!(out, "%%MatrixMarket matrix coordinate real general\n{rows} {cols} {entries}")?;
            for j in 0..cols {
                let column = sparse.row_idx_of_col(j).zip(sparse.val_of_col(j));
                for (i, value) in column.filter(|entry| *entry.1 != 0.0) {
                    write!(out, "{} {} ", i + 1, j + 1)?;
                    write_number(out, *value)?;
                    writeln!(out)?;
                }
            }
        }
    }
    Ok(())
}
