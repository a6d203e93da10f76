//! The signature by a race. Models of several signatures are trained side by side from the same seed. After every round the
//! worse half of them ends, by MRR on valid (successive halving), until one is left, which continues as it is.
//!
//! Rounds are counted in epochs, so that a seed has the same winner on every machine. A time limit may leave no time for a
//! race; then the leader continues.

use orthopt::cancel::Cancel;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::options::Options;
use crate::train::{Clock, Ended, Record, Trainer};

/// A race of signatures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Race {
    /// All signatures, in the order in which they were given.
    pub tried: Vec<Tried>,
    /// The signature that leads; at the end, the one that is chosen.
    pub chosen: usize,
    /// Number of complete rounds.
    pub rounds: usize,
    /// Reason why it ended.
    pub ended: RaceEnded,
}

/// A signature in a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tried {
    /// The signature.
    pub signature: usize,
    /// Epochs of its model in the race.
    pub epochs: usize,
    /// The best MRR on valid in them.
    pub mrr: Option<f64>,
}

/// Reason why a race ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RaceEnded {
    /// It has not: training was interrupted or its time was up meanwhile.
    NotYet,
    /// One was left.
    OneLeft,
    /// Its share of the time limit is too short for all rounds. The leader after the last complete one continues; without
    /// one, the first.
    TimeLimit,
}

/// Number of epochs of a round, or, if there is no evaluation then, the number until the next one.
const ROUND: usize = 5;

/// Share of a time limit that a race may take.
const SHARE: f64 = 0.25;

impl Options {
    /// Signatures for a race at this dimension, without those that the other options refuse: the default first; hyperbolic
    /// space; Euclidean; as many coordinates of either sign; a sphere.
    pub fn signatures(&self) -> Vec<usize> {
        let n = self.dim;
        let mut all = Vec::new();
        for signature in [self.scorer.signature(n), n.saturating_sub(1), n, n / 2, 0] {
            let options = Self { signature, ..self.clone() };
            if !all.contains(&signature) && options.check().is_ok() {
                all.push(signature);
            }
        }
        all
    }
}

/// Turns of models in all rounds of a race.
fn turns(mut models: usize) -> usize {
    let mut turns = 0;
    while models > 1 {
        turns += models;
        models = models.div_ceil(2);
    }
    turns
}

impl Trainer {
    /// Models of several signatures, not trained yet. [`run`](Self::run) begins with their race and continues with the winner.
    ///
    /// # Errors
    /// Options outside their range; no signature, or one twice; no triples in train or valid.
    pub fn racing(graph: Graph, options: &Options, signatures: &[usize]) -> Result<Self> {
        if graph.valid.is_empty() {
            return Err(Error::Graph(
                "valid has no triples, which decide a race of signatures: choose one".into(),
            ));
        }
        let [first, others @ ..] = signatures else {
            return Err(Error::option("signature", "missing", "at least one for a race"));
        };
        if let Some((_, twice)) = signatures.iter().enumerate().find(|(i, s)| signatures[..*i].contains(s)) {
            return Err(Error::option("signature", twice, "each of them once in a race"));
        }
        let with = |signature: usize| Options { signature, ..options.clone() };
        let mut trainer = Self::new(graph, &with(*first))?;
        trainer.rivals = others.iter().map(|p| trainer.rival(&with(*p))).collect::<Result<_>>()?;
        trainer.racing = true;
        let tried = |&signature: &usize| Tried { signature, epochs: 0, mrr: None };
        let tried = signatures.iter().map(tried).collect();
        trainer.race = Some(Race { tried, chosen: *first, rounds: 0, ended: RaceEnded::NotYet });
        Ok(trainer)
    }

    /// The race of signatures that training began with, if any.
    pub fn race(&self) -> Option<&Race> {
        self.race.as_ref()
    }

    /// True if the model is one of a race that continues.
    pub fn is_racing(&self) -> bool {
        self.racing
    }

