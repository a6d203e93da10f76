//! The check of a proof by lists of supports: the lists are made anew, and shrink by the multipliers of the file alone.
//!
//! A multiplier B stands for M = ABB'A' with C = A'A, so that A is not needed:
//!
//! ```text
//! tr M = tr B'CB        A'MA = YY', Y = CB        A'(M + νI)⁻¹A ⪯ ((I − BG)'C(I − BG) + νG'G)/ν  for every G
//! ```

use std::sync::Arc;

use super::certain::{absolute, cross, is_below, largest, peak, rounding};
use super::{Lists, Node, Refusal, matrix, refused};
use orthopt_linalg::RowMat;
use orthopt_linalg::cholesky;
use orthopt_linalg::parallel::map;
use orthopt_linalg::products::times;

/// Share of the cutoff that an X may have above it, for the rounding of a checker.
pub const SLACK: f64 = 2e-7;
/// By how much, of 1 and of itself, the maximum of a list is taken to be larger than the file says.
const RAISED: f64 = 1e-8;
/// Supports of all sizes that are listed, at most.
const SUPPORTS: usize = 1_000_000;
/// Supports that a task examines.
const CHUNK: usize = 4096;

/// Supports of one size, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Sets {
    size: usize,
    rows: Vec<u16>,
}

impl Sets {
    fn all(n: usize, size: usize) -> Self {
        let mut rows = Vec::new();
        let mut now: Vec<u16> = (0..size as u16).collect();
        'every: loop {
            rows.extend(&now);
            for at in (0..size).rev() {
                if usize::from(now[at]) < n - size + at {
                    now[at] += 1;
                    (at + 1..size).for_each(|p| now[p] = now[p - 1] + 1);
                    continue 'every;
                }
            }
            return Self { size, rows };
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.size
    }

    pub fn set(&self, s: usize) -> &[u16] {
        &self.rows[s * self.size..(s + 1) * self.size]
    }

    fn kept(&self, keep: impl Fn(&[u16]) -> bool) -> Self {
        let rows = self.rows.chunks(self.size).filter(|set| keep(set)).flatten().copied().collect();
        Self { size: self.size, rows }
    }

    fn chosen(&self, keep: &[bool]) -> Self {
        let sets = self.rows.chunks(self.size).zip(keep).filter(|(_, keep)| **keep);
        Self { size: self.size, rows: sets.flat_map(|(set, _)| set).copied().collect() }
    }

    /// The block of an n × n matrix on a support.
    fn block(&self, s: usize, m: &RowMat, out: &mut Vec<f64>) {
        let set = self.set(s);
        out.clear();
        set.iter().for_each(|i| out.extend(set.iter().map(|j| m.get(usize::from(*i), usize::from(*j)))));
    }

    /// `test` of all supports, in order.
    fn tested(&self, test: impl Fn(usize) -> bool + Sync) -> Vec<bool> {
        let chunk = |p: usize| (p * CHUNK..self.len().min((p + 1) * CHUNK)).map(&test).collect::<Vec<bool>>();
        map(self.len().div_ceil(CHUNK), 1, chunk).concat()
    }
}

/// The problem in the unit of the file.
pub struct ScaledProblem {
    /// C, raised until it is proved to be positive semidefinite.
    pub c: RowMat,
    pub r: usize,
    /// True if the first column has a term of its own, and whether that is the one with the largest variance.
    pub has_order: bool,
    pub own_order: bool,
    /// No X with more than this is allowed to be anywhere but in what is left open.
    pub cut: f64,
}

/// Node that no multiplier closes: the largest value of X there, and the supports if they are known.
pub struct Left {
    pub most: f64,
    pub supports: Option<Vec<Vec<usize>>>,
}

