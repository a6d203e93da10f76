//! Relations: J-orthogonal matrices R, each moved along coordinates of its own so that RᵀJR = J holds at every
//! step.
//!
//! | name | R | coordinates | number (n = 32, p = 16) |
//! |---|---|---|---|
//! | `full` | any | plane rotations, circular and hyperbolic, of all pairs of rows | 496 |
//! | `cs` | blkdiag(U₁, U₂)·H(μ)·blkdiag(V₁, V₂)ᵀ | those of the orthogonal factors, and μ | 496 |
//! | `givens` | the same with one layer of plane rotations of neighbours as U and V | angles and μ | 48 |
//! | `complex` | blocks of 2 × 2, complex numbers w: **not** J-orthogonal (ComplEx) | w | 32 |
//!
//! `full` is the group that JOBCD moves (JOBCD paper, App. F.2), `cs` the factors of CSDM, `givens` the form of
//! UltraE's public code (its V has reflections there).

mod givens;
mod majoriser;
mod planes;
mod turns;

use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt_core::constraint::j_orthogonal::CsFactors;
use orthopt_core::constraint::j_orthogonal::repair;
use orthopt_core::constraint::j_orthogonal::residual;
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_hyperbolic::j_baselines::cs_gradient;
use rand::RngExt;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

pub use givens::Givens;
pub use majoriser::{Majoriser, Outcome};
pub(crate) use planes::Turn;
pub use turns::Turns;

/// The form of the relations, see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Form {
    /// The whole group.
    Full,
    /// Factors of the hyperbolic CS decomposition.
    Cs,
    /// Layers of Givens rotations and boosts.
    Givens,
    /// Complex numbers, of the scorer of that name.
    Complex,
}

/// One relation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Relation {
    /// R itself.
    Full(RowMat),
    /// Its factors.
    Cs(CsFactors),
    /// Its angles.
    Givens(Givens),
    /// Its complex numbers, real and imaginary parts in turn.
    Complex(Vec<f64>),
}

/// Data that all relations of a model share.
#[derive(Clone, Debug)]
pub struct Group {
    /// J.
    pub j: Signature,
    /// The form of the relations.
    pub form: Form,
    whole: Turns,
    plus: Turns,  // of the p x p factors
    minus: Turns, // of the q x q factors
}

/// Boosts stay below: ‖R‖₂ ≤ e^4.5 = 90. Rounding leaves a residual of about eps·‖R‖₂² (docs/mathematics.md, section
/// 9), and relations of few facts would continue to grow with little effect.
const MU_CAP: f64 = 4.5;

impl Group {
    /// The relations of this form for J = diag(1, …, 1, −1, …, −1) with p ones among n.
    ///
    /// # Errors
    /// p > n.
    pub fn new(form: Form, p: usize, n: usize) -> crate::Result<Self> {
        let j = Signature::leading(p, n)?;
        let definite = |k: usize| Signature::leading(k, k);
        let (plus, minus) = (Turns::new(&definite(p)?), Turns::new(&definite(n - p)?));
        Ok(Self { whole: Turns::new(&j), plus, minus, j, form })
    }

    /// Number of coordinates that move a relation.
    pub fn coordinates(&self) -> usize {
        let (p, q) = (self.j.plus().len(), self.j.minus().len());
        match self.form {
            Form::Full => self.whole.len(),
            Form::Cs => 2 * (self.plus.len() + self.minus.len()) + p.min(q),
            Form::Givens => Givens::coordinates(p, q),
            Form::Complex => p + q,
        }
    }

    /// Which coordinates are boosts, in the order of [`gradient`](Self::gradient).
    fn boosts(&self) -> Vec<bool> {
        let (p, q) = (self.j.plus().len(), self.j.minus().len());
        let count = p.min(q);
        match self.form {
            Form::Full => self.whole.boosts().collect(),
            Form::Cs => (0..self.coordinates()).map(|c| c + count >= self.coordinates()).collect(),
            Form::Complex => vec![false; self.coordinates()],
            Form::Givens => {
                (0..self.coordinates()).map(|c| (p / 2 + q / 2..p / 2 + q / 2 + count).contains(&c)).collect()
            }
        }
    }

