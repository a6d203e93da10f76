//! Sums over chunks against a slow twin that adds without rounding.

use faer::Mat;
use orthopt_data::{DataError, GramAccumulator, Prepare, Rows, Scale, SparseRows, Summation};
use proptest::prelude::*;

const HOW: [Summation; 2] = [Summation::Compensated, Summation::Reproducible];

/// The sum, rounded once: Shewchuk's expansions, as `math.fsum` of Python does it.
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for mut x in terms {
        let mut kept = Vec::new();
        for mut y in parts.drain(..) {
            if x.abs() < y.abs() {
                (x, y) = (y, x);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        kept.push(x);
        parts = kept;
    }
    let Some(mut high) = parts.pop() else { return 0.0 };
    while let Some(y) = parts.pop() {
        let x = high;
        high = x + y;
        let low = y - (high - x);
        if low != 0.0 {
            // a tie is decided by what comes below
            if parts.last().is_some_and(|next| (*next > 0.0) == (low > 0.0) && *next != 0.0) {
                let doubled = 2.0 * low;
                if high + doubled - high == doubled {
                    high += doubled;
                }
            }
            break;
        }
    }
    high
}

fn twin(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.ncols(), a.ncols(), |j, k| {
        exact_sum((0..a.nrows()).flat_map(|i| {
            let product = a[(i, j)] * a[(i, k)];
            [product, a[(i, j)].mul_add(a[(i, k)], -product)]
        }))
    })
}

/// Rows as CSR, with explicit zeros where `keep` says so.
struct Csr {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Csr {
    fn of(a: &Mat<f64>, keep: impl Fn(usize, usize) -> bool) -> Self {
        let mut csr = Self { columns: a.ncols(), starts: vec![0], indices: vec![], values: vec![] };
        for i in 0..a.nrows() {
            for j in (0..a.ncols()).filter(|j| a[(i, *j)] != 0.0 || keep(i, *j)) {
                csr.indices.push(j);
                csr.values.push(a[(i, j)]);
            }
            csr.starts.push(csr.values.len());
        }
        csr
    }

    fn rows(&self) -> Rows<'_> {
        Rows::Sparse(SparseRows::new(self.columns, &self.starts, &self.indices, &self.values).unwrap())
    }
}

fn empty(columns: usize, how: Summation) -> GramAccumulator {
    GramAccumulator::new(columns, how, "test", None).unwrap()
}

fn whole(a: &Mat<f64>, how: Summation) -> GramAccumulator {
    let mut sums = empty(a.ncols(), how);
    sums.add(Rows::Dense(a.as_ref()), None).unwrap();
    sums
}

/// Small and large numbers, whole ones, zeros: what slices, rests and shifts are for.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0,
        2 => Just(0.0),
        2 => (-50_i32..50).prop_map(f64::from),
        1 => (-1.0..1.0, -90_i32..60).prop_map(|(v, e): (f64, i32)| v * 2f64.powi(e)),
        1 => (-3.0_f32..3.0).prop_map(f64::from),
    ]
}

fn matrix() -> impl Strategy<Value = Mat<f64>> {
    (1_usize..60, 1_usize..12).prop_flat_map(|(m, n)| {
        prop::collection::vec(entry(), m * n)
            .prop_map(move |values| Mat::from_fn(m, n, |i, j| values[i * n + j]))
    })
}

