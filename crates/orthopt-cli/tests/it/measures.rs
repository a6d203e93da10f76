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
    let said = stderr(&dir, &[&call[..], &["--maximise", "variance"]].concat());
    assert!(
        said.contains("repeat each other (correlation 0.") && said.contains("--maximise adjusted"),
        "{said}"
    );
    for more in [&[][..], &["--maximise", "adjusted"], &["--maximise", "polar"]] {
        let said = stderr(&dir, &[&call[..], more].concat());
        assert!(!said.contains("repeat"), "{said}");
    }
    // PCA repeats nothing
    assert_eq!(stderr(&dir, &["solve", "pca", "--gram", &c, "-r", "3"]), "");
    // a penalty with no other measure is not offered one
    let said = stderr(&dir, &["solve", "l1-pca", "--gram", &c, "-r", "3", "--lambda", "4"]);
    assert!(!said.contains("--maximise"), "{said}");
}

/// With a number of nonzeros, given or chosen, adjusted variance is maximised by every command, and the variance with a
/// weight, where adjusted variance is the same, and where it is asked for.
#[test]
fn one_default_for_every_command() {
    let dir = Dir::new();
    let pitprops = |call: &'static str, more: &[&'static str]| {
        let args = [&[call, "l0-pca", "builtin:pitprops"], more].concat();
        dir.json(&args)
    };
    let maximised = |more: &[&'static str]| -> String {
        let object = pitprops("solve", &[more, &["--effort", "quick"]].concat());
        object["explained_variance"]["maximised"].as_str().unwrap().into()
    };
    for counted in [
        &["-r", "3", "--nonzeros", "4"][..],
        &["--nonzeros", "5,3"],
        &["-r", "2", "--total-nonzeros", "6"],
        &["-r", "2", "--nonzeros", "4", "--lambda", "0.01"],
        &["-r", "2"],
        &["-r", "2", "--nonzeros", "4", "--penalty", "none"],
    ] {
        assert_eq!(maximised(counted), "adjusted", "{counted:?}");
        let asked = [counted, &["--maximise", "variance"]].concat();
        assert_eq!(maximised(&asked), "variance", "{counted:?}");
    }
    for other in [
        &["-r", "3", "--lambda", "0.1"][..],
        &["-r", "1", "--nonzeros", "4"],
        &["-r", "1", "--nonzeros", "4", "--maximise", "adjusted"],
        &["-r", "3", "--variables", "6"],
        &["-r", "2", "--nonzeros", "4", "--constraint", "uncorrelated"],
        &["-r", "2", "--nonzeros", "5", "--constraint", "both"],
        &["-r", "2", "--nonzeros", "4", "--penalty", "nonneg"],
    ] {
        assert_eq!(maximised(other), "variance", "{other:?}");
    }
    let of = |object: &Value| object["explained_variance"]["maximised"].clone();
    let path = pitprops("path", &["-r", "2", "--counts", "3,5"]);
    assert!(path["points"].as_array().unwrap().iter().all(|point| of(point) == "adjusted"));
    let compared = pitprops("compare", &["-r", "2", "--nonzeros", "3", "--time-limit", "0.2"]);
    assert!(compared.as_array().unwrap().iter().all(|report| of(report) == "adjusted"));
    // F of an X and its bound are those of the same problem
    let problem = ["-r", "2", "--nonzeros", "4", "--effort", "quick"];
    let solved = pitprops("solve", &[&problem[..], &["--save-x", "x.npy"]].concat());
    let certified = pitprops("certify", &["--nonzeros", "4", "--x", "x.npy"]);
    assert!((number(&certified["objective"]) - number(&solved["objective"])).abs() <= 1e-12, "{certified}");
    let bound = pitprops("bound", &["--nonzeros", "4", "--x", "x.npy", "--time-limit", "5"]);
    assert!(number(&bound["bound"]) <= number(&solved["objective"]), "{bound}");
    assert!((number(&bound["objective"]) - number(&solved["objective"])).abs() <= 1e-12, "{bound}");
}

