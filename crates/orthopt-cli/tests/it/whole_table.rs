//! What the first lines of a table say holds for all of it, or all of it decides.

use crate::common::Dir;

/// A table of so many rows, more than those that are examined first.
fn table(head: &str, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..450).map(|i| row(i) + "\n").collect();
    format!("{head}\n{rows}")
}

/// Numbers of three digits behind the mark, which may be thousands as well.
fn three(i: usize, k: usize) -> String {
    format!("{}.{:03}", 1 + (i * 7 + k * 3) % 90, (i * 37 + k * 11) % 1000)
}

fn shape(dir: &Dir, args: &[&str]) -> (u64, u64, String) {
    let object = dir.json(&[&["solve", "pca", "t.csv", "-r", "1", "--center"], args].concat());
    let data = &object["data"];
    let said = format!("{} {}", data["read"], object["notes"]);
    (data["rows"].as_u64().unwrap(), data["cols"].as_u64().unwrap(), said)
}

/// Each with the columns that are left, and what a reader says that cannot begin again.
#[test]
fn late_rows_decide_as_early_ones_do() {
    let dir = Dir::new();
    let late = |i: usize, early: String, late: String| if i < 300 { early } else { late };
    for (name, text, columns, said, of_stream) in [
        (
            "an id that repeats",
            table("id,a,b", |i| format!("{},{}.5,{}", i % 300, i * 7 % 11, i % 5)),
            3,
            "",
            Some("column `id` tells the rows apart in the first lines, and not here: --row-names none"),
        ),
        (
            "an id beside others",
            table("a,b,id", |i| format!("{}.5,{},{}", i * 7 % 11, i % 5, i % 300)),
            3,
            "",
            Some("column `id` tells the rows apart in the first lines"),
        ),
        (
            "time that begins again",
            table("t,a,b", |i| format!("{},{}.5,{}", i % 300, i * 7 % 11, i % 5)),
            3,
            "",
            Some("column `t` counts the rows in the first lines, and not here"),
        ),
        (
            "a count of rows that goes on to a footnote",
            table("n,a,b", |i| {
                if i < 449 { format!("{},{}.5,{}", i + 1, i * 7 % 11, i % 5) } else { "Total,,".into() }
            }),
            2,
            "counts the rows",
            None,
        ),
        (
            "words, and then numbers",
            table("g,a,b", |i| late(i, format!("w{},{}.5,{}", i % 9, i % 11, i % 5), format!("w,{i}.5,1"))),
            2,
            "",
            None,
        ),
        (
            "dots that are thousands",
            table("a;b", |i| {
                late(i, format!("{};{}", three(i, 0), three(i, 1)), format!("{},5;{}", i, i % 7))
            }),
            2,
            "decimal commas",
            Some("is not a number"),
        ),
        (
            "true and false, and then numbers",
            table("a,b", |i| {
                late(i, format!("{},{}.5", i % 3 == 0, i % 11), format!("{},{}.5", i % 7, i % 11))
            }),
            1,
            "`a`",
            Some("is not a number"),
        ),
    ] {
        dir.write("t.csv", &text);
        let whole = shape(&dir, &[]);
        assert_eq!(whole.1, columns, "{name}: {}", whole.2);
        assert!(whole.2.contains(said), "{name}: {}", whole.2);
        match of_stream {
            Some(problem) => dir.fails(&["solve", "pca", "t.csv", "-r", "1", "--stream"], 1, &[problem]),
            None => {
                let stream = shape(&dir, &["--stream"]);
                assert_eq!((stream.0, stream.1), (whole.0, whole.1), "{name}: {}", stream.2);
            }
        }
    }
}

/// That numbers may be thousands is said as long as no number shows that they are not.
#[test]
fn doubt_ends_with_the_first_number_that_shows() {
    let dir = Dir::new();
    let doubt = "are read as decimals";
    dir.write("t.csv", table("a;b", |i| format!("{};{}", three(i, 0), three(i, 1))));
    assert!(shape(&dir, &[]).2.contains(doubt));
    dir.write(
        "t.csv",
        table(
            "a;b",
            |i| if i == 400 { "1.5;2.25".into() } else { format!("{};{}", three(i, 0), three(i, 1)) },
        ),
    );
    assert!(!shape(&dir, &[]).2.contains(doubt));
}

/// What is piped in is decided by all of it, too.
#[test]
fn standard_input_is_decided_by_all_lines() {
    let dir = Dir::new();
    let text = table("id,a,b", |i| format!("{},{}.5,{}", i % 300, i * 7 % 11, i % 5));
    let output =
        dir.orthopt(&["solve", "pca", "-", "-r", "1", "--json", "-"]).write_stdin(text).output().unwrap();
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["data"]["cols"].as_u64(), Some(3), "{object}");
}

