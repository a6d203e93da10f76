//! Tables of many programs and people, each with what is right: shape, names, shares of variance. What is advised is done
//! until nothing is advised, and must lead there.

use serde_json::Value;

use crate::common::{Dir, repository};

/// A file of these tests.
fn case(name: &str) -> String {
    let data = repository("crates/orthopt-cli/tests/data");
    let path = [data.join("cases").join(name), data.join(name)].into_iter().find(|path| path.exists());
    std::fs::canonicalize(path.unwrap_or_else(|| panic!("there is no {name}")))
        .unwrap()
        .to_str()
        .unwrap()
        .into()
}

/// What a table is.
struct Right {
    file: &'static str,
    options: &'static [&'static str],
    shape: (u64, u64),
    /// The first shares of variance in per cent, where they are known from elsewhere (NumPy).
    shares: &'static [f64],
    /// What is said of it.
    said: &'static str,
}

const fn right(
    file: &'static str,
    options: &'static [&'static str],
    shape: (u64, u64),
    shares: &'static [f64],
    said: &'static str,
) -> Right {
    Right { file, options, shape, shares, said }
}

const STD: &[&str] = &["--scale", "std"];
const CENTRE: &[&str] = &["--center"];

#[rustfmt::skip]
const CASES: &[Right] = &[
    right("wb.csv", STD, (5, 4), &[], "names from the first line; rows named by column `Country Name`; dropped: `Country Code`"),
    right("total_row.csv", STD, (12, 4), &[52.36, 35.76], "row `Total` is no sample by the name (a total); --drop-rows none"),
    right("total_noname.csv", STD, (12, 4), &[52.36, 35.76], "row `13` is the sum of the others and no sample"),
    right("pctmix.csv", STD, (5, 3), &[87.93], "`growth` without its `%`"),
    right("pctmix.csv", &["--drop", "text", "--scale", "std"], (5, 3), &[87.93], "rows named by column `city`"),
    right("trail_rows.csv", STD, (12, 4), &[52.47], "dropped: `5` (empty)"),
    right("idx2.csv", CENTRE, (40, 5), &[48.44, 32.84], "column `id` (1, 4, 7, ...) tells the rows apart"),
    right("t.jsonl", CENTRE, (6, 3), &[], "names from the first line"),
    right("fortran_d.txt", CENTRE, (12, 4), &[], "no names"),
    right("geno.raw", &["--missing", "mean", "--scale", "std"], (30, 6), &[], "rows named by column `IID`"),
    right("erddap.csv", STD, (12, 4), &[], "1 line of words below the names (units) left out"),
    right("units_semicolon.csv", STD, (12, 4), &[], "1 line of words below the names (units) left out"),
    right("hidden.xlsx", CENTRE, (10, 3), &[], "sheet `data`"),
    right("codes.csv", STD, (4, 3), &[], "rows named by column `code`"),
    right("space.csv", STD, (12, 4), &[52.47], "names from the first line"),
    right("census.csv", STD, (5, 3), &[75.82], "thousands marked by `,`"),
    right("en6.csv", CENTRE, (3, 3), &[], "thousands marked by `,`"),
    right("star.csv", STD, (5, 3), &[], "`yield`"),
    right("meansd.csv", STD, (5, 3), &[], "`yield`"),
    // those of earlier
    right("iris.csv", STD, (15, 4), &[], "column `Species` holds words and is left out"),
    right("bfi_200.csv", &["--missing", "em", "--scale", "std"], (200, 28), &[], "column `rownames` (61617, 61618, 61620, ...) tells the rows apart"),
    right("body.csv", STD, (5, 3), &[], "`weight` without"),
    right("decimal-comma.csv", STD, (30, 4), &[59.81, 38.67], "decimal commas"),
    right("integer-names.csv", STD, (30, 4), &[59.81, 38.74], "the first line (0, 1, 2, ...) is read as the names of the columns"),
    right("integer-names-and-index.csv", STD, (30, 4), &[59.81, 38.74], "rows named by the first column"),
    right("survey.csv", &["--weights", "weight", "--scale", "std"], (40, 5), &[], "weighted by column `weight`"),
    right("table.xlsx", STD, (25, 5), &[], "names from the first line"),
    right("unicode.txt", STD, (30, 4), &[59.81, 38.74], "UTF-16"),
    right("repeated.csv", STD, (30, 4), &[], "the name `b` occurs 2 times"),
    right("corr.csv", STD, (11, 11), &[], "it looks like a correlation matrix and is read as samples; --gram"),
    right("10x/matrix.mtx", STD, (60, 25), &[], "transposed (rows of the file are variables)"),
    // of programs that are not given
    right("merged.csv", STD, (10, 4), &[64.87, 28.80], "rows named by column `place`"),
    right("redcap.csv", STD, (12, 6), &[48.23, 25.40], "`redcap_event_name`, `visit_date` (text)"),
    right("noaa.csv", STD, (12, 6), &[58.66, 29.19], "rows named by column `DATE`"),
    right("proteinGroups.txt", STD, (9, 5), &[32.0, 26.49], "`id` (tells the rows apart)"),
    right("eurostat.tsv", &["--missing", "drop", "--scale", "std"], (8, 4), &[77.93, 17.17], "`2018`, `2019`, `2020`, `2021` without the text beside its numbers"),
    right("spss_labels.csv", STD, (15, 4), &[42.47, 29.39], "without the words beside its codes (1 Strongly disagree, ..., 5 Strongly agree)"),
    right("sheets.csv", STD, (8, 3), &[77.94, 14.79], "`Revenue`, `Cost` without its `$`"),
    right("r_writecsv.csv", STD, (7, 3), &[63.51, 32.70], "rows named by the first column"),
    right("r_writetable.txt", STD, (7, 3), &[63.51, 32.70], "rows named by the first column"),
    right("sep.csv", STD, (8, 3), &[66.89, 31.0], "decimal commas"),
    right("opus.csv", STD, (6, 9), &[59.86, 27.81], "names from the first line"),
    right("opus_columns.csv", &["--transpose", "--row-names", "wavenumber", "--scale", "std"], (6, 9), &[59.86, 27.81], "transposed"),
    right("opus_columns.csv", STD, (9, 7), &[], "column `wavenumber` goes by steps of -1.9287: where it names the rows, --row-names wavenumber"),
    right("metabo.csv", &["--transpose", "--scale", "std"], (6, 8), &[42.07, 28.58], "rows named by the first line"),
    right("metabo.csv", STD, (8, 6), &[], "line 2 (`Label`: `case`, ...) names groups of columns and is left out; if samples are in columns, --transpose"),
    right("featurecounts.txt", STD, (4, 8), &[43.98, 37.64], "transposed"),
    right("subtotals.csv", STD, (5, 3), &[54.59, 44.95], "rows `North total`, `South total` are sums of others and no samples"),
    right("totalname.csv", STD, (6, 3), &[56.51, 40.35], "row `Total` is among other rows and is not their sum: it is read as a sample; --drop-rows Total"),
];

