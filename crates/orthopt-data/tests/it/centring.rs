//! Means cost no digits: C of centred columns against exact rational numbers, through every door of this crate.

use std::fs;
use std::path::PathBuf;

use faer::Mat;
use orthopt_data::stream::{Accumulate, accumulate, read_accumulator, write_accumulator};
use orthopt_data::{
    DataError, GramAccumulator, LoadOptions, Matrix, Prepare, Prepared, Rows, Scale, SparseRows, Summation,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::common::sparse;

const HOW: [Summation; 2] = [Summation::Compensated, Summation::Reproducible];

/// Means in standard deviations.
const FAR: [f64; 5] = [0.0, 1.0, 1e3, 1e6, 1e7];

const CENTRED: Prepare = Prepare { center: true, scale: Scale::None, covariance: false, features: None };

/// All numbers of these tests are multiples of this, and below 2²⁵.
const UNIT: f64 = 1.0 / (1_u64 << 28) as f64;

/// Rows whose column j has about this mean and a spread of about 1, the last column constant.
fn rows(m: usize, means: &[f64], seed: u64) -> Mat<f64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    let common: Vec<f64> = (0..m).map(|_| next()).collect();
    let n = means.len();
    Mat::from_fn(m, n + 1, |i, j| match means.get(j) {
        Some(mean) => {
            let value = mean + 2.0 * common[i] * (j as f64 - 1.5) + 2.0 * next();
            (value / UNIT).round() * UNIT
        }
        None => 1234567.25,
    })
}

/// C of the centred columns, m·C as an integer of UNIT² and rounded once; with row i as often as `times` says.
fn twin(a: &Mat<f64>, times: impl Fn(usize) -> i128) -> Mat<f64> {
    let entry = |i: usize, j: usize| (a[(i, j)] / UNIT) as i128;
    let m: i128 = (0..a.nrows()).map(&times).sum();
    // about the first row, so that nothing overflows
    let first = |j: usize| entry(0, j);
    let sum = |j: usize| -> i128 { (0..a.nrows()).map(|i| times(i) * (entry(i, j) - first(j))).sum() };
    let sums: Vec<i128> = (0..a.ncols()).map(sum).collect();
    Mat::from_fn(a.ncols(), a.ncols(), |j, k| {
        let product = |i: usize| times(i) * (entry(i, j) - first(j)) * (entry(i, k) - first(k));
        let whole = m * (0..a.nrows()).map(product).sum::<i128>() - sums[j] * sums[k];
        whole as f64 / m as f64 * UNIT * UNIT
    })
}

/// The largest error of an entry, as a share of √(cⱼⱼ·cₖₖ); constant columns must be exactly 0.
fn error(c: &Mat<f64>, expected: &Mat<f64>) -> f64 {
    let mut worst = 0.0_f64;
    for j in 0..c.ncols() {
        for k in 0..c.ncols() {
            let scale = (expected[(j, j)] * expected[(k, k)]).sqrt();
            let off = (c[(j, k)] - expected[(j, k)]).abs();
            if scale == 0.0 {
                assert_eq!(c[(j, k)], 0.0, "({j}, {k}) belongs to a constant column");
            } else {
                worst = worst.max(off / scale);
            }
        }
    }
    worst
}

fn all(n: usize) -> Vec<usize> {
    (0..n).collect()
}

fn centred(sums: &GramAccumulator) -> Mat<f64> {
    sums.prepared(&CENTRED, &all(sums.columns())).unwrap().0
}

fn empty(columns: usize, how: Summation) -> GramAccumulator {
    GramAccumulator::new(columns, how, "test", None).unwrap()
}

/// As compressed rows; all entries are stored, or only those that are not 0.
fn add_sparse(sums: &mut GramAccumulator, a: &Mat<f64>, weights: Option<&[f64]>) {
    let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
    for i in 0..a.nrows() {
        for j in (0..a.ncols()).filter(|j| a[(i, *j)] != 0.0) {
            indices.push(j);
            values.push(a[(i, j)]);
        }
        starts.push(values.len());
    }
    sums.add(Rows::Sparse(SparseRows::new(a.ncols(), &starts, &indices, &values).unwrap()), weights).unwrap();
}

