//! Disjoint pairs of rows for a round.

use rand::RngExt;
use rand_pcg::Pcg64;

pub use orthopt_core::pair::movable::matching;

/// All pairs of n rows in the rounds of a tournament (circle method): the pairs of a round are
/// disjoint, and after n − 1 rounds (n for odd n, each leaving one row out) every two rows have
/// met once.
#[derive(Clone, Debug)]
pub struct Tournament {
    seats: Vec<usize>, // the rows, in the order of their seats
    round: usize,
}

impl Tournament {
    /// Of n rows, before its first round.
    pub fn new(n: usize) -> Self {
        Self { seats: (0..n).collect(), round: 0 }
    }

    /// Rounds of a pass over all pairs.
    pub fn rounds(&self) -> usize {
        self.even().max(2) - 1
    }

    fn even(&self) -> usize {
        self.seats.len().next_multiple_of(2)
    }

    /// The pairs (i < j) of the next round, and whether it is the last one of a pass.
    pub fn next_round(&mut self) -> (Vec<(usize, usize)>, bool) {
        let (n, even, t) = (self.seats.len(), self.even(), self.round);
        let wheel = even.max(2) - 1;
        let mut pairs = Vec::with_capacity(n / 2);
        for m in 0..even / 2 {
            // seat t meets the last one, and a meets b where a + b = 2t modulo the wheel
            let (a, b) = if m == 0 { (t, wheel) } else { ((t + m) % wheel, (t + wheel - m) % wheel) };
            if a < n && b < n {
                let (i, j) = (self.seats[a], self.seats[b]);
                pairs.push((i.min(j), i.max(j)));
            }
        }
        self.round = (t + 1) % wheel;
        (pairs, self.round == 0)
    }
}

/// Rows that one task turns, and the pairs among them, as places in `rows`.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub rows: Vec<usize>,
    pub pairs: Vec<(usize, usize)>,
}

/// All pairs of n rows by a tournament of blocks of rows. A round turns, for disjoint pairs of
/// blocks, all pairs across the two (in the first round of a pass those inside them, too). It is
/// `block` rounds of disjoint pairs of rows in one go: a task stays with the rows it has in its
/// cache, and threads wait for each other once instead of `block` times.
#[derive(Clone, Debug)]
pub(super) struct BlockTournament {
    seats: Vec<usize>, // the rows, in the order of their seats; blocks are chunks of them
    block: usize,
    blocks: Tournament,
}

/// Rows of a block at most, and blocks at least: so that the rows of two blocks fit into the
/// cache of a core, and there are tasks for many threads.
const BLOCK: usize = 8;
const BLOCKS: usize = 32;

impl BlockTournament {
    pub fn new(n: usize) -> Self {
        let block = (n / BLOCKS).clamp(1, BLOCK);
        Self { seats: (0..n).collect(), block, blocks: Tournament::new(n.div_ceil(block)) }
    }

    /// Rounds of a pass over all pairs.
    pub fn rounds(&self) -> usize {
        self.blocks.rounds()
    }

    /// Rows of a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Gives out new seats at random.
    pub fn shuffle(&mut self, rng: &mut Pcg64) {
        shuffle(&mut self.seats, rng);
    }

    /// The groups of the next round, and whether it is the last one of a pass.
    pub fn next(&mut self) -> (Vec<Group>, bool) {
        let first = self.blocks.round == 0;
        let (pairs, last) = self.blocks.next_round();
        let mut groups: Vec<Group> = pairs.iter().map(|(a, b)| self.group(*a, Some(*b), first)).collect();
        if first {
            // a block without an opponent still has pairs inside
            let alone = |a: &usize| pairs.iter().all(|(b, c)| a != b && a != c);
            groups.extend((0..self.blocks.seats.len()).filter(alone).map(|a| self.group(a, None, true)));
        }
        (groups, last)
    }

    fn rows(&self, block: usize) -> &[usize] {
        self.seats.chunks(self.block).nth(block).unwrap_or(&[])
    }