    /// The rest of the race, after which this is the winner; or why training ended before. `watch` receives the records of
    /// all models.
    pub(crate) fn finish_race(
        &mut self,
        clock: &Clock<'_>,
        watch: &mut dyn FnMut(&Self, &Record),
    ) -> Option<Ended> {
        let share = clock.run.within(clock.run.limit().map(|limit| SHARE * limit));
        while self.race.as_ref().is_some_and(|race| race.ended == RaceEnded::NotYet) {
            let ended = match self.rivals.is_empty() {
                true => Ok(RaceEnded::OneLeft),
                false => self.round(clock, &share, watch),
            };
            self.seconds = clock.now();
            let race = self.race.as_mut()?;
            race.chosen = self.model.options.signature;
            match ended {
                Ok(ended) => race.ended = ended,
                Err(ended) => return Some(ended),
            }
            if race.ended != RaceEnded::NotYet {
                self.rivals.clear();
                self.racing = false;
            }
        }
        None
    }

    /// One round, and how the race ended by it; or why training did.
    fn round(
        &mut self,
        clock: &Clock<'_>,
        share: &Cancel,
        watch: &mut dyn FnMut(&Self, &Record),
    ) -> std::result::Result<RaceEnded, Ended> {
        let rounds = self.race.as_ref().map_or(0, |race| race.rounds);
        for i in 0..=self.rivals.len() {
            let begun = share.seconds();
            let model = if i == 0 { &mut *self } else { &mut self.rivals[i - 1] };
            let every = model.model.options.evaluate_every;
            let until = ROUND.div_ceil(every).saturating_mul(every).saturating_mul(rounds + 1);
            let ended = model.train(until, &Clock { cancel: share, ..*clock }, None, watch);
            let now = Tried {
                signature: model.model.options.signature,
                epochs: model.epoch,
                mrr: model.best.as_ref().map(|(mrr, _)| *mrr),
            };
            let tried = self.race.iter_mut().flat_map(|race| &mut race.tried);
            tried.filter(|tried| tried.signature == now.signature).for_each(|tried| *tried = now.clone());
            match ended {
                Some(Ended::TimeLimit) if !clock.run.is_late() => return Ok(RaceEnded::TimeLimit),
                Some(ended @ (Ended::TimeLimit | Ended::Interrupted)) => return Err(ended),
                _ => {}
            }
            let all = (share.seconds() - begun) * turns(1 + self.rivals.len()) as f64;
            if rounds == 0 && i == 0 && share.limit().is_some_and(|limit| all > limit) {
                return Ok(RaceEnded::TimeLimit);
            }
        }
        self.drop_worse_half();
        if self.standing() == f64::NEG_INFINITY {
            return Err(Ended::NumericalError);
        }
        self.race.iter_mut().for_each(|race| race.rounds += 1);
        Ok(RaceEnded::NotYet)
    }

    /// The best MRR on valid, of a model whose numbers have not broken.
    fn standing(&self) -> f64 {
        let loss = self.history.last().map_or(0.0, |record| record.loss);
        let mrr = self.best.as_ref().map(|(mrr, _)| *mrr);
        mrr.filter(|_| loss.is_finite() && self.model.is_finite()).unwrap_or(f64::NEG_INFINITY)
    }

    /// Leaves the better half of the models in the race, the best of them here; of equal ones, the first.
    fn drop_worse_half(&mut self) {
        let worse_last = |field: &mut [Self]| field.sort_by(|a, b| b.standing().total_cmp(&a.standing()));
        let (race, mut field) = (self.race.take(), std::mem::take(&mut self.rivals));
        worse_last(&mut field);
        if let Some(best) = field.first_mut().filter(|best| best.standing() > self.standing()) {
            std::mem::swap(self, best);
        }
        worse_last(&mut field);
        field.truncate((1 + field.len()).div_ceil(2) - 1);
        field.retain(|rival| rival.standing() > f64::NEG_INFINITY);
        (self.race, self.rivals) = (race, field);
    }
}
