//! Block-k stationarity on a sample of blocks of k rows (OBCD paper, Definition 3.5): the
//! decreases of F at BS₂-points by blocks of three rows and more, {BS_k} ⊇ {BS_{k+1}} (Theorem 3.6 (c)).

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::block_search::{Block, Found};
use crate::constraint::Stiefel;
use crate::objective::size;
use crate::pair::PairPenalty;
use crate::pair::movable::Movable;
use crate::pair::step::PairWork;
use crate::problem::Problem;
use crate::smooth::{DenseQuadratic, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::best_first;
use orthopt_linalg::parallel::map_with;

/// Which blocks are searched, and how hard.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct BlockScope {
    /// Rows of a block, k ≥ 2.
    pub rows: usize,
    /// Number of random blocks (with repetition) among those that can change X; all blocks if there are fewer.
    pub samples: u64,
    /// Number of V from which each block is searched, in addition to V = I.
    pub starts: u32,
    /// Seed of blocks and starts.
    pub seed: u64,
    /// Decreases of F up to this count as none.
    pub tolerance: f64,
}

/// Decreases of F by blocks of k rows at a point.
///
/// For k = 2 the subproblem is solved globally. For k > 2 it is a search that may miss a
/// decrease. So every number is a lower estimate and not a certificate of block-k stationarity.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct BlockReport {
    /// k.
    pub rows: usize,
    /// Number of V from which each block was searched, in addition to V = I.
    pub starts: u32,
    /// Blocks searched.
    pub blocks_checked: u64,
    /// Blocks that can change X: those with a nonzero row.
    pub blocks_total: f64,
    /// Blocks that lower F by more than the tolerance.
    pub offering: u64,
    /// The largest decrease of F.
    pub max_decrease: f64,
    /// Mean decrease over the blocks that offer one.
    pub mean_decrease: f64,
    /// The blocks that offer one, with the decrease, largest first.
    #[serde(skip)]
    pub offers: Vec<(Vec<usize>, f64)>,
}

impl BlockReport {
    /// This report with every decrease of F multiplied by `unit`, a power of two.
    #[doc(hidden)]
    pub fn times(mut self, unit: f64) -> Self {
        self.max_decrease *= unit;
        self.mean_decrease *= unit;
        self.offers.iter_mut().for_each(|(_, decrease)| *decrease *= unit);
        self
    }
}

/// Blocks that share a stream of random numbers.
const CHUNK: usize = 64;

/// Searches a sample of blocks of `scope.rows` rows of X, or all of them, for a lower F.
///
/// When it is cancelled it ends after the blocks in hand, and [`BlockReport::blocks_checked`] says how
/// many those are. Cost: a gradient, then for each block and start some sweeps over its k(k − 1)/2 pairs at
/// O(r log r) each, in parallel. Unless stopped, the result does not depend on the number of threads.
pub fn block_k_stationarity<F: Quadratic, H: PairPenalty>(
    p: &Problem<Stiefel, F, H>,
    x: &RowMat,
    scope: &BlockScope,
    cancel: &Cancel,
) -> BlockReport {
    let at = RowBlocks::new(p, x);
    let rows = Movable::new(x);
    let k = scope.rows.clamp(2, x.nrows().max(2));
    let blocks_total = movable_blocks(&rows, k);
    let blocks: Vec<Vec<usize>> =
        if blocks_total <= scope.samples as f64 { all_blocks(&rows, k) } else { draw(&rows, k, scope) };
    let chunks: Vec<&[Vec<usize>]> = blocks.chunks(CHUNK).collect();
    let searched = map_with(
        chunks.len(),
        1,
        || PairWork::new(x.ncols()),
        |work, chunk| {
            let mut rng = stream(scope.seed, chunk as u64 + 1);
            let search = |b: &Vec<usize>| {
                (!cancel.is_over()).then(|| at.search(b, scope.starts, &mut rng, work).decrease)
            };
            chunks[chunk].iter().map(search).collect::<Vec<Option<f64>>>()
        },
    )
    .concat();
    let found = |(rows, decrease): (Vec<usize>, Option<f64>)| {
        decrease.filter(|d| *d > scope.tolerance).map(|d| (rows, d))
    };
    let blocks_checked = searched.iter().flatten().count() as u64;
    let max_decrease = searched.iter().flatten().fold(0.0, |m: f64, d| m.max(*d));
    let offers: Vec<_> = blocks.into_iter().zip(searched).filter_map(found).collect();
    let offers = best_first(offers, |offer| offer.1);
    let sum: f64 = offers.iter().map(|o| o.1).sum();
    BlockReport {
        rows: k,
        starts: if k > 2 { scope.starts } else { 0 },
        blocks_checked,
        blocks_total,
        offering: offers.len() as u64,
        max_decrease,
        mean_decrease: if offers.is_empty() { 0.0 } else { sum / offers.len() as f64 },
        offers,
    }
}