    /// A random relation, up to `size` radians away from the identity in every plane, a hundredth of that in
    /// hyperbolic ones: many boosts would carry points far away from where they begin. Angles of `givens` are up to π
    /// times as large: a plane has one turn (of each layer) where a row of the others has n − 1, which add up to any
    /// angle. Relations that are their own inverse need π, and do not find it from 1.
    pub fn random(&self, size: f64, rng: &mut Pcg64) -> Relation {
        let n = self.j.len();
        let identity = |k: usize| RowMat::from_fn(k, k, |a, b| f64::from(u8::from(a == b)));
        let (p, q) = (self.j.plus().len(), self.j.minus().len());
        let mut relation = match self.form {
            Form::Full => Relation::Full(identity(n)),
            Form::Cs => Relation::Cs(CsFactors {
                u1: identity(p),
                u2: identity(q),
                v1: identity(p),
                v2: identity(q),
                mu: vec![0.0; p.min(q)],
            }),
            Form::Givens => Relation::Givens(Givens::identity(p, q)),
            Form::Complex => Relation::Complex(vec![0.0; n]),
        };
        let turn = if self.form == Form::Givens { std::f64::consts::PI } else { 1.0 };
        let mut angle =
            |boost: bool| size * if boost { 0.01 } else { turn } * (2.0 * rng.random::<f64>() - 1.0);
        let mut step: Vec<f64> = self.boosts().into_iter().map(&mut angle).collect();
        self.advance(&mut relation, &mut step);
        relation
    }

    /// R. Cost O(n²), of `cs` O(n³).
    pub fn matrix(&self, relation: &Relation) -> RowMat {
        match relation {
            Relation::Full(r) => r.clone(),
            Relation::Cs(factors) => factors.compose(&self.j),
            Relation::Givens(givens) => givens.compose(&self.j),
            Relation::Complex(_) => planes::matrix(&self.turn(relation), self.j.len()),
        }
    }

    /// The gradient with respect to the coordinates from G = ∂L/∂R. Cost O(n³).
    pub fn gradient(&self, relation: &Relation, g: &RowMat) -> Vec<f64> {
        match relation {
            Relation::Full(r) => self.whole.slopes(g, r),
            Relation::Givens(givens) => givens.gradient(&self.j, g),
            Relation::Complex(w) => planes::complex_gradient(w.len(), g),
            Relation::Cs(factors) => {
                let d = cs_gradient(factors, g, &self.j);
                let mut out = self.plus.slopes(&d.u1, &factors.u1);
                out.extend(self.minus.slopes(&d.u2, &factors.u2));
                out.extend(self.plus.slopes(&d.v1, &factors.v1));
                out.extend(self.minus.slopes(&d.v2, &factors.v2));
                out.extend(d.mu);
                out
            }
        }
    }

    /// Moves a relation along its coordinates. Cost O(n³), of `givens` O(n).
    pub fn advance(&self, relation: &mut Relation, step: &mut [f64]) {
        match relation {
            Relation::Full(r) => self.whole.apply(step, r),
            Relation::Givens(givens) => givens.advance(step),
            Relation::Complex(w) => w.iter_mut().zip(step).for_each(|(w, step)| *w += *step),
            Relation::Cs(factors) => {
                let (k, l) = (self.plus.len(), self.minus.len());
                self.plus.apply(&mut step[..k], &mut factors.u1);
                self.minus.apply(&mut step[k..k + l], &mut factors.u2);
                self.plus.apply(&mut step[k + l..2 * k + l], &mut factors.v1);
                self.minus.apply(&mut step[2 * k + l..2 * (k + l)], &mut factors.v2);
                let moved = factors.mu.iter_mut().zip(&step[2 * (k + l)..]);
                moved.for_each(|(mu, step)| *mu = (*mu + step).clamp(-MU_CAP, MU_CAP));
            }
        }
    }

