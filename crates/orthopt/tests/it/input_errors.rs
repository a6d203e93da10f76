//! Wrong input is refused with a message that says what is wrong, where, and what would do.

use crate::common::{PROBLEMS, gaussian, sparse};
use faer::Mat;
use orthopt::Error;
use orthopt::RowMat;
use orthopt::family::find_problem;
use orthopt::penalty::{NoPenalty, PENALTIES};
use orthopt::problem::{PcaData, Problem, Storage, covariance_model};
use orthopt::smooth::{DenseGram, DenseQuadratic, SparseGram};
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::{Candidates, Obcd, ObcdOptions, WorkingSet};
use orthopt::start::Start;

#[test]
fn ranks_lambdas_and_names() {
    let a = gaussian(5, 4, 1);
    let data = PcaData::Dense(a.as_ref());
    let said = |name: &str, rank, lambda| {
        orthopt::family::pca_problem(name, &data, rank, lambda, Storage::Auto).unwrap_err().to_string()
    };
    for (name, _) in PROBLEMS {
        assert_eq!(
            said(name, 0, 1.0),
            "rank 0 is too small for the 4 columns of the data: choose a rank from 1 to 4"
        );
        assert_eq!(said(name, 5, 1.0), "rank 5 exceeds the 4 columns of the data: choose a rank from 1 to 4");
    }
    for name in ["l0-pca", "l1-pca"] {
        for (bad, shown) in
            [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")]
        {
            assert_eq!(said(name, 2, bad), format!("lambda is {shown}: expected a finite number >= 0"));
        }
        assert!(orthopt::family::pca_problem(name, &data, 2, 0.0, Storage::Auto).is_ok());
    }
    assert_eq!(
        said("sparse-pca", 2, 1.0),
        "there is no problem 'sparse-pca'; choose one of: l0-pca, l1-pca, l21-pca, nonneg-pca, onmf, pca, mcp-pca, scad-pca, dc-pca, capped-l1-pca, fused-pca, hyperbolic-eig, probe, nonlinear-eig, procrustes, brockett, ica, dictionary, robust-subspace; sparse pca is l0-pca"
    );
    assert!(said("nonnegative_PCA", 2, 1.0).ends_with("; nonnegative pca is nonneg-pca"));
    for data in ["wine.csv", "builtin:pitprops"] {
        assert!(said(data, 2, 1.0).ends_with(&format!("; it comes before the data: l0-pca {data}")));
    }
    assert!(said("l0-pac", 2, 1.0).contains("(did you mean 'l0-pca'?)"));
    assert!(said("xyz", 2, 1.0).starts_with("there is no problem 'xyz'; choose one of: "));
    assert!(said("probe", 2, 0.0).contains("probe is not f + h"));
    assert!(find_problem("pca").is_ok());
    assert_eq!(
        Start::parse("zeros").unwrap_err().to_string(),
        "there is no starting point 'zeros'; choose one of: identity, coordinates, pca, varimax, random, partition, or a .npy file"
    );
    assert_eq!(
        WorkingSet::parse("best").unwrap_err().to_string(),
        "there is no working set 'best'; choose one of: random, active, cyclic, greedy-sv, greedy-or"
    );
    let said = |name: &str| Model::parse(name).unwrap_err().to_string();
    assert!(
        said("exact2").starts_with("there is no model 'exact2' (did you mean 'exact'?); choose one of: ")
    );
    assert_eq!(
        Model::parse("full").unwrap_err().to_string(),
        "there is no model 'full'; choose one of: exact, diagonal"
    );
    assert!(PENALTIES.iter().all(|p| !p.doc.is_empty() && (p.make)(1.0).is_ok()));
    let gap = Mat::from_fn(3, 3, |i, j| if (i, j) == (0, 2) { 1.0 } else { 0.0 });
    let data = PcaData::Gram(gap.as_ref());
    let said = orthopt::family::pca_problem("pca", &data, 1, 0.0, Storage::Auto).unwrap_err().to_string();
    assert!(
        said.starts_with("the Gram matrix C is not symmetric: entry (1, 3) is 1 but (3, 1) is 0"),
        "{said}"
    );
}

#[test]
fn options_of_obcd() {
    let said = |o: ObcdOptions| Obcd::new(o).unwrap_err().to_string();
    let d = ObcdOptions::default;
    for (alpha, shown) in [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let expected = format!("alpha is {shown}: expected a finite number > 0 (papers: 1e-5)");
        assert_eq!(said(ObcdOptions { alpha, ..d() }), expected);
    }
    assert_eq!(said(ObcdOptions { block: 1, ..d() }), "block is 1: expected at least 2 rows");
    let none = Some(Candidates::Sample(0));
    assert_eq!(
        said(ObcdOptions { candidates: none, ..d() }),
        "candidates is 0: expected at least 1 pair, or all"
    );
    assert_eq!(Obcd::new(d()).unwrap().options(), &d());
    for name in ["random", "active", "cyclic", "greedy-sv", "greedy-or"] {
        assert_eq!(WorkingSet::parse(name).unwrap().name(), name);
    }
}

#[test]
fn matrices_that_do_not_fit() {
    let mut m = Mat::from_fn(3, 3, |i, j| (i + j) as f64);
    assert!(DenseQuadratic::new(m.as_ref()).is_ok());
    m[(0, 2)] = 5.0;
    let said = DenseQuadratic::new(m.as_ref()).unwrap_err().to_string();
    assert_eq!(said, "the matrix M is not symmetric: entry (1, 3) is 5 but (3, 1) is 2 (counted from 1)");
    m[(1, 0)] = f64::NAN;
    let said = DenseQuadratic::negative(m.as_ref()).unwrap_err().to_string();
    assert_eq!(said, "the Gram matrix C has a value that is not finite in row 2, column 1 (counted from 1)");
    let said = DenseQuadratic::new(Mat::<f64>::zeros(2, 3).as_ref()).unwrap_err().to_string();
    assert_eq!(said, "the matrix M is 2 x 3, expected 2 x 2");

    let a = gaussian(4, 3, 1);
    let short = RowMat::zeros(2, 1);
    let said = DenseGram::new(a.as_ref()).with_linear(short.clone()).unwrap_err().to_string();
    assert_eq!(said, "the linear term E is 2 x 1, expected 3 x 1");
    let mut e = RowMat::zeros(3, 1);
    e.set(1, 0, f64::INFINITY);
    let s = sparse(&a);
    let gram = SparseGram::new(s.as_ref(), None).unwrap();
    assert!(matches!(gram.with_linear(e), Err(Error::NotFinite { row: 2, col: 1, .. })));
    assert!(matches!(SparseGram::new(s.as_ref(), Some(vec![0.0; 2])), Err(Error::Incompatible(_))));
    assert!(matches!(SparseGram::new(s.as_ref(), Some(vec![f64::NAN; 3])), Err(Error::Incompatible(_))));

    let mut bad = a.clone();
    bad[(3, 1)] = f64::NEG_INFINITY;
    for data in [PcaData::Dense(bad.as_ref()), PcaData::Sparse(sparse(&bad).as_ref(), None)] {
        assert!(matches!(
            covariance_model(&data, Storage::Auto),
            Err(Error::NotFinite { row: 4, col: 2, .. })
        ));
    }
    assert!(Storage::parse("sparse").unwrap_err().to_string().ends_with("choose one of: auto, dense, gram"));
}

/// E has as many columns as X, which only the problem knows.
#[test]
fn a_linear_term_of_another_rank_is_refused() {
    let e = || RowMat::from_fn(6, 3, |i, j| (i + j) as f64);
    let f = || DenseQuadratic::new(Mat::<f64>::identity(6, 6).as_ref()).unwrap().with_linear(e()).unwrap();
    assert!(Problem::new(f(), NoPenalty, 3).is_ok());
    assert!(matches!(Problem::new(f(), NoPenalty, 2), Err(Error::Shape { .. })));
    assert!(matches!(Problem::new(f(), NoPenalty, 4), Err(Error::Shape { .. })));
}
