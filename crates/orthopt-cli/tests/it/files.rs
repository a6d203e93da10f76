//! Files are replaced when the new one is whole, and never those that are read.

use crate::common::Dir;

const SOLVE: [&str; 8] = ["solve", "l0-pca", "a.csv", "-r", "2", "--lambda", "0.1", "--max-iters=2000"];

fn with_data() -> Dir {
    let dir = Dir::new();
    dir.orthopt(&["data", "convert", "randn:60:12", "a.csv"]).assert().success();
    dir
}

/// Every kind of file, written where no file may grow: what was there before stays.
#[cfg(unix)]
#[test]
fn a_full_disk_costs_no_older_file() {
    const FULL: &str = "ulimit -f 0; exec \"$0\" \"$@\""; // SIGXFSZ ends a process that does not handle it
    let dir = with_data();
    let outputs = [
        ("--json", "r.json"),
        ("--save-x", "x.npy"),
        ("--save-x", "x.csv"),
        ("--save-loadings", "l.csv"),
        ("--save-scores", "s.csv"),
        ("--trace", "t.jsonl"),
        ("--plot", "p.svg"),
        ("--plot-loadings", "q.svg"),
        ("--report", "r.html"),
    ];
    let solve = |output: [&'static str; 2]| [&SOLVE[..], &["--features=12", "--seed=1"], &output].concat();
    let mut runs: Vec<_> = outputs.iter().map(|(option, name)| (solve([option, name]), *name)).collect();
    runs.push((vec!["data", "convert", "randn:60:12:2", "c.csv"], "c.csv"));
    runs.push((vec!["data", "convert", "randn:600:12:2", "c.csv.gz"], "c.csv.gz"));
    runs.push((vec!["data", "generate", "randn:60:12:3", "g.npy"], "g.npy"));
    let bound = ["bound", "l0-pca", "builtin:pitprops", "-r", "1", "--nodes", "0", "--save-dual", "z.npz"];
    runs.push((bound.to_vec(), "z.npz"));
    for (args, name) in runs {
        for older in [None, Some("good")] {
            older.iter().for_each(|text| dir.write(name, text));
            let program = env!("CARGO_BIN_EXE_orthopt");
            let mut shell = assert_cmd::Command::new("sh");
            shell.current_dir(dir.path("")).args(["-c", FULL, program]).args(&args);
            let output = shell.output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
            assert!(stderr.contains(&format!("cannot write `{name}`")), "{args:?}: {stderr}");
            assert_eq!(dir.has(name).then(|| dir.read(name)).as_deref(), older, "{args:?}");
        }
    }
    let left = std::fs::read_dir(dir.path(""))
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(left.count(), 0);
}

#[cfg(unix)]
#[test]
fn what_is_read_is_not_written() {
    let dir = with_data();
    std::os::unix::fs::symlink("a.csv", dir.path("link.csv")).unwrap();
    std::fs::create_dir(dir.path("folder")).unwrap();
    let before = dir.read("a.csv");
    for name in ["a.csv", "./a.csv", "folder/../a.csv", "link.csv"] {
        let parts = ["--save-x", name, "is the file that DATA reads"];
        dir.fails_in_one_line(&[&SOLVE[..], &["--save-x", name]].concat(), 2, &parts);
        dir.fails_in_one_line(&["data", "convert", "a.csv", name], 2, &["FILE", "that DATA reads"]);
        dir.fails_in_one_line(&["data", "info", "a.csv", "--json", name], 2, &["--json"]);
    }
    dir.orthopt(&[&SOLVE[..], &["--save-x", "x.npy", "--json", "m.json"]].concat()).assert().success();
    let transform = ["transform", "m.json", "a.csv", "-o", "link.csv"];
    dir.fails_in_one_line(&transform, 2, &["--output link.csv is the file that DATA reads"]);
    let certify = ["certify", "l0-pca", "a.csv", "--x", "x.npy", "--json", "x.npy"];
    dir.fails_in_one_line(&certify, 2, &["--json x.npy is the file that --x reads"]);
    let bound = ["bound", "l0-pca", "a.csv", "--x", "x.npy", "--save-dual", "x.npy"];
    dir.fails_in_one_line(&bound, 2, &["--save-dual x.npy is the file that --x reads"]);
    dir.write("run.toml", "rank = 2");
    let config = [&SOLVE[..], &["--config", "run.toml", "--json", "run.toml"]].concat();
    dir.fails_in_one_line(&config, 2, &["--config"]);
    let init = [&SOLVE[..], &["--init", "x.npy", "--save-x", "x.npy"]].concat();
    dir.fails_in_one_line(&init, 2, &["--init"]);
    assert_eq!(dir.read("a.csv"), before);
}

#[cfg(unix)]
#[test]
fn no_file_is_written_twice() {
    let dir = with_data();
    std::os::unix::fs::symlink("x.csv", dir.path("link.csv")).unwrap();
    let parts = ["--trace and --save-x both write x.csv"];
    let args = ["--save-x", "x.csv", "--trace", "link.csv"];
    dir.fails_in_one_line(&[&SOLVE[..], &args].concat(), 2, &parts);
    let args = ["--trace", "./t.csv", "--json", "t.csv"];
    dir.fails_in_one_line(&[&SOLVE[..], &args].concat(), 2, &["--json and --trace both write"]);
    let args = ["data", "generate", "spiked:20:10:2:2", "g.npy", "--truth", "g.npy"];
    dir.fails_in_one_line(&args, 2, &["FILE and --truth both write g.npy"]);
    assert!(!dir.has("x.csv") && !dir.has("t.csv") && !dir.has("g.npy"));
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_devices_devices() {
    let dir = with_data();
    std::fs::create_dir(dir.path("far")).unwrap();
    std::os::unix::fs::symlink("far/x.npy", dir.path("x.npy")).unwrap();
    let args = ["--save-x", "x.npy", "--json", "/dev/null", "--quiet"];
    dir.orthopt(&[&SOLVE[..], &args].concat()).assert().success();
    assert!(std::fs::symlink_metadata(dir.path("x.npy")).unwrap().is_symlink());
    assert!(std::fs::symlink_metadata(dir.path("far/x.npy")).unwrap().is_file());
    let info = ["data", "info", "a.csv", "--json", "/dev/stdout"];
    let output = dir.orthopt(&info).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"rows\": 60"));
}
