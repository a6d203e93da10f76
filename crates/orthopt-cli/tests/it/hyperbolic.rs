//! Problems over the J-orthogonal group from the command line.

use crate::common::{Dir, orthopt, read_npy, stdout};

#[test]
fn hyperbolic_eig_reaches_the_closed_form() {
    let dir = Dir::new();
    dir.write("signs.txt", "1\n-1\n1\n-1\n-1\n1\n1\n");
    for signature in ["0", "3", "7", "signs.txt"] {
        let object =
            dir.json(&["solve", "hyperbolic-eig", "randn:40:7", "--signature", signature, "--certify"]);
        let (f, optimum) = (object["objective"].as_f64().unwrap(), object["optimum"].as_f64().unwrap());
        assert!((f - optimum).abs() <= 1e-8 * optimum, "{signature}: {f} {optimum}");
        assert!(object["feasibility"].as_f64().unwrap() <= 1e-13, "{signature}");
        assert_eq!(object["status"], "converged", "{signature}");
        assert_eq!(object["certificate"]["pairs_checked"], 21);
    }
}

/// Side, working set, model and candidates of JOBCD are typed, and the result names them.
#[test]
fn the_choices_of_jobcd_are_options() {
    let dir = Dir::new();
    let solve = |more: &[&'static str]| {
        let args = ["solve", "hyperbolic-eig", "randn:40:7", "--signature", "4", "--max-iters", "100000"];
        let object = dir.json(&[&args[..], more].concat());
        let gap = object["objective"].as_f64().unwrap() / object["optimum"].as_f64().unwrap() - 1.0;
        assert!(gap.abs() <= 1e-7, "{more:?}: {gap:e}");
        object
    };
    for (more, known) in [
        (&[][..], [("side", "columns"), ("working_set", "cyclic"), ("model", "exact")]),
        (&["--side", "rows"], [("side", "rows"), ("working_set", "cyclic"), ("model", "exact")]),
        (
            &["--model", "diagonal", "--side", "columns"],
            [("side", "columns"), ("working_set", "cyclic"), ("model", "diagonal")],
        ),
        (
            &["--model", "diagonal", "--working-set", "random"],
            [("side", "rows"), ("working_set", "random"), ("model", "diagonal")],
        ),
        (&["--solver", "j-jobcd"], [("side", "columns"), ("working_set", "cyclic"), ("model", "exact")]),
        (
            &["--solver", "j-jobcd", "--side", "rows"],
            [("side", "rows"), ("working_set", "random"), ("model", "diagonal")],
        ),
        (
            &["--solver", "j-jobcd", "--side", "rows", "--working-set", "cyclic"],
            [("side", "rows"), ("working_set", "cyclic"), ("model", "diagonal")],
        ),
    ] {
        let object = solve(more);
        for (name, value) in known {
            assert_eq!(object["settings"][name], value, "{more:?}, {name}");
        }
    }
    for (rule, candidates, count) in
        [("greedy-sv", "3", 3), ("greedy-or", "all", 21), ("greedy-or", "1000", 21)]
    {
        let object = solve(&["--working-set", rule, "--candidates", candidates]);
        assert_eq!(object["settings"]["working_set"], rule);
        assert_eq!(object["settings"]["candidates"], count, "{rule}");
    }
    let default = solve(&["--working-set", "greedy-sv"]);
    assert_eq!(default["settings"]["candidates"], 7); // n
}

#[test]
fn the_summary_help_and_config_know_the_sides() {
    let dir = Dir::new();
    let args = ["solve", "hyperbolic-eig", "randn:20:4", "--side", "rows", "--working-set", "random"];
    let text = stdout(&mut dir.orthopt(&args));
    assert!(text.contains("gs-jobcd from random, working set random, model exact, side rows"), "{text}");
    assert!(text.contains("of ||X||^2"), "{text}");
    dir.write("run.toml", stdout(&mut dir.orthopt(&[&args[..], &["--print-config"]].concat())));
    assert_eq!(dir.json(&["solve", "--config", "run.toml"])["settings"]["side"], "rows");
    let help = stdout(&mut orthopt(&["solve", "--help-all"]));
    assert!(help.contains("--side <SIDE>") && help.contains("--reproduction"), "{help}");
    let constants = stdout(&mut orthopt(&["solve", "--help-constants"]));
    for word in ["--gs-jobcd-theta", "--j-jobcd-s", "--vr-j-jobcd-batch"] {
        assert!(constants.contains(word) && !help.contains(word), "{word}");
    }
    assert!(stdout(&mut orthopt(&["list", "sides"])).contains("pairs of rows of X"));
}

