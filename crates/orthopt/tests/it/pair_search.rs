//! The fast 2-row searches against their slow twin and an independent grid, over everything
//! that is degenerate.

use crate::common::pair::Case;
use crate::common::{cases, normal, rng};
use orthopt_core::pair::slow;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
use proptest::prelude::*;
use rand::RngExt;

/// One column of Z.
#[derive(Clone, Debug)]
enum Column {
    Any(f64, f64),
    Zero,
    First(f64),
    Second(f64),
    /// Length, number of a shared angle, quarter turns, and how far off that angle.
    Group(f64, usize, usize, f64),
}

/// Angles that groups of columns share (as exact ratios, so that they are equal to rounding).
const GROUPS: [(f64, f64); 4] = [(0.6, 0.8), (0.28, 0.96), (1.0, 1.0), (1.0, 3e-5)];

fn column() -> impl Strategy<Value = Column> {
    let number = || -1.5..1.5f64;
    prop_oneof![
        4 => (number(), number()).prop_map(|(x, y)| Column::Any(x, y)),
        2 => Just(Column::Zero),
        2 => number().prop_map(Column::First),
        2 => number().prop_map(Column::Second),
        4 => (number(), 0..GROUPS.len(), 0..4usize).prop_map(|(l, g, q)| Column::Group(l, g, q, 0.0)),
        1 => (number(), 0..GROUPS.len(), 0..4usize, -13.0..-6.0f64)
            .prop_map(|(l, g, q, e)| Column::Group(l, g, q, 10f64.powf(e))),
    ]
}

impl Column {
    fn entries(&self) -> (f64, f64) {
        match *self {
            Self::Any(x, y) => (x, y),
            Self::Zero => (0.0, 0.0),
            Self::First(x) => (x, 0.0),
            Self::Second(y) => (0.0, y),
            Self::Group(length, group, quarters, off) => {
                let (u, v) = GROUPS[group];
                let (x, y) = (length * (u - off * v), length * (v + off * u));
                [(x, y), (-y, x), (-x, -y), (y, -x)][quarters]
            }
        }
    }
}

fn columns() -> impl Strategy<Value = Vec<Column>> {
    prop_oneof![
        1 => prop::collection::vec(column(), 1),
        4 => prop::collection::vec(column(), 2..8),
        2 => prop::collection::vec(column(), 8..=40),
        1 => prop::collection::vec(Just(Column::Zero), 1..4),
    ]
}

/// Usual, tiny or huge.
fn scale() -> impl Strategy<Value = f64> {
    prop_oneof![6 => Just(1.0), 1 => Just(1e-8), 1 => Just(1e8)]
}

fn entries<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    let entry = prop_oneof![6 => -2.0..2.0f64, 1 => Just(0.0)];
    let general = prop::collection::vec(entry, N).prop_map(|v| <[f64; N]>::try_from(v).unwrap());
    prop_oneof![6 => general, 1 => Just([0.0; N])]
}

fn case(h: &'static str, lambda: impl Strategy<Value = f64>) -> impl Strategy<Value = Case> {
    let rows = (columns(), 0..8u32, prop_oneof![3 => Just(0.7), 1 => Just(0.0), 1 => -2.0..2.0f64]);
    let scales = (scale(), scale(), scale());
    (rows, entries::<4>(), entries::<3>(), scales, any::<bool>(), lambda).prop_map(
        move |((columns, shape, ratio), p, k, (sz, sp, sk), exact, lambda)| {
            let z: Vec<_> = columns.iter().map(Column::entries).collect();
            let mut z1: Vec<f64> = z.iter().map(|e| sz * e.0).collect();
            let mut z2: Vec<f64> = z.iter().map(|e| sz * e.1).collect();
            match shape {
                0 => z2 = z1.iter().map(|v| ratio * v).collect(), // parallel, or one row zero
                1 => z1.fill(0.0),
                _ => {}
            }
            if h == "nonneg" {
                z1.iter_mut().chain(&mut z2).for_each(|v| *v = v.abs());
            }
            let p = [[sp * p[0], sp * p[1]], [sp * p[2], sp * p[3]]];
            let k = if exact { k.map(|v| sk * v) } else { [0.0; 3] };
            Case { p, k, z1, z2, h, lambda }
        },
    )
}

