//! The numbers that prove a bound, as the file has them. Rows and columns are counted from 0.

use serde::{Deserialize, Serialize};

/// A matrix, row by row.
pub(crate) type Rows = Vec<Vec<f64>>;

/// Numbers that prove a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Certificate {
    /// Multipliers of lists of supports (docs/bounds-adjusted.md).
    Supports(Lists),
    /// Z of the relaxation over the Fantope (docs/bounds.md).
    Relaxation(Relaxed),
    /// Multipliers of variance, and the tree (docs/bounds-limits.md).
    Tree(Branched),
}

/// A tree of nodes over lists of supports; numbers of C are divided by `unit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lists {
    /// Divisor of C.
    pub unit: f64,
    /// Nodes are closed here: 2e-7 of it more is what is proved.
    pub cutoff: f64,
    /// B of M = ABB'A', C = A'A: n rows each.
    pub multipliers: Vec<Rows>,
    /// The ways to give nonzeros to the components, with the first node of each.
    pub ways: Vec<Way>,
    /// The nodes; what a node is divided into stands after it.
    pub nodes: Vec<Node>,
}

/// Numbers of nonzeros of the components, and the node with all of their supports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Way {
    /// One for each component.
    pub counts: Vec<usize>,
    /// A place in the nodes.
    pub node: usize,
}

/// A set of X: a list of supports for each component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Node {
    /// Multipliers by which supports leave the lists, one after the other.
    pub steps: Vec<Step>,
    /// Into what it is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Multipliers of known supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<Leaf>,
}

/// A multiplier, and the maximum of v over the list of each component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// A place in the multipliers.
    pub multiplier: usize,
    /// The maxima.
    pub v: Vec<f64>,
}

/// A row that is in the support of the first of columns with the same list, or in that of none of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Split {
    /// The columns, from 0.
    pub columns: Vec<usize>,
    /// The row, from 0.
    pub row: usize,
    /// The node where it is in.
    pub inside: usize,
    /// The node where it is not.
    pub outside: usize,
}

/// Known supports, bounded over boxes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leaf {
    /// The rows of each column, from 0.
    pub supports: Vec<Vec<usize>>,
    /// X that have less are of no interest: ranges follow.
    pub cut: f64,
    /// Eigenvectors of C on the first support.
    pub axes: Rows,
    /// Boxes; the first one holds all X, and parts stand after the box that they are of.
    pub cells: Vec<Cell>,
}

/// A box.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    /// Its multipliers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multipliers: Option<Multipliers>,
    /// Division of the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Cut>,
}

/// Point at which a range is divided: 0 is that of x₁'Cx₁, 1 to r those of the columns, the rest ratios of x₁.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cut {
    /// Which range.
    pub range: usize,
    /// The number.
    pub at: f64,
    /// The box below it.
    pub below: usize,
    /// The box above it.
    pub above: usize,
}

/// Factors of the multipliers of a box: M = (Am)(Am)', N likewise, W = ww'.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Multipliers {
    /// m.
    pub m: Rows,
    /// One for each column from the second that has an N.
    pub n: Vec<Rows>,
    /// w, on the rows that supports share.
    pub w: Rows,
    /// κ.
    pub kappa: f64,
    /// δ of each column.
    pub delta: Vec<f64>,
    /// μ of each ratio.
    pub mu: Vec<f64>,
}

/// Z: F ≥ −Σ_r(½C − Z).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Relaxed {
    /// Z, n × n.
    #[serde(rename = "Z")]
    pub z: Rows,
}

/// A tree of nodes over what is known of supports; numbers of C are divided by `unit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branched {
    /// Divisor of C and λ.
    pub unit: f64,
    /// Nodes are closed here: 4e-10 of it more is what is proved.
    pub cutoff: f64,
    /// The ways to give nonzeros to the parts, with the first node of each.
    pub ways: Vec<Way>,
    /// The nodes; what a node is divided into stands after it.
    pub nodes: Vec<Branch>,
}

/// A set of X, by the rows that each part must have and may have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branch {
    /// Multipliers that bound it, or decide rows, one after the other.
    pub steps: Vec<Weights>,
    /// Into what it is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
}

/// Multipliers of all parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weights {
    /// Of each part.
    pub parts: Vec<PartWeights>,
    /// W on the rows of all parts, in ascending order; nothing where it is 0.
    #[serde(rename = "W")]
    pub w: Rows,
    /// π on these rows; nothing where it is 0.
    pub pi: Vec<f64>,
}

/// Multipliers of one part on some rows; matrices that are 0 are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartWeights {
    /// The rows, from 0.
    pub rows: Vec<usize>,
    /// Z.
    #[serde(rename = "Z")]
    pub z: Rows,
    /// U.
    #[serde(rename = "U")]
    pub u: Rows,
    /// d.
    pub d: Vec<f64>,
    /// a.
    pub a: Vec<f64>,
}
