//! The bound of given multipliers, as a number that holds in floating point, and the rows that it decides
//! (docs/bounds-limits.md, sections 1 to 3).

use super::super::certified::{gamma, sum_of_largest};
use super::super::covariance::principal;
use super::super::fantope::Fantope;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::{select_numbers, sort_numbers_down};

/// Covers the rounding of the error terms themselves.
const OUTWARD: f64 = 1.01;
/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Columns of X that share their rows, and what is known of these: a set S of at most k rows with I ⊆ S ⊆ R holds all
/// nonzeros. One column, or all r where variables are limited. Where [`Problem::exact`] holds S has nothing but nonzeros.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub k: usize,
    pub rows: Vec<usize>,  // R, ascending
    pub forced: Vec<bool>, // which of them are in I
}

impl Part {
    /// Nothing is known.
    pub fn all(n: usize, k: usize) -> Self {
        Self { k, rows: (0..n).collect(), forced: vec![false; n] }
    }

    /// |I|.
    pub fn must(&self) -> usize {
        self.forced.iter().filter(|f| **f).count()
    }

    /// k − |I|: how many rows are to be chosen yet.
    pub fn open(&self) -> usize {
        self.k - self.must()
    }

    /// True if S is known.
    pub fn is_decided(&self) -> bool {
        self.forced.iter().all(|f| *f)
    }

    /// Draws the conclusions from |S| = k, or |S| ≤ k where the problem is exact; `false` where no such S is left.
    pub fn settle(&mut self, problem: &Problem) -> bool {
        let must = self.must();
        let least = if problem.exact() { problem.rank } else { self.k };
        if must > self.k || self.rows.len() < least {
            return false;
        }
        if must == self.k {
            self.keep(|part, a| part.forced[a]);
        } else if self.rows.len() == least {
            self.forced.fill(true);
        }
        true
    }

    /// Keeps the rows for whose place `wanted` is true.
    pub fn keep(&mut self, wanted: impl Fn(&Self, usize) -> bool) {
        let kept: Vec<usize> = (0..self.rows.len()).filter(|a| wanted(self, *a)).collect();
        self.rows = kept.iter().map(|a| self.rows[*a]).collect();
        self.forced = kept.iter().map(|a| self.forced[*a]).collect();
    }

    /// The place of row i.
    pub fn place(&self, i: usize) -> Option<usize> {
        self.rows.binary_search(&i).ok()
    }
}

