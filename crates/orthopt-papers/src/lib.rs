//! The papers' tables and figures: what is run for each of them, and the numbers that the papers print.
//!
//! An item ([`mod@item`], all of them in [`items`]) is a problem, its settings, data sets, ranks and methods, as options of
//! `orthopt solve`. [`datasets`] finds the data or replacements for them, [`paper`] has the papers' numbers.
//!
//! ```
//! use orthopt_papers::{item::Content, items, paper};
//!
//! let Content::Runs(plan) = items::find("obcd/table2").expect("an item").content else { unreachable!() };
//! assert_eq!((plan.problem, plan.lambdas), ("l0-pca", &[1.0][..]));
//! let cell = paper::find("obcd/table2", "w1a", Some(1.0), paper::Size::Rank(20), 10.0).expect("printed");
//! assert_eq!((cell.f_min, cell.above("LADMM")), (Some(-6000.0), Some(870.0)));
//! ```

pub mod datasets;
pub mod item;
pub mod items;
pub mod paper;
mod plans;
pub mod training;