fn whole(a: &Mat<f64>, how: Summation) -> GramAccumulator {
    let mut sums = empty(a.ncols(), how);
    sums.add(a.as_ref().into(), None).unwrap();
    sums
}

/// Chunks of random sizes (many of a row or two) in random accumulators, dense and sparse, some as bytes, merged in a
/// random tree.
fn in_parts(a: &Mat<f64>, mut seed: u64, how: Summation) -> GramAccumulator {
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let mut sums = vec![empty(a.ncols(), how)];
    let mut at = 0;
    while at < a.nrows() {
        let size = [1, 2, 7, 40, 600][next(5)].min(a.nrows() - at);
        if next(4) == 0 {
            sums.push(empty(a.ncols(), how));
        }
        let into = next(sums.len());
        let chunk = a.subrows(at, size).to_owned();
        match next(2) {
            0 => add_sparse(&mut sums[into], &chunk, None),
            _ => sums[into].add(chunk.as_ref().into(), None).unwrap(),
        }
        at += size;
    }
    while sums.len() > 1 {
        let other = sums.swap_remove(next(sums.len()));
        let into = next(sums.len());
        let other = GramAccumulator::from_bytes(&other.to_bytes(), "bytes").unwrap();
        sums[into].merge(&other).unwrap();
    }
    sums.pop().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_chunks_and_any_merges_keep_the_digits(
        m in 2_usize..1500, far in prop::collection::vec(0_usize..5, 1..6), seed: u64, outlier in prop::option::of(0_usize..3),
    ) {
        let means: Vec<f64> = far.iter().map(|at| FAR[*at]).collect();
        let mut a = rows(m, &means, seed);
        // a row that has nothing to do with the others: the first one, where shifts come from, or another
        if let Some(place) = outlier {
            (0..means.len()).for_each(|j| a[(place * (m - 1) / 2, j)] = 0.0);
        }
        let expected = twin(&a, |_| 1);
        for how in HOW {
            for sums in [whole(&a, how), in_parts(&a, seed, how)] {
                let c = centred(&sums);
                let off = error(&c, &expected);
                prop_assert!(off <= 1e-12, "{how:?}: {off:e}");
                let rounding = sums.rounding();
                for j in 0..c.ncols() {
                    prop_assert!(rounding[j] <= 1e-9 * expected[(j, j)] || expected[(j, j)] == 0.0);
                    for k in 0..c.ncols() {
                        let bound = (rounding[j] * rounding[k]).sqrt() + 4.0 * f64::EPSILON * c[(j, k)].abs(); // and what the twin rounds
                        prop_assert!((c[(j, k)] - expected[(j, k)]).abs() <= bound + f64::MIN_POSITIVE);
                    }
                }
                for (mean, j) in sums.prepared(&CENTRED, &all(c.ncols())).unwrap().1.means.unwrap().iter().zip(0..) {
                    let exact: i128 = (0..m).map(|i| (a[(i, j)] / UNIT) as i128).sum();
                    let exact = exact as f64 / m as f64 * UNIT;
                    prop_assert!((mean - exact).abs() <= 4.0 * f64::EPSILON * exact.abs().max(1.0), "{mean} {exact}");
                }
            }
        }
    }

    #[test]
    fn rows_as_they_are_keep_theirs(m in 2_usize..900, far in prop::collection::vec(0_usize..5, 1..6), seed: u64) {
        let means: Vec<f64> = far.iter().map(|at| FAR[*at]).collect();
        let a = rows(m, &means, seed);
        let n = a.ncols();
        let entry = |i: usize, j: usize| (a[(i, j)] / UNIT) as i128;
        let expected = Mat::from_fn(n, n, |j, k| {
            (0..m).map(|i| entry(i, j) * entry(i, k)).sum::<i128>() as f64 * UNIT * UNIT
        });
        for how in HOW {
            for sums in [whole(&a, how), in_parts(&a, seed, how)] {
                let off = error(&sums.gram().unwrap(), &expected);
                prop_assert!(off <= 1e-13, "{how:?}: {off:e}");
            }
        }
    }
}

