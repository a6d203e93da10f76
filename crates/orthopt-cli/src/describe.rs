//! Solvers, penalties and their constants in words, from the registries.

use orthopt::family::{PenaltyEntry, SolverEntry};
use orthopt::options::Constant;
use orthopt::penalty::LAMBDA_SHARE;

use crate::table::aligned;

/// Constants as a table: option, symbol, default, range, and the meaning below. Options of `owner` have its
/// name in front.
pub fn table(owner: &str, constants: &[Constant]) -> String {
    let option = |c: &Constant| match owner {
        "" => format!("--{}", c.name),
        _ => format!("--{owner}-{}", c.name),
    };
    let head = ["option", "symbol", "default", "range"].map(String::from).to_vec();
    let row = |c: &Constant| {
        let range = if c.optional { format!("{}, or auto", c.range()) } else { c.range() };
        vec![option(c), c.symbol.into(), c.default.to_string(), range]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(constants.iter().map(row)).collect();
    let lines = aligned(&rows);
    let mut text = format!("  {}\n", lines[0]);
    for (line, constant) in lines[1..].iter().zip(constants) {
        text += &format!("  {line}\n      {}\n", constant.doc);
    }
    text
}

/// A solver with its constants; one part for each kind of problem that has a solver of that name.
pub fn solver(entries: &[SolverEntry]) -> String {
    let mut text = String::new();
    for (k, entry) in entries.iter().enumerate() {
        text +=
            &format!("{}{}: {}\nfor {}\n", if k > 0 { "\n" } else { "" }, entry.name, entry.doc, entry.scope);
        if !entry.constants.is_empty() {
            text += &format!("\nConstants\n{}", table(entry.name, entry.constants));
        }
        if !entry.shared.is_empty() {
            text += &format!("\nOptions shared with other solvers\n{}", table("", entry.shared));
        }
    }
    text
}

/// A penalty with its constants.
pub fn penalty(entry: &PenaltyEntry) -> String {
    let lambda = match entry.lambda_share {
        Some(share) if share < LAMBDA_SHARE => {
            format!("lambda: {share} of the mean of the r largest C_ii unless given")
        }
        Some(share) => {
            format!(
                "lambda: {share} of the mean of the r largest C_ii, or of the largest |c_ij| where that is small, unless given"
            )
        }
        None => "lambda: none".into(),
    };
    let mut text = format!("{}: {}\n{lambda}\n", entry.name, entry.doc);
    if !entry.constants.is_empty() {
        text += &format!("\nConstants\n{}", table(entry.name, entry.constants));
    }
    text
}