/// λ = 0, small, moderate, and far above everything smooth.
fn lambdas() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        1 => Just(1e-6),
        8 => 0.01..4.0f64,
        1 => Just(1e6),
    ]
}

/// Columns closer than 1e-12 vanish together in the slow twin: its move is what counts, valued
/// from the definition.
fn against_slow(case: &Case) -> Result<(), TestCaseError> {
    let twin = slow::minimise(&case.model(), &case.penalty()).step;
    let reference = case.value(Some(&twin)).min(case.value(None));
    case.check(reference).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn none(case in case("none", Just(0.0))) {
        against_slow(&case)?;
    }

    #[test]
    fn l0(case in case("l0", lambdas())) {
        against_slow(&case)?;
    }

    #[test]
    fn l1(case in case("l1", lambdas())) {
        against_slow(&case)?;
    }

    #[test]
    fn nonneg(case in case("nonneg", Just(0.0))) {
        against_slow(&case)?;
    }
}

const PENALTIES: [(&str, f64); 7] =
    [("none", 0.0), ("l0", 0.0), ("l0", 0.4), ("l0", 50.0), ("l1", 0.3), ("l1", 50.0), ("nonneg", 0.0)];

/// Every penalty on one (P, K, Z), against the slow twin and the grid.
fn all_penalties(what: &str, p: [[f64; 2]; 2], k: [f64; 3], z: &[(f64, f64)]) {
    for (h, lambda) in PENALTIES {
        let sign = |v: f64| if h == "nonneg" { v.abs() } else { v };
        let z1 = z.iter().map(|e| sign(e.0)).collect();
        let z2 = z.iter().map(|e| sign(e.1)).collect();
        let case = Case { p, k, z1, z2, h, lambda };
        let twin = slow::minimise(&case.model(), &case.penalty());
        let oracle = case.oracle(2048);
        assert!(
            (twin.value - oracle).abs() <= 1e-8 * (1.0 + oracle.abs()),
            "{what}, {h} {lambda}: slow twin {}, grid {oracle}",
            twin.value
        );
        if let Err(message) = case.check(oracle).and_then(|()| case.check_plain(oracle)) {
            panic!("{what}, {h} {lambda}: {message}\n{case:?}");
        }
    }
}

#[test]
fn random_problems_against_the_grid() {
    let mut rng = rng(11);
    for number in 0..40 {
        let mut draw = || normal(&mut rng);
        let p = [[draw(), draw()], [draw(), draw()]];
        let k = if number % 2 == 0 { [0.0; 3] } else { [draw(), draw(), draw()] };
        let z: Vec<_> = (0..1 + number % 9).map(|_| (draw(), draw())).collect();
        all_penalties(&format!("random {number}"), p, k, &z);
    }
}

#[test]
fn saddles_and_hard_cases() {
    let axes = [(1.0, 0.0), (0.0, 0.7)];
    let tilted = [(0.9, 0.3), (-0.2, 0.8), (0.0, 0.4)];
    for z in [&axes[..], &tilted[..]] {
        // P = 0: a = b = 0 on both circles, two or four equal minima
        all_penalties("no linear part", [[0.0; 2]; 2], [1.0, 0.0, -1.0], z);
        all_penalties("no linear part, mixed", [[0.0; 2]; 2], [0.3, 1.7, -0.4], z);
        all_penalties("nothing smooth", [[0.0; 2]; 2], [0.0; 3], z);
        // a2 = b2 = 0, and a = b = 0 on one circle only
        all_penalties("circle without curvature", [[1.0, 2.0], [2.0, -1.0]], [1.0, 0.0, 1.0], z);
        for epsilon in [0.0, 1e-300, 1e-20, 1e-12, 1e-6] {
            // W = diag, K = diag: a2 = dK dW, b2 = 0, so e₂ is an axis: g₂ = a or b
            let k = [2.0, 0.0, -1.0];
            for v in [0.1, 1.0, 3.0, 10.0] {
                all_penalties("hard case in a", [[epsilon, v], [-v, epsilon]], k, z);
                all_penalties("hard case in b", [[v, epsilon], [-epsilon, v]], k, z);
                all_penalties("hard case of reflections", [[-v, epsilon], [epsilon, v]], k, z);
            }
        }
    }
    // the minimum at θ = 0 is flat to fourth order: p″ = −a − 4A = 0
    let flat = 4.0 * 0.5 * (1.0 - 0.49) * 1.5;
    all_penalties("flat minimum", [[-0.5 * flat, 0.0], [0.0, -0.5 * flat]], [1.5, 0.0, -1.5], &axes);
}

