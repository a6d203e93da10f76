//! Generators and built-in tables: shapes, exact repetition, statistics, and bad specifications.

use crate::common::bits;
use faer::Mat;
use orthopt_data::{DataSet, LoadOptions, Matrix, Role, load};

fn make(spec: &str) -> DataSet {
    load(spec, &LoadOptions::default()).unwrap()
}

fn complaint(spec: &str) -> String {
    load(spec, &LoadOptions::default()).unwrap_err().to_string()
}

fn covariance(data: &DataSet) -> Mat<f64> {
    let a = data.matrix.to_dense();
    a.transpose() * &a * faer::Scale(1.0 / a.nrows() as f64)
}

#[test]
fn same_seed_same_bits() {
    for (short, long, other) in [
        ("randn:7:5", "randn:7:5:1", "randn:7:5:2"),
        ("sparse-randn:30:20:50", "sparse-randn:30:20:50:1", "sparse-randn:30:20:50:2"),
        ("spiked:zht:9", "spiked:zht:9:1", "spiked:zht:9:2"),
        ("spiked:9:8:2:3", "spiked:9:8:2:3:20:1", "spiked:9:8:2:3:20:2"),
    ] {
        let data = make(short);
        assert_eq!(data.source, long);
        assert_eq!(bits(&data.matrix), bits(&make(long).matrix));
        assert_ne!(bits(&data.matrix), bits(&make(other).matrix));
        assert_eq!(data.role, Role::Samples);
    }
}

/// The numbers are part of the contract: published results name a specification.
#[test]
fn numbers_do_not_change_between_versions() {
    let first = |spec| make(spec).matrix.to_dense()[(0, 0)];
    assert_eq!(first("randn:3:2"), 1.3339993956274996);
    assert_eq!(first("spiked:zht"), 23.63014782678266);
    assert_eq!(first("spiked:5:6:2:3"), -2.8531850367672718);
    let Matrix::Sparse(sparse) = make("sparse-randn:100:100:3").matrix else { panic!("dense") };
    assert_eq!(sparse.row_idx(), [98, 47, 38]);
    assert_eq!(sparse.val()[0], 0.4909877483388146);
}

#[test]
fn randn_is_drawn_row_by_row() {
    let (few, many) = (make("randn:3:4:5").matrix.to_dense(), make("randn:9:4:5").matrix.to_dense());
    assert_eq!(many.subrows(0, 3), few.as_ref());
    let data = make("randn:20000:2:3");
    let error = covariance(&data) - Mat::<f64>::identity(2, 2);
    assert!(error.norm_max() < 0.03);
    assert!(data.matrix.column_means().iter().all(|mean| mean.abs() < 0.03));
}

#[test]
fn sparse_randn_has_exactly_the_entries_asked_for() {
    for (rows, cols, entries) in [(40, 30, 1), (40, 30, 500), (40, 30, 1199), (40, 30, 1200), (1, 9, 9)] {
        let data = make(&format!("sparse-randn:{rows}:{cols}:{entries}"));
        assert!(data.matrix.is_sparse());
        assert_eq!((data.matrix.nrows(), data.matrix.ncols()), (rows, cols));
        assert_eq!(data.matrix.nnz(), entries);
    }
    let Matrix::Sparse(large) = make("sparse-randn:100000:100000:50000").matrix else { panic!("dense") };
    let above = (0..large.ncols()).flat_map(|j| large.row_idx_of_col(j)).filter(|i| *i < 50_000).count();
    assert!((24_000..26_000).contains(&above), "{above} entries in the upper half");
}

#[test]
fn zht_has_its_covariance() {
    let data = make("spiked:zht:20000");
    assert_eq!(data.names.as_ref().unwrap()[..2], ["X1", "X2"]);
    let found = covariance(&data);
    let v3 = 0.09 * 290.0 + 0.925 * 0.925 * 300.0 + 1.0;
    for (i, j, expected) in [
        (0, 0, 291.0),
        (0, 3, 290.0),
        (4, 7, 300.0),
        (0, 4, 0.0),
        (8, 9, v3),
        (9, 9, v3 + 1.0),
        (0, 8, -0.3 * 290.0),
        (5, 9, 0.925 * 300.0),
    ] {
        assert!((found[(i, j)] - expected).abs() < 12.0, "({i}, {j}): {}", found[(i, j)]);
    }
    let truth = data.truth.unwrap();
    assert_eq!(truth.transpose() * &truth, Mat::<f64>::identity(2, 2));
    assert_eq!((truth[(4, 0)], truth[(0, 1)], truth[(9, 0)]), (0.5, 0.5, 0.0));
}

#[test]
fn spiked_has_its_covariance() {
    let data = make("spiked:20000:12:3:4:8:2");
    let truth = data.truth.as_ref().unwrap();
    assert_eq!(truth.transpose() * truth, Mat::<f64>::identity(3, 3));
    for k in 0..3 {
        assert_eq!((0..12).filter(|&j| truth[(j, k)].abs() == 0.5).count(), 4);
    }
    let variances = truth.transpose() * covariance(&data) * truth;
    for (k, expected) in [9.0, 1.0 + 8.0 * 5.0 / 6.0, 1.0 + 8.0 * 4.0 / 6.0].into_iter().enumerate() {
        assert!((variances[(k, k)] - expected).abs() < 0.3, "d_{k}: {}", variances[(k, k)]);
    }
}

