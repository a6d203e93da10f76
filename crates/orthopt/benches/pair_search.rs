//! Pair subproblems solved globally per second: the 2×2 products and the search, dispatched
//! once per pair as in the solver, on rows of a 1000 × r matrix.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faer::Mat;
use orthopt::RowMat;
use orthopt::penalty::PairPenalty;
use orthopt::penalty::{L0, L1, NoPenalty, Nonneg};
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::Simd;
use orthopt_linalg::simd::WithSimd;
use orthopt_linalg::simd::dispatch;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const N: usize = 1000;
const PAIRS: usize = 4096;
/// α of the papers.
const ALPHA: f64 = 1e-5;

/// Rows of X, of G = −CX, entries of K = −C_BB, and which pairs to solve.
struct Rows {
    x: RowMat,
    g: RowMat,
    pairs: Vec<(usize, usize, [f64; 3])>,
}

/// One pair as the solver does it: products, then the search.
struct Pair<'a, H> {
    h: &'a H,
    rows: &'a Rows,
    pair: &'a (usize, usize, [f64; 3]),
    scratch: &'a mut Scratch,
}

impl<H: PairPenalty> WithSimd for Pair<'_, H> {
    type Output = Option<PairMove>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<PairMove> {
        let (i, j, k) = *self.pair;
        let (x, g) = (&self.rows.x, &self.rows.g);
        let model = PairModel::new(simd, (g.row(i), g.row(j)), k, ALPHA, (x.row(i), x.row(j)));
        self.h.search_in(simd, &model, self.scratch)
    }
}

/// C = AᵀA/m of a Gaussian A (500 × N).
fn covariance(rng: &mut Pcg64) -> Mat<f64> {
    let a = Mat::from_fn(500, N, |_, _| rng.sample::<f64, _>(rand_distr::StandardNormal));
    a.transpose() * &a * faer::Scale(1.0 / 500.0)
}

/// Entries ~ N(0, 1)/√N, all of them or two to three a row.
fn rows(c: &Mat<f64>, r: usize, sparse: bool, nonneg: bool, rng: &mut Pcg64) -> Rows {
    let mut x = RowMat::zeros(N, r);
    for i in 0..N {
        let kept = rng.random_range(2..4);
        for k in 0..if sparse { kept } else { r } {
            let column = if sparse { rng.random_range(0..r) } else { k };
            let value = rng.sample::<f64, _>(rand_distr::StandardNormal) / (N as f64).sqrt();
            x.set(i, column, if nonneg { value.abs() } else { value });
        }
    }
    let g = RowMat::from_mat((-(c * x.to_mat())).as_ref());
    let pairs = (0..PAIRS)
        .map(|_| {
            let i = rng.random_range(0..N);
            let j = (i + rng.random_range(1..N)) % N;
            (i, j, [-c[(i, i)], -c[(i, j)], -c[(j, j)]])
        })
        .collect();
    Rows { x, g, pairs }
}

/// Scales for λ: average decrease of the smooth part, and the counts and sums of h.
fn scales(rows: &Rows) -> (f64, f64, f64) {
    let (mut gain, mut count, mut sum) = (0.0, 0.0, 0.0);
    for &(i, j, _) in &rows.pairs {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let (x, g) = (&rows.x, &rows.g);
        gain += dot(g.row(i), x.row(j)).abs() + dot(g.row(j), x.row(i)).abs();
        for v in x.row(i).iter().chain(x.row(j)) {
            count += f64::from(u8::from(*v != 0.0));
            sum += v.abs();
        }
    }
    let pairs = rows.pairs.len() as f64;
    (gain / pairs, count / pairs, sum / pairs)
}

fn measure<H: PairPenalty>(c: &mut Criterion, name: &str, h: &H, rows: &Rows) {
    let mut group = c.benchmark_group("pair_search");
    group.throughput(Throughput::Elements(PAIRS as u64));
    group.bench_function(name, |b| {
        let mut scratch = Scratch::new(rows.x.ncols());
        b.iter(|| {
            let mut moves = 0;
            for pair in &rows.pairs {
                let found = dispatch(Pair { h, rows, pair, scratch: &mut scratch });
                moves += usize::from(black_box(found).is_some());
            }
            moves
        });
    });
    group.finish();
}

fn pair_search(c: &mut Criterion) {
    let mut rng = Pcg64::seed_from_u64(1);
    let covariance = covariance(&mut rng);
    for r in [5, 20, 100] {
        for (kind, sparse) in [("dense", false), ("sparse", true)] {
            let free = rows(&covariance, r, sparse, false, &mut rng);
            let positive = rows(&covariance, r, sparse, true, &mut rng);
            let (gain, count, sum) = scales(&free);
            let name = |h: &str| format!("{h}/{kind}/{r}");
            measure(c, &name("none"), &NoPenalty, &free);
            measure(c, &name("l0"), &L0::new(4.0 * gain / count).expect("a valid lambda"), &free);
            measure(c, &name("l1"), &L1::new(2.0 * gain / sum).expect("a valid lambda"), &free);
            measure(c, &name("nonneg"), &Nonneg, &positive);
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = pair_search
}
criterion_main!(benches);
