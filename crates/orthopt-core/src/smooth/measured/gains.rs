//! Exact values of a measure after one entry of X leaves or enters, from r × r matrices: O(r²) a candidate for adjusted variance, O(r³)
//! for the others.

use super::beside::{Beside, Moved};
use super::{Covariance, Measure, Small};
use crate::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::products::{cross, multiply, product};
use orthopt_linalg::work::count;

/// Angles at which a new entry is tried: first over this range, then as many around the best of them. Entries of loadings
/// that matter lie between .02 and .96.
const ANGLES: usize = 6;
const RANGE: (f64, f64) = (0.02, 1.3);
/// Operations for polar variance, in units of r³.
const EIGENVALUES: usize = 60;
/// The least angle of the second round.
const LEAST: f64 = 0.005;

/// X with what candidates are computed from: M = CX, N = C²X, S = XᵀM, W = XᵀN; N and W for explained variance only.
#[derive(Debug)]
pub struct Gains<'a> {
    cov: &'a Covariance,
    measure: Measure,
    small: Small,
    m: RowMat,
    n: Option<RowMat>,
    s: RowMat,
    w: RowMat,
    sizes: Vec<f64>,                 // roots of those of the columns
    given: bool,                     // adjusted variance in the order of the columns
    prices: Option<RowMat>,          // half of what a unit of each entry costs elsewhere
    beside: Vec<Option<Beside>>,     // of each column, once it is asked for
    entered: Option<(usize, usize)>, // what enters beside its column
    trial_s: Vec<f64>,
    trial_w: Vec<f64>,
    trial_sizes: Vec<f64>,
}

