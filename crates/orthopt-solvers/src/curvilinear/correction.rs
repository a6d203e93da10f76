//! The multiplier correction step of FOForth (Gao, Liu, Chen & Yuan 2018, section 2).

use rand::SeedableRng;
use rand_pcg::Pcg64;

use orthopt_core::constraint::stiefel;
use orthopt_core::smooth::Smooth;
use orthopt_linalg::RowMat;
use orthopt_linalg::products::{cross, multiply, product};
use orthopt_linalg::sequential::svd;

/// E of f(X) = g(X) + ⟨E, X⟩ with a g that does not change when X is multiplied by an orthogonal
/// matrix from the right, as the multiplier correction asks for: ∇g(0) = 0 then, so E = ∇f(0), and
/// the rest is tried with a random matrix. `None` where there is no E or g is not of that kind.
pub(super) fn linear_term(f: &impl Smooth, x: &RowMat) -> Option<RowMat> {
    let (n, r) = (x.nrows(), x.ncols());
    let mut e = RowMat::zeros(n, r);
    f.gradient(&RowMat::zeros(n, r), &mut e);
    if e.data().iter().all(|v| *v == 0.0) || e.find_non_finite().is_some() {
        return None;
    }
    let q = stiefel::random(r, r, &mut Pcg64::seed_from_u64(0x51));
    let turned = multiply(x.as_mat(), q.as_mat());
    let (here, there) = (f.value(x), f.value(&turned));
    let change = (there - e.inner(&turned)) - (here - e.inner(x));
    (change.abs() <= 1e-10 * (f.scale(x) + here.abs() + there.abs())).then_some(e)
}

/// The multiplier correction step: X ← −XUVᵀ for the SVD XᵀE = UΣVᵀ, the rotation of X with the
/// lowest ⟨E, X⟩. It makes XᵀG symmetric.
pub(super) fn corrected(x: RowMat, e: &RowMat) -> RowMat {
    let xte = cross(&x, e);
    let Some(svd) = svd(xte.as_mat(), false) else { return x };
    let turn = svd.u * svd.v.transpose();
    let mut out = RowMat::zeros(x.nrows(), x.ncols());
    product(&mut out, false, -1.0, x.as_mat(), turn.as_ref());
    out
}
