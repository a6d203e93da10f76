//! The numbers that the papers print, shipped as a compact table.

use std::sync::OnceLock;

const TEXT: &str = include_str!("paper.txt");

/// One cell of a paper's table.
#[derive(Clone, Debug)]
pub struct Printed {
    item: &'static str,
    /// Its time limit.
    pub seconds: f64,
    lambda: f64,
    dataset: &'static str,
    rank: usize,
    /// The lowest F of the cell, to two or three digits.
    pub f_min: f64,
    above: Vec<Entry>,
}

/// Numbers of a method in a cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    method: &'static str,
    above: Option<f64>,
    second: Option<f64>,
}

impl Printed {
    /// F − F_min of a method.
    pub fn above(&self, method: &str) -> Option<f64> {
        self.entry(method)?.above
    }

    /// The second number of a method, where the table has one.
    pub fn second(&self, method: &str) -> Option<f64> {
        self.entry(method)?.second
    }

    fn entry(&self, method: &str) -> Option<&Entry> {
        self.above.iter().find(|entry| entry.method == method)
    }

    /// The lowest F − F_min of the methods for whose names `which` is true.
    pub fn best_of(&self, which: impl Fn(&str) -> bool) -> Option<f64> {
        self.above.iter().filter(|e| which(e.method)).filter_map(|e| e.above).reduce(f64::min)
    }
}

/// Numbers of the paper for a cell, at the time limit nearest to `seconds`.
pub fn find(
    item: &str,
    dataset: &str,
    lambda: Option<f64>,
    rank: Option<usize>,
    seconds: f64,
) -> Option<&'static Printed> {
    let lambda = lambda.unwrap_or(0.0);
    let cell =
        |p: &&Printed| p.item == item && p.dataset == dataset && p.lambda == lambda && Some(p.rank) == rank;
    let far = |p: &&Printed| (p.seconds - seconds).abs();
    all().iter().filter(cell).min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn all() -> &'static [Printed] {
    static ALL: OnceLock<Vec<Printed>> = OnceLock::new();
    ALL.get_or_init(|| TEXT.lines().filter(|l| !l.starts_with('#')).filter_map(parse).collect())
}

/// `item seconds lambda dataset m n r F_min METHOD=ABOVE[~SECOND] ...`.
fn parse(line: &'static str) -> Option<Printed> {
    let mut words = line.split(' ');
    let (item, seconds, lambda) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (dataset, _m, _n) = (words.next()?, words.next()?, words.next()?);
    let (rank, f_min) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let entry = |w: &'static str| {
        let (method, numbers) = w.split_once('=')?;
        let (above, second) = numbers.split_once('~').unwrap_or((numbers, ""));
        Some(Entry { method, above: above.parse().ok(), second: second.parse().ok() })
    };
    let above = words.map(entry).collect::<Option<_>>()?;
    Some(Printed { item, seconds, lambda, dataset, rank, f_min, above })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Content;
    use crate::items::ITEMS;

    #[test]
    fn every_line_is_read_and_every_method_of_an_item_is_known() {
        let lines = TEXT.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(all().len(), lines);
        for item in ITEMS {
            let Content::Runs(plan) = item.content else { continue };
            let Some(numbers) = plan.numbers else { continue };
            let lambda = plan.lambdas.first().copied();
            let printed = find(numbers, "w1a", lambda, Some(20), plan.seconds[0]).expect(item.name);
            for method in plan.methods.iter().filter(|m| m.of_paper) {
                assert!(printed.entry(method.name).is_some(), "{} {}", item.name, method.name);
            }
        }
    }

    #[test]
    fn a_cell_reads_as_printed() {
        let cell = find("obcd/table2", "w1a", Some(1.0), Some(20), 10.0).expect("printed");
        assert_eq!(
            (cell.f_min, cell.above("LADMM"), cell.best_of(|name| name.starts_with("OBCD"))),
            (-6000.0, Some(870.0), Some(0.0))
        );
        assert!(find("obcd/table2", "w1a", Some(1.0), Some(21), 10.0).is_none());
        let violated = find("obcd/table5", "w1a", None, Some(10), 60.0).expect("printed");
        assert_eq!((violated.seconds, violated.second("OBCD-R").is_some()), (60.0, true));
        assert!(cell.second("LADMM").is_none());
    }
}