#[test]
fn weights_are_rows_that_come_more_than_once() {
    let a = rows(300, &[0.0, 1e3, 1e7], 5);
    let powers: Vec<f64> = (0..300).map(|i| [0.0, 1.0, 4.0, 16.0][i % 4]).collect();
    let others: Vec<f64> = (0..300).map(|i| [3.0, 0.0, 7.0, 2.0][i % 4]).collect();
    for (how, weights) in [(HOW[0], &powers), (HOW[1], &powers), (HOW[0], &others)] {
        let expected = twin(&a, |i| weights[i] as i128);
        let (mut dense, mut compressed) = (empty(4, how), empty(4, how));
        dense.add(a.as_ref().into(), Some(weights)).unwrap();
        add_sparse(&mut compressed, &a, Some(weights));
        // what has no weight before what has some, and what has little
        let mut late = empty(4, how);
        late.add(Mat::<f64>::full(3, 4, 77.0).as_ref().into(), Some(&[0.0; 3])).unwrap();
        late.add(a.as_ref().into(), Some(weights)).unwrap();
        for sums in [dense, compressed, late] {
            let off = error(&centred(&sums), &expected);
            assert!(off <= 1e-12, "{how:?}: {off:e}");
        }
    }
    // any weights: what is constant stays constant
    for how in HOW {
        let mut sums = empty(4, how);
        let weights: Vec<f64> = (0..300).map(|i| 0.1 + f64::from(i)).collect();
        sums.add(a.as_ref().into(), Some(&weights)).unwrap();
        assert!((0..4).all(|j| centred(&sums)[(j, 3)] == 0.0));
    }
    // a first row of next to no weight is far from all others
    let mut sums = empty(1, HOW[0]);
    sums.add(Mat::<f64>::zeros(1, 1).as_ref().into(), Some(&[1e-30])).unwrap();
    for i in 0..50 {
        sums.add(Mat::from_fn(1, 1, |_, _| 1e9 + f64::from(i % 2)).as_ref().into(), None).unwrap();
    }
    assert!((centred(&sums)[(0, 0)] - 12.5).abs() < 1e-10);
}

/// Data times a power of two: C times its square, and the same correlations, bit by bit.
#[test]
fn powers_of_two_change_no_bit() {
    let a = rows(700, &[0.0, 3.0, 1e7], 9);
    let n = a.ncols();
    let std = Prepare::of(None, Scale::Std, None, None);
    for how in HOW {
        let (plain, correlations) =
            (centred(&whole(&a, how)), whole(&a, how).prepared(&std, &all(n)).unwrap().0);
        for k in -60..=60 {
            let unit = 2_f64.powi(k);
            let sums = whole(&(&a * faer::Scale(unit)), how);
            assert_eq!(centred(&sums), &plain * faer::Scale(unit * unit), "{how:?} {k}");
            assert_eq!(sums.gram().unwrap(), whole(&a, how).gram().unwrap() * faer::Scale(unit * unit));
            assert_eq!(sums.prepared(&std, &all(n)).unwrap().0, correlations);
        }
    }
    // squares that are no numbers
    let expected = whole(&a, HOW[0]).prepared(&std, &all(n)).unwrap();
    for k in [-900, -565, -430, 430, 565, 900] {
        let unit = 2_f64.powi(k);
        let scaled = &a * faer::Scale(unit);
        for sums in [whole(&scaled, HOW[0]), in_parts(&scaled, 3, HOW[0])] {
            let (c, units) = sums.prepared(&std, &all(n)).unwrap();
            assert!((&c - &expected.0).norm_max() < 1e-12, "{k}");
            for (scale, usual) in units.scales.unwrap().iter().zip(expected.1.scales.as_ref().unwrap()) {
                assert!((scale / unit - usual).abs() < 1e-12 * usual || *scale == 1.0, "{k} {scale}");
            }
            for wanted in [&CENTRED, &Prepare::default()] {
                let found = sums.prepared(wanted, &all(n));
                if k.abs() > 540 {
                    let message = found.unwrap_err().to_string();
                    assert!(message.contains("column 1 are so") && message.contains("squares"), "{message}");
                } else {
                    assert!(found.is_ok(), "{k}");
                }
            }
        }
    }
    // a part with small numbers, then one with usual ones
    let mut sums = whole(&(&a * faer::Scale(2_f64.powi(-700))), HOW[0]);
    sums.merge(&whole(&a, HOW[0])).unwrap();
    sums.add(a.as_ref().into(), None).unwrap();
    let both = Mat::from_fn(2100, n, |i, j| if i < 700 { 0.0 } else { a[(i % 700, j)] });
    assert!(error(&centred(&sums), &twin(&both, |_| 1)) < 1e-12);
}

