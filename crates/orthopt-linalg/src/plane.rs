//! Rotations and reflections of a plane: the 2×2 orthogonal matrices that act on two rows.

/// Entries below this times the length of their column of Z are set to exactly 0 when a move
/// is applied, and columns of Z whose directions differ by less vanish together in the
/// searches: one constant for both, so that no search counts a zero that is not made.
pub const SNAP: f64 = 1e-14;

/// The two connected parts of O(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// `rot(θ) = [c s; −s c]`, a Givens rotation.
    Rotation,
    /// `ref(θ) = [−c s; s c]`, a Jacobi reflection.
    Reflection,
}

/// A 2×2 orthogonal matrix V, stored by branch and unit vector (c, s) = (cos θ, sin θ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMove {
    /// Rotation or reflection.
    pub branch: Branch,
    /// cos θ.
    pub c: f64,
    /// sin θ.
    pub s: f64,
}

impl PairMove {
    /// V = I.
    pub const IDENTITY: Self = Self { branch: Branch::Rotation, c: 1.0, s: 0.0 };

    /// The move with the direction (c, s), which is scaled to unit length to the last bit or
    /// two: c² + s² = 1 is what keeps XᵀX = I over 10⁷ moves.
    #[inline(always)]
    pub fn new(branch: Branch, c: f64, s: f64) -> Self {
        // One Newton step on 1/√(c²+s²); exact to second order as callers pass unit vectors.
        let scale = 1.5 - 0.5 * (c * c + s * s);
        Self { branch, c: c * scale, s: s * scale }
    }

    /// True if (c, s) is a direction: breakpoints of entries whose squares overflow (above 1e154) have none.
    #[inline(always)]
    #[doc(hidden)]
    pub fn is_direction(&self) -> bool {
        (self.c * self.c + self.s * self.s - 1.0).abs() <= 1e-14
    }

    /// The entries of V.
    #[inline(always)]
    pub fn matrix(&self) -> [[f64; 2]; 2] {
        let (c, s) = (self.c, self.s);
        match self.branch {
            Branch::Rotation => [[c, s], [-s, c]],
            Branch::Reflection => [[-c, s], [s, c]],
        }
    }

    /// ½‖V − I‖²_F = 2 − tr V, without cancellation near the identity.
    #[inline(always)]
    pub fn half_dist_sq(&self) -> f64 {
        match self.branch {
            Branch::Rotation => 2.0 * one_minus_cos(self.c, self.s),
            Branch::Reflection => 2.0,
        }
    }

    /// ‖V − I‖_F.
    pub fn distance_to_identity(&self) -> f64 {
        (2.0 * self.half_dist_sq()).sqrt()
    }

    /// V Z into (out1, out2), entries that the search counts as zero set to exactly 0.0.
    /// Exact zeros of a column stay exact. Cost 6·r flops.
    #[inline(always)]
    pub fn apply(&self, z1: &[f64], z2: &[f64], out1: &mut [f64], out2: &mut [f64]) {
        let v = self.matrix();
        let r = z1.len();
        let (z2, out1, out2) = (&z2[..r], &mut out1[..r], &mut out2[..r]);
        for k in 0..r {
            let (a, b) = (z1[k], z2[k]);
            let limit = SNAP * (a.abs() + b.abs());
            let x = v[0][0] * a + v[0][1] * b;
            let y = v[1][0] * a + v[1][1] * b;
            out1[k] = if x.abs() <= limit { 0.0 } else { x };
            out2[k] = if y.abs() <= limit { 0.0 } else { y };
        }
    }
}

/// 1 − cos θ from (cos θ, sin θ), accurate for small θ.
#[inline(always)]
pub fn one_minus_cos(c: f64, s: f64) -> f64 {
    if c > 0.0 { s * s / (1.0 + c) } else { 1.0 - c }
}
