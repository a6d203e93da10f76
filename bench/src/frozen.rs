//! The frozen data sets of the ablation: half of them public data and generators on which constants of the search were chosen,
//! half of them made here, on which none was.

use anyhow::Result;
use faer::Mat;
use orthopt_data::Matrix;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal, StudentT};
use rand_pcg::Pcg64;

use crate::instance::load;

/// A data set with the number of components it is for.
pub struct Set {
    pub name: &'static str,
    pub rank: usize,
    pub seen: bool,
}

const fn seen(name: &'static str, rank: usize) -> Set {
    Set { name, rank, seen: true }
}

const fn unseen(name: &'static str, rank: usize) -> Set {
    Set { name, rank, seen: false }
}

pub const SETS: &[Set] = &[
    seen("builtin:pitprops", 3),
    seen("ionosphere.csv", 5),
    seen("w1a.svm", 10),
    seen("a9a.svm.gz", 5),
    seen("news20_top100words.mtx.gz", 8),
    seen("breast_sorlie.csv.gz", 6),
    seen("colon_alon.csv.gz", 5),
    seen("srbct_khan.csv.gz", 4),
    seen("randn:150:400:11", 10),
    seen("spiked:150:400:5:12:2:7", 5),
    unseen("toeplitz", 4),
    unseen("factors", 6),
    unseen("sheet", 5),
    unseen("baskets", 8),
    unseen("heavy", 5),
    unseen("lorentz", 6),
    unseen("tree", 10),
    unseen("sectors", 3),
    unseen("genotypes", 5),
    unseen("mixtures", 7),
    seen("breast_west.csv.gz", 5),
    unseen("programmes", 6),
    unseen("tall", 4),
    unseen("few", 3),
];

/// Sets on which a run takes seconds, with more work for each cell and fewer problems.
pub const LARGE: &[Set] = &[seen("coil20.npy", 40), unseen("panel", 30)];

/// The matrix of samples; `None` where a file is not in the data folder.
pub fn matrix(set: &Set) -> Result<Option<Matrix>> {
    match made(set.name) {
        Some(a) => Ok(Some(Matrix::Dense(a))),
        None => load(set.name),
    }
}

fn normals(rng: &mut Pcg64, m: usize, n: usize) -> Mat<f64> {
    let mut all = Mat::zeros(m, n);
    for i in 0..m {
        (0..n).for_each(|j| all[(i, j)] = StandardNormal.sample(rng));
    }
    all
}

