//! Types of items and plans.

use orthopt::family::solvers_called;

use crate::datasets::Preparation;
use crate::training::Training;

/// A table or figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Paper, slash, table or figure.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Content of the item.
    pub content: Content,
}

impl Item {
    /// True if it can be made and does not only show another item's runs.
    pub fn is_its_own(&self) -> bool {
        match self.content {
            Content::Runs(plan) => plan.records.is_none(),
            Content::Landscapes => true,
            Content::Training(training) => training.records == self.name,
        }
    }
}

/// Content of an item.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// Cells that are run.
    Runs(Plan),
    /// The landscapes of two problems with 2 x 2 variables, which need no runs.
    Landscapes,
    /// The training of a knowledge graph.
    Training(Training),
}

/// Plan of the runs of an item.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The problem, as `solve` knows it.
    pub problem: &'static str,
    /// Weights of the penalty; empty where the problem has none.
    pub lambdas: &'static [f64],
    /// Default start of the methods.
    pub start: &'static str,
    /// Further options of `solve`.
    pub options: &'static [&'static str],
    /// Preparation of the data.
    pub preparation: Preparation,
    /// Data sets by the paper's names, in its order.
    pub datasets: &'static [&'static str],
    /// r.
    pub ranks: &'static [usize],
    /// Seconds per method.
    pub seconds: &'static [f64],
    /// Columns of the table.
    pub methods: &'static [Method],
    /// p/n of the signature of J; empty where there is none.
    pub shares: &'static [f64],
    /// Variables that are kept of a data set, where the paper has another number than `preparation`.
    pub columns: &'static [(&'static str, usize)],
    /// Number in brackets after F - F_min.
    pub second: Option<Second>,
    /// The item whose numbers in [`super::paper`] these are comparable with.
    pub numbers: Option<&'static str>,
    /// The item that has the same runs, if its records are to be used: a figure of a table.
    pub records: Option<&'static str>,
}

/// The second number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// Violation of the constraint by X, and by the method's own iterate if it is feasible
    /// only in the limit.
    Violation,
    /// Distance of X from being critical.
    Residual,
}

impl Second {
    /// In words, for below the table.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Violation => {
                "In brackets: the violation of the constraint by the X of that F; after a \
                 slash, that of the method's own iterate, if it is feasible only in the limit."
            }
            Self::Residual => "In brackets: the residual of the gradient.",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The paper's name; ours for solvers that the paper does not have.
    pub name: &'static str,
    /// Ours.
    pub solver: &'static str,
    /// Its own start.
    pub start: Option<&'static str>,
    /// Its constants, as options of `solve`.
    pub options: &'static [&'static str],
    /// True if the paper has it.
    pub of_paper: bool,
}

impl Method {
    /// True if it is a variant of the paper's own method, descent over blocks of rows, and no chain: the
    /// registry says so by the options that such methods share.
    pub fn is_block_descent(&self) -> bool {
        self.of_paper
            && solvers_called(self.solver).is_ok_and(|found| found.iter().any(|s| !s.shared.is_empty()))
    }
}
