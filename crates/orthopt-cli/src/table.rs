//! The table of `compare`.

use orthopt::certify::Certificate;
use orthopt::options::Value;
use orthopt::report::Report;

use crate::summary::Summary;
use crate::text;
use orthopt::solve::Stopping;

/// All results of a comparison for a person: one row per solver in the order asked for, with the
/// distance to the best F of the table.
pub fn comparison(reports: &[Report], stopping: Stopping) -> String {
    let mut summary = Summary::default();
    let Some(first) = reports.first() else { return "no solver was run\n".into() };
    summary.problem(&first.task);
    summary.line("start", &first.start);
    if let Some(optimum) = first.optimum {
        summary.line("optimum", &format!("{}, known in closed form", text::number(optimum, 10)));
    }
    summary.gap();
    let best = reports.iter().map(|r| r.solution.objective.total).fold(f64::INFINITY, f64::min);
    let mut rows = vec![header(reports)];
    rows.extend(reports.iter().map(|r| row(r, best, reports, stopping)));
    aligned(&rows).iter().for_each(|line| summary.sentence(line));
    summary.gap();
    summary.sentence(&format!(
        "above best: F minus the lowest F of the table. feasibility: {}. criticality: {}.",
        first.measures.feasibility, first.measures.criticality
    ));
    if reports.iter().any(|r| r.solution.raw.is_some()) {
        summary.sentence(
            "raw: F and feasibility of the method's own iterate, which is feasible only in the limit.",
        );
    }
    if reports.iter().any(|r| r.solution.splitting.is_some()) {
        summary.sentence("F(X), F(polar y): of the two points of a splitting method; F is the lower one.");
    }
    let constants = constants(reports);
    if !constants.is_empty() {
        summary.gap();
    }
    constants.iter().for_each(|line| summary.line("constants", line));
    summary.take()
}

/// The constants of every solver that has some, on a line of their own: rankings depend on them.
fn constants(reports: &[Report]) -> Vec<String> {
    let line = |report: &Report| {
        let solver = &report.solver;
        let own = report.constants.iter().map(|(name, value)| {
            let name = name.strip_prefix(&format!("{solver}-")).unwrap_or(name);
            match value {
                Value::Number(value) => format!("{name} {}", text::number(value, 4)),
                value => format!("{name} {value}"),
            }
        });
        format!("{solver}: {}", own.collect::<Vec<_>>().join(", "))
    };
    reports.iter().filter(|r| !r.constants.is_empty()).map(line).collect()
}

fn header(reports: &[Report]) -> Vec<String> {
    let mut cells = vec!["solver", "F", "above best", "nonzeros", "feasibility", "criticality"];
    if reports.iter().any(|r| r.checks.certificate.is_some()) {
        cells.push("best pair");
    }
    if reports.iter().any(|r| r.solution.raw.is_some()) {
        cells.extend(["raw F", "raw feas."]);
    }
    if reports.iter().any(|r| r.solution.splitting.is_some()) {
        cells.extend(["F(X)", "F(polar y)"]);
    }
    cells.extend(["seconds", "ended"]);
    cells.into_iter().map(String::from).collect()
}

fn row(report: &Report, best: f64, all: &[Report], stopping: Stopping) -> Vec<String> {
    let s = &report.solution;
    let f = s.objective.total;
    let mut cells = vec![
        report.solver.clone(),
        text::number(f, 8),
        if f == best { "0".into() } else { format!("{:.1e}", f - best) },
        s.nnz.to_string(),
        format!("{:.0e}", s.feasibility),
        report.checks.criticality.map_or("-".into(), |c| format!("{c:.0e}")),
    ];
    if all.iter().any(|r| r.checks.certificate.is_some()) {
        cells.push(
            report
                .checks
                .certificate
                .as_ref()
                .map_or("-".into(), |c| pair(c, stopping.tolerance(s.scale, f))),
        );
    }
    if all.iter().any(|r| r.solution.raw.is_some()) {
        cells.push(s.raw.map_or("-".into(), |r| text::number(r.objective, 6)));
        cells.push(s.raw.map_or("-".into(), |r| format!("{:.0e}", r.feasibility)));
    }
    if all.iter().any(|r| r.solution.splitting.is_some()) {
        let own = s.splitting;
        cells.push(own.map_or("-".into(), |s| text::number(s.x, 6)));
        cells.push(own.and_then(|s| s.sparse).map_or("-".into(), |f| text::number(f, 6)));
    }
    cells.push(format!("{:.3}", s.seconds));
    cells.push(s.status.name().into());
    cells
}

/// Decrease of F by the best pair.
fn pair(c: &Certificate, tolerance: f64) -> String {
    if c.holds(tolerance) { "certified".into() } else { format!("{:.0e}", c.max_decrease) }
}

/// Columns as wide as their widest cell, numbers to the right, first and last column to the left.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |k: usize| rows.iter().map(|r| r[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(k, cell)| {
                let fill = " ".repeat(widths[k] - cell.chars().count());
                if k == 0 || k + 1 == columns { format!("{cell}{fill}") } else { format!("{fill}{cell}") }
            })
            .collect();
        cells.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let lines = aligned(&[row(["solver", "F", "ended"]), row(["a", "-12.5", "x"])]);
        assert_eq!(lines, ["solver      F  ended", "a       -12.5  x"]);
    }
}