/// `a` in `parts` chunks, added in an order and merged in a tree that `seed` decides.
fn in_parts(a: &Mat<f64>, parts: usize, mut seed: u64, how: Summation) -> GramAccumulator {
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let edges: Vec<usize> = (0..=parts).map(|k| k * a.nrows() / parts).collect();
    let mut sums: Vec<GramAccumulator> = Vec::new();
    for range in edges.windows(2) {
        let chunk = a.subrows(range[0], range[1] - range[0]).to_owned();
        let csr = Csr::of(&chunk, |i, j| (i + j) % 3 == 0);
        let rows = if next(2) == 0 { csr.rows() } else { Rows::Dense(chunk.as_ref()) };
        if sums.is_empty() || next(2) == 0 {
            sums.push(empty(a.ncols(), how));
        }
        let at = next(sums.len());
        sums[at].add(rows, None).unwrap();
    }
    while sums.len() > 1 {
        let other = sums.swap_remove(next(sums.len()));
        let at = next(sums.len());
        let other = GramAccumulator::from_bytes(&other.to_bytes(), "bytes").unwrap();
        sums[at].merge(&other).unwrap();
    }
    sums.pop().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn reproducible_sums_are_the_exact_ones_rounded(a in matrix(), parts in 1_usize..9, seed: u64) {
        let expected = twin(&a);
        prop_assert_eq!(whole(&a, Summation::Reproducible).gram().unwrap(), expected.clone());
        let sums = in_parts(&a, parts, seed, Summation::Reproducible);
        prop_assert_eq!(sums.gram().unwrap(), expected);
        let ones: Vec<f64> =
            (0..a.ncols()).map(|j| exact_sum((0..a.nrows()).map(|i| a[(i, j)]))).collect();
        prop_assert_eq!(sums.sums(), ones);
        prop_assert_eq!((sums.rows() as usize, sums.weight()), (a.nrows(), a.nrows() as f64));
    }

    #[test]
    fn compensated_sums_keep_their_bound(a in matrix(), parts in 1_usize..9, seed: u64) {
        let expected = twin(&a);
        // rows as they are, from sums about numbers that are near the means: those are not much larger than the rows
        let size = |j: usize| 6.0 * expected[(j, j)].sqrt();
        for sums in [whole(&a, Summation::Compensated), in_parts(&a, parts, seed, Summation::Compensated)] {
            let c = sums.gram().unwrap();
            for j in 0..a.ncols() {
                for k in 0..a.ncols() {
                    let bound = 520.0 * 2f64.powi(-53) * size(j) * size(k);
                    prop_assert!((c[(j, k)] - expected[(j, k)]).abs() <= bound, "{} {}", c[(j, k)], expected[(j, k)]);
                }
            }
        }
    }

    #[test]
    fn changed_bytes_are_errors(a in matrix(), at: prop::sample::Index, bit in 0_u8..8, cut: prop::sample::Index) {
        for how in HOW {
            let bytes = whole(&a, how).to_bytes();
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] ^= 1 << bit;
            prop_assert!(GramAccumulator::from_bytes(&changed, "x").is_err());
            prop_assert!(GramAccumulator::from_bytes(&bytes[..cut.index(bytes.len())], "x").is_err());
        }
    }
}

/// Rows of several blocks, so that blocks of different scales and slices meet.
fn tall(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| {
        let v = ((i * 7919 + j * 104729) as f64 * 0.618).sin() * if i % 300 == 17 { 1e5 } else { 1.0 };
        if j % 3 == 0 { v.round() } else { v }
    })
}

/// More columns than a cache has sums of, with numbers of nonzeros as unlike as those of words.
#[test]
fn sparse_rows_of_many_columns_are_those_of_dense_ones() {
    let entry =
        |i: usize, j: usize| ((i * 7919 + j * 104_729) as f64 * 0.618).sin() * 2f64.powi((i % 9) as i32);
    let a =
        Mat::from_fn(
            60,
            400,
            |i, j| if (i * 31 + j * 17).is_multiple_of(1 + j / 8) { entry(i, j) } else { 0.0 },
        );
    let mut sums = empty(a.ncols(), Summation::Reproducible);
    for from in [0, 25] {
        let chunk = a.subrows(from, if from == 0 { 25 } else { 35 }).to_owned();
        sums.add(Csr::of(&chunk, |_, _| false).rows(), None).unwrap();
    }
    assert_eq!(sums.gram().unwrap(), twin(&a));
}