#[test]
fn what_knows_the_variance_alone_says_how_to_ask_for_it() {
    let dir = Dir::new();
    let call = ["l0-pca", "builtin:pitprops", "-r", "2", "--nonzeros", "4"];
    for option in [["--solver", "exchange"], ["--init", "deflation"]] {
        let solve = [&["solve"], &call[..], &option].concat();
        dir.fails_in_one_line(&solve, 2, &[option[1], "--maximise variance"]);
        let found = dir.json(&[&solve[..], &["--maximise", "variance", "--max-iters", "1000"]].concat());
        assert_eq!(found["explained_variance"]["maximised"], "variance");
    }
    let compare =
        [&["compare"], &call[..], &["--solvers", "exchange,ladmm+exchange", "--max-iters", "100"]].concat();
    dir.fails_in_one_line(&compare, 2, &["exchange", "--maximise variance"]);
    dir.json(&[&compare[..], &["--maximise", "variance"]].concat());
    // solvers of other problems are not offered
    dir.fails_in_one_line(
        &[&["solve"], &call[..], &["--solver", "obcd"]].concat(),
        2,
        &["obcd", "overshoot"],
    );
    // the variance is what other problems of PCA maximise; what they cannot is refused
    dir.json(&[
        "solve",
        "l1-pca",
        "builtin:pitprops",
        "-r",
        "2",
        "--maximise",
        "variance",
        "--effort",
        "quick",
    ]);
    dir.fails_in_one_line(
        &["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--maximise", "adjusted"],
        2,
        &["--maximise does not apply to l1-pca"],
    );
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
    let few = [&call[..5], &["--total-nonzeros", "5", "--constraint", "both", "--effort", "quick"]].concat();
    dir.fails(
        &few[..],
        2,
        &["no X with X'X = I and X'CX diagonal", "was found", "allow more nonzeros", "3 equations"],
    );
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

/// The same words without the rank, which X has.
fn without_rank<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let place = words.iter().position(|word| *word == "-r").expect("a rank");
    [&words[..place], &words[place + 2..]].concat()
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
    let alone = dir.json(&[&args[..], &["--maximise", "variance"]].concat());
    assert!(other <= 100.0 * alone["explained_variance"]["projected"].as_f64().unwrap() + 0.051);
}

/// Four samples of six variables, three of four and of five, and two matrices of low rank.
const AN: &str = "a,b,c,d,e,f\n2,-1,0,3,1,4\n-1,3,2,0,-2,1\n1,0,-3,2,2,-1\n0,2,1,-4,1,0\n";
const WIDE4: &str = "a,b,c,d\n-3,-1,4,2\n-5,-2,1,1\n-5,3,-5,-4\n";
const WIDE5: &str = "a,b,c,d,e\n-4,0,-1,0,-3\n4,-4,-4,-2,-1\n-4,0,-3,-1,-4\n";

/// Half of the variance after centring: no X explains more.
fn half_of_all(csv: &str) -> f64 {
    let rows: Vec<Vec<f64>> =
        csv.lines().skip(1).map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    let column = |j: usize| {
        let mean = rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64;
        rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>()
    };
    0.5 * (0..rows[0].len()).map(column).sum::<f64>()
}

/// Fewer samples than variables, components that depend on each other: F is what a regression gives back, and no more than all.
#[test]
fn dependent_scores_explain_no_more_than_there_is() {
    let dir = Dir::new();
    for (name, csv, r, k) in [("an", AN, "4", "3"), ("wide4", WIDE4, "3", "3"), ("wide5", WIDE5, "3", "3")] {
        let file = format!("{name}.csv");
        dir.write(&file, csv);
        let problem = ["l0-pca", &file, "--center", "-r", r, "--nonzeros", k, "--maximise", "explained"];
        let saved = ["--effort", "quick", "--save-x", "x.csv"];
        let found = dir.json(&[&["solve"], &problem[..], &saved].concat());
        let (half, objective) = (half_of_all(csv), number(&found["objective"]));
        let told = number(&found["explained_variance"]["predicted"]);
        assert!((objective + half * told).abs() <= 1e-12 * half && told <= 1.0 + 1e-12, "{name}: {found}");
        assert!(told >= 1.0 - 1e-9, "{name}: as many scores as there are dimensions of the data, {told}");
        let certified = dir.json(&[&["certify"], &without_rank(&problem)[..], &["--x", "x.csv"]].concat());
        assert!((number(&certified["objective"]) - objective).abs() <= 1e-12 * half, "{name}: {certified}");
        let bound = dir.json(&[&["bound"], &problem[..], &["--x", "x.csv"]].concat());
        assert!(number(&bound["bound"]) <= objective + 1e-12 * half, "{name}: {bound}");
    }
    dir.write("c.csv", "1,2\n2,4\n");
    let c = ["solve", "l0-pca", "--gram", "c.csv", "-r", "2", "--nonzeros", "2", "--maximise", "explained"];
    assert!((number(&dir.json(&c)["objective"]) + 2.5).abs() <= 1e-14);
}

