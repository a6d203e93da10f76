//! Proofs for limits on nonzeros: golden values, all supports of small matrices, ends, what is not believed.

use orthopt::bound::{Bound, End, Kind, Method, Options, Proof, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::constraint::stiefel::{feasibility, orthonormalise};
use orthopt::family::Family;
use orthopt::linalg::RowMat;
use orthopt::linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use orthopt::problem::{Cardinality, CardinalityProblem};
use orthopt::smooth::{AnySmooth, DenseQuadratic, Smooth};
use orthopt_data::Matrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn negative(c: &RowMat) -> AnySmooth {
    AnySmooth::Dense(DenseQuadratic::negative(c.as_mat()).unwrap())
}

fn pitprops() -> RowMat {
    let data = orthopt_data::load("builtin:pitprops", &Default::default()).unwrap();
    let Matrix::Dense(c) = data.matrix else { panic!("a dense table") };
    RowMat::from_mat(c.as_ref())
}

fn bound(c: &RowMat, r: usize, kind: &Kind, nodes: u64) -> Bound {
    let options = Options { nodes, ..Options::default() };
    lower_bound(&negative(c), r, kind, None, &options, &Cancel::never(), &|_| ()).unwrap()
}

fn counts(list: &[usize]) -> Kind {
    Kind::Counts { nonzeros: list.to_vec(), lambda: 0.0 }
}

fn rows(rows: usize) -> Kind {
    Kind::Rows { rows, lambda: 0.0 }
}

fn total(nonzeros: usize) -> Kind {
    Kind::Total { nonzeros, lambda: 0.0 }
}

/// True if X keeps to the limits.
fn keeps(kind: &Kind, x: &RowMat) -> bool {
    let column = |k: usize| (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).count();
    match kind {
        Kind::Counts { nonzeros, .. } => nonzeros.iter().enumerate().all(|(k, most)| column(k) <= *most),
        Kind::Total { nonzeros, .. } => (0..x.ncols()).map(column).sum::<usize>() <= *nonzeros,
        Kind::Rows { rows, .. } => {
            (0..x.nrows()).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).count() <= *rows
        }
        _ => false,
    }
}

/// A proof of −2F = `known`.
fn assert_proved(c: &RowMat, r: usize, kind: &Kind, known: f64) -> Bound {
    let found = bound(c, r, kind, 20_000);
    assert_eq!(found.proof, Some(Proof::Optimal), "{kind:?}: {:?} after {} nodes", found.gap, found.nodes);
    let (value, f) = (-2.0 * found.value, -2.0 * found.objective.unwrap());
    assert!((value - known).abs() <= 2e-9 * known && value >= f, "r {r} {kind:?}: {value} {f} {known}");
    let x = found.x.as_ref().unwrap();
    assert!(feasibility(x) <= 1e-12 && keeps(kind, x));
    assert!((-2.0 * negative(c).value(x) - f).abs() <= 1e-12 * f);
    found
}

#[test]
fn pitprops_one_component_is_proved_for_every_limit() {
    let known = [
        1.0,
        1.954,
        2.475331353,
        2.937478947,
        3.406154947,
        3.770959552,
        3.996189645,
        4.068607327,
        4.138646907,
        4.172637662,
        4.208275954,
        4.218245186,
        4.218632853,
    ];
    let c = pitprops();
    for (k, known) in known.into_iter().enumerate() {
        let found = assert_proved(&c, 1, &counts(&[k + 1]), known);
        assert!(found.nodes <= 20, "k = {}: {} nodes", k + 1, found.nodes);
        assert_proved(&c, 1, &total(k + 1), known);
        assert_proved(&c, 1, &rows(k + 1), known);
    }
}

