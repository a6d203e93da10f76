//! Halves of the rows: planted variables are found in nearly all of them and noise seldom, the bound of false selections holds,
//! and nothing that a half lacks ends the run.

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{Limit, Request, find_problem};
use orthopt::problem::PcaData;
use orthopt::report::{DataFacts, Stability};
use orthopt::smooth::Centring;
use orthopt::solve::Stopping;
use orthopt::stability::{StabilityRequest, Watch, stability};
use orthopt::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Rows of two factors, on variables 0..4 and 4..8, and noise of variance 1 in all n variables.
fn planted(m: usize, n: usize, strength: f64, seed: u64) -> Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut a = Mat::zeros(m, n);
    for i in 0..m {
        let factors: [f64; 2] = [1.2 * strength, strength].map(|s| s * rng.sample::<f64, _>(StandardNormal));
        for j in 0..n {
            let factor = if j < 8 { factors[j / 4] } else { 0.0 };
            a[(i, j)] = factor + rng.sample::<f64, _>(StandardNormal);
        }
    }
    a
}

/// Each column minus its mean, divided by its deviation.
fn standardised(a: &Mat<f64>) -> Mat<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    let mean = |j: usize| (0..m).map(|i| a[(i, j)]).sum::<f64>() / m as f64;
    let means: Vec<f64> = (0..n).map(mean).collect();
    let spread = |j: usize| (0..m).map(|i| (a[(i, j)] - means[j]).powi(2)).sum::<f64>() / (m - 1) as f64;
    Mat::from_fn(m, n, |i, j| (a[(i, j)] - means[j]) / spread(j).sqrt().max(1e-300))
}

fn request(problem: &str, limit: Option<Limit>, rank: usize, pairs: usize) -> StabilityRequest {
    let problem = find_problem(problem).unwrap();
    let maximise = (problem.name == "l0-pca").then_some(orthopt::smooth::Measure::Variance);
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    // one solver: short searches take some hundredths of a second for each half
    let solver = (problem.name == "l0-pca").then(|| "exchange".to_string());
    let options =
        Request { rank: Some(rank.into()), maximise, solver, ..Default::default() }.with_limit(limit);
    StabilityRequest { problem, options, stopping, pairs, work: None }
}

fn counts(count: usize) -> Option<Limit> {
    Some(Limit::Nonzeros(vec![count]))
}

/// X of all rows, by the call of the library without a search.
fn whole(data: &PcaData<'_>, asked: &StabilityRequest) -> RowMat {
    let posed = orthopt::family::pose(asked.problem, data, &asked.options).unwrap();
    let problem = &posed.problem;
    use orthopt::family::Family;
    let plan = problem.plan(&asked.options).unwrap();
    plan.run(problem, &asked.options, &asked.stopping, Some(0), &Cancel::never(), &mut []).unwrap().x
}

fn watched(data: &PcaData<'_>, facts: &DataFacts, asked: &StabilityRequest) -> Result<Option<Stability>> {
    let x = whole(data, asked);
    stability(data, facts, &x, asked, &Watch { cancel: &Cancel::never(), done: &|_, _| () })
}

/// Of a matrix whose columns are standardised.
fn found(a: &Mat<f64>, asked: &StabilityRequest) -> Stability {
    let data = PcaData::Dense(a.as_ref());
    let facts = DataFacts { centered: true, scaled: true, scale: "std".into(), ..DataFacts::of(&data) };
    watched(&data, &facts, asked).unwrap().unwrap()
}

#[test]
fn planted_variables_are_in_nearly_all_halves_and_noise_in_few() {
    let a = standardised(&planted(120, 20, 1.5, 1));
    let s = found(&a, &request("l0-pca", counts(4), 2, 25));
    assert_eq!((s.pairs, s.requested, s.failed), (25, 25, 0));
    for i in 0..20 {
        for k in 0..2 {
            let (share, both) = (s.frequency.get(i, k), s.simultaneous.get(i, k));
            if i < 8 && i / 4 == k {
                assert!(share >= 0.95, "variable {i} of component {k}: {share}");
                assert!(s.low.get(i, k).abs().min(s.high.get(i, k).abs()) > 0.2);
                assert!(s.low.get(i, k) * s.high.get(i, k) > 0.0);
            } else {
                assert!(share <= 0.1, "variable {i} of component {k}: {share}");
            }
            assert!(both <= share && both >= 2.0 * share - 1.0 - 1e-12);
        }
    }
    assert!(s.cosine.iter().all(|c| *c > 0.97 && *c <= 1.0 + 1e-12), "{:?}", s.cosine);
    assert_eq!(s.selected.iter().map(|q| q.round()).collect::<Vec<_>>(), [4.0, 4.0]);

    // of noise alone every variable is as likely as any other: 4 of 20
    let noise = standardised(&planted(120, 20, 0.0, 2));
    let s = found(&noise, &request("l0-pca", counts(4), 1, 50));
    let mean = (0..20).map(|i| s.frequency.get(i, 0)).sum::<f64>() / 20.0;
    assert!((mean - 0.2).abs() < 1e-12, "{mean}");
    assert!((0..20).all(|i| s.frequency.get(i, 0) < 0.75), "{:?}", s.frequency);
    assert!(s.cosine[0] < 0.8, "{:?}", s.cosine);
}

