//! Real files, where they are at hand: beside the repository, not in it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use orthopt_data::{DataSet, LoadOptions, Matrix, load, read_file, write_file};

fn shared(name: &str) -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: shared data not found ({name})");
    None
}

/// Reads a file and checks rows, columns and non-zeros; None when it is not there.
fn check(name: &str, rows: usize, cols: usize, nnz: usize) -> Option<DataSet> {
    let path = shared(name)?;
    let start = Instant::now();
    let data = read_file(&path, &LoadOptions::default()).unwrap();
    println!("{name}: read in {:.3} s", start.elapsed().as_secs_f64());
    let matrix = &data.matrix;
    assert_eq!((matrix.nrows(), matrix.ncols(), matrix.nnz()), (rows, cols, nnz), "{name}");
    Some(data)
}

fn count(data: &DataSet, label: f64) -> usize {
    data.labels.as_ref().unwrap().iter().filter(|found| **found == label).count()
}

#[test]
fn libsvm() {
    if let Some(data) = check("w1a.svm", 2477, 300, 28410) {
        assert_eq!((count(&data, -1.0), count(&data, 1.0)), (2405, 72));
        let Matrix::Sparse(sparse) = &data.matrix else { panic!("w1a must be sparse") };
        assert!(sparse.val().iter().all(|value| *value == 1.0));
    }
    if let Some(data) = check("a9a.svm.gz", 32561, 123, 451592) {
        assert_eq!((count(&data, -1.0), count(&data, 1.0)), (24720, 7841));
    }
    if let Some(data) = check("pcmac.svm.gz", 1943, 3289, 93185) {
        assert_eq!((count(&data, 1.0), count(&data, 2.0)), (982, 961));
    }
}

#[test]
fn matrix_market() {
    if let Some(data) = check("news20_counts.mtx.gz", 18221, 36568, 893733) {
        let Matrix::Sparse(sparse) = &data.matrix else { panic!("news20 must be sparse") };
        let largest = sparse.val().iter().copied().fold(0.0, f64::max);
        assert_eq!(largest, 549.0);
        assert_eq!(sparse.get(2924, 0), Some(&1.0));
    }
    check("news20_top100words.mtx.gz", 18846, 100, 240537);
}

#[test]
fn numpy() {
    check("mnist_a_5000_images.npy", 5000, 784, 755359);
    if let Some(data) = check("coil20.npy", 1440, 1024, 967507) {
        let dense = data.matrix.to_dense();
        let values = dense.col_iter().flat_map(|column| column.iter());
        assert!(values.into_iter().all(|value| (0.0..=1.0).contains(value)));
    }
}

#[test]
fn tables() {
    check("colon_alon.csv.gz", 62, 2000, 62 * 2000);
    check("colon_discretized.csv.gz", 62, 2000, 72446);
    check("ionosphere.csv", 351, 34, 10513);
    if let Some(data) = check("pitprops.csv", 13, 13, 169) {
        let builtin = load("builtin:pitprops", &LoadOptions::default()).unwrap();
        assert_eq!(data.names, builtin.names);
        assert_eq!(data.matrix.to_dense(), builtin.matrix.to_dense());
    }
}

#[test]
fn conversions_keep_everything() {
    let Some(path) = shared("w1a.svm") else {
        return;
    };
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
