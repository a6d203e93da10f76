//! Lists of supports of one size.

use super::kernel::{LANES, Lane};

/// Supports, and for a first column what their own variance is at most.
#[derive(Debug)]
pub struct List {
    /// Rows of a support.
    pub size: usize,
    rows: Vec<u16>, // one support after the other, ascending
    /// An upper bound of the largest eigenvalue of C on each support; empty if not requested.
    pub own: Vec<f64>,
}

impl List {
    /// All supports of so many of n rows, in lexicographic order.
    pub fn all(n: usize, size: usize) -> Self {
        let mut rows = Vec::with_capacity(size * binomial(n, size));
        let mut now: Vec<usize> = (0..size).collect();
        loop {
            rows.extend(now.iter().map(|i| *i as u16));
            let Some(at) = (0..size).rev().find(|p| now[*p] < n - size + p) else { break };
            now[at] += 1;
            (at + 1..size).for_each(|p| now[p] = now[p - 1] + 1);
        }
        Self { size, rows, own: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.size
    }

    /// Rows of support s.
    pub fn set(&self, s: usize) -> &[u16] {
        &self.rows[s * self.size..(s + 1) * self.size]
    }

    /// Those that `keep` says.
    pub fn kept(&self, keep: impl Fn(usize) -> bool) -> Self {
        let chosen: Vec<usize> = (0..self.len()).filter(|s| keep(*s)).collect();
        self.chosen(&chosen)
    }

    /// Those with these numbers.
    pub fn chosen(&self, numbers: &[usize]) -> Self {
        let rows = numbers.iter().flat_map(|s| self.set(*s).iter().copied()).collect();
        let own = numbers.iter().filter_map(|s| self.own.get(*s).copied()).collect();
        Self { size: self.size, rows, own }
    }

    /// The block of a symmetric matrix (n × n, row by row) on a support.
    pub fn block(&self, s: usize, matrix: &[f64], n: usize, out: &mut [f64]) {
        let set = self.set(s);
        for (a, i) in set.iter().enumerate() {
            let row = &matrix[usize::from(*i) * n..(usize::from(*i) + 1) * n];
            set.iter().enumerate().for_each(|(b, j)| out[a * self.size + b] = row[usize::from(*j)]);
        }
    }

    /// The blocks of a symmetric matrix on several supports, one in each lane. The last support fills the lanes that
    /// are left.
    pub fn blocks(&self, supports: &[usize], matrix: &[f64], n: usize, out: &mut [Lane]) {
        for lane in 0..LANES {
            let set = self.set(supports[lane.min(supports.len() - 1)]);
            for (a, i) in set.iter().enumerate() {
                let row = &matrix[usize::from(*i) * n..(usize::from(*i) + 1) * n];
                set.iter().enumerate().for_each(|(b, j)| out[a * self.size + b][lane] = row[usize::from(*j)]);
            }
        }
    }

    /// The rows of a matrix (width columns, row by row) on several supports, each in a lane.
    pub fn rows(&self, supports: &[usize], matrix: &[f64], width: usize, out: &mut [Lane]) {
        for lane in 0..LANES {
            let set = self.set(supports[lane.min(supports.len() - 1)]);
            for (a, i) in set.iter().enumerate() {
                let row = &matrix[usize::from(*i) * width..(usize::from(*i) + 1) * width];
                row.iter().enumerate().for_each(|(b, v)| out[a * width + b][lane] = *v);
            }
        }
    }
}

/// The number of supports of k of n rows, or as many as there are numbers.
pub fn binomial(n: usize, k: usize) -> usize {
    if k > n {
        return 0;
    }
    let product = (0..k.min(n - k)).try_fold(1usize, |b, i| Some(b.checked_mul(n - i)? / (i + 1)));
    product.unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_all_there() {
        assert_eq!(List::all(5, 2).len(), binomial(5, 2));
        assert_eq!(List::all(4, 4).rows, [0, 1, 2, 3]);
        assert_eq!((binomial(30, 6), binomial(2, 3), binomial(6, 6)), (593_775, 0, 1));
        assert_eq!(binomial(200, 100), usize::MAX);
        let all = List::all(6, 3);
        let some = all.kept(|s| all.set(s).contains(&2));
        assert_eq!(some.len(), binomial(5, 2));
        assert!((0..some.len()).all(|s| some.set(s).contains(&2)));
    }
}
