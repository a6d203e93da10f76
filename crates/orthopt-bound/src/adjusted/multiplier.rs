//! The multiplier M = LL' and what it proves of supports (docs/bounds-adjusted.md, sections 1 and 3).
//!
//! Nothing of the size of M is formed: with Y = A'L and N = L'L, A'MA = YY', and for ν > 0
//!
//! ```text
//! λ₁(A_S A_S' − M) ≤ ν   ⟺   λ₁(C_SS − Y_S (νI + N)⁻¹ Y_S') ≤ ν
//! ```
//!
//! so that every test of a support is one of a block of an n × n matrix.

use super::super::certified::gamma;
use super::kernel::{Kernel, Kernels, LANES, Lane, Subtracted};
use super::supports::List;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::parallel::map;
use orthopt_linalg::products::{gram, multiply, product};
use orthopt_linalg::simd::{Simd, WithSimd, dispatch};
use orthopt_linalg::work::count;

/// Supports that a task examines.
const CHUNK: usize = 2048;
/// The least ν, in the unit of a column of the incumbent.
pub const LEAST: f64 = 1e-4;
/// The least bound of the variance of a first column that is divided by.
const FLOOR: f64 = 1e-3;
/// Steps of Newton's method for ν, which ends at this precision.
const ROUNDS: i32 = 40;
const CLOSE: f64 = 1e-9;
/// Supports that a step of it examines.
const LOOKED: usize = 200;
/// Share of an eigenvalue by which a claim of it is above.
const ABOVE: f64 = 1e-12;
/// Raises of a claim until it is proved.
const TRIALS: usize = 40;
/// Rows of A below this share of the largest carry no multiplier.
const CARRIES: f64 = 1e-11;
/// The first shift of C, times n and λ₁.
const SHIFT: f64 = 1e-15;

/// Work of the factorisation of a block of k rows, and of its rotations.
pub fn tested(k: usize) -> usize {
    400 + 10 * k.pow(3)
}

/// See [`tested`].
pub fn rotated(k: usize) -> usize {
    500 + 200 * k.pow(3)
}

/// C ⪰ 0, which may be indefinite by rounding, and A with C ⪯ A'A ⪯ C + `delta`·I.
#[derive(Debug)]
pub struct Form {
    pub c: RowMat,
    /// n × n, the rows of the largest eigenvalues first.
    pub a: RowMat,
    /// Its columns.
    pub columns: RowMat,
    /// Rows of A that carry multipliers.
    pub rows: usize,
    pub delta: f64,
    /// √ of the largest diagonal entry of A'A, rounded up.
    pub reach: f64,
}

impl Form {
    /// A from the eigenvalues of C, each raised until A'A − C is proved to be positive semidefinite. `None` where C is not finite
    /// or the work is cancelled.
    pub fn new(c: RowMat) -> Option<Self> {
        let n = c.nrows();
        let (values, v) = symmetric_eigenpairs(&c)?;
        let largest = values.first().copied().filter(|w| *w > 0.0 && w.is_finite())?;
        let size = c.norm();
        let mut shift = SHIFT * n as f64 * largest;
        for _ in 0..40 {
            let a = RowMat::from_fn(n, n, |k, i| (values[k].max(0.0) + shift).sqrt() * v.get(i, k));
            let product = gram(&a);
            let off = |i: usize, j: usize| product.get(i, j) - c.get(i, j) - if i == j { shift } else { 0.0 };
            let residual = RowMat::from_fn(n, n, off).norm();
            let length = a.norm();
            let error = 1.01 * (residual + gamma(n + 4) * (length * length + size + n as f64 * shift));
            if error <= shift {
                let rows = values.iter().take_while(|w| **w > CARRIES * largest).count();
                let most = (0..n).map(|i| c.get(i, i)).fold(0.0, f64::max);
                let delta = 2.0 * shift;
                let (columns, reach) = (transpose(&a), 1.01 * (most + delta).sqrt());
                return Some(Self { c, a, columns, rows, delta, reach });
            }
            shift *= 2.0;
        }
        None
    }

    pub fn n(&self) -> usize {
        self.c.nrows()
    }

    /// B with AB = L on the rows of A that are not nearly zero, which are orthogonal.
    pub fn before(&self, l: &RowMat) -> RowMat {
        let square = |k: usize| self.a.row(k).iter().map(|v| v * v).sum::<f64>();
        let least = CARRIES * square(0);
        let scale: Vec<f64> =
            (0..l.nrows()).map(|k| Some(square(k)).filter(|s| *s > least).map_or(0.0, |s| 1.0 / s)).collect();
        let scaled = RowMat::from_fn(l.nrows(), l.ncols(), |k, j| scale[k] * l.get(k, j));
        multiply(self.a.as_mat().subrows(0, l.nrows()).transpose(), scaled.as_mat())
    }
}