#[test]
fn pitprops_rows_are_proved() {
    let two = [
        2.0,
        2.956827828,
        3.838597274,
        4.391046074,
        4.936191302,
        5.439279190,
        5.862139628,
        6.131072863,
        6.373541578,
        6.503617931,
        6.555678895,
    ];
    let three = [
        3.0,
        3.958842960,
        4.910418037,
        5.758032242,
        6.387629614,
        6.937361852,
        7.393409800,
        7.828490177,
        8.157873377,
        8.411599348,
    ];
    let c = pitprops();
    for (r, known) in [(2, &two[..]), (3, &three[..])] {
        for (s, known) in known.iter().enumerate() {
            let found = assert_proved(&c, r, &rows(r + s), *known);
            assert!(found.nodes <= 40, "r = {r}, s = {}: {} nodes", r + s, found.nodes);
        }
    }
}

#[test]
fn pitprops_columns_are_proved() {
    let c = pitprops();
    let supports = |x: &RowMat| -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> =
            (0..x.ncols()).map(|k| (0..13).filter(|i| x.get(*i, k) != 0.0).collect()).collect();
        sets.sort();
        sets
    };
    for (k, known) in [(2, 3.836), (3, 4.678843949), (4, 5.255158433), (5, 5.710358055)] {
        let found = assert_proved(&c, 2, &counts(&[k, k]), known);
        if k == 5 {
            assert_eq!(supports(found.x.as_ref().unwrap()), [vec![0, 1, 7, 8, 9], vec![3, 4, 5, 6, 12]]);
        }
    }
    assert_proved(&c, 3, &counts(&[3, 3, 3]), 6.639648830);
}

#[test]
fn pitprops_totals_are_proved() {
    let c = pitprops();
    for (r, most, known) in [(2, 6, 4.819478947), (2, 10, 5.956994526), (3, 9, 7.006545723)] {
        assert_proved(&c, r, &total(most), known);
    }
}

/// All subsets of a size.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let of = |mask: u32| (0..n).filter(|i| mask >> i & 1 == 1).collect::<Vec<_>>();
    (0u32..1 << n).filter(|m| m.count_ones() as usize == size).map(of).collect()
}

fn principal(c: &RowMat, set: &[usize]) -> RowMat {
    RowMat::from_fn(set.len(), set.len(), |a, b| c.get(set[a], set[b]))
}

fn leading(c: &RowMat, set: &[usize], r: usize) -> f64 {
    symmetric_eigenvalues(&principal(c, set)).unwrap()[..r].iter().sum()
}

/// The best leading eigenvectors on s rows.
fn best_rows(c: &RowMat, r: usize, s: usize) -> f64 {
    let sets = subsets(c.nrows(), s);
    sets.iter().map(|set| leading(c, set, r)).fold(f64::NEG_INFINITY, f64::max)
}

/// A large tr XᵀCX of columns on these sets: exactly the largest where they are disjoint, else from many starts one column
/// after the other.
fn on_sets(c: &RowMat, sets: &[&Vec<usize>], rng: &mut Pcg64) -> f64 {
    let meets = |p: usize, q: usize| sets[p].iter().any(|i| sets[q].contains(i));
    let pairs = (0..sets.len()).flat_map(|p| (0..p).map(move |q| (p, q)));
    if !pairs.into_iter().any(|(p, q)| meets(p, q)) {
        return sets.iter().map(|set| leading(c, set, 1)).sum();
    }
    let n = c.nrows();
    let mut best = f64::NEG_INFINITY;
    for _ in 0..4 {
        let mut x = RowMat::zeros(n, sets.len());
        let (mut value, mut feasible) = (f64::NEG_INFINITY, true);
        for sweep in 0..30 {
            let mut now = 0.0;
            for (p, set) in sets.iter().enumerate() {
                // the block in the complement of the other columns, each pushed far down
                let mut m = principal(c, set);
                if sweep == 0 && p == 0 {
                    let direction: Vec<f64> = set.iter().map(|_| rng.random::<f64>() - 0.5).collect();
                    let push = |a: usize, b: usize| 10.0 * direction[a] * direction[b];
                    m = RowMat::from_fn(set.len(), set.len(), |a, b| m.get(a, b) + push(a, b));
                }
                for q in (0..sets.len()).filter(|q| *q != p) {
                    let y: Vec<f64> = set.iter().map(|i| x.get(*i, q)).collect();
                    let size: f64 = y.iter().map(|v| v * v).sum();
                    if size > 1e-14 {
                        m = RowMat::from_fn(set.len(), set.len(), |a, b| {
                            m.get(a, b) - 1e7 * y[a] * y[b] / size
                        });
                    }
                }
                let (_, v) = symmetric_eigenpairs(&m).unwrap();
                (0..n).for_each(|i| x.set(i, p, 0.0));
                set.iter().enumerate().for_each(|(a, i)| x.set(*i, p, v.get(a, 0)));
            }
            for p in 0..sets.len() {
                for i in 0..n {
                    (0..n).for_each(|j| now += x.get(i, p) * c.get(i, j) * x.get(j, p));
                }
            }
            feasible = feasibility(&x) <= 1e-5;
            if (now - value).abs() <= 1e-12 * now.abs() {
                break;
            }
            value = now;
        }
        if feasible {
            best = best.max(value);
        }
    }
    best
}

