//! Training: epochs of batches, evaluation on valid, the best model so far.

use std::sync::Arc;

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::solve::Status;
use orthopt_linalg::simd::dispatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::batch::{Chunk, Types, chunks as chunks_of, order, stream};
use crate::chunk::{Asked, Gradient};
use crate::error::{Error, Result};
use crate::evaluate::{Metrics, Ranks};
use crate::graph::{Answers, Graph, Question, Triple};
use crate::jobcd::Estimator;
use crate::model::{Model, Parts};
use crate::moments::{Moments, disjoint};
use crate::options::{NoNegatives, Options, Rule, Scorer};
use crate::own::{Own, PerRelation};
use crate::race::Race;
use crate::relation::{Majoriser, Relation};

/// Measurements after an epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// Epochs done.
    pub epoch: usize,
    /// Seconds of training and evaluation so far.
    pub seconds: f64,
    /// The mean loss of a triple during the epoch.
    pub loss: f64,
    /// max |RᵀJR − J| over all relations.
    pub residual: f64,
    /// The ranking of valid, in epochs that end with an evaluation.
    pub valid: Option<Metrics>,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ended {
    /// All epochs are done.
    Epochs,
    /// The time is up.
    TimeLimit,
    /// The MRR on valid has not risen for `patience` evaluations, or for a quarter of the time limit.
    Patience,
    /// Somebody asked for it.
    Interrupted,
    /// The loss or a parameter is NaN or infinite; the best model so far is kept.
    NumericalError,
}

impl Ended {
    /// In the words that all runs use: `max_iters` after all epochs, `converged` where no better MRR on valid.
    pub fn status(self) -> Status {
        match self {
            Self::Epochs => Status::MaxIters,
            Self::TimeLimit => Status::TimeLimit,
            Self::Patience => Status::Converged,
            Self::Interrupted => Status::Interrupted,
            Self::NumericalError => Status::NumericalError,
        }
    }
}

/// Time of a run.
#[derive(Clone, Copy)]
pub(crate) struct Clock<'a> {
    /// All of the run.
    pub run: &'a Cancel,
    /// The end of this part of it.
    pub cancel: &'a Cancel,
    /// Seconds of training before the run.
    pub before: f64,
}

impl Clock<'_> {
    /// Seconds of training so far.
    pub fn now(&self) -> f64 {
        self.before + self.run.seconds()
    }
}

/// Times by which a wait for a better MRR on valid is measured.
pub(crate) struct Patience {
    /// Seconds of training when waiting began.
    since: f64,
    /// The time limit of the run.
    limit: Option<f64>,
}

/// A graph and what follows from it, the same for all models of it.
#[derive(Debug)]
struct Known {
    graph: Graph,
    no_negatives: Answers,
    facts: Answers,
    learned: Vec<bool>,
    types: Types,
    questions: Vec<Question>, // all of train, each once
}

/// Training that can be stopped after any batch, saved, and taken up again.
#[derive(Clone, Debug)]
pub struct Trainer {
    known: Arc<Known>,
    /// The model as it is now.
    pub model: Model,
    pub(crate) entity_moments: Moments,
    pub(crate) bias_moments: Moments,
    pub(crate) relation_moments: Moments,
    pub(crate) own_moments: Moments, // without rows where relations have nothing of their own
    pub(crate) majorisers: Vec<Majoriser>,
    pub(crate) estimators: Vec<Option<Estimator>>,
    pub(crate) best: Option<(f64, Parts)>, // MRR on valid, and the model that had it
    sound: Parts,                          // the last model whose numbers were all finite when an epoch ended
    pub(crate) history: Vec<Record>,
    pub(crate) epoch: usize,
    pub(crate) batch: usize,
    pub(crate) loss: f64, // of the epoch so far
    pub(crate) seconds: f64,
    pub(crate) idle: usize, // evaluations since the best
    pub(crate) race: Option<Race>,
    pub(crate) racing: bool,
    pub(crate) rivals: Vec<Self>, // the other models that are still in the race
}

/// ‖RᵀJR − J‖ from which relations are brought back onto the group.
const REPAIR_FROM: f64 = 1e-12;

/// Share of a time limit without a better MRR on valid after which training ends: the best epoch has then come before
/// three quarters of the time, and a run that is still rising has all of it.
const PATIENCE: f64 = 0.25;

