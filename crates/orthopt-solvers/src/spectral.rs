//! The optimum of plain PCA: min −½ tr(XᵀCX) over XᵀX = I, whose solutions are the bases of the span
//! of the r leading eigenvectors of C (Ky Fan), with the minimum −½ Σ θₖ.
//!
//! If one side of the data is small, a small matrix is decomposed: AAᵀ (m × m) for wide A, C itself for few variables
//! (docs/mathematics.md, section 15). Otherwise a block Krylov iteration on C (`linalg::block_krylov`) starts from X⁰
//! and a random matrix together: X⁰ alone may span an invariant subspace, which the iteration would not leave. An
//! iteration is a block step; the last one measures ‖CX − XΘ‖ in either case. Only products with C are used, so sparse
//! and centred data stay as they are.
//!
//! With weights of columns, min −½ tr(XᵀCXD), the solution is the eigenvectors themselves in the order of their weights: −½ tr(XᵀCXD)
//! is at least −½ Σ λ↓(C)·λ↓(D, padded with zeros) (von Neumann), so that positive weights have the leading eigenvectors, the largest
//! weight the first, and negative ones the last. With negative weights C is decomposed whole.

use crate::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use orthopt_core::problem::PcaProblem;
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::info::SolverInfo;
use orthopt_linalg::block_krylov::{BlockKrylov, Found, most_columns};
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::long::is_left;
use orthopt_linalg::order::descending_to;
use orthopt_linalg::products::{gram, multiply};
use orthopt_linalg::unit::power_of_two;
use orthopt_linalg::work;

/// Entry of the registry.
pub const INFO: SolverInfo = SolverInfo {
    name: "spectral",
    doc: "leading eigenvectors of C to rounding by block Krylov iteration; the global optimum",
    constants: &[],
    shared: &[],
    handles: &|p: &PcaProblem| suits(p),
    scope: SCOPE,
    make: &|o| Ok(AnySolver::new(Spectral { seed: o.seed })),
};

const SCOPE: &str = "problems without a penalty and without a linear term (pca, brockett)";

/// True if the solutions of `p` are eigenvectors.
pub fn suits<F: Quadratic, H: Nonsmooth>(p: &Problem<Stiefel, F, H>) -> bool {
    p.h.is_zero() && (p.f.ncols().is_none() || p.f.column_weights().is_some())
}

/// The solver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spectral {
    /// Seed of the random part of the first block.
    pub seed: u64,
}

/// ‖CX − XΘ‖_F relative to the largest |θ| at which X is exact: a few hundred roundings.
const EXACT: f64 = 1e-12;
/// Block steps after which the iteration is given up: restarts that never converged.
const MOST_STEPS: u64 = 20_000;
/// Rows up to which a symmetric matrix is decomposed whole.
const DENSE: usize = 96;
/// Rows of A up to which AAᵀ is formed, and entries of AAᵀ for every column of A up to which decomposing
/// it costs less than sixty products with C.
const SMALL_SIDE: (usize, usize) = (512, 13);
/// θᵣ/θ₁ below which eigenvectors of AAᵀ are too inexact for those of AᵀA.
const SQUARED: f64 = 1e-7;
/// Multiplications for which the optimum is computed by the way.
const BY_THE_WAY: u64 = 200_000_000;