/// Those whose first command has to be mended, or is another one.
const NOT_AS_THEY_STAND: &[&str] = &[
    "star.csv",
    "meansd.csv",
    "body.csv",
    "merged.csv",
    "eurostat.tsv",
    "opus_columns.csv",
    "metabo.csv",
    "survey.csv",
];

/// The first option that a message advises, with its value.
fn advised(message: &str) -> Option<[String; 2]> {
    let known = ["--strip ", "--na ", "--decimal ", "--header "];
    let at = known.iter().filter_map(|option| message.find(option)).min()?;
    let (option, rest) = message[at..].split_once(' ')?;
    let value = match rest.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next()?,
        None => rest.split(' ').next()?.trim_end_matches([',', ';', ':']),
    };
    Some([option.into(), value.into()])
}

/// Runs the command, doing what errors advise.
fn followed(dir: &Dir, case: &Right) -> (Value, String) {
    let file = self::case(case.file);
    let rank = case.shares.len().max(1).to_string();
    let mut args: Vec<String> = ["solve", "pca", &file, "-r", &rank].map(String::from).into();
    args.extend(case.options.iter().map(|word| word.to_string()));
    for _ in 0..4 {
        let typed: Vec<&str> = args.iter().map(String::as_str).chain(["--json", "-"]).collect();
        let output = dir.orthopt(&typed).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if output.status.success() {
            return (serde_json::from_slice(&output.stdout).unwrap(), said);
        }
        let advice = advised(&said).unwrap_or_else(|| panic!("{}: no advice in {said}", case.file));
        assert!(!args.contains(&advice[0]), "{}: the same advice again: {said}", case.file);
        args.extend(advice);
    }
    panic!("{}: advice without end", case.file)
}

#[test]
fn every_table_is_read_as_it_is_meant() {
    let dir = Dir::new();
    for case in CASES {
        let (object, notes) = followed(&dir, case);
        let data = &object["data"];
        let read = data["read"].as_str().unwrap();
        assert_eq!(
            (data["rows"].as_u64().unwrap(), data["cols"].as_u64().unwrap()),
            case.shape,
            "{}: {read}",
            case.file
        );
        let said = format!("{read}\n{notes}");
        assert!(said.contains(case.said), "{}: {said}", case.file);
        for (k, share) in case.shares.iter().enumerate() {
            let found = 100.0 * object["explained_variance"]["ratio"][k].as_f64().unwrap();
            assert!((found - share).abs() < 0.006, "{}: {found} {share}", case.file);
        }
    }
}

