//! Adjusted variance with another score in the place of one column: the others are factored once, O(r³), a new entry costs O(r²) and
//! each length of it O(r).
//!
//! S of the other scores = L·Diag(d)·Lᵀ in their order. The new score t has y = L⁻¹(products with the others) and the place p by its own
//! variance v. Scores before p keep what they add. What t adds is ρ = v − Σ_{k<p} yₖ²/dₖ. The pivots behind it are those of
//! Diag(d) − yyᵀ/ρ, as L is unit lower:
//!
//! ```text
//! τ ← ρ;   for k ≥ p:   τ⁺ = τ − yₖ²/dₖ,   score k adds dₖτ⁺/τ,   τ ← τ⁺
//! ```

use super::small::{DEPENDENT, EQUAL, Small};
use orthopt_linalg::kernels::inner;
use orthopt_linalg::work::count;

/// The scores of all columns but one, factored.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    place: Option<usize>, // of the column, where the order is given
    columns: Vec<usize>,  // in the order of the pivots
    variances: Vec<f64>,  // of these columns
    sizes: Vec<f64>,      // of these columns
    l: Vec<f64>,          // unit lower, by rows
    d: Vec<f64>,          // 0 for a score that depends on others
    tied: bool,           // two variances are equal
    own: Vec<f64>,        // L⁻¹ times the products of the column as it is
    entry: Vec<f64>,      // L⁻¹ times the products of the entry
}

/// A column a·xⱼ + b·eᵢ: its variance and what that was added up from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub a: f64,
    pub b: f64,
    pub variance: f64,
    pub size: f64,
}

impl Beside {
    /// Of column `j` of the scores with the products `s`, by rows; the order is that of the columns where `given`.
    pub fn new(s: &[f64], sizes: &[f64], j: usize, given: bool) -> Self {
        let r = sizes.len();
        count(r * r * r / 3 + 100);
        let others: Vec<usize> = (0..r).filter(|k| *k != j).collect();
        let q = others.len();
        let part: Vec<f64> = (0..q * q).map(|e| s[others[e / q] * r + others[e % q]]).collect();
        let own_sizes: Vec<f64> = others.iter().map(|k| sizes[*k]).collect();
        let (order, l, d) = Small::new(q, given).factors(&part, &own_sizes);
        let columns: Vec<usize> = order.iter().map(|k| others[*k]).collect();
        let variances: Vec<f64> = columns.iter().map(|k| s[k * (r + 1)]).collect();
        let tied = !given && variances.windows(2).any(|v| v[1] >= v[0] * (1.0 - EQUAL));
        let sizes = columns.iter().map(|k| sizes[*k]).collect();
        let place = given.then_some(j);
        let (own, entry) = (vec![0.0; q], vec![0.0; q]);
        let mut new = Self { place, columns, variances, sizes, l, d, tied, own, entry };
        let row = s[j * r..(j + 1) * r].to_vec();
        new.own = new.solved(&row);
        new
    }

    /// L⁻¹ times the products of a score with all columns.
    fn solved(&self, products: &[f64]) -> Vec<f64> {
        let q = self.columns.len();
        let mut y = Vec::with_capacity(q);
        for (k, column) in self.columns.iter().enumerate() {
            let sum = inner(&self.l[k * q..k * q + k], &y);
            y.push(products[*column] - sum);
        }
        y
    }

    /// The entry whose products with all columns are these comes next.
    pub fn enter(&mut self, products: &[f64]) {
        count(self.columns.len() * self.columns.len() / 2 + 30);
        self.entry = self.solved(products);
    }

    /// Adjusted variance with the column so moved; `None` where equal variances leave its order open.
    pub fn value(&self, moved: Moved) -> Option<f64> {
        count(4 * self.columns.len() + 20);
        let place = self.place_of(moved.variance)?;
        let y = |k: usize| moved.a * self.own[k] + moved.b * self.entry[k];
        let taken = |k: usize| if self.d[k] > 0.0 { y(k) * y(k) / self.d[k] } else { 0.0 };
        let before: f64 = self.d[..place].iter().sum();
        let mut left = moved.variance - (0..place).map(taken).sum::<f64>();
        if left <= DEPENDENT * moved.size {
            return Some(before + self.d[place..].iter().sum::<f64>());
        }
        let mut total = before + left;
        for k in place..self.d.len() {
            let next = left - taken(k);
            let adds = self.d[k] * next / left;
            if self.d[k] > 0.0 && adds <= DEPENDENT * self.sizes[k] {
                // this score and the moved one are one direction: the others lose nothing more to it
                return Some(total + self.d[k + 1..].iter().sum::<f64>());
            }
            total += adds;
            left = next;
        }
        Some(total)
    }

