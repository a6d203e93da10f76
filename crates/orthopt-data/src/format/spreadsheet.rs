//! Sheets of spreadsheets (.xlsx, .xls, .xlsb, .ods) as tables: cells become the text that a table in text has, so that the
//! same rules hold.

use std::fmt::Display;
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, Reader, Sheets, open_workbook_auto_from_rs};
use csv::ByteRecord;
use zip::ZipArchive;

use super::delimited::{Rows, left_out, titles};
use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::missing::Missing;
use crate::stream::{Chunks, Whole};
use crate::table::{Head, Layout, Note, arranged, is_number};
use crate::text::{said, show, write_number};

/// Cells that decide how a table is read.
const LOOKED_AT: (usize, usize) = (200, 5);
const CELLS: usize = 200_000;

pub(super) fn chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let missing = if options.missing == Missing::Drop { Missing::Keep } else { options.missing };
    let options = LoadOptions { missing, ..options.clone() };
    let data = arranged(read(input, &options)?, &options)?;
    Ok(Box::new(Whole::arranged(data)))
}

pub(super) fn read(mut input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    let bytes = input.read_rest()?;
    check_unpacked(&bytes, &input)?;
    // the library stops with an assertion at some damaged bytes, which is an error like others here
    let opened = catch_unwind(AssertUnwindSafe(|| opened(bytes, options, &input)));
    let (sheet, sheets, cells) =
        opened.unwrap_or_else(|_| Err(broken(&input, &"its parts contradict each other")))?;
    let mut records = records(cells, &input)?;
    let place = format!("{} ({})", input.name(), show(sheet.as_bytes()));
    let above = titles(&records);
    records.drain(..above);
    if records.is_empty() {
        return Err(DataError::Empty { place, rows: 0, columns: 0 });
    }
    let width = records[0].fields.len().max(1);
    let (most, least) = LOOKED_AT;
    let looked_at = (CELLS / width).clamp(least, most).min(records.len());
    let line = records[0].line;
    let mut layout = Layout::of(&records[..looked_at], false, &options.table)
        .map_err(|problem| problem.at(&place, line))?;
    layout.how.style.extend(left_out(above, "line above the table"));
    if sheets > 1 || options.table.sheet.is_some() {
        layout.how.sheet = Some(sheet);
    }
    let header = usize::from(layout.header);
    let mut rows = Rows::new(Some(layout), options.missing);
    for Head { line, fields } in records.drain(header..) {
        rows.push(fields.iter()).map_err(|problem| problem.at(&place, line))?;
        input.budget().check(rows.bytes())?;
    }
    let mut data = rows.into_data(&place)?;
    data.source = input.name().into();
    Ok(data)
}

/// The name of the sheet that is read, the number of sheets, and the cells.
fn opened(
    bytes: Vec<u8>,
    options: &LoadOptions,
    input: &Input,
) -> Result<(String, usize, Vec<Placed>), DataError> {
    let broken = |error: calamine::Error| broken(input, &error);
    let mut book = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(broken)?;
    let sheet = chosen(&mut book, options.table.sheet.as_deref(), input)?;
    let cells = cells(&mut book, &sheet, input)?;
    Ok((sheet, book.sheet_names().len(), cells))
}

/// The sheet that is asked for, or the first one with numbers, or else with something in it.
fn chosen(
    book: &mut Sheets<Cursor<Vec<u8>>>,
    asked: Option<&str>,
    input: &Input,
) -> Result<String, DataError> {
    let names = book.sheet_names();
    if let Some(asked) = asked {
        let numbered = || asked.parse::<usize>().ok().and_then(|n| names.get(n.checked_sub(1)?));
        return names.iter().find(|name| *name == asked).or_else(numbered).cloned().ok_or_else(|| {
            let known: Vec<String> = names.iter().map(|name| show(name.as_bytes())).collect();
            let problem =
                format!(": there is no sheet {}; there are {}", show(asked.as_bytes()), known.join(", "));
            DataError::Table { place: input.name().into(), problem: Note::about("sheet").text(problem) }
        });
    }
    let mut words = None;
    for name in &names {
        let cells = cells(book, name, input)?;
        if cells.iter().any(|(_, _, text)| is_number(text)) {
            return Ok(name.clone());
        }
        words = words.or((!cells.is_empty()).then_some(name));
    }
    words.cloned().ok_or_else(|| input.file_error("there is no sheet with anything in it"))
}

