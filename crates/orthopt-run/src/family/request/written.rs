//! Values as users write them: typed, in a config file, or as arguments of Python and R.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::LinearInput;
use super::super::catalogue::{all_starts, parse_constants};
use super::super::rank::RankRule;
use crate::search::Effort;
use orthopt_core::linear_map::{AnyMap, LeftMatrix};
use orthopt_core::options::Given;
use orthopt_core::pair::options::Side;
use orthopt_core::pair::step::Model;
use orthopt_core::problem::{Between, Storage};
use orthopt_core::smooth::{Measure, Order, Placement};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_solvers::obcd::{Candidates, WorkingSet};

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, true or false, a text, or a list of them")]
pub enum Written {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Written>),
    /// The name of a file, which need not be text.
    #[serde(skip)]
    Path(PathBuf),
    /// A matrix.
    #[serde(skip)]
    Matrix(Arc<RowMat>),
}

impl Written {
    /// What is typed, as a config file has it.
    pub fn typed(text: &str) -> Self {
        let flag = text.parse().ok().map(Self::Flag);
        let whole = || text.parse().ok().map(Self::Whole);
        let number = || text.parse().ok().map(Self::Number);
        flag.or_else(whole).or_else(number).unwrap_or_else(|| Self::Text(text.into()))
    }

    /// The name of a file that it is.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Path(path) => Some(path.clone()),
            Self::Text(text) => Some(text.into()),
            _ => None,
        }
    }

    /// The whole number that it is, also of 3.0.
    pub(super) fn whole(&self) -> Option<u64> {
        const MOST: f64 = 9_007_199_254_740_992.0; // what an f64 holds exactly
        match self {
            Self::Whole(v) => u64::try_from(*v).ok(),
            Self::Number(v) if v.fract() == 0.0 && (0.0..=MOST).contains(v) => Some(*v as u64),
            _ => None,
        }
    }
}

impl From<&str> for Written {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<PathBuf> for Written {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<bool> for Written {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for Written {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Written {
    fn from(number: i32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<usize> for Written {
    fn from(number: usize) -> Self {
        i64::try_from(number).map_or(Self::Number(number as f64), Self::Whole)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Written {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(v) => v.fmt(f),
            Self::Whole(v) => v.fmt(f),
            Self::Number(v) => v.fmt(f),
            Self::Text(v) => f.write_str(v),
            Self::List(list) => {
                let list: Vec<_> = list.iter().map(Self::to_string).collect();
                f.write_str(&list.join(","))
            }
            Self::Path(path) => path.display().fmt(f),
            Self::Matrix(m) => write!(f, "a {} x {} matrix", m.nrows(), m.ncols()),
        }
    }
}

/// Constants of a config file.
///
/// # Errors
/// A constant that does not exist, a value that is out of range.
pub(super) fn constants_from_config<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Given, D::Error> {
    let written = BTreeMap::<String, Written>::deserialize(from)?;
    let all = written.iter().map(|(name, value)| (name.as_str(), value.to_string()));
    parse_constants(all).map_err(serde::de::Error::custom)
}

/// Numbers of nonzeros: `10`, `10,8,5` or `auto`; in a config file also `[10, 8, 5]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// One for all components, or one for each.
    Given(Vec<usize>),
    /// From the data.
    Auto,
}

const AUTO: &str = "auto";

/// A whole number that a config file can hold, too.
fn count(text: &str) -> Option<usize> {
    text.parse::<i64>().ok()?.try_into().ok()
}

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text.trim() == AUTO {
            return Ok(Self::Auto);
        }
        let one = |part: &str| {
            let number = count(part.trim())
                .ok_or_else(|| format!("`{part}` is not a whole number: give K, K1,K2,... or auto"))?;
            if number == 0 { Err("a component needs at least 1 nonzero".into()) } else { Ok(number) }
        };
        text.split(',').map(one).collect::<std::result::Result<_, _>>().map(Self::Given)
    }
}

/// The number of components: `3`, `90%` (also `0.9`) of the variance, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rank {
    /// The number.
    Given(usize),
    /// By a rule.
    By(RankRule),
}

impl From<usize> for Rank {
    fn from(rank: usize) -> Self {
        Self::Given(rank)
    }
}

impl FromStr for Rank {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        let wrong = || {
            format!(
                "`{text}` is no number of components: give R, a share of the variance above 0% and below 100%, or auto"
            )
        };
        let share = match text.strip_suffix('%') {
            _ if text == AUTO => return Ok(Self::By(RankRule::Auto)),
            Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
            None => match count(text) {
                Some(number) => return Ok(Self::Given(number)),
                None => text.parse(),
            },
        };
        let share = share.ok().filter(|share| *share > 0.0 && *share < 1.0).ok_or_else(wrong)?;
        Ok(Self::By(RankRule::Share(share)))
    }
}

/// Bytes: `500M`, `8G`, `1.5GB` or a number of them; M is a million, MiB 2²⁰.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let upper = text.trim().to_uppercase();
        let found = UNITS.iter().find_map(|(unit, bytes)| Some((upper.strip_suffix(unit)?, bytes)));
        let number = found.and_then(|(number, bytes)| Some(number.trim().parse::<f64>().ok()? * bytes));
        match number.filter(|bytes| bytes.is_finite() && *bytes >= 1.0) {
            Some(bytes) => Ok(Self(bytes as u64)),
            None => Err(format!("`{text}` is not a size: give 500M, 8G or a number of bytes")),
        }
    }
}

