//! How tables are read: what people say about it ([`TableOptions`]), what is decided for the rest, and what is said of
//! both ([`HowRead`]).

mod arrange;
mod how;
mod layout;
mod look;
mod note;
mod number;
mod options;

pub(crate) use arrange::{Arrangement, arranged, weights_of_file};
pub use how::{Column, HowRead, Kind, Source};
pub(crate) use layout::{Head, Layout, Problem, Role, is_identifier, ragged, unique_names};
pub use look::{is_triangular, remark_on_c, remark_on_samples};
pub use note::{Note, NotePart};
pub(crate) use number::{Cell, decoded, is_number, is_spelled_missing};
pub use options::{Columns, Header, RowNames, TableOptions};
