//! Cross-validation by cells on small tables, where C of a fold is no covariance of any rows.

use crate::common::gaussian;
use faer::Mat;
use orthopt::cancel::Cancel;
use orthopt::family::{Effort, Request, find_problem};
use orthopt::path::{Along, By, Folds, PathRequest, Validation, Watch, cross_validate};
use orthopt::problem::PcaData;
use orthopt::report::DataFacts;
use orthopt::smooth::Centring;
use orthopt::solve::Stopping;

/// The validation of r components with these counts, a tenth of the cells left out at a time.
fn validated(a: &Mat<f64>, rank: usize, counts: &[usize], seed: u64) -> Validation {
    let data = PcaData::Centred(a.as_ref(), Centring::of(a.as_ref()));
    let facts = DataFacts::of(&data);
    let request = PathRequest {
        problem: find_problem("l0-pca").unwrap(),
        options: Request {
            rank: Some(rank.into()),
            effort: Some(Effort::Quick),
            seed: Some(seed),
            ..Default::default()
        },
        along: Along::Counts(counts.to_vec()),
        stopping: Stopping { max_iters: Some(2000), time_limit: None, tol: 1e-9, min_decrease: 0.0 },
    };
    let mut watch = Watch { cancel: &Cancel::never(), observers: &mut [], stage: &mut |_, _| {} };
    let folds = Folds { count: 10, by: By::Cells };
    cross_validate(&data, &facts, &request, folds, &mut watch).unwrap().unwrap()
}

/// m × n: the kinds of tables whose C of a fold has negative eigenvalues, or none but noise.
fn table(kind: &str, m: usize, n: usize) -> Mat<f64> {
    let noise = gaussian(m, n, 7);
    match kind {
        "noise" => noise,
        "factors" => gaussian(m, 3, 8) * gaussian(3, n, 9) + noise,
        "low rank" => gaussian(m, 2, 8) * gaussian(2, n, 9),
        "repeated columns" => Mat::from_fn(m, n, |i, j| noise[(i, j % n.div_ceil(2))]),
        "constant column" => Mat::from_fn(m, n, |i, j| if j == 1 { 3.0 } else { noise[(i, j)] }),
        _ => {
            let factors = gaussian(m, 3, 8) * gaussian(3, n, 9);
            Mat::from_fn(m, n, |i, j| (noise[(i, j)] + factors[(i, j)]) * 4f64.powi(j as i32 % 4 - 2))
        }
    }
}

/// What is predicted of cells is hardly ever worse than their mean, and never by much.
#[test]
fn shares_of_cells_stay_in_a_sane_range() {
    let kinds = ["noise", "factors", "low rank", "repeated columns", "constant column", "units"];
    for kind in kinds {
        let (m, n, rank) = (20, 10, 4);
        let found = validated(&table(kind, m, n), rank, &[2, n], 0);
        for (share, error) in found.mean.iter().zip(&found.error) {
            assert!(*share > -0.5 && *share <= 1.0 && error.is_finite(), "{kind} {m} {n}: {found:?}");
        }
    }
}

/// Components of planted factors predict cells, and another assignment of cells to folds chooses the same.
#[test]
fn planted_factors_are_chosen_whatever_the_folds_are() {
    let noise = gaussian(60, 12, 3);
    let scores = gaussian(60, 3, 4);
    let a = Mat::from_fn(60, 12, |i, j| scores[(i, j / 4)] + 0.5 * noise[(i, j)]);
    for seed in [0, 1, 2] {
        let found = validated(&a, 3, &[1, 2, 4, 12], seed);
        assert!(found.mean[2] > 0.6 && found.chosen == 2, "{seed}: {found:?}");
    }
}