/// A list of limits that differ: F is that of the order that is shown.
#[test]
fn a_list_of_limits_has_the_order_of_the_table() {
    let dir = Dir::new();
    dir.write("ints.csv", "a,b,c\n-1,2,0\n-2,-2,-1\n0,1,0\n-1,-2,1\n");
    for list in ["3,1", "1,3", "1,1,3", "2,3"] {
        let rank = list.split(',').count().to_string();
        let problem = ["l0-pca", "ints.csv", "-r", &rank, "--nonzeros", list, "--maximise", "adjusted"];
        let found = dir.json(&[&["solve"], &problem[..], &["--save-x", "x.csv"]].concat());
        let (objective, total) = (number(&found["objective"]), number(&found["explained_variance"]["total"]));
        assert!((objective + 0.5 * 21.0 * total).abs() <= 1e-12 * 21.0, "{list}: {objective} {total}");
        let most: Vec<u64> = list.split(',').map(|v| v.parse().unwrap()).collect();
        assert!(nonzeros(&found).iter().zip(&most).all(|(has, most)| has <= most), "{list}: {found}");
        let certified = dir.json(&[&["certify"], &without_rank(&problem)[..], &["--x", "x.csv"]].concat());
        assert!((number(&certified["objective"]) - objective).abs() <= 1e-12 * 21.0, "{list}");
    }
}

/// Measures are for matrices of variances, whatever asks for them; the advice leads to an answer.
#[test]
fn an_indefinite_matrix_is_refused_and_the_nearest_one_is_not() {
    let dir = Dir::new();
    let c = "1.9567769322807056,-1.467224655784547,1.3416549564335163\n\
             -1.467224655784547,1.8075876409175287,-0.5450115339049292\n\
             1.3416549564335163,-0.5450115339049292,0.25177924592262807\n";
    dir.write("c.csv", c);
    dir.write("x.csv", "1,0\n0,1\n0,0\n");
    dir.write("pair.csv", "1,2\n2,1\n");
    for measure in ["adjusted", "polar", "explained"] {
        let problem = ["l0-pca", "--gram", "c.csv", "-r", "2", "--nonzeros", "3", "--maximise", measure];
        let at = ["--x", "x.csv"];
        let calls = [
            [&["solve"], &problem[..]].concat(),
            [&["bound"], &problem[..]].concat(),
            [&["certify"], &without_rank(&problem)[..], &at].concat(),
            ["path", "l0-pca", "--gram", "c.csv", "-r", "2", "--maximise", measure, "--counts", "2,3"]
                .to_vec(),
            ["solve", "pca", "--gram", "pair.csv", "-r", "2", "--maximise", measure].to_vec(),
        ];
        for call in calls {
            let output = dir.orthopt(&call).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{call:?}: {said}");
            let error = said.lines().find(|line| line.starts_with("error: ")).expect("an error");
            for part in ["C is indefinite", "--nearest", measure] {
                assert!(error.contains(part), "{call:?}: {said}");
            }
        }
        let near = [&["solve"], &problem[..], &["--nearest", "--save-x", "near.csv"]].concat();
        let found = dir.json(&near);
        let share = number(&found["explained_variance"]["predicted"]);
        assert!(number(&found["objective"]) < 0.0 && share <= 1.0 + 1e-12, "{measure}: {found}");
        let bound = dir.json(&[&["bound"], &problem[..], &["--nearest", "--x", "near.csv"]].concat());
        assert!(number(&bound["bound"]) <= number(&found["objective"]) * (1.0 - 1e-9), "{measure}: {bound}");
    }
}

/// Data whose C² overflows, and whose C² vanishes: the shares of any other unit.
#[test]
fn large_and_small_units_have_the_same_shares() {
    let dir = Dir::new();
    let scaled = |exponent: i32| {
        let scale = 2f64.powi(exponent);
        let entry = |i: usize, j: usize| ((3 * i + 5 * j + i * j) % 7) as f64 - 3.0;
        let row =
            |i: usize| (0..4).map(|j| format!("{:e}", scale * entry(i, j))).collect::<Vec<_>>().join(",");
        "a,b,c,d\n".to_string() + &(0..10).map(row).collect::<Vec<_>>().join("\n") + "\n"
    };
    let run = |exponent: i32, measure: &str| {
        dir.write("u.csv", scaled(exponent));
        let args = ["solve", "l0-pca", "u.csv", "-r", "2", "--nonzeros", "2", "--effort", "quick"];
        let found = dir.json(&[&args[..], &["--maximise", measure]].concat());
        assert!(number(&found["objective"]).is_finite(), "{found}");
        ["predicted", "polar", "total", "projected"].map(|field| number(&found["explained_variance"][field]))
    };
    for (measure, _) in MEASURES {
        let known = run(0, measure);
        for exponent in [280, -280, 450] {
            assert_eq!(known, run(exponent, measure), "{measure} 2^{exponent}");
        }
    }
}
