//! DATA that come part by part: C and the facts of the rows, without the rows.

use std::path::{Path, PathBuf};

use faer::Mat;
use orthopt::message::Message;
use orthopt::report::{DataFacts, Role};
use orthopt_data::stream::{Accumulate, Accumulated, Step, accumulate, files, read_accumulator};
use orthopt_data::{DataError, GramAccumulator, HowRead, Scale, Summation, show_bytes};

use crate::data_request::{DataRequest, facts};
use crate::{text, wording};

/// As long as there are not more columns than this: C has the size of so many rows.
const MOST_COLUMNS: usize = 10_000;

/// C and what reports say of the rows.
#[derive(Debug)]
pub struct Streamed {
    pub info: DataFacts,
    pub c: Mat<f64>,
    /// The columns of the files that are left, where not all are.
    pub kept: Option<Vec<usize>>,
    /// Columns of the files.
    pub columns: usize,
    pub notes: Vec<Message>,
}

/// C of rows part by part, or of an accumulator given as C; `None` where the data are to be held in memory.
///
/// # Errors
/// Files that cannot be read, that differ in their columns, or whose C does not fit memory.
pub fn read(request: &DataRequest, watch: &mut dyn FnMut(Step<'_>)) -> anyhow::Result<Option<Streamed>> {
    let max_memory = request.max_memory.map(|size| size.0);
    if request.gram {
        let sums = read_accumulator(&request.source, max_memory)?;
        return sums.map(|sums| prepared(request, whole(request, sums), Vec::new())).transpose();
    }
    let stream = &request.stream;
    let named: Vec<PathBuf> = [&request.source].into_iter().chain(&stream.more).cloned().collect();
    let found =
        if is_pattern(&request.source) || stream.wanted == Some(true) { files(&named)? } else { named };
    let mut notes = Vec::new();
    match stream.wanted {
        Some(false) if found.len() == 1 => return Ok(None),
        Some(true) => {}
        _ if found.len() > 1 => {}
        _ if !large(request, &found[0])? => return Ok(None),
        _ => notes.push(
            Message::from(format!(
                "{} is large: its rows are read part by part, unless ",
                found[0].display()
            ))
            .set("stream", "false")
            .text(" is given"),
        ),
    }
    let asked = Accumulate {
        how: stream.how,
        screen: stream.screen,
        counted: request.prepare.features,
        load: request.load(),
    };
    let sums = accumulate(&found, &asked, None, watch)?;
    if let Some(kept) = &sums.kept {
        notes.push(Message::from(format!(
            "{} of {} columns are kept, those with the largest variance; the others have no loadings",
            text::grouped(kept.len() as u64),
            text::grouped(sums.columns as u64)
        )));
    }
    prepared(request, sums, notes).map(Some)
}

fn is_pattern(path: &Path) -> bool {
    !path.exists() && path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?".contains(byte))
}

/// True if a file is a table or array that is worth it: large, and with fewer columns than C may have.
fn large(request: &DataRequest, file: &Path) -> anyhow::Result<bool> {
    let name = file.to_string_lossy().to_lowercase();
    const DENSE: [&str; 7] = [".csv", ".tsv", ".txt", ".npy", ".parquet", ".arrow", ".feather"];
    let dense = DENSE.iter().any(|end| name.trim_end_matches(".gz").ends_with(end));
    let bytes = file.metadata().map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 });
    if !dense || !request.stream.suits(bytes, request.missing) || request.table.labels.is_some() {
        return Ok(false);
    }
    let files = [file.to_path_buf()];
    let first = orthopt_data::stream::Parts::new(&files, &request.load())?.next_chunk(1)?;
    Ok(first.is_some_and(|chunk| chunk.rows().columns() <= MOST_COLUMNS))
}

/// Sums of a file; how many entries of its rows were zero is not known.
fn whole(request: &DataRequest, sums: GramAccumulator) -> Accumulated {
    let columns = sums.columns();
    let features = request.prepare.features.unwrap_or(columns).min(columns);
    let nonzeros = sums.rows().saturating_mul(features as u64);
    Accumulated { sums, kept: None, columns, missing: 0, nonzeros, read: HowRead::default() }
}

fn prepared(request: &DataRequest, found: Accumulated, mut notes: Vec<Message>) -> anyhow::Result<Streamed> {
    let Accumulated { sums, kept, columns, missing, nonzeros, read } = found;
    notes.extend(read.notes.iter().map(wording::message));
    let (prepare, all) = (&request.prepare, sums.columns());
    let features = prepare.features.unwrap_or(all);
    if features == 0 || features > all {
        return Err(DataError::Features { features, columns: all }.into());
    }
    let chosen: Vec<usize> = (0..features).collect();
    let (c, units) = sums.prepared(prepare, &chosen)?;
    let names = sums.names().map(|names| names[..features].to_vec());
    let numbers = |kept: &Vec<usize>| kept.iter().map(|j| (j + 1).to_string()).collect();
    let info = DataFacts {
        rows: sums.rows() as usize,
        cols: features,
        nnz: nonzeros as usize,
        role: Role::Samples,
        centered: prepare.center,
        scaled: prepare.scale != Scale::None,
        scale: prepare.scale.to_string(),
        covariance: prepare.covariance,
        missing,
        source: source(request, kept.as_deref().map(|kept| (kept.len(), columns))),
        names: names.or_else(|| kept.as_ref().map(numbers)),
        means: units.means,
        scales: units.scales,
        roots: None,
        table: (!request.gram).then(|| facts(&read, read.sentence(sums.rows() as usize, features, false))),
    };
    Ok(Streamed { info, c, kept, columns, notes })
}

/// The files, and what was left out of them.
fn source(request: &DataRequest, screened: Option<(usize, usize)>) -> String {
    let more = match request.stream.more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let screened = screened.map(|(kept, all)| format!(", {kept} of {all} columns by variance"));
    format!("{}{more}{}", request.source.display(), screened.unwrap_or_default())
}

/// Names of the columns that are kept, from those of all or of these alone.
///
/// # Errors
/// Neither as many as one nor as the other.
pub fn kept_names(
    names: Vec<String>,
    kept: Option<&[usize]>,
    columns: usize,
    path: &Path,
) -> anyhow::Result<Vec<String>> {
    match kept {
        _ if names.len() != columns => {
            let place = path.display();
            anyhow::bail!("{place}: {} names for {columns} columns; one per line is expected", names.len())
        }
        Some(kept) => Ok(kept.iter().map(|j| names[*j].clone()).collect()),
        None => Ok(names),
    }
}

/// Memory of the sums of so many columns, in words.
pub fn memory(columns: usize, how: Summation) -> String {
    show_bytes(GramAccumulator::needed(columns, how) as u64)
}