impl Trainer {
    /// A random model of a graph, not trained yet.
    ///
    /// # Errors
    /// Options outside their range; no triples in train.
    pub fn new(graph: Graph, options: &Options) -> Result<Self> {
        let model = Self::first_model(&graph, options)?;
        Self::with_model(graph, model)
    }

    fn first_model(graph: &Graph, options: &Options) -> Result<Model> {
        let mut rng = stream(options.seed, 0, 0, 0);
        Model::random(options, graph.entities.len(), graph.relations.len(), &mut rng)
    }

    /// The training of a random model of the same graph with other options, in a race with this one.
    pub(crate) fn rival(&self, options: &Options) -> Result<Self> {
        Ok(self.beside(Self::first_model(self.graph(), options)?))
    }

    /// The training of a given model, in a race with this one.
    pub(crate) fn beside(&self, model: Model) -> Self {
        Self { racing: true, ..Self::of(Arc::clone(&self.known), model) }
    }

    /// Training that begins with a given model.
    pub(crate) fn with_model(graph: Graph, model: Model) -> Result<Self> {
        if graph.train.is_empty() {
            return Err(Error::Graph("train has no triples: there is nothing to learn from".into()));
        }
        let no_negatives = match model.options.no_negatives {
            NoNegatives::Train => Answers::of(&graph.train),
            NoNegatives::All => Answers::of(graph.facts()),
        };
        let known = Known {
            no_negatives,
            facts: Answers::of(graph.facts()),
            learned: graph.learned(),
            types: Types::of(&graph.train, graph.relations.len()),
            questions: questions_of(&graph.train),
            graph,
        };
        Ok(Self::of(Arc::new(known), model))
    }

    /// The beginning of training.
    fn of(known: Arc<Known>, model: Model) -> Self {
        let options = &model.options;
        let (entities, relations) = (model.bias.len(), model.relations.len());
        Self {
            known,
            entity_moments: Moments::new(options.optimiser, entities, options.dim),
            bias_moments: Moments::new(options.optimiser, entities, 1),
            relation_moments: Moments::new(options.of_relations(), relations, model.group().coordinates()),
            own_moments: Moments::new(
                options.of_relations(),
                if options.per_relation.is_empty() { 0 } else { model.own.len() },
                Own::LEN,
            ),
            majorisers: vec![Majoriser::default(); relations],
            estimators: vec![None; relations],
            best: None,
            sound: model.parts(),
            history: Vec::new(),
            epoch: 0,
            batch: 0,
            loss: 0.0,
            seconds: 0.0,
            idle: 0,
            race: None,
            racing: false,
            rivals: Vec::new(),
            model,
        }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.known.graph
    }

    /// All epochs so far.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    /// Seconds of training and evaluation so far, also before a checkpoint.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The model that was best on valid, or the last one where there is no valid; where its numbers broke, the one
    /// before.
    ///
    /// # Errors
    /// None: the options are those of the model.
    pub fn best(&self) -> Result<Model> {
        match &self.best {
            Some((_, parts)) => Model::of(parts.clone(), &self.model.options),
            None if self.model.is_finite() => Ok(self.model.clone()),
            None => Model::of(self.sound.clone(), &self.model.options),
        }
    }

    /// The filtered ranks of triples by a model of this graph; `None` if it was cancelled meanwhile.
    pub fn rank(&self, model: &Model, triples: &[Triple], cancel: &Cancel) -> Option<Ranks> {
        model.rank(triples, &self.known.facts, &self.known.learned, cancel)
    }

    /// Trains until all epochs are done or something else ends it; `seconds` of this call at most, and, with neither a
    /// number of epochs nor a patience, until a quarter of them has passed without a better MRR on valid. A race of
    /// signatures ([`racing`](Self::racing)) comes first. `watch` sees the record of each epoch (and may save the trainer).
    pub fn run(
        &mut self,
        seconds: Option<f64>,
        cancel: &Cancel,
        mut watch: impl FnMut(&Self, &Record),
    ) -> Ended {
        let run = cancel.within(seconds);
        let clock = Clock { run: &run, cancel: &run, before: self.seconds };
        let ended = self.finish_race(&clock, &mut watch);
        let patience = Patience { since: clock.now(), limit: seconds };
        let all = self.model.options.epochs;
        ended.or_else(|| self.train(all, &clock, Some(&patience), &mut watch)).unwrap_or(Ended::Epochs)
    }

