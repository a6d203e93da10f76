//! Data for orthopt: readers, writers, generators and built-in tables.
//!
//! Everything that is named on the command line as `DATA` goes through [`load`]:
//!
//! | `DATA` | gives |
//! |---|---|
//! | a file | `.svm`/`.libsvm`, `.mtx`, `.npy`, `.npz`, `.csv`, `.tsv`, `.txt`, each also with `.gz` ([`formats`]) |
//! | | `.parquet`, `.arrow`, `.feather` with the feature `parquet`, which are read and not written |
//! | `-` | standard input, in any of these formats |
//! | `randn:M:N[:SEED]` | a dense matrix of standard normal numbers ([`generators`]) |
//! | `sparse-randn:M:N:NNZ[:SEED]` | normal numbers at random positions |
//! | `spiked:M:N:R:NNZ[:SNR[:SEED]]` | samples with R known sparse components |
//! | `spiked:zht[:M[:SEED]]` | the three-factor example of Zou, Hastie and Tibshirani (2006) |
//! | `laplace:N`, `laplace2:P:Q` | the Laplacian of a chain or a grid: C itself, sparse |
//! | `builtin:pitprops` | a table that comes with the crate ([`builtins`]) |
//!
//! The result is a [`DataSet`]: a dense or sparse [`Matrix`] whose rows are samples and whose
//! columns are variables, with names, labels and true components where the source has them.
//! Nothing is centred or scaled on the way in; [`prepare`] does that when asked.
//!
//! ```
//! use orthopt_data::{LoadOptions, load};
//!
//! let data = load("randn:50:8:7", &LoadOptions::default())?;
//! assert_eq!((data.matrix.nrows(), data.matrix.ncols()), (50, 8));
//!
//! let error = load("randn:50", &LoadOptions::default()).unwrap_err();
//! assert!(error.to_string().contains("expected randn:M:N[:SEED]"));
//! # Ok::<(), orthopt_data::DataError>(())
//! ```
//!
//! Bad input of any kind is a [`DataError`] that says what is wrong, where, and what to do;
//! nothing here panics on a file or a specification, and no size declared in a header is
//! believed before the data to fill it has been seen. Rows, columns and lines in messages are
//! counted from 1.
//!
//! [`stream`] reads files part by part, several of them as one table, and [`gram`] adds up C = AᵀA of rows that
//! come in chunks, so that neither files nor rows need to fit memory.
//!
//! A new format, generator or table is one file and one line in the registry of its folder.

mod builtin;
mod check;
mod dataset;
mod encoding;
mod error;
mod format;
mod generate;
pub mod gram;
mod input;
mod lines;
mod memory;
mod missing;
mod names;
mod nearest;
mod output;
pub mod prepare;
mod sealed;
mod source;
mod sparse;
pub mod stream;
mod table;
mod text;

pub use builtin::builtins;
pub use check::{SYMMETRY_TOLERANCE, check_symmetric};
pub use dataset::{DataSet, MAX_DENSE_ENTRIES, Matrix, Role};
pub use error::DataError;
pub use format::{FrameCells, FrameColumn, Framed, framed};
pub use format::{
    LoadOptions, NpzArray, formats, read_dense_npy, read_file, write_file, write_npy, write_npz,
};
pub use format::{Table, write_table};
pub use generate::generators;
pub use gram::{GramAccumulator, Rows, SparseRows, Summation};
pub use input::uncompressed;
pub use lines::Lines;
pub use memory::{allow_memory, available_memory, default_memory, show_bytes};
pub use missing::Missing;
pub use names::{read_column, read_names};
pub use output::{check_writable, remove_unfinished, write_or_rescue, write_whole, written_file};
pub use prepare::{Prepare, Prepared, Scale, Units};
pub use sealed::{read_sealed, write_sealed, write_sealed_or_rescue};
pub use source::load;
pub use table::{
    Column, Columns, DropRows, Header, HowRead, Kind, Note, NotePart, RowNames, Source, TableOptions,
};
pub use table::{is_identifier, is_triangular, remark_on_c, remark_on_samples};
pub use text::printable;

/// The examples of the README are compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
