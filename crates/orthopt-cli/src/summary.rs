//! Summary of a result as text.

use std::fmt::Write;

use orthopt::RowMat;
use orthopt::certify::Certificate;
use orthopt::family::Kind;
use orthopt::message::Message;
use orthopt::objective::Objective;
use orthopt::problem::{Cardinality, ExplainedVariance};
use orthopt::report::{Checks, DataFacts, Report, Role, Task, nonzeros};
use orthopt::solve::{ArmReport, MoveReport, SearchReport, Splitting, Status};
use orthopt_data::printable;

use crate::interrupt::asked;
use crate::progress::Before;
use crate::text;
use crate::wording::said;

/// Width of the left column.
const LABEL: usize = 14;
/// Maximum width of lines.
const WIDTH: usize = 100;
/// Share of the variance that counts as zero.
const UNCORRELATED: f64 = 1e-9;

/// Text of the summary: labelled lines and tables.
#[derive(Debug, Default)]
pub struct Summary(String);

impl Summary {
    /// The text so far, taken out.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }

    /// A line with a label on the left. Names of the user's stay in this line.
    pub fn line(&mut self, label: &str, value: &str) {
        let value = printable(value);
        // a label as wide as the column keeps its distance
        let space = if label.len() < LABEL { "" } else { " " };
        let _ = writeln!(self.0, "{label:LABEL$}{space}{value}");
    }

    /// A line without a label.
    pub fn sentence(&mut self, text: &str) {
        let _ = writeln!(self.0, "{}", printable(text));
    }

    /// Items after the first columns of a table, broken into lines below each other; `none` where there are none.
    pub fn hanging(&mut self, first: &str, items: Vec<String>, none: &str) {
        let items = if items.is_empty() { vec![none.to_string()] } else { items };
        let indent = " ".repeat(first.chars().count());
        for (k, line) in text::wrap(items, WIDTH - indent.len()).iter().enumerate() {
            self.sentence(&format!("{}{line}", if k == 0 { first } else { &indent }));
        }
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.0.push('\n');
    }

    /// Problem, data, rank, λ and limits.
    pub fn problem(&mut self, task: &Task) {
        self.line("problem", &format!("{}, {}", task.problem.name, task.statement));
        self.line("data", &describe(&task.data));
        self.table(&task.data);
        self.line("rank", &task.rank.to_string());
        if let Some(lambda) = task.lambda {
            self.line("lambda", &text::exact(lambda));
        }
        if let Some(k) = task.k {
            self.line("k", &k.to_string());
        }
        if let Some(limits) = &task.limits {
            let of_variables = matches!(limits, Cardinality::Rows(_)) && task.lambda.is_some_and(|l| l > 0.0);
            let price = if of_variables { "; lambda is the price of a variable" } else { "" };
            self.line("limit", &format!("nonzeros: {}{price}", limits.words()));
        }
    }

    /// Line about the reading of the table.
    pub fn table(&mut self, data: &DataFacts) {
        if let Some(table) = &data.table {
            self.line("read as", &table.read);
        }
    }

    /// F, its parts and how feasible X is.
    pub fn objective(
        &mut self,
        f: &Objective,
        has_penalty: bool,
        feasibility: (f64, &str),
        relative: Option<f64>,
        violation: Option<f64>,
    ) {
        let total = text::number(f.total, 10);
        let parts = format!(
            "{total} = {} (smooth) + {} (penalty)",
            text::number(f.smooth, 10),
            text::number(f.nonsmooth, 10)
        );
        self.line("F", if has_penalty { &parts } else { &total });
        let relative = relative.map_or(String::new(), |v| format!("; {v:.1e} of ||X||^2"));
        self.line("feasibility", &format!("{:.1e}, {}{relative}", feasibility.0, feasibility.1));
        if let Some(violation) = violation {
            self.line("nonnegativity", &format!("{violation:.1e}, ||min(0, X)||_F"));
        }
    }

