//! Points with XᵀX = I and all entries in a box.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{largest_of_rows, round_to_partition};
use crate::constraint::stiefel;
use crate::nonsmooth::Nonsmooth;
use crate::penalty::BoxBounds;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::{ascending, best_first};
use orthopt_linalg::orthonormal::nearest;

/// Number of alternating projections onto box and manifold from one point.
const PROJECTIONS: usize = 300;
/// Number of random points that are projected if no other start is inside.
const DRAWN: u64 = 8;
/// Projections go to a box that is smaller by this share on each side, so that the nearest orthonormal matrix is inside the
/// box itself.
const MARGIN: f64 = 1e-3;
/// Largest ‖XᵀX − I‖_F of what is handed out.
const FEASIBLE: f64 = 1e-12;
/// Size of an entry added to a column, relative to its largest entry.
const GIVEN: f64 = 1e-3;

/// X, or a point of the box that is made from it: X projected onto box and manifold
/// alternately; columns that share no row and are as flat as the box requires; columns of signs (Hadamard matrices);
/// these and random points of a seed, by alternating projections.
///
/// # Errors
/// [`BoxBounds::check_shape`]; or none of them is inside, which does not prove that there is none.
pub fn in_box(x: RowMat, bounds: &BoxBounds, seed: u64) -> Result<RowMat> {
    let inside = |x: &RowMat| bounds.value(x.data()) == 0.0 && stiefel::feasibility(x) <= FEASIBLE;
    if inside(&x) {
        return Ok(x);
    }
    let (n, r) = (x.nrows(), x.ncols());
    bounds.check_shape(n, r)?;
    let [lower, upper] = bounds.bounds();
    let apart = apart(&x, [lower, upper]);
    if lower >= 0.0 {
        return apart.filter(inside).ok_or_else(|| none(bounds, (n, r))); // there is one unless the box is refused
    }
    let shrunk = [lower * (1.0 - MARGIN), upper * (1.0 - MARGIN)];
    let by_turns = |x: &RowMat| projected(x, shrunk, &inside);
    let signs = signs(n, r);
    let drawn = |k: u64| stiefel::random(n, r, &mut Pcg64::seed_from_u64(seed ^ (0x424f_5800 + k)));
    by_turns(&x)
        .or_else(|| apart.clone().filter(inside))
        .or_else(|| signs.clone().filter(inside))
        .or_else(|| apart.as_ref().and_then(by_turns))
        .or_else(|| signs.as_ref().and_then(by_turns))
        .or_else(|| (0..DRAWN).find_map(|k| by_turns(&drawn(k))))
        .ok_or_else(|| none(bounds, (n, r)))
}

fn none(bounds: &BoxBounds, (n, r): (usize, usize)) -> Error {
    let [lower, upper] = bounds.bounds();
    Error::Incompatible(
        Message::from(format!(
            "no {n} x {r} X with X'X = I and all entries in [{lower}, {upper}] was found to start from (there may be none): widen "
        ))
        .option("box-lower")
        .text(" or ")
        .option("box-upper")
        .text(", or give a point of your own with ")
        .option("init"),
    )
}

/// X ← the nearest orthonormal matrix to X cut to the box, until it is inside.
fn projected(x: &RowMat, [lower, upper]: [f64; 2], inside: &dyn Fn(&RowMat) -> bool) -> Option<RowMat> {
    let mut x = x.clone();
    for _ in 0..PROJECTIONS {
        let mut cut = x.clone();
        cut.data_mut().iter_mut().for_each(|v| *v = v.clamp(lower, upper));
        if !nearest(&cut, &mut x) {
            return None;
        }
        if inside(&x) {
            return Some(x);
        }
    }
    None
}

