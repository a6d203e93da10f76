//! Public data sets, where they are at hand.

use std::path::Path;

use crate::common::Dir;

/// Data that are not part of the repository.
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

#[test]
fn w1a() {
    let file = format!("{SHARED}/w1a.svm");
    if !Path::new(&file).exists() {
        eprintln!("skipped: the data set w1a is not at hand");
        return;
    }
    let dir = Dir::new();
    let facts = dir.json(&["data", "info", &file]);
    assert_eq!((facts["rows"].as_u64(), facts["cols"].as_u64()), (Some(2477), Some(300)));
    assert_eq!((facts["nnz"].as_u64(), facts["empty_rows"].as_u64()), (Some(28410), Some(207)));

    let object = dir.json(&["solve", "l0-pca", &file, "-r", "5", "--lambda", "20", "--certify", "--quiet"]);
    assert_eq!(object["status"], "converged");
    assert!(object["objective"].as_f64().unwrap() < -2000.0);
    assert!(object["feasibility"].as_f64().unwrap() < 1e-12);
    let certificate = &object["certificate"];
    assert_eq!(certificate["pairs_checked"], certificate["pairs_total"]);
}
