//! Which pairs can move, drawn at random or visited in order.

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::linalg::RowMat;
use crate::linalg::kernels::is_zero;

/// The nonzero rows of X, kept up to date. A pair can move when one of its rows is among them.
#[derive(Clone, Debug)]
pub(crate) struct Movable {
    list: Vec<usize>, // the nonzero rows, in any order
    place: Vec<u32>,  // position in `list`, or ZERO
}

const ZERO: u32 = u32::MAX;

impl Movable {
    pub fn new(x: &RowMat) -> Self {
        let mut out = Self { list: Vec::new(), place: vec![ZERO; x.nrows()] };
        (0..x.nrows()).for_each(|i| out.update(i, x));
        out
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

    /// Number of pairs that can move.
    pub fn pairs(&self) -> u64 {
        let (s, n) = (self.list.len() as u64, self.nrows() as u64);
        s * s.saturating_sub(1) / 2 + s * (n - s)
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
            if !self.contains(j) || rng.random::<bool>() {
                return Some((i.min(j), i.max(j)));
            }
        }
    }

    /// k distinct rows: half of them nonzero (or as many as there are), the others any.
    pub fn random_block(&self, k: usize, rng: &mut Pcg64) -> Vec<usize> {
        let n = self.nrows();
        let mut rows = Vec::with_capacity(k);
        let nonzero = k.div_ceil(2).min(self.list.len());
        for at in rand::seq::index::sample(rng, self.list.len(), nonzero) {
            rows.push(self.list[at]);
        }
        while rows.len() < k.min(n) {
            let i = rng.random_range(0..n);
            if !rows.contains(&i) {
                rows.push(i);
            }
        }
        rows
    }
}

/// The next working set of a pass.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    Pair(usize, usize),
    Block(Vec<usize>),
}

/// A pass over all pairs that can move: every nonzero row i (as the pass begins) with every
/// other row, each pair once. With blocks, rows are cut into chunks of k/2 and every two chunks
/// with a nonzero row make a block. Rows that become nonzero during the pass are met as
/// partners; a pass that certifies moves nothing, so there the cover is complete.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    start: Vec<usize>, // nonzero rows at the start, sorted (pairs); unused for blocks
    place: usize,      // position in `start`, or first chunk
    partner: usize,    // next partner row, or second chunk
    chunk: usize,      // rows per chunk; 0: pairs
    n: usize,
}

impl Cursor {
    pub fn new(rows: &Movable, block: usize) -> Self {
        let chunk = if block > 2 { block / 2 } else { 0 };
        let start = if chunk == 0 { rows.sorted() } else { Vec::new() };
        Self { start, place: 0, partner: 0, chunk, n: rows.nrows() }
    }

    pub fn is_done(&self) -> bool {
        let end = if self.chunk == 0 { self.start.len() } else { self.n.div_ceil(self.chunk) };
        self.place >= end
    }

    /// The next working set, `None` at the end.
    pub fn next(&mut self, rows: &Movable) -> Option<Next> {
        if self.chunk == 0 { self.next_pair(rows) } else { self.next_block(rows) }
    }

    #[inline]
    fn next_pair(&mut self, rows: &Movable) -> Option<Next> {
        while !self.is_done() {
            let (i, j) = (self.start[self.place], self.partner);
            if self.partner + 1 < self.n {
                self.partner += 1;
            } else {
                self.partner = 0;
                self.place += 1;
            }
            // a partner that was itself in the list and came earlier has met i already
            let met = j < i && self.start.binary_search(&j).is_ok();
            if j != i && !met && (rows.contains(i) || rows.contains(j)) {
                return Some(Next::Pair(i.min(j), i.max(j)));
            }
        }
        None
    }

    fn next_block(&mut self, rows: &Movable) -> Option<Next> {
        let chunks = self.n.div_ceil(self.chunk);
        let range = |c: usize| c * self.chunk..((c + 1) * self.chunk).min(self.n);
        while !self.is_done() {
            let (a, b) = (self.place, self.partner);
            self.partner += 1;
            if self.partner >= chunks {
                self.place += 1;
                self.partner = self.place + 1;
                if self.place + 1 >= chunks {
                    self.place = chunks; // the last chunk has met all others
                }
            }
            if b <= a && chunks > 1 {
                continue;
            }
            let mut block: Vec<usize> = range(a).collect();
            if b > a {
                block.extend(range(b));
            }
            if block.iter().any(|i| rows.contains(*i)) {
                return Some(Next::Block(block));
            }
        }
        None
    }
}
