//! Greedy working sets (OBCD paper, Appendix D, Algorithm 2).
//!
//! * WSS-SV: S = X Gᵀ − G Xᵀ, the violation of stationarity;
//! * WSS-OR: Sᵢⱼ = min over V ∈ O(2) of ⟨V − I, T_BB⟩, T = (G − L_f X)Xᵀ − αI, the reduction of
//!   a linear model: min(−c₁ − √(c₁² + c₂²), −c₁ − √(c₃² + c₄²)) (docs/mathematics.md, section 3).
//!
//! G = ∇f + a subgradient of h: 0 for ℓ0 and indicators, λ sign(X) for ℓ1.

use rand_pcg::Pcg64;

use super::{Candidates, Chosen, GradientCache, ObcdOptions, WorkingSet};
use crate::constraint::Stiefel;
use crate::linalg::RowMat;
use crate::linalg::kernels::pair_products;
use crate::linalg::simd::{Simd, WithSimd, dispatch};
use crate::nonsmooth::Nonsmooth;
use crate::pair::movable::Movable;
use crate::pair::step::PairWork;
use crate::problem::Problem;
use crate::smooth::Quadratic;

/// Best pairs kept from one scoring of all pairs; they are tried in order until one moves.
const KEEP: usize = 64;
/// Steps in a row without a move after which a whole pass is due.
const PATIENCE: u32 = 50;

/// State of the greedy rule.
#[derive(Clone, Debug)]
pub(crate) struct Greedy {
    rule: WorkingSet,
    candidates: Candidates,
    alpha: f64,
    lipschitz: f64,             // L_f, for WSS-OR only
    queue: Vec<(usize, usize)>, // best pairs not tried yet, best last (all pairs scored)
    fruitless: u32,
    scored: u64, // pairs scored so far
}

impl Greedy {
    pub fn new(options: &ObcdOptions, f: &impl Quadratic, n: usize) -> Self {
        let rule = options.working_set;
        Self {
            rule,
            candidates: options.candidates.unwrap_or(Candidates::Sample(n.min(200))),
            alpha: options.alpha,
            lipschitz: if rule == WorkingSet::GreedyOr { f.norm() } else { 0.0 },
            queue: Vec::new(),
            fruitless: 0,
            scored: 0,
        }
    }

    pub fn describe(&self) -> String {
        match self.candidates {
            Candidates::Sample(p) => format!("{p} sampled pairs"),
            Candidates::All => "all pairs".into(),
        }
    }

    /// Pairs scored so far.
    pub fn scored(&self) -> u64 {
        self.scored
    }

    /// X has changed: scores are stale.
    pub fn moved(&mut self) {
        self.queue.clear();
        self.fruitless = 0;
    }

    /// Whether the best pairs keep failing, so that a whole pass is due.
    pub fn exhausted(&self) -> bool {
        self.fruitless >= PATIENCE
    }

    /// The working set of largest |S|.
    #[allow(clippy::too_many_arguments)]
    pub fn choose<F: Quadratic, H: Nonsmooth>(
        &mut self,
        k: usize,
        p: &Problem<Stiefel, F, H>,
        x: &RowMat,
        image: &F::Image,
        rows: &Movable,
        rng: &mut Pcg64,
        (work, cache): (&mut PairWork, Option<&mut GradientCache>),
    ) -> Option<Chosen> {
        self.fruitless += 1;
        if let Some((i, j)) = self.queue.pop() {
            return Some(Chosen::Pair(i, j));
        }
        let mut scored = match self.candidates {
            Candidates::Sample(count) => {
                let pairs: Vec<_> = (0..count).map_while(|_| rows.random_pair(rng)).collect();
                self.score_pairs(&pairs, p, x, image, (work, cache))
            }
            Candidates::All => self.score_all(p, x, image, rows),
        };
        self.scored += scored.len() as u64;
        let best_last = |a: &(f64, usize, usize), b: &(f64, usize, usize)| {
            a.0.total_cmp(&b.0).then((b.1, b.2).cmp(&(a.1, a.2)))
        };
        if k > 2 {
            scored.sort_unstable_by(best_last);
            return Some(Chosen::Blocks(vec![non_overlapping(&scored, k)]));
        }
        if self.candidates == Candidates::All {
            if scored.len() > KEEP {
                let cut = scored.len() - KEEP;
                scored.select_nth_unstable_by(cut, best_last);
                scored.drain(..cut);
            }
            scored.sort_unstable_by(best_last);
            self.queue = scored.iter().map(|s| (s.1, s.2)).collect();
            return self.queue.pop().map(|(i, j)| Chosen::Pair(i, j));
        }
        scored.into_iter().max_by(best_last).map(|(_, i, j)| Chosen::Pair(i, j))
    }

