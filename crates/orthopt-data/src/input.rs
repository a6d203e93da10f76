//! A file opened for reading: decompressed on the way, and knowing its own name and line so that
//! every error can say where it happened.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use zip::ZipArchive;

use crate::encoding;
use crate::error::DataError;
use crate::memory::Budget;
use crate::text::{printable, said};

const BUFFER: usize = 1 << 16;
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes of one data file or built-in table.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn BufRead>,
    compressed: Option<Compression>,
    size: Option<u64>,
    line: u64,
    budget: Budget,
    taken: Arc<AtomicU64>, // bytes of the file that have been read
    origin: Option<Bytes>, // from where it can be read again
    #[cfg(feature = "parquet")]
    file: Option<File>, // the same file, where it is one and not compressed
}

/// From where bytes can be read once more.
#[derive(Clone, Debug)]
enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
    Stream(Rc<RefCell<Stream>>),
}

/// A stream that can be read only once, and the bytes that have been read.
struct Stream {
    from: Box<dyn BufRead>,
    read: Vec<u8>,
    budget: Budget,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({} bytes)", self.read.len())
    }
}

/// A reader of a stream from its beginning.
struct Replay {
    stream: Rc<RefCell<Stream>>,
    at: usize,
}

impl Read for Replay {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream.borrow_mut();
        let Stream { from, read, budget } = &mut *stream;
        if self.at == read.len() {
            let new = from.fill_buf()?;
            let count = new.len();
            read.extend_from_slice(new);
            from.consume(count);
            budget.check(read.len()).map_err(io::Error::other)?;
        }
        let count = (&read[self.at..]).read(out)?;
        self.at += count;
        Ok(count)
    }
}

/// Source that can be read once more.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    bytes: Option<Bytes>,
    name: String,
    budget: Budget,
}

impl Origin {
    /// Opens it.
    pub(crate) fn open(self) -> Result<Input, DataError> {
        let input = match self.bytes {
            Some(Bytes::File(path)) => Input::open(&path)?,
            Some(Bytes::Memory(bytes)) => Input::of_memory(self.name.clone(), bytes),
            Some(Bytes::Stream(stream)) => Input {
                reader: Box::new(BufReader::new(Replay { stream, at: 0 })),
                size: None,
                ..Input::from_bytes(&self.name, &[])
            },
            None => {
                let problem = "it cannot be read twice".into();
                return Err(DataError::File { path: self.name, problem });
            }
        };
        Ok(Input { name: self.name, budget: self.budget, ..input })
    }
}

/// Compression of a file, by its first bytes, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Bzip2,
    Xz,
}

/// Each with its name, its extension and its first bytes.
const COMPRESSIONS: [(Compression, &str, &str, &[u8]); 3] = [
    (Compression::Gzip, "gzip", "gz", &[0x1f, 0x8b]),
    (Compression::Bzip2, "bzip2", "bz2", b"BZh"),
    (Compression::Xz, "xz", "xz", b"\xfd7zXZ\0"),
];

/// KiB that a dictionary of xz may have; `xz -9` has 64 MiB.
const XZ_MEMORY: u32 = 1 << 18;

impl Compression {
    fn of(start: &[u8]) -> Option<Self> {
        // a table may begin with these three letters, and a block of bzip2 has π after the level
        let block = |how| {
            how != Self::Bzip2 || start.get(4..10) == Some(b"1AY&SY") || start.get(4..8) == Some(b"\x17rE8")
        };
        COMPRESSIONS
            .iter()
            .find(|(how, _, _, magic)| start.starts_with(magic) && block(*how))
            .map(|known| known.0)
    }

    /// That of the last extension of a name.
    pub(crate) fn named(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        COMPRESSIONS.iter().find(|known| extension.eq_ignore_ascii_case(known.2)).map(|known| known.0)
    }

    fn name(self) -> &'static str {
        COMPRESSIONS.iter().find(|known| known.0 == self).map_or("", |known| known.1)
    }

    fn decoded<R: BufRead + 'static>(self, reader: R) -> Box<dyn Read> {
        match self {
            Self::Gzip => Box::new(Members { inside: Some(GzDecoder::new(reader)) }),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(reader)),
            Self::Xz => Box::new(XzReader::new_mem_limit(reader, true, XZ_MEMORY)),
        }
    }
}

/// The name of a file without the extension of its compression: `.gz`, `.bz2` or `.xz`.
pub fn uncompressed(path: &Path) -> PathBuf {
    if Compression::named(path).is_some() { path.with_extension("") } else { path.into() }
}

