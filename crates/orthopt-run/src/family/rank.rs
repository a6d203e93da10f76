//! The number of components by a rule: components that noise does not have, or a share of the variance.
//!
//! ```text
//! λ₁ ≥ λ₂ ≥ …   eigenvalues of C
//! auto           the i before the first λᵢ that is not above its reference, at least 1
//!   reference    small data: the 95th percentile of λᵢ of 99 copies of A whose columns are permuted, each on its own
//!                large data, and C with a known number of rows: the 95th percentile of the largest eigenvalue of noise
//!                with the variances of the columns (edge of the Marchenko–Pastur law and Tracy–Widom)
//! share          the smallest r with λ₁ + … + λᵣ ≥ share · tr C
//! ```
//!
//! Both references hold the variance of a strong component for noise, as Horn's does: the rule is cautious beside one.
//! Data are large where 99 permuted copies take more than `WORK` operations. Where columns do not sum to 0 (data that are
//! not centred, rows with weights) entries change their signs at random in place of their rows: both keep the
//! variance of every column, and signs keep the weight of every row and take the means away too.
//!
//! * J. L. Horn: A rationale and test for the number of factors in factor analysis. Psychometrika 30 (1965) 179–185.
//! * E. Dobriban, A. B. Owen: Deterministic parallel analysis. J. R. Stat. Soc. B 81 (2019) 163–183.
//! * D. Hong, Y. Sheng, E. Dobriban: Selecting the number of components in PCA via random signflips. arXiv 2012.02985.
//! * I. M. Johnstone: On the distribution of the largest eigenvalue in PCA. Ann. Statist. 29 (2001) 295–327.

use std::borrow::Cow;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::Serialize;

use super::in_time::in_time;
use super::in_unit::Divided;
use super::{Kind, ProblemInfo, Request};
use orthopt_core::problem::{PcaData, Storage, covariance_model, scatter};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::eigen::symmetric_eigenvalues;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::krylov::{Operator, leading};
use orthopt_linalg::message::Message;
use orthopt_linalg::parallel::map;
use orthopt_linalg::products::{cross_of, gram};
use orthopt_linalg::unit::unit_of;

/// A rule for the number of components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RankRule {
    /// Components whose variance noise does not have.
    Auto,
    /// Components that explain this share of the variance in PCA, between 0 and 1.
    Share(f64),
}

/// Eigenvalues of C beside those of noise, and the number of components that a rule makes of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scree {
    /// `permutation`, `signs`, `marchenko-pastur` or `share`; `none` where the number of rows is not known.
    pub rule: &'static str,
    /// Number of components by the rule.
    pub rank: usize,
    /// Leading eigenvalues of C, divided by tr C.
    pub eigenvalues: Vec<f64>,
    /// Variance of each component under noise, its 95th percentile, divided by tr C; empty for a share.
    pub reference: Vec<f64>,
    /// The share of the variance that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The numbers behind it in one sentence.
    pub reason: String,
}

/// Copies whose columns are permuted: the 95th of 99 values is exceeded by noise in 5 of 100 cases, exactly.
const COPIES: usize = 99;
/// Place of the percentile among them.
const PLACE: usize = 94;
/// Operations for all copies, a second or two of a core.
const WORK: f64 = 2e10;
/// Operations that moving an entry takes.
const MOVE: f64 = 50.0;
/// Largest number of components that the rule gives for large data.
const MOST: usize = 100;
/// Eigenvalues kept for pictures.
const SHOWN: usize = 30;
/// Relative difference of eigenvalues that is rounding.
const ROUNDING: f64 = 1e-9;
/// Size of C or AAᵀ up to which all eigenvalues are computed.
const DENSE: usize = 1024;
/// 95th percentile of the Tracy–Widom law of real symmetric matrices.
const TRACY_WIDOM: f64 = 0.9793;
/// Mean of a column relative to the root of its mean square that is rounding.
const CENTRED: f64 = 1e-6;

