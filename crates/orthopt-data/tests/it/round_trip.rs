//! Writing and reading back gives the same bits in every format; files of other programs give
//! what they mean.

use crate::common::{bits, golden, golden_matrix, read, sparse};
use faer::Mat;
use orthopt_data::{DataSet, LoadOptions, Matrix, read_dense_npy, read_file, write_file, write_npy};
use proptest::prelude::*;
use tempfile::TempDir;

const EXTENSIONS: [&str; 8] = ["svm", "libsvm", "mtx", "npy", "npz", "csv", "tsv", "txt"];

fn back(name: &str, data: &DataSet) -> DataSet {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    write_file(&path, data).unwrap();
    let back = read_file(&path, &LoadOptions::default()).unwrap();
    assert_eq!(back.source, path.display().to_string());
    back
}

fn with_extras(matrix: impl Into<Matrix>) -> DataSet {
    let mut data = DataSet::new(matrix, "test");
    data.names = Some(["first", "with, comma", "with \"quote\"", "4"].map(String::from).into());
    data.labels = Some(vec![1.0, -1.0, 2.5]);
    data
}

#[test]
fn every_format_compressed_or_not() {
    for compressed in ["", ".gz"] {
        for extension in EXTENSIONS {
            for matrix in [Matrix::Dense(golden_matrix()), sparse(&golden_matrix())] {
                let was_sparse = matrix.is_sparse();
                let data = with_extras(matrix);
                let name = format!("a.{extension}{compressed}");
                let found = back(&name, &data);
                assert_eq!(bits(&found.matrix), bits(&data.matrix), "{name}");
                let stays_sparse = match extension {
                    "svm" | "libsvm" => true,
                    "mtx" | "npz" => was_sparse,
                    _ => false,
                };
                assert_eq!(found.matrix.is_sparse(), stays_sparse, "{name}");
                let names = matches!(extension, "csv" | "tsv" | "txt").then_some(data.names).flatten();
                assert_eq!(found.names, names, "{name}");
                let labels = matches!(extension, "svm" | "libsvm" | "npz").then_some(data.labels);
                assert_eq!(found.labels, labels.flatten(), "{name}");
            }
        }
    }
}

#[test]
fn compressed_means_compressed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv.gz");
    write_file(&path, &with_extras(golden_matrix())).unwrap();
    assert_eq!(std::fs::read(path).unwrap()[..2], [0x1f, 0x8b]);
}

#[test]
fn sparse_files_keep_empty_edges() {
    let mut matrix = Mat::zeros(3, 4);
    matrix[(1, 0)] = 7.0;
    for extension in ["svm", "mtx", "npz"] {
        let found = back(&format!("a.{extension}"), &DataSet::new(sparse(&matrix), "test"));
        assert_eq!((found.matrix.nrows(), found.matrix.ncols()), (3, 4), "{extension}");
        assert_eq!(found.matrix.nnz(), 1);
    }
}

#[test]
fn names_that_look_like_numbers_stay_names() {
    for names in [["1990", "1991", "", "NA"], ["1", "2", "3", "4"]] {
        let mut data = with_extras(golden_matrix());
        data.names = Some(names.map(String::from).into());
        let found = back("a.csv", &data);
        assert_eq!(found.names, data.names);
        assert_eq!(bits(&found.matrix), bits(&data.matrix));
    }
}

#[test]
fn names_with_marks_and_controls_come_back() {
    for first in
        ["\u{feff}", "\u{feff}a", "\u{1}", "\u{1}\u{feff}", "\u{c}", "\u{feff}\u{feff}", "\u{7}", "", "a\rb"]
    {
        // equal names get different endings
        let others = ["\u{feff}", "\u{feff}b", "\u{1}", "\u{c}c", "\n\u{feff}", "a\u{0}"];
        for second in others.into_iter().filter(|second| second.trim_ascii() != first) {
            for extension in ["csv", "tsv", "txt", "csv.gz"] {
                let mut data = with_extras(golden_matrix());
                data.names = Some([first, second, "\u{feff}3", "x"].map(String::from).into());
                let found = back(&format!("a.{extension}"), &data);
                let trimmed = |name: &String| name.trim_ascii().to_string(); // white space is not kept
                let names = data.names.as_ref().map(|names| names.iter().map(trimmed).collect::<Vec<_>>());
                assert_eq!(found.names, names, "{extension}");
                assert_eq!(bits(&found.matrix), bits(&data.matrix));
            }
        }
    }
}

