//! Files that the program writes to read again: they begin with a line that says what they are and end with a checksum.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::DataError;
use crate::memory::Budget;
use crate::output::{write_or_rescue, write_whole};

/// Length of the last line, `crc32 xxxxxxxx` between line feeds: the CRC-32 of all bytes before it.
const SEAL: usize = 16;

fn seal(sum: crc32fast::Hasher) -> String {
    format!("\ncrc32 {:08x}\n", sum.finalize())
}

/// Adds up what goes through.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: crc32fast::Hasher,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a file of `magic`, the `body` and a checksum, as a whole or not at all.
///
/// # Errors
/// [`DataError::Io`]: the file cannot be written.
pub fn write_sealed(
    path: &Path,
    magic: &[u8],
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    write_whole(path, |out| sealed(out, magic, body))
}

/// [`write_sealed`] for what cannot be made again, see [`write_or_rescue`].
///
/// # Errors
/// [`DataError::Io`]: the file cannot be written there.
pub fn write_sealed_or_rescue(
    path: &Path,
    magic: &[u8],
    mut body: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    write_or_rescue(path, |out| sealed(out, magic, &mut body))
}

fn sealed(
    out: &mut dyn Write,
    magic: &[u8],
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut summed = Summed { out, sum: crc32fast::Hasher::new() };
    summed.write_all(magic)?;
    body(&mut summed)?;
    let line = seal(summed.sum);
    out.write_all(line.as_bytes())
}

/// The body of a file of [`write_sealed`]; `None` if it does not begin with `magic`. The file may take `max_memory`
/// bytes, or what the machine has.
///
/// # Errors
/// [`DataError::Io`]: it cannot be read. [`DataError::Memory`]: it is too long. [`DataError::File`]: the checksum is
/// wrong or missing.
pub fn read_sealed(path: &Path, magic: &[u8], max_memory: Option<u64>) -> Result<Option<Vec<u8>>, DataError> {
    let place = path.display().to_string();
    let failed = |error| DataError::Io { action: "read", path: place.clone(), error };
    let budget = Budget::new(place.as_str(), max_memory);
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut read =
        |bytes: &mut Vec<u8>, count: usize| (&mut file).take(count as u64).read_to_end(bytes).map_err(failed);
    read(&mut bytes, magic.len())?;
    if bytes != magic {
        return Ok(None);
    }
    const PART: usize = 1 << 20;
    while read(&mut bytes, PART)? == PART {
        budget.check(bytes.len() + bytes.len().min(PART))?; // a vector that grows takes room for the next part
    }
    let damaged = || DataError::File {
        path: place.clone(),
        problem: "the file is damaged (its checksum is wrong): make it again".into(),
    };
    let end = bytes.len().checked_sub(SEAL).filter(|end| *end >= magic.len()).ok_or_else(damaged)?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..end]);
    if bytes[end..] != *seal(sum).as_bytes() {
        return Err(damaged());
    }
    bytes.truncate(end);
    bytes.drain(..magic.len());
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_and_every_cut_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let body: Vec<u8> = (0..300u32).map(|i| (i * i % 251) as u8).collect();
        write_sealed(&path, b"magic\n", |out| out.write_all(&body)).unwrap();
        assert_eq!(read_sealed(&path, b"magic\n", None).unwrap().unwrap(), body);
        assert!(read_sealed(&path, b"other\n", None).unwrap().is_none());
        let whole = std::fs::read(&path).unwrap();
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            assert!(!matches!(read_sealed(&path, b"magic\n", None), Ok(Some(_))), "bit {bit}");
        }
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert!(!matches!(read_sealed(&path, b"magic\n", None), Ok(Some(_))), "cut at {end}");
        }
        std::fs::write(&path, [&whole[..], b"\n"].concat()).unwrap();
        assert!(read_sealed(&path, b"magic\n", None).is_err(), "something after the end");
    }

    #[test]
    fn memory_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_sealed(&path, b"magic\n", |out| out.write_all(&vec![7; 3 << 20])).unwrap();
        assert!(matches!(read_sealed(&path, b"magic\n", Some(1 << 20)), Err(DataError::Memory { .. })));
        assert_eq!(read_sealed(&path, b"magic\n", Some(1 << 23)).unwrap().unwrap().len(), 3 << 20);
    }
}
