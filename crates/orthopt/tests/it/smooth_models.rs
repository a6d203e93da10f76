//! The storages of f(X) = ½ tr(XᵀMX) + ⟨E, X⟩ against each other and a naive dense evaluation.

use crate::common::{gaussian, gaussian_rows, rng, sparse, thinned};
use faer::Mat;
use orthopt::RowMat;
use orthopt::problem::{PcaData, Storage, covariance_model};
use orthopt::smooth::{
    AnySmooth, DenseGram, DenseQuadratic, HessianVector, Quadratic, Smooth, SparseGram, Unpacked, Usage,
};
use orthopt_linalg::factor::transpose;
use orthopt_linalg::simd::Simd;
use orthopt_linalg::simd::WithSimd;
use orthopt_linalg::simd::dispatch;
use rand::seq::index::sample;

/// M, E and the diagonal of D (empty: I) written out.
struct Naive {
    m: Mat<f64>,
    e: RowMat,
    d: Vec<f64>,
}

impl Naive {
    /// M = −AᵀA, entry by entry.
    fn gram(a: &Mat<f64>, e: &RowMat) -> Self {
        let m = Mat::from_fn(a.ncols(), a.ncols(), |i, j| {
            -(0..a.nrows()).map(|l| a[(l, i)] * a[(l, j)]).sum::<f64>()
        });
        Self { m, e: e.clone(), d: Vec::new() }
    }

    fn apply(&self, x: &RowMat) -> RowMat {
        let n = self.m.nrows();
        RowMat::from_fn(n, x.ncols(), |i, k| (0..n).map(|j| self.m[(i, j)] * x.get(j, k)).sum())
    }

    fn gradient(&self, x: &RowMat) -> RowMat {
        let mx = self.curved(x);
        RowMat::from_fn(x.nrows(), x.ncols(), |i, k| mx.get(i, k) + self.e.get(i, k))
    }

    /// MXD.
    fn curved(&self, x: &RowMat) -> RowMat {
        let mx = self.apply(x);
        RowMat::from_fn(x.nrows(), x.ncols(), |i, k| mx.get(i, k) * self.d.get(k).unwrap_or(&1.0))
    }

    fn value(&self, x: &RowMat) -> f64 {
        let mx = self.curved(x);
        (0..x.data().len()).map(|k| x.data()[k] * (0.5 * mx.data()[k] + self.e.data()[k])).sum()
    }

    fn size(&self) -> f64 {
        1.0 + self.m.norm_l2() * self.largest_weight() + self.e.norm()
    }

    fn spectral_norm(&self) -> f64 {
        let values = self.m.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        values.iter().fold(0.0, |a, v| v.abs().max(a)) * self.largest_weight()
    }

    /// The largest |dₖ|, and 1 at least.
    fn largest_weight(&self) -> f64 {
        self.d.iter().fold(1.0, |a, d| d.abs().max(a))
    }
}

fn apart(a: &RowMat, b: &RowMat) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    a.data().iter().zip(b.data()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// The gradient rows and value that an image stands for.
fn read<F: Quadratic>(f: &F, image: &F::Image, x: &RowMat) -> (RowMat, f64) {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    let mut buf = vec![f64::NAN; x.ncols()];
    for i in 0..x.nrows() {
        g.row_mut(i).copy_from_slice(f.gradient_row(image, x, i, &mut buf));
    }
    (g, f.value_at(image, x))
}

/// A move of two rows, with the instruction set chosen at run time or none.
struct Move<'a, F: Quadratic> {
    f: &'a F,
    image: &'a mut F::Image,
    rows: (usize, usize),
    delta: &'a RowMat,
}

impl<F: Quadratic> WithSimd for Move<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (i, j) = self.rows;
        self.f.move_pair(simd, self.image, i, j, self.delta.row(0), self.delta.row(1));
    }
}

/// Random moves from an image made afresh.
fn check_moves<F: Quadratic>(what: &str, f: &F, naive: &Naive, x: &mut RowMat, tol: f64) {
    let mut image = f.image(x);
    check_image(what, f, naive, (&mut image, x), tol);
}

