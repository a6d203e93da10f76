//! `orthopt path`, and what `solve` does where no option says how sparse X is to be.

use crate::common::{Dir, stdout};

const PATH: [&str; 7] = ["path", "l0-pca", "builtin:pitprops", "-r", "3", "--counts", "2,1,4,8"];

#[test]
fn a_path_is_a_table_a_file_and_a_picture() {
    let dir = Dir::new();
    let files = ["--save-path", "p.csv", "--plot", "p.svg", "--save-loadings", "l.csv", "--save-x", "x.npy"];
    let text = stdout(&mut dir.orthopt(&[&PATH[..], &files].concat()));
    assert!(text.contains("4 points of 4") && text.contains("chosen        nonzeros 4, the knee"), "{text}");
    let table = dir.read("p.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(
        lines[0].starts_with("nonzeros,objective,nonzeros_of_x,nonzeros_1,nonzeros_2,nonzeros_3,projected")
    );
    let f: Vec<f64> =
        lines[1..].iter().map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!(f.windows(2).all(|w| w[1] <= w[0]), "{f:?}");
    assert!(lines[3].ends_with(",1") && lines[1].ends_with(",0"));
    let picture = dir.read("p.svg");
    assert!(picture.contains("together") && picture.contains("chosen by knee: nonzeros 4"));
    assert!(!picture.contains("projected"), "adjusted variance is what is maximised");
    assert!(dir.read("l.csv").starts_with("variable,PC1,PC2,PC3"));
    let checked = dir.json(&["certify", "l0-pca", "builtin:pitprops", "--x", "x.npy", "--nonzeros", "4"]);
    assert_eq!(checked["nnz"], 12);
}

#[test]
fn the_json_has_every_point_with_all_that_solve_says() {
    let dir = Dir::new();
    let object = dir.json(&[&PATH[..], &["--bound", "2"]].concat());
    assert_eq!(
        (&object["along"], &object["chosen"], &object["rule"]),
        (&"nonzeros".into(), &2.into(), &"knee".into())
    );
    let points = object["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    let bounds: Vec<f64> = points.iter().map(|p| p["bound"].as_f64().unwrap()).collect();
    assert!(bounds.windows(2).all(|w| w[1] <= w[0]), "{bounds:?}");
    for point in points {
        assert!(point["bound"].as_f64().unwrap() <= point["objective"].as_f64().unwrap());
        assert_eq!(point["x"].as_array().unwrap().len(), 13);
        assert!(point["explained_variance"]["projected"].as_f64().unwrap() > 0.0);
    }
    // one point alone is not better than the path
    let alone =
        dir.json(&["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--nonzeros", "4", "--effort", "quick"]);
    let (f, g) = (points[2]["objective"].as_f64().unwrap(), alone["objective"].as_f64().unwrap());
    assert!(f <= g + 1e-9 * (1.0 + g.abs()), "{f} {g}");
}

#[test]
fn the_picture_of_a_path_with_bounds_has_both_curves() {
    let dir = Dir::new();
    let drawn = |extra: &[&str], file: &str| {
        let args = ["path", "l0-pca", "builtin:pitprops", "-r", "2", "--counts", "2,5,8", "--plot", file];
        stdout(&mut dir.orthopt(&[&args[..], extra].concat()));
        dir.read(file)
    };
    let (without, with) = (drawn(&[], "a.svg"), drawn(&["--bound", "0.2"], "b.svg"));
    assert!(!without.contains("bound") && with.contains("together") && with.contains("bound"));
    let lines = |svg: &str| svg.matches("<polyline").count();
    assert!(lines(&with) > lines(&without), "{} {}", lines(&with), lines(&without));
}

#[test]
fn cross_validation_and_lambda() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&[
        "path",
        "l0-pca",
        "randn:40:8",
        "-r",
        "2",
        "--counts",
        "1,4,8",
        "--cv",
        "4",
    ]));
    assert!(text.contains("held out") && text.contains("within one standard error"), "{text}");
    let object = dir.json(&["path", "l1-pca", "randn:40:8", "-r", "2", "--lambdas", "1,20,5"]);
    assert_eq!(object["along"], "lambda");
    let at: Vec<f64> =
        object["points"].as_array().unwrap().iter().map(|p| p["at"].as_f64().unwrap()).collect();
    assert_eq!(at, [20.0, 5.0, 1.0]);
    assert!(object["validation"].is_null());
}

