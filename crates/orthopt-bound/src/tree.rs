//! Best-first branch and bound, whatever is branched on.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering as AtomicOrdering};

use super::admm::Admm;
use super::penalty::Penalty;
use super::types::{End, Progress, Watch};
use orthopt_linalg::parallel::map_items;
use orthopt_linalg::work;

/// Nodes expanded at a time. Fixed, so that the order does not depend on the number of threads.
const BATCH: usize = 4;

/// Checks of the bound of a node, at most.
const LOOKS: usize = 40;
/// Checks after which a node must have come nearer to the cutoff by this share to continue.
const PATIENCE: usize = 4;
const SHARE: f64 = 0.04;

/// Splitting of a set of X, and bounds of −F on it.
pub(super) trait Branching: Sync {
    /// A set of X.
    type Node: Send + Sync;

    /// Sets that together hold every X of the node.
    fn children(&self, node: &Self::Node) -> Vec<Self::Node>;

    /// Bounds −F over the set. It may end early where the bound is down to `cutoff`, and does where `spent` says that the work is done.
    fn evaluate(
        &self,
        node: Self::Node,
        cutoff: f64,
        watch: &Watch<'_>,
        spent: &dyn Fn() -> bool,
    ) -> Evaluated<Self::Node>;
}

/// A node and what is known of it.
#[derive(Debug)]
pub(super) struct Evaluated<N> {
    pub node: N,
    pub most: f64,                     // proved: −F is at most this
    pub final_: bool,                  // cannot be split any more
    pub sets: Option<Vec<Vec<usize>>>, // disjoint supports of a candidate
}

/// Result of a search.
#[derive(Debug)]
pub struct Outcome {
    pub most: f64, // over all X
    pub nodes: u64,
    pub open: u64,
    pub end: End,
}

struct Queued<N> {
    most: f64,
    id: u64,
    node: N,
}

impl<N> PartialEq for Queued<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<N> Eq for Queued<N> {}
impl<N> PartialOrd for Queued<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<N> Ord for Queued<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.total_cmp(&other.most).then(other.id.cmp(&self.id))
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub nodes: u64,
    pub work: u64,
    pub gap: f64,
    pub scale: f64, // of −F, for observers
}

/// Searches from `root`, on which −F is at most `most`. `improve` turns the supports of a candidate into
/// an X and returns the largest −F known so far.
pub(super) fn search<B: Branching>(
    branching: &B,
    root: B::Node,
    most: f64,
    limits: Limits,
    mut improve: impl FnMut(Option<&[Vec<usize>]>) -> f64,
    mut known: Progress,
    watch: &Watch<'_>,
) -> Outcome {
    let mut queue = BinaryHeap::from([Queued { most, id: 0, node: root }]);
    let (mut nodes, mut next_id) = (0u64, 1u64);
    let mut closed = f64::NEG_INFINITY; // the largest bound of a node that is done with
    let mut best = improve(None);
    let spent = AtomicU64::new(0);
    let end = loop {
        let cutoff = cutoff(best, limits.gap);
        let top = queue.peek().map_or(f64::NEG_INFINITY, |q| q.most);
        let now = top.max(closed).max(best);
        known = Progress {
            nodes,
            open: queue.len() as u64,
            bound: known.bound.max(-now * limits.scale),
            incumbent: Some(-best * limits.scale).filter(|v| v.is_finite()),
            ..known
        };
        if queue.is_empty() || top <= cutoff.max(closed) {
            break End::Finished;
        }
        if let Some(end) = watch.ask(known) {
            break end;
        }
        let before = spent.load(AtomicOrdering::Relaxed);
        if nodes >= limits.nodes || before > limits.work {
            break End::Limit;
        }
        let left = limits.work - before;
        let mut batch = Vec::new();
        while batch.len() < BATCH && queue.peek().is_some_and(|q| q.most > cutoff) {
            batch.extend(queue.pop());
        }
        let mut children: Vec<(f64, B::Node)> = Vec::new();
        for q in &batch {
            let parts = branching.children(&q.node);
            if parts.is_empty() {
                closed = closed.max(q.most); // what cannot be split is as good as its own bound
            }
            children.extend(parts.into_iter().map(|child| (q.most, child)));
        }
        // in a hurry a child stays as open as its parent was
        let evaluate = |_, (parent, child)| match watch.is_over() {
            true => (parent, Err(child)),
            false => {
                let over = || work::so_far() > left;
                let (found, own) = work::counted(|| branching.evaluate(child, cutoff, watch, &over));
                spent.fetch_add(own, AtomicOrdering::Relaxed);
                (parent, Ok(found))
            }
        };
        for (parent, child) in map_items(children, 1, evaluate) {
            let child = match child {
                Ok(child) => child,
                Err(node) => {
                    queue.push(Queued { most: parent, id: next_id, node });
                    next_id += 1;
                    continue;
                }
            };
            nodes += 1;
            let most = child.most.min(parent);
            if child.sets.is_some() {
                best = improve(child.sets.as_deref());
            }
            if child.final_ || most <= cutoff {
                closed = closed.max(most);
            } else {
                queue.push(Queued { most, id: next_id, node: child.node });
                next_id += 1;
            }
        }
    };
    work::count(spent.into_inner() as usize);
    let top = queue.peek().map_or(f64::NEG_INFINITY, |q| q.most);
    Outcome { most: top.max(closed).max(best), nodes, open: queue.len() as u64, end }
}

