//! The arrays that `scipy.sparse.save_npz` puts into an `.npz` for compressed rows (csr) or
//! columns (csc): `format`, `shape`, `indptr`, `indices`, `data`.

use faer::sparse::SparseColMat;

use crate::error::DataError;
use crate::format::npy_header;
use crate::format::npz_archive::Archive;
use crate::sparse::{Triplets, check_size};
use crate::text::show;

pub(super) fn is_sparse(archive: &Archive) -> bool {
    ["format", "shape", "data"].iter().all(|name| archive.has(name))
}

pub(super) fn read(archive: &mut Archive) -> Result<SparseColMat<usize, f64>, DataError> {
    let format = archive.string("format")?;
    let by_rows = match format.as_str() {
        "csr" => true,
        "csc" => false,
        other => {
            return Err(archive.error(format!(
                "sparse matrices in the format {} are not supported, only csr and csc; save A.tocsr()",
                show(other.as_bytes())
            )));
        }
    };
    let shape = whole_numbers(archive, "shape")?;
    let &[rows, cols] = shape.as_slice() else {
        let problem = format!("{} sizes instead of two", shape.len());
        return Err(archive.error_in("shape", &problem));
    };
    let pointers = whole_numbers(archive, "indptr")?;
    let indices = whole_numbers(archive, "indices")?;
    let values = archive.array("data")?.values;
    check_size(archive.budget(), rows, cols, values.len())?;
    let (outer, inner) = if by_rows { (rows, cols) } else { (cols, rows) };
    check_parts(&pointers, &indices, values.len(), outer, inner)
        .map_err(|(name, problem)| archive.error_in(name, &problem))?;
    let mut entries = Triplets::with_declared(values.len());
    for (outer, range) in pointers.windows(2).enumerate() {
        for at in range[0]..range[1] {
            let (row, col) = if by_rows { (outer, indices[at]) } else { (indices[at], outer) };
            entries.push(row, col, values[at]);
        }
    }
    Ok(entries.into_matrix(rows, cols))
}

fn whole_numbers(archive: &mut Archive, name: &str) -> Result<Vec<usize>, DataError> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2⁵³: arrays are read as f64
    let values = archive.array(name)?.values;
    let convert = |value: &f64| {
        let fits = (0.0..EXACT).contains(value) && value.fract() == 0.0;
        fits.then_some(*value as usize)
    };
    let numbers: Option<Vec<usize>> = values.iter().map(convert).collect();
    numbers.ok_or_else(|| archive.error_in(name, "it must hold whole numbers of at least 0"))
}

/// What has to hold so that following the pointers and indices stays inside the arrays and the
/// matrix; otherwise the name of the array to blame and what is wrong with it.
fn check_parts(
    pointers: &[usize],
    indices: &[usize],
    values: usize,
    outer: usize,
    inner: usize,
) -> Result<(), (&'static str, String)> {
    if indices.len() != values {
        return Err(("indices", format!("{} indices for {values} values", indices.len())));
    }
    if pointers.len() != outer + 1 {
        return Err(("indptr", format!("{} pointers where {} are needed", pointers.len(), outer + 1)));
    }
    if !pointers.is_sorted() || pointers[0] != 0 || pointers[outer] != values {
        return Err(("indptr", format!("the pointers do not increase from 0 to {values}")));
    }
    match indices.iter().find(|index| **index >= inner) {
        Some(index) => Err(("indices", format!("index {index} (from 0) where there are only {inner}"))),
        None => Ok(()),
    }
}

/// The arrays to write, each with its header.
pub(super) fn arrays(matrix: &SparseColMat<usize, f64>) -> [(&'static str, Vec<u8>); 5] {
    let columns = 0..matrix.ncols();
    // Through the columns and not the raw arrays: a matrix may have gaps between its columns.
    let mut pointers = vec![0];
    for j in columns.clone() {
        pointers.push(pointers[j] + matrix.row_idx_of_col_raw(j).len() as i64);
    }
    let indices = columns.clone().flat_map(|j| matrix.row_idx_of_col(j)).map(|i| i as i64);
    let values = columns.flat_map(|j| matrix.val_of_col(j));
    let shape = [matrix.nrows() as i64, matrix.ncols() as i64];
    let mut format = npy_header::with_type("|S3", "()");
    format.extend(b"csc");
    [
        ("indices", array("<i8", indices.map(i64::to_le_bytes))),
        ("indptr", array("<i8", pointers.into_iter().map(i64::to_le_bytes))),
        ("format", format),
        ("shape", array("<i8", shape.into_iter().map(i64::to_le_bytes))),
        ("data", array("<f8", values.map(|value| value.to_le_bytes()))),
    ]
}

fn array(descr: &str, values: impl Iterator<Item = [u8; 8]>) -> Vec<u8> {
    let body: Vec<u8> = values.flatten().collect();
    let mut bytes = npy_header::with_type(descr, &format!("({},)", body.len() / 8));
    bytes.extend(body);
    bytes
}
