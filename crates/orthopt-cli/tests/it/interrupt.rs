//! Ctrl-C: what was found is still written.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::{Dir, feasibility, read_npy};

/// A run of some minutes, which ends with another status if the signal does not end it.
#[rustfmt::skip]
const LONG: [&str; 12] = [
    "solve", "l1-pca", "randn:200:400", "-r", "20", "--lambda", "1", "--tol", "0", "--restarts=1000000",
    "--max-iters", "20000000",
];

/// The program, once it listens to signals.
fn start(dir: &Dir, extra: &[&str]) -> Child {
    once_it_says("Ctrl-C ends the run", spawn(dir, &[&LONG, extra].concat()))
}

/// The program, once its log has come to `words`.
fn once_it_says(words: &str, mut child: Child) -> Child {
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "the program ended at once");
    }
    child
}

fn spawn(dir: &Dir, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_orthopt"))
        .args(args)
        .current_dir(dir.path(""))
        .env("ORTHOPT_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A check of 18 million pairs that is interrupted ends with those that were checked.
#[test]
fn a_check_ends_with_what_was_checked() {
    let dir = Dir::new();
    let problem = ["l1-pca", "randn:40:6000"];
    let start = ["-r", "2", "--lambda", "1", "--init", "random", "--max-iters", "1", "--save-x", "x.npy"];
    let made = exit_code(spawn(&dir, &[&["solve"], &problem[..], &start[..]].concat()));
    assert_eq!(made.0, Some(0), "{}", made.1);
    for json in ["c.json", "-"] {
        let check = ["--x", "x.npy", "--lambda", "1", "--json", json];
        let child = spawn(&dir, &[&["certify"], &problem[..], &check[..]].concat());
        let child = once_it_says("checking pairs of rows", child);
        signal(&child, "-INT");
        let (code, stdout) = exit_code(child);
        assert_eq!(code, Some(130), "{stdout}");
        let text = if json == "-" { stdout } else { dir.read(json) };
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        let count = |name: &str| object["certificate"][name].as_u64().unwrap();
        assert_eq!(count("pairs_total"), 6000 * 5999 / 2);
        assert!(count("pairs_checked") < count("pairs_total") && object["certified"] == false, "{object}");
        assert!(object["verdict"].as_str().unwrap().contains("interrupted"), "{object}");
    }
}

fn exit_code(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// Branch and bound of minutes, interrupted, says what is proved by then.
#[test]
fn the_best_bound_so_far_is_written() {
    let dir = Dir::new();
    #[rustfmt::skip]
    let args = [
        "bound", "l0-pca", "randn:60:40:1", "-r", "3", "--lambda", "3", "--max-iters", "2000", "--time-limit", "600",
        "--json", "b.json",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthopt"));
    let command = command.args(args).current_dir(dir.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    signal(&child, "-INT");
    let (code, stdout) = exit_code(child);
    assert_eq!(code, Some(130), "{stdout}");
    assert!(stdout.contains("; interrupted"), "{stdout}");
    let object: serde_json::Value = serde_json::from_str(&dir.read("b.json")).unwrap();
    assert_eq!((object["status"].as_str(), object["proof"].as_str()), (Some("interrupted"), None));
    assert!(object["bound"].as_f64().unwrap() <= object["objective"].as_f64().unwrap(), "{object}");
}

#[test]
fn the_best_x_so_far_is_written() {
    for name in ["-INT", "-TERM"] {
        let dir = Dir::new();
        let child = start(&dir, &["--save-x", "x.npy", "--json", "r.json", "--trace", "t.csv", "--certify"]);
        std::thread::sleep(std::time::Duration::from_secs(1)); // so that there is something to write
        signal(&child, name);
        let (code, stdout) = exit_code(child);
        assert_eq!(code, Some(130));
        assert!(stdout.contains("\ninterrupted "), "{stdout}");
        let x = read_npy(&dir.path("x.npy"));
        assert_eq!((x.len(), x[0].len()), (400, 20));
        assert!(feasibility(&x) < 1e-11);
        let object: serde_json::Value = serde_json::from_str(&dir.read("r.json")).unwrap();
        assert_eq!(object["status"], "interrupted");
        assert!(dir.read("t.csv").lines().count() > 2);
    }
}

/// A signal to a process is often sent to its group as well: that is one interruption, and the result is written.
#[test]
fn signals_at_the_same_moment_are_one() {
    let dir = Dir::new();
    let child = start(&dir, &["--save-x", "x.npy"]);
    signal(&child, "-INT");
    signal(&child, "-INT");
    let (code, stdout) = exit_code(child);
    assert_eq!(code, Some(130), "{stdout}");
    assert!(feasibility(&read_npy(&dir.path("x.npy"))) < 1e-10);
}

/// A path keeps the points that it has.
#[test]
fn a_path_keeps_its_points() {
    let dir = Dir::new();
    let path = ["path", "l0-pca", "randn:100:300", "-r", "5", "--effort", "thorough", "--counts", "1,20,40"];
    let child =
        once_it_says("Ctrl-C ends the run", spawn(&dir, &[&path[..], &["--save-path", "p.csv"]].concat()));
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(&child, "-INT");
    let (code, stdout) = exit_code(child);
    assert_eq!(code, Some(130), "{stdout}");
    let points = dir.read("p.csv").lines().count() - 1;
    assert!((1..=3).contains(&points) && stdout.contains("of 3"), "{stdout}");
}

/// A race of signatures that is interrupted in its first round leaves a model, and a checkpoint from which it continues.
#[test]
fn a_race_ends_with_its_leader() {
    let dir = Dir::new();
    dir.write("t.tsv", (0..20).map(|i| format!("{i}\tr\t{}\n", (i + 1) % 20)).collect::<String>());
    let base = ["embed", "t.tsv", "--valid", "t.tsv", "--dim", "6", "--signature", "auto", "--epochs"];
    let round =
        ["100000000", "--eval-every", "100000000", "--save-model", "m", "--checkpoint", "c", "--json", "j"];
    let child = once_it_says("Ctrl-C ends the run", spawn(&dir, &[&base[..], &round].concat()));
    signal(&child, "-INT");
    let (code, _) = exit_code(child);
    assert_eq!(code, Some(130));
    let object: serde_json::Value = serde_json::from_str(&dir.read("j")).unwrap();
    assert_eq!((&object["race"]["ended"], &object["race"]["chosen"]), (&"not_yet".into(), &3.into()));
    dir.write("q.tsv", "1\tr\t2\n");
    dir.orthopt(&["embed", "predict", "m", "q.tsv"]).assert().success();
    let end = object["epochs"].as_u64().unwrap() + 2; // of whatever the machine had time for
    let (end, every) = (end.to_string(), ["--eval-every", "1", "--resume", "c", "-q"]);
    let object = dir.json(&[&base[..], &[&end], &every].concat());
    assert_eq!(object["race"]["ended"], "one_left");
}
