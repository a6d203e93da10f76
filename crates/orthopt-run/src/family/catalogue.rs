//! Everything that has a name, over all families: solvers, penalties, and the constants of both with the
//! names under which users set them.

use super::composite_pca::SPLITS;
use super::{cardinality, composite, j_orthogonal, measured, nonlinear_eig, pca, samples, uncorrelated};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constant, Given};
use orthopt_core::penalty::PENALTIES;
use orthopt_core::solve::info::{SolverInfo, find_solvers};
use orthopt_hyperbolic::J_SOLVERS;
use orthopt_limits::{CARDINALITY_SOLVERS, MEASURED_SOLVERS, UNCORRELATED_SOLVERS};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_solvers::COMPOSITE_SOLVERS;
use orthopt_solvers::SOLVERS;

/// A solver of some family.
#[derive(Clone, Copy, Debug)]
pub struct SolverEntry {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Problems that it can solve, as the end of "... is for".
    pub scope: &'static str,
    /// Its constants.
    pub constants: &'static [Constant],
    /// The options it shares with other methods on pairs of rows.
    pub shared: &'static [Constant],
}

impl<P> From<&SolverInfo<P>> for SolverEntry {
    fn from(s: &SolverInfo<P>) -> Self {
        Self { name: s.name, doc: s.doc, scope: s.scope, constants: s.constants, shared: s.shared }
    }
}

/// A penalty, plain or of f − g + h∘A.
#[derive(Clone, Copy, Debug)]
pub struct PenaltyEntry {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Its constants.
    pub constants: &'static [Constant],
    /// λ by default, as a share of the mean of the r largest Cᵢᵢ; `None` if λ does not apply.
    pub lambda_share: Option<f64>,
    /// True if F is the same at X with the signs of columns changed.
    pub is_even: bool,
}

/// A constant with the name under which users set it.
#[derive(Clone, Debug)]
pub struct NamedConstant {
    /// `owner-constant`.
    pub option: String,
    /// Name of the solver or penalty.
    pub owner: &'static str,
    /// True if the owner is a penalty.
    pub of_penalty: bool,
    /// Kind and range.
    pub constant: Constant,
}

/// Every solver of every family, each name once.
pub fn all_solvers() -> Vec<SolverEntry> {
    let mut all: Vec<SolverEntry> = Vec::new();
    for solver in every_solver() {
        if all.iter().all(|known| known.name != solver.name) {
            all.push(solver);
        }
    }
    all
}

/// The entries of one solver in all families that have it.
///
/// # Errors
/// [`Error::UnknownName`] with the known names.
pub fn solvers_called(name: &str) -> Result<Vec<SolverEntry>> {
    check_solvers(name)?;
    let mut found: Vec<SolverEntry> = every_solver().filter(|s| s.name == name).collect();
    found.dedup_by_key(|s| (s.doc, s.scope));
    Ok(found)
}

fn every_solver() -> impl Iterator<Item = SolverEntry> {
    solvers_by_family().into_iter().flat_map(|(_, solvers)| solvers)
}