impl ScaledProblem {
    /// Of C, whose entries are finite.
    pub fn new(c: &RowMat, r: usize, has_order: bool, own_order: bool, cut: f64) -> Result<Self, Refusal> {
        let n = c.nrows();
        let shift = 8.0 * rounding(n + 8) * n as f64 * (0..n).map(|i| c.get(i, i).abs()).fold(0.0, f64::max);
        let c = RowMat::from_fn(n, n, |i, j| c.get(i, j) + if i == j { shift } else { 0.0 });
        let negative = RowMat::from_fn(n, n, |i, j| -c.get(i, j));
        match is_below(negative.data(), n, 0.0, 0.0, &mut Vec::new()) {
            true => Ok(Self { c, r, has_order, own_order, cut }),
            false => refused("C of these data is not positive semidefinite"),
        }
    }

    fn heads(&self) -> usize {
        usize::from(self.has_order)
    }

    /// All that is left open over all ways to divide the nonzeros.
    pub fn left(&self, lists: &Lists) -> Result<Vec<Left>, Refusal> {
        let n = self.c.nrows();
        let mut whole: Vec<Arc<Sets>> = Vec::new();
        let mut listed = 0usize;
        for k in lists.ways.iter().flat_map(|way| &way.counts) {
            if *k == 0 || *k > n || n > usize::from(u16::MAX) {
                return refused(format!("no component of {n} variables has {k} nonzeros"));
            }
            if whole.iter().all(|sets| sets.size != *k) {
                let count = (0..*k).try_fold(1usize, |b, i| Some(b.checked_mul(n - i)? / (i + 1)));
                listed = listed.saturating_add(count.unwrap_or(usize::MAX));
                if listed > SUPPORTS {
                    return refused(format!("there are more than {SUPPORTS} supports to list"));
                }
                whole.push(Arc::new(Sets::all(n, *k)));
            }
        }
        let shown = Multipliers::all(&lists.multipliers, &self.c)?;
        let mut open = Vec::new();
        for way in &lists.ways {
            let of = |k: &usize| whole.iter().find(|sets| sets.size == *k).map(Arc::clone);
            let mut columns: Vec<Arc<Sets>> = way.counts.iter().filter_map(of).collect();
            let padded = way.counts.iter().sum::<usize>() <= n;
            let own = if self.has_order { self.own_variances(&mut columns[0])? } else { Vec::new() };
            let replay = Replay { scaled: self, lists, shown: &shown, padded, own };
            replay.node(way.node, columns, &mut open)?;
        }
        Ok(open)
    }

    /// An upper bound of λ₁ of C on each support of a first column; supports with less than their share leave.
    fn own_variances(&self, first: &mut Arc<Sets>) -> Result<Vec<f64>, Refusal> {
        let least = if self.own_order { self.cut / self.r as f64 } else { f64::NEG_INFINITY };
        let k = first.size;
        if least.is_finite() {
            let keep = first.tested(|s| {
                let (mut block, mut spare) = (Vec::new(), Vec::new());
                first.block(s, &self.c, &mut block);
                !is_below(&block, k, least, 0.0, &mut spare)
            });
            *first = Arc::new(first.chosen(&keep));
        }
        let own = map(first.len(), CHUNK, |s| {
            let mut block = Vec::new();
            first.block(s, &self.c, &mut block);
            largest(&RowMat::from_fn(k, k, |i, j| block[i * k + j]), 0.0)
        });
        own.into_iter().collect::<Option<_>>().map_or_else(|| refused("an eigenvalue is not finite"), Ok)
    }
}

/// A multiplier with what is shown by it of all supports.
struct Multipliers {
    b: RowMat,
    y: RowMat,      // CB
    inner: RowMat,  // B'CB
    square: RowMat, // YY'
    off: f64,       // of an entry of YY'
    trace: f64,     // tr M, rounded up
}

impl Multipliers {
    fn all(written: &[super::Rows], c: &RowMat) -> Result<Vec<Self>, Refusal> {
        let read = |(k, rows): (usize, &super::Rows)| {
            let b = matrix(rows, c.nrows(), None);
            b.map_or_else(
                || refused(format!("multiplier {k} has another size, or a value that is not finite")),
                |b| Ok(Self::new(b, c)),
            )
        };
        written.iter().enumerate().map(read).collect()
    }

