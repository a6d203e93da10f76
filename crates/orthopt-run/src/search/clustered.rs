//! k-components as a start and as a move: components with disjoint supports, from nothing or from the best point.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::k_components::{KComponents, Limits, Request, k_components};
use super::moves::Way;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::penalty::AnyPenalty;
use orthopt_core::problem::{Between, Cardinality, PcaProblem};
use orthopt_core::smooth::{AnySmooth, Measure};
use orthopt_limits::overshoot::{self, Ground};
use orthopt_limits::problem::{CardinalityProblem, MeasuredProblem};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
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

/// How many groups there are in the next try, over those of the last one.
const FEWER: f64 = 0.8;

/// Components on the rows of a smaller number of groups, which k-components finds: the best for as many groups as there is room for, a fifth
/// fewer, and so on. Where components may have more nonzeros than there are variables, disjoint supports leave some of them unused.
pub(crate) fn shared_start(p: &MeasuredProblem, work: u64, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let ground = Ground::of(p).until(cancel);
    let (f, r, request) = p.clustered()?;
    let size = ground.limits().shares(r).into_iter().min()?;
    let mut best: Option<(f64, RowMat)> = None;
    let mut groups = (p.nrows() / size).min(r);
    while groups * size >= r && !(cancel.is_over() && best.is_some()) {
        let request = Request { limits: Limits::Each(vec![size; groups]), patience: 0, ..request.clone() };
        let apart = k_components(f, groups, &request, work, seed, cancel).map(|found| found.x);
        let shared = apart.as_ref().and_then(|x| overshoot::shared(&ground, x)).map(|at| at.x);
        for x in [apart, shared].into_iter().flatten().filter(|x| p.check(x, "X").is_ok()) {
            let value = ground.value(&x);
            if best.as_ref().is_none_or(|best| value > best.0) {
                best = Some((value, x));
            }
        }
        groups = (FEWER * groups as f64) as usize;
    }
    best.map(|best| best.1).or_else(|| clustered_start(p, work, seed, cancel))
}

/// Some components dropped and as many grown, a few times.
#[derive(Debug)]
pub struct Regrown {
    /// Work that this may cost.
    pub most: u64,
}

impl<P: Clustered + Send + Sync> Way<P> for Regrown {
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

/// Some components of the best point kept as groups, on whose rows all components then are.
#[derive(Debug)]
pub struct Reshared {
    /// Work that this may cost.
    pub most: u64,
}

impl Way<MeasuredProblem> for Reshared {
    fn name(&self) -> &'static str {
        "components on the rows of some of them"
    }

    fn point(
        &self,
        p: &MeasuredProblem,
        best: &[RowMat],
        rng: &mut Pcg64,
        cancel: &Cancel,
    ) -> Option<RowMat> {
        let (f, r, request) = p.clustered()?;
        let ground = Ground::of(p).until(cancel);
        let size = ground.limits().shares(r).into_iter().min()?;
        let (least, most) = (r.div_ceil(size), (p.nrows() / size).min(r));
        let groups = if least < most { rng.random_range(least..=most) } else { most };
        let mut columns: Vec<usize> = (0..r).collect();
        (0..r).for_each(|k| columns.swap(k, rng.random_range(k..r)));
        let x = RowMat::from_fn(p.nrows(), groups, |i, k| best[0].get(i, columns[k]));
        let begun = so_far();
        let over = || cancel.is_over() || so_far() - begun >= self.most;
        let request = Request { limits: Limits::Each(vec![size; groups]), patience: 2, ..request };
        let mut search = KComponents::new(f, groups, &request, rng.random())?;
        search.go_on_from(&x, &over);
        while !search.is_idle() && !over() {
            search.advance(&over);
        }
        Some(overshoot::shared(&ground, &search.found()?.x)?.x)
    }
}
