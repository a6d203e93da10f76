//! Data for an independent check of a bound.

use super::bound::{Bound, Method};
use crate::smooth::Quadratic;
use orthopt_linalg::RowMat;

/// C and Z over all variables, with the numbers of the check (docs/bounds.md): where h(X) ≥ λ‖XXᵀ‖₁,₁ + k for every
/// feasible X, and ‖XXᵀ‖₁,₁ ≤ K where K is known, F(X) ≥ −(Σ_r(½C − Z) + `constant`) with
/// `constant` = K·max(max |Zᵢⱼ| − λ, 0) − k; for X ≥ 0, Z ≤ 0 and the constant is 0.
#[derive(Clone, Debug)]
pub struct Dual {
    /// C (n × n).
    pub c: RowMat,
    /// Z (n × n).
    pub z: RowMat,
    /// r.
    pub rank: usize,
    /// λ: the weight of the penalty, or what is left of it as a weight of ‖XXᵀ‖₁,₁.
    pub lambda: f64,
    /// K, where nonzeros or rows are limited.
    pub budget: Option<f64>,
    /// Constant added to the sum of eigenvalues.
    pub constant: f64,
    /// The bound that Z proves.
    pub relaxation: f64,
    /// The bound: that of `relaxation` where `method` is [`Method::Fantope`].
    pub bound: f64,
    /// Which argument gave `bound`.
    pub method: Method,
    /// The lowest F known, on which λ and k depend for ℓ1.
    pub objective: Option<f64>,
}

impl Dual {
    /// All numbers by the names that they have in files; what there is not is NaN.
    pub fn numbers(&self) -> [(&'static str, f64); 7] {
        [
            ("rank", self.rank as f64),
            ("lam", self.lambda),
            ("K", self.budget.unwrap_or(f64::NAN)),
            ("constant", self.constant),
            ("relaxation", self.relaxation),
            ("bound", self.bound),
            ("objective", self.objective.unwrap_or(f64::NAN)),
        ]
    }
}

impl Dual {
    /// That of C and λ times a power of two.
    #[doc(hidden)]
    pub fn times(mut self, unit: f64) -> Self {
        for matrix in [&mut self.c, &mut self.z] {
            matrix.data_mut().iter_mut().for_each(|v| *v *= unit);
        }
        for number in [&mut self.lambda, &mut self.constant, &mut self.relaxation, &mut self.bound] {
            *number *= unit;
        }
        self.objective = self.objective.map(|f| unit * f);
        self
    }
}

impl Bound {
    /// Data for an independent check of the bound, for its `f` and r. n² numbers twice.
    pub fn dual(&self, f: &impl Quadratic, rank: usize) -> Dual {
        Dual {
            c: self.relaxation.covariance(f),
            z: self.relaxation.dual_matrix(f),
            rank,
            lambda: self.relaxation.threshold,
            budget: self.relaxation.budget,
            constant: self.relaxation.constant,
            relaxation: self.relaxation.bound,
            bound: self.value,
            method: self.method,
            objective: self.objective,
        }
    }
}
