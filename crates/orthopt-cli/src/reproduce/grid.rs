//! Tables of records in the layout of the papers, with the papers' numbers.

use orthopt::bound::Claim;

use super::bound::LowerBound;
use super::cell::{Cell, Record};
use super::sheet::Grid;
use crate::text;
use orthopt_papers::datasets::Likeness;
use orthopt_papers::item::{Method, Second};
use orthopt_papers::paper::{self, Printed, Size};

/// A cell with the results of its methods, in the order of the plan.
#[derive(Clone, Debug)]
pub struct Finished {
    pub cell: Cell,
    pub records: Vec<Record>,
    pub bound: Option<LowerBound>,
}

/// Tolerance of `not_worse` in words.
const NEAR: &str = "(within 2 % of |F| and the two digits of its F_min)";

/// Excess over the paper, relative to |F|, from which on the page lists a cell.
const WORSE: f64 = 0.02;

impl Finished {
    /// Numbers of the paper for this cell.
    pub fn printed(&self) -> Option<&'static Printed> {
        let c = &self.cell;
        let size = c.rank.map(Size::Rank).or(c.share.map(Size::Share))?;
        paper::find(c.plan.numbers?, &c.dataset, c.lambda, size, c.seconds)
    }

    /// True if the data are the paper's or another draw of them, so that its numbers are comparable.
    fn comparable(&self) -> bool {
        self.cell.data.likeness.is_comparable()
    }

    /// The lowest F of the methods for which `which` is true.
    fn lowest(&self, which: impl Fn(&Record) -> bool) -> Option<f64> {
        self.records.iter().filter(|r| which(r)).map(|r| r.objective).reduce(f64::min)
    }

    /// The lowest F of the variants of the paper's own method.
    fn lowest_of_own(&self) -> Option<f64> {
        self.lowest(|r| self.is_own(&r.method))
    }

    /// True if the method of this name is a variant of the paper's own.
    fn is_own(&self, method: &str) -> bool {
        self.cell.plan.methods.iter().any(|m| m.name == method && m.is_block_descent())
    }

    fn of(&self, method: &str) -> Option<&Record> {
        self.records.iter().find(|r| r.method == method)
    }
}

/// The table of an item: for every cell our F_min and F - F_min per method, the three lowest marked,
/// and the paper's numbers in the row below.
pub fn table(finished: &[Finished]) -> Grid {
    let Some(first) = finished.first() else { return Grid::default() };
    let of_rank = if first.cell.plan.shares.is_empty() { "r" } else { "p" };
    let mut header: Vec<String> =
        ["data (m x n)", "lambda", of_rank, "s", "F_min"].map(String::from).to_vec();
    header.extend(first.cell.plan.methods.iter().map(|m| match m.of_paper {
        true => m.name.to_string(),
        false => format!("{} (ours)", m.name),
    }));
    let mut rows = Vec::new();
    let bounded = finished.iter().any(|d| d.bound.is_some());
    if bounded {
        header.push(GAP.into());
    }
    for done in finished.iter().filter(|d| !d.records.is_empty()) {
        let mut row = ours(done);
        row.extend(bounded.then(|| gap(done)));
        rows.push(row);
        rows.extend(done.printed().map(|printed| theirs(done, printed)));
    }
    rows.iter_mut().for_each(|row| row.resize(header.len(), String::new()));
    Grid { header, rows }
}

/// Heading of the largest possible distance of F_min from the minimum, in per cent.
const GAP: &str = "gap of F_min, %";

fn gap(done: &Finished) -> String {
    let known = done.bound.as_ref().zip(done.lowest(|_| true));
    known.map_or("-".into(), |(bound, f)| match bound.beside(f) {
        Ok(Claim { proof: Some(_), .. }) => "0 (proved)".into(),
        Ok(Claim { gap: Some(gap), .. }) => text::number(100.0 * gap, 3),
        Ok(_) => "-".into(),
        Err(_) => "F is below the bound: one of the two is wrong".into(),
    })
}

