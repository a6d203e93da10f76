//! Where components that are orthogonal and uncorrelated at once begin: on rows that they share.

use super::{Family, Request};
use orthopt_core::problem::Cardinality;
use orthopt_core::solve::Stopping;
use orthopt_limits::overshoot::{self, Point, SupportModel};
use orthopt_limits::problem::{CardinalityProblem, MeasuredProblem};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::parallel::alone;

/// The start on groups of columns.
pub(super) const GROUPED: (&str, &str) = (
    "grouped",
    "components on rows that they share, or on one set of rows for each of several groups of them (constraint both)",
);
/// The start on the rows of one group that a search selects.
pub(super) const SELECTED: (&str, &str) = (
    "selected",
    "the components of as few variables, those of a search for the best variables for all of them (constraint both)",
);

/// Share of the time left that the search for the rows may take.
const SHARE: f64 = 0.3;
/// Decreases that count, and those of a pass, in that search.
const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

/// The best point on groups of columns.
pub(super) fn grouped(p: &MeasuredProblem, cancel: &Cancel) -> Option<Point> {
    shares_rows(p).then(|| overshoot::common(&SupportModel::of(p).until(cancel))).flatten()
}

/// The solution on rows that all components share, which is feasible here: what is found is not above it.
pub(super) fn selected(p: &MeasuredProblem, seed: u64, cancel: &Cancel) -> Option<Point> {
    let x = if shares_rows(p) { on_selected_rows(p, seed, cancel)? } else { return None };
    overshoot::polished(&SupportModel::of(p).until(cancel), &x)
}

fn shares_rows(p: &MeasuredProblem) -> bool {
    p.between().is_orthogonal() && p.between().is_uncorrelated()
}

fn on_selected_rows(p: &MeasuredProblem, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let (n, r) = p.shape();
    let rows = SupportModel::of(p).limits().shares(r).into_iter().min()?.min(n);
    if rows < r {
        return None; // r orthogonal columns have r rows
    }
    let (f, price) = (p.f.quadratic().clone(), p.lambda() * r as f64);
    let problem = CardinalityProblem::new(f, r, Cardinality::Rows(rows), price, false).ok()?;
    let request = Request { seed: Some(seed), ..Request::default() };
    let plan = problem.plan(&request).ok()?;
    let part = cancel.within(cancel.left().map(|left| SHARE * left));
    // on this thread, which has others waiting for it
    alone(|| plan.run(&problem, &request, &STOPPING, None, &part, &mut [])).ok().map(|found| found.x)
}
#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_pcg::Pcg64;

    use super::*;
    use orthopt_core::objective::Evaluate;
    use orthopt_core::problem::Between;
    use orthopt_core::smooth::{AnySmooth, DenseGram, Measure, Measured};

    /// A run that is cut off has what a search for common variables finds with the same work.
    #[test]
    fn what_is_cut_off_is_no_worse_than_common_variables() {
        for (seed, n) in [(1, 24), (2, 60)] {
            let (rank, nonzeros) = (4, 8);
            let mut rng = Pcg64::seed_from_u64(seed);
            let a = Mat::from_fn(40, n, |_, _| rng.sample::<f64, _>(StandardNormal));
            let f = AnySmooth::DenseGram(DenseGram::new(a.as_ref()));
            let limits = Cardinality::Components(vec![nonzeros; rank]);
            let measured = Measured::new(f.clone(), Measure::Variance).unwrap();
            let both = MeasuredProblem::new(measured, rank, limits, 0.0, Between::Both).unwrap();
            let rows = CardinalityProblem::new(f, rank, Cardinality::Rows(nonzeros), 0.0, false).unwrap();
            assert_eq!(both.plan(&Request::default()).unwrap().portfolio.unwrap().arms[0].start, SELECTED.0);
            for most in [1_000_000, 10_000_000] {
                let cancel = || Cancel::never().within_work(Some(most));
                let request = Request::default();
                let (plan, cut) = (both.plan(&request).unwrap(), cancel());
                let found = alone(|| plan.run(&both, &request, &STOPPING, None, &cut, &mut [])).unwrap();
                let (plan, cut) = (rows.plan(&request).unwrap(), cancel());
                let other = alone(|| plan.run(&rows, &request, &STOPPING, None, &cut, &mut [])).unwrap();
                let (found, other) = (both.value(&found.x), both.value(&other.x));
                assert!(found <= other + 1e-9 * other.abs(), "{n} variables, {most}: {found} and {other}");
            }
        }
    }
}
