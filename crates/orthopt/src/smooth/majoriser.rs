//! The separable majoriser of any smooth f at a point.

use super::{Quadratic, Smooth};
use crate::linalg::RowMat;
use crate::linalg::kernels::axpy;
use crate::linalg::simd::Simd;

/// m(Y) = ⟨G, Y − X⟩ + L/2‖Y − X‖²_F with G = ∇f(X): f(Y) ≤ f(X) + m(Y) where L bounds the curvature of f between
/// X and Y. It is a quadratic with M = L·I, so rows that move at the same time are
/// independent, and the methods for a quadratic f solve the subproblems of any f.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Majoriser<'a> {
    pub g: &'a RowMat, // G
    pub x: &'a RowMat, // X
    pub l: f64,        // L ≥ 0
}

impl Smooth for Majoriser<'_> {
    fn nrows(&self) -> usize {
        self.x.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.x.ncols())
    }

    fn value(&self, y: &RowMat) -> f64 {
        let d = RowMat::from_fn(y.nrows(), y.ncols(), |i, k| y.get(i, k) - self.x.get(i, k));
        self.g.inner(&d) + 0.5 * self.l * d.inner(&d)
    }

    fn gradient(&self, y: &RowMat, g: &mut RowMat) {
        (0..y.nrows()).for_each(|i| {
            self.gradient_row(&(), y, i, g.row_mut(i));
        });
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.l)
    }

    /// The linearisation of a concave f.
    fn is_concave(&self) -> bool {
        self.l <= 0.0
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

impl Quadratic for Majoriser<'_> {
    type Image = (); // a row of the gradient comes from rows of G, X and Y

    fn image(&self, _: &RowMat) {}

    #[inline(always)]
    fn gradient_row<'a>(&'a self, _: &'a (), y: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
        buf.copy_from_slice(self.g.row(i));
        axpy(self.l, y.row(i), buf);
        axpy(-self.l, self.x.row(i), buf);
        buf
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        if i == j { self.l } else { 0.0 }
    }

    fn isotropic(&self) -> Option<f64> {
        Some(self.l)
    }

    #[inline(always)]
    fn move_pair<S: Simd>(&self, _: S, _: &mut (), _: usize, _: usize, _: &[f64], _: &[f64]) {}

    fn move_block(&self, _: &mut (), _: &[usize], _: &RowMat) {}

    fn apply(&self, v: &RowMat) -> RowMat {
        RowMat::from_fn(v.nrows(), v.ncols(), |i, k| self.l * v.get(i, k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::stiefel;
    use crate::nonsmooth::Nonsmooth;
    use crate::pair::PairPenalty;
    use crate::pair::step::{Damping, Model, Shape};
    use crate::penalty::{L1, NoPenalty};
    use crate::solvers::obcd::{block_round, jacobi_round};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn shape(model: &Majoriser<'_>, kind: Model) -> Shape {
        Shape { model: kind, alpha: 1e-9, damping: Damping::of(model), search: Default::default() }
    }

    /// m + h of two rows of Y, by its definition.
    fn by_definition(m: &Majoriser<'_>, h: &impl Nonsmooth, rows: [usize; 2], y: [&[f64]; 2]) -> f64 {
        let mut sum = 0.0;
        for (row, new) in rows.into_iter().zip(y) {
            for k in 0..new.len() {
                let d = new[k] - m.x.get(row, k);
                sum += m.g.get(row, k) * d + 0.5 * m.l * d * d + h.entry(new[k]) - h.entry(m.x.get(row, k));
            }
        }
        sum
    }

    /// Minimum over all rotations and reflections of a fine grid.
    fn slowest(m: &Majoriser<'_>, h: &impl Nonsmooth, rows: [usize; 2]) -> f64 {
        let (a, b, mut least) = (m.x.row(rows[0]), m.x.row(rows[1]), f64::INFINITY);
        for step in 0..40_000 {
            let (s, c) = (f64::from(step) * std::f64::consts::TAU / 40_000.0).sin_cos();
            for v in [[c, s, -s, c], [-c, s, s, c]] {
                let turned = |p: f64, q: f64| a.iter().zip(b).map(|(x, y)| p * x + q * y).collect::<Vec<_>>();
                let (first, second) = (turned(v[0], v[1]), turned(v[2], v[3]));
                least = least.min(by_definition(m, h, rows, [&first, &second]));
            }
        }
        least
    }

    fn round_is_its_slow_twin<H: PairPenalty>(h: &H, seed: u64) {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let (x, g) = (stiefel::random(9, 3, rng), stiefel::random(9, 3, rng));
        let model = Majoriser { g: &g, x: &x, l: 0.7 };
        let (pairs, mut y) = ([(0, 5), (1, 8), (2, 3), (4, 6)], x.clone());
        let done = jacobi_round(&model, h, (shape(&model, Model::Exact), 0.0), &mut y, &mut (), &pairs);
        let mut sum = 0.0;
        for (i, j) in pairs {
            let (fast, slow) =
                (by_definition(&model, h, [i, j], [y.row(i), y.row(j)]), slowest(&model, h, [i, j]));
            assert!(fast <= slow + 1e-12 && slow <= fast + 1e-3, "rows {i}, {j}: {fast} {slow}");
            sum += fast;
        }
        assert!((done.decrease + sum).abs() <= 1e-12 && sum < -0.1 && y.row(7) == x.row(7));
        assert!((model.value(&y) + h.value(y.data()) - h.value(x.data()) - sum).abs() <= 1e-12);
        // what offers no more than `least` is left alone, and said
        let mut still = x.clone();
        let least = done.max_decrease;
        let none = jacobi_round(&model, h, (shape(&model, Model::Exact), least), &mut still, &mut (), &pairs);
        assert!(still == x && none.moves == 0 && none.max_decrease > 0.0 && none.max_decrease <= least);
    }

    #[test]
    fn a_round_minimises_every_pair() {
        for seed in 0..3 {
            round_is_its_slow_twin(&NoPenalty, seed);
            round_is_its_slow_twin(&L1::new(0.1).expect("a weight"), seed);
        }
    }

    /// Without h a block is solved globally: no other V is lower, and the diagonal model (9) takes shorter steps.
    #[test]
    fn a_block_is_minimised_at_once() {
        let rng = &mut Pcg64::seed_from_u64(4);
        let (x, g) = (stiefel::random(9, 4, rng), stiefel::random(9, 4, rng));
        let model = Majoriser { g: &g, x: &x, l: 0.7 };
        let blocks = [vec![0, 3, 5, 8], vec![1, 2, 7]];
        let reached = |kind: Model| {
            let mut y = x.clone();
            let done = block_round(&model, &NoPenalty, shape(&model, kind), 0.0, &mut y, &mut (), &blocks);
            assert!((done.decrease + model.value(&y)).abs() <= 1e-12 && done.moves == 2);
            assert!(stiefel::feasibility(&y) <= 1e-14 && y.row(4) == x.row(4));
            model.value(&y)
        };
        let (exact, diagonal) = (reached(Model::Exact), reached(Model::Diagonal));
        assert!(exact < diagonal && diagonal < 0.0, "{exact} {diagonal}");
        for _ in 0..300 {
            let mut y = x.clone();
            for block in &blocks {
                let v = stiefel::random(block.len(), block.len(), rng);
                for (p, i) in block.iter().enumerate() {
                    for k in 0..4 {
                        let row = block.iter().enumerate().map(|(q, j)| v.get(p, q) * x.get(*j, k));
                        y.set(*i, k, row.sum());
                    }
                }
            }
            assert!(model.value(&y) >= exact, "{} {exact}", model.value(&y));
        }
    }

    #[test]
    fn gradient_and_curvature_are_those_of_the_value() {
        let rng = &mut Pcg64::seed_from_u64(6);
        let [x, g, y] = [(); 3].map(|()| stiefel::random(5, 2, rng));
        let model = Majoriser { g: &g, x: &x, l: 1.5 };
        let mut at = RowMat::zeros(5, 2);
        model.gradient(&y, &mut at);
        for i in 0..5 {
            for k in 0..2 {
                let moved = |t: f64| {
                    let mut z = y.clone();
                    z.set(i, k, z.get(i, k) + t);
                    model.value(&z)
                };
                let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                assert!((slope - at.get(i, k)).abs() <= 1e-10);
                let bend = (moved(1e-2) - 2.0 * moved(0.0) + moved(-1e-2)) / 1e-4;
                assert!(
                    (bend - model.curvature(i, i)).abs() <= 1e-9 && model.curvature(i, (i + 1) % 5) == 0.0
                );
            }
        }
        assert_eq!(model.apply(&y).get(2, 1), 1.5 * y.get(2, 1));
        assert!(!model.is_concave() && Majoriser { l: 0.0, ..model }.is_concave());
    }
}
