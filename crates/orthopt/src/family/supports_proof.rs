//! Proofs for adjusted and polar variance, problem by problem: which of them are proved, from which X, and X on given supports.

use std::sync::Arc;

use super::Family;
use crate::bound::{self, Bound, Elsewhere, End, Options, Progress, Show, SupportOutcome, SupportRequest};
use crate::cancel::Cancel;
use crate::linalg::RowMat;
use crate::linalg::eigen::symmetric_eigenpairs;
use crate::linalg::work::so_far;
use crate::objective::Evaluate;
use crate::problem::{Between, Cardinality, MeasuredProblem};
use crate::search::clustered::clustered_start;
use crate::smooth::{AnySmooth, Measure, Order};
use crate::solvers::overshoot::{self, Ground};

/// F of adjusted and polar variance counts as proved at this gap, relative to |F|.
const TOLERANCE: f64 = 1e-6;
/// Share of the work of a proof that an X to begin from may take.
const FIRST: f64 = 0.3;

impl MeasuredProblem {
    /// The numbers of nonzeros of the components, once for each way to divide a total, where all supports are listed.
    pub(super) fn listed(&self) -> Option<Vec<Vec<usize>>> {
        let takes = matches!(self.f.measure(), Measure::Adjusted | Measure::Polar)
            && self.between() == Between::Orthogonal
            && self.order() == Order::Joint
            && self.lambda() == 0.0;
        let counts = match self.limits() {
            _ if !takes => return None,
            Cardinality::Components(list) => vec![list.clone()],
            Cardinality::Total(total) => {
                bound::ways(*total, self.rank(), self.share().max.min(self.nrows()), self.has_order())?
            }
            Cardinality::Rows(_) => return None,
        };
        bound::applies(self.nrows(), &counts).then_some(counts)
    }

    fn has_order(&self) -> bool {
        self.f.measure() == Measure::Adjusted
    }

    /// An X to begin a proof from: that of k-components, exchanged until nothing improves it.
    fn first_of_proof(&self, work: u64, cancel: &Cancel) -> Option<RowMat> {
        let ground = Ground::of(self).until(cancel);
        let x = clustered_start(self, work, 0, cancel)?;
        let at = overshoot::climbed(&ground, overshoot::polished(&ground, &x)?, cancel)?;
        self.check(&at.x, "X").is_ok().then_some(at.x)
    }

    /// An X on supports: from the leading eigenvector of each column beside those before it.
    fn on_supports(&self, sets: &[Vec<usize>], ground: &Ground<'_, AnySmooth>) -> Option<RowMat> {
        let c = self.f.covariance().matrix()?;
        let mut x = RowMat::zeros(self.nrows(), sets.len());
        for (k, set) in sets.iter().enumerate() {
            // the projection off the columns before, on these rows
            let mut basis: Vec<Vec<f64>> = Vec::new();
            for j in 0..k {
                let mut b: Vec<f64> = set.iter().map(|i| x.get(*i, j)).collect();
                if unit_off(&mut b, &basis) {
                    basis.push(b);
                }
            }
            let size = set.len();
            let away = RowMat::from_fn(size, size, |a, b| {
                f64::from(u8::from(a == b)) - basis.iter().map(|v| v[a] * v[b]).sum::<f64>()
            });
            let times = |l: &RowMat, r: &RowMat| {
                RowMat::from_fn(size, size, |a, b| (0..size).map(|i| l.get(a, i) * r.get(i, b)).sum())
            };
            let block = RowMat::from_fn(size, size, |a, b| c.get(set[a], set[b]));
            let (_, v) = symmetric_eigenpairs(&times(&times(&away, &block), &away).symmetric_part())?;
            let mut y: Vec<f64> = (0..size).map(|a| v.get(a, 0)).collect();
            if !unit_off(&mut y, &basis) {
                return None;
            }
            set.iter().zip(y).for_each(|(i, y)| x.set(*i, k, y));
        }
        let at = overshoot::polished(ground, &x)?;
        self.check(&at.x, "X").is_ok().then_some(at.x)
    }

