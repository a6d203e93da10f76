//! Limits of nonzeros instead of λ.

use crate::common::{Dir, stdout};

const PITPROPS: [&str; 5] = ["solve", "l0-pca", "builtin:pitprops", "-r", "3"];

fn with<'a>(extra: &[&'a str]) -> Vec<&'a str> {
    [&PITPROPS[..], extra].concat()
}

#[test]
fn counts_are_kept_exactly() {
    let dir = Dir::new();
    let components = |extra: &[&str]| {
        let object = dir.json(&[&with(extra)[..], &["--effort", "quick"]].concat());
        assert!(object["feasibility"].as_f64().unwrap() <= 1e-12, "{object}");
        assert!(object["lambda"].is_null() && object["status"] == "converged", "{object}");
        let list = object["components"].as_array().unwrap().clone();
        (list.iter().map(|v| v.as_u64().unwrap()).collect::<Vec<_>>(), object["objective"].as_f64().unwrap())
    };
    let (each, even) = components(&["--nonzeros", "5"]);
    assert_eq!(each, [5, 5, 5]);
    assert_eq!(components(&["--nonzeros", "6,4,2"]).0, [6, 4, 2]);
    let (shared, total) = components(&["--total-nonzeros", "15"]);
    assert_eq!(shared.iter().sum::<u64>(), 15);
    assert!(total <= even + 1e-9, "{total} {even}");
    let rows = dir.json(&with(&["--variables", "6", "--save-x", "x.npy"]));
    assert_eq!(rows["components"], serde_json::json!([6, 6, 6]));
    assert_eq!(rows["limits"]["rows"], 6);
    let checked = dir.json(&["certify", "l0-pca", "builtin:pitprops", "--x", "x.npy", "--variables", "6"]);
    assert_eq!(checked["objective"], rows["objective"]);
    let refused = ["certify", "l0-pca", "builtin:pitprops", "--x", "x.npy", "--variables", "5"];
    dir.fails_in_one_line(&refused, 2, &["6 nonzero rows", "at most 5 variables"]);
}

/// Limits that exclude no X are those of plain PCA, with every option of a search beside them.
#[test]
fn limits_that_exclude_nothing_are_plain_pca() {
    let dir = Dir::new();
    let plain = dir.json(&["solve", "pca", "builtin:pitprops", "-r", "3"])["objective"].as_f64().unwrap();
    for limit in [["--nonzeros", "13"], ["--total-nonzeros", "39"], ["--variables", "13"]] {
        for more in [&[][..], &["--effort", "quick"], &["--time-limit", "2"], &["--seed", "5"]] {
            let object = dir.json(&with(&[&limit[..], more].concat()));
            let f = object["objective"].as_f64().unwrap();
            assert!((f - plain).abs() <= 1e-9 * plain.abs(), "{limit:?} {more:?}: {f}, not {plain}");
        }
    }
    // three zeros cost nothing, as X may be rotated; nine do
    let f = dir.json(&with(&["--total-nonzeros", "30"]))["objective"].as_f64().unwrap();
    assert!(f > plain + 1e-4, "{f} {plain}");
}