/// The solvers of each family, with the problems it has.
fn solvers_by_family() -> [(&'static str, Vec<SolverEntry>); 8] {
    fn entries<P>(list: &[SolverInfo<P>]) -> Vec<SolverEntry> {
        list.iter().map(SolverEntry::from).collect()
    }
    [
        ("PCA problems with a penalty or none", entries(SOLVERS)),
        ("PCA problems with limits on nonzeros", entries(CARDINALITY_SOLVERS)),
        ("PCA problems with uncorrelated components", entries(UNCORRELATED_SOLVERS)),
        ("PCA problems with a measure to maximise", entries(MEASURED_SOLVERS)),
        ("PCA problems with a concave part or a linear map", entries(COMPOSITE_SOLVERS)),
        ("problems with X'JX = J (hyperbolic-eig, probe)", entries(J_SOLVERS)),
        ("nonlinear-eig", entries(nonlinear_eig::SOLVERS)),
        ("ica, dictionary and robust-subspace", entries(samples::SOLVERS)),
    ]
}

/// The starting points of all families, each name once.
pub(crate) fn all_starts() -> Vec<(&'static str, &'static str)> {
    let families = [
        pca::PCA_STARTS,
        cardinality::STARTS,
        uncorrelated::STARTS,
        measured::STARTS,
        composite::STARTS,
        j_orthogonal::STARTS,
        nonlinear_eig::STARTS,
        samples::STARTS,
    ];
    let mut all: Vec<(&str, &str)> = Vec::new();
    for start in families.into_iter().flatten() {
        if all.iter().all(|known| known.0 != start.0) {
            all.push(*start);
        }
    }
    all
}

/// Every penalty, those with g or A at the end.
pub fn all_penalties() -> Vec<PenaltyEntry> {
    let plain = PENALTIES.iter().map(|p| PenaltyEntry {
        name: p.name,
        doc: p.doc,
        constants: p.shape,
        lambda_share: p.lambda_share,
        is_even: (p.make)(1.0).is_ok_and(|h| h.is_even()),
    });
    let own = SPLITS.iter().filter(|s| PENALTIES.iter().all(|known| known.name != s.name));
    plain
        .chain(own.map(|s| PenaltyEntry {
            name: s.name,
            doc: s.doc,
            constants: s.shape,
            lambda_share: s.lambda_share,
            is_even: true,
        }))
        .collect()
}

/// The penalty called `name`.
///
/// # Errors
/// [`Error::UnknownName`] with the known names.
pub fn penalty_called(name: &str) -> Result<PenaltyEntry> {
    let all = all_penalties();
    all.iter().find(|p| p.name == name).copied().ok_or_else(|| Error::UnknownName {
        kind: "penalty",
        name: name.into(),
        known: all.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
    })
}

/// Checks that every name of a chain `a+b` is a solver of some family.
///
/// # Errors
/// [`Error::UnknownName`] with the known names.
pub fn check_solvers(names: &str) -> Result<()> {
    let all = all_solvers();
    match names.split('+').find(|name| all.iter().all(|s| s.name != *name)) {
        None => Ok(()),
        Some(name) => Err(Error::UnknownName {
            kind: "solver",
            name: name.into(),
            known: all.iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The solvers of a chain `a+b`, all of them in the list of a family.
///
/// # Errors
/// [`Error::UnknownName`]; [`Error::Incompatible`] for one of another family.
pub(super) fn solvers_of<P>(
    list: &'static [SolverInfo<P>],
    names: &str,
) -> Result<Vec<&'static SolverInfo<P>>> {
    check_solvers(names)?;
    let own = |name: &str| list.iter().any(|s| s.name == name);
    match names.split('+').find(|name| !own(name)) {
        None => find_solvers(list, names),
        Some(name) => {
            let known: Vec<_> = list.iter().map(|s| s.name).collect();
            let families = solvers_by_family();
            let here = families.iter().find(|(_, of)| of.iter().map(|s| s.name).eq(known.iter().copied()));
            let here = here.map_or("this problem", |(family, _)| family);
            let of = families.iter().filter(|(_, of)| of.iter().any(|s| s.name == name));
            let of: Vec<_> = of.map(|(family, _)| *family).collect();
            let why = format!("solver {name} is for {}, not for {here}: ", of.join("; "));
            let problem = format!("{why}choose one of {}", known.join(", "));
            let measured = list.iter().any(|s| MEASURED_SOLVERS.iter().any(|own| own.name == s.name));
            let of_variance = measured && CARDINALITY_SOLVERS.iter().any(|s| s.name == name);
            Err(Error::Incompatible(match of_variance {
                true => Message::from(problem + ", or ").then(instead("solvers")),
                false => problem.into(),
            }))
        }
    }
}

/// What a problem with a number of nonzeros has beside its own solvers and starts where the variance is maximised.
pub(super) fn instead(what: &str) -> Message {
    Message::from("with ").set("maximise", "variance").text(format!(" the {what} of limits on nonzeros"))
}

/// Every constant of every solver and penalty.
pub fn all_constants() -> Vec<NamedConstant> {
    let of = |owner: &'static str, of_penalty: bool, list: &'static [Constant]| {
        list.iter().map(move |constant| NamedConstant {
            option: format!("{owner}-{}", constant.name),
            owner,
            of_penalty,
            constant: *constant,
        })
    };
    let solvers = all_solvers().into_iter().flat_map(|s| of(s.name, false, s.constants));
    let penalties = all_penalties().into_iter().flat_map(|p| of(p.name, true, p.constants));
    solvers.chain(penalties).collect()
}

/// The constant that users set as `option`; `_` stands for `-` as well.
///
/// # Errors
/// [`Error::UnknownName`] with the constants of the solver or penalty it seems to be of, or with all.
pub fn find_constant(option: &str) -> Result<NamedConstant> {
    let option = option.replace('_', "-");
    let mut all = all_constants();
    if let Some(k) = all.iter().position(|c| c.option == option) {
        return Ok(all.swap_remove(k));
    }
    let owner = |c: &NamedConstant| option.starts_with(&format!("{}-", c.owner)).then_some(c.owner);
    let meant = all.iter().filter_map(owner).max_by_key(|name| name.len());
    let known = all.iter().filter(|c| meant.is_none_or(|name| c.owner == name));
    Err(Error::UnknownName {
        kind: "constant",
        known: known.map(|c| c.option.as_str()).collect::<Vec<_>>().join(", "),
        name: option.clone(),
    })
}

/// Constants from the names and texts that users give.
///
/// # Errors
/// A constant that does not exist, a value that is none or out of range.
pub fn parse_constants<'a>(given: impl IntoIterator<Item = (&'a str, String)>) -> Result<Given> {
    let one = |(name, text): (&str, String)| {
        let found = find_constant(name)?;
        let value = found.constant.parse(&found.option, &text)?;
        Ok((found.option, value))
    };
    given.into_iter().map(one).collect::<Result<Vec<_>>>().map(|pairs| pairs.into_iter().collect())
}

/// Checks that what was given belongs to these solvers and penalties, so that nothing is ignored.
///
/// # Errors
/// [`Error::UnknownName`], or [`Error::Incompatible`] with the constants that there are.
pub fn check_constants(given: &Given, owners: &[&str]) -> Result<()> {
    for (option, _) in given.iter() {
        let found = find_constant(option)?;
        if owners.contains(&found.owner) {
            continue;
        }
        let kind = if found.of_penalty { "penalty" } else { "solver" };
        let known: Vec<_> = all_constants().into_iter().filter(|c| owners.contains(&c.owner)).collect();
        let known = match known.is_empty() {
            true => "has no constants".to_string(),
            false => {
                format!("has {}", known.iter().map(|c| c.option.as_str()).collect::<Vec<_>>().join(", "))
            }
        };
        return Err(Error::Incompatible(
            format!(
                "{option} is a constant of the {kind} {}, which is not used here; {} {known}",
                found.owner,
                owners.join("+")
            )
            .into(),
        ));
    }
    Ok(())
}