/// Pairs begin until the work is done, the same ones for any number of threads; what they give is that of so many pairs.
#[test]
fn a_limit_of_work_leaves_pairs_out() {
    let a = standardised(&planted(60, 8, 1.5, 1));
    let asked = |pairs: usize, work: Option<u64>| {
        let open = request("l0-pca", counts(3), 2, pairs);
        StabilityRequest { options: Request { solver: None, ..open.options }, work, ..open }
    };
    let few = found(&a, &asked(12, Some(1)));
    assert_eq!((few.pairs, few.requested, few.failed), (5, 12, 0));
    assert_eq!(few.frequency, found(&a, &asked(5, None)).frequency);
    let three = orthopt::threads::pool(Some(3)).unwrap().install(|| found(&a, &asked(12, Some(1))));
    assert_eq!(few.frequency, three.frequency);
}

/// Null variables are exchangeable here, so that none of them is likelier in a half than the average variable.
#[test]
fn false_selections_are_within_their_bound() {
    let (tables, n) = (25, 24);
    let (mut false_ones, mut bounds, mut true_ones) = ([0.0; 2], [0.0; 2], 0.0);
    for seed in 0..tables {
        let a = standardised(&planted(60, n, 1.0, 100 + seed));
        let s = found(&a, &request("l0-pca", counts(6), 2, 10));
        for (k, threshold) in [0.6, 0.9].into_iter().enumerate() {
            let selected = |i: &usize| s.used[*i] >= threshold;
            false_ones[k] += (8..n).filter(selected).count() as f64 / tables as f64;
            bounds[k] += s.expected_false_together(threshold) / tables as f64;
        }
        true_ones += (0..8).filter(|i| s.used[*i] >= 0.9).count() as f64 / tables as f64;
    }
    assert!(true_ones > 7.0, "{true_ones} of 8 variables");
    for k in 0..2 {
        assert!(false_ones[k] <= bounds[k], "{false_ones:?} above {bounds:?}");
    }
    // that of .6 cannot be below a third of what is observed: it is no bound of something else
    assert!(false_ones[0] > 0.1 && false_ones[1] < false_ones[0], "{false_ones:?}");
}

#[test]
fn the_bound_is_that_of_the_theorem() {
    let s = found(&standardised(&planted(60, 12, 1.5, 3)), &request("l0-pca", counts(3), 2, 5));
    let q: f64 = (0..12).map(|i| s.frequency.get(i, 1)).sum();
    assert!((s.expected_false(0.9)[1] - q * q / (0.8 * 12.0)).abs() < 1e-12);
    assert!(s.expected_false(0.5).iter().all(|b| b.is_infinite()));
    let together: f64 = s.used.iter().sum();
    assert!((s.expected_false_together(0.75) - together * together / (0.5 * 12.0)).abs() < 1e-12);
}

#[test]
fn the_same_bits_for_any_threads_and_units() {
    let a = standardised(&planted(50, 14, 1.2, 4));
    for (problem, limit) in [("l0-pca", counts(4)), ("l1-pca", None), ("nonneg-pca", None), ("dc-pca", None)]
    {
        let mut asked = request(problem, limit, 2, 2);
        asked.options.solver = None;
        asked.options.lambda = (problem == "l1-pca" || problem == "dc-pca").then_some(8.0);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| found(&a, &asked))
        };
        let one = on(1);
        assert_eq!(one, on(2), "{problem}");
        assert_eq!(one, found(&a, &asked), "{problem} outside of a pool");
        let factor = 2.0f64.powi(40);
        let larger = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] * factor);
        let mut weighed = asked.clone();
        weighed.options.lambda = asked.options.lambda.map(|lambda| lambda * factor * factor);
        assert_eq!(one, found(&larger, &weighed), "{problem} times 2^40");
        let mut other = asked.clone();
        other.options.seed = Some(9);
        assert_ne!(one, found(&a, &other), "{problem}: other halves");
    }
}

