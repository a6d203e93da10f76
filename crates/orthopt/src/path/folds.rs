//! Cross-validation along a path: share of the variance of held-out rows that the components keep.

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Request, Watch, path};
use crate::error::{Error, Result};
use crate::problem::{PcaData, projected_share};
use crate::report::DataFacts;
use crate::smooth::Centring;

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

/// Variance of held-out rows that each point of a path keeps.
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

/// The path of every fold's training rows, evaluated on the held-out rows: means are those of the training rows where
/// the data are centred. `None` if it was interrupted.
///
/// # Errors
/// C instead of samples, numbers of folds out of range, errors of [`path`].
pub fn cross_validate(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &Request,
    count: usize,
    watch: &mut Watch<'_, '_>,
) -> Result<Option<Validation>> {
    let mut judged = Vec::new();
    // of no folds too the first is asked for: what is wrong with them is said there
    for fold in 0..count.max(1) {
        match judge(data, facts, request, (fold, count), watch)? {
            Some(shares) => judged.push(shares),
            None => return Ok(None),
        }
    }
    Ok(Some(Validation::of(&judged)))
}

/// One of `count` folds, counted from 0: the share of the variance of its held-out rows that each point of the path
/// of the others keeps. Folds are independent and can run on any machine. `None` if it was interrupted.
///
/// # Errors
/// Those of [`cross_validate`]; a fold that does not exist.
pub fn judge(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &Request,
    (fold, count): (usize, usize),
    watch: &mut Watch<'_, '_>,
) -> Result<Option<Vec<f64>>> {
    let rows = match data {
        PcaData::Gram(_) | PcaData::SparseGram(_) => {
            return Err(Error::Incompatible(
                "cross-validation needs samples, but the data are C itself".into(),
            ));
        }
        PcaData::Dense(a) | PcaData::Centred(a, _) => a.nrows(),
        PcaData::Sparse(a, _) => a.nrows(),
    };
    let all = folds(rows, count, request.wanted.seed)?;
    let fold = all.get(fold).ok_or_else(|| Error::InvalidOption {
        option: "fold".into(),
        value: fold.to_string(),
        expected: format!("a fold from 0 to {}", count - 1),
    })?;
    let kept = Rows::of(data, &fold.train)?;
    let centre = kept.centre(facts.centered || is_centred(data));
    let found = path(&kept.view(centre.as_ref()), facts, request, watch)?;
    if found.interrupted || found.points.len() < request.along.len() {
        return Ok(None);
    }
    let held = Rows::of(data, &fold.test)?;
    let test = held.view(centre.as_ref());
    let share = |point: &super::Point| projected_share(&test, point.report.x());
    found.points.iter().map(share).collect::<Result<Vec<f64>>>().map(Some)
}

fn is_centred(data: &PcaData<'_>) -> bool {
    matches!(data, PcaData::Centred(..) | PcaData::Sparse(_, Some(_)))
}

/// Some rows of samples.
enum Rows {
    Dense(Mat<f64>),
    Sparse(SparseColMat<usize, f64>),
}

/// Column means, as each kind of data takes them.
enum Centre {
    Dense(Centring),
    Sparse(Vec<f64>),
}

impl Rows {
    fn of(data: &PcaData<'_>, rows: &[usize]) -> Result<Self> {
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

    /// The means of these rows, where the data are `centred`.
    fn centre(&self, centred: bool) -> Option<Centre> {
        match self {
            _ if !centred => None,
            Self::Dense(a) => Some(Centre::Dense(Centring::of(a.as_ref()))),
            Self::Sparse(a) => {
                let mean = |j| a.val_of_col(j).iter().sum::<f64>() / a.nrows() as f64;
                Some(Centre::Sparse((0..a.ncols()).map(mean).collect()))
            }
        }
    }

    fn view(&self, centre: Option<&Centre>) -> PcaData<'_> {
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
