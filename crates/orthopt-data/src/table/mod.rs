//! Reading of tables: the options of users ([`TableOptions`]), the decisions about the rest, and the facts about both
//! ([`HowRead`]).

mod arrange;
mod header;
mod how;
mod kind;
mod layout;
mod look;
mod mark;
mod note;
mod number;
mod odd;
mod options;
mod total;

#[cfg(feature = "parquet")]
pub(crate) use arrange::checked_weights;
pub(crate) use arrange::{Arrangement, arranged, weights_of_file};
pub(crate) use header::titles;
pub use how::{Column, HowRead, Kind, Source};
#[cfg(feature = "parquet")]
pub(crate) use how::{LABELS, ROW_NAMES, WEIGHTS};
pub use kind::is_identifier;
pub(crate) use layout::{Assumed, Head, LAST_ROWS, Layout, Problem, Role, ragged, unique_names};
pub use look::{is_triangular, remark_on_c, remark_on_samples};
pub(crate) use mark::{answer, measured, truth};
pub use note::{Note, NotePart};
#[cfg(feature = "parquet")]
pub(crate) use number::Marks;
pub(crate) use number::{Cell, decoded, is_number, is_spelled_missing};
pub(crate) use odd::OddCells;
#[cfg(feature = "parquet")]
pub(crate) use options::one_column;
pub use options::{Columns, DropRows, Header, RowNames, TableOptions};
pub(crate) use total::{RowKind, Sums, Totals, kind_of};
