//! The tree as a file has it (docs/bounds-limits.md, section 7): made once more, node by node, with the numbers that a checker evaluates.

use super::super::fixed::fixed_supports;
use super::super::proof_file::branched::{Known, ScaledProblem, cutoff_at, divided_by, ways};
use super::super::proof_file::certificate::{Branch, Branched, PartWeights, Rows, Split, Way, Weights};
use super::super::proof_file::{Statement, plain_objective};
use super::admm::{Effort, Splitting};
use super::dual::{Dual, Part, Problem, union_of};
use super::fullest_column;
use super::pseudo::{Origin, Pseudocosts};
use super::state::State;
use orthopt_core::problem::nonzero_rows;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;

/// Variables times parts, at most.
const LARGEST: usize = 600;
/// Nodes, and numbers of the file, at most.
const NODES: usize = 20_000;
const NUMBERS: usize = 4_000_000;
/// Iterations at the first node, and at the others.
const FIRST: Effort = Effort { iterations: 300, patience: 6, share: 0.02, rounds: 8 };
const OTHERS: Effort = Effort { iterations: 60, patience: 4, share: 0.05, rounds: 6 };

/// A node that is to be bounded.
struct Open {
    at: usize,
    parts: Vec<Known>,
    state: Option<State>,
    origin: Option<Origin>,
    most: f64,
}

/// A tree that proves that no X has an F below that of `x`; `None` where it would be too large, or does not close.
pub fn written_tree(statement: &Statement, c: &RowMat, x: &RowMat, cancel: &Cancel) -> Option<Branched> {
    let objective = plain_objective(statement, c, x)?.0;
    tree_above(statement, c, x, objective, cancel)
}

/// A tree that proves that no X has an F below `objective`; `None` where it would be too large, or does not close.
fn tree_above(
    statement: &Statement,
    c: &RowMat,
    x: &RowMat,
    objective: f64,
    cancel: &Cancel,
) -> Option<Branched> {
    let (n, r) = (c.nrows(), statement.rank);
    let counts = ways(statement, n);
    let rank = r / counts.first()?.len();
    if n * counts[0].len() > LARGEST || rank > 1 && statement.nonnegative || counts.len() > super::LISTS {
        return None;
    }
    let variance = plain_objective(statement, c, x)?.1;
    // the variance of a column is to be about 1
    let unit = 2f64.powi((variance / r as f64).log2().round().clamp(-900.0, 900.0) as i32);
    let usual = if rank == 1 { fullest_column(x) } else { nonzero_rows(x).len() }.max(rank);
    let scaled = RowMat::from_fn(n, n, |i, j| c.get(i, j) / unit);
    let (lambda, nonneg) = (statement.lambda / unit, statement.nonnegative);
    let problem = Problem { c: scaled, rank, lambda, nonneg, usual };
    let cutoff = cutoff_at(objective / unit);
    let mut tree = Branched { unit, cutoff, ways: Vec::new(), nodes: Vec::new() };
    let mut numbers = 0;
    for counts in counts {
        let scaled = ScaledProblem::new(statement, c, unit, cutoff, &counts).ok()?;
        tree.ways.push(Way { counts: counts.clone(), node: tree.nodes.len() });
        let mut writer = Writer { problem: &problem, scaled, cutoff, cancel, numbers: &mut numbers };
        writer.closes(writer.scaled.all(&counts), &mut tree.nodes)?;
    }
    Some(tree)
}

struct Writer<'a> {
    problem: &'a Problem,
    scaled: ScaledProblem,
    cutoff: f64,
    cancel: &'a Cancel,
    numbers: &'a mut usize,
}

