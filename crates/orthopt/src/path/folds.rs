//! Cross-validation along a path: share of the variance of held-out rows that the components keep, or of held-out
//! [cells](super::cells) that they predict.

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::cells::{Cells, Pattern};
use super::{PathRequest, Watch, path};
use orthopt_core::problem::{PcaData, projected_share};
use orthopt_core::smooth::Centring;
use orthopt_linalg::error::{Error, Result};
use orthopt_run::family::Request;
use orthopt_run::report::DataFacts;

/// Rows or cells that are held out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Rows.
    #[default]
    Rows,
    /// Cells of the table.
    Cells,
}

impl By {
    /// Names with one line each.
    pub const NAMES: &'static [(&'static str, &'static str)] = &[
        ("rows", "rows: the variance that the projection on the components keeps"),
        ("cells", "cells of the table, each predicted from the others of its row"),
    ];

    /// By name.
    ///
    /// # Errors
    /// Another name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "rows" => Ok(Self::Rows),
            "cells" => Ok(Self::Cells),
            _ => Err(Error::InvalidOption {
                option: "cv-by".into(),
                value: name.into(),
                expected: "rows or cells".into(),
            }),
        }
    }
}

/// Folds of a cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folds {
    /// Their number.
    pub count: usize,
    /// Rows or cells that are held out.
    pub by: By,
}

/// Rows in two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Those that components are found from.
    pub train: Vec<usize>,
    /// Those that are held out.
    pub test: Vec<usize>,
}

/// `count` folds of m rows, every row held out once; the assignment of rows to folds depends on the seed alone.
///
/// # Errors
/// Fewer than two folds, or fewer rows than folds.
pub fn folds(m: usize, count: usize, seed: u64) -> Result<Vec<Fold>> {
    if count < 2 || count > m {
        return Err(Error::InvalidOption {
            option: "cv".into(),
            value: count.to_string(),
            expected: format!("a number of folds from 2 to the {m} rows of the data"),
        });
    }
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x464f_4c44);
    let mut order: Vec<usize> = (0..m).collect();
    (1..m).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
    let part = |k: usize, inside: bool| {
        let mut rows: Vec<usize> = order
            .iter()
            .enumerate()
            .filter(|(i, _)| (i % count == k) == inside)
            .map(|(_, row)| *row)
            .collect();
        rows.sort_unstable();
        rows
    };
    Ok((0..count).map(|k| Fold { train: part(k, false), test: part(k, true) }).collect())
}

/// Share of the variance that is held out that each point of a path keeps or predicts.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Validation {
    /// Mean over the folds.
    pub mean: Vec<f64>,
    /// Standard error of this mean.
    pub error: Vec<f64>,
    /// The sparsest point whose mean is at most one standard error below the best.
    pub chosen: usize,
}

impl Validation {
    /// From what each fold says of every point.
    pub fn of(folds: &[Vec<f64>]) -> Self {
        let (count, points) = (folds.len() as f64, folds.iter().map(Vec::len).min().unwrap_or(0));
        let mean: Vec<f64> = (0..points).map(|i| folds.iter().map(|f| f[i]).sum::<f64>() / count).collect();
        let variance = |i: usize| folds.iter().map(|f| (f[i] - mean[i]).powi(2)).sum::<f64>() / (count - 1.0);
        let error: Vec<f64> = (0..points).map(|i| (variance(i) / count).sqrt()).collect();
        let best = (0..points).max_by(|a, b| mean[*a].total_cmp(&mean[*b])).unwrap_or(0);
        let enough = mean.get(best).map_or(0.0, |m| m - error[best]);
        let chosen = mean.iter().position(|m| *m >= enough).unwrap_or(best);
        Self { mean, error, chosen }
    }
}

