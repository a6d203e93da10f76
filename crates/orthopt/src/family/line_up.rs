//! Which solvers and starts the search for the best point of a PCA problem has, and in which order.

/// Solvers and starts, the pairs that most often did well first, on the data sets that the suite `portfolio`
/// of the benches calls seen. All of them run at level 0 in any case.
pub(super) const L0: &[(&str, &str)] = &[
    ("obcd", "pool"),
    ("ladmm+obcd", "varimax"),
    ("ladmm+obcd", "random"),
    ("ladmm+obcd", "pca"),
    ("ladmm+obcd", "coordinates"),
    ("support+obcd", "coordinates"),
    ("support+obcd", "pool"),
    ("obcd", "grown"),
    ("support+obcd", "random"),
    ("ladmm+obcd", "relaxed"),
    ("spm+obcd", "random"),
    ("support+obcd", "varimax"),
    ("obcd", "coordinates"),
];
/// Where h is convex and finite IRPG ends what LADMM has begun: it needs a fraction of its iterations for the last digits, and OBCD, where
/// there are few zeros, hundreds of them.
pub(super) const CONVEX: &[(&str, &str)] = &[
    ("ladmm+irpg+obcd", "varimax"),
    ("irpg+obcd", "random"),
    ("ladmm+irpg+obcd", "pca"),
    ("irpg+obcd", "varimax"),
    ("ladmm+irpg+obcd", "random"),
    ("irpg+obcd", "pca"),
    ("ladmm+irpg+obcd", "coordinates"),
    ("slpg+irpg+obcd", "pca"),
    ("slpg+irpg+obcd", "random"),
    ("manpg-ada+irpg+obcd", "random"),
    ("irpg+obcd", "coordinates"),
    ("obcd", "grown"),
    ("obcd", "coordinates"),
    ("obcd", "pca"),
];
pub(super) const NONCONVEX: &[(&str, &str)] = &[
    ("ladmm+obcd", "varimax"),
    ("ladmm+obcd", "pca"),
    ("ladmm+obcd", "random"),
    ("obcd", "grown"),
    ("obcd", "coordinates"),
    ("obcd", "pca"),
];
pub(super) const NONNEGATIVE: &[(&str, &str)] = &[
    ("ladmm+obcd", "pca"),
    ("ladmm+obcd", "coordinates"),
    ("ladmm+obcd", "partition"),
    ("ladmm+obcd", "varimax"),
    ("ep4orth+obcd", "partition"),
    ("ep4orth+obcd", "pca"),
    ("spm+obcd", "partition"),
    ("spm+obcd", "pca"),
    ("obcd", "grown"),
    ("obcd", "pca"),
    ("obcd", "partition"),
];

/// Where h is a function of rows, and pairs of rows cannot make one zero.
pub(super) const ROWS: &[(&str, &str)] = &[
    ("irpg", "pca"),
    ("ladmm+irpg", "pca"),
    ("irpg", "random"),
    ("ladmm+irpg", "random"),
    ("irpg", "coordinates"),
    ("ladmm+irpg", "coordinates"),
];

/// Arms that soon are at a point worth having, and the gradients that this may cost. Those that move pairs of rows are at a
/// sparse point at any time from a sparse start, and proximal methods are for ℓ1, while those that raise a penalty have
/// none until they end.
pub(super) const QUICK: &[(&str, &str, u64)] =
    &[("obcd", "coordinates", 20), ("obcd", "partition", 10), ("irpg+obcd", "pca", 600)];

/// Arms that are looked at, at level 0, where a run is a long one: the one that does better comes after the leaders' first one, or
/// before all where that one, which begins with components of few entries, has no place. A support with a quota of its own
/// suits p ≫ n, a penalty that grows other data. The support is soon where it will be at that level, LADMM only in the end: a look is the
/// work of a run at level 0 over a number.
pub(super) const LOOKS: [(&str, &str, u64); 2] =
    [("support+obcd", "varimax", 4), ("ladmm+obcd", "varimax", 1)];

/// Arms that get a glance where a run takes seconds: what raises a penalty leads there, and on some data supports are far ahead.
pub(super) const GLANCES: &[(&str, &str)] = &[("support+obcd", "varimax"), ("support+obcd", "coordinates")];
