//! Sums of AᵀA over chunks: what they cost against faer's product of the same chunk, and rows that are generated
//! as they are needed, far more of them than fit memory.

use std::time::Instant;

use anyhow::Result;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use orthopt_data::{GramAccumulator, Rows, Summation};

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

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown".into(), |line| line.trim().into())
}
