//! A part of a graph, with given numbers of facts, entities and relations: for experiments on
//! "a batch" of a large graph, by a rule that can be repeated.
//!
//! ```text
//! E ← core of all facts          core: the entity with the fewest facts goes, of several the one that came last,
//! R ← the relations with the     with its facts, until so many entities are left
//!     most facts among E
//! E ← core of the facts of R
//! the facts of R among E, shuffled; those that are the first of an entity or a relation before the others
//! train ← the first of them, test ← those that follow
//! ```

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::error::{Error, Result};
use crate::graph::{Graph, Triple};

/// Sizes of a part of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSizes {
    /// Facts to learn.
    pub train: usize,
    /// Facts to report on.
    pub test: usize,
    /// Entities.
    pub entities: usize,
    /// Relations.
    pub relations: usize,
}

impl Graph {
    /// A part of the graph by the rule above, without valid. Every entity and relation of it occurs in train where
    /// train has room for that.
    ///
    /// # Errors
    /// [`Error::Graph`]: the graph has no such part.
    pub fn part(&self, sizes: &PartSizes, seed: u64) -> Result<Self> {
        let all: Vec<Triple> = self.facts().copied().collect();
        let mut facts = among(&all, &core(&all, self.entities.len(), sizes.entities));
        let relations = most_frequent(&facts, sizes.relations);
        let of_them: Vec<Triple> = all.into_iter().filter(|t| relations.contains(&t.relation)).collect();
        facts = among(&of_them, &core(&of_them, self.entities.len(), sizes.entities));
        facts.sort_unstable();
        facts.dedup();
        facts.shuffle(&mut Pcg64::seed_from_u64(seed));
        let facts = newcomers_first(&facts);

        let (mut entities, mut kinds) = (Named::of(&self.entities), Named::of(&self.relations));
        let chosen = facts.iter().take(sizes.train + sizes.test).map(|t| Triple {
            head: entities.id(t.head),
            relation: kinds.id(t.relation),
            tail: entities.id(t.tail),
        });
        let mut train: Vec<Triple> = chosen.collect();
        let found = [train.len(), entities.names.len(), kinds.names.len()];
        let wanted = [sizes.train + sizes.test, sizes.entities, sizes.relations];
        if found != wanted {
            let words =
                |n: [usize; 3]| format!("{} facts about {} entities by {} relations", n[0], n[1], n[2]);
            return Err(Error::Graph(format!(
                "the graph has no part with {}: the densest has {}; ask for fewer facts or another number of entities",
                words(wanted),
                words([facts.len(), found[1], found[2]])
            )));
        }
        let test = train.split_off(sizes.train);
        Ok(Self { entities: entities.names, relations: kinds.names, train, valid: Vec::new(), test })
    }
}

/// Which entities are left when those with the fewest facts have gone, one after the other.
fn core(facts: &[Triple], entities: usize, size: usize) -> Vec<bool> {
    let mut of = vec![Vec::new(); entities];
    for (i, t) in facts.iter().enumerate() {
        of[t.head as usize].push(i);
        if t.tail != t.head {
            of[t.tail as usize].push(i);
        }
    }
    let mut count: Vec<usize> = of.iter().map(Vec::len).collect();
    let (mut stays, mut left, mut gone) = (vec![true; entities], entities, vec![false; facts.len()]);
    // entries whose count has fallen since stay in the heap, and are passed over
    let mut next: BinaryHeap<_> = (0..entities).map(|e| (Reverse(count[e]), e)).collect();
    while left > size {
        let Some((Reverse(known), e)) = next.pop() else { break };
        if !stays[e] || count[e] != known {
            continue;
        }
        (stays[e], left) = (false, left - 1);
        for &i in &of[e] {
            if std::mem::replace(&mut gone[i], true) {
                continue;
            }
            let other = (facts[i].head ^ facts[i].tail ^ e as u32) as usize;
            if facts[i].head != facts[i].tail {
                count[other] -= 1;
                next.push((Reverse(count[other]), other));
            }
        }
    }
    stays
}

/// The facts between entities that stay.
fn among(facts: &[Triple], stays: &[bool]) -> Vec<Triple> {
    let inside = |t: &&Triple| stays[t.head as usize] && stays[t.tail as usize];
    facts.iter().filter(inside).copied().collect()
}

/// The relations with the most facts, of equal ones those with the lower numbers.
fn most_frequent(facts: &[Triple], number: usize) -> Vec<u32> {
    let mut count: HashMap<u32, usize> = HashMap::new();
    facts.iter().for_each(|t| *count.entry(t.relation).or_default() += 1);
    let mut order: Vec<(Reverse<usize>, u32)> = count.into_iter().map(|(r, n)| (Reverse(n), r)).collect();
    order.sort_unstable();
    order.into_iter().take(number).map(|(_, relation)| relation).collect()
}

