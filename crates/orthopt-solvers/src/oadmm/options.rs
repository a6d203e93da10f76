//! The constants of OADMM: names, defaults, checks, and the three entries of the registry.

use super::Oadmm;
use crate::composite::splitting::slope;
use crate::prelude::*;
use orthopt_core::options::{Constant, Value, checked, described};
use orthopt_core::solve::info::SolverOptions;

/// Update of X.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Euclidean projection with extrapolation.
    Ep,
    /// Riemannian retraction with a line search.
    Rr,
}

/// β⁰ where none is given; λ is the slope of h per entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBeta {
    /// 10λ/Ā², the paper's.
    Paper,
    /// max(0.1 L_f, cλ)/Ā². The first keeps steps of ∇f moderate. The second is for the jumps of
    /// ξ_g: c = 50 with a largest-k part, where an entry that joins or leaves the k largest is
    /// pushed by all of λ, and 1 otherwise. With a largest-k part and n ≥ 500, β⁰ = λ/Ā² and ξ is
    /// 50 times as large: a first step that is 50 times as long, and for large t the same β. With
    /// λ = 1000 that ended at a lower F on the three wide data sets of suite `dc` and at a higher
    /// one on the narrow one (300 variables); the other weights have not been tried.
    Data,
}

/// β in units of λ at which an entry that joins the k largest is taken in without a swing.
const JUMP: f64 = 50.0;
/// Variables from which on a long first step pays.
const WIDE: usize = 500;

/// βᵗ = β⁰(1 + ξtᵖ) for one problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    pub beta0: f64,
    pub xi: f64,
    pub raised: bool, // β⁰ was too small for the weak convexity of h
}

constants! {
    /// Options of OADMM: the paper's recommended constants, and 1.01 for χ, for which it has none.
    pub struct OadmmOptions {
        /// mu beta, smoothing against penalty; auto, or 0, takes 1.001 times the bound of the theory
        chi ["χ"]: Option<f64> = Some(1.01), "a finite number > 0" if |v| v > 0.0;
        /// first penalty parameter; chosen as 10 times the slope lambda of h unless set
        beta0 ["β⁰"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// growth of beta
        xi ["ξ"]: f64 = 1.0, "a finite number >= 0" if |v| v >= 0.0;
        /// exponent of the growth of beta
        p ["p"]: f64 = 1.0 / 3.0, "a number between 0 and 1" if |v| v > 0.0 && v < 1.0;
        /// over-relaxation of the dual step
        sigma ["σ"]: f64 = 1.1, "a number >= 1 and < 2" if |v| (1.0..2.0).contains(&v);
        /// damping of the step
        theta ["θ"]: f64 = 1.01, "a finite number >= 1" if |v| v >= 1.0;
        /// extrapolation; chosen as (theta-1)/((theta+1)(xi+2)) unless set
        alpha ["α"]: Option<f64> = None, "a number >= 0 and < 1" if |v| (0.0..1.0).contains(&v);
        /// curvature of f; its largest eigenvalue unless set
        lf ["L_f"]: Option<f64> = None, "a finite number >= 0" if |v| v >= 0.0;
        /// rho of the search direction
        rho ["ρ"]: f64 = 1.0, "a finite number > 0" if |v| v > 0.0;
        /// backtracking factor
        gamma ["γ"]: f64 = 0.5, "a number between 0 and 1" if |v| v > 0.0 && v < 1.0;
        /// sufficient decrease, below 1/max(1, 2 rho)
        delta ["δ"]: f64 = 1e-3, "a positive number below 1/max(1, 2 rho)" if |v| v > 0.0 && v < 1.0;
        /// first step of the line search times beta
        b ["b"]: f64 = 1.0, "a finite number > 0" if |v| v > 0.0;
        /// take b from Barzilai and Borwein
        bb [""]: bool = false;
        /// take b from their other formula, <S,Z>/<Z,Z> instead of <S,S>/<S,Z>, which is never longer
        bb2 [""]: bool = false;
        /// retract by QR instead of the polar factor
        qr [""]: bool = false;
    }
    plain {
        /// EP or RR.
        variant: Variant = Variant::Ep;
        /// Choice of β⁰.
        first_beta: FirstBeta = FirstBeta::Paper;
    }
}

impl OadmmOptions {
    /// OADMM-EP with the paper's constants.
    pub const EP: Self = Self::DEFAULT;
    /// OADMM-RR with the paper's constants.
    pub const RR: Self = Self { variant: Variant::Rr, ..Self::DEFAULT };
    /// EP with the constants that did best on k-sparse PCA (suite `dc` of the benchmarks): less
    /// smoothing, and a β that starts higher and grows faster. Outside the theory.
    pub const FAST: Self = Self { chi: Some(0.03), p: 0.5, first_beta: FirstBeta::Data, ..Self::EP };

    /// The paper's recommended constants.
    pub fn new(variant: Variant) -> Self {
        Self { variant, ..Self::DEFAULT }
    }

    /// Those of the constants that this variant examines.
    pub(super) fn listed(&self) -> &'static [Constant] {
        match self.variant {
            Variant::Ep => OF_EP,
            Variant::Rr => OF_RR,
        }
    }

    /// 1 + 4ωσ̈ with ω = 1/σ + ξ/(2σ²) + ε_z/σ², ε_z = ξ, σ̈ = (σ/(2−σ))²: what χ must exceed.
    pub fn chi_bound(&self) -> f64 {
        let (sigma, xi) = (self.sigma, self.xi);
        let omega = 1.0 / sigma + 1.5 * xi / (sigma * sigma);
        1.0 + 4.0 * omega * (sigma / (2.0 - sigma)).powi(2)
    }

    /// χ in force.
    pub fn chi(&self) -> f64 {
        self.chi.unwrap_or(1.001 * self.chi_bound())
    }

    /// α in force: (θ−1)/((θ+1)(ξ+2)) − 1e-12 unless set, 0 for RR.
    pub fn alpha(&self) -> f64 {
        match (self.variant, self.alpha) {
            (Variant::Rr, _) => 0.0,
            (Variant::Ep, Some(alpha)) => alpha,
            (Variant::Ep, None) => {
                ((self.theta - 1.0) / ((self.theta + 1.0) * (self.xi + 2.0)) - 1e-12).max(0.0)
            }
        }
    }

    /// β⁰ and ξ for a problem. β⁰ is raised where the weak convexity W of h asks for it: the prox
    /// is single-valued while μ + 1/β = (χ+1)/β < 1/W, and the theory asks for β ≥ 2χW.
    pub(super) fn schedule<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        x0: &RowMat,
        (abar, lf): (f64, f64),
    ) -> Schedule {
        let slope = slope(p, x0);
        let square = (abar * abar).max(f64::MIN_POSITIVE);
        let largest_k = p.g.ranks_entries();
        let (chosen, steeper) = match (self.beta0, self.first_beta) {
            (Some(beta0), _) => (beta0, 1.0),
            (None, FirstBeta::Paper) => (10.0 * slope / square, 1.0),
            (None, FirstBeta::Data) if largest_k && p.shape().0 >= WIDE => (slope / square, JUMP),
            (None, FirstBeta::Data) => {
                let c = if largest_k { JUMP } else { 1.0 };
                ((0.1 * lf).max(c * slope) / square, 1.0)
            }
        };
        let xi = steeper * self.xi;
        let w = p.h.weak_convexity().unwrap_or(0.0);
        let least = w * (2.0 * self.chi()).max(1.001 * (self.chi() + 1.0));
        if chosen >= least {
            return Schedule { beta0: chosen, xi, raised: false };
        }
        tracing::warn!(
            "beta0 = {chosen} is too small for a weakly convex penalty (W = {w}): raised to {least}"
        );
        Schedule { beta0: least, xi, raised: true }
    }

    /// The options if all are in range.
    pub(super) fn in_range(self, solver: &str) -> Result<Self> {
        let most = 1.0 / (2.0 * self.rho).max(1.0);
        let options = self.checked(solver)?;
        let expected = format!("a positive number below 1/max(1, 2 rho) = {most}");
        checked(&format!("{solver}-delta"), options.delta, &expected, |v| v < most)?;
        Ok(options)
    }

    /// These options with what users have set for the solver. χ = 0 asks for the bound of the theory.
    fn chosen(self, info: &Preset<Oadmm>, o: &SolverOptions) -> Result<Self> {
        let chi = format!("{}-chi", info.name);
        let mut given = o.constants.clone();
        if given.get(&chi).and_then(Value::number) == Some(0.0) {
            given.insert(chi, Value::Auto);
        }
        self.with(info.name, info.constants, &given)?.in_range(info.name)
    }
}