/// The members of a gzip file one after the other, and zeros that fill up its last block.
struct Members<R> {
    inside: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.inside {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(member) = self.inside.take() else { break };
            let mut rest = member.into_inner();
            let first = loop {
                let next = rest.fill_buf()?;
                let zeros = next.iter().take_while(|b| **b == 0).count();
                if zeros == 0 || zeros < next.len() {
                    break next.get(zeros).copied().map(|byte| (byte, zeros));
                }
                rest.consume(zeros);
            };
            match first {
                None => break,
                Some((0x1f, 0)) => self.inside = Some(GzDecoder::new(rest)),
                Some(_) => return Err(io::Error::other("bytes that are no gzip data follow its end")),
            }
        }
        Ok(0)
    }
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A word (a number, a name) of more bytes is none: the file is no text.
const LONGEST_WORD: u64 = 1 << 20;

impl Input {
    /// Opens a file; gzip, bzip2 and xz are recognised by their first bytes, whatever the file is called.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| open_error(&name, error))?;
        let size = file.metadata().ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
        #[cfg(feature = "parquet")]
        let again = size.and_then(|_| file.try_clone().ok());
        let mut input = Self::begin(name, Box::new(file), size, Compression::named(path))?;
        input.origin = size.map(|_| Bytes::File(path.into()));
        #[cfg(feature = "parquet")]
        let input = Self { file: again.filter(|_| input.compressed.is_none()), ..input };
        Ok(input)
    }

    /// Standard input.
    pub(crate) fn stdin() -> Result<Self, DataError> {
        Self::begin("standard input".into(), Box::new(io::stdin()), None, None)
    }

    fn begin(
        name: String,
        bytes: Box<dyn Read>,
        size: Option<u64>,
        named: Option<Compression>,
    ) -> Result<Self, DataError> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: bytes, taken: taken.clone() };
        let mut reader = BufReader::with_capacity(BUFFER, counted);
        let start = reader.fill_buf().map_err(|error| read_error(&name, error))?;
        if start.is_empty() {
            let problem = if size.is_some() { "the file is empty" } else { "there is nothing to read" };
            return Err(DataError::File { path: name, problem: problem.into() });
        }
        let compressed = Compression::of(start);
        if let (None, Some(named)) = (compressed, named) {
            let problem = format!("it does not start like a {} file", named.name());
            return Err(DataError::Compressed { path: name, format: named.name(), problem });
        }
        let (reader, size): (Box<dyn BufRead>, _) = match compressed {
            Some(how) => (Box::new(BufReader::with_capacity(BUFFER, how.decoded(reader))), None),
            None => (Box::new(reader), size),
        };
        let budget = Budget::new(&name, None);
        Ok(Self {
            name,
            reader,
            compressed,
            size,
            line: 0,
            budget,
            taken,
            origin: None,
            #[cfg(feature = "parquet")]
            file: None,
        })
    }

    /// Bytes that are already in memory.
    pub(crate) fn from_bytes(name: &str, bytes: &'static [u8]) -> Self {
        Self::of_memory(name.into(), Arc::from(bytes))
    }

    fn of_memory(name: String, bytes: Arc<[u8]>) -> Self {
        let size = Some(bytes.len() as u64);
        let budget = Budget::new(&name, None);
        Self {
            name,
            reader: Box::new(Cursor::new(bytes.clone())),
            compressed: None,
            size,
            line: 0,
            budget,
            taken: Arc::default(),
            origin: Some(Bytes::Memory(bytes)),
            #[cfg(feature = "parquet")]
            file: None,
        }
    }

    /// This input with so much memory for reading.
    pub(crate) fn within(self, bytes: Option<u64>) -> Self {
        let budget = Budget::new(&self.name, bytes);
        Self { budget, ..self }
    }

    /// Reads on in the first file of a zip archive that is `wanted`; returns its name.
    pub(crate) fn unpacked(&mut self, wanted: impl Fn(&str) -> bool) -> Result<String, DataError> {
        let broken =
            |error: &dyn std::fmt::Display| format!("it is truncated or no zip archive ({})", said(error));
        let bytes = self.read_rest()?;
        let mut archive =
            ZipArchive::new(Cursor::new(bytes)).map_err(|error| self.file_error(broken(&error)))?;
        let names: Vec<String> =
            archive.file_names().filter_map(Result::ok).map(|name| name.to_string()).collect();
        // what macOS adds begins so
        let found = names.into_iter().find(|name| !name.starts_with("__MACOSX/") && wanted(name));
        let name = found
            .ok_or_else(|| self.file_error("no file in the archive has the extension of a known format"))?;
        let mut part = archive.by_name(&name).map_err(|error| self.file_error(broken(&error)))?;
        let mut inside = Vec::new();
        loop {
            let read = part.by_ref().take(LONGEST_WORD).read_to_end(&mut inside);
            if read.map_err(|error| self.file_error(broken(&error)))? == 0 {
                break;
            }
            self.budget.check(inside.capacity())?;
        }
        drop(part);
        self.reread(inside);
        self.size = None;
        #[cfg(feature = "parquet")]
        {
            self.file = None;
        }
        Ok(name)
    }

    /// Reads on in bytes that are in memory.
    fn reread(&mut self, bytes: Vec<u8>) {
        let bytes: Arc<[u8]> = bytes.into();
        self.reader = Box::new(Cursor::new(bytes.clone()));
        self.origin = Some(Bytes::Memory(bytes));
    }

    /// This input, with a copy of what is read if it cannot be read once more (standard input). It must be called
    /// before anything is read.
    pub(crate) fn kept(mut self) -> Self {
        if self.origin.is_none() {
            let from = std::mem::replace(&mut self.reader, Box::new(io::empty()));
            let stream = Stream { from, read: Vec::new(), budget: self.budget.clone() };
            let stream = Rc::new(RefCell::new(stream));
            self.reader = Box::new(BufReader::new(Replay { stream: stream.clone(), at: 0 }));
            self.origin = Some(Bytes::Stream(stream));
        }
        self
    }

    /// From where it can be read once more.
    pub(crate) fn origin(&self) -> Origin {
        Origin { bytes: self.origin.clone(), name: self.name.clone(), budget: self.budget.clone() }
    }

    /// Memory limit of reading.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// All bytes that are left.
    pub(crate) fn read_rest(&mut self) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        loop {
            let read = self.reader.by_ref().take(LONGEST_WORD).read_to_end(&mut bytes);
            if read.map_err(|error| self.read_error(error))? == 0 {
                return Ok(bytes);
            }
            self.budget.check(bytes.capacity())?;
        }
    }

    /// The file for random access; `None` if its bytes come only in order. The input must not
    /// be read afterwards.
    #[cfg(feature = "parquet")]
    pub(crate) fn file(&mut self) -> Option<File> {
        self.file.take()
    }

    /// The name for messages and for `DataSet::source`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Size in bytes, where it is known beforehand (a plain file).
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Bytes that have been read so far, of a compressed file those of the file.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Buffered bytes that come next, without reading them.
    pub(crate) fn peek(&mut self) -> Result<&[u8], DataError> {
        if let Err(error) = self.reader.fill_buf() {
            return Err(self.read_error(error));
        }
        self.reader.fill_buf().map_err(|error| read_error(&self.name, error))
    }

    /// Reads the next line into `line` (with its line end); false at the end of the file.
    pub(crate) fn next_line(&mut self, line: &mut Vec<u8>) -> Result<bool, DataError> {
        line.clear();
        loop {
            let read = self.reader.by_ref().take(LONGEST_WORD).read_until(b'\n', line);
            let read = read.map_err(|error| self.read_error(error))?;
            if (read as u64) < LONGEST_WORD || line.ends_with(b"\n") {
                break;
            }
            self.budget.check(2 * line.capacity())?;
            if !line[line.len() - read..].iter().any(|byte| b" \t\r,;".contains(byte)) {
                let problem = "a word of more than 1 MB: this is not a file of numbers and names".into();
                return Err(DataError::Line { path: self.name.clone(), line: self.line + 1, problem });
            }
        }
        if line.is_empty() {
            return Ok(false);
        }
        if self.line == 0 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        self.line += 1;
        Ok(true)
    }

    /// Reads what follows as UTF-8 with line feeds, whatever encoding and line ends it has, which are named where they
    /// are not those. To be called where nothing has been read.
    pub(crate) fn as_text(&mut self) -> Result<Option<&'static str>, DataError> {
        let Some(form) = encoding::of(self.peek()?) else { return Ok(None) };
        let bytes = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(BufReader::with_capacity(BUFFER, encoding::Decoded::new(bytes, form)));
        Ok(Some(form.name()))
    }

    /// The number of the line read last, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The file and the line read last, as `file:line`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.name, self.line)
    }

    /// An error in the line read last; what it quotes of the file is made printable.
    pub(crate) fn line_error(&self, problem: impl Into<String>) -> DataError {
        let problem = printable(&problem.into());
        DataError::Line { path: self.name.clone(), line: self.line, problem }
    }

    /// An error of the file as a whole, as [`line_error`](Self::line_error).
    pub(crate) fn file_error(&self, problem: impl Into<String>) -> DataError {
        DataError::File { path: self.name.clone(), problem: printable(&problem.into()) }
    }

    /// A failed read: of the decompressor, or of the operating system.
    pub(crate) fn read_error(&self, error: io::Error) -> DataError {
        if let (Some(how), None) = (self.compressed, error.raw_os_error()) {
            let problem = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the end is missing".to_string(),
                _ => error.to_string(),
            };
            return DataError::Compressed { path: self.name.clone(), format: how.name(), problem };
        }
        read_error(&self.name, error)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

fn open_error(name: &str, error: io::Error) -> DataError {
    match error.kind() {
        // what else there is to name is for those above to say
        io::ErrorKind::NotFound => DataError::NotFound { path: name.into(), known: String::new() },
        _ => read_error(name, error),
    }
}

fn read_error(name: &str, error: io::Error) -> DataError {
    DataError::Io { action: "read", path: name.into(), error }
}