#[test]
fn pitprops() {
    let data = make("builtin:pitprops");
    assert_eq!(data.role, Role::Gram);
    assert_eq!(data.source, "builtin:pitprops");
    let names = data.names.unwrap();
    assert_eq!((names.len(), names[0].as_str(), names[12].as_str()), (13, "topdiam", "diaknot"));
    let c = data.matrix.to_dense();
    assert_eq!(c.shape(), (13, 13));
    orthopt_data::check_symmetric(c.as_ref()).unwrap();
    assert!((0..13).all(|i| c[(i, i)] == 1.0));
    let eigenvalues = c.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    assert!((eigenvalues[12] - 4.2186).abs() < 1e-4 && (eigenvalues[0] - 0.0387).abs() < 1e-4);
}

#[test]
fn laplacians_are_c_itself() {
    for (p, q, data) in
        [(1, 6, make("laplace:6")), (3, 4, make("laplace2:3:4")), (5, 1, make("laplace2:5:1"))]
    {
        assert_eq!(data.role, Role::Gram);
        let diagonal = if data.source.starts_with("laplace:") { 2.0 } else { 4.0 };
        let c = data.matrix.to_dense();
        assert_eq!(c.shape(), (p * q, p * q));
        for i in 0..p * q {
            for j in 0..p * q {
                let steps = (i / q).abs_diff(j / q) + (i % q).abs_diff(j % q);
                let expected = [diagonal, -1.0].get(steps).copied().unwrap_or(0.0);
                assert_eq!(c[(i, j)], expected, "{} at {i}, {j}", data.source);
            }
        }
    }
    assert_eq!(make("laplace2:3:4").source, "laplace2:3:4");
}

#[test]
fn bad_specifications() {
    let randn = "; expected randn:M:N[:SEED]";
    let sparse = "; expected sparse-randn:M:N:NNZ[:SEED]";
    let spiked = "; expected spiked:M:N:R:NNZ[:SNR[:SEED]]";
    for (spec, problem, expected) in [
        ("randn", "M is missing", randn),
        ("randn:", "M is ``, which is not a whole number", randn),
        ("randn:3", "N is missing", randn),
        ("randn:3:x", "N is `x`, which is not a whole number", randn),
        ("randn:3:-1", "N is `-1`, which is not a whole number", randn),
        ("randn:0:4", "M must be at least 1", randn),
        ("randn:3:4:1.5", "SEED is `1.5`, which is not a whole number", randn),
        ("randn:3:4:1:9", "`9` at the end is not expected", randn),
        ("sparse-randn:3:4", "NNZ is missing", sparse),
        ("sparse-randn:3:4:13", "a 3 x 4 matrix cannot hold 13 entries", sparse),
        ("sparse-randn:999999:999999:99999999999", "NNZ is larger than 1073741824 (17 GB)", sparse),
        (
            "spiked:9:5:2:3",
            "2 components with 3 variables each do not fit into 5 variables without overlap; \
             R times NNZ must be at most N",
            spiked,
        ),
        ("spiked:9:5:2:2:-1", "SNR must be a positive number", spiked),
        ("spiked:9:5:2:2:nan", "SNR must be a positive number", spiked),
        ("spiked:zht:0", "M must be at least 1", "; expected spiked:zht[:M[:SEED]]"),
        ("laplace", "N is missing", "; expected laplace:N"),
        ("laplace:9:1", "`1` at the end is not expected", "; expected laplace:N"),
        ("laplace2:3", "Q is missing", "; expected laplace2:P:Q"),
        ("laplace2:3:0", "Q must be at least 1", "; expected laplace2:P:Q"),
        ("laplace2:3x4", "P is `3x4`, which is not a whole number", "; expected laplace2:P:Q"),
        ("laplace2:99999:99999", "99999 x 99999 points are more than 16777216", "; expected laplace2:P:Q"),
        ("builtin:iris", "there is no such table", "; expected builtin:pitprops"),
    ] {
        assert_eq!(complaint(spec), format!("`{spec}`: {problem}{expected}"));
    }
    assert_eq!(
        complaint("randn:1000000:1000000"),
        "randn:1000000:1000000:1: a dense 1000000 x 1000000 matrix takes 8000.0 GB, \
         more than the 17 GB that are allowed"
    );
    assert!(complaint("randn:18446744073709551615:2").contains("more than the 17 GB"));
    assert!(complaint("sparse-randn:3:99999999999:4").contains("99999999999 columns but only 4 entries"));
    assert!(complaint("spiked:4:18446744073709551615:2:3").contains("more than the 17 GB"));
}

#[test]
fn lists_for_help_texts() {
    let generators = orthopt_data::generators();
    assert_eq!(generators[0].0, "randn:M:N[:SEED]");
    assert_eq!(orthopt_data::builtins()[0].0, "builtin:pitprops");
    assert_eq!(orthopt_data::formats()[0].0, ".svm, .libsvm");
}
