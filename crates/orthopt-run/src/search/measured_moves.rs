//! Moves from good points to others where components maximise a measure: what they give is on the constraints.

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::moves::Perturbation;
use orthopt_core::problem::support;
use orthopt_core::smooth::Quadratic;
use orthopt_limits::overshoot::{Point, SupportModel, anew, grouped, rotated};
use orthopt_limits::problem::MeasuredProblem;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::descending;

/// Which of the best points a move begins from: the better ones more often.
fn parent<'b>(best: &'b [RowMat], rng: &mut Pcg64) -> &'b RowMat {
    &best[rng.random_range(0..best.len().min(3))]
}

/// Components divided into groups at random, each group on rows that its components share; some rows are left out at first.
#[derive(Debug)]
pub struct Regroup;

/// Share of the rows that are left out.
const LEFT_OUT: f64 = 0.25;

impl<F: Quadratic> Perturbation<MeasuredProblem<F>> for Regroup {
    fn name(&self) -> &'static str {
        "components grouped anew"
    }

    fn point(
        &self,
        p: &MeasuredProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        cancel: &Cancel,
    ) -> Option<RowMat> {
        let (n, r) = (best[0].nrows(), best[0].ncols());
        let mut columns: Vec<usize> = (0..r).collect();
        (0..r).for_each(|k| columns.swap(k, rng.random_range(k..r)));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for k in columns {
            match groups.last_mut() {
                Some(last) if rng.random() => last.push(k),
                _ => groups.push(vec![k]),
            }
        }
        let allowed: Vec<bool> = (0..n).map(|_| rng.random::<f64>() > LEFT_OUT).collect();
        Some(grouped(&SupportModel::of(p).until(cancel), &groups, &allowed)?.x)
    }
}

/// Two components turned in their plane, on the rows of both, and pruned.
#[derive(Debug)]
pub struct Rotate;

impl<F: Quadratic> Perturbation<MeasuredProblem<F>> for Rotate {
    fn name(&self) -> &'static str {
        "two components turned"
    }

    fn point(&self, p: &MeasuredProblem<F>, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        let x = parent(best, rng);
        let r = x.ncols();
        if r < 2 {
            return None;
        }
        let a = rng.random_range(0..r);
        let b = (a + rng.random_range(1..r)) % r;
        let found: Point = rotated(&SupportModel::of(p), x, (a, b), rng.random_range(0.2..1.3))?;
        Some(found.x)
    }
}

/// Components that share rows found anew together, on their rows and some more.
#[derive(Debug)]
pub struct Together;

/// Most components that are found together.
const TOGETHER: usize = 4;

impl<F: Quadratic> Perturbation<MeasuredProblem<F>> for Together {
    fn name(&self) -> &'static str {
        "some components found anew"
    }

    fn point(
        &self,
        p: &MeasuredProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        cancel: &Cancel,
    ) -> Option<RowMat> {
        let x = parent(best, rng);
        let (n, r) = (x.nrows(), x.ncols());
        let model = SupportModel::of(p).until(cancel);
        // one of them, and others, the likelier the more rows they share with it
        let first = rng.random_range(0..r);
        let own = support(x, first);
        let common = |k: usize| own.iter().filter(|i| x.get(**i, k) != 0.0).count() as f64;
        let drawn: Vec<f64> = (0..r).map(|k| -rng.random::<f64>().ln() * (common(k) + 0.5)).collect();
        let mut columns: Vec<usize> = (0..r).filter(|k| *k != first).collect();
        descending(&mut columns, &|k| drawn[k]);
        columns.truncate(rng.random_range(1..TOGETHER));
        columns.push(first);
        // their rows, and those of large gradients
        let image = model.f().apply(x);
        let (mut rows, mut more): (Vec<usize>, Vec<usize>) =
            (0..n).partition(|i| columns.iter().any(|k| x.get(*i, *k) != 0.0));
        let pull = |i: usize| columns.iter().map(|k| image.get(i, *k).powi(2)).sum::<f64>();
        let drawn: Vec<f64> = (0..n).map(|i| rng.sample::<f64, _>(StandardNormal).exp() * pull(i)).collect();
        descending(&mut more, &|i| drawn[i]);
        more.truncate(rng.random_range(0..=own.len()));
        rows.extend(more);
        rows.sort_unstable();
        Some(anew(&model, x, &columns, &rows)?.x)
    }
}
