//! Helpers of the tests of the command line.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// The program, without the environment of the process that runs the tests.
pub fn orthopt(args: &[&str]) -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("orthopt");
    command.env_remove("ORTHOPT_LOG").args(args);
    command
}

/// A data set that is not part of the repository: in the folder that `ORTHOPT_DATA` names, else in
/// `shared/data` beside the checkout.
pub fn shared(name: &str) -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("ORTHOPT_DATA").map_or_else(beside, PathBuf::from).join(name);
    assert!(path.exists(), "{} does not exist: ORTHOPT_DATA names the folder of data sets", path.display());
    path
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A directory of its own for each test, gone at the end.
pub struct Dir(TempDir);

impl Dir {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The program, run inside this directory.
    pub fn orthopt(&self, args: &[&str]) -> Command {
        let mut command = orthopt(args);
        command.current_dir(self.0.path());
        command
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Expects failure with this code and one line on stderr that contains all of `parts`.
    pub fn fails(&self, args: &[&str], code: i32, parts: &[&str]) {
        let output = self.orthopt(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?} printed to stdout");
        assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{args:?}: no `{part}` in: {stderr}");
        }
    }

    /// As [`fails`](Self::fails), for errors of our own, which are one line.
    pub fn fails_in_one_line(&self, args: &[&str], code: i32, parts: &[&str]) {
        self.fails(args, code, parts);
        let stderr = self.orthopt(args).output().unwrap().stderr;
        let lines = String::from_utf8(stderr).unwrap().lines().count();
        assert_eq!(lines, 1, "{args:?}");
    }

    /// Runs with `--json -` and gives the object.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let args = [args, &["--json", "-"]].concat();
        let output = self.orthopt(&args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {stderr}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    }
}

/// stdout of a run that succeeds.
pub fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

/// X from a file, as rows.
pub fn read_npy(path: &Path) -> Vec<Vec<f64>> {
    let x = orthopt_data::read_dense_npy(path).unwrap();
    (0..x.nrows()).map(|i| (0..x.ncols()).map(|k| x[(i, k)]).collect()).collect()
}

/// ‖XᵀX − I‖_F.
pub fn feasibility(x: &[Vec<f64>]) -> f64 {
    let r = x[0].len();
    let mut sum = 0.0;
    for a in 0..r {
        for b in 0..r {
            let dot: f64 = x.iter().map(|row| row[a] * row[b]).sum();
            sum += (dot - f64::from(u8::from(a == b))).powi(2);
        }
    }
    sum.sqrt()
}
