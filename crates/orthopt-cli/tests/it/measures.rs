//! What components maximise, in the command: measures, notes on components that repeat each other, and what comes out where
//! nothing is asked.

use serde_json::Value;

use crate::common::{Dir, read_npy, repository};

const MEASURES: [(&str, &str); 4] =
    [("variance", "projected"), ("adjusted", "total"), ("polar", "polar"), ("explained", "predicted")];

/// A correlation matrix of the tests of the library, and its size.
fn table(name: &str) -> String {
    repository(&format!("crates/orthopt/tests/tables/{name}.csv")).to_str().unwrap().to_string()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn stderr(dir: &Dir, args: &[&str]) -> String {
    let output = dir.orthopt(args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

fn nonzeros(object: &Value) -> Vec<u64> {
    object["components"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
}

#[test]
fn the_objective_is_half_of_what_is_maximised() {
    let (dir, c) = (Dir::new(), table("breast_cancer"));
    let mut adjusted = Vec::new();
    for (measure, field) in MEASURES {
        let args = ["solve", "l0-pca", "--gram", &c, "-r", "3", "--nonzeros", "3", "--maximise", measure];
        let object = dir.json(&args);
        let explained = &object["explained_variance"];
        assert_eq!(explained["maximised"], measure);
        let (objective, share) = (number(&object["objective"]), number(&explained[field]));
        assert!((objective + 0.5 * 30.0 * share).abs() <= 1e-12 * 30.0, "{measure}: {objective} {share}");
        assert!(number(&object["feasibility"]) <= 1e-12 && nonzeros(&object) == [3, 3, 3], "{object}");
        adjusted.push(number(&explained["total"]));
    }
    assert!(adjusted[1] > 0.2496 && adjusted[0] < 0.16, "{adjusted:?}");
}

#[test]
fn components_that_repeat_each_other_are_told() {
    let (dir, c) = (Dir::new(), table("breast_cancer"));
    let call = ["solve", "l0-pca", "--gram", &c, "-r", "3", "--nonzeros", "3"];
    let said = stderr(&dir, &call);
    assert!(
        said.contains("repeat each other (correlation 0.") && said.contains("--maximise adjusted"),
        "{said}"
    );
    for measure in ["adjusted", "polar"] {
        let said = stderr(&dir, &[&call[..], &["--maximise", measure]].concat());
        assert!(!said.contains("repeat"), "{said}");
    }
    // PCA repeats nothing
    assert_eq!(stderr(&dir, &["solve", "pca", "--gram", &c, "-r", "3"]), "");
    // a penalty with no other measure is not offered one
    let said = stderr(&dir, &["solve", "l1-pca", "--gram", &c, "-r", "3", "--lambda", "4"]);
    assert!(!said.contains("--maximise"), "{said}");
}

#[test]
fn nothing_asked_gives_fewer_components_than_variables_and_zeros() {
    let dir = Dir::new();
    for name in ["iris", "us_arrests"] {
        let object = dir.json(&["solve", "l0-pca", "--gram", &table(name)]);
        assert_eq!(object["rank"], 3, "{name}");
        assert!(nonzeros(&object).iter().all(|count| *count < 4), "{name}: {object}");
        assert!(number(&object["explained_variance"]["projected"]) < 1.0);
    }
    dir.write("one.csv", "2\n");
    assert_eq!(dir.json(&["solve", "l0-pca", "--gram", "one.csv"])["rank"], 1);
}

#[test]
fn limits_beyond_all_variables_are_told() {
    let (dir, c) = (Dir::new(), table("us_arrests"));
    for extra in
        [&["--maximise", "adjusted"][..], &["--constraint", "uncorrelated"], &["--constraint", "both"], &[]]
    {
        let call = [&["solve", "l0-pca", "--gram", &c, "-r", "2", "--nonzeros", "9"], extra].concat();
        let said = stderr(&dir, &call);
        assert!(said.contains("--nonzeros exceeds the number of variables, 4"), "{extra:?}: {said}");
        let call = [&["solve", "l0-pca", "--gram", &c, "-r", "2", "--nonzeros", "4"], extra].concat();
        assert!(!stderr(&dir, &call).contains("exceeds"), "{extra:?}");
    }
}

/// The first two columns of prcomp(USArrests, scale. = TRUE).
const US_ARRESTS: [[f64; 2]; 4] = [
    [0.535899474938, 0.418180865421],
    [0.583183634910, 0.187985604232],
    [0.278190874619, -0.872806193060],
    [0.543432091446, -0.167318635402],
];

#[test]
fn where_nothing_binds_it_is_pca() {
    let (dir, c) = (Dir::new(), table("us_arrests"));
    let check = |args: &[&str]| {
        let call = [&["solve"], args, &["--gram", &c, "-r", "2", "--save-x", "x.npy"]].concat();
        stderr(&dir, &call);
        let x = read_npy(&dir.path("x.npy"));
        for k in 0..2 {
            let sign = (0..4).map(|i| x[i][k] * US_ARRESTS[i][k]).sum::<f64>().signum();
            for i in 0..4 {
                assert!((sign * x[i][k] - US_ARRESTS[i][k]).abs() <= 1e-8, "{args:?}: {x:?}");
            }
        }
    };
    for (measure, _) in MEASURES {
        for posed in [&["pca"][..], &["l0-pca", "--nonzeros", "4"], &["l0-pca", "--lambda", "1e-13"]] {
            check(&[posed, &["--maximise", measure]].concat());
        }
        check(&["l0-pca", "--total-nonzeros", "8", "--maximise", measure]);
    }
    check(&["l0-pca", "--variables", "4"]);
    check(&["l0-pca", "--nonzeros", "4", "--constraint", "both"]);
    check(&["l1-pca", "--lambda", "1e-13"]);
}

#[test]
fn orthogonal_and_uncorrelated_at_once() {
    let dir = Dir::new();
    let call = ["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--nonzeros", "4", "--constraint", "both"];
    let object = dir.json(&call);
    let explained = &object["explained_variance"];
    assert!(number(&object["feasibility"]) <= 1e-12, "{object}");
    for other in ["total", "polar"] {
        assert!((number(&explained["projected"]) - number(&explained[other])).abs() <= 1e-12, "{explained}");
    }
    let few = [&call[..5], &["--total-nonzeros", "5", "--constraint", "both"]].concat();
    dir.fails(&few[..], 2, &["at least 6 in all 3 components"]);
}

#[test]
fn bounds_give_gaps_of_measures() {
    let (dir, c) = (Dir::new(), table("wine"));
    for (measure, _) in MEASURES {
        let problem = ["l0-pca", "--gram", &c, "-r", "2", "--nonzeros", "3", "--maximise", measure];
        let solved = dir.json(&[&["solve"], &problem[..], &["--save-x", "x.npy"]].concat());
        let object = dir.json(&[&["bound"], &problem[..], &["--x", "x.npy", "--time-limit", "20"]].concat());
        let (bound, objective) = (number(&object["bound"]), number(&solved["objective"]));
        assert!(bound <= objective && number(&object["gap"]) >= 0.0, "{measure}: {bound} {objective}");
    }
}

#[test]
fn sequences_and_shares_of_a_total() {
    let (dir, c) = (Dir::new(), table("wine"));
    let columns = |r: &str| {
        let problem = ["solve", "l0-pca", "--gram", &c, "-r", r, "--nonzeros", "4", "--maximise", "adjusted"];
        stderr(&dir, &[&problem[..], &["--order", "sequential", "--save-x", "x.npy"]].concat());
        read_npy(&dir.path("x.npy"))
    };
    let (two, three) = (columns("2"), columns("3"));
    for (two, three) in two.iter().zip(&three) {
        assert!((0..2).all(|k| (two[k] - three[k]).abs() <= 1e-10), "{two:?} {three:?}");
    }
    let total =
        ["solve", "l0-pca", "--gram", &c, "-r", "4", "--total-nonzeros", "16", "--maximise", "adjusted"];
    let found = dir
        .json(&[&total[..], &["--min-nonzeros", "3", "--max-nonzeros", "5", "--effort", "quick"]].concat());
    let counts = nonzeros(&found);
    assert!(
        counts.iter().all(|count| (3..=5).contains(count)) && counts.iter().sum::<u64>() <= 16,
        "{counts:?}"
    );
    dir.fails(&[&total[..], &["--min-nonzeros", "5"]].concat(), 2, &["min-nonzeros is 5", "from 1 to 4"]);
    let each = ["solve", "l0-pca", "--gram", &c, "-r", "2", "--nonzeros", "4", "--min-nonzeros", "2"];
    dir.fails(&each, 2, &["all components together"]);
}

/// Four variables: components meet on rows that are fewer than columns on the way.
#[test]
fn as_many_components_as_a_support_has_rows() {
    let dir = Dir::new();
    let c = "1,0.802,0.665,0.564\n0.802,1,0.259,0.665\n0.665,0.259,1,0.411\n0.564,0.665,0.411,1\n";
    dir.write("c.csv", c);
    for measure in ["adjusted", "polar", "explained"] {
        for count in ["1", "2", "3", "4"] {
            for rank in ["2", "3"] {
                let args =
                    ["solve", "l0-pca", "--gram", "c.csv", "--header", "no", "-r", rank, "--nonzeros", count];
                let found = dir.json(&[&args[..], &["--maximise", measure, "--effort", "quick"]].concat());
                assert!(found["feasibility"].as_f64().unwrap() < 1e-12, "{measure} {count} {rank}");
            }
        }
    }
}

/// What uncorrelated scores cost is said, and is what a run without them finds or less.
#[test]
fn the_price_of_both_constraints_is_said() {
    let dir = Dir::new();
    let args = ["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--nonzeros", "4"];
    let both = dir.json(&[&args[..], &["--constraint", "both"]].concat());
    let reasons = both["reasons"].to_string();
    let (_, said) = reasons.split_once("uncorrelated scores cost ").expect("a reason");
    let numbers: Vec<f64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
    let (cost, own, other) = (numbers[0], numbers[1], numbers[2]);
    assert!((cost - (other - own)).abs() < 0.11 && cost >= 0.0, "{reasons}");
    let share = 100.0 * both["explained_variance"]["projected"].as_f64().unwrap();
    assert!((own - share).abs() < 0.051);
    let alone = dir.json(&args);
    assert!(other <= 100.0 * alone["explained_variance"]["projected"].as_f64().unwrap() + 0.051);
}
