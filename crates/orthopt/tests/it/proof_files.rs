//! Proofs that can be cited: what is written is checked, whatever made it, and nothing that was altered is.

use crate::common::{pitprops, table};
use faer::Mat;
use orthopt::RowMat;
use orthopt::bound::{Options, Prepared, ProofFile};
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Effort, Family, Limit, Request, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::smooth::Measure;
use orthopt::solve::Stopping;
use serde_json::{Value, json};

const US_ARRESTS: &str = include_str!("../tables/us_arrests.csv");
const IRIS: &str = include_str!("../tables/iris.csv");

fn posed(name: &str, c: &Mat<f64>, options: Request) -> AnyProblem {
    pose(find_problem(name).unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap().problem
}

fn limited(r: usize, measure: Measure, limit: Limit) -> Request {
    Request { rank: Some(r.into()), maximise: Some(measure), ..Request::default() }.with_limit(Some(limit))
}

fn each(k: usize) -> Limit {
    Limit::Nonzeros(vec![k])
}

fn x_of(p: &AnyProblem) -> RowMat {
    let wanted = Request { effort: Some(Effort::Normal), ..Request::default() };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let plan = p.plan(&wanted).unwrap();
    plan.run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap().x
}

/// The whole proof, written with one thread and with three.
fn by_threads(p: &AnyProblem) -> [String; 2] {
    [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| written("l0-pca", p, u64::MAX).unwrap())
    })
}

/// The file of a problem, as text.
fn written(name: &str, p: &AnyProblem, nodes: u64) -> orthopt::Result<String> {
    let x = x_of(p);
    let options = Options { nodes, keeps: true, ..Options::default() };
    let bound = p.lower_bound(Some(&x), &options, &Cancel::never(), &|_| ())?;
    let file = p.proof_file(name, (&bound, &x), Prepared::default(), &Cancel::never())?;
    Ok(file.text())
}

fn checked(name: &str, p: &AnyProblem, text: &str) -> Result<String, String> {
    let of_file = ProofFile::of_text(text).and_then(|file| p.check_proof(&file, name));
    of_file.map(|checked| checked.claim).map_err(|error| error.to_string())
}

/// Every kind of problem that can be cited, with what it proves.
#[test]
fn what_is_written_is_checked() {
    let arrests = table(US_ARRESTS);
    let (iris, pit) = (table(IRIS), pitprops());
    let lambda = |lambda| Request { rank: Some(2.into()), lambda: Some(lambda), ..Request::default() };
    let of_rank = |r: usize| Request { rank: Some(r.into()), ..Request::default() };
    for (name, c, options, proof) in [
        ("l0-pca", &arrests, limited(2, Measure::Adjusted, each(2)), Some("supports")),
        ("l0-pca", &arrests, limited(3, Measure::Adjusted, each(2)), Some("")),
        ("l0-pca", &arrests, limited(2, Measure::Polar, each(2)), Some("")),
        ("l0-pca", &iris, limited(2, Measure::Adjusted, each(2)), Some("optimal")),
        ("l0-pca", &pit, limited(2, Measure::Adjusted, each(3)), Some("supports")),
        ("l0-pca", &pit, limited(3, Measure::Adjusted, each(3)), Some("supports")),
        ("l0-pca", &pit, limited(2, Measure::Adjusted, Limit::Nonzeros(vec![4, 2])), Some("")),
        ("l0-pca", &pit, limited(2, Measure::Adjusted, Limit::Total(5)), Some("")),
        ("l0-pca", &pit, limited(2, Measure::Polar, Limit::Total(5)), Some("")),
        ("l0-pca", &pit, limited(2, Measure::Variance, each(3)), Some("optimal")),
        ("l0-pca", &pit, limited(2, Measure::Variance, Limit::Total(5)), Some("optimal")),
        ("l0-pca", &pit, limited(2, Measure::Variance, Limit::Nonzeros(vec![4, 2])), Some("optimal")),
        ("l0-pca", &pit, of_rank(2).with_limit(Some(Limit::Variables(4))), Some("optimal")),
        ("l0-pca", &pit, Request { lambda: Some(0.05), ..of_rank(2) }.with_limit(Some(each(3))), Some("")),
        ("l0-pca", &pit, lambda(0.2), Some("optimal")),
        ("nonneg-pca", &pit, of_rank(2), Some("optimal")),
        ("nonneg-pca", &pit, of_rank(2).with_limit(Some(each(3))), Some("optimal")),
        ("pca", &pit, of_rank(2), Some("optimal")),
    ] {
        let what = format!("{name} {options:?}");
        let p = posed(name, c, options);
        let text = match written(name, &p, u64::MAX) {
            Ok(text) => text,
            Err(error) => {
                // lists are for limits without lambda
                assert!(error.to_string().contains("no proof to write"), "{what}: {error}");
                assert!(what.contains("lambda: Some(0.05)"), "{what}: {error}");
                continue;
            }
        };
        let claim = checked(name, &p, &text).unwrap_or_else(|why| panic!("{what}: {why}"));
        let file: Value = serde_json::from_str(&text).unwrap();
        assert!(claim.starts_with("Of all ") && claim.ends_with('.'), "{what}: {claim}");
        assert!(file["bound"].as_f64().unwrap() <= file["objective"].as_f64().unwrap(), "{what}");
        match proof {
            Some("") => assert!(file["gap"].as_f64().unwrap() < 0.02, "{what}: {}", file["gap"]),
            Some(proof) => assert_eq!(file["proof"], proof, "{what}"),
            None => {}
        }
    }
}