/// A node whose −F is at most this holds nothing worth searching for.
pub(super) fn cutoff(best: f64, gap: f64) -> f64 {
    if best.is_finite() { best + gap * best.abs() } else { f64::NEG_INFINITY }
}

/// Iterates until the bound is at the cutoff or comes no nearer to it; the proved bound.
pub(super) fn lower<P: Penalty>(admm: &mut Admm<'_, P>, cutoff: f64, over: &dyn Fn() -> bool) -> f64 {
    let mut history = Vec::new();
    for look in 0..LOOKS {
        let now = admm.best().estimate;
        // a little below, as the proved bound is a little above
        if now + 1e-12 * now.abs() <= cutoff {
            break;
        }
        history.push(now);
        let stalled = look >= 2 * PATIENCE && history[look - PATIENCE] - now <= SHARE * (now - cutoff);
        if stalled || over() || !admm.advance(over) {
            break;
        }
    }
    admm.certified()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use orthopt_linalg::cancel::Cancel;

    /// Nodes are depths; the thread that evaluates the `last` one sets the flag.
    struct Halving {
        cancel: Cancel,
        evaluated: AtomicU64,
        last: u64,
    }

    impl Branching for Halving {
        type Node = u32;

        fn children(&self, node: &u32) -> Vec<u32> {
            vec![node + 1; 8]
        }

        fn evaluate(&self, node: u32, _: f64, _: &Watch<'_>, _: &dyn Fn() -> bool) -> Evaluated<u32> {
            if self.evaluated.fetch_add(1, Ordering::SeqCst) + 1 == self.last {
                self.cancel.cancel();
            }
            Evaluated { node, most: 10.0 - f64::from(node), final_: false, sets: None }
        }
    }

    #[test]
    fn a_batch_is_left_when_time_is_over() {
        for last in [1, 3, 9, 30] {
            let cancel = Cancel::never();
            let halving = Halving { cancel: cancel.clone(), evaluated: AtomicU64::new(0), last };
            let watch = Watch::new(cancel, &|_| ());
            let limits = Limits { nodes: u64::MAX, work: u64::MAX, gap: 0.0, scale: 1.0 };
            let start = Progress {
                iterations: 0,
                nodes: 0,
                open: 0,
                bound: f64::NEG_INFINITY,
                incumbent: None,
                seconds: 0.0,
            };
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let found = one.install(|| search(&halving, 0, 10.0, limits, |_| 1.0, start, &watch));
            let evaluated = halving.evaluated.load(Ordering::SeqCst);
            assert_eq!((evaluated, found.nodes), (last, last), "none after the flag is set");
            assert!(matches!(found.end, End::Interrupted));
            // no X is lost: children that were not examined are as open as their parent
            let least = if evaluated < 8 { 10.0 } else { 8.0 };
            assert!(found.most >= least && found.open >= 7, "{found:?}");
        }
    }
}
