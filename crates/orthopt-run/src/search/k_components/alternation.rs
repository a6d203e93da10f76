//! Assign the variables, one power step for each direction; the value never falls.

use orthopt_core::smooth::{Entries, Quadratic};
use orthopt_linalg::simd::dispatch;

use super::BETTER;
use super::limits::{Assignment, NOBODY, Rules};
use super::samples::{Directions, Space};

/// Directions and the variables that they serve.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub directions: Directions,
    pub label: Vec<usize>,
    pub value: f64,
}

impl State {
    /// Variables of each component.
    pub fn sizes(&self, r: usize) -> Vec<usize> {
        let mut sizes = vec![0; r];
        self.label.iter().filter(|l| **l != NOBODY).for_each(|l| sizes[*l] += 1);
        sizes
    }
}

/// Gains like the last one that an alternation may hope for.
const HOPE: f64 = 6.0;

/// Limits of an alternation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Iterations.
    pub most: usize,
    /// The value that is to be exceeded: what falls too short of it is left.
    pub hope: f64,
}

/// From r directions until the value stands still, or for so many iterations. The price of a variable is `share` of its own at first, and all of it
/// from the first half of the iterations on: many variables first, then fewer.
pub(super) fn alternate<F: Quadratic>(
    space: &Space<'_, F>,
    rules: &Rules,
    mut directions: Directions,
    share: f64,
    patience: Patience,
    over: &dyn Fn() -> bool,
) -> State {
    let places: Vec<usize> = (0..rules.rank).collect();
    let mut best: Option<State> = None;
    let mut t = 0;
    loop {
        let ends = over() || t + 1 >= patience.most;
        let rising = share + (1.0 - share) * t as f64 / (patience.most / 2).max(1) as f64;
        let share = if ends { 1.0 } else { rising.min(1.0) };
        let found = rules.assign(&directions.y, &places, share);
        let found = if share < 1.0 {
            found
        } else {
            let before = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.value);
            let (found, gained) = settled(rules, &directions, found, best.as_ref());
            let hopeless = found.value + HOPE * (found.value - before) < patience.hope;
            if gained || best.is_none() {
                let (label, value) = (found.label.clone(), found.value);
                best = Some(State { directions: directions.clone(), label, value });
            }
            if !gained || ends || hopeless {
                break;
            }
            found
        };
        let w = weights(rules, &directions, &found.label);
        let mut next = space.directions(&w, None, rules.orthonormal);
        if !rules.orthonormal {
            // one that covers no variable stays where it is
            (0..w.len()).filter(|k| w[*k].is_empty()).for_each(|k| next.copy(k, &directions));
        }
        directions = next;
        t += 1;
    }
    best.unwrap_or_else(|| {
        let Assignment { label, value } = rules.assign(&directions.y, &places, 1.0);
        State { directions, label, value }
    })
}

/// The new assignment, or the one before if that is worth more (a greedy one within limits may be worse); whether it is a gain.
fn settled(
    rules: &Rules,
    directions: &Directions,
    found: Assignment,
    best: Option<&State>,
) -> (Assignment, bool) {
    let Some(best) = best else { return (found, true) };
    let found = match rules.valued(&directions.y, best.label.clone()) {
        before if before.value > found.value => before,
        _ => found,
    };
    let gained = found.value > best.value + BETTER * best.value.abs();
    (found, gained)
}

/// The scores of the variables that each direction serves.
pub(super) fn weights(rules: &Rules, directions: &Directions, label: &[usize]) -> Vec<Entries> {
    let mut w: Vec<Entries> = vec![Vec::new(); directions.len()];
    dispatch(|| {
        for (i, l) in label.iter().enumerate().filter(|(_, l)| **l != NOBODY) {
            let score = directions.y.get(*l, i);
            let score = if rules.nonneg { score.max(0.0) } else { score };
            if score != 0.0 {
                w[*l].push((i, score));
            }
        }
    });
    w
}