/// State of the solver.
#[derive(Clone, Debug)]
pub struct State {
    krylov: BlockKrylov,
    unit: f64, // a power of two that C is divided by
    way: &'static str,
    x: RowMat,   // X⁰, the Ritz vectors of the last restart, or those of the end
    value: f64,  // f(X)
    fresh: bool, // whether there are later Ritz vectors than X
    residual: Option<f64>,
    steps: u64,
    ended: Option<(Status, &'static str)>,
}

impl<F: Quadratic, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Spectral {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        if !suits(p) {
            return Err(Error::Incompatible(format!("solver {} is for {SCOPE}", INFO.name).into()));
        }
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        if p.f.column_weights().is_some_and(|d| d.iter().any(|d| *d < 0.0)) {
            return Ok(State::decomposed(&p.f, x0));
        }
        let (first, way) = first_block(&p.f, &x0, self.seed).ok_or(Error::Factorisation(FIRST))?;
        Ok(State {
            krylov: BlockKrylov::new(&first, p.rank()),
            unit: power_of_two(p.f.scale(&x0)),
            way,
            value: p.f.value(&x0),
            x: x0,
            fresh: false,
            residual: None,
            steps: 0,
            ended: None,
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        if st.ended.is_none() {
            st.advance(&p.f);
        }
        // a residual is for the end: the run is not over where it is merely small
        Step::ended(st.ended).with_residual(st.residual.filter(|_| st.ended.is_some()))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.x, st.value)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, mut st: State) -> Ending {
        let mut details = Details::default();
        details.set("decomposed", st.way);
        if let Some(residual) = st.residual {
            details.set("residual", residual);
        }
        st.take_ritz_vectors(p.f.column_weights());
        stiefel::repair_on_support(&mut st.x);
        Ending::new(st.x, details)
    }
}

impl State {
    /// One block step.
    fn advance(&mut self, f: &impl Quadratic) {
        self.steps += 1;
        match self.krylov.step(|b| in_units(f, self.unit, b)) {
            Found::Nothing => {}
            Found::Broken => self.value = f64::NAN,
            Found::Residual(residual) => {
                self.fresh = true;
                self.residual = Some(residual);
                if residual <= EXACT {
                    self.ended =
                        Some((Status::Converged, "the leading eigenvectors to rounding: the global optimum"));
                } else if self.steps >= MOST_STEPS {
                    self.ended =
                        Some((Status::Stalled, "the leading eigenvalues are too close to each other"));
                }
                // else a product that the iteration does not need
                if self.ended.is_some() || self.krylov.is_full() {
                    self.take_ritz_vectors(f.column_weights());
                }
            }
        }
    }

    fn take_ritz_vectors(&mut self, weights: Option<&[f64]>) {
        if std::mem::take(&mut self.fresh)
            && let Some((values, x)) = self.krylov.leading()
        {
            (self.x, self.value) = match weights {
                None => (x, -0.5 * values.iter().sum::<f64>() * self.unit),
                Some(d) => placed(&values, &x, d, self.unit),
            };
        }
    }
}

impl State {
    /// All eigenvectors at once; X⁰ where they could not be had.
    fn decomposed(f: &impl Quadratic, x0: RowMat) -> Self {
        let d = f.column_weights().unwrap_or_default();
        let unit = power_of_two(f.scale(&x0));
        let krylov = BlockKrylov::new(&x0, x0.ncols());
        let way = "C";
        let (x, value, residual) = match whole(f, unit) {
            Some((values, vectors)) => {
                let (x, value) = placed(&values, &vectors, d, unit);
                let largest = values.iter().fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
                let off = off_eigenvectors(&in_units(f, unit, &x), &x);
                (x, value, Some(off / largest))
            }
            None => (x0.clone(), f.value(&x0), None),
        };
        let ended = match residual {
            Some(residual) if residual <= EXACT => {
                (Status::Converged, "the eigenvectors of C in their order: the global optimum")
            }
            Some(_) => (Status::Stalled, "the eigenvectors of C to less than rounding"),
            None => (Status::Stalled, "the eigenvalue decomposition of C failed"),
        };
        Self { krylov, unit, way, x, value, fresh: false, residual, steps: 0, ended: Some(ended) }
    }
}

/// ‖CX − X Diag(XᵀCX)‖_F of CX and X with unit columns.
fn off_eigenvectors(cx: &RowMat, x: &RowMat) -> f64 {
    let theta = |k: usize| (0..x.nrows()).map(|i| x.get(i, k) * cx.get(i, k)).sum::<f64>();
    let values: Vec<f64> = (0..x.ncols()).map(theta).collect();
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| cx.get(i, k) - values[k] * x.get(i, k)).norm()
}