#[test]
fn options_that_do_nothing_are_refused() {
    let dir = Dir::new();
    let args = ["solve", "hyperbolic-eig", "randn:20:4", "--center", "--max-iters", "50"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    let refused =
        |more: &[&'static str], said: &str| dir.fails_in_one_line(&with(more), 2, &[said, "leave it out"]);
    let runs = |more: &[&'static str]| {
        assert_eq!(dir.orthopt(&with(more)).output().unwrap().stderr, b"", "{more:?}")
    };
    runs(&[]);
    refused(&["--block", "4"], "--block does not apply to gs-jobcd");
    refused(&["--alpha", "1"], "--alpha does not apply to gs-jobcd");
    refused(&["--candidates", "9"], "it is for the greedy working sets");
    refused(&["--solver", "j-jobcd", "--model", "exact"], "--model does not apply to j-jobcd");
    refused(&["--solver", "csdm", "--side", "rows"], "--side does not apply to csdm");
    refused(&["--effort", "quick"], "--effort does not apply to gs-jobcd");
    runs(&["--solver", "csdm+gs-jobcd", "--side", "rows"]);
    let pca = ["solve", "pca", "builtin:pitprops", "--side", "rows"];
    dir.fails_in_one_line(&pca, 2, &["--side does not apply to spectral"]);
    // values that are what they are without the option are no options
    let defaults = ["--storage", "auto", "--seed", "0", "--tol", "1e-9", "--ridge", "0", "--solver", "auto"];
    runs(&defaults);
}

#[test]
fn the_papers_sign_is_unbounded_and_says_so() {
    let dir = Dir::new();
    let args = ["hyperbolic-eig", "randn:40:6", "--signature", "3", "--reproduction"];
    let limits = ["--max-iters", "20000", "--restarts", "0"];
    for (solver, more) in [
        ("gs-jobcd", &[][..]),
        ("gs-jobcd", &["--side", "columns"]),
        ("gs-jobcd", &["--model", "diagonal", "--working-set", "random"]),
        ("j-jobcd", &[]),
        ("csdm", &["--csdm-lr", "0.5"]),
        ("umcm", &["--umcm-lr", "0.5"]),
        ("j-admm", &[]),
    ] {
        let files = ["--solver", solver, "--save-x", "x.npy", "--json", "r.json", "--trace", "t.csv"];
        let all = [&["solve"], &args[..], &limits, &files, more].concat();
        let output = dir.orthopt(&all).output().unwrap();
        let object: serde_json::Value = serde_json::from_str(&dir.read("r.json")).unwrap();
        let (status, text) = (object["status"].as_str().unwrap(), String::from_utf8_lossy(&output.stdout));
        // JOBCD always arrives at the limit of the norm, the rivals may creep, but are never called converged
        let unbounded = status == "unbounded";
        let creeps = !solver.contains("jobcd") && ["max_iters", "stalled"].contains(&status);
        assert!(unbounded || creeps, "{solver}: {status}");
        assert_eq!(output.status.code(), Some(if unbounded { 4 } else { 0 }), "{solver}");
        assert!(!unbounded || (text.contains("unbounded") && text.contains("no lower bound")), "{text}");
        assert!(!text.contains("inf") && !text.contains("NaN"), "{solver}: {text}");
        let header = "min -tr(X'CX), X'JX = J, C = A'A + ridge, which has no lower bound";
        assert!(text.contains(header) && !text.contains("the minimum is known"), "{solver}: {text}");
        // numbers that are not finite would be null
        for field in ["objective", "feasibility", "relative_feasibility"] {
            assert!(object[field].as_f64().is_some_and(f64::is_finite), "{solver}: {field}");
        }
        assert!(object["relative_feasibility"].as_f64().unwrap() <= 1e-13, "{solver}");
        assert!(object["optimum"].is_null());
        let x = read_npy(&dir.path("x.npy"));
        assert!(x.len() == 6 && x.iter().flatten().all(|v| v.is_finite()), "{solver}");
        let trace = dir.read("t.csv");
        let numbers = trace.lines().skip(1).flat_map(|line| line.split(','));
        assert!(trace.lines().count() >= 2, "{solver}");
        assert!(numbers.into_iter().all(|v| v.parse::<f64>().unwrap().is_finite()), "{solver}: {trace}");
        let object = {
            let args = [&["certify"], &args[..], &["--x", "x.npy"]].concat();
            dir.json(&args)
        };
        assert!(object["objective"].as_f64().unwrap() < 0.0 && object["certified"] == false, "{solver}");
    }
}

/// `csdm+gs-jobcd`: the second stage finishes what the first began, under one time limit.
#[test]
fn chains() {
    let dir = Dir::new();
    let args = ["hyperbolic-eig", "randn:60:12", "--signature", "5"];
    // no limit: the first part must hand over by itself
    let object =
        dir.json(&[&["solve"], &args[..], &["--solver", "j-jobcd+gs-jobcd", "--side", "columns"]].concat());
    assert_eq!((&object["solver"], &object["status"]), (&"j-jobcd+gs-jobcd".into(), &"converged".into()));
    let (f, optimum) = (object["objective"].as_f64().unwrap(), object["optimum"].as_f64().unwrap());
    assert!((f - optimum).abs() <= 1e-8 * optimum, "{f} {optimum}");
    assert!(object["settings"]["j-jobcd.objective"].as_f64().unwrap() >= f - 1e-8 * optimum);
    let solvers = ["--solvers", "gs-jobcd,csdm,j-jobcd+gs-jobcd,gs-jobcd+umcm", "--max-iters", "3000"];
    let all = dir.json(&[&["compare"], &args[..], &solvers].concat());
    let names: Vec<_> = all.as_array().unwrap().iter().map(|o| o["solver"].as_str().unwrap()).collect();
    assert_eq!(names, ["gs-jobcd", "csdm", "j-jobcd+gs-jobcd", "gs-jobcd+umcm"]);
    for object in all.as_array().unwrap().iter().filter(|o| o["solver"] != "csdm") {
        assert!((object["objective"].as_f64().unwrap() - optimum).abs() <= 1e-8 * optimum, "{object}");
    }
}

#[test]
fn certify_measures_any_x() {
    let dir = Dir::new();
    dir.orthopt(&["solve", "hyperbolic-eig", "randn:30:5", "--signature", "2", "--save-x", "x.npy"])
        .assert()
        .success();
    let text = stdout(&mut dir.orthopt(&[
        "certify",
        "hyperbolic-eig",
        "randn:30:5",
        "--signature",
        "2",
        "--x",
        "x.npy",
    ]));
    assert!(text.contains("mean of |X'JX - J|") && text.contains("certified block-2 stationary"), "{text}");
    dir.fails_in_one_line(
        &["certify", "hyperbolic-eig", "randn:30:5", "--signature", "3", "--x", "x.npy"],
        1,
        &["X is not J-orthogonal"],
    );
}

#[test]
fn compare_and_probe() {
    let dir = Dir::new();
    let all = dir.json(&[
        "compare",
        "hyperbolic-eig",
        "randn:30:6",
        "--solvers",
        "gs-jobcd,j-jobcd",
        "--max-iters",
        "1000000",
    ]);
    for object in all.as_array().unwrap() {
        let gap = object["objective"].as_f64().unwrap() - object["optimum"].as_f64().unwrap();
        assert!(gap.abs() <= 1e-7, "{object}");
    }
    let probe = ["solve", "probe", "randn:20:6", "--signature", "3", "--max-iters", "200", "--restarts", "0"];
    let object = dir.json(&probe);
    assert_eq!(object["solver"], "j-jobcd+j-lbfgs");
    assert!(object["feasibility"].as_f64().unwrap() <= 1e-12);
    let pairs = dir.json(&[&probe[..], &["--solver", "gs-jobcd"]].concat());
    assert!(pairs["settings"]["gradients"].as_u64().unwrap() > 100 && pairs["settings"]["side"] == "rows");
    let start = dir.json(&[&probe[..5], &["--max-iters", "1", "--restarts", "0"]].concat());
    assert!(pairs["objective"].as_f64() < start["objective"].as_f64());
    assert!(object["objective"].as_f64() <= start["objective"].as_f64());
}

/// f of the probe as printed is constant on the group, and --help-all says so.
#[test]
fn the_printed_probe_is_a_check_of_feasibility() {
    let dir = Dir::new();
    let probe =
        ["solve", "probe", "randn:20:6", "--signature", "3", "--placement", "before", "--restarts", "0"];
    let f = |more: &[&'static str]| dir.json(&[&probe[..], more].concat())["objective"].as_f64().unwrap();
    let known = f(&["--init", "identity", "--solver", "gs-jobcd"]);
    for more in [
        &["--init", "random", "--solver", "gs-jobcd"][..],
        &["--init", "random", "--seed", "4", "--solver", "j-jobcd"],
        &["--init", "random", "--solver", "vr-j-jobcd"],
    ] {
        let value = f(more);
        assert!((value - known).abs() <= 1e-10 * known, "{more:?}: {value} {known}");
    }
    let after = ["--placement", "after", "--init", "random", "--solver", "gs-jobcd", "--max-iters", "1"];
    let after = dir.json(&[&["solve", "probe", "randn:20:6", "--signature", "3"], &after[..]].concat());
    assert!((after["objective"].as_f64().unwrap() - known).abs() > 1e-4 * known, "{after} {known}");
    let help = stdout(&mut orthopt(&["solve", "--help-all"]));
    assert!(help.contains("--placement <WHERE>") && help.contains("phi(DX)"), "{help}");
    dir.fails(&["solve", "probe", "randn:20:6", "--placement", "between"], 2, &["between", "before"]);
    let other = ["solve", "pca", "builtin:pitprops", "--placement", "before"];
    dir.fails_in_one_line(&other, 2, &["--placement does not apply to pca: it is for probe"]);
}

#[test]
fn bad_input_says_what_to_do() {
    let dir = Dir::new();
    let solve = |more: &[&'static str]| [&["solve", "hyperbolic-eig"][..], more].concat();
    dir.fails_in_one_line(&solve(&["randn:30:5", "--signature", "6"]), 2, &["signature is 6", "at most"]);
    dir.fails_in_one_line(&solve(&["randn:30:5", "--signature", "nowhere.txt"]), 1, &["nowhere.txt"]);
    let indefinite = ["not positive definite", "its smallest eigenvalue is", "add a ridge of at least"];
    dir.fails_in_one_line(&solve(&["randn:3:5"]), 1, &indefinite);
    dir.write("minus.csv", "1,0\n0,-3\n");
    dir.fails_in_one_line(&solve(&["--gram", "minus.csv"]), 1, &["smallest eigenvalue is -3.000e0"]);
    dir.fails_in_one_line(
        &solve(&["randn:30:5", "--solver", "j-jobcd", "--working-set", "greedy-or"]),
        2,
        &["random or cyclic", "gs-jobcd"],
    );
    dir.fails_in_one_line(&solve(&["randn:30:5", "--candidates", "0"]), 2, &["candidates is 0"]);
    dir.fails(&solve(&["randn:30:5", "--side", "left"]), 2, &["left", "columns"]);
    dir.fails_in_one_line(&solve(&["randn:30:5", "--gs-jobcd-theta", "-1"]), 2, &["gs-jobcd-theta is -1"]);
    dir.fails_in_one_line(&solve(&["randn:30:5", "-r", "3"]), 2, &["X of hyperbolic-eig is square"]);
    dir.fails_in_one_line(
        &solve(&["randn:30:5", "--solver", "obcd"]),
        2,
        &["solver obcd is for PCA problems"],
    );
    dir.write("signs.txt", "1\n0\n-1\n1\n1\n");
    dir.fails_in_one_line(&solve(&["randn:30:5", "--signature", "signs.txt"]), 2, &["entry 2"]);
    dir.write("c.csv", "2,1\n0.5,2\n");
    dir.fails_in_one_line(&solve(&["--gram", "c.csv"]), 1, &["not symmetric"]);
    orthopt(&solve(&["randn:3:5", "--ridge", "0.1"])).assert().success();
}