/// Totals are recognised by their numbers, in any place.
#[test]
fn totals_among_others() {
    let dir = Dir::new();
    let rows = |names: &[(&str, [f64; 3])]| {
        let rows: String =
            names.iter().map(|(name, v)| format!("{name},{},{},{}\n", v[0], v[1], v[2])).collect();
        format!("name,a,b,c\n{rows}")
    };
    let n = [1.5, 20.25, 3.0];
    let m = [4.0, 1.5, 6.5];
    let s = [7.25, 8.0, 1.0];
    let sum = |rows: &[[f64; 3]]| std::array::from_fn(|j| rows.iter().map(|row| row[j]).sum::<f64>());
    for (name, table, left) in [
        ("a company", vec![("u", n), ("Total", [2.0, 2.0, 2.0]), ("v", m), ("w", s)], 4),
        (
            "of rows above",
            vec![("u", n), ("v", m), ("Total", sum(&[n, m])), ("w", s), ("x", [1.0, 2.0, 9.0])],
            4,
        ),
        ("of rows below", vec![("w", s), ("Total", sum(&[n, m])), ("u", n), ("v", m)], 3),
        ("of all others", vec![("u", n), ("All rows", sum(&[n, m, s])), ("v", m), ("w", s)], 3),
        ("in front", vec![("Total", [9.0, 9.0, 9.0]), ("u", n), ("v", m), ("w", s)], 3),
        ("at the end", vec![("u", n), ("v", m), ("w", s), ("Total", [9.0, 9.0, 9.0])], 3),
        (
            "in part of the name",
            vec![("u", n), ("v", m), ("North - total", sum(&[n, m])), ("w", s), ("x", m)],
            4,
        ),
        ("what is no total", vec![("u", n), ("Total cholesterol", s), ("v", m), ("w", [5.0, 5.0, 1.0])], 4),
        (
            "each in turn",
            vec![
                ("Total", sum(&[n, m])),
                ("men", n),
                ("women", m),
                ("Total", sum(&[s, n])),
                ("men", s),
                ("women", n),
            ],
            4,
        ),
    ] {
        dir.write("t.csv", rows(&table));
        let (found, columns, said) = shape(&dir, &[]);
        assert_eq!((found, columns), (left, 3), "{name}: {said}");
        assert_eq!(shape(&dir, &["--stream"]).0, left, "{name}, part by part");
        assert_eq!(shape(&dir, &["--drop-rows", "none"]).0, table.len() as u64, "{name}");
    }
    // what is advised leaves it out
    dir.write("t.csv", rows(&[("u", n), ("Total", [2.0, 2.0, 2.0]), ("v", m), ("w", s)]));
    assert!(shape(&dir, &[]).2.contains("row `Total` is among other rows"));
    assert_eq!(shape(&dir, &["--drop-rows", "Total"]).0, 3);
}

/// What stands in several files is one table: its rows are counted on, and a row that is listed is in one of them.
#[test]
fn listed_rows_of_parts() {
    let dir = Dir::new();
    let rows = |rows: std::ops::Range<usize>| {
        let row = |i: usize| format!("s{i},{}.5,{},{}\n", i * 7 % 11, i * i % 13, i % 4);
        "name,a,b,c\n".to_string() + &rows.map(row).collect::<String>()
    };
    dir.write("t.csv", rows(0..12));
    dir.write("p1.csv", rows(0..7));
    dir.write("p2.csv", rows(7..12));
    for (list, left) in
        [("s3,s8", Some(10)), ("3,9", Some(10)), ("12", Some(11)), ("s3,s12", None), ("13", None)]
    {
        for data in [&["t.csv"][..], &["t.csv", "--stream"], &["p*.csv"]] {
            let args = [&["solve", "pca"], data, &["-r", "1", "--center", "--drop-rows", list]].concat();
            match left {
                Some(left) => {
                    let whole = ["solve", "pca", "t.csv", "-r", "1", "--center", "--drop-rows", list];
                    let (found, expected) = (dir.json(&args), dir.json(&whole));
                    assert_eq!(found["data"]["rows"], left, "{list} {data:?}");
                    let value = |object: &serde_json::Value| object["objective"].as_f64().unwrap();
                    let (found, expected) = (value(&found), value(&expected));
                    assert!((found - expected).abs() < 1e-9 * expected.abs(), "{list} {data:?}");
                }
                None => dir.fails(&args, 1, &["there is no row `"]),
            }
        }
    }
    // the names of what was left out are given where another table is read like this one
    dir.write("t.csv", rows(0..12) + "Total,9,9,9\n");
    for data in [&["t.csv"][..], &["t.csv", "--stream"]] {
        let object = dir.json(&[&["solve", "pca"], data, &["-r", "1", "--center"]].concat());
        assert!(
            object["data"]["layout"].to_string().contains("Total"),
            "{data:?}: {}",
            object["data"]["layout"]
        );
    }
}

