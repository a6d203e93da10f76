//! Components grown from one entry: a start and a move of the search.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::constraint::Stiefel;
use crate::linalg::RowMat;
use crate::linalg::kernels::is_zero;
use crate::linalg::order::{ascending, largest_first};
use crate::nonsmooth::Nonsmooth;
use crate::problem::Problem;
use crate::smooth::Quadratic;

/// Steps at most: there are twice as many entries after each where so many pay.
const GROWTHS: usize = 40;

/// Components grown one after the other, each on the rows that those before it left free, from rows of large
/// variance: deflation on disjoint supports. `None` where no row is left for a component. Cost some
/// ten gradients.
pub fn grown_components<F: Quadratic, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, seed: u64) -> Option<RowMat> {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x4752_4f57);
    let (n, r) = (p.nrows(), p.rank());
    let (mut x, diagonal) = (RowMat::zeros(n, r), p.f.diagonal());
    for k in 0..r {
        let mut free: Vec<usize> = (0..n).filter(|i| is_zero(x.row(*i))).collect();
        // rows for the components to come
        let spare = r - 1 - k;
        if free.len() <= spare {
            return None;
        }
        ascending(&mut free, &|i| diagonal[i]);
        free.truncate(free.len() - spare);
        for (i, v) in grown(p, &free, &diagonal, &mut rng)? {
            x.set(i, k, v);
        }
    }
    Some(x)
}

/// A unit vector on `free` rows grown from a row of large variance: entries enter, at most as many again
/// as there are, as long as each pays for itself.
pub(super) fn grown<F: Quadratic, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    free: &[usize],
    diagonal: &[f64],
    rng: &mut Pcg64,
) -> Option<Vec<(usize, f64)>> {
    let mut order = free.to_vec();
    ascending(&mut order, &|i| diagonal[i]); // of M = −C
    // the k-th with a chance that falls like 1/k
    let rank = ((order.len() as f64).powf(rng.random::<f64>()) as usize).saturating_sub(1);
    let seed = *order.get(rank)?;
    let nonneg = p.h.requires_nonneg();
    let n = diagonal.len();
    let mut v = RowMat::zeros(n, 1);
    v.set(seed, 0, 1.0);
    let mut inside = vec![seed];
    for _ in 0..GROWTHS {
        let w = p.f.apply(&v); // Mv = −Cv
        let mu = -inside.iter().map(|i| v.get(*i, 0) * w.get(*i, 0)).sum::<f64>();
        let mut gains: Vec<(f64, usize)> = Vec::new();
        for i in free.iter().filter(|i| v.get(**i, 0) == 0.0) {
            let b = -w.get(*i, 0);
            if nonneg && b <= 0.0 {
                continue;
            }
            let (half, off) = (0.5 * (mu + diagonal[*i]), b);
            let larger = 0.5 * (mu - diagonal[*i]) + half.hypot(off);
            let angle = off.atan2(larger + diagonal[*i]);
            let cost = p.h.value(&[angle.sin()]);
            let gain = 0.5 * (larger - mu) - cost;
            if gain > 0.0 {
                gains.push((gain, *i));
            }
        }
        if gains.is_empty() {
            break;
        }
        largest_first(&mut gains);
        gains.truncate(inside.len().max(1));
        inside.extend(gains.iter().map(|g| g.1));
        // a step of the power method on the new support
        let lift = mu.max(f64::MIN_POSITIVE);
        let mut next = RowMat::zeros(n, 1);
        for i in &inside {
            let value = -w.get(*i, 0) / lift;
            next.set(*i, 0, if nonneg { value.max(0.0) } else { value });
        }
        let length = next.norm();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        inside.retain(|i| next.get(*i, 0) != 0.0);
        next.data_mut().iter_mut().for_each(|x| *x /= length);
        v = next;
    }
    Some(inside.into_iter().map(|i| (i, v.get(i, 0))).collect())
}