#[test]
fn scores_can_be_uncorrelated_instead() {
    let dir = Dir::new();
    let asked =
        ["--nonzeros", "5", "--constraint", "uncorrelated", "--save-x", "x.npy", "--json", "m.json", "-v"];
    let text = stdout(&mut dir.orthopt(&with(&asked)));
    for part in ["X'CX diagonal", "of lengths and of correlations of scores"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let object: serde_json::Value = serde_json::from_str(&dir.read("m.json")).unwrap();
    assert_eq!(object["components"], serde_json::json!([5, 5, 5]));
    assert!((object["objective"].as_f64().unwrap() + 3.588824708).abs() < 1e-8, "{object}");
    let shares = |name: &str| -> Vec<f64> {
        let list = object["explained_variance"][name].as_array().unwrap();
        list.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    assert!(shares("ratio").iter().zip(shares("adjusted")).all(|(a, b)| (a - b).abs() < 1e-12));
    let certify = ["certify", "l0-pca", "builtin:pitprops", "--x", "x.npy", "--nonzeros", "5"];
    dir.fails_in_one_line(&certify, 1, &["x.npy: X is not orthonormal"]); // not orthogonal
    let checked = dir.json(&[&certify[..], &["--constraint", "uncorrelated"]].concat());
    let objective = |of: &serde_json::Value| of["objective"].as_f64().unwrap();
    assert!((objective(&checked) - objective(&object)).abs() < 1e-13, "{checked}"); // X.npy has its signs fixed
    assert!(checked["criticality"].as_f64().unwrap() < 1e-3, "{checked}");
    dir.fails_in_one_line(
        &with(&["--nonzeros", "1", "--constraint", "uncorrelated"]),
        2,
        &["no X with X'CX diagonal", "allow more nonzeros"],
    );
    dir.fails_in_one_line(&with(&["--constraint", "oblique"]), 2, &["orthogonal, uncorrelated"]);
    dir.fails_in_one_line(
        &with(&["--nonzeros", "5", "--constraint", "uncorrelated", "--bound"]),
        2,
        &["no bound"],
    );
    let path = ["path", "l0-pca", "builtin:pitprops", "--constraint", "uncorrelated"];
    dir.fails_in_one_line(&path, 2, &["a path has orthogonal components"]);
}

#[test]
fn the_number_of_limits_is_the_rank_and_summaries_say_what_was_asked() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&["solve", "l0-pca", "builtin:pitprops", "--nonzeros", "4,3"]));
    assert!(text.contains("l0-pca, rank 2, nonzeros at most 4, 3 in the components"), "{text}");
    let text =
        stdout(&mut dir.orthopt(&["solve", "nonneg-pca", "builtin:pitprops", "-r", "2", "--nonzeros", "4"]));
    assert!(text.contains("at most 4 in each component"), "{text}");
    dir.write("run.toml", "problem = 'l0-pca'\ndata = 'builtin:pitprops'\nnonzeros = [4, 3]\n");
    let object = dir.json(&["solve", "--config", "run.toml"]);
    assert_eq!(object["components"], serde_json::json!([4, 3]));
}

#[test]
fn bounds_are_below_what_is_found() {
    let dir = Dir::new();
    let object = dir.json(&with(&["--nonzeros", "5", "--bound", "4"]));
    assert!(object["bound"].as_f64().unwrap() <= object["objective"].as_f64().unwrap(), "{object}");
    assert!(object["gap"].as_f64().unwrap() < 0.2);
    let bound =
        dir.json(&["bound", "l0-pca", "builtin:pitprops", "-r", "3", "--nonzeros", "5", "--time-limit", "4"]);
    assert!(bound["objective"].as_f64().unwrap() <= object["objective"].as_f64().unwrap() + 1e-9);
}

/// With a price of 1 a fourth variable of pitprops is not worth it, and the summary says what was weighed.
#[test]
fn variables_have_a_price() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&with(&["--variables", "5", "--lambda", "1", "-v"])));
    assert!(text.contains("lambda is the price of a variable"), "{text}");
    assert!(text.contains("(smooth) + 3.000000000 (penalty)"), "{text}");
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = Dir::new();
    let refused = |args: &[&str], parts: &[&str]| dir.fails_in_one_line(args, 2, parts);
    refused(&with(&["--nonzeros", "5,5"]), &["nonzeros is 2 numbers", "3, one for each"]);
    refused(&with(&["--total-nonzeros", "2"]), &["total-nonzeros is 2", "at least 3"]);
    refused(&with(&["--variables", "2"]), &["variables is 2", "at least 3"]);
    refused(&with(&["--variables", "5", "--lambda", "-1"]), &["lambda"]);
    refused(&["solve", "l1-pca", "builtin:pitprops", "--nonzeros", "5"], &["nonzeros", "is for l0-pca"]);
    refused(&["solve", "hyperbolic-eig", "builtin:pitprops", "--nonzeros", "5"], &["is for l0-pca"]);
    refused(&with(&["--nonzeros", "5", "--solver", "obcd"]), &["obcd"]);
}
