//! What proofs for limits on nonzeros are used for: multipliers that others check, and the end of a search.

use orthopt::RowMat;
use orthopt::bound::{End, LimitDual, Options, limit_dual, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::family::Effort;
use orthopt::family::{Family, Request};
use orthopt::problem::{Cardinality, CardinalityProblem};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt_linalg::eigen::symmetric_eigenvalues;
use orthopt_run::search::Tuning;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::bound_limits::*;

/// The bound of F that a reader computes from multipliers, without anything of the library but eigenvalues; an error where
/// they break the rules of the theorem.
fn recomputed(
    c: &RowMat,
    r: usize,
    dual: &LimitDual,
    (lambda, nonneg): (f64, bool),
) -> Result<f64, &'static str> {
    let n = c.nrows();
    let (lists, parts) = (dual.counts.nrows(), dual.counts.ncols());
    let m = r / parts;
    let mut most = f64::NEG_INFINITY;
    for l in 0..lists {
        let w = RowMat::from_fn(n, n, |i, j| dual.w.get(l * n + i, j));
        let lowest = symmetric_eigenvalues(&w).unwrap()[n - 1];
        let mut sum = n as f64 * (-lowest).max(0.0);
        if -lowest > 1e-12 * (w.norm() + f64::MIN_POSITIVE) {
            return Err("W is not semidefinite");
        }
        for i in 0..n {
            let pi = dual.pi.get(l, i);
            if pi < 0.0 || pi > w.get(i, i) {
                return Err("pi is not between 0 and Wii");
            }
            sum += w.get(i, i) - pi;
        }
        for p in 0..parts {
            let at = l * parts + p;
            let (k, m) = (dual.counts.get(l, p), m as f64);
            let kappa = m / k + (m * (k - 1.0) * (k - m)).max(0.0).sqrt() / k;
            let z = |i: usize, j: usize| dual.z.get(at * n + i, j);
            let u = |i: usize, j: usize| dual.u.get(at * n + i, j);
            let mut costs = Vec::new();
            for i in 0..n {
                let (a, d) = (dual.a.get(at, i), dual.d.get(at, i));
                if d <= 0.0 {
                    return Err("d is not positive");
                }
                let mut squares = Vec::new();
                for j in 0..n {
                    let level = a * dual.a.get(at, j) * (1.0 + 1e-14);
                    if z(i, j) > level || (!nonneg && z(i, j) < -level) || z(i, j) != z(j, i) {
                        return Err("Z is too large");
                    }
                    let v = if nonneg { u(i, j).max(0.0) } else { u(i, j) };
                    if i != j {
                        squares.push(v * v);
                    }
                }
                squares.sort_by(|a, b| b.total_cmp(a));
                let own = if nonneg { u(i, i).max(0.0) } else { u(i, i) };
                let spread = own * own + squares.iter().take(k as usize - 1).sum::<f64>();
                costs.push((kappa * a * a + spread / (4.0 * d) + dual.pi.get(l, i) - lambda).max(0.0));
            }
            costs.sort_by(|a, b| b.total_cmp(a));
            let matrix = RowMat::from_fn(n, n, |i, j| {
                let diagonal = if i == j { dual.d.get(at, i) } else { 0.0 };
                0.5 * c.get(i, j) - w.get(i, j) - z(i, j) - 0.5 * (u(i, j) + u(j, i)) + diagonal
            });
            sum += symmetric_eigenvalues(&matrix).unwrap()[..m as usize].iter().sum::<f64>();
            sum += costs.iter().take(k as usize).sum::<f64>();
        }
        most = most.max(sum);
    }
    Ok(-most)
}

/// The same, and an error where the file claims more.
fn read(c: &RowMat, r: usize, dual: &LimitDual, more: (f64, bool)) -> Result<f64, &'static str> {
    let proved = recomputed(c, r, dual, more)?;
    if proved < dual.bound - 1e-12 * (dual.bound.abs() + c.norm()) {
        return Err("more is claimed than the multipliers prove");
    }
    Ok(proved)
}

/// A change of multipliers.
type Change = dyn Fn(&mut LimitDual);

