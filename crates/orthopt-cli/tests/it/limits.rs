//! A limit of time, and a signal, end what is in the middle of a decomposition that takes longer.
//! bench/python/limits_kept.py measures how late.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::Dir;

/// Command lines that decompose a matrix of 1,500 variables before there is a problem to solve.
const COMMANDS: [&str; 2] =
    ["solve l0-pca randn:1600:1500 -r 99%", "solve nonlinear-eig randn:1600:1500 -r 5"];

#[test]
fn a_limit_ends_what_cannot_be_divided() {
    let dir = Dir::new();
    for line in COMMANDS {
        let line: Vec<&str> = line.split(' ').collect();
        let args = [&line[..], &["--time-limit", "0.2"]].concat();
        dir.fails(&args, 2, &["the time was over", "--time-limit"]);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_what_cannot_be_divided() {
    let dir = Dir::new();
    let mut random = 1u64;
    for line in COMMANDS {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orthopt"))
            .args(line.split(' '))
            .args(["-q", "--time-limit", "1000"])
            .current_dir(dir.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(50 + (random >> 32) % 2000));
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{line}");
    }
}

/// What a report of hundreds of components has no time for is missing, and a note says so; of a few there is always time.
#[test]
fn without_time_shares_of_many_components_are_left_out() {
    let dir = Dir::new();
    for (rank, missing) in [("5", false), ("600", true)] {
        let object =
            dir.json(&["solve", "pca", "randn:20:600:1", "-r", rank, "--time-limit", "0", "--threads", "1"]);
        let notes = object["notes"].to_string();
        assert_eq!(object.get("explained_variance").is_none(), missing, "{object}");
        assert_eq!(notes.contains("the shares of the variance of so many components"), missing, "{notes}");
        assert_eq!(object["status"], "time_limit");
        assert!(
            object["feasibility"].as_f64().unwrap() < 1e-10 && object["objective"].as_f64().unwrap() < 0.0
        );
        assert_eq!(object["criticality"].is_null(), missing);
    }
}
