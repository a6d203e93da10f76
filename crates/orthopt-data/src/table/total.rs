//! Rows that are no samples: totals and means of the others, and counters of programs.

/// Kind of a row, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A total.
    Total,
    /// Has a total in its name, and is one if the numbers agree: `North total`, `Total cholesterol`.
    PerhapsTotal,
    /// A mean or a deviation, at the end of a table.
    Statistic,
    /// May be a name as well, such as `n`: a statistic beside others.
    Weak,
    /// A counter of a program: `__no_feature`.
    Counter,
    /// Somebody says that it is none.
    Listed,
}

#[rustfmt::skip]
const TOTALS: [&str; 20] = [
    "total", "totals", "grand total", "sub total", "subtotal", "sub-total", "sum", "overall total", "all rows", "column total",
    "gesamt", "insgesamt", "summe", "totale", "totaal", "totalt", "somme", "total general", "total général", "合计",
];

#[rustfmt::skip]
const STATISTICS: [&str; 26] = [
    "mean", "means", "average", "averages", "avg", "avg.", "median", "s.d.", "std.", "std dev", "std. dev.", "st. dev.",
    "st.dev.", "stdev", "stddev", "standard deviation", "std deviation", "sem", "s.e.", "std error", "standard error",
    "mittelwert", "durchschnitt", "moyenne", "media", "variance",
];

#[rustfmt::skip]
const WEAK: [&str; 18] = [
    "sd", "se", "std", "cv", "n", "count", "counts", "min", "max", "minimum", "maximum", "var", "range", "cv %", "q1", "q3", "mode", "no.",
];

/// Bytes of the longest of these words, and of what may stand around it.
const LONGEST: usize = 24;

/// Words of which one stands first or last in the name of a row that may be a total.
const PERHAPS: [&str; 8] = ["total", "totals", "subtotal", "sum", "gesamt", "summe", "totale", "somme"];

/// Bytes of the longest name of such a row.
const LONGEST_PERHAPS: usize = 64;

/// True if a name begins or ends with a word for totals.
fn may_be_total(name: &[u8]) -> bool {
    let separates = |byte: &u8| byte.is_ascii_whitespace() || b"_-,:()/".contains(byte);
    let mut words = name.split(separates).filter(|word| !word.is_empty());
    let ends = [words.next(), words.next_back()];
    ends.into_iter()
        .flatten()
        .any(|word| PERHAPS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())))
}

/// Kind of a row by its name.
pub(crate) fn kind_of(name: &[u8]) -> Option<RowKind> {
    if name.starts_with(b"__") {
        return Some(RowKind::Counter);
    }
    if name.is_empty() || name.len() > LONGEST_PERHAPS || name[0].is_ascii_digit() {
        return None;
    }
    // the only ones with a digit are quartiles
    if name.len() > 2 && name.iter().any(u8::is_ascii_digit) && !name.contains(&b' ') {
        return None;
    }
    let perhaps = may_be_total(name).then_some(RowKind::PerhapsTotal);
    if name.len() > LONGEST {
        return perhaps;
    }
    let text = super::number::decoded(name).to_lowercase();
    let word = text.trim_matches(|c: char| c.is_whitespace() || ":=*.()".contains(c));
    let is = |list: &[&str]| list.contains(&word) || list.contains(&text.trim());
    match () {
        () if is(&TOTALS) => Some(RowKind::Total),
        () if is(&STATISTICS) => Some(RowKind::Statistic),
        () if is(&WEAK) => Some(RowKind::Weak),
        () => perhaps,
    }
}

/// Sums of the columns of some rows, NaN left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    rows: usize,
    sums: Vec<f64>,
    sizes: Vec<f64>,
}

