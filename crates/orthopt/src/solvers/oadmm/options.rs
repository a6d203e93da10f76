//! The constants of OADMM: names, defaults, checks, and the three entries of the registry.

use super::Oadmm;
use crate::composite::Composite;
use crate::concave::Concave;
use crate::error::Result;
use crate::linear_map::LinearMap;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constant, checked};
use crate::smooth::Smooth;
use crate::solvers::composite::splitting::{Constants, POSITIVE, SCOPE, slope, suits_splitting};
use crate::solvers::{SolverInfo, SolverOptions};

/// How X is moved.
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

/// Options of OADMM.
#[derive(Clone, Debug, PartialEq)]
pub struct OadmmOptions {
    /// EP or RR.
    pub variant: Variant,
    /// χ = μβ; `None` is 1.001 times the bound of the theory, [`OadmmOptions::chi_bound`].
    pub chi: Option<f64>,
    /// β⁰; `None` is chosen by `first_beta`.
    pub beta0: Option<f64>,
    /// How β⁰ is chosen.
    pub first_beta: FirstBeta,
    /// ξ ≥ 0, growth of β.
    pub xi: f64,
    /// p ∈ (0, 1), exponent of the growth of β.
    pub p: f64,
    /// σ ∈ [1, 2), over-relaxation of the dual step.
    pub sigma: f64,
    /// θ ≥ 1, damping of the EP step.
    pub theta: f64,
    /// α ∈ [0, 1), extrapolation of EP; `None` is the bound of the theory.
    pub alpha: Option<f64>,
    /// L_f; `None` is estimated.
    pub lf: Option<f64>,
    /// ρ > 0 of the RR direction.
    pub rho: f64,
    /// γ ∈ (0, 1), backtracking factor.
    pub gamma: f64,
    /// δ ∈ (0, 1/max(1, 2ρ)), sufficient decrease.
    pub delta: f64,
    /// b > 0, first step of the line search times β.
    pub b: f64,
    /// Barzilai–Borwein steps instead of a fixed b.
    pub bb: bool,
    /// QR instead of polar retraction in RR.
    pub qr: bool,
}

impl OadmmOptions {
    /// The paper's recommended constants; χ, for which it has none, is 1.01.
    pub fn new(variant: Variant) -> Self {
        Self {
            variant,
            chi: Some(1.01),
            beta0: None,
            first_beta: FirstBeta::Paper,
            xi: 1.0,
            p: 1.0 / 3.0,
            sigma: 1.1,
            theta: 1.01,
            alpha: None,
            lf: None,
            rho: 1.0,
            gamma: 0.5,
            delta: 1e-3,
            b: 1.0,
            bb: false,
            qr: false,
        }
    }

