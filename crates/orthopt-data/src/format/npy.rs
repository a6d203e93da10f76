//! NumPy arrays: floats of 4 or 8 bytes, integers of 1 to 8 bytes and booleans, either byte
//! order, C or Fortran order, all read as f64 (integers beyond 2⁵³ are rounded).

use std::io::{self, Read, Write};

use faer::{Mat, MatRef};

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::format::npy_header::{self, ArrayError, Header};
use crate::input::Input;
use crate::memory::Budget;
use crate::stream::{Chunk, Chunks, Whole};
use crate::text::show;

const CHUNK: usize = 1 << 16;

pub(super) fn read(mut input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    let (available, budget) = (input.size(), input.budget().clone());
    let matrix = Array::read(&mut input, available, &budget)
        .and_then(|array| array.into_matrix().map_err(ArrayError::Content));
    match matrix {
        Ok(matrix) => Ok(DataSet::new(matrix, input.name())),
        Err(ArrayError::Read(error)) => Err(input.read_error(error)),
        Err(ArrayError::Content(problem)) => Err(input.file_error(problem)),
        Err(ArrayError::Memory(error)) => Err(error),
    }
}

pub(super) fn write(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    let matrix = &data.matrix;
    out.write_all(&npy_header::for_matrix(matrix.nrows(), matrix.ncols()))?;
    matrix.for_each_dense_row(|row| write_values(row.iter().copied(), out))
}

pub(super) fn write_matrix(matrix: MatRef<'_, f64>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&npy_header::for_matrix(matrix.nrows(), matrix.ncols()))?;
    for i in 0..matrix.nrows() {
        write_values((0..matrix.ncols()).map(|j| matrix[(i, j)]), out)?;
    }
    Ok(())
}

pub(super) fn write_values(values: impl Iterator<Item = f64>, out: &mut dyn Write) -> io::Result<()> {
    for value in values {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(())
}

/// An array of any shape, its values in the order of the file.
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
    fortran_order: bool,
}

/// Rows of a matrix in C order as they stand in the file; one in Fortran order is read whole.
pub(super) fn chunks(mut input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    // a check of the header that the buffer holds, so that nothing is read twice
    let header = npy_header::read(&mut input.peek()?);
    match header {
        Ok(header) if !header.fortran_order || header.shape.len() < 2 => {
            Parts::new(input).map(|parts| Box::new(parts) as Box<dyn Chunks>)
        }
        _ => Ok(Box::new(Whole::new(read(input, options)?))),
    }
}

struct Parts {
    input: Input,
    element: Element,
    columns: usize,
    rows: usize,
    next: usize,
}

impl Parts {
    fn new(mut input: Input) -> Result<Self, DataError> {
        let problem = |input: &Input, problem| match problem {
            ArrayError::Read(error) => input.read_error(error),
            ArrayError::Content(problem) => input.file_error(problem),
            ArrayError::Memory(error) => error,
        };
        let header = npy_header::read(&mut input).map_err(|error| problem(&input, error))?;
        let element = Element::parse(&header.descr).map_err(|error| input.file_error(error))?;
        let (rows, columns) = shape(&header.shape).map_err(|error| input.file_error(error))?;
        Ok(Self { input, element, columns, rows, next: 0 })
    }
}

impl Chunks for Parts {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        let (first, columns) = (self.next, self.columns);
        let rows = (numbers / columns).max(1).min(self.rows - first);
        if rows == 0 {
            return Ok(None);
        }
        self.input.budget().check(rows.saturating_mul(columns).saturating_mul(16 + self.element.size))?;
        let wanted = rows * columns * self.element.size;
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(wanted as u64).read_to_end(&mut bytes);
        read.map_err(|error| self.input.read_error(error))?;
        if bytes.len() < wanted {
            let row = first + bytes.len() / (columns * self.element.size) + 1;
            let problem = format!("the file ends in row {row} of {}; it is truncated", self.rows);
            return Err(self.input.file_error(problem));
        }
        let mut values = Vec::with_capacity(rows * columns);
        (self.element.decode)(&bytes, &mut values);
        self.next += rows;
        Ok(Some(Chunk::new(first, Mat::from_fn(rows, columns, |i, j| values[i * columns + j]))))
    }

    fn bytes(&self) -> u64 {
        self.input.taken()
    }
}

/// Rows and columns of an array: two dimensions as they are, one as a single column.
fn shape(sizes: &[usize]) -> Result<(usize, usize), String> {
    let (rows, cols) = match *sizes {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            return Err(format!(
                "the array has {} dimensions {}; reshape it to two, rows (samples) and columns",
                sizes.len(),
                show_shape(sizes)
            ));
        }
    };
    if rows == 0 || cols == 0 {
        return Err(format!("the array {} is empty", show_shape(sizes)));
    }
    Ok((rows, cols))
}