/// All eigenvalues of C, the largest first, divided by `unit`, and their vectors.
fn whole(f: &impl Quadratic, unit: f64) -> Option<(Vec<f64>, RowMat)> {
    symmetric_eigenpairs(&in_units(f, unit, &identity(f.nrows())))
}

/// The eigenvectors that weights have, and −½ Σ dₖθₖ: the largest positive weight the first of `vectors`, the most negative one
/// the last. Where no weight is negative, the leading ones will do.
pub(crate) fn placed(values: &[f64], vectors: &RowMat, d: &[f64], unit: f64) -> (RowMat, f64) {
    let order = descending_to(d.len(), &|k| d[k]);
    let not_negative = d.iter().filter(|d| **d >= 0.0).count();
    let mut eigenvector = vec![0; d.len()];
    for (place, k) in order.into_iter().enumerate() {
        eigenvector[k] = if place < not_negative { place } else { values.len() - d.len() + place };
    }
    let x = RowMat::from_fn(vectors.nrows(), d.len(), |i, k| vectors.get(i, eigenvector[k]));
    let sum: f64 = d.iter().zip(&eigenvector).map(|(d, e)| d * values[*e]).sum();
    (x, -0.5 * sum * unit)
}

/// The eigenvectors of C in the order of the weights of columns, the minimiser of −½ tr(XᵀCXD). `None` where they cannot be had.
pub fn ordered(f: &impl Quadratic, x0: &RowMat) -> Option<RowMat> {
    let d = f.column_weights()?;
    let unit = power_of_two(f.scale(x0));
    let (values, vectors) = whole(f, unit)?;
    Some(placed(&values, &vectors, d, unit).0)
}

/// −½ Σ θₖ where that is a matter of milliseconds; of a problem that [`suits`].
pub fn optimum<F: Quadratic, H: Nonsmooth>(p: &Problem<Stiefel, F, H>) -> Option<f64> {
    if !suits(p) {
        return None;
    }
    let (n, r) = p.shape();
    let x0 = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)));
    let ((), product) = work::counted(|| drop(p.f.apply(&x0)));
    let most = BY_THE_WAY / (product + (4 * n * r * r) as u64).max(1);
    let unit = power_of_two(p.f.scale(&x0));
    let weights = p.f.column_weights();
    if let Some(d) = weights.filter(|d| d.iter().any(|d| *d < 0.0)) {
        let (values, vectors) = ((n as u64).pow(3) <= BY_THE_WAY).then(|| whole(&p.f, unit))??;
        return Some(placed(&values, &vectors, d, unit).1);
    }
    let (first, _) = first_block(&p.f, &x0, 1)?;
    let mut krylov = BlockKrylov::new(&first, r);
    let exact = (0..most).any(
        |_| matches!(krylov.step(|b| in_units(&p.f, unit, b)), Found::Residual(residual) if residual <= EXACT),
    );
    match weights.filter(|_| exact) {
        Some(d) => krylov.leading().map(|(values, vectors)| placed(&values, &vectors, d, unit).1),
        None => krylov.trace().filter(|_| exact).map(|sum| -0.5 * sum * unit),
    }
}

/// Name of the result that is missing if the run is cancelled.
const FIRST: &str = "the decomposition of the first block";

