//! Foreign text reaches the terminal in one line and without control characters, on whatever way.

use crate::common::Dir;

/// Colour, bell, title of the window, a line of its own, a tab, a C1 control.
const NASTY: &str = "\u{1b}[31mred\u{7}\u{1b}]0;x\u{7}\nFAKE\tc1\u{9b}31m";

/// Standard error of a run.
fn said(dir: &Dir, args: &[&str]) -> String {
    let output = dir.orthopt(args).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{args:?}: {text:?}");
    assert!(text.lines().all(|line| !line.starts_with("FAKE")), "{args:?}: {text}");
    text
}

/// As [`said`], where the foreign text is shown.
fn shown(dir: &Dir, args: &[&str]) -> String {
    let text = said(dir, args);
    assert!(text.contains("red") && text.contains("\\u{1b}"), "{args:?}: {text}");
    text
}

#[test]
fn names_of_columns_and_rows() {
    let dir = Dir::new();
    let name = format!("\"{NASTY}\"");
    dir.write("a.csv", format!("row,{name},b,c\nr1,1,2,3\n{name},2,1,0\nr3,4,4,1\nr4,0,1,7\n"));
    shown(&dir, &["data", "info", "a.csv"]);
    let solve = ["solve", "l1-pca", "a.csv", "-r", "1", "--lambda", "0.1"];
    shown(&dir, &[&solve[..], &["--json", "m.json", "--certify"]].concat());
    dir.write("b.csv", "b,c,d\n1,2,3\n2,2,1\n");
    shown(&dir, &["transform", "m.json", "b.csv", "-o", "s.csv"]);
    dir.write("missing.csv", format!("{name},b\n1,2\n,3\n"));
    said(&dir, &["data", "info", "missing.csv"]);
    dir.write("word.csv", format!("a,b\n1,2\n3,{name}\n"));
    said(&dir, &["data", "info", "word.csv"]);
    dir.write("names.txt", NASTY.replace('\n', "") + "\nb\nc\n");
    let named = ["solve", "l1-pca", "randn:9:3", "-r", "1", "--lambda", "0.1", "--names", "names.txt"];
    shown(&dir, &named);
    dir.write("labels.txt", NASTY.replace('\n', "\n\n"));
    let labelled = ["--labels", "labels.txt", "--plot-scores", "p.svg"];
    said(&dir, &[&solve[..], &labelled[..]].concat());
    said(&dir, &[&["solve", "l1-pca", "randn:3:3", "-r", "2", "--quiet"], &labelled[..]].concat());
}

#[cfg(unix)]
#[test]
fn names_of_files() {
    let dir = Dir::new();
    let (there, absent, out) = (format!("{NASTY}.csv"), format!("{NASTY}2.csv"), format!("{NASTY}3.csv"));
    dir.write(&there, "a,b\n1,2\n3,4\n4,4\n");
    shown(&dir, &["data", "info", &there]);
    shown(&dir, &["data", "info", &absent]);
    shown(&dir, &["data", "convert", &there, &out]);
    shown(&dir, &["data", "convert", &there, &there]);
    shown(&dir, &["data", "convert", &there, NASTY]);
    shown(&dir, &["data", "generate", "randn:2:2", &format!("no/{NASTY}.csv")]);
    let solve = ["solve", "l1-pca", &there, "-r", "1", "--lambda", "0.1"];
    shown(&dir, &solve);
    for option in ["--linear", "--names", "--labels", "--init", "--config", "--save-x", "--trace"] {
        let picture: &[&str] = if option == "--labels" { &["--report", "r.html"] } else { &[] };
        let solve = match option {
            "--linear" => vec!["solve", "nonlinear-eig", &there, "-r", "1"],
            _ => solve.to_vec(),
        };
        let text = said(&dir, &[&solve[..], &[option, &absent], picture].concat());
        assert!(text.contains("red"), "{option}: {text}");
    }
    let absent = format!("{NASTY}4.csv");
    shown(&dir, &["certify", "l1-pca", &there, "--x", &absent]);
    shown(&dir, &["transform", &absent, &there, "-o", "s.csv"]);
    dir.write(&format!("{NASTY}.json"), "{}");
    shown(&dir, &["transform", &format!("{NASTY}.json"), &there, "-o", "s.csv"]);
}

