//! Every option of every call for every problem: it changes what comes out, or it is refused with the reason. The options
//! come from the help of the command, so that none is forgotten.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use orthopt::family::{Kind, PROBLEMS, ProblemInfo};
use serde_json::Value;

use crate::common::{Dir, orthopt, stdout};

/// Options that change no result, and why they need no problem to mean something.
const NO_RESULT: &[(&str, &str)] = &[
    ("help", "prints help"),
    ("help-all", "prints help"),
    ("help-constants", "prints help"),
    ("print-config", "prints options"),
    ("config", "is a file of other options"),
    ("max-memory", "is a limit of the machine"),
    ("threads", "X does not depend on it"),
    ("quiet", "is about what is printed"),
    ("verbose", "is about what is printed"),
    ("seed", "the answer is to be the same from any"),
    ("stream", "is how data are read"),
    ("header", "is how data are read"),
    ("na", "is how data are read"),
    ("decimal", "is how data are read"),
    ("thousands", "is how data are read"),
    ("layout", "is how data are read"),
    ("skip", "is how data are read"),
    ("strip", "is how data are read"),
    ("sheet", "is how data are read"),
];

/// Options of solvers. In `bound` they concern the X that the bound is compared with, and few variables have one best X.
const OF_SOLVERS: &[&str] = &[
    "alpha",
    "block",
    "candidates",
    "effort",
    "init",
    "jacobi",
    "max-iters",
    "min-decrease",
    "model",
    "restarts",
    "solver",
    "tol",
    "working-set",
];

/// Options that methods on pairs of rows share, and further starts. A search need not come to a solver that examines
/// them, and a further start need not be better.
const OF_PAIRS: &[&str] =
    &["alpha", "block", "candidates", "jacobi", "model", "restarts", "side", "working-set"];

/// Effect of an option that applies.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    /// Another result.
    Result,
    /// More or fewer lines of the summary.
    Summary,
    /// A file.
    File(&'static str),
    /// `p.svg` has another size, or its letters have.
    Size,
}

/// Value of an option, and the other options with and without it.
struct Example {
    typed: Vec<&'static str>,
    beside: Vec<&'static str>,
    effect: Effect,
}

