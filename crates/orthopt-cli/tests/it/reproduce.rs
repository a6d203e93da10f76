//! `reproduce`: the papers' tables by one command, in a version that takes seconds.

use crate::common::{Dir, orthopt, stdout};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

/// Two methods of the table for nonnegative PCA, so short that they are the same every time.
const SHORT: [&str; 10] = [
    "reproduce",
    "obcd/table5",
    "--datasets",
    "randn",
    "--ranks",
    "20",
    "--max-iters",
    "20",
    "--methods",
    "OBCD-R,LADMM",
];

fn records(dir: &Dir) -> Vec<std::path::PathBuf> {
    let folder = dir.path("reproduction/records/obcd-table5");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn the_list_names_every_table_and_says_what_is_missing() {
    let text = stdout(&mut orthopt(&["reproduce", "list"]));
    for name in ["obcd/table1", "obcd/table8", "oadmm/figure5", "jobcd/figure12", "not here"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    for (item, cells) in
        [("obcd/table1", 40), ("jobcd/table2", 10), ("jobcd/table3", 3), ("jobcd/table5", 62)]
    {
        let entry =
            text.split(&format!("{item}\n")).nth(1).expect(item).split("\n    not here").nth(1).unwrap();
        let line = entry.lines().nth(1).unwrap();
        assert!(line.contains(&format!("the paper's numbers of {cells} cells")), "{item}: {line}");
    }
    let table4 = text.split("jobcd/table4\n").nth(1).unwrap();
    assert!(!table4.lines().take(4).any(|line| line.contains("the paper's numbers")), "{table4}");
}

/// The JOBCD paper prints F and no differences from an F_min; its p may differ from ours.
#[test]
fn the_f_of_the_jobcd_paper_stands_below_ours_and_is_not_compared() {
    let dir = Dir::new();
    let short = ["--datasets", "randn10", "--methods", "J-JOBCD,UMCM", "--max-iters", "2", "-q"];
    let text = stdout(&mut dir.orthopt(&[&["reproduce", "jobcd/table2"], &short[..]].concat()));
    let row = text.lines().find(|line| line.contains("paper, its draw")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words[3..], ["5", "90", "F:", "-42.3", "(8e-9)", "-84.6", "(8e-7)"], "{text}");
    assert!(text.contains("not compared with ours") && text.contains("no lower bound"), "{text}");
    let csv = dir.read("reproduction/jobcd-table2.csv");
    assert!(csv.lines().all(|line| line.starts_with("item") || line.contains(",,,")), "{csv}");
    let ends = |method: &str, end: &str| csv.lines().any(|line| line.contains(method) && line.ends_with(end));
    assert!(ends("J-JOBCD", ",0.00000075,-84.6") && ends("UMCM", ",0.0000000084,-42.3"), "{csv}");
}

#[test]
fn news20_is_another_data_set_than_20news() {
    let dir = Dir::new();
    let row =
        |i: usize| (0..60).map(|k| ((i * k + i) as f64).sin().to_string()).collect::<Vec<_>>().join(",");
    dir.write("news20.csv", (0..70).map(|i| row(i) + "\n").collect::<String>());
    let task = [
        "reproduce",
        "jobcd/table5",
        "--data-dir",
        ".",
        "--datasets",
        "news20,20News",
        "--signatures",
        "0.5",
    ];
    let short = ["--methods", "J-JOBCD", "--max-iters", "2", "--time-limit", "30", "-q"];
    let text = stdout(&mut dir.orthopt(&[&task[..], &short].concat()));
    assert!(text.contains("news20* (70 x 50)") && text.contains("-7.03 (6e-8)"), "{text}");
    assert!(text.contains("20News (no file in"), "{text}");
}

#[test]
fn a_cell_is_a_row_with_the_papers_numbers_below_it_and_files_beside() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&SHORT));
    assert!(text.contains("randn* (500 x 1000)") && text.contains("paper"), "{text}");
    assert!(text.contains("-11000") && text.contains("best OBCD variant"), "the paper's F_min: {text}");
    assert!(!text.contains("s beside the paper's"), "the same seconds: {text}");
    let short = stdout(&mut dir.orthopt(&[&SHORT[..], &["--time-limit", "9"]].concat()));
    assert!(short.contains("distribution, ours after 9 s beside the paper's after"), "{short}");
    for name in ["obcd-table5.csv", "obcd-table5.json", "obcd-table5.md", "reproduction.md", "index.html"] {
        assert!(dir.path("reproduction").join(name).is_file(), "{name}");
    }
    let all: serde_json::Value = serde_json::from_str(&dir.read("reproduction/obcd-table5.json")).unwrap();
    let of = |method: &str| all.as_array().unwrap().iter().find(|r| r["method"] == method).unwrap().clone();
    assert_eq!(of("OBCD-R")["options"][0], "nonneg-pca");
    assert!(of("LADMM")["feasibility"].as_f64().unwrap() <= 1e-12);
    assert!(dir.read("reproduction/index.html").contains("<svg"));
    assert_eq!(dir.read("reproduction/obcd-table5.csv").lines().count(), 3);
}

