//! Public data sets, which are not part of the repository.

use crate::common::{Dir, shared};

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn w1a() {
    let file = shared("w1a.svm").display().to_string();
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