    fn new(b: RowMat, c: &RowMat) -> Self {
        let (n, p) = (c.nrows(), b.ncols());
        let (y, size) = (times(c, &b), times(&absolute(c), &absolute(&b)));
        let inner = cross(&b, &y).symmetric_part();
        let turned = RowMat::from_fn(p, n, |i, j| y.get(j, i));
        let length = |m: &RowMat| {
            (0..n).map(|i| m.row(i).iter().map(|v| v * v).sum::<f64>()).fold(0.0, f64::max).sqrt() * 1.01
        };
        let (long, wrong) = (length(&y), rounding(n + 2) * length(&size));
        let off = 2.0 * long * wrong + wrong * wrong + rounding(p + 2) * long * long;
        let sizes: f64 = b.data().iter().zip(size.data()).map(|(b, s)| b.abs() * s).sum();
        let trace = b.data().iter().zip(y.data()).map(|(b, y)| b * y).sum::<f64>()
            + rounding(2 * n + n * p + 4) * sizes;
        Self { square: times(&y, &turned).symmetric_part(), b, y, inner, off, trace }
    }

    /// T with λ₁(A_SA_S' − M) ≤ ν wherever λ₁(T_SS) ≤ ν, and what its entries are off by.
    fn second(&self, c: &RowMat, nu: f64) -> Option<(RowMat, f64)> {
        let (n, p) = (c.nrows(), self.b.ncols());
        let shifted = RowMat::from_fn(p, p, |i, j| self.inner.get(i, j) + if i == j { nu } else { 0.0 });
        let l = cholesky::cholesky(&shifted)?;
        let g = cholesky::solve(&l, &RowMat::from_fn(p, n, |i, j| self.y.get(j, i)));
        let bg = times(&self.b, &g);
        let d = RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - bg.get(i, j));
        let (c_size, d_size, g_size) = (absolute(c), absolute(&d), absolute(&g));
        let mut wrong = times(&absolute(&self.b), &g_size);
        wrong.data_mut().iter_mut().zip(d_size.data()).for_each(|(w, d)| *w = rounding(p + 3) * (*w + d));
        let image = times(&c_size, &d_size);
        let of_d = 2.0 * peak(&cross(&wrong, &image)) + peak(&cross(&wrong, &times(&c_size, &wrong)));
        let sums = rounding(2 * n + 6) * peak(&cross(&d_size, &image));
        let of_g = rounding(p + 6) * nu * peak(&cross(&g_size, &g_size));
        let (mut t, squares) = (cross(&d, &times(c, &d)), cross(&g, &g));
        t.data_mut().iter_mut().zip(squares.data()).for_each(|(t, s)| *t += nu * s);
        let off = 1.01 * (of_d + sums + of_g);
        off.is_finite().then(|| (t.symmetric_part(), off))
    }
}

/// The course of one way.
struct Replay<'a> {
    scaled: &'a ScaledProblem,
    lists: &'a Lists,
    shown: &'a [Multipliers],
    padded: bool,  // whether supports may be taken to share no row, or two
    own: Vec<f64>, // of the supports of the first column at the root
}

/// A node to come: its number, the list of each column, λ₁ of C on those of the first, and what is known of it.
struct Coming {
    node: usize,
    columns: Vec<Arc<Sets>>,
    own: Vec<f64>,
    most: f64,
}

