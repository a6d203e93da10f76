//! Adagrad and Adam on rows of numbers of which a step touches only some.

use serde::{Deserialize, Serialize};

/// Rule by which steps follow from gradients, entry by entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Optimiser {
    /// −lr·g/(√Σg² + 1e-10).
    Adagrad,
    /// Adam with β = (0.9, 0.999) and ε = 1e-8; moments of rows that a step does not touch stay, and each row
    /// counts its own steps for the correction of the start.
    Adam,
}

/// β₁, β₂ of Adam.
const BETA: (f64, f64) = (0.9, 0.999);

/// Moments of an optimiser for `rows` rows of `len` numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    len: usize,
    /// Adam: the mean of gradients.
    pub(crate) first: Vec<f64>,
    /// The mean, of Adagrad the sum, of their squares.
    pub(crate) second: Vec<f64>,
    /// Steps of each row.
    pub(crate) steps: Vec<f64>,
}

impl Moments {
    /// Nothing seen yet.
    pub fn new(optimiser: Optimiser, rows: usize, len: usize) -> Self {
        let first = if optimiser == Optimiser::Adam { rows * len } else { 0 };
        Self { len, first: vec![0.0; first], second: vec![0.0; rows * len], steps: vec![0.0; rows] }
    }

    /// Some rows (their indices ascend), to be stepped by any thread.
    pub fn rows(&mut self, rows: &[u32]) -> Vec<Row<'_>> {
        let seconds = disjoint(&mut self.second, self.len, rows);
        let steps = disjoint(&mut self.steps, 1, rows);
        let mut firsts = match self.first.is_empty() {
            true => Vec::new(),
            false => disjoint(&mut self.first, self.len, rows),
        }
        .into_iter();
        let both = seconds.into_iter().zip(steps);
        both.map(|(second, steps)| Row { first: firsts.next(), second, steps: &mut steps[0] }).collect()
    }

    /// One row.
    pub fn row(&mut self, i: usize) -> Row<'_> {
        let range = i * self.len..(i + 1) * self.len;
        let first = if self.first.is_empty() { None } else { Some(&mut self.first[range.clone()]) };
        Row { first, second: &mut self.second[range], steps: &mut self.steps[i] }
    }
}

/// Rows of a table with rows of `len` numbers; the indices ascend.
pub(crate) fn disjoint<'a, T>(table: &'a mut [T], len: usize, rows: &[u32]) -> Vec<&'a mut [T]> {
    let (mut rest, mut at) = (table, 0);
    let mut next = |row: &u32| {
        let (_, tail) = std::mem::take(&mut rest).split_at_mut((*row as usize - at) * len);
        let (found, tail) = tail.split_at_mut(len);
        (rest, at) = (tail, *row as usize + 1);
        found
    };
    rows.iter().map(&mut next).collect()
}

/// Moments of one row.
#[derive(Debug)]
pub struct Row<'a> {
    first: Option<&'a mut [f64]>,
    second: &'a mut [f64],
    steps: &'a mut f64,
}

impl Row<'_> {
    /// Turns the gradient into the step, in place. To be called inside of a kernel: it vectorises there.
    #[inline(always)]
    pub fn step(&mut self, lr: f64, g: &mut [f64]) {
        *self.steps += 1.0;
        let Some(first) = &mut self.first else {
            for (g, sum) in g.iter_mut().zip(self.second.iter_mut()) {
                *sum += *g * *g;
                *g *= -lr / (sum.sqrt() + 1e-10);
            }
            return;
        };
        let (b1, b2) = BETA;
        let (c1, c2) = (1.0 - b1.powf(*self.steps), 1.0 - b2.powf(*self.steps));
        for ((g, m), v) in g.iter_mut().zip(first.iter_mut()).zip(self.second.iter_mut()) {
            *m = b1 * *m + (1.0 - b1) * *g;
            *v = b2 * *v + (1.0 - b2) * *g * *g;
            *g = -lr * (*m / c1) / ((*v / c2).sqrt() + 1e-8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_steps_have_the_length_of_the_rate() {
        for optimiser in [Optimiser::Adagrad, Optimiser::Adam] {
            let mut moments = Moments::new(optimiser, 2, 2);
            let mut g = [3.0, -1e-3];
            moments.row(1).step(0.1, &mut g);
            assert!((g[0] + 0.1).abs() < 1e-5 && (g[1] - 0.1).abs() < 1e-5, "{g:?}");
            assert_eq!((moments.steps[0], moments.steps[1]), (0.0, 1.0));
            assert_eq!(moments.second[..2], [0.0, 0.0]);
            let mut again = [3.0, 0.0];
            moments.row(1).step(0.1, &mut again);
            let expected = if optimiser == Optimiser::Adam { -0.1 } else { -0.1 / 2f64.sqrt() };
            assert!((again[0] - expected).abs() < 1e-5, "{again:?}");
        }
    }
}
