//! The declaration of an option: one entry of [`OPTIONS`] gives the field of [`Request`], the key of config files, the
//! argument of the command, the keyword of Python, the argument of R, the line in the documentation, and what the option
//! means something for.
//!
//! ```text
//! options! {
//!     /// Weight of the penalty
//!     lambda: f64 = problem("LAMBDA", ALL).common("weight of the penalty").at_least(0.0).python("lam")
//!         .means(Of::Problem, "a penalty with a weight", |case| Some(case.has_lambda()));
//! }
//! ```
//!
//! The comment is the help, the type is one that implements [`Field`], and the expression says what is not the default
//! of an [`Entry`]. What reads the field of `Request` is the only other place that knows the option.

use super::case::{Call, Case};
use super::{OPTIONS, Request, Written};
use orthopt_core::options::Constants;
use orthopt_core::pair::options::JobcdOptions;
use orthopt_linalg::error::{Error, Result};
use orthopt_solvers::obcd::ObcdOptions;

/// A front end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Front {
    /// The command `orthopt`.
    #[default]
    Command,
    /// The Python package.
    Python,
    /// The R package.
    R,
    /// The C library, and MATLAB and Octave.
    C,
}

/// Name, values and help of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// A whole number >= 0.
    Whole,
    /// A number.
    Number,
    /// A text.
    Text,
    /// The name of a file.
    File,
    /// Names of files.
    Files,
    /// A number of nonzeros, one for each component, or `auto`.
    Counts,
    /// A number of components, a share of the variance, or `auto`.
    Rank,
    /// A number of bytes.
    Size,
    /// C itself: a file in the command, yes or no where data are matrices.
    Gram,
}

/// Where an option stands in help and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Data and their preparation.
    Data,
    /// How tables are read.
    Table,
    /// The problem.
    Problem,
    /// How.
    Solver,
    /// When a run ends.
    Stopping,
    /// Options that methods on pairs of rows share.
    Pairs,
    /// Checks and proofs of X.
    Certificate,
    /// Files and words.
    Output,
}

impl Group {
    /// All, in the order of help and documentation.
    pub const ALL: [Self; 8] = [
        Self::Data,
        Self::Table,
        Self::Problem,
        Self::Solver,
        Self::Stopping,
        Self::Pairs,
        Self::Certificate,
        Self::Output,
    ];

    /// The heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Data => "Data",
            Self::Table => "Table",
            Self::Problem => "Problem",
            Self::Solver => "Solver and start",
            Self::Stopping => "Stopping",
            Self::Pairs => "OBCD and JOBCD",
            Self::Certificate => "Certificate",
            Self::Output => "Output",
        }
    }
}

/// The use of a file that an option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// None: no file is named.
    None,
    /// It is read.
    Read,
    /// It is written.
    Written,
}

/// The part of a case that decides whether an option means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The data.
    Data,
    /// The problem.
    Problem,
    /// The solvers that run.
    Run,
}

/// Tells whether a text names a file.
pub type IsFile = fn(&str) -> bool;

/// Names with one line each.
pub type Choices = Vec<(&'static str, &'static str)>;

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name: that of the field of [`Request`], with hyphens.
    pub name: &'static str,
    doc: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Where it stands.
    pub group: Group,
    /// The name of its value in help.
    pub value: &'static str,
    /// The letter of the command.
    pub short: Option<char>,
    /// An argument of the command without a name.
    pub positional: bool,
    /// Its line of the short help; empty where it is not in it.
    pub common: &'static str,
    /// The least number.
    pub least: Option<f64>,
    /// The value where nothing is said, as it is typed; empty where it is chosen or nothing.
    pub default: &'static str,
    /// The value that the option alone stands for, as it is typed; empty where it needs one.
    pub alone: &'static str,
    /// The words there are.
    pub choices: Option<fn() -> Choices>,
    /// True if help lists the choices.
    pub listed: bool,
    /// Options that it excludes.
    pub excludes: &'static [&'static str],
    /// Whether a text may be a number, or a list of them.
    pub numeric: bool,
    /// The use of the file that it names.
    pub file: FileUse,
    /// Where the value may be a matrix: whether a text of the command names the file of one.
    pub matrix: Option<IsFile>,
    /// The calls that it means something to.
    pub calls: &'static [Call],
    /// Scope, as the end of "it is for ...".
    pub scope: &'static str,
    /// The option that it needs beside it, where one is missing.
    pub(super) needs: &'static str,
    pub(super) of: Of,
    pub(super) means: fn(&Case) -> Option<bool>,
    python: &'static str,
    r: &'static str,
    without: &'static [(Front, &'static str)],
    set: fn(&mut Request, Option<&Written>) -> Result<bool>,
    get: fn(&Request) -> Option<Written>,
}