fn ours(done: &Finished) -> Vec<String> {
    let c = &done.cell;
    let best = done.lowest(|_| true).unwrap_or(f64::NAN);
    let (m, n) = done.records.first().map_or((0, 0), |r| (r.rows, r.cols));
    let mark = if c.data.likeness == Likeness::Same { "" } else { "*" };
    let mut row = vec![
        format!("{}{mark} ({m} x {n})", c.dataset),
        c.lambda.map_or("-".into(), text::exact),
        rank_or_share(c, n),
        text::exact(c.seconds),
        text::number(best, 7),
    ];
    let mut sorted: Vec<f64> = done.records.iter().map(|r| r.objective).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    row.extend(c.plan.methods.iter().map(|m| match done.of(m.name) {
        None => "-".into(),
        Some(record) => {
            let place = sorted.iter().position(|f| *f == record.objective);
            let medal = place.and_then(|k| ["¹", "²", "³"].get(k)).unwrap_or(&"");
            format!("{}{medal}{}", difference(record.objective - best), in_brackets(c.plan.second, record))
        }
    }));
    row
}

/// r, or p of the signature as `solve` takes it from the share.
fn rank_or_share(c: &Cell, n: usize) -> String {
    let p = |share: f64| (share * n as f64).round().to_string();
    c.rank.map(|r| r.to_string()).or(c.share.map(p)).unwrap_or_else(|| "-".into())
}

/// The second number of a cell, to one digit as the papers have it.
fn in_brackets(second: Option<Second>, record: &Record) -> String {
    match second {
        None => String::new(),
        Some(Second::Violation) => {
            let own = record.raw_feasibility.map_or(String::new(), |own| format!("/{own:.0e}"));
            format!(" ({:.0e}{own})", record.feasibility)
        }
        Some(Second::Residual) => record.criticality.map_or(String::new(), |v| format!(" ({v:.0e})")),
    }
}

fn theirs(done: &Finished, printed: &Printed) -> Vec<String> {
    let label = match done.cell.data.likeness {
        Likeness::Same => "  paper",
        Likeness::Draw => "  paper, its draw",
        _ => "  paper, its data",
    };
    let (empty, seconds) = (String::new(), text::exact(printed.seconds));
    let p = done.cell.share.map_or(String::new(), |_| printed.size.to_string());
    let f_min = printed.f_min.map_or("F:".into(), text::exact);
    let mut row = vec![label.into(), empty, p, seconds, f_min];
    let second = |m: &str| printed.second(m).map_or(String::new(), |v| format!(" ({v:.0e})"));
    let number = |m: &Method| printed.above(m.name).or_else(|| printed.objective(m.name));
    let cell = |m: &Method| number(m).map(|number| difference(number) + &second(m.name));
    row.extend(done.cell.plan.methods.iter().map(|m| cell(m).unwrap_or_default()));
    row
}

fn difference(x: f64) -> String {
    if x == 0.0 { "0".into() } else { text::number(x, 3) }
}

/// Comparison of the item with the paper, in sentences.
pub fn reading(finished: &[Finished]) -> Vec<String> {
    let printed =
        || finished.iter().filter(|d| !d.records.is_empty()).filter_map(|d| d.printed().map(|p| (d, p)));
    if printed().any(|(_, p)| p.f_min.is_none()) {
        return vec!["The rows of the paper have its F (F:), which are not compared with ours:".into()];
    }
    let cells: Vec<(&Finished, &Printed, f64)> =
        printed().filter(|(d, _)| d.comparable()).filter_map(|(d, p)| Some((d, p, p.f_min?))).collect();
    if cells.is_empty() {
        return vec![
            "Nothing to compare: no numbers of the paper for these cells and data are shown here.".into(),
        ];
    }
    let count = |holds: &dyn Fn(&Finished, &Printed, f64) -> bool| {
        cells.iter().filter(|(d, p, f)| holds(d, p, *f)).count()
    };
    // an interrupted run may not have come to OBCD: then nothing is said of it
    let tried = cells.iter().filter(|(d, ..)| d.lowest_of_own().is_some()).count();
    let obcd = count(&|d, p, f_min| {
        let printed = p.best_of(|name| d.is_own(name));
        d.lowest_of_own().zip(printed).is_some_and(|(f, above)| not_worse(f, f_min, above))
    });
    let all = count(&|d, _, f_min| d.lowest(|_| true).is_some_and(|f| not_worse(f, f_min, 0.0)));
    let below = count(&|d, _, f_min| d.lowest(|_| true).is_some_and(|f| f < f_min - WORSE * f_min.abs()));
    let total = cells.len();
    let same = cells.iter().filter(|(d, ..)| d.cell.data.likeness == Likeness::Same).count();
    let data = match (same, total - same) {
        (_, 0) => "the same data".to_string(),
        (0, _) => "another draw of the same distribution".into(),
        (same, drawn) => format!("the same data ({same}) or another draw of the same distribution ({drawn})"),
    };
    let cells_with = match total {
        1 => format!("One cell has numbers of the paper on {data}"),
        n => format!("{n} cells have numbers of the paper on {data}"),
    };
    let after = after(&cells.iter().map(|(d, p, _)| (d.cell.seconds, p.seconds)).collect::<Vec<_>>());
    let ours = match tried {
        0 => String::new(),
        _ => format!("our best OBCD variant is at or below the paper's best {NEAR} in {obcd} of {tried}; "),
    };
    let mut lines = vec![format!(
        "{cells_with}{after}: {ours}the best of all methods is at or below the paper's F_min {NEAR} in {all}, and more than 2 % \
         below it in {below}."
    )];
    for (done, printed, f_min) in cells {
        let worse: Vec<String> = done
            .records
            .iter()
            .filter_map(|r| {
                let above = printed.above(&r.method)?;
                let paper = f_min + above;
                (!not_worse(r.objective, f_min, above)).then(|| {
                    format!(
                        "{} {} (paper {})",
                        r.method,
                        text::number(r.objective, 5),
                        text::number(paper, 4)
                    )
                })
            })
            .collect();
        if !worse.is_empty() {
            lines.push(format!(
                "More than 2 % above the paper, {}: {}.",
                done.cell.label(),
                worse.join("; ")
            ));
        }
    }
    lines
}

