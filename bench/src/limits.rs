//! Limits of nonzeros: proofs, and for one component a published branch and bound (the leading eigenvalue, Gershgorin circles
//! and the trace) with the same incumbent and the same time.

use std::collections::BinaryHeap;
use std::time::Instant;

use anyhow::Result;
use faer::Mat;
use orthopt::RowMat;
use orthopt::bound::{Kind, Options, Proof, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::smooth::{AnySmooth, DenseQuadratic};
use orthopt_data::Matrix;
use orthopt_linalg::eigen::symmetric_eigenpairs;

use crate::bounds::correlation;
use crate::instance::load;

/// Least seconds of the rival: clocks are too coarse below.
const LEAST: f64 = 0.1;
/// Relative gap at which the rival closes a node, as the library does.
const GAP: f64 = 1e-9;

/// Tables and how many of their first columns, for one component with 5, 10 and 20 nonzeros. No constant was chosen on those
/// after the first three.
const ONE: &[(&str, usize)] = &[
    ("ionosphere.csv", 34),
    ("breast_sorlie.csv.gz", 100),
    ("breast_sorlie.csv.gz", 274),
    ("srbct_khan.csv.gz", 100),
    ("srbct_khan.csv.gz", 300),
    ("colon_alon.csv.gz", 100),
    ("colon_alon.csv.gz", 300),
    ("breast_west.csv.gz", 150),
    ("breast_west.csv.gz", 300),
    ("w1a.svm", 300),
    ("news20_top100words.mtx.gz", 100),
    ("coil20.npy", 300),
];

/// Several components or variables: table, r, limit.
const SEVERAL: &[(&str, usize, Limit)] = &[
    ("builtin:pitprops", 2, Limit::Each(3)),
    ("builtin:pitprops", 2, Limit::Each(5)),
    ("builtin:pitprops", 2, Limit::Each(8)),
    ("builtin:pitprops", 3, Limit::Each(3)),
    ("builtin:pitprops", 3, Limit::Each(5)),
    ("builtin:pitprops", 3, Limit::Each(8)),
    ("builtin:pitprops", 2, Limit::Total(6)),
    ("builtin:pitprops", 2, Limit::Total(10)),
    ("builtin:pitprops", 2, Limit::Total(16)),
    ("builtin:pitprops", 3, Limit::Total(9)),
    ("builtin:pitprops", 2, Limit::Rows(4)),
    ("builtin:pitprops", 2, Limit::Rows(6)),
    ("builtin:pitprops", 3, Limit::Rows(6)),
    ("builtin:pitprops", 3, Limit::Rows(8)),
    ("builtin:pitprops", 2, Limit::Positive(5)),
    ("builtin:pitprops", 3, Limit::Positive(3)),
    ("ionosphere.csv", 2, Limit::Rows(10)),
    ("ionosphere.csv", 3, Limit::Rows(10)),
    ("ionosphere.csv", 2, Limit::Each(5)),
    ("ionosphere.csv", 2, Limit::Each(10)),
    ("ionosphere.csv", 3, Limit::Each(5)),
    ("ionosphere.csv", 3, Limit::Each(10)),
];

/// A limit of nonzeros: of each component, of all, of variables, of each component of X ≥ 0.
#[derive(Clone, Copy)]
enum Limit {
    Each(usize),
    Total(usize),
    Rows(usize),
    Positive(usize),
}

impl Limit {
    fn kind(self, r: usize) -> Kind {
        let each = |k: usize| Kind::Counts { nonzeros: vec![k; r], lambda: 0.0 };
        match self {
            Self::Each(k) => each(k),
            Self::Total(nonzeros) => Kind::Total { nonzeros, lambda: 0.0 },
            Self::Rows(rows) => Kind::Rows { rows, lambda: 0.0 },
            Self::Positive(k) => Kind::NonnegativeLimited(Box::new(each(k))),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Each(k) => format!("nonzeros {k}"),
            Self::Total(k) => format!("total-nonzeros {k}"),
            Self::Rows(s) => format!("variables {s}"),
            Self::Positive(k) => format!("nonnegative nonzeros {k}"),
        }
    }
}

/// The correlation matrix of the first columns of a table; of pitprops the matrix itself.
fn matrix(data: &str, columns: usize) -> Result<Option<RowMat>> {
    let Some(matrix) = load(data)? else { return Ok(None) };
    let dense = match matrix {
        Matrix::Dense(a) => a,
        Matrix::Sparse(a) => a.to_dense(),
    };
    if data == "builtin:pitprops" {
        return Ok(Some(RowMat::from_mat(dense.as_ref())));
    }
    let columns = columns.min(dense.ncols());
    let some: Mat<f64> = dense.subcols(0, columns).to_owned();
    Ok(Some(RowMat::from_mat(correlation(&some).as_ref())))
}

/// Prints the table; `seconds` is the limit of every bound, `filter` a part of the name of a table.
pub fn run_suite(seconds: f64, filter: Option<&str>) -> Result<()> {
    println!(
        "| data | variables | limit | r | explained | gap % | proved | nodes | s | rival gap % | rival nodes |"
    );
    println!("{}|", "|---".repeat(11));
    let wanted = |data: &str| filter.is_none_or(|f| f == "all" || data.contains(f));
    for k in [3, 5, 8] {
        if wanted("builtin:pitprops") {
            row("builtin:pitprops", 13, 1, Limit::Each(k), seconds)?;
        }
    }
    for (data, columns) in ONE.iter().filter(|(data, _)| wanted(data)) {
        for k in [5, 10, 20] {
            row(data, *columns, 1, Limit::Each(k), seconds)?;
        }
    }
    for (data, r, limit) in SEVERAL.iter().filter(|(data, ..)| wanted(data)) {
        row(data, usize::MAX, *r, *limit, seconds)?;
    }
    Ok(())
}

fn row(data: &str, columns: usize, r: usize, limit: Limit, seconds: f64) -> Result<()> {
    let Some(c) = matrix(data, columns)? else { return Ok(()) };
    let f = AnySmooth::Dense(DenseQuadratic::negative(c.as_mat())?);
    let options = Options { nodes: u64::MAX, seconds: Some(seconds), ..Options::default() };
    let found = lower_bound(&f, r, &limit.kind(r), None, &options, &Cancel::never(), &|_| ())?;
    let (most, best) = (-2.0 * found.value, -2.0 * found.objective.unwrap_or(f64::NAN));
    let percent = |most: f64| 100.0 * (most - best).max(0.0) / best.abs();
    print!(
        "| {data} | {} | {} | {r} | {best:.9} | {:.4} | {} | {} | {:.2} |",
        c.nrows(),
        limit.name(),
        percent(most),
        if found.proof == Some(Proof::Optimal) { "yes" } else { "" },
        found.nodes,
        found.seconds
    );
    match limit {
        Limit::Each(k) if r == 1 => {
            let (most, nodes) = Rival { c: &c, k }.run(best, found.seconds.max(LEAST));
            println!(" {:.4} | {nodes} |", percent(most));
        }
        _ => println!(" | |"),
    }
    Ok(())
}

/// Branch and bound for one component with at most k nonzeros (Berk and Bertsimas).
struct Rival<'a> {
    c: &'a RowMat,
    k: usize,
}

