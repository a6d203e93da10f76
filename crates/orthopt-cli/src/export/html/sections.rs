//! The parts of the page, in order.

use orthopt::message::Message;
use orthopt::report::{Report, used};

use super::markup::{Cell, Page};
use crate::export::Found;
use crate::picture::curves::Convergence;
use crate::picture::loadings::{Loadings, Stability};
use crate::picture::plane::Plane;
use crate::picture::variance::Variance;
use crate::summary::{describe, solver, verdict};
use crate::wording::said;
use crate::{global, text};

/// Rows that a table has at most.
const ROWS: usize = 500;

pub fn summary(page: &mut Page, report: &Report) {
    let (s, task) = (&report.solution, &report.task);
    page.lead(&format!("{} — {}", task.statement, describe(&task.data)));
    let entries = s.x.nrows() * s.x.ncols();
    let counts = report.nonzeros().iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    page.facts([
        ("F", text::number(s.objective.total, 10)),
        ("components", task.rank.to_string()),
        ("lambda", task.lambda.map_or(String::new(), text::exact)),
        ("nonzeros", format!("{} of {entries}; by component {counts}", s.nnz)),
        ("feasibility", format!("{:.1e}, {}", s.feasibility, report.measures.feasibility)),
        ("explained", report.explained_variance.as_ref().map_or(String::new(), |e| percent(e.total))),
        ("ended", format!("{}: {}", s.status.name(), s.message)),
        ("solver", solver(report)),
        ("time", format!("{}, {}", text::duration(s.seconds), text::count(s.iterations, "iteration"))),
    ]);
    notes(page, report);
}

/// Notes on the data and on the run.
pub fn notes(page: &mut Page, report: &Report) {
    list(page, &report.task.notes);
    list(page, &report.notes);
}

fn list(page: &mut Page, messages: &[Message]) {
    messages.iter().for_each(|message| page.small(&said(message)));
}

pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

pub fn loadings(page: &mut Page, report: &Report) -> anyhow::Result<()> {
    page.section("loadings", "Loadings");
    page.figure(&Loadings::of(report).chart(), "the loadings of the components")?;
    table(page, report);
    Ok(())
}

/// The loadings that are not zero.
pub fn table(page: &mut Page, report: &Report) {
    let (x, data, variables) = (report.x(), &report.task.data, used(report.x()));
    let head: Vec<String> =
        std::iter::once("variable".into()).chain(crate::rows::component_names(x.ncols())).collect();
    let number = |value: f64| match value != 0.0 {
        true => Cell::Number(format!("{value:.4}")),
        false => Cell::Zero,
    };
    let row = |i: &usize| {
        let numbers = x.row(*i).iter().map(|value| number(*value));
        std::iter::once(Cell::Head(data.variable(*i))).chain(numbers).collect()
    };
    page.table(&head, variables.iter().take(ROWS).map(row));
    let left_out = x.nrows() - variables.len();
    let more = variables.len().saturating_sub(ROWS);
    let zeros = format!("{} without nonzero loadings not shown.", text::count(left_out as u64, "variable"));
    let cut = format!("{more} more have nonzero loadings; --save-loadings writes all.");
    let said: Vec<String> = [(left_out, zeros), (more, cut)]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|said| said.1)
        .collect();
    if !said.is_empty() {
        page.small(&said.join(" "));
    }
}

pub fn variance(page: &mut Page, report: &Report) -> anyhow::Result<()> {
    let Some(e) = &report.explained_variance else { return Ok(()) };
    page.section("variance", "Variance explained");
    page.figure(&Variance::of(report)?.chart(), "the variance that each component explains")?;
    let counts = report.nonzeros();
    let head = ["component", "nonzeros", "own", "added", "together so far"].map(String::from);
    let mut sum = 0.0;
    let rows = (0..e.ratio.len()).map(|k| {
        sum += e.adjusted[k];
        vec![
            Cell::Head(format!("PC{}", k + 1)),
            Cell::Number(counts[k].to_string()),
            Cell::Number(percent(e.ratio[k])),
            Cell::Number(percent(e.adjusted[k])),
            Cell::Number(percent(sum)),
        ]
    });
    page.table(&head, rows.collect::<Vec<_>>());
    page.facts([
        (
            "together",
            format!(
                "{}: the sum of what each component adds to those before it (adjusted variance, Zou, Hastie, Tibshirani 2006){}",
                percent(e.total),
                report.pca_share.map_or(String::new(), |share| format!("; PCA with as many components: {}", percent(share)))
            ),
        ),
        (
            "projected",
            format!("{}: variance of the data projected on the loadings (Shen, Huang 2008)", percent(e.projected)),
        ),
        (
            "explained by regression",
            format!(
                "{}: variance of all variables that a regression on the scores explains (Camacho et al. 2020)",
                percent(e.predicted)
            ),
        ),
    ]);
    if !report.task.data.has_variances() {
        page.small("The columns were not centred: these are shares of tr C, not variances.");
    }
    Ok(())
}

