//! Tables in Parquet and Arrow IPC files, written here by the crates of Arrow and read back.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int8Array, Int64Array, LargeStringArray, ListArray, NullArray, RecordBatch, StringArray, StringViewArray,
    UInt32Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use faer::{Mat, mat};
use orthopt_data::stream::{Accumulate, Parts, accumulate};
use orthopt_data::{DataSet, LoadOptions, Missing, load, read_file, write_file};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

type Column = (&'static str, ArrayRef);

fn column(name: &'static str, array: impl Array + 'static) -> Column {
    (name, Arc::new(array))
}

fn table(columns: Vec<Column>) -> RecordBatch {
    table_with(columns, HashMap::new())
}

fn table_with(columns: Vec<Column>, metadata: HashMap<String, String>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new_with_metadata(fields, metadata)), arrays).unwrap()
}

fn parquet_bytes(table: &RecordBatch, compression: Compression, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression);
    let properties = properties.set_max_row_group_row_count(Some(group)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    bytes
}

fn ipc_bytes(table: &RecordBatch, compression: Option<CompressionType>, batch: usize) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &table.schema(), options).unwrap();
    for first in (0..table.num_rows()).step_by(batch) {
        writer.write(&table.slice(first, batch.min(table.num_rows() - first))).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn stream_bytes(table: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &table.schema()).unwrap();
    writer.write(table).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// The table in every form: names of files and what is in them.
fn forms(table: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zipped.write_all(&parquet_bytes(table, Compression::UNCOMPRESSED, 1 << 20)).unwrap();
    vec![
        ("plain.parquet", parquet_bytes(table, Compression::UNCOMPRESSED, 1 << 20)),
        ("snappy.parquet", parquet_bytes(table, Compression::SNAPPY, 2)),
        ("zstd.PARQUET", parquet_bytes(table, zstd, 3)),
        ("gzip.parquet", parquet_bytes(table, Compression::GZIP(GzipLevel::default()), 1 << 20)),
        ("lz4.parquet", parquet_bytes(table, Compression::LZ4_RAW, 1 << 20)),
        ("zipped.parquet.gz", zipped.finish().unwrap()),
        ("plain.arrow", ipc_bytes(table, None, 2)),
        ("lz4.feather", ipc_bytes(table, Some(CompressionType::LZ4_FRAME), 1 << 20)),
        ("zstd.feather", ipc_bytes(table, Some(CompressionType::ZSTD), 3)),
        ("stream.arrow", stream_bytes(table)),
    ]
}

fn with(missing: Missing) -> LoadOptions {
    LoadOptions { missing, ..LoadOptions::default() }
}

fn written(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Results for every form of the table.
fn each(table: &RecordBatch, options: &LoadOptions, look: impl Fn(&str, DataSet)) {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in forms(table) {
        let data = read_file(&written(&folder, name, &bytes), options);
        look(name, data.unwrap_or_else(|error| panic!("{name}: {error}")));
    }
}

/// The message that reading gives, with the bare name of the file.
fn message(name: &str, bytes: &[u8], options: &LoadOptions) -> String {
    let folder = TempDir::new().unwrap();
    let error = read_file(&written(&folder, name, bytes), options).unwrap_err().to_string();
    let place = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    assert!(error.contains(&place), "the message names no file: {error}");
    error.replace(&place, "")
}

/// The message that every form of the table gives, after the name of the file.
fn each_message(table: &RecordBatch, expected: &str) {
    for (name, bytes) in forms(table) {
        let found = message(name, &bytes, &LoadOptions::default());
        assert_eq!(found.strip_prefix(&format!("{name}: ")), Some(expected));
    }
}

fn text(words: &[&str]) -> Option<Vec<String>> {
    Some(words.iter().map(|word| word.to_string()).collect())
}

#[test]
fn numbers_of_all_types_and_names() {
    let decimal = Decimal128Array::from(vec![125, -250, 0]).with_precision_and_scale(9, 2).unwrap();
    let all = table(vec![
        column("city", StringArray::from(vec!["Rome", "Paris", "São Paulo"])),
        column("i8", Int8Array::from(vec![-128, 0, 127])),
        column("i64", Int64Array::from(vec![1 << 53, -3, 4])),
        column("u32", UInt32Array::from(vec![u32::MAX, 0, 1])),
        column("f32", Float32Array::from(vec![0.5, -1.25, 3.0])),
        column("f64", Float64Array::from(vec![0.1, -0.0, 1e-300])),
        column("bool", BooleanArray::from(vec![true, false, true])),
        column("decimal", decimal),
    ]);
    let expected = mat![
        [-128.0, 9007199254740992.0, 4294967295.0, 0.5, 0.1, 1.0, 1.25],
        [0.0, -3.0, 0.0, -1.25, -0.0, 0.0, -2.5],
        [127.0, 4.0, 1.0, 3.0, 1e-300, 1.0, 0.0],
    ];
    each(&all, &LoadOptions::default(), |name, data| {
        let found = data.matrix.to_dense();
        assert_eq!(found, expected, "{name}");
        assert!(found[(1, 4)].is_sign_negative(), "{name}");
        assert_eq!(data.names, text(&["i8", "i64", "u32", "f32", "f64", "bool", "decimal"]), "{name}");
        assert_eq!(data.row_names, text(&["Rome", "Paris", "São Paulo"]), "{name}");
    });
}

#[test]
fn names_of_rows_are_those_of_text_tables() {
    let a = || column("a", Float64Array::from(vec![1.0, 2.0]));
    let categories: DictionaryArray<Int32Type> = ["x", "y"].into_iter().collect();
    let index = |name: &str| {
        HashMap::from([("pandas".to_string(), format!("{{\"index_columns\": [{name}], \"columns\": []}}"))])
    };
    let (words, days) = (|| StringArray::from(vec!["x", "y"]), Date32Array::from(vec![0, 20000]));
    let (xy, counted) = (text(&["x", "y"]), HashMap::new);
    for (columns, metadata, rows) in [
        (vec![a()], counted(), None),
        (vec![column("n", words()), a()], counted(), xy.clone()),
        (vec![column("n", LargeStringArray::from(vec!["x", "y"])), a()], counted(), xy.clone()),
        (vec![column("n", StringViewArray::from(vec!["x", "y"])), a()], counted(), xy.clone()),
        (vec![column("n", categories), a()], counted(), xy.clone()),
        (vec![column("n", StringArray::from(vec![Some("x"), None])), a()], counted(), text(&["x", ""])),
        (vec![column("day", days), a()], counted(), text(&["1970-01-01", "2024-10-04"])),
        // as read.csv and pandas take a first column without a name
        (vec![column("", Int64Array::from(vec![7, 8])), a()], counted(), text(&["7", "8"])),
        // pandas keeps its index behind the columns
        (vec![a(), column("n", words())], index("\"n\""), xy.clone()),
        (vec![a(), column("n", Int64Array::from(vec![7, 8]))], index("\"n\""), text(&["7", "8"])),
        (vec![a()], index("{\"kind\": \"range\", \"start\": 0}"), None),
    ] {
        each(&table_with(columns, metadata), &LoadOptions::default(), |name, data| {
            assert_eq!(data.matrix.to_dense(), mat![[1.0], [2.0]], "{name}");
            assert_eq!((data.names, data.row_names), (text(&["a"]), rows.clone()), "{name}");
        });
    }
}

#[test]
fn nulls_and_nan_are_missing_values() {
    let gaps = table(vec![
        column("id", StringArray::from(vec!["w", "x", "y", "z"])),
        column("a", Float64Array::from(vec![Some(1.0), Some(f64::NAN), Some(3.0), Some(5.0)])),
        column("b", Int64Array::from(vec![Some(10), Some(20), None, Some(60)])),
    ]);
    each(&gaps, &with(Missing::Mean), |name, data| {
        let filled = mat![[1.0, 10.0], [3.0, 20.0], [3.0, 30.0], [5.0, 60.0]];
        assert_eq!((data.matrix.to_dense(), data.missing), (filled, 2), "{name}");
    });
    each(&gaps, &with(Missing::Drop), |name, data| {
        assert_eq!(data.matrix.to_dense(), mat![[1.0, 10.0], [5.0, 60.0]], "{name}");
        assert_eq!(data.row_names, text(&["w", "z"]), "{name}");
    });
    each(&gaps, &with(Missing::Keep), |name, data| {
        let found = data.matrix.to_dense();
        assert!(found[(1, 0)].is_nan() && found[(2, 1)].is_nan(), "{name}");
    });
    let advice = "fill it in, remove the row or column, or choose how missing values are \
                  treated: mean (of the column), drop (the row) or em";
    each_message(&gaps, &format!("row 2, column 1 (`a`) has a missing value (`NaN`); {advice}"));
    let b = gaps.project(&[2, 1]).unwrap().slice(2, 2);
    each_message(&b, &format!("row 1, column 1 (`b`) has a missing value (null); {advice}"));
    let none = table(vec![column("a", Float64Array::from(vec![1.0])), column("b", NullArray::new(1))]);
    each_message(&none, &format!("row 1, column 2 (`b`) has a missing value (null); {advice}"));
    let infinite = table(vec![column("a", Float64Array::from(vec![1.0, f64::NEG_INFINITY]))]);
    each_message(
        &infinite,
        "the value in row 2, column 1 (counted from 1) is -inf; all values must be finite: remove the row or fill the \
         value in",
    );
}

#[test]
fn columns_that_are_no_numbers() {
    let a = || column("a", Float64Array::from(vec![1.0, 2.0]));
    let words = || StringArray::from(vec!["x", "y"]);
    let lists = || ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), Some(vec![])]);
    let days = || Date32Array::from(vec![1, 2]);
    // left out, and said; the first column of different words names the rows
    for (columns, rows) in [
        (vec![a(), column("b", words())], None),
        (vec![column("n", words()), a(), column("day", days())], text(&["x", "y"])),
        (vec![a(), column("l", lists())], None),
    ] {
        each(&table(columns), &LoadOptions::default(), |name, data| {
            assert_eq!((data.names, &data.row_names), (text(&["a"]), &rows), "{name}");
            assert_eq!(data.matrix.to_dense(), mat![[1.0], [2.0]], "{name}");
            let out = data.how.columns.iter().filter(|column| column.left_out.is_some()).count();
            assert!(out >= 1, "{name}: {:?}", data.how.columns);
        });
    }
    // words alone are no table
    for (name, bytes) in forms(&table(vec![column("alone", words())])) {
        let found = message(name, &bytes, &LoadOptions::default());
        assert!(found.starts_with(&format!("{name}: ")), "{found}");
    }
    let empty = table(vec![column("n", words()), a()]).slice(0, 0);
    each_message(&empty, "no data (0 rows, 1 columns); at least one of each is needed");
}