/// A large value of columns with k_p nonzeros, over all sets.
fn best_columns(c: &RowMat, list: &[usize], rng: &mut Pcg64) -> f64 {
    let n = c.nrows();
    let families: Vec<Vec<Vec<usize>>> = list.iter().map(|k| subsets(n, *k)).collect();
    let mut best = f64::NEG_INFINITY;
    let mut at = vec![0usize; list.len()];
    loop {
        let sets: Vec<&Vec<usize>> = at.iter().zip(&families).map(|(a, f)| &f[*a]).collect();
        let apart: f64 = sets.iter().map(|set| leading(c, set, 1)).sum();
        if best.is_infinite() || apart > best + 1e-9 * best.abs() {
            best = best.max(on_sets(c, &sets, rng));
        }
        let Some(p) = (0..at.len()).find(|p| at[*p] + 1 < families[*p].len()) else { return best };
        at[p] += 1;
        at[..p].fill(0);
    }
}

/// Matrices of every sort.
fn matrices(n: usize, seed: u64) -> Vec<(&'static str, RowMat)> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut normal = |rows: usize| RowMat::from_fn(rows, n, |_, _| 2.0 * rng.random::<f64>() - 1.0);
    let gram = |a: &RowMat| orthopt::linalg::products::gram(a);
    let full = normal(n + 3);
    let square = normal(n);
    let indefinite = RowMat::from_fn(n, n, |i, j| square.get(i, j) + square.get(j, i));
    let doubled = RowMat::from_fn(n + 3, n, |i, j| full.get(i, j / 2));
    let gap = RowMat::from_fn(n + 3, n, |i, j| if j % 3 == 1 { 0.0 } else { full.get(i, j) });
    let below = gram(&full);
    let identity = |d: f64, o: f64| RowMat::from_fn(n, n, |i, j| if i == j { d } else { o });
    vec![
        ("definite", gram(&full)),
        ("indefinite", indefinite),
        ("negative", RowMat::from_fn(n, n, |i, j| -below.get(i, j))),
        ("rank one", gram(&normal(1))),
        ("twice the same rows", gram(&doubled)),
        ("rows of zeros", gram(&gap)),
        ("identity", identity(1.0, 0.0)),
        ("ties", identity(1.0, 0.5)),
        ("signs", RowMat::from_fn(n, n, |i, j| if (i + j) % 2 == 0 { 1.0 } else { -0.5 })),
        ("zero", RowMat::zeros(n, n)),
    ]
}

