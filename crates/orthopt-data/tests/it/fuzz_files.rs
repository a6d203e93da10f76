//! Every reader of files against damaged ones: what comes back is a matrix that fits together, or an error of one
//! line that names the file; never a panic, and no more memory than is allowed.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use orthopt_data::stream::Parts;
use orthopt_data::{
    DataError, DataSet, LoadOptions, Matrix, Missing, Role, Rows, TableOptions, read_file, read_names,
};
use orthopt_fuzz::{mutated, one_line, pick, run};
use rand::RngExt;
use rand_pcg::Pcg64;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::common::{golden, gzip};

/// The most memory that a reader is given.
const MEMORY: u64 = 50_000_000;

fn options(rng: &mut Pcg64) -> LoadOptions {
    let missing = pick(rng, &[Missing::Error, Missing::Error, Missing::Mean, Missing::Drop, Missing::Em]);
    let features = pick(rng, &[None, None, Some(3), Some(70)]);
    LoadOptions { missing, features, max_memory: Some(MEMORY), table: table(rng), ..LoadOptions::default() }
}

/// Options of tables with some values each; most are left open.
fn table(rng: &mut Pcg64) -> TableOptions {
    const VALUES: [(&str, &[&str]); 12] = [
        ("header", &["yes", "no", "2"]),
        ("drop-rows", &["none", "1", "Total,2"]),
        ("skip", &["1", "3"]),
        ("footer", &["1", "20"]),
        ("strip", &["1", "1-2", "b"]),
        ("columns", &["1-2", "a*,2", "2-", "x,1"]),
        ("drop", &["text", "1", "2,a", "?"]),
        ("row-names", &["none", "1", "2"]),
        ("na", &["-999", "1,<LOD", "\"a,b\""]),
        ("decimal", &[",", "."]),
        ("thousands", &["none", "space", "'"]),
        ("transpose", &["true", "false"]),
    ];
    let mut table = TableOptions::default();
    for (name, values) in VALUES {
        if rng.random_range(0..6) == 0 {
            table.set(name, pick(rng, values)).unwrap();
        }
    }
    table
}

/// Reads the bytes as a file of this name, whole and part by part.
fn check(folder: &Path, name: &str, bytes: &[u8], options: &LoadOptions) {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let whole = read_file(&path, options);
    match &whole {
        Ok(data) => consistent(data),
        Err(error) => readable(error, name),
    }
    match (in_parts(&path, options), &whole) {
        (Ok(Some(rows)), Ok(data)) if data.role == Role::Samples => same(&rows, &data.matrix),
        (Err(error), _) => readable(&error, name),
        _ => {}
    }
}

fn readable(error: &DataError, name: &str) {
    let message = error.to_string();
    one_line(&message);
    assert!(message.contains(name), "the message names no file: {message}");
}

fn consistent(data: &DataSet) {
    let (rows, columns) = (data.matrix.nrows(), data.matrix.ncols());
    assert!(rows > 0 && columns > 0);
    let lengths =
        |names: &Option<Vec<String>>, count| names.as_ref().is_none_or(|names| names.len() == count);
    assert!(lengths(&data.names, columns), "{:?} for {columns} columns", data.names);
    assert!(lengths(&data.row_names, rows), "{:?} for {rows} rows", data.row_names);
    assert!(data.labels.as_ref().is_none_or(|labels| labels.len() == rows));
    assert!(data.role == Role::Samples || rows == columns);
    for j in 0..columns {
        match &data.matrix {
            Matrix::Dense(a) => assert!(a.col_as_slice(j).iter().all(|v| v.is_finite())),
            Matrix::Sparse(a) => {
                assert!(a.val_of_col(j).iter().all(|v| v.is_finite() && *v != 0.0));
                let at: Vec<usize> = a.row_idx_of_col(j).collect();
                assert!(
                    at.iter().all(|i| *i < rows) && at.windows(2).all(|pair| pair[0] < pair[1]),
                    "{at:?}"
                );
            }
        }
    }
}

