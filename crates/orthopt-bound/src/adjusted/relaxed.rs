//! A multiplier for given supports: the bound of Theorem 1 on working sets, its maxima smoothed, lowered by L-BFGS over L.

use std::array::from_fn;

use super::descent::lowered;
use super::kernel::{Kernels, LANES, Lane, Subtracted};
use super::multiplier::{Form, LEAST, Later, rotated};
use super::supports::List;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::products::{gram, multiply, product};
use orthopt_linalg::simd::dispatch;
use orthopt_linalg::work::count;

/// A support whose weight in a smoothed maximum is below this has none.
const WEIGHTLESS: f64 = 1e-9;
/// Steps of Newton's method for each support near the maximum.
const STEPS: usize = 4;
/// So many τ below the maximum a support is near it.
const NEAR: f64 = 25.0;

/// Effort spent on a multiplier.
#[derive(Clone, Copy, Debug)]
pub struct Effort<'a> {
    /// τ of τ log Σ exp(·/τ), one after the other, in the unit of a column.
    pub temperatures: &'a [f64],
    /// Steps for each.
    pub steps: usize,
}

/// The working sets: that of the first column, where it has a term of its own, and those of the others with the number of
/// columns that have it.
pub struct Working<'a> {
    pub first: Option<&'a List>,
    pub later: Vec<(&'a List, usize)>,
}

impl Working<'_> {
    /// L from `l` on.
    pub fn relaxed(&self, form: &Form, l: &RowMat, effort: Effort<'_>, over: &dyn Fn() -> bool) -> RowMat {
        let (m, p) = (l.nrows(), l.ncols());
        let mut z = l.data().to_vec();
        let mut nus: Vec<f64> = vec![0.3; self.later.len()];
        for tau in effort.temperatures {
            z = lowered(z, effort.steps, over, |z, g| {
                self.smoothed(form, (m, p), z, g, *tau, &mut nus).unwrap_or(f64::NAN)
            });
        }
        RowMat::from_fn(m, p, |i, k| z[i * p + k])
    }

    /// The smoothed bound at L and its gradient.
    fn smoothed(
        &self,
        form: &Form,
        (m, p): (usize, usize),
        z: &[f64],
        g: &mut [f64],
        tau: f64,
        nus: &mut [f64],
    ) -> Option<f64> {
        let l = RowMat::from_vec(m, p, z.to_vec())?;
        let _n = form.n();
        let y = multiply(form.a.as_mat().subrows(0, m).transpose(), l.as_mat());
        let mut value: f64 = z.iter().map(|v| v * v).sum();
        // of the gradient in L, half of it: L itself, and less what each support gives
        let mut half = l.clone();
        if let Some(list) = self.first {
            value += first(form, list, &y, tau, &mut half);
        }
        let (values, q) = symmetric_eigenpairs(&gram(&l))?;
        let turned = multiply(y.as_mat(), q.as_mat());
        let across = multiply(l.as_mat(), q.as_mat());
        for ((list, columns), nu) in self.later.iter().zip(nus) {
            let mut part = RowMat::zeros(m, p); // turned by Q
            let of = Later::new(&form.c, &values, &turned, list.size);
            let most = later(form, list, of, &across, tau, nu, &mut part);
            value += *columns as f64 * most;
            product(&mut half, true, -(*columns as f64), part.as_mat(), q.as_mat().transpose());
        }
        g.iter_mut().zip(half.data()).for_each(|(g, h)| *g = 2.0 * h);
        Some(value)
    }
}