/// Columns that are stored as sparse ones, nearly full and far from zero, beside those with few entries.
#[test]
fn sparse_columns_that_are_full() {
    let mut a = rows(400, &[0.0, 0.0, 1e7, 1e6], 2);
    for i in 0..400 {
        if i % 3 > 0 {
            (a[(i, 0)], a[(i, 1)]) = (0.0, 0.0);
        }
    }
    a[(17, 3)] = 0.0; // not quite full
    let expected = twin(&a, |_| 1);
    for how in HOW {
        for parts in [1, 5] {
            let mut sums = empty(5, how);
            for k in 0..parts {
                add_sparse(&mut sums, &a.subrows(k * 400 / parts, 400 / parts).to_owned(), None);
            }
            let off = error(&centred(&sums), &expected);
            assert!(off <= 1e-13, "{how:?}: {off:e}");
        }
    }
    // rows with so few entries that they are not made dense
    let wide = |i: usize, j: usize| {
        if j < 5 { a[(i, j)] } else { f64::from(u8::from((i * 7 + j).is_multiple_of(40))) }
    };
    let wide = Mat::from_fn(400, 60, wide);
    let expected = twin(&wide, |_| 1);
    let mut sums = empty(60, HOW[0]);
    (0..10).for_each(|k| add_sparse(&mut sums, &wide.subrows(40 * k, 40).to_owned(), None));
    let off = error(&centred(&sums), &expected);
    assert!(off <= 1e-13, "{off:e}");
}

/// Prepared data as a matrix, with their means subtracted.
fn explicit(prepared: &Prepared) -> Mat<f64> {
    let matrix = prepared.matrix.to_dense();
    let mean = |j: usize| prepared.means.as_ref().map_or(0.0, |means| means[j]);
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] - mean(j))
}