/// The entries of a row that are stored.
type Row = Vec<(usize, f64)>;

/// All rows in chunks of a few numbers; `None` where missing values can only be seen to with all rows.
fn in_parts(path: &Path, options: &LoadOptions) -> Result<Option<Vec<Row>>, DataError> {
    if matches!(options.missing, Missing::Mean | Missing::Em) {
        return Ok(None);
    }
    let files = [path.to_path_buf()];
    let mut parts = Parts::new(&files, options)?;
    let mut rows = Vec::new();
    while let Some(chunk) = parts.next_chunk(7)? {
        let body = chunk.rows();
        rows.extend((0..body.len()).map(|i| match body {
            Rows::Dense(a) => (0..a.ncols()).map(|j| (j, a[(i, j)])).collect(),
            Rows::Sparse(sparse) => {
                let (at, values) = sparse.row(i);
                at.iter().copied().zip(values.iter().copied()).collect::<Row>()
            }
        }));
    }
    Ok(Some(rows))
}

/// The rows of the chunks are those of the matrix.
fn same(rows: &[Row], matrix: &Matrix) {
    assert_eq!(rows.len(), matrix.nrows());
    if matrix.nrows().saturating_mul(matrix.ncols()) > 1 << 20 {
        return; // too many zeros to write out
    }
    let mut left = matrix.to_dense();
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|(j, v)| left[(i, *j)] -= v);
    }
    assert!(
        (0..left.ncols()).all(|j| left.col_as_slice(j).iter().all(|v| *v == 0.0)),
        "{rows:?}\n{matrix:?}"
    );
}

/// Files of one format: some damaged, some damaged and then compressed, some compressed and then damaged.
fn target(name: &str, cases: u64, extension: &str, valid: &[Vec<u8>], damage: Damage) {
    let folder = TempDir::new().unwrap();
    let valid: Vec<&[u8]> = valid.iter().map(Vec::as_slice).collect();
    let (plain, packed) = (format!("a.{extension}"), format!("a.{extension}.gz"));
    run(name, cases, |rng| {
        let options = options(rng);
        let (bytes, other) = (pick(rng, &valid), pick(rng, &valid));
        match rng.random_range(0..16) {
            0 => check(folder.path(), &packed, &mutated(rng, &gzip(bytes), other), &options),
            1 => check(folder.path(), &packed, &gzip(&damage(rng, bytes, other)), &options),
            _ => check(folder.path(), &plain, &damage(rng, bytes, other), &options),
        }
    });
}

type Damage = fn(&mut Pcg64, &[u8], &[u8]) -> Vec<u8>;

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn files(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| std::fs::read(golden(name)).unwrap()).collect()
}

#[test]
fn fuzz_libsvm() {
    let valid = [
        "1 1:2 3:4.5\n-1 2:1e-3 # a comment\n+1 1:-7 2:3 3:1\n",
        "# first\n0 5:1\n\n0 1:1 70:2.25\n",
        "0.5 1:1\n-0.25 2:2\n",
    ];
    target("libsvm", 1500, "svm", &texts(&valid), mutated);
}

#[test]
fn fuzz_matrix_market() {
    let mut valid = files(&["coordinate.mtx", "array_symmetric_of_aat.mtx"]);
    valid.extend(texts(&[
        "%%MatrixMarket matrix coordinate pattern general\n% c\n3 4 3\n1 1\n2 4\n3 2\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 -4\n3 1 5\n",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2.5\n3 1 1e2\n3 3 1\n",
        "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
    ]));
    target("matrix_market", 1500, "mtx", &valid, mutated);
}

#[test]
fn fuzz_npy() {
    let valid = files(&["f8.npy", "f8_fortran.npy", "f4_big_endian_of_10a.npy"]);
    target("npy", 1500, "npy", &valid, damaged_array);
}