impl Sums {
    /// Takes a row.
    pub(crate) fn add(&mut self, row: &[f64]) {
        self.rows += 1;
        self.resize(row.len());
        for (j, value) in row.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            self.sums[j] += value;
            self.sizes[j] += value.abs();
        }
    }

    fn resize(&mut self, columns: usize) {
        self.sums.resize(columns, 0.0);
        self.sizes.resize(columns, 0.0);
    }

    /// Of the rows behind those of `begin`. Sizes stay those of all: so large are the numbers that rounding belongs to.
    pub(crate) fn since(&self, begin: &Self) -> Self {
        let mut rest = self.clone();
        rest.rows -= begin.rows.min(rest.rows);
        rest.sums.iter_mut().zip(&begin.sums).for_each(|(sum, before)| *sum -= before);
        rest
    }

    /// Without one of the rows.
    pub(crate) fn without(&self, row: &[f64]) -> Self {
        let mut one = Self::default();
        one.add(row);
        self.since(&one)
    }

    /// True if a row that is called so is the sum.
    pub(crate) fn is(&self, row: &[f64]) -> bool {
        let slack = |j: usize| 0.5001 * digit(row[j]) + 1e-12 * self.sizes[j];
        let filled = || (0..row.len().min(self.sums.len())).filter(|j| !row[*j].is_nan());
        self.rows > 0
            && filled().filter(|j| row[*j] != 0.0).count() > 1 // one number may be so by chance
            && filled().all(|j| (row[j] - self.sums[j]).abs() <= slack(j))
    }
}

/// Rows from which on a row that is the sum of the others is no chance.
const FEWEST: usize = 4;

/// A row is the sum or the mean of the others where a sample would be so by a smaller chance than this.
const CHANCE: f64 = 1e-3;

/// Sums of rows, column by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    rows: usize,
    sums: Vec<f64>,
    sizes: Vec<f64>,
    filled: Vec<usize>,
    nonzeros: Vec<usize>,
    means: Vec<f64>,
    spreads: Vec<f64>, // sums of squares around the mean
}

impl Totals {
    /// The sums themselves.
    pub(crate) fn sums(&self) -> Sums {
        Sums { rows: self.rows, sums: self.sums.clone(), sizes: self.sizes.clone() }
    }

    /// Takes rows of so many columns, one after the other.
    pub(crate) fn add(&mut self, values: &[f64], columns: usize) {
        self.sums.resize(columns, 0.0);
        self.sizes.resize(columns, 0.0);
        self.filled.resize(columns, 0);
        self.nonzeros.resize(columns, 0);
        self.means.resize(columns, 0.0);
        self.spreads.resize(columns, 0.0);
        for row in values.chunks_exact(columns) {
            self.rows += 1;
            for (j, value) in row.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                self.sums[j] += value;
                self.sizes[j] += value.abs();
                self.filled[j] += 1;
                self.nonzeros[j] += usize::from(*value != 0.0);
                let from = value - self.means[j];
                self.means[j] += from / self.filled[j] as f64;
                self.spreads[j] += from * (value - self.means[j]);
            }
        }
    }

    /// True if a value may be the sum or the mean of the others of its column.
    pub(crate) fn may_be(value: f64, others: impl Iterator<Item = f64>) -> bool {
        let (mut count, mut sum, mut size) = (0, 0.0, 0.0);
        for other in others.filter(|other| !other.is_nan()) {
            (count, sum, size) = (count + 1, sum + other, size + other.abs());
        }
        let slack = 0.5001 * digit(value) + 1e-9 * size;
        value.is_nan()
            || (value - sum).abs() <= slack
            || (value - sum / f64::from(count.max(1))).abs() <= slack
    }

    /// Relation of a further row to the others, in words: their sum, or their mean with the digits that it has.
    pub(crate) fn of(&self, row: &[f64]) -> Option<&'static str> {
        if self.rows < FEWEST {
            return None;
        }
        let filled = || (0..row.len()).filter(|j| !row[*j].is_nan());
        let varied = filled().filter(|j| self.nonzeros[*j] > 1 && row[*j] != 0.0).count();
        if varied < 2 {
            return None;
        }
        let rounding = |j: usize| 1e-9 * self.sizes[j];
        let of_sum = |j: usize| rounding(j).max(0.5001 * digit(row[j]).min(0.1));
        if filled().all(|j| (row[j] - self.sums[j]).abs() <= of_sum(j)) && self.is_no_chance(row, of_sum) {
            return Some("the sum");
        }
        // a mean that is a whole number may be one by chance
        let exact = filled().filter(|j| row[*j].fract() != 0.0).count();
        let of_mean = |j: usize| 0.5001 * digit(row[j]) + rounding(j) / self.filled[j].max(1) as f64;
        let close = |j: usize| (row[j] - self.means[j]).abs() <= of_mean(j);
        (exact >= 2 && filled().all(close) && self.is_no_chance(row, of_mean)).then_some("the mean")
    }

    /// True if a sample hardly comes so near to these values: columns whose spread is small beside what is rounding tell nothing, and a
    /// value far from the others tells much.
    fn is_no_chance(&self, row: &[f64], slack: impl Fn(usize) -> f64) -> bool {
        let chance = |j: usize| {
            let deviation = (self.spreads[j] / self.filled[j].max(1) as f64).sqrt();
            let from = (row[j] - self.means[j]) / deviation;
            let within = slack(j).max(0.5 * digit(row[j])) / deviation;
            if from.is_nan() { 1.0 } else { (0.8 * within / (1.0 + from * from)).min(1.0) }
        };
        let all: f64 = (0..row.len()).filter(|j| !row[*j].is_nan()).map(chance).product();
        all <= CHANCE
    }
}

