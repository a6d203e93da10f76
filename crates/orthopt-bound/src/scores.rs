//! An upper bound of adjusted and polar variance under limits of nonzeros (docs/mathematics.md, section 19).
//!
//! With R = C^{1/2}, M ⪰ 0 and νₖ such that every unit x with k nonzeros has xᵀR(M + νₖI)⁻¹Rx ≤ 1, every X with unit columns
//! of kⱼ nonzeros has adjusted and polar variance ≤ tr M + Σ νₖⱼ: with T = RX and any orthonormal Q,
//! Σ(qⱼᵀtⱼ)² = Σ qⱼᵀ(tⱼtⱼᵀ − M)qⱼ + Σ qⱼᵀMqⱼ ≤ Σ λ_max(tⱼtⱼᵀ − M)₊ + tr M, and λ_max(ttᵀ − M) ≤ ν is
//! tᵀ(M + νI)⁻¹t ≤ 1. The bound is convex in M; M follows subgradients I − Σ qⱼqⱼᵀ, qⱼ ∝ (M + νI)⁻¹t at the t that attain it.

use orthopt_core::problem::Cardinality;
use orthopt_core::smooth::measured::is_indefinite;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::parallel::map;
use orthopt_linalg::products::multiply;
use orthopt_linalg::small::{spectral_function, symmetric_eigen};
use orthopt_linalg::unit::unit_of;
use orthopt_linalg::work::{count, so_far};

/// Number of supports up to which all of them are examined.
const SUPPORTS: usize = 60_000;
/// Supports that a task examines.
const CHUNK: usize = 512;
/// Steps along subgradients.
const STEPS: usize = 150;
/// It ends where so many steps bring less than this share of the bound.
const LOOK: u64 = 30;
const WORTH: f64 = 1e-4;
/// Supports that ν is the root for, one after the other, and steps of the search for a root, which ends at this precision.
const ROUNDS: usize = 12;
const ROOT: usize = 60;
const CLOSE: f64 = 1e-6;
/// The least ν, as a share of λ₁: (M + νI)⁻¹ keeps ten digits.
const LEAST: f64 = 1e-5;
/// Starts of M: c·V Diag(max((λ/λ₁)^α, ν)) Vᵀ − νI for these α and ν.
const POWERS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const FLOORS: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9];
/// Largest relative effect of rounding of eigenvalues and inverses on the bound.
const ROUNDING: f64 = 1e-9;