fn example(call: &str, option: &str, info: &ProblemInfo) -> Example {
    let j = matches!(info.kind, Kind::HyperbolicEig | Kind::Probe);
    let value = |value: &'static str| (vec![value], vec![], Effect::Result);
    let flag = || (vec![], vec![], Effect::Result);
    let file = |name: &'static str| (vec![name], vec![], Effect::File(name));
    let beside =
        |value: &'static str, beside: &[&'static str]| (vec![value], beside.to_vec(), Effect::Result);
    let (typed, beside, effect) = match option {
        "gram" => value("c.csv"),
        "center" | "covariance" | "reproduction" | "jacobi" => flag(),
        "stream" => flag(),
        "reproducible" => flag(),
        "scale" => value("3"),
        "missing" => value("mean"),
        "names" => value("names.txt"),
        "labels" => (vec!["labels.txt"], vec!["--report", "r.html"], Effect::File("r.html")),
        "features" => value("5"),
        "storage" => value("gram"),
        "screen" => value("4"),
        "rank" => value("3"),
        "samples" => value("50"),
        "lambda" if call == "path" => value("0.3"),
        "lambda" => value("0.7"),
        "lambda-share" => value("0.31"),
        "relative-lambda" => value("0.3"),
        "nonzeros" => value("2"),
        "total-nonzeros" => value("5"),
        "variables" => value("3"),
        "constraint" => beside("uncorrelated", &["--nonzeros", "3"]),
        "maximise" => beside("explained", &["--nonzeros", "3"]),
        "order" => beside("sequential", &["--nonzeros", "3"]),
        "min-nonzeros" => beside("2", &["--total-nonzeros", "6"]),
        "max-nonzeros" => beside("2", &["--total-nonzeros", "6"]),
        "penalty" if info.penalty == "scad" => value("mcp"),
        "columns" => value("1-8"),
        "drop" => value("1"),
        "row-names" => value("1"),
        "drop-rows" => value("1"),
        "footer" => value("1"),
        "weights" => value("1"),
        "transpose" => flag(),
        "nearest" => flag(),
        "penalty" => value("scad"),
        "k" => value("3"),
        "map" => value("differences"),
        "signature" => value("2"),
        "ridge" => value("0.5"),
        "distances" => value("d.npy"),
        "radius" => value("2"),
        "placement" => value("before"),
        "linear" => value("randn:3"),
        "target" => value("b.npy"),
        "component-weights" => value("3,1"),
        "solver" if j => value("csdm"),
        "solver" if info.kind == Kind::NonlinearEig => value("obcd-approx"),
        "solver" | "solvers" if matches!(info.kind, Kind::Samples(_)) => value("optm-cayley"),
        "solver" if matches!(info.kind, Kind::Pca | Kind::Procrustes | Kind::Brockett) => value("ladmm"),
        "solver" => value("radmm"),
        "solvers" if j => value("csdm"),
        "solvers" if info.kind == Kind::NonlinearEig => value("obcd-approx"),
        "solvers" if matches!(info.kind, Kind::Pca | Kind::Procrustes | Kind::Brockett) => value("ladmm"),
        "solvers" => value("radmm"),
        "init" if j => value("identity"),
        "init" if info.kind == Kind::NonlinearEig => value("eigen"),
        "init" if info.penalty == "nonneg" => value("partition"),
        "init" if info.penalty == "none" => value("identity"),
        "init" => value("random"),
        "effort" => value("thorough"),
        "restarts" => value("1"),
        "seed" if call == "certify" => beside("5", &["--sample", "3"]),
        "seed" => value("5"),
        "max-iters" => value("1"),
        "time-limit" => value("0"),
        "tol" => value("0.5"),
        "min-decrease" => value("1000"),
        "working-set" => value("random"),
        "block" => value("3"),
        "model" => value("diagonal"),
        "alpha" => value("0.5"),
        "candidates" => beside("3", &["--working-set", "greedy-sv"]),
        "side" => value("columns"),
        "certify" => (vec![], vec![], Effect::Summary),
        "certify-sample" => value("4"),
        "bound" => (vec!["1"], vec![], Effect::Summary),
        "stability" => (vec!["2"], vec![], Effect::Summary),
        "plot-stability" => (vec!["p.svg"], vec!["--stability", "2"], Effect::File("p.svg")),
        "title" => value("Pines"),
        "plot-width" => (vec!["400"], vec!["--plot", "p.svg"], Effect::Size),
        "font-size" => (vec!["9"], vec!["--plot", "p.svg"], Effect::Size),
        "top" => (vec!["2"], vec![], Effect::Summary),
        "json" => file("other.json"),
        "trace" => file("t.csv"),
        "save-x" => file("x2.npy"),
        "save-loadings" => file("l.csv"),
        "save-sorted-loadings" => file("l.csv"),
        "save-scores" => file("s.csv"),
        "plot" => file("p.svg"),
        "plot-loadings" => file("p.svg"),
        "plot-scores" => file("p.svg"),
        "plot-biplot" => file("p.svg"),
        "plot-correlations" => file("p.svg"),
        "plot-variance" => file("p.svg"),
        "plot-scree" => file("p.svg"),
        "report" => file("r.html"),
        "x" => beside("x.npy", &[]),
        "nodes" => value("0"),
        "save-dual" => file("z.npz"),
        "proof" => file("proof.json"),
        "counts" => value("1,3"),
        "lambdas" => value("0.5,0.1"),
        "cv" => value("3"),
        "cv-by" => beside("cells", &["--cv", "3"]),
        "save-path" => file("path.csv"),
        "sample" => value("4"),
        "blocks" => value("3"),
        "block-samples" => beside("2", &["--blocks", "3"]),
        "block-starts" => beside("1", &["--blocks", "3"]),
        "global" => value("1"),
        "verbose" => flag(),
        other => panic!("{call} has --{other}, for which this test has no example: add one"),
    };
    Example { typed, beside, effect }
}

/// Files that options name, and data: rows that are neither centred nor of one scale, with one value missing in `missing.csv`.
fn files(dir: &Dir) {
    let entry = |i: usize, j: usize| {
        let shared = ((i * i + 3 * i) % 7) as f64;
        let own = ((7 * i + 5 * j + i * j * j) % 11) as f64;
        shared * (1.0 + j as f64 * 0.3) + own * 0.5 + 1.0
    };
    let table = |hole: Option<(usize, usize)>| -> String {
        let line = |i: usize| {
            let cell = |j| if hole == Some((i, j)) { "NA".into() } else { format!("{}", entry(i, j)) };
            (0..14).map(cell).collect::<Vec<_>>().join(",") + "\n"
        };
        "a,b,c,d,e,f,g,h,i,j,k,l,m,n\n".to_string() + &(0..24).map(line).collect::<String>()
    };
    dir.write("a.csv", table(None));
    dir.write("missing.csv", table(Some((3, 2))));
    dir.write("names.txt", (0..14).map(|k| format!("v{k}\n")).collect::<String>());
    dir.write("labels.txt", "p\nq\n".repeat(12));
    let c = |i: usize, j: usize| (0..24).map(|k| entry(k, i) * entry(k, j)).sum::<f64>();
    let row = |i: usize| (0..14).map(|j| c(i, j).to_string()).collect::<Vec<_>>().join(",") + "\n";
    dir.write("c.csv", (0..14).map(row).collect::<String>());
    let d = faer::Mat::from_fn(24, 24, |i, j| (i as f64 - j as f64).abs());
    orthopt_data::write_npy(&dir.path("d.npy"), d.as_ref()).unwrap();
    let b = faer::Mat::from_fn(24, 2, |i, k| ((i + 3 * k) % 5) as f64);
    orthopt_data::write_npy(&dir.path("b.npy"), b.as_ref()).unwrap();
}