/// M = LL' with what does not depend on a support.
#[derive(Debug)]
pub struct Multiplier<'a> {
    form: &'a Form,
    y: RowMat,  // A'L as computed
    p: RowMat,  // YY' as computed
    nn: RowMat, // L'L as computed
    values: Vec<f64>,
    q: RowMat, // of L'L = Q Diag(values) Q', about
    /// tr M, rounded up.
    pub trace: f64,
    length: f64, // ‖L‖, rounded up
    widest: f64, // of the rows of Y, rounded up
    off: f64,    // what a row of Y differs by from A'L
}

/// C − θWW' as computed, W W' ⪯ Y(νI + N)⁻¹Y' on every support, up to `slack`.
pub struct Whitened {
    t: RowMat,
    nu: f64,
    slack: f64, // for one row
}

impl<'a> Multiplier<'a> {
    /// Of L with as many rows as [`Form::rows`]. `None` where L is not finite.
    pub fn new(form: &'a Form, l: &RowMat) -> Option<Self> {
        let (n, m, p) = (form.n(), l.nrows(), l.ncols());
        l.find_non_finite().is_none().then_some(())?;
        let length = 1.01 * l.norm();
        let y = multiply(form.a.as_mat().subrows(0, m).transpose(), l.as_mat());
        let square = multiply(y.as_mat(), y.as_mat().transpose());
        let nn = gram(l);
        let (values, q) = symmetric_eigenpairs(&nn)?;
        let sum: f64 = (0..p).map(|k| nn.get(k, k)).sum();
        let widest = (0..n).map(|i| square.get(i, i)).fold(0.0, f64::max).sqrt() * 1.01;
        let off = 1.01 * gamma(m + 1) * form.reach * length;
        let trace = sum * (1.0 + 1.01 * gamma(m * p + 4));
        trace.is_finite().then_some(Self { form, y, p: square, nn, values, q, trace, length, widest, off })
    }

    /// Bound of the error of the computed blocks of a first column.
    fn slack_first(&self, k: usize) -> f64 {
        let (k, p) = (k as f64, self.y.ncols());
        let image =
            2.0 * self.widest * self.off + self.off * self.off + gamma(p + 3) * self.widest * self.widest;
        1.01 * (self.form.delta + k * (image / FLOOR + gamma(4) * self.form.reach * self.form.reach))
    }

    /// C_SS − Y_S Y_S'/β, with the largest entry of its diagonal.
    fn first_block(&self, list: &List, s: usize, kernel: &mut Kernel, spare: &mut [f64]) {
        let n = self.form.n();
        list.block(s, self.form.c.data(), n, &mut kernel.b);
        list.block(s, self.p.data(), n, spare);
        let beta = list.own[s].max(FLOOR);
        kernel.b.iter_mut().zip(spare).for_each(|(b, p)| *b -= *p / beta);
    }

    /// An upper bound of v₁ over the list. `None` where it is `over`.
    pub fn most_first(&self, list: &List, over: &(dyn Fn() -> bool + Sync)) -> Option<f64> {
        let k = list.size;
        let slack = self.slack_first(k);
        count(list.len() * tested(k));
        let most = chunks(list.len(), over, |range| {
            let (mut kernel, mut spare) = (Kernel::new(k), vec![0.0; k * k]);
            let mut most = f64::NEG_INFINITY;
            for s in range {
                self.first_block(list, s, &mut kernel, &mut spare);
                raise(&mut kernel, &mut most)?;
            }
            Some(most)
        })?;
        let most = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let size = most.abs() + self.form.reach.powi(2) + self.widest.powi(2) / FLOOR;
        Some(most + slack + Kernel::error(k, size))
    }

    /// Which supports of the list may have v₁ above `t`.
    pub fn above_first(&self, list: &List, t: f64, over: &(dyn Fn() -> bool + Sync)) -> Option<Vec<bool>> {
        let k = list.size;
        let size = t.abs() + self.form.reach.powi(2) + self.widest.powi(2) / FLOOR;
        let t = t - self.slack_first(k) - Kernel::error(k, size);
        count(list.len() * tested(k));
        let kept = chunks(list.len(), over, |range| {
            let (mut kernel, mut spare) = (Kernel::new(k), vec![0.0; k * k]);
            let mut kept = Vec::with_capacity(range.len());
            for s in range {
                self.first_block(list, s, &mut kernel, &mut spare);
                kept.push(!kernel.is_below(t));
            }
            Some(kept)
        })?;
        Some(kept.concat())
    }

