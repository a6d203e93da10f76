//! Disjoint pairs of rows for a round.

use rand::RngExt;
use rand_pcg::Pcg64;

/// All pairs of n rows in the rounds of a tournament (circle method): the pairs of a round are
/// disjoint, and after n − 1 rounds (n for odd n, each leaving one row out) every two rows have
/// met once.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    seats: Vec<usize>, // the rows, in the order of their seats
    round: usize,
}

impl Tournament {
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

    /// Gives out new seats at random.
    pub fn shuffle(&mut self, rng: &mut Pcg64) {
        for i in (1..self.seats.len()).rev() {
            self.seats.swap(i, rng.random_range(0..=i));
        }
    }

    /// The pairs (i < j) of the next round, and whether it is the last one of a pass.
    pub fn next(&mut self) -> (Vec<(usize, usize)>, bool) {
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

/// A random perfect matching (one row stays out when n is odd), drawn uniformly.
pub(super) fn matching(n: usize, rng: &mut Pcg64) -> Vec<(usize, usize)> {
    let mut tournament = Tournament::new(n);
    tournament.shuffle(rng);
    tournament.seats.chunks_exact(2).map(|p| (p[0].min(p[1]), p[0].max(p[1]))).collect()
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
            tournament.shuffle(&mut Pcg64::seed_from_u64(1));
            let mut met = vec![vec![0; n]; n];
            for round in 1..=tournament.rounds() {
                let (pairs, last) = tournament.next();
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