#[test]
fn x_files() {
    let folder = TempDir::new().unwrap();
    let x = Mat::from_fn(5, 2, |i, j| (i as f64 - 2.0) / (j as f64 + 3.0));
    for name in ["x.npy", "x.npy.gz", "x"] {
        let path = folder.path().join(name);
        write_npy(&path, x.as_ref()).unwrap();
        if name != "x" {
            assert_eq!(read_dense_npy(&path).unwrap(), x);
        }
    }
    // A view with any strides.
    let path = folder.path().join("transposed.npy");
    write_npy(&path, x.transpose()).unwrap();
    assert_eq!(read_dense_npy(&path).unwrap(), x.transpose().to_owned());
    let path = folder.path().join("x.mtx");
    write_file(&path, &DataSet::new(sparse(&x), "test")).unwrap();
    assert_eq!(read_dense_npy(&path).unwrap(), x);
}

#[test]
fn files_written_by_numpy_and_scipy() {
    let expected = bits(&golden_matrix().into());
    for name in ["f8.npy", "f8_fortran.npy", "named.npz", "csr.npz", "csc.npz", "coordinate.mtx"] {
        let data = read_file(&golden(name), &LoadOptions::default()).unwrap();
        assert_eq!(bits(&data.matrix), expected, "{name}");
        assert_eq!(data.matrix.is_sparse(), name.starts_with('c'), "{name}");
        let labels = (name == "named.npz").then_some(vec![1.0, -1.0, 1.0]);
        assert_eq!(data.labels, labels, "{name}");
    }
    let tens = read_dense_npy(&golden("f4_big_endian_of_10a.npy")).unwrap();
    assert_eq!(tens, golden_matrix() * faer::Scale(10.0));
    let squares = read_dense_npy(&golden("array_symmetric_of_aat.mtx")).unwrap();
    let expected = golden_matrix() * golden_matrix().transpose();
    assert!((squares - expected).norm_max() < 1e-15);
}

#[test]
fn npy_is_written_as_numpy_does() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npy");
    let expected = std::fs::read(golden("f8.npy")).unwrap();
    write_npy(&path, golden_matrix().as_ref()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    write_file(&path, &DataSet::new(sparse(&golden_matrix()), "test")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
}

#[test]
fn every_element_type() {
    let array = |descr: &str, data: &[u8]| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n");
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        let data = read("a.npy", bytes).unwrap();
        (0..2).map(|i| data.matrix.to_dense()[(i, 0)]).collect::<Vec<_>>()
    };
    assert_eq!(array("|b1", &[0, 1]), [0.0, 1.0]);
    assert_eq!(array("|u1", &[0, 255]), [0.0, 255.0]);
    assert_eq!(array("|i1", &[1, 255]), [1.0, -1.0]);
    assert_eq!(array("<u2", &[1, 2, 255, 255]), [513.0, 65535.0]);
    assert_eq!(array(">u2", &[1, 2, 255, 255]), [258.0, 65535.0]);
    assert_eq!(array("<i2", &[1, 2, 254, 255]), [513.0, -2.0]);
    assert_eq!(array("<i4", &[2, 0, 0, 0, 254, 255, 255, 255]), [2.0, -2.0]);
    assert_eq!(array(">i4", &[0, 0, 0, 2, 255, 255, 255, 254]), [2.0, -2.0]);
    assert_eq!(array("<u4", &[2, 0, 0, 0, 255, 255, 255, 255]), [2.0, 4294967295.0]);
    let both = |bytes: [[u8; 8]; 2]| bytes.concat();
    assert_eq!(array("<i8", &both([7_i64, -7].map(i64::to_le_bytes))), [7.0, -7.0]);
    assert_eq!(array(">u8", &both([7_u64, 8].map(u64::to_be_bytes))), [7.0, 8.0]);
    assert_eq!(array("<f8", &both([0.1_f64, -7.0].map(f64::to_le_bytes))), [0.1, -7.0]);
}

