//! Branch and bound over "row i in the support of column j" (docs/bounds-adjusted.md, section 2).

use std::sync::{Arc, Mutex, PoisonError};

use super::super::tree::{Branching, Evaluated};
use super::super::types::Watch;
use super::leaf::{HOLDS, Leaf};
use super::multiplier::{Form, Multiplier};
use super::record::{Step, Visits};
use super::relaxed::{Effort, Working};
use super::supports::List;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::descending_to;

/// The largest supports of a list that a multiplier is made for; those of the rounds before stay. (138 cells of 16 tables with 4 to 80 variables, two to
/// four components: with 1e9 units of work 52 are proved, with 400 supports and 6 rounds 46.)
const WORKING: usize = 50;
/// Rounds of [multiplier, evaluation, fixing] at the root and at a node, and the effort of each.
const ROOT: (usize, Effort<'static>) = (20, Effort { temperatures: &[0.02, 0.005, 0.0015], steps: 60 });
const NODE: (usize, Effort<'static>) = (2, Effort { temperatures: &[0.003, 0.0007], steps: 25 });
/// A round that leaves more than this share of the supports is the last but one.
const SHRUNK: f64 = 0.9;
/// One that leaves as many and lowers the bound by less than this share of it is the last.
const WORTH: f64 = 1e-5;
/// Columns of L beyond r.
const WIDER: usize = 8;
/// Share of v in which supports near the largest count for a split.
const NEAR: f64 = 0.02;
/// Slack for rounding where supports are compared with the cutoff, as a share of the bound.
const JUDGED: f64 = 1e-12;

/// A set of X: a list of supports for each column.
#[derive(Clone, Debug, Default)]
pub struct Node {
    columns: Vec<Arc<List>>, // of the node before all roots, none
    l: Option<Arc<RowMat>>,
    is_root: bool,
    most: f64,
    path: Vec<u16>, // the way, and at each split whether the row is in
}

/// Supports that are left with a gap.
#[derive(Clone, Debug)]
pub struct Open {
    /// A bound of what X on these supports has.
    pub most: f64,
    /// The support of each column.
    pub sets: Vec<Vec<usize>>,
}

/// Bound by a multiplier, and the supports that it leaves.
struct Judged {
    bound: f64,
    left: Vec<Arc<List>>, // what may have more than the cutoff
    first: f64,           // the largest v₁, 0 where no column has it
    most: Vec<f64>,       // the largest v₂ of each group
}

/// Rules by which nodes are split and bounded.
pub struct SupportBranching<'a> {
    form: &'a Form,
    roots: Vec<Vec<Arc<List>>>,
    start: RowMat, // L of the roots
    heads: usize,  // 1 where the first column has a term of its own, else 0
    own: bool,     // whether the first column has the largest variance
    one: f64,      // what a column of the incumbent has
    padded: bool,  // whether supports may be taken to have k rows and to share none or two
    open: Mutex<Vec<Open>>,
    visits: Option<Visits>, // where somebody asks what the proof was made of
}

impl<'a> SupportBranching<'a> {
    /// With one root for each way to give numbers of nonzeros to the columns.
    pub fn new(
        form: &'a Form,
        roots: Vec<Vec<Arc<List>>>,
        start: RowMat,
        (heads, own): (usize, bool),
        one: f64,
        visits: Option<Visits>,
    ) -> Self {
        let rows = |root: &Vec<Arc<List>>| root.iter().map(|list| list.size).sum::<usize>();
        let padded = roots.iter().all(|root| rows(root) <= form.n());
        Self { form, roots, start, heads, own, one, padded, open: Mutex::default(), visits }
    }

    /// The node before all roots.
    pub fn root() -> Node {
        Node { most: f64::INFINITY, ..Node::default() }
    }

    /// Supports that are left above `cut`, and what the proof was made of.
    pub fn open(self, cut: f64) -> (Vec<Open>, Option<Visits>) {
        let all = self.open.into_inner().unwrap_or_else(PoisonError::into_inner);
        (all.into_iter().filter(|open| open.most > cut).collect(), self.visits)
    }

    /// A multiplier that judged a node, if requested.
    fn note(&self, node: &Node, l: &RowMat, judged: &Judged) {
        let Some(visits) = &self.visits else { return };
        let groups = self.groups(&node.columns);
        let place = |list: &Arc<List>| groups.iter().position(|g| Arc::ptr_eq(g.0, list)).unwrap_or(0);
        let mut v = vec![judged.first; self.heads];
        v.extend(node.columns[self.heads..].iter().map(|list| judged.most[place(list)]));
        visits.step(&node.path, Step { l: l.clone(), v });
    }

    /// The lists of the columns without a term of their own, each with the number of columns that have it.
    fn groups<'b>(&self, columns: &'b [Arc<List>]) -> Vec<(&'b Arc<List>, usize)> {
        let mut groups: Vec<(&Arc<List>, usize)> = Vec::new();
        for list in &columns[self.heads..] {
            match groups.iter_mut().find(|g| Arc::ptr_eq(g.0, list)) {
                Some(group) => group.1 += 1,
                None => groups.push((list, 1)),
            }
        }
        groups
    }

    /// The bound of the lists with L, and the supports that may have more than `cut`: Theorems 1 and 4. `None` if
    /// cancelled.
    fn judged(
        &self,
        columns: &[Arc<List>],
        l: &RowMat,
        cut: f64,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Option<Judged> {
        let m = Multiplier::new(self.form, l)?;
        let groups = self.groups(columns);
        let first = match self.heads {
            0 => 0.0,
            _ => m.most_first(&columns[0], over)?,
        };
        let most: Vec<f64> =
            groups.iter().map(|(list, _)| m.most_later(list, 0.3 * self.one, over)).collect::<Option<_>>()?;
        let later: f64 = groups.iter().zip(&most).map(|(g, v)| g.1 as f64 * v).sum();
        let bound = (m.trace + first + later) * (1.0 + JUDGED);
        if !bound.is_finite() {
            return None; // a number that failed leaves no list empty
        }
        if bound <= cut {
            return Some(Judged { bound, left: columns.to_vec(), first, most });
        }
        let fewer = |list: &Arc<List>, kept: Vec<bool>| match kept.iter().all(|k| *k) {
            true => Arc::clone(list),
            false => Arc::new(list.kept(|s| kept[s])),
        };
        let judge = |v: f64| cut - (bound - v) - JUDGED * bound;
        let mut left: Vec<Arc<List>> = Vec::with_capacity(columns.len());
        if self.heads == 1 {
            left.push(fewer(&columns[0], m.above_first(&columns[0], judge(first), over)?));
        }
        let mut smaller = Vec::with_capacity(groups.len());
        for ((list, _), v) in groups.iter().zip(&most) {
            smaller.push(fewer(list, m.above_later(list, judge(*v), over)?));
        }
        for list in &columns[self.heads..] {
            let place = groups.iter().position(|g| Arc::ptr_eq(g.0, list))?;
            left.push(Arc::clone(&smaller[place]));
        }
        Some(Judged { bound, left, first, most })
    }

    /// The supports with the largest values.
    fn working(
        &self,
        node: &Node,
        l: &RowMat,
        most: &[f64],
        over: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<List>> {
        let m = Multiplier::new(self.form, l)?;
        let largest = |list: &List, values: Vec<f64>| {
            let mut order = descending_to(values.len(), &|s| values[s]);
            order.truncate(WORKING);
            list.chosen(&order)
        };
        let mut out = Vec::new();
        if self.heads == 1 {
            let list = &node.columns[0];
            let few = list.len() <= WORKING;
            let values = if few { vec![0.0; list.len()] } else { m.values_first(list, over)? };
            out.push(largest(list, values));
        }
        for ((list, _), v) in self.groups(&node.columns).iter().zip(most) {
            let few = list.len() <= WORKING;
            let values = if few { vec![0.0; list.len()] } else { m.values_later(list, 0.9 * v, over)? };
            out.push(largest(list, values));
        }
        Some(out)
    }

    /// Rounds of evaluation and fixing with better and better multipliers; false where the node is closed.
    fn rounds(
        &self,
        node: &mut Node,
        cut: f64,
        time: &(dyn Fn() -> bool + Sync),
        spent: &dyn Fn() -> bool,
    ) -> bool {
        let (rounds, effort) = if node.is_root { ROOT } else { NODE };
        let temperatures: Vec<f64> = effort.temperatures.iter().map(|t| t * self.one).collect();
        let effort = Effort { temperatures: &temperatures, ..effort };
        let mut l = node.l.as_ref().map_or_else(|| self.start.clone(), |l| RowMat::clone(l));
        let mut sets: Vec<List> = Vec::new();
        for round in 0..rounds {
            let Some(judged) = self.judged(&node.columns, &l, cut, time) else { break };
            self.note(node, &l, &judged);
            let Judged { bound, left, most, .. } = judged;
            let lowers = bound < node.most * (1.0 - WORTH);
            if bound < node.most {
                (node.most, node.l) = (bound, Some(Arc::new(l.clone())));
            }
            if bound <= cut {
                return false;
            }
            let size = |columns: &[Arc<List>]| columns.iter().map(|c| c.len()).sum::<usize>();
            let shrunk = (size(&left) as f64) < SHRUNK * size(&node.columns) as f64;
            node.columns = left;
            if !self.dominated(node) {
                node.most = node.most.min(cut);
                return false;
            }
            let is_last = round + 1 == rounds || (round > 0 && !lowers);
            if (is_last && !shrunk) || spent() {
                break;
            }
            let Some(new) = self.working(node, &l, &most, time) else { break };
            sets = merged(new, &sets, node, self.heads, &self.groups(&node.columns));
            let groups = self.groups(&node.columns);
            let later = sets[self.heads..].iter().zip(&groups).map(|(list, g)| (list, g.1)).collect();
            let working = Working { first: sets.first().filter(|_| self.heads == 1), later };
            l = working.relaxed(self.form, &l, effort, &|| time() || spent());
        }
        true
    }

    /// Once a column is decided, supports of others that share exactly one row with it leave; false where a list is empty.
    fn dominated(&self, node: &mut Node) -> bool {
        if node.columns.iter().any(|c| c.len() == 0) {
            return false;
        }
        if !self.padded {
            return true;
        }
        for a in 0..node.columns.len() {
            if node.columns[a].len() != 1 {
                continue;
            }
            let decided = node.columns[a].set(0).to_vec();
            let shares = |list: &List, s: usize| list.set(s).iter().filter(|i| decided.contains(i)).count();
            let before = node.columns.clone();
            let mut made: Vec<(Arc<List>, Arc<List>)> = Vec::new(); // alike columns stay alike
            for b in (0..before.len()).filter(|b| *b != a) {
                let list = &before[b];
                if let Some((_, new)) = made.iter().find(|(old, _)| Arc::ptr_eq(old, list)) {
                    node.columns[b] = Arc::clone(new);
                    continue;
                }
                if (0..list.len()).any(|s| shares(list, s) == 1) {
                    let new = Arc::new(list.kept(|s| shares(list, s) != 1));
                    made.push((Arc::clone(list), Arc::clone(&new)));
                    node.columns[b] = new;
                }
            }
            if node.columns.iter().any(|c| c.len() == 0) {
                return false;
            }
        }
        true
    }

    /// The column and row that halve the supports near the largest best.
    fn choose(&self, node: &Node) -> Option<(usize, u16)> {
        let never = || false;
        let l = node.l.as_ref().map_or(&self.start, |l| l);
        let m = Multiplier::new(self.form, l);
        let mut best: Option<(f64, usize, u16)> = None;
        for (j, list) in node.columns.iter().enumerate() {
            let seen = node.columns[self.heads.min(j)..j].iter().any(|c| Arc::ptr_eq(c, list));
            if list.len() == 1 || (j >= self.heads && seen) {
                continue;
            }
            let values = m.as_ref().and_then(|m| match j < self.heads {
                true => m.values_first(list, &never),
                false => m.values_later(list, 0.5 * self.one, &never),
            });
            let values = values.unwrap_or_else(|| vec![1.0; list.len()]);
            let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let scale = NEAR * if j < self.heads { self.one } else { top.abs() };
            let weights: Vec<f64> = values.iter().map(|v| ((v - top) / scale).exp()).collect();
            let all: f64 = weights.iter().sum();
            let mut rows = vec![(0.0, 0usize); self.form.n()];
            for (s, w) in weights.iter().enumerate() {
                for i in list.set(s) {
                    rows[usize::from(*i)].0 += w / all;
                    rows[usize::from(*i)].1 += 1;
                }
            }
            for (i, (share, number)) in rows.iter().enumerate() {
                if *number == 0 || *number == list.len() {
                    continue;
                }
                let part = *number as f64 / list.len() as f64;
                let score = share.min(1.0 - share) + 1e-3 * part.min(1.0 - part);
                if best.is_none_or(|b| score > b.0) {
                    best = Some((score, j, i as u16));
                }
            }
        }
        best.map(|(_, j, i)| (j, i))
    }

    /// The bound of a node whose supports are all known.
    fn leaf(
        &self,
        node: &Node,
        cut: f64,
        time: &(dyn Fn() -> bool + Sync),
        spent: &dyn Fn() -> bool,
    ) -> Option<Open> {
        let sets: Vec<Vec<usize>> =
            node.columns.iter().map(|c| c.set(0).iter().map(|i| usize::from(*i)).collect()).collect();
        let over = || time() || spent();
        let mut most = f64::NEG_INFINITY;
        // columns that are alike in the lists may come in any order
        let later = sets.len() - self.heads;
        let differ = self.heads == 1 && sets.len() <= HOLDS;
        for order in if differ { permutations(later) } else { vec![(0..later).collect()] } {
            let mut placed = sets[..self.heads].to_vec();
            placed.extend(order.iter().map(|p: &usize| sets[self.heads + p].clone()));
            let leaf = Leaf::new(&self.form.c, &placed, cut, (self.heads, self.own), self.one);
            let Some(leaf) = leaf else {
                most = most.max(node.most);
                continue;
            };
            let (bound, cells) = leaf.proved(self.visits.is_some(), &over);
            most = most.max(bound);
            if let Some(visits) = &self.visits {
                visits.leaf(&node.path, leaf.written(cells));
            }
        }
        let most = most.min(node.most);
        (most > cut).then_some(Open { most, sets })
    }
}

/// All orders of so many columns.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for k in 0..count {
        let longer = |order: &Vec<usize>, at: usize| {
            let mut order = order.clone();
            order.insert(at, k);
            order
        };
        all = all.iter().flat_map(|order| (0..=k).map(|at| longer(order, at)).collect::<Vec<_>>()).collect();
    }
    all
}