/// Columns near those of X that share no row, with entries of one sign up to the larger of the two bounds in absolute value,
/// each on as many rows as that takes; `None` where there are too few rows.
fn apart(x: &RowMat, [lower, upper]: [f64; 2]) -> Option<RowMat> {
    let (n, r) = (x.nrows(), x.ncols());
    let (most, sign) = if upper >= -lower { (upper, 1.0) } else { (-lower, -1.0) };
    let needed = BoxBounds::rows_needed(most);
    if needed.checked_mul(r).is_none_or(|rows| rows > n) {
        return None;
    }
    let x = if lower < 0.0 { largest_of_rows(x) } else { round_to_partition(x) };
    let mut rows = vec![Vec::new(); r];
    let mut spare = Vec::new();
    for i in 0..n {
        match (0..r).find(|k| x.get(i, *k) != 0.0) {
            Some(k) => rows[k].push(i),
            None => spare.push(i),
        }
    }
    spare.reverse();
    // the smallest entries of the columns that have more rows than they need go to those that have fewer
    let mut surplus: Vec<(usize, usize)> = Vec::new();
    for (k, rows) in rows.iter().enumerate() {
        let mut order = rows.clone();
        ascending(&mut order, &|i| x.get(i, k).abs());
        order.truncate(rows.len().saturating_sub(needed));
        surplus.extend(order.into_iter().map(|i| (i, k)));
    }
    let mut surplus = best_first(surplus, |(i, k)| x.get(*i, *k).abs());
    let mut out = RowMat::zeros(n, r);
    let mut values: Vec<Vec<f64>> = Vec::new();
    for (k, rows) in rows.iter().enumerate() {
        values.push(rows.iter().map(|i| x.get(*i, k).abs()).collect());
    }
    for k in 0..r {
        while rows[k].len() < needed {
            let i = match spare.pop() {
                Some(i) => i,
                None => {
                    let (i, l) = surplus.pop()?;
                    let at = rows[l].iter().position(|row| *row == i)?;
                    rows[l].remove(at);
                    values[l].remove(at);
                    i
                }
            };
            rows[k].push(i);
            let largest = values[k].iter().fold(0.0, |most: f64, v| most.max(*v));
            values[k].push(GIVEN * largest);
        }
    }
    for (k, (rows, values)) in rows.iter().zip(&values).enumerate() {
        for (i, value) in rows.iter().zip(flattened(values, most)) {
            out.set(*i, k, sign * value);
        }
    }
    Some(out)
}

/// min(c·vᵢ, `most`) of unit length for positive v: c is such that it has it.
fn flattened(v: &[f64], most: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    ascending(&mut order, &|i| -v[i]);
    for cut in 0..v.len() {
        let left = 1.0 - cut as f64 * most * most;
        let tail: f64 = order[cut..].iter().map(|i| v[*i] * v[*i]).sum();
        let c = (left.max(0.0) / tail).sqrt();
        if c * v[order[cut]] <= most {
            let mut out = vec![most; v.len()];
            order[cut..].iter().for_each(|i| out[*i] = c * v[*i]);
            return out;
        }
    }
    vec![1.0 / (v.len() as f64).sqrt(); v.len()]
}

/// Columns of a Hadamard matrix of order q = 2ᵇ ≥ r, repeated one below the other as often as n allows, of unit
/// length; `None` where n < q.
fn signs(n: usize, r: usize) -> Option<RowMat> {
    let q = r.next_power_of_two();
    let rows = n / q * q;
    let size = 1.0 / (rows as f64).sqrt();
    (rows > 0).then(|| {
        RowMat::from_fn(n, r, |i, k| match i < rows {
            true if ((i % q) & k).count_ones().is_multiple_of(2) => size,
            true => -size,
            false => 0.0,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(n: usize, r: usize, lower: f64, upper: f64) -> Result<RowMat> {
        let bounds = BoxBounds::new(lower, upper)?;
        let identity = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)));
        let x = in_box(identity, &bounds, 1)?;
        assert!(
            bounds.value(x.data()) == 0.0 && stiefel::feasibility(&x) <= FEASIBLE,
            "{n} {r} {lower} {upper}"
        );
        Ok(x)
    }

    #[test]
    fn boxes_with_a_point_get_one() {
        for (n, r, lower, upper) in [
            (30, 3, -0.5, 0.5),
            (16, 4, -0.25, 0.25), // Hadamard only
            (48, 4, -1.0 / 48f64.sqrt(), 1.0 / 48f64.sqrt()),
            (50, 5, -0.16, 0.16),
            (40, 4, -0.05, 0.4), // next to nonnegative
            (40, 4, -0.4, 0.05),
            (12, 3, 0.0, 0.5), // four equal entries each
            (13, 3, 0.0, 0.55),
            (40, 20, -0.6, 0.6),
            (9, 9, -0.9, 0.9),
        ] {
            made(n, r, lower, upper).unwrap();
        }
    }

    #[test]
    fn points_that_are_inside_stay() {
        let bounds = BoxBounds::new(-0.6, 0.8).unwrap();
        let x = signs(16, 3).unwrap();
        assert_eq!(in_box(x.clone(), &bounds, 3).unwrap(), x);
    }

    #[test]
    fn where_none_is_found_that_is_said() {
        // 1/√7: seven signs are orthogonal to no others
        let tight = 1.0 / 7f64.sqrt() + 1e-6;
        let message = made(7, 3, -tight, tight).unwrap_err().to_string();
        assert!(message.contains("was found to start from (there may be none)"), "{message}");
    }

    #[test]
    fn flat_columns_have_unit_length() {
        for (v, most) in
            [(vec![0.9, 0.1, 0.1, 0.1], 0.6), (vec![1.0, 1e-3, 1e-3, 1e-3], 0.5), (vec![1.0], 1.0)]
        {
            let flat = flattened(&v, most);
            let length = flat.iter().map(|v| v * v).sum::<f64>();
            assert!((length - 1.0).abs() <= 1e-14 && flat.iter().all(|v| *v <= most + 1e-15), "{flat:?}");
        }
    }
}