    /// The two points of a splitting method, and its measures of stationarity.
    fn splitting(&mut self, s: &Splitting, returned: f64) {
        let sparse =
            s.sparse.map_or("none (y does not have full rank, or A is not the identity)".into(), |f| {
                text::number(f, 10)
            });
        let better = if s.returned_sparse { s.sparse.unwrap_or(s.x) } else { s.x };
        let cleaned = text::number(better, 10) != text::number(returned, 10);
        let cleaned = if cleaned { ", which is returned with its smallest entries at zero" } else { "" };
        self.line(
            "splitting",
            &format!(
                "F(X) {}, F(polar(y)) {sparse}; the better one is {}{cleaned}",
                text::number(s.x, 10),
                s.returned()
            ),
        );
        let smoothing = s.mu_norm_z.map_or(String::new(), |m| format!(", mu ||z|| {m:.1e}"));
        if let Some([primal, dual, tangent]) = s.crit {
            self.line(
                "",
                &format!("Crit {primal:.1e} (A(X) - y) + {dual:.1e} (z) + {tangent:.1e} (X){smoothing}"),
            );
        }
    }

    /// One row per component, then what they have together.
    pub fn components(&mut self, report: &Report, explained: &ExplainedVariance, top: usize) {
        let (x, data) = (report.x(), &report.task.data);
        let counts = nonzeros(x);
        let loadings_too = if top > 0 { "  largest loadings" } else { "" };
        self.sentence(&format!("component  nonzeros       own     added{loadings_too}"));
        for k in 0..x.ncols() {
            let row = format!(
                "{:>9}  {:>8}  {:>6.2} %  {:>6.2} %",
                k + 1,
                counts[k],
                100.0 * explained.ratio[k] + 0.0, // not -0
                100.0 * explained.adjusted[k] + 0.0
            );
            match loadings(x, k, data, top) {
                none if none.is_empty() => self.sentence(&row),
                all => self.hanging(&format!("{row}  "), all, ""),
            }
        }
        let of = if data.has_variances() { "of the variance" } else { "of tr C" };
        // of PCA itself it is the same number
        let pca = report.pca_share.filter(|share| (share - explained.total).abs() > UNCORRELATED);
        let pca = pca.map(|share| format!("; PCA with as many components: {:.2} %", 100.0 * share));
        let pca = pca.unwrap_or_default();
        let (sum, total) = (counts.iter().sum::<usize>(), 100.0 * explained.total + 0.0);
        self.sentence(&format!("{:>9}  {sum:>8}  {:>8}  {total:>6.2} %  {of}{pca}", "together", ""));
        if let Some(others) = others(explained) {
            self.sentence(&others);
        }
    }
}

/// Shares in other measures of several components: the one that was maximised, and regression.
fn others(explained: &ExplainedVariance) -> Option<String> {
    if explained.ratio.len() == 1 {
        return None;
    }
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let maximised = match explained.maximised {
        "variance" if (explained.projected - explained.total).abs() > UNCORRELATED => {
            format!("maximised: {} by projection on the loadings; ", percent(explained.projected))
        }
        "polar" => format!("maximised: {} polar variance; ", percent(explained.polar)),
        "explained" => "maximised: ".into(),
        _ => String::new(),
    };
    Some(format!("{maximised}explained by regression on the scores: {}", percent(explained.predicted)))
}

impl Summary {
    /// Reasons of automatic choices.
    pub fn reasons(&mut self, reasons: &[Message]) {
        reasons.iter().for_each(|reason| self.line("", &format!("- {}", said(reason))));
    }

    /// Result of the run, before the checks: components, how the run ended, what was solved. `verbose` adds how.
    pub fn result(&mut self, report: &Report, top: usize, verbose: bool) {
        let s = &report.solution;
        if let Some(explained) = &report.explained_variance {
            self.components(report, explained, top);
            self.gap();
        }
        self.line(s.status.name(), &s.message);
        if verbose && let Some(search) = &s.search {
            let is_proved = report.global.as_ref().is_some_and(|global| global.proof.is_some());
            self.search(search, is_proved || s.status == Status::Optimal);
        }
        if verbose {
            self.in_full(report);
        } else {
            self.in_short(report);
        }
    }

    /// Writes the problem, F and the run, a line each.
    fn in_short(&mut self, report: &Report) {
        let (s, task) = (&report.solution, &report.task);
        self.line("data", &describe(&task.data));
        self.table(&task.data);
        // components say more of PCA than its formula does
        let formula = report.explained_variance.is_none().then(|| format!(": {}", task.statement));
        self.line("problem", &(brief(task) + &formula.unwrap_or_default()));
        self.reasons(&task.reasons);
        let relative =
            report.relative_feasibility.map_or(String::new(), |v| format!(" ({v:.1e} of ||X||^2)"));
        let time = text::duration(s.seconds);
        self.line(
            "F",
            &format!(
                "{}, {} {:.1e}{relative}; {} in {time}",
                text::number(s.objective.total, 10),
                report.measures.feasibility,
                s.feasibility,
                solver(report)
            ),
        );
        self.optimum(report);
    }