/// Never above the best of all sets, and not far below.
#[test]
fn rows_of_small_matrices_are_proved() {
    for (seed, n) in [(1, 8), (2, 6), (3, 5)] {
        for (name, c) in matrices(n, seed) {
            for (r, s) in [(1, 1), (1, 3), (1, n - 1), (2, 2), (2, 4), (3, 4), (3, n)] {
                if s < r || s > n {
                    continue;
                }
                let best = best_rows(&c, r, s);
                let size = c.norm();
                for kind in if r == 1 { vec![counts(&[s]), total(s), rows(s)] } else { vec![rows(s)] } {
                    let found = bound(&c, r, &kind, 5000);
                    let most = -2.0 * found.value;
                    assert!(most >= best - 1e-13 * size, "{name} {kind:?}: {most} {best}");
                    assert!(
                        most <= best + 2e-9 * best.abs() + 1e-12 * size + 1e-300,
                        "{name} n {n} r {r} {kind:?}: {most} {best}"
                    );
                }
            }
        }
    }
}

/// A matrix of one variable, and limits that are none.
#[test]
fn the_smallest_cases_are_proved() {
    let one = RowMat::from_fn(1, 1, |_, _| 3.0);
    for kind in [counts(&[1]), counts(&[5]), total(1), rows(4)] {
        let found = bound(&one, 1, &kind, 100);
        assert!((found.value + 1.5).abs() <= 1e-9 && found.proof.is_some(), "{kind:?} {}", found.value);
    }
    let (_, c) = matrices(5, 8).swap_remove(0);
    for (r, kind) in [(5, counts(&[5; 5])), (5, rows(5)), (5, total(25)), (2, counts(&[5, 5]))] {
        let found = bound(&c, r, &kind, 300).value;
        let known = -0.5 * leading(&c, &[0, 1, 2, 3, 4], r);
        assert!(
            found <= known + 1e-13 && known - found <= 1e-2 * known.abs(),
            "{r} {kind:?}: {found} {known}"
        );
    }
}

/// Sets may meet here: the bound may stay open, but it is never below what columns can have.
#[test]
fn columns_of_small_matrices_are_bounded() {
    let mut rng = Pcg64::seed_from_u64(11);
    let (mut proved, mut all) = (0, 0);
    for (seed, n) in [(4, 6), (5, 7)] {
        for (name, c) in matrices(n, seed) {
            for list in [vec![2, 2], vec![3, 2], vec![3, 3], vec![1, 4], vec![2, 2, 2]] {
                if list.len() == 3 && n > 6 {
                    continue;
                }
                let best = best_columns(&c, &list, &mut rng);
                let found = bound(&c, list.len(), &counts(&list), 2000);
                let most = -2.0 * found.value;
                let size = c.norm();
                assert!(most >= best - 1e-6 * size, "{name} n {n} {list:?}: {most} {best}");
                let x = found.x.as_ref().unwrap();
                assert!(keeps(&counts(&list), x) && feasibility(x) <= 1e-12);
                if found.proof.is_some() {
                    let f = -2.0 * found.objective.unwrap();
                    assert!(f >= best - 1e-6 * size, "{name} {list:?}: {f} is proved, {best} is better");
                    proved += 1;
                }
                assert!(most <= best + 0.1 * size + 1e-300, "{name} {list:?}: {most} {best}");
                all += 1;
            }
        }
    }
    assert!(10 * proved >= 7 * all, "{proved} of {all}");
}

#[test]
fn totals_of_small_matrices_are_bounded() {
    let mut rng = Pcg64::seed_from_u64(12);
    for (name, c) in matrices(6, 6) {
        for (r, most, lists) in [
            (2, 4, vec![vec![3, 1], vec![2, 2]]),
            (2, 5, vec![vec![4, 1], vec![3, 2]]),
            (3, 4, vec![vec![2, 1, 1]]),
        ] {
            let best = lists.iter().map(|list| best_columns(&c, list, &mut rng)).fold(f64::MIN, f64::max);
            let found = bound(&c, r, &total(most), 2000);
            let (bound, size) = (-2.0 * found.value, c.norm());
            assert!(bound >= best - 1e-6 * size, "{name} {r} {most}: {bound} {best}");
            if found.proof.is_some() {
                assert!(-2.0 * found.objective.unwrap() >= best - 1e-6 * size, "{name} {r} {most}");
            }
        }
    }
}

