//! Plain PCA at its optimum, against the dense eigendecomposition.

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::criticality;
use orthopt::family::{Family, Request};
use orthopt::penalty::{AnyPenalty, NoPenalty};
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage};
use orthopt::smooth::{AnySmooth, DenseGram, DenseQuadratic, Quadratic};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt::start::Start;
use orthopt_linalg::block_krylov::BlockKrylov;
use orthopt_linalg::block_krylov::Found;
use orthopt_linalg::eigen::symmetric_eigenpairs;

use crate::common::{gaussian, gaussian_rows, sparse, thinned};

const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

fn solved(p: &PcaProblem, wanted: &Request) -> Solution {
    let plan = p.plan(wanted).unwrap();
    assert_eq!(plan.names(), "spectral");
    plan.run(p, wanted, &STOPPING, None, &Cancel::never(), &mut []).unwrap()
}

/// The eigenvalues of C, descending.
fn spectrum(p: &PcaProblem) -> Vec<f64> {
    let n = p.nrows();
    let mut c = p.f.apply(&RowMat::from_fn(n, n, |i, k| f64::from(u8::from(i == k))));
    c.data_mut().iter_mut().for_each(|v| *v = -*v);
    symmetric_eigenpairs(&c).unwrap().0
}

/// The default ends at the optimum, critical and feasible to rounding, after one start.
fn check(title: &str, p: &PcaProblem) {
    let s = solved(p, &Request { seed: Some(3), ..Default::default() });
    let values = spectrum(p);
    let scale = values.iter().fold(0.0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
    let optimum = -0.5 * values[..p.rank()].iter().sum::<f64>();
    let known = matches!(s.status, Status::Optimal | Status::Converged); // as much work proves it, or not
    assert!(known && s.starts == 1, "{title}: {:?} {}", s.status, s.message);
    assert!((s.objective.total - optimum).abs() <= 1e-12 * scale, "{title}: {} {optimum}", s.objective.total);
    assert!(s.feasibility <= 1e-13, "{title}: {:e}", s.feasibility);
    assert!(criticality(p, &s.x) <= 1e-11 * scale, "{title}: {:e}", criticality(p, &s.x) / scale);
    let known = p.known_optimum().unwrap();
    assert!((known - optimum).abs() <= 1e-12 * scale, "{title}: {known} {optimum}");
}

fn given(c: AnySmooth, r: usize) -> PcaProblem {
    Problem::new(c, AnyPenalty::None(NoPenalty), r).unwrap()
}

/// −½ tr(XᵀCX) with C = diag(values).
fn diagonal(values: &[f64], r: usize) -> PcaProblem {
    let n = values.len();
    let c = faer::Mat::from_fn(n, n, |i, k| if i == k { values[i] } else { 0.0 });
    given(AnySmooth::Dense(DenseQuadratic::negative(c.as_ref()).unwrap()), r)
}

#[test]
fn every_shape_and_storage_ends_at_the_optimum() {
    for (m, n, r) in [(30, 400, 5), (500, 40, 4), (250, 260, 7), (20, 130, 20), (15, 150, 18), (3, 2, 1)] {
        let dense = gaussian(m, n, 5);
        let thin = sparse(&thinned(m, n, 0.1, 6));
        let means = Some(crate::common::means(&thin));
        for storage in [Storage::Auto, Storage::Dense, Storage::Gram] {
            let pose =
                |data: &PcaData<'_>| orthopt::family::pca_problem("pca", data, r, 0.0, storage).unwrap();
            check(&format!("{m} {n} {r} {storage:?}"), &pose(&PcaData::Dense(dense.as_ref())));
            check(&format!("sparse {m} {n} {r} {storage:?}"), &pose(&PcaData::Sparse(thin.as_ref(), None)));
            check(
                &format!("means {m} {n} {r} {storage:?}"),
                &pose(&PcaData::Sparse(thin.as_ref(), means.clone())),
            );
        }
    }
}

#[test]
fn multiple_and_close_eigenvalues_are_all_found() {
    let n = 300;
    let with = |head: &[f64], tail: f64| -> Vec<f64> {
        (0..n).map(|i| head.get(i).copied().unwrap_or(tail * (1.0 - i as f64 / n as f64))).collect()
    };
    check("one", &diagonal(&with(&[], 0.0), 3));
    check("a multiple of I", &diagonal(&vec![2.0; n], 4));
    check("double", &diagonal(&with(&[3.0, 3.0], 1.0), 2));
    check("fourfold", &diagonal(&with(&[3.0, 3.0, 3.0, 3.0, 2.0], 1.0), 4));
    check("cut", &diagonal(&with(&[3.0, 2.0, 2.0, 2.0], 1.0), 2));
    check("close", &diagonal(&with(&[3.0, 3.0 - 1e-9, 3.0 - 2e-9], 1.0), 2));
    check("no gap", &diagonal(&with(&[], 1.0), 5));
    check("indefinite", &diagonal(&(0..n).map(|i| 1.0 - 3.0 * (i as f64 / n as f64)).collect::<Vec<_>>(), 3));
    check("negative", &diagonal(&with(&[], -5.0), 3));
}

#[test]
fn an_invariant_starting_point_is_left() {
    // the first coordinates span an invariant subspace, and not the best one
    let p = diagonal(&(0..200).map(|i| 1.0 + i as f64).collect::<Vec<_>>(), 3);
    for start in ["identity", "coordinates", "pca", "random"] {
        let start = Some(Start::named(start));
        let s = solved(&p, &Request { init: start.map(Into::into), ..Default::default() });
        assert!((s.objective.total + 0.5 * (200.0 + 199.0 + 198.0)).abs() <= 1e-10, "{}", s.objective.total);
    }
}

#[test]
fn options_of_pairs_and_linear_terms_are_for_others() {
    let p = diagonal(&[3.0, 2.0, 1.0], 1);
    let wanted = Request { block: Some(2), ..Default::default() };
    assert_eq!(p.plan(&wanted).unwrap().names(), "obcd");
    let a = gaussian(4, 6, 1);
    let f = DenseGram::new(a.as_ref()).with_linear(gaussian_rows(6, 2, 2)).unwrap();
    let p = given(AnySmooth::DenseGram(f), 2);
    assert_eq!(
        (p.plan(&Request::default()).unwrap().names().as_str(), p.known_optimum()),
        ("lbfgs+obcd", None)
    );
    let named = Request { solver: Some("spectral".into()), ..Default::default() };
    assert!(p.plan(&named).unwrap_err().to_string().contains("spectral is for"));
}

#[test]
fn ritz_values_rise_and_the_basis_stays_orthonormal_over_restarts() {
    // evenly spaced: many restarts. Closer together at the top, 1 - (i/n)^2, it takes ten thousand steps
    let n = 600;
    let d: Vec<f64> = (0..n).map(|i| 1.0 - i as f64 / n as f64).collect();
    let times = |b: &RowMat| RowMat::from_fn(n, b.ncols(), |i, k| d[i] * b.get(i, k));
    let first = orthopt_core::constraint::stiefel::orthonormalise(&gaussian_rows(n, 3, 1));
    let mut krylov = BlockKrylov::new(&first, 3);
    let (mut last, mut steps) = (0.0, 0);
    loop {
        steps += 1;
        let found = krylov.step(times);
        assert_ne!(found, Found::Broken);
        if let Some((values, x)) = krylov.leading() {
            let sum: f64 = values.iter().sum();
            assert!(sum >= last - 1e-12, "step {steps}: {sum} after {last}");
            assert!(orthopt_core::constraint::stiefel::feasibility(&x) <= 1e-12, "step {steps}");
            last = sum;
        }
        if matches!(found, Found::Residual(residual) if residual <= 1e-12) {
            break;
        }
        assert!(steps < 2000, "{found:?}");
    }
    assert!(steps > 15, "no restart in {steps} steps");
    assert!((last - d[..3].iter().sum::<f64>()).abs() <= 1e-12, "{last}");
}