/// Where C is zero nothing can be proved, and the refusal says so.
#[test]
fn a_zero_c_is_no_proof_of_lists() {
    let c = Mat::zeros(4, 4);
    for measure in [Measure::Adjusted, Measure::Polar] {
        let error =
            written("l0-pca", &posed("l0-pca", &c, limited(2, measure, each(2))), u64::MAX).unwrap_err();
        let said = error.to_string();
        assert!(said.ends_with("C is zero, so adjusted and polar variance are 0 for every X"), "{said}");
    }
}

/// A tree that is cut short proves what it has got to, and claims no supports.
#[test]
fn a_proof_that_was_cut_short_is_one_of_its_gap() {
    let p = posed("l0-pca", &pitprops(), limited(3, Measure::Adjusted, each(3)));
    let text = written("l0-pca", &p, 3).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert!(checked("l0-pca", &p, &text).is_ok() && file["proof"].is_null(), "{}", file["claim"]);
    let whole: Value = serde_json::from_str(&written("l0-pca", &p, u64::MAX).unwrap()).unwrap();
    assert!(file["gap"].as_f64().unwrap() > whole["gap"].as_f64().unwrap());
}

#[test]
fn threads_change_nothing_that_is_checked() {
    let p = posed("l0-pca", &pitprops(), limited(2, Measure::Adjusted, each(4)));
    let texts = by_threads(&p);
    for text in texts {
        checked("l0-pca", &p, &text).unwrap();
    }
}