#[test]
fn what_is_no_path_is_refused() {
    let dir = Dir::new();
    let refused = |extra: &[&str], words: &[&str]| {
        let args = [&["path", "l0-pca", "builtin:pitprops"], extra].concat();
        dir.fails_in_one_line(&args, 2, words);
    };
    refused(&["--nonzeros", "3"], &["--nonzeros gives one point", "--counts"]);
    refused(&["--lambda", "0.1"], &["--lambda gives one point", "--lambdas"]);
    refused(&["--certify"], &["does not check pairs"]);
    refused(&["--restarts", "3"], &["--effort"]);
    refused(&["--trace", "t.csv"], &["not write a trace"]);
    refused(&["--init", "pca"], &["--init is an option of solve"]);
    refused(&["--plot", "p.gif"], &["must end in .svg, .png or .pdf"]);
    refused(&["--counts", "2", "--cv", "3"], &["--cv does not apply to C itself: it is for samples"]);
    refused(&["--counts", "0"], &["at least 1"]);
}

#[test]
fn without_lambda_the_number_of_nonzeros_is_chosen_and_said() {
    let dir = Dir::new();
    let text =
        stdout(&mut dir.orthopt(&["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--effort", "quick"]));
    assert!(text.contains("6 nonzeros in each component: the knee of the variance explained"), "{text}");
    assert!(
        text.contains("--nonzeros sets another number; the last ones correspond to --lambda 0.0"),
        "{text}"
    );
    let object = dir.json(&["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--nonzeros", "auto"]);
    assert_eq!(object["components"], serde_json::json!([6, 6, 6]));
    // a solver by name has no counts: lambda as ever
    let named = dir.json(&["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--solver", "obcd"]);
    assert!(named["lambda"].as_f64().unwrap() > 0.0);
    let relative = ["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--relative-lambda"];
    let single = dir.json(&[&relative[..], &["1.01"]].concat());
    assert_eq!(single["components"], serde_json::json!([1, 1, 1]));
    let text = stdout(&mut dir.orthopt(&[&relative[..], &["0.3"]].concat()));
    assert!(text.contains("0.3 of lambda_max 0.477"), "{text}");
    dir.fails_in_one_line(&[&relative[..], &["-1"]].concat(), 2, &["relative-lambda", "finite"]);
}

/// Wide standardised data: a few variables, not thousands.
#[test]
fn the_default_is_readable_on_wide_data() {
    let dir = Dir::new();
    let spec = ["solve", "l0-pca", "randn:30:900", "-r", "3", "--scale", "std", "--time-limit", "2"];
    let object = dir.json(&spec);
    for count in object["components"].as_array().unwrap() {
        assert!((2..=30).contains(&count.as_u64().unwrap()), "{object}");
    }
}

/// The number that a path says it has chosen is one of its points, whatever it is.
#[test]
fn what_is_chosen_is_said_in_full() {
    let dir = Dir::new();
    let path = |extra: &[&str]| {
        let output =
            dir.orthopt(&[&["path", "l0-pca", "builtin:pitprops", "-r", "2"][..], extra].concat()).output();
        let output = output.unwrap();
        let read = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (read(output.stdout), read(output.stderr))
    };
    let (text, said) = path(&["--counts", "2,99"]);
    assert!(text.contains("chosen        nonzeros 13, "), "{text}");
    assert!(said.contains("--counts exceeds the number of variables, 13"), "{said}");
    let (text, said) = path(&["--lambdas", "0"]);
    assert!(text.contains("chosen        lambda 0, ") && said.is_empty(), "{text}{said}");
    let (text, _) = path(&["--lambdas", "120000", "--effort", "quick"]);
    assert!(text.contains("chosen        lambda 120000, "), "{text}");
}

/// On data whose products are shared among threads: F and words of every point, where polishes end by their work, and where a solver is
/// named, which continues to its own end.
#[test]
fn points_are_the_same_for_any_number_of_threads() {
    let dir = Dir::new();
    let data = ["path", "l1-pca", "randn:60:2400:3", "-r", "3", "--lambdas", "20,60"];
    for solver in [&[][..], &["--solver", "irpg", "--max-iters", "400"]] {
        let points = |threads: &str| {
            let all = dir.json(&[&data[..], solver, &["--threads", threads]].concat());
            let word =
                |p: &serde_json::Value| (p["objective"].clone(), p["status"].clone(), p["message"].clone());
            all["points"].as_array().unwrap().iter().map(word).collect::<Vec<_>>()
        };
        let one = points("1");
        assert_eq!(one, points("3"), "{solver:?}");
        assert_eq!(one.len(), 2);
        let cut = one.iter().any(|p| p.2.as_str().is_some_and(|message| message.contains("all the work")));
        assert!(solver.is_empty() || !cut, "{one:?}");
    }
}