#[test]
fn files_of_pandas_and_polars() {
    let expected = mat![[1.5, 0.0, -2.0, 0.0], [0.0, 0.0, 0.1, 0.0], [0.0, 3.0, 0.0, 4.0]];
    for name in ["pandas_index.parquet", "pandas.feather", "polars.parquet", "polars.arrow"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let data = read_file(&path, &LoadOptions::default()).unwrap();
        assert_eq!(data.matrix.to_dense(), expected, "{name}");
        assert_eq!(
            (data.names, data.row_names),
            (text(&["a", "b", "c", "d"]), text(&["x", "y", "z"])),
            "{name}"
        );
    }
}

/// A table of normal numbers, with 2500 rows: several batches.
fn large() -> (Mat<f64>, RecordBatch) {
    let data = load("randn:2500:3:4", &LoadOptions::default()).unwrap().matrix.to_dense();
    let array = |j: usize| Float64Array::from(data.col_as_slice(j).to_vec());
    let columns = vec![
        column("n", StringArray::from_iter_values((0..2500).map(|i| format!("r{i}")))),
        column("a", array(0)),
        column("b", array(1)),
        column("c", array(2)),
    ];
    (data, table(columns))
}

fn together(path: &Path, numbers: usize) -> (Vec<Vec<f64>>, usize) {
    let (options, files) = (LoadOptions::default(), [path.to_path_buf()]);
    let mut parts = Parts::new(&files, &options).unwrap();
    let (mut rows, mut chunks) = (Vec::new(), 0);
    while let Some(chunk) = parts.next_chunk(numbers).unwrap() {
        let orthopt_data::Rows::Dense(a) = chunk.rows() else { panic!("a table is dense") };
        assert_eq!((chunk.first, a.ncols()), (rows.len(), 3));
        assert!(a.nrows() <= (numbers / 3).max(1));
        rows.extend((0..a.nrows()).map(|i| (0..3).map(|j| a[(i, j)]).collect::<Vec<_>>()));
        chunks += 1;
        assert!(parts.step().bytes <= parts.step().total);
    }
    assert_eq!(parts.names(), text(&["a", "b", "c"]).as_deref());
    (rows, chunks)
}