/// A damaged array, more often than not with a length of the header that fits again.
fn damaged_array(rng: &mut Pcg64, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = mutated(rng, bytes, other);
    if let Some(end) = bytes.iter().skip(10).position(|b| *b == b'\n')
        && rng.random_range(0..4) > 0
    {
        bytes[8..10].copy_from_slice(&(end as u16 + 1).to_le_bytes());
    }
    bytes
}

#[test]
fn fuzz_npz() {
    target("npz", 1500, "npz", &files(&["named.npz", "csr.npz", "csc.npz", "coo.npz"]), damaged_archive);
}

#[test]
fn fuzz_mat() {
    target("mat", 1500, "mat", &files(&["full.mat", "compressed.mat", "csc.mat", "i2_of_10a.mat"]), mutated);
}

/// A damaged archive, or one with damaged arrays whose checksums are right.
fn damaged_archive(rng: &mut Pcg64, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    if rng.random_range(0..4) == 0 {
        return mutated(rng, bytes, other);
    }
    let mut from = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    let chosen = rng.random_range(0..from.len());
    for k in 0..from.len() {
        let mut member = from.by_index(k).unwrap();
        let (name, mut array) = (member.name().unwrap().to_string(), Vec::new());
        member.read_to_end(&mut array).unwrap();
        if k == chosen {
            array = damaged_array(rng, &array, &[]);
        }
        out.start_file(name, SimpleFileOptions::default()).unwrap();
        out.write_all(&array).unwrap();
    }
    out.finish().unwrap().into_inner()
}

const TABLES: [&str; 6] = [
    "a,b,c\n1,2,3\n4,5.5,-6e2\n",
    "\"name, first\",\"x\"\"y\",z\nanna,1,2\nbob,3,4\ncarl,5,\n",
    "1;2,5;3\n4;5,25;6\n",
    "id;x;y\r\n1;NA;2,5\r\n2;3;4\r\n",
    "\u{feff},v1,v2\nr1,1,nan\nr2,0.25,-7\nr3,1e-3,2\n",
    "1.5\n2\n3\n",
];

#[test]
fn fuzz_csv() {
    target("csv", 2000, "csv", &texts(&TABLES), mutated);
}

#[test]
fn fuzz_tsv() {
    let tables = TABLES.map(|text| text.replace([',', ';'], "\t"));
    target("tsv", 1000, "tsv", &texts(&tables.each_ref().map(String::as_str)), mutated);
}

#[test]
fn fuzz_txt() {
    let mut valid = texts(&TABLES);
    valid.extend(texts(&["x y  z\n1 2 3\n 4 5 6\n", "a\tb\n1\t2\n3\t4\n", "1 2\n\n3 4\n"]));
    target("txt", 2000, "txt", &valid, mutated);
}

#[cfg(feature = "spreadsheet")]
#[test]
fn fuzz_xlsx() {
    target("xlsx", 300, "xlsx", &files(&["table.xlsx"]), damaged_archive);
}

#[test]
fn fuzz_names() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("names.txt");
    run("names", 500, |rng| {
        std::fs::write(
            &path,
            mutated(rng, b"anna\nbob\r\n\"carl, the 3rd\"\n\xc3\xa4\n", TABLES[1].as_bytes()),
        )
        .unwrap();
        match read_names(&path) {
            Ok(names) => assert!(!names.is_empty()),
            Err(error) => readable(&error, "names.txt"),
        }
    });
}

/// Files that were read wrongly once.
#[test]
fn files_of_the_corpus() {
    let folder = TempDir::new().unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(golden("fuzz")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for missing in [Missing::Error, Missing::Mean, Missing::Drop, Missing::Em] {
            let options = LoadOptions { missing, max_memory: Some(MEMORY), ..LoadOptions::default() };
            check(folder.path(), path.file_name().unwrap().to_str().unwrap(), &bytes, &options);
        }
        count += 1;
    }
    assert!(count > 0, "the corpus is missing");
}