#[test]
fn chunks_of_any_number_give_the_same_bits() {
    let a = tall(2000, 70);
    let expected = twin(&a);
    assert_eq!(whole(&a, Summation::Reproducible).gram().unwrap(), expected);
    for parts in [7, 100] {
        assert_eq!(in_parts(&a, parts, 3, Summation::Reproducible).gram().unwrap(), expected, "{parts}");
    }
    // the same chunks, the same bits, for any number of threads
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| in_parts(&a, 7, 3, Summation::Compensated).gram().unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn growing_scales_and_many_words_lose_nothing() {
    let sizes: [f64; 7] = [1e-12, 1e20, 1e-30, 1.0, 1e40, -1e40, 1e-44];
    let a = Mat::from_fn(7, 3, |i, j| {
        (sizes[i].abs() * (1.0 + j as f64)).sqrt().copysign(sizes[i]) * (1.0 + 1e-9 * i as f64)
    });
    let mut sums = empty(3, Summation::Reproducible);
    for i in 0..7 {
        sums.add(Rows::Dense(a.subrows(i, 1)), None).unwrap();
    }
    assert_eq!(sums.gram().unwrap(), twin(&a));
    assert_eq!(in_parts(&a, 7, 1, Summation::Reproducible).gram().unwrap(), twin(&a));
}

#[test]
fn weights_count_rows() {
    let a = tall(40, 5);
    let weights: Vec<f64> = (0..40).map(|i| [1.0, 4.0, 0.25, 0.0][i % 4]).collect();
    let scaled = Mat::from_fn(40, 5, |i, j| weights[i].sqrt() * a[(i, j)]);
    for how in HOW {
        let mut sums = empty(5, how);
        sums.add(Rows::Dense(a.as_ref()), Some(&weights)).unwrap();
        assert_eq!(sums.gram().unwrap(), whole(&scaled, how).gram().unwrap());
        assert_eq!(sums.weight(), 52.5);
        let expected = exact_sum((0..40).map(|i| weights[i] * a[(i, 2)]));
        assert!((sums.sums()[2] - expected).abs() < 1e-9 * expected.abs().max(1.0));
        for (bad, message) in
            [(vec![1.0; 3], "3 weights for 40 rows"), (vec![-1.0; 40], "the weight of row 1 is -1")]
        {
            let error = sums.add(Rows::Dense(a.as_ref()), Some(&bad)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}

#[test]
fn centring_and_scaling_are_those_of_the_samples() {
    let a = Mat::from_fn(300, 6, |i, j| 1e6 * j as f64 + ((i * (j + 3)) as f64).sin());
    let all: Vec<usize> = (0..6).collect();
    for scale in [Scale::None, Scale::Unit, Scale::Std, Scale::By(0.5)] {
        for (center, covariance) in [(false, false), (true, false), (true, true)] {
            let prepare = Prepare { center, scale, covariance, features: None };
            let expected = prepare.apply(a.clone().into()).unwrap();
            let samples = expected.matrix.to_dense();
            let expected_c = samples.transpose() * &samples;
            let (c, units) = whole(&a, Summation::Reproducible).prepared(&prepare, &all).unwrap();
            for j in 0..6 {
                for k in 0..6 {
                    let size = (expected_c[(j, j)] * expected_c[(k, k)]).sqrt();
                    let off = (c[(j, k)] - expected_c[(j, k)]).abs();
                    assert!(off <= 1e-7 * size, "{prepare:?} {j} {k}: {off:e} of {size:e}");
                }
            }
            assert_eq!(units.means.is_some(), expected.units.means.is_some());
            for (ours, theirs) in
                [(&units.scales, &expected.units.scales), (&units.means, &expected.units.means)]
            {
                for (a, b) in ours.iter().flatten().zip(theirs.iter().flatten()) {
                    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{prepare:?}: {a} {b}");
                }
            }
        }
    }
    let constant = Mat::from_fn(9, 2, |i, j| if j == 0 { 0.1 } else { i as f64 });
    for how in HOW {
        let prepare = Prepare::of(None, Scale::Std, None, None);
        let (c, _) = whole(&constant, how).prepared(&prepare, &[0, 1]).unwrap();
        assert_eq!((c[(0, 0)], c[(0, 1)]), (0.0, 0.0));
        assert!((c[(1, 1)] - 1.0).abs() < 1e-14);
    }
}

#[test]
fn mistakes_are_named_and_nothing_is_added() {
    for how in HOW {
        let mut sums = empty(3, how);
        sums.add(Rows::Dense(tall(5, 3).as_ref()), None).unwrap();
        let before = sums.to_bytes();
        let error = |sums: &mut GramAccumulator, a: Mat<f64>| {
            sums.add(Rows::Dense(a.as_ref()), None).unwrap_err().to_string()
        };
        assert!(
            error(&mut sums, Mat::zeros(2, 4)).starts_with("test, chunk 2: 4 columns where 3 are expected")
        );
        let mut bad = tall(5, 3);
        bad[(3, 1)] = f64::NAN;
        let message = error(&mut sums, bad.clone());
        assert!(
            message.starts_with("test, chunk 2: the value in row 4, column 2 (counted from 1) is NaN"),
            "{message}"
        );
        let csr = Csr::of(&bad, |_, _| false);
        let message = sums.add(csr.rows(), None).unwrap_err().to_string();
        assert!(message.contains("row 4, column 2"), "{message}");
        assert_eq!(sums.to_bytes(), before);
        assert!(sums.merge(&empty(4, how)).is_err());
    }
    let mut sums = empty(1, Summation::Reproducible);
    let error =
        sums.add(Rows::Dense(Mat::from_fn(1, 1, |_, _| 1e60).as_ref()), None).unwrap_err().to_string();
    assert!(error.contains("1e60"), "{error}");
    sums.add(Rows::Dense(Mat::from_fn(1, 1, |_, _| 1e-47).as_ref()), None).unwrap();
    assert!(sums.gram().unwrap_err().to_string().contains("column 1 is so small"));
    sums.add(Rows::Dense(Mat::from_fn(1, 1, |_, _| 1.0).as_ref()), None).unwrap();
    assert_eq!(sums.gram().unwrap()[(0, 0)], 1.0);
    assert!(sums.merge(&empty(1, Summation::Compensated)).is_err());
    let error = GramAccumulator::new(30_000, Summation::Compensated, "wide", Some(1 << 30)).unwrap_err();
    assert!(matches!(&error, DataError::Memory { .. }), "{error}");
    assert!(error.to_string().starts_with("wide: the sums of 30000 columns: at least 7."), "{error}");
}

#[test]
fn columns_may_come_later_and_names_travel() {
    for how in HOW {
        let a = tall(30, 4);
        let mut sums = empty(3, how);
        sums.add(Rows::Dense(a.subcols(0, 3).subrows(0, 10)), None).unwrap();
        sums.widen(4, None).unwrap();
        sums.add(Rows::Dense(a.subrows(10, 20)), None).unwrap();
        let mut expected = a.clone();
        (0..10).for_each(|i| expected[(i, 3)] = 0.0);
        let (c, expected) = (sums.gram().unwrap(), twin(&expected));
        assert!((&c - &expected).norm_max() <= 1e-15 * expected.norm_max());
        let names: Vec<String> = ["a", "b", "c", "d"].map(String::from).into();
        let named = sums.named(names.clone()).unwrap();
        let back = GramAccumulator::from_bytes(&named.to_bytes(), "x").unwrap();
        assert_eq!(back.names(), Some(names.as_slice()));
        assert_eq!(back.to_bytes(), named.to_bytes());
        let mut others = named.empty().unwrap();
        let swapped: Vec<String> = ["a", "c", "b", "d"].map(String::from).into();
        let error = others.merge(&back.clone().named(swapped).unwrap()).unwrap_err().to_string();
        assert!(error.contains("column `b` is not column 2"), "{error}");
    }
}
