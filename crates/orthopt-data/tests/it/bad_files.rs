//! The exact messages for binary and compressed files that cannot be used, and for files that
//! are not there.

use std::path::Path;

use crate::common::{golden, gzip, message, read};
use orthopt_data::{DataError, DataSet, LoadOptions, load, write_file};

/// An array file with any header and data.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn npy_files() {
    let table: Vec<(Vec<u8>, &str)> = vec![
        (vec![], "a.npy: the file is empty"),
        (b"1,2,3\n4,5,6\n".into(), "a.npy: not a NumPy array: the file does not start with \\x93NUMPY"),
        (b"\x93NUMPY".into(), "a.npy: the file ends within the .npy header; it is truncated"),
        (
            npy("'<f8'", "(2, 2)", &[])[..30].into(),
            "a.npy: the file ends within the .npy header; it is truncated",
        ),
        (b"\x93NUMPY\x09\x00ab".into(), "a.npy: version 9 of the .npy format is not known"),
        (
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff".into(),
            "a.npy: the .npy header claims 4294967295 bytes; the file is corrupt",
        ),
        (
            npy("'<f8'", "(2, 2)", &doubles(&[1.0, 2.0, 3.0])),
            "a.npy: the array (2 x 2) of type `<f8` needs 32 bytes but the file has only 24; it is truncated",
        ),
        (
            npy("'<f8'", "(1000000000, 1000000)", &[]),
            "a.npy: the array (1000000000 x 1000000) of type `<f8` needs 8000000000000000 bytes \
             but the file has only 85; it is truncated",
        ),
        (
            npy("'<f8'", "(4294967296, 4294967296)", &[]),
            "a.npy: the shape (4294967296 x 4294967296) is too large",
        ),
        (
            npy("'<f8'", "(2, 1, 1)", &doubles(&[1.0, 2.0])),
            "a.npy: the array has 3 dimensions (2 x 1 x 1); reshape it to two, rows (samples) and columns",
        ),
        (npy("'<f8'", "(0, 999999999999)", &[]), "a.npy: the array (0 x 999999999999) is empty"),
        (
            npy("'<c16'", "(1, 1)", &[0; 16]),
            "a.npy: elements of type `<c16` are not supported, only float32, float64, integers and booleans; \
             save the array with .astype(\"float64\")",
        ),
        (
            npy("'|O'", "(1, 1)", &[0; 16]),
            "a.npy: elements of type `|O` are not supported, only float32, float64, integers and booleans; \
             save the array with .astype(\"float64\")",
        ),
        (
            npy("[('a', '<f8')]", "(1,)", &[0; 8]),
            "a.npy: cannot understand the .npy header: it is a structured array; save one plain array of numbers",
        ),
        (
            npy("'<f8'", "(2, 2)", &doubles(&[1.0, 2.0, f64::NAN, 4.0])),
            "a.npy: the value in row 2, column 1 (counted from 1) is NaN; \
             all values must be finite: remove the row or fill the value in",
        ),
        (
            npy("'>f4'", "(2,)", &[0, 0, 0, 0, 0x7f, 0x80, 0, 0]),
            "a.npy: the value in row 2, column 1 (counted from 1) is inf; \
             all values must be finite: remove the row or fill the value in",
        ),
    ];
    for (content, expected) in table {
        assert_eq!(message("a.npy", &content), expected);
    }
}

#[test]
fn npy_header_cannot_exhaust_memory_or_stack() {
    let deep = "(".repeat(60_000);
    assert!(message("a.npy", npy("'<f8'", &deep, &[])).contains("the shape is not a tuple of sizes"));
    // The size of a compressed file is not known, so the claim is only found out at its end.
    let claim = gzip(&npy("'<f8'", "(100000, 1000000)", &doubles(&[1.0])));
    assert_eq!(
        message("a.npy.gz", claim),
        "a.npy.gz: the array (100000 x 1000000) of type `<f8` needs 800000000000 bytes \
         but the file has only 8; it is truncated"
    );
}