impl Writer<'_> {
    /// Depth first from one root; `None` where something stays open.
    fn closes(&mut self, parts: Vec<Known>, nodes: &mut Vec<Branch>) -> Option<()> {
        let mut pseudo = Pseudocosts::default();
        let mut waiting =
            vec![Open { at: nodes.len(), parts, state: None, origin: None, most: f64::INFINITY }];
        nodes.push(Branch::default());
        while let Some(mut open) = waiting.pop() {
            if self.cancel.is_over() || nodes.len() > NODES || *self.numbers > NUMBERS {
                return None;
            }
            let node = &mut nodes[open.at];
            let (is_closed, shares) = self.bounded(&mut open, node)?;
            if let Some(origin) = &open.origin {
                pseudo.observe(origin, if is_closed { self.cutoff } else { open.most }, self.cutoff);
                pseudo.absorb();
            }
            if is_closed {
                continue;
            }
            let (p, row, share) = chosen(&open.parts, &shares, &pseudo)?;
            let first = &open.parts[p];
            let alike = |q: &usize| {
                let other = &open.parts[*q];
                *q == p || other.k == first.k && other.rows == first.rows && other.must() + first.must() == 0
            };
            let columns: Vec<usize> = (p..open.parts.len()).filter(alike).collect();
            let [Some(inside), Some(outside)] = divided_by(&open.parts, &columns, row)? else { return None };
            let at = nodes.len();
            nodes.extend([Branch::default(), Branch::default()]);
            nodes[open.at].split = Some(Split { columns, row, inside: at, outside: at + 1 });
            for (at, parts, is_in) in [(at + 1, outside, false), (at, inside, true)] {
                let origin = Some(pseudo.origin(p, row, is_in, share, open.most));
                waiting.push(Open { at, parts, state: open.state.clone(), origin, most: open.most });
            }
        }
        Some(())
    }

    /// Multipliers until the node is closed or nothing is decided any more: whether it is closed, and the shares of the rows.
    fn bounded(&mut self, open: &mut Open, node: &mut Branch) -> Option<(bool, Vec<Vec<f64>>)> {
        let effort = if open.origin.is_none() { FIRST } else { OTHERS };
        let mut shares = Vec::new();
        for round in 0..=effort.rounds {
            if !self.scaled.settle(&mut open.parts) {
                return Some((true, shares));
            }
            open.most = open.most.min(self.scaled.simple(&open.parts).unwrap_or(f64::INFINITY));
            if open.most <= self.cutoff {
                return Some((true, shares));
            }
            let parts = parts_of(&open.parts);
            let is_last = parts.iter().all(Part::is_decided);
            if round == effort.rounds && !is_last {
                break;
            }
            let state = open.state.take().map(|state| state.restricted(&parts));
            let mut run = Splitting::new(self.problem, &parts, state);
            run.keeps = true;
            let found = run.lower(self.cutoff, effort, &|| self.cancel.is_over());
            shares = run.shares();
            open.state = Some(run.into_state());
            let mut weights: Vec<Weights> =
                found.map(|found| written(&found.dual, &parts, self.problem.nonneg)).into_iter().collect();
            if is_last && !self.problem.nonneg {
                weights.extend(self.of_last(&parts));
            }
            let before = open.parts.clone();
            for weights in weights {
                let here = open.parts.clone();
                let most = self.scaled.step(&mut open.parts, &weights).ok()?;
                open.most = open.most.min(most);
                if open.most <= self.cutoff || open.parts != here {
                    *self.numbers += count(&weights);
                    node.steps.push(weights);
                }
                if open.most <= self.cutoff {
                    return Some((true, shares));
                }
            }
            if is_last {
                return None; // known supports that meet, with a gap of their own
            }
            let rows = |parts: &[Known]| parts.iter().map(|part| part.rows.len()).sum::<usize>();
            shares = shares_on(&open.parts, &parts, &shares);
            if open.parts == before {
                break;
            }
            if 10 * (rows(&before) - rows(&open.parts)) < rows(&before) && round > 0 {
                break;
            }
        }
        // conclusions from the last step
        if !self.scaled.settle(&mut open.parts) {
            return Some((true, shares));
        }
        let parts = parts_of(&open.parts);
        open.state = open.state.take().map(|state| state.restricted(&parts));
        Some((false, shares))
    }

    /// W alone, for known supports that meet.
    fn of_last(&self, parts: &[Part]) -> Option<Weights> {
        let rows = union_of(parts);
        let at = |i: &usize| rows.binary_search(i).ok();
        let local: Vec<Vec<usize>> =
            parts.iter().map(|part| part.rows.iter().filter_map(at).collect()).collect();
        let c = RowMat::from_fn(rows.len(), rows.len(), |i, j| self.problem.c.get(rows[i], rows[j]));
        let price = self.problem.lambda * parts.iter().map(|part| part.rows.len()).sum::<usize>() as f64;
        let (_, w) = fixed_supports(&c, &local, self.cutoff + price)?;
        let part = |part: &Part| PartWeights {
            rows: part.rows.clone(),
            z: Vec::new(),
            u: Vec::new(),
            d: Vec::new(),
            a: Vec::new(),
        };
        Some(Weights { parts: parts.iter().map(part).collect(), w: rows_of(&w), pi: Vec::new() })
    }
}

fn parts_of(parts: &[Known]) -> Vec<Part> {
    let part = |part: &Known| Part { k: part.k, rows: part.rows.clone(), forced: part.forced.clone() };
    parts.iter().map(part).collect()
}

fn rows_of(m: &RowMat) -> Rows {
    (0..m.nrows()).map(|i| m.row(i).to_vec()).collect()
}

fn count(weights: &Weights) -> usize {
    let of = |rows: &Rows| rows.len() * rows.len();
    of(&weights.w) + weights.parts.iter().map(|part| of(&part.z) + of(&part.u)).sum::<usize>()
}

/// Eight digits, which a file has less of.
fn short(v: f64) -> f64 {
    format!("{v:.7e}").parse().unwrap_or(v)
}