    /// v₁ of every support, to rounding.
    pub fn values_first(&self, list: &List, over: &(dyn Fn() -> bool + Sync)) -> Option<Vec<f64>> {
        let k = list.size;
        count(list.len() * rotated(k));
        let values = chunks(list.len(), over, |range| {
            let (mut kernel, mut spare, mut all) = (Kernel::new(k), vec![0.0; k * k], Kernels::new(k));
            let some = |supports: &[usize]| {
                for (lane, s) in supports.iter().enumerate() {
                    self.first_block(list, *s, &mut kernel, &mut spare);
                    all.set(lane, &kernel.b);
                }
                all.leading()
            };
            Some(side_by_side(range, some))
        })?;
        Some(values.concat())
    }

    /// C − θWW' for this ν. `None` where the inverse is lost in rounding.
    pub fn whitened(&self, nu: f64) -> Option<Whitened> {
        let (n, p) = (self.form.n(), self.y.ncols());
        // G with G(νI + N)G' ⪯ (1 + ρ)I, so that (νI + N)⁻¹ ⪰ G'G/(1 + ρ)
        let g = RowMat::from_fn(p, p, |k, j| self.q.get(j, k) / (nu + self.values[k].max(0.0)).sqrt());
        let shifted = RowMat::from_fn(p, p, |i, j| self.nn.get(i, j) + if i == j { nu } else { 0.0 });
        let half = multiply(g.as_mat(), shifted.as_mat());
        let mut unit = multiply(half.as_mat(), g.as_mat().transpose());
        (0..p).for_each(|k| unit.set(k, k, unit.get(k, k) - 1.0));
        let (size, inner) = (1.01 * g.norm(), shifted.norm() + self.length * self.length);
        let rounding = gamma(2 * p + self.form.n() + 8) * size * size * inner;
        let rho = 1.01 * (unit.norm() + rounding + gamma(4) * p as f64);
        if rho.is_nan() || rho > 1e-3 {
            return None;
        }
        let theta = (1.0 - rho) * (1.0 - 4.0 * f64::EPSILON);
        let w = multiply(self.y.as_mat(), g.as_mat().transpose());
        let mut t = self.form.c.clone();
        product(&mut t, true, -theta, w.as_mat(), w.as_mat().transpose());
        count(2 * n * n * p);
        let widest =
            1.01 * (0..n).map(|i| w.row(i).iter().map(|v| v * v).sum::<f64>()).fold(0.0, f64::max).sqrt();
        let off = 1.01 * (self.off + gamma(p + 1) * self.widest) * size;
        let image = 2.0 * widest * off + off * off + gamma(p + 4) * widest * widest;
        let slack = 1.01 * (image + gamma(4) * self.form.reach.powi(2));
        Some(Whitened { t, nu, slack })
    }

    /// An upper bound of v₂ over the list, at least [`LEAST`]; `hint` is about its size. Newton's method on the worst supports,
    /// from the left. `None` where it is `over` or rounding is in the way.
    pub fn most_later(&self, list: &List, hint: f64, over: &(dyn Fn() -> bool + Sync)) -> Option<f64> {
        let turned = multiply(self.y.as_mat(), self.q.as_mat());
        let mut nu = hint.max(LEAST);
        let mut at = self.whitened(nu)?;
        let mut open = self.failing(&at, list, None, over)?;
        while open.is_empty() && nu > LEAST {
            nu = (0.8 * nu).max(LEAST);
            at = self.whitened(nu)?;
            open = self.failing(&at, list, None, over)?;
        }
        for round in 0..ROUNDS {
            if open.is_empty() {
                return Some(nu);
            }
            let stride = open.len().div_ceil(LOOKED);
            let mut later = Later::new(&self.form.c, &self.values, &turned, list.size);
            let looked: Vec<usize> = open.iter().step_by(stride).copied().collect();
            count(looked.len() * rotated(list.size));
            let steps = looked.chunks(LANES).flat_map(|some| later.newton(list, some, &[nu; LANES]));
            let root = steps.fold(nu, f64::max);
            // rounding may ask for more where ν is small
            nu = root.max(nu) * (1.0 + CLOSE * 2f64.powi(round)) + ABOVE;
            at = self.whitened(nu)?;
            open = self.failing(&at, list, Some(&open), over)?;
        }
        None
    }