/// The last decimal place that a number is written with.
fn digit(value: f64) -> f64 {
    let text = format!("{value}");
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    10f64.powi(-(decimals.min(300) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_means_of_the_others() {
        let rows = [1.5, 2.0, 3.0, 4.0, 5.5, 6.0, 7.0, 8.5];
        let mut totals = Totals::default();
        totals.add(&rows, 2);
        assert_eq!(totals.of(&[17.0, 20.5]), Some("the sum"));
        assert_eq!(totals.of(&[4.25, 5.125]), Some("the mean"));
        assert_eq!(totals.of(&[4.3, 5.1]), Some("the mean"));
        assert_eq!(totals.of(&[4.0, 5.0]), None);
        assert_eq!(totals.of(&[17.0, 20.0]), None);
        let mut few = Totals::default();
        few.add(&rows[..4], 2);
        assert_eq!(few.of(&[4.5, 6.0]), None);
    }

    /// If samples differ by less than their digits show, one of them near the mean is no mean.
    #[test]
    fn samples_near_the_mean_are_no_means() {
        let rows: Vec<f64> = (0..20).map(|i| 4e6 + 1e-3 * f64::from(i * 7 % 5)).collect();
        let mut totals = Totals::default();
        totals.add(&rows, 2);
        assert_eq!(totals.of(&[4e6 + 2.1e-3, 4e6 + 1.9e-3]), None);
        assert_eq!(totals.of(&[4e7 + 0.02, 4e7 + 0.02]), Some("the sum"));
        // few digits: 1 and 2 stars, means of 1.5
        let mut stars = Totals::default();
        stars.add(&[1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0], 2);
        assert_eq!(stars.of(&[1.5, 1.5]), None);
    }

    #[test]
    fn names_of_rows_that_are_no_samples() {
        for (name, kind) in [
            ("Total", Some(RowKind::Total)),
            ("TOTAL:", Some(RowKind::Total)),
            ("Mean", Some(RowKind::Statistic)),
            ("N", Some(RowKind::Weak)),
            ("SE", Some(RowKind::Weak)), // a standard error, or Sweden
            ("__no_feature", Some(RowKind::Counter)),
            ("North total", Some(RowKind::PerhapsTotal)),
            ("Total cholesterol (mg/dl, fasting)", Some(RowKind::PerhapsTotal)),
            ("Totnes", None),
            ("", None),
            ("7", None),
        ] {
            assert_eq!(kind_of(name.as_bytes()), kind, "{name}");
        }
    }
}