const OF_EP: &[Constant] =
    &only(&OadmmOptions::EP.constants(), ["chi", "beta0", "xi", "p", "sigma", "theta", "alpha", "lf"]);
const OF_RR: &[Constant] = &only(
    &OadmmOptions::RR.constants(),
    ["chi", "beta0", "xi", "p", "sigma", "rho", "gamma", "delta", "b", "bb", "bb2", "qr", "lf"],
);
const OF_FAST: &[Constant] = &described(
    described(
        only(&OadmmOptions::FAST.constants(), ["chi", "beta0", "xi", "p", "sigma", "theta", "alpha", "lf"]),
        "beta0",
        "first penalty parameter; unless set, the larger of 0.1 L_f and the slope lambda of h \
         (l1-largest-k: 50 lambda below 500 variables, else lambda)",
    ),
    "xi",
    "growth of beta; times 50 for l1-largest-k with 500 variables or more, unless beta0 is set",
);

/// OADMM-EP with the paper's constants.
pub const EUCLIDEAN: Preset<Oadmm> = Preset {
    name: "oadmm-ep",
    doc: "ADMM with Moreau smoothing, X by Euclidean projection, the paper's constants",
    constants: OF_EP,
    shared: &[],
    domain: Domain::SPLITTING,
    make: |info, o| Ok(Oadmm { name: info.name, options: OadmmOptions::EP.chosen(info, o)? }),
};

/// OADMM-RR with the paper's constants.
pub const RIEMANNIAN: Preset<Oadmm> = Preset {
    name: "oadmm-rr",
    doc: "ADMM with Moreau smoothing, X by a Riemannian line search, the paper's constants",
    constants: OF_RR,
    shared: &[],
    domain: Domain::SPLITTING,
    make: |info, o| Ok(Oadmm { name: info.name, options: OadmmOptions::RR.chosen(info, o)? }),
};

/// OADMM-EP with fast constants, see [`OadmmOptions::FAST`].
pub const FAST: Preset<Oadmm> = Preset {
    name: "oadmm",
    doc: "ADMM with Moreau smoothing, X by Euclidean projection, fast constants",
    constants: OF_FAST,
    shared: &[],
    domain: Domain::SPLITTING,
    make: |info, o| Ok(Oadmm { name: info.name, options: OadmmOptions::FAST.chosen(info, o)? }),
};