/// Random moves of X, pairs and blocks in turn: gradient rows and value follow.
fn check_image<F: Quadratic>(
    what: &str,
    f: &F,
    naive: &Naive,
    (image, x): (&mut F::Image, &mut RowMat),
    tol: f64,
) {
    let (n, r) = (x.nrows(), x.ncols());
    let mut rng = rng(77);
    for round in 0..6 {
        // two rows, then a block of rows, change
        if round % 2 == 0 && n >= 2 {
            let pair = sample(&mut rng, n, 2);
            let (i, j) = (pair.index(0), pair.index(1));
            let delta = gaussian_rows(2, r, 100 + round);
            let step = Move { f, image, rows: (i, j), delta: &delta };
            if round == 2 {
                step.with_simd(pulp::Scalar::new())
            } else {
                dispatch(step)
            }
            add_rows(x, &[i, j], &delta);
        } else {
            let rows: Vec<usize> = sample(&mut rng, n, n.min(5)).into_vec();
            let delta = gaussian_rows(rows.len(), r, 100 + round);
            f.move_block(image, &rows, &delta);
            add_rows(x, &rows, &delta);
            let k = f.curvature_block(&rows);
            let known = RowMat::from_fn(rows.len(), rows.len(), |p, q| naive.m[(rows[p], rows[q])]);
            assert!(apart(&k, &known) <= tol, "{what}: curvature of a block");
        }
        let (rows, value) = read(f, image, x);
        assert!(apart(&rows, &naive.gradient(x)) <= 10.0 * tol, "{what}: gradient rows after moves");
        let size = 10.0 * tol * (1.0 + x.norm());
        assert!((value - naive.value(x)).abs() <= size, "{what}: value after moves");
        let (fresh, again) = read(f, &f.image(x), x);
        assert!(apart(&rows, &fresh) <= 10.0 * tol && (value - again).abs() <= size, "{what}: image");
    }
}

/// Everything a model can be asked, at a random X and after random moves of it.
fn check<F: Quadratic>(what: &str, f: &F, naive: &Naive) {
    let (n, r) = (naive.m.nrows(), naive.e.ncols());
    let tol = 1e-12 * naive.size();
    let mut x = gaussian_rows(n, r, 5);
    x.row_mut(n / 2).fill(0.0);
    assert_eq!(f.nrows(), n, "{what}");
    assert!((f.value(&x) - naive.value(&x)).abs() <= tol * x.norm(), "{what}: value");
    let mut g = RowMat::from_fn(n, r, |_, _| f64::NAN);
    f.gradient(&x, &mut g);
    assert!(apart(&g, &naive.gradient(&x)) <= tol, "{what}: gradient");
    assert!(apart(&f.apply(&x), &naive.apply(&x)) <= tol, "{what}: apply");
    let diagonal = f.diagonal();
    for i in 0..n {
        assert!((diagonal[i] - naive.m[(i, i)]).abs() <= tol, "{what}: diagonal");
        for j in 0..n {
            assert!((f.curvature(i, j) - naive.m[(i, j)]).abs() <= tol, "{what}: curvature");
        }
    }
    check_moves(what, f, naive, &mut x, tol);
    // once more with every way of keeping the gradient that the model has
    let mut image = f.image(&x);
    let many = Usage { pairs: 10, moves: 1000, nonzero_rows: 1 };
    let none = Usage { pairs: 1000, moves: 0, nonzero_rows: n };
    for usage in [many, none] {
        if f.rebalance(&mut image, &x, usage) {
            assert!(!f.rebalance(&mut image, &x, usage), "{what}: changed twice");
            check_image(what, f, naive, (&mut image, &mut x), tol);
        }
    }
    let (bound, norm) = (f.norm(), naive.spectral_norm());
    assert!(bound >= norm * (1.0 - 1e-12), "{what}: Lipschitz bound {bound} of {norm}");
    assert!(bound <= 1.02 * norm + 1e-12, "{what}: Lipschitz bound {bound} of {norm} is loose");
    assert!(!f.bookkeeping(&image).is_empty());
    check_few(what, f, naive);
    check_slope(what, f, &x);
}

