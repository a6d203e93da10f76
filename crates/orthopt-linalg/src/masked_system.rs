//! The linear systems of Newton's method where only some entries of X may move, the set P: those of
//! the proximal subproblem on the tangent space and of the repair on the support. (J + εI)Δ = −E for
//! symmetric Δ (r × r) and J\[Δ\] = sym(Xᵀ(P ∘ XΔ)); or, where rows Z of XΔ go to (1 − τ)Z + (Z·v)v, v of length √τ.
//!
//! For small r in the r(r+1)/2 coordinates of symmetric matrices by Cholesky, beyond that by
//! conjugate gradients with the diagonal of J, two thin products an iteration.

use super::RowMat;
use super::kernels::inner;
use super::products::{cross, product};
use super::simd::{PAD, Simd, V, WithSimd, dispatch, padded};

/// Largest r for which the system is formed.
const DIRECT: usize = 10;
/// ε is this times ‖E‖, within the limits (Chen et al. 2020, their code).
const REGULARISATION: f64 = 0.2;
const LARGEST: f64 = 0.1;
const LEAST: f64 = 1e-11;

/// The system and its buffers.
#[derive(Clone, Debug)]
pub struct MaskedSystem {
    p: RowMat,         // P, 1 where Y moves with W (n × r); 1 − τ
    v: Option<RowMat>, // v, where rows are shrunk (n × r)
    work: RowMat,      // XΔ or X∘X (n × r)
    pairs: RowMat,     // row i: the products Xᵢₐ·Xᵢᵦ, a ≤ b (n × r(r+1)/2), once they are needed
    paired: bool,      // whether they are those of X
    left: usize,       // steps of conjugate gradients that may still be taken
}

impl MaskedSystem {
    #[doc(hidden)]
    pub fn new(n: usize, r: usize) -> Self {
        let [p, work, pairs] = [(n, r), (n, r), (0, 0)].map(|(n, r)| RowMat::zeros(n, r));
        Self { p, v: None, work, pairs, paired: false, left: usize::MAX }
    }

    /// Limit on the total number of steps of conjugate gradients.
    #[doc(hidden)]
    pub fn within(self, steps: usize) -> Self {
        Self { left: steps, ..self }
    }

    /// True if they are used up.
    #[doc(hidden)]
    pub fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// X has changed.
    #[doc(hidden)]
    pub fn forget(&mut self) {
        self.paired = false;
    }

    /// P, to be filled in.
    #[doc(hidden)]
    pub fn mask(&mut self) -> &mut [f64] {
        self.p.data_mut()
    }

    /// J of the map that shrinks rows to those of Y, τ as a function of their length there; all of a zero row is lost.
    #[doc(hidden)]
    pub fn shrink_rows(&mut self, y: &RowMat, tau: impl Fn(f64) -> f64) {
        let mut v = y.clone();
        for i in 0..y.nrows() {
            let size = inner(y.row(i), y.row(i)).sqrt();
            let (tau, unit) = if size > 0.0 { (tau(size), 1.0 / size) } else { (1.0, 0.0) };
            self.p.row_mut(i).fill(1.0 - tau);
            v.row_mut(i).iter_mut().for_each(|v| *v *= tau.sqrt() * unit);
        }
        self.v = Some(v);
    }

    /// Δ = −(J + εI)⁻¹E.
    #[doc(hidden)]
    pub fn solve(&mut self, x: &RowMat, e: &RowMat, error: f64) -> RowMat {
        let negative = RowMat::from_fn(e.nrows(), e.nrows(), |i, j| -e.get(i, j));
        if self.p.data().iter().all(|v| *v == 1.0) {
            return negative; // J = I
        }
        let epsilon = REGULARISATION * error.clamp(LEAST, LARGEST);
        if x.ncols() <= DIRECT
            && self.v.is_none()
            && let Some(delta) = self.direct(x, &negative, epsilon)
        {
            return delta;
        }
        self.conjugate_gradients(x, &negative, epsilon, error)
    }