/// C itself in the place of samples: in a file, or as the data themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gram {
    /// The data are C.
    Data,
    /// C is in a file.
    File(PathBuf),
}

/// A value that may be a matrix: what is written for it, and the value, unless that is in a file that was not read.
#[derive(Clone, Debug)]
pub struct Input<T> {
    written: Written,
    value: Option<Arc<T>>,
}

impl<T> Input<T> {
    /// The value.
    pub fn value(&self) -> Option<&T> {
        self.value.as_deref()
    }
}

impl<T> From<T> for Input<T> {
    fn from(value: T) -> Self {
        Self { written: Written::Text("given".into()), value: Some(Arc::new(value)) }
    }
}

/// Types that a matrix or a text stands for.
pub trait OfMatrix: Sized {
    /// True if a text of the command names a file.
    const IS_FILE: super::IsFile;
    /// Their kind where they are read from a file.
    const KIND: super::Kind;

    /// From a matrix.
    ///
    /// # Errors
    /// A matrix that does not fit.
    fn of(matrix: &RowMat) -> Result<Self>;

    /// From a text that names no file.
    ///
    /// # Errors
    /// There is no such value.
    fn parse(text: &str) -> Result<Self>;
}

macro_rules! of_matrix {
    ($($type:ty as $kind:ident: |$matrix:ident| $of:expr, $parse:expr, $is_file:expr;)*) => {$(
        impl OfMatrix for $type {
            const IS_FILE: super::IsFile = $is_file;
            const KIND: super::Kind = super::Kind::$kind;

            fn of($matrix: &RowMat) -> Result<Self> {
                $of
            }

            fn parse(text: &str) -> Result<Self> {
                $parse(text)
            }
        }
    )*};
}

of_matrix! {
    RowMat as File: |m| Ok(m.clone()), |text| Err(invalid("it", text, "a matrix")), |_| true;
    AnyMap as Text: |m| LeftMatrix::new(m.as_mat()).map(Self::Left), Self::parse,
        |text| has_ending(text) && matches!(AnyMap::parse(text), Err(Error::UnknownName { .. }));
    LinearInput as Text: |m| Ok(Self::Given(m.clone())), Self::parse, |text| !LinearInput::is_normal(text);
    Start as Text: |m| Ok(Self::Given(m.clone())), start,
        |text| start(text).is_err() && (has_ending(text) || Path::new(text).exists());
}

fn has_ending(text: &str) -> bool {
    Path::new(text).extension().is_some()
}

fn start(text: &str) -> Result<Start> {
    let is_named = all_starts().iter().any(|start| start.0 == text);
    if is_named { Ok(Start::named(text)) } else { Start::parse(text) }
}

impl<T: OfMatrix> Field for Input<T> {
    const KIND: super::Kind = T::KIND;
    const IS_FILE: Option<super::IsFile> = Some(T::IS_FILE);

