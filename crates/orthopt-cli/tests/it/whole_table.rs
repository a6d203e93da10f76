//! What the first lines of a table say holds for all of it, or all of it decides.

use crate::common::Dir;

/// A table of so many rows, more than those that are looked at first.
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

/// Totals are told by their numbers, wherever they stand.
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
    assert!(shape(&dir, &[]).2.contains("row `Total` stands among others"));
    assert_eq!(shape(&dir, &["--drop-rows", "Total"]).0, 3);
}