#[test]
fn a_bound_is_a_column_with_the_gap() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&[&SHORT[..], &["--bound", "6"]].concat()));
    assert!(text.contains("gap of F_min, %"), "{text}");
    let kept: Vec<_> = records(&dir).into_iter().filter(|p| p.to_string_lossy().contains("bound6")).collect();
    assert_eq!(kept.len(), 1);
    let bound: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&kept[0]).unwrap()).unwrap();
    assert!(bound["bound"].as_f64().unwrap() < 0.0);
    // the bound that was kept, beside the lowest F
    let again = dir.orthopt(&[&SHORT[..], &["--bound", "6"]].concat()).output().unwrap();
    assert!(!String::from_utf8_lossy(&again.stderr).contains("bound"), "computed again");
    assert!(!stdout(&mut dir.orthopt(&SHORT)).contains("gap of F_min"));
}

#[test]
fn the_landscapes_need_no_data() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&["reproduce", "obcd/figure2"]));
    assert!(text.contains("(27): 4 critical points") && text.contains("(28): 16 critical points"), "{text}");
    assert!(dir.read("reproduction/obcd-figure2.svg").contains("block stationary"));
    assert!(dir.read("reproduction/index.html").contains("problem (28)"));
    assert_eq!(dir.read("reproduction/obcd-figure2.csv").lines().count(), 21);
}

#[test]
fn what_is_finished_is_not_run_again() {
    let dir = Dir::new();
    dir.orthopt(&SHORT).assert().success().stderr(contains("OBCD-R").and(contains("LADMM")));
    let files = records(&dir);
    assert_eq!(files.len(), 2);
    // an interrupted run leaves some records, whole ones only
    std::fs::write(&files[1], "{\"item\": \"obcd").unwrap();
    let before = std::fs::read_to_string(&files[0]).unwrap();
    let again = dir.orthopt(&SHORT).assert().success();
    let said = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert_eq!(said.matches("run:").count(), 1, "{said}");
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), before);
}

#[test]
fn a_record_made_with_other_options_is_run_again() {
    let dir = Dir::new();
    dir.orthopt(&SHORT).assert().success();
    let file = &records(&dir)[0];
    let mut record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert!(record.to_string().contains("\"--max-iters\",\"20\""), "{record}");
    record.as_object_mut().unwrap().remove("checksum");
    let other = record.to_string().replace("\"--max-iters\",\"20\"", "\"--max-iters\",\"19\"");
    let mut other: serde_json::Value = serde_json::from_str(&other).unwrap();
    other["checksum"] = format!("{:08x}", crc32fast::hash(other.to_string().as_bytes())).into();
    std::fs::write(file, other.to_string()).unwrap();
    let again = dir.orthopt(&SHORT).assert().success();
    let said = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(said.matches("run:").count() == 1 && !said.contains("damaged"), "{said}");
    assert!(std::fs::read_to_string(file).unwrap().contains("\"--max-iters\",\"20\""));
}

/// Records are evidence: a figure that somebody changed is not believed.
#[test]
fn an_edited_record_is_run_again() {
    let dir = Dir::new();
    dir.orthopt(&SHORT).assert().success();
    let file = &records(&dir)[0];
    let text = std::fs::read_to_string(file).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    let f = record["report"]["objective"].as_f64().or(record["objective"].as_f64()).unwrap().to_string();
    assert!(text.contains(&f), "{text}");
    std::fs::write(file, text.replace(&f, "-999999999.0")).unwrap();
    let again = dir.orthopt(&SHORT).assert().success();
    let said = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(said.contains("damaged or was edited") && said.matches("run:").count() == 1, "{said}");
    assert!(!std::fs::read_to_string(file).unwrap().contains("-999999999"));
}

#[test]
fn a_figure_draws_the_records_of_its_table() {
    let dir = Dir::new();
    let task = |item: &'static str| {
        ["reproduce", item, "--datasets", "randn100", "--max-iters", "30", "--methods", "GS-JOBCD"]
    };
    dir.orthopt(&task("jobcd/table2")).assert().success().stderr(contains("run:"));
    let all: serde_json::Value = serde_json::from_str(&dir.read("reproduction/jobcd-table2.json")).unwrap();
    let options: Vec<&str> =
        all[0]["options"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    // the item wants 300 variables, the data have 100
    assert!(options.windows(2).any(|w| w == ["--features", "100"]), "{options:?}");
    dir.orthopt(&task("jobcd/figure1")).assert().success().stderr(contains("run:").not());
    assert!(dir.read("reproduction/index.html").contains("jobcd/figure1"));
}