#[test]
fn structured_columns() {
    let p = [[0.3, -1.1], [0.8, -0.2]];
    for k in [[0.0; 3], [-1.2, 0.4, 0.6]] {
        all_penalties("one column", p, k, &[(0.3, -0.4)]);
        all_penalties("zero columns", p, k, &[(0.0, 0.0), (0.0, 0.0)]);
        all_penalties("axes only", p, k, &[(1.0, 0.0), (0.0, 1.0), (-0.5, 0.0), (0.0, -0.25)]);
        all_penalties("first row zero", p, k, &[(0.0, 1.0), (0.0, -0.5), (0.0, 0.0)]);
        all_penalties("second row zero", p, k, &[(0.1, 0.0), (-2.0, 0.0)]);
        all_penalties("parallel rows", p, k, &[(1.0, 2.0), (-0.5, -1.0), (0.25, 0.5)]);
        all_penalties("orthogonal groups", p, k, &[(0.6, 0.8), (-0.8, 0.6), (1.2, 1.6), (0.8, -0.6)]);
        all_penalties("sparse", p, k, &[(0.0, 0.0), (0.0, 0.9), (0.4, 0.0), (0.0, 0.0), (0.3, 0.2)]);
        for gap in [1e-13, 1e-12, 1e-10, 1e-8, 1e-6] {
            for lambda in [0.4, 5.0] {
                for h in ["l0", "l1"] {
                    let (z1, z2) = (vec![0.6, 0.6 - 0.8 * gap, -0.8], vec![0.8, 0.8 + 0.6 * gap, 0.6]);
                    let case = Case { p, k, z1, z2, h, lambda };
                    case.check(case.oracle(2048)).unwrap_or_else(|e| panic!("{gap:e} {h} {lambda}: {e}"));
                }
            }
        }
    }
}

/// Entries far below their partner in the column are nonzero until they are set to zero.
#[test]
fn tiny_entries_are_worth_their_lambda() {
    for tiny in [1e-13, 1e-15, 1e-17, 1e-30, 1e-300] {
        let (z1, z2) = (vec![1.0, 0.0], vec![tiny, 0.0]);
        let case = Case { p: [[-3.0, 0.0], [0.0, -3.0]], k: [0.0; 3], z1, z2, h: "l0", lambda: 1.0 };
        case.check(case.oracle(512)).unwrap_or_else(|e| panic!("entry {tiny:e}: {e}"));
    }
}

#[test]
fn moves_keep_zeros_and_lengths() {
    let mut rng = rng(5);
    for _ in 0..2000 {
        let t: f64 = rng.random_range(-4.0..4.0);
        let branch = if rng.random() { Branch::Rotation } else { Branch::Reflection };
        let step = PairMove::new(branch, t.cos(), t.sin());
        let (a, b) = (normal(&mut rng), normal(&mut rng));
        // a zero column, a column that the move turns onto each axis, and one that it does not
        let v = step.matrix();
        let z1 = [0.0, a * v[0][0], a * v[1][0], a];
        let z2 = [0.0, a * v[0][1], a * v[1][1], b];
        let (mut n1, mut n2) = ([9.0; 4], [9.0; 4]);
        step.apply(&z1, &z2, &mut n1, &mut n2);
        assert_eq!((n1[0], n2[0], n2[1], n1[2]), (0.0, 0.0, 0.0, 0.0));
        assert!((n1[1] - a).abs() <= 4e-16 * a.abs() && (n2[2] - a).abs() <= 4e-16 * a.abs());
        assert!((n1[3].hypot(n2[3]) - a.hypot(b)).abs() <= 4e-16 * a.hypot(b));
        let identity: f64 =
            (0..2).map(|i| (0..2).map(|j| (v[i][j] - f64::from(i == j)).powi(2)).sum::<f64>()).sum();
        assert!((step.distance_to_identity() - identity.sqrt()).abs() < 1e-14);
    }
    // near the identity the distance keeps its digits
    let step = PairMove::new(Branch::Rotation, 1.0, 1e-12);
    assert!((step.distance_to_identity() - 2f64.sqrt() * 1e-12).abs() < 1e-26);
}

