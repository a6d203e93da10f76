//! What a proof was made of, so that it can be written and checked by others.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::multiplier::Form;
use crate::linalg::RowMat;

/// A multiplier by which the lists of a node were judged.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// L, or B with L = AB.
    pub l: RowMat,
    /// The maxima of v over the lists, one for each column.
    pub v: Vec<f64>,
}

/// Multipliers of a box: factors of M, of each N and of W, κ, δ and μ.
#[derive(Clone, Debug)]
pub(crate) struct Multipliers {
    pub m: RowMat,
    pub n: Vec<RowMat>,
    pub w: Option<RowMat>,
    pub kappa: f64,
    pub delta: Vec<f64>,
    pub mu: Vec<f64>,
}

/// A box: its multipliers, or which range is divided, where, and the places of both parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub split: Option<(usize, f64, [usize; 2])>,
    pub multipliers: Option<Multipliers>,
}

/// Known supports, the first column in front, and the boxes over which they are bounded.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub supports: Vec<Vec<usize>>,
    pub cut: f64,
    /// Eigenvectors of C on the first support.
    pub axes: RowMat,
    pub cells: Vec<Cell>,
}

/// What was done at a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visit {
    pub steps: Vec<Step>,
    /// The columns that were alike, and the row.
    pub split: Option<(Vec<usize>, u16)>,
    /// One for each order of the supports.
    pub leaves: Vec<Leaf>,
}

/// What was done at all nodes, by the way to them.
#[derive(Debug, Default)]
pub(crate) struct Visits(Mutex<BTreeMap<Vec<u16>, Visit>>);

impl Visits {
    fn at(&self, path: &[u16], change: impl FnOnce(&mut Visit)) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.entry(path.to_vec()).or_default());
    }

    pub fn step(&self, path: &[u16], step: Step) {
        self.at(path, |visit| visit.steps.push(step));
    }

    pub fn split(&self, path: &[u16], split: (Vec<usize>, u16)) {
        self.at(path, |visit| visit.split = Some(split));
    }

    pub fn leaf(&self, path: &[u16], leaf: Leaf) {
        self.at(path, |visit| visit.leaves.push(leaf));
    }

    /// All of them, each L as B.
    pub fn all(self, form: &Form) -> BTreeMap<Vec<u16>, Visit> {
        let mut all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.values_mut().flat_map(|visit| &mut visit.steps).for_each(|step| step.l = form.before(&step.l));
        all
    }
}

/// The whole of a proof, in a unit.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// What C was divided by.
    pub unit: f64,
    /// What the best X has, and half of the tolerance, in the unit.
    pub cutoff: f64,
    /// The numbers of nonzeros of the columns, way after way.
    pub counts: Vec<Vec<usize>>,
    pub visits: BTreeMap<Vec<u16>, Visit>,
}

impl Record {
    /// That of C times a power of two.
    pub fn times(&self, unit: f64) -> Self {
        Self { unit: self.unit * unit, ..self.clone() }
    }
}
