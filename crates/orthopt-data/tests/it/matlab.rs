//! MATLAB files, as SciPy writes them and made by hand.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use orthopt_data::{DataSet, LoadOptions, Matrix, read_file};
use tempfile::TempDir;

use crate::common::{bits, golden, golden_matrix};

#[test]
fn files_of_scipy() {
    for (name, labels) in [("full.mat", true), ("compressed.mat", true), ("csc.mat", false)] {
        let data = read_file(&golden(name), &LoadOptions::default()).unwrap();
        assert_eq!(bits(&data.matrix), bits(&golden_matrix().into()), "{name}");
        assert_eq!(data.matrix.is_sparse(), name == "csc.mat");
        assert_eq!(data.labels, labels.then_some(vec![1.0, -1.0, 1.0]), "{name}");
    }
    // the only matrix beside a vector, of whole numbers of 16 bits
    let data = read_file(&golden("i2_of_10a.mat"), &LoadOptions::default()).unwrap();
    let Matrix::Dense(tens) = data.matrix else { panic!("dense") };
    assert_eq!(tens, golden_matrix() * faer::Scale(10.0));
}

/// Writes files of either byte order.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

impl Order {
    fn word(self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn element(self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut out = [self.word(kind), self.word(data.len() as u32)].concat();
        out.extend(data);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    fn words(self, kind: u32, values: &[u32]) -> Vec<u8> {
        self.element(kind, &values.iter().flat_map(|v| self.word(*v)).collect::<Vec<_>>())
    }

    fn doubles(self, values: &[f64]) -> Vec<u8> {
        let bytes = |v: &f64| if self.big { v.to_be_bytes() } else { v.to_le_bytes() };
        self.element(9, &values.iter().flat_map(bytes).collect::<Vec<_>>())
    }

    /// A matrix of this class with flags, sizes, a name and parts.
    fn matrix(self, flags: u32, sizes: &[u32], name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
        let head = [self.words(6, &[flags, 0]), self.words(5, sizes), self.element(1, name.as_bytes())];
        self.element(14, &[head.concat(), parts.concat()].concat())
    }

    fn file(self, elements: &[Vec<u8>]) -> Vec<u8> {
        let mut out = b"MATLAB 5.0 MAT-file, by hand".to_vec();
        out.resize(124, b' ');
        out.extend(if self.big { *b"\x01\x00MI" } else { *b"\x00\x01IM" });
        out.extend(elements.concat());
        out
    }
}

const LITTLE: Order = Order { big: false };

fn read(folder: &Path, bytes: &[u8]) -> Result<DataSet, String> {
    let path = folder.join("a.mat");
    std::fs::write(&path, bytes).unwrap();
    let options = LoadOptions { max_memory: Some(50_000_000), ..LoadOptions::default() };
    read_file(&path, &options).map_err(|error| error.to_string())
}

#[test]
fn both_byte_orders() {
    let folder = TempDir::new().unwrap();
    for order in [LITTLE, Order { big: true }] {
        let full = order.matrix(6, &[2, 3], "a", &[order.doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5])]);
        let found = read(folder.path(), &order.file(&[full])).unwrap();
        let Matrix::Dense(found) = found.matrix else { panic!("dense") };
        assert_eq!((found[(1, 0)], found[(0, 1)], found[(1, 2)]), (2.0, 3.0, 6.5));
        // room for more entries than there are, and rows that are out of order
        let parts =
            [order.words(5, &[1, 0, 1, 9]), order.words(5, &[0, 2, 2, 3]), order.doubles(&[4.0, 5.0, 6.0])];
        let sparse = order.matrix(5, &[2, 3], "s", &parts);
        let found = read(folder.path(), &order.file(&[sparse])).unwrap();
        assert!(found.matrix.is_sparse() && found.matrix.nnz() == 3);
        let dense = found.matrix.to_dense();
        assert_eq!((dense[(0, 0)], dense[(1, 0)], dense[(1, 2)]), (5.0, 4.0, 6.0));
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = TempDir::new().unwrap();
    let (o, six) = (LITTLE, LITTLE.doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let named = |name: &str| o.matrix(6, &[2, 3], name, std::slice::from_ref(&six));
    let sparse = |places: &[u32], starts: &[u32]| {
        o.matrix(5, &[2, 3], "s", &[o.words(5, places), o.words(5, starts), o.doubles(&[4.0, 5.0])])
    };
    let cases = [
        (o.file(&[]), "no numeric matrix"),
        (o.file(&[named("b"), named("c")]), "2 numeric arrays (`b`, `c`); name the data X, data, fea or A"),
        (o.file(&[o.matrix(6, &[2, 2], "a", std::slice::from_ref(&six))]), "6 numbers for 2 x 2"),
        (o.file(&[o.matrix(6, &[1, 2, 3], "a", std::slice::from_ref(&six))]), "3 dimensions, not two"),
        (o.file(&[o.matrix(6 + 2048, &[2, 3], "a", &[six.clone(), six.clone()])]), "complex numbers"),
        (o.file(&[o.matrix(6, &[0, 3], "a", &[o.doubles(&[])])]), "it is empty"),
        (o.file(&[o.matrix(4, &[1, 2], "text", &[o.words(4, &[1])])]), "no numeric matrix"),
        (o.file(&[sparse(&[0, 2], &[0, 1, 1, 2])]), "an entry is outside of its 2 rows"),
        (o.file(&[sparse(&[0, 1], &[0, 2, 1, 2])]), "the starts of its columns do not fit"),
        (o.file(&[sparse(&[0, 1], &[0, 1, 1, 3])]), "lacks some of its 3 entries"),
        (o.file(&[named("a")])[..150].to_vec(), "the end is missing"),
        ([b"MATLAB 7.3 MAT-file".as_slice(), &[b' '; 200]].concat(), "version 7.3 (HDF5); in MATLAB, save("),
        (vec![0; 200], "no MATLAB file of level 5"),
    ];
    for (bytes, expected) in cases {
        let error = read(folder.path(), &bytes).unwrap_err();
        assert!(error.contains(expected) && error.contains("a.mat"), "{expected}: {error}");
    }
}

/// Zeros that take little room in a file, and a size that no file could have.
#[test]
fn memory_is_kept() {
    let folder = TempDir::new().unwrap();
    let zeros = LITTLE.matrix(6, &[4000, 4000], "a", &[LITTLE.element(9, &vec![0; 128_000_000])]);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&zeros).unwrap();
    let packed = zlib.finish().unwrap();
    let mut element = [LITTLE.word(15), LITTLE.word(packed.len() as u32)].concat();
    element.extend(&packed);
    assert!(element.len() < 2_000_000);
    let error = read(folder.path(), &LITTLE.file(&[element])).unwrap_err();
    assert!(error.contains("are needed, and 50 MB are allowed"), "{error}");
    let huge = LITTLE.matrix(6, &[u32::MAX >> 1, u32::MAX >> 1], "a", &[LITTLE.doubles(&[1.0])]);
    assert!(read(folder.path(), &LITTLE.file(&[huge])).unwrap_err().contains("1 numbers for"));
}