/// An upper bound, and the steps it took; `None` where there are too many supports, or nothing was asked in time. `known` is
/// the largest value that is known to be attained, and `cancel` ends it, as so much work does.
pub fn adjusted(
    c: &RowMat,
    limits: &Cardinality,
    most_of_one: usize,
    rank: usize,
    known: f64,
    (work, cancel): (Option<u64>, &Cancel),
) -> Option<(f64, u64)> {
    let (n, begun) = (c.nrows(), so_far());
    let is_over = || cancel.is_over() || work.is_some_and(|most| so_far() - begun > most);
    let sizes: Vec<usize> = match limits {
        Cardinality::Components(list) => list.clone(),
        // one component may have what the others leave, at most
        Cardinality::Total(total) => (1..=(total + 1 - rank).min(most_of_one)).collect(),
        Cardinality::Rows(_) => return None,
    };
    let mut distinct = sizes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.iter().map(|k| binomial(n, *k)).fold(0usize, usize::saturating_add) > SUPPORTS {
        return None;
    }
    let each: usize = distinct.iter().map(|k| binomial(n, *k) * rotated(*k)).sum();
    if work.is_some_and(|most| (POWERS.len() * FLOORS.len() * each) as u64 > most) {
        return None; // not all of the M to begin with would be examined
    }
    let unit = unit_of(c.data());
    let c = RowMat::from_fn(n, n, |i, j| c.get(i, j) / unit);
    let (values, vectors) = symmetric_eigen(&c)?;
    let largest = *values.last()?;
    if largest.is_nan() || largest <= 0.0 || is_indefinite(&values) {
        return None; // R is a root of a positive semidefinite C
    }
    let root = spectral_function(&c, |w| w.max(0.0).sqrt())?;
    let supports: Vec<Supports> = distinct.iter().map(|k| Supports::all(n, *k)).collect();
    let total = match limits {
        Cardinality::Total(total) => Some(*total),
        _ => None,
    };
    let bound = Bounding { root, supports, sizes, total, rank, largest };
    let mut best: Option<(f64, RowMat)> = None;
    'grid: for power in POWERS {
        for floor in FLOORS {
            if is_over() {
                break 'grid;
            }
            let height = |w: f64| (w.max(0.0) / largest).powf(power).max(floor);
            let h = RowMat::from_fn(n, n, |i, k| vectors.get(i, k) * (height(values[k]) - floor) * largest);
            let mut m = multiply(h.as_mat(), vectors.as_mat().transpose());
            // c such that ν = c·floor·λ₁ is what the supports need
            let Some(scale) = bound.scale(&m, floor * largest) else { continue };
            m.data_mut().iter_mut().for_each(|v| *v *= scale);
            let m = m.symmetric_part();
            if let Some(at) = bound.at(&m, cancel)
                && best.as_ref().is_none_or(|b| at.value < b.0)
            {
                best = Some((at.value, m));
            }
            if power == 0.0 {
                break; // M = 0 whatever the floor is
            }
        }
    }
    let (mut least, mut m) = best?;
    let known = known / unit;
    let (mut steps, mut before) = (0, least);
    for step in 0..STEPS {
        if is_over() {
            break;
        }
        let Some(at) = bound.at(&m, cancel) else { break };
        least = least.min(at.value);
        steps += 1;
        if steps % LOOK == 0 {
            if before - least < WORTH * least {
                break;
            }
            before = least;
        }
        // Polyak's step towards a value between what is known to be attained and the bound
        let target = known + 0.5 * (least - known) * (1.0 - step as f64 / STEPS as f64).max(0.1);
        let size = at.subgradient.inner(&at.subgradient);
        if size <= f64::MIN_POSITIVE || at.value <= target {
            break;
        }
        let length = (at.value - target) / size;
        let moved = RowMat::from_fn(n, n, |i, j| m.get(i, j) - length * at.subgradient.get(i, j));
        m = spectral_function(&moved.symmetric_part(), |w| w.max(0.0))?.symmetric_part();
    }
    Some((least * (1.0 + ROUNDING) * unit, steps))
}

/// Work for the eigenvalues on a support of k variables.
fn rotated(k: usize) -> usize {
    20 * k.pow(3) + 50
}

/// All supports of one size.
struct Supports {
    size: usize,
    rows: Vec<u32>, // one after the other
}

impl Supports {
    fn all(n: usize, size: usize) -> Self {
        let mut rows = Vec::new();
        let mut now: Vec<usize> = (0..size).collect();
        loop {
            rows.extend(now.iter().map(|i| *i as u32));
            // the next one in lexicographic order
            let Some(at) = (0..size).rev().find(|p| now[*p] < n - size + p) else { break };
            now[at] += 1;
            (at + 1..size).for_each(|p| now[p] = now[p - 1] + 1);
        }
        Self { size, rows }
    }

    /// The largest eigenvalue of a block of G, and the support.
    fn most(&self, g: &RowMat) -> Option<(f64, &[u32])> {
        let k = self.size;
        let count_of = self.rows.len() / k;
        count(count_of * rotated(k));
        let chunk = |p: usize| {
            let mut best: Option<(f64, usize)> = None;
            let mut block = RowMat::zeros(k, k);
            for s in p * CHUNK..count_of.min((p + 1) * CHUNK) {
                let rows = &self.rows[s * k..(s + 1) * k];
                // no eigenvalue is above the largest sum of a row, nor above the root of the sum of squares
                let (mut most, mut squares) = (0.0f64, 0.0);
                for (a, i) in rows.iter().enumerate() {
                    let mut sum = 0.0;
                    for (b, j) in rows.iter().enumerate() {
                        let v = g.get(*i as usize, *j as usize);
                        block.set(a, b, v);
                        sum += v.abs();
                        squares += v * v;
                    }
                    most = most.max(sum);
                }
                if best.is_some_and(|b| most <= b.0 || squares <= b.0 * b.0) {
                    continue;
                }
                let value = if k == 1 { block.get(0, 0) } else { symmetric_eigen(&block)?.0[k - 1] };
                if best.is_none_or(|b| value > b.0) {
                    best = Some((value, s));
                }
            }
            best
        };
        let chunks = map(count_of.div_ceil(CHUNK), 1, chunk);
        let mut best: Option<(f64, usize)> = None;
        for found in chunks {
            let found = found?; // an eigenvalue routine that failed bounds nothing
            if best.is_none_or(|b| found.0 > b.0) {
                best = Some(found);
            }
        }
        best.map(|(value, s)| (value, &self.rows[s * k..(s + 1) * k]))
    }
}