impl Request {
    /// The same with the number of components that the rule gives, and with the eigenvalues for a picture if they are
    /// requested. Without a rule nothing changes, nor if the eigenvalues that choose the number are cancelled.
    ///
    /// # Errors
    /// A problem that is not PCA; C without the number of its rows; data that are not what they should be.
    pub fn with_rank(&self, info: &ProblemInfo, data: &PcaData<'_>) -> Result<Cow<'_, Self>> {
        if self.scree.is_some() || (self.rank_rule().is_none() && !self.show_scree) {
            return Ok(Cow::Borrowed(self));
        }
        if !matches!(info.kind, Kind::Pca | Kind::Composite | Kind::DataFit) {
            let why = format!(" is a number for {}: auto and shares of the variance are for PCA", info.name);
            return Err(Error::Incompatible(Message::about("rank").text(why)));
        }
        let near = Divided::near(data);
        let near = near.as_ref().map(Divided::data);
        let data = near.as_ref().unwrap_or(data);
        let scree = match self.rank_rule() {
            Some(RankRule::Share(share)) => in_time(by_share(data, share))?,
            Some(RankRule::Auto) if self.samples.is_none() && is_gram(data) => {
                return Err(Error::Incompatible(
                    Message::from("C itself does not say how much of it is noise: give ")
                        .set("rank", "90%")
                        .text(" for a share of the variance, the number of rows behind C (")
                        .option("samples")
                        .text("), or the rows"),
                ));
            }
            rule => match scree(data, self.samples) {
                // without eigenvalues there is still a number by default
                Err(Error::Factorisation(_)) if rule.is_some() && is_over() => {
                    return Ok(Cow::Owned(Self { show_scree: false, ..self.clone() }));
                }
                made => in_time(made)?,
            },
        };
        Ok(Cow::Owned(Self { scree: Some(Arc::new(scree)), ..self.clone() }))
    }
}

fn is_gram(data: &PcaData<'_>) -> bool {
    matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_))
}

/// Eigenvalues beside those of noise; `samples` is the number of rows behind C itself, without which there is no
/// reference. The same for any number of threads and any unit of the data.
///
/// # Errors
/// Data that are not finite or have no columns; a C that is not symmetric.
pub fn scree(data: &PcaData<'_>, samples: Option<usize>) -> Result<Scree> {
    let n = data.ncols();
    if n == 0 {
        return Err(Error::Rank { rank: 1, columns: 0 });
    }
    match (data.samples(), samples) {
        (Some(m), _) if is_small(m, n) => by_copies(data),
        (None, None) => {
            let (eigenvalues, _) = first(data, SHOWN.min(n))?;
            let reason = "C itself does not say how much of it is noise".into();
            Ok(Scree { rule: "none", rank: 1, eigenvalues, reference: Vec::new(), share: None, reason })
        }
        (Some(m), _) | (None, Some(m)) => by_edge(data, m),
    }
}

/// True if the permuted copies of m rows of n variables are cheap.
fn is_small(m: usize, n: usize) -> bool {
    let (m, n) = (m as f64, n as f64);
    COPIES as f64 * m * n * (m.min(n) + MOVE) <= WORK
}

/// A variable in each row, in a unit near the entries.
fn variables(data: &PcaData<'_>) -> Result<RowMat> {
    let mut out = data.variables()?;
    let unit = unit_of(out.data());
    out.data_mut().iter_mut().for_each(|v| *v /= unit);
    Ok(out)
}

/// Eigenvalues of the sum of squares and products of variables in rows, as many as there are rows or columns.
fn eigenvalues(variables: &RowMat) -> Result<Vec<f64>> {
    let small = if variables.nrows() <= variables.ncols() {
        let rows = variables.as_mat().transpose();
        cross_of(rows, rows)
    } else {
        gram(variables)
    };
    symmetric_eigenvalues(&small).ok_or(Error::Factorisation("the eigenvalues of the data"))
}

/// A change of entries that leaves nothing but noise with the same variances.
#[derive(Clone, Copy, PartialEq)]
enum Noise {
    Permutation,
    Signs,
}

impl Noise {
    /// Permutations where all columns sum to 0, signs elsewhere.
    fn of(variables: &RowMat) -> Self {
        let centred = (0..variables.nrows()).all(|j| {
            let row = variables.row(j);
            let (sum, squares) = row.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
            sum.abs() <= CENTRED * (squares * row.len() as f64).sqrt()
        });
        if centred { Self::Permutation } else { Self::Signs }
    }

    fn apply(self, row: &mut [f64], rng: &mut Pcg64) {
        match self {
            Self::Permutation => (1..row.len()).rev().for_each(|i| row.swap(i, rng.random_range(0..=i))),
            Self::Signs => row.iter_mut().for_each(|v| *v = if rng.random() { -*v } else { *v }),
        }
    }
}