/// The long options in the help of a call.
fn options(call: &str) -> Vec<String> {
    let help = stdout(&mut orthopt(&[call, "--help-all"]));
    let names = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = if line.starts_with('-') && !line.starts_with("--") { line.get(4..)? } else { line };
        let name = line.strip_prefix("--")?;
        let end = name.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(name.len());
        (!name[..end].is_empty()).then(|| name[..end].to_string())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Output without the parts that depend on the clock.
#[derive(PartialEq, Debug)]
struct Outcome {
    code: Option<i32>,
    stderr: String,
    json: Value,
    text: String, // without numbers, which are times among others
}

fn outcome(dir: &Dir, args: &[&str]) -> Outcome {
    let output = dir.orthopt(args).env("RAYON_NUM_THREADS", "1").output().unwrap();
    let mut json = serde_json::from_slice(&std::fs::read(dir.path("out.json")).unwrap_or_default())
        .unwrap_or(Value::Null);
    let _ = std::fs::remove_file(dir.path("out.json"));
    timeless(&mut json);
    Outcome {
        code: output.status.code(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        json,
        text: String::from_utf8_lossy(&output.stdout).replace(|c: char| c.is_ascii_digit(), ""),
    }
}

/// Times are left out, and settings too: that an option is repeated is no effect.
fn timeless(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| {
                !matches!(key.as_str(), "seconds" | "settings" | "constants" | "trace" | "seed" | "arms")
            });
            object.values_mut().for_each(timeless);
        }
        Value::Array(list) => list.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// The call for a problem, without the option that is examined.
fn base(call: &str, info: &ProblemInfo, option: &str) -> Vec<&'static str> {
    let j = matches!(info.kind, Kind::HyperbolicEig | Kind::Probe);
    let data = if option == "missing" { "missing.csv" } else { "a.csv" };
    let mut args = vec![info.name, data, "--json", "out.json"];
    if !j && call != "certify" && option != "rank" {
        args.extend(["-r", "2"]);
    }
    if call != "certify" {
        let dear = matches!(info.kind, Kind::Probe | Kind::NonlinearEig);
        args.extend(["--max-iters", if dear { "60" } else { "400" }]);
    }
    if info.kind == Kind::HyperbolicEig && !matches!(option, "ridge" | "reproduction") {
        args.extend(["--ridge", "0.1"]);
    }
    if info.kind == Kind::Procrustes && option != "target" {
        args.extend(["--target", "b.npy"]);
    }
    match call {
        "path" if !matches!(option, "counts" | "lambdas") => args.extend(["--counts", "3,6"]),
        "bound" if option == "nodes" => args.extend(["--time-limit", "2"]),
        "bound" if option == "time-limit" => args.extend(["--nodes", "20"]),
        "bound" => args.extend(["--time-limit", "2", "--nodes", "20"]),
        "certify" => args.extend(["--x", "x.npy"]),
        _ => {}
    }
    args
}

/// Outcomes of calls without the option that is examined, most of which are the same.
type Plain = HashMap<String, Outcome>;

