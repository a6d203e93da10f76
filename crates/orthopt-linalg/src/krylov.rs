//! Leading eigenpairs of a symmetric operator, dense for small n, Krylov–Schur (faer) otherwise.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::LinOp;
use faer::matrix_free::eigen::{
    PartialEigenParams, partial_self_adjoint_eigen, partial_self_adjoint_eigen_scratch,
};
use faer::{Mat, MatMut, MatRef, Par};

use super::RowMat;
use super::order::descending_to;
use super::small::symmetric_eigen;
use super::unit::power_of_two;
use crate::cancel::Cancel;
use crate::error::{Error, Result};

/// A symmetric n × n operator given by its product with n × k matrices.
pub struct Operator<'a> {
    /// n.
    pub n: usize,
    /// V ↦ operator · V.
    pub apply: &'a (dyn Fn(&RowMat) -> RowMat + Sync),
}

impl std::fmt::Debug for Operator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Operator({})", self.n)
    }
}

impl LinOp<f64> for Operator<'_> {
    fn apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }
    fn nrows(&self) -> usize {
        self.n
    }
    fn ncols(&self) -> usize {
        self.n
    }
    fn apply(&self, mut out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, _: Par, _: &mut MemStack) {
        let y = (self.apply)(&RowMat::from_mat(rhs));
        for j in 0..out.ncols() {
            for i in 0..out.nrows() {
                out[(i, j)] = y.get(i, j);
            }
        }
    }
    fn conj_apply(&self, out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, rhs, par, stack);
    }
}

/// Below this n, or for a good part of all eigenvectors, a dense decomposition is used.
const DENSE: usize = 1024;

/// The r eigenpairs of largest |eigenvalue|: values, and vectors as columns (n × r). The vectors
/// of eigenvalues that did not converge may be zero or inexact.
///
/// # Errors
/// The dense routine does not converge, or the work is cancelled ([`Cancel::during`]).
pub fn leading(op: &Operator<'_>, r: usize) -> Result<(Vec<f64>, RowMat)> {
    if op.n <= DENSE || 4 * r >= op.n { dense(op, r) } else { left_where_over(op, r) }
}

/// The iteration is faer's and asks no clock, so a cancelled product unwinds through it.
fn left_where_over(op: &Operator<'_>, r: usize) -> Result<(Vec<f64>, RowMat)> {
    struct Over;
    let Some(cancel) = Cancel::current() else { return Ok(krylov(op, r)) };
    let apply = |v: &RowMat| {
        if cancel.is_over() {
            resume_unwind(Box::new(Over));
        }
        (op.apply)(v)
    };
    match catch_unwind(AssertUnwindSafe(|| krylov(&Operator { n: op.n, apply: &apply }, r))) {
        Ok(found) => Ok(found),
        Err(why) if why.is::<Over>() => Err(Error::Factorisation("the eigenvalue decomposition")),
        Err(why) => resume_unwind(why),
    }
}

fn dense(op: &Operator<'_>, r: usize) -> Result<(Vec<f64>, RowMat)> {
    let n = op.n;
    let m = (op.apply)(&RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j))));
    let (values, vectors) =
        symmetric_eigen(&m).ok_or(Error::Factorisation("the eigenvalue decomposition"))?;
    let order = descending_to(n, &|k| values[k].abs());
    Ok((
        order[..r].iter().map(|k| values[*k]).collect(),
        RowMat::from_fn(n, r, |i, k| vectors.get(i, order[k])),
    ))
}

fn krylov(op: &Operator<'_>, r: usize) -> (Vec<f64>, RowMat) {
    let n = op.n;
    let v0 = Mat::from_fn(n, 1, |i, _| 1.0 + 0.5 * ((i as f64 + 1.0) * 0.754_877).fract());
    let v0 = &v0 * faer::Scale(1.0 / v0.norm_l2());
    // faer's iteration does not end when it starts from an eigenvector (a multiple of I, zero)
    let start = RowMat::from_mat(v0.as_ref());
    let mut residual = (op.apply)(&start);
    let (length, value) = (residual.norm(), residual.inner(&start));
    residual.data_mut().iter_mut().zip(start.data()).for_each(|(w, v)| *w -= value * v);
    if residual.norm() <= 1e-10 * length {
        return (vec![value; r], RowMat::from_fn(n, r, |i, k| if k == 0 { start.get(i, 0) } else { 0.0 }));
    }
    // in a unit that is near its values: the routine has absolute thresholds
    let unit = power_of_two(length);
    let apply = |v: &RowMat| {
        let mut out = (op.apply)(v);
        out.data_mut().iter_mut().for_each(|v| *v /= unit);
        out
    };
    let op = &Operator { n, apply: &apply };
    let params = PartialEigenParams { max_restarts: 200, ..Default::default() };
    let (mut vectors, mut values) = (Mat::<f64>::zeros(n, r), vec![0.0; r]);
    let mut memory = MemBuffer::new(partial_self_adjoint_eigen_scratch(op, r, Par::Seq, params));
    let info = partial_self_adjoint_eigen(
        vectors.as_mut(),
        &mut values,
        op,
        v0.col(0),
        1e-10,
        Par::Seq,
        MemStack::new(&mut memory),
        params,
    );
    if info.n_converged_eigen < r {
        tracing::debug!("{} of {r} eigenvectors converged to 1e-10", info.n_converged_eigen);
    }
    values.iter_mut().for_each(|v| *v *= unit);
    (values, RowMat::from_mat(vectors.as_ref()))
}