/// Section with what halves of the rows say.
pub fn stability(page: &mut Page, report: &Report) -> anyhow::Result<()> {
    let Some(stability) = &report.stability else { return Ok(()) };
    page.section("stability", "How sure are the components?");
    page.figure(
        &Stability::of(report, stability).chart(),
        "how often each loading is not zero in halves of the rows",
    )
}

pub fn samples(page: &mut Page, found: &Found<'_>) -> anyhow::Result<()> {
    let Some(rows) = found.shown.and_then(|shown| shown.rows.as_ref()) else { return Ok(()) };
    page.section("samples", "Samples");
    page.figure(
        &Plane::of(found.report, rows).scores(),
        "the samples in the plane of the first two components",
    )
}

/// Section with the circle of correlations, which suits sparse components: the loadings of most variables lie on an axis.
pub fn variables(page: &mut Page, found: &Found<'_>) -> anyhow::Result<()> {
    let (Some(shown), Some(_)) = (found.shown, &found.report.explained_variance) else { return Ok(()) };
    // one component, or a C that is not positive semidefinite, has no circle
    let Ok(plane) = Plane::of_variables(found.report, shown.correlations.as_ref()) else { return Ok(()) };
    page.section("correlations", "Correlations of the variables with the components");
    page.figure(
        &plane.correlations(),
        "the correlations of the variables with the scores of the first two components",
    )
}

pub fn convergence(page: &mut Page, report: &Report) -> anyhow::Result<()> {
    page.section("convergence", "Convergence");
    page.figure(&Convergence::of(report).chart(), "F against time")
}

/// Section with bound, certificate and criticality of X. `has_options`: the command of the page takes `--certify` and `--bound`.
pub fn certainty(page: &mut Page, report: &Report, has_options: bool) {
    let checks = &report.checks;
    let certificate = checks.certificate.as_ref().map(|c| verdict(c, report.tolerance()));
    let bound = report.global.as_ref().map(|g| (text::number(g.bound, 10), global::gap(g)));
    let not_requested = |option: &str| match has_options {
        true => format!("not requested; {option} gives one"),
        false => String::new(),
    };
    let (bound, gap) = bound.unwrap_or_else(|| (not_requested("--bound SECONDS"), String::new()));
    let optimum = report.optimum.zip(report.above_optimum());
    let facts = [
        (
            "criticality",
            checks.criticality.map_or(String::new(), |c| format!("{c:.3e}, {}", report.measures.criticality)),
        ),
        ("certificate", certificate.unwrap_or_else(|| not_requested("--certify"))),
        ("bound", bound),
        ("gap", gap),
        ("optimum", optimum.map_or(String::new(), |(f, above)| text::optimum(f, above))),
    ];
    if facts.iter().any(|(_, value)| !value.is_empty()) {
        page.section("bound", "How good is it?");
        page.facts(facts);
    }
}

pub fn settings(page: &mut Page, report: &Report) {
    page.section("settings", "Settings");
    let stop = &report.stopping;
    page.facts([
        ("seed", report.solution.seed.to_string()),
        ("threads", format!("{}; X does not depend on it", report.threads)),
        ("time limit", stop.time_limit.map_or(String::new(), text::duration)),
        ("iterations at most", stop.max_iters.map_or(String::new(), text::grouped)),
        ("tolerance", text::exact(stop.tol)),
        ("start", report.start.clone()),
    ]);
    list(page, &report.reasons);
    let constants = report.constants.iter().map(|(name, value)| (name, value.to_string()));
    page.facts(constants);
}

pub fn repeat(page: &mut Page, report: &Report) {
    page.section("repeat", "To repeat it");
    // the program without its folder
    let words = crate::arguments::arguments().map(|word| text::shell_word(&word));
    let command: Vec<String> = std::iter::once("orthopt".into()).chain(words).collect();
    page.code(&command.join(" "));
    let limited = report.stopping.time_limit.is_some();
    let same = if limited {
        "A time limit ended or could end the run, so X can differ."
    } else {
        "The same X, bit by bit on the same machine, for any number of threads."
    };
    page.small(&format!("orthopt {}. {same}", env!("CARGO_PKG_VERSION")));
}
