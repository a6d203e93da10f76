//! Small files that hold very much, and files without an end: an error while they are read, before they have
//! taken the memory or the afternoon.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use orthopt_data::{LoadOptions, load, read_file, read_names};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn options() -> LoadOptions {
    LoadOptions { max_memory: Some(50_000_000), ..LoadOptions::default() }
}

/// `piece` so many times, compressed.
fn gzipped(piece: &[u8], times: usize) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    (0..times).for_each(|_| out.write_all(piece).unwrap());
    out.finish().unwrap()
}

fn error(name: &str, bytes: &[u8]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_file(&path, &options()).unwrap_err().to_string()
}

#[test]
fn one_word_without_an_end() {
    let bomb = gzipped(&[b'7'; 1 << 16], 1 << 12); // 268 MB
    for extension in ["csv", "tsv", "txt", "svm", "mtx"] {
        let found = error(&format!("a.{extension}.gz"), &bomb);
        assert!(found.contains(":1: a word of more than 1 MB"), "{extension}: {found}");
    }
}

#[test]
fn one_line_without_an_end() {
    let bomb = gzipped(&[b"1,2,".as_slice(); 1 << 14].concat(), 1 << 12);
    let found = error("a.csv.gz", &bomb);
    assert!(found.contains("of memory are needed, and 50 MB are allowed"), "{found}");
}

#[test]
fn one_quoted_field_without_an_end() {
    let bomb = [gzipped(b"\"", 1), gzipped(&[b"a b\n".as_slice(); 1 << 14].concat(), 1 << 12)].concat();
    let found = error("a.csv.gz", &bomb);
    assert!(found.contains(":1: a quoted field of more than 1 MB; a quote is missing"), "{found}");
}

#[test]
fn more_numbers_than_there_is_room_for() {
    let rows = gzipped(&[b"0,0,0,0\n".as_slice(); 1 << 12].concat(), 1 << 9); // 8 million numbers
    assert!(error("a.csv.gz", &rows).contains("are needed, and 50 MB are allowed"));
    let rows = gzipped(&[b"1 1:1 2:1 3:1 4:1\n".as_slice(); 1 << 12].concat(), 1 << 7);
    assert!(error("a.svm.gz", &rows).contains("are needed, and 50 MB are allowed"));
    let start = gzipped(b"%%MatrixMarket matrix array real general\n4000000 2\n", 1);
    let rows = gzipped(&[b"1\n".as_slice(); 1 << 12].concat(), 1 << 11);
    assert!(error("a.mtx.gz", &[start, rows].concat()).contains("are needed, and 50 MB are allowed"));
    let start = gzipped(b"%%MatrixMarket matrix coordinate real general\n9 9 4000000\n", 1);
    let rows = gzipped(&[b"1 1 1\n".as_slice(); 1 << 12].concat(), 1 << 9);
    assert!(error("a.mtx.gz", &[start, rows].concat()).contains("are needed, and 50 MB are allowed"));
}

#[test]
fn sizes_without_entries() {
    let wide = "%%MatrixMarket matrix coordinate real general\n3 16700000 1\n1 1 1\n";
    let found = error("a.mtx", wide.as_bytes());
    assert!(found.contains("at least 267 MB of memory are needed, and 50 MB are allowed"), "{found}");
    assert!(error("a.svm", b"1 16700000:1\n").contains("are needed, and 50 MB are allowed"));
}

#[test]
fn an_archive_of_bools() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut zip = ZipWriter::new(&mut bytes);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("X.npy", options).unwrap();
    let text = format!("{{'descr': '|b1', 'fortran_order': False, 'shape': ({}, 1000), }}\n", 1 << 15);
    zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
    zip.write_all(&(text.len() as u16).to_le_bytes()).unwrap();
    zip.write_all(text.as_bytes()).unwrap();
    (0..1000).for_each(|_| zip.write_all(&[1; 1 << 15]).unwrap());
    zip.finish().unwrap();
    let bytes = bytes.into_inner();
    assert!(bytes.len() < 200_000, "{}", bytes.len());
    let found = error("a.npz", &bytes);
    assert!(found.contains("are needed, and 50 MB are allowed"), "{found}");
    assert!(error("a.npz", &gzipped(&bytes, 1)).contains("are needed, and 50 MB are allowed"));
}

#[test]
fn generators() {
    for spec in [
        "laplace:16777216",
        "laplace2:4000:4000",
        "randn:10000:10000",
        "spiked:9000:9000:2:2",
        "sparse-randn:99:99000:9000000",
        "spiked:zht:9000000",
    ] {
        let found = load(spec, &options()).unwrap_err().to_string();
        assert!(found.contains("of memory are needed, and 50 MB are allowed"), "{spec}: {found}");
    }
    assert!(load("randn:100:100", &options()).is_ok());
}

#[cfg(unix)]
#[test]
fn zeros_without_an_end() {
    let folder = TempDir::new().unwrap();
    for extension in ["csv", "tsv", "txt", "svm", "mtx", "npy", "npz"] {
        let path = folder.path().join(format!("zero.{extension}"));
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let found = read_file(&path, &LoadOptions::default()).unwrap_err().to_string();
        assert!(found.contains("zero."), "{found}");
    }
    assert!(read_names(Path::new("/dev/zero")).unwrap_err().to_string().contains("a word of more than 1 MB"));
}
