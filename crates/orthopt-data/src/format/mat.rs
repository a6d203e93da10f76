//! MATLAB files of level 5, from `save` (`-v6`, `-v7`) and `scipy.io.savemat`: numeric matrices, full or sparse.
//!
//! ```text
//! file       128 bytes of header, whose last four are version and byte order; then elements
//! element    type (u32), size in bytes (u32), data, zeros up to a multiple of eight bytes; up to four bytes of data share the
//!            eight with a type and a size of 16 bits each; type 15 is a compressed element
//! matrix     an element (type 14) of elements: class and flags, sizes, name, real parts; of sparse ones before them the rows of
//!            the entries and the starts of the columns
//! ```
//!
//! The MathWorks: MAT-File Format, chapter 1. Files of `save -v7.3` are HDF5 files.

use std::io::{self, Read};

use faer::sparse::SparseColMat;
use flate2::read::ZlibDecoder;

use crate::dataset::{DataSet, Matrix, zeros};
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::format::npy_header::ArrayError;
use crate::input::Input;
use crate::memory::Budget;
use crate::sparse::{Compressed, check_size};
use crate::stream::{Chunks, Whole};
use crate::text::show;

const HEADER: usize = 128;
/// Types of elements.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Classes of matrices: sparse, and the first and the last kind of full numbers.
const SPARSE: u32 = 5;
const NUMBERS: std::ops::RangeInclusive<u32> = 6..=15;
/// The flag of complex numbers.
const COMPLEX: u32 = 1 << 11;
/// Bytes that are read at a time.
const STEP: u64 = 1 << 16;
/// Bytes of sizes, and of a name, at most.
const SHORT: u64 = 1 << 10;

/// The matrices that are taken for the data when there are several, `fea` as in the collections of D. Cai.
const DATA_NAMES: [&str; 4] = ["X", "data", "fea", "A"];
/// The vectors that are taken for labels.
const LABEL_NAMES: [&str; 3] = ["y", "labels", "gnd"];

pub(super) fn read(mut input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    let bytes = input.read_rest()?;
    let file = File::of(&bytes, input.budget()).map_err(|problem| input.file_error(problem))?;
    let failed = |name: &str, error: ArrayError| match error {
        ArrayError::Memory(error) => error,
        ArrayError::Read(_) => input.file_error(format!("{}: the end is missing", show(name.as_bytes()))),
        ArrayError::Content(problem) => input.file_error(format!("{}: {problem}", show(name.as_bytes()))),
    };
    let variables = file.variables().map_err(|error| failed("an array", error))?;
    let chosen = chosen(&variables).map_err(|problem| input.file_error(problem))?;
    let matrix = file.matrix(chosen).map_err(|error| failed(&chosen.name, error))?;
    let mut data = DataSet::new(matrix, input.name());
    data.labels = file.labels(&variables, chosen, data.matrix.nrows());
    Ok(data)
}

/// A file may hold its variables in any order, so the whole is held.
pub(super) fn chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Ok(Box::new(Whole::new(read(input, options)?)))
}

/// A numeric variable.
struct Variable<'a> {
    name: String,
    sizes: Vec<usize>,
    class: u32,
    complex: bool,
    element: Element<'a>,
}

impl Variable<'_> {
    fn is_vector(&self) -> bool {
        self.sizes.len() == 2 && self.sizes.contains(&1)
    }

    /// Rows and columns.
    fn shape(&self) -> Result<(usize, usize), ArrayError> {
        if self.complex {
            return Err(content("it has complex numbers"));
        }
        match *self.sizes {
            [rows, columns] if rows > 0 && columns > 0 => Ok((rows, columns)),
            [_, _] => Err(content("it is empty")),
            _ => Err(content(&format!("it has {} dimensions, not two", self.sizes.len()))),
        }
    }
}

/// The variable of the data.
fn chosen<'v, 'a>(variables: &'v [Variable<'a>]) -> Result<&'v Variable<'a>, String> {
    let named = DATA_NAMES.iter().find_map(|name| variables.iter().find(|v| v.name == *name));
    if let Some(named) = named {
        return Ok(named);
    }
    let matrices: Vec<_> = variables.iter().filter(|v| !v.is_vector()).collect();
    match (matrices.as_slice(), variables) {
        ([only], _) => Ok(only),
        ([], [only]) => Ok(only),
        ([], []) => Err("the file holds no numeric matrix".into()),
        _ => {
            let shown: Vec<_> = variables.iter().take(8).map(|v| show(v.name.as_bytes())).collect();
            Err(format!(
                "the file holds {} numeric arrays ({}); name the data X, data, fea or A, or save them alone",
                variables.len(),
                shown.join(", ")
            ))
        }
    }
}

fn content(problem: &str) -> ArrayError {
    ArrayError::Content(problem.into())
}

/// An element of the file, as it is there.
#[derive(Clone, Copy)]
struct Element<'a> {
    bytes: &'a [u8],
    compressed: bool,
}

