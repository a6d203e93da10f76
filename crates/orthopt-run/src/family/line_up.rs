//! Which solvers and starts the search for the best point of a PCA problem has, and in which order.

/// The start of [`crate::search::clustered`].
pub(super) const K_COMPONENTS: (&str, &str) =
    ("k-components", "components that share no variable, by clustering of the variables");

/// Solvers and starts: components that share no variable first, then what finds shared ones.
pub(super) const L0: &[(&str, &str)] = &[
    ("obcd", "k-components"),
    ("ladmm+obcd", "varimax"),
    ("support+obcd", "varimax"),
    ("support+obcd", "coordinates"),
    ("ladmm+obcd", "random"),
    ("support+obcd", "random"),
];
/// Where h is convex and finite IRPG ends what LADMM has begun: it needs a fraction of its iterations for the last digits, and OBCD, where
/// there are few zeros, hundreds of them.
pub(super) const CONVEX: &[(&str, &str)] =
    &[("obcd", "coordinates"), ("ladmm+irpg+obcd", "varimax"), ("irpg+obcd", "varimax")];
pub(super) const NONCONVEX: &[(&str, &str)] = &[("ladmm+obcd", "varimax"), ("obcd", "coordinates")];
pub(super) const NONNEGATIVE: &[(&str, &str)] =
    &[("obcd", "k-components"), ("ladmm+obcd", "coordinates"), ("ladmm+obcd", "partition")];

/// Where h is a function of rows, and pairs of rows cannot make one zero.
pub(super) const ROWS: &[(&str, &str)] = &[
    ("irpg", "pca"),
    ("ladmm+irpg", "pca"),
    ("irpg", "random"),
    ("ladmm+irpg", "random"),
    ("irpg", "coordinates"),
    ("ladmm+irpg", "coordinates"),
];
