//! Files read part by part against the same files read whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use faer::Mat;
use orthopt_data::stream::{Accumulate, Parts, accumulate, files, read_accumulator, write_accumulator};
use orthopt_data::{
    GramAccumulator, LoadOptions, Missing, Role, Rows, Summation, load, read_file, write_file,
};
use tempfile::TempDir;

/// All rows of the files, in chunks of about so many numbers, as one dense matrix.
fn together(paths: &[PathBuf], numbers: usize, options: &LoadOptions) -> Mat<f64> {
    let mut parts = Parts::new(paths, options).unwrap();
    let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
    let (mut columns, mut chunks) = (0, 0);
    while let Some(chunk) = parts.next_chunk(numbers).unwrap() {
        chunks += 1;
        let body = chunk.rows();
        columns = columns.max(body.columns());
        for i in 0..body.len() {
            rows.push(match body {
                Rows::Dense(a) => (0..a.ncols()).map(|j| (j, a[(i, j)])).collect(),
                Rows::Sparse(sparse) => {
                    let (indices, values) = sparse.row(i);
                    indices.iter().copied().zip(values.iter().copied()).collect()
                }
            });
        }
    }
    assert!(chunks > 1 || numbers > 1000, "one chunk tests nothing");
    let mut all = Mat::zeros(rows.len(), columns);
    rows.iter().enumerate().for_each(|(i, row)| row.iter().for_each(|(j, v)| all[(i, *j)] = *v));
    all
}

fn options() -> LoadOptions {
    LoadOptions::default()
}

#[test]
fn every_format_gives_the_same_rows_in_parts() {
    let folder = TempDir::new().unwrap();
    for spec in ["randn:37:6:3", "sparse-randn:41:9:60:2"] {
        let data = load(spec, &options()).unwrap();
        for ending in ["svm", "npy", "npz", "csv", "tsv", "txt", "mtx", "csv.gz", "svm.gz", "npy.gz"] {
            let path = folder.path().join(format!("data.{ending}"));
            write_file(&path, &data).unwrap();
            let whole = read_file(&path, &options()).unwrap().matrix.to_dense();
            for numbers in [1, 50, 1 << 20] {
                assert_eq!(
                    together(from_ref(&path), numbers, &options()),
                    whole,
                    "{spec} {ending} {numbers}"
                );
            }
        }
    }
}

#[test]
fn arrays_by_columns_and_other_types() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("f.npy");
    let values: Vec<u8> = (0..12_i16).flat_map(|v| v.to_be_bytes()).collect();
    for (order, expected) in [("True", [0.0, 4.0, 8.0]), ("False", [0.0, 1.0, 2.0])] {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let text = format!("{{'descr': '>i2', 'fortran_order': {order}, 'shape': (4, 3), }}\n");
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(&values);
        fs::write(&path, &bytes).unwrap();
        let all = together(from_ref(&path), 3, &options());
        assert_eq!([all[(0, 0)], all[(0, 1)], all[(0, 2)]], expected);
        fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let error = read(from_ref(&path)).unwrap_err();
        assert!(error.contains("truncated"), "{error}");
    }
}