/// Dense, centred on the fly, sparse with means, and rows with weights 1 are the same data.
#[test]
fn every_kind_of_data_has_the_same_halves() {
    let raw = planted(40, 10, 1.5, 5);
    let asked = request("l0-pca", counts(4), 2, 5);
    let dense = PcaData::Dense(raw.as_ref());
    let scales = ["none", "unit", "std"];
    for scale in scales {
        let facts = DataFacts { centered: true, scale: scale.into(), ..DataFacts::of(&dense) };
        let all = watched(&dense, &facts, &asked).unwrap().unwrap();
        let view = PcaData::Centred(raw.as_ref(), Centring::of(raw.as_ref()));
        near(&all, &watched(&view, &facts, &asked).unwrap().unwrap());
        let entries: Vec<_> = (0..10).flat_map(|j| (0..40).map(move |i| (i, j))).collect();
        let entries: Vec<_> = entries.iter().map(|(i, j)| Triplet::new(*i, *j, raw[(*i, *j)])).collect();
        let sparse = SparseColMat::try_new_from_triplets(40, 10, &entries).unwrap();
        let means = Centring::of(raw.as_ref()).means().to_vec();
        near(
            &all,
            &watched(&PcaData::Sparse(sparse.as_ref(), Some(means)), &facts, &asked).unwrap().unwrap(),
        );
        let roots = DataFacts { roots: Some(vec![1.0; 40]), ..facts.clone() };
        near(&all, &watched(&dense, &roots, &asked).unwrap().unwrap());
    }
}

fn near(one: &Stability, other: &Stability) {
    assert_eq!(one.frequency, other.frequency);
    let far = |a: &RowMat, b: &RowMat| {
        a.data().iter().zip(b.data()).fold(0.0, |far: f64, (a, b)| far.max((a - b).abs()))
    };
    assert!(far(&one.low, &other.low) < 1e-6 && far(&one.high, &other.high) < 1e-6);
}

/// A row of weight 2 is in a half or not as a whole, and counts twice there.
#[test]
fn weights_go_with_their_rows() {
    let mut a = planted(60, 10, 1.5, 6);
    let weights: Vec<f64> = (0..60).map(|i| if i % 3 == 0 { 4.0 } else { 1.0 }).collect();
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    for j in 0..10 {
        (0..60).for_each(|i| a[(i, j)] *= roots[i]);
    }
    let data = PcaData::Dense(a.as_ref());
    let facts = DataFacts { centered: true, scale: "std".into(), roots: Some(roots), ..DataFacts::of(&data) };
    let s = watched(&data, &facts, &request("l0-pca", counts(4), 2, 10)).unwrap().unwrap();
    assert!((0..8).all(|i| s.frequency.get(i, 0) + s.frequency.get(i, 1) > 0.8), "{:?}", s.frequency);
}

#[test]
fn few_rows_and_c_itself_are_refused() {
    let asked = request("l0-pca", counts(2), 1, 3);
    for rows in [2, 3] {
        let a = planted(rows, 5, 1.0, 7);
        let error = watched(&PcaData::Dense(a.as_ref()), &DataFacts::default(), &asked).unwrap_err();
        assert!(matches!(error, Error::Incompatible(_)));
        assert!(
            error
                .to_string()
                .contains(&format!("at least 4 rows, two for each half, but the data have {rows}"))
        );
    }
    let c = Mat::from_fn(5, 5, |i, j| if i == j { 2.0 } else { 0.5 });
    let error = watched(&PcaData::Gram(c.as_ref()), &DataFacts::default(), &asked).unwrap_err();
    assert!(error.to_string().contains("only C is there"), "{error}");
    let a = planted(9, 5, 1.0, 7);
    let none = StabilityRequest { pairs: 0, ..asked };
    let error = watched(&PcaData::Dense(a.as_ref()), &DataFacts::default(), &none).unwrap_err();
    assert!(matches!(error, Error::InvalidOption { .. }), "{error}");
    let other = StabilityRequest {
        problem: find_problem("nonlinear-eig").unwrap(),
        options: Request::default(),
        ..none
    };
    let x = RowMat::zeros(5, 5);
    let watch = Watch { cancel: &Cancel::never(), done: &|_, _| () };
    let other = StabilityRequest { pairs: 2, ..other };
    let error =
        stability(&PcaData::Dense(a.as_ref()), &DataFacts::default(), &x, &other, &watch).unwrap_err();
    assert!(error.to_string().contains("it is for PCA problems of samples"), "{error}");
}

