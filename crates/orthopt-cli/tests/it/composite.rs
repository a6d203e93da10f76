//! Problems with a concave part or a linear map, and the splitting methods, from the command line.

use crate::common::{Dir, orthopt, read_npy, stdout};
use serde_json::Value;

const SPLITTING: &str = "oadmm,oadmm-ep,oadmm-rr,radmm,spgm-ep,spgm-rr,subgrad,madmm,manial,rial,rada-rgd";

fn real(object: &Value, path: &str) -> f64 {
    object.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {object}"))
}

#[test]
fn dc_pca_keeps_to_k_and_reports_both_points() {
    let dir = Dir::new();
    let solve = ["solve", "dc-pca", "builtin:pitprops", "-r", "3", "--k", "12"];
    let object =
        dir.json(&[&solve[..], &["--lambda", "10", "--max-iters", "3000", "--restarts", "0"]].concat());
    assert_eq!((&object["k"], &object["solver"]), (&12.into(), &"oadmm+obcd".into()));
    assert!(real(&object, "/nnz") <= 12.0 && real(&object, "/feasibility") <= 1e-12, "{object}");
    // F = 1/(2m)‖XXᵀD − D‖² is at least 0 and there is no penalty left
    // entries up to 1e-6 count as zero
    assert!(real(&object, "/nonsmooth").abs() <= 3e-4 && real(&object, "/smooth") > 0.0);

    let args = ["--solver", "oadmm-ep", "--lambda", "10", "--max-iters", "400", "--restarts", "0"];
    let object = dir.json(&[&solve[..], &args].concat());
    let (x, sparse) = (real(&object, "/settings/objective_x"), real(&object, "/settings/objective_sparse"));
    let returned = object["settings"]["returned"].as_str().unwrap();
    assert_eq!(returned, if sparse < x { "polar(y_check)" } else { "X" });
    assert!((real(&object, "/objective") - x.min(sparse)).abs() <= 1e-9);
    for part in ["crit_primal", "crit_dual", "crit_tangent", "mu_norm_z"] {
        assert!(real(&object, &format!("/settings/{part}")) >= 0.0);
    }
    assert_eq!(real(&object, "/constants/oadmm-ep-chi"), 1.01);
    assert!(object["raw"]["feasibility"].is_number());
    let text = stdout(&mut orthopt(&[&solve[..], &args, &["-v"]].concat()));
    for part in ["\nk             12\n", "F(polar(y))", "mu ||z||"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_default_k_is_said() {
    let text =
        stdout(&mut orthopt(&["solve", "dc-pca", "randn:20:30", "-r", "4", "--max-iters", "50", "-v"]));
    assert!(
        text.contains("k 6: 5 % of the 120 entries of X") && text.contains("\nk             6\n"),
        "{text}"
    );
}

#[test]
fn all_methods_run_from_the_same_start_and_show_their_constants() {
    let dir = Dir::new();
    let penalties: [&[&str]; 4] = [
        &["dc-pca", "--k", "10"],
        &["l1-pca"],
        &["pca", "--penalty", "mcp"],
        &["capped-l1-pca", "--capped-l1-cap", "0.3"],
    ];
    for penalty in penalties {
        let solvers = format!("{SPLITTING},oadmm-ep+obcd,obcd");
        let args = [&["compare"], penalty, &["randn:30:12", "-r", "3", "--solvers", &solvers]].concat();
        let args = [&args[..], &["--init", "random", "--max-iters", "60"]].concat();
        let all = dir.json(&args);
        let all = all.as_array().unwrap();
        assert_eq!(all.len(), 13, "{penalty:?}");
        for object in all {
            assert!(real(object, "/feasibility") <= 1e-12, "{object}");
            let name = object["solver"].as_str().unwrap();
            let owner = name.split('+').next().unwrap();
            let own = |c: &serde_json::Map<String, Value>| c.keys().all(|key| key.starts_with(owner));
            assert!(name == "obcd" || object["constants"].as_object().is_some_and(own), "{object}");
        }
        let text = stdout(&mut orthopt(&args));
        for part in ["F(polar y)", "constants     oadmm-ep: alpha 0.001658", "radmm: beta ", "chi 1.010"] {
            assert!(text.contains(part), "{penalty:?}: no `{part}` in {text}");
        }
    }
}

#[test]
fn a_constant_is_an_option() {
    let dir = Dir::new();
    let args = ["solve", "dc-pca", "randn:30:12", "-r", "2", "--solver", "oadmm-rr", "--max-iters", "20"];
    let object = dir.json(&[&args[..], &["--oadmm-rr-chi", "auto", "--oadmm-rr-rho", "0.5"]].concat());
    // 1.001 times the bound of the theory for ξ = 1, σ = 1.1
    assert!((real(&object, "/constants/oadmm-rr-chi") - 13.86).abs() < 0.02, "{object}");
    assert_eq!(real(&object, "/settings/rho"), 0.5);
}

#[test]
fn fused_penalty_by_name_and_by_map() {
    let dir = Dir::new();
    let run = |more: &[&'static str]| {
        let args = [&["solve"], more, &["-r", "2", "--lambda", "2", "--solver", "oadmm-ep"]].concat();
        dir.json(&[&args[..], &["--max-iters", "200", "--restarts", "0"]].concat())
    };
    let named = run(&["fused-pca", "randn:40:10"]);
    let penalty = run(&["pca", "randn:40:10", "--penalty", "fused-l1"]);
    let map = run(&["l1-pca", "randn:40:10", "--map", "differences"]);
    for other in [&penalty, &map] {
        assert_eq!(named["objective"], other["objective"]);
    }
    // the same by a matrix in a file
    let mut differences = faer::Mat::<f64>::zeros(9, 10);
    for i in 0..9 {
        (differences[(i, i)], differences[(i, i + 1)]) = (-1.0, 1.0);
    }
    orthopt_data::write_npy(&dir.path("b.npy"), differences.as_ref()).unwrap();
    let file = run(&["l1-pca", "randn:40:10", "--map", "b.npy"]);
    let (a, b) = (real(&named, "/nonsmooth"), real(&file, "/nonsmooth"));
    assert!((a - b).abs() <= 1e-3 * a, "{a} {b}"); // the norm of a matrix is an estimate
    let rows = run(&["l1-pca", "randn:40:10", "--map", "rows:1-3,7"]);
    assert!(real(&rows, "/objective") <= real(&named, "/objective"));
}

/// (h − g)(A(X)), recomputed from the X that was saved; the header says so.
#[test]
fn penalties_with_two_parts_and_a_map() {
    let dir = Dir::new();
    let run = |more: &[&'static str]| {
        let args =
            [&["solve"], more, &["randn:40:10", "-r", "2", "--lambda", "2", "--map", "differences"]].concat();
        let files = ["--solver", "oadmm-ep", "--max-iters", "300", "--restarts", "0", "--save-x", "x.npy"];
        let args = [&args[..], &files].concat();
        let object = dir.json(&args);
        let x = read_npy(&dir.path("x.npy"));
        let mut sizes: Vec<f64> = x
            .windows(2)
            .flat_map(|two| (0..2).map(|j| (two[1][j] - two[0][j]).abs()).collect::<Vec<_>>())
            .collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        (real(&object, "/nonsmooth"), sizes, stdout(&mut dir.orthopt(&[&args[..], &["-v"]].concat())))
    };
    let (capped, sizes, text) = run(&["capped-l1-pca", "--capped-l1-cap", "0.2"]);
    let direct = 2.0 * sizes.iter().map(|v| v.min(0.2)).sum::<f64>();
    assert!((capped - direct).abs() <= 1e-4 * direct, "{capped} {direct}");
    let header = "h of capped-l1: lambda * min(|x|, cap)";
    assert!(text.contains(header) && text.contains("A(X): differences of neighbouring rows of X"), "{text}");
    let (largest, sizes, text) = run(&["dc-pca", "--k", "4"]);
    let direct = 2.0 * sizes[4..].iter().sum::<f64>();
    assert!((largest - direct).abs() <= 1e-4 * (1.0 + direct), "{largest} {direct}");
    assert!(
        text.contains("min 1/(2m) ||XX'D - D||^2, D = A', + h(A(X)), X'X = I; h of l1-largest-k"),
        "{text}"
    );
    let (_, _, text) = run(&["dc-pca"]);
    assert!(text.contains("k 2: 5 % of the 18 entries of A(X)"), "{text}");
    dir.fails_in_one_line(
        &["solve", "dc-pca", "randn:40:10", "-r", "2", "--k", "19", "--map", "differences"],
        2,
        &["k is 19", "at most 18, the number of entries of the 9 x 2 matrix"],
    );
}

#[test]
fn certify_measures_any_x() {
    let dir = Dir::new();
    let data = ["builtin:pitprops", "--lambda", "10", "--k", "12"];
    let solve =
        [&["solve", "dc-pca"], &data[..], &["-r", "3", "--save-x", "x.npy", "--restarts", "0"]].concat();
    let solve = [&solve[..], &["--max-iters", "2000"]].concat();
    let solved = dir.json(&solve);
    let found = dir.json(&[&["certify", "dc-pca"], &data[..], &["--x", "x.npy"]].concat());
    assert!((real(&found, "/objective") - real(&solved, "/objective")).abs() <= 1e-10);
    assert!(found["certificate"].is_null() && real(&found, "/criticality") >= 0.0);
    assert_eq!(read_npy(&dir.path("x.npy")).len(), 13);
    // without g and A pairs can be solved, so there is a certificate
    let plain =
        ["certify", "pca", "builtin:pitprops", "--penalty", "l1", "--map", "identity", "--x", "x.npy"];
    assert!(dir.json(&plain)["certificate"].is_object());
}

#[test]
fn bad_input_says_what_to_do() {
    let dir = Dir::new();
    let fails = |args: &[&'static str], parts: &[&str]| {
        dir.fails_in_one_line(&[&["solve"], args].concat(), 2, parts);
    };
    fails(
        &["dc-pca", "randn:20:6", "-r", "2", "--k", "13"],
        &["k is 13", "at most 12, the number of entries of the 6 x 2 matrix"],
    );
    fails(&["dc-pca", "randn:20:6", "-r", "9"], &["rank 9 exceeds"]);
    fails(&["fused-pca", "randn:20:6", "--solver", "obcd"], &["obcd is for problems without a linear map"]);
    fails(&["l0-pca", "randn:20:6", "--solver", "oadmm"], &["weakly convex penalty"]);
    fails(&["l0-pca", "randn:20:6", "--map", "differences"], &["'l0'", "l1-largest-k"]);
    fails(&["l1-pca", "randn:20:6", "--map", "sideways"], &["--map", "'sideways'", "differences"]);
    fails(&["l1-pca", "randn:20:6", "--map", "rows:5-2"], &["map is rows:5-2", "numbers from 1"]);
    fails(&["l1-pca", "randn:20:6", "--map", "rows:7"], &["selects row 7 (counted from 1), but X is 6 x 5"]);
    fails(&["l1-pca", "randn:20:6", "--solver", "radmm", "--radmm-chi", "1"], &["radmm-chi is 1"]);
    let b = faer::Mat::<f64>::zeros(3, 7);
    orthopt_data::write_npy(&dir.path("b.npy"), b.as_ref()).unwrap();
    let args = ["solve", "l1-pca", "randn:20:6", "--map", "b.npy"];
    dir.fails_in_one_line(&args, 1, &["the matrix of the linear map is 3 x 7, expected 3 x 6"]);
    dir.fails_in_one_line(&["solve", "l1-pca", "randn:20:6", "--map", "nowhere.npy"], 1, &["nowhere.npy"]);
    fails(
        &["l1-pca", "randn:20:6", "--k", "3"],
        &["--k does not apply to l1-pca", "the penalty l1-largest-k"],
    );
}