/// The smoothed maximum of numbers, and their weights.
fn smooth(values: &[f64], tau: f64) -> (f64, Vec<f64>) {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = values.iter().map(|v| ((v - most) / tau).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    (most + tau * sum.ln(), weights)
}

/// Smoothed maximum of λ₁(C_SS − Y_SY_S'/β); the sum of weight·(Ax)(Y'x)'/β leaves `half`.
fn first(form: &Form, list: &List, y: &RowMat, tau: f64, half: &mut RowMat) -> f64 {
    let (k, n, p) = (list.size, form.n(), y.ncols());
    let all: Vec<usize> = (0..list.len()).collect();
    let (mut kernels, mut y_s, mut scaled) =
        (Kernels::new(k), vec![[0.0; LANES]; k * p], vec![[0.0; LANES]; k * p]);
    let (mut values, mut vectors) = (Vec::with_capacity(list.len()), Vec::with_capacity(list.len() * k));
    count(list.len() * (rotated(k) + 10 * k * k * p));
    for some in all.chunks(LANES) {
        list.blocks(some, form.c.data(), n, &mut kernels.b);
        list.rows(some, y.data(), p, &mut y_s);
        for lane in 0..LANES {
            let beta = list.own[some[lane.min(some.len() - 1)]].max(1e-3);
            scaled.iter_mut().zip(&y_s).for_each(|(scaled, y)| scaled[lane] = y[lane] / beta);
        }
        dispatch(Subtracted { to: &mut kernels.b, u: &scaled, v: &y_s, p });
        values.extend(kernels.leading().into_iter().take(some.len()));
        for lane in 0..some.len() {
            vectors.extend(kernels.x.iter().map(|x| x[lane]));
        }
    }
    let (value, weights) = smooth(&values, tau);
    let m = half.nrows();
    for s in (0..list.len()).filter(|s| weights[*s] > WEIGHTLESS) {
        let (set, x) = (list.set(s), &vectors[s * k..(s + 1) * k]);
        let mut along = vec![0.0; p];
        set.iter().zip(x).for_each(|(i, x)| add(*x, y.row(usize::from(*i)), &mut along));
        let share = weights[s] / list.own[s].max(1e-3);
        for row in 0..m {
            let t: f64 = set.iter().zip(x).map(|(i, x)| form.a.get(row, usize::from(*i)) * x).sum();
            add(-share * t, &along, half.row_mut(row));
        }
    }
    value
}

/// Smoothed maximum of v₂, and the sum of weight·q(q'L) turned by Q; `nu` is about the maximum and becomes it.
fn later(
    form: &Form,
    list: &List,
    mut of: Later<'_>,
    across: &RowMat,
    tau: f64,
    nu: &mut f64,
    part: &mut RowMat,
) -> f64 {
    let (len, k, p) = (list.len(), list.size, across.ncols());
    count(2 * len * (rotated(k) + 10 * k * k * p));
    let start = nu.max(LEAST);
    let mut at: Vec<f64> = vec![start; len]; // where the last step came from
    let mut roots = at.clone();
    let mut open: Vec<usize> = (0..len).collect();
    for _ in 0..=STEPS {
        for some in open.chunks(LANES) {
            let from = of_lanes(some, &roots);
            for ((s, from), root) in some.iter().zip(from).zip(of.newton(list, some, &from)) {
                (at[*s], roots[*s]) = (from, root.max(LEAST));
            }
        }
        let most = roots.iter().copied().fold(LEAST, f64::max);
        open = (0..len)
            .filter(|s| roots[*s] > most - NEAR * tau && (roots[*s] - at[*s]).abs() > 1e-10)
            .collect();
    }
    *nu = roots.iter().copied().fold(LEAST, f64::max);
    let (value, weights) = smooth(&roots, tau);
    let m = across.nrows();
    let weighty: Vec<usize> = (0..len).filter(|s| weights[*s] > WEIGHTLESS).collect();
    for some in weighty.chunks(LANES) {
        of.at(list, some, &of_lanes(some, &roots));
        for (lane, s) in some.iter().enumerate() {
            // q ∝ t − LQ w, w = (ν + D)⁻¹ z
            let z = of.z.iter().map(|z| z[lane]);
            let w: Vec<f64> = z.zip(of.values()).map(|(z, d)| z / (roots[*s] + d.max(0.0))).collect();
            let mut q: Vec<f64> = (0..m).map(|row| -inner(across.row(row), &w)).collect();
            for (i, x) in list.set(*s).iter().zip(&of.kernels.x) {
                add(x[lane], form.columns.row(usize::from(*i)), &mut q);
            }
            let length = inner(&q, &q).sqrt().max(f64::MIN_POSITIVE);
            q.iter_mut().for_each(|v| *v /= length);
            let mut along = vec![0.0; p];
            q.iter().enumerate().for_each(|(row, q)| add(*q, across.row(row), &mut along));
            q.iter().enumerate().for_each(|(row, q)| add(weights[*s] * q, &along, part.row_mut(row)));
        }
    }
    value
}

/// The numbers of some supports, one in each lane; that of the last in those that are left.
fn of_lanes(some: &[usize], numbers: &[f64]) -> Lane {
    from_fn(|l| numbers[some[l.min(some.len() - 1)]])
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(t: f64, a: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(a).for_each(|(o, a)| *o += t * a);
}
