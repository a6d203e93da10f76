//! Collects what a proof is made of.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use orthopt_core::solve::proof_record::Visit;
pub(crate) use orthopt_core::solve::proof_record::{Cell, Leaf, Multipliers, Record, Step};

use super::multiplier::Form;

/// Record of what was done at each node, by the path to the node.
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