/// The time limits of both, in seconds, where a pair of them differs: a longer run is no match for a shorter one.
fn after(both: &[(f64, f64)]) -> String {
    let listed = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = both.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all.into_iter().map(text::exact).collect::<Vec<_>>().join(" or ")
    };
    match both.iter().all(|(ours, paper)| ours == paper) {
        true => String::new(),
        false => {
            format!(", ours after {} s beside the paper's after {} s", listed(|b| b.0), listed(|b| b.1))
        }
    }
}

/// True if F is at or below the paper's `f_min + above`, within 2 % and what F_min, printed to two
/// digits, may be off.
fn not_worse(ours: f64, f_min: f64, above: f64) -> bool {
    let paper = f_min + above;
    let unit = if f_min == 0.0 { 0.0 } else { 10f64.powi(f_min.abs().log10().floor() as i32 - 1) };
    ours <= paper + WORSE * paper.abs() + 0.5 * unit
}

impl Grid {
    /// For a terminal.
    pub fn text(&self) -> String {
        let all: Vec<Vec<String>> = std::iter::once(&self.header).chain(&self.rows).cloned().collect();
        crate::table::aligned(&all).join("\n") + "\n"
    }

    /// For a spreadsheet; no cell has a comma.
    pub fn csv(&self) -> String {
        std::iter::once(&self.header).chain(&self.rows).map(|cells| cells.join(",") + "\n").collect()
    }

    /// For a Markdown page.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.header.len()));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.header) + &rule + &rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_per_cent_and_two_digits_are_allowed_on_either_side_of_zero() {
        assert!(not_worse(-93.2, -100.0, 0.0) && !not_worse(-92.8, -100.0, 0.0), "2 and half of 10");
        assert!(not_worse(111.9, 100.0, 5.0) && !not_worse(112.2, 100.0, 5.0));
    }

    #[test]
    fn other_seconds_than_the_papers_are_said() {
        assert_eq!(after(&[(20.0, 20.0), (30.0, 30.0)]), "");
        assert_eq!(after(&[(1.0, 20.0)]), ", ours after 1 s beside the paper's after 20 s");
        assert_eq!(
            after(&[(1.0, 20.0), (1.0, 30.0), (20.0, 20.0)]),
            ", ours after 1 or 20 s beside the paper's after 20 or 30 s"
        );
    }

    #[test]
    fn a_grid_reads_the_same_in_every_form() {
        let grid =
            Grid { header: vec!["a".into(), "b<c".into()], rows: vec![vec!["1".into(), "2¹".into()]] };
        assert_eq!(grid.markdown(), "| a | b<c |\n|---|---|\n| 1 | 2¹ |\n");
        assert_eq!(grid.text(), "a  b<c\n1  2¹\n");
    }
}