/// Parallel analysis with copies of the data.
fn by_copies(data: &PcaData<'_>) -> Result<Scree> {
    let given = variables(data)?;
    let trace: f64 = given.data().iter().map(|v| v * v).sum();
    let noise = Noise::of(&given);
    let own = eigenvalues(&given)?;
    let copies: Vec<Result<Vec<f64>>> = map(COPIES, 1, |k| {
        if is_over() {
            return Err(Error::Factorisation("the eigenvalues of copies of the data"));
        }
        let mut copy = given.clone();
        let mut rng = Pcg64::seed_from_u64(0x0048_6f72_6e00_0000 + k as u64);
        (0..copy.nrows()).for_each(|j| noise.apply(copy.row_mut(j), &mut rng));
        eigenvalues(&copy)
    });
    let copies: Vec<Vec<f64>> = copies.into_iter().collect::<Result<_>>()?;
    let percentile = |i: usize| {
        let mut values: Vec<f64> = copies.iter().map(|copy| copy[i]).collect();
        values.sort_by(f64::total_cmp);
        values[PLACE]
    };
    let reference: Vec<f64> = (0..own.len()).map(percentile).collect();
    let (rule, what) = match noise {
        Noise::Permutation => ("permutation", "the 95th percentile of 99 copies with permuted columns"),
        Noise::Signs => ("signs", "the 95th percentile of 99 copies with random signs"),
    };
    Ok(compared(rule, what, &own, &reference, trace))
}

/// Parallel analysis in the limit of large data.
fn by_edge(data: &PcaData<'_>, m: usize) -> Result<Scree> {
    let most = MOST.min(data.ncols()).min(m);
    let mut r = SHOWN.min(most);
    let variances = data.squares();
    let noise = edge(&variances, m);
    loop {
        let values = leading_values(data, r)?;
        let reference = vec![noise; values.len()];
        let what = "the 95th percentile of the largest eigenvalue of noise (Marchenko-Pastur, Tracy-Widom)";
        let found = compared("marchenko-pastur", what, &values, &reference, variances.iter().sum());
        if found.rank < r || r == most {
            return Ok(found);
        }
        r = (2 * r).min(most);
    }
}

/// The 95th percentile of the largest eigenvalue of C for noise in m rows whose columns have these variances (Cⱼⱼ), those
/// that permuted columns keep.
///
/// With variances dⱼ and z(v) = −1/v + Σ dⱼ/(1 + dⱼv)/m on −1/max d < v < 0 the bulk ends at min z, and the largest
/// eigenvalue has the scale (z″/2)^{1/3} m^{−2/3} there. Equal variances d give d(1 + √(n/m))².
fn edge(variances: &[f64], m: usize) -> f64 {
    let m = m.saturating_sub(1).max(1) as f64; // the mean takes a degree of freedom
    let largest = variances.iter().fold(0.0, |a: f64, v| a.max(*v));
    if largest <= 0.0 {
        return 0.0;
    }
    // in the unit of the largest, w = −v
    let sum = |w: f64, power: i32| {
        variances.iter().map(|v| v / largest).map(|d| (d / (1.0 - d * w)).powi(power)).sum::<f64>() / m
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let w = 0.5 * (low + high);
        if 1.0 / (w * w) > sum(w, 2) { low = w } else { high = w }
    }
    let curvature = 2.0 / low.powi(3) + 2.0 * sum(low, 3);
    largest * (1.0 / low + sum(low, 1) + TRACY_WIDOM * (0.5 * curvature).cbrt() * m.powf(-2.0 / 3.0))
}

/// Halvings of the interval of v, more than an f64 has digits.
const BISECTIONS: usize = 60;