    /// Trains until so many epochs are done, or says why not.
    pub(crate) fn train(
        &mut self,
        until: usize,
        clock: &Clock<'_>,
        patience: Option<&Patience>,
        watch: &mut dyn FnMut(&Self, &Record),
    ) -> Option<Ended> {
        while self.epoch < until.min(self.model.options.epochs) {
            let ended = self.one_epoch(clock.cancel);
            self.seconds = clock.now();
            if ended.is_some() {
                return ended;
            }
            let Some(record) = self.record(clock.cancel) else { return Some(Ended::Interrupted) };
            self.seconds = clock.now();
            let broken = !record.loss.is_finite() || !self.model.is_finite();
            self.history.push(Record { seconds: self.seconds, ..record });
            watch(self, &self.history[self.history.len() - 1]);
            if broken {
                return Some(Ended::NumericalError);
            }
            if patience.is_some_and(|patience| self.stands_still(patience)) {
                return Some(Ended::Patience);
            }
        }
        None
    }

    /// True if valid has had no better MRR for as long as the options wait.
    fn stands_still(&self, Patience { since, limit }: &Patience) -> bool {
        let options = &self.model.options;
        match (options.patience, limit) {
            (Some(patience), _) => patience > 0 && self.idle >= patience,
            (None, Some(limit)) if options.epochs == Options::NO_END => {
                let idle = |best: &Record| self.seconds - best.seconds.max(*since);
                self.best_record().is_some_and(|best| idle(best) >= PATIENCE * limit)
            }
            _ => false,
        }
    }

