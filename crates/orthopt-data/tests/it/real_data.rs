//! Real files, which are not part of the repository.

use std::path::Path;

use crate::common::shared;
use orthopt_data::{DataSet, LoadOptions, Matrix, load, read_file, write_file};

/// Reads a file and checks rows, columns and non-zeros.
fn check(name: &str, rows: usize, cols: usize, nnz: usize) -> DataSet {
    let data = read_file(&shared(name), &LoadOptions::default()).unwrap();
    let matrix = &data.matrix;
    assert_eq!((matrix.nrows(), matrix.ncols(), matrix.nnz()), (rows, cols, nnz), "{name}");
    data
}

fn count(data: &DataSet, label: f64) -> usize {
    data.labels.as_ref().unwrap().iter().filter(|found| **found == label).count()
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn libsvm() {
    let data = check("w1a.svm", 2477, 300, 28410);
    assert_eq!((count(&data, -1.0), count(&data, 1.0)), (2405, 72));
    let Matrix::Sparse(sparse) = &data.matrix else { panic!("w1a must be sparse") };
    assert!(sparse.val().iter().all(|value| *value == 1.0));
    let data = check("a9a.svm.gz", 32561, 123, 451592);
    assert_eq!((count(&data, -1.0), count(&data, 1.0)), (24720, 7841));
    let data = check("pcmac.svm.gz", 1943, 3289, 93185);
    assert_eq!((count(&data, 1.0), count(&data, 2.0)), (982, 961));
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn matrix_market() {
    let data = check("news20_counts.mtx.gz", 18221, 36568, 893733);
    let Matrix::Sparse(sparse) = &data.matrix else { panic!("news20 must be sparse") };
    let largest = sparse.val().iter().copied().fold(0.0, f64::max);
    assert_eq!(largest, 549.0);
    assert_eq!(sparse.get(2924, 0), Some(&1.0));
    check("news20_top100words.mtx.gz", 18846, 100, 240537);
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn numpy() {
    check("mnist_a_5000_images.npy", 5000, 784, 755359);
    let data = check("coil20.npy", 1440, 1024, 967507);
    let dense = data.matrix.to_dense();
    let values = dense.col_iter().flat_map(|column| column.iter());
    assert!(values.into_iter().all(|value| (0.0..=1.0).contains(value)));
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn tables() {
    check("colon_alon.csv.gz", 62, 2000, 62 * 2000);
    check("colon_discretized.csv.gz", 62, 2000, 72446);
    check("ionosphere.csv", 351, 34, 10513);
    let data = check("pitprops.csv", 13, 13, 169);
    let builtin = load("builtin:pitprops", &LoadOptions::default()).unwrap();
    assert_eq!(data.names, builtin.names);
    assert_eq!(data.matrix.to_dense(), builtin.matrix.to_dense());
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn conversions_keep_everything() {
    let path = shared("w1a.svm");
    let data = read_file(&path, &LoadOptions::default()).unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    for name in ["w1a.svm", "w1a.mtx.gz", "w1a.npz", "w1a.npy", "w1a.csv"] {
        let copy = folder.path().join(name);
        write_file(&copy, &data).unwrap();
        let found = read_file(&copy, &LoadOptions::default()).unwrap();
        assert_eq!(found.matrix.to_dense(), data.matrix.to_dense(), "{name}");
    }
    // This file is in the writer's own style, so that it comes back byte for byte.
    let text = |path: &Path| std::fs::read_to_string(path).unwrap().replace("+1", "1");
    assert_eq!(text(&folder.path().join("w1a.svm")), text(&path));
}