    fn read(written: &Written) -> Option<Result<Self>> {
        let value = match written {
            Written::Matrix(matrix) => T::of(matrix).map(Some),
            Written::Path(_) => Ok(None),
            Written::Text(text) => T::parse(text).map(Some),
            _ => return None,
        };
        Some(value.map(|value| Self { written: written.clone(), value: value.map(Arc::new) }))
    }

    fn write(&self) -> Written {
        self.written.clone()
    }

    fn from_config<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let written = match T::KIND {
            super::Kind::File => PathBuf::deserialize(from)?.into(),
            _ => text(from)?,
        };
        let file = written.path().filter(|path| path.to_str().is_none_or(T::IS_FILE));
        named(&file.map_or(written, Written::Path))
    }
}

fn weights(text: &str) -> Result<Vec<f64>> {
    let parts = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|part| !part.is_empty());
    let weights: Option<Vec<f64>> =
        parts.map(|part| part.parse().ok().filter(|d: &f64| d.is_finite())).collect();
    let wrong = || invalid("component-weights", text, "finite numbers, one for each component");
    weights.filter(|weights| !weights.is_empty()).ok_or_else(wrong)
}

fn candidates(text: &str) -> Result<Candidates> {
    match text {
        "all" => Ok(Candidates::All),
        _ => text
            .parse()
            .map(Candidates::Sample)
            .map_err(|_| invalid("candidates", text, "a number of pairs, or all")),
    }
}

fn invalid(option: &str, value: &str, expected: &str) -> Error {
    Error::InvalidOption { option: option.into(), value: value.into(), expected: expected.into() }
}

/// Types of options.
pub trait Field: Sized {
    /// What they are to users.
    const KIND: super::Kind;
    /// Where a value may be a matrix: whether a text of the command names a file of one.
    const IS_FILE: Option<super::IsFile> = None;

    /// From what is written; `None` where that is of another kind.
    ///
    /// # Errors
    /// A name that does not exist.
    fn read(written: &Written) -> Option<Result<Self>>;

    /// As it is written.
    fn write(&self) -> Written;

    /// From a config file.
    ///
    /// # Errors
    /// A value of another kind, or a name that does not exist.
    fn from_config<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error>;

    /// For a config file.
    ///
    /// # Errors
    /// A value that such a file does not hold.
    fn to_config<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.write() {
            Written::Path(path) => path.serialize(to),
            written => written.serialize(to),
        }
    }
}

/// The field of a config file.
///
/// # Errors
/// Those of [`Field::from_config`].
pub(super) fn from_config<'de, T: Field, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::from_config(from).map(Some)
}

/// The same for a config file.
///
/// # Errors
/// Those of [`Field::to_config`].
pub(super) fn to_config<T: Field, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    match value {
        Some(value) => value.to_config(to),
        None => to.serialize_none(),
    }
}

fn text<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Written, D::Error> {
    String::deserialize(from).map(Written::Text)
}

/// A text that stands for a value.
fn named<T: Field, E: serde::de::Error>(written: &Written) -> std::result::Result<T, E> {
    let read = T::read(written).unwrap_or_else(|| Err(invalid("it", &written.to_string(), "a text")));
    read.map_err(E::custom)
}

/// Types that a config file holds as they are.
macro_rules! plain {
    ($($type:ty as $kind:ident: |$w:ident| $read:expr, |$v:ident| $write:expr;)*) => {$(
        impl Field for $type {
            const KIND: super::Kind = super::Kind::$kind;

            fn read($w: &Written) -> Option<Result<Self>> {
                $read.map(Ok)
            }

            fn write(&self) -> Written {
                let $v = self;
                $write
            }

            fn from_config<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                Self::deserialize(from)
            }

            fn to_config<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                self.serialize(to)
            }
        }
    )*};
}