/// A cell: what is wrong with it, if anything is.
fn judge(
    (dir, plain): (&Dir, &mut Plain),
    (call, option): (&'static str, &str),
    info: &ProblemInfo,
    tally: &Tally,
) -> Option<String> {
    let Example { typed, beside, effect } = example(call, option, info);
    let mut without = [&[call], &base(call, info, option)[..], &beside].concat();
    let flag = format!("--{option}");
    if option == "gram" {
        without.retain(|word| *word != "a.csv");
    }
    let mut with: Vec<&str> = without.clone();
    match (option, effect) {
        ("json", _) => with.retain(|word| !matches!(*word, "--json" | "out.json")),
        ("gram", _) => without.insert(2, "a.csv"),
        // another limit, in place of that of every call here: without any, runs take minutes
        ("max-iters", _) => {
            if let Some(at) = with.iter().position(|word| *word == "--max-iters") {
                with.drain(at..at + 2);
            }
        }
        ("x", _) if call == "certify" => return None, // asked for
        _ => {}
    }
    with.push(&flag);
    // values of flags stand behind an equals sign
    let joined =
        typed.first().filter(|_| matches!(option, "center" | "covariance")).map(|v| format!("{flag}={v}"));
    match &joined {
        Some(joined) => *with.last_mut().unwrap() = joined,
        None => with.extend(&typed),
    }
    if let Effect::File(name) = effect {
        let _ = std::fs::remove_file(dir.path(name));
    }
    let found = outcome(dir, &with);
    let cell = format!("{call} {} --{option} {}", info.name, typed.join(" "));
    if found.code == Some(2) || found.code == Some(1) {
        tally.refused.fetch_add(1, Ordering::Relaxed);
        // notes on the data stand before it
        let told = found.stderr.lines().filter(|line| line.starts_with("error: ")).count() == 1;
        return (!told).then(|| format!("{cell}: refused without a reason: {}", found.stderr));
    }
    let meant = match effect {
        _ if OF_PAIRS.contains(&option) => found.code == Some(0),
        _ if call == "bound" && OF_SOLVERS.contains(&option) => found.code == Some(0),
        Effect::Size => {
            let sized = size(dir);
            outcome(dir, &without);
            sized != size(dir)
        }
        Effect::File(name) => std::fs::metadata(dir.path(name)).is_ok_and(|m| m.len() > 0),
        Effect::Result | Effect::Summary => {
            let words = without.join(" ");
            let plain = plain.entry(words).or_insert_with(|| outcome(dir, &without));
            let failed = option == "missing" && plain.code == Some(1); // a value is missing
            let proved = option == "bound" && plain.json["proof"].is_string(); // without being asked
            failed
                || proved
                || plain.json != found.json
                || (effect == Effect::Summary && plain.text != found.text)
        }
    };
    tally.meant.fetch_add(usize::from(meant), Ordering::Relaxed);
    let said = if found.code == Some(0) { "changes nothing and is accepted".into() } else { found.stderr };
    (!meant).then(|| format!("{cell}: {said}"))
}

/// Width and sizes of letters of the picture.
fn size(dir: &Dir) -> Vec<String> {
    let svg = dir.read("p.svg");
    let of = |name: &str| {
        svg.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next().map(String::from))
    };
    ["<svg width", "font-size"].iter().filter_map(|name| of(name.trim_start_matches("<svg "))).collect()
}

#[derive(Default)]
struct Tally {
    refused: AtomicUsize,
    meant: AtomicUsize,
}

fn every_option(call: &'static str) {
    let names = options(call);
    assert!(names.len() > 20, "{call}: {names:?}");
    let (wrong, tally) = (Mutex::new(Vec::new()), Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let dir = Dir::new();
                files(&dir);
                while let Some(info) = PROBLEMS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let known = |name: &&String| NO_RESULT.iter().all(|(other, _)| other != name);
                    if call == "certify" {
                        let solve = base("solve", info, "");
                        dir.orthopt(&[&["solve"], &solve[..], &["--save-x", "x.npy", "--quiet"]].concat())
                            .output()
                            .unwrap();
                    }
                    let mut plain = Plain::new();
                    let alone = outcome(&dir, &[&[call], &base(call, info, "")[..]].concat());
                    if alone.code == Some(2) {
                        continue; // the call itself is refused for this problem
                    }
                    for name in names.iter().filter(known) {
                        let found = judge((&dir, &mut plain), (call, name), info, &tally);
                        wrong.lock().unwrap().extend(found);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let (meant, refused) = (tally.meant.into_inner(), tally.refused.into_inner());
    println!("{call}: {meant} options mean something, {refused} are refused");
    assert!(meant > 0 && refused > 0);
    assert!(wrong.is_empty(), "{} cells:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_option_of_solve_means_something_or_is_refused() {
    every_option("solve");
}

#[test]
fn every_option_of_compare_means_something_or_is_refused() {
    every_option("compare");
}

#[test]
fn every_option_of_path_means_something_or_is_refused() {
    every_option("path");
}

#[test]
fn every_option_of_bound_means_something_or_is_refused() {
    every_option("bound");
}

#[test]
fn every_option_of_certify_means_something_or_is_refused() {
    every_option("certify");
}
