//! Global bounds for the commands: limits, incumbent and progress bar.

use orthopt::RowMat;
use orthopt::bound::{self, Bound, Options};
use orthopt::family::{AnyProblem, Family};
use orthopt::report::Global;

use crate::interrupt;
use crate::progress::{BoundBar, Progress};
use crate::summary::Summary;
use crate::text;

/// Default time limit in seconds.
pub const SECONDS: f64 = 60.0;

/// Limits on the work of a bound.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Seconds.
    pub seconds: f64,
    /// Maximum number of nodes of branch and bound; limited by time only if not given.
    pub nodes: Option<u64>,
    /// Bytes that its matrices may take; any number if not given.
    pub memory: Option<u64>,
    /// True if the parts of the proof are kept.
    pub keeps: bool,
}

/// A lower bound of F, x being the best point known.
///
/// # Errors
/// The problem has no bound (with the reason); data that the bound cannot take.
pub fn bound(
    problem: &AnyProblem,
    x: Option<&RowMat>,
    effort: Effort,
    progress: &Progress,
) -> anyhow::Result<Bound> {
    let options = Options {
        seconds: Some(effort.seconds),
        nodes: effort.nodes.unwrap_or(u64::MAX),
        memory: effort.memory,
        keeps: effort.keeps,
        ..Options::default()
    };
    let bar = BoundBar::new(progress, effort.seconds);
    let show = |now: &bound::Progress| bar.show(now);
    Ok(problem.lower_bound(x, &options, interrupt::cancel(), &show)?)
}

impl Summary {
    /// Bound, gap, and what they prove.
    pub fn global(&mut self, found: &Global) {
        let how = match found.method {
            "fantope" => "the relaxation over the Fantope",
            "trace" => "the variables with the largest variances",
            "groups" => "relaxations of the components with the same number of nonzeros",
            "blocks" => "a dynamic programme over all supports",
            "scores" => "one-component bounds of whitened scores",
            "supports" => "branch and bound over the supports of each component",
            _ => "branch and bound",
        };
        self.line(
            "bound",
            &format!("{}, a lower bound of F over all feasible X ({how})", text::number(found.bound, 10)),
        );
        self.line("gap", &gap(found));
        let nodes = match found.nodes {
            0 => String::new(),
            n => format!(", {} ({} open)", text::count(n, "node"), text::grouped(found.open)),
        };
        let spent = format!(
            "{}, {}{nodes}",
            text::duration(found.seconds),
            text::count(found.iterations, "iteration")
        );
        self.line("bound time", &format!("{spent}; {}", ending(found.status)));
    }
}

/// A gap below this share of |F| is none.
const NOTHING: f64 = 1e-9;

/// The gap in per cent, and what is proved.
pub fn gap(found: &Global) -> String {
    match (found.proof, found.gap) {
        (Some("supports"), Some(gap)) => format!(
            "{} % of |F|: no other choice of variables has a lower F, and the loadings are within this of the best possible",
            text::number(100.0 * gap, 3)
        ),
        (Some(_), Some(gap)) if gap > NOTHING => {
            format!("{} % of |F|: F is proved to be the global minimum to this", text::number(100.0 * gap, 3))
        }
        (Some(_), _) => "0 %: F is proved to be the global minimum".into(),
        (None, Some(gap)) => format!("{} % of |F|", text::number(100.0 * gap, 3)),
        (None, None) => "unknown: no X to compare with".into(),
    }
}

fn ending(status: &str) -> &str {
    match status {
        "optimal" => "optimal",
        "finished" => "the bound no longer rises",
        "time_limit" => "time limit reached",
        "max_iters" => "limit of iterations or nodes reached",
        other => other,
    }
}