/// The multipliers with few digits; Z is cut to what a allows then.
fn written(dual: &Dual, parts: &[Part], nonneg: bool) -> Weights {
    let shortened = |list: &[f64]| list.iter().map(|v| short(*v)).collect::<Vec<f64>>();
    let part = |(given, part): (&super::dual::Multipliers, &Part)| {
        let a: Vec<f64> = given.squares.iter().map(|v| short(v.max(0.0).sqrt())).collect();
        let entry = |i: usize, j: usize| {
            let (z, most) = (short(given.z.get(i.max(j), i.min(j))), a[i] * a[j]);
            if i == j || z > most { most } else { z.max(if nonneg { f64::NEG_INFINITY } else { -most }) }
        };
        let n = part.rows.len();
        PartWeights {
            rows: part.rows.clone(),
            z: rows_of(&RowMat::from_fn(n, n, entry)),
            u: (0..n).map(|i| shortened(given.u.row(i))).collect(),
            d: given.d.iter().map(|d| short(*d).max(f64::MIN_POSITIVE)).collect(),
            a,
        }
    };
    let (w, pi) = match &dual.joint {
        None => (Vec::new(), Vec::new()),
        Some(joint) => (rows_of(&joint.w), joint.pi.clone()),
    };
    Weights { parts: dual.given.iter().zip(parts).map(part).collect(), w, pi }
}

/// The shares of the rows that are left.
fn shares_on(now: &[Known], before: &[Part], shares: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |((now, before), shares): ((&Known, &Part), &Vec<f64>)| {
        now.rows.iter().map(|i| before.place(*i).map_or(0.0, |a| shares[a])).collect()
    };
    now.iter().zip(before).zip(shares).map(of).collect()
}

/// The part and the row to divide by, and its share.
fn chosen(parts: &[Known], shares: &[Vec<f64>], pseudo: &Pseudocosts) -> Option<(usize, usize, f64)> {
    let mut best: Option<(f64, usize, usize, f64)> = None;
    for (p, part) in parts.iter().enumerate() {
        for (a, i) in part.rows.iter().enumerate().filter(|(a, _)| !part.forced[*a]) {
            let share = shares.get(p).and_then(|shares| shares.get(a)).copied().unwrap_or(0.5);
            let score = pseudo.score(p, *i, share);
            if best.is_none_or(|best| score > best.0) {
                best = Some((score, p, *i, share));
            }
        }
    }
    best.map(|(_, p, i, share)| (p, i, share))
}

#[cfg(test)]
mod tests {
    use super::super::super::adjusted::tests::{KINDS, instance};
    use super::super::super::proof_file::branched;
    use super::*;
    use crate::{Kind, Options, Proof, lower_bound};
    use orthopt_core::smooth::{DenseQuadratic, Measure};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Told that the best X has less than it has, the tree never closes; told what it has, the checker finds nothing above it.
    #[test]
    fn no_tree_closes_below_the_best() {
        let (mut written, mut proved) = (0, 0);
        for seed in 0..if std::env::var("HOSTILE").is_ok() { 3000 } else { 60 } {
            let mut rng = Pcg64::seed_from_u64(seed);
            let (n, r) = (rng.random_range(4..=7), rng.random_range(1..=2));
            let c = instance(rng.random_range(0..KINDS), n, &mut rng);
            let size = (0..n).map(|i| c.get(i, i)).fold(0.0, f64::max);
            let lambda = [0.0, 0.05 * size][rng.random_range(0..2)];
            let counts = Kind::Counts { nonzeros: (0..r).map(|j| 2 + j % 2).collect(), lambda };
            let kind = match rng.random_range(0..6) {
                0 => Kind::Total { nonzeros: r + 2, lambda },
                1 => Kind::Rows { rows: 3, lambda },
                2 => Kind::L0 { lambda: 0.1 * size },
                3 => Kind::Nonnegative,
                4 => Kind::NonnegativeLimited(Box::new(counts)),
                _ => counts,
            };
            let f = DenseQuadratic::negative(faer::Mat::from_fn(n, n, |i, j| c.get(i, j)).as_ref()).unwrap();
            let units = RowMat::from_fn(n, r, |i, j| f64::from(u8::from(i == j)));
            let options = Options { nodes: 20_000, ..Options::default() };
            let never = Cancel::never();
            let bound = lower_bound(&f, r, &kind, Some(&units), &options, &never, &|_| ()).unwrap();
            if bound.proof != Some(Proof::Optimal) {
                continue;
            }
            let x = bound.x.as_ref().unwrap_or(&units);
            let statement = Statement::of("p", Measure::Variance, r, &kind, (1.0, None)).unwrap();
            let f = plain_objective(&statement, &c, x).unwrap().0;
            proved += 1;
            for share in [1e-2, 1e-4, 1e-6, 1e-8] {
                let told = f + share * f.abs();
                let found = tree_above(&statement, &c, x, told, &never);
                assert!(found.is_none() || f == 0.0, "{seed} {kind:?} {share:e}");
            }
            if let Some(tree) = written_tree(&statement, &c, x, &never) {
                let most = branched::most(&statement, &tree, &c).unwrap();
                assert!(most >= -f && most + f <= 1e-9 * f.abs(), "{seed} {kind:?}: {most} {f}");
                written += 1;
            }
        }
        println!("{written} of {proved}");
        assert!(10 * written >= 9 * proved && proved >= 30, "{written} of {proved}");
    }
}
