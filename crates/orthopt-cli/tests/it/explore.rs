//! `orthopt explore`: from a table to components and the commands that repeat each step.

use crate::common::{Dir, orthopt, stdout};

/// Seven variables in two groups of three and one alone, 40 samples.
fn table() -> String {
    let mut text = String::from("a1,a2,a3,b1,b2,b3,alone\n");
    for i in 0..40 {
        let t = f64::from(i);
        let (a, b) = ((0.9 * t).sin(), (2.3 * t + 1.0).cos());
        let noise = |k: f64| 0.1 * ((3.7 + k) * t).sin();
        let row = [
            a + noise(1.0),
            a + noise(2.0),
            -a + noise(3.0),
            b + noise(4.0),
            2.0 * b + noise(5.0),
            b + noise(6.0),
            (5.1 * t).sin(),
        ];
        text += &(row.map(|v| v.to_string()).join(",") + "\n");
    }
    text
}

#[test]
fn planted_groups_are_found_and_each_step_can_be_repeated() {
    let dir = Dir::new();
    dir.write("t.csv", table());
    let found = dir.json(&["explore", "t.csv", "-r", "2"]);
    assert_eq!(found["nonzeros"], 3);
    assert_eq!(found["bends"], true);
    let solution = &found["solution"];
    let x: Vec<Vec<f64>> = serde_json::from_value(solution["x"].clone()).unwrap();
    for k in 0..2 {
        let support: Vec<usize> = (0..7).filter(|i| x[*i][k] != 0.0).collect();
        assert!(support == [0, 1, 2] || support == [3, 4, 5], "{support:?}");
    }
    // none repeats another, and the words say so
    assert!(found["answers"].to_string().contains("none repeats another"));
    let possible = found["most_possible"].as_f64().unwrap();
    let now = solution["explained_variance"]["total"].as_f64().unwrap();
    assert!(possible >= now - 1e-12, "{possible} {now}");
    let steps = found["steps"].as_array().unwrap();
    let commands: Vec<&str> = steps.iter().map(|step| step["command"].as_str().unwrap()).collect();
    // what is the default everywhere need not be said
    assert!(
        solution["explained_variance"]["maximised"] == "adjusted" && !commands.concat().contains("maximise")
    );
    assert!(commands[0].starts_with("orthopt path l0-pca t.csv --scale std --rank 2"), "{commands:?}");
    let again: Vec<&str> = commands[1].split(' ').skip(1).collect();
    let again = dir.json(&again);
    assert_eq!(again["x"], solution["x"]);
    let of = |words: &str| commands.iter().find(|command| command.contains(words)).expect("a step");
    let halves: Vec<&str> = of(" --stability ").split(' ').skip(1).collect();
    assert_eq!(dir.json(&halves)["stability"]["frequency"], solution["stability"]["frequency"]);
    // what the search proves needs no step of its own
    assert_eq!(
        solution["proof"].is_null(),
        commands.iter().any(|command| command.contains("orthopt bound "))
    );
    let bound = dir.json(&["bound", "l0-pca", "t.csv", "--scale", "std", "--rank", "2", "--nonzeros", "3"]);
    assert!(bound["bound"].as_f64().unwrap() <= again["objective"].as_f64().unwrap() + 1e-12);
}

/// Steps do a fixed amount of work: no answer depends on how fast the machine is.
#[test]
fn the_same_table_has_the_same_answers_for_any_number_of_threads() {
    let dir = Dir::new();
    dir.write("t.csv", table());
    let of = |threads: &str| dir.json(&["explore", "t.csv", "-r", "3", "--threads", threads]);
    let (one, three) = (of("1"), of("3"));
    for what in ["answers", "nonzeros", "most_possible"] {
        assert_eq!(one[what], three[what], "{what}");
    }
    for what in ["x", "stability", "global"] {
        assert_eq!(one["solution"][what], three["solution"][what], "{what}");
    }
    let path = |of: &serde_json::Value| -> Vec<f64> {
        of["path"].as_array().unwrap().iter().map(|point| point["objective"].as_f64().unwrap()).collect()
    };
    assert!(path(&one).len() > 2);
    assert_eq!(path(&one), path(&three));
}