#[test]
fn details_of_text_formats() {
    let dense = |name: &str, content: &str| read(name, content).unwrap().matrix.to_dense();
    let svm = "# c\n+1 1:1 3:-.5e1 # note\r\n\n -1\t2:0\t \n0 \n";
    assert_eq!(dense("a.svm", svm), faer::mat![[1.0, 0.0, -5.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
    assert_eq!(read("a.svm", svm).unwrap().labels, Some(vec![1.0, -1.0, 0.0]));

    let banner = |kind: &str, body: &str| format!("%%matrixmarket MATRIX {kind}\n% c\n\n{body}");
    let mtx = |kind: &str, body: &str| dense("a.mtx", &banner(kind, body));
    let lower = faer::mat![[1.0, 2.0], [2.0, 0.0]];
    assert_eq!(mtx("coordinate integer symmetric", "2 2 2\n1 1 1\n2 1 2\n"), lower);
    assert_eq!(mtx("coordinate integer symmetric", "2 2 2\n1 1 1\n1 2 2\n"), lower);
    assert_eq!(mtx("array real symmetric", "2 2\n1\n2\n0\n"), lower);
    let skew = faer::mat![[0.0, -2.0], [2.0, 0.0]];
    assert_eq!(mtx("coordinate real skew-symmetric", "2 2 1\n2 1 2\n"), skew);
    assert_eq!(mtx("array real skew-symmetric", "2 2\n2\n"), skew);
    assert_eq!(
        mtx("coordinate pattern general", "2 2 2\n1 2\n\n% c\n2 2\n"),
        faer::mat![[0.0, 1.0], [0.0, 1.0]]
    );
    let duplicates = banner("coordinate real general", "2 1 3\n1 1 2\n2 1 1\n1 1 3\n");
    assert_eq!(dense("a.mtx", &duplicates), faer::mat![[5.0], [1.0]]);
    let data = read("a.mtx", banner("array real general", "2 2\n1\n0\n0 4")).unwrap();
    assert!(!data.matrix.is_sparse());
    assert_eq!(data.matrix.nnz(), 2);
}

#[test]
fn tables_in_all_layouts() {
    let expected = faer::mat![[1.0, 2.0], [3.0, 4.0]];
    let names = Some(vec!["a".to_string(), "b".to_string()]);
    for (name, content, has_names) in [
        ("a.csv", "1,2\n3,4\n", false),
        ("a.csv", "a,b\n1,2\n3,4", true),
        ("a.csv", "\u{feff}\"a\",\"b\"\r\n 1 , 2 \r\n\r\n3,4\r\n", true),
        ("a.tsv", "a\tb\n1\t2\n3\t4\n", true),
        ("a.csv", "id,a,b\nx,1,2\ny,3,4\n", true),
        ("a.csv", ",a,b\nx,1,2\ny,3,4\n", true),
        ("a.csv", "a,b\nx,1,2\ny,3,4\n", true),
    ] {
        let data = read(name, content).unwrap();
        assert_eq!(data.matrix.to_dense(), expected, "{content:?}");
        assert_eq!(data.names, if has_names { names.clone() } else { None }, "{content:?}");
    }
    assert_eq!(read("a.csv", "name,1,2\nx,1,2\n").unwrap().names, Some(vec!["1".into(), "2".into()]));
    assert_eq!(read("a.csv", "a,1990\n1,2\n").unwrap().names, Some(vec!["a".into(), "1990".into()]));
    assert_eq!(read("a.csv", "5\n6\n").unwrap().matrix.nrows(), 2);
}

fn any_matrix() -> impl Strategy<Value = Mat<f64>> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    let finite = POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO;
    let value = prop_oneof![1 => Just(0.0), 1 => -9.0..9.0, 2 => finite];
    (1..7_usize, 1..7_usize).prop_flat_map(move |(rows, cols)| {
        prop::collection::vec(value.clone(), rows * cols)
            .prop_map(move |values| Mat::from_fn(rows, cols, |i, j| values[i * cols + j]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_gives_back_the_same_bits(matrix in any_matrix()) {
        let dense = Matrix::Dense(matrix.clone());
        for name in ["a.csv", "a.tsv", "a.mtx", "a.npy", "a.npz"] {
            let found = back(name, &DataSet::new(dense.clone(), "test"));
            prop_assert_eq!(bits(&found.matrix), bits(&dense), "{}", name);
        }
        // Sparse storage does not tell -0 from 0.
        let plain = Matrix::Dense(faer::zip!(&matrix).map(|faer::unzip!(value)| value + 0.0));
        for name in ["a.svm", "a.mtx", "a.npz", "a.csv"] {
            let found = back(name, &DataSet::new(sparse(&matrix), "test"));
            prop_assert_eq!(bits(&found.matrix), bits(&plain), "{}", name);
        }
    }

    #[test]
    fn no_reader_panics(content in prop::collection::vec(any::<u8>(), 0..200), cut in 0..400_usize) {
        for extension in EXTENSIONS {
            let _ = read(&format!("a.{extension}"), &content);
        }
        for name in ["f8.npy", "f8_fortran.npy", "csr.npz", "named.npz", "coordinate.mtx"] {
            // A good file, cut off and followed by rubbish.
            let mut bytes = std::fs::read(golden(name)).unwrap();
            bytes.truncate(cut);
            bytes.extend(&content);
            let extension = name.split('.').next_back().unwrap();
            let _ = read(&format!("a.{extension}"), &bytes);
        }
    }

    #[test]
    fn no_text_reader_panics(content in "[0-9:,. \t\n#%x+-]{0,60}") {
        for extension in ["svm", "csv", "tsv"] {
            let _ = read(&format!("a.{extension}"), &content);
        }
        for kind in ["coordinate real general", "array real skew-symmetric", "coordinate pattern symmetric"] {
            let _ = read("a.mtx", format!("%%MatrixMarket matrix {kind}\n{content}"));
        }
    }
}
