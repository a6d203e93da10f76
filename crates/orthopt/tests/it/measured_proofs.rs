//! Proofs of adjusted and polar variance: golden values, what is claimed of whom, units, threads, searches that prove.

use crate::common::{pitprops, table};
use faer::Mat;
use orthopt::RowMat;
use orthopt::bound::{Bound, End, Method, Options, Point, Proof};
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Effort, Family, Limit, Request, find_problem, pose};
use orthopt::objective::Evaluate;
use orthopt::problem::{PcaData, support};
use orthopt::smooth::Measure;
use orthopt::solve::{Solution, Status, Stopping};

const IRIS: &str = include_str!("../tables/iris.csv");
const US_ARRESTS: &str = include_str!("../tables/us_arrests.csv");

fn posed(c: &Mat<f64>, rank: usize, measure: Measure, limit: Limit) -> AnyProblem {
    let options = Request { rank: Some(rank.into()), maximise: Some(measure), ..Request::default() }
        .with_limit(Some(limit));
    pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap().problem
}

fn each(k: usize) -> Limit {
    Limit::Nonzeros(vec![k])
}

fn solved(p: &AnyProblem) -> Solution {
    let wanted = Request { effort: Some(Effort::Normal), ..Request::default() };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

fn bounded(p: &AnyProblem, x: Option<&RowMat>, nodes: u64) -> Bound {
    let options = Options { nodes, ..Options::default() };
    p.lower_bound(x, &options, &Cancel::never(), &|_| ()).unwrap()
}

fn supports(x: &RowMat) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..x.ncols()).map(|k| support(x, k)).collect();
    sets.sort();
    sets
}

/// The values of the note that the theorems come from, as shares; gaps in per cent.
#[test]
fn golden_values_are_proved() {
    for (c, r, k, share, gap) in [
        (table(US_ARRESTS), 2, 2, 0.734030458, 0.02),
        (table(US_ARRESTS), 2, 3, 0.848881327, 0.05),
        (table(IRIS), 2, 2, 0.720046139, 0.0001),
        (pitprops(), 2, 3, 0.333117327, 0.002),
    ] {
        let p = posed(&c, r, Measure::Adjusted, each(k));
        let found = solved(&p);
        let bound = bounded(&p, Some(&found.x), u64::MAX);
        let what = format!("{share} {:?} {:?}", bound.gap, bound.proof);
        let trace: f64 = (0..c.nrows()).map(|i| c[(i, i)]).sum();
        assert!((-2.0 * found.objective.total / trace - share).abs() <= 2e-9, "{what}");
        assert!(bound.proof.is_some() && bound.gap.unwrap() <= 0.01 * gap, "{what}");
        assert!(bound.value <= found.objective.total && bound.method == Method::Supports, "{what}");
    }
}

