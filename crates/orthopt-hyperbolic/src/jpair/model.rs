//! One subproblem: from W and Q to the minimiser over all components.

use super::near::Near;
use super::{Coefficients, Component, ComponentMin, Ending, JMove, JPairMin, circular, hyperbolic};

/// q(V) = ⟨V − I, W⟩ + ½ vec(V − I)ᵀQ vec(V − I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JPair {
    /// W = [∇f(X)Xᵀ]_BB.
    pub w: [[f64; 2]; 2],
    /// Q, symmetric, with θI in it; vec stacks columns.
    pub q: [[f64; 4]; 4],
}

/// Two components whose minima differ by less than this, relative to their coefficients, tie.
const TIE: f64 = 1e-13;

impl JPair {
    /// The exact model of f = ½tr(A S), S = XBXᵀ: Q = S_BB ⊗ A_BB + θI from `[A₁₁, A₁₂, A₂₂]` and
    /// `[S₁₁, S₁₂, S₂₂]`.
    #[inline]
    pub fn exact(w: [[f64; 2]; 2], a: [f64; 3], s: [f64; 3], theta: f64) -> Self {
        let (a, s) = ([[a[0], a[1]], [a[1], a[2]]], [[s[0], s[1]], [s[1], s[2]]]);
        let mut q = [[0.0; 4]; 4];
        for c in 0..2 {
            for r in 0..2 {
                for c2 in 0..2 {
                    for r2 in 0..2 {
                        q[r + 2 * c][r2 + 2 * c2] = s[c][c2] * a[r][r2];
                    }
                }
                q[r + 2 * c][r + 2 * c] += theta;
            }
        }
        Self { w, q }
    }

    /// The separable majoriser ½L‖(V − I)Z‖²_F + ½θ‖V − I‖²_F: Q = L·(ZZᵀ ⊗ I₂) + θI from
    /// `[S₁₁, S₁₂, S₂₂]` of S = ZZᵀ (docs/mathematics.md, section 9, C10).
    #[inline]
    pub fn metric(w: [[f64; 2]; 2], l: f64, s: [f64; 3], theta: f64) -> Self {
        Self::exact(w, [l, 0.0, l], s, theta)
    }

    /// The model ½vec(V)ᵀQ vec(V) + ⟨V, P⟩ of the paper's Problem (6), up to its value at I.
    pub fn from_p(p: [[f64; 2]; 2], q: [[f64; 4]; 4]) -> Self {
        let at_identity = |k: usize| q[k][0] + q[k][3];
        let w = [
            [p[0][0] + at_identity(0), p[0][1] + at_identity(2)],
            [p[1][0] + at_identity(1), p[1][1] + at_identity(3)],
        ];
        Self { w, q }
    }

    /// P = W − mat(Q vec I).
    pub fn p(&self) -> [[f64; 2]; 2] {
        let at_identity = |k: usize| self.q[k][0] + self.q[k][3];
        [
            [self.w[0][0] - at_identity(0), self.w[0][1] - at_identity(2)],
            [self.w[1][0] - at_identity(1), self.w[1][1] - at_identity(3)],
        ]
    }

    /// ½vec(V)ᵀQ vec(V) + ⟨V, P⟩ at V = I: the zero of the components' values.
    pub fn value_at_identity(&self) -> f64 {
        let p = self.p();
        p[0][0] + p[1][1] + 0.5 * self.bilinear([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0])
    }

    #[inline(always)]
    fn bilinear(&self, x: [f64; 4], y: [f64; 4]) -> f64 {
        let mut sum = 0.0;
        for k in 0..4 {
            let row = self.q[k][0] * y[0] + self.q[k][1] * y[1] + self.q[k][2] * y[2] + self.q[k][3] * y[3];
            sum += x[k] * row;
        }
        sum
    }

    /// a, …, e of ½vec(V)ᵀQ vec(V) + ⟨V, P⟩ on a component (built from its basis matrices: the
    /// paper's d has the wrong sign for two of them, docs/mathematics.md, section 9, C5).
    #[inline]
    pub fn coefficients(&self, component: Component) -> Coefficients {
        let ([a0, .., a3], b) = component.basis();
        let (a, p) = ([a0, 0.0, 0.0, a3], self.p());
        Coefficients {
            a: p[0][0] * a0 + p[1][1] * a3,
            b: p[1][0] * b[1] + p[0][1] * b[2],
            c: 0.5 * self.bilinear(a, a),
            d: self.bilinear(a, b),
            e: 0.5 * self.bilinear(b, b),
        }
    }