/// The path of every fold's training rows or cells, evaluated on what is held out: means are those of the training part where
/// the data are centred. `None` if it was interrupted.
///
/// # Errors
/// C instead of samples, numbers of folds out of range, errors of [`path`].
pub fn cross_validate(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &PathRequest,
    folds: Folds,
    watch: &mut Watch<'_, '_>,
) -> Result<Option<Validation>> {
    let request = &request.with_rank(data)?;
    let mut judged = Vec::new();
    // of no folds too the first is asked for: what is wrong with them is said there
    for fold in 0..folds.count.max(1) {
        match judge(data, facts, request, (fold, folds), watch)? {
            Some(shares) => judged.push(shares),
            None => return Ok(None),
        }
    }
    Ok(Some(Validation::of(&judged)))
}

/// One of the folds, counted from 0: the share of the variance of its held-out rows that each point of the path
/// of the others keeps, or of its cells that it predicts. Folds are independent and can run on any machine. `None` if it was interrupted.
///
/// # Errors
/// Those of [`cross_validate`]; a fold that does not exist.
pub fn judge(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &PathRequest,
    (fold, Folds { count, by }): (usize, Folds),
    watch: &mut Watch<'_, '_>,
) -> Result<Option<Vec<f64>>> {
    let rows = data.samples().ok_or_else(|| {
        Error::Incompatible("cross-validation needs samples, but the data are C itself".into())
    })?;
    let missing = || Error::InvalidOption {
        option: "fold".into(),
        value: fold.to_string(),
        expected: format!("a fold from 0 to {}", count - 1),
    };
    let centred = facts.centered || is_centred(data);
    if by == By::Cells {
        let pattern = Pattern::new((rows, data.ncols()), count, request.options.seed())?;
        if fold >= count {
            return Err(missing());
        }
        let request = &request.with_rank(data)?; // of all rows
        let cells = Cells::new(data, (centred, facts.roots.as_deref()), &pattern, fold)?;
        // C takes no storage
        let options = Request { storage: None, ..request.options.clone() };
        let request = &PathRequest { options, ..request.clone() };
        let found = path(&PcaData::Gram(cells.c.as_mat()), facts, request, watch)?;
        let ended = found.interrupted || found.points.len() < request.along.len();
        let shares = found.points.iter().map(|point| cells.predicted(point.report.x()));
        return Ok((!ended).then(|| shares.collect()));
    }
    let all = folds(rows, count, request.options.seed())?;
    let fold = all.get(fold).ok_or_else(missing)?;
    let request = &request.with_rank(data)?; // of all rows
    let (mut kept, mut held) = (Rows::of(data, &fold.train)?, Rows::of(data, &fold.test)?);
    let centre = match &facts.roots {
        // rows with weights have been multiplied with the roots of these, and so must be their mean
        Some(roots) if centred => {
            let of = |rows: &[usize]| rows.iter().map(|i| roots[*i]).collect::<Vec<_>>();
            let (train, test) = (of(&fold.train), of(&fold.test));
            let means = kept.weighted_means(&train);
            kept.subtract(&means, &train);
            held.subtract(&means, &test);
            None
        }
        _ => kept.centre(centred),
    };
    let found = path(&kept.view(centre.as_ref()), facts, request, watch)?;
    if found.interrupted || found.points.len() < request.along.len() {
        return Ok(None);
    }
    let test = held.view(centre.as_ref());
    let share = |point: &super::Point| projected_share(&test, point.report.x());
    found.points.iter().map(share).collect::<Result<Vec<f64>>>().map(Some)
}

pub(crate) fn is_centred(data: &PcaData<'_>) -> bool {
    matches!(data, PcaData::Centred(..) | PcaData::Sparse(_, Some(_)))
}

/// Some rows of samples.
#[derive(Clone)]
pub(crate) enum Rows {
    Dense(Mat<f64>),
    Sparse(SparseColMat<usize, f64>),
}

/// Column means, as each kind of data takes them.
pub(crate) enum Centre {
    Dense(Centring),
    Sparse(Vec<f64>),
}