#[test]
fn rows_come_in_parts() {
    let (data, table) = large();
    let folder = TempDir::new().unwrap();
    for (name, bytes) in forms(&table) {
        let path = written(&folder, name, &bytes);
        assert_eq!(read_file(&path, &LoadOptions::default()).unwrap().matrix.to_dense(), data, "{name}");
        for (numbers, expected) in [(300, 26), (3 * 999, 3), (1 << 20, 1)] {
            let (rows, chunks) = together(&path, numbers);
            assert_eq!(chunks, expected, "{name} {numbers}");
            assert!(rows.len() == 2500, "{name}");
            rows.iter()
                .enumerate()
                .for_each(|(i, row)| (0..3).for_each(|j| assert_eq!(row[j], data[(i, j)])));
        }
        let request = Accumulate::default();
        let sums = accumulate(from_ref(&path), &request, None, &mut |_| ()).unwrap().sums;
        let difference = sums.gram().unwrap() - data.transpose() * &data;
        assert!(difference.norm_max() < 1e-9, "{name}: {}", difference.norm_max());
    }
}

#[test]
fn memory_is_limited() {
    let zeros = || Int8Array::from(vec![0; 1 << 20]);
    let table = table(vec![column("a", zeros()), column("b", zeros()), column("c", zeros())]);
    let some = LoadOptions { max_memory: Some(20_000_000), ..LoadOptions::default() };
    let group = 1 << 20;
    for (name, bytes) in [
        ("a.parquet", parquet_bytes(&table, Compression::SNAPPY, group)),
        ("a.arrow", ipc_bytes(&table, Some(CompressionType::ZSTD), group)),
        ("b.arrow", stream_bytes(&table)),
    ] {
        let found = message(name, &bytes, &some);
        assert!(found.contains("of memory are needed, and 20 MB are allowed"), "{name}: {found}");
    }
    let folder = TempDir::new().unwrap();
    let path = written(&folder, "a.parquet", &parquet_bytes(&table, Compression::SNAPPY, 1 << 20));
    let (files, mut rows, mut parts_read) = ([path], 0, 0);
    let mut parts = Parts::new(&files, &some).unwrap();
    while let Some(chunk) = parts.next_chunk(1 << 16).unwrap() {
        rows += chunk.rows().len();
        parts_read += 1;
    }
    assert!(rows == 1 << 20 && parts_read > 10, "{rows} rows in {parts_read} parts");
}