    /// Cuts the boosts of a full relation that have grown too large (the others' are cut at every step); whether
    /// there were any. Cost O(n²), where there are O(n³).
    pub fn tame(&self, relation: &mut Relation) -> bool {
        let Relation::Full(r) = relation else { return false };
        if self.j.is_definite() || spectral_norm(r) <= MU_CAP.exp() {
            return false;
        }
        let Some(mut factors) = CsFactors::decompose(r, &self.j) else { return false };
        factors.mu.iter_mut().for_each(|mu| *mu = mu.min(MU_CAP));
        *r = factors.compose(&self.j);
        true
    }

    /// Takes rounding out of a relation; whether that was possible. Cost O(n³).
    pub fn repair(&self, relation: &mut Relation) -> bool {
        let orthogonal =
            |u: &mut RowMat| Signature::leading(u.nrows(), u.nrows()).is_ok_and(|j| repair(u, &j).is_some());
        match relation {
            Relation::Full(r) => repair(r, &self.j).is_some(),
            Relation::Cs(f) => [&mut f.u1, &mut f.u2, &mut f.v1, &mut f.v2].into_iter().all(orthogonal),
            Relation::Givens(_) | Relation::Complex(_) => false,
        }
    }

    /// The numbers that a relation is made of, for files.
    pub(crate) fn numbers(&self, relation: &Relation) -> Vec<f64> {
        match relation {
            Relation::Full(r) => r.data().to_vec(),
            Relation::Cs(f) => [f.u1.data(), f.u2.data(), f.v1.data(), f.v2.data(), &f.mu].concat(),
            Relation::Givens(g) => [&g.first[..], &g.boosts, &g.last].concat(),
            Relation::Complex(w) => w.clone(),
        }
    }

    /// Number of the numbers that a relation is made of.
    pub(crate) fn count(&self) -> usize {
        let (n, p) = (self.j.len(), self.j.plus().len());
        match self.form {
            Form::Full => n * n,
            Form::Cs => 2 * (p * p + (n - p) * (n - p)) + p.min(n - p),
            Form::Givens => Givens::coordinates(p, n - p),
            Form::Complex => n,
        }
    }

    /// The relation of such numbers.
    pub(crate) fn of_numbers(&self, numbers: &[f64]) -> Relation {
        let (n, p) = (self.j.len(), self.j.plus().len());
        let q = n - p;
        let mut rest = numbers;
        let mut take = |count: usize| {
            let (part, left) = rest.split_at(count.min(rest.len()));
            rest = left;
            part.to_vec()
        };
        let mut square = |k: usize| {
            let data = take(k * k);
            RowMat::from_fn(k, k, |a, b| data.get(a * k + b).copied().unwrap_or(f64::NAN))
        };
        match self.form {
            Form::Full => Relation::Full(square(n)),
            Form::Cs => {
                let (u1, u2, v1, v2) = (square(p), square(q), square(p), square(q));
                Relation::Cs(CsFactors { u1, u2, v1, v2, mu: take(p.min(q)) })
            }
            Form::Givens => {
                let layer = p / 2 + q / 2;
                Relation::Givens(Givens { first: take(layer), boosts: take(p.min(q)), last: take(layer) })
            }
            Form::Complex => Relation::Complex(take(n)),
        }
    }

    /// True if the relation has the form of this group.
    pub(crate) fn has(&self, relation: &Relation) -> bool {
        let form = match relation {
            Relation::Full(_) => Form::Full,
            Relation::Cs(_) => Form::Cs,
            Relation::Givens(_) => Form::Givens,
            Relation::Complex(_) => Form::Complex,
        };
        form == self.form
    }