fn broken(input: &Input, error: &dyn Display) -> DataError {
    input.file_error(format!("the spreadsheet cannot be read: {}", said(error)))
}

/// The parts of the archive that most spreadsheets are fit memory when they are unpacked, whatever sizes they declare.
fn check_unpacked(bytes: &[u8], input: &Input) -> Result<(), DataError> {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return Ok(()) };
    let mut total = 0;
    for at in 0..archive.len() {
        let Ok(mut part) = archive.by_index(at) else { continue };
        let mut block = vec![0; 1 << 16];
        // what cannot be unpacked is for the reader to say
        while let Ok(read) = part.read(&mut block)
            && read > 0
        {
            total += read;
            input.budget().check(total)?;
        }
    }
    Ok(())
}

/// Row, column and text of a cell.
type Placed = (u32, u32, Vec<u8>);

/// The cells of a sheet that are not empty. Cells far apart take no memory between them.
fn cells(book: &mut Sheets<Cursor<Vec<u8>>>, sheet: &str, input: &Input) -> Result<Vec<Placed>, DataError> {
    let (mut cells, mut bytes) = (Vec::new(), 0);
    let mut push = |row: u32, column: u32, cell: &Data| {
        let text = text(cell);
        bytes += 64 + text.len();
        if !text.is_empty() {
            cells.push((row, column, text));
        }
        input.budget().check(bytes)
    };
    if let Sheets::Xlsx(book) = book {
        let wrong = |error: calamine::XlsxError| broken(input, &error);
        let mut reader = book.worksheet_cells_reader(sheet).map_err(wrong)?;
        while let Some(cell) = reader.next_cell().map_err(wrong)? {
            let (row, column) = cell.get_position();
            push(row, column, &Data::from(cell.get_value().clone()))?;
        }
    } else {
        let range = book.worksheet_range(sheet).map_err(|error| broken(input, &error))?;
        let (first_row, first_column) = range.start().unwrap_or_default();
        for (row, column, cell) in range.used_cells() {
            push(first_row + row as u32, first_column + column as u32, cell)?;
        }
    }
    Ok(cells)
}

/// The rows with something in them; lines are counted as spreadsheets show them.
fn records(mut cells: Vec<Placed>, input: &Input) -> Result<Vec<Head>, DataError> {
    cells.sort_by_key(|(row, column, _)| (*row, *column));
    let columns = || cells.iter().map(|cell| cell.1);
    let Some((first, last)) = columns().min().zip(columns().max()) else { return Ok(Vec::new()) };
    let (mut records, mut bytes) = (Vec::<Head>::new(), 0);
    for row in cells.chunk_by(|a, b| a.0 == b.0) {
        let mut fields = ByteRecord::new();
        let mut next = first;
        for (_, column, text) in row.iter() {
            // a cell that stands twice counts once
            if *column >= next {
                (next..*column).for_each(|_| fields.push_field(b""));
                fields.push_field(text);
                next = column + 1;
            }
        }
        (next..=last).for_each(|_| fields.push_field(b""));
        bytes += fields.as_slice().len() + 16 * fields.len();
        input.budget().check(bytes)?;
        records.push(Head { line: u64::from(row[0].0) + 1, fields });
    }
    Ok(records)
}

/// A cell as text: numbers with all digits, times as they are named.
fn text(cell: &Data) -> Vec<u8> {
    let mut text = Vec::new();
    match cell {
        Data::Empty => {}
        Data::Float(value) => {
            let _ = write_number(&mut text, *value); // a vector takes everything
        }
        Data::Int(value) => text = value.to_string().into_bytes(),
        Data::Bool(value) => text = value.to_string().to_uppercase().into_bytes(),
        Data::String(words) | Data::DateTimeIso(words) | Data::DurationIso(words) => {
            text = words.trim().as_bytes().to_vec()
        }
        Data::DateTime(time) => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            let day = format!("{year:04}-{month:02}-{day:02}");
            let midnight = (hour, minute, second) == (0, 0, 0);
            text =
                if midnight { day } else { format!("{day}T{hour:02}:{minute:02}:{second:02}") }.into_bytes();
        }
        Data::Error(error) => text = error.to_string().into_bytes(),
    }
    text
}
