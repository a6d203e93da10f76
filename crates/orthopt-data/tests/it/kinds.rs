//! Kinds of tables that programs and people write, each read as it is meant, whole and part by part.

use orthopt_data::stream::Parts;
use orthopt_data::{DataSet, LoadOptions, Missing, TableOptions};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::{message_with, read_with};

fn with(options: &[(&str, &str)]) -> LoadOptions {
    let mut table = TableOptions::default();
    options.iter().for_each(|(name, value)| table.set(name, value).unwrap());
    LoadOptions { table, ..LoadOptions::default() }
}

/// Reads a file whole and in parts of one row, which must agree.
fn read(name: &str, content: impl AsRef<[u8]>, options: &LoadOptions) -> DataSet {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let data = orthopt_data::read_file(&path, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let files = [path];
    let mut parts = Parts::new(&files, options).unwrap();
    let (mut row, dense) = (0, data.matrix.to_dense());
    while let Some(chunk) = parts.next_chunk(1).unwrap() {
        chunk_rows(&chunk, &mut |values| {
            assert_eq!(values, (0..dense.ncols()).map(|j| dense[(row, j)]).collect::<Vec<_>>());
            row += 1;
        });
    }
    assert_eq!(row, dense.nrows());
    assert_eq!(parts.names().map(<[String]>::to_vec), data.names);
    data
}

fn chunk_rows(chunk: &orthopt_data::stream::Chunk, visit: &mut dyn FnMut(Vec<f64>)) {
    let orthopt_data::Rows::Dense(rows) = chunk.rows() else { panic!("tables are dense") };
    (0..rows.nrows()).for_each(|i| visit((0..rows.ncols()).map(|j| rows[(i, j)]).collect()));
}

fn names(data: &DataSet) -> Vec<&str> {
    data.names.iter().flatten().map(String::as_str).collect()
}

fn notes(data: &DataSet) -> String {
    data.how.notes.iter().map(|note| note.to_string() + "\n").collect()
}

#[test]
fn first_lines_of_numbers() {
    let plain = with(&[]);
    for (content, expected) in [
        ("0,1,2\n1.5,2.5,0.5\n2.5,1,3\n", vec!["0", "1", "2"]),
        ("1,2,3,4\n5,2,2,9\n7,1,8,3\n", vec!["1", "2", "3", "4"]),
        // wavelengths
        ("900,902,904,906\n0.1,0.3,0.2,0.4\n0.2,0.1,0.5,0.3\n", vec!["900", "902", "904", "906"]),
        // years that do not climb evenly
        ("1990,1995,2000,2010\n5,3.5,4,6\n4,2,5,5.5\n6,3,4.5,7\n", vec!["1990", "1995", "2000", "2010"]),
        // rounded wave numbers, downwards
        (
            "4000.1,3998.2,3996.2,3994.3,3992.4,3990.5,3988.5,3986.6\n1,3,2,4,1,2,2,1\n2,1,1,3,1,4,1,2\n",
            vec!["4000.1", "3998.2", "3996.2", "3994.3", "3992.4", "3990.5", "3988.5", "3986.6"],
        ),
        // years beside text
        ("Country,1990,1991,1992\nA,1.5,2.5,2\nB,3.5,4,1\n", vec!["1990", "1991", "1992"]),
        ("gene,0,1\nA,1.5,2.5\nB,3.5,4.5\n", vec!["0", "1"]),
    ] {
        let data = read("a.csv", content, &plain);
        assert_eq!(names(&data), expected, "{content}");
        assert!(notes(&data).contains("is read as the names of the columns"), "{content}");
    }
    for content in [
        "1,2,3\n4,5,6\n",
        "1,2,3\n2,4,6\n",
        "1,2\n3,4\n",
        "10,20,30\n5,7,1\n4,8,8\n",
        "1,2,3,4,5,6,7,8\n2,3,4,5,6,7,8,9\n1,2,4,5,6,7,8,9\n",
        "5.1,3.5,1.4\n4.9,3,1.3\n",
        // series that rise, and one far value
        "1,10,100\n2,12,110\n3,14,120\n4,16,130\n",
        "1,20,3000\n2,25,4\n3,19,6\n1,22,5\n",
    ] {
        assert!(read("a.csv", content, &plain).names.is_none(), "{content}");
    }
    let doubtful = read("a.csv", "0,1\n0,1\n1,0\n1,1\n", &plain);
    assert!(
        doubtful.names.is_none() && notes(&doubtful).contains("is read as a sample; option `header` = yes")
    );
    // a row like those below it is no header, although it has text
    let headerless =
        read("a.csv", "5.1,3.5,setosa\n4.9,3,setosa\n6,2,virginica\n", &with(&[("drop", "text")]));
    assert_eq!((headerless.matrix.nrows(), headerless.names.is_none()), (3, true));
    assert!(notes(&headerless).contains("is read as a sample"));
    let said = |value: &str| read("a.csv", "x,1,2\ny,3,4\n", &with(&[("header", value)]));
    assert_eq!((said("yes").matrix.nrows(), said("no").matrix.nrows()), (1, 2));
}

/// Genes in rows are samples unless the table is transposed, and a note says so.
#[test]
fn rows_that_are_named_as_genes_are_noted() {
    let table = "Gene\tS1\tS2\nBRCA1\t5\t7\nTP53\t1\t0\nMYC\t2\t9\n";
    let said = notes(&read("a.tsv", table, &with(&[])));
    assert!(said.contains("option `transpose` = true takes the rows as variables"), "{said}");
    assert_eq!(notes(&read("a.tsv", table, &with(&[("transpose", "true")]))), "");
    assert_eq!(notes(&read("a.tsv", table.replace("Gene", "patient"), &with(&[]))), "");
}

#[test]
fn rows_and_their_names() {
    let plain = with(&[]);
    // R's write.table of a matrix with numbers for names
    let short = read("a.txt", "\"1\" \"2\"\n\"1\" 5.5 6\n\"2\" 7 8\n\"3\" 9 1\n", &plain);
    assert_eq!((names(&short), short.row_names.as_ref().map(Vec::len)), (vec!["1", "2"], Some(3)));
    let id = read("a.csv", "patient_id,a,b\n77,1,2\n31,3,4\n", &plain);
    assert_eq!((names(&id), id.row_names.clone()), (vec!["a", "b"], Some(vec!["77".into(), "31".into()])));
    let repeats = read("a.csv", "id,a\n1,1\n1,3\n2,5\n", &plain);
    assert_eq!(names(&repeats), ["id", "a"]);
    let asked = read("a.csv", "a,who,b\n1,u,2\n3,v,4\n", &with(&[("row-names", "who")]));
    assert_eq!(
        (names(&asked), asked.row_names.clone()),
        (vec!["a", "b"], Some(vec!["u".into(), "v".into()]))
    );
    let wanted = read("a.csv", "id,a,b\n7,1,2\n8,3,4\n", &with(&[("columns", "id,b")]));
    assert_eq!(names(&wanted), ["id", "b"]);
    // columns that are not used are not parsed
    let skipped = read("a.csv", "a,note,b\n1,x\u{0}y,2\n3,,4\n", &with(&[("drop", "note")]));
    assert_eq!(skipped.matrix.to_dense(), faer::mat![[1.0, 2.0], [3.0, 4.0]]);
    let labelled = read("a.csv", "a,g,b\n1,u,2\n3,v,4\n", &with(&[("labels", "g")]));
    assert_eq!(labelled.groups, Some(vec!["u".into(), "v".into()]));
    let sentence = labelled.sentence();
    assert_eq!(sentence, "2 samples \u{d7} 2 variables; names from the first line; labelled by column `g`");
}

#[test]
fn what_spreadsheets_leave_in_tables() {
    let plain = with(&[]);
    // a column and a row of nothing, a title, `sep=`
    let empty = read("a.csv", "a,b,\n1,2,\n,,\n3,4,\n", &plain);
    assert_eq!((names(&empty), empty.matrix.nrows()), (vec!["a", "b"], 2));
    assert!(empty.sentence().contains("dropped: `3` (empty)"), "{}", empty.sentence());
    let title = read("a.csv", "Table 1,,\n,,\na,b,c\n1,2,2\n3,4,7\n", &plain);
    assert_eq!((names(&title), title.matrix.nrows()), (vec!["a", "b", "c"], 2));
    let comments = read("a.csv", "# made by x\n# a, b\n1,2\n3,4\n", &plain);
    assert_eq!((names(&comments), comments.matrix.nrows()), (vec!["a", "b"], 2));
    let tabs = read("a.tsv", "n\ta\tb\nx\t1,5\t1.234,5\ny\t2\t7\n", &plain);
    assert_eq!(tabs.matrix.to_dense(), faer::mat![[1.5, 1234.5], [2.0, 7.0]]);
    let words = read("a.txt", "1,5 2\n3 4,25\n", &plain);
    assert_eq!(words.matrix.to_dense(), faer::mat![[1.5, 2.0], [3.0, 4.25]]);
    let quoted = read("a.csv", "a,b\n\"1,234.5\",2\n\"2,000\",3\n", &plain);
    assert_eq!(quoted.matrix.to_dense(), faer::mat![[1234.5, 2.0], [2000.0, 3.0]]);
    let bars = read("a.txt", "a|b\n1|2\n3|4\n", &plain);
    assert_eq!(names(&bars), ["a", "b"]);
    let said = with(&[("decimal", ",")]);
    assert_eq!(read("a.csv", "a;b\n10.484;1\n20.500;2\n", &said).matrix.to_dense()[(0, 0)], 10484.0);
    let doubt = read("a.csv", "a;b\n10.484;1\n20.500;2\n", &plain);
    assert!(doubt.matrix.to_dense()[(0, 0)] == 10.484 && notes(&doubt).contains("option `decimal` = ,"));
    assert!(message_with("a.csv", "a;b\n1,5;1.5\n2,5;2\n", &plain).contains("other cells have a decimal"));
    let units = read("a.csv", "a,b\n1,5 kg\n2,7 kg\n", &plain);
    assert_eq!(units.matrix.to_dense(), faer::mat![[1.0, 5.0], [2.0, 7.0]]);
    assert!(message_with("a.csv", "a,b\n1,5 kg\n2,7 g\n", &plain).contains("with the unit `kg`"));
}

#[test]
fn missing_values_in_every_format() {
    let mut options = with(&[("na", "-999")]);
    options.missing = Missing::Mean;
    let (_, data) =
        read_with("a.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n-999\n3\n", &options);
    assert_eq!(data.unwrap().matrix.to_dense(), faer::mat![[1.0], [2.0], [3.0]]);
}

#[test]
fn columns_of_formats_without_text() {
    let mtx = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n";
    let (_, data) = read_with("a.mtx", mtx, &with(&[("drop", "2"), ("weights", "3")]));
    let data = data.unwrap();
    assert_eq!((data.matrix.to_dense(), data.weights), (faer::mat![[1.0], [2.0]], Some(vec![5.0, 6.0])));
    let (_, flipped) = read_with("a.mtx", mtx, &with(&[("transpose", "true")]));
    assert_eq!(flipped.unwrap().matrix.to_dense(), faer::mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let wrong = message_with("a.mtx", mtx, &with(&[("drop", "7")]));
    assert!(
        wrong.contains("there is no column `7`; the columns have no names and are numbered from 1 to 3"),
        "{wrong}"
    );
}

/// Frames with several levels of names, as pandas writes them.
#[test]
fn several_levels_of_names() {
    let plain = with(&[]);
    let data = read("a.csv", ",,x,y\n0,0,1.5,2\n0,1,3,4.5\n1,0,0.5,1\n", &plain);
    assert_eq!((names(&data), data.matrix.nrows()), (vec!["x", "y"], 3));
    assert!(
        data.how.sentence(3, 2, false).contains("dropped: `2` (no name"),
        "{}",
        data.how.sentence(3, 2, false)
    );
    // a column without a name elsewhere is one of numbers
    assert_eq!(names(&read("a.csv", ",x,,y\n0,1,2,3\n1,4,5,7\n", &plain)), ["x", "", "y"]);
    let levels = ",a,a,b\n,u,v,u\n0,1,2,3\n1,4,5,7\n";
    let error = message_with("a.csv", levels, &plain);
    assert!(error.contains("a.csv:2") && error.contains("second line of names"), "{error}");
    assert_eq!(names(&read("a.csv", levels, &with(&[("header", "2")]))), ["a u", "a v", "b u"]);
    let units = read("a.csv", "name,height,weight\n,cm,kg\nann,170,60\nbob,180,80\n", &plain);
    assert_eq!((names(&units), units.matrix.nrows()), (vec!["height", "weight"], 2));
    // a row of missing values, and one with a word in one of two columns, are none
    assert_eq!(read("a.csv", "a,b\n1,2\n3,4\n", &plain).matrix.nrows(), 2);
    let error = message_with("a.csv", "a,b\nx,2\n3,4\n5,6\n", &plain);
    assert!(!error.contains("second line"), "{error}");
}

/// Names that no one would type, and more columns of text than anyone would.
#[test]
fn messages_stay_short() {
    let plain = with(&[]);
    for long in [format!("\"{}\"", "very ".repeat(100)), "\"two\nlines\"".into()] {
        let error =
            message_with("a.csv", format!("{long},b\nx,1\n2,3\n4,5\n"), &with(&[("row-names", "none")]));
        assert!(error.contains("option `drop` = 1") && error.len() < 400, "{error}");
    }
    let many = |cell: &str| (0..50).map(|j| format!("{cell}{j}")).collect::<Vec<_>>().join(",");
    let error = message_with("a.csv", format!("{}\n{}\n{}\n", many("c"), many("x"), many("y")), &plain);
    assert!(error.contains("no column holds numbers") && error.len() < 400, "{error}");
}

#[test]
fn symmetric_tables() {
    let plain = with(&[]);
    let said = |content: &str| notes(&read("a.csv", content, &plain));
    // covariances with names of columns alone, and without any
    assert!(said("a,b,c\n4,1,0\n1,9,2\n0,2,5\n").contains("looks like a covariance matrix"));
    assert!(said("4,1,.5\n1,9,2\n.5,2,5\n").contains("looks like a covariance matrix"));
    assert!(
        said(",a,b,c\na,0,3,4\nb,3,0,5\nc,4,5,0\n").contains("looks like distances (or a graph) between 3")
    );
    // what no covariance can be
    for content in ["a,b,c\n4,1,0\n1,9,2\n0,2.1,5\n", "a,b,c\n1,2,0\n2,1,2\n0,2,5\n"] {
        assert_eq!(said(content), "");
    }
}

/// A spreadsheet as small as they get, and one that holds very much.
#[cfg(feature = "spreadsheet")]
#[test]
fn spreadsheets_that_lie() {
    use std::io::{Cursor, Read, Write};
    let whole = std::fs::read(crate::common::golden("table.xlsx")).unwrap();
    let sheet = |cells: &str| {
        let mut from = zip::ZipArchive::new(Cursor::new(&whole)).unwrap();
        let mut to = ZipWriter::new(Cursor::new(Vec::new()));
        for at in 0..from.len() {
            let mut part = from.by_index(at).unwrap();
            let (name, mut bytes) = (part.name().unwrap().to_string(), Vec::new());
            part.read_to_end(&mut bytes).unwrap();
            if name.contains("worksheets/sheet") {
                let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
                bytes =
                    format!("<worksheet xmlns=\"{main}\"><sheetData>{cells}</sheetData></worksheet>").into();
            }
            to.start_file(name, SimpleFileOptions::default()).unwrap();
            to.write_all(&bytes).unwrap();
        }
        to.finish().unwrap().into_inner()
    };
    let small = sheet(
        "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>a</v></c><c r=\"B1\" t=\"str\"><v>b</v></c></row>\
        <row r=\"2\"><c r=\"A2\"><v>1.5</v></c><c r=\"B2\"><v>2</v></c></row><row r=\"3\"><c r=\"A3\"><v>3</v></c><c r=\"B3\"><v>4</v></c></row>",
    );
    let (_, data) = read_with("a.xlsx", small, &with(&[]));
    assert_eq!(data.unwrap().matrix.to_dense(), faer::mat![[1.5, 2.0], [3.0, 4.0]]);
    // two cells far apart
    let far = sheet(
        "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>",
    );
    let mut options = with(&[]);
    options.max_memory = Some(1 << 20);
    let (_, data) = read_with("a.xlsx", far, &options);
    assert!(data.is_err());
}
