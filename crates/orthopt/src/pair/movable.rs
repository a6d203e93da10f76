//! Which pairs can move, drawn at random or visited in order, for solvers and certificates alike.

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::linalg::RowMat;
use crate::linalg::kernels::is_zero;

/// The nonzero rows of X, kept up to date. A pair can move when one of its rows is among them.
#[derive(Clone, Debug)]
pub(crate) struct Movable {
    list: Vec<usize>, // the nonzero rows, in any order
    place: Vec<u32>,  // position in `list`, or ZERO
    always: bool,     // no row is ever zero, as for X'JX = J
}

const ZERO: u32 = u32::MAX;

impl Movable {
    pub fn new(x: &RowMat) -> Self {
        let mut out = Self { list: Vec::new(), place: vec![ZERO; x.nrows()], always: false };
        (0..x.nrows()).for_each(|i| out.update(i, x));
        out
    }

    /// All of n rows, where the constraint leaves none of them zero.
    pub fn always(n: usize) -> Self {
        Self { list: (0..n).collect(), place: (0..n as u32).collect(), always: true }
    }

    /// Row i has changed.
    #[inline]
    pub fn update(&mut self, i: usize, x: &RowMat) {
        let nonzero = !is_zero(x.row(i));
        if nonzero == self.contains(i) {
            return;
        }
        if nonzero {
            self.place[i] = self.list.len() as u32;
            self.list.push(i);
        } else {
            let at = self.place[i] as usize;
            self.list.swap_remove(at);
            if let Some(moved) = self.list.get(at) {
                self.place[*moved] = at as u32;
            }
            self.place[i] = ZERO;
        }
    }

    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.place[i] != ZERO
    }

    /// Number of rows of X.
    pub fn nrows(&self) -> usize {
        self.place.len()
    }

    /// The nonzero rows in increasing order.
    pub fn sorted(&self) -> Vec<usize> {
        let mut rows = self.list.clone();
        rows.sort_unstable();
        rows
    }

    /// Number of nonzero rows.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Number of pairs that can move.
    pub fn pairs(&self) -> u64 {
        let (s, n) = (self.list.len() as u64, self.nrows() as u64);
        s * s.saturating_sub(1) / 2 + s * (n - s)
    }

    /// The rows that i, a nonzero one, makes pairs with, so that each pair that can move comes up once.
    pub fn partners(&self, i: usize) -> impl Iterator<Item = usize> {
        (0..self.nrows()).filter(move |j| *j != i && (*j > i || !self.contains(*j)))
    }

    /// Every pair that can move, once.
    pub fn all_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sorted().into_iter().flat_map(|i| self.partners(i).map(move |j| (i.min(j), i.max(j))))
    }

    /// A pair that can move, uniformly: a nonzero row and any other row, pairs of two nonzero
    /// rows (drawn twice as often) kept every second time.
    #[inline]
    pub fn random_pair(&self, rng: &mut Pcg64) -> Option<(usize, usize)> {
        let n = self.nrows();
        if self.list.is_empty() || n < 2 {
            return None;
        }
        loop {
            let i = self.list[rng.random_range(0..self.list.len())];
            let mut j = rng.random_range(0..n - 1);
            j += usize::from(j >= i);
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
        let share = k.div_ceil(2).min(self.list.len().div_ceil(count));
        let mut used = vec![false; n];
        let mut blocks = vec![Vec::with_capacity(k); count];
        let nonzero = (share * count).min(self.list.len());
        for (place, at) in rand::seq::index::sample(rng, self.list.len(), nonzero).into_iter().enumerate() {
            blocks[place % count].push(self.list[at]);
            used[self.list[at]] = true;
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

/// The next working set of a pass.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    Pair(usize, usize),
    Blocks(Vec<Vec<usize>>),
}

/// A pass over all pairs that can move: every nonzero row i (as the pass begins) with every
/// other row, each pair once. With blocks, rows are cut into chunks of k/2; every two chunks
/// make a block, in the rounds of a tournament so that the blocks of a round are disjoint, and
/// blocks without a nonzero row are left out. Rows that become nonzero during the pass are met as
/// partners; a pass that certifies moves nothing, so there the cover is complete.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    start: Vec<usize>, // nonzero rows at the start, sorted (pairs); unused for blocks
    place: usize,      // position in `start`, or round of the tournament
    partner: usize,    // next partner row, or next match of the round
    chunk: usize,      // rows per chunk; 0: pairs
    n: usize,
    always: bool, // pairs of rows that are never zero: row i meets those after it
}

impl Cursor {
    pub fn new(rows: &Movable, block: usize) -> Self {
        let chunk = if block > 2 { block / 2 } else { 0 };
        let start = if chunk == 0 { rows.sorted() } else { Vec::new() };
        let always = rows.always && chunk == 0;
        Self { start, place: 0, partner: usize::from(always), chunk, n: rows.nrows(), always }
    }

    /// A pass whose working sets are the rounds of a tournament: disjoint pairs of rows, as blocks of two (where a row
    /// is left out, a block of one).
    pub fn of_matchings(rows: &Movable) -> Self {
        Self { start: Vec::new(), place: 0, partner: 0, chunk: 1, n: rows.nrows(), always: false }
    }

    pub fn is_done(&self) -> bool {
        let end = match self.chunk {
            _ if self.always => self.n.saturating_sub(1),
            0 => self.start.len(),
            _ => self.seats().max(2) - 1,
        };
        self.place >= end
    }

    /// Chunks, made even by an empty one.
    fn seats(&self) -> usize {
        self.n.div_ceil(self.chunk).next_multiple_of(2)
    }

    /// The next working set, `None` at the end.
    pub fn next(&mut self, rows: &Movable, group: usize) -> Option<Next> {
        if self.chunk == 0 { self.next_pair(rows) } else { self.next_blocks(rows, group) }
    }

    #[inline]
    fn next_pair(&mut self, rows: &Movable) -> Option<Next> {
        while !self.is_done() {
            let (i, j) = (self.start[self.place], self.partner);
            if self.partner + 1 < self.n {
                self.partner += 1;
            } else {
                self.place += 1;
                self.partner = if self.always { self.place + 1 } else { 0 };
            }
            // a partner that was itself in the list and came earlier has met i already
            let met = j < i && self.start.binary_search(&j).is_ok();
            if j != i && !met && (rows.contains(i) || rows.contains(j)) {
                return Some(Next::Pair(i.min(j), i.max(j)));
            }
        }
        None
    }

    /// Up to `group` blocks of one round: in round t of the circle method seat 0 meets the last
    /// seat's place, and seat a meets seat b with a + b = 2t modulo seats − 1.
    fn next_blocks(&mut self, rows: &Movable, group: usize) -> Option<Next> {
        let range = |c: usize| (c * self.chunk).min(self.n)..((c + 1) * self.chunk).min(self.n);
        let (seats, mut blocks) = (self.seats(), Vec::new());
        let (mut place, mut partner) = (self.place, self.partner);
        while place < seats - 1 && blocks.len() < group {
            let (a, b) = tournament(seats, place, partner);
            let block: Vec<usize> = range(a).chain(range(b)).collect();
            if block.iter().any(|i| rows.contains(*i)) {
                blocks.push(block);
            }
            partner += 1;
            if partner == seats / 2 {
                (place, partner) = (place + 1, 0);
                if !blocks.is_empty() {
                    break; // blocks of another round are not disjoint from these
                }
            }
        }
        (self.place, self.partner) = (place, partner);
        (!blocks.is_empty()).then_some(Next::Blocks(blocks))
    }
}

/// Match `m` of round `t` among an even number of seats (circle method): over seats − 1 rounds
/// every two seats meet exactly once.
fn tournament(seats: usize, t: usize, m: usize) -> (usize, usize) {
    let wheel = seats - 1;
    if m == 0 { (t, wheel) } else { ((t + m) % wheel, (t + wheel - m) % wheel) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn rows_of(n: usize, zero: impl Fn(usize) -> bool) -> Movable {
        Movable::new(&RowMat::from_fn(n, 2, |i, _| if zero(i) { 0.0 } else { 1.0 }))
    }

    /// How often a pass meets each pair, and whether the blocks of a round are disjoint.
    fn meetings(rows: &Movable, block: usize, group: usize) -> Vec<Vec<u32>> {
        let n = rows.nrows();
        let mut met = vec![vec![0; n]; n];
        let mut cursor = Cursor::new(rows, block);
        while let Some(next) = cursor.next(rows, group) {
            match next {
                Next::Pair(i, j) => met[i][j] += 1,
                Next::Blocks(blocks) => {
                    let mut all: Vec<usize> = blocks.iter().flatten().copied().collect();
                    all.sort_unstable();
                    assert!(all.windows(2).all(|w| w[0] < w[1]), "blocks of a round overlap");
                    for b in blocks {
                        for p in 0..b.len() {
                            (p + 1..b.len()).for_each(|q| met[b[p].min(b[q])][b[p].max(b[q])] += 1);
                        }
                    }
                }
            }
        }
        assert!(cursor.is_done());
        met
    }

    #[test]
    fn a_pass_of_pairs_meets_every_pair_that_can_move_once() {
        for n in [2, 3, 7, 12] {
            let rows = rows_of(n, |i| i % 3 == 1);
            let met = meetings(&rows, 2, 4);
            for i in 0..n {
                for j in i + 1..n {
                    assert_eq!(met[i][j], u32::from(rows.contains(i) || rows.contains(j)), "n {n}: {i} {j}");
                }
            }
            assert_eq!(met.iter().flatten().map(|m| u64::from(*m)).sum::<u64>(), rows.pairs());
        }
    }

    /// Where no row is ever zero nothing is looked up, and the pass ends with its last pair.
    #[test]
    fn a_pass_over_rows_that_are_never_zero() {
        for n in [0, 1, 2, 3, 9] {
            let rows = Movable::always(n);
            let mut cursor = Cursor::new(&rows, 2);
            let mut met = Vec::new();
            while !cursor.is_done() {
                match cursor.next(&rows, 1) {
                    Some(Next::Pair(i, j)) => met.push((i, j)),
                    other => panic!("n {n}: {other:?}"),
                }
            }
            assert!(met == rows.all_pairs().collect::<Vec<_>>() && met.len() as u64 == rows.pairs(), "n {n}");
        }
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

    #[test]
    fn a_pass_of_blocks_meets_every_pair_that_can_move() {
        for n in [3, 5, 8, 17, 30] {
            for block in [3, 4, 6, 7, 30] {
                let rows = rows_of(n, |i| i % 2 == 1);
                let met = meetings(&rows, block.min(n), 3);
                for i in 0..n {
                    for j in i + 1..n {
                        let movable = rows.contains(i) || rows.contains(j);
                        assert!(!movable || met[i][j] > 0, "n {n}, block {block}: {i} {j} not met");
                    }
                }
            }
        }
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
