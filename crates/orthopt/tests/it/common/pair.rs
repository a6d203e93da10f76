//! One 2-row subproblem, its value from the definition, and an oracle of its own.

use std::f64::consts::TAU;

use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::AnyPenalty;
use orthopt::penalty::PairPenalty;
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_core::pair::plain;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
#[cfg(target_arch = "x86_64")]
use orthopt_linalg::simd::Simd;
use orthopt_linalg::simd::WithSimd;

use super::penalty;

/// min over V ∈ O(2) of ⟨V, P⟩ + ½tr(VᵀKVW) + h(VZ).
#[derive(Clone, Debug)]
pub struct Case {
    /// P.
    pub p: [[f64; 2]; 2],
    /// K₁₁, K₁₂, K₂₂.
    pub k: [f64; 3],
    /// First row of Z.
    pub z1: Vec<f64>,
    /// Second row of Z.
    pub z2: Vec<f64>,
    /// Name of h.
    pub h: &'static str,
    /// λ.
    pub lambda: f64,
}

impl Case {
    /// Its penalty.
    pub fn penalty(&self) -> AnyPenalty {
        penalty(self.h, self.lambda)
    }

    /// The model the library sees.
    pub fn model(&self) -> PairModel<'_> {
        PairModel::with_curvature(self.p, self.k, &self.z1, &self.z2)
    }

    /// Results of the fast search with the widest vectors of this machine, with shorter ones,
    /// and without any.
    pub fn fast(&self) -> Vec<Option<PairMove>> {
        let (h, model, mut scratch) = (self.penalty(), self.model(), Scratch::new(self.z1.len()));
        let mut found =
            vec![h.search(&model, &mut scratch), h.search_in(pulp::Scalar::new(), &model, &mut scratch)];
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            found.push(Simd::vectorize(avx2, Searched(&h, &model, &mut scratch)));
        }
        found
    }

    /// ⟨V, P⟩ + ½tr(VᵀKVW), term by term.
    pub fn smooth(&self, step: &PairMove) -> f64 {
        let v = step.matrix();
        let (w, k) = (self.w(), [[self.k[0], self.k[1]], [self.k[1], self.k[2]]]);
        let mut q = 0.0;
        for i in 0..2 {
            for j in 0..2 {
                q += v[i][j] * self.p[i][j];
                for a in 0..2 {
                    for b in 0..2 {
                        q += 0.5 * v[a][i] * k[a][b] * v[b][j] * w[i][j];
                    }
                }
            }
        }
        q
    }

    fn w(&self) -> [[f64; 2]; 2] {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let w12 = dot(&self.z1, &self.z2);
        [[dot(&self.z1, &self.z1), w12], [w12, dot(&self.z2, &self.z2)]]
    }

    /// The rows V Z as the library stores them.
    pub fn moved(&self, step: &PairMove) -> (Vec<f64>, Vec<f64>) {
        let (mut n1, mut n2) = (self.z1.clone(), self.z2.clone());
        step.apply(&self.z1, &self.z2, &mut n1, &mut n2);
        (n1, n2)
    }

    /// q(V) with h at the rows as stored; `None` leaves the rows as they are.
    pub fn value(&self, step: Option<&PairMove>) -> f64 {
        let h = self.penalty();
        match step {
            None => self.smooth(&PairMove::IDENTITY) + h.value(&self.z1) + h.value(&self.z2),
            Some(step) => {
                let (n1, n2) = self.moved(step);
                self.smooth(step) + h.value(&n1) + h.value(&n2)
            }
        }
    }

    /// Sum of the absolute values of all terms: the yardstick of rounding errors.
    pub fn scale(&self) -> f64 {
        let (w, h) = (self.w(), self.penalty());
        let p: f64 = self.p.iter().flatten().map(|v| v.abs()).sum();
        let k = self.k[0].abs() + 2.0 * self.k[1].abs() + self.k[2].abs();
        // for any V: entries of V Z are at most |z1| + |z2|
        let most: f64 = self.z1.iter().zip(&self.z2).map(|(a, b)| 2.0 * h.entry(a.abs() + b.abs())).sum();
        p + 0.5 * k * (w[0][0] + w[1][1]) + most
    }

    /// The brief tolerance 1e-9·(1 + |value|), made relative for small numbers, and rounding.
    pub fn tolerance(&self, value: f64) -> f64 {
        let scale = self.scale();
        1e-9 * (value.abs() + scale.min(1.0)) + 100.0 * f64::EPSILON * scale
    }

    /// Lowest value over a dense grid of both circles, polished by golden section, and over the
    /// exact directions that zero an entry.
    pub fn oracle(&self, grid: usize) -> f64 {
        let mut best = self.value(None);
        for branch in [Branch::Rotation, Branch::Reflection] {
            let at = |t: f64| self.value(Some(&PairMove { branch, c: t.cos(), s: t.sin() }));
            best = best.min(polished_minimum(&at, grid));
            for (a, b) in self.z1.iter().zip(&self.z2) {
                let rho = a.hypot(*b);
                if rho == 0.0 {
                    continue;
                }
                let (c, s) = (a / rho, b / rho);
                // the four directions that send the column to an axis, and their mirror images
                for (c, s) in [(c, s), (-s, c), (-c, -s), (s, -c)] {
                    for s in [s, -s] {
                        best = best.min(self.value(Some(&PairMove::new(branch, c, s))));
                    }
                }
            }
        }
        best
    }

    /// Everything a search promises, against `reference`, a value it must not exceed.
    pub fn check(&self, reference: f64) -> Result<(), String> {
        self.fast().into_iter().try_for_each(|found| self.check_one(found, reference))
    }

    /// The same of the scalar search of the papers.
    pub fn check_plain(&self, reference: f64) -> Result<(), String> {
        self.check_one(plain::search(&self.model(), &self.penalty()), reference)
    }

    fn check_one(&self, found: Option<PairMove>, reference: f64) -> Result<(), String> {
        let value = self.value(found.as_ref());
        if value > reference + self.tolerance(reference) || value.is_nan() {
            return Err(format!("{value} at {found:?}, {reference} is possible"));
        }
        let Some(step) = found else { return Ok(()) };
        if (step.c * step.c + step.s * step.s - 1.0).abs() > 1e-15 {
            return Err(format!("not orthogonal: c² + s² - 1 = {:e}", step.c.hypot(step.s) - 1.0));
        }
        self.check_rows(&step)
    }

    fn check_rows(&self, step: &PairMove) -> Result<(), String> {
        let (v, (n1, n2)) = (step.matrix(), self.moved(step));
        for k in 0..self.z1.len() {
            let (a, b) = (self.z1[k], self.z2[k]);
            for (x, row) in [(n1[k], v[0]), (n2[k], v[1])] {
                let plain = row[0] * a + row[1] * b;
                let right = if x == 0.0 { plain.abs() <= 2e-14 * (a.abs() + b.abs()) } else { x == plain };
                if !right {
                    return Err(format!("column {k}: {x} stored for {plain}"));
                }
                if x != 0.0 && x.abs() <= 1e-14 * (a.abs() + b.abs()) {
                    return Err(format!("column {k}: {x:e} was not snapped to zero"));
                }
                if self.h == "nonneg" && x < 0.0 {
                    return Err(format!("column {k}: negative entry {x:e}"));
                }
            }
        }
        Ok(())
    }
}