/// Products with vectors of few entries, twice, as something may be kept: none, one, some, a row twice as often.
fn check_few<F: Quadratic>(what: &str, f: &F, naive: &Naive) {
    let n = f.nrows();
    let vectors =
        [vec![], vec![(n - 1, 2.0)], vec![(0, 1.0), (n / 2, -3.0)], vec![(n - 1, 0.5), (n / 3, 1.5)]];
    let mut v = RowMat::zeros(n, vectors.len());
    for (k, (i, x)) in vectors.iter().enumerate().flat_map(|(k, v)| v.iter().map(move |e| (k, *e))) {
        v.set(i, k, v.get(i, k) + x);
    }
    for _ in 0..2 {
        let off = apart(&f.apply_few(&vectors), &transpose(&naive.apply(&v)));
        assert!(off <= 1e-12 * naive.size(), "{what}: products with few entries err by {off}");
    }
}

fn add_rows(x: &mut RowMat, rows: &[usize], delta: &RowMat) {
    for (k, i) in rows.iter().enumerate() {
        x.row_mut(*i).iter_mut().zip(delta.row(k)).for_each(|(a, b)| *a += b);
    }
}

/// |f(X + tD) − f(X) − t⟨∇f(X), D⟩| must shrink like t²: the slope of the error on a log-log
/// window of steps (a wrong gradient has slope 1).
fn check_slope(what: &str, f: &impl Smooth, x: &RowMat) {
    let d = gaussian_rows(x.nrows(), x.ncols(), 41);
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    f.gradient(x, &mut g);
    let (value, slope) = (f.value(x), g.inner(&d));
    let points: Vec<(f64, f64)> = (0..12)
        .map(|k| {
            let t = 10f64.powf(-0.25 * f64::from(k));
            let y = RowMat::from_fn(x.nrows(), x.ncols(), |i, j| x.get(i, j) + t * d.get(i, j));
            (t.ln(), (f.value(&y) - value - t * slope).abs().ln())
        })
        .collect();
    let mean = |get: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(get).sum::<f64>() / points.len() as f64;
    let (mx, my) = (mean(&|p| p.0), mean(&|p| p.1));
    let top: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let fitted = top / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    if d.inner(&f_curved(f, &d)).abs() > 1e-8 {
        assert!((fitted - 2.0).abs() < 0.02, "{what}: Taylor error has slope {fitted}");
    }
}

/// ∇f(D) − ∇f(0) = MD.
fn f_curved(f: &impl Smooth, d: &RowMat) -> RowMat {
    let (mut at_d, mut at_0) = (d.clone(), d.clone());
    f.gradient(d, &mut at_d);
    f.gradient(&RowMat::zeros(d.nrows(), d.ncols()), &mut at_0);
    at_d.data_mut().iter_mut().zip(at_0.data()).for_each(|(a, b)| *a -= b);
    at_d
}

#[test]
fn storages_of_a_covariance_agree() {
    for (m, n, r) in [(30, 17, 4), (5, 23, 9), (40, 8, 1), (1, 6, 2), (9, 2, 2), (300, 140, 3)] {
        let a = if n % 2 == 0 { gaussian(m, n, 3) } else { thinned(m, n, 0.3, 3) };
        let (s, e, zero) = (sparse(&a), gaussian_rows(n, r, 8), RowMat::zeros(n, r));
        let plain = Naive::gram(&a, &zero);
        let c = Mat::from_fn(n, n, |i, j| -plain.m[(i, j)]);
        for (linear, naive) in [(false, plain), (true, Naive::gram(&a, &e))] {
            let what = format!("{m} x {n}, rank {r}, linear term {linear}");
            let (mut quadratic, mut dense) =
                (DenseQuadratic::negative(c.as_ref()).unwrap(), DenseGram::new(a.as_ref()));
            let mut gram = SparseGram::new(s.as_ref(), None).unwrap();
            if linear {
                quadratic = quadratic.with_linear(e.clone()).unwrap();
                dense = dense.with_linear(e.clone()).unwrap();
                gram = gram.with_linear(e.clone()).unwrap();
            }
            check(&format!("quadratic {what}"), &quadratic, &naive);
            check(&format!("dense gram {what}"), &dense, &naive);
            check(&format!("sparse gram {what}"), &gram, &naive);
            if !linear {
                for storage in [Storage::Auto, Storage::Dense, Storage::Gram] {
                    let data = [PcaData::Dense(a.as_ref()), PcaData::Sparse(s.as_ref(), None)];
                    for d in &data {
                        let f = covariance_model(d, storage).unwrap();
                        check(&format!("{storage:?} {what}"), &f, &naive);
                        assert!(f.is_concave());
                    }
                }
                assert!(dense.is_concave() && gram.is_concave() && !quadratic.is_concave());
                let kept = dense.matrix();
                assert!((kept - &a).norm_max() == 0.0);
            }
        }
    }
}

