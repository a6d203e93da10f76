//! Components where an entry has a price (ℓ₀ and the like) found from many rows at once, each with as many entries as pay for
//! themselves; the best of them that share no variable are a start, and components solved anew come from them.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::Tuning;
use super::grow::grown;
use super::pool::{Found, apart, components, drawn, ranked};
use crate::cancel::Cancel;
use crate::constraint::Stiefel;
use crate::linalg::RowMat;
use crate::linalg::kernels::is_zero;
use crate::linalg::order::{largest_first, select_largest};
use crate::linalg::work::count;
use crate::nonsmooth::Nonsmooth;
use crate::problem::Problem;
use crate::smooth::{Quadratic, together};

const T: Tuning = Tuning::DEFAULT;
/// Rows that a start looks from, and components that are refined.
const ROWS: usize = 4 * T.candidates;
/// Rows from which the number of entries is looked for that pays, and the numbers: each by half as much again as the one before, at least one more.
const PROBES: usize = 16;
const STEP: f64 = 1.5;
/// The most entries that are tried. Components with more of them hardly leave each other free rows.
pub const POOLED: usize = 64;
/// Steps of the power method that refine a component, and the most entries that it has then.
const REFINEMENTS: usize = 4;
const MAX_REFINED: usize = 4 * POOLED;

/// r components from up to 256 rows drawn at random, those worth most that share no variable. `None` where nobody
/// waits any more, components have many entries, or no row is left for one. Cost some 8,000 products with vectors.
pub fn priced<F: Quadratic, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    seed: u64,
    cancel: &Cancel,
) -> Option<RowMat> {
    let (n, r) = (p.nrows(), p.rank());
    let seed = if priced_has_chance(n) { seed } else { 0 };
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x5052_4943);
    let rows = drawn(n, ROWS, |_| true, &mut rng);
    let pool = worthwhile(p, &rows, &|_| true, cancel)?;
    filled(p, apart(n, r, &|_| &pool)?, &mut rng)
}

/// Components grown on free rows where a column is zero.
fn filled<F: Quadratic, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    mut x: RowMat,
    rng: &mut Pcg64,
) -> Option<RowMat> {
    let (n, diagonal) = (x.nrows(), p.f.diagonal());
    for k in (0..x.ncols()).filter(|k| (0..n).all(|i| x.get(i, *k) == 0.0)).collect::<Vec<_>>() {
        let free: Vec<usize> = (0..n).filter(|i| is_zero(x.row(*i))).collect();
        grown(p, &free, &diagonal, rng)?.into_iter().for_each(|(i, v)| x.set(i, k, v));
    }
    Some(x)
}

/// Whether the rows that [`priced`] looks from are drawn: few enough are all taken.
pub fn priced_has_chance(n: usize) -> bool {
    n > ROWS
}

/// Components on the rows that are `allowed`, from each row of `seeds` and with several numbers of entries, the one that
/// lowers f + h most first. `None` where nobody waits any more, or the best number of entries is large.
pub(super) fn worthwhile<F: Quadratic, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    seeds: &[usize],
    allowed: &dyn Fn(usize) -> bool,
    cancel: &Cancel,
) -> Option<Vec<Found>> {
    let with = |seeds: &[usize], size: usize| -> Option<Vec<Found>> {
        let mut found = components((&p.f, p.h.requires_nonneg()), seeds, allowed, size, cancel)?;
        for one in &mut found {
            one.worth = 0.5 * one.worth - price(&p.h, &one.entries);
        }
        Some(found)
    };
    let most = POOLED.min((0..p.nrows()).filter(|i| allowed(*i)).count());
    let sizes: Vec<usize> =
        std::iter::successors(Some(1), |k| Some(((STEP * *k as f64) as usize).max(k + 1)))
            .take_while(|k| *k <= most)
            .collect();
    let (probes, others) = seeds.split_at(PROBES.min(seeds.len()));
    let (mut all, mut best, mut top, mut larger) = (Vec::new(), 0, f64::NEG_INFINITY, f64::NEG_INFINITY);
    // the largest first: where those are the best there is nothing to look for
    for (place, size) in sizes.iter().enumerate().rev() {
        let found = with(probes, *size)?;
        let worth = found.iter().map(|one| one.worth).fold(f64::NEG_INFINITY, f64::max);
        if place + 2 == sizes.len() && most == POOLED && larger > worth {
            return None;
        }
        (best, top) = if worth >= top { (place, worth) } else { (best, top) };
        larger = worth;
        all.extend(found);
    }
    for size in &sizes[best.saturating_sub(1)..(best + 2).min(sizes.len())] {
        all.extend(with(others, *size)?);
    }
    let mut all = ranked(all);
    let refined = refined(p, &all[..all.len().min(ROWS)], allowed, cancel)?;
    all.extend(refined);
    Some(ranked(all))
}

fn price<H: Nonsmooth>(h: &H, entries: &[(usize, f64)]) -> f64 {
    entries.iter().map(|(_, v)| h.value(&[*v])).sum()
}

