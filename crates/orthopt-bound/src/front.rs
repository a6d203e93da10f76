//! The one call: the relaxation, then blocks or branch and bound where they apply.

use std::time::Duration;

use super::BYTES_PER_ENTRY;
use super::assignment::AssignmentBranching;
use super::blocks::{self, Cover, Subsets, best_blocks};
use super::covariance::{Covariance, Screen};
use super::limits;
use super::relaxation::{Root, relax};
use super::rounding::columns_on;
use super::tree::{Limits, Outcome, cutoff, search};
use super::types::{Bound, End, Kind, Method, Options, Progress, Room, Show, Watch};
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::claim::{Claim, Point};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, moment};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::work::so_far;

/// Seconds that long steps continue after the end, so that the bound that was found is proved.
const MOMENT: f64 = 0.25;
/// Variables up to which branch and bound is tried for X ≥ 0 without a limit.
const TREE: usize = 400;

/// True if branch and bound is tried for r components of n variables.
pub fn branches(kind: &Kind, r: usize, n: usize) -> bool {
    limits::apply(kind, r, n) || (*kind == Kind::Nonnegative && n <= TREE)
}

/// A lower bound of F(X) = −½ tr(XᵀCX) + h(X) over all feasible n × r X, C = −M of the quadratic `f`,
/// h as `kind` says; `incumbent` is the best X known, made feasible to rounding before its F is compared.
///
/// First the relaxation over the Fantope: O(n³) an iteration up to n = 160, O(n²r) above, some hundred
/// iterations, n² numbers. With `options.nodes` > 0 then, for λ‖X‖₀ (nr ≤ 400) and X ≥ 0 (n ≤ 400), blocks of
/// variables (n ≤ 18) and branch and bound, until the gap is closed or a limit is reached; for limits of nonzeros
/// branch and bound comes first (up to n = 5000 for limits of components), and the relaxation where that reached its limit of nodes
/// or variables. It ends with
/// the best bound so far where `cancel` says so, and `show` sees how far it is. The same answer for any number of threads
/// unless time or `cancel` ends it.
///
/// C is taken as the storage of `f` represents it, entry by entry.
///
/// # Errors
/// A rank, λ or count out of range, an f with a linear term, an incumbent that is not feasible, data
/// that are not finite, more variables left after screening than `options.variables`;
/// [`Error::Contradiction`] where an X was met whose F is below the bound.
pub fn lower_bound(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    incumbent: Option<&RowMat>,
    options: &Options,
    cancel: &Cancel,
    show: Show<'_>,
) -> Result<Bound> {
    check(f, r, kind)?;
    let incumbent = incumbent.map(|x| kind.repaired(x, f.nrows(), r)).transpose()?;
    let clock = cancel.within(options.seconds);
    let watch = Watch::new(clock.clone(), show);
    // the proof of what was found continues for a moment, where it is not one of many attempts
    let patient = if options.work.is_some() || clock.is_over() {
        clock.clone()
    } else {
        let seconds = options.seconds.map(|limit| limit + moment(limit).max(MOMENT));
        cancel.with_grace(Duration::from_secs_f64(MOMENT)).within(seconds)
    };
    patient.during(|| bounded(f, r, kind, incumbent, options, &watch))
}

