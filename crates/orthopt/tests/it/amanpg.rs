//! AManPG against a twin that takes no short cuts, and what it promises.

use orthopt::RowMat;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::PcaProblem;
use orthopt::smooth::Smooth;
use orthopt::solve::Solver;
use orthopt::start::Start;
use orthopt_solvers::amanpg::AManPg;
use orthopt_solvers::proximal::TangentProx;

use crate::common::Steps;
use crate::common::first_order::{apart, check_descent, polar, solve, sum, wide, with_linear_term};
use crate::common::{exact_objective, gradient, problem};

/// Every gradient afresh, every subproblem to the end from S = 0, every polar factor by an SVD.
struct Plain<'p> {
    p: &'p PcaProblem,
    x: RowMat,
    z: RowMat,
    theta: f64,
    plain: bool,
    t: f64,
    shrink: f64,
    moves: u64,
    restarts: u64,
}

impl<'p> Plain<'p> {
    fn new(p: &'p PcaProblem, x: RowMat) -> Self {
        let t = 1.0 / p.f.lipschitz().unwrap();
        Self { p, z: x.clone(), x, theta: 1.0, plain: true, t, shrink: 1.0, moves: 0, restarts: 0 }
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.p.f.value(x) + self.p.h.value(x.data())
    }

    fn iterate(&mut self) {
        let v = sum(&self.z, -self.t, &gradient(self.p, &self.z));
        let mut subproblem = TangentProx::new(self.x.nrows(), self.x.ncols());
        subproblem.solve(&self.p.h, &self.z, &v, self.t, |_| 1e-12);
        let d = sum(subproblem.y(), -1.0, &self.z);
        let mut next = polar(subproblem.y());
        if self.plain {
            let mut alpha = 1.0;
            while self.value(&next) > self.value(&self.x) - 1e-4 * alpha * d.norm().powi(2) / self.t + 1e-14 {
                alpha *= 0.5;
                next = polar(&sum(&self.z, alpha, &d));
            }
            if alpha < 1.0 {
                self.shrink = (0.5 * self.shrink).max(0.25);
            }
        } else if self.value(&next) > self.value(&self.x) {
            self.restarts += 1;
            (self.z, self.theta, self.plain) = (self.x.clone(), 1.0, true);
            return;
        }
        let theta = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let b = (self.theta - 1.0) / theta;
        self.z = polar(&sum(&next, b, &sum(&next, -1.0, &self.x)));
        (self.x, self.theta, self.plain) = (next, theta, b == 0.0);
        if self.plain || self.moves.is_multiple_of(10) {
            let s = subproblem.multiplier().to_mat();
            let values = s.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
            let size = values.iter().fold(0.0, |m: f64, v| m.max(v.abs())) / self.t;
            let l = self.p.f.lipschitz().unwrap();
            let own = if self.p.f.is_concave() { 0.0 } else { l };
            self.t = self.shrink * 1.3 / (own + size).max(0.3 * l);
        }
        self.moves += 1;
    }
}

/// The gradient by linearity, the extrapolated multiplier and the polar factors by series change nothing.
#[test]
fn follows_its_plain_twin() {
    let solver = AManPg { phi: 1e-9, rotate: false, ..AManPg::DEFAULT };
    let mut restarts = 0;
    for p in [
        wide("l1-pca", 0.25, 12, 60, 4, 41),
        wide("l1-pca", 0.1, 20, 80, 3, 42),
        problem("l1-pca", 3.0, 25, 5, 43),
        problem("pca", 0.0, 20, 3, 44),
        with_linear_term(20, 3),
    ] {
        let x0 = Start::Random.point(&p.f, p.rank(), false, 5).unwrap();
        let mut plain = Plain::new(&p, x0.clone());
        let mut state = solver.init(&p, x0).unwrap();
        for k in 0..60 {
            plain.iterate();
            solver.steps(&p, &mut state, 1);
            let off = apart(solver.point(&p, &state), &plain.x);
            assert!(off <= 1e-6, "iteration {k}: {off:e}");
        }
        restarts += plain.restarts;
        assert!(plain.moves > 40 && solver.settings(&p, &state)["restarts"] == plain.restarts.into());
    }
    assert!(restarts > 0);
}

#[test]
fn never_raises_f() {
    for p in [
        problem("l1-pca", 3.0, 30, 4, 11),
        wide("l1-pca", 0.2, 10, 60, 3, 12),
        problem("pca", 0.0, 25, 4, 13),
        with_linear_term(15, 4),
    ] {
        for step in [0.5, 1.3, 2.0] {
            check_descent(&p, &AManPg { step, ..AManPg::DEFAULT }, &format!("step {step}"));
        }
    }
}

/// X⁰ is turned where that lowers F, and only there.
#[test]
fn turns_the_start_where_that_helps() {
    let turned = |p: &PcaProblem, x0: &RowMat| {
        let state = AManPg::DEFAULT.init(p, x0.clone()).unwrap();
        let x = AManPg::DEFAULT.point(p, &state);
        assert!(exact_objective(p, x) <= exact_objective(p, x0));
        assert_eq!(apart(x, x0) > 0.0, AManPg::DEFAULT.settings(p, &state)["rotated"] == true.into());
        apart(x, x0) > 1e-3
    };
    let p = wide("l1-pca", 0.25, 12, 60, 4, 41);
    assert!(turned(&p, &Start::Pca.point(&p.f, 4, false, 0).unwrap()));
    // coordinate vectors have the least ‖X‖₁ there is
    assert!(!turned(&p, &Start::Identity.point(&p.f, 4, false, 0).unwrap()));
    // without h there is nothing to gain but rounding
    for seed in 0..5 {
        let plain = problem("pca", 0.0, 20, 4, 44 + seed);
        assert!(!turned(&plain, &Start::Random.point(&plain.f, 4, false, seed).unwrap()));
    }
}

/// From the same starts it ends no higher than the method without momentum, on average, in a fraction of its iterations.
#[test]
fn momentum_pays() {
    let (mut fewer, mut excess) = (0.0, 0.0);
    let count = 8;
    for seed in 0..count {
        let p = wide("l1-pca", 0.25, 30, 150, 4, 60 + seed);
        let x0 = Start::Random.point(&p.f, 4, false, seed).unwrap();
        let [with, without] = ["amanpg", "manpg"].map(|name| solve(&p, name, x0.clone(), 1e-8, 20_000));
        fewer += (with.iterations as f64 / without.iterations as f64).ln() / count as f64;
        excess += (with.objective.total - without.objective.total) / without.objective.total.abs();
    }
    assert!(fewer.exp() < 0.5, "{:.2} of the iterations", fewer.exp());
    assert!(excess <= 1e-3, "{excess:e}");
}
