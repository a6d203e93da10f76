//! `--blocks K` of certify: decreases of F by blocks of more than two rows.

use orthopt::RowMat;
use orthopt::certify::{BlockReport, BlockScope};
use orthopt::family::AnyProblem;

use crate::failure::usage;
use crate::settings::at_least_one;
use crate::summary::Summary;
use crate::{interrupt, text};

/// Maximum number of rows of a block: a search of larger blocks misses too many decreases.
const LARGEST: usize = 16;

/// Which blocks are searched, as typed.
#[derive(Clone, Debug, clap::Args)]
pub struct Blocks {
    /// Also search blocks of K rows (3, 4, ...) for a lower F that pairs of rows do not reach
    #[arg(long, value_name = "K")]
    blocks: Option<usize>,

    /// Number of random blocks that --blocks searches; all blocks if there are fewer
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "blocks")]
    block_samples: u64,

    /// Number of random orthogonal starting points of --blocks in each block, in addition to the identity
    #[arg(long, value_name = "N", default_value_t = 12, requires = "blocks")]
    block_starts: u32,
}

impl Blocks {
    /// Values that are invalid for every X.
    pub fn check(&self) -> anyhow::Result<()> {
        at_least_one("block-samples", self.block_samples)?;
        match self.blocks {
            Some(rows) if !(2..=LARGEST).contains(&rows) => {
                Err(usage(format!("--blocks {rows}: from 2 to {LARGEST} rows")))
            }
            _ => Ok(()),
        }
    }

    /// True if blocks are searched.
    pub fn are_searched(&self) -> bool {
        self.blocks.is_some()
    }

    /// Searches the blocks if requested; after an interruption, those finished by then. Decreases of F
    /// up to `tolerance` count as none.
    pub fn search(
        &self,
        problem: &AnyProblem,
        x: &RowMat,
        seed: u64,
        tolerance: f64,
    ) -> anyhow::Result<Option<BlockReport>> {
        let Some(rows) = self.blocks else { return Ok(None) };
        let n = x.nrows();
        if rows > n {
            return Err(usage(format!("--blocks {rows}: X has {n} rows")));
        }
        tracing::info!("searching blocks of {rows} rows");
        let (samples, starts) = (self.block_samples, self.block_starts);
        let scope = BlockScope { rows, samples, starts, seed, tolerance };
        let found = problem.block_k_stationarity(x, &scope, interrupt::cancel());
        let refused =
            "--blocks is for f(X) + h(X) with X'X = I, a quadratic f and no limits on nonzeros: leave it out";
        found.map(Some).ok_or_else(|| usage(refused))
    }
}

/// A line of the report. `tolerance` is absolute.
pub fn text(found: &BlockReport, tolerance: f64) -> String {
    let mut summary = Summary::default();
    summary.line(&format!("blocks of {}", found.rows), &offered(found, tolerance));
    summary.take()
}

/// Decreases of F that they give, in words.
fn offered(b: &BlockReport, tolerance: f64) -> String {
    let (checked, least) = (text::grouped(b.blocks_checked), text::number(tolerance, 4));
    let of = match b.blocks_checked as f64 >= b.blocks_total {
        true => format!("all {checked}"),
        false => format!("{checked} of {:.3e}", b.blocks_total),
    };
    let how = match b.rows {
        2 => String::new(),
        _ => format!(", from {} starts each (other starts may find more)", b.starts),
    };
    match b.offering {
        0 => format!("{of} searched{how}; none was found that lowers F by more than {least}"),
        some => format!(
            "{of} searched{how}; {} ({:.2} %) lower F by more than {least}, by {} at most and {} on average",
            text::grouped(some),
            100.0 * some as f64 / b.blocks_checked as f64,
            text::number(b.max_decrease, 4),
            text::number(b.mean_decrease, 4),
        ),
    }
}
