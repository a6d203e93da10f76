//! Questions of a batch and their negatives: functions of the seed, the epoch and the number
//! of the batch alone, so that training from a checkpoint gives the same numbers as without the interruption, with
//! any number of threads.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::chunk::Asked;
use crate::graph::Triple;
use crate::model::Model;
use crate::options::Options;

/// Some questions and their negatives.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub asked: Vec<Asked>,
    pub negatives: Vec<u32>,
}

/// Random numbers for a purpose.
pub(crate) fn stream(seed: u64, purpose: u64, epoch: usize, part: usize) -> Pcg64 {
    // one stream of the generator for each place: words are mixed by the golden ratio, as in splitmix
    let mut state = seed;
    for word in [purpose, epoch as u64, part as u64] {
        state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(word);
    }
    Pcg64::seed_from_u64(state)
}

const ORDER: u64 = 1;
const NEGATIVES: u64 = 2;
pub(crate) const PAIRS: u64 = 3;
pub(crate) const COINS: u64 = 4;

/// The order of the triples in an epoch.
pub(crate) fn order(options: &Options, triples: usize, epoch: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..triples as u32).collect();
    order.shuffle(&mut stream(options.seed, ORDER, epoch, 0));
    order
}

/// Entities that a relation has on a side, for negatives of the right type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    sides: Vec<[Vec<u32>; 2]>, // of each relation: tails, heads
}

impl Types {
    pub fn of(triples: &[Triple], relations: usize) -> Self {
        let mut sides = vec![[Vec::new(), Vec::new()]; relations];
        for triple in triples {
            for (side, (_, answer)) in sides[triple.relation as usize].iter_mut().zip(triple.questions()) {
                side.push(answer);
            }
        }
        for side in sides.iter_mut().flatten() {
            side.sort_unstable();
            side.dedup();
        }
        Self { sides }
    }
}

/// The questions of some triples, cut into chunks with negatives.
pub(crate) fn chunks(
    model: &Model,
    triples: &[Triple],
    types: &Types,
    epoch: usize,
    part: usize,
) -> Vec<Chunk> {
    let options = &model.options;
    let mut asked = model.questions(triples);
    asked.sort_unstable();
    let mut pieces: Vec<&[Asked]> = Vec::new();
    if options.type_constrained {
        let same = |a: &Asked, b: &Asked| (a.matrix, a.inverse) == (b.matrix, b.inverse);
        asked.chunk_by(same).for_each(|run| pieces.extend(run.chunks(options.share)));
    } else {
        pieces.extend(asked.chunks(options.share));
    }
    let mut rng = stream(options.seed, NEGATIVES, epoch, part);
    let entities = model.bias.len();
    let one = |asked: &[Asked]| {
        let question = asked[0].question;
        let side =
            types.sides.get(question.relation as usize).map(|sides| &sides[usize::from(question.head)]);
        let mut draw = || match side.filter(|_| options.type_constrained) {
            Some(side) => side[rng.random_range(0..side.len())],
            None => rng.random_range(0..entities) as u32,
        };
        let negatives = (0..options.negatives).map(|_| draw()).collect();
        Chunk { asked: asked.to_vec(), negatives }
    };
    pieces.into_iter().map(one).collect()
}