/// Columns that repeat each other, fewer samples than variables, equal variances, one large variance.
#[test]
fn hostile_tables_are_written_and_checked() {
    let entry = |i: usize, j: usize| ((3 * i + 7 * j + i * j + 1) as f64 * 0.83).sin();
    type Entry<'a> = &'a dyn Fn(usize, usize) -> f64;
    let tables: [fn(Entry<'_>, usize, usize) -> f64; 5] = [
        |a, i, j| if i < 2 { a(i, j) } else { 0.0 },
        |a, i, j| a(i, j / 2),
        |_, i, j| f64::from(u8::from(i == j)),
        |a, i, j| if j == 0 { 1e4 * a(i, j) } else { a(i, j) },
        |a, i, j| a(i, j) + 3.0 * a(i, 0),
    ];
    for (kind, of) in tables.iter().enumerate() {
        let a = Mat::from_fn(8, 6, |i, j| of(&entry, i, j));
        let c = a.transpose() * &a;
        let c = Mat::from_fn(6, 6, |i, j| 0.5 * (c[(i, j)] + c[(j, i)]));
        for (r, measure, limit) in [
            (2, Measure::Adjusted, each(2)),
            (2, Measure::Adjusted, Limit::Total(5)),
            (2, Measure::Polar, each(3)),
            (3, Measure::Adjusted, each(2)),
        ] {
            let p = posed("l0-pca", &c, limited(r, measure, limit));
            match written("l0-pca", &p, 60) {
                Ok(text) => {
                    checked("l0-pca", &p, &text)
                        .unwrap_or_else(|why| panic!("{kind} {r} {measure:?}: {why}"));
                }
                // variances that are 1e8 times others leave no digits to these
                Err(error) if kind == 3 => {
                    assert!(
                        error.to_string().contains("no proof to write: rounding is in the way"),
                        "{error}"
                    );
                }
                Err(error) => panic!("{kind} {r} {measure:?}: {error}"),
            }
        }
    }
}

/// C of data in other units: the same claim of another F.
#[test]
fn units_are_those_of_the_data() {
    let c = pitprops();
    for exponent in [-300, -20, 7, 300] {
        let scaled = Mat::from_fn(13, 13, |i, j| c[(i, j)] * 2f64.powi(exponent));
        let p = posed("l0-pca", &scaled, limited(2, Measure::Adjusted, each(3)));
        let text = written("l0-pca", &p, u64::MAX).unwrap();
        checked("l0-pca", &p, &text).unwrap_or_else(|why| panic!("{exponent}: {why}"));
    }
}

#[test]
fn other_problems_and_tables_are_refused() {
    let c = pitprops();
    let text =
        written("l0-pca", &posed("l0-pca", &c, limited(2, Measure::Adjusted, each(3))), u64::MAX).unwrap();
    let mut other = c.clone();
    (other[(2, 7)], other[(7, 2)]) = (other[(2, 7)] + 1e-6, other[(7, 2)] + 1e-6);
    let exchanged = Mat::from_fn(13, 13, |i, j| {
        c[([1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][i], [1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][j])]
    });
    let twice = Mat::from_fn(13, 13, |i, j| 2.0 * c[(i, j)]);
    let fewer = Mat::from_fn(12, 12, |i, j| c[(i, j)]);
    for (c, options, word) in [
        (&c, limited(3, Measure::Adjusted, each(3)), "rank 2"),
        (&c, limited(2, Measure::Polar, each(3)), "measure adjusted"),
        (&c, limited(2, Measure::Variance, each(3)), "measure adjusted"),
        (&c, limited(2, Measure::Adjusted, each(4)), "at most 3"),
        (&c, limited(2, Measure::Adjusted, Limit::Nonzeros(vec![3, 2])), "at most 3"),
        (&c, limited(2, Measure::Adjusted, Limit::Total(6)), "at most 3"),
        (&c, Request { rank: Some(2.into()), lambda: Some(0.1), ..Request::default() }, "measure adjusted"),
        (&other, limited(2, Measure::Adjusted, each(3)), "another table"),
        (&exchanged, limited(2, Measure::Adjusted, each(3)), "another table"),
        (&twice, limited(2, Measure::Adjusted, each(3)), "another table"),
        (&fewer, limited(2, Measure::Adjusted, each(3)), "another table"),
    ] {
        let why = checked("l0-pca", &posed("l0-pca", c, options), &text).unwrap_err();
        assert!(why.contains(word), "{word}: {why}");
    }
}

/// Numbers at these places of the file, times a factor.
fn times(file: &Value, place: &str, factor: f64) -> Value {
    let mut file = file.clone();
    let number = file.pointer_mut(place).unwrap_or_else(|| panic!("there is no {place}"));
    *number = json!(number.as_f64().unwrap() * factor);
    file
}

/// The value at a place is another one.
fn set(file: &Value, place: &str, value: Value) -> Value {
    let mut file = file.clone();
    *file.pointer_mut(place).unwrap_or_else(|| panic!("there is no {place}")) = value;
    file
}

/// The places of all nodes for which something holds.
fn nodes(file: &Value, holds: impl Fn(&Value) -> bool) -> Vec<String> {
    let all = file["certificate"]["nodes"].as_array().unwrap();
    (0..all.len()).filter(|k| holds(&all[*k])).map(|k| format!("/certificate/nodes/{k}")).collect()
}

#[test]
fn altered_files_prove_nothing() {
    let p = posed("l0-pca", &pitprops(), limited(3, Measure::Adjusted, each(3)));
    let text = written("l0-pca", &p, u64::MAX).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    checked("l0-pca", &p, &text).unwrap();
    let x = file["X"].as_array().unwrap();
    let row = x.iter().position(|row| row[0].as_f64() != Some(0.0)).unwrap();
    let empty =
        x.iter().position(|row| row.as_array().unwrap().iter().all(|v| v.as_f64() == Some(0.0))).unwrap();
    let split = nodes(&file, |node| node.get("split").is_some()).remove(0);
    let closed = nodes(&file, |node| node.get("split").is_none() && node.get("leaves").is_none()).remove(0);
    let first = "/certificate/nodes/0/steps/0";
    // another one that proves the same would be a proof as well
    let larger = {
        let steps = file.pointer(&format!("{closed}/steps")).unwrap().as_array().unwrap();
        let place = format!("/certificate/multipliers/{}", steps.last().unwrap()["multiplier"]);
        let rows: Vec<Vec<f64>> = serde_json::from_value(file.pointer(&place).unwrap().clone()).unwrap();
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| 3.0 * v).collect()).collect();
        set(&file, &place, json!(rows))
    };
    let without_last = {
        let mut file = file.clone();
        file.pointer_mut("/certificate/nodes").unwrap().as_array_mut().unwrap().pop();
        file
    };
    let exchanged = {
        let mut file = file.clone();
        file["X"].as_array_mut().unwrap().swap(row, empty);
        file
    };
    let at = |place: &str| file.pointer(place).unwrap().clone();
    let altered = [
        ("schema", set(&file, "/schema", json!(2))),
        ("the sentence", set(&file, "/claim", json!("Everything is optimal."))),
        ("rank", set(&file, "/problem/rank", json!(2))),
        ("limit", set(&file, "/problem/limits", json!({"nonzeros": [4, 4, 4]}))),
        ("kind of limit", set(&file, "/problem/limits", json!({"total-nonzeros": 9}))),
        ("measure", set(&file, "/problem/measure", json!("polar"))),
        ("name", set(&file, "/problem/name", json!("pca"))),
        ("lambda", set(&file, "/problem/lambda", json!(0.1))),
        ("sign", set(&file, "/problem/nonnegative", json!(true))),
        ("share", set(&file, "/problem/max_nonzeros", json!(3))),
        ("trace", times(&file, "/table/trace", 1.0 + 1e-6)),
        ("cosines", times(&file, "/table/cosines", 1.1)),
        ("an entry of X", times(&file, &format!("/X/{row}/0"), 1.0 + 1e-6)),
        ("rows of X", exchanged),
        ("a further entry of X", set(&file, &format!("/X/{empty}/0"), json!(1e-9))),
        ("F", times(&file, "/objective", 1.0 + 1e-6)),
        ("a bound above", times(&file, "/bound", 1.0 - 1e-6)),
        ("a bound below", times(&file, "/bound", 1.0 + 1e-6)),
        ("gap", times(&file, "/gap", 0.5)),
        ("proof", set(&file, "/proof", json!("optimal"))),
        ("no proof", set(&file, "/proof", Value::Null)),
        ("elsewhere", times(&file, "/elsewhere", 1.0 - 1e-7)),
        ("unit", times(&file, "/certificate/unit", 2.0)),
        ("cutoff", times(&file, "/certificate/cutoff", 1.0 - 1e-6)),
        ("a looser cutoff", times(&file, "/certificate/cutoff", 1.0 + 1e-5)),
        ("a multiplier that closes a node", larger),
        ("a multiplier of zeros", set(&file, "/certificate/multipliers/0", json!(vec![vec![0.0]; 13]))),
        ("a shorter multiplier", set(&file, "/certificate/multipliers/0", json!([[1.0]]))),
        ("a multiplier of its own", set(&file, &format!("{first}/multiplier"), json!(1_000_000))),
        ("a maximum", times(&file, &format!("{first}/v/0"), 0.9)),
        ("another maximum", times(&file, &format!("{first}/v/1"), 0.9)),
        ("one maximum of two alike", times(&file, &format!("{first}/v/2"), 0.9)),
        ("too few maxima", set(&file, &format!("{first}/v"), json!([1.0]))),
        ("counts", set(&file, "/certificate/ways/0/counts", json!([2, 2, 2]))),
        ("no ways", set(&file, "/certificate/ways", json!([]))),
        (
            "a way twice",
            set(&file, "/certificate/ways", json!([at("/certificate/ways/0"), at("/certificate/ways/0")])),
        ),
        ("another node", set(&file, "/certificate/ways/0/node", json!(1))),
        ("the row of a split", set(&file, &format!("{split}/split/row"), json!(12))),
        ("the column of a split", set(&file, &format!("{split}/split/columns"), json!([0, 1, 2]))),
        ("a column that is not there", set(&file, &format!("{split}/split/columns"), json!([9]))),
        (
            "one half for both",
            set(&file, &format!("{split}/split/outside"), at(&format!("{split}/split/inside"))),
        ),
        ("a node that is its own", set(&file, &format!("{split}/split/inside"), json!(0))),
        ("a closed node without multipliers", set(&file, &format!("{closed}/steps"), json!([]))),
        ("a node is missing", without_last),
    ];
    assert!(altered.len() >= 30);
    for (what, file) in altered {
        let said = checked("l0-pca", &p, &file.to_string());
        assert!(said.is_err(), "{what} is another one, and the file is taken: {said:?}");
    }
    for text in ["", "{}", "[1]", &text[..text.len() / 2], &text.replace("\"schema\"", "\"other\"")] {
        assert!(checked("l0-pca", &p, text).is_err());
    }
}

