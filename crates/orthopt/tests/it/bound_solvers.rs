//! No X that any method finds is below the bound, and F of the best is near it.

use orthopt::RowMat;
use orthopt::bound::{Kind, Options, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::problem::PcaProblem;
use orthopt::smooth::{Quadratic, Smooth};
use proptest::prelude::*;

use crate::common::*;

fn value(p: &PcaProblem, kind: &Kind, nodes: u64) -> f64 {
    let options = Options { nodes, ..Options::default() };
    lower_bound(&p.f, p.rank(), kind, None, &options, &Cancel::never(), &|_| ()).unwrap().value
}

/// The lowest F that OBCD reaches from a few starts.
fn reached(p: &PcaProblem) -> f64 {
    (0..4)
        .map(|seed| solve_from(p, usual_start(p, seed), &Default::default(), 1e-10, 20_000).objective.total)
        .fold(f64::INFINITY, f64::min)
}

fn nonzeros(x: &RowMat) -> usize {
    x.data().iter().filter(|v| **v != 0.0).count()
}

/// Every way to give the rows to one of the columns or to none, x the leading eigenvectors: all X with
/// disjoint supports worth looking at.
fn disjoint(p: &PcaProblem, visit: &mut dyn FnMut(&RowMat)) {
    let (n, r) = (p.f.nrows(), p.rank());
    for code in 0..(r + 1).pow(n as u32) {
        let (mut x, mut left) = (RowMat::zeros(n, r), code);
        let owner: Vec<usize> = (0..n).map(|_| (left % (r + 1), left /= r + 1).0).collect();
        let full = (1..=r).all(|k| {
            let set: Vec<usize> = (0..n).filter(|i| owner[*i] == k).collect();
            let Some((_, v)) = orthopt_linalg::eigen::symmetric_eigenpairs(&{
                let mut c = p.f.curvature_block(&set);
                c.data_mut().iter_mut().for_each(|v| *v = -*v);
                c
            }) else {
                return false;
            };
            set.iter().enumerate().for_each(|(a, i)| x.set(*i, k - 1, v.get(a, 0)));
            !set.is_empty()
        });
        if full {
            visit(&x);
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// ℓ0 by brute force over disjoint supports and OBCD for those that meet, for the relaxation, the
    /// dynamic programme and branch and bound; K and kⱼ by the same points.
    #[test]
    fn brute_force_is_never_below_the_bound(
        n in 2usize..=8, r in 1usize..=2, samples in 1usize..10, share in 0.01f64..0.6, seed in 0u64..1000,
    ) {
        let a = gaussian(samples, n, seed);
        let largest = (0..n).map(|j| a.col(j).squared_norm_l2()).fold(0.0, f64::max);
        let lambda = 0.5 * share * largest;
        let p = on_data("l0-pca", lambda, &a, r);
        let kind = Kind::L0 { lambda };
        let (root, proved) = (value(&p, &kind, 0), value(&p, &kind, 300));
        prop_assert!(proved >= root);
        let mut best = reached(&p);
        let budget = r + seed as usize % n;
        let total = value(&p, &Kind::Total { nonzeros: budget, lambda: 0.0 }, 0);
        let counts: Vec<usize> = (0..r).map(|k| 1 + (seed as usize + 3 * k) % n).collect();
        let apart = value(&p, &Kind::Counts { nonzeros: counts.clone(), lambda: 0.0 }, 0);
        let (mut lowest_total, mut lowest_apart) = (f64::INFINITY, f64::INFINITY);
        disjoint(&p, &mut |x| {
            best = best.min(exact_objective(&p, x));
            let smooth = exact_objective(&p, x) - lambda * nonzeros(x) as f64;
            if nonzeros(x) <= budget {
                lowest_total = lowest_total.min(smooth);
            }
            if (0..r).all(|k| (0..n).filter(|i| x.get(*i, k) != 0.0).count() <= counts[k]) {
                lowest_apart = lowest_apart.min(smooth);
            }
        });
        let rounding = 1e-12 * (1.0 + largest);
        prop_assert!(proved <= best + rounding, "{proved} {best}");
        prop_assert!(total <= lowest_total + rounding && apart <= lowest_apart + rounding);
    }

    /// X ≥ 0: supports are disjoint, and projected leading eigenvectors are feasible.
    #[test]
    fn nonnegative_and_l1_points_are_never_below(
        n in 3usize..=8, r in 1usize..=2, seed in 0u64..1000, lambda in 0.0f64..3.0,
    ) {
        let a = gaussian(n + 2, n, seed);
        let p = on_data("nonneg-pca", 0.0, &a, r);
        let (root, proved) = (value(&p, &Kind::Nonnegative, 0), value(&p, &Kind::Nonnegative, 2000));
        let best = reached(&p);
        prop_assert!(root <= proved && proved <= best + 1e-11 * (1.0 + best.abs()), "{root} {proved} {best}");
        let q = on_data("l1-pca", lambda, &a, r);
        let best = reached(&q);
        let x = usual_start(&q, 0);
        let weak = value(&q, &Kind::L1 { lambda }, 0);
        let known = lower_bound(&q.f, r, &Kind::L1 { lambda }, Some(&x), &Options::default(), &Cancel::never(), &|_| ());
        let known = known.unwrap().value;
        prop_assert!(weak <= best + 1e-11 && known <= best + 1e-11 && known >= weak - 1e-6 * weak.abs());
    }
}

proptest! {
    #![proptest_config(cases(8))]

    /// Branch and bound alone, without the dynamic programme of few variables: 19 variables of which some
    /// have variance. λ is so small that the best supports meet.
    #[test]
    fn patterns_of_rows_hold_where_supports_meet(
        n in 3usize..=5, r in 2usize..=3, share in 0.002f64..0.1, seed in 0u64..1000,
    ) {
        let small = gaussian(n + 3, n, seed);
        let a = faer::Mat::from_fn(n + 3, 19, |i, j| if j < n { small[(i, j)] } else { 0.0 });
        let largest = (0..n).map(|j| a.col(j).squared_norm_l2()).fold(0.0, f64::max);
        let lambda = share * largest;
        let p = on_data("l0-pca", lambda, &a, r);
        let kind = Kind::L0 { lambda };
        let (root, proved) = (value(&p, &kind, 0), value(&p, &kind, 60));
        let mut best = reached(&p);
        disjoint(&on_data("l0-pca", lambda, &small, r), &mut |x| {
            best = best.min(exact_objective(&on_data("l0-pca", lambda, &small, r), x));
        });
        prop_assert!(root <= proved && proved <= best + 1e-12 * (1.0 + largest), "{root} {proved} {best}");
    }
}

/// All of St(3, 2) on a grid of Euler angles that contains the points with exact zeros.
#[test]
fn no_point_of_a_grid_is_below_the_bound() {
    let steps = 24;
    for (seed, lambda) in [(1, 0.2), (2, 0.8), (3, 2.0)] {
        let p = on_data("l0-pca", lambda, &gaussian(5, 3, seed), 2);
        let kind = Kind::L0 { lambda };
        let proved = value(&p, &kind, 1000);
        // exact at multiples of a right angle
        let turn = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / steps as f64;
            match 4 * k % steps {
                0 => ([1.0, 0.0, -1.0, 0.0][4 * k / steps % 4], [0.0, 1.0, 0.0, -1.0][4 * k / steps % 4]),
                _ => (angle.cos(), angle.sin()),
            }
        };
        let mut best = f64::INFINITY;
        for code in 0..steps * steps * steps {
            let mut x = RowMat::from_fn(3, 2, |i, k| f64::from(u8::from(i == k)));
            for (plane, k) in
                [((0, 1), code % steps), ((1, 2), code / steps % steps), ((0, 2), code / steps / steps)]
            {
                let (c, s) = turn(k);
                for col in 0..2 {
                    let (u, v) = (x.get(plane.0, col), x.get(plane.1, col));
                    x.set(plane.0, col, c * u + s * v);
                    x.set(plane.1, col, c * v - s * u);
                }
            }
            best = best.min(exact_objective(&p, &x));
        }
        assert!(proved <= best + 1e-12, "{proved} {best}");
        assert!(best - proved <= 0.5 * best.abs() + lambda, "{proved} {best}: far apart");
    }
}

/// Larger ones, where screening and the partial decomposition are at work.
#[test]
fn no_run_of_a_solver_is_below_the_bound() {
    for (n, m, r, lambda) in [(40, 60, 3, 6.0), (60, 20, 5, 3.0), (180, 40, 3, 8.0)] {
        let p = on_data("l0-pca", lambda, &thinned(m, n, 0.5, n as u64), r);
        let (bound, best) = (value(&p, &Kind::L0 { lambda }, 0), reached(&p));
        assert!(bound <= best && bound.is_finite(), "{n}: {bound} {best}");
        let p = on_data("nonneg-pca", 0.0, &thinned(m, n, 0.5, n as u64), r);
        let (bound, best) = (value(&p, &Kind::Nonnegative, 0), reached(&p));
        assert!(bound <= best && best - bound <= 0.25 * best.abs(), "{n}: {bound} {best}");
    }
}