impl<'a> Gains<'a> {
    /// Of X, whose adjusted variance has the order of its columns where `given`. Cost of two products with C.
    pub fn new(
        (f, cov): (&impl Quadratic, &'a Covariance),
        x: &RowMat,
        (measure, given): (Measure, bool),
    ) -> Self {
        let r = x.ncols();
        let m = cov.times(f, x);
        let s = cross(x, &m).symmetric_part();
        let n = (measure == Measure::Explained).then(|| cov.twice(f, x, &m));
        let w = n.as_ref().map_or_else(|| RowMat::zeros(r, r), |n| cross(x, n).symmetric_part());
        let trial = vec![0.0; r * r];
        let sizes = cov.sizes(x);
        let (trial_s, trial_w, trial_sizes) = (trial.clone(), trial, vec![0.0; r]);
        let (small, beside, entered) = (Small::new(r, given), vec![None; r], None);
        let prices = None;
        Self {
            cov,
            measure,
            small,
            m,
            n,
            s,
            w,
            sizes,
            given,
            prices,
            beside,
            entered,
            trial_s,
            trial_w,
            trial_sizes,
        }
    }

    /// Where each unit of an entry of X costs twice so much elsewhere; the gradient and the measure of a moved X are less by it.
    pub fn at_shadow_prices(self, prices: Option<RowMat>) -> Self {
        Self { prices, ..self }
    }

    fn price(&self, (i, j): (usize, usize)) -> f64 {
        self.prices.as_ref().map_or(0.0, |prices| prices.get(i, j))
    }

    /// The measure of X.
    pub fn value(&mut self) -> f64 {
        let sizes = squared(&self.sizes);
        self.small.value(self.measure, (self.s.data(), self.w.data()), &sizes)
    }

    /// Half of the gradient of the measure.
    pub fn gradient(&mut self) -> RowMat {
        let sizes = squared(&self.sizes);
        let (_, q, p) = self.small.weights(self.measure, (self.s.data(), self.w.data()), &sizes);
        let mut g = multiply(self.m.as_mat(), q.as_mat());
        if let (Some(n), Some(p)) = (&self.n, p) {
            product(&mut g, true, 1.0, n.as_mat(), p.as_mat());
        }
        if let Some(prices) = &self.prices {
            g.data_mut().iter_mut().zip(prices.data()).for_each(|(g, price)| *g -= price);
        }
        g
    }

    /// The measure where entry (i, j), which is `x`, leaves and column j gets its length back; `None` where it is all there is.
    pub fn without(&mut self, (i, j): (usize, usize), x: f64) -> Option<f64> {
        let left = 1.0 - x * x;
        // cos θ xⱼ + sin θ eᵢ with tan θ = −x leaves a zero at i; divided by its length, √(1 − x²)/√(1 + x²)
        (left > 1e-14).then(|| self.moved((i, j), 1.0 / left.sqrt(), -x / left.sqrt()))
    }

    /// The measure where column j becomes a·xⱼ + b·eᵢ.
    fn moved(&mut self, entry: (usize, usize), a: f64, b: f64) -> f64 {
        self.moved_by(self.measure, entry, a, b)
    }

    /// [`moved`](Self::moved) by another measure.
    fn moved_by(&mut self, measure: Measure, entry: (usize, usize), a: f64, b: f64) -> f64 {
        self.measured(measure, entry, a, b) - 2.0 * b * self.price(entry)
    }

    /// The measure of X so moved, whatever the entry costs elsewhere.
    fn measured(&mut self, measure: Measure, (i, j): (usize, usize), a: f64, b: f64) -> f64 {
        if measure == Measure::Adjusted
            && let Some(value) = self.moved_beside((i, j), a, b)
        {
            return value;
        }
        let r = self.s.ncols();
        let flops = if measure == Measure::Polar { EIGENVALUES } else { 4 };
        count(flops * r * r * r + 100);
        let moved = |s: &RowMat, m: &RowMat, own: f64, out: &mut [f64]| {
            out.copy_from_slice(s.data());
            for k in (0..r).filter(|k| *k != j) {
                let v = a * s.get(k, j) + b * m.get(i, k);
                out[k * r + j] = v;
                out[j * r + k] = v;
            }
            out[j * r + j] = variance((i, j), (s, m, own), a, b);
        };
        moved(&self.s, &self.m, self.cov.diagonal(i), &mut self.trial_s);
        if let Some(n) = &self.n {
            moved(&self.w, n, self.cov.square(i), &mut self.trial_w);
        }
        self.trial_sizes.iter_mut().zip(&self.sizes).for_each(|(to, size)| *to = size * size);
        self.trial_sizes[j] = self.size((i, j), a, b);
        self.small.value(measure, (&self.trial_s, &self.trial_w), &self.trial_sizes)
    }

    /// Scale of the terms that add up to the variance of a·xⱼ + b·eᵢ, and so of its rounding.
    fn size(&self, (i, j): (usize, usize), a: f64, b: f64) -> f64 {
        (a.abs() * self.sizes[j] + b.abs() * self.cov.deviation(i)).powi(2)
    }

    /// Adjusted variance where column j becomes a·xⱼ + b·eᵢ, from the factors of the others.
    fn moved_beside(&mut self, (i, j): (usize, usize), a: f64, b: f64) -> Option<f64> {
        let variance = variance((i, j), (&self.s, &self.m, self.cov.diagonal(i)), a, b);
        let size = self.size((i, j), a, b);
        let beside = self.beside[j].get_or_insert_with(|| {
            self.entered = None;
            Beside::new(self.s.data(), &squared(&self.sizes), j, self.given)
        });
        if self.entered != Some((i, j)) {
            self.entered = Some((i, j));
            beside.enter(self.m.row(i));
        }
        beside.value(Moved { a, b, variance, size })
    }

    /// The measure where column j becomes eᵢ.
    pub fn replaced(&mut self, (i, j): (usize, usize)) -> f64 {
        self.moved((i, j), 0.0, 1.0)
    }

    /// The largest measure over a dozen angles between xⱼ and eᵢ in the direction of the gradient `g` at (i, j), and the
    /// entry beside xⱼ that leads there.
    pub fn with(&mut self, (i, j): (usize, usize), g: f64) -> (f64, f64) {
        let sign = if g < 0.0 { -1.0 } else { 1.0 };
        let (mut best, mut angle) = (f64::NEG_INFINITY, RANGE.0);
        let (mut low, mut high) = RANGE;
        // polar variance is largest near the angle where adjusted variance is, which needs no eigenvalues
        let guide = if self.measure == Measure::Polar { Measure::Adjusted } else { self.measure };
        for _ in 0..2 {
            let step = (high - low) / (ANGLES - 1) as f64;
            for t in 0..ANGLES {
                let theta = low + step * t as f64;
                let (sin, cos) = theta.sin_cos();
                let value = self.moved_by(guide, (i, j), cos, sign * sin);
                if value > best {
                    (best, angle) = (value, theta);
                }
            }
            (low, high) = ((angle - step).max(LEAST), angle + step);
        }
        if guide != self.measure {
            let (sin, cos) = angle.sin_cos();
            best = self.moved((i, j), cos, sign * sin);
        }
        (best, sign * angle.tan())
    }
}

/// The variance of a·xⱼ + b·eᵢ from S, CX and Cᵢᵢ.
fn variance((i, j): (usize, usize), (s, m, own): (&RowMat, &RowMat, f64), a: f64, b: f64) -> f64 {
    a * a * s.get(j, j) + 2.0 * a * b * m.get(i, j) + b * b * own
}

fn squared(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().map(|size| size * size).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::constraint::stiefel;
    use crate::smooth::DenseQuadratic;

    const N: usize = 6;

    /// AᵀA of random columns, of columns that come twice, of rank 2, with a column of zeros.
    fn covariance(kind: u64, seed: u64) -> RowMat {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let a = RowMat::from_fn(9, N, |_, _| rng.random_range(-1.0..1.0));
        let b = RowMat::from_fn(2, N, |_, _| rng.random_range(-1.0..1.0));
        let entry = |i: usize, j: usize| match kind {
            1 => a.get(i, j % 3),
            2 => a.get(i, 0) * b.get(0, j) + a.get(i, 1) * b.get(1, j),
            3 if j == 2 => 0.0,
            _ => a.get(i, j),
        };
        let a = RowMat::from_fn(9, N, entry);
        cross(&a, &a)
    }

    /// Column j of X a·xⱼ + b·eᵢ.
    fn moved(x: &RowMat, (i, j): (usize, usize), a: f64, b: f64) -> RowMat {
        RowMat::from_fn(x.nrows(), x.ncols(), |l, k| match (l == i, k == j) {
            (_, false) => x.get(l, k),
            (true, true) => a * x.get(l, k) + b,
            (false, true) => a * x.get(l, k),
        })
    }

    /// Gains computed from the products of X are those of the moved X, also if scores depend on each other.
    #[test]
    fn gains_are_those_of_the_point_itself() {
        for (kind, seed) in (0..4).flat_map(|kind| (0..6).map(move |seed| (kind, seed))) {
            let c = covariance(kind, seed);
            let f = DenseQuadratic::negative(c.as_mat()).unwrap();
            let cov = Covariance::new(&f, true);
            let trace: f64 = (0..N).map(|i| cov.diagonal(i)).sum();
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let points = [
                stiefel::random(N, 3, &mut rng),
                RowMat::from_fn(N, 3, |i, k| f64::from(u8::from(i == 2 * k))),
                RowMat::from_fn(N, 4, |i, k| f64::from(u8::from(i == k))),
            ];
            for (x, measure) in points
                .iter()
                .flat_map(|x| [Measure::Adjusted, Measure::Polar, Measure::Explained].map(|m| (x, m)))
            {
                let fresh = |x: &RowMat| Gains::new((&f, &cov), x, (measure, false)).value();
                let mut gains = Gains::new((&f, &cov), x, (measure, false));
                for (i, j) in (0..N).flat_map(|i| (0..x.ncols()).map(move |j| (i, j))) {
                    let what = format!("{measure:?}, C {kind}, {seed}, entry {i}, {j}");
                    let (value, own) = (gains.replaced((i, j)), fresh(&moved(x, (i, j), 0.0, 1.0)));
                    assert!((value - own).abs() <= 1e-6 * trace, "{what}: {value} {own}");
                    assert!(value <= trace * (1.0 + 1e-6), "{what}: {value} of {trace}");
                    let entry = x.get(i, j);
                    if entry != 0.0
                        && let Some(value) = gains.without((i, j), entry)
                    {
                        let a = 1.0 / (1.0 - entry * entry).sqrt();
                        let own = fresh(&moved(x, (i, j), a, -entry * a));
                        assert!((value - own).abs() <= 1e-6 * trace, "{what}: {value} {own}");
                    } else if x.get(i, j) == 0.0 {
                        let (value, tangent) = gains.with((i, j), 1.0);
                        let (a, b) = ((1.0 + tangent * tangent).sqrt().recip(), tangent);
                        let own = fresh(&moved(x, (i, j), a, a * b));
                        assert!((value - own).abs() <= 1e-6 * trace, "{what}: {value} {own}");
                        assert!(value <= trace * (1.0 + 1e-6), "{what}: {value} of {trace}");
                    }
                }
            }
        }
    }

    /// A moved X is measured less twice the shadow price of what enters, and an entry that leaves takes its price along; gradients are less the
    /// price.
    #[test]
    fn moved_points_and_gradients_are_less_by_shadow_prices() {
        for (kind, seed) in (0..4).flat_map(|kind| (0..4).map(move |seed| (kind, seed))) {
            let f = DenseQuadratic::negative(covariance(kind, seed).as_mat()).unwrap();
            let cov = Covariance::new(&f, true);
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let x = stiefel::random(N, 3, &mut rng);
            let prices = RowMat::from_fn(N, 3, |_, _| rng.random_range(-0.5..0.5));
            for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
                let gains = || Gains::new((&f, &cov), &x, (measure, false));
                let (mut plain, mut priced) = (gains(), gains().at_shadow_prices(Some(prices.clone())));
                assert_eq!(priced.value(), plain.value());
                let (g, less) = (plain.gradient(), priced.gradient());
                for (i, j) in (0..N).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    let (entry, price) = (x.get(i, j), prices.get(i, j));
                    assert_eq!(less.get(i, j), g.get(i, j) - price);
                    assert_eq!(priced.replaced((i, j)), plain.replaced((i, j)) - 2.0 * price);
                    let [one, other] = [&mut plain, &mut priced].map(|of| of.without((i, j), entry).unwrap());
                    let taken = 2.0 * entry / (1.0 - entry * entry).sqrt() * price;
                    assert!((other - one - taken).abs() <= 1e-9, "{measure:?}, {kind}, {seed}");
                    let (value, tangent) = priced.with((i, j), 1.0);
                    let a = (1.0 + tangent * tangent).sqrt().recip();
                    let own = plain.moved((i, j), a, a * tangent) - 2.0 * a * tangent * price;
                    assert!((value - own).abs() <= 1e-6, "{measure:?}, {kind}, {seed}: {value}, {own}");
                }
            }
        }
    }
}
