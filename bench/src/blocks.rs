//! The hierarchy of block-k stationary points on data: what blocks of three and four rows still offer where no
//! pair of rows lowers F, and whether it pays to take it.

use std::time::Instant;

use anyhow::Result;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::{BlockReport, BlockScope, RowBlocks, block_k_stationarity};
use orthopt::family::{Family, Request};
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{RunOptions, Stationary, Stop, TimeLimit, run};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt_data::Matrix;

use crate::instance::load;
use crate::portfolio::{Cell, RANK, posed, prepared, run_one};

const DATA: [&str; 4] = ["builtin:pitprops", "ionosphere.csv", "w1a.svm", "colon_alon.csv.gz"];
const PROBLEMS: [(&str, f64); 5] =
    [("l0-pca", 0.1), ("l0-pca", 1.0), ("l1-pca", 0.1), ("l1-pca", 1.0), ("nonneg-pca", 1.0)];
/// Starts of OBCD; all figures are over the points it reaches.
const STARTS: u64 = 4;
/// Blocks searched at each point, and V from which each is searched.
const SAMPLES: u64 = 4000;
const FROM: u32 = 12;
/// A decrease beyond this times 1 + |F| counts.
const TOL: f64 = 1e-7;
/// Times that triples are taken and OBCD run again, at most.
const ROUNDS: u64 = 30;

/// Decreases of F that blocks of one size give at all points of a cell.
#[derive(Default)]
struct Offered {
    checked: u64,
    offering: u64,
    sum: f64, // of decreases over 1 + |F|
    largest: f64,
}

impl Offered {
    fn add(&mut self, r: &BlockReport, size: f64) {
        self.checked += r.blocks_checked;
        self.offering += r.offering;
        self.sum += r.offers.iter().map(|o| o.1).sum::<f64>() / size;
        self.largest = self.largest.max(r.max_decrease / size);
    }

    fn shown(&self) -> String {
        let share = 100.0 * self.offering as f64 / self.checked.max(1) as f64;
        let mean = self.sum / self.offering.max(1) as f64;
        format!("{share:.2} | {:.1e} | {mean:.1e}", self.largest)
    }
}

fn obcd(p: &PcaProblem, x0: RowMat, seed: u64, seconds: f64) -> Result<RowMat> {
    let solver = Obcd::new(ObcdOptions { seed, ..Default::default() })?;
    let mut stop = Stationary { tol: 1e-11 }.or(TimeLimit(Some(seconds)));
    Ok(run(p, &solver, x0, RunOptions { seed, ..Default::default() }, &mut stop, &mut [])?.x)
}

fn scope(p: &PcaProblem, x: &RowMat, rows: usize, seed: u64) -> BlockScope {
    let tolerance = TOL * (1.0 + p.objective(x).total.abs());
    BlockScope { rows, samples: SAMPLES, starts: FROM, seed, tolerance }
}

/// Takes what triples of a sample offer, best first, each searched anew where it stands; whether F fell.
fn take(p: &PcaProblem, x: &mut RowMat, seed: u64) -> bool {
    let wanted = scope(p, x, 3, seed);
    let found = block_k_stationarity(p, x, &wanted, &Cancel::never());
    for (rows, _) in &found.offers {
        let (z, decrease) = RowBlocks::new(p, x).lower(rows, FROM, seed);
        if decrease > wanted.tolerance {
            rows.iter().enumerate().for_each(|(k, i)| x.row_mut(*i).copy_from_slice(z.row(k)));
        }
    }
    found.offering > 0
}

fn row(cell: &Cell, p: &PcaProblem, seconds: f64) -> Result<()> {
    let mut offered: [Offered; 3] = Default::default();
    let (mut before, mut after) = (f64::INFINITY, f64::INFINITY);
    let (mut fell, mut rounds) = (0, 0);
    let (mut alone, mut taking) = (0.0, 0.0); // seconds
    let name = if cell.problem == "nonneg-pca" { "partition" } else { "random" };
    for seed in 1..=STARTS {
        let clock = Instant::now();
        let mut x = obcd(p, p.start(name, seed)?, seed, seconds)?;
        alone += clock.elapsed().as_secs_f64();
        let f = p.objective(&x).total;
        before = before.min(f);
        for (offers, k) in offered.iter_mut().zip([2, 3, 4]) {
            offers.add(&block_k_stationarity(p, &x, &scope(p, &x, k, seed), &Cancel::never()), 1.0 + f.abs());
        }
        let clock = Instant::now();
        let mut round = 0;
        while round < ROUNDS && clock.elapsed().as_secs_f64() < seconds && take(p, &mut x, 100 * seed + round)
        {
            x = obcd(p, x, seed, seconds)?;
            round += 1;
        }
        taking += clock.elapsed().as_secs_f64();
        let now = p.objective(&x).total;
        after = after.min(now);
        fell += u32::from(now < f - TOL * (1.0 + f.abs()));
        rounds += round;
    }
    let auto = run_one(p, &Request { seed: Some(1), ..Default::default() }, alone + taking)?.objective.total;
    let share = if cell.problem == "nonneg-pca" { String::new() } else { cell.share.to_string() };
    let [pairs, triples, fours] = offered;
    println!(
        "| {} | {} | {share} | {:.1e} | {} | {} | {before:.6} | {after:.6} | {fell}, {rounds} | {alone:.1}, {taking:.1} | {auto:.6} |",
        cell.data,
        cell.problem,
        pairs.largest,
        triples.shown(),
        fours.shown(),
    );
    Ok(())
}

/// Prints a line for every cell whose name contains `filter`; OBCD from each start has `seconds`, and so has
/// the taking of triples.
pub fn suite(seconds: f64, filter: Option<&str>) -> Result<()> {
    println!(
        "columns centred and of unit length; {STARTS} random starts of OBCD, {seconds} s each; {SAMPLES} blocks from {FROM} V at each point;"
    );
    println!(
        "decreases relative to 1 + |F|, above {TOL:e}; seconds of OBCD, and of triples with OBCD between\n"
    );
    println!(
        "| data | problem | share of default lambda | pairs: largest | triples: % | largest | mean | fours: % | largest | mean | best F of OBCD | after triples | points lower, rounds | seconds | default search, same seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for file in DATA {
        let Some(matrix) = load(file)? else { continue };
        let given = file.starts_with("builtin:"); // C itself, of variables of unit variance
        let dense = match &matrix {
            Matrix::Dense(c) if given => c.clone(),
            Matrix::Dense(a) => prepared(a),
            Matrix::Sparse(a) => prepared(&a.to_dense()),
        };
        let data = if given { PcaData::Gram(dense.as_ref()) } else { PcaData::Dense(dense.as_ref()) };
        for (problem, share) in PROBLEMS {
            let cell = Cell { data: file.into(), problem, share, rank: RANK };
            if filter.is_none_or(|f| format!("{file} {problem} {share}").contains(f)) {
                row(&cell, &posed(&cell, &data)?, seconds)?;
            }
        }
    }
    Ok(())
}
