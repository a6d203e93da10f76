//! A pass over the pairs of rows, or blocks of rows, that can move.

use super::movable::Movable;

/// The next working set of a pass.
#[derive(Clone, Debug)]
pub enum Next {
    /// Two rows.
    Pair(usize, usize),
    /// Rows of several blocks.
    Blocks(Vec<Vec<usize>>),
}

/// A pass over all pairs that can move: every nonzero row i (as the pass begins) with every
/// other row, each pair once. With blocks, rows are cut into chunks of k/2; every two chunks
/// make a block, in the rounds of a tournament so that the blocks of a round are disjoint, and
/// blocks without a nonzero row are left out. Rows that become nonzero during the pass occur as partners; a pass that
/// certifies changes nothing, so it covers all pairs.
#[derive(Clone, Debug)]
pub struct Cursor {
    start: Vec<usize>,            // nonzero rows at the start, sorted (pairs); unused for blocks
    partners: Option<Vec<usize>>, // the rows that they meet, where these are not all
    place: usize,                 // position in `start`, or round of the tournament
    partner: usize,               // next partner row (its position in `partners`), or next match of the round
    chunk: usize,                 // rows per chunk; 0: pairs
    n: usize,                     // rows (of `partners`)
    always: bool,                 // pairs of rows that are never zero: row i meets those after it
}

impl Cursor {
    /// A pass over the working sets of `block` rows, pairs if it is 2.
    pub fn new(rows: &Movable, block: usize) -> Self {
        let chunk = if block > 2 { block / 2 } else { 0 };
        let start = if chunk == 0 { rows.sorted() } else { Vec::new() };
        let always = rows.always && chunk == 0;
        let partner = usize::from(always);
        Self { start, partners: None, place: 0, partner, chunk, n: rows.nrows(), always }
    }

    /// A pass over the pairs of nonzero rows and those of them with a row that is near.
    pub fn near(rows: &Movable) -> Self {
        let (all, partners) = (Self::new(rows, 2), rows.universe());
        Self { n: partners.as_ref().map_or(all.n, Vec::len), partners, ..all }
    }

    /// A pass whose working sets are the rounds of a tournament: disjoint pairs of rows, as blocks of two (where a row
    /// is left out, a block of one).
    pub fn of_matchings(rows: &Movable) -> Self {
        let n = rows.nrows();
        Self { start: Vec::new(), partners: None, place: 0, partner: 0, chunk: 1, n, always: false }
    }

    /// True after the last pair.
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
            let j = self.partners.as_ref().map_or(j, |rows| rows[j]);
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
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;
    use orthopt_linalg::RowMat;

    fn rows_of(n: usize, zero: impl Fn(usize) -> bool) -> Movable {
        Movable::new(&RowMat::from_fn(n, 2, |i, _| if zero(i) { 0.0 } else { 1.0 }))
    }

    /// Number of times that a pass meets each pair. Asserts that the blocks of a round are disjoint.
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

    /// If no row is ever zero, no row is looked up, and the pass ends with its last pair.
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

    /// If zero rows are narrowed down, a pass meets the nonzero rows and those near, each pair once. Random pairs are
    /// uniform over these.
    #[test]
    fn a_pass_over_near_pairs() {
        let mut rng = Pcg64::seed_from_u64(7);
        for (n, near) in [(9, vec![]), (12, vec![1, 4]), (12, vec![1, 2, 10]), (20, (0..20).collect())] {
            let mut rows = rows_of(n, |i| i % 3 == 1);
            rows.narrow(Some(&near));
            let wanted = |i: usize, j: usize| {
                let (a, b) = (rows.contains(i), rows.contains(j));
                a && (b || near.contains(&j)) || b && near.contains(&i)
            };
            let mut met = vec![vec![0; n]; n];
            let mut cursor = Cursor::near(&rows);
            while let Some(Next::Pair(i, j)) = cursor.next(&rows, 1) {
                met[i][j] += 1;
            }
            let mut drawn = vec![vec![0u32; n]; n];
            let expected = 400;
            for _ in 0..expected * rows.near_pairs() {
                let (i, j) = rows.random_pair(&mut rng).expect("there are nonzero rows");
                drawn[i][j] += 1;
            }
            for i in 0..n {
                for j in i + 1..n {
                    assert_eq!(met[i][j], u32::from(wanted(i, j)), "n {n}: {i} {j}");
                    let most = if wanted(i, j) { expected as u32 } else { 0 };
                    assert!(drawn[i][j].abs_diff(most) <= most / 4, "n {n}: {i} {j}: {}", drawn[i][j]);
                }
            }
            assert_eq!(u64::from(met.iter().flatten().sum::<u32>()), rows.near_pairs());
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
}
