//! `-r auto` and `-r 90%`: what they choose, what they say, and what they refuse.

use crate::common::{Dir, stdout};

/// Forty rows of six variables with two factors, a third that is noise, and a constant column.
fn table(dir: &Dir) {
    let noise =
        |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * i * 31 + i * j * 17) % 1000) as f64 / 500.0 - 1.0;
    let line = |i: usize| {
        let (f, g) = (2.0 * noise(i, 11), 2.0 * noise(i, 12));
        let cell = |j: usize| if j < 3 { f + 0.4 * noise(i, j) } else { g + 0.4 * noise(i, j) };
        (0..6).map(|j| cell(j).to_string()).collect::<Vec<_>>().join(",") + ",5\n"
    };
    dir.write("t.csv", "a,b,c,d,e,f,k\n".to_string() + &(0..40).map(line).collect::<String>());
}

#[test]
fn the_rule_its_numbers_and_its_name_are_told() {
    let dir = Dir::new();
    table(&dir);
    let solve = ["solve", "l0-pca", "t.csv", "--center", "--nonzeros", "3"];
    let auto = [&solve[..], &["-r", "auto"]].concat();
    let text = stdout(&mut dir.orthopt(&auto));
    assert!(
        text.contains("rank 2: 2 eigenvalues exceed the 95th percentile of 99 copies with permuted columns"),
        "{text}"
    );
    let object = dir.json(&auto);
    assert_eq!((&object["rank"], &object["scree"]["rule"]), (&2.into(), &"permutation".into()));
    let eigenvalues = object["scree"]["eigenvalues"].as_array().unwrap();
    assert_eq!(eigenvalues.len(), 7);
    assert!((eigenvalues.iter().map(|v| v.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);
    // threads, and the rows in any way they come
    assert_eq!(dir.json(&[&auto[..], &["--threads", "1"]].concat())["scree"], object["scree"]);
    let streamed = dir.json(&[&auto[..], &["--stream"]].concat());
    assert_eq!((&streamed["rank"], &streamed["scree"]["rule"]), (&2.into(), &"marchenko-pastur".into()));
    // a number, and the other commands
    assert!(dir.json(&[&solve[..], &["-r", "2"]].concat()).get("scree").is_none());
    let path = dir.json(&["path", "l0-pca", "t.csv", "--center", "-r", "auto", "--counts", "1,3"]);
    assert_eq!(path["rank"], 2);
    let bound = dir.json(&[
        "bound",
        "l0-pca",
        "t.csv",
        "--center",
        "-r",
        "auto",
        "--nonzeros",
        "3",
        "--time-limit",
        "1",
    ]);
    assert_eq!(bound["rank"], 2);
    let compared = dir.json(&[
        "compare",
        "l1-pca",
        "t.csv",
        "--center",
        "-r",
        "60%",
        "--solvers",
        "obcd",
        "--max-iters",
        "50",
    ]);
    assert_eq!(compared[0]["rank"], 2, "{compared}");
}

#[test]
fn a_share_counts_components_of_pca() {
    let dir = Dir::new();
    table(&dir);
    let share = |text: &str| dir.json(&["solve", "pca", "t.csv", "--center", "-r", text]);
    let all = share("99.99%");
    let shares: Vec<f64> =
        all["explained_variance"]["ratio"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(shares.len(), 6); // one of seven columns is constant
    for (text, wanted) in [("10%", 0.1), ("60%", 0.6), ("0.97", 0.97), ("98.5 %", 0.985)] {
        let expected = (1..=6).find(|r| shares[..*r].iter().sum::<f64>() >= wanted).unwrap();
        let found = share(text);
        assert_eq!(found["rank"], expected, "{text}");
        assert_eq!(found["scree"]["rule"], "share");
    }
    // of C itself, as of the rows
    let gram = dir.json(&["solve", "pca", "builtin:pitprops", "-r", "90%"]);
    assert_eq!(gram["rank"], 7);
    assert!(
        gram["reasons"][0].as_str().unwrap().starts_with(
            "rank 7: as many components of PCA explain 91.4 % of the variance, 6 of them 87.0 %"
        ),
        "{gram}"
    );
    // config files
    dir.write("run.toml", "problem = \"pca\"\ndata = \"t.csv\"\ncenter = true\nrank = 0.97\n");
    assert_eq!(dir.json(&["solve", "--config", "run.toml"])["rank"], share("97%")["rank"]);
    let printed = stdout(&mut dir.orthopt(&["solve", "pca", "t.csv", "-r", "auto", "--print-config"]));
    assert!(printed.contains("rank = \"auto\""), "{printed}");
}

#[test]
fn what_has_no_answer_is_refused_with_the_reason() {
    let dir = Dir::new();
    table(&dir);
    for bad in ["0%", "100%", "101%", "-3%", "1.5", "many"] {
        let rank = format!("--rank={bad}");
        dir.fails(&["solve", "l0-pca", "t.csv", &rank], 2, &["above 0% and below 100%"]);
    }
    let pitprops = ["solve", "l0-pca", "builtin:pitprops", "--nonzeros", "4", "-r"];
    dir.fails(&[&pitprops[..], &["auto"]].concat(), 2, &["C itself", "--rank 90%", "--samples"]);
    let with = dir.json(&[&pitprops[..], &["auto", "--samples", "180"]].concat());
    assert_eq!((&with["rank"], &with["scree"]["rule"]), (&3.into(), &"marchenko-pastur".into()));
    dir.fails(
        &[&pitprops[..], &["3", "--samples", "180"]].concat(),
        2,
        &["--samples needs a rank of auto: give --rank auto too, or leave it out"],
    );
    dir.fails(
        &["solve", "l0-pca", "t.csv", "-r", "auto", "--samples", "40"],
        2,
        &["--samples does not apply to samples: it is for C itself"],
    );
    dir.fails(
        &["solve", "hyperbolic-eig", "t.csv", "-r", "90%"],
        2,
        &["--rank is a number for hyperbolic-eig"],
    );
    dir.fails(&["solve", "nonlinear-eig", "laplace:9", "-r", "auto"], 2, &["--rank is a number"]);
    dir.orthopt(&["solve", "l0-pca", "t.csv", "-r", "2", "--nonzeros", "3", "--save-x", "x.npy", "-q"])
        .assert()
        .success();
    dir.fails(&["bound", "l0-pca", "t.csv", "--x", "x.npy", "-r", "auto"], 2, &["--x has 2 columns"]);
}

#[test]
fn odd_tables_have_one_component() {
    let dir = Dir::new();
    dir.write("one.csv", "1\n2\n4\n");
    dir.write("two.csv", "1,2,3\n4,0,9\n");
    dir.write("flat.csv", "1,1\n1,1\n1,1\n");
    for (file, words) in
        [("one.csv", "no eigenvalue"), ("two.csv", "no eigenvalue"), ("flat.csv", "no eigenvalue")]
    {
        for more in [&["--center"][..], &["--center", "--stream"]] {
            let found = dir.json(&[&["solve", "pca", file, "-r", "auto"][..], more].concat());
            assert_eq!(found["rank"], 1, "{file}");
            assert!(found["reasons"][0].as_str().unwrap().contains(words), "{found}");
        }
    }
}

#[test]
fn scree_shows_what_stands_out_of_noise() {
    let dir = Dir::new();
    table(&dir);
    let files = ["--plot-scree", "s.svg", "-q"];
    dir.orthopt(
        &[&["solve", "l0-pca", "t.csv", "--center", "--nonzeros", "3", "-r", "auto"][..], &files].concat(),
    )
    .assert()
    .success();
    let svg = dir.read("s.svg");
    for part in
        ["95th percentile of noise", "eigenvalue of C", "r = 2", "2 eigenvalues above", "component of PCA"]
    {
        assert!(svg.contains(part), "no `{part}`");
    }
    // the rank given, and C itself, which has no noise to compare with
    dir.orthopt(
        &[&["solve", "l0-pca", "builtin:pitprops", "--nonzeros", "3", "-r", "4"][..], &files].concat(),
    )
    .assert()
    .success();
    let svg = dir.read("s.svg");
    assert!(svg.contains("r = 4") && !svg.contains("95th percentile of noise"));
}

#[test]
fn cells_choose_a_point_too() {
    let dir = Dir::new();
    table(&dir);
    let path = ["path", "l0-pca", "t.csv", "--center", "-r", "2", "--counts", "1,2,3,5,7", "--cv", "5"];
    let cells = dir.json(&[&path[..], &["--cv-by", "cells"]].concat());
    assert_eq!((&cells["validated_by"], &cells["rule"]), (&"cells".into(), &"cross-validation".into()));
    assert_eq!(
        cells["points"][cells["chosen"].as_u64().unwrap() as usize]["at"],
        3.0,
        "{}",
        cells["validation"]
    );
    let rows = dir.json(&path);
    assert_eq!(rows["validated_by"], "rows");
    assert_ne!(rows["validation"], cells["validation"]);
    let text = stdout(&mut dir.orthopt(&[&path[..], &["--cv-by", "cells"]].concat()));
    assert!(text.contains("held-out cells"), "{text}");
    let by = |more: &[&'static str]| [&["path", "l0-pca", "t.csv", "--center", "-r", "2"][..], more].concat();
    dir.fails(&by(&["--cv", "2", "--cv-by", "cells"]), 2, &["cv is 2", "from 3 to 40"]);
    dir.fails(&by(&["--cv", "5", "--cv-by", "columns"]), 2, &["rows or cells"]);
    dir.fails(&by(&["--cv-by", "cells"]), 2, &["--cv"]);
    dir.write("one.csv", "1\n2\n4\n");
    dir.fails(&["path", "l0-pca", "one.csv", "-r", "1", "--cv", "3", "--cv-by", "cells"], 2, &["2 columns"]);
    dir.fails(
        &["path", "l0-pca", "builtin:pitprops", "-r", "2", "--cv", "3", "--cv-by", "cells"],
        2,
        &["C itself"],
    );
}

/// Without time for the eigenvalues there is a number by default, which says so; a share that is asked for is kept or refused.
#[test]
fn without_time_the_rule_gives_way_to_the_default() {
    let dir = Dir::new();
    table(&dir);
    let solve = ["solve", "l0-pca", "t.csv", "--center", "--nonzeros", "3", "--time-limit", "0", "-r"];
    let object = dir.json(&[&solve[..], &["auto"]].concat());
    assert_eq!((&object["rank"], object.get("scree")), (&5.into(), None), "{object}");
    let reasons = object["reasons"].to_string();
    assert!(
        reasons.contains("auto: the time was over before the eigenvalues of the data were known"),
        "{reasons}"
    );
    assert_eq!(dir.json(&[&solve[..], &["2"]].concat())["rank"], 2);
}