/// A search as a kernel.
#[cfg(target_arch = "x86_64")]
struct Searched<'a, 'b>(&'a AnyPenalty, &'a PairModel<'b>, &'a mut Scratch);

#[cfg(target_arch = "x86_64")]
impl WithSimd for Searched<'_, '_> {
    type Output = Option<PairMove>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<PairMove> {
        self.0.search_in(simd, self.1, self.2)
    }
}

type Rows<'a> = (&'a [f64], &'a [f64]);

/// P = G_B Zᵀ − K W − shift·I.
pub fn linear_part((g1, g2): Rows<'_>, k: [f64; 3], shift: f64, (z1, z2): Rows<'_>) -> [[f64; 2]; 2] {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (w11, w12, w22) = (dot(z1, z1), dot(z1, z2), dot(z2, z2));
    [
        [dot(g1, z1) - k[0] * w11 - k[1] * w12 - shift, dot(g1, z2) - k[0] * w12 - k[1] * w22],
        [dot(g2, z1) - k[1] * w11 - k[2] * w12, dot(g2, z2) - k[1] * w12 - k[2] * w22 - shift],
    ]
}

/// Lowest value of a function on [0, 2π): grid, then golden section around every local minimum
/// of the grid.
pub fn polished_minimum(f: &impl Fn(f64) -> f64, grid: usize) -> f64 {
    let step = TAU / grid as f64;
    let values: Vec<f64> = (0..grid).map(|k| f(k as f64 * step)).collect();
    let mut best = f64::INFINITY;
    for k in 0..grid {
        let (left, right) = (values[(k + grid - 1) % grid], values[(k + 1) % grid]);
        if values[k].is_finite() && values[k] <= left && values[k] <= right {
            best = best.min(golden_section(f, (k as f64 - 1.0) * step, (k as f64 + 1.0) * step));
        }
    }
    best
}

/// Lowest value met by golden section on [a, b].
pub fn golden_section(f: &impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let mut best = f(a).min(f(b));
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut fc, mut fd) = (f(c), f(d));
    for _ in 0..70 {
        best = best.min(fc).min(fd);
        if fc < fd {
            (b, d, fd) = (d, c, fc);
            c = b - ratio * (b - a);
            fc = f(c);
        } else {
            (a, c, fc) = (c, d, fd);
            d = a + ratio * (b - a);
            fd = f(d);
        }
    }
    best
}