/// Data of the bound that do not depend on M.
struct Bounding {
    root: RowMat,            // R
    supports: Vec<Supports>, // one for each size that differs
    sizes: Vec<usize>,       // of each component, or those that there may be of a total
    total: Option<usize>,
    rank: usize,
    largest: f64, // λ₁
}

/// The bound at M.
struct AtM {
    value: f64,
    subgradient: RowMat,
}

impl Bounding {
    /// R(M + νI)⁻¹R.
    fn whitened(&self, eigen: &(Vec<f64>, RowMat), nu: f64) -> RowMat {
        let n = self.root.nrows();
        let (values, q) = eigen;
        let half = multiply(self.root.as_mat(), q.as_mat());
        let scaled = RowMat::from_fn(n, n, |i, k| half.get(i, k) / (values[k].max(0.0) + nu));
        let g = multiply(scaled.as_mat(), half.as_mat().transpose());
        g.symmetric_part()
    }

    /// The scale s such that s(M + νI) ⪰ ttᵀ for every t.
    fn scale(&self, m: &RowMat, nu: f64) -> Option<f64> {
        let g = self.whitened(&symmetric_eigen(m)?, nu);
        self.supports.iter().map(|s| s.most(&g).map(|found| found.0)).try_fold(0.0f64, |a, v| Some(a.max(v?)))
    }

    /// νₖ, and q at the support that attains it: the root on the supports that were the worst so far, until no other one is
    /// worse. `None` where rounding is in the way, or the work is cancelled.
    fn nu(
        &self,
        eigen: &(Vec<f64>, RowMat),
        supports: &Supports,
        cancel: &Cancel,
    ) -> Option<(f64, Vec<f64>)> {
        let mut nu = LEAST * self.largest;
        let (mut g, mut worst) = (self.whitened(eigen, nu), Vec::new());
        for _ in 0..ROUNDS {
            if cancel.is_over() {
                return None;
            }
            let (value, rows) = supports.most(&g)?;
            worst = rows.to_vec();
            if value <= 1.0 {
                break;
            }
            nu = self.root_on(eigen, &worst, nu)?;
            g = self.whitened(eigen, nu);
        }
        let (holds, rows) = (nu, worst);
        if supports.most(&g)?.0 > 1.0 + ROUNDING {
            return None;
        }
        let (n, k) = (self.root.nrows(), rows.len());
        let block = RowMat::from_fn(k, k, |a, b| g.get(rows[a] as usize, rows[b] as usize));
        let (_, x) = symmetric_eigen(&block)?;
        let t: Vec<f64> = (0..n)
            .map(|i| (0..k).map(|a| self.root.get(i, rows[a] as usize) * x.get(a, k - 1)).sum())
            .collect();
        let (values, q) = eigen;
        let along: Vec<f64> = (0..n)
            .map(|j| (0..n).map(|i| q.get(i, j) * t[i]).sum::<f64>() / (values[j].max(0.0) + holds))
            .collect();
        let mut out: Vec<f64> = (0..n).map(|i| (0..n).map(|j| q.get(i, j) * along[j]).sum()).collect();
        let length = out.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        out.iter_mut().for_each(|v| *v /= length);
        Some((holds, out))
    }