#[test]
fn four_rows_are_enough() {
    let a = standardised(&planted(4, 6, 1.0, 8));
    let s = found(&a, &request("l0-pca", counts(2), 1, 4));
    assert_eq!(s.pairs, 4);
    assert!(s.frequency.data().iter().all(|v| (0.0..=1.0).contains(v)));
}

/// A column that only one row makes vary is constant in half of the halves or more.
#[test]
fn a_column_that_is_constant_in_a_half_ends_nothing() {
    let mut a = planted(30, 8, 1.5, 9);
    (0..30).for_each(|i| a[(i, 5)] = if i == 11 { 0.7 } else { 0.1 });
    (0..30).for_each(|i| a[(i, 6)] = 0.3); // and one in all rows
    for (centered, scale) in [(true, "std"), (true, "unit"), (false, "std"), (false, "unit"), (true, "none")]
    {
        let b = if centered { standardised(&a) } else { a.clone() };
        let data = PcaData::Dense(b.as_ref());
        let facts = DataFacts { centered, scale: scale.into(), ..DataFacts::of(&data) };
        let s = watched(&data, &facts, &request("l0-pca", counts(3), 2, 10)).unwrap().unwrap();
        assert_eq!((s.pairs, s.failed), (10, 0), "{centered} {scale}");
        assert!(s.low.find_non_finite().is_none() && s.high.find_non_finite().is_none());
        if centered {
            assert!((0..2).all(|k| s.frequency.get(6, k) <= 0.1), "a constant column is no component");
        }
    }
}

#[test]
fn identical_columns_and_as_many_components_as_variables() {
    let mut a = planted(40, 8, 1.5, 10);
    (0..40).for_each(|i| a[(i, 1)] = a[(i, 0)]);
    let a = standardised(&a);
    let s = found(&a, &request("l0-pca", counts(3), 2, 6));
    assert_eq!(s.pairs, 6);
    let s = found(&a, &request("l0-pca", counts(8), 8, 3));
    assert_eq!((s.pairs, s.frequency.ncols()), (3, 8));
    assert!(s.cosine.iter().all(|c| (0.0..=1.0 + 1e-12).contains(c)));
    // no limit at all: PCA, whose loadings are all nonzero
    let s = found(&standardised(&planted(40, 6, 1.5, 10)), &request("pca", None, 2, 6));
    assert!(s.frequency.data().iter().all(|share| *share == 1.0));
    assert!(s.low.data().iter().zip(s.high.data()).all(|(low, high)| low < high));
}

#[test]
fn what_is_complete_is_kept() {
    let a = standardised(&planted(60, 12, 1.5, 11));
    let data = PcaData::Dense(a.as_ref());
    let facts = DataFacts { centered: true, scale: "std".into(), ..DataFacts::of(&data) };
    let asked = request("l0-pca", counts(4), 2, 8);
    let x = whole(&data, &asked);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let run = |asked: &StabilityRequest, after: usize| {
        let cancel = Cancel::never();
        let done = |done: usize, of: usize| {
            assert_eq!(of, asked.pairs);
            if done == after {
                cancel.cancel();
            }
        };
        if after == 0 {
            cancel.cancel();
        }
        pool.install(|| stability(&data, &facts, &x, asked, &Watch { cancel: &cancel, done: &done }).unwrap())
    };
    let one = run(&asked, 1).unwrap();
    assert_eq!((one.pairs, one.requested), (1, 8));
    let mut alone = run(&StabilityRequest { pairs: 1, ..asked.clone() }, 9).unwrap();
    alone.requested = 8;
    assert_eq!(alone, one, "the first pair does not depend on the others");
    assert!(run(&asked, 0).is_none(), "nothing was complete");
    let stopping = Stopping { time_limit: Some(0.0), ..asked.stopping };
    assert!(run(&StabilityRequest { stopping, ..asked }, 9).is_none(), "no time");
}

#[test]
fn measures_and_constraints_have_halves_too() {
    let a = standardised(&planted(60, 12, 1.5, 12));
    for (name, pose) in [
        ("adjusted", Request { maximise: Some(orthopt::smooth::Measure::Adjusted), ..Default::default() }),
        (
            "uncorrelated",
            Request { constraint: Some(orthopt::problem::Between::Uncorrelated), ..Default::default() },
        ),
        ("both", Request { constraint: Some(orthopt::problem::Between::Both), ..Default::default() }),
    ] {
        let mut asked = request("l0-pca", counts(4), 2, 2);
        asked.options = Request { rank: Some(2.into()), ..pose }.with_limit(counts(4));
        let s = found(&a, &asked);
        assert_eq!((s.pairs, s.failed), (2, 0), "{name}");
        assert!((0..8).all(|i| s.used[i] >= 0.5), "{name}: {:?}", s.used);
    }
}
