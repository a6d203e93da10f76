//! Pairs that can move, drawn at random or visited in order, for solvers and certificates.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::row_set::RowSet;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::is_zero;

/// The nonzero rows of X, kept up to date. A pair can move when one of its rows is among them. If
/// few of many rows are nonzero, the zero rows may be restricted to a set of near ones.
#[derive(Clone, Debug)]
pub struct Movable {
    nonzero: RowSet,
    near: Option<RowSet>,    // zero rows worth a try; `None`: all
    pub(super) always: bool, // no row is ever zero, as for X'JX = J
}

impl Movable {
    /// Those of X.
    pub fn new(x: &RowMat) -> Self {
        let mut out = Self { nonzero: RowSet::empty(x.nrows()), near: None, always: false };
        (0..x.nrows()).for_each(|i| out.update(i, x));
        out
    }

    /// All of n rows, where the constraint leaves none of them zero.
    pub fn always(n: usize) -> Self {
        Self { nonzero: RowSet::all(n), near: None, always: true }
    }

    /// Restricts random pairs and a pass of near pairs to these rows and the nonzero ones; `None`: all.
    pub fn narrow(&mut self, near: Option<&[usize]>) {
        self.near = near.map(|rows| {
            let mut set = RowSet::empty(self.nrows());
            rows.iter().filter(|i| !self.contains(**i)).for_each(|i| set.insert(*i));
            set
        });
    }

    /// True if zero rows are restricted.
    pub fn is_narrowed(&self) -> bool {
        self.near.is_some()
    }

    /// Row i has changed. One that becomes zero stays near.
    #[inline]
    pub fn update(&mut self, i: usize, x: &RowMat) {
        let nonzero = !is_zero(x.row(i));
        if nonzero == self.contains(i) {
            return;
        }
        if nonzero {
            self.nonzero.insert(i);
        } else {
            self.nonzero.remove(i);
        }
        match &mut self.near {
            Some(near) if nonzero => near.remove(i),
            Some(near) => near.insert(i),
            None => {}
        }
    }

    /// True if row i can move.
    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.nonzero.contains(i)
    }

    /// Number of rows of X.
    pub fn nrows(&self) -> usize {
        self.nonzero.capacity()
    }

    /// The nonzero rows in increasing order.
    pub fn sorted(&self) -> Vec<usize> {
        let mut rows = self.nonzero.list().to_vec();
        rows.sort_unstable();
        rows
    }

    /// The nonzero rows and those that are near, in increasing order; `None`: all.
    #[doc(hidden)]
    pub fn universe(&self) -> Option<Vec<usize>> {
        let mut rows = [self.nonzero.list(), self.near.as_ref()?.list()].concat();
        rows.sort_unstable();
        Some(rows)
    }

    /// Number of nonzero rows.
    pub fn count(&self) -> usize {
        self.nonzero.list().len()
    }

    /// Number of pairs that can move.
    pub fn pairs(&self) -> u64 {
        self.pairs_with(self.nrows() - self.count())
    }

    /// Number of pairs that are drawn: a zero row only if it is near.
    pub fn near_pairs(&self) -> u64 {
        self.pairs_with(self.near.as_ref().map_or(self.nrows() - self.count(), |near| near.list().len()))
    }

    /// Pairs of nonzero rows, and of each with `zero` others.
    fn pairs_with(&self, zero: usize) -> u64 {
        let s = self.count() as u64;
        s * s.saturating_sub(1) / 2 + s * zero as u64
    }

    /// The rows that i, a nonzero one, makes pairs with, so that each pair that can move comes up once.
    pub fn partners(&self, i: usize) -> impl Iterator<Item = usize> {
        (0..self.nrows()).filter(move |j| *j != i && (*j > i || !self.contains(*j)))
    }

    /// Every pair that can move, once.
    pub fn all_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sorted().into_iter().flat_map(|i| self.partners(i).map(move |j| (i.min(j), i.max(j))))
    }

    /// A pair that can move, uniformly: a nonzero row and any other row (that is not zero or near), pairs of two nonzero
    /// rows (drawn twice as often) kept every second time.
    #[inline]
    pub fn random_pair(&self, rng: &mut Pcg64) -> Option<(usize, usize)> {
        let (n, list) = (self.nrows(), self.nonzero.list());
        let near = self.near.as_ref().map(RowSet::list);
        if list.is_empty() || near.map_or(n, |near| list.len() + near.len()) < 2 {
            return None;
        }
        loop {
            let p = rng.random_range(0..list.len());
            let i = list[p];
            let j = match near {
                None => {
                    let j = rng.random_range(0..n - 1);
                    j + usize::from(j >= i)
                }
                Some(near) => {
                    let q = rng.random_range(0..list.len() + near.len() - 1);
                    let q = q + usize::from(q >= p);
                    if q < list.len() { list[q] } else { near[q - list.len()] }
                }
            };
            if self.always || !self.contains(j) || rng.random::<bool>() {
                return Some((i.min(j), i.max(j)));
            }
        }
    }

    /// `count` disjoint blocks of `k` rows: in each, half of the rows nonzero (or as many as
    /// there are), the others any.
    pub fn random_blocks(&self, k: usize, count: usize, rng: &mut Pcg64) -> Vec<Vec<usize>> {
        let n = self.nrows();
        let count = count.min(n / k).max(1);
        let k = k.min(n);
        let list = self.nonzero.list();
        let share = k.div_ceil(2).min(list.len().div_ceil(count));
        let mut used = vec![false; n];
        let mut blocks = vec![Vec::with_capacity(k); count];
        let nonzero = (share * count).min(list.len());
        for (place, at) in rand::seq::index::sample(rng, list.len(), nonzero).into_iter().enumerate() {
            blocks[place % count].push(list[at]);
            used[list[at]] = true;
        }
        for block in &mut blocks {
            while block.len() < k {
                let i = rng.random_range(0..n);
                if !used[i] {
                    used[i] = true;
                    block.push(i);
                }
            }
        }
        blocks
    }
}