impl Rows {
    pub(crate) fn of(data: &PcaData<'_>, rows: &[usize]) -> Result<Self> {
        Ok(match data {
            PcaData::Dense(a) | PcaData::Centred(a, _) | PcaData::Gram(a) => {
                Self::Dense(Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)]))
            }
            PcaData::Sparse(a, _) | PcaData::SparseGram(a) => {
                let mut place = vec![usize::MAX; a.nrows()];
                rows.iter().enumerate().for_each(|(new, old)| place[*old] = new);
                let entries: Vec<_> = (0..a.ncols())
                    .flat_map(|j| a.row_idx_of_col(j).zip(a.val_of_col(j)).map(move |(i, v)| (i, j, *v)))
                    .filter(|(i, ..)| place[*i] != usize::MAX)
                    .map(|(i, j, v)| Triplet::new(place[i], j, v))
                    .collect();
                let made = SparseColMat::try_new_from_triplets(rows.len(), a.ncols(), &entries);
                Self::Sparse(made.map_err(|_| Error::Factorisation("the choice of rows"))?)
            }
        })
    }

    /// Weighted mean of each column that is left, for rows that have been multiplied with these roots of their weights.
    pub(crate) fn weighted_means(&self, roots: &[f64]) -> Vec<f64> {
        let mass: f64 = roots.iter().map(|root| root * root).sum();
        let Self::Dense(a) = self else { return Vec::new() };
        let sum = |j: usize| a.col_as_slice(j).iter().zip(roots).map(|(v, root)| v * root).sum::<f64>();
        (0..a.ncols()).map(|j| sum(j) / mass).collect()
    }

    /// Takes means off, each times the root of the weight of its row; sparse rows with weights are never centred.
    pub(crate) fn subtract(&mut self, means: &[f64], roots: &[f64]) {
        let Self::Dense(a) = self else { return };
        for (j, mean) in means.iter().enumerate() {
            a.col_as_slice_mut(j).iter_mut().zip(roots).for_each(|(v, root)| *v -= mean * root);
        }
    }

    /// The means of these rows, where the data are `centred`.
    pub(crate) fn centre(&self, centred: bool) -> Option<Centre> {
        match self {
            _ if !centred => None,
            Self::Dense(a) => Some(Centre::Dense(Centring::of(a.as_ref()))),
            Self::Sparse(a) => {
                let mean = |j| a.val_of_col(j).iter().sum::<f64>() / a.nrows() as f64;
                Some(Centre::Sparse((0..a.ncols()).map(mean).collect()))
            }
        }
    }

    pub(crate) fn view(&self, centre: Option<&Centre>) -> PcaData<'_> {
        match (self, centre) {
            (Self::Dense(a), Some(Centre::Dense(means))) => PcaData::Centred(a.as_ref(), means.clone()),
            (Self::Dense(a), _) => PcaData::Dense(a.as_ref()),
            (Self::Sparse(a), Some(Centre::Sparse(means))) => {
                PcaData::Sparse(a.as_ref(), Some(means.clone()))
            }
            (Self::Sparse(a), _) => PcaData::Sparse(a.as_ref(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_held_out_once() {
        let all = folds(11, 3, 7).unwrap();
        let mut held: Vec<usize> = all.iter().flat_map(|f| f.test.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, (0..11).collect::<Vec<_>>());
        for fold in &all {
            assert_eq!(fold.train.len() + fold.test.len(), 11);
            assert!(fold.test.iter().all(|i| !fold.train.contains(i)));
            assert!((3..=4).contains(&fold.test.len()));
        }
        assert_eq!(all, folds(11, 3, 7).unwrap());
        assert_ne!(all, folds(11, 3, 8).unwrap());
        assert!(folds(11, 1, 0).is_err() && folds(3, 4, 0).is_err());
    }

    #[test]
    fn the_sparsest_within_one_standard_error_is_chosen() {
        // means 0.2, 0.48, 0.5; errors of the last: 0.03
        let found = Validation::of(&[vec![0.2, 0.45, 0.47], vec![0.2, 0.51, 0.53]]);
        assert_eq!(found.chosen, 1);
        assert!((found.mean[2] - 0.5).abs() < 1e-12 && (found.error[2] - 0.03).abs() < 1e-12);
    }
}