/// One epoch of each on facts of the paper's number; the second figure draws the same runs over time.
#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn a_graph_is_trained_by_each_method_on_a_part_of_the_papers_sizes() {
    let dir = Dir::new();
    let folder = crate::common::shared("wn18rr_train.tsv.gz").parent().unwrap().display().to_string();
    let task = |item: &str| {
        let mut command = dir.orthopt(&["reproduce", item, "--max-iters", "1", "--time-limit", "600"]);
        command.args(["--data-dir", &folder]);
        command
    };
    let text = stdout(&mut task("jobcd/figure11"));
    assert!(text.contains("545 facts for training and 233 for testing, 208 entities, 5 relations"), "{text}");
    let table = dir.read("reproduction/jobcd-figure11.csv");
    for name in ["CSDM", "J-JOBCD", "VR-J-JOBCD"] {
        assert!(table.contains(&format!("1,{name},1,")), "{name}: {table}");
    }
    let part = "reproduction/records/jobcd-figure11";
    assert_eq!(dir.read(&format!("{part}/train.tsv")).lines().count(), 545);
    assert_eq!(dir.read(&format!("{part}/test.tsv")).lines().count(), 233);
    let svg = dir.read("reproduction/jobcd-figure11.svg");
    assert!(svg.contains("MRR of test") && svg.matches("</svg>").count() == 1);
    let again = task("jobcd/figure12").assert().success().stderr(contains("run:").not());
    let shown = String::from_utf8_lossy(&again.get_output().stdout).into_owned();
    assert!(shown.contains("seconds") && shown.contains("VR-J-JOBCD"), "{shown}");

    // the command that the page gives has the same numbers
    let given = text.lines().find_map(|line| line.strip_prefix("One run by itself: orthopt ")).unwrap();
    let mut words: Vec<&str> = given.split(' ').collect();
    words.extend(["--json", "-", "-q", "--threads", "1"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&mut dir.orthopt(&words))).unwrap();
    let kept = dir.read(&format!("{part}/t600_csdm.json"));
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["history"][0]["loss"], json["history"][0]["loss"]);
    assert_eq!(kept["history"][0]["valid"], json["history"][0]["valid"]);
}

#[test]
fn what_cannot_be_done_is_said() {
    let dir = Dir::new();
    dir.orthopt(&["reproduce", "obcd/table99"]).assert().code(2).stderr(contains("obcd/table8"));
    let graph =
        |more: &[&'static str]| dir.orthopt(&[&["reproduce", "jobcd/figure9"], more].concat()).assert();
    graph(&["--methods", "OBCD-R"]).code(2).stderr(contains("CSDM, J-JOBCD, VR-J-JOBCD"));
    graph(&["--data-dir", ".", "-q"]).code(1).stdout(contains("fb15k_partial_valid.tsv.gz is not there"));
    let no = |more: &[&'static str]| dir.orthopt(&[&["reproduce", "obcd/table2"], more].concat()).assert();
    no(&["--datasets", "mnist"]).code(2).stderr(contains("'mnist'"));
    no(&["--methods", "ADMMM"]).code(2).stderr(contains("SPM+OBCD-R"));
    no(&["--time-limit=-1"]).code(2);
    no(&["--datasets", "w1a", "-q"]).code(1).stderr(contains("no item could be run"));
    no(&["--datasets", "w1a", "-q"]).stdout(contains("--data-dir"));
    std::fs::write(dir.path("file"), "").unwrap();
    no(&["--datasets", "randn", "--out", "file/inside"]).code(1).stderr(contains("file/inside"));
}

#[test]
fn signatures_and_limits_are_axes_and_violations_stand_in_brackets() {
    let dir = Dir::new();
    let one = [
        "reproduce",
        "jobcd/table4",
        "--datasets",
        "randn10",
        "--methods",
        "J-JOBCD,ADMM",
        "--max-iters",
        "5",
    ];
    let axes = ["--signatures", "0.7,0.9", "--time-limit", "20,paper", "-q"];
    let text = stdout(&mut dir.orthopt(&[&one[..], &axes].concat()));
    // two signatures, and 20, 30, 60 and 90 seconds, for two methods
    assert_eq!(dir.read("reproduction/jobcd-table4.csv").lines().count(), 1 + 2 * 4 * 2, "{text}");
    assert!(text.contains("violation of the constraint") && text.contains("another draw"), "{text}");
    let all: serde_json::Value = serde_json::from_str(&dir.read("reproduction/jobcd-table4.json")).unwrap();
    assert!(all.as_array().unwrap().iter().all(|r| r["feasibility"].as_f64().unwrap() <= 1e-12));
    dir.orthopt(&[&one[..], &["--time-limit", "soon"]].concat()).assert().code(2).stderr(contains("paper"));
}

#[test]
fn a_file_of_the_user_is_taken_by_its_usual_name_and_not_called_the_papers() {
    let dir = Dir::new();
    let row =
        |i: usize| (0..12).map(|k| ((i * k + i) as f64).sin().to_string()).collect::<Vec<_>>().join(",");
    dir.write("TDT2.csv", (0..20).map(|i| row(i) + "\n").collect::<String>());
    let task = ["reproduce", "obcd/table5", "--data-dir", ".", "--datasets", "TDT2,sector", "--ranks", "10"];
    let short = ["--methods", "OBCD-R", "--max-iters", "3", "-q"];
    let text = stdout(&mut dir.orthopt(&[&task[..], &short].concat()));
    assert!(text.contains("TDT2* (20 x 12)") && text.contains("your own file"), "{text}");
    assert!(text.contains("paper, its data") && !text.contains("same data"), "{text}");
    assert!(text.contains("sector (no file in"), "{text}");
}