/// The same of boxes over known supports.
#[test]
fn altered_boxes_prove_nothing() {
    let p = posed("l0-pca", &pitprops(), limited(2, Measure::Adjusted, each(4)));
    let text = written("l0-pca", &p, u64::MAX).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    checked("l0-pca", &p, &text).unwrap();
    let leaf = nodes(&file, |node| node.get("leaves").is_some()).remove(0);
    let boxes = format!("{leaf}/leaves/0/cells");
    let cells = file.pointer(&boxes).unwrap().as_array().unwrap();
    let whole = cells.iter().position(|cell| cell.get("multipliers").is_some()).unwrap();
    let divided = cells.iter().position(|cell| cell.get("split").is_some()).unwrap();
    let (cell, split) = (format!("{boxes}/{whole}/multipliers"), format!("{boxes}/{divided}/split"));
    let rows = file.pointer(&format!("{cell}/m")).unwrap().as_array().unwrap().len();
    let without_leaf = {
        let mut file = file.clone();
        file.pointer_mut(&leaf).unwrap().as_object_mut().unwrap().remove("leaves");
        file
    };
    // a leaf of this file is needed
    let leaves = |change: &dyn Fn(&mut Value)| {
        let mut file = file.clone();
        let all = file.pointer_mut(&format!("{leaf}/leaves")).unwrap();
        all.as_array_mut().unwrap().iter_mut().for_each(change);
        file
    };
    for (what, file) in [
        ("a leaf is missing", without_leaf),
        ("the supports of leaves", leaves(&|leaf| leaf["supports"][0] = json!([0, 1, 2]))),
        ("the cut of leaves", leaves(&|leaf| leaf["cut"] = json!(100.0))),
        ("the axes of leaves", leaves(&|leaf| leaf["axes"][0][0] = json!(2.0))),
        ("no leaf", set(&file, &format!("{leaf}/leaves"), json!([]))),
        ("no box", set(&file, &boxes, json!([]))),
        ("M", set(&file, &format!("{cell}/m"), json!(vec![vec![0.0]; rows]))),
        ("kappa", set(&file, &format!("{cell}/kappa"), json!(-1.0))),
        ("delta", set(&file, &format!("{cell}/delta"), json!([0.0]))),
        ("mu", set(&file, &format!("{cell}/mu"), json!([-1.0, -1.0, -1.0]))),
        ("a further N", set(&file, &format!("{cell}/n"), json!([[[1.0]]]))),
        ("a box that is its own", set(&file, &format!("{split}/below"), json!(divided))),
        ("a box that is not there", set(&file, &format!("{split}/above"), json!(cells.len()))),
        ("what is divided", set(&file, &format!("{split}/range"), json!(99))),
    ] {
        assert!(checked("l0-pca", &p, &file.to_string()).is_err(), "{what}");
    }
}