    /// Coefficients on the component of I as a function of c₁ = C − 1 and S.
    #[inline]
    pub(crate) fn near(&self, component: Component) -> Near {
        let (a, b) = component.basis();
        let w = [self.w[0][0], self.w[1][0], self.w[0][1], self.w[1][1]];
        let along = |x: [f64; 4]| w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3];
        Near {
            trace: along(a),
            slope: along(b),
            ii: self.bilinear(a, a),
            ik: self.bilinear(a, b),
            kk: self.bilinear(b, b),
        }
    }

    /// The minimum over one component.
    pub fn component(&self, component: Component) -> ComponentMin {
        let near = component.holds_identity().then(|| self.near(component));
        let base = if near.is_some() { self.value_at_identity() } else { 0.0 };
        match component {
            Component::Boost { .. } => {
                hyperbolic::minimise(&self.coefficients(component), near.as_ref(), base)
            }
            _ => circular::minimise(&self.coefficients(component), near.as_ref(), base),
        }
    }

    /// The global minimum; `mixed` for rows of different sign.
    pub fn solve(&self, mixed: bool) -> JPairMin {
        let components: &[Component] =
            if mixed { &Component::BOOSTS } else { &[Component::Rotation, Component::Reflection] };
        let (mut best, mut infimum) = (None, f64::INFINITY);
        let identity = self.value_at_identity();
        for component in components {
            // most components are nowhere near the best one so far
            if mixed
                && hyperbolic::lower_bound(&self.coefficients(*component)) >= Self::reached(identity, &best)
            {
                continue;
            }
            let found = self.component(*component);
            if found.ending == Ending::Unbounded {
                return JPairMin { ending: Ending::Unbounded, step: None, decrease: 0.0 };
            }
            if found.ending == Ending::NotAttained {
                infimum = infimum.min(found.value);
            }
            if let Some(angle) = found.angle {
                self.offer(*component, angle, &mut best);
            }
        }
        let reached = Self::reached(identity, &best);
        let slack = TIE * self.scale();
        let ending = if infimum < reached - slack { Ending::NotAttained } else { Ending::Attained };
        self.finish(best, ending)
    }

    /// The global minimum over |μ| ≤ `limit`, which exists; circular pairs are not limited.
    pub fn solve_within(&self, mixed: bool, limit: f64) -> JPairMin {
        if !mixed {
            return self.solve(false);
        }
        let mut best = None;
        for component in Component::BOOSTS {
            let near = component.holds_identity().then(|| self.near(component));
            let coefficients = self.coefficients(component);
            for mu in hyperbolic::stationary(&coefficients, near.as_ref()).as_slice() {
                if mu.abs() < limit {
                    self.offer(component, *mu, &mut best);
                }
            }
            self.offer(component, limit, &mut best);
            self.offer(component, -limit, &mut best);
        }
        self.finish(best, Ending::Attained)
    }

    /// q(I) − q(V).
    #[inline]
    pub fn decrease(&self, v: &JMove) -> f64 {
        let d = v.minus_identity();
        let vec = [d[0][0], d[1][0], d[0][1], d[1][1]];
        let linear =
            vec[0] * self.w[0][0] + vec[1] * self.w[1][0] + vec[2] * self.w[0][1] + vec[3] * self.w[1][1];
        -(linear + 0.5 * self.bilinear(vec, vec))
    }

    /// Keeps the lowest V; on a tie the one found first, and I before all others.
    fn offer(&self, component: Component, angle: f64, best: &mut Option<(JMove, f64)>) {
        let v = JMove::at(component, angle);
        let decrease = self.decrease(&v);
        // on the component of I decreases are free of cancellation, so small ones are real
        let rounding = if component.holds_identity() && angle.abs() < 1.0 {
            0.0
        } else {
            let size = v.minus_identity().iter().flatten().fold(1.0f64, |m, x| m.max(x.abs()));
            TIE * self.scale() * size * size
        };
        if decrease > best.map_or(0.0, |b| b.1) + rounding {
            *best = Some((v, decrease));
        }
    }

    fn reached(identity: f64, best: &Option<(JMove, f64)>) -> f64 {
        identity - best.as_ref().map_or(0.0, |b| b.1)
    }

    fn scale(&self) -> f64 {
        let w: f64 = self.w.iter().flatten().map(|x| x.abs()).sum();
        w + self.q.iter().flatten().map(|x| x.abs()).sum::<f64>()
    }

    fn finish(&self, best: Option<(JMove, f64)>, ending: Ending) -> JPairMin {
        let (step, decrease) = best.map_or((None, 0.0), |(v, d)| (Some(v), d));
        JPairMin { ending, step, decrease }
    }
}