    /// The epoch with the best MRR on valid, of several the first.
    fn best_record(&self) -> Option<&Record> {
        let better = |best: Option<&'_ Record>, r: &Record| {
            let mrr = |r: &Record| r.valid.map(|m| m.mrr);
            best.is_none_or(|best| mrr(r) > mrr(best))
        };
        let evaluated = self.history.iter().filter(|r| r.valid.is_some());
        evaluated.fold(None, |best, r| if better(best, r) { Some(r) } else { best })
    }

    /// The rest of an epoch, or why it ended earlier.
    fn one_epoch(&mut self, cancel: &Cancel) -> Option<Ended> {
        let (order, size) = (order(&self.model.options, self.items(), self.epoch), self.model.options.batch);
        let batches: Vec<&[u32]> = order.chunks(size).collect();
        while self.batch < batches.len() {
            if cancel.is_cancelled() {
                return Some(Ended::Interrupted);
            }
            if cancel.is_late() {
                return Some(Ended::TimeLimit);
            }
            match self.model.options.scorer {
                Scorer::Ultrae => self.one_batch(batches[self.batch]),
                _ => self.one_batch_of_questions(batches[self.batch]),
            }
            self.batch += 1;
        }
        None
    }

    /// Number of triples, or of questions, that an epoch goes through.
    fn items(&self) -> usize {
        match self.model.options.scorer {
            Scorer::Ultrae => self.known.graph.train.len(),
            _ => self.known.questions.len(),
        }
    }

    /// Ends an epoch: feasibility, the ranking of valid, the best model. `None` if it was cancelled meanwhile; then
    /// the epoch has not ended yet.
    fn record(&mut self, cancel: &Cancel) -> Option<Record> {
        let residual = self.repair();
        let epoch = self.epoch + 1;
        let options = &self.model.options;
        let asked = epoch.is_multiple_of(options.evaluate_every) || epoch == options.epochs;
        let finite = self.model.is_finite();
        let valid = match asked && finite && !self.known.graph.valid.is_empty() {
            true => Some(self.rank(&self.model, &self.known.graph.valid, cancel)?.metrics()),
            false => None,
        };
        if let Some(metrics) = &valid {
            self.idle += 1;
            let model = &self.model;
            if self.best.as_ref().is_none_or(|(mrr, _)| metrics.mrr > *mrr) {
                (self.best, self.idle) = (Some((metrics.mrr, model.parts())), 0);
            }
        }
        if finite && self.best.is_none() {
            self.sound = self.model.parts();
        }
        let loss = self.loss / self.items() as f64;
        (self.epoch, self.batch, self.loss) = (epoch, 0, 0.0);
        Some(Record { epoch, seconds: 0.0, loss, residual, valid })
    }

    /// Rounding moves relations off the group, very slowly, and the faster the larger they are. Returns how far they
    /// are now.
    fn repair(&mut self) -> f64 {
        if self.model.options.scorer != Scorer::Ultrae {
            return self.model.residual(); // products of rotations and boosts need no repair
        }
        let group = self.model.group().clone();
        let mut worst = 0.0f64;
        for (relation, matrix) in self.model.relations.iter_mut().zip(&mut self.model.matrices) {
            let tamed = group.tame(relation);
            let residual = group.residual(matrix);
            if tamed || (residual > REPAIR_FROM && group.repair(relation)) {
                *matrix = group.matrix(relation);
            }
            worst = worst.max(group.residual(matrix));
        }
        worst
    }

    fn one_batch(&mut self, items: &[u32]) {
        let triples: Vec<Triple> = items.iter().map(|i| self.known.graph.train[*i as usize]).collect();
        let triples = triples.as_slice();
        let rate = self.model.options.rate(self.epoch);
        let chunks = chunks_of(&self.model, triples, &self.known.types, self.epoch, self.batch);
        let view = self.model.view(&self.known.no_negatives);
        let gradients: Vec<Gradient> =
            chunks.par_iter().map(|chunk| view.gradient(&chunk.asked, &chunk.negatives)).collect();
        self.loss += gradients.iter().map(|g| g.loss).sum::<f64>();
        let scale = 1.0 / triples.len() as f64;
        self.move_relations(&chunks, &gradients, rate, scale);
        self.move_own(&gradients, rate, scale);
        self.move_entities(&chunks, &gradients, rate, scale);
    }

    /// Some questions with all their answers, by a scorer that is an inner product.
    fn one_batch_of_questions(&mut self, items: &[u32]) {
        let (options, rate) = (&self.model.options, self.model.options.rate(self.epoch));
        let mut asked: Vec<Asked> =
            items.iter().map(|i| self.model.asked(self.known.questions[*i as usize], 0)).collect();
        asked.sort_unstable();
        let view = self.model.view(&self.known.no_negatives);
        let mut mean = view.mean(&asked, &self.known.no_negatives, options.n3);
        self.loss += mean.loss * items.len() as f64;
        let (lr, relation_lr, n) = (rate * options.lr, rate * options.relation_lr, options.dim);
        let scaled = options.has(PerRelation::Scale);
        let group = self.model.group().clone();
        for (i, slopes, to_factor) in &mut mean.relations {
            let i = *i as usize;
            self.relation_moments.row(i).step(relation_lr, slopes);
            group.advance(&mut self.model.relations[i], slopes);
            if scaled {
                let mut step = [*to_factor, 0.0];
                self.own_moments.row(i).step(relation_lr, &mut step);
                self.model.own[i].scale += step[0];
            }
        }
        let ids: Vec<u32> = (0..self.model.bias.len() as u32).collect();
        let rows = self
            .model
            .parameters
            .data_mut()
            .par_chunks_mut(n)
            .zip(mean.entities.data_mut().par_chunks_mut(n));
        rows.zip(self.entity_moments.rows(&ids)).with_min_len(256).for_each(|((u, g), mut row)| {
            dispatch(|| {
                row.step(lr, g);
                u.iter_mut().zip(&*g).for_each(|(u, step)| *u += step);
            });
        });
    }

    /// Moves the parameters of their own that the relations of the batch have.
    fn move_own(&mut self, gradients: &[Gradient], rate: f64, scale: f64) {
        let options = &self.model.options;
        if options.per_relation.is_empty() {
            return;
        }
        let learned = [PerRelation::Scale, PerRelation::Curvature].map(|what| options.has(what));
        let lr = rate * options.relation_lr;
        let mut sums = std::collections::BTreeMap::<u32, [f64; Own::LEN]>::new();
        for (matrix, own) in gradients.iter().flat_map(|g| g.matrices.iter().map(|m| m.0).zip(&g.own)) {
            let sum = sums.entry(matrix).or_default();
            sum.iter_mut().zip(own.numbers()).for_each(|(s, g)| *s += scale * g);
        }
        for (i, mut step) in sums {
            let own = &mut self.model.own[i as usize];
            self.own_moments.row(i as usize).step(lr, &mut step);
            let mut numbers = own.numbers();
            let moved = numbers.iter_mut().zip(step).zip(learned).filter(|(_, learned)| *learned);
            moved.for_each(|((x, step), _)| *x += step);
            *own = Own::of(numbers);
        }
    }

    /// The moments of everything that is learned, in the order in which files have them.
    pub(crate) fn all_moments(&self) -> [&Moments; 4] {
        [&self.entity_moments, &self.bias_moments, &self.relation_moments, &self.own_moments]
    }

    /// Every relation of the batch by its rule.
    fn move_relations(&mut self, chunks: &[Chunk], gradients: &[Gradient], rate: f64, scale: f64) {
        let mut sums: Vec<Option<RowMat>> = vec![None; self.model.relations.len()];
        for (matrix, g) in gradients.iter().flat_map(|g| &g.matrices) {
            let add = |sum: &mut RowMat| sum.data_mut().iter_mut().zip(g.data()).for_each(|(s, g)| *s += g);
            match &mut sums[*matrix as usize] {
                Some(sum) => add(sum),
                none => *none = Some(g.clone()),
            }
        }
        if self.model.options.rule != Rule::Adaptive {
            return self.descend_relations(chunks, sums);
        }
        let lr = rate * self.model.options.relation_lr;
        let model = &mut self.model;
        let group = model.group().clone();
        let (ids, sums): (Vec<u32>, Vec<RowMat>) =
            (0..).zip(sums).filter_map(|(i, sum): (u32, _)| Some((i, sum?))).unzip();
        let relations = disjoint(&mut model.relations, 1, &ids).into_par_iter();
        let matrices = disjoint(&mut model.matrices, 1, &ids);
        let all = relations.zip(matrices).zip(self.relation_moments.rows(&ids)).zip(sums);
        all.for_each(|(((relation, matrix), mut row), mut g)| {
            let (relation, matrix) = (&mut relation[0], &mut matrix[0]);
            g.data_mut().iter_mut().for_each(|g| *g *= scale);
            let mut step = group.gradient(relation, &g);
            dispatch(|| row.step(lr, &mut step));
            group.advance(relation, &mut step);
            *matrix = group.matrix(relation);
        });
    }

    /// J-JOBCD and its variance-reduced form.
    fn descend_relations(&mut self, chunks: &[Chunk], sums: Vec<Option<RowMat>>) {
        let of = self.known.graph.train.len();
        let triples = chunks.iter().map(|chunk| chunk.asked.len()).sum::<usize>() / 2;
        let place = crate::jobcd::Place { epoch: self.epoch, batch: self.batch, chunks, triples, of };
        let estimators = std::mem::take(&mut self.estimators);
        let everything =
            || chunks_of(&self.model, &self.known.graph.train, &self.known.types, self.epoch, usize::MAX);
        let view = self.model.view(&self.known.no_negatives);
        let moved = crate::jobcd::descend(
            &self.model,
            &view,
            &place,
            sums,
            &self.majorisers,
            estimators,
            &everything,
        );
        for (i, (relation, majoriser)) in moved.moved {
            self.model.matrices[i] = relation.clone();
            self.model.relations[i] = Relation::Full(relation);
            self.majorisers[i] = majoriser;
        }
        self.estimators = moved.estimators;
    }

    /// Every entity of the batch, its bias and its point.
    fn move_entities(&mut self, chunks: &[Chunk], gradients: &[Gradient], rate: f64, scale: f64) {
        let n = self.model.options.dim;
        let (ids, sums) = sums_of(chunks, gradients, self.model.bias.len(), n);
        let (lr, decay) = (rate * self.model.options.lr, self.model.options.decay);
        let model = &mut self.model;
        let space = model.metric().space;
        let parameters = disjoint(model.parameters.data_mut(), n, &ids).into_par_iter();
        let points = disjoint(model.points.data_mut(), n, &ids);
        let biases = disjoint(&mut model.bias, 1, &ids);
        let moments = (self.entity_moments.rows(&ids), self.bias_moments.rows(&ids));
        let rows = parameters.zip(points).zip(biases).zip(moments.0).zip(moments.1);
        rows.zip(sums).with_min_len(256).for_each(
            |(((((u, point), bias), mut row), mut bias_row), mut g)| {
                dispatch(|| {
                    g.iter_mut().for_each(|g| *g *= scale);
                    let (g, g_bias) = g.split_at_mut(n);
                    space.pull_back(u, g);
                    space.shrink(u, decay, g);
                    row.step(lr, g);
                    bias_row.step(lr, g_bias);
                    u.iter_mut().zip(&*g).for_each(|(u, step)| *u += step);
                    bias[0] += g_bias[0];
                    space.point(u, point);
                });
            },
        );
    }
}

