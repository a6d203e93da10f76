//! Proofs for adjusted and polar variance, problem by problem: which of them are proved, from which X, and X on given supports.

use std::sync::Arc;

use super::Family;
use crate::search::clustered::clustered_start;
use orthopt_bound::{
    self as bound, Bound, Elsewhere, End, Options, Progress, Show, SupportOutcome, SupportRequest,
};
use orthopt_core::objective::Evaluate;
use orthopt_core::problem::{Between, Cardinality};
use orthopt_core::smooth::{AnySmooth, Measure, Order};
use orthopt_limits::overshoot::{self, SupportModel};
use orthopt_limits::problem::MeasuredProblem;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::work::so_far;

/// F of adjusted and polar variance counts as proved at this gap, relative to |F|.
const TOLERANCE: f64 = 1e-6;
/// Share of the work of a proof that an X to begin from may take.
const FIRST: f64 = 0.3;

/// The numbers of nonzeros of the components, once for each way to divide a total, where all supports are listed.
pub(super) fn listed(p: &MeasuredProblem) -> Option<Vec<Vec<usize>>> {
    let takes = matches!(p.f.measure(), Measure::Adjusted | Measure::Polar)
        && p.between() == Between::Orthogonal
        && p.order() == Order::Joint
        && p.lambda() == 0.0;
    let counts = match p.limits() {
        _ if !takes => return None,
        Cardinality::Components(list) => vec![list.clone()],
        Cardinality::Total(total) => {
            bound::ways(*total, p.rank(), p.share().max.min(p.nrows()), has_order(p))?
        }
        Cardinality::Rows(_) => return None,
    };
    bound::applies(p.nrows(), &counts).then_some(counts)
}

fn has_order(p: &MeasuredProblem) -> bool {
    p.f.measure() == Measure::Adjusted
}

/// An X to begin a proof from: that of k-components, exchanged until nothing improves it.
fn first_of_proof(p: &MeasuredProblem, work: u64, cancel: &Cancel) -> Option<RowMat> {
    let model = SupportModel::of(p).until(cancel);
    let x = clustered_start(p, work, 0, cancel)?;
    let at = overshoot::climbed(&model, overshoot::polished(&model, &x)?, cancel)?;
    p.check(&at.x, "X").is_ok().then_some(at.x)
}

/// An X on supports: from the leading eigenvector of each column beside those before it.
fn on_sets(p: &MeasuredProblem, sets: &[Vec<usize>], model: &SupportModel<'_, AnySmooth>) -> Option<RowMat> {
    let c = p.f.covariance().matrix()?;
    let mut x = RowMat::zeros(p.nrows(), sets.len());
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
    let at = overshoot::polished(model, &x)?;
    p.check(&at.x, "X").is_ok().then_some(at.x)
}

/// `found`, a bound of another kind, improved by lists of supports from an X with this F. `None` where lists are too long.
pub(super) fn proved_by_supports(
    p: &MeasuredProblem,
    found: Bound,
    (x, objective): (&RowMat, f64),
    options: &Options,
    cancel: &Cancel,
    show: Show<'_>,
) -> Option<Bound> {
    let counts = listed(p)?;
    let covariance = p.f.covariance();
    let (c, unit) = (covariance.matrix()?, covariance.unit());
    let own_order = has_order(p) && !p.f.is_in_given_order();
    let order = if own_order { p.f.order_of(x) } else { (0..x.ncols()).collect() };
    let placed = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, order[k]));
    let tolerance = options.gap.max(TOLERANCE);
    let request = SupportRequest {
        c,
        counts,
        has_order: has_order(p),
        own_order,
        x: &placed,
        known: -2.0 * objective / unit,
        tolerance,
        work: options.work,
        keeps: options.keeps,
    };
    let model = SupportModel::of(p).until(cancel);
    let mut best: (f64, Option<RowMat>) = (objective, None);
    let climb = |sets: &[Vec<usize>]| {
        if let Some(x) = on_sets(p, sets, &model) {
            let value = p.value(&x);
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
    p: &MeasuredProblem,
    known: Option<&RowMat>,
    work: u64,
    cancel: &Cancel,
) -> Option<Bound> {
    let counts = listed(p)?;
    if bound::least_work(p.nrows(), &counts, has_order(p)) > work {
        return None;
    }
    let begun = so_far();
    let first = match known {
        Some(_) => None,
        None => Some(first_of_proof(p, (FIRST * work as f64) as u64, cancel)?),
    };
    let work = work.saturating_sub(so_far() - begun);
    // a relaxation proves nothing here
    let options = Options { nodes: u64::MAX, work: Some(work), iterations: 0, ..Options::default() };
    let bound = p.lower_bound(known.or(first.as_ref()), &options, cancel, &|_| ()).ok()?;
    let x = bound.x.clone().or(first);
    bound.proof.is_some().then_some(Bound { x, ..bound })
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