/// The first block (n × r, orthonormal) and what it comes from: eigenvectors already where one side of
/// the problem is small. `None` if it is long and cancelled.
fn first_block(f: &impl Quadratic, x0: &RowMat, seed: u64) -> Option<(RowMat, &'static str)> {
    let (n, r) = (x0.nrows(), x0.ncols());
    let left = || is_left(n * r * r);
    if left() {
        return None;
    }
    if let Some(at) = f.factor().filter(|at| is_small(at.ncols(), n))
        && let Some(x) = by_samples(at, r, seed)
    {
        return Some((x, "AA' of the samples"));
    }
    if left() {
        return None;
    }
    if decomposed_whole(n, r)
        && let Some((_, u)) = symmetric_eigenpairs(&negated(f.apply(&identity(n))))
    {
        return Some((RowMat::from_fn(n, r, |i, k| u.get(i, k)), "C"));
    }
    if left() {
        return None; // the decomposition was, too
    }
    Some((perturbed(x0, seed), "a Krylov space of C"))
}

fn is_small(m: usize, n: usize) -> bool {
    m < n && m <= SMALL_SIDE.0 && m * m <= SMALL_SIDE.1 * n
}

fn decomposed_whole(n: usize, r: usize) -> bool {
    n <= DENSE || 2 * most_columns(n, r) > n
}

/// X⁰ and as much of a random matrix, made orthonormal.
fn perturbed(x0: &RowMat, seed: u64) -> RowMat {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x7370_6563_7472_616c);
    let scale = 1.0 / (x0.nrows().max(1) as f64).sqrt();
    let mixed = RowMat::from_fn(x0.nrows(), x0.ncols(), |i, k| {
        x0.get(i, k) + scale * rng.sample::<f64, _>(StandardNormal)
    });
    stiefel::orthonormalise(&mixed)
}

/// AᵀU for the r leading eigenvectors U of AAᵀ, made orthonormal; `None` where A has not r singular
/// values large enough. `at` is Aᵀ (n × m). Cost 2m²n flops and what the eigenvectors take.
fn by_samples(at: &RowMat, r: usize, seed: u64) -> Option<RowMat> {
    let m = at.ncols();
    if m < r {
        return None;
    }
    let s = gram(at);
    let (values, u) = if decomposed_whole(m, r) {
        let (values, u) = symmetric_eigenpairs(&s)?;
        (values, RowMat::from_fn(m, r, |i, k| u.get(i, k)))
    } else {
        let start = RowMat::from_fn(m, r, |i, k| f64::from(u8::from(i == k)));
        let mut krylov = BlockKrylov::new(&perturbed(&start, seed), r);
        let times = |b: &RowMat| multiply(s.as_mat(), b.as_mat());
        // no more steps than cost as much as those in the large space
        let done = (0..100).any(|_| matches!(krylov.step(times), Found::Residual(x) if x <= 0.1 * EXACT));
        krylov.leading().filter(|_| done)?
    };
    if values[r - 1] <= SQUARED * values[0] {
        return None;
    }
    let x = multiply(at.as_mat(), u.as_mat());
    Some(stiefel::orthonormalise(&x))
}

fn identity(n: usize) -> RowMat {
    RowMat::from_fn(n, n, |i, k| f64::from(u8::from(i == k)))
}

/// CB divided by a power of two near the size of C, whatever that is: B is divided, as CB itself may be no number any more.
fn in_units(f: &impl Quadratic, unit: f64, b: &RowMat) -> RowMat {
    negated(f.apply(&RowMat::from_fn(b.nrows(), b.ncols(), |i, k| b.get(i, k) / unit)))
}

fn negated(mut y: RowMat) -> RowMat {
    y.data_mut().iter_mut().for_each(|v| *v = -*v);
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::smooth::DenseQuadratic;
    use orthopt_linalg::cancel::Cancel;

    #[test]
    fn a_large_first_block_is_none_where_nobody_waits() {
        let over = Cancel::never();
        over.cancel();
        for (n, left) in [(6, false), (480, true)] {
            let c = faer::Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + (i as f64 - j as f64).abs()));
            let f = DenseQuadratic::negative(c.as_ref()).unwrap();
            let found = over.during(|| first_block(&f, &identity(n), 1));
            assert_eq!(found.is_none(), left, "{n}");
        }
    }
}