    /// Number of scores that stand before one of this variance; `None` if equal variances leave it open.
    fn place_of(&self, variance: f64) -> Option<usize> {
        if let Some(place) = self.place {
            return Some(place);
        }
        let equal = |v: &f64| (v - variance).abs() <= EQUAL * v.max(variance);
        if self.tied || self.variances.iter().any(equal) {
            return None;
        }
        Some(self.variances.partition_point(|v| *v > variance))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::smooth::Measure;

    /// The products of r scores of m samples that are hostile in the way of `kind`, and of one entry that may come.
    fn products(r: usize, m: usize, kind: u64, seed: u64) -> Vec<f64> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(31 * seed + kind);
        let mut t: Vec<Vec<f64>> =
            (0..=r).map(|_| (0..m).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        match kind {
            1 => t[r - 1] = t[0].clone(),                       // repeated
            2 => t[r - 1].iter_mut().for_each(|v| *v = 0.0),    // empty
            3 => t[r] = t[0].iter().map(|v| 3.0 * v).collect(), // the entry is a multiple of a score
            4 => (1..r).for_each(|k| t[k] = t[0].iter().map(|v| v * (k as f64 + 1.0)).collect()), // rank 1
            _ => {}
        }
        let dot = |a: usize, b: usize| (0..m).map(|i| t[a][i] * t[b][i]).sum::<f64>();
        (0..(r + 1) * (r + 1)).map(|e| dot(e / (r + 1), e % (r + 1))).collect()
    }

    /// The factorisation of all columns is the slow twin.
    #[test]
    fn a_moved_column_is_factored_as_all_columns_are() {
        let mut compared = 0;
        for (kind, seed) in (0..5).flat_map(|kind| (0..30).map(move |seed| (kind, seed))) {
            let (r, m) = (2 + seed as usize % 5, 2 + seed as usize % 7);
            let all = products(r, m, kind, seed);
            let at = |a: usize, b: usize| all[a * (r + 1) + b];
            for (given, j) in [(false, 0), (true, 0), (false, r - 1), (true, r - 1), (false, r / 2)] {
                let s: Vec<f64> = (0..r * r).map(|e| at(e / r, e % r)).collect();
                let sizes: Vec<f64> = (0..r).map(|k| 2.0 * at(k, k)).collect();
                let mut beside = Beside::new(&s, &sizes, j, given);
                beside.enter(&(0..r).map(|k| at(r, k)).collect::<Vec<_>>());
                for (a, b) in [(1.0, 0.0), (0.0, 1.0), (0.8, 0.6), (0.6, -0.8), (1.2, 0.3)] {
                    let mut moved = s.clone();
                    for k in (0..r).filter(|k| *k != j) {
                        moved[k * r + j] = a * at(j, k) + b * at(r, k);
                        moved[j * r + k] = moved[k * r + j];
                    }
                    let variance = a * a * at(j, j) + 2.0 * a * b * at(r, j) + b * b * at(r, r);
                    moved[j * (r + 1)] = variance;
                    let size = 2.0 * (a * a * at(j, j) + b * b * at(r, r));
                    let mut own = sizes.clone();
                    own[j] = size;
                    let slow = Small::new(r, given).value(Measure::Adjusted, (&moved, &[]), &own);
                    let Some(fast) = beside.value(Moved { a, b, variance, size }) else { continue };
                    compared += 1;
                    let trace: f64 = (0..r).map(|k| moved[k * (r + 1)]).sum();
                    let what = format!("kind {kind}, {seed}, r = {r}, m = {m}, j = {j}, {given}, {a} {b}");
                    assert!((fast - slow).abs() <= 1e-7 * trace, "{what}: {fast} {slow}");
                }
            }
        }
        assert!(compared > 2000, "{compared}");
    }
}
