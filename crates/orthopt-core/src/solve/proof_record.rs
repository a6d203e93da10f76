//! Data of a proof over lists of supports, so that it can be written and checked by others.

use std::collections::BTreeMap;

use orthopt_linalg::RowMat;

/// A multiplier by which the lists of a node were judged.
#[derive(Clone, Debug)]
pub struct Step {
    /// L, or B with L = AB.
    pub l: RowMat,
    /// The maxima of v over the lists, one for each column.
    pub v: Vec<f64>,
}

/// Multipliers of a box: factors of M, of each N and of W, κ, δ and μ.
#[derive(Clone, Debug)]
pub struct Multipliers {
    /// Factor of M.
    pub m: RowMat,
    /// Factors of each N.
    pub n: Vec<RowMat>,
    /// Factor of W.
    pub w: Option<RowMat>,
    /// κ.
    pub kappa: f64,
    /// δ.
    pub delta: Vec<f64>,
    /// μ.
    pub mu: Vec<f64>,
}

/// A box: its multipliers, or which range is divided, where, and the places of both parts.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The range that is divided, where, and the places of both parts.
    pub split: Option<(usize, f64, [usize; 2])>,
    /// Its multipliers.
    pub multipliers: Option<Multipliers>,
}

/// Known supports, the first column in front, and the boxes over which they are bounded.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Rows of each column.
    pub supports: Vec<Vec<usize>>,
    /// Value of X above which is searched for.
    pub cut: f64,
    /// Eigenvectors of C on the first support.
    pub axes: RowMat,
    /// The boxes.
    pub cells: Vec<Cell>,
}

/// Steps at a node.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// Multipliers, one after the other.
    pub steps: Vec<Step>,
    /// The columns that were alike, and the row.
    pub split: Option<(Vec<usize>, u16)>,
    /// One for each order of the supports.
    pub leaves: Vec<Leaf>,
}

/// The whole of a proof, in a unit.
#[derive(Clone, Debug)]
pub struct Record {
    /// Divisor of C.
    pub unit: f64,
    /// Value of the best X plus half of the tolerance, in the unit.
    pub cutoff: f64,
    /// The numbers of nonzeros of the columns, way after way.
    pub counts: Vec<Vec<usize>>,
    /// Visits by the way to their nodes.
    pub visits: BTreeMap<Vec<u16>, Visit>,
}

impl Record {
    /// That of C times a power of two.
    pub fn times(&self, unit: f64) -> Self {
        Self { unit: self.unit * unit, ..self.clone() }
    }
}
