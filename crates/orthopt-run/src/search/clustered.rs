//! k-components as a start and as a move: components with disjoint supports, from nothing or from the best point.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::k_components::{KComponents, Limits, Request, k_components};
use super::moves::Perturbation;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::penalty::AnyPenalty;
use orthopt_core::problem::{Between, Cardinality, PcaProblem};
use orthopt_core::smooth::{AnySmooth, Measure, Smooth};
use orthopt_limits::overshoot::{Point, SupportModel, fitted, on_groups};
use orthopt_limits::problem::{CardinalityProblem, MeasuredProblem};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::best_first;
use orthopt_linalg::work::so_far;

/// A problem that k-components finds a point of.
pub trait Clustered {
    /// The quadratic form, the number of components and what is asked for; `None` where supports that share no variable are no
    /// points of the problem.
    fn clustered(&self) -> Option<(&AnySmooth, usize, Request)>;
}

impl Clustered for PcaProblem {
    fn clustered(&self) -> Option<(&AnySmooth, usize, Request)> {
        let request = match &self.h {
            AnyPenalty::L0(h) => Request::new(h.value(&[1.0]), Limits::Free),
            AnyPenalty::Nonneg(_) => Request { nonneg: true, ..Request::new(0.0, Limits::Free) },
            _ => return None,
        };
        Some((&self.f, self.rank(), request))
    }
}

/// Limits of nonzeros; `None` for limits of rows.
fn limits(of: &Cardinality, min: usize, max: usize) -> Option<Limits> {
    match of {
        Cardinality::Components(list) => Some(Limits::Each(list.clone())),
        Cardinality::Total(total) => Some(Limits::Total { total: *total, min, max }),
        Cardinality::Rows(_) => None,
    }
}

impl Clustered for CardinalityProblem {
    fn clustered(&self) -> Option<(&AnySmooth, usize, Request)> {
        let limits = limits(self.limits(), 1, self.nrows())?;
        let request = Request { nonneg: self.requires_nonneg(), ..Request::new(self.lambda(), limits) };
        Some((&self.f, self.rank(), request))
    }
}

impl Clustered for MeasuredProblem {
    fn clustered(&self) -> Option<(&AnySmooth, usize, Request)> {
        if self.between() != Between::Orthogonal {
            return None;
        }
        let limits = limits(self.limits(), self.share().min, self.share().max)?;
        let request = Request { measure: self.f.measure(), ..Request::new(self.lambda(), limits) };
        // what scores explain by regression has no such form: near-copies are no worse there
        (self.f.measure() != Measure::Explained).then_some((self.f.quadratic(), self.rank(), request))
    }
}

/// The best X of k-components that so much work finds.
pub(crate) fn clustered_start<P: Clustered>(p: &P, work: u64, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let (f, r, request) = p.clustered()?;
    k_components(f, r, &request, work, seed, cancel).map(|found| found.x)
}

/// Number of groups of the next try, divided by that of the last one.
const FEWER: f64 = 0.5;
/// Rows of a group over the nonzeros that a component may have.
const WIDER: [f64; 2] = [1.0, 1.7];

/// Components on the rows of a smaller number of groups, which k-components finds: of the numbers of groups that there is room for, each half
/// of the one before, the best before anything is pruned; and the best of these for the sizes of groups. Where components may have
/// more nonzeros than there are variables, disjoint supports leave some of them unused.
pub(crate) fn shared_start<P: Clustered>(
    p: &P,
    model: &SupportModel<'_, AnySmooth>,
    is_point: impl Fn(&RowMat) -> bool,
    (work, seed): (u64, u64),
    cancel: &Cancel,
) -> Option<RowMat> {
    let (f, r, request) = p.clustered()?;
    let n = f.nrows();
    let size = model.limits().shares(r).into_iter().min()?;
    let higher = |a: Point, b: Point| if b.value > a.value { b } else { a };
    let mut found: Vec<RowMat> = Vec::new();
    for wider in WIDER {
        let rows = ((wider * size as f64) as usize).min(n);
        let mut groups = (n / rows).min(r);
        let mut best: Option<Point> = None;
        while groups > 0 && groups * rows >= r && !cancel.is_over() {
            let request =
                Request { limits: Limits::Each(vec![rows; groups]), patience: 0, ..request.clone() };
            let apart = k_components(f, groups, &request, work, seed, cancel).map(|found| found.x);
            let shared = apart.as_ref().and_then(|x| on_groups(model, x));
            best = [best, shared].into_iter().flatten().reduce(higher);
            found.extend(apart);
            groups = (FEWER * groups as f64) as usize;
        }
        found.extend(best.and_then(|at| fitted(model, at)).map(|at| at.x));
    }
    let points = found.into_iter().filter(is_point);
    let best = best_first(points.collect(), |x| model.value(x)).into_iter().next();
    best.or_else(|| clustered_start(p, work, seed, cancel))
}

/// Some components dropped and as many grown, a few times.
#[derive(Debug)]
pub struct Regrown {
    /// Work that this may cost.
    pub most: u64,
}

impl<P: Clustered + Send + Sync> Perturbation<P> for Regrown {
    fn name(&self) -> &'static str {
        "components dropped and grown"
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat> {
        let (f, r, request) = p.clustered()?;
        let begun = so_far();
        let over = || cancel.is_over() || so_far() - begun >= self.most;
        let mut search = KComponents::new(f, r, &request, rng.random())?;
        search.go_on_from(&best[0], &over);
        while !search.is_idle() && !over() {
            search.advance(&over);
        }
        search.found().map(|found| found.x)
    }
}