/// Columns whose squares underflow still have a direction, or none that matters: V stays
/// orthogonal whatever they are.
#[test]
fn columns_of_vanishing_length() {
    let p = [[0.3, -1.1], [0.8, -0.2]];
    for tiny in [1e-100, 1e-154, 1e-160, 1e-200, 1e-300] {
        for z in [vec![(tiny, tiny)], vec![(0.6, 0.8), (tiny, -tiny)], vec![(tiny, 3.0 * tiny), (0.0, 1.0)]] {
            for k in [[0.0; 3], [-1.2, 0.4, 0.6]] {
                for (h, lambda) in PENALTIES {
                    let sign = |v: f64| if h == "nonneg" { v.abs() } else { v };
                    let z1 = z.iter().map(|e| sign(e.0)).collect();
                    let z2 = z.iter().map(|e| sign(e.1)).collect();
                    let case = Case { p, k, z1, z2, h, lambda };
                    // what the smooth part and the columns of usual length allow
                    let reference = case.oracle(512);
                    case.check(reference).unwrap_or_else(|e| panic!("{tiny:e} {h} {lambda}: {e}\n{case:?}"));
                }
            }
        }
    }
}

/// Coefficients of degree 2 whose squares underflow beside huge ones of degree 1: V has length 1 all the same.
#[test]
fn coefficients_whose_squares_underflow() {
    for size in [1e-70, 1e-78, 1e-80, 1.2e-81, 3e-82, 1e-90] {
        let z1 = vec![0.0; 4];
        let z2 = vec![1.6 * size, -3.2 * size, 0.9 * size, 3.5 * size];
        for p in [[[-5.6e50, 2.6e50], [0.0, -7.7e48]], [[-0.56, 0.26], [0.0, -0.0077]]] {
            let case =
                Case { p, k: [-0.25, 0.5, 0.5], z1: z1.clone(), z2: z2.clone(), h: "none", lambda: 0.0 };
            case.check(case.oracle(512)).unwrap_or_else(|e| panic!("{size:e}: {e}"));
        }
    }
}

/// Coefficients whose squares overflow: no move, or one of length 1, but not V = 0.
/// Found by fuzzing: the smooth values are 1e10 times λ, so that λ·1e-6 is less than their rounding.
#[test]
fn a_weight_that_is_small_beside_the_smooth_values() {
    let case = Case {
        p: [[0.5, -0.7018441197228233], [-0.7475284493224756, -0.25]],
        k: [0.0, 0.0, 0.8422649845905783],
        z1: vec![-144325.93835043523, 0.0],
        z2: vec![-125693.79466314307, 0.0],
        h: "l0",
        lambda: 0.11418643168363074,
    };
    let twin = slow::minimise(&case.model(), &case.penalty()).step;
    case.check(case.value(Some(&twin))).unwrap();
}

/// Found by fuzzing: entries whose squares overflow have no angle at which they vanish.
#[test]
fn entries_whose_squares_overflow() {
    let z1 = vec![0.0, 5.600048272140348e142, 7.396274059829414e153];
    let z2 = vec![-1.33263761543869e142, 2.806388172041053e142, -1.1743364677699249e154];
    let p = [[0.0, 0.0], [0.0, -0.25]];
    let case = Case { p, k: [0.0; 3], z1, z2, h: "l1", lambda: 1.9901394997998367 };
    for step in case.fast().into_iter().flatten() {
        assert!((step.c * step.c + step.s * step.s - 1.0).abs() <= 1e-15, "{step:?}");
    }
}

#[test]
fn coefficients_whose_squares_overflow() {
    for size in [1e30, 1e32, 1e33, 1e40, 1e90, 1e150] {
        let (z1, z2) = (vec![0.0; 3], vec![1.4 * size, 1.4 * size, -2.8 * size]);
        let p = [[0.0, -3.5e103], [-3.5e103, 0.0]];
        let case = Case { p, k: [9.2e88, 5.1e88, 4.6e89], z1, z2, h: "none", lambda: 0.0 };
        for step in case.fast().into_iter().flatten() {
            assert!((step.c * step.c + step.s * step.s - 1.0).abs() <= 1e-15, "{size:e}: {step:?}");
        }
    }
}
