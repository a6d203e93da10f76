//! `orthopt reproduce`: the papers' tables and figures on this machine.
//!
//! What is run for each of them is in `orthopt-papers`; a cell is one data set, lambda and rank of an item. Every method of
//! every cell is run by [`cell`] as `solve` would and stored as a record, one file each, so that an interrupted run can be
//! continued. [`grid`] makes tables of records, with the paper's numbers; [`page`] the files. [`landscape`] is a figure that
//! needs no runs; [`training`] and [`courses`] are figures of knowledge graphs in training.

pub mod bound;
pub mod cell;
pub mod courses;
pub mod grid;
pub mod landscape;
pub mod listing;
pub mod page;
pub mod sheet;
pub mod training;
