//! All supports known: a bound of X on them with more multipliers, over boxes (docs/bounds-adjusted.md, section 4).
//!
//! ```text
//! tr M + Σ tr N_j + tr W + λ₁((1 + κ)C₁₁ − A₁'MA₁/β − W₁₁ + Σ μₖQₖ) − κα + Σ_{j ≥ 2} uⱼ
//! uⱼ = λ₁(A_jA_j' − M_j)                                                      where nothing is taken from x_j itself
//! uⱼ = 2 λ₁[[δI − M_j, cA_j], [cA_j', −W_jj − A_j'N_jA_j/β_j − δI]] − lh        for |q'A_jx| in [l, h], c = (l + h)/2
//! ```
//!
//! W ⪰ 0 on the rows that supports share (XX' ⪯ I), N_j ⪰ 0 takes from later columns what column j has (2 ≤ j < r ≤ 4),
//! M_j = M + Σ_{i < j} N_i, κ and μ ≥ 0 hold x₁ to a box of its variance and of its ratios in the eigenbasis of C₁₁.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::super::certified::{gamma, sum_of_largest, trace_of_semidefinite};
use super::super::covariance::principal;
use super::descent::lowered;
use super::multiplier::Form;
use super::record::{Cell, Leaf as Written, Multipliers};
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::products::{gram, multiply, product};
use orthopt_linalg::work::count;

/// τ of the smoothed maxima, in the unit of a column, and steps for each.
const TEMPERATURES: [f64; 5] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
const STEPS: usize = 150;
/// The first of them for a part of a box, whose multipliers are nearly those of the whole.
const PART: usize = 2;
/// Work of a smoothed bound beside that of its matrices.
const WORK: usize = 50_000;
/// Boxes, at most.
const BOXES: usize = 60;
/// Slack of what is derived from the order of the variances, which is to rounding, and of ranges.
const ORDER: f64 = 1e-10;
/// A box this narrow is not divided.
const NARROW: f64 = 1e-9;
/// Columns up to which later ones are held apart by N.
pub const HOLDS: usize = 4;

/// Supports and what does not depend on a box; in the unit of the lists.
pub struct Leaf {
    rows: Vec<usize>,      // of any support
    form: Form,            // on these rows
    sets: Vec<Vec<usize>>, // places among those rows
    shared: Vec<usize>,    // rows of two or more supports
    cut: f64,
    heads: usize,
    own: bool,
    one: f64,
    most: Vec<f64>,           // of the variance on each support
    parts: Vec<RowMat>,       // columns of A on each support
    squares: Vec<RowMat>,     // A_jA_j'
    axes: (Vec<f64>, RowMat), // of the first support
}

/// Ranges: of s₁₁, of |q_j't_j| of the later columns, of the ratios of x₁.
#[derive(Clone, Debug)]
struct Ranges {
    own: (f64, f64),
    later: Vec<(f64, f64)>,
    ratios: Vec<(f64, f64)>,
}

struct Boxed {
    most: f64,
    id: usize,
    ranges: Ranges,
    z: Vec<f64>,
}

impl PartialEq for Boxed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Boxed {}
impl PartialOrd for Boxed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Boxed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.total_cmp(&other.most).then(other.id.cmp(&self.id))
    }
}

