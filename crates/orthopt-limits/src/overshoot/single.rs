//! Components of one variable: every variable that no component uses in its place, one by one.

use super::support_model::{ENTERING, PASSING, Point, STAYING, SupportModel, WORTH};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::order::largest_first;

impl<F: Quadratic> SupportModel<'_, F> {
    /// The exchange of the only entry of a component for one on a free row that raises the value; an exchange of entries never
    /// takes the last one of a component.
    pub(super) fn replaced(&self, at: &Point) -> Option<Point> {
        if self.between().is_uncorrelated() {
            return None; // no variable alone keeps the scores uncorrelated
        }
        let (n, r) = self.shape();
        let counts = at.counts();
        let single: Vec<usize> = (0..r).filter(|k| counts[*k] == 1).collect();
        if single.is_empty() {
            return None;
        }
        let free: Vec<usize> = (0..n).filter(|i| !at.mask[i * r..(i + 1) * r].contains(&true)).collect();
        let mut gains = self.gains(&at.x);
        let mut all: Vec<(f64, usize)> = Vec::new();
        for k in single {
            all.extend(free.iter().map(|i| (gains.replaced((*i, k)), i * r + k)));
        }
        largest_first(&mut all);
        let better = |value: f64| value > at.value + WORTH * at.value.abs();
        for (value, e) in all.into_iter().take(ENTERING) {
            if !better(value) || self.is_over() {
                break;
            }
            let (mut x, mut mask) = (at.x.clone(), at.mask.clone());
            for i in 0..n {
                let own = i * r + e % r;
                (x.data_mut()[own], mask[own]) = (f64::from(u8::from(own == e)), own == e);
            }
            let next = self.polish_above(at.value, (&x, &mask), PASSING).filter(|next| better(next.value));
            if let Some(next) = next {
                return self.polish(&next.x, &next.mask, STAYING).filter(|next| better(next.value));
            }
        }
        None
    }
}
