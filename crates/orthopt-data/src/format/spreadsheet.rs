//! Sheets of spreadsheets (.xlsx, .xls, .xlsb, .ods) as tables: cells become the text that a table in text has, so that the
//! same rules hold.

use std::fmt::Display;
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, Reader, SheetVisible, Sheets, open_workbook_auto_from_rs};
use csv::ByteRecord;
use zip::ZipArchive;

use super::rows::of_records;
use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::{LoadOptions, with_missing_rows};
use crate::input::Input;
use crate::stream::{Chunks, Whole};
use crate::table::{Head, Note, arranged, is_number};
use crate::text::{said, show, write_number};

pub(super) fn chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let options = with_missing_rows(options);
    Ok(Box::new(Whole::arranged(arranged(read(input, &options)?, &options)?)))
}

pub(super) fn read(mut input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    let bytes = input.read_rest()?;
    check_unpacked(&bytes, &input)?;
    // the library stops with an assertion at some damaged bytes, which is an error like others here
    let opened = catch_unwind(AssertUnwindSafe(|| opened(bytes, options, &input)));
    let (sheet, sheets, cells) =
        opened.unwrap_or_else(|_| Err(broken(&input, &"its parts contradict each other")))?;
    let records = records(cells, &input)?;
    let place = format!("{} ({})", input.name(), show(sheet.as_bytes()));
    let is_one = sheets > 1 || options.table.sheet.is_some();
    of_records(records, &place, &input, options, |how| how.sheet = is_one.then(|| sheet.clone()))
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
    // what is shown comes before what is hidden
    let hidden = |name: &String| {
        book.sheets_metadata()
            .iter()
            .any(|sheet| sheet.name == *name && sheet.visible != SheetVisible::Visible)
    };
    let (hidden, shown): (Vec<String>, Vec<String>) = names.iter().cloned().partition(hidden);
    for name in shown.iter().chain(&hidden) {
        let cells = cells(book, name, input)?;
        if cells.iter().any(|(_, _, text)| is_number(text)) {
            return Ok(name.clone());
        }
        words = words.or((!cells.is_empty()).then(|| name.clone()));
    }
    words.ok_or_else(|| input.file_error("there is no sheet with anything in it"))
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
        records.push(Head { line: u64::from(row[0].0) + 1, fields, quoted: false });
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