    /// `found`, a bound of another kind, improved by lists of supports from an X with this F. `None` where lists are too long.
    pub(super) fn proved_by_supports(
        &self,
        found: Bound,
        (x, objective): (&RowMat, f64),
        options: &Options,
        cancel: &Cancel,
        show: Show<'_>,
    ) -> Option<Bound> {
        let counts = self.listed()?;
        let covariance = self.f.covariance();
        let (c, unit) = (covariance.matrix()?, covariance.unit());
        let own_order = self.has_order() && !self.f.is_in_given_order();
        let order = if own_order { self.f.order_of(x) } else { (0..x.ncols()).collect() };
        let placed = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, order[k]));
        let tolerance = options.gap.max(TOLERANCE);
        let request = SupportRequest {
            c,
            counts,
            has_order: self.has_order(),
            own_order,
            x: &placed,
            known: -2.0 * objective / unit,
            tolerance,
            work: options.work,
            keeps: options.keeps,
        };
        let ground = Ground::of(self).until(cancel);
        let mut best: (f64, Option<RowMat>) = (objective, None);
        let climb = |sets: &[Vec<usize>]| {
            if let Some(x) = self.on_supports(sets, &ground) {
                let value = self.value(&x);
                // rounding is no improvement
                if value < best.0 - 1e-12 * best.0.abs() {
                    best = (value, Some(x));
                }
            }
            -2.0 * best.0 / unit
        };
        let known = Progress {
            iterations: found.iterations,
            nodes: 0,
            open: 0,
            bound: found.value,
            incumbent: Some(objective),
            seconds: 0.0,
        };
        let outcome = bound::supports_proved(&request, climb, known, options.nodes, cancel, show)?;
        let SupportOutcome { most, supports, elsewhere, nodes, open, end, record } = outcome;
        let record = record.map(|record| Arc::new(record.times(unit)));
        let value = -0.5 * most * unit;
        let elsewhere = supports.map(|supports| Elsewhere { supports, bound: -0.5 * elsewhere * unit });
        let is_better = value > found.value;
        Some(Bound {
            value: value.max(found.value),
            method: if is_better { bound::Method::Supports } else { found.method },
            objective: Some(best.0),
            x: best.1,
            tolerance,
            elsewhere,
            end: if cancel.is_cancelled() { End::Interrupted } else { end },
            nodes,
            open,
            record,
            ..found
        })
    }

    /// That X is the best one, or has the best supports, with so much work; from an X of its own where none is known.
    pub(super) fn proved_with_work(
        &self,
        known: Option<&RowMat>,
        work: u64,
        cancel: &Cancel,
    ) -> Option<Bound> {
        let counts = self.listed()?;
        if bound::least_work(self.nrows(), &counts, self.has_order()) > work {
            return None;
        }
        let begun = so_far();
        let first = match known {
            Some(_) => None,
            None => Some(self.first_of_proof((FIRST * work as f64) as u64, cancel)?),
        };
        let work = work.saturating_sub(so_far() - begun);
        // what proves nothing is not wanted, so that no relaxation is
        let options = Options { nodes: u64::MAX, work: Some(work), iterations: 0, ..Options::default() };
        let bound = self.lower_bound(known.or(first.as_ref()), &options, cancel, &|_| ()).ok()?;
        let x = bound.x.clone().or(first);
        bound.proof.is_some().then_some(Bound { x, ..bound })
    }
}

/// The vector off an orthonormal basis, of length 1; false where nothing is left.
fn unit_off(v: &mut [f64], basis: &[Vec<f64>]) -> bool {
    for _ in 0..2 {
        for b in basis {
            let along: f64 = b.iter().zip(v.iter()).map(|(b, v)| b * v).sum();
            v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
        }
    }
    let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    v.iter_mut().for_each(|v| *v /= length);
    length > 1e-9
}
