//! The JSON object: its fields are a contract.

use crate::common::{Dir, orthopt};

#[test]
fn has_the_fields_of_the_contract() {
    let object = Dir::new().json(&[
        "solve",
        "l0-pca",
        "builtin:pitprops",
        "-r",
        "3",
        "--lambda",
        "0.1",
        "--threads",
        "2",
        "--seed",
        "7",
        "--certify",
    ]);
    assert_eq!(object["schema"], 1);
    assert_eq!(object["problem"], "l0-pca");
    assert_eq!(object["data"]["source"], "builtin:pitprops");
    assert_eq!(object["data"]["rows"], 13);
    assert_eq!(object["data"]["cols"], 13);
    assert_eq!(object["data"]["nnz"], 169);
    assert_eq!(object["rank"], 3);
    assert_eq!(object["lambda"], 0.1);
    let search = &object["search"];
    let winner = &search["arms"][search["winner"].as_u64().unwrap() as usize];
    assert_eq!((&object["solver"], &object["start"]), (&winner["solver"], &winner["start"]));
    assert!(
        search["work"].as_u64() >= search["race"].as_u64() && !search["moves"].as_array().unwrap().is_empty()
    );
    assert_eq!(object["settings"]["obcd.working_set"], "active");
    assert_eq!(object["seed"], 7);
    assert_eq!(object["threads"], 2);
    assert_eq!(object["status"], "optimal");
    let number = |name: &str| object[name].as_f64().unwrap_or_else(|| panic!("{name} is no number"));
    assert!((number("objective") - number("smooth") - number("nonsmooth")).abs() < 1e-12);
    assert!((number("nonsmooth") - 0.1 * number("nnz")).abs() < 1e-12);
    assert!(number("feasibility") < 1e-12 && number("feasibility") >= 0.0);
    assert!(number("criticality") >= 0.0);
    assert!(number("iterations") >= 1.0);
    assert!(number("seconds") > 0.0);
    let certificate = &object["certificate"];
    assert_eq!(certificate["pairs_checked"], certificate["pairs_total"]);
    assert!(certificate["max_decrease"].as_f64().unwrap() <= 1e-7);
    assert!(certificate["mean_distance"].as_f64().unwrap() >= 0.0);
    // additions
    assert!(!object["message"].as_str().unwrap().is_empty());
    assert_eq!(object["components"].as_array().unwrap().len(), 3);
    assert_eq!(object["explained_variance"]["ratio"].as_array().unwrap().len(), 3);
    assert_eq!(object["stopping"]["tol"], 1e-9);
    assert!(object.get("nonneg_violation").is_none());
}

#[test]
fn is_null_where_nothing_applies() {
    let object = Dir::new().json(&["solve", "nonneg-pca", "builtin:pitprops", "-r", "2"]);
    assert!(object["lambda"].is_null());
    assert!(object["certificate"].is_null());
    assert_eq!(object["nonneg_violation"], 0.0);
}

#[test]
fn is_all_there_is_on_stdout() {
    // a note goes to stderr and does not disturb
    let solve = ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "1", "--json", "-"];
    let args = [&solve[..], &["--solver", "obcd-sv", "--max-iters", "50", "--candidates", "79"]].concat();
    let output = orthopt(&args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with('{') && text.ends_with("}\n"));
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("note: "));
}

#[test]
fn goes_to_a_file_beside_the_summary() {
    let dir = Dir::new();
    let args = ["solve", "pca", "builtin:pitprops", "-r", "2", "--json", "result.json"];
    let text = crate::common::stdout(&mut dir.orthopt(&args));
    assert!(text.starts_with("component"));
    let object: serde_json::Value = serde_json::from_str(&dir.read("result.json")).unwrap();
    assert_eq!(object["rank"], 2);
}

#[test]
fn a_sample_is_no_certificate() {
    let dir = Dir::new();
    let solve = ["solve", "l0-pca", "randn:30:40", "-r", "2", "--lambda", "5", "--certify-sample", "20"];
    let object = dir.json(&solve);
    assert_eq!(object["certificate"]["pairs_checked"], 20);
    assert!(object["certificate"]["pairs_total"].as_u64().unwrap() > 20);
    let text = crate::common::stdout(&mut dir.orthopt(&solve));
    assert!(text.contains("20 pairs of"), "{text}");
}