    /// The ν above `low` at which the largest eigenvalue of the block of one support is 1, or less by rounding.
    fn root_on(&self, eigen: &(Vec<f64>, RowMat), rows: &[u32], low: f64) -> Option<f64> {
        let k = rows.len();
        // R(M + νI)⁻¹R on the support, for all ν from the same products
        let n = self.root.nrows();
        let (values, q) = eigen;
        let part = RowMat::from_fn(k, n, |a, i| self.root.get(rows[a] as usize, i));
        let half = multiply(part.as_mat(), q.as_mat());
        let value = |nu: f64| {
            let scaled = RowMat::from_fn(k, n, |a, j| half.get(a, j) / (values[j].max(0.0) + nu));
            let g = multiply(scaled.as_mat(), half.as_mat().transpose());
            Some(symmetric_eigen(&g.symmetric_part())?.0[k - 1])
        };
        // at λ₁ it holds: tᵀt ≤ λ₁
        let (mut low, mut high) = (low, self.largest * (1.0 + CLOSE));
        let mut nu = low;
        for _ in 0..ROOT {
            let now = value(nu)?;
            if now > 1.0 {
                low = nu
            } else {
                high = nu
            }
            if high <= low * (1.0 + CLOSE) {
                break;
            }
            // the value falls at most like 1/ν; by rounding above the root it holds
            let guess = nu * now * (1.0 + 0.5 * CLOSE);
            nu = if guess > low && guess < high { guess } else { (low * high).sqrt() };
        }
        Some(high)
    }

    fn at(&self, m: &RowMat, cancel: &Cancel) -> Option<AtM> {
        let n = m.nrows();
        let eigen = symmetric_eigen(m)?;
        let found: Vec<(f64, Vec<f64>)> =
            self.supports.iter().map(|s| self.nu(&eigen, s, cancel)).collect::<Option<_>>()?;
        let place = |size: usize| self.supports.iter().position(|s| s.size == size);
        let used: Vec<usize> = match self.total {
            None => self.sizes.iter().map(|k| place(*k)).collect::<Option<_>>()?,
            Some(total) => {
                let nus: Vec<f64> = found.iter().map(|f| f.0).collect();
                dearest(&nus, total, self.rank)
            }
        };
        let trace: f64 = eigen.0.iter().map(|w| w.max(0.0)).sum();
        let value = trace + used.iter().map(|u| found[*u].0).sum::<f64>();
        let subgradient = RowMat::from_fn(n, n, |i, j| {
            let taken: f64 = used.iter().map(|u| found[*u].1[i] * found[*u].1[j]).sum();
            f64::from(u8::from(i == j)) - taken
        });
        Some(AtM { value, subgradient })
    }
}

/// The r sizes (from 0 for one nonzero) with at most `total` nonzeros together whose `nus` have the largest sum.
fn dearest(nus: &[f64], total: usize, r: usize) -> Vec<usize> {
    // of the first components with so many nonzeros: the largest sum, and the last size
    let mut table: Vec<Vec<(f64, usize)>> = vec![vec![(f64::NEG_INFINITY, 0); total + 1]; r + 1];
    table[0].iter_mut().for_each(|cell| cell.0 = 0.0);
    for j in 1..=r {
        for t in 0..=total {
            for (s, nu) in nus.iter().enumerate().take(t) {
                let sum = table[j - 1][t - s - 1].0 + nu;
                if sum > table[j][t].0 {
                    table[j][t] = (sum, s);
                }
            }
        }
    }
    let (mut left, mut out) = (total, Vec::new());
    for j in (1..=r).rev() {
        let s = table[j][left].1;
        out.push(s);
        left -= s + 1;
    }
    out
}

fn binomial(n: usize, k: usize) -> usize {
    let product = (0..k.min(n)).try_fold(1usize, |b, i| Some(b.checked_mul(n - i)? / (i + 1)));
    product.unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_all_there() {
        assert_eq!(Supports::all(5, 2).rows.len(), 2 * binomial(5, 2));
        assert_eq!(Supports::all(4, 4).rows, [0, 1, 2, 3]);
        assert_eq!(binomial(30, 6), 593_775);
        assert_eq!(binomial(200, 100), usize::MAX);
    }

    #[test]
    fn the_dearest_sizes_of_a_total() {
        assert_eq!(dearest(&[1.0, 1.5, 1.6], 4, 2), [1, 1]);
        assert_eq!(dearest(&[1.0, 1.0, 5.0], 4, 2).iter().sum::<usize>(), 2);
    }
}
