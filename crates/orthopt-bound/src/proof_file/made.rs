//! A proof as a file, from what a bound has left.

use std::collections::BTreeMap;

use super::branched::cutoff_at;
use super::{
    Branch, Branched, Cell, Certificate, Cut, Leaf, Lists, Multipliers, Node, PartWeights, Prepared,
    ProofFile, Relaxed, Rows, SCHEMA, Split, Statement, Step, Sums, Way, Weights,
};
use crate::adjusted as found;
use crate::limits::written_tree;
use crate::{Bound, LimitDual, Proof};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};

/// A bound and what it was computed from, to be written as a proof.
pub struct Proved<'a> {
    /// The bound.
    pub bound: &'a Bound,
    /// The incumbent.
    pub x: &'a RowMat,
    /// C (n × n).
    pub c: &'a RowMat,
    /// Z of the relaxation, and multipliers of limits of nonzeros.
    pub z: Option<RowMat>,
    /// Multipliers of the limits, where there are any.
    pub limits: Option<LimitDual>,
    /// Ends the tree of a proof that needs one.
    pub cancel: &'a Cancel,
}

impl Proved<'_> {
    /// The file, which has been checked.
    ///
    /// # Errors
    /// Nothing is proved that a file could hold, and why.
    pub fn file(&self, problem: Statement, data: Prepared) -> Result<ProofFile> {
        let mut best: Option<ProofFile> = None;
        let (all, mut why) = match self.certificates(&problem) {
            Ok(all) => (all, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        for certificate in all {
            match self.of_certificate(problem.clone(), data.clone(), certificate) {
                Ok(file) if best.as_ref().is_none_or(|b| file.bound > b.bound) => best = Some(file),
                Ok(_) => {}
                Err(error) => why = Some(error),
            }
        }
        // the tree is made again where it, and not the root, has proved that X is optimal
        let is_open = |best: &Option<ProofFile>| best.as_ref().is_none_or(|file| file.proof.is_none());
        if self.bound.record.is_none() && self.bound.proof == Some(Proof::Optimal) && is_open(&best) {
            let tree = written_tree(&problem, self.c, self.x(), self.cancel).map(Certificate::Tree);
            let file = tree.and_then(|tree| self.of_certificate(problem, data, tree).ok());
            best = file.filter(|file| best.as_ref().is_none_or(|b| file.bound > b.bound)).or(best);
        }
        best.ok_or_else(|| why.unwrap_or_else(|| no_file("nothing was proved")))
    }

    /// The X of the claim.
    fn x(&self) -> &RowMat {
        self.bound.x.as_ref().unwrap_or(self.x)
    }

    fn certificates(&self, problem: &Statement) -> Result<Vec<Certificate>> {
        let objective = super::supports::objective(problem, self.c, self.x())?;
        if let Some(record) = &self.bound.record {
            return Ok(vec![Certificate::Supports(of_record(record))]);
        }
        let mut all = Vec::new();
        let of_limits = |limits| Certificate::Tree(of_limits(limits, self.c.nrows(), cutoff_at(objective)));
        all.extend(self.limits.as_ref().map(of_limits));
        all.extend(
            self.z.as_ref().map(|z| Certificate::Relaxation(Relaxed { z: rows(&z.symmetric_part()) })),
        );
        match all.is_empty() {
            false => Ok(all),
            true if self.c.data().iter().all(|v| *v == 0.0) => {
                Err(no_file("C is zero, so adjusted and polar variance are 0 for every X"))
            }
            true => Err(no_file(
                "adjusted and polar variance are proved by lists of supports, at most 1,000,000 in all, without lambda, of each component or \
                 of a total; this problem has none, or the bound ended before they were made",
            )),
        }
    }

    fn of_certificate(
        &self,
        problem: Statement,
        data: Prepared,
        certificate: Certificate,
    ) -> Result<ProofFile> {
        let x = self.x();
        let mut file = ProofFile {
            schema: SCHEMA,
            version: format!("orthopt {}", env!("CARGO_PKG_VERSION")),
            claim: String::new(),
            problem,
            data,
            table: Sums::of(self.c),
            x: rows(x),
            objective: 0.0,
            bound: f64::NEG_INFINITY,
            gap: None,
            proof: None,
            elsewhere: None,
            certificate,
        };
        file.objective = super::supports::objective(&file.problem, self.c, x)?;
        // what the check finds is what the file says
        let verdict = file.verdict(self.c);
        let verdict =
            verdict.map_err(|error| no_file(&format!("rounding is in the way of its check ({error})")))?;
        file.bound = verdict.claim.bound;
        file.gap = verdict.claim.gap;
        file.proof = verdict.claim.proof.map(|proof| proof.name().into());
        file.elsewhere = verdict.elsewhere;
        file.claim = verdict.sentence(&file.problem, self.c.nrows());
        match file.bound.is_finite() {
            true => Ok(file),
            false => Err(no_file("the bound ended before it was finite: allow more time")),
        }
    }
}

/// That there is no file, and why.
fn no_file(why: &str) -> Error {
    Error::Incompatible(format!("there is no proof to write: {why}").into())
}

fn rows(m: &RowMat) -> Rows {
    (0..m.nrows()).map(|i| m.row(i).to_vec()).collect()
}

/// The tree of a record: each multiplier once, nodes before their parts.
fn of_record(record: &found::Record) -> Lists {
    let mut lists = Lists {
        unit: record.unit,
        cutoff: record.cutoff,
        multipliers: Vec::new(),
        ways: Vec::new(),
        nodes: Vec::new(),
    };
    let mut known: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let mut number = |b: &RowMat, multipliers: &mut Vec<Rows>| {
        let bits = b.data().iter().map(|v| v.to_bits()).collect();
        *known.entry(bits).or_insert_with(|| {
            multipliers.push(rows(b));
            multipliers.len() - 1
        })
    };
    for (k, counts) in record.counts.iter().enumerate() {
        let first = lists.nodes.len();
        lists.ways.push(Way { counts: counts.clone(), node: first });
        lists.nodes.push(Node::default());
        let mut waiting = vec![(first, vec![k as u16])];
        while let Some((place, path)) = waiting.pop() {
            let Some(visit) = record.visits.get(&path) else { continue };
            let steps = visit.steps.iter();
            let steps =
                steps.map(|s| Step { multiplier: number(&s.l, &mut lists.multipliers), v: s.v.clone() });
            let steps: Vec<Step> = steps.collect();
            let mut split = None;
            if let Some((columns, row)) = &visit.split {
                let inside = lists.nodes.len();
                lists.nodes.extend([Node::default(), Node::default()]);
                for (part, side) in [(inside, 1), (inside + 1, 0)] {
                    waiting.push((part, [path.as_slice(), &[side]].concat()));
                }
                split = Some(Split {
                    columns: columns.clone(),
                    row: usize::from(*row),
                    inside,
                    outside: inside + 1,
                });
            }
            lists.nodes[place] = Node { steps, split, leaves: visit.leaves.iter().map(of_leaf).collect() };
        }
    }
    lists
}

fn of_leaf(leaf: &found::Leaf) -> Leaf {
    Leaf {
        supports: leaf.supports.clone(),
        cut: leaf.cut,
        axes: rows(&leaf.axes),
        cells: leaf.cells.iter().map(of_cell).collect(),
    }
}

fn of_cell(cell: &found::Cell) -> Cell {
    // both parts have less, or as much
    let needed = cell.multipliers.as_ref().filter(|_| cell.split.is_none());
    let multipliers = needed.map(|m| Multipliers {
        m: rows(&m.m),
        n: m.n.iter().map(rows).collect(),
        w: m.w.as_ref().map(rows).unwrap_or_default(),
        kappa: m.kappa,
        delta: m.delta.clone(),
        mu: m.mu.clone(),
    });
    let split = cell.split.map(|(range, at, [below, above])| Cut { range, at, below, above });
    Cell { multipliers, split }
}

/// Multipliers that stand below each other, way by way and part by part: a tree of roots.
fn of_limits(dual: &LimitDual, n: usize, cutoff: f64) -> Branched {
    let (count, parts) = (dual.counts.nrows(), dual.counts.ncols());
    let block = |m: &RowMat, at: usize| (at * n..at * n + n).map(|i| m.row(i).to_vec()).collect::<Rows>();
    let part = |at: usize| PartWeights {
        rows: (0..n).collect(),
        z: block(&dual.z, at),
        u: block(&dual.u, at),
        d: dual.d.row(at).to_vec(),
        a: dual.a.row(at).to_vec(),
    };
    let node = |k: usize| {
        let w = block(&dual.w, k);
        let has_w = w.iter().flatten().any(|v| *v != 0.0);
        let pi = if has_w { dual.pi.row(k).to_vec() } else { Vec::new() };
        let parts = (k * parts..(k + 1) * parts).map(part).collect();
        Branch { steps: vec![Weights { parts, w: if has_w { w } else { Vec::new() }, pi }], split: None }
    };
    let way = |k: usize| Way { counts: dual.counts.row(k).iter().map(|v| *v as usize).collect(), node: k };
    Branched { unit: 1.0, cutoff, ways: (0..count).map(way).collect(), nodes: (0..count).map(node).collect() }
}
