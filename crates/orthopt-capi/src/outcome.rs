//! What a function returns: X, numbers and the JSON of the result, or an error.

use std::any::Any;
use std::ffi::{CStr, CString};

use orthopt::message::{Hint, Message};
use orthopt::request::{Front, OPTIONS};
use orthopt::{Error, RowMat};
use orthopt_data::DataError;
use orthopt_foreign::errors::{class_of, class_of_data};
use serde::Serialize;
use serde_json::{Value, json};

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// Said by the library.
    Library(Error),
    /// Said by the readers of data.
    Data(DataError),
    /// An argument of the function: what is wrong and what to do.
    Argument(String),
    /// A function of the caller has failed.
    Callback,
    /// A panic.
    Defect(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl Failure {
    /// An argument that does not do.
    pub fn argument(text: impl Into<String>) -> Self {
        Self::Argument(text.into())
    }

    /// That of a panic.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        Self::Defect(format!("this is a defect of orthopt, please report it: {text}"))
    }

    /// Its code, kind and message.
    fn parts(&self) -> (i32, &'static str, String) {
        match self {
            Self::Library(error) => {
                let kind = class_of(error);
                (code_of(kind), kind, worded(&error.message()))
            }
            Self::Data(error) => (ORTHOPT_DATA, class_of_data(error), error.worded(typed)),
            Self::Argument(text) => (ORTHOPT_ARGUMENT, "ArgumentError", text.clone()),
            Self::Callback => {
                (ORTHOPT_CALLBACK, "CallbackError", "fun has returned a number other than 0".into())
            }
            Self::Defect(text) => (ORTHOPT_DEFECT, "DefectError", text.clone()),
        }
    }
}

/// Code: an argument is null, or has a shape, strides or index arrays that do not do.
pub const ORTHOPT_ARGUMENT: i32 = 1;
/// Code: options that are no JSON, do not exist, are out of range or do not apply.
pub const ORTHOPT_OPTION: i32 = 2;
/// Code: data that cannot be read, are not finite, not symmetric, too large or too small.
pub const ORTHOPT_DATA: i32 = 3;
/// Code: a factorisation failed, or two results contradict each other.
pub const ORTHOPT_NUMERICAL: i32 = 4;
/// Code: a function of the caller has failed.
pub const ORTHOPT_CALLBACK: i32 = 5;
/// Code: a defect of the library.
pub const ORTHOPT_DEFECT: i32 = 6;

/// The code of a kind of error of the library.
fn code_of(kind: &str) -> i32 {
    match kind {
        "ShapeError" => ORTHOPT_ARGUMENT,
        "NotFiniteError" | "NotSymmetricError" | "DataOverflowError" | "DataUnderflowError"
        | "NotDefiniteError" => ORTHOPT_DATA,
        "ContradictionError" | "FactorisationError" => ORTHOPT_NUMERICAL,
        _ => ORTHOPT_OPTION,
    }
}

/// An option as JSON has it: `max_iters`, `scale: "unit"`.
pub fn word(hint: &Hint) -> String {
    typed(&hint.option, hint.value.as_deref())
}

fn typed(option: &str, value: Option<&str>) -> String {
    let entry = OPTIONS.iter().find(|entry| entry.name == option);
    let name = entry.map_or_else(|| option.replace('-', "_"), |entry| entry.name_in(Front::C));
    match value {
        None => name,
        Some(value) if value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok() => {
            format!("{name}: {value}")
        }
        Some(value) => format!("{name}: \"{value}\""),
    }
}

/// A message with options as JSON has them.
pub fn worded(message: &Message) -> String {
    message.worded(word)
}

/// A result, or an error.
pub struct Outcome {
    code: i32,
    kind: CString,
    text: CString,
    object: Value,
    x: Option<RowMat>,
}

impl Outcome {
    /// What has come of a call.
    pub fn of(found: Result<Found, Failure>) -> Self {
        match found {
            Ok(Found { object, x }) => {
                Self { code: 0, kind: c_text(""), text: c_text(&object.to_string()), object, x }
            }
            Err(failure) => {
                let (code, kind, text) = failure.parts();
                Self { code, kind: c_text(kind), text: c_text(&text), object: Value::Null, x: None }
            }
        }
    }

    /// 0, or the code of an error.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The kind of an error.
    pub fn kind(&self) -> &CStr {
        &self.kind
    }

    /// The JSON of the result, or the message of an error.
    pub fn text(&self) -> &CStr {
        &self.text
    }

    /// X.
    pub fn x(&self) -> Option<&RowMat> {
        self.x.as_ref()
    }

    /// A number of the result; fields of fields are joined by dots.
    pub fn number(&self, name: &str) -> Option<f64> {
        let field = name.split('.').try_fold(&self.object, |value, field| value.get(field))?;
        field.as_f64().or_else(|| field.as_bool().map(f64::from))
    }
}

/// A text for C, which has no zeros in it.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A result.
pub struct Found {
    /// The JSON.
    pub object: Value,
    /// X.
    pub x: Option<RowMat>,
}

impl Found {
    /// A result with this JSON and this X.
    ///
    /// # Errors
    /// None that is known: the objects of the library have JSON.
    pub fn of(object: &impl Serialize, x: Option<RowMat>) -> Result<Self, Failure> {
        let object = serde_json::to_value(object).map_err(|error| Failure::Defect(error.to_string()))?;
        Ok(Self { object, x })
    }

    /// The same with further fields.
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.object[name] = json!(value);
        self
    }
}
