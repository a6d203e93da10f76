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
    /// Variables of the paper's data.
    pub variables: usize,
    /// r, or p of the signature where the problem has one.
    pub size: usize,
    /// The lowest F of the cell, to two or three digits; `None` where the table prints F itself.
    pub f_min: Option<f64>,
    entries: Vec<Entry>,
}

/// Numbers of a method in a cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    method: &'static str,
    number: Option<f64>, // F, or F − F_min where there is an F_min
    second: Option<f64>,
}

impl Printed {
    /// F − F_min of a method, where the table has an F_min.
    pub fn above(&self, method: &str) -> Option<f64> {
        self.f_min.and(self.entry(method)?.number)
    }

    /// F of a method.
    pub fn objective(&self, method: &str) -> Option<f64> {
        Some(self.f_min.unwrap_or(0.0) + self.entry(method)?.number?)
    }

    /// The second number of a method, where the table has one.
    pub fn second(&self, method: &str) -> Option<f64> {
        self.entry(method)?.second
    }

    fn entry(&self, method: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.method == method.replace(' ', "_"))
    }

    /// The lowest F − F_min of the methods for whose names `which` is true.
    pub fn best_of(&self, which: impl Fn(&str) -> bool) -> Option<f64> {
        self.entries.iter().filter(|e| which(e.method)).filter_map(|e| e.number).reduce(f64::min)
    }

    /// Distance of the size from the one asked for: 0 or infinite for r, |p/n − share| for the p nearest to a share.
    fn distance(&self, size: Size) -> f64 {
        let far = match size {
            Size::Rank(rank) if rank == self.size => 0.0,
            Size::Rank(_) => f64::INFINITY,
            Size::Share(share) => (self.size as f64 / self.variables as f64 - share).abs(),
        };
        if far < NEAR { far } else { f64::INFINITY }
    }
}

/// Third axis of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// r.
    Rank(usize),
    /// p/n of the signature. The paper's p may be another one nearby.
    Share(f64),
}

/// |p/n − share| below which a row of the paper is one of that share.
const NEAR: f64 = 0.15;

/// Numbers of the paper for a cell: at the p/n nearest to the share, and then at the time limit nearest to `seconds`.
pub fn find(
    item: &str,
    dataset: &str,
    lambda: Option<f64>,
    size: Size,
    seconds: f64,
) -> Option<&'static Printed> {
    let lambda = lambda.unwrap_or(0.0);
    let cell = |p: &&Printed| p.item == item && p.dataset == dataset && p.lambda == lambda;
    let far = |p: &Printed| (p.distance(size), (p.seconds - seconds).abs());
    let near = all().iter().filter(cell).filter(|p| p.distance(size).is_finite());
    near.min_by(|a, b| far(a).partial_cmp(&far(b)).unwrap_or(std::cmp::Ordering::Equal))
}

/// Number of cells that the paper prints for an item.
pub fn cells(item: &str) -> usize {
    all().iter().filter(|p| p.item == item).count()
}

fn all() -> &'static [Printed] {
    static ALL: OnceLock<Vec<Printed>> = OnceLock::new();
    ALL.get_or_init(|| TEXT.lines().filter(|l| !l.starts_with('#')).filter_map(parse).collect())
}

