//! J-JOBCD and VR-J-JOBCD on the relations of a batch (JOBCD paper, Algorithm 2, App. F.2). Relations that no
//! question of the batch mentions are not touched.

use orthopt::RowMat;
use rand::RngExt;
use rayon::prelude::*;

use crate::batch::{COINS, Chunk, PAIRS, stream};
use crate::chunk::{Asked, View};
use crate::model::Model;
use crate::options::Rule;
use crate::relation::Majoriser;

/// The variance-reduced estimator of a relation's gradient (PAGE).
#[derive(Clone, Debug, PartialEq)]
pub struct Estimator {
    /// R where the estimator was.
    pub(crate) at: RowMat,
    /// The gradient of the mean loss of the relation's questions there, or what is known of it.
    pub(crate) g: RowMat,
}

/// Position of the training.
pub(crate) struct Place<'a> {
    pub epoch: usize,
    pub batch: usize,
    pub chunks: &'a [Chunk],
    pub triples: usize, // of the batch
    pub of: usize,      // of train
}

/// Parts that changed.
pub(crate) struct Moved {
    pub moved: Vec<(usize, (RowMat, Majoriser))>,
    pub estimators: Vec<Option<Estimator>>,
}

/// The questions of one relation among chunks, with the negatives of these.
fn of_relation(chunks: &[Chunk], matrix: usize) -> Vec<(Vec<Asked>, &[u32])> {
    let own = |chunk: &Chunk| -> Vec<Asked> {
        let asked = chunk.asked.iter().filter(|a| a.matrix as usize == matrix);
        asked.map(|a| Asked { matrix: 0, ..*a }).collect()
    };
    let all = chunks.iter().map(|chunk| (own(chunk), chunk.negatives.as_slice()));
    all.filter(|(asked, _)| !asked.is_empty()).collect()
}

/// The mean loss of a relation's questions at R, and its gradient.
fn mean_gradient(view: &View<'_>, questions: &[(Vec<Asked>, &[u32])], r: &RowMat) -> RowMat {
    let view = View { matrices: std::slice::from_ref(r), ..*view };
    let mut sum = RowMat::zeros(r.nrows(), r.ncols());
    let count = number(questions);
    for (asked, negatives) in questions {
        for (_, g) in view.gradient(asked, negatives).matrices {
            sum.data_mut().iter_mut().zip(g.data()).for_each(|(s, g)| *s += g / count as f64);
        }
    }
    sum
}

/// The mean from the sum over questions.
fn mean_of(sum: &RowMat, questions: &[(Vec<Asked>, &[u32])]) -> RowMat {
    let count = number(questions) as f64;
    RowMat::from_fn(sum.nrows(), sum.ncols(), |a, b| sum.get(a, b) / count)
}

fn number(questions: &[(Vec<Asked>, &[u32])]) -> usize {
    questions.iter().map(|(asked, _)| asked.len()).sum()
}

/// One step of every relation that has a gradient in `sums`; `everything` gives the chunks of all of train, for
/// full gradients.
pub(crate) fn descend(
    model: &Model,
    view: &View<'_>,
    place: &Place<'_>,
    sums: Vec<Option<RowMat>>,
    majorisers: &[Majoriser],
    estimators: Vec<Option<Estimator>>,
    everything: &(dyn Fn() -> Vec<Chunk> + Sync),
) -> Moved {
    let options = &model.options;
    let vr = options.rule == Rule::VrJJobcd;
    // the coin of PAGE: a full gradient with probability b/(N + b)
    let batch = place.triples as f64;
    let mut coin = stream(options.seed, COINS, place.epoch, place.batch);
    let first = estimators.iter().all(Option::is_none);
    let full = vr && (first || coin.random::<f64>() < batch / (place.of as f64 + batch));
    let all = if full { everything() } else { Vec::new() };
    let step = |(i, (sum, estimator)): (usize, (Option<RowMat>, Option<Estimator>))| {
        if sum.is_none() && !full {
            return (None, estimator);
        }
        let r = &model.matrices[i];
        let questions = of_relation(place.chunks, i);
        let g = match (vr, &estimator) {
            (true, _) if full => mean_gradient(view, &of_relation(&all, i), r),
            (true, Some(last)) => {
                let (now, then) =
                    (mean_gradient(view, &questions, r), mean_gradient(view, &questions, &last.at));
                RowMat::from_fn(r.nrows(), r.ncols(), |a, b| {
                    last.g.get(a, b) + now.get(a, b) - then.get(a, b)
                })
            }
            _ => sum.map_or_else(|| RowMat::zeros(r.nrows(), r.ncols()), |sum| mean_of(&sum, &questions)),
        };
        let estimator = vr.then(|| Estimator { at: r.clone(), g: g.clone() });
        if questions.is_empty() {
            return (None, estimator);
        }
        let count = number(&questions);
        let value = |r: &RowMat| {
            let view = View { matrices: std::slice::from_ref(r), ..*view };
            questions.iter().map(|(asked, negatives)| view.loss(asked, negatives)).sum::<f64>() / count as f64
        };
        let (mut moved, mut majoriser) = (r.clone(), majorisers[i].clone());
        let part = place.batch * model.relations.len() + i;
        let mut rng = stream(options.seed, PAIRS, place.epoch, part);
        majoriser.step(&model.group().j, &mut moved, &g, value(r), &mut rng, value);
        (Some((i, (moved, majoriser))), estimator)
    };
    let pairs: Vec<_> = sums.into_iter().zip(estimators).enumerate().collect();
    let (moved, estimators): (Vec<_>, Vec<_>) = pairs.into_par_iter().map(step).unzip();
    Moved { moved: moved.into_iter().flatten().collect(), estimators }
}