    /// Writes the lines of the short form with the parts of F, the reasons of all choices and the iterations.
    fn in_full(&mut self, report: &Report) {
        let (s, task) = (&report.solution, &report.task);
        self.problem(task);
        self.line("solver", &solver(report));
        self.reasons(&report.reasons);
        // λ of the nonlinear eigenvalue problem is inside f
        let has_penalty = task.lambda.is_some()
            && matches!(task.problem.kind, Kind::Pca | Kind::Procrustes | Kind::Brockett);
        let feasibility = (s.feasibility, report.measures.feasibility);
        let relative = report.relative_feasibility;
        self.objective(&s.objective, has_penalty, feasibility, relative, s.nonneg_violation);
        self.optimum(report);
        self.line("nonzeros", &format!("{} of {}", s.nnz, s.x.nrows() * s.x.ncols()));
        if let Some(splitting) = &s.splitting {
            self.splitting(splitting, s.objective.total);
        }
        let iterations = text::count(s.iterations, "iteration");
        self.line("time", &format!("{} in the solver, {iterations}", text::duration(s.seconds)));
    }

    /// The minimum of F, where it is known.
    fn optimum(&mut self, report: &Report) {
        if let (Some(optimum), Some(gap)) = (report.optimum, report.above_optimum()) {
            self.line("optimum", &text::optimum(optimum, gap));
        }
    }

    /// Seconds of reading and setting up, if they are at least one second.
    pub fn before(&mut self, Before { reading, setting_up }: Before) {
        if reading + setting_up >= 1.0 {
            let [reading, setting_up] = [reading, setting_up].map(text::duration);
            self.line("before that", &format!("{reading} reading, {setting_up} setting up the problem"));
        }
    }

    /// Arms of a search, origin of X, and moves of the local search.
    fn search(&mut self, search: &SearchReport, proved: bool) {
        let mut arms: Vec<_> = search.arms.iter().filter(|arm| arm.runs > 0).collect();
        arms.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let named = |arm: &&ArmReport| {
            format!("{} from {} {}", arm.solver, arm.start, text::number(arm.objective, 7))
        };
        let best: Vec<_> = arms.iter().take(3).map(named).collect();
        let runs: u64 = search.arms.iter().map(|arm| arm.runs).sum();
        let count = text::count(arms.len() as u64, "arm");
        if best.is_empty() {
            return self.line("search", "no run has ended");
        }
        let best = best.join(", ");
        self.line("search", &format!("{runs} runs of {count}; lowest F: {best}"));
        let mut moves: Vec<_> = search.moves.iter().filter(|m| m.won > 0).collect();
        moves.sort_by(|a, b| b.decrease.total_cmp(&a.decrease));
        let paid = |m: &&MoveReport| format!("{} {} of {}", m.name, m.won, m.tried);
        let paid: Vec<_> = moves.iter().take(3).map(paid).collect();
        let tried: u64 = search.moves.iter().map(|m| m.tried).sum();
        let tried = text::count(tried, "move");
        let paid = if paid.is_empty() { "none lowered F".into() } else { paid.join(", ") };
        self.line("", &format!("local search: {tried}; {paid}"));
        if proved {
            return; // no longer search finds a lower F
        }
        let (longer, smaller) = if search.effort == "thorough" {
            ("a longer limit", "a longer --time-limit continues the search")
        } else {
            ("a longer limit or --effort thorough", "--effort thorough asks for a smaller decrease")
        };
        let quiet = match search.tries {
            0 => format!("F fell noticeably at the end: {longer} may lower it"),
            1 => format!("one try since F last fell noticeably; {smaller}"),
            tries => format!("{tries} tries since F last fell noticeably; {smaller}"),
        };
        self.line("", &quiet);
    }

    /// Criticality and certificate of X; `tolerance` is absolute.
    pub fn checks(&mut self, checks: &Checks, measure: &str, tolerance: f64) {
        match checks.criticality {
            Some(value) => self.line("criticality", &format!("{value:.3e}, {measure}")),
            None => self.line("criticality", &format!("not measured: {}", early())),
        }
        match &checks.certificate {
            Some(certificate) => self.line("certificate", &verdict(certificate, tolerance)),
            None if checks.criticality.is_none() || asked() => {
                self.line("certificate", &format!("none: {}", early()));
            }
            None => self.line("certificate", "none: two rows of this problem are not solved in closed form"),
        }
    }
}

