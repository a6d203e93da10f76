//! A search for X ≥ 0 on the leading principal components of the data.
//!
//! Nearly every variable has an entry in X ≥ 0, so that none can be left out. But what F is depends mostly on the leading eigenvectors of C:
//! with q of them, C ≈ VΛVᵀ costs 2nqr multiplications a gradient. The search is on that; the best point is polished with C itself, and what
//! is said of it is said of the whole problem. Since VΛVᵀ ≤ C, F on the way is at most what is shown.

use super::narrow::Reducible;
use super::portfolio::{cost_of_gradient, is_long};
use crate::search::Effort;
use orthopt_core::problem::PcaProblem;
use orthopt_core::smooth::{AnySmooth, DenseGram, Quadratic};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;

/// Eigenvectors for each component.
const EIGENVECTORS: usize = 3;
/// Gradients that the polish may cost. What more of them bring is little: on 30,000 × 10,000 made cells 150 lower F by another 2e-6 of |F|, in the time
/// of the search.
const POLISH: u64 = 20;

/// Share of F that the rest of C may have at the best point where the search ends there. Chosen where it has 4e-4 (made cells: F as low as from
/// all of C) and 1.9e-3 (noise of 100 × 20,000: 7e-4 of F above it).
const REST: f64 = 1e-3;

/// A problem with C of low rank in the place of another.
pub(super) struct LowRank<'a> {
    whole: &'a AnySmooth,
    part: PcaProblem,
    eigenvectors: usize,
}

impl<'a> LowRank<'a> {
    /// With the eigenvectors of C that X needs; `None` where a gradient then costs more than a quarter of one with C, or a limit ends it.
    pub fn of(problem: &'a PcaProblem, seed: u64, cancel: &Cancel) -> Option<Self> {
        let (n, r) = (problem.nrows(), problem.rank());
        let q = EIGENVECTORS * r;
        let gradient = cost_of_gradient(&problem.f, (n, r));
        if q > n || !is_long(gradient) || 4 * cost_on(q, (n, r)) > gradient {
            return None;
        }
        Self::made(problem, q, seed, cancel)
    }

    /// With q eigenvectors.
    fn made(problem: &'a PcaProblem, q: usize, seed: u64, cancel: &Cancel) -> Option<Self> {
        let (n, r) = (problem.nrows(), problem.rank());
        let v = Start::Pca.point_while(&problem.f, q, (false, seed), cancel).ok()?;
        let mv = problem.f.apply(&v); // −CV
        let variance = |k: usize| -(0..n).map(|i| v.get(i, k) * mv.get(i, k)).sum::<f64>();
        let deviations: Vec<f64> = (0..q).map(|k| variance(k).max(0.0).sqrt()).collect();
        let f = DenseGram::from_transposed(RowMat::from_fn(n, q, |i, k| v.get(i, k) * deviations[k]));
        let part = PcaProblem::new(AnySmooth::DenseGram(f), problem.h.clone(), r).ok()?;
        Some(Self { whole: &problem.f, part, eigenvectors: q })
    }
}

/// Work of a gradient with q eigenvectors.
fn cost_on(q: usize, (n, r): (usize, usize)) -> u64 {
    (2 * n * q * r) as u64
}

