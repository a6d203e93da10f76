//! Sizes in bytes as given on the command line or in a config file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `500M`, `8G`, `1.5GB` or a number of bytes; M is a million, MiB 2²⁰.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size(pub u64);

const UNITS: [(&str, f64); 14] = [
    ("KIB", 1024.0),
    ("MIB", 1048576.0),
    ("GIB", 1073741824.0),
    ("TIB", 1099511627776.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("B", 1.0),
    ("", 1.0),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let upper = text.trim().to_uppercase();
        let found = UNITS.iter().find_map(|(unit, bytes)| Some((upper.strip_suffix(unit)?, bytes)));
        let number = found.and_then(|(number, bytes)| Some(number.trim().parse::<f64>().ok()? * bytes));
        match number.filter(|bytes| bytes.is_finite() && *bytes >= 1.0) {
            Some(bytes) => Ok(Self(bytes as u64)),
            None => Err(format!("`{text}` is not a size: give 500M, 8G or a number of bytes")),
        }
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Size> for String {
    fn from(size: Size) -> Self {
        size.to_string()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        let read = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(
            [read("500M"), read("8G"), read("1.5 gb")],
            [Ok(500_000_000), Ok(8_000_000_000), Ok(1_500_000_000)]
        );
        assert_eq!([read("2GiB"), read("77"), read("3kB")], [Ok(2_147_483_648), Ok(77), Ok(3000)]);
        for bad in ["", "G", "-1G", "0", "nan", "8X", "inf"] {
            assert!(read(bad).unwrap_err().contains("is no size"), "{bad}");
        }
        assert_eq!(read(&Size(123).to_string()), Ok(123));
    }
}