/// Files of numbers alone keep their rows, say so of a last one that is the sum of the others, and leave out what the note
/// says.
#[test]
fn rows_of_files_of_numbers() {
    let dir = Dir::new();
    let row = |i: usize| format!("{}.5,{},{}\n", i * 7 % 11, i * i % 13, i % 4);
    let numbers: String = (0..12).map(row).collect();
    dir.write("t.csv", numbers + "61,77,18\n");
    dir.orthopt(&["data", "convert", "t.csv", "t.npy", "--drop-rows", "none"]).assert().success();
    dir.orthopt(&["data", "convert", "t.csv", "t.mtx", "--drop-rows", "none"]).assert().success();
    for file in ["t.npy", "t.mtx"] {
        let args = ["solve", "pca", file, "-r", "1", "--center"];
        let object = dir.json(&args);
        let notes = object["notes"].to_string();
        assert_eq!(object["data"]["rows"], 13, "{file}");
        let note = "row 13, the last one, is the sum of the others and is read as a sample; --drop-rows 13 leaves it out";
        assert!(notes.contains(note), "{file}: {notes}");
        for (list, rows) in [("13", 12), ("1,2", 11), ("none", 13)] {
            for stream in [&[][..], &["--stream"]] {
                let found = dir.json(&[&args[..], &["--drop-rows", list], stream].concat());
                assert_eq!(found["data"]["rows"], rows, "{file} {list} {stream:?}");
                assert!(!found["notes"].to_string().contains("the last one"), "{}", found["notes"]);
            }
        }
        dir.fails(&[&args[..], &["--drop-rows", "14"]].concat(), 1, &["there is no row `14`"]);
        dir.fails(&[&args[..], &["--drop-rows", "14", "--stream"]].concat(), 1, &["there is no row `14`"]);
    }
}

/// Tables whose samples are columns are turned part by part, too.
#[test]
fn tables_that_turn_by_themselves() {
    let dir = Dir::new();
    let samples: String = (0..12).map(|i| format!("\ts{i}")).collect();
    let gene = |j: usize| (0..12).map(|i| format!("\t{}", (i * 7 + j * j * i) % 11)).collect::<String>();
    let genes = |between: &str| (0..4).map(|j| format!("g{j}{between}{}\n", gene(j))).collect::<String>();
    dir.write("t.gct", format!("#1.2\n4\t12\nName\tDescription{samples}\n{}", genes("\twords")));
    dir.write("t.tsv", format!("#OTU ID{samples}\n{}", genes("")));
    let places = "Geneid\tChr\tStart\tEnd\tStrand\tLength";
    dir.write("t.txt", format!("{places}{samples}\n{}", genes("\t1\t5\t9\t+\t4")));
    for file in ["t.gct", "t.tsv", "t.txt"] {
        for stream in [&[][..], &["--stream"]] {
            let object = dir.json(&[&["solve", "pca", file, "-r", "1", "--center"], stream].concat());
            let size = (object["data"]["rows"].as_u64(), object["data"]["cols"].as_u64());
            assert_eq!(size, (Some(12), Some(4)), "{file} {stream:?}");
        }
    }
}

/// A row without a value is no sample, whether its cells are empty or hold what stands for a missing value.
#[test]
fn rows_without_a_value() {
    let dir = Dir::new();
    let row = |i: usize| format!("s{i},{}.5,{},{}\n", i * 7 % 11, i * i % 13, i % 4);
    let table = |between: &str| {
        let rows: String = (0..12).map(|i| row(i) + if i == 5 { between } else { "" }).collect();
        format!("name,a,b,c\n{rows}")
    };
    for (between, said) in [
        ("lost,,,\n", Some("row `lost` with nothing but a name is left out")),
        ("lost,NA,NA,NA\n", Some("row `lost` with nothing but a name is left out")),
        ("lost,NA,,-999\n", Some("row `lost` with nothing but a name is left out")),
        (",NA,NA,NA\n", Some("row `7` with no value is left out")),
        ("lost,NA,NA,1\n", None),
    ] {
        dir.write("t.csv", table(between));
        for stream in [&[][..], &["--stream"]] {
            let args = [&["solve", "pca", "t.csv", "-r", "1", "--na", "-999"], stream].concat();
            let Some(said) = said else {
                dir.fails(&args, 1, &["row 7, column 1 (`a`) has a missing value"]);
                continue;
            };
            let object = dir.json(&args);
            assert_eq!(object["data"]["rows"], 12, "{between}");
            assert!(object["notes"].to_string().contains(said), "{between}: {}", object["notes"]);
        }
        // none is made up
        let filled = dir.json(&["solve", "pca", "t.csv", "-r", "1", "--na", "-999", "--missing", "em"]);
        assert_eq!(filled["data"]["rows"], if said.is_some() { 12 } else { 13 }, "{between}");
    }
}