/// The new working sets with what of the old ones is still in the lists.
fn merged(
    new: Vec<List>,
    old: &[List],
    node: &Node,
    heads: usize,
    groups: &[(&Arc<List>, usize)],
) -> Vec<List> {
    if old.len() != new.len() {
        return new;
    }
    let whole = |p: usize| if p < heads { &node.columns[p] } else { groups[p - heads].0 };
    new.into_iter().zip(old).enumerate().map(|(p, (new, old))| union(whole(p), &new, old)).collect()
}

/// Supports of the list that are in one of two others, which are parts of it or of what it was.
fn union(list: &List, a: &List, b: &List) -> List {
    let mut sets: Vec<&[u16]> =
        (0..a.len()).map(|s| a.set(s)).chain((0..b.len()).map(|s| b.set(s))).collect();
    sets.sort_unstable();
    sets.dedup();
    list.kept(|s| sets.binary_search(&list.set(s)).is_ok())
}

impl Branching for SupportBranching<'_> {
    type Node = Node;

    fn children(&self, node: &Node) -> Vec<Node> {
        if node.columns.is_empty() {
            let root = |(way, columns): (usize, &Vec<Arc<List>>)| Node {
                columns: columns.clone(),
                l: None,
                is_root: true,
                most: f64::INFINITY,
                path: vec![way as u16],
            };
            return self.roots.iter().enumerate().map(root).collect();
        }
        let Some((j, row)) = self.choose(node) else { return Vec::new() };
        let list = &node.columns[j];
        let has = |s: usize| list.set(s).contains(&row);
        let (with, without) = (Arc::new(list.kept(has)), Arc::new(list.kept(|s| !has(s))));
        let (mut yes, mut no) = (node.clone(), node.clone());
        (yes.is_root, no.is_root) = (false, false);
        yes.columns[j] = with;
        // of alike columns the first that has the row, or none
        let alike: Vec<usize> = match j < self.heads {
            true => vec![j],
            false => {
                (self.heads..node.columns.len()).filter(|b| Arc::ptr_eq(&node.columns[*b], list)).collect()
            }
        };
        alike.iter().for_each(|b| no.columns[*b] = Arc::clone(&without));
        if let Some(visits) = &self.visits {
            visits.split(&node.path, (alike, row));
        }
        yes.path.push(1);
        no.path.push(0);
        vec![yes, no]
    }

    fn evaluate(
        &self,
        mut node: Node,
        cut: f64,
        watch: &Watch<'_>,
        spent: &dyn Fn() -> bool,
    ) -> Evaluated<Node> {
        let time = || watch.is_over();
        if !self.dominated(&mut node) || !self.rounds(&mut node, cut, &time, spent) {
            let most = node.most.min(cut);
            return Evaluated { node, most, final_: true, sets: None };
        }
        if node.columns.iter().any(|c| c.len() != 1) {
            let most = node.most;
            return Evaluated { node, most, final_: false, sets: None };
        }
        let open = self.leaf(&node, cut, &time, spent);
        let sets = open.as_ref().map(|open| open.sets.clone());
        self.open.lock().unwrap_or_else(PoisonError::into_inner).extend(open);
        // the rest of it is kept apart from the other nodes
        Evaluated { node, most: cut, final_: true, sets }
    }
}