    /// In the orthonormal basis E_ab = (e_a e_bᵀ + e_b e_aᵀ)/√2 (a < b), e_a e_aᵀ. With
    /// B_j = Xᵀ diag(P_j) X: ⟨E_cj, J[E_aj]⟩ gets w_a w_c B_j[a, c] from column j, w = 1 on the
    /// diagonal and 1/√2 off it.
    fn direct(&mut self, x: &RowMat, rhs: &RowMat, epsilon: f64) -> Option<RowMat> {
        let r = x.ncols();
        let q = r * (r + 1) / 2;
        if !self.paired {
            products_of_pairs(x, &mut self.pairs);
            self.paired = true;
        }
        let b = cross(&self.pairs, &self.p); // column j: B_j, lower triangle
        let weight = |a: usize, j: usize| if a == j { 1.0 } else { std::f64::consts::FRAC_1_SQRT_2 };
        let mut jacobian = RowMat::zeros(q, padded(q)); // its upper triangle
        for j in 0..r {
            for a in 0..r {
                for c in 0..r {
                    let (k, l) = (position(a, j), position(c, j));
                    if l >= k {
                        let v = jacobian.get(k, l) + weight(a, j) * weight(c, j) * b.get(position(a, c), j);
                        jacobian.set(k, l, v);
                    }
                }
            }
        }
        (0..q).for_each(|k| jacobian.set(k, k, jacobian.get(k, k) + epsilon));
        let mut z = vec![0.0; q];
        for a in 0..r {
            for c in 0..=a {
                z[position(a, c)] = rhs.get(a, c) / weight(a, c);
            }
        }
        // off the diagonal ⟨E_ab, M⟩ = √2·M_ab = M_ab/w, and M_ab = w·z
        dispatch(CholeskySolve { a: &mut jacobian, z: &mut z })
            .then(|| RowMat::from_fn(r, r, |a, c| weight(a, c) * z[position(a, c)]))
    }

    /// Preconditioned conjugate gradients, to a tenth of ‖E‖ far from the solution and ever
    /// closer near it, so that Newton's method keeps its speed.
    fn conjugate_gradients(&mut self, x: &RowMat, rhs: &RowMat, epsilon: f64, error: f64) -> RowMat {
        let r = x.ncols();
        let diagonal = self.diagonal(x, epsilon);
        let divide = |m: &RowMat| RowMat::from_fn(r, r, |i, j| m.get(i, j) / diagonal.get(i, j));
        let target = error * (0.1f64).min(error.sqrt());
        let mut delta = RowMat::zeros(r, r);
        let mut residual = rhs.clone();
        let mut z = divide(&residual);
        let mut direction = z.clone();
        let mut rz = residual.inner(&z);
        for _ in 0..(r * (r + 1) / 2).min(500).min(self.left) {
            self.left -= 1;
            let image = self.apply(x, &direction, epsilon);
            let curvature = direction.inner(&image);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = rz / curvature;
            for k in 0..r * r {
                delta.data_mut()[k] += step * direction.data()[k];
                residual.data_mut()[k] -= step * image.data()[k];
            }
            if residual.norm() <= target {
                break;
            }
            z = divide(&residual);
            let next = residual.inner(&z);
            let beta = next / rz;
            rz = next;
            direction.data_mut().iter_mut().zip(z.data()).for_each(|(d, z)| *d = z + beta * *d);
        }
        delta
    }

    /// (J + εI)[Δ].
    fn apply(&mut self, x: &RowMat, delta: &RowMat, epsilon: f64) -> RowMat {
        product(&mut self.work, false, 1.0, x.as_mat(), delta.as_mat());
        if let Some(v) = &self.v {
            for i in 0..v.nrows() {
                let along = inner(self.work.row(i), v.row(i));
                let share = self.p.get(i, 0);
                self.work.row_mut(i).iter_mut().zip(v.row(i)).for_each(|(w, v)| *w = share * *w + along * v);
            }
        } else {
            let (work, p) = (self.work.data_mut(), self.p.data());
            dispatch(|| work.iter_mut().zip(p).for_each(|(w, p)| *w *= p));
        }
        let m = cross(x, &self.work);
        RowMat::from_fn(x.ncols(), x.ncols(), |i, j| {
            0.5 * (m.get(i, j) + m.get(j, i)) + epsilon * delta.get(i, j)
        })
    }

    /// Entry (a, b): ⟨E_ab, (J + εI)[E_ab]⟩ = ½(B_a[b, b] + B_b[a, a]) + ε; without v, where there is one.
    fn diagonal(&mut self, x: &RowMat, epsilon: f64) -> RowMat {
        let work = self.work.data_mut();
        dispatch(|| work.iter_mut().zip(x.data()).for_each(|(w, x)| *w = x * x));
        let b = cross(&self.work, &self.p); // (a, j): B_j[a, a]
        RowMat::from_fn(x.ncols(), x.ncols(), |i, j| 0.5 * (b.get(i, j) + b.get(j, i)) + epsilon)
    }
}

/// Position of entry (a, b) of a symmetric matrix in the list of its lower triangle.
fn position(a: usize, b: usize) -> usize {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high * (high + 1) / 2 + low
}