fn read(paths: &[PathBuf]) -> Result<GramAccumulator, String> {
    let request = Accumulate { how: Summation::Reproducible, ..Accumulate::default() };
    accumulate(paths, &request, None, &mut |_| {}).map(|a| a.sums).map_err(|error| error.to_string())
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn sorted_coordinates_are_streamed_and_others_refused() {
    let folder = TempDir::new().unwrap();
    let head = "%%MatrixMarket matrix coordinate real general\n% rows\n5 3 6\n";
    let sorted =
        write(folder.path(), "a.mtx", &format!("{head}1 2 1.5\n1 1 2\n3 3 -1\n3 3 0.5\n5 1 4\n5 2 1\n"));
    let whole = read_file(&sorted, &options()).unwrap().matrix.to_dense();
    for numbers in [1, 2, 3, 4000] {
        assert_eq!(together(from_ref(&sorted), numbers, &options()), whole, "{numbers}");
    }
    let by_columns =
        write(folder.path(), "b.mtx", &format!("{head}1 1 2\n5 1 4\n1 2 1.5\n3 3 -1\n3 3 .5\n5 2 1\n"));
    assert_eq!(together(&[by_columns], 1, &options()), whole);
    let long: String = (1..=70_000).map(|i| format!("{i} 1 1\n")).collect();
    let head = "%%MatrixMarket matrix coordinate real general\n70000 3 70001\n";
    let late = write(folder.path(), "e.mtx", &format!("{head}{long}5 2 1\n"));
    let error = read(&[late]).unwrap_err();
    assert!(error.contains("e.mtx:70003: the entries are not sorted by rows"), "{error}");
    let head = "%%MatrixMarket matrix coordinate real general\n% rows\n5 3 6\n";
    for (name, text, message) in [
        ("c.mtx", format!("{head}1 2 1.5\n"), "6 entries are declared but there are only 1"),
        ("d.mtx", format!("{head}1 2 nan\n"), "d.mtx:4: the value in row 1, column 2"),
    ] {
        let error = read(&[write(folder.path(), name, &text)]).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn several_files_are_one_table() {
    let folder = TempDir::new().unwrap();
    let text = |rows: std::ops::Range<usize>| -> String {
        rows.map(|i| format!("{},{},{}\n", 2 * i, (i * i) as f64 * 0.1, -1.0 / (i + 1) as f64)).collect()
    };
    let paths: Vec<PathBuf> = [(0..4), (4..5), (5..20)]
        .into_iter()
        .enumerate()
        .map(|(k, rows)| write(folder.path(), &format!("part-{k}.csv"), &format!("a,b,c\n{}", text(rows))))
        .collect();
    let all = write(folder.path(), "all.csv", &format!("a,b,c\n{}", text(0..20)));
    assert_eq!(together(&paths, 4, &options()), together(from_ref(&all), 4, &options()));
    let pattern = files(&[folder.path().join("part-*.csv")]).unwrap();
    assert_eq!(pattern, paths);
    let (one, several) = (read(from_ref(&all)).unwrap(), read(&pattern).unwrap());
    assert_eq!(one.gram().unwrap(), several.gram().unwrap());
    assert_eq!(several.names().unwrap(), ["a", "b", "c"]);

    let other = write(folder.path(), "other.csv", "a,c,d\n1,2,3\n");
    let error = read(&[paths[0].clone(), other]).unwrap_err();
    assert!(error.contains("other.csv: column `b` is missing"), "{error}");
    let narrow = write(folder.path(), "narrow.csv", "1,2\n");
    let error = read(&[paths[0].clone(), narrow]).unwrap_err();
    assert!(error.contains("narrow.csv: 2 columns where 3 are expected"), "{error}");
    let bad = write(folder.path(), "bad.csv", "a,b,c\n1,2,3\n1,inf,3\n");
    let error = read(&[paths[0].clone(), bad]).unwrap_err();
    assert!(error.contains("bad.csv:3: the value in row 2, column 2"), "{error}");
    let error = files(&[folder.path().join("none-*.csv")]).unwrap_err().to_string();
    assert!(error.contains("this one matches none"), "{error}");
    let error = read(&[PathBuf::from("laplace:5")]).unwrap_err();
    assert!(error.contains("C itself"), "{error}");
}

#[test]
fn libsvm_grows_and_missing_rows_are_dropped() {
    let folder = TempDir::new().unwrap();
    let a = write(folder.path(), "a.svm", "1 1:2 3:1\n-1 2:4\n");
    let b = write(folder.path(), "b.svm", "1 7:1\n\n1\n1 1:1\n");
    let sums = read(&[a, b]).unwrap();
    assert_eq!((sums.rows(), sums.columns()), (5, 7));
    let c = sums.gram().unwrap();
    assert_eq!((c[(0, 0)], c[(2, 0)], c[(1, 1)], c[(6, 6)]), (5.0, 2.0, 16.0, 1.0));

    let gaps = write(folder.path(), "gaps.csv", "1,2\nNA,3\n4,5\n");
    assert!(read(from_ref(&gaps)).unwrap_err().contains("missing value"));
    let load = LoadOptions { missing: Missing::Drop, ..options() };
    let request = Accumulate { how: Summation::Reproducible, load: load.clone(), ..Accumulate::default() };
    let found = accumulate(from_ref(&gaps), &request, None, &mut |_| {}).unwrap();
    assert_eq!((found.sums.rows(), found.missing, found.sums.sums()), (2, 1, vec![5.0, 7.0]));
    let load = LoadOptions { missing: Missing::Mean, ..options() };
    assert!(Parts::new(&[gaps], &load).is_err());
}

#[test]
fn screening_keeps_the_largest_variances() {
    let folder = TempDir::new().unwrap();
    // variances 0 (but the largest mean), large, small, large
    let text: String =
        (0..30).map(|i| format!("1e6,{},{},{}\n", (i % 7) * 9, 0.01 * (i % 3) as f64, i * 5)).collect();
    let path = write(folder.path(), "a.csv", &format!("p,q,r,s\n{text}"));
    for file in [path.clone(), {
        let svm = folder.path().join("a.svm");
        write_file(&svm, &read_file(&path, &options()).unwrap()).unwrap();
        svm
    }] {
        let request = Accumulate {
            how: Summation::Reproducible,
            screen: Some(2),
            load: options(),
            ..Accumulate::default()
        };
        let found = accumulate(&[file], &request, None, &mut |_| {}).unwrap();
        assert_eq!((found.kept.as_deref(), found.columns), (Some(&[1, 3][..]), 4));
        let whole = read(from_ref(&path)).unwrap().gram().unwrap();
        assert_eq!(found.sums.gram().unwrap(), Mat::from_fn(2, 2, |i, j| whole[(2 * i + 1, 2 * j + 1)]));
    }
    let request = Accumulate { screen: Some(9), ..Accumulate::default() };
    let error = accumulate(&[path], &request, None, &mut |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("9 features were asked for, but the data has 4"), "{error}");
}

#[test]
fn archives_hold_c_and_take_more_rows() {
    let folder = TempDir::new().unwrap();
    let (a, b) = (folder.path().join("a.csv"), folder.path().join("b.npy"));
    write_file(&a, &load("randn:20:4:1", &options()).unwrap()).unwrap();
    write_file(&b, &load("randn:33:4:2", &options()).unwrap()).unwrap();
    let archive = folder.path().join("c.npz");
    for how in [Summation::Compensated, Summation::Reproducible] {
        let request = Accumulate { how, ..Accumulate::default() };
        let first = accumulate(from_ref(&a), &request, None, &mut |_| {}).unwrap().sums;
        write_accumulator(&archive, &first).unwrap();
        let data = read_file(&archive, &options()).unwrap();
        assert_eq!((data.role, data.matrix.to_dense()), (Role::Gram, first.gram().unwrap()));
        let back = read_accumulator(&archive, None).unwrap().unwrap();
        let more = accumulate(from_ref(&b), &request, Some(back), &mut |_| {}).unwrap().sums;
        let both = accumulate(&[a.clone(), b.clone()], &request, None, &mut |_| {}).unwrap().sums;
        assert_eq!((more.rows(), more.gram().unwrap()), (53, both.gram().unwrap()));
    }
    assert!(read_accumulator(&b, None).unwrap().is_none());
    let plain = folder.path().join("plain.npz");
    write_file(&plain, &load("randn:5:4", &options()).unwrap()).unwrap();
    assert!(read_accumulator(&plain, None).unwrap().is_none());
    let mut bytes = fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&archive, bytes).unwrap();
    assert!(read_accumulator(&archive, None).is_err());
}

/// Columns are chosen of all that there are, also where the first rows of a file do not show how many.
#[test]
fn columns_of_a_file_that_grows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.svm");
    fs::write(&path, "1 1:2 3:4.5\n0 2:1\n1 1:3 3:1\n0 5:1 70:2.25\n1 2:7\n0 60:3\n").unwrap();
    for (option, list) in [("drop", "1"), ("columns", "2-"), ("columns", "1-2")] {
        let mut options = options();
        options.table.set(option, list).unwrap();
        let whole = read_file(&path, &options).unwrap().matrix.to_dense();
        assert_eq!(together(from_ref(&path), 1, &options), whole, "{option} {list}");
    }
}