#[test]
fn implicit_means_are_centring() {
    for (m, n, r) in [(25, 14, 3), (6, 30, 2), (2, 3, 1)] {
        let mut a = thinned(m, n, 0.25, 4);
        for i in 0..m {
            a[(i, 0)] += 10.0; // a mean far above the spread
            a[(i, 1)] = 0.0;
        }
        let means: Vec<f64> = (0..n).map(|j| (0..m).map(|i| a[(i, j)]).sum::<f64>() / m as f64).collect();
        let centred = Mat::from_fn(m, n, |i, j| a[(i, j)] - means[j]);
        let (s, e) = (sparse(&a), gaussian_rows(n, r, 2));
        let naive = Naive::gram(&centred, &e);
        let f = SparseGram::new(s.as_ref(), Some(means.clone())).unwrap().with_linear(e).unwrap();
        check(&format!("{m} x {n} with means"), &f, &naive);
        let zero = Naive::gram(&centred, &RowMat::zeros(n, r));
        let data = PcaData::Sparse(s.as_ref(), Some(means));
        for storage in [Storage::Auto, Storage::Dense, Storage::Gram] {
            check(&format!("{m} x {n}, {storage:?}"), &covariance_model(&data, storage).unwrap(), &zero);
        }
    }
}

#[test]
fn indefinite_quadratics() {
    for n in [1, 2, 13, 150] {
        let b = gaussian(n, n, 6);
        let m = Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)]);
        let e = gaussian_rows(n, 1.max(n / 3), 7);
        let f = DenseQuadratic::new(m.as_ref()).unwrap().with_linear(e.clone()).unwrap();
        check(&format!("indefinite {n}"), &f, &Naive { m, e, d: Vec::new() });
    }
    let f = DenseQuadratic::new(Mat::<f64>::zeros(4, 4).as_ref()).unwrap();
    assert_eq!(f.norm(), 0.0);
    check("zero", &f, &Naive { m: Mat::zeros(4, 4), e: RowMat::zeros(4, 2), d: Vec::new() });
}

/// ½ tr(XᵀMXD), with weights of both signs and without, of small size and large; its products with the Hessian are MVD.
#[test]
fn weights_of_columns() {
    for (n, d) in
        [(1, vec![2.0]), (13, vec![0.5, -3.0, 0.0]), (150, vec![3.0, 2.0, 1.0]), (40, vec![0.25, 0.125])]
    {
        let b = gaussian(n, n, 6);
        let m = Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)]);
        let e = RowMat::zeros(n, d.len());
        let naive = Naive { m, e, d: d.clone() };
        let f = DenseQuadratic::new(naive.m.as_ref()).unwrap().with_column_weights(d.clone()).unwrap();
        check(&format!("weights {d:?}, {n} rows"), &f, &naive);
        assert_eq!(f.ncols(), Some(d.len()));
        let (any, v) = (AnySmooth::Dense(f.clone()), gaussian_rows(n, d.len(), 9));
        check(&format!("weights {d:?}, {n} rows, any"), &any, &naive);
        for product in [f.hessian_vector(&v, &v), any.hessian_vector(&v, &v)] {
            assert!(apart(&product, &naive.curved(&v)) <= 1e-12 * naive.size());
        }
    }
    let square = || DenseQuadratic::new(Mat::<f64>::identity(3, 3).as_ref()).unwrap();
    assert!(square().with_column_weights(vec![1.0, f64::NAN]).is_err());
    assert!(square().with_column_weights(vec![0.0, 0.0]).is_err());
    assert!(square().with_column_weights(vec![]).is_err());
    let both = square().with_column_weights(vec![1.0]).unwrap().with_linear(RowMat::zeros(3, 1));
    assert!(both.unwrap_err().to_string().contains("exclude each other"));
    // concave where M is negative and D is not
    let a = gaussian(9, 4, 1);
    let Ok(AnySmooth::Dense(f)) = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Dense) else {
        panic!("C is kept")
    };
    assert!(f.clone().with_column_weights(vec![2.0, 0.0]).unwrap().is_concave());
    assert!(!f.with_column_weights(vec![2.0, -1.0]).unwrap().is_concave());
}