/// The questions of some triples, each once, in ascending order.
fn questions_of(triples: &[Triple]) -> Vec<Question> {
    let mut all: Vec<Question> = triples.iter().flat_map(Triple::questions).map(|(q, _)| q).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The entities of some chunks, ascending, and for each the sum of its gradients: n numbers, and the bias.
fn sums_of(chunks: &[Chunk], gradients: &[Gradient], entities: usize, n: usize) -> (Vec<u32>, Vec<Vec<f64>>) {
    const NONE: u32 = u32::MAX;
    let (mut slot, mut ids) = (vec![NONE; entities], Vec::new());
    let known = |chunk: &Chunk| chunk.asked.iter().map(|a| a.question.known).collect::<Vec<_>>();
    let candidates = |chunk: &Chunk| {
        let answers = chunk.asked.iter().map(|a| a.answer);
        chunk.negatives.iter().copied().chain(answers).collect::<Vec<_>>()
    };
    for id in chunks.iter().flat_map(|chunk| [known(chunk), candidates(chunk)].concat()) {
        if slot[id as usize] == NONE {
            slot[id as usize] = 0;
            ids.push(id);
        }
    }
    ids.sort_unstable();
    ids.iter().zip(0..).for_each(|(id, at)| slot[*id as usize] = at);
    let mut sums = vec![vec![0.0; n + 1]; ids.len()];
    let mut add = |ids: Vec<u32>, g: &RowMat, bias: &[f64]| {
        for (i, id) in ids.into_iter().enumerate() {
            let sum = &mut sums[slot[id as usize] as usize];
            sum[..n].iter_mut().zip(g.row(i)).for_each(|(s, g)| *s += g);
            sum[n] += bias[i];
        }
    };
    for (chunk, g) in chunks.iter().zip(gradients) {
        add(candidates(chunk), &g.candidates, &g.candidate_bias);
        add(known(chunk), &g.known, &g.known_bias);
    }
    (ids, sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trainer with a history: seconds and MRR on valid of each epoch.
    fn after(history: &[(f64, Option<f64>)], epochs: usize, patience: Option<usize>) -> Trainer {
        let train = vec![Triple { head: 0, relation: 0, tail: 1 }];
        let (entities, relations) = (vec!["a".into(), "b".into()], vec!["r".into()]);
        let graph = Graph { entities, relations, train, ..Graph::default() };
        let options = Options { dim: 2, signature: 1, epochs, patience, ..Options::of(Scorer::Ultrae) };
        let mut trainer = Trainer::new(graph, &options).unwrap();
        let record = |(seconds, mrr): &(f64, Option<f64>)| Record {
            seconds: *seconds,
            valid: mrr.map(|mrr| Metrics { mrr, ..Metrics::default() }),
            ..Record::default()
        };
        trainer.history = history.iter().map(record).collect();
        trainer.seconds = history.last().unwrap().0;
        trainer
    }

    /// With a time limit alone training ends where valid has stood still for a quarter of it, however long it is.
    #[test]
    fn patience_grows_with_the_time_limit() {
        let ends = |trainer: &Trainer, since: f64, limit: f64| {
            trainer.stands_still(&Patience { since, limit: Some(limit) })
        };
        for limit in [2.0, 6.0, 1800.0] {
            let end = |share: f64, mrr: Option<f64>| {
                let history = [(0.1, Some(0.2)), (0.5, Some(0.4)), (0.5 + 0.1 * limit, Some(0.4))];
                let last = (0.5 + share * limit, mrr);
                after(&[&history[..], &[last]].concat(), Options::NO_END, None)
            };
            for mrr in [Some(0.3), Some(0.4), None] {
                assert!(!ends(&end(0.24, mrr), 0.0, limit) && ends(&end(0.26, mrr), 0.0, limit), "{limit}");
                // waiting began after the best epoch, in a run that continues from a checkpoint or after a race
                assert!(!ends(&end(0.26, mrr), 0.5 + 0.02 * limit, limit));
                assert!(ends(&end(0.28, mrr), 0.5 + 0.02 * limit, limit));
            }
            assert!(!ends(&end(0.9, Some(0.5)), 0.0, limit), "a better one");
            assert!(!ends(&after(&[(limit, None)], Options::NO_END, None), 0.0, limit), "nothing ranked");
        }
        let still = [(0.5, Some(0.4)), (9.0, Some(0.3))];
        assert!(ends(&after(&still, Options::NO_END, None), 0.0, 10.0));
        assert!(!ends(&after(&still, 100, None), 0.0, 10.0), "the number of epochs is given");
        for (patience, idle, end) in [(0, 9, false), (2, 1, false), (2, 2, true)] {
            let mut trainer = after(&still, Options::NO_END, Some(patience));
            trainer.idle = idle;
            assert_eq!(ends(&trainer, 0.0, 10.0), end, "{patience} {idle}");
        }
    }
}
