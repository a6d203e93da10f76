//! An orthonormal X and a sparse copy Y of it, equal in the limit: what the methods that split f and h keep of both.

use super::{Feasible, Progressing, Relative, curvature, distance, feasible_start};
use crate::prelude::*;

/// X and Y with the penalty parameter β, and the best feasible X that was made of both.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    pub x: RowMat,      // orthonormal
    pub y: RowMat,      // sparse
    pub grad: RowMat,   // ∇f
    pub work: RowMat,   // n × r
    pub beta: f64,      // β
    pub lipschitz: f64, // L
    pub relative: Relative,
    pub residual: f64,
    best: Feasible,
    iterations: u64,
    first: f64, // β at the start
    progress: Progressing,
}

impl Copies {
    /// X = Y = X⁰, and β, which is a `share` of L unless given.
    pub fn new<F: Smooth, H: Nonsmooth>(
        p: &Problem<Stiefel, F, H>,
        x0: RowMat,
        beta: Option<f64>,
        share: f64,
    ) -> Result<Self> {
        let x = feasible_start(p, x0)?;
        let lipschitz = curvature(&p.f, &x);
        let beta = beta.unwrap_or(share * lipschitz);
        let zeros = RowMat::zeros(x.nrows(), x.ncols());
        Ok(Self {
            best: Feasible::new(p, &x),
            y: x.clone(),
            x,
            grad: zeros.clone(),
            work: zeros,
            beta,
            lipschitz,
            relative: Relative::default(),
            residual: f64::INFINITY,
            iterations: 0,
            first: beta,
            progress: Progressing::default(),
        })
    }

    /// ℓ: β where f is concave, which its linearisation majorises (on XᵀX = I the term β/2‖X‖² is constant), else L + β.
    pub fn ell(&self, f: &impl Smooth) -> f64 {
        if f.is_concave() { self.beta } else { self.lipschitz + self.beta }
    }

    /// Y ← prox_{h/β}(W), W the n × r `work`; how far Y moves.
    pub fn update_sparse(&mut self, h: &impl Nonsmooth) -> f64 {
        h.prox_rows(self.work.data_mut(), self.x.ncols(), 1.0 / self.beta);
        std::mem::swap(&mut self.y, &mut self.work);
        distance(&self.y, &self.work)
    }

    /// ‖X − Y‖/√r for ‖X − Y‖ = `apart`.
    pub fn primal(&self, apart: f64) -> f64 {
        apart / (self.x.ncols() as f64).sqrt()
    }

    /// β ← ρβ, but at most `most`·L.
    pub fn raise_beta(&mut self, rho: f64, most: f64) {
        let beta = (self.beta * rho).min(most * self.lipschitz).max(self.beta);
        if beta > self.beta {
            self.beta = beta;
            self.progress.restart();
        }
    }

    /// Offers a feasible copy of X and Y where one is due, and says how the method has ended, if it has; copies are rare where only
    /// the end of a run counts.
    pub fn end_iteration<F: Smooth, H: Nonsmooth>(
        &mut self,
        p: &Problem<Stiefel, F, H>,
        rarely: bool,
    ) -> Option<(Status, &'static str)> {
        self.iterations += 1;
        let (best, k) = (&mut self.best, self.iterations);
        let is_due = if rarely { best.is_rarely_due(k) } else { best.is_due(k) };
        if is_due {
            best.offer(p, &self.x, &self.y);
        }
        self.progress.note(self.best.objective, self.residual)
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The best feasible X.
    pub fn current(&self) -> Current<'_> {
        self.best.current(self.residual)
    }

    /// Criticality of the X that [`Copies::finish`] would return.
    pub fn confirmed<F: Smooth, H: Nonsmooth>(&self, p: &Problem<Stiefel, F, H>) -> Option<Confirmed> {
        self.best.confirmed(p, &self.x, &self.y)
    }

    /// The best feasible X; Y is what the papers report.
    pub fn finish<F: Smooth, H: Nonsmooth>(self, p: &Problem<Stiefel, F, H>, mut details: Details) -> Ending {
        details.chosen("beta", self.first);
        details.set("iterations", self.iterations);
        self.best.finish(p, (&self.x, &self.y), &self.y, details)
    }
}
