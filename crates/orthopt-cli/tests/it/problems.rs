//! Named problems beside PCA from the command line: procrustes, row-sparse PCA, clusters, independent components, dictionaries,
//! robust subspaces.

use crate::common::{Dir, feasibility, orthopt, read_npy, stdout};

const NAMES: [&str; 7] =
    ["l21-pca", "onmf", "procrustes", "brockett", "ica", "dictionary", "robust-subspace"];

/// A target of two columns for 40 rows.
fn target(dir: &Dir) {
    let b = faer::Mat::from_fn(40, 2, |i, k| ((3 * i + 5 * k + i * k) as f64).sin());
    orthopt_data::write_npy(&dir.path("b.npy"), b.as_ref()).unwrap();
}

fn beside(name: &str) -> &'static [&'static str] {
    if name == "procrustes" { &["--target", "b.npy"] } else { &[] }
}

/// Every one of them is in the list, is solved, and certified from the X that it has written; another feasible X is not critical.
#[test]
fn each_is_solved_and_its_x_certified() {
    let dir = Dir::new();
    target(&dir);
    let list = stdout(&mut orthopt(&["list", "problems"]));
    for name in NAMES {
        assert!(list.contains(name), "{list}");
        let task = [&[name, "randn:40:6:3"][..], beside(name)].concat();
        let solve = [&["solve"][..], &task, &["-r", "2", "--save-x", "x.npy"]].concat();
        let found = dir.json(&solve);
        let x = read_npy(&dir.path("x.npy"));
        assert!((x.len(), x[0].len()) == (6, 2) && feasibility(&x) <= 1e-12, "{name}");
        assert_eq!(found["problem"], name);
        let lambda = found["lambda"].as_f64().map(|l| l.to_string());
        let lambda: Vec<&str> = lambda.as_deref().map_or(vec![], |l| vec!["--lambda", l]);
        let certify = [&["certify"][..], &task, &lambda, &["--x", "x.npy"]].concat();
        let again = dir.json(&certify);
        let (f, g) = (found["objective"].as_f64().unwrap(), again["objective"].as_f64().unwrap());
        assert!((f - g).abs() <= 1e-12 * f.abs(), "{name}: {f} and {g}");
        let other = faer::Mat::from_fn(6, 2, |i, k| if i / 3 == k { 3f64.sqrt().recip() } else { 0.0 });
        orthopt_data::write_npy(&dir.path("x.npy"), other.as_ref()).unwrap();
        let wrong = dir.json(&certify);
        let [critical, apart] = [&again, &wrong].map(|object| object["criticality"].as_f64().unwrap());
        assert!(critical <= 1e-3 * apart, "{name}: {critical}, and {apart} of another X");
        assert!(wrong["objective"].as_f64().unwrap() > f, "{name}");
        let text = stdout(&mut dir.orthopt(&certify));
        assert!(!text.contains("interrupted"), "{text}");
    }
}

#[test]
fn a_penalty_makes_procrustes_loadings_sparse() {
    let dir = Dir::new();
    target(&dir);
    let solve = |more: &[&'static str]| {
        dir.json(&[&["solve", "procrustes", "randn:40:8:1", "--target", "b.npy"], more].concat())
    };
    let (plain, sparse) = (solve(&[]), solve(&["--penalty", "l1", "--lambda", "20"]));
    assert_eq!((&plain["rank"], &sparse["rank"]), (&2.into(), &2.into()));
    assert!(sparse["nnz"].as_u64().unwrap() < plain["nnz"].as_u64().unwrap());
    assert!(sparse["smooth"].as_f64().unwrap() > plain["smooth"].as_f64().unwrap() - 1e-9);
    assert!(plain["explained_variance"].is_null());
    let chosen = solve(&["--penalty", "l1"]);
    assert!(
        chosen["lambda"].as_f64().unwrap() > 0.0 && chosen["reasons"].to_string().contains("largest |E_ik|")
    );
    let rows = solve(&["--penalty", "l21", "--lambda", "20"]);
    assert!(rows["nnz"].as_u64().unwrap() % 2 == 0 && rows["nnz"].as_u64().unwrap() < 16);
}

/// The columns of X are eigenvectors in the order of their weights, the optimum is known, and the default is exact.
#[test]
fn components_come_in_the_order_of_their_weights() {
    let dir = Dir::new();
    let solve =
        |more: &[&'static str]| dir.json(&[&["solve", "brockett", "builtin:pitprops"], more].concat());
    let falling = solve(&["-r", "3", "--save-x", "x.npy"]);
    assert_eq!(falling["solver"], "spectral");
    let x = read_npy(&dir.path("x.npy"));
    let (f, optimum) = (falling["objective"].as_f64().unwrap(), falling["optimum"].as_f64().unwrap());
    assert!((f - optimum).abs() <= 1e-12 * f.abs());
    solve(&["--component-weights", "1,2,3", "--save-x", "y.npy"]);
    let y = read_npy(&dir.path("y.npy"));
    for k in 0..3 {
        let dot: f64 = (0..13).map(|i| x[i][k] * y[i][2 - k]).sum();
        assert!(dot.abs() > 1.0 - 1e-9, "{dot}");
    }
    let sparse = solve(&["-r", "3", "--penalty", "l1"]);
    assert!(sparse["nnz"].as_u64().unwrap() < 39 && sparse["lambda"].as_f64().unwrap() > 0.0);
    let last = solve(&["--component-weights=-2,-1"]);
    assert!(last["objective"].as_f64().unwrap() > 0.0 && last["rank"] == 2);
    let fails = |more: &[&'static str], parts: &[&str]| {
        dir.fails_in_one_line(&[&["solve", "brockett", "builtin:pitprops"], more].concat(), 2, parts);
    };
    fails(&["--component-weights", "2,x"], &["component-weights is 2,x", "finite numbers"]);
    fails(&["--component-weights", "2,1", "-r", "3"], &["--component-weights", "2 numbers for 3 components"]);
    fails(&["--nonzeros", "2"], &["--nonzeros"]);
    dir.fails_in_one_line(
        &["bound", "brockett", "builtin:pitprops", "--penalty", "l1"],
        2,
        &["no bound", "weights"],
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let dir = Dir::new();
    target(&dir);
    let procrustes = ["solve", "procrustes", "randn:40:6:3"];
    let fails = |more: &[&'static str], parts: &[&str]| {
        dir.fails_in_one_line(&[&procrustes[..], more].concat(), 2, parts);
    };
    fails(&[], &["--target"]);
    fails(&["--target", "b.npy", "--covariance"], &["--covariance"]);
    fails(&["--target", "b.npy", "--nonzeros", "2"], &["--nonzeros"]);
    fails(&["--target", "b.npy", "--linear", "randn"], &["--linear"]);
    dir.fails_in_one_line(
        &["solve", "pca", "randn:40:6:3", "--target", "b.npy"],
        2,
        &["--target", "procrustes"],
    );
    dir.fails_in_one_line(
        &["solve", "l21-pca", "randn:40:6:3", "--solver", "obcd"],
        2,
        &["every penalty but l21"],
    );
    dir.fails_in_one_line(&["bound", "l21-pca", "randn:40:6:3"], 2, &["no bound", "concave"]);
    dir.fails_in_one_line(&["solve", "ica", "laplace:9", "-r", "2"], 2, &["ica needs samples"]);
}
