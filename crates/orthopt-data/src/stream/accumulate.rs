//! From files to C, with one chunk in memory at a time.

use std::path::PathBuf;

use super::moments::Moments;
use super::{CHUNK, Chunk, Parts, Step, place};
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::gram::{GramAccumulator, Summation};
use crate::table::HowRead;

/// Options of adding up files.
#[derive(Clone, Debug, Default)]
pub struct Accumulate {
    /// Arithmetic of the sums.
    pub how: Summation,
    /// Keep this many columns, those of the largest variance (about the mean; of equal ones the first). The files
    /// are read twice.
    pub screen: Option<usize>,
    /// Number of columns whose nonzeros are counted, all by default.
    pub counted: Option<usize>,
    /// Reading: missing values, memory.
    pub load: LoadOptions,
}

/// Result of [`accumulate`].
#[derive(Clone, Debug)]
pub struct Accumulated {
    /// Count, sums and C.
    pub sums: GramAccumulator,
    /// The columns of the files that the sums are of, where not all are.
    pub kept: Option<Vec<usize>>,
    /// Columns of the files.
    pub columns: usize,
    /// Values that were missing; their rows are left out.
    pub missing: usize,
    /// Entries of the kept columns, of the first [`Accumulate::counted`] of them, that are not zero; not those of
    /// `earlier`.
    pub nonzeros: u64,
    /// Facts about the reading of the first file.
    pub read: HowRead,
}

/// Adds up the rows of files, on top of `earlier` if given. `watch` is called after every chunk.
///
/// Memory: that of the sums ([`GramAccumulator::needed`]), checked before it is taken, and of one chunk.
///
/// # Errors
/// As from [`read_file`](crate::read_file); columns that differ between files; sums that do not fit memory.
pub fn accumulate(
    files: &[PathBuf],
    request: &Accumulate,
    earlier: Option<GramAccumulator>,
    watch: &mut dyn FnMut(Step<'_>),
) -> Result<Accumulated, DataError> {
    let kept = match request.screen {
        None => None,
        Some(count) => {
            let mut moments = Moments::default();
            each(files, &request.load, watch, |chunk, _| {
                moments.add(chunk);
                Ok(())
            })?;
            let columns = moments.columns();
            if count == 0 || count > columns {
                return Err(DataError::Features { features: count, columns });
            }
            Some((moments.largest(count, &place(files))?, columns))
        }
    };
    let (mut sums, mut nonzeros) = (earlier, 0);
    let (missing, read) = match &kept {
        None => {
            let features = request.counted.unwrap_or(usize::MAX);
            each(files, &request.load, watch, |chunk, names| {
                nonzeros += chunk.rows().nonzeros(features);
                add(&mut sums, chunk, names, files, request)
            })?
        }
        Some((kept, columns)) => {
            let mut at = vec![None; *columns];
            kept.iter().enumerate().for_each(|(k, j)| at[*j] = Some(k));
            each(files, &request.load, watch, |chunk, names| {
                let names: Option<Vec<String>> =
                    names.map(|names| kept.iter().map(|j| names[*j].clone()).collect());
                let chunk = chunk.selected(kept, &at);
                nonzeros += chunk.rows().nonzeros(request.counted.unwrap_or(usize::MAX));
                add(&mut sums, &chunk, names.as_deref(), files, request)
            })?
        }
    };
    let Some(sums) = sums else {
        return Err(DataError::Empty { place: place(files), rows: 0, columns: 0 });
    };
    let columns = kept.as_ref().map_or(sums.columns(), |(_, columns)| *columns);
    Ok(Accumulated { sums, kept: kept.map(|(kept, _)| kept), columns, missing, nonzeros, read })
}

/// Every chunk of the files with the names of its columns; returns how many values were missing, and how the first file
/// was read.
fn each(
    files: &[PathBuf],
    load: &LoadOptions,
    watch: &mut dyn FnMut(Step<'_>),
    mut work: impl FnMut(&Chunk, Option<&[String]>) -> Result<(), DataError>,
) -> Result<(usize, HowRead), DataError> {
    let mut parts = Parts::new(files, load)?;
    while let Some(chunk) = parts.next_chunk(CHUNK)? {
        work(&chunk, parts.names())?;
        watch(parts.step());
    }
    Ok((parts.missing, parts.how().cloned().unwrap_or_default()))
}

fn add(
    sums: &mut Option<GramAccumulator>,
    chunk: &Chunk,
    names: Option<&[String]>,
    files: &[PathBuf],
    request: &Accumulate,
) -> Result<(), DataError> {
    let (rows, memory) = (chunk.rows(), request.load.max_memory);
    let columns = rows.columns();
    let sums = match sums {
        Some(sums) => sums,
        None => {
            let made = GramAccumulator::new(columns, request.how, &place(files), memory)?;
            sums.insert(match names {
                Some(names) => made.named(names.to_vec())?,
                None => made,
            })
        }
    };
    if let (Some(expected), Some(found)) = (sums.names(), names) {
        crate::gram::check_names(expected, found, &place(files))?;
    }
    match rows {
        crate::gram::Rows::Sparse(_) => sums.widen(columns, memory)?,
        crate::gram::Rows::Dense(_) => {}
    }
    if columns < sums.columns() && matches!(rows, crate::gram::Rows::Sparse(_)) {
        return sums.add(chunk.clone().widened(sums.columns()).rows(), chunk.weights());
    }
    sums.add(rows, chunk.weights())
}