/// The rows of any part, ascending.
pub fn union_of(parts: &[Part]) -> Vec<usize> {
    let mut all: Vec<usize> = parts.iter().flat_map(|part| part.rows.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// max tr Xᵀ(½C)X − λ Σ|S| over the X whose parts have the limits on nonzeros: `rank` columns in each part.
#[derive(Clone, Debug)]
pub struct Problem {
    pub c: RowMat,
    pub rank: usize,
    /// The price of a row in a part.
    pub lambda: f64,
    /// X ≥ 0, parts of one column.
    pub nonneg: bool,
    /// Number of rows that a part has in good X, where that is less than its limit: a scale for multipliers.
    pub usual: usize,
}

impl Problem {
    /// Without price and signs.
    pub fn plain(c: RowMat, rank: usize) -> Self {
        Self { c, rank, lambda: 0.0, nonneg: false, usual: usize::MAX }
    }

    /// True if S is the support. A set without a price may be filled up to k rows, and more rows never harm; with a price they
    /// do, and of X > 0 on its rows more is known than of X ≥ 0.
    pub fn exact(&self) -> bool {
        self.lambda > 0.0 || self.nonneg
    }

    /// λ|S| is at least this, rounded down.
    pub fn least_price(&self, part: &Part) -> f64 {
        self.lambda * part.must().max(self.rank) as f64 * (1.0 - 2.0 * U)
    }

    /// κ(m, k) = m/k + √(m(k − 1)(k − m))/k, rounded up: ⟨Y, D_a Σ D_a⟩ ≤ κ‖a‖² for a projection Y of rank m on k rows and
    /// a matrix Σ of signs with ones on the diagonal.
    pub fn kappa(&self, k: usize) -> f64 {
        let (m, k) = (self.rank as f64, k as f64);
        if self.rank == 1 {
            return 1.0;
        }
        (m / k + (m * (k - 1.0) * (k - m)).max(0.0).sqrt() / k) * (1.0 + 16.0 * U)
    }
}

/// Multipliers of a part as the iteration has them: |Zᵢⱼ| ≤ aᵢaⱼ, U, d > 0.
#[derive(Clone, Debug)]
pub struct Multipliers {
    pub z: RowMat,
    pub squares: Vec<f64>, // aᵢ²
    pub u: RowMat,
    pub d: Vec<f64>,
}

/// Multipliers of a part, with what the bound needs of them.
#[derive(Clone, Debug)]
pub struct PartDual {
    less: RowMat,        // Z + ½(U + Uᵀ) − Diag(d), as computed
    norm: f64,           // ‖Z‖ + ‖U‖ + ‖d‖
    pub costs: Vec<f64>, // wᵢ + πᵢ − λ, rounded up
    plain: Vec<f64>,     // wᵢ − λ, where there is a π
}

/// Multipliers of all parts: with W ⪰ 0 and 0 ≤ π ≤ diag W,
///
/// Σ(Wᵢᵢ − πᵢ) + Σ_p { Σ_m((½C − W − Z − ½(U + Uᵀ) + Diag d) on R) + Σ_I cᵢ + the q largest positive others }
///
/// bounds tr Xᵀ(½C)X − λ Σ|S|, cᵢ = wᵢ + πᵢ − λ, wᵢ = κaᵢ² + Nᵢ/(4dᵢ), Nᵢ the k largest Uᵢⱼ² of a row, those of I ∪ {i}
/// among them; for X ≥ 0 of the positive Uᵢⱼ, and only Zᵢⱼ ≤ aᵢaⱼ.
#[derive(Clone, Debug)]
pub struct Dual {
    pub parts: Vec<PartDual>,
    pub joint: Option<Joint>,
    pub given: Vec<Multipliers>, // of the parts, where they are kept
}

/// W over the rows of all parts.
#[derive(Clone, Debug)]
pub struct Joint {
    pub w: RowMat,
    pub trace: f64,              // of the weights from which W was built
    pub pi: Vec<f64>,            // from 0 to Wᵢᵢ
    pub places: Vec<Vec<usize>>, // of the rows of each part among those of W
}

impl PartDual {
    /// Makes the multipliers fit: Z is cut to aᵢaⱼ(1 − 4u) and made symmetric. `pi` is π on the rows of the part.
    pub fn new(problem: &Problem, part: &Part, multipliers: &mut Multipliers, pi: Option<&[f64]>) -> Self {
        let n = part.rows.len();
        let a: Vec<f64> = multipliers.squares.iter().map(|v| v.max(0.0).sqrt()).collect();
        let mut less = RowMat::zeros(n, n);
        let (mut size, mut others) = (0.0, 0.0);
        for i in 0..n {
            let Multipliers { z, u, d, .. } = multipliers;
            for j in 0..=i {
                let most = a[i] * a[j];
                let most = if most < f64::MIN_POSITIVE { 0.0 } else { most * (1.0 - 4.0 * U) };
                let least = if problem.nonneg { f64::NEG_INFINITY } else { -most };
                let value = if i == j { most } else { z.get(i, j).clamp(least, most) };
                z.set(i, j, value);
                z.set(j, i, value);
                let mut entry = value + 0.5 * (u.get(i, j) + u.get(j, i));
                if i == j {
                    entry -= d[i];
                }
                less.set(i, j, entry);
                less.set(j, i, entry);
                size += if i == j { value * value } else { 2.0 * value * value };
            }
            others += d[i] * d[i];
        }
        let Multipliers { u, d, .. } = multipliers;
        let kappa = problem.kappa(part.k);
        let up = 1.0 + OUTWARD * gamma(part.k + n + 16);
        let mut squared = Vec::new();
        let weights: Vec<f64> = (0..n)
            .map(|i| {
                let spread = largest_of_row(u.row(i), problem.nonneg, part, i, &mut squared) / (4.0 * d[i]);
                kappa * a[i] * a[i] + spread
            })
            .collect();
        let cost = |sum: f64| {
            let cost = sum * up;
            if problem.lambda > 0.0 { (cost - problem.lambda).next_up() } else { cost }
        };
        let costs = (0..n).map(|i| cost(weights[i] + pi.map_or(0.0, |pi| pi[i]))).collect();
        let plain = if pi.is_some() { weights.iter().map(|w| cost(*w)).collect() } else { Vec::new() };
        Self { less, norm: size.sqrt() + u.norm() + others.sqrt(), costs, plain }
    }

    /// Σ_I + the q largest positive ones of the others, and the q-th and (q + 1)-th of these.
    fn spent(&self, part: &Part) -> Spent {
        let must = || (0..part.rows.len()).filter(|a| part.forced[*a]).map(|a| self.costs[a]);
        let free = (0..part.rows.len()).filter(|a| !part.forced[*a]).map(|a| self.costs[a]);
        let mut free: Vec<f64> = free.filter(|cost| *cost > 0.0).collect();
        sort_numbers_down(&mut free);
        let q = part.open();
        let at = |k: usize| free.get(k).copied().unwrap_or(0.0);
        let chosen: f64 = free.iter().take(q).sum();
        Spent {
            sum: must().sum::<f64>() + chosen,
            size: must().map(f64::abs).sum::<f64>() + chosen,
            last: if q > 0 { at(q - 1) } else { 0.0 },
            next: at(q),
        }
    }
}

/// Cost of the most expensive set.
struct Spent {
    sum: f64,
    size: f64, // of its terms
    last: f64, // the least of the q free costs in it, 0 where there are fewer
    next: f64, // the largest beside it
}

/// Nᵢ.
fn largest_of_row(row: &[f64], nonneg: bool, part: &Part, i: usize, free: &mut Vec<f64>) -> f64 {
    free.clear();
    let (mut sum, mut taken) = (0.0, 0);
    for (j, v) in row.iter().enumerate() {
        let v = if nonneg { v.max(0.0) } else { *v };
        if part.forced[j] || j == i {
            sum += v * v;
            taken += 1;
        } else {
            free.push(v * v);
        }
    }
    let left = part.k.saturating_sub(taken).min(free.len());
    if left < free.len() {
        select_numbers(free, left);
    }
    sum + free[..left].iter().sum::<f64>()
}

impl Dual {
    /// W + Z + ½(U + Uᵀ) − Diag(d) on the rows of part p.
    fn subtracted(&self, p: usize) -> RowMat {
        let mut less = self.parts[p].less.clone();
        if let Some(joint) = &self.joint {
            let places = &joint.places[p];
            for (a, i) in places.iter().enumerate() {
                less.row_mut(a).iter_mut().zip(places).for_each(|(v, j)| *v += joint.w.get(*i, *j));
            }
        }
        less
    }

    /// This dual with π = 0 if that gives a lower bound: in early iterations π may cost more than it gains.
    #[must_use]
    pub fn with_or_without_pi(mut self, parts: &[Part]) -> Self {
        let Some(joint) = &self.joint else { return self };
        let spent = |dual: &Self| -> f64 { dual.parts.iter().zip(parts).map(|(d, p)| d.spent(p).sum).sum() };
        let mut without = Self {
            parts: self.parts.clone(),
            joint: Some(Joint { pi: vec![0.0; joint.pi.len()], ..joint.clone() }),
            given: Vec::new(),
        };
        without.parts.iter_mut().for_each(|part| std::mem::swap(&mut part.costs, &mut part.plain));
        if without.rest() + spent(&without) < self.rest() + spent(&self) {
            without.given = std::mem::take(&mut self.given);
            return without;
        }
        self
    }

    /// Σ(Wᵢᵢ − πᵢ).
    fn rest(&self) -> f64 {
        let one = |joint: &Joint| joint.pi.iter().enumerate().map(|(i, pi)| joint.w.get(i, i) - pi).sum();
        self.joint.as_ref().map_or(0.0, one)
    }

    /// The bound, not proved. `blocks` are those of C.
    pub fn estimate(
        &self,
        problem: &Problem,
        parts: &[Part],
        blocks: &[RowMat],
        measure: &mut [Fantope],
    ) -> Option<f64> {
        let mut sum = self.rest();
        for (p, part) in parts.iter().enumerate() {
            let mut m = self.subtracted(p);
            m.data_mut().iter_mut().zip(blocks[p].data()).for_each(|(m, c)| *m = 0.5 * c - *m);
            sum += measure[p].sum_of_largest(&m, problem.rank)? + self.parts[p].spent(part).sum;
        }
        Some(sum).filter(|sum| sum.is_finite())
    }

    /// The bound, rounded up. W was computed as V diag(g) Vᵀ with g ≥ 0, so that W + δI is positive semidefinite with δ
    /// above the rounding of that product.
    pub fn proved(&self, problem: &Problem, parts: &[Part], blocks: &[RowMat]) -> Option<f64> {
        let (mut sum, mut size) = (self.rest(), 0.0);
        let mut terms = 2 * parts.len() + 16;
        if let Some(joint) = &self.joint {
            let n = joint.w.nrows();
            let delta = OUTWARD * gamma(n + 4) * 2.0 * joint.trace;
            sum += n as f64 * delta;
            size += 2.0 * (0..n).map(|i| joint.w.get(i, i).abs()).sum::<f64>();
            terms += 2 * n;
        }
        for (p, part) in parts.iter().enumerate() {
            let less = self.subtracted(p);
            let value = sum_of_largest(&blocks[p], &less, problem.rank, f64::NEG_INFINITY)?;
            let rounded = gamma(4) * self.parts[p].norm + gamma(1) * less.norm();
            let spent = self.parts[p].spent(part);
            sum += value + OUTWARD * problem.rank as f64 * rounded + spent.sum;
            size += value.abs() + spent.size;
            terms += part.rows.len();
        }
        Some(sum + OUTWARD * gamma(terms) * size).filter(|sum| sum.is_finite())
    }

    /// Moves rows out of R or into I where an X that says otherwise is not above the cutoff; how many. `most` is the proved
    /// bound of these multipliers: that of the sets with, or without, row i differs from it by the exchange of
    /// one cost for another.
    pub fn fix(&self, exact: bool, parts: &mut [Part], most: f64, cutoff: f64) -> usize {
        let mut changed = 0;
        for (dual, part) in self.parts.iter().zip(parts) {
            let q = part.open();
            let free = part.forced.iter().filter(|f| !**f).count();
            if q == 0 || (q >= free && !exact) {
                continue;
            }
            let Spent { last, next, .. } = dual.spent(part);
            let without: Vec<bool> = (0..part.rows.len())
                .map(|a| {
                    let cost = dual.costs[a];
                    let slack = 8.0 * U * (most.abs() + last.abs() + cost.abs());
                    !part.forced[a] && cost < last && most - (last - cost) + slack <= cutoff
                })
                .collect();
            for (a, forced) in part.forced.iter_mut().enumerate() {
                let cost = dual.costs[a];
                let slack = 8.0 * U * (most.abs() + cost.abs());
                if !*forced && cost >= last && cost > 0.0 && most - (cost - next) + slack <= cutoff {
                    *forced = true;
                    changed += 1;
                }
            }
            changed += without.iter().filter(|w| **w).count();
            part.keep(|_, a| !without[a]);
        }
        changed
    }
}

/// The blocks of C on the rows of the parts.
pub fn blocks_of(c: &RowMat, parts: &[Part]) -> Vec<RowMat> {
    parts.iter().map(|part| principal(c, &part.rows)).collect()
}