impl Replay<'_> {
    fn node(&self, node: usize, columns: Vec<Arc<Sets>>, open: &mut Vec<Left>) -> Result<(), Refusal> {
        let own = self.own.clone();
        let mut waiting = vec![Coming { node, columns, own, most: f64::INFINITY }];
        while let Some(mut now) = waiting.pop() {
            let Some(node) = self.lists.nodes.get(now.node) else {
                return refused(format!("node {} is missing", now.node));
            };
            if self.closes(&mut now, node)? {
                continue;
            }
            if let Some(split) = &node.split {
                // what comes later stands later, so that no node is its own
                if split.inside <= now.node || split.outside <= now.node {
                    return refused(format!("node {} is not before its parts", now.node));
                }
                waiting.extend(self.parts(now, split)?);
                continue;
            }
            let decided = now.columns.iter().all(|sets| sets.len() == 1);
            let supports = decided.then(|| {
                let set = |sets: &Arc<Sets>| sets.set(0).iter().map(|i| usize::from(*i)).collect();
                now.columns.iter().map(set).collect::<Vec<Vec<usize>>>()
            });
            let most = match &supports {
                Some(sets) => super::boxes::bound(self.scaled, sets, &node.leaves)?.min(now.most),
                None => now.most,
            };
            if most > self.scaled.cut {
                open.push(Left { most, supports });
            }
        }
        Ok(())
    }

    /// True if nothing above the cutoff is left after the multipliers of the node.
    fn closes(&self, now: &mut Coming, node: &Node) -> Result<bool, Refusal> {
        for step in &node.steps {
            if !self.share_no_row_or_two(now) {
                return Ok(true);
            }
            let Some(m) = self.shown.get(step.multiplier) else {
                return refused(format!("multiplier {} is missing", step.multiplier));
            };
            if step.v.len() != now.columns.len() || step.v.iter().any(|v| !v.is_finite()) {
                return refused("a multiplier has not one finite number for each component");
            }
            let raised: Vec<f64> = step.v.iter().map(|v| v + RAISED * v.abs().max(1.0)).collect();
            let bound = (m.trace + raised.iter().sum::<f64>()) * (1.0 + 1e-12);
            if let Some(j) = (0..raised.len()).find(|j| !self.are_below(m, now, *j, raised[*j])) {
                let number = step.multiplier;
                return refused(format!(
                    "multiplier {number} does not prove what the file says of component {}",
                    j + 1
                ));
            }
            now.most = now.most.min(bound);
            if bound <= self.scaled.cut {
                return Ok(true);
            }
            self.shrink(m, now, &raised.iter().map(|v| self.scaled.cut - (bound - v)).collect::<Vec<_>>());
        }
        Ok(!self.share_no_row_or_two(now))
    }

    /// True if v of column j is at most t on all supports of its list.
    fn are_below(&self, m: &Multipliers, now: &Coming, j: usize, t: f64) -> bool {
        let below = match j < self.scaled.heads() {
            true => Some(self.first(m, &now.columns[j], &now.own, t)),
            false => self.second(m, &now.columns[j], t),
        };
        below.is_some_and(|below| !below.contains(&false))
    }

    /// Supports leave whose v is at most what matters, one number for each column.
    fn shrink(&self, m: &Multipliers, now: &mut Coming, needed: &[f64]) {
        let mut made: Vec<(Arc<Sets>, f64, Arc<Sets>)> = Vec::new(); // what is alike stays so
        for (j, t) in needed.iter().enumerate() {
            let sets = Arc::clone(&now.columns[j]);
            if j < self.scaled.heads() {
                let keep: Vec<bool> = self.first(m, &sets, &now.own, *t).iter().map(|below| !below).collect();
                now.own = now.own.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(v, _)| *v).collect();
                now.columns[j] = Arc::new(sets.chosen(&keep));
                continue;
            }
            let seen = made.iter().find(|(old, at, _)| Arc::ptr_eq(old, &sets) && at == t);
            if let Some((_, _, new)) = seen {
                now.columns[j] = Arc::clone(new);
                continue;
            }
            // below 0 nothing can be decided
            let Some(below) = self.second(m, &sets, *t) else { continue };
            let new = Arc::new(sets.chosen(&below.iter().map(|below| !below).collect::<Vec<_>>()));
            made.push((sets, *t, Arc::clone(&new)));
            now.columns[j] = new;
        }
    }

    /// Which supports of a first column have v₁ ≤ t.
    fn first(&self, m: &Multipliers, sets: &Sets, own: &[f64], t: f64) -> Vec<bool> {
        let k = sets.size;
        sets.tested(|s| {
            let (mut c, mut p, mut spare) = (Vec::new(), Vec::new(), Vec::new());
            sets.block(s, &self.scaled.c, &mut c);
            sets.block(s, &m.square, &mut p);
            let beta = own[s].max(f64::MIN_POSITIVE);
            let size = c.iter().chain(&p).fold(0.0f64, |most, v| most.max(v.abs()));
            c.iter_mut().zip(&p).for_each(|(c, p)| *c -= p / beta);
            is_below(&c, k, t, m.off / beta + rounding(4) * (size + size / beta), &mut spare)
        })
    }

    /// Which supports have v₂ ≤ t. `None` for no t > 0.
    fn second(&self, m: &Multipliers, sets: &Sets, t: f64) -> Option<Vec<bool>> {
        let (t_of, off) = m.second(&self.scaled.c, Some(t).filter(|t| *t > 0.0)?)?;
        let k = sets.size;
        Some(sets.tested(|s| {
            let (mut block, mut spare) = (Vec::new(), Vec::new());
            sets.block(s, &t_of, &mut block);
            is_below(&block, k, t, off, &mut spare)
        }))
    }

    /// Supports that share exactly one row with a known one leave; false where a list is empty.
    fn share_no_row_or_two(&self, now: &mut Coming) -> bool {
        for a in 0..now.columns.len() {
            if !self.padded || now.columns[a].len() != 1 {
                continue;
            }
            let known = now.columns[a].set(0).to_vec();
            let may = |set: &[u16]| set.iter().filter(|i| known.contains(i)).count() != 1;
            let mut made: Vec<(Arc<Sets>, Arc<Sets>)> = Vec::new(); // what is alike stays so
            for b in (0..now.columns.len()).filter(|b| *b != a) {
                let old = Arc::clone(&now.columns[b]);
                let new = match made.iter().find(|(seen, _)| Arc::ptr_eq(seen, &old)) {
                    Some((_, new)) => Arc::clone(new),
                    None => Arc::new(old.kept(may)),
                };
                if new.len() == old.len() {
                    continue;
                }
                if b < self.scaled.heads() {
                    let kept = now.own.iter().enumerate().filter(|(s, _)| may(old.set(*s)));
                    now.own = kept.map(|(_, own)| *own).collect();
                }
                made.push((old, Arc::clone(&new)));
                now.columns[b] = new;
            }
        }
        now.columns.iter().all(|sets| sets.len() > 0)
    }

    /// Row in the support of the first of columns that are alike, or in that of none.
    fn parts(&self, now: Coming, split: &super::Split) -> Result<[Coming; 2], Refusal> {
        let row = split.row as u16;
        let Some(first) = split.columns.first().and_then(|j| now.columns.get(*j)).map(Arc::clone) else {
            return refused(format!("node {} splits no component", now.node));
        };
        let alike = |j: &usize| {
            let of_a_kind = split.columns.len() == 1 || *j >= self.scaled.heads();
            of_a_kind && now.columns.get(*j).is_some_and(|sets| *sets == first)
        };
        let mut seen = split.columns.clone();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() != split.columns.len() || !split.columns.iter().all(alike) {
            return refused(format!("node {} splits components that are not alike", now.node));
        }
        let own = |inside: bool| match split.columns[0] < self.scaled.heads() {
            true => {
                let of = |s: &usize| first.set(*s).contains(&row) == inside;
                (0..first.len()).filter(of).map(|s| now.own[s]).collect()
            }
            false => now.own.clone(),
        };
        let (with, without) =
            (Arc::new(first.kept(|set| set.contains(&row))), Arc::new(first.kept(|set| !set.contains(&row))));
        let (mut inside, mut outside) = (now.columns.clone(), now.columns.clone());
        inside[split.columns[0]] = with;
        split.columns.iter().for_each(|j| outside[*j] = Arc::clone(&without));
        Ok([
            Coming { node: split.inside, columns: inside, own: own(true), most: now.most },
            Coming { node: split.outside, columns: outside, own: own(false), most: now.most },
        ])
    }
}