fn bounded(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    incumbent: Option<RowMat>,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Bound> {
    let begun = so_far();
    let proves = options.nodes > 0 && !matches!(kind, Kind::L0 { .. }) && limits::apply(kind, r, f.nrows());
    let best = incumbent.as_ref().map(|x| f.value(x) + kind.penalty(x)).filter(|v| v.is_finite());
    let mut known = Progress {
        iterations: 0,
        nodes: 0,
        open: 0,
        bound: f64::NEG_INFINITY,
        incumbent: best,
        seconds: 0.0,
    };
    let (mut root, mut method) = match kind {
        Kind::L1 { lambda } => (super::l1::bound(f, r, *lambda, known, options, watch)?, Method::Fantope),
        // branch and bound has relaxations of its own, and this one takes long there
        _ if proves && f.nrows() > TREE => (Root::none(f, r)?, Method::Tree),
        _ if proves => {
            let few = Options { iterations: 0, ..options.clone() };
            (relax(f, r, kind, known, &few, watch)?, Method::Fantope)
        }
        _ => (relax(f, r, kind, known, options, watch)?, Method::Fantope),
    };
    let mut most = root.most;
    if most < -root.relaxation.bound {
        method = Method::Trace;
    }
    known.iterations = root.iterations;
    known.bound = -most;
    if let (Kind::Counts { nonzeros, lambda }, End::Finished) = (kind.unsigned(), root.end) {
        let groups = super::groups::bound(f, nonzeros, *lambda, known, options, watch)?;
        if groups < most {
            (most, method) = (groups, Method::Groups);
        }
    }
    let mut found = Found { best, x: None };
    let mut outcome = None;
    let left = options.work.map(|most| most.saturating_sub(so_far() - begun));
    let rest = Options { work: left, warm: None, ..options.clone() };
    if options.nodes > 0
        && branches(kind, r, f.nrows())
        && root.end != End::Interrupted
        && root.end != End::Time
    {
        let closed = best.is_some_and(|v| most <= cutoff(-v, options.gap));
        let tree = match (closed, proves) {
            (true, _) => None,
            (false, true) => {
                let offer = |x: Option<RowMat>| found.offer(f, kind, x);
                let known = limits::prove(f, r, kind, incumbent.as_ref(), offer, known, &rest, watch)?;
                known.map(|outcome| (outcome, Method::Tree))
            }
            (false, false) => {
                branch(f, r, kind, (&root, incumbent.as_ref()), &mut found, known, &rest, watch)?
            }
        };
        if let Some(tree) = tree {
            // without an X and without a node that holds one it has bounded nothing
            if tree.0.most < most && tree.0.most > f64::NEG_INFINITY {
                (most, method) = (tree.0.most, tree.1);
            }
            outcome = Some(tree.0);
        }
    }
    let relaxes = proves && options.work.is_none();
    if relaxes && f.nrows() <= options.variables && outcome.as_ref().is_some_and(|o| o.end == End::Limit) {
        // the limit is one of nodes or variables: there may be time for the relaxation
        known.bound = known.bound.max(-most);
        root = relax(f, r, kind, known, options, watch)?;
        if root.most < most {
            (most, method) = (root.most, Method::Fantope);
        }
    }
    report(root, most, method, found, outcome, (options, kind.lambda()), watch)
}

fn report(
    root: Root,
    most: f64,
    method: Method,
    found: Found,
    outcome: Option<Outcome>,
    (options, lambda): (&Options, f64),
    watch: &Watch<'_>,
) -> Result<Bound> {
    // the terms of F: r of the size of ½C, and as many λ
    let size = root.columns as f64 * (0.5 * root.largest + lambda);
    let point = found.best.map(|objective| Point { objective, feasibility: 0.0 });
    let Claim { bound: value, gap, proof } = Claim::new(-most, point, size, options.gap)?;
    Ok(Bound {
        value,
        objective: found.best,
        gap,
        proof,
        tolerance: options.gap,
        elsewhere: None,
        size,
        x: found.x,
        method,
        end: outcome.as_ref().map_or(root.end, |o| o.end),
        iterations: root.iterations,
        nodes: outcome.as_ref().map_or(0, |o| o.nodes),
        open: outcome.as_ref().map_or(0, |o| o.open),
        trace: watch.trace(value, found.best),
        seconds: watch.seconds(),
        relaxation: root.relaxation,
        record: None,
    })
}

/// The lowest F and, if it is not the one given, its X.
struct Found {
    best: Option<f64>,
    x: Option<RowMat>,
}

impl Found {
    /// Examines an X; the largest −F known.
    fn offer(&mut self, f: &impl Quadratic, kind: &Kind, x: Option<RowMat>) -> f64 {
        if let Some(x) = x {
            let value = f.value(&x) + kind.penalty(&x);
            // rounding is no improvement
            if value.is_finite() && self.best.is_none_or(|b| value < b - 1e-14 * b.abs()) {
                (self.best, self.x) = (Some(value), Some(x));
            }
        }
        self.best.map_or(f64::NEG_INFINITY, |v| -v)
    }

    /// Examines the X on these supports; the largest −F known.
    fn improve(
        &mut self,
        f: &impl Quadratic,
        c: &RowMat,
        sets: Option<&[Vec<usize>]>,
        (lambda, nonnegative): (f64, bool),
    ) -> f64 {
        if let Some(x) = sets.and_then(|sets| columns_on(c, sets, nonnegative)) {
            let nonzeros = x.data().iter().filter(|v| **v != 0.0).count();
            let value = f.value(&x) + lambda * nonzeros as f64;
            // rounding is no improvement
            if value.is_finite() && self.best.is_none_or(|b| value < b - 1e-14 * b.abs()) {
                (self.best, self.x) = (Some(value), Some(x));
            }
        }
        self.best.map_or(f64::NEG_INFINITY, |v| -v)
    }
}

/// Blocks and branch and bound; `None` for kinds that have neither.
#[allow(clippy::too_many_arguments)]
fn branch(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    (root, incumbent): (&Root, Option<&RowMat>),
    found: &mut Found,
    known: Progress,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Option<(Outcome, Method)>> {
    let (lambda, nonnegative) = match kind {
        Kind::L0 { lambda } => (*lambda, false),
        Kind::Nonnegative => (0.0, true),
        _ => return Ok(None),
    };
    let cov = Covariance::of(f, r, Screen::All, Room::new(TREE, options, BYTES_PER_ENTRY))?;
    let scaled = (lambda / cov.scale).min(1e100);
    let scale = cov.scale;
    let mut improve =
        |sets: Option<&[Vec<usize>]>| found.improve(f, &cov.c, sets, (lambda, nonnegative)) / scale;
    let single = if nonnegative { Cover::Nonnegative } else { Cover::Disjoint };
    // X with disjoint supports, exactly; X whose supports meet
    let (mut disjoint, mut meeting) = (f64::INFINITY, if r == 1 { f64::NEG_INFINITY } else { f64::INFINITY });
    let m = cov.c.nrows();
    if m <= blocks::MOST
        && options.work.is_none_or(|most| blocks::work(m, r) <= most)
        && let Some(subsets) = Subsets::new(&cov.c, r, single, Some(watch))
    {
        if let Some(blocks) = best_blocks(&subsets, scaled, 0, single, Some(watch)) {
            disjoint = blocks.most;
            let rows = |s: &u32| (0..cov.c.nrows()).filter(|i| s >> i & 1 == 1).collect::<Vec<_>>();
            let sets: Vec<_> = blocks.sets.iter().map(rows).collect();
            improve((sets.len() == r).then_some(&sets[..]));
        }
        if !nonnegative
            && r > 1
            && let Some(blocks) = best_blocks(&subsets, scaled, 0, Cover::Meeting, Some(watch))
        {
            meeting = blocks.most;
        }
    }
    let best = improve(None);
    let everything = if nonnegative { disjoint } else { disjoint.max(meeting) };
    if everything <= cutoff(best, options.gap) || (nonnegative && disjoint.is_finite()) {
        let most = everything.max(best) * scale;
        let outcome = Outcome { most: most.next_up(), nodes: 0, open: 0, end: End::Finished };
        return Ok(Some((outcome, Method::Blocks)));
    }
    let mut outcome = if nonnegative {
        let work = options.work.unwrap_or(u64::MAX);
        let limits = Limits { nodes: options.nodes, work, gap: options.gap, scale };
        let branching = AssignmentBranching { cov: &cov, r };
        let most = (root.most / scale).min(everything);
        let mut outcome = search(&branching, branching.root(), most, limits, improve, known, watch);
        outcome.most = (outcome.most * scale).next_up();
        Some(outcome)
    } else {
        let offer = |x: Option<RowMat>| found.offer(f, kind, x);
        limits::prove(f, r, kind, incumbent, offer, known, options, watch)?
    };
    if let Some(outcome) = &mut outcome {
        outcome.most = outcome.most.min((everything * scale).next_up());
    }
    Ok(outcome.map(|outcome| (outcome, Method::Tree)))
}

fn check(f: &impl Quadratic, r: usize, kind: &Kind) -> Result<()> {
    let n = f.nrows();
    if r == 0 || r > n {
        return Err(Error::Rank { rank: r, columns: n });
    }
    if f.ncols().is_some() {
        return Err(Error::Incompatible("no bound: f has a linear term".into()));
    }
    let wrong = |option: &str, value: String, expected: String| {
        Err(Error::InvalidOption { option: option.into(), value, expected })
    };
    let lambda = kind.lambda();
    if !(lambda.is_finite() && lambda >= 0.0) {
        return wrong("lambda", lambda.to_string(), "a number from 0".into());
    }
    match kind.unsigned() {
        Kind::Total { nonzeros, .. } if *nonzeros < r => {
            return wrong("nonzeros", nonzeros.to_string(), format!("at least {r}, one for each component"));
        }
        Kind::Rows { rows, .. } if *rows < r => {
            return wrong("variables", rows.to_string(), format!("at least {r}, one for each component"));
        }
        Kind::Counts { nonzeros, .. } if nonzeros.len() != r => {
            return wrong(
                "nonzeros",
                format!("{} numbers", nonzeros.len()),
                format!("{r}, one for each component"),
            );
        }
        Kind::Counts { nonzeros, .. } if nonzeros.contains(&0) => {
            return wrong("nonzeros", "0".into(), "at least 1 for every component".into());
        }
        _ => {}
    }
    Ok(())
}