/// λ₁ smoothed from above, τ log tr exp(·/τ), and its gradient. λ₁ for τ = 0.
fn soft(matrix: &RowMat, tau: f64) -> Option<(f64, RowMat)> {
    let (values, v) = symmetric_eigenpairs(matrix)?;
    let n = values.len();
    let weights: Vec<f64> = values.iter().map(|w| ((w - values[0]) / tau).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let half = RowMat::from_fn(n, n, |i, k| v.get(i, k) * (weights[k] / sum).sqrt());
    let density = multiply(half.as_mat(), half.as_mat().transpose());
    Some((values[0] + tau * sum.ln(), density))
}

/// A number that λ₁ of the symmetric matrix is certainly not above.
fn proved_largest(matrix: &RowMat) -> Option<f64> {
    let n = matrix.nrows();
    let negative = RowMat::from_fn(n, n, |i, j| -matrix.get(i, j));
    sum_of_largest(&RowMat::zeros(n, n), &negative, 1, f64::NEG_INFINITY)
}

/// BB', exactly symmetric.
fn outer(b: &RowMat) -> RowMat {
    let _n = b.nrows();
    let out = multiply(b.as_mat(), b.as_mat().transpose());
    out.symmetric_part()
}

/// A' M A for the columns of A.
fn between(a: &RowMat, m: &RowMat) -> RowMat {
    let half = multiply(m.as_mat(), a.as_mat());
    let out = multiply(a.as_mat().transpose(), half.as_mat());
    out.symmetric_part()
}

/// A D A'.
fn around(a: &RowMat, d: &RowMat) -> RowMat {
    let turned = RowMat::from_fn(a.ncols(), a.nrows(), |i, j| a.get(j, i));
    between(&turned, d)
}

fn add(out: &mut RowMat, t: f64, m: &RowMat) {
    out.data_mut().iter_mut().zip(m.data()).for_each(|(o, v)| *o += t * v);
}

/// The multipliers, or their gradient.
#[derive(Clone)]
struct Numbers {
    m: RowMat,
    n: Vec<RowMat>, // of columns 1, …, r − 2, from 0
    w: Option<RowMat>,
    kappa: f64,
    delta: Vec<f64>,
    mu: Vec<f64>,
}

impl Leaf {
    /// X on these supports that have more than `cut`, the first column in front. `None` where a support is degenerate.
    pub fn new(
        c: &RowMat,
        sets: &[Vec<usize>],
        cut: f64,
        (heads, own): (usize, bool),
        one: f64,
    ) -> Option<Self> {
        let mut rows: Vec<usize> = sets.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let place = |i: &usize| rows.partition_point(|j| j < i);
        let sets: Vec<Vec<usize>> = sets.iter().map(|set| set.iter().map(place).collect()).collect();
        let number = |i: &usize| sets.iter().filter(|set| set.contains(i)).count();
        let shared = (0..rows.len()).filter(|i| number(i) > 1).collect();
        let form = Form::new(principal(c, &rows))?;
        let delta = form.delta;
        let most = sets.iter().map(|set| Some(proved_largest(&principal(&form.c, set))? + 2.0 * delta));
        let most = most.collect::<Option<_>>()?;
        let axes = symmetric_eigenpairs(&principal(&form.c, &sets[0]))?;
        let part = |set: &Vec<usize>| RowMat::from_fn(form.n(), set.len(), |row, a| form.a.get(row, set[a]));
        let parts: Vec<RowMat> = sets.iter().map(part).collect();
        let squares = parts.iter().map(outer).collect();
        Some(Self { rows, form, sets, shared, cut, heads, own, one, most, parts, squares, axes })
    }

    fn r(&self) -> usize {
        self.sets.len()
    }

    /// True if something is taken from column j itself.
    fn is_held(&self, j: usize) -> bool {
        j >= self.heads && (!self.shared.is_empty() || (1..=self.holds()).contains(&j))
    }

    /// The number of columns with an N.
    fn holds(&self) -> usize {
        if self.heads == 1 && self.r() <= HOLDS { self.r().saturating_sub(2) } else { 0 }
    }

    /// Ranges of quantities that hold for all X above the cutoff.
    fn ranges(&self) -> Ranges {
        let r = self.r() as f64;
        let up = 1.0 + ORDER;
        let cap = |j: usize| if self.own { self.most[j].min(self.most[0] * up) } else { self.most[j] };
        let caps: Vec<f64> = (0..self.r()).map(|j| cap(j) * up).collect();
        let others: f64 = caps.iter().sum();
        let least = |j: usize| (self.cut - (others - caps[j]) * up).max(0.0);
        let by_order = if self.own { self.cut / r * (1.0 - ORDER) } else { 0.0 };
        let own = (least(0).max(by_order) * (1.0 - ORDER), caps[0] * up);
        let later =
            (0..self.r()).map(|j| ((least(j) * (1.0 - ORDER)).sqrt(), (caps[j] * up).sqrt())).collect();
        let (values, _) = &self.axes;
        let k = values.len();
        let mut ratios = Vec::new();
        if self.heads == 1 && k > 1 && own.0 > values[1] * (1.0 + 1e-6) {
            let reach = ((own.1 - own.0).max(0.0) / (own.0 - values[1])).sqrt() * 1.0001 + 1e-9;
            ratios = vec![(-reach, reach); k - 1];
        }
        self.tightened(Ranges { own, later, ratios })
    }

    /// The range of s₁₁ that the ratios leave.
    fn tightened(&self, mut ranges: Ranges) -> Ranges {
        if ranges.ratios.is_empty() {
            return ranges;
        }
        let values = &self.axes.0;
        let (first, second, last) = (values[0], values[1], values[values.len() - 1]);
        let (mut low, mut high) = (0.0, 0.0);
        for (l, h) in &ranges.ratios {
            low += if *l <= 0.0 && *h >= 0.0 { 0.0 } else { (l * l).min(h * h) };
            high += (l * l).max(h * h);
        }
        let slack = ORDER * first.abs();
        let least = (first + last * high) / (1.0 + high) - slack;
        let most = (first + second * low) / (1.0 + low) + slack + self.form.delta;
        ranges.own = (ranges.own.0.max(least), ranges.own.1.min(most));
        ranges
    }

    fn is_empty(&self, ranges: &Ranges) -> bool {
        let none = |range: &(f64, f64)| range.0 > range.1;
        (self.heads == 1 && none(&ranges.own)) || ranges.later[self.heads..].iter().any(none)
    }

    /// The rows and columns of W on a support, zero where a row is not shared.
    fn spread(&self, w: &RowMat, j: usize) -> RowMat {
        let set = &self.sets[j];
        let place = |i: usize| self.shared.iter().position(|s| *s == i);
        RowMat::from_fn(set.len(), set.len(), |a, b| match (place(set[a]), place(set[b])) {
            (Some(x), Some(y)) => w.get(x, y),
            _ => 0.0,
        })
    }

    /// The transpose of [`Leaf::spread`].
    fn gathered(&self, d: &RowMat, j: usize, t: f64, out: &mut RowMat) {
        let set = &self.sets[j];
        for (x, row) in self.shared.iter().enumerate() {
            for (y, column) in self.shared.iter().enumerate() {
                let (a, b) = (set.iter().position(|i| i == row), set.iter().position(|i| i == column));
                if let (Some(a), Some(b)) = (a, b) {
                    out.set(x, y, out.get(x, y) + t * d.get(a, b));
                }
            }
        }
    }

    /// 2/(h − l) times the symmetric part of (v_k − lv_1)(hv_1 − v_k)', whose form is not negative where the ratio is in [l, h].
    fn ratio_form(&self, k: usize, (l, h): (f64, f64)) -> RowMat {
        let v = &self.axes.1;
        let size = v.nrows();
        let a: Vec<f64> = (0..size).map(|i| v.get(i, k + 1) - l * v.get(i, 0)).collect();
        let b: Vec<f64> = (0..size).map(|i| h * v.get(i, 0) - v.get(i, k + 1)).collect();
        let width = (h - l).max(NARROW);
        RowMat::from_fn(size, size, |i, j| (a[i] * b[j] + b[i] * a[j]) / width)
    }

    fn split(&self, z: &[f64], ratios: usize) -> Numbers {
        let (m, w) = (self.form.n(), self.shared.len());
        let mut rest = z;
        let mut take = |count: usize| {
            let (now, later) = rest.split_at(count);
            rest = later;
            now
        };
        let matrix = |n: usize, data: &[f64]| RowMat::from_fn(n, n, |i, j| data[i * n + j]);
        Numbers {
            m: matrix(m, take(m * m)),
            n: (0..self.holds()).map(|_| matrix(m, take(m * m))).collect(),
            w: (w > 0).then(|| matrix(w, take(w * w))),
            kappa: take(self.heads).first().copied().unwrap_or(0.0),
            delta: take(self.r()).to_vec(),
            mu: take(ratios).to_vec(),
        }
    }

    fn length(&self, ratios: usize) -> usize {
        let (m, w) = (self.form.n(), self.shared.len());
        m * m * (1 + self.holds()) + w * w + self.heads + self.r() + ratios
    }

    /// Multipliers to begin from.
    fn begin(&self, ratios: usize) -> Vec<f64> {
        let m = self.form.n();
        let root = self.one.sqrt();
        let mut z = Vec::with_capacity(self.length(ratios));
        // M in the span of the scores of the leading eigenvectors
        let mut q: Vec<Vec<f64>> = Vec::new();
        for j in 0..self.r() {
            let a = &self.parts[j];
            let leading = symmetric_eigenpairs(&gram(a)).map(|(_, v)| v);
            let mut t: Vec<f64> = (0..m)
                .map(|row| {
                    (0..a.ncols())
                        .map(|i| a.get(row, i) * leading.as_ref().map_or(1.0, |v| v.get(i, 0)))
                        .sum()
                })
                .collect();
            for q in &q {
                let along: f64 = q.iter().zip(&t).map(|(a, b)| a * b).sum();
                t.iter_mut().zip(q).for_each(|(t, q)| *t -= along * q);
            }
            let length = t.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-12);
            t.iter_mut().for_each(|v| *v /= length);
            q.push(t);
        }
        for row in 0..m {
            for column in 0..m {
                let apart = 0.02 * ((row * 5 + column * 11 + 1) as f64).sin();
                z.push(root * (apart + q.get(column).map_or(0.0, |q| 0.8 * q[row])));
            }
        }
        let identity = |z: &mut Vec<f64>, n: usize, t: f64| {
            (0..n * n).for_each(|e| z.push(if e / n == e % n { t } else { 0.0 }));
        };
        (0..self.holds()).for_each(|_| identity(&mut z, m, 0.3 * root));
        identity(&mut z, self.shared.len(), 0.2 * root);
        z.extend(vec![0.1; self.heads]);
        z.extend(vec![0.0; self.r()]);
        z.extend(vec![0.5; ratios]);
        z
    }

    /// M and the N of the columns before column j.
    fn matrix_of(&self, j: usize, m: &RowMat, n: &[RowMat]) -> RowMat {
        let mut out = m.clone();
        n.iter().take(j.saturating_sub(1)).for_each(|n| add(&mut out, 1.0, n));
        out
    }

    /// Matrix that is subtracted for x_j itself.
    fn taken(&self, j: usize, a: &RowMat, w: Option<&RowMat>, n: &[RowMat]) -> RowMat {
        let k = self.sets[j].len();
        let mut out = w.map_or_else(|| RowMat::zeros(k, k), |w| self.spread(w, j));
        if let Some(n) = j.checked_sub(1).and_then(|i| n.get(i)) {
            add(&mut out, 1.0 / self.most[j], &between(a, n));
        }
        out
    }

    /// The matrix of the first column.
    fn first_matrix(
        &self,
        m: &RowMat,
        w: Option<&RowMat>,
        kappa: f64,
        beta: f64,
        forms: &[(f64, RowMat)],
    ) -> RowMat {
        let mut out = principal(&self.form.c, &self.sets[0]);
        out.data_mut().iter_mut().for_each(|v| *v *= 1.0 + kappa);
        add(&mut out, -1.0 / beta, &between(&self.parts[0], m));
        if let Some(w) = w {
            add(&mut out, -1.0, &self.spread(w, 0));
        }
        forms.iter().for_each(|(mu, q)| add(&mut out, *mu, q));
        out
    }

    /// The matrix of a column from which something is taken.
    fn held_matrix(&self, a: &RowMat, m: &RowMat, taken: &RowMat, c: f64, delta: f64) -> RowMat {
        let (rows, k) = (a.nrows(), a.ncols());
        RowMat::from_fn(rows + k, rows + k, |i, j| {
            let shift = if i == j { delta } else { 0.0 };
            match (i < rows, j < rows) {
                (true, true) => shift - m.get(i, j),
                (false, false) => -taken.get(i - rows, j - rows) - shift,
                (true, false) => c * a.get(i, j - rows),
                (false, true) => c * a.get(j, i - rows),
            }
        })
    }

    fn forms(&self, ranges: &Ranges, mu: &[f64]) -> Vec<(f64, RowMat)> {
        ranges
            .ratios
            .iter()
            .enumerate()
            .map(|(k, range)| (mu[k] * mu[k], self.ratio_form(k, *range)))
            .collect()
    }

    /// The smoothed bound and its gradient.
    fn smoothed(&self, ranges: &Ranges, z: &[f64], tau: f64, g: &mut [f64]) -> Option<f64> {
        let now = self.split(z, ranges.ratios.len());
        let n: Vec<RowMat> = now.n.iter().map(outer).collect();
        let (m, w) = (outer(&now.m), now.w.as_ref().map(outer));
        let identity = |size: usize| RowMat::from_fn(size, size, |i, j| f64::from(u8::from(i == j)));
        let trace = |b: &RowMat| b.data().iter().map(|v| v * v).sum::<f64>();
        let mut value =
            trace(&now.m) + now.n.iter().map(trace).sum::<f64>() + now.w.as_ref().map_or(0.0, trace);
        let rows = self.form.n();
        count(WORK + 150 * self.r() * rows.pow(3));
        let (mut gm, mut gw) = (identity(rows), identity(self.shared.len()));
        let mut gn = vec![identity(rows); n.len()];
        let (mut gk, mut gd, mut gu) = (0.0, vec![0.0; self.r()], vec![0.0; ranges.ratios.len()]);
        if self.heads == 1 {
            let (alpha, beta) = (ranges.own.0.max(0.0), ranges.own.1.max(1e-9 * self.one));
            let kappa = now.kappa * now.kappa;
            let forms = self.forms(ranges, &now.mu);
            let (v, d) = soft(&self.first_matrix(&m, w.as_ref(), kappa, beta, &forms), tau)?;
            value += v - kappa * alpha;
            add(&mut gm, -1.0 / beta, &around(&self.parts[0], &d));
            self.gathered(&d, 0, -1.0, &mut gw);
            gk = principal(&self.form.c, &self.sets[0]).inner(&d) - alpha;
            forms.iter().zip(&mut gu).for_each(|((_, q), g)| *g = q.inner(&d));
        }
        for j in self.heads..self.r() {
            let a = &self.parts[j];
            let mj = self.matrix_of(j, &m, &n);
            let before = j.saturating_sub(1);
            if !self.is_held(j) {
                let mut k = self.squares[j].clone();
                add(&mut k, -1.0, &mj);
                let (v, d) = soft(&k, tau)?;
                value += v;
                add(&mut gm, -1.0, &d);
                gn.iter_mut().take(before).for_each(|g| add(g, -1.0, &d));
                continue;
            }
            let (l, h) = ranges.later[j];
            let c = 0.5 * (l + h);
            let taken = self.taken(j, a, w.as_ref(), &n);
            let (v, d) = soft(&self.held_matrix(a, &mj, &taken, c, now.delta[j]), tau)?;
            value += 2.0 * v - l * h;
            let upper = RowMat::from_fn(rows, rows, |i, k| d.get(i, k));
            let lower = RowMat::from_fn(a.ncols(), a.ncols(), |i, k| d.get(rows + i, rows + k));
            add(&mut gm, -2.0, &upper);
            gn.iter_mut().take(before).for_each(|g| add(g, -2.0, &upper));
            if let Some(g) = j.checked_sub(1).and_then(|i| gn.get_mut(i)) {
                add(g, -2.0 / self.most[j], &around(a, &lower));
            }
            self.gathered(&lower, j, -2.0, &mut gw);
            let trace = |d: &RowMat| (0..d.nrows()).map(|i| d.get(i, i)).sum::<f64>();
            gd[j] = 2.0 * (trace(&upper) - trace(&lower));
        }
        // of a factor: twice the gradient times the factor
        let of_factor = |g: &RowMat, b: &RowMat| {
            let mut out = RowMat::zeros(b.nrows(), b.ncols());
            product(&mut out, false, 2.0, g.as_mat(), b.as_mat());
            out
        };
        let mut all: Vec<f64> = Vec::with_capacity(z.len());
        all.extend(of_factor(&gm, &now.m).data());
        now.n.iter().zip(&gn).for_each(|(b, g)| all.extend(of_factor(g, b).data()));
        if let Some(b) = &now.w {
            all.extend(of_factor(&gw, b).data());
        }
        if self.heads == 1 {
            all.push(2.0 * now.kappa * gk);
        }
        all.extend(gd);
        all.extend(gu.iter().zip(&now.mu).map(|(g, mu)| 2.0 * g * mu));
        g.copy_from_slice(&all);
        Some(value)
    }

    /// The bound that the multipliers prove, in floating point as well: M, N and W are exact as stored, their traces cover what they
    /// lack of being positive semidefinite, and each matrix is off by no more than its sums of products.
    fn certain(&self, ranges: &Ranges, z: &[f64]) -> Option<f64> {
        let now = self.split(z, ranges.ratios.len());
        let trace = |b: &RowMat| b.data().iter().map(|v| v * v).sum::<f64>() * (1.0 + 1e-12);
        let n: Vec<RowMat> = now.n.iter().map(outer).collect();
        let (m, w) = (outer(&now.m), now.w.as_ref().map(outer));
        let mut value = trace_of_semidefinite(&m, trace(&now.m));
        value += now.n.iter().zip(&n).map(|(b, n)| trace_of_semidefinite(n, trace(b))).sum::<f64>();
        if let (Some(b), Some(w)) = (&now.w, &w) {
            value += trace_of_semidefinite(w, trace(b));
        }
        let rows = self.form.n();
        let rounding = 2.0 * gamma(4 * rows + 16);
        let of_n: f64 = n.iter().map(RowMat::norm).sum();
        let size = 1.0 + m.norm() + of_n + w.as_ref().map_or(0.0, RowMat::norm);
        if self.heads == 1 {
            let (alpha, beta) = (ranges.own.0.max(0.0), ranges.own.1.max(1e-9 * self.one));
            let kappa = now.kappa * now.kappa;
            let forms = self.forms(ranges, &now.mu);
            let matrix = self.first_matrix(&m, w.as_ref(), kappa, beta, &forms);
            let a = self.parts[0].norm();
            let q: f64 = forms.iter().map(|(mu, q)| mu * (q.norm() + 8.0)).sum();
            let off =
                rounding * ((1.0 + kappa) * (a * a + self.form.delta) + a * a * m.norm() / beta + size + q);
            value += proved_largest(&matrix)? + off + (1.0 + kappa) * self.form.delta - kappa * alpha;
        }
        for j in self.heads..self.r() {
            let a = &self.parts[j];
            let length = a.norm();
            let mj = self.matrix_of(j, &m, &n);
            if !self.is_held(j) {
                let mut k = self.squares[j].clone();
                add(&mut k, -1.0, &mj);
                value += proved_largest(&k)? + rounding * (length * length + size);
                continue;
            }
            let (l, h) = ranges.later[j];
            let (c, delta) = (0.5 * (l + h), now.delta[j]);
            let taken = self.taken(j, a, w.as_ref(), &n);
            let matrix = self.held_matrix(a, &mj, &taken, c, delta);
            let by_n = length * length * of_n / self.most[j].max(f64::MIN_POSITIVE);
            let off = rounding * (size + by_n + c * length + rows as f64 * delta.abs() + h * h);
            value += 2.0 * (proved_largest(&matrix)? + off) - l * h;
        }
        let up = value + rounding * (value.abs() + size);
        up.is_finite().then_some(up)
    }

    /// A bound over X in the ranges, and its multipliers.
    fn bound(&self, ranges: &Ranges, z: Option<&[f64]>, over: &dyn Fn() -> bool) -> (f64, Vec<f64>) {
        if self.is_empty(ranges) {
            return (f64::NEG_INFINITY, Vec::new());
        }
        let ratios = ranges.ratios.len();
        let (mut z, first) = match z.filter(|z| z.len() == self.length(ratios)) {
            Some(z) => (z.to_vec(), PART),
            None => (self.begin(ratios), 0),
        };
        let (mut best, mut found) = (f64::INFINITY, z.clone());
        for tau in &TEMPERATURES[first..] {
            if over() {
                break;
            }
            z = lowered(z, STEPS, over, |z, g| {
                self.smoothed(ranges, z, tau * self.one, g).unwrap_or(f64::NAN)
            });
            if let Some(now) = self.certain(ranges, &z)
                && now < best
            {
                (best, found) = (now, z.clone());
            }
            if best <= self.cut {
                break;
            }
        }
        (best, found)
    }

    /// A bound of X on the supports, or the cutoff where that is above: best first over boxes. With the boxes, if they are requested.
    pub fn proved(&self, wanted: bool, over: &dyn Fn() -> bool) -> (f64, Vec<Cell>) {
        let ranges = self.ranges();
        let (most, z) = self.bound(&ranges, None, over);
        let mut boxes = vec![self.cell(&ranges, &z, wanted)];
        let mut heap = BinaryHeap::from([Boxed { most, id: 0, ranges, z }]);
        let mut id = 0;
        while let Some(top) = heap.peek() {
            if top.most <= self.cut || id >= BOXES || over() {
                break;
            }
            let Some(top) = heap.pop() else { break };
            let Some((at, parts)) = self.divided(&top.ranges) else {
                heap.push(top);
                break;
            };
            boxes[top.id].split = Some((at.0, at.1, [id + 1, id + 2]));
            for ranges in parts {
                id += 1;
                let (most, z) = self.bound(&ranges, Some(&top.z), over);
                boxes.push(self.cell(&ranges, &z, wanted));
                let most = most.min(top.most);
                if most > self.cut {
                    heap.push(Boxed { most, id, ranges, z });
                }
            }
        }
        (heap.peek().map_or(self.cut, |top| top.most.max(self.cut)), boxes)
    }

    /// The multipliers of a box, where they are requested: factors on the rows of the supports, from the left times A.
    fn cell(&self, ranges: &Ranges, z: &[f64], wanted: bool) -> Cell {
        let ratios = ranges.ratios.len();
        if !wanted || z.len() != self.length(ratios) {
            return Cell::default();
        }
        let now = self.split(z, ratios);
        let square = |v: &f64| v * v;
        let multipliers = Multipliers {
            m: self.form.before(&now.m),
            n: now.n.iter().map(|n| self.form.before(n)).collect(),
            w: now.w,
            kappa: square(&now.kappa),
            delta: now.delta,
            mu: now.mu.iter().map(square).collect(),
        };
        Cell { split: None, multipliers: Some(multipliers) }
    }

    /// The leaf with these boxes, for others to check.
    pub fn written(&self, cells: Vec<Cell>) -> Written {
        let own = |set: &Vec<usize>| set.iter().map(|place| self.rows[*place]).collect();
        Written {
            supports: self.sets.iter().map(own).collect(),
            cut: self.cut,
            axes: self.axes.1.clone(),
            cells,
        }
    }

    /// The box in two, along the range that costs the bound most: which one, where, and both.
    fn divided(&self, ranges: &Ranges) -> Option<((usize, f64), [Ranges; 2])> {
        let r = self.r() as f64;
        let width = |range: &(f64, f64)| range.1 - range.0;
        let mut best: Option<(f64, usize)> = None;
        let mut offer = |score: f64, place: usize| {
            if score > NARROW * self.one && best.is_none_or(|b| score > b.0) {
                best = Some((score, place));
            }
        };
        if self.heads == 1 && ranges.ratios.is_empty() {
            offer(width(&ranges.own) / r, 0);
        }
        for j in self.heads..self.r() {
            if self.is_held(j) {
                offer(width(&ranges.later[j]).powi(2), 1 + j);
            }
        }
        let pulls = self.pulls();
        for (k, range) in ranges.ratios.iter().enumerate() {
            offer(0.5 * width(range) * pulls.get(k + 1).copied().unwrap_or(self.one), 1 + self.r() + k);
        }
        let (_, place) = best?;
        let mut halves = [ranges.clone(), ranges.clone()];
        let mut at = 0.0;
        for (side, half) in halves.iter_mut().enumerate() {
            let range = match place {
                0 => &mut half.own,
                p if p <= self.r() => &mut half.later[p - 1],
                p => &mut half.ratios[p - 1 - self.r()],
            };
            let middle =
                if place <= self.r() { 0.25 * range.0 + 0.75 * range.1 } else { 0.5 * (range.0 + range.1) };
            at = middle;
            *range = if side == 0 { (range.0, middle) } else { (middle, range.1) };
        }
        Some(((place, at), halves.map(|half| self.tightened(half))))
    }

    /// |v_k'C₁₂y| of the axes of the first support and the leading eigenvector y of the second.
    fn pulls(&self) -> Vec<f64> {
        let Some(second) = self.sets.get(1) else { return Vec::new() };
        let Some((_, y)) = symmetric_eigenpairs(&principal(&self.form.c, second)) else { return Vec::new() };
        let image = |i: usize| {
            second.iter().enumerate().map(|(b, j)| self.form.c.get(i, *j) * y.get(b, 0)).sum::<f64>()
        };
        let first = &self.sets[0];
        (0..first.len())
            .map(|k| {
                first.iter().enumerate().map(|(a, i)| self.axes.1.get(a, k) * image(*i)).sum::<f64>().abs()
                    + 1e-3
            })
            .collect()
    }
}