#[test]
fn words_of_files() {
    let dir = Dir::new();
    let word = NASTY.replace(['\n', '\t'], "");
    for banner in [
        format!("%%MatrixMarket matrix {word} real general\n1 1 1\n"),
        format!("%%MatrixMarket matrix array {word} general\n1 1\n1\n"),
        format!("%%MatrixMarket matrix array real {word}\n1 1\n1\n"),
        format!("{word}\n"),
        format!("%%MatrixMarket matrix array real general\n{word}\n"),
        format!("%%MatrixMarket matrix array real general\n1 1\n{word}\n"),
    ] {
        dir.write("a.mtx", banner);
        shown(&dir, &["data", "info", "a.mtx"]);
    }
    for line in [word.clone(), format!("1 {word}:1"), format!("1 1:{word}"), format!("1 {word}")] {
        dir.write("a.svm", line + "\n");
        shown(&dir, &["data", "info", "a.svm"]);
    }
    let header = |descr: &str| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n");
        [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
    };
    dir.write("a.npy", header(&word));
    shown(&dir, &["data", "info", "a.npy"]);
    dir.write("signs.txt", &word);
    let args = ["solve", "hyperbolic-eig", "randn:9:3", "--signature", "signs.txt"];
    shown(&dir, &args);
    dir.write("model.json", format!("{{\"{word}\""));
    said(&dir, &["transform", "model.json", "randn:3:3", "-o", "s.csv"]);
}

#[test]
fn keys_and_values_of_a_config_file() {
    let dir = Dir::new();
    let escaped = "\\u001b[31mred\\u0007\\nFAKE\\t";
    for line in [
        format!("\"{escaped}\" = 1"),
        format!("{NASTY} = 1"),
        format!("rank = \"{escaped}\""),
        format!("problem = \"{escaped}\""),
        format!("problem = 'l0-pca'\ndata = \"{escaped}\""),
        format!("problem = 'l0-pca'\ndata = 'randn:9:3'\nscale = \"{escaped}\""),
        format!("problem = 'l0-pca'\ndata = 'randn:9:3'\nsolver = \"{escaped}\""),
        format!("problem = 'l0-pca'\ndata = 'randn:9:3'\ncandidates = \"{escaped}\""),
        format!("problem = 'l0-pca'\ndata = 'randn:9:3'\nsave-x = \"{escaped}\""),
    ] {
        dir.write("run.toml", &line);
        let text = said(&dir, &["solve", "--config", "run.toml"]);
        assert!(text.contains("run.toml") || text.contains("red"), "{line:?}: {text}");
    }
}

#[test]
fn words_of_the_command_line() {
    let dir = Dir::new();
    shown(&dir, &[NASTY]);
    shown(&dir, &["solve", NASTY]);
    let solve = ["solve", "l0-pca", "randn:9:3"];
    shown(&dir, &["solve", "l0-pca", &format!("randn:9:{NASTY}")]);
    shown(&dir, &["solve", "l0-pca", &format!("builtin:{NASTY}")]);
    for option in
        ["--lambda", "--nonzeros", "--solver", "--scale", "--init", "--map", "--penalty", "--candidates"]
    {
        shown(&dir, &[&solve[..], &[option, NASTY]].concat());
    }
    shown(&dir, &[&solve[..], &[&format!("--{NASTY}")]].concat());
    shown(&dir, &["data", "generate", NASTY, "a.csv"]);
    shown(&dir, &["reproduce", NASTY]);
    shown(&dir, &["list", "solver", NASTY]);
    let mut command = dir.orthopt(&["list", "problems"]);
    let output = command.env("ORTHOPT_LOG", NASTY).output().unwrap();
    assert!(!output.stderr.contains(&0x1b), "{:?}", String::from_utf8_lossy(&output.stderr));
}

/// Help breaks its lines where a terminal is narrow, and has the same words.
#[test]
fn narrow_terminals_have_the_same_help() {
    let dir = Dir::new();
    let help = |args: &[&str], columns: &str| {
        let output = dir.orthopt(args).env("COLUMNS", columns).output().unwrap();
        assert!(output.status.success(), "{args:?} with {columns} columns");
        let text = String::from_utf8(output.stdout).unwrap();
        text.chars().filter(|c| !c.is_whitespace()).collect::<String>()
    };
    for command in [
        "solve",
        "transform",
        "path",
        "explore",
        "compare",
        "certify",
        "bound",
        "reproduce",
        "data",
        "embed",
        "list",
        "completions",
    ] {
        let wide = help(&[command, "--help"], "100");
        for columns in ["0", "1", "20", "no", "99999999999999999999"] {
            assert_eq!(help(&[command, "--help"], columns), wide, "{command} with {columns} columns");
        }
    }
    for args in
        [&["list", "solvers"][..], &["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--nonzeros", "3"]]
    {
        let said = |columns: &str| help(args, columns).split("||_F").next().unwrap().to_string();
        let without_time = |text: String| text.split("time").next().unwrap().to_string();
        assert_eq!(without_time(said("20")), without_time(said("100")), "{args:?}");
    }
}
