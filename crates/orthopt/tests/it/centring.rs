//! Data centred where they are read, against data centred beforehand; and the same bits for
//! every layout and speed of the machine.

use std::ops::ControlFlow;
use std::time::Duration;

use faer::{Mat, MatRef};
use orthopt::family::Family;
use orthopt::linalg::RowMat;
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
    PcaProblem::pca("l0-pca", data, 2, 1.0, storage).unwrap()
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
    let p = PcaProblem::pca("l1-pca", &PcaData::Dense(a.as_ref()), 3, 200.0, Storage::Dense).unwrap();
    for info in SOLVERS.iter().filter(|s| (s.handles)(&p)) {
        let solver = info.build(&p, &SolverOptions::default()).unwrap();
        let solve = |pause: u64| {
            let mut k = 0u64;
            let mut slow = |_: Event<'_>| {
                k += 1;
                std::thread::sleep(Duration::from_micros(pause * (k * 7919 % 5)));
                ControlFlow::Continue(())
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
