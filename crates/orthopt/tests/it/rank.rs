//! The number of components by a rule: planted factors are found, noise has none, thresholds are those of other programs.

use faer::Mat;
use orthopt::family::scree;
use orthopt::family::{RankRule, Request, Scree, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::request::Rank;
use orthopt::smooth::Centring;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A normal number by the Box–Muller method.
fn normal(rng: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Rows of `r` factors with loadings on every variable, and noise of this standard deviation; columns are standardised.
fn factors((m, n, r): (usize, usize, usize), noise: f64, seed: u64) -> Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let loadings = Mat::from_fn(n, r, |_, _| normal(&mut rng));
    let scores = Mat::from_fn(m, r, |_, _| normal(&mut rng));
    let mut a = &scores * loadings.transpose();
    for j in 0..n {
        (0..m).for_each(|i| a[(i, j)] += noise * (r.max(1) as f64).sqrt() * normal(&mut rng));
        let mean = (0..m).map(|i| a[(i, j)]).sum::<f64>() / m as f64;
        (0..m).for_each(|i| a[(i, j)] -= mean);
        let norm = (0..m).map(|i| a[(i, j)].powi(2)).sum::<f64>().sqrt();
        (0..m).for_each(|i| a[(i, j)] /= norm);
    }
    a
}

fn of(a: &Mat<f64>) -> Scree {
    scree(&PcaData::Dense(a.as_ref()), None).unwrap()
}

/// The same rows as C with their number.
fn of_gram(a: &Mat<f64>) -> Scree {
    let c = a.transpose() * a;
    scree(&PcaData::Gram(c.as_ref()), Some(a.nrows())).unwrap()
}

#[test]
fn planted_factors_are_found() {
    for noise in [0.5, 1.0, 1.5] {
        for (shape, seed) in [((200, 20, 3), 1), ((100, 40, 5), 2), ((60, 120, 4), 3), ((500, 30, 1), 4)] {
            let found = of(&factors(shape, noise, seed));
            assert_eq!(
                (found.rank, found.rule),
                (shape.2, "permutation"),
                "{shape:?}, noise {noise}: {}",
                found.reason
            );
        }
        for (shape, seed) in [((400, 40, 3), 1), ((300, 60, 5), 2), ((120, 240, 2), 3), ((500, 30, 1), 4)] {
            let found = of_gram(&factors(shape, noise, seed));
            assert_eq!(
                (found.rank, found.rule),
                (shape.2, "marchenko-pastur"),
                "{shape:?}, noise {noise}: {}",
                found.reason
            );
        }
    }
}

/// Of pure noise both rules say so, but for one in twenty.
#[test]
fn noise_has_no_components() {
    let wrong = |found: &dyn Fn(&Mat<f64>) -> Scree| {
        let all = (0..40).map(|seed| found(&factors((80, 12, 0), 1.0, 100 + seed)));
        let all: Vec<_> = all.collect();
        assert!(all.iter().filter(|s| s.rank == 1).any(|s| s.reason.contains("no eigenvalue exceeds")));
        all.iter().filter(|s| !s.reason.contains("no eigenvalue exceeds")).count()
    };
    assert!(wrong(&of) <= 6, "{}", wrong(&of));
    assert!(wrong(&of_gram) <= 6, "{}", wrong(&of_gram));
}

/// The reference of large data is the limit of that of permutations, from above: NumPy's 95th percentiles of 199 of them are
/// 5, 1.4 and .5 % below it for 100 x 40, 400 x 150 and 1000 x 400 columns of one variance.
#[test]
fn both_references_agree() {
    let ratio = |shape: (usize, usize, usize), spread: f64| {
        let mut a = factors(shape, 1.0, 7);
        for j in 0..a.ncols() {
            let size = 1.0 + spread * j as f64 / a.ncols() as f64;
            (0..a.nrows()).for_each(|i| a[(i, j)] *= size);
        }
        let (rows, gram) = (of(&a), of_gram(&a));
        let difference = |k: usize| (rows.eigenvalues[k] - gram.eigenvalues[k]).abs();
        assert!((0..10).all(|k| difference(k) < 1e-12));
        gram.reference[0] / rows.reference[0]
    };
    for spread in [0.0, 2.0] {
        let (small, large, wide) =
            (ratio((100, 40, 0), spread), ratio((400, 150, 0), spread), ratio((150, 400, 0), spread));
        assert!(large < small && (0.99..1.04).contains(&large), "{small} {large}");
        assert!((0.99..1.04).contains(&wide), "{wide}");
    }
}

/// Equal variances: the edge of the Marchenko–Pastur law and the mean and scale of Johnstone (2001).
#[test]
fn the_edge_of_equal_variances_is_known() {
    let (m, n) = (500usize, 200usize);
    let c = Mat::<f64>::identity(n, n);
    let found = scree(&PcaData::Gram(c.as_ref()), Some(m)).unwrap();
    let (p, q) = ((m as f64 - 1.0).sqrt(), (n as f64).sqrt());
    let mean = (p + q).powi(2) / (p * p);
    let scale = (p + q) * (1.0 / p + 1.0 / q).cbrt() / (p * p);
    let expected = (mean + 0.9793 * scale) / n as f64;
    assert!((found.reference[0] - expected).abs() < 1e-9 * expected, "{} {expected}", found.reference[0]);
    assert_eq!(found.rank, 1);
}

/// Numbers of NumPy: eigenvalues of correlations and the 95th percentile of 5000 permutations (`np.linalg.eigvalsh`,
/// `rng.permuted(A, axis=0)`); percentiles of 99 of them lie within 7 % in 300 draws.
#[test]
fn references_are_those_of_numpy() {
    let a = Mat::from_fn(50, 8, |i, j| {
        let (t, s) = (i as f64, j as f64);
        (0.37 * t * (1.0 + j as f64 % 3.0)).sin()
            + 0.5 * (1.7 * t + s * s).cos()
            + 0.3 * (t * (s + 2.0)).sin()
    });
    let a = {
        let mut out = a;
        for j in 0..8 {
            let mean = (0..50).map(|i| out[(i, j)]).sum::<f64>() / 50.0;
            (0..50).for_each(|i| out[(i, j)] -= mean);
            let norm = (0..50).map(|i| out[(i, j)].powi(2)).sum::<f64>().sqrt();
            (0..50).for_each(|i| out[(i, j)] /= norm);
        }
        out
    };
    let found = of(&a);
    for (k, (value, percentile)) in NUMPY.iter().enumerate() {
        let (own, reference) = (8.0 * found.eigenvalues[k], 8.0 * found.reference[k]);
        assert!((own - value).abs() < 1e-10, "{k}: {own} {value}");
        assert!((reference / percentile - 1.0).abs() < 0.07, "{k}: {reference} {percentile}");
    }
    assert_eq!(found.rank, 3, "{}", found.reason);
}

const NUMPY: [(f64, f64); 8] = [
    (2.388818098865, 1.8704),
    (2.230415322638, 1.5380),
    (1.621012189249, 1.3144),
    (0.953774618848, 1.1394),
    (0.649532642877, 0.9883),
    (0.065838165425, 0.8572),
    (0.051460854065, 0.7258),
    (0.039148108033, 0.5885),
];

/// The smallest r whose eigenvalues add up to the share.
#[test]
fn shares_are_those_of_the_definition() {
    let a = factors((60, 9, 3), 1.0, 5);
    let c = a.transpose() * &a;
    let mut values = c.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    values.sort_by(|x, y| y.total_cmp(x));
    let total: f64 = values.iter().sum();
    for share in [0.05, 0.3, 0.5, 0.9, 0.99, 0.999_999] {
        let expected = (1..=9).find(|r| values[..*r].iter().sum::<f64>() >= share * total).unwrap();
        for data in [PcaData::Dense(a.as_ref()), PcaData::Gram(c.as_ref())] {
            assert_eq!(chosen(&data, RankRule::Share(share)).rank, expected, "{share}");
        }
    }
}

/// The problem as posed with a rule.
fn posed(data: &PcaData<'_>, rule: RankRule) -> orthopt::Result<orthopt::family::Posed> {
    let options = Request { rank: Some(Rank::By(rule)), lambda: Some(0.1), ..Default::default() };
    pose(find_problem("l0-pca").unwrap(), data, &options)
}

fn chosen(data: &PcaData<'_>, rule: RankRule) -> Scree {
    let posed = posed(data, rule).unwrap();
    let scree = posed.scree.as_deref().unwrap().clone();
    assert_eq!(posed.rank, scree.rank);
    assert_eq!(posed.reasons[0].to_string(), scree.reason);
    scree
}

/// Krylov steps and the dense routine give the same, of wide data and of many rows.
#[test]
fn large_data_have_the_same_rank() {
    let wide = factors((40, 1500, 3), 1.0, 9);
    assert!(wide.ncols() > 1024);
    let found = of(&wide);
    assert_eq!((found.rank, found.rule), (3, "permutation"), "{}", found.reason);
    let large = factors((1100, 1200, 6), 2.0, 11); // neither side is small
    let found = of(&large);
    assert_eq!((found.rank, found.rule), (6, "marchenko-pastur"), "{}", found.reason);
    let share = |share| chosen(&PcaData::Dense(large.as_ref()), RankRule::Share(share)).rank;
    let sum: f64 = found.eigenvalues[..4].iter().sum();
    assert_eq!(share(sum * (1.0 - 1e-9)), 4);
    assert_eq!(share(sum * (1.0 + 1e-6)), 5);
}

#[test]
fn units_and_threads_change_nothing() {
    let a = factors((70, 15, 3), 1.5, 21);
    let (whole, gram) = (of(&a), of_gram(&a));
    for exponent in [-200, -31, 40, 300] {
        let scaled = &a * faer::Scale(2f64.powi(exponent));
        assert_eq!(of(&scaled), whole);
        assert_eq!(of_gram(&scaled), gram);
    }
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| of(&a)), whole);
    assert_eq!(of(&a), whole);
    // any way of holding the data: sparse, centred on the way
    let raw = Mat::from_fn(70, 15, |i, j| a[(i, j)] + j as f64);
    let centring = Centring::of(raw.as_ref());
    assert_eq!(scree(&PcaData::Centred(raw.as_ref(), centring), None).unwrap().rank, whole.rank);
}

