//! Triples and what is known of them.

use std::borrow::Cow;
use std::collections::HashMap;

/// A fact: head, relation, tail, as indices from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Triple {
    /// The subject.
    pub head: u32,
    /// Relation.
    pub relation: u32,
    /// The object.
    pub tail: u32,
}

/// A graph, in the parts that are learned from, chosen by and reported on.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Names of the entities.
    pub entities: Vec<String>,
    /// Names of the relations.
    pub relations: Vec<String>,
    /// Facts to learn.
    pub train: Vec<Triple>,
    /// Facts to choose by; may be empty.
    pub valid: Vec<Triple>,
    /// Facts to report on; may be empty.
    pub test: Vec<Triple>,
}

/// Question (h, r, ?) or (?, r, t).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Question {
    /// The entity that is given.
    pub known: u32,
    /// The relation.
    pub relation: u32,
    /// True if the head is asked for.
    pub head: bool,
}

impl Triple {
    /// The triple as two questions with their answers: for its tail, for its head.
    pub fn questions(&self) -> [(Question, u32); 2] {
        let tail = Question { known: self.head, relation: self.relation, head: false };
        let head = Question { known: self.tail, relation: self.relation, head: true };
        [(tail, self.tail), (head, self.head)]
    }
}

/// All answers to every question, ascending.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    known: HashMap<Question, Vec<u32>>,
}

impl Answers {
    /// From facts.
    pub fn of<'a>(facts: impl IntoIterator<Item = &'a Triple>) -> Self {
        let mut all = Self::default();
        all.add(facts);
        all.known.values_mut().for_each(sorted);
        all
    }

    /// These, and those of `more`.
    #[must_use]
    pub fn and(&self, more: &[Triple]) -> Cow<'_, Self> {
        if more.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        all.add(more);
        all.known.values_mut().for_each(sorted);
        Cow::Owned(all)
    }

    fn add<'a>(&mut self, facts: impl IntoIterator<Item = &'a Triple>) {
        for (question, answer) in facts.into_iter().flat_map(Triple::questions) {
            self.known.entry(question).or_default().push(answer);
        }
    }

    /// The answers to one question.
    pub fn to(&self, question: &Question) -> &[u32] {
        self.known.get(question).map_or(&[], Vec::as_slice)
    }
}

fn sorted(answers: &mut Vec<u32>) {
    answers.sort_unstable();
    answers.dedup();
}

impl Graph {
    /// All facts of all parts.
    pub fn facts(&self) -> impl Iterator<Item = &Triple> {
        self.train.iter().chain(&self.valid).chain(&self.test)
    }

    /// Which entities occur in the facts that are learned.
    pub fn learned(&self) -> Vec<bool> {
        let mut seen = vec![false; self.entities.len()];
        for triple in &self.train {
            seen[triple.head as usize] = true;
            seen[triple.tail as usize] = true;
        }
        seen
    }
}
