//! OADMM: what its theory promises, the plain ADMM it contains, and input that does not suit it.

use crate::common::Steps;
use crate::common::composite::{KINDS, composite};
use crate::common::{cases, gaussian, gaussian_rows};
use orthopt::RowMat;
use orthopt::concave::Concave;
use orthopt::family::CompositeOptions;
use orthopt::family::Family;
use orthopt::linear_map::LinearMap;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::CompositeProblem;
use orthopt::problem::PcaData;
use orthopt::smooth::Smooth;
use orthopt::solve::{RunOptions, Setting, Solver, Status, run};
use orthopt::solvers::{Oadmm, OadmmOptions, Variant};
use orthopt_core::constraint::stiefel::orthonormalise;
use orthopt_solvers::oadmm::State;
use proptest::prelude::*;

fn squared(a: &RowMat, b: &RowMat) -> f64 {
    a.data().iter().zip(b.data()).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// h_μ(y), the Moreau envelope.
fn envelope(p: &CompositeProblem, y: &RowMat, mu: f64) -> f64 {
    let one = |v: &f64| {
        let x = p.h.prox(*v, mu);
        p.h.entry(x) + (x - v) * (x - v) / (2.0 * mu)
    };
    y.data().iter().map(one).sum()
}

/// Θᵗ of the OADMM paper, equation (6), with 𝕋, ℤ and 𝕏, for a state after t ≥ 1 iterations;
/// in such a state `beta` and `mu` are βᵗ⁻¹ and μᵗ⁻¹.
fn lyapunov(p: &CompositeProblem, o: &OadmmOptions, st: &State) -> f64 {
    let t = st.t as f64;
    let beta = st.beta0 * (1.0 + o.xi * t.powf(o.p)); // βᵗ
    let (sigma, xi) = (o.sigma, o.xi);
    let omega = 1.0 / sigma + xi / (2.0 * sigma * sigma) + xi / (sigma * sigma);
    let (dot, ddot) = ((sigma - 1.0) / (2.0 - sigma), (sigma / (2.0 - sigma)).powi(2));
    let entries = st.at.y.data().len() as f64;
    let ch2 = p.h.lipschitz().powi(2) * entries; // C_h²
    let ax = p.a.apply(&st.at.x);
    let gap = squared(&ax, &st.at.y);
    let lagrangian = p.f.value(&st.at.x) - p.g.value(&st.at.x)
        + envelope(p, &st.at.y, st.mu)
        + (st.at.z.inner(&ax) - st.at.z.inner(&st.at.y))
        + 0.5 * beta * gap;
    let tt = 4.0 * omega * ddot / st.beta0 * ch2 / t;
    let zt = omega * dot * sigma * sigma * st.beta * gap;
    let ell = beta * st.at.abar * st.at.abar + st.at.lf;
    let xt = 0.5 * o.alpha() * (o.theta + 1.0) * ell * squared(&st.at.x, &st.x_prev);
    lagrangian + st.mu * ch2 + tt + zt + xt
}

proptest! {
    #![proptest_config(cases(60))]

    /// Lemmas 4.7(a) and 4.12(a): Θ falls by βᵗ(ε_z‖A(Xᵗ⁺¹) − yᵗ⁺¹‖² + ε_y‖yᵗ⁺¹ − yᵗ‖²) at least.
    #[test]
    fn the_lyapunov_function_falls_with_the_chi_of_the_theory(
        kind in 0..KINDS.len(),
        n in 4usize..10,
        r in 1usize..4,
        scale in -1.0f64..2.0,
        xi in 0.05f64..1.0,
        sigma in 1.0f64..1.8,
        theta in 1.005f64..1.5,
        rr in any::<bool>(),
        qr in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let p = composite(KINDS[kind], n, r, 10f64.powf(scale), seed);
        let variant = if rr { Variant::Rr } else { Variant::Ep };
        let options =
            OadmmOptions { chi: None, xi, sigma, theta, qr, ..OadmmOptions::new(variant) };
        let solver = Oadmm::new(options).unwrap();
        let o = solver.options();
        let x0 = p.start("random", seed).unwrap();
        let mut st = solver.init(&p, x0).unwrap();
        solver.steps(&p, &mut st, 1);
        let eps_y = 0.5 * (1.0 - o.chi_bound() / o.chi());
        for _ in 0..60 {
            let (before, y) = (lyapunov(&p, o, &st), st.at.y.clone());
            solver.steps(&p, &mut st, 1);
            let promised = st.beta * (xi * squared(&p.a.apply(&st.at.x), &st.at.y) + eps_y * squared(&st.at.y, &y));
            let after = lyapunov(&p, o, &st);
            let rounding = 1e-11 * (1.0 + before.abs());
            prop_assert!(
                after <= before - promised + rounding,
                "{:?} {variant:?} t {}: {before} {after} {promised}", KINDS[kind], st.t
            );
        }
    }
}

/// The polar factor by Newton and Schulz, which shares no code with the library.
fn polar(m: &RowMat) -> RowMat {
    let (n, r) = (m.nrows(), m.ncols());
    let size = m.norm();
    let mut y = RowMat::from_fn(n, r, |i, j| m.get(i, j) / size);
    for _ in 0..200 {
        let gram = RowMat::from_fn(r, r, |a, b| (0..n).map(|i| y.get(i, a) * y.get(i, b)).sum());
        y = RowMat::from_fn(n, r, |i, j| {
            1.5 * y.get(i, j) - 0.5 * (0..r).map(|k| y.get(i, k) * gram.get(k, j)).sum::<f64>()
        });
    }
    y
}

/// Linearised ADMM for f − g + λ‖DX‖₁ with D the identity or differences, written out:
/// X⁺ = polar(X − (∇f − ξ + Dᵀ(z + β(DX − y)))/ℓ), y⁺ = soft(DX⁺ + z/β, λ/β), z⁺ = z + β(DX⁺ − y⁺).
fn plain_admm(
    (c, d, p): (&RowMat, &RowMat, &CompositeProblem),
    (lambda, beta, ell): (f64, f64, f64),
    x0: &RowMat,
    steps: usize,
) -> [RowMat; 3] {
    let times = |a: &RowMat, b: &RowMat| {
        RowMat::from_fn(a.nrows(), b.ncols(), |i, j| (0..a.ncols()).map(|k| a.get(i, k) * b.get(k, j)).sum())
    };
    let dt = RowMat::from_fn(d.ncols(), d.nrows(), |i, j| d.get(j, i));
    let (n, r) = (x0.nrows(), x0.ncols());
    let mut x = x0.clone();
    let mut y = times(d, &x);
    let mut z = RowMat::zeros(y.nrows(), r);
    for _ in 0..steps {
        let dx = times(d, &x);
        let w = RowMat::from_fn(y.nrows(), r, |i, j| z.get(i, j) + beta * (dx.get(i, j) - y.get(i, j)));
        let (cx, pulled) = (times(c, &x), times(&dt, &w));
        let mut xi = RowMat::zeros(n, r);
        p.g.subgradient(&x, &mut xi);
        x = polar(&RowMat::from_fn(n, r, |i, j| {
            x.get(i, j) - (-cx.get(i, j) - xi.get(i, j) + pulled.get(i, j)) / ell
        }));
        let dx = times(d, &x);
        y = RowMat::from_fn(y.nrows(), r, |i, j| {
            let v = dx.get(i, j) + z.get(i, j) / beta;
            v.signum() * (v.abs() - lambda / beta).max(0.0)
        });
        z = RowMat::from_fn(y.nrows(), r, |i, j| z.get(i, j) + beta * (dx.get(i, j) - y.get(i, j)));
    }
    [x, y, z]
}

#[test]
fn without_its_extras_it_is_plain_admm() {
    let (n, r, steps) = (7, 2, 30);
    let a = gaussian(14, n, 5);
    let c = RowMat::from_fn(n, n, |i, j| (0..14).map(|k| a[(k, i)] * a[(k, j)]).sum());
    let identity = RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
    let differences =
        RowMat::from_fn(n - 1, n, |i, j| f64::from(u8::from(j == i + 1)) - f64::from(u8::from(i == j)));
    for (penalty, d) in [("l1", &identity), ("l1-largest-k", &identity), ("fused-l1", &differences)] {
        let options = CompositeOptions { penalty: Some(penalty.into()), ..Default::default() };
        let p =
            orthopt::family::composite_problem("pca", &PcaData::Dense(a.as_ref()), r, 3.0, &options).unwrap();
        let x0 = orthonormalise(&gaussian_rows(n, r, 6));
        let (beta, lf) = (40.0, 12.0);
        let mut errors = Vec::new();
        for chi in [1e-3, 1e-6, 1e-9] {
            // μ = χ/β → 0, σ = 1, α = 0, θ = 1, β constant
            let options = OadmmOptions {
                chi: Some(chi),
                beta0: Some(beta),
                xi: 0.0,
                sigma: 1.0,
                theta: 1.0,
                alpha: Some(0.0),
                lf: Some(lf),
                ..OadmmOptions::new(Variant::Ep)
            };
            let solver = Oadmm::new(options).unwrap();
            let mut st = solver.init(&p, x0.clone()).unwrap();
            solver.steps(&p, &mut st, steps as u64);
            let abar = p.a.norm((n, r));
            let ell = beta * abar * abar + lf;
            let [x, y, z] = plain_admm((&c, d, &p), (3.0, beta, ell), &x0, steps);
            errors.push(
                squared(&st.at.x, &x).sqrt() + squared(&st.at.y, &y).sqrt() + squared(&st.at.z, &z).sqrt(),
            );
        }
        assert!(errors[2] <= 1e-6 && errors[1] <= 1e-3, "{penalty}: {errors:?}");
        assert!(errors[0] > errors[1] && errors[1] > errors[2], "{penalty}: {errors:?}");
    }
}

#[test]
fn what_is_returned_is_the_better_of_the_two_points() {
    for (kind, variant) in KINDS.iter().flat_map(|k| [(k, Variant::Ep), (k, Variant::Rr)]) {
        let p = composite(*kind, 12, 3, 2.0, 3);
        let solver = Oadmm::new(OadmmOptions::new(variant)).unwrap();
        let x0 = p.start("random", 1).unwrap();
        let options = RunOptions { max_iterations: Some(200), ..Default::default() };
        let s =
            run(&p, &solver, x0, options, &mut orthopt::solve::MaxIterations(Some(200)), &mut []).unwrap();
        assert_eq!(s.status, Status::MaxIters);
        assert!(s.feasibility <= 1e-13, "{kind:?} {}", s.feasibility);
        let real = |name: &str| match s.settings.get(name) {
            Some(Setting::Real(v)) => Some(*v),
            _ => None,
        };
        let (x, sparse) = (real("objective_x").unwrap(), real("objective_sparse"));
        let least = sparse.map_or(x, |s| s.min(x));
        assert!((p.value(&s.x) - least).abs() <= 1e-10 * (1.0 + least.abs()), "{kind:?}");
        let returned = if sparse.is_some_and(|s| s < x) { "polar(y_check)" } else { "X" };
        assert_eq!(s.settings["returned"], Setting::Text(returned.into()));
        assert!(real("mu_norm_z").unwrap() > 0.0 && real("crit_tangent").unwrap() >= 0.0);
    }
}

#[test]
fn beta_too_small_for_the_weak_convexity_is_raised_and_reported() {
    for name in ["mcp-pca", "scad-pca"] {
        let p = composite((name, None), 8, 2, 1.0, 1);
        let w = p.h.weak_convexity().unwrap();
        assert!(w > 0.0);
        for (beta0, raised) in [(1e-3, true), (1e6, false)] {
            let options =
                OadmmOptions { beta0: Some(beta0), chi: Some(2.0), ..OadmmOptions::new(Variant::Ep) };
            let solver = Oadmm::new(options).unwrap();
            let x0 = p.start("random", 1).unwrap();
            let mut st = solver.init(&p, x0).unwrap();
            assert_eq!(st.beta0, if raised { 4.0 * w } else { beta0 }, "{name}");
            solver.steps(&p, &mut st, 5);
            let settings = solver.settings(&p, &st);
            assert_eq!(settings["beta0_raised"], Setting::Bool(raised));
            // the prox with μ + 1/β is single-valued from there on
            assert!((2.0 + 1.0) / st.beta0 < 1.0 / w);
        }
    }
}

#[test]
fn input_that_does_not_fit_is_an_error() {
    let a = gaussian(9, 5, 1);
    let data = PcaData::Dense(a.as_ref());
    let pca = |name: &str, options: &CompositeOptions| {
        orthopt::family::composite_problem(name, &data, 2, 1.0, options)
    };
    let said = |r: orthopt::Result<CompositeProblem>| r.map(|_| ()).unwrap_err().to_string();
    let k = |k| CompositeOptions { k: Some(k), ..Default::default() };
    assert!(pca("dc-pca", &k(10)).is_ok());
    assert!(said(pca("dc-pca", &k(11))).starts_with("k is 11: expected at most 10"));
    let penalty = |p: &str| CompositeOptions { penalty: Some(p.into()), ..Default::default() };
    assert!(said(pca("pca", &penalty("l0"))).contains("there is no penalty of composite problems 'l0'"));
    assert!(said(pca("probe", &k(1))).contains("probe"));
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let options = OadmmOptions { beta0: Some(bad), ..OadmmOptions::new(Variant::Ep) };
        assert!(Oadmm::new(options).unwrap_err().to_string().starts_with("oadmm-ep-beta0 is"));
        let options = OadmmOptions { chi: Some(bad), ..OadmmOptions::new(Variant::Rr) };
        assert!(Oadmm::new(options).unwrap_err().to_string().starts_with("oadmm-rr-chi is"));
    }
    // a start of another shape, and one that is not feasible
    let p = pca("dc-pca", &CompositeOptions::default()).unwrap();
    let solver = Oadmm::new(OadmmOptions::new(Variant::Ep)).unwrap();
    assert!(solver.init(&p, orthonormalise(&gaussian_rows(5, 3, 1))).is_err());
    assert!(solver.init(&p, gaussian_rows(5, 2, 1)).is_err());
}

#[test]
fn iterates_do_not_depend_on_how_a_run_is_cut_into_steps() {
    let p = composite(("dc-pca", None), 20, 3, 5.0, 2);
    for variant in [Variant::Ep, Variant::Rr] {
        let solver = Oadmm::new(OadmmOptions::new(variant)).unwrap();
        let x0 = p.start("random", 4).unwrap();
        let mut whole = solver.init(&p, x0.clone()).unwrap();
        solver.steps(&p, &mut whole, 50);
        let mut cut = solver.init(&p, x0).unwrap();
        [1, 7, 42].iter().for_each(|budget| {
            solver.steps(&p, &mut cut, *budget);
        });
        let point = |st: &State| (st.at.x.clone(), st.at.y.clone(), st.at.z.clone());
        assert_eq!(point(&whole), point(&cut));
    }
}
