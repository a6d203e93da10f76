//! Names and kinds of problems, posed problems, and choices common to all kinds.

use std::borrow::Cow;
use std::sync::Arc;

use super::Request;
use super::cardinality::Limit;
use super::named::AnyProblem;
use super::rank::Scree;
use orthopt_core::problem::{Cardinality, PcaData};
use orthopt_core::smooth::Loss;
use orthopt_linalg::message::Message;

/// Entry of the registry for a problem.
#[derive(Clone, Copy, Debug)]
pub struct ProblemInfo {
    /// The name users type.
    pub name: &'static str,
    /// Family, which determines its terms and solvers.
    pub kind: Kind,
    /// Name of its penalty.
    pub penalty: &'static str,
    /// True if λ applies.
    pub uses_lambda: bool,
    /// One line of documentation.
    pub doc: &'static str,
}

/// The kinds of problems, each with solvers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca,
    /// −½⟨X, CX⟩ − g(X) + h(A(X)), XᵀX = I.
    Composite,
    /// 1/(2m)‖XXᵀD − D‖² − g(X) + h(A(X)), XᵀX = I, D = Aᵀ of m samples.
    DataFit,
    /// tr(XᵀCX), XᵀJX = J.
    HyperbolicEig,
    /// Distances in ultrahyperbolic space, XᵀJX = J.
    Probe,
    /// ½‖AX − B‖² + h(X), XᵀX = I.
    Procrustes,
    /// −½ tr(XᵀCXD) + h(X), XᵀX = I.
    Brockett,
    /// f(AX), XᵀX = I.
    Samples(Loss),
    /// ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ, XᵀX = I.
    NonlinearEig,
}

/// A problem with what was chosen for the user.
#[derive(Clone, Debug)]
pub struct Posed {
    /// Entry of the registry.
    pub info: &'static ProblemInfo,
    /// Objective in words, with penalty and map.
    pub statement: Cow<'static, str>,
    /// The problem.
    pub problem: AnyProblem,
    /// r.
    pub rank: usize,
    /// λ, where the problem has one.
    pub lambda: Option<f64>,
    /// k, where the penalty has one.
    pub k: Option<usize>,
    /// The limit on nonzeros, where there is one.
    pub limits: Option<Cardinality>,
    /// One sentence per automatic choice.
    pub reasons: Vec<Message>,
    /// Notes on options with less effect than requested.
    pub notes: Vec<Message>,
    /// Eigenvalues of C beside those of noise, where a rule has chosen r or a picture shows them.
    pub scree: Option<Arc<Scree>>,
    /// Title of pictures: what was found, in words.
    pub title: String,
}

impl Posed {
    /// Without λ, k, limits, notes, eigenvalues and title.
    pub(super) fn new(
        info: &'static ProblemInfo,
        statement: Cow<'static, str>,
        problem: AnyProblem,
        rank: usize,
        reasons: Vec<Message>,
    ) -> Self {
        Self {
            info,
            statement,
            problem,
            rank,
            lambda: None,
            k: None,
            limits: None,
            reasons,
            notes: Vec::new(),
            scree: None,
            title: String::new(),
        }
    }
}

/// Number of components if none is given, of six variables or more.
pub const DEFAULT_RANK: usize = 5;

/// Number of components of n variables if none is given: fewer than variables, as n components of n variables explain
/// everything, whatever they are.
pub(crate) fn default_rank(n: usize) -> usize {
    DEFAULT_RANK.min(n.saturating_sub(1)).max(1)
}

/// That more nonzeros are allowed than there are.
pub(super) fn excess(limit: &Limit, rank: usize, kept: &Cardinality, data: &PcaData<'_>) -> Vec<Message> {
    let exceeds = limit.of(rank).is_some_and(|asked| asked != *kept);
    let said =
        || Message::about(limit.option()).text(format!(" exceeds the number of variables, {}", data.ncols()));
    exceeds.then(said).into_iter().collect()
}

pub(super) fn rank_or_default(data: &PcaData<'_>, options: &Request, reasons: &mut Vec<Message>) -> usize {
    options.rank().unwrap_or_else(|| {
        let rank = default_rank(data.ncols());
        reasons.push(
            format!("rank {rank}: {DEFAULT_RANK}, or one fewer than the columns if that is less").into(),
        );
        rank
    })
}
