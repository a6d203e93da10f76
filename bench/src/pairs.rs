//! Global pair solves per second on one core: the fast searches and the plain one, dense and
//! sparse rows, in one run. A pair includes its 2×2 products.

use std::time::Instant;

use orthopt::RowMat;
use orthopt::penalty::PairPenalty;
use orthopt::penalty::{AnyPenalty, PENALTIES};
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_linalg::simd::Scalar;
use orthopt_linalg::simd::Simd;
use orthopt_linalg::simd::WithSimd;
use orthopt_linalg::simd::dispatch;

const ROWS: usize = 2000;

/// Numbers that look random, the same on every machine.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

struct Rows {
    z: RowMat,
    g: RowMat,
    k: Vec<[f64; 3]>,
}

/// Two rows of a matrix.
type Two<'a> = (&'a [f64], &'a [f64]);

impl Rows {
    /// Gradient rows and rows of X of the pair (i, i + step).
    #[inline(always)]
    fn pair(&self, i: usize, step: usize) -> (Two<'_>, Two<'_>) {
        let j = (i + step) % ROWS;
        ((self.g.row(i), self.g.row(j)), (self.z.row(i), self.z.row(j)))
    }
}

/// Rows of a 2000 × r matrix with orthonormal-sized entries, three nonzeros a row if sparse,
/// and gradient rows and curvature as those of randn:500:1000.
fn rows(r: usize, sparse: bool, nonneg: bool) -> Rows {
    let mut noise = Noise(7);
    let z = RowMat::from_fn(ROWS, r, |i, k| {
        let v = noise.normal() / 30.0;
        let keep = !sparse || (0..3).any(|s| (i * (s + 3) + 5 * s) % r == k);
        let v = if keep { v } else { 0.0 };
        if nonneg { v.abs() } else { v }
    });
    let g = RowMat::from_fn(ROWS, r, |i, k| -600.0 * z.get(i, k) + 20.0 * noise.normal());
    let k = (0..ROWS)
        .map(|_| [-500.0 - 20.0 * noise.normal(), 20.0 * noise.normal(), -500.0 - 20.0 * noise.normal()])
        .collect();
    Rows { z, g, k }
}

/// A sweep over pairs as the solver's blocks do it, in one kernel: how many of them would move.
struct Sweep<'a> {
    data: &'a Rows,
    h: &'a AnyPenalty,
    step: usize,
    scratch: &'a mut Scratch,
}

impl WithSimd for Sweep<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        let mut found = 0;
        for i in 0..ROWS {
            let (g, z) = self.data.pair(i, self.step);
            let m = PairModel::new(simd, g, self.data.k[i], 1e-5, z);
            found += u64::from(self.h.search_in(simd, &m, self.scratch).is_some());
        }
        found
    }
}

/// The same with the plain search, a twentieth of the pairs.
fn plain_sweep(data: &Rows, h: &AnyPenalty, step: usize) -> u64 {
    let plain = |i: usize| {
        let (g, z) = data.pair(i, step);
        h.plain_search(&PairModel::new(Scalar, g, data.k[i], 1e-5, z)).is_some()
    };
    (0..ROWS / 20).map(|i| u64::from(plain(i))).sum()
}

fn rate(data: &Rows, h: &AnyPenalty, fast: bool) -> f64 {
    let mut scratch = Scratch::new(data.z.ncols());
    let (clock, mut count, mut step, mut found) = (Instant::now(), 0, 1, 0);
    while clock.elapsed().as_secs_f64() < 0.5 {
        step = (step * 7 + 3) % (ROWS - 1) + 1;
        if fast {
            found += dispatch(Sweep { data, h, step, scratch: &mut scratch });
            count += ROWS;
        } else {
            found += plain_sweep(data, h, step);
            count += ROWS / 20;
        }
    }
    assert!(found > 0, "a benchmark in which nothing moves is no benchmark");
    count as f64 / clock.elapsed().as_secs_f64()
}

/// Prints the table.
pub fn run(filter: Option<&str>) {
    println!("| penalty | r | rows | fast, 10^6/s | plain, 10^6/s | ratio |\n|---|---|---|---|---|---|");
    for (name, lambda) in
        [("none", 0.0), ("l0", 1.0), ("l0", 0.01), ("nonneg", 0.0), ("l1", 1.0), ("l1", 20.0)]
    {
        if filter.is_some_and(|f| f != name) {
            continue;
        }
        let Some(info) = PENALTIES.iter().find(|p| p.name == name) else { continue };
        let Ok(h) = (info.make)(lambda) else { continue };
        for r in [5, 20, 100] {
            for sparse in [false, true] {
                let data = rows(r, sparse, name == "nonneg");
                let (fast, plain) = (rate(&data, &h, true), rate(&data, &h, false));
                let kind = if sparse { "sparse" } else { "dense" };
                println!(
                    "| {name} {lambda} | {r} | {kind} | {:.2} | {:.4} | {:.0} |",
                    fast / 1e6,
                    plain / 1e6,
                    fast / plain
                );
            }
        }
    }
}