/// `data info` recommends a command that gives the same table.
#[test]
fn the_first_command_works() {
    let dir = Dir::new();
    for case in CASES.iter().filter(|case| !NOT_AS_THEY_STAND.contains(&case.file)) {
        let file = self::case(case.file);
        let mut json = dir.json(&["data", "info", &file]);
        let command = json["command"].take();
        let command = command.as_str().unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let words: Vec<&str> = words.iter().map(|word| word.trim_matches('\'')).collect();
        // the table is what is asked for, and plain PCA reads the same one
        let words: Vec<&str> =
            words.into_iter().map(|word| if word == "l0-pca" { "pca" } else { word }).collect();
        let object = dir.json(&words);
        let data = &object["data"];
        assert_eq!((data["rows"].as_u64().unwrap(), data["cols"].as_u64().unwrap()), case.shape, "{command}");
    }
}

/// One rule for all parts, for new rows, and for a table that is to be read as another one.
#[test]
fn marks_are_those_of_the_table() {
    let dir = Dir::new();
    let (p1, p2, all) = (case("p1.csv"), case("p2.csv"), case("pall.csv"));
    let f = |files: &[&str]| {
        let args = [&["solve", "pca"], files, &["--center", "-r", "1", "--json", "m.json"]].concat();
        dir.orthopt(&args).assert().success();
        let text = dir.read("m.json");
        serde_json::from_str::<Value>(&text).unwrap()["objective"].as_f64().unwrap()
    };
    let (whole, parts) = (f(&[&all]), f(&[&p1, &p2]));
    assert!((whole + 1_054_370.941).abs() < 1e-3 && (whole - parts).abs() < 1e-6, "{whole} {parts}");
    // new rows with whole thousands only
    f(&[&all]);
    let scores = |data: &str| {
        dir.orthopt(&["transform", "m.json", data, "-o", "s.csv", "--quiet"]).assert().success();
        dir.read("s.csv").lines().skip(1).map(String::from).collect::<Vec<_>>()
    };
    let (of_all, of_part) = (scores(&all), scores(&p2));
    let number = |line: &String| line.split(',').next_back().unwrap().parse::<f64>().unwrap();
    assert!(
        of_all[3..].iter().zip(&of_part).all(|(a, b)| (number(a) - number(b)).abs() < 1e-9),
        "{of_all:?} {of_part:?}"
    );
    let object = dir.json(&["solve", "pca", &p2, "--layout", "m.json", "--center", "-r", "1"]);
    let sd = object["explained_variance"]["components"][0].as_f64();
    assert!(object["objective"].as_f64().unwrap() < -10_000.0, "{sd:?} {object}");
    // lines of units, and rows that were left out, are those of the table as well
    f(&[&case("units_semicolon.csv")]);
    let layout: Value = serde_json::from_str(&dir.read("m.json")).unwrap();
    assert_eq!(layout["data"]["layout"]["units"], "1", "{layout}");
    dir.write("first.csv", "name,a,b\nu,1,2\nv,4,1\nSum of u,5,3\nw,2,9\nTotal,9,9\n");
    dir.orthopt(&["solve", "pca", "first.csv", "-r", "1", "--json", "m.json"]).assert().success();
    dir.write("second.csv", "name,a,b\nx,7,2\nTotal,2,2\ny,4,3\nz,2,9\n");
    let rows = |args: &[&str]| {
        dir.json(&[&["solve", "pca", "second.csv", "-r", "1"], args].concat())["data"]["rows"].as_u64()
    };
    assert_eq!((rows(&[]), rows(&["--layout", "m.json"])), (Some(4), Some(3)));
    dir.write("empty.json", "[]");
    dir.fails(&["solve", "pca", &p2, "--layout", "empty.json", "-r", "1"], 1, &["it holds no layout"]);
}