/// Of every kind. Changed multipliers are of two sorts. Those that break a rule of the theorem (|Z| ≤ aaᵀ, d > 0, W ⪰ 0,
/// 0 ≤ π ≤ diag W) prove nothing and are refused. Those that keep the rules prove a bound by weak duality, of whatever
/// value: the demand is that the value computed from them never exceeds F of a feasible X, and that a claim above it is
/// refused.
#[test]
fn saved_multipliers_prove_what_they_say() {
    let c = pitprops();
    let f = negative(&c);
    for (r, kind, lambda, nonneg) in [
        (1, counts(&[5]), 0.0, false),
        (2, counts(&[4, 5]), 0.0, false),
        (2, total(6), 0.0, false),
        (3, rows(6), 0.0, false),
        (2, counts(&[5, 5]), 0.03, false),
        (2, rows(5), 0.05, false),
        (1, counts(&[5]), 0.0, true),
        (2, counts(&[4, 4]), 0.02, true),
    ] {
        let whole = with_price(kind, lambda, nonneg);
        let found = bound(&c, r, &whole, 300);
        let dual = limit_dual(&f, r, &whole, found.objective, &Cancel::never()).unwrap().unwrap();
        let more = (lambda, nonneg);
        let said = read(&c, r, &dual, more).unwrap();
        assert!((said - dual.bound).abs() <= 1e-10 * said.abs(), "{whole:?}: {said} {}", dual.bound);
        let best = found.objective.unwrap();
        assert!(said <= best + 1e-12 && best - said <= 0.1 * best.abs(), "{whole:?}: {said} {best}");
        // changed
        let refused = |change: &Change| {
            let mut wrong = dual.clone();
            change(&mut wrong);
            read(&c, r, &wrong, more).is_err()
        };
        assert!(refused(&|d| d.z.data_mut()[1] += 10.0), "{whole:?}: Z");
        assert!(refused(&|d| d.d.data_mut()[0] *= -1.0), "{whole:?}: d");
        // Zᵢᵢ = aᵢ², so that a smaller a breaks the rule unless the cone of absolute values is not used at all
        let less = refused(&|d| d.a.data_mut().iter_mut().for_each(|v| *v *= 0.5));
        assert_eq!(less, dual.a.norm() > 0.0, "{whole:?}: a below Z");
        let changes: [(&str, &Change); 5] = [
            ("U less", &|d| d.u.data_mut().iter_mut().for_each(|v| *v *= 0.5)),
            ("U more", &|d| d.u.data_mut().iter_mut().for_each(|v| *v *= 3.0)),
            ("a more", &|d| d.a.data_mut().iter_mut().for_each(|v| *v *= 3.0)),
            ("d less", &|d| d.d.data_mut().iter_mut().for_each(|v| *v *= 0.25)),
            ("Z = 0", &|d| d.z.data_mut().fill(0.0)),
        ];
        for (name, change) in changes {
            let mut other = dual.clone();
            change(&mut other);
            let proved = recomputed(&c, r, &other, more).unwrap();
            assert!(proved <= best + 1e-12, "{whole:?}, {name}: {proved} is above {best}");
            assert!(refused(change) || proved >= dual.bound - 1e-10, "{whole:?}, {name}: {proved}");
        }
        assert!(refused(&|d| d.w.data_mut()[0] -= 10.0), "{whole:?}: W");
        assert!(refused(&|d| d.pi.data_mut()[0] += 10.0), "{whole:?}: pi");
        assert!(refused(&|d| d.bound *= 0.99), "{whole:?}: bound");
    }
}

/// Multipliers near the best ones, drawn so that they keep the rules: none proves more than the best of all supports has.
#[test]
fn multipliers_that_keep_the_rules_prove_no_more_than_all_supports() {
    let mut rng = Pcg64::seed_from_u64(41);
    let (mut seen, mut close) = (0, 0);
    for _ in 0..60 {
        let (c, r, kind, more) = drawn(&mut rng, 6);
        let best = -best_of(&c, r, &kind, more, &mut rng); // the lowest F
        let whole = with_price(kind, more.0, more.1);
        let Some(dual) = limit_dual(&negative(&c), r, &whole, Some(best), &Cancel::never()).unwrap() else {
            continue;
        };
        let size = c.norm() + more.0 * c.nrows() as f64;
        for trial in 0..20 {
            let spread = [0.0, 0.01, 0.3, 1.0][trial % 4];
            let mut draw = || 1.0 + spread * (rng.random::<f64>() - 0.5);
            let mut other = dual.clone();
            other.u.data_mut().iter_mut().for_each(|v| *v *= draw());
            other.d.data_mut().iter_mut().for_each(|v| *v *= draw());
            // Z = aaᵀ ∘ S stays within aaᵀ where it shrinks, and a may grow
            let less = draw().min(1.0);
            other.z.data_mut().iter_mut().for_each(|v| *v *= if *v > 0.0 { less } else { 1.0 });
            other.a.data_mut().iter_mut().for_each(|v| *v *= draw().max(1.0));
            let w = draw();
            other.w.data_mut().iter_mut().for_each(|v| *v *= w);
            other.pi.data_mut().iter_mut().for_each(|v| *v *= w * draw().min(1.0));
            let proved = recomputed(&c, r, &other, more).unwrap();
            assert!(proved <= best + 1e-6 * size, "{whole:?} of {c:?}: {proved} is above {best}");
            seen += 1;
            close += usize::from(proved >= best - 1e-2 * size);
        }
    }
    assert!(seen >= 800 && 3 * close >= seen, "{close} of {seen}");
}

fn until_it_ends() -> Stopping {
    Stopping { tol: 1e-9, max_iters: None, time_limit: None, min_decrease: 0.0 }
}