    /// EP with the constants that did best on k-sparse PCA (suite `dc` of the benchmarks): less
    /// smoothing, and a β that starts higher and grows faster. Outside the theory.
    pub fn fast() -> Self {
        Self { chi: Some(0.03), p: 0.5, first_beta: FirstBeta::Data, ..Self::new(Variant::Ep) }
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
        abar: f64,
        lf: f64,
    ) -> Schedule {
        let square = (abar * abar).max(f64::MIN_POSITIVE);
        let largest_k = p.g.ranks_entries();
        let (chosen, steeper) = match (self.beta0, self.first_beta) {
            (Some(beta0), _) => (beta0, 1.0),
            (None, FirstBeta::Paper) => (10.0 * slope(&p.h) / square, 1.0),
            (None, FirstBeta::Data) if largest_k && p.shape().0 >= WIDE => (slope(&p.h) / square, JUMP),
            (None, FirstBeta::Data) => {
                let c = if largest_k { JUMP } else { 1.0 };
                ((0.1 * lf).max(c * slope(&p.h)) / square, 1.0)
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
    pub(super) fn checked(self, solver: &str) -> Result<Self> {
        let check = |constant: &str, value: f64, expected: &str, ok: &dyn Fn(f64) -> bool| {
            checked(&format!("{solver}-{constant}"), value, expected, ok).map(|_| ())
        };
        let positive = |v: f64| v > 0.0;
        let optional = |v: Option<f64>| v.unwrap_or(1.0);
        check("chi", optional(self.chi), POSITIVE, &positive)?;
        check("beta0", optional(self.beta0), POSITIVE, &positive)?;
        check("rho", self.rho, POSITIVE, &positive)?;
        check("b", self.b, POSITIVE, &positive)?;
        check("xi", self.xi, "a finite number >= 0", &|v| v >= 0.0)?;
        check("lf", optional(self.lf), "a finite number >= 0", &|v| v >= 0.0)?;
        check("p", self.p, "a number between 0 and 1", &|v| v > 0.0 && v < 1.0)?;
        check("gamma", self.gamma, "a number between 0 and 1", &|v| v > 0.0 && v < 1.0)?;
        check("sigma", self.sigma, "a number >= 1 and < 2", &|v| (1.0..2.0).contains(&v))?;
        check("theta", self.theta, "a finite number >= 1", &|v| v >= 1.0)?;
        check("alpha", self.alpha.unwrap_or(0.0), "a number >= 0 and < 1", &|v| (0.0..1.0).contains(&v))?;
        let most = 1.0 / (2.0 * self.rho).max(1.0);
        check("delta", self.delta, "a positive number below 1/max(1, 2 rho)", &|v| v > 0.0 && v < most)?;
        Ok(self)
    }

    /// These options with what users have set.
    fn with<P>(mut self, info: &SolverInfo<P>, options: &SolverOptions) -> Result<Self> {
        let c = Constants { info, options };
        for constant in info.constants {
            let Some(v) = options.constant(info, constant.name) else { continue };
            match constant.name {
                "chi" => self.chi = if v == 0.0 { None } else { Some(v) },
                "beta0" => self.beta0 = Some(v),
                "xi" => self.xi = v,
                "p" => self.p = v,
                "sigma" => self.sigma = v,
                "theta" => self.theta = v,
                "alpha" => self.alpha = Some(v),
                "lf" => self.lf = Some(v),
                "rho" => self.rho = v,
                "gamma" => self.gamma = v,
                "delta" => self.delta = v,
                "b" => self.b = v,
                "bb" => self.bb = c.flag("bb")?,
                "qr" => self.qr = c.flag("qr")?,
                _ => {}
            }
        }
        self.checked(info.name)
    }
}

const fn constant(name: &'static str, doc: &'static str, default: f64) -> Constant {
    Constant { name, doc, default: Some(default) }
}

const CHI: Constant = constant(
    "chi",
    "chi = mu beta > 0, smoothing against penalty; 0 takes 1.001 times the bound of the theory",
    1.01,
);
const BETA0: Constant = Constant {
    name: "beta0",
    doc: "beta_0 > 0, first penalty parameter [default: 10 times the slope lambda of h]",
    default: None,
};
const XI: Constant = constant("xi", "xi >= 0, growth of beta", 1.0);
const P: Constant = constant("p", "p in (0, 1), exponent of the growth of beta", 1.0 / 3.0);
const SIGMA: Constant = constant("sigma", "sigma in [1, 2), over-relaxation of the dual step", 1.1);
const THETA: Constant = constant("theta", "theta >= 1, damping of the step", 1.01);
const ALPHA: Constant = Constant {
    name: "alpha",
    doc: "alpha in [0, 1), extrapolation [default: (theta-1)/((theta+1)(xi+2))]",
    default: None,
};
const LF: Constant =
    Constant { name: "lf", doc: "L_f >= 0, curvature of f [default: its largest eigenvalue]", default: None };
const RHO: Constant = constant("rho", "rho > 0 of the search direction", 1.0);
const GAMMA: Constant = constant("gamma", "gamma in (0, 1), backtracking factor", 0.5);
const DELTA: Constant = constant("delta", "delta in (0, 1/max(1, 2 rho)), sufficient decrease", 1e-3);
const B: Constant = constant("b", "b > 0, first step times beta", 1.0);
const BB: Constant = constant("bb", "1 takes b from Barzilai and Borwein", 0.0);
const QR: Constant = constant("qr", "1 retracts by QR instead of the polar factor", 0.0);

const EP_CONSTANTS: &[Constant] = &[CHI, BETA0, XI, P, SIGMA, THETA, ALPHA, LF];
const RR_CONSTANTS: &[Constant] = &[CHI, BETA0, XI, P, SIGMA, RHO, GAMMA, DELTA, B, BB, QR, LF];
const FAST_CONSTANTS: &[Constant] = &[
    Constant { default: Some(0.03), ..CHI },
    Constant {
        doc: "beta_0 > 0, first penalty parameter [default: the larger of 0.1 L_f and the slope lambda of h, \
              50 lambda for l1-largest-k, lambda for that with 500 variables or more]",
        ..BETA0
    },
    Constant {
        doc: "xi >= 0, growth of beta; times 50 for l1-largest-k with 500 variables or more unless beta0 is set",
        ..XI
    },
    Constant { default: Some(0.5), ..P },
    SIGMA,
    THETA,
    ALPHA,
    LF,
];

/// OADMM-EP with the paper's constants.
pub const fn euclidean<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "oadmm-ep",
        doc: "ADMM with Moreau smoothing, X by Euclidean projection, the paper's constants",
        constants: EP_CONSTANTS,
        handles: |p| suits_splitting(&p.h),
        scope: SCOPE,
        make: |o| {
            let (info, base) = (euclidean::<F, H, G, A>(), OadmmOptions::new(Variant::Ep));
            Ok(Box::new(Oadmm { name: info.name, options: base.with(&info, o)? }))
        },
    }
}

/// OADMM-RR with the paper's constants.
pub const fn riemannian<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "oadmm-rr",
        doc: "ADMM with Moreau smoothing, X by a Riemannian line search, the paper's constants",
        constants: RR_CONSTANTS,
        handles: |p| suits_splitting(&p.h),
        scope: SCOPE,
        make: |o| {
            let (info, base) = (riemannian::<F, H, G, A>(), OadmmOptions::new(Variant::Rr));
            Ok(Box::new(Oadmm { name: info.name, options: base.with(&info, o)? }))
        },
    }
}

/// OADMM-EP with fast constants, see [`OadmmOptions::fast`].
pub const fn fast<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "oadmm",
        doc: "ADMM with Moreau smoothing, X by Euclidean projection, fast constants",
        constants: FAST_CONSTANTS,
        handles: |p| suits_splitting(&p.h),
        scope: SCOPE,
        make: |o| {
            let (info, base) = (fast::<F, H, G, A>(), OadmmOptions::fast());
            Ok(Box::new(Oadmm { name: info.name, options: base.with(&info, o)? }))
        },
    }
}
