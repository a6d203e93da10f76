//! From a problem's name and data to the problem, with a λ for those who do not give one.

use orthopt::nonsmooth::PENALTIES;
use orthopt::problem::{AnyProblem, ProblemInfo, Storage};
use orthopt::smooth::BlockModel;

use crate::failure::Breakdown;
use crate::input::{DataInfo, Input};
use crate::text;

/// λ by default, by penalty, as a share of the mean of the r largest Cᵢᵢ. Found by trial on
/// small tables and spiked data, where it leaves some 3 to 20 variables per component.
const LAMBDA_SHARES: &[(&str, f64)] = &[("l0", 0.05), ("l1", 0.5)];
/// From this share of tr C on, means that were left in are worth a remark.
const MEANS_SHARE: f64 = 0.05;

/// A problem with what is said about it.
#[derive(Debug)]
pub struct Posed {
    pub info: &'static ProblemInfo,
    pub problem: AnyProblem,
    pub data: DataInfo,
    /// λ, where the problem has one.
    pub lambda: Option<f64>,
    /// One sentence per choice that was made for the user.
    pub reasons: Vec<String>,
    /// What the user should know but did not ask for.
    pub notes: Vec<String>,
}

/// Makes the problem; the data go, as far as the problem does not keep them.
///
/// # Errors
/// A bad rank or λ; data that are not what they should be.
pub fn pose(
    info: &'static ProblemInfo,
    input: Input,
    rank: usize,
    lambda: Option<f64>,
    storage: Storage,
) -> anyhow::Result<Posed> {
    let given = lambda.unwrap_or(0.0);
    let mut problem = AnyProblem::pca(info.name, &input.pca(), rank, given, storage)?;
    check_range(&problem)?;
    let (mut reasons, mut notes) = (Vec::new(), Vec::new());
    let lambda = match (info.uses_lambda, lambda) {
        (true, Some(lambda)) => Some(lambda),
        (true, None) => {
            let (lambda, share) = default_lambda(&problem, info);
            reasons.push(format!(
                "lambda {}: {share} of the mean of the {rank} largest C_ii; a larger one gives fewer nonzeros",
                text::exact(lambda)
            ));
            set_lambda(&mut problem, info, lambda)?;
            Some(lambda)
        }
        (false, Some(_)) => {
            notes.push(format!("{} has no lambda; it is ignored", info.name));
            None
        }
        (false, None) => None,
    };
    notes.extend(remark_on_means(&problem, &input));
    Ok(Posed { info, problem, data: input.info, lambda, reasons, notes })
}

/// The squares of very large data overflow.
fn check_range(problem: &AnyProblem) -> anyhow::Result<()> {
    match problem.f.diagonal().iter().position(|m| !m.is_finite()) {
        None => Ok(()),
        Some(i) => Err(Breakdown(format!(
            "C = A'A overflows in column {} (counted from 1): the data are too large; scale them (--scale unit)",
            i + 1
        ))
        .into()),
    }
}

/// λ to three digits, and its share of the mean of the r largest Cᵢᵢ. It scales with C, as λ must.
fn default_lambda(problem: &AnyProblem, info: &ProblemInfo) -> (f64, f64) {
    let mut variances: Vec<f64> = problem.f.diagonal().iter().map(|m| -m).collect();
    variances.sort_by(|a, b| b.total_cmp(a));
    let rank = problem.rank();
    let mean = variances[..rank].iter().sum::<f64>() / rank as f64;
    let share = LAMBDA_SHARES.iter().find(|s| s.0 == info.penalty).map_or(0.5, |s| s.1);
    (text::rounded(share * mean.max(0.0), 3), share)
}

fn set_lambda(problem: &mut AnyProblem, info: &ProblemInfo, lambda: f64) -> orthopt::Result<()> {
    if let Some(penalty) = PENALTIES.iter().find(|p| p.name == info.penalty) {
        problem.h = (penalty.make)(lambda)?;
    }
    Ok(())
}

/// PCA of samples that are not centred mostly finds their mean: m·mean² of Cᵢᵢ is due to it.
fn remark_on_means(problem: &AnyProblem, input: &Input) -> Option<String> {
    let means = input.means_left_in()?;
    let trace: f64 = -problem.f.diagonal().iter().sum::<f64>();
    let due: f64 = means.iter().map(|mean| mean * mean).sum::<f64>() * input.info.rows as f64;
    (due > MEANS_SHARE * trace).then(|| {
        format!(
            "the columns are not centred: their means make up {:.0} % of tr C; --center subtracts them",
            100.0 * due / trace
        )
    })
}
