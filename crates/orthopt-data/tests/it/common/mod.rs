//! Helpers of the test files: data in temporary files, and errors without their folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use faer::Mat;
use flate2::Compression;
use flate2::write::GzEncoder;
use orthopt_data::{DataError, DataSet, LoadOptions, Matrix, read_file};
use tempfile::TempDir;

/// Reads `content` from a file called `name`.
pub fn read(name: &str, content: impl AsRef<[u8]>) -> Result<DataSet, DataError> {
    read_with(name, content, &LoadOptions::default()).1
}

/// As `read`, with options, and the folder that the file was in.
pub fn read_with(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &LoadOptions,
) -> (PathBuf, Result<DataSet, DataError>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder.path().into(), read_file(&path, options))
}

/// The message of the error that reading gives, with the bare name of the file.
pub fn message(name: &str, content: impl AsRef<[u8]>) -> String {
    message_with(name, content, &LoadOptions::default())
}

/// As `message`, with options.
pub fn message_with(name: &str, content: impl AsRef<[u8]>, options: &LoadOptions) -> String {
    let (folder, result) = read_with(name, content, options);
    let error = result.expect_err("reading must fail").to_string();
    let folder = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
    assert!(error.contains(&folder), "the message names no file: {error}");
    error.replace(&folder, "")
}

/// Checks a table of contents and the messages that they give.
pub fn expect_messages(name: &str, table: &[(&str, &str)]) {
    for (content, expected) in table {
        assert_eq!(message(name, content), *expected, "for {content:?}");
    }
}

/// A data set that is not part of the repository: in the folder that `ORTHOPT_DATA` names, else in
/// `shared/data` beside the checkout.
pub fn shared(name: &str) -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("ORTHOPT_DATA").map_or_else(beside, PathBuf::from).join(name);
    assert!(path.exists(), "{} does not exist: ORTHOPT_DATA names the folder of data sets", path.display());
    path
}

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The matrix of the golden files.
pub fn golden_matrix() -> Mat<f64> {
    faer::mat![[1.5, 0.0, -2.0, 0.0], [0.0, 0.0, 0.1, 0.0], [0.0, 3.0, 0.0, 4.0]]
}

/// The non-zeros of a matrix as a sparse one.
pub fn sparse(dense: &Mat<f64>) -> Matrix {
    let entries: Vec<_> = (0..dense.ncols())
        .flat_map(|j| (0..dense.nrows()).map(move |i| (i, j)))
        .filter(|&(i, j)| dense[(i, j)] != 0.0)
        .map(|(i, j)| faer::sparse::Triplet::new(i, j, dense[(i, j)]))
        .collect();
    let sparse = faer::sparse::SparseColMat::try_new_from_triplets(dense.nrows(), dense.ncols(), &entries);
    Matrix::Sparse(sparse.unwrap())
}

/// All values as bits, row by row: equality that tells -0 from 0.
pub fn bits(matrix: &Matrix) -> Vec<u64> {
    let dense = matrix.to_dense();
    let (rows, cols) = dense.shape();
    (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|at| dense[at].to_bits()).collect()
}