/// A generated set; `None` where there is none of this name.
fn made(name: &str) -> Option<Mat<f64>> {
    let rng = &mut Pcg64::seed_from_u64(name.bytes().fold(20_261_126, |h, b| 31 * h + u64::from(b)));
    Some(match name {
        // correlations 0.9^|i - j| of 200 variables in random order
        "toeplitz" => {
            let (m, n) = (150, 200);
            let mut order: Vec<usize> = (0..n).collect();
            (0..n).for_each(|k| order.swap(k, rng.random_range(k..n)));
            let mut a = Mat::zeros(m, n);
            for i in 0..m {
                let mut x: f64 = StandardNormal.sample(rng);
                for j in &order {
                    a[(i, *j)] = x;
                    let e: f64 = StandardNormal.sample(rng);
                    x = 0.9 * x + 0.19f64.sqrt() * e;
                }
            }
            a
        }
        // 12 overlapping factors of some 20 of 250 variables each
        "factors" => factors(rng, (100, 250), 12, 0.08, 1.0),
        // Brownian sheets on 16 x 16 points
        "sheet" => {
            let (m, p) = (120, 16);
            let mut a = normals(rng, m, p * p);
            for i in 0..m {
                for k in 0..p * p {
                    let at = |a: &Mat<f64>, r: usize, c: usize| a[(i, r * p + c)];
                    let (r, c) = (k / p, k % p);
                    let up = if r > 0 { at(&a, r - 1, c) } else { 0.0 };
                    let left = if c > 0 { at(&a, r, c - 1) } else { 0.0 };
                    let both = if r > 0 && c > 0 { at(&a, r - 1, c - 1) } else { 0.0 };
                    a[(i, k)] += up + left - both;
                }
            }
            a
        }
        // purchases: 15 kinds of customers, 180 goods of Zipf popularity
        "baskets" => {
            let (m, n) = (800, 180);
            let taste =
                Mat::from_fn(15, n, |_, j| rng.random::<f64>().powi(4) * 12.0 / (1.0 + j as f64).sqrt());
            Mat::from_fn(m, n, |i, j| f64::from(u8::from(rng.random::<f64>() < taste[(i % 15, j)].min(0.9))))
        }
        // p >> n with tails: 8 sparse factors and noise with three degrees of freedom
        "heavy" => {
            let t = StudentT::new(3.0).ok()?;
            let mut a = factors(rng, (60, 800), 8, 0.03, 0.0);
            for i in 0..60 {
                (0..800).for_each(|j| a[(i, j)] += t.sample(rng));
            }
            a
        }
        // sums of Lorentz peaks at 300 wavelengths
        "lorentz" => peaks(rng, (200, 300), 40),
        // variables are leaves of a binary tree, each the sum of what is above it
        "tree" => {
            let (m, depth) = (90, 8);
            let mut a = normals(rng, m, 1);
            for level in 1..=depth {
                let steps = normals(rng, m, 1 << level);
                a = Mat::from_fn(m, 1 << level, |i, j| a[(i, j / 2)] + 0.7 * steps[(i, j)]);
            }
            a
        }
        // one factor for all of 120 variables and one for each of 10 sectors
        "sectors" => {
            let (m, n) = (250, 120);
            let (market, of_sector, own) = (normals(rng, m, 1), normals(rng, m, 10), normals(rng, m, n));
            let beta: Vec<f64> = (0..n).map(|_| 0.5 + rng.random::<f64>()).collect();
            let sector: Vec<usize> = (0..n).map(|_| rng.random_range(0..10)).collect();
            Mat::from_fn(m, n, |i, j| {
                beta[j] * market[(i, 0)] + 0.8 * of_sector[(i, sector[j])] + own[(i, j)]
            })
        }
        // 0, 1 or 2 of the rarer allele, in blocks that are passed on together
        "genotypes" => {
            let (m, n) = (150, 320);
            let mut a = Mat::zeros(m, n);
            for copy in 0..2 * m {
                let mut from = rng.random_range(0..6u64);
                for j in 0..n {
                    if rng.random::<f64>() < 0.08 {
                        from = rng.random_range(0..6);
                    }
                    let ancestor = (from * 7_919 + j as u64 * 104_729 + 13) % 101;
                    let flips = rng.random::<f64>() < 0.02;
                    a[(copy / 2, j)] += f64::from(u8::from((ancestor < 35) != flips));
                }
            }
            a
        }
        // nonnegative mixtures of 20 nonnegative sources with a sixth of 220 variables each
        "mixtures" => {
            let (m, n) = (180, 220);
            let member =
                |rng: &mut Pcg64| if rng.random::<f64>() < 1.0 / 6.0 { rng.random::<f64>() } else { 0.0 };
            let sources = Mat::from_fn(20, n, |_, _| member(rng));
            let weights = Mat::from_fn(m, 20, |_, _| rng.random::<f64>().powi(3));
            let noise = normals(rng, m, n);
            weights * sources + Mat::from_fn(m, n, |i, j| 0.05 * noise[(i, j)])
        }
        // p >> n: 20 sparse programmes of some 60 of 3000 genes, some of them shared, and noise
        "programmes" => factors(rng, (64, 3000), 20, 0.02, 1.0),
        // 6 overlapping factors of 40 variables, many rows
        "tall" => factors(rng, (5000, 40), 6, 0.2, 1.5),
        // 9 variables
        "few" => factors(rng, (80, 9), 4, 0.4, 0.7),
        // 1200 series of 25 groups with common shocks
        "panel" => factors(rng, (400, 1200), 50, 0.04, 1.0),
        _ => return None,
    })
}

/// Factors, each on a share of the variables, and noise.
fn factors(rng: &mut Pcg64, (m, n): (usize, usize), count: usize, share: f64, noise: f64) -> Mat<f64> {
    let scores = normals(rng, m, count);
    let sizes = normals(rng, count, n);
    let loadings = Mat::from_fn(count, n, |k, j| {
        if rng.random::<f64>() < share { sizes[(k, j)] * (1.0 + 1.0 / (k + 1) as f64) } else { 0.0 }
    });
    scores * loadings + noise * normals(rng, m, n)
}

/// Sums of a fifth of so many Lorentz peaks.
fn peaks(rng: &mut Pcg64, (m, n): (usize, usize), count: usize) -> Mat<f64> {
    let centre: Vec<(f64, f64)> =
        (0..count).map(|_| (rng.random::<f64>(), 0.004 + 0.03 * rng.random::<f64>())).collect();
    let shape = Mat::from_fn(count, n, |k, j| {
        let (at, width) = centre[k];
        1.0 / (1.0 + ((j as f64 / n as f64 - at) / width).powi(2))
    });
    let weights =
        Mat::from_fn(m, count, |_, _| if rng.random::<f64>() < 0.2 { rng.random::<f64>() } else { 0.0 });
    let noise = normals(rng, m, n);
    weights * shape + Mat::from_fn(m, n, |i, j| 0.02 * noise[(i, j)])
}