impl Array {
    /// Reads header and values. `available` is the size of the whole file where it is known; it
    /// lets a wrong shape be refused before anything is read.
    pub(super) fn read(
        reader: &mut dyn Read,
        available: Option<u64>,
        budget: &Budget,
    ) -> Result<Self, ArrayError> {
        let header = npy_header::read(reader)?;
        let element = Element::parse(&header.descr)?;
        let count = header.shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        let bytes = count.and_then(|count| count.checked_mul(element.size));
        let (Some(count), Some(bytes)) = (count, bytes) else {
            return Err(format!("the shape {} is too large", show_shape(&header.shape)).into());
        };
        let at_most = available.map_or(usize::MAX, |size| size.try_into().unwrap_or(usize::MAX));
        if bytes > at_most {
            return Err(truncated(&header, bytes, at_most).into());
        }
        if available.is_some() {
            allow(budget, 2 * count)?;
        }
        let values = read_values(reader, &element, count, available.is_some(), budget)?;
        if values.len() < count {
            return Err(truncated(&header, bytes, values.len() * element.size).into());
        }
        // Decompressors compare checksums when they reach the end, so go there.
        reader.take(1).read_to_end(&mut Vec::new())?;
        Ok(Self { shape: header.shape, values, fortran_order: header.fortran_order })
    }

    /// A matrix in the sense of [`shape`].
    pub(super) fn into_matrix(self) -> Result<Mat<f64>, String> {
        let (rows, cols) = shape(&self.shape)?;
        let values = &self.values;
        Ok(if self.fortran_order {
            Mat::from_fn(rows, cols, |i, j| values[i + j * rows])
        } else {
            Mat::from_fn(rows, cols, |i, j| values[i * cols + j])
        })
    }
}

/// `size_known`: the count has been checked against the size of the file, so that memory can be
/// taken at once.
fn read_values(
    reader: &mut dyn Read,
    element: &Element,
    count: usize,
    size_known: bool,
    budget: &Budget,
) -> Result<Vec<f64>, ArrayError> {
    let mut values = Vec::with_capacity(if size_known { count } else { count.min(CHUNK) });
    let mut bytes = Vec::with_capacity(CHUNK * element.size);
    while values.len() < count {
        let wanted = (count - values.len()).min(CHUNK) * element.size;
        bytes.clear();
        (&mut *reader).take(wanted as u64).read_to_end(&mut bytes)?;
        (element.decode)(&bytes, &mut values);
        allow(budget, values.capacity() + values.len())?;
        if bytes.len() < wanted {
            break;
        }
    }
    Ok(values)
}

/// An error where there is no room for so many numbers.
fn allow(budget: &Budget, numbers: usize) -> Result<(), ArrayError> {
    Ok(budget.check(numbers.saturating_mul(8))?)
}

fn truncated(header: &Header, bytes: usize, found: usize) -> String {
    format!(
        "the array {} of type {} needs {bytes} bytes but the file has only {found}; it is truncated",
        show_shape(&header.shape),
        show(header.descr.as_bytes())
    )
}

fn show_shape(shape: &[usize]) -> String {
    let sizes: Vec<_> = shape.iter().map(usize::to_string).collect();
    format!("({})", sizes.join(" x "))
}

/// An element type: its size, and how to append a run of elements to a list of f64.
struct Element {
    size: usize,
    decode: fn(&[u8], &mut Vec<f64>),
}

/// The decoder of one primitive type in one byte order.
macro_rules! element {
    ($type:ty, $from_bytes:ident) => {
        Element {
            size: size_of::<$type>(),
            decode: |bytes, values| {
                let (elements, _) = bytes.as_chunks();
                values.extend(elements.iter().map(|raw| <$type>::$from_bytes(*raw) as f64));
            },
        }
    };
}

impl Element {
    fn parse(descr: &str) -> Result<Self, String> {
        let (order, name) = descr.split_at_checked(1).unwrap_or_default();
        // `=` and `|` (single bytes) do not occur with several bytes in files, but mean ours.
        let big = order == ">";
        Ok(match (name, big) {
            _ if !["<", ">", "|", "="].contains(&order) => return Err(unsupported(descr)),
            ("b1" | "u1", _) => element!(u8, from_le_bytes),
            ("i1", _) => element!(i8, from_le_bytes),
            ("u2", false) => element!(u16, from_le_bytes),
            ("u2", true) => element!(u16, from_be_bytes),
            ("u4", false) => element!(u32, from_le_bytes),
            ("u4", true) => element!(u32, from_be_bytes),
            ("u8", false) => element!(u64, from_le_bytes),
            ("u8", true) => element!(u64, from_be_bytes),
            ("i2", false) => element!(i16, from_le_bytes),
            ("i2", true) => element!(i16, from_be_bytes),
            ("i4", false) => element!(i32, from_le_bytes),
            ("i4", true) => element!(i32, from_be_bytes),
            ("i8", false) => element!(i64, from_le_bytes),
            ("i8", true) => element!(i64, from_be_bytes),
            ("f4", false) => element!(f32, from_le_bytes),
            ("f4", true) => element!(f32, from_be_bytes),
            ("f8", false) => element!(f64, from_le_bytes),
            ("f8", true) => element!(f64, from_be_bytes),
            _ => return Err(unsupported(descr)),
        })
    }
}

fn unsupported(descr: &str) -> String {
    format!(
        "elements of type {} are not supported, only float32, float64, integers and booleans; \
         save the array with .astype(\"float64\")",
        show(descr.as_bytes())
    )
}
