//! The problems that users name.

use super::posed::{Kind, ProblemInfo};
use super::{brockett, nonlinear_eig, procrustes, samples};
use orthopt_linalg::error::{Error, Result};

/// All problems of the library.
pub const PROBLEMS: &[ProblemInfo] = &[
    ProblemInfo {
        name: "l0-pca",
        kind: Kind::Pca,
        penalty: "l0",
        uses_lambda: true,
        doc: "sparse PCA: min -1/2 <X, CX> + lambda ||X||_0, X'X = I",
    },
    ProblemInfo {
        name: "l1-pca",
        kind: Kind::Pca,
        penalty: "l1",
        uses_lambda: true,
        doc: "sparse PCA: min -1/2 <X, CX> + lambda ||X||_1, X'X = I",
    },
    ProblemInfo {
        name: "l21-pca",
        kind: Kind::Pca,
        penalty: "l21",
        uses_lambda: true,
        doc: "row-sparse PCA: min -1/2 <X, CX> + lambda sum_i ||X_i||_2, X'X = I (the same few variables in all components)",
    },
    ProblemInfo {
        name: "nonneg-pca",
        kind: Kind::Pca,
        penalty: "nonneg",
        uses_lambda: false,
        doc: "nonnegative PCA: min -1/2 <X, CX>, X'X = I, X >= 0",
    },
    ProblemInfo {
        name: "onmf",
        kind: Kind::Pca,
        penalty: "nonneg",
        uses_lambda: false,
        doc: "orthogonal nonnegative factors, clusters of columns: min 1/2 ||A - UX'||^2, X'X = I, X >= 0 (best U = AX)",
    },
    ProblemInfo {
        name: "pca",
        kind: Kind::Pca,
        penalty: "none",
        uses_lambda: false,
        doc: "plain PCA: min -1/2 <X, CX>, X'X = I (any basis of the leading eigenspace)",
    },
    ProblemInfo {
        name: "mcp-pca",
        kind: Kind::Pca,
        penalty: "mcp",
        uses_lambda: true,
        doc: "sparse PCA with mcp: min -1/2 <X, CX> + h(X), X'X = I",
    },
    ProblemInfo {
        name: "scad-pca",
        kind: Kind::Pca,
        penalty: "scad",
        uses_lambda: true,
        doc: "sparse PCA with scad: min -1/2 <X, CX> + h(X), X'X = I",
    },
    ProblemInfo {
        name: "dc-pca",
        kind: Kind::DataFit,
        penalty: "l1-largest-k",
        uses_lambda: true,
        doc: "k-sparse PCA: min 1/(2m) ||XX'D - D||^2 + lambda (||X||_1 - the k largest |X_ij|), X'X = I, D = A'",
    },
    ProblemInfo {
        name: "capped-l1-pca",
        kind: Kind::Composite,
        penalty: "capped-l1",
        uses_lambda: true,
        doc: "sparse PCA with capped l1 as l1 minus its excess: min -1/2 <X, CX> + lambda sum min(|X_ij|, cap), X'X = I",
    },
    ProblemInfo {
        name: "fused-pca",
        kind: Kind::Composite,
        penalty: "fused-l1",
        uses_lambda: true,
        doc: "piecewise constant PCA: min -1/2 <X, CX> + lambda sum |X_i+1,j - X_ij|, X'X = I",
    },
    ProblemInfo {
        name: "hyperbolic-eig",
        kind: Kind::HyperbolicEig,
        penalty: "none",
        uses_lambda: false,
        doc: "hyperbolic eigenvalues: min tr(X'CX), X'JX = J, C = A'A/m + ridge positive definite; the minimum is known",
    },
    ProblemInfo {
        name: "probe",
        kind: Kind::Probe,
        penalty: "none",
        uses_lambda: false,
        doc: "structural probe: a J-orthogonal map after which distances of the samples in ultrahyperbolic space match a table",
    },
    nonlinear_eig::INFO,
    procrustes::INFO,
    brockett::INFO,
    samples::ICA,
    samples::DICTIONARY,
    samples::ROBUST_SUBSPACE,
];

/// Looks a problem up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the known names, and the one that is meant where the name is what a problem is called in words, or names data.
pub fn find_problem(name: &str) -> Result<&'static ProblemInfo> {
    PROBLEMS.iter().find(|p| p.name == name).ok_or_else(|| {
        let names = PROBLEMS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        let words = name.to_lowercase().replace(['-', '_'], " ");
        let meaning =
            |p: &&ProblemInfo| p.doc.split_once(':').is_some_and(|(what, _)| what.to_lowercase() == words);
        let meant = PROBLEMS.iter().find(meaning).map(|p| format!("; {words} is {}", p.name));
        let is_data = name.contains(['.', ':', '/', '\\']);
        let meant = meant
            .or_else(|| is_data.then(|| format!("; it comes before the data: {} {name}", PROBLEMS[0].name)));
        Error::UnknownName { kind: "problem", name: name.into(), known: names + &meant.unwrap_or_default() }
    })
}