/// A random perfect matching of n rows (one stays out when n is odd), drawn uniformly.
pub fn matching(n: usize, rng: &mut Pcg64) -> Vec<(usize, usize)> {
    let mut rows: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        rows.swap(i, rng.random_range(0..=i));
    }
    rows.chunks_exact(2).map(|p| (p[0].min(p[1]), p[0].max(p[1]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn rows_of(n: usize, zero: impl Fn(usize) -> bool) -> Movable {
        Movable::new(&RowMat::from_fn(n, 2, |i, _| if zero(i) { 0.0 } else { 1.0 }))
    }

    #[test]
    fn every_pair_that_can_move_is_listed_once() {
        for n in [1, 2, 7, 12] {
            let rows = rows_of(n, |i| i % 3 == 1);
            let mut pairs: Vec<_> = rows.all_pairs().collect();
            assert_eq!(pairs.len() as u64, rows.pairs());
            assert!(pairs.iter().all(|(i, j)| i < j && (rows.contains(*i) || rows.contains(*j))));
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len() as u64, rows.pairs());
        }
    }

    /// A row that becomes zero stays near, one that becomes nonzero is no longer.
    #[test]
    fn rows_come_and_go() {
        let mut x = RowMat::from_fn(8, 2, |i, _| if i < 3 { 1.0 } else { 0.0 });
        let mut rows = Movable::new(&x);
        assert_eq!((rows.pairs(), rows.near_pairs()), (3 + 15, 3 + 15));
        rows.narrow(Some(&[0, 5, 6]));
        assert_eq!((rows.pairs(), rows.near_pairs()), (3 + 15, 3 + 6));
        for (i, v) in [(5, 1.0), (1, 0.0), (5, 1.0)] {
            x.row_mut(i).fill(v);
            rows.update(i, &x);
        }
        assert_eq!(rows.sorted(), [0, 2, 5]);
        assert_eq!(rows.universe(), Some(vec![0, 1, 2, 5, 6]));
        rows.narrow(None);
        assert_eq!(rows.near_pairs(), rows.pairs());
    }

    #[test]
    fn random_blocks_are_disjoint_and_full() {
        let mut rng = Pcg64::seed_from_u64(3);
        for (n, k, count) in [(10, 3, 4), (7, 7, 4), (40, 8, 4), (5, 9, 2)] {
            for zero in [0, 2, 9] {
                let rows = rows_of(n, |i| zero > 0 && i % 10 >= 10 - zero);
                let blocks = rows.random_blocks(k, count, &mut rng);
                let mut all: Vec<usize> = blocks.iter().flatten().copied().collect();
                assert!(blocks.iter().all(|b| b.len() == k.min(n)));
                all.sort_unstable();
                assert!(all.windows(2).all(|w| w[0] < w[1]), "overlap in {blocks:?}");
            }
        }
    }

    #[test]
    fn random_pairs_are_uniform_over_those_that_can_move() {
        let rows = rows_of(6, |i| i > 2);
        let mut rng = Pcg64::seed_from_u64(5);
        let mut count = [[0u32; 6]; 6];
        for _ in 0..24_000 {
            let (i, j) = rows.random_pair(&mut rng).expect("there are nonzero rows");
            count[i][j] += 1;
        }
        for i in 0..6 {
            for j in i + 1..6 {
                let expected = if i <= 2 { 2000.0 } else { 0.0 }; // 12 pairs can move
                assert!((f64::from(count[i][j]) - expected).abs() <= 250.0, "{i} {j}: {}", count[i][j]);
            }
        }
    }
}