    /// max |RᵀJR − J|, infinite where R has entries that are no numbers.
    pub fn residual(&self, r: &RowMat) -> f64 {
        let larger = |m: f64, v: &f64| if v.is_nan() { f64::INFINITY } else { m.max(v.abs()) };
        residual(r, &self.j).data().iter().fold(0.0, larger)
    }

    /// [`Group::residual`] of a relation, in O(n) if it acts on planes; 0 for complex numbers, which are not
    /// J-orthogonal.
    pub(crate) fn residual_of(&self, relation: &Relation) -> f64 {
        match relation {
            Relation::Givens(givens) => planes::residual(givens, &self.j),
            Relation::Complex(_) => 0.0,
            Relation::Full(r) => self.residual(r),
            Relation::Cs(_) => self.residual(&self.matrix(relation)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn boosts_are_cut() {
        let group = Group::new(Form::Full, 3, 5).unwrap();
        let factors = |mu: f64| {
            let mut rng = Pcg64::seed_from_u64(2);
            let square = |k: usize, rng: &mut Pcg64| orthopt_core::constraint::stiefel::random(k, k, rng);
            let (u1, u2, v1, v2) =
                (square(3, &mut rng), square(2, &mut rng), square(3, &mut rng), square(2, &mut rng));
            CsFactors { u1, u2, v1, v2, mu: vec![mu, 0.3] }
        };
        let mut relation = Relation::Full(factors(6.0).compose(&group.j));
        assert!(group.tame(&mut relation) && !group.tame(&mut relation));
        let (found, expected) = (group.matrix(&relation), factors(MU_CAP).compose(&group.j));
        let error = RowMat::from_fn(5, 5, |i, k| found.get(i, k) - expected.get(i, k)).norm();
        assert!(error < 1e-8, "{error}");
        assert!(group.residual(&found) < 1e-11);
    }

    #[test]
    fn first_angles_of_givens_go_all_the_way_round() {
        let group = Group::new(Form::Givens, 16, 17).unwrap();
        let mut rng = Pcg64::seed_from_u64(5);
        let Relation::Givens(g) = group.random(1.0, &mut rng) else { unreachable!() };
        let largest = g.first.iter().chain(&g.last).fold(0.0f64, |m, a| m.max(a.abs()));
        assert!(largest > 2.5 && largest <= std::f64::consts::PI, "{largest}");
        assert!(g.boosts.iter().all(|mu| mu.abs() <= 0.01));
    }

    /// Σ G∘R along every coordinate, and the group.
    #[test]
    fn gradients_are_those_of_differences_and_steps_stay_on_the_group() {
        for form in [Form::Full, Form::Cs, Form::Givens] {
            for (n, p) in [(5, 3), (5, 1), (4, 4), (3, 0), (6, 3), (7, 4)] {
                let group = Group::new(form, p, n).unwrap();
                let mut rng = Pcg64::seed_from_u64(3);
                let mut relation = group.random(0.7, &mut rng);
                let g = RowMat::from_fn(n, n, |i, k| ((3 * i + 7 * k) as f64).sin());
                let slopes = group.gradient(&relation, &g);
                assert_eq!(slopes.len(), group.coordinates());
                for c in 0..slopes.len() {
                    let at = |h: f64| {
                        let mut moved = relation.clone();
                        let mut step = vec![0.0; slopes.len()];
                        step[c] = h;
                        group.advance(&mut moved, &mut step);
                        g.inner(&group.matrix(&moved))
                    };
                    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let error = (difference - slopes[c]).abs();
                    assert!(error < 1e-8, "{form:?} {n} {p} {c}: {difference} {}", slopes[c]);
                }
                for _ in 0..200 {
                    let mut step: Vec<f64> =
                        (0..slopes.len()).map(|_| 0.1 * (rng.random::<f64>() - 0.5)).collect();
                    group.advance(&mut relation, &mut step);
                }
                assert!(group.residual(&group.matrix(&relation)) < 1e-12, "{form:?} {n} {p}");
            }
        }
    }
}
