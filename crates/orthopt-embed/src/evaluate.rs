//! Filtered ranks (JOBCD paper, App. F.2; Bordes et al., 2013).
//!
//! Every triple asks for its tail and for its head; the rank of the answer among all entities, other known answers
//! left out, is 1 + (better ones) + (ties)/2. Known are the facts that are given and the triples that are ranked.

use orthopt::cancel::Cancel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::chunk::Asked;
use crate::graph::{Answers, Question, Triple};
use crate::model::Model;
use crate::options::Unknown;

/// Quality of rankings. Hits are shares of ranks of at most 1, 3 and 10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Metrics {
    /// The mean of 1/rank.
    pub mrr: f64,
    /// Share of first places.
    pub hits1: f64,
    /// Share of the first three places.
    pub hits3: f64,
    /// Share of the first ten places.
    pub hits10: f64,
    /// Triples that were ranked, on both sides.
    pub triples: usize,
}

/// The ranks of some triples.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    /// Tail and head rank of every triple that was ranked.
    pub ranks: Vec<(Triple, [f64; 2])>,
    /// Triples with an entity that train does not know.
    pub unknown: usize,
}

/// Questions that one task answers: their scores are b × entities numbers.
const QUESTIONS: usize = 32;
/// Entities of a block, so that it stays in the cache of a core.
const BLOCK: usize = 2048;

/// Facts whose answers take no place from another.
struct Known<'a> {
    given: &'a Answers,
    ranked: Answers,
}

impl Known<'_> {
    /// The answers to a question, each once.
    fn to(&self, question: &Question) -> impl Iterator<Item = u32> {
        let given = self.given.to(question);
        let more = self.ranked.to(question).iter().filter(|id| given.binary_search(id).is_err());
        given.iter().chain(more).copied()
    }
}

impl Metrics {
    /// From ranks.
    pub fn of<'a>(ranks: impl IntoIterator<Item = &'a [f64; 2]>) -> Self {
        let ranks: Vec<f64> = ranks.into_iter().flatten().copied().collect();
        let mean = |value: &dyn Fn(f64) -> f64| {
            ranks.iter().map(|rank| value(*rank)).sum::<f64>() / ranks.len().max(1) as f64
        };
        let within = |k: f64| mean(&|rank| f64::from(u8::from(rank <= k)));
        Self {
            mrr: mean(&|rank| 1.0 / rank),
            hits1: within(1.0),
            hits3: within(3.0),
            hits10: within(10.0),
            triples: ranks.len() / 2,
        }
    }
}

impl Ranks {
    /// Of all triples.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(self.ranks.iter().map(|(_, ranks)| ranks))
    }

    /// Of the triples of every relation that occurs, with its index.
    pub fn by_relation(&self) -> Vec<(u32, Metrics)> {
        let mut groups: std::collections::BTreeMap<u32, Vec<&[f64; 2]>> = Default::default();
        self.ranks.iter().for_each(|(t, ranks)| groups.entry(t.relation).or_default().push(ranks));
        groups.into_iter().map(|(relation, ranks)| (relation, Metrics::of(ranks))).collect()
    }
}

impl Model {
    /// The filtered ranks of `triples`; `facts` are the answers that are known beside those of `triples`, `learned` the
    /// entities of train. `None` if it was cancelled meanwhile. The same for any number of threads.
    ///
    /// Cost 4·triples·entities·n flops.
    pub fn rank(
        &self,
        triples: &[Triple],
        facts: &Answers,
        learned: &[bool],
        cancel: &Cancel,
    ) -> Option<Ranks> {
        let facts = Known { given: facts, ranked: Answers::of(triples) };
        let known = |t: &Triple| learned[t.head as usize] && learned[t.tail as usize];
        let policy = self.options.unknown;
        let unknown = triples.iter().filter(|t| !known(t)).count();
        let ranked: Vec<Triple> =
            triples.iter().filter(|t| policy != Unknown::LeaveOut || known(t)).copied().collect();
        // questions with the same matrix together: triples come in any order
        let mut asked: Vec<(Asked, usize)> = self.questions(&ranked).into_iter().zip(0..).collect();
        asked.sort_unstable();
        let all = (0..self.points().nrows()).collect::<Vec<_>>();
        let blocks: Vec<_> = all.chunks(BLOCK).map(|rows| self.points_of(rows)).collect();
        let found: Vec<Option<Vec<f64>>> = asked
            .par_chunks(QUESTIONS)
            .map(|asked| {
                let asked: Vec<Asked> = asked.iter().map(|(asked, _)| *asked).collect();
                (!cancel.is_cancelled()).then(|| self.ranks_of(&asked, &blocks, &facts))
            })
            .collect();
        let found = found.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten();
        let mut ranks = vec![0.0; asked.len()];
        asked.iter().zip(found).for_each(|((_, at), rank)| ranks[*at] = rank);
        let mut ranks = ranks.into_iter();
        let mut out = Vec::with_capacity(ranked.len());
        for triple in ranked {
            let mut pair = [ranks.next()?, ranks.next()?];
            if policy == Unknown::Last && !known(&triple) {
                for (rank, (question, answer)) in pair.iter_mut().zip(triple.questions()) {
                    let others = facts.to(&question).filter(|other| *other != answer).count();
                    *rank = (self.points().nrows() - others) as f64;
                }
            }
            out.push((triple, pair));
        }
        Some(Ranks { ranks: out, unknown })
    }

    fn points_of(&self, rows: &[usize]) -> orthopt::RowMat {
        orthopt::RowMat::from_fn(rows.len(), self.points().ncols(), |i, k| self.points().get(rows[i], k))
    }

    fn ranks_of(&self, asked: &[Asked], blocks: &[orthopt::RowMat], facts: &Known<'_>) -> Vec<f64> {
        let nothing = Answers::default();
        let view = self.view(&nothing);
        let biases = self.bias.chunks(BLOCK);
        let scores: Vec<_> = blocks.iter().zip(biases).map(|(x, bias)| view.scores(asked, x, bias)).collect();
        let score = |i: usize, id: u32| scores[id as usize / BLOCK].get(i, id as usize % BLOCK);
        let rank = |(i, asked): (usize, &Asked)| {
            let own = score(i, asked.answer);
            if own.is_nan() {
                return self.points().nrows() as f64; // no number is better than none
            }
            let (mut better, mut ties) = (0i64, -1i64); // itself
            for block in &scores {
                better += block.row(i).iter().filter(|z| **z > own).count() as i64;
                ties += block.row(i).iter().filter(|z| **z == own).count() as i64;
            }
            for other in facts.to(&asked.question).filter(|other| *other != asked.answer) {
                let z = score(i, other);
                better -= i64::from(z > own);
                ties -= i64::from(z == own);
            }
            1.0 + better as f64 + 0.5 * ties as f64
        };
        asked.iter().enumerate().map(rank).collect()
    }
}