/// An option of a group that means something wherever a call takes it.
pub(super) const fn option(group: Group, value: &'static str, calls: &'static [Call]) -> Entry {
    Entry {
        name: "",
        doc: "",
        kind: Kind::Text,
        group,
        value,
        short: None,
        positional: false,
        common: "",
        least: None,
        default: "",
        alone: "",
        choices: None,
        listed: false,
        excludes: &[],
        numeric: false,
        file: FileUse::None,
        matrix: None,
        calls,
        scope: "every problem",
        needs: "",
        of: Of::Problem,
        means: |_| Some(true),
        python: "",
        r: "",
        without: &[],
        set: |_, _| Ok(false),
        get: |_| None,
    }
}

/// One method of the builder for each field.
macro_rules! builder {
    ($($(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),*) { $($field:ident = $value:expr),* })*) => {
        impl Entry {
            $($(#[$meta])* pub(super) const fn $name(mut self $(, $arg: $type)*) -> Self {
                $(self.$field = $value;)*
                self
            })*
        }
    };
}

builder! {
    short(letter: char) { short = Some(letter) }
    positional() { positional = true }
    common(line: &'static str) { common = line }
    at_least(least: f64) { least = Some(least) }
    default(text: &'static str) { default = text }
    alone(text: &'static str) { alone = text }
    one_of(choices: fn() -> Choices) { choices = Some(choices) }
    listed() { listed = true }
    excludes(names: &'static [&'static str]) { excludes = names }
    numeric() { numeric = true }
    reads() { file = FileUse::Read }
    writes() { file = FileUse::Written }
    means(of: Of, scope: &'static str, means: fn(&Case) -> Option<bool>) { of = of, scope = scope, means = means }
    needs(option: &'static str) { needs = option }
    of_samples() { of = Of::Data, scope = "samples", means = |case| case.of_samples() }
    python(name: &'static str) { python = name }
    r(name: &'static str) { r = name }
    without(fronts: &'static [(Front, &'static str)]) { without = fronts }
}

impl Entry {
    /// With its name, help and kind, and how its field is set and read.
    pub(super) const fn named(
        mut self,
        name: &'static str,
        doc: &'static str,
        (kind, matrix): (Kind, Option<IsFile>),
        set: fn(&mut Request, Option<&Written>) -> Result<bool>,
        get: fn(&Request) -> Option<Written>,
    ) -> Self {
        self.name = name;
        self.doc = doc.trim_ascii();
        self.kind = kind;
        self.matrix = matrix;
        if matrix.is_some() {
            self.file = FileUse::Read;
        }
        self.set = set;
        self.get = get;
        self
    }

    /// The name in a front end.
    pub fn name_in(&self, front: Front) -> String {
        let own = match front {
            Front::Command => return self.name.into(),
            Front::Python => self.python,
            Front::R => self.r,
            Front::C => "",
        };
        if own.is_empty() { self.name.replace('-', "_") } else { own.into() }
    }

    /// Why a front end does not have it; `None` where it does.
    pub fn lacked_by(&self, front: Front) -> Option<&'static str> {
        // C takes data in memory, as Python does
        let front = if front == Front::C { Front::Python } else { front };
        self.without.iter().find(|(other, _)| *other == front).map(|(_, why)| *why)
    }

    /// Further needs, in words.
    pub(super) fn needed(&self) -> &'static str {
        match self.needs {
            "rank" => "a rank of auto",
            "total-nonzeros" => "a total of nonzeros",
            _ => "a number of nonzeros",
        }
    }

    /// The help in one line. The options of methods on pairs of rows are declared with these methods.
    pub fn help(&self) -> String {
        let constants = ObcdOptions::LIST.iter().chain(JobcdOptions::LIST);
        match constants.into_iter().find(|c| self.group == Group::Pairs && c.name == self.name) {
            Some(constant) => constant.line(),
            None if self.default.is_empty() || self.kind == Kind::Flag || self.doc.contains("[default") => {
                self.doc.into()
            }
            None => format!("{} [default: {}]", self.doc, self.default),
        }
    }

    /// Allowed values, in words.
    pub fn expected(&self, front: Front) -> String {
        match (self.kind, self.least) {
            _ if self.choices.is_some() => self.names().join(", "),
            (Kind::Flag, _) => "true or false".into(),
            (Kind::Gram, _) if front != Front::Command => "true or false".into(),
            (Kind::Whole, least) => format!("a whole number >= {}", least.unwrap_or(0.0)),
            (Kind::Number, Some(least)) => format!("a finite number >= {least}"),
            (Kind::Number, None) => "a number".into(),
            (Kind::Counts, _) => "a whole number >= 1, one for each component, or auto".into(),
            (Kind::Rank, _) => {
                "a whole number >= 1, a share of the variance above 0% and below 100% (90% or 0.9), or auto"
                    .into()
            }
            (Kind::Size, _) => "a number of bytes, or a text like 500M or 8G".into(),
            (Kind::File | Kind::Files, _) if self.matrix.is_some() && front != Front::Command => {
                "a matrix".into()
            }
            (Kind::File | Kind::Files | Kind::Gram, _) => "the name of a file".into(),
            (Kind::Text, _) => "a text".into(),
        }
    }

    /// The words there are.
    pub fn names(&self) -> Vec<&'static str> {
        self.choices.map_or(Vec::new(), |choices| choices().into_iter().map(|(name, _)| name).collect())
    }

    /// The value that a typed text stands for.
    ///
    /// # Errors
    /// The expected value.
    pub fn typed(&self, text: &str) -> std::result::Result<Written, String> {
        let written = match self.kind {
            Kind::Text | Kind::File | Kind::Files | Kind::Gram | Kind::Size | Kind::Rank => {
                Written::Text(text.into())
            }
            Kind::Counts if text.parse::<i64>().is_err() => Written::Text(text.into()),
            _ => Written::typed(text),
        };
        // what is wrong with a name is said where it is set
        let fits = |written: &Written| self.set(&mut Request::default(), written).unwrap_or(true);
        match (self.kind, &written) {
            (Kind::Counts, _) => text.parse::<super::Counts>().map(|_| written),
            (Kind::Rank, _) => text.parse::<super::Rank>().map(|_| written),
            (Kind::Size, _) => text.parse::<super::Size>().map(|_| written),
            _ if fits(&written) => Ok(written),
            _ => Err(format!("expected {}", self.expected(Front::Command))),
        }
    }

    /// Sets the field, and says whether the value is of its kind.
    ///
    /// # Errors
    /// A name that does not exist, or another text that the type of the field refuses.
    pub fn set(&self, request: &mut Request, written: &Written) -> Result<bool> {
        let front = request.front;
        let is_file =
            |text: &str| front == Front::Command && self.matrix.is_some_and(|is_file| is_file(text));
        let other = match written {
            Written::Flag(false) if !self.alone.is_empty() => return Ok(true),
            Written::Flag(true) if !self.alone.is_empty() => self.typed(self.alone).ok(),
            Written::Text(text) if is_file(text) => Some(Written::Path(text.into())),
            Written::Whole(_) | Written::Number(_) if self.numeric => {
                Some(Written::Text(written.to_string()))
            }
            // a list of one sign is no number of them
            Written::List(list) if self.numeric => {
                Some(Written::Text(list.iter().map(|one| format!("{one} ")).collect()))
            }
            _ => None,
        };
        let written = other.as_ref().unwrap_or(written);
        (self.set)(request, Some(written)).map_err(|error| self.in_words_of(front, error))
    }

    /// An error about the value, with the name of the option in the front end, and with files where it takes them.
    fn in_words_of(&self, front: Front, error: Error) -> Error {
        match error {
            Error::InvalidOption { option, value, expected } if option == self.name => {
                Error::InvalidOption { option: self.name_in(front), value, expected }
            }
            Error::UnknownName { kind, name, known }
                if self.matrix.is_some() && front == Front::Command && !known.ends_with("file") =>
            {
                let known = format!("{known}, or a file (--{} FILE.npy)", self.name);
                Error::UnknownName { kind, name, known }
            }
            error => error,
        }
    }

    /// Leaves the field open.
    pub fn clear(&self, request: &mut Request) {
        let _ = (self.set)(request, None); // nothing is read
    }

    /// The value of the field.
    pub fn get(&self, request: &Request) -> Option<Written> {
        (self.get)(request)
    }

    /// True if a value is what holds where nothing is said; no flag is one too.
    pub(super) fn is_default(&self, written: &Written) -> bool {
        let number = |w: &Written| match w {
            Written::Whole(v) => Some(*v as f64),
            Written::Number(v) => Some(*v),
            Written::Text(text) => text.parse().ok(),
            _ => None,
        };
        let default = Written::Text(self.default.into());
        *written == Written::Flag(false)
            || *written == default
            || (number(written).is_some() && number(written) == number(&default))
    }
}

/// The option of this name in a front end; where two share it, the first.
pub fn find_option(name: &str, front: Front) -> Option<&'static Entry> {
    OPTIONS.iter().find(|entry| entry.lacked_by(front).is_none() && entry.name_in(front) == name)
}

