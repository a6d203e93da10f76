//! Relation between two components.

use crate::options::choices;

choices! {
    /// Relation between two components.
    #[derive(Default)]
    pub enum Between as "constraint", BETWEEN {
        /// Loadings are orthogonal, XᵀX = I; scores of sparse components are in general correlated.
        #[default]
        Orthogonal = "orthogonal", "loadings are orthogonal, X'X = I; scores of sparse components are in general correlated";
        /// Scores are uncorrelated, XᵀCX is diagonal; loadings have length 1 and are in general not orthogonal.
        Uncorrelated = "uncorrelated", "scores are uncorrelated, X'CX is diagonal; loadings have length 1 and are in general not orthogonal";
        /// XᵀX = I and XᵀCX is diagonal, as in PCA.
        Both = "both", "loadings are orthogonal and scores uncorrelated, X'X = I and X'CX diagonal, as in PCA";
    }
}

impl Between {
    /// True if XᵀX = I.
    #[doc(hidden)]
    pub fn is_orthogonal(self) -> bool {
        self != Self::Uncorrelated
    }

    /// True if XᵀCX is diagonal.
    #[doc(hidden)]
    pub fn is_uncorrelated(self) -> bool {
        self != Self::Orthogonal
    }
}
