//! The arrays that `scipy.sparse.save_npz` puts into an `.npz` for compressed rows (csr) or
//! columns (csc): `format`, `shape`, `indptr`, `indices`, `data`.

use faer::sparse::SparseColMat;

use crate::error::DataError;
use crate::format::npy_header;
use crate::format::npz_archive::Archive;
use crate::sparse::{Compressed, check_size};
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
    let starts = whole_numbers(archive, "indptr")?;
    let (outer, inner) = if by_rows { (rows, cols) } else { (cols, rows) };
    let places = places(archive, inner)?;
    let values = archive.array("data")?.values;
    check_size(archive.budget(), rows, cols, values.len())?;
    check_parts(&starts, places.len(), values.len(), outer)
        .map_err(|(name, problem)| archive.error_in(name, &problem))?;
    archive.budget().check(values.len().saturating_mul(Compressed::BYTES))?;
    let all = Compressed { starts, places, values };
    Ok(if by_rows { all.rows_into_matrix(cols) } else { all.columns_into_matrix(rows) })
}

/// The array `indices`, all of them below `inner`.
fn places(archive: &mut Archive, inner: usize) -> Result<Vec<u32>, DataError> {
    let values = archive.array("indices")?.values;
    if values.iter().any(|value| !(*value >= 0.0 && value.fract() == 0.0)) {
        return Err(archive.error_in("indices", "it must hold whole numbers of at least 0"));
    }
    let most = inner.min(u32::MAX as usize);
    match values.iter().find(|index| **index >= most as f64) {
        Some(index) => {
            let problem = format!("index {index} (from 0) where there are only {most}");
            Err(archive.error_in("indices", &problem))
        }
        None => Ok(values.iter().map(|index| *index as u32).collect()),
    }
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

/// Checks that pointers stay inside the arrays; otherwise returns the name of the wrong array and the reason.
fn check_parts(
    pointers: &[usize],
    indices: usize,
    values: usize,
    outer: usize,
) -> Result<(), (&'static str, String)> {
    if indices != values {
        return Err(("indices", format!("{indices} indices for {values} values")));
    }
    if pointers.len() != outer + 1 {
        return Err(("indptr", format!("{} pointers where {} are needed", pointers.len(), outer + 1)));
    }
    if !pointers.is_sorted() || pointers[0] != 0 || pointers[outer] != values {
        return Err(("indptr", format!("the pointers do not increase from 0 to {values}")));
    }
    Ok(())
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
