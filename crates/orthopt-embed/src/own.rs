//! Numbers that a relation may have of its own beside its matrix.
//!
//! ```text
//! z(h, r, t) = −c_r·d²(R_r x, y) + b_h + b_t + δ,   x, y the entities on U of radius α_r
//! ```
//!
//! A scale c_r of the squared distance is the same as points that are rescaled by √c_r, on a copy of U with radius
//! α√c_r: d is homogeneous of degree 1 in points and radius. It leaves the shape of the geometry alone. A radius α_r
//! changes it: entities keep their space part s, and their time part gets the length √(α_r² + |s|²), so that distances
//! go from straight lines (α_r large against |s|) to paths through the centre (α_r small), as in the public code of
//! RotH and AttH.

use serde::{Deserialize, Serialize};

/// A number of a relation, separate for both directions where relations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PerRelation {
    /// The factor c_r of the distance, which begins with 1.
    Scale,
    /// The radius α_r, which begins with α.
    Curvature,
}

/// The numbers of one relation, also their gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Own {
    /// ln c_r.
    pub scale: f64,
    /// ln(α_r/α).
    pub curvature: f64,
}

impl Own {
    /// Number of parameters.
    pub const LEN: usize = 2;

    /// As a list.
    pub fn numbers(&self) -> [f64; Self::LEN] {
        [self.scale, self.curvature]
    }

    /// From a list.
    pub fn of([scale, curvature]: [f64; Self::LEN]) -> Self {
        Self { scale, curvature }
    }

    /// c_r.
    pub(crate) fn factor(&self) -> f64 {
        self.scale.exp()
    }
}
