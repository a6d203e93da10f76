//! Sums of AᵀA over chunks: what they cost against faer's product of the same chunk, and rows that are generated
//! as they are needed, far more of them than fit memory.

use std::time::Instant;

use anyhow::Result;
use faer::linalg::matmul::matmul;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Accum, Mat, Par};
use orthopt::problem::{PcaData, Storage, covariance_model};
use orthopt_data::{GramAccumulator, Matrix, Rows, SparseRows, Summation};

use crate::instance::load;
use crate::l1_family::processor_seconds;

const WIDTHS: [usize; 3] = [300, 1000, 2000];
const CHUNK: usize = 4096;

/// Numbers in [-1, 1) with all 53 bits, about one nanosecond each.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// About normal: the sum of four of them.
    fn normal(&mut self) -> f64 {
        (0..4).map(|_| self.next()).sum::<f64>() * 0.866
    }
}

/// Processor seconds of adding chunks, against those of faer's whole product AᵀA, in one thread.
pub fn ratios() -> Result<()> {
    println!(
        "| n | numbers | faer AᵀA (s) | compensated | ratio | reproducible | ratio |\n|---|---|---|---|---|---|---|"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for n in WIDTHS {
        for (name, change) in [
            ("53 bits", (|v| v) as fn(f64) -> f64),
            ("single precision", |v| f64::from(v as f32)),
            ("whole, up to 1000", |v| (v * 300.0).round()),
        ] {
            let mut numbers = Numbers(88_172_645_463_325_252);
            let a = Mat::from_fn(CHUNK, n, |_, _| change(numbers.normal()));
            let mut c = Mat::zeros(n, n);
            let gemm = least(|| {
                matmul(c.as_mut(), Accum::Replace, a.transpose(), a.as_ref(), 1.0, Par::Seq);
                Ok(())
            })?;
            let mut seconds = [0.0; 2];
            for (how, seconds) in
                [Summation::Compensated, Summation::Reproducible].into_iter().zip(&mut seconds)
            {
                let mut sums = GramAccumulator::new(n, how, "bench", None)?;
                *seconds = least(|| Ok(pool.install(|| sums.add(Rows::Dense(a.as_ref()), None))?))?;
            }
            let [fast, exact] = seconds;
            println!(
                "| {n} | {name} | {gemm:.3} | {fast:.3} | {:.2} | {exact:.3} | {:.2} |",
                fast / gemm,
                exact / gemm
            );
        }
    }
    Ok(())
}

/// The least processor time of five.
fn least(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let before = processor_seconds().unwrap_or(f64::NAN);
        work()?;
        least = least.min(processor_seconds().unwrap_or(f64::NAN) - before);
    }
    Ok(least)
}

/// `rows` × 1000 generated numbers in chunks, never held together.
pub fn stream(rows: usize, how: Summation) -> Result<()> {
    let (n, start) = (1000, Instant::now());
    let mut sums = GramAccumulator::new(n, how, "bench", None)?;
    let (mut numbers, mut chunk, mut generating) = (Numbers(7), Mat::zeros(CHUNK, n), 0.0);
    for from in (0..rows).step_by(CHUNK) {
        let now = Instant::now();
        let count = CHUNK.min(rows - from);
        (0..n).for_each(|j| (0..count).for_each(|i| chunk[(i, j)] = numbers.next()));
        generating += now.elapsed().as_secs_f64();
        sums.add(Rows::Dense(chunk.as_ref().subrows(0, count)), None)?;
    }
    let c = sums.gram()?;
    println!(
        "{how:?}: {rows} x {n} in {:.1} s, {generating:.1} s of it to generate them; trace {:.6}; peak memory {}",
        start.elapsed().as_secs_f64(),
        (0..n).map(|j| c[(j, j)]).sum::<f64>(),
        peak_memory(),
    );
    Ok(())
}

/// Rows of a sparse chunk.
const SPARSE_CHUNK: usize = 5000;
/// Largest number of variables of C whose seconds are measured.
const VARIABLES: usize = 12_000;

/// Number of products beyond which reproducible sums are left out: they take minutes.
const SLOW: usize = 100_000_000;

