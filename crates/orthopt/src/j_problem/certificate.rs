//! Block-2 stationarity over pairs of rows (JOBCD paper, Definition 3.2) for a quadratic f, whose
//! subproblems are solved exactly and globally.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::certify::Certificate;
use crate::certify::Scope;
use crate::constraint::j_orthogonal::Signature;
use crate::jpair::{Ending, JPair, JPairMin};
use crate::linalg::RowMat;
use crate::linalg::products::product;
use crate::smooth::JQuadratic;

/// How far a boost is followed where a pair has no minimum, for the decrease to be a number.
const FOLLOW: f64 = 1.0;

/// Every pair of rows of ½tr(MS), S = XNXᵀ, with θ = 0. Cost 6n³ flops, then O(1) a pair.
pub(crate) fn block_stationarity(f: &JQuadratic, j: &Signature, x: &RowMat, scope: Scope) -> Certificate {
    let n = j.len();
    let (mut s, mut w) = (RowMat::zeros(n, n), RowMat::zeros(n, n));
    product(&mut s, false, 1.0, f.times_n(x.clone()).as_mat(), x.as_mat().transpose());
    product(&mut w, false, 1.0, f.m().as_mat(), s.as_mat());
    let value = 0.5 * (0..n).map(|i| w.get(i, i)).sum::<f64>();
    let noise = 1e-12 * (1.0 + value.abs());
    let solve = |a: usize, b: usize| -> JPairMin {
        let three = |m: &RowMat| [m.get(a, a), m.get(a, b), m.get(b, b)];
        let block = [[w.get(a, a), w.get(a, b)], [w.get(b, a), w.get(b, b)]];
        let pair = JPair::exact(block, three(f.m()), three(&s), 0.0);
        let found = pair.solve(j.mixed(a, b));
        if found.ending == Ending::Unbounded { pair.solve_within(true, FOLLOW) } else { found }
    };
    let total = n as u64 * n.saturating_sub(1) as u64 / 2;
    let tallies: Vec<Tally> = match scope {
        Scope::All => (0..n)
            .into_par_iter()
            .map(|a| (a + 1..n).fold(Tally::default(), |tally, b| tally.with(&solve(a, b), noise)))
            .collect(),
        Scope::Sample { pairs, seed } => {
            let mut rng = Pcg64::seed_from_u64(seed);
            let pairs = if n < 2 { 0 } else { pairs };
            let drawn: Vec<(usize, usize)> = (0..pairs)
                .map(|_| {
                    let a = rng.random_range(0..n);
                    let b = rng.random_range(0..n - 1);
                    (a, b + usize::from(b >= a))
                })
                .collect();
            drawn
                .par_iter()
                .map(|(a, b)| Tally::default().with(&solve(*a.min(b), *a.max(b)), noise))
                .collect()
        }
    };
    let sum = tallies.iter().fold(Tally::default(), |sum, t| Tally {
        checked: sum.checked + t.checked,
        distance: sum.distance + t.distance,
        max_decrease: sum.max_decrease.max(t.max_decrease),
    });
    Certificate {
        pairs_checked: sum.checked,
        pairs_total: total,
        max_decrease: sum.max_decrease,
        mean_distance: if sum.checked > 0 { sum.distance / sum.checked as f64 } else { 0.0 },
    }
}

#[derive(Clone, Copy, Default)]
struct Tally {
    checked: u64,
    distance: f64, // Σ dist(I, argmin)²
    max_decrease: f64,
}

impl Tally {
    fn with(self, found: &JPairMin, noise: f64) -> Self {
        let moved = found.step.filter(|_| found.decrease > noise);
        Self {
            checked: self.checked + 1,
            distance: self.distance + moved.map_or(0.0, |v| v.distance_squared()),
            max_decrease: self.max_decrease.max(found.decrease),
        }
    }
}