/// Rows that are no samples, and options that say so.
#[test]
fn rows_that_are_no_samples() {
    let dir = Dir::new();
    let shape = |args: &[&str]| {
        let object = dir.json(&[&["solve", "pca", "t.csv", "-r", "1", "--center"], args].concat());
        (object["data"]["rows"].as_u64().unwrap(), object["data"]["cols"].as_u64().unwrap())
    };
    let rows = "id,a,b\nu,1.5,4\nv,2,1.5\nw,5,2\nx,3,8\ny,9,1\n";
    for (end, count) in [
        ("", 5),
        ("Mean,4.1,3.3\nSD,3.0,2.8\nN,5,5\n", 5),
        ("Total,20.5,16.5\n", 5),
        ("z,20.5,16.5\n", 5),
        ("z,4.1,3.3\n", 5),
        ("N,5,5\n", 6), // nitrogen
        ("__no_feature,100,200\n__ambiguous,7,9\n", 5),
        ("Source: survey 2019,,\n", 5),
        ("Source: survey 2019\n", 5),
        ("z,2,3\n", 6),
    ] {
        dir.write("t.csv", format!("{rows}{end}"));
        assert_eq!(shape(&[]), (count, 2), "{end}");
        assert_eq!(shape(&["--stream"]), (count, 2), "{end}");
    }
    dir.write("t.csv", format!("{rows}Total,20.5,16.5\n"));
    assert_eq!(shape(&["--drop-rows", "none"]), (6, 2));
    assert_eq!(shape(&["--drop-rows", "v,x"]), (3, 2));
    assert_eq!(shape(&["--footer", "1"]), (5, 2));
    dir.fails(
        &["solve", "pca", "t.csv", "-r", "1", "--drop-rows", "q"],
        1,
        &["--drop-rows: there is no row `q`"],
    );
    dir.write("t.csv", format!("made by hand\nin 2019\n{rows}"));
    assert_eq!(shape(&["--skip", "2"]), (5, 2));
    // notes below columns of numbers alone
    for end in ["Note: made by hand\n", "Note: made by hand,,\n"] {
        dir.write("t.csv", format!("a,b,c\n1.5,2.5,3\n2.5,1,2\n0.5,7,2\n1,1,9\n{end}"));
        assert_eq!(shape(&[]), (4, 3), "{end}");
        assert_eq!(shape(&["--stream"]), (4, 3), "{end}");
    }
    // a line of a logger, units and kinds below the names
    dir.write("t.csv", "\"TOA5\",\"st\",\"CR1000\",\"5\"\n\"TIMESTAMP\",\"T\",\"P\"\n\"TS\",\"C\",\"hPa\"\n\"\",\"Avg\",\"Smp\"\n\"2020-01-01 00:00:00\",1.5,3\n\"2020-01-01 00:10:00\",2.5,1\n\"2020-01-01 00:20:00\",0.5,7\n");
    assert_eq!(shape(&[]), (3, 2));
    dir.write("t.csv", "a,a,b\nx,y,z\n1,2,3\n4,5,7\n2,2,2\n");
    dir.fails(&["solve", "pca", "t.csv", "-r", "1"], 1, &["--header 2 joins the two"]);
    assert_eq!(shape(&["--header", "2"]), (3, 3));
}

/// Everything that is odd in one message.
#[test]
fn odd_cells_are_told_together() {
    let dir = Dir::new();
    dir.write("t.csv", "id,a,b,c\nu,<0.2,4,1*\nv,2,x,2\nw,<0.5,2,3\nx,3,x,4\ny,9,1,5\n");
    dir.fails_in_one_line(
        &["solve", "pca", "t.csv", "-r", "1"],
        1,
        &[
            "t.csv:2: `<0.2` in column 2 (`a`) is a number with a limit, and so in 1 more cell (`<0.5`): --na '<0.2,<0.5,x'",
            "`x` in column 3 (`b`) is not a number, and so in 1 more cell; if it stands for a missing value, say --na '<0.2,<0.5,x'",
            "`1*` in column 4 (`c`) is a number with stars of significance: --strip c reads the numbers alone",
        ],
    );
    dir.fails(
        &["solve", "pca", &case("likert.csv"), "-r", "1"],
        1,
        &["the same 5 answers in words", "d.replace("],
    );
}

/// Formats of a field whose samples stand in columns.
#[test]
fn samples_in_columns() {
    let dir = Dir::new();
    let shape = |file: &str| {
        let object = dir.json(&["solve", "pca", file, "-r", "1", "--center"]);
        (object["data"]["rows"].as_u64().unwrap(), object["data"]["cols"].as_u64().unwrap())
    };
    dir.write("e.gct", "#1.2\n3\t4\nName\tDescription\ts1\ts2\ts3\ts4\ng1\tna\t1\t2\t3\t5\ng2\tna\t4\t1\t1\t2\ng3\tna\t3\t3\t2\t9\n");
    assert_eq!(shape("e.gct"), (4, 3));
    dir.write("o.txt", "# Constructed from biom file\n#OTU ID\ts1\ts2\ts3\ttaxonomy\n1\t3\t4\t5\tk__A\n2\t1\t0\t2\tk__A\n3\t7\t7\t1\tk__B\n4\t0\t1\t9\tk__B\n");
    assert_eq!(shape("o.txt"), (3, 4));
}

#[test]
fn headers_and_orders_of_triples() {
    let dir = Dir::new();
    for (train, test) in [
        ("recbole_train.tsv", "recbole_test.tsv"),
        ("case_train.tsv", "case_test.tsv"),
        ("htr_head_train.tsv", "htr_head_test.tsv"),
    ] {
        let (train, test) = (case(train), case(test));
        let args = ["embed", &train, "--test", &test, "--dim", "8", "--signature", "7", "--epochs", "1"];
        let output = dir.orthopt(&args).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("30 entities, 3 relations; 70 triples"), "{train}: {text}");
    }
}