/// `item seconds lambda dataset m n r F_min METHOD=NUMBER[~SECOND] ...`, F_min is `F` where NUMBER is F.
fn parse(line: &'static str) -> Option<Printed> {
    let mut words = line.split(' ');
    let (item, seconds, lambda) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (dataset, _m, variables) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
    let size = words.next()?.parse().ok()?;
    let f_min = match words.next()? {
        "F" => None,
        number => Some(number.parse().ok()?),
    };
    let number =
        |text: &str| if text.is_empty() || text == "?" { Some(None) } else { Some(Some(text.parse().ok()?)) };
    let entry = |w: &'static str| {
        let (method, numbers) = w.split_once('=')?;
        let (first, second) = numbers.split_once('~').unwrap_or((numbers, ""));
        Some(Entry { method, number: number(first)?, second: number(second)? })
    };
    let entries = words.map(entry).collect::<Option<_>>()?;
    Some(Printed { item, seconds, lambda, dataset, variables, size, f_min, entries })
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
            let size = plan.shares.first().map_or(Size::Rank(20), |share| Size::Share(*share));
            let printed = find(numbers, plan.datasets[0], lambda, size, plan.seconds[0]).expect(item.name);
            for method in plan.methods.iter().filter(|m| m.of_paper) {
                assert!(printed.entry(method.name).is_some(), "{} {}", item.name, method.name);
            }
        }
    }

    #[test]
    fn a_cell_reads_as_printed() {
        let cell = find("obcd/table2", "w1a", Some(1.0), Size::Rank(20), 10.0).expect("printed");
        assert_eq!(
            (cell.f_min, cell.above("LADMM"), cell.best_of(|name| name.starts_with("OBCD"))),
            (Some(-6000.0), Some(870.0), Some(0.0))
        );
        assert_eq!(cell.objective("LADMM"), Some(-5130.0));
        assert!(find("obcd/table2", "w1a", Some(1.0), Size::Rank(21), 10.0).is_none());
        let violated = find("obcd/table5", "w1a", None, Size::Rank(10), 60.0).expect("printed");
        assert_eq!((violated.seconds, violated.second("OBCD-R").is_some()), (60.0, true));
        assert!(cell.second("LADMM").is_none());
    }

    /// Copied from the paper by hand: data set, p/n, seconds, p, method, F, violation.
    #[test]
    fn tables_of_the_jobcd_paper_read_as_printed() {
        let table2 = [
            ("w1a", "UMCM", -1.46e4, 2.0e-9),
            ("w1a", "J-JOBCD", -3.60e6, 5.3e-7),
            ("w1a", "CSDM+GS-JOBCD", -1.63e4, 1.1e-5),
            ("Gisette", "ADMM", -1.49e11, 2.5),
            ("randn10", "CSDM", -2.29e2, 2.7e-1),
            ("TDT2", "GS-JOBCD", -1.81e6, 1.8e-10),
        ];
        let check = |item, dataset, (share, seconds, p), (method, f, violation)| {
            let cell = find(item, dataset, None, Size::Share(share), seconds).expect(dataset);
            assert_eq!((cell.size, cell.seconds, cell.f_min), (p, seconds, None), "{item} {dataset}");
            let numbers = (cell.objective(method), cell.second(method), cell.above(method));
            assert_eq!(numbers, (Some(f), Some(violation), None), "{item} {dataset} {method}");
        };
        for (dataset, method, f, violation) in table2 {
            let p = find("jobcd/table2", dataset, None, Size::Share(0.5), 90.0).expect(dataset).size;
            check("jobcd/table2", dataset, (0.5, 90.0, p), (method, f, violation));
        }
        check("jobcd/table3", "Cifar", (0.5, 30.0, 50), ("fixed 1e5", -9.40e9, 1.5e6));
        check("jobcd/table3", "MNIST", (0.5, 30.0, 300), ("dynamic 1e3", -1.36e7, 1.5e2));
        check("jobcd/table3", "randn1000", (0.5, 30.0, 500), ("dynamic 1e7", -5.01e5, 8.7e-15));
        check("jobcd/table5", "w1a", (0.5, 60.0, 50), ("J-JOBCD", -2.19e3, 4.8e-9));
        check("jobcd/table5", "w1a", (0.7, 90.0, 75), ("VR-J-JOBCD", -1.80e3, 5.1e-9));
        check("jobcd/table5", "w1a", (0.9, 60.0, 90), ("ADMM", -4.38e2, 3.6e-6));
        check("jobcd/table5", "news20", (0.5, 90.0, 25), ("VR-J-JOBCD", -1.43e1, 1.6e-7));
        check("jobcd/table5", "20News", (0.9, 60.0, 45), ("CSDM+J-JOBCD", -9.15, 1.4e-5));
        check("jobcd/table5", "CnnCaltech", (0.7, 60.0, 70), ("CSDM", -2.29e2, 4.6e-6));
        check("jobcd/table5", "MNIST", (0.9, 60.0, 85), ("ADMM", -9.06e4, 6.8e-6));
        assert_eq!(
            ["jobcd/table2", "jobcd/table3", "jobcd/table4", "jobcd/table5"].map(cells),
            [10, 3, 0, 62]
        );
        assert!(find("jobcd/table2", "w1a", None, Size::Share(0.7), 90.0).is_none());
        let w1a = find("jobcd/table2", "w1a", None, Size::Share(0.5), 90.0).expect("printed");
        assert_eq!((w1a.variables, w1a.objective("UMCM+GS-JOBCD")), (290, None));
    }

    #[test]
    fn a_line_with_a_mistake_is_refused() {
        let right = "jobcd/table2 90 0 w1a 2470 290 145 F UMCM=-14600~2e-09 ADMM=?";
        assert!(parse(right).is_some());
        for (part, wrong) in
            [("145", "1 45"), ("F ", ""), ("=?", "?"), ("-14600", "-146OO"), ("2e-09", "2e-O9")]
        {
            let line: &str = Box::leak(right.replace(part, wrong).into_boxed_str());
            assert!(parse(line).is_none(), "{line}");
        }
    }
}