/// What `solve --nonzeros` does by default, with so many threads.
fn searched(c: &RowMat, r: usize, k: usize, stopping: Stopping, threads: usize) -> Solution {
    searched_from(c, (r, k), Tuning::DEFAULT.before, stopping, threads)
}

/// The same with so much work on a proof before the search.
fn searched_from(
    c: &RowMat,
    (r, k): (usize, usize),
    least: u64,
    stopping: Stopping,
    threads: usize,
) -> Solution {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let p = CardinalityProblem::new(negative(c), r, Cardinality::Components(vec![k; r]), 0.0, false);
        let tuning = Tuning { before: least, ..Tuning::DEFAULT };
        let wanted = Request { effort: Some(Effort::Normal), tuning, ..Request::default() };
        let p = p.unwrap();
        let plan = p.plan(&wanted).unwrap();
        plan.run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
    })
}

/// A search ends where little work proves its X: with the same X for any number of threads, and not where its
/// iterations are limited.
#[test]
fn a_search_ends_at_a_proof() {
    let c = pitprops();
    for (k, known) in [(3, 2.475331353), (5, 3.406154947)] {
        let [one, three] = [1, 3].map(|threads| searched(&c, 1, k, until_it_ends(), threads));
        assert_eq!(one.x.data(), three.x.data());
        assert_eq!(one.status, Status::Optimal);
        let proof = one.proof.as_ref().unwrap();
        assert!(proof.proof.is_some() && proof.value <= one.objective.total, "{}", proof.value);
        assert!((-2.0 * one.objective.total - known).abs() <= 2e-9 * known);
        let alone = Stopping { max_iters: Some(1_000_000_000), ..until_it_ends() };
        let without = searched(&c, 1, k, alone, 1);
        assert!(without.proof.is_none() && without.status != Status::Optimal);
        let (f, other) = (one.objective.total, without.objective.total);
        assert!((f - other).abs() <= 1e-12 * f.abs(), "{f} {other}");
        let work = |s: &Solution| s.search.as_ref().unwrap().work;
        assert!(2 * work(&one) < work(&without), "{} {}", work(&one), work(&without));
    }
    // all pairs alike: whether it is proved or not, nothing else is said
    let open = searched(&matrices(12, 9).swap_remove(7).1, 2, 5, until_it_ends(), 1);
    assert_eq!(open.proof.is_some(), open.status == Status::Optimal);
}

/// So little work before the search that it proves nothing: what the search took is enough to prove its X afterwards, with the
/// same X and bound for any number of threads. Not where its iterations are limited or its time is over.
#[test]
fn a_search_that_took_much_is_proved_afterwards() {
    let c = pitprops();
    let run =
        |k: usize, stopping: Stopping, threads: usize| searched_from(&c, (1, k), 10_000, stopping, threads);
    for (k, known) in [(5, 3.406154947), (8, 4.068607327)] {
        let [one, three] = [1, 3].map(|threads| run(k, until_it_ends(), threads));
        assert_eq!(one.x.data(), three.x.data());
        assert_eq!((one.status, three.status), (Status::Optimal, Status::Optimal));
        let [proof, other] = [&one, &three].map(|s| s.proof.as_ref().unwrap());
        assert_eq!((proof.value.to_bits(), proof.nodes), (other.value.to_bits(), other.nodes));
        assert!(proof.proof.is_some() && proof.value <= one.objective.total, "{}", proof.value);
        assert!((-2.0 * one.objective.total - known).abs() <= 2e-9 * known);
        let search = one.search.as_ref().unwrap();
        assert!(one.message.contains("lower bound") && search.work > 1_000_000, "{}", one.message);
        let counted = run(k, Stopping { max_iters: Some(1_000_000_000), ..until_it_ends() }, 1);
        assert!(counted.proof.is_none() && counted.status != Status::Optimal);
        assert_eq!(counted.search.as_ref().unwrap().work, search.work);
    }
}

/// A limit of work ends a bound with what it has, for any number of threads.
#[test]
fn work_is_limited() {
    let c = pitprops();
    let run = |threads: usize, work: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = Options { nodes: u64::MAX, work: Some(work), ..Options::default() };
        let bound = pool.install(|| {
            lower_bound(&negative(&c), 2, &counts(&[8, 8]), None, &options, &Cancel::never(), &|_| ())
                .unwrap()
        });
        (bound.end, bound.value.to_bits(), bound.nodes, bound.open)
    };
    let mut nodes = Vec::new();
    for work in [1_000_000, 20_000_000, 100_000_000] {
        let (one, three) = (run(1, work), run(3, work));
        assert_eq!(one, three);
        assert!(one.0 == End::Limit && f64::from_bits(one.1) <= -0.5 * 6.391770743);
        nodes.push(one.2);
    }
    assert!(nodes.is_sorted() && nodes[0] < nodes[2], "{nodes:?}");
}