    fn group(&self, a: usize, b: Option<usize>, inside: bool) -> Group {
        let (one, two) = (self.rows(a), b.map_or(&[][..], |b| self.rows(b)));
        let (n1, n2) = (one.len(), two.len());
        let mut pairs = Vec::new();
        for (from, n) in [(0, n1), (n1, n2)] {
            let mut tournament = Tournament::new(n);
            for _ in 0..if inside { tournament.rounds() } else { 0 } {
                pairs.extend(tournament.next_round().0.iter().map(|(i, j)| (from + i, from + j)));
            }
        }
        // rounds of disjoint pairs again: i meets i + t modulo the longer block
        let wheel = n1.max(n2);
        for t in 0..wheel {
            let opponents = (0..n1).map(|i| (i, (i + t) % wheel));
            pairs.extend(opponents.filter(|(_, j)| *j < n2).map(|(i, j)| (i, n1 + j)));
        }
        Group { rows: [one, two].concat(), pairs }
    }
}

fn shuffle(seats: &mut [usize], rng: &mut Pcg64) {
    for i in (1..seats.len()).rev() {
        seats.swap(i, rng.random_range(0..=i));
    }
}

/// `count` different numbers below n, drawn uniformly, ascending.
pub(super) fn sample(n: usize, count: usize, rng: &mut Pcg64) -> Vec<usize> {
    let mut out = rand::seq::index::sample(rng, n, count.min(n)).into_vec();
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_pass_meets_every_pair_once_in_disjoint_rounds() {
        for n in [0, 1, 2, 3, 4, 7, 10, 11] {
            let mut tournament = Tournament::new(n);
            shuffle(&mut tournament.seats, &mut Pcg64::seed_from_u64(1));
            let mut met = vec![vec![0; n]; n];
            for round in 1..=tournament.rounds() {
                let (pairs, last) = tournament.next_round();
                assert_eq!(last, round == tournament.rounds(), "n {n}, round {round}");
                let mut rows: Vec<usize> = pairs.iter().flat_map(|p| [p.0, p.1]).collect();
                rows.sort_unstable();
                assert!(rows.windows(2).all(|w| w[0] < w[1]) && pairs.len() == n / 2);
                pairs.iter().for_each(|(i, j)| met[*i][*j] += 1);
            }
            for i in 0..n {
                (i + 1..n).for_each(|j| assert_eq!(met[i][j], 1, "n {n}: {i} {j}"));
            }
        }
    }

    #[test]
    fn a_pass_of_blocks_meets_every_pair_once_in_disjoint_groups() {
        for n in [0, 1, 2, 3, 31, 64, 65, 97, 100, 255, 263] {
            let mut tournament = BlockTournament::new(n);
            assert_eq!(tournament.block(), if n < 64 { 1 } else { n / 32 }.min(8));
            tournament.shuffle(&mut Pcg64::seed_from_u64(1));
            let mut met = vec![vec![0; n]; n];
            for round in 1..=tournament.rounds() {
                let (groups, last) = tournament.next();
                assert_eq!(last, round == tournament.rounds(), "n {n}, round {round}");
                let mut rows: Vec<usize> = groups.iter().flat_map(|g| g.rows.clone()).collect();
                rows.sort_unstable();
                assert!(rows.windows(2).all(|w| w[0] < w[1]), "n {n}: a row in two groups");
                for g in &groups {
                    for (a, b) in &g.pairs {
                        assert!(a < b);
                        let (i, j) = (g.rows[*a], g.rows[*b]);
                        met[i.min(j)][i.max(j)] += 1;
                    }
                }
            }
            for i in 0..n {
                (i + 1..n).for_each(|j| assert_eq!(met[i][j], 1, "n {n}: {i} {j}"));
            }
        }
    }

    #[test]
    fn matchings_and_samples_are_disjoint() {
        let mut rng = Pcg64::seed_from_u64(2);
        for n in [1, 2, 9, 20] {
            let pairs = matching(n, &mut rng);
            assert_eq!(pairs.len(), n / 2);
            let mut rows: Vec<usize> = pairs.iter().flat_map(|p| [p.0, p.1]).collect();
            rows.sort_unstable();
            assert!(rows.windows(2).all(|w| w[0] < w[1]) && pairs.iter().all(|p| p.0 < p.1));
            let drawn = sample(n, 7, &mut rng);
            assert!(drawn.len() == n.min(7) && drawn.windows(2).all(|w| w[0] < w[1]));
        }
    }
}