    /// Which supports of the list may have v₂ above `t`; all if t is too small to decide.
    pub fn above_later(&self, list: &List, t: f64, over: &(dyn Fn() -> bool + Sync)) -> Option<Vec<bool>> {
        if t <= LEAST {
            return Some(vec![true; list.len()]);
        }
        let at = self.whitened(t)?;
        let mut kept = vec![false; list.len()];
        self.failing(&at, list, None, over)?.into_iter().for_each(|s| kept[s] = true);
        Some(kept)
    }

    /// The supports, of all or of some, whose test fails at ν.
    fn failing(
        &self,
        at: &Whitened,
        list: &List,
        of: Option<&[usize]>,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<usize>> {
        let (k, n) = (list.size, self.form.n());
        let size = at.nu + self.form.reach.powi(2) * 2.0;
        let t = at.nu - self.form.delta - k as f64 * at.slack - Kernel::error(k, size);
        let len = of.map_or(list.len(), <[usize]>::len);
        count(len * tested(k));
        let found = chunks(len, over, |range| {
            let mut kernel = Kernel::new(k);
            let mut found = Vec::new();
            for place in range {
                let s = of.map_or(place, |of| of[place]);
                list.block(s, at.t.data(), n, &mut kernel.b);
                if !kernel.is_below(t) {
                    found.push(s);
                }
            }
            Some(found)
        })?;
        Some(found.concat())
    }

    /// λ₁(C_SS − Y_S(νI + N)⁻¹Y_S') of every support, to rounding: large where v₂ is.
    pub fn values_later(&self, list: &List, nu: f64, over: &(dyn Fn() -> bool + Sync)) -> Option<Vec<f64>> {
        let (k, n) = (list.size, self.form.n());
        let at = self.whitened(nu.max(LEAST))?;
        count(list.len() * rotated(k));
        let values = chunks(list.len(), over, |range| {
            let mut kernels = Kernels::new(k);
            let some = |supports: &[usize]| {
                list.blocks(supports, at.t.data(), n, &mut kernels.b);
                kernels.leading()
            };
            Some(side_by_side(range, some))
        })?;
        Some(values.concat())
    }
}

/// Steps of Newton's method for v₂, of several supports side by side.
pub struct Later<'a> {
    c: &'a RowMat,
    values: &'a [f64],
    turned: &'a RowMat, // YQ
    c_ss: Vec<Lane>,    // C on each support
    y_s: Vec<Lane>,     // the rows of YQ on it
    scaled: Vec<Lane>,  // the same divided by ν + D
    /// Blocks, and eigenvectors of the last step.
    pub kernels: Kernels,
    /// Y'x turned by Q, at the last step.
    pub z: Vec<Lane>,
}

impl<'a> Later<'a> {
    /// For L'L = Q Diag(values) Q' and `turned` = A'LQ.
    pub fn new(c: &'a RowMat, values: &'a [f64], turned: &'a RowMat, k: usize) -> Self {
        let (p, zeros) = (turned.ncols(), |len| vec![[0.0; LANES]; len]);
        let (c_ss, y_s, scaled, z) = (zeros(k * k), zeros(k * p), zeros(k * p), zeros(p));
        Self { c, values, turned, c_ss, y_s, scaled, kernels: Kernels::new(k), z }
    }

    /// e, the largest eigenvalue of A_S'(M + νI)⁻¹A_S, and −de/dν, of up to [`LANES`] supports.
    pub fn at(&mut self, list: &List, supports: &[usize], nu: &Lane) -> (Lane, Lane) {
        let p = self.z.len();
        list.blocks(supports, self.c.data(), self.c.nrows(), &mut self.c_ss);
        list.rows(supports, self.turned.data(), p, &mut self.y_s);
        let Self { values, c_ss, y_s, scaled, kernels, z, .. } = self;
        dispatch(Scaled { y_s, values, nu, to: scaled });
        kernels.b.copy_from_slice(c_ss);
        dispatch(Subtracted { to: &mut kernels.b, u: scaled, v: y_s, p });
        let e = kernels.leading();
        dispatch(Slopes { c_ss, y_s, x: &kernels.x, values, nu, z, e })
    }

    /// The eigenvalues of L'L.
    pub fn values(&self) -> &[f64] {
        self.values
    }

    /// Steps from ν towards the ν where e is 1.
    pub fn newton(&mut self, list: &List, supports: &[usize], nu: &Lane) -> Vec<f64> {
        let (e, slope) = self.at(list, supports, nu);
        let step = |lane: usize| nu[lane] + (e[lane] - 1.0) / slope[lane];
        (0..supports.len()).map(|l| if step(l).is_finite() { step(l) } else { nu[l] }).collect()
    }
}