#[test]
fn scales_cancel() {
    let (_, c) = matrices(9, 7).swap_remove(0);
    for (r, kind) in [(1, counts(&[4])), (2, rows(4)), (2, counts(&[3, 3])), (2, total(6))] {
        let known = bound(&c, r, &kind, 200);
        for scale in [2f64.powi(-40), 2f64.powi(40), 2f64.powi(-800), 2f64.powi(800)] {
            let scaled = RowMat::from_fn(9, 9, |i, j| scale * c.get(i, j));
            let found = bound(&scaled, r, &kind, 200);
            assert_eq!((found.nodes, found.open), (known.nodes, known.open), "{kind:?} {scale:e}");
            assert!((found.value / scale - known.value).abs() <= 1e-12 * known.value.abs());
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let c = pitprops();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [(1, counts(&[8])), (2, counts(&[6, 6])), (3, rows(5)), (2, total(8))].map(|(r, kind)| {
                let found = bound(&c, r, &kind, 60);
                (found.value.to_bits(), found.nodes, found.open, found.objective.map(f64::to_bits))
            })
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn ends_with_the_best_bound_so_far() {
    let c = pitprops();
    let f = negative(&c);
    let (kind, best) = (counts(&[6, 6]), -0.5 * 5.95);
    let ask = |calls: usize, nodes: u64| {
        let count = std::sync::atomic::AtomicUsize::new(0);
        let cancel = Cancel::when(move || count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= calls);
        let options = Options { nodes, ..Options::default() };
        lower_bound(&f, 2, &kind, None, &options, &cancel, &|_| ()).unwrap()
    };
    for calls in [0, 1, 2, 3, 5, 9, 20, 60] {
        let found = ask(calls, u64::MAX);
        assert_eq!((found.end, found.proof), (End::Interrupted, None), "{calls}");
        assert!(found.value.is_finite() && found.value <= best, "{calls}: {}", found.value);
    }
    for nodes in [1, 2, 9] {
        let found = ask(usize::MAX, nodes);
        assert!(found.end == End::Limit && found.open > 0, "{nodes}: {:?}", found.end);
        assert!(found.value <= best && found.value >= -0.5 * 6.559, "{nodes}: {}", found.value);
    }
    let options = Options { nodes: u64::MAX, seconds: Some(0.0), ..Options::default() };
    let found = lower_bound(&f, 2, &kind, None, &options, &Cancel::never(), &|_| ()).unwrap();
    assert!(found.end == End::Time && found.value <= best);
}

/// X that has too many nonzeros is refused; one that is bad, or orthonormal to 1e-7 only, is not what is proved.
#[test]
fn a_wrong_incumbent_is_never_proved() {
    let c = pitprops();
    let f = negative(&c);
    let options = Options { nodes: 20_000, ..Options::default() };
    let (_, v) = symmetric_eigenpairs(&c).unwrap();
    let first = |r: usize| RowMat::from_fn(13, r, |i, k| v.get(i, k));
    for (r, kind, known) in [
        (1, counts(&[5]), 3.406154947),
        (2, rows(4), 3.838597274),
        (2, counts(&[3, 3]), 4.678843949),
        (2, total(6), 4.819478947),
    ] {
        let full = first(r);
        let plain = RowMat::from_fn(13, r, |i, k| f64::from(u8::from(i == k)));
        let longer = RowMat::from_fn(13, r, |i, k| if i == k { 1.0 + 1e-7 } else { 0.0 });
        assert!(lower_bound(&f, r, &kind, Some(&full), &options, &Cancel::never(), &|_| ()).is_err());
        for x in [&plain, &longer] {
            let found = lower_bound(&f, r, &kind, Some(x), &options, &Cancel::never(), &|_| ()).unwrap();
            assert_eq!(found.proof, Some(Proof::Optimal), "{kind:?}");
            let objective = -2.0 * found.objective.unwrap();
            assert!((objective - known).abs() <= 2e-9 * known, "{kind:?}: {objective} {known}");
            assert!(keeps(&kind, found.x.as_ref().unwrap()));
        }
    }
    // a good one is kept as it is
    let found = bound(&c, 1, &counts(&[5]), 100);
    let (x, value) = (found.x.unwrap(), found.objective.unwrap());
    let again = lower_bound(&f, 1, &counts(&[5]), Some(&x), &options, &Cancel::never(), &|_| ()).unwrap();
    assert!(again.proof.is_some() && again.x.is_none() && again.objective == Some(value));
}

/// Every X that is drawn at random on sets of rows is above the bound.
#[test]
fn no_x_is_below_the_bound() {
    let mut rng = Pcg64::seed_from_u64(21);
    for (name, c) in matrices(12, 9) {
        let f = negative(&c);
        for (r, kind, k) in
            [(1, counts(&[4]), 4), (2, counts(&[4, 4]), 4), (2, rows(4), 4), (3, total(12), 4)]
        {
            let found = bound(&c, r, &kind, 12).value;
            for _ in 0..200 {
                // r columns on the same k rows keep to all limits here
                let mut set: Vec<usize> = (0..12).collect();
                (0..12).for_each(|i| set.swap(i, rng.random_range(0..12)));
                let q = orthonormalise(&RowMat::from_fn(k, r, |_, _| rng.random::<f64>() - 0.5));
                let mut x = RowMat::zeros(12, r);
                (0..k).for_each(|a| (0..r).for_each(|p| x.set(set[a], p, q.get(a, p))));
                assert!(keeps(&kind, &x) && f.value(&x) >= found - 1e-12 * c.norm(), "{name} {kind:?}");
            }
        }
    }
}

/// X ≥ 0 is not known to the search, whose X have any signs: nothing of it is taken.
#[test]
fn signs_are_not_forgotten() {
    let square = |i: usize, j: usize| if (i + j).is_multiple_of(2) { 1.0 } else { -0.6 };
    let c = RowMat::from_fn(6, 6, |i, j| square(i, j) + if i == j { 1.0 } else { 0.0 });
    for (r, limits) in
        [(1, Cardinality::Components(vec![4])), (2, Cardinality::Total(5)), (2, Cardinality::Rows(4))]
    {
        let options = Options { nodes: 1000, ..Options::default() };
        let of = |nonneg: bool| {
            let p = CardinalityProblem::new(negative(&c), r, limits.clone(), 0.0, nonneg).unwrap();
            p.lower_bound(None, &options, &Cancel::never(), &|_| ()).unwrap()
        };
        let (with, without) = (of(true), of(false));
        assert!(with.x.is_none() && with.objective.is_none() && with.proof.is_none(), "{limits:?}");
        assert!(without.x.is_some() && with.value <= without.value + 1e-8, "{limits:?}");
        if r == 1 {
            let x = without.x.unwrap(); // three rows of one sign and one of the other
            assert!(x.data().iter().any(|v| *v > 1e-3) && x.data().iter().any(|v| *v < -1e-3));
        }
    }
}

/// Problems without proofs of this kind keep the bound of the relaxation.
#[test]
fn a_price_of_nonzeros_keeps_the_relaxation() {
    let c = pitprops();
    let kind = Kind::Counts { nonzeros: vec![5], lambda: 0.01 };
    let (with, without) = (bound(&c, 1, &kind, 1000), bound(&c, 1, &kind, 0));
    assert_eq!((with.value.to_bits(), with.method), (without.value.to_bits(), Method::Fantope));
    assert!(with.value <= -0.5 * 3.406154947 + 0.05);
}