/// The facts in which an entity or a relation comes for the first time, then the others.
fn newcomers_first(facts: &[Triple]) -> Vec<Triple> {
    let (mut entities, mut relations) = (std::collections::HashSet::new(), std::collections::HashSet::new());
    let new = |t: &&Triple| entities.insert(t.head) | entities.insert(t.tail) | relations.insert(t.relation);
    let (mut first, others): (Vec<&Triple>, Vec<&Triple>) = facts.iter().partition(new);
    first.extend(others);
    first.into_iter().copied().collect()
}

/// Numbers in the order in which names are used.
struct Named<'a> {
    all: &'a [String],
    names: Vec<String>,
    ids: HashMap<u32, u32>,
}

impl<'a> Named<'a> {
    fn of(all: &'a [String]) -> Self {
        Self { all, names: Vec::new(), ids: HashMap::new() }
    }

    fn id(&mut self, old: u32) -> u32 {
        let names = &mut self.names;
        *self.ids.entry(old).or_insert_with(|| {
            names.push(self.all[old as usize].clone());
            names.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule as it stands: every time all facts are counted again.
    fn slow_core(facts: &[Triple], entities: usize, size: usize) -> Vec<bool> {
        let mut stays = vec![true; entities];
        while stays.iter().filter(|s| **s).count() > size {
            let left = among(facts, &stays);
            let count =
                |e: usize| left.iter().filter(|t| t.head as usize == e || t.tail as usize == e).count();
            let fewest = (0..entities).filter(|e| stays[*e]).min_by_key(|e| (count(*e), Reverse(*e)));
            stays[fewest.unwrap()] = false;
        }
        stays
    }

    fn graph(entities: u32, facts: usize, seed: u64) -> Graph {
        use rand::RngExt;
        let mut rng = Pcg64::seed_from_u64(seed);
        // squares: some entities have many facts
        let mut draw = |n: u32| ((rng.random::<f64>().powi(2) * f64::from(n)) as u32).min(n - 1);
        let train =
            (0..facts).map(|_| Triple { head: draw(entities), relation: draw(6), tail: draw(entities) });
        let mut train: Vec<Triple> = train.collect();
        train.sort_unstable();
        train.dedup();
        let names = |n: u32, word: &str| (0..n).map(|i| format!("{word}{i}")).collect();
        Graph { entities: names(entities, "e"), relations: names(6, "r"), train, ..Graph::default() }
    }

    #[test]
    fn the_core_is_that_of_the_rule_as_it_stands() {
        for seed in 0..20 {
            let g = graph(30, 120, seed);
            for size in [0, 1, 7, 20, 30] {
                assert_eq!(core(&g.train, 30, size), slow_core(&g.train, 30, size), "{seed} {size}");
            }
        }
    }

    #[test]
    fn a_part_has_the_sizes_asked_for_and_train_knows_all_names() {
        let whole = graph(60, 700, 3);
        let sizes = PartSizes { train: 90, test: 30, entities: 20, relations: 4 };
        let part = whole.part(&sizes, 7).unwrap();
        assert_eq!((part.train.len(), part.test.len()), (90, 30));
        assert_eq!((part.entities.len(), part.relations.len()), (20, 4));
        assert!(part.learned().iter().all(|known| *known));
        let name = |g: &Graph, t: &Triple| {
            [&g.entities[t.head as usize], &g.relations[t.relation as usize], &g.entities[t.tail as usize]]
                .map(String::clone)
        };
        let known: std::collections::HashSet<_> = whole.train.iter().map(|t| name(&whole, t)).collect();
        let mut chosen: Vec<_> = part.facts().map(|t| name(&part, t)).collect();
        assert!(chosen.iter().all(|fact| known.contains(fact)));
        chosen.sort();
        chosen.dedup();
        assert_eq!(chosen.len(), 120, "no fact twice");
        assert_eq!(whole.part(&sizes, 7).unwrap().train, part.train);
        assert_ne!(whole.part(&sizes, 8).unwrap().train, part.train);
    }

    #[test]
    fn what_there_is_not_is_said() {
        let whole = graph(60, 700, 3);
        let sizes = PartSizes { train: 9000, test: 30, entities: 20, relations: 4 };
        let error = whole.part(&sizes, 7).unwrap_err().to_string();
        assert!(error.contains("9030 facts about 20 entities by 4 relations: the densest has"), "{error}");
    }
}
