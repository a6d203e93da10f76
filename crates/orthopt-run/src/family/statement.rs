//! Statement of the problem in words, if options replace a part of the statement in the registry.

use std::borrow::Cow;

use super::{Kind, ProblemInfo, Request, penalty_called};
use orthopt_core::linear_map::{AnyMap, LinearMap};
use orthopt_core::smooth::Placement;

/// The objective and the constraint of a problem posed with `options`, with the penalty and the map in force.
pub(crate) fn statement(info: &ProblemInfo, options: &Request) -> Cow<'static, str> {
    let map = options.map().filter(|map| !map.is_identity());
    let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
    let f = match info.kind {
        Kind::HyperbolicEig if options.reproduction == Some(true) => {
            return "hyperbolic eigenvalues as printed: min -tr(X'CX), X'JX = J, C = A'A + ridge, \
                    which has no lower bound where both signs occur"
                .into();
        }
        Kind::Probe if options.placement.unwrap_or_default() == Placement::Printed => {
            return "the probe as printed, Q = phi(D)X: F is the same for every X with X'JX = J, a free check that X is feasible"
                .into();
        }
        Kind::HyperbolicEig | Kind::Probe | Kind::NonlinearEig | Kind::Samples(_) => return info.doc.into(),
        Kind::Procrustes | Kind::Brockett if penalty == info.penalty => return info.doc.into(),
        Kind::Brockett => "min -1/2 tr(X'CXD)",
        Kind::Procrustes => "min 1/2 ||AX - B||^2",
        Kind::Pca | Kind::Composite | Kind::DataFit if map.is_none() && penalty == info.penalty => {
            return info.doc.into();
        }
        Kind::Pca | Kind::Composite => "min -1/2 <X, CX>",
        Kind::DataFit => "min 1/(2m) ||XX'D - D||^2, D = A',",
    };
    let meaning = penalty_called(penalty).map_or("", |entry| entry.doc);
    match map {
        None => format!("{f} + h(X), X'X = I; h of {penalty}: {meaning}"),
        Some(map) => format!("{f} + h(A(X)), X'X = I; h of {penalty}: {meaning}; A(X): {}", words(map, "X")),
    }
    .into()
}

/// A(X) in words for an X called `of`.
fn words(map: &AnyMap, of: &str) -> String {
    match map {
        AnyMap::Identity(_) => of.into(),
        AnyMap::Differences(_) => format!("differences of neighbouring rows of {of}"),
        AnyMap::Selection(selection) => format!("{selection} of {of}"),
        AnyMap::Left(b) => format!("B times {of}, B {} x {}", b.nrows(), b.ncols()),
        AnyMap::Functions(map) => {
            let (rows, columns) = map.shape();
            format!("a function of {of} of its own, {rows} x {columns}")
        }
        AnyMap::Composition(both) => words(both.outer(), &words(both.inner(), of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::find_problem;

    #[test]
    fn penalty_and_map_are_said() {
        let said = |problem: &str, options: Request| {
            statement(find_problem(problem).unwrap(), &options).into_owned()
        };
        assert_eq!(said("l1-pca", Request::default()), find_problem("l1-pca").unwrap().doc);
        let map =
            |text: &str| Request { map: AnyMap::parse(text).ok().map(Into::into), ..Default::default() };
        assert_eq!(said("l1-pca", map("identity")), find_problem("l1-pca").unwrap().doc);
        assert_eq!(
            said("capped-l1-pca", map("differences")),
            "min -1/2 <X, CX> + h(A(X)), X'X = I; h of capped-l1: lambda * min(|x|, cap); \
             A(X): differences of neighbouring rows of X"
        );
        assert!(said("l1-pca", map("rows:3,5-6")).ends_with("A(X): 3 rows of X"));
        assert!(said("fused-pca", map("columns:2")).ends_with("; A(X): 1 column of X"));
        let penalty = Request { penalty: Some("mcp".into()), ..Default::default() };
        assert!(
            said("dc-pca", penalty)
                .starts_with("min 1/(2m) ||XX'D - D||^2, D = A', + h(X), X'X = I; h of mcp: ")
        );
        let printed = Request { reproduction: Some(true), ..Default::default() };
        assert!(said("hyperbolic-eig", printed).contains("min -tr(X'CX)"));
        let inner = AnyMap::parse("columns:1-2").unwrap();
        let both = orthopt_core::linear_map::Composition::new(AnyMap::parse("differences").unwrap(), inner);
        assert_eq!(
            words(&AnyMap::Composition(both), "X"),
            "differences of neighbouring rows of 2 columns of X"
        );
    }
}