impl<'a> Element<'a> {
    /// From its first byte, or that of the element which is compressed in it.
    fn open(self) -> Box<dyn Read + 'a> {
        if self.compressed { Box::new(ZlibDecoder::new(self.bytes)) } else { Box::new(self.bytes) }
    }
}

/// A file of level 5.
struct File<'a> {
    elements: &'a [u8],
    big_endian: bool,
    budget: &'a Budget,
}

impl<'a> File<'a> {
    fn of(bytes: &'a [u8], budget: &'a Budget) -> Result<Self, String> {
        const AGAIN: &str = "in MATLAB, save(\"file.mat\", \"X\", \"-v7\") writes a file that is read";
        if bytes.starts_with(b"\x89HDF") || bytes.starts_with(b"MATLAB 7.3") {
            return Err(format!("it is a MATLAB file of version 7.3 (HDF5); {AGAIN}"));
        }
        let big_endian = match bytes.get(HEADER - 4..HEADER) {
            Some([0, 1, b'I', b'M']) => false,
            Some([1, 0, b'M', b'I']) => true,
            _ => return Err(format!("it is truncated or no MATLAB file of level 5; {AGAIN}")),
        };
        Ok(Self { elements: &bytes[HEADER..], big_endian, budget })
    }

    /// All numeric variables, without their numbers.
    fn variables(&self) -> Result<Vec<Variable<'a>>, ArrayError> {
        let (mut left, mut found) = (self.elements, Vec::new());
        while !left.is_empty() {
            let mut from = left;
            let tag = self.tag(&mut from)?;
            let compressed = tag.kind == COMPRESSED;
            let whole = 8 + tag.size as usize;
            if whole > left.len() {
                return Err(ArrayError::Read(io::ErrorKind::UnexpectedEof.into()));
            }
            let element = if compressed {
                Element { bytes: &left[8..whole], compressed }
            } else {
                Element { bytes: &left[..whole], compressed }
            };
            if compressed || tag.kind == MATRIX {
                found.extend(self.variable(element)?);
            }
            left = &left[whole..];
        }
        Ok(found)
    }

    /// The variable of an element, if it is numeric.
    fn variable(&self, element: Element<'a>) -> Result<Option<Variable<'a>>, ArrayError> {
        let mut from = element.open();
        let matrix = self.tag(&mut *from)?;
        if matrix.kind != MATRIX || matrix.size == 0 {
            return Ok(None);
        }
        let flags = self.short(&mut *from)?.first().copied().unwrap_or(0.0) as u32;
        let class = flags & 0xff;
        if class != SPARSE && !NUMBERS.contains(&class) {
            return Ok(None);
        }
        let sizes = self
            .short(&mut *from)?
            .into_iter()
            .map(|size| if size >= 0.0 { Some(size as usize) } else { None });
        let sizes = sizes.collect::<Option<Vec<_>>>().ok_or_else(|| content("a size is negative"))?;
        let name: Vec<u8> = self.short(&mut *from)?.iter().map(|byte| *byte as i8 as u8).collect();
        let name = String::from_utf8_lossy(&name).into_owned();
        Ok(Some(Variable { name, sizes, class, complex: flags & COMPLEX != 0, element }))
    }

    /// The numbers of a variable as a matrix.
    fn matrix(&self, variable: &Variable<'_>) -> Result<Matrix, ArrayError> {
        let (rows, columns) = variable.shape()?;
        let mut from = variable.element.open();
        self.tag(&mut *from)?;
        (0..3).try_for_each(|_| self.short(&mut *from).map(drop))?;
        if variable.class == SPARSE {
            return self.sparse(&mut *from, (rows, columns)).map(Matrix::Sparse);
        }
        let values = self.numbers(&mut *from)?;
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(content(&format!("{} numbers for {rows} x {columns}", values.len())));
        }
        let mut matrix = zeros(self.budget, rows, columns).map_err(ArrayError::Memory)?;
        for (j, column) in values.chunks_exact(rows).enumerate() {
            matrix.col_as_slice_mut(j).copy_from_slice(column);
        }
        Ok(Matrix::Dense(matrix))
    }

    fn sparse(
        &self,
        from: &mut dyn Read,
        (rows, columns): (usize, usize),
    ) -> Result<SparseColMat<usize, f64>, ArrayError> {
        let (places, starts) = (self.numbers(from)?, self.numbers(from)?);
        let mut values = self.numbers(from)?;
        let whole = |v: &f64| *v >= 0.0; // the types of both are whole, or they were refused
        let starts: Vec<usize> = starts.iter().filter(|v| whole(v)).map(|v| *v as usize).collect();
        let entries = starts.last().copied().unwrap_or(0);
        if starts.len() != columns + 1 || starts[0] != 0 || !starts.is_sorted() {
            return Err(content("the starts of its columns do not fit"));
        }
        if entries > places.len() || entries > values.len() {
            return Err(content(&format!("it lacks some of its {entries} entries")));
        }
        // there may be room for more
        let most = rows.min(u32::MAX as usize) as f64;
        let places = &places[..entries];
        if places.iter().any(|row| !(whole(row) && *row < most)) {
            return Err(content(&format!("an entry is outside of its {rows} rows")));
        }
        values.truncate(entries);
        check_size(self.budget, rows, columns, entries).map_err(ArrayError::Memory)?;
        self.budget.check(entries.saturating_mul(Compressed::BYTES)).map_err(ArrayError::Memory)?;
        let places = places.iter().map(|row| *row as u32).collect();
        Ok(Compressed { starts, places, values }.columns_into_matrix(rows))
    }

    /// Labels that fit. Others are passed over: nothing depends on them.
    fn labels(&self, all: &[Variable<'_>], data: &Variable<'_>, rows: usize) -> Option<Vec<f64>> {
        let mut names = LABEL_NAMES.into_iter().filter(|name| *name != data.name);
        let labels = names.find_map(|name| all.iter().find(|v| v.name == name))?;
        let fit = labels.is_vector() && labels.sizes.contains(&rows) && labels.class != SPARSE;
        let Matrix::Dense(found) = self.matrix(Some(labels).filter(|_| fit)?).ok()? else { return None };
        let (m, n) = (found.nrows(), found.ncols());
        let values: Vec<f64> = (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).map(|at| found[at]).collect();
        (values.len() == rows && values.iter().all(|v| v.is_finite())).then_some(values)
    }

    fn tag(&self, from: &mut dyn Read) -> Result<Tag, ArrayError> {
        let first = self.word(from)?;
        let mut last = [0; 4];
        from.read_exact(&mut last)?;
        let size = first >> 16;
        Ok(if size == 0 {
            Tag { kind: first, size: u64::from(self.whole(last)), inside: None }
        } else {
            Tag { kind: first & 0xffff, size: u64::from(size.min(4)), inside: Some(last) }
        })
    }

    fn word(&self, from: &mut dyn Read) -> Result<u32, ArrayError> {
        let mut bytes = [0; 4];
        from.read_exact(&mut bytes)?;
        Ok(self.whole(bytes))
    }

    fn whole(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// An element of few numbers.
    fn short(&self, from: &mut dyn Read) -> Result<Vec<f64>, ArrayError> {
        let tag = self.tag(from)?;
        if tag.size > SHORT {
            return Err(content("its description is damaged"));
        }
        self.of_element(&tag, from)
    }

    /// An element of numbers.
    fn numbers(&self, from: &mut dyn Read) -> Result<Vec<f64>, ArrayError> {
        let tag = self.tag(from)?;
        self.of_element(&tag, from)
    }

    /// The numbers of an element and the zeros after it. Sizes are not believed: memory is taken as numbers come.
    fn of_element(&self, tag: &Tag, from: &mut dyn Read) -> Result<Vec<f64>, ArrayError> {
        let (width, number) = self.number(tag.kind)?;
        if !tag.size.is_multiple_of(width as u64) {
            return Err(content("a number is cut"));
        }
        if let Some(inside) = tag.inside {
            return Ok(inside[..tag.size as usize].chunks_exact(width).map(number).collect());
        }
        let (mut values, mut left, mut bytes) = (Vec::new(), tag.size, Vec::new());
        while left > 0 {
            bytes.clear();
            let part = left.min(STEP);
            if Read::take(&mut *from, part).read_to_end(&mut bytes)? as u64 != part {
                return Err(ArrayError::Read(io::ErrorKind::UnexpectedEof.into()));
            }
            values.extend(bytes.chunks_exact(width).map(number));
            self.budget.check(8 * values.capacity()).map_err(ArrayError::Memory)?;
            left -= part;
        }
        io::copy(&mut Read::take(from, tag.size.next_multiple_of(8) - tag.size), &mut io::sink())?;
        Ok(values)
    }

    /// Bytes of a number of this type, and its value.
    fn number(&self, kind: u32) -> Result<(usize, Value), ArrayError> {
        macro_rules! numbers {
            ($($kind:literal => $type:ty),*) => {
                match (kind, self.big_endian) {
                    $(
                        ($kind, false) => (size_of::<$type>(), |b: &[u8]| {
                            <$type>::from_le_bytes(b.try_into().unwrap_or_default()) as f64
                        }),
                        ($kind, true) => (size_of::<$type>(), |b: &[u8]| {
                            <$type>::from_be_bytes(b.try_into().unwrap_or_default()) as f64
                        }),
                    )*
                    _ => return Err(content(&format!("its numbers have the unknown type {kind}"))),
                }
            };
        }
        Ok(numbers! {
            1 => i8, 2 => u8, 3 => i16, 4 => u16, 5 => i32, 6 => u32, 7 => f32, 9 => f64, 12 => i64, 13 => u64
        })
    }
}

/// The value of the bytes of a number.
type Value = fn(&[u8]) -> f64;

/// Type and size of an element, and its data where they are that short.
struct Tag {
    kind: u32,
    size: u64,
    inside: Option<[u8; 4]>,
}
