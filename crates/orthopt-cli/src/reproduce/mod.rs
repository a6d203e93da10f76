//! `orthopt reproduce`: the papers' tables and figures on this machine.
//!
//! An item ([`mod@item`], all of them in [`items`]) is a problem, its settings, data sets, ranks and methods; a cell is one data
//! set, lambda and rank of it. Every method of every cell is run by [`cell`] as `solve` would and
//! stored as a record, one file each, so that an interrupted run can be continued. [`grid`] makes tables of records,
//! with the paper's numbers ([`paper`]); [`page`] the files. [`landscape`] is a figure that needs no runs;
//! [`training`] and [`courses`] are figures of knowledge graphs in training.

pub mod bound;
pub mod cell;
pub mod courses;
pub mod datasets;
pub mod grid;
pub mod item;
pub mod items;
pub mod landscape;
pub mod listing;
pub mod page;
pub mod paper;
pub mod plans;
pub mod training;