plain! {
    bool as Flag: |w| if let Written::Flag(v) = w { Some(*v) } else { None }, |v| Written::Flag(*v);
    usize as Whole: |w| w.whole().and_then(|v| v.try_into().ok()), |v| Written::Whole(*v as i64);
    u64 as Whole: |w| w.whole(), |v| Written::Whole(*v as i64);
    f64 as Number: |w| match w {
        Written::Number(v) => Some(*v),
        Written::Whole(v) => Some(*v as f64),
        _ => None,
    }, |v| Written::Number(*v);
    String as Text: |w| if let Written::Text(v) = w { Some(v.clone()) } else { None }, |v| Written::Text(v.clone());
    PathBuf as File: |w| w.path(), |v| Written::Path(v.clone());
    Vec<PathBuf> as Files: |w| match w {
        Written::List(list) => list.iter().map(Written::path).collect(),
        one => one.path().map(|path| vec![path]),
    }, |v| Written::List(v.iter().map(PathBuf::write).collect());
}

/// Types whose values have names.
macro_rules! names {
    ($($type:ty: $parse:expr, |$v:ident| $name:expr;)*) => {$(
        impl Field for $type {
            const KIND: super::Kind = super::Kind::Text;

            fn read(written: &Written) -> Option<Result<Self>> {
                if let Written::Text(text) = written { Some($parse(text)) } else { None }
            }

            fn write(&self) -> Written {
                let $v = self;
                Written::Text($name.into())
            }

            fn from_config<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                named(&text(from)?)
            }
        }
    )*};
}

names! {
    Storage: Self::parse, |v| v.name();
    Between: Self::parse, |v| v.name();
    Measure: Self::parse, |v| v.name();
    Order: Self::parse, |v| v.name();
    Placement: Self::parse, |v| v.name();
    Effort: Self::parse, |v| v.name();
    WorkingSet: Self::parse, |v| v.name();
    Model: Self::parse, |v| v.name();
    Side: Self::parse, |v| v.name();
    Candidates: candidates, |v| v.value().to_string();
    Vec<f64>: weights, |v| v.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
}

/// Types that are written in several ways.
macro_rules! several {
    ($($type:ty as $kind:ident, $expected:literal: |$w:ident| $read:expr, |$v:ident| $write:expr;)*) => {$(
        impl Field for $type {
            const KIND: super::Kind = super::Kind::$kind;

            fn read($w: &Written) -> Option<Result<Self>> {
                let read = || $read;
                read().map(Ok)
            }

            fn write(&self) -> Written {
                let $v = self;
                $write
            }

            fn from_config<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let written = Written::deserialize(from)?;
                let wrong = || serde::de::Error::custom(format!("{written} is given, expected {}", $expected));
                Self::read(&written).and_then(Result::ok).ok_or_else(wrong)
            }
        }
    )*};
}