#[test]
fn files_that_are_something_else() {
    let options = LoadOptions::default();
    assert_eq!(
        message("a.parquet", b"a,b\n1,2\n", &options),
        "a.parquet: it is not a Parquet file: it does not begin with `PAR1`"
    );
    for name in ["a.arrow", "a.feather"] {
        let expected =
            format!("{name}: it is not an Arrow IPC (Feather) file: it does not begin with `ARROW1`");
        assert_eq!(message(name, b"a,b\n1,2\n", &options), expected);
    }
    let old = message("a.feather", b"FEA1\0\0\0\0", &options);
    assert!(old.starts_with("a.feather: it is a Feather file of version 1"), "{old}");
    let data = load("randn:3:2", &options).unwrap();
    let folder = TempDir::new().unwrap();
    let refused = write_file(&folder.path().join("a.parquet"), &data).unwrap_err().to_string();
    assert!(refused.contains("files of .parquet are read and not written; rename"), "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Whatever stands in a file: numbers or an error, and no panic.
#[test]
fn files_that_are_damaged() {
    let (_, large) = large();
    let table = large.slice(0, 40);
    for (name, bytes) in forms(&table) {
        let path = |bytes: &[u8]| {
            let folder = TempDir::new().unwrap();
            let path = written(&folder, name, bytes);
            (folder, path)
        };
        for length in (0..bytes.len()).step_by(bytes.len() / 40) {
            let (_folder, path) = path(&bytes[..length]);
            let found = read_file(&path, &LoadOptions::default());
            // a stream may end after any of its batches
            let whole = found.as_ref().is_ok_and(|data| name == "stream.arrow" && data.matrix.nrows() == 40);
            assert!(found.is_err() || whole, "{name} of {length} bytes was read");
        }
        for at in (0..bytes.len()).step_by(bytes.len() / 120 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            let (_folder, path) = path(&changed);
            let found = read_file(&path, &with(Missing::Keep));
            assert!(found.is_err() || found.is_ok_and(|data| data.matrix.ncols() > 0), "{name} at {at}");
        }
    }
}

/// Rows of totals are no samples here either, whether their name says so or the numbers alone.
#[test]
fn totals_are_no_samples() {
    let folder = TempDir::new().unwrap();
    let names = |last: &'static str| StringArray::from(vec!["u", "v", "w", "x", "y", last]);
    let a = Float64Array::from(vec![1.5, 2.0, 5.0, 3.0, 9.0, 20.5]);
    let b = Float64Array::from(vec![4.0, 1.5, 2.0, 8.0, 1.0, 16.5]);
    for (last, said) in
        [("Total", "row `Total` is no sample by the name"), ("z", "row `z` is the sum of the others")]
    {
        let table = table(vec![column("who", names(last)), column("a", a.clone()), column("b", b.clone())]);
        let path = folder.path().join("t.parquet");
        std::fs::write(&path, parquet_bytes(&table, Compression::UNCOMPRESSED, 2)).unwrap();
        let data = read_file(&path, &LoadOptions::default()).unwrap();
        assert_eq!((data.matrix.nrows(), data.row_names.as_ref().unwrap().len()), (5, 5));
        assert!(data.how.notes.iter().any(|note| note.to_string().starts_with(said)), "{:?}", data.how.notes);
        let mut options = LoadOptions::default();
        options.table.set("drop-rows", "none").unwrap();
        assert_eq!(read_file(&path, &options).unwrap().matrix.nrows(), 6);
    }
}

/// Rows of a stream, and what is said of it.
fn in_parts(path: &Path, options: &LoadOptions, numbers: usize) -> Result<(Vec<f64>, String), String> {
    let files = [path.to_path_buf()];
    let mut parts = Parts::new(&files, options).map_err(|error| error.to_string())?;
    let mut first = Vec::new();
    while let Some(chunk) = parts.next_chunk(numbers).map_err(|error| error.to_string())? {
        let orthopt_data::Rows::Dense(a) = chunk.rows() else { panic!("a table is dense") };
        first.extend((0..a.nrows()).map(|i| a[(i, 0)]));
    }
    let notes: Vec<String> = parts.how().unwrap().notes.iter().map(ToString::to_string).collect();
    Ok((first, notes.join("; ")))
}

/// Tables that end, begin or continue with rows that are no samples: the same rows are left when they are read whole, part by
/// part, and as text, and the same is said of them.
#[test]
fn rows_that_are_no_samples_are_those_of_tables_in_text() {
    let folder = TempDir::new().unwrap();
    let nan = f64::NAN;
    let mut all: Vec<(&str, Vec<(&str, [f64; 2])>, &str, Option<&[f64]>)> = Vec::new();
    let plain =
        [("u", [1.5, 4.0]), ("v", [2.0, 1.5]), ("w", [5.0, 2.0]), ("x", [3.0, 8.0]), ("y", [9.0, 1.0])];
    let with = |more: &[(&'static str, [f64; 2])], at: usize| {
        let mut rows = plain.to_vec();
        rows.splice(at..at, more.iter().copied());
        rows
    };
    let left: &[f64] = &[1.5, 2.0, 5.0, 3.0, 9.0];
    all.push(("a total by its name", with(&[("Total", [7.0, 7.0])], 5), "", Some(left)));
    all.push(("a total by its numbers", with(&[("z", [20.5, 16.5])], 5), "", Some(left)));
    all.push(("in front", with(&[("All rows", [7.0, 7.0])], 0), "", Some(left)));
    all.push(("of rows above", with(&[("North total", [3.5, 5.5])], 2), "", Some(left)));
    all.push(("statistics", with(&[("Mean", [4.1, 3.3]), ("SD", [3.0, 2.8])], 5), "", Some(left)));
    all.push(("a counter", with(&[("__no_feature", [1e6, 2e6])], 3), "", Some(left)));
    all.push(("nothing but a name", with(&[("Source: survey 2019", [nan, nan])], 5), "", Some(left)));
    all.push(("nothing but a name in front", with(&[("Wales", [nan, nan])], 1), "", Some(left)));
    all.push(("a total with a hole", with(&[("Total", [20.5, nan])], 5), "", Some(left)));
    all.push(("listed", with(&[("q", [1.0, 2.5])], 2), "q,6", Some(&[1.5, 2.0, 5.0, 3.0])));
    all.push(("listed and not there", plain.to_vec(), "q", None));
    all.push(("kept", with(&[("Total", [20.5, 16.5])], 5), "none", Some(&[1.5, 2.0, 5.0, 3.0, 9.0, 20.5])));
    for (name, rows, drop, left) in all {
        let words: Vec<&str> = rows.iter().map(|row| row.0).collect();
        let numbers = |j: usize| -> Vec<Option<f64>> {
            rows.iter().map(|row| Some(row.1[j]).filter(|value| !value.is_nan())).collect()
        };
        let table = table(vec![
            column("who", StringArray::from(words.clone())),
            column("a", Float64Array::from(numbers(0))),
            column("b", Float64Array::from(numbers(1))),
        ]);
        let cell = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let lines = rows.iter().map(|(word, v)| format!("{word},{},{}\n", cell(v[0]), cell(v[1])));
        let text = "who,a,b\n".to_string() + &lines.collect::<String>();
        let mut options = LoadOptions::default();
        if !drop.is_empty() {
            options.table.set("drop-rows", drop).unwrap();
        }
        let csv = written(&folder, "t.csv", text.as_bytes());
        let said = read_file(&csv, &options)
            .map(|data| data.how.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        for (file, bytes) in forms(&table).into_iter().chain([("t.csv", text.clone().into_bytes())]) {
            let path = written(&folder, file, &bytes);
            let whole = read_file(&path, &options).map_err(|error| error.to_string());
            let rows = whole.as_ref().ok().map(|data| data.matrix.to_dense().col_as_slice(0).to_vec());
            assert_eq!(rows.as_deref(), left, "{name}, {file}");
            for numbers in [2, 1000] {
                let parts = in_parts(&path, &options, numbers);
                assert_eq!(parts.as_ref().ok().map(|(rows, _)| &rows[..]), left, "{name}, {file} in parts");
                match (&whole, parts) {
                    (Ok(_), Ok((_, notes))) => assert_eq!(&notes, said.as_ref().unwrap(), "{name}, {file}"),
                    (Err(error), Err(other)) => assert_eq!(*error, other),
                    _ => panic!("{name}, {file}"),
                }
            }
        }
    }
}