/// A leading eigenvalue just above many others, which power iteration sees late.
#[test]
fn lipschitz_bounds_clustered_spectra() {
    for top in [1.011, 1.015, 1.02, 1.05, 1.2, 3.0] {
        for n in [20, 200] {
            let m = Mat::from_fn(n, n, |i, j| {
                if i != j {
                    0.0
                } else if i == 2 {
                    -top
                } else {
                    -1.0
                }
            });
            let bound = DenseQuadratic::new(m.as_ref()).unwrap().norm();
            assert!(bound >= top, "n = {n}: {bound} does not bound {top}");
            assert!(bound <= 1.02 * top, "n = {n}: {bound} is a loose bound of {top}");
        }
    }
}

/// Low rank and round numbers, large enough for iterations instead of a decomposition.
#[test]
fn lipschitz_bounds_of_low_rank() {
    for (n, period) in [(300, 1), (300, 2), (301, 3), (400, 400)] {
        let a = Mat::from_fn(1, n, |_, j| f64::from(u8::from(j % period == 0)));
        let norm = n.div_ceil(period) as f64; // ‖A‖²
        let m = -(a.transpose() * &a);
        let bounds = [
            DenseGram::new(a.as_ref()).norm(),
            DenseQuadratic::new(m.as_ref()).unwrap().norm(),
            SparseGram::new(sparse(&a).as_ref(), None).unwrap().norm(),
        ];
        assert!(
            bounds.iter().all(|b| (norm * (1.0 - 1e-9)..=1.02 * norm).contains(b)),
            "{bounds:?} for {norm}"
        );
    }
}

/// The same bits for every number of threads.
#[test]
fn threads_change_nothing() {
    let (m, n, r) = (700, 300, 5);
    let a = thinned(m, n, 0.2, 12);
    let (s, x) = (sparse(&a), gaussian_rows(n, r, 3));
    let result = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut out = Vec::new();
            for storage in [Storage::Dense, Storage::Gram] {
                for data in [PcaData::Dense(a.as_ref()), PcaData::Sparse(s.as_ref(), None)] {
                    let f = covariance_model(&data, storage).unwrap();
                    let mut g = RowMat::zeros(n, r);
                    f.gradient(&x, &mut g);
                    out.push((g, f.apply(&x), f.value(&x), f.norm()));
                }
            }
            out
        })
    };
    assert!(result(1) == result(2));
    assert!(result(2) == result(3));
}

#[test]
fn unpacking_a_column_changes_no_bit_of_the_curvature() {
    // the first columns long, so that entries are also looked up
    let a = Mat::from_fn(
        90,
        30,
        |l, i| if i < 3 || (7 * l + 5 * i) % 29 == 0 { (l + i) as f64 / 7.0 } else { 0.0 },
    );
    for means in [None, Some(crate::common::means(&sparse(&a)))] {
        let f = SparseGram::new(sparse(&a).as_ref(), means).unwrap();
        let mut unpacked = Unpacked::default();
        for (i, j) in (0..30).flat_map(|i| (i + 1..30).map(move |j| (i, j))) {
            let slow = [f.curvature(i, i), f.curvature(i, j), f.curvature(j, j)];
            for pivot in [i, j] {
                assert_eq!(f.pair_curvature((i, j), pivot, &mut unpacked), slow, "{i} {j} {pivot}");
            }
        }
    }
}
