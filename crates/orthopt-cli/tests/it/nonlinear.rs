//! The nonlinear eigenvalue problem from the command line.

use crate::common::{Dir, feasibility, read_npy, stdout};

const SOLVERS: &str = "obcd,obcd-approx,obcd-r,obcd-c,obcd-sv,obcd-or,obcd-block,obcd-jacobi,lbfgs,optm-qr,optm-cayley,\
                       foforth-gr,foforth-p,foforth-qr";

#[test]
fn solvers_agree_and_the_result_is_certified() {
    let dir = Dir::new();
    let task = ["nonlinear-eig", "laplace:60", "-r", "4", "--lambda", "10"];
    let compare = [
        &["compare"],
        &task[..],
        &["--max-iters", "20000000", "--tol", "1e-11", "--certify", "--solvers", SOLVERS],
    ]
    .concat();
    let all = dir.json(&compare);
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 14, "eight of pairs and blocks, L-BFGS, two OptM, three FOForth");
    let lowest = all.iter().map(|o| o["objective"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    for o in all {
        let (name, f) = (&o["solver"], o["objective"].as_f64().unwrap());
        assert!((f - lowest).abs() <= 1e-8 * lowest, "{name}: {f} {lowest}");
        assert!(o["feasibility"].as_f64().unwrap() <= 1e-12, "{name}");
        assert_eq!(o["nonsmooth"], 0.0, "lambda is part of f");
        assert_eq!(o["status"], "converged", "{name}: {}", o["message"]);
    }
    let solve = [&["solve"], &task[..], &["--certify", "--save-x", "x.npy"]].concat();
    let text = stdout(&mut dir.orthopt(&solve));
    assert!(text.contains("+obcd from") && text.contains("certified block-2 stationary"), "{text}");
    let x = read_npy(&dir.path("x.npy"));
    assert!((x.len(), x[0].len()) == (60, 4) && feasibility(&x) <= 1e-12);
    let certify = [&["certify"], &task[..2], &["--lambda", "10", "--x", "x.npy"]].concat();
    let found = dir.json(&certify);
    assert!((found["objective"].as_f64().unwrap() - lowest).abs() <= 1e-8 * lowest);
    assert_eq!(found["certified"], true);
}

/// Rounds of pairs and blocks, and the diagonal model, end where single pairs do.
#[test]
fn rounds_blocks_and_the_diagonal_model() {
    let dir = Dir::new();
    let task = ["solve", "nonlinear-eig", "laplace:60", "-r", "4", "--lambda", "10", "--solver", "obcd"];
    let solve = |more: &[&'static str]| dir.json(&[&task[..], more, &["--certify"]].concat());
    let known = solve(&[])["objective"].as_f64().unwrap();
    for more in [
        &["--jacobi"][..],
        &["--jacobi", "--working-set", "cyclic"],
        &["--block", "8"],
        &["--block", "8", "--model", "diagonal"],
        &["--jacobi", "--model", "diagonal"],
    ] {
        let object = solve(more);
        let f = object["objective"].as_f64().unwrap();
        assert!((f - known).abs() <= 1e-8 * known, "{more:?}: {f} {known}");
        assert_eq!((&object["status"], &object["solver"]), (&"converged".into(), &"obcd".into()), "{more:?}");
        assert!(object["feasibility"].as_f64().unwrap() <= 1e-13, "{more:?}");
        assert!(object["settings"]["gradients"].as_u64().unwrap() > 0, "{more:?}");
    }
}

#[test]
fn c_from_everywhere_is_the_same_c() {
    let dir = Dir::new();
    dir.orthopt(&["data", "generate", "laplace2:3:4", "c.csv"]).assert().success();
    dir.orthopt(&["data", "generate", "laplace2:3:4", "c.mtx"]).assert().success();
    let value = |data: &[&str]| {
        let args =
            [&["solve", "nonlinear-eig"], data, &["-r", "3", "--lambda", "2", "--tol", "1e-12"]].concat();
        dir.json(&args)["objective"].as_f64().unwrap()
    };
    let expected = value(&["laplace2:3:4"]);
    for data in [["--gram", "c.csv"], ["--gram", "c.mtx"], ["--gram", "laplace2:3:4"]] {
        let f = value(&data);
        assert!((f - expected).abs() <= 1e-9 * expected, "{data:?}: {f} {expected}");
    }
    // the smallest eigenvalues where lambda is 0: 2 - 2 cos(k pi/7)
    let object =
        dir.json(&["solve", "nonlinear-eig", "laplace:6", "-r", "2", "--lambda", "0", "--tol", "1e-12"]);
    let sum: f64 = [1.0, 2.0].iter().map(|k| 1.0 - (k * std::f64::consts::PI / 7.0).cos()).sum();
    assert!((object["objective"].as_f64().unwrap() - sum).abs() <= 1e-9);
}

#[test]
fn samples_a_singular_c_and_a_linear_term() {
    let dir = Dir::new();
    // 5 samples of 8 variables: C has three zero eigenvalues
    let task = ["solve", "nonlinear-eig", "randn:5:8", "-r", "2"];
    let text = stdout(&mut dir.orthopt(&task));
    assert!(text.contains("C has 3 zero eigenvalues: C^+ is its pseudoinverse"), "{text}");
    assert!(text.contains("lambda 1 (--lambda)"), "{text}");
    dir.orthopt(&["data", "generate", "randn:8:2", "e.npy"]).assert().success();
    for solver in ["auto", "lbfgs", "foforth-gr", "foforth-p", "optm-cayley", "obcd-approx"] {
        let object =
            dir.json(&[&task[..], &["--linear", "e.npy", "--solver", solver, "--init", "eigen"]].concat());
        assert_eq!(object["status"], "converged", "{solver}");
        assert!(object["feasibility"].as_f64().unwrap() <= 1e-12, "{solver}");
        assert!(object["objective"].as_f64().unwrap() < 0.0, "{solver}: E is worth something");
    }
}

#[test]
fn a_linear_term_of_normal_numbers() {
    let dir = Dir::new();
    let task = ["solve", "nonlinear-eig", "randn:20:40", "-r", "3", "--lambda", "1"];
    let f = |more: &[&'static str]| {
        let object = dir.json(&[&task[..], more].concat());
        object["objective"].as_f64().unwrap()
    };
    // C has a null space of dimension 20, where only E counts: about -3 sqrt(20)
    let first = f(&["--linear", "randn"]);
    assert!((-20.0..-10.0).contains(&first), "{first}");
    assert_eq!(first, f(&["--linear", "randn:0"]));
    assert_ne!(first, f(&["--linear", "randn:1"]));
    dir.fails_in_one_line(
        &[&task[..], &["--linear", "randn:x"]].concat(),
        2,
        &["linear is randn:x", "randn:SEED"],
    );
    dir.fails_in_one_line(&[&task[..], &["--linear", "e.npy"]].concat(), 1, &["--linear", "e.npy"]);
}

#[test]
fn bad_input_says_what_to_do() {
    let dir = Dir::new();
    let solve = |more: &[&'static str]| [&["solve", "nonlinear-eig"][..], more].concat();
    dir.write("skew.csv", "2,1\n0.5,2\n");
    dir.write("skew.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 2\n1 2 1\n");
    dir.write("wide.csv", "2,1,0\n0,2,1\n");
    for file in ["skew.csv", "skew.mtx"] {
        dir.fails_in_one_line(&solve(&["--gram", file]), 1, &["not symmetric"]);
    }
    dir.fails_in_one_line(&solve(&["--gram", "wide.csv"]), 1, &["2 x 3"]);
    dir.fails_in_one_line(&solve(&["laplace:4", "-r", "5"]), 2, &["rank 5 exceeds the 4 columns"]);
    dir.fails_in_one_line(&solve(&["laplace:4", "--lambda", "-1"]), 2, &["lambda is -1"]);
    dir.fails_in_one_line(&solve(&["laplace2:4"]), 1, &["Q is missing; expected laplace2:P:Q"]);
    dir.fails_in_one_line(&solve(&["laplace:4", "--center"]), 2, &["centring"]);
    dir.fails_in_one_line(
        &solve(&["laplace:4", "--solver", "manpg"]),
        2,
        &["solver manpg is for PCA problems", "optm-qr"],
    );
    let approx = solve(&["laplace:9", "--solver", "obcd-approx", "--block", "4"]);
    dir.fails_in_one_line(&approx, 2, &["pairs of rows", "the solver obcd has"]);
    dir.fails_in_one_line(
        &solve(&["laplace:9", "--init", "partition"]),
        2,
        &["partition", "random, identity, eigen"],
    );
    dir.orthopt(&["data", "generate", "randn:9:2", "e.npy"]).assert().success();
    dir.fails_in_one_line(
        &solve(&["laplace:9", "-r", "3", "--linear", "e.npy"]),
        1,
        &["linear term E is 9 x 2"],
    );
    dir.fails_in_one_line(
        &solve(&["laplace:8", "-r", "2", "--linear", "e.npy"]),
        1,
        &["linear term E is 9 x 2"],
    );
    dir.fails_in_one_line(
        &["solve", "l0-pca", "randn:9:3", "--center", "--lambda", "1", "--solver", "optm-qr"],
        2,
        &["solver optm-qr is for problems without a penalty"],
    );
}