#[test]
fn data_in_memory_keep_their_digits() {
    let mut a = rows(3000, &FAR, 4);
    // a sparse column whose mean is not 0
    (0..3000).for_each(|i| a[(i, 0)] = if i % 3 > 0 { 0.0 } else { a[(i, 0)] + 64.0 });
    let expected = twin(&a, |_| 1);
    let n = a.ncols();
    for matrix in [Matrix::Dense(a.clone()), sparse(&a)] {
        for covariance in [false, true] {
            let prepare = Prepare { covariance, ..CENTRED };
            let prepared = prepare.apply(matrix.clone()).unwrap();
            let left = explicit(&prepared);
            let times = if covariance { 2999.0 } else { 1.0 };
            let c = left.transpose() * &left * faer::Scale(times);
            let off = error(&c, &expected);
            assert!(off <= 1e-12, "{off:e}");
            // as it is computed where nothing is made dense
            if let Some(means) = &prepared.means {
                let stored = prepared.matrix.to_dense();
                let products = stored.transpose() * &stored;
                let product = |j, k| products[(j, k)] - 3000.0 * means[j] * means[k];
                let c = Mat::from_fn(n, n, |j, k| product(j, k) * times);
                let off = error(&c, &expected);
                assert!(off <= 1e-12, "{off:e}");
            }
        }
        let std = Prepare::of(None, Scale::Std, None, None);
        let left = explicit(&std.apply(matrix.clone()).unwrap());
        let c = left.transpose() * &left;
        for j in 0..n - 1 {
            for k in 0..n - 1 {
                let wanted = expected[(j, k)] / (expected[(j, j)] * expected[(k, k)]).sqrt();
                assert!((c[(j, k)] - wanted).abs() < 1e-12);
            }
        }
        assert_eq!(c[(n - 1, n - 1)], 0.0);
    }
}

/// Files, with and without columns chosen by their variance, and sums that are written and read.
#[test]
fn files_keep_their_digits() {
    let folder = TempDir::new().unwrap();
    // variances that grow with j
    let a = rows(900, &[1e7, 1e6, 0.0, 1e7, 1e3], 8);
    let n = a.ncols();
    let spread = |j: usize| 2_f64.powi(j as i32);
    let mean = |j: usize| a[(0, j)].round();
    let a = Mat::from_fn(900, n, |i, j| (mean(j) + (a[(i, j)] - mean(j)) * spread(j)).round());
    let expected = twin(&a, |_| 1);
    let write = |name: &str, rows: std::ops::Range<usize>| -> PathBuf {
        let line = |i: usize| -> String {
            let values: Vec<String> = (0..n).map(|j| format!("{:.1}", a[(i, j)])).collect();
            values.join(",") + "\n"
        };
        let path = folder.path().join(name);
        fs::write(&path, "a,b,c,d,e,f\n".to_string() + &rows.map(line).collect::<String>()).unwrap();
        path
    };
    let paths = [write("1.csv", 0..400), write("2.csv", 400..900)];
    let request = |how, screen| Accumulate { how, screen, counted: None, load: LoadOptions::default() };
    for how in HOW {
        let found = accumulate(&paths, &request(how, None), None, &mut |_| {}).unwrap();
        let file = folder.path().join("c.npz");
        write_accumulator(&file, &found.sums).unwrap();
        let read = read_accumulator(&file, None).unwrap().unwrap();
        let mut earlier = accumulate(&paths[..1], &request(how, None), None, &mut |_| {}).unwrap().sums;
        earlier = accumulate(&paths[1..], &request(how, None), Some(earlier), &mut |_| {}).unwrap().sums;
        for sums in [&found.sums, &read, &earlier] {
            let off = error(&centred(sums), &expected);
            assert!(off <= 1e-12, "{how:?}: {off:e}");
        }
        let screened = accumulate(&paths, &request(how, Some(3)), None, &mut |_| {}).unwrap();
        let mut order = all(n);
        order.sort_by(|j, k| expected[(*k, *k)].total_cmp(&expected[(*j, *j)]));
        order.truncate(3);
        order.sort_unstable();
        assert_eq!(screened.kept, Some(order.clone()));
        let chosen = Mat::from_fn(3, 3, |j, k| expected[(order[j], order[k])]);
        assert!(error(&centred(&screened.sums), &chosen) <= 1e-12);
    }
    // squares that are no numbers are said
    let tiny = folder.path().join("tiny.csv");
    fs::write(&tiny, "1e-170,1e-170,2\n3e-170,1e-170,1\n4e-170,1e-170,2\n").unwrap();
    let error = accumulate(&[tiny], &request(HOW[0], Some(1)), None, &mut |_| {}).unwrap_err();
    assert!(
        matches!(&error, DataError::TooLarge { .. }) && error.to_string().contains("column 1"),
        "{error}"
    );
}