/// Why checks of X ended before their end.
fn early() -> &'static str {
    if asked() { "interrupted" } else { "the time was over" }
}

/// Statement of the certificate. `tolerance` is absolute.
pub fn verdict(c: &Certificate, tolerance: f64) -> String {
    let (checked, total) = (text::grouped(c.pairs_checked), text::grouped(c.pairs_total));
    let all = c.pairs_checked == c.pairs_total;
    let best = text::number(c.max_decrease, 4);
    let (pairs, why, cut) = match asked() {
        false => ("pairs", "not all of them", ""),
        true => ("pairs", "interrupted", "; interrupted"),
    };
    match (all, c.max_decrease <= tolerance) {
        (true, true) => format!(
            "certified block-2 stationary: all {total} pairs checked, none lowers F by more than {}",
            text::number(tolerance, 4)
        ),
        (true, false) => {
            format!("not block-2 stationary: of all {total} pairs the best one lowers F by {best}")
        }
        (false, true) => format!(
            "{checked} {pairs} of {total} checked, none lowers F by more than {} ({why}, not a certificate)",
            text::number(tolerance, 4)
        ),
        (false, false) => format!(
            "not block-2 stationary: of {checked} {pairs} (of {total}{cut}) the best one lowers F by {best}"
        ),
    }
}

/// Source and preparation of the data.
pub fn describe(data: &DataFacts) -> String {
    let mut text = format!("{}, {} x {}", data.source, data.rows, data.cols);
    if data.nnz < data.rows * data.cols {
        text += &format!(", {} nonzeros", text::grouped(data.nnz as u64));
    }
    if data.role == Role::Gram {
        text += ", C itself";
    }
    if data.centered {
        text += ", columns centred";
    }
    text += &match data.scale.as_str() {
        "" | "none" => String::new(),
        "unit" => ", columns scaled to norm 1".into(),
        "std" => ", columns scaled to standard deviation 1".into(),
        factor => format!(", multiplied by {factor}"),
    };
    text += if data.covariance { ", C = A'A/(m - 1)" } else { "" };
    text
}

/// The problem in one line: its name, r, λ and limits.
fn brief(task: &Task) -> String {
    let mut text = format!("{}, rank {}", task.problem.name, task.rank);
    if let Some(lambda) = task.lambda {
        text += &format!(", lambda {}", text::exact(lambda));
    }
    if let Some(k) = task.k {
        text += &format!(", k {k}");
    }
    if let Some(limits) = &task.limits {
        text += &format!(", nonzeros {}", limits.words());
    }
    text
}

/// Solver with its settings.
pub fn solver(report: &Report) -> String {
    let mut text = format!("{} from {}", report.solver, report.start);
    for name in ["working_set", "block", "model", "side"] {
        if let Some(value) = report.solution.settings.get(name) {
            let value = serde_json::to_string(value).unwrap_or_default();
            text += &format!(", {} {}", name.replace('_', " "), value.trim_matches('"'));
        }
    }
    text
}

/// The `top` largest loadings of component k, with their variables.
fn loadings(x: &RowMat, k: usize, data: &DataFacts, top: usize) -> Vec<String> {
    let mut order: Vec<usize> = (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).collect();
    // Equal loadings in the order of the variables: the sort is stable.
    order.sort_by(|a, b| x.get(*b, k).abs().total_cmp(&x.get(*a, k).abs()));
    let shown = order.iter().take(top);
    shown.map(|i| format!("{} {:.3}", data.variable(*i), x.get(*i, k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_long_before_the_run_is_told() {
        let told = |reading, setting_up| {
            let mut summary = Summary::default();
            summary.before(Before { reading, setting_up });
            summary.take()
        };
        assert_eq!(told(0.4, 0.5), "");
        assert_eq!(told(0.25, 2.0), "before that   250.0 ms reading, 2.00 s setting up the problem\n");
    }

    #[test]
    fn only_a_full_check_certifies() {
        let mut c =
            Certificate { pairs_checked: 33, pairs_total: 33, max_decrease: 1e-12, mean_distance: 0.0 };
        assert!(verdict(&c, 1e-9).starts_with("certified block-2 stationary: all 33 pairs"));
        c.pairs_checked = 10;
        assert!(verdict(&c, 1e-9).ends_with("(not all of them, not a certificate)"));
        c.max_decrease = 0.25;
        assert!(verdict(&c, 1e-9).ends_with("the best one lowers F by 0.2500"));
    }
}