/// L that begins at the plane of the incumbent's q: M₁₂ = R₁₂R₂₂ there, and a little of the leading axes of C.
pub fn start(form: &Form, x: &RowMat) -> RowMat {
    let (m, r) = (form.rows, x.ncols());
    let p = m.min(r + WIDER);
    // Gram–Schmidt of the scores Ax
    let mut q: Vec<Vec<f64>> = Vec::new();
    let mut upper = RowMat::zeros(r, r);
    for k in 0..r {
        let mut t: Vec<f64> =
            (0..m).map(|row| (0..form.n()).map(|i| form.a.get(row, i) * x.get(i, k)).sum()).collect();
        for (j, q) in q.iter().enumerate() {
            let along: f64 = q.iter().zip(&t).map(|(a, b)| a * b).sum();
            upper.set(j, k, along);
            t.iter_mut().zip(q).for_each(|(t, q)| *t -= along * q);
        }
        let length = t.iter().map(|v| v * v).sum::<f64>().sqrt();
        upper.set(k, k, length);
        if length > 0.0 {
            t.iter_mut().for_each(|v| *v /= length);
        }
        q.push(t);
    }
    let least = (0..r).map(|k| upper.get(k, k).powi(2)).fold(f64::INFINITY, f64::min);
    let inner = RowMat::from_fn(r, r, |i, j| match i == j {
        true => (upper.get(i, i).powi(2) - 0.35 * least).max(0.02 * upper.get(0, 0).powi(2)),
        false => 0.8 * upper.get(i.min(j), i.max(j)) * upper.get(i.max(j), i.max(j)),
    });
    let mut l = RowMat::zeros(m, p);
    if let Some((values, v)) = orthopt_linalg::eigen::symmetric_eigenpairs(&inner) {
        for k in 0..r.min(p) {
            let root = values[k].max(0.0).sqrt();
            for row in 0..m {
                l.set(row, k, (0..r).map(|j| q[j][row] * v.get(j, k)).sum::<f64>() * root);
            }
        }
    }
    for k in r..p {
        let row = (k - r).min(m - 1);
        let length = form.a.row(row).iter().map(|v| v * v).sum::<f64>().sqrt();
        for i in 0..m {
            // nothing that is symmetric stays so
            let apart = 1e-3 * ((i * 7 + k * 13) as f64).sin();
            l.set(i, k, apart + if i == row { 0.25 * length } else { 0.0 });
        }
    }
    l
}
