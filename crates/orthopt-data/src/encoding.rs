//! Text that is not UTF-8 with line feeds: UTF-16 of spreadsheets, carriage returns of old ones.

use std::io::{self, BufRead, Read};

/// Form of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// UTF-16, the low byte first or last.
    Utf16 { big: bool },
    /// Lines that end with a carriage return alone.
    Returns,
}

impl Form {
    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf16 { .. } => "UTF-16",
            Self::Returns => "lines end with carriage returns",
        }
    }
}

/// The form of text that begins with these bytes; `None` for the usual one.
pub(crate) fn of(start: &[u8]) -> Option<Form> {
    let ascii = |byte: u8| byte != 0 && byte.is_ascii();
    match start {
        [0xff, 0xfe, ..] if !start.starts_with(&[0xff, 0xfe, 0, 0]) => {
            return Some(Form::Utf16 { big: false });
        }
        [0xfe, 0xff, ..] => return Some(Form::Utf16 { big: true }),
        [a, 0, b, 0, ..] if ascii(*a) && ascii(*b) => return Some(Form::Utf16 { big: false }),
        [0, a, 0, b, ..] if ascii(*a) && ascii(*b) => return Some(Form::Utf16 { big: true }),
        _ => {}
    }
    let lone = |pair: &[u8]| pair[0] == b'\r' && pair[1] != b'\n';
    (start.windows(2).any(lone) && !start.contains(&b'\n')).then_some(Form::Returns)
}

/// Bytes of text in another form, as UTF-8 with line feeds.
pub(crate) struct Decoded {
    inner: Box<dyn BufRead>,
    form: Form,
    ready: Vec<u8>,    // decoded
    given: usize,      // of these
    half: Option<u8>,  // the first byte of a unit
    high: Option<u16>, // the first unit of a pair
}

impl Decoded {
    pub(crate) fn new(inner: Box<dyn BufRead>, form: Form) -> Self {
        Self { inner, form, ready: Vec::new(), given: 0, half: None, high: None }
    }

    /// Decodes what is buffered; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.ready.clear();
        self.given = 0;
        let bytes = self.inner.fill_buf()?.to_vec();
        self.inner.consume(bytes.len());
        match self.form {
            Form::Returns => self.ready.extend(bytes.iter().map(|b| if *b == b'\r' { b'\n' } else { *b })),
            Form::Utf16 { big } => {
                for byte in &bytes {
                    let Some(first) = self.half.take() else {
                        self.half = Some(*byte);
                        continue;
                    };
                    let unit = if big { [first, *byte] } else { [*byte, first] };
                    self.push(u16::from_be_bytes(unit));
                }
                if bytes.is_empty() && (self.half.take().is_some() | self.high.take().is_some()) {
                    self.char(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        Ok(!bytes.is_empty() || !self.ready.is_empty())
    }

    fn push(&mut self, unit: u16) {
        let units = self.high.take().into_iter().chain([unit]);
        if (0xd800..0xdc00).contains(&unit) {
            if units.count() > 1 {
                self.char(char::REPLACEMENT_CHARACTER);
            }
            self.high = Some(unit);
            return;
        }
        for decoded in char::decode_utf16(units) {
            self.char(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    fn char(&mut self, c: char) {
        let mut bytes = [0; 4];
        self.ready.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.ready.len() - self.given);
        buffer[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> String {
        let form = of(bytes).unwrap();
        let mut text = String::new();
        // a buffer of one byte, so that units and pairs are cut
        let reader = io::BufReader::with_capacity(1, io::Cursor::new(bytes.to_vec()));
        Decoded::new(Box::new(reader), form).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn utf_16() {
        for text in ["\u{feff}Höhe\t1,5\r\n", "a\tb\n", "\u{feff}x\u{1f600}y"] {
            let units: Vec<u16> = text.encode_utf16().collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            assert_eq!(decoded(&little), text);
            assert_eq!(decoded(&big), text);
        }
        assert_eq!(decoded(&[0xff, 0xfe, b'a', 0, 0x3d, 0xd8, b'b', 0, 7]), "\u{feff}a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn carriage_returns() {
        assert_eq!(decoded(b"a,b\r1,2\r"), "a,b\n1,2\n");
        assert_eq!(of(b"a,b\r\n1,2\r\n"), None);
        assert_eq!(of(b"a,b\r"), None);
        assert_eq!(of(b"a,b\n"), None);
    }
}