/// The same for λ, X ≥ 0 and limits of variance.
#[test]
fn altered_multipliers_of_variance_prove_nothing() {
    let c = pitprops();
    let lambda = |lambda| Request { rank: Some(2.into()), lambda: Some(lambda), ..Request::default() };
    let p = posed("l0-pca", &c, lambda(0.2));
    let text = written("l0-pca", &p, 0).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["certificate"]["kind"], "relaxation");
    checked("l0-pca", &p, &text).unwrap();
    for (what, other) in [
        ("lambda", set(&file, "/problem/lambda", json!(0.3))),
        ("an entry of Z", set(&file, "/certificate/Z/0/1", json!(0.1))),
        ("a large entry of Z", set(&file, "/certificate/Z/0/0", json!(5.0))),
        ("Z", set(&file, "/certificate/Z", json!(vec![vec![0.0; 13]; 13]))),
        ("the kind", set(&file, "/certificate/kind", json!("tree"))),
        ("the bound", times(&file, "/bound", 0.999)),
    ] {
        assert!(checked("l0-pca", &p, &other.to_string()).is_err(), "{what}");
    }
    assert!(checked("l0-pca", &posed("l0-pca", &c, lambda(0.25)), &text).unwrap_err().contains("lambda 0.2"));

    let p = posed("nonneg-pca", &c, Request { rank: Some(2.into()), ..Request::default() });
    let text = written("nonneg-pca", &p, 0).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    checked("nonneg-pca", &p, &text).unwrap();
    for (what, other) in [
        ("an entry of Z", set(&file, "/certificate/Z/0/0", json!(0.5))),
        ("the sign of an X", set(&file, "/X/0/0", json!(-0.5))),
        ("both signs", set(&file, "/problem/nonnegative", json!(false))),
    ] {
        assert!(checked("nonneg-pca", &p, &other.to_string()).is_err(), "{what}");
    }

    let p = posed("l0-pca", &c, limited(2, Measure::Variance, Limit::Nonzeros(vec![4, 2])));
    let text = written("l0-pca", &p, 0).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["certificate"]["kind"], "tree");
    checked("l0-pca", &p, &text).unwrap();
    let (way, first) = ("/certificate/ways/0", "/certificate/nodes/0/steps/0/parts/0");
    for (what, other) in [
        ("counts", set(&file, &format!("{way}/counts"), json!([4, 3]))),
        ("Z", times(&file, &format!("{first}/Z/0/0"), 1.5)),
        ("U", times(&file, &format!("{first}/U/0/0"), 1.5)),
        ("d", set(&file, &format!("{first}/d"), json!(vec![0.0; 13]))),
        ("a", set(&file, &format!("{first}/a"), json!([0.0]))),
        ("a part", set(&file, "/certificate/nodes/0/steps/0/parts", json!([]))),
        ("no ways", set(&file, "/certificate/ways", json!([]))),
    ] {
        assert!(checked("l0-pca", &p, &other.to_string()).is_err(), "{what}");
    }
}