/// Blocks of rows of one X.
#[derive(Debug)]
pub struct RowBlocks<'a, F, H> {
    p: &'a Problem<Stiefel, F, H>,
    x: &'a RowMat,
    g: RowMat, // ∇f(X)
    noise: f64,
}

impl<'a, F: Quadratic, H: PairPenalty> RowBlocks<'a, F, H> {
    /// Cost of a gradient.
    pub fn new(p: &'a Problem<Stiefel, F, H>, x: &'a RowMat) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        p.f.gradient(x, &mut g);
        Self { p, x, g, noise: 1e-12 * size(p.f.scale(x), p.objective(x).total) }
    }

    /// The rows `rows` of an X with a lower F, and the decrease; (X_B, 0) if none was found.
    pub fn lower(&self, rows: &[usize], starts: u32, seed: u64) -> (RowMat, f64) {
        let found = self.search(rows, starts, &mut stream(seed, 0), &mut PairWork::new(self.x.ncols()));
        (found.z, found.decrease)
    }

    fn search(&self, rows: &[usize], starts: u32, rng: &mut Pcg64, work: &mut PairWork) -> Found {
        let copied = |of: &RowMat| RowMat::from_fn(rows.len(), of.ncols(), |i, c| of.get(rows[i], c));
        let k = DenseQuadratic::block(self.p.f.curvature_block(rows), &self.p.f);
        let block = Block { h: &self.p.h, k, z: copied(self.x), g: copied(&self.g), noise: self.noise };
        block.search(starts, rng, work)
    }
}

/// Independent stream of random numbers for every number.
fn stream(seed: u64, number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// C(n, k) − C(n − s, k) for s nonzero rows.
fn movable_blocks(rows: &Movable, k: usize) -> f64 {
    let choose = |n: usize| (0..k).map(|j| (n as f64 - j as f64).max(0.0) / (k - j) as f64).product::<f64>();
    (choose(rows.nrows()) - choose(rows.nrows() - rows.count())).round()
}

/// Every block of k rows with a nonzero one, in order.
fn all_blocks(rows: &Movable, k: usize) -> Vec<Vec<usize>> {
    let n = rows.nrows();
    let mut all = Vec::new();
    let mut block: Vec<usize> = (0..k).collect();
    if k > n {
        return all;
    }
    loop {
        if block.iter().any(|i| rows.contains(*i)) {
            all.push(block.clone());
        }
        // the last place that can still go up, and those behind it close up to it
        let Some(place) = (0..k).rev().find(|j| block[*j] < n - k + *j) else { return all };
        block[place] += 1;
        (place + 1..k).for_each(|j| block[j] = block[j - 1] + 1);
    }
}

/// Blocks with a nonzero row, uniformly: a nonzero row and k − 1 others; one with m nonzero
/// rows is drawn m times as often, and is kept with probability 1/m.
fn draw(rows: &Movable, k: usize, scope: &BlockScope) -> Vec<Vec<usize>> {
    let (n, nonzero) = (rows.nrows(), rows.sorted());
    let mut rng = stream(scope.seed, 0);
    let mut blocks = Vec::new();
    while !nonzero.is_empty() && (blocks.len() as u64) < scope.samples {
        let first = nonzero[rng.random_range(0..nonzero.len())];
        let others = rand::seq::index::sample(&mut rng, n - 1, k - 1).into_iter();
        let mut block: Vec<usize> = others.map(|j| j + usize::from(j >= first)).collect();
        block.push(first);
        let m = block.iter().filter(|i| rows.contains(**i)).count();
        if rng.random_range(0..m) == 0 {
            block.sort_unstable();
            blocks.push(block);
        }
    }
    blocks
}
