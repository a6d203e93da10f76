//! Tables of many programs and people, each with what is right: shape, names, shares of variance. What is advised is done
//! until nothing is advised, and must lead there.

use serde_json::Value;

use crate::common::{Dir, repository};

/// A file of these tests.
fn case(name: &str) -> String {
    let path = repository("crates/orthopt-cli/tests/data/cases").join(name);
    std::fs::canonicalize(path).unwrap().to_str().unwrap().into()
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
];

/// The first option that a message advises, with its value.
fn advised(message: &str) -> Option<[String; 2]> {
    let known = ["--strip ", "--na ", "--decimal ", "--header "];
    let at = known.iter().filter_map(|option| message.find(option)).min()?;
    let mut words = message[at..].split([' ', ',', ';', ':']);
    Some([words.next()?.into(), words.next()?.trim_matches('\'').into()])
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
    for case in CASES.iter().filter(|case| !["star.csv", "meansd.csv"].contains(&case.file)) {
        let file = self::case(case.file);
        let mut json = dir.json(&["data", "info", &file]);
        let command = json["command"].take();
        let command = command.as_str().unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let words: Vec<&str> = words.iter().map(|word| word.trim_matches('\'')).collect();
        let object = dir.json(&[&words[..], &["--effort", "quick"]].concat());
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
