//! The header of a `.npy` file: a magic string, a version, a length, and a Python dictionary with
//! the element type (`descr`), the order (`fortran_order`) and the `shape`.
//!
//! Only the dictionaries that NumPy writes for plain arrays are understood, by a parser without
//! recursion; a header is never trusted with an allocation.

use std::io::{self, Read};

use crate::error::DataError;
use crate::text::show;

/// NumPy refuses longer ones as well by default (its limit is 10,000).
const LONGEST_HEADER: usize = 1 << 16;

/// Content of a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

/// Why an array could not be read: the reader failed, the content is wrong, or it is too much.
#[derive(Debug)]
pub(super) enum ArrayError {
    Read(io::Error),
    Content(String),
    Memory(DataError),
}

impl From<DataError> for ArrayError {
    fn from(error: DataError) -> Self {
        Self::Memory(error)
    }
}

impl From<io::Error> for ArrayError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl From<String> for ArrayError {
    fn from(problem: String) -> Self {
        Self::Content(problem)
    }
}

/// Reads magic, version, length and dictionary, and leaves the reader at the data.
pub(super) fn read(reader: &mut dyn Read) -> Result<Header, ArrayError> {
    let start: [u8; 8] = read_exact(reader)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("not a NumPy array: the file does not start with \\x93NUMPY".to_string().into());
    }
    let length = match start[6] {
        1 => usize::from(u16::from_le_bytes(read_exact(reader)?)),
        2 | 3 => u32::from_le_bytes(read_exact(reader)?) as usize,
        version => return Err(format!("version {version} of the .npy format is not known").into()),
    };
    if length > LONGEST_HEADER {
        return Err(format!("the .npy header claims {length} bytes; the file is corrupt").into());
    }
    let mut text = vec![0; length];
    fill(reader, &mut text)?;
    parse(&text).map_err(|problem| format!("cannot understand the .npy header: {problem}").into())
}

/// The bytes in front of the data of a float64 array in C order.
pub(super) fn for_matrix(rows: usize, cols: usize) -> Vec<u8> {
    with_type("<f8", &format!("({rows}, {cols})"))
}

/// The bytes in front of the data of an array in C order, for a type and a shape as Python
/// writes them.
pub(super) fn with_type(descr: &str, shape: &str) -> Vec<u8> {
    const ALIGNMENT: usize = 64;
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let unpadded = 10 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    text.push('\n');
    // Two sizes of at most 20 digits: far below the 65,535 that version 1 can hold.
    let length = text.len() as u16;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

fn read_exact<const N: usize>(reader: &mut dyn Read) -> Result<[u8; N], ArrayError> {
    let mut bytes = [0; N];
    fill(reader, &mut bytes)?;
    Ok(bytes)
}

fn fill(reader: &mut dyn Read, bytes: &mut [u8]) -> Result<(), ArrayError> {
    // Not read_exact of the standard library: a decompressor also reports UnexpectedEof, and
    // that is a different message.
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => {
                return Err("the file ends within the .npy header; it is truncated".to_string().into());
            }
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn parse(text: &[u8]) -> Result<Header, String> {
    let mut cursor = Cursor { rest: text };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    cursor.expect(b'{')?;
    while !cursor.accept(b'}') {
        let key = cursor.string()?;
        cursor.expect(b':')?;
        match key.as_str() {
            "descr" => descr = Some(cursor.descr()?),
            "fortran_order" => fortran_order = Some(cursor.boolean()?),
            "shape" => shape = Some(cursor.shape()?),
            other => return Err(format!("unknown key {}", show(other.as_bytes()))),
        }
        if !cursor.accept(b',') {
            cursor.expect(b'}')?;
            break;
        }
    }
    match (descr, fortran_order, shape) {
        (Some(descr), Some(fortran_order), Some(shape)) => Ok(Header { descr, fortran_order, shape }),
        _ => Err("one of descr, fortran_order and shape is missing".into()),
    }
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn accept(&mut self, byte: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.accept(byte) {
            return Ok(());
        }
        let found = &self.rest[..self.rest.len().min(20)];
        Err(format!("expected `{}` before {}", char::from(byte), show(found)))
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = if self.accept(b'"') { b'"' } else { b'\'' };
        if quote == b'\'' {
            self.expect(quote)?;
        }
        let end = self.rest.iter().position(|&byte| byte == quote);
        let end = end.ok_or("a string is not closed")?;
        let text = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        self.rest = &self.rest[end + 1..];
        Ok(text)
    }

    fn descr(&mut self) -> Result<String, String> {
        if self.accept(b'[') {
            return Err("it is a structured array; save one plain array of numbers".into());
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_ascii_start();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err("fortran_order is neither True nor False".into())
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')') {
            self.rest = self.rest.trim_ascii_start();
            let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (number, rest) = self.rest.split_at(digits);
            shape.push(crate::text::parse_usize(number).ok_or("the shape is not a tuple of sizes")?);
            self.rest = rest;
            self.accept(b'L'); // Python 2 wrote long integers like this
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_in_all_spellings() {
        let expected =
            |shape: &[usize]| Header { descr: "<f8".into(), fortran_order: false, shape: shape.into() };
        for (text, shape) in [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n", &[3, 4][..]),
            ("{\"shape\":(3L,), 'fortran_order':False,'descr':\"<f8\"}", &[3]),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &[]),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(expected(shape)), "{text}");
        }
    }

    #[test]
    fn bad_headers() {
        for (text, message) in [
            ("", "expected `{`"),
            ("{'descr': '<f8'", "expected `}`"),
            ("{'descr': '<f8'}", "is missing"),
            ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}", "structured"),
            ("{'descr': '<f8', 'fortran_order': 1, 'shape': (3,)}", "neither True nor False"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", "tuple of sizes"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "tuple"),
            ("{'color': 1}", "unknown key `color`"),
            ("{'descr", "not closed"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn written_headers_are_aligned_and_read_back() {
        let bytes = for_matrix(12, 7);
        assert_eq!(bytes.len() % 64, 0);
        let header = read(&mut bytes.as_slice()).unwrap();
        assert_eq!(header, Header { descr: "<f8".into(), fortran_order: false, shape: vec![12, 7] });
    }
}