/// The number of leading eigenvalues that are above their references.
fn compared(rule: &'static str, what: &str, own: &[f64], reference: &[f64], trace: f64) -> Scree {
    let exceeds = |i: usize| own[i] > reference[i] * (1.0 + ROUNDING) && own[i] > ROUNDING * trace;
    let above = (0..own.len()).take_while(|i| exceeds(*i)).count();
    let rank = above.max(1);
    let safe = if trace > 0.0 { trace } else { 1.0 };
    let share = |v: f64| format!("{:.1} %", 100.0 * v / safe);
    let next = (above < own.len()).then(|| {
        format!("of component {} {} against {}", above + 1, share(own[above]), share(reference[above]))
    });
    let last = (above > 0).then(|| {
        format!(
            "component {above} has {} of the variance, noise {}",
            share(own[above - 1]),
            share(reference[above - 1])
        )
    });
    let reason = match (last, next) {
        (None, Some(_)) => format!(
            "rank 1, the least: no eigenvalue exceeds {what} (component 1 has {} of the variance, noise {})",
            share(own[0]),
            share(reference[0])
        ),
        (Some(last), next) => {
            let count = match above {
                1 => "1 eigenvalue exceeds".into(),
                many => format!("{many} eigenvalues exceed"),
            };
            let next = next.map_or(String::new(), |next| format!("; {next}"));
            format!("rank {rank}: {count} {what} ({last}{next})")
        }
        (None, None) => format!("rank {rank}: there is no variance"),
    };
    let shown = own.len().min(SHOWN.max(rank + 1));
    let shares = |values: &[f64]| values[..shown].iter().map(|v| v.max(0.0) / safe).collect();
    Scree { rule, rank, eigenvalues: shares(own), reference: shares(reference), share: None, reason }
}

/// The smallest number of components of PCA that explain this share of the variance.
fn by_share(data: &PcaData<'_>, share: f64) -> Result<Scree> {
    let n = data.ncols();
    if n == 0 {
        return Err(Error::Rank { rank: 1, columns: 0 });
    }
    let mut r = SHOWN.min(n);
    loop {
        let (eigenvalues, all) = first(data, r)?;
        let mut sum = 0.0;
        let reached = eigenvalues.iter().position(|v| {
            sum += v;
            sum >= share * (1.0 - ROUNDING)
        });
        if reached.is_none() && !all {
            r = (2 * r).min(n);
            continue;
        }
        let rank = reached.unwrap_or(0) + 1;
        let explained: f64 = eigenvalues[..rank].iter().sum();
        let less = (rank > 1)
            .then(|| format!(", {} of them {}", rank - 1, percent(explained - eigenvalues[rank - 1])));
        let reason = format!(
            "rank {rank}: as many components of PCA explain {} of the variance{}, {} was asked for",
            percent(explained),
            less.unwrap_or_default(),
            percent(share)
        );
        let shown = eigenvalues.len().min(SHOWN.max(rank + 1));
        let eigenvalues = eigenvalues[..shown].to_vec();
        return Ok(Scree {
            rule: "share",
            rank,
            eigenvalues,
            reference: Vec::new(),
            share: Some(share),
            reason,
        });
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The r leading eigenvalues of C or more, divided by tr C, and whether these are all.
fn first(data: &PcaData<'_>, r: usize) -> Result<(Vec<f64>, bool)> {
    let n = data.ncols();
    let trace: f64 = data.squares().iter().sum();
    let relative = |values: Vec<f64>, trace: f64| -> Vec<f64> {
        let safe = if trace > 0.0 { trace } else { 1.0 };
        values.into_iter().map(|v| v.max(0.0) / safe).collect()
    };
    match data.samples() {
        _ if n <= DENSE => {
            let values = symmetric_eigenvalues(&scatter(data, 0.0)?);
            Ok((relative(values.ok_or(Error::Factorisation("the eigenvalues of C"))?, trace), true))
        }
        Some(m) if m <= DENSE => {
            let variables = variables(data)?;
            let trace = variables.data().iter().map(|v| v * v).sum();
            Ok((relative(eigenvalues(&variables)?, trace), true))
        }
        _ => Ok((relative(leading_values(data, r)?, trace), r >= n)),
    }
}

/// The r leading eigenvalues of C, positive ones.
fn leading_values(data: &PcaData<'_>, r: usize) -> Result<Vec<f64>> {
    let n = data.ncols();
    let storage = if n <= DENSE { Storage::Dense } else { Storage::Gram };
    let f = covariance_model(data, storage)?; // −C
    let apply = |b: &RowMat| {
        let mut out = f.apply(b);
        out.data_mut().iter_mut().for_each(|v| *v = -*v);
        out
    };
    let (mut values, _) = leading(&Operator { n, apply: &apply }, r.min(n))?;
    values.truncate(values.iter().take_while(|v| **v > 0.0).count().max(1));
    Ok(values)
}