/// The rows of YQ divided by ν + D.
struct Scaled<'a> {
    y_s: &'a [Lane],
    values: &'a [f64],
    nu: &'a Lane,
    to: &'a mut [Lane],
}

impl WithSimd for Scaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let p = self.values.len();
        for (i, w) in self.values.iter().enumerate() {
            let mut share = [0.0; LANES];
            for l in 0..LANES {
                share[l] = 1.0 / (self.nu[l] + w.max(0.0));
            }
            for (to, y) in self.to[i..].iter_mut().step_by(p).zip(self.y_s[i..].iter().step_by(p)) {
                for l in 0..LANES {
                    to[l] = share[l] * y[l];
                }
            }
        }
    }
}

/// z = QY'x, and from νe and x: e and −de/dν = ‖(M + νI)⁻¹Ax‖² = (x'Cx − 2z'w + w'Dw)/ν², w = z/(ν + D).
struct Slopes<'a> {
    c_ss: &'a [Lane],
    y_s: &'a [Lane],
    x: &'a [Lane],
    values: &'a [f64],
    nu: &'a Lane,
    z: &'a mut [Lane],
    e: Lane,
}

impl WithSimd for Slopes<'_> {
    type Output = (Lane, Lane);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (Lane, Lane) {
        let Self { c_ss, y_s, x, values, nu, z, mut e } = self;
        let (k, p) = (x.len(), values.len());
        z.fill([0.0; LANES]);
        let mut slope = [0.0; LANES];
        for (a, x_a) in x.iter().enumerate() {
            for (z, y) in z.iter_mut().zip(&y_s[a * p..(a + 1) * p]) {
                for l in 0..LANES {
                    z[l] += x_a[l] * y[l];
                }
            }
            for (c, x_b) in c_ss[a * k..(a + 1) * k].iter().zip(x) {
                for l in 0..LANES {
                    slope[l] += x_a[l] * c[l] * x_b[l];
                }
            }
        }
        for (z, d) in z.iter().zip(values) {
            let d = d.max(0.0);
            for l in 0..LANES {
                let w = z[l] / (nu[l] + d);
                slope[l] -= 2.0 * z[l] * w - d * w * w;
            }
        }
        for l in 0..LANES {
            e[l] /= nu[l];
            slope[l] = slope[l].max(1e-300) / (nu[l] * nu[l]);
        }
        (e, slope)
    }
}

/// Raises `most` to the largest eigenvalue of the block, where a factorisation does not show that it is not above.
fn raise(kernel: &mut Kernel, most: &mut f64) -> Option<()> {
    if most.is_finite() && kernel.is_below(*most) {
        return Some(());
    }
    let value = kernel.leading();
    if !value.is_finite() {
        return None; // a number that failed bounds nothing
    }
    let mut step = ABOVE * (1.0 + value.abs());
    *most = most.max(value + step);
    for _ in 0..TRIALS {
        if kernel.is_below(*most) {
            return Some(());
        }
        *most += step;
        step *= 4.0;
    }
    None
}

/// An upper bound of the largest eigenvalue of C on each support.
pub fn own_variances(form: &Form, list: &List, over: &(dyn Fn() -> bool + Sync)) -> Option<Vec<f64>> {
    let (k, n) = (list.size, form.n());
    let size = (k as f64 + 2.0) * form.reach.powi(2);
    let error = form.delta + Kernel::error(k, size);
    count(list.len() * rotated(k));
    let own = chunks(list.len(), over, |range| {
        let mut kernel = Kernel::new(k);
        let mut own = Vec::with_capacity(range.len());
        for s in range {
            let mut value = f64::NEG_INFINITY;
            list.block(s, form.c.data(), n, &mut kernel.b);
            raise(&mut kernel, &mut value)?;
            own.push(value + error);
        }
        Some(own)
    })?;
    Some(own.concat())
}

/// `f` of all numbers of a range, [`LANES`] at a time.
fn side_by_side(range: std::ops::Range<usize>, mut f: impl FnMut(&[usize]) -> Lane) -> Vec<f64> {
    let supports: Vec<usize> = range.collect();
    let of = |some: &[usize]| f(some).into_iter().take(some.len());
    supports.chunks(LANES).flat_map(of).collect()
}

/// `f` of the numbers below `len`, in chunks; `None` where one of them failed or it is `over`.
fn chunks<T: Send>(
    len: usize,
    over: &(dyn Fn() -> bool + Sync),
    f: impl Fn(std::ops::Range<usize>) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let one = |p: usize| if over() { None } else { f(p * CHUNK..len.min((p + 1) * CHUNK)) };
    map(len.div_ceil(CHUNK), 1, one).into_iter().collect()
}
