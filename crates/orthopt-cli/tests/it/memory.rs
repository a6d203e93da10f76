//! Problems that do not fit into memory are refused before it is taken, with their size and advice.

#[cfg(unix)]
use std::io::Write;

use crate::common::Dir;

#[test]
fn what_is_square_in_the_variables() {
    let dir = Dir::new();
    let wide = ["solve", "l0-pca", "sparse-randn:10:30000:100", "-r", "2", "--lambda", "0.1"];
    let dense = [&wide[..], &["--storage", "dense"]].concat();
    let parts =
        ["C = A'A of 30000 variables: 7.2 GB of memory are needed, but 1.0 GB are allowed", "--storage gram"];
    dir.fails_in_one_line(&[&dense[..], &["--max-memory", "1G"]].concat(), 1, &parts);
    dir.fails_in_one_line(
        &[&dense[..], &["--max-memory", "1G"]].concat(),
        1,
        &["--features", "--max-memory"],
    );
    let few = [&wide[..], &["--max-memory", "1G", "--max-iters", "10"]].concat();
    dir.orthopt(&few).assert().success();
    // 8 TB: more than any machine that runs this
    let huge = ["solve", "l0-pca", "sparse-randn:10:1000000:100", "-r", "2", "--storage", "dense"];
    dir.fails_in_one_line(&huge, 1, &["C = A'A of 1000000 variables: 8000."]);
    for problem in ["hyperbolic-eig", "nonlinear-eig"] {
        let args = ["solve", problem, "sparse-randn:10:20000:100", "--max-memory", "1G"];
        dir.fails_in_one_line(&args, 1, &["C = A'A of 20000 variables", "but 1.0 GB are allowed"]);
    }
}

#[test]
fn what_is_square_in_the_samples() {
    let args = ["solve", "probe", "randn:20000:4", "--max-memory", "1G"];
    let parts =
        ["the table of distances of 20000 samples: 3.2 GB of memory are needed", "take fewer samples"];
    Dir::new().fails_in_one_line(&args, 1, &parts);
}

#[test]
fn many_components_of_many_variables() {
    let args = ["solve", "l0-pca", "sparse-randn:10:1000000:100", "-r", "2000", "--max-memory", "8G"];
    let parts = ["X with 2000 components of 1000000 variables: 64.0 GB of memory are needed", "--rank"];
    Dir::new().fails_in_one_line(&args, 1, &parts);
}

#[test]
fn data() {
    let dir = Dir::new();
    dir.fails_in_one_line(
        &["data", "info", "laplace:16777216", "--max-memory", "200M"],
        1,
        &["laplace:16777216: at least 1.7 GB of memory are needed, and 200 MB are allowed", "(--max-memory)"],
    );
    let args = ["solve", "pca", "randn:3000:3000", "--max-memory", "50MB"];
    dir.fails_in_one_line(&args, 1, &["at least 72 MB of memory are needed"]);
    dir.fails(
        &["solve", "pca", "randn:30:30", "--max-memory", "lots"],
        2,
        &["`lots` is not a size: give 500M"],
    );
    dir.write("run.toml", "problem = 'pca'\ndata = 'randn:3000:3000'\nmax-memory = '50M'\n");
    dir.fails_in_one_line(&["solve", "--config", "run.toml"], 1, &["at least 72 MB of memory are needed"]);
}

/// Memory that the system refuses is an error, too.
#[cfg(unix)]
#[test]
fn less_than_is_allowed() {
    const LITTLE: &str = "ulimit -v 4000000; exec \"$0\" \"$@\"";
    let args = ["solve", "l0-pca", "sparse-randn:10:30000:100", "--storage", "dense", "--max-memory", "1T"];
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", LITTLE, env!("CARGO_BIN_EXE_orthopt")]).args(args).args(["--threads", "1"]);
    let output = shell.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("7.2 GB of memory are needed, but the system cannot provide that much"),
        "{stderr}"
    );
}

/// Matrices of a bound are refused before they are there, at every door that computes one.
#[test]
fn what_a_bound_takes() {
    let dir = Dir::new();
    let wide = ["randn:20:3000:1", "-r", "2", "--nonzeros", "2", "--threads", "1"];
    let parts = ["the bound of F over ", " of 3000 variables: ", "3 MB are allowed"];
    let bound =
        [&["bound", "l0-pca"], &wide[..], &["--time-limit", "0.5", "--max-memory", "3M", "-q"]].concat();
    dir.fails_in_one_line(&bound, 1, &parts);
}

/// What the system refuses in the middle of the work is said, and no crash.
#[cfg(unix)]
#[test]
fn memory_that_is_refused_later() {
    const LITTLE: &str = "ulimit -v 300000; exec \"$0\" \"$@\"";
    let args = ["bound", "l0-pca", "randn:20:3000:1", "-r", "2", "--nonzeros", "2", "--time-limit", "0.5"];
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", LITTLE, env!("CARGO_BIN_EXE_orthopt")]).args(args).args(["--threads", "1", "-q"]);
    let output = shell.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("memory"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn files_without_an_end() {
    let dir = Dir::new();
    dir.fails_in_one_line(&["solve", "--config", "/dev/zero"], 1, &["/dev/zero", "larger than 16 MB"]);
    dir.fails_in_one_line(
        &["solve", "hyperbolic-eig", "randn:9:3", "--signature", "/dev/zero"],
        1,
        &["16 MB"],
    );
    dir.fails_in_one_line(
        &["transform", "/dev/zero", "randn:3:3", "-o", "s.csv"],
        1,
        &["not a result of solve"],
    );
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_orthopt"));
    let output = command.args(["data", "info", "-"]).stdin(zero).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("a word of more than 1 MB"), "{stderr}");
}

/// Files beside the data that have no end: the limit of memory is that of every reader.
#[cfg(unix)]
#[test]
fn what_has_no_end() {
    let dir = Dir::new();
    dir.write("a.csv", "a,b,c\n1,2,3\n4,5,7\n2,1,1\n");
    let numbers = b"1.5,".repeat(5000);
    let endless: [(&[&str], &[u8], &[u8]); 6] = [
        (&["transform", "fifo", "a.csv", "-o", "s.csv"], b"{\"schema\": 1, \"x\": [[", &numbers),
        (&["solve", "l0-pca", "a.csv", "-r", "1", "--names", "fifo"], b"", b"a name\n"),
        (&["solve", "l0-pca", "a.csv", "-r", "1", "--weights", "fifo"], b"", b"1\n"),
        (&["solve", "l0-pca", "a.csv", "-r", "1", "--labels", "fifo", "--report", "r.html"], b"", b"k\n"),
        (&["solve", "l1-pca", "a.csv", "-r", "1", "--solver", "obcd", "--init", "fifo"], HEAD, &[0; 4096]),
        (&["certify", "l1-pca", "a.csv", "--x", "fifo"], HEAD, &[0; 4096]),
    ];
    for (args, begin, again) in endless {
        let path = dir.path("fifo");
        let _ = std::fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (begin, again) = (begin.to_vec(), again.repeat(64));
        let writer = std::thread::spawn(move || {
            let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            let mut written = file.write_all(&begin);
            while written.is_ok() {
                written = file.write_all(&again); // until the reader has closed it
            }
        });
        let all = [args, &["--max-memory", "20M"]].concat();
        dir.fails(&all, 1, &["memory", "20 MB"]);
        writer.join().unwrap();
    }
}

/// An array of 10^11 numbers.
#[cfg(unix)]
const HEAD: &[u8] =
    b"\x93NUMPY\x01\x00\x47\x00{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000, 1), }\n";