/// Steps of the power method, each cut to as many of the largest entries as pay for themselves: with ℓ₀ and C ⪰ 0 f + h
/// does not rise, since f lies below its tangent, which the cut minimises.
fn refined<F: Quadratic, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    all: &[Found],
    allowed: &dyn Fn(usize) -> bool,
    cancel: &Cancel,
) -> Option<Vec<Found>> {
    let n = p.nrows();
    let mut out: Vec<Found> = all.to_vec();
    for part in out.chunks_mut(together(n)) {
        for _ in 0..REFINEMENTS {
            if cancel.is_over() {
                return None;
            }
            let v: Vec<_> = part.iter().map(|one| one.entries.clone()).collect();
            let w = p.f.apply_few(&v); // −CV
            for (k, one) in part.iter_mut().enumerate() {
                let w = w.row(k);
                let half: f64 = one.entries.iter().map(|(i, x)| -0.5 * x * w[*i]).sum();
                one.worth = half - price(&p.h, &one.entries);
                let mut image: Vec<(usize, f64)> =
                    (0..n).filter(|i| allowed(*i)).map(|i| (i, -w[i])).collect();
                if p.h.requires_nonneg() {
                    image.retain(|(_, v)| *v > 0.0);
                }
                if let Some(next) = cut(&p.h, &image) {
                    one.entries = next;
                }
            }
            count(4 * n * part.len());
        }
    }
    // their worth is that before the last step, which did not make it smaller
    Some(out)
}

/// The unit vector x on the largest entries of w, at most so many, that maximises wᵀx − h(x) among those. With ℓ₀ that is
/// concave in their number (a root of sums that grow ever less, minus a line), so the first fall is the end.
fn cut<H: Nonsmooth>(h: &H, w: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
    let mut sizes: Vec<(f64, usize)> = w.iter().enumerate().map(|(k, (_, v))| (v.abs(), k)).collect();
    select_largest(&mut sizes, MAX_REFINED);
    largest_first(&mut sizes);
    let mut w: Vec<(usize, f64)> = sizes.into_iter().map(|(_, k)| w[k]).collect();
    let (mut best, mut most, mut square) = (f64::NEG_INFINITY, 0, 0.0);
    for k in 0..w.len() {
        square += w[k].1 * w[k].1;
        let length = f64::sqrt(square);
        let price: f64 = w[..=k].iter().map(|(_, v)| h.value(&[v / length])).sum();
        if length - price <= best {
            break;
        }
        (best, most) = (length - price, k + 1);
    }
    w.truncate(most);
    let length = w.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
    w.iter_mut().for_each(|(_, v)| *v /= length);
    (most > 0 && length > 0.0 && length.is_finite()).then_some(w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::L0;
    use crate::problem::{PcaData, PcaProblem, Storage};
    use rand::RngExt;

    /// The slow twin: every number of entries, its value computed each time.
    fn cut_slowly(h: &L0, w: &[(usize, f64)]) -> f64 {
        let mut sorted: Vec<f64> = w.iter().map(|e| e.1.abs()).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        (1..=sorted.len())
            .map(|k| sorted[..k].iter().map(|v| v * v).sum::<f64>().sqrt() - h.value(&sorted[..k]))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn as_many_entries_as_pay() {
        let mut rng = Pcg64::seed_from_u64(1);
        for round in 0..50 {
            let h = L0::new(4e-4 * f64::from(1 + round)).unwrap();
            let n = if round % 2 == 0 { 12 } else { MAX_REFINED + 40 };
            let w: Vec<(usize, f64)> = (0..n).map(|i| (i, (rng.random::<f64>() - 0.5).powi(5))).collect();
            let x = cut(&h, &w).unwrap();
            let of_x: f64 = x.iter().map(|(i, v)| w[*i].1 * v).sum::<f64>() - price(&h, &x);
            assert!((of_x - cut_slowly(&h, &w)).abs() < 1e-12, "{round}");
            assert!((x.iter().map(|(_, v)| v * v).sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn hidden_components_are_found_and_share_no_variable() {
        // three blocks of five variables with correlations, among 60
        let mut rng = Pcg64::seed_from_u64(3);
        let mut a = faer::Mat::from_fn(80, 60, |_, _| rng.random::<f64>() - 0.5);
        for i in 0..80 {
            for block in 0..3 {
                let common = 2.0 * (rng.random::<f64>() - 0.5);
                (0..5).for_each(|j| a[(i, 10 * block + j)] += common);
            }
        }
        let p = PcaProblem::pca("l0-pca", &PcaData::Dense(a.as_ref()), 3, 5.0, Storage::Gram).unwrap();
        let x = priced(&p, 1, &Cancel::never()).unwrap();
        for k in 0..3 {
            let rows: Vec<usize> = (0..60).filter(|i| x.get(*i, k) != 0.0).collect();
            assert_eq!(rows.len(), 5, "{rows:?}");
            assert!(rows.iter().all(|i| i / 10 == rows[0] / 10 && i % 10 < 5), "{rows:?}");
        }
        assert!(crate::constraint::stiefel::feasibility(&x) < 1e-12);
        assert!(priced(&p, 1, &Cancel::never().within(Some(0.0))).is_none());
    }
}
