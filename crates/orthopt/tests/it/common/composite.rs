//! CompositeProblem problems of random data.

use orthopt::family::CompositeOptions;
use orthopt::problem::CompositeProblem;
use orthopt::problem::PcaData;

use super::gaussian;

/// Problem and penalty of every kind: with g, with A, with both curved penalties, plain.
pub const KINDS: [(&str, Option<&str>); 6] = [
    ("dc-pca", None),
    ("dc-pca", Some("l1")),
    ("mcp-pca", None),
    ("scad-pca", None),
    ("capped-l1-pca", None),
    ("fused-pca", None),
];

/// The problem of a Gaussian A (2n × n).
pub fn composite(kind: (&str, Option<&str>), n: usize, r: usize, lambda: f64, seed: u64) -> CompositeProblem {
    let options = CompositeOptions { penalty: kind.1.map(Into::into), ..Default::default() };
    let a = gaussian(2 * n, n, seed);
    orthopt::family::composite_problem(kind.0, &PcaData::Dense(a.as_ref()), r, lambda, &options).unwrap()
}