#[test]
fn npz_files() {
    let good = std::fs::read(golden("csr.npz")).unwrap();
    let half = message("a.npz", &good[..good.len() / 2]);
    assert!(half.starts_with("a.npz: it is truncated or not an .npz (zip) file ("), "{half}");
    let mut corrupt = std::fs::read(golden("named.npz")).unwrap();
    let value = corrupt.windows(8).position(|bytes| bytes == 1.5_f64.to_le_bytes()).unwrap();
    corrupt[value] ^= 1;
    assert_eq!(
        message("a.npz", corrupt),
        "a.npz: array `X`: the archive is truncated or corrupt (Invalid checksum)"
    );
    let coo = std::fs::read(golden("coo.npz")).unwrap();
    assert_eq!(
        message("a.npz", coo),
        "a.npz: sparse matrices in the format `coo` are not supported, only csr and csc; save A.tocsr()"
    );
    let three_by_three = npy("'<f8'", "(1, 1)", &doubles(&[1.0]));
    let two = zip(&[("b", &three_by_three), ("a", &three_by_three)]);
    assert_eq!(
        message("a.npz", two),
        "a.npz: the archive holds 2 arrays (`b`, `a`); name the data X, data or arr_0, or save it alone"
    );
    assert_eq!(message("a.npz", zip(&[])), "a.npz: the archive holds no array (.npy)");
    let short = npy("'<f8'", "(4, 1000000000)", &doubles(&[1.0]));
    assert_eq!(
        message("a.npz", zip(&[("X", &short)])),
        "a.npz: array `X`: the array (4 x 1000000000) of type `<f8` needs 32000000000 bytes \
         but the file has only 8; it is truncated"
    );
}

#[test]
fn sparse_npz_parts_are_checked() {
    let whole = |values: &[i64]| {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        npy("'<i8'", &format!("({},)", values.len()), &data)
    };
    let read_parts = |shape: &[i64], pointers: &[i64], indices: &[i64]| {
        message(
            "a.npz",
            zip(&[
                ("format", &npy("'<U3'", "()", b"c\0\0\0s\0\0\0r\0\0\0")),
                ("shape", &whole(shape)),
                ("indptr", &whole(pointers)),
                ("indices", &whole(indices)),
                ("data", &npy("'<f8'", "(2,)", &doubles(&[1.0, 2.0]))),
            ]),
        )
    };
    for (shape, pointers, indices, expected) in [
        (&[2, 3, 4][..], &[0, 1, 2][..], &[0, 2][..], "array `shape`: 3 sizes instead of two"),
        (&[2, 3], &[0, 1, 2], &[0], "array `indices`: 1 indices for 2 values"),
        (&[2, 3], &[0, 2], &[0, 2], "array `indptr`: 2 pointers where 3 are needed"),
        (&[2, 3], &[0, 3, 2], &[0, 2], "array `indptr`: the pointers do not increase from 0 to 2"),
        (&[2, 3], &[0, 1, 1], &[0, 2], "array `indptr`: the pointers do not increase from 0 to 2"),
        (&[2, 3], &[0, 1, 2], &[0, 3], "array `indices`: index 3 (from 0) where there are only 3"),
        (&[2, 3], &[0, 1, 2], &[0, -1], "array `indices`: it must hold whole numbers of at least 0"),
        (
            &[2, 1 << 40],
            &[0, 1, 2],
            &[0, 1],
            "a sparse matrix with 1099511627776 columns but only 2 entries is refused \
             (at most 16777216 for so few); check the sizes or indices",
        ),
    ] {
        assert_eq!(read_parts(shape, pointers, indices), format!("a.npz: {expected}"));
    }
}

