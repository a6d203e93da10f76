//! A 2 × 2 J-orthogonal matrix and its product with two rows.

use orthopt_linalg::simd::{Simd, WithSimd, dispatch};

/// A connected component of {V : VᵀJ_BBV = J_BB}.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// [[e₁C, e₁S], [e₂S, e₂C]], C = cosh μ, S = sinh μ.
    Boost {
        /// e₁ = ±1.
        e1: f64,
        /// e₂ = ±1.
        e2: f64,
    },
    /// [[C, S], [−S, C]], C = cos θ, S = sin θ.
    Rotation,
    /// [[C, S], [S, −C]].
    Reflection,
}

impl Component {
    /// The four components for rows of different sign; V = I is on the first.
    pub const BOOSTS: [Self; 4] = [
        Self::Boost { e1: 1.0, e2: 1.0 },
        Self::Boost { e1: -1.0, e2: -1.0 },
        Self::Boost { e1: 1.0, e2: -1.0 },
        Self::Boost { e1: -1.0, e2: 1.0 },
    ];

    /// vec of the matrices that C and S multiply.
    #[inline(always)]
    pub(crate) fn basis(self) -> ([f64; 4], [f64; 4]) {
        match self {
            Self::Boost { e1, e2 } => ([e1, 0.0, 0.0, e2], [0.0, e2, e1, 0.0]),
            Self::Rotation => ([1.0, 0.0, 0.0, 1.0], [0.0, -1.0, 1.0, 0.0]),
            Self::Reflection => ([1.0, 0.0, 0.0, -1.0], [0.0, 1.0, 1.0, 0.0]),
        }
    }

    /// True if V = I is on it.
    #[inline(always)]
    pub(crate) fn holds_identity(self) -> bool {
        matches!(self, Self::Rotation) || self == Self::BOOSTS[0]
    }
}

/// V, kept as V − I so that small moves lose nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JMove {
    /// Component that V lies on.
    pub component: Component,
    /// V − I.
    d: [[f64; 2]; 2],
}

impl JMove {
    /// V at the angle μ or θ.
    pub fn at(component: Component, angle: f64) -> Self {
        match component {
            Component::Boost { .. } => {
                let half = (0.5 * angle).sinh();
                Self::from_parts(component, 2.0 * half * half, angle.sinh())
            }
            _ => {
                let half = (0.5 * angle).sin();
                Self::from_parts(component, -2.0 * half * half, angle.sin())
            }
        }
    }

    /// V from c₁ = C − 1 and S.
    #[inline(always)]
    pub(crate) fn from_parts(component: Component, c1: f64, s: f64) -> Self {
        let d = match component {
            Component::Boost { e1, e2 } => {
                let diagonal = |e: f64| if e > 0.0 { c1 } else { -2.0 - c1 };
                [[diagonal(e1), e1 * s], [e2 * s, diagonal(e2)]]
            }
            Component::Rotation => [[c1, s], [-s, c1]],
            Component::Reflection => [[c1, s], [s, -2.0 - c1]],
        };
        Self { component, d }
    }

    /// V − I.
    #[inline(always)]
    pub fn minus_identity(&self) -> [[f64; 2]; 2] {
        self.d
    }

    /// V.
    pub fn matrix(&self) -> [[f64; 2]; 2] {
        [[1.0 + self.d[0][0], self.d[0][1]], [self.d[1][0], 1.0 + self.d[1][1]]]
    }

    /// ‖V − I‖²_F.
    pub fn distance_squared(&self) -> f64 {
        self.d.iter().flatten().map(|v| v * v).sum()
    }

    /// Z ← VZ for the rows z1, z2 of Z. Cost 8 flops a column.
    #[inline(always)]
    pub fn apply(&self, z1: &mut [f64], z2: &mut [f64]) {
        let [[a, b], [c, d]] = self.d;
        for (x, y) in z1.iter_mut().zip(z2) {
            let (u, v) = (*x, *y);
            *x += a * u + b * v;
            *y += c * u + d * v;
        }
    }

    /// [`JMove::apply`] with the widest vectors of the machine.
    #[inline]
    pub fn apply_wide(&self, z1: &mut [f64], z2: &mut [f64]) {
        struct Apply<'a>(&'a JMove, &'a mut [f64], &'a mut [f64]);
        impl WithSimd for Apply<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) {
                self.0.apply(self.1, self.2);
            }
        }
        dispatch(Apply(self, z1, z2));
    }

    /// S ← V S Vᵀ for the entries S₁₁, S₁₂, S₂₂ of a symmetric S.
    #[inline(always)]
    pub fn congruence(&self, [s11, s12, s22]: [f64; 3]) -> [f64; 3] {
        let [[v11, v12], [v21, v22]] = self.matrix();
        let (p1, p2) = (v11 * s11 + v12 * s12, v11 * s12 + v12 * s22);
        let (r1, r2) = (v21 * s11 + v22 * s12, v21 * s12 + v22 * s22);
        [p1 * v11 + p2 * v12, p1 * v21 + p2 * v22, r1 * v21 + r2 * v22]
    }
}
