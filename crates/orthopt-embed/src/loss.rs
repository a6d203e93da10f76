//! Losses of one question over the scores of its answer and of other entities.

use orthopt_linalg::simd::dispatch;
use serde::{Deserialize, Serialize};

use orthopt_linalg::elementary::exp;
use orthopt_linalg::elementary::sigmoid;
use orthopt_linalg::elementary::softplus;

/// The loss of a question with the score z of the answer and z₁, …, z_k of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loss {
    /// ½·softplus(−z) + Σ softplus(zᵢ): both questions of a triple together are the paper's loss (JOBCD paper, App.
    /// F.2) with 2k corruptions, half of them of either side.
    Softplus,
    /// −ln(eᶻ / (eᶻ + w·Σ e^{zᵢ})), w·k = entities − 1: the cross-entropy over all entities, estimated from k.
    CrossEntropy,
}

/// A score that is left out.
pub(crate) const OUT: f64 = f64::NEG_INFINITY;

impl Loss {
    /// The loss of a row of scores, of which `answer` is that of the answer and the `others` first ones are those of
    /// other entities (the rest, and those at −∞, do not count); scores become ∂loss/∂score. `weight` is w above.
    pub fn of(self, z: &mut [f64], others: usize, answer: usize, weight: f64) -> f64 {
        let own = z[answer];
        let (loss, to_own) = match self {
            Self::Softplus => {
                let rest = dispatch(|| {
                    let mut sums = [0.0; 8];
                    for block in z[..others].chunks_mut(8) {
                        for (sum, z) in sums.iter_mut().zip(block) {
                            *sum += softplus(*z);
                            *z = sigmoid(*z);
                        }
                    }
                    sums.iter().sum::<f64>()
                });
                (0.5 * softplus(-own) + rest, 0.5 * (sigmoid(own) - 1.0))
            }
            Self::CrossEntropy => {
                let top = z[..others].iter().fold(own, |m, z| m.max(*z));
                let rest = dispatch(|| {
                    let mut sums = [0.0; 8];
                    for block in z[..others].chunks_mut(8) {
                        for (sum, z) in sums.iter_mut().zip(block) {
                            *z = weight * exp(*z - top);
                            *sum += *z;
                        }
                    }
                    sums.iter().sum::<f64>()
                });
                let total = rest + exp(own - top);
                z[..others].iter_mut().for_each(|z| *z /= total);
                (total.ln() + top - own, exp(own - top) / total - 1.0)
            }
        };
        z[others..].fill(0.0);
        z[answer] = to_own;
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_differences() {
        for loss in [Loss::Softplus, Loss::CrossEntropy] {
            let z: Vec<f64> = (0..13).map(|k| 3.0 * ((5 * k) as f64).sin()).collect();
            let mut slopes = z.clone();
            slopes[2] = OUT;
            loss.of(&mut slopes, 11, 12, 40.0);
            for k in 0..13 {
                let at = |h: f64| {
                    let mut z = z.clone();
                    z[k] += h;
                    z[2] = OUT;
                    loss.of(&mut z, 11, 12, 40.0)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((difference - slopes[k]).abs() < 1e-9, "{loss:?} {k}: {difference} {}", slopes[k]);
            }
            assert_eq!(slopes[11], 0.0);
            assert!(slopes[2].abs() < 1e-300);
        }
    }
}