/// Means that are not subtracted count as a component, where permutations would take them for noise; large ones hide the rest.
#[test]
fn means_and_weights_are_kept_by_random_signs() {
    let a = factors((300, 20, 2), 0.3, 31);
    let raw = Mat::from_fn(300, 20, |i, j| a[(i, j)] + 0.03);
    let found = of(&raw);
    assert_eq!((found.rule, found.rank), ("signs", 3), "{}", found.reason);
    // a few rows with weights hold most of the sum of squares: noise of these rows is no component
    let noise = factors((120, 10, 0), 1.0, 32);
    let root = |i: usize| if i < 6 { 10.0 } else { 1.0 };
    let weighted = Mat::from_fn(120, 10, |i, j| root(i) * noise[(i, j)]);
    let found = of(&weighted);
    assert!(found.rule == "signs" && found.reason.contains("no eigenvalue exceeds"), "{}", found.reason);
}

#[test]
fn hostile_data_have_an_answer() {
    let auto = |a: &Mat<f64>| of(a).rank;
    assert_eq!(auto(&Mat::from_fn(10, 1, |i, _| i as f64 - 4.5)), 1); // one variable
    assert_eq!(auto(&Mat::from_fn(2, 5, |i, j| if i == 0 { j as f64 } else { -(j as f64) })), 1); // two rows
    assert_eq!(auto(&Mat::from_fn(1, 4, |_, j| j as f64)), 1); // one row
    let zeros = Mat::<f64>::zeros(6, 4);
    assert_eq!(auto(&zeros), 1); // constant columns, centred
    assert_eq!(scree(&PcaData::Gram(Mat::<f64>::zeros(4, 4).as_ref()), Some(9)).unwrap().rank, 1);
    // a constant column among others
    let a = factors((100, 8, 2), 0.5, 41);
    let with = Mat::from_fn(100, 9, |i, j| if j == 8 { 0.0 } else { a[(i, j)] });
    assert_eq!(auto(&with), auto(&a));
    // two variables that are one
    assert_eq!(auto(&Mat::from_fn(30, 2, |i, _| i as f64 - 14.5)), 1);
    let nan = Mat::from_fn(5, 3, |i, j| if (i, j) == (2, 1) { f64::NAN } else { 1.0 });
    let error = scree(&PcaData::Dense(nan.as_ref()), None).unwrap_err().to_string();
    assert!(error.contains("row 3") && error.contains("column 2"), "{error}");
    let c = Mat::<f64>::identity(3, 3);
    let error = posed(&PcaData::Gram(c.as_ref()), RankRule::Auto).unwrap_err().to_string();
    assert!(error.contains("90%") && error.contains("samples"), "{error}");
    let square = find_problem("hyperbolic-eig").unwrap();
    let options = Request { rank: Some(Rank::By(RankRule::Share(0.5))), ..Default::default() };
    assert!(pose(square, &PcaData::Gram(c.as_ref()), &options).is_err());
}