/// A component with variables that halves of the rows do not agree on: there are components without as many, too.
#[test]
fn fewer_variables_where_halves_do_not_agree() {
    let dir = Dir::new();
    dir.write("t.csv", table());
    let sure = dir.json(&["explore", "t.csv", "-r", "2"]);
    assert!(sure["fewer"].is_null() && !sure["answers"].to_string().contains("halves agree on"));
    let found = dir.json(&["explore", "t.csv", "-r", "3"]);
    let matrix = |of: &serde_json::Value| -> Vec<Vec<f64>> { serde_json::from_value(of.clone()).unwrap() };
    let (x, often) = (matrix(&found["solution"]["x"]), matrix(&found["solution"]["stability"]["frequency"]));
    let agreed = |k: usize| (0..7).filter(|i| x[*i][k] != 0.0 && often[*i][k] >= 0.9).count().max(1);
    let counts: Vec<usize> = (0..3).map(agreed).collect();
    assert_eq!(found["fewer"]["nonzeros"], serde_json::json!(counts));
    let fewer = matrix(&found["fewer"]["solution"]["x"]);
    for (k, most) in counts.iter().enumerate() {
        assert!((0..7).filter(|i| fewer[*i][k] != 0.0).count() <= *most, "{counts:?} {fewer:?}");
    }
    let listed = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let steps = found["steps"].as_array().unwrap();
    let mut commands = steps.iter().filter_map(|step| step["command"].as_str());
    let command = commands.rfind(|text| text.ends_with(&format!(" --nonzeros {listed}"))).expect("a step");
    assert_eq!(
        dir.json(&command.split(' ').skip(1).collect::<Vec<_>>())["x"],
        found["fewer"]["solution"]["x"]
    );
    let page = stdout(&mut dir.orthopt(&["explore", "t.csv", "-r", "3", "--report", "p.html"]));
    for text in [page, dir.read("p.html")] {
        assert!(text.contains("With as many variables as halves of the rows agree on"), "{text}");
    }
}

#[test]
fn the_page_and_the_text_say_the_same() {
    let dir = Dir::new();
    dir.write("my table.csv", table().replace("alone", "<i>alone"));
    let text = stdout(&mut dir.orthopt(&["explore", "my table.csv", "-r", "2", "--report", "p.html"]));
    let page = dir.read("p.html");
    assert!(text.contains("How many variables in each component?"), "{text}");
    assert!(text.contains("orthopt solve l0-pca 'my table.csv' --scale std"), "{text}");
    for part in
        ["How many variables in each component?", "How far from the best?", "<svg ", "To repeat a step"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<i>alone") && !page.contains("NaN"));
}

#[test]
fn c_itself_is_taken_as_it_is() {
    let dir = Dir::new();
    let found = dir.json(&["explore", "builtin:pitprops", "-r", "2", "--maximise", "variance"]);
    assert_eq!(found["solution"]["data"]["scale"], "none");
    let command = found["steps"][1]["command"].as_str().unwrap();
    assert!(!command.contains("--scale") && command.contains("--maximise variance"), "{command}");
    // what is not available is refused with a reason
    let output = dir.orthopt(&["explore", "builtin:pitprops", "--scale", "std"]).assert().failure();
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("C itself"));
}

#[test]
fn options_of_other_calls_are_refused_and_bad_tables_are_told() {
    let dir = Dir::new();
    dir.write("t.csv", table());
    dir.write("one.csv", "a,b\n1,2\n");
    for args in
        [&["explore", "t.csv", "--lambda", "1"][..], &["explore", "t.csv", "--solver", "obcd"], &["explore"]]
    {
        dir.orthopt(args).assert().code(2);
    }
    dir.orthopt(&["explore", "one.csv"]).assert().code(1);
    dir.orthopt(&["explore", "t.csv", "-r", "8"]).assert().failure();
}

#[test]
fn two_variables_and_variables_without_variance() {
    let dir = Dir::new();
    dir.write("two.csv", "a,b\n1,2\n2,1\n3,5\n4,3\n");
    let found = dir.json(&["explore", "two.csv"]);
    assert!(found["nonzeros"].as_u64().unwrap() <= 2);
    dir.write("constant.csv", "a,b,c,d\n1,2,7,0\n2,1,7,1\n3,5,7,0\n4,3,7,2\n5,9,7,1\n");
    let found = dir.json(&["explore", "constant.csv", "-r", "2"]);
    assert!(found["solution"]["feasibility"].as_f64().unwrap() < 1e-12);
}

/// A file where a command is expected is analysed; what is neither is refused with a reason.
#[test]
fn a_file_alone_is_explored() {
    let text = stdout(&mut orthopt(&["builtin:pitprops", "-r", "2"]));
    assert_eq!(text, stdout(&mut orthopt(&["explore", "builtin:pitprops", "-r", "2"])));
    assert!(text.contains("Which components?\n  together they have "), "{text}");
    assert!(text.contains("(PCA with as many components "), "{text}");
    // the components stand below the answer, before the next question
    let [answer, table, next] =
        ["Which components?", "component  nonzeros", "How far from the best?"].map(|part| text.find(part));
    assert!(answer < table && table < next && next.is_some(), "{text}");
    let dir = Dir::new();
    dir.write("c.csv", "2,1,0\n1,3,0\n0,0,1\n");
    let of_c = ["--gram", "c.csv", "-r", "2"];
    let named = stdout(&mut dir.orthopt(&[&["explore"][..], &of_c].concat()));
    assert_eq!(stdout(&mut dir.orthopt(&of_c)), named);
    dir.fails_in_one_line(&["no-such-table.csv"], 1, &["no-such-table.csv"]);
    dir.fails(&["slove"], 2, &["unrecognized subcommand 'slove'", "solve", "there is no file 'slove'"]);
    dir.fails_in_one_line(&["b.csv"], 1, &["`b.csv`: no such file; did you mean `c.csv`?"]);
}