/// Sums over sparse chunks, and C of the data at once: seconds and processor seconds, the least of two, and processor nanoseconds for each
/// product of two nonzeros of a row that enters a half of C. Beside them sums that each row of the data is spread over as it comes.
pub fn sparse(files: &[String]) -> Result<()> {
    println!("data,rows,columns,products,kind,threads,seconds,processor_seconds,ns_per_product");
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = [(1, pool(1)?), (2, pool(2)?)]; // processor time is that of the threads that there are
    for file in files {
        let Some(matrix) = load(file)? else { continue };
        let Matrix::Sparse(a) = matrix else { anyhow::bail!("{file}: not sparse") };
        let a = leading(&a)?;
        let chunks = by_rows(&a);
        let (m, n) = (a.nrows(), a.ncols());
        let counts = chunks.iter().flat_map(|(starts, ..)| starts.windows(2).map(|row| row[1] - row[0]));
        let products: usize = counts.map(|count| count * (count + 1) / 2).sum();
        let print = |kind: &str, threads: usize, (seconds, processor): (f64, f64)| {
            let each = 1e9 * processor / products as f64;
            println!("{file},{m},{n},{products},{kind},{threads},{seconds:.3},{processor:.3},{each:.2}");
        };
        let mut sums = vec![[0.0; 2]; n * (n + 1) / 2];
        let mut spread_all = || {
            chunks.iter().for_each(|chunk| spread(chunk, &mut sums));
            Ok(())
        };
        print("row by row", 1, shortest(&mut spread_all)?);
        drop(sums);
        for (threads, pool) in &pools {
            let kinds = [("compensated", Summation::Compensated), ("reproducible", Summation::Reproducible)];
            for (kind, how) in kinds {
                if how == Summation::Reproducible && products > SLOW {
                    continue;
                }
                let mut sums = GramAccumulator::new(n, how, "bench", None)?;
                let mut add = |(starts, indices, values): &Chunk| -> Result<()> {
                    let rows = SparseRows::new(n, starts, indices, values).map_err(anyhow::Error::msg)?;
                    Ok(sums.add(Rows::Sparse(rows), None)?)
                };
                print(kind, *threads, shortest(|| pool.install(|| chunks.iter().try_for_each(&mut add)))?);
            }
            let data = PcaData::Sparse(a.as_ref(), None);
            let at_once = || pool.install(|| covariance_model(&data, Storage::Dense).map(drop));
            print("C at once", *threads, shortest(|| Ok(at_once()?))?);
        }
    }
    Ok(())
}

/// Adds the products of each row to the packed lower triangle, with the rounding errors kept.
fn spread((starts, indices, values): &Chunk, sums: &mut [[f64; 2]]) {
    for row in starts.windows(2) {
        for t in row[0]..row[1] {
            let sums = &mut sums[indices[t] * (indices[t] + 1) / 2..];
            for k in row[0]..=t {
                let ([high, low], v) = (sums[indices[k]], values[t] * values[k]);
                let sum = high + v;
                let part = sum - high;
                sums[indices[k]] = [sum, low + ((high - (sum - part)) + (v - part))];
            }
        }
    }
}

/// The columns with the most nonzeros, where there are too many.
fn leading(a: &SparseColMat<usize, f64>) -> Result<SparseColMat<usize, f64>> {
    let mut order: Vec<usize> = (0..a.ncols()).collect();
    order.sort_by_key(|j| std::cmp::Reverse(a.val_of_col(*j).len()));
    order.truncate(VARIABLES);
    order.sort_unstable();
    let entries: Vec<_> = order
        .iter()
        .enumerate()
        .flat_map(|(k, j)| {
            a.row_idx_of_col(*j).zip(a.val_of_col(*j)).map(move |(i, v)| Triplet::new(i, k, *v))
        })
        .collect();
    Ok(SparseColMat::try_new_from_triplets(a.nrows(), order.len(), &entries)?)
}

/// A chunk of rows: where each begins, columns and values.
type Chunk = (Vec<usize>, Vec<usize>, Vec<f64>);

fn by_rows(a: &SparseColMat<usize, f64>) -> Vec<Chunk> {
    let mut rows = vec![Vec::new(); a.nrows()];
    for j in 0..a.ncols() {
        a.row_idx_of_col(j).zip(a.val_of_col(j)).for_each(|(i, v)| rows[i].push((j, *v)));
    }
    let chunk = |rows: &[Vec<(usize, f64)>]| {
        let mut chunk: Chunk = (vec![0], vec![], vec![]);
        for row in rows {
            chunk.1.extend(row.iter().map(|entry| entry.0));
            chunk.2.extend(row.iter().map(|entry| entry.1));
            chunk.0.push(chunk.1.len());
        }
        chunk
    };
    rows.chunks(SPARSE_CHUNK).map(chunk).collect()
}

/// Seconds and processor seconds, the least of two.
fn shortest(mut work: impl FnMut() -> Result<()>) -> Result<(f64, f64)> {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..2 {
        let (start, before) = (Instant::now(), processor_seconds().unwrap_or(f64::NAN));
        work()?;
        let processor = processor_seconds().unwrap_or(f64::NAN) - before;
        least = (least.0.min(start.elapsed().as_secs_f64()), least.1.min(processor));
    }
    Ok(least)
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown".into(), |line| line.trim().into())
}