/// See the [module](self).
macro_rules! options {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $entry:expr;)*) => {
        /// A request: every option of every front end, `None` where it is not given, with which problems are posed, solvers planned
        /// and runs made. A config file has the names of the command as its keys.
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
        pub struct Request {
            $(
                #[doc = concat!("`", stringify!($field), "` of [`OPTIONS`].")]
                #[serde(
                    skip_serializing_if = "Option::is_none",
                    serialize_with = "to_config",
                    deserialize_with = "from_config"
                )]
                pub $field: Option<$type>,
            )*
            /// Constants of solvers and penalties: `owner-constant` to value.
            #[serde(skip_serializing_if = "Given::is_empty", deserialize_with = "constants_from_config")]
            pub constants: Given,
            /// The front end whose names errors have.
            #[serde(skip)]
            pub front: Front,
            /// True if the eigenvalues are requested for a picture.
            #[serde(skip)]
            pub show_scree: bool,
            /// The eigenvalues, once they are known ([`with_rank`](Self::with_rank)).
            #[serde(skip)]
            pub scree: Option<Arc<Scree>>,
            /// Factor for printing numbers with the unit of λ, of data that were divided by a power of two.
            #[doc(hidden)]
            #[serde(skip)]
            pub unit: Option<f64>,
            /// Work of a search (multiplications, roughly), at most; any if `None`. It means the same for any number of threads.
            #[doc(hidden)]
            #[serde(skip)]
            pub work: Option<u64>,
            /// Constants and parts of the search.
            #[doc(hidden)]
            #[serde(skip)]
            pub tuning: Tuning,
            /// Results of searches of the same data with other limits or another λ.
            #[doc(hidden)]
            #[serde(skip)]
            pub carried: WarmStart,
        }

        /// Every option, declared once.
        pub static OPTIONS: &[Entry] = &[$($entry.named(
            {
                const BYTES: [u8; stringify!($field).len()] =
                    orthopt_core::options::declare::hyphened(stringify!($field));
                orthopt_core::options::declare::text(&BYTES)
            },
            concat!($($doc),+),
            (<$type as Field>::KIND, <$type as Field>::IS_FILE),
            |request, written| {
                let value = match written {
                    None => None,
                    Some(written) => match <$type as Field>::read(written) {
                        None => return Ok(false),
                        Some(value) => Some(value?),
                    },
                };
                request.$field = value;
                Ok(true)
            },
            |request| request.$field.as_ref().map(Field::write),
        ),)*];
    };
}

pub(super) use options;