fn zip(arrays: &[(&str, &Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn gzip_files() {
    let good = gzip("1 1:2 2:3\n".repeat(5000).as_bytes());
    assert_eq!(read("a.svm.gz", &good).unwrap().matrix.nrows(), 5000);
    assert_eq!(read("a.svm", &good).unwrap().matrix.nrows(), 5000, "recognised by its content");
    for name in ["a.svm.gz", "a.svm"] {
        assert_eq!(
            message(name, &good[..good.len() / 2]),
            format!(
                "{name}: the gzip data is truncated or corrupt (the end is missing); copy or compress the file again"
            )
        );
    }
    assert_eq!(
        read("a.svm.gz", [&good[..], &good[..]].concat()).unwrap().matrix.nrows(),
        10_000,
        "two members"
    );
    assert_eq!(
        read("a.svm.gz", [&good[..], &[0; 700][..]].concat()).unwrap().matrix.nrows(),
        5000,
        "a padded block"
    );
    for rest in ["x", "xx", "more than a header of gzip data"] {
        assert_eq!(
            message("a.svm.gz", [&good[..], rest.as_bytes()].concat()),
            "a.svm.gz: the gzip data is truncated or corrupt (bytes that are no gzip data follow its end); \
             copy or compress the file again"
        );
    }
    let mut corrupt = good.clone();
    let checksum = good.len() - 6;
    corrupt[checksum] ^= 0xff;
    assert_eq!(
        message("a.svm.gz", corrupt),
        "a.svm.gz: the gzip data is truncated or corrupt (corrupt gzip stream does not have a matching checksum); \
         copy or compress the file again"
    );
    assert_eq!(
        message("a.svm.gz", "1 1:2\n"),
        "a.svm.gz: the gzip data is truncated or corrupt (it does not start like a gzip file); \
         copy or compress the file again"
    );
    for (name, whole) in
        [("a.csv.gz", "f8.npy"), ("a.mtx.gz", "f8.npy"), ("a.npy.gz", "f8.npy"), ("a.npz.gz", "named.npz")]
    {
        let half = &gzip(&std::fs::read(golden(whole)).unwrap())[..40];
        assert!(message(name, half).contains("the gzip data is truncated or corrupt"), "{name}");
    }
    assert!(message("a.svm.gz", gzip(b"")).contains("no data (0 rows, 0 columns)"));
}

#[test]
fn names_of_files() {
    let known = ".svm, .libsvm, .mtx, .npy, .npz, .mat, .csv, .tsv, .parquet, .arrow, .feather, .xlsx, .xls, .xlsb, .ods, .json, .jsonl, .ndjson, .txt, .dat, .data, .tab, .asc, .prn, .raw, .gct";
    assert_eq!(
        message("a.xyz", "1 2\n"),
        format!(
            "`a.xyz`: the extension .xyz is not that of a known format; \
             rename the file so that it ends in one of {known} (each also .gz, .bz2, .xz)"
        )
    );
    assert_eq!(
        message("a9a", "1 2\n"),
        format!(
            "`a9a`: the name has no extension to tell the format; \
             rename the file so that it ends in one of {known} (each also .gz, .bz2, .xz)"
        )
    );
    let missing = load("no/such.svm", &LoadOptions::default()).unwrap_err();
    assert_eq!(
        missing.to_string(),
        format!(
            "`no/such.svm`: no such file; DATA can be an existing file ({known}, each also .gz, .bz2, .xz), - for standard input, \
             randn:M:N[:SEED], sparse-randn:M:N:NNZ[:SEED], spiked:zht[:M[:SEED]], \
             spiked:M:N:R:NNZ[:SNR[:SEED]], laplace:N, laplace2:P:Q or builtin:pitprops"
        )
    );
    assert!(matches!(load("rand:3:4", &LoadOptions::default()), Err(DataError::NotFound { .. })));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("survey.csv"), "1,2\n").unwrap();
    for asked in ["survey.cvs", "Survey.CSV", "survy.csv"] {
        let missing = load(folder.path().join(asked), &LoadOptions::default()).unwrap_err().to_string();
        assert!(missing.contains("no such file; did you mean `"), "{missing}");
        assert!(missing.ends_with("survey.csv`?"), "{missing}");
    }
    assert!(read("A.SVM", "1 1:2\n").is_ok(), "case does not matter");
}

#[test]
fn writing_that_fails() {
    let data = DataSet::new(faer::Mat::<f64>::identity(2, 2), "x");
    let error = write_file(Path::new("no/such/folder/a.csv"), &data).unwrap_err().to_string();
    assert!(error.starts_with("cannot write `no/such/folder/a.csv`: "), "{error}");
    let elsewhere = Path::new(error.split('`').nth(3).unwrap());
    assert_eq!(std::fs::read_to_string(elsewhere).unwrap(), "x1,x2\n1,0\n0,1\n");
    std::fs::remove_file(elsewhere).unwrap();
    let error = write_file(Path::new("a.xlsx"), &data).unwrap_err();
    assert!(matches!(error, DataError::UnknownFormat { .. }), "{error}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn tables_of_a_feature_that_is_not_there() {
    for name in ["a.parquet", "a.arrow", "a.feather", "a.PARQUET"] {
        assert_eq!(
            message(name, b"PAR1"),
            format!(
                "{name}: this build does not read Parquet and Arrow files: build it with the feature `parquet` (`cargo \
                 install --locked --path crates/orthopt-cli --features parquet`), convert the file to .csv or .npy, or \
                 solve in Python, which reads it with pyarrow or polars"
            )
        );
    }
}

/// `a,b\n1,2\n3,5\n4,4\n` as Python's lzma and bz2 compress it.
const XZ: [u8; 72] = [
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16,
    0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x0f, 0x61, 0x2c, 0x62, 0x0a, 0x31, 0x2c, 0x32,
    0x0a, 0x33, 0x2c, 0x35, 0x0a, 0x34, 0x2c, 0x34, 0x0a, 0x00, 0x01, 0x26, 0x68, 0xe4, 0xa1, 0xba, 0x5c,
    0x86, 0x00, 0x01, 0x28, 0x10, 0xe5, 0x0b, 0x6c, 0x60, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x04, 0x59, 0x5a,
];
const BZIP2: [u8; 52] = [
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x89, 0x69, 0xc6, 0x45, 0x00, 0x00, 0x07,
    0x59, 0x00, 0x00, 0x10, 0x00, 0x04, 0x3e, 0x00, 0x30, 0x00, 0x20, 0x00, 0x22, 0x1e, 0xa0, 0x64, 0x20,
    0xc9, 0x88, 0x78, 0x97, 0x09, 0xa6, 0x00, 0x1e, 0x2e, 0xe4, 0x8a, 0x70, 0xa1, 0x21, 0x12, 0xd3, 0x8c,
    0x8a,
];

#[test]
fn other_compressions_are_read_whatever_the_name() {
    for (bytes, word, extension) in [(&XZ[..], "xz", "xz"), (&BZIP2[..], "bzip2", "bz2")] {
        for name in [&format!("a.csv.{extension}"), "a.csv", &format!("a.CSV.{}", extension.to_uppercase())] {
            let data = read(name, bytes).unwrap();
            assert_eq!(data.matrix.to_dense()[(1, 1)], 5.0, "{name}");
        }
        // cut anywhere it is an error of the file and neither a panic nor a shorter table
        for cut in 1..bytes.len() {
            assert!(read(&format!("a.csv.{extension}"), &bytes[..cut]).is_err(), "{word} {cut}");
        }
        let told = message(&format!("a.csv.{extension}"), &bytes[..bytes.len() - 9]);
        assert!(told.contains(&format!("the {word} data is truncated or corrupt")), "{told}");
        assert!(
            message(&format!("b.csv.{extension}"), "1,2\n")
                .contains(&format!("it does not start like a {word} file"))
        );
        let error = orthopt_data::check_writable(Path::new(&format!("c.csv.{extension}"))).unwrap_err();
        assert!(error.to_string().contains("compressed as .gz"), "{error}");
    }
    assert!(read("BZhang.csv", "BZhang,b\n1,2\n3,4\n").is_ok(), "a name is no compression");
}

/// Files of the LIBSVM page have no extension, or one that says something else.
#[test]
fn names_without_a_format_are_recognised_by_their_first_bytes() {
    for name in ["w1a", "sector.scale", "E2006.train"] {
        assert!(read(name, "1 1:2 3:1\n-1 2:0.5\n").unwrap().matrix.is_sparse(), "{name}");
    }
    assert!(read("table", "1,2\n3,4\n").is_err(), "a table may be anything");
}