/// Row i of `out`: Xᵢₐ·Xᵢᵦ for b ≤ a, in the order of [`position`]. Newton's method asks for them at every
/// X: the memory is kept, and the loops have lengths that are known.
fn products_of_pairs(x: &RowMat, out: &mut RowMat) {
    let (n, r) = (x.nrows(), x.ncols());
    let q = r * (r + 1) / 2;
    if (out.nrows(), out.ncols()) != (n, q) {
        *out = RowMat::zeros(n, q);
    }
    let (x, out) = (x.data(), out.data_mut());
    dispatch(|| match r {
        1 => fill::<1>(x, out),
        2 => fill::<2>(x, out),
        3 => fill::<3>(x, out),
        4 => fill::<4>(x, out),
        5 => fill::<5>(x, out),
        6 => fill::<6>(x, out),
        7 => fill::<7>(x, out),
        8 => fill::<8>(x, out),
        9 => fill::<9>(x, out),
        _ => fill::<DIRECT>(x, out),
    });
}

#[inline(always)]
fn fill<const R: usize>(x: &[f64], out: &mut [f64]) {
    for (row, products) in x.chunks_exact(R).zip(out.chunks_exact_mut(R * (R + 1) / 2)) {
        let mut at = 0;
        for a in 0..R {
            for b in 0..=a {
                products[at] = row[a] * row[b];
                at += 1;
            }
        }
    }
}

/// z ← A⁻¹z for a positive definite A (q × q) given by its upper triangle, which is overwritten by U, UᵀU = A; `false` if A
/// is not positive definite. Rows have [`padded`] length, so that all operations are on whole
/// vectors; entries left of the diagonal are not used.
struct CholeskySolve<'a> {
    a: &'a mut RowMat,
    z: &'a mut [f64],
}

impl WithSimd for CholeskySolve<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let (q, width) = (self.z.len(), self.a.ncols());
        let (a, z) = (self.a.data_mut(), self.z);
        for l in 0..q {
            let (row, below) = a[l * width..q * width].split_at_mut(width);
            let pivot = row[l];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let scale = 1.0 / pivot.sqrt();
            row[l..].iter_mut().for_each(|v| *v *= scale);
            z[l] *= scale;
            let done = z[l];
            for (k, other) in (l + 1..q).zip(below.chunks_exact_mut(width)) {
                let c = row[k];
                if c == 0.0 {
                    continue;
                }
                z[k] -= c * done;
                let factor = V::splat(simd, -c);
                for at in (k / PAD * PAD..width).step_by(V::<S>::LANES) {
                    factor.mul_add(V::load(simd, row, at), V::load(simd, other, at)).store(other, at);
                }
            }
        }
        for k in (0..q).rev() {
            let row = &a[k * width..][..q];
            let solved: f64 = row[k + 1..].iter().zip(&z[k + 1..]).map(|(u, z)| u * z).sum();
            z[k] = (z[k] - solved) / row[k];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_pairs_of_every_length() {
        let mut out = RowMat::zeros(0, 0);
        for r in 1..=DIRECT {
            let x = RowMat::from_fn(7, r, |i, k| ((3 * i + 5 * k) as f64).sin());
            products_of_pairs(&x, &mut out);
            for i in 0..7 {
                for a in 0..r {
                    for b in 0..=a {
                        assert_eq!(out.get(i, position(a, b)), x.get(i, a) * x.get(i, b), "r = {r}");
                    }
                }
            }
        }
    }

    #[test]
    fn positive_definite_systems_are_solved() {
        for q in [1, 3, 8, 21, 55] {
            let b = RowMat::from_fn(q, q, |i, j| ((5 * i + 3 * j + i * j) as f64).sin());
            let a = |i: usize, j: usize| {
                (0..q).map(|l| b.get(i, l) * b.get(j, l)).sum::<f64>() + f64::from(u8::from(i == j))
            };
            let x: Vec<f64> = (0..q).map(|k| (k as f64).cos()).collect();
            let mut z: Vec<f64> = (0..q).map(|i| (0..q).map(|j| a(i, j) * x[j]).sum()).collect();
            let upper = |i: usize, j: usize| if i <= j && j < q { a(i, j) } else { 0.0 };
            let mut matrix = RowMat::from_fn(q, padded(q), upper);
            assert!(dispatch(CholeskySolve { a: &mut matrix, z: &mut z }));
            assert!(z.iter().zip(&x).all(|(z, x)| (z - x).abs() < 1e-10), "q = {q}");
        }
        let mut indefinite =
            RowMat::from_fn(2, padded(2), |i, j| [[1.0, 2.0], [0.0, 1.0]][i].get(j).copied().unwrap_or(0.0));
        assert!(!dispatch(CholeskySolve { a: &mut indefinite, z: &mut [1.0, 1.0] }));
    }
}
