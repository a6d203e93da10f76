//! Uncorrelated components on given supports, or near any matrix.

use super::point::Point;
use crate::exchange::component::{block, leading};
use crate::problem::MeasuredProblem;
use orthopt_core::problem::support;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::{ascending, descending_to};

/// Components on the supports of `guide` (n × r), one after the other: each has the largest variance that is
/// uncorrelated with those before it. Those that may have few nonzeros come first, as every one before costs a
/// direction, among the others those with the largest variance. A support that leaves no direction grows by the
/// rows of largest variance as far as its limit allows; `None` where that is not enough.
pub(crate) fn on_supports<F: Quadratic>(p: &MeasuredProblem<F>, guide: &RowMat) -> Option<RowMat> {
    let (n, r) = (p.nrows(), p.rank());
    let alone =
        |k| leading(&block(p.f.quadratic(), &support(guide, k)), &[], None, false).map_or(0.0, |e| e.0);
    let mut order = descending_to(r, &alone);
    ascending(&mut order, &|k| p.most(k).min(r) as f64);
    let mut at = Point::new(p.f.quadratic(), RowMat::zeros(n, r));
    let by_variance = descending_to(n, &|i| at.diagonal[i]);
    for k in order {
        let mut rows = support(guide, k);
        let mut spare = by_variance.iter().filter(|i| guide.get(**i, k) == 0.0);
        let v = loop {
            let found = match rows.is_empty() {
                true => None,
                false => leading(&block(p.f.quadratic(), &rows), &at.images_on(&rows, &[k]), None, false),
            };
            match found {
                Some((_, v)) => break v,
                None if rows.len() < p.most(k) => rows.push(*spare.next()?),
                None => return None,
            }
        };
        at.replace(p.f.quadratic(), k, &rows, &v);
    }
    Some(at.x)
}

/// Components as in `on_supports`, on the largest entries of each column of any matrix.
pub fn rounded<F: Quadratic>(p: &MeasuredProblem<F>, guide: &RowMat) -> Option<RowMat> {
    if guide.find_non_finite().is_some() {
        return None;
    }
    let mut x = guide.clone();
    p.limits().truncate(&mut x);
    on_supports(p, &x)
}