/// Rows that x must have and may have, the row to split on, and the bound; a leaf has no such row, and its value.
struct Node {
    most: f64,
    must: Vec<usize>,
    free: Vec<usize>,
    split: Option<usize>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Node {}
impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Node {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.most.total_cmp(&other.most)
    }
}

fn largest(mut list: Vec<f64>, k: usize) -> f64 {
    list.sort_by(|a, b| b.total_cmp(a));
    list.iter().take(k).sum()
}

impl Rival<'_> {
    /// The bound of x'Cx after the time, and the number of nodes.
    fn run(&self, incumbent: f64, seconds: f64) -> (f64, u64) {
        let (clock, mut best) = (Instant::now(), incumbent);
        let cutoff = |best: f64| best * (1.0 + GAP);
        let mut nodes = 1;
        let mut open: BinaryHeap<Node> =
            self.node(Vec::new(), (0..self.c.nrows()).collect()).into_iter().collect();
        while open.peek().is_some_and(|node| node.most > cutoff(best))
            && clock.elapsed().as_secs_f64() < seconds
        {
            let Some(node) = open.pop() else { break };
            let Some(split) = node.split else { continue };
            let rest: Vec<usize> = node.free.iter().copied().filter(|i| *i != split).collect();
            let with: Vec<usize> = node.must.iter().copied().chain([split]).collect();
            for (must, free) in [(with, rest.clone()), (node.must.clone(), rest)] {
                nodes += 1;
                let Some(node) = self.node(must, free) else { continue };
                match node.split {
                    None => best = best.max(node.most),
                    Some(_) if node.most > cutoff(best) => open.push(node),
                    Some(_) => {}
                }
            }
        }
        (open.peek().map_or(best, |node| node.most.max(best)), nodes)
    }

    /// A node with its bound; `None` where eigenvalues fail.
    fn node(&self, must: Vec<usize>, free: Vec<usize>) -> Option<Node> {
        let (c, k) = (self.c, self.k);
        // all rows are chosen, or there are no more than may be chosen
        let free = if must.len() == k { Vec::new() } else { free };
        let rows: Vec<usize> = must.iter().chain(&free).copied().collect();
        let block = RowMat::from_fn(rows.len(), rows.len(), |a, b| c.get(rows[a], rows[b]));
        let (values, vectors) = symmetric_eigenpairs(&block)?;
        if rows.len() <= k {
            return Some(Node { most: values[0], must, free, split: None });
        }
        let circle = |i: &usize| {
            let others = rows.iter().filter(|j| *j != i).map(|j| c.get(*i, *j).abs()).collect();
            c.get(*i, *i) + largest(others, k - 1)
        };
        let circles = rows.iter().map(circle).fold(f64::NEG_INFINITY, f64::max);
        let diagonal = |list: &[usize]| list.iter().map(|i| c.get(*i, *i)).collect::<Vec<f64>>();
        let trace = diagonal(&must).iter().sum::<f64>() + largest(diagonal(&free), k - must.len());
        let most = values[0].min(circles).min(trace);
        let weight = |a: &usize| vectors.get(*a, 0).abs();
        let place = (must.len()..rows.len()).max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
        let split = Some(rows[place]);
        Some(Node { most, must, free, split })
    }
}