/// A proof of variance that needs its tree is written with it, and nothing that was altered is taken.
#[test]
fn altered_trees_prove_nothing() {
    let p = posed("l0-pca", &pitprops(), limited(2, Measure::Variance, each(5)));
    let texts = by_threads(&p);
    texts.iter().for_each(|text| assert!(checked("l0-pca", &p, text).unwrap().ends_with("it is optimal.")));
    let text = &texts[0];
    let file: Value = serde_json::from_str(text).unwrap();
    let split = nodes(&file, |node| node.get("split").is_some()).remove(0);
    let closed = nodes(&file, |node| node.get("split").is_none() && node["steps"] != json!([])).remove(0);
    let count = file.pointer(&format!("{closed}/steps")).unwrap().as_array().unwrap().len();
    let last = format!("{closed}/steps/{}", count - 1);
    let part = format!("{last}/parts/0");
    let without_last = {
        let mut file = file.clone();
        file.pointer_mut("/certificate/nodes").unwrap().as_array_mut().unwrap().pop();
        file
    };
    let without_leaf = set(&file, &closed, json!({ "steps": [] }));
    let row = file["X"].as_array().unwrap().iter().position(|row| row[0].as_f64() != Some(0.0)).unwrap();
    let way = file.pointer("/certificate/ways/0").unwrap().clone();
    let altered = [
        ("rank", set(&file, "/problem/rank", json!(3))),
        ("limit", set(&file, "/problem/limits", json!({"nonzeros": [6, 6]}))),
        ("kind of limit", set(&file, "/problem/limits", json!({"total-nonzeros": 10}))),
        ("measure", set(&file, "/problem/measure", json!("adjusted"))),
        ("lambda", set(&file, "/problem/lambda", json!(0.1))),
        ("sign", set(&file, "/problem/nonnegative", json!(true))),
        ("trace", times(&file, "/table/trace", 1.0 + 1e-6)),
        ("an entry of X", times(&file, &format!("/X/{row}/0"), 1.0 + 1e-6)),
        ("F", times(&file, "/objective", 1.0 + 1e-6)),
        ("a bound below", times(&file, "/bound", 1.0 + 1e-6)),
        ("a bound above", times(&file, "/bound", 1.0 - 1e-6)),
        ("no proof", set(&file, "/proof", Value::Null)),
        ("unit", times(&file, "/certificate/unit", 2.0)),
        ("a cutoff far below", times(&file, "/certificate/cutoff", 1.0 - 1e-2)),
        ("a cutoff above", times(&file, "/certificate/cutoff", 1.0 + 1e-5)),
        ("counts", set(&file, "/certificate/ways/0/counts", json!([5, 4]))),
        ("no ways", set(&file, "/certificate/ways", json!([]))),
        ("a way twice", set(&file, "/certificate/ways", json!([way, way]))),
        ("another node", set(&file, "/certificate/ways/0/node", json!(1_000_000))),
        ("a row that is not there", set(&file, &format!("{split}/split/row"), json!(99))),
        ("no column", set(&file, &format!("{split}/split/columns"), json!([]))),
        ("a column that is not there", set(&file, &format!("{split}/split/columns"), json!([9]))),
        ("a node that is its own", set(&file, &format!("{split}/split/inside"), json!(0))),
        ("a node is missing", without_last),
        ("a leaf is left out", without_leaf),
        ("no steps", set(&file, &format!("{closed}/steps"), json!([]))),
        ("W", set(&file, &format!("{last}/W"), json!([[1.0]]))),
        ("pi", set(&file, &format!("{last}/pi"), json!(vec![100.0; 13]))),
        ("Z", times(&file, &format!("{part}/Z/0/0"), 1.5)),
        ("U", set(&file, &format!("{part}/U"), json!([[1.0]]))),
        ("d", set(&file, &format!("{part}/d/0"), json!(-1.0))),
        ("a", set(&file, &format!("{part}/a/0"), json!(0.0))),
        ("rows", set(&file, &format!("{part}/rows/0"), json!(99))),
        ("a part", set(&file, &format!("{last}/parts"), json!([]))),
    ];
    for (what, file) in altered {
        let said = checked("l0-pca", &p, &file.to_string());
        assert!(said.is_err(), "{what} is another one, and the file is taken: {said:?}");
    }
}

#[test]
fn what_no_file_can_prove_says_so() {
    let c = pitprops();
    let l1 = posed("l1-pca", &c, Request { rank: Some(2.into()), lambda: Some(0.2), ..Request::default() });
    assert!(written("l1-pca", &l1, 0).unwrap_err().to_string().contains("l1"));
    let explained = posed("l0-pca", &c, limited(2, Measure::Explained, each(3)));
    assert!(
        written("l0-pca", &explained, 0)
            .unwrap_err()
            .to_string()
            .contains("a proof to cite is one of variance")
    );
    let large =
        Mat::from_fn(301, 301, |i, j| if i == j { 2.0 } else { 1.0 / (1.0 + (i as f64 - j as f64).abs()) });
    let p =
        posed("l0-pca", &large, Request { rank: Some(1.into()), lambda: Some(0.9), ..Request::default() });
    assert!(written("l0-pca", &p, 0).unwrap_err().to_string().contains("301 variables are too many"));
}