several! {
    Gram as Gram, "the name of a file": |w| match w {
        Written::Flag(given) => given.then_some(Gram::Data),
        file => file.path().map(Gram::File),
    }, |v| match v {
        Gram::Data => Written::Flag(true),
        Gram::File(path) => Written::Path(path.clone()),
    };
    Counts as Counts, "a whole number >= 1, a list of them, or a text like \"10,8,5\" or \"auto\"": |w| match w {
        Written::Whole(_) | Written::Number(_) => w.whole()?.to_string().parse().ok(),
        Written::Text(text) => text.parse().ok(),
        Written::List(list) => {
            let list: Option<Vec<_>> = list.iter().map(|one| Some(one.whole()?.to_string())).collect();
            list?.join(",").parse().ok()
        }
        _ => None,
    }, |v| match v {
        Counts::Auto => Written::Text(AUTO.into()),
        Counts::Given(list) if list.len() == 1 => Written::Whole(list[0] as i64),
        Counts::Given(list) => Written::List(list.iter().map(usize::write).collect()),
    };
    Rank as Rank, "a whole number >= 1, a share of the variance like \"90%\" or 0.9, or \"auto\"": |w| match w {
        Written::Whole(_) | Written::Number(_) if w.whole().is_some() => w.whole()?.try_into().ok().map(Rank::Given),
        Written::Number(_) | Written::Text(_) => w.to_string().parse().ok(),
        _ => None,
    }, |v| match v {
        Rank::Given(rank) => Written::Whole(*rank as i64),
        Rank::By(RankRule::Share(share)) => Written::Number(*share),
        Rank::By(RankRule::Auto) => Written::Text(AUTO.into()),
    };
    Size as Size, "a text like \"500M\" or \"8G\", or a number of bytes": |w| match w {
        Written::Whole(_) | Written::Number(_) | Written::Text(_) => w.to_string().parse().ok(),
        _ => None,
    }, |v| Written::Text(v.0.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_written() {
        assert_eq!("10".parse(), Ok(Counts::Given(vec![10])));
        assert_eq!("10, 8,5".parse(), Ok(Counts::Given(vec![10, 8, 5])));
        assert!("10,x".parse::<Counts>().unwrap_err().contains("`x` is not a whole number"));
        assert!("0".parse::<Counts>().is_err());
        let read = |json: &str| Counts::from_config(&mut serde_json::Deserializer::from_str(json));
        for (text, counts) in [("4", vec![4]), ("[4, 3]", vec![4, 3]), ("\"4,3\"", vec![4, 3])] {
            let found = read(text).unwrap();
            assert_eq!(found, Counts::Given(counts));
            assert_eq!(read(&serde_json::to_string(&found.write()).unwrap()).unwrap(), found);
        }
        assert_eq!(read("\"auto\"").unwrap(), Counts::Auto);
        assert!(
            "9223372036854775808".parse::<Counts>().is_err()
                && "2,9223372036854775808".parse::<Counts>().is_err()
        );
        assert!(read("-1").is_err() && read("[2, 0]").is_err() && read("true").is_err());
    }

    /// What can be read can be written to a config file, whose whole numbers have 63 bits.
    #[test]
    fn numbers_that_no_config_file_holds() {
        let (most, more) = (i64::MAX.to_string(), (i64::MAX as u64 + 1).to_string());
        assert_eq!(most.parse::<Rank>().unwrap().write(), Written::Whole(i64::MAX));
        assert_eq!(most.parse::<Counts>().unwrap().write(), Written::Whole(i64::MAX));
        assert!(more.parse::<Rank>().is_err() && more.parse::<Counts>().is_err());
        assert!(format!("3,{more}").parse::<Counts>().is_err());
    }

    #[test]
    fn ranks_are_read_and_written() {
        let share = |share| Ok(Rank::By(RankRule::Share(share)));
        assert_eq!("3".parse(), Ok(Rank::Given(3)));
        assert_eq!(["90%", "0.9", " 90 % "].map(str::parse::<Rank>), [share(0.9), share(0.9), share(0.9)]);
        assert_eq!("auto".parse(), Ok(Rank::By(RankRule::Auto)));
        for bad in
            ["0%", "100%", "101%", "-5%", "1.5", "-1", "9223372036854775808", "nan%", "inf", "all", "", "%"]
        {
            assert!(bad.parse::<Rank>().unwrap_err().contains("above 0% and below 100%"), "{bad}");
        }
        let read = |json: &str| Rank::from_config(&mut serde_json::Deserializer::from_str(json));
        for (json, rank) in [
            ("4", Rank::Given(4)),
            ("4.0", Rank::Given(4)),
            ("0.75", Rank::By(RankRule::Share(0.75))),
            ("\"75%\"", Rank::By(RankRule::Share(0.75))),
            ("\"auto\"", Rank::By(RankRule::Auto)),
        ] {
            let found = read(json).unwrap();
            assert_eq!(found, rank);
            assert_eq!(read(&serde_json::to_string(&found.write()).unwrap()).unwrap(), found);
        }
        assert!(read("-1").is_err() && read("1.5").is_err() && read("true").is_err());
    }

    #[test]
    fn sizes_are_read_and_written() {
        let read = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(
            [read("500M"), read("8G"), read("1.5 gb")],
            [Ok(500_000_000), Ok(8_000_000_000), Ok(1_500_000_000)]
        );
        assert_eq!([read("2GiB"), read("77"), read("3kB")], [Ok(2_147_483_648), Ok(77), Ok(3000)]);
        for bad in ["", "G", "-1G", "0", "nan", "8X", "inf"] {
            assert!(read(bad).unwrap_err().contains("is not a size"), "{bad}");
        }
        assert_eq!(Size::read(&Size(123).write()).unwrap().ok(), Some(Size(123)));
    }
}
