//! Which bound belongs to a penalty.

use super::types::Kind;
use orthopt_core::penalty::AnyPenalty;
use orthopt_linalg::error::{Error, Result};

impl Kind {
    /// The kind of −½ tr(XᵀCX) + h(X).
    ///
    /// # Errors
    /// A penalty for which no bound is proved, and why.
    pub fn of(h: &AnyPenalty) -> Result<Self> {
        let folded = "beyond its knee the penalty no longer grows, and the bound would be that of plain pca";
        let why = match h {
            AnyPenalty::None(_) => return Ok(Self::L0 { lambda: 0.0 }),
            AnyPenalty::L0(h) => return Ok(Self::L0 { lambda: h.lambda() }),
            AnyPenalty::L1(h) => return Ok(Self::L1 { lambda: h.lambda() }),
            AnyPenalty::Nonneg(_) => return Ok(Self::Nonnegative),
            AnyPenalty::ElasticNet(_) => "on X'X = I the elastic net is l1 and a constant: take l1",
            AnyPenalty::Mcp(_) | AnyPenalty::Scad(_) | AnyPenalty::CappedL1(_) => folded,
            AnyPenalty::L21(_) => {
                "the lengths of the rows of X are roots of the diagonal of XX', a concave function of it"
            }
            AnyPenalty::Box(_) => {
                "bounds on the entries of X do not bound XX', the variable of the relaxation"
            }
        };
        Err(no_bound(why))
    }
}

/// That there is no bound, and why.
pub fn no_bound(why: &str) -> Error {
    Error::Incompatible(
        format!("no bound: {why}; there are bounds for l0-pca, l1-pca, nonneg-pca and pca").into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::penalty::PENALTIES;

    #[test]
    fn every_penalty_has_a_bound_or_a_reason() {
        for penalty in PENALTIES {
            match Kind::of(&(penalty.make)(0.5).unwrap()) {
                Ok(Kind::L0 { lambda }) => assert_eq!(lambda, if penalty.name == "l0" { 0.5 } else { 0.0 }),
                Ok(Kind::L1 { lambda }) => assert_eq!((penalty.name, lambda), ("l1", 0.5)),
                Ok(kind) => assert_eq!((penalty.name, kind), ("nonneg", Kind::Nonnegative)),
                Err(error) => assert!(error.to_string().starts_with("no bound: "), "{error}"),
            }
        }
    }
}
