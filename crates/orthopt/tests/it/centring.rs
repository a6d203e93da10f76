//! Data centred where they are read, against data centred beforehand; and the same bits for
//! every layout and speed of the machine.

use std::time::Duration;

use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, MatRef};
use orthopt::RowMat;
use orthopt::family::Family;
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::smooth::{Centring, Quadratic, Smooth};
use orthopt::solve::{Critical, Event, RunOptions, Stop, TimeLimit, run};
use orthopt::solvers::{SOLVERS, SolverOptions};
use orthopt_data::{Matrix, Prepare};

fn samples(m: usize, n: usize) -> Mat<f64> {
    Mat::from_fn(m, n, |i, j| {
        if j == 2 {
            return 0.1; // constant, and no mean of it is exact
        }
        ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64 + 10.0 * j as f64
    })
}

fn centred_beforehand(a: &Mat<f64>) -> Mat<f64> {
    let prepare = Prepare { center: true, ..Prepare::default() };
    match prepare.apply(a.clone().into()).unwrap().matrix {
        Matrix::Dense(a) => a,
        Matrix::Sparse(_) => unreachable!(),
    }
}

fn problem(data: &PcaData<'_>, storage: Storage) -> PcaProblem {
    orthopt::family::pca_problem("l0-pca", data, 2, 1.0, storage).unwrap()
}

/// f, its gradient and its diagonal, bit by bit.
fn fingerprint(p: &PcaProblem) -> Vec<u64> {
    let x = p.start("coordinates", 0).unwrap();
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    let f = p.f.value_and_gradient(&x, &mut g);
    let all = g.data().iter().copied().chain(p.f.diagonal()).chain([f]);
    all.map(f64::to_bits).collect()
}

#[test]
fn centring_on_the_way_in_gives_the_same_bits() {
    for (m, n) in [(30, 7), (7, 30), (9000, 5)] {
        let a = samples(m, n);
        let beforehand = centred_beforehand(&a);
        let by_rows = RowMat::from_mat(a.as_ref());
        for storage in [Storage::Dense, Storage::Gram] {
            let expected = fingerprint(&problem(&PcaData::Dense(beforehand.as_ref()), storage));
            for layout in [a.as_ref(), by_rows.as_mat()] {
                let data = PcaData::Centred(layout, Centring::of(layout));
                assert_eq!(fingerprint(&problem(&data, storage)), expected, "{m} x {n}, {storage:?}");
            }
        }
    }
}

#[test]
fn the_layout_does_not_matter() {
    let a = samples(9000, 5);
    let by_rows = RowMat::from_mat(a.as_ref());
    let of = |a: MatRef<'_, f64>| fingerprint(&problem(&PcaData::Dense(a), Storage::Dense));
    assert_eq!(of(a.as_ref()), of(by_rows.as_mat()));
}

#[test]
fn slabs_add_up() {
    let a = samples(9000, 5);
    let p = problem(&PcaData::Dense(a.as_ref()), Storage::Dense);
    for i in 0..5 {
        for j in 0..5 {
            let expected: f64 = -(0..9000).map(|k| a[(k, i)] * a[(k, j)]).sum::<f64>();
            assert!((p.f.curvature(i, j) - expected).abs() <= 1e-10 * expected.abs());
        }
    }
}

#[test]
fn squares_are_the_diagonal() {
    let a = samples(50, 6);
    let centring = Centring::of(a.as_ref());
    let p = problem(&PcaData::Centred(a.as_ref(), centring.clone()), Storage::Dense);
    for (square, diagonal) in centring.squares(a.as_ref()).iter().zip(p.f.diagonal()) {
        assert!((square + diagonal).abs() <= 1e-10 * square.abs());
    }
}

/// Steps are sized by the clock; X must not be.
#[test]
fn a_slow_machine_finds_the_same_x() {
    let a = samples(40, 12);
    let p = orthopt::family::pca_problem("l1-pca", &PcaData::Dense(a.as_ref()), 3, 200.0, Storage::Dense)
        .unwrap();
    for info in SOLVERS.iter().filter(|s| (s.handles)(&p)) {
        let solver = info.build(&p, &SolverOptions::default()).unwrap();
        let solve = |pause: u64| {
            let mut k = 0u64;
            let mut slow = |_: Event<'_>| {
                k += 1;
                std::thread::sleep(Duration::from_micros(pause * (k * 7919 % 5)));
            };
            let mut stop = Critical { tol: 1e-5 }.or(TimeLimit(Some(30.0)));
            let x0 = p.start("pca", 0).unwrap();
            let options = RunOptions { max_iterations: Some(1000), ..RunOptions::default() };
            let s = run(&p, &solver, x0, options, &mut stop, &mut [&mut slow]).unwrap();
            (s.iterations, s.x)
        };
        assert_eq!(solve(0), solve(200), "{}", info.name);
    }
}

