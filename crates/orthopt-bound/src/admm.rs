//! The relaxation max ½⟨C, Y⟩ − p(Y) over the Fantope, by ADMM on Y = T (docs/mathematics.md,
//! section 14). Every iterate gives a bound; the lowest is kept.

use super::certified;
use super::fantope::Fantope;
use super::penalty::Penalty;
use orthopt_linalg::RowMat;

/// Iterations between two checks of the bound.
pub(super) const CHECK: u64 = 10;
/// ρ changes when one residual is this many times the other, by the factor below.
const UNBALANCED: f64 = 3.0;
const FACTOR: f64 = 1.5;
/// Iterations in which ρ may change every `CHECK`; later every 10 `CHECK`, so that it converges.
const EARLY: u64 = 500;
/// Above this n the clock is checked after every iteration.
const SLOW: usize = 32;

/// T, the scaled multiplier U and ρ: enough to continue, or to begin a similar problem.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub t: RowMat,
    pub u: RowMat,
    pub rho: f64,
}

/// One run.
#[derive(Debug)]
pub(super) struct Admm<'a, P> {
    c: &'a RowMat,
    r: usize,
    floor: f64,
    pub penalty: P,
    pub point: Point,
    pub y: RowMat,
    pub iteration: u64,
    residuals: (f64, f64), // ‖Y − T‖_F, ρ‖T − T⁻‖_F
    project: Fantope,
    measure: Fantope,
    best: Dual,
    latest: f64, // the bound of the last check
}

/// The dual matrix with the lowest bound so far.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    pub z: RowMat,
    pub constant: f64,
    pub estimate: f64, // of the bound, not proved
}

impl<'a, P: Penalty> Admm<'a, P> {
    /// From T = Y = 0 or another point; `floor` as in [`certified::sum_of_largest`].
    pub fn new(c: &'a RowMat, r: usize, floor: f64, penalty: P, start: Option<Point>) -> Self {
        let n = c.nrows();
        let rho = 0.25 * leading_value(c).max(f64::MIN_POSITIVE);
        let point = start.unwrap_or_else(|| Point { t: RowMat::zeros(n, n), u: RowMat::zeros(n, n), rho });
        let best = Dual { z: RowMat::zeros(0, 0), constant: 0.0, estimate: f64::INFINITY };
        let y = RowMat::zeros(n, n);
        let (project, measure) = (Fantope::default(), Fantope::default());
        let mut run = Self {
            c,
            r,
            floor,
            penalty,
            point,
            y,
            iteration: 0,
            residuals: (0.0, 0.0),
            project,
            measure,
            best,
            latest: f64::INFINITY,
        };
        run.offer(run.half_c()); // Z = ½C as far as it is allowed
        run.look();
        run
    }

    /// The lowest bound so far, as estimated.
    pub fn best(&self) -> &Dual {
        &self.best
    }

    /// The bound at the last check, as estimated.
    pub fn latest(&self) -> f64 {
        self.latest
    }

    /// The lowest bound so far, proved (docs/mathematics.md, section 14); infinite where time was over before there was one.
    pub fn certified(&mut self) -> f64 {
        let (c, z) = (self.c, &self.best.z);
        if z.nrows() != c.nrows() {
            return f64::INFINITY;
        }
        let m = certified::difference(c, z);
        let pairs = self.measure.leading_pairs(&m, self.r);
        let sum = pairs.and_then(|(values, vectors)| {
            certified::from_pairs(c, z, m, self.r, self.floor, (&values, &vectors))
        });
        sum.map_or(f64::INFINITY, |sum| (sum + self.best.constant).next_up())
    }

    /// `CHECK` iterations, fewer where they take long and it is `over`, and a check of the bound; `false` where
    /// numbers are no longer finite, or the work is cancelled.
    pub fn advance(&mut self, over: &dyn Fn() -> bool) -> bool {
        for _ in 0..CHECK {
            if self.step().is_none() {
                return false;
            }
            if self.c.nrows() > SLOW && over() {
                break;
            }
        }
        self.look();
        if self.iteration <= EARLY || self.iteration.is_multiple_of(10 * CHECK) {
            self.balance();
        }
        true
    }