    fn score_pairs<F: Quadratic, H: Nonsmooth>(
        &self,
        pairs: &[(usize, usize)],
        p: &Problem<Stiefel, F, H>,
        x: &RowMat,
        image: &F::Image,
        (work, mut cache): (&mut PairWork, Option<&mut GradientCache>),
    ) -> Vec<(f64, usize, usize)> {
        // gradient rows of the sampled pairs, two rows of `g` for each
        let mut g = RowMat::zeros(2 * pairs.len(), x.ncols());
        for (k, &(i, j)) in pairs.iter().enumerate() {
            for (at, row) in [(2 * k, i), (2 * k + 1, j)] {
                let known = match &mut cache {
                    Some(cache) => cache.row(&p.f, image, x, row, &mut work.g1),
                    None => p.f.gradient_row(image, x, row, &mut work.g1),
                };
                g.row_mut(at).copy_from_slice(known);
                add_subgradient(&p.h, x.row(row), g.row_mut(at));
            }
        }
        let jobs = pairs.iter().enumerate().map(|(k, &(i, j))| Job { g: (2 * k, 2 * k + 1), x: (i, j) });
        dispatch(Score { greedy: self, g: &g, x, jobs })
    }

    /// |Sᵢⱼ| from g₁·z₁, g₁·z₂, g₂·z₁, g₂·z₂, z₁·z₁, z₁·z₂, z₂·z₂.
    #[inline(always)]
    fn score(&self, [g11, g12, g21, g22, w11, w12, w22]: [f64; 7]) -> f64 {
        if self.rule == WorkingSet::GreedySv {
            return (g12 - g21).abs();
        }
        let l = self.lipschitz;
        let (t11, t22) = (g11 - l * w11 - self.alpha, g22 - l * w22 - self.alpha);
        let (t12, t21) = (g12 - l * w12, g21 - l * w12);
        let c1 = t11 + t22;
        let rotation = c1 * c1 + (t12 - t21) * (t12 - t21);
        let reflection = (t22 - t11) * (t22 - t11) + (t12 + t21) * (t12 + t21);
        (c1 + rotation.max(reflection).sqrt()).abs()
    }

    fn score_all<F: Quadratic, H: Nonsmooth>(
        &self,
        p: &Problem<Stiefel, F, H>,
        x: &RowMat,
        image: &F::Image,
        rows: &Movable,
    ) -> Vec<(f64, usize, usize)> {
        let (n, r) = (x.nrows(), x.ncols());
        let mut g = RowMat::zeros(n, r);
        let mut buf = vec![0.0; r];
        for i in 0..n {
            g.row_mut(i).copy_from_slice(p.f.gradient_row(image, x, i, &mut buf));
            add_subgradient(&p.h, x.row(i), g.row_mut(i));
        }
        let nonzero = rows.sorted();
        let partners = |i: usize| (0..n).filter(move |j| *j != i && (*j > i || !rows.contains(*j)));
        let pair = |i: usize, j: usize| Job { g: (i.min(j), i.max(j)), x: (i.min(j), i.max(j)) };
        let jobs = nonzero.iter().flat_map(|&i| partners(i).map(move |j| pair(i, j)));
        dispatch(Score { greedy: self, g: &g, x, jobs })
    }
}

/// One pair to score: rows of the gradient matrix and rows of X.
#[derive(Clone, Copy)]
struct Job {
    g: (usize, usize),
    x: (usize, usize),
}

/// Scores a list of pairs, as a kernel.
struct Score<'a, I> {
    greedy: &'a Greedy,
    g: &'a RowMat,
    x: &'a RowMat,
    jobs: I,
}

impl<I: Iterator<Item = Job>> WithSimd for Score<'_, I> {
    type Output = Vec<(f64, usize, usize)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (g, x) = (self.g, self.x);
        let mut out = Vec::with_capacity(self.jobs.size_hint().0);
        for Job { g: (gi, gj), x: (i, j) } in self.jobs {
            let products = pair_products(simd, g.row(gi), g.row(gj), x.row(i), x.row(j));
            out.push((self.greedy.score(products), i, j));
        }
        out
    }
}

#[inline(always)]
fn add_subgradient(h: &impl Nonsmooth, z: &[f64], g: &mut [f64]) {
    for (gi, zi) in g.iter_mut().zip(z) {
        let (lo, hi) = h.subdifferential(*zi);
        // at a kink the choice is 0, as in the papers
        if lo == hi {
            *gi += lo;
        }
    }
}

/// The rows of the best pairs until k distinct ones are found; `scored` has the best last.
fn non_overlapping(scored: &[(f64, usize, usize)], k: usize) -> Vec<usize> {
    let mut rows = Vec::with_capacity(k);
    for &(_, i, j) in scored.iter().rev() {
        if rows.len() + 2 > k {
            break;
        }
        if !rows.contains(&i) && !rows.contains(&j) {
            rows.extend([i, j]);
        }
    }
    rows
}