/// Whole numbers about a mean of 10⁷ standard deviations and less, and a constant column: C of centred columns as
/// whole numbers over m.
fn far_from_zero(m: usize, keep: impl Fn(usize, usize) -> bool) -> (Mat<f64>, Mat<f64>) {
    let means = [0.0, 1e3, 1e7, 1e8, 12345.0];
    let noise = |i: usize, j: usize| ((i * i * (2 * j + 3) + 7 * i * (j + 1)) % 31) as f64 - 15.0;
    let a = Mat::from_fn(m, 5, |i, j| match j {
        _ if !keep(i, j) => 0.0,
        4 => means[4],
        _ => means[j] + noise(i, j) + if j > 0 { noise(i, j - 1) } else { 0.0 },
    });
    let entry = |i: usize, j: usize| a[(i, j)] as i128;
    let sum = |j: usize| -> i128 { (0..m).map(|i| entry(i, j)).sum() };
    let c = Mat::from_fn(5, 5, |j, k| {
        let whole = m as i128 * (0..m).map(|i| entry(i, j) * entry(i, k)).sum::<i128>() - sum(j) * sum(k);
        whole as f64 / m as f64
    });
    (a, c)
}

/// C, its products, gradients and f against the exact ones, as shares of √(cⱼⱼ·cₖₖ).
fn keeps_its_digits(data: &PcaData<'_>, storage: Storage, c: &Mat<f64>, what: &str) {
    let p = problem(data, storage);
    let spread = |j: usize| c[(j, j)].sqrt();
    let mut units = RowMat::zeros(5, 5);
    (0..4).for_each(|j| units.set(j, j, 1.0 / spread(j)));
    let products = p.f.apply(&units);
    let mut g = RowMat::zeros(5, 5);
    p.f.gradient(&units, &mut g);
    let diagonal = p.f.diagonal();
    for j in 0..4 {
        for k in 0..4 {
            let (scale, expected) = (spread(j) * spread(k), -c[(j, k)]);
            let close =
                |found: f64| assert!((found - expected).abs() <= 1e-12 * scale, "{what} {j} {k}: {found}");
            close(p.f.curvature(j, k));
            close(products.get(j, k) * spread(k));
            close(g.get(j, k) * spread(k));
        }
        assert!((diagonal[j] + c[(j, j)]).abs() <= 1e-12 * c[(j, j)], "{what} {j}");
        for zero in [p.f.curvature(j, 4), p.f.curvature(4, 4), products.get(4, j), g.get(4, j), diagonal[4]] {
            assert_eq!(zero, 0.0, "{what}: of a constant column");
        }
    }
    let exact = -0.5 * (0..4).map(|j| c[(j, j)] / spread(j).powi(2)).sum::<f64>();
    assert!((p.f.value(&units) - exact).abs() <= 1e-12 * exact.abs(), "{what}");
}

#[test]
fn a_mean_of_ten_million_deviations_costs_no_digits() {
    let (a, c) = far_from_zero(5000, |_, _| true);
    let by_rows = RowMat::from_mat(a.as_ref());
    for storage in [Storage::Dense, Storage::Gram] {
        for (layout, name) in [(a.as_ref(), "by columns"), (by_rows.as_mat(), "by rows")] {
            let centring = Centring::of(layout);
            let squares = centring.squares(layout);
            assert!((0..5).all(|j| (squares[j] - c[(j, j)]).abs() <= 1e-12 * c[(j, j)]), "{name}");
            let data = PcaData::Centred(layout, centring);
            keeps_its_digits(&data, storage, &c, &format!("{name}, {storage:?}"));
        }
    }
}

/// Sparse matrices whose columns are full, nearly full and far from zero, or sparse.
#[test]
fn full_columns_of_sparse_data_keep_their_digits() {
    for full in [true, false] {
        let keep = |i: usize, j: usize| match j {
            0 | 1 => (i * (j + 2)) % 7 == 3,
            2 => full || !i.is_multiple_of(500),
            _ => true,
        };
        let (a, c) = far_from_zero(2000, keep);
        let entries: Vec<_> = (0..5)
            .flat_map(|j| (0..2000).map(move |i| (i, j)))
            .filter(|(i, j)| a[(*i, *j)] != 0.0)
            .map(|(i, j)| Triplet::new(i, j, a[(i, j)]))
            .collect();
        let sparse = SparseColMat::try_new_from_triplets(2000, 5, &entries).unwrap();
        let means: Vec<f64> = (0..5).map(|j| sparse.val_of_col(j).iter().sum::<f64>() / 2000.0).collect();
        for storage in [Storage::Dense, Storage::Gram] {
            let data = PcaData::Sparse(sparse.as_ref(), Some(means.clone()));
            keeps_its_digits(&data, storage, &c, &format!("{storage:?}, full: {full}"));
        }
        let wrong: Vec<f64> = means.iter().map(|mean| mean * (1.0 + 1e-6)).collect();
        let data = PcaData::Sparse(sparse.as_ref(), Some(wrong));
        assert!(orthopt::family::pca_problem("l0-pca", &data, 2, 1.0, Storage::Gram).is_err());
    }
}
