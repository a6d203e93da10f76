//! Adagrad: steps divided by the root of the sum of squared gradients, entry by entry.

/// The sums of squares.
#[derive(Clone, Debug)]
pub(super) struct Adagrad {
    lr: f64, // learning rate
    sums: Vec<f64>,
}

impl Adagrad {
    pub fn new(lr: f64, len: usize) -> Self {
        Self { lr, sums: vec![0.0; len] }
    }

    /// The step −lr·g/√Σg², 0 where no gradient has been seen.
    pub fn step(&mut self, g: &[f64]) -> Vec<f64> {
        let one = |(sum, g): (&mut f64, &f64)| {
            *sum += g * g;
            if *sum > 0.0 { -self.lr * g / sum.sqrt() } else { 0.0 }
        };
        self.sums.iter_mut().zip(g).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_shrink_with_the_gradients_seen() {
        let mut a = Adagrad::new(0.1, 2);
        let first = a.step(&[3.0, 0.0]);
        assert!((first[0] + 0.1).abs() < 1e-9 && first[1] == 0.0);
        let second = a.step(&[4.0, -1.0]);
        assert!((second[0] + 0.1 * 4.0 / 5.0).abs() < 1e-9 && (second[1] - 0.1).abs() < 1e-9);
    }
}
