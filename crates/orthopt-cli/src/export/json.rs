//! Results as JSON; the fields are those of [`orthopt::report`].

use std::io;
use std::path::Path;

use orthopt::report::{Model, Object, Report};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{Formatter, PrettyFormatter};

use super::to_file;
use crate::model::checksum;
use crate::output;
use crate::wording::word;

/// The object of `solve`: the report of the run, and the model that `transform` reads.
#[derive(Debug, Serialize)]
pub struct Solved<'a> {
    #[serde(flatten)]
    object: Object<'a>,
    #[serde(flatten)]
    model: Model<'a>,
    checksum: Option<String>,
}

impl<'a> Solved<'a> {
    pub fn of(report: &'a Report) -> Self {
        let data = &report.task.data;
        let (names, means, scales) = (data.names.as_deref(), data.means.as_deref(), data.scales.as_deref());
        let checksum = checksum(names, means, scales, report.x()).ok();
        Self { object: report.object(word), model: report.model(), checksum }
    }
}

/// Writes `value` to the file, or to stdout for `-`.
pub fn write(value: &impl Serialize, path: &Path) -> anyhow::Result<()> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Readable::default()))?;
    text.push(b'\n');
    if path == Path::new("-") {
        return output::print_bytes(&text);
    }
    to_file(path, |out| out.write_all(&text))
}

/// Pretty-printed JSON with inner arrays (the rows of X) on one line each.
#[derive(Default)]
struct Readable {
    pretty: PrettyFormatter<'static>,
    open: Vec<u8>, // the brackets around
}

impl Readable {
    /// True if the innermost array is inside of another one.
    fn inline(&self) -> bool {
        self.open.ends_with(b"[[")
    }
}

impl Formatter for Readable {
    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open.push(b'[');
        if self.inline() { out.write_all(b"[") } else { self.pretty.begin_array(out) }
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        let inline = self.inline();
        self.open.pop();
        if inline { out.write_all(b"]") } else { self.pretty.end_array(out) }
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        match self.inline() {
            true if first => Ok(()),
            true => out.write_all(b", "),
            false => self.pretty.begin_array_value(out, first),
        }
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.inline() { Ok(()) } else { self.pretty.end_array_value(out) }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open.push(b'{');
        self.pretty.begin_object(out)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open.pop();
        self.pretty.end_object(out)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_matrix_take_a_line_each() {
        let value = serde_json::json!({"a": [1, 2], "x": [[1.5, 0.0], [-2.0, 1e-300]], "o": [{"k": [[]]}]});
        let mut text = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut text, Readable::default())).unwrap();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap(), value);
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\n    [1.5, 0.0],\n    [-2.0, 1e-300]\n  ]"), "{text}");
        assert!(text.contains("\"a\": [\n    1,\n    2\n  ]"), "{text}");
    }
}
