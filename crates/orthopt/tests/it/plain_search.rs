//! The plain search of the papers against golden values and the fast searches.

use orthopt::RowMat;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::PairPenalty;
use orthopt::penalty::{AnyPenalty, PENALTIES};
use orthopt::problem::{PcaData, Storage};
use orthopt::solve::{RunOptions, Stationary, Status, run};
use orthopt::solvers::obcd::Search;
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_core::pair::plain;
use orthopt_linalg::plane::PairMove;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Decrease of q from the identity.
fn decrease(m: &PairModel<'_>, h: &AnyPenalty, step: Option<PairMove>) -> f64 {
    use orthopt::nonsmooth::Nonsmooth;
    let Some(step) = step else { return 0.0 };
    let r = m.z1.len();
    let (mut n1, mut n2) = (vec![0.0; r], vec![0.0; r]);
    step.apply(m.z1, m.z2, &mut n1, &mut n2);
    m.smooth_decrease(&step) + h.value(m.z1) + h.value(m.z2) - h.value(&n1) - h.value(&n2)
}

#[test]
fn the_fast_searches_find_what_the_plain_one_finds() {
    let mut rng = Pcg64::seed_from_u64(11);
    for case in 0..4000 {
        let info = &PENALTIES[case % PENALTIES.len()];
        let h = (info.make)(10f64.powi(case as i32 % 5 - 3)).expect("a valid lambda");
        if h.row_weight().is_some() {
            continue; // no pairs
        }
        let r = 1 + case % 23;
        let mut row = || -> Vec<f64> {
            let zero = case % 3 == 0;
            (0..r)
                .map(|k| {
                    let v: f64 = rng.sample(rand_distr::StandardNormal);
                    let v = match info.name {
                        "nonneg" => v.abs(),
                        "box" => v.clamp(-1.0, 1.0),
                        _ => v,
                    };
                    if zero && (k + case) % 4 != 0 { 0.0 } else { v }
                })
                .collect()
        };
        let (z1, z2) = (row(), row());
        let mut number = || -> f64 { rng.sample(rand_distr::StandardNormal) };
        let p = [[number(), number()], [number(), number()]];
        let k = [number(), number(), number()];
        let m = PairModel::with_curvature(p, k, &z1, &z2);
        let fast = decrease(&m, &h, h.search(&m, &mut Scratch::new(r)));
        let slow = decrease(&m, &h, plain::search(&m, &h));
        assert!((fast - slow).abs() <= 1e-9 * (1.0 + slow.abs()), "case {case} {}: {fast} {slow}", info.name);
    }
}

#[test]
fn obcd_with_the_plain_search_converges_to_a_point_as_good() {
    let mut rng = Pcg64::seed_from_u64(2);
    let a = faer::Mat::from_fn(60, 24, |_, _| rng.sample::<f64, _>(rand_distr::StandardNormal));
    for (name, lambda) in [("l0-pca", 5.0), ("l1-pca", 3.0), ("nonneg-pca", 0.0), ("pca", 0.0)] {
        let p = orthopt::family::pca_problem(name, &PcaData::Dense(a.as_ref()), 4, lambda, Storage::Auto)
            .expect("valid");
        let x0: RowMat = Start::Identity.point(&p.f, 4, name == "nonneg-pca", 0).expect("a start");
        let solve = |search: Search| {
            let solver = Obcd::new(ObcdOptions { search, seed: 4, ..Default::default() }).expect("valid");
            let options = RunOptions { max_iterations: Some(2_000_000), ..Default::default() };
            run(&p, &solver, x0.clone(), options, &mut Stationary { tol: 1e-10 }, &mut []).expect("a run")
        };
        let (fast, plain) = (solve(Search::Fast), solve(Search::Plain));
        assert_eq!((fast.status, plain.status), (Status::Converged, Status::Converged), "{name}");
        // the same pairs in the same order: the same minima unless rounding tips a tie
        let (f, g) = (fast.objective.total, plain.objective.total);
        assert!((f - g).abs() <= 0.05 * g.abs(), "{name}: {f} {g}");
    }
}