impl Reducible<PcaProblem> for LowRank<'_> {
    fn form(&self) -> &AnySmooth {
        self.whole
    }

    fn gradient(&self) -> u64 {
        cost_of_gradient(self.whole, (self.part.nrows(), self.part.rank()))
    }

    fn on_variables(&self, _: &[usize]) -> Result<PcaProblem> {
        Ok(self.part.clone())
    }

    fn least(&self) -> usize {
        self.part.nrows()
    }

    fn needed(&self, _: &RowMat) -> usize {
        self.part.nrows()
    }

    fn settles(&self) -> Option<(&'static str, Option<u64>)> {
        Some(("obcd", Some(POLISH)))
    }

    fn on(&self) -> Option<String> {
        Some(format!("the {} leading eigenvectors of C", self.eigenvectors))
    }

    /// A thorough search continues in any case.
    fn is_an_end(&self, x: &RowMat, objective: f64, effort: Effort) -> bool {
        let rest = self.part.value(x) - objective;
        effort != Effort::Thorough && rest <= REST * objective.abs()
    }

    /// None is left out.
    fn entrants(&self, _: &RowMat, _: &Cancel) -> Vec<usize> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::family::narrow::Rounds;
    use crate::family::{Family, Request};
    use crate::search::{Effort, Settings};
    use orthopt_core::constraint::stiefel;
    use orthopt_core::penalty::{AnyPenalty, Nonneg};
    use orthopt_core::problem::{PcaData, Storage, covariance_model};
    use orthopt_core::smooth::Smooth;
    use orthopt_core::solve::{Solution, Status, Stopping};

    const N: usize = 30;

    /// 50 rows of three groups of ten variables that move together, and noise.
    fn problem(seed: u64, noise: f64, unit: f64) -> PcaProblem {
        let mut rng = Pcg64::seed_from_u64(seed);
        let factors: Vec<f64> = (0..150).map(|_| rng.random::<f64>() - 0.5).collect();
        let entries: Vec<f64> = (0..50 * N).map(|_| rng.random::<f64>() - 0.5).collect();
        let a = Mat::from_fn(50, N, |i, j| unit * (noise * entries[i * N + j] + factors[3 * i + j / 10]));
        let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
        PcaProblem::new(f, AnyPenalty::Nonneg(Nonneg), 3).unwrap()
    }

    fn searched(p: &PcaProblem, narrow: &dyn Reducible<PcaProblem>, limit: Option<f64>) -> Solution {
        let request = Request { seed: Some(1), ..Request::default() };
        let stopping = Stopping { max_iters: None, time_limit: limit, tol: 1e-9, min_decrease: 0.0 };
        let effort = limit.is_none().then_some(Effort::Quick);
        let settings = Settings { seed: 1, effort, stopping, work: None, before: 0, bound: None };
        let all: Vec<usize> = (0..N).collect();
        let cancel = Cancel::never();
        Rounds::new(p, narrow, (&request, settings), &cancel, &mut []).run(&all, N, &|_| false).unwrap()
    }

    #[test]
    fn f_on_the_eigenvectors_is_not_below_f() {
        let p = problem(1, 1.0, 1.0);
        let part = LowRank::made(&p, 9, 0, &Cancel::never()).unwrap().part;
        let mut rng = Pcg64::seed_from_u64(2);
        for _ in 0..20 {
            let x = stiefel::orthonormalise(&RowMat::from_fn(N, 3, |_, _| rng.random::<f64>() - 0.5));
            assert!(part.f.value(&x) >= p.f.value(&x) * (1.0 + 1e-12));
        }
        let leading = Start::Pca.point_while(&p.f, 3, (false, 0), &Cancel::never()).unwrap();
        assert!((part.f.value(&leading) / p.f.value(&leading) - 1.0).abs() < 1e-9, "exact at eigenvectors");
    }

    /// Where groups are clear they are found; where the eigenvectors leave most of C out, the polish is on C itself, and what is said is
    /// of the point with all of C.
    #[test]
    fn the_answer_is_one_of_the_whole_problem() {
        for (seed, noise) in [(3, 0.3), (4, 3.0)] {
            let p = problem(seed, noise, 1.0);
            let narrow = LowRank::made(&p, 9, 0, &Cancel::never()).unwrap();
            let found = searched(&p, &narrow, None);
            assert!(
                (found.objective.total - p.f.value(&found.x)).abs() <= 1e-12 * found.objective.total.abs()
            );
            assert!(found.x.data().iter().all(|v| *v >= 0.0) && found.feasibility < 1e-12);
            assert!(!found.message.starts_with("on the"), "{}", found.message);
            let note =
                found.notes.iter().map(ToString::to_string).find(|n| n.contains("9 leading eigenvectors"));
            let then =
                if noise < 1.0 { "the best point polished with all of C" } else { "then with all of C" };
            assert!(note.is_some_and(|note| note.ends_with(then)));
            let on_part = narrow.part.f.value(&found.x);
            assert!(on_part >= found.objective.total * (1.0 + 1e-12));
            if noise < 1.0 {
                for k in 0..3 {
                    let group: Vec<usize> =
                        (0..N).filter(|i| found.x.get(*i, k) > 0.05).map(|i| i / 10).collect();
                    assert!(group.len() == 10 && group.iter().all(|g| *g == group[0]), "{group:?}");
                }
            }
        }
    }

    /// Where the eigenvectors leave much of F out, and with thorough effort, the search continues.
    #[test]
    fn much_left_out_is_no_end() {
        let (clear, noisy) = (problem(8, 0.02, 1.0), problem(8, 3.0, 1.0));
        let is_an_end = |p: &PcaProblem, effort| {
            let narrow = LowRank::made(p, 9, 0, &Cancel::never()).unwrap();
            let x = Start::Varimax.point_while(&p.f, 3, (false, 1), &Cancel::never()).unwrap();
            let x = orthopt_core::start::round_to_partition(&x);
            narrow.is_an_end(&x, p.f.value(&x), effort)
        };
        assert!(is_an_end(&clear, Effort::Normal) && !is_an_end(&clear, Effort::Thorough));
        assert!(!is_an_end(&noisy, Effort::Normal));
        let narrow = LowRank::made(&noisy, 9, 0, &Cancel::never()).unwrap();
        let found = searched(&noisy, &narrow, None);
        assert!(found.notes.iter().any(|note| note.to_string().ends_with("; then with all of C")));
    }

    /// What the eigenvectors alone say is not said of the problem.
    #[test]
    fn a_search_that_ends_before_the_polish_claims_nothing() {
        let p = problem(5, 1.0, 1.0);
        let narrow = LowRank::made(&p, 9, 0, &Cancel::never()).unwrap();
        let found = searched(&p, &narrow, Some(0.0));
        assert_eq!(found.status, Status::TimeLimit);
        assert!(found.message.starts_with("on the 9 leading eigenvectors of C"), "{}", found.message);
        let notes = found.notes.iter().map(ToString::to_string).collect::<String>();
        assert!(notes.contains("no time to continue") && !notes.contains("point polished"), "{notes}");
    }

    #[test]
    fn the_unit_changes_nothing() {
        let bits = |unit: f64| -> Vec<u64> {
            let p = problem(6, 1.0, unit);
            let narrow = LowRank::made(&p, 9, 0, &Cancel::never()).unwrap();
            searched(&p, &narrow, None).x.data().iter().map(|v| v.to_bits()).collect()
        };
        assert_eq!(bits(1.0), bits(1024.0));
    }

    #[test]
    fn small_problems_are_searched_as_they_are() {
        assert!(problem(7, 1.0, 1.0).narrow(Some((0, &Cancel::never()))).is_none());
    }
}