/// The proof tells a worse X from the best one, which it finds; what is proved is claimed of no other supports.
#[test]
fn a_worse_x_claims_nothing() {
    let c = pitprops();
    let p = posed(&c, 2, Measure::Adjusted, each(3));
    let best = solved(&p);
    let variance = {
        let options =
            Request { rank: Some(2.into()), maximise: Some(Measure::Variance), ..Request::default() }
                .with_limit(Some(each(3)));
        let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap();
        let wanted = Request::default();
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let plan = posed.problem.plan(&wanted).unwrap();
        plan.run(&posed.problem, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap().x
    };
    let worse = p.value(&variance);
    assert!(worse > best.objective.total * 0.99);
    let bound = bounded(&p, Some(&variance), u64::MAX);
    let better = bound.x.as_ref().expect("a better X is found");
    assert!((p.value(better) - best.objective.total).abs() <= 1e-6 * best.objective.total.abs());
    assert_eq!(bound.proof, Some(Proof::Supports));
    let claim = bound.beside_x(Point { objective: worse, feasibility: p.feasibility(&variance) }, &variance);
    assert_eq!(claim.unwrap().proof, None);
    let claim = bound.beside_x(best.point(), &best.x).unwrap();
    assert_eq!(claim.proof, Some(Proof::Supports));
    assert_eq!(supports(&best.x), bound.elsewhere.as_ref().unwrap().supports);
}

/// Totals, a list of limits and polar variance: bounds that are above what a search finds, and nearly always proofs.
#[test]
fn every_limit_and_polar_are_bounded() {
    let c = pitprops();
    let mut proved = 0;
    for (measure, limit) in [
        (Measure::Adjusted, Limit::Total(5)),
        (Measure::Adjusted, Limit::Nonzeros(vec![2, 3])),
        (Measure::Adjusted, Limit::Nonzeros(vec![3, 2])),
        (Measure::Polar, each(2)),
        (Measure::Polar, Limit::Total(5)),
    ] {
        let what = format!("{measure:?} {limit:?}");
        let p = posed(&c, 2, measure, limit);
        let found = solved(&p);
        let bound = bounded(&p, Some(&found.x), 400);
        assert!(bound.value <= found.objective.total, "{what}");
        let better = bound.objective.unwrap() < found.objective.total * (1.0 + 1e-6);
        assert!(bound.gap.unwrap() <= 0.02 && !better, "{what}: {:?}", bound.gap);
        proved += usize::from(bound.proof.is_some());
    }
    assert!(proved >= 3, "{proved}");
}

/// A limit of nodes, a flag and no incumbent at all: a bound that holds, and no claim that is not proved.
#[test]
fn what_ends_early_claims_nothing() {
    let c = pitprops();
    let p = posed(&c, 3, Measure::Adjusted, each(3));
    let found = solved(&p);
    let none = bounded(&p, Some(&found.x), 0);
    assert!(none.proof.is_none() && none.method != Method::Supports);
    let few = bounded(&p, Some(&found.x), 1);
    assert!(few.proof.is_none() && few.end == End::Limit && few.value <= found.objective.total);
    let over = Cancel::never();
    over.cancel();
    let stopped = p.lower_bound(Some(&found.x), &Options { nodes: 9, ..Options::default() }, &over, &|_| ());
    assert!(stopped.is_err() || stopped.unwrap().proof.is_none());
    let without = bounded(&p, None, 50);
    assert!(without.proof.is_none() && without.value <= found.objective.total);
}

/// Long lists that are cut off, before and after they are first examined: the bound of variance is given.
#[test]
fn what_is_cut_off_has_the_better_bound() {
    let (n, many) = (75, 67_525.0); // supports of three variables
    let entry = |i: usize, j: usize| ((3 * i + 7 * j + i * j + 1) as f64 * 0.83).sin();
    let a = Mat::from_fn(90, n, |i, j| entry(i, j) + 2.0 * entry(i, j % 3 + 80));
    let p = posed(&(a.transpose() * &a), 3, Measure::Adjusted, each(3));
    let x = p.start("pruned", 0).unwrap();
    let cut = |work: f64, iterations| {
        let options = Options { nodes: u64::MAX, work: Some(work as u64), iterations, ..Options::default() };
        p.lower_bound(Some(&x), &options, &Cancel::never(), &|_| ()).unwrap()
    };
    let plain = bounded(&p, Some(&x), 0);
    for work in [1e4, 2e2 * many] {
        let bound = cut(work, 20_000);
        assert!(bound.gap < cut(work, 0).gap.map(|gap| 0.5 * gap), "{work}: {:?}", bound.gap);
        assert!(bound.value >= plain.value && bound.proof.is_none(), "{work}: {}", bound.value);
    }
}

/// Data in units of powers of two: the same words.
#[test]
fn units_change_no_word() {
    let c = table(US_ARRESTS);
    let said = |power: i32| {
        let c = Mat::from_fn(4, 4, |i, j| c[(i, j)] * 2f64.powi(power));
        let p = posed(&c, 2, Measure::Adjusted, each(2));
        let found = solved(&p);
        let bound = bounded(&p, Some(&found.x), u64::MAX);
        (bound.proof, bound.gap, bound.nodes, bound.method, found.status, found.message)
    };
    let known = said(0);
    assert!(known.0.is_some());
    for power in [-300, 300] {
        assert_eq!(said(power), known, "{power}");
    }
}

/// A search that proves what it finds ends with it, the same with any number of threads.
#[test]
fn a_search_proves_as_it_goes() {
    for (c, k) in [(table(US_ARRESTS), 2), (table(IRIS), 2)] {
        let p = posed(&c, 2, Measure::Adjusted, each(k));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solved(&p))
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.x.data(), three.x.data());
        let proof = one.proof.as_ref().expect("so little is proved");
        let claim = proof.beside_x(one.point(), &one.x).unwrap();
        let optimal = claim.proof == Some(Proof::Optimal);
        assert!(claim.proof.is_some());
        // F equals its bound where it does, to the digits that are said
        let is_equal = claim.gap.unwrap() <= 1e-9;
        assert_eq!(one.message.contains("it equals its lower bound"), optimal && is_equal, "{}", one.message);
        assert_eq!(one.message.contains("by more than 1e-6 of it"), optimal && !is_equal, "{}", one.message);
        assert_eq!(one.status == Status::Optimal, optimal, "{} {:?}", one.message, claim);
        let work = one.search.as_ref().map_or(0, |search| search.work);
        assert!(work < 2_000_000_000, "the proof ends the search: {work}");
    }
}

/// Runs that come back to known supports count as iterations: a limit of these ends a search of a table on which every move does.
#[test]
fn a_limit_of_iterations_is_reached_where_every_move_comes_back() {
    let c = Mat::from_fn(5, 5, |i, j| 1.0 / (1.0 + (i as f64 - j as f64).abs()));
    let p = posed(&c, 2, Measure::Adjusted, each(2));
    let wanted = Request::default(); // without an effort nothing but a limit ends it
    let stopping = Stopping { max_iters: Some(500), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let plan = p.plan(&wanted).unwrap();
    let found = plan.run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap();
    assert!((500..600).contains(&found.iterations), "{}", found.iterations);
}
