//! Variables and their names as pictures of loadings show them.

use orthopt::report::Report;

use super::{cut, width_of};

/// Maximum number of variables of a heat map, those with the largest loadings.
pub(super) const MOST: usize = 60;

/// Size of the names.
pub(super) const TEXT: i32 = 26;
const LONGEST: usize = 28;

/// The variables with nonzero loadings, with the data of the drawing.
pub(super) struct Drawing<'a> {
    pub(super) report: &'a Report,
    pub(super) variables: Vec<usize>,
    pub(super) names: Vec<String>,
    pub(super) title: String,
    pub(super) subtitle: String,
}

impl Drawing<'_> {
    /// Width of the column of names.
    pub(super) fn margin(&self) -> i32 {
        let widest = self.names.iter().map(|name| width_of(name, TEXT)).max().unwrap_or(0);
        widest.max(120) + 48
    }

    /// Heading of component `k`: its number and its share of the variance.
    pub(super) fn heading(&self, k: usize) -> String {
        let explained = self.report.explained_variance.as_ref();
        let share = explained.map_or(String::new(), |e| format!(" ({:.1} %)", 100.0 * e.adjusted[k]));
        format!("PC{}{share}", k + 1)
    }
}

/// Names of variables, not longer than there is room for.
pub(super) fn cut_names(report: &Report, variables: &[usize]) -> Vec<String> {
    variables.iter().map(|i| cut(&report.task.data.variable(*i), LONGEST)).collect()
}
