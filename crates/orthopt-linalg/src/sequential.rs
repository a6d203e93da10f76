//! faer's factorisations on one thread.
//!
//! Their high-level interfaces take the global number of threads, and the bits of the result may
//! depend on it. These call the routines below them on the calling thread. Waiting for
//! another thread can take longer than a small factorisation on a busy machine.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::{llt, llt_pivoting};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::lu::partial_pivoting as lu;
use faer::linalg::qr::no_pivoting::factor as qr_factor;
use faer::linalg::svd::{ComputeSvdVectors, svd as faer_svd, svd_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::perm::permute_rows_in_place;
use faer::{Conj, Mat, MatRef, Par};

use super::long::or_cancelled;
use super::unit::power_of_two;
use super::work::count;

/// A = U·diag(σ)·Vᵀ with σ descending.
#[derive(Debug)]
pub struct Svd {
    /// U: m × m, or m × min(m, n) of a thin one.
    pub u: Mat<f64>,
    /// σ.
    pub sigma: Vec<f64>,
    /// V: n × n, or n × min(m, n) of a thin one.
    pub v: Mat<f64>,
}

/// The singular value decomposition of A, `thin` or whole; `None` where A is not finite, with which the
/// routine would not end, if it does not converge, or if it takes long and it is cancelled (`linalg/long.rs`).
pub fn svd(a: MatRef<'_, f64>, thin: bool) -> Option<Svd> {
    let (m, n) = a.shape();
    let size = m.min(n);
    if !a.is_all_finite() {
        return None;
    }
    // in a unit that is near its entries: the routine has absolute thresholds
    let unit = power_of_two(a.norm_max());
    let a = Mat::from_fn(m, n, |i, j| a[(i, j)] / unit);
    let work = 20 * m * n * size;
    count(work);
    let factorise = move || {
        let (wanted, cols) =
            if thin { (ComputeSvdVectors::Thin, (size, size)) } else { (ComputeSvdVectors::Full, (m, n)) };
        let (mut u, mut v) = (Mat::zeros(m, cols.0), Mat::zeros(n, cols.1));
        let mut sigma = Diag::<f64>::zeros(size);
        let scratch = svd_scratch::<f64>(m, n, wanted, wanted, Par::Seq, Default::default());
        with_memory(scratch, |stack| {
            let (u, v) = (Some(u.as_mut()), Some(v.as_mut()));
            faer_svd(a.as_ref(), sigma.as_mut(), u, v, Par::Seq, stack, Default::default())
        })
        .ok()?;
        let sigma = (0..size).map(|k| sigma.column_vector()[k] * unit).collect();
        Some(Svd { u, sigma, v })
    };
    or_cancelled(work, factorise)?
}

/// Q (m × n, orthonormal columns) and the diagonal of R in A = QR, m ≥ n, by Householder reflections.
pub fn qr(a: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
    let (m, n) = a.shape();
    let (factored, coefficients) = reflected(a);
    let diagonal = (0..n).map(|k| factored[(k, k)]).collect();
    let mut q = Mat::from_fn(m, n, |i, k| f64::from(u8::from(i == k)));
    let block = coefficients.nrows();
    let scratch = apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(m, block, n);
    with_memory(scratch, |stack| {
        let (basis, factor) = (factored.as_ref(), coefficients.as_ref());
        apply_block_householder_sequence_on_the_left_in_place_with_conj(
            basis,
            factor,
            Conj::No,
            q.as_mut(),
            Par::Seq,
            stack,
        );
    });
    (q, diagonal)
}

/// R (n × n, upper triangular) in A = QR, m ≥ n.
pub fn triangle(a: MatRef<'_, f64>) -> Mat<f64> {
    let (factored, _) = reflected(a);
    Mat::from_fn(a.ncols(), a.ncols(), |i, j| if i <= j { factored[(i, j)] } else { 0.0 })
}

/// R above and the reflections below the diagonal, and their coefficients.
fn reflected(a: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let (m, n) = a.shape();
    count(4 * m * n * n);
    let block = qr_factor::recommended_block_size::<f64>(m, n);
    let (mut factored, mut coefficients) = (a.to_owned(), Mat::zeros(block, n));
    let scratch = qr_factor::qr_in_place_scratch::<f64>(m, n, block, Par::Seq, Default::default());
    with_memory(scratch, |stack| {
        let (a, q) = (factored.as_mut(), coefficients.as_mut());
        qr_factor::qr_in_place(a, q, Par::Seq, stack, Default::default());
    });
    (factored, coefficients)
}

/// L (n × rank, lower trapezoidal) and the order of the rows with A(order, order) = LLᵀ, the largest pivot first, for a positive
/// semidefinite A (finite, its lower triangle is read); pivots below n·ε of the largest entry of the diagonal are zero.
pub fn pivoted_cholesky(a: MatRef<'_, f64>) -> Option<(Mat<f64>, Vec<usize>)> {
    let n = a.nrows();
    count(n * n * n / 3);
    let mut l = a.to_owned();
    let (mut order, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let scratch =
        llt_pivoting::factor::cholesky_in_place_scratch::<usize, f64>(n, Par::Seq, Default::default());
    let rank = with_memory(scratch, |stack| {
        let (order, inverse) = (&mut order[..], &mut inverse[..]);
        let l = l.as_mut();
        llt_pivoting::factor::cholesky_in_place(l, order, inverse, Par::Seq, stack, Default::default())
            .map(|(info, _)| info.rank)
    })
    .ok()?;
    Some((Mat::from_fn(n, rank, |i, j| if i >= j { l[(i, j)] } else { 0.0 }), order))
}

/// The lower triangular L with A = LLᵀ; `None` unless A (finite, its lower triangle is read) is positive
/// definite, or if it is long and cancelled (`linalg/long.rs`).
pub fn cholesky(a: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let n = a.nrows();
    let work = n * n * n / 3;
    count(work);
    let mut l = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { 0.0 });
    let factorise = move || {
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        with_memory(scratch, |stack| {
            let (l, regularisation) = (l.as_mut(), Default::default());
            llt::factor::cholesky_in_place(l, regularisation, Par::Seq, stack, Default::default())
        })
        .ok()?;
        // the routine leaves arbitrary numbers above the diagonal
        (0..n).for_each(|j| (0..j).for_each(|i| l[(i, j)] = 0.0));
        Some(l)
    };
    or_cancelled(work, factorise)?
}

/// A⁻¹B from the L of [`cholesky`].
pub fn cholesky_solve(l: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut x = b.to_owned();
    solve_lower_triangular_in_place(l, x.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(l.transpose(), x.as_mut(), Par::Seq);
    x
}

/// A⁻¹B by LU with partial pivoting, for a finite square A.
pub fn lu_solve(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let n = a.nrows();
    count(n * n * n);
    let (mut factors, mut x) = (a.to_owned(), b.to_owned());
    let (mut order, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let scratch = StackReq::any_of(&[
        lu::factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default()),
        faer::perm::permute_rows_in_place_scratch::<usize, f64>(n, b.ncols()),
    ]);
    with_memory(scratch, |stack| {
        let a = factors.as_mut();
        let (_, rows) =
            lu::factor::lu_in_place(a, &mut order, &mut inverse, Par::Seq, stack, Default::default());
        permute_rows_in_place(x.as_mut(), rows, stack);
    });
    solve_unit_lower_triangular_in_place(factors.as_ref(), x.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factors.as_ref(), x.as_mut(), Par::Seq);
    x
}

fn with_memory<R>(scratch: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    work(MemStack::new(&mut MemBuffer::new(scratch)))
}