    fn step(&mut self) -> Option<()> {
        let Point { t, u, rho } = &mut self.point;
        // Y ← projection of T − U + C/(2ρ)
        let weight = 0.5 / *rho;
        let mut b = self.c.clone();
        let data = b.data_mut().iter_mut().zip(t.data().iter().zip(u.data()));
        data.for_each(|(b, (t, u))| *b = weight * *b + (t - u));
        self.y = self.project.project(&b, self.r)?;
        // T ← prox of Y + U, U ← Y + U − T
        let mut g = b;
        g.data_mut().iter_mut().zip(self.y.data().iter().zip(u.data())).for_each(|(g, (y, u))| *g = y + u);
        let before = std::mem::replace(t, g.clone());
        self.penalty.shrink(t, *rho);
        u.data_mut().iter_mut().zip(g.data().iter().zip(t.data())).for_each(|(u, (g, t))| *u = g - t);
        let apart = |a: &RowMat, b: &RowMat| {
            a.data().iter().zip(b.data()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        self.residuals = (apart(&self.y, t), *rho * apart(t, &before));
        self.iteration += 1;
        Some(())
    }

    /// The bound of Z = ρU.
    fn look(&mut self) {
        let mut z = self.point.u.clone();
        z.data_mut().iter_mut().for_each(|v| *v *= self.point.rho);
        self.offer(z);
    }

    fn offer(&mut self, mut z: RowMat) {
        let constant = self.penalty.allow(&mut z);
        let n = z.nrows();
        for i in 0..n {
            (0..i).for_each(|j| z.set(j, i, z.get(i, j)));
        }
        let mut m = self.half_c();
        m.data_mut().iter_mut().zip(z.data()).for_each(|(m, z)| *m -= z);
        let Some(sum) = self.measure.sum_of_largest(&m, self.r) else { return };
        let estimate = sum.max(self.floor * self.r as f64) + constant;
        self.latest = estimate;
        if estimate < self.best.estimate {
            self.best = Dual { z, constant, estimate };
        }
    }

    fn half_c(&self) -> RowMat {
        let mut m = self.c.clone();
        m.data_mut().iter_mut().for_each(|v| *v *= 0.5);
        m
    }

    /// ρ such that both residuals fall alike.
    fn balance(&mut self) {
        let (primal, dual) = self.residuals;
        let factor = if primal > UNBALANCED * dual {
            FACTOR
        } else if dual > UNBALANCED * primal {
            1.0 / FACTOR
        } else {
            return;
        };
        self.point.rho *= factor;
        self.point.u.data_mut().iter_mut().for_each(|v| *v /= factor);
    }

    /// Both residuals, relative to what they are residuals of.
    pub fn converged(&self, tolerance: f64) -> bool {
        let size = (self.r as f64).sqrt();
        let dual = self.point.rho * self.point.u.norm();
        self.residuals.0 <= tolerance * size
            && self.residuals.1 <= tolerance * (dual + self.best.estimate.abs())
    }
}

/// About λ₁(C), by a few steps of the power method.
fn leading_value(c: &RowMat) -> f64 {
    let n = c.nrows();
    let mut v = RowMat::from_fn(n, 1, |i, _| 1.0 + 0.5 * ((i as f64 + 1.0) * 0.754_877).fract());
    let mut value = 0.0;
    for _ in 0..20 {
        let length = v.norm();
        if length <= f64::MIN_POSITIVE {
            break;
        }
        v.data_mut().iter_mut().for_each(|x| *x /= length);
        let mut w = RowMat::zeros(n, 1);
        orthopt_linalg::products::product(&mut w, false, 1.0, c.as_mat(), v.as_mat());
        value = w.norm();
        v = w;
    }
    if value > 0.0 { value } else { 1.0 }
}
